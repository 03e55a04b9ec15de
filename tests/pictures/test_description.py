"""Computations in words."""

import math

import pytest

from autodiff import Value, draw, less, operation, where

X, Y, Z = Value(0.5, label="x"), Value(2.0, label="y"), Value(3.0, label="z")


@operation
def wave(x):
    return math.sin(x), lambda grad: (grad * math.cos(x),)


def negated(count):
    y = X
    for _ in range(count):
        y = -y
    return y


LARGE = "30 operations on 1 input; the output is 0.5"


@pytest.mark.parametrize(
    ("y", "options", "words"),
    [(wave(X) + X, {}, "wave(x) + x = 0.9794"), (X**2.5, {}, "x**2.5 = 0.1768"),
     (where(less(0.0, X), X * 2, X), {}, "where(0 < x, x·2, x) = 1"), (X, {}, "x = 0.5"),
     (Y * 3, {"edges": "message"}, "y·3 = 6; ∂z/∂y = 3"),
     (Y * Z, {"edges": "message"}, "y·z = 6; ∂f/∂y = 3, ∂f/∂z = 2"),
     (negated(29), {}, "-(" * 28 + "-x" + ")" * 28 + " = −0.5"), (negated(30), {}, LARGE)],
)  # fmt: skip
def test_a_formula_or_a_summary(y, options, words):
    assert repr(draw(y, **options)) == f"<Drawing: {words}>"


@pytest.mark.parametrize(
    ("f", "changed"), [(Value.log, -1.0), (lambda x: 1 / x, 0.0), (Value.exp, 1e4), (abs, 3.0)]
)
def test_a_graph_whose_inputs_have_changed_has_no_formula(f, changed):
    x = Value(2.0, label="x")
    y = f(x)
    x.data = changed
    assert repr(draw(y)).startswith("<Drawing: 1 operation on 1 input")


def test_an_undefined_slope_is_no_change():
    assert repr(draw(Value(0.0, label="x").sqrt())) == "<Drawing: sqrt(x) = 0>"
