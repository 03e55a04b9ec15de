"""Does a test fail for every change of the engine? Change it, a bit at a time, and see.

    python tests/mutants.py autodiff/ops.py autodiff/graph.py --sample 100 --seed 1

changes each operator, comparison, constant, condition and statement of the files (default: the
engine and the compiler) in turn and prints the changes that no test notices: the survivors.
`--sample` takes that many at random, `--jobs` runs as many at a time, `--list` only prints them.
A file may be followed by lines: `autodiff/ops.py:52,60`.

All tests run once, to see which functions each of them calls and how long it takes (this is kept
in .pytest_cache: delete it to see again). Then each change is made in a process of its own, a fork
of this one: the tests that call the changed function run there, the quickest first, until one
fails. `mutants.txt` lists changes that survive because nobody could tell the difference, and why.
"""

import argparse
import ast
import contextlib
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import itertools
import json
import os
import random
import resource
import signal
import sys
import threading
import time
import traceback
import types
import warnings
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
ENGINE = ["ops", "graph", "value", "dual", "transforms", "number", "functions"]
ELSEWHERE = ["notebooks", "course", "lessons", "contents", "reference", "types"]
ELSEWHERE += [
    "jupyterlab",
    "live",
    "learning",
    "gallery",
    "drawing",
    "package",
]  # slow, or irrelevant
THREADS = "jax or numba or torch"  # they do not survive a fork
OPTIONS = [
    "-s",
    "-p",
    "no:cacheprovider",
    "-k",
    "not pickled",
    "-m",
    f"not ({THREADS} or thorough)",
]
OPTIONS += [f"--ignore-glob={ROOT}/tests/test_{name}.py" for name in ELSEWHERE]
OPTIONS += [f"--ignore={ROOT}/autodiff/{name}" for name in ("pictures", "nn")]
EVERYWHERE = [str(ROOT / "autodiff"), str(ROOT / "tests")]
QUICK = bool(os.environ.get("QUICK"))  # two changes and few tests: whether this works
if QUICK:
    EVERYWHERE = [str(ROOT / "tests" / "test_functions.py")]
RECORD = ROOT / ".pytest_cache" / "mutants.json"  # the tests' seconds and calls
PACKAGE = str(ROOT / "autodiff")
SECONDS = 240  # of processor time: a change that makes the tests run longer is noticed


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
        """The line and what is changed in it: `x < y : '<' -> '<='`."""
        was = " ".join(source[self.start : self.end].split())
        line = source.splitlines()[self.line - 1].strip()
        return f"{line} : {was[:60]!r} -> {self.text[:60]!r}"

    def place(self):
        return f"{self.path.relative_to(ROOT)}:{self.line}"


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
    """The nodes that change what the program does: not annotations, texts or stubs."""
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


def reasons():
    """Why known survivors cannot be noticed, by file and change."""
    found, path, reason = {}, "", ""
    for line in (ROOT / "tests" / "mutants.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif line.startswith("autodiff/"):
            path = line
        elif line:
            found[path, line.strip()] = reason
    return found


# -- Code: what a change makes of the functions that there are ------------------------------------


def code_pairs(path, source, changed):
    """The code of each function of a file before and after a change, of the whole file first."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = [[compile(text, str(path), "exec") for text in (source, changed)]]
    for old, new in pairs:
        inner = [[c for c in code.co_consts if is_code(c)] for code in (old, new)]
        if [c.co_name for c in inner[0]] == [c.co_name for c in inner[1]]:
            pairs += zip(*inner)
    return pairs


def is_code(x):
    return type(x) is types.CodeType


def place_of(code):
    """What identifies the code of a function within its file."""
    return code.co_qualname, tuple(code.co_positions())


def name_of(code):
    return f"{code.co_filename.removeprefix(PACKAGE)} {code.co_qualname}"


def own(code):
    """The code of a function without the functions in it."""
    constants = [repr(c) for c in code.co_consts if not is_code(c)]
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars


def replaced(pairs):
    """Give all existing functions their new code."""
    new = {place_of(old): new for old, new in pairs}
    path = pairs[0][0].co_filename
    for x in gc.get_objects():
        if type(x) is types.FunctionType and x.__code__.co_filename == path:
            x.__code__ = new.get(place_of(x.__code__), x.__code__)


class Changed(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Imports one module from a changed text, all others as usual."""

    def __init__(self, path, source):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        super().__init__(name.removesuffix(".__init__"), str(path))
        self.source = source

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(name, self.path, loader=self)

    def get_code(self, fullname):
        return compile(self.source, self.path, "exec", dont_inherit=True)

    def exec_module(self, module):
        module.__file__ = self.path
        super().exec_module(module)


# -- Running --------------------------------------------------------------------------------------


class Tests:
    """The tests: how long each takes, and which functions it calls. Runs them for each change."""

    def __init__(self, chosen, jobs):
        self.chosen, self.jobs = chosen, jobs
        self.seconds = {}  # of a test, by its name
        self.callers = defaultdict(list)  # the tests that call a function
        self.failed = False
        self.survivors = []

    # What pytest calls.

    def pytest_runtest_logreport(self, report):
        self.failed = self.failed or report.failed
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration

    def pytest_runtestloop(self, session):
        if session.testsfailed:
            raise SystemExit("the tests cannot be collected without a change")
        known = json.loads(RECORD.read_text()) if RECORD.exists() else {}
        for item in session.items:
            if item.nodeid not in known:
                known[item.nodeid] = self.seconds_and_calls(item)
            self.seconds[item.nodeid], calls = known[item.nodeid]
            for name in calls:
                self.callers[name].append(item)
        RECORD.parent.mkdir(exist_ok=True)
        RECORD.write_text(json.dumps(known))
        self.try_all()
        return True

    def run(self, items):
        """Whether a test fails; those that follow it do not run."""
        for item, following in zip(items, [*items[1:], None]):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return item.nodeid
        return None

    def seconds_and_calls(self, item):
        """How long a test takes, and the names of the functions that it calls."""
        seen = set()

        def trace(frame, event, argument, add=seen.add):
            add(frame.f_code)

        sys.settrace(trace)
        threading.settrace(trace)
        try:
            self.run([item])
        finally:
            sys.settrace(None)
            threading.settrace(None)
        if self.failed:  # some count objects, or bytes
            self.failed = False
            if self.run([item]):
                raise SystemExit(f"fails without a change: {item.nodeid}")
        calls = [name_of(code) for code in seen if code.co_filename.startswith(PACKAGE)]
        return self.seconds[item.nodeid], sorted(set(calls))

    def try_all(self):
        start, running, known, done = time.monotonic(), {}, reasons(), 0
        left = iter(self.chosen)
        while True:
            for change in itertools.islice(left, self.jobs - len(running)):
                running[self.in_a_process(change)] = change, time.monotonic()
            if not running:
                break
            process, status = os.waitpid(-1, os.WNOHANG)
            if not process:
                time.sleep(0.01)
                for pid, (_, began) in running.items():
                    if time.monotonic() - began > 10 * SECONDS:  # it waits for something
                        os.killpg(pid, signal.SIGKILL)
                continue
            change, _ = running.pop(process)
            done += 1
            if status == 2 << 8:
                raise SystemExit(f"{change.place()}: the tests did not run")
            if status == 0:
                source = change.path.read_text(encoding="utf-8")
                description = change.described(source)
                reason = known.get((str(change.path.relative_to(ROOT)), description))
                self.survivors.append((change, reason))
                print(change.place(), description, f"[{reason}]" if reason else "", flush=True)
            if done % 10 == 0:
                print(f"{done} of {len(self.chosen)}, {time.monotonic() - start:.0f} s", flush=True)

    def in_a_process(self, change):
        """Start the tests of a change in a process of its own, which exits with 1 if one fails."""
        process = os.fork()
        if process:
            return process
        result = 2
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))  # ends the process
            null, errors = os.open(os.devnull, os.O_RDWR), os.dup(2)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            result = int(self.noticed(change))
        except BaseException:
            os.write(errors, traceback.format_exc().encode())
        finally:
            os._exit(result)

    def noticed(self, change):
        """Whether a test fails, in this process."""
        source = change.path.read_text(encoding="utf-8")
        changed = change.of(source)
        try:
            pairs = code_pairs(change.path, source, changed)
        except SyntaxError:
            return True
        differ = [old for old, new in pairs if own(old) != own(new)]
        found = [item for old in differ for item in self.callers[name_of(old)]]
        if found and all(self.may_be_replaced(old, new) for old, new in pairs):
            replaced(pairs)
            items = sorted(dict.fromkeys(found), key=lambda item: self.seconds[item.nodeid])
            return self.run(items) is not None
        return self.noticed_when_imported(change, changed)

    def may_be_replaced(self, old, new):
        function = old.co_flags & 1  # CO_OPTIMIZED: not a module, nor the body of a class
        return (old.co_freevars == new.co_freevars) if function else own(old) == own(new)

    def noticed_when_imported(self, change, changed):
        """Whether a test fails when everything is imported again; those of the same name first."""
        sys.meta_path.insert(0, Changed(change.path, changed))
        near = ROOT / "tests" / f"test_{change.path.stem}.py"
        for paths in ([str(near)] if near.exists() else [], EVERYWHERE):
            for name, module in list(sys.modules.items()):
                if (
                    str(getattr(module, "__file__", "")).startswith(str(ROOT))
                    and name != "__main__"
                ):
                    del sys.modules[name]
            if paths and pytest.main([*OPTIONS, "-x", *paths], [Again(self.seconds)]) not in (0, 5):
                return True
        return False


class Again(NamedTuple):
    """Runs the quickest tests first."""

    seconds: dict

    def pytest_collection_modifyitems(self, items):
        items.sort(key=lambda item: self.seconds.get(item.nodeid, 0.0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    compiler = sorted((ROOT / "autodiff" / "compiler").glob("[!_]*.py"))
    every = [*(ROOT / "autodiff" / f"{name}.py" for name in ENGINE), *compiler]
    chosen = []
    for text in options.files or map(str, every):
        file, _, lines = text.partition(":")
        wanted = set(map(int, lines.split(","))) if lines else None
        found = changes(Path(file).resolve())
        chosen += [change for change in found if wanted is None or change.line in wanted]
    if options.sample:
        random.Random(options.seed).shuffle(chosen)
    count = 2 if QUICK else options.sample
    chosen = list(itertools.islice(filter(is_a_change, chosen), count))
    if options.list:
        for change in chosen:
            print(change.place(), change.described(change.path.read_text(encoding="utf-8")))
        return
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    tests = Tests(chosen, options.jobs)
    pytest.main([*OPTIONS, *EVERYWHERE], [tests])
    known = sum(reason is not None for _, reason in tests.survivors)
    killed = len(chosen) - len(tests.survivors)
    print(f"{killed} of {len(chosen)} changes noticed, {100 * killed / max(1, len(chosen)):.1f} %;")
    print(f"{known} of the others cannot be, for the reasons in mutants.txt")


def is_a_change(change):
    """Whether the compiled code differs: constants of the same value fold to the same code."""
    source = change.path.read_text(encoding="utf-8")
    with contextlib.suppress(SyntaxError):
        pairs = code_pairs(change.path, source, change.of(source))
        return any(own(old) != own(new) for old, new in pairs)
    return True


if __name__ == "__main__":
    main()
