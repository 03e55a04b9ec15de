# pyright: analyzeUnannotatedFunctions=false
"""Notebook 2: a tree that folds; its guesses and exercises."""

import operator
from functools import cache

from .verdicts import Exercise, Hint, a, after_your_guess, guesses, number, solutions

predict = guesses(
    {
        (4378, 6840): "Right, or nearly: there are 5,472. And 13,824 for n = 8.",
        (0, 4377): "It more than doubles from row to row.",
        ...: "Look at the last steps: by what factor does it grow from row to row?",
    },
    {
        7: "Right: v2 to v8. The square and its derivative stand there twice.",
        11: "That is as it is written. Which parts stand there twice?",
        9: "1 and x are no operations: they are read, not computed.",
        ...: "Which parts stand there twice? Count each once.",
    },
)

ARITHMETIC = {"+": operator.add, "*": operator.mul, "/": operator.truediv}
OPERATORS = "A Node knows + - * / and nothing more: for b² write b * b, for minus a -1 * a."


@cache  # equal formulas are one object
class Node:
    """A formula: "x", a number, or an operation on other formulas."""

    def __init__(self, op, *args):
        self.op = op
        self.args = [each if hasattr(each, "op") else Node(each) for each in args]

    def __repr__(self):
        if len(self.args) == 2:
            return f"({self.args[0]} {self.op} {self.args[1]})"
        return f"{self.op}({self.args[0]})" if self.args else str(self.op)

    def __add__(self, other):
        return Node("+", self, other)

    def __mul__(self, other):
        return Node("*", self, other)

    def __truediv__(self, other):
        return Node("/", self, other)

    def __rmul__(self, other):
        return Node("*", other, self)

    def __sub__(self, other):
        return self + Node("*", -1, other)

    def __rsub__(self, other):
        return Node(other) - self

    __radd__ = __add__


def derivative(e):
    """The formula for de/dx: the rules that the exercise needs."""
    match e.op, *e.args:
        case [leaf]:
            return Node(int(leaf == "x"))
        case "+", a, b:
            return derivative(a) + derivative(b)
        case "*", a, b:
            return derivative(a) * b + a * derivative(b)
    raise ValueError(f"no rule for {e.op}")


def value(e, x):
    """The value of a formula at x, whether made of our nodes or the learner's."""
    if not hasattr(e, "op"):
        raise Hint(f"Return a formula, a Node: found {a(e)}.")
    if not e.args:
        return x if e.op == "x" else float(e.op)
    if e.op not in ARITHMETIC:
        raise Hint(OPERATORS)
    return ARITHMETIC[e.op](*[value(each, x) for each in e.args])


A, B = Node("x") * Node("x"), Node("x") + Node(3)


def solution_1(a, b):
    return (derivative(a) * b - a * derivative(b)) / (b * b)


check_1 = Exercise(
    solution_1,
    ask=lambda answer, x: value(answer(A, B), x),
    at={"x = 0.5, for (x * x) / (x + 3),": (0.5,), "x = 1.5": (1.5,)},
    praise="Right: the quotient rule.",
    otherwise="Apply the product rule to a = (a/b) b, and solve for (a/b)'.",
    slips={
        "That is the quotient of the derivatives.": "derivative(a) / derivative(b)",
        "A minus, not a plus: as b grows, a/b shrinks.": "- → +",
        "The sign is wrong: as a grows, so does a/b.": "(derivative(a) * b - a * deriv → (a * derivative(b) - b * deriv\n(b)) → (a))",
        "Nearly: the denominator is b squared, b * b.": ["/ (b * b) → / b", "/ (b * b) →"],
        "Python divides first: put brackets around the numerator.": "(deriv → deriv\n(b)) → (b)",
        "You ask `derivative` for the very rule that is missing: write it.": "derivative(a / b)",
        OPERATORS: ["/ (b * b) → / b**2", "-derivative(a)"],
    },
)


def solution_2():
    # The first squaring, x·x, has the derivative 1·x + x·1: three operations.
    # Each further one adds y'·y, y·y', their sum, and y itself, which f' needs only now: four.
    return 3 + 9 * 4


check_2 = Exercise(
    solution_2(),
    ask=number,
    praise="Right: 3 for the first squaring, and 4 for every further one. (Written out: 11,263.)",
    otherwise="Look at the program above, of seven operations: which are new if you square once more?",
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


def solution_3():
    # a: no question at all.           b: max asks whether 1 - x > x.
    # c: asks about n, a plain number.  d: asks whether x > 1, round after round.
    return "bd"


check_3 = Exercise(
    solution_3(),
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
    from autodiff.pictures.pages import lesson

    def tree(e):
        return [str(e.op), *map(tree, e.args)]

    return lesson("fold", {"title": f"The tree of {e!r}, which folds", "tree": tree(e)})


solution = solutions(globals())
