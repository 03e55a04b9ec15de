"""What is recorded once, and compiled for all samples; what has to be walked, and why."""

import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pandas
import pytest
from tables import cases
from trainings import CLASSES, NUMBERS, fitted, network, numbers, same, walked

import autodiff as ad
from autodiff import Matrix, Value, Vector, nn
from autodiff.compiler.symbolic import NotRecordable
from autodiff.nn.recording import Watch


def far(p, y):
    return (p[0] - y) ** 2


class Polynomial(nn.Module):
    def __init__(self):
        self.weights = Vector([0.1, -0.2, 0.3])

    def forward(self, x):
        return ad.dot(self.weights, [x[0] ** i for i in range(3)]) * x[1]


class Scaled(nn.Module):
    """A weight that is computed in forward, and one that is not trained."""

    def __init__(self):
        self.scale, self.bias = Value(0.1), Value(0.5)

    def forward(self, x):
        return (self.scale * Matrix([[1.0, 2.0]]).requires_grad_(False)) @ x + self.bias


@ad.operation
def leaky(x):
    slope = ad.where(x > 0, 1.0, 0.1)
    return x * slope, lambda grad: (grad * slope,)


@ad.operation
def sloped(x):
    return ad.grad(lambda t: x * t * t)(0.25), lambda adjoint: (adjoint / 2,)  # x / 2


@ad.operation
def chooser(x):
    return (x if x > 0 else 0.1 * x), lambda grad: (grad if x > 0 else 0.1 * grad,)


def bent(activation):
    return nn.Sequential(nn.Linear(2, 4, activation=activation, seed=0), nn.Linear(4, 1, seed=1))


def returning(shape):
    return nn.Sequential(nn.Linear(2, 2, seed=0), shape)


ROWS = np.array([[y, -y] for y in NUMBERS])
LOSSES = [  # of a prediction and a target, the targets, and the outputs of the network
    (nn.mse_loss, ROWS.tolist(), 2),
    (nn.mse_loss, [Vector(row) for row in ROWS], 2),
    (nn.mse_loss, pandas.Series(NUMBERS), 1),
    (nn.cross_entropy, CLASSES, 3),
    (nn.cross_entropy, np.eye(3)[CLASSES], 3),
    (lambda p, t: nn.cross_entropy(p, 1), CLASSES, 3),
    (lambda p, t: (p - t) * (p - t), NUMBERS, 1),
    # the target decides what is computed
    (lambda p, t: far(p, t) if t > 0 else 2.0 * abs(p[0] - math.exp(t)) + ad.exp(p[0]), NUMBERS, 1),
    (lambda p, t: sum([p[0]] * (1 + int(9 * abs(t)))) ** 2 * t, NUMBERS, 1),
    (lambda p, t: [p[0] * t, p[1] - t, abs(p[0]), Value(t)][int(9 * abs(t)) % 4], NUMBERS, 2),
    # targets are told apart exactly
    (lambda p, t: far(p, math.copysign(1.0, t)), [0.0, -0.0] * 10, 1),
    (lambda p, t: far(p, float(isinstance(t[1], int))), [(0.5, 0), (0.5, 0.0)] * 10, 1),
]


@cases(("loss", "targets", "outputs"), LOSSES)
def test_losses_and_targets_that_are_compiled(loss, targets, outputs):
    same(lambda: network(outputs), targets=targets, loss=loss)


MODELS = [  # and a loss of what it returns
    (lambda: returning(lambda y: (y[0], y[1])), lambda p, t: far(p, p[1] + t)),
    (lambda: returning(lambda y: [y[0], 0.5]), lambda p, t: far(p, p[1] * t)),
    (lambda: returning(lambda y: {"a": y[0], "b": [y[1]]}), lambda p, t: (p["a"] - p["b"][0] - t) ** 2),
    (lambda: returning(lambda y: Matrix([[y[0], y[1]], [y[1], y[0]]])), lambda p, t: ((p - t) * (p - t)).sum()),
    (lambda: returning(lambda y: y[0]), nn.mse_loss),
    (Polynomial, nn.mse_loss),
    (Scaled, nn.mse_loss),
    (lambda: bent(leaky), nn.mse_loss),
    (lambda: bent(sloped), nn.mse_loss),
]  # fmt: skip


@cases(("make", "loss"), MODELS)
def test_models_that_are_compiled(make, loss):
    same(make, loss=loss)


@cases("constant", [lambda: Value(0.0), lambda: Value(0.0) * 1.0])
def test_a_loss_may_be_constant_for_some_samples(constant):
    """Those without a label, for example."""
    loss = lambda p, t: constant() if t is None else nn.mse_loss(p, t)  # noqa: E731
    same(targets=[None, *NUMBERS[1:]], loss=loss, batch_size=1)


# -- What is refused ------------------------------------------------------------------------------

LOOKS = [
    lambda y: y.data,
    lambda y: y > 0.1,
    lambda y: y == 0.0,
    lambda y: max(y, 0.1),
    lambda y: f"{y:.1f}",
    bool, repr,
    lambda y: ad.Vector([0.0, y]).data,
    lambda y: np.sort(np.array([y, 2.0 * y])),
]  # fmt: skip


@pytest.mark.parametrize("look", LOOKS)
def test_looking_is_refused_at_what_depends_on_a_leaf(look):
    x, constant = Value(2.0), Value(3.0)
    look(x)
    for seen in (x, ad.sin(constant * x)):
        words = "^line [0-9]+ of test_recording.py, .* looks at a number, which differs"
        with pytest.raises(NotRecordable, match=words), Watch([Value(2.0), x]), suppress(Exception):
            look(seen)  # and no way out
    with Watch([x]):
        look(constant)
        with ThreadPoolExecutor() as pool:
            pool.submit(look, x).result()  # another thread computes with it, too


def test_no_number_is_missed_while_recording():
    """What depends on no leaf fails as ever; what does has no number that counts."""
    x = Value(-1.0)
    with Watch([x]):
        with pytest.raises(ValueError, match="x = -1.0 is outside the domain x > 0"):
            ad.log(Value(-1.0))
        assert math.isnan(ad.log(x)._data)


def own_errors(p, t):
    if t > 0.5:
        raise ValueError("no such target")
    return far(p, t)


@pytest.mark.parametrize("engine", ["auto", "compiled", "eager"])
def test_an_error_of_ones_own_is_raised(engine):
    with pytest.raises(ValueError, match="^no such target"):
        fitted(loss=own_errors, targets=[*NUMBERS[1:], 1.0], engine=engine)


def test_a_loss_that_fails_with_other_targets_than_a_samples_own_is_walked():
    last = [None]

    def loss(p, t):
        if p is last[0]:
            raise RuntimeError("one prediction, two targets")
        last[0] = p
        return far(p, t)

    walked(network, "RuntimeError: one prediction, two targets", loss=loss)


def fresh(x):
    """An operation made anew in each call, which closes over a number."""
    factor = 0.5

    @ad.operation
    def scaled(x):
        return x * factor, lambda grad: (grad * factor,)

    return scaled(x)


class Backward(nn.Module):
    """A model that calls backward() and does not use what that leaves."""

    def __init__(self):
        self.inner = nn.Linear(2, 1, seed=0)

    def forward(self, x):
        y = self.inner(x)[0]
        (y * y).backward()
        return y


class Pretrained(nn.Module):
    """A model that keeps what it has computed of weights that are not trained."""

    def __init__(self):
        self.layer = nn.Linear(1, 1, seed=0)
        first = nn.Linear(2, 1, seed=1)
        weight, bias = ad.tanh(first.weight[0]), first.bias[0] * 2.0
        self.features = lambda x: [ad.dot(weight, x) + bias]

    def forward(self, x):
        return self.layer(self.features(x))


@pytest.mark.parametrize("make", [lambda: bent(fresh), Backward, Pretrained])
def test_models_that_do_more_than_they_have_to_are_compiled(make):
    same(make)


def test_the_gradients_of_a_model_that_calls_backward_are_those_of_its_loss():
    (one, model, _), (other, plain, _) = (
        fitted(make(), engine="eager") for make in (Backward, lambda: nn.Linear(2, 1, seed=0))
    )
    assert (one.losses, numbers(model)) == (other.losses, numbers(plain))


def test_a_rule_that_branches_is_walked():
    walked(lambda: bent(chooser), "a number that is not known yet, .* write autodiff.maximum")
    with pytest.warns(nn.WalkingWarning, match="predict walks .* a number that is not known yet"):
        nn.predict(bent(chooser), np.ones((5, 2)))


class Stale(nn.Module):
    def __init__(self):
        inner = self.inner = nn.Linear(2, 1, seed=0)
        doubled = inner.weight * 2.0
        self.result = lambda x: doubled @ x + inner.bias

    def forward(self, x):
        return self.result(x)


def test_a_weight_that_is_computed_once_is_walked_from_the_start():
    walked(Stale, "what was computed in one call is used in the next: a model and a loss are pure")


def test_targets_that_cannot_be_told_apart_are_walked():
    reason = "a target cannot be told from others: .* local object"
    walked(network, reason, loss=lambda p, t: far(p, t(1.0)), targets=[lambda y: y] * 20)


def test_an_interrupt_while_recording():
    def loss(p, t):
        raise KeyboardInterrupt

    history, model, _ = fitted(loss=loss, engine="auto")
    assert history.losses == []
    assert numbers(model) == numbers(network())
