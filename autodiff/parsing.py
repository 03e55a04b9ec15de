"""Expressions as text, such as "x*y + sin(x)": parsed, but never executed as Python.

Python's parser makes a tree of the text, in which only numbers, names, arithmetic and calls of the
functions below are allowed. Each node of the tree becomes a closure that takes the numbers of the
variables. So the result is a function of any kind of number, like one written by hand.
"""

import ast
import inspect
import math
import operator
import unicodedata
import warnings
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any

from . import functions

LONGEST, DEEPEST = 1_000, 100  # characters; levels of nesting
SHOWN = 80  # characters of an expression in an error message

CONSTANTS = {"pi": math.pi, "e": math.e}  # unless a variable has the name

FUNCTIONS = {  # by their arguments
    "(x)": "abs acos asin atan cos cosh erf exp log relu sigmoid sin sinh softplus sqrt tan tanh",
    "(x, y)": "less less_equal maximum minimum power",
    "(x, y, ...)": "hypot",
    "(condition, x, y)": "where",
    "([x, y, ...])": "logsumexp prod sum",
    "([x, y, ...], [a, b, ...])": "dot",
}
TAKES = {name: inputs for inputs, names in FUNCTIONS.items() for name in names.split()}

OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: functions.power,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}

# What to write instead of a character that an expression cannot contain.
REMEDIES = {
    "^": "for a power write x**2",
    "²": "for a power write x**2",
    "√": "for a root write sqrt(x)",
    "<": "for a comparison write less(x, y)",
    ">": "for a comparison write less(y, x)",
    "=": "for the number of a variable write x=2 after the expression, which goes in quotes",
    "·": "for a product write x*y",
    "×": "for a product write x*y",
    "÷": "for a quotient write x/y",
    "−": "for a minus write -",
}

Closure = Callable[[dict[str, Any]], Any]


class ExpressionError(ValueError):
    """An error in an expression, with the place marked by carets."""

    def __init__(self, reason: str, text: str, start: int, end: int) -> None:
        text = "".join(c if c.isprintable() else "?" for c in text)
        first = max(0, start - SHOWN // 2)  # of the part that is shown
        last = first + SHOWN
        before, found = text[first:start], text[start : min(end, last)]
        mark = " " * _width(before) + "^" * max(1, _width(found))
        super().__init__(f"{reason}\n    {text[first:last]}\n    {mark}")


class DomainError(ExpressionError):
    """An operation has no result at the numbers given."""


def parse(text: str, names: Sequence[str]) -> Callable[..., Any]:
    """An expression as a function of the variables in `names`, in this order.

    ExpressionError if the text is anything but arithmetic with numbers, these names, pi, e and the
    functions of this package. The function raises a DomainError, a kind of ExpressionError, if an
    operation has no result.

    >>> f = parse("x*y + sin(x)", ["x", "y"])
    >>> f(2.0, 3.0)
    6.909297426825682
    >>> parse("x*y + sine(x)", ["x", "y"])
    Traceback (most recent call last):
    ...
    autodiff.parsing.ExpressionError: there is no function sine; did you mean sin?
        x*y + sine(x)
              ^^^^
    """
    text = "".join(" " if c.isspace() else c for c in text).strip()
    _check_characters(text)
    expression = Reader(text, names).read(_tree(text))

    def function(*numbers: Any) -> Any:
        return expression(dict(zip(names, numbers, strict=True)))

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(name, kind) for name in names])
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__name__ = text
    return function


def _check_characters(text: str) -> None:
    """Let nothing but names, numbers and the signs of arithmetic reach Python's parser."""
    if not text:
        raise ExpressionError("the expression is empty; write one such as 'x*y + sin(x)'", "", 0, 0)
    if len(text) > LONGEST:
        reason = f"the expression has {len(text)} characters; at most {LONGEST} are read"
        raise ExpressionError(reason, text, LONGEST, len(text))
    for i, c in enumerate(text):
        if not (c.isalnum() or c in "_ .,+-*/()[]") or c in REMEDIES:
            shown = c if c.isprintable() else f"U+{ord(c):04X}"
            remedy = f"; {REMEDIES[c]}" if c in REMEDIES else ""
            reason = f"{shown} has no meaning in an expression{remedy}"
            raise ExpressionError(reason, text, i, i + 1)


def _tree(text: str) -> ast.expr:
    try:
        with warnings.catch_warnings(action="ignore"):  # such as that of 1or x
            tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        start = max(0, (error.offset or 1) - 1)
        end = max(start + 1, (error.end_offset or 0) - 1)
        after = text[start + 1 : start + 2]
        product = "decimal literal" in error.msg and after.isalpha()
        remedy = "; for a product write 2*x" if product else ""
        reason = f"this is not an expression: {error.msg}{remedy}"
        raise ExpressionError(reason, text, start, end) from None
    except (MemoryError, RecursionError):  # the parser may give up on deep nesting
        raise ExpressionError("the expression is nested too deep", text, 0, len(text)) from None
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    if level:
        reason = f"operations are nested more than {DEEPEST} deep; write long sums as sum([x, y])"
        raise ExpressionError(reason, text, 0, len(text))
    return tree


class Reader:
    """Turns the nodes of a tree into closures."""

    def __init__(self, text: str, names: Sequence[str]) -> None:
        self.text, self.names = text, names

    def read(self, node: ast.expr) -> Closure:
        """The value of a node, as a function of the numbers of the variables."""
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return self._constant(node, number)
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.UnaryOp(op=op, operand=x) if type(op) in OPERATORS:
                return self._operation(node, OPERATORS[type(op)], [self.read(x)])
            case ast.BinOp(left=x, op=op, right=y) if type(op) in OPERATORS:
                return self._operation(node, OPERATORS[type(op)], [self.read(x), self.read(y)])
            case ast.Call(func=ast.Name(id=name), args=inputs, keywords=[]):
                return self._call(node, name, inputs)
        expected = "an expression has numbers, names, + - * / ** and functions such as sin(x)"
        raise self._error(node, f"this has no meaning here; {expected}")

    def _constant(self, node: ast.expr, number: float) -> Closure:
        try:
            value = float(number)
        except OverflowError:
            value = math.inf
        if value == math.inf:
            raise self._error(node, "this number is too large for a float")
        return lambda _: value

    def _name(self, node: ast.expr, name: str) -> Closure:
        if name in self.names:
            return lambda numbers: numbers[name]
        if name in CONSTANTS:
            return lambda _: CONSTANTS[name]
        if name in TAKES:
            raise self._error(node, f"{name} is a function; write {name}{TAKES[name]}")
        raise self._error(node, f"{name} has no value; write {name}=2 after the expression")

    def _call(self, node: ast.Call, name: str, inputs: list[ast.expr]) -> Closure:
        if name not in TAKES:
            if name in self.names or name in CONSTANTS:
                remedy = f"for a product write {name}*(...)"
            else:
                close = get_close_matches(name, TAKES, n=1)
                remedy = f"did you mean {close[0]}?" if close else f"there are {', '.join(TAKES)}"
            raise self._error(node.func, f"there is no function {name}; {remedy}")
        takes = TAKES[name]
        lists = takes.count("[")
        fits = len(inputs) == (lists or takes.count(",") + 1) or (name == "hypot" and inputs)
        if not fits or any(isinstance(x, ast.List) != (lists > 0) for x in inputs):
            raise self._error(node, f"{name} is written {name}{takes}")
        read = self._list if lists else self.read
        return self._operation(node, getattr(functions, name), [read(x) for x in inputs])

    def _list(self, node: Any) -> Closure:
        entries = [self.read(x) for x in node.elts]
        return lambda numbers: [read(numbers) for read in entries]

    def _operation(
        self, node: ast.expr, apply: Callable[..., Any], inputs: list[Closure]
    ) -> Closure:
        """An operation whose errors show its place in the text."""

        def result(numbers: dict[str, Any]) -> Any:
            found = [read(numbers) for read in inputs]
            try:
                return apply(*found)
            except (ValueError, ZeroDivisionError, OverflowError) as error:
                raise DomainError(str(error), *self._place(node)) from None

        return result

    def _error(self, node: ast.expr, reason: str) -> ExpressionError:
        return ExpressionError(reason, *self._place(node))

    def _place(self, node: ast.expr) -> tuple[str, int, int]:
        """The text, and where in it a node begins and ends. Python's parser counts in bytes."""
        encoded = self.text.encode()
        start, end = encoded[: node.col_offset], encoded[: node.end_col_offset]
        return self.text, len(start.decode()), len(end.decode())


def _width(text: str) -> int:
    """The number of columns that a text takes up on a screen."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))
