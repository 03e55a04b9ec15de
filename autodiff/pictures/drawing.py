"""The graph as a picture: boxes for Values, round nodes for operations, frames for scopes."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..graph import adjoints, topological_order
from ..scopes import Scope, entry_names
from ..tracing import Step, steps
from ..value import Value
from .arrangement import Arrangement, Box, arrange
from .layout import Drawing
from .styles import (
    COLOURS,
    WARNING,
    Facts,
    attributes,
    finite,
    legend_table,
    meaning,
    plain,
    short,
    title,
)

READABLE = 300  # boxes; with more, no screen shows the text of a box and the whole at once
# On which side edges leave a box, and on which they enter one.
SIDES = {"LR": ("e", "w"), "RL": ("w", "e"), "TB": ("s", "n"), "BT": ("n", "s")}
FONT = "Helvetica,Arial,sans-serif"


def draw(
    root: Value,
    format: str = "svg",
    rankdir: str = "LR",
    *,
    edges: str | None = None,
    names: Mapping[str, Any] | None = None,
    color: str | None = None,
    legend: bool = False,
    collapse: bool | int = False,
) -> Drawing:
    """The computational graph of root: what it was computed from, and how.

    A box is a Value: its label, data and grad. Blue is an input, a leaf that requires a gradient
    or was given to a Module; green a parameter, a leaf that such a Module holds; grey a constant;
    white a result, root with a thick border. A round node is an operation; its arguments come in
    from top to bottom (with rankdir "TB" from left to right), though in a frame fewer crossings
    go before. A frame is a `scope` or the call of a Module. nan and inf are red.

    With edges="local" an edge says the derivative of an operation by its argument, with "message"
    what the backward pass sends along it: upstream × local; and where messages meet, the grad
    spells out their sum. `names`, such as `locals()`, names the Values that have no label: by
    variable, w[0] in a Vector, W[0,1] in a Matrix. With color="grad" the boxes are shaded by
    |grad|, and a legend says how; with `legend` one explains the usual colours.

    With collapse=True the innermost scopes are drawn as one box each, parameters and all; with a
    number, the scopes at that depth, the outermost being 1. Their edges stand for several Values.

    grad is what `backward()` left; before, there is none to show. With edges="message" or
    color="grad" it is the derivative of root, computed for the picture.

    Returns a `graphviz.Digraph`: Jupyter shows it, `.source` is its DOT text, and
    `.render("name")` writes it to a file in the `format` ("svg", "png", "pdf").
    TypeError if root is no Value; ValueError for more boxes than anyone can read.

    >>> a, b = Value(2.0, label="a"), Value(3.0, label="b")
    >>> picture = draw(a * b)
    >>> print(picture.source.splitlines()[4].strip())
    n0 [label="{a|data 2}" fillcolor="#dcebf9"]
    """
    if not isinstance(root, Value):
        raise TypeError(f"draw: found a {type(root).__name__}, expected a Value, such as a loss")
    _check("rankdir", rankdir, *SIDES)
    _check("edges", edges, None, "local", "message")
    _check("color", color, None, "grad")
    if not isinstance(collapse, int) or collapse < 0:
        raise ValueError(f"draw: found collapse {collapse!r}, expected True, False or a depth")
    nodes = topological_order(root)
    plan = arrange(nodes, collapse)
    if len(plan.boxes) > READABLE:
        raise _unreadable(plan, nodes)
    passed: dict[Any, Step] = {step.node: step for step in steps(root)} if edges else {}
    gradients = _gradients(root, nodes, computed=edges == "message" or color == "grad")
    terms = _terms(passed.values()) if edges == "message" else {}
    facts = Facts(root, plan, plan.parameters | _labels(names), gradients, terms)

    picture = Drawing(format=format)
    nodesep = "0.3" if edges else "0.15"  # room for what the edges say
    picture.attr(rankdir=rankdir, bgcolor="white", nodesep=nodesep, ranksep="0.3")
    if len(plan.boxes) > 100:  # the best layout takes minutes, a good one a fraction of a second
        picture.attr(nslimit="0.05", nslimit1="0.05")
    record = {"shape": "record", "style": "filled", "height": "0.3", "margin": "0.08,0.03"}
    picture.attr("node", fontname=FONT, fontsize="11", **record)
    leave, enter = SIDES[rankdir]
    picture.attr("edge", fontname=FONT, fontsize="10", tailport=leave)
    ids = {box: f"n{i}" for i, box in enumerate(plan.boxes)}
    upside_down = rankdir in ("LR", "RL")  # there Graphviz turns over what is inside a frame
    _add_boxes(picture, facts, ids, color, upside_down)
    for box, name in ids.items():
        head = f"{name}op" if isinstance(box, Value) else f"{name}:{enter}"
        into = _edges_into(box, plan, ids, passed.get(box), edges)
        for tail, look in into[::-1] if upside_down and box not in plan.frames[None] else into:
            picture.edge(tail, head, **look)
        if isinstance(box, Value) and box.parents:
            picture.edge(f"{name}op", name)
    if legend or color:
        meanings = {"operation", *(meaning(box, facts, color) for box in plan.boxes)}
        picture.node("legend", legend_table(meanings, color), shape="plain", style="")
    return picture


# -- Boxes and frames ---------------------------------------------------------------------------


def _add_boxes(
    picture: Drawing, facts: Facts, ids: dict[Box, str], color: str | None, upside_down: bool
) -> None:
    frames: dict[Any, Drawing] = {None: picture}
    for i, (scope, inside) in enumerate(facts.plan.frames.items()):
        if scope:
            crowded = not upside_down and any(isinstance(x, Scope) and x in ids for x in inside)
            frames[scope] = _frame(scope, i, crowded)
    for scope, inside in facts.plan.frames.items():
        for box in reversed(inside) if upside_down and scope else inside:
            if box not in frames:
                frames[scope].node(ids[box], **attributes(box, facts, color))
                if isinstance(box, Value) and box.parents:
                    _add_operation(frames[scope], f"{ids[box]}op", box.op)
    for scope, inside in reversed(facts.plan.frames.items()):  # the inner frames first
        for inner in inside:
            if inner in frames:
                frames[scope].subgraph(frames[inner])


def _add_operation(frame: Drawing, name: str, operation: str) -> None:
    shape = "circle" if len(operation) <= 2 else "ellipse"
    colour = COLOURS["operation"]
    frame.node(name, plain(operation), shape=shape, fillcolor=colour, ordering="in")


def _frame(scope: Scope, number: int, crowded: bool) -> Drawing:
    """A frame with its title; where many edges come in from above, out of their way."""
    frame = Drawing(name=f"cluster{number}")
    label = plain(title(scope))
    if crowded:  # below, on the left of the edge that leaves in the middle
        label += "\N{NO-BREAK SPACE}" * (3 * len(label))
        frame.attr(labelloc="b")
    frame.attr(label=label, fontname=FONT, fontsize="11")
    frame.attr(style="rounded", color="#888888", labeljust="l")
    return frame


# -- Edges --------------------------------------------------------------------------------------


def _edges_into(
    box: Box, plan: Arrangement, ids: dict[Box, str], step: Step | None, kind: str | None
) -> list[tuple[str, dict[str, str]]]:
    """Where each edge into a box comes from, in the order of arguments, and how it looks.

    From and to a collapsed scope there is one edge, for however many values.
    """
    edges: list[tuple[str, dict[str, str]]] = []
    bundles: dict[Box, dict[Value, None]] = {}
    for node in plan.boxes[box]:
        for i, parent in enumerate(node.parents):
            origin = plan.box_of.get(parent, box)  # or it is a parameter inside the box
            if node is box and origin is parent:
                edges.append((ids[origin], _told(step, i, kind)))
            elif origin is not box:
                if origin not in bundles:
                    edges.append((ids[origin], {}))
                bundles.setdefault(origin, {})[parent] = None
    counts = {ids[origin]: len(values) for origin, values in bundles.items()}
    return [
        (tail, {"label": _padded(f"{counts[tail]} values")} if counts.get(tail, 1) > 1 else look)
        for tail, look in edges
    ]


def _told(step: Step | None, argument: int, kind: str | None) -> dict[str, str]:
    """The local derivative or the message that an edge shows; nothing for a constant."""
    if step is None or not step.messages[argument].parent.requires_grad:
        return {}
    _, local, message = step.messages[argument]
    text = f"{short(step.adjoint)} × {short(local)} = {short(message)}"
    shown, tells = (text, message) if kind == "message" else (short(local), local)
    return {"label": _padded(shown)} | ({} if finite(tells) else WARNING)


def _padded(text: str) -> str:
    """The label of an edge, which Graphviz would set too close to it."""
    return f"  {text}   ".replace(" ", "\N{NO-BREAK SPACE}")


# -- What is shown ------------------------------------------------------------------------------


def _check(name: str, found: Any, *expected: Any) -> None:
    if found not in expected:
        raise ValueError(
            f"draw: found {name} {found!r}, expected {', '.join(map(repr, expected[:-1]))} or "
            f"{expected[-1]!r}"
        )


def _unreadable(plan: Arrangement, nodes: list[Value]) -> ValueError:
    collapsed = len(arrange(nodes, True).boxes)
    remedy = "draw a smaller case (one sample, fewer units) or an inner node: draw(node)"
    if collapsed < len(plan.boxes):
        remedy = f"collapse=True shows its layers as boxes, {collapsed} in all; or " + remedy
    return ValueError(
        f"draw: found {len(plan.boxes)} nodes, at most {READABLE} can be read in one picture; "
        + remedy
    )


def _labels(names: Mapping[str, Any] | None) -> dict[Value, str]:
    """The names of variables by what they hold; without those of the interpreter, such as _."""
    if names is None:
        return {}
    if not isinstance(names, Mapping):
        raise TypeError(
            f"draw: found names of type {type(names).__name__}, expected a dict from name to "
            "Value, such as locals()"
        )
    public = [(name, held) for name, held in names.items() if not name.startswith("_")]
    return {x: name for pair in reversed(public) for x, name in entry_names(*pair)}


def _gradients(root: Value, nodes: list[Value], computed: bool) -> dict[Value, Any]:
    """The gradients to show: computed for the picture, or those that backward() left, if it has."""
    if computed:
        return {node: grad for node, grad in adjoints(root).items() if node.requires_grad}
    if not isinstance(root.grad, Value) and root.grad == 0.0:
        return {}
    return {node: node.grad for node in nodes if node.requires_grad}


def _terms(passed: Iterable[Step]) -> dict[Value, list[Any]]:
    """What each node receives in the backward pass, in that order."""
    terms: dict[Value, list[Any]] = {}
    for step in passed:
        for parent, _, message in step.messages:
            terms.setdefault(parent, []).append(message)
    return terms
