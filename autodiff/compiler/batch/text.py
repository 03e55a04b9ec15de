"""Stage 5 of 5: symbols of arrays as source for an array library."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..printer import ATOM, CHOICE, PRODUCT, ArrayPython, assembled
from ..symbolic import SAMPLES, Axes, Operand, Symbol
from .arrays import axes_of, sizes, union, without
from .operations import Batch
from .places import Ids, is_regular, nested_runs

# An operation on whole arrays: how strongly its text binds, and the text.
Written = tuple[str, int]


class ArrayText(ArrayPython):
    """Symbols of arrays as source, with their axes lined up for broadcasting."""

    target: Axes | None = None  # of the expression that is being written

    def of(self, x: Operand, least: int = CHOICE) -> str:
        """The text of an array, with its axes lined up for the expression that it is part of."""
        return self.lined_up(x, self.target or {}, least)

    def lined_up(self, x: Operand, axes: Axes, least: int = ATOM) -> str:
        """The text of an array, indexed so that it has an axis of length 1 for each it lacks."""
        index = "".join([":" if letter in axes_of(x) else "N" for letter in axes])
        index = index.lstrip("N").rstrip(":")  # broadcasting adds axes in front
        if not index:
            return super().of(x, least)
        return self.library.part(super().of(x, ATOM), ", ".join(index).replace("N", "None"))

    def has_line(self, symbol: Symbol, text: str) -> bool:
        view = re.fullmatch(r"\w+(\[[\d:., ]+\])*(\.T)?", text)  # costs nothing
        return super().has_line(symbol, text) and (symbol.own_line or not view)

    def assignment(self, name: str, text: str, symbol: Symbol) -> str:
        shape = f"  # {sizes(symbol.axes)}" if symbol.axes else ""
        return super().assignment(name, text, symbol) + shape

    def expression(self, symbol: Symbol) -> Written:
        if symbol.op in STRUCTURE:
            return STRUCTURE[symbol.op](self, symbol, *symbol.args)
        self.target = symbol.axes
        text = super().expression(symbol)
        self.target = None
        return text


INDICES = "index", "inverse"  # computed once, before the function: every device takes them


def array_program(batch: Batch, xp: Any, arguments: list[str]) -> str:
    """The source of a program for a batch of samples at once."""
    results, symbols = batch.results, list(batch.writer.symbols.values())
    text = ArrayText(xp, "inputs", results)
    constants = [x for x in symbols if x.op in INDICES and x in text.uses]
    for i, x in enumerate(constants, start=1):
        x.name, x.own_line = f"i{i}", True
    before = text.lines(constants)
    body = text.body([x for x in symbols if x.op not in INDICES], batch.forward)
    returned = [text.of(x, ATOM) + ".T" * (len(x.axes) == 2) for x in results]
    return assembled(xp, arguments, [*body, f"return {', '.join(returned)}"], text.imports, before)


# Operations on whole arrays. Each function takes the printer, a symbol and the symbol's arguments.


def _total(text: ArrayText, symbol: Symbol, x: Symbol, letter: str) -> Written:
    return text.library.along("sum", text.of(x, ATOM), list(x.axes).index(letter)), ATOM


def _largest(text: ArrayText, symbol: Symbol, x: Symbol, letter: str) -> Written:
    axis = list(x.axes).index(letter)
    return text.library.along(text.library.largest, text.of(x, ATOM), axis), ATOM


# Sums of products as products of matrices, by their axes: of x, of y, and of the result.
MATRICES = {
    "i,ij->j": "{x} @ {y}", "ij,j->i": "{x} @ {y}", "ij,jk->ik": "{x} @ {y}",
    "ij,kj->ik": "{x} @ {y}.T", "ij,ik->jk": "{x}.T @ {y}",
    "i,jik->jk": "{x} @ {y}", "ij,kjl->kil": "{x} @ {y}", "ij,kil->kjl": "{x}.T @ {y}",
    "ijk,ilk->jl": "({x} @ {y}.mT)",  # and their sum
}  # fmt: skip


def _product(text: ArrayText, symbol: Symbol, x: Symbol, y: Symbol, summed: str) -> Written:
    """A sum of products: x @ y where that fits, else Einstein's notation."""
    for left, right in ((y, x), (x, y)):
        formula = f"{''.join(left.axes)},{''.join(right.axes)}->{''.join(symbol.axes)}"
        letters = dict(zip(dict.fromkeys(filter(str.isalpha, formula)), "ijkl"))
        known = MATRICES.get("".join(letters.get(c, c) for c in formula))
        if known:
            whole = known.format(x=text.of(left, ATOM), y=text.of(right, ATOM))
            whole = whole.replace(".T.T", "")
            summed = known[0] == "("
            return (text.library.along("sum", whole, 0), ATOM) if summed else (whole, PRODUCT)
    each = all(SAMPLES in part.axes for part in (x, y, symbol))  # a product of matrices per sample
    large = math.prod(without(union((x, y)), SAMPLES).values()) > 1000
    return text.library.einsum(formula, text.of(left), text.of(right), each and large), ATOM


def _part(text: ArrayText, symbol: Symbol, x: Symbol, index: str) -> Written:
    return text.library.part(text.of(x, ATOM), index), ATOM


def _gathered(text: ArrayText, symbol: Symbol, x: Symbol, index: Symbol) -> Written:
    return text.library.gathered(text.of(x, ATOM), text.of(index)), ATOM


def _index(text: ArrayText, symbol: Symbol, anywhere: Any, axes: Any) -> Written:
    return _positions(text, np.reshape(anywhere, [size for _, size in axes])), ATOM


def _positions(text: ArrayText, positions: Ids) -> str:
    """Positions as sums of xp.arange where they are regular, else as a list."""
    if positions.ndim == 2 and is_regular(positions):
        line = _positions(text, positions[0] - positions[0, 0])
        return f"{_positions(text, positions[:, 0])}[:, None] + {line}"
    runs = nested_runs(positions) if positions.ndim == 1 else []
    size, step = runs[-1] if runs else (0, 0)
    if step > 0:
        if len(runs) > 1:
            rows = _positions(text, positions.reshape(-1, size))
            return text.library.reshaped(f"({rows})", -1)
        ends = f"{positions[0]}, {int(positions[-1]) + step}"
        return f"xp.arange({f'{ends}, {step}' if step > 1 else ends.removeprefix('0, ')})"
    return f"xp.asarray({positions.tolist()})"


def _reshaped(text: ArrayText, symbol: Symbol, x: Operand) -> Written:
    lengths = [-1 if letter == SAMPLES else size for letter, size in symbol.axes.items()]
    return text.library.reshaped(text.of(x, ATOM), *lengths), ATOM


def _transposed(text: ArrayText, symbol: Symbol, x: Symbol) -> Written:
    own = text.of(x, ATOM)
    if len(x.axes) == 2:
        return f"{own}.T".removesuffix(".T.T"), ATOM
    return text.library.transposed(own, *map([*x.axes].index, symbol.axes)), ATOM


def _repeated(text: ArrayText, symbol: Symbol, x: Operand) -> Written:
    return _broadcast(text, x, symbol.axes), ATOM


def _broadcast(text: ArrayText, x: Operand, axes: Axes) -> str:
    """The text of x with all of these axes."""
    shape = sizes(axes).replace("n", "inputs.shape[0]")
    if not isinstance(x, Symbol):
        return text.new("full", shape, text.of(x))
    if x.axes == axes:
        return text.of(x)
    if {size for letter, size in axes.items() if letter not in x.axes} == {1}:
        index = ", ".join([":" if letter in x.axes else "None" for letter in axes])
        return text.library.part(text.of(x, ATOM), index.removesuffix(", :"))
    return f"xp.broadcast_to({text.lined_up(x, axes)}, {shape})"


def _joined(text: ArrayText, symbol: Symbol, letter: str, *parts: Any) -> Written:
    axis = list(symbol.axes).index(letter)
    rest, pairs = without(symbol.axes, letter), list(zip(parts[::2], parts[1::2]))
    along = f", axis={axis}" * (axis > 0)
    if all(axes_of(x) == rest and size == 1 for x, size in pairs):
        return f"xp.stack([{', '.join([text.array(x) for x, _ in pairs])}]{along})", ATOM
    texts = [_broadcast(text, x, symbol.axes | {letter: size}) for x, size in pairs]
    return f"xp.{text.library.concatenate}([{', '.join(texts)}]{along})", ATOM


def _scattered(text: ArrayText, symbol: Symbol, x: Symbol, index: Symbol, size: int) -> Written:
    return f"scatter_add({text.of(x)}, {text.of(index)}, {size})", ATOM


def _constant(text: ArrayText, symbol: Symbol, numbers: Any) -> Written:
    def nested(x: Any) -> str:
        return f"[{', '.join(map(nested, x))}]" if isinstance(x, list) else text.of(x)

    return text.new("asarray", nested(numbers)), ATOM


STRUCTURE: dict[str, Callable[..., Written]] = {
    "total": _total, "amax": _largest,
    "product": _product, "part": _part, "gather": _gathered, "reshape": _reshaped,
    "transposed": _transposed, "repeat": _repeated, "join": _joined, "scatter_add": _scattered,
    "constant": _constant, "index": _index,
    "inverse": lambda text, symbol, index: (f"xp.argsort({text.of(index)})", ATOM),
    "n": lambda text, symbol, _: (text.new("asarray", "inputs.shape[0]"), ATOM),
}  # fmt: skip
