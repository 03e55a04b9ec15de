"""Exercises of notebook 2: the quotient rule, counting operations, which functions take a symbol."""

import math
import operator
from numbers import Real
from typing import Any

import autodiff
from autodiff import errors, grad
from exercises import Check, Hint, solutions, unfilled
from exercises.probes import integer, needs_function

ARITHMETIC = {"+": operator.add, "*": operator.mul, "/": operator.truediv}
POINTS = (0.5, 1.5)
OPERATORS = "A Node knows + - * / with another Node: for a number write Node(2), for b² b * b."


class Node:
    """A formula of notebook 2, "x", a number or an operation on other formulas."""

    def __init__(self, op: Any, *args: Any) -> None:
        self.op, self.args = op, args

    def __add__(self, other: Any) -> "Node":
        return Node("+", self, other)

    def __mul__(self, other: Any) -> "Node":
        return Node("*", self, other)

    def __truediv__(self, other: Any) -> "Node":
        return Node("/", self, other)

    def __sub__(self, other: Any) -> "Node":
        return self + Node(-1) * other


def derivative(e: Any) -> Any:
    """The formula for de/dx: the rules that the exercise needs."""
    match e.op, *e.args:
        case ["x"]:
            return Node(1)
        case [_]:
            return Node(0)
        case "+", a, b:
            return derivative(a) + derivative(b)
        case "*", a, b:
            return derivative(a) * b + a * derivative(b)
        case "sin", a:
            return Node("cos", a) * derivative(a)
    raise ValueError(f"no rule for {e.op}")


def value(e: Any, x: Any) -> Any:
    """The value of a formula at x, whether made of our nodes or the learner's."""
    if not hasattr(e, "op"):
        raise Hint(f"In a formula every part is a Node, and here is {e!r}. Write Node({e!r}).")
    if not e.args and e.op != "x" and not isinstance(e.op, Real):
        raise Hint(f'A leaf is "x" or a number, and here is {e.op!r}. Use a and b as they are.')
    if not e.args:
        return x if e.op == "x" else float(e.op)
    function = ARITHMETIC.get(e.op) or getattr(autodiff, str(e.op), None)
    if function is None:
        raise Hint(OPERATORS)
    return function(*[value(a, x) for a in e.args])


def quotient_of(answer: Any, a: Node, b: Node) -> Any:
    """What the answer returns for a / b, if that is a formula; else a hint."""
    try:
        found = answer(a, b)
    except TypeError as error:
        if "operand" not in str(error):
            raise
        raise Hint(OPERATORS) from None
    except ValueError as error:
        if "no rule for /" not in str(error):
            raise
        raise Hint("You ask `derivative` for the very rule that is missing: write it.") from None
    if unfilled(found):
        raise Hint("Nothing here yet: a formula made of a, b and their derivatives.")
    if not hasattr(found, "op"):
        raise Hint(f"Expected a formula, a Node, found {errors.a(found)}.")
    return found


def divides_first(found: Any) -> bool:
    """Whether a formula is N / b * b, which Python reads as (N / b) * b."""
    if found.op != "*" or found.args[0].op != "/":
        return False
    (_, divisor), factor = found.args[0].args, found.args[1]
    return same([value(divisor, at) for at in POINTS], factor)


@Check
def check_1(answer: Any) -> str:
    """Is answer(a, b) the derivative of a / b? Common slips have a hint each."""
    needs_function(answer, "answer_1(a, b)")
    x = Node("x")
    a, b = Node("sin", x), x * x + Node(3)
    found = quotient_of(answer, a, b)
    numbers = [value(found, at) for at in POINTS]
    da, db = derivative(a), derivative(b)
    if same(numbers, (da * b - a * db) / (b * b)):
        return "Right: the quotient rule, (a'b - ab') / b². It adds six operations, no more."
    if divides_first(found):
        raise Hint("Python works from left to right, N / b * b is (N / b) * b. Write N / (b * b).")
    for formula, hint in slips(a, b, da, db):
        if same(numbers, formula):
            raise Hint(hint)
    wanted = grad(lambda x: autodiff.sin(x) / (x * x + 3))(POINTS[0])
    raise Hint(
        f"For sin(x) / (x * x + 3) at {POINTS[0]} it gives {numbers[0]:.6f}, but `grad` gives "
        f"{wanted:.6f}. Try this: apply the product rule to a = (a/b) b, and solve for (a/b)'."
    )


def same(numbers: list[float], formula: Node) -> bool:
    """Whether a formula has these values at the points of the check."""
    return all(map(math.isclose, numbers, [value(formula, at) for at in POINTS]))


def slips(a: Node, b: Node, da: Node, db: Node) -> list[tuple[Node, str]]:
    """Common wrong rules, each with its hint."""
    return [
        (da / db, "That is the quotient of the derivatives, which is something else."),
        ((a * db - da * b) / (b * b), "Right but for the sign: a'b comes first."),
        ((da * b + a * db) / (b * b), "A minus, not a plus: as b grows, a/b shrinks."),
        ((da * b - a * db) / b, "Nearly: the denominator is b squared, b * b."),
        (da * b - a * db, "The numerator is right; now divide it by b * b."),
        (da * b - a * db / (b * b), "Python divides first: put brackets around the numerator."),
        (da * b + a * db, "That is the product rule. Apply it to a = (a/b) b."),
        (da / b, "That would do if b were constant: its derivative is missing."),
        ((da - db) / (b * b), "In the numerator, a' is multiplied by b, and b' by a."),
    ]


def solution_1(a: Node, b: Node) -> Node:
    return (derivative(a) * b - a * derivative(b)) / (b * b)


COUNTS = {
    40: "Very near: four for each squaring, but one of the squares is not needed. Which?",
    30: "Three new ones for each squaring; but the squares that they use count as well.",
    35: "Not 3.5 for each squaring: how many for the first, and how many for the second?",
    70: "Seven was for two squarings together, not for each.",
    10: "That is f itself: ten squarings. Its derivative needs more.",
    29: "That would be with the rule (yy)' = 2yy'. Ours writes y'y + yy'.",
    1023: "That is f, written out. Now f', each operation once.",
    11263: "That is f' as written. Count each distinct operation once.",
}


@Check
def check_2(answer: Any) -> str:
    """Is it the number of shared operations in the derivative of ten squarings?"""
    answer = integer(answer)
    if answer != 39:
        look = (
            "Look at the program of seven rows above: which rows are new if you square once more?"
        )
        raise Hint(COUNTS.get(answer, look))
    return (
        "Right: 3 for the first squaring, and 4 for every further one, 4n - 1 = 39. "
        "(Written out, it would be 11,263.)"
    )


def solution_2() -> int:
    # The first squaring, x·x, has the derivative 1·x + x·1: three operations.
    # Each further one adds y'·y, y·y', their sum, and y itself, which f' needs only now: four.
    return 3 + 9 * 4


LETTERS = 'Expected a string of letters out of a, b, c and d, such as "ac".'
QUESTIONS = {
    "a": "a: the sum has five terms, whatever x is. Does it ever ask x anything?",
    "b": "b: how does max find out which of the two is larger?",
    "c": "c: there is an `if`, but is its question about x?",
    "d": "d: who decides when the while loop ends?",
}


@Check
def check_3(answer: Any) -> str:
    """Does the answer name b and d, and nothing else?"""
    one_by_one = isinstance(answer, (list, tuple, set)) and all(isinstance(x, str) for x in answer)
    if not isinstance(answer, str) and not one_by_one:
        raise Hint(LETTERS)
    letters = set("".join(answer).lower()) - set(" ,")
    if not letters <= set("abcd"):
        raise Hint(LETTERS)
    wrong = letters ^ set("bd")
    if wrong:
        raise Hint("Not yet. " + QUESTIONS[min(wrong)])
    return "Right: only b and d ask about x itself. (max compares, though you see no `if`.)"


def solution_3() -> str:
    # a: no question at all.           b: max asks whether 1 - x > x.
    # c: asks about n, a plain number.  d: asks whether x > 1, round after round.
    return "bd"


solution = solutions(globals())
