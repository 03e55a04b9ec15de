"""Every way in which this package computes derivatives.

A mode takes a function f of a list of numbers, and a point at which it may record f; it returns a
function from any point to the value and the gradient there. HESSIANS take f and a point.
"""

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


@at_once
def walked(f, xs):
    y, leaves = recorded(f, xs)
    return y.data, accumulated(y, leaves)


@at_once
def walked_with_a_graph(f, xs):
    y, leaves = recorded(f, xs)
    return y.data, list(map(plain, accumulated(y, leaves, create_graph=True)))


@at_once
def by_duals(f, xs):
    each = [f([Dual(x, float(i == j)) for j, x in enumerate(xs)]) for i in range(len(xs))]
    first = each[0].primal if isinstance(each[0], Dual) else each[0]
    return first, [y.tangent if isinstance(y, Dual) else 0.0 for y in each]


@at_once
def pulled_back(f, xs):
    value, pullback = ad.vjp(f, xs)
    return value, pullback(1.0)[0]


def propagated(f, at):
    y, leaves = recorded(f, at)

    def again(xs):
        for x, number in zip(leaves, xs):
            x.data = number
        expression = Expression(y)
        value, adjoints = expression.propagate(), ad.adjoints(expression.sink)
        return value, [adjoints.get(x, 0.0) for x in leaves]

    return again


def compiled(f, at):
    y, leaves = recorded(f, at)
    program = Expression(y).compile(leaves, wrt=leaves)
    return lambda xs: program(*xs)


def compiled_to_numpy(f, at):
    y, leaves = recorded(f, at)
    program = Expression(y).compile(leaves, wrt=leaves, xp=np)
    return lambda xs: program(*map(np.array, xs))


def batched_over_inputs(f, at):
    y, leaves = recorded(f, at)
    program = Expression(y).compile(leaves, wrt=leaves, xp=np, batch=True)

    def second_of_two(xs):
        values, gradients = program(np.array([at, xs]))
        return values[1], gradients[1].tolist()

    return second_of_two


def batched_over_parameters(f, at):
    y, leaves = recorded(f, at)
    program = Expression(y).compile([Value(0.0)], wrt=leaves, xp=np, batch=True)

    def alone(xs):
        values, gradient = program(np.zeros((1, 1)), np.array(xs))
        return values[0], gradient.tolist()

    return alone


GRADIENTS = {
    "grad": at_once(lambda f, xs: ad.value_and_grad(f)(xs)),
    "jacrev": at_once(lambda f, xs: (f(xs), ad.jacrev(f)(xs))),
    "jacfwd": at_once(lambda f, xs: (ad.jvp(f, (xs,), ([0.0] * len(xs),))[0], ad.jacfwd(f)(xs))),
    "vjp": pulled_back,
    "backward": walked,
    "create_graph": walked_with_a_graph,
    "Dual": by_duals,
    "propagate": propagated,
    "compile": compiled,
    "numpy": compiled_to_numpy,
    "inputs of a batch": batched_over_inputs,
    "parameters of a batch": batched_over_parameters,
}
ARRAYS = {"numpy", "inputs of a batch", "parameters of a batch"}  # NumPy computes the functions


def forward(f):
    """The derivative of a function of one number in forward mode."""
    return lambda x: ad.jvp(f, (x,), (1.0,))[1]


def pullback(f):
    return lambda x: ad.vjp(f, x)[1](1.0)[0]


DERIVATIVES = {
    "grad": ad.grad,
    "jvp": forward,
    "jacrev": ad.jacrev,
    "jacfwd": ad.jacfwd,
    "vjp": pullback,
}
in_every_derivative = pytest.mark.parametrize("d", DERIVATIVES.values(), ids=DERIVATIVES)

# -- Second derivatives ---------------------------------------------------------------------------


def along(rows):
    """The Hessian row by row, from a product with each unit vector."""
    return lambda f, xs: [
        rows(f, xs, [float(i == j) for j in range(len(xs))]) for i in range(len(xs))
    ]


def over_duals(f, xs, v):
    """Values that hold dual numbers."""
    leaves = [Value(Dual(x, t)) for x, t in zip(xs, v)]
    gradients = accumulated(f(leaves), leaves)
    return [g.tangent if isinstance(g, Dual) else 0.0 for g in gradients]


def of_gradients(derive, at=lambda xs: [0.5 for _ in xs]):
    """The Hessian by gradients that are graphs, recorded at xs or at another point."""

    def hessian(f, xs):
        y, leaves = recorded(f, at(xs))
        return [
            derive(g, leaves, xs) if getattr(g, "requires_grad", False) else [0.0 for _ in leaves]
            for g in accumulated(y, leaves, create_graph=True)
        ]

    return hessian


def by_program(g, leaves, xs):
    return Expression(g).compile(leaves, wrt=leaves)(*xs)[1]


def by_batch(g, leaves, xs):
    program = Expression(g).compile(leaves, wrt=leaves, xp=np, batch=True)
    return program(np.array([xs]))[1][0].tolist()


HESSIANS = {
    "hessian": lambda f, xs: ad.hessian(f)(xs),
    "reverse over reverse": lambda f, xs: ad.jacrev(ad.grad(f))(xs),
    "forward over forward": lambda f, xs: ad.jacfwd(ad.jacfwd(f))(xs),
    "create_graph": of_gradients(lambda g, leaves, xs: accumulated(g, leaves), at=list),
    "reverse over forward": lambda f, xs: ad.jacrev(ad.jacfwd(f))(xs),
    "hvp": along(ad.hvp),
    "Value over Dual": along(over_duals),
    "grad of jvp": along(lambda f, xs, v: ad.grad(lambda x: ad.jvp(f, (x,), (v,))[1])(xs)),
    "jvp of vjp": along(lambda f, xs, v: ad.jvp(lambda x: ad.vjp(f, x)[1](1.0)[0], (xs,), (v,))[1]),
    "compile": of_gradients(by_program),
    "batch": of_gradients(by_batch),
}
