"""Kinds of number: operators, comparisons and levels of all, tangents of dual numbers."""

import itertools
import math
import operator as op
import pkgutil
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from modes import forward, in_every_derivative

import autodiff as ad
from autodiff import Dual, Value, grad, jvp

OPERATORS = [op.add, op.sub, op.mul, op.truediv, op.pow]
COMPARISONS = [op.eq, op.ne, op.lt, op.le, op.gt, op.ge]

# -- Operators and comparisons --------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Value, Dual])
def test_every_operator_on_both_sides(kind):
    numbers = [kind, int, float, np.float64, np.int64, np.longdouble, np.array, Fraction]
    for apply, number in itertools.product(OPERATORS, numbers):
        for found in (apply(kind(3.0), number(2)), apply(number(3), kind(2.0))):
            assert (type(found), type(found._number())) == (kind, float)
            assert found._number() == apply(3.0, 2.0)
    x = kind(3.0)
    assert [y._number() for y in (-x, +x, abs(-x), sum([x, x]))] == [-3.0, 3.0, 3.0, 6.0]
    assert +x is not x
    if kind is Value:
        assert [[y.requires_grad for y in z.parents] for z in (2.0 * x, x * 2.0)] == [
            [False, True], [True, False],
        ]  # fmt: skip


@pytest.mark.parametrize(
    "kind", [np.float64, np.float16, np.longdouble, np.int8, np.uint64, np.bool_, Fraction, Decimal,
             pytest.param("torch.tensor", marks=pytest.mark.torch),
             pytest.param("jax.numpy.float32", marks=pytest.mark.jax)],
)  # fmt: skip
def test_every_kind_of_number_is_compared_on_both_sides(kind):
    if isinstance(kind, str):
        kind = pkgutil.resolve_name(kind)
    ones = [kind(1), np.array(kind(1))] if hasattr(kind, "dtype") else [kind(1)]
    for one, x, compare in itertools.product(ones, (Value(1.0), Dual(1.0, 7.0)), COMPARISONS):
        assert compare(x, one) == compare(one, x) == compare(1.0, 1.0)
        assert compare(x, 2 * one) == compare(1.0, 2.0)
        assert type(compare(x, kind(1))) is bool
    if isinstance(kind(1), np.generic):
        assert [(one * Value(3.0)).data for one in ones] == [3.0] * 2


@pytest.mark.parametrize("kind", [Value, Dual])
def test_comparisons_are_of_numbers_and_the_hash_is_identity(kind):
    a, b = kind(2.0), kind(2.0)
    assert a == b
    assert a != "2.0"
    assert a is not None
    assert len({a, b}) == 2
    assert max(kind(1), kind(5), kind(3)) == 5.0
    assert [bool(kind(x)) for x in (0.0, -0.5)] == [False, True]
    assert f"{kind(2.5):.3f}" == "2.500"


# -- Levels: derivatives in derivatives -----------------------------------------------------------


@pytest.mark.parametrize("inner", [grad, forward], ids=["reverse", "forward"])
@in_every_derivative
def test_no_confusion_of_perturbations(d, inner):
    # without levels of nesting this is 2
    assert d(lambda x: x * inner(lambda y: x + y)(1.0))(1.0) == 1.0
    assert d(lambda x: x * inner(lambda y: x + y)(x))(1.0) == 1.0
    # d/dx[x d/dy(x y)] = d/dx[x²]
    assert d(lambda x: x * inner(lambda y: x * y)(2.0))(3.0) == 6.0


def test_threads_do_not_confuse_their_levels():
    def work(_):
        return [grad(lambda x: x * grad(lambda y: x + y)(1.0))(1.0) for _ in range(200)]

    with ThreadPoolExecutor() as pool:
        assert [*pool.map(work, range(4))] == [[1.0] * 200] * 4


# -- Dual numbers: forward mode -------------------------------------------------------------------


def test_dual_over_value_differentiates_a_tangent_and_value_over_dual_an_adjoint():
    x = Value(3.0)
    y = Dual(x, 1.0) ** 3
    y.tangent.backward()  # 3x²
    assert (y.tangent.data, x.grad) == (27.0, 18.0)
    x.requires_grad = False
    assert (Dual(x, 1.0) ** 3).tangent.data == 27.0
    x = Value(Dual(2.0, 1.0))
    (x**3 + 1).backward(create_graph=True)
    assert (x.grad.data.primal, x.grad.data.tangent) == (12.0, 12.0)  # 3x², 6x


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

    assert jvp(f, (0.0, 3.0), (still, 1.0)) == (9.0, 6.0) == (9.0, grad(f, 1)(0.0, 3.0))
    assert jvp(lambda v: f(*v), ([0.0, 3.0],), ([still, 1.0],)) == (9.0, 6.0)
    assert jvp(lambda x: x**2, (math.inf,), (still,)) == (math.inf, 0.0)
    assert jvp(lambda x, p: x**p, (0.0, 0.5), (still, 1.0)) == (0.0, 0.0)
