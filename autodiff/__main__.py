"""The value of an expression, its gradient, and the table of every step.

An expression is arithmetic as Python writes it: numbers, names, + - * / ** and brackets, pi and
e, and the functions below; dot, logsumexp, prod and sum take lists, as in sum([x, y]). It may have
x^2, x², √x, |x|, x·y, ln, max and min, too. Put it in quotes: * and brackets mean something to a
shell. The number of a variable may itself be such an expression, as in x=pi/4.

examples:
  autodiff "x*y + sin(x)" x=2 y=3
  autodiff "a*b + b**3" a=-4 b=2 --draw graph.svg --steps backward.html
  autodiff --page graph.html
  autodiff --page network.html

functions:
"""

import argparse
import ast
import inspect
import io
import math
import operator
import re
import sys
import unicodedata
import warnings
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from textwrap import fill
from typing import Any

import autodiff

from .compiler.tracing import trace, width
from .engine import ops
from .engine.admission import AnyNumber
from .engine.errors import refusal, shortened
from .engine.operation import Compute
from .engine.value import Value

FUNCTIONS = {name: getattr(ops, name) for name in sorted([*ops.__all__, "abs", "sum"])}
READ = FUNCTIONS | {
    "ln": ops.log,
    "max": lambda x, y, *more: reduce(ops.maximum, (x, y, *more)),
    "min": lambda x, y, *more: reduce(ops.minimum, (x, y, *more)),
}
SIGNS = {"^": "**", "·": " * ", "⋅": " * ", "×": " * ", "÷": "/", "−": "-", "π": "pi"}
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
CONSTANTS = {"pi": math.pi, "e": math.e}  # unless a variable has the name
OPERATORS: dict[type, Compute] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: ops.power, ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default sys.argv. Its status: 2 if the command is wrong, 1 if a file
    or a package fails."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # for terminals without ∂
    try:
        _answer(_options(sys.argv[1:] if argv is None else argv))
        return 0
    except (MemoryError, RecursionError):
        wrong, status = "the expression is nested too deep; write long sums as sum([x, y])", 2
    except (ValueError, ArithmeticError) as error:
        wrong, status = str(error), 2
    except (OSError, RuntimeError, ImportError) as error:
        wrong, status = str(error), 1
    print(f"autodiff: {wrong}", file=sys.stderr)
    return status


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "autodiff", epilog=f"{__doc__}{fill(', '.join(FUNCTIONS), 78)}",
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    add = parser.add_argument
    add("--version", action="version", version=f"autodiff {autodiff.__version__}")
    add("expression", nargs="?", help="such as 'x*y + sin(x)'")
    add("numbers", nargs="*", metavar="name=number", help="the number of each variable: x=2")
    add("--draw", type=_file, metavar="FILE", help="save the graph: .svg, .png, .pdf or .gv")
    add("--steps", type=_file, metavar="FILE", help="save the live graph: .html")
    add("--page", type=_file, metavar="FILE", help="save the page to type expressions on, "
        "graph.html, or to build a network on, network.html")  # fmt: skip
    # A leading dash is a minus sign, not an option: after a space argparse leaves it alone.
    negative = [f" {x}" if x[:1] == "-" and x[:2] != "--" and x != "-h" else x for x in argv]
    options = parser.parse_intermixed_args(negative)
    if options.expression is None and options.page is None:
        parser.error("an expression is missing, such as 'x*y + sin(x)'")
    return options


def _file(name: str) -> str:
    if not name.strip():
        raise argparse.ArgumentTypeError("a file needs a name")
    return name.strip()


def _answer(options: argparse.Namespace) -> None:
    """Print the value, the gradient and the table; save the files that were asked for."""
    if options.page:
        print("wrote", _page(options.page))
    if options.expression is None:
        return
    numbers = _numbers(options.numbers)
    f = parse(options.expression, list(numbers))
    variables = [Value(x, label=name) for name, x in numbers.items()]
    root = f(*variables)
    if not isinstance(root, Value):
        expected = "one with variables, such as x*y"
        raise ValueError(refusal("expression", f"the constant {root}", expected))
    root.backward()
    rows = {"value": root.data} | {f"∂/∂{x.label}": x.grad for x in variables}
    left = max(map(len, rows)) + 3
    print(*(f"{name:{left}}{x}" for name, x in rows.items()), sep="\n")
    print(f"\n{trace(f, *numbers.values(), mode='reverse')}")
    if options.draw:
        print("wrote", autodiff.draw(root).save(options.draw))
    if options.steps:
        print("wrote", autodiff.show_steps(root).save(options.steps))


def _page(file: str) -> str:
    """The page that a file is named after, written to it."""
    from .pages import live, network
    from .pages.page import Page

    pages = {"graph.html": live.page, "network.html": network.page}
    if (name := Path(file).name) not in pages:
        expected = "graph.html, to type expressions on, or network.html, to build a network on"
        raise ValueError(refusal("--page", f"the file name {name!r}", expected))
    return Page(pages[name](), name).save(file)


def _numbers(assignments: Sequence[str]) -> dict[str, float]:
    """The numbers of the variables, by name."""
    numbers: dict[str, float] = {}
    for text in assignments:
        text, tree = _tree(text, "exec")
        match tree.body:
            case [ast.Assign(targets=[ast.Name(id=name)], value=x)] if name not in numbers:
                numbers[name] = Reader(text, CONSTANTS).number(x)
            case _:
                expected = "a new name and its number, such as x=2"
                raise ValueError(refusal("the command", shortened(text), expected))
    return numbers


# -- Expressions: Python's parser makes a tree, of which Reader.number reads arithmetic alone.


def parse(text: str, names: Sequence[str]) -> Compute:
    """An expression as a function of the variables in `names`, in this order.

    It takes any kind of number. ValueError if the text is anything but arithmetic with numbers,
    these names, pi, e and the functions of this package, or if an operation has no result.

    >>> parse("x*y + sin(x)", ["x", "y"])(2.0, 3.0)
    6.909297426825682
    """
    text, tree = _tree(text, "eval")

    def function(*numbers: AnyNumber) -> AnyNumber:
        return Reader(text, CONSTANTS | dict(zip(names, numbers, strict=True))).number(tree.body)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(name, kind) for name in names])
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def _tree(text: str, mode: str) -> tuple[str, Any]:
    """A text of characters that can be seen, with single spaces, and its tree; nothing is run."""
    text = _in_python("".join(c if c.isprintable() else " " for c in text))
    try:
        with warnings.catch_warnings(action="ignore"):  # such as that of 1or x
            return text, ast.parse(text, mode=mode)
    except SyntaxError as error:
        example = "a product has its sign, a function its brackets: 3*x**2 + log(abs(x))/y"
        reason = f"this is not an expression: {error.msg}; {example}"
        start = (error.offset or 1) - 1
        raise _error(reason, text, start, start + 1) from None


def _in_python(text: str) -> str:
    """What people write as Python writes it: |a|·√b² as abs(a) *sqrt(b)**2."""
    text = re.sub("[⁰¹²³⁴-⁹⁻⁺]+", lambda run: f"**{run[0].translate(RAISED)} ", text)
    text = unicodedata.normalize("NFKC", text)
    for sign, python in SIGNS.items():
        text = text.replace(sign, python)
    text = re.sub(r"√(?=\()", "sqrt", re.sub(r"√(\w++)(?![(.])", r"sqrt(\1)", text))
    while text != (text := re.sub(r"\|([^|]+)\|", r" abs(\1) ", text)):
        pass
    return " ".join(text.split())


class Reader:
    """Computes the nodes of a tree at the numbers of the variables."""

    def __init__(self, text: str, numbers: Mapping[str, AnyNumber]) -> None:
        self.text, self.numbers = text, numbers

    def number(self, node: Any) -> AnyNumber:
        """The number that a node stands for."""
        match node:
            case ast.Constant(value=True | False):
                pass
            case ast.Constant(value=int() | float() as x) if x <= sys.float_info.max:
                return float(x)
            case ast.Name(id=name) if name in self.numbers:
                return self.numbers[name]
            case ast.UnaryOp(op=op, operand=x) if type(op) in OPERATORS:
                return self.result(node, OPERATORS[type(op)], self.number(x))
            case ast.BinOp(left=x, op=op, right=y) if type(op) in OPERATORS:
                return self.result(node, OPERATORS[type(op)], self.number(x), self.number(y))
            case ast.Call(func=ast.Name(id=name), args=inputs, keywords=[]) if name in READ:
                return self.result(node, READ[name], *map(self.input, inputs))
            case ast.Call(func=ast.Name(id=name)) if name in READ:
                raise self.error(node, f"write {_written(name)}")
            case ast.Call(func=ast.Name(id=name)):
                reason = f"there is no function {name}; there are {', '.join(FUNCTIONS)}"
                raise self.error(node.func, reason)
            case ast.Name(id=name):
                raise self.error(node, f"{name} has no value; {_meant(name)}")
        remedy = "an expression has numbers, names, + - * / ** and functions such as sin(x)"
        raise self.error(node, f"this has no meaning here; {remedy}")

    def input(self, node: Any) -> AnyNumber:
        """An input of a function: a number, or a list of them."""
        return [*map(self.number, node.elts)] if isinstance(node, ast.List) else self.number(node)

    def result(self, node: Any, function: Compute, *inputs: AnyNumber) -> AnyNumber:
        """The result of an operation."""
        try:
            return function(*inputs)
        except (ValueError, ArithmeticError) as error:
            raise self.error(node, str(error)) from None
        except TypeError:  # too many inputs, or too few, or a list
            raise self.error(node, f"write {_written(node.func.id)}") from None

    def error(self, node: Any, reason: str) -> ValueError:
        """An error about a node, whose place Python's parser counts in bytes."""
        encoded = self.text.encode()
        start, end = encoded[: node.col_offset], encoded[: node.end_col_offset]
        return _error(reason, self.text, len(start.decode()), len(end.decode()))


def _meant(name: str) -> str:
    """What to write instead of a name that has no number."""
    if name in READ:
        return f"it is a function: {_written(name)}"
    parts = re.fullmatch(r"([^\W\d])([^\W\d]|\d+)", name)
    product = f"; a product is {parts[1]}*{parts[2]}" if parts else ""
    return f"give it one after the expression, as in {name}=2{product}"


def _written(name: str) -> str:
    """How a function is written: "sum([x, y])"."""
    takes = str(inspect.signature(READ[name])).replace(", *more", "")
    return name + takes.replace("*xs", "x, y").replace("xs", "[x, y]").replace("ys", "[a, b]")


def _error(reason: str, text: str, start: int, end: int) -> ValueError:
    """An error about a part of a text, with carets under it."""
    mark = " " * width(text[:start]) + "^" * max(1, width(text[start:end]))
    return ValueError(f"{reason}\n    {text}\n    {mark}")


if __name__ == "__main__":
    sys.exit(main())
