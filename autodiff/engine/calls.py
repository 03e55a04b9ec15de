"""How an operation is called: with floats it computes; with arrays, their library does.

With any other kind of number, the input of the innermost derivative records it (see
`levels.apply`).

With `tiny.py`, `grad(grad(lambda x: x * x.tanh()))(0.0)` is a TypeError.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from typing import Any

from .admission import AnyNumber, as_float, as_floats, as_row, is_array
from .errors import counted, refusal
from .operation import UNDEFINED, Compute, OfNumbers, Operation, Rule, explain, unwrapped

FLOATS = {float}


def of_numbers(rule: Rule, value: Compute, **facts: bool | str) -> OfNumbers:
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
        if not FLOATS.issuperset(map(type, inputs)):
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


def of_rows(rule: Rule, value: Compute, rows: int) -> Operation:
    """The operation on one or two rows of numbers that a rule states."""
    name = rule.__name__
    operation: Operation

    def of_row(xs: Any, /) -> AnyNumber:
        xs = _row(name, xs)
        return value(xs) if FLOATS.issuperset(map(type, xs)) else _dispatch(operation, xs)

    def of_two_rows(xs: Any, ys: Any, /) -> AnyNumber:
        xs, ys = _row(name, xs), _row(name, ys)
        if len(xs) != len(ys):
            lengths = f"{len(xs)} and {counted(len(ys), 'number')}"
            raise ValueError(refusal(name, lengths, "equally many on both sides"))
        floats = FLOATS.issuperset(map(type, xs)) and FLOATS.issuperset(map(type, ys))
        return value(xs, ys) if floats else _dispatch(operation, (*xs, *ys))

    def of_all(function: Compute) -> Compute:  # takes numbers, not rows
        if rows == 1:
            return lambda *xs: function(xs)
        return lambda *xs: function(xs[: len(xs) // 2], xs[len(xs) // 2 :])

    path = of_row if rows == 1 else of_two_rows
    operation = _operation(
        path, rule, of_all(rule), of_all(value), rows=rows, composite=True, in_ops=True
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
    if of_library and operation.in_ops and not objects:
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
        raise TypeError(refusal(name, found, "numbers in a row", remedy))
    return as_row(xs, name, f"a sequence of numbers: {name}([x, y])")
