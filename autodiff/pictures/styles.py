"""What each box of a picture says, and its colours."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..scopes import Scope
from ..tracing import Step
from ..value import Value
from .arrangement import Arrangement, Box
from .texts import as_float, finite, in_record, number, short

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


@dataclass
class Facts:
    """What a picture is to show."""

    root: Value
    plan: Arrangement
    labels: dict[Value, str]
    gradients: dict[Value, Any]  # of the nodes whose gradient is shown
    passed: dict[Value, Step]  # the backward pass, if edges or sums show it
    edges: str | None  # these three as `draw` takes them
    color: str | None
    rankdir: str

    @cached_property
    def ids(self) -> dict[Box, str]:
        """What DOT calls each box; a name holds no text of a user."""
        return {box: f"n{i}" for i, box in enumerate(self.plan.boxes)}

    @cached_property
    def terms(self) -> dict[Value, list[Any]]:
        """What each node receives in the backward pass, in that order, if edges show it."""
        terms: dict[Value, list[Any]] = {}
        for step in self.passed.values() if self.edges == "message" else ():
            for parent, _, message in step.messages:
                terms.setdefault(parent, []).append(message)
        return terms


def attributes(box: Box, facts: Facts) -> dict[str, str]:
    """The label of a box, its colours and its border, for Graphviz."""
    fields = _fields(box, facts) if isinstance(box, Value) else _summary(box, facts)
    sense = meaning(box, facts)
    look = {"fillcolor": (COLOURS | SCALE)[sense], **BORDERS.get(_role(box, facts), {})}
    if sense in DARK:
        look["fontcolor"] = "white"
    if not all(finite(x.data) and finite(facts.gradients.get(x)) for x in facts.plan.boxes[box]):
        look |= WARNING | {"fillcolor": "white"}
    return {"label": "{" + "|".join(fields) + "}"} | look


def meaning(box: Box, facts: Facts) -> str:
    """What the colour of a box stands for: its role, or the size of its gradient."""
    if facts.color is None:
        return _role(box, facts)
    size = _largest_gradient(box, facts)
    if size is None:
        return "no gradient"
    if not math.isfinite(size):
        return "nan or inf"
    if size == 0.0:
        return "0"
    power = min(max(math.floor(math.log10(size)), SMALLEST - 1), LARGEST)
    return list(SCALE)[power - LARGEST - 1]


def legend_table(meanings: set[str], color: str | None) -> str:
    """A table of the colours in the picture, in Graphviz's HTML."""
    rows = []
    for sense, colour in (SCALE if color else COLOURS).items():
        if sense in meanings:
            border = 3 if sense == "output" else 1
            text = f'<font color="{"white" if sense in DARK else "black"}">{sense}</font>'
            rows.append(f'<tr><td bgcolor="{colour}" border="{border}">{text}</td></tr>')
    head = "<tr><td><b>|grad|</b></td></tr>" if color else ""
    table = '<table border="0" cellborder="1" cellspacing="0" cellpadding="4">'
    return f"<{table}{head}{''.join(rows)}</table>>"


def _role(box: Box, facts: Facts) -> str:
    if isinstance(box, Scope):
        return "collapsed scope"
    if box.parents:
        return "output" if box is facts.root else "result"
    if box in facts.plan.parameters:
        return "parameter"
    return "input" if box.requires_grad or box in facts.plan.inputs else "constant"


def _fields(node: Value, facts: Facts) -> list[str]:
    label = node.label or facts.labels.get(node, "")
    fields = [in_record(label)] if label else []
    fields.append(f"data {number(node.data)}")
    if node in facts.gradients:
        terms = _spelled(facts.terms.get(node, []))
        fields.append(f"grad {number(facts.gradients[node])}{terms}")
    return fields


def _spelled(terms: list[Any]) -> str:
    """A gradient as the sum of what was sent to a node: " = 2 + 4"; nothing for one term."""
    if len(terms) < 2:
        return ""
    shown = " + ".join(map(short, terms[:LONGEST_SUM])).replace("+ -", "- ")
    more = len(terms) - LONGEST_SUM
    return f" = {shown}" + (f" + … ({more} more)" if more > 0 else "")


def _summary(scope: Scope, facts: Facts) -> list[str]:
    """The fields of a collapsed scope: its name and shape, its parameters, its gradients."""
    plan, members = facts.plan, set(facts.plan.boxes[scope])
    entering = {p for node in members for p in node.parents if p not in members}
    leaving = members & {facts.root}
    for node, box in plan.box_of.items():
        if box is not scope:
            leaving |= members.intersection(node.parents)
    fields = [in_record(f"{title(scope)} {len(entering)} → {len(leaving)}")]
    count = len(scope.module.parameters()) if scope.module else len(members & {*plan.parameters})
    if count:
        fields.append(f"{count} parameters")
    size = _largest_gradient(scope, facts)
    if size is not None:
        fields.append(f"\\|grad\\| ≤ {size:.6g}")
    return fields


def _largest_gradient(box: Box, facts: Facts) -> float | None:
    """The largest |grad| in a box, nan if one is nan; None if there is none."""
    found = [as_float(facts.gradients.get(node)) for node in facts.plan.boxes[box]]
    sizes = [abs(x) for x in found if x is not None]
    return max(sizes, key=lambda x: (math.isnan(x), x), default=None)


def title(scope: Scope) -> str:
    """The name of a scope, after the attribute of the surrounding module that holds its module."""
    if scope.module is not None and scope.outer is not None and scope.outer.module is not None:
        for attribute, held in scope.outer.module._children():
            if held is scope.module:
                return f"{attribute}: {scope.name}"
    return scope.name
