"""What all kinds of number have in common: operators, comparisons, levels, operations of one's own."""

import itertools
import math
import operator as op
import pkgutil
import re
import threading
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from modes import DERIVATIVES, GRADIENTS, HESSIANS, forward, in_every_derivative
from trainings import chooser

import autodiff as ad
from autodiff import Dual, Expression, Value, grad, operation, where

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


@pytest.mark.parametrize("x", [Value(5.5), Dual(5.5, 1.0), ad.Vector([5.5])], ids=type)
def test_a_power_is_written_with_two_stars(x):
    words = f": found a {type(x).__name__}, expected a plain number; write x**2 for a power"
    for apply in (lambda: x ^ 2, lambda: 2.0 ^ x):
        with pytest.raises(TypeError, match=f"^{re.escape('^' + words)}$"):
            apply()


@pytest.mark.parametrize("apply", [op.mod, op.floordiv, divmod, op.and_, op.or_])
@pytest.mark.parametrize("x", [Value(5.5), Dual(5.5, 1.0), ad.Vector([5.5])], ids=type)
def test_an_operator_without_a_derivative_is_an_error(x, apply):
    for pair in ((x, 2.0), (2.0, x)):
        with pytest.raises(TypeError, match="^unsupported operand type"):
            apply(*pair)


# -- Levels: derivatives in derivatives -----------------------------------------------------------


@pytest.mark.parametrize("inner", [grad, forward], ids=["reverse", "forward"])
@in_every_derivative
def test_no_confusion_of_perturbations(d, inner):
    # without levels of nesting this is 2
    assert d(lambda x: x * inner(lambda y: x + y)(1.0))(1.0) == 1.0
    assert d(lambda x: x * inner(lambda y: x + y)(x))(1.0) == 1.0
    # d/dx[x d/dy(x y)] = d/dx[x²]
    assert d(lambda x: x * inner(lambda y: x * y)(2.0))(3.0) == 6.0


def test_all_mixtures_nest():
    f = lambda x: x**4  # noqa: E731
    for a, b, c in itertools.product(DERIVATIVES.values(), repeat=3):
        assert a(b(c(f)))(2.0) == 48.0


@in_every_derivative
def test_a_number_of_a_finished_derivative_is_an_error(d):
    leaked = []
    d(lambda x: leaked.append(x * x) or x)(3.0)
    for use in (
        lambda: grad(lambda z: z * leaked[0])(2.0),
        lambda: grad(lambda z: leaked[0])(2.0),
        lambda: ad.vjp(lambda z: [z, leaked[0]], 1.0),
    ):
        with pytest.raises(RuntimeError, match="a derivative that has been computed already"):
            use()


def test_threads_do_not_confuse_their_levels():
    found = []

    def work():
        for _ in range(200):
            found.append(grad(lambda x: x * grad(lambda y: x + y)(1.0))(1.0))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1.0] * 800


# -- Operations of one's own ----------------------------------------------------------------------


@operation
def silu(x):
    """d x σ(x) = (σ(x) + x σ(x) σ(-x)) dx"""
    s = ad.sigmoid(x)
    return x * s, lambda grad: (grad * (s + x * s * ad.sigmoid(-x)),)


def test_an_operation_of_ones_own_takes_all_kinds_of_numbers():
    x = Value(1.5)
    y = silu(x)
    assert (y.op, y.parents, y.data) == ("silu", (x,), pytest.approx(1.5 / (1 + math.exp(-1.5))))
    assert silu(np.array([1.5, 0.0])).tolist() == pytest.approx([silu(1.5), 0.0])
    assert silu(np.array([1, 0], np.uint8)).tolist() == [silu(1.0), 0.0]
    for f in (silu, grad(silu), grad(grad(silu))):
        ad.check_gradients(f, 1.5)


@operation
def held_still(x):
    """The identity, with derivative 0."""
    return 1.0 * x, lambda grad: (None,)


@operation
def rounded(x):
    """1 or 0, with the derivative of the identity: a straight-through estimator."""
    return where(x > 0, 1.0, 0.0), lambda grad: (grad,)


@pytest.mark.parametrize(
    ("f", "derivatives"),
    [
        (lambda x: held_still(x) * x, [2.0, 0.0, 0.0]),
        (lambda x: held_still(x * x) * x * x, [16.0, 8.0, 0.0]),
        (lambda x: rounded(x) ** 2 * x, [5.0, 8.0, 6.0]),
    ],
)
def test_a_derivative_that_a_rule_states_holds_in_derivatives_of_any_order(f, derivatives):
    first, second, third = derivatives
    for a, b in itertools.product(DERIVATIVES.values(), repeat=2):
        assert (a(f)(2.0), a(b(f))(2.0), a(b(grad(f)))(2.0)) == (first, second, third)
    for name in ("hessian", "hvp", "create_graph", "compile", "Value over Dual"):
        assert list(map(list, HESSIANS[name](lambda v: f(*v), [2.0]))) == [[second]]


@operation
def leaky(x):
    slope = where(x > 0, 1.0, 0.1)
    return x * slope, lambda grad: (grad * slope,)


@operation
def late(x):  # asks in its closure, and with every comparison
    return x * x, lambda grad: (
        grad * where(x != 0, 2.0 * x, 0.0) * where(x >= 0, 1.0, 3.0) * where(x == 2, 5.0, 1.0),
    )


@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (leaky, lambda x: 1.0 if x > 0 else 0.1),
        (late, lambda x: 2 * x * (1 if x >= 0 else 3) * (5 if x == 2 else 1)),
        (chooser, lambda x: 1.0 if x > 0 else 0.1),
    ],
)
def test_a_comparison_in_a_rule_chooses_anew_and_an_if_is_no_program(f, slope):
    points, x = [-3.0, -0.0, 0.0, 1.0, 2.0], Value(1.0)
    slopes = list(map(slope, points))
    assert slopes == list(map(grad(f), points)) == list(map(forward(f), points))
    if f is chooser:
        with pytest.raises(TypeError, match="not known"):
            Expression(f(x)).compile([x], wrt=[x])
        assert grad(grad(lambda x: f(x) * x))(-2.0) == pytest.approx(0.2, rel=1e-15)
        return
    for mode in ("compile", "inputs of a batch"):
        assert [GRADIENTS[mode](lambda v: f(*v), [1.0])([at])[1][0] for at in points] == slopes


def test_a_rule_may_hold_a_number_of_an_outer_derivative():
    def times(w):
        return operation(lambda x: (w * x, lambda grad: (w * grad,)))

    inner = lambda w: grad(lambda x: times(w)(x) * x)(3.0)  # 6 w  # noqa: E731
    assert {d(inner)(2.0) for d in DERIVATIVES.values()} == {6.0}
    assert grad(times(Value(2.0)))(3.0).data == 2.0  # as grad(lambda x: w * x)


def test_a_rule_may_say_that_an_input_has_no_derivative():
    first = operation(lambda x, y: (x + y, lambda grad: (grad, None)))
    second = operation(lambda x, y: (x + y, lambda grad: (None, grad)))
    assert grad(first, (0, 1))(2.0, 3.0) == (1.0, 0.0)
    assert grad(second, (0, 1))(2.0, 3.0) == (0.0, 1.0)


def test_a_choice_in_a_closure_chooses_anew_in_a_gradient_that_is_a_graph():
    @operation
    def steep(x):  # x below 1/2, else x²
        return where(x > 0.5, x * x, x), lambda grad: (grad * where(x > 0.5, 2 * x, 1.0),)

    for at in (0.25, 2.0):  # recorded on one side, and asked on the other
        x = Value(at)
        x_bar = ad.adjoints(steep(x), create_graph=True)[x]
        assert Expression(x_bar).propagate({x: 0.25}) == 1.0
        assert Expression(x_bar).propagate({x: 2.0}) == 4.0
    same = operation(lambda x: (x, lambda grad: (0.0 if x == 3 else grad,)))
    for y in (chooser(Value(1.0)), same(x)):
        with pytest.raises(TypeError, match=r"create_graph: found a bool .* write autodiff.where"):
            y.backward(create_graph=True)
        y.backward()  # leaves nothing behind: a bool is a bool again
    assert (x > 0.5) is True
