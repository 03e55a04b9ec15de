"""How long pictures take: the layout of graphs that once froze, and networks as grids."""

import random

import pytest

import autodiff
from autodiff import Matrix, Value, Vector, draw, sin, tanh
from autodiff.nn import Linear, Sequential, cross_entropy


def chain(steps):
    x = y = Value(1.01, label="x")
    for _ in range(steps):
        y = y * x
    return y


def tangle(count):
    rng, leaf = random.Random(0), Value(0.9)
    nodes = [leaf]
    for _ in range(count):
        one, other = rng.choice(nodes[-40:]), rng.choice(nodes[-40:])
        nodes.append(rng.choice([one + other, one * other, sin(one) * leaf]))
    return autodiff.sum(nodes[-30:])


def fan(count):
    x = Value(0.3, label="x")
    return autodiff.sum([sin(x * float(i)) for i in range(count)])


def recurrent(steps, size):
    w = Matrix([[0.1 * (i - j) for j in range(size)] for i in range(size)])
    state = Vector([0.0] * size)
    for t in range(steps):
        state = (w @ state + Value(0.1 * t)).map(tanh)
    return state.sum()


GRAPHS = {
    "chain of 61": chain(60),
    "150 random nodes": tangle(100),
    "fan of 140": fan(46),
    "recurrence of 172": recurrent(12, 4),
    "chain of 290": chain(289),
}


def drawn(root, **options):
    return lambda: draw(root, **options).pipe()


@pytest.mark.parametrize("edges", [None, "message"])
def test_layout(edges, side_by_side):
    pictures = {name: drawn(root, edges=edges) for name, root in GRAPHS.items()}
    side_by_side(f"Layout, edges={edges!r}", pictures, rounds=5)


def test_grids(side_by_side):
    pictures = {}
    for sizes in ((64, 32, 10), (784, 128, 10)):
        first, second = [Linear(n, m, seed=0) for n, m in zip(sizes, sizes[1:])]
        loss = cross_entropy(Sequential(first, second)(Vector([0.01] * sizes[0])), 3)
        pictures["-".join(map(str, sizes))] = drawn(loss, arrays=True)
    side_by_side("Classifiers as grids", pictures, rounds=3)
