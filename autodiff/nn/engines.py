"""Losses of samples and their gradients: by a program, or by walking the graph of each."""

import gc
import math
import sys
import warnings
from functools import cached_property
from random import Random
from time import monotonic
from typing import Any

from ..compiler.expression import Expression
from ..errors import message
from ..graph import adjoints, topological_order
from ..value import Value
from .purity import CONTRACT, NotRecordable, unchanged
from .recording import Recording, loss_value
from .samples import Samples
from .steps import Steps

Batch = Any  # the indices of its samples; None for all samples
FEW = 3  # samples that are walked in the first and the last epoch to verify a program
OFTEN = 4  # programs, of which a warning tells


class WalkingWarning(UserWarning):
    """Issued by `fit` where it is slow: it says why, and what to write instead.

    It walks the graph of every sample, or makes a new program in every epoch.
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


class Batches:
    """A program for the losses of a batch, and the rows of all samples that it takes.

    Without `training` it computes no gradients.
    """

    def __init__(
        self, model: Any, loss: Any, samples: Samples, steps: Steps, training: bool, xp: Any
    ) -> None:
        import numpy

        self.parameters, self.training, collects = steps.parameters, training, gc.isenabled()
        gc.disable()  # it would scan all parameters again and again
        try:
            recording = Recording(model, loss, samples, self.parameters)
            expression = Expression(recording.root if training else [recording.root])
            self.trains = not set(self.parameters).isdisjoint(expression.sources)
            leaves = [*recording.x, *recording.leaves]
            program = expression.compile(leaves, self.parameters, xp=xp, batch=True)
        finally:
            if collects:
                gc.enable()
        self.run = getattr(program, "_function", program)  # without checks
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
        if self.training:
            values, gradients = self.run(self.rows(batch), p)
            return values.sum(), gradients
        import numpy

        return self.run(self.rows(batch), numpy.asarray(p, float)).sum(), None  # JAX has float32


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
        self.usual, self.random = numpy.geterr(), Random(seed)
        self.program: Any = None
        self.reason = ""
        self.trains = False  # whether a loss was seen that depends on a parameter
        self.programs = 0  # made so far
        self.right = 0  # the epoch before which the program was last seen to be right

    def graph(self, i: int) -> Value:
        """The loss of one sample, as a graph that is freed before the next is built."""
        return loss_value(self.loss(self.model(self.samples.input(i)), self.samples.targets[i]))

    def epoch(self, batches: Any) -> float:
        """The mean loss; each batch is a step, in training. FloatingPointError if it diverges."""
        import numpy

        total, n = 0.0, len(self.samples)
        with numpy.errstate(all="raise", under="ignore"):
            for batch in batches:
                part, gradients = self.sums(batch)
                if self.training:
                    self.steps.move(gradients / (n if batch is None else len(batch)))
                total += float(part)
        if not (self.trains and self.steps.parameters):
            found = "a loss that depends on none of the optimizer's parameters"
            remedy = "give the optimizer the parameters of this model, with requires_grad = True"
            raise ValueError(message("fit", found, "one that does", remedy))
        return total / n

    def sums(self, batch: Batch) -> tuple[Any, Any]:
        """The sums of the losses of a batch, and of their gradients, by parameter.

        FloatingPointError if a loss becomes nan, infinite or too large for a float.
        """
        if self.program is not None:
            try:
                total, gradients = self.program.sums(batch, self.steps.now[0])
                if math.isfinite(total):
                    return total, gradients
            except FloatingPointError:
                pass
        found = self.walk(batch)
        if self.program is not None:
            self.give_up(
                "the program fails where walking does not, in a branch that is not taken or an "
                "error that is caught; write log(maximum(x, 1e-9)) for a log(x) that may fail"
            )
        return found

    def walk(self, batch: Batch) -> tuple[float, Any]:
        """The same, by the graph of every sample."""
        import numpy

        self.steps.store()
        self.steps.optimizer.zero_grad()
        total, parameters = 0.0, self.steps.parameters
        with numpy.errstate(**self.usual):
            for i in range(len(self.samples)) if batch is None else batch:
                try:
                    root = self.graph(i)
                    if not self.trains:
                        self.trains = not set(parameters).isdisjoint(topological_order(root))
                    if self.training and root.requires_grad:
                        root.backward()
                except OverflowError as error:
                    raise FloatingPointError(str(error)) from error
                if not math.isfinite(root.data):
                    raise FloatingPointError(f"the loss became {root.data}")
                total += root.data
        return total, numpy.array([p.grad for p in parameters])

    def verify(self, epoch: int, count: int, called: bool) -> None:
        """Compare the program with walking so many samples; called: after a callback.

        If it is wrong after a callback, another is made. If that is wrong, engine="compiled" is a
        RuntimeError, and "auto" walks from here.
        """
        if self.engine == "eager":
            return
        if self.program is None or self.program.parameters is not self.steps.parameters:
            self.make()
        wrong = self.difference(count)
        if wrong and called and epoch > 1:
            self.make()
            wrong = self.difference(FEW)
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
            self.trains = self.program.trains
        except NotRecordable as error:
            self.give_up(str(error))
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

    def difference(self, count: int) -> str:
        """How the program disagrees with walking a few samples; "" if by no more than rounding."""
        from numpy import errstate

        n, end = len(self.samples) if self.program else 0, monotonic() + 1.0
        self.steps.store()
        for i in self.random.sample(range(n), min(count, n)):
            try:
                with unchanged(self.model, self.loss):
                    by = adjoints(root := self.graph(i))
            except NotRecordable as error:
                return f"sample {i}: {error}"
            except (ArithmeticError, ValueError):
                continue  # the step of its batch reports it
            with errstate(all="ignore"):
                found = self.compared(i, root, by) if math.isfinite(root.data) else ""
            if found:
                return f"sample {i}: {found}"
            if monotonic() > end:  # a graph of a million nodes: one sample is enough to wait for
                break
        return ""

    def compared(self, i: int, root: Value, by: dict[Value, float]) -> str:
        """How the program disagrees with the graph of sample i, and its adjoints."""
        import numpy

        total, gradients = self.program.sums([i], self.steps.now[0])
        half = math.sqrt(numpy.finfo(total.dtype).eps)  # half of the digits have to agree
        walked = [by.get(p, 0.0) for p in self.steps.parameters]
        slopes = [0.0, *[x or 0.0 for x in by.values()]]
        for name, ours, theirs, scale in (
            ("loss", [total], [root.data], [x.data for x in [root, *by]]),
            ("derivative", gradients, walked, slopes),
        )[: 1 + self.training]:
            apart = abs(numpy.subtract(ours, theirs))
            if apart.max(initial=0.0) > half * numpy.max(numpy.abs(scale)):
                k = int(apart.argmax())
                of = f" for parameter {k}" if apart.size > 1 else ""
                return f"the program has the {name} {ours[k]:.9g}{of}, its graph {theirs[k]:.9g}"
        return ""
