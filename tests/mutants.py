"""Does a test fail for every change of the code? Change it, a bit at a time, and see.

    python tests/mutants.py autodiff/ops.py autodiff/graph.py --sample 100 --seed 1

changes each operator, comparison, constant, condition and statement of the files (by default of the
whole package) in turn and prints the changes that no test notices: the survivors. `--sample` takes
that many at random, `--jobs` runs as many at a time.

All tests run once, to see which functions each of them calls and how much processor time it takes
(this is kept in .pytest_cache: delete it to see again). Then each change is made in a process of its
own, a fork of this one: the tests that call the changed function run there, the quickest first,
until one fails, or takes five times its time and ten seconds more. `mutants.txt` lists changes that
survive because nobody could tell the difference, and why.
"""

import argparse
import ast
import copy
import gc
import importlib
import inspect
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
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "autodiff"
QUICK = bool(os.environ.get("QUICK"))  # two changes and few tests: whether this works
# Threads, and a browser, do not survive a fork.
OPTIONS = [
    "-s",
    "-p",
    "no:cacheprovider",
    "-m",
    "not (jax or numba or torch or browser or thorough)",
]
ELSEWHERE = "notebooks", "grading", "jupyterlab", "site", "types", "mutants"
OPTIONS += [f"--ignore={ROOT}/tests/test_{name}.py" for name in ELSEWHERE]
EVERYWHERE = (
    [str(ROOT / "tests" / "test_dispatch.py")] if QUICK else [str(PACKAGE), str(ROOT / "tests")]
)
RECORD = ROOT / ".pytest_cache" / "mutants.json"  # the tests' seconds and calls
WAITING = 1800  # seconds after which a test that computes nothing is ended


class Change(NamedTuple):
    """A replacement in the tree of a file: of a field of a node, or of an entry of a list."""

    path: Path
    tree: ast.Module
    place: dict | list
    key: str | int
    old: Any
    new: Any

    def codes(self):
        """The code of the file before and after."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before = compile(self.tree, str(self.path), "exec")
            self.place[self.key] = self.new
            after = compile(self.tree, str(self.path), "exec")
            self.place[self.key] = self.old
        return before, after

    def changes_code(self):
        """Whether the compiled code differs: constants of the same value fold to the same code."""
        return any(own(old) != own(new) for old, new in pairs(*self.codes()))

    def described(self):
        """`x = a < b : a < b -> a <= b`: the line, and what is changed in it."""
        line = self.path.read_text(encoding="utf-8").splitlines()[self.old.lineno - 1].strip()
        old, new = (ast.unparse(part).partition("\n")[0][:60] for part in (self.old, self.new))
        return f"{line} : {old} -> {new}"

    def module(self):
        return ".".join(self.path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")

    def file(self):
        return self.path.relative_to(ROOT).as_posix()


# -- Changes --------------------------------------------------------------------------------------

SWAPS = """
    Add Sub, Sub Add, Mult Div, Div Mult, Pow Mult, MatMult Mult, Mod Mult, FloorDiv Mult, BitOr BitAnd,
    BitAnd BitOr, And Or, Or And, Lt LtE, LtE Lt, Gt GtE, GtE Gt, Eq NotEq, NotEq Eq, Is IsNot, IsNot Is,
    In NotIn, NotIn In
"""
OTHER = {getattr(ast, old): getattr(ast, new) for old, new in map(str.split, SWAPS.split(","))}
SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Delete, ast.Raise, ast.Continue, ast.Break)
MESSAGES = {"message", "TypeVar", "cast"}  # calls whose arguments are texts, or types


def changes(path):
    """All changes of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for place, key in places(tree):
        for new in variants(place[key]):
            new = ast.fix_missing_locations(ast.copy_location(new, place[key]))
            yield Change(path, tree, place, key, place[key], new)


def places(node):
    """Each part of a program that changes what it does, and its place: not texts, types or stubs."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns"):
            continue
        place, keys = (
            (value, range(len(value))) if isinstance(value, list) else (vars(node), [field])
        )
        for key in keys:
            if isinstance(place[key], ast.AST) and not idle(place[key]):
                yield place, key
                yield from places(place[key])


def idle(part):
    match part:
        case ast.Import() | ast.ImportFrom() | ast.JoinedStr() | ast.Expr(value=ast.Constant()):
            return True  # the last is a docstring, or the ... of a stub
        case ast.If():
            return "TYPE_CHECKING" in ast.dump(part.test)
        case ast.Assign():
            return "__slots__" in ast.dump(part.targets[0])
        case ast.Call():
            return getattr(part.func, "id", "") in MESSAGES
        case ast.FunctionDef():
            return any("overload" in ast.dump(each) for each in part.decorator_list)
        case ast.ClassDef():
            return any("Protocol" in ast.dump(base) for base in part.bases)
    return False


def variants(part):
    """What may stand in the place of a part of a program."""

    def like(**fields):
        new = copy.copy(part)
        vars(new).update(fields)
        return new

    match part:
        case ast.BinOp() | ast.BoolOp() if type(part.op) in OTHER:
            yield like(op=OTHER[type(part.op)]())
        case ast.Compare():
            for i, op in enumerate(part.ops):
                yield like(ops=[*part.ops[:i], OTHER[type(op)](), *part.ops[i + 1 :]])
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            yield copy.copy(part.operand)  # whose place will be another
        case ast.Constant(value=bool()):
            yield like(value=not part.value)
        case ast.Constant(value=int() | float()):
            yield like(value=part.value + 1)
        case ast.Constant(value=str()) if part.value:
            yield like(value=f"other {part.value}")
        case ast.If() | ast.IfExp() | ast.While():
            yield like(test=ast.UnaryOp(ast.Not(), part.test))
        case ast.Return() if part.value:
            yield like(value=None)
    if isinstance(part, SIMPLE):
        yield ast.Pass()


def reasons():
    """Why known survivors cannot be noticed, by file and change."""
    found, path, reason = {}, "", ""
    for line in (ROOT / "tests" / "mutants.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif line.startswith("autodiff/"):
            path = line
        elif line:
            found[path, line] = reason
    return found


# -- Code: what a change makes of the functions that there are ------------------------------------


def pairs(old, new):
    """The code of each function of a file before and after a change, of the whole file first."""
    yield old, new
    inner = [[x for x in code.co_consts if isinstance(x, types.CodeType)] for code in (old, new)]
    if [x.co_name for x in inner[0]] == [x.co_name for x in inner[1]]:
        for pair in zip(*inner):
            yield from pairs(*pair)


def own(code):
    """The code of a function without the functions in it."""
    constants = [repr(x) for x in code.co_consts if not isinstance(x, types.CodeType)]
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars


def replace(both):
    """Give all existing functions their new code."""

    def place(code):
        return code.co_filename, code.co_qualname, tuple(code.co_positions())

    new = {place(old): new for old, new in both}
    for x in gc.get_objects():
        if type(x) is types.FunctionType and x.__code__.co_filename == both[0][0].co_filename:
            x.__code__ = new.get(place(x.__code__), x.__code__)


def name_of(code):
    return f"{Path(code.co_filename).relative_to(ROOT).as_posix()} {code.co_qualname}"


# -- Running --------------------------------------------------------------------------------------


class Tests:
    """The tests: how long each takes, and which functions it calls. Runs them for each change."""

    def __init__(self, chosen, jobs):
        self.chosen, self.jobs = chosen, jobs
        self.seconds = {}  # of processor time, of a test, by its name
        self.callers = defaultdict(set)  # the names of the tests that call a function
        self.items, self.running, self.survivors, self.failed = {}, {}, [], False

    def pytest_runtest_logreport(self, report):
        self.failed = self.failed or report.failed

    def pytest_runtestloop(self, session):
        if session.testsfailed:
            raise SystemExit("the tests cannot be collected without a change")
        known = json.loads(RECORD.read_text()) if RECORD.exists() else {}
        for item in session.items:
            if item.nodeid not in known:
                known[item.nodeid] = self.seconds_and_calls(item)
            self.seconds[item.nodeid], calls = known[item.nodeid]
            for name in calls:
                self.callers[name].add(item.nodeid)
        RECORD.parent.mkdir(exist_ok=True)
        RECORD.write_text(json.dumps(known))
        self.items = {item.nodeid: item for item in session.items}
        for change in self.chosen:
            importlib.import_module(change.module())  # else there are no functions to change
            if len(self.running) == self.jobs:
                self.finish(*os.wait())
            self.running[self.in_a_process(change)] = change
        while self.running:
            self.finish(*os.wait())
        return True

    def run(self, items):
        """Whether a test fails; those that follow it do not run."""
        for item, following in zip(items, [*items[1:], None]):
            if self.items:  # this process is that of a change
                limit(self.seconds[item.nodeid])
            try:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            except Exception:  # a test that failed left pytest unable to say so
                return True
            if self.failed:
                return True
        return False

    def seconds_and_calls(self, item):
        """The processor time that a test takes, and the names of the functions that it calls."""
        seen = set()

        def trace(frame, event, argument, add=seen.add):
            add(frame.f_code)

        began = time.process_time()
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
        ours = [code for code in seen if code.co_filename.startswith(str(PACKAGE))]
        return time.process_time() - began, sorted(set(map(name_of, ours)))

    def finish(self, process, status):
        change = self.running.pop(process)
        if status == 2 << 8:
            raise SystemExit(f"{change.file()}: the tests did not run")
        if status == 0:
            description = change.described()
            reason = reasons().get((change.file(), description))
            self.survivors.append(reason)
            note = f" [{reason}]" if reason else ""
            print(f"{change.file()}:{change.old.lineno} {description}{note}", flush=True)

    def in_a_process(self, change):
        """Start the tests of a change in a process of its own, which exits with 1 if one fails."""
        process = os.fork()
        if process:
            return process
        result, errors = 2, os.dup(2)
        try:
            os.setsid()
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(WAITING)
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            result = int(self.notice(change))
        except BaseException:
            os.write(errors, traceback.format_exc().encode())
        finally:
            os._exit(result)

    def notice(self, change):
        """Whether a test fails, in this process."""
        both = list(pairs(*change.codes()))
        differ = [old for old, new in both if own(old) != own(new)]
        called = {name for old in differ for name in self.callers[name_of(old)]}
        functions = all(code.co_flags & inspect.CO_OPTIMIZED for code in differ)
        if called and functions and all(old.co_freevars == new.co_freevars for old, new in both):
            replace(both)
            names = sorted(called, key=self.seconds.get)
            return self.run([self.items[name] for name in names if name in self.items])
        return self.notice_when_imported(change, both[0][1])

    def notice_when_imported(self, change, code):
        """Whether a test fails when everything is imported again: those of the same name, then others."""
        load = SourceFileLoader.get_code
        SourceFileLoader.get_code = lambda loader, name: (
            code if loader.path == str(change.path) else load(loader, name)
        )
        near = ROOT / "tests" / f"test_{change.path.stem}.py"
        called = set().union(
            *[x for key, x in self.callers.items() if key.startswith(change.file())]
        )
        for path, names in ((near, self.seconds), (ROOT, called)):
            for name, module in list(sys.modules.items()):
                if name != "__main__" and str(ROOT) in str(getattr(module, "__file__", "")):
                    del sys.modules[name]
            paths = EVERYWHERE if path == ROOT else [str(near)]
            again = Again(self.seconds, names)
            if path.exists() and pytest.main([*OPTIONS, "-x", *paths], [again]) not in (0, 5):
                return True
        return False


class Again(NamedTuple):
    """Runs these tests, the quickest first."""

    seconds: dict
    names: set

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.nodeid in self.names]
        items.sort(key=lambda item: self.seconds.get(item.nodeid, 0.0))

    def pytest_runtest_setup(self, item):
        limit(self.seconds.get(item.nodeid, 0.0))


def limit(seconds):
    """End this process if it takes five times these seconds, of processor time, and ten more."""
    until = int(time.process_time() + 10 + 5 * seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, default=sorted(PACKAGE.rglob("*.py")))
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    chosen = [change for file in options.files for change in changes(file.resolve())]
    if options.sample:
        random.Random(options.seed).shuffle(chosen)
    chosen = filter(Change.changes_code, chosen)
    chosen = list(itertools.islice(chosen, 2 if QUICK else options.sample))
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    tests = Tests(chosen, options.jobs)
    if pytest.main([*OPTIONS, *EVERYWHERE], [tests]) not in (0, 1):
        raise SystemExit("the tests did not run")
    killed, known = len(chosen) - len(tests.survivors), sum(map(bool, tests.survivors))
    print(f"{killed} of {len(chosen)} changes noticed, {100 * killed / max(1, len(chosen)):.1f} %;")
    print(f"{known} of the others cannot be, for the reasons in mutants.txt")


if __name__ == "__main__":
    main()
