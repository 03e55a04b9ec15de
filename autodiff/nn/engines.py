"""The two engines: a walk through graphs, and a program.

Each takes a batch and a snapshot of the parameters, and gives the loss of the batch and its
derivative by each parameter, both summed over the samples. Which one runs, `verification.py`
decides.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from traceback import extract_tb
from typing import TYPE_CHECKING, Any, TypeAlias

from ..compiler.expression import Expression
from ..compiler.program import Program
from ..engine.admission import AnyNumber, Floats
from ..engine.errors import refusal
from ..engine.graph import adjoints, topological_order
from ..engine.ops import sum as total
from ..engine.value import Value
from ..optim import Snapshot
from .devices import Put, Runner, in_jax
from .modules import drawn
from .recording import Recording, loss_value
from .samples import Loss, Model, Samples, values_in

if TYPE_CHECKING:
    from ..compiler.batch.places import Ids

Batch: TypeAlias = "Sequence[int] | Ids"  # which samples


@dataclass(eq=False)
class Walk:
    """Walks the graph of each sample of a batch."""

    model: Model
    loss: Loss
    samples: Samples

    def __post_init__(self) -> None:
        import numpy

        self.errstate = numpy.geterr()  # the user's: `fit` makes errors of overflows of its own

    def graph(self, i: int) -> Value:
        """The loss of one sample, as a graph that is freed before the next is built."""
        return loss_value(self.loss(self.model(self.samples.input(i)), self.samples.target(i)))

    def __call__(self, batch: Batch, now: Snapshot) -> tuple[float, Floats]:
        """The loss of a batch and its gradients, as sums, of what the Values hold.

        FloatingPointError if a loss becomes nan, infinite or too large for a float.
        """
        import numpy

        loss, sums = 0.0, dict.fromkeys(now.trained, 0.0)
        with numpy.errstate(**self.errstate):
            for i in batch:
                try:
                    by = adjoints(root := self.graph(i))
                except OverflowError as error:
                    raise FloatingPointError(str(error)) from error
                if not math.isfinite(root.data):
                    raise FloatingPointError(f"the loss became {root.data}")
                loss += root.data
                for p in by.keys() & sums.keys():
                    sums[p] += by[p]
        return loss, numpy.array([*sums.values()])

    def check_trains(self, parameters: Iterable[Value]) -> None:
        """A ValueError if no prediction and no loss depends on a parameter.

        A loss may be constant where a prediction is right.
        """
        given = {*parameters}
        for i in range(len(self.samples)):
            outputs = values_in(self.model(self.samples.input(i)))
            if not given.isdisjoint(topological_order(total([*outputs, self.graph(i)]))):
                return
        found = "a loss that depends on none of the optimizer's parameters"
        remedy = "give the optimizer the parameters of this model, with requires_grad = True"
        raise ValueError(refusal("fit", found, "one that does", remedy))


class Compiled:
    """Runs the program of a recording on the numbers of all samples of a batch at once."""

    def __init__(self, recording: Recording, parameters: Sequence[Value], xp: Any) -> None:
        import numpy

        self.recording, self.table = recording, recording.table()  # a row each, without masks
        expression = Expression(recording.root)
        self.program = expression.compile(recording.leaves, parameters, xp=xp, batch=True)
        self.run: Runner = self.program.runner()
        self.place: Put = numpy.asfortranarray  # each column in one piece, as the program reads
        self.columns = numpy.concatenate
        if xp is not numpy:
            self.place, self.run = in_jax(self.run)
        self.all_rows = self.place(self.table)

    def __call__(
        self, batch: Batch, now: Snapshot, factors: Iterable[Floats] = ()
    ) -> tuple[AnyNumber, Floats]:
        """The loss of a batch and its gradients, as sums; WrongProgram if the program fails.

        factors: for Dropout, in columns, shape (leaves, samples); none: new ones are drawn.
        """
        table, masks, placed = self.table, self.recording.masks, self.all_rows
        if masks or len(batch) < len(table):
            rows = table if len(batch) == len(table) else table.take(batch, axis=0)
            if masks:
                rows = self.columns([rows.T, *(factors or drawn(masks, len(rows)))]).T
            placed = self.place(rows)
        try:
            losses, gradients = self.run(placed, now.p)
        except FloatingPointError:
            raise
        except Exception as error:
            raise failure(self.program, error) from error
        return losses.sum(), gradients


class WrongProgram(Exception):  # noqa: N818  the program's error, not the user's
    """A program fails, or finds other numbers than a walk."""


def failure(program: Program, error: Exception) -> WrongProgram:
    """The error that says in which line a program fails."""
    line = ""
    for at in extract_tb(error.__traceback__):
        if at.filename in program.files:
            line = f" in its line {at.lineno}, {at.line},"
    said = f"the program fails{line} by {type(error).__name__}: {error}"
    return WrongProgram(f"{said}; walking does not, so the fault is autodiff's, not the model's")
