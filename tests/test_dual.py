"""Dual numbers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import autodiff
from autodiff import Dual, Value

numbers = st.floats(-100, 100)


@given(numbers, numbers, numbers, numbers)
def test_the_product_rule(x, dx, y, dy):
    z = Dual(x, dx) * Dual(y, dy)
    assert (z.primal, z.tangent) == (x * y, y * dx + x * dy)


@given(numbers, numbers, numbers, numbers)
def test_a_tangent_is_linear_in_the_directions(x, dx, y, dy):
    def f(p, q):
        return (p * q + autodiff.sin(p) * q).tangent

    along_x, along_y = f(Dual(x, dx), Dual(y)), f(Dual(x), Dual(y, dy))
    both = f(Dual(x, dx), Dual(y, dy))
    assert both == pytest.approx(along_x + along_y, rel=1e-12, abs=1e-10)


def test_numbers_on_either_side_have_no_tangent():
    x = Dual(4.0, 1.0)
    assert [(y.primal, y.tangent) for y in (x + 1, 1 - x, 2 * x, 2 / x, x**0.5)] == [
        (5.0, 1.0), (-3.0, -1.0), (8.0, 2.0), (0.5, -0.125), (2.0, 0.25),
    ]  # fmt: skip
    assert (2**x).tangent == pytest.approx(16 * math.log(2))
    assert (Dual(-2.0, 1.0) ** 3).tangent == 12.0


def test_methods_and_functions_agree():
    x = Dual(0.5, 1.0)
    assert repr(x.tanh()) == repr(autodiff.tanh(x))
    assert repr(x) == "Dual(primal=0.5, tangent=1.0)"


def test_comparisons_are_of_primals():
    x, y = Dual(1.0, 5.0), Dual(2.0)
    assert x < y
    assert x <= 1.0
    assert y > 1
    assert y >= x
    assert x == Dual(1.0, 7.0) == 1.0
    assert x != y
    assert not Dual(0.0, 1.0)


def test_n_ary_operations():
    x, y = Dual(3.0, 1.0), Dual(4.0, 2.0)
    assert autodiff.dot([x, 1.0], [y, 5.0]).tangent == 4 * 1 + 3 * 2
    assert autodiff.hypot(x, y).tangent == pytest.approx((3 * 1 + 4 * 2) / 5)
    assert sum([x, y]).tangent == 3.0


def test_what_it_refuses():
    with pytest.raises(TypeError, match="Dual, primal: found 'a' of type str"):
        Dual("a")
    with pytest.raises(TypeError, match="Dual, tangent: found None"):
        Dual(1.0, None)
    with pytest.raises(TypeError, match=r"Dual mul: found \[1\] of type list"):
        Dual(1.0) * [1]
    with pytest.raises(
        TypeError, match="a float has no derivative; take the function from autodiff, not from math"
    ):
        math.sin(Dual(1.0, 1.0))
    with pytest.raises(ValueError, match="log: x = -1.0 is outside the domain x > 0"):
        Dual(-1.0, 1.0).log()
    with pytest.raises(ZeroDivisionError, match="derivative of sqrt at x = 0.0: it is infinite"):
        Dual(0.0, 1.0).sqrt()
    with pytest.raises(TypeError, match="found a Dual and a Value, expected numbers of one kind"):
        Dual(1.0) + Value(1.0)


def test_dual_over_value_differentiates_a_tangent():
    x = Value(3.0)
    y = Dual(x, 1.0) ** 3
    y.tangent.backward()  # 3x²
    assert (y.tangent.data, x.grad) == (27.0, 18.0)
    x.requires_grad = False
    assert (Dual(x, 1.0) ** 3).tangent.data == 27.0


def test_a_dual_moves_if_its_tangent_is_not_0_or_became_0():
    assert autodiff.sqrt(Dual(0.0)).tangent == autodiff.sqrt(Dual(0.0, 0)).tangent == 0.0
    still = Dual(0.0) * Dual(3.0) + 1.0 - 1.0
    assert repr(still.sqrt()) == "Dual(primal=0.0, tangent=0.0)"
    became = Dual(0.0, 1.0) * Dual(0.0, 1.0)
    assert became.tangent == 0.0
    for moving in (became, became * Dual(2.0), Dual(0.0) + became):
        with pytest.raises(ZeroDivisionError, match="derivative of sqrt at x = 0.0: it is infin"):
            moving.sqrt()


def test_a_tangent_can_be_assigned():
    x = Dual(0.25)
    x.tangent = 1
    assert repr(x.sqrt()) == "Dual(primal=0.5, tangent=1.0)"
    x.tangent = 0
    assert repr(x) == "Dual(primal=0.25, tangent=0.0)"
    with pytest.raises(TypeError, match="Dual, tangent: found None"):
        x.tangent = None
