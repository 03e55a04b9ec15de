"""What all kinds of number have in common: operators, methods, and levels of derivatives.

A kind of number is a subclass of `Number` that says how it lifts other numbers to itself, and how
it records an operation.
"""

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, Self, TypeVar

from . import functions, ops
from .errors import LEAKED, LOST, a, message, typed
from .functions import as_float, as_floats, as_number, is_array

N = TypeVar("N", bound="Number")
Rule = Callable[..., ops.Result]

# -- Levels: which derivative a number belongs to ------------------------------------------------

_levels = itertools.count(2)  # 1 is for the Values and Duals that a user makes, 0 for constants
_open: set[float] = {-1, 0, 0.5, 1, math.inf}


@contextmanager
def new_level() -> Iterator[int]:
    """A level for the variables of one derivative, deeper than every level before it.

    So in d/dx[x * d/dy(x + y)] the inner derivative sees x as a constant. The level is closed when
    the function being differentiated has returned: its numbers cannot be used after that.
    """
    level = next(_levels)
    try:
        _open.add(level)
        yield level
    finally:
        _open.discard(level)


def level_of(x: Any) -> float:
    """How deep in nested derivatives x is; -1 for a plain number.

    RuntimeError if x belongs to a derivative that has been computed already.
    """
    level: float = getattr(x, "_level", -1)
    if level not in _open:
        raise RuntimeError(LEAKED)
    return level


def check_outside(x: Any, where: str) -> None:
    """Raise a RuntimeError if x is a number inside a function that is being differentiated.

    Stripped of its derivative it would be a constant to that function.
    """
    if x._level > 1:
        inside = "a number inside a function that is being differentiated"
        remedy = "use it only in operations; for a derivative nest grad: grad(lambda y: ...)(x)"
        raise RuntimeError(message(where, inside, "a Value of your own", remedy))


def outer(x: Any, where: str) -> Any:
    """x as a float, or as it is if it is a number of the user's own, not of a transform."""
    return as_number(x, where) if level_of(x) in (0, 1) else as_float(x, where)


def apply(rule: Rule, *inputs: Any) -> Any:
    """The result of an operation: the deepest input leads, lifts the others to itself, records.

    All that the others know of their own derivatives stays inside them, as in plain numbers.
    """
    lead = max(inputs, key=level_of)
    name = rule.__name__
    return lead._record(rule, [lead._lift(x, name) for x in inputs])


def constant_for(lead: Any, x: Any, name: str) -> Any:
    """x as a constant beside `lead` in an operation: a float, or a number of an outer derivative.

    TypeError if x is not a number, or one of another kind at the same level: Value and Dual.
    """
    if not isinstance(x, Number):
        return as_float(x, f"{type(lead).__name__} {name}")
    if not hasattr(x, "_level"):  # a symbol of a program, a plain number to every derivative
        return x
    if not x._level:  # it requires no gradient
        return x._number()
    if x._level < lead._level:
        return x
    remedy = "for forward over reverse wrap each Dual in a Value: Value(dual)"
    kinds = f"{a(lead)} and {a(x)}"
    raise TypeError(message(name, kinds, "numbers of one kind", remedy))


def check_result(rule: Rule, result: Any, numbers: Sequence[Any], level: float) -> None:
    """Raise a TypeError if a result depends on a number that is not an input of the operation.

    One such is a Value in the closure of a user's rule: its derivative would be lost.
    """
    own = getattr(result, "_level", -1)
    if own >= level and all(level_of(x) < own for x in numbers):
        remedy = "pass all that it depends on as inputs, a Vector as its entries"
        other = f"a result that is {a(result)}, with inputs that are not"
        raise TypeError(message(rule.__name__, other, "operations on its inputs alone", remedy))


# -- Operators and methods ----------------------------------------------------------------------


def _operator(rule: Rule) -> Callable[[N, Any], N]:
    return lambda self, other: _applied(rule, self, other)


def _applied(rule: Rule, x: Any, y: Any) -> Any:
    if hasattr(y, "__array_ufunc__") and y.ndim:
        return NotImplemented  # numpy and pandas go through their arrays entry by entry
    return x._apply(rule, x, y)


def _reflected(rule: Rule) -> Callable[[N, Any], N]:
    return lambda self, other: self._apply(rule, other, self)  # other + self


def _comparison(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], bool]:
    def comparison(self: Any, other: Any) -> Any:
        if hasattr(other, "__array_ufunc__") and other.ndim:
            return NotImplemented
        return bool(
            compare(self._number(), other._number() if isinstance(other, Number) else other)
        )

    return comparison


class Number(functions.Methods):
    """A number that applies operations in its own way: a node, a dual number, a symbol.

    A subclass defines `_level`, the derivative that it belongs to; `_lift(x, name)`, x as a number
    of its kind and level for an operation; `_record(rule, numbers)`, the result of an operation of
    `ops.py`; and `_number()`, the plain number to compare. Hashing is by identity, so that a node
    can be the key of a dict.
    """

    __slots__ = ()

    __array_priority__ = -1.0  # above NumPy's numbers, below its arrays
    _level: Any  # a number; infinite for arrays
    _lift: Any
    _record: Any
    _number: Any

    def _apply(self, rule: Rule, *inputs: Any) -> Any:
        """The result of an operation on these inputs, of which this is one."""
        return apply(rule, *inputs)

    def _call(self, name: str, *inputs: Any) -> Any:
        """Apply the operation of `ops.py` with this name."""
        return self._apply(getattr(ops, name), *inputs)

    __add__, __radd__ = _operator(ops.add), _reflected(ops.add)
    __sub__, __rsub__ = _operator(ops.sub), _reflected(ops.sub)
    __mul__, __rmul__ = _operator(ops.mul), _reflected(ops.mul)
    __truediv__, __rtruediv__ = _operator(ops.div), _reflected(ops.div)

    def __neg__(self) -> Self:
        return self._apply(ops.neg, self)  # type: ignore[no-any-return]

    def __pos__(self) -> Self:
        return self._apply(ops.pos, self)  # type: ignore[no-any-return]

    def __pow__(self, other: Any) -> Self:
        return _applied(_power_rule(self, other), self, other)  # type: ignore[no-any-return]

    def __rpow__(self, other: Any) -> Self:  # other ** self
        return self._apply(_power_rule(other, self), other, self)  # type: ignore[no-any-return]

    __eq__, __ne__ = _comparison(operator.eq), _comparison(operator.ne)
    __lt__, __le__ = _comparison(operator.lt), _comparison(operator.le)
    __gt__, __ge__ = _comparison(operator.gt), _comparison(operator.ge)
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return bool(self._number())

    def __format__(self, spec: str) -> Any:
        return format(self._number(), spec) if spec else repr(self)

    def _no_bits(self, *other: Any) -> Any:
        remedy = "write x**2 for a power, x * y for and, maximum(x, y) for or, 1 - x for not"
        raise TypeError(message("^ & | ~", a(self), "whole numbers or bools", remedy))

    __xor__ = __rxor__ = __and__ = __rand__ = __or__ = __ror__ = __invert__ = _no_bits

    def __float__(self) -> float:
        raise TypeError(LOST)

    def __int__(self) -> int:
        return int(float(self))

    def __round__(self, digits: int | None = None, /) -> float:
        return round(float(self), digits)

    def conjugate(self) -> Self:
        """The number itself: it is real. NumPy asks for it, as in np.std."""
        return self


for _name, _function in functions.UNARY.items():  # x.exp(), which is what numpy.exp(x) calls
    setattr(Number, {"abs": "__abs__"}.get(_name, _name), _function)
for _name in ("asin", "acos", "atan", "atan2"):  # as NumPy names them
    setattr(Number, f"arc{_name[1:]}", getattr(functions, _name))
Number.hypot = functions.hypot  # type: ignore[attr-defined]


def _power_rule(x: Any, y: Any) -> Rule:
    """The operation for x ** y, without the derivative by a constant, which may not exist."""
    level = max(getattr(x, "_level", 0), getattr(y, "_level", 0))
    if _constant(y, level):
        return ops.power
    return ops.exponential if _constant(x, level) else ops.pow


def _constant(x: Any, level: int) -> bool:
    """Whether x is a constant at this level, as is a Dual that does not move."""
    return getattr(x, "_level", 0) < max(level, 1) or getattr(x, "_tangent", 0.0) is None


# -- Operations of one's own --------------------------------------------------------------------


def operation(rule: Rule) -> Callable[..., Any]:
    """An operation of your own, as a function of any kind of number.

    The rule takes numbers and returns (result, backward), like those in `ops.py`. Written with
    operators and this package's functions, it works in every mode at once, for derivatives of
    any order. It must be a pure function of its inputs: pass all that it depends on as inputs,
    a Vector as its entries. `backward` returns a tuple with a gradient for each input, None for
    an input that has no derivative. It need not be the derivative of the result: an operation may
    pass on the gradient as it is, or stop it. TypeError if the rule returns anything else.

    To choose, write `where(less(0, x), a, b)`, an operation, so that a graph or a program chooses
    again when its numbers change. In a program `if x > 0` is a TypeError, because the choice would
    be fixed.

    >>> @operation
    ... def cube(x):
    ...     return x * x * x, lambda grad: (grad * 3 * x * x,)
    >>> cube(2.0)
    8.0
    >>> from autodiff import Value
    >>> x = Value(2.0)
    >>> cube(x).backward()
    >>> x.grad
    12.0
    """
    name: Any = getattr(rule, "__name__", None)
    if name is None:
        expected = "a function with a name, defined with def"
        raise TypeError(message("operation", typed(rule), expected))

    @wraps(rule)
    def checked(*numbers: Any) -> ops.Result:
        returned: Any = rule(*numbers)
        if not (isinstance(returned, tuple) and len(returned) == 2 and callable(returned[1])):
            expected = "(result, backward), where backward(grad) returns a tuple of gradients"
            raise TypeError(message(name, f"a rule that returns {a(returned)}", expected))
        result, backward = returned
        if any(hasattr(x, "_level") for x in numbers):
            # To an outer derivative it is one operation too, whatever the rule's lines are.
            result = apply(checked, *numbers)
        admit = as_number if all(type(x) is float for x in numbers) else _admit

        def checked_backward(grad: Any) -> tuple[Any, ...]:
            grads = backward(grad)
            if not isinstance(grads, tuple) or len(grads) != len(numbers):
                expected = f"a tuple of {len(numbers)}: a gradient for each input"
                raise TypeError(message(name, f"a backward that returns {grads!r}", expected))
            return tuple([g if g is None else admit(g, f"{name}, a gradient") for g in grads])

        return admit(result, f"{name}, its result"), checked_backward

    @wraps(rule)
    def function(*inputs: Any) -> Any:
        if any(hasattr(x, "_level") for x in inputs):
            return apply(checked, *inputs)
        return checked(*[_admit(x, name) for x in inputs])[0]

    return function


def _admit(x: Any, where: str) -> Any:
    """A number of any kind as it is, an array as one of floats, anything else as a float."""
    return as_floats(x) if is_array(x) else as_number(x, where)
