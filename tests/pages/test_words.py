"""What the live page says of a move is what Python finds by moving: formulas at odd places."""

import json
import math
import random
import re

import pytest

from autodiff.__main__ import parse
from autodiff.pages import live

PARTS = ("numbers", "core", "parser", "layout", "dom", "charts", "controls", "graph", "words",
         "proof")  # fmt: skip
SAYS = """
const plain = (x) => (x?.tag ? x.children.map(plain).join("") : [x].flat(9).map((y) =>
  (y?.tag ? plain(y) : y || "")).join("")).replaceAll("−", "-");
const says = ([text, bys]) => {
  const graph = graphOf(parse(text, byName)), node = graph.inputs[0], step = graph.last;
  const state = opened(graph, { step }), run = pass(graph, state.leaves);
  const sentences = (more) => {
    const at = { ...state, ...more }, view = viewOf(at, run);
    return [sentence(at, view).map(plain), view];
  };
  const [[end]] = sentences({}), [[touched, second]] = sentences({ touched: node });
  const moves = !Number.isFinite(run.values.at(-1)) ? [] : bys.map((by) => {
    const [[headline], view] = sentences({ proof: { node, by } });
    return { by, far: view.proof.far, headline, gap: view.proof.gap, leap: view.proof.leap,
      verdict: plain(verdict({ proof: { by } }, view, "y")) };
  });
  const question = questionOf(state, run);
  return { end, touched, second, moves, question, slope: run.adjoints[node] };
};
"""


@pytest.fixture
def page(node):
    program = live.script(live.all_rules(), parts=PARTS) + SAYS
    return lambda *cases: node(f"(() => {{ {program} return {json.dumps(cases)}.map(says) }})()")


ROOTS = [-2, -1, 0, 0.1, 0.5, 1, 3]


def polynomial(rng):
    """At one of its zeros, perhaps a manifold one; or beside it."""
    roots = rng.choices(ROOTS, k=rng.randint(1, 4))
    x = rng.choice([*roots, rng.uniform(-2, 2)])
    return "*".join(f"(x - ({root}))" for root in roots), x


def beside_a_pole(rng):
    p = rng.choice(ROOTS)
    return f"{rng.choice([1, -3])}/(x - ({p}))**{rng.randint(1, 2)}", p + rng.choice(
        [0.05, 1, -1e-3, 0.1]
    )


def kink(rng):
    f = rng.choice(["abs({})", "relu({})", "maximum({}, 0)", "minimum(2*({}), 3*({}))", "maximum({}, -({}))",
                    "relu({}) - relu(-({}))", "20000*relu({})", "abs({})**3", "abs({}) + 5*x", "relu({})**2"])  # fmt: skip
    return f.replace("{}", f"x - ({(at := rng.choice(ROOTS))})"), rng.choice(
        [at, at, at + 0.05, at - 1e-3]
    )


def plateau(rng):
    f = rng.choice(["less({a}, x)", "less(x, {a}) + x", "5*less({a}, x) - x**2", "tanh(40*(x - {a}))", "relu(x - 5)",
                    "cos(2*pi*x)", "sin(pi*x)", "0*x + 3", "exp(-1e3*(x - {a})**2)", "where(less(x, {a}), x, x**2)"])  # fmt: skip
    a = rng.choice([0, 0.01, 1, 2])
    return f.replace("{a}", str(a)), rng.choice([a, a, a + 0.05, 1, 0.5])


def edge(rng):
    f, at = rng.choice([("sqrt(x)", 0), ("log(x)", 0), ("asin(x)", 1), ("acos(x)", -1), ("sqrt(1 - x*x)", 1), ("x**1.5", 0),
                        ("x**2.5", 0), ("x**x", 1), ("x**x", -1.5), ("log1p(x)", -1), ("sqrt(x)*sqrt(0.05 - x)", 0.02)])  # fmt: skip
    return f, at + rng.choice([0, 0, 0.01, -0.01])


def huge(rng):
    sizes = "{s}*x; {s}*x*x; x + {s}; ({s} + x) - {s}; x/{s}; {s}*sin(x); exp(x); x*x*x; 1/x"
    f = rng.choice(sizes.split("; "))
    size = rng.choice([1e300, 1e-300, 1e20, 1e-12, 1e8])
    return f.replace("{s}", repr(size)), rng.choice(
        [1e300, 1e-320, 1e-300, 1.0, 700.0, 710.0, 1e200, 0.0, 1e-9]
    )


KINDS = [polynomial, beside_a_pole, kink, plateau, edge, huge]
NUMBER = r"-?(?:\d+(?:\.\d+)?(?:·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?|infinity)"


def number(text):
    base, _, power = text.partition("·10")
    digits = power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")) or "0"
    return float(base if "infinity" in base else f"{base}e{digits}")


class Measured:
    """What Python finds of a formula, around x."""

    def __init__(self, text, x):
        self.function, self.x = parse(text, ["x"]), x
        self.y = self.at(0)
        lost = re.findall(r"\((\d\S+) \+ x\)", text)  # digits
        near = [self.y, self.at(1e-3), self.at(-1e-3), 1e-300, *map(float, lost)]
        self.noise = 1e-11 * max(abs(y) for y in near if not math.isnan(y))

    def at(self, by):
        try:
            y = self.function(self.x + by)
        except (ValueError, ArithmeticError):
            return math.nan
        return y if math.isfinite(y) else math.nan

    def far(self, by):
        return self.at(by) - self.y

    def slopes(self, side):
        """Difference quotients on one side, nearer and nearer."""
        ends = [self.x + t * side * min(1.0, abs(self.x) or 1.0) for t in (1e-4, 1e-5, 1e-6)]
        return [self.far(x - self.x) / (x - self.x) if x != self.x else math.nan for x in ends]


def same(found, said, least=0.0):
    """A number as the page prints it, with three digits."""
    return found == pytest.approx(said, rel=6e-3, abs=least)


def off_by(found, said, noise):
    """With two digits."""
    return abs(found) == pytest.approx(number(said), rel=0.06, abs=noise)


def check_move(f, move, slope):
    by, far, verdict = move["by"], move["far"], move["verdict"]
    measured = f.far(far)
    if "no value" in move["headline"]:
        assert math.isnan(f.far(by))
        assert math.isnan(measured)
    else:
        way, moved = re.findall(NUMBER, move["headline"])
        assert same(far, number(way))
        assert same(measured, number(moved), f.noise)
    assert ("There y has no value" in verdict) == (
        far != by and "on neither" not in verdict
    ) or "So far" in verdict
    if far != by:
        assert math.isnan(f.far(by))
    path = [f.far(far * k / 97) - slope * far * k / 97 for k in range(1, 98)]
    off = max(abs(x) if x == x else math.inf for x in path)
    if "straight line" in verdict:
        assert off <= f.noise + 1e-7 * abs(slope * far)
    elif "not straight" in verdict:
        assert off > 0
        said = re.search(f"Off by ({NUMBER}):", verdict)
        assert off_by(path[-1], said[1], f.noise) if said else abs(path[-1]) <= f.noise
        if times := re.search(f"misses ({NUMBER}) times less", verdict):
            nearer = abs(f.far(far / 10) - slope * far / 10)
            assert abs(path[-1]) == pytest.approx(
                number(times[1]) * nearer, rel=0.06, abs=100 * f.noise
            )
    elif "jumps" in verdict:
        side = math.copysign(1, far)
        gap = re.search(f"Off by ({NUMBER}),", verdict)[1]
        for t in (1e-6, 1e-8, 1e-10):
            assert off_by(f.far(side * t) - slope * side * t, gap, f.noise)
    elif "corner" in verdict:
        left, right = f.slopes(-1), f.slopes(1)
        assert all(abs(b - a) > 1e-4 * max(abs(a), abs(b)) for a, b in zip(left, right))
        up, down = (
            re.search(rf"{way}, (?:it moves )?[+]?({NUMBER})", verdict) for way in ("up", "down")
        )
        assert same(f.far(by), number(up[1]), f.noise)
        assert same(f.far(-by), number(down[1]), f.noise)
        ends = sorted([left[-1], right[-1]])
        near = [abs(x - slope) < 1e-2 * (ends[1] - ends[0]) for x in ends]
        assert ("one of" in verdict) == any(near)
        assert ("between" in verdict) == (not any(near) and ends[0] < slope < ends[1])
    elif "Corners meet" in verdict:
        assert f.slopes(1)[-1] == pytest.approx(f.slopes(-1)[-1])
        assert f.slopes(1)[-1] != pytest.approx(slope)
    elif "So far" in verdict:
        assert math.isnan(f.far(by))
        assert math.isnan(f.far(-by))
    elif "lost" in verdict:
        assert abs(measured - slope * far) > 0.4 * abs(slope * far)
        assert f.x + far == f.x or abs(slope * far) < f.noise
    else:
        assert "nothing can be foretold" in verdict
        assert not math.isfinite(slope)


def check_touched(f, said, slope):
    ways = [way for way in (f.slopes(1), f.slopes(-1)) if not any(map(math.isnan, way))]
    least = f.noise / 1e-6 / min(1.0, abs(f.x) or 1.0)
    if "times as far" in said or "just as far" in said or "almost still" in said:
        found = re.search(f"moves ({NUMBER}) times", said)
        size = number(found[1]) if found else float("just" in said)
        size *= -1 if "the other way" in said else 1
        assert same(slope, size)
        for far, _, near in ways:  # the nearer, the more so
            assert abs(near - size) <= 0.4 * abs(far - size) + 6e-3 * abs(size) + least
    elif "two slopes" in said:
        left, right = map(number, re.findall(NUMBER, said)[:2])
        assert f.slopes(-1)[-1] == pytest.approx(left, rel=6e-3, abs=1e-4)
        assert f.slopes(1)[-1] == pytest.approx(right, rel=6e-3, abs=1e-4)
    elif "jumps" in said:
        leaps = [(abs(f.far(t)), abs(f.far(t / 100))) for t in (1e-8, -1e-8)]
        assert any(far > 1e-3 and near == pytest.approx(far, rel=0.01) for far, near in leaps)
    elif "straight" in said:
        up = "rises" in said
        assert all(way[-1] > 10 if up else way[-1] < -10 for way in ways)
        assert (slope > 0) == up


@pytest.mark.parametrize("kind", KINDS, ids=lambda x: x.__name__)
def test_what_is_said_of_a_move_is_what_python_finds_by_moving(page, seed, kind):
    rng = random.Random(seed)
    cases = [kind(rng) for _ in range(150)]
    answers = page(*[[f"x={x!r}; {text}", [1, 0.1, 0.01]] for text, x in cases])
    for (text, x), answer in zip(cases, answers, strict=True):
        about = (seed, text, x, answer)
        f, slope = Measured(text, x), answer["slope"]
        if math.isnan(f.y):
            assert answer["moves"] == [], about
            assert "no value" in answer["end"] or "too large" in answer["end"], about
            continue
        try:
            for move in answer["moves"]:
                about = (seed, text, x, slope, move)
                check_move(f, move, slope)
            about = (seed, text, x, slope, answer["touched"])
            check_touched(f, answer["touched"], slope)
            about = (seed, text, x, slope, answer["question"])
            if question := answer["question"]:
                by, measured = question["by"], f.far(question["by"])
                off = sorted(
                    (abs(choice * by - measured), choice) for choice in question["choices"]
                )
                assert off[0][1] == slope
                assert off[0][0] < 0.8 * off[1][0]
            about = (seed, text, x, slope, answer["end"])
            if moved := re.search(f"by ({NUMBER}), and y moves by about ({NUMBER})", answer["end"]):
                by, far = map(number, moved.groups())
                assert f.far(by) == pytest.approx(
                    far, rel=0.06, abs=f.noise + 0.02 * by * (not far)
                )
        except (AssertionError, TypeError) as error:
            raise AssertionError(about) from error
