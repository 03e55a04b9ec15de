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
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import graphviz

from ..errors import message
from .fontconfig import our_fonts

SVG = "{http://www.w3.org/2000/svg}"
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
        self.source = self.written_for = source
        self.images = images or {}
        if self.images:
            folder = tempfile.mkdtemp()
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            for name, image in self.images.items():
                Path(folder, name).write_bytes(image)
            path = folder.replace("\\", "/")
            self.source = source.replace("{\n", f'{{ imagepath="{path}"\n', 1)
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
            source = self.source.replace("{\n", f"{{ dpi={dpi:.0f}\n", 1) if dpi else self.source
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

    @cached_property
    def svg(self) -> bytes:
        return self.written("svg")

    @property
    def size(self) -> tuple[float, float]:
        """The width and height of the picture in CSS pixels."""
        found = re.search(rb'<svg[^>]* width="([\d.]+)pt" height="([\d.]+)pt"', self.svg)
        assert found is not None
        width, height = (float(points) * 4 / 3 for points in found.groups())
        return width, height

    @property
    def scale(self) -> float:
        """How much smaller than it wants to be the picture is, to be as wide as it may."""
        found = re.search(rb"scale\(([\d.]+)", self.svg)
        assert found is not None
        return float(found[1])

    def crossed(self) -> frozenset[str]:
        """The frames, by name, whose titles an edge runs across."""
        groups = list(ElementTree.fromstring(self.svg).iter(f"{SVG}g"))
        edges = [g.find(f".//{SVG}path") for g in groups if g.get("class") == "edge"]
        points = [point for path in edges if path is not None for point in _points(path)]
        found = set()
        for group in groups:
            text = group.find(f".//{SVG}text") if group.get("class") == "cluster" else None
            if text is not None:
                x, y, size = (float(text.get(name, 0)) for name in ("x", "y", "font-size"))
                left, right = x - size / 2, x + size * (0.6 * len(text.text or "") + 0.5)
                if any(left < a < right and y - size < b < y + size / 3 for a, b in points):
                    found.add(group.findtext(f"{SVG}title", ""))
        return frozenset(found)

    def png(self) -> bytes:
        """A PNG that is sharp on any screen; if Pillow is installed, on white, a third as large."""
        width, height = self.size
        png = self.written("png", min(SHARP, 96 * (LARGEST / (width * height)) ** 0.5))
        with suppress(ImportError):
            from PIL import Image

            file, picture = io.BytesIO(), Image.open(io.BytesIO(png)).convert("RGBA")
            picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture)
            few = picture.convert("RGB").quantize(128 if self.images else 48)
            few.save(file, "PNG", optimize=True)
            png = min(png, file.getvalue(), key=len)
        return png


def _points(path: ElementTree.Element) -> Iterator[tuple[float, float]]:
    """Points on the Bézier curves of a path, eight on each."""
    numbers = list(map(float, re.findall(r"-?[\d.]+", path.get("d", ""))))
    at = [complex(*pair) for pair in zip(numbers[::2], numbers[1::2])]
    for i in range(0, len(at) - 3, 3):
        a, b, c, d = at[i : i + 4]
        for t in (k / 8 for k in range(9)):
            z = (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d
            yield z.real, z.imag


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
