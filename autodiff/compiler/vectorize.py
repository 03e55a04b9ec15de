"""From scalars back to matrices: similar nodes of a graph become one array of a program.

The nodes that apply the same operation to numbers from the same arrays form a group, and a group
is an array: this is the on-the-fly batching of Neubig et al. (2017), arXiv:1705.07860. Dots that
pair each of some vectors with each of some others become a matrix product. Each group runs its
operation of `ops.py`, and later the backward closure, over symbols of arrays (`arrays.py`).
"""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .. import functions, graph, ops
from ..value import Value
from . import backends
from .arrays import Array, ArrayText, ArrayWriter, Stack, ordered, union
from .nodes import Argument, ArrayNode
from .places import inner_size, place_of
from .printer import ATOM, assembled
from .symbolic import itself

REDUCING = (ops.sum, ops.dot, ops.logsumexp, ops.hypot, ops.largest)  # reduce one array, along a

Ids = Any  # an array of integers: each number of the program has one
Reading = tuple[Ids, str]  # the numbers that an operation reads, and their axes


class Batch:
    """The groups of a graph, in an order in which they can be computed."""

    def __init__(
        self, root: Value, inputs: list[Value], parameters: list[Value], wrt: set[Value]
    ) -> None:
        self.writer = ArrayWriter()
        self.names: dict[Any, str] = {}  # of symbols that have a line of their own
        self.spare: dict[Any, str] = {}  # of symbols that get one only if needed
        self.counts: Counter[str] = Counter()
        self.forward = 0  # the number of symbols before the backward pass
        self.nodes: list[ArrayNode] = []
        self.bases: list[int] = []  # the id of the first number of each node
        self.end = 0
        self.ids: dict[Value, int] = {}  # constants have negative ones
        self.constants: list[float] = []
        for name, leaves, varies in (("inputs.T", inputs, True), ("parameters", parameters, False)):
            symbol = self.writer.array(name, (), {"g": len(leaves)} | ({"b": 0} if varies else {}))
            wanted = not wrt.isdisjoint(leaves)
            self._add(ArrayNode(self.writer, symbol, (len(leaves),), varies, wanted), leaves)
        levels = defaultdict(list)
        for each, depth in graph.depths(root).items():
            levels[depth].append(each)
        for values in levels.values():
            for rule, members, rows in self._groups(values):
                if rule is ops.dot:
                    self._dots(members, rows)
                else:
                    self._each(rule, members, rows)

    def _add(self, node: ArrayNode, members: Iterable[Value]) -> None:
        self.nodes.append(node)
        self.bases.append(self.end)
        self.ids.update(zip(members, range(self.end, self.end + node.size)))
        self.end += node.size

    def _owners(self, ids: Ids) -> Ids:
        """The index of the node that each number is in; -1 for constants."""
        return np.searchsorted(self.bases, ids, "right") - 1

    def _among(self, ids: Ids) -> set[int]:
        """The indices of all nodes that these numbers are in; -1 for constants."""
        return {int(i) - 1 for i in np.flatnonzero(np.bincount(self._owners(ids).reshape(-1) + 1))}

    # -- Groups --

    def _groups(self, values: list[Value]) -> Iterable[tuple[Any, list[Value], Ids]]:
        """The nodes of one depth that can be computed together, with the ids of their parents."""
        alike: dict[Any, list[Value]] = defaultdict(list)
        for each in values:
            if each.parents:
                alike[each._rule, len(each.parents)].append(each)
            elif each not in self.ids:
                self._add_constant(each, each.data)
        for (rule, count), members in alike.items():
            parents = itertools.chain.from_iterable([each.parents for each in members])
            rows = np.fromiter(map(self.ids.__getitem__, parents), int).reshape(-1, count)
            owners = self._owners(rows)
            groups: dict[bytes, list[int]] = defaultdict(list)
            for i, row in enumerate(owners):
                groups[row.tobytes()].append(i)
            for found in groups.values():
                if (owners[found[0]] < 0).all():
                    for i in found:
                        numbers = [self.constants[-1 - x] for x in rows[i]]
                        self._add_constant(members[i], rule(*numbers)[0])
                else:
                    yield rule, [members[i] for i in found], rows[found]

    def _add_constant(self, value: Value, number: float) -> None:
        self.constants.append(number)
        self.ids[value] = -len(self.constants)

    def _each(self, rule: Any, members: list[Value], rows: Ids) -> None:
        """Apply an operation to each row of numbers."""
        count = rows.shape[1]
        order = _order(rows)
        members, rows = [members[i] for i in order], rows[order]
        if rule in REDUCING and (rule is not ops.hypot or count > 3):
            halves = [rows[:, : count // 2], rows[:, count // 2 :]] if rule is ops.dot else [rows]
            self._compute(rule, members, (len(rows),), [(half, "ga") for half in halves])
            return
        shape = self._grid(rows)
        letters = "gh"[: len(shape)]
        readings = [(rows[:, j].reshape(shape), letters) for j in range(count)]
        self._compute(rule, members, shape, readings)

    def _grid(self, rows: Ids) -> tuple[int, ...]:
        """The shape of a group: a grid if its arguments are regular in it, otherwise a row."""
        k = len(rows)
        sizes = []
        for column, owner in zip(rows.T, self._owners(rows[0])):
            if owner >= 0:
                sizes += [self.nodes[owner].shape[-1]] if len(self.nodes[owner].shape) > 1 else []
                sizes += [inner_size(column)] if k > 2 else []
        for size in sizes:
            if 1 < size < k and k % size == 0:
                shape = k // size, size
                places = [
                    place_of(column.reshape(shape), "gh") for column in rows.T if column[0] >= 0
                ]
                if not any(place.listed for place in places):
                    return shape
        return (k,)

    def _dots(self, members: list[Value], rows: Ids) -> None:
        """Split dots into matrix products: each of some vectors with each of some others."""
        half = rows.shape[1] // 2
        keys = [(row[:half].tobytes(), row[half:].tobytes()) for row in rows]
        partners: list[dict[bytes, set[bytes]]] = [defaultdict(set), defaultdict(set)]
        for pair in keys:
            partners[0][pair[0]].add(pair[1])
            partners[1][pair[1]].add(pair[0])
        parts: list[dict[Any, list[bytes]]] = [defaultdict(list), defaultdict(list)]
        for i in (0, 1):
            for key, others in partners[i].items():
                parts[i][frozenset(others)].append(key)
        side = 0 if len(parts[0]) <= len(parts[1]) else 1
        if len(parts[side]) == len(set(keys)):  # nothing is shared
            self._each(ops.dot, members, rows)
            return
        cells = defaultdict(list)
        for each, pair in zip(members, keys):
            cells[pair].append(each)
        for others, own in parts[side].items():
            self._product([own, list(others)] if side == 0 else [list(others), own], cells)

    def _product(self, vectors: list[list[bytes]], cells: dict[Any, list[Value]]) -> None:
        """The dots of each of some vectors with each of some others."""
        arrays = [np.array([np.frombuffer(key, int) for key in keys]) for keys in vectors]
        orders = [np.lexsort([array[:, -1], array[:, 0]]) for array in arrays]
        arrays = [array[order] for array, order in zip(arrays, orders)]
        lefts, rights = [[keys[i] for i in order] for keys, order in zip(vectors, orders)]
        # The side that varies from sample to sample comes first: W @ x[i] for each i.
        swap = [self._varies(array) for array in arrays] == [False, True]
        sizes = [len(rights), len(lefts)] if swap else [len(lefts), len(rights)]
        shape = tuple([size for size in sizes if size > 1]) or (1,)
        names = iter("gh")
        letters = [next(names) if size > 1 else "" for size in sizes]
        letters = letters[::-1] if swap else letters
        readings = [(a if x else a[0], f"{x}a") for a, x in zip(arrays, letters)]
        pairs = (
            [(x, y) for y in rights for x in lefts] if swap else itertools.product(lefts, rights)
        )
        self._compute(ops.dot, [cells[pair] for pair in pairs], shape, readings)

    def _compute(
        self, rule: Any, members: Sequence[Any], shape: tuple[int, ...], readings: list[Reading]
    ) -> None:
        """Run the operation of a group over arrays: one line of the program, or a few.

        rule, members: the operation and its nodes, or lists of nodes that are the same number.
        shape, readings: the shape of the result, and what each argument reads.
        """
        reducing = readings[0][1].endswith("a")
        if reducing:
            readings = self._in_order(readings)
        arguments = [self._argument(ids, letters) for ids, letters in readings]
        if reducing and not any(isinstance(x.symbol, Stack) for x in arguments):
            arguments = [
                self._argument(ids[..., j], letters[:-1])
                for ids, letters in readings
                for j in range(ids.shape[-1])
            ]
        symbols = [x.symbol for x in arguments]
        result, backward = rule(*symbols)
        result = self.writer.as_number(result)
        node = self._node(result, shape, arguments)
        node.backward = backward
        node.space = {x: size for x, size in zip("gh", shape) if size > 1} | node.space
        node.space |= {a: size for a, size in union(symbols).items() if a == "a"}
        for i, each in enumerate(members):
            for value in each if isinstance(each, list) else [each]:
                self.ids[value] = self.end + i
        self._add(node, ())
        known = rule is getattr(ops, rule.__name__, None)  # a user's may have any name
        self._name(self.spare, result, rule.__name__ if known else "v")

    def _in_order(self, readings: list[Reading]) -> list[Reading]:
        """The terms of sums, in the order in which the varying numbers lie in their array."""
        varying = [ids for ids, _ in readings if self._varies(ids)]
        if len(varying) != 1:
            return readings
        (ids,) = varying
        order = np.argsort(ids.reshape(-1, ids.shape[-1])[0], kind="stable")
        return [(ids[..., order], letters) for ids, letters in readings]

    def _varies(self, ids: Ids) -> bool:
        """Whether some of the numbers differ from sample to sample."""
        return any(self.nodes[i].varies for i in self._among(ids) if i >= 0)

    def _node(self, symbol: Any, shape: tuple[int, ...], arguments: list[Argument]) -> ArrayNode:
        origins = [x.node for x in arguments if x.node]
        varies, wanted = any(x.varies for x in origins), any(x.wanted for x in origins)
        node = ArrayNode(self.writer, symbol, shape, varies, wanted)
        node.arguments, node.space = arguments, {"b": 0} if varies else {}
        return node

    # -- Arguments --

    def _argument(self, ids: Ids, letters: str) -> Argument:
        """The array of these numbers, along these axes."""
        owners = self._among(ids)
        if owners == {-1}:
            return Argument(self._constant(ids, letters))
        if len(owners) == 1:
            (owner,) = owners
            node, positions = self.nodes[owner], ids - self.bases[owner]
        else:
            node, positions = self._joined(ids)
        place = place_of(positions, letters)
        symbol = node.read(place)
        if node in self.nodes[:2] and itself(symbol).args:
            self._name(self.names, symbol, "x" if node.varies else "p")
        return Argument(symbol, node, place)

    def _constant(self, ids: Ids, letters: str) -> Any:
        """Constants, as a number or an array that is written out in the program."""
        numbers = np.array(self.constants)[-1 - ids]
        bits = numbers.view(int)  # 0.0 is not -0.0, and nan is nan
        axes = {}
        for axis, letter in reversed(list(enumerate(letters))):
            if (bits == bits.take([0], axis)).all():
                numbers, bits = numbers.take(0, axis), bits.take(0, axis)
            else:
                axes[letter] = ids.shape[axis]
        if not axes:
            return float(numbers)
        return self.writer.array("constant", (_nested(numbers),), ordered(axes))

    def _joined(self, ids: Ids) -> tuple[ArrayNode, Ids]:
        """An array of numbers from several arrays, and the position of each of the ids in it."""
        unique, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
        order = np.argsort(first)
        ranks = np.argsort(order)
        arguments, parts = [], []
        for _, run in itertools.groupby(unique[order], key=lambda x: int(self._owners(x))):
            members = np.array(list(run))
            arguments.append(self._argument(members, "g"))
            parts.append((arguments[-1].symbol, len(members)))
        node = self._node(None, (len(unique),), arguments)
        node.symbol = self.writer.joined(parts, "g", node.axes)
        ends = itertools.accumulate([size for _, size in parts], initial=0)
        places = [place_of(np.arange(*each), "g") for each in itertools.pairwise(ends)]

        def backward(grad: Any) -> tuple[Any, ...]:
            whole = ArrayNode(self.writer, grad, node.shape, node.varies)
            return tuple(map(whole.read, places))

        node.backward = backward
        self._add(node, ())
        return node, ranks[inverse].reshape(ids.shape)

    # -- Names --

    def _name(self, names: dict[Any, str], symbol: Any, name: str) -> None:
        if isinstance(symbol, Array) and itself(symbol) not in names:
            self.counts[name] += 1
            names[itself(symbol)] = f"{name}{self.counts[name]}"

    def _name_adjoint(self, names: dict[Any, str], symbol: Any, adjoint: Any) -> None:
        new = isinstance(adjoint, Array) and adjoint.number >= self.forward  # not a result
        named = names.get(itself(symbol)) if isinstance(symbol, Array) else None
        name = f"{named}_bar"
        if named and new and name not in self.counts:
            self.counts[name] += 1
            names.setdefault(itself(adjoint), name)

    # -- Values and gradients --

    def values(self, output: Value | list[Value]) -> Any:
        """The output for each sample; for several outputs, a row for each."""
        axes = {"b": 0}
        if isinstance(output, list):
            axes = {"g": len(output), "b": 0}
            x = self._argument(np.array([self.ids[y] for y in output]), "g").symbol
        else:
            x = self._argument(np.asarray(self.ids[output]), "").symbol
        return self.writer.repeated(x, axes)

    def backpropagate(self, output: Value) -> None:
        """Send messages back from the output."""
        start = self.ids[output]
        if start >= 0:  # gradients are summed over n samples: n times, if they do not vary
            root = self._argument(np.asarray(start), "")
            assert root.node is not None
            root.node.receive(root.place, 1.0 if root.node.varies else self.writer.n)
        for node in reversed(self.nodes):
            if not (node.wanted and node.messages and node.backward):
                continue
            adjoint = node.adjoint()
            self._name_adjoint(self.spare, node.symbol, adjoint)
            for argument, message in zip(node.arguments, node.backward(adjoint)):
                nothing = message is None or (type(message) is float and message == 0.0)
                if argument.node and argument.node.wanted and not nothing:
                    self._send(message, argument, node)
        for node in self.nodes[:2]:
            for place, message in node.messages.items():
                self._name_adjoint(self.names, node.read(place), message)

    def _send(self, message: Any, argument: Argument, sender: ArrayNode) -> None:
        """Sum a message over the axes that an argument does not have, and deliver it."""
        to: Any = argument.node
        for letter in sorted(sender.space):  # first over arguments and samples
            if letter not in argument.place.letters + "b" * to.varies:
                message = self.writer.total(message, letter, sender.space[letter])
        to.receive(argument.place, message)

    def gradients(self, node: ArrayNode, places: Ids) -> Any:
        """The gradients of the numbers at these positions in a node."""
        whole = ArrayNode(self.writer, node.adjoint(), node.shape, node.varies)
        axes = node.axes | {"g": len(places)}
        found = whole.read(place_of(places, "g")) if len(places) else 0.0
        return self.writer.repeated(found, axes)


def _order(rows: Ids) -> Ids:
    """The order of a group's nodes: as they came, unless sorting makes more arguments regular."""
    few = range(rows.shape[1]) if rows.shape[1] < 4 else (0, -1)
    columns = sorted(few, key=lambda j: -len(np.unique(rows[:, j])))
    found = np.lexsort([rows[:, j] for j in reversed(columns)])
    irregular = [
        [bool(place_of(each[:, j], "g").listed) for j in columns] for each in (rows, rows[found])
    ]
    return found if sum(irregular[1]) < sum(irregular[0]) else np.arange(len(rows))


def _nested(numbers: Any) -> Any:
    return tuple(map(_nested, numbers)) if numbers.ndim else float(numbers)


def batched_program(
    output: Value | list[Value], inputs: list[Value], wrt: list[Value], xp: Any
) -> tuple[str, tuple[int, ...]]:
    """The source of a program for a batch of samples at once, and the sizes of its arguments.

    Its arguments are an array of inputs, a row for each sample, and one of the parameters: wrt,
    unless these are inputs. xp is its library. For several outputs it returns the values alone.
    """
    backends.keep_memory(xp)
    of_inputs = set(inputs).issuperset(wrt) and bool(wrt)
    parameters = [] if of_inputs else wrt
    root = functions.sum(output) if isinstance(output, list) else output
    batch = Batch(root, inputs, parameters, set(wrt))
    results = {"values": batch.values(output)}
    batch.forward = len(batch.writer.symbols)
    if not isinstance(output, list):
        batch.backpropagate(root)
        columns = {x: i for i, x in enumerate(inputs)}
        places = [columns[x] for x in wrt] if of_inputs else range(len(wrt))
        node = batch.nodes[0 if of_inputs else 1]
        results["gradients"] = batch.gradients(node, np.array(places, int))
    batch.names |= {itself(x): name for name, x in results.items()}
    text = ArrayText(xp, results.values(), batch.names, batch.spare)
    body = text.body(list(batch.writer.symbols.values()), batch.forward)
    returned = [text.of(x, ATOM) + (".T" if len(x.axes) == 2 else "") for x in results.values()]
    body.append(f"return {', '.join(returned)}")
    code = [line.partition("#")[0] for line in body]
    if any(re.search(r"\bn\b", line) for line in code):
        body.insert(0, "n = xp.asarray(len(inputs), dtype=inputs.dtype)")
    constants = [
        f"{name} = {positions}"
        for positions, name in batch.writer.constants.items()
        if any(re.search(rf"\b{name}\b", line) for line in code)
    ]
    arguments = ["inputs"] if of_inputs else ["inputs", "parameters"]
    sizes = len(inputs), len(parameters)
    return assembled(xp, arguments, body, constants), sizes[: len(arguments)]
