# pyright: analyzeUnannotatedFunctions=false
"""Notebook 2: how derivatives swell; and its exercises."""

import operator
from collections.abc import Mapping, Sequence
from numbers import Real

import autodiff

from . import figures
from .figures import BLUE, ORANGE
from .figures import graph_of as graph_of
from .figures import look as look
from .verdicts import Exercise, Hint, a, integer, solutions

# -- 1. The quotient rule -------------------------------------------------------------------------

ARITHMETIC = {"+": operator.add, "*": operator.mul, "/": operator.truediv}
OPERATORS = "A Node knows + - * / with another Node: for a number write Node(2), for b² b * b."


class Node:
    """A formula of notebook 2, "x", a number or an operation on other formulas."""

    def __init__(self, op, *args):
        self.op, self.args = op, args

    def __add__(self, other):
        return Node("+", self, other)

    def __mul__(self, other):
        return Node("*", self, other)

    def __truediv__(self, other):
        return Node("/", self, other)

    def __sub__(self, other):
        return self + Node(-1) * other


def derivative(e):
    """The formula for de/dx: the rules that the exercise needs."""
    match e.op, *e.args:
        case [leaf]:
            return Node(int(leaf == "x"))
        case "+", a, b:
            return derivative(a) + derivative(b)
        case "*", a, b:
            return derivative(a) * b + a * derivative(b)
        case "sin", a:
            return Node("cos", a) * derivative(a)
    raise ValueError(f"no rule for {e.op}")


def value(e, x):
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
    return function(*[value(each, x) for each in e.args])


A, B = Node("sin", Node("x")), Node("x") * Node("x") + Node(3)


def quotient_at(answer, x):
    found = answer(A, B)
    if not hasattr(found, "op"):
        raise Hint(f"Expected a formula, a Node, found {a(found)}.")
    return value(found, x)


def formula(e):
    return (str(e.op), *map(formula, e.args))


def operations(e):
    """The distinct operations of a formula, by what they are made of."""
    found = set().union(*map(operations, e.args))
    return found | {formula(e)} if e.args else found


def praise_1(answer):
    known = operations(A) | operations(B) | operations(derivative(A)) | operations(derivative(B))
    found = len(operations(answer(A, B)) - known)
    fewer = "" if found <= 6 else " Six are enough: (a'b - ab') / b², with a minus for two."
    return (
        f"Right: the quotient rule. Yours adds {found} operations to those of a, b, a', b'.{fewer}"
    )


def solution_1(a, b):
    return (derivative(a) * b - a * derivative(b)) / (b * b)


check_1 = Exercise(
    solution_1,
    ask=quotient_at,
    at={"x = 0.5, for sin(x) / (x * x + 3),": (0.5,), "x = 1.5": (1.5,)},
    praise=praise_1,
    nothing="Nothing here yet: a formula made of a, b and their derivatives.",
    otherwise="Apply the product rule to a = (a/b) b, and solve for (a/b)'.",
    slips={
        "That is the quotient of the derivatives, which is something else.": (
            "derivative(a) / derivative(b)"
        ),
        "Right but for the sign: a'b comes first.": "derivative(a) * b - a * derivative(b) → "
        "a * derivative(b) - derivative(a) * b",
        "A minus, not a plus: as b grows, a/b shrinks.": "- → +",
        "Nearly: the denominator is b squared, b * b.": "/ (b * b) → / b",
        "That is the numerator. Divide it by (b * b), in brackets: N / b * b is (N / b) * b.": [
            "/ (b * b) → ",
            "/ (b * b) → / b * b",
        ],
        "Python divides first: put brackets around the numerator.": (
            "derivative(a) * b - a * derivative(b) / (b * b)"
        ),
        "That is the product rule. Apply it to a = (a/b) b.": (
            "derivative(a) * b + a * derivative(b)"
        ),
        "That would do if b were constant: its derivative is missing.": "derivative(a) / b",
        "In the numerator, a' is multiplied by b, and b' by a.": [
            "(derivative(a) - derivative(b)) / (b * b)",
            "(derivative(a) * a - b * derivative(b)) / (b * b)",
        ],
        "You ask `derivative` for the very rule that is missing: write it.": "derivative(a / b)",
        "That is a / b itself. Its derivative is asked for.": "a / b",
        OPERATORS: ["/ (b * b) → / b**2", "2 * derivative(a)", "-derivative(a)"],
    },
)

# -- 2. Predict -----------------------------------------------------------------------------------


def solution_2():
    # The first squaring, x·x, has the derivative 1·x + x·1: three operations.
    # Each further one adds y'·y, y·y', their sum, and y itself, which f' needs only now: four.
    return 3 + 9 * 4


check_2 = Exercise(
    solution_2(),
    ask=integer,
    praise=(
        "Right: 3 for the first squaring, and 4 for every further one, 4n - 1 = 39. "
        "(Written out, it would be 11,263.)"
    ),
    otherwise="Look at the program of seven rows above: which rows are new if you square once more?",
    slips={
        "Very near: four for each squaring, but one of the squares is not needed. Which?": 40,
        "Three new ones for each squaring; but the squares that they use count as well.": 30,
        "Not 3.5 for each squaring: how many for the first, and how many for the second?": 35,
        "Seven was for two squarings together, not for each.": 70,
        "That is f itself: ten squarings. Its derivative needs more.": 10,
        "That would be with the rule (yy)' = 2yy'. Ours writes y'y + yy'.": 29,
        "That is f, written out. Now f', each operation once.": 1023,
        "That is f' as written. Count each distinct operation once.": 11263,
        "That is one squaring too many: begin with x, and square ten times.": 43,
    },
)

# -- 3. Who can take a symbol? --------------------------------------------------------------------


def letters(answer):
    one_by_one = isinstance(answer, (list, tuple, set)) and all(isinstance(x, str) for x in answer)
    found = (
        set("".join(answer).lower()) - set(" ,") if one_by_one or isinstance(answer, str) else "?"
    )
    if not set(found) <= set("abcd"):
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

# -- The figure -----------------------------------------------------------------------------------

CURVES = {
    "written, ours": {"color": ORANGE, "marker": "o"},
    "shared, ours": {"color": BLUE, "marker": "s"},
    "written, sympy": {"color": ORANGE, "marker": "o", "mfc": "white", "ls": "--"},
    "shared, sympy's cse": {"color": BLUE, "marker": "s", "mfc": "white", "ls": "--"},
}


def plot_swell(families: Mapping[str, Sequence[Sequence[int]]]) -> None:
    """The four sizes of a derivative for n = 1, 2 ..., a panel for each family."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8.3, 4), layout="constrained")
    said = []
    for ax, (family, sizes) in zip(axes, families.items()):
        for column, (label, style) in zip(zip(*sizes), CURVES.items()):
            ax.plot(range(1, len(sizes) + 1), column, label=label, **style)
            said.append(f"{family}, {label}: {column[0]} to {column[-1]:,}")
        ax.set(xlabel="n", ylabel="operations", title=f"Derivative of {family}")
    axes[1].set(yscale="log")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figures.show(
        figure, f"Operations in derivatives, from n = 1 to {len(sizes)}. " + "; ".join(said)
    )


solution = solutions(globals())
