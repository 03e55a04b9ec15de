"""The graph as a picture."""

import base64
import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import graphviz
import pytest

import autodiff.pictures.layout
import autodiff.pictures.styles
from autodiff import (
    Matrix,
    Value,
    Vector,
    draw,
    less,
    logsumexp,
    operation,
    scope,
    show_steps,
    where,
)
from autodiff.nn import Linear, Sequential
from autodiff.pictures.drawing import FORMATS
from autodiff.pictures.texts import number

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture):
    """The lines of text in a picture, as a reader sees them."""
    root = ElementTree.fromstring(picture.pipe(format="svg"))
    return [(t.text or "").replace("\N{NO-BREAK SPACE}", " ") for t in root.iter(f"{SVG}text")]


def boxes(picture):
    """Each box of a picture: its texts, and the elements that draw it."""
    root = ElementTree.fromstring(picture.pipe(format="svg"))
    groups = [g for g in root.iter(f"{SVG}g") if g.get("class") == "node"]
    shown = [[(t.text or "").replace("\xa0", " ") for t in g.iter(f"{SVG}text")] for g in groups]
    return list(zip(shown, groups))


def example():
    a, b = Value(-4.0, label="a"), Value(2.0, label="b")
    c = a * b + b**3
    c.label = "c"
    return c


def test_a_drawing_is_a_digraph_that_jupyter_shows():
    picture = draw(example())
    assert isinstance(picture, graphviz.Digraph)
    bundle, metadata = picture._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<?xml")
    png = base64.b64decode(bundle["image/png"])
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20], "big") == pytest.approx(
        2 * metadata["image/png"]["width"], abs=3
    )  # pixels of a screen of high density; Graphviz and the notebook round differently
    assert metadata["image/png"]["alt"] == "c = a·b + b³ = 0"
    assert bundle["text/plain"] == repr(picture)
    assert not re.search("0x[0-9a-f]+", repr(picture))


def test_boxes_show_label_data_and_grad():
    c = example()
    before = ["a", "data −4", "b", "data 2", "data −8", "data 3", "data 8", "c", "data 0"]
    assert sorted(texts(draw(c))) == sorted([*before, "·", "**", "+"])
    c.backward()
    gradients = ["grad 2", "grad 8", "grad 1", "grad 1", "grad 1"]  # the constant 3 has none
    assert sorted(texts(draw(c))) == sorted([*before, *gradients, "·", "**", "+"])


def test_an_edge_for_each_argument_in_order():
    x, y = Value(2.0), Value(3.0)
    source = draw(logsumexp([y, x, y])).source
    assert re.findall(r"(n\d):e -> n2:a(\d):w", source) == [("n0", "0"), ("n1", "1"), ("n0", "2")]
    assert "ordering=in" in source


def arrows(picture):
    """Where each edge starts and where it ends."""
    root = ElementTree.fromstring(picture.pipe(format="svg"))
    paths = [g.find(f"{SVG}path") for g in root.iter(f"{SVG}g") if g.get("class") == "edge"]
    return [(re.findall(r"-?[\d.]+,-?[\d.]+", p.get("d"))) for p in paths]


def test_a_value_used_twice_has_two_arrows_that_one_can_tell_apart():
    a = Value(3.0, label="a")
    one, other = arrows(draw(a + a))
    heights = [float(end[-1].split(",")[1]) for end in (one, other)]
    assert abs(heights[0] - heights[1]) > 8  # points: more than an arrowhead


def test_the_order_of_arguments_is_seen_where_edges_enter():
    x, y = Value(2.0, label="x"), Value(3.0, label="y")
    source = draw((x - y) * (y - x)).source
    assert re.findall(r"(n\d):e -> (n\d):(a\d):w", source)[:4] == [
        ("n0", "n2", "a0"), ("n1", "n2", "a1"), ("n1", "n3", "a0"), ("n0", "n3", "a1"),
    ]  # fmt: skip


def test_arguments_enter_from_top_to_bottom():
    x, y = Value(2.0, label="x"), Value(3.0, label="y")
    root = ElementTree.fromstring(draw(x - y).pipe(format="svg"))
    height = {t.text: float(t.get("y")) for t in root.iter(f"{SVG}text")}
    assert height["x"] < height["y"]
    root = ElementTree.fromstring(draw(y - x).pipe(format="svg"))
    height = {t.text: float(t.get("y")) for t in root.iter(f"{SVG}text")}
    assert height["y"] < height["x"]


def test_colours_tell_variables_constants_and_results_apart():
    source = draw(Value(2.0) * 3).source
    looks = re.findall(r'border="(\d)".*color="\S+" bgcolor="(\S+)"( style="\w+")?>', source)
    assert len(set(looks)) == 3
    assert 'bgcolor="#ffffff"' in source


def test_without_colours_borders_tell_roles_apart():
    borders = autodiff.pictures.styles.BORDERS
    assert len({*borders.values(), (1, "", 0)}) == len(borders) + 1


def test_a_picture_for_a_dark_page():
    svg = draw(example(), theme="dark").pipe(encoding="utf-8")
    assert autodiff.pictures.styles.DARK["background"] in svg
    assert "#000000" not in svg


@pytest.mark.parametrize(
    "label",
    ["{", "}", "|", "<", ">", '"', "\\", "\\n", "\\N", "a|b", "{a}", "<p> x", "<b>bold</b>", "&amp;",
     "&lt;", "a  b", "ünï ∂x 漢字", "'", "%s", "-->", "]]>", "#", "\\\\", "x\\", "->", "graph", " x "],
)  # fmt: skip
def test_every_label_is_shown_as_it_is(label):
    y = Value(1.0, label=label) * Value(2.0, label="second")
    assert texts(draw(y))[0] == label


def test_labels_of_several_lines_and_control_characters():
    y = Value(1.0, label="first\nsecond\x00\x1b") * 2
    assert texts(draw(y))[:2] == ["first", "second��"]


def test_long_labels_are_cut():
    y = Value(1.0, label="x" * 500) * 2
    assert texts(draw(y))[0] == "x" * 39 + "…"


@pytest.mark.parametrize(
    ("x", "shown"),
    [(1e-9, "1e−9"), (1 / 3, "0.333333"), (123456789.0, "1.23457e8"), (float("nan"), "nan"),
     (float("inf"), "inf"), (-0.5, "−0.5")],
)  # fmt: skip
def test_numbers_are_short(x, shown):
    assert texts(draw(Value(x, label="x") * 2))[1] == f"data {shown}"


def test_a_gradient_with_a_graph_is_drawn_too():
    x = Value(3.0, label="x")
    (x**3).backward(create_graph=True)
    assert "grad 27" in texts(draw(x))
    assert texts(draw(x.grad))[0] == "data 1"


def test_render_and_save_write_files(tmp_path):
    picture = draw(example(), format="png")
    written = picture.render("g", directory=tmp_path)
    assert Path(written) == tmp_path / "g.png"
    assert Path(written).read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "g").read_text(encoding="utf-8") == picture.source
    written = picture.render(tmp_path / "h", format="pdf", cleanup=True)
    assert Path(written).read_bytes().startswith(b"%PDF")
    assert not (tmp_path / "h").exists()
    written = picture.render(outfile=tmp_path / "k.svg")
    assert Path(written).read_text(encoding="utf-8").startswith("<?xml")
    assert Path(picture.save(tmp_path / "s.gv")).read_text(encoding="utf-8") == picture.source
    assert picture.render("n.png", directory=tmp_path) == str(tmp_path / "n.png")
    assert (tmp_path / "n.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "n.gv").read_text(encoding="utf-8") == picture.source
    with pytest.raises(ValueError, match="could not draw this as 'nope'"):
        picture.render("x", directory=tmp_path, format="nope")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("ending", "start"),
    [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("PNG", b"\x89PNG"),
     ("gv", b"digraph"), ("dot", b"digraph")],
)  # fmt: skip
def test_save_takes_the_format_from_the_ending(tmp_path, ending, start):
    path = tmp_path / "new" / f"graph.{ending}"
    assert draw(example()).save(path) == str(path)
    assert path.read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["y.html", "y.tex", "y.md", "y.v2", "y.txt"])
def test_save_refuses_endings_that_it_cannot_write(tmp_path, name):
    path = tmp_path / "new" / name
    with pytest.raises(ValueError, match=r"file name '.*', expected one that ends in \.svg, \.png"):
        draw(example()).save(path)
    assert not path.parent.exists()


@pytest.mark.parametrize("ending", FORMATS)
def test_the_endings_that_save_names_can_be_written(tmp_path, ending):
    path = tmp_path / f"graph.{ending}"
    draw(example()).save(path)
    assert path.stat().st_size > 500


def test_without_both_the_source_is_there_and_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(autodiff.pictures.layout, "pygraphviz_module", lambda: None)
    monkeypatch.setenv("PATH", "")
    picture = draw(Value(1.0) * 2)
    with pytest.raises(RuntimeError, match="pip install pygraphviz"):
        picture.pipe()
    assert "digraph" in picture.source


def test_a_format_that_the_executable_cannot_write_is_a_value_error(monkeypatch):
    def fail(*args, **options):
        raise graphviz.CalledProcessError(1, ["dot"], stderr=b'Format: "pdf" not recognized.')

    monkeypatch.setattr(autodiff.pictures.layout, "pygraphviz_module", lambda: None)
    monkeypatch.setattr(graphviz.Source, "pipe", fail)
    with pytest.raises(ValueError, match="could not draw this as 'pdf': .* not recognized"):
        draw(Value(1.0) * 2).pipe("pdf")


def test_where_there_are_no_processes_as_in_a_browser_the_error_is_the_same(monkeypatch):
    def refuse(*args, **options):
        raise OSError(138, "emscripten does not support processes.")

    monkeypatch.setattr(autodiff.pictures.layout, "pygraphviz_module", lambda: None)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    with pytest.raises(RuntimeError, match=r"found no Graphviz, .* as in a browser, have the DOT"):
        draw(Value(1.0) * 2).pipe()


def test_what_draw_refuses():
    with pytest.raises(TypeError, match="draw: found a float, expected a Value"):
        draw(3.0)
    with pytest.raises(ValueError, match="found rankdir 'left', expected"):
        draw(Value(1.0), rankdir="left")
    with pytest.raises(ValueError, match="gif2"):
        draw(Value(1.0), format="gif2")


def test_three_hundred_nodes_are_drawn():
    y = x = Value(1.0)
    for _ in range(299):
        y = y + x
    assert len(texts(draw(y))) == 300 + 299
    with pytest.raises(ValueError, match="found 300 nodes and 598 edges, many of them long"):
        draw(y, edges="message")


def test_a_layout_can_be_interrupted():
    code = (  # Ctrl-C twice a second, as one that comes while an object is freed is lost
        "import _thread, os, signal, threading, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a background job has none
        "from autodiff import Value, draw\n"
        "y = x = Value(1.0)\n"
        "for _ in range(290): y = y * x\n"
        "draw(y).pipe()\n"
        "def interrupt():\n"
        "    while True: time.sleep(0.5); _thread.interrupt_main()\n"
        "threading.Thread(target=interrupt, daemon=True).start()\n"
        "try:\n"
        "    while True: draw(y).pipe()\n"
        "except KeyboardInterrupt: os._exit(42)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], timeout=600, check=False, cwd=Path(__file__).parent.parent
    )
    assert done.returncode == 42


# -- The chain rule on the edges ----------------------------------------------------------------


def edge_labels(picture):
    """The texts on edges."""
    root = ElementTree.fromstring(picture.pipe(format="svg"))
    texts = {t.text.replace("\N{NO-BREAK SPACE}", " ") for t in root.iter(f"{SVG}text")}
    said = re.findall(r"^\s*n\d+m\d+ \[label=<(.*?)>", picture.source, re.M)
    found = [text.replace("\N{NO-BREAK SPACE}", " ") for text in said]
    assert set(found) <= texts
    return sorted(found)


def colours(picture):
    """The fill colour of each box, by its first text."""
    return {
        text: shape.get("fill")
        for texts, group in boxes(picture)
        for shape in [next(x for x in group if x.tag in (f"{SVG}polygon", f"{SVG}path"))]
        for text in texts[:1]
    }


def test_local_derivatives_on_the_edges():
    # c = a b + b³ at (-4, 2): ∂(ab)/∂a = b = 2, ∂(ab)/∂b = a = -4, ∂b³/∂b = 3 b² = 12
    assert edge_labels(draw(example(), edges="local")) == sorted(["2", "−4", "12", "1", "1"])


def test_messages_on_the_edges_and_their_sum_at_a_fork():
    c = example() * 10.0  # so that what comes from above is 10, not 1
    picture = draw(c, edges="message")
    expected = [
        "1 · 10 = 10",
        *["10 · 1 = 10"] * 2,
        "10 · 2 = 20",
        "10 · (−4) = −40",
        "10 · 12 = 120",
    ]
    assert edge_labels(picture) == sorted(expected)
    assert "grad 80 = 120 − 40" in texts(picture)
    assert "grad 20" in texts(picture)  # one message only
    assert all(node.grad == 0.0 for node in (c, *c.parents))  # nothing was changed


def test_a_long_sum_at_a_fork_is_cut():
    x = Value(1.0, label="x")
    picture = draw(logsumexp([x] * 8), edges="message")
    assert "grad 1 = 0.125 + 0.125 + 0.125 + 0.125 + … (4 more)" in texts(picture)


def test_gradients_before_backward_are_left_out():
    x, y = Value(2.0, label="x"), Value(3.0, label="y")
    (x * x).backward()
    assert not any("grad" in text for text in texts(draw(x * y)))  # x.grad is that of another
    assert not any("grad" in text for text in texts(draw(x * y, edges="local")))
    assert {"grad 2", "grad 3"} <= set(texts(draw(x * y, color="grad")))  # on request


def test_constants_receive_no_message():
    assert edge_labels(draw(Value(2.0) * 3, edges="message")) == ["1 · 3 = 3"]


def test_a_second_order_graph_draws_with_the_same_call():
    x = Value(2.0, label="x")
    (x**3).backward(create_graph=True)
    picture = draw(x.grad, edges="message")  # 3 x², with the derivative 6 x
    assert {"x", "data 12", "grad 12"} <= set(texts(picture))


# -- Names, roles, colours ----------------------------------------------------------------------


def test_names_of_variables():
    a, labelled = Value(1.0), Value(2.0, label="mine")
    w, big = Vector([3.0, 4.0]), Matrix([[5.0, 6.0]])
    _, y = a, autodiff.sum([a, labelled, *w, big[0, 1]])
    names = [text for text in texts(draw(y, names=locals())) if not text.startswith("data")]
    assert sorted(names) == sorted(["a", "mine", "w[0…1]", "3", "4", "big[0,1]", "y", "sum"])


def test_roles_have_colours_and_a_legend():
    layer = Linear(1, 1, seed=0)
    y = layer([0.5])[0] * 3.0
    found = colours(draw(y))
    roles = {
        "data 0.5": "input",
        "weight[0,0]": "parameter",
        "bias[0]": "parameter",
        "data 3": "constant",
    }
    for text, role in roles.items():
        assert found[text] == autodiff.pictures.styles.LIGHT[role], text
    legend = ["input", "parameter", "constant", "result", "output", "operation"]
    assert set(legend) - {"result"} <= set(texts(draw(y, legend=True)))
    assert not set(legend) & set(texts(draw(y)))


def contrast(one, other):
    """The contrast of two colours, by WCAG 2.2."""

    def luminance(colour):
        colour = {"white": "#ffffff", "black": "#000000"}.get(colour, colour)
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear))

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_text_can_be_read_on_every_colour():
    styles = autodiff.pictures.styles
    for meaning, colour in styles.SCALE.items():
        assert contrast(colour, "white" if meaning in styles.DARKEST else "black") > 4.5, meaning
    for theme in styles.THEMES.values():
        for meaning in list(theme)[:8]:
            assert contrast(theme[meaning], theme["text"]) > 4.5, meaning
        assert contrast(theme["warning"], theme["result"]) > 4.5


def test_shades_grow_darker_with_the_gradient():
    scale = autodiff.pictures.styles.SCALE
    shades = [contrast(colour, "white") for colour in list(scale.values())[3:]]
    assert shades == sorted(shades)


@pytest.mark.parametrize(
    ("gradient", "shade"),
    [(0.0, "0"), (1e-300, "below 1e−5"), (9e-6, "below 1e−5"), (2e-5, "1e−5 to 0.0001"),
     (-0.5, "0.1 to 1"), (1.0, "1 to 10"), (99.0, "10 to 100"), (1e300, "above 100")],
)  # fmt: skip
def test_boxes_are_shaded_by_the_size_of_the_gradient(gradient, shade):
    x = Value(1.0, label="x")
    picture = draw(x * gradient, color="grad")
    assert colours(picture)["x"] == autodiff.pictures.styles.SCALE[shade]
    shown = texts(picture)
    assert "|grad|" in shown
    assert shade in shown


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("options", [{}, {"edges": "message"}, {"color": "grad"}])
def test_nan_and_inf_are_red(bad, options):
    x, good = Value(bad, label="x"), Value(1.0, label="good")
    source = draw(x + good, **options).source
    red = autodiff.pictures.styles.LIGHT["warning"]
    (line,) = (line for line in source.splitlines() if ">x<br/>" in line)
    assert f'<font color="{red}">' in line
    (line,) = (line for line in source.splitlines() if ">good<br/>" in line)
    assert red not in line


def test_a_gradient_that_is_nan_is_red_on_its_edge():
    x = Value(1.0, label="x")
    picture = draw(x * float("inf"), edges="message")
    assert re.search(r'n2m0 \[label=<[^>]*inf[^>]*>.*fontcolor="#c00000"', picture.source)


# -- Scopes -------------------------------------------------------------------------------------


def ten_layers():
    model = Sequential(*[Linear(9, 9, activation=autodiff.tanh, seed=i) for i in range(10)])
    return model, autodiff.sum(model([0.1 * i for i in range(9)]))


def test_a_layer_is_a_frame():
    layer = Sequential(Linear(2, 1))
    source = draw(layer([1.0, 2.0])[0]).source
    assert source.count("subgraph") == 2
    assert texts(draw(layer([1.0, 2.0])[0]))[:2] == ["Sequential", "0: Linear"]


def test_ten_layers_collapse_to_ten_boxes():
    model, y = ten_layers()
    assert len(model.parameters()) == 900
    with pytest.raises(ValueError, match="collapse=True shows its layers as boxes, 20 in all"):
        draw(y)
    shown = texts(draw(y, collapse=True))
    assert sorted(text for text in shown if "Linear" in text) == [f"{i}: Linear" for i in range(10)]
    assert shown.count("90 parameters") == 10
    assert shown.count("9 values") == 10  # between layers, and to the sum
    assert shown.count("9 → 9") == 10
    assert {"Sequential", "9 → 9"} <= set(shown := texts(draw(y, collapse=1)))
    assert "900 parameters" in shown


def test_the_gradient_of_a_collapsed_box_is_the_largest_in_it():
    x = Value(1.0, label="x")
    with scope("part"):
        y = x * 3.0 * 5.0
    picture = draw(y * 1.0, collapse=True, color="grad")
    assert "|grad| ≤ 5" in texts(picture)  # x is outside, and 3 x has 5
    assert colours(picture)["part"] == autodiff.pictures.styles.SCALE["1 to 10"]


def test_arguments_in_a_frame_keep_their_order():
    for rankdir in ("LR", "TB"):
        layer = Linear(3, 1, bias=False)
        root = ElementTree.fromstring(draw(layer([1.0, 2.0, 3.0])[0], rankdir=rankdir).pipe("svg"))
        at = {t.text: float(t.get("y")) for t in root.iter(f"{SVG}text")}
        assert "weight[0,0…2]" in at
        first, *rest = [at[number(x.data)] for x in layer.weight[0]]
        assert first < min(rest) < max(rest)


@pytest.mark.parametrize("name", ["<b>bold</b>", "a|b{c}", "\\N \\G", "&amp;", "line\nbreak", '"'])
@pytest.mark.parametrize("collapse", [False, True])
def test_every_name_of_a_scope_is_shown_as_it_is(name, collapse):
    x = Value(1.0, label="x")
    with scope(name):
        y = x * x
    shown = " ".join(texts(draw(y + 1.0, collapse=collapse)))
    assert " ".join(name.split()) in shown


def test_every_name_of_an_operation_is_shown_as_it_is():
    odd = autodiff.operation(lambda x: (x + 1, lambda grad: (grad,)))
    assert "<lambda>" in texts(draw(odd(Value(1.0))))


def test_what_the_options_refuse():
    x = Value(1.0)
    with pytest.raises(ValueError, match="found edges 'all', expected None, 'local' or 'message'"):
        draw(x, edges="all")
    with pytest.raises(ValueError, match="found color 'data', expected None or 'grad'"):
        draw(x, color="data")
    with pytest.raises(ValueError, match="found collapse -1, expected True, False or a depth"):
        draw(x, collapse=-1)
    with pytest.raises(
        TypeError, match=r"found names \[.*\] of type list, expected a dict.*locals\(\)"
    ):
        draw(x, names=[x])


@pytest.mark.parametrize(
    ("label", "expected"),
    [("👩\u200d🔬 lab", "👩\u200d🔬 lab"), ("שלום", "שלום"), ("a\u00a0b", "a\u00a0b"),
     ("e\u0301", "e\u0301"), ("half \ud83d", "half \ufffd"), ("❤\ufe0f", "❤\ufe0f")],
)  # fmt: skip
def test_every_script_survives(label, expected):
    y = Value(1.0, label=label) * 2
    root = ElementTree.fromstring(draw(y).pipe("svg"))
    assert next(root.iter(f"{SVG}text")).text == expected
    assert expected in repr(draw(y))


def test_a_cut_does_not_part_what_is_joined():
    text = "x" * 37 + "👩\u200d🔬 and more"
    assert autodiff.pictures.texts.printable(text) == "x" * 37 + "…"


def test_a_picture_says_what_it_shows():
    c = example()
    c.backward()
    root = ElementTree.fromstring(draw(c).pipe("svg"))
    assert root.get("role") == "img"
    assert root.find(f"{SVG}desc").text == "c = a·b + b³ = 0; ∂c/∂a = 2, ∂c/∂b = 8"
    titles = [g.findtext(f"{SVG}title") for g in root.iter(f"{SVG}g") if g.get("class") == "node"]
    expected = {"a = −4, grad 2", "b = 2, grad 8", "· = −8, grad 1", "c = 0, grad 1"}
    assert expected <= set(titles)
    assert "900 parameters" in draw(ten_layers()[1], collapse=1).pipe(encoding="utf-8")


def test_equal_numbers_are_not_taken_for_the_same_value():
    x = Vector([1.0, 1.0])
    y = x.dot(x) + Vector([1.0, 1.0]).dot(x)  # two dots with the same data
    assert len(boxes(draw(y))) == 5


def test_an_exponent_that_is_no_integer_is_not_raised_in_part():
    x = Value(0.25, label="x")
    formulas = {2: "x²", 12: "x¹²", 0.5: "x**0.5", 2.5: "x**2.5", 1e20: "x**1e+20"}
    for exponent, formula in formulas.items():
        assert repr(draw(x**exponent)).startswith(f"<Drawing: {formula} = ")
        assert f"<td>{formula}</td>" in show_steps(x**exponent)._page


def test_a_graph_whose_inputs_have_changed_has_no_formula():
    x = Value(2.0, label="x")
    for f, number_ in [(Value.log, -1.0), (lambda x: 1 / x, 0.0), (Value.exp, 1e4), (abs, 3.0)]:
        x.data = 2.0
        y = f(x)
        x.data = number_
        assert repr(draw(y)).startswith("<Drawing: 1 operation on 1 input")
        assert y.parents[-1] is x
        with pytest.raises(ValueError, match="numbers that were changed after the graph"):
            show_steps(y)
        with pytest.raises(RuntimeError, match="numbers that were changed after the graph"):
            y.backward(create_graph=True)
    x.data = 0.0
    assert repr(draw(x.sqrt())) == "<Drawing: sqrt(x) = 0>"  # its slope is undefined, then as now


def test_an_operation_of_ones_own_has_its_name_in_formulas_unless_its_lines_always_hold():
    x = Value(0.5, label="x")

    def bent(x):
        return (x if x > 0 else -x), lambda grad: (grad if x > 0 else -grad,)

    def wave(x):
        return math.sin(x), lambda grad: (grad * math.cos(x),)

    def cube(x):
        return x * x * x, lambda grad: (grad * 3 * x * x,)

    found = [repr(draw(operation(rule)(x) + x)) for rule in (bent, wave, cube)]
    assert found == [
        "<Drawing: bent(x) + x = 1>", "<Drawing: wave(x) + x = 0.979426>",
        "<Drawing: x·x·x + x = 0.625>",
    ]  # fmt: skip
    assert repr(draw(where(less(0.0, x), x * 2, x))) == "<Drawing: where(0 < x, x·2, x) = 1>"


@pytest.mark.parametrize("name", ["\x00\x1b", "\ud800", "\uffff", "a\nb", "]]>"])
@pytest.mark.parametrize("arrays", [False, True])
def test_names_of_scopes_vectors_and_operations_cannot_break_a_picture(name, arrays):
    def rule(x, y):
        return x * y, lambda grad: (grad * y, grad * x)

    rule.__name__ = name
    v = Vector([1.0, 2.0, 3.0])
    with scope(name):
        y = operation(rule)((v * v).sum(), Value(2.0, label=name))
    picture = draw(y, arrays=arrays, names={name: v})
    ElementTree.fromstring(picture.pipe("svg"))
    assert "\n" not in repr(picture)
    repr(picture).encode()


def test_an_output_without_a_name_is_not_called_like_an_input():
    y, z = Value(2.0, label="y"), Value(3.0, label="z")
    assert repr(draw(y * 3, edges="message")) == "<Drawing: y·3 = 6; ∂z/∂y = 3>"
    assert repr(draw(y * z, edges="message")) == "<Drawing: y·z = 6; ∂f/∂y = 3, ∂f/∂z = 2>"
    with pytest.raises(TypeError, match="expected a dict from name to Value; write names=locals"):
        draw(y * 3, names={1: y})
