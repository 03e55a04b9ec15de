"""The program as NumPy runs it: each operation has a line, and writes into an array that is kept.

New arrays cost a small program a tenth of its time. So an array serves again as soon as nobody
reads what it holds, and parts of a whole, as of the gradients, are computed in their places.
"""

from collections import defaultdict
from collections.abc import Iterable

import numpy

from ..printer import ATOM, assembled, uses_of
from ..symbolic import CONDITIONS, Operand, Symbol
from .arrays import axes_of, sizes, without
from .operations import Batch
from .text import INDICES, ArrayText

NAMES = {"sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative"}  # NumPy's
REDUCTIONS = {"total": "xp.add.reduce", "amax": "xp.maximum.reduce"}
BY_NAME = "xp.einsum(", "xp.maximum(", "xp.minimum(", "("  # others take `out` by place: quicker
VIEWS = "as", "part", "reshape", "transposed", "repeat"  # of another array


def is_elementwise(x: Symbol) -> bool:
    """Whether it is a function of NumPy's, entry by entry; x ** 2.0 is quicker with its sign."""
    function = getattr(numpy, str(NAMES.get(x.op, x.op)), None)
    known = isinstance(function, numpy.ufunc) and function.nin == len(x.args)
    return known and x.op not in (*CONDITIONS, "pow")


def is_written(x: Symbol) -> bool:
    """Whether an operation can write into an array that is there."""
    return bool(x.axes) and (x.op in (*REDUCTIONS, "product") or is_elementwise(x))


def is_row_by_row(x: Symbol) -> bool:
    """Whether it puts parts together along its first axis: so each lies in one piece."""
    return bool(x.op == "join" and next(iter(x.axes)) == x.args[0])


class InPlace(ArrayText):
    """Symbols of arrays as source that writes into arrays, which the lines `made` make."""

    def __init__(self, needed: list[Symbol], results: list[Symbol]) -> None:
        super().__init__(numpy, "inputs", results)
        self.made: list[str] = []
        self.arrays: dict[Symbol, str] = {}  # that operations write into
        self.places: dict[Symbol, tuple[Symbol, str]] = {}  # of a part: in which whole, and where
        self.copied: dict[Symbol, list[tuple[str, Operand]]] = {}  # the other parts of a whole
        for x in filter(is_row_by_row, reversed(needed)):  # the outermost first
            self._find_places(x)
        self._choose_arrays(needed, results)

    def _find_places(self, whole: Symbol) -> None:
        """Find places in a whole for its parts, if they are results that can be written there."""
        letter, *parts = whole.args
        start, copied = 0, list[tuple[str, Operand]]()
        for x, size in zip(parts[::2], parts[1::2]):
            rows, part = f"[{start}:{start + size}]", x
            while isinstance(part, Symbol) and part.op in ("as", "reshape"):
                part = part.args[0]
            axes = without(whole.axes, letter) | ({letter: size} if size > 1 else {})
            written = axes and axes_of(x) == axes and (is_row_by_row(part) or is_written(part))
            if written and part not in self.places:
                self.places[part] = whole, f"{rows}.reshape{sizes(part.axes)}"
            else:
                copied.append((rows, x))
            start += size
        if whole in self.places or len(copied) < len(parts) // 2:
            self.copied[whole] = copied

    def _owner(self, x: Symbol) -> Symbol:
        """The array that x is part of or looks at."""
        while x in self.places or (x.op in VIEWS and isinstance(x.args[0], Symbol)):
            x = self.places[x][0] if x in self.places else x.args[0]
        return x

    def _choose_arrays(self, needed: list[Symbol], results: list[Symbol]) -> None:
        """Choose an array for each operation: one of its shape that nobody reads any more.

        An operation entry by entry may write over what it reads.
        """
        last = {self._owner(x): len(needed) for x in results}  # when each is read last
        for now, x in reversed([*enumerate(needed)]):
            for arg in x.args:
                if isinstance(arg, Symbol):
                    last.setdefault(self._owner(arg), now)
        free, ends = defaultdict[str, list[str]](list), defaultdict[int, list[Symbol]](list)

        def release(now: int) -> None:
            for y in ends.pop(now, ()):
                free[sizes(y.axes)].append(self.arrays[y])

        for now, x in enumerate(needed):
            own = self._owner(x)
            if is_elementwise(x):
                release(now)  # so it may write over what it reads
            if is_written(x) or x in self.copied:
                if own not in self.arrays:
                    spare, shape = free[sizes(own.axes)], sizes(own.axes)
                    self.arrays[own] = (
                        spare.pop() if spare else self._new(f"xp.empty({shape}, dtype)")
                    )
                    ends[last[own]].append(own)
                self._array(x)
            release(now)

    def _new(self, text: str) -> str:
        self.made.append(f"a{len(self.made) + 1} = {text}")
        return f"a{len(self.made)}"

    def _array(self, x: Symbol) -> str:
        """The name of the array that an operation writes into."""
        if x not in self.arrays:
            whole, place = self.places[x]
            self.arrays[x] = self._new(self._array(whole) + place)
        return self.arrays[x]

    # -- Text --

    def lines(self, symbols: Iterable[Symbol]) -> list[str]:
        lines = []
        for x in symbols:
            self.target = x.axes
            lines += [
                f"{self.arrays[x]}{at} = {self.of(part)}" for at, part in self.copied.get(x, ())
            ]
            self.target = None
            lines += super().lines([x])
        return lines

    def has_line(self, symbol: Symbol, text: str) -> bool:
        return symbol.op not in VIEWS or super().has_line(symbol, text)

    def expression(self, symbol: Symbol) -> tuple[str, int]:
        array, op = self.arrays.get(symbol), symbol.op
        if array is None or op == "join":
            return (array, ATOM) if array else super().expression(symbol)
        if op in REDUCTIONS:
            x, letter = symbol.args
            text = f"{REDUCTIONS[op]}({self.of(x)}, {[*x.axes].index(letter)}, None)"
        elif op == "product":
            text, _ = super().expression(symbol)
            if not text.startswith(BY_NAME):
                text = f"xp.matmul({text.replace(' @ ', ', ')})"
        else:
            self.target = symbol.axes
            text, _ = self.call(NAMES.get(op, op), *symbol.args)
            self.target = None
        return f"{text[:-1]}, {'out=' * text.startswith(BY_NAME)}{array})", ATOM


def in_place_program(batch: Batch, arguments: list[str]) -> str:
    """The source of a program that writes into arrays that it is given, and of what makes these.

    "" if there is none: results of a user's function are float64.
    """
    uses = uses_of(batch.results)
    needed = [x for x in batch.writer.symbols.values() if x in uses]
    if not all(isinstance(x.op, str) for x in needed):
        return ""
    text = InPlace(needed, batch.results)
    before = text.lines([x for x in needed if x.op in INDICES])
    body = text.body([x for x in needed if x.op not in INDICES], batch.forward)
    names = [f"a{i}" for i in range(1, len(text.made) + 1)]
    made = [*text.made, f"return [{', '.join(names)}]"]
    gap = ["", ""] if before else [""]
    made = [*before, *gap, "def arrays(n, dtype):", *[f"    {line}" for line in made]]
    body.append(text.returned(batch.results))
    return assembled(numpy, [*names, *arguments], body, text.imports, made)
