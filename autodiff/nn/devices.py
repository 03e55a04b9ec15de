"""Training in JAX: the program and the optimiser's step in one `jax.jit`, on all devices.

The rows of a batch are split among the devices, and each device has all parameters. JAX works out
what has to be sent between them.
"""

import copy
import math
from typing import Any

from ..errors import message
from ..optim import Optimizer
from .engines import Batch, Compiled
from .samples import Samples


class OnDevices(Compiled):
    """Training on all of `jax.devices()`, including those of a cluster if JAX runs on one.

    Numbers are float32 unless `jax_enable_x64` is set. ValueError for an optimiser from outside
    this package, because its step may need plain numbers.
    """

    def __init__(
        self, model: Any, loss: Any, samples: Samples, optimizer: Optimizer, xp: Any
    ) -> None:
        import jax  # pyright: ignore[reportMissingImports]

        self.jax, self.count = jax, jax.device_count()
        sharding: Any = jax.sharding
        mesh = sharding.Mesh(jax.devices(), ("batch",))
        self.over_devices = sharding.NamedSharding(mesh, sharding.PartitionSpec("batch"))
        self.everywhere = sharding.NamedSharding(mesh, sharding.PartitionSpec())
        self.jitted = jax.jit(self._step, static_argnames="settings")
        self.whole: Any = None
        super().__init__(model, loss, samples, optimizer, xp)

    def load(self) -> Any:
        """Read the parameters and the optimiser's state."""
        loaded = super().load()
        if not self.by_arrays:
            found, expected = type(self.optimizer).__name__, "an optimizer of autodiff.optim"
            raise ValueError(message("fit, xp=jax.numpy", found, expected))
        self.p, self.state = self.jax.device_put((self.p, self.state), self.everywhere)
        self.stored = self.p
        return loaded

    def placed(self, batch: Batch) -> tuple[Any, Any]:
        """The rows of a batch that can be split evenly among the devices, and the rest."""
        if batch is None and self.whole is not None:
            return self.whole  # type: ignore[no-any-return]
        rows = self.inputs if batch is None else self.inputs.take(batch, axis=0)
        even = len(rows) - len(rows) % self.count
        found = (
            self.jax.device_put(rows[:even], self.over_devices),
            self.jax.device_put(rows[even:], self.everywhere),
        )
        if batch is None:
            self.whole = found
        return found

    def step(self, batch: Batch) -> float:
        """Take one step; return the sum of the losses of the batch."""
        settings = self.optimizer.settings()
        lr = settings.pop("lr")  # the setting that may change from epoch to epoch
        total, p, state = self.jitted(
            self.p, self.state, self.optimizer.steps + 1, lr, self.placed(batch),
            settings=tuple(settings.items()),
        )  # fmt: skip
        if math.isfinite(total):
            self.last = self.p, self.state, self.optimizer.steps
            self.p, self.state, self.optimizer.steps = p, state, self.optimizer.steps + 1
        else:  # walk, to find out what happened
            total, gradients = self._walked(batch)
            self.take(self.jax.device_put(gradients, self.everywhere))
        return float(total)

    def _step(
        self, p: Any, state: Any, steps: Any, lr: Any, parts: tuple[Any, Any], settings: Any
    ) -> tuple[Any, Any, Any]:
        """A step as a function of arrays: the sum of losses, the parameters, the new state."""
        found = [self.program(rows, p) for rows in parts if len(rows)]
        total = sum(values.sum() for values, _ in found)
        gradients = sum(gradients for _, gradients in found) / sum(map(len, parts))
        optimizer, state = copy.copy(self.optimizer), dict(state)
        vars(optimizer).update(settings, steps=steps, lr=lr)
        return total, optimizer.moved(p, gradients, state), state
