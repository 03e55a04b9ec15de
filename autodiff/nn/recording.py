"""A training step as a program: one sample's loss is recorded, and compiled for whole batches."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from .. import functions
from ..compiler.expression import Expression
from ..compiler.symbolic import Symbol, Writer
from ..graph import topological_order
from ..linalg import Vector
from ..value import Value, leaf
from .modules import Module

MANY = 1000  # graphs of the loss, one for each class of a classifier, that are compiled together


class Recording:
    """The loss of a batch as a program.

    The graph is recorded over numbers that are not known. So a model that looks at them, to
    choose what to compute, cannot be recorded, and neither can one that computes something else
    each time, as with random numbers: a ValueError says why. Each different target is recorded
    once. The constants that it brings into the graph become inputs of the program; where it
    changes the graph, as the index of a class does, the loss of every variant is computed, and
    the sample's own is chosen.
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
        held = [(module, dict(vars(module))) for module in _modules(model)]
        try:
            if len({len(row) for row in rows}) > 1:
                raise ValueError("the inputs are rows of different lengths")
            writer = Writer()
            for i, p in enumerate(self.parameters):
                p.data = writer.argument(f"p{i}")
            symbols = [leaf(writer.argument(f"x{i}"), 0) for i in range(len(rows[0]))]
            x = Vector._of(symbols, rows[0].shape)
            variants = Variants(model, x, loss, self.parameters)
            of_sample = [variants.record(target) for target in targets]
            root, further, columns = variants.chosen(of_sample)
            self.inputs = numpy.array([[*row.data, *more] for row, more in zip(rows, columns)])
            self.program = Expression(root).compile(
                [*x, *further], wrt=self.parameters, xp=numpy, batch=True
            )
        except Exception as error:
            raise ValueError(f"{type(error).__name__}: {error}") from error
        finally:  # the recording leaves no trace in the model
            for p, data in zip(self.parameters, before):
                p.data = data
            for module, attributes in held:
                vars(module).clear()
                vars(module).update(attributes)

    def step(self, batch: Sequence[int]) -> float:
        """Set `grad` of the parameters for these samples; returns the sum of their losses.

        FloatingPointError, and no change, if a number on the way overflows or is undefined.
        """
        numbers = self.numpy.array([p.data for p in self.parameters])
        with self.numpy.errstate(all="raise", under="ignore"):
            values, gradients = self.program(self.inputs[batch], numbers)
            total = float(values.sum())
            means = (gradients / len(batch)).tolist()
        if not self.numpy.isfinite(total):  # nan from nan raises nothing
            raise FloatingPointError(f"the sum of the losses is {total}")
        for p, grad in zip(self.parameters, means):
            p.grad = grad
        return total


def _modules(held: Any) -> Iterator[Module]:
    """A module and those in it."""
    if isinstance(held, Module):
        yield held
        for _, inner in held._children():
            yield from _modules(inner)


class Variants:
    """The graphs that different targets give the loss of one prediction."""

    def __init__(self, model: Any, x: Vector, loss: Any, parameters: Iterable[Value]) -> None:
        self.model, self.x, self.loss = model, x, loss
        self.leaves = {*x, *parameters}
        self.prediction = model(x)
        entries = self.prediction if isinstance(self.prediction, Iterable) else [self.prediction]
        self.known = {*self.leaves}.union(*[topological_order(y) for y in entries])
        self.roots: dict[Any, tuple[int, Value, list[Value]]] = {}  # by the shape of the graph
        self.seen: dict[Any, tuple[int, list[float]]] = {}  # by target
        self.checked = False

    def record(self, target: Any) -> tuple[int, list[float]]:
        """The number of the variant that a target gives, and the constants in its graph."""
        try:
            key = type(target), target
            if key in self.seen:
                return self.seen[key]
        except TypeError:  # it cannot be hashed
            key = type(target), id(target)
        root = self.loss(self.prediction, target)
        if not self.checked:
            again = self.loss(self.model(self.x), target)
            if _shape(root, self.leaves)[:2] != _shape(again, self.leaves)[:2]:
                raise ValueError("the model computes something else each time")
            self.checked = True
        shape, numbers, constants = _shape(root, self.known)
        if shape not in self.roots:
            if len(self.roots) == MANY:
                raise ValueError(f"more than {MANY} targets give graphs of different shapes")
            self.roots[shape] = len(self.roots), root, constants
        self.seen[key] = self.roots[shape][0], numbers
        return self.seen[key]

    def chosen(
        self, of_sample: list[tuple[int, list[float]]]
    ) -> tuple[Value, list[Value], list[list[float]]]:
        """One graph for all variants, the leaves that tell samples apart, their number in each."""
        leaves: list[Value] = []
        columns: list[list[float]] = []
        for variant, _, constants in self.roots.values():
            own = [numbers for v, numbers in of_sample if v == variant]
            for i, constant in enumerate(constants):
                if any(numbers[i] != own[0][i] for numbers in own):
                    leaves.append(constant)
                    fill = own[0][i]
                    columns.append([n[i] if v == variant else fill for v, n in of_sample])
        roots = [root for _, root, _ in self.roots.values()]
        if len(roots) > 1:
            selectors = [leaf(1.0, 0) for _ in roots]
            leaves += selectors
            columns += [[float(v == i) for v, _ in of_sample] for i in range(len(roots))]
            roots = [functions.sum([functions.where(s, y, 0.0) for s, y in zip(selectors, roots)])]
        return roots[0], leaves, [list(row) for row in zip(*columns)] or [[] for _ in of_sample]


def _shape(root: Value, known: set[Value]) -> tuple[Any, list[float], list[Value]]:
    """The operations above known nodes, the numbers of the constants among them, these leaves."""
    operations: list[Any] = []
    constants: list[Value] = []
    names: dict[Value, Any] = {x: x for x in known}
    stack = [root]
    while stack:
        node = stack.pop()
        if node in names:
            continue
        further = [parent for parent in node.parents if parent not in names]
        if further:
            stack += [node, *further[::-1]]
            continue
        names[node] = len(operations)
        operations.append((node._rule, *[names[parent] for parent in node.parents]))
        if not node.parents:
            if isinstance(node.data, Symbol):
                raise ValueError("the .data of a number that is not known was taken")
            constants.append(node)
    return (*operations, names[root]), [x.data for x in constants], constants
