"""`Drawing`: a `graphviz.Digraph` whose layout needs nothing outside Python.

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
