"""Records the graph of one sample's loss with unknown numbers, so that it serves every sample."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import repeat
from typing import Any, NoReturn

from .. import functions
from ..compiler.symbolic import UNKNOWN
from ..errors import a, message
from ..functions import as_float
from ..graph import topological_order
from ..linalg import Matrix, Vector
from ..number import Number, Rule
from ..value import Value, leaf
from .purity import NotRecordable, exact_key, unchanged
from .samples import Samples, flat

MANY = 1000  # the most shapes of graph, for different targets, that are compiled together
EMBEDDING = message(
    "compile",
    "a whole number made of one that is not known yet",
    "operations on it",
    "for an embedding, make the input a one-hot row and write row @ weight for weight[int(x.data)]",
)


class Unknown(Number):
    """A number that is unknown while a graph is recorded, like everything computed from it.

    Looking at it is an error, because a graph that depends on numbers differs between samples.
    """

    __slots__ = ("refused",)
    _level = 0.5  # to a node it is a number, not a constant

    def __init__(self) -> None:
        self.refused = False  # remembered in case the model catches the exception

    def _lift(self, x: Any, name: str) -> Any:
        return x

    def _record(self, rule: Rule, numbers: Any) -> Any:
        return self

    def _number(self, *ignored: Any) -> NoReturn:
        self.refused = True
        raise NotRecordable(UNKNOWN)

    def _whole(self, *ignored: Any) -> NoReturn:
        self.refused = True
        raise NotRecordable(EMBEDDING)

    def _compared(self, other: Any) -> Any:
        return self  # in an operation of one's own; `if` asks for a bool

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compared
    __float__ = __complex__ = _number
    __int__ = __index__ = __round__ = __trunc__ = _whole
    __hash__ = __str__ = __repr__ = _number
    __format__ = _number  # type: ignore[assignment]
    __reduce_ex__ = __floordiv__ = __mod__ = __divmod__ = _number

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._number()


class Recording:
    """The graph of one sample's loss, with leaves for everything that depends on the sample.

    `root` is the loss, `x` the leaves that stand for the inputs, `leaves` those that depend on
    the target: row `which[i]` of `table` holds their numbers for sample i. Each different target
    is recorded once. Its constants in the graph become leaves; where it chooses among nodes, as
    the index of a class does, the choice becomes a `dot` with a one-hot row.

    NotRecordable if the model looks at numbers, is not pure, or builds a different graph on each
    call. If the model or the loss also fails with the numbers of a sample, its error is raised.
    """

    def __init__(
        self,
        model: Callable[[Any], Any],
        loss: Callable[[Any, Any], Any],
        samples: Samples,
        parameters: Iterable[Value],
    ) -> None:
        self.model, self.loss, self.parameters = model, loss, parameters
        keys = list(map(exact_key, samples.targets))
        first = {key: i for i, key in reversed([*enumerate(keys)])}  # a sample for each target
        chosen = sorted(first.values())
        number = {keys[i]: k for k, i in enumerate(chosen)}
        self.which = [number[key] for key in keys]
        self.targets = [samples.targets[i] for i in chosen]
        self.at = 0  # the target whose loss is recorded
        try:
            with unchanged(model, loss), _unknown(parameters) as unknown:
                self.x = _unknown_input(unknown, len(samples.inputs[0]))
                self._record()
                if unknown.refused or any(p._data is not unknown for p in parameters):
                    raise NotRecordable("the model looks at numbers, or sets those of parameters")
        except NotRecordable:
            raise
        except Exception as error:
            with unchanged(model, loss):  # with real numbers, too?
                loss_value(loss(model(samples.input(chosen[self.at])), self.targets[self.at]))
            raise NotRecordable(f"{type(error).__name__}: {error}") from error
        check_dependence(depends(self.root, parameters))

    def _record(self) -> None:
        prediction = self.model(self.x)
        leaves = dict.fromkeys([*self.x, *self.parameters])
        _check_equal(
            *[_flat(self._loss(each, 0), leaves) for each in (prediction, self.model(self.x))]
        )
        self.order = {x: i for i, x in enumerate(_values(prediction))}
        nodes = topological_order(functions.sum([*self.order])) if self.order else []
        known = leaves | dict.fromkeys(nodes)
        graphs = [_flat(self._loss(prediction, i), known) for i in range(len(self.targets))]
        if len({operations for operations, _ in graphs}) > MANY:
            raise NotRecordable(f"more than {MANY} targets give graphs of different shapes")
        self.columns: dict[bytes, tuple[Value, Any]] = {}
        shapes: dict[Any, Value] = {}
        for operations, below in graphs:
            if operations not in shapes:
                fitting = [own if shape == operations else below for shape, own in graphs]
                parts = [self._chosen(column) for column in zip(*fitting)]
                shapes[operations] = _node(operations, parts)
        self.root = self._chosen(tuple([shapes[operations] for operations, _ in graphs]))
        self.leaves = [x for x, _ in self.columns.values()]

    def table(self, xp: Any) -> Any:
        """The numbers of the leaves for each different target, shape (targets, leaves)."""
        columns = [column for _, column in self.columns.values()]
        return xp.stack(columns, axis=1) if columns else xp.zeros((len(self.targets), 0))

    def _loss(self, prediction: Any, i: int) -> Value:
        self.at = i
        return loss_value(self.loss(prediction, self.targets[i]))

    def _chosen(self, column: tuple[Any, ...]) -> Value:
        """One node for a place in the graph that holds a number or a node for each target."""
        import numpy

        if isinstance(column[0], Value):
            choices = list(dict.fromkeys(column))
            if len(choices) == 1:
                return column[0]
            choices.sort(key=lambda x: self.order.get(x, 0))  # in the order of the prediction
            one_hot = [self._chosen(tuple([float(x is y) for x in column])) for y in choices]
            return functions.dot(one_hot, choices)
        numbers = numpy.array(column)
        if len(set(numbers.view(numpy.int64).tolist())) == 1:  # to the last bit
            return leaf(column[0], 0)
        return self.columns.setdefault(numbers.tobytes(), (leaf(column[0], 0), numbers))[0]


def record_outputs(model: Callable[[Any], Any], width: int) -> tuple[Vector, list[Value]]:
    """What a model returns for an unknown input: the input, and the outputs in a row.

    NotRecordable if the model looks at its input, is not pure, or cannot be recorded.
    """
    unknown = Unknown()
    x = _unknown_input(unknown, width)
    try:
        with unchanged(model):
            (_, outputs), (_, again) = [flat(model(x), "predict") for _ in range(2)]
            outputs, again = [[*map(_as_node, each)] for each in (outputs, again)]
            _check_equal(*[_flat(functions.sum(y), dict.fromkeys(x)) for y in (outputs, again)])
            if unknown.refused:
                raise NotRecordable("the model looks at numbers")
    except Exception as error:
        raise NotRecordable(f"{type(error).__name__}: {error}") from error
    return x, outputs


def _check_equal(one: tuple[Any, list[Any]], other: tuple[Any, list[Any]]) -> None:
    """NotRecordable if two calls built different graphs."""
    if one[0] != other[0] or exact_key(one[1]) != exact_key(other[1]):
        raise NotRecordable("the model builds a different graph on each call")


def _as_node(y: Any) -> Value:
    return y if isinstance(y, Value) else leaf(as_float(y, "predict, what the model returns"), 0)


def _unknown_input(unknown: Unknown, width: int) -> Vector:
    return Vector._of([leaf(unknown, 0) for _ in range(width)], (width,))


@contextmanager
def _unknown(parameters: Iterable[Value]) -> Iterator[Unknown]:
    """Make the numbers of the parameters unknown in the block."""
    unknown, before = Unknown(), [p.data for p in parameters]
    try:
        for p in parameters:
            p._data = unknown
        yield unknown
    finally:  # one call in C, which Ctrl-C cannot interrupt
        deque(map(setattr, parameters, repeat("_data"), before), maxlen=0)


def depends(root: Value, parameters: Iterable[Value]) -> bool:
    """Whether a loss depends on any of the parameters."""
    wanted, seen, stack = set(parameters), set(), [root]
    while stack:
        node = stack.pop()
        if node in wanted:
            return True
        if node not in seen:
            seen.add(node)
            stack += node.parents
    return False


def check_dependence(depends: bool) -> None:
    """ValueError if the loss depends on none of the parameters, which training would not change."""
    if depends:
        return
    found = "a loss that depends on none of the optimizer's parameters"
    remedy = "give the optimizer the parameters of this model"
    raise ValueError(message("fit", found, "one that does", remedy))


def loss_value(found: Any) -> Value:
    """The Value that a loss has returned, alone or in a Vector of one; TypeError if none."""
    if isinstance(found, (Vector, list, tuple)) and len(found) == 1:
        found = found[0]
    if not isinstance(found, Value):
        shape = f" of shape {found.shape}" if isinstance(found, (Vector, Matrix)) else ""
        raise TypeError(message("fit, loss", f"{a(found)}{shape} returned", "one Value"))
    return found


def _values(prediction: Any) -> Iterator[Value]:
    """The Values in a prediction: a Value, Vector or Matrix, or these in lists, tuples, dicts."""
    if isinstance(prediction, Value):
        yield prediction
    elif isinstance(prediction, (Vector, Matrix, list, tuple, dict)):
        parts = prediction.values() if isinstance(prediction, dict) else prediction
        for part in parts:
            yield from _values(part)


def _flat(root: Value, known: dict[Value, Any]) -> tuple[Any, list[Any]]:
    """The operations above known nodes and constants, and a list of these, from left to right."""
    operations: list[Any] = []
    below: list[Any] = []
    position: dict[Value, int] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        if node in position or node in known or not node.parents:
            continue
        stale = not isinstance(node._data, Unknown)  # from before the numbers became unknown
        if stale and any(isinstance(x._data, Unknown) for x in node.parents):
            raise NotRecordable("the model holds numbers computed from its parameters")
        further = [x for x in node.parents if x.parents and x not in position and x not in known]
        if further:
            stack += [node, *further[::-1]]
        else:
            operations.append((node._rule, *_references(node.parents, position, known, below)))
            position[node] = len(operations) - 1
    return (*operations, (None, *_references([root], position, known, below))), below


def _references(
    parents: Iterable[Value], position: dict[Value, int], known: dict[Value, Any], below: list[Any]
) -> Iterator[Any]:
    """The inputs of an operation: the index of another, or "node" or "number", added to `below`."""
    for x in parents:
        if x in position:
            yield position[x]
        elif x in known:
            below.append(x)
            yield "node"
        else:
            if isinstance(x._data, Unknown):
                raise NotRecordable("the model or the loss reads .data; compute with the Value")
            below.append(x._data)
            yield "number"


def _node(operations: tuple[Any, ...], below: list[Value]) -> Value:
    """Rebuild the graph that `_flat` took apart; return its root."""
    nodes: list[Value] = []
    rest = iter(below)
    for rule, *references in operations:
        inputs = [nodes[x] if isinstance(x, int) else next(rest) for x in references]
        nodes.append(inputs[0]._apply(rule, *inputs) if rule else inputs[0])
    return nodes[-1]
