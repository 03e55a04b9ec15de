"""Records the graph of one sample's loss with unknown numbers, so that it serves every sample."""

import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

from .. import ops
from ..compiler.symbolic import UNKNOWN
from ..dispatch import Operation
from ..errors import a, message
from ..graph import topological_order
from ..linalg import Matrix, Vector
from ..number import Number, apply
from ..value import Value, leaf
from .purity import NotRecordable, unchanged
from .samples import Samples, constants

EMBEDDING = message(
    "compile",
    "a whole number made of one that is not known yet",
    "operations on it",
    "for an embedding, make the input a one-hot row and write row @ weight for weight[int(x.data)]",
)
STALE = (
    "the model or the loss reads .data, or holds numbers computed from its parameters; compute "
    "with the Values, in forward"
)


class Unknown(Number):
    """A number that is unknown while a graph is recorded, like everything computed from it.

    Looking at it is an error, because a graph that depends on numbers differs between samples.
    """

    __slots__ = ()
    _level = 0.5  # to a node it is a number, not a constant

    def _apply(self, operation: Operation, *inputs: Any) -> Any:
        return self if _NO_NODES.issuperset(map(type, inputs)) else apply(operation, *inputs)

    def _itself(self, *ignored: Any) -> Any:
        return self

    def _lift(self, x: Any, name: str) -> Any:
        return x

    def _number(self, *ignored: Any) -> NoReturn:
        raise NotRecordable(UNKNOWN)

    def _whole(self, *ignored: Any) -> NoReturn:
        raise NotRecordable(EMBEDDING)

    _record = _itself
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _itself  # `if` asks for a bool
    __float__ = __complex__ = __hash__ = __str__ = __repr__ = _number
    __int__ = __index__ = __trunc__ = _whole
    __round__ = _whole
    __format__ = _number  # type: ignore[assignment]
    __reduce_ex__ = __floordiv__ = __mod__ = __divmod__ = _number

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._number()


_NO_NODES = {Unknown, float}


class Recording:
    """The graph of one sample's loss, with leaves for everything that depends on the sample.

    `root` is the loss, `x` the leaves that stand for the inputs, `leaves` those that depend on
    the target: row i of `table` holds their numbers for sample i. The losses of all different
    targets are recorded, and made one graph: where they have different numbers, there is a leaf;
    where they have different nodes, as the index of a class does, a `dot` with a one-hot row.

    NotRecordable if the model looks at numbers or is not pure. If the model or the loss also fails
    with the numbers of a sample, its error is raised.
    """

    def __init__(
        self, model: Callable[[Any], Any], loss: Any, samples: Samples, parameters: list[Value]
    ) -> None:
        self.columns: dict[bytes, tuple[Value, Any]] = {}
        place: dict[bytes, int] = {}
        chosen: dict[int, int] = {}  # a sample with each target
        try:
            self.which = [place.setdefault(pickle.dumps(t), len(place)) for t in samples.targets]
            chosen = dict(zip(self.which, range(len(samples))))
            with unchanged(model, loss), unknown(parameters):
                self.x = unknown_input(len(samples.inputs[0]))
                prediction = model(self.x)
                losses = [loss_value(loss(prediction, samples.targets[i])) for i in chosen.values()]
                self.root = self._merged(losses, _values(prediction), {*self.x, *parameters})
        except Exception as error:
            with unchanged(model, loss):  # with real numbers, too?
                for i in chosen.values():
                    loss_value(loss(model(samples.input(i)), samples.targets[i]))
            raise NotRecordable(f"{type(error).__name__}: {error}") from error
        self.leaves = [x for x, _ in self.columns.values()]

    def table(self) -> Any:
        """The numbers of the leaves for each sample, shape (n, leaves)."""
        import numpy

        columns = [numbers for _, numbers in self.columns.values()]
        return numpy.array(columns).reshape(len(columns), max(self.which) + 1).T[self.which]

    def _merged(self, losses: list[Value], outputs: list[Value], leaves: set[Value]) -> Value:
        """One graph for the losses of all targets, made without recursion.

        A column is a tuple with a node for each target, at the same place of their graphs.
        """
        self.order = {id(y): i for i, y in enumerate(outputs)}
        self.known = leaves.union(topological_order(ops.sum(outputs)) if outputs else ())
        for node in self.known - leaves:
            _check(node)
        done: dict[Any, Value] = {}
        stack: list[Any] = [(tuple(losses), None)]
        while stack:
            column, split = stack.pop()
            make, inputs = split or self._split(column)
            if missing := [(each, None) for each in inputs if each not in done]:
                stack += [(column, (make, inputs)), *missing]
            else:
                done[column] = make(*[done[each] for each in inputs])
        return done[column]

    def _split(self, column: tuple[Any, ...]) -> tuple[Callable[..., Value], list[Any]]:
        """How to make the node of a column, and the columns that have to be made before."""
        first, kinds = column[0], [*map(self._kind, column)]
        different = sorted(dict.fromkeys(kinds), key=lambda kind: self.order.get(kind, 0))
        if len(different) > 1:  # a choice, each target's own node among others of its kind
            one_hot = [self._leaf([float(kind == each) for kind in kinds]) for each in different]
            some = dict(zip(kinds, column))
            filled = [
                tuple([x if kind == each else some[each] for x, kind in zip(column, kinds)])
                for each in different
            ]
            return lambda *choices: ops.dot(one_hot, choices), filled
        if kinds[0] == id(first):
            return lambda: first, []
        if not first.parents:
            return lambda: self._leaf([x._data for x in column]), []
        return partial(first._apply, first._operation), [*zip(*[x.parents for x in column])]

    def _kind(self, node: Value) -> Any:
        """Nodes of one kind become one node; each of the prediction is a kind of its own."""
        if node in self.known:
            return id(node)
        _check(node)
        return node._operation, len(node.parents)

    def _leaf(self, numbers: list[float]) -> Value:
        """A leaf with a number for each target; a constant if they are the same to the last bit."""
        import numpy

        column = numpy.array(numbers)
        if len({*column.view(numpy.int64).tolist()}) == 1:
            return leaf(numbers[0], 0)
        return self.columns.setdefault(column.tobytes(), (leaf(numbers[0], 0), column))[0]


def unknown_input(width: int) -> Vector:
    """An input of unknown numbers."""
    return constants([Unknown()] * width)


@contextmanager
def unknown(parameters: Iterable[Value]) -> Iterator[None]:
    """Make the numbers of the parameters unknown in the block."""
    number, before = Unknown(), [p.data for p in parameters]
    try:
        for p in parameters:
            p._data = number
        yield
    finally:
        for p, data in zip(parameters, before):
            p._data = data


def loss_value(found: Any) -> Value:
    """The Value that a loss has returned, alone or in a Vector of one; TypeError if none."""
    if isinstance(found, (Vector, list, tuple)) and len(found) == 1:
        found = found[0]
    if not isinstance(found, Value):
        shape = f" of shape {found.shape}" if isinstance(found, (Vector, Matrix)) else ""
        raise TypeError(message("fit, loss", f"{a(found)}{shape} returned", "one Value"))
    return found


def _values(prediction: Any) -> list[Value]:
    """The Values in a prediction: a Value, Vector or Matrix, or these in lists, tuples, dicts."""
    if isinstance(prediction, Value):
        return [prediction]
    parts = prediction.values() if isinstance(prediction, dict) else prediction
    several = isinstance(prediction, (Vector, Matrix, list, tuple, dict))
    return [x for part in parts for x in _values(part)] if several else []


def _check(node: Value) -> None:
    """NotRecordable if a node is unknown and its inputs are not, or the other way."""
    if (Unknown in [type(x._data) for x in node.parents]) != (type(node._data) is Unknown):
        raise NotRecordable(STALE)
