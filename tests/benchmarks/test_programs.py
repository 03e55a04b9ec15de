"""Compiled graphs beside NumPy by hand, micrograd, and PyTorch if installed."""

import time

import catalogue
import micrograd.engine
import numpy as np
import pytest
import race
from networks import (
    attention,
    by_hand,
    convolution,
    digits,
    iris,
    random_data,
    recurrent,
    sizes,
    torch,
)

from autodiff import Expression, Value, nn, optim, tanh, topological_order


def flat(gradients):
    return np.concatenate([np.ravel(g) for g in gradients])


def agree(peers):
    """All compute the same loss and gradients as the first."""
    (loss, gradients), *others = [epoch() for epoch in peers.values()]
    for other, found in others:
        assert float(other) == pytest.approx(float(loss), rel=1e-9)
        np.testing.assert_allclose(flat(found), flat(gradients), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("make", "few"), [(iris, 150), (digits, 3)])
def test_an_epoch_of_a_classifier(side_by_side, make, few):
    """Value and gradients, full batch; scalar by scalar of a few samples."""
    task = make()
    peers = {"hand-written NumPy": by_hand(task), "autodiff, compiled": race.compiled(task)}
    if torch:
        peers["PyTorch"] = race.by_torch(task)
    agree(peers)
    side_by_side(f"{make.__name__} epoch, {sizes(task)}, {len(task.x)} samples", peers, 40)
    peers = {
        "micrograd": race.by_micrograd(micrograd.engine)(make(few)),
        "autodiff, walked": race.walking(make(few)),
    }
    agree(peers)
    side_by_side(f"the same, scalar by scalar, from {few} samples", peers, 3, few / len(task.x))


@pytest.mark.parametrize("make", [recurrent, attention, convolution])
def test_other_shapes(side_by_side, make):
    """Value and gradients of a batch of 100, beside PyTorch."""
    shape = make()
    peers = {"autodiff, compiled": shape.compiled()} | ({"PyTorch": shape.torch()} if torch else {})
    agree(peers)
    lines = shape.program.source.count("\n")
    side_by_side(f"{shape.name}: {lines} lines", peers, 20)


@pytest.mark.parametrize("name", catalogue.MAKE)
def test_twelve_models_beside_the_programs_by_hand(side_by_side, name):
    """Value and gradients of 100 samples; the programs by hand are in tests/catalogue.py."""
    model = catalogue.MAKE[name]()
    program = Expression(model.loss).compile([model.x], model.parameters, xp=np, batch=True)
    rows = np.asfortranarray(np.random.default_rng(1).normal(size=(100, len(model.x))))
    peers = {
        "hand-written NumPy": lambda: model.hand(rows, model.p),
        "autodiff, compiled": lambda: program(rows, model.p),
    }
    side_by_side(f"{name}, by hand {model.lines()} lines", peers, 20)


def test_iris_in_plain_python(side_by_side):
    task = iris()
    peers = {
        "hand-written NumPy": by_hand(task),
        "compiled to plain Python": race.plain_python(task),
    }
    agree(peers)
    side_by_side("Iris epoch, 4-10-3, 150 samples", peers, 100)


def test_the_ten_layer_network(side_by_side):
    """Ten layers, 941 weights: training by fit beside micrograd walking its scalars."""
    rng = np.random.default_rng(0)
    xs = rng.uniform(-1, 1, size=(1000, 4)).tolist()
    ys = [sum(x) for x in xs]
    widths = [4, *[10] * 9, 1]
    layers = [
        nn.Linear(n, m, activation=tanh if m > 1 else None, seed=i)
        for i, (n, m) in enumerate(zip(widths, widths[1:]))
    ]
    model = nn.Sequential(*layers)
    weights = [[list(map(Micro, row)) for row in layer.weight.data] for layer in layers]
    biases = [list(map(Micro, layer.bias.data)) for layer in layers]

    def walked(samples=20):
        total = 0
        for x, y in zip(xs[:samples], ys):
            for i, (w, b) in enumerate(zip(weights, biases)):
                x = [sum((wi * xi for wi, xi in zip(row, x)), bj) for row, bj in zip(w, b)]
                x = [z.relu() for z in x] if i < 9 else x
            total = total + (x[0] - y) ** 2
        total.backward()

    def fit(batch_size, epochs=30):
        descent = optim.SGD(model.parameters(), lr=1e-6)
        nn.fit(model, xs, ys, nn.mse_loss, descent, epochs, batch_size, progress=False)

    one = side_by_side("ten layers, micrograd, 20 samples", {"micrograd": walked}, 3, 20, "/sample")
    for size in (100, 1000):
        runs = {f"fit, batches of {size}": lambda size=size: fit(size)}
        title = "ten layers, 30 epochs of 1,000 samples, recording included"
        medians = side_by_side(title, runs, 3, 30_000, "/sample")
        (ours,), (theirs,) = medians.values(), one.values()
        side_by_side.say(
            f"  {theirs / 20 / (ours / 30_000):.0f}x micrograd (its relu for our tanh)"
        )


Micro = micrograd.engine.Value

# -- Growth -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1_000, 10_000, 100_000])
def test_compile_time_of_a_chain(side_by_side, n):
    n = 1_000 if side_by_side.quick else n
    x, b = Value(1.0001), Value(0.0001)
    y = x
    for _ in range(n // 2):
        y = y * x
        y = y + b
    expression = Expression(y)
    compiling = {"compile": lambda: expression.compile([x, b], wrt=[x, b])}
    side_by_side(f"compile time of {n} nodes", compiling, max(1, 20_000 // n), n, "/node")


def test_growth_with_the_width(side_by_side):
    """Recording and compiling beside an epoch, from 4-10-3 to 784-128-10."""
    rounds = 1 if side_by_side.quick else 15
    side_by_side.say(
        "\nsizes            nodes     record    compile   epoch of 100 samples, by hand"
    )
    for features, hidden, classes in ((4, 10, 3), (64, 32, 10), (256, 64, 10), (784, 128, 10)):
        task = random_data(100, features, classes, hidden)
        times = [time.perf_counter()]
        x, target, loss = task.recorded()
        times.append(time.perf_counter())
        Expression(loss).compile([x, target], task.model.parameters(), xp=np, batch=True)
        times.append(time.perf_counter())
        record, compiling = (b - a for a, b in zip(times, times[1:]))
        epochs = [_median(each, rounds) for each in (race.compiled(task), by_hand(task))]
        side_by_side.say(
            f"{features:>4}-{hidden}-{classes:<8} {len(topological_order(loss)):>8} {record * 1e3:>7.1f} ms "
            f"{compiling * 1e3:>7.1f} ms {epochs[0] * 1e6:>9.0f} µs {epochs[1] * 1e6:>9.0f} µs"
        )


def _median(epoch, rounds):
    epoch()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        epoch()
        times.append(time.perf_counter() - start)
    return sorted(times)[rounds // 2]
