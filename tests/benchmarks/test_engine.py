"""The engine beside micrograd."""

import copy
import gc
import os
import random
import sys
import tracemalloc

import micrograd.engine
import micrograd.nn
import pytest
from catalogue import of_ours

import autodiff
from autodiff import Value, tiny

QUICK = bool(os.environ.get("QUICK"))
DEPTH = 2000


def chain(number, n=DEPTH):
    """n operations in a row on numbers of one kind: products and sums in turn."""
    x, b = number(1.0001), number(0.0001)
    y = x
    for _ in range(n // 2):
        y = y * x
        y = y + b
    return y


@pytest.fixture(autouse=True)
def _deep_recursion():
    """The topological sorts of micrograd and tiny recurse."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    yield
    sys.setrecursionlimit(limit)


def test_a_chain_forward_and_backward(side_by_side):
    peers = {
        "micrograd": lambda: chain(micrograd.engine.Value).backward(),
        "autodiff.tiny": lambda: chain(tiny.Value).backward(),
        "autodiff": lambda: chain(Value).backward(),
        "autodiff, no quick operators": without_quick_operators,
    }
    side_by_side(f"chain, {DEPTH} operations, per node", peers, 100, DEPTH, "/node")


def without_quick_operators():
    with pytest.MonkeyPatch.context() as patch:
        for name in ("__add__", "__sub__", "__mul__", "__truediv__"):
            patch.delattr(Value, name)
        chain(Value).backward()


@pytest.mark.parametrize("n", [1_000, *[10_000, 100_000, 1_000_000][: 0 if QUICK else None]])
def test_growth_with_depth(side_by_side, n):
    once = {"autodiff": lambda: chain(Value, n).backward()}
    side_by_side(f"chain, {n} operations, per node", once, max(3, 100_000 // n), n, "/node")


# -- A training step of a 2-16-16-1 network on 100 samples ------------------------------------------


class OneDot(micrograd.nn.Neuron):
    """A neuron that is a dot, a sum and a relu."""

    def __call__(self, x):
        z = autodiff.dot(self.w, x) + self.b
        return z.relu() if self.nonlin else z


def test_a_training_step(side_by_side):
    random.seed(0)
    xs = [[random.uniform(-1, 1) for _ in range(2)] for _ in range(10 if QUICK else 100)]
    ys = [random.choice([-1, 1]) for _ in xs]
    theirs = micrograd.nn.MLP(2, [16, 16, 1])
    ours, dots = [of_ours(copy.deepcopy(theirs)) for _ in range(2)]
    for neuron in [neuron for layer in dots.layers for neuron in layer.neurons]:
        neuron.__class__ = OneDot

    def step(network, total):
        losses = [(1 + -y * network(x)).relu() for x, y in zip(xs, ys)]
        loss = total(losses) * (1.0 / len(losses))
        network.zero_grad()
        loss.backward()
        return [loss.data, *[p.grad for p in network.parameters()]]

    networks = {
        "micrograd": (theirs, sum),
        "autodiff, product by product": (ours, sum),
        "autodiff, one dot a neuron": (dots, autodiff.sum),
    }
    found = [step(*each) for each in networks.values()]
    for other in found:
        assert other == pytest.approx(found[0], rel=1e-9, abs=1e-12)
    # A few steps in a row, as in training, so that each pays for the garbage it makes.
    steps = {
        name: lambda each=each: [step(*each) for _ in range(4)] for name, each in networks.items()
    }
    steps["micrograd, no garbage collector"] = lambda: uncollected(steps["micrograd"])
    side_by_side(f"training step, 2-16-16-1, batch {len(xs)}", steps, 5, 4, "/step")


def uncollected(function):
    gc.disable()
    try:
        function()
    finally:
        gc.enable()


# -- Memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [micrograd.engine.Value, Value], ids=["micrograd", "autodiff"])
def test_memory_of_a_node(number, capsys):
    tracemalloc.start()
    y = chain(number, 50_000)
    used = tracemalloc.get_traced_memory()[0] / 50_000
    tracemalloc.stop()
    with capsys.disabled():
        print(f"\nmemory of a node: {used:.0f} bytes")
    assert y.data > 0
