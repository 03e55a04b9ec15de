"""Training in JAX: the program in one `jax.jit`, on all devices.

The rows of a batch are split among the devices, and each device has all parameters. JAX works out
what has to be sent between them.
"""

from typing import Any

from .engines import Batch, Compiled, Steps
from .samples import Samples


class OnDevices(Compiled):
    """Training on all of `jax.devices()`, including those of a cluster if JAX runs on one.

    Numbers are float32 unless `jax_enable_x64` is set.
    """

    def __init__(self, model: Any, loss: Any, samples: Samples, steps: Steps, xp: Any) -> None:
        import jax  # pyright: ignore[reportMissingImports]

        super().__init__(model, loss, samples, steps, xp=xp)
        sharding: Any = jax.sharding
        mesh = sharding.Mesh(jax.devices(), ("batch",))
        self.split = sharding.NamedSharding(mesh, sharding.PartitionSpec("batch"))
        self.everywhere = sharding.NamedSharding(mesh, sharding.PartitionSpec())
        self.jax, self.run = jax, jax.jit(self.sums)

    def rows(self, batch: Batch) -> Any:
        """The rows of a batch that can be split evenly among the devices, and the rest."""
        if batch is None and self.whole is not None:
            return self.whole
        rows = self.inputs if batch is None else self.inputs.take(batch, axis=0)
        even = len(rows) - len(rows) % self.jax.device_count()
        places = (self.split, self.everywhere)
        found = [self.jax.device_put(*x) for x in zip((rows[:even], rows[even:]), places)]
        if batch is None:
            self.whole = found
        return found

    def sums(self, parts: Any, p: Any) -> Any:
        """The sum of the losses of all rows, and of their gradients."""
        found = [self.program(rows, p) for rows in parts if len(rows)]
        return sum([values.sum() for values, _ in found]), sum([by_p for _, by_p in found])
