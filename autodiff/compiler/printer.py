"""Symbols as text: one printer for all the languages that formulas are written in (`ast.unparse`
knows Python alone, and sympy's printers want sympy).

`Printer` knows which results get a line of their own, and which operands need brackets. A
language adds its signs, its numbers and its functions: `Notation` is for tables and pictures,
`Python` for programs over floats, `ArrayPython` for programs over arrays, `JavaScript` for pages.
"""

import ast
import math
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any

from ..engine.errors import refusal
from ..engine.operation import Operation
from .backends import library
from .symbolic import CONDITIONS, Operand, Symbol, unrenamed

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


class Printer:
    """Symbols as text: a line for each that has to have one, is used twice, or is long."""

    signs = SIGNS
    minus = PRODUCT, PRODUCT  # how strongly -x binds, and x has to: -x * y is -(x * y)
    special: Mapping[str, str] = {}  # how numbers are written that are not finite
    remark = "#"

    def __init__(self, outputs: Iterable[Operand] = ()) -> None:
        self.uses = uses_of(outputs)
        self.texts: dict[Symbol, tuple[str, int]] = {}  # of a symbol: its text and its strength
        self.further = (f"t{i}" for i in count(1))

    def lines(self, symbols: Iterable[Symbol]) -> list[str]:
        """The assignments of the symbols that the outputs need."""
        lines = []
        for symbol in symbols:
            if symbol not in self.uses:
                continue
            text, strength = self.expression(symbol) if symbol.args else (symbol.op, ATOM)
            if symbol.args and self.has_line(symbol, text):
                name = symbol.name or next(self.further)
                lines.append(self.assignment(name, text, symbol))
                text, strength = name, ATOM
            self.texts[symbol] = text, strength
        return lines

    def has_line(self, symbol: Symbol, text: str) -> bool:
        """Whether a symbol has a line of its own."""
        return symbol.own_line or self.uses[symbol] > 1 or len(text) > LINE

    def body(self, symbols: list[Symbol], forward: int) -> list[str]:
        """The lines of a program; symbols below the number `forward` are its forward pass."""
        primal = self.lines([x for x in symbols if x.number < forward])
        adjoint = self.lines([x for x in symbols if x.number >= forward])
        remark = f"{self.remark} from the output back to the inputs"
        return [*primal, *([remark] if adjoint else []), *adjoint]

    def of(self, x: Operand, least: int = CHOICE) -> str:
        """The text of a symbol or number, in brackets if it binds less strongly than `least`."""
        text, strength = self.texts[unrenamed(x)] if isinstance(x, Symbol) else self.number(x)
        return text if strength >= least else f"({text})"

    def expression(self, symbol: Symbol) -> tuple[str, int]:
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

    def condition(self, x: Any, is_true: str) -> str:
        """The text of a condition: a comparison, or a number that is not 0."""
        return self.of(x, ORDER) if x.op in CONDITIONS else f"{self.of(x, SUM)}{is_true}"

    # What differs between languages.

    def number(self, x: float) -> tuple[str, int]:
        """The text of a number, and how strongly it binds."""
        text = self.special.get(repr(x), repr(x))
        return text, SIGN if text.startswith("-") else ATOM

    def call(self, op: Any, *args: Operand) -> tuple[str, int]:
        """The text of a function of its arguments, and how strongly it binds."""
        name = op if isinstance(op, str) else self.own(op)
        return f"{name}({', '.join(map(self.of, args))})", ATOM

    def own(self, operation: Operation) -> str:
        """How an operation of a user's is called, of whose value symbols know nothing."""
        return operation.__name__

    def assignment(self, name: str, text: str, symbol: Symbol) -> str:
        """The line that gives a result its name."""
        return f"{name} = {text}"


class Notation(Printer):
    """The notation of mathematics, for tables and pictures: v₁·(v₂ + 1)."""

    signs = SIGNS | {
        "mul": ("·", PRODUCT, PRODUCT, PRODUCT),
        "div": (" / ", QUOTIENT, QUOTIENT, SIGN),
        "pow": ("**", POWER, ATOM, ATOM),
    }
    minus = SUM, QUOTIENT

    def number(self, x: float) -> tuple[str, int]:
        text = f"{x:.6g}"
        return text, SUM if text.startswith("-") else ATOM


class Python(Printer):
    """Python over floats, with its module math."""

    special: Mapping[str, str] = {"nan": "math.nan", "inf": "math.inf", "-inf": "-math.inf"}

    def __init__(self, outputs: Iterable[Operand] = (), like: str = "") -> None:
        super().__init__(outputs)
        self.like = like  # an array of the type of the others
        self.imports: dict[str, str] = {}  # lines, and the names that they give

    def result(self, x: Operand) -> str:
        """The text of a result."""
        return self.of(x)

    def own(self, operation: Operation) -> str:
        value: Any = operation.value
        module, name = getattr(value, "__module__", None) or "", getattr(value, "__qualname__", "")
        words = [*module.split("."), name]
        known = getattr(sys.modules.get(module), name, None) is value
        if known and all(map(str.isidentifier, words)):
            return self.imported(f"from {module} import {name}")
        found = f"{operation.__name__}, computed by a function without a name in a module"
        remedy = "define it with def at the top of a module"
        raise TypeError(refusal("compile", found, "one that a program can import", remedy))

    def imported(self, line: str) -> str:
        """What a line imports, by a name that nothing else in the program has."""
        return self.imports.setdefault(line, f"f{len(self.imports) + 1}")

    def call(self, op: Any, *args: Operand) -> tuple[str, int]:
        if op == "pow" and _is_real(*args):
            return f"{self.of(args[0], ATOM)} ** {self.of(args[1], POWER)}", POWER
        if op == "where":
            condition, x, y = self.of(args[0], ORDER), self.of(args[1], ORDER), self.of(args[2])
            return f"{x} if {condition} else {y}", CHOICE
        known = LACKING.get(op, f"math.{op}") if isinstance(op, str) else op
        return super().call(known, *args)


class ArrayPython(Python):
    """Python over arrays of the type of the array `like`, with the functions of their library."""

    signs = SIGNS | {"pow": (" ** ", POWER, ATOM, POWER)}
    special: Mapping[str, str] = {"nan": "xp.nan", "inf": "xp.inf", "-inf": "-xp.inf"}

    def __init__(self, xp: Any, like: str, outputs: Iterable[Operand]) -> None:
        super().__init__(outputs, like)
        self.library = library(xp)

    def own(self, operation: Operation) -> str:
        return self.library.vectorized(super().own(operation), operation)

    def result(self, x: Operand) -> str:
        constant = type(x) is float and self.like
        return f"xp.full_like({self.like}, {self.of(x)})" if constant else self.of(x)

    def array(self, x: Operand) -> str:
        """The text of an array, or of an array of a number."""
        return self.of(x) if isinstance(x, Symbol) else self.new("asarray", self.of(x))

    def new(self, function: str, *texts: str) -> str:
        """The text of a new array like `like`."""
        device = f", device={self.like}.device" * self.library.has_devices
        return f"xp.{function}({', '.join(texts)}, dtype={self.like}.dtype{device})"

    def call(self, op: Any, *args: Operand) -> tuple[str, int]:
        if not isinstance(op, str):
            return super().call(op, *args)
        if op == "where":
            test, x, y = self.condition(args[0], " != 0"), *args[1:]
            first = self.of(x) if isinstance(y, Symbol) else self.array(x)
            return f"xp.where({test}, {first}, {self.of(y)})", ATOM
        if op == "hypot":  # of numbers alone it would be a float64
            args = tuple(sorted(args, key=lambda x: type(x) is float))
        texts = [*map(self.array if op in self.library.array_alone else self.of, args)]
        if op == "hypot" and not args[1:]:
            return self.call("abs", *args)
        if op == "hypot" and args[2:]:  # that of libraries takes two
            reduce = self.imported("from functools import reduce")
            return f"{reduce}(xp.hypot, [{', '.join(texts)}])", ATOM
        return f"{'xp.' * hasattr(self.library.xp, op)}{op}({', '.join(texts)})", ATOM


class JavaScript(Printer):
    """JavaScript over numbers, with its object Math."""

    special: Mapping[str, str] = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
    remark = "//"

    def assignment(self, name: str, text: str, symbol: Symbol) -> str:
        return f"const {name} = {text};"

    def own(self, operation: Operation) -> str:
        expected = "operations of this package, or made of them"
        found = f"{operation.__name__}, computed by a function of Python"
        raise TypeError(refusal("JavaScript", found, expected))

    def call(self, op: Any, *args: Operand) -> tuple[str, int]:
        if op == "where":
            test, x, y = self.condition(args[0], " !== 0"), *args[1:]
            return f"{test} ? {self.of(x, ORDER)} : {self.of(y, ORDER)}", CHOICE
        name = {"maximum": "max", "minimum": "min"}.get(op, op)
        known = op in HELPERS or not isinstance(op, str)
        return super().call(name if known else f"Math.{name}", *args)

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


# What the module math lacks, as Python and this package have it.
LACKING = {"abs": "abs", "maximum": "maximum", "minimum": "minimum", "pow": "power"}
IMPORTED = {  # functions that libraries lack, or that differ between them
    "autodiff.engine.ops": ("maximum", "minimum", "power"),
    "autodiff.compiler.backends": ("einsum", "erf", "scatter_add", "sigmoid"),
}


def _is_real(x: Operand, y: Operand) -> bool:
    """Whether x ** y is always real, unlike (-8.0) ** 0.5."""
    return (type(y) is float and y.is_integer()) or (type(x) is float and x >= 0)


def uses_of(outputs: Iterable[Operand]) -> dict[Symbol, int]:
    """How often the outputs and other symbols use each symbol that the outputs need."""
    uses: dict[Symbol, int] = {}
    stack = list(outputs)
    while stack:
        x = stack.pop()
        if isinstance(x, Symbol):
            x = unrenamed(x)
            if x not in uses:
                uses[x] = 0
                stack += x.args
            uses[x] += 1
    return uses


def wrapped(line: str) -> list[str]:
    """A line, or several if it is too long: broken inside brackets, or a comment."""
    code = line if len(line) <= LONGEST else re.split(r"(?<=\S)  # ", line)[0]
    if len(code) <= LONGEST:
        return [code]
    indent, head, text = re.findall(r"(\s*)(\w+ = |return |)(.*)", code)[0]
    further = indent + ("# " if text[0] == "#" else "    ")
    if head:
        whole = ast.parse(text, mode="eval").body
        text = text if isinstance(whole, (ast.Call, ast.List)) else f"({text})"
    return textwrap.wrap(  # which never breaks after the first indent, here `v1 = `
        text, LONGEST, initial_indent=indent + head, subsequent_indent=further,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def assembled(
    xp: Any, arguments: list[str], body: list[str], imports: Mapping[str, str],
    constants: Sequence[str] = (),
) -> str:  # fmt: skip
    """The text of a Python program: imports, constants, and the function.

    imports: those beside xp, its library. constants: lines before the function.
    """
    header = ["import math" if xp is math else f"import {xp.__name__} as xp"]
    header += [f"{line} as {name}" for line, name in imports.items()]
    called = re.findall(r"(?<![.\w])\w+(?=\()", "\n".join(body))
    for module, names in IMPORTED.items():
        if used := [name for name in names if name in called]:
            header += ["", f"from {module} import {', '.join(used)}"]
    blank = [""] * bool(constants)
    lines = [
        *blank, *constants, "", "", f"def program({', '.join(arguments)}):",
        *[f"    {line}" for line in body],
    ]  # fmt: skip
    return "\n".join([*header, *[part for line in lines for part in wrapped(line)], ""])
