"""Losses of samples and their gradients: by a program, or by walking the graph of each."""

import gc
import math
import warnings
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from time import monotonic
from typing import Any

from ..compiler.expression import Expression
from ..compiler.symbolic import NotRecordable
from ..errors import message
from ..graph import adjoints
from ..optim import Optimizer
from ..value import Value
from .devices import in_jax
from .recording import CONTRACT, Recording, Watch, loss_value, user_frame
from .samples import Samples

Batch = Any  # the indices of its samples; None for all samples
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
    where = frame.f_code.co_filename, frame.f_lineno
    warnings.warn_explicit(text, WalkingWarning, *where, registry=seen)


@dataclass(eq=False)
class Losses:
    """The losses of samples: by a program, as long as walking a few of them gives the same.

    `program` is None if the graph of every sample is walked; `reason` says why.
    """

    model: Any
    loss: Any
    samples: Samples
    optimizer: Optimizer
    engine: str
    seed: Any
    xp: Any
    training: bool = True
    program: Any = None  # takes rows of leaves, in their place, and parameters
    recording: Any = None  # that it was made of
    reason: str = ""
    trains: bool = False  # whether a loss was seen that depends on a parameter
    right: int = 0  # the epoch before which the program was last seen to be right

    def __post_init__(self) -> None:
        import numpy

        self.usual, self.random, self.xp = numpy.geterr(), Random(self.seed), self.xp or numpy

    def graph(self, i: int) -> Value:
        """The loss of one sample, as a graph that is freed before the next is built."""
        return loss_value(self.loss(self.model(self.samples.input(i)), self.samples.targets[i]))

    def epoch(self, number: int, batches: Any) -> float:
        """The mean loss; each batch is a step, in training. FloatingPointError if it diverges."""
        import numpy

        total, n = 0.0, len(self.samples)
        how: Any = "raise" if self.xp is numpy else "ignore"  # raised inside JAX, it ends Python
        try:
            with numpy.errstate(all=how, under="ignore"):
                for batch in batches:
                    part, gradients = self.sums(batch)
                    if self.training:
                        self.optimizer._move(gradients / (n if batch is None else len(batch)))
                    total += float(part)
        except FloatingPointError as error:
            where = f"fit: the training diverged in epoch {number}"
            raise FloatingPointError(
                f"{where} (a smaller learning rate may help): {error}"
            ) from error
        if not self.trains:
            found = "a loss that depends on none of the optimizer's parameters"
            remedy = "give the optimizer the parameters of this model, with requires_grad = True"
            raise ValueError(message("fit", found, "one that does", remedy))
        return total / n

    def sums(self, batch: Batch) -> tuple[Any, Any]:
        """The sums of the losses of a batch, and of their gradients, by parameter.

        FloatingPointError if a loss becomes nan, infinite or too large for a float.
        """
        if not self.program:
            return self.walk(batch)
        with suppress(FloatingPointError):
            total, gradients = self.run(batch)
            if math.isfinite(total):
                return total, gradients
        found = self.walk(batch)
        if not math.isfinite(self.xp.asarray(found[0])):
            raise FloatingPointError(f"the loss became {found[0]}, too large for a float32")
        self.give_up(FAILS)
        return found

    def walk(self, batch: Batch) -> tuple[float, Any]:
        """The same, by the graph of every sample."""
        import numpy

        self.optimizer._store()
        total, parameters = 0.0, self.optimizer._trained
        sums = dict.fromkeys(parameters, 0.0)
        with numpy.errstate(**self.usual):
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

    def run(self, batch: Batch, masks: Any = None) -> tuple[Any, Any]:
        """The same, by the program; masks: those of Dropout, which its layers draw otherwise."""
        import numpy

        rows = self.table if batch is None else self.table.take(batch, axis=0)
        if self.recording.masks:
            masks = masks or [
                layer.masks(layer.rng, len(rows), len(mask)) for layer, mask in self.recording.masks
            ]
            rows = numpy.concatenate([rows.T, *[mask.T for mask in masks]]).T
        placed = self.whole if rows is self.table else self.place(rows)
        losses, gradients = self.program(placed, self.optimizer._now[0])
        return losses.sum(), gradients

    def verify(self, epoch: int, count: int, called: bool) -> None:
        """Compare the program with walking so many samples; called: after a callback.

        If it is wrong after a callback, another is made. If that is wrong, engine="compiled" is a
        RuntimeError, and "auto" walks from here.
        """
        if self.engine == "eager":
            return
        self.optimizer._store()
        again = called and epoch > 1
        if not self.recording or (again and not self.recording.is_current(self.optimizer._trained)):
            self.make()
        wrong = self.difference(count)
        if wrong and again:
            self.make()
            wrong = self.difference(FEW)
        if wrong:
            reason = f"in epoch {epoch} the program is wrong for {wrong}; {CONTRACT}"
            since = f"; results since epoch {self.right}, when it was last right, may be wrong"
            self.give_up(reason + since * (self.right > 0), RuntimeError)
        self.right = epoch

    def make(self) -> None:
        """Compile a program, or walk if there cannot be one; ValueError if it may not walk."""
        import numpy

        parameters, collects = self.optimizer._trained, gc.isenabled()
        gc.disable()  # it would scan all parameters again and again
        try:
            made = Recording(self.model, self.loss, self.samples, parameters)
            expression = Expression(made.root)
            program = expression.compile(made.leaves, parameters, xp=self.xp, batch=True)
        except NotRecordable as error:
            self.give_up(str(error))
            return
        finally:
            if collects:
                gc.enable()
        self.trains = not set(parameters).isdisjoint(expression.sources)
        run = program._function  # without checks
        local = self.xp is numpy  # which has columns in memory one after the other, as the program
        self.place: Any
        self.place, self.program = (numpy.asfortranarray, run) if local else in_jax(run)
        self.recording, self.table = made, made.table()
        self.whole = self.place(self.table)

    def give_up(self, reason: str, error: type[Exception] = ValueError) -> None:
        """Walk from here on, with a warning; engine="compiled" is an error."""
        if self.engine == "compiled":
            raise error(f"fit: the loss cannot be compiled: {reason}; to walk it: engine='eager'")
        what = "graph of every sample" if self.training else "graphs of the validation samples"
        warn(f"fit walks the {what}, which is slow: {reason}")
        self.program, self.reason, self.engine = None, reason, "eager"

    def difference(self, count: int) -> str:
        """How the program disagrees with walking a few samples; "" if by no more than rounding."""
        from numpy import errstate
        from numpy.random import default_rng

        n, end = len(self.samples) if self.program else 0, monotonic() + 1.0
        for i in self.random.sample(range(n), min(count, n)):
            with Watch([], default_rng(self.random.getrandbits(32))) as watching:
                try:
                    by = adjoints(root := self.graph(i))
                except (ArithmeticError, ValueError):
                    continue  # the step of its batch reports it
            with errstate(all="ignore"):
                found = self.compared(i, watching.masks, root, by)
            if found and math.isfinite(root.data):
                return f"sample {i}: {found}"
            if monotonic() > end:  # a graph of a million nodes: one sample is enough to wait for
                break
        return ""

    def compared(self, i: int, drawn: Any, root: Value, by: dict[Value, float]) -> str:
        """How the program disagrees with the graph of sample i, its draws and its adjoints."""
        import numpy

        recorded = self.recording.masks
        if [len(drawn[layer]) for layer, _ in recorded] != [len(mask) for _, mask in recorded]:
            return "Dropout was given other numbers"
        masks = [numpy.array([[x.data for x in drawn[layer]]]) for layer, _ in recorded]
        loss, gradients = self.run([i], masks)
        walked = [by.get(p, 0.0) for p in self.optimizer._trained]
        for name, ours, theirs, numbers in (
            ("loss", loss, root.data, [x.data for x in [root, *by]]),
            ("derivative", gradients, walked, [x or 0.0 for x in by.values()]),
        ):
            if far := distance(ours, theirs, numbers):
                return f"its {name} is off by {far:.3g}"
        return ""


def distance(ours: Any, theirs: Any, numbers: Any) -> float:
    """How far results are apart; 0.0 if half of the digits of the largest of the numbers agree."""
    import numpy

    far = numpy.max(abs(numpy.subtract(ours, theirs)))
    half = math.sqrt(numpy.finfo(ours.dtype).eps) * numpy.max(numpy.abs(numbers), initial=0.0)
    return float(far) if far > half else 0.0  # not nan, which a step reports
