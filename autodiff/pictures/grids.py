"""Arrays as grids: what the compiler would put into one array is one box, a cell for each number.

So a network of any size is a dozen boxes, which read like its formula: x, W, b, tanh ...
"""

import math
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from ..compiler.batch.groups import Groups
from ..engine.admission import AnyNumber, Floats
from ..engine.graph import topological_order
from ..engine.value import Value
from . import sheet
from .scene import Box, Scene, path_of, scene
from .sheet import GRADIENT, INK, SIZE, SOFT, VALUE, Cell, Cells, Face, Image, Notes, Text, rgb
from .texts import float_in, number, printable, sign

Pixels = NDArray[np.uint8]  # red, green and blue, shape (height, width, 3)

MOST = 64  # cells in a row or column; with more, one stands for several numbers
SIDE = 72  # points: about the length of a grid with many cells


def scene_of_arrays(root: Value, names: Mapping[Value, str]) -> Scene:
    """The arrays of a graph."""
    boxes: list[Box] = []
    same: dict[Value, Value] = {}  # of nodes that are computed twice, the one that is shown
    leaves = [x for x in topological_order(root) if not x.parents]
    for group in Groups(root, [], leaves)[2:]:  # without the inputs and the parameters
        first, takes = group.members[0], [shape for _, shape in group.arguments]
        box = Box(group.members, "operation", path_of(first), "", first.op, group.shape, takes)
        boxes.append(box)
        same |= {node: x for x, nodes in group.equal_nodes.items() for node in nodes}
    return scene(root, names, arrays=boxes, same=same)


# -- Cells --------------------------------------------------------------------------------------


def cells_of(found: Iterable[AnyNumber], shape: tuple[int, ...]) -> tuple[Floats, str]:
    """Numbers in rows and columns, and a note if they are not one cell for each, as they stand.

    A long vector is folded. A cell for several numbers shows the largest in size, or nan if any is.
    """
    cells, note = np.array([float_in(x) for x in found], float).reshape(shape[0], -1), ""
    if len(shape) == 1 and cells.size > 16:
        widths = range(math.isqrt(cells.size - 1) + 1, cells.size + 1)
        width = next(w for w in widths if cells.size % w == 0)
        cells, note = cells.reshape(-1, width), f", rows of {width}"
    steps = [-(-size // MOST) for size in cells.shape]
    rows, columns = (np.arange(0, size, step) for size, step in zip(cells.shape, steps))
    high, low = (f.reduceat(f.reduceat(cells, rows), columns, 1) for f in (np.maximum, np.minimum))
    note += f", cell: {steps[0]} × {steps[1]}" if max(steps) > 1 else ""
    return np.where(high >= -low, high, low), note


def shades(cells: Floats, color: str | None) -> Pixels:
    """Cells as colours: |grad| as boxes are; data from sand through white to blue."""
    if color:
        found = np.array([[rgb(sheet.shade(abs(x))) for x in row] for row in cells.tolist()])
    else:
        finite = np.abs(cells[np.isfinite(cells)])
        share = np.nan_to_num(cells / (finite.max(initial=0.0) or 1.0))[..., None]
        ends = np.where(share < 0, rgb(sheet.SAND), rgb(VALUE))
        found = 255 + np.abs(np.clip(share, -1, 1)) * (ends - 255)
    found[~np.isfinite(cells)] = rgb(sheet.WRONG)
    return found.astype(np.uint8)


def enlarged(colours: Pixels) -> Pixels:
    """A square of pixels for each colour, in a grey frame."""
    side = 2 * max(1, min(10, SIDE // max(colours.shape[:2])))
    pixels = colours.repeat(side, 0).repeat(side, 1)
    return np.pad(pixels, ((2, 2), (2, 2), (0, 0)), constant_values=100)


# -- Faces ----------------------------------------------------------------------------------------


def face_of_array(notes: Notes, box: Box) -> Face:
    """The name of an array, its grid, its shape and the largest of its numbers."""
    name = " ".join(filter(None, [sign(box.op), printable(box.name)])) or box.role
    rows: Cells = [[Cell([[Text(name, notes.ink(INK, box.nodes), SIZE)]])]]
    if math.prod(box.shape) == 1:
        rows.extend([Cell([line])] for line in sheet.numbers(notes, box.nodes[-1]))
        return sheet.bordered(notes, box, rows, 3, sheet.summary(notes, box.nodes[-1], name))
    what, colour, of = "data", VALUE, box.nodes
    if notes.color:
        what, colour = "grad", GRADIENT
        of = [notes.gradients.get(x, 0.0) for x in box.nodes]
    cells, note = cells_of(of, box.shape)
    constant = notes.color and not any(x in notes.gradients for x in box.nodes)
    colours = shades(cells, notes.color)
    if constant:
        colours[:] = rgb(sheet.NONE)
    pixels = enlarged(colours)
    shape = " × ".join(map(str, box.shape))
    height, width, _ = pixels.shape
    image = Image(f"a{notes.scene.boxes.index(box)}.png", pixels.tobytes(), width, height)
    extent = Text(shape + note, notes.ink(SOFT, box.nodes))
    size = "no gradient" if constant else f"|{what}| ≤ {number(sheet.max_abs(of), 3)}"
    most = Text(size, notes.ink(colour, box.nodes))
    rows += [[image], [Cell([[extent]])], [Cell([[most]])]]
    return sheet.bordered(notes, box, rows, 3, f"{name} {shape}")
