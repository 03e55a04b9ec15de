"""What runs the program of a batch in JAX: one `jax.jit`, on all of `jax.devices()`.

Including those of a cluster if JAX runs on one. JAX splits the rows of a batch among the devices;
each has all parameters. It works out what has to be sent between them. Numbers are float32 unless
`jax_enable_x64` is set.
"""

from collections.abc import Callable
from typing import Any

from ..engine.admission import Floats

Placed = Any  # rows where their library wants them: on devices, or column by column in memory
Put = Callable[[Floats], Placed]
Runner = Callable[[Placed, Floats], tuple[Floats, Floats]]  # a program: losses, and gradients


def in_jax(run: Runner) -> tuple[Put, Runner]:
    """What places rows on the devices, and a program for rows, which then adds up what it gives."""
    import jax  # pyright: ignore[reportMissingImports]

    def run_parts(parts: list[Placed], p: Floats) -> Any:
        found = [run(rows, p) for rows in parts if len(rows)]
        return sum([losses.sum() for losses, _ in found]), sum([by_p for _, by_p in found])

    return split, jax.jit(run_parts)


def split(rows: Floats) -> list[Placed]:
    """The rows that can be divided evenly among the devices, and the rest, on each of them."""
    import jax  # pyright: ignore[reportMissingImports]

    sharding: Any = jax.sharding
    mesh = sharding.Mesh(jax.devices(), ("batch",))
    places = [sharding.NamedSharding(mesh, sharding.PartitionSpec(*x)) for x in (["batch"], [])]
    even = len(rows) - len(rows) % jax.device_count()
    return [*map(jax.device_put, (rows[:even], rows[even:]), places)]
