"""Pictures as their reader sees them: texts, attributes of DOT, and graphs that many tests draw."""

import html
import math
import re
import xml.etree.ElementTree as ElementTree

from pygraphviz import AGraph

import autodiff as ad
from autodiff import Value, optim, show_training
from autodiff.nn import Linear, Sequential, mse_loss
from autodiff.pictures import sheet

SVG = "{http://www.w3.org/2000/svg}"
COLOURS = {x: name for name, x in vars(sheet).items() if re.match("#......$", str(x))}


def box_texts(picture, kind="n"):
    """The text in each box of a picture (n), or on each of its edges (e): line | line."""
    pattern = rf"^\s*{kind}(\d+) \[label=<(.*?)>(?: \w+=|\])"
    labels = {int(i): label for i, label in re.findall(pattern, picture.source, re.M)}
    found = []
    for _, label in sorted(labels.items()):
        lines = [re.sub("<.*?>", "", line) for line in re.split("<br/>|</td>", label)]
        text = html.unescape(" | ".join(line for line in lines if line.strip()))
        found.append(text.replace("\N{NO-BREAK SPACE}", " "))
    return found


def shown(picture):
    """All lines of a picture, as its reader sees them."""
    return [
        line for box in box_texts(picture) + box_texts(picture, "e") for line in box.split(" | ")
    ]


def texts(picture):
    root = ElementTree.fromstring(picture.pipe("svg"))
    return [(t.text or "").replace("\N{NO-BREAK SPACE}", " ") for t in root.iter(f"{SVG}text")]


def smallest_text(layout):
    """The size of the smallest text, in CSS pixels."""
    sizes = map(float, re.findall(rb'font-size="([\d.]+)"', layout.svg))
    return min(sizes) * layout.size[0] / layout.wide * 4 / 3


def attributes(picture):
    """What DOT says of the whole, and of each node, frame and edge, by name."""
    graph = AGraph(picture.source)
    frames = graph.subgraphs()
    for frame in frames:
        frames += frame.subgraphs()
    found = {"whole": graph.graph_attr, "node": graph.node_attr, "edge": graph.edge_attr}
    found |= {str(x): x.attr for x in graph.nodes()} | {x.name: x.graph_attr for x in frames}
    found |= {tuple(x): x.attr for x in graph.edges()}
    return {x: {k: v for k, v in held.items() if v} for x, held in found.items()}


def tables(picture):
    """The HTML of each box, and of the text on each edge."""
    found = {x: y for x, y in attributes(picture).items() if re.match(r"[ne]\d", str(x))}
    return {x: ElementTree.fromstring(about["label"]) for x, about in found.items()}


def style(element):
    """The border of a table, its width, its style and space to a second one; its line and fill."""
    line, fill = (COLOURS[element.get(name)] for name in ("color", "bgcolor"))
    border = [element.get(name) for name in ("border", "style", "cellspacing")]
    return " ".join([*filter(None, border), line, fill])


def inks(element):
    """The pieces of text in a label, each after its colour."""
    return [f"{COLOURS[x.get('color')]} {x.text}" for x in element.iter("font") if x.text]


def example():
    a, b = Value(-4.0, label="a"), Value(2.0, label="b")
    c = a * b + b**3
    c.label = "c"
    return c


def constant(x, label=""):
    found = Value(x, label=label)
    found.requires_grad = False
    return found


def fork():
    # y = (a + b) b at (2, 1): ∂y/∂a = b = 1, ∂y/∂b = a + 2b = 4
    a, b = Value(2.0, label="a"), Value(1.0, label="b")
    y = (a + b) * b
    y.label = "y"
    return y


def running(x1=2.0, x2=5.0):
    # y = ln x₁ + x₁x₂ - sin x₂: at (2, 5), ∂y/∂x₁ = 1/x₁ + x₂ = 5.5, ∂y/∂x₂ = x₁ - cos x₂ = 1.71634
    x1, x2 = Value(x1, label="x₁"), Value(x2, label="x₂")
    y = ad.log(x1) + x1 * x2 - ad.sin(x2)
    y.label = "y"
    return y


def chain(count):
    y = Value(0.5, label="x")
    for _ in range(count):
        y = ad.sin(y)
    return y


def woven():
    """Fifty nodes, with many crossings."""
    row = [Value(0.3 * i - 1.0, label=f"x{i}") for i in range(6)]
    while len(ad.topological_order(ad.sum(row))) < 50:
        row = [ad.sin(u * v) for u, v in zip(row, row[1:] + row[:1])]
    return ad.sum(row)


def network(*sizes, activation=ad.tanh, seed=0):
    """A layer for each pair of sizes; the last has no activation."""
    layers = [
        Linear(n, m, activation=activation, seed=seed + i)
        for i, (n, m) in enumerate(zip(sizes, sizes[1:]))
    ]
    layers[-1].activation = None
    return Sequential(*layers)


def output(*sizes):
    """What a network makes of some numbers, summed up if that is several."""
    found = network(*sizes)([0.5 * (-1) ** i * (i + 1) for i in range(sizes[0])])
    return found.sum() if len(found) > 1 else found[0]


# -- Trainings ------------------------------------------------------------------------------------


def classes(n):
    """Points of a plane, in two classes."""
    return [[math.sin(3 * i), math.cos(i)] for i in range(n)], [i % 2 for i in range(n)]


def of_classes(*sizes, n=100, activation=ad.relu, loss=mse_loss, **more):
    model = network(*sizes, activation=activation)
    descent = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    return show_training(model, *classes(n), loss, descent, **more)


def sunflower(**more):
    """The sunflower of 1919, by a model of four parameters."""
    a, b, c, d = (Value(x, label=name) for name, x in zip("abcd", (1.0, 1.0, 0.0, 1.0)))
    heights = [17.93, 36.36, 67.76, 98.1, 131.0, 169.5, 205.5, 228.3, 247.1, 250.5, 253.8, 254.5]

    def model(x):
        return a * ad.tanh(b * ((x[0] - 6) / 3) + c) + d

    def loss(p, t):  # fit takes the mean, and this is a sum
        return 12 * (p - t) ** 2

    descent = optim.SGD([a, b, c, d], lr=0.02)
    return show_training(model, range(1, 13), [h / 100 for h in heights], loss, descent, **more)
