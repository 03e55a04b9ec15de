"""The package as a newcomer meets it."""

import ast
import builtins
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import autodiff

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "autodiff"


def run(code):
    return subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT)


def test_import_needs_the_standard_library_alone():
    code = (
        "import sys; before = set(sys.modules); import autodiff\n"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    assert set(run(code).split()) - set(sys.stdlib_module_names) == {"autodiff"}


def test_the_names_of_the_package():
    public = {*autodiff.__all__, "abs", "nn", "optim", "sum", "tracing"}
    assert set(dir(autodiff)) == public  # also what is imported when used, and no Any
    assert all(hasattr(autodiff, name) for name in public)
    with pytest.raises(AttributeError, match="module 'autodiff' has no attribute 'nonsense'"):
        _ = autodiff.nonsense
    assert re.fullmatch(r"\d+\.\d+\.\d+", autodiff.__version__)
    assert (PACKAGE / "py.typed").exists()
    assert not {*autodiff.__all__} & {*dir(builtins)}  # which a star import would hide


@pytest.mark.parametrize("missing", ["numpy", "pygraphviz"])
def test_a_star_import_works_without_the_packages_of_pictures(missing):
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"  # an import of it fails
        "from autodiff import *\n"
        "x = Value(3.0)\n"
        "print(Expression(x * x).propagate({x: 2.0}))"
    )
    assert run(code) == "4.0\n"


FILES = {*PACKAGE.rglob("*.py")}


def file_of(place):
    """The file of a module or a package, if there is one."""
    files = place.with_suffix(".py"), place / "__init__.py"
    return next((file for file in files if file in FILES), None)


def imported(path):
    """The files of the package that a file imports: at its top, inside functions, for types."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = [ROOT, *path.parents][node.level].joinpath(*(node.module or "").split("."))
            files = [file_of(base / each.name) or file_of(base) for each in node.names]
            found |= {file for file in files if file}
    return found - {path}


def test_imports_point_one_way():
    TopologicalSorter({path: imported(path) for path in FILES}).prepare()  # no circle, or an error


ORDER = "engine, tiny < compiler, optim < nn, pictures < pages < __init__ < course, __main__"


def test_a_part_imports_itself_and_what_stands_below_it():
    part = {path: path.relative_to(PACKAGE).with_suffix("").parts[0] for path in FILES}
    below, allowed = [], {}
    for floor in ORDER.split(" < "):
        allowed |= {each: {*below, each} for each in floor.split(", ")}
        below += floor.split(", ")
    for path in FILES:
        assert {part[each] for each in imported(path)} <= allowed[part[path]], path


@pytest.mark.parametrize(
    "folder", ["", "engine", "compiler", "compiler/batch", "nn", "pictures", "pages"]
)
def test_a_folder_says_what_is_in_it(folder):
    said = ast.get_docstring(ast.parse((PACKAGE / folder / "__init__.py").read_text("utf-8")))
    for path in (PACKAGE / folder).glob("*.py"):
        assert path.name == "__init__.py" or re.search(rf"^ *{path.name} +\w", said, re.M), path


def test_the_top_level_holds_nothing_else():
    git = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    top = {line.partition("/")[0] for line in git.stdout.splitlines() if line[0] != "."}
    expected = {"LICENSE", "README.md", "autodiff", "notebooks", "pyproject.toml", "tests"}
    assert top in (expected, set())  # an unpacked archive has nothing to list
