"""Training in JAX: the program in one `jax.jit`, on all devices.

The rows of a batch are split among the devices, and each device has all parameters. JAX works out
what has to be sent between them.
"""

from typing import Any

from .engines import Batch, Sums


def in_jax(run: Any, inputs: Any) -> Sums:
    """The sums of the losses of a batch and of their gradients, on all of `jax.devices()`.

    Including those of a cluster if JAX runs on one. Numbers are float32 unless `jax_enable_x64`
    is set.
    """
    import jax  # pyright: ignore[reportMissingImports]

    whole = split(inputs)

    def total(parts: Any, p: Any) -> Any:
        found = [run(rows, p) for rows in parts if len(rows)]
        return sum([values.sum() for values, _ in found]), sum([by_p for _, by_p in found])

    compiled = jax.jit(total)

    def sums(batch: Batch, p: Any) -> Any:
        return compiled(whole if batch is None else split(inputs.take(batch, axis=0)), p)

    return sums


def split(rows: Any) -> list[Any]:
    """The rows that can be divided evenly among the devices, and the rest, on each of them."""
    import jax  # pyright: ignore[reportMissingImports]

    sharding: Any = jax.sharding
    mesh = sharding.Mesh(jax.devices(), ("batch",))
    places = [sharding.NamedSharding(mesh, sharding.PartitionSpec(*x)) for x in (["batch"], [])]
    even = len(rows) - len(rows) % jax.device_count()
    return [*map(jax.device_put, (rows[:even], rows[even:]), places)]
