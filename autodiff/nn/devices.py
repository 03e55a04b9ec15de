"""Training in JAX: the program in one `jax.jit`, on all devices.

The rows of a batch are split among the devices, and each device has all parameters. JAX works out
what has to be sent between them.
"""

from typing import Any

from .engines import Batch, Batches


class OnDevices(Batches):
    """Training on all of `jax.devices()`, including those of a cluster if JAX runs on one.

    Numbers are float32 unless `jax_enable_x64` is set.
    """

    def __init__(self, *given: Any) -> None:
        import jax  # pyright: ignore[reportMissingImports]

        super().__init__(*given)
        sharding: Any = jax.sharding
        mesh = sharding.Mesh(jax.devices(), ("batch",))
        self.split = sharding.NamedSharding(mesh, sharding.PartitionSpec("batch"))
        self.everywhere = sharding.NamedSharding(mesh, sharding.PartitionSpec())
        self.jax, self.run_parts = jax, jax.jit(self._sums)
        self.all: Any = None  # the rows of all samples, once they are on the devices

    def rows(self, batch: Batch) -> Any:
        """The rows of a batch that can be split evenly among the devices, and the rest."""
        if batch is None and self.all is not None:
            return self.all
        rows = self.inputs.T if batch is None else self.inputs.take(batch, axis=1).T
        even = len(rows) - len(rows) % self.jax.device_count()
        places = (self.split, self.everywhere)
        found = [self.jax.device_put(*x) for x in zip((rows[:even], rows[even:]), places)]
        self.all = found if batch is None else self.all
        return found

    def sums(self, batch: Batch, p: Any) -> Any:
        """The sums of the losses of a batch, and of their gradients."""
        return self.run_parts(self.rows(batch), p)

    def _sums(self, parts: Any, p: Any) -> Any:
        found = [self.run(rows, p) for rows in parts if len(rows)]
        return sum([values.sum() for values, _ in found]), sum([by_p for _, by_p in found])
