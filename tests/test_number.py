"""Operations that a user defines."""

import math
import operator as op

import numpy as np
import pytest

import autodiff
from autodiff import Dual, Value, check_gradients, grad, operation


@operation
def silu(x):
    """d x σ(x) = (σ(x) + x σ(x) σ(-x)) dx"""
    s = autodiff.sigmoid(x)
    return x * s, lambda grad: (grad * (s + x * s * autodiff.sigmoid(-x)),)


@operation
def plane(x, y, z):
    return 2 * x + 3 * y * z, lambda grad: (2 * grad, 3 * z * grad, 3 * y * grad)


def test_an_operation_of_ones_own_works_in_every_mode_at_once():
    exact = 1 / (1 + math.exp(-1.5)) + 1.5 * math.exp(-1.5) / (1 + math.exp(-1.5)) ** 2
    assert silu(1.5) == pytest.approx(1.5 / (1 + math.exp(-1.5)))
    x = Value(1.5)
    y = silu(x)
    y.backward()
    assert x.grad == pytest.approx(exact, rel=1e-14)
    assert (y.op, y.parents) == ("silu", (x,))
    assert silu(Dual(1.5, 1.0)).tangent == pytest.approx(exact, rel=1e-14)
    assert silu(np.array([1.5, 0.0])).tolist() == pytest.approx([silu(1.5), 0.0])
    check_gradients(silu, 1.5)
    check_gradients(grad(silu), 1.5)
    check_gradients(grad(grad(silu)), -0.3)
    check_gradients(plane, 1.0, 2.0, 3.0)


def test_create_graph_goes_through_it():
    x = Value(1.5)
    silu(x).backward(create_graph=True)
    first = x.grad
    x.grad = 0.0
    first.backward()
    assert x.grad == pytest.approx(grad(grad(silu))(1.5), rel=1e-14)


def test_its_errors_name_it():
    @operation
    def root(x):
        return math.sqrt(x), lambda grad: (grad / (2 * math.sqrt(x)),)

    with pytest.raises(ValueError, match=r"root: x = -1.0 \('v'\): "):
        root(Value(-1.0, label="v"))
    with pytest.raises(ZeroDivisionError, match="the derivative of root at x = 0.0"):
        root(Value(0.0)).backward()
    with pytest.raises(TypeError, match="^root: found 'a' of type str"):
        root("a")


def test_a_rule_that_forgets_its_closure_is_refused():
    @operation
    def cube(x):
        return x**3

    with pytest.raises(
        TypeError, match=r"cube: found a rule that returns a float, .*\(result, backward\)"
    ):
        cube(Value(2.0))


@pytest.mark.parametrize("wrong", [lambda g: g, lambda g: (g, g), lambda g: None])
def test_a_closure_that_returns_no_tuple_of_the_right_length_is_refused(wrong):
    @operation
    def cube(x):
        return x**3, wrong

    with pytest.raises(TypeError, match="cube: found a backward that returns .* a tuple of 1"):
        cube(Value(2.0)).backward()


def test_anything_but_a_function_is_refused():
    with pytest.raises(TypeError, match="operation: found 3 of type int, expected a function"):
        operation(3)


@pytest.mark.parametrize("apply", [op.add, op.sub, op.mul, op.truediv, op.pow])
def test_every_operator_on_both_sides(apply):
    x, y = 3.0, 2.0
    exact = apply(x, y)
    for found in (apply(Value(x), Value(y)), apply(Value(x), y), apply(x, Value(y))):
        assert found.data == exact
    for found in (apply(Dual(x), Dual(y)), apply(Dual(x), y), apply(x, Dual(y))):
        assert found.primal == exact


def test_signs():
    a = Value(3.0)
    assert ((-a).data, (+a).data, abs(-a).data) == (-3.0, 3.0, 3.0)
    assert +a is not a


NUMPYS = [
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "add", "subtract",
    "multiply", "divide", "true_divide", "power", "negative", "positive", "absolute",
    "arcsin", "arccos", "arctan", "exp", "expm1", "log1p", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh",
    "tanh",
]  # fmt: skip


@pytest.mark.parametrize("name", NUMPYS)
def test_numpys_function_of_values_is_that_of_their_numbers(name):
    function = getattr(np, name)
    numbers = np.array([0.25, 0.5, 1.0])
    values = np.array([Value(x) for x in numbers], dtype=object)
    x = Value(0.5)
    for given in [(x,)] if function.nin == 1 else [(x, numbers), (numbers, x), (x, values)]:
        found = function(*given)
        expected = function(*[np.vectorize(plain, otypes=[float])(each) for each in given])
        assert np.vectorize(plain)(found) == pytest.approx(expected, rel=1e-15)


def plain(x):
    return x.data if isinstance(x, Value) else x


def test_comparisons_with_numpys_numbers_and_bools():
    x = Value(1.0)
    assert x == np.True_
    assert x != np.False_
    assert x > np.False_
    assert x == np.float64(1.0)
    assert x <= np.int64(1)


@pytest.mark.parametrize("name", NUMPYS[:6])
def test_a_comparison_of_an_array_is_an_array_of_bools(name):
    numbers = np.array([0.25, 0.5, 1.0])
    found = getattr(np, name)(Value(0.5), numbers)
    assert found.dtype == bool
    assert found.tolist() == getattr(np, name)(0.5, numbers).tolist()


def test_a_method_is_its_function():
    for name in ("exp", "sqrt", "relu", "log1p"):
        assert getattr(Value, name) is getattr(autodiff, name)
        assert (
            getattr(autodiff, name).__name__,
            name in autodiff.functions.Methods.__annotations__,
        ) == (name, True)
