"""What an operation is: a function of any kind of number that knows its derivative.

`ops.py` states each once: its value on floats, and a rule, which takes its inputs and returns
(result, backward). Called with floats, an operation computes; with arrays, their library does;
with any other kind of number, the input of the innermost derivative records it (see
`number.apply`).

With `tiny.py`, `grad(grad(lambda x: x * x.tanh()))(0.0)` is a TypeError.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any, Literal, Protocol, Self, SupportsFloat, TypeVar, overload

from .admission import AnyNumber, as_float, as_floats, as_number, as_row, is_array
from .errors import a, counted, described, message, number_in, typed

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
    on_page: bool = False  # it is in `ops.py`; the name of a user's own says nothing

    def __call__(self, *inputs: AnyNumber) -> AnyNumber: ...
    def __hash__(self) -> int: ...


# -- How an operation is stated -----------------------------------------------------------------


def primitive(value: Compute, domain: str = "", sign: str = "") -> Callable[[Rule], OfNumbers]:
    """An operation of `ops.py` that `value` computes on floats; on arrays their library does."""
    return lambda rule: _of_numbers(rule, value, domain=domain, sign=sign, on_page=True)


@overload
def composite(value: Compute) -> Callable[[Rule], OfNumbers]: ...
@overload
def composite(value: Compute, rows: Literal[1]) -> Callable[[Rule], OfRow]: ...
@overload
def composite(value: Compute, rows: Literal[2]) -> Callable[[Rule], OfRows]: ...
def composite(value: Compute, rows: int = 0) -> Callable[[Rule], Operation]:
    """An operation of `ops.py` whose value is made of others, and so takes any kind of number.

    rows: how many rows of numbers it takes, instead of numbers: one operation, and so one node.
    """
    if rows:
        return lambda rule: _of_rows(rule, value, rows)
    return lambda rule: _of_numbers(rule, value, composite=True, on_page=True)


@overload
def operation(rule: Rule, /) -> Operation: ...
@overload
def operation(value: Compute, /, domain: str) -> Callable[[Rule], Operation]: ...
def operation(
    stated: Compute, /, domain: str | None = None
) -> Operation | Callable[[Rule], Operation]:
    """An operation of your own, as a function of any kind of number.

    The rule takes numbers and returns (result, backward), like those in `ops.py`. Written with
    operators and this package's functions, it works in every mode at once, for derivatives of
    any order. It must be a pure function of its inputs: pass all that it depends on as inputs,
    a Vector as its entries. `backward` returns a tuple with a gradient for each input, None for
    an input that has no derivative. It need not be the derivative of the result: an operation may
    pass on the gradient as it is, or stop it. TypeError if the rule returns anything else.

    With a function of floats and its domain (`""` for everywhere), `@operation(math.lgamma,
    domain="x > 0")`, that function computes the result: inside the rule, the operation's own name
    stands for it. A program calls it too, if it has a name in a module.

    To choose, write `where(less(0, x), a, b)`, an operation, so that a graph or a program chooses
    again when its numbers change. `if x > 0` is a TypeError in a program and in a gradient that is
    a graph, because the choice would be fixed.

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

    def of_rule(rule: Rule) -> Operation:
        checked = _checked(rule)
        if domain is not None:
            return _of_numbers(checked, stated, domain=domain)

        @functools.wraps(rule)
        def whole(*inputs: AnyNumber) -> tuple[AnyNumber, Backward]:
            result, backward = checked(*inputs)
            if any(hasattr(x, "_level") for x in inputs):
                # To an outer derivative it is one operation too, whatever the rule's lines are.
                result = made(*inputs)
            return result, backward

        made = _of_numbers(whole, lambda *inputs: checked(*inputs)[0], composite=True)
        return made

    return of_rule(stated) if domain is None else of_rule


def _checked(rule: Rule) -> Rule:
    """A user's rule that raises a TypeError unless it returns (result, backward)."""
    name = getattr(rule, "__name__", "")
    if not hasattr(rule, "__code__"):
        expected = "a function with a name, defined with def"
        remedy = 'for a function of floats give its domain: @operation(math.lgamma, domain="x > 0")'
        raise TypeError(message("operation", typed(rule), expected, remedy))

    @functools.wraps(rule)
    def checked(*inputs: AnyNumber) -> tuple[AnyNumber, Backward]:
        returned: Any = rule(*inputs)
        if not (isinstance(returned, tuple) and len(returned) == 2 and callable(returned[1])):
            expected = "(result, backward), where backward(grad) returns a tuple of gradients"
            raise TypeError(message(name, f"a rule that returns {a(returned)}", expected))
        result, backward = returned
        admit = as_number if _FLOATS.issuperset(map(type, inputs)) else _admit

        def checked_backward(grad: AnyNumber) -> Gradients:
            grads = backward(grad)
            if not isinstance(grads, tuple) or len(grads) != len(inputs):
                expected = f"a tuple of {len(inputs)}: a gradient for each input"
                raise TypeError(message(name, f"a backward that returns {grads!r}", expected))
            return tuple([g if g is None else admit(g, f"{name}, a gradient") for g in grads])

        return admit(result, f"{name}, its result"), checked_backward

    return checked


def _admit(x: AnyNumber, where: str) -> AnyNumber:
    """A number of any kind as it is, an array as one of floats, anything else as a float."""
    return as_floats(x, where) if is_array(x) else as_number(x, where)


# -- How an operation is called -----------------------------------------------------------------

_FLOATS = {float}


def _of_numbers(rule: Rule, value: Compute, **facts: bool | str) -> OfNumbers:
    """The operation on numbers that a rule states."""
    operation: OfNumbers

    # A path for each number of inputs: through a loop, one on floats would take 2.6 times as long.

    def of_one(x: AnyNumber, /) -> AnyNumber:
        if type(x) is not float:
            return x._apply(operation, x) if hasattr(x, "_record") else _dispatch(operation, (x,))
        try:
            return value(x)
        except UNDEFINED as error:
            raise explain(error, operation, (x,)) from None

    def of_two(x: AnyNumber, y: AnyNumber, /) -> AnyNumber:
        if not type(x) is float is type(y):
            there = hasattr(x, "_record")
            return x._apply(operation, x, y) if there else _dispatch(operation, (x, y))
        try:
            return value(x, y)
        except UNDEFINED as error:
            raise explain(error, operation, (x, y)) from None

    def of_three(x: AnyNumber, y: AnyNumber, z: AnyNumber, /) -> AnyNumber:
        if not type(x) is float is type(y) is type(z):
            there = hasattr(x, "_record")
            return x._apply(operation, x, y, z) if there else _dispatch(operation, (x, y, z))
        try:
            return value(x, y, z)
        except UNDEFINED as error:
            raise explain(error, operation, (x, y, z)) from None

    def of_several(*inputs: AnyNumber) -> AnyNumber:
        if not _FLOATS.issuperset(map(type, inputs)):
            return _dispatch(operation, inputs)
        try:
            return value(*inputs)
        except UNDEFINED as error:
            raise explain(error, operation, inputs) from None

    def of_power(x: AnyNumber, y: AnyNumber, /) -> AnyNumber:  # x or y may be a constant, or none
        return x**y if hasattr(x, "_record") or hasattr(y, "_record") else of_two(x, y)

    paths: dict[int, Compute] = {1: of_one, 2: of_two, 3: of_three}
    plain = unwrapped(rule)
    varies = plain.__code__.co_flags & 4 or plain.__defaults__  # def rule(*xs), def rule(x, n=2)
    path = of_several if varies else paths.get(plain.__code__.co_argcount, of_several)
    path = of_power if facts.get("sign") == "**" else path
    operation = _operation(path, rule, rule, value, **facts)
    return operation


def _of_rows(rule: Rule, value: Compute, rows: int) -> Operation:
    """The operation on one or two rows of numbers that a rule states."""
    name = rule.__name__
    operation: Operation

    def of_row(xs: Any, /) -> AnyNumber:
        xs = _row(name, xs)
        return value(xs) if _FLOATS.issuperset(map(type, xs)) else _dispatch(operation, xs)

    def of_two_rows(xs: Any, ys: Any, /) -> AnyNumber:
        xs, ys = _row(name, xs), _row(name, ys)
        if len(xs) != len(ys):
            lengths = f"{len(xs)} and {counted(len(ys), 'number')}"
            raise ValueError(message(name, lengths, "equally many on both sides"))
        floats = _FLOATS.issuperset(map(type, xs)) and _FLOATS.issuperset(map(type, ys))
        return value(xs, ys) if floats else _dispatch(operation, (*xs, *ys))

    def of_all(function: Compute) -> Compute:  # takes numbers, not rows
        if rows == 1:
            return lambda *xs: function(xs)
        return lambda *xs: function(xs[: len(xs) // 2], xs[len(xs) // 2 :])

    path = of_row if rows == 1 else of_two_rows
    operation = _operation(
        path, rule, of_all(rule), of_all(value), rows=rows, composite=True, on_page=True
    )
    return operation


def _operation(path: Compute, stated: Rule, rule: Rule, value: Compute, **facts: int | str) -> Any:
    """The function that is called, with the facts of the operation as its attributes."""
    operation: Any = functools.wraps(stated)(path)
    defaults = {name: x for name, x in vars(Operation).items() if name in Operation.__annotations__}
    vars(operation).update(defaults, rule=rule, value=value, **facts)
    if operation.domain and operation.__doc__:
        operation.__doc__ += f"\n\n    ValueError unless {operation.domain}."
    return operation


def _dispatch(operation: Operation, inputs: Sequence[AnyNumber]) -> AnyNumber:
    """The operation on inputs that are not all floats."""
    plain: list[AnyNumber] = []
    array = None
    for x in inputs:  # a list may stand before a Vector
        if hasattr(x, "_record"):
            return x._apply(operation, *inputs)
    for x in inputs:
        if is_array(x):
            x = as_floats(x, operation.__name__)
            if array is None or x.dtype.kind == "O":
                array = x
        else:
            x = as_float(x, operation.__name__)
        plain.append(x)
    if array is None:
        return operation.value(*plain) if operation.rows else operation(*plain)
    return _over_arrays(operation, plain, array)


def _over_arrays(operation: Operation, inputs: Sequence[AnyNumber], array: AnyNumber) -> AnyNumber:
    """The operation on arrays: that of their library, or entry by entry if it has none.

    An array of objects holds numbers of other kinds; NumPy has no erf.
    """
    objects = array.dtype.kind == "O"
    if operation.composite and (operation.rows or not objects):
        return operation.value(*inputs)
    name = operation.__name__
    of_library = getattr(array.__array_namespace__(), name, None)
    if of_library and operation.on_page and not objects:
        if name == "hypot" and len(inputs) != 2:  # a library's takes two
            return functools.reduce(of_library, inputs[1:] or [0.0], inputs[0])
        return of_library(*inputs)
    numpy = sys.modules["numpy"]
    entries = numpy.frompyfunc(operation, len(inputs), 1)(*inputs)
    return entries if objects else numpy.asarray(entries, float)


def _row(name: str, xs: Any) -> Sequence[AnyNumber]:
    """The numbers of a row."""
    if isinstance(xs, (list, tuple)):
        return xs
    if len(getattr(xs, "shape", ())) > 1:
        remedy = "to add all its numbers write A.sum(), for a product A @ x"
        found = f"{type(xs).__name__} of shape {tuple(xs.shape)}"
        raise TypeError(message(name, found, "numbers in a row", remedy))
    return as_row(xs, name, f"a sequence of numbers: {name}([x, y])")


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
