"""What a trained model predicts, and how often it is right."""

import functools
import itertools
import math

import numpy as np
import pandas
import pytest
from trainings import CLASSES, INPUTS, fitted, network

from autodiff import nn, optim


def test_predict_is_the_model_on_every_row():
    model = network(2)
    found = nn.predict(model, INPUTS)
    assert found.shape == (20, 2)
    np.testing.assert_allclose(found, [model(x).data for x in INPUTS], rtol=1e-13)
    frame = pandas.DataFrame(INPUTS, columns=["a", "b"])
    np.testing.assert_array_equal(nn.predict(model, frame), found)
    one = nn.predict(lambda x: x[0] * 2.0, INPUTS)
    np.testing.assert_array_equal(one, 2 * np.array(INPUTS)[:, 0])
    for n in range(1, 6):
        np.testing.assert_allclose(nn.predict(model, INPUTS[:n]), found[:n], rtol=1e-13)


@pytest.mark.parametrize("result", [lambda x: [x[0] * 2.0, 0.5], lambda x: (x[0] * 2.0, 0.5)])
def test_predictions_are_compiled(result):
    calls = itertools.count()  # a list would be noticed

    def model(x):
        next(calls)
        return result(x)

    assert nn.predict(model, np.ones((200, 2))).tolist() == [[2.0, 0.5]] * 200
    assert next(calls) == 4


@pytest.mark.parametrize(
    "model",
    [
        lambda x: x[0] if x[0] > 0 else 0.1 * x[1],
        lambda x: 2,
        lambda x: x[0] * (1.0 if float(x[1]) > 0 else 2.0),
    ],
)
def test_a_model_that_looks_at_numbers_is_walked(model):
    rows = np.array(INPUTS)
    np.testing.assert_allclose(nn.predict(model, rows), [float(model(x)) for x in rows])


def test_a_program_that_gives_something_else_is_not_used():
    counted = itertools.count()

    def model(x):
        return x[0] * (3.0 if next(counted) == 3 else 2.0)  # the call that is recorded

    assert nn.predict(model, np.ones((20, 1))).tolist() == [2.0] * 20


@pytest.mark.parametrize(
    ("model", "kind", "message"),
    [
        (lambda x: {"a": x[0]}, TypeError, "predict, what the model returns: found {'a'"),
        (lambda x: None, TypeError, "predict, what the model returns: found None"),
        (lambda x: [x, x[0]], ValueError, r"predict, what .*: found numbers of shape \(2, \(2,\), \(\)\)"),
        (lambda x: [x[0]] * (1 + (x[0] > 0)), ValueError, "predict: found results of different shapes"),
    ],
)  # fmt: skip
def test_what_a_model_may_not_return_to_predict(model, kind, message):
    for rows in (INPUTS[:2], INPUTS):
        with pytest.raises(kind, match=message):
            nn.predict(model, rows)


# -- Evaluation mode ------------------------------------------------------------------------------


class Holder:
    def __init__(self, held):
        self.held = held

    def __call__(self, x):
        return self.held(x)


class Wrapped(nn.Module):
    def __init__(self, held):
        self.function = lambda x: held(x)

    def forward(self, x):
        return self.function(x)


WRAPS = [lambda net: lambda x: net(x), lambda net: net.forward, functools.partial, Holder, Wrapped]


@pytest.mark.parametrize("wrap", WRAPS)
def test_modes_reach_the_modules_that_functions_and_objects_use(wrap):
    net = nn.Sequential(nn.Dropout(0.5, seed=0), nn.Linear(2, 1, seed=0))
    expected = nn.predict(net, INPUTS)
    assert nn.predict(wrap(net), INPUTS).tolist() == expected.tolist()
    assert net.layers[0].training
    modes = []
    parameters = net.eval().parameters()
    model = wrap(net)
    nn.fit(
        model, INPUTS, CLASSES, lambda p, t: modes.append(net.training) or p.sum(),
        optim.SGD(parameters, lr=0.0), 1, progress=False, engine="eager",
    )  # fmt: skip
    assert set(modes) == {True}
    assert not net.training
    assert not net.layers[0].training


# -- How often a model is right -------------------------------------------------------------------

SCORES = [[2.0, 1.0], [0.0, 3.0]]


@pytest.mark.parametrize(
    ("predictions", "targets", "share"),
    [
        ([*SCORES, [1.0, 2.0]], [0, 1, 0], 2 / 3),
        (SCORES, [[1, 0], [0, 1]], 1.0),
        (SCORES, [False, True], 1.0),
        ([[0.5], [-2.0]], [1, -1], 1.0),
        ([[0.5], [-2.0]], [[1], [-1]], 1.0),
        ([0.5, -2.0], [0, 0], 0.5),
        ([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0]], [[1], [0]], 0.0),  # a column of classes
    ],
)
def test_accuracy(predictions, targets, share):
    assert nn.accuracy(predictions, targets) == share
    assert nn.accuracy(np.array(predictions), np.array(targets)) == share


def test_a_frame_of_targets_is_its_rows_not_the_names_of_its_columns():
    rows = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    frame = pandas.DataFrame(rows, index=[5, 3, 4])  # its columns are called 0, 1, 2
    assert nn.accuracy([[0.0, 0.5, 1.0], [1.0, 0.5, 0.0], [0.0, 1.0, 0.5]], frame) == 1.0
    found = [
        fitted(network(3), targets, nn.cross_entropy, inputs=INPUTS[:3])[0].losses
        for targets in (frame, rows)
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("predictions", "targets", "kind", "words"),
    [
        ([[1.0, 2.0]], [0, 1], ValueError, "accuracy: found 1 prediction and 2 targets, .*, expected as many"),
        ([], [], ValueError, "found 0 predictions"),
        (SCORES, [1, -1], ValueError, r"2 targets, \[1, -1\], .* and classes from 0 to 1"),
        (SCORES, [1, 2], ValueError, "classes from 0 to 1"),
        (SCORES, ["a", "b"], ValueError, "classes from 0 to 1"),
        (SCORES, [[1, 0, 0], [0, 1, 0]], ValueError, "found 2 predictions and 6 targets"),
        ([0.5, -2.0], [1, 2], ValueError, "classes from -1 to 1"),
        ([[0.5], [-2.0]], [[1, 0], [0, 1]], ValueError, "2 predictions and 4 targets"),
        # argmax gives the place of the nan
        ([[math.nan, 1.0], [0.0, 1.0]], [0, 1], ValueError, "expected as many of each: numbers"),
        ([math.nan, 1.0], [0, 1], ValueError, "expected as many of each: numbers"),
        ([["1", "2"], ["2", "1"]], [0, 1], TypeError, "found '1'"),
        ([[1j, 2.0], [2.0, 1.0]], [0, 1], TypeError, "found 1j"),
        (np.zeros((2, 2, 2)), [0, 1], ValueError, r"found an array of shape \(2, 2, 2\)"),
        ({0: [1.0, 2.0], 1: [2.0, 1.0]}, [0, 1], TypeError, "found {0"),
        ([[1.0], [1.0, 2.0]], [0, 1], ValueError, "found rows of different lengths"),
    ],
)  # fmt: skip
def test_what_accuracy_refuses(predictions, targets, kind, words):
    with pytest.raises(kind, match=words):
        nn.accuracy(predictions, targets)
