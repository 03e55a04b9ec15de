"""`draw`, which draws a graph, and `Drawing`, the picture: a `graphviz.Digraph`."""

import base64
import html
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import graphviz

from ..errors import a, message, typed
from ..graph import adjoints, topological_order
from ..scopes import entry_names
from ..tracing import steps
from ..value import Value
from .arrangement import Arrangement, arrange
from .description import Words, described, words
from .dot import SIDES, write
from .fit import crossed_ranks, fitted
from .fontconfig import our_fonts
from .layout import Layout
from .styles import THEMES, Facts

READABLE = 300  # boxes; with more, no screen shows the whole with readable texts
EDGES = 700
CROSSED = 50_000  # ranks that edges cross, in all; with more, every layout takes over two seconds
FORMATS = ("svg", "png", "pdf", "eps", "gif", "jpeg", "jpg", "ps", "svgz")  # of any Graphviz
PathLike = str | os.PathLike[str]


class Drawing(graphviz.Digraph):
    """A `graphviz.Digraph` that is laid out in this process.

    `.save("graph.svg")` writes the picture, in the format of the ending (svg, png, pdf ...);
    `.source` is its DOT text, which `.save("graph.gv")` writes. A notebook shows it.
    """

    facts: Facts | None = None  # what it shows, unless arrays
    words: Callable[[], Words] | None = None  # its description
    images: dict[str, bytes]  # the images in its boxes, by their names in DOT

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.images = {}

    def __repr__(self) -> str:
        said = self.words().said if self.words else f"{len(self.body)} lines of DOT"
        return f"<{type(self).__name__}: {said}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **_: Any) -> Any:
        """SVG, and PNG for notebooks that are not trusted, where no SVG is shown."""
        places = Layout(self.source, self.images)
        svg = self._finished(places.written("svg"))
        png, width, height = places.png(svg)
        size: dict[str, Any] = {"width": width, "height": height}
        if self.words:
            size["alt"] = self.words().said
        encoded = base64.b64encode(png).decode()
        bundle = {"text/plain": repr(self), "image/svg+xml": svg.decode(), "image/png": encoded}
        return bundle, {"image/png": size}

    def image(self) -> str:
        """The picture as an HTML element that any page shows, even one that is not trusted."""
        data, size = self._repr_mimebundle_()
        said = html.escape(size["image/png"].get("alt", ""))
        return (
            f'<img alt="{said}" width="{size["image/png"]["width"]}" '
            f'src="data:image/png;base64,{data["image/png"]}">'
        )

    def pipe(self, format: str | None = None, **options: Any) -> Any:
        """The picture as bytes, or as text if an `encoding` is given.

        ValueError for an unknown format; RuntimeError if neither pygraphviz nor the `dot`
        executable is installed.
        """
        encoding, format = options.pop("encoding", None), format or self.format
        if options:  # engine=... is for the executable
            with our_fonts():
                return super().pipe(format, encoding=encoding, **options)
        picture = Layout(self.source, self.images).written(format)
        picture = self._finished(picture) if format == "svg" else picture
        return picture.decode(encoding) if encoding else picture

    def _finished(self, svg: bytes) -> bytes:
        return described(svg, self.words()) if self.words else svg

    def save(
        self, filename: PathLike | None = None, directory: PathLike | None = None, **more: Any
    ) -> str:
        """Write the picture in the format of the ending, or DOT (.gv, .dot or none); its path.

        ValueError for another ending.
        """
        ending = Path(filename or "").suffix[1:].lower()
        if filename is None or ending in ("", "gv", "dot"):
            return str(super().save(filename, directory=directory, **more))
        if ending not in FORMATS:
            expected = f"one that ends in .{', .'.join(FORMATS)} or, for DOT text, .gv"
            raise ValueError(message("save", f"the file name {str(filename)!r}", expected))
        picture = self.pipe(ending)
        path = Path(str(directory or self.directory or ""), filename)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture)
        return str(path)

    def render(
        self, filename: PathLike | None = None, directory: PathLike | None = None,
        view: bool = False, cleanup: bool = False, format: str | None = None, *,
        outfile: PathLike | None = None, **options: Any,
    ) -> str:  # fmt: skip
        """Write the DOT source to `filename` and the picture beside it; returns its path.

        The arguments are those of `graphviz.Digraph.render`: `directory` is where both go, `view`
        opens the picture, `cleanup` removes the source, `format` is the picture's, `outfile` its
        path, by default `filename` with the format as its ending. A `filename` with the
        ending of a picture counts as `outfile`.
        """
        ending = Path(filename or "").suffix[1:].lower()
        if outfile is None and format is None and ending in FORMATS:
            filename, outfile = None, filename
        if outfile is not None:
            outfile = Path(str(directory or self.directory or ""), outfile)
            format = format or outfile.suffix[1:].lower()
            filename = filename or outfile.with_suffix(".gv").name
            directory = directory or outfile.parent
        format = format or self.format
        picture = self.pipe(format, **options)
        source = self.save(filename, directory=directory)
        written = Path(outfile or f"{source}.{format}")
        written.write_bytes(picture)
        if cleanup:
            Path(source).unlink()
        if view:
            self._view(str(written), format=format, quiet=False)
        return str(written)


def draw(
    root: Value,
    format: str = "svg",
    rankdir: str | None = None,
    *,
    edges: str | None = None,
    names: Mapping[str, Any] | None = None,
    color: str | None = None,
    legend: bool = False,
    collapse: bool | int = False,
    theme: str = "light",
    arrays: bool = False,
) -> Drawing:
    """The computational graph of root: what it was computed from, and how.

    A box is a Value: its label, data and grad. Blue is an input, a leaf that requires a gradient
    or was given to a Module; green with a double border a parameter, a leaf that such a Module
    holds; grey and dashed a constant; white a result, root with a thick border; nan and inf are
    red. A rounded box is an operation, with its result if that has no name. Edges enter it in the
    order of its arguments. Leaves that are entries of one vector are a table; parameters stand at
    the operation that uses them. A frame is a `scope` or the call of a Module.

    root: the output.
    format: what `.render` writes, such as "svg", "png", "pdf".
    rankdir: the direction of the edges: "LR", "RL", "TB" or "BT"; by default the one that fits
        on a page. Numbers have six digits if there is room, else fewer.
    edges: "local" shows the derivative of each operation with respect to each argument, "message"
        what the backward pass sends: upstream · local. Where messages meet, grad is their sum.
    names: a dict such as `locals()`; a Value without a label gets the name of its variable, w[0]
        in a Vector, W[0,1] in a Matrix.
    color: "grad" shades the boxes by |grad|, with a legend.
    legend: explains the colours.
    collapse: True draws each innermost scope as one box; a number, the scopes at that depth, 1
        being the outermost.
    theme: "light", or "dark" for dark pages.
    arrays: True shows a network of any size: what a compiled program would put into one array is
        one box, a grid with a cell for each number, shaded by data, or by |grad| with color="grad".

    grad is what `backward()` left, if it was called; with edges="message" or color="grad" it is
    the derivative of root, computed for the picture.

    Returns a `graphviz.Digraph`: Jupyter shows it, `.save("graph.svg")` writes it to a file,
    `.source` is its DOT text. TypeError if root is not a Value; ValueError for an unknown
    option, and for more than 300 boxes.

    >>> a, b = Value(2.0, label="a"), Value(3.0, label="b")
    >>> draw(a * b)
    <Drawing: a·b = 6>
    """
    if not isinstance(root, Value):
        raise TypeError(message("draw", a(root), "a Value, such as a loss"))
    _check("rankdir", rankdir, None, *SIDES)
    _check("edges", edges, None, "local", "message")
    _check("color", color, None, "grad")
    _check("theme", theme, *THEMES)
    if not isinstance(collapse, int) or collapse < 0:
        raise ValueError(message("draw", f"collapse {collapse!r}", "True, False or a depth"))
    if arrays:
        return _draw_arrays(root, format, rankdir, names, color, theme)
    nodes = topological_order(root)
    plan = arrange(nodes, collapse)
    edge_count = sum(len(x.parents) for x in plan.boxes if isinstance(x, Value))
    if len(plan.boxes) > READABLE or edge_count > EDGES:
        raise _unreadable(plan, edge_count)
    passed = {step.node: step for step in steps(root)} if edges else {}
    gradients = _gradients(root, nodes, computed=edges == "message" or color == "grad")
    labels = plan.parameters | _labels(names)
    facts = fitted(Facts(root, plan, labels, gradients, passed, edges, color, theme), rankdir)
    if crossed_ranks(facts) > CROSSED:
        raise _unreadable(plan, edge_count)
    return drawn(facts, format, with_legend=legend or color is not None)


def drawn(facts: Facts, format: str = "svg", with_legend: bool = False) -> Drawing:
    """The drawing that shows `facts`."""
    picture = Drawing(format=format)
    picture.facts = facts
    picture.words = partial(words, facts)
    write(picture, facts, with_legend)
    return picture


def _draw_arrays(
    root: Value, format: str, rankdir: str | None, names: Any, color: str | None, theme: str
) -> Drawing:
    from . import grids

    found = grids.arrays_of(root, _labels(names))
    if len(found) > READABLE:
        expected = f"at most {READABLE}, which can be read in one picture"
        raise ValueError(message("draw", f"{len(found)} arrays", expected, "draw an inner node"))
    gradients = adjoints(root) if color == "grad" else None
    shown = grids.Grids(root, found, gradients, THEMES[theme], rankdir or "LR")
    picture = Drawing(format=format)
    picture.words = partial(grids.words, shown)
    grids.write_grids(picture, shown)
    return picture


def _check(name: str, found: Any, *expected: Any) -> None:
    if found not in expected:
        choices = f"{', '.join(map(repr, expected[:-1]))} or {expected[-1]!r}"
        raise ValueError(message("draw", f"{name} {found!r}", choices))


def _unreadable(plan: Arrangement, edges: int) -> ValueError:
    collapsed = len(arrange(plan.nodes, True).boxes)
    remedy = "draw a smaller case (one sample, fewer units) or an inner node: draw(node)"
    if collapsed < len(plan.boxes):
        remedy = f"collapse=True shows its layers as boxes, {collapsed} in all; or {remedy}"
    found = f"{len(plan.boxes)} nodes"
    if len(plan.boxes) <= READABLE:
        found += f" and {edges} edges, many of them long"
    expected = f"at most {READABLE} nodes and {EDGES} edges, which can be read in one picture"
    return ValueError(message("draw", found, expected, remedy))


def _labels(names: Any) -> dict[Value, str]:
    """The name of the variable that holds each Value, unless it begins with _."""
    if not isinstance(names, Mapping | None) or not all(isinstance(x, str) for x in names or ()):
        found = f"names {typed(names)}"
        raise TypeError(message("draw", found, "a dict from name to Value", "write names=locals()"))
    public = [(name, held) for name, held in (names or {}).items() if not name.startswith("_")]
    return {x: name for pair in reversed(public) for x, name in entry_names(*pair)}


def _gradients(root: Value, nodes: list[Value], computed: bool) -> dict[Value, Any]:
    """The gradients to show: computed for the picture, or those that backward() left, if any."""
    if computed:
        return {node: grad for node, grad in adjoints(root).items() if node.requires_grad}
    if type(root._grad) is float and root._grad == 0.0:
        return {}
    return {node: node.grad for node in nodes if node.requires_grad}
