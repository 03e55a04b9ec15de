"""Graphviz, in another process: the wheels of pygraphviz carry its libraries."""

import atexit
import base64
import io
import os
import pickle
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import weakref
import zlib
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, run
from typing import Any

from ..engine.errors import refusal
from .sheet import Image

SHARP, MOST_PIXELS = 192, 1.2e6  # dots per inch, two to a pixel; the most pixels of a PNG
MEASURES = rb'<svg width="([\d.]+)pt" height="([\d.]+)pt".*?scale\(([\d.]+)'


class Layout:
    """A graph in DOT, laid out once, to be written in several formats."""

    def __init__(self, source: str, images: Iterable[Image]) -> None:
        self.source, self.images = source, {x.name: png(x) for x in images}
        self.text = source  # as it is laid out
        self.attributes: dict[str, str] = {}  # of the whole, which move nothing
        if self.images:
            folder = tempfile.mkdtemp()
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            for name, image in self.images.items():
                Path(folder, name).write_bytes(image)
            path = folder.replace("\\", "/")
            self.text = source.replace("{\n", f'{{ imagepath="{path}"\n', 1)
        self.measure()

    def measure(self, **attributes: str) -> None:
        """Write the SVG, with other attributes of the whole if they are given, and measure it."""
        self.attributes |= attributes
        self.svg = self.written("svg")
        width, height, scale = map(float, re.findall(MEASURES, self.svg, re.DOTALL)[0])
        self.size = width * 4 / 3, height * 4 / 3  # in CSS pixels
        self.wide = self.size[0] / scale  # with texts of full size

    def written(self, format: str, dpi: float = SHARP) -> bytes:
        """The picture; a PNG on white. ValueError if Graphviz does not know the format."""
        attributes = self.attributes | {"dpi": "", "bgcolor": "transparent"}
        if format == "png":
            attributes |= {"dpi": f"{dpi:.0f}", "bgcolor": "white"}
        try:
            picture = picture_of(self.text, attributes, format)
        except OSError:  # in a browser there are no processes
            raise RuntimeError(NO_GRAPHVIZ) from None
        if not picture:
            raise ValueError(f"Graphviz could not draw this as {format!r}")
        if format == "svg":  # has its images in it, instead of their names
            for name, image in self.images.items():
                data = b"data:image/png;base64," + base64.b64encode(image)
                picture = picture.replace(b'href="%s"' % name.encode(), b'href="%s"' % data)
        return picture

    def png(self) -> bytes:
        """A PNG that is sharp on any screen; if Pillow is installed, on white, a third as large."""
        width, height = self.size
        png = self.written("png", min(SHARP, 96 * (MOST_PIXELS / (width * height)) ** 0.5))
        with suppress(ImportError):
            from PIL import Image

            file, picture = io.BytesIO(), Image.open(io.BytesIO(png)).convert("RGBA")
            picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture)
            few = picture.convert("RGB").quantize(96, kmeans=2)
            few.save(file, "PNG", optimize=True)
            png = min(png, file.getvalue(), key=len)
        return png


def png(image: Image) -> bytes:
    """The file of an image."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    _, pixels, width, height = image
    starts = range(0, len(pixels), 3 * width)
    rows = b"".join(b"\0" + pixels[i : i + 3 * width] for i in starts)
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + head + body


NO_GRAPHVIZ = refusal("draw", "no Graphviz", "pygraphviz or the dot executable", (
    "run `pip install pygraphviz`, or, as in a browser, have the DOT text in "
    ".source laid out elsewhere"
))  # fmt: skip


# -- Processes ------------------------------------------------------------------------------------

# Graphviz measures texts with the fonts that fontconfig knows: here, those in `fonts/` alone, so
# that pictures are the same on every machine. Characters that they lack, such as 漢, are boxes with
# their code in a PNG or PDF; in an SVG they are text, for which the browser has fonts.
FOLDER = Path(__file__).parent
# processes that wait; those of a fork are its own
_idle: dict[int, list[Popen[bytes]]] = defaultdict(list)


def picture_of(source: str, attributes: dict[str, str], format: str) -> bytes | None:
    """A graph in DOT as a picture; None if Graphviz cannot draw it. OSError if there is none.

    It runs in another process, which serves one thread at a time and is used again. Nothing in this
    one changes, and an interrupt ends it.
    """
    folder = pygraphviz_folder()
    ours = os.environ | {
        "FONTCONFIG_FILE": f"{FOLDER}/fonts/fonts.conf", "XDG_DATA_HOME": str(FOLDER),
        "PANGOCAIRO_BACKEND": "fc", "PYTHONPATH": folder,  # fc: on Windows
    }  # fmt: skip
    if not folder:
        ground = f"-Gbgcolor={attributes.pop('bgcolor')}"  # unless the source says which
        more = " ".join(f'{name}="{x}"' for name, x in attributes.items())
        text = f"{source.rstrip().removesuffix('}')}{more}}}".encode()
        return run(["dot", f"-T{format}", ground], input=text, env=ours, capture_output=True).stdout
    command = [sys.executable, "-PS", str(FOLDER / "process.py")]
    pipes: Any = {
        "stdin": PIPE, "stdout": PIPE, "stderr": DEVNULL, "start_new_session": True,
        "creationflags": getattr(subprocess, "CREATE_NO_WINDOW", 0),
    }  # fmt: skip
    process: Any = _waiting() or Popen(command, env=ours, **pipes)
    try:
        pickle.dump((source, attributes, format), process.stdin)
        process.stdin.flush()
        picture: bytes | None = pickle.load(process.stdout)
    except BaseException as error:  # the answer would be taken for that to the next request
        process.kill()
        process.communicate()
        if not isinstance(error, (EOFError, OSError)):
            raise
        return None  # Graphviz has crashed
    _idle[os.getpid()].append(process)
    return picture


def pygraphviz_folder() -> str:
    """Where pygraphviz is installed; "" if it is not."""
    found = find_spec("pygraphviz")
    return str(Path(found.origin).parents[1]) if found and found.origin else ""


def _waiting() -> Popen[bytes] | None:
    """A process that waits for work, if there is one."""
    with suppress(IndexError):
        while (process := _idle[os.getpid()].pop()).poll() is not None:
            process.communicate()  # it was killed
        return process
    return None


@atexit.register
def _end() -> None:
    while process := _waiting():
        process.communicate()
