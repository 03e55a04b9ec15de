"""`draw`, which draws a graph, and `Drawing`, the picture: a `graphviz.Digraph`."""

import base64
import html
import math
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import graphviz

from ..engine.admission import AnyNumber
from ..engine.errors import kind_of, refusal, shortened
from ..engine.graph import adjoints
from ..engine.stepwise import steps
from ..engine.value import Value
from . import dot
from .description import description
from .layout import Layout
from .scene import Scene, scene
from .sheet import SIZE, Notes, Sheet, face_of_box, legend, sheet
from .texts import clean, entry_names, plain

WIDTH = 880  # CSS pixels: the width of a page
TEXT, SMALLEST, COMFORTABLE = SIZE * 4 / 3, 9, 10  # CSS pixels: sizes of texts
READABLE = 300  # boxes; with more, no screen shows the whole with readable texts
EDGES = 700
LEGIBLE = 1000  # CSS pixels; on a page of 900, texts of a wider picture have less than 8
REMEDY = "arrays=True shows networks of any size; or draw an inner node"
PathLike = str | os.PathLike[str]


class Drawing(graphviz.Digraph):
    """A `graphviz.Digraph` that is laid out without the `dot` executable.

    `.save("graph.svg")` writes the picture, in the format of the ending (svg, png, pdf);
    `.source` is its DOT text, which `.save("graph.gv")` writes. A notebook shows it.
    """

    sheet = Sheet({}, [], [], [])  # what is on it, as data
    _laid_out: Layout | None = None

    def __init__(self, alt: str = "", **options: Any) -> None:
        self.alt = clean(alt).replace("\n", " ")  # what it shows, in words
        name = graphviz.nohtml(plain(alt))  # which is the title of an SVG
        given: dict[str, Any] = {"name": name, "filename": "graph.gv"} | options
        super().__init__(**given)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.alt}>"

    def layout(self) -> Layout:
        """The picture laid out, once for each source."""
        if self._laid_out is None or self._laid_out.source != self.source:
            self._laid_out = Layout(self.source, self.sheet.images)
        return self._laid_out

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, str], dict[str, object]]:
        """SVG, and PNG for notebooks that are not trusted, where no SVG is shown."""
        try:
            layout = self.layout()
        except RuntimeError as error:  # no Graphviz: the notebook goes on
            return {"text/plain": f"{self!r}\n{error}"}, {}
        width, height = map(round, layout.size)
        png = base64.b64encode(layout.png()).decode()
        bundle = {"text/plain": repr(self), "image/svg+xml": layout.svg.decode(), "image/png": png}
        return bundle, {"image/png": {"width": width, "height": height, "alt": self.alt}}

    def image(self) -> str:
        """The picture as an HTML element that any page shows, even one that is not trusted."""
        png = base64.b64encode(self.layout().png()).decode()
        about = f'alt="{html.escape(self.alt)}" width="{self.layout().size[0]:.0f}"'
        return f'<img {about} src="data:image/png;base64,{png}">'

    def pipe(self, format: str | None = None, encoding: str | None = None) -> Any:
        """The picture as bytes, or as text if an `encoding` is given.

        ValueError for an unknown format; RuntimeError if neither pygraphviz nor the `dot`
        executable is installed.
        """
        format = format or self.format
        picture = self.layout().svg if format == "svg" else self.layout().written(format)
        return picture.decode(encoding) if encoding else picture

    def save(
        self, filename: PathLike | None = None, directory: PathLike | None = None, **more: Any
    ) -> str:
        """Write the picture in the format of the ending, or DOT (.gv, .dot); its path.

        ValueError for another ending, or none.
        """
        ending = Path(filename or "").suffix[1:].lower()
        if filename is None or ending in ("gv", "dot") or more:  # render says more
            return str(super().save(filename, directory=directory, **more))
        if ending not in ("svg", "png", "pdf"):
            expected = "one that ends in .svg, .png, .pdf or .gv (show_steps(y).save: .html)"
            raise ValueError(refusal("save", f"the file name {str(filename)!r}", expected))
        picture = self.pipe(ending)
        path = Path(str(directory or self.directory or ""), filename)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture)
        return str(path)

    def _render(self, engine: str, format: str, source: str, **more: Any) -> str:
        """The picture that `render` writes, beside the source."""
        written = Path(more["outfile"] or f"{source}.{format}")
        written.write_bytes(self.pipe(format))
        return str(written)


def draw(
    root: Value,
    format: str = "svg",
    rankdir: str | None = None,
    *,
    edges: str | None = None,
    names: Mapping[str, object] | None = None,
    color: str | None = None,
    arrays: bool = False,
) -> Drawing:
    """The computational graph of root: what it was computed from, and how.

    A box is a Value: its label, data in blue, grad in orange. A blue box is an input, a leaf that
    requires a gradient or was given to a Module; a double border is a parameter, a leaf that such
    a Module holds; a constant has none; a rounded one is an operation, root with a thick border;
    nan and inf are red. Edges enter an operation in the order of its arguments. Leaves that are
    entries of one vector are a table, with one edge; parameters stand at the operation that uses
    them. A frame is a `scope` or the call of a Module.

    root: the output.
    format: what `.render` writes, such as "svg", "png", "pdf".
    rankdir: the direction of the edges, "LR" or "TB"; by default the one that fits on a page.
    edges: "local" shows the derivative of each operation with respect to each argument, "message"
        what the backward pass sends: upstream · local. Where messages meet, grad is their sum.
        With more than 30 of them there are none.
    names: a dict such as `locals()`; a Value without a label gets the name of its variable, w[0]
        in a Vector, W[0,1] in a Matrix.
    color: "grad" shades the boxes by |grad|, with a legend.
    arrays: shows a network of any size: what a compiled program would put into one array is one
        box, a grid with a cell for each number, shaded by data, or by |grad| with color="grad".

    grad is what `backward()` left, if it was called; with edges="message" or color="grad" it is
    the derivative of root, computed for the picture.

    Returns a `graphviz.Digraph`: Jupyter shows it, `.save("graph.svg")` writes it to a file,
    `.source` is its DOT text. It is at most 880 pixels wide if it can be; its texts have 9 or
    more. A PNG has two for each, and a white ground unless its `.attr(bgcolor="transparent")` says
    otherwise; other formats have none. TypeError if root is not a Value; ValueError for an unknown
    option and for more than 300 boxes.

    >>> a, b = Value(2.0, label="a"), Value(3.0, label="b")
    >>> draw(a * b)
    <Drawing: a·b = 6>
    """
    if not isinstance(root, Value):
        raise TypeError(refusal("draw", kind_of(root), "a Value, such as a loss"))
    _check("rankdir", rankdir, None, *dot.SIDES)
    _check("edges", edges, None, "local", "message")
    _check("color", color, None, "grad")
    if format not in graphviz.FORMATS:
        _check("format", format, "svg", "png", "pdf")
    if arrays:
        from . import grids  # NumPy

        shown = grids.scene_of_arrays(root, named(names))
    else:
        shown = scene(root, named(names), bool(edges))
    _check_readable(shown)
    passed = {step.node: step for step in steps(root)} if shown.numbered else {}
    gradients = _gradients(shown, computed=edges == "message" or color is not None)
    notes = Notes(shown, gradients, passed, edges, color)
    drawn = sheet(notes, grids.face_of_array if arrays else face_of_box)
    drawn = drawn._replace(legend=legend(notes, drawn))
    titles = [panel.faces[i].title for i, panel in drawn.panels.items()]
    alt = " → ".join(titles) if arrays else description(shown, gradients)
    return _drawing_that_fits(drawn, alt, format, [rankdir] if rankdir else [*dot.SIDES])


def _drawing_that_fits(drawn: Sheet, alt: str, format: str, ways: list[str]) -> Drawing:
    """The picture in the first direction in which it is narrow enough, or else the narrowest."""
    if len(drawn.arrows) > 2 * dot.MANY:
        ways = ways[-1:]  # a layout takes long
    tried = []
    for way in ways:
        tried.append(picture := Drawing(alt, format=format))
        picture.sheet = drawn
        dot.write(picture, drawn, way)
        picture.attr(size=f"{WIDTH / 96:.3f},1000")  # inches
        try:
            if picture.layout().wide <= WIDTH * TEXT / COMFORTABLE:
                break
        except RuntimeError:
            return picture  # no Graphviz: its source can be laid out elsewhere
    picture = min(tried, key=lambda x: x.layout().wide)
    needed = math.ceil(picture.layout().wide * SMALLEST / TEXT)
    if needed > LEGIBLE and not drawn.images:
        expected = f"at most {LEGIBLE} on a page"
        said = refusal("draw", f"a picture of {needed} pixels", expected, REMEDY)
        warnings.warn(said, stacklevel=3)
    if needed > WIDTH:
        layout, size = picture.layout(), f"{needed / 96:.3f},1000"
        picture.attr(size=size)
        layout.source = picture.source  # is laid out already
        layout.measure(size=size)
    return picture


def _gradients(shown: Scene, computed: bool) -> dict[Value, AnyNumber]:
    """The derivatives of the root, computed or as `backward()` left them, if it was called."""
    root = shown.nodes[-1]
    if not computed and type(root._grad) is float and root._grad == 0.0:
        return {}
    found = adjoints(root) if computed else {node: node.grad for node in shown.nodes}
    total: dict[Value, AnyNumber] = {}
    for node, grad in found.items():
        if node.requires_grad:
            one = shown.same.get(node, node)
            total[one] = total[one] + grad if one in total else grad
    return total


def _check_readable(shown: Scene) -> None:
    if len(shown.boxes) > READABLE or len(shown.edges) > EDGES:
        found = f"{len(shown.boxes)} boxes and {len(shown.edges)} edges"
        expected = f"at most {READABLE} boxes and {EDGES} edges"
        raise ValueError(refusal("draw", found, expected, REMEDY))


def _check(name: str, found: object, *expected: object) -> None:
    if found not in expected:
        choices = f"{', '.join(map(repr, expected[:-1]))} or {expected[-1]!r}"
        raise ValueError(refusal("draw", f"{name} {shortened(found)}", choices))


def named(names: Mapping[str, object] | None) -> dict[Value, str]:
    """The name of the variable that holds each Value, unless it begins with _."""
    public = [(name, x) for name, x in (names or {}).items() if not name.startswith("_")]
    return {x: name for pair in reversed(public) for x, name in entry_names(*pair)}
