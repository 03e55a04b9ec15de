"""Where a training is: steps that are whole, whatever interrupts it."""

from typing import Any

from ..engine.admission import Floats
from ..engine.errors import refusal, typed
from ..optim import Optimizer, Snapshot
from .rules import Rule


class TrainingState:
    """Where a training is: `now`, a snapshot that a step replaces by one assignment.

    So Ctrl-C leaves whole steps. The Values and the optimizer lag behind until `write`.
    """

    def __init__(self, optimizer: Any) -> None:
        if not isinstance(optimizer, Optimizer):
            example = "one such as optim.SGD(model.parameters(), lr=0.1)"
            raise TypeError(refusal("fit, optimizer", typed(optimizer), example))
        self.optimizer = optimizer
        self.form: Any = None  # what the rule was made for
        self.read()

    def read(self) -> None:
        """Start from what the Values hold now; a ValueError if none is trained."""
        import numpy

        self.now = self.optimizer.snapshot()
        self.written: Snapshot | None = self.now
        if self.optimizer.is_own():
            self.along: Any = self.optimizer.as_by_hand
        else:
            shapes = [numpy.shape(x) for x in (self.now.p, *self.now.state.values())]
            form = shapes, self.optimizer.settings()
            if form != self.form:
                self.along, self.form = Rule(self.optimizer, self.now), form
        if not self.now.trained:
            remedy = "set requires_grad = True before training"
            raise ValueError(
                refusal("fit", "no parameters that require a gradient", "some", remedy)
            )

    def step(self, gradients: Floats, n: int = 1) -> None:
        """Go on along gradients that are summed over n samples."""
        self.written = None  # if the step fails halfway, `write` goes back to before it
        self.now = self.along(self.now, gradients, n)

    def write(self) -> None:
        """Write the snapshot, unless that is done: a callback may have set other numbers since."""
        if self.written is not self.now:
            self.optimizer.write(self.now)
            self.written = self.now

    def finish(self) -> None:
        """Write the snapshot, and clear the gradients."""
        self.write()
        self.optimizer.zero_grad()
