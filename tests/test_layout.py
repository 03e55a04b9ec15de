"""Layouts of many kinds of graphs: how wide they are, how small their texts, that nothing overlaps."""

import itertools
import math
import re

import pytest
from pygraphviz import AGraph

import autodiff
from autodiff import Matrix, Value, Vector, draw, sin, tanh
from autodiff.nn import Linear, Sequential

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


def boxes(graph):
    """The left, bottom, right and top end of each box, each title and each text on an edge."""
    frames = graph.subgraphs()
    for frame in frames:
        frames += frame.subgraphs()
    about = {x: [x.attr[name] for name in ("pos", "width", "height")] for x in graph.nodes()}
    about |= {x.name: [x.graph_attr[name] for name in ("lp", "lwidth", "lheight")] for x in frames}
    found = {}
    for name, (place, width, height) in about.items():
        (x, y), across, up = map(float, place.split(",")), 36 * float(width), 36 * float(height)
        found[name] = x - across, y - up, x + across, y + up
    return found


def points(edge):
    """Points on the Bézier curves of an edge, close to one another."""
    pairs = [pair.split(",") for pair in edge.attr["pos"].split() if pair[0] not in "es"]
    at = [complex(float(x), float(y)) for x, y in pairs]
    for a, b, c, d in zip(at[::3], at[1::3], at[2::3], at[3::3]):
        for t in (k / 32 for k in range(33)):
            yield (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d


def collisions(graph):
    """The pairs of boxes that overlap, and of an edge and a box that it runs across."""
    places = boxes(graph)
    pairs = itertools.combinations(places.items(), 2)
    found = {
        (x, y)
        for (x, a), (y, b) in pairs
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
    }
    for edge in graph.edges():
        others = {name: at for name, at in places.items() if name not in edge}
        for z in points(edge) if edge.attr["style"] != "invis" else ():
            inside = [
                name for name, (w, s, e, n) in others.items() if w < z.real < e and s < z.imag < n
            ]
            found |= {(edge, name) for name in inside}
    return found


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", GRAPHS)
def test_a_page_has_room_for_it_and_nothing_overlaps(name, options):
    root = GRAPHS[name]()
    if options != {"rankdir": "LR"}:  # once without gradients
        root.backward()
    layout = draw(root, **options).layout()
    assert collisions(layout.graph) == set()
    assert layout.size[0] <= 900
    sizes = map(float, re.findall(rb'font-size="([\d.]+)"', layout.svg))
    assert min(sizes) * layout.size[0] / layout.wide * 4 / 3 >= 8.99


def test_collisions_are_noticed():
    boxes = 'node [width=1 height=1] a [pos="0,0"]; b [pos="100,0"]; c [pos="200,0"];'
    for height, found in (0, {(("a", "c"), "b")}), (100, set()):
        line = f'[pos="e,164,{height} 36,0 80,{height} 120,{height} 164,0" style=""]'
        assert collisions(AGraph(f"digraph {{ {boxes} a -> c {line} }}")) == found
    assert collisions(AGraph(f'digraph {{ {boxes} d [pos="0,71"]}}')) == {("a", "d")}


@pytest.mark.parametrize("rankdir", ["LR", "TB"])
def test_layers_and_their_units_stay_in_order(rankdir):
    graph = draw(network(4, 3, 3), rankdir=rankdir).layout().graph
    (model,) = graph.subgraphs()
    ends = []
    for layer in sorted(model.subgraphs(), key=lambda layer: layer.graph_attr["label"]):
        left, bottom, right, top = map(float, layer.graph_attr["bb"].split(","))
        ends += [left, right] if rankdir == "LR" else [-top, -bottom]
        across = {}
        for node in layer.nodes():
            if unit := re.search(r">weight\[(\d),", node.attr["label"]):
                x, y = map(float, node.attr["pos"].split(","))
                across[unit[1]] = x if rankdir == "TB" else -y
        assert sorted(across, key=across.get) == ["0", "1", "2"]
    assert ends == sorted(ends)
