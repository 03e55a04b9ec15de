"""The graph as a picture: a `graphviz.Digraph` whose layout needs nothing outside Python.

The layout is computed in this process by pygraphviz, whose wheels carry the Graphviz libraries.
Where there is no wheel the `dot` executable does the same.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import graphviz

from .graph import topological_order
from .value import Value

READABLE = 300  # nodes; with more, no screen shows the text of a node and the whole at once
LONGEST_LABEL = 40  # characters

COLOURS = {
    "variable": "#dcebf9",
    "constant": "#eeeeee",
    "result": "#ffffff",
    "operation": "#fdf0d5",
}


def draw(root: Value, format: str = "svg", rankdir: str = "LR") -> "Drawing":
    """The computational graph of root: what it was computed from, and how.

    A box is a Value: its label, data and grad; blue for a variable, grey for a constant, white
    for a result. A round node is an operation; its arguments come in from top to bottom (with
    rankdir "TB" from left to right). Before `backward()` there is no gradient to show.

    Returns a `graphviz.Digraph`: Jupyter shows it, `.source` is its DOT text, and
    `.render("name")` writes it to a file in the `format` ("svg", "png", "pdf").
    TypeError if root is no Value; ValueError for more nodes than anyone can read.

    >>> a, b = Value(2.0, label="a"), Value(3.0, label="b")
    >>> picture = draw(a * b)
    >>> print(picture.source.splitlines()[4].strip())
    n0 [label="{a|data 2}" fillcolor="#dcebf9"]
    """
    if not isinstance(root, Value):
        raise TypeError(f"draw: found a {type(root).__name__}, expected a Value, such as a loss")
    if rankdir not in ("LR", "RL", "TB", "BT"):
        raise ValueError(f"draw: found rankdir {rankdir!r}, expected 'LR', 'RL', 'TB' or 'BT'")
    nodes = topological_order(root)
    if len(nodes) > READABLE:
        raise ValueError(
            f"draw: found {len(nodes)} nodes, at most {READABLE} can be read in one picture; "
            "draw a smaller case (one sample, fewer units) or an inner node: draw(node)"
        )
    picture = Drawing(format=format)
    picture.attr(rankdir=rankdir, bgcolor="white", nodesep="0.15", ranksep="0.3")
    if len(nodes) > 50:  # the best layout can take minutes, a good one a fraction of a second
        picture.attr(nslimit="0.2", nslimit1="0.2")
    picture.attr("node", fontname="Helvetica,Arial,sans-serif", fontsize="11", style="filled")
    picture.attr("node", shape="record", height="0.3", margin="0.08,0.03")
    backpropagated = any(node.grad != 0.0 for node in nodes)
    names = {node: f"n{i}" for i, node in enumerate(nodes)}
    for node, name in names.items():
        picture.node(name, _record(node, backpropagated), fillcolor=COLOURS[_role(node)])
        if node.parents:
            operation = f"{name}op"
            shape = "circle" if len(node.op) <= 2 else "ellipse"
            colour = COLOURS["operation"]
            picture.node(operation, node.op, shape=shape, fillcolor=colour, ordering="in")
            for parent in node.parents:
                picture.edge(names[parent], operation)
            picture.edge(operation, name)
    return picture


class Drawing(graphviz.Digraph):
    """A `graphviz.Digraph` that is laid out in this process."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.body)} lines of DOT>"

    def pipe(self, format: str | None = None, **options: Any) -> Any:
        """The picture as bytes, or as text where an `encoding` is given.

        RuntimeError if neither pygraphviz nor the `dot` executable is there to lay it out.
        """
        encoding, format = options.pop("encoding", None), format or self.format
        if options or _pygraphviz() is None:  # engine=... and the like are for the executable
            try:
                return super().pipe(format, encoding=encoding, **options)
            except graphviz.ExecutableNotFound:
                raise RuntimeError(
                    "there is nothing here to lay out the graph with: run `pip install pygraphviz`,"
                    " or install Graphviz from graphviz.org; until then .source holds the DOT text"
                ) from None
        picture = _laid_out(self.source, format)
        return picture.decode(encoding) if encoding else picture

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

        The picture is `filename` and the format's ending, or `outfile`. With `cleanup` the
        source is removed again, with `view` the picture is opened.
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


def _role(node: Value) -> str:
    if node.parents:
        return "result"
    return "variable" if node.requires_grad else "constant"


def _record(node: Value, backpropagated: bool) -> str:
    """The label of a box, `name | data | grad`, in Graphviz's record notation."""
    fields = [_escaped(node.label)] if node.label else []
    fields.append(f"data {_number(node.data)}")
    if backpropagated and node.requires_grad:
        fields.append(f"grad {_number(node.grad)}")
    return "{" + "|".join(fields) + "}"


def _number(x: Any) -> str:
    x = x.data if isinstance(x, Value) else x  # a gradient that was made with create_graph
    return f"{x:.6g}" if isinstance(x, float) else _escaped(repr(x))


def _escaped(text: str) -> str:
    """Text that Graphviz shows as it is, in a record: no character of it is notation."""
    if len(text) > LONGEST_LABEL:
        text = text[: LONGEST_LABEL - 1] + "…"
    text = text.replace("\r\n", "\n").replace("&", "&amp;")
    return "".join(_NOTATION.get(c, c if c.isprintable() else "\ufffd") for c in text)


_NOTATION = {c: "\\" + c for c in "\\{}|<>"}
_NOTATION |= {"\n": "\\n", " ": "\N{NO-BREAK SPACE}", "\t": "\N{NO-BREAK SPACE}" * 4}


# -- Layout -------------------------------------------------------------------------------------


def _pygraphviz() -> Any:
    try:
        import pygraphviz
    except ImportError:
        return None
    return pygraphviz


def _laid_out(source: str, format: str) -> bytes:
    with _stderr_captured() as messages:
        try:
            agraph = _pygraphviz().AGraph(string=source)
            return bytes(agraph.draw(format=format, prog="dot"))
        except Exception as error:
            said = messages() or error
            raise ValueError(f"Graphviz could not draw this as {format!r}: {said}") from error


@contextmanager
def _stderr_captured() -> Iterator[Any]:
    """Keep what C libraries write to standard error (fontconfig, of the machine's own files).

    Yields a function that returns the text so far.
    """
    if sys.stderr is not None:
        sys.stderr.flush()
    with tempfile.TemporaryFile() as file:
        try:
            before = os.dup(2)
        except OSError:  # there is no standard error, in a windowed program
            yield lambda: ""
            return

        def messages() -> str:
            file.seek(0)
            return file.read().decode(errors="replace").strip()

        os.dup2(file.fileno(), 2)
        try:
            yield messages
        finally:
            os.dup2(before, 2)
            os.close(before)
