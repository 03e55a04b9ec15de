"""Samples that a model takes, what it predicts for them, and how often it is right."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas
import pytest
from tables import cases, check_raises, raising
from trainings import INPUTS, chooser, network

import autodiff as ad
from autodiff import Value, Vector, adjoints, nn
from autodiff.nn.samples import Samples

# -- Samples: inputs of many kinds as one array ---------------------------------------------------

ROWS = [[0.25, 1.0], [2.0, -0.5], [3.0, 4.0]]
GIVEN = [
    (lambda: np.array(ROWS, dtype=np.float32), ROWS),
    (lambda: pandas.DataFrame(ROWS, columns=["a", "b"], index=[5, 3, 4]), ROWS),  # its rows, not the names of its columns
    (lambda: [tuple(row) for row in ROWS], ROWS),
    (lambda: [Vector(row) for row in ROWS], ROWS),
    (lambda: [[*map(Fraction, row)] for row in ROWS], ROWS),
]  # fmt: skip


@cases(("given", "rows"), GIVEN)
def test_inputs_and_targets_of_many_kinds(given, rows):
    samples = Samples(given(), given())
    assert samples.inputs.dtype == float
    assert samples.inputs.tolist() == rows
    for i, row in enumerate(rows):
        assert samples.input(i).data == row
        assert not any(x.requires_grad for x in samples.input(i))
        assert nn.mse_loss(samples.input(i), samples.targets[i]).data == 0.0


def test_both_are_copied():
    """So that a callback may change its own."""
    inputs, targets = np.array(ROWS), [{"y": np.ones(2)}, {"y": [1.0]}, 0]
    samples = Samples(inputs, targets)
    inputs *= 2.0
    targets[0]["y"] *= 2.0
    targets[1]["y"].append(9.0)
    assert samples.inputs.tolist() == ROWS
    assert samples.targets[0]["y"].tolist() == samples.targets[1]["y"] * 2 == [1.0, 1.0]


MASKED = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
TIMES = np.array(["2020-01-01", "2020-01-02"], "M8[ns]")


test_what_no_sample_is = raising(
    (lambda: Samples([], []), ValueError, "fit: found 0 inputs and 0 targets"),
    (lambda: Samples(np.ones((2, 8, 8)), [1, 2]), ValueError, "...flatten or ...: inputs.reshape(len(inputs), -1)"),
    (lambda: Samples([[1.0], [1.0, 2.0]], [1, 2]), ValueError, "fit, inputs: found rows of different lengths"),
    *[(lambda x=x: Samples([[1.0], [x]], [1, 2]), ValueError, f"fit, inputs: found {x} in row 1, expected finite") for x in (math.nan, math.inf)],
    *[(lambda x=x: Samples(x, [1.0]), TypeError, "fit, inputs: found ..., expected a sequence") for x in ({0: 1.0}, 1.0)],
    *[(lambda x=x: Samples([1.0], x), TypeError, "fit, targets: found ..., expected a sequence") for x in ({0: 1.0}, 1.0)],
    *[(lambda d=d: d(lambda x: Samples([[1.0, x]], [1.0]))(2.0), RuntimeError, "fit, inputs: found a number inside a function")
      for d in (ad.grad, ad.jacfwd)],
    *[(lambda x=x: Samples(x, [1.0, 2.0]), TypeError, f"fit, inputs: found {words}") for x, words in [
        (MASKED, "an array with masked entries"), ([*MASKED], "an array with masked entries"), (TIMES, "np.datetime64"), (TIMES - TIMES[0], "np.timedelta64"),
        ([[1.0, "a"], [2.0, "b"]], "'1.0' of type str"), ([[1j], [2.0]], "1j of type complex")]],
    (lambda: Samples(ROWS[:2], MASKED), TypeError, "fit, targets: found an array with masked entries, expected numbers; leave masked"),
)  # fmt: skip


# -- Predictions ----------------------------------------------------------------------------------

NETWORK, LINEAR = network(2), nn.Linear(2, 1, seed=0)
DROPPING = nn.Sequential(LINEAR, nn.Dropout(0.5, seed=0))
PREDICTED = [  # a model, and what it predicts
    (lambda x: NETWORK(x), lambda a, b: NETWORK([a, b]).data),
    (lambda x: DROPPING(x), lambda a, b: LINEAR([a, b]).data),
    (lambda x: x[0] * 2.0, lambda a, b: a * 2.0),
    (lambda x: [x[0] * 2.0, 0.5], lambda a, b: [a * 2.0, 0.5]),
    (lambda x: 2, lambda a, b: 2.0),
]


@pytest.mark.parametrize("rows", [*range(1, 7), 20])
@cases(("model", "expected"), PREDICTED)
def test_predict_is_the_model_on_every_row_in_evaluation_mode(model, expected, rows):
    calls = []
    found = nn.predict(lambda x: calls.append(x) or model(x), INPUTS[:rows])
    expected = np.array([expected(*row) for row in INPUTS[:rows]])
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert len(calls) == (rows if rows <= 3 else 2 + 3)  # walked; recorded, and walked
    assert DROPPING.layers[1].training


def guarded(x):
    try:
        return ad.log(x[0])
    except ValueError:
        return x[1] * 0.0


def changing(calls):
    """Twice as large in the calls that are recorded."""
    counted = itertools.count()
    return lambda x: x[0] * (2.0 if next(counted) in calls else 1.0)


B = Value(0.5)
WALKS = [
    (lambda: lambda x: x[0] if x[0] > 0 else 0.1 * x[1], "line [0-9]+ of test_predictions.py, .lambda: lambda x: x.0. if .* looks at a number, "),
    (lambda: lambda x: adjoints(y := ad.relu(B * x[0]), [B])[B] + y, "line [0-9]+ .* looks at a number, "),
    (lambda: guarded, "the program fails where walking does not"),
    (lambda: lambda x: chooser(x[0]), "compile: .* a number that is not known yet"),
    (lambda: changing([0]), "two samples gave different graphs or numbers: a model and a loss are"),
    (lambda: changing([0, 1]), "two samples gave different graphs or numbers: a model and a loss are"),
    (lambda: changing([0, 1, 3]), "the program is off by .* for sample [0-9]+; its graph is still as it was recorded, so this may be rounding"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "why"), WALKS)
def test_a_model_whose_program_would_be_wrong_is_walked(make, why):
    model = make()
    with pytest.warns(nn.WalkingWarning, match=f"predict walks the graph .* slow: {why}") as warned:
        found = nn.predict(model, INPUTS)
    assert [each.filename for each in warned] == [__file__]
    np.testing.assert_array_equal(found, [model(Vector(x)).data for x in INPUTS])


RETURNED = [
    (lambda x: {"a": x[0]}, TypeError, "predict, what the model returns: found {'a'"),
    (lambda x: None, TypeError, "predict, what the model returns: found None"),
    *[
        (
            lambda x, empty=empty: empty,
            ValueError,
            "predict, what the model returns: found numbers of shape (...0...), expected numbers, in rows",
        )
        for empty in ([], [[], []])
    ],
    (lambda x: [x, x[0]], ValueError, "predict, what ...: found numbers of shape (2, (2,), ())"),
    (lambda x: [x[0]] * (1 + (x[0] > 0)), ValueError, "predict: found results of different shapes"),
]


@pytest.mark.filterwarnings("ignore:predict walks")
@pytest.mark.parametrize("rows", [2, 20])
@cases(("model", "kind", "words"), RETURNED)
def test_what_a_model_may_not_return_to_predict(model, kind, words, rows):
    check_raises(lambda: nn.predict(model, INPUTS[:rows]), kind, words)


# -- How often a model is right -------------------------------------------------------------------

SCORES = [[2.0, 1.0], [0.0, 3.0]]


ACCURACIES = [
    ([*SCORES, [1.0, 2.0]], [0, 1, 0], 2 / 3),
    (SCORES, [[1, 0], [0, 1]], 1.0),
    (SCORES, [False, True], 1.0),
    ([[0.5], [-2.0]], [1, -1], 1.0),
    ([[0.5], [-2.0]], [[1], [-1]], 1.0),
    ([0.5, -2.0], [0, 0], 0.5),
    ([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0]], [[1], [0]], 0.0),  # a column of classes
]


@pytest.mark.parametrize(("predictions", "targets", "share"), ACCURACIES, ids=str)
@pytest.mark.parametrize("kind", [list, np.array, pandas.DataFrame])
def test_accuracy(predictions, targets, share, kind):
    """A frame is its rows, not the names of its columns."""
    assert nn.accuracy(kind(predictions), kind(targets)) == share


test_what_accuracy_refuses = raising(
    (lambda: nn.accuracy([[1.0, 2.0]], [0, 1]), ValueError, "accuracy: found 1 prediction and 2 targets, ..., expected as many"),
    (lambda: nn.accuracy(SCORES * 2, [[1, 0], [0, 1]]), ValueError, "accuracy: found 4 predictions and 2 targets"),
    (lambda: nn.accuracy([1.0] * 2, [[1, 0], [0, 1]]), ValueError, "accuracy: found 2 predictions and 2 targets, [[1.0, 0.0], [0.0, 1.0]], expected"),
    (lambda: nn.accuracy(SCORES, [[1], [0, 1]]), ValueError, "accuracy, targets: found rows of different lengths"),
    (lambda: nn.accuracy(TIMES, [1, 1]), TypeError, "accuracy, predictions: found np.datetime64"),
    (lambda: nn.accuracy([], []), ValueError, "accuracy: found 0 predictions"),
    (lambda: nn.accuracy(SCORES, [1, -1]), ValueError, "...2 targets, [[1.0], [-1.0]], ... and classes from 0 to 1"),
    (lambda: nn.accuracy(SCORES, [1, 2]), ValueError, "...classes from 0 to 1"),
    (lambda: nn.accuracy(SCORES, [[1, 0, 0], [0, 1, 0]]), ValueError, "accuracy: found 2 predictions and 2 targets, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], expected"),
    (lambda: nn.accuracy([0.5, -2.0], [1, 2]), ValueError, "...classes from -1 to 1"),
    # argmax gives the place of the nan
    (lambda: nn.accuracy([[math.nan, 1.0], [0.0, 1.0]], [0, 1]), ValueError, "...expected as many of each: numbers"),
)  # fmt: skip
