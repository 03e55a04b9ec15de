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
from autodiff.__main__ import ExpressionError, main, parse

GOOD = ["x*y + sin(x)", "x=2", "y=3"]


@pytest.fixture
def command(capsys):
    """Run a command line; return its status, its output and its errors."""

    def run(*argv):
        try:
            status = main(argv)
        except SystemExit as end:  # of argparse
            status = end.code
        return status, *capsys.readouterr()

    return run


# -- What it prints -----------------------------------------------------------------------------


def test_value_gradient_and_trace(command):
    status, out, err = command(*GOOD)
    assert (status, err) == (0, "")
    x, y = 2.0, 3.0
    slopes = y + autodiff.cos(x), x
    assert out.startswith(
        f"value   {x * y + autodiff.sin(x)}\n∂/∂x    {slopes[0]}\n∂/∂y    {slopes[1]}\n\n"
    )
    table = autodiff.trace(lambda x, y: x * y + autodiff.sin(x), 2, 3, mode="reverse")
    assert out.endswith(f"\n\n{table}\n")


def test_forward_mode_has_a_table_for_each_variable(command):
    _, out, _ = command(*GOOD, "--mode", "forward")
    reverse = command(*GOOD)[1]
    assert out.splitlines()[:3] == reverse.splitlines()[:3]
    for name in "xy":
        table = autodiff.trace(lambda x, y: x * y + autodiff.sin(x), 2, 3, wrt=name)
        assert f"\nalong {name}:\n{table}\n" in out


def test_the_program_alone_in_python_or_javascript(command):
    status, out, _ = command(*GOOD, "--source")
    names = {}
    exec(out, names)
    assert status == 0
    assert names["program"](2.0, 3.0) == (6.909297426825682, (2.5838531634528574, 2.0))
    status, out, _ = command(*GOOD, "--source", "--language", "javascript")
    assert (status, out[:13]) == (0, "(inputs) => {")
    assert command(*GOOD, "--language", "javascript")[1] == out


def test_a_check_that_succeeds_and_one_that_fails(command):
    assert command(*GOOD, "--check")[1].endswith("central differences agree\n")
    status, _, err = command("relu(x)", "x=0", "--check")
    assert status == 1
    assert "the derivatives of relu(x) disagree" in err
    assert "<- wrong" in err


def test_the_graph_and_the_steps_as_files_whose_names_may_begin_with_a_dash(
    command, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    status, out, _ = command(
        "-x*y + sin(x)", *GOOD[1:], "--draw", "-graph.svg", "--steps", "-page.html"
    )
    assert (status, out.splitlines()[-2:]) == (0, ["wrote -graph.svg", "wrote -page.html"])
    svg, page = (tmp_path / name for name in ("-graph.svg", "-page.html"))
    assert ">grad −3.416<" in svg.read_text(encoding="utf-8")
    assert '"labels":["x"' in page.read_text(encoding="utf-8")


@pytest.mark.skipif(os.name == "nt", reason="there a closed pipe is another error")
def test_an_output_that_takes_nothing_more_ends_without_a_traceback():
    reader, writer = os.pipe()
    os.close(reader)
    run = subprocess.run(
        [sys.executable, "-m", "autodiff", *GOOD], stdout=writer, stderr=subprocess.PIPE,
        env={k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"},
    )  # fmt: skip
    os.close(writer)
    assert (run.returncode, run.stderr) == (1, b"")


def test_nothing_but_the_message_is_written_about_an_expression_that_python_warns_of():
    command = [sys.executable, "-W", "always", "-m", "autodiff", "1or x", "x=1"]
    run = subprocess.run(command, capture_output=True)
    assert (run.returncode, run.stdout, run.stderr[:25]) == (2, b"", b"autodiff: this is not an ")


def test_help_says_all_there_is_and_names_every_function_of_the_package(command):
    status, out, _ = command("--help")
    assert status == 0
    assert max(map(len, out.splitlines())) <= 100
    for word in ["--check", "exit status", "javascript", "logsumexp", "pi", 'x=2 y=3"'[:-1]]:
        assert word in out
    functions = [getattr(autodiff, name) for name in [*autodiff.__all__, "abs", "sum"]]
    of_numbers = {f.__name__ for f in functions if f.__module__ == "autodiff.ops"}
    assert of_numbers >= {"abs", "atan2", "dot", "exp", "expm1", "hypot", "less", "log1p", "where"}
    assert set(door.FUNCTIONS) == of_numbers <= set(re.findall(r"\w+(?=\()", out))
    assert command("--version") == (0, f"autodiff {autodiff.__version__}\n", "")


def test_it_runs_as_a_module_and_without_a_unicode_terminal():
    run = subprocess.run(
        [sys.executable, "-m", "autodiff", *GOOD], capture_output=True, check=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert run.stdout.startswith(b"value   6.909297426825682")
    assert b"?/?x    2.5838531634528574" in run.stdout


# -- What an expression may be ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-x", -2.0), ("+x - -2", 4.0), ("2 * x ** 3 / 4", 4.0), ("2**-x", 0.25), ("(1 + x) * (1 - x)", -3.0),
        ("pi * e", 8.539734222673566), ("x**3 + hypot(3, 4) + hypot(x)", 15.0), ("1_000 + 1e3 + .5", 2000.5),
        ("atan2(x - 2, 0) - pi/2 + expm1(log1p(0*x))", -1.5707963267948966),
        ("x² − 2x + 3^x", 9.0), ("6/2x", 1.5), ("6÷(2)(x + 1)x", 0.5), ("2(x + 1)|1 - x|√(x²)", 12.0),
        ("||x| - 5|π", 3 * 3.141592653589793), ("max(x, 3)·min(x, ln(1))", 0.0),
        ("where(less(x, 3), sum([x, 1, 2]), x)", 5.0), ("dot([1, x], [x, 2]) + prod([x, x])", 10.0),
    ],
)  # fmt: skip
def test_arithmetic(text, expected):
    assert parse(text, ["x"])(2.0) == expected


def test_names_are_those_of_python_and_may_be_given_anew():
    assert parse("größe * θ\n + x1", ["größe", "θ", "x1"])(2.0, 3.0, 1.0) == 7.0
    assert parse("pi * e", ["e", "pi"])(2.0, 3.0) == 6.0


def test_a_leading_minus_is_not_an_option_and_a_number_may_be_an_expression(command):
    assert command("-x*y", "x=-2", "y=-pi/2")[1].splitlines()[0] == f"value   {-3.141592653589793}"


REFUSED = [  # the arguments, with marks around the place at which the message points; and its words
    ("x*y + «sine»(x); x=2; y=3", "there is no function sine; did you mean sin?"),
    ("x*«foo»(x); x=2", "there is no function foo; there are abs, acos"),
    ("«x»(x + 1); x=2", "there is no function x; write x*(...)"),
    *[
        (f"1 + «{name}»(x); x=2", f"there is no function {name}; write {remedy}\n")
        for name, remedy in [("log10", "log(x)/log(10)"), ("pow", "x**y"), ("power", "x**y")]
    ],
    ("1 + «@»x; x=2", "@ has no meaning"),
    ("«1,5*x»; x=2", "between the inputs of a function; write 1.5, not 1,5"),
    ("2 + «sin x»; x=2", "this is not an expression: invalid syntax; write sin(x)"),
    ("2*«x y»; x=2", "invalid syntax; for a product write x*y"),
    ("x; x=«nan»", "nan has no value; write a number, such as x=2"),
    ("x; «x»=", "'x=' is not a name and its number, such as x=2"),
    ("«dot([x], x)»; x=2", "dot is written dot([x, y, ...], [a, b, ...])"),
    ("x + «[x]»; x=2", "this has no meaning here"),
    ("x*«y»; x=2", "y has no value; write y=2 after the expression"),
    ("x + «sin»; x=2", "sin is a function; write sin(x)"),
    ("«where(x, x)»; x=2", "where is written where(condition, x, y)"),
    ("«exp([x])»; x=2", "exp is written exp(x)"),
    ("x + «(»3*x; x=2", "'(' was never closed"),
    ("x + «**»x; x=2", "this is not an expression: invalid syntax"),
    ("x + «x.data»; x=2", "this has no meaning here; an expression has numbers"),
    ("größe*漢字 + «y»; größe=2; 漢字=3", "y has no value"),
    ("x*«1e999»; x=2", "this number is too large for a float"),
    ("x; x=2; «x»=3", "x is given twice"),
    ("x; x=2; «-y»=3", "'-y=3' is not a name and its number, such as x=2"),
    (" ", "the expression is empty; write one such as"),
    *[
        (f"x {sign} 2; x=3", f"{sign} has no meaning in an expression; write {remedy}\n")
        for sign, remedy in [
            ("<", "less(x, y)"), (">", "less(y, x)"),
            ("=", "x=2 after the expression, which goes in quotes"),
        ]
    ],
    *[(f"{text}; x=1", "autodiff: ") for text in ("010*x", "1__0*x", "1_*x", "x +")],
]  # fmt: skip
UNDEFINED = [
    ("y + «log(x - 5)»; x=2; y=1", "log: x = -3.0 is outside the domain x > 0"),
    ("x + «1/(2 - 2)»; x=2", "division by zero"),
    ("9**«9**9**x»; x=9", "too large for a float"),
    ("1 + 2", "expected one with variables, such as x*y"),
    ("sqrt(x); x=0", "the derivative of sqrt at x = 0.0: it is infinite"),
    ("x; x=2; lambda=3", "autodiff: 'lambda' is not a valid parameter name\n"),
    *[(f"x; x=2; {option}", "expected one") for option in ("--draw; graph.jepg", "--steps; page.txt", "--draw; ", "--steps; ")],
    ("x; x=2; --draw; -", "found the file name '-', expected"),
    ("x; x=2; --steps; /no folder/page.html", "autodiff: cannot write "),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words", "status"),
    [*[(*row, 2) for row in REFUSED], *[(*row, 1) for row in UNDEFINED]],
)
def test_what_is_refused_and_where(command, text, words, status):
    marked = re.search("«(.*)»", text)
    found, out, err = command(*re.sub("[«»]", "", text).split("; "))
    assert (found, words in err) == (status, True), err
    assert ("for a product" in err) == ("for a product" in words)
    if marked:
        _, shown, mark = err.splitlines()
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
    status, _, err = command(text, "x=1.5", "--source", "--check")
    assert status in (0, 1, 2)
    assert len(err.splitlines()) <= 4 or status == 0


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
def test_a_parser_that_gives_up_is_no_traceback(monkeypatch, command, error):
    monkeypatch.setattr(door.ast, "parse", lambda *_, **__: (_ for _ in ()).throw(error))
    status, _, err = command("x", "x=2")
    expected = "autodiff: the expression is nested too deep; write long sums as sum([x, y])\n"
    assert (status, err) == (2, expected)


@pytest.mark.parametrize("text", ["sin(" * 98 + "x" + ")" * 98, "x" + "+x" * 98])
def test_what_is_accepted_at_the_bounds_has_a_program_too(command, text):
    assert [command(text, "x=1.5", option)[0] for option in ("--source", "--check")] == [0, 0]


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
    for place in (builtins, door, autodiff, autodiff.ops):
        monkeypatch.setattr(place, "hostile", lambda *_: called.append(1), raising=False)
    rng = random.Random(2026)
    refused = 0
    for _ in range(500):
        argv = [malformed(rng), "x=2", "y=3"]
        if rng.random() < 0.1:
            argv[rng.randrange(3)] = f"x={malformed(rng)}"
        status, out, err = command(*argv)
        if status == 0:
            assert not err, argv
            assert out.startswith("value "), argv
        else:
            refused += 1
            assert (status in (1, 2), out) == (True, ""), argv
            assert re.match(r"(autodiff: |usage: )", err), argv
            assert "Traceback" not in err, argv
    assert not called
    assert refused > 450


def test_the_parser_of_python_sees_nothing_but_arithmetic(monkeypatch):
    monkeypatch.setattr(door.ast, "parse", lambda *_, **__: pytest.fail("was called"))
    for text in ("x; y", "x = 2", "'a'", "{x}", "x if x < 2 else 3", "a\\b", "f`x`", "x#y"):
        with pytest.raises(ExpressionError):
            parse(text, ["x"])


@pytest.mark.parametrize("option", ["--draw", "--steps", "--page"])
def test_a_missing_package_is_named(option):
    """Installed with pip's --no-deps."""
    code = "import sys; sys.modules['graphviz'] = None; from autodiff.__main__ import main\n"
    code += f"sys.exit(main([*{GOOD}, {option!r}, 'never.svg']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert re.match("autodiff: .*graphviz", done.stderr)
