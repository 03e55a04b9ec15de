"""Arrays as grids: what the compiler would put into one array is one box, a cell for each number.

So a network of any size is a dozen boxes, which read like its formula: x, W, b, tanh ...
"""

import math
import struct
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..compiler.groups import groups
from ..graph import adjoints
from ..value import Value
from . import dot
from . import look as colours
from .look import SCALE, Look, largest, level, numbers, shape
from .scene import Box, hold, path_of, scene
from .texts import as_float, number

MOST = 64  # cells in a row or column; with more, one stands for several numbers
SIDE = 72  # points: about the length of a grid with many cells


def arranged(root: Value, names: Mapping[Value, str], color: str | None) -> Look:
    """The arrays of a graph, with the gradients of their numbers if these are to be shown."""
    boxes: list[Box] = []
    same: dict[Value, Value] = {}  # of nodes that are computed twice, the one that is shown
    shapes: dict[Box, list[tuple[int, ...]]] = {}  # of the arguments
    for group in groups(root):
        first = group.members[0]
        box = Box(group.members, "operation", path_of(first), op=first.op, shape=group.shape)
        boxes.append(box)
        shapes[box] = [shape for _, shape in group.arguments]
        same |= {node: x for x, nodes in group.alike.items() for node in nodes}
    shown = scene(root, names, arrays=boxes, same=same)
    for edge in shown.edges:
        if not edge.tail.op:
            count = len(edge.tail.nodes)
            fits = [shape for shape in shapes.get(edge.head, []) if math.prod(shape) == count]
            edge.tail.shape = fits[0] if fits else (count,)
    hold(shown)
    gradients: dict[Value, float] = {}  # as they add up
    for x, grad in adjoints(root).items() if color else ():
        one: Any = same.get(x, x)
        gradients[one] = gradients.get(one, 0.0) + (as_float(grad) or 0.0)
    return Look(shown, gradients, cells=color)


# -- Cells --------------------------------------------------------------------------------------


def cells_of(found: Iterable[Any], shape: tuple[int, ...]) -> tuple[Any, str]:
    """Numbers in rows and columns, and how many numbers a cell stands for; "" if one.

    A long vector is folded. A cell for several numbers shows the largest in size, or nan if any is.
    """
    cells = np.array([as_float(x) for x in found], float)
    if len(shape) > 1:
        cells = cells.reshape(shape[0], -1)
    else:
        widths = range(math.isqrt(cells.size - 1) + 1, cells.size + 1)
        width = next(w for w in widths if cells.size % w == 0) if cells.size > 16 else 1
        cells = cells.reshape(-1, width)
    steps = [-(-size // MOST) for size in cells.shape]
    rows, columns = (np.arange(0, size, step) for size, step in zip(cells.shape, steps))
    high, low = (f.reduceat(f.reduceat(cells, rows), columns, 1) for f in (np.maximum, np.minimum))
    said = f"cell: {steps[0]} × {steps[1]}" if max(steps) > 1 else ""
    return np.where(high >= -low, high, low), said


def rgb(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def shades(cells: Any, color: str | None) -> Any:
    """Cells as colours: |grad| by powers of ten; data from sand through white to blue."""
    if color:
        found = np.array([[rgb(SCALE[level(abs(x))]) for x in row] for row in cells.tolist()])
    else:
        finite = np.abs(cells[np.isfinite(cells)])
        share = np.nan_to_num(cells / (finite.max(initial=0.0) or 1.0))[..., None]
        ends = np.where(share < 0, rgb(colours.SAND), rgb(colours.VALUE))
        found = 255 + np.abs(np.clip(share, -1, 1)) * (ends - 255)
    found[~np.isfinite(cells)] = rgb(colours.WRONG)
    return found.astype(np.uint8)


def png(colours: Any, zoom: int) -> bytes:
    """An image with a frame, and a square of `zoom` pixels for each colour."""
    pixels = colours.repeat(zoom, 0).repeat(zoom, 1)
    pixels = np.pad(pixels, ((2, 2), (2, 2), (0, 0)), constant_values=100)  # a grey frame
    height, width, _ = pixels.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    body = chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + head + body


# -- Boxes --------------------------------------------------------------------------------------


def body(box: Box, look: Look) -> str:
    """The name of an array, its grid, its shape and the largest of its numbers."""
    lines = [[(look.name(box), colours.INK)]]
    if len(box.nodes) == 1:
        lines += look.lines(box)[bool(box.name) :]
    else:
        what, colour = ("grad", colours.GRADIENT) if look.cells else ("data", colours.VALUE)
        shown = [look.gradients.get(x, 0.0) if look.cells else x for x in box.nodes]
        grid, said = _grid(shown, box, look)
        lines.append([(shape(box) + said, colours.SOFT)])
        lines.append([(f"|{what}| ≤ {number(largest(numbers(shown)), 3)}", colour)])
    texts = [dot.coloured([(x, look.ink(box, colour)) for x, colour in line]) for line in lines]
    texts[0] = f"<b>{texts[0]}</b>"
    if len(box.nodes) > 1:
        texts.insert(1, grid)
    rows = "".join(f'<tr><td cellpadding="3">{text}</td></tr>' for text in texts)
    return dot.framed(rows, box, look)


def _grid(shown: list[Any], box: Box, look: Look) -> tuple[str, str]:
    """A table with the image of an array, and how many numbers a cell of it stands for."""
    cells, said = cells_of(shown, box.shape)
    image = f"a{look.scene.boxes.index(box)}.png"
    zoom = max(1, min(10, SIDE // max(cells.shape)))
    look.images[image] = png(shades(cells, look.cells), 2 * zoom)
    height, width = [zoom * n + 2 for n in cells.shape]
    size = f'fixedsize="true" width="{width}" height="{height}"'
    cell = f'<td {size}><img src="{image}" scale="both"/></td>'
    return f"<table {dot.BARE}><tr>{cell}</tr></table>", said and f", {said}"


def said(look: Look) -> str:
    """The picture in words: its arrays in order."""
    return " → ".join(map(look.title, look.scene.drawn))


def key(look: Look) -> str:
    """The scale of the shades."""
    if look.cells:
        entries = [("|grad|:", colours.PAPER), *list(SCALE.items())[2:]]
    else:
        shown = shades(np.array([[-1.0, -0.5, 0.0, 0.5, 1.0]]), None)[0]
        fills = [f"#{bytes(shade).hex()}" for shade in shown]
        names = ["− largest", "−", "0", "+", "largest"]
        entries = [("data:", colours.PAPER), *zip(names, fills)]
    return dot.key([(text, fill, "input") for text, fill in entries])
