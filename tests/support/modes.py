"""Every way in which this package computes derivatives.

A mode takes a function f of a list of numbers, and a point at which it may record f; it returns a
function from any point to the value and the gradient there. HESSIANS take f and a point.
"""

import math

import numpy as np
import pytest

import autodiff as ad
from autodiff import Dual, Expression, Value

# -- First derivatives ----------------------------------------------------------------------------


def recorded(f, xs):
    leaves = [Value(x) for x in xs]
    y = f(leaves)
    return (y if isinstance(y, Value) else Value(y)), leaves


def accumulated(y, leaves, **how):
    """What backward() adds to `grad` of the leaves."""
    for x in leaves:
        x.grad = 0.0
    y.backward(**how)
    return [x.grad for x in leaves]


def plain(x):
    return x.data if isinstance(x, Value) else x


def at_once(derive):
    """The mode that computes f anew at each point."""
    return lambda f, _: lambda xs: derive(f, list(xs))


def walked(f, xs, **how):
    y, leaves = recorded(f, xs)
    return y.data, [*map(plain, accumulated(y, leaves, **how))]


def directions(xs):
    """The unit vectors."""
    return np.eye(len(xs)).tolist()


def tangent(y):
    return y.tangent if isinstance(y, Dual) else 0.0


def by_duals(f, xs):
    each = [f([*map(Dual, xs, v)]) for v in directions(xs)]
    return getattr(each[0], "primal", each[0]), [*map(tangent, each)]


def of_graph(derive):
    """The mode that reads the graph of f, recorded once."""
    return lambda f, at: derive(*recorded(f, at))


def propagated(y, leaves):
    def again(xs):
        for x, number in zip(leaves, xs):
            x.data = number
        expression = Expression(y)
        value, adjoints = expression.propagate(), ad.adjoints(expression.sink)
        return value, [adjoints.get(x, 0.0) for x in leaves]

    return again


def compiled(y, leaves, xp=math, number=float):
    program = Expression(y).compile(leaves, wrt=leaves, xp=xp)
    return lambda xs: program(*map(number, xs))


def batched_over_inputs(y, leaves):
    program = Expression(y).compile(leaves, wrt=leaves, xp=np, batch=True)
    other = [x.data for x in leaves]
    return lambda xs: [found[1].tolist() for found in program(np.array([other, xs]))]


def batched_over_parameters(y, leaves):
    program = Expression(y).compile([Value(0.0)], wrt=leaves, xp=np, batch=True)

    def alone(xs):
        values, gradient = program(np.zeros((1, 1)), np.array(xs))
        return values[0], gradient.tolist()

    return alone


GRADIENTS = {
    "grad": at_once(lambda f, xs: ad.value_and_grad(f)(xs)),
    "jacrev": at_once(lambda f, xs: (f(xs), ad.jacrev(f)(xs))),
    "jacfwd": at_once(lambda f, xs: (ad.jvp(f, (xs,), ([0.0] * len(xs),))[0], ad.jacfwd(f)(xs))),
    "vjp": at_once(lambda f, xs: (ad.vjp(f, xs)[0], pullback(f)(xs))),
    "backward": at_once(walked),
    "create_graph": at_once(lambda f, xs: walked(f, xs, create_graph=True)),
    "Dual": at_once(by_duals),
    "propagate": of_graph(propagated),
    "compile": of_graph(compiled),
    "numpy": of_graph(lambda y, leaves: compiled(y, leaves, np, np.array)),
    "inputs of a batch": of_graph(batched_over_inputs),
    "parameters of a batch": of_graph(batched_over_parameters),
}
ARRAYS = {"numpy", "inputs of a batch", "parameters of a batch"}  # NumPy computes the functions


def forward(f):
    """The derivative of a function of one number in forward mode."""
    return lambda x: ad.jvp(f, (x,), (1.0,))[1]


def pullback(f):
    return lambda x: ad.vjp(f, x)[1](1.0)[0]


DERIVATIVES = {f.__name__: f for f in (ad.grad, forward, ad.jacrev, ad.jacfwd, pullback)}
in_every_derivative = pytest.mark.parametrize("d", DERIVATIVES.values(), ids=DERIVATIVES)

# -- Second derivatives ---------------------------------------------------------------------------


def along(product):
    """The Hessian row by row, from a product with each unit vector."""
    return lambda f, xs: [product(f, xs, v) for v in directions(xs)]


def over_duals(f, xs, v):
    """Values that hold dual numbers."""
    leaves = [*map(Value, map(Dual, xs, v))]
    return [*map(tangent, accumulated(f(leaves), leaves))]


def of_gradients(derive, at=lambda xs: [0.5 for _ in xs]):
    """The Hessian by gradients that are graphs, recorded at xs or at another point."""

    def hessian(f, xs):
        y, leaves = recorded(f, at(xs))
        return [
            derive(g, leaves)(xs)[1] if getattr(g, "requires_grad", False) else [0.0] * len(xs)
            for g in accumulated(y, leaves, create_graph=True)
        ]

    return hessian


HESSIANS = {
    "hessian": lambda f, xs: ad.hessian(f)(xs),
    "reverse over reverse": lambda f, xs: ad.jacrev(ad.grad(f))(xs),
    "forward over forward": lambda f, xs: ad.jacfwd(ad.jacfwd(f))(xs),
    "create_graph": of_gradients(lambda g, leaves: lambda _: (g, accumulated(g, leaves)), at=list),
    "reverse over forward": lambda f, xs: ad.jacrev(ad.jacfwd(f))(xs),
    "hvp": along(ad.hvp),
    "Value over Dual": along(over_duals),
    "grad of jvp": along(lambda f, xs, v: ad.grad(lambda x: ad.jvp(f, (x,), (v,))[1])(xs)),
    "jvp of vjp": along(lambda f, xs, v: ad.jvp(pullback(f), (xs,), (v,))[1]),
    "compile": of_gradients(compiled),
    "batch": of_gradients(batched_over_inputs),
}
