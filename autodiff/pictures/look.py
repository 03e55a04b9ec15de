"""How a picture looks: colours with one meaning each, numbers, the lines of a box.

Blue is a value, which runs forward; orange is a derivative, which runs backward; red is wrong. The
ground is transparent: texts stand on fills of their own, and lines can be seen on white and black.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..errors import counted
from ..tracing import Step
from ..value import Value
from .scene import Box, Edge, Scene, exponent
from .texts import as_float, number, printable, raised, sign

FONT = "Liberation Sans,Arial,Helvetica,sans-serif"  # as wide as the font of the layout
SIZE = 10.5  # of the texts, in points
DIGITS = 4

# Texts on any of the fills have a contrast of 4.5 or more, lines on white and black one of 3.
INK, SOFT, LINE = "#1d2126", "#5c646e", "#808890"
PAPER, PANEL = "#ffffff", "#f6f5f2"
VALUE, VALUE_LINE, VALUE_FILL = "#0a5fb0", "#3f86c9", "#e3effa"
GRADIENT, GRADIENT_LINE, GRADIENT_FILL = "#b94700", "#d0661c", "#fff0e4"
SAND = "#a07f3c"  # a negative value, where a colour is needed
WRONG = "#c00000"

FILLS = {"input": VALUE_FILL, "constant": PANEL, "collapsed scope": PANEL}
# What a box is also shows in its border: (thickness, style, space between two borders).
BORDERS = {
    "input": (1, "", 0),
    "parameter": (1, "", 2),
    "constant": (1, "dashed", 0),
    "operation": (1, "rounded", 0),
    "output": (3, "rounded", 0),
    "collapsed scope": (1, "rounded", 2),
}

# |grad| by powers of ten, light to dark. 0 has a grey of its own, so that dead parts stand out.
SMALLEST, LARGEST = -5, 2
SCALE = {
    "nan or inf": "#ffffff",
    "no gradient": "#ffffff",
    "0": "#c9ccd0",
    "below 1e−5": "#fff5eb",
    "1e−5 to 0.0001": "#fee8d2",
    "0.0001 to 0.001": "#fdd5aa",
    "0.001 to 0.01": "#fdba7c",
    "0.01 to 0.1": "#fb9b4c",
    "0.1 to 1": "#f07a1d",
    "1 to 10": "#b94700",
    "10 to 100": "#8a3300",
    "above 100": "#5a2000",
}
DARKEST = ("1 to 10", "10 to 100", "above 100")  # the text on them is white

TERMS = 3  # of a sum, or entries of a row, that are written out
LONG = 14  # characters of upstream · local = message; with more, in two lines
ENTRIES = 8  # of a vector in a table; with more, the first ones and the last

Line = list[tuple[str, str]]  # pieces of text, each with its colour


@dataclass
class Look:
    """How a scene is drawn; one number of digits for all of it."""

    scene: Scene
    gradients: Mapping[Value, Any]  # of the nodes whose gradient is shown
    passed: Mapping[Value, Step] = field(default_factory=dict)  # the backward pass, for edges
    edges: str | None = None  # these two as `draw` takes them
    color: str | None = None
    cells: str | None = None  # color, for the cells of arrays
    rankdir: str = "LR"
    images: dict[str, bytes] = field(default_factory=dict)  # in the boxes, by name

    @property
    def sideways(self) -> bool:
        return self.rankdir == "LR"

    @cached_property
    def wrong(self) -> set[Value]:
        """The nodes whose data or grad is nan or infinite."""
        both = [*zip(self.scene.nodes, self.scene.nodes), *self.gradients.items()]
        return {node for node, x in both if not math.isfinite(as_float(x) or 0.0)}

    @cached_property
    def terms(self) -> dict[Value, list[Any]]:
        """The messages to each node in the backward pass, in order, if edges show them."""
        terms: dict[Value, list[Any]] = {}
        for step in self.passed.values() if self.edges == "message" else ():
            for parent, _, message in step.messages:
                terms.setdefault(parent, []).append(message)
        return terms

    def number(self, x: Any) -> str:
        return number(x, DIGITS)

    def grad(self, node: Value) -> str:
        """A gradient, and the sum that it is: 6 = 2 + 4."""
        terms = self.terms.get(node, [])
        total = self.number(self.gradients[node])
        if len(terms) > TERMS:
            return f"{total} = sum of {len(terms)}"
        said = " + ".join(map(self.number, terms)).replace("+ −", "− ")
        return f"{total} = {said}" if len(terms) > 1 else total

    def sign(self, node: Value) -> str:
        """The sign of an operation; of a power its formula: b³."""
        power = exponent(node)
        if power is None:
            return sign(node.op)
        base = printable(self.scene.label(node.parents[0]))
        base = base if base.isidentifier() else "( )"
        return raised(f"{base}**{number(power)}")

    def lines(self, box: Box) -> list[Line]:
        """The lines of a box of one node: label, data and grad; those of a collapsed scope."""
        if box.scope:
            return [[(text, INK)] for text in self._summary(box)]
        node = box.nodes[-1]
        value = self.number(node)
        if box.role == "constant" and not box.name:
            return [[(value, SOFT)]]
        lines = [[(printable(box.name), INK)]] if box.name else []
        lines.append([(f"data {value}", VALUE)])
        if node in self.gradients:
            lines.append([(f"grad {self.grad(node)}", GRADIENT)])
        return lines

    def _summary(self, box: Box) -> list[str]:
        """A collapsed scope: its name, its parameters, its largest gradient."""
        module = box.scope and box.scope.module
        lines = [box.name]
        if module and (count := len(module.parameters())):
            lines.append(counted(count, "parameter"))
        if (size := self.largest_gradient(box)) is not None:
            lines.append(f"|grad| ≤ {self.number(size)}")
        return lines

    def title(self, box: Box) -> str:
        """A box in one line: "b = 2, grad 8"."""
        if box.scope:
            return ", ".join(self._summary(box))
        if box.shape and len(box.nodes) > 1:
            return f"{self.name(box)} {shape(box)}"
        return "; ".join(map(self._title, box.nodes))

    def name(self, box: Box) -> str:
        """The operation and the label of an array, or what it is."""
        return " ".join(filter(None, [sign(box.op), printable(box.name)])) or box.role

    def _title(self, node: Value) -> str:
        name = printable(self.scene.label(node)) or (node.parents and self.sign(node)) or ""
        text = f"{name} = " * bool(name) + self.number(node)
        return text + (f", grad {self.grad(node)}" if node in self.gradients else "")

    def fill(self, box: Box) -> str:
        return SCALE[self.level(box)] if self.color else FILLS.get(box.role, PAPER)

    def ink(self, box: Box, colour: str, nodes: Iterable[Value] | None = None) -> str:
        """The colour of a text in a box: red beside nan and inf, of one kind on shades."""
        if not self.wrong.isdisjoint(box.nodes if nodes is None else nodes):
            return WRONG
        if self.color:
            return PAPER if self.level(box) in DARKEST else INK
        return colour

    def level(self, box: Box) -> str:
        return level(self.largest_gradient(box))

    def largest_gradient(self, box: Box) -> float | None:
        """The largest |grad| in a box, nan if one is nan; None if there is none."""
        return largest(numbers(map(self.gradients.get, box.nodes)))

    # -- Edges ----------------------------------------------------------------------------------

    def says(self, edge: Edge) -> list[Line]:
        """The text on an edge: a local derivative, or a message; of a vector, those of all."""
        tail, head = edge.tail, edge.head
        if tail.scope or head.scope or head.shape:
            count = len({node.parents[i] for node, i in edge.uses})
            return [[(f"{count} values", SOFT)]] if count > 1 and not head.shape else []
        if not self.edges or not any(x.requires_grad for x in tail.nodes):
            return []
        step = self.passed[edge.uses[0][0]]
        local = self._row([step.messages[i].local for _, i in edge.uses])
        sent = self._row([step.messages[i].message for _, i in edge.uses])
        if self.edges == "local":
            return [[(local, VALUE)]]
        local = f"({local})" if local.startswith("−") else local
        upstream = f"{self.number(step.adjoint)} · "
        product, message = [(upstream, GRADIENT), (local, VALUE)], (f"= {sent}", GRADIENT)
        if len(upstream + local + sent) > LONG:
            return [product, [message]]
        return [[*product, (" ", GRADIENT), message]]

    def _row(self, numbers: list[Any]) -> str:
        """A number, or several in brackets."""
        texts = [self.number(x) for x in numbers]
        texts = texts if len(texts) <= TERMS else [texts[0], "…", texts[-1]]
        return f"({', '.join(texts)})" if len(numbers) > 1 else texts[0]


def shape(box: Box) -> str:
    return " × ".join(map(str, box.shape))


def with_numbers(scene: Scene) -> int:
    """How many edges have a derivative to show."""
    return sum(any(x.requires_grad for x in edge.tail.nodes) for edge in scene.edges)


def numbers(found: Iterable[Any]) -> list[float]:
    return [x for x in map(as_float, found) if x is not None]


def largest(found: Iterable[float]) -> float | None:
    """The largest |x|, nan if one is nan; None if there is none."""
    return max(map(abs, found), key=lambda x: (math.isnan(x), x), default=None)


def level(size: float | None) -> str:
    """The power of ten of a |grad|, as the legend says it."""
    if size is None:
        return "no gradient"
    if not math.isfinite(size):
        return "nan or inf"
    if size == 0.0:
        return "0"
    power = min(max(math.floor(math.log10(size)), SMALLEST - 1), LARGEST)
    return list(SCALE)[power - LARGEST - 1]
