"""`draw` and the `Drawing` that it returns: labels, sizes, files, options."""

import base64
import re
import xml.etree.ElementTree as ElementTree
from unittest.mock import Mock

import graphviz
import pytest
from pictures import box_texts, example, output, pixels, woven

import autodiff as ad
from autodiff import Matrix, Value, Vector, draw, operation, scope
from autodiff.pictures import drawing, layout
from autodiff.pictures.texts import plain, printable

SVG = "{http://www.w3.org/2000/svg}"
X, Y = Value(0.5, label="x"), Value(2.0, label="y")

TEXTS = [
    "{", "}", "|", "<", ">", '"', "\\", "\\n", "\\N", "a|b{c}", "<p> x", "<b>bold</b>", "&amp;", "&lt;",
    "a  b", "ünï ∂x 漢字", "'", "%s", "-->", "]]>", "#", "\\\\", "x\\", "->", "graph", " x ",
    "👩\u200d🔬 lab", "שלום", "e\u0301", "❤\ufe0f", 'port="op"', "\x00\x1b", "\ud800", "\uffff", "a\nb",
]  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"arrays": True}], ids=str)
def test_every_text_is_shown_as_it_is(options):
    def rule(x, y):
        return x * y, lambda grad: (grad * y, grad * x)

    for text in TEXTS:
        rule.__name__ = text
        v = Vector([1.0, 2.0, 3.0])
        with scope(text):
            y = operation(rule)((v * v).sum(), Value(2.0, label=text)) + v[0]
        y.label = text
        picture = draw(y, names={text: v}, **options)
        svg = picture.pipe("svg", "utf-8").replace("&#160;", " ").replace("\xa0", " ")
        svg = ElementTree.fromstring(svg)
        assert printable(text).split("\n")[0] in [x.text for x in svg.iter(f"{SVG}text")]
        titles = [x.get("{http://www.w3.org/1999/xlink}title", "") for x in svg.iter(f"{SVG}a")]
        assert plain(text) in " ".join(titles)
        assert "\n" not in repr(picture)
        repr(picture).encode()


def labels():
    x, y = Value(1.0, label="<b>&|{}\\N\"' " + "y" * 30), Value(2.0, label="W" * 500)
    return (x * y - Value(1.5, label="two\nlines")) / Value(4.0, label="\N{FAMILY}\u200d漢字 אב")


def smallest_text(layout):
    """The size of the smallest text, in CSS pixels."""
    sizes = map(float, re.findall(rb'font-size="([\d.]+)"', layout.svg))
    return min(sizes) * layout.size[0] / layout.wide * 4 / 3


@pytest.mark.parametrize(
    "options",
    [{"rankdir": "LR"}, {"rankdir": "TB"}, {"edges": "local"}, {"edges": "message"},
     {"color": "grad"}, {"arrays": True, "color": "grad"}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize(
    "graph",
    [lambda: output(2, 3, 1), lambda: output(4, 3, 3), woven, labels],
    ids=["2-3-1", "4-3-3", "woven", "labels"],
)
def test_a_page_has_room_for_it(graph, options):
    root = graph()
    if options != {"rankdir": "LR"}:  # once without gradients
        root.backward()
    layout = draw(root, **options).layout()
    assert layout.size[0] <= 900
    assert smallest_text(layout) >= 8.99


def test_a_picture_that_is_too_wide_for_a_page_has_texts_that_can_be_read_and_a_hint():
    large = Vector([1.0] * 20) @ Matrix([[float(i + j) for j in range(20)] for i in range(20)])
    root = large.map(ad.sin).sum()
    draw(root, arrays=True)
    said = (
        "draw: found a picture of 1... pixels, expected at most 1000 on a page; arrays=True shows"
    )
    with pytest.warns(UserWarning, match=said) as caught:
        layout = draw(root, rankdir="TB").layout()
    assert [x.filename for x in caught] == [__file__]
    assert layout.size[0] > 880
    assert smallest_text(layout) == pytest.approx(9, abs=0.1)


def test_too_many_boxes_are_refused(monkeypatch):
    assert (drawing.READABLE, drawing.EDGES, drawing.WIDTH) == (300, 700, 880)
    monkeypatch.setattr(drawing, "READABLE", 6)
    monkeypatch.setattr(drawing, "EDGES", 7)
    assert len(box_texts(example().sin())) == 6
    remedy = "expected at most 6 boxes and 7 edges; arrays=True shows networks of any size"
    for found, y in (("7 boxes and 7", example() + X), ("6 boxes and 8", X * Y * (X * Y) * X)):
        with pytest.raises(ValueError, match=f"found {found} edges, {remedy}"):
            draw(y)


def test_a_drawing_is_a_digraph_that_jupyter_shows():
    picture = draw(example())
    assert isinstance(picture, graphviz.Digraph)
    bundle, metadata = picture._repr_mimebundle_()
    assert bundle["image/svg+xml"] == picture.pipe("svg", "utf-8")
    assert bundle["text/plain"] == repr(picture)
    svg = ElementTree.fromstring(bundle["image/svg+xml"])
    assert svg.find(f"{SVG}g").findtext(f"{SVG}title") == picture.alt == "c = a·b + b³ = 0"
    width, height = map(round, picture.layout().size)
    assert metadata["image/png"] == {"width": width, "height": height, "alt": picture.alt}
    png = bundle["image/png"]
    assert base64.b64decode(png) == picture.layout().png()
    assert f'width="{width}" src="data:image/png;base64,{png}"' in picture.image()
    picture.attr(ranksep="1")  # what is added is drawn
    assert picture.layout().size[0] > width


def test_a_png_is_sharp_and_white_unless_asked_otherwise(monkeypatch):
    picture = draw(example())
    width, height = picture.layout().size
    for png in picture.pipe("png"), picture.layout().png():  # the second for a notebook
        # to whole points of the layout and whole pixels
        assert pixels(png).shape[:2] == pytest.approx([2 * height, 2 * width], abs=3)
        assert pixels(png)[0, 0].tolist() == [1.0] * 4
    monkeypatch.setattr(layout, "MOST_PIXELS", 2e4)
    down, across, _ = pixels(picture.layout().png()).shape
    assert across * down == pytest.approx(2e4, rel=0.02)
    assert down / across == pytest.approx(height / width, rel=0.02)
    assert 'fill="white"' not in picture.pipe("svg", "utf-8")  # lies on any ground
    picture.attr(bgcolor="transparent")
    assert pixels(picture.pipe("png"))[0, 0, 3] == 0.0
    picture.attr(bgcolor="#123456")
    assert '<polygon fill="#123456"' in picture.pipe("svg", "utf-8")


def test_render_writes_the_source_and_the_picture(tmp_path, monkeypatch):
    picture, seen = draw(example(), format="png"), []
    monkeypatch.setattr(picture, "_view", lambda path, **about: seen.append((path, about)))
    assert picture.filename == "graph.gv"
    assert picture.render("g", directory=tmp_path, view=True) == str(tmp_path / "g.png")
    assert seen == [(str(tmp_path / "g.png"), {"format": "png", "quiet": False})]
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "g").read_text(encoding="utf-8") == picture.source
    picture.render(tmp_path / "h", format="pdf", cleanup=True)
    assert (tmp_path / "h.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(ValueError, match="unknown format: 'nope'"):
        picture.render("x", directory=tmp_path, format="nope")
    assert {path.name for path in tmp_path.iterdir()} == {"g", "g.png", "h.pdf"}


def test_save_takes_the_format_from_the_ending(tmp_path):
    picture = draw(example())
    beginnings = {"svg": b"<?xml", "PNG": b"\x89PNG", "pdf": b"%PDF", "gv": b"digraph"}
    for ending, beginning in beginnings.items():
        path = tmp_path / "new" / f"graph.{ending}"
        assert picture.save(path) == str(path)
        assert path.read_bytes().startswith(beginning)
    for name in "y.html", "y.v2", "y.jpeg", "y":
        with pytest.raises(ValueError, match=r"ends in \.svg, .*\(show_steps\(y\)\.save: \.html"):
            picture.save(tmp_path / "other" / name)
    assert not (tmp_path / "other").exists()


def test_without_graphviz_the_source_is_there_and_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(layout, "pygraphviz_folder", str)
    monkeypatch.setenv("PATH", "")
    in_a_browser = Mock(side_effect=OSError(138, "emscripten does not support processes."))
    for run in layout.run, in_a_browser:
        monkeypatch.setattr(layout, "run", run)
        picture = draw(X * 2)
        assert "digraph" in picture.source
        said = "no Graphviz, .*pip install pygraphviz.* as in a browser, have the DOT"
        with pytest.raises(RuntimeError, match=said):
            picture.pipe()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [({"rankdir": "RL"}, ValueError, "found rankdir 'RL', expected None, 'LR' or 'TB'"),
     ({"format": "g.svg"}, ValueError, "found format 'g.svg', expected 'svg', 'png' or 'pdf'"),
     ({"names": [X]}, AttributeError, "'list' object has no attribute 'items'")],
)  # fmt: skip
def test_what_draw_refuses(options, error, words):
    with pytest.raises(error, match=words):
        draw(X, **options)
