"""Arrays as grids: what the compiler would put into one array is one box, a cell for each number.

So a network of any size is a dozen boxes, which read like its formula: x, W, b, tanh ...
"""

import math
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..compiler.groups import groups
from ..graph import adjoints, topological_order
from ..value import Value
from . import dot
from . import look as colours
from .look import LARGEST, SCALE, SMALLEST, Look
from .scene import Box, Edge, Leaves, Scene, hold, join_loss, path_of
from .texts import as_float, number

MOST = 64  # cells in a row or column; with more, one stands for several numbers
SIDE = 72  # points: about the length of a grid with many cells
NAMES = 3  # of an array that are written out

# -- Arrays -------------------------------------------------------------------------------------


def arranged(root: Value, names: Mapping[Value, str], color: str | None) -> Look:
    """The arrays of a graph, with the gradients of their numbers if these are to be shown."""
    nodes = topological_order(root)
    shown = Scene(nodes, [], [], Leaves(nodes), names)
    alike: dict[Value, list[Value]] = {}  # nodes that are computed twice
    box_of: dict[Value, Box] = {}
    for group in groups(root):
        alike |= group.alike
        first = group.members[0]
        box = Box(group.members, "operation", path_of(first), shape=group.shape, op=first.op)
        edges: dict[Box, Edge] = {}
        for members, shape in group.arguments:
            for leaf in _leaves(members, shape, shown, box_of):
                box_of |= dict.fromkeys(leaf.nodes, leaf)
                shown.boxes.append(leaf)
            for x in members:
                edge = edges.setdefault(box_of[x], Edge(box_of[x], box, []))
                edge.uses.append((x, 0))
        shown.edges.extend(edges.values())
        box_of |= dict.fromkeys(group.members, box)
        if len(box.nodes) == 1:
            box.name = shown.label(box.nodes[0])
        shown.boxes.append(box)
    if not shown.boxes:
        shown.boxes.append(Box([root], shown.leaves.role(root), (), shown.label(root), (1,)))
    elif root.parents:
        box_of[root].role = "output"
    join_loss(shown)
    hold(shown)
    shown.edges[:] = map(_counted, shown.edges)
    gradients = _added(alike, adjoints(root)) if color else {}
    return Look(shown, gradients, color=color)


def _leaves(
    members: Sequence[Value], shape: tuple[int, ...], shown: Scene, box_of: Mapping[Value, Box]
) -> list[Box]:
    """The boxes of the leaves in an argument that have none so far: one for each role and place."""
    kinds: dict[Any, list[Value]] = {}
    for x in dict.fromkeys(members):
        if not x.parents and x not in box_of:
            kinds.setdefault((shown.leaves.role(x), shown.leaves.path(x)), []).append(x)
    boxes = []
    for (role, path), leaves in kinds.items():
        whole = len(leaves) == len(members)
        names = [shown.label(x) for x in leaves]
        if len(names) > 1:
            names = [name.rpartition("[")[0] or name for name in names]
        names = list(dict.fromkeys(filter(None, names)))
        name = ", ".join(names[:NAMES]) + ", …" * (len(names) > NAMES)
        boxes.append(Box(leaves, role, path, name, shape if whole else (len(leaves),)))
    return boxes


def _counted(edge: Edge) -> Edge:
    """An edge that says how many numbers of an array it carries, if not all."""
    count, size = len({x for x, _ in edge.uses}), len(edge.tail.nodes)
    return edge._replace(says=f"{count} of {size}" if count < size else "")


def _added(alike: Mapping[Value, list[Value]], gradients: Mapping[Value, Any]) -> dict[Value, Any]:
    """The gradient of each number of an array: added up if it is computed more than once."""
    sums: dict[Value, Any] = {x: as_float(grad) for x, grad in gradients.items()}
    for x, nodes in alike.items():
        each = [as_float(gradients.get(node, 0.0)) for node in nodes]
        sums[x] = None if None in each else math.fsum(filter(None, each))
    return sums


# -- Cells --------------------------------------------------------------------------------------


def cells_of(numbers: Iterable[Any], shape: tuple[int, ...]) -> tuple[Any, str]:
    """Numbers in rows and columns, and how many numbers a cell stands for; "" if one.

    A long vector is folded. A cell for several numbers shows the largest in size, or nan if any is.
    """
    cells = np.array([x.data if isinstance(x, Value) else x for x in numbers], float)
    if len(shape) > 1:
        cells = cells.reshape(shape[0], -1)
    elif cells.size <= 16:
        cells = cells.reshape(-1, 1)
    else:
        widths = range(math.isqrt(cells.size - 1) + 1, cells.size + 1)
        cells = cells.reshape(-1, next(w for w in widths if cells.size % w == 0))
    steps = [-(-size // MOST) for size in cells.shape]
    if max(steps) == 1:
        return cells, ""
    cuts = [range(0, size, step) for size, step in zip(cells.shape, steps)]
    size = np.where(np.isnan(cells), np.inf, np.abs(cells))

    def largest(i: int, j: int) -> Any:
        part = np.s_[i : i + steps[0], j : j + steps[1]]
        return cells[part].flat[size[part].argmax()]

    rows = [[largest(i, j) for j in cuts[1]] for i in cuts[0]]
    return np.array(rows), f"cell: {steps[0]} × {steps[1]}"


def rgb(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def shades(cells: Any, color: str | None) -> Any:
    """Cells as colours: |grad| by powers of ten; data from sand through white to blue."""
    if color:
        size = np.abs(cells)
        with np.errstate(divide="ignore", invalid="ignore"):
            power = np.clip(np.floor(np.log10(size)), SMALLEST - 1, LARGEST)
        index = np.where(size == 0, 2, np.nan_to_num(power - LARGEST - 1 + len(SCALE)))
        found = np.array(list(map(rgb, SCALE.values())))[index.astype(int)]
    else:
        finite = np.abs(cells[np.isfinite(cells)])
        share = np.nan_to_num(cells / (finite.max() if finite.any() else 1.0))[..., None]
        ends = np.where(share < 0, np.array(rgb(colours.SAND)), np.array(rgb(colours.VALUE)))
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
    plain = replace(look, color=None)  # the shades are in the grid
    ink, soft = plain.ink(box, colours.INK), plain.ink(box, colours.SOFT)
    lines = [f"<b>{dot.coloured([(look.name(box), ink)])}</b>"]
    if len(box.nodes) == 1:
        lines += [dot.coloured(line) for line in look.lines(box)[bool(box.name) :]]
    else:
        shown = [look.gradients.get(x, 0.0) if look.color else x.data for x in box.nodes]
        grid, said = _grid(shown, box, look)
        largest = max((abs(float(x)) for x in shown), key=lambda x: (math.isnan(x), x))
        what, colour = ("grad", colours.GRADIENT) if look.color else ("data", colours.VALUE)
        lines += [grid, dot.coloured([(look.shape(box) + said, soft)])]
        at_most = f"|{what}| ≤ {number(largest, 3)}"
        lines.append(dot.coloured([(at_most, plain.ink(box, colour))]))
    pad = 4 if "rounded" in colours.BORDERS[box.role] else 2
    rows = "".join(f'<tr><td cellpadding="{pad}">{line}</td></tr>' for line in lines)
    return dot.framed(rows, box, plain)


def _grid(shown: Sequence[Any], box: Box, look: Look) -> tuple[str, str]:
    """A table with the image of an array, and how many numbers a cell of it stands for."""
    cells, said = cells_of(shown, box.shape)
    image = f"a{look.scene.boxes.index(box)}.png"
    zoom = max(1, min(10, SIDE // max(cells.shape)))
    look.images[image] = png(shades(cells, look.color), 2 * zoom)
    height, width = [zoom * n + 2 for n in cells.shape]
    size = f'fixedsize="true" width="{width}" height="{height}"'
    cell = f'<td {size}><img src="{image}" scale="both"/></td>'
    return f"<table {dot.BARE}><tr>{cell}</tr></table>", said and f", {said}"


def said(look: Look) -> str:
    """The picture in words: its arrays in order."""
    return " → ".join(map(look.title, look.scene.drawn))


def key(look: Look) -> str:
    """The scale of the shades."""
    steps, head = list(SCALE.items())[2:], "|grad|:"
    if not look.color:
        names = ["− largest", "−", "0", "+", "largest"]
        shown = shades(np.array([[-1.0, -0.5, 0.0, 0.5, 1.0]]), None)[0]
        steps, head = [(x, f"#{bytes(shade).hex()}") for x, shade in zip(names, shown)], "data:"
    entries = [(head, colours.PAPER), *steps]
    return dot.key([(text, fill, "input") for text, fill in entries], 6)
