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


def imported(path, everywhere=False):
    """The files of the package that a file imports as it is run, or anywhere; not for types alone."""
    found, tree = set(), ast.parse(path.read_text(encoding="utf-8"))
    guarded = [node for node in tree.body if ast.unparse(node).startswith("if TYPE_CHECKING:")]
    types = [x for node in guarded for x in node.body]
    for node in ast.walk(tree) if everywhere else tree.body:
        if node not in types and isinstance(node, ast.ImportFrom) and node.level:
            base = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            places = [base.with_suffix(".py"), *(base / f"{each.name}.py" for each in node.names)]
            found |= {place for place in places if place.exists()}
    return found


FILES = {path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"}
ENGINE = {path for path in (PACKAGE / "engine").glob("*.py") if path.name != "__init__.py"}


def test_imports_point_one_way_in_the_engine_even_those_inside_functions():
    for files, everywhere in ((FILES, False), (ENGINE, True)):
        graph = {path: imported(path, everywhere) & files for path in files}
        TopologicalSorter(graph).prepare()  # an error if there is a circle


FLOORS = "engine", "compiler", "nn", "pictures", "pages"  # each imports those before it alone


def test_the_engine_stands_on_itself_and_what_is_built_on_it_on_no_machinery():
    for path in ENGINE:
        assert imported(path, everywhere=True) <= ENGINE, path
    for floor, folder in enumerate(FLOORS):
        for path in (PACKAGE / folder).rglob("*.py"):
            below = {each.relative_to(PACKAGE).parts[0] for each in imported(path, everywhere=True)}
            assert below <= {*FLOORS[: floor + 1], "optim.py"}, path
    assert {each.parent.name for each in imported(PACKAGE / "optim.py")} == {"engine"}


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
