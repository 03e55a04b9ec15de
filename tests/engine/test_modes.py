"""Every mode and mixture of modes, on random programs of all operations and at special points."""

import itertools
import json
import math

import hypothesis
import mpmath
import numpy as np
import pytest
from hypothesis import strategies as st
from modes import ARRAYS, GRADIENTS, HESSIANS, forward, plain, recorded
from operations import by_mpmath
from oracles import allowed, bound, derivatives, errors, exact, slopes_of, undecided
from random_graphs import FORMULAS, OPERATIONS, arity, cube, for_all, numbers, ours, programs
from tables import cases, text_of

import autodiff as ad
from autodiff import Expression, Value, Vector, ops, topological_order

# -- What these tests rely on ---------------------------------------------------------------------


def test_the_random_programs_have_every_operation():
    used = set()
    for apply in OPERATIONS:
        node = apply(Value(0.5), Value(0.7), Value(0.9))
        used |= {n._operation for n in topological_order(node) if n.parents}
    assert {*ops.LISTED} - used == {ops.largest}  # which only a gradient holds
    assert used - {*ops.LISTED} == {cube}


def test_what_cancels_may_be_off_by_the_size_of_what_cancelled():
    x, y = Value(1e8 + 1), Value(1e8)
    of_value, _ = allowed(x * x - y * y, [x, y])
    assert 1e16 * 2.3e-16 < of_value < 1e16 * 1e-14
    assert allowed(x - x, [x])[0] == 0.0
    _, (of_gradient,) = allowed(ad.sum([x * 1e-3, -x, x]), [x])  # 1e-3, or (1e-3 - 1) + 1
    assert 2.3e-16 < of_gradient < 1e-14


def test_the_error_allowed_is_that_of_50_digits():
    x = Value(2.5)
    y = ad.exp(ad.sin(x) * 10.0) - ad.tanh(x) ** 3
    of_value, (of_gradient,) = allowed(y, [x])
    with mpmath.workdps(50):
        f = lambda x: mpmath.exp(mpmath.sin(x) * 10) - mpmath.tanh(x) ** 3  # noqa: E731
        value, slope = f(mpmath.mpf(2.5)), mpmath.diff(f, mpmath.mpf(2.5))
    assert abs(y.data - value) <= of_value < 1e-13 * abs(value)
    assert abs(ad.adjoints(y)[x] - slope) <= of_gradient < 1e-12 * abs(slope)


# -- Random programs, against arithmetic of 170 digits ------------------------


def smooth(y):
    """Whether no node chooses at a tie, or where rounding may decide."""
    found = errors(y)
    return not any(undecided(node, found, ties=True) for node in found)


def close(name, found, expected, bounds):
    for a, b, error in zip(found, expected, bounds, strict=True):
        assert abs(a - b) <= error + 1e-60, (name, float(a - b), error)


@for_all(programs(), examples=25)
def test_every_mode_agrees_with_mpmath(program):
    f, xs = program
    y, leaves = recorded(f, xs)
    hypothesis.assume(smooth(y))
    value, slopes, curvatures = derivatives(lambda v: f(v, by_mpmath), xs, digits=170)
    gradient = slopes_of(y, leaves)
    bounds = [bound(y), *map(bound, gradient)]
    for name, mode in GRADIENTS.items():
        number, found = mode(f, [0.5 for _ in xs])(xs)
        close(name, [number, *found], [value, *slopes], bounds)
    bounds = [[*map(bound, slopes_of(g, leaves))] for g in gradient]
    for name, mode in HESSIANS.items():
        for rows in zip(mode(f, xs), curvatures, bounds, strict=True):
            close(name, *rows)


@for_all(programs(), st.lists(numbers, min_size=2, max_size=2), examples=20)
def test_third_derivatives_along_a_line_agree_with_mpmath(program, direction):
    f, xs = program

    def phi(t, m=ours):
        return f([x + (t - 1) * v for x, v in zip(xs, direction)], m)

    y, leaves = recorded(lambda v: phi(*v), [1.0])
    hypothesis.assume(smooth(y))
    slope = y
    for _ in range(3):
        (slope,) = slopes_of(slope, leaves)
    with mpmath.workdps(200):
        expected = exact(lambda t: phi(t, by_mpmath), (mpmath.mpf(1),), 0, 0, 0)
    close("create_graph", [plain(slope)], [expected], [bound(slope)])
    for a, b, c in itertools.product((ad.grad, forward), repeat=3):
        close((a, b, c), [a(b(c(phi)))(1.0)], [expected], [bound(slope)])


# -- Kinks, ties, signed zeros, infinities, nan, the tiny and the huge ------------------------------

INF, NAN = math.inf, math.nan
SMALL = [0.0, -0.0, 1.0, -1.0, 0.5, 0.25, 2.0, -3.0, 1e-310, -1e-300]
POINTS = [*SMALL, INF, -INF, NAN, 1e300, -1e200]

# The formulas of the random graphs stay inside their domains; these do not.
BARE = [
    lambda m, a, b: a / b, lambda m, a, b: a**b, lambda m, a: 0.0**a, lambda m, a: 2.0**a,
    lambda m, a: 10.0 ** (100.0 * a), lambda m, a: a**-1, lambda m, a: a**-0.5,
    lambda m, a: a**1.0, lambda m, a: a**0.5, lambda m, a: a**400.0, lambda m, a: m.exp(a),
    lambda m, a: m.log(a), lambda m, a: m.sqrt(a), lambda m, a: m.tan(a),
    lambda m, a: m.asin(a), lambda m, a: m.acos(a), lambda m, a: m.sinh(a),
    lambda m, a: m.cosh(a), lambda m, a: m.hypot(a),
    lambda m, a, b: m.hypot(a, b), lambda m, a, b, c: m.hypot(a, b, c),
    lambda m, a, b, c: m.hypot(a, b, c, 1.0, c), lambda m, a, b: m.logsumexp([a, b]),
    lambda m, a, b: m.where(a, b, 0.0), lambda m, a, b: abs(a) * b,
    lambda m, a: m.relu(a) * a, lambda m, a, b, c: m.maximum(a * b, a * c),
]  # fmt: skip
PROGRAMS = ["compile", "numpy", "inputs of a batch"]
MODES = ["backward", "jacfwd", "propagate", *PROGRAMS]
UNBOUNDED = "m.logsumexp", "m.hypot(a, b, c, 1.0", "0.0**"  # these meet inf - inf or 0 inf


def outcome(program, xs):
    """The value and the gradient by a mode as one list, or the type of the error."""
    try:
        with np.errstate(all="ignore"):
            value, gradient = program(list(xs))
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        return type(error)
    return [float(value), *map(float, gradient)]


def agree(found, expected, arrays, size=0.0):
    """Whether a mode found what walking did; NumPy goes on with inf or nan where that raised."""
    if isinstance(expected, type) or isinstance(found, type):
        return found is expected or (arrays and isinstance(expected, type))
    # 1e-12: a few hundred units in the last place, where NumPy's functions are not those of math
    # and the digits of numbers below 2e-308 are few
    tolerances = {"rel_tol": 1e-12, "abs_tol": 1e-12 * size + 1e-320}
    return all(
        math.isclose(a, b, **tolerances) or (math.isnan(a) and math.isnan(b))
        for a, b in zip(found, expected, strict=True)
    )


def special(count):
    """Special points of that many numbers; of three, each pair of points at each two places."""
    if count < 3:
        return itertools.product(POINTS, repeat=count)
    pairs = itertools.product(range(len(POINTS)), repeat=2)
    return [(POINTS[i], POINTS[j], POINTS[(i + j) % len(POINTS)]) for i, j in pairs]


@pytest.fixture
def by_node(node):
    """The value and the gradients of an output at points, by its program in JavaScript."""

    def run(y, leaves, points):
        source = Expression(y).javascript(leaves, wrt=leaves)
        return [[y, *slopes] for y, slopes in node(f"{json.dumps(points)}.map({source})")]

    return run


@cases("formula", [*FORMULAS, *BARE])
def test_every_formula_at_special_points(formula, by_node):
    text, ordinary = text_of(formula), [0.5, 0.6, 0.7][: arity(formula)]
    f, points = lambda xs: formula(ours, *xs), [*special(len(ordinary))]
    walk, *modes = [GRADIENTS[mode](f, ordinary) for mode in MODES]
    for xs, in_javascript in zip(points, by_node(*recorded(f, ordinary), points), strict=True):
        expected = outcome(walk, xs)
        adds = [abs(x) for x in xs if "sum" in text and math.isfinite(x)]  # in another order
        infinite = not all(map(math.isfinite, xs))
        unbounded = text.startswith(UNBOUNDED) and infinite
        for name, mode in zip(MODES[1:], modes):
            if name == "jacfwd" and not all(abs(x) < 1e100 for x in xs):
                continue  # infinities meet zeros in another order
            if name in PROGRAMS and unbounded:
                continue  # a program says nan, as the docstring of compile says
            if name in ARRAYS and text.replace("b", str(xs[-1])) == "a**0.5":
                continue  # NumPy says that (-inf) ** 0.5 is nan, as its square root; C that it is inf
            found = outcome(mode, xs)
            assert agree(found, expected, name in ARRAYS, max(adds, default=0.0)), (name, xs, found)
        assert unbounded or agree(in_javascript, expected, arrays=True), (xs, in_javascript)


def largest(f, xs):
    """The size of the largest number in the graph of f at xs, or in its backward pass."""
    adjoints = ad.adjoints(recorded(f, xs)[0])
    numbers = [x.data for x in adjoints] + list(adjoints.values())
    return max([abs(x) for x in numbers if math.isfinite(x)], default=0.0)


@for_all(programs(), st.lists(st.sampled_from(SMALL), min_size=2, max_size=2), examples=20)
def test_random_programs_at_special_points(program, xs):
    f, ordinary = program
    expected = outcome(GRADIENTS["backward"](f, ordinary), xs)
    size = 0.0 if isinstance(expected, type) else largest(f, xs)
    for name in MODES[2:]:
        found = outcome(GRADIENTS[name](f, ordinary), xs)
        assert agree(found, expected, name in ARRAYS, size), (name, xs, found, expected)


# -- JavaScript, run by Node.js --------------------------------------------------------------------


def test_erf_in_javascript(by_node):
    x, points = Value(0.5), [0.0, -0.0, 1e-300, 1e-8, 0.1, 0.5, -1.0, 2.9, 3.1, 5.9, 6.1, -30.0]
    for at, [value, _] in zip(points, by_node(ad.erf(x), [x], [[at] for at in points])):
        assert value == pytest.approx(math.erf(at), rel=1e-14, abs=0)
        assert math.copysign(1, value) == math.copysign(1, at)


def test_random_programs_in_javascript(by_node):
    @hypothesis.settings(max_examples=60)
    @hypothesis.given(programs(inputs=3))
    def check(program):
        f, xs = program
        [found] = by_node(*recorded(f, xs), [xs])
        expected = outcome(GRADIENTS["backward"](f, xs), xs)
        assert agree(found, expected, arrays=True, size=largest(f, xs))

    check()


def test_inputs_and_outputs_of_several_numbers_in_javascript(node):
    v, w = Vector([2.0, 4.0]), Value(5.0)
    source = Expression([(v * w).sum(), v[0], w + 1]).javascript([v], wrt=[w])
    assert node(f"({source})([3.0, 4.0, 10.0])") == [70.0, 3.0, 11.0]
