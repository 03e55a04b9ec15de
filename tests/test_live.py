"""The live graph: what Python says of it, and what people do with it in a real browser.

Its formulas and numbers are in test_parser.py, what all pages have in common in test_pages.py.
"""

import math
import re
from urllib.parse import unquote

import pytest
from browser import eventually
from pictures import constant, fork, running

import autodiff as ad
from autodiff import Dual, Value, Vector, adjoints, nn, operation, show_steps, topological_order
from autodiff.__main__ import main
from autodiff.pictures import layout, live

LINK = r"#([A-Za-z0-9._~-]|%[0-9A-Fa-f]{2})+"  # at any other sign a messenger may cut it


def test_what_python_says_of_it():
    root = fork()
    shown = show_steps(root)
    assert repr(shown) == "<LiveGraph: 2 operations, forward and backward>"
    assert re.fullmatch(LINK, shown.link)
    assert unquote(shown.link) == "#a=2.0;b=1.0;y=(a+b)*b"
    assert show_steps(root, ask=True).link == shown.link + "&ask"
    assert shown._repr_html_() == show_steps(fork())._repr_html_()
    assert root.grad == root.parents[0].grad == 0.0
    mine = operation(lambda x: (x * 2, lambda grad: (grad * 2,)))
    with pytest.raises(ValueError, match="link: found an operation of your own"):
        _ = show_steps(mine(Value(1.0))).link


def test_the_command_line_writes_the_page_on_which_one_types(tmp_path, capsys):
    assert main(["--page", str(tmp_path / "graph.html")]) == 0
    assert capsys.readouterr().out == f"wrote {tmp_path / 'graph.html'}\n"
    assert (tmp_path / "graph.html").read_text(encoding="utf-8") == live.page()
    with pytest.raises(SystemExit):
        main([])
    assert "an expression is missing" in capsys.readouterr().err


def test_it_needs_no_graphviz(monkeypatch):
    before = show_steps(fork())._repr_html_()
    monkeypatch.setattr(layout, "pygraphviz_folder", str)
    monkeypatch.setenv("PATH", "")
    after = show_steps(fork())._repr_html_()
    assert ("<img" in before, "<img" in after) == (True, False)
    assert "run its cell.</p></iframe>" in after


def test_a_number_that_was_changed_counts():
    x = Value(2.0, label="x")
    y = x * x
    x.data = 3.0
    assert unquote(show_steps(y).link) == "#x=3.0;x*x"


MYSIN = operation(lambda x: (math.sin(x), lambda grad: (grad * math.cos(x),)))
REFUSED = [
    (3.0, "found 3.0, expected a Value over floats"),
    (Value(Dual(1.0, 1.0)), "expected a Value over floats"),
    (constant(1.0), "found a constant, expected a Value that requires"),
    (ad.sum([Value(1.0) for _ in range(60)]), "found 61 nodes, expected at most 60"),
    (MYSIN(Value(0.5)), "and autodiff.sin(x) for math.sin(x)"),
]


@pytest.mark.parametrize(("given", "reason"), REFUSED)
def test_what_it_refuses(given, reason):
    with pytest.raises((TypeError, ValueError), match=re.escape(reason)):
        show_steps(given)


def test_inputs_stand_before_parameters():
    layer, x = nn.Linear(2, 2, seed=0), Vector([0.5, -0.25])
    link = unquote(show_steps(layer(x).sum(), names={"x": x}).link)
    assert re.findall(r"(\w+)=", link)[:4] == ["x_0", "x_1", "weight_0_0", "weight_0_1"]


# -- In a browser ---------------------------------------------------------------------------------


def first(browser):
    """The sentence that stands there."""
    return browser.texts("#sentence .first")[0]


def gradients(browser):
    return browser.texts(".slider .end")


SENTENCES = [
    "The inputs hold their numbers. Press Play to run the values forward, in blue.",
    "v₁ = a + b = 2 + 1 = 3",
    "y = v₁ · b = 3 · 1 = 3",
    "The way back starts at the end: y changes 1 for 1 with itself.",
    "A product swaps: each input gets what arrived, times the other.",
    "A sum copies: both inputs get what arrived.",
    "All gradients are here. Move b by 0.01, and y moves by 0.04.",
]


def test_it_opens_before_the_backward_pass_and_keys_step_through_both(browser):
    browser.show(show_steps(fork()))
    assert browser.texts("h1") == ["y = (a + b) · b"]
    said = "The values have run forward, in blue. Press Play to send the gradients back, in orange."
    assert first(browser) == said
    assert browser.texts(".bar .here") == ["forward 2 of 2"]
    assert gradients(browser) == ["", ""]
    assert len(browser.texts(".pane .place")) == 4
    browser.press("Home")
    for sentence in SENTENCES:
        assert first(browser) == sentence
        browser.press("ArrowRight")
    assert gradients(browser) == ["1", "4"]
    assert browser.texts(".bar .here") == ["backward 3 of 3"]
    browser.press("ArrowLeft")
    assert browser.texts(".message") == ["1 · 1 = 1", "1 · 3 = 3"]
    lines = "v₁.grad += y.grad · b = 1 · 1 = 1 b.grad += y.grad · v₁ = 1 · 3 = 3"
    assert browser.texts("pre") == [lines]
    browser.press("End")
    assert first(browser) == SENTENCES[-1]


def test_play_sends_the_gradients_back(browser):
    browser.show(show_steps(fork()), motion="no-preference")
    browser.evaluate("set({ speed: 3 })")
    browser.push("Play")
    assert browser.texts(".play") == ["❚❚ Pause"]
    seen = set()
    eventually(
        lambda: seen.update(browser.texts("#sentence")) or browser.texts(".play") == ["↻ Again"]
    )
    assert any("b is used twice, so its two messages add: 4 = 3 + 1." in x for x in seen)
    assert gradients(browser) == ["1", "4"]


def test_a_drag_moves_every_number_as_in_python(browser):
    browser.show(show_steps(running()), height=1400)
    browser.press("End")
    to = browser.place(".track input", 0.62)[0]
    browser.drag(*browser.place(".track input", 0.5), to)
    x, run = browser.evaluate("[state.leaves, pass(state.graph, state.leaves)]")
    moved = running(x[0], x[2])
    order, adjoint = topological_order(moved), adjoints(moved)
    assert (x[0] != 2.0, x[2]) == (True, 5.0)
    assert run["values"] == pytest.approx([node.data for node in order], rel=1e-12)
    assert run["adjoints"] == pytest.approx([adjoint[node] for node in order], rel=1e-12)
    assert browser.texts(".plot .tangent") == [""]


TOUCHED = {
    "a=1;b=1;relu(a-b)": "At the corner there are two slopes, 0 and 1. relu takes 0.",
    "a=0;abs(a)": "At the corner there are two slopes, −1 and 1. |x| takes 0.",
    "x=0;sqrt(x)": "At x = 0, y rises straight up: its slope is infinity.",
    "x=-1;log(x)": "ln has no value at x = −1.",
    "a=2;b=1.5;(a+b)*b": "Move a a little and y moves 1.5 times as far.",
}


def test_what_it_says_while_an_input_is_touched(browser):
    browser.show(live.page())
    for formula, said in TOUCHED.items():
        browser.evaluate(f"retype({formula!r}); go(99); actions.touch(state.graph.inputs[0])")
        assert first(browser) == said
        assert "NaN" not in browser.evaluate("main.innerHTML")


def test_where_the_derivative_ends_it_opens(browser):
    browser.show(show_steps(ad.sqrt(Value(0.0, label="x"))), "#&step=3")
    assert gradients(browser) == ["infinity"]
    assert first(browser).endswith("its slope is infinity.")


def test_numbers_that_are_none_are_refused(browser):
    browser.show(show_steps(fork()), "#&step=9")
    b = "div.slider:nth-of-type(2) .field"
    for text in ("1e400", ""):
        browser.enter(b, text)
        assert len(browser.texts(".field:invalid")) == 1
        assert gradients(browser) == ["1", "4"]
    browser.enter(b, "-1.5")
    assert gradients(browser) == ["−1.5", "−1"]  # ∂y/∂b = a + 2b


def test_it_asks_and_a_wrong_answer_is_not_told_the_result(browser):
    browser.show(show_steps(fork(), ask=True))
    browser.evaluate("play()")
    eventually(lambda: not browser.evaluate("state.playing"))  # Play waits for an answer
    assert first(browser) == "Which message goes from × back to v₁?"

    def answer(text):
        browser.enter("#answer", text)
        browser.push("Check")

    answer("1")
    assert first(browser) == "Which message goes from × back to b?"
    answer("1")
    assert browser.texts("#told")[0].startswith("Not yet: 1 is b itself. A product swaps")
    assert browser.texts(".made") == ["1 · 3 = ?"]
    answer("3")
    eventually(lambda: browser.evaluate("state.step") == 4)


def test_a_link_opens_the_same_formula_in_the_same_mode(browser):
    a, b = Value(-1.5, label="α"), Value(2.0, label="b")
    y = ad.maximum(a * b, (a + b) / 4.0) ** 3 - b
    browser.show(live.page(), show_steps(y, ask=True).link)
    typed = browser.evaluate("state.graph.formula.replaceAll(' ', '')")
    assert (typed, browser.evaluate("state.ask")) == ("maximum(α*b,(α+b)/4.0)**3.0-b", True)
    assert browser.evaluate("pass(state.graph, state.leaves).values.at(-1)") == y.data
    assert re.fullmatch(LINK + "&step=6&ask", browser.evaluate("addressOf(state)"))


def test_a_formula_becomes_a_graph_and_the_address_follows(browser):
    browser.show(live.page())
    browser.evaluate("retype('tanh(w*x + b)', true)")
    browser.enter(".field", "0.25")
    browser.evaluate("left(); go(99)")
    address = browser.evaluate("location.hash")
    assert re.fullmatch(LINK + "&step=7", address)  # and not &ask
    browser.show(live.page(), address)
    assert browser.texts("h1") == ["y = tanh(w · x + b)"]
    assert browser.texts(".bar .here") == ["backward 4 of 4"]
    assert browser.evaluate("state.leaves[state.graph.inputs[0]]") == 0.25
    names = {}
    exec(browser.evaluate("python(state)").replace("show_steps(y)", ""), names)
    value = browser.evaluate("pass(state.graph, state.leaves).values.at(-1)")
    assert names["y"].data == pytest.approx(value)
    browser.evaluate("retype('tanh(w*x +')")
    assert first(browser) == "the formula ends where a number, a name or a bracket is expected"
    assert browser.texts("h1") == ["y = tanh(w · x + b)"]


def test_one_announcement_a_step_and_none_while_dragging(browser):
    browser.show(show_steps(fork()))
    for action, spoken in {"0": "polite", "move(0, 1.5)": "off", "left()": "polite"}.items():
        browser.evaluate(action)
        assert browser.evaluate("document.querySelector('#sentence').ariaLive") == spoken
