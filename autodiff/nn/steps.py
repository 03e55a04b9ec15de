"""The steps of a training: parameters and the optimiser's memory as arrays, moved together."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
        pairs = zip(self.optimizer.params, self.optimizer.state, strict=True)
        trained = [(p, memory) for p, memory in pairs if p.requires_grad]
        self.memory = [memory for _, memory in trained]
        rules = [getattr(self.optimizer, name) for name in ("step", "moved", "change")]
        self.by_arrays = all(rule.__module__ == Optimizer.__module__ for rule in rules)
        same = [id(p) for p, _ in trained] == [*map(id, self.parameters)]
        self.now = self.stored = self._read([p for p, _ in trained])
        if not same:  # a program is for one list
            self.parameters, self.before = [p for p, _ in trained], self.now

    def _read(self, parameters: list[Value]) -> Any:
        import numpy

        names = self.optimizer.memory
        state = {name: numpy.array([each[name] for each in self.memory]) for name in names}
        return numpy.array([p.data for p in parameters]), state, self.optimizer.steps

    def store(self) -> None:
        """Write the parameters and the optimiser's state back, once: a callback may set others."""
        if self.stored is self.now:
            return
        p, state, self.optimizer.steps = self.now
        for each, number in zip(self.parameters, p.tolist()):
            each._data = number
        for name, column in state.items():
            for memory, number in zip(self.memory, column.tolist()):
                memory[name] = number
        self.stored = self.now

    def move(self, gradients: Any) -> None:
        """Let the optimiser move all parameters."""
        optimizer, (p, state, steps) = self.optimizer, self.now
        self.before = self.now
        if self.by_arrays:
            self.stored = None  # this step changes the optimiser
            optimizer.steps, state = steps + 1, dict(state)
            self.now = optimizer.moved(p, gradients, state), state, steps + 1
        else:  # an optimiser from outside this package
            self.store()
            for each, gradient in zip(self.parameters, gradients.tolist(), strict=True):
                each.grad = gradient
            self.stored = None
            optimizer.step()
            self.now = self.stored = self._read(self.parameters)

    def back(self) -> None:
        """Undo the last step."""
        self.now, self.stored = self.before, None

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
