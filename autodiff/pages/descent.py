"""`show_descent`: gradient descent on a function of one or two variables, with a rate to drag."""

import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from ..compiler.expression import Expression
from ..compiler.symbolic import NotRecordable
from ..engine.admission import as_float, as_integer, as_row
from ..engine.errors import counted, kind_of, refusal
from ..engine.transforms import check_function
from ..engine.value import Value
from ..nn.watching import Watch
from .page import Page, formula, learning

WHERE = "show_descent"


def show_descent(
    f: Callable[[Any], Any],
    x0: float | Sequence[float],
    lr: float = 0.1,
    steps: int = 40,
    *,
    title: str = "",
    names: Sequence[str] = (),
) -> Page:
    """A page in which gradient descent walks down a function: drag the rate, the path follows.

    The slider of the learning rate is the axis of a plot: f after all steps, at every rate. For
    one variable, the secant through x0 and x0 + h follows beside the tangent, with a slider for h:
    an error that shrinks like h, until rounding makes it grow like 1/h; with 0 steps, alone. For
    two, a map with the minima and what leads to which; drag the start, or drop balls that roll by
    SGD, momentum and Adam.

    f: a function of a number, or of a list of two, as `grad` takes it.
    x0: where it starts, and f has a value: a number, or two. lr, steps: the learning rate, above
        0, and how many steps.
    title: the heading. names: of the variables, if not x and y.

    TypeError if x0 or the result is not made of numbers, or f takes two numbers instead of a list;
    ValueError for more than two variables, for more or fewer names than variables, for an x0, lr
    or steps as said above, and for a function that looks at numbers, as `if x > 0` does.

    >>> show_descent(lambda p: (p[0] ** 2 + 16 * p[1] ** 2) / 2, [-4.5, 1.5], lr=0.1)
    <Page: 40 steps downhill>
    """
    check_function(f, WHERE)
    single = not isinstance(x0, Iterable)
    row = [x0] if single else as_row(x0, f"{WHERE}, x0", "a number, or two in a list")
    start = [as_float(x, f"{WHERE}, x0") for x in row]
    rate, steps = as_float(lr, f"{WHERE}, lr"), steps and as_integer(steps, WHERE, "steps")
    if not 0 < rate < math.inf:
        raise ValueError(refusal(WHERE, f"lr = {rate}", "a number above 0"))
    if not 1 <= len(start) <= 2:
        raise ValueError(refusal(WHERE, counted(len(start), "variable"), "one or two"))
    called = [*map(str, as_row(names, f"{WHERE}, names", "a list of names"))]
    called = called or [*"xy"[: len(start)]]
    if len(called) != len(start):
        expected = f"{len(start)}, one of each variable"
        raise ValueError(refusal(f"{WHERE}, names", counted(len(called), "name"), expected))
    _check_one_argument(f)
    xs = [Value(x) for x in start]
    try:
        y = Watch(xs).run(f, xs[0] if single else list(xs))
        if not isinstance(y, Value):
            raise TypeError(
                refusal(WHERE, f"{kind_of(y)} returned by f", "a number that depends on x")
            )
        if not math.isfinite(y.data):
            raise ValueError(refusal(f"{WHERE}, x0", f"f = {y.data} there", "a finite number"))
        program = Expression(y).javascript(xs, xs)
    except NotRecordable as error:
        raise ValueError(f"{WHERE}: f cannot be compiled: {error}") from error
    downhill = f"{counted(steps, 'step')} downhill" if steps else "How small should a nudge be?"
    data = {
        "x0": start, "rate": rate, "steps": steps, "title": title or downhill,
        "names": called, "formula": formula(y, zip(xs, called)),
    }  # fmt: skip
    return learning(("descent", "map")[len(start) - 1], data, f"f: {program}")


def _check_one_argument(f: Callable[..., Any]) -> None:
    """Raise a TypeError if f cannot be called with one argument."""
    with suppress(ValueError):  # a builtin may not tell its arguments
        signature = inspect.signature(f)
        try:
            signature.bind(None)
        except TypeError:
            found = f"a function of {signature}"
            remedy = "write lambda p: f(p[0], p[1]), and x0=[1.0, 2.0]"
            raise TypeError(
                refusal(WHERE, found, "one of a number, or of a list", remedy)
            ) from None
