"""Layouts of many kinds of graphs: how wide they are, how small their texts."""

import pytest
from pictures import output, smallest_text, woven

from autodiff import Value, draw


def labels():
    x, y = Value(1.0, label="<b>&|{}\\N\"' " + "y" * 30), Value(2.0, label="W" * 500)
    return (x * y - Value(1.5, label="two\nlines")) / Value(4.0, label="\N{FAMILY}\u200d漢字 אב")


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
