"""The graph as a picture."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import graphviz
import pytest

import autodiff.layout
from autodiff import Value, draw, logsumexp

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture):
    """The lines of text in a picture, as a reader sees them."""
    root = ElementTree.fromstring(picture.pipe(format="svg"))
    return [(t.text or "").replace("\N{NO-BREAK SPACE}", " ") for t in root.iter(f"{SVG}text")]


def example():
    a, b = Value(-4.0, label="a"), Value(2.0, label="b")
    c = a * b + b**3
    c.label = "c"
    return c


def test_a_drawing_is_a_digraph_that_jupyter_shows():
    picture = draw(example())
    assert isinstance(picture, graphviz.Digraph)
    bundle = picture._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<?xml")
    assert not re.search("0x[0-9a-f]+", repr(picture))


def test_boxes_show_label_data_and_grad():
    c = example()
    before = ["a", "data -4", "b", "data 2", "data -8", "data 3", "data 8", "c", "data 0"]
    assert sorted(texts(draw(c))) == sorted([*before, "*", "**", "+"])
    c.backward()
    gradients = ["grad 2", "grad 8", "grad 1", "grad 1", "grad 1"]  # the constant 3 has none
    assert sorted(texts(draw(c))) == sorted([*before, *gradients, "*", "**", "+"])


def test_an_edge_for_each_argument_in_order():
    x, y = Value(2.0), Value(3.0)
    source = draw(logsumexp([y, x, y])).source
    assert re.findall(r"(n\d) -> n2op", source) == ["n0", "n1", "n0"]
    assert "ordering=in" in source


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
    colours = re.findall(r"^\tn\d \[.*fillcolor=\"?([^\"\]]+)", source, re.M)
    assert len(set(colours)) == 3
    assert "bgcolor=white" in source


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
    [(1e-9, "1e-09"), (1 / 3, "0.333333"), (123456789.0, "1.23457e+08"), (float("nan"), "nan"),
     (float("inf"), "inf"), (-0.5, "-0.5")],
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
    assert (tmp_path / "g").read_text() == picture.source
    written = picture.render(tmp_path / "h", format="pdf", cleanup=True)
    assert Path(written).read_bytes().startswith(b"%PDF")
    assert not (tmp_path / "h").exists()
    written = picture.render(outfile=tmp_path / "k.svg")
    assert Path(written).read_text().startswith("<?xml")
    assert Path(picture.save(tmp_path / "s.gv")).read_text() == picture.source
    with pytest.raises(ValueError, match="could not draw this as 'nope'"):
        picture.render("x", directory=tmp_path, format="nope")
    assert not (tmp_path / "x").exists()


def test_nothing_reaches_standard_error(tmp_path):
    # this configuration made the bundled library print a warning
    (tmp_path / "fonts.conf").write_text("<fontconfig><unknown/></fontconfig>")
    code = "from autodiff import Value, draw; draw(Value(1.0) * 2).pipe()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"FONTCONFIG_FILE": str(tmp_path / "fonts.conf"), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent.parent,
    )
    assert done.stderr == ""


def test_without_pygraphviz_the_executable_serves(monkeypatch):
    monkeypatch.setattr(autodiff.layout, "_pygraphviz", lambda: None)
    asked = []
    monkeypatch.setattr(
        graphviz.Digraph, "pipe", lambda self, format, **options: asked.append(format) or b"drawn"
    )
    assert draw(Value(1.0) * 2).pipe() == b"drawn"
    assert asked == ["svg"]


def test_without_both_the_source_is_there_and_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(autodiff.layout, "_pygraphviz", lambda: None)
    monkeypatch.setenv("PATH", "")
    picture = draw(Value(1.0) * 2)
    with pytest.raises(RuntimeError, match="pip install pygraphviz"):
        picture.pipe()
    assert "digraph" in picture.source


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
