"""Losses and softmax: their values, their gradients, and what they refuse."""

import math
from functools import partial

import mpmath
import numpy as np
import pandas as pd
import pytest
from oracles import EPSILON
from tables import cases, raising

from autodiff import Expression, Matrix, Value, Vector, nn
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
    int, float, np.int8, np.bool_, np.array, lambda k: np.array([k]), lambda k: [k],
    lambda k: np.eye(3)[k], lambda k: np.eye(3)[k].tolist(), lambda k: Vector(np.eye(3)[k]),
]  # fmt: skip


@pytest.mark.parametrize("k", [0, 1])
@cases("kind", CLASSES)
def test_a_class_is_a_number_of_any_type_or_a_one_hot_row(kind, k):
    logits = Vector(LOGITS)
    found = cross_entropy(logits, kind(k)).data
    assert found == pytest.approx(-math.log(SHARES[k]), rel=1e-14)
    assert found == cross_entropy(logits, k).data


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.int64, bool])
def test_softmax_of_integers_is_that_of_floats(kind):
    """Differences of small integers overflow without an error, and bools have none."""
    z = np.array([[0, 1, 1], [1, 0, 0]])
    np.testing.assert_array_equal(softmax(z.astype(kind)), softmax(z.astype(float)))


# -- Logits of any size ---------------------------------------------------------------------------

EQUAL = [[size, size, size - 1e4 - abs(size)] for size in (0.0, 1e3, 1e16, -1e16, 1e300)]
SOFT = {2: [[0.5, 0.5]], 3: [[0.5, 0.25, 0.25], [0.5, 0.5, 0.0], [1 / 3, 2 / 3, 0.0]]}


@pytest.mark.parametrize("z", [LOGITS, [1e3, -1e3], [1e8, -1e8], *EQUAL])
def test_softmax_and_cross_entropy_are_those_of_50_digits(z):
    """logsumexp(z) - z[k] is 0.0 at 1e16, where floats are 2 apart."""
    with mpmath.workdps(50):
        powers = [mpmath.exp(mpmath.mpf(x) - max(z)) for x in z]
        exact = [(power / sum(powers), mpmath.log(sum(powers) / power)) for power in powers]
    shares, losses = np.array(exact, float).T
    close = partial(pytest.approx, rel=1e-15, abs=1e-15)
    for given in (z, Vector(z)):
        assert softmax(given).data == close(shares.tolist())
    assert softmax(np.array([z, z[::-1]])) == close(np.array([shares, shares[::-1]]))

    assert [cross_entropy(Vector(z), k).data for k in range(len(z))] == close(losses.tolist())
    for target in np.array([*np.eye(len(z)), *SOFT[len(z)]]):
        logits, x = Vector(z), Vector([0.1, 0.2, 0.3][: len(z)])  # where it is recorded
        loss, recorded = cross_entropy(logits, target), cross_entropy(x, target)
        loss.backward()
        program = Expression(recorded).compile([x], wrt=[x], xp=np, batch=True)
        values, gradients = program([z])
        assert [loss.data, *values] == close([target @ losses] * 2)
        for slopes in (logits.grad, gradients[0]):
            assert slopes == close(shares - target)


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
    (lambda: mse_loss(Matrix([[1.0]]), 1.0), ValueError, "...(1, 1) and a target of shape ()"),
    (lambda: mse_loss([], []), ValueError, "mse_loss: found no numbers, expected at least one"),
    (lambda: mse_loss(ROW, {0: 1.0, 1: 2.0}), TypeError, "mse_loss, target: found {0: 1.0, 1: 2.0}...expected numbers in"),  # not its keys
    *[(lambda x=x: softmax(x), ValueError, "...: found no numbers, expected at least one") for x in ([], np.array([]), np.ones((2, 0)))],
    *[(lambda x=x: softmax(x), TypeError, f"softmax: found an array {words}") for x, words in [
        (np.ma.array([1.0, 2.0], mask=[0, 1]), "with masked entries"), (np.array([1], "m8[s]"), "of timedelta64[s], expected real numbers; make floats"),
        (np.array([1j]), "of complex128"), (np.array(["1"]), "of <U1")]],
    (lambda: softmax([ROW]), ValueError, "softmax: found numbers of shape (1, 2)"),
    (lambda: hinge_loss(Value(1.0), 0), ValueError, "hinge_loss: found label 0.0, expected 1 or -1"),
    (lambda: hinge_loss(ROW, 1), ValueError, "hinge_loss, score: found 2 numbers, expected one"),
    (lambda: BINARY(Value(0.0), 2), ValueError, "...found target 2.0, expected 0 to 1"),
    *[(lambda t=t: cross_entropy(ROW, t), ValueError, f"cross_entropy: found target {t}, expected a class from 0 to 1, or 2 probabilities that add up to 1")
      for t in (2, -1, [0.5], [1, 0, 0], [1, 1], Matrix([[1.0]]))],
    *[(lambda loss=loss: loss(Matrix([[1.0]]), 1), ValueError, "...found numbers of shape ..., ...; call it for each")
      for loss in (hinge_loss, cross_entropy, BINARY)],
)  # fmt: skip
