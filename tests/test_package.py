"""The package as a newcomer meets it."""

import ast
import inspect
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import autodiff
from autodiff.__main__ import main

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "autodiff"
README = (ROOT / "README.md").read_text(encoding="utf-8")


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout


def test_import_needs_the_standard_library_alone():
    code = (
        "import sys; before = set(sys.modules); import autodiff\n"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    assert set(run(code).split()) - set(sys.stdlib_module_names) == {"autodiff"}


READING = ["ops", "number", "graph", "value", "dual", "linalg", "transforms"]


def named_imports(path):
    """The modules of this package that a file imports anywhere, by their names inside it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            yield from [node.module] if node.module else [alias.name for alias in node.names]


def test_each_file_of_the_engine_needs_only_those_that_are_read_before_it():
    listed = re.findall(r"^    (\w+)\.py ", autodiff.__doc__, re.MULTILINE)
    assert listed[: len(READING) + 2] == [*READING, "functions", "errors"]
    for i, name in enumerate(READING):
        allowed = {*READING[:i], "functions", "errors", "pictures.tables"}
        assert set(named_imports(PACKAGE / f"{name}.py")) <= allowed, name
    assert set(named_imports(PACKAGE / "functions.py")) <= {
        "errors",
        "number",
    }  # number for its types


def test_the_names_of_the_package():
    public = {*autodiff.__all__, "abs", "nn", "optim", "sum", "tracing"}
    assert set(dir(autodiff)) == public  # also what is imported when used, and no Any
    assert all(hasattr(autodiff, name) for name in public)
    with pytest.raises(AttributeError, match="module 'autodiff' has no attribute 'nonsense'"):
        _ = autodiff.nonsense
    assert re.fullmatch(r"\d+\.\d+\.\d+", autodiff.__version__)
    assert (PACKAGE / "py.typed").exists()


def test_star_import_hides_no_builtin():
    assert not set(autodiff.__all__) & set(dir(__builtins__))


@pytest.mark.parametrize("missing", ["graphviz", "numpy", "pygraphviz"])
def test_a_star_import_works_without_the_packages_of_pictures(missing):
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"  # an import of it fails
        "from autodiff import *\n"
        "x = Value(3.0)\n"
        "print(Expression(x * x).propagate({x: 2.0}))\n"
        f"for picture in (draw, show_steps) if {missing!r} == 'graphviz' else ():\n"
        "    try:\n"
        "        picture(x)\n"
        "    except ModuleNotFoundError as error:\n"
        "        print(error)"
    )
    remedy = "needs the package graphviz; install it: pip install graphviz"
    said = [f"{name} {remedy}" for name in ("draw", "show_steps")]
    assert run(code).splitlines() == ["4.0", *(said if missing == "graphviz" else [])]


def imported(path):
    """The files of the package that a file imports when it is imported itself."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            places = [base.with_suffix(".py"), *(base / f"{each.name}.py" for each in node.names)]
            found |= {place for place in places if place.exists()}
    return found


def test_imports_point_one_way():
    files = {path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"}
    rest = {path: imported(path) & files for path in files}
    while rest:
        free = {path for path, needs in rest.items() if not needs & rest.keys()}
        assert free, f"a circle of imports among {sorted(map(str, rest))}"
        for path in free:
            del rest[path]


def test_the_engine_stands_on_no_machinery():
    engine = ["ops", "functions", "number", "value", "graph", "dual", "transforms", "numeric"]
    for name in [*engine, "linalg", "optim", "scopes"]:
        for path in imported(PACKAGE / f"{name}.py"):
            assert path.parent == PACKAGE, (name, path)
    for path in (PACKAGE / "compiler").glob("*.py"):
        assert {each.parent.name for each in imported(path)} <= {"autodiff", "compiler"}, path
    for path in (PACKAGE / "nn").glob("*.py"):
        assert "pictures" not in {each.parent.name for each in imported(path)}, path


@pytest.mark.parametrize("folder", ["", "compiler", "nn", "pictures"])
def test_a_folder_says_what_is_in_it(folder):
    said = ast.get_docstring(ast.parse((PACKAGE / folder / "__init__.py").read_text("utf-8")))
    for path in (PACKAGE / folder).glob("*.py"):
        assert path.name == "__init__.py" or re.search(rf"^ *{path.name} +\w", said, re.M), path


# -- The README ---------------------------------------------------------------------------------

BLOCKS = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)\n```)?", README, re.S)
SCRIPTS = [(code, text) for code, text in BLOCKS if code.startswith('"""')]  # complete ones
EXAMPLES = [(code, text) for code, text in BLOCKS if not code.startswith('"""')]


def test_the_code_of_the_readme_gives_the_results_in_its_comments():
    names = {}
    for code, _ in EXAMPLES:
        exec(code, names)
        for expression, expected in re.findall(r"^(\S.*?)\s+# (?:→|->) (.*)$", code, re.M):
            assert repr(eval(expression, names)) == expected, expression


def test_the_output_of_the_readme_is_what_its_code_prints(capsys):
    names, shown = {}, 0
    for code, text in EXAMPLES:
        exec(code, names)
        printed = capsys.readouterr().out.rstrip()
        if text:
            last = code.strip().splitlines()[-1]
            assert (printed or repr(eval(last, names))) == text
            shown += 1
    assert shown == 3


@pytest.mark.parametrize(("code", "text"), SCRIPTS, ids=lambda part: part[3:30].partition(":")[0])
def test_a_script_of_the_readme_is_complete_and_prints_what_stands_under_it(code, text, tmp_path):
    (tmp_path / "script.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-X", "utf8", "-W", "error", tmp_path / "script.py"]
    paths = {"PYTHONPATH": str(ROOT)}
    found = subprocess.run(
        command, capture_output=True, check=False, cwd=tmp_path, env=os.environ | paths
    )
    assert found.stderr.decode() == ""
    assert found.stdout.decode("utf-8").replace("\r\n", "\n").rstrip() == text
    assert 10 <= len(code.splitlines()) <= 30


def test_the_readme_has_five_scripts():
    assert len(SCRIPTS) == 5


def test_the_rule_of_the_readme_is_that_of_the_package_without_its_types():
    code = re.search(r"```python\n(def mul.*?)```", README, re.S).group(1)
    here, there = (ast.parse(text).body[0] for text in (code, inspect.getsource(autodiff.ops.mul)))
    assert list(map(ast.dump, here.body)) == list(map(ast.dump, there.body))


def test_the_command_line_of_the_readme_prints_what_stands_under_it(capsys):
    command, text = re.search(
        r"```sh\n\.venv/bin/autodiff (.*?)\n```\n\n```text\n(.*?)\n```", README, re.S
    ).groups()
    assert main(shlex.split(command)) == 0
    assert capsys.readouterr().out.rstrip() == text


def test_the_lengths_of_files_in_the_readme_are_right_to_ten_lines():
    listed = re.findall(r"\[`(\w+\.py)`\]\(autodiff/\1\) \| (\d+) \|", README)
    for name, lines in listed:
        assert abs(len((PACKAGE / name).read_text("utf-8").splitlines()) - int(lines)) <= 10, name
    engine = re.search(r"The engine, .*?\n\n(.*?)\n\n", autodiff.__doc__, re.S).group(1)
    assert [name for name, _ in listed] == re.findall(r"^ *(\w+\.py)", engine, re.M)
    said = re.search(r"The first five .*? in about\s([\d,]+) lines", README, re.S).group(1)
    assert abs(sum(int(lines) for _, lines in listed[:5]) - int(said.replace(",", ""))) <= 50


def test_the_pictures_of_the_readme_are_those_that_its_code_makes(tmp_path):
    names = {}
    exec(EXAMPLES[0][0], names)
    for code, _ in EXAMPLES[1:]:
        exec(code, names)
    made = {
        "readme.svg": autodiff.draw(names["c"]).pipe("svg", encoding="utf-8"),
        "network.svg": eval(EXAMPLES[-1][0], names).pipe("svg", encoding="utf-8"),
    }
    for name, picture in made.items():
        committed = (ROOT / "notebooks" / name).read_text(encoding="utf-8")
        texts = [re.findall(r"<text[^>]*>([^<]*)</text>", svg) for svg in (committed, picture)]
        assert texts[0] == texts[1]
        assert f"(notebooks/{name})" in README


def test_links_of_the_readme_lead_somewhere():
    headings = re.findall(r"^#+ (.*)$", README, re.M)
    anchors = {re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-")) for heading in headings}
    for place in re.findall(r"\]\((.*?)\)", README):
        if place.startswith("#"):
            assert place[1:] in anchors, place
        else:
            assert (ROOT / place).exists() or place.startswith(".github"), place


def test_the_readme_names_every_notebook_and_its_question():
    start = json.loads((ROOT / "notebooks" / "00_start_here.ipynb").read_text(encoding="utf-8"))
    contents = " ".join("".join(start["cells"][0]["source"]).split())
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        (question,) = re.findall(
            rf"^\| \[\d\d\]\(notebooks/{path.name}\) \| (.*) \|$", README, re.M
        )
        if not path.name.startswith("00"):
            assert f"({path.name}): {question[0].lower()}{question[1:]}" in contents
    assert re.search(r"Reading one takes (.*?) minutes", contents)[1] in README


def test_the_top_level_holds_nothing_else():
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout
    if tracked:  # not in an unpacked archive
        top = {line.partition("/")[0] for line in tracked.splitlines()}
        expected = {"LICENSE", "README.md", "autodiff", "notebooks", "pyproject.toml", "tests"}
        assert {name for name in top if not name.startswith(".")} == expected


def test_commands_of_the_readme_are_one_line_each():
    commands = re.findall(r"```sh\n(.*?)```", README, re.S)
    assert [len(command.strip().splitlines()) for command in commands[:2]] == [1, 1]
    assert "jupyter lab" in commands[0]
    assert "pytest" in commands[1]
