"""What is recorded once, and compiled for all samples; what has to be walked, and why."""

import dataclasses
import math

import numpy as np
import pandas
import pytest
from trainings import CLASSES, NUMBERS, Layer, fitted, network, numbers, same, walked

import autodiff as ad
from autodiff import Matrix, Value, Vector, nn


def two():
    return network(2)


def three():
    return network(3)


def returning(shape):
    return lambda: nn.Sequential(nn.Linear(2, 2, seed=0), shape)


def bent(activation):
    return lambda: nn.Sequential(
        nn.Linear(2, 4, activation=activation, seed=0), nn.Linear(4, 1, seed=1)
    )


def far(p, y):
    return (p[0] - y) ** 2


@dataclasses.dataclass(frozen=True)
class Weighted:
    y: float
    weight: float = dataclasses.field(compare=False)


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


class Residual(nn.Sequential):
    """A parameter beside the layers."""

    def __init__(self):
        super().__init__(nn.Linear(2, 2, seed=0))
        self.scale = Value(0.5)

    def forward(self, x):
        return (super().forward(x) * self.scale).sum()


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


RECORDED = {  # a model, its targets, a loss
    "rows": (two, [[y, -y] for y in NUMBERS], nn.mse_loss),
    "arrays": (two, np.array([[y, -y] for y in NUMBERS]), nn.mse_loss),
    "Vectors": (two, [Vector([y, 2.0]) for y in NUMBERS], nn.mse_loss),
    "a Series": (network, pandas.Series(NUMBERS), nn.mse_loss),
    "hinge": (network, [1 if y > 0 else -1 for y in NUMBERS], nn.hinge_loss),
    "classes": (three, CLASSES, nn.cross_entropy),
    "classes of numpy": (three, np.array(CLASSES), nn.cross_entropy),
    "one-hot rows": (three, np.eye(3)[CLASSES], nn.cross_entropy),
    "one class": (three, [1] * 20, nn.cross_entropy),
    "binary": (network, [float(y > 0) for y in NUMBERS], nn.binary_cross_entropy_with_logits),
    "a Vector of one": (network, NUMBERS, lambda p, t: (p - t) * (p - t)),
    # the target decides what is computed
    "a choice": (network, NUMBERS, lambda p, t: far(p, t) if t > 0 else 2.0 * abs(p[0] - math.exp(t)) + ad.exp(p[0])),
    "lengths": (network, NUMBERS, lambda p, t: sum([p[0]] * (1 + int(9 * abs(t)))) ** 2 * t),
    "operations": (two, NUMBERS, lambda p, t: [p[0] * t, p[1] - t, abs(p[0]), Value(t)][int(9 * abs(t)) % 4]),
    # targets are told apart exactly
    "signs of zero": (network, [0.0, -0.0] * 10, lambda p, t: far(p, math.copysign(1.0, t))),
    "types": (network, [(0.5, 0), (0.5, 0.0)] * 10, lambda p, t: far(p, float(isinstance(t[1], int)))),
    "truth and one": (network, [True, 1] * 10, lambda p, t: far(p, float(isinstance(t, bool)))),
    "arrays of two types": (network, [np.array([1.0]), np.array([1])] * 10, lambda p, t: far(p, float(t.dtype.kind == "f"))),
    "dataclasses": (network, [Weighted(1.0, 0.5), Weighted(1.0, 2.0)] * 10, lambda p, t: t.weight * far(p, t.y)),
    # a model returns what it likes
    "a tuple": (returning(lambda y: (y[0], y[1])), NUMBERS, lambda p, t: far(p, p[1] + t)),
    "a list with a number": (returning(lambda y: [y[0], 0.5]), NUMBERS, lambda p, t: far(p, p[1] * t)),
    "a dict": (returning(lambda y: {"a": y[0], "b": [y[1]]}), NUMBERS, lambda p, t: (p["a"] - p["b"][0] - t) ** 2),
    "a Matrix": (returning(lambda y: Matrix([[y[0], y[1]], [y[1], y[0]]])), NUMBERS, lambda p, t: ((p - t) * (p - t)).sum()),
    "one Value": (returning(lambda y: y[0]), NUMBERS, nn.mse_loss),
    # models of one's own
    **{make.__name__: (make, NUMBERS, nn.mse_loss) for make in (Polynomial, Scaled, Residual)},
    **{f.__name__: (bent(f), NUMBERS, nn.mse_loss) for f in (leaky, sloped)},
}  # fmt: skip


@pytest.mark.parametrize("name", RECORDED)
def test_what_is_compiled(name):
    make, targets, loss = RECORDED[name]
    same(make, targets=targets, loss=loss)


@pytest.mark.parametrize("constant", [lambda: Value(0.0), lambda: Value(0.0) * 1.0])
def test_a_loss_may_be_constant_for_some_samples(constant):
    """Those without a label, for example."""
    loss = lambda p, t: constant() if t is None else nn.mse_loss(p, t)  # noqa: E731
    same(targets=[None, *NUMBERS[1:]], loss=loss, batch_size=1)


# -- What is walked -------------------------------------------------------------------------------


def catching(m, y):
    try:
        return y if y[0] > 0 else y * 0.1
    except Exception:  # no way out
        return y


def adding(m, y):
    m.scale.data += 0.01
    return y * m.scale


class Stale(nn.Module):
    def __init__(self):
        inner = self.inner = nn.Linear(2, 1, seed=0)
        doubled = inner.weight * 2.0
        self.result = lambda x: doubled @ x + inner.bias

    def forward(self, x):
        return self.result(x)


LOOKS = "not known"
CHOICES = {  # what is done to the output of a layer
    "a comparison": (catching, "found a comparison"),
    "a comparison of parameters": (lambda m, y: y if m.inner.weight[0, 0] > 0.1 else -y, LOOKS),
    "the truth of a number": (lambda m, y: y if y[0] else y * 0.1, LOOKS),
    "its data": (lambda m, y: y * Value(y[0].data), LOOKS),
    "arithmetic of its data": (lambda m, y: y * (2.0 * y[0].data + 1.0), "reads .data"),
    "max": (lambda m, y: y * max(y[0], 0.1), "write autodiff.maximum"),
    "its data among others": (lambda m, y: y if y[0].data in [0.0, 1.0] else -y, LOOKS),
    "its data as a key": (lambda m, y: y * {0.0: 0.1}.get(y[0].data, 2.0), LOOKS),
    "its text": (lambda m, y: y if str(y[0].data).startswith("-") else y * 0.1, LOOKS),
    "its format": (lambda m, y: y if f"{y[0]:.1f}".startswith("-") else y * 0.1, LOOKS),
    "round": (lambda m, y: y * round(y[0].data), "a whole number"),
    "its remainder": (lambda m, y: y * (y[0].data % 0.5), LOOKS),
    "a method of its data": (lambda m, y: y if y[0].data.hex().startswith("-") else -y, LOOKS),
    "an embedding": (
        lambda m, y: y * m.inner.weight[0][int(y[0].data) % 2],
        r"make the input a one-hot row and write row @ weight for weight\[int",
    ),
    "a parameter that it sets": (adding, "found a comparison, a bool, a float"),
}  # fmt: skip
WALKED = {
    **{name: (lambda f=f: Layer(f, scale=Value(1.0)), why) for name, (f, why) in CHOICES.items()},
    "a float of the input": (
        lambda: nn.Sequential(lambda x: x * float(x[0]), *network().layers),
        LOOKS,
    ),
    "an operation with an if": (bent(chooser), LOOKS),
    "numbers computed before the call": (Stale, "holds numbers computed from its parameters"),
}


@pytest.mark.parametrize("name", WALKED)
def test_a_graph_that_depends_on_numbers_is_walked(name):
    walked(*WALKED[name])


def test_targets_that_cannot_be_told_apart_are_walked():
    loss = lambda p, t: far(p, t(1.0))  # noqa: E731
    walked(network, "local object", loss=loss, targets=[lambda y: y] * 20)


def test_an_interrupt_while_recording():
    def loss(p, t):
        raise KeyboardInterrupt

    history, model, _ = fitted(loss=loss, engine="auto")
    assert history.losses == []
    assert numbers(model) == numbers(network())
