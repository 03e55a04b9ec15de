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

    __slots__ = ("args", "number", "op", "writer")

    def __init__(self, writer: "Writer", number: int, op: str, args: tuple[Any, ...]) -> None:
        self.writer, self.number, self.op, self.args = writer, number, op, args

    def _apply(self, rule: Rule, *inputs: Any) -> Any:
        known = [x for x in inputs if isinstance(x, Number) and not isinstance(x, Symbol)]
        if known:  # a derivative in a user's rule
            return apply(rule, *inputs)
        if rule.__name__ in ARITHMETIC and rule is getattr(ops, rule.__name__):
            return self.writer.write(rule.__name__, *inputs)
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

    def __pow__(self, other: Any) -> Any:
        if isinstance(other, Number) and not isinstance(other, Symbol):
            return super().__pow__(other)
        return self.writer.write("pow", self, other)

    def __rpow__(self, other: Any) -> Any:
        return self.writer.write("pow", other, self)

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
ARITHMETIC = {"add", "sub", "mul", "div", "neg"}


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
        args = tuple([x if isinstance(x, Symbol) else float(x) for x in args])
        chosen = 1 if op == "where" else 0  # all other arguments are numbers, not conditions
        args = args[:chosen] + tuple(map(self.as_number, args[chosen:]))
        if op == "where":
            if key_of(op, args[1:2]) == key_of(op, args[2:]):
                return args[1]  # the same either way
            condition = args[0]
            if (
                condition.op == "where"
                and _is(condition.args[1], 1.0)
                and _is(condition.args[2], 0.0)
            ):
                args = condition.args[0], *args[1:]  # a condition that was made a number
        if op == "pow" and _is(args[1], 1.0):
            return args[0]
        return self._simplified(op, args) if op in ARITHMETIC else self._once(op, args)

    def as_number(self, x: Any) -> Any:
        """A condition as 1.0 or 0.0; any other number as it is."""
        condition = isinstance(x, Symbol) and x.op in CONDITIONS
        return self.write("where", x, 1.0, 0.0) if condition else x

    def _once(self, op: str, args: tuple[Any, ...]) -> Symbol:
        key = key_of(op, args)
        if key not in self.symbols:
            self.symbols[key] = self._new(op, args)
        return self.symbols[key]

    def _new(self, op: str, args: tuple[Any, ...]) -> Symbol:
        return Symbol(self, len(self.symbols), op, args)

    def _simplified(self, op: str, args: tuple[Any, ...]) -> Any:
        """Arithmetic without 1 x, x + 0 and double signs: the same numbers, to the last digit."""
        if op == "neg":
            (x,) = args
            return x.args[0] if x.op == "neg" else self._once(op, args)
        x, y = args
        if op in ("mul", "div"):
            if _is(y, 1.0):
                return x
            if _is(y, -1.0):
                return -x
            if op == "mul" and (_is(x, 1.0) or _is(x, -1.0)):
                return y if x > 0 else -y
            if _negated(x):  # -(x y) for (-x) y
                return -self._simplified(op, (x.args[0], y))
            if _negated(y):
                return -self._simplified(op, (x, y.args[0]))
        else:
            if _is(y, 0.0):
                return x
            if _is(x, 0.0):
                return y if op == "add" else -y
            if _negated(y):  # x - y for x + (-y)
                return self._simplified("sub" if op == "add" else "add", (x, y.args[0]))
            if _negated(x) and op == "add":
                return self._simplified("sub", (y, x.args[0]))
        if op in ("add", "mul") and key_of(op, (y, x)) in self.symbols:
            args = y, x
        return self._once(op, args)


def key_of(op: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """A key for an operation: its name and its arguments."""
    return op, *[x.number if isinstance(x, Symbol) else repr(x) for x in args]


def _is(x: Any, number: float) -> bool:
    return type(x) is float and x == number


CONDITIONS = {"less", "less_equal"}  # these are true or false in a program, not numbers


def _negated(x: Any) -> bool:
    return isinstance(x, Symbol) and x.op == "neg"


def itself(x: Any) -> Any:
    """x without any renaming of its axes."""
    while x.op == "as":
        x = x.args[0]
    return x
