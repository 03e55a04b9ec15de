"""Training in JAX, on one device and on several: in a process of its own, which sets them."""

import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from trainings import CLASSES, INPUTS, OPTIMIZERS, fitted, left, network, numbers

from autodiff import nn, optim
from autodiff.nn.devices import split
from autodiff.nn.engines import Walk
from autodiff.nn.samples import Samples
from autodiff.nn.state import TrainingState
from autodiff.nn.verification import Evaluator


@pytest.mark.jax
@pytest.mark.parametrize("devices", [1, 4])
def test_training_in_jax_is_training_in_numpy(devices):
    flags = f"--xla_force_host_platform_device_count={devices}"
    settings = {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(
        [sys.executable, __file__, str(devices)],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout.endswith("done\n"), found.stderr


def as_numpy_does(jnp, given):
    """A training leaves what it leaves in NumPy."""
    chosen = {"targets": CLASSES, "loss": nn.cross_entropy}
    found = [left(*fitted(**chosen, **given(), xp=xp)) for xp in (jnp, None)]
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-12)


def halving(make, batch_size):
    """A callback halves the rate after each epoch."""
    model = network(3)
    optimizer = make(model.parameters())
    chosen = {"model": model, "optimizer": lambda p: optimizer, "batch_size": batch_size}
    return chosen | {"callback": lambda history: setattr(optimizer, "lr", optimizer.lr / 2)}


def dropping(batch_size):
    model = nn.Sequential(nn.Dropout(0.5, seed=1), network(3), nn.Dropout(0.2, seed=2))
    return {"model": model, "batch_size": batch_size}


def shares_every_batch(jnp, devices):
    """Its rows are split, and each device has all 35 parameters."""
    model, xs = network(3), np.array(INPUTS)
    state = TrainingState(optim.SGD(model.parameters(), lr=0.1))
    walk = Walk(model, nn.cross_entropy, Samples(xs, CLASSES))
    losses = Evaluator(walk, state, "compiled", 0, jnp)
    losses.compile()
    for batch in (range(20), np.arange(8)):
        rows, rest = split(xs[batch])
        assert {len(shard.data) for shard in rows.addressable_shards} == {len(rows) // len(devices)}
        assert {shard.device for shard in rows.addressable_shards} == {*devices}
        assert len(rest) == 0
        state.step(losses.program(batch, state.now)[1])
        shards = state.now.p.addressable_shards
        assert [shard.data.shape for shard in shards] == [(len(state.now.p),)] * len(devices)


def diverges(jnp, lr, epochs):
    model = network()
    with pytest.raises(FloatingPointError, match="diverged in epoch"):
        fitted(model, [100.0] * 20, optimizer=lambda p: optim.SGD(p, lr=lr), epochs=epochs, xp=jnp)
    assert np.isfinite(numbers(model)).all()


def diverges_in_float32(jnp):
    """As soon as a number is too large for a float32, which would not be for a float64."""
    xs = np.random.default_rng(0).uniform(0, 1900, (50, 3))
    model = nn.Linear(3, 1, seed=0)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with pytest.raises(FloatingPointError, match="diverged in epoch"):
        nn.fit(model, xs, xs @ [1, 2, 3], nn.mse_loss, optimizer, 200, progress=False, xp=jnp)
    assert np.isfinite(numbers(model)).all()


def validates_in_float32(jnp):
    found = [
        fitted(network(3), CLASSES, nn.cross_entropy, validation=(INPUTS, CLASSES), xp=xp)[0]
        for xp in (jnp, None)
    ]
    np.testing.assert_allclose(*[history.validation for history in found], rtol=1e-5)


def main(count):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    devices = jax.devices()
    assert len(devices) == count
    for make, batch_size in zip(OPTIMIZERS.values(), (None, 8, 7, 3, 20)):
        as_numpy_does(jnp, partial(halving, make, batch_size))
    for batch_size in (None, 7):
        as_numpy_does(jnp, partial(dropping, batch_size))
    shares_every_batch(jnp, devices)
    diverges(jnp, 1e100, 9)
    diverges(jnp, 1e308, 1)  # in its very last step
    jax.config.update("jax_enable_x64", False)  # the default: parameters are float32
    validates_in_float32(jnp)
    diverges_in_float32(jnp)
    print("done")


if __name__ == "__main__":
    main(int(sys.argv[1]))
