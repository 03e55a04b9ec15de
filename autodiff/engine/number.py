"""What all kinds of number have in common: operators and methods.

A kind of number is a subclass of `Number` that says how it lifts other numbers to itself, and how
it records an operation.

With `tiny.py`, `6 / x` is a TypeError.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Self, TypeVar

from . import ops
from .admission import AnyNumber
from .errors import LOST, kind_of, refusal
from .levels import OWN, PLAIN, apply, records_comparisons
from .operation import Compute, Operation

N = TypeVar("N", bound="Number")


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
    _level: float  # which derivative it belongs to: see `levels.py`
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
        raise TypeError(refusal("^", kind_of(self), "a plain number", "write x**2 for a power"))

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


FROZEN = refusal(
    "create_graph",
    "a bool of a number in the rule of an operation",
    "an operation, which chooses anew with other numbers",
    "write autodiff.where(x > 0, a, b) for `a if x > 0 else b`",
)


def _power(x: AnyNumber, y: AnyNumber) -> Operation:
    """The operation for x ** y, without the derivative by a constant, which may not exist."""
    level: float = max(getattr(x, "_level", PLAIN), getattr(y, "_level", PLAIN))
    if _constant(y, level):
        return ops.power
    return ops.exponential if _constant(x, level) else ops.pow


def _constant(x: object, level: float) -> bool:
    """Whether x is a constant at this level, as is a Dual that does not move."""
    return getattr(x, "_level", PLAIN) < max(level, OWN) or getattr(x, "_tangent", 0.0) is None
