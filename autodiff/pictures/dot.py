"""The picture in DOT, Graphviz's language: nodes, frames, edges and the legend."""

from collections.abc import Iterator
from typing import Any

from ..scopes import Scope
from ..value import Value
from .arrangement import Box
from .edges import edges_into, slots
from .fit import effort, estimated_width, ranksep
from .markup import card, leaves, legend, operation, title
from .styles import FONT, Facts
from .texts import markup

SIDES = {"LR": "ew", "RL": "we", "TB": "sn", "BT": "ns"}  # where edges leave a box, and enter it


def write(picture: Any, facts: Facts, with_legend: bool) -> None:
    """Write the nodes, frames and edges of a picture into an empty `graphviz.Digraph`."""
    text = {"fontname": FONT, "fontsize": f"{facts.size:g}", "fontcolor": facts.colours["text"]}
    picture.attr(rankdir=facts.rankdir, bgcolor=facts.colours["background"], **text)
    picture.attr(ranksep=f"{ranksep(facts):.2f}", nodesep="0.08", **effort(facts))
    picture.attr("node", shape="plain", **text)
    picture.attr("edge", color=facts.colours["text"], arrowsize="0.6")
    frames: dict[Scope | None, Any] = {None: picture}
    for i, scope in enumerate(facts.plan.frames):
        if scope:
            frames[scope] = _frame(type(picture)(name=f"cluster{i}"), scope, facts)
    _add_boxes(frames, facts)
    edges = [
        edge
        for box in facts.ids
        for edge in _edges(box, frames[(None, *facts.around[box])[-1]], facts)
    ]
    edges += _invisible_edges(facts)
    for scope, inside in reversed(facts.plan.frames.items()):  # the inner frames first
        for inner in inside:
            if isinstance(inner, Scope) and inner in frames:
                frames[scope].subgraph(frames[inner])
    for tail, head, look in edges:  # last: nodes stand in the order in which they first appear
        picture.edge(tail, head, **look)
    if with_legend:  # as the label of the whole picture, it stands below and stretches nothing
        columns = max(3, int(estimated_width(facts) // 75))
        picture.attr(label=legend(facts, columns), labelloc="b")


def _frame(frame: Any, scope: Scope, facts: Facts) -> Any:
    """A frame with its title, at the top or the bottom, whichever fewer edges cross."""
    enter = leave = 0
    for box, around in facts.around.items():
        for edge in edges_into(box, facts).values() if box in facts.ids else ():
            inside = scope in facts.around[edge.origin]
            enter += scope in around and not inside
            leave += inside and scope not in around
    side = "b" if enter > leave and not facts.sideways else "t"  # with BT, t is the bottom
    end = facts.rankdir == "LR" and facts.edges  # in crowded frames, where edges leave
    frame.attr(label=f"<{markup(title(scope))}>", labeljust="r" if end else "l", labelloc=side)
    frame.attr(style="rounded", color=facts.colours["frame"], margin="4")
    return frame


def _add_boxes(frames: dict[Scope | None, Any], facts: Facts) -> None:
    placed = {entries[0]: entries for entries in facts.leaves}
    for group in facts.attached.values():
        for entries in group:
            del placed[entries[0]]
    for scope, inside in facts.plan.frames.items():
        # Graphviz turns the order over inside a frame if the edges run sideways
        for box in reversed(inside) if scope and facts.sideways else inside:
            if isinstance(box, Value) and box.parents:
                _add_result(frames[scope], box, facts)
            elif isinstance(box, Scope):
                if box in facts.ids:
                    frames[scope].node(facts.ids[box], f"<{card(box, facts)}>")
            elif box in placed:
                frames[scope].node(facts.ids[box], f"<{leaves(placed[box], facts)}>")


def _add_result(frame: Any, node: Value, facts: Facts) -> None:
    name, named = facts.ids[node], facts.label(node)
    order = {"ordering": "in"} if slots(node) or facts.edges else {}
    frame.node(f"{name}op" if named else name, operation(node, facts, slots(node)), **order)
    if named:
        frame.node(name, f"<{card(node, facts)}>")


def _invisible_edges(facts: Facts) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Edges that keep each frame behind the one that it takes its input from."""
    last: dict[Scope, Box] = {}  # the box that the last edge into each frame comes from
    for box in facts.ids:
        for edge in edges_into(box, facts).values():
            for scope in set(facts.around[box]) - set(facts.around[edge.origin]):
                last[scope] = edge.origin
    attached = {entries[0] for group in facts.attached.values() for entries in group}
    for leaf, *_ in facts.leaves:
        if leaf not in attached:
            for origin in [last[scope] for scope in facts.around[leaf] if scope in last]:
                name = facts.ports[origin].partition(":")[0]
                yield name, facts.ids[leaf], {"style": "invis"}


def _edges(box: Box, frame: Any, facts: Facts) -> Iterator[tuple[str, str, dict[str, str]]]:
    """The edges into a box: tail, head and look.

    The text on an edge becomes a node, in the frame of the box, so that other edges avoid it.
    """
    out, into = tuple(SIDES[facts.rankdir])
    head, count = facts.ids[box], 0
    if isinstance(box, Value) and box.parents:
        count = slots(box)
        if facts.label(box):
            yield f"{head}op:op:{out}", f"{head}:{into}", {}
            head = f"{head}op"
    for i, edge in edges_into(box, facts).items():
        port = f":a{i}" if count else ":op" if box in facts.attached else ""
        tail, end = f"{facts.ports[edge.origin]}:{out}", f"{head}{port}:{into}"
        warning = facts.colours["warning"]
        look = {"color": warning, "fontcolor": warning} if edge.alarming else {}
        if edge.says:
            middle = f"{facts.ids[box]}m{i}"
            frame.node(middle, f"<{markup(edge.says)}>", fontsize="9", margin="0.03,0", **look)
            yield tail, f"{middle}:{into}", look | {"arrowhead": "none"}
            tail = f"{middle}:{out}"
        yield tail, end, look
