"""Scenes in DOT: the attributes of Graphviz, and the tables that its boxes are."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from pictures import attributes, chain, example, inks, style, tables
from pygraphviz import AGraph

import autodiff as ad
from autodiff import Value, Vector, draw, logsumexp, scope
from autodiff.nn import Linear
from autodiff.pictures import sheet
from autodiff.pictures.dot import FONT, MANY

X, Y = Value(0.5, label="x"), Value(2.0, label="y")


def test_the_whole_lies_from_left_to_right():
    found = attributes(draw(example()))
    font = {"fontname": FONT, "fontsize": "10.5", "fontcolor": sheet.INK}
    near = {"nodesep": "0.1", "ranksep": "0.2"}
    about = {"rankdir": "LR", "nslimit": "1", "size": "9.167,1000"}
    assert found["whole"] == font | near | about
    assert found["node"].items() >= (font | {"shape": "plain"}).items()
    line = {"color": sheet.VALUE_LINE, "penwidth": "1.2", "arrowsize": "0.6", "tooltip": " "}
    assert found["edge"].items() >= line.items()
    assert attributes(draw(example(), rankdir="TB"))["whole"]["rankdir"] == "TB"


@pytest.mark.parametrize(
    ("count", "splines", "limit"), [(MANY, None, "1"), (MANY + 1, "line", "0.02")]
)
def test_a_graph_with_many_edges_is_laid_out_roughly(count, splines, limit):
    about = attributes(draw(chain(count)))["whole"]
    assert (about.get("splines"), about["nslimit"]) == (splines, limit)


def test_boxes_have_ids_classes_and_tooltips():
    def found(picture):
        boxes = [x for name, x in attributes(picture).items() if re.match(r"[ne]\d", str(name))]
        return [f"{x['id']} {x.get('class')}: {x.get('tooltip')}" for x in boxes]

    assert found(draw(example())) == [
        "n0 input: a = −4", "n1 input: b = 2", "n2 operation: × = −8", "n3 operation: b³ = 8",
        "n4 output: c = 0",
    ]  # fmt: skip
    assert found(draw(Vector([1.0, 2.0]).sum()))[0] == "n0 input: 1; 2"
    y = Linear(1, 1, seed=0)([1.0])[0]
    assert found(draw(y))[-1].endswith("dot = 1.332; weight[0,0] = 1.332")
    assert found(draw(X * 2, edges="local"))[-1][:2] == "e0"


ROLES = {
    "input": "1 0 INK VALUE_FILL",
    "parameter": "1 2 INK PAPER",
    "constant": "0 0 INK PANEL",
    "operation": "1 rounded 0 INK PAPER",
    "output": "3 rounded 0 INK PAPER",
}


def test_each_role_has_a_border():
    y = Linear(1, 1, seed=0)([0.5])[0] * 3.0
    picture = draw(y.sin(), edges="local")
    about, boxes = attributes(picture), tables(picture)
    found = {about[x]["class"]: style(box) for x, box in boxes.items() if x[0] == "n"}
    assert found == ROLES
    inner = [box.find("tr/td/table") for x, box in boxes.items() if x[0] == "n"]
    doubled = [style(box) for box in inner if box is not None]
    assert doubled == ["1 0 INK PAPER"] * 2  # weight and bias


def test_texts_have_the_colours_of_what_they_are():
    c = example()
    c.backward()
    box = tables(draw(c))["n4"]
    assert inks(box) == ["INK +", "INK c", "VALUE data 0", "GRADIENT grad 1"]
    assert box.find(".//b/font").get("point-size") == "13.5"
    assert inks(tables(draw(X + 2.0))["n1"]) == ["SOFT 2"]
    nan = tables(draw(Value(float("nan"), label="x") * 2))["n0"]
    assert inks(nan) == ["WRONG x", "WRONG data nan"]
    assert style(nan) == "1 0 WRONG VALUE_FILL"


def cells(box):
    """The rows of a table of cells, each with its attributes that matter."""
    names = "port", "width", "height", "rowspan", "colspan", "cellpadding"
    attributes = lambda cell: " ".join(f"{x} {cell.get(x)}" for x in names if cell.get(x))  # noqa: E731
    return [" | ".join(map(attributes, row)) for row in box.findall("tr")]


def test_an_operation_has_a_place_for_each_argument():
    one, other = (f"port a{i} width 6 height 6" for i in (0, 1))
    beside = f"{one} | rowspan 2 cellpadding 4 | width 6 rowspan 2"
    assert cells(tables(draw(X - Y))["n2"]) == [beside, other]
    above = [f"{one} | {other}", "colspan 2 cellpadding 4"]
    assert cells(tables(draw(X - Y, rankdir="TB"))["n2"]) == above
    assert cells(tables(draw(X.sin()))["n1"]) == ["cellpadding 4"]
    found = attributes(draw((X - Y).sin()))
    assert [x for x in found if found[x].get("ordering") == "in"] == ["n2"]


@pytest.mark.parametrize(
    ("y", "ends"),
    [(logsumexp([Y, X, Y]), "n0 a0, n1 a1, n0 a2"), (logsumexp([X] * 9), ", ".join(["n0 op"] * 9)),
     (logsumexp([X] * 8), "n0 a0, n0 a1, n0 a2, n0 a3, n0 a4, n0 a5, n0 a6, n0 a7"),
     (logsumexp([X, Y]), "n0 op, n1 op"), (ad.prod([X, Y]), "n0 op, n1 op"),  # in any order
     (ad.hypot(X, Y), "n0 op, n1 op"), (X**2, "n0 op"), (X**Y, "n0 a0, n1 a1"),
     ((X - Y) * (Y - X), "n0 a0, n1 a1, n1 a0, n0 a1, n2 a0, n3 a1")],
)  # fmt: skip
def test_edges_enter_in_the_order_of_arguments(y, ends):
    for rankdir, (out, into) in {"LR": "ew", "TB": "sn"}.items():
        pattern = rf"(n\d):op:{out} -> n\d+:(op|a\d):{into}"
        found = re.findall(pattern, draw(y, rankdir=rankdir).source)
        assert ", ".join(map(" ".join, found)) == ends


def test_strong_and_weak_arrows():
    found = attributes(draw((y := X - Y) * 2, highlight=[X, y]))
    lines = {x: (z.get("penwidth"), z.get("color")) for x, z in found.items() if type(x) is tuple}
    weak = None, "#3f86c973"
    edges = ("n0", "n2"), ("n1", "n2"), ("n2", "n4"), ("n3", "n4")
    assert lines == dict(zip(edges, [("2", None), weak, weak, weak]))


def test_a_number_on_an_edge_is_a_box_on_its_way():
    picture = draw(X * 10.0, edges="message")
    label = tables(picture)["e0"]
    assert style(label) == "1 rounded 0 GRADIENT_LINE GRADIENT_FILL"
    assert cells(label) == ["cellpadding 4"]
    assert inks(label) == ["GRADIENT 1 ·\xa0", "VALUE 10", "GRADIENT \xa0", "GRADIENT = 10"]
    heads = {x: y.get("arrowhead") for x, y in attributes(picture).items() if type(x) is tuple}
    assert heads == {("n0", "e0"): "none", ("e0", "n2"): None, ("n1", "n2"): None}
    local = tables(draw(X * 10.0, edges="local"))["e0"]
    assert style(local) == "1 rounded 0 VALUE_LINE VALUE_FILL"
    assert inks(local) == ["VALUE 10"]


def test_parameters_stand_above_or_beside_the_operation_that_uses_them():
    y = Linear(1, 1, seed=0)([1.0])[0]
    for rankdir, rows in (("LR", [1, 1]), ("TB", [2])):
        box = tables(draw(y, rankdir=rankdir))["n2"]
        assert [len(row) for row in box.findall("tr")] == rows
        assert [x.get("port") for x in box.findall("tr/td/table")] == [None, "op"]
        assert {*box.attrib.values()} == {"0"}


def test_the_table_of_a_vector():
    x = Vector([1.0, float("inf")])
    y = x.sum()
    y.backward()
    box = tables(draw(y, names={"x": x}))["n0"]
    row = "cellpadding 2 | cellpadding 2"
    assert cells(box) == ["colspan 2 cellpadding 2", row, row, row]
    assert inks(box) == [
        "INK x[0…1]", "VALUE data", "GRADIENT grad", "VALUE 1", "GRADIENT 1", "WRONG inf", "WRONG 1",
    ]  # fmt: skip


def test_frames_are_nested_and_have_titles():
    with scope("outer"):
        y = X * 2
        with scope("<in>"):
            z = y * 3
    about = {"style": "rounded,filled", "color": sheet.LINE, "fillcolor": sheet.PANEL, "margin": "6",
             "labelloc": "b", "labeljust": "l", "tooltip": " "}  # fmt: skip
    sideways, down = draw(z + y), draw(z + y, rankdir="TB")
    found = attributes(sideways)
    assert found["cluster1"].items() >= (about | {"label": "outer"}).items()
    assert found["cluster2"].items() >= (about | {"label": "&lt;in&gt;"}).items()
    unseen = [x for x in found if found[x].get("style") == "invis"]
    assert unseen == [("n0", "n1"), ("n0", "n3"), ("n2", "n3")]  # constants are not left of frames
    graph = AGraph(down.source)
    (outer,) = graph.subgraphs()
    (inner,) = outer.subgraphs()
    assert (outer.nodes(), inner.nodes()) == (["n1", "n2", "n3", "n4"], ["n3", "n4"])
    first, last = (
        [source.index(f"n{i} [") for i in (3, 4)] for source in (down.source, sideways.source)
    )
    assert first == sorted(first)
    assert last != sorted(last)  # sideways, Graphviz turns the order over in a frame


def legend_of(picture):
    legend = ElementTree.fromstring(attributes(picture)["whole"]["label"])
    return legend, legend.findall("tr/td/table")


def test_the_legend_of_shades():
    shades = ad.sum([Value(1.0) * 10.0**i for i in range(-6, 4)])
    (legend, entries), powers = legend_of(draw(shades, color="grad")), list(sheet.SCALE)[3:]
    words = [f"{'PAPER' if i > 5 else 'INK'} {name}" for i, name in enumerate(powers)]
    assert inks(legend) == ["INK |grad|:", "INK no gradient", *words]
    assert [len(row) for row in legend] == [6, 5]
    fills = [entry.get("bgcolor") for entry in entries]
    assert fills == [sheet.PAPER, "#fdfdfd", *map(sheet.SCALE.get, powers)]
    assert {(x.get("border"), x.get("style"), x.get("color")) for x in entries} == {
        ("1", None, sheet.LINE)
    }
    assert "label" not in attributes(draw(shades))["whole"]
