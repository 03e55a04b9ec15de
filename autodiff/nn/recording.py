"""Records the graph of one sample's loss with unknown numbers, so that it serves every sample."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import repeat
from typing import Any, NoReturn

from .. import functions
from ..compiler.symbolic import UNKNOWN
from ..errors import a, message
from ..graph import topological_order
from ..linalg import Matrix, Vector
from ..number import Number, Rule, apply
from ..value import Value, leaf
from .purity import NotRecordable, exact_key, unchanged
from .samples import Samples, constants

MANY = 1000  # the most shapes of graph, for different targets, that are compiled together
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

    def _apply(self, rule: Rule, *inputs: Any) -> Any:
        return self if _NO_NODES.issuperset(map(type, inputs)) else apply(rule, *inputs)

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
    __int__ = __index__ = __round__ = __trunc__ = _whole
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
    the target: row i of `table` holds their numbers for sample i. Each different target is
    recorded once. Its constants in the graph become leaves; where it chooses among nodes, as the
    index of a class does, the choice becomes a `dot` with a one-hot row.

    NotRecordable if the model looks at numbers or is not pure. If the model or the loss also fails
    with the numbers of a sample, its error is raised.
    """

    def __init__(
        self, model: Callable[[Any], Any], loss: Any, samples: Samples, parameters: list[Value]
    ) -> None:
        keys = [*map(exact_key, samples.targets)]
        chosen: dict[Any, int] = {}
        for i, key in enumerate(keys):
            chosen.setdefault(key, i)  # the first sample with each target
        place = {key: k for k, key in enumerate(chosen)}
        self.which = [place[key] for key in keys]
        self.columns: dict[bytes, tuple[Value, Any]] = {}
        try:
            with unchanged(model, loss), unknown(parameters):
                self.x = unknown_input(len(samples.inputs[0]))
                prediction = model(self.x)
                losses = [loss_value(loss(prediction, samples.targets[i])) for i in chosen.values()]
                self._merge(_values(prediction), losses, {*self.x, *parameters})
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

    def _merge(self, outputs: list[Value], losses: list[Value], leaves: set[Value]) -> None:
        """Make one graph of the losses of all targets."""
        self.order = {x: i for i, x in enumerate(outputs)}  # of the prediction
        known = leaves.union(topological_order(functions.sum(outputs)) if outputs else ())
        graphs = [_flat(each, known) for each in losses]
        for node in known - leaves:
            _check(node)
        merged: dict[Any, Any] = dict.fromkeys([shape for shape, _ in graphs])
        if len(merged) > MANY:
            raise NotRecordable(f"more than {MANY} targets give graphs of different shapes")
        for shape in merged:
            some = next(ends for other, ends in graphs if other == shape)
            fitting = [ends if other == shape else some for other, ends in graphs]
            merged[shape] = _rebuilt(shape, [self._chosen(column) for column in zip(*fitting)])
        self.root = self._chosen(tuple([merged[shape] for shape, _ in graphs]))

    def _chosen(self, column: tuple[Any, ...]) -> Value:
        """One node for a place in the graph that holds a number or a node for each target."""
        import numpy

        if isinstance(column[0], Value):
            choices = sorted(dict.fromkeys(column), key=lambda x: self.order.get(x, 0))
            if len(choices) == 1:
                return column[0]
            one_hot = [self._chosen(tuple([float(x is y) for x in column])) for y in choices]
            return functions.dot(one_hot, choices)
        numbers = numpy.array(column)
        if len({*numbers.view(numpy.int64).tolist()}) == 1:  # to the last bit
            return leaf(column[0], 0)
        return self.columns.setdefault(numbers.tobytes(), (leaf(column[0], 0), numbers))[0]


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
    finally:  # one call in C, which Ctrl-C cannot interrupt
        deque(map(setattr, parameters, repeat("_data"), before), maxlen=0)


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
    if any(isinstance(x._data, Unknown) for x in node.parents) != isinstance(node._data, Unknown):
        raise NotRecordable(STALE)


def _flat(root: Value, known: set[Value]) -> tuple[Any, list[Any]]:
    """The graph above known nodes: its shape, and the nodes and numbers at its ends, in order.

    The shape has an entry for each operation: its rule, and for each input the index of another
    operation, or "node" or "number" for an end.
    """
    index: dict[Value, int] = {}
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
        if node is None:  # all below the next are done
            index[stack.pop()] = len(index)
        elif node.parents and node not in known and node not in index:
            stack += node, None, *node.parents[::-1]
            _check(node)
    shape: list[Any] = []
    ends: list[Any] = []
    for rule, parents in [*[(x._rule, x.parents) for x in index], (None, (root,))]:
        ends += [x if x in known else x._data for x in parents if x not in index]
        shape.append((rule, *[index.get(x, "node" if x in known else "number") for x in parents]))
    return tuple(shape), ends


def _rebuilt(shape: tuple[Any, ...], ends: Iterable[Value]) -> Value:
    """The graph that `_flat` took apart, with other ends."""
    nodes: list[Value] = []
    ends = iter(ends)
    for rule, *references in shape:
        inputs = [nodes[x] if isinstance(x, int) else next(ends) for x in references]
        nodes.append(inputs[0]._apply(rule, *inputs) if rule else inputs[0])
    return nodes[-1]
