"""The losses of one sample with all different targets, made one graph.

Where they have different numbers, there is a leaf: of (p - 1.5)², (p - 2.0)², ... it is p - t that
is squared. Where they have different nodes of the prediction, as p[0], p[1], ... chosen by a class,
there is a `dot` with a one-hot row.
"""

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

from ..engine.admission import Floats
from ..engine.graph import topological_order
from ..engine.ops import dot
from ..engine.ops import sum as total
from ..engine.value import Value, leaf

Column = tuple[Value, ...]  # a node for each target, at one place of their graphs; or one for all
Split = tuple[Callable[..., Value], list[Column]]  # how to make its node, of those of others


class Merged:
    """One graph for the losses of all targets.

    `root` is the loss, `leaves` tell the targets apart, and `columns` are their numbers: an array
    for each leaf, with a number for each target.

    outputs: the nodes of the prediction, which stay apart. leaves: of the graphs of all losses.
    """

    def __init__(self, losses: list[Value], outputs: list[Value], leaves: set[Value]) -> None:
        self._told_apart: dict[bytes, tuple[Value, Floats]] = {}
        self._order: dict[Hashable, int] = {id(y): i for i, y in enumerate(outputs)}
        self._known = leaves.union(topological_order(total(outputs)) if outputs else ())
        done: dict[Column, Value] = {}
        stack: list[tuple[Column, Split | None]] = [(tuple(losses), None)]
        while stack:  # without recursion
            column, split = stack.pop()
            make, inputs = split or self._split(column)
            if missing := [(each, None) for each in inputs if each not in done]:
                stack += [(column, (make, inputs)), *missing]
            else:
                done[column] = make(*[done[each] for each in inputs])
        self.root = done[column]
        self.leaves = [x for x, _ in self._told_apart.values()]
        self.columns = [numbers for _, numbers in self._told_apart.values()]

    def _split(self, column: Column) -> Split:
        """How to make the node of a column, and the columns that have to be made before."""
        import numpy

        first, kinds = column[0], [*map(self._kind, column)]
        different = sorted(dict.fromkeys(kinds), key=lambda kind: self._order.get(kind, 0))
        if len(different) > 1:  # a choice, each target's own node among others of its kind
            place, some = {kind: i for i, kind in enumerate(different)}, dict(zip(kinds, column))
            places = numpy.array([place[kind] for kind in kinds])
            one_hot = [self._leaf(places == i) for i in range(len(different))]
            filled = [
                tuple([x if kind == each else some[each] for x, kind in zip(column, kinds)])
                if each != id(some[each])
                else (some[each],)
                for each in different
            ]
            return lambda *choices: dot(one_hot, choices), filled
        if kinds[0] == id(first):
            return lambda: first, []
        if not (operation := first._operation):
            return lambda: self._leaf([x._data for x in column]), []
        return partial(first._apply, operation), [
            each if len({*each}) > 1 else each[:1] for each in zip(*[x.parents for x in column])
        ]

    def _kind(self, node: Value) -> Hashable:
        """Nodes of one kind become one node; each of the prediction is a kind of its own."""
        return id(node) if node in self._known else (node._operation, len(node.parents))

    def _leaf(self, numbers: Any) -> Value:
        """A leaf with a number for each target; a constant if they are the same to the last bit."""
        import numpy

        column = numpy.array(numbers, float)
        bits, new = column.view(numpy.int64), leaf(float(column[0]), 0)
        if (bits == bits[0]).all():
            return new
        return self._told_apart.setdefault(column.tobytes(), (new, column))[0]
