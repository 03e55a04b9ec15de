"""The page of operations: each against arithmetic of many digits, in modes of every kind."""

import math

import mpmath
import numpy as np
import pytest
from accuracy import PAGE, attempt, measured, points
from modes import ARRAYS, GRADIENTS, HESSIANS
from operations import OPERATIONS, REFERENCES, UNARY
from oracles import exact
from tables import cases

import autodiff as ad
from autodiff import Dual, Value, grad, topological_order

INF, NAN = math.inf, math.nan
each = pytest.mark.parametrize("name", PAGE)


@each
@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_are_accurate_over_all_sizes_of_numbers(name, order):
    """As the README claims, from a smaller table than that of `python tests/support/accuracy.py`."""
    row = OPERATIONS[name]
    for mode, errors in measured(name, order, count=5).items():
        assert errors.absolute[0] <= 1e-13, (mode, errors)
        if order not in row.loses:
            assert errors.relative[0] <= 1e-13, (mode, errors)


@each
def test_a_rule_computes_with_arrays_as_with_numbers(name):
    def slopes(point):
        return PAGE[name].rule(*point)[1](1.0)

    chosen = [point for point in points(name, 30)[:30] if attempt(slopes, point)]  # no overflow
    result, backward = PAGE[name].rule(*map(np.array, zip(*chosen, strict=True)))
    gradients = backward(np.ones(len(chosen)))
    for k, point in enumerate(chosen):
        value, one = PAGE[name].rule(*point)
        assert result[k] == pytest.approx(value, rel=1e-14, abs=1e-300)
        for array, number in zip(gradients, one(1.0), strict=True):
            if number is not None:
                entry = np.broadcast_to(array, len(chosen))[k]
                assert entry == pytest.approx(number, rel=1e-13, abs=1e-15)  # 1 - tanh² near 0


@each
def test_a_rule_states_its_derivative_and_makes_one_node_of_its_inputs(name):
    assert "d" in PAGE[name].__doc__
    inputs = [Value(x) for x in points(name, 1)[0]]
    node = inputs[0]._apply(PAGE[name], *inputs)
    assert [*map(id, node.parents)] == [*map(id, inputs)]
    assert [*map(id, topological_order(node))] == [*map(id, [*inputs, node])]


def call(name, *inputs):
    """The function of that name, of one or two rows if it takes rows."""
    half = len(inputs) // 2
    given = [inputs, [inputs], [inputs[:half], inputs[half:]]][PAGE[name].rows]
    return getattr(ad.ops, name)(*given)


@each
def test_the_function_of_the_same_name_takes_every_kind_of_number_and_arrays(name):
    drawn = points(name, 9)
    alike = [point for point in drawn if len(point) == len(drawn[0])]
    some = [point for point in alike if attempt(call, name, *point) is not None]  # no overflow
    values = [call(name, *point) for point in some]
    assert {type(value) for value in values} == {float}
    with mpmath.workdps(700):
        expected = [float(REFERENCES[name](*map(mpmath.mpf, point))) for point in some]
    assert values == pytest.approx(expected, rel=1e-15, abs=0)  # an ulp or two
    for kind in (Value, Dual):
        assert [call(name, *map(kind, point))._number() for point in some] == values
    assert call(name, *map(np.array, zip(*some))).tolist() == pytest.approx(
        values, rel=1e-14, abs=1e-300
    )
    if name in UNARY:  # and so is the method
        assert getattr(Value, name if name != "abs" else "__abs__") is PAGE[name]


# -- Conventions at kinks, each said in the docstring of the operation -----------------------------

SLOPES = [
    (ad.relu, 0.0, 0.0),
    (ad.relu, 1e-300, 1.0),
    (ad.abs, 0.0, 0.0),
    (ad.abs, -0.0, 0.0),
    (ad.abs, -1e-300, -1.0),
    *[(lambda v, f=f: f(*v), at, [0.5, 0.5]) for f in (ad.maximum, ad.minimum) for at in ([2.0, 2.0], [NAN, 1.0], [1.0, NAN])],
    (lambda v: ad.hypot(*v), [0.0, 0.0], [0.0, 0.0]),
    (lambda v: v[0] ** v[1], [0.0, 2.0], [0.0, 0.0]),
    *[(lambda x: x**0, at, 0.0) for at in (0.0, INF, NAN)],
    # textbook formulas overflow here
    *[(ad.sigmoid, at, 0.0) for at in (-1000.0, 1000.0)],
    (ad.softplus, -1000.0, 0.0),
    *[(ad.logsumexp, [at, at], [0.5, 0.5]) for at in (1000.0, -1e15)],
    # a formula of |x| over an array of Values has slope 0 at 0
    *[(lambda v, f=f: f(v).sum(), np.zeros(2), [slope] * 2)
      for f, slope in ((ad.sigmoid, 0.25), (ad.softplus, 0.5), (ad.relu, 0.0))],
    # and there is no slope, or the other input's alone
    *[(ad.logsumexp, at, [NAN, NAN]) for at in ([-INF, -INF], [INF, 9.0], [INF, INF], [NAN, 9.0])],
    (ad.logsumexp, [-INF, 1e300], [0.0, 1.0]),
    *[(lambda v: ad.hypot(*v), at, [NAN, NAN]) for at in ([NAN, -INF], [NAN, 1.0])],
    (lambda v: v[0] ** v[1], [1e-310, 0.0], [0.0, math.log(1e-310)]),
    # a negative base has no derivative in the exponent, as in PyTorch and JAX
    (lambda v: v[0] ** v[1], [-2.0, 3.0], [12.0, NAN]),
    (lambda x: (-2.0) ** x, 3.0, NAN),
    # curvatures at the origin of a norm and at exponent 0
    (lambda v: grad(lambda v: ad.hypot(*v))(v), [0.0, 0.0], np.zeros((2, 2))),
    (lambda v: grad(lambda v: v[0] ** v[1])(v), [1e-300, 0.0], [[0.0, 1e300], [1e300, math.log(1e-300) ** 2]]),
    *[(lambda x: grad(lambda x: x**0)(x), at, 0.0) for at in (0.0, -INF, NAN)],
]  # fmt: skip


@cases(("f", "at", "slopes"), SLOPES)
def test_a_slope_or_a_curvature_at_a_kink_or_far_out(f, at, slopes):
    for derivative in (ad.jacfwd, ad.jacrev):
        np.testing.assert_allclose(derivative(f)(at), slopes, rtol=1e-15)


def along(f, i):
    """The derivative of f(x, y) by the argument at that place, in forward mode."""
    return lambda *at: ad.jvp(f, at, (1.0 - i, 0.0 + i))[1]


@pytest.mark.parametrize("places", [(0, 1), (1, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)])
@pytest.mark.parametrize("by_x", [grad, along])
@pytest.mark.parametrize("by_y", [grad, along])
def test_mixed_derivatives_of_a_power_do_not_depend_on_their_order(by_x, by_y, places):
    """At 0 they are 0 up to order y in x, not including y; from there on they are infinite."""
    order, mixed = places.count(0), lambda x, y: x**y
    for i in places:
        mixed = (by_x, by_y)[i](mixed, i)
    for at in ((2.0, 0.0), (2.0, 3.0), (1e-5, 0.0), (1e-5, 1.0), (0.3, -1.5)):
        with mpmath.workdps(900):
            expected = float(exact(REFERENCES["pow"], tuple(map(mpmath.mpf, at)), *places))
        assert mixed(*at) == pytest.approx(expected, rel=1e-13)
    for y in (order + 0.5, order + 1.0, 4.0):
        assert mixed(0.0, y) == 0.0
    for y in (0.0, 0.5, 1.0, float(order)):
        with pytest.raises((ZeroDivisionError, ValueError), match="infinite|outside the domain"):
            mixed(0.0, y)
    assert math.isnan(mixed(-2.0, 3.0))


@pytest.mark.parametrize("mode", HESSIANS)
def test_the_hessian_of_a_power_at_0_is_right_or_an_error(mode):
    f, hessian = lambda v: v[0] ** v[1], HESSIANS[mode]
    assert np.array_equal(attempt(hessian, f, [0.0, 2.0]), [[2.0, 0.0], [0.0, 0.0]])
    for y in (0.0, 0.5, 1.0, 1.5):
        if mode == "batch":  # NumPy goes on
            assert not np.isfinite(attempt(hessian, f, [0.0, y])).all()
        else:
            with pytest.raises((ZeroDivisionError, ValueError)):
                hessian(f, [0.0, y])


@pytest.mark.parametrize("mode", GRADIENTS)
def test_the_slope_of_a_power_by_its_exponent_is_infinite_at_the_origin(mode):
    """0ʸ is 1 at y = 0, and 0 from there on."""
    f = GRADIENTS[mode](lambda v: 0.0 ** v[0], [0.5])
    assert f([0.5])[1][0] == 0.0
    if mode in ARRAYS:
        assert attempt(f, [0.0])[1][0] == -INF
    else:
        with pytest.raises(ValueError, match="x = 0.0|math domain|expected a positive"):
            f([0.0])
