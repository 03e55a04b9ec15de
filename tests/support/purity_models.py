"""Models and losses as people write them: 48 that `fit` has to compile, 46 that it may not trust.

A row is a function of a model and its input, of a model, its prediction and a target, or of
nothing: then it returns a `Training`. Whatever else the rows of PURE do, they are pure functions of
input and parameters. Those of IMPURE are not, or look at numbers; this becomes of them:

    looks      refused while recording, by the line that ends in `# looks`: walked with a warning
    found      told apart from its program by a second trace or a few samples: walked with a warning
    callback   pure between the callbacks that change it: follows from the next epoch on
    named      not found: the docstring of `fit` says so
"""

import contextlib
import copy
import functools
import inspect
import itertools
import logging
import math
import operator
import os
import random
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import autodiff as ad
from autodiff import Matrix, Value, Vector, nn

numbers = random.Random(3)
INPUTS = [[numbers.uniform(-1, 1) for _ in range(4)] for _ in range(8)]
NUMBERS = [a * b - c for a, b, c, _ in INPUTS]
CLASSES = [int(a > b) + int(a > 0.3) for a, b, *_ in INPUTS]
MEAN, STD = np.mean(INPUTS, axis=0), np.std(INPUTS, axis=0)


class Net(nn.Module):
    """A model that does what a row says, with layers and notes of its own."""

    scale, offsets = Value(2.0), (0.1, 0.2)
    scale.requires_grad = False
    basis = encoding = last = None

    def __init__(self, row=None, outputs=1):
        self.row = row or Net.plain
        self.hidden = nn.Linear(4, 3, activation=ad.tanh, seed=0)
        self.block = nn.Linear(3, 3, activation=ad.relu, seed=1)
        self.out = nn.Linear(3, outputs, seed=2)
        self.square = nn.Linear(4, 4, seed=3)
        self.w, self.b = Vector([0.1, -0.2, 0.3, 0.4]), Value(0.5)
        self.calls, self.notes, self.recent, self.cache, self.mean = 0, [], deque(maxlen=2), {}, 0.0
        self.rng, self.of_numpy = random.Random(0), np.random.default_rng(0)
        self.hooks = [
            lambda layer, y: self.cache.update({id(layer): y}),
            lambda layer, y: self.notes.append(y.shape),
        ]
        self.parts = [{"act": (ad.tanh, self.block)}]
        halved = self.hidden.weight / 2.0
        self.project = lambda x: halved @ x

    @functools.cached_property
    def columns(self):
        return self.hidden.weight.T  # the same Values

    @functools.cached_property
    def positive(self):
        return ad.exp(self.out.weight)

    def plain(self, x):
        return self.out(self.hidden(x))

    def forward(self, x):
        return self.row(self, x)


class Training(NamedTuple):
    """What `fit` takes; parameters: those of a model that is no Module."""

    model: Any
    loss: Any = nn.mse_loss
    inputs: Any = INPUTS
    targets: Any = NUMBERS
    parameters: Any = None
    callback: Any = None


def training(row):
    """The training of a row, made anew."""
    random.seed(0)
    np.random.seed(0)
    arguments = len(inspect.signature(row).parameters)
    if arguments == 2:
        return Training(Net(row))
    if arguments == 3:
        return Training(model := Net(outputs=3), partial(row, model), targets=CLASSES)
    return row()


def rows(table):
    return {name: row for name, row in vars(table).items() if not name.startswith("_")}


# -- Pure -----------------------------------------------------------------------------------------


@functools.lru_cache
def binomial(n, k):
    return 1.0 if k in (0, n) else binomial(n - 1, k - 1) + binomial(n - 1, k)


def counted(function):
    @functools.wraps(function)
    def wrapper(*given):
        wrapper.calls += 1
        return function(*given)

    wrapper.calls = 0
    return wrapper


@contextlib.contextmanager
def timed(name, seconds):
    start = time.perf_counter()
    with ad.scope(name):
        yield
    seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - start


@ad.operation
def swish(x):
    s = ad.sigmoid(x)
    return x * s, lambda grad: (grad * (s + x * s * (1 - s)),)


LOG = logging.getLogger("model")
SMOOTH = np.array([[0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0.5, 0.5], [0, 0, 0, 1]])
SEEN, local = [], threading.local()

SHORT_PURE = {
    "cached_property": lambda m, x: m.out((x @ m.columns + m.hidden.bias).map(ad.tanh)),
    "lru_cache": lambda m, x: sum(
        binomial(3, k) * x[0] ** k * (1 - x[0]) ** (3 - k) * p for k, p in enumerate(m.w)
    ),
    "builtin_max_by_length": lambda m, x: m.plain([*max([x[:1], x[1:]], key=len), x[0]]),
    "fresh_generator": lambda m, x: m.plain(x + np.random.default_rng(5).choice([-1, 1], 4)),
    "class_attributes": lambda m, x: m.plain(x) * m.scale + m.offsets[1],
    "nested_modules": lambda m, x: m.out(m.parts[0]["act"][1](m.hidden(x).map(m.parts[0]["act"][0]))),
    "partial_function": lambda: Training(partial(operator.matmul, w := Vector(INPUTS[0])), parameters=w),
    "shared_layer": lambda m, x: m.plain(m.square(m.square(x))),
    "residual": lambda m, x: m.out((h := m.hidden(x)) + m.block(h)),
    "own_operation": lambda m, x: m.out(m.square(x).map(swish)[:3]),
    "tied_weights": lambda: Training(Net(lambda m, x: m.hidden.weight.T @ m.hidden(x)), targets=INPUTS),
    "numpy_constants": lambda m, x: m.plain(SMOOTH @ ((np.array(x, object) - MEAN) / STD)),
    "class_weights": lambda m, p, t: nn.cross_entropy(p, t) * [1.0, 2.0, 5.0][t],
    "label_smoothing": lambda m, p, t: nn.cross_entropy(p, [0.9 * (i == t) + 0.1 / 3 for i in range(3)]),
    "regularisation": lambda m, p, t: (
        nn.cross_entropy(p, t) + 1e-2 * sum(w * w for w in m.parameters()) + 1e-2 * m.out.weight.norm()
    ),
}  # fmt: skip


class Pure:
    # caches of what depends on no number

    def cache_by_length(self, x):
        if len(x) not in self.cache:
            self.cache[len(x)] = [0.9**i for i in range(len(x))]
        return self.plain([d * v for d, v in zip(self.cache[len(x)], x)])

    def matrix_built_once(self, x):
        if self.basis is None:
            self.basis = Matrix(np.tri(len(x))).requires_grad_(False)
        return self.plain(self.basis @ x)

    def positions_computed_once(self, x):
        if self.encoding is None:
            self.encoding = ad.sin(Vector(range(len(x))).requires_grad_(False) / 10.0)
        return self.plain(x + self.encoding)

    # notes that nobody reads while it trains

    def call_counter(self, x):
        self.calls += 1
        return self.plain(x)

    def print_once(self, x):
        h = self.hidden(x)
        if not self.calls:
            print("hidden:", type(h).__name__, h.shape)
            self.calls = 1
        return self.out(h)

    def last_activation(self, x):
        self.last = self.hidden(x)
        return self.out(self.last)

    def list_of_activations(self, x):
        for layer in (self.hidden, self.block, self.out):
            x = layer(x)
            self.notes.append(x)
        return x

    def hooks(self, x):
        for layer in (self.hidden, self.out):
            x = layer(x)
            for hook in self.hooks:
                hook(layer, x)
        return x

    def logged_shapes(self, x):
        SEEN.append(x.shape)
        LOG.debug("%s -> %s", x.shape, (h := self.hidden(x)).shape)
        return self.out(h)

    @counted
    def decorated(self, x):
        return self.plain(x)

    def thread_locals(self, x):
        local.stack = [*getattr(local, "stack", [])[-2:], self.hidden]
        return self.out(local.stack[-1](x))

    def context_managers(self, x):
        with timed("hidden", self.cache):
            h = self.hidden(x)
        with timed("out", self.cache), contextlib.suppress(ValueError):
            return self.out(h)

    def loss_that_keeps_predictions(self, p, t):
        self.notes.append(p)
        self.cache[t] = self.cache.get(t, 0) + 1
        return nn.cross_entropy(p, t)

    # how models are written

    def generator_as_result():
        def heads(m, x):
            for i in range(3):
                yield m.plain(x)[0] * m.w[i]

        return Training(Net(heads), lambda p, t: sum((y - t) ** 2 for y in p))

    def dict_as_result():
        def loss(p, t):
            return ((p["mean"] - t) / p["width"][0]) ** 2 + ad.log(p["width"][0])

        model = Net(lambda m, x: {"mean": m.plain(x)[0], "width": [ad.softplus(m.w @ x)]})
        return Training(model, loss)

    def comprehensions(self, x):
        neurons = {
            i: sum([w * v for w, v in zip(row, x)]) for i, row in enumerate(self.square.weight)
        }
        pairs = (a * b for a, b in itertools.combinations(neurons.values(), 2))
        return functools.reduce(
            operator.add, [*map(operator.mul, self.w, neurons.values()), *pairs]
        )

    def recursion(self, x):
        half = len(x) // 2
        return ad.tanh(self.w[0] * self(x[:half]) + self.b * self(x[half:])) if half else x[0]

    def closure():
        w, centres = Vector([0.1, -0.2]), np.array(INPUTS[:2])

        def model(x):
            far = [sum((v - c) ** 2 for v, c in zip(x, centre)) for centre in centres]
            return ad.dot(w, [ad.exp(-d) for d in far])

        return Training(model, parameters=w)

    def dataclass_module():
        @dataclass(eq=False, repr=False)
        class Scaled(nn.Module):
            slope: Value = field(default_factory=lambda: Value(0.5))
            layers: list = field(default_factory=lambda: [nn.Linear(4, 1, seed=0)])

            def forward(self, x):
                return self.slope * self.layers[0](x)

        return Training(Scaled())

    def frozen_dataclass():
        @dataclass(frozen=True, eq=False, repr=False)
        class Frozen(nn.Module):
            layer: nn.Linear

            def forward(self, x):
                return self.layer(x)

        return Training(Frozen(nn.Linear(4, 1, seed=0)))

    def slots():
        class Line:
            __slots__ = ("w",)

            def __call__(self, x):
                return self.w @ x

        line = Line()
        line.w = Vector([0.1, 0.2, 0.3, 0.4])
        return Training(line, parameters=line.w)

    def assertions(self, x):
        assert isinstance(x, Vector), f"expected a Vector, not {type(x)}"
        assert x.shape == (4,)
        assert not x[0].requires_grad
        if not isinstance(h := self.hidden(x), Vector):
            raise TypeError("a Vector is needed")
        return self.out(h)

    def try_except(self, x):
        try:
            return self.square(h := self.hidden(x))
        except ValueError:  # shapes that do not fit
            return self.out(h)

    def thread_pool(self, x):
        with ThreadPoolExecutor(2) as pool:
            one, two = pool.map(lambda layer: layer(x), [self.hidden, self.square])
        return self.out(one) * two[0]

    # networks

    def lecture():
        class Neuron(nn.Module):
            def __init__(self, nin, nonlin=True):
                self.w = [Value(random.uniform(-1, 1)) for _ in range(nin)]
                self.b, self.nonlin = Value(0), nonlin

            def forward(self, x):
                act = sum((wi * xi for wi, xi in zip(self.w, x)), self.b)
                return act.tanh() if self.nonlin else act

        class MLP(nn.Module):
            def __init__(self, nin, nouts):
                sz = [nin, *nouts]
                self.layers = [
                    [Neuron(sz[i], i == 0) for _ in range(n)] for i, n in enumerate(nouts)
                ]

            def forward(self, x):
                for layer in self.layers:
                    x = [neuron(x) for neuron in layer]
                return x[0] if len(x) == 1 else x

        return Training(MLP(4, [3, 1]))

    def einsum_in_loops(self, x):
        total = 0
        for i in range(4):
            for j in range(4):
                total += x[i] * self.square.weight[i, j] * x[j]
        return total

    def recurrence(self, x):
        h = [0.0, 0.0, 0.0]
        for step in x:
            h = self.hidden([step, *h])
        return self.out(h)

    def attention(self, x):
        tokens = [self.w * v + self.square.bias for v in x]
        keys, values = Matrix(map(self.square, tokens)), Matrix(map(self.hidden, tokens))
        rows = [nn.softmax(keys @ token / math.sqrt(4)) @ values for token in tokens]
        return Matrix(rows).mean()

    def layer_norm(self, x):
        h = self.square(x) - self.square(x).mean()
        return self.plain(self.w * h / ad.sqrt((h * h).mean() + 1e-5) + self.b)

    def choices(self, x):
        a, b, c = self.hidden(x).map(lambda v: ad.where(ad.less(0.0, v), v, 0.1 * v))
        return self.out([ad.maximum(a, b), ad.minimum(b, c), ad.relu(a - c)])

    # losses

    def several_outputs():
        def loss(p, t):
            (kind, number), (label, value) = p, t
            return nn.cross_entropy(kind, label) + 0.5 * nn.mse_loss(number, value)

        model = Net(lambda m, x: (m.hidden(x), m.plain(x)))
        return Training(model, loss, targets=[*zip(CLASSES, NUMBERS)])

    def targets_that_choose():
        def loss(p, t):  # a quantile for some, squares for others, nothing where there is none
            if t is None:
                return 0.0 * p[0]
            return ad.maximum(0.9 * (t - p[0]), 0.1 * (p[0] - t)) if t < 0 else (t - p[0]) ** 2

        return Training(Net(), loss, targets=[None, *NUMBERS[1:]])

    def derivative_in_the_loss():
        model = nn.Sequential(nn.Linear(1, 3, activation=ad.tanh, seed=0), nn.Linear(3, 1, seed=1))

        def residual(x):  # of u' = -u
            return ad.grad(lambda t: model([t])[0])(x[0]) + model(x)[0]

        starts = [[x] for x, *_ in INPUTS]
        return Training(residual, lambda p, t: p * p, starts, parameters=model.parameters())


PURE = SHORT_PURE | rows(Pure)


# -- Impure, or looking ---------------------------------------------------------------------------

SHORT_LOOKS = {
    "branch_on_an_output": lambda m, x: y if (y := m.plain(x))[0].data > 0 else 0.1 * y,  # looks
    "branch_on_an_input": lambda m, x: m.plain(x) if float(x[0]) > 0 else m.w @ x,  # looks
    "embedding": lambda m, x: m.plain(m.square.weight[int(abs(3 * x[1].data))] * x),  # looks
    "print": lambda m, x: print("y is", y := m.plain(x)) or y,  # looks
    "sorted": lambda m, x: m.out(sorted(m.hidden(x))),  # looks
    "builtin_max": lambda m, x: max(m.hidden(x)) * m.b,  # looks
    "quantised": lambda m, x: m.plain([round(8 * v.data) / 8 for v in x]),  # looks
    "function_of_math": lambda m, x: m.plain([math.sin(v) for v in x]),  # looks
    "norm_by_numpy": lambda m, x: m.plain(x) / np.linalg.norm(m.hidden.weight.data, 2),  # looks
    "copied_input": lambda m, x: m.plain([copy.copy(v) for v in x]),  # looks
    "teacher": lambda m, p, t: (p[t] - 1) ** 2 + (m.b - Value(p[0].data)) ** 2,  # looks
    "hard_samples": lambda m, p, t: nn.cross_entropy(p, t) * (1 - nn.softmax(p)[t].data),  # looks
    "branch_on_both": lambda m, p, t: (p[t] - t) ** 2 if t and p[t] < 1 else p[0] ** 2,  # looks
}


class Looks:
    def running_statistics(self, x):
        h = self.hidden(x)
        self.mean = 0.9 * self.mean + 0.1 * np.mean(h.data)  # looks
        return self.out(h - self.mean)

    def swallowed(self, x):
        try:
            return self.plain(x) if self.b > 0 else self.w @ x  # looks
        except:  # noqa: E722
            return self.plain(x)

    def counted_hits(self, p, t):
        self.notes.append(max(range(3), key=lambda k: p[k].data) == t)  # looks
        return nn.cross_entropy(p, t)

    def fixed_point(self, x):
        z, before = x[0], None
        for _ in range(50):
            z, before = ad.tanh(self.b * z + self.w[0] * x[0]), z
            if abs(z - before) < 1e-3:  # looks
                break
        return z

    def memo_by_numbers(self, x):
        key = tuple(x.data)  # looks
        if key not in self.cache:
            self.cache[key] = self.hidden(x)
        return self.out(self.cache[key])

    def clipped_weights(self, x):
        for w in self.w:
            w.data = min(max(w.data, -0.3), 0.3)  # looks
        return self.plain(x) * (self.w @ x)

    def finite(self, x):
        y = self.plain(x)
        assert all(map(math.isfinite, y.data)), "diverged"  # looks
        return y


@functools.lru_cache
def softplus_of(p):
    return ad.softplus(p)


SHORT_FOUND = {
    "noise": lambda m, x: m.plain([v + random.gauss(0, 0.1) for v in x]),
    "noise_of_numpy": lambda m, x: m.out(m.hidden(x) + Vector(m.of_numpy.normal(0, 0.1, 3))),
    "dropout_by_hand": lambda m, x: m.out([2 * v * (np.random.rand() < 0.5) for v in m.hidden(x)]),
    "stochastic_depth": lambda m, x: m.out(m.hidden(x) if m.rng.random() < 0.5 else m.square(x)[:3]),
    "label_noise": lambda m, p, t: nn.cross_entropy(p, t if m.rng.random() < 0.6 else 0),
    "lru_cache_of_parameters": lambda m, x: ad.dot([softplus_of(p) for p in m.w], x),
    "computed_weights": lambda m, x: m.out(m.project(x)),
    "cached_property_of_parameters": lambda m, x: m.positive @ m.hidden(x),
    "clock": lambda m, x: m.plain(x) * (1.0 + 0.1 * math.sin(time.perf_counter() * 1e4)),
}  # fmt: skip


class Found:
    def warm_up(self, x):
        self.calls += 1
        return self.plain(x) * min(1.0, self.calls / 100)

    def past_inputs(self, x):
        self.recent.append(x)
        return self.plain(x - self.recent[0])

    def carried_state(self, x):
        self.last = self.hidden([x[0], *(self.last or [0.0] * 3)])
        return self.out(self.last)

    def counted_targets(self, p, t):
        self.cache[t] = self.cache.get(t, 0) + 1
        return nn.cross_entropy(p, t) / self.cache[t]

    def pinned_weight(self, x):
        self.b.data = 0.5
        return self.plain(x) * self.b

    def looks_in_a_thread(self, x):
        y = self.plain(x)
        with ThreadPoolExecutor(1) as pool:
            high = pool.submit(lambda: y[0].data > 0).result()
        return y if high else 0.1 * y

    def penalty_of_a_gradient(self, x):
        y = self.plain(x)[0]
        y.backward()
        return y + 0.1 * self.out.weight[0, 0].grad ** 2


def after(epoch, change):
    """A callback that does something after this epoch."""
    return lambda history: change() if len(history.losses) == epoch else None


BETA = [0.0]


class Callback:
    def class_weight():
        weights = {0: 1.0, 1: 1.0, 2: 1.0}
        loss = lambda p, t: weights[t] * nn.cross_entropy(p, t)  # noqa: E731
        change = after(1, lambda: weights.update({2: 5.0}))
        return Training(Net(outputs=3), loss, targets=CLASSES, callback=change)

    def annealed_by_a_global_variable():
        BETA[0] = 0.0
        loss = lambda p, t: nn.mse_loss(p, t) + BETA[0] * p[0] ** 2  # noqa: E731
        return Training(Net(), loss, callback=lambda h: BETA.__setitem__(0, len(h.losses) / 10))

    def environment():
        os.environ["SCALE_OF_A_MODEL"] = "1.0"
        change = partial(os.environ.update, SCALE_OF_A_MODEL="0.5")
        model = Net(lambda m, x: m.plain(x) * float(os.environ["SCALE_OF_A_MODEL"]))
        return Training(model, callback=after(2, change))

    def operation_with_a_setting():
        slope = [0.1]

        @ad.operation
        def leaky(x):
            factor = ad.where(ad.less(0.0, x), 1.0, slope[0])
            return x * factor, lambda grad: (grad * factor,)

        model = Net(lambda m, x: m.out(m.square(x).map(leaky)[:3]))
        return Training(model, callback=after(2, lambda: slope.__setitem__(0, 0.5)))

    def another_activation():
        change = partial(setattr, (model := Net()).hidden, "activation", ad.sigmoid)
        return Training(model, callback=after(1, change))

    def boosting():
        model, weights = Net(), dict.fromkeys(NUMBERS, 1.0)

        def callback(history):
            far = {t: nn.mse_loss(model(x), t).data for x, t in zip(INPUTS, NUMBERS)}
            weights[max(far, key=far.get)] *= 2

        loss = lambda p, t: weights[t] * nn.mse_loss(p, t)  # noqa: E731
        return Training(model, loss, callback=callback)


class Named:
    def change_at_call_60(self, x):
        self.calls += 1
        return self.plain(x) * (1.0 if self.calls < 60 else 2.0)

    def one_draw_in_a_thousand(self, x):
        return self.plain(x) * (1.0 if self.rng.random() > 1e-3 else 2.0)

    def cache_by_id(self, x):
        if id(x) not in self.cache:  # another x may have it later
            self.cache[id(x)] = self.hidden(x)
        return self.out(self.cache[id(x)])

    def one_weight_of_forty():
        weights, inputs = [1.0] * 40, [[i / 40, 0.5, -0.5, 1.0] for i in range(40)]
        loss = lambda p, t: weights[t] * (p[0] - t / 40) ** 2  # noqa: E731
        change = after(2, lambda: weights.__setitem__(17, 5.0))
        return Training(Net(), loss, inputs, range(40), callback=change)


IMPURE = {
    "looks": SHORT_LOOKS | rows(Looks),
    "found": SHORT_FOUND | rows(Found),
    "callback": rows(Callback),
    "named": rows(Named),
}
