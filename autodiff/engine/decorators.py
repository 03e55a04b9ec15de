"""How an operation is stated: `@primitive`, `@composite`, and for one of your own `@operation`.

`ops.py` states each once: its value on floats, and a rule.

With `tiny.py`, `tanh(0.0)` is a tuple: there it is the rule, which is no function of numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal, overload

from .admission import AnyNumber, as_floats, as_number, is_array
from .calls import FLOATS, of_numbers, of_rows
from .errors import kind_of, refusal, typed
from .operation import Backward, Compute, Gradients, OfNumbers, OfRow, OfRows, Operation, Rule


def primitive(value: Compute, domain: str = "", sign: str = "") -> Callable[[Rule], OfNumbers]:
    """An operation of `ops.py` that `value` computes on floats; on arrays their library does."""
    return lambda rule: of_numbers(rule, value, domain=domain, sign=sign, in_ops=True)


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
        return lambda rule: of_rows(rule, value, rows)
    return lambda rule: of_numbers(rule, value, composite=True, in_ops=True)


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
            return of_numbers(checked, stated, domain=domain)

        @functools.wraps(rule)
        def whole(*inputs: AnyNumber) -> tuple[AnyNumber, Backward]:
            result, backward = checked(*inputs)
            if any(hasattr(x, "_level") for x in inputs):
                # To an outer derivative it is one operation too, whatever the rule's lines are.
                result = made(*inputs)
            return result, backward

        made = of_numbers(whole, lambda *inputs: checked(*inputs)[0], composite=True)
        return made

    return of_rule(stated) if domain is None else of_rule


def _checked(rule: Rule) -> Rule:
    """A user's rule that raises a TypeError unless it returns (result, backward)."""
    name = getattr(rule, "__name__", "")
    if not hasattr(rule, "__code__"):
        expected = "a function with a name, defined with def"
        remedy = 'for a function of floats give its domain: @operation(math.lgamma, domain="x > 0")'
        raise TypeError(refusal("operation", typed(rule), expected, remedy))

    @functools.wraps(rule)
    def checked(*inputs: AnyNumber) -> tuple[AnyNumber, Backward]:
        returned: Any = rule(*inputs)
        if not (isinstance(returned, tuple) and len(returned) == 2 and callable(returned[1])):
            expected = "(result, backward), where backward(grad) returns a tuple of gradients"
            raise TypeError(refusal(name, f"a rule that returns {kind_of(returned)}", expected))
        result, backward = returned
        admit = as_number if FLOATS.issuperset(map(type, inputs)) else _admit

        def checked_backward(grad: AnyNumber) -> Gradients:
            grads = backward(grad)
            if not isinstance(grads, tuple) or len(grads) != len(inputs):
                expected = f"a tuple of {len(inputs)}: a gradient for each input"
                raise TypeError(refusal(name, f"a backward that returns {grads!r}", expected))
            return tuple([g if g is None else admit(g, f"{name}, a gradient") for g in grads])

        return admit(result, f"{name}, its result"), checked_backward

    return checked


def _admit(x: AnyNumber, subject: str) -> AnyNumber:
    """A number of any kind as it is, an array as one of floats, anything else as a float."""
    return as_floats(x, subject) if is_array(x) else as_number(x, subject)
