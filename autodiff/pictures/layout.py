"""Graphviz in this process: the wheels of pygraphviz carry its libraries."""

import base64
import io
import os
import re
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import graphviz

from ..errors import message
from .fontconfig import our_fonts

SHARP, LARGEST = 192, 1.2e6  # dots per inch, two to a pixel; the most pixels of a PNG


def pygraphviz_module() -> Any:
    try:
        import pygraphviz
    except ImportError:
        return None
    return pygraphviz


class Layout:
    """A graph in DOT, laid out once, to be written in several formats."""

    def __init__(self, source: str, images: dict[str, bytes] | None = None) -> None:
        self.source = source
        self.images = images or {}
        if self.images:
            folder = tempfile.mkdtemp()
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            for name, image in self.images.items():
                Path(folder, name).write_bytes(image)
            path = folder.replace("\\", "/")
            self.source = source.replace("{", f'{{ imagepath="{path}"', 1)
        self.graph: Any = None
        if pygraphviz_module():
            with our_fonts(), _stderr_captured():
                self.graph = pygraphviz_module().AGraph(string=self.source)
                self.graph.layout(prog="dot")

    def written(self, format: str, dpi: float | None = None) -> bytes:
        """The picture. ValueError if Graphviz does not know the format."""
        if self.graph is None:
            return self._embedded(self._by_executable(format, dpi))
        if dpi:
            self.graph.graph_attr["dpi"] = f"{dpi:.0f}"
        with our_fonts(), _stderr_captured() as messages:
            try:
                return self._embedded(bytes(self.graph.draw(format=format)))
            except Exception as error:
                said = messages() or error
                raise ValueError(f"Graphviz could not draw this as {format!r}: {said}") from error

    def _embedded(self, picture: bytes) -> bytes:
        """An SVG with its images in it, instead of their names."""
        if picture.startswith(b"<?xml"):
            for name, image in self.images.items():
                data = b"data:image/png;base64," + base64.b64encode(image)
                picture = picture.replace(b'href="%s"' % name.encode(), b'href="%s"' % data)
        return picture

    def _by_executable(self, format: str, dpi: float | None) -> bytes:
        try:
            source = self.source.replace("{", f"{{ dpi={dpi:.0f}", 1) if dpi else self.source
            with our_fonts():
                return bytes(graphviz.Source(source).pipe(format))
        except graphviz.CalledProcessError as error:
            raise ValueError(f"Graphviz could not draw this as {format!r}: {error}") from error
        except (graphviz.ExecutableNotFound, OSError):  # in a browser there are no processes
            remedy = (
                "run `pip install pygraphviz`, or, where neither runs, as in a browser, "
                "have the DOT text in .source laid out elsewhere"
            )
            expected = "pygraphviz or the dot executable"
            raise RuntimeError(message("draw", "no Graphviz", expected, remedy)) from None

    def png(self, svg: bytes) -> tuple[bytes, int, int]:
        """A PNG that is sharp on any screen, and the width and height at which to show it.

        svg is the same picture. If Pillow is installed, fewer colours make it a third of the size.
        """
        found = re.search(rb'<svg[^>]* width="([\d.]+)pt" height="([\d.]+)pt"', svg)
        assert found is not None
        width, height = (float(points) * 4 / 3 for points in found.groups())
        png = self.written("png", min(SHARP, 96 * (LARGEST / (width * height)) ** 0.5))
        with suppress(ImportError):
            from PIL import Image

            file = io.BytesIO()
            Image.open(io.BytesIO(png)).convert("RGB").quantize(128 if self.images else 24).save(
                file, "PNG", optimize=True
            )
            png = min(png, file.getvalue(), key=len)
        return png, round(width), round(height)


@contextmanager
def _stderr_captured() -> Iterator[Any]:
    """Catch what C libraries write to standard error, such as fontconfig about its files.

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
