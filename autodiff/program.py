"""From a graph to a program: the derivative as straight-line Python.

A `Symbol` is a number that is not known yet. An operation on it is written down, so that a graph
that is computed over symbols, and its backward pass, leave the lines of a program behind.
"""

import linecache
import math
import textwrap
from collections.abc import Callable, Iterable
from functools import partial
from itertools import count
from typing import Any

from . import graph, ops
from .operators import Number, Rule
from .value import Value, leaf

# -- Numbers that are not known yet -------------------------------------------------------------


class Symbol(Number):
    """A number that is not known yet: the result of an operation on other symbols and numbers.

    To `functions.py` it is an array, and its `Writer` the library of that array.
    """

    __slots__ = ("args", "number", "op", "writer")

    def __init__(self, writer: "Writer", number: int, op: str, args: tuple[Any, ...]) -> None:
        self.writer, self.number, self.op, self.args = writer, number, op, args

    def _apply(self, rule: Rule, *inputs: Any) -> Any:
        if rule.__name__ in ARITHMETIC and rule is getattr(ops, rule.__name__):
            return self.writer.write(rule.__name__, *inputs)
        return rule(*inputs)[0]  # in terms of functions.py, and so of arithmetic and the library

    def __array_namespace__(self) -> "Writer":
        return self.writer

    def __pos__(self) -> Any:
        return self

    def __pow__(self, other: Any) -> Any:
        return self.writer.write("pow", self, other)

    def __rpow__(self, other: Any) -> Any:
        return self.writer.write("pow", other, self)

    def __lt__(self, other: Any) -> Any:
        return self.writer.write("<", self, other)

    def __le__(self, other: Any) -> Any:
        return self.writer.write("<=", self, other)

    def __gt__(self, other: Any) -> Any:
        return self.writer.write(">", self, other)

    def __ge__(self, other: Any) -> Any:
        return self.writer.write(">=", self, other)

    def _number(self) -> Any:
        raise TypeError(UNKNOWN)

    __float__ = __int__ = __index__ = _number


UNKNOWN = (
    "found a choice or a plain number that depends on the value of an input, which a program does "
    "not know yet; write autodiff.maximum, relu or where for the choice (in a model where takes a "
    "node as its condition, in an operation x > 0 too), and autodiff.sin(x) for math.sin(x)"
)
ARITHMETIC = {"add", "sub", "mul", "div", "neg"}


class Writer:
    """The operations of a program, each different one once, in an order that can be run."""

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
        """The symbol of an operation, or what is left of it when a 1 or 0 is gone."""
        args = tuple([x if isinstance(x, Symbol) else float(x) for x in args])
        if op == "where" and key_of(op, args[1:2]) == key_of(op, args[2:]):
            return args[1]  # the same either way
        if op == "pow" and _is(args[1], 1.0):
            return args[0]
        return self._simplified(op, args) if op in ARITHMETIC else self._once(op, args)

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
    """What tells an operation from others."""
    return op, *[x.number if isinstance(x, Symbol) else repr(x) for x in args]


def _is(x: Any, number: float) -> bool:
    return type(x) is float and x == number


def _negated(x: Any) -> bool:
    return isinstance(x, Symbol) and x.op == "neg"


# -- Source -------------------------------------------------------------------------------------

SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
CHOICE, ORDER, SUM, PRODUCT, SIGN, POWER, ATOM = range(7)  # the weaker binds, the smaller
LONGEST = 100  # characters of a line
LINE = 60  # characters of an expression that still stands in another one; so no nesting is deep


class Text:
    """Symbols as Python source: a line for each that has a name, is used twice, or is long."""

    def __init__(
        self,
        xp: Any,
        outputs: Iterable[Any],
        names: dict[Symbol, str],
        spare: dict[Symbol, str] | None = None,
    ) -> None:
        self.xp = xp
        self.library = "math" if xp is math else "xp"
        self.names = names  # of symbols that have a line of their own
        self.spare = spare or {}  # of those that may need one
        self.uses = _uses(outputs)
        self.texts: dict[Symbol, tuple[str, int]] = {}  # of a symbol: its text and its strength
        self.further = (f"t{i}" for i in count(1))

    def lines(self, symbols: Iterable[Symbol]) -> list[str]:
        """The assignments of those symbols that the outputs need."""
        lines = []
        for symbol in symbols:
            uses = self.uses.get(symbol, 0)
            if not uses:
                continue
            if not symbol.args:
                self.texts[symbol] = symbol.op, ATOM  # an argument
                continue
            text, strength = self._expression(symbol)
            name = self.names.get(symbol)
            if name is None and (uses > 1 or len(text) > LINE):
                name = self.spare.get(symbol) or next(self.further)
            if name is not None:
                lines.append(f"{name} = {text}{self.comment(symbol)}")
                text, strength = name, ATOM
            self.texts[symbol] = text, strength
        return lines

    def body(self, symbols: list[Symbol], forward: int) -> list[str]:
        """The lines of a program whose first `forward` symbols are those of the forward pass."""
        primal, adjoint = self.lines(symbols[:forward]), self.lines(symbols[forward:])
        return [*primal, *(["# from the output back to the inputs"] if adjoint else []), *adjoint]

    def comment(self, symbol: Symbol) -> str:
        """What stands after a line."""
        return ""

    def typed(self, x: float) -> str:
        """The text of a number where nothing beside it tells the library its type."""
        return self.of(x)

    def of(self, x: Any, least: int = CHOICE) -> str:
        """The text of a symbol or number, in brackets if it binds less than it has to here."""
        if isinstance(x, Symbol):
            text, strength = self.texts[itself(x)]
        elif math.isfinite(x):
            text, strength = repr(x), ATOM if math.copysign(1.0, x) > 0 else SIGN
        else:
            text, strength = f"{self.library}.{'nan' if x != x else 'inf'}", ATOM
            text, strength = (f"-{text}", SIGN) if x < 0 else (text, strength)
        return text if strength >= least else f"({text})"

    def _expression(self, symbol: Symbol) -> tuple[str, int]:
        op, args, of = symbol.op, symbol.args, self.of
        if op in SIGNS:
            strength = SUM if op in ("add", "sub") else PRODUCT
            return f"{of(args[0], strength)} {SIGNS[op]} {of(args[1], strength + 1)}", strength
        if op in ORDERS:
            return f"{of(args[0], SUM)} {op} {of(args[1], SUM)}", ORDER
        if op == "neg":
            return f"-{of(args[0], PRODUCT)}", PRODUCT  # -x * y is -(x * y)
        if op == "pow" and (self.library == "xp" or _whole(args[1])):
            return f"{of(args[0], ATOM)} ** {of(args[1], POWER)}", POWER
        if self.library == "math":
            if op == "where":
                condition, x, y = of(args[0], ORDER), of(args[1], ORDER), of(args[2])
                return f"{x} if {condition} else {y}", CHOICE
            if op in TWICE:  # as functions.py has it: nan stays nan
                x, y = map(of, args)
                return f"{x} if {x} {TWICE[op]} {y} or {x} != {x} else {y}", CHOICE
            name = "abs" if op == "abs" else f"math.{op}"
        else:
            if op == "where":
                condition = of(args[0]) if args[0].op in ORDERS else f"{of(args[0], SUM)} != 0"
                plain = not any(isinstance(x, Symbol) for x in args[1:])
                x = self.typed(args[1]) if plain else of(args[1])
                return f"xp.where({condition}, {x}, {of(args[2])})", ATOM
            if op in TWICE and float in map(type, args):  # PyTorch's takes no plain number
                x, y = map(of, args)
                return f"xp.where(({x} {TWICE[op]} {y}) | ({x} != {x}), {x}, {y})", ATOM
            name = f"xp.{op}" if hasattr(self.xp, op) else op  # erf is ours where numpy has none
        return f"{name}({', '.join(map(of, args))})", ATOM


ORDERS = ("<", "<=", ">", ">=")
TWICE = {"maximum": ">=", "minimum": "<="}  # written with each argument in two places


def _uses(outputs: Iterable[Any]) -> dict[Symbol, int]:
    """How often each symbol that the outputs need is used, by other symbols or as an output."""
    uses: dict[Symbol, int] = {}
    stack = list(outputs)
    while stack:
        x = stack.pop()
        if isinstance(x, Symbol):
            x = itself(x)
            if x not in uses:
                uses[x] = 0
                stack += x.args * 2 if x.op in TWICE else x.args
            uses[x] += 1
    return uses


def itself(x: Symbol) -> Symbol:
    """What a symbol is another name for."""
    while x.op == "as":
        x = x.args[0]
    return x


def _whole(x: Any) -> bool:
    return type(x) is float and x.is_integer()


# -- Programs -----------------------------------------------------------------------------------


class Program:
    """A compiled expression: a function, `(*numbers) -> (value, gradients)`, and its `source`.

    Made by `Expression.compile`. It can be pickled: it is made again of its source.

    >>> from autodiff import Expression, Value
    >>> x, y = Value(3.0), Value(4.0)
    >>> program = Expression(x * y + x).compile([x, y], wrt=[x, y])
    >>> program(3.0, 4.0)
    (15.0, (5.0, 3.0))
    """

    def __init__(self, source: str, sizes: tuple[int, ...] = ()) -> None:
        self.source = source
        self._sizes = sizes  # of the last axis of each argument of a batched program
        filename = f"<program {next(_numbers)}>"
        namespace: dict[str, Any] = {}
        exec(compile(source, filename, "exec"), namespace)  # text of this module's own making
        linecache.cache[filename] = len(source), None, source.splitlines(True), filename
        self._function = namespace["program"]

    def __call__(self, *numbers: Any) -> Any:
        for name, array, size in zip(("inputs", "parameters"), numbers, self._sizes):
            shape = getattr(array, "shape", None)
            if shape is None or len(shape) != 1 + (name == "inputs") or shape[-1] != size:
                found = f"a {type(array).__name__}" if shape is None else f"shape {tuple(shape)}"
                expected = f"(n, {size})" if name == "inputs" else f"({size},)"
                raise ValueError(f"{name}: found {found}, expected an array of shape {expected}")
        return self._function(*numbers)

    def __repr__(self) -> str:
        return f"<Program of {self.source.count(chr(10))} lines: print its .source>"

    def __reduce__(self) -> Any:
        return Program, (self.source, self._sizes)


_numbers = count(1)


def scalar_program(output: Value, inputs: list[Value], wrt: list[Value], xp: Any) -> Program:
    """The value of output and its derivatives wrt leaves, number by number.

    Its arguments are the inputs, then those of wrt that are not among them. All other leaves are
    constants.
    """
    writer = Writer()
    arguments = list(dict.fromkeys([*inputs, *wrt]))
    copies: dict[Value, Value] = {}  # of nodes: the same graph over symbols
    names: dict[Value, str] = {}  # of nodes
    wanted = set(wrt)
    for i, x in enumerate(arguments, start=1):
        names[x] = f"x{i}"
        copies[x] = leaf(writer.argument(names[x]), int(x in wanted))
    results = count(1)
    for node in graph.depths(output):
        if node.parents:
            names[node] = f"v{next(results)}"
            parents = [copies[parent] for parent in node.parents]
            copies[node] = parents[0]._apply(node._rule, *parents)
        elif node not in copies:
            copies[node] = leaf(node.data, 0)
    forward = len(writer.symbols)
    adjoints = graph.adjoints(copies[output], [copies[x] for x in wrt])

    named: dict[Any, str] = {}  # symbols, each by the first name that fits
    for node, called in names.items():
        named.setdefault(copies[node].data, called)
    for node, called in names.items():
        named.setdefault(adjoints.get(copies[node]), f"{called}_bar")
    value, gradients = copies[output].data, [adjoints[copies[x]] for x in wrt]
    text = Text(xp, [value, *gradients], named)
    # Whatever else a label may hold is kept out of the program.
    labels = [
        f"{names[x]} = {x.label}" for x in names if x.label.isidentifier() and x.label != names[x]
    ]
    body = [
        *([f"# {', '.join(labels)}"] if labels else []),
        *text.body(list(writer.symbols.values()), forward),
        f"return {text.of(value)}, {_tuple(map(text.of, gradients))}",
    ]
    return Program(assembled(xp, text, [names[x] for x in arguments], body))


def _tuple(texts: Iterable[str]) -> str:
    listed = list(texts)
    return f"({', '.join(listed)}{',' if len(listed) == 1 else ''})"


def wrapped(line: str) -> list[str]:
    """A line in several if it is too long to read: an expression in brackets, or a comment."""
    if len(line) <= LONGEST:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    if line.lstrip().startswith("#"):
        return textwrap.wrap(line, LONGEST, subsequent_indent=f"{indent}# ")
    code = line.partition("  # ")[0]
    if len(code) <= LONGEST:
        return [code]
    name, equals, expression = code.partition(" = ")
    if equals and not expression.startswith(("xp.concatenate([", "xp.asarray([")):
        code = f"{name} = ({expression})"
    return textwrap.wrap(
        code,
        LONGEST,
        subsequent_indent=f"{indent}    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


OURS = {"erf", "scatter_add"}  # functions that not every library has, or each in its own way


def assembled(
    xp: Any, text: Text, arguments: list[str], body: list[str], constants: Iterable[str] = ()
) -> str:
    """The source of a program: what it imports, and the function."""
    header = ["import math" if xp is math else f"import {xp.__name__} as xp"]
    ours = {x.op for x in text.uses} & ({"scatter_add"} if hasattr(xp, "erf") else OURS)
    if ours:
        header += ["", f"from autodiff.functions import {', '.join(sorted(ours))}"]
    if constants:
        header += ["", *constants]
    function = [f"def program({', '.join(arguments)}):", *(f"    {line}" for line in body)]
    lines = [part for line in [*header, "", "", *function] for part in wrapped(line)]
    return "\n".join([*lines, ""])
