"""The live graph: a page on which inputs are dragged, and values and gradients follow.

Python lays the graph out and writes the last step (see score.py and stage.py); a program that the
compiler wrote in JavaScript computes all numbers again; viewer.js shows them, step by step.
"""

import html
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any
from xml.etree import ElementTree

from ..compiler.expression import Expression
from ..errors import counted, described, message, typed
from ..scopes import entry_names
from ..value import Value
from .drawing import FORMATS, Drawing, draw
from .markup import LONGEST_LIVE_SUM
from .score import Score, Text
from .stage import staged
from .styles import DARK, LIGHT
from .texts import ROOM

MOST_SLIDERS = 8
STILL = "The live graph needs scripts, and a notebook that is trusted; this is its last step."


class StepViewer:
    """The pass over a graph as a page with sliders, in Jupyter and as an HTML file."""

    def __init__(self, page: str, steps: int, height: int, still: Drawing) -> None:
        self._page, self._steps, self._height, self._still = page, steps, height, still

    def __repr__(self) -> str:
        return f"<StepViewer: {counted(self._steps, 'operation')}, forward and backward>"

    def _repr_html_(self) -> str:
        # A frame keeps its ids, styles, script and keys apart from the notebook's. Inside it is the
        # last step, for places that show no frames. (The page is full of double quotes, so it is
        # put in single ones.)
        style = f"width: 100%; height: {self._height}px; border: 0"
        page = html.escape(self._page, quote=False).replace("'", "&#39;")
        return (
            f'<iframe title="The live graph, step by step" sandbox="allow-scripts" '
            f"style=\"{style}\" srcdoc='{page}'><p>{STILL}</p>{self._still.image()}</iframe>"
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


def show_steps(
    root: Value,
    inputs: Iterable[Any] | None = None,
    *,
    rankdir: str | None = None,
    names: Mapping[str, Any] | None = None,
) -> StepViewer:
    """The graph of root, live: inputs to drag, values that run forward, gradients that run back.

    Each input has a slider and a number field. All values, adjoints and messages follow them at
    once, computed by the program that the compiler writes (`Expression.javascript`); what lies
    outside the domain of an operation is red. The pass has two halves, forward and backward, one
    operation at a time: it is lit, like its row in the table, and a line says what is computed,
    with the numbers. What is not computed yet is blank. Play, the slider of steps and the keys
    ← → Home End go from step to step (in a notebook, click into the picture first).

    The graph is the one that was recorded: a choice that Python made on the way, as in
    `x if x > 0 else -x`, stays as it was; `maximum`, `abs`, `relu` and `where` choose anew. If an
    operation of your own cannot be written in JavaScript, there are no sliders, and the page says
    so. No `data` and no `grad` is changed.

    root: the output.
    inputs: up to eight leaves that require a gradient, or Vectors and Matrices of them; by
        default the first eight, inputs before parameters.
    rankdir: the direction of the edges, as `draw` takes it.
    names: names for Values without a label, such as `locals()`, as `draw` takes them.

    Jupyter shows it; `.save("page.html")` writes it to a file, `.save("page.png")` its last
    step. TypeError if root is not a Value over floats or an input not a Value; ValueError for
    more than 60 nodes, for data that was changed after the graph was recorded, and for an input
    that is not a leaf of the graph or requires no gradient.

    >>> a, b = Value(-4.0, label="a"), Value(2.0, label="b")
    >>> show_steps(a * b + b**3)
    <StepViewer: 3 operations, forward and backward>
    """
    score = Score(root, "show_steps", names)
    leaves = [node for node in score.nodes if not node.parents]
    if inputs is None:
        held = score.facts.plan.parameters
        sliders = sorted(leaves, key=lambda x: x in held)[:MOST_SLIDERS]  # inputs first
    else:
        sliders = _chosen(inputs, leaves)
    leaves = list(dict.fromkeys([*sliders, *leaves]))
    program, note = _program(score, leaves)
    if program == "null":
        sliders = []
    svg = staged(score, rankdir)
    width, height = (float(svg.attrib.pop(side)[:-2]) * 4 / 3 for side in ("width", "height"))
    svg.attrib.update({"role": "img", "aria-labelledby": "step lines"})
    read = resources.files("autodiff.pictures").joinpath
    page = Template(read("viewer.html").read_text("utf-8")).substitute(
        style=_dark_picture() + read("viewer.css").read_text("utf-8"),
        script=read("viewer.js").read_text("utf-8"),
        score=_as_json(score, leaves, sliders),
        program=program,
        last=score.last,
        title=score.title(score.last),
        note=html.escape(note),
        most=min(3, max(map(len, score.lines))),
        lines="\n".join(f"<div>{html.escape(score.filled(x))}</div>" for x in score.lines[-1]),
        width=math.ceil(width),
        picture=ElementTree.tostring(svg, encoding="unicode"),
        rows="\n".join(_rows(score)),
    )
    still = draw(root, edges="message", rankdir=rankdir, names=names)
    return StepViewer(
        page, len(score.operations), _height(score, len(sliders), width, height), still
    )


# -- Inputs ---------------------------------------------------------------------------------------


def _chosen(inputs: Any, leaves: list[Value]) -> list[Value]:
    """The leaves in what a user gave as inputs."""
    where = "show_steps, inputs"
    if not isinstance(inputs, Iterable):
        inputs = [inputs]
    found: list[Value] = []
    for item in inputs:
        values = [x for x, _ in entry_names("", item)]
        if not values:
            raise TypeError(message(where, typed(item), "Values, or Vectors or Matrices of them"))
        found += values
    known = set(leaves)
    for x in found:
        if x not in known:
            expected = "leaves of this graph that require a gradient"
            raise ValueError(message(where, described(x), expected))
    if not 0 < len(set(found)) <= MOST_SLIDERS:
        raise ValueError(message(where, counted(len(set(found)), "input"), f"1 to {MOST_SLIDERS}"))
    return list(dict.fromkeys(found))


def _bound(x: float) -> float:
    """The end of a slider: 1, 2 or 5 times a power of ten, at least twice as large as |x|.

    >>> _bound(2.0), _bound(-4.0), _bound(0.0)
    (5.0, 10.0, 1.0)
    """
    if not 1e-300 < abs(x) < 1e300:
        return 1.0
    power = 10.0 ** math.floor(math.log10(2 * abs(x)))
    return next(n * power for n in (1.0, 2.0, 5.0, 10.0, 20.0) if n * power >= 2 * abs(x))


def _program(score: Score, leaves: list[Value]) -> tuple[str, str]:
    """The program that computes all numbers from those of the leaves, and a note about it."""
    try:
        program = Expression(score.root).javascript(leaves, wrt=leaves, nodes=score.nodes)
    except TypeError as error:
        return "null", f"No input can be dragged: no program of this graph can be written. {error}"
    note = "Drag an input. What Python decided outside of the graph (if, x.data) stays as it was."
    return program, note


# -- The page -------------------------------------------------------------------------------------


def _as_json(score: Score, leaves: list[Value], sliders: list[Value]) -> str:
    """What viewer.js needs to know about a score. No text in it can end the script."""
    held = {
        "last": score.last,
        "room": len(ROOM),
        "terms": LONGEST_LIVE_SUM,
        "inputs": [x.data for x in leaves],
        "sliders": [
            {"name": score.names[score.place[x]], "bound": _bound(x.data)} for x in sliders
        ],
        "numbers": score.numbers,
        "nodes": [_node(score, i) for i in range(len(score.nodes))],
        "messages": [
            sent._asdict() | {"place": score.local(m), "trouble": score.steep(m)}
            for m, sent in enumerate(score.messages)
        ],
        "lines": score.lines,
    }
    return json.dumps(held, ensure_ascii=False).replace("<", "\\u003c")


def _node(score: Score, i: int) -> dict[str, Any]:
    trouble: Text | None = None
    limits = ""
    if i in score.forward:
        trouble, limits = score.trouble(i)
    return {
        "forward": score.forward.get(i, 0),
        "backward": score.backward.get(i),
        "stages": [stage._asdict() for stage in score.stages[i]],
        "parents": [score.place[x] for x in score.nodes[i].parents if x in score.place],
        "trouble": trouble,
        "domain": limits,
    }


def _rows(score: Score) -> Iterator[str]:
    """The trace table: a row for each node, lit when its operation or its closure runs."""
    for i, node in enumerate(score.nodes):
        steps = [score.forward[i], score.backward[i]] if i in score.forward else []
        if node is score.root:
            steps.append(len(score.operations) + 1)
        lit = f' data-lit="{" ".join(map(str, steps))}"' if steps else ""
        formula = score.filled(score.formulas[i], names=True)
        value, gradient = score.filled([i]), score.filled([score.stages[i][-1].place])
        yield (
            f"<tr{lit}><td>{html.escape(score.names[i])}</td><td>{html.escape(formula)}</td>"
            f'<td class="value" data-node="{i}">{value}</td>'
            f'<td class="gradient" data-node="{i}">{gradient}</td></tr>'
        )


def _dark_picture() -> str:
    """The colours of the picture on a dark page."""
    colours = {LIGHT[role]: DARK[role] for role in reversed(LIGHT)}
    rules = [
        f"  svg [{kind}='{light}'] {{ {kind}: {dark} }}"
        for light, dark in colours.items()
        for kind in ("fill", "stroke")
    ]
    return "\n".join(["@media (prefers-color-scheme: dark) {", *rules, "}", ""])


def _height(score: Score, sliders: int, width: float, height: float) -> int:
    """The height of the page in pixels, if it is 900 wide."""
    table = 25 * (len(score.nodes) + 1)
    formulas = [score.filled(formula, names=True) for formula in score.formulas]
    beside = 8.5 * (max(map(len, score.names)) + max(map(len, formulas)) + 24)
    panes = max(height, table) if width + beside < 860 else height + table
    lines = 23 * min(6, max(map(len, score.lines)))
    return round(min(150 + 36 * -(-(sliders + 1) // 3) + lines + panes, 960))
