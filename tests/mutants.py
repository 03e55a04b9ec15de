"""Does a test fail for every change of the engine? Change it, a bit at a time, and see.

    python tests/mutants.py autodiff/ops.py autodiff/graph.py --sample 100 --seed 1

changes each operator, comparison, constant, condition and statement of the files (default: the
engine and the compiler) in turn, runs the tests in a process of its own until one fails, and
prints the changes that no test noticed: the survivors. `--sample` takes that many at random,
`--jobs` runs as many at a time, `--list` only prints the changes.
"""

import argparse
import ast
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import io
import itertools
import os
import random
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
ENGINE = ["ops", "graph", "value", "dual", "transforms", "number", "functions"]

# The tests that most often notice a change in a file, the quickest first; then others follow.
FIRST = {
    "ops": ["ops", "special_points"],
    "graph": ["graph", "value", "peers", "transforms"],
    "value": ["value", "number", "peers", "transforms"],
    "dual": ["dual", "transforms", "value"],
    "transforms": ["transforms", "numeric", "bad_input"],
    "number": ["number", "value", "functions", "linalg", "bad_input"],
    "functions": ["functions", "ops", "value", "special_points", "bad_input"],
    "compiler": ["expression", "vectorize", "special_points", "recording"],
}
ELSEWHERE = {
    "notebooks",
    "accuracy",
    "types",
    "drawing",
    "viewer",
    "package",
}  # slow, of other things
SLOW = "million or hundred_thousand or jax or torch or pickled"  # left out: nothing else is in them
SECONDS = 240  # a change that makes the tests run this long was noticed


class Change(NamedTuple):
    """A replacement in the text of a file, from one offset to another."""

    path: Path
    line: int
    start: int
    end: int
    text: str

    def of(self, source):
        return source[: self.start] + self.text + source[self.end :]

    def described(self, source):
        was = " ".join(source[self.start : self.end].split())
        return f"{self.path.relative_to(ROOT)}:{self.line}: {was[:60]!r} -> {self.text[:60]!r}"


# -- Changes --------------------------------------------------------------------------------------

BINARY = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.Pow: "*", ast.MatMult: "*",
          ast.Mod: "*", ast.FloorDiv: "*", ast.BitOr: "&", ast.BitAnd: "|"}  # fmt: skip
COMPARISONS = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=",
               ast.NotEq: "==", ast.Is: "is not", ast.IsNot: "is", ast.In: "not in",
               ast.NotIn: "in"}  # fmt: skip
SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Delete, ast.Raise, ast.Continue, ast.Break)


def changes(path):
    """All changes of a file."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    starts = list(itertools.accumulate(map(len, source.splitlines(keepends=True)), initial=0))
    ascii_only = [len(line.encode()) == len(line) for line in source.splitlines()]

    def offset(line, column):  # columns count bytes
        if ascii_only[line - 1]:
            return starts[line - 1] + column
        text = source[starts[line - 1] : starts[line]]
        return starts[line - 1] + len(text.encode()[:column].decode())

    def span(node):
        return offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)

    def between(left, right, text):
        """A change of the operator between two operands, brackets and spaces kept."""
        start, end = span(left)[1], span(right)[0]
        words = source[start:end]
        inner = words.strip(" ()\n\\")
        start += words.index(inner)
        return Change(path, left.end_lineno, start, start + len(inner), text)

    for node in relevant(tree):
        if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
            yield between(node.left, node.right, BINARY[type(node.op)])
        elif isinstance(node, ast.Compare):
            for left, op, right in zip(
                [node.left, *node.comparators], node.ops, node.comparators, strict=False
            ):
                yield between(left, right, COMPARISONS[type(op)])
        elif isinstance(node, ast.BoolOp):
            other = "or" if isinstance(node.op, ast.And) else "and"
            for left, right in itertools.pairwise(node.values):
                yield between(left, right, other)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
            start, end = span(node)
            yield Change(path, node.lineno, start, span(node.operand)[0], " ")
        elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
            value = not node.value if isinstance(node.value, bool) else node.value + 1
            yield Change(path, node.lineno, *span(node), repr(value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value:
            yield Change(path, node.lineno, *span(node), repr("other " + node.value))
        if isinstance(node, (ast.If, ast.IfExp, ast.While)):
            start, end = span(node.test)
            yield Change(path, node.lineno, start, end, f"(not ({source[start:end]}))")
        if isinstance(node, SIMPLE):
            yield Change(path, node.lineno, *span(node), "pass")
        if isinstance(node, ast.Return) and node.value:
            yield Change(path, node.lineno, *span(node), "return None")


def relevant(tree):
    """The nodes whose change is one of what the program does: no annotations, texts, stubs."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.JoinedStr, ast.AnnAssign)):
            if isinstance(node, ast.AnnAssign) and node.value:
                stack.append(node.value)
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # a docstring, or the ... of a stub
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Assign) and "__slots__" in ast.dump(node.targets[0]):
            continue
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in MESSAGES:
            continue
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            if any("overload" in ast.dump(d) for d in getattr(node, "decorator_list", [])):
                continue
            defaults = [d for d in [*node.args.defaults, *node.args.kw_defaults] if d]
            body = node.body if isinstance(node.body, list) else [node.body]
            stack += [*body, *defaults, *getattr(node, "decorator_list", [])][::-1]
            continue
        if isinstance(node, ast.ClassDef) and any("Protocol" in ast.dump(b) for b in node.bases):
            continue
        yield node
        stack += list(ast.iter_child_nodes(node))[::-1]


MESSAGES = {"message", "TypeVar", "cast"}  # calls whose arguments are texts, or types


# -- Running --------------------------------------------------------------------------------------


class Changed(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Imports one module from a changed text, all others as usual."""

    def __init__(self, name, path, source):
        super().__init__(name, str(path))
        self.source = source

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        return importlib.machinery.ModuleSpec(name, self, origin=self.path)

    def get_code(self, fullname):
        return compile(self.source, self.path, "exec", dont_inherit=True)

    def exec_module(self, module):
        module.__file__ = self.path
        super().exec_module(module)


def module_name(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def noticed(change, source):
    """Whether a test fails, in this process."""
    import pytest

    try:
        text = change.of(source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, str(change.path), "exec")
    except SyntaxError:
        return True
    sys.meta_path.insert(0, Changed(module_name(change.path), change.path, text))
    key = "compiler" if change.path.parent.name == "compiler" else change.path.stem
    others = sorted(path.stem.removeprefix("test_") for path in (ROOT / "tests").glob("test_*.py"))
    names = dict.fromkeys([*FIRST[key], *[name for name in others if name not in ELSEWHERE]])
    files = [str(ROOT / "tests" / f"test_{name}.py") for name in names]
    quiet = ["-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    options = ["-x", "-q", *quiet, "-k", f"not ({SLOW})"]
    for group in (files[:1], [str(change.path), *files[1:5]], files[5:]):
        sink = io.StringIO()
        with contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink):
            if pytest.main([*options, *group]) not in (0, 5):
                return True
    return False


def in_a_process(change, source):
    """Start the tests of a change in a process of its own, which exits with 1 if it was noticed."""
    process = os.fork()
    if process:
        return process
    result = 1
    try:
        os.setsid()
        signal.alarm(SECONDS)  # ends the process, and so counts as noticed
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        result = int(noticed(change, source))
    except BaseException:
        result = 1
    finally:
        os._exit(result)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    compiler = sorted((ROOT / "autodiff" / "compiler").glob("[!_]*.py"))
    files = [path.resolve() for path in options.files]
    files = files or [*(ROOT / "autodiff" / f"{name}.py" for name in ENGINE), *compiler]
    sources = {path: path.read_text(encoding="utf-8") for path in files}
    every = [change for path in files for change in changes(path)]
    chosen = every
    if options.sample and options.sample < len(every):
        chosen = random.Random(options.seed).sample(every, options.sample)
    if options.list:
        print(*[change.described(sources[change.path]) for change in chosen], sep="\n")
        return
    prepare()
    nothing = Change(files[0], 1, 0, 0, "")
    in_a_process(nothing, sources[files[0]])
    if os.wait()[1] != 0:
        sys.exit("the tests fail without a change: first make them pass")
    start, running, survivors, done = time.monotonic(), {}, [], 0
    left = iter(chosen)
    while True:
        for change in itertools.islice(left, options.jobs - len(running)):
            running[in_a_process(change, sources[change.path])] = change
        if not running:
            break
        process, status = os.wait()
        change = running.pop(process)
        done += 1
        if status == 0:
            survivors.append(change)
            print("survived", change.described(sources[change.path]), flush=True)
        if done % 50 == 0:
            print(f"{done} of {len(chosen)}, {time.monotonic() - start:.0f} s", flush=True)
    killed = len(chosen) - len(survivors)
    print(f"{killed} of {len(chosen)} changes noticed, {100 * killed / max(1, len(chosen)):.1f} %")


def prepare():
    """Import what all tests need but what is tested, once for all processes."""
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    os.chdir(ROOT)
    os.environ["TEST_SHARE"] = "0.2"
    for name in ("autograd.numpy", "autograd.scipy.special", "hypothesis.strategies", "mpmath"):
        importlib.import_module(name)
    importlib.import_module("pytest")
    assert not any(name.startswith("autodiff") for name in sys.modules)


if __name__ == "__main__":
    main()
