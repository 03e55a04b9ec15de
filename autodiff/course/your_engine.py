# pyright: analyzeUnannotatedFunctions=false
"""The engine that a reader types at the end of notebook 4: its check, its file, who is asked for it.

`%%my_engine`, which `%load_ext autodiff.course` brings, runs the rest of the cell as a module. If
the check finds its `Value` right, the cell becomes my_engine.py beside the notebook.
"""

import linecache
import math
import sys
from contextlib import contextmanager
from importlib import invalidate_caches
from pathlib import Path
from traceback import extract_tb
from types import ModuleType

import autodiff as ad

from . import our_engine
from .gallery import GRAPHS, INPUTS, PATH_BY_PATH, SIGNED, SIGNS, gradients, listing, run
from .verdicts import NOTHING, Exercise, Hint

FILE = Path("my_engine.py")

# What is computed with x and y, and what to say if it is wrong: of the number, then of the slopes.
SWAPPED = "The number stands on the left: Python calls `{}(x, number)`, with x first."
CONSTANT = "A plain number becomes a Value first, or gets no message."
FORMULAS = {
    "x + y": (
        "Are your operators made in a loop? Each sees the loop's variable as it is at the end.",
        "Addition copies: each message is the grad of the result.",
    ),
    "x * y": ("", "Multiplication swaps: each factor gets grad times the *other* factor."),
    "x + 2.5": ("A plain number becomes a node too.", CONSTANT),
    "2.5 + x": (SWAPPED.format("__radd__"), "As for x + 2.5."),
    "x * 3": ("A plain number becomes a node too.", CONSTANT),
    "2 * x": (SWAPPED.format("__rmul__"), "As for x * 2."),
    "-x": ("`__neg__` is 0 - x.", "The slope of -x is -1."),
    "x - y": ("`__sub__` is x + (-y).", "y counts with a minus: its message is -grad."),
    "x - 5": ("`__sub__` is x + (-5).", "Its slope in x is 1."),
    "5 - x": (SWAPPED.format("__rsub__") + " It means 5 - x.", "Its slope in x is -1."),
    "sum([x, y])": ("sum begins with 0 + x: `__radd__`.", "As for x + y."),
    "x ** 3": ("", "The slope of x**n is n * x**(n - 1), and the 3 is a constant: no message."),
    "x ** 2": ("", "The slope of x**n is n * x**(n - 1)."),
    "x ** -1": ("", "The slope of x**n is n * x**(n - 1), for n = -1 too."),
    "x / y": ("`__truediv__` is x * y**-1.", "Its slopes are 1 / y and -x / y²."),
    "x / 4": ("`__truediv__` is x * 4**-1.", "Its slope in x is 1 / 4."),
    "1 / x": (SWAPPED.format("__rtruediv__") + " It means 1 / x.", "Its slope in x is -1 / x²."),
    "x.tanh()": ("Take math.tanh.", "The slope is 1 - y², where y = tanh x."),
}

# Programs of several lines, by the fault that each is the first to show.
GRAPHS_OF_FAULTS = {
    "x * y + x": "Two lines use x, and one message replaced the other: add it to x.grad, +=.",
    "x + x": "x is a parent twice, so it gets two messages. A set, or a dict, has it once.",
    "(p := x + x) + p": "A node sent before all its messages had come, or sent twice. It sends once, "
    "after all that use it: a topological order.",
}


def shown(x):
    return f"{x:.6g}" if isinstance(x, (int, float)) else f"{x!r:.40}"


def same(found, right):
    return isinstance(found, (int, float)) and math.isclose(
        found, right, rel_tol=1e-9, abs_tol=1e-9
    )


@contextmanager
def patience(calls=20_000):
    """Stops what makes too many calls: a walk path by path, or one without an end."""
    made, before = 0, sys.getprofile()

    def count(*_):
        nonlocal made
        made += 1
        if made > calls:
            sys.setprofile(before)
            raise Hint(PATH_BY_PATH)

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)


def tried(text, work, hint=""):
    """What some work with the reader's engine returns; what it raises becomes a Hint."""
    try:
        with patience():
            return work()
    except RecursionError:
        raise Hint(
            f"{text}: RecursionError. {hint or 'Something calls itself for ever.'}"
        ) from None
    except Hint as found:
        raise Hint(f"{text}: {found}") from None
    except Exception as error:
        at = [
            f" in line {f.lineno}, `{f.line}`"
            for f in extract_tb(error.__traceback__)
            if f.filename == str(FILE)
        ]
        raised = f"{text} raises {type(error).__name__}{at[-1] if at else ''}: {error}. {hint}"
        raise Hint(raised.strip()) from None


def formulas(Value, part, texts):
    """Each formula with both signs: its number, or its slopes."""
    for text in texts:
        for data in ((3.0, -2.0), (-0.5, 4.0)):
            where = f"{text} at x = {data[0]:g}, y = {data[1]:g}"
            hint = FORMULAS[text][part == "slopes"]
            x, y = map(Value, data)
            right = [ad.Value(each) for each in data]
            result = tried(where, lambda: eval(text, {"x": x, "y": y}), hint)
            expected = eval(text, dict(zip("xy", right)))
            if not isinstance(result, Value):
                raise Hint(f"{where} gives {shown(result)}, which is no Value. {hint}")
            if (x.data, y.data) != data or result is x or result is y:
                raise Hint(f"{text} has changed x or y: a result is a new Value.")
            if not same(result.data, expected.data):
                other = [
                    t for t in texts if same(result.data, eval(t, dict(zip("xy", right))).data)
                ]
                is_that = f" That is {other[0]}." if other else ""
                found = f"{where} should be {expected.data:.6g}, not {shown(result.data)}."
                raise Hint(f"{found}{is_that} {hint}".strip())
            if part == "slopes":
                tried(f"backward of {where}", result.backward, hint)
                expected.backward()
                if not same(result.grad, 1.0):
                    grad = shown(result.grad)
                    raise Hint(f"After backward the grad of the result itself is 1, not {grad}.")
                compare(where, zip("xy", (x, y), right), hint)


def compare(where, triples, hint):
    for name, found, right in triples:
        if not same(found.grad, right.grad):
            says = f"{where}: {name}.grad should be {right.grad:.6g}, not {shown(found.grad)}."
            raise Hint(f"{says} {hint}")


def graphs_of_faults(Value):
    for text, hint in GRAPHS_OF_FAULTS.items():
        pair, right = [Value(3.0), Value(2.0)], [ad.Value(3.0), ad.Value(2.0)]
        tried(text, eval(text, dict(zip("xy", pair))).backward, hint)
        eval(text, dict(zip("xy", right))).backward()
        compare(text, zip("xy", pair, right), hint)


def strangers(Value):
    """Nodes that a loss was not made from."""
    stranger, x, y = Value(2.0), Value(3.0), Value(-2.0)
    try:
        other = stranger * x
        stranger.grad, other.grad = 100.0, 10.0
        (x * y).backward()
    except Exception:
        return  # the formulas say what is wrong
    if (stranger.grad, other.grad) != (100.0, 10.0):
        raise Hint(
            "A node that the loss was not made from has another grad after it. Is there one list for "
            "all nodes? Each has its own parents (a default argument like parents=[] is made once, for "
            "all), and the walk begins at the root."
        )


def accumulates(Value):
    """Whether a message is added to what an input has from an earlier loss."""
    lost = []
    for sign, add in SIGNS.items():
        x, y = Value(2.0), Value(2.0)
        x.grad = y.grad = 100.0
        add(x, y).backward()
        lost += [
            f"{name} {sign} {other}"
            for name, other, v in (("x", "y", x), ("y", "x", y))
            if v.grad < 99
        ]
    if len(lost) == 4:
        raise Hint(
            "x in two losses: the second begins x.grad anew. Inputs accumulate: set to 0 only the "
            "nodes that have parents."
        )
    if lost:
        raise Hint(f"In {lost[0]} the message to {lost[0][0]} replaces what was there. Add it: +=.")


def again(Value):
    x = Value(3.0)
    p = x + x
    q = x + p
    for _ in range(2):
        q.backward()
    if same(x.grad, 6.0):
        return
    hint = "Whose grad must start at 0, and whose not?"
    if same(x.grad, 3.0):
        hint = "Inputs accumulate: set to 0 only the nodes that have parents."
    elif x.grad > 6:
        hint = "The nodes between still hold the grad of the first call: set it to 0."
    raise Hint(
        f"p = x + x; q = x + p, backward called twice: x.grad is {shown(x.grad)}, not 6. {hint}"
    )


def deep(Value):
    x = Value(1.0)
    y = x
    for _ in range(900):
        y = y + 1
    hint = "It calls itself too often for each step of depth: once, or better a loop."
    tried("A chain of 900 additions", y.backward, hint)
    if not same(x.grad, 1.0):
        raise Hint(f"A chain of 900 additions: x.grad is {shown(x.grad)}, not 1.")


def doublings(Value):
    x = Value(1.0)
    y = x
    for _ in range(20):
        y = y + y
    tried("20 doublings", y.backward)


def gallery(Value):
    for program in GRAPHS:
        nodes = run(program, map(Value, SIGNED))
        for calls in (1, 2):
            nodes[-1].backward()
            for name, x, right in zip(INPUTS, nodes, gradients(program, SIGNED)):
                if x.grad != calls * right:
                    wrong = f"{name}.grad is {shown(x.grad)}, not {calls * right:g}"
                    where = f"{listing(program)}, with a, b, c, d = 3, -5, 7, -11"
                    raise Hint(
                        f"{where}: {wrong}. A node sends when all that use it have sent: what puts "
                        "your nodes in order? (Not their numbers.)"
                    )


def pieces(Value):
    """tanh from its pieces, where the engine has more than it needs; and a neuron."""
    numbers = 2.0, -1.0, 0.3, 0.8, 0.1
    made, right = [Value(n) for n in numbers], [ad.Value(n) for n in numbers]
    for x1, x2, w1, w2, b in (made, right):
        z = w1 * x1 + w2 * x2 + b
        (z.tanh() * 2 - 1 / (z**2 + 1)).backward()
    compare("A neuron", zip(("x1", "x2", "w1", "w2", "b"), made, right), "")
    if hasattr(Value, "exp"):
        x, whole = Value(0.7), Value(0.7)
        e = (2 * x).exp()
        ((e - 1) / (e + 1)).backward()
        whole.tanh().backward()
        compare("tanh from exp, + and ÷", [("x", x, whole)], "exp has the slope exp.")


def examined(module):
    """Says nothing if an engine is right; raises the Hint of its first fault."""
    Value = getattr(module, "Value", None)
    if not isinstance(Value, type):
        raise Hint(NOTHING if Value is None else "Expected a class `Value`.")
    x = tried("Value(3.0)", lambda: Value(3.0))
    for name, start in (("data", 3.0), ("grad", 0.0)):
        if not same(found := getattr(x, name, ...), start):
            raise Hint(f"After x = Value(3.0), x.{name} is {start:g}: yours is {shown(found)}.")
    if not callable(getattr(x, "backward", None)):
        raise Hint("Your Value has no method `backward`.")
    first, *others = FORMULAS
    strangers(Value)
    formulas(Value, "number", FORMULAS)
    formulas(Value, "slopes", [first, others[0]])
    for look in (graphs_of_faults, accumulates, again, gallery, doublings):
        look(Value)
    formulas(Value, "slopes", others)
    deep(Value)
    pieces(Value)
    yield "your engine", "right"


check_7 = Exercise(
    our_engine,
    ask=examined,
    praise=f"Right on all {len(GRAPHS):,} graphs, with numbers of both signs, twice in a row.",
    slips={},
)


def made(source):
    """The module that a text is: the names in it are its own."""
    module, lines = ModuleType("my_engine"), source.splitlines(keepends=True)
    module.__file__ = str(FILE)
    linecache.cache[str(FILE)] = len(source), None, lines, str(FILE)  # for error messages
    exec(compile(source, str(FILE), "exec"), vars(module))
    return module


def my_engine(line, cell):
    """Run the cell as a module; if its engine is right, it becomes my_engine.py beside the notebook."""
    module = made(cell)
    check_7(module)
    if check_7.verdict(module).right:
        FILE.write_text(cell, encoding="utf-8")
        invalidate_caches()
        sys.modules["my_engine"] = module
        print(f"Written to {FILE}: {long(cell)} lines. From now on: from my_engine import Value")


def long(source):
    return sum(bool(line.strip()) for line in source.splitlines())


def your_engine():
    """The reader's engine if its file is right, else ours; says whose it is."""
    why = f"there is no {FILE} beside this notebook: notebook 4 ends with it"
    if FILE.exists():
        source = FILE.read_text(encoding="utf-8")
        try:
            module = made(source)
            list(examined(module))
            print(f"This notebook runs on your engine: {FILE}, {long(source)} lines.")
            return module
        except Exception as error:
            why = str(error)
    print(f"This notebook runs on our engine, until yours is right: {why}")
    return our_engine
