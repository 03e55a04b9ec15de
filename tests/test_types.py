"""What type checkers say about a user's script, from outside the checkout."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Each line is checked; where a comment names a type, that is what the checkers must find.
SCRIPT = """\
import autodiff
from autodiff import Value, draw

autodiff.__version__  # str
x = Value(2.0, label="x")
x  # Value
x.label  # str
x.requires_grad  # bool
draw(x)  # Drawing
"""


def revealed(line):
    """The line, with its expression's type revealed if a comment says what it is."""
    expression, comment, _ = line.partition("  # ")
    return f"reveal_type({expression})" if comment and "=" not in expression else line


def installed():
    """Whether the checkers find the package by themselves: it is installed as the README says."""
    try:
        importlib.metadata.distribution("scalar-autodiff")
    except importlib.metadata.PackageNotFoundError:
        return False
    return "PYTHONPATH" not in os.environ


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_script_of_a_user(checker, tmp_path):
    path = tmp_path / "script.py"
    path.write_text("\n".join(map(revealed, SCRIPT.splitlines())), encoding="utf-8")
    environment = dict(os.environ)
    if not installed():
        environment["MYPYPATH"] = str(ROOT)
        paths = json.dumps({"extraPaths": [str(ROOT)]})
        (tmp_path / "pyrightconfig.json").write_text(paths, encoding="utf-8")
    options = {"mypy": ["--strict"], "pyright": ["--pythonpath", sys.executable]}[checker]
    output = subprocess.run(
        [sys.executable, "-m", checker, *options, path.name],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip
    assert "error" not in output.replace("0 errors", ""), output
    found = re.findall(r'(?:Revealed type is|Type of ".*" is) "(.*)"', output)
    expected = re.findall(r"  # (\w+)$", SCRIPT, re.M)
    assert [name.rpartition(".")[2] for name in found] == expected, output
