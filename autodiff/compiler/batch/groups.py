"""Stage 3 of 5: the nodes of a graph in groups, each of which one operation on arrays computes.

The nodes of one depth that apply the same operation to numbers of the same groups form a group:
this is the on-the-fly batching of Neubig et al. (2017), arXiv:1705.07860. Dots that pair each of
some vectors with each of some others form a group too, which is a product of matrices.

Each number has an id: those of a group follow one another, those of constants are negative.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...engine import graph, ops
from ...engine.admission import Floats
from ...engine.operation import Operation
from ...engine.value import Value
from .places import Ids, collapsed, is_regular, nested_runs, runs_of

Kind = tuple[Operation | None, int]  # an operation, and the number of its arguments


@dataclass(eq=False, repr=False)
class Group:
    """Nodes that one operation computes, as an array; or leaves, if `operation` is None.

    `members` holds a node for each number, in the order of the array: equal ones are one number.
    `reads` holds for each argument the ids that it reads, along the axes of `shape`; of length 1
    where they do not change, and with a further axis for the numbers of a row.
    """

    groups: "Groups"
    start: int  # the id of its first number
    name: str
    operation: Operation | None
    shape: tuple[int, ...]
    reads: Sequence[Ids]
    members: list[Value]
    varies: bool  # from sample to sample

    @property
    def equal_nodes(self) -> dict[Value, list[Value]]:
        """Of each member, the nodes that are the same number: itself and its duplicates."""
        return {x: self.groups.nodes_of[i] for i, x in enumerate(self.members, self.start)}

    @property
    def arguments(self) -> list[tuple[list[Value], tuple[int, ...]]]:
        """Of each argument, the nodes that it reads and their shape."""
        shapes = [tuple([k for k in ids.shape if k > 1]) or (1,) for ids in self.reads]
        nodes = [[self.groups.nodes_of[i][0] for i in ids.ravel().tolist()] for ids in self.reads]
        return list(zip(nodes, shapes))

    def __repr__(self) -> str:
        shape = f"{self.name} {self.shape}"
        if self.operation is None:
            return shape
        reads = ", ".join(map(self.groups.written, self.reads))
        return f"{shape} = {self.operation.__name__}({reads})"


class Groups(list[Group]):
    """The groups of a graph, in an order in which they can be computed; a line each when printed.

    The first two hold `inputs`, which differ from sample to sample, and `parameters`. All other
    leaves are constants.
    """

    def __init__(self, root: Value, inputs: list[Value], parameters: list[Value]) -> None:
        self.ids: dict[Value, int] = {}
        self.constants: list[float] = []
        self.places: dict[bytes, int] = {}  # of constants, by their bits: 0.0 is not -0.0
        self.end = 0
        self.counts: Counter[str] = Counter()
        by_depth = list(levels(root))
        most = sum([len(nodes) for level in by_depth for nodes in level.values()])
        # Ids of constants are negative, and so count from the end, which nobody owns.
        self.owner = np.full(len(inputs) + len(parameters) + 2 * most, -1)
        for name, leaves, varies in (("inputs", inputs, True), ("parameters", parameters, False)):
            self._add(name, None, (len(leaves),), [], leaves, varies)
        for level in by_depth:
            for (operation, count), nodes in level.items():
                if operation:
                    parents = itertools.chain.from_iterable([x.parents for x in nodes])
                    rows = np.fromiter(map(self.ids.__getitem__, parents), int).reshape(-1, count)
                    self._group(operation, nodes, rows)
                    continue
                for x in nodes:
                    if x not in self.ids:
                        self._add_constant(x, x.data)

    def reads_of(self, i: int) -> list[Ids]:
        """What arguments read of a group, by the positions there; not if they read others too."""
        start, end = self[i].start, self[i].start + len(self[i].members)
        reads = [ids for group in self for ids in group.reads]
        return [ids - start for ids in reads if start <= ids.min() and ids.max() < end]

    @property
    def scattered(self) -> int:
        """How many arguments read parameters without any regularity."""
        return sum(runs_of(ids) is None for ids in self.reads_of(1))

    def owners(self, ids: Ids) -> Ids:
        """The index of the group that each number is in; -1 for constants."""
        return self.owner[ids]

    def by_owner(self, ids: Ids) -> list[Ids]:
        """The different ids in order, those of each group apart."""
        unique = np.unique(ids)
        return np.split(unique, np.flatnonzero(np.diff(self.owners(unique))) + 1)

    def varies(self, ids: Ids) -> bool:
        """Whether some of the numbers differ from sample to sample."""
        return any(self[i].varies for i in np.unique(self.owners(ids)) if i >= 0)

    def numbers(self, ids: Ids) -> Floats:
        """The numbers of constants."""
        return np.array(self.constants)[-1 - ids]

    @cached_property
    def nodes_of(self) -> dict[int, list[Value]]:
        """The nodes that have each id."""
        found: dict[int, list[Value]] = defaultdict(list)
        for x, i in self.ids.items():
            found[i].append(x)
        return found

    def written(self, ids: Ids) -> str:
        """What an argument reads, for people: tanh1, or parameters[0:40]."""
        parts = []
        for run in self.by_owner(ids):
            group, count = self[self.owners(run[0])], len(run)
            first, last = run[[0, -1]] - group.start
            if first < 0:
                number = f"{self.numbers(run)[0]:g}"
                parts.append(number if count == 1 else f"{count} constants")
            elif count == len(group.members):
                parts.append(group.name)
            elif last - first == count - 1:
                parts.append(f"{group.name}[{first}:{last + 1}]")
            else:
                parts.append(f"{group.name}[{count} of {len(group.members)}]")
        return " and ".join(parts)

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))

    # -- How nodes are grouped --

    def _add(self, *parts: Any) -> None:
        self.append(Group(self, self.end, *parts))
        members = self[-1].members
        self.owner[self.end : self.end + len(members)] = len(self) - 1
        self.ids.update(zip(members, range(self.end, self.end + len(members))))
        self.end += len(members)

    def _add_constant(self, x: Value, number: float) -> None:
        place = self.places.setdefault(np.float64(number).tobytes(), len(self.constants))
        if place == len(self.constants):
            self.constants.append(number)
        self.ids[x] = -1 - place

    def _group(self, operation: Operation, nodes: list[Value], rows: Ids) -> None:
        """Group nodes of one operation, with the ids of their parents as rows."""
        _, which = distinct(self.owners(rows))
        for i in dict.fromkeys(which.tolist()):
            mine = np.flatnonzero(which == i)
            if operation is ops.dot:
                rows[mine] = self._outer_first(rows[mine])
            own, places = distinct(rows[mine])
            members = dict(zip(places.tolist(), [nodes[j] for j in mine]))
            for part in products(own) if operation is ops.dot else [range(len(own))]:
                self._compute(operation, own[part], [members[j] for j in part])
            for j, place in zip(mine, places.tolist()):
                self.ids[nodes[j]] = self.ids[members[place]]

    def _outer_first(self, rows: Ids) -> Ids:
        """Dots of several vectors with several others, with those first that are the outer axis.

        Those vary from sample to sample; if both do, or none, they are what the first two share.
        """
        left, right = np.hsplit(rows, 2)
        if not all((side != side[0]).any() for side in (left, right)):
            return rows
        varies = self.varies(left[0]), self.varies(right[0])
        turned = varies[1] if varies[0] != varies[1] else (left[:2] != left[0]).any()
        return np.hstack([right, left]) if turned else rows

    def _compute(self, operation: Operation, rows: Ids, nodes: list[Value]) -> None:
        """Add the group of an operation on rows of numbers."""
        count = rows.shape[1]
        if operation is ops.dot:
            sizes = [len(distinct(side)[0]) for side in np.hsplit(rows, 2)]
            square = math.prod(sizes) == len(rows)
            shape = tuple([k for k in sizes if k > 1]) or (1,) if square else (len(rows),)
            reads = np.split(rows.reshape(*shape, count), 2, axis=-1)
        elif _takes_rows(operation, count):
            shape, reads = (len(rows),), [rows]
        else:
            shape = self._grid(rows)
            reads = [column.reshape(shape) for column in rows.T]
        reads = [collapsed(ids, len(shape)) for ids in reads]
        # An operation of one's own may have any name.
        name = operation.__name__ if operation.in_ops else "v"
        self.counts[name] += 1
        varies = any(map(self.varies, reads))
        self._add(f"{name}{self.counts[name]}", operation, shape, reads, nodes, varies)

    def _grid(self, rows: Ids) -> tuple[int, ...]:
        """The shape of a group: a grid if its arguments are regular in it, otherwise a row."""
        columns = [column for column in rows.T if column[0] >= 0]
        grids = [self[self.owners(column[0])].shape for column in columns]
        sizes = [shape[1] for shape in grids if len(shape) > 1]  # rows of a grid, or parts of them
        sizes += [runs[-1][0] for runs in map(nested_runs, columns) if runs]
        for size in sizes:
            if 1 < size < len(rows) and len(rows) % size == 0:
                shape = len(rows) // size, size
                if all(is_regular(column.reshape(shape)) for column in columns):
                    return shape
        return (len(rows),)


def _takes_rows(operation: Operation, count: int) -> bool:
    """Whether an operation on so many numbers is one on an array with all of them along an axis.

    The closure of prod takes them one by one, and the hypot of few is the library's.
    """
    if operation is ops.hypot:
        return count > 3
    return bool(operation.rows) and operation is not ops.prod


def distinct(rows: Ids) -> tuple[Ids, Ids]:
    """The different rows, sorted, and for each row its place among them."""
    keys = np.ascontiguousarray(rows, ">i8")
    whole = keys.view(f"V{8 * keys.shape[1]}").ravel()
    _, first, which = np.unique(whole, return_index=True, return_inverse=True)
    return rows[first], which


def products(rows: Ids) -> list[Sequence[int]]:
    """The dots that pair each of some vectors with each of some others, as indices of rows."""
    left, right = [distinct(side)[1].tolist() for side in np.hsplit(rows, 2)]
    partners: dict[int, list[int]] = defaultdict(list)
    for x, y in zip(left, right):
        partners[y].append(x)
    kinds: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for i, y in enumerate(right):
        kinds[tuple(partners[y])].append(i)
    shared = len(kinds) < len(rows)
    return list(kinds.values()) if shared else [range(len(rows))]


def in_order_of_use(root: Value, leaves: list[Value]) -> list[Value]:
    """Leaves in the order in which the nodes of a graph need them, one depth after the other."""
    known, order = set(leaves), dict[Value, None]()
    for level in levels(root):
        for nodes in level.values():
            order |= dict.fromkeys([p for x in nodes for p in x.parents if p in known])
    return list(order | dict.fromkeys(leaves))


def levels(root: Value) -> Iterator[dict[Kind, list[Value]]]:
    """The nodes of each depth, by their operation and the number of their parents."""
    depths = graph.depths(root)
    for _, level in itertools.groupby(depths, depths.__getitem__):
        by_kind: dict[Kind, list[Value]] = defaultdict(list)
        for x in level:
            by_kind[x._operation, len(x.parents)].append(x)
        yield by_kind
