"""Losses of samples and their gradients: by a program, or by walking the graph of each."""

import gc
import math
import sys
import warnings
from contextlib import suppress
from random import Random
from time import monotonic
from typing import Any

from ..compiler.expression import Expression
from ..errors import message
from ..graph import adjoints, topological_order
from ..optim import Optimizer
from ..value import Value
from .devices import Batch, Sums, in_jax, in_numpy
from .purity import CONTRACT, NotRecordable, unchanged
from .recording import Recording, loss_value
from .samples import Samples

FEW = 3  # samples that are walked in the first and the last epoch to verify a program


class WalkingWarning(UserWarning):
    """Issued by `fit` where it walks the graph of every sample: it says why, and what to write.

    To silence it, ask for walking: engine="eager".

    >>> issubclass(WalkingWarning, UserWarning)
    True
    """


def warn(text: str) -> None:
    """Issue a WalkingWarning at the line that called this package."""
    here = 1
    while sys._getframe(here).f_globals.get("__name__", "").startswith("autodiff."):
        here += 1
    warnings.warn(text, WalkingWarning, stacklevel=here + 1)


class Losses:
    """The losses of samples: by a program, as long as walking a few of them gives the same.

    `program` is None if the graph of every sample is walked; `reason` says why.
    """

    def __init__(
        self, model: Any, loss: Any, samples: Samples, optimizer: Optimizer, engine: str,
        seed: Any, xp: Any, training: bool = True,
    ) -> None:  # fmt: skip
        import numpy

        self.model, self.loss, self.samples, self.optimizer = model, loss, samples, optimizer
        self.engine, self.training, self.xp = engine, training, xp or numpy
        self.usual, self.random = numpy.geterr(), Random(seed)
        self.program: Sums | None = None
        self.parameters: Any = None  # for which the program was made
        self.reason = ""
        self.trains = False  # whether a loss was seen that depends on a parameter
        self.right = 0  # the epoch before which the program was last seen to be right

    def graph(self, i: int) -> Value:
        """The loss of one sample, as a graph that is freed before the next is built."""
        return loss_value(self.loss(self.model(self.samples.input(i)), self.samples.targets[i]))

    def epoch(self, number: int, batches: Any) -> float:
        """The mean loss; each batch is a step, in training. FloatingPointError if it diverges."""
        import numpy

        total, n = 0.0, len(self.samples)
        try:
            with numpy.errstate(all="raise", under="ignore"):
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
        if self.program:
            with suppress(FloatingPointError):
                total, gradients = self.program(batch, self.optimizer._now[0])
                if math.isfinite(total):
                    return total, gradients
        found = self.walk(batch)
        if self.program:
            self.give_up(
                "the program fails where walking does not, in a branch that is not taken or an "
                "error that is caught; write log(maximum(x, 1e-9)) for a log(x) that may fail"
            )
        return found

    def walk(self, batch: Batch) -> tuple[float, Any]:
        """The same, by the graph of every sample."""
        import numpy

        self.optimizer._store()
        self.optimizer.zero_grad()
        total, parameters = 0.0, self.optimizer._trained
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
        if self.parameters is not self.optimizer._trained:
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
        import numpy

        self.parameters, collects = self.optimizer._trained, gc.isenabled()
        gc.disable()  # it would scan all parameters again and again
        try:
            recording = Recording(self.model, self.loss, self.samples, self.parameters)
            expression = Expression(recording.root)
            self.trains = not set(self.parameters).isdisjoint(expression.sources)
            leaves = [*recording.x, *recording.leaves]
            program = expression.compile(leaves, self.parameters, xp=self.xp, batch=True)
            inputs = numpy.concatenate([self.samples.inputs, recording.table()], axis=1)
            runner = in_numpy if self.xp is numpy else in_jax
            self.program = runner(program._function, inputs)  # without checks
        except NotRecordable as error:
            self.give_up(str(error))
        finally:
            if collects:
                gc.enable()

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

        n, end = len(self.samples) if self.program else 0, monotonic() + 1.0
        self.optimizer._store()
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

        total, gradients = self.program([i], self.optimizer._now[0])  # type: ignore[misc]
        half = math.sqrt(numpy.finfo(total.dtype).eps)  # half of the digits have to agree
        walked = [by.get(p, 0.0) for p in self.parameters]
        slopes = [x or 0.0 for x in by.values()]
        for name, ours, theirs, numbers in (
            ("loss", total, root.data, [x.data for x in [root, *by]]),
            ("derivative", gradients, walked, [0.0, *slopes]),
        ):
            far = numpy.max(abs(numpy.subtract(ours, theirs)))
            if far > half * numpy.max(numpy.abs(numbers)):  # not nan, which its step reports
                return f"its {name} is off by {far:.3g}"
        return ""
