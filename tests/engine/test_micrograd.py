"""Code for micrograd, as people type it, runs with one import changed; and `tiny.py`."""

import inspect
import math
import operator
import random
from functools import reduce
from types import SimpleNamespace

import catalogue
import micrograd.engine
import micrograd.nn
import pytest
from catalogue import MLP
from graphviz import Digraph
from random_graphs import for_all, programs

from autodiff import Value, nn, ops, optim, tiny

# -- The lecture: one neuron, its picture, and a network that learns ----------------------------


def trace(root):
    nodes, edges = set(), set()

    def build(v):
        if v not in nodes:
            nodes.add(v)
            for child in v._prev:
                edges.add((child, v))
                build(child)

    build(root)
    return nodes, edges


def draw_dot(root):
    dot = Digraph(format="svg", graph_attr={"rankdir": "LR"})
    nodes, edges = trace(root)
    for n in nodes:
        uid = str(id(n))
        text = "{ %s | data %.4f | grad %.4f }" % (n.label, n.data, n.grad)  # noqa: UP031
        dot.node(name=uid, label=text, shape="record")
        if n._op:
            dot.node(name=uid + n._op, label=n._op)
            dot.edge(uid + n._op, uid)
    for n1, n2 in edges:
        dot.edge(str(id(n1)), str(id(n2)) + n2._op)
    return dot


def test_the_neuron_of_the_lecture_and_its_picture():
    x1, x2, w1, w2 = Value(2.0), Value(0.0), Value(-3.0), Value(1.0)
    b = Value(6.8813735870195432)  # so that tanh' = 1/2
    x1w1 = x1 * w1
    x1w1.label = "x1*w1"
    n = x1w1 + x2 * w2 + b
    o = n.tanh()
    o.backward()
    assert o.data == pytest.approx(0.5**0.5, rel=1e-12)
    assert [x.grad for x in (n, x1, w1, x2, w2)] == pytest.approx([0.5, -1.5, 1.0, 0.5, 0.0])
    nodes, edges = trace(o)
    assert (len(nodes), len(edges)) == (10, 9)
    assert sorted(v._op for v in nodes) == [*[""] * 5, "*", "*", "+", "+", "tanh"]
    source = draw_dot(o).source
    assert 'label="{ x1*w1 | data -6.0000 | grad 0.5000 }"' in source
    assert source.count("->") == 9 + 5  # and from the sign of each operation to its result


xs = [[2.0, 3.0, -1.0], [3.0, -1.0, 0.5], [0.5, 1.0, 1.0], [1.0, 1.0, -1.0]]
ys = [1.0, -1.0, -1.0, 1.0]


def squares(n):
    ypred = [n(x) for x in xs]
    return sum((yout - ygt) ** 2 for ygt, yout in zip(ys, ypred))


def cross_entropy(logits, target):
    """As in the module of LLM101n."""
    biggest = max(val.data for val in logits)
    logits = [val - biggest for val in logits]
    ex = [x.exp() for x in logits]
    denom = sum(ex)
    probs = [x / denom for x in ex]
    return -probs[target].log()


def points(n):
    """n points of a square in three classes: left, and above and below on the right."""
    rng = random.Random(0)
    data = [[rng.uniform(-1, 1), rng.uniform(-1, 1)] for _ in range(n)]
    return data, [0 if x < 0 else 1 if y < 0 else 2 for x, y in data]


def of_classes(n):
    return sum(cross_entropy(n(x), y) for x, y in zip(*points(20))) * (1 / 20)


def losses(make, sizes, objective, rates):
    random.seed(0)
    n = make(*sizes)
    for rate in rates:
        loss = objective(n)
        for p in n.parameters():
            p.grad = 0.0
        loss.backward()
        for p in n.parameters():
            p.data += -rate * p.grad
        yield loss.data


@pytest.mark.parametrize(("number", "sizes", "objective", "rates", "reached"), [
    (Value, (3, [4, 4, 1]), squares, [0.1] * 100, 0.05),
    (tiny.Value, (3, [4, 4, 1]), squares, [0.1] * 100, 0.05),
    (Value, (2, [8, 3]), of_classes, [1.0] * 20, 0.5 * math.log(3)),
])  # fmt: skip
def test_the_loop_of_the_lecture_trains(number, sizes, objective, rates, reached, monkeypatch):
    monkeypatch.setattr(catalogue, "Value", number)
    *_, last = losses(MLP, sizes, objective, rates)
    assert last < reached


# -- The package micrograd ----------------------------------------------------------------------


def network(number):
    """The MLP of micrograd.nn, with this class in place of the Value that it imports."""
    names = {"Value": number}
    exec(inspect.getsource(micrograd.nn).replace("from micrograd.engine import Value", ""), names)
    return names["MLP"]


def of_the_demo(model):
    """Hinge loss, and weights held small."""
    data, classes = points(20)
    scores = [model(x) for x in data]
    hinge = [(1 + -(2 * (y > 0) - 1) * s).relu() for y, s in zip(classes, scores)]
    model.zero_grad()
    return sum(hinge) * (1.0 / len(hinge)) + 1e-4 * sum(p * p for p in model.parameters())


def test_the_networks_of_micrograd_train_as_they_do_there():
    rates = [(1.0 - 0.9 * k / 100) * 0.1 for k in range(10)]
    here, there = (
        [*losses(network(number), (2, [6, 1]), of_the_demo, rates)]
        for number in (Value, micrograd.engine.Value)
    )
    assert here[-1] < 0.7 * here[0]
    assert here == pytest.approx(there, rel=1e-12)  # rounding of 10 steps


@pytest.mark.parametrize("make", [MLP, network(Value)])
def test_fit_compiles_the_networks(make):
    random.seed(0)
    model = make(2, [8, 3])
    data, classes = points(60)
    descent = optim.SGD(model.parameters(), lr=0.5)
    history = nn.fit(model, data, classes, nn.cross_entropy, descent, epochs=50, progress=False)
    assert (history.engine, history.losses[-1] < 0.5) == ("compiled", True)


# -- The idea on one screen gives what the package gives ------------------------------------------

FORMULAS = [
    lambda m, a, b: a + b,
    lambda m, a, b: a * b,
    lambda m, a, b: a - b,
    lambda m, a: 2.5 * a + 0.5,
    lambda m, a: a**2,
    lambda m, a: a**3,
    lambda m, a: (a * a + 0.25) ** -0.5,
    lambda m, a: m.tanh(a),
]


def result(number, sin, program, xs):
    """The value of a program and its derivatives, with numbers of one class and their sine."""
    add_up = lambda terms: reduce(operator.add, terms)  # noqa: E731
    leaves = [number(x) for x in xs]
    y = program(leaves, SimpleNamespace(sin=sin, sum=add_up, tanh=number.tanh))
    y.backward()
    return [y.data, *[x.grad for x in leaves]]


@for_all(programs(inputs=3, formulas=FORMULAS), examples=300)
def test_the_numbers_are_those_of_the_package_to_the_last_bit(drawn):
    sin = tiny.recorded(ops.sin.rule)  # any rule of the page will do
    assert result(tiny.Value, sin, *drawn) == result(Value, ops.sin, *drawn)
