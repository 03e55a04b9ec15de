"""Finite differences, and a check of gradients against them.

With `tiny.py`,
`check_gradients(operation(lambda x: (x * x, lambda grad: (grad * x,))), 3.0)` is out of reach.
"""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from . import graph
from .admission import AnyNumber, as_float
from .errors import refusal, shortened
from .levels import CONSTANT, PLAIN, check_outside
from .number import Number
from .transforms import (
    Flattened,
    Function,
    Numbers,
    Tree,
    check_function,
    flatten,
    jacfwd,
    jacrev,
    places,
    vjp,
)
from .value import Value

R = TypeVar("R")

EPSILON = sys.float_info.epsilon  # the spacing of floats at 1: 2.2e-16

# For each method how many steps it goes ahead of x and behind it.
METHODS = {"forward": (1, 0), "backward": (0, 1), "central": (1, 1)}


def finite_difference(
    f: Function, x: Tree, h: float | None = None, method: str = "central"
) -> Tree:
    """The derivative of f at x, approximated from values of f at x and near it.

    | method   | formula                       | error    | default step h           |
    |----------|-------------------------------|----------|--------------------------|
    | forward  | (f(x + h) - f(x)) / h         | O(h)     | √ε max(1, abs(x))        |
    | backward | (f(x) - f(x - h)) / h         | O(h)     | √ε max(1, abs(x))        |
    | central  | (f(x + h) - f(x - h)) / (2h)  | O(h²)    | ∛ε max(1, abs(x))        |

    The default steps balance the error of the formula against round-off, which grows as ε/h
    (ε = 2.2e-16). Give h if f varies over distances much shorter than max(1, abs(x)).

    x is a tree, which f takes in its shape, as in `grad`; the result has the shape of `jacfwd`'s.
    For n inputs f is called n + 1 times, or 2n times (central).

    ValueError for an unknown method, and for a step that is not positive or does not change x;
    TypeError if an argument or result of f is not a number.

    >>> round(finite_difference(lambda x: x**3, 2.0), 6)
    12.0
    """
    if method not in [*METHODS]:
        found, expected = f"method {shortened(method)}", f"one of {[*METHODS]}"
        raise ValueError(refusal("finite_difference", found, expected))
    check_function(f, "finite_difference")
    h = None if h is None else _step(h, "finite_difference")
    numbers, rebuild = flatten(x, "finite_difference")

    def results(xs: Numbers) -> Flattened:
        outputs, shape = flatten(f(rebuild(iter(xs))), "finite_difference: the result of f")
        return [y.data if getattr(y, "_level", PLAIN) == CONSTANT else y for y in outputs], shape

    here = results(numbers) if method != "central" or not numbers else ([], next)
    columns = [_difference(*one, h, method, here) for one in _each_number(results, numbers)]
    slopes, shapes = zip(*columns or [here])  # without numbers the shape of the result still
    return shapes[0](map(rebuild, map(iter, zip(*slopes))), rebuild(iter(numbers)))


def _step(h: float, subject: str) -> float:
    step = as_float(h, f"{subject}, h")
    if not 0 < step < math.inf:
        raise ValueError(refusal(subject, f"step h = {step!r}", "h > 0, or None"))
    return step


def _difference(
    f: Callable[[AnyNumber], Flattened], x: float, h: float | None, method: str, here: Flattened
) -> Flattened:
    """The difference quotient in one number x; `here` is f(x), for "forward" and "backward"."""
    step = h or (EPSILON ** (1 / 3) if method == "central" else EPSILON**0.5) * max(1.0, abs(x))
    ahead, behind = METHODS[method]
    high, low = x + ahead * step, x - behind * step
    if high == low:
        found = f"step h = {step!r} at x = {x!r}"
        raise ValueError(refusal("finite_difference", found, "a larger one: x + h is x"))
    above, shape = f(high) if ahead else here
    below, _ = f(low) if behind else here
    # high - low is the step after rounding; 2 * step would be slightly off
    return [(y - z) / (high - low) for y, z in zip(above, below)], shape


def check_gradients(f: Function, *args: Tree, h: float | None = None) -> None:
    """Compare the derivatives of f by forward mode, reverse mode and central differences.

    f takes and returns trees. Returns None if all agree: forward and reverse to 1e-9 of
    max(1, |derivative|), both with the central difference to 1e-6 of the derivative, plus the
    error of the difference.

    The difference is taken with longer and longer steps, up to h: first round-off shrinks, then the
    error of the formula grows. The first step that tells the derivative to 1e-6 is enough, and one
    that contradicts the shorter ones is too long: what f does beyond a bell or a kink counts for
    nothing. The error is three times what the difference differs by from the one before, or the
    round-off in f if that is more.

    By default h is abs(x) / 3π (0.1 at x = 0), so no step goes across 0; a step that leaves the
    domain is skipped. Give a larger h if f varies over much longer distances, as cos does at 1e-9.

    AssertionError if not, with a table of all derivatives that marks those in doubt. At a kink, as
    relu has at 0, there is no derivative to agree with.

    >>> check_gradients(lambda x, w: x * w[0] + w[1], 3.0, [1.0, 2.0])
    >>> from autodiff import operation
    >>> @operation
    ... def square(x):
    ...     return x * x, lambda grad: (grad * x,)
    >>> check_gradients(square, 3.0)
    Traceback (most recent call last):
    ...
    AssertionError: the derivatives of square disagree:
    argument    forward    reverse    central
    x           3          3          6          <- wrong
    """
    check_function(f, "check_gradients")
    h = None if h is None else _step(h, "check_gradients")
    given, rebuild = flatten(args, "check_gradients")
    numbers = [plain_number(x, "check_gradients") for x in given]

    def results(xs: Iterable[AnyNumber]) -> Numbers:
        return flatten(f(*rebuild(iter(xs))), "check_gradients: the result of f")[0]

    def floats(xs: Numbers) -> list[float]:
        try:
            ys = results(xs)
        except TypeError:  # a float's power is complex where that of a Value raises a ValueError
            ys = results(map(Value, xs))
        return [plain_number(y, "check_gradients") for y in ys]

    arguments = rebuild(iter(numbers))
    names, nodes = input_names(f, arguments), results(map(Value, numbers))
    jacobians = [jacobian(results)(numbers) for jacobian in (jacfwd, jacrev)]
    rows, wrong = [("argument", "forward", "reverse", "central", "")], False
    for i, place in enumerate(places(vjp(f, *arguments)[0])):
        noise = _round_off(nodes[i])
        for j, (alone, x) in enumerate(_each_number(floats, numbers)):
            a, b = (slopes[i][j] for slopes in jacobians)
            c, error = _slope(alone, i, x, h, noise)
            good = abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))
            good = good and all(abs(d - c) <= 1e-6 * abs(d) + error for d in (a, b))
            note = UNKNOWN if math.isnan(c) else "" if good else "<- wrong"
            label = f"∂f{place}/∂{names[j]}" if place else names[j]
            rows.append((label, f"{a:.9g}", f"{b:.9g}", f"{c:.7g}", note))
            wrong |= not good
    if wrong:
        widths = [max(map(len, column)) for column in zip(*rows)]
        table = "\n".join((" " * 4).join(map(str.ljust, row, widths)).rstrip() for row in rows)
        name = getattr(f, "__name__", "f")
        raise AssertionError(f"the derivatives of {name} disagree:\n{table}")


UNKNOWN = "<- unknown: f jumps, or is not defined on both sides"


def plain_number(x: Any, subject: str) -> float:
    """The number in a Value or a Dual, as a float.

    RuntimeError inside a function that is being differentiated: the derivative would be lost.
    """
    if isinstance(x, Number):
        check_outside(x, subject)
        x = x._number()
    return as_float(x, subject)


def _round_off(y: AnyNumber) -> float:
    """The round-off in y: |∂y/∂v| times the last place of v, added up over all v on the way to it.

    That is what rounding each of them adds up to in y: Linnainmaa found reverse mode in 1970 to
    compute it.
    """
    slopes = graph.adjoints(y) if isinstance(y, Value) else {}
    return sum(math.ulp(v.data) * abs(float(slope)) for v, slope in slopes.items() if v.parents)


def _slope(
    f: Callable[[float], list[float]], i: int, x: float, h: float | None, noise: float
) -> tuple[float, float]:
    """The best of central differences of f(x)[i], and its error, from longer and longer steps.

    The best is the one that differs least from the one before, up to a step that contradicts it.

    (nan, inf) if f is not defined on both sides of x, or if it jumps there.
    h: the longest step. noise: the round-off in f(x)[i].
    """
    found, error, before = math.nan, math.inf, math.nan
    change = 30 * noise  # less may look like a jump
    longest = h or (abs(x) or 1.0) / (3 * math.pi)  # x / 10 might be a period of f
    here = f(x)[i]
    for k in reversed(range(16)):
        step = longest / 8**k  # at x = 1 from 3e-15 to 0.1
        try:
            low, high = f(x - step)[i], f(x + step)[i]
            slope = (high - low) / ((x + step) - (x - step))
        except (ArithmeticError, ValueError):  # outside the domain, or x + step is x
            continue
        if k > 13:  # so close to x, f is a straight line but for noise
            noise = max(noise, 2 * abs(high + low - 2 * here))
        bound = max(3 * abs(slope - before), 2 * noise / step)  # nan the first time
        change = max(change, abs(high - low), abs(high - here))
        if abs(slope - found) > error + bound:  # too long
            break
        if bound <= min(error, change / step):  # more than change / step at a jump
            found, error = slope, bound
        if bound <= 1e-6 * abs(slope):
            break
        before = slope
    return found, error


def input_names(f: Function, args: Sequence[Tree]) -> list[str]:
    """The name of each number in the arguments of f: x, w[3] in a sequence, p['b'] in a dict.

    The arguments are x1, x2 ... if f does not name each of them.
    """
    import inspect

    parameters: list[inspect.Parameter] = []
    with suppress(TypeError, ValueError):  # some builtins have no signature
        parameters = list(inspect.signature(f).parameters.values())
    names = [parameter.name for parameter in parameters]
    if len(names) < len(args) or any(p.kind == p.VAR_POSITIONAL for p in parameters):
        names = [f"x{i}" for i in range(1, len(args) + 1)]
    return [place for name, x in zip(names, args) for place in places(x, name)]


def _each_number(
    f: Callable[[Numbers], R], numbers: Numbers
) -> Iterator[tuple[Callable[[AnyNumber], R], AnyNumber]]:
    """For each number: f as a function of it alone, and the number."""
    for j, number in enumerate(numbers):

        def alone(x: AnyNumber, j: int = j) -> R:
            return f([*numbers[:j], x, *numbers[j + 1 :]])

        yield alone, number
