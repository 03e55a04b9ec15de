"""A sheet in DOT, Graphviz's language: its faces as tables of HTML, its frames as clusters."""

import html
from collections.abc import Iterable, Iterator

from graphviz import Digraph

from . import sheet
from .sheet import Arrow, Cell, Face, Image, Panel, Sheet, Text
from .texts import markup, plain

DotEdge = tuple[str, str, dict[str, str]]  # of DOT: tail, head and attributes

FONT = "Liberation Sans,Arial,Helvetica,sans-serif"  # as wide as the font of the layout
BARE = 'border="0" cellborder="0" cellspacing="0" cellpadding="0"'
MANY = 150  # edges; with more, the best layout takes minutes, a rough one a second
BEST, ROUGH = {"nslimit": "1"}, {"nslimit": "0.02", "splines": "line"}
LONGEST = 1000  # letters of a tooltip: Graphviz takes at most 16 kB of text in an attribute
SIDES = {"LR": ("e", "w"), "TB": ("s", "n")}  # where edges leave a box, and enter it


def write(picture: Digraph, drawn: Sheet, way: str) -> None:
    """Write a sheet into an empty picture; names in DOT hold no text of the user."""
    text = {"fontname": FONT, "fontsize": f"{sheet.SIZE:g}", "fontcolor": sheet.INK}
    picture.attr(rankdir=way, nodesep="0.1", **text)
    picture.attr(ranksep="0.2", **(BEST if len(drawn.arrows) <= MANY else ROUGH))
    picture.attr("node", shape="plain", **text)
    picture.attr("edge", color=sheet.VALUE_LINE, arrowsize="0.6", penwidth="1.2", tooltip=" ")
    frames = _frames(picture, drawn)
    alone = [i for i, panel in drawn.panels.items() if not panel.frames]
    inside = [i for i, panel in drawn.panels.items() if panel.frames]
    # Graphviz turns the order over inside a frame if the edges run sideways
    for i in [*alone, *(reversed(inside) if way == "LR" else inside)]:
        panel = drawn.panels[i]
        tip = "; ".join(face.title for face in panel.faces.values())
        tip = tip if len(tip) <= LONGEST else tip[: LONGEST - 1] + "…"
        about = {"id": f"n{i}", "class": panel.faces[i].role, "tooltip": html.escape(plain(tip))}
        order = {"ordering": "in"} if panel.faces[i].slots > 1 else {}
        frames[panel.frames].node(f"n{i}", _joined(panel, way), **about, **order)
    edges: list[DotEdge] = []
    for i, arrow in enumerate(drawn.arrows):
        edges += _edge(arrow, f"e{i}", frames[drawn.panels[arrow.head].frames], way)
    edges += _invisible_edges(drawn)
    for path in sorted(frames, key=len, reverse=True)[:-1]:  # the inner frames first
        frames[path[:-1]].subgraph(frames[path])
    for tail, head, attributes in edges:  # last, because boxes are placed in order of mention
        picture.edge(tail, head, **attributes)
    if drawn.legend:  # as the label of the whole picture, it stands below and stretches nothing
        picture.attr(label=f"<{_legend(drawn.legend)}>")


def _frames(picture: Digraph, drawn: Sheet) -> dict[tuple[int, ...], Digraph]:
    """A frame for each path of frames, with its title."""
    frames: dict[tuple[int, ...], Digraph] = {(): picture}
    for panel in drawn.panels.values():
        for length, i in enumerate(panel.frames, start=1):
            if (path := panel.frames[:length]) not in frames:
                frame = frames[path] = Digraph(name=f"cluster{i + 1}")
                frame.attr(
                    style="rounded,filled", margin="6", color=sheet.LINE, fillcolor=sheet.PANEL
                )
                # where edges run across the fewest titles
                frame.attr(
                    label=f"<{markup(drawn.frames[i])}>", labelloc="b", labeljust="l", tooltip=" "
                )
    return frames


def _edge(arrow: Arrow, name: str, frame: Digraph, way: str) -> Iterator[DotEdge]:
    """The edges of DOT for an arrow: tail, head and attributes.

    The text on it becomes a node, in the frame of the head, so that other edges avoid it.
    """
    out, into = SIDES[way]
    tail = f"n{arrow.tail}:op:{out}"
    slot = "op" if arrow.slot is None else f"a{arrow.slot}"
    if arrow.text:
        frame.node(name, f"<{_table(arrow.text, way)}>", id=name)
        yield tail, f"{name}:{into}", {"arrowhead": "none"}
        tail = f"{name}:{out}"
    yield tail, f"n{arrow.head}:{slot}:{into}", {}


def _invisible_edges(drawn: Sheet) -> Iterator[DotEdge]:
    """Edges that keep each frame behind the one that it takes its input from."""
    last: dict[int, int] = {}  # where the last edge into each frame comes from
    for arrow in drawn.arrows:
        into = {*drawn.panels[arrow.head].frames} - {*drawn.panels[arrow.tail].frames}
        last |= dict.fromkeys(into, arrow.tail)
    for i, panel in drawn.panels.items():
        if panel.faces[i].role not in ("operation", "output"):
            for tail in {last[frame]: None for frame in panel.frames if frame in last}:
                yield f"n{tail}", f"n{i}", {"style": "invis"}


# -- Tables ---------------------------------------------------------------------------------------


def _joined(panel: Panel, way: str) -> str:
    """A face and those attached to it, side by side where no edge enters or leaves."""
    face, *attached = panel.faces.values()
    tables = [*(_table(x, way) for x in attached), _table(face, way, 'port="op"')]
    if not attached:
        return f"<{tables[0]}>"
    cells = [f"<td>{each}</td>" for each in tables]
    rows = cells if way == "LR" else ["".join(cells)]
    return f"<{_of_rows(rows, BARE)}>"


def _of_rows(rows: Iterable[str], attributes: str) -> str:
    """A table, given the cells of each row."""
    return f"<table {attributes}>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _table(face: Face, way: str, port: str = "") -> str:
    border, style, spacing = sheet.BORDERS[face.role]
    style = f' style="{style}"' if style else ""
    colours = f'color="{face.line}" bgcolor="{face.fill}"'
    rows = _rows(face, way)
    if spacing:
        rows = [f"<td>{_bordered(rows, border, 0, colours + style)}</td>"]
    return _bordered(rows, border, spacing, f"{colours} {port}{style}")


def _bordered(rows: list[str], border: int, spacing: int, more: str) -> str:
    space = f'cellborder="0" cellspacing="{spacing}" cellpadding="0"'
    return _of_rows(rows, f'border="{border}" {space} {more}')


def _rows(face: Face, way: str) -> list[str]:
    """The cells; for an operation with several slots, a narrow one on the side for each of them."""
    if (count := face.slots) == 1:
        return ["".join(_cell(face, x) for x in row) for row in face.rows]
    rows = [f'<td port="a{i}" width="6" height="6"></td>' for i in range(count)]
    ((cell,),) = face.rows
    if way == "TB":
        return ["".join(rows), _cell(face, cell, f' colspan="{count}"')]
    rows[0] += _cell(face, cell, f' rowspan="{count}"')
    rows[0] += f'<td rowspan="{count}" width="6"></td>'
    return rows


def _cell(face: Face, cell: Cell | Image, span: str = "") -> str:
    if isinstance(cell, Image):
        size = f'fixedsize="true" width="{cell.width / 2:g}" height="{cell.height / 2:g}"'
        text = _of_rows([f'<td {size}><img src="{cell.name}" scale="both"/></td>'], BARE)
    else:
        span += f' colspan="{cell.columns}"' * (cell.columns > 1)
        text = "<br/>".join("".join(map(_coloured, line)) for line in cell.lines)
    return f'<td{span} cellpadding="{face.padding}">{text}</td>'


def _coloured(text: Text) -> str:
    font = f'<font color="{text.ink}">{markup(text.content)}</font>'
    return f'<b><font point-size="{text.bold:g}">{font}</font></b>' if text.bold else font


def _legend(entries: list[Face]) -> str:
    """Faces side by side, six in a row."""
    cells = [f"<td>{_table(face, '')}</td>" for face in entries]
    rows = ["".join(cells[i : i + 6]) for i in range(0, len(cells), 6)]
    return _of_rows(rows, 'border="0" cellspacing="4" cellpadding="0"')
