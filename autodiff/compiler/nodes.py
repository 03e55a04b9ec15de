"""The arrays of a program as nodes of a graph: what is read from them, and what is sent back."""

import math
from collections import defaultdict
from typing import Any, NamedTuple

from .. import functions, ops
from .arrays import ArrayWriter, Axes, axes_of, ordered, without
from .places import Place, Slice, block, slices


class Argument(NamedTuple):
    """An argument of a group: its symbol, and where its numbers lie if they are not constants."""

    symbol: Any
    node: "ArrayNode | None" = None
    place: Place = Place("")


class ArrayNode:
    """An array of the program, a row or a grid of numbers, and the messages sent back to it."""

    def __init__(
        self,
        writer: ArrayWriter,
        symbol: Any,
        shape: tuple[int, ...],
        varies: bool,
        wanted: bool = False,
    ) -> None:
        self.writer = writer
        self.symbol = symbol
        self.shape = shape
        self.varies = varies  # whether it differs from sample to sample
        self.wanted = wanted  # whether a leaf of wrt leads to it
        self.messages: dict[Place, Any] = {}
        self.arguments: list[Argument] = []
        self.backward: ops.Backward | None = None
        self.space: Axes = {}  # all axes of the operation that computes it

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def axes(self) -> Axes:
        return dict(zip("gh", self.shape)) | ({"b": 0} if self.varies else {})

    def read(self, place: Place) -> Any:
        """The numbers at a place."""
        x = self.symbol
        if not without(axes_of(x), "b"):
            return x  # all numbers are equal
        found = slices(place, self.shape)
        if found is not None:
            return self._read_slices(x, found)
        whole = self.writer.repeated(x, self.axes if "b" in axes_of(x) else without(self.axes, "b"))
        samples = without(whole.axes, "gh")
        letters = block(place)
        if letters and (len(self.shape) == 1 or math.prod(place.shape) == self.size):
            start, stop = place.start, place.start + math.prod(place.shape)
            if stop - start < self.size:
                axes = {"g": stop - start} | samples
                whole = self.writer.array("slice", (whole, f"{start}:{stop}"), axes)
            sizes = dict(zip(place.letters, place.shape))
            own = {key: sizes[letter] for key, letter in zip("gh", letters)} | samples
            return self.writer.renamed(self.writer.reshaped(whole, own), dict(zip("gh", letters)))
        if len(self.shape) > 1:
            whole = self.writer.reshaped(whole, {"g": self.size} | samples)
        axes = ordered(dict(zip(place.letters, place.shape)) | samples)
        return self.writer.array("gather", (whole, self._index(place)), axes)

    def _read_slices(self, x: Any, found: list[Slice]) -> Any:
        kept = [(axis, part) for axis, part in zip("gh", found) if axis in x.axes]
        index, axes = [], without(x.axes, "gh")
        for axis, (letter, start, stop, step) in kept:
            axes |= {axis: len(range(start, stop, step))} if letter else {}
            whole = letter and (start, stop, step) == (0, x.axes[axis], 1)
            ends = f"{start}:{stop}" if step == 1 else f"{start}:{stop}:{step}"
            index.append(":" if whole else ends if letter else str(start))
        while index and index[-1] == ":":
            index.pop()
        if index:
            x = self.writer.array("slice", (x, *index), ordered(axes))
        return self.writer.renamed(x, {axis: part.letter for axis, part in kept if part.letter})

    def _index(self, place: Place) -> str:
        if place.listed:
            return self.writer.index(str(place.positions().tolist()))
        loops = ", ".join([str(list(map(list, loops))) for loops in place.factors])
        return self.writer.index(f"spread({place.start}, {loops})")

    def receive(self, place: Place, message: Any) -> None:
        so_far = self.messages.get(place)
        self.messages[place] = message if so_far is None else so_far + message

    def adjoint(self) -> Any:
        """The sum of all messages, each in its place."""
        if self.size == 1:
            return functions.sum(self.messages.values())
        found: list[Any] = []
        pieces: dict[tuple[tuple[int, int], ...], Any] = {}  # by a range along each axis
        for place, message in self.messages.items():
            region, part = self._placed(place, message)
            if region is None:
                found.append(part)
            else:
                pieces[region] = pieces[region] + part if region in pieces else part
        if len(self.shape) == 2:
            pieces = self._joined_columns(pieces)
        while pieces:
            found.append(self._joined(pieces, 0))
        return functions.sum(found) if found else 0.0

    def _placed(self, place: Place, message: Any) -> tuple[Any, Any]:
        """The region of this array that a message fills, and its piece; None if it is scattered."""
        found = slices(place, self.shape)
        if found is not None and all(part.step == 1 for part in found):
            names = {part.letter: axis for axis, part in zip("gh", found) if part.letter}
            region = tuple([(part.start, part.stop) for part in found])
            return region, self.writer.renamed(message, names)
        samples = {"b": 0} if self.varies else {}
        letters = block(place)
        whole = math.prod(place.shape) == self.size
        axes = ordered(dict(zip(place.letters, place.shape)) | samples)
        inner = self.writer.repeated(message, axes)
        if letters and (whole or len(self.shape) == 1):
            inner = self.writer.renamed(inner, dict(zip(letters, "gh")))
            if whole:
                region = tuple([(0, size) for size in self.shape])
                return region, self.writer.reshaped(inner, self.axes)
            ends = place.start, place.start + math.prod(place.shape)
            return (ends,), self.writer.reshaped(inner, {"g": ends[1] - ends[0]} | samples)
        flat = self.writer.reshaped(inner, {"g": math.prod(place.shape)} | samples)
        index = self._index(place) + (".reshape(-1)" if len(place.shape) > 1 else "")
        args = flat, index, self.size
        sums = self.writer.array("scatter_add", args, {"g": self.size} | samples)
        return None, self.writer.reshaped(sums, self.axes)

    def _joined(self, pieces: dict[Any, Any], axis: int) -> Any:
        """Pieces side by side, with zeros between them; those that overlap stay in `pieces`."""
        parts: list[tuple[Any, int]] = []
        end = 0
        for region in sorted(pieces):
            start, stop = region[axis]
            if start >= end:
                parts += [(0.0, start - end)] if start > end else []
                parts.append((pieces.pop(region), stop - start))
                end = stop
        parts += [(0.0, self.shape[axis] - end)] if end < self.shape[axis] else []
        return parts[0][0] if len(parts) == 1 else self.writer.joined(parts, "gh"[axis], self.axes)

    def _joined_columns(self, pieces: dict[Any, Any]) -> dict[Any, Any]:
        """Pieces of a grid, joined side by side into pieces of whole rows."""
        rows: dict[Any, Any] = {}
        by_rows: dict[Any, dict[Any, Any]] = defaultdict(dict)
        for region, piece in pieces.items():
            by_rows[region[0]][region] = piece
        for (start, stop), parts in by_rows.items():
            strip = ArrayNode(self.writer, None, (stop - start, self.shape[1]), self.varies)
            while parts:
                found, key = strip._joined(parts, 1), ((start, stop), (0, self.shape[1]))
                rows[key] = rows[key] + found if key in rows else found
        return rows
