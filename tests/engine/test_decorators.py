"""What is true of an operation, and operations of one's own."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from modes import DERIVATIVES, GRADIENTS, HESSIANS
from tables import cases
from trainings import chooser

import autodiff as ad
from autodiff import Dual, Expression, Value, grad, operation, where
from autodiff.engine.operation import Operation


def test_an_operation_in_ops_is_a_name_to_import_and_says_its_domain():
    """All that an operation needs besides its lines: CONTRIBUTING, "Add an operation"."""
    for name in {*ad.ops.__all__, "abs", "sum"}:
        assert getattr(ad, name) is getattr(ad.ops, name)
    for each in ad.ops.LISTED:
        assert not each.domain or f"ValueError unless {each.domain}." in each.__doc__


def test_what_is_true_of_an_operation_is_listed_once():
    own = [ad.operation(ad.ops.mul.rule), ad.operation(math.lgamma, domain="")(ad.ops.sin.rule)]
    for each in [*ad.ops.LISTED, *own]:
        assert {*vars(each), "__name__"} - {"__wrapped__"} == {*Operation.__annotations__}


# -- Operations of one's own ----------------------------------------------------------------------


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


@operation
def held_still(x):
    """The identity, with derivative 0."""
    return 1.0 * x, lambda grad: (None,)


@operation
def rounded(x):
    """1 or 0, with the derivative of the identity: a straight-through estimator."""
    return where(x > 0, 1.0, 0.0), lambda grad: (grad,)


@operation
def leaky(x):
    """One that chooses for its result and again in its closure, with every comparison."""
    slope = where(x > 0, 1.0, 0.1)
    three = where(x >= 0, 1.0, 3.0)
    return x * x * slope, lambda grad: (
        grad * slope * where(x != 0, 2.0 * x, 0.0) * three * where(x == 2, 5.0, 1.0),
    )


by_first = operation(lambda x, y: (x + y, lambda grad: (grad, None)))
clipped = operation(lambda x: (x * x, lambda grad: (ad.minimum(grad * 2 * x, 1.0),)))
by_second = operation(lambda x, y: (x + y, lambda grad: (None, grad)))


def one_called(name):
    """An operation of one's own, x²y, with the name of one of ours."""

    def rule(x, y):
        return x * x * y, lambda grad: (grad * 2 * x * y, grad * x * x)

    rule.__name__ = name
    return operation(rule)


SLOPE = 1.5 - np.euler_gamma  # ψ(3) = 1 + 1/2 - γ
TAKEN = ["add", "mul", "power", "less", "hypot", "maximum", "dot"]
STATED = {  # a function, a point, and its value, gradient and second derivatives there
    "a value of floats": (lambda x, y: lgamma(x) * y, [3.0, 2.0], [2 * math.log(2), 2 * SLOPE, math.log(2)], [[0.0, SLOPE], [SLOPE, 0.0]]),
    "no derivative by y": (by_first, [2.0, 3.0], [5.0, 1.0, 0.0], [[0.0, 0.0]] * 2),
    "no derivative by x": (by_second, [2.0, 3.0], [5.0, 0.0, 1.0], [[0.0, 0.0]] * 2),
    "held still": (lambda x: held_still(x) * x, [2.0], [4.0, 2.0], [[0.0]]),
    "a part held still": (lambda x: held_still(x * x) * x * x, [2.0], [16.0, 16.0], [[8.0]]),
    "rounded": (lambda x: rounded(x) ** 2 * x, [2.0], [2.0, 5.0], [[8.0]]),
    **{f"clipped at {x}": (clipped, [x], [x * x, slope], [[second]]) for x, slope, second in [(-2.0, -4.0, 2.0), (3.0, 1.0, 0.0)]},
    **{f"the name of {name}": (one_called(name), [3.0, 5.0], [45.0, 30.0, 9.0], [[10.0, 6.0], [6.0, 0.0]]) for name in TAKEN},
    **{f"leaky at {x}": (leaky, [x], [value, slope], [[second]]) for x, value, slope, second in [
        (-3.0, 0.9, -1.8, 0.6), (-0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 2.0, 2.0), (2.0, 4.0, 20.0, 10.0)]},
}  # fmt: skip


@pytest.mark.parametrize(("f", "at", "expected", "second"), STATED.values(), ids=STATED)
def test_every_mode_has_the_value_and_the_derivatives_of_a_rule(f, at, expected, second):
    """On arrays of Values, too; its comparisons choose anew where it was recorded elsewhere."""
    for name, mode in GRADIENTS.items():
        value, gradient = mode(lambda v: f(*v), [1.0 for _ in at])(at)
        assert [value, *gradient] == pytest.approx(expected, rel=1e-14, abs=1e-300), name
    for name, mode in HESSIANS.items():
        rows = mode(lambda v: f(*v), at)
        assert [*map(list, rows)] == [pytest.approx(row, rel=1e-14) for row in second], name
    assert f(*[np.array([x]) for x in at]).tolist() == pytest.approx(expected[:1], rel=1e-14)
    of_arrays = grad(lambda v: f(*v.reshape(len(at), 1)).sum())
    assert of_arrays(np.array(at)).tolist() == pytest.approx(expected[1:], rel=1e-14, abs=1e-300)


@cases(("f", "third"), [
    (lambda x: x**4, 48.0), (lambda x: held_still(x) * x, 0.0),
    (lambda x: held_still(x * x) * x * x, 0.0), (lambda x: rounded(x) ** 2 * x, 6.0),
])  # fmt: skip
def test_all_mixtures_of_modes_nest_and_hold_to_what_a_rule_states(f, third):
    for a, b, c in itertools.product(DERIVATIVES.values(), repeat=3):
        assert a(b(c(f)))(2.0) == third


def test_a_rule_may_hold_a_number_of_an_outer_derivative():
    def times(w):
        return operation(lambda x: (w * x, lambda grad: (w * grad,)))

    inner = lambda w: grad(lambda x: times(w)(x) * x)(3.0)  # 6 w  # noqa: E731
    assert {d(inner)(2.0) for d in DERIVATIVES.values()} == {6.0}
    assert grad(times(Value(2.0)))(3.0).data == 2.0  # as grad(lambda x: w * x)


def test_an_if_in_a_rule_chooses_but_is_in_no_graph():
    assert [[d(chooser)(x) for x in (-3.0, 0.0, 2.0)] for d in DERIVATIVES.values()] == [
        [0.1, 0.1, 1.0]
    ] * 5
    assert grad(grad(lambda x: chooser(x) * x))(-2.0) == pytest.approx(0.2, rel=1e-15)
    x = Value(2.0)
    same = operation(lambda x: (x, lambda grad: (0.0 if x == 3 else grad,)))
    for y in (chooser(x), same(x)):
        with pytest.raises(TypeError, match=r"create_graph: found a bool .* write autodiff.where"):
            y.backward(create_graph=True)
        assert (x > 0.5) is True  # nothing is left behind: a bool is a bool again
        y.backward()


@pytest.mark.parametrize("x", [-1.0, Value(-1.0, label="rate"), Dual(-1.0, 1.0)])
def test_the_domain_and_the_name_of_ones_own_are_shown(x):
    with pytest.raises(ValueError, match=r"^lgamma: x = -1.0.* is outside the domain x > 0$"):
        lgamma(x)
    _, result, _ = ad.trace(lambda x: lgamma(x), 3.0).rows
    assert (result.formula, result.derivative_formula) == ("lgamma(v₀)", "v̇₀·digamma(v₀)")


@pytest.mark.parametrize("name", TAKEN)
def test_the_name_of_an_operation_of_ones_own_is_never_taken_for_ours(name):
    own = one_called(name)
    z = own(Value(3.0, label="x"), Value(5.0, label="y"))
    assert z.op == name
    assert ad.trace(own, 3.0, 5.0).rows[2].formula == f"{name}(v₋₁, v₀)"
    assert f">{name}<" in ad.draw(z).source
    assert f'op:"",name:"{name}",arity:2' in ad.show_steps(z)._page


def test_a_program_imports_the_function_or_says_why_it_cannot():
    x = Value(3.0)
    program = Expression(lgamma(x)).compile([x], wrt=[x])
    assert "from test_decorators import digamma_of_a_float as f2\n" in program.source
    assert "x1_bar = f2(x1)" in program.source
    nameless = operation(lambda x: 2.0 * x, domain="")(lambda x: (nameless(x), lambda g: (2 * g,)))
    with pytest.raises(TypeError, match="without a name in a module, .* at the top of a module"):
        Expression(nameless(x)).compile([x], wrt=[x])
    with pytest.raises(TypeError, match="JavaScript: found .*computed by a function of Python"):
        ad.show_steps(lgamma(x))
