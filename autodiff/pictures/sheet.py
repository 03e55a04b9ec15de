"""A picture as plain data: panels with faces, arrows, frames, a legend. No `Value` is in it.

Blue is a value, which runs forward; orange is a derivative, which runs backward; red is wrong. The
ground is transparent: texts stand on fills of their own, and lines can be seen on white and black.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ..engine.admission import AnyNumber
from ..engine.scopes import Scope
from ..engine.stepwise import Step
from ..engine.value import Value
from .scene import Box, Edge, Scene, exponent, slots, title
from .texts import few, float_in, number, printable, raised, sign

SIZE = 10.5  # of the texts, in points

# Texts on any of the fills have a contrast of 4.5 or more, lines on white and black one of 3.
INK, SOFT, LINE = "#1d2126", "#5c646e", "#808890"
PAPER, PANEL = "#ffffff", "#f6f5f2"
VALUE, VALUE_LINE, VALUE_FILL = "#0a5fb0", "#3f86c9", "#e3effa"
GRADIENT, GRADIENT_LINE, GRADIENT_FILL = "#b94700", "#d0661c", "#fff0e4"
SAND = "#a07f3c"  # a negative value, where a colour is needed
WRONG = "#c00000"

FILLS = {"input": VALUE_FILL, "constant": PANEL}
# What a box is also shows in its border: (thickness, style, space between two borders). Corners
# tell inputs from operations, which are circles in the live graph and hold too much here.
BORDERS = {
    "input": (1, "", 0),
    "parameter": (1, "", 2),
    "constant": (0, "", 0),
    "operation": (1, "rounded", 0),
    "output": (3, "rounded", 0),
}

# |grad|, lighter and darker than at 1. 0 has a grey of its own, so that dead parts stand out.
PALE, DEEP = ("#fff5eb", "#d9681a"), ("#c8500a", "#461800")
ZERO, NONE, LOST = "#c9ccd0", "#fdfdfd", "#ffe8e8"  # 0, no gradient, nan or inf
LEAST, MOST = -6, 3  # powers of ten: less is as pale, more as dark
DATA = {"− largest": SAND, "0": PAPER, "largest": VALUE}

TERMS = 3  # of a sum, or entries of a row, that are written out
LONG = 14  # characters of upstream · local = message; with more, in two lines
ENTRIES = 8  # of a vector in a table; with more, the first ones and the last


class Text(NamedTuple):
    """A piece of a line."""

    content: str
    ink: str
    bold: float = 0.0  # its size, if it is bold


class Cell(NamedTuple):
    """Lines of text, as wide as some columns."""

    lines: list[list[Text]]
    columns: int = 1


class Image(NamedTuple):
    """Pixels in rows: red, green and blue of each, from 0 to 255. Two are as wide as a point."""

    name: str
    pixels: bytes
    width: int
    height: int


Cells = list[list[Cell | Image]]


class Face(NamedTuple):
    """A box, the text on an arrow, or an entry of the legend."""

    rows: Cells
    role: str
    fill: str = PAPER
    line: str = INK
    padding: int = 2
    slots: int = 1  # places where arrows enter; with several, there is one cell
    title: str = ""  # in one line: "b = 2, grad 8"


class Panel(NamedTuple):
    """Faces side by side: that where arrows begin and end, and those attached to it."""

    faces: dict[int, Face]
    frames: tuple[int, ...]  # around it, the outermost first


class Arrow(NamedTuple):
    """From a panel to another."""

    tail: int
    head: int
    slot: int | None = None
    text: Face | None = None


class Sheet(NamedTuple):
    """A picture without positions."""

    panels: dict[int, Panel]
    arrows: list[Arrow]
    frames: list[str]  # their titles
    legend: list[Face]

    @property
    def images(self) -> list[Image]:
        rows = [row for x in self.panels.values() for face in x.faces.values() for row in face.rows]
        return [x for row in rows for x in row if isinstance(x, Image)]


@dataclass
class Notes:
    """What a picture tells of the nodes of a scene."""

    scene: Scene
    gradients: Mapping[Value, AnyNumber]  # of the nodes whose gradient is shown
    passed: Mapping[Value, Step]  # the backward pass, if edges show it
    edges: str | None  # these two as `draw` takes them
    color: str | None

    @cached_property
    def wrong(self) -> set[Value]:
        """The nodes whose data or grad is nan or infinite."""
        both = [*zip(self.scene.nodes, self.scene.nodes), *self.gradients.items()]
        return {node for node, x in both if not math.isfinite(float_in(x) or 0.0)}

    def ink(self, colour: str, nodes: Iterable[Value]) -> str:
        """The colour of a text about some nodes: red beside nan and inf."""
        return colour if self.wrong.isdisjoint(nodes) else WRONG


def sheet(notes: Notes, face: Callable[[Notes, Box], Face]) -> Sheet:
    """The sheet of a scene: a face for each box."""
    boxes, edges = notes.scene.boxes, notes.scene.edges
    place = {box: i for i, box in enumerate(boxes)}
    frames: dict[Scope, int] = {}
    panels = {}
    attached = {x for box in boxes for x in box.attached}
    for box in boxes:
        if box not in attached:
            faces = {place[x]: face(notes, x) for x in (box, *box.attached)}
            around = tuple(frames.setdefault(scope, len(frames)) for scope in box.path)
            panels[place[box]] = Panel(faces, around)
    arrows = [Arrow(place[x.tail], place[x.head], x.slot, on_edge(notes, x)) for x in edges]
    return Sheet(panels, arrows, [*map(title, frames)], [])


# -- Faces ----------------------------------------------------------------------------------------


def face_of_box(notes: Notes, box: Box) -> Face:
    """A leaf, a result, or the entries of a vector."""
    make, padding = (_of_node, 4) if len(box.nodes) == 1 else (_of_vector, 2)
    title = "; ".join(summary(notes, node) for node in box.nodes)
    made = bordered(notes, box, make(notes, box), padding, title)
    if notes.color:
        fill = shade(max_abs(map(notes.gradients.get, box.nodes)))
        made = made._replace(fill=fill, rows=recoloured(made.rows, ink_on(fill)))
    return made


def bordered(notes: Notes, box: Box, rows: Cells, padding: int, title: str) -> Face:
    """The rows with the border and the fill of a box."""
    fill, line = FILLS.get(box.role, PAPER), notes.ink(LINE, box.nodes)
    return Face(rows, box.role, fill, line, padding, slots(box), title)


def _of_node(notes: Notes, box: Box) -> Cells:
    (node,), ink = box.nodes, notes.ink(INK, box.nodes)
    lines = [[Text(_sign(notes, node), ink, SIZE + 3)]] if box.op else []
    lines += [[Text(printable(box.name), ink)]] if box.name else []
    if box.role == "constant" and not box.name:
        lines.append([Text(number(node), notes.ink(SOFT, box.nodes))])
    else:
        lines += numbers(notes, node)
    return [[Cell(lines)]]


def numbers(notes: Notes, node: Value) -> list[list[Text]]:
    """The lines of data and grad."""
    lines = [[Text(f"data {number(node)}", notes.ink(VALUE, [node]))]]
    if grad := _grad(notes, node):
        lines.append([Text(f"grad {grad}", notes.ink(GRADIENT, [node]))])
    return lines


def _of_vector(notes: Notes, box: Box) -> Cells:
    """A row for each entry."""
    graded = any(node in notes.gradients for node in box.nodes)
    kinds = (VALUE, GRADIENT)[: 1 + graded]

    def row(texts: Iterable[str], nodes: Iterable[Value] = ()) -> list[Cell | Image]:
        return [Cell([[Text(x, notes.ink(kind, nodes))]]) for x, kind in zip(texts, kinds)]

    rows: Cells = [[Cell([[Text(printable(box.name), INK)]], 1 + graded)]] if box.name else []
    rows.append(row(["data", "grad"]))
    rows += [
        row("……") if x is None else row([number(x), _grad(notes, x)], [x])
        for x in few(box.nodes, ENTRIES)
    ]
    return rows


def summary(notes: Notes, node: Value, name: str = "") -> str:
    """A node in one line: "b = 2, grad 8"."""
    name = name or printable(notes.scene.leaves.label(node))
    name = name or (_sign(notes, node) if node.parents else "")
    grad = _grad(notes, node)
    return f"{name} = " * bool(name) + number(node) + f", grad {grad}" * bool(grad)


def _grad(notes: Notes, node: Value) -> str:
    """A gradient, and the sum that it is: 6 = 2 + 4; "" if there is none to show."""
    if node not in notes.gradients:
        return ""
    total, steps = number(notes.gradients[node]), notes.passed.values()
    sent = [x for step in steps for x in step.messages if notes.edges == "message"]
    terms = [number(x) for parent, _, x in sent if parent is node]
    if len(terms) > TERMS:
        return f"{total} = sum of {len(terms)}"
    return f"{total} = {' + '.join(terms).replace('+ −', '− ')}" if len(terms) > 1 else total


def _sign(notes: Notes, node: Value) -> str:
    """The sign of an operation; of a power its formula: b³."""
    power = exponent(node)
    if power is None:
        return sign(node.op)
    base = printable(notes.scene.leaves.label(node.parents[0]))
    return raised(f"{base if base.isidentifier() else '( )'}**{number(power, 6)}")


def on_edge(notes: Notes, edge: Edge) -> Face | None:
    """The text on an edge: a local derivative, or a message; of a vector, those of all."""
    if not (notes.passed and edge.tracked):
        return None
    messages = [notes.passed[node].messages[i] for node, i in edge.uses]
    local = _row([x.local for x in messages])
    if notes.edges == "local":
        return Face([[Cell([[Text(local, VALUE)]])]], "operation", VALUE_FILL, VALUE_LINE, 4)
    sent = _row([x.message for x in messages])
    local = f"({local})" if local.startswith("−") else local
    upstream = f"{number(notes.passed[edge.head.nodes[0]].adjoint)} · "
    product, message = [Text(upstream, GRADIENT), Text(local, VALUE)], Text(f"= {sent}", GRADIENT)
    long = len(upstream + local + sent) > LONG
    lines = [product, [message]] if long else [[*product, Text(" ", GRADIENT), message]]
    return Face([[Cell(lines)]], "operation", GRADIENT_FILL, GRADIENT_LINE, 4)


def _row(found: list[float | None]) -> str:
    """A number, or several in brackets."""
    texts = ["…" if x is None else number(x) for x in few(found, TERMS)]
    return f"({', '.join(texts)})" if len(found) > 1 else texts[0]


# -- Shades ---------------------------------------------------------------------------------------


def legend(notes: Notes, drawn: Sheet) -> list[Face]:
    """What the shades mean, of boxes or of cells, if there are any."""
    scale = DATA if drawn.images else {}
    if notes.color:
        sizes = [max_abs([x]) or 0.0 for x in notes.gradients.values()]
        powers = [_power(x) for x in sizes if 0.0 < x < math.inf] or [0.0]
        shown = range(math.floor(min(powers)), math.ceil(max(powers)) + 1)
        scale = {"no gradient": NONE, "0": ZERO}
        scale |= {number(10.0**k): shade(10.0**k) for k in shown}
    both = {"|grad|:" if notes.color else "data:": PAPER} | scale
    faces = [Face([[Cell([[Text(x, ink_on(both[x]))]])]], "input", both[x], LINE) for x in both]
    return faces if scale else []


def ink_on(fill: str) -> str:
    return PAPER if rgb(fill)[1] < 100 else INK  # the green tells light from dark


def rgb(colour: str) -> list[int]:
    return [*bytes.fromhex(colour[1:])]


def max_abs(found: Iterable[object]) -> float | None:
    """The largest |x|, nan if one is nan; None if there is none."""
    sizes = [abs(x) for x in map(float_in, found) if x is not None]
    return max(sizes, key=lambda x: (math.isnan(x), x), default=None)


def shade(size: float | None) -> str:
    """The fill for a |grad|: the larger, the darker."""
    if not size:
        return NONE if size is None else ZERO
    if not math.isfinite(size):
        return LOST
    power = _power(size)
    ends, share = (PALE, 1 - power / LEAST) if power < 0 else (DEEP, power / MOST)
    mixed = (round(a + share * (b - a)) for a, b in zip(*map(rgb, ends)))
    return f"#{bytes(mixed).hex()}"


def _power(size: float) -> float:
    """Which power of ten a |grad| is, as far as shades tell: in steps of a quarter."""
    return min(max(math.floor(4 * math.log10(size)) / 4, LEAST), MOST)


def recoloured(rows: Cells, ink: str) -> Cells:
    """The rows in one ink, but for what is red."""

    def line(texts: list[Text]) -> list[Text]:
        return [x if x.ink == WRONG else x._replace(ink=ink) for x in texts]

    def cell(x: Cell | Image) -> Cell | Image:
        return x if isinstance(x, Image) else x._replace(lines=[*map(line, x.lines)])

    return [[*map(cell, row)] for row in rows]
