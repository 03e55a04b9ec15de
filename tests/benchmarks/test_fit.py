"""Training by fit beside the best NumPy that can be written by hand, and PyTorch if installed."""

import statistics
import time

import numpy as np
import pytest
from networks import ByHand, digits, in_torch, iris, torch

from autodiff import nn, optim


def training(step, n):
    """Trains by steps, each with a batch, and returns the losses."""

    def train(epochs, size=None):
        rng, losses = np.random.default_rng(0), []
        for _ in range(epochs):
            order = rng.permutation(n) if size else None
            batches = np.split(order, range(size, n, size)) if size else [slice(None)]
            losses.append(sum(map(step, batches)) / n)
        return losses

    return train


class Trainer(ByHand):
    """Gradient descent, or Adam, by hand."""

    def __init__(self, task, adam=False):
        super().__init__(task)
        self.mean, self.square = np.zeros_like(self.p), np.zeros_like(self.p)
        self.steps, self.adam = 0, adam
        self.train = training(self.step, self.x.shape[1])

    def step(self, batch, lr=0.01):
        x, t = self.x, self.t
        if not isinstance(batch, slice):
            x, t = x.take(batch, axis=1), t.take(batch, axis=1)
        loss = self.derive(x, t)
        if self.adam:
            self.move_by_adam(lr, x.shape[1])
        else:
            self.gradient *= lr / x.shape[1]
            self.p -= self.gradient
        return loss

    def move_by_adam(self, lr, n):
        g, mean, square = self.gradient, self.mean, self.square
        self.steps += 1
        g /= n
        mean *= 0.9
        mean += 0.1 * g
        g *= g
        g *= 0.001
        square *= 0.999
        square += g
        root = np.sqrt(square)
        root /= np.sqrt(1 - 0.999**self.steps)
        root += 1e-8
        np.divide(mean, root, out=root)
        root *= lr / (1 - 0.9**self.steps)
        self.p -= root


def by_torch(task, adam=False):
    model, x, classes = in_torch(task)
    kind = torch.optim.Adam if adam else torch.optim.SGD
    optimizer = kind(model.parameters(), lr=0.01)
    cross_entropy = torch.nn.CrossEntropyLoss()

    def step(batch):
        batch = batch if isinstance(batch, slice) else torch.as_tensor(batch)
        optimizer.zero_grad()
        loss = cross_entropy(model(x[batch]), classes[batch])
        loss.backward()
        optimizer.step()
        return loss.item() * len(x[batch])

    return training(step, len(x))


def by_fit(task, adam=False):
    kind = optim.Adam if adam else optim.SGD
    optimizer = kind(task.model.parameters(), lr=0.01)

    def train(epochs, size=None):
        given = task.model, task.x, task.kinds, nn.cross_entropy, optimizer
        return nn.fit(*given, epochs, size, progress=False, seed=0, engine="compiled").losses

    return train


def per_epoch(train, epochs, *given):
    """Seconds per epoch: the difference between many epochs and few, without recording and compiling.

    Of processor time: all use one thread, and others may use the machine.
    """
    times = []
    for n in (1, 1 + epochs):
        start = time.process_time()
        train(n, *given)
        times.append(time.process_time() - start)
    return (times[1] - times[0]) / epochs


@pytest.mark.parametrize(
    ("make", "size", "adam", "epochs"),
    [(iris, None, False, 5000), (digits, None, False, 300), (digits, 32, True, 20)],
)
def test_fit_beside_its_peers(side_by_side, make, size, adam, epochs):
    task = make()
    epochs, rounds = (1, 1) if side_by_side.quick else (epochs, 9)
    peers = {"hand-written NumPy": Trainer(task, adam).train, "autodiff, fit": by_fit(task, adam)}
    if torch:
        peers["PyTorch"] = by_torch(task, adam)
    found = [train(3, size) for train in peers.values()]
    for losses in found:
        np.testing.assert_allclose(losses, found[0], rtol=1e-9)
    times = {name: [] for name in peers}
    for _ in range(rounds):
        for name, train in peers.items():
            times[name].append(per_epoch(train, epochs, size))
    kind = "Adam" if adam else "SGD"
    side_by_side.say(f"\n{make.__name__}, {kind}, batches of {size or len(task.x)}: an epoch")
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    for name, median in medians.items():
        ratio = median / medians["hand-written NumPy"]
        side_by_side.say(f"  {name:<24} {median * 1e6:10.1f} µs  {ratio:6.2f}x by hand")
