"""Sheets in DOT: the attributes of Graphviz, and the tables that its boxes are."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from pictures import COLOURS, chain, words

from autodiff import Value, Vector, draw, scope
from autodiff.nn import Linear
from autodiff.pictures import sheet
from autodiff.pictures.dot import FONT, LONGEST, MANY

X, Y, V = Value(0.5, label="x"), Value(2.0, label="y"), Vector([1.0, 2.0])
MINUS, LAYER = X - Y, Linear(1, 1, seed=0)([1.0])[0]

NESTED = """
    fontcolor=INK fontname=FONT fontsize=10.5 nodesep=0.1 rankdir=LR
    nslimit=1 ranksep=0.2
    node [fontcolor=INK fontname=FONT fontsize=10.5 shape=plain]
    edge [arrowsize=0.6 color=VALUE_LINE penwidth=1.2 tooltip=" "]
    n0 [class=input id=n0 tooltip="&lt;x&gt; = 0.5"]
    n5 [class=output id=n5 ordering=in tooltip="+ = 4"]
    subgraph cluster1 {
        color=LINE fillcolor=PANEL margin=6 style="rounded,filled"
        label=<outer> labeljust=l labelloc=b tooltip=" "
        n2 [class=operation id=n2 ordering=in tooltip="× = 1"]
        n1 [class=constant id=n1 tooltip=2]
        subgraph cluster2 {
            color=LINE fillcolor=PANEL margin=6 style="rounded,filled"
            label=<&lt;in&gt;> labeljust=l labelloc=b tooltip=" "
            n4 [class=operation id=n4 ordering=in tooltip="× = 3"]
            n3 [class=constant id=n3 tooltip=3]
        }
    }
    n0:op:e -> n2:a0:w
    n1:op:e -> n2:a1:w
    n2:op:e -> n4:a0:w
    n3:op:e -> n4:a1:w
    n4:op:e -> n5:a0:w
    n2:op:e -> n5:a1:w
    n0 -> n1 [style=invis]
    n0 -> n3 [style=invis]
    n2 -> n3 [style=invis]
    size="9.167,1000"
}
"""  # constants are not left of frames


def test_boxes_are_nodes_and_frames_are_clusters():
    x = Value(0.5, label="<x>")
    with scope("outer"):
        y = x * 2
        with scope("<in>"):
            z = y * 3
    source = re.sub("label=<<table.*>> ", "", draw(z + y).source).expandtabs(4)
    source = re.sub('"(#......)"', lambda colour: COLOURS[colour[1]], source)
    assert source.replace(f'"{FONT}"', "FONT").endswith(NESTED)
    down = draw(z + y, rankdir="TB").source
    assert "rankdir=TB" in down
    # sideways, Graphviz turns the order over in a frame
    assert re.findall(r"(n\d) \[label", down) == ["n0", "n5", "n1", "n2", "n3", "n4"]


@pytest.mark.parametrize(
    ("root", "options", "edges"),
    [(MINUS.sin(), {"rankdir": "TB"},
      ["n0:op:s -> n2:a0:n", "n1:op:s -> n2:a1:n", "n2:op:s -> n3:op:n"]),
     (X * 10.0, {"edges": "message"},  # the number is a box on its way
      ["id=e0", "n0:op:e -> e0:w [arrowhead=none]", "e0:e -> n2:a0:w", "n1:op:e -> n2:a1:w"])],
)  # fmt: skip
def test_edges_enter_at_the_places_of_arguments(root, options, edges):
    assert re.findall(r"\S+ -> .*|id=e\d+", draw(root, **options).source) == edges


@pytest.mark.parametrize(
    ("count", "about"),
    [(MANY, "nslimit=1 ranksep=0.2"), (MANY + 1, "nslimit=0.02 ranksep=0.2 splines=line")],
)
def test_a_graph_with_many_edges_is_laid_out_roughly(count, about):
    assert f"\t{about}\n" in draw(chain(count)).source


def table(picture, name=""):
    """The HTML of a node, or of the legend, which is the label of the whole."""
    node = re.escape(f"\t{name} [label=<" if name else "\tlabel=<")
    return ElementTree.fromstring(re.search(f"{node}(<table.*</table>)>", picture.source)[1])


def about(element):
    """The attributes of a table or of a cell, but those that are 0."""
    return " ".join(f"{x} {COLOURS.get(y, y)}" for x, y in element.items() if y != "0")


INPUT = "border 1 color LINE bgcolor VALUE_FILL port op"
OUTPUT = "border 3 color LINE bgcolor PAPER port op style rounded"
PARAMETER = "border 1 cellspacing 2 color LINE bgcolor PAPER"
FIRST, SECOND = "port a0 width 6 height 6", "port a1 width 6 height 6"


@pytest.mark.parametrize(
    ("root", "options", "name", "border", "rows"),
    [(X.sin(), {}, "n0", INPUT, ["cellpadding 4"]), (X.sin(), {}, "n1", OUTPUT, ["cellpadding 4"]),
     (X * 2, {}, "n1", "color LINE bgcolor PANEL port op", ["cellpadding 4"]),
     (X * 2, {"edges": "local"}, "e0", "border 1 color VALUE_LINE bgcolor VALUE_FILL style rounded",
      ["cellpadding 4"]),
     (V.sum(), {"edges": "message", "names": {"v": V}}, "n0", INPUT,
      ["colspan 2 cellpadding 2", *["cellpadding 2 | cellpadding 2"] * 3]),
     (MINUS, {}, "n2", OUTPUT, [f"{FIRST} | rowspan 2 cellpadding 4 | rowspan 2 width 6", SECOND]),
     (MINUS, {"rankdir": "TB"}, "n2", OUTPUT, [f"{FIRST} | {SECOND}", "colspan 2 cellpadding 4"]),
     (LAYER, {"edges": "local"}, "n0", f"{PARAMETER} port op", ["border 1 color LINE bgcolor PAPER"]),
     (LAYER, {}, "n4", "", [PARAMETER, OUTPUT]),  # stands above or beside the operation that uses it
     (LAYER, {"rankdir": "TB"}, "n4", "", [f"{PARAMETER} | {OUTPUT}"])],
)  # fmt: skip
def test_a_box_is_a_table(root, options, name, border, rows):
    """An operation has a cell for each argument, a vector for each entry; a parameter, two borders."""
    box = table(draw(root, **options), name)
    cells = [[next(cell.iter("table"), cell) for cell in row] for row in box.findall("tr")]
    assert [about(box), *(" | ".join(map(about, row)) for row in cells)] == [border, *rows]


def test_a_text_has_its_colour_and_a_sign_is_large():
    sign = f'<b><font point-size="13.5"><font color="{sheet.INK}">+</font></font></b>'
    data = f'<font color="{sheet.VALUE}">data 2.5</font>'
    assert f">{sign}<br/>{data}</td>" in draw(X + 2.0).source
    assert ' tooltip="+ = 1.332; bias[0] = 0"' in draw(LAYER).source  # of all that stand there


def test_an_array_is_an_image_and_the_legend_has_six_entries_in_a_row():
    picture = draw((Vector([1.0] * 8) * 1e-9).sum(), arrays=True, color="grad")
    cells = table(picture, "n0").iter("td")
    sizes = [(x.get("width"), x.get("height")) for x in cells if x.get("fixedsize") == "true"]
    assert sizes == [("11", "74")]  # points: 72 for 8 numbers, and the frame
    legend = table(picture)
    assert [len(row) for row in legend] == [6, 4]
    assert [*legend.itertext()] == [*map(words, picture.sheet.legend)]


def test_the_tooltip_of_a_neuron_with_784_inputs_is_cut():
    neuron = Linear(784, 1, seed=0)([0.5] * 784)[0]
    tips = re.findall(r'tooltip="([^"]*)"', draw(neuron).source)
    longest = max(tips, key=len)
    assert (len(longest), longest[-1]) == (LONGEST, "…")
    assert draw(neuron).pipe("svg").startswith(b"<?xml")
