# pyright: analyzeUnannotatedFunctions=false
"""Notebook 3: a dial for the direction, passes counted; its guesses and exercises."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from autodiff import Dual as Pair
from autodiff import jvp, log, operation, sin

from .verdicts import Exercise, Hint, a, after_your_guess, empty, guesses, number, solutions

predict = guesses(
    {
        32: "Right: the derivative of x⁴ is 4x³, and at 2 that is 32.",
        16: "That is the value of x⁴, which stands before the point.",
        ...: "In x³ it was the derivative, 12. What is the derivative of x⁴ at 2?",
    },
    {
        4: "Right: x₁ from the product, and 1 from the sum.",
        3: "That is the product alone. x₂ is used once more.",
        ...: "x₂ is used twice, in the product and in the sum.",
    },
    {
        (4.65, 4.75): "Right: 0.6 times the one, and 0.8 times the other.",
        ...: "The inputs move at 0.6 and 0.8. What does each bring to y?",
    },
    {
        2: "Right, and it is wrong! Where does the 2 come from?",
        1: "So says calculus, and so should our pairs. Run the next cell.",
        ...: "Run the next cell, and be surprised.",
    },
)


def moved(answer, a_and_tangent, b_and_tangent):
    found = answer(Pair(*a_and_tangent), Pair(*b_and_tangent))
    if not hasattr(found, "tangent"):
        raise Hint(f"Expected a Pair, found {a(found)}.")
    yield "the primal", found.primal
    yield "the tangent", found.tangent


def solution_1(a, b):
    z = math.hypot(a.primal, b.primal)
    return Pair(z, (a.primal * a.tangent + b.primal * b.tangent) / z)


check_1 = Exercise(
    solution_1,
    ask=moved,
    at={
        f"a = {a[0]} + {a[1]}ε and b = {b[0]} + {b[1]}ε": (a, b)
        for a, b in [((3, 1), (4, 10)), ((-5, 2), (12, 1)), ((8, 0), (-6, 3)), ((6, 1), (8, 0))]
    },
    praise="Right: the local derivatives are a/z and b/z, and each meets its own tangent.",
    otherwise="Square it: what are the tangents of z·z and of a·a + b·b?",
    slips={
        "Almost: a square root has a derivative too. Divide by something.": "/ z → ",
        "Twice too much: the derivative of a root has a 2 in its denominator.": "/ z → / z * 2",
        "That is what the tangent of a contributes. b moves as well.": "+ b.primal * b.tangent →",
        "That is right for a + b. Here each has a factor.": "a.primal * →\nb.primal * →\n/ z →",
        "Zero: that number does not move.": "Pair(math.hypot(a.primal, b.primal))",
    },
)


class Tagged(NamedTuple):
    """primal + tangent ε, with the ε of the derivative that has this tag."""

    primal: Any
    tangent: Any
    tag: int


def seen(split, x, tag):
    found = split(x, tag)
    if type(found) is not tuple or len(found) != 2:
        raise Hint("Return two things: the primal, and the tangent.")
    yield from zip(("the primal", "the tangent"), found)


def solution_2(x, tag):
    if isinstance(x, Tagged) and x.tag == tag:
        return x.primal, x.tangent
    return x, 0.0


X = Tagged(3.0, 1.0, 1)  # of the outer derivative

check_2 = Exercise(
    solution_2,
    ask=seen,
    at={
        "a pair of this tag": (Tagged(X, 5.0, 2), 2),
        "a pair of another tag": (X, 2),
        "a number": (4.0, 2),
    },
    praise="Right: what has no ε of this tag stays whole, and stands still.",
    slips={
        "{at} {part} should be {expected}: to this derivative it is a constant, whole and still.": [
            "(x.primal, x.tangent) if isinstance(x, Tagged) else (x, 0.0)",
            "return x, 0.0 → return getattr(x, 'primal', x), 0.0",
        ],
    },
)


def modes(answer):
    if not isinstance(answer, Mapping):
        raise Hint(f"Expected a dict with the keys 'a', 'b', 'c' and 'd', found {a(answer)}.")
    for key in "abcd":
        task = answer.get(key, ...)
        if empty(task):
            yield key, ...
            continue
        try:
            mode, count = task
            mode, count = mode.strip().lower(), number(count)
            {"forward", "reverse"}.remove(mode)
        except (TypeError, ValueError, AttributeError, KeyError, Hint):
            raise Hint(f"{key}: expected a pair, such as ('forward', 7).") from None
        yield key, f"{mode} {count:g}"


def solution_3():
    return {
        "a": ("forward", 1),  # one input
        "b": ("reverse", 1),  # one result
        "c": ("reverse", 3),  # three results against 40 inputs
        "d": ("forward", 1),  # one direction
    }


check_3 = Exercise(
    solution_3(),
    ask=modes,
    praise="Right: one input, one result, three results against 40 inputs, one direction.",
    otherwise=lambda key, _: f"{key}: forward mode pays for inputs, reverse mode for results.",
    slips={
        "d: one walk back gives a row. Which mode gives Jv?": {"d": ("reverse", 1)},
        "{part}: that works, but the other mode needs fewer passes.": [
            {"a": ("reverse", 300)},
            {"b": ("forward", 10_000)},
            {"c": ("forward", 40)},
        ],
    },
)


def dial():
    """The graph of y = ln x₁ + x₁x₂ − sin x₂ at (2, 5), its tangents, and a dial for the direction."""
    from autodiff.pictures.pages import lesson

    return lesson("dial", {"title": "Tangents, and a dial for the direction"})


def passes(jacobian, function, x):
    """How many passes jacobian(function)(x) takes, if x or the result is one number."""
    used = []  # noted by an operation that the one number goes through

    @operation
    def gate(x):
        return x, lambda grad: used.append(1) or (grad,)

    jacobian(lambda x: gate(function(x)) if isinstance(x, list) else function(gate(x)))(x)
    return len(used)


solution = solutions(globals())
