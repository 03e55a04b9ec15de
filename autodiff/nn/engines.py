"""Losses of samples and their gradients: by a program, or by walking the graph of each."""

import gc
import math
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ..compiler.expression import Expression
from ..compiler.symbolic import NotRecordable
from ..engine.admission import AnyNumber, Floats
from ..engine.errors import refusal, restoring, typed
from ..engine.graph import adjoints, topological_order
from ..engine.value import Value
from ..optim import Optimizer, Snapshot
from .devices import Placed, Put, Runner, in_jax
from .modules import Masks, drawn, draws, factors_in, in_mode
from .recording import CONTRACT, ROUNDING, Recording, Watch, loss_value, user_frame
from .samples import Loss, Model, Samples, values_in

if TYPE_CHECKING:
    from ..compiler.batch.places import Ids

Indices: TypeAlias = "Sequence[int] | Ids | None"  # the samples of a batch; None: all
FAILS = (
    "the program fails where walking does not, in a branch that is not taken or an error that is "
    "caught; write log(maximum(x, 1e-9)) for a log(x) that may fail"
)
FEW = 3  # samples that are walked in the first and the last epoch to verify a program


class WalkingWarning(UserWarning):
    """Issued by `fit` and `predict` where they walk the graph of every sample: it says why.

    To silence that of `fit`, ask for walking: engine="eager".

    >>> issubclass(WalkingWarning, UserWarning)
    True
    """


def warn(text: str) -> None:
    """Issue a WalkingWarning at the user's line."""
    frame = user_frame()
    seen = frame.f_globals.setdefault("__warningregistry__", {})
    subject = frame.f_code.co_filename, frame.f_lineno
    warnings.warn_explicit(text, WalkingWarning, *subject, registry=seen)


class Compiled(NamedTuple):
    """The program of a loss, what it was made of, and the numbers of the samples that it takes."""

    run: Runner
    recording: Recording
    table: Floats  # a row for each sample, without masks
    place: Put
    all_rows: Placed  # of the table
    trains: bool  # whether the loss depends on a parameter

    def __call__(
        self, batch: Indices, parameters: Floats, factors: Iterable[Floats] = ()
    ) -> tuple[Floats, Floats]:
        """The loss of a batch (None: of all samples) and its derivative by each parameter, as sums.

        factors: for Dropout, in columns, shape (leaves, samples); none: new ones are drawn.
        """
        import numpy

        rows = self.table if batch is None else self.table.take(batch, axis=0)
        if masks := self.recording.masks:
            rows = numpy.concatenate([rows.T, *(factors or drawn(masks, len(rows)))]).T
        placed = self.all_rows if rows is self.table else self.place(rows)
        losses, gradients = self.run(placed, parameters)
        return losses.sum(), gradients


class TrainingState:
    """Where a training is: `now`, a snapshot that a step replaces by one assignment.

    So Ctrl-C leaves whole steps. The Values and the optimizer lag behind until `write`.
    """

    def __init__(self, optimizer: Any) -> None:
        if not isinstance(optimizer, Optimizer):
            example = "one such as optim.SGD(model.parameters(), lr=0.1)"
            raise TypeError(refusal("fit, optimizer", typed(optimizer), example))
        self.optimizer = optimizer
        self.read()

    def read(self) -> None:
        """Start from what the Values hold now; a ValueError if none is trained."""
        self.now = self.optimizer.snapshot()
        self.written: Snapshot | None = self.now
        own = self.optimizer.is_own()
        self.along = self.optimizer.as_by_hand if own else self.optimizer.update
        if not self.now.trained:
            remedy = "set requires_grad = True before training"
            raise ValueError(
                refusal("fit", "no parameters that require a gradient", "some", remedy)
            )

    def step(self, gradients: Floats) -> None:
        """Go on along the gradients."""
        self.written = None  # if the step fails halfway, `write` goes back to before it
        self.now = self.along(self.now, gradients)

    def write(self) -> None:
        """Write the snapshot, unless that is done: a callback may have set other numbers since."""
        if self.written is not self.now:
            self.optimizer.write(self.now)
            self.written = self.now

    def finish(self) -> None:
        """Write the snapshot, and clear the gradients."""
        self.write()
        self.optimizer.zero_grad()


@dataclass(eq=False)
class Evaluator:
    """Evaluates losses and their gradients: by a program, as long as it agrees with walking.

    `program` is None if the graph of every sample is walked; `reason` says why.
    """

    model: Model
    loss: Loss
    samples: Samples
    state: TrainingState
    engine: str
    seed: int | None
    xp: Any
    training: bool = True
    program: Compiled | None = None
    reason: str = ""
    trains: bool = False  # whether a loss of this epoch depends on a parameter
    verified: int = 0  # the last epoch before which the program agreed with walking

    def __post_init__(self) -> None:
        import numpy

        self.errstate, self.random, self.xp = numpy.geterr(), Random(self.seed), self.xp or numpy

    def graph(self, i: int) -> Value:
        """The loss of one sample, as a graph that is freed before the next is built."""
        return loss_value(self.loss(self.model(self.samples.input(i)), self.samples.target(i)))

    def epoch(self, number: int, batches: Iterable[Indices]) -> float:
        """The mean loss; each batch is a step, in training. FloatingPointError if it diverges."""
        import numpy

        total, n, self.trains = 0.0, len(self.samples), False
        how: Any = "raise" if self.xp is numpy else "ignore"  # raised inside JAX, it ends Python
        try:
            with numpy.errstate(all=how, under="ignore"):
                for batch in batches:
                    part, gradients = self.loss_and_gradients(batch)
                    if self.training:
                        self.state.step(gradients / (n if batch is None else len(batch)))
                    total += float(part)
        except FloatingPointError as error:
            subject = f"fit: the training diverged in epoch {number}"
            raise FloatingPointError(
                f"{subject} (a smaller learning rate may help): {error}"
            ) from error
        if self.training and not self.trains and not self.predicts():
            found = "a loss that depends on none of the optimizer's parameters"
            remedy = "give the optimizer the parameters of this model, with requires_grad = True"
            raise ValueError(refusal("fit", found, "one that does", remedy))
        return total / n

    def predicts(self) -> bool:
        """Whether the model depends on a parameter; a loss may be constant where it is right."""
        outputs = values_in(in_mode(False, self.model, self.samples.input(0)))
        parameters = {*self.state.now.trained}
        return any(not parameters.isdisjoint(topological_order(y)) for y in outputs)

    def loss_and_gradients(self, batch: Indices) -> tuple[AnyNumber, Floats]:
        """The loss of a batch and its gradients, by the program or the graph of every sample.

        FloatingPointError if a loss becomes nan, infinite or too large for a float.
        """
        if not self.program:
            return self.eager(batch)
        self.trains = self.trains or self.program.trains
        with suppress(FloatingPointError):
            total, gradients = self.program(batch, self.state.now.p)
            if math.isfinite(total):
                return total, gradients
        walked, gradients = self.eager(batch)
        if not math.isfinite(self.xp.asarray(walked)):
            raise FloatingPointError(f"the loss became {walked}, too large for a float32")
        self.fall_back(FAILS)
        return walked, gradients

    def eager(self, batch: Indices) -> tuple[float, Floats]:
        """The loss and gradients of a batch, by the graph of every sample."""
        import numpy

        self.state.write()
        total, parameters = 0.0, self.state.now.trained
        sums = dict.fromkeys(parameters, 0.0)
        with numpy.errstate(**self.errstate):
            for i in range(len(self.samples)) if batch is None else batch:
                try:
                    by = adjoints(root := self.graph(i))
                except OverflowError as error:
                    raise FloatingPointError(str(error)) from error
                if not math.isfinite(root.data):
                    raise FloatingPointError(f"the loss became {root.data}")
                total += root.data
                for p in by.keys() & sums.keys():
                    self.trains, sums[p] = True, sums[p] + by[p]
        return total, numpy.array([*sums.values()])

    def ensure_program(self, epoch: int, count: int, called: bool) -> None:
        """Make a program if there is none, and compare it with walking so many samples.

        called: whether a callback may have changed the model or the loss. If the program is wrong
        then, another is made. If that is wrong, engine="compiled" is a RuntimeError, and "auto"
        walks from here.
        """
        if self.engine == "eager":
            return
        self.state.write()
        again = called and epoch > 1
        recording = self.program and self.program.recording
        if not recording or (again and not recording.is_current(self.state.now.trained)):
            self.compile()
        wrong = self.disagreement(count)
        if wrong and again:
            self.compile()
            wrong = self.disagreement(FEW)
        if wrong:
            reason = f"in epoch {epoch} the program is wrong for {wrong}"
            since = f"; results since epoch {self.verified}, when it was last right, may be wrong"
            self.fall_back(reason + since * (self.verified > 0), RuntimeError)
        self.verified = epoch

    def compile(self) -> None:
        """Compile a program, or walk if there cannot be one; ValueError if it may not walk."""
        import numpy

        parameters = self.state.now.trained
        try:
            with restoring(gc.enable if gc.isenabled() else gc.disable):
                gc.disable()  # it would scan all parameters again and again
                made = Recording(self.model, self.loss, self.samples, parameters)
                expression = Expression(made.root)
                program = expression.compile(made.leaves, parameters, xp=self.xp, batch=True)
        except NotRecordable as error:
            self.fall_back(str(error))
            return
        trains = not set(parameters).isdisjoint(expression.sources)
        run, table = program.runner(), made.table()
        place: Put = numpy.asfortranarray  # column after column in memory, as the program reads
        if self.xp is not numpy:
            place, run = in_jax(run)
        self.program = Compiled(run, made, table, place, place(table), trains)

    def fall_back(self, reason: str, error: type[Exception] = ValueError) -> None:
        """Walk from here on, with a warning; engine="compiled" is an error."""
        if self.engine == "compiled":
            raise error(f"fit: the loss cannot be compiled: {reason}; to walk it: engine='eager'")
        what = "graph of every sample" if self.training else "graphs of the validation samples"
        warn(f"fit walks the {what}, which is slow: {reason}")
        self.program, self.reason, self.engine = None, reason, "eager"

    def disagreement(self, count: int) -> str:
        """How the program disagrees with walking a few samples; "" if by no more than rounding."""
        from numpy import errstate
        from numpy.random import default_rng

        program, end = self.program, monotonic() + 1.0
        if not program:
            return ""
        n = len(self.samples)
        for i in self.random.sample(range(n), min(count, n)):
            with Watch([], default_rng(self.random.getrandbits(32))) as watching:
                try:
                    by = adjoints(root := self.graph(i))
                except (ArithmeticError, ValueError):
                    continue  # the step of its batch reports it
            with errstate(all="ignore"):
                found = self.disagreement_at(i, program, watching.masks, root, by)
            if found and math.isfinite(root.data):
                pure = program.recording.is_current(self.state.now.trained, i)
                return f"sample {i}: {found}; {ROUNDING if pure else CONTRACT}"
            if monotonic() > end:  # a graph of a million nodes: one sample is enough to wait for
                break
        return ""

    def disagreement_at(
        self, i: int, program: Compiled, masks: Masks, root: Value, by: dict[Value, float]
    ) -> str:
        """How the program disagrees with the graph of sample i, its draws and its adjoints."""
        import numpy

        if draws(masks) != draws(program.recording.masks):
            return "Dropout was given other numbers"
        factors = [numpy.array([[x.data] for x in factors_in(masks)])] if masks else []
        loss, gradients = program([i], self.state.now.p, factors)
        walked = [by.get(p, 0.0) for p in self.state.now.trained]
        for name, ours, theirs, numbers in (
            ("loss", loss, root.data, [x.data for x in [root, *by]]),
            ("derivative", gradients, walked, [x or 0.0 for x in by.values()]),
        ):
            if far := distance(ours, theirs, numbers):
                return f"its {name} is off by {far:.3g}"
        return ""


def distance(ours: Floats, theirs: Any, numbers: Any) -> float:
    """How far results are apart; 0.0 if half of the digits of the largest of the numbers agree."""
    import numpy

    far = numpy.max(abs(numpy.subtract(ours, theirs)))
    half = math.sqrt(numpy.finfo(ours.dtype).eps) * numpy.max(numpy.abs(numbers), initial=0.0)
    return float(far) if far > half else 0.0  # not nan, which a step reports
