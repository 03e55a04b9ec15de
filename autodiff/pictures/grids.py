"""Arrays as grids: what the compiler would put into one array is one box, a cell for each number.

So a network of any size is a dozen boxes, which read like its formula: x, W, b, tanh ...
"""

import math
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..compiler.groups import groups
from ..value import Value
from .arrangement import Path, holding, path_of
from .description import Words
from .dot import SIDES
from .markup import BARE, joined, title
from .styles import BORDERS, DARKEST, FONT, LARGEST, SCALE, SMALLEST
from .texts import as_float, markup, number, printable, sign

MOST = 64  # cells in a row or column; with more, one stands for several numbers
SIDE = 72  # points: about the length of a grid with many cells
NEGATIVE, POSITIVE, BAD = (33, 102, 172), (178, 24, 43), (255, 0, 255)  # blue, red; nan and inf


@dataclass(eq=False)
class Array:
    """A box: numbers that belong together, and the arrays it is computed from."""

    members: list[Value]
    shape: tuple[int, ...]
    name: str = ""
    path: Path = ()
    origins: dict["Array", str] = field(default_factory=dict)  # with the text on the edge
    alike: dict[Value, list[Value]] = field(default_factory=dict)  # nodes that are computed twice

    @property
    def operation(self) -> str:
        return self.members[0].op


def arrays_of(root: Value, labels: dict[Value, str]) -> list[Array]:
    """The boxes of a picture: leaves before what is computed from them."""
    leaves: dict[Value, Array] = {}
    results: dict[Value, Array] = {}
    found: list[Array] = []
    names: dict[int, dict[Value, str]] = {}  # of the parameters in each module, by its id
    for group in groups(root):
        array = Array(group.members, group.shape, path=path_of(group.members[0]))
        array.alike = group.alike
        read: dict[Array, set[Value]] = {}
        for numbers, shape in group.arguments:
            unique = list(dict.fromkeys(numbers))
            new = [x for x in unique if not x.parents and x not in leaves]
            if new:
                whole = len(new) == len(numbers)
                leaf = Array(new, shape if whole else (len(new),))
                leaf.path = holding(new[0], array.path, names)
                own = names[id(leaf.path[-1].module)][new[0]] if leaf.path else ""
                leaf.name = _vector_name(new, own or labels.get(new[0], ""))
                leaves |= dict.fromkeys(new, leaf)
                found.append(leaf)
            for x in unique:
                read.setdefault(results[x] if x.parents else leaves[x], set()).add(x)
        for origin, entries in read.items():
            count, size = len(entries), len(origin.members)
            array.origins[origin] = f"{count} of {size}" if count < size else ""
        if len(array.members) == 1:
            array.name = array.members[0].label or labels.get(array.members[0], "")
        results |= dict.fromkeys(group.members, array)
        found.append(array)
    return found or [Array([root], (1,), root.label)]


def _vector_name(leaves: list[Value], name: str) -> str:
    """The name of a leaf, or the one that the entries of a vector have in common."""
    name = leaves[0].label or name
    return name if len(leaves) == 1 else name.rpartition("[")[0]


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


def shades(cells: Any, what: str) -> Any:
    """Cells as colours: |grad| by powers of ten; data from blue through white to red."""
    if what == "grad":
        scale = list(SCALE.values())
        size = np.abs(cells)
        with np.errstate(divide="ignore", invalid="ignore"):
            power = np.clip(np.floor(np.log10(size)), SMALLEST - 1, LARGEST)
        index = np.where(size == 0, 2, np.nan_to_num(power - LARGEST - 1 + len(scale)))
        table = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in scale])
        found = table[index.astype(int)]
    else:
        finite = np.abs(cells[np.isfinite(cells)])
        share = np.nan_to_num(cells / (finite.max() if finite.any() else 1.0))[..., None]
        ends = np.where(share < 0, np.array(NEGATIVE), np.array(POSITIVE))
        found = 255 + np.abs(np.clip(share, -1, 1)) * (ends - 255)
    found[~np.isfinite(cells)] = BAD
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


# -- The picture --------------------------------------------------------------------------------


@dataclass
class Grids:
    """What a picture of arrays shows."""

    root: Value
    arrays: list[Array]
    gradients: dict[Value, Any] | None  # None if the shades show data
    colours: dict[str, str]
    rankdir: str

    def __post_init__(self) -> None:
        self.ids = {array: f"a{i}" for i, array in enumerate(self.arrays)}
        uses = [origin for array in self.arrays for origin in array.origins]
        self.attached = {
            x for x in self.arrays if x.path and not x.operation and uses.count(x) == 1
        }

    def numbers(self, array: Array) -> list[Any]:
        """The numbers that the shades of an array show."""
        if self.gradients is None:
            return [x.data for x in array.members]
        nodes = [array.alike.get(x, [x]) for x in array.members]
        found: list[list[Any]] = [
            [as_float(self.gradients.get(x, 0.0)) for x in each] for each in nodes
        ]
        return [None if None in each else sum(each) for each in found]


def write_grids(picture: Any, grids: Grids) -> None:
    """Write a picture of arrays into an empty `Drawing`."""
    out, into = tuple(SIDES[grids.rankdir])
    colours = grids.colours
    text = {"fontname": FONT, "fontsize": "9", "fontcolor": colours["text"]}
    picture.attr(rankdir=grids.rankdir, bgcolor=colours["background"], ranksep="0.2", **text)
    picture.attr("node", shape="plain", **text)
    picture.attr("edge", color=colours["text"], arrowsize="0.6", **text)
    frames: dict[Path, Any] = {(): picture}
    edges = []
    for array in grids.arrays:
        if array in grids.attached:
            continue
        for length in range(1, len(array.path) + 1):
            if array.path[:length] not in frames:
                frame = type(picture)(name=f"cluster{len(frames)}")
                frame.attr(label=f"<{markup(title(array.path[length - 1]))}>", labeljust="l")
                frame.attr(style="rounded", color=colours["frame"], margin="6")
                frames[array.path[:length]] = frame
        held = [origin for origin in array.origins if origin in grids.attached]
        boxes = [_box(x, grids, picture.images) for x in [*held, array]]
        frames[array.path].node(grids.ids[array], joined(boxes, grids.rankdir in ("LR", "RL")))
        for origin, says in array.origins.items():
            if origin not in held:
                said = {"label": f"<{markup(f' {says} ')}>"} if says else {}
                ends = f"{grids.ids[origin]}:op:{out}", f"{grids.ids[array]}:op:{into}"
                edges.append((*ends, said))
    for path in sorted(frames, key=len, reverse=True):
        if path:
            frames[path[:-1]].subgraph(frames[path])
    for tail, head, said in edges:
        picture.edge(tail, head, **said)
    picture.attr(label=_legend(grids), labelloc="b")


def words(grids: Grids) -> Words:
    """The picture in words: its arrays in order, and a line for each."""
    titles = {grids.ids[array]: _title(array, grids) for array in grids.arrays}
    results = [titles[grids.ids[array]] for array in grids.arrays if array not in grids.attached]
    return Words(" → ".join(results), titles)


def _title(array: Array, grids: Grids) -> str:
    name = _name(array, grids.root).replace("\n", " ")
    if len(array.members) == 1:
        return f"{name} = {number(array.members[0].data)}"
    return f"{name} {' × '.join(map(str, array.shape))}"


def _name(array: Array, root: Value) -> str:
    """The operation and the label of an array, or its kind."""
    said = sign(array.operation), printable(array.name)
    return " ".join(filter(None, said)) or _kind(array, root)


def _box(array: Array, grids: Grids, images: dict[str, bytes]) -> str:
    """The name of an array, its grid, its shape and the largest of its numbers."""
    kind, colours, shown = _kind(array, grids.root), grids.colours, grids.numbers(array)
    what = "data" if grids.gradients is None else "grad"
    name = _name(array, grids.root)
    rows = [f"<b>{markup(name)}</b>"]
    if len(array.members) == 1:
        rows.append(f"data {number(array.members[0].data, 4)}")
        rows += [f"grad {number(shown[0], 4)}"] if what == "grad" else []
    else:
        cells, said = cells_of(shown, array.shape)
        image = f"{grids.ids[array]}.png"
        zoom = max(1, min(10, SIDE // max(cells.shape)))
        images[image] = png(shades(cells, what), 2 * zoom)
        height, width = [zoom * n + 2 for n in cells.shape]
        rows.append(
            f'<table {BARE}><tr><td fixedsize="true" width="{width}" height="{height}">'
            f'<img src="{image}" scale="both"/></td></tr></table>'
        )
        largest = max(map(abs, shown), key=lambda x: (math.isnan(x), x))
        rows.append(f"{' × '.join(map(str, array.shape))}{said and f', {said}'}")
        rows.append(f"|{what}| ≤ {number(largest, 3)}")
    border, style, spacing = BORDERS.get(kind, (1, "", 0))
    look = f' style="{style}"' if style else ""
    fill = f'color="{colours["text"]}" bgcolor="{colours[kind]}"{look}'
    room = 2 + len(name) // 4  # Graphviz underestimates how long a long name is
    body = "".join(f'<tr><td cellpadding="{room}">{row}</td></tr>' for row in rows)
    port = "" if array in grids.attached else 'port="op"'
    table = f'<table {port} border="{border}" cellborder="0" cellspacing="0" {fill}>{body}</table>'
    if not spacing:
        return table
    return (
        f'<table border="1" cellborder="0" cellspacing="1" {fill}><tr><td>{table}</td></tr></table>'
    )


def _kind(array: Array, root: Value) -> str:
    if any(x is root for x in array.members) and root.parents:
        return "output"
    if array.operation:
        return "operation"
    if array.path:
        return "parameter"
    first = array.members[0]
    return "input" if first.requires_grad or len(array.members) > 1 else "constant"


def _legend(grids: Grids) -> str:
    """The scale of the shades."""
    colours = grids.colours
    if grids.gradients is not None:
        steps = [(name, shade) for name, shade in list(SCALE.items())[2:]]
        head = "|grad|"
    else:
        names = ["− largest", "−", "0", "+", "largest"]
        ends = [NEGATIVE, NEGATIVE, (255,) * 3, POSITIVE, POSITIVE]
        parts = [1.0, 0.5, 0.0, 0.5, 1.0]
        mixed = [[round(255 + p * (c - 255)) for c in end] for end, p in zip(ends, parts)]
        steps = [(name, "#{:02x}{:02x}{:02x}".format(*m)) for name, m in zip(names, mixed)]
        head = "data, in each grid from"
    cells = "".join(
        f'<td border="1" bgcolor="{shade}" cellpadding="2" width="24"><font color="'
        f'{"#ffffff" if name in DARKEST or "largest" in name else "#000000"}">{name}</font></td>'
        for name, shade in steps
    )
    head = f'<td cellpadding="3"><font color="{colours["text"]}">{head}</font></td>'
    return f'<<table border="0" cellspacing="0" cellborder="0"><tr>{head}{cells}</tr></table>>'
