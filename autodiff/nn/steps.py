"""The steps of a training: parameters and the optimiser's memory as arrays, moved together."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import message
from ..optim import Optimizer
from ..value import Value


class Steps:
    """The parameters that are trained, and what the optimiser remembers of them, as arrays.

    `now` is (p, state, steps): p has an entry for each parameter, as has each array of the dict
    `state`. A step replaces all three at once, so Ctrl-C leaves a whole number of steps. `store`
    writes them to the Values and the optimiser, `load` reads them.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.parameters: list[Value] = []
        self.load()

    def load(self) -> None:
        """Read the parameters and the optimiser's state."""
        trained = [p for p in self.optimizer.params if p.requires_grad]
        if [*map(id, trained)] != [*map(id, self.parameters)]:
            self.parameters = trained  # a program is for one list
        if not trained:
            remedy = "set requires_grad = True before training"
            raise ValueError(
                message("fit", "no parameters that require a gradient", "some", remedy)
            )
        self.now, self.stored = self.optimizer._read(), None

    def store(self) -> None:
        """Write the parameters and the optimiser's state back, once: a callback may set others."""
        if self.stored is not self.now:
            self.optimizer._write(self.now)
            self.stored = self.now

    def move(self, gradients: Any) -> None:
        """Let the optimiser move all parameters."""
        self.stored = None  # this step changes the optimiser
        self.now = self.optimizer._stepped(self.now, gradients)

    @contextmanager
    def written_back(self) -> Iterator[None]:
        """At the end of the block write everything back, which Ctrl-C does not interrupt."""
        try:
            yield
        finally:
            here = threading.current_thread() is threading.main_thread()  # where Ctrl-C arrives
            usual = signal.signal(signal.SIGINT, signal.SIG_IGN) if here else None
            self.store()
            self.optimizer.zero_grad()
            if here:
                signal.signal(signal.SIGINT, usual or signal.SIG_DFL)
