"""Dual numbers: forward mode."""

import math

import pytest

import autodiff as ad
from autodiff import Dual, Value, jvp


def test_a_value_that_is_a_constant_is_a_number():
    k = Value(3.0)
    k.requires_grad = False
    assert (Dual(3.0, 1.0) * k).tangent == 3.0


def test_dual_over_value_differentiates_a_tangent_and_value_over_dual_an_adjoint():
    x = Value(3.0)
    y = Dual(x, 1.0) ** 3
    y.tangent.backward()  # 3x²
    assert (y.tangent.data, x.grad) == (27.0, 18.0)
    x.requires_grad = False
    assert (Dual(x, 1.0) ** 3).tangent.data == 27.0
    for create_graph in (False, True):
        x = Value(Dual(2.0, 1.0))
        (x**3 + 1).backward(create_graph=create_graph)
        grad = x.grad.data if create_graph else x.grad
        assert (grad.primal, grad.tangent) == (12.0, 12.0)  # 3x², 6x


def test_a_dual_moves_if_its_tangent_is_not_0_or_became_0():
    assert ad.sqrt(Dual(0.0)).tangent == ad.sqrt(Dual(0.0, 0)).tangent == 0.0
    still = Dual(0.0) * Dual(3.0) + 1.0 - 1.0
    assert repr(still.sqrt()) == "Dual(primal=0.0, tangent=0.0)"
    became = Dual(0.0, 1.0) * Dual(0.0, 1.0)
    assert became.tangent == 0.0
    for moving in (became, became * Dual(2.0), Dual(0.0) + became):
        with pytest.raises(ZeroDivisionError, match="derivative of sqrt at x = 0.0: it is infin"):
            moving.sqrt()


@pytest.mark.parametrize("still", [0, 0.0, -0.0, False])
def test_an_input_with_tangent_0_does_not_move(still):
    def f(x, y):
        return ad.sqrt(x) + y * y

    assert jvp(f, (0.0, 3.0), (still, 1.0)) == (9.0, 6.0) == (9.0, ad.grad(f, 1)(0.0, 3.0))
    assert jvp(lambda v: f(*v), ([0.0, 3.0],), ([still, 1.0],)) == (9.0, 6.0)
    assert jvp(lambda x: x**2, (math.inf,), (still,)) == (math.inf, 0.0)
    assert jvp(lambda x, p: x**p, (0.0, 0.5), (still, 1.0)) == (0.0, 0.0)
