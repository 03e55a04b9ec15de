"""A scene in DOT, Graphviz's language: boxes as tables of its HTML, frames, edges, a legend."""

import html
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..scopes import Scope
from ..value import Value
from . import look as colours
from .look import BORDERS, DARKEST, INK, LINE, PANEL, PAPER, SCALE, SIZE, Line, Look
from .scene import Box, Edge, Path, Scene, slots, title
from .texts import few, markup, plain, printable

BARE = 'border="0" cellborder="0" cellspacing="0" cellpadding="0"'
MANY = 150  # edges; with more, the best layout takes minutes, a rough one a second
BEST, ROUGH = {"nslimit": "1"}, {"nslimit": "0.02", "splines": "line"}
SIDES = {"LR": "ew", "TB": "sn"}  # where edges leave a box, and enter it
CAPSULES = {  # the fill and the line around the text on an edge
    colours.GRADIENT: (colours.GRADIENT_FILL, colours.GRADIENT_LINE),
    colours.VALUE: (colours.VALUE_FILL, colours.VALUE_LINE),
    colours.SOFT: (PAPER, LINE),
}

Body = Callable[[Box, Look], str]  # the HTML of a box


def write(picture: Any, look: Look, body: Body, key: str = "") -> None:
    """Write a scene into an empty `Drawing`; names in DOT hold no text of the user."""
    scene = look.scene
    text = {"fontname": colours.FONT, "fontsize": f"{SIZE:g}", "fontcolor": INK}
    picture.attr(rankdir=look.rankdir, bgcolor="transparent", nodesep="0.1", **text)
    limits = BEST if len(scene.edges) <= MANY else ROUGH
    picture.attr(ranksep="0.2", **limits)
    picture.images = look.images
    picture.attr("node", shape="plain", **text)
    picture.attr("edge", color=colours.VALUE_LINE, arrowsize="0.6", penwidth="1.2", tooltip=" ")
    ids = {box: f"n{i}" for i, box in enumerate(scene.boxes)}
    frames = _frames(picture, look)
    alone = [box for box in scene.drawn if not box.path]
    inside = [box for box in scene.drawn if box.path]
    # Graphviz turns the order over inside a frame if the edges run sideways
    for box in [*alone, *(reversed(inside) if look.sideways else inside)]:
        order = {"ordering": "in"} if box.op and slots(box.nodes[0]) > 1 else {}
        tip = "; ".join(map(look.title, [box, *box.held]))
        name = {"id": ids[box], "class": box.role.split()[-1], "tooltip": html.escape(plain(tip))}
        frames[box.path].node(ids[box], _joined(box, look, body), **name, **order)
    edges: list[Any] = []
    for i, edge in enumerate(scene.edges):
        edges += _edge(edge, f"e{i}", frames[edge.head.path], ids, look)
    edges += _invisible_edges(scene, ids)
    for path in sorted(frames, key=len, reverse=True)[:-1]:  # the inner frames first
        frames[path[:-1]].subgraph(frames[path])
    for tail, head, attributes in edges:  # last, because boxes are placed in order of mention
        picture.edge(tail, head, **attributes)
    if key:  # as the label of the whole picture, it stands below and stretches nothing
        picture.attr(label=f"<{key}>")


def _frames(picture: Any, look: Look) -> dict[Path, Any]:
    """A frame for each path of scopes, with its title."""
    frames: dict[Path, Any] = {(): picture}
    for box in look.scene.drawn:
        for length in range(1, len(box.path) + 1):
            path = box.path[:length]
            if path not in frames:
                frame = frames[path] = type(picture)(name=f"cluster{len(frames)}")
                frame.attr(style="rounded,filled", color=LINE, fillcolor=PANEL, margin="6")
                text = f"<{markup(title(path[-1]))}>"
                # where edges run across the fewest titles
                frame.attr(label=text, labelloc="b", labeljust="l", tooltip=" ")
    return frames


def _edge(edge: Edge, name: str, frame: Any, ids: dict[Box, str], look: Look) -> Iterator[Any]:
    """The edges of DOT for an edge: tail, head and attributes.

    The text on an edge becomes a node, in the frame of the box, so that other edges avoid it.
    """
    out, into = tuple(SIDES[look.rankdir])
    tail = f"{ids[edge.tail]}:op:{out}"
    head = f"{ids[edge.head]}:{'op' if edge.slot is None else f'a{edge.slot}'}:{into}"
    if says := look.says(edge):
        frame.node(name, f"<{_capsule(says)}>", id=name)
        yield tail, f"{name}:{into}", {"arrowhead": "none"}
        tail = f"{name}:{out}"
    yield tail, head, {}


def _invisible_edges(scene: Scene, ids: dict[Box, str]) -> Iterator[Any]:
    """Edges that keep each frame behind the one that it takes its input from."""
    last: dict[Scope, Box] = {}  # where the last edge into each frame comes from
    for edge in scene.edges:
        last |= dict.fromkeys(set(edge.head.path) - set(edge.tail.path), edge.tail)
    for box in scene.drawn:
        if not (box.op or box.scope):
            for tail in {last[scope]: None for scope in box.path if scope in last}:
                yield ids[tail], ids[box], {"style": "invis"}


def _capsule(lines: list[Line]) -> str:
    fill, line = CAPSULES[lines[-1][-1][1]]
    cell = f'<td cellpadding="4">{"<br/>".join(map(coloured, lines))}</td>'
    return _table(f"<tr>{cell}</tr>", 1, "rounded", 0, line, fill)


# -- Boxes --------------------------------------------------------------------------------------


def body(box: Box, look: Look) -> str:
    """A leaf, a result, a collapsed scope, or the entries of a vector."""
    if len(box.nodes) > 1 and not box.scope:
        return _vector(box, look)
    lines = look.lines(box)
    texts = [coloured([(text, look.ink(box, colour)) for text, colour in line]) for line in lines]
    if box.op:
        sign = coloured([(look.sign(box.nodes[0]), look.ink(box, INK))])
        texts.insert(0, f'<b><font point-size="{SIZE + 3:g}">{sign}</font></b>')
    return framed(_slotted("<br/>".join(texts), 'cellpadding="4"', box, look), box, look)


def framed(rows: str, box: Box, look: Look) -> str:
    """The rows of a table in the border of its box."""
    line = LINE if box.role in ("constant", "collapsed scope") else INK
    line = colours.WRONG if look.ink(box, line) == colours.WRONG else line
    return _bordered(rows, box.role, line, look.fill(box))


def _bordered(rows: str, role: str, line: str, fill: str) -> str:
    border, style, spacing = BORDERS[role]
    if spacing:
        rows = f"<tr><td>{_table(rows, border, style, 0, line, fill)}</td></tr>"
    return _table(rows, border, style, spacing, line, fill, 'port="op"')


def _vector(box: Box, look: Look) -> str:
    """The entries of a vector: a row for each."""
    graded = any(node in look.gradients for node in box.nodes)
    kinds = (colours.VALUE, colours.GRADIENT)[: 1 + graded]

    def row(texts: Iterable[str], nodes: Iterable[Value] = ()) -> str:
        cells = [_cell(x, look.ink(box, colour, nodes)) for x, colour in zip(texts, kinds)]
        return f"<tr>{''.join(cells)}</tr>"

    rows = [row(["data", "grad"])]
    for node in few(box.nodes, colours.ENTRIES):
        grad = look.grad(node) if node in look.gradients else ""
        rows.append(row("……") if node is None else row([look.number(node), grad], [node]))
    if box.name:
        name = _cell(printable(box.name), look.ink(box, INK, []), 1 + graded)
        rows.insert(0, f"<tr>{name}</tr>")
    return framed("".join(rows), box, look)


def _cell(text: str, colour: str, span: int = 1) -> str:
    return f'<td cellpadding="2" colspan="{span}">{coloured([(text, colour)])}</td>'


def _slotted(text: str, inner: str, box: Box, look: Look) -> str:
    """The rows of an operation, with a narrow cell for each slot on the side that edges enter."""
    count = slots(box.nodes[0]) if box.op else 1
    if count < 2:
        return f"<tr><td {inner}>{text}</td></tr>"
    cells = [f'<td port="a{i}" width="6" height="6"></td>' for i in range(count)]
    if not look.sideways:
        return f'<tr>{"".join(cells)}</tr><tr><td colspan="{count}" {inner}>{text}</td></tr>'
    cells[0] += f'<td rowspan="{count}" {inner}>{text}</td><td rowspan="{count}" width="6"></td>'
    return "".join(f"<tr>{cell}</tr>" for cell in cells)


def _joined(box: Box, look: Look, body: Body) -> str:
    """A box and those held by it, side by side where no edge enters or leaves."""
    if not box.held:
        return f"<{body(box, look)}>"
    held = [body(each, look).replace('port="op"', "") for each in box.held]  # edges go to box
    cells = [f"<td>{each}</td>" for each in [*held, body(box, look)]]
    rows = cells if look.sideways else ["".join(cells)]
    return f"<<table {BARE}>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>>"


def coloured(line: Line) -> str:
    return "".join(f'<font color="{colour}">{markup(text)}</font>' for text, colour in line)


def _table(
    rows: str, border: int, style: str, spacing: int, line: str, fill: str, more: str = ""
) -> str:
    more += f' style="{style}"' if style else ""
    return (
        f'<table border="{border}" cellborder="0" cellspacing="{spacing}" cellpadding="0" '
        f'color="{line}" bgcolor="{fill}" {more}>{rows}</table>'
    )


# -- The legend ---------------------------------------------------------------------------------


def legend(look: Look) -> str:
    """What borders and fills mean, or shades, side by side."""
    if look.color:
        found = {look.level(box) for box in look.scene.boxes}
        shades = [(text, fill, "input") for text, fill in SCALE.items() if text in found]
        return key([("|grad|:", PAPER, "operation"), *shades])
    found = {box.role for box in look.scene.boxes}
    return key([(role, colours.FILLS.get(role, PAPER), role) for role in BORDERS if role in found])


def key(entries: Iterable[tuple[str, str, str]]) -> str:
    """A legend: texts, each with its fill and the role that has its border."""
    cells = []
    for text, fill, role in entries:
        row = f"<tr>{_cell(text, PAPER if text in (*DARKEST, 'largest') else INK)}</tr>"
        cells.append(f"<td>{_bordered(row, role, LINE, fill)}</td>")
    rows = [cells[i : i + 6] for i in range(0, len(cells), 6)]
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f'<table border="0" cellspacing="4" cellpadding="0">{body}</table>'
