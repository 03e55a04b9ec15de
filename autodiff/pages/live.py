"""`show_steps`, the live graph: a page of its own that needs no Python and no network.

Python sends the graph and the rules of its operations, which the compiler prints from `ops.py`. The
page (web/*.js) evaluates, walks back, lays out and draws, as one function of its state.
"""

import keyword
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from inspect import getfullargspec
from typing import Any
from urllib.parse import quote

from ..compiler.batch.normal import NormalForm
from ..compiler.printer import ATOM, HELPERS, POWER, SIGN, SIGNS, JavaScript, Notation, Printer
from ..compiler.symbolic import Operand, Symbol, Writer
from ..engine import ops
from ..engine.errors import counted, refusal, shortened
from ..engine.graph import topological_order
from ..engine.operation import Operation
from ..engine.value import Value
from ..pictures.drawing import draw, named
from ..pictures.scene import Leaves
from ..pictures.texts import printable
from .page import Page, as_json, assembled, home, read

LARGEST = 60  # boxes
# By hand, for a page of one file: layout (dagre is 49 kB for 5, and knows no ports), dom (Preact is
# 12 for 4), parser (jsep reads no 3x, math.js no |x|, in 650), charts (uPlot's 51 draw pixels).
PARTS = ("numbers", "core", "parser", "layout", "dom", "frame",
         "charts", "controls", "graph", "camera", "words", "proof", "descend",
         "image", "copy", "share", "live", "alone")  # fmt: skip
STYLES = read("base.css"), read("alone.css"), read("graph.css")


class LiveGraph(Page):
    """A graph to step through and to drag: Jupyter shows it, `save` and `open` do so elsewhere."""

    def __init__(self, root: Value, text: str, link: str) -> None:
        super().__init__(text, "The live graph")
        self._root, self._link = root, link

    def _picture(self) -> str:
        try:
            return draw(self._root).image()
        except RuntimeError:  # no Graphviz, as in a browser; the live graph needs none
            return ""

    def __repr__(self) -> str:
        count = sum(bool(node.parents) for node in topological_order(self._root))
        return f"<LiveGraph: {counted(count, 'operation')}, forward and backward>"

    @property
    def link(self) -> str:
        """What an address of the page carries: # and the formula with its numbers.

        ValueError if an operation of your own is in the graph, which no formula can say.
        """
        if not self._link:
            remedy = "send the saved page: .save('y.html')"
            raise ValueError(refusal("link", "an operation of your own", "this package's", remedy))
        return self._link


def show_steps(
    root: Value, *, ask: bool = False, names: Mapping[str, Any] | None = None
) -> LiveGraph:
    """The graph of root, live: drag its inputs, and send its gradients back, step by step.

    Values are blue and run forward; gradients are orange and run back. "Play" and the keys ← →
    Home End step through both passes; an input that is dragged shows the curve of the output, with
    its slope. Choices made by Python's `if` stay as they were; `maximum`, `relu` and `where` choose
    anew. No `data` and no `grad` is changed. Every leaf that requires a gradient can be dragged.

    root: the output.
    ask: each message is blank until it is typed.
    names: names for Values without a label, such as `locals()`.

    Jupyter shows it; `.save("y.html")` writes the page, `.open()` shows it in a browser, `.link` is
    what its address carries. TypeError if root is not a Value over floats, or an operation of your
    own computes with anything but this package's functions; ValueError for more than 60 boxes,
    of which a neuron with its weights is one. The page computes everything anew.

    >>> a, b = Value(2.0, label="a"), Value(1.0, label="b")
    >>> show_steps((a + b) * b)
    <LiveGraph: 2 operations, forward and backward>
    """
    nodes = _checked(root)
    place = {node: i for i, node in enumerate(nodes)}
    made = {x: (x._operation, len(x.parents)) for x in nodes if x._operation}
    rules = list(dict.fromkeys(made.values()))
    sent = [  # [rule, *inputs], or the number of a leaf
        [rules.index(made[x]), *(place[p] for p in x.parents)] if x in made else x.data
        for x in nodes
    ]  # fmt: skip
    known = Leaves(nodes, named(names))
    labels = [_short(known.label(x)) for x in nodes]
    leaves = [x for x in nodes if not x.parents and x.requires_grad]
    leaves.sort(key=lambda x: x in known.parameters)  # parameters last
    ids = _identifiers(labels)
    formula = _formula(nodes, ids, labels)
    data = {"nodes": sent, "inputs": [place[x] for x in leaves], "labels": labels, "ids": ids,
            "formula": formula, "ask": ask}  # fmt: skip
    program = script([printed(*rule) for rule in rules], data)
    text = assembled(labels[-1] or "The live graph", program, *STYLES)
    said = ";".join([*(f"{ids[place[x]]}={x.data!r}" for x in leaves), formula]).replace(" ", "")
    link = f"#{quote(said, safe='')}{'&ask' * ask}"
    return LiveGraph(root, text, link if formula else "")


def page() -> str:
    """The page on which a formula is typed, with the rules of all operations."""
    return assembled("The live graph", script(all_rules()), *STYLES)


def _checked(root: Any) -> list[Value]:
    """The nodes of the graph, in topological order."""
    if not isinstance(root, Value) or type(root.data) is not float:
        remedy = "compute one, as f(Value(2.0)), or take y[0]"
        raise TypeError(refusal("show_steps", shortened(root), "a Value over floats", remedy))
    nodes = topological_order(root)
    if not any(x.requires_grad for x in nodes if not x.parents):
        raise ValueError(refusal("show_steps", "a constant", "a Value that requires a gradient"))
    if (count := _boxes(NormalForm([root], [], nodes)[root])) > LARGEST:
        found, remedy = f"{count} boxes", "take one sample, fewer units"
        raise ValueError(refusal("show_steps", found, f"at most {LARGEST}", remedy))
    return nodes


def _boxes(root: Value) -> int:
    """The boxes of a graph in its normal form: from three neurons on, a neuron is one."""
    nodes = topological_order(root)
    uses = Counter(parent for x in nodes for parent in x.parents)
    own = {x for x in nodes if not x.parents and x.requires_grad and uses[x] == 1}
    sums: set[Value] = set()  # of neurons: a dot, or that and a bias
    inside: set[Value] = set()
    neurons = 0
    for x in nodes:
        half = len(x.parents) // 2
        weights = {a if a in own else b for a, b in zip(x.parents[:half], x.parents[half:])}
        ends = {parent for parent in x.parents if parent in sums and uses[parent] == 1}
        if x._operation is ops.dot and half > 1 and weights <= own:
            neurons += 1
            sums.add(x)
            inside |= weights
        elif ends and x._operation in (ops.add, ops.sum):
            sums.add(x)
            inside |= ends | own.intersection(x.parents)
        elif len(x.parents) == 1:  # perhaps an activation
            inside |= ends
    return len(nodes) - (len(inside) if neurons > 2 else 0)


# -- Names and formulas ---------------------------------------------------------------------------


def _short(label: str) -> str:
    return " ".join(printable(label).split())


def _identifiers(labels: list[str]) -> list[str]:
    """A name for each node that a formula may use: that of its label, as far as it goes."""
    taken = {"pi", "e", *vars(ops)}
    found = []
    for i, label in enumerate(labels):
        name = re.sub(r"\W+", "_", unicodedata.normalize("NFKC", label)).strip("_")
        if not name.isidentifier() or keyword.iskeyword(name):
            name = f"v{i + 1}"
        while name in taken:
            name += "_"
        taken.add(name)
        found.append(name)
    return found


class Typed(Printer):
    """The command line's language, read back as the same operations."""

    signs = {op: SIGNS[op] for op in ("add", "sub", "mul", "div")} | dict.fromkeys(
        ("power", "pow", "exponential"), ("**", POWER, ATOM, SIGN)
    )
    minus = SIGN, POWER

    def has_line(self, symbol: Symbol, text: str) -> bool:
        return symbol.own_line or self.uses[symbol] > 1

    def call(self, op: str, *args: Any) -> tuple[str, int]:
        if op == "pos":
            return f"+{self.of(args[0], POWER)}", SIGN
        if op not in ("sum", "prod", "logsumexp", "dot"):
            return super().call(op, *args)
        half = len(args) // 2
        rows = (args[:half], args[half:]) if op == "dot" else (args,)
        lists = [f"[{', '.join(map(self.of, row))}]" for row in rows]
        return f"{op}({', '.join(lists)})", ATOM


def _formula(nodes: list[Value], ids: list[str], labels: list[str]) -> str:
    """The graph as it is typed: v = a + b; v*v. "" if the language has no words for it."""
    writer = Writer()
    made: dict[Value, Any] = {}
    for i, node in enumerate(nodes):
        operation = node._operation
        if (operation and not operation.in_ops) or not math.isfinite(node.data):
            return ""
        op = operation.__name__ if operation else ids[i]
        symbol = Symbol(writer, i, op, tuple(made[x] for x in node.parents))
        symbol.name, symbol.own_line = ids[i], bool(labels[i] and node.parents)
        made[node] = symbol if node.requires_grad else node.data
    root = made[nodes[-1]]
    language = Typed([root])
    lines = language.lines(x for x in made.values() if isinstance(x, Symbol))
    return "; ".join(lines if root.own_line else [*lines, language.of(root)])


# -- Rules: what the compiler prints from ops.py --------------------------------------------------


@cache
def printed(operation: Operation, count: int) -> str:
    """A rule as JavaScript: its value, the messages of its backward pass, and its slopes in words.

    TypeError if it computes with anything but this package's functions.
    """
    writer, names = Writer(), [f"x{i}" for i in range(1, count + 1)]
    value, backward = operation.rule(*map(writer.argument, names))
    sent = [x if x is None else writer.as_number(x) for x in backward(writer.argument("grad"))]
    name, known = _short(operation.__name__), operation.in_ops
    shown = _function(names, [writer.as_number(value)], writer, "{}")
    back = _function(["grad", *names], sent, writer, "[{}]")
    held = f"op:{as_json(name if known else '')},name:{as_json(name)},arity:{count}"
    held += f",slopes:{as_json(_slopes(operation, names))}"
    return f"{{{held},value:{shown},back:{back}}}"


def _slopes(operation: Operation, names: list[str]) -> list[str | None]:
    """The derivative by each input as people write it, z for the result; None if it has cases."""
    writer = Everywhere()
    value, backward = operation.rule(*map(writer.argument, names))
    sent = [0.0 if x is None else writer.as_number(x) for x in backward(1.0)]
    texts = Notation(sent)
    if isinstance(value, Symbol):
        value.name, value.own_line = "z", True
    short = all(line.startswith("z = ") for line in texts.lines(writer.symbols.values()))
    return [said if short and "where" not in (said := texts.of(x)) else None for x in sent]


class Everywhere(Writer):
    """A writer for which no number is 0 by chance: 2·x, and not that where x is not 0."""

    def _choice(self, condition: Operand, *choices: Operand) -> Operand:
        match condition:
            case Symbol(op="less_equal", args=[Symbol(op="abs"), *_]):  # |x| <= 0
                return choices[1]
        return super()._choice(condition, *choices)


def _function(names: list[str], outputs: list[Any], writer: Writer, shape: str) -> str:
    printer = JavaScript([x for x in outputs if x is not None])
    lines = printer.lines(writer.symbols.values())
    result = shape.format(", ".join("null" if x is None else printer.of(x) for x in outputs))
    body = f"{{ {' '.join([*lines, f'return {result};'])} }}" if lines else result
    return f"({', '.join(names)}) => {body}"


def all_rules(*without: Operation) -> list[str]:
    """The rules of all operations but some; of those that take a row, for up to eight numbers."""
    found = []
    for x in ops.LISTED:
        step, inputs = x.rows or 1, getfullargspec(x.rule)
        counts = range(step, 8 * step + 1, step) if inputs.varargs else [len(inputs.args)]
        found += [printed(x, count) for count in counts if x not in (ops.largest, *without)]
    return found


def script(rules: list[str], data: Any = None, parts: Iterable[str] = PARTS) -> str:
    """The program of a page: the rules, the graph or what reads one, and files of page/."""
    listed = "\n".join(["const rules = [", *(f"{rule}," for rule in rules), "];"])
    helpers = [line for name, lines in HELPERS.items() if f"{name}(" in listed for line in lines]
    files = [read(f"{name}.js") for name in parts if name != "parser" or data is None]
    known = [f"const data = {as_json(data)};", f"const home = {as_json(home())};"]
    words = [*keyword.kwlist, "Value", "show_steps"]  # no names in a program of Python
    known.append(f"const reserved = {as_json(words)};")
    return "\n".join([*helpers, listed, *known, *files])
