"""`show_steps`, the live graph: a page of its own that needs no Python and no network.

Python sends the graph and the rules of its operations, which the compiler prints from `ops.py`. The
page (page/*.js) evaluates, walks back, lays out and draws; as one function of its state.
"""

import html
import json
import keyword
import math
import os
import re
import tempfile
import unicodedata
import webbrowser
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote

from .. import ops
from ..compiler.printer import HELPERS, JavaScript
from ..compiler.symbolic import Writer
from ..errors import counted, described, message, shortened, typed
from ..graph import is_current, topological_order
from ..number import Rule
from ..scopes import entry_names
from ..value import Value
from .drawing import draw

LARGEST = 60  # nodes
STILL = "The live graph needs scripts, and a notebook that is trusted. This is its picture."
PARTS = ("core", "parser", "layout", "dom", "controls", "graph", "words", "live")
# Of every operation the page where formulas are typed has a rule for each number of inputs.
LISTS = {"sum": range(1, 9), "prod": range(1, 9), "logsumexp": range(1, 9)}
LISTS |= {"hypot": range(1, 5), "dot": range(2, 17, 2), "where": range(3, 4)}
PAIRS = ("add", "sub", "mul", "div", "power", "exponential", "pow", "atan2", "maximum", "minimum")
# Beside a frame: its height follows its page, and its page the theme of the notebook.
LISTENER = """<script>(() => {
const frame = document.currentScript.previousElementSibling;
addEventListener("message", ({ data, source }) => {
  if (source !== frame.contentWindow || data?.autodiff !== "height") return;
  frame.style.height = `${Math.min(Number(data.height) || 0, 4000)}px`;
  const [r, g, b] = getComputedStyle(frame.parentElement).color.match(/\\d+/g).map(Number);
  source.postMessage({ dark: r + g + b > 382 }, "*");
});
})()</script>"""


class LiveGraph:
    """A graph to step through and to drag: shown by Jupyter, saved with `save`, shown by `open`."""

    def __init__(self, root: Value, page: str, link: str | None) -> None:
        self._root, self._page, self._link = root, page, link

    def __repr__(self) -> str:
        count = sum(bool(node.parents) for node in topological_order(self._root))
        return f"<LiveGraph: {counted(count, 'operation')}, forward and backward>"

    def _repr_html_(self) -> str:
        # A frame keeps styles, scripts and keys apart from the notebook's. Inside it is a picture,
        # for places that show no frames.
        page = html.escape(self._page, quote=False).replace("'", "&#39;")
        return (
            '<div><iframe title="The live graph" sandbox="allow-scripts" allow="clipboard-write" '
            f"style=\"width: 100%; height: 760px; border: 0\" srcdoc='{page}'>"
            f"<p>{STILL}</p>{draw(self._root).image()}</iframe>{LISTENER}</div>"
        )

    @property
    def link(self) -> str:
        """What comes after # in an address of the page: the formula with its numbers.

        ValueError if an operation of your own is in the graph, which a formula cannot say.
        """
        if self._link is None:
            remedy = "send the saved page: .save('y.html')"
            found = "an operation of your own"
            raise ValueError(message("link", found, "operations of this package", remedy))
        return self._link

    def save(self, filename: str | os.PathLike[str]) -> str:
        """Write the page (.html), which needs no network. Its path; ValueError for another ending."""
        if Path(filename).suffix.lower() not in (".html", ".htm"):
            found = f"the file name {str(filename)!r}"
            remedy = "for a picture write draw(y).save(...)"
            raise ValueError(message("save", found, "one that ends in .html", remedy))
        Path(filename).write_text(self._page, encoding="utf-8")
        return str(filename)

    def open(self) -> None:
        """Show the page in a browser."""
        with tempfile.NamedTemporaryFile("w", suffix=".html", delete=False, encoding="utf-8") as f:
            f.write(self._page)
        webbrowser.open(Path(f.name).as_uri())


def show_steps(
    root: Value,
    inputs: Iterable[Any] | None = None,
    *,
    ask: bool = False,
    names: Mapping[str, Any] | None = None,
) -> LiveGraph:
    """The graph of root, live: drag its inputs, and send its gradients back, step by step.

    Values are blue and run forward; gradients are orange and run back. *Play* and the keys ← →
    Home End step through both passes; an input that is dragged shows the curve of the output, with
    its slope. Choices made by Python's `if` stay as they were; `maximum`, `relu` and `where` choose
    anew. No `data` and no `grad` is changed.

    root: the output.
    inputs: which leaves have a slider, or Vectors and Matrices of them; by default all.
    ask: each message is blank until it is typed.
    names: names for Values without a label, such as `locals()`.

    Jupyter shows it; `.save("y.html")` writes the page, `.open()` shows it in a browser, `.link` is
    what its address carries. TypeError if root is not a Value over floats or an input not a Value;
    ValueError for more than 60 nodes, for data that was changed after the graph was recorded, and
    for an input that is not a leaf of the graph or requires no gradient.

    >>> a, b = Value(2.0, label="a"), Value(1.0, label="b")
    >>> live = show_steps((a + b) * b)
    >>> live, live.link
    (<LiveGraph: 2 operations, forward and backward>, '#a=2.0;b=1.0;(a+b)*b')
    """
    graph = Graph(root, names)
    data: dict[str, Any] = {
        "nodes": graph.nodes,
        "inputs": graph.inputs,
        "sliders": _sliders(graph, inputs),
        "labels": graph.labels,
        "ids": graph.ids,
        "formula": graph.formula,
        "ask": ask,
        "note": graph.note,
    }
    if graph.note:
        data["sliders"] = []
    svg = draw(root).pipe("svg", encoding="utf-8")
    still = f"<p>{STILL}</p>{svg[svg.index('<svg') :]}"
    title = "".join(c if c.isprintable() else " " for c in graph.labels[-1] or "The live graph")
    page = _page(graph.rules, data, html.escape(title), still)
    return LiveGraph(root, page, graph.link)


def page() -> str:
    """The page on which a formula is typed, with the rules of all operations."""
    return _page(all_rules(), None, "The live graph", "<p>This page needs scripts.</p>")


# -- The graph ------------------------------------------------------------------------------------


class Graph:
    """What the page is told about the graph of a root."""

    def __init__(self, root: Any, names: Mapping[str, Any] | None) -> None:
        self.order = _checked(root)
        place = {node: i for i, node in enumerate(self.order)}
        self.place = place
        self.rules: list[str] = []
        self.nodes: list[Any] = []  # [rule, *inputs], or the number of a leaf
        self.note = ""
        known: dict[Any, int] = {}
        for node in self.order:
            if not node.parents:
                self.nodes.append(node.data)
                continue
            key = node._rule, len(node.parents)
            if key not in known:
                known[key] = len(self.rules)
                self.rules.append(self._rule(node))
            self.nodes.append([known[key], *(place[x] for x in node.parents)])
        held = _parameters(self.order)
        own = {x: name for name, thing in reversed((names or {}).items()) if name[:1] != "_"
               for x, name in entry_names(name, thing)}  # fmt: skip
        self.labels = [_short(x.label or held.get(x) or own.get(x, "")) for x in self.order]
        leaves = [i for i, x in enumerate(self.order) if not x.parents and x.requires_grad]
        self.inputs = sorted(leaves, key=lambda i: self.order[i] in held)  # parameters last
        self.ids = self._identifiers()

    def _rule(self, node: Value) -> str:
        try:
            return printed(node._rule, len(node.parents))
        except TypeError as error:  # it takes only floats: the numbers of this node
            reason = str(error).partition("\n")[0]
            self.note = f"Nothing can be dragged: {node.op} cannot be written for the page. {reason}"
            return fixed(node)

    def _identifiers(self) -> list[str]:
        """A name for each node that a formula may use: that of its label, as far as it goes."""
        found: list[str] = []
        taken = {"pi", "e"} | set(vars(ops))
        for i, label in enumerate(self.labels):
            plain = re.sub(r"\W+", "_", unicodedata.normalize("NFKC", label), flags=re.A).strip("_")
            name = plain if plain.isidentifier() and not keyword.iskeyword(plain) else ""
            name = name or (f"x{i + 1}" if i in self.inputs else f"v{i + 1}")
            while name in taken:
                name += "_"
            taken.add(name)
            found.append(name)
        return found

    @cached_property
    def formula(self) -> str | None:
        """The graph in the command line's language, `v = a + b; v*v`; None if it has no words."""
        uses = [0] * len(self.order)
        for node in self.order:
            for x in node.parents:
                uses[self.place[x]] += 1
        texts: list[str] = []
        lines: list[str] = []
        for i, node in enumerate(self.order):
            if not node.parents:
                number = repr(node.data) if node.data >= 0 else f"({node.data!r})"
                texts.append(self.ids[i] if node.requires_grad else number)
                continue
            name = getattr(node._rule, "__name__", "")
            if getattr(ops, name, None) is not node._rule or not math.isfinite(node.data):
                return None
            text = _call(name, node.op, [texts[self.place[x]] for x in node.parents])
            last = i == len(self.order) - 1
            if (uses[i] > 1 or self.labels[i]) and not last:
                lines.append(f"{self.ids[i]} = {text}")
                text = self.ids[i]
            elif last:
                lines.append(f"{self.ids[i]} = {text[1:-1] if text[0] == '(' else text}"
                             if self.labels[i] else text[1:-1] if text[0] == "(" else text)  # fmt: skip
            texts.append(text)
        return "; ".join(lines or texts)

    @property
    def link(self) -> str | None:
        """The part of the page's address after #."""
        if self.formula is None:
            return None
        numbers = [f"{self.ids[i]}={self.nodes[i]!r}" for i in self.inputs]
        text = ";".join([*numbers, self.formula]).replace(" ", "")
        return "#" + quote(text, safe="()*,;=+/-_.~!'")


def _call(name: str, sign: str, texts: list[str]) -> str:
    """An operation in the command line's language."""
    if name == "neg" or name == "pos":
        return f"({'-' if name == 'neg' else '+'}{texts[0]})"
    if len(texts) == 2 and not sign.isalpha() and "less" not in name and name != "atan2":
        return f"({texts[0]} {sign} {texts[1]})" if sign in "+-" else f"({texts[0]}{sign}{texts[1]})"
    if name in ("sum", "prod", "logsumexp"):
        return f"{name}([{', '.join(texts)}])"
    if name == "dot":
        n = len(texts) // 2
        return f"dot([{', '.join(texts[:n])}], [{', '.join(texts[n:])}])"
    return f"{name}({', '.join(texts)})"


def _checked(root: Any) -> list[Value]:
    """The nodes of the graph, in topological order."""
    where = "show_steps"
    if not isinstance(root, Value) or type(root.data) is not float:
        raise TypeError(message(where, shortened(root), "a Value over floats"))
    if not root.requires_grad:
        raise ValueError(message(where, "a constant", "a Value that requires a gradient"))
    nodes = topological_order(root)
    if len(nodes) > LARGEST:
        remedy = "take a smaller case (one sample, fewer units) or an inner node"
        raise ValueError(message(where, f"{len(nodes)} nodes", f"at most {LARGEST}", remedy))
    for node in nodes:
        if node.parents and not is_current(node):
            found = f"{node.op} of numbers that were changed after the graph was recorded"
            remedy = "compute the output again"
            raise ValueError(message(where, found, "those it was computed from", remedy))
    return nodes


def _sliders(graph: Graph, inputs: Any) -> list[int] | None:
    """The places of the leaves in what a user gave as inputs."""
    if inputs is None:
        return None
    given = inputs if isinstance(inputs, Iterable) else [inputs]
    found: list[int] = []
    for item in given:
        values = [x for x, _ in entry_names("", item)]
        if not values:
            expected = "Values, or Vectors or Matrices of them"
            raise TypeError(message("show_steps, inputs", typed(item), expected))
        for x in values:
            if graph.place.get(x) not in graph.inputs:
                expected = "leaves of this graph that require a gradient"
                raise ValueError(message("show_steps, inputs", described(x), expected))
            found.append(graph.place[x])
    return list(dict.fromkeys(found))


def _parameters(nodes: list[Value]) -> dict[Value, str]:
    """The name of each parameter in the innermost module that holds it."""
    found: dict[Value, str] = {}
    for node in nodes:
        scope = getattr(node, "_scope", None)
        while scope is not None:
            if scope.module is not None:
                for name, held in scope.module.named_parameters():
                    for x, entry in entry_names(name, held):
                        found.setdefault(x, entry)
            scope = scope.outer
    return found


def _short(label: str) -> str:
    text = "".join(c if c.isprintable() else " " for c in label)
    return " ".join(text[:40].split())


# -- Rules: what the compiler prints from ops.py --------------------------------------------------


@cache
def printed(rule: Rule, count: int) -> str:
    """A rule as JavaScript: its value, and the messages of its backward pass.

    TypeError if it computes with anything but this package's functions.
    """
    writer = Writer()
    inputs = [writer.argument(f"x{i}") for i in range(1, count + 1)]
    value, backward = rule(*inputs)
    messages = [None if x is None else writer.as_number(x) for x in backward(writer.argument("grad"))]
    names = [f"x{i}" for i in range(1, count + 1)]
    op = rule.__name__ if getattr(ops, rule.__name__, None) is rule else ""
    return _as_object(
        op, rule.__name__, count,
        _function(names, [writer.as_number(value)], writer, "{}"),
        _function(["grad", *names], messages, writer, "[{}]"),
    )  # fmt: skip


def _function(names: list[str], outputs: list[Any], writer: Writer, shape: str) -> str:
    printer = JavaScript([x for x in outputs if x is not None])
    lines = printer.lines(writer.symbols.values())
    result = shape.format(", ".join("null" if x is None else printer.of(x) for x in outputs))
    body = f"{{ {' '.join(lines)} return {result}; }}" if lines else f"({result})"
    return f"({', '.join(names)}) => {body}"


def fixed(node: Value) -> str:
    """The rule of an operation that takes only floats: the numbers that it has now."""
    number = JavaScript().number
    messages = [
        "null" if x is None else f"grad * {number(x)[0]}" for x in node._backward(1.0)
    ]
    value = f"() => {number(node.data)[0]}"
    return _as_object("", node.op, len(node.parents), value, f"(grad) => [{', '.join(messages)}]")


def _as_object(op: str, name: str, count: int, value: str, back: str) -> str:
    text = f"op: {json.dumps(op)}, name: {_json(_short(name))}, arity: {count}"
    return f"{{ {text}, value: {value}, back: {back} }}"


def all_rules() -> list[str]:
    rules = [x for x in vars(ops).values() if getattr(x, "__module__", "") == ops.__name__]
    names = [x for x in rules if callable(x) and x.__name__[0] != "_" and x.__name__ != "largest"]
    found = []
    for rule in names:
        name = rule.__name__
        counts = LISTS.get(name, [2 if name in PAIRS or "less" in name else 1])
        found += [printed(rule, count) for count in counts]
    return found


def _json(data: Any) -> str:
    """Data as JavaScript; no text in it can end the script."""
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def script(rules: list[str], parts: Iterable[str], data: Any = None) -> str:
    """The program of a page: the rules, the graph if there is one, and files of page/."""
    helpers = [line for lines in HELPERS.values() for line in lines]
    listed = ["const rules = [", *[f"{rule}," for rule in rules], "];", f"const data = {_json(data)};"]
    files = [_read(f"{name}.js") for name in parts]
    return "\n".join([*helpers, *listed, *files])


def _page(rules: list[str], data: Any, title: str, still: str) -> str:
    """The page in one piece."""
    template = Template(_read("page.html"))
    program = script(rules, PARTS, data)
    return template.substitute(title=title, style=_read("style.css"), script=program, still=still)


def _read(name: str) -> str:
    """A file of page/, without indents and lines of comments."""
    text = resources.files("autodiff.pictures").joinpath(f"page/{name}").read_text("utf-8")
    lines = [line.strip() for line in text.splitlines()]
    return "\n".join(line for line in lines if line and not line.startswith("//"))
