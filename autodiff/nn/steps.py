"""The steps of a training: parameters and the optimiser's memory as arrays, moved together."""

import signal
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, repeat
from operator import setitem
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
        self.before: Any = None
        self.load()

    def load(self) -> None:
        """Read the parameters and the optimiser's state."""
        trained = [i for i, p in enumerate(self.optimizer.params) if p.requires_grad]
        parameters = [self.optimizer.params[i] for i in trained]
        self.memory = [self.optimizer.state[i] for i in trained]
        rules = [getattr(self.optimizer, name) for name in ("step", "moved", "change")]
        self.by_arrays = all(rule.__module__ == Optimizer.__module__ for rule in rules)
        same = [*map(id, parameters)] == [*map(id, self.parameters)]
        self.parameters = self.parameters if same else parameters  # a program is for one list
        self.now = self.stored = self._read()
        self.before = self.before if same else self.now

    def _read(self) -> Any:
        import numpy

        names = self.optimizer.state[0]
        state = {name: numpy.array([each[name] for each in self.memory]) for name in names}
        return numpy.array([p.data for p in self.parameters]), state, self.optimizer.steps

    def store(self) -> None:
        """Write the parameters and the optimiser's state back, once: a callback may set others."""
        if self.stored is self.now:
            return
        p, state, steps = self.now
        written = [map(setattr, self.parameters, repeat("_data"), p.tolist())]
        written += [
            map(setitem, self.memory, repeat(name), column.tolist())
            for name, column in state.items()
        ]
        written.append(map(setattr, [self.optimizer], ["steps"], [steps]))
        deque(chain(*written), maxlen=0)  # one call in C, which Ctrl-C cannot interrupt
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
            self.now = self.stored = self._read()

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
