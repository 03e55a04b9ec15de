"""Symbols: numbers that are not known yet.

The `Writer` of a symbol records each operation on it. So a graph that is run over symbols, and its
backward pass, leave the operations of a program behind.
"""

from typing import Any, NoReturn, TypeGuard, Union

from ..engine import ops
from ..engine.errors import refusal
from ..engine.levels import apply
from ..engine.number import Number
from ..engine.operation import Operation

# The axes of an array have letters for names. Where arrays are combined entry by entry, their axes
# lie in the order of the alphabet.
PARTS = "abcdefgh"  # of other axes, where those are split
ROWS, COLUMNS = NODES = "ij"  # of the nodes of a group: a row has the first, a grid both
ARGUMENTS = "k"  # of each node
# Of the batch; last, so that a sum over any other axis adds whole rows of them, unless they are
# put first at the end.
SAMPLES = "n"
Axes = dict[str, int]  # the size of each axis, outermost first; 0 for samples, not known yet

Operand = Union["Symbol", float]


class NotRecordable(TypeError):  # noqa: N818  it need not be a fault
    """Says why there can be no program, as where a number is looked at that may be another."""


class Symbol(Number):
    """A number or an array that is not known yet: the result of an operation on other symbols.

    What an operation on it is, its writer says.
    """

    __slots__ = ("args", "axes", "name", "number", "op", "own_line", "writer")

    def __init__(
        self, writer: Any, number: int, op: Any, args: tuple[Any, ...], axes: Axes | None = None
    ) -> None:
        self.writer, self.number, self.op, self.args = writer, number, op, args  # see `op_of`
        self.axes = axes or {}  # of an array
        self.name = ""  # of its line in a program, if it has one
        self.own_line = False  # whether it has a line even if it is short and used once

    def _apply(self, operation: Operation, *inputs: Any) -> Any:
        if any(isinstance(x, Number) and not isinstance(x, Symbol) for x in inputs):
            return apply(operation, *inputs)  # a derivative in a user's rule
        return self._record(operation, inputs)

    def _record(self, operation: Operation, inputs: Any) -> Any:
        return self.writer.record(operation, inputs)

    def _conditions(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "<a number that is not known yet>"

    def _number(self, *other: Any) -> NoReturn:
        """Refuse to be read as a number: the answer would be fixed in the program."""
        raise NotRecordable(UNKNOWN)

    __bool__ = __float__ = __int__ = __index__ = __str__ = _number
    __format__ = _number  # type: ignore[assignment]


UNKNOWN = refusal(
    "compile",
    "a bool, a float or a text of a number that is not known yet",
    "operations on it",
    "write autodiff.maximum, relu or where(less(x, y), a, b) for an if, autodiff.sin for math.sin",
)


def op_of(operation: Operation) -> Any:
    """What symbols call an operation; one of a user's stands for itself, whatever its name is."""
    if not operation.in_ops:
        return operation
    return "pow" if operation.sign == "**" else operation.__name__


class Writer:
    """The operations of a program, each once, in an order in which they can run."""

    def __init__(self) -> None:
        self.symbols: dict[Any, Symbol] = {}

    def argument(self, name: str) -> Symbol:
        """A symbol for an argument of the program."""
        if (name,) not in self.symbols:
            self.symbols[(name,)] = Symbol(self, len(self.symbols), name, ())
        return self.symbols[(name,)]

    def record(self, operation: Operation, inputs: Any) -> Any:
        """What an operation on symbols is: a composite one is those that it is made of."""
        if operation.composite:
            return operation.value(*inputs)
        return self.write(operation, *inputs)

    def write(self, operation: Operation, *args: Any) -> Any:
        """The symbol of an operation, or what is left of it after simplification."""
        given: list[Any] = [x if isinstance(x, Symbol) else float(x) for x in args]
        if operation is ops.where:
            return self._choice(*given)
        x: Any
        x, *others = map(self.as_number, given)
        if operation is ops.neg and _negated(x):
            return x.args[0]
        if operation is ops.pos or (operation.sign == "**" and _is(others[0], 1.0)):
            return x
        if operation is ops.abs and _negated(x):  # as in sigmoid(-x) beside sigmoid(x)
            x = x.args[0]
        if op_of(operation) in CONDITIONS and _negated(x) and _is(others[0], 0.0):
            x, others = 0.0, list(x.args)  # 0 < x for -x < 0
        if operation in (ops.add, ops.sub):
            return self._sum(operation, x, *others)
        if operation in (ops.mul, ops.div):
            return self._product(operation, x, *others)
        return self._once(operation, (x, *others))

    def as_number(self, x: Operand) -> Operand:
        """A condition as 1.0 or 0.0; any other number as it is."""
        condition = isinstance(x, Symbol) and x.op in CONDITIONS
        return self.write(ops.where, x, 1.0, 0.0) if condition else x

    def _choice(self, condition: Operand, *choices: Operand) -> Operand:
        x, y = map(self.as_number, choices)
        if not isinstance(condition, Symbol):
            return x if condition else y
        if condition.op == "where" and key_of("", condition.args[1:]) == ("", "1.0", "0.0"):
            condition = condition.args[0]  # it was made a number
        return self._once(ops.where, (condition, x, y))

    def _once(self, operation: Operation, args: tuple[Any, ...]) -> Symbol:
        op = op_of(operation)
        if op in ("add", "mul") and key_of(op, args[::-1]) in self.symbols:
            args = args[::-1]
        key = key_of(op, args)
        if key not in self.symbols:
            self.symbols[key] = self._new(operation, args)
        return self.symbols[key]

    def _new(self, operation: Operation, args: tuple[Any, ...]) -> Symbol:
        return Symbol(self, len(self.symbols), op_of(operation), args)

    def _sum(self, operation: Operation, x: Operand, y: Operand) -> Operand:
        """x + y or x - y without zeros and double signs: the same number, to the last digit."""
        if _negated(y):
            operation, y = ops.sub if operation is ops.add else ops.add, y.args[0]
        if operation is ops.add and _negated(x):
            return self._sum(ops.sub, y, x.args[0])
        if _is(y, 0.0):
            return x
        if _is(x, 0.0):
            return y if operation is ops.add else -y
        return self._once(operation, (x, y))

    def _product(self, operation: Operation, x: Operand, y: Operand) -> Operand:
        """x y or x / y without ones, and with the sign in front: to the last digit the same."""
        (sign, x), (other, y) = _signed(x), _signed(y)
        if operation is ops.mul and _is(x, 1.0):
            x, y = y, x
        result = x if _is(y, 1.0) else self._once(operation, (x, y))
        return result if sign == other else -result


def key_of(op: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """A key for an operation: its name and its arguments."""
    return op, *[x.number if isinstance(x, Symbol) else repr(x) for x in args]


def _is(x: Operand, number: float) -> bool:
    return type(x) is float and x == number


CONDITIONS = {"less", "less_equal"}  # these are true or false in a program, not numbers


def _negated(x: Operand) -> TypeGuard[Symbol]:
    return isinstance(x, Symbol) and x.op == "neg"


def _signed(x: Operand) -> tuple[int, Operand]:
    """The sign of a factor, and the factor without it."""
    if _negated(x):
        return -1, x.args[0]
    return (-1, 1.0) if _is(x, -1.0) else (1, x)


def unrenamed(x: "Symbol") -> "Symbol":
    """The array of which x is a view with other names for its axes."""
    while x.op == "as":
        x = x.args[0]
    return x
