"""The backward pass, one node at a time: what each sends to its parents.

With `tiny.py`, `[m.message for m in next(steps(x * x)).messages]` is out of reach.
"""

from collections.abc import Iterator
from typing import NamedTuple

from . import graph
from .levels import CONSTANT
from .operation import Gradients
from .value import Value


class Message(NamedTuple):
    """What a node sends to one of its parents: upstream times local."""

    parent: Value
    local: float | None  # the derivative of the node by the parent; None for a constant
    message: float | None  # the adjoint of the node times local, added to the parent's


class Step(NamedTuple):
    """A node of the backward pass, its complete adjoint, and its messages to its parents."""

    node: Value
    adjoint: float
    messages: tuple[Message, ...]


def steps(root: Value) -> Iterator[Step]:
    """The backward pass from root, one node at a time, in the order in which it runs.

    No `grad` is changed. TypeError if root is not a Value.

    >>> a = Value(3.0, label="a")
    >>> for node, adjoint, messages in steps(a * a):
    ...     print(node.label or node.op, adjoint, [(m.local, m.message) for m in messages])
    * 1.0 [(3.0, 3.0), (3.0, 3.0)]
    a 6.0 []
    """
    graph.check_node(root, "steps")
    adjoints = reversed(graph.adjoints(root).items())
    reached = {root}  # the nodes to which something was sent: the closures of others do not run
    for node, adjoint in adjoints:
        slopes = node._closure(1.0)
        sent = node._closure(adjoint) if node in reached else (None,) * len(slopes)
        reached.update(p for p, x in zip(node.parents, sent) if x is not None)
        messages = map(Message, node.parents, _to_parents(node, slopes), _to_parents(node, sent))
        yield Step(node, adjoint, tuple(messages))


def _to_parents(node: Value, sent: Gradients) -> list[float | None]:
    """What a closure sends to each parent, with 0.0 for None unless the parent is a constant.

    The parents of a comparison get None, but the derivative to show is 0: a step has no slope.
    """
    return [0.0 if x is None and p._level != CONSTANT else x for p, x in zip(node.parents, sent)]
