"""The backward pass to step through: a page with a slider, and a picture that plays by itself.

Both are one drawing that already holds all that the pass will write. An element that shows from
step 2 to step 4 carries "2 4"; showing a step means showing the elements active at that step.
"""

import html
import os
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from ..errors import message, shortened
from ..graph import topological_order
from ..tracing import Step, factor, steps, subscript, written
from ..value import Value
from .drawing import FORMATS, Drawing, draw, drawn
from .layout import Layout
from .styles import FONT
from .texts import number, printable

LARGEST = 60  # nodes
SECONDS = 1.6  # for each step of an animation
HOLD = 2  # times as long for the last one
LIT = "#d55e00"
SVG = "http://www.w3.org/2000/svg"


class StepViewer:
    """The backward pass as a page with a slider, in Jupyter and as an HTML file."""

    def __init__(self, page: str, steps: int, height: int, still: Drawing) -> None:
        self._page, self._steps, self._height, self._still = page, steps, height, still

    def __repr__(self) -> str:
        return f"<StepViewer: a backward pass of {self._steps} steps>"

    def _repr_html_(self) -> str:
        # A frame of its own: its ids and styles meet no others, and its script can reach nothing.
        # In it the last step, for a notebook that is not trusted with frames.
        style = f"width: 100%; height: {self._height}px; border: 0; background: white"
        return (
            f'<iframe title="The backward pass, step by step" sandbox="allow-scripts" '
            f'style="{style}" srcdoc="{html.escape(self._page)}">{self._still.image()}</iframe>'
        )

    def save(self, filename: str | os.PathLike[str]) -> str:
        """Write the page (.html), which needs no network, or its last step (.svg, .png ...).

        Returns the path. ValueError for another ending.
        """
        ending = Path(filename).suffix[1:].lower()
        if ending in FORMATS:
            return self._still.save(filename)
        if ending not in ("html", "htm"):
            found = f"a file name that ends in {Path(filename).suffix!r}"
            raise ValueError(message("StepViewer.save", found, "one in '.html', '.svg' or '.png'"))
        Path(filename).write_text(self._page, encoding="utf-8")
        return str(filename)


def show_steps(root: Value) -> StepViewer:
    """The backward pass from root, one operation at a time, on the drawing of its graph.

    At each step the operation is lit with the edges along which its closure sends something; so
    is its row in the table of values and gradients; and a line says what is added to whose grad.
    A gradient not computed yet is blank. The slider, its buttons and the keys ← → Home
    End go from step to step (in a notebook, click into the picture first). Nodes without a label
    are called v₁, v₂ ... No `grad` is changed.

    Jupyter shows it; `.save("backward.html")` writes it to a file. TypeError if root is not a
    Value over floats; ValueError for more than 60 nodes.

    >>> a, b = Value(-4.0, label="a"), Value(2.0, label="b")
    >>> show_steps(a * b + b**3)
    <StepViewer: a backward pass of 3 steps>
    """
    score = _score(root, "show_steps")
    still = _still(score)
    svg = _drawing(score, still)
    for element in svg.iter():
        if not element.get("data-show", "0 ").startswith("0 "):
            element.set("style", "visibility: hidden")  # at step 0
    width, height = (float(svg.get(side, "0pt")[:-2]) * 4 / 3 for side in ("width", "height"))
    most = max(map(len, score.lines))
    template = resources.files("autodiff.pictures").joinpath("viewer.html").read_text("utf-8")
    page = Template(template).substitute(
        last=len(score.passes),
        least=round(0.65 * width),  # smaller, and the text is too small to read
        lit=LIT,
        font=FONT,
        formulas="\n".join(_formulas(score)),
        picture=ElementTree.tostring(svg, encoding="unicode"),
        rows="\n".join(_rows(score)),
    )
    total = 110 + 24 * min(most, 8) + height + 28 * (len(score.names) + 1)
    return StepViewer(page, len(score.passes), min(round(total), 900), still)


def animate(root: Value, filename: str | os.PathLike[str]) -> str:
    """Write the backward pass from root as an SVG file that plays by itself, over and over.

    It needs no script, so a plain <img> shows it; on paper it is the last step. Returns the path.
    TypeError and ValueError as for `show_steps`.

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
    score = _score(root, "animate")
    svg = _drawing(score, _still(score))
    _add_lines(svg, score)
    last = len(score.passes)
    spans = set()
    for element in svg.iter():
        span = element.attrib.pop("data-show", None)
        if span is not None:
            first, end = map(int, span.split())
            spans.add((first, end))
            element.set("class", f"from{first}to{end}")
            element.set("visibility", "visible" if end == last else "hidden")
    style = Element("style")
    style.text = "\n".join(_keyframes(first, end, last) for first, end in sorted(spans)) + STILL
    svg.insert(0, style)
    Path(filename).write_text(ElementTree.tostring(svg, encoding="unicode"), encoding="utf-8")
    return str(filename)


# -- What happens at each step ------------------------------------------------------------------


class Stage(NamedTuple):
    """A gradient as it stands from one step to another."""

    first: int
    last: int
    gradient: Any


class Score(NamedTuple):
    """All that is to be shown, and when: step 0 sets root's gradient, step i runs passes[i-1]."""

    root: Value
    names: dict[Value, str]  # of all nodes but constants, in topological order
    formulas: dict[Value, str]
    passes: list[Step]
    lines: list[list[str]]  # at each step: what is added to whose grad
    stages: dict[Value, list[Stage]]


def _score(root: Value, caller: str) -> Score:
    nodes = _checked(root, caller)
    names = _names(nodes)
    passes = [step for step in steps(root) if step.node.parents]
    formulas: dict[Value, str] = {}
    lines = [[f"{names[root]}.grad = 1, the derivative of {names[root]} by itself"]]
    sums: dict[Value, list[tuple[int, Any]]] = {root: [(0, 1.0)]}  # after which step it is what
    for i, (node, adjoint, messages) in enumerate(passes, start=1):
        formulas[node], partials = written(node, names)
        lines.append([])
        sent = [each for each in messages if each.parent in names]
        for (parent, partial), (_, local, sends) in zip(partials, sent, strict=True):
            so_far = sums.setdefault(parent, [])
            so_far.append((i, so_far[-1][1] + sends if so_far else sends))
            y, x, up = names[node], names[parent], number(adjoint)
            factors = [
                factor(x).replace("(-", "(−").replace(" - ", " − ") for x in (partial, local)
            ]
            terms = f"{up} · {factors[0]}", f"{up} · {factors[1]}", number(sends)
            line = " = ".join(dict.fromkeys([f"{y}.grad · ∂{y}/∂{x}", *terms]))
            lines[-1].append(f"{x}.grad += {line}   →   {x}.grad = {number(so_far[-1][1])}")
    stages = {x: _staged(so_far, len(passes)) for x, so_far in sums.items()}
    return Score(root, names, formulas, passes, lines, stages)


def _checked(root: Value, caller: str) -> list[Value]:
    """The nodes of the graph, in topological order."""
    if not isinstance(root, Value) or type(root.data) is not float:
        raise TypeError(message(caller, shortened(root), "a Value over floats"))
    if not root.requires_grad:
        raise ValueError(message(caller, "a constant", "a Value that requires a gradient"))
    nodes = topological_order(root)
    if len(nodes) > LARGEST:
        remedy = "take a smaller case (one sample, fewer units) or an inner node"
        raise ValueError(message(caller, f"{len(nodes)} nodes", f"at most {LARGEST}", remedy))
    return nodes


def _names(nodes: list[Value]) -> dict[Value, str]:
    """The labels of nodes, and v₁, v₂ ... for those without; no constants."""
    tracked = [node for node in nodes if node.requires_grad]
    names = {node: " ".join(printable(node.label).split()) for node in tracked}
    unnamed = [node for node in tracked if not names[node]]
    return names | {node: f"v{subscript(i)}" for i, node in enumerate(unnamed, start=1)}


def _staged(sums: list[tuple[int, Any]], last: int) -> list[Stage]:
    """The sums as stages: each holds until the next step that adds something."""
    latest = dict(sums)  # of several in one step, the last
    ends = [*(step - 1 for step in latest), last][1:]
    return [Stage(step, end, x) for (step, x), end in zip(latest.items(), ends)]


# -- The drawing --------------------------------------------------------------------------------


def _still(score: Score) -> Drawing:
    """The drawing of the graph as it is after the pass."""
    names = {name: node for node, name in score.names.items() if not node.label}
    picture = draw(score.root, rankdir="LR", edges="message", names=names)
    assert picture.facts is not None
    return drawn(replace(picture.facts, apart=True))


def _drawing(score: Score, still: Drawing) -> Element:
    """The drawing, with the steps at which each part shows."""
    assert still.facts is not None
    ids = still.facts.ids
    svg = ElementTree.fromstring(Layout(still.source).written("svg"))
    for element in svg.iter():
        element.tag = element.tag.removeprefix(f"{{{SVG}}}")
    svg.set("xmlns", SVG)
    groups: dict[str, list[Element]] = {}
    for group in svg.iter("g"):
        name = re.sub(r":\w+(:\w+)?", "", group.findtext("title", ""))  # without the ports
        groups.setdefault(name, []).append(group)
    last = len(score.passes)
    for node, stages in score.stages.items():
        _add_stages(groups[ids[node]][0], stages, still.facts.digits)
    _light(groups[ids[score.root]], 0)
    for i, (node, _, sent) in enumerate(score.passes, start=1):
        name = ids[node]
        _light(groups[name] + groups[f"{name}op"] + groups[f"{name}op->{name}"], i)
        for j, (parent, *_) in enumerate(sent):
            if parent in score.names:
                said = f"{name}m{j}"
                _light(groups[f"{ids[parent]}->{said}"] + groups[f"{said}->{name}op"], i)
                for text in groups[said][0].findall("text"):
                    _show(text, i, last)
    for group in svg.iter("g"):
        for title in group.findall("title"):
            group.remove(title)  # a browser shows it under the mouse
    return svg


def _add_stages(box: Element, stages: list[Stage], digits: int) -> None:
    """Split the gradient of a box, its last text, into those before it was complete and after."""
    final = box.findall("text")[-1]
    for stage in stages[:-1]:
        earlier = deepcopy(final)
        earlier.text = f"grad {number(stage.gradient, digits)}"
        box.append(earlier)
        _show(earlier, stage.first, stage.last)
    _show(final, stages[-1].first, stages[-1].last)


def _light(groups: list[Element], step: int) -> None:
    """Outline the shapes of some groups at a step."""
    for group in groups:
        for shape in [x for x in group if x.tag in ("path", "polygon", "ellipse")]:
            light = deepcopy(shape)
            light.set("class", "lit")
            arrowhead = shape.tag == "polygon" and group.get("class") == "edge"
            light.set("fill", LIT if arrowhead else "none")
            light.set("stroke", LIT)
            light.set("stroke-width", "2.5")
            group.append(light)
            _show(light, step, step)


def _show(element: Element, first: int, last: int) -> None:
    element.set("data-show", f"{first} {last}")


# -- The page -----------------------------------------------------------------------------------


def _timed(tag: str, content: str, first: int, last: int) -> str:
    """An HTML element that shows from the first to the last of some steps."""
    hidden = "" if first == 0 else ' style="visibility: hidden"'
    return f'<{tag} data-show="{first} {last}"{hidden}>{content}</{tag}>'


def _formulas(score: Score) -> Iterator[str]:
    for i, lines in enumerate(score.lines):
        yield _timed("div", "<br>".join(map(html.escape, lines)), i, i)


def _rows(score: Score) -> Iterator[str]:
    """The trace table: a row for each node, lit when its closure runs."""
    when = {step.node: i for i, step in enumerate(score.passes, start=1)}
    for node, name in score.names.items():
        first, last = when.get(node, -1), when.get(node, -1)
        if node is score.root:
            first = 0
        stages = "".join(
            _timed("span", number(stage.gradient), stage.first, stage.last)
            for stage in score.stages[node]
        )
        cells = name, score.formulas.get(node, ""), number(node.data)
        yield (
            f'<tr data-lit="{first} {max(first, last)}"{" class=lit" if first == 0 else ""}>'
            + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
            + f'<td><span class="stack">{stages}</span></td></tr>'
        )


# -- The animation ------------------------------------------------------------------------------

# Where nothing is to move, only what shows at the last step does.
STILL = "@media (prefers-reduced-motion: reduce) { [class^=from] { animation: none } }"


def _keyframes(first: int, end: int, last: int) -> str:
    """The style of what is to be seen from the first to the end step: its cycle."""
    name, beats = f"from{first}to{end}", last + 1 + HOLD
    times = {0: "hidden", first: "visible"} if first else {0: "visible"}
    if end < last:
        times[end + 1] = "hidden"
    frames = " ".join(f"{100 * t / beats:.4g}% {{ visibility: {v} }}" for t, v in times.items())
    cycle = f"animation: {name} {beats * SECONDS:.4g}s step-end infinite"
    return f".{name} {{ {cycle} }}\n@keyframes {name} {{ {frames} }}\n"


def _add_lines(svg: Element, score: Score) -> None:
    """Make room below the picture, and write there what is added at each step."""
    _, _, width, height = map(float, svg.get("viewBox", "").split())
    longest = max(len(line) for lines in score.lines for line in lines)
    below = height + 8
    width, height = max(width, 6.2 * longest + 16), below + 16 * max(map(len, score.lines))
    svg.set("viewBox", f"0 0 {width:g} {height:g}")
    svg.set("width", f"{width:g}pt")
    svg.set("height", f"{height:g}pt")
    svg.insert(0, Element("rect", width="100%", height="100%", fill="white"))
    for i, lines in enumerate(score.lines):
        for j, line in enumerate(lines, start=1):
            place = {"x": "8", "y": f"{below + 16 * j - 6:g}", "font-size": "12"}
            text = SubElement(svg, "text", place, **{"font-family": FONT})
            text.text = line
            _show(text, i, i)
