"""`python -m autodiff`: what it prints, writes and refuses."""

import builtins
import os
import random
import re
import subprocess
import sys

import pytest

import autodiff
from autodiff import __main__ as door
from autodiff.__main__ import main

GOOD = ["x*y + sin(x)", "x=2", "y=3"]


@pytest.fixture
def command(capsys):
    """Run a command line; return what went wrong, and its output."""

    def run(*argv):
        status = main(argv)
        out, err = capsys.readouterr()
        assert (status == 0) == (err == "")
        return err.removesuffix("\n") or None, out

    return run


# -- What it prints -----------------------------------------------------------------------------


def test_value_gradient_and_trace(command):
    wrong, out = command(*GOOD)
    assert wrong is None
    x, y = 2.0, 3.0
    numbers = f"value   {x * y + autodiff.sin(x)}\n∂/∂x    {y + autodiff.cos(x)}\n∂/∂y    {x}\n"
    table = autodiff.trace(lambda x, y: x * y + autodiff.sin(x), 2, 3, mode="reverse")
    assert out == f"{numbers}\n{table}\n"


def test_the_graph_and_the_steps_as_files_whose_names_may_begin_with_a_dash(
    command, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    wrong, out = command(
        "-x*y + sin(x)", *GOOD[1:], "--draw", "-graph.svg", "--steps", "-page.html"
    )
    assert (wrong, out.splitlines()[-2:]) == (None, ["wrote -graph.svg", "wrote -page.html"])
    svg, page = (tmp_path / name for name in ("-graph.svg", "-page.html"))
    assert ">grad −3.416<" in svg.read_text(encoding="utf-8")
    assert '"labels":["x"' in page.read_text(encoding="utf-8")


def test_help_says_all_there_is_and_names_every_function_of_the_package(capsys):
    for option in ("--version", "--help"):
        with pytest.raises(SystemExit, match="^0$"):
            main([option])
    version, out = capsys.readouterr().out.split("\n", 1)
    assert version == f"autodiff {autodiff.__version__}"
    assert max(map(len, out.splitlines())) <= 100
    for word in ["--draw", "--steps", "--page", "pi and", "x=2 y=3", "sum([x, y])"]:
        assert word in out
    rows = sorted(name for name, f in door.FUNCTIONS.items() if f.rows)
    assert f"below; {', '.join(rows[:-1])} and {rows[-1]} take lists" in out
    functions = [getattr(autodiff, name) for name in [*autodiff.__all__, "abs", "sum"]]
    of_numbers = {f.__name__ for f in functions if f.__module__ == "autodiff.engine.ops"}
    assert of_numbers >= {"abs", "atan2", "dot", "exp", "expm1", "hypot", "less", "log1p", "where"}
    assert (
        set(door.FUNCTIONS) == of_numbers <= set(re.findall(r"\w+", out.partition("functions:")[2]))
    )


WITHOUT = "import sys; sys.modules['graphviz'] = None; from autodiff.__main__ import main; sys.exit(main())"
PROCESSES = {  # arguments of Python, its exit status, and patterns of all that it prints
    "without a unicode terminal": (["-m", "autodiff", *GOOD], 0, r"value   6\.909297426825682\n\?/\?x    2\.5838531634528574\n.*", ""),
    "Python warns of it": (["-W", "always", "-m", "autodiff", "1or x", "x=1"], 2, "", "autodiff: this has no m.*"),
    "a file without a name": (["-m", "autodiff", *GOOD, "--draw", ""], 2, "", ".*--draw: a file needs a name\n"),
    "a page of another name": (["-m", "autodiff", "--page", "p.html"], 2, "", ".*p.html.*expected graph.html.*network.html.*\n"),
    **{f"{option} without a package": (["-c", WITHOUT, *GOOD, option, "never.svg"], 1, ".*", r"autodiff: [^\n]*graphviz[^\n]*\n")
       for option in ("--draw", "--steps", "--page")},
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "status", "out", "err"), PROCESSES.values(), ids=PROCESSES)
def test_a_process_prints_the_answer_or_the_message_alone(arguments, status, out, err):
    run = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert run.returncode == status, run.stderr
    assert re.fullmatch(out, run.stdout, re.DOTALL), run.stdout
    assert re.fullmatch(err, run.stderr, re.DOTALL), run.stderr


# -- What an expression may be ------------------------------------------------------------------


VALUES = [  # the arguments, and the value that is printed
    ("-x; x=2", -2.0), ("+x - -2; x=2", 4.0), ("2 * x ** 3 / 4; x=2", 4.0), ("2**-x; x=2", 0.25), ("(1 + x) * (1 - x); x=2", -3.0),
    ("pi * e * x; x=1", 8.539734222673566), ("pi * e; e=2; pi=3", 6.0), ("x + 1_000 + 1e3 + .5; x=0", 2000.5),
    ("x**3 + hypot(3, 4) + hypot(x); x=2", 15.0), ("atan2(x, 0) - pi + expm1(log1p(0*x)); x=2", -1.5707963267948966),
    ("where(less(x, 3), sum([x, 1, 2]), x); x=2", 5.0), ("dot([1, x], [x, 2]) + prod([x, x]); x=2", 10.0),
    ("größe *  θ\n + x1; größe=2; θ=3; x1=1", 7.0),
    ("-x*y; x=-2; y=-pi/2", -3.141592653589793),  # no option, though it begins with a dash
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_the_value_of_an_expression(command, text, value):
    assert command(*text.split("; "))[1].splitlines()[0].split() == ["value", str(value)]


MEANINGLESS = "this has no meaning here; an expression has numbers, names, + - * / ** and"
REFUSED = [  # the arguments, with marks around the place at which the message points; and its words
    ("x*y + «sine»(x); x=2; y=3", "there is no function sine; there are abs, acos"),
    *[(text, "this is not an expression: invalid syntax; a product has its sign, a function its brackets: 3*x**2") for text in ("2 + sin «x»; x=2", " ")],
    ("«2»x; x=2", "this is not an expression: invalid decimal literal; a product has its sign"),
    ("x + «(»3*x; x=2", "'(' was never closed"),
    ("x*«y»; x=2", "y has no value; give it one after the expression, as in y=2"),
    ("«xy»; x=2; y=3", "as in xy=2; a product is x*y"),
    ("«x2»; x=2", "as in x2=2; a product is x*2"),
    ("«sin(x=1)»; x=2", "autodiff: write sin(x)"),
    ("größe*漢字 + «y»; größe=2; 漢字=3", "y has no value"),
    ("x + «sin»; x=2", "sin has no value; it is a function: sin(x)"),
    ("«where(x, x)»; x=2", "write where(condition, x, y)"),
    ("«dot([x], x)»; x=2", "write dot([x, y], [a, b])"),
    ("«exp([x])»; x=2", "write exp(x)"),
    ("y + «log(x - 5)»; x=2; y=1", "log: x = -3.0 is outside the domain x > 0"),
    ("x + «1/(2 - 2)»; x=2", "division by zero"),
    ("9**«9**9**x»; x=9", "too large for a float"),
    *[(text, MEANINGLESS) for text in [
        "«1,5*x»; x=2", "x + «[x]»; x=2", "x*«1e999»; x=2", "x + «1j»; x=2", "«x < 2»; x=3",
        "«x.data»; x=2", "«(lambda: x)()»; x=2", "«'hostile()'»; x=2", "sum([«*[x]»]); x=2", "x*«True»; x=2",
        "(«x := 2»); x=2", "«x @ x»; x=2", "«not x»; x=2", "sum([«[x]»]); x=2",
    ]],
    ("x; x=«nan»", "nan has no value"),
    ("x; x", "the command: found 'x', expected a new name and its number, such as x=2"),
    ("x; x=2; x=3", "the command: found 'x=3', expected a new name"),
    ("x; x=y=3", "found 'x=y=3', expected a new name"),
    ("x; -y=3", "cannot assign to expression"),
    *[(text, "this is not an expression") for text in ("010*x; x=1", "x +; x=1", "|x||; x=1", "x; x=2; lambda=3", "x; x=«»")],
    ("1 + 2", "found the constant 3.0, expected one with variables, such as x*y"),
    ("sqrt(x); x=0", "the derivative of sqrt at x = 0.0 ('x'): it is infinite"),
    *[(f"x; x=2; {option}", "expected one that ends in") for option in ("--draw; graph.jepg", "--steps; page.txt", "--steps; -")],
    (f"x; x=2; --steps; {__file__}/page.html", "test_main.py"),  # a file is no folder
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_what_is_refused_and_where(command, text, words):
    marked = re.search("«(.+)»", text)
    wrong, out = command(*re.sub("[«»]", "", text).split("; "))
    assert wrong.startswith("autodiff: ")
    assert words in wrong
    if marked:
        _, shown, mark = wrong.splitlines()
        place, length = mark.index("^"), mark.rindex("^") + 1 - mark.index("^")
        wide = shown.count("漢") + shown.count("字")  # two columns each
        assert (out, length) == ("", len(marked[1]))
        assert shown[place - wide :].startswith(marked[1])


# -- What no expression may do ------------------------------------------------------------------

DEEP = [
    "(" * 400 + "x" + ")" * 400, "1" + "-" * 998 + "x", "x" + "+x" * 499, "sin(" * 150 + "x" + ")" * 150,
    "(" * 150 + "x x" + ")" * 150, "x" + "**9" * 30, "9" * 1000, "x*" * 5000 + "x", "lambda " * 140,
]  # fmt: skip


@pytest.mark.parametrize("text", DEEP)
def test_size_and_depth_are_bounded(command, text):
    wrong, out = command(text, "x=1.5")
    assert out if wrong is None else len(wrong.splitlines()) <= 4


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
def test_a_parser_that_gives_up_is_no_traceback(monkeypatch, command, error):
    monkeypatch.setattr(door.ast, "parse", lambda *_, **__: (_ for _ in ()).throw(error))
    assert "is nested too deep; write long sums as sum([x, y])" in command("x", "x=2")[0]


SEPARATED = """
    x y sin log sum dot where ( ) ( ) [ ] , + - * / ** // % @ ^ 2 0 1e9 1j . .data .backward() __class__
    hostile hostile() __import__('hostile') eval('hostile()') lambda: if else for in not and is await
    yield import print open exec None True ... = := == < >= ! ~ & | ; : \\ # ' " \"\"\" f'{hostile()}'
    { } ` $ ? \0 \x1b[2J \ud800 é ∂ 𝕩 ² ٣ \u202e
"""
WORDS = [*SEPARATED.split(), "\n", "\t", " ", " "]


def malformed(rng):
    """Words in any order, or a valid expression with words put in and parts left out."""
    if rng.random() < 0.5:
        return "".join(rng.choices(WORDS, k=rng.randrange(1, 12)))
    text = list(rng.choice(["x*y + sin(x)", "dot([x, 2], [y, 1])", "where(less(x, y), x, y**2)"]))
    for _ in range(rng.randrange(1, 4)):
        i = rng.randrange(len(text))
        text[i : i + rng.randrange(3)] = rng.choice(WORDS)
    return "".join(text)


def test_hundreds_of_malformed_expressions_run_no_code_and_end_in_a_message(command, monkeypatch):
    called = []
    for place in (builtins, door, autodiff, autodiff.engine.ops):
        monkeypatch.setattr(place, "hostile", lambda *_: called.append(1), raising=False)
    rng = random.Random(2026)
    refused = 0
    for _ in range(500):
        argv = [malformed(rng), "x=2", "y=3"]
        if rng.random() < 0.1:
            argv[rng.randrange(3)] = f"x={malformed(rng)}"
        wrong, out = command(*argv)
        if wrong is None:
            assert out.startswith("value "), argv
        else:
            refused += 1
            assert out == "", argv
            assert wrong.startswith("autodiff: "), argv
    assert not called
    assert refused > 450
