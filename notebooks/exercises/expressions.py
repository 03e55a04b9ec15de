"""Notebook 9: which closures a backward walk calls, and the checks of its exercises."""

import math

from autodiff import Expression, Value, Vector, exp, grad, less, nn, sin, tanh, topological_order
from autodiff import errors, where
from autodiff.compiler.program import Program

from . import Check, Hint, solutions
from .probes import integer


def closures_run(loss, wrt=None):
    """The nodes whose closures `backpropagate` calls, in order, and the gradients it returns."""
    run = []
    closures = {node: node._backward for node in topological_order(loss) if node.parents}
    for node, closure in closures.items():

        def noting(grad, node=node, closure=closure):
            run.append(node)
            return closure(grad)

        node._backward = noting
    gradients = Expression(loss).backpropagate(wrt)
    for node, closure in closures.items():
        node._backward = closure
    return run, gradients


def small_network():
    """The network 2-2-2 of the notebook: its loss, its first layer, its last."""
    first, last = nn.Linear(2, 2, activation=tanh, seed=0), nn.Linear(2, 2, seed=1)
    x = Vector([0.5, -0.3]).requires_grad_(False)
    return nn.cross_entropy(last(first(x)), 0), first, last


# -- 1. A function that survives --------------------------------------------------------------

POINTS = (-3.0, -1.25, -0.5, 0.25, 0.75, 1.25, 4.0)


@Check
def check_1(answer):
    recorded = [(x, huber_of(answer, x)) for x in map(Value, POINTS)]
    for x, y in recorded:
        program = compiled(y, x)
        for at in POINTS:
            value, (slope,) = program(at)
            if not math.isclose(value, huber(at)):
                raise Hint(
                    f"Recorded at {x.data:g}, the program gives {value:g} at {at:g}, expected "
                    f"{huber(at):g}: the choice\nwas made while recording. What does it ask, a bool "
                    "or a node?"
                )
            right = max(-1.0, min(1.0, at))
            if not math.isclose(slope, right):
                raise Hint(
                    f"The value is right, but the slope at {at:g} is {slope:g}, not {right:g}."
                )
    return "Right: wherever it is recorded, the program chooses anew."


def huber(x):
    return x * x / 2 if abs(x) <= 1 else abs(x) - 0.5


def huber_of(answer, x):
    """The graph that an answer makes of x; a hint if its number is wrong."""
    if not callable(answer):
        raise Hint(f"Expected a function of x, found {answer!r}.")
    try:
        y = answer(x)
    except TypeError as error:
        if "a float has no derivative" not in str(error):
            raise
        text = "Something turns x into a float, as the functions of `math` do. Use autodiff's."
        raise Hint(text) from None
    if y is ... or y is None:
        raise Hint("Your function returns nothing. It should return a Value.")
    if not isinstance(y, Value):
        found = errors.a(y)
        remedy = " `where` of autodiff makes a node of a choice." if "ndarray" in found else ""
        raise Hint(f"Expected a Value, found {found}.{remedy}")
    if not math.isclose(y.data, huber(x.data)):
        text = (
            f"Before any compiling: at {x.data:g} it gives {y.data:g}, expected {huber(x.data):g}."
        )
        branches = (x.data**2 / 2, abs(x.data) - 0.5)
        if any(math.isclose(y.data, branch) for branch in branches):
            text += (
                " That is the wrong branch. Are the two swapped? (maximum and minimum cannot"
                " choose here: the parabola is never below the line.)"
            )
        raise Hint(text)
    if x not in topological_order(y):
        text = "The number is right, but x is not in its graph: `.data` takes it out."
        raise Hint(text)
    return y


def compiled(y, x):
    try:
        return Expression(y).compile([x], wrt=[x])
    except TypeError as error:
        if "not known yet" not in str(error):
            raise
        text = (
            "compile refuses it: in an operation of your own x is a symbol by then, and a symbol "
            "cannot answer an `if`. Choose with where(...)."
        )
        raise Hint(text) from None


def solution_1(x):
    return where(less(1, abs(x)), abs(x) - 0.5, x * x / 2)


# -- 2. Predict a walk ------------------------------------------------------------------------


@Check
def check_2(answer):
    answer = integer(answer)
    other = "Does the other hidden neuron depend on this weight? Not even its tanh does."
    hints = {
        19: f"Those are all. {other}",
        17: other,
        18: other,
        13: "Those lead to the last layer. This weight lies deeper.",
        3: "That is the hidden neuron alone. The walk begins at the loss.",
        14: "The hidden neuron feeds both outputs: two dots, two sums.",
        12: "The hidden neuron feeds both outputs: two dots, two sums.",
        15: "Nearly. The loss itself is nine operations, from largest to the last +.",
        1: "The walk begins at the loss, and has to get to the weight somehow.",
    }
    if answer != solution_2():
        raise Hint(hints.get(answer, "Follow the arrows from w to the loss, and count the boxes."))
    return (
        "Right: 16. Nine of the loss, four of the last layer, three of the hidden neuron. "
        "What is not between w and the loss is left alone."
    )


def solution_2():
    loss, first, _ = small_network()
    run, _ = closures_run(loss, [first.weight[0, 0]])
    return len(run)  # nine of the loss; +, dot, +, dot; tanh, +, dot


# -- 3. One derivative further ----------------------------------------------------------------


@Check
def check_3(answer):
    for f, at in ((lambda x: x**4, 2.0), (lambda x: x * sin(x), 1.0)):
        value, gradients = result_of(program_of(answer, f, at))
        slope, bend = grad(f)(1.25), grad(grad(f))(1.25)
        if math.isclose(value, f(1.25)):
            raise Hint(
                "That program gives f and its slope: you compiled the graph of f. Compile the "
                "graph of the slope."
            )
        if math.isclose(value, bend):
            raise Hint("That program begins with f''. One derivative less.")
        if not math.isclose(value, slope):
            raise Hint(f"The value at 1.25 is {value:g}, and f' is {slope:g} there.")
        if len(gradients) != 1:
            raise Hint(f"f' is right. Expected one gradient, found {len(gradients)}: wrt=[x].")
        if not math.isclose(gradients[0], bend):
            raise Hint(f"f' is right. Expected f'' = {bend:g}, found {gradients[0]:g}.")
    newton, x = program_of(answer, lambda x: exp(x) - 2 * x, 0.0), 0.0
    for _ in range(6):
        slope, (bend,) = newton(x)
        x -= slope / bend
    return (
        f"Right. With your program Newton's method finds the lowest point of exp(x) - 2x in 6 "
        f"steps: {x:.6f}, and ln 2 is {math.log(2):.6f}."
    )


def program_of(answer, f, at):
    if not callable(answer):
        raise Hint(f"Expected a function of f and at, found {answer!r}.")
    try:
        program = answer(f, at)
    except TypeError as error:
        if "Expression: found" in str(error) and "of type float" in str(error):
            text = "The gradient is a float: a plain `backward()` keeps numbers alone. How does "
            raise Hint(text + "it leave a graph?") from None
        raise
    if program is ... or program is None:
        raise Hint("Your function returns nothing. It should return a Program.")
    if not isinstance(program, Program):
        raise Hint(f"Expected a Program, what `compile` returns, found {errors.a(program)}.")
    return program


def result_of(program):
    try:
        return program(1.25)
    except (TypeError, ValueError):
        raise Hint("Your program should take one number: inputs=[x], wrt=[x].") from None


def solution_3(f, at):
    x = Value(at)
    f(x).backward(create_graph=True)
    return Expression(x.grad).compile([x], wrt=[x])


solution = solutions(globals())
