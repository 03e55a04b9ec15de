"""The lecture's neuron by neuron network, as pasted: fit beside micrograd, and NumPy by hand."""

import os
import random

import micrograd.nn
import numpy as np
import pytest
from catalogue import of_ours

from autodiff import nn, optim

SIZES, RATE = (4, 16, 16, 1), 0.01


def network():
    """micrograd's; the same weights each time."""
    random.seed(0)
    return micrograd.nn.MLP(SIZES[0], [*SIZES[1:]])


def by_micrograd(xs, ys):
    model = network()

    def train(epochs):
        for _ in range(epochs):
            loss = sum((model(x) - y) ** 2 for x, y in zip(xs, ys)) * (1 / len(xs))
            model.zero_grad()
            loss.backward()
            for p in model.parameters():
                p.data -= RATE * p.grad
        return loss.data

    return train


def by_fit(xs, ys):
    model = of_ours(network())

    def train(epochs):
        descent = optim.SGD(model.parameters(), lr=RATE)
        return nn.fit(model, xs, ys, nn.mse_loss, descent, epochs, progress=False).losses[-1]

    return train


def by_hand(xs, ys):
    """Samples last, in place."""
    given = network().layers
    weights = [np.array([[w.data for w in n.w] for n in layer.neurons]) for layer in given]
    biases = [np.array([[float(n.b.data)] for n in layer.neurons]) for layer in given]
    x, y = np.ascontiguousarray(np.array(xs).T), np.array(ys)

    def train(epochs):
        for _ in range(epochs):
            values = [x]
            for w, b in zip(weights, biases):
                z = w @ values[-1]
                z += b
                values.append(np.maximum(z, 0.0, out=z) if len(values) < len(weights) else z)
            error = z - y
            loss = np.vdot(error, error) / len(y)
            error *= 2 * RATE / len(y)
            for i in reversed(range(len(weights))):
                change = error @ values[i].T
                biases[i] -= error.sum(axis=1, keepdims=True)
                if i:
                    error = weights[i].T @ error
                    error *= values[i] > 0
                weights[i] -= change
        return loss

    return train


def test_an_epoch_of_the_lecture(side_by_side, capsys):
    rng = np.random.default_rng(0)
    xs = rng.uniform(-1, 1, (15 if os.environ.get("QUICK") else 150, SIZES[0])).tolist()
    ys = [max(x) for x in xs]
    runs = {"NumPy by hand": by_hand, "micrograd": by_micrograd, "autodiff, fit": by_fit}
    trains = {name: run(xs, ys) for name, run in runs.items()}
    losses = [train(2) for train in trains.values()]
    assert losses == pytest.approx([losses[0]] * 3, rel=1e-9)
    epochs = dict(zip(trains, (5000, 3, 5000)))
    medians = side_by_side(f"{SIZES}, {len(xs)} samples: an epoch", trains, 1, epochs=epochs)
    numpy_s, micrograd_s, fit_s = medians.values()
    with capsys.disabled():
        print(
            f"  fit is {micrograd_s / fit_s:.0f} times as fast as micrograd, and takes "
            f"{fit_s / numpy_s:.1f} times as long as NumPy by hand"
        )
