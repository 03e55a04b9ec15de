# pyright: analyzeUnannotatedFunctions=false
"""Notebook 2: a tree that folds; its guesses and exercises."""

import inspect
import math
import operator
from functools import cache

from .verdicts import Exercise, Hint, after_your_guess, edits, expect, guesses, number, solutions

predict = guesses("""
    1. 7: Right: the square and its derivative stand there twice. Watch them meet.
       11: That is as it is written. Which parts stand there twice?
       9: 1 and x are no operations: they are read, not computed.
       5: 1·x and x·1 are equal, but not written alike: here they count as two.
       else: Which parts stand there twice? Count each once.
    2. 5500 to 8200: Right, or nearly: you will see.
       0 to 5499: By what factor does the last number differ from the one before?
       else: Too much: by what factor does the last number differ from the one before?
    3. 389: Right: 12, and 13 more for each of 29 rounds.
       402: Nearly: 12 are there after the first round already.
       390: Nearly: the first round takes one less.
       else: In the table, the first round takes 12 shared operations. And each further one?
""")

ARITHMETIC = {"+": operator.add, "*": operator.mul, "/": operator.truediv, "**": operator.pow}


def node(op, *args):
    return made(op, *[x if hasattr(x, "op") else made(x) for x in args])


@cache
def made(op, *args):
    return Node(op, args)


class Node:
    """A formula, as on the page."""

    def __init__(self, op, args):
        self.op, self.args = op, args

    def __repr__(self):
        first, *others = map(str, self.args or [self.op])
        if others:
            return f"({first} {self.op} {others[0]})"
        return f"{self.op}({first})" if self.args else first

    __add__, __radd__ = lambda a, b: node("+", a, b), lambda a, b: node("+", b, a)
    __mul__, __rmul__ = lambda a, b: node("*", a, b), lambda a, b: node("*", b, a)
    __truediv__, __rtruediv__ = lambda a, b: node("/", a, b), lambda a, b: node("/", b, a)
    __sub__, __rsub__ = lambda a, b: a + -b, lambda a, b: b + -a
    __neg__, __pos__ = lambda a: -1 * a, lambda a: a


X = node("x")


def value(e, x):
    """The value of a formula at x, whether made of our nodes or the learner's."""
    expect(hasattr(e, "op"), "a formula, made by node", e)
    inputs = [value(each, x) for each in e.args]
    if not inputs:
        return x if e.op == "x" else float(e.op)
    if e.op == "-":
        return inputs[0] - inputs[1] if inputs[1:] else -inputs[0]
    function = ARITHMETIC.get(e.op) or getattr(math, str(e.op), None)
    if function is None:
        raise Hint(f"There is no operation {e.op!r}: the names here are + - * / exp sin cos.")
    return function(*inputs)


def solution_1(e):
    match e.op, *e.args:
        case [leaf]:
            return node(1 if leaf == "x" else 0)
        case "+", a, b:
            return derivative(a) + derivative(b)
        case "*", a, b:
            return derivative(a) * b + a * derivative(b)
        case "exp", a:
            return e * derivative(a)
        case "sin", a:
            return node("cos", a) * derivative(a)
        case "cos", a:
            return -1 * node("sin", a) * derivative(a)
        case "/", a, b:
            return solution_2(a, b)
    raise ValueError(f"no rule for {e.op}")


derivative = cache(solution_1)


def slopes(answer, x):
    """The derivatives of formulas of which each needs one rule more."""
    answer = inspect.unwrap(answer)
    for formula in (X + 3, X * X, X * X + X, (X * X + 2) * (X * 3), node("exp", X), node("exp", X * X),
                    node("sin", X), node("sin", X * X), X * node("cos", 2 * X)):  # fmt: skip
        try:
            slope = answer(formula)
        except TypeError as error:
            if "ellipsis" not in str(error).lower():
                raise
            slope = ...
        yield f"d/dx {formula}", slope if slope is ... or slope is None else value(slope, x)


check_1 = Exercise(
    solution_1,
    ask=slopes,
    at=[(0.75,), (-1.25,)],
    praise="Right: every rule, and the chain through exp and sin.",
    otherwise="Say the rule aloud: what does each part contribute as x moves?",
    slips="""
        The derivative of a sum is the sum of the derivatives.
            + derivative(b) →
            derivative(a) + →
            derivative(a) + derivative(b) → node(1)
        A product is not differentiated factor by factor: one factor moves while the other
        stays.
            * b + a * → *
        Both factors move: this is the term of one of them.
            + a * derivative(b) →
            derivative(a) * b + →
        The two terms of a product add.
            b + a * → b - a *
        exp is its own derivative, and its argument moves too: the chain rule has a second
        factor.
            e * derivative(a) → e
        That is the rule of a power, where the exponent stands still. Here it moves: exp is its
        own derivative.
            → a * node("exp", a - 1)
            → a * node("exp", a - 1) * derivative(a)
        The chain rule multiplies by the derivative of the argument, not by the argument.
            → e * a
            node("cos", a) * derivative(a) → node("cos", a) * a
        The derivative of sin(a) is cos(a), times how fast a moves.
            → node("cos", a)
            → node("cos", X) * derivative(a)
            → node("cos", derivative(a))
        The derivative of the sine is the cosine, without a minus.
            return node("cos" → return -1 * node("cos"
    """,
)

A, B = X * X, 3 * X + 1


def solution_2(a, b):
    return (derivative(a) * b - a * derivative(b)) / (b * b)


def of_quotient(answer, x):
    try:
        return value(answer(A, B), x)
    except RecursionError:
        raise Hint("You ask `derivative` for the very rule that is missing: write it.") from None


check_2 = Exercise(
    solution_2,
    ask=of_quotient,
    at={"x = 0.5, for (x * x) / (3 * x + 1),": (0.5,), "x = 1.5": (1.5,)},
    praise="Right: the quotient rule.",
    otherwise="If y = a/b, then a = y b. Apply the product rule to that, and solve for y'.",
    slips=edits("""
        A minus, not a plus: as b grows, a/b shrinks.
            b - a → b + a
        The sign is wrong: as a grows, so does a/b.
            return ( → return -(
        Nearly: the denominator is b squared, b * b.
            (b * b) → b
            / (b * b) →
        Python divides first: put brackets around the numerator.
            (deriv → deriv; (b)) → (b)
        A Node knows + - * / and nothing more: for b² write b * b.
            (b * b) → b**2
    """)
    | {"That is the quotient of the derivatives.": lambda a, b: derivative(a) / derivative(b)},
)


def solution_3():
    # The first squaring, x·x, has the derivative 1·x + x·1: three operations.
    # Each further one adds y'·y, y·y', their sum, and y itself, which f' needs only now: four.
    return 3 + 9 * 4


check_3 = Exercise(
    solution_3(),
    ask=number,
    praise="Right: 3 for the first squaring, and 4 for every further one. (Written out: 11,263.)",
    otherwise="Which of the rows v2 to v8 of the folded tree are new if you square once more?",
    slips={
        "Very near: four for each squaring, but one of the squares is not needed. Which?": 40,
        "Three for each squaring; but the squares that they use count as well.": 30,
        "That is f' as written. Count each distinct operation once.": 11263,
    },
)


def letters(answer):
    given = answer if isinstance(answer, (str, list, tuple, set)) else "?"
    found = "".join(map(str, given)).lower().replace("and", "")
    if not set(found) <= set("abcd ,"):
        raise Hint('Expected a string of letters out of a, b, c and d, such as "ac".')
    for letter in "abcd":
        yield letter, letter in found


def solution_4():
    # a: no question at all.           b: max asks whether 1 - x > x.
    # c: asks about n, a plain number.  d: asks whether x > 1, round after round.
    return "bd"


check_4 = Exercise(
    solution_4(),
    ask=letters,
    praise="Right: only b and d ask about x itself. (max compares, though you see no `if`.)",
    slips={
        "Not yet. a: the sum has five terms, whatever x is. Does it ever ask x anything?": "abd",
        "Not yet. b: how does max find out which of the two is larger?": "d",
        "Not yet. c: there is an `if`, but is its question about x?": "bcd",
        "Not yet. d: who decides when the while loop ends?": "b",
    },
)


def fold(e):
    """A page on which the tree of a formula folds into its graph, row by row."""
    from autodiff.pages.page import lesson

    def tree(e):
        return [str(e.op), *map(tree, e.args)]

    return lesson("fold", {"title": f"The tree of {e!r}, which folds", "tree": tree(e)})


solution = solutions(globals())
