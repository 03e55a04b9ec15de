"""Programs that a person writes in NumPy for models of the catalogue, forward and back.

Samples come last: x is (features, n).
"""

import itertools
import math

import numpy as np


def by_hand(name, model, rows, p):
    """Values and gradients, as a compiled program of the model returns them."""
    ends = list(itertools.accumulate(map(math.prod, model.shapes), initial=0))
    parts = [p[a:b].reshape(shape) for a, b, shape in zip(ends, ends[1:], model.shapes)]
    values, gradients = PROGRAMS[name](rows.T, *parts)
    return values, np.concatenate(gradients, axis=None)


def by_step(x, size):
    return x.reshape(len(x) // size, size, x.shape[1])


def of_layer(w, below, dz):
    """The gradient of a matrix with a column for the bias."""
    gradient = np.empty_like(w)
    np.matmul(dz, below.T, out=gradient[:, :-1])
    dz.sum(axis=1, out=gradient[:, -1])
    return gradient


def lecture(x, u, v, w):
    """Each matrix has a column for the bias, (m, n + 1)."""
    x, y = x[:-1], x[-1]
    a = np.tanh(u[:, :-1] @ x + u[:, -1:])
    b = np.tanh(v[:, :-1] @ a + v[:, -1:])
    c = np.tanh(w[:, :-1] @ b + w[:, -1:])
    error = c - y
    dc = 2 * error * (1 - c * c)
    db = w[:, :-1].T * dc * (1 - b * b)
    da = v[:, :-1].T @ db * (1 - a * a)
    return (error * error)[0], [of_layer(u, x, da), of_layer(v, a, db), of_layer(w, b, dc)]


def demo(x, u, v, w):
    """The same with relu, a hinge, and a penalty, which counts for each sample."""
    x, y = x[:-1], x[-1]
    a = np.maximum(u[:, :-1] @ x + u[:, -1:], 0.0)
    b = np.maximum(v[:, :-1] @ a + v[:, -1:], 0.0)
    hinge = np.maximum(1 - y * (w[:, :-1] @ b + w[:, -1:]), 0.0)
    dc = -y * (hinge > 0)
    db = w[:, :-1].T * dc * (b > 0)
    da = v[:, :-1].T @ db * (a > 0)
    gradients = [of_layer(u, x, da), of_layer(v, a, db), of_layer(w, b, dc)]
    for p, gradient in zip((u, v, w), gradients):
        gradient += 2e-4 * len(y) * p
    penalty = np.vdot(u, u) + np.vdot(v, v) + np.vdot(w, w)
    return hinge[0] + 1e-4 * penalty, gradients


def linear(x, w, b):
    x, y = x[:-1], x[-1]
    error = w @ x + b - y
    d = 2 * error
    return error**2, [x @ d, d.sum()]


def cross_entropy(z):
    """The loss for class 0, and its derivative by the logits."""
    s = np.exp(z - z.max(axis=0))
    total = s.sum(axis=0)
    s /= total
    loss = -np.log(s[0])
    s[0] -= 1.0
    return loss, s


def softmax(x, w, b):
    loss, d = cross_entropy(w @ x + b[:, None])
    return loss, [d @ x.T, d.sum(axis=1)]


def network(x, w, b, v, c):
    h = np.tanh(w @ x + b[:, None])
    loss, dz = cross_entropy(v @ h + c[:, None])
    dh = v.T @ dz * (1 - h * h)
    return loss, [dh @ x.T, dh.sum(axis=1), dz @ h.T, dz.sum(axis=1)]


def residual(x, w, b, v, c, u):
    s = np.tanh(w @ x + b[:, None])
    h = x + s
    t = np.tanh(v @ h + c[:, None])
    y = h + t
    error = u @ y - 0.5
    d = 2 * error
    dy = u[:, None] * d
    dt = dy * (1 - t * t)
    dh = dy + v.T @ dt
    ds = dh * (1 - s * s)
    return error**2, [ds @ x.T, ds.sum(axis=1), dt @ h.T, dt.sum(axis=1), y @ d]


def tied(x, w):
    h = np.tanh(w @ x)
    error = w.T @ h - x
    d = 2 * error
    dz = (w @ d) * (1 - h * h)
    return (error * error).sum(axis=0), [dz @ x.T + h @ d.T]


def logistic(x, w, b):
    s = 1 / (1 + np.exp(-(w @ x + b)))
    d = s - 1
    return -np.log(s), [x @ d, d.sum()]


def lstm(x, *weights):
    gates, v = weights[:-1], weights[-1]
    u, w, b = (np.concatenate(gates[i::3]) for i in range(3))
    x, k = by_step(x, u.shape[1]), len(v)
    z = u @ x + b[:, None]
    h = c = np.zeros((k, x.shape[2]))
    steps = []
    for t in range(len(x)):
        a = z[t] + w @ h
        s, g = 1 / (1 + np.exp(-a[: 3 * k])), np.tanh(a[3 * k :])
        before = h, c
        c = s[k : 2 * k] * c + s[:k] * g
        r = np.tanh(c)
        h = s[2 * k :] * r
        steps.append((s, g, r, before))
    error = v @ h - 0.5
    dh, dc, dz, dw = v[:, None] * (2 * error), 0.0, np.empty_like(z), np.zeros_like(w)
    for t in reversed(range(len(x))):
        s, g, r, (h0, c0) = steps[t]
        dc = dc + dh * s[2 * k :] * (1 - r * r)
        ds = np.concatenate([dc * g, dc * c0, dh * r])
        dz[t, : 3 * k] = ds * s * (1 - s)
        dz[t, 3 * k :] = dc * s[:k] * (1 - g * g)
        dw += dz[t] @ h0.T
        dh, dc = w.T @ dz[t], dc * s[k : 2 * k]
    du, db = (dz @ x.mT).sum(axis=0), dz.sum(axis=(0, 2))
    parts = zip(*[np.split(d, 4) for d in (du, dw, db)])
    return error**2, [*[d for gate in parts for d in gate], h @ (2 * error)]


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


def conv1d(x, kernel, bias, v):
    size = len(kernel)
    patches = np.stack([x[i : i + len(v)] for i in range(size)])  # (taps, positions, n)
    h = np.tanh(np.tensordot(kernel, patches, 1) + bias)
    error = v @ h - 0.5
    d = 2 * error
    dh = v[:, None] * d * (1 - h * h)
    return error**2, [patches.reshape(size, -1) @ dh.ravel(), dh.sum(), h @ d]


def loops(x, kernel, v):
    side, size = math.isqrt(len(x)), len(kernel)
    image, out = x.reshape(side, side, -1), side - size + 1
    taps = [(r, c) for r in range(size) for c in range(size)]
    patches = np.stack([image[r : r + out, c : c + out] for r, c in taps])
    patches = patches.reshape(len(taps), len(v), -1)
    h = np.tanh(np.tensordot(kernel.ravel(), patches, 1))
    error = v @ h - 0.5
    d = 2 * error
    dh = v[:, None] * d * (1 - h * h)
    return error**2, [patches.reshape(len(taps), -1) @ dh.ravel(), h @ d]


PROGRAMS = {
    "lecture": lecture, "demo": demo, "linear": linear, "softmax": softmax, "network": network,
    "residual": residual, "tied": tied, "logistic": logistic, "RNN": rnn, "LSTM": lstm,
    "attention": attention, "conv1d": conv1d, "convolution": convolution, "loops": loops,
}  # fmt: skip
