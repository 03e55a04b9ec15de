"""Symbols: numbers that are not known yet.

The `Writer` of a symbol records each operation on it. So a graph that is run over symbols, and its
backward pass, leave the operations of a program behind.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from .. import functions, ops
from ..errors import message
from ..number import Number, Rule, apply


class Symbol(Number):
    """A number that is not known yet: the result of an operation on other symbols and numbers.

    `functions.py` takes it for an array, and its `Writer` for the array's library.
    """

    __slots__ = ("args", "kept", "name", "number", "op", "writer")

    def __init__(self, writer: "Writer", number: int, op: str, args: tuple[Any, ...]) -> None:
        self.writer, self.number, self.op, self.args = writer, number, op, args
        self.name = ""  # of its line in a program, if it has one
        self.kept = False  # whether it has a line even if it is short and used once

    def _apply(self, rule: Rule, *inputs: Any) -> Any:
        known = [x for x in inputs if isinstance(x, Number) and not isinstance(x, Symbol)]
        if known:  # a derivative in a user's rule
            return apply(rule, *inputs)
        op = ARITHMETIC.get(rule)
        if op:
            return self.writer.write(op, *inputs)
        return rule(*inputs)[0]  # through functions.py: arithmetic, and calls of the library

    def __array_namespace__(self) -> "Writer":
        return self.writer

    __lt__ = functions.less  # a comparison is an operation
    __le__ = functions.less_equal
    __hash__ = object.__hash__

    def __eq__(self, other: Any) -> Any:
        return functions.less_equal(self, other) * functions.less_equal(other, self)

    def __ne__(self, other: Any) -> Any:
        return 1.0 - (self == other)

    def __gt__(self, other: Any) -> Any:
        return functions.less(other, self)

    def __ge__(self, other: Any) -> Any:
        return functions.less_equal(other, self)

    def __pos__(self) -> Any:
        return self

    def __repr__(self) -> str:
        return "<a number that is not known yet>"

    def _number(self, *other: Any) -> Any:
        """Refuse to be read as a number: the answer would be fixed in the program."""
        raise TypeError(UNKNOWN)

    __float__ = __int__ = __index__ = __bool__ = __str__ = _number
    __format__ = _number  # type: ignore[assignment]


UNKNOWN = message(
    "compile",
    "a comparison, a bool, a float or a text of a number that is not known yet",
    "operations on it",
    "write autodiff.maximum, relu or where(less(x, y), ...) for a choice, and autodiff.sin(x) for "
    "math.sin(x)",
)
ARITHMETIC = {ops.add: "add", ops.sub: "sub", ops.mul: "mul", ops.div: "div", ops.neg: "neg"}
ARITHMETIC |= {ops.power: "pow", ops.exponential: "pow", ops.pow: "pow"}


class Writer:
    """The operations of a program, each once, in an order in which they can run."""

    def __init__(self) -> None:
        self.symbols: dict[Any, Symbol] = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return partial(self.write, name)  # exp, where, maximum, ...

    def argument(self, name: str) -> Symbol:
        """A symbol for an argument of the program."""
        return self._once(name, ())

    def write(self, op: str, *args: Any) -> Any:
        """The symbol of an operation, or what is left of it after simplification."""
        given: list[Any] = [x if isinstance(x, Symbol) else float(x) for x in args]
        if op == "where":
            condition, *choices = given
            if condition.op == "where" and key_of("", condition.args[1:]) == ("", "1.0", "0.0"):
                condition = condition.args[0]  # it was made a number
            return self._once(op, (condition, *map(self.as_number, choices)))
        x: Any
        x, *others = map(self.as_number, given)
        if op == "neg":
            return x.args[0] if _negated(x) else self._once(op, (x,))
        if op == "pow" and _is(others[0], 1.0):
            return x
        if op == "abs" and _negated(x):  # as in sigmoid(-x) beside sigmoid(x)
            x = x.args[0]
        if op in CONDITIONS and _negated(x) and _is(others[0], 0.0):  # 0 < x for -x < 0
            x, others = 0.0, list(x.args)
        if op in ("add", "sub"):
            return self._sum(op, x, *others)
        return (
            self._product(op, x, *others) if op in ("mul", "div") else self._once(op, (x, *others))
        )

    def as_number(self, x: Any) -> Any:
        """A condition as 1.0 or 0.0; any other number as it is."""
        condition = isinstance(x, Symbol) and x.op in CONDITIONS
        return self.write("where", x, 1.0, 0.0) if condition else x

    def _once(self, op: str, args: tuple[Any, ...]) -> Symbol:
        if op in ("add", "mul") and key_of(op, args[::-1]) in self.symbols:
            args = args[::-1]
        key = key_of(op, args)
        if key not in self.symbols:
            self.symbols[key] = self._new(op, args)
        return self.symbols[key]

    def _new(self, op: str, args: tuple[Any, ...]) -> Symbol:
        return Symbol(self, len(self.symbols), op, args)

    def _sum(self, op: str, x: Any, y: Any) -> Any:
        """x + y or x - y without zeros and double signs: the same number, to the last digit."""
        if _negated(y):
            op, y = "sub" if op == "add" else "add", y.args[0]
        if _negated(x) and op == "add":
            op, x, y = "sub", y, x.args[0]
        if _is(y, 0.0):
            return x
        if _is(x, 0.0):
            return y if op == "add" else -y
        return self._once(op, (x, y))

    def _product(self, op: str, x: Any, y: Any) -> Any:
        """x y or x / y without ones, and with the sign in front: to the last digit the same."""
        (sign, x), (other, y) = _signed(x), _signed(y)
        if op == "mul" and _is(x, 1.0):
            x, y = y, x
        result = x if _is(y, 1.0) else self._once(op, (x, y))
        return result if sign == other else -result


def key_of(op: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """A key for an operation: its name and its arguments."""
    return op, *[x.number if isinstance(x, Symbol) else repr(x) for x in args]


def _is(x: Any, number: float) -> bool:
    return type(x) is float and x == number


CONDITIONS = {"less", "less_equal"}  # these are true or false in a program, not numbers


def _negated(x: Any) -> bool:
    return isinstance(x, Symbol) and x.op == "neg"


def _signed(x: Any) -> tuple[int, Any]:
    """The sign of a factor, and the factor without it."""
    if _negated(x):
        return -1, x.args[0]
    return (-1, 1.0) if _is(x, -1.0) else (1, x)


def itself(x: Any) -> Any:
    """x without any renaming of its axes."""
    while x.op == "as":
        x = x.args[0]
    return x
