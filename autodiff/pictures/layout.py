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
from pathlib import Path
from typing import Any

import graphviz

from ..errors import message
from .fontconfig import our_fonts

SHARP, LARGEST = 192, 1.2e6  # dots per inch, two to a pixel; the most pixels of a PNG
MEASURES = rb'<svg width="([\d.]+)pt" height="([\d.]+)pt".*?scale\(([\d.]+)'


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
            with our_fonts(), _silence():
                self.graph = pygraphviz_module().AGraph(string=self._with_attributes())
                self.graph.layout(prog="dot")
        self.measure()

    def measure(self, **attributes: str) -> None:
        """Write the SVG, with other attributes of the whole if they are given, and measure it."""
        self.attributes |= attributes
        self.svg = self.written("svg")
        found = re.search(MEASURES, self.svg, re.DOTALL)
        assert found is not None
        width, height, scale = map(float, found.groups())
        self.size = width * 4 / 3, height * 4 / 3  # in CSS pixels
        self.wide = self.size[0] / scale  # with texts of full size

    def _with_attributes(self) -> str:
        said = " ".join(f'{name}="{x}"' for name, x in self.attributes.items())
        return self.source.replace("{\n", f"{{ {said}\n", 1)

    def written(self, format: str, dpi: float | None = None) -> bytes:
        """The picture. ValueError if Graphviz does not know the format."""
        self.attributes["dpi"] = f"{dpi:.0f}" if dpi else ""
        try:
            with our_fonts(), _silence():
                if self.graph is None:
                    picture: bytes = graphviz.Source(self._with_attributes()).pipe(format)
                else:
                    self.graph.graph_attr.update(**self.attributes)
                    picture = bytes(self.graph.draw(format=format))
        except (graphviz.ExecutableNotFound, OSError):  # in a browser there are no processes
            raise RuntimeError(NO_GRAPHVIZ) from None
        except Exception as error:
            raise ValueError(f"Graphviz could not draw this as {format!r}") from error
        if format == "svg":  # has its images in it, instead of their names
            for name, image in self.images.items():
                data = b"data:image/png;base64," + base64.b64encode(image)
                picture = picture.replace(b'href="%s"' % name.encode(), b'href="%s"' % data)
        return picture

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


@contextmanager
def _silence() -> Iterator[None]:
    """Lets C libraries, such as fontconfig, write nothing to standard error."""
    try:
        before = os.dup(2)
    except OSError:  # there is no standard error, in a windowed program
        yield
        return
    with Path(os.devnull).open("wb") as null:
        os.dup2(null.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
