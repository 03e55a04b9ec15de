"""Exercises of notebook 3: right answers are praised, each common wrong one gets its hint."""

import math

import pytest
from exercises.forward_mode import (
    Pair,
    check_1,
    check_2,
    check_3,
    solution_1,
    solution_2,
    solution_3,
)

import autodiff
from autodiff import Dual, finite_difference, grad, hessian, hvp, jacfwd, jvp


def by_jvp(function):
    return lambda x: jvp(function, (x,), (1.0,))[1]


def by_the_square(a, b):
    """From z² = a² + b², whose tangent is 2zż."""
    z = math.hypot(a.primal, b.primal)
    return Pair(z, (a * a + b * b).tangent / (2 * z))


def by_all_four_operators(a, b):
    """From ((a + b)² - ab - ab) / z, with the number z as a constant."""
    z = Pair(math.hypot(a.primal, b.primal))
    return Pair(z.primal, (((a + b) * (a + b) - a * b - a * b) / z).tangent / 2)


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_1, solution_1),
        (check_1, by_the_square),
        (check_1, by_all_four_operators),
        (check_2, solution_2),
        (check_2, lambda f, x: by_jvp(by_jvp(f))(x)),
        (check_2, lambda f, x: jvp(lambda x: jvp(f, (x,), (1.0,)), (x,), (1.0,))[1][1]),
        (check_3, solution_3()),
    ],
)
def test_right_answers_are_praised(check, answer):
    right, said = check.verdict(answer)
    assert right, said
    assert said.startswith("Right")


def tangent(formula):
    """An answer 1 with this tangent, a function of a, b, ȧ, ḃ and z."""

    def answer(a, b):
        z = math.hypot(a.primal, b.primal)
        return Pair(z, formula(a.primal, b.primal, a.tangent, b.tangent, z))

    return answer


WRONG_1 = [
    (..., "Nothing here yet"),
    (8.6, "Expected a function"),
    (lambda a, b: ..., "Nothing here yet"),
    (lambda a, b: None, "Nothing here yet"),
    (tangent(lambda a, b, s, t, z: ...), "what does the product rule say"),
    (lambda a, b: math.hypot(a.primal, b.primal), "Expected a Pair, found a float"),
    (lambda a, b: Pair(a, b), "plain numbers"),
    (lambda a, b: Pair(a.primal + b.primal, 8.6), "primal should be 5"),
    (tangent(lambda a, b, s, t, z: 8.6), "should be 0.153846, not 8.6"),
    (tangent(lambda a, b, s, t, z: a * s + b * t), "Divide by something"),
    (tangent(lambda a, b, s, t, z: 2 * a * s + 2 * b * t), "tangent of a² + b²"),
    (tangent(lambda a, b, s, t, z: (2 * a * s + 2 * b * t) / z), "2 in its denominator"),
    (tangent(lambda a, b, s, t, z: (a * s + b * t) / (2 * z)), "Half of it"),
    (tangent(lambda a, b, s, t, z: a * s / z), "b moves as well"),
    (tangent(lambda a, b, s, t, z: b * t / z), "a moves as well"),
    (tangent(lambda a, b, s, t, z: 1 / (2 * z)), "inner one is missing"),
    (tangent(lambda a, b, s, t, z: (a + b) / z), "both tangents were 1"),
    (tangent(lambda a, b, s, t, z: s + t), "right for a + b"),
    (tangent(lambda a, b, s, t, z: math.hypot(s, t)), "no square root of them"),
    (tangent(lambda a, b, s, t, z: (b * s + a * t) / z), "a with a"),
    (tangent(lambda a, b, s, t, z: 0.0), "does not move"),
    (tangent(lambda a, b, s, t, z: abs(a * s + b * t) / z), None),
    (tangent(lambda a, b, s, t, z: (a * s - b * t) / z), "local derivatives are a/z and b/z"),
    (lambda a, b: Pair(a.primal / 0, 0.0), "raises ZeroDivisionError"),
    (lambda a, b: a * b, "primal should be 5, not 12"),
    (lambda a, b: a**2 + b**2, "raises TypeError"),
    (
        lambda a, b: autodiff.hypot(Dual(a.primal, a.tangent), Dual(b.primal, b.tangent)),
        "leaves the work to the package",
    ),
    (
        lambda a, b: Pair(5.0, jvp(autodiff.hypot, (a.primal, b.primal), (1.0, 10.0))[1]),
        "leaves the work to the package",
    ),
]

WRONG_2 = [
    (..., "Nothing here yet"),
    (48.0, "Expected a function"),
    (lambda f, x: ..., "Nothing here yet"),
    (lambda f, x: None, "Nothing here yet"),
    (lambda f, x: 48.0, "never calls the function"),
    (lambda f, x: 12 * x**2, "never calls the function"),
    (lambda f, x: f(x), "value of x⁴"),
    (lambda f, x: by_jvp(f)(x), "Once more"),
    (lambda f, x: by_jvp(f)(x) ** 2, "squared"),
    (lambda f, x: by_jvp(f)(by_jvp(f)(x)), "f'(f'(x))"),
    (lambda f, x: jvp(f, (x,), (1.0,)), "returns a pair"),
    (lambda f, x: by_jvp(by_jvp(f)), "That is a function"),
    (lambda f, x: f(Dual(x, 1.0)), "Take its tangent"),
    (lambda f, x: f(Dual(Dual(x, 1.0), 1.0)).tangent.tangent, "Let jvp make them"),
    (lambda f, x: "48", "found a str"),
    (lambda f, x: [48.0], "Expected a number"),
    (lambda f, x: grad(grad(f))(x), "reverse mode"),
    (lambda f, x: jvp(grad(f), (x,), (1.0,))[1], "reverse mode"),
    (lambda f, x: grad(by_jvp(f))(x), "reverse mode"),
    (lambda f, x: autodiff.value_and_grad(grad(f))(x)[1], "reverse mode"),
    (lambda f, x: autodiff.jacrev(autodiff.jacrev(f))(x), "transform"),
    (lambda f, x: hessian(f)(x), "another transform"),
    (lambda f, x: hvp(f, x, 1.0), "another transform"),
    (lambda f, x: jacfwd(jacfwd(f))(x), "another transform"),
    (lambda f, x: finite_difference(by_jvp(f), x), "That nudges x"),
    (lambda f, x: (by_jvp(f)(x + 1e-6) - by_jvp(f)(x - 1e-6)) / 2e-6, "lose digits"),
    (lambda f, x: (f(x + 1e-4) - 2 * f(x) + f(x - 1e-4)) / 1e-8, "lose digits"),
    (lambda f, x: f("x"), "raises"),
]


@pytest.mark.parametrize(
    ("check", "answer", "hint"),
    [(check_1, *row) for row in WRONG_1] + [(check_2, *row) for row in WRONG_2],
)
def test_each_wrong_answer_has_its_hint(check, answer, hint):
    right, said = check.verdict(answer)
    assert not right, said
    assert (hint or "should be") in said


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        ({"a": (..., ...)}, "Nothing here yet"),
        ({"a": 1}, "a: expected a pair"),
        ({"a": ("sideways", 1)}, "'forward' or 'reverse'"),
        ({"a": ("reverse", 300)}, "a: that works, but"),
        ({"a": ("reverse", 1)}, "a: forward mode pays for inputs"),
        ({"a": ("forward", 300)}, "count of the other one"),
        ({"b": ("forward", 10_000)}, "b: that works, but"),
        ({"b": ("reverse", 2)}, "b: the mode is right. Count again"),
        ({"c": ("forward", 40)}, "c: that works, but"),
        ({"c": ("reverse", 40)}, "c: the mode is right, but that is the count"),
        ({"d": ("reverse", 1)}, "d: one walk back"),
        ({"d": ("forward", 10_000)}, "d: is all of J asked for"),
    ],
)
def test_each_wrong_mode_or_count_has_its_hint(change, hint):
    right, said = check_3.verdict(solution_3() | change)
    assert not right
    assert hint in said


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (..., "Nothing here yet"),
        ("forward", "Expected a dict"),
        ({"a": ("forward", 1)}, "Expected a dict"),
    ],
)
def test_an_answer_of_another_kind_is_refused(answer, hint):
    right, said = check_3.verdict(answer)
    assert not right
    assert hint in said
