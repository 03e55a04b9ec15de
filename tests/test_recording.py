"""What is recorded once, and compiled for all samples; what has to be walked, and why."""

import numpy as np
import pandas
import pytest
from tables import function
from trainings import CLASSES, NUMBERS, Layer, fitted, network, numbers, same, walked

import autodiff as ad
from autodiff import Matrix, Value, Vector, nn


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
MSE = "nn.mse_loss(p, t)"
LOSSES = [  # of a prediction p and a target t, the targets, and the outputs of the network
    (MSE, ROWS.tolist(), 2),
    (MSE, [Vector(row) for row in ROWS], 2),
    (MSE, pandas.Series(NUMBERS), 1),
    ("nn.cross_entropy(p, t)", CLASSES, 3),
    ("nn.cross_entropy(p, t)", np.eye(3)[CLASSES], 3),
    ("nn.cross_entropy(p, 1)", CLASSES, 3),
    ("(p - t) * (p - t)", NUMBERS, 1),
    # the target decides what is computed
    ("far(p, t) if t > 0 else 2.0 * abs(p[0] - math.exp(t)) + ad.exp(p[0])", NUMBERS, 1),
    ("sum([p[0]] * (1 + int(9 * abs(t)))) ** 2 * t", NUMBERS, 1),
    ("[p[0] * t, p[1] - t, abs(p[0]), Value(t)][int(9 * abs(t)) % 4]", NUMBERS, 2),
    # targets are told apart exactly
    ("far(p, math.copysign(1.0, t))", [0.0, -0.0] * 10, 1),
    ("far(p, float(isinstance(t[1], int)))", [(0.5, 0), (0.5, 0.0)] * 10, 1),
]


@pytest.mark.parametrize(("text", "targets", "outputs"), LOSSES)
def test_losses_and_targets_that_are_compiled(text, targets, outputs):
    same(lambda: network(outputs), targets=targets, loss=function("p, t", text, globals()))


MODELS = {  # and a loss of what it returns
    "returning(lambda y: (y[0], y[1]))": "far(p, p[1] + t)",
    "returning(lambda y: [y[0], 0.5])": "far(p, p[1] * t)",
    "returning(lambda y: {'a': y[0], 'b': [y[1]]})": "(p['a'] - p['b'][0] - t) ** 2",
    "returning(lambda y: Matrix([[y[0], y[1]], [y[1], y[0]]]))": "((p - t) * (p - t)).sum()",
    "returning(lambda y: y[0])": MSE,
    "Polynomial()": MSE,
    "Scaled()": MSE,
    "bent(leaky)": MSE,
    "bent(sloped)": MSE,
}


@pytest.mark.parametrize("text", MODELS)
def test_models_that_are_compiled(text):
    same(function("", text, globals()), loss=function("p, t", MODELS[text], globals()))


@pytest.mark.parametrize("constant", ["Value(0.0)", "Value(0.0) * 1.0"])
def test_a_loss_may_be_constant_for_some_samples(constant):
    """Those without a label, for example."""
    loss = function("p, t", f"{constant} if t is None else {MSE}", globals())
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
CHOICES = {  # what a module m makes of the output y of its layer, and why it is walked
    "catching(m, y)": "found a comparison",
    "y if m.inner.weight[0, 0] > 0.1 else -y": LOOKS,
    "y if y[0] else y * 0.1": LOOKS,
    "y * Value(y[0].data)": LOOKS,
    "y * (2.0 * y[0].data + 1.0)": "reads .data",
    "y * max(y[0], 0.1)": "write autodiff.maximum",
    "y if y[0].data in [0.0, 1.0] else -y": LOOKS,
    "y * {0.0: 0.1}.get(y[0].data, 2.0)": LOOKS,
    "y if str(y[0].data).startswith('-') else y * 0.1": LOOKS,
    "y if f'{y[0]:.1f}'.startswith('-') else y * 0.1": LOOKS,
    "y * round(y[0].data)": "a whole number",
    "y * (y[0].data % 0.5)": LOOKS,
    "y if y[0].data.hex().startswith('-') else -y": LOOKS,
    "y * m.inner.weight[0][int(y[0].data) % 2]": r"make the input a one-hot row and write row @ weight for weight\[int",
    "adding(m, y)": "found a comparison, a bool, a float",
}


@pytest.mark.parametrize("text", CHOICES)
def test_a_graph_that_depends_on_numbers_is_walked(text):
    walked(lambda: Layer(function("m, y", text, globals()), scale=Value(1.0)), CHOICES[text])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nn.Sequential(lambda x: x * float(x[0]), *network().layers)", LOOKS),
        ("bent(chooser)", LOOKS),
        ("Stale()", "holds numbers computed from its parameters"),
    ],
)
def test_models_that_are_walked(text, why):
    walked(function("", text, globals()), why)


def test_targets_that_cannot_be_told_apart_are_walked():
    loss = function("p, t", "far(p, t(1.0))", globals())
    walked(network, "local object", loss=loss, targets=[lambda y: y] * 20)


def test_an_interrupt_while_recording():
    def loss(p, t):
        raise KeyboardInterrupt

    history, model, _ = fitted(loss=loss, engine="auto")
    assert history.losses == []
    assert numbers(model) == numbers(network())
