"""What runs the program of a batch: NumPy, or JAX in one `jax.jit`, on all devices.

JAX splits the rows of a batch among the devices; each has all parameters. It works out what has to
be sent between them.
"""

from collections.abc import Callable
from typing import Any

Batch = Any  # the indices of its samples; None for all samples
Sums = Callable[[Batch, Any], tuple[Any, Any]]  # of losses and gradients, from the parameters


def in_numpy(run: Any, inputs: Any) -> Sums:
    """The sums of the losses of a batch and of their gradients, by a program for rows of inputs."""
    import numpy

    whole = numpy.asfortranarray(inputs)  # in memory column by column, as the program has them

    def sums(batch: Batch, p: Any) -> tuple[Any, Any]:
        values, gradients = run(whole if batch is None else inputs.take(batch, axis=0), p)
        return values.sum(), gradients

    return sums


def in_jax(run: Any, inputs: Any) -> Sums:
    """The same on all of `jax.devices()`.

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
