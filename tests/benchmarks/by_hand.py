"""Programs that a person writes in NumPy for models of the catalogue, forward and back.

Samples come last: x is (features, n).
"""

import math

import numpy as np


def by_hand(name, model, rows, p):
    """Values and gradients, as a compiled program of the model returns them."""
    ends = np.cumsum([math.prod(shape) for shape in model.shapes])[:-1]
    arrays = [part.reshape(shape) for part, shape in zip(np.split(p, ends), model.shapes)]
    values, gradients = PROGRAMS[name](rows.T, *arrays)
    return values, np.concatenate([np.ravel(g) for g in gradients])


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


PROGRAMS = {"RNN": rnn, "attention": attention, "convolution": convolution}
