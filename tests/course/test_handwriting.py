"""The page that reads digits, the program in it, and the file that a reader takes home."""

import ast
import dis
import itertools
import json
import linecache
import math
import random
import re
import subprocess
import sys

import pytest
from answers.handwriting import by_closures
from browser import eventually
from engines import closures

from autodiff.course import handwriting as lesson
from autodiff.course import our_reader
from autodiff.course.your_engine import imported
from notebooks import NOTEBOOKS, code_cells

PATH = NOTEBOOKS / "11_handwriting.ipynb"
PAGE = lesson.our_page()._page
WEIGHTS = lesson.OURS["weights"]
PIXELS, GS = lesson.hands([100])[0][0], [0.3 * k - 1 for k in range(10)]


def with_weights(net, weights=WEIGHTS):
    for p, number in zip(net.parameters(), weights):
        p.data = number
    return net


NET = with_weights(our_reader.network([64, 16, 10]))


def walked(net, pixels, gs):
    """What backward finds: the scores, and the derivatives of their sum by pixels and numbers."""
    xs, numbers = [our_reader.Value(x) for x in pixels], net.parameters()
    for p in numbers:
        p.grad = 0.0
    scores = net(xs)
    our_reader.dot([our_reader.Value(g) for g in gs], scores).backward()
    return [[z.data for z in scores], [x.grad for x in xs], [p.grad for p in numbers]]


def assert_same(found, expected):
    """Up to a last digit, here and there: the tanh of a browser is not that of C."""
    assert [len(row) for row in found] == [len(row) for row in expected]
    for row, right in zip(found, expected):
        assert row == pytest.approx(right, rel=1e-11, abs=1e-13)


def test_the_program_gives_what_backward_finds_all_1284_numbers(node, browser):
    call = f"program({PIXELS}, {WEIGHTS}, {GS})"
    expected = walked(NET, PIXELS, GS)
    assert sum(map(len, expected)) == 1284
    assert_same(node(f"(() => {{ {our_reader.javascript(NET, 64)}; return {call} }})()"), expected)
    browser.show(PAGE)
    assert_same(browser.evaluate(call), expected)
    assert browser.evaluate("w") == WEIGHTS


@pytest.mark.parametrize("sizes", [[2, 2, 1], [3, 1], [2, 3, 3, 2]])
@pytest.mark.parametrize(
    ("value", "its_node"),
    [(our_reader.Value, our_reader.node), (closures.Value, by_closures)],
    ids=["ours", "closures"],
)
def test_a_program_of_any_network_on_any_engine(sizes, value, its_node, node, monkeypatch):
    monkeypatch.setattr(our_reader, "Value", value)
    monkeypatch.setattr(our_reader, "node", its_node)
    rng, net = random.Random(0), our_reader.network(sizes)
    pixels, gs = [[rng.gauss(0, 1) for _ in range(n)] for n in (sizes[0], sizes[-1])]
    numbers = [p.data for p in net.parameters()]
    program = our_reader.javascript(net, sizes[0])
    assert [p.data for p in net.parameters()] == numbers
    call = f"program({pixels}, {numbers}, {gs})"
    found = node(f"(() => {{ {program}; return {call} }})()")
    assert_same(found, walked(net, pixels, gs))


def test_the_page_counts_ink_as_python_does(browser):
    browser.show(PAGE)
    for seed in range(100, 104):
        for strokes, _ in lesson.hand(seed, copies=1):
            assert browser.evaluate(f"seenAs({json.dumps(strokes)})") == lesson.seen_as(strokes)
    dot = [[[50, 50]]]
    assert browser.evaluate(f"seenAs({dot})") == lesson.seen_as(dot)
    assert sum(lesson.seen_as(dot)) > 1


def draw(browser, strokes):
    """By a finger, on the pad."""
    browser.evaluate("pad.scrollIntoView({ block: 'center' })")
    left, top, width = browser.evaluate(
        "(() => { const r = pad.getBoundingClientRect(); return [r.x, r.y, r.width] })()"
    )
    for stroke in strokes:
        for i, (x, y) in enumerate(stroke):
            kind = "touchMove" if i else "touchStart"
            at = {"x": left + x * width / 100, "y": top + y * width / 100}
            browser.call("Input.dispatchTouchEvent", type=kind, touchPoints=[at])
        browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])


def seen(browser):
    """Whether it is painted and nothing is still being learnt; what it reads."""
    eventually(lambda: not browser.evaluate("s.busy"))
    return browser.texts("#big")[0]


def tap(browser, selector):
    """By a finger, where it stands: nothing is scrolled."""
    place = f"(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector({selector!r}).getBoundingClientRect())"
    browser.touch(*browser.evaluate(place))


def teach(browser, digit):
    """As a finger does, at once after a stroke."""
    tap(browser, "#ask button:last-child")
    eventually(lambda: browser.evaluate("s.teaching"))
    tap(browser, f"#labels button:nth-child({digit + 1})")
    eventually(lambda: browser.evaluate("s.told"))


@pytest.mark.parametrize(("width", "height"), [(320, 568), (390, 844), (640, 360), (1200, 800)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_finger_draws_asks_and_teaches(browser, width, height, scheme):
    browser.show(PAGE, width=width, height=height, scheme=scheme)
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    sizes = browser.each("main *", "e.textContent ? parseFloat(getComputedStyle(e).fontSize) : 99")
    assert min(sizes) >= 12
    assert browser.evaluate("pad.clientHeight + 20 <= innerHeight")  # the page scrolls beside it
    taught = []
    for strokes, digit in list(lesson.hand(105, copies=1))[:3]:
        draw(browser, strokes)
        pixels = browser.evaluate("pixels")
        scores = browser.evaluate("scoresOf(pixels)")
        said = scores.index(max(scores))
        assert seen(browser) == str(said)
        if not taught:
            assert said == our_reader.read(NET, pixels)
        assert browser.texts("#ask button")[0] == f"Why {said}?"
        rival = (said + 1) % 10
        browser.evaluate(f"document.querySelectorAll('.row')[{rival}].click()")
        assert browser.texts("#ask button")[1] == f"Why not {rival}?"
        slopes = browser.evaluate(
            f"program(pixels, w, TEN.map((k) => (k === {said}) - (k === {rival})))[1]"
        )
        told = browser.texts("#key")[0]
        assert f"raises {said}'s score minus {rival}'s" in told
        assert f"(to +{max(slopes):.1f})" in told
        assert f"(to −{-min(slopes):.1f})" in told
        before = browser.evaluate(f"percent(softmax(scoresOf(pixels))[{digit}])")
        teach(browser, digit)
        taught.append((pixels, digit))
        share = browser.evaluate(f"percentage(softmax(scoresOf(pixels))[{digit}])")
        assert browser.texts("#sure") == [
            f"{before} → {share}. Draw the next.".replace("\xa0", " ")
        ]
        assert browser.each("#bars, #labels", "e.checkVisibility()") == [True, False]
        assert browser.texts("#ask button:not(:disabled)")[2] == "Teach again"
        assert browser.evaluate("document.activeElement.id") == "undo"  # for a keyboard
    assert browser.evaluate("s.hand.every(({ x, digit }) => reading(x) === digit)")
    places = browser.each("#copy, #forget", "e.getBoundingClientRect().x")
    browser.push("Copy for the notebook")
    assert browser.each("#copy, #forget", "e.getBoundingClientRect().x") == places
    copied = json.loads(browser.evaluate("document.querySelector('#json').value"))
    assert lesson.drawings(copied) == taught
    untaught = sum(our_reader.read(NET, pixels) == digit for pixels, digit in taught)
    assert f"Untaught, it reads {untaught} of your 3; now: 3." in browser.texts("#key")[0]
    assert browser.each("figure", "e.className + e.innerText.at(-1)") == ["✓"] * 3
    browser.push("Clear")
    assert browser.evaluate("[pixels, s.hand.length]") == [None, 3]
    known = browser.evaluate("w")
    browser.push("Forget my hand")
    assert browser.evaluate("[w, document.activeElement.id]") == [WEIGHTS, "undo"]
    for drawn in (False, True):  # first what was forgotten comes back, then what was cleared
        browser.push("Undo")
        assert browser.evaluate("[w, s.hand.length, s.strokes.length > 0]") == [known, 3, drawn]
        assert browser.texts("#copy") == ["Copy for the notebook"]
    assert browser.requests == [url for url in browser.requests if url.startswith("file:")]
    assert len(browser.requests) == 1


@pytest.mark.parametrize(
    ("width", "height"),
    [(320, 568), (360, 640), (390, 664), (390, 844), (568, 320), (640, 360), (768, 1024), (1200, 800)],
)  # fmt: skip
def test_who_draws_sees_the_answer_and_a_finger_beside_the_pad_scrolls(browser, width, height):
    browser.show(PAGE, width=width, height=height)
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
    ends = "(r => [r.left >= 0, r.top >= 0, r.right <= innerWidth, r.bottom <= innerHeight])"
    seen = browser.each("#pad, #big, #sure, .row, #ask", f"{ends}(e.getBoundingClientRect())")
    assert [all(sides) for sides in seen] == [True] * 14
    side = "(r => Math.min(r.width, r.height))(e.getBoundingClientRect())"
    assert min(browser.each(".row", side)) > 22
    assert all(browser.each(".row", "e.ariaLabel.includes(e.innerText.trim())"))
    rows = "[...document.querySelectorAll('.says, #ask, .sees')].map((e) => e.offsetHeight)"
    before = browser.evaluate(rows)
    browser.evaluate("example(11), s.example = false, ask(0, null, true)")
    labels = browser.each("#labels button", f"[{side}, {ends}(e.getBoundingClientRect())]")
    assert min(short for short, _ in labels) >= (44 if width == 390 else 32)
    assert all(all(sides) for _, sides in labels)
    told = "ask(0, null), s.told = '100 → 100 %. Draw the next.', paint()"
    for deed in ("ask(1, null)", "ask(2, 0)", "s.taps = [9], paint()", told):
        assert browser.evaluate(rows) == before  # nothing jumps
        browser.evaluate(deed)
    for kind, y in (("Start", 0), *(("Move", 20 * i) for i in range(1, 7)), ("End", None)):
        points = [] if y is None else [{"x": 8, "y": height // 2 - y}]
        browser.call("Input.dispatchTouchEvent", type=f"touch{kind}", touchPoints=points)
    fits = "document.documentElement.scrollHeight <= innerHeight"
    eventually(lambda: browser.evaluate(f"scrollY > 0 || {fits}"))


def test_the_colours_of_why_wait_until_they_are_asked_for(browser):
    browser.show(PAGE)
    pressed = "e.ariaPressed === 'true'"
    assert browser.each("#ask button", pressed) == [False, False, False]
    eventually(lambda: browser.evaluate("s.strokes.flat().length") == 11)
    browser.push("Teach it")  # the 4 is no hand of yours
    assert browser.evaluate("[s.teaching, s.strokes.length]") == [False, 0]
    assert browser.texts("#sure") == ["Draw one of your own."]
    browser.push("Undo")
    browser.push("Why 4?")
    browser.click(*browser.place("#pad"))
    # the 4 stays, with a little more ink
    assert browser.evaluate("[s.strokes.length, s.taps.length]") == [2, 1]
    assert browser.texts("#big") == ["4"]
    x, y = browser.place("#pad")
    browser.drag(x - 60, y, x + 60)
    assert browser.each("#ask button", pressed) == [False, False, False]
    assert browser.texts("#ask button:disabled") == []
    winner = browser.evaluate("reading(pixels)")
    browser.evaluate(f"document.querySelectorAll('.row')[{winner}].click()")
    assert browser.each("#ask button", pressed) == [True, False, False]
    browser.drag(x - 60, y + 9, x + 60)  # a little more ink, where the colours say
    assert browser.each("#ask button", pressed) == [True, False, False]
    gain = "scoresOf(pixels)[{0}] - scoresOf(seenAs(s.strokes))[{0}]"
    k = browser.evaluate(
        "program(pixels, w, TEN.map((k) => k === reading(pixels)))[1]"
        ".map((slope, k) => [pixels[k] < 0.5 ? slope : 0, k]).sort((a, b) => b[0] - a[0])[0][1]"
    )
    x0, y0, side = browser.evaluate("frame")
    left, top, wide = browser.evaluate("(r => [r.x, r.y, r.width])(pad.getBoundingClientRect())")
    cell = [x0 + side * (k % 8 + 0.5), y0 + side * (k // 8 + 0.5)]
    strokes, winner = browser.evaluate("[s.strokes.length, reading(pixels)]")
    before = browser.evaluate(f"scoresOf(pixels)[{winner}]")
    slope = browser.evaluate(f"program(pixels, w, TEN.map((k) => +(k === {winner})))[1][{k}]")
    browser.click(left + cell[0] * wide / 100, top + cell[1] * wide / 100)
    measured = browser.evaluate(f"scoresOf(pixels)[{winner}]") - before
    told = f"Foretold {slope / 8:+.2f}, came {measured:+.2f}."
    assert told in browser.texts("#key")[0]
    assert browser.evaluate("[s.strokes.length, s.taps]") == [strokes, [k]]
    assert browser.evaluate(gain.format(winner)) > 0  # what the derivative foretold
    browser.push("Undo")
    assert browser.evaluate("[s.strokes.length, s.taps]") == [strokes, []]
    for _ in range(10):
        browser.click(left + cell[0] * wide / 100, top + cell[1] * wide / 100)
    assert browser.evaluate(f"[s.taps.length <= 8, pixels[{k}]]") == [True, 1]  # full
    browser.evaluate("s.taps = []")
    browser.push("Why")
    assert browser.each("#ask button", pressed) == [False, False, False]


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.0004, 0), (0.004, 0.4), (0.05, 5), (0.23, 23), (0.958, 95.8), (0.996, 99.6), (0.9998, 100)],
)
def test_a_share_has_a_tenth_where_it_counts(browser, share, said):
    """A sure 7 says 99.6 %, where another bar says 0.4."""
    browser.show(PAGE)
    assert browser.evaluate(f"percent({share})") == said


def test_a_dot_is_too_little_ink_to_be_read_or_taught(browser):
    browser.show(PAGE)
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
    for strokes in ([[[50, 50]]], [[[50, 50], [54, 52]], [[47, 50]]]):
        draw(browser, strokes)
        assert browser.texts("#big, #sure") == ["?", "Too little ink yet."]
        assert not any(browser.each("#ask button", "!e.disabled"))
    draw(browser, [[[50, 30], [50, 70]]])
    assert browser.texts("#big") != ["?"]
    browser.push("Teach it")
    browser.push("Undo")
    assert browser.evaluate("[s.teaching, s.strokes.length]") == [False, 3]


def test_a_lesson_goes_on_until_it_leads_clearly_or_says_that_it_did_not(browser):
    browser.show(PAGE)
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
    crossed = [[[25, 20], [75, 20], [60, 45], [45, 90]], [[35, 52], [70, 50]]]
    for learns in (True, False):
        draw(browser, crossed)
        assert seen(browser) == "7"
        if not learns:
            browser.evaluate(
                "program = ((f) => (...xs) => f(...xs).with(2, w.map(() => 0)))(program)"
            )
        teach(browser, 1)
        told = browser.texts("#sure")[0]
        assert (seen(browser), "Still read as" in told) == (("1", False) if learns else ("7", True))
        if learns:
            assert browser.evaluate("softmax(scoresOf(pixels))[1]") >= 0.8
            assert browser.texts("figure") == ["7→1 ✓"]
            teach(browser, 1)  # again: no second drawing
            seen(browser)
            assert browser.evaluate("s.hand.length") == 1
            teach(browser, 2)  # that was a slip
            assert seen(browser) == "2"
            kept = "s.hand.map((x) => [x.digit, x.before === learnt])"
            assert browser.evaluate(kept) == [[2, True]]
        browser.evaluate("forget()")


def test_a_digit_is_taught_again_at_once_and_undo_goes_back_lesson_by_lesson(browser):
    browser.show(PAGE, width=390, height=844)
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
    (seven, *_), drawn = [strokes for strokes, k in lesson.hand(105) if k == 7], []
    state = "[w, s.hand.length, s.strokes, document.querySelectorAll('figure').length]"
    for digit in (1, 7):  # once by mistake
        draw(browser, seven)
        drawn.append(browser.evaluate(state))
        teach(browser, digit)
    assert browser.evaluate("s.hand.map(({ digit }) => digit)") == [1, 7]
    assert browser.texts("figure")[1][0] == "7"  # first read as without the lesson that made it a 1
    for before in reversed(drawn):
        tap(browser, "#undo")
        assert browser.evaluate(state) == before
        assert browser.texts("#sure") == ["Which digit is it?"]
        browser.push("Undo")
    assert browser.evaluate("w === learnt && document.querySelector('#undo').disabled")


def test_a_mouse_draws_a_stroke(browser):
    browser.show(PAGE, width=1200)
    x, y = browser.place("#pad")
    browser.drag(x - 60, y, x + 60)
    assert [len(stroke) > 2 for stroke in browser.evaluate("s.strokes")] == [True]
    browser.push("Clear")
    assert browser.texts("#big, #sure") == ["?", "Draw one of your own."]
    assert not any(browser.each("#ask button", "!e.disabled"))
    z = {"key": "z", "code": "KeyZ", "modifiers": 2}
    browser.call("Input.dispatchKeyEvent", type="rawKeyDown", **z)
    assert browser.evaluate("s.strokes.length") == 1


def test_a_digit_draws_itself_and_is_read(browser):
    browser.show(PAGE, motion="no-preference")
    eventually(lambda: browser.evaluate("s.strokes.flat().length") == 11)
    assert browser.texts("#big") == ["4"]


def test_the_page_is_small_and_asks_nobody():
    assert len(PAGE.encode()) <= 60_000
    assert not re.search(r"https?:|src=|@import|url\(", PAGE)
    assert "wrote in ${data.lines} lines" in PAGE
    assert "Nothing is sent." in PAGE
    assert "It knows ten digits and nothing else" in PAGE


def test_the_committed_page_is_that_of_the_package():
    """Made by `python -c "from autodiff.course.handwriting import our_page; our_page().save('notebooks/reads.html')"`."""
    assert (NOTEBOOKS / "reads.html").read_text(encoding="utf-8") == PAGE


def samples():
    from sklearn.datasets import load_digits

    digits = load_digits()
    found = [*zip((digits.data / 16).tolist(), digits.target.tolist())]
    random.Random(0).shuffle(found)
    return found[:360], found[360:]


def test_our_network_reads_what_it_has_not_seen():
    aside, learnt = samples()
    assert 0.94 <= our_reader.share(NET, aside) <= 0.98
    kept = [[lesson.packed(x), k] for k in range(10) for x in [x for x, d in learnt if d == k][:3]]
    assert lesson.OURS["strangers"] == kept


@pytest.mark.thorough
def test_our_network_is_what_our_reader_learns_in_thirty_epochs():
    _, learnt = samples()
    net = our_reader.network([64, 16, 10])

    def change(pixels, rng):
        return our_reader.slanted(pixels, rng.uniform(-0.4, 0.4))

    assert len([*our_reader.train(net, learnt, 30, change=change)]) == 30
    assert [p.data for p in net.parameters()] == pytest.approx(WEIGHTS, abs=0.0051)


PIECES = (
    "dot tanh Linear Sequential network cross_entropy Adam train read share Text javascript slanted"
)


@pytest.mark.parametrize(
    ("value", "node"),
    [(our_reader.Value, our_reader.node), (closures.Value, by_closures)],
)
def test_one_file_needs_no_library(value, node, tmp_path, capsys):
    file = tmp_path / "my_reader.py"
    pieces = [vars(our_reader)[name] for name in PIECES.split()]
    lines = lesson.one_file(file, value, node, *pieces)
    text = file.read_text(encoding="utf-8")
    text = text.replace("closures.Value", "Value").replace("by_closures", "node")
    assert {*re.findall(r"^(?:import|from) (\w+)", text, re.M)} == {"math", "random"}
    assert 140 <= lines <= 190
    assert f"my_reader.py: {lines} lines, " in capsys.readouterr().out
    there = "samples = [([k / 64] * 64, k // 7) for k in range(64)]\n"
    there += "net = network([64, 4, 10])\nprint(*train(net, samples, 2, change=lambda x, rng: slanted(x, 0.1)))"
    bare = [sys.executable, "-I", "-S", "-"]
    said = subprocess.check_output(bare, input=f"{text}\n{there}", text=True)
    first, second = map(float, said.split())
    assert 0 < second < first < 2 * math.log(10)
    if value is our_reader.Value:
        assert lesson.OURS["lines"] == lines
        assert hasattr(imported(file), "javascript")


def test_a_piece_in_a_cell_is_found_by_its_name():
    source = "import math\nclass Piece:\n    def work(self): ...\ndef other():\n    return 1\n"
    linecache.cache["a cell"] = len(source), None, source.splitlines(keepends=True), "a cell"
    exec(compile(source, "a cell", "exec"), names := {})
    assert lesson.text_of(names["Piece"]) == "class Piece:\n    def work(self): ..."
    assert lesson.text_of(names["other"]) == "def other():\n    return 1"


def bound(source):
    """The names that a cell makes, outside of functions and classes."""
    for node in ast.parse(re.sub("(?m)^%.*", "", source)).body:
        for each in ast.walk(node) if isinstance(node, ast.Assign) else [node]:
            yield getattr(each, "name", getattr(each, "id", ""))
            yield from (x.asname or x.name for x in getattr(each, "names", []))


@pytest.mark.parametrize("number", "12345")
def test_what_our_answer_needs_stands_above_its_exercise(number):
    code = vars(lesson)[f"solution_{number}"]
    methods = [code] if callable(code) and not isinstance(code, type) else vars(code).values()
    needed = {name for f in methods if hasattr(f, "__globals__") for name in outer(f.__code__)}
    above = itertools.takewhile(lambda c: f"check_{number}(" not in c.source, code_cells(PATH))
    known = {name for cell in above for name in bound(cell.source)} | {code.__name__}
    assert needed & {*vars(our_reader)} <= known


def outer(code):
    """The names that code takes from outside."""
    found = {x.argval for x in dis.get_instructions(code) if x.opname == "LOAD_GLOBAL"}
    return found.union(*(outer(x) for x in code.co_consts if hasattr(x, "co_consts")))


def test_hands_are_the_same_on_every_machine_and_nobody_has_drawn_them(capsys):
    assert lesson.drawings([...]) == lesson.hands([100])
    assert "Nobody has drawn them." in capsys.readouterr().out
    images = lesson.hands([100, 101])
    assert [k for _, k in images[:4]] == [0, 0, 1, 1]
    assert all(len(x) == 64 and 0 <= min(x) <= max(x) <= 1 for x, _ in images)


@pytest.mark.parametrize(
    ("question", "answer"),
    [(2, r"(\d+) nodes; with"), (3, r"loss .* (\d+)% of the 360"), (4, r"([\d,]+) results"),
     (5, r"(\d+)% of them right"), (7, r"\(of 13\) (\d+)"), (8, r"leaning +\d+% to +\d+% +(\d+)% to +(\d+)%"),
     (9, r"alone: .* (\d+)% to (\d+)% of"), (10, r"taught (\d+)%"), (11, r"after (\d+) sixteenths")],
)  # fmt: skip
def test_a_guess_of_what_is_in_the_box_is_praised(question, answer, capsys):
    outputs = [output for cell in code_cells(PATH) for output in cell.outputs]
    texts = "\n".join(output.get("data", {}).get("text/plain", "") for output in outputs)
    found = [number for match in re.finditer(answer, texts) for number in match.groups()]
    for number in found:
        lesson.predict(question, float(number.replace(",", "")))
    assert capsys.readouterr().out.count("✓ Right") == len(found) > 0


def test_a_guess_about_drawings_is_judged_by_the_drawings_at_hand(capsys):
    for share in (0.65, 0.95, 0.3):
        lesson.questions(share)(5, 65)
    said = capsys.readouterr().out.split("\n")
    assert said[:3] == ["✓ Right, or nearly.", "✗ More. Open the box.", "✗ Fewer. Open the box."]
