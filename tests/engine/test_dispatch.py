"""Operations on plain numbers and arrays, and those of one's own."""

import math

import mpmath
import numpy as np
import pytest
from modes import DERIVATIVES, GRADIENTS
from operations import UNARY

import autodiff as ad
from autodiff import Dual, Expression, Value, less, operation
from autodiff.admission import as_float
from autodiff.dispatch import Operation


def test_functions_of_nothing_of_iterators_and_of_infinities():
    assert (ad.sum([]), ad.prod([]), ad.dot([], []), ad.hypot()) == (0, 1, 0, 0)
    assert ad.sum(x for x in (1, 2, 3)) == 6.0
    assert ad.dot(map(float, "12"), iter([3, 4])) == 11.0
    assert ad.logsumexp([-math.inf, -math.inf]) == -math.inf
    assert ad.logsumexp([math.inf, 0]) == math.inf
    assert all(math.isnan(f(math.nan)) for f in (ad.relu, ad.sigmoid, ad.softplus))
    for f in (ad.maximum, ad.minimum):
        assert math.isnan(f(math.nan, 1.0))
        assert math.isnan(f(1.0, math.nan))


@pytest.mark.parametrize("x", [4, np.float64(4), np.float32(4), np.int32(4)])
def test_numbers_of_any_kind_give_floats(x):
    for found in (ad.sqrt(x), ad.maximum(x, 2) / 2, ad.sum([x]) / 2, as_float(x, "here") / 2):
        assert (type(found), found) == (float, 2.0)


def test_infinities_of_other_kinds_are_infinite():
    assert as_float(np.longdouble("inf"), "") == as_float(np.float32("inf"), "") == math.inf


def test_a_condition_is_true_unless_it_is_0():
    x = Value(3.0)
    for true in (True, np.True_, np.array(1.0), 2, math.nan, Value(-1.0)):
        assert ad.where(true, 1.0, x) == 1.0
    assert ad.where(0, 1.0, x) == x


def cube(x):
    return ad.operation(lambda x: (x * x * x, lambda grad: (3 * x * x * grad,)))(x)


OF_INTEGERS = {
    **{f.__name__: f for f in (ad.sigmoid, ad.softplus, ad.relu, ad.abs, ad.sin, ad.tanh, ad.erf)},
    "an operation of one's own": cube,
    **{f.__name__: lambda x, f=f: f([x, x, x]) for f in (ad.sum, ad.prod, ad.logsumexp)},
    "dot": lambda x: ad.dot([x, x], [x, x]),
    "hypot of two": lambda x: ad.hypot(x, x),
    "hypot of three": lambda x: ad.hypot(3, 4, x * 0),
    "of a 0-d array": lambda x: ad.sqrt(np.array(x[1])),
    "a power": lambda x: ad.ops.power(x, 3),
}


@pytest.mark.parametrize("kind", [np.uint8, np.int8, bool, np.int64])
@pytest.mark.parametrize("f", OF_INTEGERS.values(), ids=OF_INTEGERS)
def test_arrays_of_integers_are_arrays_of_floats(f, kind):
    """-x of a uint8 is 256 - x, -abs(x) of an int8 can be positive, and products wrap around."""
    x = np.array([0, 100, 127], dtype=kind)
    assert f(x).tolist() == f(x.astype(float)).tolist()
    assert ad.abs(np.array([-128], np.int8)).tolist() == [128.0]


def test_an_operation_on_the_page_is_a_method_and_a_name_to_import():
    """All that an operation needs besides its lines: CONTRIBUTING, "Add an operation"."""
    for name in {*ad.ops.__all__, "abs", "sum"}:
        assert getattr(ad, name) is getattr(ad.ops, name)
    for each in ad.ops.PAGE:
        name = each.__name__
        if name in UNARY:
            assert getattr(Value, name if name != "abs" else "__abs__") is each
        if each.domain:
            assert f"ValueError unless {each.domain}." in each.__doc__


def test_what_is_true_of_an_operation_is_listed_once():
    own = [ad.operation(ad.ops.mul.rule), ad.operation(math.lgamma, domain="")(ad.ops.sin.rule)]
    for each in [*ad.ops.PAGE, *own]:
        assert {*vars(each), "__name__"} - {"__wrapped__"} == {*Operation.__annotations__}


# -- Operations of one's own: with a value of floats, and with a name of ours ---------------------


def digamma_of_a_float(x):
    return float(mpmath.digamma(x))


@operation(digamma_of_a_float, domain="x > 0")
def digamma(x):
    """The logarithmic derivative of the gamma function. Its own derivative is not stated."""
    return digamma(x), lambda grad: (None,)


@operation(math.lgamma, domain="x > 0")
def lgamma(x):
    """The logarithm of the gamma function.  d ln Γ(x) = ψ(x) dx"""
    return lgamma(x), lambda grad: (grad * digamma(x),)


def test_an_operation_with_a_value_of_floats_takes_every_kind_of_number():
    assert (lgamma(1), lgamma(3.0)) == (0.0, pytest.approx(math.log(2)))
    points = np.array([[0.5, 3.0], [1.0, 7.5]])
    assert lgamma(points).tolist() == [list(map(math.lgamma, row)) for row in points]
    slope = 1.5 - np.euler_gamma  # ψ(3) = 1 + 1/2 - γ
    for derivative in DERIVATIVES.values():
        assert derivative(lgamma)(3.0) == pytest.approx(slope, rel=1e-15)
    for mode in GRADIENTS.values():
        value, gradient = mode(lambda xs: lgamma(xs[0]) * xs[1], [1.0, 1.0])([3.0, 2.0])
        assert [value, *gradient] == pytest.approx([2 * math.log(2), 2 * slope, math.log(2)])
    assert "ValueError unless x > 0." in lgamma.__doc__
    ad.check_gradients(lgamma, 3.0)


@pytest.mark.parametrize("x", [-1.0, Value(-1.0, label="rate"), Dual(-1.0, 1.0)])
def test_its_domain_is_in_the_message(x):
    with pytest.raises(ValueError, match=r"^lgamma: x = -1.0.* is outside the domain x > 0$"):
        lgamma(x)


def test_its_name_and_its_derivative_are_in_tables():
    _, result, _ = ad.trace(lambda x: lgamma(x), 3.0).rows
    assert (result.formula, result.derivative_formula) == ("lgamma(v₀)", "v̇₀·digamma(v₀)")


def test_a_program_imports_the_function_or_says_why_it_cannot():
    x = Value(3.0)
    program = Expression(lgamma(x)).compile([x], wrt=[x])
    assert "import test_dispatch\n" in program.source
    assert "test_dispatch.digamma_of_a_float(x1)" in program.source
    nameless = operation(lambda x: 2.0 * x, domain="")(lambda x: (nameless(x), lambda g: (2 * g,)))
    with pytest.raises(TypeError, match="without a name in a module, .* at the top of a module"):
        Expression(nameless(x)).compile([x], wrt=[x])
    with pytest.raises(TypeError, match="JavaScript: found .*computed by a function of Python"):
        ad.show_steps(lgamma(x))


def one_called(name):
    """An operation of one's own, x²y, with the name of one of ours."""

    def rule(x, y):
        return x * x * y, lambda grad: (grad * 2 * x * y, grad * x * x)

    rule.__name__ = name
    return operation(rule)


@pytest.mark.parametrize("name", ["add", "mul", "power", "less", "hypot", "maximum", "dot"])
def test_the_name_of_an_operation_of_ones_own_is_never_taken_for_ours(name):
    x, y = Value(3.0, label="x"), Value(5.0, label="y")
    own = one_called(name)
    z = own(x, y)
    assert (z.data, z.op) == (45.0, name)
    assert ad.trace(own, 3.0, 5.0).rows[2].formula == f"{name}(v₋₁, v₀)"
    assert f">{name}<" in ad.draw(z).source
    page = ad.show_steps(z)
    assert f'op:"",name:"{name}",arity:2' in page._page
    assert own(np.array([3.0]), np.array([5.0])).tolist() == [45.0]
    for mode in GRADIENTS.values():
        value, gradient = mode(lambda v: own(*v), [1.0, 1.0])([3.0, 5.0])
        assert [value, *gradient] == [45.0, 30.0, 9.0]


def test_a_closure_counts_on_arrays_of_values_too():
    """A straight-through estimator and a clipped gradient, whose rules are not derivatives."""
    passed_on = operation(lambda x: (ad.where(less(0.0, x), 1.0, 0.0), lambda grad: (grad,)))
    clipped = operation(lambda x: (x * x, lambda grad: (ad.minimum(grad * 2 * x, 1.0),)))
    at = np.array([-2.0, 0.25, 3.0])
    assert ad.grad(lambda x: passed_on(x).sum())(at).tolist() == [1.0, 1.0, 1.0]
    assert ad.grad(lambda x: clipped(x).sum())(at).tolist() == [-4.0, 0.5, 1.0]
    with pytest.raises(AssertionError, match="disagree"):
        ad.check_gradients(lambda x: clipped(x).sum(), at)
