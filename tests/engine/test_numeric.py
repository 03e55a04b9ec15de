"""Finite differences and the checker, which is itself checked."""

import math

import numpy as np
import pytest
from operations import UNARY
from tables import cases, same

import autodiff as ad
from autodiff import Dual, Value, Vector, check_gradients, finite_difference, nn, operation


@pytest.mark.parametrize(("method", "order"), [("forward", 1), ("backward", 1), ("central", 2)])
def test_the_error_shrinks_with_the_power_of_h_that_the_formula_promises(method, order):
    steps = [2.0**-k for k in range(3, 9)]
    errors = [abs(finite_difference(ad.exp, 1.0, h, method) - math.e) for h in steps]
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert slopes == pytest.approx(order, abs=0.1)  # the next term of the series is O(h) of this


@pytest.mark.parametrize("x", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize(
    ("method", "tolerance"),
    [("forward", 1e-6), ("backward", 1e-6), ("central", 1e-9)],
)
def test_default_steps_are_good_at_every_size_of_x(method, tolerance, x):
    slope = finite_difference(lambda x: x * x, x, method=method)
    assert slope == pytest.approx(2 * x, rel=tolerance, abs=tolerance)


def test_the_quotients_of_the_article():
    for method, low, high in (("forward", 2, 2.5), ("backward", 1.5, 2), ("central", 1.5, 2.5)):
        slope = (math.cos(high) - math.cos(low)) / (high - low)
        assert finite_difference(ad.cos, 2.0, 0.5, method) == pytest.approx(slope)


def test_shapes_are_those_of_jacfwd():
    f = lambda x: [x[0] * x[1], x[1]]  # noqa: E731
    assert finite_difference(sum, [1, 2, 3]) == pytest.approx([1, 1, 1])
    for row, exact in zip(finite_difference(f, (2, 3)), ad.jacfwd(f)([2, 3]), strict=True):
        assert row == pytest.approx(exact, abs=1e-9)
    assert finite_difference(lambda x: [x, 2 * x], 3.0) == pytest.approx([1, 2])
    assert finite_difference(lambda x: Value(x) * 2, 3.0).data == pytest.approx(2)


@pytest.mark.parametrize(("method", "calls"), [("forward", 6), ("backward", 6), ("central", 10)])
def test_the_number_of_evaluations(method, calls):
    seen = []
    finite_difference(lambda x: seen.append(x) or sum(x), [1.0] * 5, method=method)
    assert len(seen) == calls


# -- The checker --------------------------------------------------------------------------------


SIZES = [10.0**k for k in range(-8, 9)]
POINTS = [0.0, *SIZES, *[-2.7 * x for x in SIZES], math.pi, 512.0, 700.0, -700.0]
POINTS += [1 - 1e-9, 1e-9 - 1, 1.001, 0.999]


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


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize(
    "change",
    [lambda g: [0.0], lambda g: [(1 + 1e-5) * g[0]]],
    ids=["zero", "a small factor"],
)
def test_wrong_rules_are_caught_at_every_size(name, change):
    """Wherever a relative change of x by 1e-3 changes f by more than 1e-9 of itself."""
    caught = 0
    for x, y, slope in differentiable(getattr(ad, name)):
        if slope and abs(x * slope) >= 1e-6 * abs(y):
            with pytest.raises(AssertionError, match="<- wrong"):
                check_gradients(wrong(change, getattr(ad.ops, name).rule), x)
            caught += 1
    assert caught > 8


@pytest.mark.parametrize("rule", [ad.ops.sqrt.rule, ad.ops.abs.rule], ids=["sqrt", "abs"])
def test_a_wrong_rule_is_not_taken_for_a_kink_nearby(rule):
    with pytest.raises(AssertionError, match="<- wrong$"):
        check_gradients(wrong(lambda g: [2 * g[0]], rule), 1e-9)


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


def test_each_mode_is_compared_with_the_difference():
    """Modes may differ by 1e-9, but 2e-10 is no slope of 1e-10 x."""
    for mode in (Dual, Value):
        with pytest.raises(AssertionError, match="<- wrong"):
            check_gradients(lambda x, mode=mode: x * (2e-10 if isinstance(x, mode) else 1e-10), 1.0)


@pytest.mark.parametrize(
    ("change", "in_doubt"),
    [
        (lambda g: [-g[0], *g[1:]], ["x[0]"]),
        (lambda g: [1.0001 * v for v in g], ["x[0]", "x[1]", "x[2]", "x[3]"]),
        (lambda g: [*g[:3], g[3] + 1e-4], ["x[3]"]),
    ],
    ids=["a sign", "a small factor", "one entry of many"],
)
def test_wrong_derivatives_fail_and_are_named(change, in_doubt):
    f = lambda x: wrong(change)(*x)  # noqa: E731
    with pytest.raises(AssertionError, match="the derivatives of <lambda> disagree") as error:
        check_gradients(f, [1.0, 2.0, 3.0, 4.0])
    lines = str(error.value).splitlines()[2:]
    assert [line.split()[0] for line in lines if "<- wrong" in line] == in_doubt
    assert len(lines) == 4


def test_the_names_of_arguments():
    bad = wrong(lambda g: [0.0 * v for v in g])
    with pytest.raises(AssertionError, match=r"rate .*<- wrong\nw\[0\] .*<- wrong\nw\[1\]"):
        check_gradients(lambda rate, w: bad(rate, *w), 2.0, [3.0, 4.0])
    with pytest.raises(AssertionError, match=r"x +0 +0 +0\.5 +<- wrong"):  # at a kink
        check_gradients(ad.relu, 0.0)


def test_the_names_of_numbers_and_results_follow_their_trees():
    bad = wrong(lambda g: [0.0 * v for v in g])

    def f(p):
        return {"y": (p["b"], bad(p["W"][1, 0]) * p["v"][0])}

    tree = {"W": np.ones((2, 2)), "b": 2.0, "v": Vector([3.0])}
    with pytest.raises(AssertionError) as error:
        check_gradients(f, tree)
    numbers = [f"p['W'][{i}][{j}]" for i in (0, 1) for j in (0, 1)] + ["p['b']", "p['v'][0]"]
    names = [f"∂f['y'][{k}]/∂{number}" for k in (0, 1) for number in numbers]
    lines = str(error.value).splitlines()[2:]
    assert [line.split()[0] for line in lines] == names
    assert [line.split()[0] for line in lines if "wrong" in line] == ["∂f['y'][1]/∂p['W'][1][0]"]


def test_functions_with_values_of_their_own_are_checked():
    w, model = Value(3.0), nn.Sequential(nn.Linear(2, 3, seed=0), nn.Linear(3, 2, seed=1))
    check_gradients(lambda x: w * x * x, 2.0)
    check_gradients(model, [1.0, 2.0])
    with pytest.raises(AssertionError, match="<- wrong"):
        check_gradients(lambda x: w * wrong(lambda g: [2 * g[0]], ad.ops.sin.rule)(x), 2.0)


def test_each_result_has_its_own_round_off():
    check_gradients(lambda x: [x * 1.0, (x + 1e6) - 1e6, x * 2.0], 1e-3)


def test_only_the_edge_of_a_domain_is_passed_over():
    check_gradients(lambda x: [ad.sin((1 - x) ** 0.5), x], 0.999)  # a float's root is complex

    def picky(x):
        if x > 2.0:
            raise TypeError("of the function's own")
        return x * x

    with pytest.raises(TypeError, match="own"):
        check_gradients(picky, 2.0)


# -- Arrays, Values and tiny steps ----------------------------------------------------------------


def test_an_array_reaches_f_as_an_array_and_a_vector_as_a_vector():
    calls, x = [], np.array([1.0, 2.0, 3.0])

    def f(v, w=(0.0,)):
        calls.append((type(v), type(w)))
        return ad.prod(v + v) + w[0]  # as a list, v + v would be v twice

    check_gradients(f, x, [3.0])
    assert all(issubclass(kind, np.ndarray) and other is list for kind, other in calls)
    for method in ("forward", "backward", "central"):
        same(finite_difference(f, x, method=method), np.array([48.0, 24.0, 16.0]), 1e-6)
    same(finite_difference(f, Vector(x)), Vector([48.0, 24.0, 16.0]), 1e-6)
    check_gradients(f, Vector(x))
    assert finite_difference(lambda x: [1.0, {"a": 2.0}], []) == [[], {"a": []}]


def test_a_step_is_a_plain_number():
    assert type(finite_difference(ad.sin, 2.0, np.array(1e-4))) is float
    assert finite_difference(lambda x: x * x, 0.0, h=1e-30) == 0.0
