"""`draw`, the graph as a picture, and `Drawing`, the picture: a `graphviz.Digraph`."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import graphviz

from ..errors import a, message
from ..graph import adjoints, topological_order
from ..scopes import entry_names
from ..tracing import steps
from ..value import Value
from . import layout
from .arrangement import Arrangement, arrange
from .dot import SIDES, write
from .fit import fitted
from .styles import THEMES, Facts

READABLE = 300  # boxes; with more, no screen shows the text of a box and the whole at once


class Drawing(graphviz.Digraph):
    """A `graphviz.Digraph` that is laid out in this process."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.body)} lines of DOT>"

    def pipe(self, format: str | None = None, **options: Any) -> Any:
        """The picture as bytes, or as text if an `encoding` is given.

        RuntimeError if neither pygraphviz nor the `dot` executable is installed.
        """
        encoding, format = options.pop("encoding", None), format or self.format
        if not options and layout.pygraphviz_module():  # engine=... is for the executable
            picture = layout.laid_out(self.source, format)
            return picture.decode(encoding) if encoding else picture
        try:
            return super().pipe(format, encoding=encoding, **options)
        except graphviz.ExecutableNotFound:
            raise RuntimeError(
                message("draw", "no Graphviz", "pygraphviz or the dot executable",
                        "run `pip install pygraphviz`; .source holds the DOT text")
            ) from None  # fmt: skip

    def render(
        self,
        filename: str | os.PathLike[str] | None = None,
        directory: str | os.PathLike[str] | None = None,
        view: bool = False,
        cleanup: bool = False,
        format: str | None = None,
        *,
        outfile: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> str:
        """Write the DOT source to `filename` and the picture beside it; returns its path.

        The arguments are those of `graphviz.Digraph.render`: `directory` is where both go, `view`
        opens the picture, `cleanup` removes the source, `format` is the picture's, `outfile` its
        path, by default `filename` with the format as its ending.
        """
        if outfile is not None:
            outfile = Path(directory or self.directory, outfile)
            format = format or outfile.suffix[1:]
            filename = filename or outfile.with_suffix(".gv").name
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
) -> Drawing:
    """The computational graph of root: what it was computed from, and how.

    A box is a Value: its label, data and grad. Blue is an input, a leaf that requires a gradient
    or was given to a Module; green a parameter, a leaf that such a Module holds; grey a constant;
    white a result, root with a thick border; nan and inf are red. A round node is an operation,
    with its arguments from top to bottom (from left to right if rankdir is "TB"; inside a frame,
    avoiding crossings has priority). A frame is a `scope` or the call of a Module.

    root: the output. format: of `.render`, such as "svg", "png", "pdf".
    rankdir: the direction of the edges: "LR", "RL", "TB" or "BT".
    edges: "local" shows the derivative of each operation with respect to each argument, "message"
        what the backward pass sends: upstream × local. Where messages meet, grad is their sum.
    names: a dict such as `locals()`; a Value without a label gets the name of its variable, w[0]
        in a Vector, W[0,1] in a Matrix.
    color: "grad" shades the boxes by |grad|, with a legend.
    legend: explains the colours.
    collapse: True draws each innermost scope as one box; a number, the scopes at that depth, 1
        being the outermost.

    grad is what `backward()` left, if it was called; with edges="message" or color="grad" it is
    the derivative of root, computed for the picture.

    Returns a `graphviz.Digraph`: Jupyter shows it, `.source` is its DOT text, `.render("name")`
    writes it to a file. TypeError if root is not a Value; ValueError for an unknown option, and
    for more than 300 boxes.

    >>> a, b = Value(2.0, label="a"), Value(3.0, label="b")
    >>> picture = draw(a * b)
    >>> print(picture.source.splitlines()[4].strip())
    n0 [label="{a|data 2}" fillcolor="#dcebf9"]
    """
    if not isinstance(root, Value):
        raise TypeError(message("draw", a(root), "a Value, such as a loss"))
    _check("rankdir", rankdir, None, *SIDES)
    _check("edges", edges, None, "local", "message")
    _check("color", color, None, "grad")
    _check("theme", theme, *THEMES)
    if not isinstance(collapse, int) or collapse < 0:
        raise ValueError(message("draw", f"collapse {collapse!r}", "True, False or a depth"))
    nodes = topological_order(root)
    plan = arrange(nodes, collapse)
    if len(plan.boxes) > READABLE:
        raise _unreadable(plan, nodes)
    passed = {step.node: step for step in steps(root)} if edges else {}
    gradients = _gradients(root, nodes, computed=edges == "message" or color == "grad")
    labels = plan.parameters | _labels(names)
    facts = fitted(Facts(root, plan, labels, gradients, passed, edges, color, theme), rankdir)
    picture = Drawing(format=format)
    picture.facts = facts
    write(picture, facts, with_legend=legend or color is not None)
    return picture


def _check(name: str, found: Any, *expected: Any) -> None:
    if found not in expected:
        choices = f"{', '.join(map(repr, expected[:-1]))} or {expected[-1]!r}"
        raise ValueError(message("draw", f"{name} {found!r}", choices))


def _unreadable(plan: Arrangement, nodes: list[Value]) -> ValueError:
    collapsed = len(arrange(nodes, True).boxes)
    remedy = "draw a smaller case (one sample, fewer units) or an inner node: draw(node)"
    if collapsed < len(plan.boxes):
        remedy = f"collapse=True shows its layers as boxes, {collapsed} in all; or {remedy}"
    return ValueError(
        message(
            "draw",
            f"{len(plan.boxes)} nodes",
            f"at most {READABLE}, so that they can be read",
            remedy,
        )
    )


def _labels(names: Any) -> dict[Value, str]:
    """The name of the variable that holds each Value, but none that begins with _."""
    if not isinstance(names, Mapping | None):
        found = f"names of type {type(names).__name__}"
        raise TypeError(message("draw", found, "a dict from name to Value", "write names=locals()"))
    public = [(name, held) for name, held in (names or {}).items() if not name.startswith("_")]
    return {x: name for pair in reversed(public) for x, name in entry_names(*pair)}


def _gradients(root: Value, nodes: list[Value], computed: bool) -> dict[Value, Any]:
    """The gradients to show: computed for the picture, or those that backward() left, if any."""
    if computed:
        return {node: grad for node, grad in adjoints(root).items() if node.requires_grad}
    if not isinstance(root.grad, Value) and root.grad == 0.0:
        return {}
    return {node: node.grad for node in nodes if node.requires_grad}
