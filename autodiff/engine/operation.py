"""What an operation is: a function of any kind of number that knows its derivative.

What is true of it are its attributes, `ops.mul.sign`; its rule takes its inputs and returns
(result, backward). Where its inputs are outside its domain, `explain` says so.

With `tiny.py`, `Value(0.0) ** -1` is a ZeroDivisionError that names no operation and no input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any, Protocol, Self, SupportsFloat, TypeVar, overload

from .admission import AnyNumber
from .errors import described, number_in

Gradients = tuple[AnyNumber, ...]  # for each input; None for one that has no derivative
Backward = Callable[[AnyNumber], Gradients]  # the closure: takes the gradient of the result
Rule = Callable[..., tuple[AnyNumber, Backward]]  # from the inputs to the result and its closure
Compute = Callable[..., AnyNumber]  # from the inputs to the result


class Operation(Protocol):
    """A function of any kind of number. What is true of it are its attributes: `ops.mul.sign`."""

    __name__: str
    rule: Rule
    value: Compute  # of floats; of any kind of number if it is composite
    domain: str = ""  # where it is defined, such as "x > 0"; "" for everywhere
    sign: str = ""  # in formulas
    rows: int = 0  # how many rows of numbers it takes, instead of numbers
    composite: bool = False  # its value is made of other operations
    in_ops: bool = False  # it is in `ops.py`; the name of a user's own says nothing

    def __call__(self, *inputs: AnyNumber) -> AnyNumber: ...
    def __hash__(self) -> int: ...


# -- Where floats meet the domain of an operation ------------------------------------------------

UNDEFINED = ValueError, ZeroDivisionError, OverflowError  # what operations raise at a number


def explain(
    error: Exception, operation: Operation, inputs: Sequence[AnyNumber], derivative: bool = False
) -> Exception:
    """The same type of error, naming the operation, its inputs and its domain.

    The error itself if it has been explained, by the operation on numbers of an outer derivative,
    or if a user's operation raised one of another type. `derivative`: whether the backward
    closure raised it.

    >>> from .ops import div
    >>> explain(ZeroDivisionError("float division by zero"), div, (1.0, 0.0))
    ZeroDivisionError('x / y: x = 1.0, y = 0.0 is outside the domain y != 0')
    """
    explained = any(hasattr(number_in(x), "_record") for x in inputs)
    if explained or type(error) not in UNDEFINED:
        return error
    names = parameters(operation.rule, len(inputs))
    at = ", ".join(f"{name} = {described(x)}" for name, x in zip(names, inputs))
    if derivative:
        division = isinstance(error, ZeroDivisionError)
        reason = "it is infinite or undefined there" if division else str(error)
        return type(error)(f"the derivative of {operation.__name__} at {at}: {reason}")
    infix = operation.sign and len(names) == 2
    what = f"{names[0]} {operation.sign} {names[1]}" if infix else operation.__name__
    if isinstance(error, OverflowError):
        return OverflowError(f"{what}: {at} gives a result too large for a float")
    outside = f" is outside the domain {operation.domain}"
    return type(error)(f"{what}: {at}{outside if operation.domain else f': {error}'}")


def unwrapped(rule: Rule) -> FunctionType:
    """The function under its decorators."""
    function: Any = rule
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    plain: FunctionType = function
    return plain


def parameters(rule: Rule, count: int) -> Sequence[str]:
    """The names that a rule gives its inputs; x1, x2, ... if it does not name that many.

    >>> parameters(lambda y, x: y / x, 2), parameters(lambda *xs: sum(xs), 2)
    (('y', 'x'), ['x1', 'x2'])
    """
    code = unwrapped(rule).__code__
    names = code.co_varnames[: code.co_argcount]
    return names if len(names) == count else [f"x{i}" for i in range(1, count + 1)]


# -- Types, for type checkers -------------------------------------------------------------------


class Recorder(Protocol):
    """A number that records the operations on it, such as a Value (see `number.Number`)."""

    def _record(self, operation: Operation, numbers: Sequence[AnyNumber], /) -> AnyNumber: ...


N = TypeVar("N", bound=Recorder)


class OfNumbers(Operation, Protocol):
    """An operation on one or more numbers: the result is of the same kind. Also a method."""

    @overload
    def __call__(self, x: N, /, *more: N | SupportsFloat) -> N: ...
    @overload
    def __call__(self, x: SupportsFloat, y: N, /, *more: N | SupportsFloat) -> N: ...
    @overload
    def __call__(self, *xs: SupportsFloat) -> float: ...
    @overload
    def __get__(self, x: None, kind: type) -> Self: ...
    @overload
    def __get__(self, x: N, kind: type) -> Callable[..., N]: ...


class OfRow(Operation, Protocol):
    """An operation on a row of numbers."""

    @overload
    def __call__(self, xs: Iterable[N], /) -> N: ...
    @overload
    def __call__(self, xs: Iterable[SupportsFloat], /) -> float: ...


class OfRows(Operation, Protocol):
    """An operation on two rows of numbers."""

    @overload
    def __call__(self, xs: Iterable[N], ys: Iterable[N | SupportsFloat], /) -> N: ...
    @overload
    def __call__(self, xs: Iterable[SupportsFloat], ys: Iterable[SupportsFloat], /) -> float: ...
