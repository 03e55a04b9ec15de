"""Evaluation traces: a computation as a table with its derivatives; the backward pass in steps."""

import html
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from . import graph
from .compiler.printer import ATOM, PRODUCT, Notation
from .errors import a, counted, explain, message, named, typed
from .number import Number, Rule
from .numeric import input_names
from .transforms import as_tree, check_function, flat_tree, in_kind, map_tree
from .value import Value

OVER_FLOATS = TypeError, AttributeError  # of an operation of one's own that takes only floats
DOT, BAR = "\u0307", "\u0304"  # combining: they stand above the letter before them

# -- The backward pass, one node at a time ------------------------------------------------------


class Message(NamedTuple):
    """What a node sends to one of its parents: upstream times local."""

    parent: Value
    local: Any  # the derivative of the node with respect to the parent; None for a constant
    message: Any  # the adjoint of the node times local: what is added to the parent's adjoint


class Step(NamedTuple):
    """A node of the backward pass, its complete adjoint, and its messages to its parents."""

    node: Value
    adjoint: Any
    messages: tuple[Message, ...]


def steps(root: Value) -> Iterator[Step]:
    """The backward pass from root, one node at a time, in the order in which it runs.

    No `grad` is changed. TypeError if root is not a Value.

    >>> a = Value(3.0, label="a")
    >>> for node, adjoint, messages in steps(a * a):
    ...     print(node.label or node.op, adjoint, [(m.local, m.message) for m in messages])
    * 1.0 [(3.0, 3.0), (3.0, 3.0)]
    a 6.0 []
    """
    if not isinstance(root, Value):
        raise TypeError(message("steps", a(root), "a Value, such as a loss"))
    adjoints = reversed(graph.adjoints(root).items())
    reached = {root}  # the nodes to which something was sent: the closures of others do not run
    for node, adjoint in adjoints:
        slopes = node._backward(1.0)
        sent = node._backward(adjoint) if node in reached else (None,) * len(slopes)
        reached.update(p for p, x in zip(node.parents, sent) if x is not None)
        messages = map(Message, node.parents, _to_parents(node, slopes), _to_parents(node, sent))
        yield Step(node, adjoint, tuple(messages))


def _to_parents(node: Value, sent: tuple[Any, ...]) -> list[Any]:
    """What a closure sends to each parent, with 0.0 for None unless the parent is a constant.

    The parents of a comparison get None, but the derivative to show is 0: a step has no slope.
    """
    return [0.0 if x is None and p._level else x for p, x in zip(node.parents, sent)]


# -- The evaluation trace -----------------------------------------------------------------------


class Row(NamedTuple):
    """A variable of a trace, and its tangent or adjoint, each with its formula and value."""

    variable: str
    formula: str
    value: float
    derivative: str
    derivative_formula: str
    derivative_value: float


class Trace:
    """An evaluation trace: text when printed, a table in Jupyter, and its `rows`."""

    def __init__(self, mode: str, rows: list[Row]) -> None:
        self.mode = mode
        self.rows = rows

    def _cells(self) -> list[tuple[str, ...]]:
        head = ("primal", "value", "tangent" if self.mode == "forward" else "adjoint", "value")
        cells: list[tuple[str, ...]] = [head]
        for v, formula, x, dv, dformula, dx in self.rows:
            cells.append((f"{v} = {formula}", f"{x:.6g}", f"{dv} = {dformula}", f"{dx:.6g}"))
        return cells

    def __repr__(self) -> str:
        cells = self._cells()
        widths = [max(map(_width, column)) for column in zip(*cells)]
        lines = [
            "   ".join(cell + " " * (w - _width(cell)) for cell, w in zip(row, widths)).rstrip()
            for row in cells
        ]
        lines.insert(1, "-" * max(map(_width, lines)))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, *body = self._cells()
        rows = [_html_row("th", head), *(_html_row("td", row) for row in body)]
        return "\n".join(["<table>", *rows, "</table>"])


def _html_row(tag: str, cells: tuple[str, ...]) -> str:
    left = f'<{tag} style="text-align: left">'
    return f"<tr>{''.join(f'{left}{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"


def trace(f: Callable[..., Any], *args: Any, mode: str = "forward", wrt: int | str = 0) -> Trace:
    """The evaluation trace of f at args: each intermediate result, with tangents or adjoints.

    The inputs are v₁₋ₙ ... v₀, the results v₁, v₂ ..., in an order in which they can be computed.
    Beside them stand the tangents v̇ in forward mode, the adjoints v̄ in reverse mode, which are
    read from the bottom up. This is the notation of Baydin et al., JMLR 18 (2018).

    f: a function that returns one number.
    args: its arguments, numbers or flat sequences of numbers.
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
        raise ValueError(message("trace", f"mode {mode!r}", "'forward' or 'reverse'"))
    arguments = map_tree(Value, [as_tree(x, "trace") for x in args])
    inputs = flat_tree(arguments)
    names = input_names(f, arguments, [f"x{i}" for i in range(1, len(args) + 1)])
    if wrt not in names and not (isinstance(wrt, int) and -len(names) <= wrt < len(names)):
        raise ValueError(message("trace", f"wrt = {wrt!r}", f"one of {names} or an index of it"))
    output = as_tree(f(*map(in_kind, arguments, args)), "trace")
    if isinstance(output, list):
        found = f"a function that returns {counted(len(output), 'number')}"
        raise TypeError(message("trace", found, "one number", "trace them one by one"))
    if not isinstance(output, Value) or not (output.parents or output in set(inputs)):
        remedy = "was .data used? write x itself"
        raise TypeError(message("trace", typed(output), "a result that depends on x", remedy))

    results = [node for node in graph.depths(output) if node.parents]
    variables = {x: f"v{subscript(i + 1 - len(inputs))}" for i, x in enumerate(inputs)}
    variables |= {node: f"v{subscript(i)}" for i, node in enumerate(results, start=1)}
    formulas = {x: _subscripted(name) for x, name in zip(inputs, names)}
    partials: dict[Value, list[tuple[Value, Any]]] = {}  # of a result, for each parent
    for node in results:
        formulas[node], partials[node], _ = written(node, variables)
    y = name_of_result(names)
    if mode == "forward":
        seed = inputs[wrt if isinstance(wrt, int) else names.index(wrt)]
        derivatives = _tangents(inputs, seed, formulas, variables, partials)
        end = (_marked(variables[output], DOT), derivatives[output][1])
    else:
        derivatives = _adjoints(output, y, variables, partials)
        end = ("1", 1.0)
    mark = DOT if mode == "forward" else BAR
    rows = [
        Row(v, formulas[x], x.data, _marked(v, mark), *derivatives[x]) for x, v in variables.items()
    ]
    return Trace(mode, [*rows, Row(y, variables[output], output.data, _marked(y, mark), *end)])


def name_of_result(names: Iterable[str]) -> str:
    """A name for the result of a computation whose inputs have these names."""
    taken = set(names)
    return next((name for name in ("y", "z", "f") if name not in taken), "result")


def _tangents(inputs: Any, seed: Any, formulas: Any, variables: Any, partials: Any) -> Any:
    """For each variable its tangent, a formula and a value, from the inputs on.

    seed: the input whose tangent is 1. formulas, variables: their formulas and their names.
    partials: of each result, the derivative with respect to each parent.
    """
    tangents = {x: (_marked(formulas[x], DOT), 1.0 if x is seed else 0.0) for x in inputs}
    moving = {seed}
    for node, parts in partials.items():
        terms = [_product(_marked(variables[p], DOT), partial, True) for p, partial in parts]
        sent = [(p, partial) for p, partial in parts if p in moving and partial is not None]
        tangents[node] = _sum(terms), sum(tangents[p][1] * _value(partial) for p, partial in sent)
        moving |= {node} if sent else set()
    return tangents


def _adjoints(output: Any, y: str, variables: Any, partials: Any) -> Any:
    """For each variable its adjoint, a formula and a value, from the output back."""
    terms: dict[Any, list[str]] = {x: [] for x in variables}
    terms[output] = [_marked(y, BAR)]
    for node in reversed(partials):
        for p, partial in partials[node]:
            terms[p].append(_product(_marked(variables[node], BAR), partial, False))
    values = graph.backpropagated({output: 1.0})
    return {x: (_sum(terms[x]), values.get(x, 0.0)) for x in variables}


class Written(NamedTuple):
    """The formulas of a result and of its derivatives by its parents."""

    formula: str
    partials: list[tuple[Value, Any]]  # None where there is no derivative, as of a condition
    chosen: bool  # whether the formulas of the derivatives hold only at the present numbers


def written(node: Value, names: Mapping[Value, str]) -> Written:
    """The formulas of a result and its derivatives over the names of its parents.

    A parent without a name is a constant. The operations of `ops.py`, run over formulas, write
    their own derivatives. A choice is made by the numbers: the derivative of relu is 1 or 0.
    """
    notation = Notation()
    inputs = [
        Formula(notation, names[p], (), p.data) if p in names else p.data for p in node.parents
    ]
    result, backward = over_formulas(node, inputs, notation)
    bare = any(result is x for x in inputs) or notation.chosen  # as in x * 1, relu
    formula = notation.of(whole(node, inputs, notation) if bare else result)
    if isinstance(result, Formula):  # the closure holds it too: 1 - v₂·v₂, not 1 - tanh(v₁)...
        notation.texts[result] = names[node], ATOM
    try:
        try:
            sent = backward(1.0)
        except OVER_FLOATS:
            sent, notation.chosen = node._backward(1.0), True
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        rule: Any = node._rule
        raise explain(error, rule.__name__, named(rule, node.parents), derivative=True) from None
    partials = [(p, x) for p, x in zip(node.parents, sent) if p in names]
    return Written(formula, partials, notation.chosen)


def over_formulas(node: Value, inputs: Sequence[Any], notation: Notation) -> Any:
    """The result of a node's operation over formulas and numbers, and its closure.

    An operation that takes only floats is a function in formulas, and its closure is the node's.
    """
    rule: Any = node._rule
    try:
        return getattr(rule, "__wrapped__", rule)(*inputs)
    except OVER_FLOATS:
        notation.chosen = True
        return whole(node, inputs, notation), node._backward


def whole(node: Value, inputs: Sequence[Any], notation: Notation) -> "Formula":
    """The operation of a node as a function of its inputs, without the lines of its rule."""
    rule: Any = node._rule
    return Formula(notation, rule.__name__, tuple(inputs), node.data)


class Formula(Number):
    """A number and the formula that computed it: an operation on formulas is a formula.

    A variable is a formula without arguments. Comparisons, and so choices, go by the numbers.
    """

    __slots__ = ("args", "notation", "op", "value")

    _level = 1

    def __init__(self, notation: Notation, op: str, args: tuple[Any, ...], value: Any) -> None:
        self.notation, self.op, self.args, self.value = notation, op, args, value
        notation.texts[self] = notation.expression(self) if args else (op, ATOM)

    def _lift(self, x: Any, name: str) -> Any:
        return x

    def _record(self, rule: Rule, inputs: Any) -> Any:
        name = rule.__name__
        if name in ("mul", "div", "power") and _is_one(inputs[1]):
            return inputs[0]
        if name == "mul" and _is_one(inputs[0]):
            return inputs[1]
        value = rule(*map(_value, inputs))[0]
        if name in ("less", "less_equal", "largest"):
            self.notation.chosen = True
            return value  # the formula is written for the choice made here
        return Formula(self.notation, name, tuple(inputs), value)

    def _number(self) -> Any:
        self.notation.chosen = True
        return self.value


def _is_one(x: Any) -> bool:
    return not isinstance(x, Number) and x == 1.0


def _value(x: Any) -> Any:
    return x.value if isinstance(x, Formula) else x


def factor(x: Any) -> str:
    """The text of a formula or a number as a factor: in brackets if it is a sum or a quotient."""
    return (x.notation if isinstance(x, Formula) else Notation()).of(x, PRODUCT)


def _product(derivative: str, partial: Any, short: bool) -> str:
    """A term of the chain rule. Short: v̇₁ and -v̇₁ for v̇₁·1 and v̇₁·(-1)."""
    if short and not isinstance(partial, Formula) and partial in (1.0, -1.0):
        return derivative if partial > 0 else f"-{derivative}"
    return f"{derivative}·{factor(0.0 if partial is None else partial)}"


def _sum(terms: list[str]) -> str:
    return " + ".join(terms).replace("+ -", "- ") or "0"


def _marked(name: str, mark: str) -> str:
    return unicodedata.normalize("NFC", name[0] + mark) + name[1:]


def subscript(i: int) -> str:
    return str(i).translate(str.maketrans("-0123456789", "₋₀₁₂₃₄₅₆₇₈₉"))


def _subscripted(name: str) -> str:
    """x₁ for x1; but v1 stays, because v₁ is the first result."""
    letters = name.rstrip("0123456789")
    kept = letters in ("", "v", name)
    return name if kept else letters + subscript(int(name[len(letters) :]))


def _width(text: str) -> int:
    return sum(not unicodedata.combining(c) for c in text)
