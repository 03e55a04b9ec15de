"""The graph as a picture: what stands in its boxes and on its edges, read from its DOT text."""

import base64
import html
import math
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import graphviz
import pytest

import autodiff
from autodiff import Matrix, Value, Vector, draw, less, logsumexp, operation, scope, where
from autodiff.nn import Linear, Sequential, cross_entropy
from autodiff.pictures import drawing, layout, look
from autodiff.pictures.texts import printable

SVG = "{http://www.w3.org/2000/svg}"


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


def example():
    a, b = Value(-4.0, label="a"), Value(2.0, label="b")
    c = a * b + b**3
    c.label = "c"
    return c


def network(*sizes, activation=autodiff.tanh):
    pairs = list(zip(sizes, sizes[1:]))
    return Sequential(*[Linear(n, m, activation=activation, seed=n) for n, m in pairs])


# -- Boxes --------------------------------------------------------------------------------------


def test_a_box_shows_label_data_and_grad():
    c = example()
    boxes = [["a", "data −4"], ["b", "data 2"], ["·", "data −8"], ["b³", "data 8"]]
    assert said(draw(c)) == [*boxes, ["+", "c", "data 0"]]
    c.backward()
    grads = [["grad 2"], ["grad 8"], ["grad 1"], ["grad 1"]]
    assert said(draw(c)) == [
        *[box + grad for box, grad in zip(boxes, grads)],
        ["+", "c", "data 0", "grad 1"],
    ]


X, Y, Z = Value(0.5, label="x"), Value(2.0, label="y"), Value(3.0, label="z")


@pytest.mark.parametrize(
    ("y", "sign"),
    [(X**2, "x²"), (X**12, "x¹²"), (X**0.5, "x**0.5"), ((X + 1) ** 3, "( )³"),
     (Value(3.0, label="a b") ** 2, "( )²"), (X**Y, "**"), (X - 1, "−"), (X * 1, "·")],
)  # fmt: skip
def test_the_sign_of_an_operation(y, sign):
    assert said(draw(y))[-1][0] == sign


def test_an_exponent_that_is_used_elsewhere_has_a_box():
    two = Value(2.0)
    two.requires_grad = False
    assert ["2"] in said(draw(X**two + two))
    assert ["2"] not in said(draw(X**two + X))


@pytest.mark.parametrize(
    ("x", "number"),
    [(1e-9, "1e−9"), (1 / 3, "0.3333"), (123456789.0, "1.235e8"), (-0.5, "−0.5"), (-0.0, "0"),
     (math.nan, "nan"), (math.inf, "inf")],
)  # fmt: skip
def test_numbers_have_four_digits_everywhere(x, number):
    y = Value(x, label="x") * 1
    picture = draw(y)
    assert said(picture)[0][1] == f"data {number}"
    assert repr(picture).endswith(f"= {number}>")


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("options", [{}, {"edges": "message"}, {"color": "grad"}])
def test_nan_and_inf_are_red(bad, options):
    source = draw(Value(bad, label="x") + Value(1.0, label="good"), **options).source
    red = [">x<" in line for line in source.splitlines() if look.WRONG in line]
    assert any(red)
    assert not any(">good<" in line for line in source.splitlines() if look.WRONG in line)


def test_roles_have_borders_and_a_legend():
    y = Linear(1, 1, seed=0)([0.5])[0] * 3.0
    roles = re.findall(r"class=(\w+)", draw(y, edges="local").source)
    assert (
        sorted(roles)
        == ["constant", "input", "operation", "operation", "output"] + ["parameter"] * 2
    )
    assert len({*look.BORDERS.values()}) == len(look.BORDERS)  # also without colours
    legend = ["input", "parameter", "constant", "operation", "output"]
    assert texts(draw(y, legend=True))[:5] == legend
    assert not set(legend) & set(texts(draw(y)))


def test_names_of_variables():
    a, labelled = Value(1.0), Value(2.0, label="mine")
    w, big = Vector([3.0, 4.0]), Matrix([[5.0, 6.0]])
    _, _hidden = a, w
    y = autodiff.sum([a, labelled, *w, big[0, 1]])
    names = [box[0] for box in said(draw(y, names=locals()))]
    assert names == ["a", "mine", "w[0…1]", "big[0,1]", "sum"]
    assert said(draw(y, names=locals()))[-1][1] == "y"


def test_entries_of_a_vector_are_a_table_with_one_edge():
    x, w = Vector([1.0, 2.0]), Vector([float(i) for i in range(20)])
    picture = draw(x @ x + w @ w, names={"w": w})
    assert ["w[0…19]", "data", "0", "1", "2", "3", "4", "5", "…", "19"] in said(picture)
    assert picture.source.count("->") == 4
    scalar = draw(x @ Vector([3.0, 4.0]) + x[0])
    assert ["data 1"] in said(scalar)  # it is used alone, too


def test_parameters_stand_at_the_operation_that_uses_them():
    y = Linear(2, 1, seed=0)([1.0, 2.0])[0]
    boxes = said(draw(y))
    assert [[line for line in box if "[" in line or line in "dot+"] for box in boxes] == [
        [], ["weight[0,0…1]", "dot"], ["bias[0]", "+"],
    ]  # fmt: skip
    assert len(said(draw(y, edges="local"))) == 5  # where numbers stand on their edges


def test_equal_numbers_are_not_taken_for_the_same_value():
    x = Vector([1.0, 1.0])
    y = x.dot(x) + Vector([1.0, 1.0]).dot(x)  # two dots with the same data
    assert len(said(draw(y))) == 5


# -- Edges --------------------------------------------------------------------------------------


def test_edges_enter_in_the_order_of_arguments():
    x, y = Value(2.0), Value(3.0)
    source = draw(logsumexp([y, x, y])).source
    assert re.findall(r"(n\d):op:e -> n2:a(\d):w", source) == [
        ("n0", "0"),
        ("n1", "1"),
        ("n0", "2"),
    ]
    source = draw((x - y) * (y - x)).source
    assert re.findall(r"(n\d):op:e -> (n\d):(a\d):w", source)[:4] == [
        ("n0", "n2", "a0"), ("n1", "n2", "a1"), ("n1", "n3", "a0"), ("n0", "n3", "a1"),
    ]  # fmt: skip
    assert "n0:op:s -> n2:a0:n" in draw(x - y, rankdir="TB").source


def test_derivatives_on_the_edges():
    # c = a b + b³ at (-4, 2): ∂(ab)/∂a = b = 2, ∂(ab)/∂b = a = -4, ∂b³/∂b = 3 b² = 12
    assert said(draw(example(), edges="local"), "e") == [["2"], ["−4"], ["12"], ["1"], ["1"]]
    c = example() * 10.0  # so that what comes from above is 10, not 1
    picture = draw(c, edges="message")
    assert said(picture, "e") == [
        ["10 · 2 = 20"], ["10 · (−4) = −40"], ["10 · 12 = 120"], ["10 · 1 = 10"], ["10 · 1 = 10"],
        ["1 · 10 = 10"],
    ]  # fmt: skip
    assert {"grad 80 = 120 − 40", "grad 20"} <= set(shown(picture))
    assert all(node.grad == 0.0 for node in (c, *c.parents))  # nothing was changed
    assert said(draw(Value(2.0) * 3, edges="message"), "e") == [["1 · 3 = 3"]]  # none to constants


def test_derivatives_on_the_edge_of_a_vector():
    a, x = Matrix([[1, 2], [3, 4]]), Vector([5, 6])
    picture = draw((a @ x).sum(), edges="message", names={"A": a, "x": x})
    assert said(picture, "e")[:4] == [
        ["1 · (5, 6)", "= (5, 6)"], ["1 · (1, 2)", "= (1, 2)"], ["1 · (5, 6)", "= (5, 6)"],
        ["1 · (3, 4)", "= (3, 4)"],
    ]  # fmt: skip
    assert ["x[0…1]", "data", "grad", "5", "4 = 3 + 1", "6", "6 = 4 + 2"] in said(picture)
    ones = draw(Vector([1.0] * 5).sum(), edges="local")
    assert said(ones, "e") == [["(1, …, 1)"]]


def test_a_long_sum_at_a_fork_is_counted():
    x = Value(1.0, label="x")
    assert "grad 1 = sum of 8" in shown(draw(logsumexp([x] * 8), edges="message"))


def chain(count):
    y = Value(0.5, label="x")
    for _ in range(count):
        y = autodiff.sin(y)
    return y


def test_many_edges_have_no_numbers():
    assert len(said(draw(chain(30), edges="message"), "e")) == 30
    assert said(draw(chain(31), edges="message"), "e") == []


def test_gradients_before_backward_are_left_out():
    x, y = Value(2.0, label="x"), Value(3.0, label="y")
    (x * x).backward()
    assert not any("grad" in text for text in shown(draw(x * y)))  # x.grad is that of another
    assert not any("grad" in text for text in shown(draw(x * y, edges="local")))
    assert {"grad 2", "grad 3"} <= set(shown(draw(x * y, color="grad")))  # on request


def test_a_gradient_with_a_graph_is_drawn_too():
    x = Value(3.0, label="x")
    (x**3).backward(create_graph=True)
    assert "grad 27" in shown(draw(x))
    assert {"x", "data 27", "grad 18"} <= set(shown(draw(x.grad, edges="message")))


# -- Colours ------------------------------------------------------------------------------------


def contrast(one, other):
    """The contrast of two colours, by WCAG 2.2."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear))

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_colours_can_be_seen_on_light_and_dark_pages():
    for fill in [look.PAPER, look.PANEL, look.VALUE_FILL, look.GRADIENT_FILL]:
        for ink in [look.INK, look.SOFT, look.VALUE, look.GRADIENT, look.WRONG]:
            assert contrast(fill, ink) >= 4.5, (fill, ink)
    for ground in "#ffffff", "#16181c":  # lines stand on the page itself
        for line in [look.LINE, look.VALUE_LINE, look.GRADIENT_LINE]:
            assert contrast(ground, line) >= 3, (ground, line)
    for name, shade in look.SCALE.items():
        assert contrast(shade, look.PAPER if name in look.DARKEST else look.INK) >= 4.5, name
    shades = [contrast(shade, look.PAPER) for shade in list(look.SCALE.values())[3:]]
    assert shades == sorted(shades)
    assert "bgcolor=transparent" in draw(example()).source


@pytest.mark.parametrize(
    ("gradient", "shade"),
    [(0.0, "0"), (1e-300, "below 1e−5"), (9e-6, "below 1e−5"), (2e-5, "1e−5 to 0.0001"),
     (-0.5, "0.1 to 1"), (1.0, "1 to 10"), (99.0, "10 to 100"), (1e300, "above 100")],
)  # fmt: skip
def test_boxes_are_shaded_by_the_size_of_the_gradient(gradient, shade):
    picture = draw(Value(1.0, label="x") * gradient, color="grad")
    (x,) = (line for line in picture.source.splitlines() if ">x<" in line)
    assert f'bgcolor="{look.SCALE[shade]}"' in x
    assert {"|grad|:", shade} <= set(texts(picture))


# -- Frames -------------------------------------------------------------------------------------


def test_a_layer_is_a_frame():
    source = draw(Sequential(Linear(2, 1))([1.0, 2.0])[0]).source
    assert re.findall(r"label=<(\w.*?)>", source) == ["Sequential", "0: Linear"]


def test_ten_layers_collapse_to_ten_boxes():
    y = autodiff.sum(network(*[9] * 11)([0.1 * i for i in range(9)]))
    boxes = said(draw(y, collapse=True))
    layers = [[f"{i}: Linear", "90 parameters"] for i in range(10)]
    assert boxes[1:] == [*layers, ["sum", f"data {y.data:.4g}".replace("-", "−")]]
    assert said(draw(y, collapse=True), "e") == [["9 values"]] * 11


def test_a_collapsed_network_and_its_loss():
    loss = cross_entropy(network(4, 3, 2)([1.0, 2.0, 3.0, 4.0]), 1)
    loss.backward()
    names = [box[0] for box in said(draw(loss, collapse=True))]
    assert names == ["data", "0: Linear", "1: Linear", "loss"]
    x = Value(1.0, label="x")
    with scope("part"):
        y = x * 3.0 * 5.0
    picture = draw((y * 1.0 + 2.0) * 3.0, collapse=True, color="grad")
    assert [box[0] for box in said(picture)] == ["x", "part", "1", "·", "2", "+", "3", "·"]
    assert "|grad| ≤ 15" in shown(picture)  # x is outside, and 3 x has 15


def test_parameters_of_two_collapsed_calls_are_in_both():
    layer = Linear(1, 1, seed=0)
    boxes = said(draw(layer([1.0])[0] * layer([2.0])[0], collapse=True))
    assert [box[0] for box in boxes].count("Linear") == 2
    assert not any("[" in line for box in boxes for line in box)


# -- Labels -------------------------------------------------------------------------------------

LABELS = [
    "{", "}", "|", "<", ">", '"', "\\", "\\n", "\\N", "a|b", "{a}", "<p> x", "<b>bold</b>", "&amp;", "&lt;",
    "a  b", "ünï ∂x 漢字", "'", "%s", "-->", "]]>", "#", "\\\\", "x\\", "->", "graph", " x ",
    "👩\u200d🔬 lab", "שלום", "e\u0301", "❤\ufe0f", 'port="op"',
]  # fmt: skip


def test_every_label_is_shown_as_it_is():
    picture = draw(autodiff.sum([Value(1.0, label=label) for label in LABELS]))
    assert {*LABELS} <= {*texts(picture)}
    svg = ElementTree.fromstring(picture.pipe("svg"))
    links = [a.get("{http://www.w3.org/1999/xlink}title", "") for a in svg.iter(f"{SVG}a")]
    titles = [f"{label} = 1".replace("\\", "∖") for label in LABELS]
    assert set(titles) <= {title.replace("\xa0", " ") for title in links}
    for label in LABELS:  # as the name of a picture too
        svg = ElementTree.fromstring(draw(Value(1.0, label=label)).pipe("svg"))
        assert label[:1] == "%" or svg.find(f"{SVG}g").findtext(f"{SVG}title").strip()


@pytest.mark.parametrize(
    ("label", "printed"),
    [("first\nsecond\x00\x1b", "first\nsecond��"), ("x" * 500, "x" * 39 + "…"),
     ("half \ud83d", "half \ufffd")],
)  # fmt: skip
def test_labels_that_are_changed(label, printed):
    assert printable(label) == printed
    assert texts(draw(Value(1.0, label=label) * 2))[0] == printed.split("\n")[0]


@pytest.mark.parametrize("name", ["<b>bold</b>", "a|b{c}", "\\N \\G", "&amp;", "\x00\x1b", "\ud800",
                                  "\uffff", "a\nb", "]]>", '"', "x\\"])  # fmt: skip
@pytest.mark.parametrize("options", [{}, {"collapse": True}, {"arrays": True}], ids=str)
def test_names_of_scopes_vectors_and_operations_cannot_break_a_picture(name, options):
    def rule(x, y):
        return x * y, lambda grad: (grad * y, grad * x)

    rule.__name__ = name
    v = Vector([1.0, 2.0, 3.0])
    with scope(name):
        y = operation(rule)((v * v).sum(), Value(2.0, label=name)) + v[0]
    picture = draw(y, names={name: v}, **options)
    assert printable(name).split("\n")[0] in " ".join(texts(picture))
    assert "\n" not in repr(picture)
    repr(picture).encode()


# -- In words -----------------------------------------------------------------------------------


def test_a_picture_says_what_it_shows():
    c = example()
    c.backward()
    picture = draw(c)
    assert repr(picture) == "<Drawing: c = a·b + b³ = 0; ∂c/∂a = 2, ∂c/∂b = 8>"
    svg = ElementTree.fromstring(picture.pipe("svg"))
    assert svg.find(f"{SVG}g").findtext(f"{SVG}title") == picture.said
    nodes = [g for g in svg.iter(f"{SVG}g") if g.get("class", "").startswith("node")]
    links = [g.find(f".//{SVG}a").get("{http://www.w3.org/1999/xlink}title") for g in nodes]
    assert sorted(links) == ["a = −4, grad 2", "b = 2, grad 8", "b³ = 8, grad 1", "c = 0, grad 1",
                             "· = −8, grad 1"]  # fmt: skip
    large = network(2, 3, 1)([1.0, 2.0])[0]
    large.label = "score"
    assert re.match(
        r"<Drawing: 12 operations on 2 inputs, 13 parameters; score = ", repr(draw(large))
    )


def bent(x):
    return (x if x > 0 else -x), lambda grad: (grad if x > 0 else -grad,)


def wave(x):
    return math.sin(x), lambda grad: (grad * math.cos(x),)


def cube(x):
    return x * x * x, lambda grad: (grad * 3 * x * x,)


@pytest.mark.parametrize(
    ("y", "options", "words"),
    [(operation(bent)(X) + X, {}, "bent(x) + x = 1"), (operation(wave)(X) + X, {}, "wave(x) + x = 0.9794"),
     (operation(cube)(X) + X, {}, "cube(x) + x = 0.625"), (X**2.5, {}, "x**2.5 = 0.1768"),
     (where(less(0.0, X), X * 2, X), {}, "where(0 < x, x·2, x) = 1"), (X, {}, "x = 0.5"),
     (Y * 3, {"edges": "message"}, "y·3 = 6; ∂z/∂y = 3"),
     (Y * Z, {"edges": "message"}, "y·z = 6; ∂f/∂y = 3, ∂f/∂z = 2")],
)  # fmt: skip
def test_formulas(y, options, words):
    assert repr(draw(y, **options)) == f"<Drawing: {words}>"


def test_a_graph_whose_inputs_have_changed_has_no_formula():
    x = Value(2.0, label="x")
    for f, changed in [(Value.log, -1.0), (lambda x: 1 / x, 0.0), (Value.exp, 1e4), (abs, 3.0)]:
        x.data = 2.0
        y = f(x)
        x.data = changed
        assert repr(draw(y)).startswith("<Drawing: 1 operation on 1 input")
    x.data = 0.0
    assert repr(draw(x.sqrt())) == "<Drawing: sqrt(x) = 0>"  # its slope is undefined, then as now


# -- Sizes and files ----------------------------------------------------------------------------


def test_a_picture_is_as_wide_as_asked_or_says_that_it_cannot():
    y = network(2, 3, 1)([1.0, 2.0])[0]
    assert draw(y, width=700).layout().size[0] <= 700
    with pytest.raises(ValueError, match=r"found a picture that is (\d+) pixels wide") as error:
        draw(y, width=300)
    needed = int(re.search(r"write width=(\d+)$", str(error.value))[1])
    layout = draw(y, width=needed).layout()
    assert needed - 1 < layout.size[0] < needed + 1
    scale = float(re.search(rb"scale\(([\d.]+)", layout.svg)[1])
    smallest = min(map(float, re.findall(rb'font-size="([\d.]+)"', layout.svg)))
    assert smallest * scale * 4 / 3 == pytest.approx(9, abs=0.1)
    large = Vector([1.0] * 20) @ Matrix([[float(i + j) for j in range(20)] for i in range(20)])
    assert draw(large.map(autodiff.sin).sum(), rankdir="TB").layout().size[0] > 880


def test_too_many_boxes_are_refused(monkeypatch):
    monkeypatch.setattr(drawing, "READABLE", 5)
    assert len(said(draw(example()))) == 5
    with pytest.raises(ValueError, match="found 7 boxes and 7 edges, expected at most 5 boxes"):
        draw(example() + X)
    monkeypatch.setattr(drawing, "READABLE", 300)
    monkeypatch.setattr(drawing, "EDGES", 7)
    with pytest.raises(ValueError, match=r"arrays=True .* collapse=True"):
        draw((X * Y) * (X * Y) * X)


def test_a_drawing_is_a_digraph_that_jupyter_shows():
    picture = draw(example())
    assert isinstance(picture, graphviz.Digraph)
    bundle, metadata = picture._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<?xml")
    png = base64.b64decode(bundle["image/png"])
    assert png.startswith(b"\x89PNG")
    width = metadata["image/png"]["width"]
    assert int.from_bytes(png[16:20], "big") == pytest.approx(2 * width, abs=3)  # of a sharp screen
    assert metadata["image/png"]["alt"] == "c = a·b + b³ = 0"
    assert bundle["text/plain"] == repr(picture)
    assert f'width="{width}" src="data:image/png;base64,' in picture.image()

    picture.attr(ranksep="1")  # what is added is drawn
    assert picture.layout().size[0] > width


def test_render_writes_the_source_and_the_picture(tmp_path):
    picture = draw(example(), format="png")
    written = picture.render("g", directory=tmp_path)
    assert Path(written) == tmp_path / "g.png"
    assert Path(written).read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "g").read_text(encoding="utf-8") == picture.source
    written = picture.render(tmp_path / "h", format="pdf", cleanup=True)
    assert Path(written).read_bytes().startswith(b"%PDF")
    assert not (tmp_path / "h").exists()
    with pytest.raises(ValueError, match="could not draw this as 'nope'"):
        picture.render("x", directory=tmp_path, format="nope")
    assert not (tmp_path / "x").exists()


def test_save_takes_the_format_from_the_ending(tmp_path):
    picture = draw(example())
    for ending, start in [
        ("svg", b"<?xml"),
        ("PNG", b"\x89PNG"),
        ("pdf", b"%PDF"),
        ("gv", b"digraph"),
    ]:
        path = tmp_path / "new" / f"graph.{ending}"
        assert picture.save(path) == str(path)
        assert path.read_bytes().startswith(start)
    for name in "y.html", "y.v2", "y.jpeg":
        with pytest.raises(ValueError, match=r"file name '.*', expected one that ends in \.svg, "):
            picture.save(tmp_path / "other" / name)
    assert not (tmp_path / "other").exists()


def test_without_graphviz_the_source_is_there_and_the_error_says_what_to_install(monkeypatch):
    def absent(*args, **options):
        raise OSError(138, "emscripten does not support processes.")

    monkeypatch.setattr(layout, "pygraphviz_module", lambda: None)
    monkeypatch.setenv("PATH", "")
    assert "digraph" in draw(Value(1.0) * 2).source
    with pytest.raises(RuntimeError, match="pip install pygraphviz"):
        draw(Value(1.0) * 2).pipe()
    monkeypatch.setattr(subprocess, "Popen", absent)  # as in a browser
    with pytest.raises(RuntimeError, match=r"found no Graphviz, .* as in a browser, have the DOT"):
        draw(Value(1.0) * 2).pipe()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [({"rankdir": "RL"}, ValueError, "found rankdir 'RL', expected None, 'LR' or 'TB'"),
     ({"edges": "all"}, ValueError, "found edges 'all', expected None, 'local' or 'message'"),
     ({"color": "data"}, ValueError, "found color 'data', expected None or 'grad'"),
     ({"format": "gif2"}, ValueError, "gif2"),
     ({"names": [X]}, AttributeError, "'list' object has no attribute 'items'")],
)  # fmt: skip
def test_what_draw_refuses(options, error, words):
    with pytest.raises(error, match=words):
        draw(X, **options)
    with pytest.raises(TypeError, match="draw: found a float, expected a Value"):
        draw(3.0)
