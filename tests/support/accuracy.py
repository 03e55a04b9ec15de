"""How accurate are derivatives, for numbers of all sizes and right beside kinks and poles?

    python tests/support/accuracy.py

prints, for each operation and mode, the largest error over a few dozen points, in two measures:
relative to the derivative itself, and relative to max(1, |derivative|). Points are left out if the
exact value or derivative is not an ordinary float, but above 1e300, or below 1e-290 and not 0.
"""

import math
import random
from functools import partial
from itertools import chain
from typing import NamedTuple

import mpmath
import numpy as np
from modes import GRADIENTS, HESSIANS
from operations import OPERATIONS, REFERENCES
from oracles import derivatives

from autodiff import ops
from autodiff.engine.levels import apply
from autodiff.engine.number import Number

HUGE, TINY = 1e300, 1e-290
# largest is a shift: its derivative is left out, because it cancels.
PAGE = {x.__name__: x for x in ops.LISTED if x is not ops.largest}
# One mode of each kind: all of them agree on random programs, see test_modes.py.
MODES = {
    1: ("backward", "jacfwd", "compile", "inputs of a batch"),
    2: ("hessian", "reverse over reverse", "forward over forward", "create_graph"),
}


def points(name, count):
    """Random points of an operation's domain, always the same, and those where it may break."""
    rng, row = random.Random(name), OPERATIONS[name]
    return [tuple(draw(rng) for draw in row.domain) for _ in range(count)] + [*row.ends]


def differentiated(name, point):
    """The operation as a function of those inputs that have a derivative, and their numbers."""
    free = [i for i in range(len(point)) if i not in OPERATIONS[name].constants]

    def of_all(*inputs):
        numbers = any(isinstance(x, Number) for x in inputs)
        return apply(PAGE[name], *inputs) if numbers else PAGE[name].rule(*inputs)[0]

    def f(xs, operation=of_all):
        given = dict(zip(free, xs, strict=True))
        return operation(*[given.get(i, x) for i, x in enumerate(point)])

    return f, [point[i] for i in free]


def ordinary(x):
    return x == 0 or TINY <= abs(x) <= HUGE


class Errors(NamedTuple):
    """The largest errors, each with the point where it is."""

    relative: tuple
    absolute: tuple  # relative to max(1, |derivative|)


def derived(mode, order, f, xs):
    """The value and the gradient, or the Hessian row by row, in one list."""
    if order == 2:
        return [*chain(*HESSIANS[mode](f, xs))]
    value, gradient = GRADIENTS[mode](f, [0.5 for _ in xs])(xs)  # recorded at another point
    return [value, *gradient]


def attempt(compute, *args):
    """The result, or None if it is an error, which means that no derivative was found."""
    try:
        with np.errstate(all="ignore"):
            return compute(*args)
    except (ZeroDivisionError, OverflowError, ValueError):
        return None


def measured(name, order, count=30):
    """The Errors of each mode: in the value and the gradient, or in the Hessian (order 2)."""
    relative, absolute = ({mode: [(0.0, ())] for mode in MODES[order]} for _ in Errors._fields)
    for point in points(name, count):
        f, xs = differentiated(name, point)
        sizes = [abs(math.log10(abs(x))) for x in [1.0, *point] if x]
        # enough for second differences, whose steps are 1e-45 of the numbers, and for sums with 1
        digits, reference = 900 + 2 * int(max(sizes)), partial(f, operation=REFERENCES[name])
        value, gradient, hessian = derivatives(reference, xs, digits, order)
        expected = [*chain(*hessian)] if order == 2 else [value, *gradient]
        if not ordinary(value) or any(abs(x) > HUGE for x in expected):
            continue
        for mode in MODES[order]:
            found = attempt(derived, mode, order, f, xs) or [math.nan] * len(expected)
            for number, x in zip(found, expected, strict=True):
                if ordinary(x):
                    error = math.inf if math.isnan(number) else abs(mpmath.mpf(number) - x)
                    relative[mode].append((float(error / (abs(x) or 1)), point))
                    absolute[mode].append((float(error / max(1, abs(x))), point))
    return {mode: Errors(max(relative[mode]), max(absolute[mode])) for mode in MODES[order]}


def table(title, order):
    """Print the errors of all operations: relative | relative to max(1, |derivative|)."""
    print(f"{title}: the largest error relative to the derivative | to max(1, |derivative|)\n")
    for i, operation in enumerate(OPERATIONS):
        errors = measured(operation, order)
        if not i:
            print(f"{'':12}" + "".join(f"{name[:18]:>20}" for name in errors))
        cells = [f"{e.relative[0]:9.0e} |{e.absolute[0]:6.0e}" for e in errors.values()]
        print(f"{operation:12}" + "".join(f"{cell:>20}" for cell in cells), flush=True)
    print()


if __name__ == "__main__":
    table("Values and first derivatives", 1)
    table("Second derivatives", 2)
