"""What several benchmarks train: classifiers, and graphs that are no networks."""

from types import SimpleNamespace

import numpy as np
import race

from autodiff import Expression, Matrix, Vector, dot, exp, logsumexp, relu, tanh

torch = race.torch
if not torch:
    print("PyTorch is not installed, and left out.")


def iris(n=None):
    from sklearn.datasets import load_iris

    return race.Task(load_iris(), 10, n)


def digits(n=None):
    from sklearn.datasets import load_digits

    return race.Task(load_digits(), 32, n)


def random_data(samples, features, classes, hidden):
    """Random numbers, for networks of any size."""
    data = np.random.default_rng(0).normal(size=(samples, features))
    return race.Task(SimpleNamespace(data=data, target=np.arange(samples) % classes), hidden)


def sizes(task):
    return [task.x.shape[1], len(task.layers[1]), task.t.shape[1]]


class ByHand:
    """The best that a person writes in NumPy: samples last, in place, nothing computed twice."""

    def __init__(self, task):
        self.x, self.t = np.ascontiguousarray(task.x.T), np.ascontiguousarray(task.t.T)
        self.p = task.p.copy()
        self.gradient = np.empty_like(self.p)
        n, h, k = sizes(task)
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


class Shape:
    """A graph of one sample that is not a plain network, and the same in PyTorch for a batch."""

    def __init__(self, name, inputs, parameters, output, forward, samples=100):
        self.name = name
        self.inputs, self.parameters = _leaves(inputs), _leaves(parameters)
        self.loss = (output - 0.5) ** 2
        self.forward, self.shapes = forward, [np.shape(p.data) for p in parameters]
        self.rows = np.random.default_rng(1).normal(size=(samples, len(self.inputs)))
        self.p = np.array([p.data for p in self.parameters])

    def compiled(self):
        program = self.program = Expression(self.loss).compile(
            self.inputs, self.parameters, xp=np, batch=True
        )
        rows = np.asfortranarray(self.rows)

        def epoch():
            values, gradients = program(rows, self.p)
            return values.sum(), [gradients]

        return epoch

    def torch(self):
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])[:-1]
        parts = [p.reshape(s) for p, s in zip(np.split(self.p, ends), self.shapes)]
        parameters = [torch.tensor(p, requires_grad=True) for p in parts]
        x = torch.tensor(self.rows)

        def epoch():
            for p in parameters:
                p.grad = None
            loss = ((self.forward(torch, x, *parameters) - 0.5) ** 2).sum()
            loss.backward()
            return loss.item(), [p.grad.numpy() for p in parameters]

        return epoch


def _leaves(arrays):
    return [x for array in arrays for x in getattr(array, "_entries", array)]


def recurrent(steps=50, hidden=32, features=8):
    """An Elman network, one output after the last step."""
    rng = np.random.default_rng(0)
    u, w = (
        Matrix(rng.normal(size=(hidden, features)) * 0.3),
        Matrix(rng.normal(size=(hidden, hidden)) * 0.1),
    )
    b, v = Vector(rng.normal(size=hidden) * 0.1), Vector(rng.normal(size=hidden))
    x, h = Matrix(rng.normal(size=(steps, features))), Vector([0.0] * hidden)
    for t in range(steps):
        h = (w @ h + u @ x[t] + b).map(tanh)

    def forward(torch, x, u, w, b, v):
        z = x.reshape(-1, steps, features) @ u.T + b
        h = torch.zeros((len(x), hidden), dtype=x.dtype)
        for t in range(steps):
            h = torch.tanh(h @ w.T + z[:, t])
        return h @ v

    return Shape(f"RNN, {steps} steps, {hidden} units", [x], [u, w, b, v], dot(v, h), forward)


def attention(positions=16, width=8):
    """One head of self-attention, and the sum of tanh of its outputs."""
    rng = np.random.default_rng(0)
    weights = [Matrix(rng.normal(size=(width, width)) * 0.3) for _ in range(3)]
    x = Matrix(rng.normal(size=(positions, width)))
    queries, keys, values = [x @ w for w in weights]
    shares = []
    for row in queries @ keys.T * width**-0.5:
        total = logsumexp([*row])
        shares.append([exp(score - total) for score in row])
    output = (Matrix(shares) @ values).map(tanh).sum()

    def forward(torch, x, *weights):
        x = x.reshape(-1, positions, width)
        queries, keys, values = [x @ w for w in weights]
        shares = torch.softmax(queries @ keys.mT * width**-0.5, dim=-1)
        return torch.tanh(shares @ values).sum(dim=(1, 2))

    return Shape(f"attention, {positions} positions of {width}", [x], weights, output, forward)


def convolution(size=28, filters=8):
    """A 3 x 3 convolution with relu, and a weight for each of its outputs."""
    rng = np.random.default_rng(0)
    kernels, bias = (
        Matrix(rng.normal(size=(filters, 9)) * 0.3),
        Vector(rng.normal(size=filters) * 0.1),
    )
    image, m = Matrix(rng.normal(size=(size, size))), size - 2
    pixels = [list(row) for row in image]
    outputs = []
    for kernel, b in zip(kernels, bias):
        for i in range(m):
            for j in range(m):
                patch = [pixels[i + r][j + c] for r in range(3) for c in range(3)]
                outputs.append(relu(dot([*kernel], patch) + b))
    v = Vector(rng.normal(size=len(outputs)) * 0.01)

    def forward(torch, x, kernels, bias, v):
        x = x.reshape(-1, 1, size, size)
        y = torch.nn.functional.conv2d(x, kernels.reshape(-1, 1, 3, 3), bias)
        return torch.relu(y).reshape(len(x), -1) @ v

    name = f"3 x 3 convolution of {size} x {size}, {filters} filters"
    return Shape(name, [image], [kernels, bias, v], dot(v, outputs), forward)
