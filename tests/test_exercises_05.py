"""Exercises of notebook 5: right answers are praised, each common wrong one gets its hint."""

import math

import pytest
from exercises.one_page_of_derivatives import (
    check_1,
    check_2,
    check_3,
    solution_1,
    solution_2,
    solution_3,
)

from autodiff import Value, check_gradients, cosh, exp, grad, log, operation, relu, softplus, tanh
from autodiff.functions import maximum


def rule(value, slope, scale=lambda grad: grad):
    """A rule of one number from its value and its derivative."""
    return lambda x: (value(x), lambda grad: (scale(grad) * slope(x),))


def stable(x):
    return softplus(2 * x) - x - math.log(2.0)


def by_abs(x):
    return abs(x) + softplus(-2 * abs(x)) - math.log(2.0), lambda grad: (tanh(x) * grad,)


def by_quotient(x, y):
    p = x * y / (x + y)
    return p, lambda grad: (grad * y * y / (x + y) ** 2, grad * x * x / (x + y) ** 2)


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_1, solution_1),
        (check_1, by_abs),
        (check_2, solution_2),
        (check_2, by_quotient),
        (check_3, solution_3()),
        (check_3, [3, 1]),
    ],
)
def test_right_answers_are_praised(check, answer):
    right, said = check.verdict(answer)
    assert right, said
    assert said.startswith("Right")


def parallel(closure):
    """A rule for exercise 2: closure gets grad, x, y and p."""

    def answer(x, y):
        p = x * y / (x + y)
        return p, lambda grad: closure(grad, x, y, p)

    return answer


def stub(x, y):
    p = x * y / (x + y)
    return p, lambda grad: ((p / y) ** 2, (p / x) ** 2)


def fails_far_out(x):
    return stable(x), lambda grad: (grad * math.sinh(x) / math.cosh(x),)


def by_math(x):
    slope = math.tanh(float(x))
    return stable(x), lambda grad: (grad * slope,)


def by_data(x):
    slope = tanh(x.data if isinstance(x, Value) else x)
    return stable(x), lambda grad: (grad * slope,)


def at_this_point(x, y):
    return x * y / (x + y), lambda grad: (grad * 4 / 9, grad * 1 / 9)


NOTHING = "Nothing here yet"
WRONG = [
    (check_1, ..., NOTHING),
    (check_1, lambda x: (..., lambda grad: (...,)), NOTHING),
    (check_1, lambda x: (stable(x), lambda grad: (...,)), NOTHING),
    (check_1, lambda x: (stable(x), lambda grad: ...), NOTHING),
    (check_1, lambda x: stable(x), "Return a pair"),
    (check_1, lambda x: None, "Return a pair"),
    (check_1, lambda x: (stable(x), tanh(x)), "Return a pair"),
    (check_1, lambda x: (stable(x), lambda grad: grad * tanh(x)), "Mind the comma"),
    (check_1, rule(cosh, tanh), "its logarithm"),
    (check_1, rule(lambda x: log(exp(x) + exp(-x)), tanh), "HALF"),
    (check_1, rule(lambda x: stable(x) - math.log(2), tanh), "other direction"),
    (check_1, rule(lambda x: x, tanh), "At 0.5 the value is"),
    (check_1, rule(stable, tanh, lambda grad: 1.0), "grad is not used"),
    (check_1, rule(stable, lambda x: -tanh(x)), "sign"),
    (check_1, rule(stable, lambda x: 1 / tanh(x)), "Upside down"),
    (check_1, rule(stable, lambda x: 1 / cosh(x)), "another factor"),
    (check_1, rule(stable, math.sinh), "factor 1 / cosh"),
    (check_1, rule(stable, lambda x: 1 - tanh(x) ** 2), "second derivative"),
    (check_1, rule(stable, lambda x: math.tanh(0.5)), "At 1000.0"),
    (check_1, rule(stable, lambda x: 0.3), "the message should be 0.462117"),
    (check_1, rule(lambda x: log(cosh(x)), tanh), "value fails at 1000.0"),
    (check_1, fails_far_out, "derivative fails at 1000.0"),
    (check_1, by_math, "functions of autodiff"),
    (check_1, by_data, "not twice"),
    (check_1, rule(stable, grad(stable)), "lets the package differentiate"),
    (check_1, lambda x: 1 / 0, "Your code raises ZeroDivisionError"),
    (check_2, stub, "Two faults"),
    (check_2, parallel(lambda grad, x, y, p: (grad * (p / y) ** 2, grad * (p / x) ** 2)), "One fault mended"),
    (check_2, parallel(lambda grad, x, y, p: ((p / x) ** 2, (p / y) ** 2)), "has to pass it on"),
    (check_2, parallel(lambda grad, x, y, p: ((grad * p / x) ** 2, (grad * p / y) ** 2)), "once, of each"),
    (check_2, parallel(lambda grad, x, y, p: (grad * (p / x) ** 2, (p / y) ** 2)), "once, of each"),
    (check_2, parallel(lambda grad, x, y, p: (grad * p / x, grad * p / y)), "should be (0.4444, 0.1111)"),
    (check_2, parallel(lambda grad, x, y, p: ...), NOTHING),
    (check_2, parallel(lambda grad, x, y, p: (grad,)), "tuple of two messages"),
    (check_2, lambda x, y: (x + y, lambda grad: (grad, grad)), "Leave the result"),
    (check_2, lambda x, y: None, "Return a pair"),
    (check_2, parallel(lambda grad, x, y, p: (grad * (float(p) / float(x)) ** 2, grad * (float(p) / float(y)) ** 2)), "not twice"),
    (check_2, lambda x, y: (x * y / (x + y), lambda grad: tuple(grad * g for g in _gradient(x, y))), "lets the package differentiate"),
    (check_2, at_this_point, "not elsewhere"),
    (check_2, ..., NOTHING),
    (check_3, (..., ...), NOTHING),
    (check_3, None, NOTHING),
    (check_3, 3.0, "Expected two numbers"),
    (check_3, (1, 2, 3), "Expected two numbers"),
    (check_3, ("a", "b"), "Expected two numbers"),
    (check_3, (4.0, 0.0), "whole tie to x"),
    (check_3, (2.0, 2.0), "whole tie to y"),
    (check_3, (4.0, 2.0), "in full"),
    (check_3, (2.0, 0.0), "neither"),
    (check_3, (6.0, -2.0), "relu at 0; the page says 0"),
    (check_3, (4.5, -0.5), "central difference"),
    (check_3, (1.0, 1.0), "two terms"),
    (check_3, (1.0, 3.0), "other way round"),
    (check_3, (9.0, 9.0), "one at a time"),
]  # fmt: skip


def _gradient(x, y):
    return grad(lambda x, y: x * y / (x + y), argnums=(0, 1))(x, y)


@pytest.mark.parametrize(("check", "answer", "hint"), WRONG)
def test_each_wrong_answer_gets_its_hint(check, answer, hint):
    right, said = check.verdict(answer)
    assert not right
    assert hint in said


def test_the_rule_to_mend_passes_where_everything_is_symmetric():
    check_gradients(operation(stub), 3.0, 3.0)
    with pytest.raises(AssertionError):
        check_gradients(operation(stub), 3.0, 6.0)


def test_the_prediction_is_what_the_package_says():
    f = lambda x, y: maximum(x, y) * x + 3 * relu(x - y)  # noqa: E731
    assert grad(f, argnums=(0, 1))(2.0, 2.0) == solution_3()


def flat_from_2_on(x):
    return solution_1(x) if abs(x) < 2 else (abs(x) - math.log(2.0), solution_1(x)[1])


def slope_of_one(x):
    return solution_1(x)[0], lambda grad: (grad * (tanh(x) if abs(x) < 2 else x / abs(x)),)


def straight_on_the_left(x):
    return solution_1(x) if x > 0 else (-x - math.log(2.0), lambda grad: (-grad,))


@pytest.mark.parametrize("answer", [flat_from_2_on, slope_of_one, straight_on_the_left])
def test_a_rule_has_to_hold_in_between(answer):
    right, text = check_1.verdict(answer)
    assert not right
    assert "Right at 0.5, but" in text


@pytest.mark.parametrize("answer", ["31", ("3", "1")])
def test_numbers_in_quotes_are_no_numbers(answer):
    right, text = check_3.verdict(answer)
    assert not right
    assert "Expected two numbers" in text
