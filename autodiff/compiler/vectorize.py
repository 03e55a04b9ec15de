"""From scalars back to matrices: what is alike in a graph becomes one array of a program.

The nodes that apply one operation to numbers from the same arrays form a group, and a group is an
array: this is the on-the-fly batching of Neubig et al. (2017), arXiv:1705.07860. Dots that share a
vector become a matrix product. Each group runs its operation of `ops.py`, and the closure that
this leaves, over arrays that are not known yet (`arrays.py`).
"""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from .. import functions, graph, ops
from ..value import Value
from .arrays import (
    Array,
    ArrayText,
    ArrayWriter,
    Axes,
    Place,
    Stack,
    axes_of,
    place_in_row,
    place_in_rows,
    union,
    without,
)
from .printer import assembled
from .symbolic import itself

REDUCING = (ops.sum, ops.dot, ops.logsumexp, ops.hypot)  # take all arguments as one, along axis a

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
        if "g" not in axes_of(x):
            return x  # all of them are equal
        if place.contiguous and place.shape == (self.size,):
            return self.writer.renamed(x, "g", place.letters)
        axes = without(x.axes, "g") | dict(zip(place.letters, place.shape))
        return self.writer.array("take", (x, place), axes)

    def receive(self, place: Place, message: Any) -> None:
        so_far = self.messages.get(place)
        self.messages[place] = message if so_far is None else so_far + message

    def adjoint(self) -> Any:
        """The sum of all messages, each at its place."""
        if self.size == 1 and "g" not in axes_of(self.symbol):
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
        self.forward = 0  # how many symbols there are before the backward pass
        self.sources: list[Source] = []
        # Of each node the array that it is in, and its position; of a constant None and its number.
        self.found: dict[Value, tuple[Any, Any]] = {}
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
            rule: Any = node._rule
            found = [self.found[parent] for parent in node.parents]
            if not found:
                self.found.setdefault(node, (None, node.data))
            elif all(source is None for source, _ in found):
                self.found[node] = None, rule(*[number for _, number in found])[0]
            else:
                groups[rule, *[source for source, _ in found]].append(node)
        return [part for group in groups.values() for part in self._sharing(group)]

    def _sharing(self, group: list[Value]) -> list[list[Value]]:
        """A group of dots in parts that share a vector, so that each is a matrix product."""
        if group[0]._rule is not ops.dot:
            return [group]
        parts: list[dict[Any, list[Value]]] = [defaultdict(list), defaultdict(list)]
        for node in group:
            half = len(node.parents) // 2
            parts[0][node.parents[:half]].append(node)
            parts[1][node.parents[half:]].append(node)
        shared = min(parts, key=len)
        return list(shared.values()) if len(shared) < len(group) else [group]

    def _compute(self, group: list[Value]) -> None:
        """Run the operation of a group over arrays: one line of the program, or a few."""
        rule: Any = group[0]._rule
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
        source.space |= {a: size for a, size in union(symbols).items() if a == "a"}
        self.found |= {node: (source, i) for i, node in enumerate(group)}
        known = rule is getattr(ops, rule.__name__, None)  # others may have any name
        self._name(self.spare, result, rule.__name__ if known else "v")

    def _source(self, symbol: Any, size: int, origins: Sequence[Source]) -> Source:
        varies, wanted = any(x.varies for x in origins), any(x.wanted for x in origins)
        self.sources.append(Source(self.writer, symbol, size, varies, wanted))
        return self.sources[-1]

    def _argument(self, rows: list[tuple[Value, ...]]) -> Argument:
        """The array of some nodes: a row for each member of a group, a column for each argument."""
        sources = {self.found[x][0] for row in rows for x in row}
        if sources == {None}:
            return Argument(self._constant([[self.found[x][1] for x in row] for row in rows]))
        if len(sources) == 1:
            (source,) = sources
            positions = {x: self.found[x][1] for row in rows for x in row}
        else:
            source, positions = self._joined(list(dict.fromkeys(x for row in rows for x in row)))
        place = place_in_rows([[positions[x] for x in row] for row in rows])
        symbol = source.read(place)
        if source in self.sources[:2] and symbol.op == "take":
            self._name(self.names, symbol, "x" if source.varies else "p")
        return Argument(symbol, source, place)

    def _constant(self, rows: list[list[float]]) -> Any:
        """Numbers that stand in the program as they are."""
        if len({repr(x) for row in rows for x in row}) == 1:
            return rows[0][0]
        if all(row == rows[0] for row in rows):
            return self.writer.array("constant", (tuple(rows[0]),), {"a": len(rows[0])})
        if len(rows[0]) == 1:
            return self.writer.array("constant", (tuple(x for (x,) in rows),), {"g": len(rows)})
        axes = {"g": len(rows), "a": len(rows[0])}
        return self.writer.array("constant", (tuple(map(tuple, rows)),), axes)

    def _joined(self, nodes: list[Value]) -> tuple[Source, dict[Value, int]]:
        """An array of nodes from several arrays, and the position of each node in it."""
        arguments, parts = [], []
        for source, members in itertools.groupby(nodes, key=lambda x: self.found[x][0]):
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
            whole = Source(self.writer, grad, len(nodes), joined.varies, True)
            ends = itertools.accumulate([size for _, size in parts])
            ranges = [range(end - size, end) for end, (_, size) in zip(ends, parts)]
            return tuple([whole.read(place_in_row(positions, "g")) for positions in ranges])

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
        self.forward = len(self.writer.symbols)
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
                nothing = message is None or (type(message) is float and message == 0.0)
                if argument.source and argument.source.wanted and not nothing:
                    self._send(message, argument.source, argument.place, source.space)
        for source in self.sources[:2]:
            for place, message in source.messages.items():
                self._name_adjoint(self.names, source.read(place), message)

    def _name_adjoint(self, names: dict[Any, str], symbol: Any, adjoint: Any) -> None:
        name = f"{names.get(symbol)}_bar"
        new = isinstance(adjoint, Array) and adjoint.number >= self.forward  # no result by chance
        if symbol in names and new and name not in self.counts:
            self.counts[name] += 1
            names.setdefault(adjoint, name)

    def _send(self, message: Any, to: Source, place: Place, space: Axes) -> None:
        """Sum a message over the axes that the numbers at a place do not have, and deliver it."""
        for letter, size in space.items():
            if letter not in place.letters + "b" * to.varies:
                message = self.writer.total(message, letter, size)
        if place.letters == "a":
            message, place = self.writer.renamed(message, "a", "g"), place._replace(letters="g")
        to.receive(place, message)


def batched_program(
    output: Value, inputs: list[Value], wrt: list[Value], xp: Any
) -> tuple[str, tuple[int, ...]]:
    """The source of a program for a batch of samples at once, and the sizes of its arguments.

    Its arguments are an array of inputs, a row for each sample, and one of those leaves of wrt
    that are not among the inputs: the parameters.
    """
    given = set(inputs)
    of_inputs = given.issuperset(wrt) and bool(wrt)
    parameters = [] if of_inputs else wrt
    batch = Batch(output, inputs, parameters, set(wrt))
    writer, rows = batch.writer, batch.sources[0]
    value = batch.value(output)
    if "b" not in axes_of(value):
        value = writer.array("spread", (value,), {"b": writer.n})
    batch.backpropagate(output)
    source = rows if of_inputs else batch.sources[1]
    gradients = writer.joined([(source.adjoint(), source.size)], source.varies)
    if of_inputs:
        columns = {x: i for i, x in enumerate(inputs)}
        whole = Source(writer, gradients, source.size, True, True)
        chosen = whole.read(place_in_row([columns[x] for x in wrt], "g"))
        gradients = writer.joined([(chosen, len(wrt))], varies=True)
    batch.names |= {itself(x): name for x, name in ((value, "values"), (gradients, "gradients"))}
    text = ArrayText(xp, [value, gradients], batch.names, batch.spare)
    body = text.body(list(writer.symbols.values()), batch.forward)
    body.append(f"return {text.of(value)}, {text.of(gradients)}")
    if any(re.search(r"\bn\b", line.partition("#")[0]) for line in body):
        body.insert(0, "n = inputs.shape[0]")
    constants = [f"{name} = {positions}" for positions, name in writer.constants.items()]
    arguments = ["inputs"] if of_inputs else ["inputs", "parameters"]
    sizes = len(inputs), len(parameters)
    return assembled(xp, text, arguments, body, constants), sizes[: len(arguments)]
