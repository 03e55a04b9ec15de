"""Where numbers lie in an array: as a slice, as a block, or scattered.

A position is an index into a row of numbers, or into a grid that is read row by row.
"""

import math
from typing import Any, NamedTuple

import numpy as np

Factors = tuple[tuple[int, int], ...]  # sizes and steps of the loops along an axis, outermost first


class Place(NamedTuple):
    """The positions that an operation reads, along the axes called `letters`.

    They are `start` plus step times index, summed over the `factors` of every axis. Positions
    that are not so regular are `listed`, as the bytes of an array.
    """

    letters: str
    factors: tuple[Factors, ...] = ()
    start: int = 0
    listed: bytes = b""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple([math.prod([size for size, _ in loops]) for loops in self.factors])

    def positions(self) -> Any:
        """The listed positions, as an array with the axes of the place."""
        return np.frombuffer(self.listed, int).reshape(self.shape)


def spread(start: int, *axes: Factors) -> Any:
    """The positions start + Σ step·index, an axis for each sequence of (size, step).

    >>> spread(5, [(2, 10)], [(3, 1)])
    array([[ 5,  6,  7],
           [15, 16, 17]])
    """
    found = np.asarray(start)
    for loops in axes:
        line = np.zeros(1, int)
        for size, step in loops:
            line = (line[:, None] + step * np.arange(size)).reshape(-1)
        found = found[..., None] + line
    return found


def place_of(positions: Any, letters: str) -> Place:
    """The place of an array of positions, without the axes along which they do not change."""
    for axis in reversed(range(positions.ndim)):
        first = positions.take([0], axis)
        if (positions == first).all():
            positions = first.squeeze(axis)
            letters = letters[:axis] + letters[axis + 1 :]
    start = int(positions.flat[0])
    found = []
    for axis in range(positions.ndim):
        line = np.moveaxis(positions, axis, 0).reshape(positions.shape[axis], -1)[:, 0]
        found.append(_loops(line - start))
    regular = tuple([loops for loops in found if loops])
    if len(regular) == positions.ndim and (spread(start, *regular) == positions).all():
        return Place(letters, regular, start)
    sizes = tuple([((size, 0),) for size in positions.shape])
    return Place(letters, sizes, listed=np.ascontiguousarray(positions, int).tobytes())


def _loops(line: Any) -> Factors:
    """The nested loops that run through positions, from 0 on; empty if there are none."""
    size, step = len(line), int(line[1])
    if step <= 0:
        return ()
    regular = line == step * np.arange(size)
    run = size if regular.all() else int(regular.argmin())
    if run == size:
        return ((size, step),)
    outer = line[::run]
    if size % run or run == 1 or (line.reshape(-1, run) != outer[:, None] + line[:run]).any():
        return ()
    loops = _loops(outer)
    return (*loops, (run, step)) if loops else ()


def inner_size(positions: Any) -> int:
    """The size of the innermost loop through positions; 1 if there is none."""
    changes = np.diff(positions)
    return int((changes == changes[0]).argmin()) + 1 if (changes != changes[0]).any() else 1


class Slice(NamedTuple):
    """What is read along one axis of an array; one position if the letter is empty."""

    letter: str
    start: int
    stop: int
    step: int = 1


def slices(place: Place, shape: tuple[int, ...]) -> list[Slice] | None:
    """The place as a slice along each axis of an array of this shape; None if it is not one."""
    if place.listed or any(len(loops) > 1 for loops in place.factors):
        return None
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    at = np.unravel_index(place.start, shape)
    found = [Slice("", int(i), int(i) + 1) for i in at]
    for letter, ((size, step),) in zip(place.letters, place.factors):
        axis = next(i for i, stride in enumerate(strides) if step >= stride)
        start, stride = found[axis].start, strides[axis]
        stop = start + (size - 1) * (step // stride) + 1
        if step % stride or found[axis].letter or stop > shape[axis]:
            return None
        found[axis] = Slice(letter, start, stop, step // stride)
    return found


def block(place: Place) -> str:
    """The letters of a place that is one piece of an array, outermost first; else empty."""
    if place.listed or any(len(loops) > 1 for loops in place.factors):
        return ""
    loops = sorted(
        [(-step, size, letter) for letter, ((size, step),) in zip(place.letters, place.factors)]
    )
    expected = 1
    for step, size, _ in reversed(loops):
        if -step != expected:
            return ""
        expected *= size
    return "".join([letter for _, _, letter in loops])
