"""The data, the models and the short trainings that the tests of nn share."""

import random
import warnings

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
        for name, thing in held.items():
            setattr(self, name, thing)

    def forward(self, x):
        return self.change(self, self.inner(x))


def momentum(parameters):
    return optim.SGD(parameters, lr=0.1, momentum=0.5)


def fitted(
    model=None, targets=NUMBERS, loss=nn.mse_loss, optimizer=momentum, inputs=INPUTS, walks="", **chosen
):  # fmt: skip
    """The history, the model and the optimiser of a short training; walks: what its warning says."""
    model = model or network()
    optimizer = optimizer(model.parameters())
    chosen = {
        "epochs": 4,
        "batch_size": 6,
        "seed": 0,
        "engine": "compiled",
        "progress": False,
    } | chosen
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        history = nn.fit(model, inputs, targets, loss, optimizer, **chosen)
    if walks:
        with pytest.warns(nn.WalkingWarning, match=walks):
            warnings.warn_explicit(warned[0].message, None, __file__, 1)
    assert len(warned) == bool(walks), [str(each.message) for each in warned]
    assert all(each.filename == __file__ for each in warned)
    return history, model, optimizer


def numbers(model):
    return [p.data for p in model.parameters()]


def same(make=network, **chosen):
    """Both engines give the same losses and weights, but for rounding; the compiled training."""
    (walked, one, _), found = [fitted(make(), engine=e, **chosen) for e in ("eager", "compiled")]
    assert found[0].losses == pytest.approx(walked.losses, rel=1e-10)
    assert numbers(found[1]) == pytest.approx(numbers(one), rel=1e-10, abs=1e-12)
    assert (walked.engine, found[0].engine) == ("eager", "compiled")
    return found
