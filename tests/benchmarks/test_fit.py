"""A classifier of flowers or digits: its program and `fit` beside the best NumPy written by hand.

PyTorch is a peer where it is installed.
"""

from functools import partial
from unittest import mock

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from autodiff import Expression, Vector, nn, optim, tanh
from autodiff.nn import fitting
from autodiff.nn.verification import FEW

try:
    import torch  # no extra brings it
except ImportError:
    torch = None
    print("PyTorch is not installed, and left out.")
else:
    torch.set_num_threads(1)


class Task:
    """Data and a network with one hidden layer to learn it."""

    def __init__(self, data, hidden):
        self.x = (data.data - data.data.mean(axis=0)) / np.maximum(data.data.std(axis=0), 1e-6)
        self.kinds = data.target
        inputs, classes = self.x.shape[1], data.target.max() + 1
        self.t = np.eye(classes)[self.kinds]  # (n, classes)
        first = nn.Linear(inputs, hidden, activation=tanh, seed=0)
        last = nn.Linear(hidden, classes, seed=1)
        self.model = nn.Sequential(first, last)
        self.layers = [np.array(p.data) for p in (first.weight, first.bias, last.weight, last.bias)]
        self.sizes = [inputs, hidden, int(classes)]


TASKS = {"iris": lambda: Task(load_iris(), 10), "digits": lambda: Task(load_digits(), 32)}


def training(step, n, size):
    """Trains by steps, each with a batch, and returns the losses."""

    def train(epochs):
        rng, losses = np.random.default_rng(0), []
        for _ in range(epochs):
            order = rng.permutation(n) if size else None
            batches = np.split(order, range(size, n, size)) if size else [slice(None)]
            losses.append(sum(map(step, batches)) / n)
        return losses

    return train


class ByHand:
    """The best that a person writes in NumPy: samples last, in place, nothing computed twice."""

    def __init__(self, task, adam=False):
        self.x, self.t = np.ascontiguousarray(task.x.T), np.ascontiguousarray(task.t.T)
        self.p = np.concatenate(task.layers, axis=None)
        self.gradient, self.mean, self.square = np.zeros((3, self.p.size))
        n, h, k = task.sizes
        ends = np.cumsum([h * n, h, k * h])
        self.parts, self.gradients = (
            [part.reshape(rows, -1) for part, rows in zip(np.split(a, ends), (h, h, k, k))]
            for a in (self.p, self.gradient)
        )
        self.steps, self.adam = 0, adam

    def derive(self, x, t):
        """The sum of the losses of a batch; leaves its derivatives in `gradient`."""
        (w1, b1, w2, b2), (dw1, db1, dw2, db2) = self.parts, self.gradients
        a = w1 @ x
        a += b1
        np.tanh(a, out=a)
        z = w2 @ a
        z += b2
        z -= z.max(axis=0)
        loss = -np.vdot(z, t)
        np.exp(z, out=z)
        s = z.sum(axis=0)
        z /= s
        loss += np.log(s).sum()
        z -= t  # from here on the adjoint of z
        da = w2.T @ z
        np.matmul(z, a.T, out=dw2)
        z.sum(axis=1, keepdims=True, out=db2)
        a *= a
        np.subtract(1.0, a, out=a)
        da *= a
        np.matmul(da, x.T, out=dw1)
        da.sum(axis=1, keepdims=True, out=db1)
        return loss

    def step(self, batch, lr=0.01):
        """One step of gradient descent, or of Adam."""
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


def by_hand(task, size, adam):
    return training(ByHand(task, adam).step, len(task.x), size)


def by_torch(task, size, adam):
    n, h, k = task.sizes
    model = torch.nn.Sequential(torch.nn.Linear(n, h), torch.nn.Tanh(), torch.nn.Linear(h, k))
    model.double()
    for p, array in zip(model.parameters(), task.layers):
        p.data = torch.tensor(array)
    x, classes = torch.tensor(task.x), torch.tensor(task.kinds)
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

    return training(step, len(x), size)


def once(epoch, *_):
    """Samples that are walked to verify the program in the first epoch alone."""
    return FEW if epoch == 1 else 0


def by_fit(task, size, adam, verified=True):
    kind = optim.Adam if adam else optim.SGD
    optimizer = kind(task.model.parameters(), lr=0.01)

    def train(epochs):
        given = task.model, task.x, task.kinds, nn.cross_entropy, optimizer
        before = fitting.walks_before if verified else once
        with mock.patch.object(fitting, "walks_before", before):
            return nn.fit(*given, epochs, size, progress=False, seed=0, engine="compiled").losses

    return train


@pytest.mark.parametrize("name", TASKS)
def test_value_and_gradient_of_an_epoch(side_by_side, name):
    task = TASKS[name]()
    x = Vector([0.1] * task.sizes[0]).requires_grad_(False)
    target = Vector(task.t[0]).requires_grad_(False)
    loss = nn.cross_entropy(task.model(x), target)
    program = Expression(loss).compile([x, target], task.model.parameters(), xp=np, batch=True)
    rows = np.asfortranarray(np.hstack([task.x, task.t]))  # each column in one piece
    hand, run = ByHand(task), program.runner()  # as `fit` runs it
    peers = {
        "hand-written NumPy": lambda: hand.derive(hand.x, hand.t),
        "autodiff, compiled": lambda: run(rows, hand.p),
    }
    total, (values, gradient) = [peer() for peer in peers.values()]
    assert values.sum() == pytest.approx(total, rel=1e-9)
    np.testing.assert_allclose(gradient, hand.gradient, rtol=1e-6, atol=1e-8)
    side_by_side(f"{name}, {task.sizes}: value and gradient of an epoch", peers, 40)


@pytest.mark.parametrize(
    ("name", "size", "adam", "epochs"),
    [
        ("iris", None, False, 5000), ("digits", None, False, 300),
        ("digits", 32, True, 20), ("digits", 32, True, 100),
    ],
)  # fmt: skip
def test_an_epoch_of_fit(side_by_side, capsys, name, size, adam, epochs):
    verified, not_verified = "autodiff, fit", "verified in the first epoch"
    makers = {
        "hand-written NumPy": by_hand,
        verified: by_fit,
        not_verified: partial(by_fit, verified=False),
    }
    if torch:
        makers["PyTorch"] = by_torch
    peers = {peer: make(TASKS[name](), size, adam) for peer, make in makers.items()}
    found = [train(3) for train in peers.values()]
    for losses in found:
        np.testing.assert_allclose(losses, found[0], rtol=1e-9)
    how = f"{'Adam' if adam else 'SGD'}, batches of {size or 'all'}"
    title = f"{name}, {how}: an epoch of {epochs}"
    medians = side_by_side(title, peers, 9, epochs=dict.fromkeys(peers, epochs))
    with capsys.disabled():
        print(f"  verification: {1 - medians[not_verified] / medians[verified]:.1%} of fit")
