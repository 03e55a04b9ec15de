"""Random networks, losses, optimisers, batches and targets: walked = compiled = PyTorch."""

import random

import numpy as np
import pytest

import autodiff as ad
from autodiff import Vector, nn, optim

try:
    import torch
except ImportError:  # the tests that are marked by it are skipped
    torch = None

ACTIVATIONS = ["tanh", "relu", "sigmoid", "softplus", "sin", "abs", "swish", None]
LEAST = 1e-6  # the optimisers' eps: below it they make a step of the rounding of a gradient of 0


def softplus_by_torch(z):
    return torch.logaddexp(z, torch.zeros_like(z))  # theirs is z itself above 20: off by 2e-9


class Task:
    """A network, data, a loss and an optimiser, drawn at random; for both libraries."""

    def __init__(self, seed):
        draw = self.draw = random.Random(seed)
        self.sizes = [draw.randint(1, 5) for _ in range(draw.randint(2, 4))]
        self.activations = [draw.choice(ACTIVATIONS) for _ in self.sizes[2:]] + [None]
        self.biases = [draw.random() < 0.7 for _ in self.sizes[1:]]
        self.residual = draw.random() < 0.3  # x + layer(x) where the sizes allow it
        self.frozen = draw.random() < 0.2 and len(self.sizes) > 2
        self.n = draw.randint(2, 12)
        self.batch_size = draw.choice([None, 1, 2, 3, 5, self.n, 20])
        self.epochs, self.seed, self.nudge = draw.randint(1, 5), seed, None
        rng = np.random.default_rng(seed)
        self.xs = rng.normal(size=(self.n, self.sizes[0]))
        kinds = ["numbers", "rows", "hinge", "binary"] if self.sizes[-1] == 1 else ["rows"]
        kinds += ["classes", "one-hot", "shares"] if self.sizes[-1] > 1 else []
        self.kind = draw.choice(kinds)
        self.targets = self._targets(rng, self.sizes[-1])
        self.penalty = draw.choice([0.0, 0.0, 0.01])
        self.name, self.settings = self._optimizer()

    def __repr__(self):
        return f"Task({self.seed}) with {vars(self)}"

    def _targets(self, rng, k):
        n, draw = self.n, self.draw
        if self.kind == "numbers":
            return draw.choice([rng.normal(size=n).tolist(), rng.normal(size=n), [1, 2.0] * n])[:n]
        if self.kind == "rows":
            rows = rng.normal(size=(n, k))
            return draw.choice(
                [rows, rows.tolist(), [Vector(row) for row in rows], [[0.5] * k] * n]
            )
        if self.kind == "hinge":
            return draw.choice([[1, -1] * n, [1.0] * n, rng.choice([-1, 1], size=n)])[:n]
        if self.kind == "binary":
            return draw.choice([rng.uniform(size=n), [0, 1] * n, [True, False] * n])[:n]
        classes = rng.integers(k, size=n)
        if self.kind == "classes":
            return draw.choice([classes, classes.tolist(), [0] * n])
        if self.kind == "one-hot":
            return draw.choice([np.eye(k)[classes], np.eye(k, dtype=int)[classes].tolist()])
        return rng.dirichlet(np.ones(k), size=n)

    def _optimizer(self):
        draw = self.draw
        name = draw.choice(["SGD", "Adagrad", "RMSprop", "Adam"])
        settings = {"lr": draw.choice([0.001, 0.01, 0.05])}
        settings["weight_decay"] = draw.choice([0.0, 0.01])
        if name in ("SGD", "RMSprop"):
            settings["momentum"] = draw.choice([0.0, 0.9])
        if name == "RMSprop":
            settings["alpha"] = draw.choice([0.9, 0.99])
        if name == "Adam":
            settings["betas"] = draw.choice([(0.9, 0.999), (0.5, 0.8)])
        return name, settings | ({} if name == "SGD" else {"eps": LEAST})

    def network(self, library):
        """A function of rows or a sample, from a list of weights and biases; the same for both."""
        m = {"tanh": library.tanh, "sigmoid": library.sigmoid, "sin": library.sin}
        m |= {"relu": torch.nn.functional.relu if library is torch else ad.relu, "abs": abs}
        m |= {"softplus": softplus_by_torch if library is torch else ad.softplus}
        m |= {"swish": lambda z: z * library.sigmoid(z), None: lambda z: z}

        def forward(layers, x):
            for (weight, bias), name in zip(layers, self.activations):
                z = x @ weight.T if library is torch else weight @ x
                z = z if bias is None else z + bias
                z = m[name](z) if library is torch or name is None else z.map(m[name])
                x = x + z if self.residual and x.shape == z.shape else z
            return x

        return forward

    def ours(self, engine):
        """Losses and weights by fit."""
        task, forward = self, self.network(ad)

        class Network(nn.Module):
            def __init__(self):
                sizes = zip(task.sizes, task.sizes[1:], task.biases)
                self.layers = [
                    nn.Linear(a, b, bias=bias, seed=i) for i, (a, b, bias) in enumerate(sizes)
                ]

            def forward(self, x):
                return forward([(layer.weight, layer.bias) for layer in self.layers], x)

        model = Network()
        if self.frozen:
            model.layers[0].weight.requires_grad_(False)
        of_kind = {
            "hinge": nn.hinge_loss,
            "binary": nn.binary_cross_entropy_with_logits,
            "numbers": nn.mse_loss,
            "rows": nn.mse_loss,
        }.get(self.kind, nn.cross_entropy)

        def loss(prediction, target):
            target = int(target) if self.kind == "binary" and type(target) is bool else target
            found = of_kind(prediction, target)
            if self.penalty:
                found = found + self.penalty * ad.sum([p * p for p in model.layers[-1].weight[0]])
            return found

        for p in model.parameters() if self.nudge else ():
            p.data += self.nudge.choice([-1, 1]) * np.spacing(p.data)
        self.start = [p.data for p in model.parameters()]
        optimizer = getattr(optim, self.name)(model.parameters(), **self.settings)
        history = nn.fit(
            model, self.xs, self.targets, loss, optimizer, self.epochs, self.batch_size,
            progress=False, seed=self.seed, engine=engine,
        )  # fmt: skip
        assert history.engine == engine
        return history.losses, [p.data for p in model.parameters()]

    def by_torch(self):
        """Losses and weights by PyTorch."""
        numbers, layers = iter(self.start), []
        for a, b, bias in zip(self.sizes, self.sizes[1:], self.biases):
            weight = torch.tensor([[next(numbers) for _ in range(a)] for _ in range(b)]).double()
            shift = torch.tensor([next(numbers) for _ in range(b)]).double() if bias else None
            layers.append([weight, shift])
        start = np.array(self.start)
        for layer in layers:  # tensors of Python floats are float32: in full, from the array
            for part in [part for part in layer if part is not None]:
                part.copy_(torch.as_tensor(start[: part.numel()]).reshape(part.shape))
                start = start[part.numel() :]
                part.requires_grad_()
        if self.frozen:
            layers[0][0].requires_grad_(False)
        forward, f = self.network(torch), torch.nn.functional
        xs, order = torch.as_tensor(self.xs), np.random.default_rng(self.seed)
        rows = [t.data if isinstance(t, Vector) else t for t in self.targets]
        ts = torch.as_tensor(np.array(rows, dtype=int if self.kind == "classes" else float))

        def loss(batch):
            z, t = forward(layers, xs[batch]), ts[batch]
            if self.kind == "hinge":
                found = f.relu(1 - t * z[:, 0]).mean()
            elif self.kind == "binary":
                found = f.binary_cross_entropy_with_logits(z[:, 0], t)
            elif self.kind in ("numbers", "rows"):
                found = f.mse_loss(z, t.reshape(z.shape))
            else:
                found = f.cross_entropy(z, t)
            return found + self.penalty * (layers[-1][0][0] ** 2).sum()

        parameters = [part for layer in layers for part in layer if part is not None]
        trained = [p for p in parameters if p.requires_grad]
        optimizer = getattr(torch.optim, self.name)(trained, **self.settings)
        losses, size = [], self.batch_size or self.n
        for _ in range(self.epochs):
            numbers = np.arange(self.n) if size >= self.n else order.permutation(self.n)
            total = 0.0
            for batch in [numbers[i : i + size] for i in range(0, self.n, size)]:
                optimizer.zero_grad()
                found = loss(torch.as_tensor(batch))
                found.backward()
                optimizer.step()
                total += found.item() * len(batch)
            losses.append(total / self.n)
        return losses, np.concatenate([p.detach().numpy().ravel() for p in parameters])


def outcome(task, engine):
    """Losses and weights, or the error of a training that diverged."""
    try:
        return [np.array(found) for found in task.ours(engine)]
    except FloatingPointError as error:
        return str(error).partition(" (")[0]  # it names the epoch in which it diverged


def allowed(task, walked):
    """How far rounding may move losses and weights: ten times what last places at the start do.

    Training can be ill-conditioned: a few steps of RMSprop with momentum may make 1e-8 of 1e-16. So
    the task is walked three times more, each input and weight one unit in the last place up or
    down. The 1e-12 is for what these do not move: some thousand roundings of numbers about 1. And
    where terms cancel, one engine may leave 1e-16 of a gradient, the other none: RMSprop and its
    kin divide it by its own size and eps, so it moves a weight by up to lr 1e-16 / eps a step.
    """
    xs, rng, moved = task.xs, np.random.default_rng(task.seed), []
    for _ in range(3):
        task.xs, task.nudge = xs + rng.choice([-1, 1], size=xs.shape) * np.spacing(xs), rng
        again = outcome(task, "eager")
        diverged = isinstance(again, str)
        moved.append([np.inf if diverged else np.max(abs(a - b)) for a, b in zip(again, walked)])
    task.xs, task.nudge = xs, None
    steps = task.epochs * -(-task.n // (task.batch_size or task.n))
    cancelled = steps * task.settings["lr"] * 1e-16 / task.settings.get("eps", 1.0)
    return 1e-12 + cancelled + 10 * np.max(moved, axis=0)


def check(seed, peer):
    task = Task(seed)
    walked, compiled = outcome(task, "eager"), outcome(task, "compiled")
    if isinstance(walked, str) or isinstance(compiled, str):
        assert compiled == walked, task
        return
    tolerances = allowed(task, walked)
    other = task.by_torch() if peer == "PyTorch" else compiled
    for found, expected, tolerance in zip(other, walked, tolerances):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=tolerance, err_msg=task)


def peers(compiled, by_torch):
    """So many tasks for each peer."""
    torched = [pytest.param("PyTorch", i, marks=pytest.mark.torch) for i in range(by_torch)]
    return pytest.mark.parametrize(
        ("peer", "number"), [("compiled", i) for i in range(compiled)] + torched
    )


@peers(compiled=25, by_torch=25)
def test_walked_is_the_peer(number, peer):
    check(number, peer)


@pytest.mark.thorough
@peers(compiled=1000, by_torch=100)
def test_walked_is_the_peer_for_a_thousand(number, peer, seed):
    check((seed + number) % 2**32, peer)
