"""What the live page makes of a formula: parser.js reads it, core.js computes with it."""

import json
import random
import re
from contextlib import suppress
from urllib.parse import unquote

import pytest
from operations import FORMULAS
from pictures import constant
from spellings import BOTH, NEITHER, PAGE
from tables import text_of

from autodiff import Value, adjoints, topological_order
from autodiff.__main__ import parse
from autodiff.pages import live

ANSWER = """
const answer = ([text, values, adjoints]) => {
  try {
    const read = parse(text, byName), graph = graphOf(read), run = pass(graph, graph.start);
    const own = graph.nodes.map(({ rule, inputs }, i) => {
      const xs = values && rule && inputs.map((j) => values[j]);
      return xs ? [rule.value(...xs), rule.back(adjoints[i], ...xs)] : null;
    });
    return [run.values, run.adjoints, own, graph.inputs.map((i) => graph.labels[i]), read.formula];
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return error.message;
  }
};
"""


@pytest.fixture
def read(node):
    """What the page makes of texts; each operation also alone, if its numbers are given."""
    program = live.script(live.all_rules(), parts=["numbers", "core", "parser"]) + ANSWER
    return lambda *cases: node(f"(() => {{ {program} return {json.dumps(cases)}.map(answer) }})()")


SHAPES = [text_of(formula).replace("m.", "") for formula in FORMULAS[:-1]]  # m is the package


def formula(rng, depth):
    """A random formula over x, y and z, of the operations of the package."""
    if depth == 0:
        return rng.choice(["x", "y", "z", f"{rng.uniform(0.1, 3):.2f}", "2", "pi"])
    shape = rng.choice(["a + b", "a - b", "a * b", "a / b", rng.choice(SHAPES)])
    inside = lambda _: rng.choice(["{}", "({})"]).format(formula(rng, depth - 1))  # noqa: E731
    return re.sub(r"\b[abc]\b", inside, shape)


def cases(count):
    """Formulas with numbers, special ones too, and their graphs in Python."""
    rng, found = random.Random(0), []
    while len(found) < count:
        text, special = formula(rng, rng.randint(1, 3)), [0.0, 1.0, -1.0, 1e-8, 50.0]
        at = {x: rng.choice([rng.uniform(-3, 3), rng.choice(special)]) for x in "xyz"}
        with suppress(ValueError, ArithmeticError):
            root = parse(text, list(at))(*[Value(x, label=name) for name, x in at.items()])
            if isinstance(root, Value) and len(topological_order(root)) <= 60:
                adjoints(root)
                found.append((";".join([*(f"{k}={x!r}" for k, x in at.items()), text]), root))
    return found


def close(found, expected, size=0.0):
    """Equal to a few units in the last place: libraries differ in theirs."""
    return found == pytest.approx(expected, rel=2e-15, abs=2e-15 * size, nan_ok=True)


def test_the_page_reads_and_computes_as_python_does(read):
    exact, asked = 0, []
    for text, root in (found := cases(500)):
        order, adjoint = topological_order(root), adjoints(root)
        asked.append((text, [x.data for x in order], [adjoint.get(x, 0.0) for x in order]))
    for (text, root), (_, *at), answer in zip(found, asked, read(*asked), strict=True):
        assert type(answer) is list, (text, answer)
        values, slopes, own, *_ = answer
        exact += [values, slopes] == at
        assert len(values) == len(at[0]), text
        for node, said, grad in zip(topological_order(root), own, at[1]):
            if said and grad:  # each operation, at Python's numbers; a message of 0 goes no further
                assert close(said[0], node.data), (text, node.op)
                for here, there in zip(said[1], node._closure(grad), strict=True):
                    assert (here is None) == (there is None), text
                    # 1 - tanh² may differ in more than its last bit
                    assert here is None or close(here, there, abs(grad)), (text, node.op)
    assert exact >= 0.85 * len(found)  # the rest differ in the last bits of a library's function


REFUSED = {
    "": "Type a formula, such as tanh(w*x + b)",
    "3 + 4": "A formula needs a name, such as x*y",
    "x y": "“y” stands where a sign is expected; a product needs its sign: x*y",
    "(x": "The formula ends where ) is expected",
    "x; x(2)": "There is no function x; write x*(…)",
    "y = y + 1": "“y” stands on both sides; give the result another name",
    "x + nan": "“nan” is no number that an input can have",
    "-inf * x": "“inf” is no number that an input can have",
    "|x": "The formula ends where | is expected",
    "atan2(x)": "“atan2” takes 2 numbers",
    "x + 1e400": "This number is too large",
    "x = 2; x; x = 3": "“x” is given twice",
    "y = u*v; u = x + 1; v = 2": "“u” is used before it is given; put its formula first",
    "sin = 2; sin(x)*sin": "“sin” is a function; give the result another name",
    "dot([x], [x, y])": "The two lists differ in length",
    "constructor(x)": "There is no function constructor; there are exp, ln, sin, tanh, relu, max and others",
    "x·+ln(-1)": "“ln(-1)” has no value, or one too large",
    "x*√(1−2)": "“√(1−2)” has no value, or one too large",
    "x + |2-2|⁻¹": "“|2-2|^-1” has no value, or one too large",
    "x + 7÷0": "“7÷0” has no value, or one too large",
    "x·×y": "“×” stands where a number, a name or a bracket is expected",
    "LN(x, 2)": "“LN” takes one number",
    "<img src=x onerror=hacked=1>": "“<” has no meaning in a formula",
    "x" + "+x" * 400: "More than 400 nodes cannot be shown",
    "x+" * 4501: "At most 9000 characters are read",
}


def test_what_it_refuses(read):
    assert read(*[[text] for text in REFUSED]) == [*REFUSED.values()]


AS_WRITTEN = {
    "3x": "3*x", "2(a + b)": "2*(a+b)", "6/2x": "6/(2*x)", "-2x": "-(2*x)", "x²y": "x**2*y",
    "2|a-b|√a": "2*abs(a-b)*sqrt(a)", "|x|y": "abs(x)*y", "√x²": "sqrt(x)**2", "e^x": "e**x",
    "||x|-1|": "abs(abs(x)-1)", "sin(x)cos(x)": "sin(x)*cos(x)", "2^3x": "2**3*x",
    "max(a, ln(b))": "maximum(a,log(b))", "2√4x": "2*sqrt(4)*x", "min(2x, y)": "minimum(2*x,y)",
    "x²·y^2 − y³÷4": "x**2*y**2-y**3/4", "x₁ + x1": "x1+x1",
}  # fmt: skip


def test_formulas_as_people_write_them(read):
    answers = read(*[[x] for x in AS_WRITTEN])
    said = [formula for *_, formula in answers]
    assert said == [*AS_WRITTEN.values()]
    for text, typed, plain in zip(said, answers, read(*[[x] for x in said]), strict=True):
        assert typed == plain
        names = typed[3]  # and the command line reads what the page makes of it
        assert close(plain[0][-1], parse(text, names)(*[2.0, 0.5, 1.0][: len(names)])), text


def by_python(text, names="xyz"):
    """What the command line makes of a text: the value at 0.5, 2 and 3, or why it reads none."""
    try:
        return parse(text, names)(0.5, 2.0, 3.0)
    except (ValueError, ArithmeticError) as error:
        return str(error)


def by_page(read, texts):
    at = "x=0.5;y=2;z=3;"
    answers = read(*[[at + text] for text in texts])
    return [x if isinstance(x, str) else x[0][-1] for x in answers]


def test_the_page_and_the_command_line_read_the_same_text_alike(read):
    texts = [*BOTH, *BOTH.values()]
    for text, found in zip(texts, by_page(read, texts), strict=True):
        assert found == by_python(text) == by_python(BOTH.get(text, text)), text
    for (text, (same, answer)), found in zip(PAGE.items(), by_page(read, PAGE), strict=True):
        assert close(found, by_python(same)), text
        assert answer in by_python(text)
    for (text, answers), found in zip(NEITHER.items(), by_page(read, NEITHER), strict=True):
        assert answers[0] in found
        assert answers[1] in by_python(text), text


PIECES = [*"xyz2()|√²⁻¹^*·/+-−,", "0.5", "max(", "ln", " ", "1_0", "0x1", "e", "2e", "π", "**"]


def test_no_text_is_read_in_two_ways(read, seed):
    rng = random.Random(seed)
    texts = ["".join(rng.choices(PIECES, k=rng.randint(2, 7))) for _ in range(6000)]
    read_by_both = 0
    for text, found in zip(texts, by_page(read, texts), strict=True):
        expected = by_python(text)
        if not isinstance(found, str) and not isinstance(expected, str):
            read_by_both += 1
            assert close(found, expected), (seed, text)
    assert read_by_both > 50


def test_a_number_may_stand_after_its_formula(read):
    [[values, *_]] = read(["a*b; a=3; b=0.5"])
    assert values == [3, 0.5, 1.5]


def test_a_link_holds_the_graph(read):
    a, b = Value(-1.5, label="my loss"), Value(2.5, label="lambda")  # which are no names
    shared = a * b - constant(3.0, "c")
    odd = shared * shared + (-a) ** 2 + 2**b - a / -2.0
    roots = [odd, *[root for _, root in cases(100)]]
    texts = [[unquote(live.show_steps(root).link[1:])] for root in roots]
    for root, (values, slopes, *_) in zip(roots, read(*texts), strict=True):
        order, adjoint = topological_order(root), adjoints(root)
        assert sorted(values) == pytest.approx(sorted(x.data for x in order))
        assert sorted(slopes) == pytest.approx(sorted(adjoint.get(x, 0.0) for x in order))
