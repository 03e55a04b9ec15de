"""Exercises of notebook 1: the backward difference, a step for a fast function, a step to the side."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from exercises import Check, Hint, solutions
from exercises.probes import by_hand, close, called_by, needs_function, number

from autodiff import Dual, Value, cos, exp, sin, sqrt


@Check
def check_1(answer: Any) -> str:
    """Is answer(f, x, h) the backward difference? Common slips have a hint each."""
    needs_function(answer, "answer_1(f, x, h)")
    hints = [
        "",
        "That is the forward difference: it looks to the right of x.",
        "That is the central difference: it looks both ways.",
        "The sign is wrong: subtract the value on the left from the one on the right.",
        "That is the rise of f. Divide it by the run.",
        "From x - h to x the run is h, not 2h.",
        "Python divides first: put brackets around the difference.",
    ]
    possible = set(range(len(hints)))
    for f, x, h in ((lambda t: t**3, 2.0, 0.25), (math.exp, 1.0, 0.125)):
        probe = by_hand(f, "That calls the package. The formula is one line: write it yourself.")
        found = number(answer(probe, x, h))
        left, here, right = f(x - h), f(x), f(x + h)
        known = [(here - left) / h, (right - here) / h, (right - left) / (2 * h)]
        known += [(left - here) / h, here - left, (here - left) / (2 * h), here - left / h]
        possible &= {i for i, value in enumerate(known) if close(found, value)}
    if not possible:
        raise Hint("Not yet: take f at x and at x - h, nothing else, and divide by the step.")
    if 0 not in possible:
        raise Hint(hints[min(possible)])
    return "Right: what f gains from x - h to x, over the step between them."


def solution_1(f: Callable[[float], float], x: float, h: float) -> float:
    return (f(x) - f(x - h)) / h


def error_of_step(h: float) -> float:
    """The usual error of a central difference of sin(10,000 x) near 0.0001."""
    x = np.linspace(0.5e-4, 1.5e-4, 101)
    rise = np.sin(1e4 * (x + h)) - np.sin(1e4 * (x - h))
    return float(np.median(abs(rise / (2 * h) - 1e4 * np.cos(1e4 * x))))


@Check
def check_2(answer: Any) -> str:
    """Is it a good step for the central difference of sin(10,000 x)?"""
    h = number(answer)
    if isinstance(answer, bool) or not 0 < h < math.inf:
        raise Hint("A step is a positive number.")
    if error_of_step(h) <= 5 * min(map(error_of_step, np.logspace(-11, -8, 61))):
        return "Right: a function that changes faster wants a smaller step."
    if 3e-6 < h < 1.2e-5:
        raise Hint(
            "That is the plain cube root of ε, which suits a third derivative of about 1. "
            "Here it is about 10¹², so truncation dominates."
        )
    if 0.01 < h < 1:
        raise Hint("Scaled the wrong way: a fast function needs a small step.")
    if h > 1e-9:
        raise Hint("Too large: truncation dominates, and a smaller step does better.")
    if h < 1e-16:
        raise Hint("Far too small: think of the left-hand end of the valley.")
    raise Hint("Too small: round-off dominates, and a larger step does better.")


def solution_2() -> float:
    # |f| is about 1 and |f'''| about 10,000³ = 10¹², so the rule says ∛(ε |f| / |f'''|)
    return float((np.finfo(float).eps * 1 / 1e12) ** (1 / 3))


def wild(x: Any) -> Any:
    """The example of Martins, Sturdza and Alonso (2003)."""
    return exp(x) / sqrt(sin(x) ** 3 + cos(x) ** 3)


# function, x, its derivative there (to 16 digits, by sympy)
SIDEWAYS = [
    (wild, 1.5, 4.053427893898621),
    (lambda x: x**3, 2.0, 12.0),
    (lambda x: x * sin(x), 0.5, 0.9182168195493894),
]


@Check
def check_3(answer: Any) -> str:
    """Does answer(g, x) find derivatives by a step to the side?"""
    needs_function(answer, "answer_3(g, x)")
    for g, x, expected in SIDEWAYS:
        points: list[Any] = []

        def probe(at: Any) -> Any:
            points.append(at)
            if called_by() or isinstance(at, (Value, Dual)):
                raise Hint("That calls the package. The formula is one line: write it yourself.")
            return g(at)

        judge_sideways(number(answer(probe, x)), g(x), expected, points)
    return "Right, to 13 digits or more: nothing subtracted, nothing lost."


def judge_sideways(found: float, value: float, expected: float, points: list[Any]) -> None:
    """Raise the hint that suits one result of answer 3, if it needs one."""
    if not points:
        raise Hint("Your answer never calls g. Call it once, a small step to the side of x.")
    if not any(np.iscomplexobj(at) for at in points):
        if found == 0:
            raise Hint("Zero: a real step that small is lost in x. Make it imaginary: x + 1e-20j.")
        if close(found, expected, 1e-3):
            raise Hint("Close, but a difference loses digits. Make the step imaginary: x + 1e-20j.")
        raise Hint("g was only asked about real numbers. Step to the side, to x + 1e-20j.")
    if close(found, expected, 1e-13):
        return
    if close(found, value):
        raise Hint("That is g itself, the real part. Take the other one.")
    if close(found, -expected, 1e-4):
        raise Hint("The sign is wrong.")
    if close(found, expected, 1e-2):
        raise Hint("Close: the step is too large. Nothing cancels here, so take 1e-20.")
    if abs(found) < 1e-3 * abs(expected):
        raise Hint("Nearly: that looks like h times the derivative. Divide by h.")
    raise Hint("Not yet: take the imaginary part of g(x + ih), and divide it by h.")


def solution_3(g: Callable[[complex], complex], x: float) -> float:
    h = 1e-20
    return g(x + h * 1j).imag / h


solution = solutions(globals())
