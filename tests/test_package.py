"""The package as a newcomer meets it."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import autodiff

ROOT = Path(__file__).parent.parent
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


def test_every_public_name_is_there_and_documented():
    assert autodiff.__all__ == sorted(autodiff.__all__)
    for name in [*autodiff.__all__, "abs", "sum"]:
        assert inspect.getdoc(getattr(autodiff, name)), name
    with pytest.raises(AttributeError, match="module 'autodiff' has no attribute 'nonsense'"):
        _ = autodiff.nonsense


@pytest.mark.parametrize("name", [*autodiff.__all__, "abs", "sum"])
def test_every_public_name_shows_an_example(name):
    assert ">>>" in inspect.getdoc(getattr(autodiff, name))


def test_star_import_hides_no_builtin():
    assert not set(autodiff.__all__) & set(dir(__builtins__))


def test_imports_point_one_way():
    order = [
        "functions", "ops", "operators", "graph", "value", "dual", "transforms", "numeric",
        "tracing", "linalg", "program", "arrays", "batching", "expression", "scopes", "optim", "boxes",
        "layout", "drawing", "viewer",
    ]  # fmt: skip
    assert {path.stem for path in (ROOT / "autodiff").glob("*.py")} == {*order, "__init__"}
    for i, name in enumerate(order):
        source = (ROOT / "autodiff" / f"{name}.py").read_text(encoding="utf-8")
        source = re.sub(r'""".*?"""', "", source, flags=re.S)
        imported = re.findall(r"^from \.(\w+) import", source, re.M)
        imported += re.findall(r"^from \. import (.+)$", source, re.M)
        for other in re.findall(r"\w+", " ".join(imported)):
            assert other in order[:i] or other in ("as", "f"), (name, other)


def test_the_code_of_the_readme_gives_the_results_in_its_comments():
    blocks = re.findall(r"```python\n(.*?)```", README, re.S)
    assert blocks
    names = {}
    for block in blocks:
        exec(block, names)
        for expression, expected in re.findall(r"^(\S.*?)\s+# (?:→|->) (.*)$", block, re.M):
            assert repr(eval(expression, names)) == expected, expression


def test_the_pictures_of_the_readme_are_those_that_its_code_makes(tmp_path):
    names = {}
    exec(re.search(r"```python\n(.*?)```", README, re.S).group(1), names)
    autodiff.animate(names["c"], tmp_path / "backward.svg")
    made = {
        "readme.svg": autodiff.draw(names["c"]).pipe("svg", encoding="utf-8"),
        "backward.svg": (tmp_path / "backward.svg").read_text(encoding="utf-8"),
    }
    for name, picture in made.items():
        committed = (ROOT / "notebooks" / name).read_text(encoding="utf-8")
        texts = [re.findall(r"<text[^>]*>([^<]*)</text>", svg) for svg in (committed, picture)]
        assert texts[0] == texts[1]
        assert f"(notebooks/{name})" in README


def test_the_trace_of_the_readme_is_the_one_that_its_code_makes():
    code, text = re.search(
        r"```python\n([^`]*trace.*?)```\n\n```text\n(.*?)\n```", README, re.S
    ).groups()
    names = {"sin": autodiff.sin}
    *lines, last = code.strip().splitlines()
    exec("\n".join(lines), names)
    assert repr(eval(last, names)) == text


def test_the_programs_of_the_readme_are_those_that_its_code_prints(capsys):
    names, printed = {}, 0
    for code, text in re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)\n```)?", README, re.S):
        exec(code, names)
        if "print(" in code:
            assert capsys.readouterr().out.rstrip() == text
            printed += 1
    assert printed == 2


def test_the_readme_names_every_notebook():
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        assert f"notebooks/{path.name}" in README


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
