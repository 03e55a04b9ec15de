"""Models: the loss of one sample as a graph of scalars."""

import math
import random

import micrograd.nn
import numpy as np

import autodiff as ad
from autodiff import Matrix, Value, Vector, dot, exp, logsumexp, relu, sigmoid, tanh

rng = np.random.default_rng(0)


class Model:
    """`loss` is the graph of a function of x and the parameters: those of a network, or arrays."""

    def __init__(self, features, loss, *shapes, network=None):
        self.x, self.shapes = Vector(rng.normal(size=features)), shapes
        if network:
            self.parameters, self.loss = network.parameters(), loss(self.x, network)
        else:
            draws = [rng.normal(size=s) / np.sqrt(s[-1]) for s in shapes]
            arrays = [Vector(d) if d.ndim == 1 else Matrix(d) for d in draws]
            self.parameters = [p for a in arrays for p in getattr(a, "_entries", a)]
            self.loss = loss(self.x, *arrays)
        self.p = np.array([p.data for p in self.parameters])

    def rows(self, n):
        return np.random.default_rng(1).normal(size=(n, len(self.x)))


def shuffled(model):
    """The same model, with its parameters in any order."""
    order = np.random.default_rng(0).permutation(len(model.p))
    model.parameters, model.p = [model.parameters[i] for i in order], model.p[order]
    return model


# -- The lecture's classes as they stand ----------------------------------------------------------


class Neuron:
    def __init__(self, nin):
        self.w = [Value(random.uniform(-1, 1)) for _ in range(nin)]
        self.b = Value(random.uniform(-1, 1))

    def __call__(self, x):
        # w * x + b
        act = sum((wi * xi for wi, xi in zip(self.w, x)), self.b)
        out = act.tanh()
        return out  # noqa: RET504

    def parameters(self):
        return self.w + [self.b]


class Layer:
    def __init__(self, nin, nout):
        self.neurons = [Neuron(nin) for _ in range(nout)]

    def __call__(self, x):
        outs = [n(x) for n in self.neurons]
        return outs[0] if len(outs) == 1 else outs

    def parameters(self):
        return [p for neuron in self.neurons for p in neuron.parameters()]


class MLP:
    def __init__(self, nin, nouts):
        sz = [nin] + nouts
        self.layers = [Layer(sz[i], sz[i + 1]) for i in range(len(nouts))]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def parameters(self):
        return [p for layer in self.layers for p in layer.parameters()]


def of_neurons(make, loss, inputs, *sizes):
    random.seed(0)
    return Model(inputs + 1, loss, network=make(inputs, [*sizes]))


def lecture(*sizes):
    return of_neurons(MLP, lambda x, f: (f([*x][:-1]) - x[-1]) ** 2, *sizes or (4, 16, 16, 1))


def of_ours(network):
    """micrograd's network, with our numbers in its neurons."""
    for neuron in [neuron for layer in network.layers for neuron in layer.neurons]:
        neuron.w, neuron.b = [Value(w.data) for w in neuron.w], Value(neuron.b.data)
    return network


def hinge(x, model):
    *xrow, yi = x
    data_loss = (1 + -yi * model(xrow)).relu()
    alpha = 1e-4
    reg_loss = alpha * sum(p * p for p in model.parameters())
    return data_loss + reg_loss


def demo(*sizes):
    """micrograd's, with numbers of ours."""
    mlp = micrograd.nn.MLP
    return of_neurons(lambda *given: of_ours(mlp(*given)), hinge, *sizes or (2, 16, 16, 1))


# -- Layers ---------------------------------------------------------------------------------------


def squared(y):
    return (y - 0.5) ** 2


def linear(x, w, b):
    return (dot(w, x[:-1]) + b[0] - x[-1]) ** 2


def softmax(x, w, b):
    z = w @ x + b
    return logsumexp([*z]) - z[0]


def classified(x, w, b, v, c):
    """The loss for class 0."""
    return softmax((w @ x + b).map(tanh), v, c)


def residual(x, w, b, v, c, u):
    h = x + (w @ x + b).map(tanh)
    return squared(dot(u, h + (v @ h + c).map(tanh)))


def tied(x, w):
    """An autoencoder: one matrix there and back."""
    error = w.T @ (w @ x).map(tanh) - x
    return (error * error).sum()


def logistic(x, w, b):
    """Written by hand."""
    z = sum(wi * xi for wi, xi in zip(w, x)) + b[0]
    return -ad.log(1 / (1 + (-z).exp()))


def split(x, size):
    return [x[i : i + size] for i in range(0, len(x), size)]


def recurrence(x, u, w, b, v):
    h = Vector([0.0] * len(v))
    for step in split(x, u.shape[1]):
        h = (w @ h + u @ step + b).map(tanh)
    return squared(dot(v, h))


def memory(x, *weights):
    """An LSTM: three matrices for each of its four gates."""
    gates, v = split(weights[:-1], 3), weights[-1]
    h = c = Vector([0.0] * len(v))
    for step in split(x, gates[0][0].shape[1]):
        i, f, o, g = (u @ step + w @ h + b for u, w, b in gates)
        c = f.map(sigmoid) * c + i.map(sigmoid) * g.map(tanh)
        h = o.map(sigmoid) * c.map(tanh)
    return squared(dot(v, h))


def attending(x, q, k, v):
    rows = Matrix([[*step] for step in split(x, q.shape[0])])
    a, b, c = rows @ q, rows @ k, rows @ v
    shares = []
    for row in a @ b.T:
        total = logsumexp([*row])
        shares.append([exp(score - total) for score in row])
    return squared((Matrix(shares) @ c).map(tanh).sum())


def slid(x, kernel, bias, v):
    size = len(kernel)
    h = [dot(kernel, x[i : i + size]) + bias[0] for i in range(len(x) - size + 1)]
    return squared(dot(v, [*map(tanh, h)]))


def convolved(x, kernels, bias, v):
    side, outputs = math.isqrt(len(x)), []
    for kernel, b in zip(kernels, bias):
        for corner in range(side * (side - 2)):
            if corner % side < side - 2:
                patch = [x[corner + r * side + c] for r in range(3) for c in range(3)]
                outputs.append(relu(dot([*kernel], patch) + b))
    return squared(dot(v, outputs))


def looped(x, kernel, v):
    """One kernel over an image, product by product."""
    side, outputs = math.isqrt(len(x)), []
    size = len(kernel)
    for i in range(side - size + 1):
        for j in range(side - size + 1):
            total = 0.0
            for r in range(size):
                for c in range(size):
                    total = total + kernel[r][c] * x[(i + r) * side + j + c]
            outputs.append(tanh(total))
    return squared(sum(a * b for a, b in zip(v, outputs)))


MAKE = {
    "lecture": lecture,
    "demo": demo,
    "linear": lambda n=8: Model(n + 1, linear, (n,), (1,)),
    "softmax": lambda n=4, k=3: Model(n, softmax, (k, n), (k,)),
    "network": lambda n=64, h=32, k=10: Model(n, classified, (h, n), (h,), (k, h), (k,)),
    "residual": lambda n=8: Model(n, residual, (n, n), (n,), (n, n), (n,), (n,)),
    "tied": lambda n=8, h=5: Model(n, tied, (h, n)),
    "logistic": lambda n=8: Model(n, logistic, (n,), (1,)),
    "RNN": lambda steps=6, n=3, h=8: Model(steps * n, recurrence, (h, n), (h, h), (h,), (h,)),
    "LSTM": lambda steps=5, n=3, h=8: Model(steps * n, memory, *[(h, n), (h, h), (h,)] * 4, (h,)),
    "attention": lambda steps=6, n=4: Model(steps * n, attending, *[(n, n)] * 3),
    "conv1d": lambda n=16, k=5: Model(n, slid, (k,), (1,), (n - k + 1,)),
    "convolution": lambda side=8, k=4: Model(
        side**2, convolved, (k, 9), (k,), (k * (side - 2) ** 2,)
    ),
    "loops": lambda side=8, k=3: Model(side**2, looped, (k, k), ((side - k + 1) ** 2,)),
    "shuffled": lambda *sizes: shuffled(lecture(*sizes)),
}
