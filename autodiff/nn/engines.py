"""How `fit` takes a step: by walking the graph of every sample, or by a compiled program."""

import gc
import math
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, repeat
from operator import setitem
from typing import Any

from .. import graph
from ..compiler.expression import Expression
from ..optim import Optimizer
from ..snapshot import Snapshot
from ..value import Value
from .recording import NotRecordable, Recording, check_dependence, depends, loss_value, unchanged
from .samples import Samples

Batch = Any  # the indices of its samples; None for all samples


class Walking:
    """Training that walks the graph of every sample: each is freed before the next is built."""

    name = "eager"

    def __init__(self, model: Any, loss: Any, samples: Samples, optimizer: Optimizer) -> None:
        self.model, self.loss, self.samples, self.optimizer = model, loss, samples, optimizer
        self.parameters = [p for p in optimizer.params if p.requires_grad]
        self.memory = [s for p, s in zip(optimizer.params, optimizer.state) if p.requires_grad]
        self.last: Any = None  # what `back` restores: parameters, state and step count
        self.trains = False  # whether a loss was seen that depends on a parameter
        self.epochs = 0  # how many have begun

    def epoch(self, batches: Iterable[Batch]) -> float:
        """Take a step for each batch; return the sum of the losses.

        FloatingPointError if a loss becomes nan, infinite or too large for a float.
        """
        total = 0.0
        for batch in batches:
            total += self.step(batch)
        check_dependence(self.trains)
        return total

    def step(self, batch: Batch) -> float:
        """Take one step; return the sum of the losses of the batch."""
        total = self.gradients(batch)
        self.move()
        return total

    def move(self) -> None:
        """Let the optimiser move the parameters: all or, after an error or Ctrl-C, none."""
        memory = [dict(state) for state in self.memory]
        self.last = [p.data for p in self.parameters], memory, self.optimizer.steps
        try:
            self.optimizer.step()
        except BaseException:
            self.back()
            raise

    def gradients(self, batch: Batch) -> float:
        """Set each `grad` to the mean over a batch; return the sum of its losses."""
        self.optimizer.zero_grad()
        total: float = 0.0
        numbers = range(len(self.samples)) if batch is None else batch
        for i in numbers:
            try:
                found = self.loss_of(i)
                self.trains = self.trains or depends(found, self.parameters)
                total += found.data
                if found.requires_grad:
                    (found / len(numbers)).backward()
            except OverflowError as error:
                raise FloatingPointError(str(error)) from error
            if not math.isfinite(found.data):
                raise FloatingPointError(f"the loss became {found.data}")
        return total

    def loss_of(self, i: int) -> Value:
        """The loss of one sample, as a graph."""
        return loss_value(self.loss(self.model(self.samples.input(i)), self.samples.targets[i]))

    def mean_loss(self, samples: Samples) -> float:
        """The mean loss of other samples."""
        other = Walking(self.model, self.loss, samples, self.optimizer)
        return float(sum([other.loss_of(i).data for i in range(len(samples))])) / len(samples)

    def difference(self, i: int) -> str:
        """How the engine disagrees with walking sample i; "" here, because it does walk."""
        return ""

    def good(self) -> bool:
        """Whether all parameters are finite."""
        return all(math.isfinite(p.data) for p in self.parameters)

    def back(self) -> None:
        """Undo the last step."""
        if self.last:
            numbers, memory, self.optimizer.steps = self.last
            for p, number in zip(self.parameters, numbers):
                p.data = number
            for state, before in zip(self.memory, memory):
                state.clear()
                state.update(before)

    def load(self) -> "Walking | None":
        """Read what a callback has changed; None if a new engine is needed."""
        states = zip(self.optimizer.params, self.optimizer.state)
        trained = [(p, state) for p, state in states if p.requires_grad]
        self.memory = [state for _, state in trained]
        same = list(map(id, self.parameters)) == [id(p) for p, _ in trained]
        return self if same else None

    def store(self) -> None:
        """Write the parameters back."""


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
    """Training by a program that computes the losses and gradients of a whole batch.

    While it runs, the parameters are one array, and so is each number that the optimiser
    remembers of a parameter. NotRecordable if the graphs of the samples differ.
    """

    name = "compiled"

    def __init__(
        self, model: Any, loss: Any, samples: Samples, optimizer: Optimizer, xp: Any = None
    ) -> None:
        import numpy

        super().__init__(model, loss, samples, optimizer)
        self.numpy, self.xp = numpy, xp or numpy
        self.errors = numpy.geterr()
        self.program, self.inputs = self.compiled(samples)
        samples.inputs = self.inputs[:, : samples.inputs.shape[1]]
        self.run = getattr(self.program, "_function", self.program)  # without checks
        self.held_out: Any = None  # program and inputs for validation, once compiled
        self.trains = True  # recording has checked it
        copied = (list, tuple, dict, numpy.ndarray)  # by Samples, so that no callback changes them
        held = [target for target in samples.targets if not isinstance(target, copied)]
        roots = {"model": model, "loss": loss, "targets": held}
        self.recorded = Snapshot(roots, apart=self.parameters)
        self.load()

    def compiled(self, samples: Samples, values_only: bool = False) -> tuple[Any, Any]:
        """A program for the loss of samples, and its inputs: a row for each sample and target."""
        if not samples.even:
            raise NotRecordable("the inputs are rows of different lengths")
        with _collector_off():  # which would scan all parameters again and again
            given = samples.input, samples.targets, self.parameters
            recording = Recording(self.model, self.loss, *given)
            expression = Expression([recording.root] if values_only else recording.root)
            leaves, xp = [*recording.x, *recording.leaves], self.numpy if values_only else self.xp
            program = expression.compile(leaves, self.parameters, xp=xp, batch=True)
        features, table = samples.inputs.shape[1], recording.table(self.numpy)
        inputs = self.numpy.empty((len(samples), features + table.shape[1]))
        inputs[:, :features] = samples.inputs
        table.take(recording.which, axis=0, out=inputs[:, features:], mode="clip")
        return program, inputs

    def mean_loss(self, samples: Samples) -> float:
        """The mean loss of the validation samples, which are the same in every call."""
        try:
            if self.held_out is None:
                self.held_out = self.compiled(samples, values_only=True)
            program, inputs = self.held_out
            with self.numpy.errstate(all="raise", under="ignore"):
                p = self.numpy.asarray(self.p, float)  # float32 of JAX, too
                return float(program(inputs, p).mean())
        except (NotRecordable, FloatingPointError):
            return super().mean_loss(samples)

    def load(self) -> Walking | None:
        """Read the parameters and the optimiser's state; None if a new engine is needed."""
        if self.recorded.changes() or not super().load():
            return None
        array = self.numpy.array
        self.p = self.stored = array([p.data for p in self.parameters])
        rules = [getattr(self.optimizer, name) for name in ("step", "moved", "change")]
        self.by_arrays = all(rule.__module__ == Optimizer.__module__ for rule in rules)
        names = self.memory[0] if self.by_arrays else ()
        self.state = {name: array([state[name] for state in self.memory]) for name in names}
        return self

    def store(self) -> None:
        """Write the parameters and the optimiser's state back, once: a callback may set others."""
        if self.p is self.stored:
            return
        written = [map(setattr, self.parameters, repeat("_data"), self.p.tolist())]
        for name, column in self.state.items():
            written.append(map(setitem, self.memory, repeat(name), column.tolist()))
        deque(chain(*written), maxlen=0)  # one call in C, which Ctrl-C cannot interrupt
        self.stored = self.p

    def epoch(self, batches: Iterable[Batch]) -> float:
        """Take a step for each batch; return the sum of the losses."""
        with self.numpy.errstate(all="raise", under="ignore"):
            return super().epoch(batches)

    def step(self, batch: Batch) -> float:
        """Take one step; return the sum of the losses of the batch."""
        if batch is None:  # samples last, as the program has them; copied only once
            inputs = self.inputs = self.numpy.asfortranarray(self.inputs)
        else:
            inputs = self.inputs.take(batch, axis=0)
        try:
            values, gradients = self.run(inputs, self.p)
            total = float(values.sum())
        except FloatingPointError:
            total = math.nan
        if math.isfinite(total):
            gradients = gradients / len(inputs)
        else:  # walk, to find out what happened; it may have been in a branch not taken
            total, gradients = self._walked(batch)
        self.take(gradients)
        return total

    def take(self, gradients: Any) -> None:
        """Take a step with these gradients: a whole one or, after an error or Ctrl-C, none."""
        if self.by_arrays:
            try:
                self.move_all(gradients)
            except BaseException:
                self.back()
                raise
        else:  # an optimiser from outside this package
            for p, gradient in zip(self.parameters, gradients.tolist()):
                p.grad = gradient
            self.move()
            self.p = self.stored = self.numpy.array([p.data for p in self.parameters])

    def move_all(self, gradients: Any) -> None:
        """Let the optimiser move all parameters at once."""
        optimizer, state = self.optimizer, dict(self.state)
        self.last = self.p, self.state, optimizer.steps
        optimizer.steps += 1
        try:
            p = optimizer.moved(self.p, gradients, state)
        except FloatingPointError:  # with floats, too, only the next loss shows it
            state = dict(self.state)
            with self.numpy.errstate(all="ignore"):
                p = optimizer.moved(self.p, gradients, state)
        self.p, self.state = p, state

    def _walked(self, batch: Batch) -> tuple[float, Any]:
        self.store()
        with self.numpy.errstate(**self.errors):
            total = self.gradients(batch)
        return total, self.numpy.array([p.grad for p in self.parameters])

    def back(self) -> None:
        """Undo the last step."""
        if not self.by_arrays:
            super().back()
            self.p = self.stored = self.numpy.array([p.data for p in self.parameters])
        elif self.last:
            self.p, self.state, self.optimizer.steps = self.last

    def good(self) -> bool:
        """Whether all parameters are finite."""
        return bool(self.xp.isfinite(self.p).all())

    def difference(self, i: int) -> str:
        """How the program disagrees with walking sample i; "" if by no more than rounding."""
        self.store()
        try:
            with unchanged(model=self.model, loss=self.loss):
                root = self.loss_of(i)
                adjoints = graph.adjoints(root)
        except NotRecordable as error:
            return str(error)
        except (ArithmeticError, ValueError):
            root = Value(math.nan)
        if not math.isfinite(root.data):
            return ""  # the step of its batch reports it
        with self.numpy.errstate(all="ignore"):
            found = self.program(self.xp.asarray(self.inputs[i : i + 1]), self.p)
        (value,), gradients = map(self.numpy.asarray, found)
        walked = self.numpy.array([adjoints.get(p, 0.0) for p in self.parameters])
        half = math.sqrt(self.numpy.finfo(self.p.dtype).eps)  # half of the digits have to agree
        largest = max(abs(node.data) for node in adjoints)
        steepest = max(abs(gradient or 0.0) for gradient in adjoints.values())
        if abs(value - root.data) > half * largest:
            return f"the program has the loss {value:.9g}, its graph {root.data:.9g}"
        k = int(self.numpy.argmax(abs(gradients - walked)))
        if abs(gradients[k] - walked[k]) > half * steepest:
            found = f"the program has the derivative {gradients[k]:.9g} for parameter {k}"
            return f"{found}, its graph {walked[k]:.9g}"
        return ""
