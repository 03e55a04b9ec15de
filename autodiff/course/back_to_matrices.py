# pyright: analyzeUnannotatedFunctions=false
"""Notebook 10: groups in colours, two programs side by side, springs, a race; guesses, exercises."""

import ast
import inspect
import re
import time
from collections import Counter, defaultdict
from functools import reduce
from math import dist
from timeit import repeat

import numpy as np

import autodiff as ad
from autodiff import Expression, Value, Vector, draw, nn, topological_order
from autodiff.compiler.normal import NormalForm

from .figures import BLUE, GREY, show
from .verdicts import Exercise, Hint, a, after_your_guess, guesses, number, solutions

# -- Groups, each in one colour ---------------------------------------------------------------

TINTS = {
    "dot1|weight_0": "#cbe2f6",
    "add1|bias_0": "#c9ead9",
    "tanh1": "#fbeca4",
    "dot2|weight_1": "#f2d3e5",
    "add2|bias_1": "#fdd9bd",
    "largest1|sub1|exp1|dot3|sum1|log1|sub2|values": "#d9dde2",  # the loss
}


def groups(output):
    """The operations of a graph in normal form by depth and kind, {"dot1": [ten nodes], ...}."""
    found, counts = defaultdict(list), Counter()
    leaves = [node for node in topological_order(output) if not node.parents]
    for node, depth in ad.graph.depths(NormalForm([output], [], leaves)[output]).items():
        if node.parents:
            found[depth, node._operation.__name__].append(node)
    for depth, kind in [*found]:
        counts[kind] += 1
        found[f"{kind}{counts[kind]}"] = found.pop((depth, kind))
    return dict(found)


def paint(text):
    """The text, with the names of each group of the network 4-10-3 in its colour."""
    for names, tint in TINTS.items():
        red, green, blue = bytes.fromhex(tint[1:])
        painted = f"\x1b[38;2;0;0;0;48;2;{red};{green};{blue}m\\g<0>\x1b[0m"
        text = re.sub(rf"\b(?:{names})(?:_bar)?\b", painted, text)
    return text


def picture(loss, **names):
    """The arrays of the network, each operation with its parameters in the colour of its group."""
    drawing = draw(loss, arrays=True, names=names)
    found = [re.search(r"class=(?:operation|output) id=n(\d+)", line) for line in drawing.body]
    boxes = sorted((int(box[1]), i) for i, box in enumerate(found) if box)
    for (_, i), tint in zip(boxes, TINTS.values(), strict=True):
        drawing.body[i] = drawing.body[i].replace("#ffffff", tint)
    return drawing


def run_in_groups(output, numbers):
    """The output, and the adjoint of each node: every group once, over arrays, and back."""
    numbers, done = dict(numbers), []  # of each node: one for each sample
    for nodes in groups(output).values():
        columns = list(zip(*[node.parents for node in nodes]))
        arrays = [np.array([numbers[p] for p in column]) for column in columns]
        results, closure = nodes[0]._operation.rule(*arrays)  # the operation, once
        numbers |= zip(nodes, results)
        done.append((nodes, columns, closure))
    adjoint = defaultdict(float, {nodes[0]: np.ones_like(results[0])})  # of the output
    for nodes, columns, closure in reversed(done):
        for column, message in zip(columns, closure(np.array([adjoint[x] for x in nodes]))):
            for parent, row in zip(column, message if message is not None else ()):
                adjoint[parent] = adjoint[parent] + row
    return results[0], adjoint


# -- Two programs side by side ----------------------------------------------------------------


def side_by_side(program, arguments, by_hand, arguments_by_hand):
    """The lines of a program, each after the names of a function's variables for the same array.

    Both are run, and the variables that they have at the end are compared, to twelve digits.
    """
    human = variables(by_hand, arguments_by_hand)
    computed = variables(program, arguments)
    lines = []
    for line in program.source.splitlines():
        array = computed.get(line.partition(" = ")[0].strip(), np.array(np.nan))
        equal = [
            name for name, other in human.items()
            if other.shape == array.shape and np.allclose(other, array, 1e-12, 1e-12)
        ]  # fmt: skip
        lines.append(f"{' '.join(equal):8}{line}".rstrip())
    return "\n".join(lines)


def variables(run, arguments):
    """The arrays in the variables of a function when it returns: its lines are run one by one."""
    code = ast.parse(getattr(run, "source", None) or inspect.getsource(run)).body[-1]
    found = {"np": np, "xp": np} | dict(zip([each.arg for each in code.args.args], arguments))
    exec(ast.unparse(code.body[:-1]), found)  # all but the return
    return {key: array for key, array in found.items() if isinstance(array, np.ndarray)}


# -- A house of balls and springs -------------------------------------------------------------

HOUSE = [(0, 0), (1, 0), (1, 1), (0, 1), (0.5, 1.6)]
SPRINGS = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3], [2, 4], [3, 4]]


def energy_of(balls):
    """The sum of the squares of how much each spring is too long or too short."""
    energies = []
    for i, j in SPRINGS:
        across, up = balls[2 * i] - balls[2 * j], balls[2 * i + 1] - balls[2 * j + 1]
        energies.append((ad.hypot(across, up) - dist(HOUSE[i], HOUSE[j])) ** 2)
    return ad.sum(energies)


def houses(throws, places, energies):
    """The balls as they were thrown, in grey, and where they came to rest."""
    import matplotlib.pyplot as plt

    titles = [f"{before:.2f} → {after:.2f}" for before, after in zip(*energies)]
    figure, axes = plt.subplots(1, 4, figsize=(6.4, 2.3), layout="constrained")
    for panel, title, *pair in zip(axes, titles, throws, places):
        for at, colour in zip(pair, (GREY, BLUE)):
            across, up = at.reshape(5, 2).T
            for ends in SPRINGS:
                panel.plot(across[ends], up[ends], "o-", color=colour, markersize=4)
        panel.set(title=title, aspect="equal", adjustable="datalim", xticks=[], yticks=[])
    show(
        figure, f"Five balls and eight springs, thrown, and at rest. Energies: {', '.join(titles)}"
    )


# -- The race ---------------------------------------------------------------------------------


def network(data, hidden):
    """Inputs and one-hot targets of a data set, a network with tanh, its symbols and its loss."""
    x = (data.data - data.data.mean(axis=0)) / np.maximum(data.data.std(axis=0), 1e-6)
    t = np.eye(data.target.max() + 1)[data.target]
    first = nn.Linear(x.shape[1], hidden, activation=ad.tanh, seed=0)
    model = nn.Sequential(first, nn.Linear(hidden, t.shape[1], seed=1))
    symbols = [Vector(row).requires_grad_(False) for row in (x[0], t[0])]
    return x, t, model, symbols, nn.cross_entropy(model(symbols[0]), symbols[1])


def seconds(run, calls=1):
    """Processor time of a call: the best of five rounds, garbage collection included."""
    return min(repeat(run, "import gc; gc.enable()", time.process_time, 5, calls)) / calls


def race(by_hand, data, hidden, some):
    """Seconds for one epoch, loss and gradient; only `some` samples are walked, and scaled up."""
    x, t, model, symbols, loss = network(data, hidden)
    parameters = model.parameters()
    layers = [np.array(p.data) for layer in model.layers for p in (layer.weight, layer.bias)]
    columns, p = (x.T.copy(), t.T.copy(), *layers), np.concatenate([w.ravel() for w in layers])
    program = Expression(loss).compile(symbols, wrt=parameters, xp=np, batch=True)
    rows = np.hstack([x, t])
    found = program(rows, p)[1], np.concatenate([w.ravel() for w in by_hand(*columns)[1]])
    assert np.allclose(*found, rtol=1e-9, atol=1e-9), "everyone has to find the same gradient"

    def walk():
        for row, kind in zip(x[:some], data.target):
            nn.cross_entropy(model(row), kind).backward()

    return {
        "walked, a node for each neuron": seconds(walk) / some * len(x),
        "compiled to NumPy": seconds(lambda: program(rows, p), 20),
        "NumPy by hand": seconds(lambda: by_hand(*columns), 20),
    }


predict = guesses(
    {
        1500: "Right: 150 rows, one for each flower, and 10 columns.",
        10: "That is one row.",
        ...: "150 rows, one for each flower, and 10 columns.",
    },
    {
        1500: "Right: the column is stretched 150 times, the row 10 times.",
        160: "Not side by side.",
        ...: "The column is stretched 150 times, the row 10 times.",
    },
    {10: "Right: messages add up, wherever they come from.", ...: "Where paths meet, they add."},
    {
        12: "Right: five in the layers, seven in the loss.",
        6: "The picture folds the loss. Unfold it.",
        ...: "Count the boxes of the layers, and then the steps of the loss.",
    },
    {
        2: "Right: nine neurons share a line, and the tenth has its own.",
        10: "Nine of the ten are still alike.",
        ...: "Which of the ten still do the same thing to the same inputs?",
    },
    {
        36: "Right: every step waits for the one before.",
        ...: "Which of them need not wait for another?",
    },
)


def solution_1():
    # dot, +, tanh; dot, +, tanh; dot, +; and seven of the loss
    return 3 + 3 + 2 + 7


check_1 = Exercise(
    solution_1(),
    ask=number,
    praise="Right: 15 groups of 141 operations, and 15 of 201 with 30 neurons in place of 20.",
    otherwise="Go through the boxes of the picture, with one more hidden layer.",
    slips={
        "That is one hidden layer. Here are two.": 12,
        "Nearly. Leaves are not operations, and the last layer has biases but no tanh.": [14, 16],
    },
)


def gradients_of(answer, *given):
    losses, (W_bar, b_bar, v_bar, c_bar) = answer(*given)
    names = "losses", "c_bar", "v_bar", "b_bar", "W_bar"
    yield from zip(names, (losses, c_bar, v_bar, b_bar, W_bar))


def random_regression():
    rng = np.random.default_rng(0)
    x, t = rng.normal(size=(3, 30)), rng.normal(size=30)
    return x, t, rng.normal(size=(8, 3)), rng.normal(size=8), rng.normal(size=8), rng.normal()


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


check_2 = Exercise(
    solution_2,
    ask=gradients_of,
    at={"30 samples,": random_regression()},
    praise="Right, entry by entry: what you wrote is what the compiler writes.",
    otherwise="Follow the messages: x is (3, n), error (n,), v (8,), h and r are (8, n).",
    slips={
        "v_bar: the message for v is error_bar times r.": ["r @ error_bar → h @ error_bar", "r @ error_bar → r @ error"],
        "{part}: relu stops what is negative: where h <= 0, h_bar is 0.": ["np.where(h > 0, r_bar, 0.0) → r_bar", "h_bar @ → r_bar @"],
        "b_bar has to be summed over the samples, axis 1.": ["h_bar.sum(axis=1) → h_bar", "axis=1 → axis=0"],
    },
)  # fmt: skip


def batched(answer, at):
    sizes = []
    for n in (6, 12):
        coefficients, x = Vector([(-1.0) ** k / (k + 1) for k in range(n)]), Value(at)
        y = answer(coefficients, x)
        if not isinstance(y, Value):
            raise Hint(f"Expected a Value, found {a(y)}. Add everything up to one number.")
        yield f"the value for {n} coefficients", y.data
        y.backward()
        yield f"the derivatives by x and {n} coefficients", [x.grad, *coefficients.grad]
        sizes.append(Counter(name.rstrip("0123456789") for name in groups(y)))
    yield (
        "more groups with 12 coefficients than with 6",
        ", ".join(f"{more} {name}" for name, more in sorted((sizes[1] - sizes[0]).items()))
        or "none",
    )


def solution_3(coefficients, x):
    return ad.dot(coefficients, [x**k for k in range(len(coefficients))])


check_3 = Exercise(
    solution_3,
    ask=batched,
    at={"x = 0.7": (0.7,), "x = -0.7": (-0.7,)},
    praise="Right: no step waits for another, so the groups are the same for 6 coefficients as for 12.",
    otherwise="A sum of c * x**k, each power made by itself.",
    slips={
        "Each step waits for the one before. What can be done side by side?": "reduce(lambda y, c: y * x + c, reversed(coefficients), 0.0)",
        "The number is right, but {part} are not: `.data` takes a number out of the graph.": ["x**k → x.data**k", "dot(coefficients → dot(coefficients.data"],
    },
)  # fmt: skip

solution = solutions(globals())
