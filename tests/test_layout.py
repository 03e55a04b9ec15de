"""Layouts of many kinds of graphs: how wide they are, how small their texts, where titles stand."""

import math
import re

import pytest
from pictures import output, woven

import autodiff as ad
from autodiff import Value, draw
from autodiff.pictures.layout import Layout


def numbers():
    found = [("nan", math.nan), ("inf", math.inf), ("tiny", 1e-300), ("huge", 1e300), ("m", -1e-5)]
    return ad.sum([Value(x, label=name) * 2.0 for name, x in found])


def labels():
    x, y = Value(1.0, label="<b>&|{}\\N\"' " + "y" * 30), Value(2.0, label="W" * 500)
    return (x * y - Value(1.5, label="two\nlines")) / Value(4.0, label="\N{FAMILY}\u200d漢字 אב")


def operations():
    x, y = Value(0.3, label="x"), Value(2.0, label="y")
    product = ad.hypot(x - y, y / x) ** ad.maximum(x, y)
    return ad.where(x < y, product, ad.logsumexp([x, y, x])) * -x


GRAPHS = {
    "2-3-1": lambda: output(2, 3, 1),
    "4-3-3": lambda: output(4, 3, 3),
    "woven": woven,
    "numbers": numbers,
    "labels": labels,
    "operations": operations,
}
OPTIONS = [
    {"rankdir": "LR"}, {"rankdir": "TB"}, {"edges": "local"}, {"edges": "message"},
    {"legend": True, "collapse": True}, {"arrays": True, "color": "grad"},
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
    sizes = map(float, re.findall(rb'font-size="([\d.]+)"', layout.svg))
    assert min(sizes) * layout.size[0] / layout.wide * 4 / 3 >= 8.99


@pytest.mark.parametrize(("place", "crossed"), [("l", set()), ("c", {"cluster0"}), ("r", set())])
def test_a_title_that_an_edge_crosses_is_noticed(place, crossed):
    frame = f'style="" subgraph cluster0 {{ label="title" labeljust={place} b [width=4] }}'
    assert Layout(f'digraph {{\n{frame} edge [style=""] a -> b }}').crossed() == crossed
    assert Layout(f"digraph {{\n{frame} a -> b [style=invis] }}").crossed() == set()
