"""Layouts of many kinds of graphs: how wide they are, how small their texts, what is crossed."""

import math
import re

import pytest

import autodiff
from autodiff import Matrix, Value, Vector, draw, sin, tanh
from autodiff.nn import Linear, Sequential
from autodiff.pictures.layout import Layout

# -- The gallery --------------------------------------------------------------------------------


def scalar():
    a, b = Value(-4.0, label="a"), Value(2.0, label="b")
    c = a * b + b**3
    c.label = "c"
    return c


def neuron():
    return Linear(3, 1, activation=tanh, seed=0)([1.0, -2.0, 0.5])[0]


def network(*sizes):
    layers = [Linear(n, m, activation=tanh, seed=n) for n, m in zip(sizes[:-2], sizes[1:-1])]
    model = Sequential(*layers, Linear(*sizes[-2:], seed=0))
    outputs = model([0.5 * (-1) ** i * (i + 1) for i in range(sizes[0])])
    return outputs.sum() if len(outputs) > 1 else outputs[0]


def recurrent(steps=3, size=2):
    w = Matrix([[0.6 - 0.9 * ((i + j) % 2) for j in range(size)] for i in range(size)])
    u, state = Vector([0.5 - i for i in range(size)]), Vector([0.0] * size)
    for t in range(steps):
        state = (w @ state + u * Value(0.1 * t, label=f"x{t}")).map(tanh)
    return state.sum()


def second_order():
    x = Value(2.0, label="x")
    (x**3 * sin(x)).backward(create_graph=True)
    return x.grad


def numbers():
    found = [("nan", math.nan), ("inf", math.inf), ("tiny", 1e-300), ("huge", 1e300), ("m", -1e-5)]
    return autodiff.sum([Value(x, label=name) * 2.0 for name, x in found])


def labels():
    x, y = Value(1.0, label="<b>&|{}\\N\"' " + "y" * 30), Value(2.0, label="W" * 500)
    return (x * y - Value(1.5, label="two\nlines")) / Value(4.0, label="\N{FAMILY}\u200d漢字 אב")


def operations():
    x, y = Value(0.3, label="x"), Value(2.0, label="y")
    product = autodiff.hypot(x - y, y / x) ** autodiff.maximum(x, y)
    return autodiff.where(x < y, product, autodiff.logsumexp([x, y, x])) * -x


GRAPHS = {
    "scalar": scalar,
    "neuron": neuron,
    "2-3-1": lambda: network(2, 3, 1),
    "4-3-3": lambda: network(4, 3, 3),
    "recurrent": recurrent,
    "second order": second_order,
    "numbers": numbers,
    "labels": labels,
    "operations": operations,
}
OPTIONS = [
    {"rankdir": "LR"}, {"rankdir": "TB"}, {"edges": "local"}, {"edges": "message"},
    {"color": "grad"}, {"legend": True, "collapse": True}, {"arrays": True, "color": "grad"},
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", GRAPHS)
def test_a_page_has_room_for_it_and_no_edge_crosses_a_title(name, options):
    root = GRAPHS[name]()
    if options != {"rankdir": "LR"}:  # once without gradients
        root.backward()
    layout = draw(root, **options).layout()
    assert layout.crossed() == set()
    assert layout.size[0] <= 900
    scale = float(re.search(rb"scale\(([\d.]+)", layout.svg)[1])
    sizes = map(float, re.findall(rb'font-size="([\d.]+)"', layout.svg))
    assert min(sizes) * scale * 4 / 3 >= 8.99


@pytest.mark.parametrize(("place", "crossed"), [("l", set()), ("c", {"cluster0"}), ("r", set())])
def test_a_title_that_an_edge_crosses_is_noticed(place, crossed):
    inner = f'rankdir=""; style=""; subgraph cluster0 {{ label="title" labeljust={place} b [width=4] }} edge [style=""]'
    assert Layout(f"digraph {{\n{inner} a -> b }}").crossed() == crossed
    assert Layout(f"digraph {{\n{inner} a -> b [style=invis] }}").crossed() == set()


@pytest.mark.parametrize("rankdir", ["LR", "TB"])
def test_layers_and_their_units_stay_in_order(rankdir):
    graph = draw(network(4, 3, 3), rankdir=rankdir).layout().graph
    (model,) = graph.subgraphs()
    ends = []
    for layer in sorted(model.subgraphs(), key=lambda layer: layer.graph_attr["label"][-9:]):
        left, bottom, right, top = map(float, layer.graph_attr["bb"].split(","))
        ends += [left, right] if rankdir == "LR" else [-top, -bottom]
        across = {}
        for node in layer.nodes():
            if unit := re.search(r">weight\[(\d),", node.attr["label"]):
                x, y = map(float, node.attr["pos"].split(","))
                across[unit[1]] = x if rankdir == "TB" else -y
        assert sorted(across, key=across.get) == ["0", "1", "2"]
    assert ends == sorted(ends)
