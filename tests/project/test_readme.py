"""The README and the guides: their code gives what stands under it; links of every page."""

import ast
import importlib
import inspect
import math
import os
import re
import shlex
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import numpy
import pytest
from matplotlib import pyplot

import autodiff
from autodiff import engine, tiny
from autodiff.__main__ import main
from autodiff.pages import live, network
from autodiff.pictures import drawing
from notebooks import PATHS, prose

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "autodiff"
README = ROOT / "README.md"
GUIDES = ROOT / "notebooks" / "guides"
PAGES = [README, *sorted(GUIDES.glob("*.md"))]
TEXTS = {path: path.read_text(encoding="utf-8") for path in PAGES}
COMMAND = re.compile(r"```sh\n\.venv/bin/autodiff (.*?)\n```\n\n```text\n(.*?)\n```", re.S)
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)\n```)?", re.S)


def blocks(path, complete):
    """The code of a page with its output; complete programs begin with a docstring."""
    found = BLOCK.findall(TEXTS[path])
    return [(code, text) for code, text in found if code.startswith('"""') == complete]


SCRIPTS = [block for path in PAGES for block in blocks(path, complete=True)]


def run(code, names):
    """Runs a block, compares what stands behind arrows, and returns the value of the last line."""
    value = None
    for statement in ast.parse(code).body:
        if not isinstance(statement, ast.Expr):
            exec(ast.unparse(statement), names)
            continue
        value = eval(ast.unparse(statement), names)
        _, arrow, expected = code.splitlines()[statement.end_lineno - 1].partition("# → ")
        assert not arrow or repr(value) == expected, ast.unparse(statement)
    return value


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_code_gives_the_results_in_its_comments_and_prints_what_stands_under_it(
    path, capsys, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)  # where pictures are saved
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: pyplot.close("all"))
    names = {}
    for code, text in blocks(path, complete=False):
        if path == README:  # each block runs when pasted alone
            names = {}
        if re.match(r"\w+Error: ", text):  # the message is wrapped, and dots stand for a part of it
            with pytest.raises(Exception) as caught:  # noqa: PT011, of the type that the page says
                run(code, names)
            pattern = re.escape(" ".join(text.split())).replace(r"\.\.\.", ".*")
            assert re.fullmatch(pattern, f"{caught.typename}: {caught.value}")
            continue
        value = run(code, names)
        printed = capsys.readouterr().out.rstrip()
        assert not text or (printed or repr(value)) == text


@pytest.mark.parametrize(("code", "text"), SCRIPTS, ids=lambda part: part[3:30].partition(":")[0])
def test_a_program_is_complete_and_prints_what_stands_under_it(code, text, tmp_path):
    (tmp_path / "script.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-X", "utf8", "-W", "error", tmp_path / "script.py"]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path, env=env)
    assert ran.stderr.decode() == ""
    assert ran.stdout.decode("utf-8").replace("\r\n", "\n").rstrip() == text
    assert 10 <= len(code.splitlines()) <= 30


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_command_prints_what_stands_under_it(path, capsys):
    shown = COMMAND.findall(TEXTS[path])
    for command, text in shown:
        assert main(shlex.split(command)) == 0
        assert capsys.readouterr().out.rstrip() == text
    assert bool(shown) == (path.stem == "command-line")


ENGINE = (GUIDES / "engine.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| \[`([\w/.]+)`\].*? \| `([^`]+)` \| (?:([^|]*) \| )?([^|]*) \|$", re.M)
RUNGS = ROW.findall(ENGINE)


def test_the_ladder_has_every_file_of_the_engine_in_reading_order_and_its_length_to_ten_lines():
    listed = re.findall(r"\[`(\w+\.py)`\]\(\.\./\.\./(.*)\) \| (\d+) \| [^|]+ \|", ENGINE)
    for name, place, said in listed:
        length = len((ROOT / place).read_text("utf-8").splitlines())
        assert abs(length - int(said)) <= 10, (name, length)
    in_order = re.findall(r"^ *(\w+\.py) ", engine.__doc__, re.M)
    assert {*in_order} == {x.name for x in Path(engine.__path__[0]).glob("*.py")} - {"__init__.py"}
    assert [name for name, *_ in listed] == ["tiny.py", *in_order]
    told = [name for name, _, wrong, _ in RUNGS if wrong]
    without = {"interrupts.py", "scopes.py"}  # which change no result
    assert [x for x in ["tiny.py", *in_order] if x not in without] == told


def agrees(code, names, cell):
    """Whether a program gives what a cell of the table says: a result, or its type, or an error."""
    try:
        outcome = run(code, names | {"x": names["Value"](3.0)})
    except Exception as error:
        outcome = error
    outcome = getattr(outcome, "data", outcome)
    if cell == "–":
        return isinstance(outcome, NameError)
    said, colon, words = re.search(r"`([^`]+)`(?:(:) (.*))?", cell).groups()
    return said in (repr(outcome), type(outcome).__name__) and (not colon or words in str(outcome))


@pytest.mark.parametrize(("name", "code", "wrong", "right"), RUNGS, ids=[row[0] for row in RUNGS])
def test_a_rung_of_the_ladder_gives_what_the_guide_says(name, code, wrong, right):
    libraries = {"math": math, "np": numpy}
    (block, _), *_ = blocks(GUIDES / "engine.md", complete=False)
    run(block, by_tiny := libraries | vars(tiny))
    by_tiny["grad"] = by_tiny["grad_by_tiny"]
    assert agrees(code, by_tiny, wrong or "–")
    ours = [*autodiff.__all__, "nn", "optim"]
    assert agrees(code, libraries | {name: getattr(autodiff, name) for name in ours}, right)
    if wrong and name != "tiny.py":
        said = importlib.import_module(f"autodiff.engine.{name.removesuffix('.py')}").__doc__
        assert f"With `tiny.py`, `{code}` is" in " ".join(said.split())


def test_what_the_guide_to_the_engine_quotes_and_names_is_there():
    assert re.findall("```py\n(.*?)```", ENGINE, re.S) == [inspect.getsource(engine.ops.log)]
    names = re.findall(r"`((?:ops|number|levels|graph|value|Value)\.(?!py`)\w+)`", ENGINE)
    assert {"Value.backward", "graph.adjoints", "levels.new_level"} <= {*names}
    for name in names:
        attrgetter(name)(autodiff if name.startswith("Value") else engine)


CALL = re.compile(r"```text\n(\S.*)\n((?:  .*\n)+)```")


@pytest.mark.parametrize(("code", "lines"), CALL.findall(ENGINE), ids=lambda part: part[:13])
def test_a_call_goes_as_the_guide_draws_it(code, lines):
    calls, depth = [], 0

    def note(frame, event, _):
        nonlocal depth
        path, name = Path(frame.f_code.co_filename), frame.f_code.co_qualname
        if path.parent.name != "engine" or name.endswith("listcomp>"):  # since Python 3.12 no call
            return
        depth += (event == "call") - (event == "return")
        if event == "call":
            file = "" if name[0].isupper() else f"{path.stem}."
            calls.append("  " * depth + file + name.replace(".<locals>", ""))

    x = autodiff.Value(3.0)
    names = {"x": x, "y": x * 2.0, "ops": autodiff.ops}
    sys.setprofile(note)
    try:
        eval(code, names)
    finally:
        sys.setprofile(None)
    drawn = re.findall(r"^( +\S+)", lines, re.M)
    assert drawn == (calls[: len(drawn)] if "as above" in lines else calls)


def test_the_grids_in_the_guide_are_those_that_its_code_makes():
    names = {}
    for code, _ in blocks(GUIDES / "matrices.md", complete=False):
        exec(code, names)
    picture = autodiff.draw(names["loss"], arrays=True, color="grad").pipe("svg", encoding="utf-8")
    committed = (ROOT / "notebooks" / "network.svg").read_text(encoding="utf-8")
    texts = [re.findall(r"<text[^>]*>([^<]*)</text>", svg) for svg in (committed, picture)]
    assert texts[0] == texts[1]


def anchors(page):
    """The anchors of headings, as JupyterLab makes them, or as code hosts do."""
    notebook = page.suffix == ".ipynb"
    for heading in re.findall(r"^#+ (.*)$", prose(page) if notebook else TEXTS[page], re.M):
        anchor = heading.replace(" ", "-")
        yield anchor if notebook else re.sub(r"[^\w-]", "", anchor.lower())


@pytest.mark.parametrize("path", [*PAGES, *PATHS], ids=lambda path: path.stem)
def test_links_lead_somewhere(path):
    for link in re.findall(r"\]\((?!https://)(.*?)\)", TEXTS.get(path) or prose(path)):
        place, _, anchor = link.partition("#")
        target = (path.parent / place).resolve() if place else path
        assert target.exists() or (ROOT / ".github") in target.parents, link  # an archive has none
        assert not anchor or anchor in anchors(target), link


def test_the_readme_takes_half_a_minute_and_its_numbers_are_right():
    readme = TEXTS[README]
    assert len(readme.split()) <= 700
    limits = f"more than {drawing.READABLE} boxes, and `show_steps` more than {live.LARGEST}."
    assert f"- `draw` refuses {limits}" in readme
    listed = re.findall(r"^\| \[(\d\d)\]\(notebooks/\1_", readme, re.M)
    assert sorted(listed) == [path.stem[:2] for path in PATHS]
    assert ("eleven notebooks" in readme) == (len(PATHS) == 11)
    sizes = re.search(r"for a ([\d-]+) network", readme)[1]
    benchmark = (ROOT / "tests" / "benchmarks" / "test_lecture.py").read_text(encoding="utf-8")
    assert f"SIZES, RATE = ({sizes.replace('-', ', ')})" in benchmark


@pytest.mark.parametrize(("name", "made"), [("graph", live.page), ("network", network.page)])
def test_the_pages_beside_the_notebooks_are_those_of_the_package(name, made):
    """Made by `python -m autodiff --page notebooks/graph.html`, and `network.html`."""
    page = (ROOT / "notebooks" / f"{name}.html").read_text(encoding="utf-8")
    assert page == made()
