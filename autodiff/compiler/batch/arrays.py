"""Symbols of arrays, with named axes.

Along an axis that an array lacks, all its numbers are equal. A sum of products over an axis is a
matrix product.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

from ...engine import ops
from ...engine.operation import Operation
from ..symbolic import ARGUMENTS, SAMPLES, Axes, Operand, Symbol, Writer, key_of, op_of, unrenamed


def axes_of(x: Operand) -> Axes:
    """The axes of an array; a number has none."""
    return x.axes if isinstance(x, Symbol) else {}


def union(xs: Iterable[Operand]) -> Axes:
    """The axes of the result of an operation on arrays and numbers, entry by entry."""
    return dict(sorted(itertools.chain.from_iterable([axes_of(x).items() for x in xs])))


def without(axes: Axes, letters: str) -> Axes:
    """The axes except those in `letters`."""
    return {letter: size for letter, size in axes.items() if letter not in letters}


def label(x: Symbol) -> str:
    """The name of an array, or s and its number."""
    own = unrenamed(x)
    return own.name or (f"s{own.number}" if own.args else own.op)


def line(x: Symbol) -> str:
    """An array as the result of its operation: tanh1 (10, n) = tanh(add1)."""
    args = [label(arg) if isinstance(arg, Symbol) else str(arg) for arg in x.args]
    return f"{label(x)} {sizes(x.axes)} = {x.op}({', '.join(args)})"


def sizes(axes: Axes) -> str:
    """The shape of an array as text: (10, n)."""
    text = ", ".join(["n" if letter == SAMPLES else str(size) for letter, size in axes.items()])
    return f"({text}{',' if len(axes) == 1 else ''})"


class ArrayWriter(Writer):
    """Records operations on arrays: entry by entry, and those that change their axes."""

    def __init__(self) -> None:
        super().__init__()
        self.n = self.array("n", (0,), {})  # how many samples there are

    def _new(self, operation: Operation, args: tuple[Any, ...]) -> Symbol:
        args = tuple([self.turned(x, sorted(x.axes)) if axes_of(x) else x for x in args])
        return Symbol(self, len(self.symbols), op_of(operation), args, union(args))

    def record(self, operation: Operation, inputs: Any) -> Any:
        """What an operation is on arrays with an axis of arguments: each is a row of numbers."""
        if operation is ops.sigmoid:  # libraries have it, or programs import it
            return self.write(operation, *inputs)
        x, rows = inputs[0], [each for each in inputs if ARGUMENTS in axes_of(each)]
        if rows and operation in (ops.sum, ops.dot):
            whole = x if operation is ops.sum else x * inputs[1]
            return self.total(whole, ARGUMENTS, rows[0].axes[ARGUMENTS])
        if rows and operation is ops.largest:
            return self.array("amax", (x, ARGUMENTS), without(x.axes, ARGUMENTS))
        if rows and operation is ops.hypot:
            largest = ops.largest([ops.abs(x)])
            scale = ops.where(ops.less(0.0, largest), largest, 1.0)
            return scale * ops.sqrt(ops.dot([x / scale], [x / scale]))
        return super().record(operation, inputs)

    def array(self, op: str, args: tuple[Any, ...], axes: Axes) -> Symbol:
        """The array of an operation that is not entry by entry."""
        key = (*key_of(op, args), *axes.items())
        if key not in self.symbols:
            self.symbols[key] = Symbol(self, len(self.symbols), op, args, axes)
        return self.symbols[key]

    def total(self, x: Operand, letter: str, size: Operand) -> Any:
        """The sum of x along an axis, with a factor that lacks it in front.

        A sum of products along an axis of both factors is a product of matrices.
        """
        if not isinstance(x, Symbol) or letter not in x.axes:
            return x * size
        if x.op == "neg":
            return -self.total(x.args[0], letter, size)
        axes, args = without(x.axes, letter), x.args
        having = [letter in axes_of(arg) for arg in args]
        if x.op == "mul" and not all(having):
            summed, factor = args if having[0] else args[::-1]
            return factor * self.total(summed, letter, size)
        if x.op == "mul" and axes_of(args[0]).keys() != axes_of(args[1]).keys():
            return self.array("product", (*args, letter), axes)
        if x.op == "product" and all(letter in axes_of(factor) for factor in args[:2]):
            return self.array("product", (*args[:2], args[2] + letter), axes)
        return self.array("total", (x, letter), axes)

    def renamed(self, x: Symbol, names: dict[str, str]) -> Symbol:
        """The same array with other names for its axes."""
        axes = {names.get(letter, letter): size for letter, size in x.axes.items()}
        if list(axes) == list(x.axes):
            return x
        if x.op == "neg":  # so that signs are seen
            return -self.renamed(x.args[0], names)
        return self.array("as", (x,), axes)

    def reshaped(self, x: Symbol, axes: Axes) -> Symbol:
        """The same numbers in the same order along other axes."""
        before = unrenamed(x).args[0] if unrenamed(x).op == "reshape" else x
        for own in (x, before):
            if list(own.axes.values()) == list(axes.values()):
                return self.renamed(own, dict(zip(own.axes, axes)))
        return self.array("reshape", (before,), axes)

    def turned(self, x: Symbol, letters: Sequence[str]) -> Symbol:
        """The array with its axes in the order of these letters, among which all of them are."""
        axes = {letter: x.axes[letter] for letter in sorted(x.axes, key=letters.index)}
        if list(axes) == list(x.axes):
            return x
        own = unrenamed(x)
        names = dict(zip(own.axes, x.axes))
        if own.op == "product" and len(axes) == 2 and not {*own.args[2]}.intersection(axes):
            factors = [self.renamed(factor, names) for factor in own.args[:2]]
            return self.array("product", (*factors, own.args[2]), axes)  # (x @ y).T is y.T @ x.T
        return self.array("transposed", (x,), axes)

    def part(self, x: Symbol, ends: Sequence[tuple[int, int]]) -> Symbol:
        """The part of an array between these ends of its first axes; a length of 1 is no axis."""
        axes, index = dict(x.axes), []
        for (letter, size), (start, stop) in zip(x.axes.items(), ends):
            axes[letter] = stop - start
            if stop - start == 1:
                del axes[letter]
            whole = ":" if stop - start == size else f"{start}:{stop}"
            index.append(whole if letter in axes else str(start))
        while index and index[-1] == ":":
            index.pop()
        return self.array("part", (x, ", ".join(index)), axes) if index else x

    def joined(self, parts: Sequence[tuple[Operand, int]], letter: str, axes: Axes) -> Symbol:
        """Arrays and numbers one after the other along an axis, each with its length there."""
        return self.array("join", (letter, *itertools.chain(*parts)), axes)

    def put_samples_first(self) -> None:
        """Put the samples first in all arrays, if some products of each sample's own are large.

        The numbers of a sample lie side by side then, so that these are products of matrices.
        """
        varying = [x for x in self.symbols.values() if SAMPLES in x.axes]
        factors = [x.args[:2] for x in varying if x.op == "product"]
        own = [union(xs) for xs in factors if all(SAMPLES in each.axes for each in xs)]
        large = any(math.prod(without(axes, SAMPLES).values()) > 1000 for axes in own)
        if large and not any(x.op in ("gather", "scatter_add") for x in varying):
            for x in varying:
                x.axes = {SAMPLES: 0} | x.axes
                x.op = x.op if x.args else "inputs"

    def repeated(self, x: Operand, axes: Axes) -> Symbol:
        """x with all of these axes, repeated along those that it lacks."""
        if isinstance(x, Symbol):
            x = self.turned(x, [*axes])
            if x.axes == axes:
                return x
        return self.array("repeat", (x,), axes)
