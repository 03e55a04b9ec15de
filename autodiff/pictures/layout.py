"""Graphviz in this process: the wheels of pygraphviz carry its libraries."""

import base64
import io
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
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
        self.source, self.images = source, images or {}
        self.attributes: dict[str, str] = {}  # of the whole, which move nothing
        if self.images:
            folder = tempfile.mkdtemp()
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            for name, image in self.images.items():
                Path(folder, name).write_bytes(image)
            self.attributes["imagepath"] = folder.replace("\\", "/")
        self.graph: Any = None
        if pygraphviz_module():
            with our_fonts(), _stderr_captured():
                self.graph = pygraphviz_module().AGraph(string=self._with_attributes())
                self.graph.layout(prog="dot")

    def _with_attributes(self) -> str:
        said = " ".join(f'{name}="{x}"' for name, x in self.attributes.items())
        return self.source.replace("{\n", f"{{ {said}\n", 1)

    def shrink(self, source: str, inches: float) -> None:
        """Write it as wide as this at most, as `source` says, which is else the same."""
        self.source, self.attributes["size"] = source, f"{inches:.3f},1000"
        self.__dict__.pop("svg", None)

    def written(self, format: str, dpi: float | None = None) -> bytes:
        """The picture. ValueError if Graphviz does not know the format."""
        self.attributes["dpi"] = f"{dpi:.0f}" if dpi else ""
        with our_fonts(), _stderr_captured() as file:
            try:
                if self.graph is None:
                    picture: bytes = graphviz.Source(self._with_attributes()).pipe(format)
                else:
                    self.graph.graph_attr.update(**self.attributes)
                    picture = bytes(self.graph.draw(format=format))
            except (graphviz.ExecutableNotFound, OSError):  # in a browser there are no processes
                raise RuntimeError(NO_GRAPHVIZ) from None
            except Exception as error:
                file.seek(0)
                said = file.read().decode(errors="replace").strip() or error
                raise ValueError(f"Graphviz could not draw this as {format!r}: {said}") from error
        if format == "svg":  # has its images in it, instead of their names
            for name, image in self.images.items():
                data = b"data:image/png;base64," + base64.b64encode(image)
                picture = picture.replace(b'href="%s"' % name.encode(), b'href="%s"' % data)
        return picture

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

    def crossed(self) -> set[str]:
        """The frames, by name, whose titles an edge runs across."""
        graph: Any = self.graph
        if graph is None or not (frames := graph.subgraphs()):
            return set()
        seen = [edge for edge in graph.edges() if edge.attr["style"] != "invis"]
        points = [point for edge in seen for point in _points(edge.attr["pos"])]
        found: set[str] = set()
        for frame in frames:
            frames += frame.subgraphs()
            about = frame.graph_attr
            x, y = map(float, about["lp"].split(","))
            width, height = (72 * float(about[name]) for name in ("lwidth", "lheight"))
            if graph.graph_attr["rankdir"] == "TB":  # half of it is empty
                x += 0.27 * width if about["labeljust"] == "r" else -0.27 * width
                width *= 0.46
            if any(abs(a - x) < width / 2 and abs(b - y) < height / 2 for a, b in points):
                found.add(frame.name)
        return found

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


NO_GRAPHVIZ = message(
    "draw",
    "no Graphviz",
    "pygraphviz or the dot executable",
    "run `pip install pygraphviz`, or, where neither runs, as in a browser, have the DOT text in "
    ".source laid out elsewhere",
)


def _points(spline: str) -> Iterator[tuple[float, float]]:
    """Points on the Bézier curves of an edge, close to one another."""
    pairs = [pair.split(",") for pair in spline.split() if pair[0] not in "es"]
    at = [complex(float(x), float(y)) for x, y in pairs]
    for i in range(0, len(at) - 3, 3):
        a, b, c, d = at[i : i + 4]
        for t in (k / 32 for k in range(33)):
            z = (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d
            yield z.real, z.imag


@contextmanager
def _stderr_captured() -> Iterator[Any]:
    """A file of what C libraries write to standard error, such as fontconfig about its files."""
    with tempfile.TemporaryFile() as file:
        try:
            before = os.dup(2)
        except OSError:  # there is no standard error, in a windowed program
            yield file
            return
        os.dup2(file.fileno(), 2)
        try:
            yield file
        finally:
            os.dup2(before, 2)
            os.close(before)
