"""Four models: the loss of one sample as a graph of scalars, and the program for a batch that a
person writes in NumPy, forward and back. Samples come last: x is (features, n).
"""

import math

import numpy as np

from autodiff import Matrix, Vector, dot, exp, logsumexp, relu, tanh

rng = np.random.default_rng(0)


class Model:
    """`loss(x, *parameters)` is the graph; `by_hand(x, *arrays)` returns values and gradients."""

    def __init__(self, features, shapes, loss, by_hand):
        self.by_hand = by_hand
        self.shapes = shapes
        make = {1: Vector, 2: Matrix}
        held = [make[len(s)](rng.normal(size=s) / np.sqrt(s[-1])) for s in shapes]
        self.x = Vector(rng.normal(size=features))
        self.loss = loss(self.x, *held)
        self.parameters = [p for array in held for p in getattr(array, "_entries", array)]
        self.p = np.array([p.data for p in self.parameters])

    def rows(self, n):
        return np.random.default_rng(1).normal(size=(n, len(self.x)))

    def hand(self, rows, p):
        """The program by hand, in the form of a compiled one."""
        ends = np.cumsum([int(np.prod(s)) for s in self.shapes])[:-1]
        arrays = [part.reshape(s) for part, s in zip(np.split(p, ends), self.shapes)]
        values, gradients = self.by_hand(rows.T, *arrays)
        return values, np.concatenate([np.ravel(g) for g in gradients])


def squared(y):
    return (y - 0.5) ** 2


def of_softmax(z):
    """The loss for class 0."""
    return logsumexp([*z]) - z[0]


def of_softmax_by_hand(z):
    e = np.exp(z - z.max(axis=0))
    p = e / e.sum(axis=0)
    values = -np.log(p[0])
    p[0] -= 1.0
    return values, p


def network(x, w1, b1, w2, b2):
    h = np.tanh(w1 @ x + b1[:, None])
    values, dz = of_softmax_by_hand(w2 @ h + b2[:, None])
    dh = (w2.T @ dz) * (1 - h * h)
    return values, [dh @ x.T, dh.sum(axis=1), dz @ h.T, dz.sum(axis=1)]


def by_step(x, size):
    return x.reshape(len(x) // size, size, x.shape[1])


def rnn(x, u, w, b, v):
    x = by_step(x, u.shape[1])
    z = u @ x + b[:, None]
    hs = [np.tanh(z[0])]
    for t in range(1, len(x)):
        hs.append(np.tanh(w @ hs[-1] + z[t]))
    error = v @ hs[-1] - 0.5
    dh, dz, dw = v[:, None] * (2 * error), np.empty_like(z), np.zeros_like(w)
    for t in reversed(range(len(x))):
        dz[t] = dh * (1 - hs[t] ** 2)
        if t:
            dw += dz[t] @ hs[t - 1].T
            dh = w.T @ dz[t]
    du = (dz @ x.mT).sum(axis=0)
    return error**2, [du, dw, dz.sum(axis=(0, 2)), hs[-1] @ (2 * error)]


def attention(x, q, k, v):
    x = by_step(x, len(q)).transpose(2, 0, 1)
    a, b, c = x @ q, x @ k, x @ v
    s = np.exp(a @ b.mT)
    s /= s.sum(axis=2, keepdims=True)
    y = np.tanh(s @ c)
    error = y.sum(axis=(1, 2)) - 0.5
    dy = (2 * error)[:, None, None] * (1 - y * y)
    ds = dy @ c.mT
    ds = s * (ds - (ds * s).sum(axis=2, keepdims=True))
    da, db, dc = ds @ b, ds.mT @ a, s.mT @ dy
    return error**2, [(x.mT @ d).sum(axis=0) for d in (da, db, dc)]


def convolution(x, kernels, bias, v):
    side = math.isqrt(len(x))
    corners = (np.arange(0, side * (side - 2), side)[:, None] + np.arange(side - 2)).reshape(-1)
    patch = (np.arange(0, 3 * side, side)[:, None] + np.arange(3)).reshape(-1)
    patches = x[corners[:, None] + patch]  # (positions, 9, n)
    h = (kernels @ patches).swapaxes(0, 1) + bias[:, None, None]
    y = np.maximum(h, 0.0).reshape(len(v), -1)
    error = v @ y - 0.5
    dh = np.where(h > 0, (v[:, None] * (2 * error)).reshape(h.shape), 0.0)
    dk = (dh.swapaxes(0, 1) @ patches.mT).sum(axis=0)
    return error**2, [dk, dh.sum(axis=(1, 2)), y @ (2 * error)]


# -- The same as graphs ---------------------------------------------------------------------------


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
    "network": lambda n=64, h=32, k=10: Model(
        n, [(h, n), (h,), (k, h), (k,)],
        lambda x, w, b, v, c: of_softmax(v @ (w @ x + b).map(tanh) + c), network,
    ),
    "RNN": lambda steps=6, n=3, h=8: Model(steps * n, [(h, n), (h, h), (h,), (h,)], recurrence, rnn),
    "attention": lambda steps=6, n=4: Model(steps * n, [(n, n)] * 3, attending, attention),
    "convolution": lambda side=8, k=4: Model(
        side**2, [(k, 9), (k,), (k * (side - 2) ** 2,)], convolved, convolution
    ),
}  # fmt: skip
