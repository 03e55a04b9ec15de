# pyright: analyzeUnannotatedFunctions=false
"""Notebook 10: two programs side by side; and its exercises."""

import operator
import sys
from collections import Counter
from itertools import accumulate

import numpy as np

import autodiff as ad
from autodiff import Expression, Value, Vector, topological_order

from .verdicts import Exercise, Hint, a, integer, solutions

# -- Two programs side by side ----------------------------------------------------------------


def side_by_side(program, arguments, by_hand, arguments_by_hand):
    """The lines of a program, each after the names of a function's variables for the same array.

    Both are run, and the variables that they have at the end are compared, to twelve digits.
    """
    human = variables(by_hand, arguments_by_hand, by_hand.__name__)
    computed = variables(program, arguments, "program")
    lines = []
    for line in program.source.splitlines():
        array = computed.get(line.partition(" = ")[0].strip())
        equal = [name for name, other in human.items() if same(array, other)]
        lines.append(f"{' '.join(equal):8}{line}".rstrip())
    return "\n".join(lines)


def same(a, b):
    return a is not None and a.shape == b.shape and np.allclose(a, b, rtol=1e-12, atol=1e-12)


def variables(run, arguments, name):
    """The arrays in the variables of the function of this name when it returns."""
    found = {}

    def at_return(frame, event, _):
        if event == "return" and frame.f_code.co_name == name:
            found.update(frame.f_locals)

    sys.setprofile(at_return)
    try:
        run(*arguments)
    finally:
        sys.setprofile(None)
    return {key: array for key, array in found.items() if isinstance(array, np.ndarray)}


# -- 1. Predict the groups --------------------------------------------------------------------


def solution_1():
    # dot, +, tanh; dot, +, tanh; dot, +; and seven of the loss
    return 3 + 3 + 2 + 7


check_1 = Exercise(
    solution_1(),
    ask=integer,
    praise=(
        "Right: 15 groups of 141 operations, 3 + 3 + 2 + 7. With 30 neurons in place of 20 there are "
        "201 operations, and 15 groups."
    ),
    otherwise="Go through the boxes of the picture, with one more hidden layer.",
    slips={
        "That is one hidden layer. Here are two.": 12,
        "Leaves are not operations. Or did you count a group of the loss twice?": 16,
        "Nearly. Which operations make the loss? In the picture they follow the last layer.": 14,
        "Nearly. The last layer has no tanh, but it has biases.": 13,
        "The last layer has no tanh. And how many operations make the loss?": 17,
        "Twice twelve counts the outputs and the loss twice.": 24,
        "Those are the operations. How many different ones are there?": 141,
        "Those are the layers. The loss makes groups too.": 8,
    },
)

# -- 2. Be the compiler -----------------------------------------------------------------------

SHAPES = "x is (3, n), error (n,), v (8,), h and r are (8, n). Which do you need transposed?"


def gradients_of(answer, *given):
    try:
        result = answer(*given)
    except (TypeError, ValueError) as error:
        if "ellipsis" in str(error) or "enough dimensions" in str(error):
            raise Hint("A line still computes with the dots.") from None
        if isinstance(error, ValueError):
            raise Hint(f"Two shapes do not fit together. {SHAPES}") from None
        raise
    try:
        losses, (W_bar, b_bar, v_bar, c_bar) = result
    except (TypeError, ValueError):
        raise Hint("Return the losses and four gradients: (W_bar, b_bar, v_bar, c_bar).") from None
    yield "losses", losses
    yield from {"c_bar": c_bar, "v_bar": v_bar, "b_bar": b_bar, "W_bar": W_bar}.items()


def random_regression():
    rng = np.random.default_rng(0)
    x, t = rng.normal(size=(3, 30)), rng.normal(size=30)
    return x, t, rng.normal(size=(8, 3)), rng.normal(size=8), rng.normal(size=8), rng.normal()


def solution_2(x, t, W, b, v, c):
    h = W @ x + b[:, None]
    r = np.maximum(h, 0)
    error = v @ r + c - t
    # and back
    error_bar = 2 * error
    c_bar = error_bar.sum()
    v_bar = r @ error_bar
    r_bar = v[:, None] * error_bar
    h_bar = np.where(h > 0, r_bar, 0.0)
    W_bar, b_bar = h_bar @ x.T, h_bar.sum(axis=1)
    return error * error, (W_bar, b_bar, v_bar, c_bar)


check_2 = Exercise(
    solution_2,
    ask=gradients_of,
    at={"30 samples,": random_regression()},
    praise="Right, entry by entry: what you wrote is what the compiler writes.",
    otherwise="Follow the messages.",
    slips={
        "The losses have changed: return error * error, as the way forward did.": "error * error → error",
        "c_bar: error_bar is 2 * error.": "2 * error → error",
        "v_bar: that is the message for relu's result, summed.": (
            "v_bar = r @ error_bar → v_bar = (v[:, None] * error_bar).sum(axis=1)"
        ),
        "v_bar: the message for v is error_bar times r, not h.": "r @ error_bar → h @ error_bar",
        "v_bar: error_bar, not error: the square has a derivative too.": "r @ error_bar → r @ error",
        "b_bar: relu stops what is negative: where h <= 0, h_bar is 0.": (
            "np.where(h > 0, r_bar, 0.0) → r_bar"
        ),
        "W_bar: relu stops what is negative: where h <= 0, h_bar is 0.": "h_bar @ → r_bar @",
        "b_bar: multiplied by h instead of asking whether it is positive.": (
            "np.where(h > 0, r_bar, 0.0) → r_bar * r"
        ),
        "b_bar: v is missing, through which error_bar comes to r.": (
            "v[:, None] * error_bar → error_bar + 0 * h"
        ),
        "b_bar: the mask is upside down: what is positive goes through.": "h > 0 → h < 0",
        "b_bar has to be summed over the samples, axis 1.": [
            "h_bar.sum(axis=1) → h_bar",
            "axis=1 → axis=0",
        ],
        "c_bar has to be summed over the samples.": "error_bar.sum() → error_bar",
        "W_bar is transposed: W is (8, 3).": "h_bar @ x.T → x @ h_bar.T",
        "{part} is that of the mean. Expected the sum over the samples.": [
            "error_bar.sum() → error_bar.mean()",
            "r @ error_bar → r @ error_bar / 30",
        ],
        "v_bar has the wrong sign.": "r @ error_bar → -r @ error_bar",
        f"Two shapes do not fit together. {SHAPES}": "x.T → x",
    },
)

# -- 3. Out of the chain ----------------------------------------------------------------------


def groups(output):
    """How many groups of the same depth and operation a graph has, by operation."""
    depth = {}
    for node in topological_order(output):
        depth[node] = 1 + max(map(depth.get, node.parents)) if node.parents else 0
    return Counter(op for _, op in {(i, node.op) for node, i in depth.items() if i})


def batched(answer):
    sizes = []
    for n in (6, 12):
        coefficients, x = Vector([(-1.0) ** k / (k + 1) for k in range(n)]), Value(0.7)
        y = answer(coefficients, x)
        if not isinstance(y, Value):
            raise Hint(f"Expected a Value, found {a(y)}. Add everything up to one number.")
        yield f"the value for {n} coefficients", y.data
        there = {x, *coefficients} <= {*topological_order(y)}
        yield "x and the coefficients", "in the graph" if there else "out of the graph"
        sizes.append(groups(y))
    before, after = sizes
    more = " and ".join(sorted(op for op in after if after[op] > before[op]))
    yield (
        f"with 12 coefficients the groups ({before.total()} with 6)",
        f"more of {more or 'nothing'}",
    )
    program = Expression(y).compile([x], wrt=coefficients, xp=np, batch=True)
    points = np.linspace(-0.9, 0.9, 5)[:, None]
    yield "the value at other points", program(points, np.array(coefficients.data))[0]


def praise_3(answer):
    count = groups(answer(Vector([1.0] * 12), Value(0.7))).total()
    return f"Right: {count} groups, for 6 coefficients as for 12."


def horner(coefficients, x):
    y = 0.0
    for c in reversed(coefficients):
        y = y * x + c
    return y


def by_loop(coefficients, powers):
    total = 0.0
    for c, power in zip(coefficients, powers):
        total = total + c * power
    return total


def powers(x, n):
    return [x**0, *accumulate([x] * (n - 1), operator.mul)]


def solution_3(coefficients, x):
    return ad.dot(coefficients, [x**k for k in range(len(coefficients))])


check_3 = Exercise(
    solution_3,
    ask=batched,
    at={"0.7": ()},
    praise=praise_3,
    otherwise="A sum of c * x**k.",
    slips={
        "Each step waits for the one before. What can be done side by side?": [
            horner,
            "by_loop(coefficients, powers(x, len(coefficients)))",
        ],
        "Only the additions still wait for one another. One node can add all.": "ad.dot → by_loop",
        "The powers wait for one another. x**k needs x alone.": (
            "ad.dot(coefficients, powers(x, len(coefficients)))"
        ),
        "Which coefficient belongs to which power? Coefficient 0 comes first.": (
            "range(len(coefficients)) → reversed(range(len(coefficients)))"
        ),
        "The powers begin with x**0, which is 1.": "x**k → x**(k + 1)",
        "`dot` needs as many powers as coefficients, from x**0 on.": "range( → range(1, ",
        "The coefficients are missing: each power has one.": "ad.dot(coefficients, → ad.sum(",
        "The number is right, but x or a coefficient is not in its graph: `.data` takes it out.": [
            "x**k → x.data**k",
            "dot(coefficients → dot(coefficients.data",
        ],
        "Something turns x into a float, as the functions of `math` do. Write x**k.": (
            "x**k → float(x)**k"
        ),
    },
)

solution = solutions(globals())
