# pyright: analyzeUnannotatedFunctions=false
"""The race of notebook 10: everyone runs one epoch of the same training, against the clock.

A runner takes a Task and returns its `epoch`, a function without arguments that returns the sum of
the losses and the gradients: an array for each parameter, or one for all of them. Before that, it
lays the data out in the way that its library likes best.
"""

import gc
import importlib
import math
import os
import time
from collections import defaultdict

import numpy as np

import autodiff as ad
from autodiff import Expression, Vector, nn, tanh

from . import figures
from .figures import BLUE, ORANGE

GREY = "#BBBBBB"
ROUNDS = 5


def libraries():
    """micrograd's engine, torch and jax, or None; with one thread and 64 bits, like NumPy."""
    importlib.import_module("threadpoolctl").threadpool_limits(1)  # it comes with scikit-learn
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    micrograd, torch, jax = map(installed, ["micrograd.engine", "torch", "jax"])
    if torch:
        torch.set_num_threads(1)
    if jax:
        jax.config.update("jax_enable_x64", True)  # floats of 64 bits
    return micrograd, torch, jax


def installed(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class Task:
    """Data (the first n samples, or all) and a network with one hidden layer to learn it."""

    def __init__(self, data, hidden, n=None):
        x = (data.data - data.data.mean(axis=0)) / np.maximum(data.data.std(axis=0), 1e-6)
        self.x, self.kinds = x[:n], data.target[:n]  # (n, inputs) and (n,)
        inputs, classes = x.shape[1], data.target.max() + 1
        self.t = np.eye(classes)[self.kinds]  # (n, classes)
        first = nn.Linear(inputs, hidden, activation=tanh, seed=0)
        last = nn.Linear(hidden, classes, seed=1)
        self.model = nn.Sequential(first, last)
        self.layers = [np.array(p.data) for p in (first.weight, first.bias, last.weight, last.bias)]
        self.p = np.concatenate([layer.ravel() for layer in self.layers])

    def recorded(self):
        """The symbols of one sample, and its loss as a graph."""
        x = Vector([0.1] * self.x.shape[1]).requires_grad_(False)
        target = Vector(self.t[0]).requires_grad_(False)
        return x, target, nn.cross_entropy(self.model(x), target)


# -- The runners ------------------------------------------------------------------------------


def by_numpy(by_hand):
    """The runner of a function of x, t and the layers, with a column for each sample."""

    def runner(task):
        x, t = np.ascontiguousarray(task.x.T), np.ascontiguousarray(task.t.T)

        def epoch():
            losses, gradients = by_hand(x, t, *task.layers)
            return losses.sum(), gradients

        return epoch

    return runner


def compiled(task, xp=np, jit=lambda program: program):
    x, target, loss = task.recorded()
    wrt = task.model.parameters()
    program = jit(Expression(loss).compile([x, target], wrt=wrt, xp=xp, batch=True))
    rows = np.asfortranarray(np.hstack([task.x, task.t]))  # each column in one piece
    rows, p = xp.asarray(rows), xp.asarray(task.p)

    def epoch():
        values, gradients = program(rows, p)
        return float(values.sum()), [np.asarray(gradients)]

    return epoch


def plain_python(task):
    x, target, loss = task.recorded()
    program = Expression(loss).compile([x, target], wrt=task.model.parameters())
    rows, p = np.hstack([task.x, task.t]).tolist(), task.p.tolist()

    def epoch():
        total, sums = 0.0, [0.0] * len(p)
        for row in rows:
            value, gradients = program(*row, *p)
            total, sums = total + value, [a + b for a, b in zip(sums, gradients)]
        return total, [sums]

    return epoch


def walking(task):
    """Our Values, with a node for each neuron's dot product."""
    samples = list(zip(task.x.tolist(), task.kinds.tolist()))

    def epoch():
        task.model.zero_grad()
        total = 0.0
        for x, kind in samples:
            loss = nn.cross_entropy(task.model(x), kind)
            loss.backward()
            total += loss.data
        return total, [[p.grad for p in task.model.parameters()]]

    return epoch


def product_by_product(value, tanh, exp, log):
    """The runner of a scalar engine, with a node for each product and each sum of two."""

    def layer(W, b, x):
        return [sum((w * v for w, v in zip(row, x)), bias) for row, bias in zip(W, b)]

    def runner(task):
        layers = [np.vectorize(value)(array) for array in task.layers]
        parameters = [p for array in layers for p in array.ravel()]

        def epoch():
            total = 0.0
            for p in parameters:
                p.grad = 0.0
            for x, kind in zip(task.x.tolist(), task.kinds):
                z = layer(*layers[2:], [tanh(h) for h in layer(*layers[:2], x)])
                loss = log(sum(exp(v) for v in z)) - z[kind]
                loss.backward()
                total += loss.data
            return total, [[p.grad for p in parameters]]

        return epoch

    return runner


def by_micrograd(micrograd):
    """micrograd, with tanh, exp and log, which it lacks, written like its own operations."""

    def function(f, slope):
        def apply(x):
            out = micrograd.Value(f(x.data), (x,))

            def backward():
                x.grad += slope(x.data, out.data) * out.grad

            out._backward = backward
            return out

        return apply

    return product_by_product(
        micrograd.Value,
        function(math.tanh, lambda x, y: 1 - y * y),
        function(math.exp, lambda x, y: y),
        function(math.log, lambda x, y: 1 / x),
    )


def by_torch(torch):
    def runner(task):
        layer, (W1, _, W2, _) = torch.nn.Linear, task.layers
        net = torch.nn.Sequential(layer(*W1.T.shape), torch.nn.Tanh(), layer(*W2.T.shape))
        net.double()
        for p, array in zip(net.parameters(), task.layers):
            p.data = torch.tensor(array)
        x, kinds = torch.tensor(task.x), torch.tensor(task.kinds)
        loss_of = torch.nn.CrossEntropyLoss(reduction="sum")

        def epoch():
            net.zero_grad()
            loss = loss_of(net(x), kinds)
            loss.backward()
            return loss.item(), [p.grad.numpy() for p in net.parameters()]

        return epoch

    return runner


# -- The race ---------------------------------------------------------------------------------


def race(by_hand, data, hidden, few, very_few):
    """Seconds for one epoch of each entry, a dict.

    few, very_few: how many samples the walkers get, ours and product by product; their times are
    scaled up to all samples.
    """
    micrograd, torch, jax = libraries()
    n = len(data.data)
    whole, some, least = Task(data, hidden), Task(data, hidden, few), Task(data, hidden, very_few)
    values = product_by_product(ad.Value, ad.tanh, ad.exp, ad.log)
    entries = {  # the task, its runner, and how much of an epoch one call is
        "NumPy by hand": (whole, by_numpy(by_hand), 1),
        "autodiff, compiled to NumPy": (whole, compiled, 1),
        "autodiff, a node per neuron": (some, walking, few / n),
        "autodiff, a node per product": (least, values, very_few / n),
    }
    if hidden == 10:
        entries["autodiff, compiled to plain Python"] = (whole, plain_python, 1)
    if micrograd:
        entries["micrograd, a node per product"] = (least, by_micrograd(micrograd), very_few / n)
    if torch:
        entries["PyTorch"] = (whole, by_torch(torch), 1)
    if jax:
        jitted = lambda task: compiled(task, jax.numpy, jax.jit)  # noqa: E731
        entries["autodiff, compiled to JAX, jitted"] = (whole, jitted, 1)

    runs = {}
    for entry, (task, runner, share) in entries.items():
        epoch = runner(task)
        check(entry, epoch(), by_numpy(by_hand)(task)())
        runs[entry] = epoch, share
    return fastest(runs)


def check(entry, found, expected):
    """AssertionError unless loss and gradients are those of NumPy by hand."""
    (total, gradients), (right, by_hand) = found, expected
    assert math.isclose(total, right, rel_tol=1e-9), entry
    flat = [np.concatenate([np.ravel(g) for g in arrays]) for arrays in (gradients, by_hand)]
    assert np.allclose(*flat, rtol=1e-9, atol=1e-9), entry


def fastest(runs, rounds=ROUNDS):
    """The shortest time of each run, over several rounds of all runs."""
    calls = {}
    for entry, (epoch, _) in runs.items():
        calls[entry] = max(1, int(0.05 / max(seconds(epoch, 1), 1e-5)))
    times = defaultdict(list)
    gc.collect()
    gc.freeze()  # so that nobody pays for the garbage of another
    for _ in range(rounds):
        for entry, (epoch, share) in runs.items():
            gc.collect()
            times[entry].append(seconds(epoch, calls[entry]) / share)
    gc.unfreeze()
    return {entry: min(each) for entry, each in times.items()}


def seconds(run, calls=5):
    """The mean processor time of a call, on all cores; other programs do not count."""
    began = time.process_time()
    for _ in range(calls):
        run()
    return (time.process_time() - began) / calls


# -- The results ------------------------------------------------------------------------------


def table(results):
    """The times as text: a line for each entry, slowest first, with its ratio to NumPy by hand."""
    lines = []
    for name, times in results.items():
        lines.append(f"{name:36}one epoch   by hand = 1")
        for entry, duration in sorted(times.items(), key=lambda pair: -pair[1]):
            ratio = duration / times["NumPy by hand"]
            lines.append(f"{entry:36}{duration * 1e6:10,.0f} µs{ratio:10,.1f}")
        lines.append("")
    return "\n".join(lines)


def bars(results):
    """The times as bars, all on one logarithmic axis."""
    import matplotlib.pyplot as plt

    everyone = max(results.values(), key=len)
    order = sorted(everyone, key=everyone.get)
    figure, panels = plt.subplots(len(results), 1, figsize=(8.5, 6), sharex=True, sharey=True)
    for axes, (name, times) in zip(panels, results.items()):
        for i, entry in enumerate(order):
            if entry in times:
                ours, hand = "autodiff" in entry, "hand" in entry
                axes.barh(i, times[entry], color=BLUE if ours else ORANGE if hand else GREY)
                axes.text(1.15 * times[entry], i, readable(times[entry]), va="center", fontsize=10)
        axes.set(title=name, xscale="log", yticks=range(len(order)), yticklabels=order)
    slowest = max(max(times.values()) for times in results.values())
    panels[-1].set(xlabel="seconds for one epoch", xlim=(1e-5, 12 * slowest))
    figure.tight_layout()
    figures.show(figure, f"Seconds for one epoch, as bars.\n{table(results)}")


def readable(t):
    unit, factor = ("s", 1) if t >= 1 else ("ms", 1e3) if t >= 1e-3 else ("µs", 1e6)
    return f"{t * factor:.3g} {unit}"
