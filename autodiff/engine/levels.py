"""Levels: which derivative a number belongs to, where derivatives are nested.

In d/dx[x * d/dy(x + y)] the inner derivative sees x as a constant: its level is lower.

With `tiny.py`, `grad(lambda x: x * grad(lambda y: x + y)(1.0))(1.0)` is 2.0, not 1.0.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .admission import AnyNumber, as_float, as_number
from .errors import LEAKED, kind_of, refusal
from .operation import Operation

PLAIN = -1  # a float: it knows nothing of derivatives
CONSTANT = 0  # a Value that requires no gradient
OWN = 1  # a Value or a Dual that a user makes; from 2 on the variables of transforms
ARRAY = math.inf  # a Vector or Matrix, which goes before all numbers, to take its entries apart

_levels = itertools.count(OWN + 1)
_open: set[float] = {PLAIN, CONSTANT, OWN, ARRAY}

# Whether comparisons are operations: while the gradient is recorded as a graph, so that it chooses
# anew with other numbers, in this thread alone.
records_comparisons: ContextVar[bool] = ContextVar("records_comparisons", default=False)


@contextmanager
def new_level() -> Iterator[int]:
    """A level for the variables of one derivative, deeper than every level before it.

    It is closed when the function being differentiated has returned: its numbers cannot be used
    after that.
    """
    level = next(_levels)
    try:
        try:
            _open.add(level)
            yield level
        finally:
            _open.discard(level)
    finally:  # again, if Ctrl-C came meanwhile
        _open.discard(level)


def level_of(x: object) -> float:
    """How deep in nested derivatives x is.

    RuntimeError if x belongs to a derivative that has been computed already.
    """
    level: float = getattr(x, "_level", PLAIN)
    if level not in _open:
        raise RuntimeError(LEAKED)
    return level


def check_outside(x: AnyNumber, subject: str) -> None:
    """Raise a RuntimeError if x is a number inside a function that is being differentiated.

    Stripped of its derivative it would be a constant to that function.
    """
    if x._level > OWN:
        inside = "a number inside a function that is being differentiated"
        remedy = (
            "use it only in operations, comparisons and print; for a derivative nest grad: "
            "grad(lambda y: ...)(x)"
        )
        raise RuntimeError(refusal(subject, inside, "a Value of your own", remedy))


def as_own_number(x: Any, subject: str) -> AnyNumber:
    """x as a float, or as it is if it is a number of the user's own, not of a transform."""
    return as_number(x, subject) if level_of(x) in (CONSTANT, OWN) else as_float(x, subject)


def apply(operation: Operation, *inputs: AnyNumber) -> AnyNumber:
    """The result of an operation: the input of the innermost derivative decides how to record it.

    To that input the others are constants, whatever they know of derivatives further out.
    """
    innermost = max(inputs, key=level_of)
    name = operation.__name__
    return innermost._record(operation, [innermost._lift(x, name) for x in inputs])


def constant_for(other: AnyNumber, x: Any, name: str) -> AnyNumber:
    """x as a constant beside another number: a float, or a number of an outer derivative.

    TypeError if x is not a number, or one of another kind at the same level: Value and Dual.
    """
    if not hasattr(x, "_record"):
        return as_float(x, f"{type(other).__name__} {name}")
    if not hasattr(x, "_level"):  # a symbol of a program, a plain number to every derivative
        return x
    if x._level == CONSTANT and other._level <= OWN:  # a frozen Value beside a Dual
        return x._number()
    if x._level < other._level:
        return x
    remedy = "for forward over reverse wrap each Dual in a Value: Value(dual)"
    kinds = f"{kind_of(other)} and {kind_of(x)}"
    raise TypeError(refusal(name, kinds, "numbers of one kind", remedy))


def check_result(
    operation: Operation, result: AnyNumber, inputs: Sequence[AnyNumber], level: float
) -> None:
    """Raise a TypeError if a result depends on a number that is not an input of the operation.

    One such is a Value in the closure of a user's rule: its derivative would be lost.
    """
    own = getattr(result, "_level", PLAIN)
    if own >= level and all(level_of(x) < own for x in inputs):
        remedy = "pass all that it depends on as inputs, a Vector as its entries"
        other = f"a result that is {kind_of(result)}, with inputs that are not"
        raise TypeError(
            refusal(operation.__name__, other, "operations on its inputs alone", remedy)
        )
