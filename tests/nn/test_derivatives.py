"""Derivatives inside a model or a loss: walked, compiled and predicted, they are the formula's.

What is differentiated is the sine of a product, by one of its factors z. The others have the
product q: the first derivative is q cos(z q), the second -q² sin(z q). A model that takes them by a
transform has to be the model in which these are written out, whatever z is, and whether or not the
inputs require a gradient, in every mode.
"""

import warnings

import numpy as np
import pytest
from trainings import OPTIMIZERS, fitted, numbers

import autodiff as ad
from autodiff import Expression, Value, adjoints, nn
from autodiff.nn.samples import constants

INPUTS = np.random.default_rng(0).uniform(-1.5, 1.5, (5, 2))
TARGETS = INPUTS @ [0.5, -0.3]


def first(q, z):
    return q * ad.cos(z * q)


def second(q, z):
    return -q * q * ad.sin(z * q)


def by_backward(u, z):
    z.grad = 0.0
    u(z).backward([z], create_graph=True)
    return z.grad


TRANSFORMS = {  # of a function u of one number, at z; and the formula
    "grad": (lambda u, z: ad.grad(u)(z), first),
    "value_and_grad": (lambda u, z: ad.value_and_grad(u)(z)[1], first),
    "value": (lambda u, z: ad.value_and_grad(u)(z)[0], lambda q, z: ad.sin(z * q)),
    "jvp": (lambda u, z: ad.jvp(u, (z,), (1.0,))[1], first),
    "vjp": (lambda u, z: ad.vjp(u, z)[1](1.0)[0], first),
    "jacfwd": (lambda u, z: ad.jacfwd(u)(z), first),
    "jacrev": (lambda u, z: ad.jacrev(u)(z), first),
    "hessian": (lambda u, z: ad.hessian(u)(z), second),
    "hvp": (lambda u, z: ad.hvp(u, z, 1.0), second),
    "grad of grad": (lambda u, z: ad.grad(ad.grad(u))(z), second),
    "jacfwd of jacfwd": (lambda u, z: ad.jacfwd(ad.jacfwd(u))(z), second),
    "of the adjoints": (lambda u, z: ad.grad(lambda t: adjoints(u(t), [t], create_graph=True)[t])(z), second),
}  # fmt: skip
ADJOINTS = {  # z has to require a gradient
    "adjoints": (lambda u, z: adjoints(u(z), [z], create_graph=True)[z], first),
    "backward": (by_backward, first),
}
BY = {  # z, and the other factors; of an input x and a parameter w
    "an input": lambda x, w: (x[0], [x[1], w]),
    "an input beside inputs": lambda x, w: (x[0], [x[1]]),
    "a parameter": lambda x, w: (w, [x[0], x[1]]),
    "a number": lambda x, w: (0.7, [x[0], x[1], w]),
}
KINDS = [(name, by, frozen) for name in TRANSFORMS for by in BY for frozen in (True, False)]
KINDS += [(name, by, False) for name in ADJOINTS for by in BY if by != "a number"]


class Model(nn.Module):
    """A line in what a function `of` an input and a parameter is, by the transform or written out."""

    def __init__(self, of, by, frozen):
        self.of, self.by, self.frozen = of, by, frozen
        self.w, self.scale = Value(0.8), Value(1.5)

    def forward(self, x):
        if not self.frozen:
            x.requires_grad_(True)
        return self.scale * self.of(*self.by(x, self.w)) + self.w


def models(name, by, frozen):
    """A model that differentiates, and the one in which the derivative is written out."""
    transform, formula = (TRANSFORMS | ADJOINTS)[name]

    def inside(z, others):
        return transform(lambda t: ad.sin(ad.prod([t, *others])), z)

    return (
        lambda: Model(inside, BY[by], frozen),
        lambda: Model(lambda z, others: formula(ad.prod(others), z), BY[by], frozen),
    )


def squared(p, t):
    return (p - t) ** 2


def in_the_model(model):
    return {"model": model, "loss": squared}


def in_the_loss(model):
    """The model returns its input, and the loss is of what the other makes of that."""
    loss = lambda x, t: squared(model(x), t)  # noqa: E731
    return {"model": lambda x: x, "loss": loss, "parameters": model.parameters()}


def trained(make, place, engine):
    """The losses of a short training and what it leaves of the parameters."""
    model = make()
    given = {"targets": TARGETS, "inputs": INPUTS, "optimizer": OPTIMIZERS["SGD"]}
    history, *_ = fitted(**place(model), **given, epochs=2, batch_size=3, engine=engine)
    assert history.engine == engine
    return [*history.losses, *numbers(model)]


@pytest.mark.parametrize(("name", "by", "frozen"), KINDS)
def test_a_derivative_inside_is_its_formula(name, by, frozen):
    inside, written = models(name, by, frozen)
    for place in (in_the_model, in_the_loss):
        expected = pytest.approx(trained(written, place, "eager"), rel=1e-9, abs=1e-12)
        assert trained(inside, place, "eager") == expected
        assert trained(inside, place, "compiled") == expected
    expected = pytest.approx([written()(constants(x)).data for x in INPUTS.tolist()], rel=1e-12)
    with warnings.catch_warnings(action="error"):  # that the samples are walked
        assert nn.predict(inside(), INPUTS) == expected


@pytest.mark.parametrize(("name", "by", "frozen"), KINDS)
def test_the_expression_of_a_derivative_is_that_of_its_formula(name, by, frozen):
    inside, written = models(name, by, frozen)
    x, model = constants([0.3, -0.2]), inside()
    expression, wrt = Expression(model(x)), [model.w, model.scale]
    numbered = expression.compile(x, wrt)
    batched = expression.compile(x, wrt, xp=np, batch=True)
    for row in INPUTS.tolist():
        by_formula = written()
        y = by_formula(constants(row))
        slopes = adjoints(y, [by_formula.w, by_formula.scale])
        expected = pytest.approx([y.data, slopes[by_formula.w], slopes[by_formula.scale]], rel=1e-9)
        value, gradients = numbered(*row, 0.8, 1.5)
        assert [value, *gradients] == expected
        value, gradients = batched([row], [0.8, 1.5])
        assert [*value, *gradients] == expected
        value = expression.propagate(dict(zip(x, row)))
        found = expression.backpropagate(wrt)
        assert [value, *found.values()] == expected
