"""Records the graph of a sample's loss, so that it serves every sample.

    sample 0, all targets               watching.py: the numbers are real, and may not be looked at
      │ take                            the model runs once, the loss once for each target
      ▼
    losses of sample 0 ── form ──┐      a hash: operations, leaves that they read, constants
    losses of the last sample ───┴──►   another form, or a node in both: not recordable
      │ merging.py                      where targets differ in a number: a leaf with a column;
      ▼                                 where they choose a node: a dot with a one-hot row
    root, leaves, table                 one graph, and a row of numbers for each sample

A graph that depends on numbers differs between samples, so nobody may look at them. What depends
on chance, or is kept from call to call, shows when a second sample is recorded.
"""

import pickle
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from ..compiler.symbolic import NotRecordable, Writer, key_of
from ..engine.admission import Floats, is_array
from ..engine.errors import kind_of, refusal
from ..engine.graph import topological_order
from ..engine.linalg import Matrix, Vector
from ..engine.operation import Operation
from ..engine.ops import sum as total
from ..engine.value import Value
from .merging import Merged
from .modules import Masks, draws, factors_in
from .samples import Loss, Model, Samples, constants, values_in
from .watching import Watch

CONTRACT = (
    "a model and a loss are pure functions of their input and parameters; parameters are leaves; "
    "randomness comes from Dropout or is passed in"
)
MANY = 32  # targets whose losses are recorded again to see whether anything has changed


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
    watching = Watch([*x, *parameters])
    roots, result = watching.run(run, x)
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

    NotRecordable if the model or the loss looks at numbers, or gives another sample another graph.
    """

    model: Model
    loss: Loss
    samples: Samples
    parameters: Sequence[Value]

    def __post_init__(self) -> None:
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
        leaves = {*made.x, *self.parameters, *masks}
        merged = Watch(leaves).run(Merged, made.roots, values_in(made.result), leaves)
        self.root, self.columns = merged.root, merged.columns
        self.leaves = [*made.x, *merged.leaves, *masks]

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

        shape = len(self.columns), len(self.examples)
        table = numpy.array(self.columns).reshape(shape).T[self.target_of]
        return numpy.concatenate([self.samples.inputs, table], axis=1)


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
