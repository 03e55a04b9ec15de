"""A classifier to train, and everyone who trains it.

A runner takes a Task and returns its `epoch`, a function without arguments that returns the sum of
the losses and the gradients: an array for each parameter, or one for all of them. Before that, it
lays the data out in the way that its library likes best.
"""

from types import SimpleNamespace

import numpy as np

from autodiff import Expression, Vector, nn, tanh

try:
    import torch  # no extra brings it
except ImportError:
    torch = None
    print("PyTorch is not installed, and left out.")
else:
    torch.set_num_threads(1)


class Task:
    """Data (the first n samples, or all) and a network with one hidden layer to learn it."""

    def __init__(self, data, hidden, n=None):
        x = (data.data - data.data.mean(axis=0)) / np.maximum(data.data.std(axis=0), 1e-6)
        self.x, self.kinds = x[:n], data.target[:n]  # (n, inputs) and (n,)
        inputs, classes = x.shape[1], data.target.max() + 1
        self.t = np.eye(classes)[self.kinds]  # (n, classes)
        first = nn.Linear(inputs, hidden, activation=tanh, seed=0)
        last = nn.Linear(hidden, classes, seed=1)
        self.model = nn.Sequential(first, last)
        self.layers = [np.array(p.data) for p in (first.weight, first.bias, last.weight, last.bias)]
        self.p = np.concatenate([layer.ravel() for layer in self.layers])
        self.sizes = [inputs, hidden, classes]

    def recorded(self):
        """The symbols of one sample, and its loss as a graph."""
        x = Vector([0.1] * self.x.shape[1]).requires_grad_(False)
        target = Vector(self.t[0]).requires_grad_(False)
        return x, target, nn.cross_entropy(self.model(x), target)


def iris(n=None):
    from sklearn.datasets import load_iris

    return Task(load_iris(), 10, n)


def digits(n=None):
    from sklearn.datasets import load_digits

    return Task(load_digits(), 32, n)


def random_data(samples, features, classes, hidden):
    """Random numbers, for networks of any size."""
    data = np.random.default_rng(0).normal(size=(samples, features))
    return Task(SimpleNamespace(data=data, target=np.arange(samples) % classes), hidden)


# -- The runners ------------------------------------------------------------------------------


class ByHand:
    """The best that a person writes in NumPy: samples last, in place, nothing computed twice."""

    def __init__(self, task):
        self.x, self.t = np.ascontiguousarray(task.x.T), np.ascontiguousarray(task.t.T)
        self.p = task.p.copy()
        self.gradient = np.empty_like(self.p)
        n, h, k = task.sizes
        ends = np.cumsum([h * n, h, k * h, k])
        shapes = (h, n), (h, 1), (k, h), (k, 1)
        self.parts, self.gradients = (
            [a[e - np.prod(s) : e].reshape(s) for e, s in zip(ends, shapes)]
            for a in (self.p, self.gradient)
        )

    def derive(self, x, t):
        """The sum of the losses of a batch; leaves its derivatives in `gradients`."""
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


def by_hand(task):
    """The runner of the race."""
    hand = ByHand(task)
    return lambda: (hand.derive(hand.x, hand.t), hand.gradients)


def compiled(task):
    x, target, loss = task.recorded()
    wrt = task.model.parameters()
    program = Expression(loss).compile([x, target], wrt=wrt, xp=np, batch=True)
    rows = np.asfortranarray(np.hstack([task.x, task.t]))  # each column in one piece

    def epoch():
        values, gradients = program(rows, task.p)
        return values.sum(), [gradients]

    return epoch


def plain_python(task):
    x, target, loss = task.recorded()
    program = Expression(loss).compile([x, target], wrt=task.model.parameters())
    rows, p = np.hstack([task.x, task.t]).tolist(), task.p.tolist()

    def epoch():
        total, sums = 0.0, [0.0] * len(p)
        for row in rows:
            value, gradients = program(*row, *p)
            total, sums = total + value, [a + b for a, b in zip(sums, gradients)]
        return total, [sums]

    return epoch


def walking(task):
    """Our Values, with a node for each neuron's dot product."""
    samples = list(zip(task.x.tolist(), task.kinds.tolist()))

    def epoch():
        task.model.zero_grad()
        total = 0.0
        for x, kind in samples:
            loss = nn.cross_entropy(task.model(x), kind)
            loss.backward()
            total += loss.data
        return total, [[p.grad for p in task.model.parameters()]]

    return epoch


def in_torch(task):
    """The network in PyTorch, and its data."""
    n, h, k = task.sizes
    net = torch.nn.Sequential(torch.nn.Linear(n, h), torch.nn.Tanh(), torch.nn.Linear(h, k))
    net.double()
    for p, array in zip(net.parameters(), task.layers):
        p.data = torch.tensor(array)
    return net, torch.tensor(task.x), torch.tensor(task.kinds)


def by_torch(task):
    net, x, kinds = in_torch(task)
    loss_of = torch.nn.CrossEntropyLoss(reduction="sum")

    def epoch():
        net.zero_grad()
        loss = loss_of(net(x), kinds)
        loss.backward()
        return loss.item(), [p.grad.numpy() for p in net.parameters()]

    return epoch
