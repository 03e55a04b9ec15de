"""The live graph: what Python says of it, and what people do with it in a real browser."""

import math
import re
import xml.etree.ElementTree as ElementTree
from functools import partial
from urllib.parse import unquote

import pytest
from browser import eventually
from pictures import chain, constant, fork, network, output, running, woven

import autodiff as ad
from autodiff import Dual, Value, Vector, adjoints, nn, operation, show_steps, topological_order
from autodiff.__main__ import main
from autodiff.pages import live

LINK = r"#([A-Za-z0-9._~-]|%[0-9A-Fa-f]{2})+"  # at any other sign a messenger may cut it


def test_what_python_says_of_it():
    root = fork()
    shown = show_steps(root)
    assert re.fullmatch(LINK, shown.link)
    assert unquote(shown.link) == "#a=2.0;b=1.0;y=(a+b)*b"
    assert shown._repr_html_() == show_steps(fork())._repr_html_()
    assert root.grad == root.parents[0].grad == 0.0
    assert "const erf" not in shown._page
    assert "const erf" in show_steps(ad.erf(Value(0.5)))._page


def test_the_command_line_writes_the_page_on_which_one_types(tmp_path, capsys):
    assert main(["--page", str(tmp_path / "graph.html")]) == 0
    assert capsys.readouterr().out == f"wrote {tmp_path / 'graph.html'}\n"
    assert (tmp_path / "graph.html").read_text(encoding="utf-8") == live.page()
    with pytest.raises(SystemExit):
        main([])
    assert "an expression is missing" in capsys.readouterr().err


def own():
    """An operation that this package does not have, by the name of one that it has."""

    def less(x, y):
        return x - y, lambda grad: (grad, -grad)

    return operation(less)(Value(1.0, label="a"), Value(2.0, label="b"))


def frozen():
    """A result whose only leaf requires no gradient any more."""
    x = Value(2.0)
    y = x * x
    x.requires_grad = False
    return y


REFUSED = [
    (3.0, "found 3.0, expected a Value over floats"),
    (abs, "expected a Value over floats; compute one, as f(Value(2.0)), or take y[0]"),
    (Value(Dual(1.0, 1.0)), "expected a Value over floats"),
    (constant(1.0), "found a constant, expected a Value that requires"),
    (frozen(), "found a constant, expected a Value that requires"),
    (ad.sum([Value(1.0) for _ in range(60)]), "found 61 boxes, expected at most 60"),
    (operation(lambda x: (math.sin(x), abs))(Value(0.5)), "autodiff.sin for math.sin"),
    (own(), "link: found an operation of your own"),
]


@pytest.mark.parametrize(("given", "reason"), REFUSED)
def test_what_it_refuses(given, reason):
    with pytest.raises((TypeError, ValueError), match=re.escape(reason)):
        _ = show_steps(given).link


def test_a_changed_number_counts_and_inputs_stand_before_parameters():
    layer, x = nn.Linear(2, 2, seed=0), Vector([0.5, -0.25])
    y = layer(x).sum()
    x[0].data = 3.0
    link = unquote(show_steps(y, names={"x": x}).link)
    assert link.startswith("#x_0=3.0;x_1=-0.25;weight_0_0=")
    assert re.findall(r"(\w+)=", link)[3] == "weight_0_1"


# -- Graphs ---------------------------------------------------------------------------------------


def loss(target=1.0):
    x1, x2 = Value(0.5, label="x1"), Value(-1.0, label="x2")
    y = nn.mse_loss(network(2, 3, 1)([x1, x2]), [target])
    y.label = "loss"
    return y


def lecture():
    """A network 3-4-1 and its loss, written by hand: 64 nodes."""
    weights = iter([Value(0.1 * (i * 7 % 19 - 9)) for i in range(21)])
    neuron = lambda xs: sum((next(weights) * x for x in xs), next(weights))  # noqa: E731
    xs = [Value(x, label=f"x{i + 1}") for i, x in enumerate([1.0, -2.0, 0.5])]
    return (neuron([ad.tanh(neuron(xs)) for _ in range(4)]) - 1.0) ** 2


# -- In a browser ---------------------------------------------------------------------------------


FIRST = "#sentence[aria-live=polite] .first"


def said(browser, place):
    return " | ".join(browser.texts(place))


def opened(browser, graph):
    """Show a graph of Python, or type a formula."""
    browser.show(live.page() if isinstance(graph, str) else show_steps(graph()))
    if isinstance(graph, str):
        browser.evaluate(f"retype({graph!r})")


KEYS = [  # what is pressed, where one reads, and what stands there
    ("", f"h1, {FIRST}, .bar .here, .slider .end",
     "y = (a + b) · b | The values ran forward, in blue. Press Play to send gradients back, "
     "in orange: how fast y moves with each. | forward 2 of 2 |  | "),
    ("Home", FIRST, "The inputs hold their numbers. Press Play to run the values forward, in blue."),
    ("ArrowRight", FIRST, "v₁ = a + b = 2 + 1 = 3"),
    ("ArrowRight", FIRST, "y = v₁ · b = 3 · 1 = 3"),
    ("ArrowRight", FIRST, "The way back starts at the end: y changes 1 for 1 with itself."),
    ("ArrowRight", FIRST, "A product swaps: an input gets what arrived, times the other."),
    ("ArrowRight", FIRST, "A sum copies: an input gets what arrived."),
    ("ArrowRight", FIRST, "All gradients are here. Move b by 0.01, and y moves by about 0.04."),
    ("ArrowRight", ".bar .here, .slider .end", "backward 3 of 3 | 1 | 4"),
    ("ArrowLeft", ".message, pre", "1 · 1 = 1 | 1 · 3 = 3 | v₁.grad += y.grad · b = 1 · 1 = 1 "
                                   "b.grad += y.grad · v₁ = 1 · 3 = 3"),
    ("End", FIRST, "All gradients are here. Move b by 0.01, and y moves by about 0.04."),
]  # fmt: skip


def test_it_opens_before_the_backward_pass_and_keys_step_through_both(browser):
    browser.show(show_steps(fork()))
    assert len(browser.texts("rect.place")) == 4
    for key, place, words in KEYS:
        browser.press(key)
        assert said(browser, place) == words, key


def test_play_sends_the_gradients_back(browser):
    browser.show(show_steps(fork()), motion="no-preference")
    browser.evaluate("Object.assign(MOVES, { seed: 300, backward: 500 })")
    browser.push("Play")
    assert browser.texts(".play") == ["❚❚ Pause"]
    seen = set()
    eventually(
        lambda: seen.update(browser.texts("#sentence")) or browser.texts(".play") == ["↻ Again"]
    )
    assert any("At b both messages add: 4 = 3 + 1." in x for x in seen)
    assert said(browser, ".slider .end") == "1 | 4"


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


BESIDE, END = ".place-of p", "go(99)"
TOUCHED = f"{END}; actions.touch(state.graph.inputs[0])"
CHOSEN = "document.querySelectorAll('.choices button')[{}].click()"
SHARE, FILES = "set({ share: true })", "Page, a file | Picture, SVG | Picture, PNG"
STRAIGHT = "Exactly as foretold: as far as it moved, the output is a straight line."
BENDS = "Off by {}: the curve is not straight. Ten times smaller misses {} times less."


def moved(by, target="{ node: state.graph.inputs[0] }"):
    """Move a wire, and compare what its gradient foretold."""
    return f"{END}; set({{ touched: null, proof: {{ ...({target}), by: {by} }} }})"


level = partial(running, x2=0.0)
SAID = [
    ("x=0;x*x", END, FIRST, "All gradients are here. Move x by 0.01, and y moves by about 0."),
    # by 0.01, y would move by -50 instead of -100
    ("x=0.01;1/x", END, FIRST, "All gradients are here. Move x by 0.0001, and y moves by about −1."),
    ("x=0;abs(x)", END, FIRST, "All gradients are here."),
    (lambda: ad.sqrt(Value(0.0, label="x")), END, f"{FIRST}, .slider .end",
     "At x = 0, y rises straight up: its slope is infinity. | infinity"),
    # formulas that are none
    ("tanh(w x + b)", "", FIRST, "“x” stands where ) is expected; a product needs its sign: x*y"),
    ("(" * 1999, "", FIRST, "The formula is nested too deep"),
    ("x" + "+x" * 60, "", FIRST, "More than 60 boxes cannot be shown"),
    # an input that is touched
    ("a=2;b=1.5;(a+b)*b", TOUCHED, FIRST, "Move a a little and y moves 1.5 times as far."),
    ("a=1;b=1;relu(a-b)", TOUCHED, FIRST, "At the corner there are two slopes, 0 and 1. The gradient is 0."),
    ("x=0;sqrt(x)", TOUCHED, FIRST, "At x = 0, y rises straight up: its slope is infinity."),
    ("x=0;log(x)", TOUCHED, FIRST, "ln x has no value at x = 0."),
    ("x=1.0000001;acos(x)", TOUCHED, FIRST, "acos x has no value at x = 1.0000001."),
    ("x=1e-320;1/x", TOUCHED, FIRST, "1 / x is too large at x = 1·10⁻³²⁰."),
    ("x=-1.5;x^x", TOUCHED, FIRST, "xx has no value at x = −1.5."),
    ("xy*2", "", FIRST, "xy is one name. A product is x·y."),
    ("x2*2", "", FIRST, "The values ran forward, in blue. Press Play to send gradients back, in orange: how fast y moves with each."),
    # a formula as it was typed, and slopes by the names that stand in it
    ("sin(x)^2 + x^(-3) + x^0.5 + e^x", "", "h1", "y = (sin x)2 + x−3 + x0.5 + ex"),
    ("v=tanh(x); v*x", "go(5, true)", FIRST, "Here tanh sends back what arrived, times its slope: 1 − v2 = 0.0707."),
    ("x/2", "go(3, true)", FIRST, "Here ÷ sends back what arrived, times its slope: 1 / 2 = 0.5."),
    ("x=2; x^3", "go(3, true)", FIRST, "Here x³ sends back what arrived, times its slope: 3 · x2 = 12."),
    ("x=0;2/x", TOUCHED, FIRST, "2 / x has no value at x = 0."),
    ("x=1000;exp(x)", TOUCHED, FIRST, "exp x is too large at x = 1000."),
    # a gradient moves its wire, and a message one use of it
    (fork, moved(0.1, "{ node: 1 }"), f"{FIRST}, .pill, .fact, {BESIDE}",
     "Move only b by +0.1, and y moves by +0.41. | +0.1 | +0.1 | +0.41 | foretold4 · 0.1+0.4 "
     f"| measuredy 3 → 3.41+0.41 | {BENDS.format(0.01, 100)}"),
    (fork, moved(0.1, "{ edge: [3, 1] }"), f"{FIRST}, .fact b, {BESIDE}",  # (a + b) 1.1
     f"Move this one use of b by +0.1, and y moves by +0.3. | +0.3 | +0.3 | {STRAIGHT}"),
    ("x=0.6; asin(x)", moved(1), ".gradient + .how", "1.25 · (−1)"),  # 1/√(1 − 0.36) = 1.25
    ("x=0;relu(x)", moved(0.1), BESIDE, "A corner: up, it moves +0.1; down, 0. There are two slopes, and the gradient is one of them, 0."),
    ("x=0;sqrt(x)", moved(1), BESIDE, "The slope here is infinity: nothing can be foretold."),
    ("x=0.95;asin(x)", moved(0.1), BESIDE, f"There y has no value, so it moves the other way. {BENDS.format(0.083, 58)}"),
    ("x=-30;exp(x)", moved(1), BESIDE, BENDS.format("6.7·10⁻¹⁴", 140)),  # e⁻³⁰ (e - 2), e⁻³⁰ (e⁰·¹ - 1.1)
    ("x=1000;1000000*x+x*x", moved(0.1), BESIDE, BENDS.format(0.01, 100)),
    ("x=0.01;less(0.01,x)+x", moved(0.1), BESIDE, "Off by 1, however small the move: here y jumps."),
    ("x=0;x^2*(1-x)", moved(1), BESIDE, "Met by chance: on the way, the curve is not straight."),
    ("x=0.1;x^2*(x-0.1)", moved(-0.1), BESIDE, BENDS.format("0.001", 53)),  # 10⁻³, 1.9·10⁻⁵
    ("x=0;relu(x)-relu(-x)", TOUCHED, FIRST, "Corners meet here: y has a slope, and the gradient is not that."),
    # a question comes first and is answered by measuring; some have no answer
    (fork, "", ".choices button", "+0.1 | +0.3 | +0.4"),
    (fork, CHOSEN.format(1), f"{FIRST}, .fact b, {BESIDE}",
     "Move only b by +0.1, and y moves by +0.41. | +0.41 | +0.3 | "
     "Press Play: the gradient of b comes back, and would have told you."),
    (fork, f"{CHOSEN.format(1)}; actions.end(); {CHOSEN.format(2)}", BESIDE,
     "Right. Press Play: the gradient of b comes back, and tells you so."),
    ("x=1;0.001*x", "", ".choices button", "−0.1 | almost 0 | +0.1"),
    ("x=0;relu(x)", "", ".choices", ""),
    ("x=0;sqrt(x)", "", ".choices", ""),
    ("x=-1;log(x)", "", ".choices", ""),
    # all inputs are constants
    (partial(output, 2, 2, 1), "", ".inputs .label, .inputs p",
     "w₀₀ | w₀₁ | b₀ | 6 weights: touch a neuron to drag its own."),
    (partial(output, 2, 2, 1), "actions.choose([...state.graph.neurons.keys()][0])", ".inputs .label, .inputs p",
     "w′₀₀ | w′₀₁ | b′₀ | 6 weights: touch a neuron to drag its own."),
    # a loss, whose slope 2 (o - t) is 2 (0.2576 - 1)
    (loss, "", "h1, .unit.loss .target", "loss = (o − t)2 | t = 1"),
    (loss, "go(2); go(3, true)", FIRST, "loss = (o − t)2 = (0.258 − 1)2 = 0.551"),
    (loss, "go(5, true)", f"{FIRST}, pre",
     "Here (o − t)² sends back what arrived, times its slope: 2 · (o − t) = −1.485. "
     "| o.grad += loss.grad · (−1.485) = 1 · (−1.485) = −1.485"),
    (loss, END, FIRST, "Weights step 0.1 against their gradients: loss goes from 0.551 to 0.0324."),
    (loss, f"{END}; set({{ leaves: state.leaves.map((x) => 1e200 * x) }})", FIRST,
     "h₁ has no value: its numbers are too large."),
    (loss, f"{END}; set({{ leaves: state.leaves.map((x) => 5 * x) }})", "#sentence .second",
     "Too large a step: it lands higher."),
    # arrows, which have no words, point downhill: back where a gradient is positive
    (level, END, ".arrow.back, .slider .end", " | 0.5 |  | 1"),
    (level, f"{END}; move(0, -1); move(0, 0.1); move(2, 0.5)", ".arrow.back, .slider .end",
     " | 10.5 | −0.778"),
    # an announcement for each step, and none while something is dragged
    (fork, "move(0, 1.5)", "#sentence[aria-live=off] .first", "At a = 1.5, y is 2.5."),
    (fork, "actions.touch(0)", f"{FIRST}, .place-of h2", "At a = 2, y is 3. | What do you think?"),
    (fork, "move(0, 1.5); left()", FIRST, "At a = 1.5, y is 2.5."),
    # an operation that no formula can say
    (own, "", "h1, .unit.op .box + text", "y = less(a, b) | less"),
    (own, SHARE, ".menu button", FILES),
    ("(a+b)*b", SHARE, ".menu button", f"Copy Python | {FILES}"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("graph", "deed", "place", "words"), SAID, ids=lambda x: getattr(x, "__name__", str(x)[:40])
)
def test_what_it_says_is_true(browser, graph, deed, place, words):
    opened(browser, graph)
    browser.evaluate(deed)
    assert said(browser, place) == words
    assert "NaN" not in browser.evaluate("main.innerHTML")


def test_what_is_typed_into_a_field_stays_and_numbers_that_are_none_are_refused(browser):
    browser.show(show_steps(fork()), "#&step=9")
    b = "div.slider:nth-of-type(2) .field"
    for text in ("1e400", ""):
        browser.enter(b, text)
        assert len(browser.texts(".field:invalid")) == 1
        assert said(browser, ".slider .end") == "1 | 4"
        browser.evaluate("document.activeElement.onchange({ target: document.activeElement })")
        assert said(browser, FIRST) == "b stays 1: that is no number, or too large."
    browser.enter(b, "-1.5")
    assert "Move b a little" in said(browser, ".first")
    assert said(browser, ".slider .end") == "−1.5 | −1"  # ∂y/∂b = a + 2b
    for typed, end in (("1e200", 2e200), ("123456.789", 2e5), ("2", 5), ("0.1234", 5)):
        browser.enter(b, typed)
        browser.evaluate("document.activeElement.blur()")
        assert browser.evaluate(f"Number(document.querySelector({b!r}).value)") == float(typed)
        assert browser.evaluate("state.ranges[1][1]") == pytest.approx(end)
    browser.enter(b, "-0.008289")
    assert browser.each(b, "e.scrollWidth - e.clientWidth") == [0]
    for typed in ("1000", "0.5"):  # a knob is right at once, before the field is left
        browser.enter(b, typed)
        browser.evaluate("left()")
    assert browser.each("[type=range]", "Number(e.value)") == [5, 2, 0.5]


# -- A number that proves itself ------------------------------------------------------------------


def test_a_proof_begins_and_ends_by_mouse_and_by_keys(browser):
    browser.show(show_steps(fork()), "#&step=9")
    begun = "state.proof && [state.proof.node, state.proof.edge]"
    number = browser.place(".unit.input:nth-of-type(2) .proves")
    for proof in ([1, None], None, [1, None], None):
        browser.click(*number)
        assert browser.evaluate(begun) == proof
    ends = ["press Escape", "go(2)", "move(0, 1)", "document.querySelector('.close').click()"]
    for end in ends:
        browser.evaluate("go(99); actions.prove({ node: 0 })")
        browser.press("Escape") if "press" in end else browser.evaluate(end)
        assert browser.evaluate(begun) is None, end
    browser.evaluate("go(99); document.activeElement.blur()")
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "Enter"):
        browser.press(key)
    assert browser.evaluate(begun) == [0, None]
    browser.click(*browser.place(".slider:nth-of-type(2) button"))
    assert browser.evaluate(begun) == [1, None]


# -- The quiz -------------------------------------------------------------------------------------


QUIZ = [  # what is typed, and what it says then
    ("1", FIRST, "Which message goes from × back to b?"),
    ("1", "#told, .made", "Not yet: 1 is b itself. A product swaps: an input gets what arrived, "
                           "times the other. | 1 · 3 = ?"),
    ("3", FIRST, "Which message goes from + back to a?"),
    ("1", FIRST, "Which message goes from + back to b?"),
    ("1", FIRST, "b is used twice, and all its messages are here. What is its gradient?"),
    ("3", "#told, .made", "Not yet. At a fork the messages add. | 3 + 1 = ?"),
]  # fmt: skip


def test_it_asks_and_a_wrong_answer_is_not_told_the_result(browser):
    browser.show(show_steps(fork(), ask=True), width=390)
    assert said(browser, FIRST) == "Which message goes from × back to v₁?"
    for typed, place, words in QUIZ:
        browser.enter("#answer", typed)
        browser.evaluate("document.querySelector('form').requestSubmit()")
        assert browser.evaluate("document.activeElement.id") == "answer"  # the focus stays
        assert len(browser.texts(".asked")) == 1  # where the answer will stand
        assert said(browser, place) == words
    browser.enter("#answer", "4")
    browser.push("Check")
    eventually(lambda: browser.evaluate("state.step") == 5)
    assert said(browser, FIRST) == "Done: 3 of 5 right at the first try."
    browser.push("Quiz me")
    browser.push("No quiz")
    assert browser.texts("form") == []
    browser.show(show_steps(loss(), ask=True), width=390)
    browser.push("Show me")
    assert said(browser, FIRST) == "Which message goes from o back to h₁?"
    sent = browser.evaluate("answerOf(state, seen.view).right")
    browser.enter("#answer", f"{sent:.2g}")  # as far as numbers of two digits give it
    browser.push("Check")
    assert said(browser, FIRST) == "Which message goes from o back to h₂?"
    browser.enter("#answer", "7")
    browser.push("Show me")
    assert browser.evaluate("document.querySelector('#answer').value") == ""


# -- One window -----------------------------------------------------------------------------------


FORMULAS = [
    "w=2; x=1.5; b=0.5; 1 / (1 + exp(-(w*x + b)))",
    "x=-1.234; y=123.4; z=0.001; (x**2*y + exp(z)*x - y/z) * (x + y + z)",
    "x=1.5; sin(x)*x + exp(x)*x*x",
    "temperature=0.5; b=2; temperature / b",
    "temperature=0.5; tanh(temperature)**3",
    "temperature=0.5; b=2; maximum(temperature, b)",
    "temperature=0.5; b=2; temperature * b + temperature",
]
GRAPHS = {graph.__name__: graph for graph in (fork, running, loss, woven, lecture)}
GRAPHS |= {str(sizes): partial(output, *sizes) for sizes in ((2, 2, 1), (10, 5, 1))}
GRAPHS |= {"long": partial(chain, 59)} | dict(zip(FORMULAS, FORMULAS))
BOX = "e.getBoundingClientRect()"
PHONES = (320, 568), (360, 640), (375, 553), (390, 664), (640, 360), (390, 844)
SIZES = (320, 568), (390, 844), (768, 1024), (900, 800), (1200, 900), (1600, 1000)
# What is wrong with what is seen.
FAULTS = """() => {
  const all = (what) => [...document.querySelectorAll(what)], { fit: { place, height }, eye } = seen;
  const box = (e) => {
    const { x, y, right, bottom, height } = e.getBoundingClientRect();
    const air = e.matches("text") ? 0.22 * height : 0; // above and below the signs of a line
    return [x + 1.5, y + air + 1.5, right - 1.5, bottom - air - 1.5];
  };
  const meet = ([x, y, right, bottom], [x2, y2, right2, bottom2]) =>
    x < right2 && x2 < right && y < bottom2 && y2 < bottom;
  const over = all(".graph :is(.message, .asked, .pill)"); // each other, nodes, numbers and places
  const under = all(".graph :is(.unit .box, .unit text, rect.place)");
  const covered = over.flatMap((a, i) => [...over.slice(i + 1), ...under].filter((b) => !a.contains(b)
    && !b.closest(".row") && meet(box(a), box(b))).map((b) => `${a.textContent} on ${b.textContent}`));
  const size = (e) => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a;
  const small = all(".stage text").filter((e) => e.getClientRects().length && size(e) < 11);
  const misnamed = all(".graph [role=button]").filter((e) => !e.ariaLabel.includes(e.textContent));
  const fits = (more) => (place.length + more) * eye.scale <= state.width
    && (place.high - place.low + more) * eye.scale <= height;
  const cut = all(".label, .place-of").filter((e) => e.scrollWidth > e.clientWidth);
  cut.push(...all("#sentence").filter((e) => e.scrollHeight > e.clientHeight + 1));
  const { scrollWidth, scrollHeight } = document.documentElement, stage = box(main.querySelector(".stage"));
  const graph = stage[3] - stage[1] + 3 - (seen.fit.map > 0 && seen.fit.map + 10);
  const beside = all(".page, .steps, .panel, .place-of, .slider").flatMap(({ children }) => [...children]
    .flatMap((a, i, row) => row.slice(i + 1).filter((b) => meet(box(a), box(b)))
      .map((b) => `${b.className} lies over ${a.className}`)));
  const above = all(".steps > button").filter((e) => e.getBoundingClientRect().bottom
    > main.querySelector(".panel").getBoundingClientRect().y);
  const met = [...beside, ...above.map((e) => `${e.textContent} lies over the panel`)];
  const low = graph < 200 ? [`the graph is ${graph} high`] : [];
  return [
    ...covered, ...small.map((e) => `${e.textContent} is small`),
    ...misnamed.map((e) => `${e.textContent} is named ${e.ariaLabel}`),
    ...all("[role=img] [role=button]").map((e) => `${e.textContent} is hidden from those who hear`),
    ...cut.map((e) => `${e.textContent} is cut`),
    ...fits(48) ? all(".map").map(() => "a map, and nothing is out of sight") : [],
    ...fits(0) || all(".map").length || seen.fit.map === 0 ? [] : ["something is out of sight, and no map"],
    ...rows() === before ? [] : ["something jumps"], ...met, ...low,
    ...scrollWidth === document.documentElement.clientWidth ? [] : ["the page scrolls sideways"],
    ...scrollHeight === innerHeight || graph === 200 || (innerWidth < 760 && graph <= innerHeight - 240)
      ? [] : ["the page scrolls, and the stage has room"],
  ];
}"""
# The faults at every step, in every question, after a wrong answer, in every proof, in a menu.
EVERY = f"""(() => {{
  paint();
  const {{ graph }} = state, few = graph.last > 60 ? 4 : 1, found = [], faults = {FAULTS};
  const rows = () => JSON.stringify([...main.children].map((e) => [e.offsetTop, e.offsetWidth, e.offsetHeight]));
  const before = rows(), look = () => found.push(...faults());
  for (let step = 0; step <= graph.last; step += few) {{ go(step, true); look(); }}
  quiz();
  for (let step = graph.half; step < graph.last; step += few) {{ go(step); set({{ wrong: 12.34 }}); look(); }}
  quiz();
  go(99);
  const targets = graph.units.flatMap(({{ node, edges }}) => [...graph.needs[node] ? [{{ node }}] : [],
    ...edges.filter(({{ from }}) => graph.needs[from]).map(({{ edge }}) => ({{ edge }}))]);
  targets.forEach((target, k) => {{ if (k % few === 0) {{ actions.prove(target); look(); }} }});
  [() => go(99), () => actions.touch(0), () => set({{ share: true }})].forEach((deed) => {{ deed(); look(); }});
  return found;
}})()"""


@pytest.mark.parametrize("graph", GRAPHS)
def test_nothing_is_covered_small_or_misnamed_and_nothing_jumps_or_scrolls(browser, graph):
    opened(browser, GRAPHS[graph])
    for width, height in SIZES:
        browser.emulate(width=width, height=height)
        assert browser.evaluate(EVERY) == [], width


def test_a_large_graph_opens_with_its_inputs_and_a_step_shows_the_operation_with_its_own(browser):
    for width, height in SIZES:
        browser.show(show_steps(chain(59)), width=width, height=height)
        assert 0 <= browser.each(".unit.input .box", f"{BOX}.x")[0] < 60
        assert browser.texts(".map .frame") == [""]
    browser.emulate(width=1200, height=900)
    browser.evaluate("paint()")
    inside = """((a, b) => Math.min(a.x - b.x, a.y - b.y, b.right - a.right, b.bottom - a.bottom))(
      e.getBoundingClientRect(), document.querySelector(".graph").getBoundingClientRect())"""
    scale = "seen.eye.scale"
    for step in range(1, 118, 7):
        browser.evaluate(f"go({step}, true)")
        assert min(browser.each(".unit.now .box", inside), default=1) > 0, step
        assert browser.evaluate(scale) >= 0.74
    for key, bigger in (("+", True), ("-", False), ("0", False)):
        before = browser.evaluate(scale)
        browser.press(key)
        assert (browser.evaluate(scale) > before) == bigger
    x, y = browser.place(".graph")
    before = browser.evaluate("seen.eye.x")
    browser.drag(x, y + 50, x - 100)
    after = before + 100 / browser.evaluate(scale)
    assert browser.evaluate("seen.eye.x") == pytest.approx(after, rel=0.1)
    browser.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-200)
    eventually(lambda: browser.evaluate(scale) > 0.7)
    browser.push("Next")
    assert browser.evaluate("state.eye") is None  # the camera is back


def test_a_network_is_whole_at_900_with_a_name_for_each_number(browser):
    browser.show(show_steps(loss()), width=900)
    graph = "[seen.fit.zoomed, state.graph.sliders.length, state.graph.half]"
    assert browser.evaluate(graph) == [None, 2, 3]
    names = browser.evaluate("state.graph.inputs.map((i) => plainName(state.graph.labels[i]))")
    assert {"w₀₀", "w′₀₀"} <= {*names}
    assert len({*names}) == len(names)


def test_neurons_written_by_hand_are_folded_and_a_click_shows_their_weights_in_place(browser):
    root = lecture()
    assert len(topological_order(root)) == 64
    shown = show_steps(root)
    for page, address in ((live.page(), shown.link), (shown, "")):
        browser.show(page, address, width=1200)
        assert browser.evaluate("[state.graph.neurons.size, state.graph.units.length]") == [5, 9]
    for step, line in ((1, "h₁ = tanh(w @ x + b) = "), (2, "o = w @ x + b = ")):
        browser.evaluate(f"go({step}, true)")
        assert browser.texts("pre")[0].startswith(line)
    before, sliders = browser.each(".unit", f"{BOX}.x"), len(browser.texts(".slider"))
    browser.click(*browser.place(".card"))
    assert browser.each(".unit", f"{BOX}.x") == before
    assert browser.evaluate("state.step") == 2
    assert len(browser.texts(".slider")) == sliders + 4
    filled = "Math.max(seen.fit.place.length / state.width, seen.fit.tall / state.height)"
    assert browser.evaluate(f"{filled} * seen.fit.scale") > 0.9
    assert browser.texts(".map") == []


@pytest.mark.parametrize("sizes", [(3, 4, 1), (10, 5, 1), (4, 16, 16, 1), (2, 1), (2, 5, 1)])
def test_the_limit_counts_the_boxes_that_are_drawn(browser, monkeypatch, sizes):
    root = output(*sizes)
    browser.show(show_steps(root))
    drawn = browser.evaluate("state.graph.units.length")
    monkeypatch.setattr(live, "LARGEST", 0)
    with pytest.raises(ValueError, match=f"found {drawn} boxes"):
        show_steps(root)


ON_WIRES = """(() => {
  const all = (what) => [...document.querySelectorAll(`.graph ${what}`)];
  const numbers = all(":is(text.number, .number text)").map((e) => [e, e.getBoundingClientRect()]);
  const places = all(".wire:not(.thin)").flatMap((e) => {
    const long = e.getTotalLength(), at = e.getScreenCTM();
    return [...Array(100).keys()].map((k) => e.getPointAtLength(long * k / 99).matrixTransform(at));
  });
  return numbers.filter(([, r]) => places.some(({ x, y }) => x > r.left && x < r.right
    && y > r.top + 0.25 * r.height && y < r.bottom - 0.25 * r.height)).map(([e]) => e.textContent);
})()"""


def learned():
    model = network(2, 8, 8, 8, 1)
    return nn.mse_loss(model([0.5, -1.0]), [model([0.5, -1.0])[0].data + 0.003])


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_no_number_lies_on_a_wire(browser, size):
    for graph in (learned, "sigmoid(w1*x1+w2*x2+b)"):
        opened(browser, graph)
        browser.emulate(width=size[0], height=size[1])
        browser.evaluate("paint(), go(99), paint()")
        assert browser.evaluate(ON_WIRES) == []


# -- Phones, and large windows --------------------------------------------------------------------


@pytest.mark.parametrize("size", PHONES, ids=str)
def test_on_a_phone_the_graph_has_200_pixels_and_nothing_lies_over_anything(browser, size):
    width, height = size
    for graph in (fork, loss, "w=2; x=1; temperature=0.5; tanh(w*x + temperature)"):
        opened(browser, graph)
        browser.emulate(width=width, height=height)
        assert browser.evaluate(EVERY) == []
        assert browser.evaluate("document.querySelector('.graph').clientHeight") >= 200
    browser.evaluate("go(99)")
    assert (
        "--left: 0px" in browser.each(".stage > div", "e.getAttribute('style')")[0]
    )  # nothing fades
    touch = browser.each(".stage", "getComputedStyle(e).touchAction")
    assert touch != ["none"]  # a finger that moves up or down scrolls the page


@pytest.mark.parametrize("width", [320, 390])
def test_on_a_phone_every_message_is_shown_and_made_at_its_step(browser, width):
    for formula, count in (("(a+b)*b", 4), ("ln(x) + x*z - sin(z)", 8)):
        opened(browser, formula)
        browser.emulate(width=width, height=844)
        browser.evaluate("go(99)")
        assert len(browser.texts(".message")) == count
    browser.evaluate("retype('(a+b)*b'), go(4)")
    made = ["1 · 0.5 = 0.5", "1 · 2.5 = 2.5"]
    assert sorted(browser.texts(".message")) == made


def test_in_a_notebook_on_a_phone_the_steps_and_the_quiz_lie_over_nothing(browser):
    opened(browser, fork)
    browser.emulate(width=250, height=760)
    side = "e.getBoundingClientRect()"
    for _ in range(2):
        lowest = max(browser.each(".steps > button", f"{side}.bottom"))
        assert [lowest] <= browser.each(".panel", f"{side}.top")
        browser.evaluate("quiz()")
    browser.evaluate("quiz()")
    assert browser.each("#answer", f"{side}.right") <= browser.each(".ask .play", f"{side}.left")


@pytest.mark.parametrize("graph", [woven, partial(output, 4, 5, 1)], ids=["woven", "network"])
@pytest.mark.parametrize("size", [(360, 640), (390, 664), (390, 844)], ids=str)
def test_on_a_phone_a_large_graph_is_seen_from_top_to_bottom(browser, graph, size):
    browser.show(show_steps(graph()), width=size[0], height=size[1])
    browser.evaluate("go(99)")
    seen = "[seen.fit.place.high - seen.fit.place.low, seen.eye.scale, seen.fit.height]"
    tall, scale, room = browser.evaluate(seen)
    assert tall * scale <= room <= size[1] - 240
    assert browser.each(".steps .play", "e.getBoundingClientRect().bottom < innerHeight") == [True]


def test_a_graph_wider_than_a_phone_has_a_map_with_the_names_of_its_ends(browser):
    for graph, ends in (("1/(1 + e^(-x))", ["x", "y"]), (loss, ["x₁, x₂", "loss"])):
        opened(browser, graph)
        browser.emulate(width=390, height=844)
        browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
        assert browser.evaluate("paint(), seen.fit.zoomed")
        assert browser.texts(".map text") == ends
        x, y = browser.place(".map", 0.98)
        browser.touch(x, y)
        beyond = "seen.fit.place.length - seen.eye.x - innerWidth / 2 / seen.eye.scale"
        eventually(lambda beyond=beyond: browser.evaluate(beyond) < 9)
        assert browser.evaluate(beyond) > -25  # nothing is seen beyond the graph
        assert (
            abs(browser.evaluate("seen.eye.y - (seen.fit.place.low + seen.fit.place.high) / 2")) < 1
        )
    browser.emulate(width=640, height=360)  # with its neurons closed it is seen whole
    browser.show(
        show_steps(nn.mse_loss(network(2, 4, 2, 1)([0.5, -1.0]), [1.0])), width=640, height=360
    )
    assert browser.evaluate("paint(), seen.fit.zoomed ?? null") is None


@pytest.mark.parametrize("size", [(640, 360), (844, 390)], ids=str)
def test_on_a_phone_that_lies_sentence_graph_and_play_are_seen_together(browser, size):
    browser.show(live.page(), width=size[0], height=size[1])
    sides = browser.each(
        "#sentence, .graph, .play", f"[{BOX}.top >= 0, {BOX}.bottom <= innerHeight]"
    )
    assert sides == [[True, True]] * 3
    assert len({*browser.each(".inputs, .place-of", f"{BOX}.top")}) == 1  # side by side
    browser.evaluate("scrollTo(0, 999)")
    assert browser.each("#sentence", f"{BOX}.top < 0") == [True]
    browser.evaluate("document.querySelector('.play').click()")
    assert browser.each("#sentence", f"{BOX}.top >= 0") == [True]
    for deed in ("go(99), actions.prove({ node: 1 })",
                 "quiz(), set({ asked: 0 }), answer({ valueAsNumber: 77 }, seen.view)"):  # fmt: skip
        browser.evaluate(f"scrollTo(0, 0), {deed}")
        assert browser.each(".place-of", f"{BOX}.bottom <= innerHeight + 1") == [True]
    browser.evaluate("scrollTo(0, 0), quiz(), retype('a*b*c*d*f*g', true, true)")
    assert browser.each(".unit .box", f"{BOX}.top")[0] > browser.each(".stage", f"{BOX}.top")[0]


def test_boxes_begin_where_words_do_and_the_last_formula_is_whole(browser):
    browser.show(live.page())
    for width, height in ((390, 844), (768, 1024), (1200, 800)):
        browser.emulate(width=width, height=height)
        browser.evaluate("paint()")
        left, *boxes = browser.each("#sentence, .input .box", f"{BOX}.x")
        assert boxes == pytest.approx([left] * 2, abs=6)  # 11 and 24 to the left before
    browser.emulate(width=768, height=1024)
    assert browser.each(".examples button", f"{BOX}.right + 8 < innerWidth")[-1]
    air = "document.querySelector('.stage').clientHeight - seen.fit.tall * seen.fit.scale"
    assert browser.evaluate(f"paint(), {air}") < 330  # 410 before


def test_no_word_of_a_proof_is_cut_and_a_graph_that_goes_on_fades(browser):
    browser.show(live.page(), width=320, height=568)
    for text in ("loss = 0.333*x*z", "ln(x) + x*z - sin(z)"):
        browser.evaluate(
            f"retype({text!r}, true, true), go(99), actions.prove({{ node: state.graph.inputs[0] }})"
        )
        cut = "e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight + 2"
        assert not any(browser.each(".nudges > :first-child, .how", cut))
    browser.evaluate("go(0)")
    assert (
        browser.evaluate("Number(fadesOf(state, seen.fit, seen.eye).match(/right: (\\d+)/)[1])")
        > 40
    )


def whole():
    """The graph of micrograd's README: 33 boxes."""
    a, b = Value(-4.0, label="a"), Value(2.0, label="b")
    c, d = a + b, a * b + b**3
    c = c + c + 1
    c = c + 1 + c + (-a)
    d = d + d * 2 + ad.relu(b + a)
    d = d + 3 * d + ad.relu(b - a)
    f = (c - d) ** 2
    return f / 2.0 + 10.0 / f


def test_the_stage_has_what_the_panel_leaves_and_uses_it(browser):
    browser.show(show_steps(whole()), width=1200, height=850)
    assert browser.evaluate("[seen.fit.zoomed, state.graph.units.length]") == [None, 33]
    blank = browser.evaluate("""(() => { const rows = main.querySelectorAll(".slider");
      const { bottom } = rows[rows.length - 1].getBoundingClientRect();
      return main.getBoundingClientRect().bottom - bottom })()""")
    assert blank < 70
    browser.show(show_steps(fork()), width=2560, height=1300)
    ends = browser.each(".graph .unit", f"[{BOX}.x, {BOX}.right]")
    assert ends[-1][1] - ends[0][0] > 0.75 * 2560
    browser.emulate(width=768, height=1024)
    browser.evaluate("paint()")
    assert min(browser.each(".track", "e.clientWidth")) > 100  # 72 before


# -- Scrub and descend ----------------------------------------------------------------------------


def scrubbed(browser, place, by):
    x, y = browser.place(place)
    browser.drag(x, y, x + by)


SQUARES = "a=2; b=1; y=(a - 1)**2 + a*b + b**2"


def squares(a, b):
    return (a - 1) ** 2 + a * b + b**2


def test_a_number_is_dragged_on_its_wire_and_a_ghost_says_what_was_foretold(browser):
    opened(browser, SQUARES)
    scrubbed(browser, ".unit.input:nth-of-type(2) .scrub", 80)
    b = browser.evaluate("state.leaves[state.touched]")
    assert (browser.evaluate("state.step === state.graph.last"), b > 1.5) == (True, True)
    y = 4 + 4 * (b - 1)  # ∂y/∂b = a + 2b
    assert said(browser, ".foretold") == browser.evaluate(f"number({y})")
    assert said(browser, ".unit.output .value, .unit:last-of-type .value").startswith(
        browser.evaluate(f"number({squares(2, b)})")
    )
    assert f"{browser.evaluate(f'number({y})')} was foretold" in said(browser, ".place-of h2")
    browser.evaluate("move(state.graph.inputs[0], 1)")  # by its slider: nothing was foretold
    assert browser.texts(".foretold") == []
    scrubbed(browser, ".unit.input .scrub", 0)  # a click is a touch
    assert browser.evaluate("[state.touched, state.ghost]") == [0, None]


LOCALS = """(() => {
const { graph, leaves } = state, run = pass(graph, leaves);
return graph.nodes.flatMap(({ rule, inputs }, i) => (["mul", "div"].includes(rule?.op)
  ? inputs.flatMap((j, k) => (graph.needs[j] ? madeOf(graph, run, [i, k]).local : [])) : []));
})()"""


def test_in_its_formulas_no_product_sends_back_just_what_arrived(browser):
    browser.show(live.page())
    found = browser.evaluate(
        f"[{LOCALS}, ...EXAMPLES.map((x) => (retype(x, true, true), {LOCALS}))]"
    )
    assert found[0] == [3, 5]  # of (a + b) b
    assert all(abs(local) != 1 for locals in found for local in locals)


def test_where_there_is_no_value_nothing_is_sent_back_or_asked(browser):
    opened(browser, "a/0")
    assert browser.texts(FIRST) == ["a / 0 has no value at a = 2."]
    browser.press(" ")
    assert browser.evaluate("[state.step, state.playing]") == [1, False]
    disabled = "button:disabled"
    assert browser.texts(f".steps {disabled}") == ["▶ Play", "Next", "Quiz me"]
    browser.evaluate("retype('a/2')")
    assert browser.texts(f".steps {disabled}") == []


def test_scrubbing_gives_no_answer_of_a_quiz_away_and_moves_weights_too(browser):
    browser.show(show_steps(fork(), ask=True))
    step = browser.evaluate("state.step")
    scrubbed(browser, ".unit.input .scrub", 60)
    assert browser.evaluate("[state.step, state.ghost]") == [step, None]
    assert browser.evaluate("state.leaves[0]") > 2
    browser.show(show_steps(loss()), width=1200)
    browser.evaluate("go(99)")
    scrubbed(browser, ".card .row .scrub", 60)
    weight, x, before = browser.evaluate(
        "(({ touched: i, leaves, graph }) => [graph.place.has(i), leaves[i], graph.start[i]])(state)"
    )
    assert (weight, x > before) == (False, True)
    assert len(browser.texts(".foretold")) == 1


def test_a_step_down_is_that_of_python_and_a_held_key_goes_on(browser):
    opened(browser, SQUARES)
    browser.press("End")
    browser.push("Descend")
    eventually(lambda: browser.evaluate("state.trail.length") == 2)
    leaves = browser.evaluate("state.graph.inputs.map((i) => state.leaves[i])")
    slopes = ad.grad(lambda p: squares(*p))([2.0, 1.0])
    assert leaves == pytest.approx([2 - 0.1 * slopes[0], 1 - 0.1 * slopes[1]], rel=1e-12)
    assert browser.evaluate("state.trail") == pytest.approx([4.0, squares(*leaves)])
    assert said(browser, ".place-of h2").startswith("1 step down: y = ")
    browser.evaluate("document.querySelector('.descend').focus()")
    browser.call("Input.dispatchKeyEvent", type="rawKeyDown", key="Enter", code="Enter")
    eventually(lambda: browser.evaluate("state.trail.length") > 4)
    browser.call("Input.dispatchKeyEvent", type="keyUp", key="Enter", code="Enter")
    eventually(lambda: browser.evaluate("!state.pulse"))
    trail = browser.evaluate("state.trail")
    assert trail == sorted(trail, reverse=True)
    assert len(browser.texts(".spark path")) == 1
    browser.emulate(width=390, height=664)  # where y is out of sight, the pane says it too
    browser.evaluate("paint()")
    assert len(browser.texts(".place-of .plot path")) == 1
    browser.press("ArrowLeft")
    assert browser.evaluate("[state.trail.length, state.rate]") == [0, 0.1]


def test_a_network_descends_by_its_weights_as_far_as_its_sentence_says(browser):
    browser.show(show_steps(loss()), width=1200)
    browser.evaluate("go(99)")
    told = said(browser, FIRST)
    browser.evaluate("descend()")
    eventually(lambda: browser.evaluate("state.trail.length") == 2)
    assert told.endswith(f"to {browser.evaluate('number(state.trail[1])')}.")
    assert browser.evaluate("state.graph.sliders.map((i) => state.leaves[i])") == [0.5, -1.0]
    browser.show(show_steps(loss(Value(1.0))), width=1200)
    browser.evaluate("go(99); descend()")
    eventually(lambda: browser.evaluate("state.trail.length") == 2)
    assert browser.evaluate("state.leaves[state.graph.loss.target]") == 1.0


def test_a_line_of_a_step_names_the_number_that_it_multiplies_by(browser):
    browser.show(show_steps(loss()), width=1200)
    names = (
        "state.graph.labels.map((name, i) => [plainName(name), number(seen.view.run.values[i])])"
    )
    values, lines = dict(browser.evaluate(names)), ""
    half, last = browser.evaluate("[state.graph.half, state.graph.last]")
    for step in range(half + 1, last + 1):
        browser.evaluate(f"go({step}, true)")
        lines += "".join(browser.texts("pre"))
    named = re.findall(r"\.grad · ([^\W\d]\S*) = \S+ · (\S+) = ", lines)
    assert len(named) >= 2 * 3 + 6  # of each weight, and of each neuron behind one
    for name, value in named:
        assert values[name] == value.strip("()"), name


ENDS = [
    ("x=0; x*x", "The gradients are 0, or as good as: y can fall no more from here."),
    ("x=0; maximum(x, -2*x)", "However short a step along these gradients, y can fall no more."),
    ("x=0; sqrt(x)", "Where a number is missing or infinite, no step leads down."),
    ("x=-1; log(x)", "Where a number is missing or infinite, no step leads down."),
    ("x=-4.9; 5*x", "x left the range of its slider, which is longer now. Press again to go on."),
]


@pytest.mark.parametrize(("formula", "words"), ENDS)
def test_it_says_when_y_can_fall_no_more_and_when_a_slider_ends(browser, formula, words):
    opened(browser, formula)
    browser.evaluate("go(99); held = 'descend'; descend()")
    eventually(lambda: said(browser, BESIDE) == words)
    eventually(lambda: browser.evaluate("!state.pulse"))
    low, x, high = browser.evaluate("[state.ranges[0][0], state.leaves[0], state.ranges[0][1]]")
    assert low <= x <= high


def test_the_curve_of_y_stands_there_before_anything_is_dragged(browser):
    browser.show(show_steps(fork()))
    browser.press("End")
    assert said(browser, ".place-of h2") == "y while only b moves"  # the steepest
    assert len(browser.texts(".place-of .curve")) == 1
    opened(browser, "x=0; abs(x)")
    browser.evaluate("go(99)")
    assert len(browser.texts(".place-of .band")) == 1  # a corner, and no tangent


CURVES = ["m*v^2/2 - m*g*h", "exp(x)", "1/x", "tanh(w*x + b)", "-x/20", "50*x", "x^3 - 2*x", "|x|"]
CROSSED = """(() => {
  const all = [...document.querySelectorAll(".place-of .plot text")].filter((e) => e.textContent);
  const crossed = (a, b) => Math.min(a.right, b.right) - Math.max(a.x, b.x) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.y, b.y) > 4;
  return all.flatMap((e, i) => all.slice(0, i).filter((other) =>
    crossed(e.getBoundingClientRect(), other.getBoundingClientRect())).map((other) =>
    `${e.textContent} on ${other.textContent}`));
})()"""


@pytest.mark.parametrize("size", [(640, 360), (1200, 800)], ids=str)
def test_no_number_at_a_curve_is_printed_on_another(browser, size):
    for formula in CURVES:
        opened(browser, formula)
        browser.emulate(*size)
        for i in browser.evaluate("state.graph.inputs"):
            for share in (0.0, 0.1, 0.45, 0.5, 0.8, 0.95, 1.0):
                low, high = browser.evaluate(f"go(99), state.ranges[{i}]")
                browser.evaluate(f"move({i}, {low + share * (high - low)}), left()")
                assert browser.evaluate(CROSSED) == [], (formula, share)
                assert "slope" in browser.words() or "no value" in browser.words()


# -- Formulas, links and pictures -----------------------------------------------------------------


def test_a_formula_is_large_enough_and_its_last_letter_whole(browser):
    browser.show(live.page())
    for width in (320, 390, 1200):
        browser.emulate(width=width)
        for formula in ("u=x*f; v=u^2; y=u*v+v*f", "x^(a^(b^2)) + f"):
            browser.evaluate(f"retype({formula!r}, true, true), set({{ editing: false }})")
            sizes = browser.each("#formula *", "parseFloat(getComputedStyle(e).fontSize)")
            assert min(sizes) >= 11
            last = "document.querySelector('#formula > span').getBoundingClientRect()"
            room = (
                f"document.querySelector('#formula').getBoundingClientRect().right - {last}.right"
            )
            assert browser.evaluate(room) >= 3  # an f leans out of its box


def test_a_link_opens_the_same_formula_in_the_same_mode(browser):
    a, b = Value(-1.5, label="α"), Value(2.0, label="b")
    y = ad.maximum(a * b, (a + b) / 4.0) ** 3 - b
    browser.show(live.page(), show_steps(y, ask=True).link)
    typed = browser.evaluate("state.graph.formula.replaceAll(' ', '')")
    assert (typed, browser.evaluate("state.ask")) == ("maximum(α*b,(α+b)/4.0)**3.0-b", True)
    assert browser.evaluate("pass(state.graph, state.leaves).values.at(-1)") == y.data
    assert re.fullmatch(LINK + "&step=7&ask", browser.evaluate("addressOf(state)"))


def test_a_formula_becomes_a_graph_and_the_address_follows(browser):
    browser.show(live.page())
    numbers = browser.evaluate("state.leaves")
    browser.evaluate("document.querySelector('.examples [aria-pressed=true]').click()")
    assert browser.evaluate("state.leaves") == numbers
    browser.push("your own")
    for typed in ("lo", "log(", "log(-1)"):
        browser.enter("#typed", typed)
    assert browser.texts(".input") == ["a2", "b3"]  # and no variable lo
    browser.enter("#typed", "tanh(2w + |b|)")
    assert browser.evaluate("document.activeElement.id") == "typed"
    browser.enter(".field", "0.25")
    browser.evaluate("left(); go(99)")
    address = browser.evaluate("location.hash")
    assert re.fullmatch(LINK + "&step=9", address)  # and not &ask
    browser.show(live.page(), address)
    assert browser.texts("h1") == ["y = tanh(2 · w + |b|)"]
    assert browser.texts(".bar .here") == ["backward 5 of 5"]
    assert browser.evaluate("state.leaves[state.graph.inputs[0]]") == 0.25
    names = {}
    exec(browser.evaluate("python(state)").replace("show_steps(y)", ""), names)
    value = browser.evaluate("pass(state.graph, state.leaves).values.at(-1)")
    assert names["y"].data == pytest.approx(value)
    for k in range(6):
        browser.evaluate(f"document.querySelectorAll('.examples .math')[{k}].click()")
        assert browser.evaluate("state.problem") is None
        example = browser.evaluate("EXAMPLES")[k].split("; ")[-1]
        assert browser.texts(".examples [aria-pressed=true]") == [example]


@pytest.mark.parametrize(
    "typed", ["x*y; y=3", "y=2; sin x", "a=2", "v = a + c; a²", "max(a, b, c)", "0b11|x|⁻¹", "1_0x"]
)
def test_copied_python_is_python(browser, typed):
    opened(browser, typed)
    program, value = browser.evaluate(
        "[python(state), pass(state.graph, state.leaves).values.at(-1)]"
    )
    names = {}
    exec(re.sub(r"show_steps\((\w+)\)", r"shown = \1", program), names)
    assert names["shown"].data == value
    assert names["shown"].label in names


def test_copied_is_said_only_of_what_was_copied(browser):
    for stub, words in (("async () => {}", "Copied"), ("async () => { throw 1 }", "Copy Python")):
        opened(browser, "x*y")
        browser.evaluate(f"prompt = () => null; navigator.clipboard.writeText = {stub}; 0")
        browser.evaluate(f"{SHARE}; send('Python'); 0")
        eventually(lambda words=words: words in browser.texts(".menu button"))
        assert browser.evaluate("state.copied ?? null") == ("Python" if words == "Copied" else None)


def test_nobody_complains_in_the_middle_of_a_formula_and_what_was_typed_stays(browser):
    browser.show(live.page())
    browser.push("your own")
    browser.enter("#typed", "x*sin(x")
    assert "expected" not in said(browser, FIRST)
    eventually(lambda: said(browser, FIRST) == "The formula ends where ) is expected")
    assert said(browser, ".second") == "The picture shows (a + b) · b."
    browser.enter("#typed", "x*sin(x + 1")
    for _ in range(2):
        browser.press("Enter")
        assert said(browser, FIRST) == "The formula ends where ) is expected"
        assert browser.evaluate("document.activeElement.id") == "typed"
    assert browser.evaluate("document.querySelector('#typed').value") == "x*sin(x + 1"
    browser.enter("#typed", "x*sin(x)")
    browser.evaluate("document.activeElement.blur()")
    assert said(browser, "h1") == "y = x · sin(x)"
    browser.push("your own")
    browser.evaluate("set({ editing: false })")  # by something else: no paint within a paint
    assert said(browser, "h1") == "y = x · sin(x)"
    browser.show(live.page(), "#x*(y")  # a link that nobody wrote
    assert browser.evaluate("document.querySelector('#typed').value") == "x*(y"


@pytest.mark.parametrize(
    ("typed", "shown", "wrong", "words"),
    [("xy", "xy", "sin(", "The formula ends where"), ("a=b", "b", "y=", "The formula ends where"),
     ("x", "x", "a,b", "“,” stands where"), ("a;b", "b", "3*4", "A formula needs a name")],
)  # fmt: skip
def test_after_a_graph_without_operations_a_wrong_formula_is_told(
    browser, typed, shown, wrong, words
):
    browser.show(live.page())
    for text in (typed, wrong):
        browser.push("your own")
        browser.enter("#typed", text)
        browser.evaluate("document.activeElement.blur()")
    assert said(browser, FIRST).startswith(words)
    assert said(browser, ".second") == f"The picture shows {shown}."


def test_share_offers_a_link_where_a_page_is_published(browser, monkeypatch):
    monkeypatch.setattr(live, "home", lambda: "https://example.org/notebooks/graph.html")
    browser.show(show_steps(fork()))
    browser.push("Share")
    assert said(browser, ".menu button") == f"Copy link | Copy Python | {FILES}"
    assert browser.evaluate("published()") == "https://example.org/notebooks/graph.html"
    assert browser.each(".menu a", "[e.textContent, e.href]") == [
        ["Made with autodiff", "https://example.org/"]
    ]


@pytest.mark.parametrize("make", [live.page, lambda: show_steps(fork())], ids=["typed", "sent"])
def test_the_page_as_a_file_opens_as_it_stands(browser, make):
    stands = "[state.step, state.leaves, document.compatMode, main.innerText]"
    browser.show(make())
    browser.evaluate("go(3), move(state.graph.inputs[0], 1.25), left(), go(3), 1")
    found, text = browser.evaluate(stands), browser.evaluate("pageNow()")
    browser.show(text)
    assert browser.evaluate(stands) == found
    browser.show(text, scripts=False)
    assert browser.texts("h1") == ["y = (a + b) · b"]


@pytest.mark.parametrize("graph", [fork, loss, woven])
def test_its_picture_needs_no_style_sheet(browser, graph):
    browser.show(show_steps(graph()), "#&step=99")
    picture = ElementTree.fromstring(browser.evaluate("picture()"))
    drawn = [x for x in picture.iter() if x.tag.split("}")[1] not in ("svg", "g")]
    assert not [x for x in picture.iter() if {"class", "style"} & set(x.attrib)]
    assert all({"fill", "stroke"} <= set(x.attrib) for x in drawn)
    colours = "['--orange', '--orange-wire', '--blue', '--blue-wire', '--ink', '--paper']"
    probe = "((e, c) => (e.style.color = `var(${c})`, getComputedStyle(e).color))(main, c)"
    palette = browser.evaluate(f"{colours}.map((c) => {probe})")
    inks = {x.get(kind) for x in drawn for kind in ("fill", "stroke")}
    assert {*palette} <= inks  # as on the page: heads are orange, wires blue, boxes paper
    assert "".join(drawn[-1].itertext()) == browser.texts("h1")[0].replace(")2", ")²")
    shown = {"".join(x.itertext()) for x in drawn}
    ends = "state.graph.sliders.map(i => [3, 4].map(k => number(seen.view.run.adjoints[i], k)))"
    assert all(shown & {*texts} for texts in browser.evaluate(ends))
    assert len(browser.texts("main > *")) == 5  # nothing is left
    size = "pixels(picture()).then((x) => createImageBitmap(x)).then((x) => { wide = x.width })"
    browser.evaluate(f"wide = 0; {size}; 0")
    eventually(lambda: browser.evaluate("wide"))
    assert abs(browser.evaluate("wide") - 2 * float(picture.get("width"))) <= 2
