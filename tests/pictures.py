"""Pictures as their reader sees them: texts, attributes of DOT, and graphs that many tests draw."""

import html
import re
import xml.etree.ElementTree as ElementTree

from pygraphviz import AGraph

from autodiff import Value, tanh
from autodiff.nn import Linear, Sequential
from autodiff.pictures import look

SVG = "{http://www.w3.org/2000/svg}"
COLOURS = {x: name for name, x in vars(look).items() if re.match("#......$", str(x))}


def said(picture, kind="n"):
    """The lines in each box of a picture (n), or on each of its edges (e)."""
    found = []
    pattern = rf"^\s*{kind}(\d+) \[label=<(.*?)>(?: \w+=|\])"
    labels = {int(i): label for i, label in re.findall(pattern, picture.source, re.M)}
    for _, label in sorted(labels.items()):
        lines = [re.sub("<.*?>", "", line) for line in re.split("<br/>|</td>", label)]
        lines = [html.unescape(line).replace("\N{NO-BREAK SPACE}", " ") for line in lines]
        found.append([line for line in lines if line.strip()])
    return found


def shown(picture):
    """All texts of a picture, as its reader sees them."""
    return [line for box in said(picture) + said(picture, "e") for line in box]


def texts(picture):
    root = ElementTree.fromstring(picture.pipe("svg"))
    return [(t.text or "").replace("\N{NO-BREAK SPACE}", " ") for t in root.iter(f"{SVG}text")]


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
    """The border of a table: its width, its style, space to a second border, line and fill."""
    line, fill = (COLOURS[element.get(name)] for name in ("color", "bgcolor"))
    width, space = int(element.get("border")), int(element.get("cellspacing"))
    return width, element.get("style", ""), space, line, fill


def inks(element):
    """The pieces of text in a label, each with its colour."""
    return [(COLOURS[x.get("color")], x.text) for x in element.iter("font") if x.text]


def example():
    a, b = Value(-4.0, label="a"), Value(2.0, label="b")
    c = a * b + b**3
    c.label = "c"
    return c


def network(*sizes, activation=tanh):
    pairs = list(zip(sizes, sizes[1:]))
    return Sequential(*[Linear(n, m, activation=activation, seed=n) for n, m in pairs])
