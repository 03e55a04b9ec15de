"""The exercises of notebook 8: right answers, wrong ones, and what is said to each."""

import math

import numpy as np
import pytest
from exercises import training
from exercises.training import XS, YS, check_1, check_2, check_3, solution_1, solution_2, solution_3

from autodiff import Value, exp, hessian, log, minimum, nn, optim, sqrt

BOWL = hessian(lambda p: nn.mse_loss([p[0] * x + p[1] for x in XS], YS))([0.0, 0.0])
SMALL, LARGE = np.linalg.eigvalsh(BOWL)


def right(check, answer):
    good, text = check.verdict(answer)
    assert good, text
    assert text.startswith("Right")
    return text


def hint(check, answer):
    good, text = check.verdict(answer)
    assert not good, text
    return text


def test_the_largest_learning_rate():
    assert "0.2380" in right(check_1, solution_1(BOWL))
    right(check_1, 0.238)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (..., "Nothing here yet"),
        (None, "Nothing here yet"),
        ("2 / 8.4", "Expected one number, found '2 / 8.4'"),
        ([2 / LARGE, 2 / SMALL], "One number, please"),
        (2 / np.array([SMALL, LARGE]), "One number, please"),
        (1 / LARGE, "may go down to -1"),
        (2 / SMALL, "The steep one breaks first"),
        (1 / SMALL, "Look at the other"),
        (LARGE, "the curvature λ itself"),
        (SMALL, "That is a curvature"),
        (0.3, "0.3 diverged in the last section"),
        (0.1, "0.1 learnt well"),
        (0.2, "does not diverge yet"),
        (0.26, "diverges, and so do smaller ones"),
        (1e9, "diverges, and so do smaller ones"),
        (-0.238, "is no step downhill"),
        (0, "is no step downhill"),
        (math.nan, "no number"),
    ],
)
def test_another_learning_rate_gets_its_hint(answer, said):
    assert said in hint(check_1, answer)


def broken(model, inputs, targets, lr, sign=-1, mean=True, clear="before"):
    """A step of gradient descent with the faults that the exercise is about."""
    if clear == "before":
        model.zero_grad()
    for x, y in zip(inputs, targets):
        if clear == "each":
            model.zero_grad()
        (nn.mse_loss(model(x), y) / (len(inputs) if mean else 1)).backward()
    if clear == "early":
        model.zero_grad()
    for p in model.parameters():
        p.data += sign * lr * p.grad
    if clear == "after":
        model.zero_grad()


def as_given(model, inputs, targets, lr):
    broken(model, inputs, targets, lr, sign=1, mean=False, clear="")


def a_step(**faults):
    return lambda *args: broken(*args, **faults)


def by_fit(model, inputs, targets, lr):
    nn.fit(model, inputs, targets, nn.mse_loss, optim.SGD(model.parameters(), lr), 1)


def known_beforehand(model, inputs, targets, lr):
    for p, data in zip(model.parameters(), (0.6, 0.1)):
        p.data = data


def forgets_the_bias(model, inputs, targets, lr):
    model.zero_grad()
    for x, y in zip(inputs, targets):
        (nn.mse_loss(model(x), y) / len(inputs)).backward()
    model.weight[0, 0].data -= lr * model.weight[0, 0].grad


@pytest.mark.parametrize("answer", [solution_2, broken, a_step(clear="after")])
def test_a_repaired_step(answer):
    right(check_2, answer)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (as_given, "It climbs"),
        (a_step(sign=1), "It climbs"),
        (a_step(mean=False), "4 times too far"),
        (a_step(mean=False, clear=""), "4 times too far"),
        (a_step(clear=""), "The second still contains the gradient of the first"),
        (a_step(clear="each"), "Only the last sample counted"),
        (a_step(mean=False, clear="each"), "Only the last sample counted"),
        (a_step(clear="early"), "Nothing moved"),
        (lambda *args: None, "Nothing moved"),
        (forgets_the_bias, "not lr times the gradient"),
        (known_beforehand, "not lr times the gradient"),
        (by_fit, "the exercise is what `fit` does inside"),
        (lambda model: None, "Your code raises TypeError"),
        (..., "Nothing here yet"),
        (3.0, "without calling it"),
    ],
)
def test_a_broken_step_gets_its_hint(answer, said):
    assert said in hint(check_2, answer)


def error(prediction, target):
    return prediction[0] - target


def huber(prediction, target):
    e = error(prediction, target)
    return e * e / 2 if abs(e.data) < 1 else abs(e) - 0.5


@pytest.mark.parametrize(
    "answer",
    [
        solution_3,
        huber,
        lambda p, t: 3 * abs(error(p, t)),
        lambda p, t: sqrt(error(p, t) ** 2 + 0.01),
        lambda p, t: log(1 + error(p, t) ** 2),
        lambda p, t: abs(p - t).sum(),
        lambda p, t: minimum(abs(error(p, t)), 8),  # no pull at all from far away
    ],
)
def test_a_loss_that_forgives(answer):
    right(check_3, answer)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda p, t: ..., "Nothing here yet"),
        (lambda p, t: None, "Nothing here yet"),
        (nn.mse_loss, "far more than 48 times"),
        (lambda p, t: error(p, t) ** 4, "a far point pulls much too hard"),
        (lambda p, t: abs(p - t), "Take the Value in it"),
        (lambda p, t: abs(p[0].data - t), "Expected a Value, found a float"),
        (lambda p, t: Value(abs(p[0].data - t)), "no gradient reaches it"),
        (lambda p, t: Value(1.0), "does not depend on the prediction"),
        (lambda p, t: abs(error(p, t)) * 0 + 2, "no slope"),
        (lambda p, t: 0 * p[0], "no slope"),
        (lambda p, t: error(p, t), "An error on one side is rewarded"),
        (lambda p, t: -abs(error(p, t)), "An error on one side is rewarded"),
        (lambda p, t: error(p, t) ** 2 if t > -5 else 0 * p[0], "must not know which"),
        (lambda p, t: abs(error(p, t)) if t > -5 else abs(error(p, t)) / 9, "must not know which"),
        (lambda p, t: error(p, t) ** 2 * (t != -10.0), "must not know which"),
        (lambda p, t: exp(error(p, t) ** 2 / 100), "far more than 48 times"),
        (lambda p: p[0], "Your code raises TypeError"),
        (abs, "Your code raises TypeError"),
        (2.0, "without calling it"),
    ],
)
def test_another_loss_gets_its_hint(answer, said):
    assert said in hint(check_3, answer)


def test_the_points_are_those_of_the_notebook():
    assert training.solution is not None
    assert (XS, YS) == ([0.0, 1.0, 2.0, 3.0], [1.2, 2.8, 5.1, 6.9])


def test_a_learning_rate_in_quotes_is_no_number():
    assert "Expected one number, found '0.238'" in hint(check_1, "0.238")


@pytest.mark.parametrize(
    "loss",
    [
        lambda prediction, target: sqrt((prediction[0] - target) ** 2),
        lambda prediction, target: nn.mse_loss(prediction, target) ** 0.5,
    ],
)
def test_a_loss_needs_no_slope_where_the_error_is_exactly_0(loss):
    right(check_3, loss)
