"""Which tests a change can reach: `.venv/bin/python tests/affected.py [REVISION]`.

The change is what differs from the revision (by default HEAD), with new files. A file reaches those
that import it, wherever in them the import stands, and those that name it. A name that a package
hands out, such as `draw`, leads to the file that defines it; a guide and a notebook lead to what
their code uses. First come the tests next to the change, then all that it can reach.
"""

import ast
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
PYTEST = ".venv/bin/python -m pytest -n auto"
NOTEBOOKS, PAGES = "tests/course/test_notebooks.py", "tests/project/test_readme.py"  # run them


def git(*command):
    said = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True)
    return {*said.stdout.splitlines()}


def changed(revision="HEAD"):
    differing = git("diff", "--name-only", "--no-renames", revision)
    return differing | git("ls-files", "--others", "--exclude-standard")


FILES = git("ls-files") | changed()  # also those that are deleted
TEXTS = {x: (ROOT / x).read_text("utf-8", "ignore") if (ROOT / x).is_file() else "" for x in FILES}


@cache
def parsed(source):
    try:
        return ast.parse(source)
    except SyntaxError:  # a text that is no code
        return ast.Module([], [])


def code(file):
    """What runs in a file: of an `__init__.py`, what is in its functions."""
    text = TEXTS[file]
    if file.endswith("__init__.py"):
        return ast.Module([x for x in parsed(text).body if isinstance(x, ast.FunctionDef)], [])
    if file.endswith(".md"):
        text = "\n".join(re.findall(r"(?s)```python\n(.*?)```", text))
    elif file.endswith(".ipynb"):
        cells = json.loads(text or '{"cells": []}')["cells"]
        lines = ["".join(x["source"]) for x in cells if x["cell_type"] == "code"]
        lines.append(f"import autodiff.course.{PurePosixPath(file).stem[3:]}")
        text = re.sub("(?m)^%.*", "", "\n".join(lines))
    return parsed(text if file.endswith((".py", ".md", ".ipynb")) else "")


def module(name, file, level=0):
    """The file of a module or package, as code in another file imports it."""
    above = PurePosixPath(file).parents
    folders = [above[level - 1]] if level else [above[0], "tests/support", ""]
    places = [PurePosixPath(folder, *name.split(".")) for folder in folders]
    files = [x for place in places for x in (f"{place}.py", f"{place}/__init__.py")]
    return next((x for x in files if x in FILES), None)


@cache
def handed_out(package):
    """The names that a package imports for others, and the file that each is from."""
    nodes = [x for x in ast.walk(parsed(TEXTS[package])) if isinstance(x, ast.ImportFrom)]
    sources = [(module(x.module or "", package, x.level), x.names) for x in nodes]
    return {name.asname or name.name: source for source, names in sources for name in names}


@cache
def named(words):
    """The files that a text may name: a file, all in `a/folder/`, or what `a.dotted.name` is in."""
    path = words.replace(".", "/") if re.fullmatch(r"[\w.]+", words) else words
    modules = {x: re.sub(r"(/__init__)?\.py$", "/", x) for x in FILES}
    inside = {x for x in FILES if path.endswith("/") and f"/{path}" in f"/{x}"}
    return {
        x for x in FILES if f"/{x}".endswith(f"/{words}") or path.startswith(modules[x])
    } | inside


def uses(file, tree):
    """The files that some code needs; `file` is where it stands."""
    nodes = [*ast.walk(tree)]
    guards = [x for x in nodes if isinstance(x, ast.If) and "TYPE_CHECKING" in ast.unparse(x.test)]
    types = {x for guard in guards for x in guard.body}
    words = {getattr(x, "attr", getattr(x, "id", None)) for x in nodes}
    found, imported = set(), []  # files, and pairs: a file, and which of its names may be used
    for node in nodes:
        if isinstance(node, ast.Import):
            imported += [(module(x.name, file), words) for x in node.names]
        elif isinstance(node, ast.ImportFrom) and node not in types:
            names = {"__all__" if x.name == "*" else x.name for x in node.names}
            imported.append((module(node.module or "", file, node.level), names))
        elif isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant):
            found |= named(f"{node.right.value}/")  # a path: folder / "name"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if "import" in node.value and "autodiff" in node.value:
                found |= uses(file, parsed(node.value))
            elif re.fullmatch(r"[\w-]*\.[\w./-]*\w*", node.value):
                found |= named(node.value)
    for source, names in imported:  # which grows
        found.add(source)
        if source and source.endswith("__init__.py"):
            known = handed_out(source)
            names = known.keys() if "__all__" in names else names - {None}
            inner = {module(x, source, 1) or known.get(x) or known.get("*") for x in names}
            imported += [(x, words) for x in inner - found]
    if "resources.files" in TEXTS[file]:
        found |= {x for x in FILES if x.startswith("autodiff/") and not x.endswith(".py")}
    above = [f"{folder}/conftest.py" for folder in PurePosixPath(file).parents]
    above += [
        f"{folder}/__init__.py" for x in found - {None} for folder in PurePosixPath(x).parents
    ]
    return {*found, *above, "pyproject.toml"} & FILES - {file}


@cache
def all_uses():
    """What each file uses; the examples in docstrings are a file of their own, `./a/file.py`."""
    used = {file: uses(file, code(file)) for file in FILES}
    for file in FILES:
        if examples := re.findall(r"(?m)^ *(?:>>>|\.\.\.) ?(.*)", TEXTS[file]):
            used[f"./{file}"] = {file} | uses(file, parsed("\n".join(examples)))
    return used


def reached(changes):
    """The files of tests that a change can reach, the nearest first, with their distances."""
    far, queue = dict.fromkeys(changes, 0), [*changes]
    for each in queue:
        users = {user for user, used in all_uses().items() if each in used} - far.keys()
        far |= dict.fromkeys(users, far[each] + 1)
        queue += users
    tests = re.compile(r"tests/(.*/)?test_\w+\.py|\./(autodiff|tests/support)/.*\.py|.*\.ipynb")
    return {x: far[x] for x in sorted(far, key=lambda x: (far[x], x)) if tests.fullmatch(x)}


def next_to(file, found):
    """Its own examples and tests: those of its name, or else the nearest ones of its room."""
    path, pages = PurePosixPath(file), [PAGES] if file.endswith(".md") else []
    room = [x for x in found if x.startswith("tests/") and x.split("/")[1] in path.parts]
    alike = [x for x in room or found if PurePosixPath(x).stem == f"test_{path.stem.strip('_')}"]
    nearest = [x for x in room if found[x] == found[room[0]]]
    return {file, f"./{file}", *pages, *(alike or nearest)} & found.keys()


def commands(found):
    """What runs these tests, and of the notebooks those that are among them."""
    files = [x.removeprefix("./") for x in found if x.endswith(".py") and x != NOTEBOOKS]
    books = sorted(PurePosixPath(x).name[:2] for x in found if x.endswith(".ipynb"))
    chosen = f" -k 'not graded or {' or '.join(books)}'" if books else ""
    yield from [f"{PYTEST} {' '.join(files)}"] if files else []
    yield from [f"{PYTEST} {NOTEBOOKS}{chosen}"] if books or NOTEBOOKS in found else []


if __name__ == "__main__":
    found = reached(changes := changed(*sys.argv[1:]))
    near = set().union(*[next_to(file, reached({file})) for file in changes])
    print("# next to the change", *commands([x for x in found if x in near]), sep="\n")
    print("# all that it can reach", *commands(found), sep="\n")
