"""Compiled graphs beside NumPy by hand, micrograd, and PyTorch if installed."""

import inspect

import micrograd.nn
import networks
import numpy as np
import pytest
from by_hand import PROGRAMS, by_hand
from catalogue import MAKE

from autodiff import Expression, nn, optim, tanh, topological_order


def flat(gradients):
    return np.concatenate([np.ravel(g) for g in gradients])


def agree(peers):
    """All compute the same loss and gradients as the first."""
    (loss, gradients), *others = [epoch() for epoch in peers.values()]
    for other, found in others:
        assert np.sum(other) == pytest.approx(np.sum(loss), rel=1e-9)
        np.testing.assert_allclose(flat(found), flat(gradients), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("make", "few"), [(networks.iris, 150), (networks.digits, 3)])
def test_an_epoch_of_a_classifier(side_by_side, make, few):
    """Value and gradients, full batch; scalar by scalar of a few samples."""
    task, part = make(), make(few)
    peers = {
        "hand-written NumPy": networks.by_hand(task),
        "autodiff, compiled": networks.compiled(task),
    }
    if networks.torch:
        peers["PyTorch"] = networks.by_torch(task)
    agree(peers)
    side_by_side(f"{make.__name__} epoch, {task.sizes}, {len(task.x)} samples", peers, 40)
    peers = {
        "autodiff, walked": networks.walking(part),
        "compiled to plain Python": networks.plain_python(part),
    }
    agree(peers)
    side_by_side(f"the same, scalar by scalar, from {few} samples", peers, 3, few / len(task.x))


LARGE = [("RNN", (50, 8, 32)), ("attention", (16, 8)), ("convolution", (28, 8))]


@pytest.mark.parametrize(("name", "sizes"), [*[(name, ()) for name in PROGRAMS], *LARGE])
def test_models_beside_the_programs_by_hand(side_by_side, name, sizes):
    """Value and gradients of 150 samples."""
    model = MAKE[name](*sizes)
    program = Expression(model.loss).compile([model.x], model.parameters, xp=np, batch=True)
    rows = np.asfortranarray(model.rows(150))
    peers = {
        "hand-written NumPy": lambda: by_hand(name, model, rows, model.p),
        "autodiff, compiled": lambda: program(rows, model.p),
    }
    agree(peers)
    lines = program.source.count("\n")
    written = inspect.getsource(PROGRAMS[name]).count("\n")
    side_by_side(f"{name} {sizes or ''}: {written} lines by hand, {lines} compiled", peers, 20)


def test_the_ten_layer_network(side_by_side):
    """Ten layers, 941 weights: training by fit beside micrograd (its relu for our tanh)."""
    rng = np.random.default_rng(0)
    xs = rng.uniform(-1, 1, size=(1000, 4)).tolist()
    ys = [sum(x) for x in xs]
    widths = [4, *[10] * 9, 1]
    theirs = micrograd.nn.MLP(widths[0], widths[1:])
    ours = nn.Sequential(
        *[
            nn.Linear(n, m, activation=tanh if m > 1 else None, seed=i)
            for i, (n, m) in enumerate(zip(widths, widths[1:]))
        ]
    )

    def walked(samples=20):
        sum((theirs(x) - y) ** 2 for x, y in zip(xs[:samples], ys)).backward()

    def fit(batch_size, epochs=30):
        descent = optim.SGD(ours.parameters(), lr=1e-6)
        nn.fit(ours, xs, ys, nn.mse_loss, descent, epochs, batch_size, progress=False)

    one = side_by_side("ten layers, micrograd, 20 samples", {"micrograd": walked}, 3, 20, "/sample")
    for size in (100, 1000):
        runs = {f"fit, batches of {size}": lambda size=size: fit(size)}
        title = "ten layers, 30 epochs of 1,000 samples, recording included"
        medians = side_by_side(title, runs, 3, 30_000, "/sample")
        (fitting,), (walking,) = medians.values(), one.values()
        side_by_side.say(f"  {walking / 20 / (fitting / 30_000):.0f}x micrograd")


@pytest.mark.parametrize("sizes", [(4, 10, 3), (64, 32, 10), (256, 64, 10), (784, 128, 10)])
def test_growth_with_the_width(side_by_side, sizes):
    """Recording and compiling, which come before the first epoch."""
    features, hidden, classes = sizes
    task = networks.random_data(100, features, classes, hidden)
    x, target, loss = task.recorded()
    expression, wrt = Expression(loss), task.model.parameters()
    peers = {
        "recording": task.recorded,
        "compiling": lambda: expression.compile([x, target], wrt, xp=np, batch=True),
    }
    side_by_side(f"{sizes}: {len(topological_order(loss))} nodes", peers, 5)
