"""Compiled graphs beside hand-written NumPy, micrograd and others."""

import operator

import numpy as np
import pytest
from networks import iris

from autodiff import Expression, Value


def test_iris_in_plain_python(side_by_side):
    network = iris()
    x, target, loss = network.sample()
    program = Expression(loss).compile([x, target], wrt=network.parameters)
    rows = [(*a, *b) for a, b in zip(network.x.tolist(), network.targets.tolist())]
    parameters = network.p.tolist()

    def epoch():
        total, gradients = 0.0, [0.0] * len(parameters)
        for row in rows:
            value, found = program(*row, *parameters)
            total += value
            gradients = list(map(operator.add, gradients, found))
        return total, gradients

    by_hand, micrograd = network.by_hand(), network.micrograd(range(150))
    total, gradients = by_hand()
    gradients = np.concatenate([g.ravel() for g in gradients])
    for found in (epoch(), micrograd()):
        assert found[0] == pytest.approx(total, rel=1e-12)
        assert found[1] == pytest.approx(gradients, rel=1e-9, abs=1e-9)
    peers = {
        "hand-written NumPy": by_hand,
        "compiled to plain Python": epoch,
    }
    side_by_side("Iris epoch, 4-10-3, 150 samples", peers, 100)
    side_by_side("the same", {"micrograd": micrograd, "compiled to plain Python": epoch}, 5)


@pytest.mark.parametrize("n", [1_000, 10_000, 100_000])
def test_compile_time_of_a_chain(side_by_side, n):
    x, b = Value(1.0001), Value(0.0001)
    y = x
    for _ in range(n // 2):
        y = y * x
        y = y + b
    expression = Expression(y)
    compiling = {"compile": lambda: expression.compile([x, b], wrt=[x, b])}
    side_by_side(f"compile time of {n} nodes", compiling, max(1, 20_000 // n), n, "/node")
