"""Reading a graph: its nodes in order, and the adjoints of its nodes.

Nothing here changes a node or knows a derivative: the derivatives are in the closures.

With `tiny.py`, `sum([x] * 10_000).backward(); x.grad` is a RecursionError.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from operator import itemgetter
from typing import Any, Self, TypeVar

from .admission import AnyNumber, as_row
from .errors import described, refusal, typed
from .interrupts import with_variable
from .levels import CONSTANT, OWN, check_outside, records_comparisons
from .number import Number
from .operation import UNDEFINED, Backward, Gradients, Operation, explain

N = TypeVar("N", bound="Node")


class Node(Number):
    """What the walk reads of a node. `Value` is the one kind of node that there is."""

    __slots__ = ("_closure", "_data", "_level", "_operation", "parents")

    parents: tuple[Self, ...]  # what it was computed from; none for a leaf
    _data: AnyNumber  # a float, or a number of an outer derivative
    _operation: Operation | None  # which made this node; None for a leaf
    _closure: Backward  # from the gradient of this node to that of each parent


def topological_order(root: N) -> list[N]:
    """All nodes that root depends on, each after its parents; root comes last.

    Depth first, parents from left to right, without recursion, so that a chain of a million
    nodes works. The order is the same in every run. (Python's graphlib, which can tell of cycles,
    takes thirty times as long.) TypeError if root is not a Value.

    >>> from autodiff import Value
    >>> a, b = Value(2.0, label="a"), Value(3.0, label="b")
    >>> c = a * b + a
    >>> [node.label or node.op for node in topological_order(c)]
    ['a', 'b', '*', '+']
    """
    check_node(root, "topological_order")
    return list(_depth_first([root], tracked_only=False))


def depths(root: N) -> dict[N, int]:
    """The depth of each node that root depends on: 0 for a leaf, else 1 + its deepest parent's.

    In ascending order: first the leaves, then the results of leaves alone, and so on.

    >>> from autodiff import Value
    >>> a, b = Value(2.0, label="a"), Value(3.0, label="b")
    >>> depth = depths(a * (a + b) - b / a)
    >>> [(node.label or node.op, depth[node]) for node in depth]
    [('a', 0), ('b', 0), ('+', 1), ('/', 1), ('*', 2), ('-', 3)]
    """
    depth: dict[N, int] = {}
    for node in topological_order(root):
        depth[node] = 1 + max(map(depth.__getitem__, node.parents), default=-1)
    return dict(sorted(depth.items(), key=itemgetter(1)))


def _depth_first(roots: Iterable[N], tracked_only: bool) -> dict[N, None]:
    """The topological order, as the keys of a dict; without constants if tracked_only.

    On the way down to the leftmost leaf each node is put on the stack, under a None and its other
    parents: when the None is popped, all parents are done. No other object is made, so garbage
    collection is not triggered.
    """
    order: dict[N, None] = {}
    stack: list[Any] = [*roots]
    pop = stack.pop
    while stack:
        if (node := pop()) is None:
            order[pop()] = None
            continue
        while node not in order and (node._level or not tracked_only):  # CONSTANT is 0
            parents = node.parents
            if len(parents) == 2:  # by far the most frequent
                stack += node, None, parents[1]
            elif parents:
                stack += node, None, *parents[:0:-1]
            else:
                order[node] = None
                break
            node = parents[0]
    return order


def adjoints(
    root: N, inputs: Iterable[N] | None = None, create_graph: bool = False
) -> dict[N, AnyNumber]:
    """The derivative of root with respect to each node, as a dict from node to number.

    Every node that root depends on is in it, except constants. With `inputs` (nodes) it holds
    just these and the nodes between them and root, and no other is walked; an input that root
    does not depend on has adjoint 0.0. With `create_graph` the adjoints are nodes of a graph
    themselves, so that they can be differentiated again. No `grad` is changed.

    TypeError if root or an input is not a Value. ValueError if an input is a constant, or if a
    derivative is undefined (ZeroDivisionError if it is infinite). RuntimeError inside a function
    that is being differentiated, without `create_graph`: the adjoints would be constants to it.

    >>> from autodiff import Value
    >>> x, y = Value(2.0), Value(5.0)
    >>> adjoint = adjoints(x * y + x)
    >>> adjoint[x], adjoint[y]
    (6.0, 2.0)
    """
    check_node(root, "adjoints")
    if not create_graph:
        check_outside(root, "adjoints")
        root._number()  # the adjoints leave the graph as its own number would
    return backpropagated({root: 1.0}, inputs, create_graph)


def backpropagated(
    seeds: dict[N, AnyNumber], inputs: Iterable[N] | None = None, create_graph: bool = False
) -> dict[N, AnyNumber]:
    """The adjoints of all nodes, given `seeds`: the outputs and their adjoints."""
    adjoint = _depth_first(seeds, tracked_only=True)  # None until the first message arrives
    if inputs is not None:
        inputs = _checked_inputs(inputs)
        adjoint = between(inputs, adjoint)
        seeds = {y: seed for y, seed in seeds.items() if y in adjoint}
    adjoint |= seeds
    if create_graph:
        for node in adjoint:
            if not is_current(node):  # what it records would be derivatives of another result
                operation: Any = node._operation
                name = operation.sign or operation.__name__
                changed = f"{name} of numbers that were changed after the graph was recorded"
                expected = "those it was computed from"
                remedy = "compute the output again before differentiating it"
                raise RuntimeError(refusal("create_graph", changed, expected, remedy))
    if create_graph == records_comparisons.get():
        _send_messages(adjoint, create_graph)
    else:
        with_variable(records_comparisons, create_graph, _send_messages, adjoint, create_graph)
    return adjoint if inputs is None else dict.fromkeys(inputs, 0.0) | adjoint


def _send_messages(adjoint: dict[N, AnyNumber], create_graph: bool) -> None:
    """Run the closures of the nodes in reverse order, adding what they send to the adjoints.

    A closure sends None to an input that has no derivative, such as a condition.
    """
    node: Any = None
    get = adjoint.get
    try:
        for node, grad in reversed(adjoint.items()):  # each node after all that depend on it
            if grad is None:  # nothing was sent to it
                adjoint[node] = 0.0
                continue
            if not (parents := node.parents):
                continue
            backward = _recording_closure(node) if create_graph else node._closure
            if len(parents) == 2:  # by far the most frequent, and quicker without zip
                x, y = parents
                for_x, for_y = backward(grad)
                if (so_far := get(x, _absent)) is None:
                    adjoint[x] = for_x
                elif so_far is not _absent and for_x is not None:
                    adjoint[x] = so_far + for_x
                if (so_far := get(y, _absent)) is None:
                    adjoint[y] = for_y
                elif so_far is not _absent and for_y is not None:
                    adjoint[y] = so_far + for_y
            else:
                for x, for_x in zip(parents, backward(grad)):
                    if (so_far := get(x, _absent)) is None:
                        adjoint[x] = for_x
                    elif so_far is not _absent and for_x is not None:
                        adjoint[x] = so_far + for_x
    except UNDEFINED as error:
        raise explain(error, node._operation, node.parents, derivative=True) from None


def _recording_closure(node: Any) -> Backward:
    """The closure of a node over its parents instead of their numbers: what it computes is a graph.

    A constant in a nested derivative holds a number from outside, and stands for that.
    """
    parents = node.parents
    if node._level > OWN:
        parents = [p._data if p._level == CONSTANT else p for p in parents]
    return node._operation.rule(*parents)[1]  # type: ignore[no-any-return]


_absent = object()  # of nodes that are not walked: constants, and what leads to no input


def between(inputs: list[N], order: Iterable[N]) -> dict[N, AnyNumber]:
    """The nodes in `order` that are inputs or depend on one, as keys of a dict."""
    wanted = set(inputs)
    reaching: dict[N, AnyNumber] = {}
    for node in order:
        if node in wanted or any(parent in reaching for parent in node.parents):
            reaching[node] = None
    return reaching


def is_current(node: Node) -> bool:
    """Whether the parents of a node still have the data that it was computed from."""
    operation = node._operation
    if operation is None or node._level > OWN:  # a leaf; in a nested derivative none can be written
        return True
    try:
        now = _result_and_slopes(*operation.rule(*[parent._data for parent in node.parents]))
    except UNDEFINED:
        return False
    then = _result_and_slopes(node._data, node._closure)
    return all(x == y or (x != x and y != y) for x, y in zip(now, then))  # or both are nan


def _result_and_slopes(result: AnyNumber, backward: Backward) -> Gradients:
    """A result and its local derivatives; nan for these if one is undefined."""
    try:
        return result, *backward(1.0)
    except UNDEFINED:
        return result, math.nan


def _checked_inputs(inputs: Iterable[N]) -> list[N]:
    nodes = list(as_row(inputs, "inputs", "a sequence of Values: [x, y]"))
    for x in nodes:
        if not isinstance(x, Node):
            raise TypeError(refusal("inputs", f"{typed(x)} in the sequence", "Values only"))
        if x._level == CONSTANT:
            remedy = "set requires_grad = True on the leaves before computing with them"
            expected = "nodes that require a gradient"
            raise ValueError(refusal("inputs", f"a constant, {described(x)}", expected, remedy))
    return nodes


def check_node(root: object, subject: str) -> None:
    if not isinstance(root, Node):
        raise TypeError(refusal(subject, typed(root), "a Value, such as a loss"))
