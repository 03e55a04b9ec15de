"""The engine beside micrograd."""

import random
import sys
import tracemalloc
from functools import reduce
from operator import add, mul

import micrograd.engine
import micrograd.nn
import pytest

import autodiff
from autodiff import Value, draw, nn

DEPTH = 2000


def chain(number, n=DEPTH):
    """n operations in a row on numbers of one kind: products and sums in turn."""
    x, b = number(1.0001), number(0.0001)
    y = x
    for _ in range(n // 2):
        y = y * x
        y = y + b
    return y


def chain_with_constants(number, n=DEPTH):
    """The same with plain Python numbers on the right."""
    y = number(1.0001)
    for _ in range(n // 2):
        y = y * 1.0001
        y = y + 0.0001
    return y


@pytest.fixture(autouse=True)
def _deep_recursion():
    """micrograd's topological sort recurses."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    yield
    sys.setrecursionlimit(limit)


@pytest.mark.parametrize("make", [chain, chain_with_constants], ids=lambda f: f.__name__)
def test_a_chain_forward_and_backward(side_by_side, make):
    peers = {
        "micrograd": lambda: make(micrograd.engine.Value).backward(),
        "autodiff": lambda: make(Value).backward(),
    }
    side_by_side(f"{make.__name__}, {DEPTH} operations, per node", peers, 100, DEPTH, "/node")


def test_growth_with_depth(side_by_side):
    for n in (1_000, 10_000, 100_000, 1_000_000)[: 1 if side_by_side.quick else None]:
        rounds = max(3, 100_000 // n)
        once = {"autodiff": lambda n=n: chain(Value, n).backward()}
        side_by_side(f"chain, {n} operations, per node", once, rounds, n, "/node")


# -- A training step of a 2-16-16-1 network on 100 samples ------------------------------------------


class Step:
    """The same network and loss on micrograd and on this package."""

    def __init__(self):
        random.seed(0)
        self.xs = [[random.uniform(-1, 1) for _ in range(2)] for _ in range(100)]
        self.ys = [random.choice([-1, 1]) for _ in self.xs]
        self.model = micrograd.nn.MLP(2, [16, 16, 1])
        self.layers = [
            [([Value(w.data) for w in n.w], Value(n.b.data), n.nonlin) for n in layer.neurons]
            for layer in self.model.layers
        ]
        self.parameters = [
            p for layer in self.layers for w, b, _ in layer for p in (*w, b)
        ]  # fmt: skip

    def micrograd(self):
        scores = [self.model(x) for x in self.xs]
        losses = [(1 + -y * score).relu() for y, score in zip(self.ys, scores)]
        loss = sum(losses) * (1.0 / len(losses))
        self.model.zero_grad()
        loss.backward()
        return loss.data, [p.grad for p in self.model.parameters()]

    def ours(self, dot, total):
        losses = []
        for x, y in zip(self.xs, self.ys):
            for layer in self.layers:
                x = [dot(w, x) + b for w, b, _ in layer]
                x = [z.relu() for z in x] if layer[0][2] else x
            losses.append((1 + -y * x[0]).relu())
        loss = total(losses) * (1.0 / len(losses))
        for p in self.parameters:
            p.grad = 0.0
        loss.backward()
        return loss.data, [p.grad for p in self.parameters]

    def product_by_product(self):
        return self.ours(lambda w, x: reduce(add, map(mul, w, x)), sum)

    def one_dot_a_neuron(self):
        return self.ours(autodiff.dot, autodiff.sum)


def test_a_training_step(side_by_side):
    step = Step()
    loss, gradients = step.micrograd()
    for other in (step.product_by_product(), step.one_dot_a_neuron()):
        assert other[0] == pytest.approx(loss, rel=1e-12)
        assert other[1] == pytest.approx(gradients, rel=1e-9, abs=1e-12)

    def steps(one, n=4):
        """A few steps in a row, as in training, so that each pays for the garbage it makes."""
        return lambda: [one() for _ in range(n)]

    peers = {
        "micrograd": steps(step.micrograd),
        "autodiff, product by product": steps(step.product_by_product),
        "autodiff, one dot a neuron": steps(step.one_dot_a_neuron),
    }
    side_by_side("training step, 2-16-16-1, batch 100", peers, 5, 4, "/step")


# -- Memory and drawing -----------------------------------------------------------------------------


@pytest.mark.parametrize("number", [micrograd.engine.Value, Value], ids=["micrograd", "autodiff"])
def test_memory_of_a_node(number, capsys):
    tracemalloc.start()
    y = chain(number, 50_000)
    used = tracemalloc.get_traced_memory()[0] / 50_000
    tracemalloc.stop()
    with capsys.disabled():
        print(f"\nmemory of a node: {used:.0f} bytes")
    assert y.data > 0


def test_drawing(side_by_side):
    def tree(n):
        nodes = [Value(float(i)) for i in range((n + 1) // 2)]
        while len(nodes) > 1:
            nodes = [a * b for a, b in zip(nodes[::2], nodes[1::2])] + nodes[len(nodes) // 2 * 2 :]
        return nodes[0]

    graphs = {f"{n} nodes": tree(n) for n in (30, 99, 299)}
    layers = [nn.Linear(9, 9, activation=autodiff.tanh, seed=i) for i in range(10)]
    network = autodiff.sum(nn.Sequential(*layers)([0.1 * i for i in range(9)]))
    draws = {name: lambda graph=graph: draw(graph).pipe() for name, graph in graphs.items()}
    draws["900 parameters, collapsed"] = lambda: draw(network, collapse=True).pipe()
    side_by_side("drawing", draws, 10)
