"""Records the graph of a sample's loss, so that it serves every sample.

    sample 0, all targets               the numbers are real, and looking at them is refused (Watch)
      │ take                            the model runs once, the loss once for each target
      ▼
    losses of sample 0 ── form ──┐      a hash: operations, leaves that they read, constants
    losses of the last sample ───┴──►   another form, or a node in both: not recordable
      │ _merged                         where targets differ in a number: a leaf with a column;
      ▼                                 where they choose a node: a dot with a one-hot row
    root, leaves, table                 one graph, and a row of numbers for each sample

A graph that depends on numbers differs between samples, so nobody may look at them. What depends
on chance, or is kept from call to call, shows when a second sample is recorded.
"""

import linecache
import pickle
import sys
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from ..compiler.symbolic import NotRecordable, Writer, key_of
from ..engine.admission import Floats, is_array
from ..engine.errors import kind_of, refusal
from ..engine.graph import topological_order
from ..engine.linalg import Matrix, Vector
from ..engine.operation import Operation
from ..engine.ops import dot
from ..engine.ops import sum as total
from ..engine.value import Value, leaf, watch
from .modules import Dropout, Masks, draws, factors_in, mask
from .samples import Loss, Model, Samples, constants, values_in

if TYPE_CHECKING:
    from numpy.random import Generator

T = TypeVar("T")
Column = tuple[Value, ...]  # a node for each target, at one place of their graphs; or one for all
Split = tuple[Callable[..., Value], list[Column]]  # how to make its node, of those of others

CONTRACT = (
    "a model and a loss are pure functions of their input and parameters; parameters are leaves; "
    "randomness comes from Dropout or is passed in"
)
LOOKS = (
    "looks at a number, which varies; write where(less(0.0, x), a, b) for an if, "
    "adjoints(..., create_graph=True) or grad for a derivative"
)
WRITES = "writes a number that a graph was made of; make a new list: [0.0, *x[1:]]"
ROUNDING = (
    "its graph is still as it was recorded, so this may be rounding (a float32 has 7 digits), or a "
    "fault of autodiff"
)
MANY = 32  # targets whose losses are recorded again to see whether anything has changed


class Watch:
    """While it is entered, in this thread alone, looking at what depends on its leaves is refused.

    Writing it is, too. If the model catches the refusal, it is raised again at the end. `masks` are
    leaves: a factor for each number that a layer of Dropout was given meanwhile, drawn from `rng`.
    """

    def __init__(self, leaves: Iterable[Value], rng: "Generator | None" = None) -> None:
        self.leaves, self.rng = set(leaves), rng
        self.masks: Masks = defaultdict(list)
        # what the losses of all targets have in common is computed once
        self.once = cache(lambda function, *numbers: function(*numbers))
        self.refused: NotRecordable | None = None

    def depends(self, node: Value) -> bool:
        """Whether a node was computed from the leaves."""
        return bool(self.leaves) and not self.leaves.isdisjoint(topological_order(node))

    def look(self, node: Value, writes: bool = False) -> None:
        """Refuse to look at a node that depends on a leaf, or to write it."""
        if type(node._data) is float and self.depends(node):
            frame = user_frame()
            file, line = frame.f_code.co_filename, frame.f_lineno
            text = linecache.getline(file, line, frame.f_globals).strip()
            name = "a cell" if "ipykernel_" in file else Path(file).name
            subject = f"line {line} of {name}{f', {text},' * bool(text)}"
            self.refused = self.refused or NotRecordable(f"{subject} {WRITES if writes else LOOKS}")
            raise self.refused

    def mask(self, layer: Dropout, count: int) -> list[Value]:
        """A leaf for each factor that a layer of Dropout needs."""
        drawn = mask(self.rng.random(count), layer.p).tolist() if self.rng else [1.0] * count
        new = [leaf(factor, 0) for factor in drawn]
        self.leaves.update([] if self.rng else new)
        self.masks[layer.rng].append((layer, new))
        return new

    def __enter__(self) -> Self:
        self.token = watch.set(self)
        return self

    def __exit__(
        self, kind: type | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        watch.reset(self.token)
        if self.refused and (error is None or isinstance(error, Exception)):
            raise self.refused from None


def only_data(admit: Callable[[], T], trained: Iterable[Value], subject: str) -> T:
    """What `admit` makes of samples; a ValueError if a number in them depends on a parameter."""

    def watched() -> T:
        with Watch(trained):
            return admit()

    try:
        return copy_context().run(watched)
    except NotRecordable:
        found = "an input or a target that depends on a parameter that is trained"
        remedy = "choose it in the model or the loss, as centers[target]"
        raise ValueError(
            refusal(subject, found, "numbers, which stay as they are", remedy)
        ) from None


def user_frame() -> FrameType:
    """The innermost frame that is neither of this package, nor of Python or another library."""
    frame = sys._getframe()
    others = (
        str(Path(linecache.__file__).parent),
        str(Path(__file__).parents[1]),  # this package
        "<frozen",
    )
    while frame.f_back and (
        frame.f_code.co_filename.startswith(others) or "site-packages" in frame.f_code.co_filename
    ):
        frame = frame.f_back
    return frame


class Take(NamedTuple):
    """What a run of a model leaves: the roots of its graphs, and the leaves they depend on."""

    roots: list[Value]
    result: Any  # what the run has returned beside them
    x: list[Value]  # not the Vector, whose place in memory the next may have, as in eager training
    masks: Masks

    def form(self, parameters: Iterable[Value]) -> tuple[int, set[Value]]:
        """A hash that is equal for graphs of one form, and the nodes that depend on the leaves.

        The form is the operations, the leaves that they read, and the digits of constants.
        """
        place = {x: i for i, x in enumerate([*self.x, *parameters, *factors_in(self.masks)])}
        form = hash((len(place), *draws(self.masks)))
        varying, stated_once = set(place), cache(stated)
        for node in topological_order(total(self.roots))[:-1] if self.roots else ():
            if node in place:
                continue
            if made := node._operation:
                key = stated_once(made, len(node.parents))
                form = hash((form, key, *[place[x] for x in node.parents]))
                if not varying.isdisjoint(node.parents):
                    varying.add(node)
            else:
                form = hash((form, repr(node._data)))
            place[node] = len(place)
        return hash((form, *[place[root] for root in self.roots])), varying.difference(parameters)


def stated(operation: Operation, count: int) -> Hashable:
    """An operation of this package; of one of a user's, what its rule does with unknown inputs.

    A user's may be made anew in each call, and its rule may read what a callback changes.
    """
    if operation.in_ops:
        return operation
    writer = Writer()
    result, backward = operation.rule(*[writer.argument(f"x{i}") for i in range(count)])
    results = result, *backward(writer.argument("grad"))
    lines = [(getattr(op, "value", op), *args) for op, *args in writer.symbols]
    return *lines, key_of("", results)


def take(
    run: Callable[[Vector], tuple[list[Value], Any]], row: Floats, parameters: Iterable[Value] = ()
) -> Take:
    """The graphs that a function makes of a row of numbers; NotRecordable if it looks at them."""
    x = constants(row.tolist())
    with Watch([*x, *parameters]) as watching:
        roots, result = run(x)
    return Take(roots, result, [*x], watching.masks)


def check_same(first: Take, second: Take, parameters: Iterable[Value] = ()) -> int:
    """The form of both traces; NotRecordable if it differs, or if they share what was computed."""
    (form, nodes), (other, others) = (each.form(parameters) for each in (first, second))
    if form != other:
        raise NotRecordable(f"two samples gave different graphs or numbers: {CONTRACT}")
    if not nodes.isdisjoint(others):
        raise NotRecordable(f"what was computed in one call is used in the next: {CONTRACT}")
    return form


@dataclass(eq=False)
class Recording:
    """The graph that the losses of all samples share.

    `root` is the loss of a sample. It depends on the parameters and on `leaves`: the numbers of
    most are in `table`, an array with a row for each sample, its input and what depends on its
    target; the last are those of `masks`, for each layer of Dropout.

    The losses of all different targets are made one graph. Where they have different numbers, there
    is a leaf: of (p - 1.5)², (p - 2.0)², ... it is p - t that is squared. Where they have different
    nodes of the prediction, as p[0], p[1], ... chosen by a class, a `dot` with a one-hot row.

    NotRecordable if the model or the loss looks at numbers, or gives another sample another graph.
    """

    model: Model
    loss: Loss
    samples: Samples
    parameters: Sequence[Value]

    def __post_init__(self) -> None:
        self.columns: dict[bytes, tuple[Value, Floats]] = {}
        place: dict[bytes, int] = {}
        targets = self.samples.targets
        try:
            self.target_of = [place.setdefault(pickle.dumps(t), len(place)) for t in targets]
        except Exception as error:  # of any type: the user's objects raise it
            raise NotRecordable(f"a target cannot be told from others: {error}") from error
        # of each different target, the last sample that has it
        self.examples = [*dict(zip(self.target_of, range(len(targets)))).values()]
        self.first_examples = self.examples[:MANY]
        made = self._take(0, self.examples)
        first = made._replace(roots=made.roots[:MANY])
        # in the other order, in case one loss changes what the next is given
        last = self._take(len(targets) - 1, self.first_examples[::-1])
        self.form = check_same(first, last._replace(roots=last.roots[::-1]), self.parameters)
        self.masks, masks = made.masks, factors_in(made.masks)
        with Watch(given := {*made.x, *self.parameters, *masks}):
            self.root = self._merged(made.roots, values_in(made.result), given)
        self.leaves = [*made.x, *[x for x, _ in self.columns.values()], *masks]

    def is_current(self, parameters: Sequence[Value], i: int = 0) -> bool:
        """Whether this is still the graph of the losses of sample i, for these parameters."""
        try:
            now = self._take(i, self.first_examples).form(parameters)[0]
        except NotRecordable:
            return False
        return now == self.form

    def _take(self, i: int, examples: list[int]) -> Take:
        """The losses of sample i, with the targets of these examples."""

        def run(x: Vector) -> tuple[list[Value], Any]:
            prediction = self.model(x)
            if isinstance(prediction, Iterator):  # which the first loss would use up
                prediction = [*prediction]
            targets = map(self.samples.target, examples)
            return [loss_value(self.loss(fresh(prediction), t)) for t in targets], prediction

        try:
            return take(run, self.samples.inputs[i], self.parameters)
        except NotRecordable:
            raise
        except Exception as error:  # of the user's; with the target's own input, too?
            for j in examples:
                loss_value(self.loss(self.model(self.samples.input(j)), self.samples.target(j)))
            raise NotRecordable(f"{type(error).__name__}: {error}") from error

    def table(self) -> Floats:
        """The numbers of the leaves for each sample, without masks: shape (n, leaves)."""
        import numpy

        columns = [numbers for _, numbers in self.columns.values()]
        table = numpy.array(columns).reshape(len(columns), len(self.examples)).T[self.target_of]
        return numpy.concatenate([self.samples.inputs, table], axis=1)

    def _merged(self, losses: list[Value], outputs: list[Value], leaves: set[Value]) -> Value:
        """One graph for the losses of all targets, made without recursion."""
        self.order: dict[Hashable, int] = {id(y): i for i, y in enumerate(outputs)}
        self.known = leaves.union(topological_order(total(outputs)) if outputs else ())
        done: dict[Column, Value] = {}
        stack: list[tuple[Column, Split | None]] = [(tuple(losses), None)]
        while stack:
            column, split = stack.pop()
            make, inputs = split or self._split(column)
            if missing := [(each, None) for each in inputs if each not in done]:
                stack += [(column, (make, inputs)), *missing]
            else:
                done[column] = make(*[done[each] for each in inputs])
        return done[column]

    def _split(self, column: Column) -> Split:
        """How to make the node of a column, and the columns that have to be made before."""
        import numpy

        first, kinds = column[0], [*map(self._kind, column)]
        different = sorted(dict.fromkeys(kinds), key=lambda kind: self.order.get(kind, 0))
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
        return id(node) if node in self.known else (node._operation, len(node.parents))

    def _leaf(self, numbers: Any) -> Value:
        """A leaf with a number for each target; a constant if they are the same to the last bit."""
        import numpy

        column = numpy.array(numbers, float)
        bits, new = column.view(numpy.int64), leaf(float(column[0]), 0)
        if (bits == bits[0]).all():
            return new
        return self.columns.setdefault(column.tobytes(), (new, column))[0]


def loss_value(found: Any) -> Value:
    """The Value that a loss has returned, alone or in a Vector of one; TypeError if none."""
    if isinstance(found, (Vector, list, tuple)) and len(found) == 1:
        found = found[0]
    if not isinstance(found, Value):
        shape = f" of shape {found.shape}" if isinstance(found, (Vector, Matrix)) else ""
        raise TypeError(refusal("fit, loss", f"{kind_of(found)}{shape} returned", "one Value"))
    return found


def fresh(prediction: Any) -> Any:
    """The same numbers in lists, tuples, dicts and arrays of their own, which a loss may change."""
    if type(prediction) in (list, tuple):
        return type(prediction)([fresh(part) for part in prediction])
    if type(prediction) is dict:
        return {key: fresh(part) for key, part in prediction.items()}
    return prediction.copy() if is_array(prediction) else prediction
