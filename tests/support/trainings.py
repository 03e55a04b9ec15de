"""The data, the models and the short trainings that the tests of nn share, and the loop by hand."""

import random
import re
import warnings
from functools import partial

import numpy as np
import pytest

import autodiff as ad
from autodiff import nn, optim
from autodiff.nn.modules import in_mode
from autodiff.nn.samples import constants

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


OPTIMIZERS = {
    "SGD": partial(optim.SGD, lr=0.05),
    "momentum": partial(optim.SGD, lr=0.1, momentum=0.5, weight_decay=0.01),
    "Adagrad": partial(optim.Adagrad, lr=0.05, weight_decay=0.1),
    "RMSprop": partial(optim.RMSprop, lr=0.05, momentum=0.5),
    "Adam": partial(optim.Adam, lr=0.05, betas=(0.8, 0.99)),
}


def arguments(
    model=None, targets=NUMBERS, loss=nn.mse_loss, optimizer=OPTIMIZERS["momentum"], inputs=INPUTS,
    epochs=4, batch_size=6, parameters=None, **chosen,
):  # fmt: skip
    """What fit takes in order for a short training, and by name."""
    model = model or network()
    optimizer = optimizer(model.parameters() if parameters is None else parameters)
    return (model, inputs, targets, loss, optimizer, epochs, batch_size), chosen


def fitted(*first, walks="", **others):
    """The history, the model and the optimiser of a training; walks: what its warning says."""
    given, chosen = arguments(*first, **others)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        history = nn.fit(*given, **{"seed": 0, "engine": "compiled", "progress": False} | chosen)
    texts = [str(each.message) for each in warned]
    assert len(warned) == bool(walks), texts
    assert re.search(walks, *texts or [""]), texts
    assert all((each.category, each.filename) == (nn.WalkingWarning, __file__) for each in warned)
    return history, given[0], given[4]


def by_hand(seed=0, validation=None, callback=None, xp=None, **chosen):
    """The same, by the loop that one would write."""
    (model, inputs, targets, loss, optimizer, epochs, batch_size), _ = arguments(**chosen)
    history, order = nn.History(), np.random.default_rng(seed)

    def losses(inputs, targets, training):
        rows = np.asarray(inputs, float).tolist()
        predictions = in_mode(training, lambda: [model(constants(x)) for x in rows])
        found = [loss(y, t) for y, t in zip(predictions, targets, strict=True)]
        return ad.sum([y if isinstance(y, ad.Value) else y[0] for y in found]) / len(found)

    inputs, targets = [*inputs], [*targets]
    n, stop = len(inputs), False
    while not stop and len(history.losses) < epochs:
        places, total = order.permutation(n) if n > (batch_size or n) else range(n), 0.0
        for batch in [places[i : i + (batch_size or n)] for i in range(0, n, batch_size or n)]:
            mean = losses([inputs[i] for i in batch], [targets[i] for i in batch], training=True)
            optimizer.zero_grad()
            mean.backward()
            optimizer.step()
            total += mean.data * len(batch)
        history.losses.append(total / n)
        if validation:
            history.validation.append(losses(*validation, training=False).data)
        answer = callback and callback(history)
        stop = isinstance(answer, (bool, np.bool_)) and answer
    optimizer.zero_grad()
    return history, model, optimizer


@ad.operation
def chooser(x):
    """An `if` in a rule, which no program has."""
    return (x if x > 0 else 0.1 * x), lambda grad: (grad if x > 0 else 0.1 * grad,)


def numbers(model):
    return [p.data for p in model.parameters()]


def left(history, model, optimizer):
    """All numbers that a training leaves."""
    memory = [x for array in optimizer.state.values() for x in array]
    trained = [number for p in optimizer.params for number in (p.data, p.grad)]
    return [*history.losses, *history.validation, *trained, *memory, optimizer.lr]


def same(make=network, **chosen):
    """Both engines are the loop by hand, but for rounding: of `make()`, or of what it gives to fit."""

    def given():
        made = make()
        return chosen | (made if isinstance(made, dict) else {"model": made})

    expected = pytest.approx(left(*by_hand(**given())), rel=1e-9, abs=1e-12)
    for engine in ("eager", "compiled"):
        history, *others = fitted(**given(), engine=engine)
        assert history.engine == engine
        assert left(history, *others) == expected
