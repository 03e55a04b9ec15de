"""Losses and softmax: their values, their gradients, and what they refuse."""

import math

import mpmath
import numpy as np
import pandas as pd
import pytest
from oracles import EPSILON
from tables import cases, raising

from autodiff import Expression, Matrix, Value, Vector, grad, nn
from autodiff.nn import cross_entropy, hinge_loss, mse_loss, softmax

BINARY = nn.binary_cross_entropy_with_logits
LOGITS = [1.0, -2.0, 0.5]
SHARES = np.exp(LOGITS) / np.exp(LOGITS).sum()


VALUES = [(mse_loss, 1.0, 3, 4.0), (hinge_loss, 0.25, -1, 1.25), (hinge_loss, 3.0, 1, 0.0), (BINARY, 0.0, 1, math.log(2))]  # fmt: skip


@pytest.mark.parametrize(("loss", "number", "target", "expected"), VALUES)
def test_a_row_of_one_number_counts_as_that_number(loss, number, target, expected):
    for prediction in (Value(number), Vector([number]), [Value(number)]):
        for given in (target, [target], np.array([target]), Vector([target])):
            assert loss(prediction, given).data == expected


def test_the_mse_loss_is_the_mean_over_all_entries():
    assert mse_loss(Vector([1.0, 2.0]), [3.0, 5.0]).data == 6.5
    prediction = Matrix([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    rows = [[1.0, 0.0, 3.0], [4.0, 5.0, 2.0]]
    for target in (Matrix(rows), rows, np.array(rows), pd.DataFrame(rows), [*Matrix(rows)]):
        for given in (prediction, [*prediction]):
            assert mse_loss(given, target).data == 20 / 6


CLASSES = [
    int, float, np.int8, np.int64, np.float32, np.bool_, np.array, lambda k: np.array([k]), lambda k: [k],
    lambda k: np.eye(3)[k], lambda k: np.eye(3)[k].tolist(), lambda k: Vector(np.eye(3)[k]),
]  # fmt: skip


@pytest.mark.parametrize("k", [0, 1])
@cases("kind", CLASSES)
def test_a_class_is_a_number_of_any_type_or_a_one_hot_row(kind, k):
    logits = Vector(LOGITS)
    found = cross_entropy(logits, kind(k)).data
    assert found == pytest.approx(-math.log(SHARES[k]), rel=1e-14)
    assert found == cross_entropy(logits, k).data


def test_cross_entropy_and_softmax_are_about_shares():
    soft = cross_entropy(Vector(LOGITS), [0.5, 0.25, 0.25]).data
    assert soft == pytest.approx(-np.log(SHARES) @ [0.5, 0.25, 0.25])
    assert softmax(LOGITS).data == pytest.approx(SHARES.tolist(), rel=1e-14)
    rows = np.array([LOGITS, [5.0, 5.0, 5.0]])
    np.testing.assert_allclose(softmax(rows), [SHARES, [1 / 3] * 3], rtol=1e-14)


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
    assert cross_entropy(Vector(z), 1).data == pytest.approx(math.log(2), rel=1e-15)
    x = Vector([0.1, 0.2, 0.3])
    for t in np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [1 / 3, 2 / 3, 0.0]]):
        assert cross_entropy(Vector(z), t).data == pytest.approx(math.log(2), rel=1e-15)
        program = Expression(cross_entropy(x, t)).compile([x], wrt=[x], xp=np, batch=True)
        values, gradients = program([z])
        assert values == pytest.approx(math.log(2), rel=1e-15)
        assert gradients[0] == pytest.approx(shares - t, abs=1e-15)


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
    *[(lambda t=t: cross_entropy(ROW, t), ValueError, f"cross_entropy: found target {t}, expected a class from 0 to 1, or 2 probabilities that add up to 1")
      for t in (2, -1, [0.5], [1, 0, 0], [1, 1], Matrix([[1.0]]))],
    *[(lambda loss=loss: loss(Matrix([[1.0]]), 1), ValueError, "...found numbers of shape ..., ...; call it for each")
      for loss in (hinge_loss, cross_entropy, BINARY)],
)  # fmt: skip
