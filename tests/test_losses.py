"""Losses and softmax: their values, their gradients, and what they refuse."""

import math

import mpmath
import numpy as np
import pandas as pd
import pytest
from oracles import EPSILON
from tables import refusals

import autodiff as ad
from autodiff import Expression, Matrix, Value, Vector, grad, nn

BINARY = nn.binary_cross_entropy_with_logits
LOGITS = [1.0, -2.0, 0.5]
SHARES = np.exp(LOGITS) / np.exp(LOGITS).sum()


def test_mse_loss():
    assert nn.mse_loss(Vector([1.0, 2.0]), [3.0, 5.0]).data == 6.5
    assert nn.mse_loss(Value(1.0), 3).data == nn.mse_loss(Vector([1.0]), 3).data == 4.0
    assert nn.mse_loss(Vector([1.0]), np.array([3.0])).data == 4.0


def test_the_mse_loss_of_matrices_is_the_mean_over_all_entries():
    prediction = Matrix([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    rows = [[1.0, 0.0, 3.0], [4.0, 5.0, 2.0]]
    for target in (Matrix(rows), rows, np.array(rows), pd.DataFrame(rows), [*Matrix(rows)]):
        for given in (prediction, [*prediction]):
            loss = nn.mse_loss(given, target)
            assert loss.data == 20 / 6
            loss.backward()
            assert prediction.grad == [[0.0, 4 / 6, 0.0], [0.0, 0.0, 8 / 6]]
            prediction.zero_grad()


def test_hinge_loss():
    for score, label, loss in ((0.25, 1, 0.75), (0.25, -1, 1.25), (3.0, 1, 0.0)):
        assert nn.hinge_loss(Value(score), label).data == loss
        assert nn.hinge_loss(Vector([score]), label).data == loss


def test_cross_entropy_with_an_index_a_row_or_a_vector():
    for target in (1, np.int64(1), [0, 1, 0], np.array([0.0, 1.0, 0.0]), Vector([0, 1, 0])):
        found = nn.cross_entropy(Vector(LOGITS), target).data
        assert found == pytest.approx(-math.log(SHARES[1]), rel=1e-14)
    soft = nn.cross_entropy(Vector(LOGITS), [0.5, 0.25, 0.25]).data
    assert soft == pytest.approx(-np.log(SHARES) @ [0.5, 0.25, 0.25])
    found = grad(lambda z: nn.cross_entropy(z, 2))(np.array(LOGITS))
    assert found == pytest.approx(list(SHARES - [0, 0, 1]), rel=1e-13)


def test_softmax():
    assert nn.softmax(LOGITS).data == pytest.approx(SHARES.tolist(), rel=1e-14)
    rows = np.array([LOGITS, [5.0, 5.0, 5.0]])
    np.testing.assert_allclose(nn.softmax(rows), [SHARES, [1 / 3] * 3], rtol=1e-14)
    jacobian = np.diag(SHARES) - np.outer(SHARES, SHARES)
    np.testing.assert_allclose(ad.jacrev(nn.softmax)(LOGITS), jacobian, atol=1e-15)


# -- Large logits ---------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e3, 1e8])
def test_the_cross_entropy_of_large_logits(size):
    assert [nn.cross_entropy(Vector([size, -size]), k).data for k in (0, 1)] == [0.0, 2 * size]
    assert grad(lambda z: nn.cross_entropy(z, 1))([size, -size]) == [1.0, -1.0]


@pytest.mark.parametrize("size", [0.0, 1e3, 1e16, -1e16, 1e300])
def test_large_logits_that_are_equal_share_the_probability(size):
    """logsumexp(z) - z[k] is 0.0 at 1e16, where floats are 2 apart."""
    z, shares = [size, size, size - 1e4 - abs(size)], np.array([0.5, 0.5, 0.0])
    for given in (z, Vector(z)):
        assert nn.softmax(given).data == shares.tolist()
    assert nn.softmax(np.array(z)).tolist() == shares.tolist()
    for target in np.array(
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [1 / 3, 2 / 3, 0.0]]
    ):
        assert nn.cross_entropy(Vector(z), target).data == pytest.approx(math.log(2), rel=1e-15)
        x = Vector([0.1, 0.2, 0.3])
        expression = Expression(nn.cross_entropy(x, target))
        values, gradients = expression.compile([x], wrt=[x], xp=np, batch=True)([z])
        assert values == pytest.approx(math.log(2), rel=1e-15)
        assert gradients[0] == pytest.approx(shares - target, abs=1e-15)
    assert nn.cross_entropy(Vector(z), 1).data == pytest.approx(math.log(2), rel=1e-15)


@pytest.mark.parametrize("logit", [1e16, -1e16, 1e3, 700.0, -40.0, 30.0, -1.2, 0.3])
@pytest.mark.parametrize("target", [0, 0.25, 0.5, 1])
def test_binary_cross_entropy_of_small_and_large_logits(logit, target):
    z = Value(logit)
    loss = BINARY(z, target)
    loss.backward()
    with mpmath.workdps(50):
        exact = mpmath.log1p(mpmath.exp(-abs(logit))) + max(logit, 0) - target * mpmath.mpf(logit)
        slope = 1 / (1 + mpmath.exp(-logit)) - target
    assert loss.data == pytest.approx(float(exact), rel=1e-15, abs=EPSILON * min(abs(logit), 1e3))
    assert z.grad == pytest.approx(float(slope), abs=2 * EPSILON)


# -- What is refused ------------------------------------------------------------------------------

ROW = Vector([1.0, 2.0])


@pytest.mark.parametrize(
    "kind", [float, np.int8, np.float32, np.array, lambda k: np.array([k]), lambda k: [k], np.bool_]
)
@pytest.mark.parametrize("k", [0, 1])
def test_a_class_may_be_a_number_of_any_type(kind, k):
    logits = Vector([0.3, -0.2, 0.1])
    assert nn.cross_entropy(logits, kind(k)).data == nn.cross_entropy(logits, k).data


test_what_is_refused = refusals(
    globals() | vars(nn),
    ("mse_loss(ROW, 1.0)", ValueError, "mse_loss: found a prediction of shape (2,) and a target of shape (), expected the same"),
    ("mse_loss(ROW, pd.DataFrame([[5.0, 6.0]]))", ValueError, "...(2,) and a target of shape (1, 2)"),
    ("mse_loss(Matrix([[1.0], [2.0]]), [1.0, 2.0])", ValueError, "...(2, 1) and a target of shape (2,)"),
    ("mse_loss(Matrix([[1.0]]), 1.0)", ValueError, "...(1, 1) and a target of shape ()"),
    ("mse_loss([], [])", ValueError, "mse_loss: found no numbers, expected at least one"),
    ("mse_loss(ROW, {0: 1.0, 1: 2.0})", TypeError, "mse_loss, target: found {0: 1.0, 1: 2.0}...expected numbers in"),  # not its keys
    ("softmax([ROW])", ValueError, "softmax: found numbers of shape (1, 2)"),
    ("hinge_loss(Value(1.0), 0)", ValueError, "hinge_loss: found label 0.0, expected 1 or -1"),
    ("hinge_loss(ROW, 1)", ValueError, "hinge_loss, score: found 2 numbers, expected one"),
    ("BINARY(Value(0.0), 2)", ValueError, "...found target 2.0, expected 0 to 1"),
    ("cross_entropy(ROW, 2)", ValueError, "cross_entropy: found target 2, expected a class from 0 to 1, or 2 prob"),
    ("cross_entropy(ROW, -1)", ValueError, "cross_entropy: found target -1"),
    ("cross_entropy(ROW, [0.5])", ValueError, "cross_entropy: found target [0.5], expected a class from 0 to 1"),
    ("cross_entropy(ROW, [1, 0, 0])", ValueError, "cross_entropy: found target [1, 0, 0], expected a class ..., or 2 probabilities"),
    ("cross_entropy(ROW, [1, 1])", ValueError, "cross_entropy: found target [1, 1], expected ... probabilities that add up to 1"),
    ("cross_entropy(ROW, Matrix([[1.0]]))", ValueError, "cross_entropy: found target Matrix(shape=(1, 1), ...expected a class from 0 to 1"),
    *[(f"{loss}(Matrix([[1.0]]), 1)", ValueError, "...found numbers of shape ..., ...; call it for each")
      for loss in ("hinge_loss", "cross_entropy", "BINARY")],
)  # fmt: skip
