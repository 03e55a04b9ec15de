"""Arrays that are not known yet: symbols with axes, and how they are written in a program.

An array is a symbol whose numbers lie along named axes. Where an array does not have an axis, it
repeats itself along it. To sum a product over an axis is a matrix product.
"""

import builtins
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from .. import functions
from .printer import ATOM, CHOICE, PRODUCT, ArrayPython
from .symbolic import Symbol, Writer, key_of

# -- Symbols of arrays --------------------------------------------------------------------------

AXES = "bga"  # b: the samples of the batch; g: the nodes of a group; a: the arguments of each

Axes = dict[str, Any]  # the size of each axis, in the order of AXES; that of b is the symbol n


class Array(Symbol):
    """An array that is not known yet, with named axes. Where one is missing it repeats itself."""

    __slots__ = ("axes",)

    axes: Axes
    writer: "ArrayWriter"


class Stack(Array):
    """An array that stands for all arguments of an n-ary operation, side by side along axis a."""

    __slots__ = ()

    _level = 1  # so that functions.py leaves the work to _call

    def _call(self, name: str, *inputs: Any) -> Any:
        total = self.writer.total
        if name == "sum":
            return total(self, "a", self.axes["a"])
        if name == "dot":
            x, y = inputs
            return total(x * y, "a", self.axes["a"])
        if name == "logsumexp":
            shift = self._largest()
            return shift + functions.log(functions.sum([functions.exp(self - shift)]))
        if name == "hypot":
            largest = functions.abs(self)._largest()
            scale = functions.where(largest > 0, largest, 1.0)
            x = self / scale
            return scale * functions.sqrt(functions.sum([x * x]))
        return self.writer.write(name, *inputs)

    def _largest(self) -> Any:
        return self.writer.array("amax", (self, "a"), without(self.axes, "a"))


def without(axes: Axes, letter: str) -> Axes:
    """The axes but for one."""
    return {key: size for key, size in axes.items() if key != letter}


def axes_of(x: Any) -> Axes:
    """The axes of an array; a number has none."""
    return x.axes if isinstance(x, Array) else {}


def union(xs: Iterable[Any]) -> Axes:
    """The axes of what is computed from arrays and numbers entry by entry."""
    found: Axes = {}
    for x in xs:
        found |= axes_of(x)
    return {letter: found[letter] for letter in AXES if letter in found}


def _varying(x: Any, letter: str) -> Any:
    """The one argument of a sign, product or quotient that has an axis; None if it is not so."""
    if x.op not in ("neg", "mul", "div"):
        return None
    having = [arg for arg in x.args if letter in axes_of(arg)]
    return having[0] if len(having) == 1 and (x.op != "div" or having[0] is x.args[0]) else None


def _as_parts(run: list[tuple[Any, int]]) -> list[tuple[Any, list[tuple[Any, int]]]]:
    """Equal parts in a row: one part if they repeat a number, else each by itself."""
    x = run[0][0]
    return [(x, run)] if "g" not in axes_of(x) else [(x, [part]) for part in run]


class ArrayWriter(Writer):
    """A writer of operations on arrays: entry by entry, and those that change their axes."""

    def __init__(self) -> None:
        super().__init__()
        self.constants: dict[str, str] = {}  # arrays of positions, as source: their names
        self.totals: dict[tuple[int, str], Any] = {}  # of arrays, by number and axis
        self.n = self.array("n", (), {})

    def _new(self, op: str, args: tuple[Any, ...]) -> Symbol:
        return self._made(op, args, union(args))

    def _made(self, op: str, args: tuple[Any, ...], axes: Axes) -> Array:
        array = (Stack if "a" in axes else Array)(self, len(self.symbols), op, args)
        array.axes = axes
        return array

    def array(self, op: str, args: tuple[Any, ...], axes: Axes) -> Any:
        """The array of an operation that is not entry by entry."""
        key = (*key_of(op, args), *axes.items())
        if key not in self.symbols:
            self.symbols[key] = self._made(op, args, axes)
        return self.symbols[key]

    def total(self, x: Any, letter: str, size: Any) -> Any:
        """The sum of x along an axis; the sum of a product is a matrix product.

        What does not have the axis is a factor of the sum. It is taken off first, and put back
        on afterwards: a loop, because a product can be thousands of factors long.
        """
        if letter not in axes_of(x):
            return x * size
        taken_off = []
        while (x.number, letter) not in self.totals and (inner := _varying(x, letter)) is not None:
            taken_off.append((x, inner))
            x = inner
        if (x.number, letter) not in self.totals:
            left, right = x.args if x.op == "mul" else (x, x)
            matrix = axes_of(left).keys() != axes_of(right).keys()
            op, args = ("product", (left, right, letter)) if matrix else ("total", (x, letter))
            self.totals[x.number, letter] = self.array(op, args, without(x.axes, letter))
        found = self.totals[x.number, letter]
        for outer, inner in reversed(taken_off):
            again = [found if arg is inner else arg for arg in outer.args]
            found = self.totals[outer.number, letter] = self.write(outer.op, *again)
        return found

    def renamed(self, x: Any, old: str, new: str) -> Any:
        """The same array with another name for an axis."""
        if old not in axes_of(x):
            return x
        if x.op == "neg":  # on the outside, where it meets an addition
            return -self.renamed(x.args[0], old, new)
        axes = {new if key == old else key: size for key, size in x.axes.items()}
        return self.array("as", (x, old, new), {k: axes[k] for k in AXES if k in axes})

    def joined(self, parts: Sequence[tuple[Any, int]], varies: bool) -> Any:
        """Arrays and numbers one after the other along axis g, each with its length there."""
        axes = ({"b": self.n} if varies else {}) | {"g": builtins.sum([size for _, size in parts])}
        parts = [
            (x, builtins.sum([size for _, size in alike]))  # what repeats itself is one part
            for _, run in itertools.groupby(parts, key=lambda part: key_of("", part[:1]))
            for x, alike in _as_parts(list(run))
        ]
        if len(parts) == 1 and axes_of(parts[0][0]) == axes:
            return parts[0][0]
        flat = [x for part in parts for x in part]
        return self.array("join", tuple(flat), axes)

    def index(self, positions: Iterable[Any]) -> str:
        """The name of a constant array of positions."""
        text = f"xp.asarray({list(positions)})"
        return self.constants.setdefault(text, f"i{len(self.constants) + 1}")


# -- Where the numbers of an array are found in another -----------------------------------------


class Place(NamedTuple):
    """Positions in an array: start + step i for axis g or a, or for both a block of rows.

    `letters` are the axes that the numbers found there have, `shape` the sizes of these. Where
    the positions follow no such rule they are listed in `listed`.
    """

    letters: str
    shape: tuple[int, ...]
    start: int = 0
    steps: tuple[int, ...] = ()
    listed: tuple[int, ...] = ()

    @property
    def length(self) -> int:
        return math.prod(self.shape)

    @property
    def contiguous(self) -> bool:
        """Whether it is one piece of the array, in order or transposed."""
        if len(self.steps) < 2:
            return not self.listed and self.steps in ((), (1,))
        return self.steps in ((self.shape[1], 1), (1, self.shape[0]))

    def positions(self) -> list[int]:
        """All positions, row after row."""
        if self.listed:
            return list(self.listed)
        found = [self.start]
        for size, step in zip(self.shape, self.steps):
            found = [p + i * step for p in found for i in range(size)]
        return found


def place_in_row(positions: Sequence[int], letter: str) -> Place:
    """Where numbers are found that are to lie along one axis; without it if all are one number."""
    first, n = positions[0], len(positions)
    step = positions[1] - first if n > 1 else 0
    if step == 0 and all(p == first for p in positions):
        return Place("", (), first)
    if step > 0 and all(p == first + i * step for i, p in enumerate(positions)):
        return Place(letter, (n,), first, (step,))
    return Place(letter, (n,), listed=tuple(positions))


def place_in_rows(rows: Sequence[Sequence[int]]) -> Place:
    """Where k nodes have m arguments each."""
    if all(row == rows[0] for row in rows):
        return place_in_row(rows[0], "a")
    if all(len(set(row)) == 1 for row in rows):
        return place_in_row([row[0] for row in rows], "g")
    k, m = len(rows), len(rows[0])
    flat = [p for row in rows for p in row]
    for steps in ((m, 1), (1, k)):
        place = Place("ga", (k, m), flat[0], steps)
        if place.positions() == flat:
            return place
    return Place("ga", (k, m), listed=tuple(flat))


# -- Source -------------------------------------------------------------------------------------


class ArrayText(ArrayPython):
    """Symbols of arrays as source: their axes lined up as the libraries of arrays do it."""

    target: Axes | None = None  # of the expression that is being written

    def of(self, x: Any, least: int = CHOICE) -> str:
        """The text of an array, its axes lined up with those of the expression it stands in."""
        axes, letters = axes_of(x), list(self.target or {})
        first = letters.index(next(iter(axes))) if axes and letters else 0
        index = [":" if letter in axes else "None" for letter in letters[first:]] if axes else []
        while index[-1:] == [":"]:
            index.pop()
        return f"{super().of(x, ATOM)}[{', '.join(index)}]" if index else super().of(x, least)

    def typed(self, x: float, beside: Any) -> str:
        """A number of the type of the inputs."""
        return f"xp.asarray({self.of(x)}, dtype=inputs.dtype)"

    def comment(self, symbol: Any) -> str:
        """The shape of an array."""
        sizes = ["n" if letter == "b" else str(size) for letter, size in symbol.axes.items()]
        return f"  # ({', '.join(sizes)}{',' if len(sizes) == 1 else ''})" if sizes else ""

    def expression(self, symbol: Any) -> tuple[str, int]:
        if symbol.op in STRUCTURE:
            return STRUCTURE[symbol.op](self.of, symbol, *symbol.args)
        self.target = symbol.axes
        text = super().expression(symbol)
        self.target = None
        return text


def _reduced(of: Any, symbol: Array, x: Array, letter: str) -> tuple[str, int]:
    axis = list(x.axes).index(letter)
    if symbol.op == "amax":
        return f"xp.amax({of(x)}, axis={axis})", ATOM
    return f"{of(x, ATOM)}.sum(axis={axis})", ATOM


def _product(of: Any, symbol: Array, x: Array, y: Array, letter: str) -> tuple[str, int]:
    """A sum of products: x @ y where that fits, else Einstein's notation."""
    if max(len(x.axes), len(y.axes)) > 2 or x.axes.keys() & y.axes.keys() != {letter}:
        formula = f"{''.join(x.axes)},{''.join(y.axes)}->{''.join(symbol.axes)}"
        return f'xp.einsum("{formula}", {of(x)}, {of(y)})', ATOM
    if len(x.axes) == len(y.axes) == 2:
        x, y = (x, y) if next(iter(symbol.axes)) in x.axes else (y, x)
    elif len(x.axes) < len(y.axes):
        x, y = (x, y) if next(iter(y.axes)) == letter else (y, x)
    elif next(iter(x.axes)) == letter:
        x, y = y, x
    left = f"{of(x, ATOM)}{'' if list(x.axes)[-1] == letter else '.T'}"
    right = f"{of(y, ATOM)}{'' if next(iter(y.axes)) == letter else '.T'}"
    return f"{left} @ {right}", PRODUCT


def _taken(of: Any, symbol: Array, x: Array, place: Place) -> tuple[str, int]:
    before = ":, " if "b" in x.axes else ""
    start, stop = place.start, place.start + place.length
    if place.listed:
        m = place.shape[-1]
        rows = [place.listed[i : i + m] for i in range(0, place.length, m)]
        index = symbol.writer.index(rows if len(place.shape) == 2 else place.listed)
        return f"{of(x, ATOM)}[{before}{index}]", ATOM
    if not place.letters:
        return f"{of(x, ATOM)}[{before}{start}]", ATOM
    if len(place.letters) == 1:
        (step,), (k,) = place.steps, place.shape
        where = f"{start}:{stop}" if step == 1 else f"{start}:{start + (k - 1) * step + 1}:{step}"
        return f"{of(x, ATOM)}[{before}{where}]", ATOM
    k, m = place.shape
    part = of(x, ATOM) if place.length == x.axes["g"] else f"{of(x, ATOM)}[{before}{start}:{stop}]"
    before = "-1, " if before else ""
    if place.steps[1] == 1:
        return f"{part}.reshape({before}{k}, {m})", ATOM
    swapped = ".swapaxes(1, 2)" if before else ".T"
    return f"{part}.reshape({before}{m}, {k}){swapped}", ATOM


def _flattened(of: Any, symbol: Array, x: Any, place: Place) -> tuple[str, int]:
    """Rows one after the other, as they stand in the array; what is missing is repeated first."""
    k, m = place.shape
    varies = "b" in symbol.axes
    letters = "bga" if varies else "ga"
    text = of(x, ATOM)
    if "".join(axes_of(x)) != letters:
        text = _repeated(of, x, letters, (k, m))
    if place.steps == (1, k) and k > 1 and m > 1:
        text += ".swapaxes(1, 2)" if varies else ".T"
    return f"{text}.reshape({f'-1, {k * m}' if varies else '-1'})", ATOM


def _repeated(of: Any, x: Any, letters: str, sizes: tuple[int, ...]) -> str:
    """The text of x with all the axes of these letters."""
    shape = f"({', '.join(['n'] * (letters[0] == 'b') + list(map(str, sizes)))},)"
    if not isinstance(x, Array):
        return f"xp.full({shape}, {of(x)}, dtype=inputs.dtype)"
    index = [":" if letter in x.axes else "None" for letter in letters]
    while index and index[0] == "None":
        index.pop(0)
    text: str = of(x, ATOM) + (f"[{', '.join(index)}]" if "None" in index else "")
    missing = [size for letter, size in zip(letters[-len(sizes) :], sizes) if letter not in x.axes]
    if index and set(missing) == {1}:
        return text  # already of that shape
    return f"xp.broadcast_to({text}, {shape})"


def _joined(of: Any, symbol: Array, *parts: Any) -> tuple[str, int]:
    letters = "".join(symbol.axes)
    texts = []
    for x, size in zip(parts[::2], parts[1::2]):
        whole = "".join(axes_of(x)) == letters
        texts.append(of(x) if whole else _repeated(of, x, letters, (size,)))
    if len(texts) == 1:
        return texts[0], ATOM
    return f"xp.concatenate([{', '.join(texts)}], axis={len(letters) - 1})", ATOM


def _scattered(of: Any, symbol: Array, x: Array, index: str, size: int) -> tuple[str, int]:
    return f"scatter_add({of(x)}, {index}, {size})", ATOM


def _constant(of: Any, symbol: Array, values: Any) -> tuple[str, int]:
    def text(x: Any) -> str:
        return f"[{', '.join(map(text, x))}]" if isinstance(x, tuple) else of(x)

    return f"xp.asarray({text(values)}, dtype=inputs.dtype)", ATOM


def _spread(of: Any, symbol: Array, x: Any) -> tuple[str, int]:
    return _repeated(of, x, "b", ()), ATOM


STRUCTURE: dict[str, Callable[..., tuple[str, int]]] = {
    "amax": _reduced, "total": _reduced, "product": _product, "take": _taken, "flat": _flattened,
    "join": _joined, "scatter_add": _scattered, "constant": _constant, "spread": _spread,
}  # fmt: skip
