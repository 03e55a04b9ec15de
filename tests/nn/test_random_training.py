"""Random networks, losses, optimisers, batches and targets: walked = compiled = PyTorch."""

import random

import numpy as np
import pytest
from test_derivatives import TRANSFORMS, second

import autodiff as ad
from autodiff import nn, optim

LEAST = 1e-6  # the optimisers' eps: below it they make a step of the rounding of a gradient of 0
ACTIVATIONS = [  # with the functions of a library m
    lambda m, z: m.tanh(z), lambda m, z: m.relu(z), lambda m, z: m.log(1 + m.exp(z)),
    lambda m, z: m.sin(z), lambda m, z: abs(z), lambda m, z: z * m.sigmoid(z), lambda m, z: z,
]  # fmt: skip
BINARY = "binary_cross_entropy_with_logits"
KINDS = {  # a loss, the same of rows z by PyTorch's functions f, and n targets for k outputs
    "numbers": (nn.mse_loss, lambda f, z, t: f.mse_loss(z[:, 0], t), lambda rng, n, k: rng.normal(size=n)),
    "hinge": (nn.hinge_loss, lambda f, z, t: f.relu(1 - t * z[:, 0]).mean(),
              lambda rng, n, k: rng.choice([-1.0, 1.0], size=n)),
    "binary": (getattr(nn, BINARY), lambda f, z, t: getattr(f, BINARY)(z[:, 0], t),
               lambda rng, n, k: rng.uniform(size=n)),
    "rows": (nn.mse_loss, lambda f, z, t: f.mse_loss(z, t), lambda rng, n, k: rng.normal(size=(n, k))),
    "classes": (nn.cross_entropy, lambda f, z, t: f.cross_entropy(z, t), lambda rng, n, k: rng.integers(k, size=n)),
    "shares": (nn.cross_entropy, lambda f, z, t: f.cross_entropy(z, t), lambda rng, n, k: rng.dirichlet(np.ones(k), size=n)),
}  # fmt: skip
OPTIMIZERS = {  # what may be set, beside lr and weight_decay
    "SGD": {"momentum": [0.0, 0.9]},
    "Adagrad": {"eps": [LEAST]},
    "RMSprop": {"momentum": [0.0, 0.9], "alpha": [0.9, 0.99], "eps": [LEAST]},
    "Adam": {"betas": [(0.9, 0.999), (0.5, 0.8)], "eps": [LEAST]},
}


def along(f, x):
    """f by the first number of x alone: the others are beside it."""
    return lambda t: f(ad.Vector([t, *[*x][1:]]))


def by_adjoints(f, x):
    x.requires_grad_(True)
    return ad.adjoints(f(x), [x[0]], create_graph=True)[x[0]]


INSIDE = {  # of a function f of a Vector x: derivatives by its first number, and their order
    name: (lambda f, x, t=transform: t(along(f, x), x[0]), 1 + (formula is second))
    for name, (transform, formula) in TRANSFORMS.items()
    if name != "value"
}
INSIDE |= {
    "grad of a Vector": (lambda f, x: ad.grad(f)(x)[0], 1),
    "jacrev of a Vector": (lambda f, x: ad.jacrev(f)(x)[0], 1),
    "hvp of a Vector": (lambda f, x: ad.hvp(f, x, [1.0] + [0.0] * (len(x) - 1))[0], 2),
    "adjoints": (by_adjoints, 1),
    "a weight": (None, 1),  # by the first of the last layer instead
}


CHANGES = {  # what a loss may do to the list it is given: half of the last entry is left
    "pops": lambda p: [p.append(p.pop() / 2.0)],
    "appends": lambda p: [p.append(p[-1] / 2.0), p.pop(-2)],
    "writes": lambda p: [p.__setitem__(-1, p[-1] / 2.0)],
}


def of_ones_own(kind):
    """The optimiser, with a `change` that decays weights itself: it reads them, and their grad."""

    class Own(kind):
        decay = 0.0

        def change(self, grad, state):
            trained = [p for p in self.params if p.requires_grad]
            assert grad.tolist() == [p.grad for p in trained]
            return super().change(np.array([p.grad + self.decay * p.data for p in trained]), state)

    return Own


class Task:
    """A network, data, a loss and an optimiser, drawn at random; for both libraries."""

    def __init__(self, seed, share):
        draw, rng = random.Random(seed), np.random.default_rng(seed)
        self.sizes = [draw.randint(1, 5) for _ in range(draw.randint(2, 4))]
        self.activations = [draw.choice(ACTIVATIONS) for _ in self.sizes[2:]] + ACTIVATIONS[-1:]
        self.biases = [draw.random() < 0.7 for _ in self.sizes[1:]]
        self.residual = draw.random() < 0.3  # x + layer(x) where the sizes allow it
        self.frozen = draw.random() < 0.2 and len(self.sizes) > 2
        self.n, self.epochs = draw.randint(2, 12), draw.randint(1, 5)
        self.batch_size = draw.choice([None, 1, 2, 3, 5, self.n, 20])
        self.xs = rng.normal(size=(self.n, self.sizes[0]))
        kinds = list(KINDS)[:4] if self.sizes[-1] == 1 else list(KINDS)[3:]
        self.loss, self.of_rows, targets = KINDS[draw.choice(kinds)]
        self.targets = targets(rng, self.n, self.sizes[-1])
        self.change = draw.choice([None, None, *CHANGES])
        self.own = draw.random() < 0.3
        self.penalty = draw.choice([0.0, 0.0, 0.01])
        self.name, self.seed, self.nudge = draw.choice([*OPTIMIZERS]), seed, None
        given = {"lr": [0.001, 0.01, 0.05], "weight_decay": [0.0, 0.01], **OPTIMIZERS[self.name]}
        self.settings = {name: draw.choice(among) for name, among in given.items()}
        self.inside = draw.choice([*INSIDE]) if draw.random() < share else None

    def forward(self, x, layers, apply):
        """The layers, each applied to x."""
        for layer, activation in zip(layers, self.activations):
            z = apply(layer, activation, x)
            x = x + z if self.residual and x.shape == z.shape else z
        return x

    def ours(self, engine):
        """Losses and weights by fit."""
        sizes = zip(self.sizes, self.sizes[1:], self.biases)
        layers = [nn.Linear(a, b, bias=bias, seed=i) for i, (a, b, bias) in enumerate(sizes)]
        model = nn.Sequential(*layers)

        def outputs(x):
            return self.forward(x, layers, lambda layer, f, x: layer(x).map(lambda z: f(ad, z)))

        def forward(x):
            if self.inside == "a weight":
                z, w = outputs(x), layers[-1].weight[0][0]
                return given(z), ad.adjoints(z.sum(), [w], create_graph=True)[w]
            if self.inside:
                slope = INSIDE[self.inside][0](lambda x: outputs(x).sum(), x)
                return given(outputs(x)), slope**2
            return given(outputs(x)), 0.0

        def given(z):
            return [*z] if self.change else z

        def loss(prediction, target):
            if self.change:
                CHANGES[self.change](prediction[0])
            found = self.loss(prediction[0], target) + 0.1 * prediction[1]
            if self.penalty:
                found = found + self.penalty * ad.sum([p * p for p in layers[-1].weight[0]])
            return found

        if self.frozen:
            layers[0].weight.requires_grad_(False)
        for p in model.parameters() if self.nudge else ():
            p.data += self.nudge.choice([-1, 1]) * np.spacing(p.data)
        self.start = np.array([p.data for p in model.parameters()])
        kind, settings = getattr(optim, self.name), dict(self.settings)
        if self.own:
            kind = of_ones_own(kind)
            kind.decay = settings.pop("weight_decay")
        optimizer = kind(model.parameters(), **settings)
        history = nn.fit(
            forward, self.xs, self.targets, loss, optimizer, self.epochs, self.batch_size,
            progress=False, seed=self.seed, engine=engine,
        )  # fmt: skip
        assert history.engine == engine
        return np.array(history.losses), np.array([p.data for p in model.parameters()])

    def by_torch(self):
        """Losses and weights by PyTorch."""
        import torch

        layers = [
            torch.nn.Linear(a, b, bias=bias).double()
            for a, b, bias in zip(self.sizes, self.sizes[1:], self.biases)
        ]
        parameters = [p for layer in layers for p in layer.parameters()]
        torch.nn.utils.vector_to_parameters(torch.as_tensor(self.start), parameters)
        parameters[0].requires_grad_(not self.frozen)
        trained = [p for p in parameters if p.requires_grad]
        optimizer = getattr(torch.optim, self.name)(trained, **self.settings)
        xs, ts = torch.as_tensor(self.xs), torch.as_tensor(self.targets)
        losses, size, rng = [], self.batch_size or self.n, np.random.default_rng(self.seed)
        for _ in range(self.epochs):
            order = np.arange(self.n) if size >= self.n else rng.permutation(self.n)
            total = 0.0
            for batch in torch.split(torch.as_tensor(order), size):
                optimizer.zero_grad()
                x = xs[batch].requires_grad_(True)
                z = self.forward(x, layers, lambda layer, f, x: f(torch, layer(x)))
                changed = torch.cat([z[:, :-1], z[:, -1:] / 2.0], dim=1) if self.change else z
                loss = self.of_rows(torch.nn.functional, changed, ts[batch])
                if self.inside == "a weight":
                    (slopes,) = torch.autograd.grad(z.sum(), layers[-1].weight, create_graph=True)
                    loss = loss + 0.1 * slopes[0, 0] / len(batch)
                elif self.inside:
                    slopes = z.sum(1)
                    for _ in range(INSIDE[self.inside][1]):
                        (slopes,) = torch.autograd.grad(
                            slopes.sum(), x, create_graph=True, materialize_grads=True
                        )
                        slopes = slopes[:, 0]
                        if not slopes.requires_grad:
                            break
                    loss = loss + 0.1 * (slopes**2).mean()
                loss = loss + self.penalty * (layers[-1].weight[0] ** 2).sum()
                loss.backward()
                optimizer.step()
                total += loss.item() * len(batch)
            losses.append(total / self.n)
        return losses, torch.nn.utils.parameters_to_vector(parameters).detach().numpy()


def outcome(task, engine):
    """Losses and weights, or the error of a training that diverged."""
    try:
        return task.ours(engine)
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


def check(seed, peer, share=0.0):
    compare(Task(seed, share), peer)


def compare(task, peer):
    """Both engines, or one and PyTorch; of a training that explodes the epochs before."""
    walked, compiled = outcome(task, "eager"), outcome(task, "compiled")
    if isinstance(walked, str) or isinstance(compiled, str):
        assert compiled == walked, vars(task)
        return
    if task.epochs > 1 and np.max(walked[0]) > 1e6:  # then last places at the start make any factor
        task.epochs -= 1
        compare(task, peer)
        return
    tolerances = allowed(task, walked)
    other = task.by_torch() if peer == "PyTorch" else compiled
    for found, expected, tolerance in zip(other, walked, tolerances):
        np.testing.assert_allclose(
            found, expected, rtol=1e-12, atol=tolerance, err_msg=str(vars(task))
        )


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
@pytest.mark.parametrize("share", [0.0, 1.0])  # of those with a derivative inside
@peers(compiled=1000, by_torch=100)
def test_walked_is_the_peer_for_a_thousand(number, peer, share, seed):
    check((seed + number) % 2**32, peer, share)
