"""What each box of a picture means, and how that looks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..scopes import Scope
from ..tracing import Step
from ..value import Value
from .arrangement import Arrangement, Box, uses_of, vectors
from .texts import as_float, finite

FONT = "Liberation Sans,Arial,Helvetica,sans-serif"  # as wide as the font of the layout

# The colours of a theme: of what a box means, of lines, text and the background, of nan and inf.
LIGHT = {
    "input": "#dcebf9",
    "parameter": "#dcefc8",
    "constant": "#eeeeee",
    "operation": "#fdf0d5",
    "result": "#ffffff",
    "output": "#ffffff",
    "collapsed scope": "#ece4f5",
    "background": "#ffffff",
    "text": "#000000",
    "frame": "#888888",
    "warning": "#c00000",
}
DARK = {
    "input": "#1c3a57",
    "parameter": "#2b4518",
    "constant": "#3a3a3a",
    "operation": "#54400f",
    "result": "#1e1e1e",
    "output": "#1e1e1e",
    "collapsed scope": "#40305a",
    "background": "#111111",
    "text": "#eeeeee",
    "frame": "#999999",
    "warning": "#ff8a80",
}
THEMES = {"light": LIGHT, "dark": DARK}

# Without colours, a border tells what a box means: (thickness, style, space between two borders).
BORDERS = {
    "parameter": (1, "", 2),
    "constant": (1, "dashed", 0),
    "operation": (1, "rounded", 0),
    "output": (3, "", 0),
    "collapsed scope": (1, "rounded", 2),
}

# |grad| by powers of ten, light to dark: nine colours of ColorBrewer (YlGnBu), which the
# colour-blind can tell apart too. 0 has a grey of its own, so that dead parts stand out.
SMALLEST, LARGEST = -5, 2
SCALE = {
    "nan or inf": "#ffffff",
    "no gradient": "#ffffff",
    "0": "#bdbdbd",
    "below 1e−5": "#ffffd9",
    "1e−5 to 0.0001": "#edf8b1",
    "0.0001 to 0.001": "#c7e9b4",
    "0.001 to 0.01": "#7fcdbb",
    "0.01 to 0.1": "#41b6c4",
    "0.1 to 1": "#1d91c0",
    "1 to 10": "#225ea8",
    "10 to 100": "#253494",
    "above 100": "#081d58",
}
DARKEST = ("1 to 10", "10 to 100", "above 100")  # the text on them is white


@dataclass(frozen=True)
class Facts:
    """What a picture shows."""

    root: Value
    plan: Arrangement
    labels: dict[Value, str]
    gradients: dict[Value, Any]  # of the nodes whose gradient is shown
    passed: Mapping[Value, Step]  # the backward pass, if edges show it
    edges: str | None  # these four as `draw` takes them
    color: str | None
    theme: str
    rankdir: str = "LR"
    digits: int = 6
    size: float = 10.5  # of the font, in points
    live: bool = False  # with room for other numbers, and each leaf in a box of its own

    @cached_property
    def ids(self) -> dict[Box, str]:
        """The name of each box in DOT; it contains no text of the user."""
        return {box: f"n{i}" for i, box in enumerate(self.plan.boxes)}

    @cached_property
    def leaves(self) -> list[list[Value]]:
        """The leaves, each alone or with the other entries of a vector.

        A leaf whose gradient is spelled out as a sum stands alone.
        """
        uses = uses_of(self.plan)
        together = vectors(self.plan, uses, self.label)
        if self.edges == "message":
            single = [len(self.terms.get(each[0], [])) < 2 for each in together]
            together = [
                each for each, one in zip(together, single) if one or not each[0].requires_grad
            ]
        if self.live:
            together = [entries for entries in together if not entries[0].requires_grad]
        placed = {leaf for entries in together for leaf in entries}
        return together + [[leaf] for leaf in uses if leaf not in placed]

    @cached_property
    def attached(self) -> dict[Box, list[list[Value]]]:
        """The parameters that only one operation uses, which they are drawn at, without edges."""
        found: dict[Box, list[list[Value]]] = {}
        uses = uses_of(self.plan)
        for entries in self.leaves if not self.edges else ():
            if entries[0] in self.plan.parameters and len(uses[entries[0]]) == 1:
                found.setdefault(uses[entries[0]][0], []).append(entries)
        return found

    def down(self, entries: Sequence[Value]) -> bool:
        """Whether the entries of a vector stand below one another: no edge runs down from them."""
        held = any(entries[0] is each[0] for group in self.attached.values() for each in group)
        return self.sideways or held

    @cached_property
    def around(self) -> dict[Box, tuple[Scope, ...]]:
        """The frames around each box, the outermost first."""
        around: dict[Box, tuple[Scope, ...]] = {}
        for scope, inside in self.plan.frames.items():
            around |= dict.fromkeys(inside, (*around[scope], scope) if scope else ())
        return around

    @cached_property
    def ports(self) -> dict[Box, str]:
        """Where the edges of each box leave: a node of DOT, or a row of one."""
        ports = dict(self.ids)
        ports |= {
            node: f"{ports[node]}:op"
            for node in self.attached
            if isinstance(node, Value) and not self.label(node)
        }
        for entries in self.leaves:
            if len(entries) > 1:
                name = self.ids[entries[0]]
                ports |= {leaf: f"{name}:r{i}" for i, leaf in enumerate(entries)}
        return ports

    @cached_property
    def terms(self) -> dict[Value, list[Any]]:
        """The messages to each node in the backward pass, in order, if edges show them."""
        terms: dict[Value, list[Any]] = {}
        for step in self.passed.values() if self.edges == "message" else ():
            for parent, _, message in step.messages:
                terms.setdefault(parent, []).append(message)
        return terms

    @property
    def colours(self) -> dict[str, str]:
        return THEMES[self.theme]

    @property
    def sideways(self) -> bool:
        return self.rankdir in ("LR", "RL")

    def label(self, node: Value) -> str:
        """The label of a node, or the name that it has elsewhere."""
        return node.label or self.labels.get(node, "")


class Look:
    """How a box looks: its fill, the colour of its text and lines, its border."""

    def __init__(self, box: Box, facts: Facts, nodes: list[Value]) -> None:
        sense, role = meaning(box, facts), role_of(box, facts)
        colours = facts.colours
        if facts.color is None:
            self.fill, self.text = colours[sense], colours["text"]
        else:
            self.fill, self.text = SCALE[sense], "#ffffff" if sense in DARKEST else "#000000"
        self.line = colours["text"]
        self.border, self.style, self.spacing = BORDERS.get(role, (1, "", 0))
        if not all(finite(x.data) and finite(facts.gradients.get(x)) for x in nodes):
            self.fill, self.text = colours["result"], colours["warning"]
            self.line = self.text


def role_of(box: Box, facts: Facts) -> str:
    """What a box is: an input, a parameter, a result ..."""
    if isinstance(box, Scope):
        return "collapsed scope"
    if box.parents:
        return "output" if box is facts.root else "result" if facts.label(box) else "operation"
    if box in facts.plan.parameters:
        return "parameter"
    return "input" if box.requires_grad or box in facts.plan.inputs else "constant"


def meaning(box: Box, facts: Facts) -> str:
    """What the colour of a box stands for: its role, or the size of its gradient."""
    if facts.color is None:
        return role_of(box, facts)
    size = largest_gradient(box, facts)
    if size is None:
        return "no gradient"
    if not math.isfinite(size):
        return "nan or inf"
    if size == 0.0:
        return "0"
    power = min(max(math.floor(math.log10(size)), SMALLEST - 1), LARGEST)
    return list(SCALE)[power - LARGEST - 1]


def largest_gradient(box: Box, facts: Facts) -> float | None:
    """The largest |grad| in a box, nan if one is nan; None if there is none."""
    found = [as_float(facts.gradients.get(node)) for node in facts.plan.boxes[box]]
    sizes = [abs(x) for x in found if x is not None]
    return max(sizes, key=lambda x: (math.isnan(x), x), default=None)
