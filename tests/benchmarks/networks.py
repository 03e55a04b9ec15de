"""The network that several benchmarks train: the same numbers for every peer."""

import math

import numpy as np

from autodiff import Vector, nn, tanh


class Network:
    """Classifiers with one hidden tanh layer and softmax cross entropy, of any size."""

    def __init__(self, inputs, classes, hidden):
        self.x = (inputs - inputs.mean(axis=0)) / np.maximum(inputs.std(axis=0), 1e-6)
        self.classes = classes
        self.targets = np.eye(classes.max() + 1)[classes]
        n, k = self.x.shape[1], self.targets.shape[1]
        self.model = nn.Sequential(
            nn.Linear(n, hidden, activation=tanh, init=nn.xavier_normal, seed=0),
            nn.Linear(hidden, k, init=nn.xavier_normal, seed=1),
        )
        self.sizes = n, hidden, k
        self.parameters = self.model.parameters()
        self.p = np.array([p.data for p in self.parameters])

    def sample(self):
        """The loss of one sample as a graph: its inputs, its target, the loss."""
        x, target = Vector([0.1] * self.sizes[0]), Vector(self.targets[0])
        return x, target, nn.cross_entropy(self.model(x), target)

    def by_hand(self):
        """What a person writes in NumPy for the sum of losses and its gradient."""
        n, h, k = self.sizes
        x, t = self.x, self.targets
        w1, b1, w2, b2 = np.split(self.p, np.cumsum([h * n, h, k * h]))
        w1, w2 = w1.reshape(h, n), w2.reshape(k, h)

        def epoch():
            a = np.tanh(x @ w1.T + b1)
            z = a @ w2.T + b2
            z = z - z.max(axis=1, keepdims=True)
            e = np.exp(z)
            s = e.sum(axis=1, keepdims=True)
            loss = (np.log(s)[:, 0] - (z * t).sum(axis=1)).sum()
            dz = e / s - t
            da = (dz @ w2) * (1 - a * a)
            return loss, (da.T @ x, da.sum(axis=0), dz.T @ a, dz.sum(axis=0))

        return epoch

    def micrograd(self, samples):
        """micrograd walking the scalars of some samples; its loss is built of what it has."""
        from micrograd.engine import Value as Micro

        def exp(x):
            out = Micro(math.exp(x.data), (x,), "exp")

            def backward():
                x.grad += out.data * out.grad

            out._backward = backward
            return out

        def log(x):
            out = Micro(math.log(x.data), (x,), "log")

            def backward():
                x.grad += out.grad / x.data

            out._backward = backward
            return out

        def tanh(x):
            e = exp(2 * x)
            return (e - 1) / (e + 1)

        n, h, k = self.sizes
        p = [Micro(v) for v in self.p]
        w1 = [p[i * n : (i + 1) * n] for i in range(h)]
        b1 = p[h * n : h * n + h]
        w2 = [p[h * n + h + i * h : h * n + h + (i + 1) * h] for i in range(k)]
        b2 = p[h * n + h + k * h :]
        rows = [(list(map(float, self.x[i])), int(self.classes[i])) for i in samples]

        def epoch():
            for v in p:
                v.grad = 0
            total = 0
            for x, target in rows:
                a = [tanh(sum((wi * xi for wi, xi in zip(w, x)), b)) for w, b in zip(w1, b1)]
                z = [sum((wi * ai for wi, ai in zip(w, a)), b) for w, b in zip(w2, b2)]
                total = total + log(sum(exp(v) for v in z)) - z[target]
            total.backward()
            return total.data, [v.grad for v in p]

        return epoch


def iris():
    from sklearn.datasets import load_iris

    return Network(*load_iris(return_X_y=True), hidden=10)


def digits():
    from sklearn.datasets import load_digits

    return Network(*load_digits(return_X_y=True), hidden=32)
