"""From scalars back to matrices: what is alike in a graph becomes one array of a program.

The nodes that apply one operation to numbers from the same arrays form a group, and a group is an
array: this is the on-the-fly batching of Neubig et al. (2017), arXiv:1705.07860. Dots that share a
vector become a matrix product. Each group runs its operation of `ops.py`, and the closure that
this leaves, over symbols of arrays.
"""

import builtins
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from . import functions, graph, ops
from .program import ATOM, CHOICE, PRODUCT, Program, Symbol, Text, Writer, assembled, key_of
from .value import Value

# -- Symbols of arrays --------------------------------------------------------------------------

AXES = "bga"  # b: the samples of the batch; g: the nodes of a group; a: the arguments of each
REDUCING = (ops.sum, ops.dot, ops.logsumexp, ops.hypot)  # take all arguments as one, along axis a

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
        return self.writer.array("amax", (self, "a"), _without(self.axes, "a"))


def _without(axes: Axes, letter: str) -> Axes:
    return {key: size for key, size in axes.items() if key != letter}


def _axes(x: Any) -> Axes:
    return x.axes if isinstance(x, Array) else {}


def _union(xs: Iterable[Any]) -> Axes:
    found: Axes = {}
    for x in xs:
        found |= _axes(x)
    return {letter: found[letter] for letter in AXES if letter in found}


class ArrayWriter(Writer):
    """A writer of operations on arrays: entry by entry, and those that change their axes."""

    def __init__(self) -> None:
        super().__init__()
        self.constants: list[str] = []  # arrays of positions, as source
        self.n = self.array("n", (), {})

    def _new(self, op: str, args: tuple[Any, ...]) -> Symbol:
        return self._made(op, args, _union(args))

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
        """The sum of x along an axis; the sum of a product is a matrix product."""
        if letter not in _axes(x):
            return x * size
        if x.op == "neg":
            return -self.total(x.args[0], letter, size)
        if x.op in ("mul", "div"):
            left, right = x.args
            if letter not in _axes(right):
                left = self.total(left, letter, size)
                return left * right if x.op == "mul" else left / right
            if x.op == "mul" and letter not in _axes(left):
                return left * self.total(right, letter, size)
            if x.op == "mul" and left.axes.keys() != right.axes.keys():
                return self.array("product", (left, right, letter), _without(x.axes, letter))
        return self.array("total", (x, letter), _without(x.axes, letter))

    def renamed(self, x: Any, old: str, new: str) -> Any:
        """The same array with another name for an axis."""
        if old not in _axes(x):
            return x
        if x.op == "neg":  # on the outside, where it meets an addition
            return -self.renamed(x.args[0], old, new)
        axes = {new if key == old else key: size for key, size in x.axes.items()}
        return self.array("as", (x, old, new), {k: axes[k] for k in AXES if k in axes})

    def joined(self, parts: Sequence[tuple[Any, int]], varies: bool) -> Any:
        """Arrays and numbers one after the other along axis g, each with its length there."""
        axes = ({"b": self.n} if varies else {}) | {"g": builtins.sum([size for _, size in parts])}
        if len(parts) == 1 and _axes(parts[0][0]) == axes:
            return parts[0][0]
        flat = [x for part in parts for x in part]
        return self.array("join", tuple(flat), axes)

    def index(self, positions: Iterable[int]) -> str:
        """The name of a constant array of positions."""
        text = f"xp.asarray({list(positions)})"
        if text not in self.constants:
            self.constants.append(text)
        return f"i{self.constants.index(text) + 1}"


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
        if self.listed:
            return list(self.listed)
        found = [self.start]
        for size, step in zip(self.shape, self.steps):
            found = [p + i * step for p in found for i in range(size)]
        return found


def place_in_row(positions: Sequence[int], letter: str) -> Place:
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


# -- Groups -------------------------------------------------------------------------------------


class Argument(NamedTuple):
    """An argument of a group, an array or a number, and where it comes from unless constant."""

    symbol: Any
    source: "Source | None" = None
    place: Place = Place("", ())


class Source:
    """An array of the program, `size` numbers side by side, and the messages sent back to it."""

    def __init__(self, writer: ArrayWriter, symbol: Any, size: int, varies: bool, wanted: bool):
        self.writer = writer
        self.symbol = symbol
        self.size = size
        self.varies = varies  # from sample to sample
        self.wanted = wanted  # it leads to what is differentiated
        self.messages: dict[Place, Any] = {}
        self.arguments: list[Argument] = []
        self.backward: ops.Backward | None = None
        self.space: Axes = {}  # the axes of the operation that it comes from

    def read(self, place: Place) -> Any:
        """The numbers at a place."""
        x = self.symbol
        if "g" not in _axes(x):
            return x  # all of them are equal
        if place.contiguous and place.shape == (self.size,):
            return self.writer.renamed(x, "g", place.letters)
        axes = _without(x.axes, "g") | dict(zip(place.letters, place.shape))
        return self.writer.array("take", (x, place), axes)

    def receive(self, place: Place, message: Any) -> None:
        so_far = self.messages.get(place)
        self.messages[place] = message if so_far is None else so_far + message

    def adjoint(self) -> Any:
        """The sum of all messages, each at its place."""
        if self.size == 1 and "g" not in _axes(self.symbol):
            return functions.sum(self.messages.values())
        found: list[Any] = []
        pieces: dict[tuple[int, int], Any] = {}  # start and length of a part: its message
        for place, message in self.messages.items():
            flat = self._flat(place, message)
            if place.contiguous:
                part = place.start, place.length
                pieces[part] = pieces[part] + flat if part in pieces else flat
            else:
                index = self.writer.index(place.positions())
                args = self.writer.joined([(flat, place.length)], self.varies), index, self.size
                found.append(self.writer.array("scatter_add", args, self.axes))
        if (0, self.size) in pieces:
            found.append(pieces.pop((0, self.size)))
        while pieces:  # joined, with zeros between them; those that overlap in the next round
            parts, end = [], 0
            for start, length in sorted(pieces):
                if start >= end:
                    parts += [(0.0, start - end)] if start > end else []
                    parts.append((pieces.pop((start, length)), length))
                    end = start + length
            parts += [(0.0, self.size - end)] if end < self.size else []
            found.append(self.writer.joined(parts, self.varies))
        return functions.sum(found) if found else 0.0

    @property
    def axes(self) -> Axes:
        return ({"b": self.writer.n} if self.varies else {}) | {"g": self.size}

    def _flat(self, place: Place, message: Any) -> Any:
        """A message without axis a: rows one after the other, as they stand in the array."""
        if len(place.letters) < 2:
            return message
        return self.writer.array("flat", (message, place), self.axes | {"g": place.length})


class Batch:
    """The groups of a graph, in an order in which they can be computed."""

    def __init__(
        self, output: Value, inputs: list[Value], parameters: list[Value], wrt: set[Value]
    ):
        self.writer = writer = ArrayWriter()
        self.names: dict[Any, str] = {}  # of symbols that have a line of their own
        self.spare: dict[Any, str] = {}  # of those that may need one
        self.counts: Counter[str] = Counter()
        self.sources: list[Source] = []
        self.found: dict[
            Value, tuple[Source | None, Any]
        ] = {}  # of a node: its array, its position
        for name, leaves, axes in (
            ("inputs", inputs, {"b": writer.n}),
            ("parameters", parameters, {}),
        ):
            symbol = writer.array(name, (), axes | {"g": len(leaves)})
            source = Source(writer, symbol, len(leaves), bool(axes), not wrt.isdisjoint(leaves))
            self.found |= {x: (source, i) for i, x in enumerate(leaves)}
            self.sources.append(source)
        levels = defaultdict(list)
        for node, depth in graph.depths(output).items():
            levels[depth].append(node)
        for nodes in levels.values():
            for group in self._groups(nodes):
                self._compute(group)

    def _groups(self, nodes: Iterable[Value]) -> list[list[Value]]:
        """The nodes of one depth that can be computed together; constants are computed at once."""
        groups: dict[Any, list[Value]] = defaultdict(list)
        for node in nodes:
            found = [self.found.get(parent, (None, parent.data)) for parent in node.parents]
            if all(source is None for source, _ in found):
                data = node._rule(*[x for _, x in found])[0] if node.parents else node.data
                self.found.setdefault(node, (None, data))
            else:
                groups[node._rule, *[source for source, _ in found]].append(node)
        return [part for group in groups.values() for part in self._sharing(group)]

    def _sharing(self, group: list[Value]) -> list[list[Value]]:
        """A group of dots in parts that share a vector, so that each is a matrix product."""
        if group[0]._rule is not ops.dot:
            return [group]
        parts = [defaultdict(list), defaultdict(list)]
        for node in group:
            half = len(node.parents) // 2
            parts[0][node.parents[:half]].append(node)
            parts[1][node.parents[half:]].append(node)
        shared = min(parts, key=len)
        return list(shared.values()) if len(shared) < len(group) else [group]

    def _compute(self, group: list[Value]) -> None:
        """Run the operation of a group over arrays: one line of the program, or a few."""
        rule = group[0]._rule
        columns = list(zip(*[node.parents for node in group]))
        arguments: list[Argument] = []
        if rule in REDUCING:
            n = len(columns)
            halves = [columns[: n // 2], columns[n // 2 :]] if rule is ops.dot else [columns]
            arguments = [self._argument(list(zip(*half))) for half in halves]
        if not any(isinstance(x.symbol, Stack) for x in arguments):
            arguments = [self._argument([(parent,) for parent in column]) for column in columns]
        symbols = [x.symbol for x in arguments]
        result, backward = rule(*symbols)
        sources = [x.source for x in arguments if x.source]
        source = self._source(result, len(group), sources)
        source.arguments, source.backward = arguments, backward
        source.space = ({"b": self.writer.n} if source.varies else {}) | (
            {"g": len(group)} if len(group) > 1 else {}
        )
        source.space |= {a: size for a, size in _union(symbols).items() if a == "a"}
        self.found |= {node: (source, i) for i, node in enumerate(group)}
        known = rule is getattr(ops, rule.__name__, None)  # others may have any name
        self._name(self.spare, result, rule.__name__ if known else "v")

    def _source(self, symbol: Any, size: int, origins: Sequence[Source]) -> Source:
        varies, wanted = any(x.varies for x in origins), any(x.wanted for x in origins)
        self.sources.append(Source(self.writer, symbol, size, varies, wanted))
        return self.sources[-1]

    def _argument(self, rows: list[tuple[Value, ...]]) -> Argument:
        """The array of some nodes: a row for each member of a group, a column for each argument."""
        sources = {self.found[x][0]: None for row in rows for x in row}
        if set(sources) == {None}:
            return Argument(self._constant([[self.found[x][1] for x in row] for row in rows]))
        if len(sources) == 1:
            source, positions = (
                next(iter(sources)),
                {x: self.found[x][1] for row in rows for x in row},
            )
        else:
            source, positions = self._joined(list(dict.fromkeys(x for row in rows for x in row)))
        place = place_in_rows([[positions[x] for x in row] for row in rows])
        symbol = source.read(place)
        if source in self.sources[:2] and symbol.op == "take":
            self._name(self.names, symbol, "x" if source.varies else "p")
        return Argument(symbol, source, place)

    def _constant(self, rows: list[list[float]]) -> Any:
        """Numbers that stand in the program as they are."""
        if all(row == rows[0] for row in rows):
            if all(x == rows[0][0] for x in rows[0]):
                return rows[0][0]
            return self.writer.array("constant", (tuple(rows[0]),), {"a": len(rows[0])})
        if len(rows[0]) == 1:
            return self.writer.array("constant", (tuple(x for (x,) in rows),), {"g": len(rows)})
        axes = {"g": len(rows), "a": len(rows[0])}
        return self.writer.array("constant", (tuple(map(tuple, rows)),), axes)

    def _joined(self, nodes: list[Value]) -> tuple[Source, dict[Value, int]]:
        """An array of nodes from several arrays, and the position of each node in it."""
        arguments, parts = [], []
        for source, members in groupby(nodes, key=lambda x: self.found[x][0]):
            positions = [self.found[x][1] for x in members]
            if source is None:
                symbol = self._constant([[x] for x in positions])
                arguments.append(Argument(symbol))
            else:
                place = place_in_row(positions, "g")
                arguments.append(Argument(source.read(place), source, place))
            parts.append((arguments[-1].symbol, len(positions)))
        origins = [x.source for x in arguments if x.source]
        joined = self._source(None, len(nodes), origins)
        joined.symbol = self.writer.joined(parts, joined.varies)
        joined.arguments, joined.space = arguments, {"b": self.writer.n} if joined.varies else {}

        def backward(grad: Any) -> tuple[Any, ...]:
            whole, start, split = Source(self.writer, grad, len(nodes), joined.varies, True), 0, []
            for _, size in parts:
                steps = (1,) if size > 1 else ()
                split.append(
                    whole.read(Place("g" * len(steps), (size,) * len(steps), start, steps))
                )
                start += size
            return tuple(split)

        joined.backward = backward
        return joined, {x: i for i, x in enumerate(nodes)}

    def _name(self, names: dict[Any, str], symbol: Any, name: str) -> None:
        if isinstance(symbol, Array) and symbol not in names:
            self.counts[name] += 1
            names[symbol] = f"{name}{self.counts[name]}"

    def value(self, output: Value) -> Any:
        """The output, one number for each sample."""
        source, position = self.found[output]
        return source.read(Place("", (), position)) if source else position

    def backpropagate(self, output: Value) -> None:
        """Send the messages from the output back."""
        source, position = self.found[output]
        if source:  # the gradients of n samples are added up, n times the same if none varies
            message = 1.0 if source.varies else self.writer.n
            source.receive(Place("", (), position), message)
        for source in reversed(self.sources):
            if not (source.wanted and source.messages and source.backward):
                continue
            adjoint = source.adjoint()
            self._name_adjoint(self.spare, source.symbol, adjoint)
            for argument, message in zip(source.arguments, source.backward(adjoint)):
                origin = argument.source
                if origin and origin.wanted and not (type(message) is float and message == 0.0):
                    self._send(argument, message, source.space)

        for source in self.sources[:2]:
            for place, message in source.messages.items():
                self._name_adjoint(self.names, source.read(place), message)

    def _name_adjoint(self, names: dict[Any, str], symbol: Any, adjoint: Any) -> None:
        name = f"{names.get(symbol)}_bar"
        if symbol in names and isinstance(adjoint, Array) and name not in self.counts:
            self.counts[name] += 1
            names.setdefault(adjoint, name)

    def _send(self, argument: Argument, message: Any, space: Axes) -> None:
        """Sum a message over the axes that the argument does not have, and deliver it."""
        place, origin = argument.place, argument.source
        for letter, size in space.items():
            if letter not in place.letters + "b" * origin.varies:
                message = self.writer.total(message, letter, size)
        if place.letters == "a":
            message, place = self.writer.renamed(message, "a", "g"), place._replace(letters="g")
        origin.receive(place, message)


# -- Source -------------------------------------------------------------------------------------


class ArrayText(Text):
    """Symbols of arrays as source: their axes lined up as the libraries of arrays do it."""

    target: Axes | None = None  # of the expression that is being written

    def of(self, x: Any, least: int = CHOICE) -> str:
        """The text of an array, its axes lined up with those of the expression it stands in."""
        axes, letters = _axes(x), list(self.target or {})
        first = letters.index(next(iter(axes))) if axes and letters else 0
        index = [":" if letter in axes else "None" for letter in letters[first:]] if axes else []
        while index[-1:] == [":"]:
            index.pop()
        return f"{super().of(x, ATOM)}[{', '.join(index)}]" if index else super().of(x, least)

    def comment(self, symbol: Any) -> str:
        """The shape of an array."""
        sizes = ["n" if letter == "b" else str(size) for letter, size in symbol.axes.items()]
        return f"  # ({', '.join(sizes)}{',' if len(sizes) == 1 else ''})" if sizes else ""

    def _expression(self, symbol: Any) -> tuple[str, int]:
        if symbol.op in STRUCTURE:
            return STRUCTURE[symbol.op](self.of, symbol, *symbol.args)
        self.target = symbol.axes
        text = super()._expression(symbol)
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
        rows = place.listed
        if len(place.shape) == 2:
            m = place.shape[1]
            rows = tuple(rows[i : i + m] for i in range(0, len(rows), m))
        return f"{of(x, ATOM)}[{before}{symbol.writer.index(rows)}]", ATOM
    if not place.letters:
        return f"{of(x, ATOM)}[{before}{start}]", ATOM
    if len(place.letters) == 1:
        (step,), (k,) = place.steps, place.shape
        where = f"{start}:{stop}" if step == 1 else f"{start}:{start + (k - 1) * step + 1}:{step}"
        return f"{of(x, ATOM)}[{before}{where}]", ATOM
    k, m = place.shape
    rows = of(x, ATOM) if place.length == x.axes["g"] else f"{of(x, ATOM)}[{before}{start}:{stop}]"
    before = "-1, " if before else ""
    if place.steps[1] == 1:
        return f"{rows}.reshape({before}{k}, {m})", ATOM
    swapped = ".swapaxes(1, 2)" if before else ".T"
    return f"{rows}.reshape({before}{m}, {k}){swapped}", ATOM


def _flattened(of: Any, symbol: Array, x: Any, place: Place) -> tuple[str, int]:
    """Rows one after the other, as they stand in the array; what is missing is repeated first."""
    k, m = place.shape
    varies = "b" in symbol.axes
    letters = "bga" if varies else "ga"
    text = of(x, ATOM)
    if "".join(_axes(x)) != letters:
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
    text = of(x, ATOM) + (f"[{', '.join(index)}]" if "None" in index else "")
    return f"xp.broadcast_to({text}, {shape})"


def _joined(of: Any, symbol: Array, *parts: Any) -> tuple[str, int]:
    letters = "".join(symbol.axes)
    texts = []
    for x, size in zip(parts[::2], parts[1::2]):
        whole = "".join(_axes(x)) == letters
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


STRUCTURE = {
    "amax": _reduced, "total": _reduced, "product": _product, "take": _taken, "flat": _flattened,
    "join": _joined, "scatter_add": _scattered, "constant": _constant, "spread": _spread,
}  # fmt: skip


def batched_program(output: Value, inputs: list[Value], wrt: list[Value], xp: Any) -> Program:
    """The value of output and its derivatives for a batch of samples at once.

    Its arguments are an array of inputs, a row for each sample, and one of those leaves of wrt
    that are not among the inputs: the parameters.
    """
    given = set(inputs)
    of_inputs = given.issuperset(wrt) and bool(wrt)
    parameters = [] if of_inputs else wrt
    batch = Batch(output, inputs, parameters, set(wrt))
    writer, rows = batch.writer, batch.sources[0]
    value = batch.value(output)
    if "b" not in _axes(value):
        value = writer.array("spread", (value,), {"b": writer.n})
    forward = len(writer.symbols)
    batch.backpropagate(output)
    source = rows if of_inputs else batch.sources[1]
    gradients = writer.joined([(source.adjoint(), source.size)], source.varies)
    if of_inputs:
        columns = {x: i for i, x in enumerate(inputs)}
        whole = Source(writer, gradients, source.size, True, True)
        gradients = whole.read(place_in_row([columns[x] for x in wrt], "g"))
    batch.names |= {value: "values", gradients: "gradients"}
    text = ArrayText("xp", [value, gradients], batch.names, batch.spare)
    body = text.body(list(writer.symbols.values()), forward)
    body.append(f"return {text.of(value)}, {text.of(gradients)}")
    if any(re.search(r"\bn\b", line.partition("#")[0]) for line in body):
        body.insert(0, "n = inputs.shape[0]")
    constants = [f"i{i} = {positions}" for i, positions in enumerate(writer.constants, start=1)]
    arguments = ["inputs"] if of_inputs else ["inputs", "parameters"]
    sizes = len(inputs), len(parameters)
    return Program(assembled(xp, text, arguments, body, constants), sizes[: len(arguments)])
