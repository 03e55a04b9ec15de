"""What all kinds of number have in common: operators, methods, and levels of derivatives.

A kind of number is a subclass of `Number` that says how it lifts other numbers to itself, and how
it records an operation.

With `tiny.py`, `6 / x` is a TypeError.
"""

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn, Self, TypeVar

from . import ops
from .admission import AnyNumber, as_float, as_number
from .dispatch import Compute, Operation
from .errors import LEAKED, LOST, a, message

N = TypeVar("N", bound="Number")

# -- Levels: which derivative a number belongs to ------------------------------------------------

_levels = itertools.count(2)  # 1 is for the Values and Duals that a user makes, 0 for constants
_open: set[float] = {-1, 0, 1, math.inf}


@contextmanager
def new_level() -> Iterator[int]:
    """A level for the variables of one derivative, deeper than every level before it.

    So in d/dx[x * d/dy(x + y)] the inner derivative sees x as a constant. The level is closed when
    the function being differentiated has returned: its numbers cannot be used after that.
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
    """How deep in nested derivatives x is; -1 for a plain number.

    RuntimeError if x belongs to a derivative that has been computed already.
    """
    level: float = getattr(x, "_level", -1)
    if level not in _open:
        raise RuntimeError(LEAKED)
    return level


def check_outside(x: AnyNumber, where: str) -> None:
    """Raise a RuntimeError if x is a number inside a function that is being differentiated.

    Stripped of its derivative it would be a constant to that function.
    """
    if x._level > 1:
        inside = "a number inside a function that is being differentiated"
        remedy = (
            "use it only in operations, comparisons and print; for a derivative nest grad: "
            "grad(lambda y: ...)(x)"
        )
        raise RuntimeError(message(where, inside, "a Value of your own", remedy))


def as_own_number(x: Any, where: str) -> AnyNumber:
    """x as a float, or as it is if it is a number of the user's own, not of a transform."""
    return as_number(x, where) if level_of(x) in (0, 1) else as_float(x, where)


def apply(operation: Operation, *inputs: AnyNumber) -> AnyNumber:
    """The result of an operation: the input of the innermost derivative decides how to record it.

    To that input the others are constants, whatever they know of derivatives further out.
    """
    innermost = max(inputs, key=level_of)
    name = operation.__name__
    return innermost._record(operation, [innermost._lift(x, name) for x in inputs])


def constant_for(other: "Number", x: Any, name: str) -> AnyNumber:
    """x as a constant beside another number: a float, or a number of an outer derivative.

    TypeError if x is not a number, or one of another kind at the same level: Value and Dual.
    """
    if not isinstance(x, Number):
        return as_float(x, f"{type(other).__name__} {name}")
    if not hasattr(x, "_level"):  # a symbol of a program, a plain number to every derivative
        return x
    if not x._level and other._level <= 1:  # a frozen Value beside a Dual of the user's own
        return x._number()
    if x._level < other._level:
        return x
    remedy = "for forward over reverse wrap each Dual in a Value: Value(dual)"
    kinds = f"{a(other)} and {a(x)}"
    raise TypeError(message(name, kinds, "numbers of one kind", remedy))


def check_result(
    operation: Operation, result: AnyNumber, inputs: Sequence[AnyNumber], level: float
) -> None:
    """Raise a TypeError if a result depends on a number that is not an input of the operation.

    One such is a Value in the closure of a user's rule: its derivative would be lost.
    """
    own = getattr(result, "_level", -1)
    if own >= level and all(level_of(x) < own for x in inputs):
        remedy = "pass all that it depends on as inputs, a Vector as its entries"
        other = f"a result that is {a(result)}, with inputs that are not"
        raise TypeError(
            message(operation.__name__, other, "operations on its inputs alone", remedy)
        )


# -- Operators and methods ----------------------------------------------------------------------

# Whether comparisons are operations: while the gradient is recorded as a graph, so that it chooses
# anew with other numbers, in this thread alone.
records_comparisons: ContextVar[bool] = ContextVar("records_comparisons", default=False)


def _operator(operation: Operation) -> Callable[[N, AnyNumber], N]:
    return lambda self, other: (  # pyright: ignore
        NotImplemented
        if _has_entries(other) and self._yields
        else self._apply(operation, self, other)
    )


def _has_entries(x: object) -> bool:
    """Whether x is an array, through which NumPy or pandas go entry by entry; not a scalar."""
    if not hasattr(x, "__array_ufunc__"):
        return False
    return getattr(x, "ndim", 0) > 0 or getattr(x, "dtype", None) == "O"


def _reflected(operation: Operation) -> Callable[[N, AnyNumber], N]:
    return lambda self, other: self._apply(operation, other, self)  # other + self


def _comparison(
    compare: Callable[[Any, Any], bool], recorded: Compute
) -> Callable[[Any, Any], bool]:
    def comparison(self: "Number", other: Any) -> Any:
        if _has_entries(other):
            return NotImplemented
        if self._conditions():
            return recorded(self, other)
        return bool(
            compare(self._number(), other._number() if isinstance(other, Number) else other)
        )

    return comparison


def _equal(x: AnyNumber, y: AnyNumber) -> AnyNumber:
    return ops.less_equal(x, y) * ops.less_equal(y, x)


class Number:
    """A number that applies operations in its own way: a node, a dual number, a symbol.

    A subclass defines `_level`, `_lift`, `_record` and `_number`. Hashing is by identity, so that
    a node can be the key of a dict.
    """

    __slots__ = ()

    __array_priority__ = -1.0  # above NumPy's numbers, below its arrays
    _level: float  # which derivative it belongs to; infinite for arrays
    _yields = True  # whether NumPy's arrays take it as one of their entries

    def _lift(self, x: AnyNumber, name: str) -> AnyNumber:
        """x as a number of this kind and level, for the operation of that name."""
        raise NotImplementedError

    def _record(self, operation: Operation, numbers: Sequence[AnyNumber]) -> AnyNumber:
        """The result of an operation on numbers of this kind and level."""
        raise NotImplementedError

    def _number(self) -> AnyNumber:
        """The plain number to compare."""
        raise NotImplementedError

    def _apply(self, operation: Operation, *inputs: AnyNumber) -> AnyNumber:
        """The result of an operation on these inputs, of which this is one."""
        return apply(operation, *inputs)

    def _conditions(self) -> bool:
        """Whether a comparison is an operation, which can be recorded, instead of a bool."""
        return records_comparisons.get()

    __add__, __radd__ = _operator(ops.add), _reflected(ops.add)
    __sub__, __rsub__ = _operator(ops.sub), _reflected(ops.sub)
    __mul__, __rmul__ = _operator(ops.mul), _reflected(ops.mul)
    __truediv__, __rtruediv__ = _operator(ops.div), _reflected(ops.div)
    __neg__, __pos__, __abs__ = ops.neg, ops.pos, ops.abs

    def __pow__(self, other: AnyNumber) -> Self:
        return _operator(_power(self, other))(self, other)

    def __rpow__(self, other: AnyNumber) -> Self:  # other ** self
        return self._apply(_power(other, self), other, self)  # type: ignore[no-any-return]

    __eq__ = _comparison(operator.eq, _equal)
    __ne__ = _comparison(operator.ne, lambda x, y: 1.0 - _equal(x, y))
    __lt__ = _comparison(operator.lt, ops.less)
    __le__ = _comparison(operator.le, ops.less_equal)
    __gt__ = _comparison(operator.gt, lambda x, y: ops.less(y, x))
    __ge__ = _comparison(operator.ge, lambda x, y: ops.less_equal(y, x))
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        if self._conditions():
            raise TypeError(FROZEN)
        return bool(self._number())

    def __format__(self, spec: str) -> str:
        return format(self._number(), spec) if spec else repr(self)

    def __xor__(self, other: object) -> NoReturn:
        raise TypeError(message("^", a(self), "a plain number", "write x**2 for a power"))

    __rxor__ = __xor__

    def __float__(self) -> float:
        raise TypeError(LOST)

    def __int__(self) -> int:
        return int(float(self))

    def __round__(self, digits: int | None = None, /) -> float:
        return round(float(self), digits)

    # Operations on one number are methods too, x.exp(), some by NumPy's names: np.exp calls them.
    exp, expm1, log, log1p, sqrt, erf = ops.exp, ops.expm1, ops.log, ops.log1p, ops.sqrt, ops.erf
    sin, cos, tan, sinh, cosh, tanh = ops.sin, ops.cos, ops.tan, ops.sinh, ops.cosh, ops.tanh
    asin, acos, atan, arctan2, hypot = ops.asin, ops.acos, ops.atan, ops.atan2, ops.hypot
    arcsin, arccos, arctan, conjugate = asin, acos, atan, ops.pos  # np.std conjugates
    sigmoid, relu, softplus = ops.sigmoid, ops.relu, ops.softplus


FROZEN = message(
    "create_graph",
    "a bool of a number in the rule of an operation",
    "an operation, which chooses anew with other numbers",
    "write autodiff.where(x > 0, a, b) for `a if x > 0 else b`",
)


def _power(x: AnyNumber, y: AnyNumber) -> Operation:
    """The operation for x ** y, without the derivative by a constant, which may not exist."""
    level: float = max(getattr(x, "_level", 0), getattr(y, "_level", 0))
    if _constant(y, level):
        return ops.power
    return ops.exponential if _constant(x, level) else ops.pow


def _constant(x: object, level: float) -> bool:
    """Whether x is a constant at this level, as is a Dual that does not move."""
    return getattr(x, "_level", 0) < max(level, 1) or getattr(x, "_tangent", 0.0) is None
