"""Exercises of notebook 5: a stable rule, a rule to repair, and a gradient to predict."""

import math

from autodiff import check_gradients, grad, operation, softplus, tanh

from . import Check, Hint, solutions, unfilled
from .probes import real, refusing

BORROWED = "That lets the package differentiate. Write the derivative down yourself."


def close(found, right):
    return math.isclose(found, right, rel_tol=1e-9, abs_tol=1e-12)


def written_out(rule):
    """The rule, made to raise a hint if it lets the package differentiate."""

    def guarded(*inputs):
        found = refusing(rule, BORROWED, "transforms.py")(*inputs)
        if not isinstance(found, tuple) or len(found) != 2 or not callable(found[1]):
            raise Hint("Return a pair: the result, and the closure.")
        return found[0], refusing(found[1], BORROWED, "transforms.py")

    return guarded


# -- 1. A rule that does not overflow -------------------------------------------------------------


@Check
def check_1(answer):
    """The rule of ln cosh x, stable for large x."""
    rule = written_out(answer)
    value, closure = rule(0.5)
    if unfilled(value) or unfilled(closure(1.0)):
        raise Hint("Nothing here yet: return (the result, lambda grad: (grad * ...,)).")
    check_value(value)
    check_slope(closure)
    check_far_out(rule)
    check_in_between(rule)
    check_twice(answer)
    return "Right: stable at both ends, and the second derivative comes with it."


def check_value(value):
    right = math.log(math.cosh(0.5))
    hints = {
        math.cosh(0.5): "That is cosh x; take its logarithm.",
        right + math.log(2): "Off by ln 2: cosh is HALF of exp(x) + exp(-x).",
        right - math.log(2): "Off by ln 2, in the other direction.",
    }
    for wrong, text in hints.items():
        if close(value, wrong):
            raise Hint(text)
    if not close(value, right):
        raise Hint(f"At 0.5 the value is {right:.6f}; yours is {value:.6f}.")


def check_slope(closure):
    found, doubled = closure(1.0), closure(2.0)
    if not isinstance(found, tuple) or len(found) != 1:
        raise Hint("The closure returns a tuple of one message. Mind the comma: (message,)")
    slope, first, twice = math.tanh(0.5), found[0], doubled[0]
    if close(first, slope) and close(twice, first):
        raise Hint("Right if grad is 1, but grad is not used.")
    hints = {
        -slope: "The sign of the derivative is wrong: the derivative of cosh is +sinh.",
        1 / slope: "Upside down: sinh / cosh is tanh, not 1 / tanh.",
        1 / math.cosh(0.5): "The chain rule wants another factor: the derivative of cosh.",
        math.sinh(0.5): "That is the derivative of cosh; the logarithm adds a factor 1 / cosh.",
        1 - slope**2: "That is the second derivative; one order less.",
    }
    for wrong, text in hints.items():
        if close(first, wrong):
            raise Hint(text)
    if not close(first, slope) or not close(twice, 2 * slope):
        raise Hint(f"At 0.5, for grad = 1, the message should be {slope:.6f}, not {first:.6f}.")


def check_in_between(rule):
    for x in (-5.0, -0.5, 2.5, 5.0):
        value, closure = rule(x)
        (slope,) = closure(1.0)
        if not close(value, math.log(math.cosh(x))) or not close(slope, math.tanh(x)):
            raise Hint(
                f"Right at 0.5, but at {x} the value should be {math.log(math.cosh(x)):.6f} and\n"
                f"the derivative {math.tanh(x):.6f}; yours are {value:.6f} and {slope:.6f}."
            )


def check_far_out(rule):
    for x in (1000.0, -1000.0):
        try:
            value, closure = rule(x)
        except (OverflowError, ValueError):
            raise Hint(
                f"Right near 0, but the value fails at {x}. Use softplus and\n"
                "exp(x) + exp(-x) = exp(-x) * (1 + exp(2x))."
            ) from None
        try:
            (first,) = closure(1.0)
        except (OverflowError, ZeroDivisionError, ValueError):
            raise Hint(
                f"The value is stable, but the derivative fails at {x}.\n"
                "sinh x / cosh x has a name, and a function that never overflows."
            ) from None
        right = 1000.0 - math.log(2)
        if not close(value, right) or not close(first, x / 1000.0):
            raise Hint(
                f"At {x} the value should be {right:.4f} and the derivative {x / 1000.0};\n"
                f"yours are {value:.4f} and {first}."
            )


def check_twice(rule):
    try:
        second = grad(grad(operation(rule)))(0.5)
    except TypeError:
        raise Hint("Right for floats only: use functions of autodiff, not of math.") from None
    if not close(second, 1 - math.tanh(0.5) ** 2):
        raise Hint("Right once, but not twice: did you use float(), or .data?")


def solution_1(x):
    return softplus(2 * x) - x - math.log(2.0), lambda grad: (grad * tanh(x),)


# -- 2. A rule to mend ----------------------------------------------------------------------------


@Check
def check_2(answer):
    """The rule of p = xy / (x + y)."""
    rule = written_out(answer)
    if not close(rule(3.0, 6.0)[0], 2.0):
        raise Hint("Leave the result as it is, 2 at (3, 6). The closure is at fault.")
    one, ten = messages(rule, 1.0), messages(rule, 10.0)
    right, swapped = (4 / 9, 1 / 9), (1 / 9, 4 / 9)  # at (3, 6), where p = 2
    uses_grad = all(close(b, 10 * a) for a, b in zip(one, ten))
    if same(one, swapped) and not uses_grad:
        raise Hint(
            "Two faults. check_gradients(operation(answer_2), 3.0, 6.0) shows one: x and y differ\n"
            "there. The other shows inside a larger function, 10 * p, where grad is not 1."
        )
    if same(one, swapped):
        raise Hint(
            "One fault mended: grad is used. The other shows where x and y differ: a large\n"
            "resistance beside a small one hardly matters. Which one is p / x?"
        )
    if not same(one, right):
        raise Hint(
            f"At (3, 6), for grad = 1, the messages should be ({right[0]:.4f}, {right[1]:.4f});\n"
            f"yours are ({one[0]:.4f}, {one[1]:.4f})."
        )
    if not uses_grad:
        raise Hint(
            "The partial derivatives are right, but grad is not a factor, once, of each message:\n"
            "inside 10 * p the closure is given 10, and has to pass it on."
        )
    try:
        check_gradients(grad(operation(answer)), 3.0, 6.0)
    except (AssertionError, TypeError):
        raise Hint("Right once, but not twice: use operators on x, y and p only.") from None
    if not same(messages(rule, 1.0, 2.0, 0.5), ((0.4 / 2) ** 2, (0.4 / 0.5) ** 2)):
        raise Hint("Right at (3, 6), but not elsewhere.")
    return "Right. Check where nothing is symmetric, and inside a larger function."


def messages(rule, upstream, x=3.0, y=6.0):
    found = rule(x, y)[1](upstream)
    if unfilled(found):
        raise Hint("Nothing here yet: the closure returns a message for x and one for y.")
    if not isinstance(found, tuple) or len(found) != 2:
        raise Hint("The closure returns a tuple of two messages, for x and for y.")
    return found


def same(found, right):
    return all(close(a, b) for a, b in zip(found, right))


def solution_2(x, y):
    p = x * y / (x + y)
    return p, lambda grad: (grad * (p / x) ** 2, grad * (p / y) ** 2)


# -- 3. Two kinks at once -------------------------------------------------------------------------


@Check
def check_3(answer):
    """The gradient of max(x, y)·x + 3 relu(x - y) at (2, 2)."""
    try:
        found = tuple(map(real, answer))
    except (TypeError, ValueError):
        found = ()
    if len(found) != 2:
        raise Hint("Expected two numbers: (∂f/∂x, ∂f/∂y).")
    hints = {
        (4.0, 0.0): "You gave the whole tie to x. It is half each.",
        (2.0, 2.0): "You gave the whole tie to y. It is half each.",
        (4.0, 2.0): "You gave the tie to both, in full. Half each: the sum stays 1.",
        (2.0, 0.0): "You gave the tie to neither. Half each: the sum stays 1.",
        (6.0, -2.0): "You took 1 for the derivative of relu at 0; the page says 0.",
        (4.5, -0.5): "You took 1/2 for relu at 0, as a central difference does; the page says 0.",
        (1.0, 1.0): "A product has two terms: x also multiplies the maximum itself.",
        (1.0, 3.0): "The other way round: it is x that multiplies the maximum.",
    }
    if found != (3.0, 1.0):
        other = "No. Take max(x, y), its factor x, and relu one at a time."
        raise Hint(hints.get(found, other))
    return "Right: half the tie times x for each, the maximum itself for x, and nothing from relu."


def solution_3():
    tie = 0.5 * 2.0  # half of the maximum's slope, times its factor x
    return tie + 2.0, tie  # x also multiplies the maximum, 2; relu gives 0


solution = solutions(globals())
