"""Layouts of many kinds of graphs: how wide they are, how small their texts."""

import re

import pytest
from pictures import output, woven

import autodiff as ad
from autodiff import Matrix, Value, Vector, draw


def labels():
    x, y = Value(1.0, label="<b>&|{}\\N\"' " + "y" * 30), Value(2.0, label="W" * 500)
    return (x * y - Value(1.5, label="two\nlines")) / Value(4.0, label="\N{FAMILY}\u200d漢字 אב")


def smallest_text(layout):
    """The size of the smallest text, in CSS pixels."""
    sizes = map(float, re.findall(rb'font-size="([\d.]+)"', layout.svg))
    return min(sizes) * layout.size[0] / layout.wide * 4 / 3


GRAPHS = {
    "2-3-1": lambda: output(2, 3, 1),
    "4-3-3": lambda: output(4, 3, 3),
    "woven": woven,
    "labels": labels,
}
OPTIONS = [
    {"rankdir": "LR"}, {"rankdir": "TB"}, {"edges": "local"}, {"edges": "message"},
    {"color": "grad"}, {"arrays": True, "color": "grad"},
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", GRAPHS)
def test_a_page_has_room_for_it(name, options):
    root = GRAPHS[name]()
    if options != {"rankdir": "LR"}:  # once without gradients
        root.backward()
    layout = draw(root, **options).layout()
    assert layout.size[0] <= 900
    assert smallest_text(layout) >= 8.99


def test_a_picture_that_is_too_wide_for_a_page_has_texts_that_can_be_read():
    large = Vector([1.0] * 20) @ Matrix([[float(i + j) for j in range(20)] for i in range(20)])
    layout = draw(large.map(ad.sin).sum(), rankdir="TB").layout()
    assert layout.size[0] > 880
    assert smallest_text(layout) == pytest.approx(9, abs=0.1)
