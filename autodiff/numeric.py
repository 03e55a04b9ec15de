"""Derivatives by nudging the input: finite differences, the complex step, and a checker."""

import inspect
import math
import sys
from collections.abc import Callable
from typing import Any

from .transforms import as_tree, flat_tree, grad, jvp, map_tree, opened_argument, opened_arguments

EPSILON = sys.float_info.epsilon  # the spacing of floats at 1: 2.2e-16

METHODS = ("forward", "backward", "central", "complex")


def finite_difference(
    f: Callable[..., Any], x: Any, h: float | None = None, method: str = "central"
) -> Any:
    """The derivative of f at x, approximated from values of f at x and beside it.

    | method   | formula                       | error    | default step h           |
    |----------|-------------------------------|----------|--------------------------|
    | forward  | (f(x + h) - f(x)) / h         | O(h)     | √ε max(1, abs(x))        |
    | backward | (f(x) - f(x - h)) / h         | O(h)     | √ε max(1, abs(x))        |
    | central  | (f(x + h) - f(x - h)) / (2h)  | O(h²)    | ∛ε max(1, abs(x))        |
    | complex  | Im f(x + ih) / h              | O(h²)    | 1e-20                    |

    The default steps balance the error of the formula against round-off, which grows as ε/h
    (ε = 2.2e-16); the complex step subtracts nothing, so that its h can be tiny (Squire and
    Trapp, SIAM Review 40, 1998), but f has to accept complex numbers.

    x is a number, or a flat sequence, which reaches f as a list. For a number and a result that
    is a number, returns a float; else a list (of rows), as `jacfwd` does. For n inputs f is
    called n + 1 times, 2n times (central) or n times (complex). The default steps suit a
    function that varies over distances of about max(1, abs(x)); give h where it varies faster.

    ValueError for an unknown method or a step that is not positive, TypeError for arguments or
    results of f that are no numbers.

    >>> round(finite_difference(lambda x: x**3, 2.0), 6)
    12.0
    >>> finite_difference(lambda x: x**3, 2.0, method="complex")
    12.0
    """
    if method not in METHODS:
        raise ValueError(f"finite_difference: found method {method!r}, expected one of {METHODS}")
    if h is not None and not 0 < h < math.inf:
        raise ValueError(f"finite_difference: found step h = {h!r}, expected h > 0, or None")
    x = opened_argument(x, "finite_difference")
    here = as_tree(f(x), "f") if method in ("forward", "backward") else None
    if not isinstance(x, list):
        return _difference(f, x, h, method, here)

    def along(i: int) -> Any:
        return _difference(lambda v: f([*x[:i], v, *x[i + 1 :]]), x[i], h, method, here)

    return map_tree(lambda *row: list(row), *[along(i) for i in range(len(x))]) if x else []


def _difference(f: Callable[[Any], Any], x: Any, h: float | None, method: str, here: Any) -> Any:
    """The difference quotient in one number; its shape is that of `here`, the result of f at x."""
    if method == "complex":
        step = h or 1e-20
        return map_tree(lambda y: complex(y).imag / step, as_tree(f(complex(x, step)), "f"))
    step = h or (EPSILON ** (1 / 3) if method == "central" else EPSILON**0.5) * max(1.0, abs(x))
    high = x if method == "backward" else x + step
    low = x if method == "forward" else x - step
    above = here if method == "backward" else as_tree(f(high), "f")
    below = here if method == "forward" else as_tree(f(low), "f")
    # high - low is what the step became in floating point; 2 * step would be a little off
    return map_tree(lambda b, a: (b - a) / (high - low), above, below)


def check_gradients(f: Callable[..., Any], *args: Any) -> None:
    """Compare the derivatives of f by forward mode, reverse mode and central differences.

    f takes numbers and flat sequences of numbers and returns one number. Returns None if all
    agree: forward and reverse to 1e-9, both with the central difference to 1e-6, relative to
    max(1, |derivative|), and as far as its round-off (10 ε |f| / h) lets one see.

    AssertionError if not, with a table of all derivatives that names the arguments in doubt.

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
    args = tuple(opened_arguments(args, range(len(args)), "check_gradients")[0])
    everything = tuple(range(len(args)))
    reverse = flat_tree(list(grad(f, everything)(*args)))
    forward = [_along(f, args, *place) for place in _places(args)]
    central = flat_tree([finite_difference(_alone(f, args, i), args[i]) for i in everything])
    scale = abs(float(f(*args)))
    rows, wrong = [], False
    for name, place, a, b, c in zip(_names(f, args), _places(args), forward, reverse, central):
        x = args[place[0]] if place[1] is None else args[place[0]][place[1]]
        size = max(1.0, abs(a), abs(b))
        visible = 10 * EPSILON * scale / (EPSILON ** (1 / 3) * max(1.0, abs(x)))
        good = abs(a - b) <= 1e-9 * size and abs(b - c) <= 1e-6 * size + visible
        note = "" if good else "<- wrong" + _kink(f, args, place)
        rows.append((name, f"{a:.9g}", f"{b:.9g}", f"{c:.9g}", note))
        wrong = wrong or not good
    if wrong:
        table = _table([("argument", "forward", "reverse", "central", ""), *rows])
        name = getattr(f, "__name__", "f")
        raise AssertionError(f"the derivatives of {name} disagree:\n{table}")


def _places(args: tuple[Any, ...]) -> list[tuple[int, int | None]]:
    """Where the numbers are: (argument, index in it, or None for a number)."""
    places: list[tuple[int, int | None]] = []
    for i, arg in enumerate(args):
        places += [(i, j) for j in range(len(arg))] if isinstance(arg, list) else [(i, None)]
    return places


def _names(f: Callable[..., Any], args: tuple[Any, ...]) -> list[str]:
    """The name of each number in the arguments: x, or w[3] in a sequence."""
    try:
        names = list(inspect.signature(f).parameters)
    except (TypeError, ValueError):
        names = []
    if len(names) < len(args):
        names = [f"argument {i}" for i in range(len(args))]
    return [names[i] if j is None else f"{names[i]}[{j}]" for i, j in _places(args)]


def _alone(f: Callable[..., Any], args: tuple[Any, ...], i: int) -> Callable[[Any], Any]:
    """f as a function of argument i alone."""
    return lambda x: f(*args[:i], x, *args[i + 1 :])


def _along(f: Callable[..., Any], args: tuple[Any, ...], i: int, j: int | None) -> float:
    """The derivative by forward mode in one number."""
    direction = 1.0 if j is None else [1.0 if k == j else 0.0 for k in range(len(args[i]))]
    return float(jvp(_alone(f, args, i), (args[i],), (direction,))[1])


def _kink(f: Callable[..., Any], args: tuple[Any, ...], place: tuple[int, int | None]) -> str:
    """A remark if the slopes on both sides differ: then no derivative is right."""
    i, j = place
    sides = []
    for method in ("backward", "forward"):
        slope = finite_difference(_alone(f, args, i), args[i], method=method)
        sides.append(slope if j is None else slope[j])
    left, right = sides
    if abs(left - right) <= 1e-3 * max(1.0, abs(left), abs(right)):
        return ""
    return f", or a kink: slope {left:.4g} on the left, {right:.4g} on the right"


def _table(rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["    ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows]
    return "\n".join(lines)
