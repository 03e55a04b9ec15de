"""Stage 3 of 4: the arrays of a program. Each group runs its operation once, over symbols.

The closures that the operations leave then send messages back, from array to array.
"""

import itertools
import keyword
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import functions, ops
from ..value import Value
from .arrays import Array, ArrayWriter, Axes, Stack, axes_of, ordered, sizes, union, without
from .groups import Group, Groups, Ids, is_regular
from .printer import uses_of
from .symbolic import Symbol, itself

# -- Where numbers lie in an array --------------------------------------------------------------

Box = tuple[tuple[int, int], ...]  # the ends of a part of an array, along each of its axes


class Place(NamedTuple):
    """The numbers of an array that an argument reads: all in a box, or from anywhere."""

    axes: tuple[tuple[str, int], ...]  # along which they change; in a box, outermost first
    box: Box | None
    listed: bytes = b""  # the positions, if they fill no box

    @property
    def letters(self) -> str:
        return "".join([letter for letter, _ in self.axes])

    def positions(self) -> Any:
        """The listed positions."""
        return np.frombuffer(self.listed, int).reshape([size for _, size in self.axes])


def place_of(positions: Ids, letters: str, shape: tuple[int, ...]) -> Place:
    """The place of positions, along axes with these letters, in an array of this shape."""
    for axis in reversed(range(positions.ndim)):
        first = positions.take([0], axis)
        if (positions == first).all():
            positions = first.squeeze(axis)
            letters = letters[:axis] + letters[axis + 1 :]
    axes = list(zip(letters, positions.shape))
    steps = [int(positions.take(1, axis).flat[0]) for axis in range(positions.ndim)]
    order = sorted(range(positions.ndim), key=lambda axis: -steps[axis])
    flat = positions.transpose(order).ravel()
    at = [(int(i.min()), int(i.max()) + 1) for i in np.unravel_index(flat, shape)]
    if math.prod([stop - start for start, stop in at]) == flat.size:
        strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        lines = [np.arange(*ends) * stride for ends, stride in zip(at, strides)]
        if (np.add.reduce(np.meshgrid(*lines, indexing="ij")).ravel() == flat).all():
            return Place(tuple([axes[axis] for axis in order]), tuple(at))
    return Place(tuple(axes), None, np.ascontiguousarray(positions, int).tobytes())


def index_text(positions: Ids) -> str:
    """Positions as source: sums of xp.arange where they are regular, else a list."""
    if positions.ndim == 2 and is_regular(positions):
        line = index_text(positions[0] - positions[0, 0])
        return f"{index_text(positions[:, 0])}[:, None] + {line}"
    step = int(positions[1] - positions[0]) if positions.ndim == 1 < len(positions) else 0
    if step > 0:
        steps = np.diff(positions, append=positions[:1])
        run = int((steps == step).argmin()) + 1  # how far they are regular
        if run == len(positions):
            start, stop = int(positions[0]), int(positions[-1]) + step
            ends = f"{start}, {stop}, {step}" if step > 1 else f"{start}, {stop}"
            return f"xp.arange({ends.removeprefix('0, ') if step == 1 else ends})"
        grid = positions.reshape(-1, run) if len(positions) % run == 0 else positions[None, :0]
        if grid.size and is_regular(grid):
            return f"({index_text(grid)}).reshape(-1)"
    return f"xp.asarray({positions.tolist()})"


# -- Arrays as nodes of a graph -----------------------------------------------------------------


class Argument(NamedTuple):
    """An argument of a group: its symbol, and where its numbers lie if they are not constants."""

    symbol: Any
    node: "ArrayNode | None" = None
    place: Place = Place((), None)


class ArrayNode:
    """An array of the program, a row or a grid of numbers, and the messages sent back to it."""

    def __init__(self, writer: ArrayWriter, symbol: Any, shape: tuple[int, ...], varies: bool):
        self.writer, self.symbol, self.shape = writer, symbol, shape
        self.varies = varies  # whether it differs from sample to sample
        self.wanted = False  # whether a leaf of wrt leads to it
        self.messages: dict[Place, Any] = {}
        self.arguments: Sequence[Argument] = ()
        self.backward: ops.Backward | None = None
        self.space: Axes = {}  # all axes of the operation that computes it

    @property
    def axes(self) -> Axes:
        return dict(zip("gh", self.shape)) | self.samples

    @property
    def samples(self) -> Axes:
        return {"b": 0} if self.varies else {}

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def read(self, place: Place) -> Any:
        """The numbers at a place."""
        if not without(axes_of(self.symbol), "b"):
            return self.symbol  # all numbers are equal
        samples = {"b": 0} if "b" in self.symbol.axes else {}
        x = self.writer.repeated(self.symbol, without(self.axes, "b") | samples)
        if place.box is not None:
            return self.writer.shaped(self.writer.part(x, place.box), dict(place.axes) | samples)
        flat = self.writer.shaped(x, {"g": self.size} | samples)
        return self.writer.array("gather", (flat, self._index(place)), dict(place.axes) | samples)

    def _index(self, place: Place) -> Any:
        return self.writer.array("index", (index_text(place.positions()),), {})

    def receive(self, place: Place, message: Any) -> None:
        so_far = self.messages.get(place)
        self.messages[place] = message if so_far is None else so_far + message

    def adjoint(self) -> Any:
        """The sum of all messages, each in its place."""
        if self.size == 1:
            return functions.sum(self.messages.values())
        found: list[Any] = []
        pieces: dict[Box, Any] = {}
        for place, message in self.messages.items():
            if place.box is None:
                found.append(self._scattered(place, message))
            else:
                piece = self._piece(place, place.box, message)
                pieces[place.box] = pieces[place.box] + piece if place.box in pieces else piece
        return functions.sum([*found, *self._side_by_side(pieces)])

    def _scattered(self, place: Place, message: Any) -> Any:
        inner = self.writer.repeated(message, dict(place.axes) | self.samples)
        args = inner, self._index(place), self.size
        sums = self.writer.array("scatter_add", args, {"g": self.size} | self.samples)
        return self.writer.shaped(sums, self.axes)

    def _piece(self, place: Place, box: Box, message: Any) -> Any:
        """A message along the axes of this array."""
        axes = _axes([stop - start for start, stop in box]) | self.samples
        own = dict(place.axes) | self.samples
        if list(own.values()) == list(axes.values()):
            return self.writer.renamed(message, dict(zip(own, axes)))
        whole = self.writer.repeated(message, ordered(own))
        return self.writer.shaped(self.writer.turned(whole, own), axes)

    def _side_by_side(self, pieces: dict[Box, Any]) -> list[Any]:
        """Arrays that pieces make up; those that overlap are in different ones."""
        rows: dict[Any, Any] = {}
        for (ends, *_), strips in itertools.groupby(sorted(pieces), key=lambda box: box[:1]):
            if len(self.shape) == 1:
                rows[ends] = pieces[(ends,)]
                continue
            axes = _axes([ends[1] - ends[0], self.shape[1]]) | self.samples
            parts = {box[1]: pieces[box] for box in strips}
            rows[ends] = functions.sum(self._chains(parts, "h", axes))
        return self._chains(rows, "g", self.axes)

    def _chains(self, pieces: dict[Any, Any], letter: str, axes: Axes) -> list[Any]:
        """Pieces one after the other along an axis, with zeros between them."""
        chains = []
        while pieces:
            parts: list[tuple[Any, int]] = []
            end = 0
            for start, stop in sorted(pieces):
                if start >= end:
                    parts += [(0.0, start - end)] if start > end else []
                    parts.append((pieces.pop((start, stop)), stop - start))
                    end = stop
            parts += [(0.0, axes[letter] - end)] if end < axes[letter] else []
            one = len(parts) == 1
            chains.append(parts[0][0] if one else self.writer.joined(parts, letter, axes))
        return chains


def _axes(sizes: Sequence[int]) -> Axes:
    return {letter: size for letter, size in zip("gh", sizes) if size > 1}


# -- The run ------------------------------------------------------------------------------------


class Batch:
    """The arrays of a program, forward and backward; a line each when printed."""

    def __init__(self, groups: Groups, output: Value | list[Value], wrt: list[Value]) -> None:
        self.groups, self.writer, self.names = groups, ArrayWriter(), Names(groups)
        self.nodes: list[ArrayNode] = []  # of the groups
        self.order: list[ArrayNode] = []  # these, and what is joined for them
        for group in groups:
            node = self._computed(group) if group.rule else self._leaves(group, set(wrt))
            self.nodes.append(node)
            self.order.append(node)
        self.results = {"values": self._values(output)}
        self.forward = len(self.writer.symbols)
        if isinstance(output, Value):
            self._backpropagate(output)
            self.results["gradients"] = self._gradients(wrt)
        self.names.fixed |= {itself(x): name for name, x in self.results.items()}
        self.names.fixed[self.writer.n] = "n"

    def _leaves(self, group: Group, wrt: set[Value]) -> ArrayNode:
        axes = {"g": len(group.members)} | ({"b": 0} if group.varies else {})
        symbol = self.writer.array(group.name + ".T" * group.varies, (), axes)
        node = ArrayNode(self.writer, symbol, group.shape, group.varies)
        node.wanted = not wrt.isdisjoint(group.members)
        return node

    def _computed(self, group: Group) -> ArrayNode:
        """The array of a group, from its operation: one line of the program, or a few."""
        axes = "gh"[: len(group.shape)]
        reads = [(ids, axes + "a" * (ids.ndim - len(axes))) for ids in group.reads]
        arguments = [self._argument(*each) for each in reads]
        if reads[0][1] != axes and not any(isinstance(x.symbol, Stack) for x in arguments):
            each = [(ids[..., j], axes) for ids, _ in reads for j in range(ids.shape[-1])]
            arguments = [self._argument(*each) for each in each]
        symbols = [x.symbol for x in arguments]
        assert group.rule is not None
        result, backward = group.rule(*symbols)
        node = self._node(self.writer.as_number(result), group.shape, arguments)
        node.backward = backward
        node.space = _axes(group.shape) | node.samples
        node.space |= {a: size for a, size in union(symbols).items() if a == "a"}
        self.names.result(group, node.symbol)
        return node

    def _node(self, symbol: Any, shape: tuple[int, ...], arguments: list[Argument]) -> ArrayNode:
        origins = [x.node for x in arguments if x.node]
        node = ArrayNode(self.writer, symbol, shape, any(x.varies for x in origins))
        node.wanted = any(x.wanted for x in origins)
        node.arguments, node.space = arguments, node.samples
        return node

    def _argument(self, ids: Ids, letters: str) -> Argument:
        """The array of these numbers, along these axes."""
        owners = np.unique(self.groups.owners(ids)).tolist()
        if owners == [-1]:
            return Argument(self._constant(ids, letters))
        if len(owners) == 1:
            group, node = self.groups[owners[0]], self.nodes[owners[0]]
            positions = ids - group.start
        else:
            group, (node, positions) = None, self._joined(ids)
        place = place_of(positions, letters, node.shape)
        symbol = node.read(place)
        if group and group.rule is None:
            self.names.part(group, positions, symbol)
        return Argument(symbol, node, place)

    def _constant(self, ids: Ids, letters: str) -> Any:
        """Constants, as a number or an array that is written out in the program."""
        numbers = self.groups.numbers(ids)
        bits = numbers.view(int)  # 0.0 is not -0.0, and nan is nan
        axes = {}
        for axis, letter in reversed(list(enumerate(letters))):
            if (bits == bits.take([0], axis)).all():
                numbers, bits = numbers.take(0, axis), bits.take(0, axis)
            else:
                axes[letter] = ids.shape[axis]
        if not axes:
            return float(numbers)
        return self.writer.array("constant", (numbers.tolist(),), ordered(axes))

    def _joined(self, ids: Ids) -> tuple[ArrayNode, Ids]:
        """An array of numbers from several arrays, and the position of each of the ids in it."""
        unique, inverse = np.unique(ids, return_inverse=True)
        owners = self.groups.owners(unique).tolist()
        runs = [np.array([i for _, i in run]) for _, run in
                itertools.groupby(zip(owners, unique), key=lambda each: each[0])]  # fmt: skip
        arguments = [self._argument(run, "g") for run in runs]
        node = self._node(None, (len(unique),), arguments)
        parts = [(x.symbol, len(run)) for x, run in zip(arguments, runs)]
        node.symbol = self.writer.joined(parts, "g", node.axes)
        ends = itertools.accumulate(map(len, runs), initial=0)
        places = [place_of(np.arange(*each), "g", node.shape) for each in itertools.pairwise(ends)]

        def backward(grad: Any) -> tuple[Any, ...]:
            whole = ArrayNode(self.writer, grad, node.shape, node.varies)
            return tuple(map(whole.read, places))

        node.backward = backward
        self.order.append(node)
        return node, inverse.reshape(ids.shape)

    # -- Results --

    def _values(self, output: Value | list[Value]) -> Any:
        """The output for each sample; for several outputs, a row for each."""
        axes = {"b": 0}
        if isinstance(output, list):
            axes = {"g": len(output), "b": 0}
            x = self._argument(np.array([self.groups.ids[y] for y in output]), "g").symbol
        else:
            x = self._argument(np.asarray(self.groups.ids[output]), "").symbol
        return self.writer.repeated(x, axes)

    def _backpropagate(self, output: Value) -> None:
        """Send messages back from the output."""
        root = self._argument(np.asarray(self.groups.ids[output]), "")
        if root.node:  # gradients are summed over n samples: n times, if they do not vary
            root.node.receive(root.place, 1.0 if root.node.varies else self.writer.n)
        for node in reversed(self.order):
            if not (node.wanted and node.messages and node.backward):
                continue
            adjoint = node.adjoint()
            self.names.adjoint(node.symbol, adjoint, self.forward, self.names.spare)
            for argument, message in zip(node.arguments, node.backward(adjoint)):
                nothing = message is None or (type(message) is float and message == 0.0)
                if argument.node and argument.node.wanted and not nothing:
                    self._send(message, argument, argument.node, node.space)
        for node in self.nodes[:2]:
            for place, message in node.messages.items():
                self.names.adjoint(node.read(place), message, self.forward, self.names.fixed)

    def _send(self, message: Any, argument: Argument, to: ArrayNode, space: Axes) -> None:
        """Sum a message over the axes that an argument does not have, and deliver it."""
        for letter in sorted(space):  # first over arguments and samples
            if letter not in argument.place.letters + "b" * to.varies:
                size = self.writer.n if letter == "b" else space[letter]
                message = self.writer.total(message, letter, size)
        to.receive(argument.place, message)

    def _gradients(self, wrt: list[Value]) -> Any:
        """The gradients of leaves, which are all inputs or all parameters."""
        ids = np.array([self.groups.ids[x] for x in wrt], int)
        i = int(self.groups.owners(ids[0])) if wrt else 1
        node = self.nodes[i]
        whole = ArrayNode(self.writer, node.adjoint(), node.shape, node.varies)
        place = place_of(ids - self.groups[i].start, "g", node.shape) if wrt else None
        return self.writer.repeated(
            whole.read(place) if place else 0.0, {"g": len(wrt)} | node.samples
        )

    def __repr__(self) -> str:
        name = self.names.of
        lines = []
        needed = uses_of(self.results.values())
        for x in self.writer.symbols.values():
            if x.args and x in needed:
                args = [name(y) if isinstance(y, Symbol) else str(y) for y in x.args]
                lines.append(f"{name(x)} {sizes(axes_of(x))} = {x.op}({', '.join(args)})")
        return "\n".join(lines)


class Names:
    """The names of arrays: those of the model where it has them, else after their operations."""

    def __init__(self, groups: Groups) -> None:
        self.fixed: dict[Any, str] = {}  # of symbols that have a line of their own
        self.spare: dict[Any, str] = {}  # of symbols that get one only if needed
        self.taken = {*keyword.kwlist, "n", "xp", "inputs", "parameters", "values", "gradients"}
        self.taken |= {group.name for group in groups}
        self.counts: Counter[str] = Counter()
        self.known = parameter_names(groups)

    def of(self, x: Any) -> str:
        """A name for any symbol."""
        own = itself(x)
        return self.given(x) or (f"s{own.number}" if own.args else own.op)

    def given(self, x: Any) -> str:
        """The name that a symbol has; "" if none."""
        return self.fixed.get(itself(x)) or self.spare.get(itself(x), "")

    def _new(self, name: str) -> str:
        self.counts[name] += 1
        return f"{name}{self.counts[name]}"

    def result(self, group: Group, symbol: Any) -> None:
        if isinstance(symbol, Array):
            self.spare.setdefault(itself(symbol), group.name)

    def part(self, group: Group, positions: Ids, symbol: Any) -> None:
        """Name a part of the inputs or of the parameters."""
        own = itself(symbol)
        if own.args and own not in self.fixed:
            first = group.members[int(positions.flat[0])]
            name, size = self.known.get(first, ("", 0))
            if size == positions.size and name.isidentifier() and name not in self.taken:
                self.taken.add(name)
                self.fixed[own] = name
            else:
                self.fixed[own] = self._new("x" if group.varies else "p")

    def adjoint(self, symbol: Any, adjoint: Any, forward: int, names: dict[Any, str]) -> None:
        """Name an adjoint after its array, in one of the dicts, unless it is a result."""
        named = isinstance(symbol, Array) and self.given(symbol)
        new = isinstance(adjoint, Array) and adjoint.number >= forward
        if named and new and f"{named}_bar" not in self.taken:
            self.taken.add(f"{named}_bar")
            names.setdefault(itself(adjoint), f"{named}_bar")


def parameter_names(groups: Groups) -> dict[Value, tuple[str, int]]:
    """Of the first entry of each parameter of a module: its name, and how many entries it has."""
    modules: dict[int, Any] = {}
    for group in groups[2:]:
        scope, module = getattr(group.members[0], "_scope", None), None
        while scope is not None:  # up to the outermost, which holds the others
            scope, module = scope.outer, scope.module or module
        if module is not None:
            modules[id(module)] = module
    found: dict[Value, tuple[str, int]] = {}
    for module in modules.values():
        for name, held in module.named_parameters():
            entries = getattr(held, "_entries", (held,))
            parts = sorted(name.split("."), key=str.isdigit)  # weight_0 for 0.weight
            found[entries[0]] = "_".join(parts), len(entries)
    return found
