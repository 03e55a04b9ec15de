"""Sheets in DOT: the attributes of Graphviz, and the tables that its boxes are."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from pictures import COLOURS, chain, example, words
from pygraphviz import AGraph

from autodiff import Value, Vector, draw, scope
from autodiff.nn import Linear
from autodiff.pictures import sheet
from autodiff.pictures.dot import FONT, MANY

X, Y = Value(0.5, label="x"), Value(2.0, label="y")


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


def table(picture, name):
    """The HTML of a box, of the text on an edge, or of the legend."""
    return ElementTree.fromstring(attributes(picture)[name]["label"])


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
    about = attributes(draw(Linear(1, 1, seed=0)([1.0])[0] * Value(2.0, label='"<y>')))
    assert {x["id"]: (x["class"], x["tooltip"]) for x in about.values() if "id" in x} == {
        "n1": ("input", "1"),
        "n2": ("operation", "dot = 1.332; weight[0,0] = 1.332"),
        "n4": ("operation", "+ = 1.332; bias[0] = 0"),
        "n5": ("input", "&quot;&lt;y&gt; = 2"),
        "n6": ("output", "× = 2.664"),
    }


def border(element):
    """The border of a table, its width, its style and space to a second one; its line and fill."""
    line, fill = (COLOURS[element.get(name)] for name in ("color", "bgcolor"))
    width, style, space = (element.get(name) for name in ("border", "style", "cellspacing"))
    return " ".join(filter(None, [width, style, space, line, fill]))


def test_each_role_has_a_border():
    y = Linear(1, 1, seed=0)([0.5])[0] * 3.0
    picture = draw(y.sin(), edges="local")
    roles = {about.get("class"): name for name, about in attributes(picture).items()}
    boxes = {role: table(picture, name) for role, name in roles.items() if role}
    assert {role: border(box) for role, box in boxes.items()} == {
        "input": "1 0 INK VALUE_FILL",
        "parameter": "1 2 INK PAPER",
        "constant": "0 0 INK PANEL",
        "operation": "1 rounded 0 INK PAPER",
        "output": "3 rounded 0 INK PAPER",
    }
    inner = {role: box.find("tr/td/table") for role, box in boxes.items()}
    doubled = {role: border(box) for role, box in inner.items() if box is not None}
    assert doubled == {"parameter": "1 0 INK PAPER"}


def test_a_text_has_its_colour_and_a_sign_is_large():
    sign = f'<b><font point-size="13.5"><font color="{sheet.INK}">+</font></font></b>'
    data = f'<font color="{sheet.VALUE}">data 2.5</font>'
    assert f">{sign}<br/>{data}</td>" in draw(X + 2.0).source


A0, A1 = ("port a0 width 6 height 6", "port a1 width 6 height 6")
V, PAIR = Vector([1.0, 2.0]), "cellpadding 2 | cellpadding 2"


@pytest.mark.parametrize(
    ("root", "options", "name", "rows"),
    [(X - Y, {}, "n2", [f"{A0} | rowspan 2 cellpadding 4 | width 6 rowspan 2", A1]),
     (X - Y, {"rankdir": "TB"}, "n2", [f"{A0} | {A1}", "colspan 2 cellpadding 4"]),
     (X.sin(), {}, "n1", ["cellpadding 4"]), (X.sin(), {"edges": "local"}, "e0", ["cellpadding 4"]),
     (V.sum(), {"edges": "message", "names": {"v": V}}, "n0", ["colspan 2 cellpadding 2", *[PAIR] * 3])],
)  # fmt: skip
def test_an_operation_has_a_cell_for_each_argument_and_a_vector_for_each_entry(
    root, options, name, rows
):
    names = "port", "width", "height", "rowspan", "colspan", "cellpadding"
    about = lambda cell: " ".join(f"{x} {cell.get(x)}" for x in names if cell.get(x))  # noqa: E731
    box = table(draw(root, **options), name)
    assert [" | ".join(map(about, row)) for row in box.findall("tr")] == rows


def test_parameters_stand_above_or_beside_the_operation_that_uses_them():
    y = Linear(1, 1, seed=0)([1.0])[0]
    for rankdir, rows in (("LR", [1, 1]), ("TB", [2])):
        box = table(draw(y, rankdir=rankdir), "n2")
        assert [len(row) for row in box.findall("tr")] == rows
        assert [x.get("port") for x in box.findall("tr/td/table")] == [None, "op"]
        assert {*box.attrib.values()} == {"0"}


def test_an_array_is_an_image_and_the_legend_has_six_entries_in_a_row():
    picture = draw(Vector([1.0] * 8).sum(), arrays=True, color="grad")
    cells = table(picture, "n0").iter("td")
    sizes = [(x.get("width"), x.get("height")) for x in cells if x.get("fixedsize") == "true"]
    assert sizes == [("11", "74")]  # points: 72 for 8 numbers, and the frame
    legend = table(picture, "whole")
    assert [len(row) for row in legend] == [6, 5]
    assert [*legend.itertext()] == [*map(words, picture.page.legend)]


# -- Edges and frames -----------------------------------------------------------------------------


@pytest.mark.parametrize(("rankdir", "out", "into"), [("LR", "e", "w"), ("TB", "s", "n")])
def test_edges_enter_at_the_cells_of_their_arguments(rankdir, out, into):
    picture = draw((X - Y).sin(), rankdir=rankdir)
    ends = [("n0", "n2:a0"), ("n1", "n2:a1"), ("n2", "n3:op")]
    found = re.findall(r"n\S+ -> \S+", picture.source)
    assert found == [f"{tail}:op:{out} -> {head}:{into}" for tail, head in ends]
    ordered = [name for name, x in attributes(picture).items() if x.get("ordering") == "in"]
    assert ordered == ["n2"]


def test_strong_and_weak_arrows():
    found = attributes(draw((y := X - Y) * 2, highlight=[X, y]))
    lines = {x: (z.get("penwidth"), z.get("color")) for x, z in found.items() if type(x) is tuple}
    weak = None, "#3f86c973"
    edges = ("n0", "n2"), ("n1", "n2"), ("n2", "n4"), ("n3", "n4")
    assert lines == dict(zip(edges, [("2", None), weak, weak, weak]))


def test_a_number_on_an_edge_is_a_box_on_its_way():
    found = attributes(draw(X * 10.0, edges="message"))
    assert found["e0"]["id"] == "e0"
    heads = {x: y.get("arrowhead") for x, y in found.items() if type(x) is tuple}
    assert heads == {("n0", "e0"): "none", ("e0", "n2"): None, ("n1", "n2"): None}


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
