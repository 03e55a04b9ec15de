"""The live graph and the animation, in a real browser."""

import html
import json
import math
import re
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import autodiff as ad
from autodiff import (
    Dual,
    Expression,
    Matrix,
    Value,
    Vector,
    adjoints,
    animate,
    draw,
    log,
    nn,
    operation,
    relu,
    scope,
    show_steps,
    sin,
    sqrt,
    steps,
    tanh,
    topological_order,
)
from autodiff.pictures.score import Score
from autodiff.pictures.texts import number, snug

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"

# c = a b + b³ at (-4, 2). By hand: ∂c/∂v₁ = ∂c/∂v₂ = 1; v₂ = b³ sends 3 b² = 12 to b; then v₁ = a b
# sends b = 2 to a, and a = -4 to b, which makes 8 of the 12.


def example():
    a, b = Value(-4.0, label="a"), Value(2.0, label="b")
    c = a * b + b**3
    c.label = "c"
    return c


def running_example():
    # y = ln x₁ + x₁x₂ - sin x₂ at (2, 5): ∂y/∂x₁ = 1/x₁ + x₂ = 5.5, ∂y/∂x₂ = x₁ - cos x₂ = 1.71634
    x1, x2 = Value(2.0, label="x₁"), Value(5.0, label="x₂")
    y = log(x1) + x1 * x2 - sin(x2)
    y.label = "y"
    return y


def network():
    layers = nn.Linear(2, 3, activation=tanh, seed=0), nn.Linear(3, 1, seed=1)
    return nn.Sequential(*layers)(Vector([0.5, -0.25]))[0]


GRAPHS = [example, running_example, network]


def leaves(root):
    return [x for x in topological_order(root) if x.requires_grad and not x.parents]


def opened(browser, tmp_path, root, screen=None, scripts=True, **options):
    path = tmp_path / "live.html"
    show_steps(root, **options).save(path)
    browser.open(path.as_uri(), scripts=scripts)
    browser.emulate(**screen or {})
    return browser


STATE = """(() => {
  const text = (e) => e.textContent.replace(/\\s+/g, " ").trim();
  const all = (selector, e = document) => [...e.querySelectorAll(selector)];
  const kind = (name) => all("#picture text." + name).map(text).filter((t) => t);
  return JSON.stringify({
    step: text(document.getElementById("step")),
    lit: all("#picture g.node.lit").map((g) => text(g.querySelector("text"))).sort(),
    edges: all("#picture g.edge.lit").length,
    rows: all("tr.lit").map((r) => text(r.cells[0])),
    names: all("tbody tr").map((r) => text(r.cells[0])),
    values: all("tbody tr").map((r) => text(r.cells[2])),
    gradients: all("tbody tr").map((r) => text(r.cells[3])),
    data: kind("data"), grads: kind("grad"), sums: kind("sum"), messages: kind("message"),
    lines: all("#lines > div").map(text),
    trouble: text(document.getElementById("trouble")),
    wrong: all("#picture g.wrong").map((g) => text(g.querySelector("text"))),
  });
})()"""


def state(browser):
    return json.loads(browser.evaluate(STATE))


def eventually(condition):
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def place(browser, selector, across=0.5):
    """A point on an element, so far across."""
    return json.loads(
        browser.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({ block: 'nearest' }); const r = e.getBoundingClientRect();"
            f"return JSON.stringify([r.x + r.width * {across}, r.y + r.height / 2]) }})()"
        )
    )


# -- Every number is what Python computes ---------------------------------------------------------


def computed(root, at):
    """What the page must show at a step, from the graph itself and its backward pass."""
    nodes = [x for x in topological_order(root) if x.requires_grad]
    operations = [x for x in nodes if x.parents]
    n = len(operations)
    known = [x for x in nodes if not x.parents] + operations[:at]
    sums, terms, messages = ({root: 1.0}, {}, []) if at > n else ({}, {}, [])
    passed = [step for step in steps(root) if step.node.parents]
    for node, _, sent in passed[: max(0, at - n - 1)]:
        known.append(node)
        for parent, _, message in sent:
            if parent.requires_grad:
                sums[parent] = sums.get(parent, 0.0) + message
                terms.setdefault(parent, []).append(snug(message))
                messages.append(snug(message))
    forks = {x for x in nodes if sum(p is x for y in nodes for p in y.parents) > 1}
    held = set(known)
    return {
        "values": [number(x.data) if x in held else "" for x in nodes],
        "gradients": [number(sums[x]) if x in sums else "" for x in nodes],
        "data": [f"data {snug(x.data)}" if x in held else "data" for x in nodes],
        "grads": [f"grad {snug(sums[x])}" if x in sums else "grad" for x in nodes],
        "sums": [
            "= " + " + ".join(terms[x]).replace("+ −", "− ")
            for x in nodes
            if x in forks & terms.keys()
        ],
        "messages": messages,
    }


def check_every_number(browser, root):
    """At each step the page shows the numbers of a graph."""
    score = Score(root, "test")
    for at in range(score.last + 1):
        browser.evaluate(f"go({at})")
        found, expected = state(browser), computed(root, at)
        for kind in ("values", "gradients"):
            assert found[kind] == expected[kind], (at, kind)
        for kind in ("data", "grads", "sums", "messages"):
            assert sorted(found[kind]) == sorted(expected[kind]), (at, kind)
        assert found["lines"] == [re.sub(r"\s+", " ", score.filled(x)) for x in score.lines[at]]
        assert found["trouble"] == ""


@pytest.mark.parametrize("graph", GRAPHS)
def test_dragging_any_slider_changes_every_number_at_each_step(browser, tmp_path, graph):
    root = graph()
    sliders = leaves(root)[:8]
    opened(browser, tmp_path, root, inputs=sliders, screen={"height": 1500})
    check_every_number(browser, root)
    for i, leaf in enumerate(sliders):
        before = state(browser)
        slider = f"#inputs label:nth-child({i + 1}) input[type=range]"
        x, y = place(browser, slider, 0.5)
        browser.drag(x, y, place(browser, slider, 0.83)[0])
        moved = json.loads(browser.evaluate("JSON.stringify(inputs)"))[: len(sliders)]
        assert moved[i] > 0
        assert moved[i] != leaf.data
        assert moved[:i] + moved[i + 1 :] == [x.data for x in sliders[:i] + sliders[i + 1 :]]
        assert state(browser)["values"] != before["values"]
        expression = Expression(root)
        expression.propagate({leaf: moved[i]})
        root = expression.sink
        check_every_number(browser, root)


def test_numbers_are_written_as_python_writes_them(browser, tmp_path):
    opened(browser, tmp_path, example())
    numbers = [0.0, -0.0, 1.0, -4.0, 1 / 3, 123456.0, 1234567.0, 99999.95, 999999.5, 1e-4, 1.5e-5]
    numbers += [15.625, -15.625, 15.615234375, 10.125, 1000.5, 100000.5, 0.5, 12.345, 1e-5 / 2]
    numbers += [-2.5e-300, 1e300, 0.1 + 0.2, math.pi * 1e5, -math.e * 1e-5, 12.345678]
    for x in numbers:
        assert browser.evaluate(f"number({x!r})") == number(x)
        assert browser.evaluate(f"snug({x!r})") == snug(x)
    found = browser.evaluate("[NaN, Infinity, -Infinity].map((x) => number(x)).join()")
    assert found == ",".join(map(number, (math.nan, math.inf, -math.inf)))


def test_a_choice_is_made_anew_and_no_formula_of_the_old_one_stays(browser, tmp_path):
    x = Value(3.0, label="x")
    opened(browser, tmp_path, relu(x) * 2.0)
    for number_, grad, local in [("-5", "0", "0"), ("5", "2", "1")]:
        type_into(browser, 1, number_)
        assert state(browser)["gradients"][0] == grad
        (line,) = state(browser)["lines"]
        assert line == f"x.grad += v₁.grad · ∂v₁/∂x = 2 · {local} = {grad} → x.grad = {grad}"
    leaky = operation(lambda x: (ad.where(ad.less(x, 0.0), 0.1 * x, x),
                                 lambda grad: (grad * ad.where(ad.less(x, 0.0), 0.1, 1.0),)))  # fmt: skip
    leaky.__wrapped__.__name__ = "leaky"
    opened(browser, tmp_path, leaky(x))
    type_into(browser, 1, "-5")
    found = state(browser)
    assert found["values"] == ["−5", "−0.5"]
    assert found["gradients"] == ["0.1", "1"]
    assert found["lines"] == ["x.grad += v₁.grad · ∂v₁/∂x = 1 · 0.1 = 0.1 → x.grad = 0.1"]


def test_a_formula_that_holds_for_some_numbers_alone_is_not_shown(browser, tmp_path):
    def bent(x):
        below = ad.less(x, 0.0)
        return ad.where(below, x * x, 3 * x), lambda grad: (grad * ad.where(below, 2 * x, 3.0),)

    x = Value(-1.0, label="x")
    opened(browser, tmp_path, operation(bent)(x))
    for typed, local in [("-2", "(−4)"), ("5", "3")]:
        type_into(browser, 1, typed)
        (line,) = state(browser)["lines"]
        assert line.startswith(f"x.grad += v₁.grad · ∂v₁/∂x = 1 · {local} = ")
    browser.evaluate("go(1)")
    assert state(browser)["lines"] == ["v₁ = bent(x) = bent(5) = 15"]


def test_a_long_sum_is_cut_off(browser, tmp_path):
    x = Value(1.0, label="x")
    opened(browser, tmp_path, ad.sum([x * float(i) for i in range(1, 6)]))
    last = state(browser)
    assert last["sums"] == ["= 5 + 4 + 3 + …"]
    assert (
        ">= 5 + 4 + 3 + …</text>" in show_steps(ad.sum([x * float(i) for i in range(1, 6)]))._page
    )


def type_into(browser, slider, text):
    """Type into the number field beside a slider."""
    browser.evaluate(
        f"(() => {{ const f = document.querySelectorAll('#inputs input[type=number]')[{slider - 1}];"
        f"f.value = {text!r}; f.dispatchEvent(new Event('input', {{ bubbles: true }})) }})()"
    )


def test_outside_a_domain_the_box_is_red_and_says_so(browser, tmp_path):
    opened(browser, tmp_path, running_example())
    before = state(browser)
    type_into(browser, 1, "-1")
    found = state(browser)
    assert found["trouble"] == "log(x₁) is nan at x₁ = −1: the domain is x₁ > 0"
    assert found["wrong"] == ["v₁", "v₃", "y"]
    assert found["data"].count("outside domain") == 1
    assert found["values"][:2] == ["−1", "nan"]
    assert found["values"][3] == "−5"  # what does not depend on it is shown
    assert found["gradients"] == ["nan", "1", "−1.28366", "1", "1", "−1", "1"]
    colour = browser.evaluate("getComputedStyle(document.querySelector('text.wrong')).fill")
    assert colour == "rgb(192, 0, 0)"
    type_into(browser, 1, "2")
    assert state(browser) == before


def test_no_gradient_goes_through_what_is_outside_a_domain(browser, tmp_path):
    x = Value(4.0, label="x")
    opened(browser, tmp_path, log(x * 2.0) + x)
    type_into(browser, 1, "-1")
    found = state(browser)
    assert found["gradients"] == ["nan", "nan", "1", "1"]
    assert found["trouble"] == "log(v₁) is nan at v₁ = −2: the domain is v₁ > 0"


def test_an_infinite_derivative_is_red_and_says_so(browser, tmp_path):
    x = Value(4.0, label="x")
    opened(browser, tmp_path, sqrt(x))
    type_into(browser, 1, "0")
    found = state(browser)
    assert found["wrong"] == []
    assert found["gradients"] == ["inf", "1"]
    assert found["trouble"] == "∂v₁/∂x is inf at x = 0"


def test_a_number_that_is_too_large_is_not_called_outside_a_domain(browser, tmp_path):
    x = Value(4.0, label="x")
    opened(browser, tmp_path, x**50)
    type_into(browser, 1, "1e10")
    found = state(browser)
    assert (found["data"], found["trouble"]) == (
        ["data 1e10", "data inf"],
        "x⁵⁰ is inf at x = 1e10",
    )
    assert found["wrong"] == ["v₁"]
    opened(browser, tmp_path, 1 / x)
    type_into(browser, 1, "0")
    assert state(browser)["trouble"] == "1 / x is inf at x = 0: the domain is x != 0"


def test_what_a_condition_receives_is_0_whatever_was_sent_to_it(browser, tmp_path):
    x = Value(4.0, label="x")
    opened(browser, tmp_path, ad.where(ad.less(sqrt(x), 1.0), 2 * x, x))
    type_into(browser, 1, "0")  # ∂√x/∂x is infinite, but a condition sends nothing
    assert state(browser)["gradients"][0] == "2"
    x, y = Value(4.0, label="x"), Value(5.0, label="y")
    opened(browser, tmp_path, x ** ad.functions.less_equal(x, y))
    type_into(browser, 1, "-3")  # ∂(x**n)/∂n is nan at x < 0
    assert state(browser)["gradients"][:2] == ["1", "0"]


def test_number_field_slider_and_reset(browser, tmp_path):
    opened(browser, tmp_path, example())
    start = state(browser)
    type_into(browser, 1, "1234.5")  # beyond the end of the slider
    assert state(browser)["values"][:2] == ["1234.5", "2"]
    assert browser.evaluate("document.querySelector('#inputs input').value") == "10"
    type_into(browser, 1, "")  # a number that is being typed
    assert state(browser)["values"][:2] == ["1234.5", "2"]
    browser.click(*place(browser, "#reset"))
    assert state(browser) == start
    fields = "[...document.querySelectorAll('#inputs input')].map((e) => e.value).join()"
    assert browser.evaluate(fields) == "-4,-4,2,2"


def test_a_field_whose_number_is_not_taken_is_marked(browser, tmp_path):
    opened(browser, tmp_path, example())
    field = "document.querySelector('#inputs input[type=number]')"
    for text, refused in (("1e400", True), ("1e40", False)):
        browser.click(*place(browser, "#inputs input[type=number]"))
        browser.evaluate(f"{field}.select()")
        browser.call("Input.insertText", text=text)
        outline = f"getComputedStyle({field}).outline"
        assert ("rgb(192, 0, 0)" in browser.evaluate(outline)) == refused
    assert state(browser)["values"][0] == "1e40"


def test_every_control_has_a_name(browser, tmp_path):
    opened(browser, tmp_path, example())
    names = "[...document.querySelectorAll('input, button')].map((e) => e.ariaLabel || e.textContent).join('|')"
    assert browser.evaluate(names) == "Back|Play|Next|step|a|a, as a number|b|b, as a number|Reset"


# -- Steps ----------------------------------------------------------------------------------------

STEPS = [  # what is lit, how many edges, the row, and what is computed
    ([], 0, [], ["a = −4, b = 2"]),
    (["v₁", "·"], 5, ["v₁"], ["v₁ = a·b = −4·2 = −8"]),
    (["**", "v₂"], 3, ["v₂"], ["v₂ = b³ = 2³ = 8"]),
    (["+", "c"], 5, ["c"], ["c = v₁ + v₂ = −8 + 8 = 0"]),
    (["c"], 0, ["c"], ["c.grad = 1, the derivative of c by itself"]),
    (["+", "c"], 5, ["c"],
     ["v₁.grad += c.grad · ∂c/∂v₁ = 1 · 1 = 1 → v₁.grad = 1",
      "v₂.grad += c.grad · ∂c/∂v₂ = 1 · 1 = 1 → v₂.grad = 1"]),
    (["**", "v₂"], 3, ["v₂"],
     ["b.grad += v₂.grad · ∂v₂/∂b = 1 · 3·b² = 1 · 12 = 12 → b.grad = 12"]),
    (["v₁", "·"], 5, ["v₁"],
     ["a.grad += v₁.grad · ∂v₁/∂a = 1 · b = 1 · 2 = 2 → a.grad = 2",
      "b.grad += v₁.grad · ∂v₁/∂b = 1 · a = 1 · (−4) = −4 → b.grad = 12 + (−4) = 8"]),
]  # fmt: skip


def expect(browser, step):
    found = state(browser)
    assert (found["lit"], found["edges"], found["rows"], found["lines"]) == STEPS[step]
    half, i = ("forward", step) if step < 4 else ("backward", step - 4)
    assert found["step"] == f"{half} {i} of 3"


def test_keys_move_the_lit_node_the_row_and_the_formula_together(browser, tmp_path):
    opened(browser, tmp_path, example())
    expect(browser, 7)
    for key, to in [("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowRight", 3),
                    ("ArrowRight", 4), ("ArrowRight", 5), ("ArrowRight", 6), ("ArrowRight", 7),
                    ("ArrowRight", 7), ("ArrowLeft", 6), ("End", 7)]:  # fmt: skip
        browser.press(key)
        expect(browser, to)


def test_keys_move_what_has_the_focus(browser, tmp_path):
    opened(browser, tmp_path, example())
    browser.evaluate("document.getElementById('slider').focus()")
    browser.press("ArrowLeft")
    expect(browser, 6)
    browser.evaluate("document.querySelector('#inputs input').focus()")
    browser.press("ArrowRight")
    found = state(browser)
    assert found["step"] == "backward 2 of 3"
    assert found["values"][0] == "−3.9"


@pytest.mark.parametrize("way", ["click", "tap"])
def test_buttons_and_slider_work_by_mouse_and_touch(browser, tmp_path, way):
    opened(browser, tmp_path, example())
    move = getattr(browser, way)
    for button, to in [("#back", 6), ("#back", 5), ("#on", 6)]:
        move(*place(browser, button))
        expect(browser, to)
    move(*place(browser, "#slider", 0.01))
    expect(browser, 0)


def test_play_goes_from_the_start_until_it_is_paused(browser, tmp_path):
    opened(browser, tmp_path, example())
    browser.click(*place(browser, "#play"))
    expect(browser, 0)
    assert browser.evaluate("document.getElementById('play').textContent") == "Pause"
    eventually(lambda: browser.evaluate("step") == 1)
    browser.click(*place(browser, "#play"))
    assert browser.evaluate("document.getElementById('play').textContent") == "Play"
    assert browser.evaluate("timer") is None
    expect(browser, 1)
    browser.evaluate("go(last - 1); document.getElementById('play').click()")
    eventually(lambda: browser.evaluate("step") == 7)
    eventually(lambda: browser.evaluate("document.getElementById('play').textContent") == "Play")


def test_what_is_sent_moves_against_the_arrows_and_the_sum_is_made_when_it_arrives(
    browser, tmp_path
):
    opened(browser, tmp_path, example(), rankdir="LR", screen={"motion": "no-preference"})
    parcels = (
        "JSON.stringify([...document.querySelectorAll('.parcel')].map((g) => "
        "[g.textContent, g.getBoundingClientRect().x]))"
    )

    def moving(step):
        """Where each number is at first and later."""
        browser.evaluate(f"go({step - 1})")
        browser.evaluate(f"go({step}, true)")
        first = json.loads(browser.evaluate(parcels))
        eventually(
            lambda: all(
                x != y for (_, x), (_, y) in zip(first, json.loads(browser.evaluate(parcels)))
            )
        )
        return first, json.loads(browser.evaluate(parcels))

    first, later = moving(1)
    assert [text for text, _ in first] == ["−4", "2"]  # values, along the arrows
    assert all(x < y for (_, x), (_, y) in zip(first, later))
    first, later = moving(7)
    assert [text for text, _ in first] == ["2", "−4"]  # messages, against them
    assert all(x > y for (_, x), (_, y) in zip(first, later))
    browser.evaluate("go(6)")
    browser.evaluate("go(7, true)")
    on_the_way = state(browser)
    assert on_the_way["gradients"][:2] == ["", "12"]
    assert on_the_way["sums"] == ["= 12"]
    eventually(lambda: json.loads(browser.evaluate(parcels)) == [])
    there = state(browser)
    assert there["gradients"][:2] == ["2", "8"]
    assert there["sums"] == ["= 12 − 4"]


def test_nothing_moves_for_those_who_prefer_that(browser, tmp_path):
    opened(browser, tmp_path, example())
    browser.evaluate("go(0)")
    browser.evaluate("go(1, true)")
    assert browser.evaluate("document.querySelectorAll('.parcel').length") == 0
    expect(browser, 1)


# -- Everywhere -----------------------------------------------------------------------------------


def test_nothing_is_loaded_from_anywhere(browser, tmp_path):
    opened(browser, tmp_path, example())
    browser.press("Home")
    assert [url for url in browser.requests if not url.startswith("file:")] == []
    assert len(browser.requests) == 1


STILL = "getComputedStyle(document.getElementById('still')).display"


@pytest.mark.parametrize("graph", GRAPHS)
def test_without_scripts_the_last_step_can_be_read(browser, tmp_path, graph):
    root = graph()
    opened(browser, tmp_path, root, scripts=False)
    found, expected = state(browser), computed(root, Score(root, "test").last)
    for kind in expected:
        assert sorted(found[kind]) == sorted(expected[kind])
    assert browser.evaluate(STILL) == "block"
    assert (
        browser.evaluate("getComputedStyle(document.getElementById('controls')).display") == "none"
    )
    opened(browser, tmp_path, root)
    assert browser.evaluate(STILL) == "none"
    with_scripts = state(browser)
    assert all(with_scripts[kind] == found[kind] for kind in expected)


def in_a_notebook(browser, tmp_path, outputs, head=""):
    """A page with some outputs in it, as a notebook has them."""
    page = tmp_path / "notebook.html"
    page.write_text(f"<!DOCTYPE html><meta charset=utf-8>{head}{outputs}", encoding="utf-8")
    browser.open(page.as_uri())
    frames = outputs.count("<iframe")
    eventually(lambda: browser.in_frames("document.readyState") == ["complete"] * frames)


@pytest.mark.parametrize("forbidden", ["script-src 'none'", "default-src 'none'"])
def test_where_a_policy_forbids_scripts_the_last_step_can_be_read(browser, tmp_path, forbidden):
    policy = f'<meta http-equiv=Content-Security-Policy content="{forbidden}; frame-src *">'
    in_a_notebook(browser, tmp_path, show_steps(example())._repr_html_(), policy)
    assert browser.in_frames(STILL) == ["block"]
    dead = "[...document.querySelectorAll('input, button')].some((e) => e.getClientRects().length)"
    assert browser.in_frames(dead) == [False]
    assert browser.in_frames("document.querySelector('tbody').rows[1].cells[3].textContent") == [
        "8"
    ]
    in_a_notebook(browser, tmp_path, show_steps(example())._repr_html_())
    assert browser.in_frames(STILL) == ["none"]


def test_viewers_on_one_page_do_not_meet_and_no_key_reaches_the_notebook(browser, tmp_path):
    viewer = show_steps(example())._repr_html_()
    keys = "<script>let keys = 0; addEventListener('keydown', () => keys++, true)</script>"
    in_a_notebook(browser, tmp_path, viewer + viewer, keys)

    def click_into_the_first():
        browser.click(600, 30)
        return sorted(browser.in_frames("document.hasFocus()")) == [False, True]

    eventually(click_into_the_first)
    browser.press("Home")
    eventually(lambda: sorted(browser.in_frames("step")) == [0, 7])
    browser.press("ArrowRight")
    eventually(lambda: sorted(browser.in_frames("step")) == [1, 7])
    assert browser.evaluate("keys") == 0


INSIDE = """(() => {
  const pane = document.getElementById("picture").getBoundingClientRect();
  const box = document.querySelector("#picture g.node.lit").getBoundingClientRect();
  return pane.left <= box.left && box.right <= pane.right;
})()"""


def test_a_wide_picture_follows_the_node_that_is_lit(browser, tmp_path):
    y = Value(1.0, label="x")
    for _ in range(20):
        y = y.tanh()
    opened(browser, tmp_path, y, rankdir="LR")
    assert browser.evaluate("document.getElementById('picture').scrollWidth") > 1200
    for at in (1, 21, 10, 41):
        browser.evaluate(f"go({at})")
        assert browser.evaluate(INSIDE)
    opened(browser, tmp_path, y, rankdir="RL")  # its last step is at the right
    eventually(lambda: browser.evaluate(INSIDE))


def test_a_tall_picture_has_another_direction(browser, tmp_path):
    boxes = "JSON.stringify([...document.querySelectorAll('g.node')].map((g) => { const r = g.getBoundingClientRect(); return [r.x, r.y] }))"
    spread = {}
    for rankdir in ("LR", "TB"):
        opened(browser, tmp_path, example(), rankdir=rankdir)
        xs, ys = zip(*json.loads(browser.evaluate(boxes)))
        spread[rankdir] = (max(xs) - min(xs)) / (max(ys) - min(ys))
    assert spread["LR"] > 2
    assert spread["TB"] < 1


SIZES = """(() => {
  const scale = document.querySelector("#picture svg").getScreenCTM().a;
  const own = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  return Math.min(...[...document.querySelectorAll("body *")].filter((e) => own(e) &&
    e.getClientRects().length).map((e) =>
      parseFloat(getComputedStyle(e).fontSize) * (e.ownerSVGElement ? scale : 1)));
})()"""


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("width", [400, 900, 1600])
def test_it_is_readable_on_every_screen(browser, tmp_path, graph, width):
    opened(browser, tmp_path, graph(), screen={"width": width})
    for at in ("0", "half + 1", "last"):
        browser.evaluate(f"go({at})")
        assert browser.evaluate(SIZES) >= 11.99
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
    tops = (
        "['picture', 'table'].map((id) => document.getElementById(id).getBoundingClientRect().top)"
    )
    picture, table = json.loads(browser.evaluate(f"JSON.stringify({tops})"))
    if graph is not network:
        assert (picture == table) == (width == 1600)  # side by side where there is room


def test_on_a_dark_page_the_picture_is_dark(browser, tmp_path):
    light = "getComputedStyle(document.querySelector('#picture text')).fill"
    opened(browser, tmp_path, example())
    assert browser.evaluate(light) == "rgb(17, 17, 17)"
    browser.emulate(scheme="dark")
    assert browser.evaluate(light) == "rgb(238, 238, 238)"
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(17, 17, 17)"
    box = "getComputedStyle(document.querySelector('#picture g.node polygon')).fill"
    assert browser.evaluate(box) == "rgb(28, 58, 87)"
    browser.evaluate("go(1)")
    lit = "getComputedStyle(document.querySelector('#picture g.node.lit > path, #picture g.node.lit > polygon')).stroke"
    assert browser.evaluate(lit) == "rgb(255, 157, 77)"


def test_the_animation_plays_in_a_plain_img(browser, tmp_path):
    animate(example(), tmp_path / "backward.svg")
    page = tmp_path / "readme.html"
    page.write_text('<!DOCTYPE html><img src="backward.svg">', encoding="utf-8")
    browser.open(page.as_uri())
    browser.emulate(motion="no-preference")
    assert browser.evaluate("document.images[0].naturalWidth") > 300
    first = browser.screenshot()
    eventually(lambda: browser.screenshot() != first)


HOSTILE = [
    '"><script>window.hacked = 1</script>',
    "</script><script>hacked = 1</script>",
    "<!--<script>hacked = 1",
    "<img src=x onerror='hacked = 1'>",
    "</text></svg><svg onload=hacked=1>",
    "]]><script>hacked=1</script><![CDATA[",
    "--><script>hacked=1</script>",
    "first\n<script>hacked=1</script>",
    "&lt;script&gt;hacked=1&lt;/script&gt;",
    "' onclick='hacked=1",
    "${last} {title} $$",
    "`${hacked = 1}`",
    '\\"; hacked = 1; //',
    "\u2028hacked = 1",
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
    browser.press("Home")
    for at in range(6):
        browser.evaluate(f"go({at})")
    type_into(browser, 1, "1e999")
    assert state(browser)["step"] == "backward 2 of 2"  # the page's own script runs
    shown = browser.evaluate("document.querySelector('tbody td').textContent")
    assert shown == " ".join(draw_label(label).split())
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


def draw_label(label):
    return label.replace("\u2028", "\ufffd")  # no printable character


# -- Without a browser ----------------------------------------------------------------------------


def test_the_output_is_the_same_every_time(tmp_path):
    one, other = show_steps(example()), show_steps(example())
    assert one._repr_html_() == other._repr_html_()
    assert repr(one) == "<StepViewer: 3 operations, forward and backward>"
    animate(example(), tmp_path / "one.svg")
    animate(example(), tmp_path / "other.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()


def test_the_notebook_holds_the_page_in_a_frame_without_rights(tmp_path):
    viewer = show_steps(example())
    assert viewer.save(tmp_path / "page.html") == str(tmp_path / "page.html")
    frame = viewer._repr_html_()
    assert 'sandbox="allow-scripts"' in frame
    page = html.unescape(re.search("srcdoc='([^']*)'", frame).group(1))
    assert page == (tmp_path / "page.html").read_text(encoding="utf-8")
    inside = frame.partition(">")[2]
    assert "this is its last step.</p><img" in inside  # for where frames are taken away
    viewer.save(tmp_path / "page.png")
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(
        ValueError, match=r"found a file name that ends in '\.txt', expected one in"
    ):
        viewer.save(tmp_path / "page.txt")


def test_the_saved_page_of_the_readme_is_the_one_that_its_code_makes(tmp_path):
    names = {}
    readme = (NOTEBOOKS.parent / "README.md").read_text(encoding="utf-8")
    exec(re.search(r"```python\n(.*?)```", readme, re.S).group(1), names)
    show_steps(names["c"]).save(tmp_path / "live.html")
    pages = [
        path.read_text(encoding="utf-8")
        for path in (NOTEBOOKS / "live.html", tmp_path / "live.html")
    ]
    pictures = [re.findall("<text[^>]*>([^<]*)<", page) for page in pages]
    assert pictures[0] == pictures[1]
    rest = [re.sub(r"<svg.*?</svg>|--width: \d+px", "", page, flags=re.S) for page in pages]
    assert rest[0] == rest[1]


def test_a_page_of_sixty_nodes_is_small():
    x = [Value(0.1 * i, label=f"x{i}") for i in range(6)]
    row = x
    while len(topological_order(ad.sum(row))) < 55:
        row = [sin(u * v) for u, v in zip(row, row[1:] + row[:1])]
    root = ad.sum(row)
    assert 50 <= len(topological_order(root)) <= 60
    assert len(show_steps(root)._page.encode()) <= 300_000


def test_the_animation_at_rest_is_the_last_step(tmp_path):
    path = animate(example(), tmp_path / "backward.svg")
    root = ElementTree.parse(path).getroot()
    texts = [
        t.text for t in root.iter() if t.tag.endswith("text") and t.get("visibility") != "hidden"
    ]
    assert {"grad 8", "= 12 − 4", "backward 3 of 3"} <= set(texts)
    assert "grad 12" not in texts
    assert "script" not in {e.tag.rpartition("}")[2] for e in root.iter()}


def test_the_animation_runs_forward_first_and_leaves_time_to_read(tmp_path):
    root = ElementTree.parse(animate(example(), tmp_path / "backward.svg")).getroot()
    spans = {}
    for element in root.iter("{http://www.w3.org/2000/svg}text"):
        start, end = re.fullmatch(r"from(\d+)to(\d+)", element.get("class", "from0to0")).groups()
        spans.setdefault(element.text, (int(start), int(end)))
    counters = [f"forward {i} of 3" for i in range(4)] + [f"backward {i} of 3" for i in range(4)]
    ends = [spans[counter] for counter in counters]
    assert [start for start, _ in ends] == [0, *(end for _, end in ends[:-1])]
    for i, counter in enumerate(counters):
        start, end = spans[counter]
        characters = sum(len(line) for line in STEPS[i][3])
        assert end - start >= 40 * characters  # milliseconds
    assert spans["data −8"][0] > spans["forward 1 of 3"][0]  # when the values have arrived


def test_a_node_used_twice_receives_both_in_one_step():
    x = Value(3.0, label="x")
    score = Score(x * x, "test")
    assert [score.filled(line) for line in score.lines[-1]] == [
        "x.grad += v₁.grad · ∂v₁/∂x = 1 · x = 1 · 3 = 3   →   x.grad = 3",
        "x.grad += v₁.grad · ∂v₁/∂x = 1 · x = 1 · 3 = 3   →   x.grad = 3 + 3 = 6",
    ]
    page = show_steps(x * x)._page
    assert ">grad 6</text>" in page
    assert ">= 3 + 3</text>" in page


def test_no_gradient_is_written():
    c = example()
    show_steps(c)
    assert c.grad == c.parents[0].grad == 0.0


def test_a_layer_a_leaf_a_condition_and_a_kink_can_be_viewed():
    layer = nn.Linear(2, 1, activation=relu, seed=0)
    assert repr(show_steps(layer([1.0, -1.0])[0])).startswith("<StepViewer: 3 operations")
    assert repr(show_steps(Value(1.0))).startswith("<StepViewer: 0 operations")
    flat = operation(lambda x: (1.0, lambda grad: (0.0 * grad,)))
    assert repr(show_steps(flat(Value(2.0)))).startswith("<StepViewer: 1 operation,")
    x, y = Value(1.0, label="x"), Value(2.0, label="y")
    score = Score(ad.where(ad.less(x, y), x * y, y), "test")
    lines = [score.filled(line) for lines in score.lines for line in lines]
    assert "v₁ = x < y = 1 < 2 = 1" in lines
    assert "x.grad += v₁.grad · ∂v₁/∂x = 0 · 0 = 0   →   x.grad = 2 + 0 = 2" in lines


def test_names_are_those_of_draw():
    x = Vector([0.5, -0.25])
    layer = nn.Linear(2, 1, seed=0)
    score = Score(layer(x)[0], "test", {"x": x})
    assert score.names[:4] == ["weight[0,0]", "weight[0,1]", "x[0]", "x[1]"]
    named = Score(network(), "test").names  # both layers have a weight[0,0]
    assert {"0.weight[0,0]", "1.weight[0,0]"} <= set(named)
    assert len(set(named)) == len(named)


def names_of_sliders(viewer):
    return re.findall(r'\{"name": "([^"]*)", "bound"', viewer._page)


def test_inputs_come_first_and_can_be_chosen():
    layer, x = nn.Linear(3, 3, seed=0), Vector([0.5, -0.25, 1.0])
    y = layer(x).sum()
    shown = names_of_sliders(show_steps(y, names={"x": x}))
    assert shown == [
        "x[0]",
        "x[1]",
        "x[2]",
        *[f"weight[0,{i}]" for i in range(3)],
        "bias[0]",
        "weight[1,0]",
    ]
    assert names_of_sliders(show_steps(y, inputs=[layer.bias])) == ["bias[0]", "bias[1]", "bias[2]"]
    assert names_of_sliders(show_steps(y, inputs=layer.bias)) == ["bias[0]", "bias[1]", "bias[2]"]
    assert len(names_of_sliders(show_steps(y, inputs=[Matrix([list(x), list(x)]), x]))) == 3


def test_an_operation_that_cannot_be_written_leaves_the_steps_without_sliders():
    x = Value(0.5, label="x")
    mysin = operation(lambda x: (math.sin(x), lambda grad: (grad * math.cos(x),)))
    page = show_steps(mysin(x) * x)._page
    assert names_of_sliders(show_steps(mysin(x) * x)) == []
    assert "const program = null;" in page
    assert "No input can be dragged" in page
    hidden = operation(lambda x: (x * 2, lambda grad: (grad * 2 if x > 0 else 0 * grad,)))
    page = show_steps(hidden(x))._page  # a choice that Python makes
    assert "const program = null;" in page


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
    x = Value(2.0)
    y = x * x
    x.data = 3.0
    with pytest.raises(ValueError, match=r"found \* of numbers that were changed after the graph"):
        function(y)


def test_which_inputs_it_refuses():
    x, c = Value(2.0, label="x"), example()
    with pytest.raises(
        ValueError, match=r"inputs: found 2.0 \('x'\), expected leaves of this graph"
    ):
        show_steps(c, inputs=[x])
    with pytest.raises(
        ValueError, match=r"inputs: found 0.0 \('c'\), expected leaves of this graph"
    ):
        show_steps(c, inputs=[c])
    with pytest.raises(
        TypeError, match="inputs: found 'a' of type str, expected Values, or Vectors"
    ):
        show_steps(c, inputs="a")
    with pytest.raises(TypeError, match="inputs: found 3.0 of type float, expected Values, or"):
        show_steps(c, inputs=3.0)
    with pytest.raises(ValueError, match="inputs: found 0 inputs, expected 1 to 8"):
        show_steps(c, inputs=[])
    many = Vector([float(i) for i in range(9)])
    with pytest.raises(ValueError, match="inputs: found 9 inputs, expected 1 to 8"):
        show_steps(many.sum(), inputs=many)
    with pytest.raises(ValueError, match=r"found a file name that ends in '\.png', expected"):
        animate(c, "c.png")


def test_a_name_is_given_once():
    x = Value(2.0, label="x")
    first = x * x
    first.label = "v₁"
    assert Score(first.sin() + x.cos(), "test").names == ["x", "v₁", "v₂", "v₃", "v₄"]


@pytest.mark.parametrize("x", [5e-324, 1e-301, 1e308, -1.7e308, math.inf, math.nan])
def test_numbers_that_are_too_large_or_small_for_a_scale_have_a_slider(x):
    page = show_steps(Value(x, label="x") * 1.0)._page
    assert '"sliders": [{"name": "x", "bound": 1.0}]' in page


def test_adjoints_of_the_score_are_those_of_the_engine():
    for graph in GRAPHS:
        root = graph()
        score, expected = Score(root, "test"), adjoints(root)
        found = [score.numbers[stages[-1].place] for stages in score.stages]
        assert found == [expected[x] for x in score.nodes]
