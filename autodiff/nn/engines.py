"""Losses of samples and their gradients: by a program, or by walking the graph of each."""

import gc
import math
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from random import Random
from time import monotonic
from typing import Any

from ..compiler.expression import Expression
from ..errors import message
from ..graph import adjoints, topological_order
from ..value import Value
from .modules import mode
from .purity import CONTRACT, NotRecordable, unchanged
from .recording import Recording, loss_value
from .samples import Samples
from .steps import Steps

Batch = Any  # the indices of its samples; None for all samples
FEW = 3  # samples that are walked in the first and the last epoch to verify a program
OFTEN = 4  # programs, of which a warning tells


class WalkingWarning(UserWarning):
    """Issued by `fit` where it is slow: it says why, and what to write instead.

    It walks the graph of every sample, or of some batches, or makes a new program in every epoch.
    To silence it, ask for walking: engine="eager".

    >>> issubclass(WalkingWarning, UserWarning)
    True
    """


def warn(text: str) -> None:
    """Issue a WalkingWarning at the line that called this package."""
    here = 1
    while sys._getframe(here).f_globals.get("__name__", "").startswith("autodiff."):
        here += 1
    warnings.warn(f"fit {text}", WalkingWarning, stacklevel=here + 1)


@contextmanager
def _collector_off() -> Iterator[None]:
    """Turn off garbage collection in the block: it would scan all parameters again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Batches:
    """A program for the losses of a batch, and the rows of all samples that it takes.

    Without `training` it computes no gradients.
    """

    def __init__(
        self, model: Any, loss: Any, samples: Samples, steps: Steps, training: bool, xp: Any
    ) -> None:
        import numpy

        if isinstance(samples.inputs, list):
            raise NotRecordable("the inputs are rows of different lengths")
        with _collector_off():
            recording = Recording(model, loss, samples, steps.parameters)
            expression = Expression(recording.root if training else [recording.root])
            check_dependence(depends(expression.sources, steps))
            leaves = [*recording.x, *recording.leaves]
            self.program = expression.compile(leaves, steps.parameters, xp=xp, batch=True)
        self.run = getattr(self.program, "_function", self.program)  # without checks
        self.parameters, self.training = steps.parameters, training
        self.inputs = numpy.concatenate([samples.inputs, recording.table()], axis=1)

    @cached_property
    def whole(self) -> Any:
        """The rows of all samples, in memory column by column, as the program has them."""
        import numpy

        return numpy.asfortranarray(self.inputs)

    def rows(self, batch: Batch) -> Any:
        """The inputs of the program for a batch."""
        return self.whole if batch is None else self.inputs.take(batch, axis=0)

    def sums(self, batch: Batch, p: Any) -> tuple[Any, Any]:
        """The sums of the losses of a batch, and of their gradients."""
        found = self.run(self.rows(batch), p)
        values, gradients = found if self.training else (found, None)
        return values.sum(), gradients

    def one(self, i: int, p: Any) -> tuple[Any, Any]:
        """The loss of one sample and its gradient, if there is any."""
        found = self.program(self.inputs[i : i + 1], p)
        return found if self.training else (found, [])


class Losses:
    """The losses of samples: by a program, as long as walking a few of them gives the same.

    `program` is None if the graph of every sample is walked; `reason` says why.
    """

    def __init__(
        self, model: Any, loss: Any, samples: Samples, steps: Steps, engine: str, seed: Any,
        training: bool = True, xp: Any = None,
    ) -> None:  # fmt: skip
        import numpy

        self.given = self.model, self.loss, self.samples, self.steps = model, loss, samples, steps
        self.engine, self.training, self.xp = engine, training, xp or numpy
        self.errors, self.usual = numpy.errstate, numpy.geterr()
        self.random = Random(seed)
        self.program: Any = None
        self.reason = ""
        self.trains = False  # whether a loss was seen that depends on a parameter
        self.programs = 0  # made so far
        self.walked = False  # whether a batch was, because its program failed
        self.right = 0  # the epoch before which the program was last seen to be right

    def graph(self, i: int) -> Value:
        """The loss of one sample, as a graph that is freed before the next is built."""
        return loss_value(self.loss(self.model(self.samples.input(i)), self.samples.targets[i]))

    def epoch(self, batches: Any) -> float:
        """Train for one epoch; return the mean loss. FloatingPointError if it diverges."""
        total = 0.0
        with self.errors(all="raise", under="ignore"):
            for batch in batches:
                part, gradients = self.gradients(batch)
                self.steps.move(gradients)
                total += float(part)
        check_dependence(self.trains and self.steps.parameters)
        return total / len(self.samples)

    def gradients(self, batch: Batch) -> tuple[float, Any]:
        """The sum of the losses of a batch, and their mean gradient, an entry for each parameter.

        FloatingPointError if a loss becomes nan, infinite or too large for a float.
        """
        if self.program is None:
            return self.walk(batch)
        try:
            total, gradients = self.program.sums(batch, self.steps.now[0])
            if math.isfinite(total):
                return total, gradients / len(self.samples if batch is None else batch)
        except FloatingPointError:
            pass
        found = self.walk(batch)  # what happened may have been in a branch not taken
        if not self.walked:
            self.walked = True
            warn(
                "walks batches, which is slow: the program fails where walking does not, in a "
                "branch that is not taken or an error that is caught; write log(maximum(x, 1e-9)) "
                "for a log(x) that may fail"
            )
        return found

    def walk(self, batch: Batch) -> tuple[float, Any]:
        """The same, by the graph of every sample."""
        import numpy

        self.steps.store()
        self.steps.optimizer.zero_grad()
        total = 0.0
        numbers = range(len(self.samples)) if batch is None else batch
        with self.errors(**self.usual):
            for i in numbers:
                try:
                    root = self.graph(i)
                    self.trains = self.trains or depends(topological_order(root), self.steps)
                    total += root.data
                    if root.requires_grad:
                        (root / len(numbers)).backward()
                except OverflowError as error:
                    raise FloatingPointError(str(error)) from error
                if not math.isfinite(root.data):
                    raise FloatingPointError(f"the loss became {root.data}")
        return total, numpy.array([p.grad for p in self.steps.parameters])

    def mean(self) -> float:
        """The mean loss of all samples, in evaluation mode."""
        import numpy

        n, p = len(self.samples), numpy.asarray(self.steps.now[0], float)  # JAX has float32
        if self.program is not None:
            with self.errors(all="raise", under="ignore"), suppress(FloatingPointError):
                return float(self.program.sums(None, p)[0]) / n
        self.steps.store()
        with mode(self.model, training=False):
            return sum([self.graph(i).data for i in range(n)]) / n

    def verify(self, epoch: int, last: bool, called: bool) -> None:
        """Compare the program with walking, in epochs 1, 2, 4, 8, ..., the last, after a callback.

        If it is wrong after a callback, another is made. If that is wrong, engine="compiled" is a
        RuntimeError, and "auto" walks from here.
        """
        count = FEW if last or epoch == 1 else int(called or epoch & (epoch - 1) == 0)
        if self.engine == "eager" or not count:
            return
        with mode(self.model, self.training):
            if self.program is None or self.program.parameters is not self.steps.parameters:
                self.make()
            wrong = self.differences(count)
            if wrong and called and epoch > 1:
                self.make()
                wrong = self.differences(FEW)
        if wrong:
            reason = f"in epoch {epoch} the program is wrong for {wrong}; {CONTRACT}"
            since = f"; results since epoch {self.right}, when it was last right, may be wrong"
            self.give_up(reason + since * (self.right > 0), RuntimeError)
        self.right = epoch

    def make(self) -> None:
        """Compile a program, or walk if there cannot be one; ValueError if it may not walk."""
        kind: type[Batches] = Batches
        if self.xp.__name__ == "jax.numpy":
            from .devices import OnDevices

            kind = OnDevices
        try:
            self.program = kind(*self.given, self.training, self.xp)
        except NotRecordable as error:
            self.give_up(str(error))
        self.trains = True
        self.programs += 1
        if self.programs == OFTEN:
            warn(
                "makes a new program in every epoch, which is slow: the callback changes what the "
                "model or the loss computes; change it every few epochs"
            )

    def give_up(self, reason: str, error: type[Exception] = ValueError) -> None:
        """Walk from here on, with a warning; engine="compiled" is an error."""
        if self.engine == "compiled":
            raise error(f"fit: the loss cannot be compiled: {reason}; to walk it: engine='eager'")
        what = "graph of every sample" if self.training else "graphs of the validation samples"
        warn(f"walks the {what}, which is slow: {reason}")
        self.program, self.reason, self.engine = None, reason, "eager"

    def differences(self, count: int) -> str:
        """How the program differs from walking a few samples; "" if it does not."""
        n, end = len(self.samples) if self.program else 0, monotonic() + 1.0
        for i in self.random.sample(range(n), min(count, n)):
            if difference := self.difference(i):
                return f"sample {i}: {difference}"
            if monotonic() > end:  # a graph of a million nodes: one sample is enough to wait for
                break
        return ""

    def difference(self, i: int) -> str:
        """How the program disagrees with walking sample i; "" if by no more than rounding."""
        import numpy

        self.steps.store()
        try:
            with unchanged(self.model, self.loss):
                root = self.graph(i)
                by = adjoints(root)
        except NotRecordable as error:
            return str(error)
        except (ArithmeticError, ValueError):
            return ""  # the step of its batch reports it
        if not math.isfinite(root.data):
            return ""
        with numpy.errstate(all="ignore"):
            found = self.program.one(i, numpy.asarray(self.steps.now[0], float))
        value, gradients = map(numpy.ravel, found)
        walked = [by.get(p, 0.0) for p in self.steps.parameters][: len(gradients)]
        half = math.sqrt(numpy.finfo(value.dtype).eps)  # half of the digits have to agree
        for name, ours, theirs, scale in (
            ("loss", value, [root.data], [node.data for node in [root, *by]]),
            ("derivative", gradients, walked, [0.0, *[x or 0.0 for x in by.values()]]),
        ):
            apart = abs(ours - theirs)
            if len(ours) and apart.max() > half * numpy.max(numpy.abs(scale)):
                k = int(apart.argmax())
                of = f" for parameter {k}" if len(ours) > 1 else ""
                return f"the program has the {name} {ours[k]:.9g}{of}, its graph {theirs[k]:.9g}"
        return ""


def depends(nodes: Iterable[Value], steps: Steps) -> bool:
    """Whether a parameter is among the nodes of a loss."""
    return not set(steps.parameters).isdisjoint(nodes)


def check_dependence(trains: Any) -> None:
    """ValueError if the loss depends on none of the parameters, which training would not change."""
    if not trains:
        found = "a loss that depends on none of the optimizer's parameters"
        remedy = "give the optimizer the parameters of this model, with requires_grad = True"
        raise ValueError(message("fit", found, "one that does", remedy))
