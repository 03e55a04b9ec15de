"""The groups of similar nodes in a graph, each of which would be an array of its program."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..graph import topological_order
from ..value import Value
from .nodes import ArrayNode
from .vectorize import Batch, Ids, Reading


class Group(NamedTuple):
    """The nodes that one operation on arrays computes."""

    members: list[Value]  # in the order of the array
    shape: tuple[int, ...]
    alike: dict[Value, list[Value]]  # of a member, all nodes that are this number, and itself
    arguments: list[tuple[list[Value], tuple[int, ...]]]  # for each, its numbers and their shape


class _Groups(Batch):
    """A batch that only finds the groups, and runs no operation."""

    def __init__(self, root: Value) -> None:
        leaves = [x for x in topological_order(root) if not x.parents]
        self.found: list[tuple[list[list[Value]], tuple[int, ...], list[Ids]]] = []
        super().__init__(root, [], leaves, set())

    def _compute(
        self, rule: Any, members: Sequence[Any], shape: tuple[int, ...], readings: list[Reading]
    ) -> None:
        alike = [each if isinstance(each, list) else [each] for each in members]
        for i, values in enumerate(alike):
            self.ids.update(dict.fromkeys(values, self.end + i))
        self.found.append((alike, shape, [ids for ids, _ in readings]))
        self._add(ArrayNode(self.writer, None, shape, False), ())


def groups(root: Value) -> list[Group]:
    """The groups of the results in the graph of root, in an order in which they can be computed.

    >>> x, y = Value(2.0), Value(3.0)
    >>> [(group.members[0].op, group.shape) for group in groups(x.tanh() * y.tanh())]
    [('tanh', (2,)), ('*', (1,))]
    """
    batch = _Groups(root)
    values: dict[int, Value] = {}
    for value, i in batch.ids.items():
        values.setdefault(i, value)
    found = []
    for members, shape, readings in batch.found:
        alike = {nodes[0]: nodes for nodes in members}
        arguments = [([values[i] for i in np.ravel(ids)], ids.shape) for ids in readings]
        found.append(Group(list(alike), shape, alike, arguments))
    return found
