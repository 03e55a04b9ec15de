"""Losses and softmax: their values, their gradients, and what they refuse."""

import math

import mpmath
import numpy as np
import pandas as pd
import pytest
from oracles import EPSILON
from tables import raising

import autodiff as ad
from autodiff import Expression, Matrix, Value, Vector, grad, nn
from autodiff.nn import cross_entropy, hinge_loss, mse_loss, softmax

BINARY = nn.binary_cross_entropy_with_logits
LOGITS = [1.0, -2.0, 0.5]
SHARES = np.exp(LOGITS) / np.exp(LOGITS).sum()


def test_mse_loss():
    assert mse_loss(Vector([1.0, 2.0]), [3.0, 5.0]).data == 6.5
    assert mse_loss(Value(1.0), 3).data == mse_loss(Vector([1.0]), 3).data == 4.0
    assert mse_loss(Vector([1.0]), np.array([3.0])).data == 4.0


def test_the_mse_loss_of_matrices_is_the_mean_over_all_entries():
    prediction = Matrix([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    rows = [[1.0, 0.0, 3.0], [4.0, 5.0, 2.0]]
    for target in (Matrix(rows), rows, np.array(rows), pd.DataFrame(rows), [*Matrix(rows)]):
        for given in (prediction, [*prediction]):
            loss = mse_loss(given, target)
            assert loss.data == 20 / 6
            loss.backward()
            assert prediction.grad == [[0.0, 4 / 6, 0.0], [0.0, 0.0, 8 / 6]]
            prediction.zero_grad()


def test_hinge_loss():
    for score, label, loss in ((0.25, 1, 0.75), (0.25, -1, 1.25), (3.0, 1, 0.0)):
        assert hinge_loss(Value(score), label).data == loss
        assert hinge_loss(Vector([score]), label).data == loss


def test_cross_entropy_with_an_index_a_row_or_a_vector():
    for target in (1, np.int64(1), [0, 1, 0], np.array([0.0, 1.0, 0.0]), Vector([0, 1, 0])):
        found = cross_entropy(Vector(LOGITS), target).data
        assert found == pytest.approx(-math.log(SHARES[1]), rel=1e-14)
    soft = cross_entropy(Vector(LOGITS), [0.5, 0.25, 0.25]).data
    assert soft == pytest.approx(-np.log(SHARES) @ [0.5, 0.25, 0.25])
    found = grad(lambda z: cross_entropy(z, 2))(np.array(LOGITS))
    assert found == pytest.approx(list(SHARES - [0, 0, 1]), rel=1e-13)


def test_softmax():
    assert softmax(LOGITS).data == pytest.approx(SHARES.tolist(), rel=1e-14)
    rows = np.array([LOGITS, [5.0, 5.0, 5.0]])
    np.testing.assert_allclose(softmax(rows), [SHARES, [1 / 3] * 3], rtol=1e-14)
    jacobian = np.diag(SHARES) - np.outer(SHARES, SHARES)
    np.testing.assert_allclose(ad.jacrev(softmax)(LOGITS), jacobian, atol=1e-15)


# -- Large logits ---------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e3, 1e8])
def test_the_cross_entropy_of_large_logits(size):
    assert [cross_entropy(Vector([size, -size]), k).data for k in (0, 1)] == [0.0, 2 * size]
    assert grad(lambda z: cross_entropy(z, 1))([size, -size]) == [1.0, -1.0]


@pytest.mark.parametrize("size", [0.0, 1e3, 1e16, -1e16, 1e300])
def test_large_logits_that_are_equal_share_the_probability(size):
    """logsumexp(z) - z[k] is 0.0 at 1e16, where floats are 2 apart."""
    z, shares = [size, size, size - 1e4 - abs(size)], np.array([0.5, 0.5, 0.0])
    for given in (z, Vector(z)):
        assert softmax(given).data == shares.tolist()
    assert softmax(np.array(z)).tolist() == shares.tolist()
    for target in np.array(
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [1 / 3, 2 / 3, 0.0]]
    ):
        assert cross_entropy(Vector(z), target).data == pytest.approx(math.log(2), rel=1e-15)
        x = Vector([0.1, 0.2, 0.3])
        expression = Expression(cross_entropy(x, target))
        values, gradients = expression.compile([x], wrt=[x], xp=np, batch=True)([z])
        assert values == pytest.approx(math.log(2), rel=1e-15)
        assert gradients[0] == pytest.approx(shares - target, abs=1e-15)
    assert cross_entropy(Vector(z), 1).data == pytest.approx(math.log(2), rel=1e-15)


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
    assert cross_entropy(logits, kind(k)).data == cross_entropy(logits, k).data


test_what_is_refused = raising(
    (lambda: mse_loss(ROW, 1.0), ValueError, "mse_loss: found a prediction of shape (2,) and a target of shape (), expected the same"),
    (lambda: mse_loss(ROW, pd.DataFrame([[5.0, 6.0]])), ValueError, "...(2,) and a target of shape (1, 2)"),
    (lambda: mse_loss(Matrix([[1.0], [2.0]]), [1.0, 2.0]), ValueError, "...(2, 1) and a target of shape (2,)"),
    (lambda: mse_loss(Matrix([[1.0]]), 1.0), ValueError, "...(1, 1) and a target of shape ()"),
    (lambda: mse_loss([], []), ValueError, "mse_loss: found no numbers, expected at least one"),
    (lambda: mse_loss(ROW, {0: 1.0, 1: 2.0}), TypeError, "mse_loss, target: found {0: 1.0, 1: 2.0}...expected numbers in"),  # not its keys
    (lambda: softmax([ROW]), ValueError, "softmax: found numbers of shape (1, 2)"),
    (lambda: hinge_loss(Value(1.0), 0), ValueError, "hinge_loss: found label 0.0, expected 1 or -1"),
    (lambda: hinge_loss(ROW, 1), ValueError, "hinge_loss, score: found 2 numbers, expected one"),
    (lambda: BINARY(Value(0.0), 2), ValueError, "...found target 2.0, expected 0 to 1"),
    (lambda: cross_entropy(ROW, 2), ValueError, "cross_entropy: found target 2, expected a class from 0 to 1, or 2 prob"),
    (lambda: cross_entropy(ROW, -1), ValueError, "cross_entropy: found target -1"),
    (lambda: cross_entropy(ROW, [0.5]), ValueError, "cross_entropy: found target [0.5], expected a class from 0 to 1"),
    (lambda: cross_entropy(ROW, [1, 0, 0]), ValueError, "cross_entropy: found target [1, 0, 0], expected a class ..., or 2 probabilities"),
    (lambda: cross_entropy(ROW, [1, 1]), ValueError, "cross_entropy: found target [1, 1], expected ... probabilities that add up to 1"),
    (lambda: cross_entropy(ROW, Matrix([[1.0]])), ValueError, "cross_entropy: found target Matrix(shape=(1, 1), ...expected a class from 0 to 1"),
    *[(lambda loss=loss: loss(Matrix([[1.0]]), 1), ValueError, "...found numbers of shape ..., ...; call it for each")
      for loss in (hinge_loss, cross_entropy, BINARY)],
)  # fmt: skip
