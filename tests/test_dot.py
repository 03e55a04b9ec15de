"""Scenes in DOT: the attributes of Graphviz, and the tables that its boxes are."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from pictures import attributes, example, inks, style, tables, texts
from pygraphviz import AGraph

import autodiff
from autodiff import Value, Vector, draw, logsumexp, scope
from autodiff.nn import Linear
from autodiff.pictures import look
from autodiff.pictures.dot import MANY

X, Y = Value(0.5, label="x"), Value(2.0, label="y")


def test_the_whole_is_transparent_and_lies_from_left_to_right():
    found = attributes(draw(example()))
    font = {"fontname": look.FONT, "fontsize": "10.5", "fontcolor": look.INK}
    near = {"nodesep": "0.1", "ranksep": "0.2"}
    about = {"bgcolor": "transparent", "rankdir": "LR", "nslimit": "1", "size": "9.167,1000"}
    assert found["whole"] == font | near | about
    assert found["node"].items() >= (font | {"shape": "plain"}).items()
    line = {"color": look.VALUE_LINE, "penwidth": "1.2", "arrowsize": "0.6", "tooltip": " "}
    assert found["edge"].items() >= line.items()
    assert attributes(draw(example(), rankdir="TB"))["whole"]["rankdir"] == "TB"


@pytest.mark.parametrize(("count", "rough"), [(MANY, None), (MANY + 1, "line")])
def test_a_graph_with_many_edges_is_laid_out_roughly(count, rough):
    y = X
    for _ in range(count):
        y = y.sin()
    about = attributes(draw(y))["whole"]
    assert about.get("splines") == rough
    assert about["nslimit"] == ("0.02" if rough else "1")


def test_boxes_have_ids_classes_and_tooltips():
    names = "id", "class", "tooltip"

    def found(picture):
        every = attributes(picture).items()
        return [
            [x.get(name) for name in names] for n, x in every if n[0] in "ne" and n[-1].isdigit()
        ]

    assert found(draw(example())) == [
        ["n0", "input", "a = −4"], ["n1", "input", "b = 2"], ["n2", "operation", "· = −8"],
        ["n3", "operation", "b³ = 8"], ["n4", "output", "c = 0"],
    ]  # fmt: skip
    assert found(draw(Vector([1.0, 2.0]).sum()))[0][2] == "1; 2"
    assert found(draw(Linear(1, 1, seed=0)([1.0])[0]))[-1][2] == "dot = 1.332; weight[0,0] = 1.332"
    assert found(draw(X * 2, edges="local"))[-1][:1] == ["e0"]


ROLES = {
    "input": (1, "", 0, "INK", "VALUE_FILL"),
    "parameter": (1, "", 2, "INK", "PAPER"),
    "constant": (1, "dashed", 0, "LINE", "PANEL"),
    "operation": (1, "rounded", 0, "INK", "PAPER"),
    "output": (3, "rounded", 0, "INK", "PAPER"),
    "collapsed scope": (1, "rounded", 2, "LINE", "PANEL"),
}


def test_each_role_has_a_border():
    layer = Linear(1, 1, seed=0)
    plain = draw((layer([0.5])[0] * 3.0).sin(), edges="local")
    collapsed = draw((layer([0.5])[0] * 3.0), collapse=True)
    found = {}
    for picture in plain, collapsed:
        about = attributes(picture)
        found |= {
            about[x]["class"]: style(box) for x, box in tables(picture).items() if x[0] == "n"
        }
    assert found == {role.split()[-1]: border for role, border in ROLES.items()}
    inner = {x: box.find("tr/td/table") for x, box in tables(plain).items()}
    doubled = [style(box) for x, box in inner.items() if x[0] == "n" and box is not None]
    assert doubled == [(1, "", 0, "INK", "PAPER")] * 2  # weight and bias


def test_texts_have_the_colours_of_what_they_are():
    c = example()
    c.backward()
    assert inks(tables(draw(c))["n4"]) == [
        ("INK", "+"), ("INK", "c"), ("VALUE", "data 0"), ("GRADIENT", "grad 1"),
    ]  # fmt: skip
    assert inks(tables(draw(X + 2.0))["n1"]) == [("SOFT", "2")]
    (sign,) = tables(draw(c))["n4"].iter("b")
    assert sign.find("font").get("point-size") == "13.5"
    nan = tables(draw(Value(float("nan"), label="x") * 2))["n0"]
    assert inks(nan) == [("WRONG", "x"), ("WRONG", "data nan")]
    assert style(nan)[3] == "WRONG"


def cells(box):
    """The rows of a table of cells, each with its attributes that matter."""
    names = "port", "width", "height", "rowspan", "colspan", "cellpadding"
    return [
        [" ".join(f"{x}{cell.get(x)}" for x in names if cell.get(x)) for cell in row]
        for row in box.findall("tr")
    ]


def test_an_operation_has_a_place_for_each_argument():
    slot = "width6 height6"
    assert cells(tables(draw(X - Y))["n2"]) == [
        [f"porta0 {slot}", "rowspan2 cellpadding4", "width6 rowspan2"], [f"porta1 {slot}"],
    ]  # fmt: skip
    assert cells(tables(draw(X - Y, rankdir="TB"))["n2"]) == [
        [f"porta0 {slot}", f"porta1 {slot}"], ["colspan2 cellpadding4"],
    ]  # fmt: skip
    for box in tables(draw(X.sin())).values():
        assert cells(box) == [["cellpadding4"]]
    found = attributes(draw((X - Y).sin()))
    assert [x for x in found if found[x].get("ordering") == "in"] == ["n2"]


@pytest.mark.parametrize(
    ("y", "ends"),
    [(logsumexp([Y, X, Y]), [("n0", "a0"), ("n1", "a1"), ("n0", "a2")]),
     (logsumexp([X, Y]), [("n0", "op"), ("n1", "op")]),  # in any order
     (logsumexp([X] * 9), [("n0", "op")] * 9), (logsumexp([X] * 8), [("n0", f"a{i}") for i in range(8)]),
     (autodiff.prod([X, Y]), [("n0", "op"), ("n1", "op")]), (autodiff.hypot(X, Y), [("n0", "op"), ("n1", "op")]),
     (X**2, [("n0", "op")]), (X**Y, [("n0", "a0"), ("n1", "a1")]),
     ((X - Y) * (Y - X), [("n0", "a0"), ("n1", "a1"), ("n1", "a0"), ("n0", "a1"), ("n2", "a0"), ("n3", "a1")])],
)  # fmt: skip
def test_edges_enter_in_the_order_of_arguments(y, ends):
    for rankdir, (out, into) in {"LR": "ew", "TB": "sn"}.items():
        pattern = rf"(n\d):op:{out} -> n\d+:(op|a\d):{into}"
        assert re.findall(pattern, draw(y, rankdir=rankdir).source) == ends


def test_a_number_on_an_edge_is_a_box_on_its_way():
    picture = draw(X * 10.0, edges="message")
    label = tables(picture)["e0"]
    assert style(label) == (1, "rounded", 0, "GRADIENT_LINE", "GRADIENT_FILL")
    assert cells(label) == [["cellpadding4"]]
    assert inks(label) == [
        ("GRADIENT", "1 ·\N{NO-BREAK SPACE}"), ("VALUE", "10"), ("GRADIENT", "\N{NO-BREAK SPACE}"), ("GRADIENT", "= 10"),
    ]  # fmt: skip
    heads = {x: y.get("arrowhead") for x, y in attributes(picture).items() if type(x) is tuple}
    assert heads == {("n0", "e0"): "none", ("e0", "n2"): None, ("n1", "n2"): None}
    local = tables(draw(X * 10.0, edges="local"))["e0"]
    assert (style(local)[3:], inks(local)) == (("VALUE_LINE", "VALUE_FILL"), [("VALUE", "10")])
    several = draw(Linear(3, 2, seed=0)([1.0, 2.0, 3.0]).sum(), collapse=True)
    assert style(tables(several)["e0"])[3:] == ("LINE", "PAPER")


def test_parameters_stand_above_or_beside_the_operation_that_uses_them():
    y = Linear(1, 1, seed=0)([1.0])[0]
    for rankdir, rows in (("LR", [1, 1]), ("TB", [2])):
        box = tables(draw(y, rankdir=rankdir))["n2"]
        assert [len(row) for row in box.findall("tr")] == rows
        assert [x.get("port") for x in box.findall("tr/td/table")] == [None, "op"]
        about = [box.get(name) for name in ("border", "cellborder", "cellspacing", "cellpadding")]
        assert about == ["0"] * 4


def test_the_table_of_a_vector():
    x = Vector([1.0, 2.0])
    y = x @ x
    y.backward()
    box = tables(draw(y, names={"x": x}))["n0"]
    assert cells(box) == [["colspan2 cellpadding2"]] + [["colspan1 cellpadding2"] * 2] * 3
    numbers = [("VALUE", "data"), ("GRADIENT", "grad"), ("VALUE", "1"), ("GRADIENT", "2")]
    assert inks(box)[:5] == [("INK", "x[0…1]"), *numbers]
    assert {ink for ink, _ in inks(tables(draw(Vector([float("inf"), 1.0]).sum()))["n0"])} == {
        "VALUE",
        "WRONG",
    }


def test_frames_are_nested_and_have_titles():
    x = Value(1.0, label="x")
    with scope("outer"):
        y = x * 2
        with scope("<in>"):
            z = y * 3
    about = {"style": "rounded,filled", "color": look.LINE, "fillcolor": look.PANEL, "margin": "6",
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
    assert ({*outer.nodes()}, {*inner.nodes()}) == ({"n1", "n2", "n3", "n4"}, {"n3", "n4"})
    ends = [
        picture.source.index("n3 [") < picture.source.index("n4 [") for picture in (sideways, down)
    ]
    assert ends == [False, True]  # sideways, Graphviz turns the order over in a frame


def legend_of(picture):
    return ElementTree.fromstring(attributes(picture)["whole"]["label"])


def test_the_legend_says_what_is_there():
    layer = Linear(1, 1, seed=0)
    y = layer([0.5])[0] * 3.0
    roles = ["input", "parameter", "constant", "operation", "output"]
    legend = legend_of(draw(y, legend=True))
    assert [text for _, text in inks(legend)] == roles
    found = [style(entry) for entry in legend.findall("tr/td/table")]
    assert found == [(*ROLES[role][:3], "LINE", ROLES[role][4]) for role in roles]
    assert [len(row) for row in legend] == [5]
    assert not set(roles) & set(texts(draw(y)))
    shades = autodiff.sum([Value(1.0) * 10.0**i for i in range(-6, 4)])
    legend = legend_of(draw(shades, color="grad"))
    powers = list(look.SCALE)[3:]
    words = [("PAPER" if name in look.DARKEST else "INK", name) for name in powers]
    assert inks(legend) == [("INK", "|grad|:"), ("INK", "no gradient"), *words]
    assert [len(row) for row in legend] == [6, 5]
    fills = [x.get("bgcolor") for x in legend.findall("tr/td/table")]
    assert fills == [look.PAPER, look.PAPER, *map(look.SCALE.get, powers)]
