"""Finite differences and the checker, which is itself checked."""

import math
import random

import numpy as np
import pytest
from operations import UNARY, magnitudes
from tables import cases

import autodiff as ad
from autodiff import Dual, Value, Vector, check_gradients, finite_difference, nn, operation


@pytest.mark.parametrize(("method", "ends", "order", "calls", "tolerance"), [
    ("forward", (2, 2.5), 1, 6, 1e-6),
    ("backward", (1.5, 2), 1, 6, 1e-6),
    ("central", (1.5, 2.5), 2, 10, 1e-9),
])  # fmt: skip
def test_a_method_is_what_its_row_in_the_docstring_says(method, ends, order, calls, tolerance):
    low, high = ends
    quotient = (math.cos(high) - math.cos(low)) / (high - low)
    found = finite_difference(ad.cos, 2.0, np.array(0.5), method)
    assert (type(found), found) == (float, pytest.approx(quotient))
    assert finite_difference(lambda x: 2 * x, 0.0, 1e-30, method) == 2.0  # no step is too small

    steps = [2.0**-k for k in range(3, 9)]
    errors = [abs(finite_difference(ad.exp, 1.0, h, method) - math.e) for h in steps]
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert slopes == pytest.approx(order, abs=0.1)  # the next term of the series is O(h) of this

    seen = []
    finite_difference(lambda x: seen.append(x) or sum(x), [1.0] * 5, method=method)
    assert len(seen) == calls

    for x in (1e-3, 1.0, 1e6):  # with the default step
        slope = finite_difference(lambda x: x * x, x, method=method)
        assert slope == pytest.approx(2 * x, rel=tolerance, abs=tolerance)


# -- The checker --------------------------------------------------------------------------------

SIZES = [10.0**k for k in range(-8, 9)]
POINTS = [0.0, *SIZES, *[-2.7 * x for x in SIZES], math.pi, 512.0, 700.0, -700.0]
POINTS += [1 - 1e-9, 1e-9 - 1, 1.001, 0.999]
OF_ITS_OWN = Value(3.0)


def lifted_relu(x):
    return ad.relu(x) + 1e3


SMOOTH = [
    lambda x: x**0.3,
    lambda x: ad.sin(x) ** 2 + ad.cos(x) ** 2,
    lambda x: 1e9 + x,
    lambda x: ad.sin(2 * math.pi * x),
    lambda x: (1 - x) ** 0.5,
    lambda x: ad.relu(x - 1.0003),
    # most digits are lost on the way, and all at some points
    lambda x: (x + 1e6) - 1e6,
    lambda x: ad.logsumexp([x, 0.0]) - x,
    lambda x: ad.cosh(x) - 1,
    lambda x: ad.tanh(0.1 * x - 0.6) * 1e6,
    lambda x: ((x + 1) ** 2 + (x - 1) ** 2) / 2 - x * x,
    lambda x: ad.sin(x) + 1e3,
    lifted_relu,
    lambda x: ad.sqrt(x) + 1e3,
    *[getattr(ad, name) for name in UNARY],
]


def wrong(change, rule=ad.ops.prod.rule):
    """An operation whose rule is mistaken: its gradients are changed."""

    @operation
    def mistaken(*xs):
        value, backward = rule(*xs)
        return value, lambda grad: tuple(change(list(backward(grad))))

    return mistaken


nought, twice = lambda g: [0.0 * v for v in g], lambda g: [2 * g[0]]


def differentiable(f):
    """The points at which the function has a derivative, and its values and derivatives there."""
    for x in POINTS:
        try:
            y, slope = ad.value_and_grad(f)(x)
        except (ArithmeticError, ValueError):
            continue
        if x or f not in (ad.relu, lifted_relu):  # a kink
            yield x, y, slope


@cases("f", SMOOTH)
def test_no_false_alarm_at_any_size(f):
    points = [x for x, _, _ in differentiable(f)]
    for x in points:
        check_gradients(f, x)
    assert len(points) > 12


@cases(("f", "at"), [
    (lambda x: OF_ITS_OWN * x * x, 2.0),
    (nn.Sequential(nn.Linear(2, 3, seed=0), nn.Linear(3, 2, seed=1)), [1.0, 2.0]),
    (lambda x: [x * 1.0, (x + 1e6) - 1e6, x * 2.0], 1e-3),  # each result has its own round-off
    (lambda x: [ad.sin((1 - x) ** 0.5), x], 0.999),  # at an edge: a float's root is complex
])  # fmt: skip
def test_no_false_alarm_for_several_results_and_values_of_its_own(f, at):
    check_gradients(f, at)


@pytest.mark.parametrize("name", UNARY)
@cases("change", [lambda g: [0.0], lambda g: [(1 + 1e-5) * g[0]]])
def test_wrong_rules_are_caught_at_every_size(name, change):
    """Wherever a relative change of x by 1e-3 changes f by more than 1e-9 of itself."""
    caught = 0
    for x, y, slope in differentiable(getattr(ad, name)):
        if slope and abs(x * slope) >= 1e-6 * abs(y):
            with pytest.raises(AssertionError, match="<- wrong"):
                check_gradients(wrong(change, getattr(ad.ops, name).rule), x)
            caught += 1
    assert caught > 8


def bell(center, width, place):
    return lambda x: ad.exp(-(((x - center) / width) ** 2) / 2), center + place * width


def drawn_bell(rng):
    """As narrow as 1e-9 of its distance from 0, and a point on its slope."""
    center = magnitudes(-3, 9)(rng)
    return bell(center, abs(center) * 10 ** rng.uniform(-9, 1), rng.uniform(0.1, 4))


def drawn_kink(rng):
    """At a number, and a point as close to it as 1e-13 of that."""
    kink, at = rng.choice([ad.relu, ad.abs, lambda x: ad.maximum(x, 2 * x)]), magnitudes(-3, 6)(rng)
    return lambda x: kink(x - at), at + magnitudes(-13, -1)(rng) * at


def drawn_scale(rng):
    f = rng.choice([lambda x: x * x, lambda x: x**3, ad.sin, ad.tanh, lambda x: 3 * x])
    return f, magnitudes(-300, -5)(rng)


def drawn_approximation(rng):
    """Of cos, off by up to 1e-14, by chance."""
    salt, x = rng.random(), rng.uniform(0.1, 3.0)

    def value(x):
        return math.cos(x) + 2 + 2e-14 * (random.Random(salt * x).random() - 0.5)

    @operation(value, domain="")
    def approximation(x):
        return approximation(x), lambda grad: (-grad * ad.sin(x),)

    return approximation, x


def alarm(f, x):
    try:
        check_gradients(f, x)
    except AssertionError:
        return True
    return False


def alarms(points):
    """The false alarms, and the wrong derivatives that are missed: 0, twice as much, the negative."""
    false, missed = [], []
    for f, x in points:
        y, slope = ad.value_and_grad(f)(x)
        false += [(f, x)] * alarm(f, x)
        if abs(x * slope) > 1e4 * math.ulp(y):  # a difference shows it
            for mistake in map(wrong, (nought, twice, lambda g: [-g[0]])):
                missed += [(f, x)] * (not alarm(lambda x, f=f, g=mistake: g(f(x)), x))
    return false, missed


NEAR = [  # something else than far away
    bell(1000.0, 1.0, 1.0), bell(1e6, 1.0, -2.0), bell(1000.0, 1.0, 40.0), bell(-1e9, 1.0, 0.5),
    *[(lambda x, k=k: ad.relu(k * (x - 1.0)), 1.0 + d) for k in (-1, 1) for d in (-1e-10, 1e-13)],
    (lambda x: x * x, 1e-160), (lambda x: x * x, -1e-200), (lambda x: ad.sin(x), 1e-310),
]  # fmt: skip


@cases(("f", "at"), NEAR)
def test_what_f_does_far_away_counts_for_nothing(f, at):
    assert alarms([(f, at)]) == ([], [])


@pytest.mark.thorough
@pytest.mark.parametrize(("draw", "allowed"), [
    (drawn_bell, 0), (drawn_kink, 0), (drawn_scale, 0),
    (drawn_approximation, 5),  # how inexact it is, is estimated from a few values
])  # fmt: skip
def test_no_false_alarm_and_no_miss_by_chance(draw, allowed, seed):
    rng = random.Random(seed)
    false, missed = alarms(draw(rng) for _ in range(1000))
    assert len(false) <= allowed, false[:3]
    assert not missed, missed[:3]


def test_a_point_without_neighbours_is_unknown():
    @operation
    def step(x):
        return ad.less(1.0, x), lambda grad: (0.0 * grad,)

    for f, x in [(lambda x: x**1.5, 0.0), (lambda x: x, math.inf), (step, 1.0),
                 (lambda x: step(x) + 1e3, 1.0)]:  # fmt: skip
        with pytest.raises(AssertionError, match="nan +<- unknown: f jumps, or is not defined on"):
            check_gradients(f, x)


def test_the_longest_step_can_be_given():
    mistaken = wrong(lambda g: [-g[0]], ad.ops.cos.rule)
    check_gradients(mistaken, 1e-9)  # cos is 1.0 from 0 to 1e-8
    with pytest.raises(AssertionError, match="<- wrong"):
        check_gradients(mistaken, 1e-9, h=0.1)
    check_gradients(ad.cos, 1e-9, h=0.1)
    calls = []
    check_gradients(lambda x: calls.append(x) or 0.0 * x, 3.0, h=0.5)
    assert max(x for x in calls if type(x) is float) == 3.5


X = [f"x[{i}]" for i in range(4)]
MISTAKES = [
    (lambda g: [-g[0], *g[1:]], X[:1]),
    (lambda g: [1.0001 * v for v in g], X),
    (lambda g: [*g[:3], g[3] + 1e-4], X[3:]),
]
TREE = {"W": np.ones((2, 2)), "b": 2.0, "v": Vector([3.0])}
OF_TREE = [*[f"p['W'][{i}][{j}]" for i in (0, 1) for j in (0, 1)], "p['b']", "p['v'][0]"]
IN_DOUBT = [  # a function, its arguments, the names of all derivatives, and of the wrong ones
    *[(lambda x, change=change: wrong(change)(*x), [[1.0, 2.0, 3.0, 4.0]], X, names)
      for change, names in MISTAKES],
    (lambda rate, w: wrong(nought)(rate, *w), [2.0, [3.0, 4.0]], *[["rate", "w[0]", "w[1]"]] * 2),
    (lambda p: {"y": (p["b"], wrong(nought)(p["W"][1, 0]) * p["v"][0])}, [TREE],
     [f"∂f['y'][{k}]/∂{number}" for k in (0, 1) for number in OF_TREE], ["∂f['y'][1]/∂p['W'][1][0]"]),
    (lambda x: OF_ITS_OWN * wrong(twice, ad.ops.sin.rule)(x), [2.0], ["x"], ["x"]),
    (lambda x: ad.relu(x), [0.0], ["x"], ["x"]),  # at a kink
    *[(lambda x, rule=rule: wrong(twice, rule)(x), [1e-9], ["x"], ["x"])  # not at one nearby
      for rule in (ad.ops.sqrt.rule, ad.ops.abs.rule)],
    # modes may differ by 1e-9, but 2e-10 is no slope of 1e-10 x
    *[(lambda x, mode=mode: x * (2e-10 if isinstance(x, mode) else 1e-10), [1.0], ["x"], ["x"])
      for mode in (Dual, Value)],
]  # fmt: skip


@cases(("f", "args", "names", "in_doubt"), IN_DOUBT)
def test_all_derivatives_are_named_and_the_wrong_ones_marked(f, args, names, in_doubt):
    with pytest.raises(AssertionError, match="the derivatives of <lambda> disagree") as error:
        check_gradients(f, *args)
    lines = str(error.value).splitlines()[2:]
    assert [line.split()[0] for line in lines] == names
    assert [line.split()[0] for line in lines if line.endswith("<- wrong")] == in_doubt
