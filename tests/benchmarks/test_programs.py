"""Recurrence, attention and convolutions as compiled programs, beside NumPy that a person writes.

Layers are in test_fit.py and test_lecture.py.
"""

import inspect
import math

import numpy as np
import pytest
from catalogue import MAKE

from autodiff import Expression, topological_order

# -- By hand: x is (features, n), and each program returns the values and a gradient for each array --


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
    s = a @ b.mT
    s -= s.max(axis=2, keepdims=True)  # as logsumexp does: large scores do not overflow
    np.exp(s, out=s)
    s /= s.sum(axis=2, keepdims=True)
    y = np.tanh(s @ c)
    error = y.sum(axis=(1, 2)) - 0.5
    dy = (2 * error)[:, None, None] * (1 - y * y)
    ds = dy @ c.mT
    ds -= (ds * s).sum(axis=2, keepdims=True)
    ds *= s
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


BY_HAND = {"RNN": rnn, "attention": attention, "convolution": convolution}
LARGE = [("RNN", (50, 8, 32)), ("attention", (16, 8)), ("convolution", (28, 8))]


@pytest.mark.parametrize(("name", "sizes"), [*[(name, ()) for name in BY_HAND], *LARGE])
def test_models_beside_the_programs_by_hand(side_by_side, name, sizes):
    """Value and gradients of 150 samples."""
    model, function = MAKE[name](*sizes), BY_HAND[name]
    program = Expression(model.loss).compile([model.x], model.parameters, xp=np, batch=True)
    rows = np.asfortranarray(model.rows(150))
    parts = np.split(model.p, np.cumsum([*map(math.prod, model.shapes)]))
    arrays = [part.reshape(shape) for part, shape in zip(parts, model.shapes)]

    def by_hand():
        values, gradients = function(rows.T, *arrays)
        return values, np.concatenate(gradients, axis=None)

    peers = {"hand-written NumPy": by_hand, "autodiff, compiled": lambda: program(rows, model.p)}
    (losses, gradient), (values, gradients) = [peer() for peer in peers.values()]
    assert np.sum(values) == pytest.approx(np.sum(losses), rel=1e-9)
    np.testing.assert_allclose(gradients, gradient, rtol=1e-6, atol=1e-8)
    written, lines = inspect.getsource(function).count("\n"), program.source.count("\n")
    side_by_side(f"{name} {sizes or ''}: {written} lines by hand, {lines} compiled", peers, 20)


@pytest.mark.parametrize("sizes", [(4, 10, 3), (64, 32, 10), (256, 64, 10), (784, 128, 10)])
def test_growth_with_the_width(side_by_side, sizes):
    """Recording and compiling, which come before the first epoch."""
    model = MAKE["network"](*sizes)
    expression = Expression(model.loss)
    peers = {
        "recording": lambda: MAKE["network"](*sizes),
        "compiling": lambda: expression.compile([model.x], model.parameters, xp=np, batch=True),
    }
    side_by_side(f"{sizes}: {len(topological_order(model.loss))} nodes", peers, 5)
