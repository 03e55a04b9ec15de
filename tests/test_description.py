"""Computations in words."""

import math

import pytest

from autodiff import Value, draw, less, operation, where

X, Y, Z = Value(0.5, label="x"), Value(2.0, label="y"), Value(3.0, label="z")


def bent(x):
    return (x if x > 0 else -x), lambda grad: (grad if x > 0 else -grad,)


def wave(x):
    return math.sin(x), lambda grad: (grad * math.cos(x),)


def cube(x):
    return x * x * x, lambda grad: (grad * 3 * x * x,)


@pytest.mark.parametrize(
    ("y", "options", "words"),
    [(operation(bent)(X) + X, {}, "bent(x) + x = 1"), (operation(wave)(X) + X, {}, "wave(x) + x = 0.9794"),
     (operation(cube)(X) + X, {}, "cube(x) + x = 0.625"), (X**2.5, {}, "x**2.5 = 0.1768"),
     (where(less(0.0, X), X * 2, X), {}, "where(0 < x, x·2, x) = 1"), (X, {}, "x = 0.5"),
     (Y * 3, {"edges": "message"}, "y·3 = 6; ∂z/∂y = 3"),
     (Y * Z, {"edges": "message"}, "y·z = 6; ∂f/∂y = 3, ∂f/∂z = 2")],
)  # fmt: skip
def test_formulas(y, options, words):
    assert repr(draw(y, **options)) == f"<Drawing: {words}>"


def test_a_large_graph_is_summed_up():
    def negated(count):
        y = X
        for _ in range(count):
            y = -y
        return repr(draw(y))

    assert negated(29).startswith("<Drawing: -(-(-(")
    assert negated(30) == "<Drawing: 30 operations on 1 input; the output is 0.5>"


def test_a_graph_whose_inputs_have_changed_has_no_formula():
    x = Value(2.0, label="x")
    for f, changed in [(Value.log, -1.0), (lambda x: 1 / x, 0.0), (Value.exp, 1e4), (abs, 3.0)]:
        x.data = 2.0
        y = f(x)
        x.data = changed
        assert repr(draw(y)).startswith("<Drawing: 1 operation on 1 input")
    x.data = 0.0
    assert repr(draw(x.sqrt())) == "<Drawing: sqrt(x) = 0>"  # its slope is undefined, then as now
