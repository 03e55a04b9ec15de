"""The pass over a graph, forward and backward, as an SVG that plays by itself, without a script.

The drawing contains everything that is ever visible. Each part that comes and goes has a CSS
animation of its own, one cycle long, which shows it from one second to another.
"""

import os
from copy import deepcopy
from itertools import accumulate
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from ..errors import message
from ..value import Value
from .score import Score
from .stage import gradient, staged
from .styles import FONT, LIGHT
from .texts import snug

LIT = "#d55e00"
MOVING = 1.0  # seconds for a number to move along an edge
PER_CHARACTER = 0.04  # seconds to read one
PAUSE = 0.8  # seconds more for each step
HOLD = 4.0  # seconds more for the last step
LINE, CHARACTER = 17, 6.4  # points: the height of a line and the width of a character


def animate(root: Value, filename: str | os.PathLike[str]) -> str:
    """Write the pass over the graph of root as an SVG file that plays by itself, over and over.

    First the forward half: values move along the arrows to each operation. Then the backward half:
    messages move against the arrows, and where they meet, their sum grows. It needs no script, so
    a plain <img> shows it; on paper, and for readers who have turned motion off, it is the last
    step. Returns the path. TypeError and ValueError as for `show_steps`.

    >>> import tempfile
    >>> a, b = Value(-4.0, label="a"), Value(2.0, label="b")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = animate(a * b + b**3, f"{folder}/backward.svg")
    ...     os.path.getsize(path) > 0
    True
    """
    if Path(filename).suffix.lower() != ".svg":
        found = f"a file name that ends in {Path(filename).suffix!r}"
        raise ValueError(message("animate", found, "one in '.svg'"))
    score = Score(root, "animate")
    svg = staged(score, None)
    clock = Clock(score)
    for group in list(svg.iter("g")):
        _light(group, clock)
        for text in group.findall("text"):
            _play(group, text, score, clock)
    _send(svg, score, clock)
    _add_lines(svg, score, clock)
    style = Element("style")
    style.text = clock.style()
    svg.insert(0, style)
    Path(filename).write_text(ElementTree.tostring(svg, encoding="unicode"), encoding="utf-8")
    return str(filename)


class Clock:
    """When each step begins, and what is visible from when to when."""

    def __init__(self, score: Score) -> None:
        self.lines = [[score.filled(line) for line in lines] for lines in score.lines]
        times = [PAUSE + MOVING + PER_CHARACTER * len("".join(lines)) for lines in self.lines]
        times[-1] += HOLD
        self.starts = [0.0, *accumulate(times)]  # of the steps, and of the next cycle
        self.spans: set[tuple[float, float]] = set()

    @property
    def end(self) -> float:
        return self.starts[-1]

    def show(self, element: Element, start: float, end: float) -> None:
        """Show an element from one second to another, and at rest if that is the end."""
        self.spans.add((start, end))
        element.set("class", _name(start, end))
        element.set("visibility", "visible" if end == self.end else "hidden")

    def arrival(self, step: int) -> float:
        """When the numbers of a step have arrived."""
        return self.starts[step] + (MOVING if step else 0.0)

    def style(self) -> str:
        """The animations, and a rule that stops them for readers who have turned motion off."""
        found = []
        for start, end in sorted(self.spans):
            times = {0.0: "hidden"} | {start: "visible"}
            times |= {end: "hidden"} if end < self.end else {}
            frames = [f"{100 * t / self.end:.4g}% {{ visibility: {v} }}" for t, v in times.items()]
            name = _name(start, end)
            found.append(f"@keyframes {name} {{ {' '.join(frames)} }}")
            found.append(f".{name} {{ animation: {name} {self.end:.4g}s step-end infinite }}")
        still = "@media (prefers-reduced-motion: reduce) { [class^=from] { animation: none } }"
        return "\n".join([*found, still])


def _name(start: float, end: float) -> str:
    return f"from{1000 * start:.0f}to{1000 * end:.0f}"


def _light(group: Element, clock: Clock) -> None:
    """Outline the shapes of a group at the steps at which it is lit."""
    steps = map(int, group.attrib.pop("data-lit", "").split())
    shapes = [x for x in group if x.tag in ("path", "polygon")]
    for step in steps:
        for shape in shapes:
            light = deepcopy(shape)
            arrowhead = shape.tag == "polygon" and group.get("class") == "edge"
            light.attrib.update({"fill": LIT if arrowhead else "none", "stroke": LIT})
            light.set("stroke-width", "2.5")
            clock.show(light, clock.starts[step], clock.starts[step + 1])
            group.append(light)


def _play(group: Element, text: Element, score: Score, clock: Clock) -> None:
    """Put a copy of a text into the picture for each thing that it says over time."""
    node, kind = text.attrib.pop("data-node", ""), text.get("class", "")
    sent = text.attrib.pop("data-message", "")
    if sent:
        step = score.backward[score.messages[int(sent)].sender]
        text.attrib.update({"paint-order": "stroke", "stroke": "white", "stroke-width": "4"})
        clock.show(text, clock.arrival(step), clock.end)
    if node:
        said = _said(int(node), kind, score)
        ends = [*(clock.arrival(step) for step, _ in said), clock.end][1:]
        for (step, words), end in zip(said, ends):
            new = deepcopy(text)
            new.text = words
            clock.show(new, clock.arrival(step), end)
            group.append(new)
        group.remove(text)


def _said(i: int, kind: str, score: Score) -> list[tuple[int, str]]:
    """What a text of a box says over time, each with the step at which it begins."""
    if kind == "data":
        known = score.forward.get(i, 0), f"data {snug(score.numbers[i])}"
        return [known] if known[0] == 0 else [(0, "data"), known]
    line = ["grad", "sum"].index(kind)
    stages = [(stage.step, gradient(stage, score)[line]) for stage in score.stages[i]]
    return [(0, "grad" if kind == "grad" else ""), *stages]


def _send(svg: Element, score: Score, clock: Clock) -> None:
    """Move values along the arrows, and messages against them."""
    picture = svg.find("g")
    assert picture is not None
    halves = {}
    for group in picture.iter("g"):
        half = group.attrib.pop("data-half", "")
        path = group.find("path")
        if half and path is not None:
            halves[half] = path.get("d", "")
    for m in range(len(score.messages)):
        first, second = halves[f"{m} 1"], halves[f"{m} 2"]
        sent = score.messages[m]
        way = f"{first} L{second.removeprefix('M')}".replace("C", " C")
        forward, backward = score.forward[sent.sender], score.backward[sent.sender]
        _move(picture, way, score.numbers[sent.receiver], clock, forward, "0;0;1;1")
        _move(picture, way, score.numbers[score.local(m) + 1], clock, backward, "1;1;0;0")


def _move(picture: Element, way: str, x: float, clock: Clock, step: int, points: str) -> None:
    """Move a number along a path at the beginning of a step; points: where it is, from 0 to 1."""
    start, said = clock.starts[step], snug(x)
    width = CHARACTER * len(said) + 8
    parcel = SubElement(picture, "g")
    place = {"x": f"{-width / 2:.1f}", "y": "-8", "width": f"{width:.1f}", "height": "15"}
    SubElement(parcel, "rect", place, rx="6", fill=LIT)
    look = {"text-anchor": "middle", "y": "3.5", "font-size": "10", "font-weight": "bold"}
    SubElement(parcel, "text", look, fill="white").text = said
    times = [0.0, start / clock.end, (start + MOVING) / clock.end, 1.0]
    motion = {"path": way, "keyPoints": points, "keyTimes": ";".join(f"{t:.5f}" for t in times)}
    SubElement(
        parcel, "animateMotion", motion,
        calcMode="linear", dur=f"{clock.end:.4g}s", repeatCount="indefinite",
    )  # fmt: skip
    clock.show(parcel, start, start + MOVING)


def _add_lines(svg: Element, score: Score, clock: Clock) -> None:
    """Write the name of each step, and what it computes, below the picture."""
    _, _, width, below = map(float, svg.get("viewBox", "").split())
    longest = max(len(line) for lines in clock.lines for line in lines)
    width = max(width, CHARACTER * longest + 16)
    height = below + 12 + LINE * (1 + max(map(len, clock.lines)))
    svg.attrib.update({"viewBox": f"0 0 {width:g} {height:g}", "font-family": FONT})
    svg.attrib.update({"width": f"{width:g}pt", "height": f"{height:g}pt"})
    svg.insert(0, Element("rect", width="100%", height="100%", fill=LIGHT["background"]))
    for i, lines in enumerate(clock.lines):
        for j, line in enumerate([score.title(i), *lines], start=1):
            place = {"x": "8", "y": f"{below + LINE * j:g}", "font-size": "12"}
            text = SubElement(svg, "text", place, **({"font-weight": "bold"} if j == 1 else {}))
            text.text = line
            clock.show(text, clock.starts[i], clock.starts[i + 1])
