# pyright: analyzeUnannotatedFunctions=false
"""Notebook 9: symbols that write a program; its guesses and exercises."""

import autodiff as ad

from .verdicts import NOTHING, Exercise, Hint, after_your_guess, empty, expect, guesses, solutions


class Symbol:
    def __init__(self, name, lines):
        self.name, self.lines = name, lines

    def __repr__(self):
        return self.name

    def write(self, text):
        name = f"v{len(self.lines) + 1}"
        self.lines.append(f"{name} = {text}")
        return type(self)(name, self.lines)

    def __add__(self, other):
        return self.write(f"{self} + {other}")

    def __mul__(self, other):
        return self.write(f"{self} * {other}")

    def sin(self):
        return self.write(f"math.sin({self})")


solution_1 = Symbol


def lines_of(Kind, f):
    """What a function of two symbols writes, and the name of its result."""
    lines = []
    kind = type("Kind", (Kind,), {})
    result = f(kind("x", lines), kind("x2", lines))
    fits = empty(result) or type(result) is kind
    expect(fits, "a symbol of the same kind, type(self)(…)", result)
    yield "what is written", "; ".join(lines) or (... if empty(result) else "nothing")
    yield "the name that comes back", ... if empty(result) else str(result)


check_1 = Exercise(
    solution_1,
    ask=lines_of,
    at={
        'write("x + x2")': (lambda x, y: x.write("x + x2"),),
        "x + x2": (lambda x, y: x + y,),
        "x * x2": (lambda x, y: x * y,),
        "(x + x2).sin()": (lambda x, y: (x + y).sin(),),
    },
    praise="Right: it computes nothing, and leaves a program behind.",
    otherwise="A line is `name = text`; the next line uses the name.",
    slips="""
        A name comes back, but no line was written: append it to self.lines.
            self.lines.append(f"{name} = {text}") → pass
        The formula itself comes back, so the next line repeats it. Return the line's name.
            type(self)(name, → type(self)(text,
        The line will run where there is only `math`: write math.sin(…).
            math.sin( → sin(
    """,
)


class Unasked(float):
    """A message that does not tell its number, as a symbol does not know it."""

    def __bool__(self, *_):
        raise Hint("A symbol does not know its number. Ask only whether a message `is None`.")

    __eq__ = __ne__ = __lt__ = __gt__ = __bool__
    __hash__ = float.__hash__


def unasked(closure):
    return lambda grad: [x if x is None else Unasked(x) for x in closure(grad)]


NO_MESSAGE = "Some messages are None: a condition is sent nothing. Skip them."
NOT_IN_BAR = (
    "A node is not in `bar` before its first message, and not at all if only a condition reads it."
)


def adjoints_of(answer, f):
    x, w = leaves = ad.Value(0.75), ad.Value(2.0)
    y = f(x, w)
    closures = {node: unasked(node._closure) for node in ad.topological_order(y) if node.parents}
    try:
        bar = answer(y, closures)
    except TypeError as error:
        raise Hint(NO_MESSAGE) if "NoneType" in str(error) else error from None
    except KeyError:
        raise Hint(NOT_IN_BAR) from None
    expect(isinstance(bar, dict), "the adjoints of the nodes, a dict", bar)
    if len(bar) == 1:
        raise Hint(NOTHING)
    for name, leaf in zip("xw", leaves):
        yield f"the adjoint of {name}", 0.0 + bar.get(leaf, 0.0)


def solution_2(output, closures):
    bar = {output: 1.0}
    for node, closure in reversed(closures.items()):
        messages = closure(bar[node]) if node in bar else ()
        for parent, message in zip(node.parents, messages):
            if message is not None:  # a constant is sent nothing
                bar[parent] = bar[parent] + message if parent in bar else message
    return bar


check_2 = Exercise(
    solution_2,
    ask=adjoints_of,
    at={
        "y = log(x) + x * w - sin(w),": (lambda x, w: ad.log(x) + x * w - ad.sin(w),),
        "y = x * x / w,": (lambda x, w: x * x / w,),
        "y = exp(x * w) * x * w,": (lambda x, w: ad.exp(x * w) * x * w,),
        "y = where(less(x * w, 1), w, x * x),": (
            lambda x, w: ad.where(ad.less(x * w, 1), w, x * x),
        ),
    },
    praise="Right: the loop of notebook 4, and it asks no number what it is.",
    otherwise="On paper: who reads the node, and what does each of them send?",
    slips="""
        A node that is read twice gets two messages. Yours keeps one of them.
            bar[parent] + message if parent in bar else message → message
            → message; message is not None → True
        The closure takes the adjoint of its own node, `bar[node]`.
            closure(bar[node]) → closure(1.0)
        Last to first: a node sends only when all its messages have arrived.
            reversed(closures.items()) → closures.items()
    """,
)


class Thrifty(Symbol):
    def write(self, text):
        left, _, right = text.partition(" * ")
        if "1.0" in (left, right):
            return type(self)(right if left == "1.0" else left, self.lines)
        for line in self.lines:
            name, written = line.split(" = ")
            if written == text:
                return type(self)(name, self.lines)
        return super().write(text)


solution_3 = Thrifty


check_3 = Exercise(
    solution_3,
    ask=lambda Kind, texts: lines_of(Kind, lambda x, y: [x.write(t) for t in texts][-1]),
    at={
        texts: (texts.split("; "),)
        for texts in (
            "math.sin(x); x + x2; math.sin(x)",
            "x + x2; x + x",
            "1.0 * x2",
            "x * 1.0",
            "12.0 * x; 2.0 * x",
            "1.0 * x; 1.0 * x",
            "x + 1.0",
        )
    },
    praise="Right: nothing is written twice, and no factor of 1.",
    slips="""
        This text has a line already: look for it in self.lines, behind the name, and return that.
            written == text → False
            → False; "1.0" in (left, right) → False
        You find {expected} where it is only a part of a line: compare whole texts.
            → text in written
            → text in written; "1.0" in (left, right) → False
            → written.endswith(text)
            → written.endswith(text); "1.0" in (left, right) → False
        Sharing is right. Now the factors of 1.0.
            "1.0" in (left, right) → False
    """,
)


POINTS = (-3.0, -1.25, -0.5, 0.25, 0.75, 1.25, 4.0)


def recorded(answer, x):
    x = ad.Value(x)
    y = answer(x)
    remedy = " (`where` of autodiff makes a node of a choice)" * hasattr(y, "dtype")
    expect(isinstance(y, ad.Value), f"a Value{remedy}", y)
    yield "before any compiling the value", y.data
    yield "x", "in the graph" if x in {*ad.topological_order(y)} else "out of the graph"
    program = ad.Expression(y).compile([x], wrt=[x])
    for at in POINTS:
        value, (slope,) = program(at)
        yield f"the program's value at {at:g}", value
        yield f"the program's slope at {at:g}", slope


def solution_4(x):
    return ad.where(ad.less(1, abs(x)), abs(x) - 0.5, x * x / 2)


check_4 = Exercise(
    solution_4,
    ask=recorded,
    at={f"x = {x:g}, where it is recorded,": (x,) for x in POINTS},
    praise="Right: wherever it is recorded, the program chooses anew.",
    slips="""
        {at} {part} should be {expected}, not {found}: the choice was made while recording.
        What does it ask, a bool or a node?
            ad.less(1, abs(x)) → abs(x) > 1
        That is the wrong branch. Are the two swapped?
            → ad.less(abs(x), 1)
        {at} the condition should ask about abs(x), not x.
            → ad.less(1, x)
        Left of −1 x is negative: the loss there is |x| − 1/2, too.
            abs(x) - 0.5 → x - 0.5
        A half is missing: the loss is x²/2 inside, and |x| − 1/2 outside.
            x * x / 2 → x * x
            abs(x) - 0.5 → abs(x)
        The parabola is never below the line, so min or max always takes the same one of them.
            where(ad.less(1, abs(x)), → minimum(
            → maximum(
        The number is right, but x is not in its graph: `.data` takes it out.
            abs(x) → ad.Value(abs(x.data)); x * x → ad.Value(x.data**2)
    """,
)


predict = guesses("""
    1. 10: Right: a line for each addition. The loop is gone.
       1023 to 1024: One formula would be that long. But each line gives its sum a name.
       else: A line is written each time that the `+` is carried out.
    2. 3: Right: a sine, a cosine and an exp. What was written is not written again.
       2: That is the value alone. Its slope needs cos x as well.
       else: What is computed twice needs to be written only once.
    3. 48: Right: 12 x², the slope of the slope.
       32: That is the value, 4 x³. Its slope is asked for.
       else: The gradient is 4 x³. Differentiate once more.
    4. 2.25: Right, alas: it still computes x² + 2.
       1.5: That is what the function says. The program never saw that branch.
       else: Which branch did Python take when the graph was recorded, at 4?
    5. 1: Right: only `less` is asked again. Open the box to see that it is the last.
       2: A `where` alone is not enough. What does it get from a bare `x > 2`?
       else: Which of them ask about x again whenever the program runs?
    6. 350 to 500: Right, or near enough: little more than twice as many.
       0 to 349: More: each product on the way forward becomes two on the way back.
       else: Fewer: one walk back serves all 90, and nothing is written twice.
""")

solution = solutions(globals())
