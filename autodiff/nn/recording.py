"""The loss of a batch as a program: the loss of one sample is recorded, and compiled."""

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

from .. import functions
from ..compiler.expression import Expression
from ..compiler.symbolic import UNKNOWN
from ..graph import topological_order
from ..linalg import Vector
from ..number import Number, Rule
from ..value import Value, leaf
from .modules import Module, _inside

MANY = 1000  # shapes of the graph of the loss, for different targets, that are compiled together


class Unknown(Number):
    """A number that is not known while a graph is recorded: whatever is computed from it is not.

    It refuses to be looked at, because a graph that depends on numbers is not that of every sample.
    """

    __slots__ = ()
    _level = 0.5  # type: ignore[assignment]  # to a node it is a number, not a constant

    def _apply(self, rule: Rule, *inputs: Any) -> Any:
        return self

    def _compared(self, other: Any) -> Any:  # in an operation; as a choice it is refused
        return self

    __lt__ = __le__ = __gt__ = __ge__ = _compared

    def _number(self) -> Any:
        raise TypeError(UNKNOWN)

    __float__ = __int__ = __index__ = _number


class Recording:
    """The loss of a batch as a program.

    The graph of one sample is recorded over numbers that are not known. So a model that looks at
    them cannot be recorded, and neither can one that builds a different graph on each call, as
    with random numbers: a ValueError says why. Each different target is recorded once. The
    constants that it brings into the graph become inputs of the program; where it chooses among
    nodes, as the index of a class does, the choice becomes a `dot` with a one-hot row.
    """

    def __init__(
        self,
        model: Callable[[Any], Any],
        rows: Sequence[Vector],
        targets: Sequence[Any],
        loss: Callable[[Any, Any], Any],
        parameters: Iterable[Value],
    ) -> None:
        import numpy

        self.numpy = numpy
        self.parameters = [p for p in dict.fromkeys(parameters) if p.requires_grad]
        before = [p.data for p in self.parameters]
        held = [(x, dict(vars(x))) for _, x in _inside([model], deep=True) if isinstance(x, Module)]
        try:
            if len({len(row) for row in rows}) > 1:
                raise ValueError("the inputs are rows of different lengths")
            x = Vector._of([leaf(Unknown(), 0) for _ in rows[0]], rows[0].shape)
            for p in self.parameters:
                p._data = x[0].data
            root, leaves = _merged(model, x, loss, self.parameters, targets)
        except Exception as error:
            raise ValueError(f"{type(error).__name__}: {error}") from error
        finally:  # the recording leaves no trace in the model
            for p, data in zip(self.parameters, before):
                p.data = data
            for module, attributes in held:
                vars(module).clear()
                vars(module).update(attributes)
        self.inputs = numpy.column_stack([[row.data for row in rows], *leaves])
        self.program = Expression(root).compile(
            [*x, *leaves.values()], self.parameters, xp=numpy, batch=True
        )

    def step(self, batch: Sequence[int]) -> float | None:
        """Set `grad` of the parameters for these samples; returns the sum of their losses.

        None, and no change, if a number on the way overflows or is undefined.
        """
        numbers = self.numpy.array([p.data for p in self.parameters])
        try:
            with self.numpy.errstate(all="raise", under="ignore"):
                values, gradients = self.program(self.inputs[batch], numbers)
                total = float(values.sum())
                means = (gradients / len(batch)).tolist()
        except FloatingPointError:
            return None
        for p, grad in zip(self.parameters, means):
            p.grad = grad
        return total if self.numpy.isfinite(total) else None  # nan from nan raises nothing


def _merged(
    model: Any, x: Vector, loss: Any, parameters: Iterable[Value], targets: Sequence[Any]
) -> tuple[Value, dict[tuple[float, ...], Value]]:
    """One graph for the targets of all samples, and the leaves that tell these apart.

    Each leaf comes with its number in every sample.
    """
    prediction, leaves = model(x), dict.fromkeys([*x, *parameters])
    if _flat(loss(model(x), targets[0]), leaves) != _flat(loss(prediction, targets[0]), leaves):
        raise ValueError("the model builds a different graph on each call")
    entries = prediction if isinstance(prediction, Iterable) else [prediction]
    nodes = [node for y in entries for node in topological_order(y)]
    known = {node: i for i, node in enumerate([*leaves, *nodes])}
    keys = list(map(_key, targets))
    different = dict(zip(keys, targets))
    flat = {key: _flat(loss(prediction, target), known) for key, target in different.items()}
    graphs = [flat[key] for key in keys]
    columns: dict[tuple[float, ...], Value] = {}

    def chosen(column: tuple[Any, ...]) -> Value:
        """The number or node of each sample: of nodes, a one-hot row selects it."""
        choices: list[Any] = list(dict.fromkeys(column))
        number = not isinstance(choices[0], Value)
        if len(choices) == 1:
            return leaf(choices[0], 0) if number else choices[0]
        if number:
            return columns.setdefault(column, leaf(column[0], 0))
        choices.sort(key=lambda x: known.get(x, 0))  # as the model has them: one piece of an array
        one_hot = [chosen(tuple([float(x is choice) for x in column])) for choice in choices]
        return functions.dot(one_hot, choices)  # type: ignore[no-any-return]

    roots = {}
    for operations, below in flat.values():
        if operations not in roots:
            fitting = [own if shape == operations else below for shape, own in graphs]
            roots[operations] = _node(operations, [chosen(column) for column in zip(*fitting)])
    if len(roots) > MANY:
        raise ValueError(f"more than {MANY} targets give graphs of different shapes")
    return chosen(tuple([roots[operations] for operations, _ in graphs])), columns


def _flat(root: Value, known: Container[Value]) -> tuple[Any, tuple[Any, ...]]:
    """The operations above known nodes and constants, and what these are, from left to right."""
    operations: list[Any] = []
    below: list[Any] = []
    position: dict[Value, int] = {}

    def reference(x: Value) -> Any:
        if x in position:
            return position[x]
        if x not in known and isinstance(x.data, Unknown):
            raise ValueError("the .data of a number that is not known was taken")
        below.append(x if x in known else x.data)
        return "node" if x in known else "number"

    stack = [root]
    while stack:
        node = stack.pop()
        if node in position or node in known or not node.parents:
            continue
        further = [x for x in node.parents if x.parents and x not in position and x not in known]
        if further:
            stack += [node, *further[::-1]]
        else:
            operations.append((node._rule, *map(reference, node.parents)))
            position[node] = len(operations) - 1
    return (*operations, (None, reference(root))), tuple(below)


def _node(operations: tuple[Any, ...], below: list[Value]) -> Value:
    """The root of the graph that `_flat` took apart."""
    nodes: list[Value] = []
    rest = iter(below)
    for rule, *references in operations:
        inputs = [nodes[x] if isinstance(x, int) else next(rest) for x in references]
        nodes.append(inputs[0]._apply(rule, *inputs) if rule else inputs[0])
    return nodes[-1]


def _key(target: Any) -> Any:
    """What tells a target from all that are not exactly the same: 0.0 from -0.0, 1 from 1.0."""
    kind = type(target)
    if kind in (tuple, list):
        return kind, *map(_key, target)
    if kind in (int, bool, str, float):
        return kind, repr(target)
    if hasattr(target, "tobytes") and hasattr(target, "dtype"):
        return kind, target.dtype, target.shape, target.tobytes()
    return kind, id(target)
