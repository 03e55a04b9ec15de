"""Where the numbers that an argument reads lie in an array."""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..symbolic import PARTS, Axes

Ids = NDArray[np.intp]  # each number of the program has one
Bounds = tuple[tuple[int, int], ...]  # the ends of a part of an array, along each of its axes


class Run(NamedTuple):
    """An arithmetic run of positions, along an axis of what is read or along a factor of it."""

    letter: str
    size: int
    step: int  # in the array that they are read from; 0 where a number is repeated


class Place(NamedTuple):
    """The numbers of an array that an argument reads: a part of it, or from anywhere."""

    axes: tuple[tuple[str, int], ...]  # along which they change
    box: Bounds = ()
    runs: tuple[Run, ...] = ()  # of a part: what these axes consist of
    anywhere: tuple[int, ...] = ()  # the positions along these axes, unless they are a part

    @property
    def split(self) -> Axes:
        """The runs, outermost first, as axes."""
        return {run.letter: run.size for run in self.runs}

    @property
    def laid(self) -> Axes:
        """The runs as they lie in the array, without what is repeated."""
        return {run.letter: run.size for run in laid(self.runs)}


def place_of(positions: Ids, letters: str, shape: tuple[int, ...]) -> Place:
    """The place of positions, along axes with these letters, in an array of this shape."""
    positions = collapsed(positions, positions.ndim)
    axes = tuple([each for each in zip(letters, positions.shape) if each[1] > 1])
    positions = positions.squeeze()
    runs = runs_of(positions, axes)
    if runs is not None:
        flat = positions.flat[:1]
        for run in laid(runs):
            flat = np.add.outer(flat, run.step * np.arange(run.size)).ravel()
        box = tuple([(int(i.min()), int(i.max()) + 1) for i in np.unravel_index(flat, shape)])
        part = np.arange(math.prod(shape)).reshape(shape)[tuple(itertools.starmap(slice, box))]
        if np.array_equal(part.ravel(), flat):
            return Place(axes, box, tuple(runs))
    return Place(axes, anywhere=tuple(positions.ravel().tolist()))


def runs_of(positions: Ids, axes: Sequence[tuple[str, int]] = ()) -> list[Run] | None:
    """The runs that the axes of positions consist of; None if they are irregular."""
    nested, whole = list[tuple[int, int]](), positions.flat[0]
    for axis, size in enumerate(positions.shape):
        line = positions.swapaxes(0, axis).reshape(size, -1)[:, 0]
        nested += nested_runs(line)
        whole = np.add.outer(whole, line - line[0])
    if any(step < 0 for _, step in nested):
        return None
    letters = [letter for letter, _ in axes] if len(nested) == len(axes) else PARTS
    runs = [Run(letter, *each) for letter, each in zip(letters, nested)]
    named_all = math.prod([run.size for run in runs]) == positions.size
    return runs if named_all and np.array_equal(whole, positions) else None


def nested_runs(line: Ids) -> list[tuple[int, int]]:
    """The sizes and steps of nested arithmetic runs: [(2, 5), (2, 1)] of [0, 1, 5, 6].

    The outermost comes first. The list is empty if the positions are irregular.
    """
    runs: list[tuple[int, int]] = []
    while len(line) > 1:
        step = int(line[1] - line[0])
        changed = np.diff(line) != step
        size = int(changed.argmax()) + 1 if changed.any() else len(line)
        if len(line) % size or not is_regular(line.reshape(-1, size)):
            return []
        runs.insert(0, (size, step))
        line = line[::size]
    return runs


def laid(runs: Sequence[Run]) -> list[Run]:
    """The runs in the order of the axes of the array they are read from; repetitions left out."""
    return sorted([run for run in runs if run.step], key=lambda run: -run.step)


def collapsed(ids: Ids, axes: int) -> Ids:
    """The ids, with length 1 along each of the first axes along which they are constant."""
    for axis in range(axes):
        first = ids.take([0], axis)
        ids = first if (ids == first).all() else ids
    return ids


def is_regular(grid: Ids) -> bool:
    """Whether each row of a grid is its first row plus a constant."""
    return bool((grid - grid[:1] == grid[:, :1] - grid[0, 0]).all())


class Grid(NamedTuple):
    """Rows of numbers that stand one after the other among others."""

    start: int
    rows: int
    width: int

    @property
    def end(self) -> int:
        return self.start + self.rows * self.width


def grids(reads: Iterable[Ids], size: int) -> list[Grid]:
    """The grids of which arguments read whole columns, in order.

    Neurons whose weights are followed by their bias are one: its last column are the biases.
    reads: what each argument reads of so many numbers.
    """
    columns: dict[tuple[int, int], set[tuple[int, int]]] = defaultdict(set)
    for positions in reads:
        count, runs = 1, laid(runs_of(positions) or [])
        matrix = len(runs) == 2
        while len(runs) > 1 and runs[-1].step == count:
            count *= runs.pop().size
        for _, rows, width in runs if len(runs) == 1 else ():
            if (width > count or (width == count and matrix)) and rows * width <= size:
                start = int(positions.flat[0])
                columns[rows, width].add((start, start + count))
    found: list[Grid] = []
    for (rows, width), ends in columns.items():
        limit = 0
        for start, end in sorted(ends):
            if end > limit:
                found.append(Grid(min(start, size - rows * width), rows, width))
                limit = found[-1].start + width
    return found
