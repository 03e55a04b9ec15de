"""What a trained model predicts, and how often it is right."""

import itertools
import math

import numpy as np
import pandas
import pytest
from tables import cases, check_raises, raising
from trainings import INPUTS, chooser, network

import autodiff as ad
from autodiff import Vector, nn


@pytest.mark.parametrize("rows", range(1, 7))
def test_predict_is_the_model_on_every_row(rows):
    model = network(2)
    expected = [model(x).data for x in INPUTS[:rows]]
    for given in (INPUTS[:rows], pandas.DataFrame(INPUTS[:rows], columns=["a", "b"])):
        found = nn.predict(model, given)
        assert found.shape == (rows, 2)
        np.testing.assert_allclose(found, expected, rtol=1e-13)
    one = nn.predict(lambda x: x[0] * 2.0, INPUTS)
    np.testing.assert_array_equal(one, 2 * np.array(INPUTS)[:, 0])


@pytest.mark.parametrize("result", [lambda x: [x[0] * 2.0, 0.5], lambda x: (x[0] * 2.0, 0.5)])
def test_predictions_are_compiled(result):
    calls = []

    def model(x):
        calls.append(x)
        return result(x)

    assert nn.predict(model, np.ones((200, 2))).tolist() == [[2.0, 0.5]] * 200
    assert len(calls) == 2 + 3  # recorded, and walked


def positive(x):
    return x[0] if x[0] > 0 else 0.1 * x[1]


def guarded(x):
    try:
        return ad.log(x[0])
    except ValueError:
        return x[1] * 0.0


def changing(calls):
    """Twice as large in the calls that are recorded."""
    counted = itertools.count()
    return lambda x: x[0] * (2.0 if next(counted) in calls else 1.0)


WALKS = [
    (lambda: positive, "line [0-9]+ of test_predictions.py, return x.0. if .* looks at a number, "),
    (lambda: guarded, "the program fails where walking does not"),
    (lambda: lambda x: chooser(x[0]), "compile: .* a number that is not known yet"),
    (lambda: changing([0]), "two samples gave different graphs or numbers: a model and a loss are"),
    (
        lambda: changing([0, 1]),
        "the program is off by .* for sample [0-9]+; a model and a loss are",
    ),
]


@pytest.mark.parametrize(("make", "why"), WALKS)
def test_a_model_whose_program_would_be_wrong_is_walked(make, why):
    model = make()
    with pytest.warns(nn.WalkingWarning, match=f"predict walks the graph .* slow: {why}") as warned:
        found = nn.predict(model, INPUTS)
    assert [each.filename for each in warned] == [__file__]
    np.testing.assert_array_equal(found, [model(Vector(x)).data for x in INPUTS])


@pytest.mark.parametrize("rows", [1, 20])
def test_a_model_may_return_a_plain_number(rows):
    assert nn.predict(lambda x: 2, INPUTS[:rows]).tolist() == [2.0] * rows


def test_a_model_predicts_in_evaluation_mode():
    model = nn.Sequential(nn.Linear(2, 1, seed=0), nn.Dropout(0.5, seed=0))
    np.testing.assert_array_equal(nn.predict(model, INPUTS), nn.predict(model.layers[0], INPUTS))
    assert model.layers[1].training


RETURNED = [
    (lambda x: {"a": x[0]}, TypeError, "predict, what the model returns: found {'a'"),
    (lambda x: None, TypeError, "predict, what the model returns: found None"),
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
    (lambda: nn.accuracy([], []), ValueError, "accuracy: found 0 predictions"),
    (lambda: nn.accuracy(SCORES, [1, -1]), ValueError, "...2 targets, [1, -1], ... and classes from 0 to 1"),
    (lambda: nn.accuracy(SCORES, [1, 2]), ValueError, "...classes from 0 to 1"),
    (lambda: nn.accuracy(SCORES, [[1, 0, 0], [0, 1, 0]]), ValueError, "accuracy: found 2 predictions and 6 targets"),
    (lambda: nn.accuracy([0.5, -2.0], [1, 2]), ValueError, "...classes from -1 to 1"),
    # argmax gives the place of the nan
    (lambda: nn.accuracy([[math.nan, 1.0], [0.0, 1.0]], [0, 1]), ValueError, "...expected as many of each: numbers"),
    (lambda: nn.accuracy([['1', '2'], ['2', '1']], [0, 1]), TypeError, "...found '1'"),
    (lambda: nn.accuracy([[1.0], [1.0, 2.0]], [0, 1]), ValueError, "...found rows of different lengths"),
)  # fmt: skip
