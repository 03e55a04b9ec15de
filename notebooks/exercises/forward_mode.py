"""Exercises of notebook 3: a rule for dual numbers, a second derivative, forward or reverse."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from autodiff import Dual, errors, jvp, log, sin
from exercises import Check, Hint, solutions, unfilled
from exercises.probes import called_by, close, needs_function, number, without_the_package


class Pair:
    """The dual number of notebook 3, with its operators: an answer may square a Pair."""

    def __init__(self, primal: float, tangent: Any = 0.0) -> None:
        self.primal, self.tangent = primal, tangent

    def __add__(self, other: "Pair") -> "Pair":
        return Pair(self.primal + other.primal, self.tangent + other.tangent)

    def __sub__(self, other: "Pair") -> "Pair":
        return Pair(self.primal - other.primal, self.tangent - other.tangent)

    def __mul__(self, other: "Pair") -> "Pair":
        tangent = self.tangent * other.primal + self.primal * other.tangent
        return Pair(self.primal * other.primal, tangent)

    def __truediv__(self, other: "Pair") -> "Pair":
        quotient = self.primal / other.primal
        return Pair(quotient, (self.tangent - quotient * other.tangent) / other.primal)


TANGENTS = {  # of hypot at 3 + ε and 4 + 10ε, where 8.6 is right
    43.0: "Almost: a square root has a derivative too. Divide by something.",
    86.0: "That is the tangent of a² + b². The square root is still missing.",
    17.2: "Twice too much: the derivative of a square root has a 2 in its denominator.",
    4.3: "Half of it: both squares bring a factor 2, which cancels that 1/2.",
    0.6: "That is what the tangent of a contributes. b moves as well.",
    8.0: "That is what the tangent of b contributes. a moves as well.",
    0.1: "That is 1 / (2√u), the outer derivative. The inner one is missing.",
    1.4: "That is as if both tangents were 1. Use a.tangent and b.tangent.",
    11.0: "A sum of tangents is right for a + b. Here each has a factor of its own.",
    math.hypot(1.0, 10.0): "Tangents are combined linearly; take no square root of them.",
    6.8: "Each tangent goes with its own number: a with a, b with b.",
    0.0: "Zero: that number does not move. Use a.tangent and b.tangent.",
}


@Check
def check_1(answer: Any) -> str:
    """Does answer(a, b) return the dual number √(a² + b²)?"""
    needs_function(answer, "answer_1(a, b)")
    found = hypot_of(answer, 3.0, 4.0, 1.0, 10.0)
    if not close(found, 8.6):
        for wrong, hint in TANGENTS.items():
            if close(found, wrong):
                raise Hint(hint)
    for a, b, a_dot, b_dot in [(3, 4, 1, 10), (-5, 12, 2, 1), (8, -6, 0, 3), (6, 8, 1, 0)]:
        found = hypot_of(answer, a, b, a_dot, b_dot)
        right = (a * a_dot + b * b_dot) / math.hypot(a, b)
        if not close(found, right):
            raise Hint(
                f"At a = {a} + {a_dot}ε and b = {b} + {b_dot}ε the tangent should be {right:.6g}, "
                f"not {found:.6g}. The local derivatives are a/z and b/z."
            )
    return "Right: the local derivatives are a/z and b/z, and each meets its own tangent."


def hypot_of(answer: Callable[..., Any], a: float, b: float, a_dot: float, b_dot: float) -> float:
    """The tangent that the answer finds, if its primal is right; else a hint."""
    found = without_the_package(answer, Pair(a, a_dot), Pair(b, b_dot))
    if unfilled(found) or unfilled(getattr(found, "tangent", 0.0)):
        raise Hint(
            "Nothing here yet. Square it, z·z = a·a + b·b: what does the product rule say about "
            "the tangents of both sides?"
        )
    if not hasattr(found, "primal") or not hasattr(found, "tangent"):
        raise Hint(f"Expected a Pair, found {errors.a(found)}.")
    if not isinstance(found.primal, (int, float)) or not isinstance(found.tangent, (int, float)):
        raise Hint("Primal and tangent are plain numbers: use a.primal and a.tangent.")
    if not close(found.primal, math.hypot(a, b)):
        raise Hint(f"The primal should be {math.hypot(a, b):.6g}, not {found.primal:.6g}.")
    return float(found.tangent)


def solution_1(a: Pair, b: Pair) -> Pair:
    z = math.hypot(a.primal, b.primal)
    return Pair(z, (a.primal * a.tangent + b.primal * b.tangent) / z)


SLOPES = {  # found for x⁴ at 2, where 48 is right
    16.0: "That is the value of x⁴ at 2.",
    32.0: "That is the first derivative of x⁴ at 2. Once more!",
    1024.0: "That is the first derivative squared. Differentiate it instead.",
    4.0 * 32.0**3: "That is f'(f'(x)). Differentiate the function f', at x.",
}


@Check
def check_2(answer: Any) -> str:
    """Does answer(function, x) find a second derivative by one jvp inside another?"""
    needs_function(answer, "answer_2(function, x)")
    found, nested = second(answer, lambda x: x**4, 2.0)
    for wrong, hint in SLOPES.items():
        if close(found, wrong):
            raise Hint(hint)
    if not nested:
        raise Hint("No jvp runs inside another one. If you nudge x instead, you lose digits.")
    for text, function, x, right in [
        ("x**4", lambda x: x**4, 2.0, 48.0),
        ("x * log(x)", lambda x: x * log(x), 4.0, 0.25),
        ("x * sin(x)", lambda x: x * sin(x), 0.0, 2.0),
    ]:
        found, _ = second(answer, function, x)
        if not close(found, right):
            raise Hint(f"For {text} at {x} it gives {found!r}, but it should be {right}.")
    return "Right: 48 for x⁴ at 2. Each jvp has a level of its own, so the two nudges stay apart."


def second(answer: Any, function: Callable[[Any], Any], x: float) -> tuple[float, bool]:
    """What the answer finds with jvp alone, and whether it used one inside another; or a hint."""
    kinds: set[str] = set()

    def probe(x: Any) -> Any:
        kinds.add(kind_of_call(x))
        return function(x)

    found = answer(probe, x)
    if unfilled(found):
        raise Hint("Nothing here yet. by_jvp(function) is the first derivative: a function of x.")
    if isinstance(found, tuple):
        raise Hint("jvp returns a pair, the value and the derivative. Take its second entry.")
    if isinstance(found, Dual):
        raise Hint("That is a dual number. Take its tangent.")
    result = number(found)
    for kind, hint in WAYS.items():
        if kind in kinds:
            raise Hint(hint)
    if not kinds:
        raise Hint("It never calls the function: differentiate it, whatever it is.")
    return result, "nested" in kinds


WAYS = {
    "reverse": "That goes through reverse mode. Write it with jvp alone, one inside the other.",
    "other": "That leaves the work to another transform. Write it with one jvp inside another.",
    "made": "That makes a Dual by hand, and those all share one level. Let jvp make them.",
    "nudge": "That nudges x, which costs digits. Put one jvp inside another.",
}


def kind_of_call(x: Any) -> str:
    """How a function of one number is being differentiated, judged by what reaches it."""
    if called_by("_by_rows", "_by_columns", "hvp"):
        return "other"
    if called_by("_value_and_gradient", "_reverse"):
        return "reverse"
    if isinstance(x, Dual) and not called_by("jvp"):
        return "made"
    if called_by("finite_difference"):
        return "nudge"
    return "nested" if isinstance(x, Dual) and isinstance(x.primal, Dual) else "once"


def solution_2(function: Callable[[Any], Any], x: float) -> float:
    def first(x: Any) -> Any:
        return jvp(function, (x,), (1.0,))[1]

    return float(jvp(first, (x,), (1.0,))[1])


TASKS = {  # the mode with fewer passes, their number, the other mode's number
    "a": ("forward", 1, 300),
    "b": ("reverse", 1, 10_000),
    "c": ("reverse", 3, 40),
    "d": ("forward", 1, None),
}


@Check
def check_3(answer: Any) -> str:
    """Are mode and number of passes right in all four tasks?"""
    if not isinstance(answer, Mapping) or not answer.keys() >= TASKS.keys():
        raise Hint("Expected a dict with the keys 'a', 'b', 'c' and 'd'.")
    for key in TASKS:
        try:
            mode, count = answer[key]
        except (TypeError, ValueError):
            raise Hint(f"{key}: expected a pair, such as ('forward', 7).") from None
        judge_passes(key, mode, count)
    return (
        "Right. a: one input moves, and one pass gives its whole column. b: one result has one "
        "row, and one walk back gives it. c: three rows against 40 columns. d: one direction "
        "needs no Jacobian, Jv is a single jvp."
    )


def judge_passes(key: str, mode: Any, count: Any) -> None:
    """Raise the hint that suits the answer to one task, if it needs one."""
    best, fewest, others = TASKS[key]
    if mode not in ("forward", "reverse"):
        raise Hint(f"{key}: the mode is 'forward' or 'reverse'.")
    if (mode, count) == (best, fewest):
        return
    if key == "d":
        if mode == best:
            raise Hint("d: is all of J asked for, or its product with v?")
        raise Hint("d: one walk back gives a row, or a combination of rows. Which mode gives Jv?")
    if mode != best and count == others:
        raise Hint(f"{key}: that works, but the other mode needs fewer passes.")
    if mode != best:
        raise Hint(f"{key}: forward mode pays for inputs, reverse mode for results.")
    if count == others:
        raise Hint(f"{key}: the mode is right, but that is the count of the other one.")
    raise Hint(f"{key}: the mode is right. Count again: inputs for forward, results for reverse.")


def solution_3() -> dict[str, tuple[str, int]]:
    return {
        "a": ("forward", 1),  # one input
        "b": ("reverse", 1),  # one result
        "c": ("reverse", 3),  # three results against 40 inputs
        "d": ("forward", 1),  # one direction
    }


solution = solutions(globals())
