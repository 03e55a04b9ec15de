"""`show_steps`, the live graph: a page of its own that needs no Python and no network.

Python sends the graph and the rules of its operations, which the compiler prints from `ops.py`. The
page (page/*.js) evaluates, walks back, lays out and draws, as one function of its state.
"""

import keyword
import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from inspect import signature
from typing import Any
from urllib.parse import quote

from .. import ops
from ..compiler.printer import HELPERS, JavaScript
from ..compiler.symbolic import Writer
from ..errors import counted, described, message, shortened, typed
from ..graph import is_current, topological_order
from ..scopes import entry_names
from ..value import Value
from .drawing import draw
from .pages import Page, as_json, assembled, read

LARGEST = 60  # nodes
PARTS = ("numbers", "core", "parser", "layout", "dom", "controls", "graph", "words", "live")
STYLES = "palette.css", "style.css"
STILL = "<p>The live graph needs scripts, and a notebook that is trusted. This is its picture.</p>"


class LiveGraph(Page):
    """A graph to step through and to drag: Jupyter shows it, `save` and `open` do so elsewhere."""

    hint = "for a picture write draw(y).save(...)"

    def __init__(self, root: Value, text: str, still: str, link: str | None) -> None:
        super().__init__(text, "The live graph", still)
        self._root, self._link = root, link

    def _picture(self) -> str:
        return STILL + draw(self._root).image()

    def __repr__(self) -> str:
        count = sum(bool(node.parents) for node in topological_order(self._root))
        return f"<LiveGraph: {counted(count, 'operation')}, forward and backward>"

    @property
    def link(self) -> str:
        """What an address of the page carries: # and the formula with its numbers.

        ValueError if an operation of your own is in the graph, which no formula can say.
        """
        if self._link is None:
            remedy = "send the saved page: .save('y.html')"
            raise ValueError(message("link", "an operation of your own", "this package's", remedy))
        return self._link


def show_steps(
    root: Value,
    inputs: Iterable[Any] | None = None,
    *,
    ask: bool = False,
    names: Mapping[str, Any] | None = None,
) -> LiveGraph:
    """The graph of root, live: drag its inputs, and send its gradients back, step by step.

    Values are blue and run forward; gradients are orange and run back. "Play" and the keys ← →
    Home End step through both passes; an input that is dragged shows the curve of the output, with
    its slope. Choices made by Python's `if` stay as they were; `maximum`, `relu` and `where` choose
    anew. No `data` and no `grad` is changed.

    root: the output.
    inputs: which leaves have a slider, or Vectors and Matrices of them; by default all.
    ask: each message is blank until it is typed.
    names: names for Values without a label, such as `locals()`.

    Jupyter shows it; `.save("y.html")` writes the page, `.open()` shows it in a browser, `.link` is
    what its address carries. TypeError if root is not a Value over floats, an input not a Value, or
    an operation of your own computes with anything but this package's functions;
    ValueError for more than 60 nodes, for data that was changed after the graph was recorded, and
    for an input that is not a leaf of the graph or requires no gradient.

    >>> a, b = Value(2.0, label="a"), Value(1.0, label="b")
    >>> live = show_steps((a + b) * b)
    >>> live, live.link
    (<LiveGraph: 2 operations, forward and backward>, '#a=2.0;b=1.0;(a+b)*b')
    """
    nodes = _checked(root)
    place = {node: i for i, node in enumerate(nodes)}
    rules = list(dict.fromkeys((x._rule, len(x.parents)) for x in nodes if x.parents))
    sent = [  # [rule, *inputs], or the number of a leaf
        [rules.index((x._rule, len(x.parents))), *(place[p] for p in x.parents)]
        if x.parents else x.data for x in nodes
    ]  # fmt: skip
    held = _parameters(nodes)
    public = [(name, x) for name, x in (names or {}).items() if name[:1] != "_"]
    own = {x: name for pair in reversed(public) for x, name in entry_names(*pair)}
    labels = [_short(x.label or held.get(x) or own.get(x, "")) for x in nodes]
    leaves = [x for x in nodes if not x.parents and x.requires_grad]
    places = [place[x] for x in sorted(leaves, key=lambda x: x in held)]  # parameters last
    ids = _identifiers(labels)
    formula = _formula(nodes, place, ids, labels)
    data = {"nodes": sent, "inputs": places, "labels": labels, "ids": ids, "formula": formula,
            "sliders": _sliders(inputs, place, places), "ask": ask}  # fmt: skip
    picture = draw(root).pipe("svg", encoding="utf-8")
    still = STILL + picture[picture.index("<svg") :]
    program = script([printed(*rule) for rule in rules], data)
    small = still if len(still) < 40_000 else STILL  # a page is small
    text = assembled(labels[-1] or "The live graph", program, STYLES, small)
    said = ";".join([*(f"{ids[i]}={sent[i]!r}" for i in places), formula or ""]).replace(" ", "")
    link = f"#{quote(said, safe='()*,;=+/-_.')}{'&ask' * ask}" if formula else None
    return LiveGraph(root, text, still, link)


def page() -> str:
    """The page on which a formula is typed, with the rules of all operations."""
    still = "<p>This page needs scripts.</p>"
    return assembled("The live graph", script(all_rules()), STYLES, still)


def _checked(root: Any) -> list[Value]:
    """The nodes of the graph, in topological order."""
    if not isinstance(root, Value) or type(root.data) is not float:
        raise TypeError(message("show_steps", shortened(root), "a Value over floats"))
    if not root.requires_grad:
        raise ValueError(message("show_steps", "a constant", "a Value that requires a gradient"))
    nodes = topological_order(root)
    if len(nodes) > LARGEST:
        found, remedy = f"{len(nodes)} nodes", "take one sample, fewer units, or an inner node"
        raise ValueError(message("show_steps", found, f"at most {LARGEST}", remedy))
    for node in nodes:
        if node.parents and not is_current(node):
            found = f"{node.op} of numbers that were changed after the graph was recorded"
            expected, remedy = "those it was computed from", "compute the output again"
            raise ValueError(message("show_steps", found, expected, remedy))
    return nodes


def _sliders(inputs: Any, place: Mapping[Value, int], places: list[int]) -> list[int] | None:
    """The places of the leaves in what a user gave as inputs."""
    found = []
    for item in inputs if isinstance(inputs, Iterable) else [inputs]:
        values = [x for x, _ in entry_names("", item)]
        if item is None:
            return None
        if not values:
            expected = "Values, or Vectors or Matrices of them"
            raise TypeError(message("show_steps, inputs", typed(item), expected))
        for x in values:
            if place.get(x) not in places:
                expected = "leaves of this graph that require a gradient"
                raise ValueError(message("show_steps, inputs", described(x), expected))
        found += [place[x] for x in values]
    return list(dict.fromkeys(found))


# -- Names and formulas ---------------------------------------------------------------------------


def _parameters(nodes: list[Value]) -> dict[Value, str]:
    """The name of each parameter in the innermost module that holds it."""
    found: dict[Value, str] = {}
    for node in nodes:
        scope = getattr(node, "_scope", None)
        while scope is not None:
            held = scope.module.named_parameters() if scope.module is not None else []
            found = {x: name for pair in held for x, name in entry_names(*pair)} | found
            scope = scope.outer
    return found


def _short(label: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in label[:40]).split())


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


def _formula(nodes: list[Value], place: Any, ids: list[str], labels: list[str]) -> str | None:
    """The graph in the command line's language: v = a + b; v*v. None if it has no words for it."""
    shared = [p for node in nodes for p in node.parents]
    lines: list[str] = []
    texts: list[str] = []
    for i, node in enumerate(nodes):
        name = getattr(node._rule, "__name__", "")
        if not node.parents:
            text = ids[i] if node.requires_grad else _number(node.data)
        elif getattr(ops, name, None) is not node._rule or node.data - node.data != 0:
            return None
        else:
            text = _call(name, node.op, [texts[place[x]] for x in node.parents])
            last = i == len(nodes) - 1
            if last or labels[i] or sum(x is node for x in shared) > 1:
                named = labels[i] or not last
                lines.append(f"{ids[i]} = {_bare(text)}" if named else _bare(text))
                text = ids[i]
        texts.append(text)
    return "; ".join(lines or texts)


def _number(x: float) -> str:
    return repr(x) if x >= 0 else f"({x!r})"


def _bare(text: str) -> str:
    return text[1:-1] if text[0] == "(" else text


def _call(name: str, sign: str, xs: list[str]) -> str:
    """An operation in the command line's language."""
    if name in ("neg", "pos"):
        return f"({'-' if name == 'neg' else '+'}{xs[0]})"
    if not sign.isalpha() and not name.startswith("less"):
        return f"({xs[0]}{sign}{xs[1]})"
    xs = [*map(_bare, xs)]
    text = ", ".join(xs)
    if name == "dot":
        text = f"{', '.join(xs[: len(xs) // 2])}], [{', '.join(xs[len(xs) // 2 :])}"
    row = name in ("sum", "prod", "logsumexp", "dot")
    return f"{name}([{text}])" if row else f"{name}({text})"


# -- Rules: what the compiler prints from ops.py --------------------------------------------------


@cache
def printed(rule: Any, count: int) -> str:
    """A rule as JavaScript: its value, and the messages of its backward pass.

    TypeError if it computes with anything but this package's functions.
    """
    writer, names = Writer(), [f"x{i}" for i in range(1, count + 1)]
    value, backward = rule(*map(writer.argument, names))
    sent = [x if x is None else writer.as_number(x) for x in backward(writer.argument("grad"))]
    name, known = _short(rule.__name__), getattr(ops, rule.__name__, None) is rule
    shown = _function(names, [writer.as_number(value)], writer, "{}")
    back = _function(["grad", *names], sent, writer, "[{}]")
    held = f"op: {as_json(name if known else '')}, name: {as_json(name)}, arity: {count}"
    return f"{{ {held}, value: {shown}, back: {back} }}"


def _function(names: list[str], outputs: list[Any], writer: Writer, shape: str) -> str:
    printer = JavaScript([x for x in outputs if x is not None])
    lines = printer.lines(writer.symbols.values())
    result = shape.format(", ".join("null" if x is None else printer.of(x) for x in outputs))
    return f"({', '.join(names)}) => {{ {' '.join([*lines, f'return {result};'])} }}"


LISTS = {"sum": range(1, 9), "prod": range(1, 9), "logsumexp": range(1, 9), "hypot": range(1, 5)}
LISTS |= {"dot": range(2, 17, 2)}


def all_rules() -> list[str]:
    """The rules of all operations; of those that take a row, for up to eight numbers."""
    found = {
        x: LISTS.get(name) or [len(signature(x).parameters)]
        for name, x in vars(ops).items()
        if getattr(x, "__module__", "") == ops.__name__ and name[0].islower() and name != "largest"
    }
    return [printed(rule, count) for rule, counts in found.items() for count in counts]


def script(rules: list[str], data: Any = None, parts: Iterable[str] = PARTS) -> str:
    """The program of a page: the rules, the graph if there is one, and files of page/."""
    helpers = [line for lines in HELPERS.values() for line in lines]
    listed = ["const rules = [", *(f"{rule}," for rule in rules), "];"]
    files = [read(f"{name}.js") for name in parts]
    return "\n".join([*helpers, *listed, f"const data = {as_json(data)};", *files])
