"""Stage 4 of 5: the arrays of a program. Each group runs its operation once, over symbols.

The closures that the operations leave then send messages back, from array to array.
"""

import itertools
import keyword
import math
import operator
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...engine import ops
from ...engine.operation import Backward
from ...engine.value import Value
from ..printer import IMPORTED, uses_of
from ..symbolic import ARGUMENTS, COLUMNS, NODES, ROWS, SAMPLES, Axes, Operand, Symbol, unrenamed
from .arrays import ArrayWriter, axes_of, line, union, without
from .groups import Group, Groups
from .places import Grid, Ids, Place, collapsed, grids, place_of

Ends = tuple[int, int]  # of a part of an axis

# -- Arrays as nodes of a graph -----------------------------------------------------------------


class Argument(NamedTuple):
    """An argument of a group: its symbol, and where its numbers lie if they are not constants."""

    symbol: Operand
    node: "ArrayNode | None" = None
    place: Place = Place(())


class ArrayNode:
    """An array of the program, a row or a grid of numbers, and the messages sent back to it."""

    def __init__(self, writer: ArrayWriter, symbol: Any, shape: tuple[int, ...], varies: bool):
        self.symbol: Symbol = symbol
        self.writer, self.shape = writer, shape
        self.varies = varies  # whether it differs from sample to sample
        self.wanted = False  # whether a leaf of wrt leads to it
        self.messages: dict[Place, Operand] = {}
        self.arguments: Sequence[Argument] = ()
        self.backward: Backward | None = None
        self.all_axes: Axes = {}  # all axes of the operation that computes it

    @property
    def axes(self) -> Axes:
        return dict(zip(NODES, self.shape)) | self.samples

    @property
    def samples(self) -> Axes:
        return {SAMPLES: 0} if self.varies else {}

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def read(self, place: Place) -> Symbol:
        """The numbers at a place."""
        if not without(axes_of(self.symbol), SAMPLES):
            return self.symbol  # all numbers are equal
        writer, axes = self.writer, dict(place.axes)
        samples = {SAMPLES: 0} if SAMPLES in self.symbol.axes else {}
        x = writer.repeated(self.symbol, without(self.axes, SAMPLES) | samples)
        if place.anywhere:
            flat = writer.reshaped(x, {ROWS: self.size} | samples)
            return writer.array("gather", (flat, self._index(place)), axes | samples)
        x = writer.reshaped(writer.part(x, place.box), place.laid | samples)
        x = writer.turned(x, [*place.split, *samples])
        return writer.reshaped(writer.repeated(x, place.split | samples), axes | samples)

    def _index(self, place: Place) -> Symbol:
        return self.writer.array("index", (place.anywhere, place.axes), {})

    def receive(self, place: Place, message: Operand) -> None:
        so_far = self.messages.get(place)
        self.messages[place] = message if so_far is None else so_far + message

    def is_alone(self, place: Place) -> bool:
        """Whether the message at this place is the whole gradient there: no other overlaps it."""
        others = [other for other in self.messages if other.box != place.box]
        (start, end), *_ = place.box or ((0, self.size),)
        return all(x.box and (x.box[0][1] <= start or end <= x.box[0][0]) for x in others)

    def adjoint(self) -> Any:
        """The gradient of this array: the sum of all messages, each in its place."""
        parts = []
        strips: dict[Ends, dict[Ends, Any]] = defaultdict(dict)  # by rows, then by columns
        for place, message in self.messages.items():
            if place.anywhere:
                parts.append(self._scattered(place, message))
                continue
            piece, pieces = self._piece(place, message), strips[place.box[0]]
            columns = place.box[-1]
            pieces[columns] = pieces[columns] + piece if columns in pieces else piece
        rows: dict[Ends, Any] = {}
        for ends, pieces in strips.items():
            axes = _axes([ends[1] - ends[0], *self.shape[1:]]) | self.samples
            grid = len(self.shape) > 1
            whole = self._side_by_side(pieces, COLUMNS, axes) if grid else pieces.values()
            rows[ends] = ops.sum(whole)
        return ops.sum([*parts, *self._side_by_side(rows, ROWS, self.axes)])

    def _scattered(self, place: Place, message: Operand) -> Symbol:
        inner = self.writer.repeated(message, dict(place.axes) | self.samples)
        args = inner, self._index(place), self.size
        sums = self.writer.array("scatter_add", args, {ROWS: self.size} | self.samples)
        return self.writer.reshaped(sums, self.axes)

    def _piece(self, place: Place, message: Any) -> Any:
        """A message with the axes of this array; a plain number if all its entries are equal."""
        writer, samples, own = self.writer, self.samples, dict(place.axes)
        box = _axes([stop - start for start, stop in place.box]) | samples
        split, lying = place.split, [*place.laid]
        varied = without(axes_of(message), SAMPLES)
        if varied:
            message = writer.reshaped(writer.repeated(message, own | samples), split | samples)
        for letter in [letter for letter in split if letter not in lying]:  # it was repeated
            message = writer.total(message, letter, split[letter])
        if varied:
            message = writer.reshaped(writer.turned(message, [*lying, *samples]), box)
        return message

    def _side_by_side(self, pieces: dict[Ends, Operand], letter: str, axes: Axes) -> list[Any]:
        """Pieces one after the other along an axis, with zeros between; overlapping ones apart."""
        rows: list[Any] = []
        while pieces:
            parts: list[tuple[Operand, int]] = []
            end = 0
            for start, stop in sorted(pieces):
                if start >= end:
                    parts += [(0.0, start - end), (pieces.pop((start, stop)), stop - start)]
                    end = stop
            parts = [each for each in [*parts, (0.0, axes[letter] - end)] if each[1]]
            rows.append(parts[0][0] if len(parts) == 1 else self.writer.joined(parts, letter, axes))
        return rows


def _axes(sizes: Sequence[int]) -> Axes:
    return {letter: size for letter, size in zip(NODES, sizes) if size > 1}


# -- The run ------------------------------------------------------------------------------------


class Batch:
    """The arrays of a program, forward and backward; a line each when printed."""

    def __init__(self, groups: Groups, output: Value | list[Value], wrt: list[Value]) -> None:
        self.groups, self.writer = groups, ArrayWriter()
        self.taken = set(RESERVED)  # names
        self.counts: Counter[str] = Counter()
        self.known = parameter_names(groups)
        self.nodes: list[ArrayNode] = []  # of the groups
        self.permutation: Symbol | None = None  # of the parameters, if another order serves better
        self.order: list[ArrayNode] = []  # these, and what is joined for them
        self.grids: dict[int, list[Grid]] = {}  # of the leaves of a group
        self.parts: dict[tuple[str, Grid], ArrayNode] = {}  # those that something is read from
        for i, group in enumerate(groups):
            node = self._computed(group) if group.operation else self._leaves(group, wrt)
            self.nodes.append(node)
            self.order.append(node)
            if not group.operation:
                self.grids[i] = grids(groups.reads_of(i), node.size)
        self.results = [self._values(output)]
        self.forward = len(self.writer.symbols)
        if isinstance(output, Value):
            self._backpropagate(output)
            self.results.append(self._gradients(wrt))
        self.writer.put_samples_first()
        for x, name in [*zip(self.results, ("values", "gradients")), (self.writer.n, "n")]:
            unrenamed(x).name, unrenamed(x).own_line = name, True

    def _leaves(self, group: Group, wrt: list[Value]) -> ArrayNode:
        axes = {ROWS: len(group.members)} | ({SAMPLES: 0} if group.varies else {})
        symbol = self.writer.array(group.name + ".T" * group.varies, (), axes)
        if group is self.groups[1] and not all(map(operator.is_, group.members, wrt)):
            place = {x: i for i, x in enumerate(wrt)}
            order, line = tuple([place[x] for x in group.members]), ((ROWS, len(wrt)),)
            self.permutation = self.writer.array("index", (order, line), {})
            symbol = self.writer.array("gather", (symbol, self.permutation), axes)
        node = ArrayNode(self.writer, symbol, group.shape, group.varies)
        node.wanted = not set(group.members).isdisjoint(wrt)
        return node

    def _grid(self, group: Group, leaves: ArrayNode, grid: Grid) -> ArrayNode:
        """The array of leaves that are a grid."""
        if (group.name, grid) in self.parts:
            return self.parts[group.name, grid]
        positions = np.arange(grid.start, grid.end).reshape(grid.rows, grid.width)
        place = place_of(positions, NODES, leaves.shape)
        argument = Argument(leaves.read(place), leaves, place)
        node = self._node(argument.symbol, positions.shape, [argument])
        node.backward = lambda grad: (grad,)
        node.all_axes = node.axes
        self._name_part(group, positions, node.symbol)
        self.order.append(node)
        self.parts[group.name, grid] = node
        return node

    def _computed(self, group: Group) -> ArrayNode:
        """The array of a group, from its operation: one line of the program, or a few."""
        axes = NODES[: len(group.shape)]
        reads = [(ids, axes + ARGUMENTS * (ids.ndim - len(axes))) for ids in group.reads]
        arguments = [self._argument(*each) for each in reads]
        if reads[0][1] != axes and not any(ARGUMENTS in axes_of(x.symbol) for x in arguments):
            each = [(ids[..., j], axes) for ids, _ in reads for j in range(ids.shape[-1])]
            arguments = [self._argument(*each) for each in each]
        symbols = [x.symbol for x in arguments]
        assert group.operation is not None
        result, backward = group.operation.rule(*symbols)
        node = self._node(self.writer.as_number(result), group.shape, arguments)
        node.backward = backward
        node.all_axes = _axes(group.shape) | node.samples
        node.all_axes |= without(union(symbols), NODES + SAMPLES)
        self._name(node.symbol, group.name)
        return node

    def _node(self, symbol: Any, shape: tuple[int, ...], arguments: list[Argument]) -> ArrayNode:
        origins = [x.node for x in arguments if x.node]
        node = ArrayNode(self.writer, symbol, shape, any(x.varies for x in origins))
        node.wanted = any(x.wanted for x in origins)
        node.arguments, node.all_axes = arguments, node.samples
        return node

    def _argument(self, ids: Ids, letters: str) -> Argument:
        """The array of these numbers, along these axes."""
        owners = np.unique(self.groups.owners(ids)).tolist()
        if owners == [-1]:
            return Argument(self._constant(ids, letters))
        if len(owners) > 1:
            node, positions = self._joined(ids)
            place = place_of(positions, letters, node.shape)
            return Argument(node.read(place), node, place)
        group, node = self.groups[owners[0]], self.nodes[owners[0]]
        positions = ids - group.start
        for grid in self.grids.get(owners[0], ()):
            if grid.start <= positions.min() and positions.max() < grid.end:
                place = place_of(positions - grid.start, letters, (grid.rows, grid.width))
                if not place.anywhere:
                    part = self._grid(group, node, grid)
                    return Argument(part.read(place), part, place)
        place = place_of(positions, letters, node.shape)
        symbol = node.read(place)
        if group.operation is None:
            self._name_part(group, positions, symbol)
        return Argument(symbol, node, place)

    def _constant(self, ids: Ids, letters: str) -> Operand:
        """Constants, as a number or an array that is written out in the program."""
        ids = collapsed(ids, ids.ndim)
        numbers = self.groups.numbers(ids).squeeze()
        axes = {letter: size for letter, size in zip(letters, ids.shape) if size > 1}
        return self.writer.array("constant", (numbers.tolist(),), axes) if axes else float(numbers)

    def _joined(self, ids: Ids) -> tuple[ArrayNode, Ids]:
        """An array of numbers from several arrays, and the position of each of the ids in it."""
        runs = self.groups.by_owner(ids)
        whole = np.concatenate(runs)
        arguments = [self._argument(run, ROWS) for run in runs]
        node = self._node(None, (len(whole),), arguments)
        parts = [(x.symbol, len(run)) for x, run in zip(arguments, runs)]
        node.symbol = self.writer.joined(parts, ROWS, node.axes)
        places = [place_of(np.searchsorted(whole, run), ROWS, node.shape) for run in runs]

        def backward(grad: Symbol) -> tuple[Symbol, ...]:
            message = ArrayNode(self.writer, grad, node.shape, node.varies)
            return tuple(map(message.read, places))

        node.backward = backward
        self.order.append(node)
        return node, np.searchsorted(whole, ids)

    # -- Results --

    def _values(self, output: Value | list[Value]) -> Symbol:
        """The output for each sample; for several outputs, a row for each."""
        several = isinstance(output, list)
        ids = self.groups.ids
        wanted = np.array([ids[y] for y in output] if isinstance(output, list) else ids[output])
        axes = ({ROWS: wanted.size} if several else {}) | {SAMPLES: 0}
        return self.writer.repeated(self._argument(wanted, ROWS * several).symbol, axes)

    def _backpropagate(self, output: Value) -> None:
        """Send messages back from the output."""
        root = self._argument(np.asarray(self.groups.ids[output]), "")
        if root.node:  # gradients are summed over n samples: n times, if they do not vary
            root.node.receive(root.place, 1.0 if root.node.varies else self.writer.n)
        parts = [*self.parts.values()]  # named at the end
        for node in reversed(self.order):
            if not (node.wanted and node.messages and node.backward):
                continue
            adjoint = node.adjoint()
            if node not in parts:
                self._name_adjoint(node.symbol, adjoint)
            for argument, message in zip(node.arguments, node.backward(adjoint)):
                if message is not None and argument.node and argument.node.wanted:
                    self._send(message, argument, argument.node, node.all_axes)
        inputs_and_parameters = self.nodes[:2]
        for node in inputs_and_parameters:
            for place, message in node.messages.items():
                if node.is_alone(place):
                    self._name_adjoint(node.read(place), message, own_line=True)

    def _send(self, message: Operand, argument: Argument, to: ArrayNode, all_axes: Axes) -> None:
        """Sum a message over the axes that an argument does not have, and deliver it."""
        kept = dict(argument.place.axes) | to.samples
        for letter in ARGUMENTS + SAMPLES + NODES:
            if letter in all_axes and letter not in kept:
                size = self.writer.n if letter == SAMPLES else all_axes[letter]
                message = self.writer.total(message, letter, size)
        to.receive(argument.place, message)

    def _gradients(self, wrt: list[Value]) -> Symbol:
        """The gradients of leaves, which are all inputs or all parameters."""
        ids = np.array([self.groups.ids[x] for x in wrt], int)
        i = int(self.groups.owners(ids[0])) if wrt else 1
        node, axes = self.nodes[i], {ROWS: len(wrt)} | self.nodes[i].samples
        if self.permutation is not None:
            back = self.writer.array("inverse", (self.permutation,), {})
            adjoint = self.writer.repeated(node.adjoint(), axes)
            return self.writer.array("gather", (adjoint, back), axes)
        whole = ArrayNode(self.writer, node.adjoint(), node.shape, node.varies)
        place = place_of(ids - self.groups[i].start, ROWS, node.shape) if wrt else None
        return self.writer.repeated(whole.read(place) if place else 0.0, axes)

    def __repr__(self) -> str:
        needed = uses_of(self.results)
        return "\n".join([line(x) for x in self.writer.symbols.values() if x.args and x in needed])

    # -- Names: those of the model where it has them, else after the operations --

    def _name(self, x: Operand, name: str, own_line: bool = False) -> None:
        """Name an array, unless it has a line with a name, or another has this one."""
        if isinstance(x, Symbol) and name not in self.taken:
            own = unrenamed(x)
            if own.args and not own.own_line and (own_line or not own.name):
                self.taken.add(name)
                own.name, own.own_line = name, own_line

    def _name_part(self, group: Group, positions: Ids, symbol: Symbol) -> None:
        """Name a part of the inputs or of the parameters."""
        own = unrenamed(symbol)
        if own.args and not own.own_line:
            name, size = self.known.get(group.members[int(positions.flat[0])], ("", 0))
            if size != positions.size or not name.isidentifier() or OURS.search(name):
                letter = "x" if group.varies else "p"
                self.counts[letter] += 1
                name = f"{letter}{self.counts[letter]}"
            self._name(own, name, own_line=True)

    def _name_adjoint(self, symbol: Operand, adjoint: Operand, own_line: bool = False) -> None:
        """Name the adjoint of an array, unless it is a number of the forward pass."""
        name = isinstance(symbol, Symbol) and unrenamed(symbol).name
        if name and isinstance(adjoint, Symbol) and adjoint.number >= self.forward:
            self._name(adjoint, f"{name}_bar", own_line)


RESERVED = (*keyword.kwlist, "n", "xp", "inputs", "parameters", "values", "gradients", "len")
RESERVED += tuple(itertools.chain(*IMPORTED.values()))
OURS = re.compile(r"[^_\d]\d+$|_bar$|^xp_")  # names that the compiler may give to something else


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
            name = unicodedata.normalize("NFKC", "_".join(parts))  # as Python reads it
            found[entries[0]] = name, len(entries)
    return found
