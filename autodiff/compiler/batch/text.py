"""Stage 5 of 5: symbols of arrays as source for NumPy, JAX and PyTorch."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import backends
from ..printer import ATOM, CHOICE, PRODUCT, ArrayPython, assembled
from ..symbolic import SAMPLES, Axes, Operand, Symbol
from .arrays import axes_of, sizes, union, without
from .operations import Batch

# An operation on whole arrays: how strongly its text binds, and the text.
Written = tuple[str, int]


class ArrayText(ArrayPython):
    """Symbols of arrays as source, with their axes lined up for broadcasting."""

    target: Axes | None = None  # of the expression that is being written

    def of(self, x: Operand, least: int = CHOICE) -> str:
        """The text of an array, with its axes lined up for the expression that it is part of."""
        index = _aligned(axes_of(x), list(self.target or {}))
        return f"{super().of(x, ATOM)}{index}" if index else super().of(x, least)

    def has_line(self, symbol: Symbol, text: str) -> bool:
        view = re.fullmatch(r"\w+(\[[\d:, ]+\])*(\.T)?", text)  # costs nothing
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


def _aligned(axes: Iterable[str], letters: Sequence[str]) -> str:
    """The index that gives an array an axis of length 1 for each letter that it lacks."""
    index = [":" if letter in axes else "None" for letter in letters]
    if ":" not in index:
        return ""
    index = index[index.index(":") :]  # broadcasting adds those in front
    while index and index[-1] == ":":
        index.pop()
    return f"[{', '.join(index)}]" if index else ""


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


def _method(name: str, text: ArrayText, symbol: Symbol, x: Symbol, letter: str) -> Written:
    return f"{text.of(x, ATOM)}.{name}(axis={list(x.axes).index(letter)})", ATOM


# Sums of products as products of matrices, by their axes: of x, of y, and of the result.
MATRICES = {
    "i,ij->j": "{x} @ {y}", "ij,j->i": "{x} @ {y}", "ij,jk->ik": "{x} @ {y}",
    "ij,kj->ik": "{x} @ {y}.T", "ij,ik->jk": "{x}.T @ {y}",
    "i,jik->jk": "{x} @ {y}", "ij,kjl->kil": "{x} @ {y}", "ij,kil->kjl": "{x}.T @ {y}",
    "ijk,ilk->jl": "({x} @ {y}.mT).sum(axis=0)",
}  # fmt: skip


def _product(text: ArrayText, symbol: Symbol, x: Symbol, y: Symbol, summed: str) -> Written:
    """A sum of products: x @ y where that fits, else Einstein's notation."""
    for left, right in ((y, x), (x, y)):
        formula = f"{''.join(left.axes)},{''.join(right.axes)}->{''.join(symbol.axes)}"
        letters = dict(zip(dict.fromkeys(filter(str.isalpha, formula)), "ijkl"))
        known = MATRICES.get("".join(letters.get(c, c) for c in formula))
        if known:
            whole = known.format(x=text.of(left, ATOM), y=text.of(right, ATOM))
            return whole.replace(".T.T", ""), ATOM if known.endswith(")") else PRODUCT
    each = all(SAMPLES in part.axes for part in (x, y, symbol))  # a product of matrices per sample
    large = math.prod(without(union((x, y)), SAMPLES).values()) > 1000
    order = ", optimize=True" * (each and large and text.xp.__name__ == "numpy")
    return f'xp.einsum("{formula}", {text.of(left)}, {text.of(right)}{order})', ATOM


def _part(text: ArrayText, symbol: Symbol, x: Symbol, index: Symbol | str) -> Written:
    return f"{text.of(x, ATOM)}[{index if isinstance(index, str) else text.of(index)}]", ATOM


def _reshaped(text: ArrayText, symbol: Symbol, x: Operand) -> Written:
    lengths = ["-1" if letter == SAMPLES else str(size) for letter, size in symbol.axes.items()]
    return f"{text.of(x, ATOM)}.reshape({', '.join(lengths)})", ATOM


def _transposed(text: ArrayText, symbol: Symbol, x: Symbol) -> Written:
    own = text.of(x, ATOM)
    if len(x.axes) == 2:
        return f"{own}.T".removesuffix(".T.T"), ATOM
    moved = [i for i, pair in enumerate(zip(x.axes, symbol.axes)) if len({*pair}) > 1]
    if len(moved) == 2:
        return f"{own}.swapaxes({moved[0]}, {moved[1]})", ATOM
    return f'xp.einsum("{"".join(x.axes)}->{"".join(symbol.axes)}", {own})', ATOM


def _repeated(text: ArrayText, symbol: Symbol, x: Operand) -> Written:
    return _broadcast(text, x, symbol.axes), ATOM


def _broadcast(text: ArrayText, x: Operand, axes: Axes) -> str:
    """The text of x with all of these axes."""
    shape = sizes(axes).replace("n", "len(inputs)")
    if not isinstance(x, Symbol):
        return text.new("full", shape, text.of(x))
    if x.axes == axes:
        return text.of(x)
    if {size for letter, size in axes.items() if letter not in x.axes} == {1}:
        index = ", ".join([":" if letter in x.axes else "None" for letter in axes])
        return f"{text.of(x, ATOM)}[{index.removesuffix(', :')}]"
    return f"xp.broadcast_to({text.of(x, ATOM)}{_aligned(x.axes, list(axes))}, {shape})"


def _joined(text: ArrayText, symbol: Symbol, letter: str, *parts: Any) -> Written:
    axis = list(symbol.axes).index(letter)
    rest, pairs = without(symbol.axes, letter), list(zip(parts[::2], parts[1::2]))
    along = f", axis={axis}" * (axis > 0)
    if all(axes_of(x) == rest and size == 1 for x, size in pairs):
        return f"xp.stack([{', '.join([text.array(x) for x, _ in pairs])}]{along})", ATOM
    texts = [_broadcast(text, x, symbol.axes | {letter: size}) for x, size in pairs]
    return f"xp.concatenate([{', '.join(texts)}]{along})", ATOM


def _scattered(text: ArrayText, symbol: Symbol, x: Symbol, index: Symbol, size: int) -> Written:
    return f"scatter_add({text.of(x)}, {text.of(index)}, {size})", ATOM


def _constant(text: ArrayText, symbol: Symbol, numbers: Any) -> Written:
    def nested(x: Any) -> str:
        return f"[{', '.join(map(nested, x))}]" if isinstance(x, list) else text.of(x)

    return text.new("asarray", nested(numbers)), ATOM


STRUCTURE: dict[str, Callable[..., Written]] = {
    "total": lambda *given: _method("sum", *given),
    "amax": lambda text, *given: _method(backends.largest(text.xp), text, *given),
    "product": _product, "part": _part, "gather": _part, "reshape": _reshaped,
    "transposed": _transposed, "repeat": _repeated, "join": _joined, "scatter_add": _scattered,
    "constant": _constant, "index": lambda text, symbol, positions: (positions, ATOM),
    "inverse": lambda text, symbol, index: (f"xp.argsort({text.of(index)})", ATOM),
    "n": lambda text, symbol, _: (text.new("asarray", "len(inputs)"), ATOM),
}  # fmt: skip
