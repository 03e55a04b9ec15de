"""The value of an expression, its gradient, and the table of every step.

An expression has numbers, names, + - * / ** and brackets, pi and e, and the
functions below, also as people write them: 3x², |a|·√b, ln(x), 6/2x for 6/(2x).
Put it in quotes: * and brackets mean something to a shell. The number of a
variable may itself be an expression, such as x=pi/4.

examples:
  autodiff "x*y + sin(x)" x=2 y=3
  autodiff "exp(-x**2 / 2) / sqrt(2*pi)" x=0.5 --mode forward
  autodiff "a*b + b**3" a=-4 b=2 --draw graph.svg --steps backward.html
  autodiff "log(x) + x*y" x=2 y=5 --language javascript
  autodiff --page graph.html

exit status:
  0  all went well
  1  no result or derivative here, a check that fails, a file that cannot be written
  2  the command or the expression cannot be read

functions:
"""

import argparse
import ast
import inspect
import io
import math
import operator
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from textwrap import fill, indent
from typing import cast
from unicodedata import normalize

from . import __version__, ops
from .admission import AnyNumber
from .compiler.expression import Expression
from .dispatch import Compute
from .errors import message, shortened
from .numeric import check_gradients
from .tracing import trace, width
from .transforms import grad, jacfwd
from .value import Value

FUNCTIONS = {name: getattr(ops, name) for name in sorted([*ops.__all__, "abs", "sum"])}
CONSTANTS = {"pi": math.pi, "e": math.e}  # unless a variable has the name
OPERATORS: dict[type, Compute] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.Pow: ops.power, ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}  # fmt: skip
SIGNS = {"^": "**", "²": "**2", "³": "**3", "·": "*", "×": "*", "÷": "/", "−": "-", "π": "pi"}
ALSO = {"ln": "log", "max": "maximum", "min": "minimum"}
REMEDIES = {  # what to write instead of a character or a name
    "<": "less(x, y)", ">": "less(y, x)", "=": "x=2 after the expression, which goes in quotes",
    "log10": "log(x)/log(10)", "pow": "x**y", "power": "x**y",
}  # fmt: skip
NAME, NUMBER = r"[^\W\d]\w*+", r"(?:\d[\d_]*+\.?|\.\d)[\d_]*+(?:[eE][-+]?\d+)?"
ROOT = re.compile(rf"√ *({NAME}|{NUMBER})(?! *\()")
PART = re.compile(rf"({NAME})|{NUMBER}|(?s:.)")
NO_SIGN = re.compile(r"(\w+) +\w+")  # x y, sin x
PARAMETERS = {"xs": "[x, y, ...]", "ys": "[a, b, ...]", "*xs": "x, y, ..."}


def _takes(name: str) -> str:
    """How the inputs of a function are written: "(x, y)"."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    names = ["*" * (p.kind is p.VAR_POSITIONAL) + p.name for p in parameters]
    return f"({', '.join(PARAMETERS.get(name, name) for name in names)})"


WRITTEN = "  ".join(name + _takes(name).replace(" ", "") for name in FUNCTIONS)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default sys.argv, and return the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # for terminals without ∂
    options = _options(sys.argv[1:] if argv is None else argv)
    try:
        for lines in _answers(options, _numbers(options.numbers)):
            print(lines, flush=True)  # errors now, rather than when Python ends
    except ExpressionError as error:
        return _failed(error, 2)
    except (MemoryError, RecursionError):
        return _failed("the expression is nested too deep; write long sums as sum([x, y])", 2)
    except BrokenPipeError:  # the reader has read enough, such as head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for when Python ends
        return 1
    except OSError as error:
        return _failed(f"cannot write {error.filename or 'the output'}: {error.strerror}", 1)
    except (ValueError, ArithmeticError, AssertionError, RuntimeError, ImportError) as error:
        return _failed(error, 1)
    return 0


def _failed(reason: object, status: int) -> int:
    print(f"autodiff: {reason}", file=sys.stderr)
    return status


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "autodiff", epilog=f"{__doc__}{indent(fill(WRITTEN, 78), '  ')}", allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("--version", action="version", version=f"autodiff {__version__}")
    add("expression", nargs="?", help="such as 'x*y + sin(x)'")
    add("numbers", nargs="*", metavar="name=number", help="the number of each variable: x=2")
    add(
        "--mode", choices=("reverse", "forward"), default="reverse",
        help="how the gradient is computed; forward mode has a table for each variable",
    )  # fmt: skip
    add("--draw", type=str.strip, metavar="FILE", help="save the graph: .svg, .png, .pdf ..., .gv")
    add("--steps", type=str.strip, metavar="FILE", help="save the live graph: .html")
    add("--page", type=str.strip, metavar="FILE", help="save a page to type expressions on: .html")
    add("--source", action="store_true", help="print the derivative as a program instead")
    add("--language", choices=("python", "javascript"), help="the language of the program")
    add("--check", action="store_true", help="compare both modes with finite differences")
    # A leading dash is a minus sign, not an option: after a space argparse leaves it alone.
    negative = [f" {x}" if x[:1] == "-" and x[:2] != "--" and x != "-h" else x for x in argv]
    options = parser.parse_intermixed_args(negative)
    if options.expression is None and options.page is None:
        parser.error("an expression is missing, such as 'x*y + sin(x)'")
    return options


def _numbers(assignments: Sequence[str]) -> dict[str, float]:
    """The numbers of the variables, by name."""
    numbers: dict[str, float] = {}
    for assignment in map(str.strip, assignments):
        name, _, text = assignment.partition("=")
        name = normalize("NFKC", name.strip())  # as Python reads names
        if not (text and name.isidentifier()):
            reason = f"{shortened(assignment)} is not a name and its number, such as x=2"
            raise _error(reason, assignment, 0, len(name) or 1)
        if name in numbers:
            raise _error(f"{name} is given twice", assignment, 0, len(name))
        numbers[name] = parse(text, [], f"write a number, such as {name}=2")()
    return numbers


def _answers(options: argparse.Namespace, numbers: dict[str, float]) -> Iterator[str]:
    """The parts of the output; the files that were asked for are written on the way."""
    if options.page is not None:
        from .pictures.live import page

        Path(options.page).write_text(page(), encoding="utf-8")
        yield f"wrote {options.page}"
        if options.expression is None:
            return
    f = parse(options.expression, list(numbers))
    variables = [Value(number, label=name) for name, number in numbers.items()]
    root = f(*variables)
    if not isinstance(root, Value):
        expected = "one with variables, such as x*y"
        raise ValueError(message("expression", f"the constant {root}", expected))
    if options.language == "javascript":
        yield Expression(root).javascript(variables, wrt=variables)
    elif options.source or options.language:
        yield Expression(root).compile(variables, wrt=variables).source.rstrip()
    else:
        yield from _tables(f, numbers, options.mode)
    if options.check:
        check_gradients(f, *numbers.values())
        yield "\nforward mode, reverse mode and central differences agree"
    if options.draw is not None:
        from . import draw

        if not Path(options.draw).suffix:
            expected = "one with an ending, such as graph.svg"
            raise ValueError(message("--draw", f"the file name {options.draw!r}", expected))
        root.backward()
        yield f"wrote {draw(root).save(options.draw)}"
    if options.steps is not None:
        from . import show_steps

        yield f"wrote {show_steps(root).save(options.steps)}"


def _tables(f: Compute, numbers: dict[str, float], mode: str) -> Iterator[str]:
    """The value and the gradient, then the trace."""
    at = tuple(numbers.values())
    gradient = (grad if mode == "reverse" else jacfwd)(f, range(len(at)))(*at)
    rows = {"value": f(*at)} | {f"∂/∂{name}": slope for name, slope in zip(numbers, gradient)}
    left = max(map(len, rows)) + 3
    yield from (f"{name:{left}}{number}" for name, number in rows.items())
    if mode == "reverse":
        yield f"\n{trace(f, *at, mode=mode)}"
    else:
        yield from (f"\nalong {name}:\n{trace(f, *at, wrt=name)}" for name in numbers)


# -- Expressions --------------------------------------------------------------------------------
#
# Arithmetic as Python writes it. Python's parser makes a tree of it, which is walked here: nothing
# is executed as Python.
#
#     sum      = product {("+" | "-") product}
#     product  = factor {("*" | "/") factor}
#     factor   = sign {power}, where the first ends in a number, a bracket or a bar
#     sign     = ("+" | "-") sign | power
#     power    = atom ["**" sign]
#     atom     = number | name | name "(" inputs ")" | "(" sum ")" | "|" sum "|" | "√" atom
#     inputs   = sum {"," sum} | list {"," list}
#     list     = "[" sum {"," sum} "]"


class ExpressionError(ValueError):
    """The command or the expression cannot be read."""


def parse(
    text: str, names: Sequence[str], unknown: str = "write {}=2 after the expression"
) -> Compute:
    """An expression as a function of the variables in `names`, in this order.

    It takes any kind of number. ExpressionError if the text is anything but arithmetic with
    numbers, these names, pi, e and the functions of this package; `unknown` is what to do about
    another name. ValueError if an operation has no result.

    >>> parse("x*y + sin(x)", ["x", "y"])(2.0, 3.0)
    6.909297426825682
    >>> parse("x*y + sine(x)", ["x", "y"])(2.0, 3.0)
    Traceback (most recent call last):
    ...
    autodiff.__main__.ExpressionError: there is no function sine; did you mean sin?
        x*y + sine(x)
              ^^^^
    """
    text = "".join(" " if c.isspace() else SIGNS.get(c, c) for c in text).strip()
    tree = _tree(text := _joined(text))

    def function(*numbers: AnyNumber) -> AnyNumber:
        return Reader(text, dict(zip(names, numbers, strict=True)), unknown).number(tree)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(name, kind) for name in names])
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__name__ = text
    return function


def _joined(text: str) -> str:
    """A text in which √x is sqrt(x), |x| is abs(x), and factors side by side are joined by "@"."""
    if (at := text.find("@")) >= 0:
        raise _error("@ has no meaning in an expression", text, at, at + 1)
    text = ROOT.sub(r"sqrt(\1)", text).replace("√", "sqrt")
    parts, opened, last = list[str](), ["("], " "  # the brackets and bars around a part
    for found in PART.finditer(text):
        part = found[0]
        ends = last[-1] == ")" or bool(re.match(r"\.?\d", last))  # a number, a bracket or a bar
        closes = part == "|" == opened[-1] and (ends or last[0].isidentifier())
        if ends and (found[1] or part == "(" or (part == "|" and not closes)):
            parts.append("@")
        if part in ("(", "[", "|") and not closes:
            opened.append(part)
        elif part in (")", "]", "|"):
            opened = opened[:-1] or ["("]
        parts.append({"|": "))" if closes else "(abs("}.get(part, part))
        last = last if part == " " else parts[-1]
    return "".join(parts)


def _tree(text: str) -> ast.expr:
    """The tree of a text, of which only names, numbers and signs of arithmetic reach the parser."""
    if not text:
        raise ExpressionError("the expression is empty; write one such as 'x*y + sin(x)'")
    for i, c in enumerate(text):
        if c in REMEDIES or not (c.isalnum() or c in "_ .,+-*/()[]@"):
            shown = c if c.isprintable() else f"U+{ord(c):04X}"
            remedy = f"; write {REMEDIES[c]}" if c in REMEDIES else ""
            reason = f"{shown} has no meaning in an expression{remedy}"
            raise _error(reason, text, i, i + 1)
    try:
        with warnings.catch_warnings(action="ignore"):  # such as that of 1or x
            return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        start, remedy = max(0, (error.offset or 1) - 1), ""
        end = max(start + 1, (error.end_offset or 0) - 1)
        if pair := NO_SIGN.search(text):
            start, end = pair.span()
            call = pair[1] in FUNCTIONS
            remedy = f"; write {pair[1]}(x)" if call else "; for a product write x*y"
        reason = f"this is not an expression: {error.msg}{remedy}"
        raise _error(reason, text.replace("@", "*"), start, end) from None


class Reader:
    """Computes the nodes of a tree at the numbers of the variables."""

    def __init__(self, text: str, numbers: dict[str, AnyNumber], unknown: str) -> None:
        self.text, self.unknown = text.replace("@", "*"), unknown
        self.numbers = CONSTANTS | numbers

    def number(self, node: ast.expr) -> AnyNumber:
        """The number that a node stands for."""
        match node:
            case ast.Constant(value=int() | float() as x) if not isinstance(x, bool):
                if x > sys.float_info.max:
                    raise self.error(node, "this number is too large for a float")
                return float(x)
            case ast.Name(id=name):
                return self.variable(node, name)
            case ast.BinOp(op=ast.MatMult()):
                return self.side_by_side(node)
            case ast.UnaryOp(op=op) | ast.BinOp(op=op) if type(op) in OPERATORS:
                operands = [x for x in ast.iter_child_nodes(node) if isinstance(x, ast.expr)]
                return self.result(node, OPERATORS[type(op)], *map(self.number, operands))
            case ast.Call(func=ast.Name(id=name), args=inputs, keywords=[]):
                return self.call(node, name, inputs)
            case ast.Tuple():
                remedy = "a comma stands between the inputs of a function; write 1.5, not 1,5"
            case _:
                remedy = "an expression has numbers, names, + - * / ** and functions such as sin(x)"
        raise self.error(node, f"this has no meaning here; {remedy}")

    def side_by_side(self, node: ast.BinOp) -> AnyNumber:
        """The product of factors without a sign, which is one factor: 6/2x is 6/(2x)."""

        def bare(x: ast.expr, *ops: type) -> ast.BinOp | None:  # of these, without brackets
            fits = isinstance(x, ast.BinOp) and isinstance(x.op, ops)
            return cast(ast.BinOp, x) if fits and x.col_offset == node.col_offset else None

        factors, first = [node.right], node.left
        while inner := bare(first, ast.MatMult):
            factors, first = [inner.right, *factors], inner.left
        whole = bare(first, ast.Mult, ast.Div)
        product = self.number(whole.right if whole else first)
        for factor in factors:
            product = self.result(node, operator.mul, product, self.number(factor))
        if not whole:
            return product
        return self.result(node, OPERATORS[type(whole.op)], self.number(whole.left), product)

    def variable(self, node: ast.expr, name: str) -> AnyNumber:
        """The number of a variable or a constant."""
        if name in self.numbers:
            return self.numbers[name]
        if name in FUNCTIONS:
            raise self.error(node, f"{name} is a function; write {name}{_takes(name)}")
        raise self.error(node, f"{name} has no value; {self.unknown.format(name)}")

    def call(self, node: ast.Call, name: str, inputs: Sequence[ast.expr]) -> AnyNumber:
        """The result of a function."""
        name = ALSO.get(name, name)
        if name not in FUNCTIONS:
            close = get_close_matches(name, FUNCTIONS, n=1)
            remedy = f"did you mean {close[0]}?" if close else f"there are {', '.join(FUNCTIONS)}"
            if instead := f"{name}*(...)" if name in self.numbers else REMEDIES.get(name):
                remedy = f"write {instead}"
            raise self.error(node.func, f"there is no function {name}; {remedy}")
        function, takes = FUNCTIONS[name], _takes(name)
        lists = [x.elts for x in inputs if isinstance(x, ast.List)]
        try:
            inspect.signature(function).bind(*inputs)
            fits = len(lists) == ("[" in takes) * len(inputs)  # all or none
        except TypeError:  # too many inputs, or too few
            fits = False
        if not fits:
            raise self.error(node, f"{name} is written {name}{takes}")
        rows = [[*map(self.number, row)] for row in lists]
        return self.result(node, function, *(rows or map(self.number, inputs)))

    def result(self, node: ast.expr, function: Compute, *inputs: AnyNumber) -> AnyNumber:
        """The result of an operation."""
        try:
            return function(*inputs)
        except (ValueError, ArithmeticError) as error:
            raise ValueError(str(self.error(node, str(error)))) from None

    def error(self, node: ast.expr, reason: str) -> ExpressionError:
        """An error about a node, whose place Python's parser counts in bytes."""
        encoded = self.text.encode()
        start, end = encoded[: node.col_offset], encoded[: node.end_col_offset]
        return _error(reason, self.text, len(start.decode()), len(end.decode()))


def _error(reason: str, text: str, start: int, end: int) -> ExpressionError:
    """An error about a part of a text, with carets under it."""
    text = "".join(c if c.isprintable() else "?" for c in text)
    mark = " " * width(text[:start]) + "^" * max(1, width(text[start:end]))
    return ExpressionError(f"{reason}\n    {text}\n    {mark}")


if __name__ == "__main__":
    sys.exit(main())
