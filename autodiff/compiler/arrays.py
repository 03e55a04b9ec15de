"""Symbols of arrays, with named axes, and how they are written in a program.

Along an axis that an array lacks, all its numbers are equal. A sum of products over an axis is a
matrix product.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import functions
from . import backends
from .printer import ATOM, CHOICE, PRODUCT, ArrayPython
from .symbolic import Symbol, Writer, key_of

# -- Symbols of arrays --------------------------------------------------------------------------

# g and h: the nodes of a group, in a row or a grid; a: the arguments of each; b: the samples of
# the batch. Samples come last, so that a sum over any other axis adds whole rows of them.
AXES = "ghab"

Axes = dict[str, int]  # the size of each axis, in the order of AXES; 0 for b, not known yet


def axes_of(x: Any) -> Axes:
    """The axes of an array; a number has none."""
    return x.axes if isinstance(x, Array) else {}


def ordered(axes: Axes) -> Axes:
    """The axes in the order in which they lie in an array."""
    return {letter: axes[letter] for letter in AXES if letter in axes}


def union(xs: Iterable[Any]) -> Axes:
    """The axes of the result of an operation on arrays and numbers, entry by entry."""
    found: Axes = {}
    for x in xs:
        found |= axes_of(x)
    return ordered(found)


def without(axes: Axes, letters: str) -> Axes:
    """The axes except those in `letters`."""
    return {letter: size for letter, size in axes.items() if letter not in letters}


class Array(Symbol):
    """A symbol of an array with named axes."""

    __slots__ = ("axes",)

    axes: Axes
    writer: "ArrayWriter"


class Stack(Array):
    """An array that stands for all arguments of an n-ary operation, side by side along axis a."""

    __slots__ = ()

    _level = 1  # makes functions.py call _call

    def _call(self, name: str, *inputs: Any) -> Any:
        total = self.writer.total
        if name == "sum":
            return total(self, "a", self.axes["a"])
        if name == "dot":
            x, y = inputs
            return total(x * y, "a", self.axes["a"])
        if name == "logsumexp":
            shift = functions.largest([self])
            total = functions.sum_of_powers([functions.exp(self - shift)])
            return shift + functions.log(total)
        if name == "hypot":
            size = functions.abs(self)  # hypot(inf, nan) is inf, so nan counts as 0 here
            largest = functions.largest([functions.where(functions.less(0.0, size), size, 0.0)])
            scale = functions.where(functions.less(0.0, largest), largest, 1.0)
            x = self / scale
            norm = scale * functions.sqrt(functions.sum([x * x]))
            return functions.where(functions.less(largest, math.inf), norm, largest)
        if name == "largest":
            return self.writer.array("amax", (self, "a"), without(self.axes, "a"))
        return self.writer.write(name, *inputs)


def _varying(x: Any, letter: str) -> Any:
    """The only factor of a negation, product or quotient that has this axis; else None."""
    if x.op not in ("neg", "mul", "div"):
        return None
    having = [arg for arg in x.args if letter in axes_of(arg)]
    return having[0] if len(having) == 1 and (x.op != "div" or having[0] is x.args[0]) else None


class ArrayWriter(Writer):
    """Records operations on arrays: entry by entry, and those that change their axes."""

    def __init__(self) -> None:
        super().__init__()
        self.constants: dict[str, str] = {}  # arrays of positions, as source: their names
        self.totals: dict[tuple[int, str], Any] = {}  # sums of arrays, by number and axis
        self.n = self.array("n", (), {})  # how many samples there are

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

        Factors that lack the axis are taken out of the sum and multiplied with it afterwards, in
        a loop, because a product can have thousands of factors.
        """
        if letter not in axes_of(x):
            return x * (self.n if letter == "b" else size)
        taken_out = []
        while (x.number, letter) not in self.totals and (inner := _varying(x, letter)) is not None:
            taken_out.append((x, inner))
            x = inner
        if (x.number, letter) not in self.totals:
            left, right = x.args if x.op == "mul" else (x, x)
            matrix = axes_of(left).keys() != axes_of(right).keys()
            op, args = ("product", (left, right, letter)) if matrix else ("total", (x, letter))
            self.totals[x.number, letter] = self.array(op, args, without(x.axes, letter))
        found = self.totals[x.number, letter]
        for outer, inner in reversed(taken_out):
            again = [found if arg is inner else arg for arg in outer.args]
            found = self.totals[outer.number, letter] = self.write(outer.op, *again)
        return found

    def renamed(self, x: Any, names: dict[str, str]) -> Any:
        """The same array with other names for its axes; transposed if this changes their order."""
        axes = axes_of(x)
        names = {old: new for old, new in names.items() if old in axes and old != new}
        if not names:
            return x
        new = {names.get(letter, letter): size for letter, size in axes.items()}
        op = "as" if list(new) == list(ordered(new)) else "transposed"
        return self.array(op, (x, *itertools.chain(*names.items())), ordered(new))

    def reshaped(self, x: Any, axes: Axes) -> Any:
        """The same numbers in the same order, with other axes."""
        return x if axes_of(x) == axes else self.array("reshape", (x,), ordered(axes))

    def joined(self, parts: Sequence[tuple[Any, int]], letter: str, axes: Axes) -> Any:
        """Arrays and numbers one after the other along an axis, each with its length there."""
        alike: list[tuple[Any, int]] = []
        for x, size in parts:
            if alike and letter not in axes_of(x) and key_of("", (x,)) == key_of("", alike[-1][:1]):
                alike[-1] = x, alike[-1][1] + size  # repetitions become one part
            else:
                alike.append((x, size))
        if len(alike) == 1:
            return self.repeated(alike[0][0], axes)
        return self.array("join", (letter, *[x for part in alike for x in part]), axes)

    def repeated(self, x: Any, axes: Axes) -> Any:
        """x with all of these axes, repeated along those that it lacks."""
        return x if axes_of(x) == axes else self.array("repeat", (x,), axes)

    def index(self, text: str) -> str:
        """The name of a constant array of positions."""
        return self.constants.setdefault(f"xp.asarray({text})", f"i{len(self.constants) + 1}")


# -- Source -------------------------------------------------------------------------------------


class ArrayText(ArrayPython):
    """Symbols of arrays as source, with their axes lined up for broadcasting."""

    target: Axes | None = None  # of the expression that is being written

    def of(self, x: Any, least: int = CHOICE) -> str:
        """The text of an array, with its axes lined up for the expression that it is part of."""
        index = _aligned(axes_of(x), list(self.target or {}))
        return f"{super().of(x, ATOM)}{index}" if index else super().of(x, least)

    def typed(self, x: float, beside: Any) -> str:
        """A number with the dtype of the inputs."""
        return f"xp.asarray({self.of(x)}, dtype=inputs.dtype)"

    def comment(self, symbol: Any) -> str:
        """The shape of an array."""
        sizes = ["n" if letter == "b" else str(size) for letter, size in symbol.axes.items()]
        return f"  # ({', '.join(sizes)}{',' if len(sizes) == 1 else ''})" if sizes else ""

    def expression(self, symbol: Any) -> tuple[str, int]:
        if symbol.op in STRUCTURE:
            return STRUCTURE[symbol.op](self, symbol, *symbol.args)
        self.target = symbol.axes
        text = super().expression(symbol)
        self.target = None
        return text


def _aligned(axes: Iterable[str], letters: Sequence[str]) -> str:
    """The index that gives an array an axis of length 1 for each letter that it lacks."""
    index = [":" if letter in axes else "None" for letter in letters]
    if ":" not in index:
        return ""
    index = index[index.index(":") :]  # broadcasting adds those in front
    while index and index[-1] == ":":
        index.pop()
    return f"[{', '.join(index)}]" if index else ""


def _turned(text: str) -> str:
    """The text of a transposed matrix."""
    return text[:-2] if text.endswith(".T") else f"{text}.T"


# Operations on whole arrays. Each function takes the printer, a symbol and the symbol's arguments,
# and returns the text and how strongly it binds.


def _reduced(printer: ArrayText, symbol: Array, x: Array, letter: str) -> tuple[str, int]:
    axis = list(x.axes).index(letter)
    if symbol.op == "amax":
        return f"{printer.of(x, ATOM)}.{backends.largest(printer.xp)}(axis={axis})", ATOM
    return f"{printer.of(x, ATOM)}.sum(axis={axis})", ATOM


def _product(printer: ArrayText, symbol: Array, x: Array, y: Array, letter: str) -> tuple[str, int]:
    """A sum of products: x @ y where that fits, else Einstein's notation."""
    for left, right in ((x, y), (y, x)):
        rows, columns = _free(left, right, letter), _free(right, left, letter)
        stacked = [key for key in symbol.axes if key not in rows + columns]
        shape = "".join(stacked) + rows + columns
        fits = len(rows) < 2 and len(columns) < 2 and "".join(symbol.axes) == shape
        if fits and _is_stack(left, stacked, rows) and _is_stack(right, stacked, columns):
            text = _oriented(printer, left, rows, letter)
            return f"{text} @ {_oriented(printer, right, columns, columns)}", PRODUCT
    formula = f"{''.join(x.axes)},{''.join(y.axes)}->{''.join(symbol.axes)}"
    return f'xp.einsum("{formula}", {printer.of(x)}, {printer.of(y)})', ATOM


def _free(x: Array, other: Array, letter: str) -> str:
    """The last axis of a factor, apart from the summed one, if the other factor lacks it."""
    own = [key for key in x.axes if key != letter]
    return own[-1] if own and own[-1] not in other.axes else ""


def _is_stack(x: Array, stacked: list[str], free: str) -> bool:
    """Whether x is a matrix, or a stack of them along the first axes of the product."""
    own = [key for key in x.axes if key in stacked]
    return (
        own == list(x.axes)[: len(own)]
        and own == (stacked[-len(own) :] if own else [])
        and (bool(free) or not own)
    )


def _oriented(printer: ArrayText, x: Array, free: str, last: str) -> str:
    """The text of a factor, transposed if it has a free axis and its last one is not `last`."""
    text = printer.of(x, ATOM)
    if not free or list(x.axes)[-1] == last:
        return str(text)
    return _turned(text) if len(x.axes) == 2 else f"{text}.mT"


def _indexed(printer: ArrayText, symbol: Array, x: Array, *index: str) -> tuple[str, int]:
    return f"{printer.of(x, ATOM)}[{', '.join(index)}]", ATOM


def _reshaped(printer: ArrayText, symbol: Array, x: Any) -> tuple[str, int]:
    sizes = ["-1" if letter == "b" else str(size) for letter, size in symbol.axes.items()]
    return f"{printer.of(x, ATOM)}.reshape({', '.join(sizes)})", ATOM


def _transposed(printer: ArrayText, symbol: Array, x: Array, *names: str) -> tuple[str, int]:
    text = printer.of(x, ATOM)
    return _turned(text) if len(x.axes) == 2 else f"{text}.swapaxes(0, 1)", ATOM


def _repeated(printer: ArrayText, symbol: Array, x: Any) -> tuple[str, int]:
    """The text of x with all the axes of the symbol."""
    sizes = ["len(inputs)" if key == "b" else str(size) for key, size in symbol.axes.items()]
    shape = f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
    if not isinstance(x, Array):
        return f"xp.full({shape}, {printer.of(x)}, dtype=inputs.dtype)", ATOM
    missing = {letter: size for letter, size in symbol.axes.items() if letter not in x.axes}
    if x.axes and set(missing.values()) == {1}:
        index = ", ".join(":" if letter in x.axes else "None" for letter in symbol.axes)
        return f"{printer.of(x, ATOM)}[{index}]", ATOM
    text = f"{printer.of(x, ATOM)}{_aligned(x.axes, list(symbol.axes))}"
    return f"xp.broadcast_to({text}, {shape})", ATOM


def _joined(printer: ArrayText, symbol: Array, letter: str, *parts: Any) -> tuple[str, int]:
    axis = list(symbol.axes).index(letter)
    rest = without(symbol.axes, letter)
    if axis == 0 and all(axes_of(x) == rest and k == 1 for x, k in zip(parts[::2], parts[1::2])):
        rows = [printer.of(x) if isinstance(x, Array) else printer.typed(x, x) for x in parts[::2]]
        return f"xp.stack([{', '.join(rows)}])", ATOM
    texts = []
    for x, size in zip(parts[::2], parts[1::2]):
        part = symbol.writer._made("repeat", (x,), symbol.axes | {letter: size})
        texts.append(printer.of(x) if axes_of(x) == part.axes else _repeated(printer, part, x)[0])
    return f"xp.concatenate([{', '.join(texts)}], axis={axis})", ATOM


def _scattered(
    printer: ArrayText, symbol: Array, x: Array, index: str, size: int
) -> tuple[str, int]:
    return f"scatter_add({printer.of(x)}, {index}, {size})", ATOM


def _constant(printer: ArrayText, symbol: Array, values: Any) -> tuple[str, int]:
    def text(x: Any) -> str:
        return f"[{', '.join(map(text, x))}]" if isinstance(x, tuple) else printer.of(x)

    return f"xp.asarray({text(values)}, dtype=inputs.dtype)", ATOM


STRUCTURE: dict[str, Callable[..., tuple[str, int]]] = {
    "amax": _reduced, "total": _reduced, "product": _product, "slice": _indexed,
    "gather": _indexed, "reshape": _reshaped, "transposed": _transposed, "repeat": _repeated,
    "join": _joined, "scatter_add": _scattered, "constant": _constant,
}  # fmt: skip
