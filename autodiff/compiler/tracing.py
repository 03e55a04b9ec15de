"""Evaluation traces: a computation as a table with its derivatives.

By hand, because a library of tables would be the first that `import autodiff` needs.
"""

import html
import math
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import NamedTuple

from ..engine import graph, ops
from ..engine.admission import AnyNumber
from ..engine.checks import input_names, plain_number
from ..engine.errors import refusal, shortened, typed
from ..engine.operation import Operation
from ..engine.transforms import Function, Tree, check_function, flatten
from ..engine.value import Value
from .printer import ATOM, PRODUCT, Notation
from .symbolic import Symbol, Writer, op_of

Formula = Symbol | float  # one with a text, or a constant
Slopes = list[tuple[Value, Formula | None]]  # the derivative of a result by each parent

LONGEST = 160  # characters of a formula: of a longer one only both ends are shown

DOT, BAR = "\u0307", "\u0304"  # combining: they stand above the letter before them


# -- The evaluation trace -----------------------------------------------------------------------


class Row(NamedTuple):
    """A variable of a trace, and its tangent or adjoint, each with its formula and value."""

    variable: str
    formula: str
    value: float
    derivative: str
    derivative_formula: str
    derivative_value: float


@dataclass(repr=False)
class Trace:
    """An evaluation trace: text when printed, a table in Jupyter, and its `rows`."""

    mode: str
    rows: list[Row]

    def _cells(self) -> Sequence[tuple[str, ...]]:
        cells = [("primal", "value", "tangent" if self.mode == "forward" else "adjoint", "value")]
        for v, formula, x, dv, dformula, dx in self.rows:
            cells.append((f"{v} = {formula}", f"{x:.6g}", f"{dv} = {dformula}", f"{dx:.6g}"))
        return cells

    def __repr__(self) -> str:
        cells = self._cells()
        widths = [max(map(width, column)) for column in zip(*cells)]
        lines = [
            "   ".join(text + " " * (w - width(text)) for text, w in zip(row, widths)).rstrip()
            for row in cells
        ]
        lines.insert(1, "-" * max(map(width, lines)))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        left = '<td style="text-align: left">'
        rows = ["".join(f"{left}{html.escape(text)}</td>" for text in row) for row in self._cells()]
        rows[0] = rows[0].replace("td", "th")
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def trace(f: Function, *args: Tree, mode: str = "forward", wrt: int | str = 0) -> Trace:
    """The evaluation trace of f at args: each intermediate result, with tangents or adjoints.

    The inputs are v₁₋ₙ ... v₀, the results v₁, v₂ ..., in an order in which they can be computed.
    Of a long formula both ends are shown.
    Beside them stand the tangents v̇ in forward mode, the adjoints v̄ in reverse mode, which are
    read from the bottom up. This is the notation of Baydin et al., JMLR 18 (2018).

    f: a function that returns one number; args: trees, such as numbers, lists and arrays.
    mode: "forward" or "reverse".
    wrt: in forward mode the input whose tangent is 1, by its index or name.

    TypeError for other arguments or results; ValueError for another mode, or if `wrt` is not
    an input.

    >>> trace(lambda x, y: x * y + x, 3.0, 2.0, mode="reverse")
    primal          value   adjoint              value
    --------------------------------------------------
    v₋₁ = x         3       v̄₋₁ = v̄₂·1 + v̄₁·v₀   3
    v₀ = y          2       v̄₀ = v̄₁·v₋₁          3
    v₁ = v₋₁·v₀     6       v̄₁ = v̄₂·1            1
    v₂ = v₁ + v₋₁   9       v̄₂ = z̄               1
    z = v₂          9       z̄ = 1                1
    """
    check_function(f, "trace")
    if mode not in ("forward", "reverse"):
        raise ValueError(refusal("trace", f"mode {shortened(mode)}", "'forward' or 'reverse'"))
    numbers, rebuild = flatten(args, "trace")
    if not numbers:
        raise TypeError(refusal("trace", "no numbers", "those to compute f at: trace(f, 2.0)"))
    inputs = [Value(plain_number(x, "trace")) for x in numbers]
    arguments = rebuild(iter(inputs))
    names = input_names(f, arguments)
    try:
        seed = inputs[names.index(wrt) if isinstance(wrt, (str, bool)) else wrt]  # type: ignore
    except (ValueError, IndexError, TypeError):
        expected = f"one of {shortened(names)} or an index of it"
        raise ValueError(refusal("trace", f"wrt = {shortened(wrt)}", expected)) from None
    result = f(*arguments)
    outputs, shape = flatten(result, "trace")
    output = outputs[0] if shape is next else None
    if not (isinstance(output, Value) and (output.parents or output in set(inputs))):
        remedy = "trace several one by one, and write x, not x.data"
        raise TypeError(refusal("trace", typed(result), "one number that depends on x", remedy))
    graph.adjoints(output)  # raises if a derivative is undefined
    return Trace(mode, _rows(mode, dict(zip(inputs, names)), seed, output))


def _rows(mode: str, names: dict[Value, str], seed: Value, output: Value) -> list[Row]:
    """The rows of the table, given the names of the inputs and the one whose tangent is 1."""
    results = {node: node._operation for node in graph.depths(output) if node._operation}
    places = enumerate([*names, *results], start=1 - len(names))
    variables = {node: f"v{subscript(i)}" for i, node in places}
    formulas = {x: _subscripted(name) for x, name in names.items()}
    slopes: dict[Value, Slopes] = {}
    for node, operation in results.items():
        formulas[node], slopes[node] = _written(node, operation, variables)
    y = _subscripted(name_of_result([name.partition("[")[0] for name in names.values()]))
    if mode == "forward":
        mark, numbers = DOT, {seed: 1.0}
        # a dot above the first letter of a word would say nothing of the word
        terms = {
            x: [f"{numbers.get(x, 0.0):g}" if name[1:2].isalpha() else _marked(formulas[x], mark)]
            for x, name in names.items()
        }
        edges = [(p, node, slope) for node in results for p, slope in slopes[node]]
    else:
        mark, numbers = BAR, {output: 1.0}
        terms = {output: [_marked(y, mark)]}
        edges = [(node, p, slope) for node in reversed(results) for p, slope in slopes[node]]
    for x, target, slope in edges:  # the chain rule
        local = 0.0 if slope is None else _value(slope)
        if math.isnan(local) and x not in numbers:
            continue  # x stands still: that it has no derivative does not matter
        term = _product(_marked(variables[x], mark), slope, short=mark == DOT)
        terms.setdefault(target, []).append(term)
        if x in numbers and slope is not None:
            numbers[target] = numbers.get(target, 0.0) + numbers[x] * local
    rows = []
    for x, v in variables.items():
        total = abbreviated(" + ".join(terms.get(x, ["0"])).replace("+ -", "- "))
        rows.append(Row(v, formulas[x], x.data, _marked(v, mark), total, numbers.get(x, 0.0)))
    v = variables[output]
    last = _marked(v, mark) if mark == DOT else "1", numbers.get(output, 0.0)
    return [*rows, Row(y, v, output.data, _marked(y, mark), *last)]


def name_of_result(names: Collection[str]) -> str:
    """A name for the result of a computation whose inputs have these names."""
    free = chain("yzfg", map("y{}".format, count(1)))
    return next(name for name in free if name not in names)


def _written(node: Value, operation: Operation, names: Mapping[Value, str]) -> tuple[str, Slopes]:
    """The formulas of a result and of its derivative by each parent, over names of the parents.

    The derivative is None where there is none, as by a condition. A parent without a name is a
    constant. The operations of `ops.py`, run over formulas, write their own derivatives.
    """
    writer = Formulas()
    inputs = tuple(
        [writer.made(names[p], (), p.data) if p in names else p.data for p in node.parents]
    )
    formula = writer.notation.of(writer.made(op_of(operation), inputs, node.data))
    try:
        result, backward = operation.rule(*inputs)
        if isinstance(result, Symbol):  # the closure holds it too: 1 - v₂·v₂, not 1 - tanh(v₁)...
            writer.notation.texts[result] = names[node], ATOM
        slopes = backward(1.0)
    except (TypeError, AttributeError):  # an operation of one's own that takes only floats
        slopes = node._closure(1.0)
    return formula, [(p, x) for p, x in zip(node.parents, slopes) if p in names]


class Formulas(Writer):
    """Writes formulas: symbols with a text, whose numbers are known, so that choices go by them."""

    def __init__(self) -> None:
        super().__init__()
        self.notation = Notation()
        self.values: dict[Symbol, float] = {}

    def made(self, op: str | Operation, args: tuple[Formula, ...], value: float) -> Symbol:
        """A formula as it is given; a variable has no arguments."""
        formula = Symbol(self, len(self.notation.texts), op, args)
        self.values[formula] = value
        text, strength = self.notation.expression(formula) if args else (str(op), ATOM)
        self.notation.texts[formula] = abbreviated(text), strength
        return formula

    def record(self, operation: Operation, inputs: Sequence[Formula]) -> AnyNumber:
        """The formula of an operation, composite ones too; a comparison is its number."""
        if operation in (ops.less, ops.less_equal, ops.largest):
            return operation.value(*map(_value, inputs))
        return self.write(operation, *inputs)

    def _new(self, operation: Operation, args: tuple[Formula, ...]) -> Symbol:
        return self.made(op_of(operation), args, operation.value(*map(_value, args)))


def _value(x: Formula) -> float:
    return x.writer.values[x] if isinstance(x, Symbol) else x


def factor(x: Formula) -> str:
    """The text of a formula or a number as a factor: in brackets if it is a sum or a quotient."""
    return (x.writer.notation if isinstance(x, Symbol) else Notation()).of(x, PRODUCT)


def _product(derivative: str, partial: Formula | None, short: bool) -> str:
    """A term of the chain rule. Short: v̇₁ and -v̇₁ for v̇₁·1 and v̇₁·(-1)."""
    if short and not isinstance(partial, Symbol) and partial in (1.0, -1.0):
        return derivative if partial > 0 else f"-{derivative}"
    return f"{derivative}·{factor(0.0 if partial is None else partial)}"


def abbreviated(formula: str) -> str:
    """Both ends of a long formula, so that a table is no longer than its computation.

    Others contain it: written out, that of n numbers would have n², and padded to equal lines n³.
    """
    kept = LONGEST // 2
    return formula if len(formula) <= LONGEST else f"{formula[:kept]} … {formula[-kept:]}"


def _marked(name: str, mark: str) -> str:
    return unicodedata.normalize("NFC", name[0] + mark) + name[1:]


def subscript(i: int) -> str:
    return str(i).translate(str.maketrans("-0123456789", "₋₀₁₂₃₄₅₆₇₈₉"))


def _subscripted(name: str) -> str:
    """x₁ for x1; but v1 stays, because v₁ is the first result."""
    letters = name.rstrip("0123456789")
    kept = letters in ("", "v", name)
    return name if kept else letters + subscript(int(name[len(letters) :]))


def width(text: str) -> int:
    """The number of columns that a text takes up on a screen."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))
