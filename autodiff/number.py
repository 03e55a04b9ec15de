"""Operators and methods of every kind of number, and the levels of nested derivatives.

A kind of number is a subclass of `Number` that says how to apply an operation to itself.
"""

import itertools
import math
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from numbers import Number as PlainNumber
from typing import Any, TypeVar

from . import functions, ops
from .errors import LEAKED, LOST, a, message, typed
from .functions import as_float, as_floats, is_array

N = TypeVar("N", bound="Number")
Rule = Callable[..., ops.Result]

# -- Levels: which derivative a number belongs to ------------------------------------------------

_levels = itertools.count(2)  # 1 is for the Values and Duals that a user makes, 0 for constants
_open: set[float] = {0, 1, math.inf}


@contextmanager
def new_level() -> Iterator[int]:
    """A level for the variables of one derivative, deeper than every level before it.

    The deepest number in an operation applies it, and treats all others as plain numbers. So in
    d/dx[x * d/dy(x + y)] the inner derivative sees x as a constant. The level is closed when the
    function being differentiated has returned: its numbers cannot be used after that.
    """
    level = next(_levels)
    try:
        _open.add(level)
        yield level
    finally:
        _open.discard(level)


def top_level(inputs: Sequence[Any]) -> Any:
    """The input with the deepest level, which applies the operation; None if all are plain."""
    top, deepest = None, -1
    for x in inputs:
        level = getattr(x, "_level", -1)
        if level > deepest:
            top, deepest = x, level
    check_level(top)
    return top


def check_level(x: Any) -> None:
    """Raise a RuntimeError if x belongs to a derivative that has been computed already."""
    if getattr(x, "_level", 0) > 1 and x._level not in _open:
        raise RuntimeError(LEAKED)


def check_outside(x: Any, where: str) -> None:
    """Raise a RuntimeError if x is a number inside a function that is being differentiated.

    Stripped of its derivative it would be a constant to that function.
    """
    if x._level > 1:
        found = "a number inside a function that is being differentiated"
        remedy = "use it only in operations; for a derivative nest grad: grad(lambda y: ...)(x)"
        raise RuntimeError(message(where, found, "a Value of your own", remedy))


def admit(x: Any, level: int, rule: Rule, kind: type["Number"]) -> Any:
    """x as an input of an operation (`rule`) on numbers of this kind and level.

    It may be a number of this kind and level, a number of an outer derivative, which is a
    constant to this one, or a plain number. TypeError for anything else.
    """
    if not isinstance(x, Number):
        return as_float(x, f"{kind.__name__} {rule.__name__}")
    if not hasattr(x, "_level"):  # a symbol of a program, a plain number to every derivative
        return x
    if not x._level and not isinstance(x, kind):  # a constant Value beside a Dual
        return x._number()
    if (isinstance(x, kind) and x._level in (level, 0)) or 0 < x._level < level:
        check_level(x)
        return x
    found = f"a {kind.__name__} and {a(x)}"
    remedy = "for forward over reverse wrap each Dual in a Value: Value(dual)"
    raise TypeError(message(rule.__name__, found, "numbers of one kind", remedy))


def nested_result(result: Any, numbers: Sequence[Any], level: int, rule: Rule) -> Any:
    """The result of a rule that ran over numbers of an outer derivative.

    A user's operation is applied to them as one operation: the derivative that its rule states
    need not be that of the lines in it.

    Raise a TypeError if the result depends on a number that is not an input. One such is a Value
    in its closure: a node of this level would take it for a plain number, with derivative 0.0.
    """
    own = getattr(result, "_level", 0)
    if own >= level and all(getattr(x, "_level", 0) < own for x in numbers):
        found = f"a result that is {a(result)}, with inputs that are not"
        remedy = "pass all that it depends on as inputs, a Vector as its entries"
        raise TypeError(message(rule.__name__, found, "operations on its inputs alone", remedy))
    top = top_level(numbers) if hasattr(rule, "__wrapped__") else None
    return result if top is None else top._apply(rule, *numbers)


# -- Operators and methods ----------------------------------------------------------------------


def _operator(rule: Rule) -> Callable[[N, Any], N]:
    return lambda self, other: _applied(rule, self, other)


def _applied(rule: Rule, x: Any, y: Any) -> Any:
    if hasattr(y, "__array_ufunc__") and not isinstance(y, Number) and x._level < math.inf:
        return NotImplemented  # numpy and pandas go through their arrays entry by entry
    return x._apply(rule, x, y)


def _reflected(rule: Rule) -> Callable[[N, Any], N]:
    return lambda self, other: self._apply(rule, other, self)  # other + self


def _method(rule: Rule) -> Callable[[N], N]:
    """A method for an operation with one input: so x.exp() works, as does numpy.exp(x)."""

    def method(self: N) -> N:
        found: N = self._apply(rule, self)
        return found

    method.__name__ = rule.__name__
    method.__doc__ = (getattr(functions, rule.__name__, rule).__doc__ or "").partition("\n")[0]
    return method


def _comparison(
    compare: Callable[[Any, Any], Any], in_rule: Callable[[Any, Any], Any]
) -> Callable[[Any, Any], bool]:
    """A comparison: a bool, but inside a user's rule an operation."""

    def comparison(self: Any, other: Any) -> Any:
        ours = isinstance(other, Number)
        plain = isinstance(other, PlainNumber) or getattr(other, "ndim", None) == 0  # of a library
        if not (ours or plain):
            return NotImplemented
        if running.get():
            return in_rule(self, other)
        return bool(compare(self._number(), other._number() if ours else other))

    return comparison


def _equal(x: Any, y: Any) -> Any:
    return functions.less_equal(x, y) * functions.less_equal(y, x)


running: ContextVar[str] = ContextVar("running", default="")
"""The user's operation whose rule is running on Values or other Numbers, not on plain floats."""


def _run(name: str, function: Callable[..., Any], *inputs: Any, held: Sequence[Any] = ()) -> Any:
    """Call a rule with its inputs, or its closure, which holds numbers, with a gradient."""
    if not any(isinstance(x, Number) for x in (*inputs, *held)):
        return function(*inputs)
    before = running.get()
    try:
        running.set(name)  # inside the try, in case of an interrupt
        return function(*inputs)
    finally:
        running.set(before)


class Number:
    """A number that applies operations in its own way: a node, a dual number, a symbol.

    A subclass defines `_apply(rule, *inputs)`, which returns the result of an operation of
    `ops.py`; `_number()`, the plain number to compare; and `_level`, the derivative that it
    belongs to. Comparisons return a bool. Hashing is by identity, so that a node can be the key
    of a dict.
    """

    __slots__ = ()

    _level: int

    def _apply(self, rule: Rule, *inputs: Any) -> Any:
        raise NotImplementedError

    def _number(self) -> Any:
        raise NotImplementedError

    def _call(self, name: str, *inputs: Any) -> Any:
        """Apply the operation of `ops.py` with this name."""
        return self._apply(getattr(ops, name), *inputs)

    __add__, __radd__ = _operator(ops.add), _reflected(ops.add)
    __sub__, __rsub__ = _operator(ops.sub), _reflected(ops.sub)
    __mul__, __rmul__ = _operator(ops.mul), _reflected(ops.mul)
    __truediv__, __rtruediv__ = _operator(ops.div), _reflected(ops.div)
    __neg__, __pos__, __abs__ = _method(ops.neg), _method(ops.pos), _method(ops.abs)

    def __pow__(self: N, other: Any) -> N:
        found: N = _applied(_power_rule(self, other), self, other)
        return found

    def __rpow__(self: N, other: Any) -> N:  # other ** self
        found: N = self._apply(_power_rule(other, self), other, self)
        return found

    __eq__ = _comparison(operator.eq, _equal)
    __ne__ = _comparison(operator.ne, lambda x, y: 1.0 - _equal(x, y))
    __lt__ = _comparison(operator.lt, functions.less)
    __le__ = _comparison(operator.le, functions.less_equal)
    __gt__ = _comparison(operator.gt, lambda x, y: functions.less(y, x))
    __ge__ = _comparison(operator.ge, lambda x, y: functions.less_equal(y, x))
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return bool(self._number())

    def _no_bits(self, *other: Any) -> Any:
        remedy = "for conditions write x * y for and, maximum(x, y) for or, 1 - x for not"
        raise TypeError(message("& | ^ ~", a(self), "whole numbers or bools", remedy))

    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __invert__ = _no_bits

    def __float__(self) -> float:
        raise TypeError(LOST)

    def __int__(self) -> int:
        return int(float(self))

    exp, log, sqrt = _method(ops.exp), _method(ops.log), _method(ops.sqrt)
    sin, cos, tan = _method(ops.sin), _method(ops.cos), _method(ops.tan)
    asin, acos, atan = _method(ops.asin), _method(ops.acos), _method(ops.atan)
    sinh, cosh, tanh = _method(ops.sinh), _method(ops.cosh), _method(ops.tanh)
    erf, sigmoid = _method(ops.erf), _method(ops.sigmoid)
    relu, softplus = _method(ops.relu), _method(ops.softplus)
    arcsin, arccos, arctan = asin, acos, atan  # numpy's names

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """numpy's functions and operators, on numbers and on each entry of arrays."""
        name = str(_NUMPYS_NAMES.get(ufunc.__name__, ufunc.__name__))
        function = getattr(operator, name, None) or getattr(functions, name, None)
        if method != "__call__" or function is None:
            where = f"numpy.{ufunc.__name__}"
            raise TypeError(message(where, a(self), "a function that autodiff has"))
        arrays = [getattr(x, "ndim", 0) > 0 and not isinstance(x, Number) for x in inputs]
        if not any(arrays):
            inputs = tuple([x[()] if getattr(x, "ndim", None) == 0 else x for x in inputs])
            numbers = [x if isinstance(x, Number) else as_float(x, name) for x in inputs]
            return function(*numbers, **options)
        numpy = sys.modules["numpy"]
        entries = [x if array else numpy.array(None) for x, array in zip(inputs, arrays)]
        for box, x, array in zip(entries, inputs, arrays):
            if not array:
                box[()] = x
        found = numpy.frompyfunc(function, len(inputs), 1)(*entries, **options)
        return found.astype(bool) if ufunc.__name__ in COMPARISONS else found


COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")  # numpy's
_NUMPYS_NAMES = {
    "equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt",
    "greater_equal": "ge", "subtract": "sub", "multiply": "mul", "divide": "truediv",
    "power": "pow", "float_power": "pow", "negative": "neg", "positive": "pos",
    "absolute": "abs", "fabs": "abs", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
}  # fmt: skip


def _power_rule(x: Any, y: Any) -> Rule:
    """The operation for x ** y, without the derivative by a constant, which may not exist."""
    level = max(getattr(x, "_level", 0), getattr(y, "_level", 0))
    if _constant(y, level):
        return ops.power
    return ops.exponential if _constant(x, level) else ops.pow


def _constant(x: Any, level: int) -> bool:
    """Whether x is a constant at this level, as is a Dual that does not move."""
    return getattr(x, "_level", 0) < max(level, 1) or getattr(x, "_tangent", 0.0) is None


def operation(rule: Rule) -> Callable[..., Any]:
    """An operation of your own, as a function of any kind of number.

    The rule takes numbers and returns (result, backward), like those in `ops.py`. Written with
    operators and this package's functions, it works in every mode at once, for derivatives of
    any order. `backward` returns a tuple with a gradient for each input, None for an input that
    has no derivative. It need not be the derivative of the result: an operation may pass on the
    gradient as it is, or stop it. TypeError if the rule returns anything else.

    To choose, write `where(x > 0, a, b)`: over nodes and symbols `x > 0` is an operation too, so
    a graph or a program chooses again when its numbers change. `if x > 0` would freeze the
    choice, and is a TypeError there. So is a Value that the rule does not get as an input,
    because its derivative would be lost.

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
        found: Any = _run(name, rule, *numbers)
        if not (isinstance(found, tuple) and len(found) == 2 and callable(found[1])):
            expected = "(result, backward), where backward(grad) returns a tuple of gradients"
            raise TypeError(message(name, f"a rule that returns {a(found)}", expected))
        result, backward = found
        plain = all(type(x) is float for x in numbers)
        number = one_number if plain else _any_number

        def checked_backward(grad: Any) -> tuple[Any, ...]:
            grads = _run(name, backward, grad, held=numbers)
            if not isinstance(grads, tuple) or len(grads) != len(numbers):
                expected = f"a tuple of {len(numbers)}: a gradient for each input"
                raise TypeError(message(name, f"a backward that returns {grads!r}", expected))
            return tuple([g if g is None else number(g, f"{name}, a gradient") for g in grads])

        return number(result, f"{name}, its result"), checked_backward

    @wraps(rule)
    def function(*inputs: Any) -> Any:
        top = top_level(inputs)
        if top is not None:
            return top._apply(checked, *inputs)
        return checked(*[_any_number(x, name) for x in inputs])[0]

    return function


def _any_number(x: Any, where: str) -> Any:
    """x itself if it is a Number or a complex number, an array of floats, else x as a float."""
    return as_floats(x) if type(x) is complex or is_array(x) else one_number(x, where)


def one_number(x: Any, where: str) -> Any:
    """x itself if it is a single Number, else x as a float."""
    return x if isinstance(x, Number) and not isinstance(x, Iterable) else as_float(x, where)
