"""Graphviz in this process.

pygraphviz computes the layout; its wheels carry the Graphviz libraries.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def pygraphviz_module() -> Any:
    try:
        import pygraphviz
    except ImportError:
        return None
    return pygraphviz


def laid_out(source: str, format: str) -> bytes:
    with _stderr_captured() as messages:
        try:
            agraph = pygraphviz_module().AGraph(string=source)
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
