"""Computations in words."""

import math
from operator import neg

import pytest
from pictures import chain, example, output

from autodiff import Value, draw, less, operation, where

X, Y, Z = Value(0.5, label="x"), Value(2.0, label="y"), Value(3.0, label="z")


@operation
def wave(x):
    return math.sin(x), lambda grad: (grad * math.cos(x),)


NETWORK = output(2, 3, 1)


@pytest.mark.parametrize(
    ("y", "options", "words"),
    [(wave(X) + X, {}, "wave(x) + x = 0.9794"), (X**2.5, {}, "x**2.5 = 0.1768"), (X, {}, "x = 0.5"),
     (where(less(0.0, X), X * 2, X), {}, "where(0 < x, x·2, x) = 1"),
     (Value(0.0, label="x").sqrt(), {}, "sqrt(x) = 0"),  # where its slope is undefined
     (Y * 3, {"edges": "message"}, "y·3 = 6; ∂z/∂y = 3"),
     (Y * Z, {"edges": "message"}, "y·z = 6; ∂f/∂y = 3, ∂f/∂z = 2"),
     (example(), {"edges": "message"}, "c = a·b + b³ = 0; ∂c/∂a = 2, ∂c/∂b = 8"),
     (chain(29, neg), {}, "-(" * 28 + "-x" + ")" * 28 + " = −0.5"),
     (chain(30, neg), {}, "30 operations on 1 input; the output is 0.5"),
     (NETWORK, {"names": {"y": NETWORK}}, "11 operations on 2 inputs, 13 parameters; y = 0.2575")],
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
