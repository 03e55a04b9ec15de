"""Finite differences and the checker, which is itself checked."""

import math

import numpy as np
import pytest
from operations import UNARY
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
    check_gradients(lambda x: calls.append(x) or x * x, 3.0, h=0.5)
    assert max(x for x in calls if type(x) is float) == 3.5


X = [f"x[{i}]" for i in range(4)]
MISTAKES = [
    (lambda g: [-g[0], *g[1:]], X[:1]),
    (lambda g: [1.0001 * v for v in g], X),
    (lambda g: [*g[:3], g[3] + 1e-4], X[3:]),
]
nought, twice = lambda g: [0.0 * v for v in g], lambda g: [2 * g[0]]
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
