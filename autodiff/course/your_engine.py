# pyright: analyzeUnannotatedFunctions=false
"""The engine that a reader types at the end of notebook 4: its check, its file, who is asked for it.

`%%my_engine`, which `%load_ext autodiff.course` brings, runs the rest of the cell as a module. If
the check finds its `Value` right, the cell becomes my_engine.py beside the notebook.
"""

import gc
import sys
from functools import reduce
from importlib import invalidate_caches
from importlib.util import module_from_spec, spec_from_file_location
from itertools import product
from math import inf, isclose
from pathlib import Path
from tempfile import TemporaryDirectory
from traceback import extract_tb

import autodiff as ad
from autodiff.engine.errors import kind_of

from . import our_engine
from .gallery import GRAPHS, MILLION, fault, patience
from .verdicts import NOTHING, Exercise, Hint, wrapped

FILE = Path("my_engine.py")
POINTS = (3.0, -2.0), (-0.5, 4.0)
POSITIVE = [(3.0, 2.0)]  # where each result is larger than what it is made from

# What is computed of x and y, and what to say if it is wrong: of the number, then of the slopes.
LOOP = "If your operators are made in a loop: each sees the loop's variable as it is at the end."
NODE = "A plain number becomes a node too."
CONSTANT = "A plain number becomes a Value first, or gets no message."
POWER = "The message is n * x**(n - 1) times the grad of the result; n, a constant, gets none."
TANH = "The message is 1 - y², where y = tanh x, times the grad of the result."
FORMULAS = {
    "x + y": (lambda x, y: x + y, LOOP, "Addition copies the grad of the result."),
    "x * y": (lambda x, y: x * y, "", "Each factor gets grad times the *other* factor."),
    "x + 2.5": (lambda x, y: x + 2.5, NODE, CONSTANT),
    "2.5 + x": (lambda x, y: 2.5 + x, "Python calls `x.__radd__(2.5)`.", "It is x + 2.5, from x."),
    "x * 3": (lambda x, y: x * 3, NODE, CONSTANT),
    "2 * x": (lambda x, y: 2 * x, "Python calls `x.__rmul__(2)`.", "It is x * 2, made from x."),
    "-x": (lambda x, y: -x, "`__neg__` is x * -1.", "The slope of -x is -1."),
    "x - y": (lambda x, y: x - y, "`__sub__` is x + (-y).", "The message to y is -grad."),
    "x - 5": (lambda x, y: x - 5, "`__sub__` is x + (-5).", "Its slope in x is 1."),
    "5 - x": (lambda x, y: 5 - x, "It means 5 - x: `x.__rsub__(5)`.", "Its slope in x is -1."),
    "sum([x, y])": (lambda x, y: sum([x, y]), "sum begins with 0 + x: `__radd__`.", "It is x + y."),
    "x ** 3": (lambda x, y: x**3, "", POWER),
    "x ** -1": (lambda x, y: x**-1, "", POWER),
    "(x * x) ** 0.5": (lambda x, y: (x * x) ** 0.5, "", POWER),
    "x / y": (lambda x, y: x / y, "`__truediv__` is x * y**-1.", "Its slopes: 1 / y and -x / y²."),
    "x / 4": (lambda x, y: x / 4, "`__truediv__` is x * 4**-1.", "Its slope in x is 1 / 4."),
    "1 / x": (lambda x, y: 1 / x, "It means 1 / x: `x.__rtruediv__(1)`.", "Its slope: -1 / x²."),
    "x.tanh()": (lambda x, y: x.tanh(), "Take math.tanh.", TANH),
}

# Graphs, by the fault that each is the first to show.
WALKS = {
    "p = x * y; q = p + Value(2)": (
        lambda x, y: x * y + type(x)(2.0),
        "Walk from the result back: p sends when its own message has come, not before.",
    ),
    "p = x + y; q = p * Value(3)": (
        lambda x, y: (x + y) * type(x)(3.0),
        "The grad of p is 3: + sends on the grad of its result, not 1.",
    ),
    "p = x * y; q = p * Value(3)": (
        lambda x, y: (x * y) * type(x)(3.0),
        "The grad of p is 3: each factor gets the *other* factor times the grad of the result.",
    ),
    "x * y + x": (
        lambda x, y: x * y + x,
        "Two lines use x, and one message replaced the other: add it to x.grad, +=.",
    ),
    "x + x": (
        lambda x, y: x + x,
        "x is a parent twice, so it gets two messages: add both, +=. A set, or a dict, has it once.",
    ),
    "p = x + x; q = p + p": (
        lambda x, y: (p := x + x) + p,
        "A node sent before all its messages had come, or sent twice. It sends once, after all that "
        "use it: a topological order.",
    ),
}
FAR = {
    "p = x + x; q = p + y; r = q * y; s = r + p": (
        lambda x, y: ((p := x + x) + y) * y + p,
        "p has to wait for q, though it is nearer to s: the longest way from the result counts.",
    ),
}
LARGE = {
    "A chain of 500 additions": (
        lambda x, y: reduce(lambda z, _: z + y, range(500), x),
        "It calls itself too often for each step of depth: once, or better a loop.",
    ),
    "A neuron": (lambda x, y: ((0.2 * x - 0.3 * y + 0.1).tanh() - 0.5) ** 2, ""),
}
PIECES = {
    "tanh from exp, + and ÷": (
        lambda x, y: ((z := (x / 2).exp()) - 1) / (z + 1),
        "exp is its own slope.",
    ),
}


def same(found, right):
    return isinstance(found, (int, float)) and isclose(found, right, rel_tol=1e-9, abs_tol=1e-9)


def shown(x):
    if isinstance(x, (int, float)):
        return f"{x:.6g}"
    return "None" if x is None else kind_of(x)


def tried(text, work, hint="", calls=20_000):
    """What some work with the reader's engine returns; what it raises becomes a Hint."""
    try:
        with patience(calls):
            return work()
    except Hint as found:
        raise Hint(f"{text}: {found}") from None
    except RecursionError:
        raise Hint(f"{text}: RecursionError. {hint or 'It calls itself for ever.'}") from None
    except SyntaxError as error:
        raise Hint(f"Line {error.lineno}, `{(error.text or '').strip()}`: {error.msg}.") from None
    except Exception as error:
        frames = extract_tb(error.__traceback__)
        at = [f" in line {f.lineno}, `{f.line}`" for f in frames if f.filename.endswith(FILE.name)]
        words = f": {error}" if str(error) else ""
        raised = f"{text} raises {type(error).__name__}{at[-1] if at else ''}{words}. {hint}"
        raise Hint(raised.strip()) from None


def numbers(Value):
    """Whether each formula gives the right numbers."""
    for (text, (formula, hint, _)), data in product(FORMULAS.items(), POINTS):
        where = f"{text} at x = {data[0]:g}, y = {data[1]:g}"
        x, y = map(Value, data)
        result = tried(where, lambda: formula(x, y), hint)
        if not isinstance(result, Value):
            hint = "Is a `return` missing?" if result is None else hint
            raise Hint(f"{where} gives {shown(result)}, which is no Value. {hint}")
        if (x.data, y.data) != data or result is x or result is y:
            raise Hint(f"{text} has changed x or y: a result is a new Value.")
        right = formula(*map(ad.Value, data)).data
        if not same(result.data, right):
            raise Hint(f"{where} should be {right:.6g}, not {shown(result.data)}. {hint}".strip())


def slopes(Value, table, points=POINTS, inside=False):
    """Whether the walk back through each formula adds the right slopes to the grads of its leaves.

    inside: in a larger loss, 7 times the formula; and the leaves have 100 from an earlier one.
    """
    before, factor = (100.0, 7.0) if inside else (0.0, 1.0)
    for (text, (formula, hint)), data in product(table.items(), points):
        text = f"({text}) * Value(7)" if inside else text
        where = f"{text} at x = {data[0]:g}, y = {data[1]:g}"
        leaves = [*map(Value, data)]
        for leaf in leaves:
            leaf.grad = before
        loss = lambda: formula(*leaves) * Value(7.0) if inside else formula(*leaves)
        result = tried(where, loss, hint)
        tried(f"backward of {where}", result.backward, hint)
        if not same(result.grad, 1.0):
            grad = shown(result.grad)
            raise Hint(f"After backward the grad of the result itself is 1, not {grad}.")
        inputs = [*map(ad.Value, data)]
        formula(*inputs).backward()
        for name, leaf, right in zip("xy", leaves, inputs):
            slope, found = right.grad * factor, leaf.grad - before
            if same(found, slope):
                continue
            if inside and same(leaf.grad, slope):
                raise Hint(f"In {text} the message to {name} replaces what was there. Add it: +=.")
            if inside and same(found * factor, slope):
                hint = "A message is the slope times the grad of the result, which is 7 here."
            if text == "x * y" and leaf.grad == 1:
                hint += " Does backward call that of the parents? It sets their grad to 1."
            missing = ": no message has reached it" * (not found)
            wrong = f"{name}.grad should be {slope:.6g}, not {shown(found)}{missing}"
            raise Hint(f"{where}: {wrong}. {hint}".strip())


def strangers(Value):
    """Whether nodes that a loss was not made from keep their grads."""
    stranger, x, y = Value(2.0), Value(3.0), Value(-2.0)
    try:
        other = stranger * x
        stranger.grad, other.grad = 100.0, 10.0
        (x * y).backward()
    except Exception:
        return  # the formulas say what is wrong
    if (stranger.grad, other.grad) != (100.0, 10.0):
        raise Hint(
            "Your backward changes the grad of a node that the loss was not made from. Is there one "
            "list for all nodes? Each has its own parents (a default argument like parents=[] is made "
            "once, for all), and the walk begins at the root."
        )


def accumulates(Value):
    """Whether leaves keep what they have from an earlier loss."""
    x, y = Value(2.0), Value(2.0)
    x.grad = y.grad = 100.0
    (x + y).backward()
    (x * y).backward()
    if max(x.grad, y.grad) < 99:
        raise Hint(
            "x in two losses: the second begins x.grad anew. Inputs accumulate: set to 0 only the "
            "nodes that have parents."
        )


def again(Value):
    """Whether a second walk through the same graph adds the same, and one from another root."""
    x = Value(3.0)
    q = x + (x + x)
    for _ in range(2):
        q.backward()
    if not same(x.grad, 6.0):
        hint = "The nodes between still hold the grad of the first call: set it to 0."
        hint = hint if x.grad > 6 else "Whose grad must start at 0, and whose not?"
        grad = shown(x.grad)
        raise Hint(f"p = x + x; q = x + p, backward called twice: x.grad is {grad}, not 6. {hint}")
    x = Value(3.0)
    p = x * Value(5.0)
    q = p + x
    for root in (p, q):
        root.backward()
    if not same(x.grad, 11.0):
        raise Hint(
            f"p = x * Value(5); q = p + x, p.backward(), q.backward(): x.grad is {shown(x.grad)}, not 11. p still "
            "holds its 1 as a root: set the nodes between to 0 first, not after they have sent."
        )


def gallery(Value):
    """Notebook 4's graphs, each walked twice; then twenty doublings."""
    for program in GRAPHS:
        if wrong := tried("A graph", lambda: fault(Value.backward, program, 2, Value)):
            raise Hint(
                f"{wrong}, after two walks, with a, b, c, d = 3, -5, 7, -11. A node sends when all that "
                "use it have sent: what puts your nodes in order, and tells them apart? (Not their numbers.)"
            )
    tried("20 doublings", lambda: fault(Value.backward, MILLION, number=Value))


def examined(path):
    """Says nothing if the engine in a file is right; raises the Hint of its first fault."""
    module = tried("Your engine", lambda: imported(path), calls=inf)
    for name, each in vars(module).items():
        origin = str(getattr(each, "__module__", getattr(each, "__name__", "")))
        if origin.partition(".")[0] == "autodiff":
            raise Hint(f"`{name}` is the package's. Type your own: the file needs `math` alone.")
    Value = getattr(module, "Value", None)
    if not isinstance(Value, type):
        if all(name.startswith("__") for name in vars(module)):
            raise Hint(NOTHING)
        if Value is None:
            raise Hint("There is no class `Value` here.")
        raise Hint(f"`Value` should be a class, not {kind_of(Value)}.")
    x = tried("Value(3.0)", lambda: Value(3.0))
    for name, start in (("data", 3.0), ("grad", 0.0)):
        if not hasattr(x, name):
            raise Hint(f"After x = Value(3.0), x has no `{name}`.")
        if not same(found := getattr(x, name), start):
            raise Hint(f"After x = Value(3.0), x.{name} is {start:g}: yours is {shown(found)}.")
    if not callable(getattr(x, "backward", None)):
        raise Hint("Your Value has no method `backward`.")
    strangers(Value)
    numbers(Value)
    of_slopes = {text: (formula, hint) for text, (formula, _, hint) in FORMULAS.items()}
    first = {text: of_slopes.pop(text) for text in ("x + y", "x * y")}
    pieces = PIECES if hasattr(Value, "exp") else {}
    slopes(Value, first)
    slopes(Value, WALKS, POSITIVE)
    accumulates(Value)
    slopes(Value, first, POSITIVE, inside=True)
    again(Value)
    slopes(Value, FAR, POSITIVE)
    gallery(Value)
    slopes(Value, of_slopes | LARGE | pieces, inside=True)
    yield "your engine", "right"


check_7 = Exercise(
    Path(our_engine.__file__),
    ask=examined,
    praise=f"Right on all {len(GRAPHS):,} graphs, with numbers of both signs, twice in a row; and with "
    "numbers on either side of each operator.",
    slips={},
)


def imported(path):
    """The module in a file, read anew."""
    spec = spec_from_file_location("my_engine", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def my_engine(line, cell):
    """Check the cell as a file; if its engine is right, it becomes my_engine.py beside the notebook."""
    with TemporaryDirectory() as folder:
        draft = Path(folder, FILE.name)
        draft.write_text(cell, encoding="utf-8")
        if not check_7.said(draft):
            return
    try:
        FILE.write_text(cell, encoding="utf-8")
    except OSError as error:
        print(f"But it cannot be kept: {error}. Copy it into a file {FILE} beside your notebooks.")
        return
    sys.modules.pop("my_engine", None)  # the next import reads the file
    invalidate_caches()
    print(f"Written to {FILE}: {long(cell)} lines. From now on: from my_engine import Value")


def long(source):
    return sum(bool(line.strip()) for line in source.splitlines())


def your_engine():
    """The module of the reader's engine if its file is right, else ours; says whose it is."""
    why = f": no {FILE} is here. Notebook 4 ends with it."
    if FILE.exists():
        right, text, _ = check_7.verdict(FILE)
        if right:
            print(f"From here on your engine runs: {FILE}, {long(FILE.read_text('utf-8'))} lines.")
            gc.freeze()  # his nodes may hold each other: they are looked for, but not in all the libraries
            return imported(FILE)
        why = f", until yours is right: {text}"
    print(wrapped(f"From here on our engine runs{why}"))
    return our_engine
