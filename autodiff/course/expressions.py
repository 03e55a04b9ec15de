# pyright: analyzeUnannotatedFunctions=false
"""Notebook 9: what a walk leaves out; its guesses and exercises."""

import math

import numpy as np

from autodiff import (
    Expression,
    Value,
    abs,
    adjoints,
    draw,
    exp,
    grad,
    less,
    minimum,
    operation,
    sin,
    topological_order,
    where,
)

from .verdicts import Exercise, Hint, a, after_your_guess, guesses, number, solutions


def closures_run(loss, wrt=None):
    """The nodes whose closures `backpropagate` calls, in order, and the gradients it returns."""
    run = [node for node in reversed(adjoints(loss, wrt)) if node.parents]
    return run, Expression(loss).backpropagate(wrt)


def walk_to(root, wrt, **settings):
    """The graph, with the closures of a walk to `wrt` as walk[0], walk[1], …; the rest is pale."""
    run, _ = closures_run(root, wrt)
    drawing = draw(root, names={"walk": run}, highlight=[*wrt, root], **settings)
    drawing.alt += f"; the walk calls {len(run)} operations, what it leaves out is pale"
    return drawing


predict = guesses(
    {
        4: "Right: the logarithm is on no way from x2 to y.",
        5: "All five are for both inputs. Is the logarithm on a way from x2 to y?",
        ...: "Follow the edges from x2 to y, and count the operations on the way.",
    },
    {
        3: "Right: a sine, a cosine and an exp. The compiler remembers what it has written.",
        2: "That is the value alone. Its slope needs cos x as well.",
        4: "The second sine would be the same as the first.",
        ...: "What is computed twice needs to be written only once.",
    },
    {
        2.25: "Right, alas: it still computes x² + 2.",
        1.5: "That is what the function says. The program never saw that branch.",
        ...: "Which branch did Python take when the graph was recorded, at 4?",
    },
)


def solution_1():
    # nine of the loss, from the last + to `largest`; +, dot, +, dot; tanh, +, dot
    return 9 + 4 + 3


check_1 = Exercise(
    solution_1(),
    ask=number,
    praise="Right: nine of the loss, four of the last layer, three of the hidden neuron.",
    otherwise="Follow the arrows from w to the loss, and count the boxes.",
    slips={
        "Does the other hidden neuron depend on this weight? Not even its tanh does.": [17, 19],
        "Those lead to the last layer. This weight lies deeper.": 13,
        "The hidden neuron feeds both outputs: two dots, two sums.": 14,
        "That is the way through the layers. The loss has operations too.": 7,
    },
)

POINTS = (-3.0, -1.25, -0.5, 0.25, 0.75, 1.25, 4.0)


def recorded(answer, x):
    x = Value(x)
    y = answer(x)
    if not isinstance(y, Value):
        remedy = " `where` of autodiff makes a node of a choice." * isinstance(y, np.ndarray)
        raise Hint(f"Expected a Value, found {a(y)}.{remedy}")
    yield "before any compiling the value", y.data
    yield "x", "in the graph" if x in {*topological_order(y)} else "out of the graph"
    program = Expression(y).compile([x], wrt=[x])
    for at in POINTS:
        yield f"the program's value at {at:g}", program(at)[0]
    for at in POINTS:
        yield f"the program's slope at {at:g}", program(at)[1][0]


def solution_2(x):
    return where(less(1, abs(x)), abs(x) - 0.5, x * x / 2)


check_2 = Exercise(
    solution_2,
    ask=recorded,
    at={f"x = {x:g}, where it is recorded,": (x,) for x in POINTS},
    praise="Right: wherever it is recorded, the program chooses anew.",
    otherwise="Which parts are chosen by a node, and where?",
    slips={
        "{at} {part} should be {expected}, not {found}: the choice was made while recording. What does "
        "it ask, a bool or a node?": [
            "x * x / 2 if abs(x) <= 1 else abs(x) - 0.5",
            "less(1, abs(x)) → abs(x) > 1",
        ],
        "That is the wrong branch. Are the two swapped?": "less(1, abs(x)) → less(abs(x), 1)",
        "{at} the condition should ask about abs(x), not x.": "less(1, abs(x)) → less(1, x)",
        "The number is right, but x is not in its graph: `.data` takes it out.": "x * x → "
        "x.data * x.data\nabs(x) → Value(abs(x.data))",
    },
)


def derived(answer, f, at):
    program = answer(f, at)
    if not hasattr(program, "source"):
        raise Hint(f"Expected a Program, what `compile` returns, found {a(program)}.")
    try:
        value, gradients = program(1.25)
    except (TypeError, ValueError):
        raise Hint("Your program should take one number: inputs=[x], wrt=[x].") from None
    yield "the value at 1.25", value
    yield "the number of gradients", float(len(gradients))
    yield "the gradient at 1.25", gradients[0]


def solution_3(f, at):
    x = Value(at)
    f(x).backward(create_graph=True)
    return Expression(x.grad).compile([x], wrt=[x])


check_3 = Exercise(
    solution_3,
    ask=derived,
    at={"x⁴": (lambda x: x**4, 2.0), "x sin x": (lambda x: x * sin(x), 1.0)},
    praise="Right. Newton's method needs just this: the slope, and the slope of the slope.",
    slips={
        "That program gives f and its slope. Compile the graph of the slope.": "x.grad → f(x)",
        "The gradient is a float. How does `backward` leave a graph?": "create_graph=True →",
    },
)

solution = solutions(globals())
