"""Kinks, ties, signed zeros, infinities, nan, the tiny and the huge: the same in every mode."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import strategies as st
from random_graphs import FORMULAS, for_all, function, ours, programs, variables

import autodiff as ad
from autodiff import Expression, Value

INF, NAN = math.inf, math.nan
POINTS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    0.25,
    2.0,
    -3.0,
    INF,
    -INF,
    NAN,
    1e-310,
    -1e-300,
    1e300,
    -1e200,
]

# The formulas of the random graphs stay inside their domains; these do not.
BARE = [
    "a / b", "a ** b", "0.0 ** a", "2.0 ** a", "a ** -1", "a ** -0.5", "a ** 1.0", "a ** 0.5",
    "m.exp(a)", "m.log(a)", "m.sqrt(a)", "m.tan(a)", "m.asin(a)", "m.acos(a)", "m.sinh(a)",
    "m.cosh(a)", "m.hypot(a)", "m.hypot(a, b)", "m.hypot(a, b, c)", "m.hypot(a, b, c, 1.0)",
    "m.logsumexp([a, b])",
    "m.where(a, b, 0.0)", "abs(a) * b", "m.relu(a) * a", "m.maximum(a * b, a * c)",
]  # fmt: skip
ERRORS = (ValueError, ZeroDivisionError, OverflowError)


def walked(f, xs):
    leaves = [Value(x) for x in xs]
    y = f(leaves)
    adjoints = ad.adjoints(y)
    return y.data, [adjoints.get(x, 0.0) for x in leaves]


def forward(f, xs):
    return ad.jvp(f, (xs,), ([0.0 for _ in xs],))[0], ad.jacfwd(f)(xs)


def recorded(f, xs):
    """The modes that use a graph again which was recorded at other numbers, by their names."""
    leaves = [Value(x) for x in xs]
    y = f(leaves)
    program = Expression(y).compile(leaves, wrt=leaves)
    over_numpy = Expression(y).compile(leaves, wrt=leaves, xp=np)
    batched = Expression(y).compile(leaves, wrt=leaves, xp=np, batch=True)

    def propagated(xs):
        for x, number in zip(leaves, xs):
            x.data = number
        expression = Expression(y)
        value = expression.propagate()
        adjoints = ad.adjoints(expression.sink)
        return value, [adjoints.get(x, 0.0) for x in leaves]

    def in_a_batch(xs):
        values, gradients = batched(np.array([xs, xs]))
        return values[1], gradients[1]

    return {
        "propagate": propagated,
        "compile": lambda xs: program(*xs),
        "numpy": lambda xs: over_numpy(*map(np.array, xs)),
        "batch": in_a_batch,
    }


def outcome(mode, *arguments):
    """The value and the gradient by a mode as one list, or the type of the error."""
    try:
        with np.errstate(all="ignore"):
            value, gradient = mode(*arguments)
    except ERRORS as error:
        return type(error)
    return [float(value), *map(float, gradient)]


def agree(found, expected, arrays, size=0.0):
    """Whether a mode found what walking did; NumPy goes on with inf or nan where that raised."""
    if isinstance(expected, type) or isinstance(found, type):
        return found is expected or (arrays and isinstance(expected, type))
    # 1e-12: a few hundred units in the last place, where NumPy's functions are not those of math
    # and the digits of numbers below 2e-308 are few
    return found == pytest.approx(expected, rel=1e-12, abs=1e-12 * size + 1e-320, nan_ok=True)


@pytest.mark.parametrize("formula", [*FORMULAS, *BARE])
def test_every_formula_at_special_points(formula):
    apply, names = function(formula), sorted(variables(formula))

    def f(xs):
        inputs = dict(zip(names, xs))
        return apply(ours, *[inputs.get(name) for name in "abc"])

    modes = recorded(f, [0.5, 0.6, 0.7][: len(names)])
    for xs in itertools.product(POINTS, repeat=len(names)):
        expected = outcome(walked, f, xs)
        if all(abs(x) < 1e100 for x in xs):  # forward, infinities meet zeros in another order
            assert agree(outcome(forward, f, list(xs)), expected, arrays=False), (xs, expected)
        infinite = not all(map(math.isfinite, xs))
        for name, mode in modes.items():
            if infinite and name != "propagate" and formula.startswith(UNBOUNDED):
                continue  # a program says nan, as the docstring of compile says
            if name in ("numpy", "batch") and formula.replace("b", str(xs[-1])) == "a ** 0.5":
                continue  # NumPy says that (-inf) ** 0.5 is nan, as its square root; C that it is inf
            found = outcome(mode, xs)
            adds = [abs(x) for x in xs if "sum" in formula and math.isfinite(x)]  # in another order
            arrays, size = name in ("numpy", "batch"), max(adds, default=0.0)
            assert agree(found, expected, arrays, size), (name, xs, found, expected)


UNBOUNDED = "m.logsumexp", "m.hypot(a, b, c, 1.0)", "0.0 **"  # these meet inf - inf or 0 inf
FINITE = [x for x in POINTS if abs(x) < 1e100]


@for_all(programs(), st.lists(st.sampled_from(FINITE), min_size=2, max_size=2), examples=100)
def test_random_programs_at_special_points(program, xs):
    f, ordinary = program
    expected = outcome(walked, f, xs)
    size = 0.0
    if not isinstance(expected, type):
        leaves = [Value(x) for x in xs]
        adjoints = ad.adjoints(f(leaves))
        numbers = [x.data for x in adjoints] + list(adjoints.values())
        size = max([abs(x) for x in numbers if math.isfinite(x)], default=0.0)
    for name, mode in recorded(f, ordinary).items():
        found = outcome(mode, xs)
        assert agree(found, expected, name in ("numpy", "batch"), size), (name, xs, found, expected)


# -- Points at which a mode once was by itself ----------------------------------------------------


def in_every_mode(f, xs, at):
    """The outcome by each mode, the graph recorded at other numbers."""
    found = {"walked": outcome(walked, f, xs)}
    return found | {name: outcome(mode, xs) for name, mode in recorded(f, at).items()}


def test_a_power_of_exponent_0_has_slope_0_however_small_its_base():
    for found in in_every_mode(lambda v: v[0] ** v[1], [1e-310, 0.0], [0.5, 0.6]).values():
        assert found == [1.0, 0.0, pytest.approx(math.log(1e-310))]
    assert ad.jacfwd(lambda v: v[0] ** v[1])([1e-310, 0.0]) == [0.0, math.log(1e-310)]
    assert ad.hessian(lambda v: v[0] ** v[1])([1e-300, 0.0])[0] == [0.0, pytest.approx(1e300)]


@pytest.mark.parametrize("count", [2, 3])
def test_a_norm_of_inf_beside_nan_is_inf(count):
    xs = [NAN, -INF, *[1.0, NAN, 2.0][: count - 2]]
    for found in in_every_mode(
        lambda v: ad.hypot(*v), xs, [0.5, 0.6, 0.7, 0.8, 0.9][:count]
    ).values():
        assert found[0] == INF


@pytest.mark.parametrize(
    ("xs", "value", "weights"),
    [
        ([-INF, -INF], -INF, [NAN, NAN]),
        ([INF, 1000.0], INF, [NAN, NAN]),
        ([INF, INF], INF, [NAN, NAN]),
        ([NAN, 1e300], NAN, [NAN, NAN]),
        ([-INF, 1e300], 1e300, [0.0, 1.0]),
    ],
)
def test_the_softmax_of_infinities(xs, value, weights):
    modes = in_every_mode(ad.logsumexp, xs, [0.5, 0.6])
    for name in ("walked", "propagate"):
        assert modes[name] == pytest.approx([value, *weights], nan_ok=True)


@pytest.mark.parametrize(
    ("f", "xs", "kind"),
    [
        (lambda v: v[0] ** v[1], [0.0, -1.0], ZeroDivisionError),
        (lambda v: v[0] ** v[1], [0.0, -0.5], ZeroDivisionError),
        (lambda v: v[0] ** v[1], [-0.0, -3.0], ZeroDivisionError),
        (lambda v: v[0] ** v[1], [-8.0, 0.5], ValueError),
        (lambda v: v[0] ** v[1], [10.0, 400.0], OverflowError),
        (lambda v: v[0] ** -0.5, [0.0, 1.0], ZeroDivisionError),
        (lambda v: v[0] ** 0.5, [0.0, 1.0], ZeroDivisionError),  # of its derivative
        (lambda v: v[0] ** 0.5, [-1.0, 1.0], ValueError),
        (lambda v: 0.0 ** v[0], [-1.0, 1.0], ZeroDivisionError),
        (lambda v: (-2.0) ** v[0], [0.5, 1.0], ValueError),
        (lambda v: 10.0 ** v[0], [400.0, 1.0], OverflowError),
    ],
)
def test_the_error_of_a_power_is_of_one_kind(f, xs, kind):
    found = in_every_mode(f, xs, [1.0, 2.0])
    assert [found[name] for name in ("walked", "propagate", "compile")] == [kind] * 3
