"""The page on which a network is built: its programs in Node.js, and what people do in it."""

import json
import math
import random
import re
import time
from functools import partial

import pictures
import pytest
from browser import eventually

import autodiff as ad
from autodiff import nn, optim, show_steps
from autodiff.__main__ import main
from autodiff.pages import live, network
from autodiff.pages.training import printed_move

PARTS = "numbers", "core", "parser", "charts", "trainer", "points", "unrolled"


@pytest.fixture(scope="module")
def made(node):
    """The value of an expression beside the points and the networks of the page."""
    program = live.script(live.all_rules(*network.LONG), parts=PARTS)
    return lambda said: node(f"(() => {{ {program}\n{said} }})()")


# -- Programs -------------------------------------------------------------------------------------

EXACT = """
const net = networkOf([8, 8], act), { graph, leaves } = net, p = weightsOf(net, 3);
const { sample, neurons } = programsOf(net), known = Function;
const slow = ((Function) => eval(`(${programsOf})`)(net))(() => { throw new EvalError("policy"); });
return rowsOf("spiral").flatMap((row) => {
  const at = [...graph.start], xs = [...row, ...p];
  leaves.forEach((i, k) => { at[i] = xs[k]; });
  const { values, adjoints } = pass(graph, at);
  const expected = [values[graph.output], leaves.slice(3).map((i) => adjoints[i])];
  const inside = net.neurons.map((i) => values[i]), some = neurons([row[0], row[1], ...p]);
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b) ? [] : [row];
  return [...same(sample(xs), expected), ...same(slow.sample(xs), expected),
    ...same(some.slice(0, 17), inside), ...same(slow.neurons([row[0], row[1], ...p]), some)];
});
"""


@pytest.mark.parametrize("act", ["tanh", "relu"])
def test_the_programs_are_the_pass_of_the_live_graph_to_the_last_bit(made, act):
    assert made(f"const act = {act!r}; {EXACT}") == []


def test_the_program_that_is_shown_reads_as_one(made):
    for act, line in (
        ("tanh", "v.h1_2 = Math.tanh(v[12]);"),
        ("relu", "v.h1_2 = Math.max(0.0, v[12]);"),
    ):
        shown = made(f"return String(programsOf(networkOf([2], {act!r})).sample)")
        assert "v[10] = v.x * v.w1_2_1 + v.y * v.w1_2_2;" in shown
        assert line in shown
        assert "g.w1_2_2 += m[3];" in shown
        assert "nodes" not in shown


OPTIMIZERS = {"SGD": partial(optim.SGD, lr=0.1), "Adam": partial(optim.Adam, lr=0.03)}


@pytest.mark.parametrize("by", OPTIMIZERS)
@pytest.mark.parametrize("sizes", [[4, 2], [3], []])
def test_fifty_steps_are_those_of_fit(made, by, sizes):
    widths = [2, *sizes, 1]
    layers = [nn.Linear(n, m, activation=ad.tanh) for n, m in zip(widths, widths[1:])]
    model = nn.Sequential(*layers)
    descent = OPTIMIZERS[by](model.parameters())
    rows, start, end = made(f"""
        const net = networkOf({sizes}, "tanh"), parameters = weightsOf(net, 1), rows = rowsOf("moons");
        const programs = {{ ...programsOf(net), move: {printed_move(descent)} }};
        const memory = parameters.map(() => {json.dumps([0.0] * len(descent.memory))});
        const t = trainer(programs, {{ rows, held: [], parameters, memory, batch: null }});
        for (let i = 0; i < 50; i++) t.step({descent.lr});
        return [rows, parameters, t.p];
    """)
    for p, x in zip(model.parameters(), start, strict=True):
        p.data = x
    *xs, ys = zip(*rows)
    loss = lambda out, target: (out[0] - target) ** 2  # noqa: E731
    nn.fit(model, [*zip(*xs)], ys, loss, descent, epochs=50, progress=False)
    assert [p.data for p in model.parameters()] == pytest.approx(end, rel=0, abs=1e-15)


# -- Points ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["circle", "moons", "xor", "spiral"])
def test_a_set_has_two_hundred_points_of_two_classes_in_the_plane(made, name):
    rows = made(f"return rowsOf({name!r})")
    assert len(rows) == 200
    assert sum(k for *_, k in rows) == 0
    assert all(
        abs(v) <= 6 and v * 50 == pytest.approx(round(v * 50)) for *xy, _ in rows for v in xy
    )


def test_a_formula_is_a_set_blue_above_its_curve(made):
    for text in ("sin(x)", "y = sin x"):
        rows = made(f"return rowsOf({text!r})")
        assert [k for *_, k in rows] == [1 if y > math.sin(x) else -1 for x, y, _ in rows]


def test_a_table_keeps_its_numbers_or_is_stretched(made):
    assert made(r"return rowsOf('1.5, −2, A\n3;4.02;B')") == [[1.5, -2, -1], [3, 4.02, 1]]
    far = made(r"return rowsOf('week\theight\tkind\n10\t1\tno\n30\t2\tyes\n20\t3\tyes')")
    assert far == [[-5.4, -5.4, -1], [5.4, 0, 1], [0, 5.4, 1]]


REFUSED = {
    "sin(x": "The formula ends",
    "": "Type a formula of x, such as sin(x)",
    "sin(z)": "Type a formula of x, such as sin(x)",
    "x + z": "“z” is unknown; the formula is one of x",
    "x + 99": "All points are of one class; two are needed",
    "1 2": "or lines of x, y and a class",
    "1 2 A": "All points are of one class",
    "1 2 A\\n3 4 A": "All points are of one class",
    "1 2 A\\n1 two B": "“1 two B” is not x, y and a class",
    "1 2 A\\n1 2 B\\n1 2 C": "3 points of 3 classes",
    "1 2 A\\n" * 501: "501 points",
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.items())
def test_what_is_no_data(made, text, reason):
    assert reason in made(f"try {{ rowsOf('{text}'.trim()) }} catch (e) {{ return e.message }}")


# -- The page -------------------------------------------------------------------------------------


def test_the_command_line_writes_it_by_its_name_and_refuses_others(tmp_path, capsys):
    assert main(["--page", str(tmp_path / "network.html")]) == 0
    assert (tmp_path / "network.html").read_text(encoding="utf-8") == network.page()
    for name in ("net.html", "graph.txt"):
        assert main(["--page", str(tmp_path / name)]) == 2
        words = (
            f"found the file name {name!r}, expected graph.html, to type expressions on, or network"
        )
        assert words in capsys.readouterr().err
        assert not (tmp_path / name).exists()


def test_it_is_one_small_file():
    assert len(network.page().encode()) <= 190_000


def at(browser, x, y):
    """Where a point of the plane is on the screen."""
    left, top = browser.evaluate(
        "paint(), (({ x, y }) => [x, y])(document.querySelector('.plane').getBoundingClientRect())"
    )
    across, down = browser.evaluate(f"view.s.box.at([{x}, {y}])")
    return left + across, top + down


@pytest.mark.parametrize(
    ("width", "height"),
    [(320, 844), (390, 844), (640, 360), (768, 844), (844, 390), (1200, 844), (2560, 844)],
)
def test_no_screen_scrolls_sideways(browser, width, height):
    browser.show(network.page(), width=width, height=height)
    for action in ("", "document.querySelector('.guess button').click();", "down(0);"):
        browser.evaluate(f"{action} paint()")
        wide = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        assert browser.evaluate(wide), action


@pytest.mark.parametrize(("width", "height"), [(320, 568), (360, 640), (390, 844), (768, 1024)])
def test_the_first_screen_has_the_question_run_the_loss_and_the_network(browser, width, height):
    browser.show(network.page(), width=width, height=height)
    for what in (".guess", ".run", ".total", ".net"):
        assert browser.each(what, "e.getBoundingClientRect().bottom <= innerHeight")[0], what
    sides = "[e.offsetWidth, e.offsetHeight].every((side) => side >= 44)"
    assert all(browser.each("button:not(.neuron)", sides))
    browser.emulate(width=width, height=400)
    browser.evaluate("scrollTo(0, 300)")
    assert browser.each(".controls", "e.getBoundingClientRect().top") == [0]


def seen(browser, *what):
    """Whether the whole of all of these is on the screen."""
    inside = "(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(e.getBoundingClientRect())"
    return all(all(browser.each(each, inside) or [False]) for each in what)


LOW = (640, 360), (844, 390), (932, 430)


@pytest.mark.parametrize(("width", "height"), [(320, 568), (390, 844), *LOW])
def test_after_the_guess_the_arrows_are_seen_tip_to_tail(browser, width, height):
    browser.show(network.page(), width=width, height=height)
    assert (width, height) not in LOW or seen(browser, ".neuron", ".plane", ".run")
    browser.push("smaller")
    assert seen(browser, ".pulls", ".run")
    assert "they pull it ← smaller" in browser.texts(".pulls")[0]
    browser.push("Run")
    browser.words()
    assert browser.each(".run", "e.offsetHeight") == [44]


@pytest.mark.parametrize("width", [390, 640])
def test_of_wires_that_cross_a_tap_holds_the_nearest(browser, width):
    browser.show(network.page(), width=width, height=360 if width == 640 else 844)
    for wire in range(18):
        browser.touch(*browser.on_line(f"path[data-wire='{wire}']", 0.42))
        assert browser.evaluate("view.s.wire") == wire


@pytest.mark.parametrize("width", [320, 390, 1600])
def test_a_tap_on_a_dot_holds_its_bias_and_one_beside_the_wires_changes_nothing(browser, width):
    browser.show(network.page(), width=width, height=900)
    tap = browser.click if width > 1000 else browser.touch
    wires = browser.each(".dot", "e.dataset.wire")
    assert len(wires) == 7
    for wire in wires:
        x, y = browser.place(f".dot[data-wire='{wire}']")
        tap(x, y)
        assert browser.evaluate("paint(), [view.s.wire, view.s.held]") == [int(wire), True]
    x, y = browser.place(".net", 0.02)
    tap(x, y - 60)
    assert browser.evaluate("paint(), view.s.held")
    net = "document.querySelector('.net svg')"
    assert browser.evaluate(f"document.activeElement === {net}")
    assert browser.each(".net svg", "getComputedStyle(e).outlineWidth") == ["0px"]
    browser.press("ArrowRight")
    assert browser.each(".net svg", "getComputedStyle(e).outlineWidth") == ["2px"]


@pytest.mark.parametrize(("width", "height"), [(320, 568), (360, 640), (640, 360), (1200, 800)])
def test_the_graph_of_a_tapped_point_is_seen_and_the_way_back_leads_there(browser, width, height):
    browser.show(network.page(), width=width, height=height)
    browser.push("smaller")
    browser.touch(*browser.place(".point[data-i='199']"))
    eventually(lambda: browser.texts(".out"))
    there = browser.evaluate("ui.scrolled")
    assert seen(browser, ".out", "#sentence", ".stage")
    assert browser.each(".still", "1") == []
    browser.push("the network")
    eventually(lambda: not browser.texts(".out"))
    assert browser.evaluate("scrollY") == there


def test_the_chart_of_the_loss_has_its_place_before_the_first_step_and_a_name(browser):
    browser.show(network.page(), width=1200, height=800)
    name, tall = "the loss of each step", "e.getBoundingClientRect().height"
    before = browser.each(".left > .plot", tall)
    assert name in browser.words()
    browser.push("Step")
    assert name not in browser.words()
    assert browser.each(".left > .plot", tall) == before


@pytest.mark.parametrize("width", [390, 1200])
def test_arrows_have_a_scale_and_are_seen_however_small_they_grow(browser, width):
    browser.show(network.page(), width=width)
    browser.push("smaller")
    for _ in range(4):
        long, one = browser.evaluate(
            "paint(), [view.s.perPull * view.s.plotWidth, Math.max(...view.s.pulls.map(Math.abs))]"
        )
        assert 0.079 < long * one / browser.evaluate("view.s.plotWidth") < 0.401
        scale = float(browser.texts(".ways")[0].split(" is ")[1])
        assert browser.each(".ways svg", "e.clientWidth") == [pytest.approx(scale * long, abs=1)]
        share = "e.getBoundingClientRect().width / e.closest('svg').clientWidth"
        assert browser.each(".pulls .hill", share)[0] > 0.3
        browser.evaluate("for (let k = 0; k < 150; k++) view.t.step(0.3); view.repaint()")


def test_the_scale_of_the_arrows_is_that_of_the_start_after_start_again(browser):
    browser.show(network.page(), width=1200, height=900)
    browser.push("smaller")
    scales = "paint(), [view.s.perPull, view.s.reach]"
    before = browser.evaluate(scales)
    browser.evaluate("for (let k = 0; k < 1500; k++) view.t.step(0.3), k % 50 || paint()")
    browser.push("Start again")
    assert browser.evaluate(scales) == before


def test_arrows_end_inside_the_map_unless_they_grow_too_short(browser):
    browser.show(network.page(), "#data=circle&wire=14", width=1200, height=900)
    for _ in range(9):
        ends = browser.evaluate(
            "paint(), view.s.pulls.map((pull, i) => view.s.box.at(view.t.rows[i])[0]"
            " / view.s.plotWidth + pull * view.s.perPull)"
        )
        longest = browser.evaluate("view.s.perPull * Math.max(...view.s.pulls.map(Math.abs))")
        assert longest < 0.101 or all(-1e-9 <= end <= 1 + 1e-9 for end in ends)
        browser.evaluate("for (let k = 0; k < 20; k++) view.t.step(0.1)")


def test_where_no_arrow_is_seen_nobody_pulls(browser):
    browser.show(network.page(), "#layers=", width=1200)
    assert "nobody pulls" not in browser.words()
    browser.evaluate("edited([[0, 0, 1], [0, 0, -1]])")
    assert "? nobody pulls" in browser.words()


def test_copies_start_as_long_as_their_arrows_and_where_they_are(browser):
    for width, height in ((1200, 900), (390, 844), (640, 360)):
        browser.show(network.page(), width=width, height=height, motion="no-preference")
        browser.push("smaller")
        browser.evaluate(
            "document.getAnimations().forEach((a) => { a.pause(), a.currentTime = 0; })"
        )
        k = browser.evaluate("paint(), view.s.pulls.indexOf(Math.max(...view.s.pulls))")
        found = browser.evaluate(f"""(() => {{
        const [plane, copy] = [".plane", ".slide"].map((what) => document.querySelectorAll(what));
        const [{{ x, y }}, it] = [plane[0], copy[{k}]].map((e) => e.getBoundingClientRect());
        const [left, top] = view.s.box.at(view.t.rows[{k}]);
        return [it.x - x - left, it.y + it.height / 2 - y - top,
          it.width - view.s.pulls[{k}] * view.s.perPull * view.s.plotWidth] }})()""")
        assert found == pytest.approx([0, 0, 0], abs=2)


def test_the_tangent_does_not_cross_its_label(browser):
    browser.show(network.page(), width=1200, height=800)
    browser.evaluate("build({}), down(80)")
    lines = browser.each(
        ".place-of .tangent",
        """(() => { const label = document.querySelector(".place-of text.gradient");
        const { x, y, width, height } = label.getBBox(), long = e.getTotalLength();
        return [...Array(999).keys()].some((k) => { const p = e.getPointAtLength(long * k / 998);
          return p.x > x && p.x < x + width && p.y > y + 4 && p.y < y + height - 4; }) })()""",
    )
    assert lines == [False]


def test_arrows_outlive_a_page_without_width_and_follow_the_screen(browser):
    browser.show(network.page(), width=1200, height=800)
    browser.evaluate("main.style.width = 0, paint(), main.style.width = '', paint()")
    assert browser.each(".plot .pull", "e.getAttribute('d').length > 999") == [True]
    small = browser.evaluate("view.s.plotWidth")
    browser.emulate(width=1200, height=900)
    eventually(lambda: browser.evaluate("view.s.plotWidth") == small + 100)


def test_a_picture_that_is_held_stays_while_all_else_scrolls_on_a_phone_that_lies(browser):
    for width, height in LOW:
        browser.show(network.page(), width=width, height=height)
        assert seen(browser, "h1", ".guess", ".run", ".net", ".plane")
        assert browser.each(".plane", "e.clientHeight")[0] > 0.8 * height
        browser.evaluate("document.querySelector('.choices').scrollIntoView({ block: 'end' })")
        assert seen(browser, ".plane", ".run")


def test_a_phone_that_lies_keeps_the_numbers_beside_the_map_and_words_in_one_line(browser):
    browser.show(network.page(), "#steps=3616", width=640, height=360)
    left = browser.each(".plane", "e.getBoundingClientRect().x")[0]
    browser.words()
    assert max(browser.each(".total > *", "e.getBoundingClientRect().right")) <= left
    edge = browser.each(".controls", "e.getBoundingClientRect().right")[0]
    assert browser.each(".output", "e.getBoundingClientRect().right")[0] <= edge
    browser.push("your own")
    browser.words()
    assert set(browser.each("button:not(.neuron, .thumb)", "e.offsetHeight")) == {44}


def test_nothing_moves_as_numbers_grow_or_after_a_visit_to_a_point(browser):
    browser.show(network.page(), width=1200, height=900)
    sizes = "(({ x, width }) => [x, width])(e.getBoundingClientRect())"
    before = browser.each(".plane, .rate input", sizes)
    browser.evaluate("down(3)")
    browser.evaluate("leave()")
    assert browser.each(".plane, .rate input", sizes) == before
    browser.evaluate("view.t.loss = 0.000123, view.t.steps = 12345, paint()")
    assert browser.each(".plane, .rate input", sizes) == before


def test_a_page_on_which_nothing_was_done_asks_again_after_a_reload(browser):
    browser.show(network.page(), width=1200)
    eventually(lambda: browser.evaluate("location.hash"))
    browser.evaluate("openAddress()")
    assert "Which way will this weight move?" in browser.words()
    browser.push("smaller")
    browser.evaluate("store('replaceState', null), openAddress()")
    assert "Who pulls this weight?" in browser.words()


def test_it_asks_first_and_runs_after_a_guess(browser):
    browser.show(network.page(), width=1200, height=900)
    assert "Which way will this weight move?" in browser.words()
    assert browser.evaluate("[view.s.running, view.s.held, view.t.steps]") == [False, True, 0]
    assert browser.each(".plot .pull", "e.getAttribute('d').length > 999") == [True]
    browser.push("larger →")
    larger = browser.evaluate("view.t.g[view.s.wire] < 0")
    words = browser.words()
    assert ("You saw it" if larger else "Not so") in words
    assert "larger, " in browser.texts(".pulls span")[0]
    many = browser.evaluate("view.s.pulls.filter((pull) => pull > 0).length > 100")
    moved = browser.evaluate(
        "(() => { const { t, s: { wire } } = view, p = t.p[wire];"
        "for (let i = 0; i < 200; i++) t.step(0.1); return t.p[wire] - p })()"
    )
    assert (many, moved > 0) == (larger, larger)  # the answer can be seen, and stays true
    browser.push("Run")
    eventually(lambda: browser.evaluate("view.t.steps") > 203)
    browser.push("Pause")
    assert "Touch a wire, and every point pulls it" in browser.words()


@pytest.mark.parametrize(("rate", "grown"), [(0.1, False), (30, True)])
def test_a_rate_that_is_too_large_is_called_so(browser, rate, grown):
    browser.show(network.page(), f"#rate={rate}", width=1200)
    browser.push("Step")
    browser.push("Step")
    assert ("The loss has grown: lower the rate, and start again." in browser.words()) == grown
    browser.push("Start again")
    assert "The loss has grown" not in browser.words()
    browser.evaluate("edited(view.t.rows.map(([x, y, k]) => [x, y, -k]))")  # whose loss is another
    browser.push("Step")
    assert ("The loss has grown" in browser.words()) == grown


def test_a_step_against_the_mean_is_said_to_be_of_momentum(browser):
    browser.show(network.page(), "#by=Adam&rate=0.1", width=1200)
    against = """paint(), (optimizers.Adam.move([view.t.p[view.s.wire], view.t.g[view.s.wire],
        view.s.rate, ...view.t.memory[view.s.wire]])[0] - view.t.p[view.s.wire]) * view.t.g[view.s.wire] > 0"""
    seen = set()
    for _ in range(60):
        browser.push("Step")
        way = browser.evaluate(against)
        seen.add(way)
        assert ("Momentum wins:" in browser.words()) == way
    assert seen == {False, True}


def test_points_are_added_dragged_erased_and_all_that_is_undone(browser):
    browser.show(network.page(), "#data=xor", width=1200, height=900)
    count = "view.t.rows.length"
    browser.click(*at(browser, 5.9, -5.9))
    assert browser.evaluate(f"[{count}, ...view.t.rows.at(-1)]") == [201, 5.9, -5.9, 1]
    x, y = at(browser, 5.9, -5.9)
    browser.drag(x, y, x - 40)
    moved = browser.evaluate("view.t.rows.at(-1)[0]")
    unit = browser.evaluate("12 / view.s.plotWidth")
    assert moved == pytest.approx(5.9 - 40 * unit, abs=0.03)
    x, y = at(browser, moved, -5.9)
    browser.drag(x, y, x + 200)
    assert browser.evaluate(count) == 200
    assert "1 point gone · ↶ Undo" in browser.words()
    browser.evaluate("view.change({ wire: 3, held: true })")
    browser.push("relu")
    assert browser.evaluate("[view.s.wire, view.s.held]") == [
        3,
        True,
    ]  # while its network is built anew
    browser.words()
    for expected in (200, 201, 201, 200):
        browser.push("Undo")
        assert browser.evaluate(count) == expected
    assert browser.evaluate("[spec.data, past.length]") == ["xor", 0]
    browser.words()
    assert "Undo" in browser.texts("button:disabled")[0]
    browser.evaluate("document.querySelector('.point').focus()")
    before = browser.evaluate("view.t.rows[0][0]")
    browser.press("ArrowRight")
    assert browser.evaluate("view.t.rows[0][0]") == pytest.approx(before + 6 * unit, abs=0.02)
    assert browser.evaluate("rowsOf(spec.data)[0].join() === view.t.rows[0].join()")
    browser.press("Delete")
    assert browser.evaluate(count) == 199


def test_undo_brings_back_the_network_that_was_and_its_training(browser):
    browser.show(network.page(), width=1200, height=900)
    browser.evaluate("edited(view.t.rows.slice(1)), [...Array(9)].forEach(() => view.t.step(0.1))")
    now = "paint(), [spec.data, spec.layers, spec.act, spec.by, spec.seed, view.t.p, view.t.losses,"
    now += " view.t.memory, view.t.rows, view.s.rate, view.t.strayed, net.leaves.length]"
    before = browser.evaluate(now)
    for change in ("Start again", "Other weights", "relu", "Adam", "+ layer", "Clear"):
        if change == "Clear":
            browser.push("your own")
            browser.words()
        browser.push(change)
        browser.evaluate("view.t.step(view.s.rate)")
        assert browser.evaluate(now) != before
        browser.push("Undo")
        assert browser.evaluate(now) == before
    browser.evaluate("view.t.step(0.1)")  # and it learns on
    assert browser.evaluate("[view.t.steps, view.t.losses.length, past.length]") == [10, 11, 1]
    browser.evaluate("for (let k = 0; k < 60; k++) anew({})")
    assert browser.evaluate("past.length") == 50


def test_a_finger_adds_a_point_holds_a_wire_and_opens_a_graph(browser):
    browser.show(network.page(), "#data=circle", width=390, height=844)
    browser.touch(*at(browser, -5.9, 5.9))
    assert browser.evaluate("paint(), view.t.rows.at(-1)") == [-5.9, 5.9, 1]
    for _ in range(2):  # a second tap does not let go
        browser.touch(*browser.on_line("[data-wire='2']", 0.5))
        assert browser.evaluate("paint(), [view.s.wire, view.s.held]") == [2, True]
    browser.press("Escape")
    assert browser.evaluate("view.s.wire") == 2
    browser.evaluate("scrollTo(0, 0)")
    browser.touch(*at(browser, -5.9, 5.9))
    assert browser.evaluate("shown") == 200
    browser.push("the network")
    eventually(lambda: browser.evaluate("shown") is None)


def swipe(browser, x, y, *ways, rest=0.0):
    """Put a finger down, let it rest, and move it along these ways, 16 ms each."""
    when = time.time()
    for k, (across, down) in enumerate([(0, 0), *ways]):
        x, y, kind = x + across, y + down, "Move" if k else "Start"
        browser.call(
            "Input.dispatchTouchEvent", type=f"touch{kind}", touchPoints=[{"x": x, "y": y}],
            timestamp=when + rest * bool(k) + 0.016 * k,
        )  # fmt: skip
    browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])


@pytest.mark.parametrize(
    ("way", "rest", "scrolls"),
    [((0, -25), 0, True), ((0, -25), 0.3, False), ((-25, 0), 0, False)],
)
def test_a_quick_swipe_scrolls_and_a_finger_that_rests_or_goes_aside_drags(
    browser, way, rest, scrolls
):
    browser.show(network.page(), "#data=-3 0 A%0A3 0 B&ask=1", width=390, height=700)
    browser.push("smaller")
    browser.evaluate("scrollTo(0, 0)")
    before = browser.evaluate("[scrollY, ...view.t.rows[1]]")
    swipe(browser, *at(browser, 3, 0), *[way] * 4, rest=rest)
    eventually(lambda: browser.evaluate("[scrollY, ...view.t.rows[1]]") != before)
    assert (browser.evaluate("scrollY") > 0) == scrolls
    assert (browser.evaluate("view.t.rows[1]") == before[1:]) == scrolls
    assert (". Now run." in browser.words()) == scrolls  # the verdict stays until a point moves
    swipe(browser, *at(browser, -3, 0), *[(0, -9)] * 40)
    assert browser.evaluate("[view.t.rows.length, ...view.t.rows[0]]") == [2, -3, 0, -1]


@pytest.mark.parametrize(
    ("page", "slider"),
    [(network.page, ".rate input"), (live.page, ".slider input"), (live.page, ".bar input")],
)
def test_a_swipe_that_begins_on_a_slider_scrolls_and_moves_nothing(browser, page, slider):
    browser.show(page(), width=390, height=500)
    value = f"document.querySelector({slider!r}).value"
    first = browser.evaluate(value)
    swipe(browser, *browser.place(slider, 0.9), *[(-9, 0)] * 4)
    eventually(lambda: browser.evaluate(value) != first)
    x, y = browser.place(slider, 0.2)
    before, scrolled = browser.evaluate(f"[{value}, scrollY]")
    swipe(browser, x, y, *[(0, 25)] * 4)
    eventually(lambda: browser.evaluate("scrollY") < scrolled)
    assert browser.evaluate(f"paint(), {value}") == before


def test_a_swipe_over_a_weight_of_a_point_leaves_it_all_its_digits(browser):
    browser.show(network.page(), "#steps=7&point=0", width=390, height=500)
    before, touched = browser.evaluate("live.numbers()"), browser.texts(".slider.touched .label")
    x, y = browser.place(".slider:not(.touched) input", 0.8)
    browser.evaluate("addEventListener('pointercancel', () => { globalThis.scrolls = true })")
    swipe(browser, x, y, *[(0, 25)] * 4)
    eventually(lambda: browser.evaluate("globalThis.scrolls"))
    assert browser.evaluate("live.numbers()") == before
    assert browser.texts(".slider.touched .label") == touched

    def moves():  # a tap tells it, but for one that stops a scroll
        browser.touch(*browser.place(".slider input", 0.8))
        return browser.evaluate("live.numbers()") != before

    eventually(moves)


def test_a_neuron_has_the_primes_of_its_weights(browser):
    browser.show(network.page(), "#layers=3-2")
    names = browser.evaluate("net.graph.units.filter((x) => x.neuron).map((x) => x.name)")
    assert names == ["h1", "h2", "h3", "h′1", "h′2", "o"]
    weights = "net.graph.units.find((x) => x.name === 'h′2').neuron.weights"
    assert browser.evaluate(f"net.graph.labels[{weights}[0]]") == "w′₂₁"


def test_of_points_that_lie_close_the_nearest_is_opened(browser):
    browser.show(network.page(), "#data=0 0 A%0A0.2 0 B%0A0.1 0.2 A", width=1200, height=900)
    for i, place in enumerate([(0, 0), (0.2, 0), (0.1, 0.2)]):
        browser.click(*at(browser, *place))
        assert browser.evaluate("shown") == i
        browser.evaluate("leave()")


def test_beyond_the_edge_it_says_that_letting_go_removes_the_point(browser):
    browser.show(network.page(), width=1200, height=900)
    x, y = browser.place(".point[data-i='199']")
    for kind, at_x in (("Pressed", x), ("Moved", x + 9), ("Moved", x + 700)):
        about = {"x": at_x, "y": y, "button": "left", "clickCount": 1}
        browser.call("Input.dispatchMouseEvent", type=f"mouse{kind}", **about)
    assert "Let go, and this point is gone." in browser.words()


def test_data_are_typed_or_pasted_in_a_field(browser):
    browser.show(network.page(), width=390, height=844)
    browser.push("your own")
    browser.words()
    browser.enter("textarea", "sin(x")
    assert "The formula ends" in browser.words()
    assert browser.each("textarea", "e.value") == ["sin(x"]
    browser.enter("textarea", "sin(x)")
    assert browser.evaluate("view.t.rows.every(([x, y, k]) => (y > Math.sin(x)) === k > 0)")
    browser.evaluate("document.querySelector('textarea').select()")
    browser.call("Input.insertText", text="1 2 A\n3 4 B")
    assert browser.evaluate("view.t.rows") == [[1, 2, -1], [3, 4, 1]]
    assert "A is sand, B blue." in browser.words()
    browser.enter("textarea", "10 2 yes\n30 4 no")
    assert "no is sand, yes blue; both columns stretched to the plane." in browser.words()
    assert browser.evaluate("view.t.rows") == [[-5.4, -5.4, 1], [5.4, 5.4, -1]]
    browser.push("Clear")
    assert browser.evaluate("view.t.rows") == [[-3, 0, -1], [3, 0, 1]]
    assert "Two points stay: each class needs one." in browser.words()
    browser.push("Erase")
    browser.evaluate("scrollTo(0, 0)")
    for x, y, n in ((-5.9, 5.9, 2), (5.9, 5.9, 2), (-3, 0, 2)):  # no class loses its last point
        browser.touch(*at(browser, x, y))
        assert browser.evaluate("[shown, view.t.rows.length]") == [None, n]
    assert "this one stays" in browser.words()
    browser.evaluate("document.querySelector('.thumb').click()")
    browser.words()
    assert browser.each("textarea", "1") == []
    assert browser.evaluate("ui.kind") == 1


NEARBY = "This link leads nearby"


def test_the_address_learns_the_same_again_and_says_where_it_does_not(browser):
    browser.show(network.page(), "#data=circle&layers=3-2&act=relu&by=Adam&seed=4", width=1200)
    browser.click(*at(browser, 5.9, -5.9))
    for _ in range(3):
        browser.push("Step")
    browser.evaluate("view.change({ wire: 5, held: true })")
    assert NEARBY not in browser.words()
    eventually(lambda: "wire=5" in browser.evaluate("location.hash"))
    address, before = browser.evaluate("[location.hash, [view.t.p, view.t.loss, spec]]")
    browser.show(network.page(), address, width=1200)
    assert browser.evaluate("[view.t.p, view.t.loss, spec]") == before
    assert browser.evaluate("[view.s.wire, view.s.held]") == [5, True]
    browser.evaluate("navigator.clipboard.writeText = async (text) => { window.sent = text }")

    tall = "paint(), document.body.offsetHeight"

    def near():
        before = browser.evaluate(tall)
        browser.push("Copy link")
        eventually(lambda: browser.evaluate("ui.copied"))
        assert "Copied" in browser.words()
        assert browser.evaluate(tall) == before  # nothing jumps
        assert browser.evaluate("sent === location.href.split('#')[0] + address()")
        said = NEARBY in browser.words()
        eventually(lambda: not browser.evaluate("ui.copied"))
        assert NEARBY not in browser.words()
        return said

    assert not near()
    browser.click(*at(browser, -5.9, -5.9))
    assert near()
    strayed = browser.evaluate("address()")
    browser.push("Start again")
    assert not near()
    browser.evaluate("down(0), live.numbers()[net.leaves[9]] = 0.5, leave()")
    assert browser.evaluate("[view.t.p[6], view.t.steps]") == [0.5, 0]
    assert near()
    browser.push("your own")
    assert near()
    browser.show(network.page(), strayed, width=1200)
    assert NEARBY in browser.words()
    browser.push("Step")
    browser.push("relu")
    assert NEARBY not in browser.words()


def test_a_point_opens_its_graph_at_the_wire_that_is_held_and_what_is_dragged_there_comes_back(
    browser,
):
    browser.show(network.page(), "#data=moons&steps=5&wire=12", width=1200, height=900)
    row, slope, before = browser.evaluate("[view.t.rows[199], -view.s.pulls[199], view.t.p]")
    browser.click(*at(browser, *row[:2]))
    eventually(lambda: browser.texts(".out"))
    said = browser.texts(".slider.touched .proves")
    assert said == [browser.evaluate(f"number({slope})")]
    assert f"{said[0]}: it proves itself." in browser.words()
    assert "point=199" in browser.evaluate("location.hash")
    loss = browser.evaluate("number(view.t.each[199])")
    assert re.search(rf"Point 200, \w+: output \S+, loss {loss}\.", browser.words())
    label = browser.evaluate("net.graph.labels[net.leaves[15]]")
    browser.enter(f".slider input[aria-label='{label}']", 0.5)
    browser.evaluate("view.change({}), requestAnimationFrame(() => { window.later = true })")
    eventually(lambda: browser.evaluate("window.later"))
    assert browser.texts(".out")  # the network behind paints nothing
    browser.evaluate("history.back()")
    eventually(lambda: not browser.texts(".out"))
    assert browser.evaluate("[view.t.p[12], view.t.strayed]") == [0.5, True]
    assert browser.evaluate("view.t.rows[199]") == row
    assert browser.evaluate("view.t.steps") == 5
    assert browser.evaluate("view.t.losses.at(-1)[0] === view.t.loss")  # the end of the curve
    browser.push("Step")
    browser.push("Undo")
    assert browser.evaluate("[view.t.p, view.t.steps, view.t.strayed]") == [before, 5, False]
    assert browser.evaluate("[view.t.losses.length, past.length]") == [6, 0]


def test_a_neuron_opens_the_point_of_the_largest_loss(browser):
    browser.show(network.page(), "#layers=3-2", width=1200, height=900)
    browser.evaluate("document.querySelectorAll('button.neuron')[1].click()")
    worst = browser.evaluate("view.t.each.indexOf(Math.max(...view.t.each))")
    assert browser.evaluate("shown") == worst
    assert ", the most wrong of all: output" in browser.words()
    assert "loss = (o − t)" in browser.words()
    assert browser.each(".slider input[type=range]", "e.ariaLabel")[0] == "w₂₁"  # its own


def test_the_loss_of_a_model_of_python_opens_on_the_page_of_formulas_by_its_link(browser):
    model = pictures.network(2, 8, 8, 1)
    x = ad.Vector([ad.Value(0.3, label="x1"), ad.Value(-0.7, label="x2")])
    loss = nn.mse_loss(model(x), [1.0])
    browser.show(live.page(), show_steps(loss).link)
    value, neurons = browser.evaluate("[seen.view.run.values.at(-1), state.graph.neurons.size]")
    assert (value, neurons) == (pytest.approx(loss.data, rel=1e-12), 17)


def test_layers_and_their_neurons_are_more_or_fewer(browser):
    browser.show(network.page(), "#layers=8-1", width=1200)
    for button, layers in (("+ layer", "8-1-4"), ("more neurons in layer 1", "8-1-4"),
                           ("fewer neurons in layer 2", "8-4"), ("more neurons in layer 2", "8-5")):  # fmt: skip
        browser.evaluate(
            "paint(); [...document.querySelectorAll('.layers button')]"
            f".find((x) => [x.ariaLabel, x.innerText].includes({button!r})).click()"
        )
        assert browser.evaluate("spec.layers") == layers
    browser.show(network.page(), "#layers=", width=1200)
    assert browser.evaluate("[spec.layers, view.t.p.length]") == ["", 3]


@pytest.mark.parametrize("width", [390, 768, 900, 1024, 1100, 1200, 1600])
def test_the_button_of_a_further_layer_stands_right_of_all_layers_and_covers_none(browser, width):
    for layers in ("", "4", "4-2", "8-8-8"):
        browser.show(network.page(), f"#layers={layers}", width=width, height=800)
        places = browser.each(
            ".size, .deeper", "(({ x, y, right }) => [y, x, right])(e.getBoundingClientRect())"
        )
        deeper = places.pop()
        for top, _, right in places:
            assert right <= deeper[1] + 0.5 or top < deeper[0] - 20 or deeper[2] == 0


def test_a_wire_is_held_whatever_is_built_anew(browser):
    browser.show(network.page(), "#layers=4-2&wire=14", width=1200)
    held = "paint(), [nameOf(view.s.wire), view.s.pulls.some(Boolean)]"
    assert browser.evaluate(held) == ["w2_1_3", True]
    for changes in (
        "layers: '4-2-4'",
        "layers: '4-3-4'",
        "data: 'moons'",
        "act: 'relu'",
        "by: 'Adam'",
    ):
        browser.evaluate(f"build({{ {changes} }})")
        assert browser.evaluate(held) == ["w2_1_3", True], changes
    browser.evaluate("build({ layers: '2' })")
    name, pulled = browser.evaluate(held)
    assert name != "w2_1_3"
    assert pulled
    most = (
        "Math.max(...net.layers.flatMap((x) => x.weights.flat()).map((w) => Math.abs(view.t.g[w])))"
    )
    assert browser.evaluate(f"Math.abs(view.t.g[view.s.wire]) === {most}")


def test_what_a_network_that_was_had_in_mind_paints_nothing(browser):
    browser.show(network.page(), "#layers=3")
    browser.evaluate("window.was = view, build({ layers: '2' }), paint(), was.change({})")
    browser.evaluate("requestAnimationFrame(() => { window.later = true })")
    eventually(lambda: browser.evaluate("window.later"))
    assert len(browser.each("button.neuron", "1")) == 2


def test_a_policy_without_new_programs_leaves_the_pass_itself(browser):
    policy = (
        "<meta http-equiv=Content-Security-Policy content=\"script-src 'unsafe-inline'\"><style>"
    )
    browser.show(network.page().replace("<style>", policy, 1), "#steps=3", width=1200)
    before = browser.evaluate("[view.t.loss, view.t.p]")
    browser.show(network.page(), "#steps=3", width=1200)
    assert browser.evaluate("[view.t.loss, view.t.p]") == before


@pytest.mark.parametrize("address", [
    "#data=%3Cimg src=x onerror=hacked%3D1%3E&layers=9999999&act=constructor&by=__proto__&rate=-1",
    "#layers=77777&seed=1e999&steps=NaN&wire=-3&point=99999&rate=Infinity", "#%%%&&==&data=sin(", "#__proto__=1",
])  # fmt: skip
def test_an_address_that_nobody_wrote_does_no_harm(browser, address):
    browser.show(network.page(), address)
    assert browser.evaluate("[spec.data, view.t.rows.length, typeof hacked]") == [
        "circle",
        200,
        "undefined",
    ]
    assert ("was not understood" in browser.words()) == ("proto__=1" not in address)
    assert browser.evaluate("[spec.layers, spec.act]") == ["4-2", "tanh"]
    browser.push("relu")
    assert "was not understood" not in browser.words()
    assert browser.evaluate("Number.isFinite(view.t.loss)")


# -- What is said ---------------------------------------------------------------------------------

TOOLS = """
window.prompt = () => null;
const all = (what) => [...document.querySelectorAll(what)];
const wordsOf = (what) => all(what).map((e) => e.innerText.replace(/\\s+/g, " ")).join("|");
const button = (words) => all("button:enabled")
  .find((e) => (e.ariaLabel || e.innerText).includes(words))?.click();
const hold = (wire) => view.change({ wire, pulls: null });
function guess(words, way) {
  if (wordsOf(".guess")) window.guessed = way;
  button(words);
}
"""
# What a reader does; k: a number from 0 to 99.
WAYS = [
    *(f"button({words!r})" for words in (
        "Run", "Pause", "Step", "Start again", "tanh", "relu", "Adam", "SGD", "Other weights",
        "Undo", "+ layer", "fewer neurons in layer 1", "more neurons in layer 2", "moons", "xor",
        "your own", "Copy link")),
    "guess('larger', 1)", "guess('smaller', -1)", "ui.asked = true",
    "for (let i = 0; i < 9; i++) button('Step')", "hold(k % view.t.p.length)",
    "view.change({ rate: spec.rate * (0.5 + k / 99) })", "build({ layers: '' })",
    "const i = k % view.t.rows.length; edited(view.t.rows.with(i, [5, 5, view.t.rows[i][2]]))",
    "for (let i = 0; i < 99; i++) erase(0)", "typed({ target: { value: 'x^2 - 2' } })",
    "typed({ target: { value: 'x +' } })", "store('replaceState', null); openAddress()",
    "down(0); live.numbers()[net.leaves[3]] += k % 2; leave()",
]  # fmt: skip
# Every sentence beside the numbers that it speaks of: what is false.
FALSE = """(() => {
paint();
const { s, t } = view, wrong = [], n = t.rows.length;
const holds = (what, is) => is || wrong.push(what);
const says = (said, expected) => holds(`${said}, but ${expected}`, said === expected);
const programs = programsOf(net), end = net.neurons.length - 1;
const pulls = t.rows.map((row) => -programs.sample([...row, ...t.p])[1][s.wire]);
const mean = pulls.reduce((a, b) => a + b, 0) / n;
const right = t.rows.filter((row) =>
  (programs.neurons([row[0], row[1], ...t.p])[end] > 0) === row[2] > 0).length;

// The question, and the verdict
const asked = wordsOf("h1").startsWith("Which way");
says(wordsOf(".guess button"), asked ? "← smaller|larger →" : "");
holds("asks late, or of nothing", !asked || t.steps === 0);
const [, verdict, way] = wordsOf(".pulls").match(/(You saw it|Not so): .* pull it (.*)\\. Now/) ?? [];
if (verdict) {
  says(way, mean > 0 ? "larger →" : mean < 0 ? "← smaller" : "neither way");
  says(verdict, guessed * mean > 0 ? "You saw it" : "Not so");
  holds("the verdict is old", t.steps === 0 && !s.running);
}

// What runs, and how far it is
says(wordsOf(".run"), s.running ? "❚❚ Pause" : "▶ Run");
says(wordsOf(".total"), `loss ${amount(t.loss)} ${right} of ${n} right step ${t.steps}`);
says(wordsOf(".said"), s.running ? "" : `step ${t.steps}, loss ${amount(t.loss)}`);

// The wire and its arrows
const caption = wordsOf(".view .caption span:first-child");
if (ui.gone === t.rows) says(caption, "1 point gone · ↶ Undo");
else holds(caption, s.held && caption.includes(`= ${places(t.p[s.wire])}?`));
const ways = (all(".plot .pull")[0]?.getAttribute("d") ?? "").split("M").slice(1)
  .map((d) => d.match(/-?[\\d.]+/g)).map((at) => Math.sign(at[6] - at[0]));
const long = pulls.filter((pull) => Math.abs(pull * s.perPull * s.plotWidth) > 3);
says(ways.join(), long.map(Math.sign).join());
if (!asked) {
  const count = (way) => pulls.filter((pull) => way * pull > 0).length;
  says(wordsOf(".pulls p:first-of-type span:first-child"), `${count(1)} larger, ${count(-1)} smaller`);
  says(wordsOf(".pulls p:first-of-type .gradient"), `mean ${mean < 0 ? "" : "+"}${amount(mean)}`);
  const next = optimizers[spec.by].move([t.p[s.wire], t.g[s.wire], s.rate, ...t.memory[s.wire]]);
  const by = next[0] - t.p[s.wire], steps = `${spec.by} steps ${by < 0 ? "" : "+"}${amount(by)}`;
  const how = by * mean < 0 ? "Momentum wins:" : `Each ÷ ${n}, tip to tail`;
  if (!verdict) says(wordsOf(".pulls p + p"), `${how} ${steps}`);
}

// The network, and what the legend says of it
const sizes = spec.layers ? spec.layers.split("-").map(Number) : [];
says(wordsOf(".size b"), sizes.join("|"));
says(wordsOf(".deeper"), sizes.length === 3 ? "3 at most" : "+ layer");
says(all("button.neuron").length, sizes.reduce((a, b) => a + b, 0));
says(all(".hit").length, t.p.length);
const key = wordsOf(".key");
holds("positive", key.includes("positive") === t.p.some((w) => w > 0));
holds("negative", key.includes("negative") === t.p.some((w) => w < 0));
holds("wrong side", key.includes("wrong side") === right < n);
says(all(".wrong").length, n - right);
for (const sick of ["dead", "stuck", "saturated"]) {
  const found = all(`.neuron.${sick}`).length;
  says(key.match(`(\\\\d+) ${sick}:`)?.[1] ?? "0", String(found));
}

// The address
const { move, memory } = optimizers[spec.by];
const again = trainer({ ...programs, move }, { rows: rowsOf(spec.data), held: [], batch: null,
  parameters: weightsOf(net, spec.seed), memory: t.p.map(() => memory) });
const at = new URLSearchParams(address().slice(1));
for (let k = 0; k < t.steps; k++) again.step(Number(at.get("rate")));
const leadsHere = JSON.stringify([again.p, again.rows]) === JSON.stringify([t.p, t.rows]);
holds("the address leads nearby", leadsHere || at.has("near"));
return wrong;
})()"""


@pytest.mark.parametrize("seed", range(4))
def test_no_sentence_is_false_in_any_state(browser, seed):
    dice = random.Random(seed)
    browser.show(network.page(), width=1200)
    browser.evaluate(TOOLS)
    assert browser.evaluate(FALSE) == []
    ways = []
    for _ in range(60):
        ways.append(dice.choice(WAYS))
        browser.evaluate(f"(() => {{ const k = {dice.randrange(100)}; {ways[-1]} }})()")
        assert browser.evaluate(FALSE) == [], ways
