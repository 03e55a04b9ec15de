"""The network that several benchmarks train: the same numbers for every peer."""

import math

import numpy as np

from autodiff import Expression, Matrix, Vector, dot, exp, logsumexp, nn, relu, tanh

try:
    import torch
except ImportError:  # no extra brings it
    torch = None
    print("PyTorch is not installed, and left out.")
else:
    torch.set_num_threads(1)


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

    def by_hand(self, lr=0.0):
        """The best that a person writes in NumPy: the sum of losses, its gradients, a step.

        Samples last, in place, nothing computed twice.
        """
        x, t = np.ascontiguousarray(self.x.T), np.ascontiguousarray(self.targets.T)
        w1, b1, w2, b2 = self.arrays()
        a, da, slope = [np.empty((len(w1), x.shape[1])) for _ in range(3)]
        z, zt = [np.empty((len(w2), x.shape[1])) for _ in range(2)]

        def epoch():
            np.matmul(w1, x, out=a)
            np.add(a, b1[:, None], out=a)
            np.tanh(a, out=a)
            np.matmul(w2, a, out=z)
            np.add(z, b2[:, None], out=z)
            np.subtract(z, z.max(axis=0), out=z)
            np.multiply(z, t, out=zt)
            np.exp(z, out=z)
            s = z.sum(axis=0)
            loss = np.log(s).sum() - zt.sum()
            np.divide(z, s, out=z)
            np.subtract(z, t, out=z)  # from here on the adjoint of z
            np.matmul(w2.T, z, out=da)
            np.multiply(a, a, out=slope)
            np.subtract(1.0, slope, out=slope)
            np.multiply(da, slope, out=da)
            gradients = da @ x.T, da.sum(axis=1), z @ a.T, z.sum(axis=1)
            for p, gradient in zip((w1, b1, w2, b2), gradients):
                p -= lr * gradient
            return loss, gradients

        return epoch

    def arrays(self):
        """The parameters as matrices and vectors: weight, bias, weight, bias."""
        n, h, k = self.sizes
        w1, b1, w2, b2 = np.split(self.p.copy(), np.cumsum([h * n, h, k * h]))
        return w1.reshape(h, n), b1, w2.reshape(k, h), b2

    def compiled(self, lr=0.0):
        """This package: one sample's loss, compiled for the batch."""
        x, target, loss = self.sample()
        program = Expression(loss).compile([x, target], self.parameters, xp=np, batch=True)
        rows = np.asfortranarray(np.hstack([self.x, self.targets]))  # as fit lays them out
        p = self.p.copy()

        def epoch():
            nonlocal p
            values, gradients = program(rows, p)
            p = p - lr * gradients
            return values.sum(), gradients

        return epoch

    def eager(self, samples):
        """This package, walking the graph of each sample."""
        rows = [(list(map(float, self.x[i])), int(self.classes[i])) for i in samples]

        def epoch():
            total = 0.0
            self.model.zero_grad()
            for x, target in rows:
                loss = nn.cross_entropy(self.model(x), target)
                loss.backward()
                total += loss.data
            return total, [p.grad for p in self.parameters]

        return epoch

    def scikit_learn(self, epochs):
        """Some epochs of MLPClassifier, full batch."""
        from sklearn.neural_network import MLPClassifier

        def fit():
            MLPClassifier(
                hidden_layer_sizes=self.sizes[1:2],
                activation="tanh",
                solver="sgd",
                alpha=0,
                batch_size=len(self.x),
                learning_rate_init=1e-4,
                momentum=0,
                max_iter=epochs,
                tol=0,
                n_iter_no_change=epochs,
                shuffle=False,
            ).fit(self.x, self.classes)

        return fit

    def torch(self, lr=0.0):
        """PyTorch in float64."""
        n, h, k = self.sizes
        model = torch.nn.Sequential(
            torch.nn.Linear(n, h), torch.nn.Tanh(), torch.nn.Linear(h, k)
        ).double()
        with torch.no_grad():
            for p, array in zip(model.parameters(), self.arrays()):
                p.copy_(torch.as_tensor(array))
        x, classes = torch.as_tensor(self.x), torch.as_tensor(self.classes)
        optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        cross_entropy = torch.nn.CrossEntropyLoss(reduction="sum")

        def epoch():
            optimizer.zero_grad()
            loss = cross_entropy(model(x), classes)
            loss.backward()
            optimizer.step()
            return loss.item(), [p.grad.numpy() for p in model.parameters()]

        return epoch

    def hips_autograd(self):
        """HIPS autograd over NumPy."""
        import autograd
        import autograd.numpy as anp
        from autograd.scipy.special import logsumexp

        x, t = self.x, self.targets

        def loss(w1, b1, w2, b2):
            z = anp.dot(anp.tanh(anp.dot(x, w1.T) + b1), w2.T) + b2
            return anp.sum(logsumexp(z, axis=1)) - anp.sum(z * t)

        gradient = autograd.value_and_grad(loss, argnum=(0, 1, 2, 3))
        arrays = self.arrays()
        return lambda: gradient(*arrays)

    def mygrad(self):
        """MyGrad over NumPy."""
        import mygrad
        from mygrad.nnet.losses import softmax_crossentropy

        x, classes = self.x, self.classes
        arrays = self.arrays()

        def epoch():
            w1, b1, w2, b2 = tensors = [mygrad.tensor(a) for a in arrays]
            z = mygrad.tanh(x @ w1.T + b1) @ w2.T + b2
            loss = softmax_crossentropy(z, classes) * len(x)
            loss.backward()
            return loss.item(), [p.grad for p in tensors]

        return epoch

    def micrograd(self, samples):
        """micrograd walking the scalars of some samples; its loss is built from what it has."""
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


def random_data(samples, features, classes, hidden):
    """Random numbers, for networks of any size."""
    rng = np.random.default_rng(0)
    targets = np.arange(samples) % classes
    return Network(rng.normal(size=(samples, features)), targets, hidden)


def digits():
    from sklearn.datasets import load_digits

    return Network(*load_digits(return_X_y=True), hidden=32)


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
