"""Symbols as source text: the lines of a program."""

import math
import textwrap
from collections.abc import Iterable
from itertools import count
from typing import Any

from .symbolic import Symbol, itself

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


def _whole(x: Any) -> bool:
    return type(x) is float and x.is_integer()


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


# Functions that not every library has, or each in its own way.
OURS = {"erf": "autodiff.functions", "scatter_add": "autodiff.compiler.backends"}


def assembled(
    xp: Any, text: Text, arguments: list[str], body: list[str], constants: Iterable[str] = ()
) -> str:
    """The source of a program: what it imports, and the function."""
    header = ["import math" if xp is math else f"import {xp.__name__} as xp"]
    ours = {x.op for x in text.uses}.intersection(["scatter_add"] if hasattr(xp, "erf") else OURS)
    if ours:
        header += ["", *(f"from {OURS[name]} import {name}" for name in sorted(ours))]
    if constants:
        header += ["", *constants]
    function = [f"def program({', '.join(arguments)}):", *(f"    {line}" for line in body)]
    lines = [part for line in [*header, "", "", *function] for part in wrapped(line)]
    return "\n".join([*lines, ""])
