"""The network that several benchmarks train: the same numbers for every peer."""

import math

import numpy as np

from autodiff import Expression, Vector, nn, tanh


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
        """What a person writes in NumPy: the sum of losses, its gradients, a step."""
        x, t = self.x, self.targets
        w1, b1, w2, b2 = self.arrays()

        def epoch():
            a = np.tanh(x @ w1.T + b1)
            z = a @ w2.T + b2
            z = z - z.max(axis=1, keepdims=True)
            e = np.exp(z)
            s = e.sum(axis=1, keepdims=True)
            loss = (np.log(s)[:, 0] - (z * t).sum(axis=1)).sum()
            dz = e / s - t
            da = (dz @ w2) * (1 - a * a)
            gradients = da.T @ x, da.sum(axis=0), dz.T @ a, dz.sum(axis=0)
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
        rows, p = np.hstack([self.x, self.targets]), self.p.copy()

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
        import torch

        torch.set_num_threads(1)
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


def random_data(samples, features, classes, hidden):
    """Numbers without meaning, for networks of any size."""
    rng = np.random.default_rng(0)
    targets = np.arange(samples) % classes
    return Network(rng.normal(size=(samples, features)), targets, hidden)


def digits():
    from sklearn.datasets import load_digits

    return Network(*load_digits(return_X_y=True), hidden=32)
