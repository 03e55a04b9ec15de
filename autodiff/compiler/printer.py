"""Symbols as text: one printer for all the languages that formulas are written in.

`Printer` knows which results get a line of their own, and which operands need brackets. A
language adds its signs, its numbers and its functions: `Notation` is for tables and pictures,
`Python` for programs over floats, `ArrayPython` for programs over arrays, `JavaScript` for pages.
"""

import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any

from ..number import Number
from . import backends
from .symbolic import CONDITIONS, Symbol, itself

# How strongly the operators bind, from the weakest. Only in notation does a quotient bind less
# strongly than a product, because readers take 1 / 2·v for 1 / (2·v) or for (1 / 2)·v.
CHOICE, ORDER, SUM, QUOTIENT, PRODUCT, SIGN, POWER, ATOM = range(8)
LONGEST = 100  # characters of a line
LINE = 60  # characters of an expression inside another one, so that nesting stays shallow

# Of each binary operator: how it is written, how strongly it binds, and how strongly its left and
# its right operand have to bind to need no brackets.
SIGNS = {
    "add": (" + ", SUM, SUM, PRODUCT),
    "sub": (" - ", SUM, SUM, PRODUCT),
    "mul": (" * ", PRODUCT, PRODUCT, SIGN),
    "div": (" / ", PRODUCT, PRODUCT, SIGN),
    "less": (" < ", ORDER, SUM, SUM),
    "less_equal": (" <= ", ORDER, SUM, SUM),
}
TWICE = {"maximum": ">=", "minimum": "<="}  # may be written with each argument in two places


class Printer:
    """Symbols as text: a line for each that has a name, is used twice, or is long."""

    signs = SIGNS
    minus = PRODUCT, PRODUCT  # how strongly -x binds, and x has to: -x * y is -(x * y)
    remark = "#"

    def __init__(
        self,
        outputs: Iterable[Any] = (),
        names: Mapping[Symbol, str] | None = None,
        spare: Mapping[Symbol, str] | None = None,
    ) -> None:
        self.names = names or {}  # of symbols that have a line of their own
        self.spare = spare or {}  # of symbols that get one only if needed
        self.uses = uses_of(outputs, self.twice)
        self.texts: dict[Any, tuple[str, int]] = {}  # of a symbol: its text and its strength
        self.further = (f"t{i}" for i in count(1))

    def lines(self, symbols: Iterable[Symbol]) -> list[str]:
        """The assignments of the symbols that the outputs need."""
        lines = []
        for symbol in symbols:
            uses = self.uses.get(symbol, 0)
            if not uses:
                continue
            if not symbol.args:
                self.texts[symbol] = symbol.op, ATOM  # an argument
                continue
            text, strength = self.expression(symbol)
            name = self.names.get(symbol)
            if name is None and (uses > 1 or len(text) > LINE):
                name = self.spare.get(symbol) or next(self.further)
            if name is not None:
                lines.append(self.assignment(name, text, symbol))
                text, strength = name, ATOM
            self.texts[symbol] = text, strength
        return lines

    def body(self, symbols: list[Symbol], forward: int) -> list[str]:
        """The lines of a program; symbols below the number `forward` are its forward pass."""
        primal = self.lines([x for x in symbols if x.number < forward])
        adjoint = self.lines([x for x in symbols if x.number >= forward])
        remark = f"{self.remark} from the output back to the inputs"
        return [*primal, *([remark] if adjoint else []), *adjoint]

    def of(self, x: Any, least: int = CHOICE) -> str:
        """The text of a symbol or number, in brackets if it binds less strongly than `least`."""
        text, strength = self.texts[itself(x)] if isinstance(x, Number) else self.number(x)
        return text if strength >= least else f"({text})"

    def expression(self, symbol: Any) -> tuple[str, int]:
        """The text of an operation on symbols whose texts are known, and how strongly it binds."""
        op, args = symbol.op, symbol.args
        if op in self.signs:
            sign, strength, left, right = self.signs[op]
            return f"{self.of(args[0], left)}{sign}{self.of(args[1], right)}", strength
        if op == "neg":
            strength, least = self.minus
            text = self.of(args[0], least)
            return f"-({text})" if text.startswith("-") else f"-{text}", strength
        return self.call(op, *args)

    # What differs between languages.

    def twice(self, symbol: Symbol) -> bool:
        """Whether the text of an operation has its arguments twice."""
        return symbol.op in TWICE

    def number(self, x: float) -> tuple[str, int]:
        """The text of a number, and how strongly it binds."""
        raise NotImplementedError

    def call(self, op: str, *args: Any) -> tuple[str, int]:
        """The text of a function of its arguments, and how strongly it binds."""
        return f"{op}({', '.join(map(self.of, args))})", ATOM

    def assignment(self, name: str, text: str, symbol: Symbol) -> str:
        """The line that gives a result its name."""
        return f"{name} = {text}{self.comment(symbol)}"

    def comment(self, symbol: Symbol) -> str:
        """A comment to put after a line."""
        return ""


class Notation(Printer):
    """The notation of mathematics, for tables and pictures: v₁·(v₂ + 1)."""

    signs = SIGNS | {
        "mul": ("·", PRODUCT, PRODUCT, PRODUCT),
        "div": (" / ", QUOTIENT, QUOTIENT, SIGN),
        "power": ("**", POWER, ATOM, ATOM),
        "exponential": ("**", POWER, ATOM, ATOM),
        "pow": ("**", POWER, ATOM, ATOM),
    }
    minus = SUM, QUOTIENT
    chosen = False  # whether a comparison of numbers decided what was written

    def number(self, x: float) -> tuple[str, int]:
        text = f"{x:.6g}"
        return text, SUM if text.startswith("-") else ATOM


class Python(Printer):
    """Python over floats, with its module math."""

    library = "math"

    def twice(self, symbol: Symbol) -> bool:
        return symbol.op in TWICE or (symbol.op == "pow" and _may_divide(*symbol.args))

    def number(self, x: float) -> tuple[str, int]:
        text = repr(x) if math.isfinite(x) else f"{self.library}.{'nan' if x != x else 'inf'}"
        if not math.isfinite(x) and x < 0:
            text = f"-{text}"
        return text, SIGN if text.startswith("-") else ATOM

    def call(self, op: str, *args: Any) -> tuple[str, int]:
        of = self.of
        if op == "pow":
            x, y = args
            text = f"{of(x, ATOM)} ** {of(y, POWER)}"
            if _is_plain(x, y):
                return text, POWER
            if _may_divide(x, y):  # math.pow(0, -1) raises another error than **
                return f"{text} if {of(x, SUM)} >= 0.0 else math.pow({of(x)}, {of(y)})", CHOICE
        if op == "where":
            condition, x, y = of(args[0], ORDER), of(args[1], ORDER), of(args[2])
            return f"{x} if {condition} else {y}", CHOICE
        if op in TWICE:  # as in functions.py: nan stays nan
            x, y = map(of, args)
            return f"{x} if {x} {TWICE[op]} {y} or {x} != {x} else {y}", CHOICE
        return super().call("abs" if op == "abs" else f"math.{op}", *args)


class ArrayPython(Python):
    """Python over arrays, with the functions of their library."""

    signs = SIGNS | {"pow": (" ** ", POWER, ATOM, POWER)}
    library = "xp"
    twice = Printer.twice

    def __init__(self, xp: Any, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.xp = xp

    def typed(self, x: float, beside: Any) -> str:
        """A number with the dtype of an array, where no array beside it would give it one."""
        return f"xp.full_like({self.of(beside)}, {self.of(x)})"

    def call(self, op: str, *args: Any) -> tuple[str, int]:
        of = self.of
        if op == "where":
            condition, x, y = args
            test = of(condition) if condition.op in CONDITIONS else f"{of(condition, SUM)} != 0"
            if not isinstance(x, Symbol) and not isinstance(y, Symbol):
                compared = condition.args if condition.op in CONDITIONS else [condition]
                beside = next(arg for arg in compared if isinstance(arg, Symbol))
                return f"xp.where({test}, {self.typed(x, beside)}, {of(y)})", ATOM
            return f"xp.where({test}, {of(x)}, {of(y)})", ATOM
        arrays = [x for x in args if isinstance(x, Symbol)]
        if len(arrays) < len(args) and not backends.takes_numbers(self.xp, op):
            texts = [of(x) if isinstance(x, Symbol) else self.typed(x, arrays[0]) for x in args]
            return f"xp.{op}({', '.join(texts)})", ATOM
        return Printer.call(self, f"xp.{op}" if hasattr(self.xp, op) else op, *args)


class JavaScript(Printer):
    """JavaScript over numbers, with its object Math."""

    remark = "//"

    def number(self, x: float) -> tuple[str, int]:
        names = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
        text = names.get(repr(x), repr(x))
        return text, SIGN if text.startswith("-") else ATOM

    def assignment(self, name: str, text: str, symbol: Symbol) -> str:
        return f"const {name} = {text};"

    def call(self, op: str, *args: Any) -> tuple[str, int]:
        of = self.of
        if op == "where":
            condition = of(args[0], ORDER)
            if args[0].op not in CONDITIONS:
                condition = f"{of(args[0], SUM)} !== 0"
            return f"{condition} ? {of(args[1], ORDER)} : {of(args[2], ORDER)}", CHOICE
        if op in TWICE:
            x, y = (of(x, SUM) for x in args)
            return f"{x} {TWICE[op]} {y} || {x} !== {x} ? {x} : {y}", CHOICE
        return super().call(op if op in HELPERS else f"Math.{op}", *args)

    def helpers(self) -> list[str]:
        """The functions that JavaScript lacks, or that differ from Python's."""
        used = {x.op for x in self.uses}
        return [line for op, lines in HELPERS.items() if op in used for line in lines]


HELPERS = {
    "pow": (
        "// Math.pow(1, NaN) and Math.pow(-1, Infinity) are NaN",
        "const pow = (x, y) =>",
        "  x === 1 || (x === -1 && Math.abs(y) === Infinity) ? 1 : Math.pow(x, y);",
    ),
    "erf": (
        "// 2/√π e^(-x²) (x + 2x³/3 + 4x⁵/15 + ...): all terms have one sign, so nothing cancels",
        "const erf = (x) => {",
        "  if (Math.abs(x) > 6) return Math.sign(x);",
        "  let term = x, sum = x;",
        "  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {",
        "    term *= 2 * x * x / (2 * n + 1);",
        "    sum += term;",
        "  }",
        "  return 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;",
        "};",
    ),
}


def _is_plain(x: Any, y: Any) -> bool:
    """Whether x ** y is always real, unlike (-8.0) ** 0.5."""
    return (type(y) is float and y.is_integer()) or (type(x) is float and x >= 0)


def _may_divide(x: Any, y: Any) -> bool:
    """Whether x ** y may be complex, and may also be 0 to a negative power."""
    return isinstance(x, Symbol) and not (type(y) is float and (y > 0 or y.is_integer()))


def uses_of(
    outputs: Iterable[Any], twice: Callable[[Symbol], bool] = lambda symbol: False
) -> dict[Symbol, int]:
    """How often the outputs and other symbols use each symbol that the outputs need."""
    uses: dict[Symbol, int] = {}
    stack = list(outputs)
    while stack:
        x = stack.pop()
        if isinstance(x, Symbol):
            x = itself(x)
            if x not in uses:
                uses[x] = 0
                stack += x.args * 2 if twice(x) else x.args
            uses[x] += 1
    return uses


def wrapped(line: str) -> list[str]:
    """A line, or several if it is too long: an expression in brackets, or a comment."""
    if len(line) <= LONGEST:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    if line.lstrip().startswith("#"):
        return textwrap.wrap(line, LONGEST, subsequent_indent=f"{indent}# ")
    code = line.partition("  # ")[0]
    if len(code) <= LONGEST:
        return [code]
    start, expression = re.fullmatch(r"(\s*(?:return |\w+ = )?)(.*)", code).groups()  # type: ignore
    if start.strip() and not _one_call(expression):
        code = f"{start}({expression})"
    return textwrap.wrap(
        code,
        LONGEST,
        subsequent_indent=f"{indent}    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _one_call(expression: str) -> bool:
    """Whether the first bracket closes at the very end, so that a line may break inside it."""
    depth = 0
    for i, character in enumerate(expression):
        depth += (character in "([") - (character in ")]")
        if depth == 0 and character in ")] ":
            return i == len(expression) - 1
    return False


# Functions that some libraries lack, or that differ between them.
OURS = {
    "erf": "autodiff.compiler.backends",
    "scatter_add": "autodiff.compiler.backends",
}


def assembled(xp: Any, arguments: list[str], body: list[str], constants: Sequence[str] = ()) -> str:
    """The text of a Python program: the imports that it needs, constants, and the function.

    xp: its library. arguments, body: the names of its arguments, and its lines.
    constants: lines that assign constants, before the function.
    """
    header = ["import math" if xp is math else f"import {xp.__name__} as xp"]
    code = "\n".join([*constants, *body])
    for name, module in OURS.items():
        if re.search(rf"(?<![.\w]){name}\(", code):
            header += ["", f"from {module} import {name}"]
    if constants:
        header += ["", *constants]
    function = [f"def program({', '.join(arguments)}):", *(f"    {line}" for line in body)]
    lines = [part for line in [*header, "", "", *function] for part in wrapped(line)]
    return "\n".join([*lines, ""])
