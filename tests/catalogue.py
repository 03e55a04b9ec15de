"""Four models: the loss of one sample as a graph of scalars."""

import math

import numpy as np

from autodiff import Matrix, Vector, dot, exp, logsumexp, relu, tanh

rng = np.random.default_rng(0)


class Model:
    """`loss` is the graph of a function of x and the parameters, arrays of these shapes."""

    def __init__(self, features, shapes, loss):
        self.shapes = shapes
        make = {1: Vector, 2: Matrix}
        held = [make[len(s)](rng.normal(size=s) / np.sqrt(s[-1])) for s in shapes]
        self.x = Vector(rng.normal(size=features))
        self.loss = loss(self.x, *held)
        self.parameters = [p for array in held for p in getattr(array, "_entries", array)]
        self.p = np.array([p.data for p in self.parameters])

    def rows(self, n):
        return np.random.default_rng(1).normal(size=(n, len(self.x)))


def squared(y):
    return (y - 0.5) ** 2


def classified(x, w, b, v, c):
    """The loss for class 0."""
    z = v @ (w @ x + b).map(tanh) + c
    return logsumexp([*z]) - z[0]


def split(x, size):
    return [x[i : i + size] for i in range(0, len(x), size)]


def recurrence(x, u, w, b, v):
    h = Vector([0.0] * len(v))
    for step in split(x, u.shape[1]):
        h = (w @ h + u @ step + b).map(tanh)
    return squared(dot(v, h))


def attending(x, q, k, v):
    rows = Matrix([[*step] for step in split(x, q.shape[0])])
    a, b, c = rows @ q, rows @ k, rows @ v
    shares = []
    for row in a @ b.T:
        total = logsumexp([*row])
        shares.append([exp(score - total) for score in row])
    return squared((Matrix(shares) @ c).map(tanh).sum())


def convolved(x, kernels, bias, v):
    side, outputs = math.isqrt(len(x)), []
    for kernel, b in zip(kernels, bias):
        for corner in range(side * (side - 2)):
            if corner % side < side - 2:
                patch = [x[corner + r * side + c] for r in range(3) for c in range(3)]
                outputs.append(relu(dot([*kernel], patch) + b))
    return squared(dot(v, outputs))


MAKE = {
    "network": lambda n=64, h=32, k=10: Model(n, [(h, n), (h,), (k, h), (k,)], classified),
    "RNN": lambda steps=6, n=3, h=8: Model(steps * n, [(h, n), (h, h), (h,), (h,)], recurrence),
    "attention": lambda steps=6, n=4: Model(steps * n, [(n, n)] * 3, attending),
    "convolution": lambda side=8, k=4: Model(
        side**2, [(k, 9), (k,), (k * (side - 2) ** 2,)], convolved
    ),
}
