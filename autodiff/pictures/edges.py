"""The edges of a picture: where each comes from, and the text on it."""

from typing import NamedTuple

from ..value import Value
from .arrangement import TAKING_VECTORS, Box
from .styles import Facts
from .texts import ROOM, finite, short

SLOTS = 8  # an operation with more arguments has one slot for all


class Edge(NamedTuple):
    """An edge into a box."""

    origin: Box
    says: str = ""
    alarming: bool = False  # it says nan or inf


def edges_into(box: Box, facts: Facts) -> dict[int, Edge]:
    """The edges into a box, by argument.

    Collapsed scopes are joined by one edge, however many values it stands for.
    """
    edges: dict[int, Edge] = {}
    bundles: dict[Box, tuple[int, set[Value]]] = {}
    held = {leaf for group in facts.attached.get(box, []) for leaf in group}
    for node in facts.plan.boxes[box]:
        for i, parent in enumerate(node.parents):
            if parent in held:
                continue
            origin = facts.plan.box_of.get(parent, box)  # or it is a parameter inside the box
            if node is box and origin is parent:
                edges[i] = _edge(node, i, facts)
            elif origin is not box:
                place = i if node is box else len(bundles)
                bundles.setdefault(origin, (place, set()))[1].add(parent)
    for origin, (i, values) in bundles.items():
        edges[i] = Edge(origin, f"{len(values)} values" if len(values) > 1 else "")
    return edges


def _edge(node: Value, argument: int, facts: Facts) -> Edge:
    """An edge with the local derivative or the message on it; without if it is for a constant."""
    parent = node.parents[argument]
    if not facts.edges or not parent.requires_grad:
        return Edge(parent)
    step = facts.passed[node]
    _, local, message = step.messages[argument]
    if facts.live:
        return Edge(parent, ROOM)
    if facts.edges == "local":
        return Edge(parent, short(local), not finite(local))
    factor = f"({short(local)})" if short(local).startswith("−") else short(local)
    return Edge(parent, f"{short(step.adjoint)} · {factor} = {short(message)}", not finite(message))


def slots(node: Value) -> int:
    """How many slots an operation has: one for each argument if their order matters, else 0."""
    count = len(node.parents)
    alike = node.op in TAKING_VECTORS and len(set(node.parents)) == count
    return 0 if alike or not 1 < count <= SLOTS else count
