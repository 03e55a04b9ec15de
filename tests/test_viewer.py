"""The step viewer and the animation, in a real browser where there is one."""

import html
import json
import re
import time
import xml.etree.ElementTree as ElementTree

import pytest
from browser import Browser

from autodiff import Dual, Value, animate, draw, log, operation, relu, scope, show_steps, sin
from autodiff.nn import Linear

# c = a b + b³ at (-4, 2). By hand: ∂c/∂v₁ = ∂c/∂v₂ = 1; v₂ = b³ sends 3 b² = 12 to b; then v₁ = a b
# sends b = 2 to a, and a = -4 to b, which makes 8 of the 12.


def example():
    a, b = Value(-4.0, label="a"), Value(2.0, label="b")
    c = a * b + b**3
    c.label = "c"
    return c


STEPS = [  # what is lit, the gradients of a, b, v₁, v₂ and c, and what is added
    (["c"], ["", "", "", "", "1"], ["c.grad = 1, the derivative of c by itself"]),
    (["+", "c"], ["", "", "1", "1", "1"],
     ["v₁.grad += c.grad · ∂c/∂v₁ = 1 · 1 = 1 → v₁.grad = 1",
      "v₂.grad += c.grad · ∂c/∂v₂ = 1 · 1 = 1 → v₂.grad = 1"]),
    (["**", "v₂"], ["", "12", "1", "1", "1"],
     ["b.grad += v₂.grad · ∂v₂/∂b = 1 · 3·b**2 = 1 · 12 = 12 → b.grad = 12"]),
    (["v₁", "·"], ["2", "8", "1", "1", "1"],
     ["a.grad += v₁.grad · ∂v₁/∂a = 1 · b = 1 · 2 = 2 → a.grad = 2",
      "b.grad += v₁.grad · ∂v₁/∂b = 1 · a = 1 · (−4) = −4 → b.grad = 8"]),
]  # fmt: skip
ROW = ["c", "c", "v₂", "v₁"]
EDGES = [0, 5, 3, 5]  # lit: from the operation to its node, and from its parents, in two halves

STATE = """(() => {
  const seen = (e) => getComputedStyle(e).visibility === "visible";
  const text = (e) => e.textContent.replace(/\\s+/g, " ").trim();
  const all = (selector, e = document) => [...e.querySelectorAll(selector)];
  const groups = (kind) => all("#picture g." + kind);
  const lit = (g) => all(".lit", g).some(seen);
  return JSON.stringify({
    step: text(document.getElementById("step")),
    slider: document.getElementById("slider").value,
    nodes: groups("node").filter(lit).map((g) => text(g.querySelector("text"))).sort(),
    edges: groups("edge").filter(lit).length,
    rows: all("tr.lit").map((r) => text(r.cells[0])),
    table: all("tbody tr").map((r) => all("span", r.cells[3]).filter((e) =>
      e.dataset.show && seen(e)).map(text).join()),
    boxes: groups("node").map((g) => all("text", g).filter((t) => seen(t) &&
      t.textContent.startsWith("grad")).map(text).join()).filter((t) => t),
    messages: groups("node").flatMap((g) => all("text", g)).filter(seen).map(text).filter((t) =>
      t.includes(" = ") && !t.startsWith("grad")).sort(),
    lines: all("#formulas > div").filter(seen).flatMap((d) => d.innerHTML.split("<br>")).map((t) =>
      t.replace(/\\s+/g, " ").trim()),
  });
})()"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


def state(browser):
    return json.loads(browser.evaluate(STATE))


def opened(browser, tmp_path, root, **options):
    path = tmp_path / "backward.html"
    show_steps(root).save(path)
    browser.open(path.as_uri(), **options)
    return browser


def expect(browser, step):
    """Node, edges, row, gradients and formula are all those of a step."""
    found = state(browser)
    nodes, gradients, lines = STEPS[step]
    assert found["step"] == f"step {step} of 3"
    assert found["slider"] == str(step)
    assert found["nodes"] == nodes
    assert found["edges"] == EDGES[step]
    assert found["rows"] == [ROW[step]]
    assert found["table"] == gradients
    shown = {"8": "8 = 12 − 4"}
    assert sorted(found["boxes"]) == sorted(f"grad {shown.get(g, g)}" for g in gradients if g)
    assert len(found["messages"]) == (0, 2, 3, 5)[step]
    assert found["lines"] == lines


def eventually(condition):
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


# -- In the browser -----------------------------------------------------------------------------


def test_keys_move_the_lit_node_the_row_and_the_formula_together(browser, tmp_path):
    opened(browser, tmp_path, example())
    expect(browser, 0)
    at = 0
    for key, to in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowRight", 3), ("ArrowRight", 3),
                    ("ArrowLeft", 2), ("Home", 0), ("ArrowLeft", 0), ("End", 3)]:  # fmt: skip
        browser.press(key)
        expect(browser, to)
        at = to
    assert at == 3


def test_keys_move_by_one_step_when_the_slider_has_the_focus_too(browser, tmp_path):
    opened(browser, tmp_path, example())
    browser.evaluate("document.getElementById('slider').focus()")
    browser.press("ArrowRight")
    expect(browser, 1)


def centre(browser, element):
    return json.loads(
        browser.evaluate(
            f"(() => {{ const r = document.getElementById('{element}').getBoundingClientRect();"
            "return JSON.stringify([r.x + r.width / 2, r.y + r.height / 2]) })()"
        )
    )


@pytest.mark.parametrize("way", ["click", "tap"])
def test_buttons_and_slider_work_by_mouse_and_touch(browser, tmp_path, way):
    opened(browser, tmp_path, example())
    move = getattr(browser, way)
    move(*centre(browser, "on"))
    expect(browser, 1)
    move(*centre(browser, "on"))
    expect(browser, 2)
    move(*centre(browser, "back"))
    expect(browser, 1)
    x, y = centre(browser, "slider")
    left = browser.evaluate("document.getElementById('slider').getBoundingClientRect().x")
    move(2 * x - left - 2, y)  # its right end
    expect(browser, 3)


def test_nothing_is_loaded_from_anywhere(browser, tmp_path):
    opened(browser, tmp_path, example())
    browser.press("End")
    assert [url for url in browser.requests if not url.startswith("file:")] == []
    assert len(browser.requests) == 1


def test_without_scripts_the_first_step_can_be_read(browser, tmp_path):
    opened(browser, tmp_path, example(), scripts=False)
    found = state(browser)
    assert found["nodes"] == ["c"]
    assert found["rows"] == ["c"]
    assert found["table"] == STEPS[0][1]
    assert found["lines"] == STEPS[0][2]


def test_viewers_on_one_page_do_not_meet(browser, tmp_path):
    page = tmp_path / "notebook.html"
    viewer = show_steps(example())._repr_html_()
    page.write_text(f"<!DOCTYPE html><meta charset=utf-8>{viewer}{viewer}", encoding="utf-8")
    browser.open(page.as_uri())
    eventually(lambda: browser.in_frames("document.readyState") == ["complete"] * 2)

    def click_into_the_first():
        browser.click(200, 150)
        return sorted(browser.in_frames("document.hasFocus()")) == [False, True]

    eventually(click_into_the_first)
    browser.press("ArrowRight")
    eventually(lambda: sorted(browser.in_frames("step")) == [0, 1])


INSIDE = """(() => {
  const pane = document.getElementById("picture").getBoundingClientRect();
  const seen = (e) => getComputedStyle(e).visibility === "visible";
  const lit = [...document.querySelectorAll("#picture g.node .lit")].filter(seen);
  const box = lit[0].getBoundingClientRect();
  return lit.length > 0 && pane.left <= box.left && box.right <= pane.right;
})()"""


def test_a_wide_picture_follows_the_node_that_is_lit(browser, tmp_path):
    y = Value(1.0, label="x")
    for _ in range(20):
        y = y.tanh()
    opened(browser, tmp_path, y)
    assert browser.evaluate("document.getElementById('picture').scrollWidth") > 1200
    for key in ("Home", "End", "Home"):
        browser.press(key)
        assert browser.evaluate(INSIDE)
    page = tmp_path / "notebook.html"
    page.write_text(f"<!DOCTYPE html><meta charset=utf-8>{show_steps(y)._repr_html_()}", "utf-8")
    browser.open(page.as_uri())
    eventually(lambda: browser.in_frames(INSIDE) == [True])


def test_the_animation_plays_in_a_plain_img(browser, tmp_path):
    animate(example(), tmp_path / "backward.svg")
    page = tmp_path / "readme.html"
    page.write_text('<!DOCTYPE html><img src="backward.svg">', encoding="utf-8")
    browser.open(page.as_uri())
    assert browser.evaluate("document.images[0].naturalWidth") > 300
    first = browser.screenshot()
    eventually(lambda: browser.screenshot() != first)


HOSTILE = [
    '"><script>window.hacked = 1</script>',
    "</script><script>hacked = 1</script>",
    "<img src=x onerror='hacked = 1'>",
    "</text></svg><svg onload=hacked=1>",
    "]]><script>hacked=1</script><![CDATA[",
    "--><script>hacked=1</script>",
    "first\n<script>hacked=1</script>",
    "&lt;script&gt;hacked=1&lt;/script&gt;",
    "' onclick='hacked=1",
    "${last} {title} $$",
    "`${hacked = 1}`",
]


@pytest.mark.parametrize("label", HOSTILE)
def test_labels_do_not_get_out(browser, tmp_path, label):
    x = Value(0.5, label=label)
    rule = lambda x: (x + 1, lambda grad: (grad,))  # noqa: E731
    rule.__name__ = label
    with scope(label):
        y = operation(rule)(x * x)
    y.label = label
    opened(browser, tmp_path, y)
    browser.press("ArrowRight")
    browser.press("End")
    assert state(browser)["step"] == "step 2 of 2"  # the page's own script runs
    shown = browser.evaluate("document.querySelector('tbody td').textContent")
    assert shown == " ".join(label.split())
    counts = "JSON.stringify(['script', 'img', 'svg', 'g.cluster'].map((s) => document.querySelectorAll(s).length))"
    assert browser.evaluate(counts) == "[1,0,1,1]"
    assert browser.evaluate("typeof hacked") == "undefined"

    (tmp_path / "graph.svg").write_text(
        draw(y, names={label: x * x}, legend=True).pipe(encoding="utf-8"), encoding="utf-8"
    )
    animate(y, tmp_path / "backward.svg")
    inline = (tmp_path / "graph.svg").read_text(encoding="utf-8").partition("?>")[2]
    (tmp_path / "inline.html").write_text(f"<meta charset=utf-8>{inline}", encoding="utf-8")
    for name in ("graph.svg", "backward.svg", "inline.html"):
        browser.open((tmp_path / name).as_uri())
        assert browser.evaluate("typeof hacked") == "undefined"
        assert browser.evaluate("document.querySelectorAll('script, img').length") == 0
        assert browser.evaluate("document.querySelectorAll('svg').length") == 1


# -- Without one --------------------------------------------------------------------------------


def test_the_output_is_the_same_every_time(tmp_path):
    one, other = show_steps(example()), show_steps(example())
    assert one._repr_html_() == other._repr_html_()
    assert repr(one) == "<StepViewer: a backward pass of 3 steps>"
    animate(example(), tmp_path / "one.svg")
    animate(example(), tmp_path / "other.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()


def test_the_notebook_holds_the_page_in_a_frame_without_rights(tmp_path):
    viewer = show_steps(example())
    assert viewer.save(tmp_path / "page.html") == str(tmp_path / "page.html")
    frame = viewer._repr_html_()
    assert 'sandbox="allow-scripts"' in frame
    page = html.unescape(re.search('srcdoc="([^"]*)"', frame).group(1))
    assert page == (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_animation_at_rest_is_the_last_step(tmp_path):
    path = animate(example(), tmp_path / "backward.svg")
    root = ElementTree.parse(path).getroot()
    texts = [
        t.text for t in root.iter() if t.tag.endswith("text") and t.get("visibility") != "hidden"
    ]
    assert "grad 8 = 12 − 4" in texts
    assert "grad 12" not in texts
    assert "script" not in {e.tag.rpartition("}")[2] for e in root.iter()}


def test_a_node_used_twice_receives_both_in_one_step():
    x = Value(3.0, label="x")
    page = show_steps(x * x)._page
    assert "x.grad = 3<br>" in page
    assert "x.grad = 6<" in page
    assert "grad 6 = 3 + 3" in page


def test_no_gradient_is_written():
    c = example()
    show_steps(c)
    assert c.grad == c.parents[0].grad == 0.0


def test_a_layer_a_leaf_and_a_kink_can_be_viewed():
    layer = Linear(2, 1, activation=relu, seed=0)
    assert repr(show_steps(layer([1.0, -1.0])[0])) == "<StepViewer: a backward pass of 3 steps>"
    assert repr(show_steps(Value(1.0))) == "<StepViewer: a backward pass of 0 steps>"
    flat = operation(lambda x: (1.0, lambda grad: (0.0 * grad,)))
    assert repr(show_steps(flat(Value(2.0)))) == "<StepViewer: a backward pass of 1 steps>"


def test_the_running_example_of_the_notebooks():
    # y = ln x₁ + x₁x₂ - sin x₂ at (2, 5): ∂y/∂x₁ = 1/x₁ + x₂ = 5.5, ∂y/∂x₂ = x₁ - cos x₂ = 1.71634
    x1, x2 = Value(2.0, label="x₁"), Value(5.0, label="x₂")
    page = show_steps(log(x1) + x1 * x2 - sin(x2))._page
    assert "→   x₁.grad = 5.5<" in page
    assert "→   x₂.grad = 1.71634<" in page
    assert "v₁.grad · ∂v₁/∂x₁ = 1 · (1 / x₁) = 1 · 0.5 = 0.5" in page
    assert "v₄.grad · ∂v₄/∂x₂ = −1 · cos(x₂) = −1 · 0.283662 = −0.283662" in page


@pytest.mark.parametrize("function", [show_steps, lambda root: animate(root, "never.svg")])
def test_what_the_viewer_refuses(function):
    with pytest.raises(TypeError, match=r"found 3\.0, expected a Value over floats"):
        function(3.0)
    with pytest.raises(TypeError, match=r"found Value\(data=Dual.*, expected a Value over floats"):
        function(Value(Dual(1.0, 1.0)))
    constant = Value(1.0)
    constant.requires_grad = False
    with pytest.raises(ValueError, match="found a constant, expected a Value that requires"):
        function(constant)
    y = Value(1.0)
    for _ in range(60):
        y = y.tanh()
    with pytest.raises(ValueError, match="found 61 nodes, expected at most 60"):
        function(y)
    function(y.parents[0]) if function is show_steps else None
