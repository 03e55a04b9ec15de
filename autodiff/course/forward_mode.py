# pyright: analyzeUnannotatedFunctions=false
"""Notebook 3: passes of both modes, counted and drawn; and its exercises."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from autodiff import Dual as Pair
from autodiff import jacfwd, jacrev, jvp, log, operation, sin

from . import figures
from .figures import look as look
from .verdicts import Exercise, Hint, a, empty, solutions

# -- 1. A rule for pairs --------------------------------------------------------------------------


SQUARE = (
    "Nothing here yet. Square it, z·z = a·a + b·b: what does the product rule say about the "
    "tangents of both sides?"
)


def moved(answer, a_and_tangent, b_and_tangent):
    found = answer(Pair(*a_and_tangent), Pair(*b_and_tangent))
    if empty(getattr(found, "tangent", 0.0)):
        raise Hint(SQUARE)
    if not hasattr(found, "tangent"):
        raise Hint(f"Expected a Pair, found {a(found)}.")
    if hasattr(found, "primal") and isinstance(found.primal, Pair):
        raise Hint("Primal and tangent are plain numbers: use a.primal and a.tangent.")
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
    nothing=SQUARE,
    praise="Right: the local derivatives are a/z and b/z, and each meets its own tangent.",
    otherwise="Each number contributes its own tangent times a local derivative.",
    slips={
        "Almost: a square root has a derivative too. Divide by something.": "/ z → ",
        "That is the tangent of a² + b². The square root is still missing.": "/ z → * 2",
        "Twice too much: the derivative of a square root has a 2 in its denominator.": (
            "/ z → / z * 2"
        ),
        "Half of it: both squares bring a factor 2, which cancels that 1/2.": "/ z → / z / 2",
        "That is what the tangent of a contributes. b moves as well.": "+ b.primal * b.tangent →",
        "That is what the tangent of b contributes. a moves as well.": "a.primal * a.tangent + →",
        "That is 1 / (2√u), the outer derivative. The inner one is missing.": (
            "a.primal * a.tangent + b.primal * b.tangent → 0.5"
        ),
        "That is as if both tangents were 1. Use a.tangent and b.tangent.": "* a.tangent →\n"
        "* b.tangent →",
        "A sum of tangents is right for a + b. Here each has a factor of its own.": [
            "a.primal * →\nb.primal * →",
            "a.primal * →\nb.primal * →\n/ z →",
        ],
        "Tangents are combined linearly; take no square root of them.": (
            "Pair(math.hypot(a.primal, b.primal), math.hypot(a.tangent, b.tangent))"
        ),
        "Each tangent goes with its own number: a with a, b with b.": "a.primal * → c *\n"
        "b.primal * → a.primal *\nc * → b.primal *",
        "A plus between them: both squares are added.": "+ → -",
        "A tangent has a sign: a number that shrinks moves the other way.": (
            "(a.primal * a → abs(a.primal * a"
        ),
        "Divided by z²; the root leaves one z.": "/ z → / z**2",
        "Zero: that number does not move. Use a.tangent and b.tangent.": (
            "Pair(math.hypot(a.primal, b.primal))"
        ),
        "Primal and tangent are plain numbers: use a.primal and a.tangent.": "Pair(a, b)",
    },
)

# -- 2. A second derivative -----------------------------------------------------------------------


def second(answer, f, x):
    found = answer(f, x)
    if isinstance(found, tuple):
        raise Hint("jvp returns a pair, the value and the derivative. Take its second entry.")
    if isinstance(found, Pair):
        raise Hint("That is a dual number. Take its tangent.")
    return found


def solution_2(function, x):
    def first(x):
        return jvp(function, (x,), (1.0,))[1]

    return jvp(first, (x,), (1.0,))[1]


check_2 = Exercise(
    solution_2,
    ask=second,
    at={
        "x = 2, for x**4,": (lambda x: x**4, 2.0),
        "x = 4, for x * log(x),": (lambda x: x * log(x), 4.0),
        "x = 0, for x * sin(x),": (lambda x: x * sin(x), 0.0),
    },
    nothing="Nothing here yet. by_jvp(function) is the first derivative: a function of x.",
    praise="Right: 48 for x⁴ at 2. Each jvp has a level of its own, so the two nudges stay apart.",
    otherwise="Is the outer jvp given the function that the inner one makes?",
    slips={
        "That is the value of the function.": "function(x)",
        "That is the first derivative. Once more!": "jvp(function, (x,), (1.0,))[1]",
        "That is the first derivative squared. Differentiate it instead.": (
            "jvp(function, (x,), (1.0,))[1] ** 2"
        ),
        "That is f'(f'(x)). Differentiate the function f', at x.": "jvp(first, (x,), (1.0,))[1] → "
        "first(first(x))",
        "x times too large: one direction is x. The point is x, the direction is 1.": [
            "first, (x,), (1.0,) → first, (x,), (x,)",
            "jvp(lambda t: jvp(function, (t,), (x,))[1], (x,), (1.0,))[1]",
        ],
        "x² times too large: both directions are x. The point is x, the direction is 1.": (
            "jvp(lambda t: jvp(function, (t,), (x,))[1], (x,), (x,))[1]"
        ),
        "The inner direction is the moving x itself, so it is differentiated too. Let it be 1.": (
            "function, (x,), (1.0,) → function, (x,), (x,)"
        ),
        "Point and direction are swapped: jvp(function, points, directions).": [
            "(x,), (1.0,) → (1.0,), (x,)",
            "first, (x,), (1.0,) → first, (1.0,), (x,)",
            "function, (x,), (1.0,) → function, (1.0,), (x,)",
        ],
        "Twice as much: a direction is 2. Both should be 1.": "first, (x,), (1.0,) → first, (x,), (2.0,)",
        "Zero: a direction is 0, or the inner jvp does not use the x that moves.": [
            "def first(x) → def first(t)",
            "first, (x,), (1.0,) → first, (x,), (0.0,)",
        ],
    },
)

# -- 3. Forward or reverse? -----------------------------------------------------------------------


def modes(answer):
    if not isinstance(answer, Mapping):
        raise Hint(f"Expected a dict with the keys 'a', 'b', 'c' and 'd', found {a(answer)}.")
    for key, (best, fewest, others) in TASKS.items():
        task = answer.get(key, ...)
        if empty(task):
            yield key, ...
            continue
        if not isinstance(task, (tuple, list)) or len(task) != 2:
            raise Hint(f"{key}: expected a pair, such as ('forward', 7).")
        mode, count = task
        if mode not in ("forward", "reverse"):
            raise Hint(f"{key}: the mode is 'forward' or 'reverse'.")
        wrong = "the other mode, and its count" if count == others else "the other mode"
        yield key, wrong if mode != best else "right" if count == fewest else "another count"


TASKS = {  # the mode with fewer passes, their number, the other mode's number
    "a": ("forward", 1, 300),
    "b": ("reverse", 1, 10_000),
    "c": ("reverse", 3, 40),
    "d": ("forward", 1, None),
}


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
    praise=(
        "Right. a: one input moves, and one pass gives its whole column. b: one result has one "
        "row, and one walk back gives it. c: three rows against 40 columns. d: one direction "
        "needs no Jacobian, Jv is a single jvp."
    ),
    slips={
        "d: one walk back gives a row, or a combination of rows. Which mode gives Jv?": {
            "d": ("reverse", 1)
        },
        "d: is all of J asked for, or its product with v?": {"d": ("forward", 10_000)},
        "{part}: that works, but the other mode needs fewer passes.": [
            {"a": ("reverse", 300)},
            {"b": ("forward", 10_000)},
            {"c": ("forward", 40)},
        ],
        "{part}: forward mode pays for inputs, reverse mode for results.": [
            {"a": ("reverse", 1)},
            {"b": ("forward", 1)},
            {"c": ("forward", 3)},
        ],
        "{part}: the mode is right. Count again: inputs for forward, results for reverse.": [
            {"a": ("forward", 300)},
            {"b": ("reverse", 2)},
            {"c": ("reverse", 40)},
        ],
    },
)

# -- Passes ---------------------------------------------------------------------------------------

STYLES = {jacfwd: ("#0072b2", "o-", "forward mode"), jacrev: ("#d55e00", "s--", "reverse mode")}


def passes(jacobian: Callable[..., Any], function: Callable[[Any], Any], x: Any) -> int:
    """How many passes jacobian(function)(x) takes, if x or the result is one number.

    The one number goes through an operation that counts how often its derivative is used: forward
    mode does so once in each call of the function, reverse mode once in each walk back.
    """
    count = 0

    @operation
    def gate(x: Any) -> Any:
        def backward(grad: Any) -> tuple[Any]:
            nonlocal count
            count += 1
            return (grad,)

        return x, backward

    def gated(x: Any) -> Any:
        return gate(function(x)) if isinstance(x, list) else function(gate(x))

    jacobian(gated)(x)
    return count


def plot_passes() -> None:
    """Passes of both modes for n inputs and one result, and for one input and n results."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
    sizes, said = range(1, 11), []
    for jacobian, (colour, style, mode) in STYLES.items():
        by_inputs = [passes(jacobian, lambda x: sum(v * v for v in x), [1.0] * n) for n in sizes]
        by_results = [passes(jacobian, lambda x: [k * x for k in range(n)], 1.0) for n in sizes]
        left.plot(sizes, by_inputs, style, color=colour, label=mode)
        right.plot(sizes, by_results, style, color=colour, label=mode)
        said.append(f"{mode} {by_inputs[-1]} for 10 inputs, {by_results[-1]} for 10 results")
    left.set(title="n inputs, one result", xlabel="n", ylabel="passes")
    right.set(title="one input, n results", xlabel="n")
    left.legend()
    right.legend()
    figures.show(figure, f"Passes, straight lines against n: {'; '.join(said)}.")


solution = solutions(globals())
