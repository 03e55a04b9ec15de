"""Training by fit beside the best NumPy that can be written by hand, scikit-learn, and PyTorch if installed."""

import statistics
import time
import warnings

import numpy as np
import pytest
from networks import digits, iris, torch

from autodiff import nn, optim


class ByHand:
    """A classifier in NumPy: samples last, in place, nothing computed twice."""

    def __init__(self, network, adam=False):
        self.x, self.t = np.ascontiguousarray(network.x.T), np.ascontiguousarray(network.targets.T)
        n, h, k = network.sizes
        self.p = network.p.copy()
        self.gradient = np.empty_like(self.p)
        ends = np.cumsum([h * n, h, k * h, k])
        shapes = (h, n), (h, 1), (k, h), (k, 1)
        self.parts, self.gradients = (
            [a[e - np.prod(s) : e].reshape(s) for e, s in zip(ends, shapes)]
            for a in (self.p, self.gradient)
        )
        self.mean, self.square = np.zeros_like(self.p), np.zeros_like(self.p)
        self.steps, self.adam = 0, adam

    def step(self, x, t, lr):
        """The sum of the losses of a batch; moves the parameters."""
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
        z -= t
        da = w2.T @ z
        np.matmul(z, a.T, out=dw2)
        z.sum(axis=1, keepdims=True, out=db2)
        a *= a
        np.subtract(1.0, a, out=a)
        da *= a
        np.matmul(da, x.T, out=dw1)
        da.sum(axis=1, keepdims=True, out=db1)
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

    def train(self, epochs, size=None, lr=0.01):
        losses, n = [], self.x.shape[1]
        rng = np.random.default_rng(0)
        for _ in range(epochs):
            total = 0.0
            if size is None:
                total = self.step(self.x, self.t, lr)
            else:
                order = rng.permutation(n)
                for start in range(0, n, size):
                    batch = order[start : start + size]
                    total += self.step(self.x.take(batch, axis=1), self.t.take(batch, axis=1), lr)
            losses.append(total / n)
        return losses


def by_torch(network, adam=False):
    n, h, k = network.sizes
    model = torch.nn.Sequential(torch.nn.Linear(n, h), torch.nn.Tanh(), torch.nn.Linear(h, k))
    model = model.double()
    with torch.no_grad():
        for p, array in zip(model.parameters(), network.arrays()):
            p.copy_(torch.as_tensor(array))
    x, classes = torch.as_tensor(network.x), torch.as_tensor(network.classes)
    kind = torch.optim.Adam if adam else torch.optim.SGD
    optimizer = kind(model.parameters(), lr=0.01)
    cross_entropy = torch.nn.CrossEntropyLoss()

    def train(epochs, size=None):
        losses, rng = [], np.random.default_rng(0)
        for _ in range(epochs):
            order = rng.permutation(len(x)) if size else None
            total = 0.0
            for start in range(0, len(x), size or len(x)):
                batch = torch.as_tensor(order[start : start + size]) if size else slice(None)
                optimizer.zero_grad()
                loss = cross_entropy(model(x[batch]), classes[batch])
                loss.backward()
                optimizer.step()
                total += loss.item() * len(x[batch])
            losses.append(total / len(x))
        return losses

    return train


def by_fit(network, adam=False):
    kind = optim.Adam if adam else optim.SGD
    network.model.load_state_dict(network.start)
    optimizer = kind(network.parameters, lr=0.01)

    def train(epochs, size=None):
        given = network.model, network.x, network.classes, nn.cross_entropy, optimizer
        return nn.fit(*given, epochs, size, progress=False, seed=0, engine="compiled").losses

    return train


def per_epoch(train, epochs, size):
    """Seconds per epoch: the difference between many epochs and few, without recording and compiling.

    Of processor time: all use one thread, and others may use the machine.
    """
    times = []
    for n in (1, 1 + epochs):
        start = time.process_time()
        train(n, size)
        times.append(time.process_time() - start)
    return (times[1] - times[0]) / epochs


@pytest.mark.parametrize(
    ("make", "size", "adam", "epochs"),
    [(iris, None, False, 5000), (digits, None, False, 300), (digits, 32, True, 20)],
)
def test_fit_beside_its_peers(side_by_side, make, size, adam, epochs):
    network = make()
    epochs, rounds = (1, 1) if side_by_side.quick else (epochs, 9)
    network.start = network.model.state_dict()
    peers = {
        "hand-written NumPy": ByHand(network, adam).train,
        "autodiff, fit": by_fit(network, adam),
    }
    if torch:
        peers["PyTorch"] = by_torch(network, adam)
    found = [train(3, size) for train in peers.values()]
    for losses in found:
        np.testing.assert_allclose(losses, found[0], rtol=1e-9)
    if not adam and size is None:
        peers["scikit-learn"] = lambda n, size: network.scikit_learn(n)()
    times = {name: [] for name in peers}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(rounds):
            for name, train in peers.items():
                times[name].append(per_epoch(train, epochs, size))
    kind = "Adam" if adam else "SGD"
    side_by_side.say(f"\n{make.__name__}, {kind}, batches of {size or len(network.x)}: an epoch")
    for name, taken in times.items():
        by_hand = times["hand-written NumPy"]
        median, lowest = statistics.median(taken), min(taken)
        side_by_side.say(
            f"  {name:<24} {median * 1e6:10.1f} µs  {median / statistics.median(by_hand):6.2f}x by hand"
            f"   (lowest {lowest * 1e6:.1f} µs, {lowest / min(by_hand):.2f}x)"
        )
