"""Training in JAX: the program in one `jax.jit`, on all devices.

The rows of a batch are split among the devices, and each device has all parameters. JAX works out
what has to be sent between them.
"""

from functools import cached_property
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
        self.places = [
            sharding.NamedSharding(mesh, sharding.PartitionSpec(*axes)) for axes in (["batch"], [])
        ]
        self.jax, self.sums_of = jax, jax.jit(self._sums)

    @cached_property
    def whole(self) -> Any:
        """All rows, on the devices."""
        return self.split(self.inputs)

    def rows(self, batch: Batch) -> Any:
        """The rows of a batch, on the devices."""
        return self.whole if batch is None else self.split(super().rows(batch))

    def split(self, rows: Any) -> Any:
        """The rows that can be split evenly among the devices, and the rest."""
        even = len(rows) - len(rows) % self.jax.device_count()
        return [*map(self.jax.device_put, (rows[:even], rows[even:]), self.places)]

    def sums(self, batch: Batch, p: Any) -> Any:
        """The sums of the losses of a batch, and of their gradients."""
        return self.sums_of(self.rows(batch), p)

    def _sums(self, parts: Any, p: Any) -> Any:
        found = [self.run(rows, p) for rows in parts if len(rows)]
        return sum([values.sum() for values, _ in found]), sum([by_p for _, by_p in found])
