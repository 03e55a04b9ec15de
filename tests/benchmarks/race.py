"""Runners: everyone runs one epoch of the same training of a classifier, against the clock.

A runner takes a Task and returns its `epoch`, a function without arguments that returns the sum of
the losses and the gradients: an array for each parameter, or one for all of them. Before that, it
lays the data out in the way that its library likes best.
"""

import math

import numpy as np

from autodiff import Expression, Vector, nn, tanh

try:
    import torch  # no extra brings it
except ImportError:
    torch = None
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

    def recorded(self):
        """The symbols of one sample, and its loss as a graph."""
        x = Vector([0.1] * self.x.shape[1]).requires_grad_(False)
        target = Vector(self.t[0]).requires_grad_(False)
        return x, target, nn.cross_entropy(self.model(x), target)


# -- The runners ------------------------------------------------------------------------------


def by_numpy(by_hand):
    """The runner of a function of x, t and the layers, with a column for each sample."""

    def runner(task):
        x, t = np.ascontiguousarray(task.x.T), np.ascontiguousarray(task.t.T)

        def epoch():
            losses, gradients = by_hand(x, t, *task.layers)
            return losses.sum(), gradients

        return epoch

    return runner


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


def product_by_product(value, tanh, exp, log):
    """The runner of a scalar engine, with a node for each product and each sum of two."""

    def layer(rows, biases, x):
        return [sum((w * v for w, v in zip(row, x)), b) for row, b in zip(rows, biases)]

    def runner(task):
        layers = [np.vectorize(value)(array) for array in task.layers]
        parameters = [p for array in layers for p in array.ravel()]

        def epoch():
            total = 0.0
            for p in parameters:
                p.grad = 0.0
            for x, kind in zip(task.x.tolist(), task.kinds):
                z = layer(*layers[2:], [tanh(h) for h in layer(*layers[:2], x)])
                loss = log(sum(exp(v) for v in z)) - z[kind]
                loss.backward()
                total += loss.data
            return total, [[p.grad for p in parameters]]

        return epoch

    return runner


def by_micrograd(micrograd):
    """micrograd, with tanh, exp and log, which it lacks, written like its own operations."""

    def function(f, slope):
        def apply(x):
            out = micrograd.Value(f(x.data), (x,))

            def backward():
                x.grad += slope(x.data, out.data) * out.grad

            out._backward = backward
            return out

        return apply

    return product_by_product(
        micrograd.Value,
        function(math.tanh, lambda x, y: 1 - y * y),
        function(math.exp, lambda x, y: y),
        function(math.log, lambda x, y: 1 / x),
    )


def by_torch(task):
    layer, (first, _, last, _) = torch.nn.Linear, task.layers
    net = torch.nn.Sequential(layer(*first.T.shape), torch.nn.Tanh(), layer(*last.T.shape))
    net.double()
    for p, array in zip(net.parameters(), task.layers):
        p.data = torch.tensor(array)
    x, kinds = torch.tensor(task.x), torch.tensor(task.kinds)
    loss_of = torch.nn.CrossEntropyLoss(reduction="sum")

    def epoch():
        net.zero_grad()
        loss = loss_of(net(x), kinds)
        loss.backward()
        return loss.item(), [p.grad.numpy() for p in net.parameters()]

    return epoch
