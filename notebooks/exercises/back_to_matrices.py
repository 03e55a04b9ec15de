"""Notebook 10: two programs side by side, and the checks of its exercises."""

import copy
import sys
from collections import Counter

import numpy as np

import autodiff as ad
from autodiff import Expression, Value, Vector, errors, nn, relu, tanh, topological_order
from autodiff.graph import depths

from . import Check, Hint, solutions
from .probes import integer

# -- Two programs side by side ----------------------------------------------------------------


def side_by_side(program, arguments, by_hand, arguments_by_hand):
    """The lines of a program, each after the names of a function's variables for the same array.

    Both are run, and the variables that they have at the end are compared, to twelve digits.
    """
    human = variables(by_hand, arguments_by_hand, by_hand.__name__)
    computed = variables(program, arguments, "program")
    lines = []
    for line in program.source.splitlines():
        array = computed.get(line.partition(" = ")[0].strip())
        equal = [name for name, other in human.items() if same(array, other)]
        lines.append(f"{' '.join(equal):8}{line}".rstrip())
    return "\n".join(lines)


def same(a, b):
    return a is not None and a.shape == b.shape and np.allclose(a, b, rtol=1e-12, atol=1e-12)


def variables(run, arguments, name):
    """The arrays in the variables of the function of this name when it returns."""
    found = {}

    def at_return(frame, event, _):
        if event == "return" and frame.f_code.co_name == name:
            found.update(frame.f_locals)

    sys.setprofile(at_return)
    try:
        run(*arguments)
    finally:
        sys.setprofile(None)
    return {key: array for key, array in found.items() if isinstance(array, np.ndarray)}


# -- 1. Predict the groups --------------------------------------------------------------------


@Check
def check_1(answer):
    answer = integer(answer)
    right, operations = solution_1(20)
    hints = {
        12: "That is one hidden layer. Here are two.",
        16: "Leaves are not operations. Or did you count a group of the loss twice?",
        14: "Nearly. Which operations make the loss? In the picture they follow the last layer.",
        13: "Nearly. The last layer has no tanh, but it has biases.",
        17: "The last layer has no tanh. And how many operations make the loss?",
        24: "Twice twelve counts the outputs and the loss twice.",
        operations: "Those are the operations. How many different ones are there?",
    }
    if answer != right:
        text = "Go through the boxes of the picture, with one more hidden layer."
        raise Hint(hints.get(answer, text))
    return (
        f"Right: {right} groups of {operations} operations, 3 + 3 + 2 + 7. With 30 neurons in place "
        f"of 20 there are {solution_1(30)[1]} operations, and {solution_1(30)[0]} groups."
    )


def solution_1(neurons=20):
    model = nn.Sequential(
        nn.Linear(8, neurons, activation=tanh, seed=0),  # dot, +, tanh
        nn.Linear(neurons, neurons, activation=tanh, seed=1),  # dot, +, tanh
        nn.Linear(neurons, 4, seed=2),  # dot, +
    )
    target = Vector([1.0, 0.0, 0.0, 0.0]).requires_grad_(False)
    loss = nn.cross_entropy(model(Vector([0.1] * 8)), target)
    _, *operations = groups(loss).values()
    return len(operations), sum(map(len, operations))


def groups(output):
    """The nodes of each depth and operation, the leaves first."""
    found = {}
    for node, depth in depths(output).items():
        found.setdefault((depth, node.op), []).append(node)
    return found


# -- 2. Be the compiler -----------------------------------------------------------------------

SHAPES = {"c_bar": (), "v_bar": (8,), "b_bar": (8,), "W_bar": (8, 3)}


@Check
def check_2(answer):
    given = random_regression()
    x, t, W, b, v, c = given
    losses, found = gradients_of(answer, copy.deepcopy(given))
    right_losses, (W_bar, b_bar, v_bar, c_bar) = by_compiler(given)
    right = {"W_bar": W_bar, "b_bar": b_bar, "v_bar": v_bar, "c_bar": c_bar}
    if np.shape(losses) != (30,) or not np.allclose(losses, right_losses, rtol=1e-10):
        raise Hint("The losses have changed: return error * error, as the way forward did.")

    h = W @ x + b[:, None]
    error = v @ np.maximum(h, 0) + c - t
    unmasked = 2 * error * v[:, None]
    stops = "relu stops what is negative: where h <= 0, h_bar is 0."
    wrong = {
        "c_bar": {"error_bar is 2 * error.": error.sum()},
        "v_bar": {
            "That is the message for relu's result, summed.": unmasked.sum(axis=1),
            "The message for v is error_bar times r, not h.": 2 * h @ error,
        },
        "b_bar": {stops: unmasked.sum(axis=1)},
        "W_bar": {stops: unmasked @ x.T},
    }
    done = []
    for name, shape in SHAPES.items():
        if found[name] is ...:
            so_far = f"Right so far: {', '.join(done)}. " if done else ""
            raise Hint(f"{so_far}Not filled in yet: {name}.")
        compare(name, found[name], right[name].reshape(shape), wrong[name])
        done.append(name)
    return "Right, entry by entry: what you wrote is what the compiler writes."


def gradients_of(answer, given):
    """The losses that an answer returns, and its gradients by name."""
    if not callable(answer):
        raise Hint(f"Expected a function of x, t, W, b, v and c, found {answer!r}.")
    try:
        result = answer(*given)
    except TypeError as error:
        if "ellipsis" in str(error):
            raise Hint("A line still computes with the dots.") from None
        raise
    except ValueError as error:
        if "enough dimensions" in str(error):
            raise Hint("One side of an `@` is not an array. Are the dots still there?") from None
        text = (
            "Two shapes do not fit together. x is (3, n), error (n,), v (8,), h and r are (8, n)."
        )
        raise Hint(f"{text} Which of them do you need transposed?") from None
    try:
        losses, gradients = result
        W_bar, b_bar, v_bar, c_bar = gradients
    except (TypeError, ValueError):
        raise Hint("Return the losses and four gradients: (W_bar, b_bar, v_bar, c_bar).") from None
    return losses, {"W_bar": W_bar, "b_bar": b_bar, "v_bar": v_bar, "c_bar": c_bar}


def compare(name, found, right, wrong):
    """A hint for a gradient that is not right; `wrong` holds the common ones by their hints."""
    try:
        found = np.asarray(found, dtype=float)
    except (TypeError, ValueError):
        raise Hint(f"{name} should be an array of numbers.") from None
    if found.shape == right.shape[::-1] != right.shape:
        raise Hint(f"{name} is {found.shape}: transposed. Its parameter is {right.shape}.")
    if found.shape != right.shape:
        remedy = "Sum over the axis that the parameter does not have."
        raise Hint(f"{name} has the shape {found.shape}, its parameter {right.shape}. {remedy}")
    if np.allclose(found, right / 30):
        raise Hint(f"{name} is that of the mean. Expected the sum over the samples.")
    if np.allclose(found, -right):
        raise Hint(f"{name} has the wrong sign.")
    for text, array in wrong.items():
        if np.allclose(found, array):
            raise Hint(f"{name}: {text}")
    if not np.allclose(found, right, rtol=1e-10, atol=1e-10):
        raise Hint(f"{name} is not what the compiler finds. Follow the messages.")


def random_regression():
    """Other numbers in each run: x, t, W, b, v, c for 30 samples."""
    rng = np.random.default_rng()
    x, t = rng.normal(size=(3, 30)), rng.normal(size=30)
    return x, t, rng.normal(size=(8, 3)), rng.normal(size=8), rng.normal(size=8), rng.normal()


def by_compiler(given):
    """The losses and the gradients of W, b, v and c, by the package."""
    x, t, W, b, v, c = given
    hidden, last = nn.Linear(3, 8, activation=relu, seed=0), nn.Linear(8, 1, seed=1)
    inputs, target = Vector([0.1] * 3), Value(0.0)
    loss = (last(hidden(inputs))[0] - target) ** 2
    wrt = nn.Sequential(hidden, last).parameters()
    program = Expression(loss).compile([inputs, target], wrt=wrt, xp=np, batch=True)
    losses, flat = program(np.vstack([x, t]).T, np.concatenate([W.ravel(), b, v, [c]]))
    return losses, np.split(flat, [24, 32, 40])


def solution_2(x, t, W, b, v, c):
    h = W @ x + b[:, None]
    r = np.maximum(h, 0)
    error = v @ r + c - t
    # and back
    error_bar = 2 * error
    c_bar = error_bar.sum()
    v_bar = r @ error_bar
    r_bar = v[:, None] * error_bar
    h_bar = np.where(h > 0, r_bar, 0.0)
    W_bar, b_bar = h_bar @ x.T, h_bar.sum(axis=1)
    return error * error, (W_bar, b_bar, v_bar, c_bar)


# -- 3. Out of the chain ----------------------------------------------------------------------


@Check
def check_3(answer):
    sizes = []
    for n in (6, 12):
        coefficients, x = Vector([(-1.0) ** k / (k + 1) for k in range(n)]), Value(0.7)
        y = polynomial_of(answer, coefficients, x)
        sizes.append(Counter(op for depth, op in groups(y) if depth))
    before, after = sizes
    growing = sorted(op for op in after if after[op] > before[op])
    if growing:
        text = f"With 6 coefficients: {before.total()} groups, with 12: {after.total()}.\n"
        if growing == ["+"]:
            raise Hint(
                text + "Only the additions still wait for one another. One node can add all."
            )
        if "+" not in growing:
            raise Hint(text + "The powers wait for one another. x**k needs x alone.")
        raise Hint(text + "Each step waits for the one before. What can be done side by side?")
    program = Expression(y).compile([x], wrt=coefficients, xp=np, batch=True)
    points = np.random.default_rng().uniform(-1, 1, size=(5, 1))
    values, slopes = program(points, np.array(coefficients.data))
    powers = points ** np.arange(12)  # the derivatives with respect to the coefficients
    if not np.allclose(values, powers @ coefficients.data) or not np.allclose(
        slopes, powers.sum(0)
    ):
        raise Hint("At 0.7 it is right, but not at other points: it does not follow x, or c.")
    return f"Right: {after.total()} groups, for 6 coefficients as for 12."


def polynomial_of(answer, coefficients, x):
    """The graph that an answer makes; a hint if its number is wrong."""
    if not callable(answer):
        raise Hint(f"Expected a function of coefficients and x, found {answer!r}.")
    try:
        y = answer(coefficients, x)
    except TypeError as error:
        if "a float has no derivative" not in str(error):
            raise
        text = "Something turns x into a float, as the functions of `math` do. Write x**k."
        raise Hint(text) from None
    except ValueError as error:
        if not str(error).startswith("dot"):
            raise
        raise Hint("`dot` needs as many powers as coefficients, from x**0 on.") from None
    if y is ... or y is None:
        raise Hint("Your function returns nothing. It should return a Value.")
    if not isinstance(y, Value):
        raise Hint(f"Expected a Value, found {errors.a(y)}. Add everything up to one number.")
    n, numbers = len(coefficients), np.array(coefficients.data)
    right, backwards = np.polyval(numbers[::-1], x.data), np.polyval(numbers, x.data)
    if not np.isclose(y.data, right, rtol=1e-9):
        remedy = "A sum of c * x**k."
        if np.isclose(y.data, backwards):
            remedy = "Which coefficient belongs to which power? Coefficient 0 comes first."
        raise Hint(f"With {n} coefficients it gives {y.data:.6g}, expected {right:.6g}. {remedy}")
    if not {x, *coefficients} <= {*topological_order(y)}:
        text = (
            "The number is right, but x or a coefficient is not in its graph: `.data` takes it out."
        )
        raise Hint(text)
    return y


def solution_3(coefficients, x):
    return ad.dot(coefficients, [x**k for k in range(len(coefficients))])


solution = solutions(globals())
