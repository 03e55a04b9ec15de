"""The picture in DOT, Graphviz's language: nodes, frames, edges and the legend."""

from typing import Any

from ..scopes import Scope
from ..value import Value
from .arrangement import Box
from .styles import COLOURS, FONT, WARNING, Facts, attributes, legend_table, meaning, title
from .texts import escaped, finite, short

# On which side edges leave a box, and on which they enter one.
SIDES = {"LR": ("e", "w"), "RL": ("w", "e"), "TB": ("s", "n"), "BT": ("n", "s")}


def add_frames(picture: Any, facts: Facts) -> None:
    """Add the frames, and in them a node for each box and each operation.

    Graphviz reverses the order inside a frame if the edges run sideways, so it is reversed here.
    """
    sideways = facts.rankdir in ("LR", "RL")
    frames: dict[Any, Any] = {None: picture}
    for i, (scope, inside) in enumerate(facts.plan.frames.items()):
        if scope:
            crowded = not sideways and any(
                isinstance(x, Scope) and x in facts.plan.boxes for x in inside
            )
            frames[scope] = _frame(type(picture)(name=f"cluster{i}"), title(scope), crowded)
    for scope, inside in facts.plan.frames.items():
        for box in reversed(inside) if sideways and scope else inside:
            if box in facts.plan.boxes:
                frames[scope].node(facts.ids[box], **attributes(box, facts))
                if isinstance(box, Value) and box.parents:
                    _add_operation(frames[scope], f"{facts.ids[box]}op", box.op)
    for scope, inside in reversed(facts.plan.frames.items()):  # the inner frames first
        for inner in inside:
            if inner in frames:
                frames[scope].subgraph(frames[inner])


def _add_operation(frame: Any, name: str, operation: str) -> None:
    shape = "circle" if len(operation) <= 2 else "ellipse"
    frame.node(name, escaped(operation), shape=shape, fillcolor=COLOURS["operation"], ordering="in")


def _frame(frame: Any, title: str, crowded: bool) -> Any:
    """A frame with its title; if many edges enter from above, out of their way."""
    label = escaped(title)
    if crowded:  # below, on the left of the edge that leaves in the middle
        label += "\N{NO-BREAK SPACE}" * (3 * len(label))
        frame.attr(labelloc="b")
    frame.attr(label=label, fontname=FONT, fontsize="11")
    frame.attr(style="rounded", color="#888888", labeljust="l")
    return frame


def add_edges(picture: Any, facts: Facts) -> None:
    """Add the edges, those into a box in the order of arguments."""
    outside = facts.plan.frames[None]
    for box, name in facts.ids.items():
        head = f"{name}op" if isinstance(box, Value) else f"{name}:{SIDES[facts.rankdir][1]}"
        into = _edges_into(box, facts)
        turned = facts.rankdir in ("LR", "RL") and box not in outside
        for tail, look in into[::-1] if turned else into:
            picture.edge(tail, head, **look)
        if isinstance(box, Value) and box.parents:
            picture.edge(f"{name}op", name)


def _edges_into(box: Box, facts: Facts) -> list[tuple[str, dict[str, str]]]:
    """Where each edge into a box comes from, and how it looks.

    Collapsed scopes are joined by one edge, however many values it stands for.
    """
    edges: list[tuple[str, dict[str, str]]] = []
    bundles: dict[Box, dict[Value, None]] = {}
    for node in facts.plan.boxes[box]:
        for i, parent in enumerate(node.parents):
            origin = facts.plan.box_of.get(parent, box)  # or it is a parameter inside the box
            if node is box and origin is parent:
                edges.append((facts.ids[origin], _told(node, i, facts)))
            elif origin is not box:
                if origin not in bundles:
                    edges.append((facts.ids[origin], {}))
                bundles.setdefault(origin, {})[parent] = None
    counts = {facts.ids[origin]: len(values) for origin, values in bundles.items()}
    return [
        (tail, {"label": _padded(f"{counts[tail]} values")} if counts.get(tail, 1) > 1 else look)
        for tail, look in edges
    ]


def _told(node: Value, argument: int, facts: Facts) -> dict[str, str]:
    """The local derivative or the message that an edge shows; nothing for a constant."""
    if not facts.edges or not node.parents[argument].requires_grad:
        return {}
    step = facts.passed[node]
    _, local, message = step.messages[argument]
    text = f"{short(step.adjoint)} × {short(local)} = {short(message)}"
    shown, tells = (text, message) if facts.edges == "message" else (short(local), local)
    return {"label": _padded(shown)} | ({} if finite(tells) else WARNING)


def _padded(text: str) -> str:
    """The label of an edge, which Graphviz would set too close to it."""
    return f"  {text}   ".replace(" ", "\N{NO-BREAK SPACE}")


def add_legend(picture: Any, facts: Facts) -> None:
    """Add a table of the colours in the picture."""
    meanings = {"operation", *(meaning(box, facts) for box in facts.plan.boxes)}
    picture.node("legend", legend_table(meanings, facts.color), shape="plain", style="")
