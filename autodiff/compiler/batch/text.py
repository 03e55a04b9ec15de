"""Stage 5 of 5: symbols of arrays as source for an array library."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..printer import ATOM, CHOICE, PRODUCT, ArrayPython, assembled
from ..symbolic import SAMPLES, Axes, Operand, Symbol
from .arrays import axes_of, sizes, without
from .operations import Batch
from .places import Ids, is_regular, nested_runs


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

    def expression(self, symbol: Symbol) -> tuple[str, int]:
        whole = getattr(self, f"_{symbol.op}", None)  # an operation on whole arrays
        if whole:
            return whole(symbol, *symbol.args), ATOM
        if symbol.op == "product":
            return self.product(symbol, *symbol.args)
        self.target = symbol.axes
        text = super().expression(symbol)
        self.target = None
        return text

    def source(self, body: list[str], arguments: Iterable[str], before: list[str]) -> str:
        """The source of a program with this body; before: the lines before its function."""
        return assembled(self.library.xp, [*arguments], body, self.imports, before)

    # Operations on whole arrays: their texts, given a symbol and its arguments.
    def _total(self, symbol: Symbol, x: Symbol, letter: str) -> str:
        return self.library.along("sum", self.of(x, ATOM), [*x.axes].index(letter))

    def _amax(self, symbol: Symbol, x: Symbol, letter: str) -> str:
        return self.library.along(self.library.largest, self.of(x, ATOM), [*x.axes].index(letter))

    def product(self, symbol: Symbol, x: Symbol, y: Symbol, _: str) -> tuple[str, int]:
        """A sum of products: x @ y where that fits, else Einstein's notation."""
        for left, right in ((y, x), (x, y)):
            formula = f"{''.join(left.axes)},{''.join(right.axes)}->{''.join(symbol.axes)}"
            letters = dict(zip(dict.fromkeys(filter(str.isalpha, formula)), "ijkl"))
            known = MATRICES.get("".join([letters.get(c, c) for c in formula]))
            if known:
                whole = known.format(x=self.of(left, ATOM), y=self.of(right, ATOM))
                whole = whole.replace(".T.T", "")
                summed = known[0] == "("
                return (self.library.along("sum", whole, 0), ATOM) if summed else (whole, PRODUCT)
        return self.library.einsum(formula, self.of(left), self.of(right)), ATOM

    def _part(self, symbol: Symbol, x: Symbol, index: str) -> str:
        samples = ":, " * (next(iter(x.axes)) == SAMPLES)
        return self.library.part(self.of(x, ATOM), samples + index)

    def _gather(self, symbol: Symbol, x: Symbol, index: Symbol) -> str:
        return self.library.gathered(self.of(x, ATOM), self.of(index), *lengths(symbol))

    def _scatter_add(self, symbol: Symbol, x: Symbol, index: Symbol, size: int) -> str:
        return f"scatter_add({self.of(x)}, {self.of(index)}, {size})"

    def _index(self, symbol: Symbol, anywhere: Any, axes: Any) -> str:
        return self.positions(np.reshape(anywhere, [size for _, size in axes]))

    def positions(self, positions: Ids) -> str:
        """Positions as sums of xp.arange where they are regular, else as a list."""
        if positions.ndim == 2 and is_regular(positions):
            line = self.positions(positions[0] - positions[0, 0])
            return f"{self.positions(positions[:, 0])}[:, None] + {line}"
        runs = nested_runs(positions) if positions.ndim == 1 else []
        size, step = runs[-1] if runs else (0, 0)
        if step > 0:
            if len(runs) > 1:
                rows = self.positions(positions.reshape(-1, size))
                return self.library.reshaped(f"({rows})", -1)
            ends = f"{positions[0]}, {int(positions[-1]) + step}"
            return f"xp.arange({f'{ends}, {step}' if step > 1 else ends.removeprefix('0, ')})"
        return f"xp.asarray({positions.tolist()})"

    def _inverse(self, symbol: Symbol, index: Symbol) -> str:
        return f"xp.argsort({self.of(index)})"

    def _reshape(self, symbol: Symbol, x: Operand) -> str:
        return self.library.reshaped(self.of(x, ATOM), *lengths(symbol))

    def _transposed(self, symbol: Symbol, x: Symbol) -> str:
        own = self.of(x, ATOM)
        if len(x.axes) == 2:
            return f"{own}.T".removesuffix(".T.T")
        return self.library.transposed(own, *map([*x.axes].index, symbol.axes))

    def _repeat(self, symbol: Symbol, x: Operand) -> str:
        return self.broadcast(x, symbol.axes)

    def broadcast(self, x: Operand, axes: Axes) -> str:
        """The text of x with all of these axes."""
        shape = sizes(axes).replace("n", "inputs.shape[0]")
        if not isinstance(x, Symbol):
            return self.new("full", shape, self.of(x))
        if x.axes == axes:
            return self.of(x)
        if {size for letter, size in axes.items() if letter not in x.axes} == {1}:
            index = ", ".join([":" if letter in x.axes else "None" for letter in axes])
            return self.library.part(self.of(x, ATOM), index.removesuffix(", :"))
        return f"xp.broadcast_to({self.lined_up(x, axes)}, {shape})"

    def _join(self, symbol: Symbol, letter: str, *parts: Any) -> str:
        axis = [*symbol.axes].index(letter)
        rest, pairs = without(symbol.axes, letter), list(zip(parts[::2], parts[1::2]))
        along = f", axis={axis}" * (axis > 0)
        if all(axes_of(x) == rest and size == 1 for x, size in pairs):
            return f"xp.stack([{', '.join([self.array(x) for x, _ in pairs])}]{along})"
        texts = [self.broadcast(x, symbol.axes | {letter: size}) for x, size in pairs]
        return f"xp.{self.library.concatenate}([{', '.join(texts)}]{along})"

    def _constant(self, symbol: Symbol, numbers: Any) -> str:
        return self.new("asarray", self.nested(numbers))

    def nested(self, x: Any) -> str:
        """The text of numbers in lists."""
        return f"[{', '.join(map(self.nested, x))}]" if isinstance(x, list) else self.of(x)

    def _n(self, symbol: Symbol, _: int) -> str:
        return self.new("asarray", "inputs.shape[0]")


def lengths(symbol: Symbol) -> list[int]:
    """The shape of an array, with -1 for the number of samples."""
    return [-1 if letter == SAMPLES else size for letter, size in symbol.axes.items()]


# Sums of products as products of matrices, by their axes: of x, of y, and of the result.
MATRICES = {
    "i,ij->j": "{x} @ {y}", "ij,j->i": "{x} @ {y}", "ij,jk->ik": "{x} @ {y}",
    "ij,kj->ik": "{x} @ {y}.T", "ij,ik->jk": "{x}.T @ {y}",
    "i,jik->jk": "{x} @ {y}", "ij,kjl->kil": "{x} @ {y}", "ij,kil->kjl": "{x}.T @ {y}",
    "ijk,kl->ijl": "{x} @ {y}", "ijk,lk->ijl": "{x} @ {y}.T",
    "ijk,ikl->ijl": "{x} @ {y}", "ijk,ilk->ijl": "{x} @ {y}.mT", "ijk,ijl->ikl": "{x}.mT @ {y}",
    "ijk,ijl->kl": "({x}.mT @ {y})", "ijk,ilk->jl": "({x} @ {y}.mT)",  # and their sum
}  # fmt: skip


INDICES = "index", "inverse"  # computed once, before the function: every device takes them


def program_text(text: ArrayText, batch: Batch, arguments: list[str]) -> str:
    """The source of a program for a batch of samples at once."""
    symbols = [x for x in batch.writer.symbols.values() if x in text.uses]
    constants = [x for x in symbols if x.op in INDICES]
    for i, x in enumerate(constants, start=1):
        x.name, x.own_line = f"i{i}", True
    before = text.lines(constants)
    body = text.body([x for x in symbols if x.op not in INDICES], batch.forward)
    returned = [text.of(x, ATOM) + ".T" * ([*x.axes][1:] == [SAMPLES]) for x in batch.results]
    return text.source([*body, f"return {', '.join(returned)}"], arguments, before)
