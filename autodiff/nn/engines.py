"""How `fit` takes a step: gradients by walking graphs or by a program, then the optimiser moves."""

import gc
import math
import signal
import sys
import threading
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, repeat
from operator import setitem
from typing import Any

from .. import graph
from ..compiler.expression import Expression
from ..optim import Optimizer
from ..value import Value
from .purity import NotRecordable, unchanged
from .recording import Recording, depends, loss_value
from .samples import Samples

Batch = Any  # the indices of its samples; None for all samples


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
    warnings.warn(text, WalkingWarning, stacklevel=here + 1)


class Steps:
    """The parameters that are trained, and what the optimiser remembers of them, as arrays.

    `p` has an entry for each parameter, and so has each array of `state`. `store` writes them to
    the Values and to the optimiser, `load` reads them.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        import numpy

        self.numpy, self.optimizer = numpy, optimizer
        self.parameters: list[Value] = []
        self.moving = self.interrupted = False
        self.load()

    def load(self) -> None:
        """Read the parameters and the optimiser's state."""
        states = zip(self.optimizer.params, self.optimizer.state, strict=True)
        trained = [(p, state) for p, state in states if p.requires_grad]
        parameters, self.memory = [p for p, _ in trained], [state for _, state in trained]
        if [*map(id, parameters)] != [*map(id, self.parameters)]:
            self.parameters = parameters  # a new list: a program for the old ones is no good
            self.before: Any = None  # what `back` restores
        rules = [getattr(self.optimizer, name) for name in ("step", "moved", "change")]
        self.by_arrays = all(rule.__module__ == Optimizer.__module__ for rule in rules)
        names = self.optimizer.state[0] if self.by_arrays else ()
        array = self.numpy.array
        self.p: Any = array([p.data for p in self.parameters])
        self.stored: Any = self.p
        self.state = {name: array([state[name] for state in self.memory]) for name in names}

    def store(self) -> None:
        """Write the parameters and the optimiser's state back, once: a callback may set others."""
        if self.p is self.stored:
            return
        written = [map(setattr, self.parameters, repeat("_data"), self.p.tolist())]
        for name, column in self.state.items():
            written.append(map(setitem, self.memory, repeat(name), column.tolist()))
        deque(chain(*written), maxlen=0)  # one call in C, which Ctrl-C cannot interrupt
        self.stored = self.p

    def move(self, gradients: Any) -> None:
        """Let the optimiser move all parameters; Ctrl-C waits until it has."""
        self.moving = True
        try:
            optimizer, state = self.optimizer, dict(self.state)
            remembered = [] if self.by_arrays else [dict(each) for each in self.memory]
            self.before = self.p, self.state, optimizer.steps, remembered
            if self.by_arrays:
                optimizer.steps += 1
                with self.numpy.errstate(all="ignore"):  # the next loss shows it
                    self.p, self.state = optimizer.moved(self.p, gradients, state), state
            else:  # an optimiser from outside this package
                self.store()
                for p, gradient in zip(self.parameters, gradients.tolist(), strict=True):
                    p.grad = gradient
                optimizer.step()
                self.p = self.stored = self.numpy.array([p.data for p in self.parameters])
        except BaseException:
            self.back()
            raise
        finally:
            self.moving = False
        if self.interrupted:
            raise KeyboardInterrupt

    def back(self) -> None:
        """Undo the last step."""
        if self.before:
            self.p, self.state, self.optimizer.steps, remembered = self.before
            self.stored = None
            for each, before in zip(self.memory, remembered, strict=False):
                each.update(before)

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Let Ctrl-C in the block wait for the end of a step; at the end write everything back."""
        usual = signal.getsignal(signal.SIGINT)
        here = threading.current_thread() is threading.main_thread()  # where Ctrl-C arrives

        def interrupt(number: int, frame: Any) -> None:
            self.interrupted = self.moving
            if not self.moving and callable(usual):
                usual(number, frame)

        if here and callable(usual):
            signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            self.moving = True
            self.store()
            self.optimizer.zero_grad()
            if here and callable(usual):
                signal.signal(signal.SIGINT, usual)


class Walking:
    """Losses and gradients by the graph of every sample: each is freed before the next is built."""

    name = "eager"

    def __init__(self, model: Any, loss: Any, samples: Samples, steps: Steps) -> None:
        self.model, self.loss, self.samples, self.steps = model, loss, samples, steps
        self.trains = False  # whether a loss was seen that depends on a parameter

    def loss_of(self, i: int) -> Value:
        """The loss of one sample, as a graph."""
        return loss_value(self.loss(self.model(self.samples.input(i)), self.samples.targets[i]))

    def gradients(self, batch: Batch) -> tuple[float, Any]:
        """The sum of the losses of a batch, and their mean gradient, an entry for each parameter.

        FloatingPointError if a loss becomes nan, infinite or too large for a float.
        """
        self.steps.store()
        self.steps.optimizer.zero_grad()
        total: float = 0.0
        numbers = range(len(self.samples)) if batch is None else batch
        for i in numbers:
            try:
                found = self.loss_of(i)
                self.trains = self.trains or depends(found, self.steps.parameters)
                total += found.data
                if found.requires_grad:
                    (found / len(numbers)).backward()
            except OverflowError as error:
                raise FloatingPointError(str(error)) from error
            if not math.isfinite(found.data):
                raise FloatingPointError(f"the loss became {found.data}")
        return total, self.steps.numpy.array([p.grad for p in self.steps.parameters])

    def mean(self) -> float:
        """The mean loss of all samples."""
        self.steps.store()
        return float(sum([self.loss_of(i).data for i in range(len(self.samples))])) / len(
            self.samples
        )

    def difference(self, i: int) -> str:
        """How the engine disagrees with walking sample i; "" here, because it does walk."""
        return ""


@contextmanager
def _collector_off() -> Iterator[None]:
    """Turn off garbage collection in the block."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Compiled(Walking):
    """Losses and gradients by a program for a whole batch.

    With values_only it computes no gradients. NotRecordable if the graphs of the samples differ.
    """

    name = "compiled"

    def __init__(
        self,
        model: Any,
        loss: Any,
        samples: Samples,
        steps: Steps,
        values_only: bool = False,
        xp: Any = None,
    ) -> None:
        super().__init__(model, loss, samples, steps)
        self.trains = True  # recording checks it
        numpy = self.numpy = steps.numpy
        if not samples.even:
            raise NotRecordable("the inputs are rows of different lengths")
        with _collector_off():  # which would scan all parameters again and again
            recording = Recording(model, loss, samples, steps.parameters)
            expression = Expression([recording.root] if values_only else recording.root)
            leaves = [*recording.x, *recording.leaves]
            program = expression.compile(leaves, steps.parameters, xp=xp or numpy, batch=True)
        self.program, self.values_only = program, values_only
        self.run = getattr(program, "_function", program)  # without checks
        features, table = samples.inputs.shape[1], recording.table(numpy)
        self.inputs = numpy.empty((len(samples), features + table.shape[1]))
        self.inputs[:, :features] = samples.inputs
        table.take(recording.which, axis=0, out=self.inputs[:, features:], mode="clip")
        samples.inputs = self.inputs[:, :features]
        self.whole: Any = None  # the rows of all samples, once a batch asks for them
        self.walked = False  # whether a batch was

    def rows(self, batch: Batch) -> Any:
        """The inputs of the program for a batch."""
        if batch is not None:
            return self.inputs.take(batch, axis=0)
        if self.whole is None:  # samples last, as the program has them
            self.whole = self.inputs = self.numpy.asfortranarray(self.inputs)
        return self.whole

    def gradients(self, batch: Batch) -> tuple[float, Any]:
        """The sum of the losses of a batch, and their mean gradient."""
        try:
            with self.numpy.errstate(all="raise", under="ignore"):
                values, gradients = self.run(self.rows(batch), self.steps.p)
                total = float(values.sum())
        except FloatingPointError:
            total = math.nan
        if math.isfinite(total):
            return total, gradients / len(self.samples if batch is None else batch)
        found = super().gradients(batch)  # what happened may have been in a branch not taken
        if not self.walked:
            self.walked = True
            warn(
                "fit walks batches, which is slow: the program fails where walking does not, in a "
                "branch that is not taken or an error that is caught; write log(maximum(x, 1e-9)) "
                "for a log(x) that may fail"
            )
        return found

    def mean(self) -> float:
        """The mean loss of all samples."""
        try:
            with self.numpy.errstate(all="raise", under="ignore"):
                p = self.numpy.asarray(self.steps.p, float)  # float32 of JAX, too
                return float(self.program(self.inputs, p).mean())
        except FloatingPointError:
            return super().mean()

    def difference(self, i: int) -> str:
        """How the program disagrees with walking sample i; "" if by no more than rounding."""
        self.steps.store()
        numpy = self.numpy
        try:
            with unchanged(self.model, self.loss):
                root = self.loss_of(i)
                adjoints = graph.adjoints(root)
        except NotRecordable as error:
            return str(error)
        except (ArithmeticError, ValueError):
            root = Value(math.nan)
        if not math.isfinite(root.data):
            return ""  # the step of its batch reports it
        with numpy.errstate(all="ignore"):
            found = self.program(self.inputs[i : i + 1], numpy.asarray(self.steps.p, float))
        values, gradients = (found, []) if self.values_only else found
        value, gradients = numpy.asarray(values).item(), numpy.asarray(gradients)
        half = math.sqrt(numpy.finfo(gradients.dtype).eps)  # half of the digits have to agree
        if abs(value - root.data) > half * max([abs(node.data) for node in [root, *adjoints]]):
            return f"the program has the loss {value:.9g}, its graph {root.data:.9g}"
        if len(gradients):
            walked = numpy.array([adjoints.get(p, 0.0) for p in self.steps.parameters])
            k = int(numpy.argmax(abs(gradients - walked)))
            steepest = max([abs(gradient or 0.0) for gradient in adjoints.values()], default=0.0)
            if abs(gradients[k] - walked[k]) > half * steepest:
                derivative = f"the derivative {gradients[k]:.9g} for parameter {k}"
                return f"the program has {derivative}, its graph {walked[k]:.9g}"
        return ""
