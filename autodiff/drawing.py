"""The graph as a picture: boxes for Values, round nodes for operations, frames for scopes."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .graph import adjoints, topological_order
from .layout import Drawing
from .scopes import Arrangement, Box, Scope, arrange, entry_names
from .tracing import Step, steps
from .value import Value

READABLE = 300  # boxes; with more, no screen shows the text of a box and the whole at once
LONGEST_LABEL = 40  # characters
LONGEST_SUM = 4  # terms
FONT = "Helvetica,Arial,sans-serif"

COLOURS = {
    "input": "#dcebf9",
    "parameter": "#dcefc8",
    "constant": "#eeeeee",
    "result": "#ffffff",
    "output": "#ffffff",
    "collapsed scope": "#ece4f5",
    "operation": "#fdf0d5",
}
BORDERS = {"constant": {"style": "filled,dashed"}, "output": {"penwidth": "2.5"}}
WARNING = {"color": "#c00000", "fontcolor": "#c00000"}  # nan or inf

# |grad| by powers of ten, light to dark: nine colours of ColorBrewer (YlGnBu), which the
# colour-blind can tell apart too. 0 is none of them, so that dead parts stand out.
SMALLEST, LARGEST = -5, 2
SCALE = {
    "nan or inf": "#ffffff",
    "no gradient": "#ffffff",
    "0": "#bdbdbd",
    "below 1e-05": "#ffffd9",
    "1e-05 to 0.0001": "#edf8b1",
    "0.0001 to 0.001": "#c7e9b4",
    "0.001 to 0.01": "#7fcdbb",
    "0.01 to 0.1": "#41b6c4",
    "0.1 to 1": "#1d91c0",
    "1 to 10": "#225ea8",
    "10 to 100": "#253494",
    "above 100": "#081d58",
}
DARK = ("1 to 10", "10 to 100", "above 100")  # the text on them is white


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

    A box is a Value: its label, data and grad; blue for an input, green for a parameter of a
    Module, grey for a constant, white for a result, with a thick border for root. A round node
    is an operation; its arguments come in from top to bottom (with rankdir "TB" from left to
    right), though in a frame fewer crossings go before. A frame is a `scope` or the call of a
    Module. nan and inf are red.

    With edges="local" an edge says the derivative of an operation by its argument, with "message"
    what the backward pass sends along it: upstream × local; and where messages meet, the grad
    spells out their sum. `names`, such as `locals()`, names the Values that have no label: by
    variable, w[0] in a Vector, W[0,1] in a Matrix. With color="grad" the boxes are shaded by
    |grad|, and a legend says how; with `legend` one explains the usual colours.

    With collapse=True the innermost scopes are drawn as one box each, parameters and all; with a
    number, the scopes at that depth, the outermost being 1.

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
    _check("rankdir", rankdir, "LR", "RL", "TB", "BT")
    _check("edges", edges, None, "local", "message")
    _check("color", color, None, "grad")
    if not isinstance(collapse, int) or collapse < 0:
        raise ValueError(f"draw: found collapse {collapse!r}, expected True, False or a depth")
    nodes = topological_order(root)
    plan = arrange(nodes, collapse)
    if len(plan.boxes) > READABLE:
        raise _unreadable(plan, nodes)
    passed = {step.node: step for step in steps(root)} if edges else {}
    gradients = _gradients(root, nodes, computed=edges == "message" or color == "grad")
    terms = _terms(passed.values()) if edges == "message" else {}
    labels = plan.parameters | _labels(names)

    picture = Drawing(format=format)
    picture.attr(rankdir=rankdir, bgcolor="white", nodesep="0.15", ranksep="0.3")
    if len(plan.boxes) > 100:  # the best layout takes minutes, a good one a fraction of a second
        picture.attr(nslimit="0.05", nslimit1="0.05")
    picture.attr("node", fontname=FONT, fontsize="11", style="filled")
    picture.attr("node", shape="record", height="0.3", margin="0.08,0.03")
    if edges:
        picture.attr(nodesep="0.3")  # room for what they say
    if edges or collapse:
        picture.attr("edge", fontname=FONT, fontsize="10")
    frames: dict[Any, Drawing] = {None: picture}
    frames |= {frame: _frame(frame, i) for i, frame in enumerate(plan.frames) if frame}
    ids = {box: f"n{i}" for i, box in enumerate(plan.boxes)}
    meanings = {"operation"}  # those of the colours in the picture
    upside_down = rankdir in ("LR", "RL")  # there Graphviz turns over what is inside a frame
    for frame, inside in plan.frames.items():
        for box in reversed(inside) if upside_down and frame else inside:
            if box in frames:
                continue
            if isinstance(box, Value):
                label = box.label or labels.get(box, "")
                fields = _fields(box, label, gradients, terms.get(box, []))
            else:
                fields = _summary(box, plan, root, gradients)
            role = _role(box, root, plan)
            meaning = _size(plan.boxes[box], gradients) if color else role
            meanings.add(meaning)
            strange = not all(map(_finite, _numbers(plan.boxes[box], gradients)))
            frames[frame].node(
                ids[box], "{" + "|".join(fields) + "}", **_look(role, meaning, strange)
            )
            if isinstance(box, Value) and box.parents:
                _add_operation(frames[frame], ids[box], box.op)
    for frame, inside in reversed(plan.frames.items()):  # the inner frames first
        for inner in inside:
            if inner in frames:
                frames[frame].subgraph(frames[inner])
    for node, box in plan.box_of.items():
        if box is node and node.parents:
            into = list(_arguments(node, plan, ids, passed.get(node), edges))
            for tail, look in into[::-1] if upside_down and box not in plan.frames[None] else into:
                picture.edge(tail, f"{ids[node]}op", **look)
            picture.edge(f"{ids[node]}op", ids[node])
    for (tail, head), count in _bundles(plan, ids).items():
        picture.edge(tail, head, _padded(f"{count} values") if count > 1 else "")
    if legend or color:
        picture.node("legend", _legend(meanings, color), shape="plain", style="")
    return picture


# -- What is drawn ------------------------------------------------------------------------------


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


def _arguments(
    node: Value, plan: Arrangement, ids: dict[Box, str], step: Step | None, kind: str | None
) -> Iterator[tuple[str, dict[str, str]]]:
    """Where each edge into an operation comes from, and how it looks; without those of scopes."""
    for i, parent in enumerate(node.parents):
        if plan.box_of.get(parent) is not parent:
            continue
        if step is None or not parent.requires_grad:
            yield ids[parent], {}
            continue
        _, local, message = step.messages[i]
        text = f"{_short(step.adjoint)} × {_short(local)} = {_short(message)}"
        told = {"label": _padded(text if kind == "message" else _short(local))}
        strange = not _finite(message if kind == "message" else local)
        yield ids[parent], told | (WARNING if strange else {})


def _bundles(plan: Arrangement, ids: dict[Box, str]) -> dict[tuple[str, str], int]:
    """The edges from and to collapsed scopes, and how many Values each stands for."""
    values: dict[tuple[str, str], set[Value]] = {}
    for node, box in plan.box_of.items():
        head = f"{ids[node]}op" if box is node else ids[box]
        for parent in node.parents:
            tail = plan.box_of.get(parent, box)  # or a parameter inside the box
            if tail is not box and not (tail is parent and box is node):
                values.setdefault((ids[tail], head), set()).add(parent)
    return {ends: len(found) for ends, found in values.items()}


# -- Texts and colours --------------------------------------------------------------------------


def _frame(scope: Scope, number: int) -> Drawing:
    frame = Drawing(name=f"cluster{number}")
    frame.attr(label=_plain(_title(scope)), fontname=FONT, fontsize="11")
    frame.attr(style="rounded", color="#888888", labeljust="l")
    return frame


def _title(scope: Scope) -> str:
    """The name of a scope, after the attribute of the surrounding module that holds its module."""
    if scope.module is not None and scope.outer is not None and scope.outer.module is not None:
        for attribute, held in scope.outer.module._children():
            if held is scope.module:
                return f"{attribute}: {scope.name}"
    return scope.name


def _add_operation(into: Drawing, result: str, name: str) -> None:
    shape = "circle" if len(name) <= 2 else "ellipse"
    colour = COLOURS["operation"]
    into.node(f"{result}op", _plain(name), shape=shape, fillcolor=colour, ordering="in")


def _fields(node: Value, label: str, gradients: dict[Value, Any], terms: list[Any]) -> list[str]:
    fields = [_escaped(label)] if label else []
    fields.append(f"data {number(node.data)}")
    if node in gradients:
        fields.append(f"grad {number(gradients[node])}{_spelled(terms)}")
    return fields


def _spelled(terms: list[Any]) -> str:
    """A gradient as the sum of what was sent to a node: " = 2 + 4"; nothing for one term."""
    if len(terms) < 2:
        return ""
    shown = " + ".join(map(_short, terms[:LONGEST_SUM])).replace("+ -", "- ")
    more = len(terms) - LONGEST_SUM
    return f" = {shown}" + (f" + … ({more} more)" if more > 0 else "")


def _summary(
    scope: Scope, plan: Arrangement, root: Value, gradients: dict[Value, Any]
) -> list[str]:
    """The fields of a collapsed scope: its name and shape, its parameters, its gradients."""
    members = set(plan.boxes[scope])
    entering = {p for node in members for p in node.parents if p not in members}
    leaving = members & {root}
    for node, box in plan.box_of.items():
        if box is not scope:
            leaving |= members.intersection(node.parents)
    fields = [_escaped(f"{_title(scope)} {len(entering)} → {len(leaving)}")]
    count = len(scope.module.parameters()) if scope.module else len(members & {*plan.parameters})
    if count:
        fields.append(f"{count} parameters")
    sizes = [abs(x) for x in map(plain_number, map(gradients.get, members)) if x is not None]
    if sizes:
        fields.append(f"|grad| ≤ {max(sizes):.6g}".replace("|", "\\|"))
    return fields


def _role(box: Box, root: Value, plan: Arrangement) -> str:
    if isinstance(box, Scope):
        return "collapsed scope"
    if box.parents:
        return "output" if box is root else "result"
    if box in plan.parameters:
        return "parameter"
    return "input" if box.requires_grad or box in plan.inputs else "constant"


def _look(role: str, meaning: str, strange: bool) -> dict[str, str]:
    """The attributes of a box that is coloured by its role, or by the size of its gradient."""
    look = {"fillcolor": (COLOURS | SCALE)[meaning], **BORDERS.get(role, {})}
    if meaning in DARK:
        look["fontcolor"] = "white"
    return look | WARNING | {"fillcolor": "white"} if strange else look


def _size(members: list[Value], gradients: dict[Value, Any]) -> str:
    """The part of the SCALE that the largest |grad| belongs to."""
    found = [plain_number(gradients[node]) for node in members if node in gradients]
    sizes = [abs(x) for x in found if x is not None]
    if not sizes:
        return "no gradient"
    if not all(map(math.isfinite, sizes)):
        return "nan or inf"
    if not max(sizes):
        return "0"
    power = math.floor(math.log10(max(sizes)))
    return list(SCALE)[min(max(power, SMALLEST - 1), LARGEST) - LARGEST - 1]


def _legend(meanings: set[str], color: str | None) -> str:
    """A table of the colours in the picture, in Graphviz's HTML."""
    rows = []
    for meaning, colour in (SCALE if color else COLOURS).items():
        if meaning in meanings:
            border = 3 if meaning == "output" else 1
            text = f'<font color="{"white" if meaning in DARK else "black"}">{meaning}</font>'
            rows.append(f'<tr><td bgcolor="{colour}" border="{border}">{text}</td></tr>')
    head = "<tr><td><b>|grad|</b></td></tr>" if color else ""
    table = '<table border="0" cellborder="1" cellspacing="0" cellpadding="4">'
    return f"<{table}{head}{''.join(rows)}</table>>"


def _numbers(members: list[Value], gradients: dict[Value, Any]) -> list[Any]:
    return [x for node in members for x in (node.data, gradients.get(node, 0.0))]


def plain_number(x: Any) -> float | None:
    """x as a float, where it is one; a gradient made with create_graph is a Value."""
    x = x.data if isinstance(x, Value) else x
    return x if isinstance(x, float) else None


def _finite(x: Any) -> bool:
    x = plain_number(x)
    return x is None or math.isfinite(x)


def number(x: Any, digits: int = 6) -> str:
    x = x.data if isinstance(x, Value) else x
    return f"{x:.{digits}g}" if isinstance(x, float) else _escaped(repr(x))


def _padded(text: str) -> str:
    """The label of an edge, which Graphviz would set too close to it."""
    return f"  {text}   ".replace(" ", "\N{NO-BREAK SPACE}")


def _short(x: Any) -> str:
    return number(x, digits=4)


def _escaped(text: str) -> str:
    """Text that Graphviz shows as it is, in a record: no character of it is notation."""
    return "".join(_NOTATION.get(c, c) for c in printable(text))


def _plain(text: str) -> str:
    """The same for a label that is no record, where | and braces are no notation, but <> is."""
    return "".join(_ENTITIES.get(c, c) for c in printable(text))


def printable(text: str) -> str:
    if len(text) > LONGEST_LABEL:
        text = text[: LONGEST_LABEL - 1] + "…"
    text = text.replace("\r\n", "\n").replace("\t", " " * 4)
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\\": "\\\\", "\n": "\\n"}
_ENTITIES |= {" ": "\N{NO-BREAK SPACE}"}
_NOTATION = _ENTITIES | {c: "\\" + c for c in "{}|<>"}
