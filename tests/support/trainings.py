"""The data, the models and the short trainings that the tests of nn share."""

import random
import re
import warnings
from functools import partial

import pytest

import autodiff as ad
from autodiff import nn, optim

rng = random.Random(0)
INPUTS = [[rng.uniform(-1, 1), rng.uniform(-1, 1)] for _ in range(20)]
CLASSES = [int(a > b) + int(a > 0.3) for a, b in INPUTS]
NUMBERS = [a * b for a, b in INPUTS]

ENGINES = pytest.mark.parametrize("engine", ["compiled", "eager"])


def network(outputs=1):
    return nn.Sequential(
        nn.Linear(2, 4, activation=ad.tanh, seed=0),
        nn.Linear(4, 3, activation=ad.relu, seed=1),
        nn.Linear(3, outputs, seed=2),
    )


class Layer(nn.Module):
    """A layer, and something done to its output: by a function of the module and the output."""

    def __init__(self, change, **held):
        self.inner, self.change = nn.Linear(2, 1, seed=0), change
        vars(self).update(held)

    def forward(self, x):
        return self.change(self, self.inner(x))


OPTIMIZERS = {
    "SGD": partial(optim.SGD, lr=0.05),
    "momentum": partial(optim.SGD, lr=0.1, momentum=0.5, weight_decay=0.01),
    "Adagrad": partial(optim.Adagrad, lr=0.05, weight_decay=0.1),
    "RMSprop": partial(optim.RMSprop, lr=0.05, momentum=0.5),
    "Adam": partial(optim.Adam, lr=0.05, betas=(0.8, 0.99)),
}


def fitted(
    model=None, targets=NUMBERS, loss=nn.mse_loss, optimizer=OPTIMIZERS["momentum"], inputs=INPUTS,
    epochs=4, batch_size=6, walks="", **chosen,
):  # fmt: skip
    """The history, the model and the optimiser of a short training; walks: what its warning says."""
    model = model or network()
    optimizer = optimizer(model.parameters())
    given = model, inputs, targets, loss, optimizer, epochs, batch_size
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        history = nn.fit(*given, **{"seed": 0, "engine": "compiled", "progress": False} | chosen)
    texts = [str(each.message) for each in warned]
    assert len(warned) == bool(walks), texts
    assert re.search(walks, *texts or [""]), texts
    assert all((each.category, each.filename) == (nn.WalkingWarning, __file__) for each in warned)
    return history, model, optimizer


def numbers(model):
    return [p.data for p in model.parameters()]


def same(make=network, **chosen):
    """Both engines give the same losses and weights, but for rounding."""
    (eager, one, _), (compiled, other, _) = [
        fitted(make(), engine=engine, **chosen) for engine in ("eager", "compiled")
    ]
    assert (eager.engine, compiled.engine) == ("eager", "compiled")
    assert compiled.losses == pytest.approx(eager.losses, rel=1e-10)
    assert numbers(other) == pytest.approx(numbers(one), rel=1e-10, abs=1e-12)


def walked(make, reason, **chosen):
    """The model is walked, as by engine="eager", for this reason; "compiled" refuses it."""
    (auto, one, _), (eager, other, _) = [
        fitted(make(), engine=engine, walks=walks, epochs=2, **chosen)
        for engine, walks in (("auto", reason), ("eager", ""))
    ]
    assert (auto.losses, numbers(one)) == (eager.losses, numbers(other))
    assert auto.engine == "eager"
    assert re.search(reason, auto.reason)
    before = numbers(model := make())
    with pytest.raises(ValueError, match=f"fit: the loss cannot be compiled: .*{reason}"):
        fitted(model, **chosen)
    assert numbers(model) == before
