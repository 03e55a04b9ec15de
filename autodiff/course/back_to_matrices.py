# pyright: analyzeUnannotatedFunctions=false
"""Notebook 10: groups in colours; guesses and exercises."""

import re
from collections import defaultdict
from functools import reduce
from itertools import accumulate
from operator import mul

import numpy as np

import autodiff as ad
from autodiff import Value, Vector, draw, nn, topological_order
from autodiff.compiler.batch.normal import NormalForm
from autodiff.engine.errors import kind_of
from autodiff.engine.graph import depths

from .verdicts import NOTHING, Exercise, Hint, after_your_guess, guesses, solutions

TINTS = {
    "dot1|weight_0": "#cbe2f6",
    "add1|bias_0": "#c9ead9",
    "tanh1": "#fbeca4",
    "dot2|weight_1": "#f2d3e5",
    "add2|bias_1": "#fdd9bd",
    "largest1|sub1|exp1|dot3|sum1|log1|sub2|values": "#d9dde2",  # the loss
}


def tidied(output):
    """The graph in normal form: what is added or multiplied one by one has become a sum or a dot."""
    leaves = [node for node in topological_order(output) if not node.parents]
    return NormalForm([output], [], leaves)[output]


def groups(output):
    """The operations of a graph by depth and kind, {(1, "dot"): [ten nodes], ...}; as on the page."""
    found = defaultdict(list)
    for node, depth in depths(tidied(output)).items():
        if node.parents:
            found[depth, node._operation.__name__].append(node)
    return found


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


def stacked(arrays):
    """The arrays as rows of one; a lone number is repeated if others are longer."""
    return np.stack(np.broadcast_arrays(*map(np.atleast_1d, arrays)))


def run_forward(output, samples):
    """The array of each node, and of each group its members, parents and closure; as on the page."""
    leaves = [node for node in depths(tidied(output)) if not node.parents]
    values, done = {leaf: np.array([leaf.data]) for leaf in leaves} | samples, []
    for members in groups(output).values():
        columns = list(zip(*[node.parents for node in members]))
        arrays = [stacked([values[p] for p in column]) for column in columns]
        results, closure = members[0]._operation.rule(*arrays)
        values |= zip(members, results)
        done.append((members, columns, closure))
    return values, done


predict = guesses(
    {
        12: "Right: five in the layers, seven in the loss.",
        ...: "Count the boxes of the layers, then unfold the loss: it has more than one step.",
    },
    {
        10: "Right: then a bias for each neuron passes for one for each flower. Only the numbers are wrong.",
        1: "No error then, but (10, 1) plus (10,) has the shape (10, 10), which comes to light soon.",
        ...: "The last axes are compared first: the flowers, and the biases.",
    },
    {
        2: "Right: nine neurons share a line, and the tenth has its own.",
        ...: "Which of the ten still do the same thing to the same inputs?",
    },
    {
        26: "Right: arrays get longer, the program does not.",
        ...: "Which line would have to be written twice?",
    },
)


def adjoints_of(answer, graph):
    """The adjoints of x, which has a number for each of four samples, and of w and b, with one."""
    x, w, b = map(Value, (0.5, -0.7, 1.2))
    values, done = run_forward(graph(x, w, b), {x: np.array([0.5, 1.0, -1.5, 2.0])})
    found = answer(values, done)
    if not isinstance(found, dict):
        raise Hint(f"Return the adjoints of the nodes, a dict: found {kind_of(found)}.")
    if set(found) <= {*done[-1][0]}:
        raise Hint(NOTHING)
    for name, leaf in zip("xwb", (x, w, b)):
        yield f"the adjoint of {name}", np.ravel(found.get(leaf, 0 * values.get(leaf, 1)))


def solution_1(values, done):
    (output,) = done[-1][0]
    adjoint = defaultdict(float, {output: np.ones_like(values[output])})
    for members, columns, closure in reversed(done):
        messages = closure(stacked([adjoint[node] for node in members]))
        for column, message in zip(columns, messages):
            if message is None:
                continue
            for parent, row in zip(column, message):
                if len(values[parent]) == 1:  # one number, which served all samples
                    row = row.sum(keepdims=True)
                adjoint[parent] += row
    return adjoint


def fitted(row, value):
    return row.sum(keepdims=True) if len(value) == 1 else row


def backward_with(add=lambda old, row: old + row, fit=fitted, nothing=()):
    """Our answer with another way to add, to fit a row to a value, or to skip None."""

    def wrong(values, done):
        adjoint = defaultdict(float, {done[-1][0][0]: np.ones_like(values[done[-1][0][0]])})
        for members, columns, closure in reversed(done):
            grad = stacked([adjoint[node] for node in members])
            for column, message in zip(columns, closure(grad)):
                for parent, row in zip(column, nothing if message is None else message):
                    adjoint[parent] = add(adjoint[parent], fit(row, values[parent]))
        return adjoint

    return wrong


check_1 = Exercise(
    solution_1,
    ask=adjoints_of,
    at={
        "y = x * w + b,": (lambda x, w, b: x * w + b,),
        "y = x * tanh(x * w),": (lambda x, w, b: x * ad.tanh(x * w),),
        "y = tanh(x * w) - tanh(x * b),": (lambda x, w, b: ad.tanh(x * w) - ad.tanh(x * b),),
        "y = x * tanh(w * b),": (lambda x, w, b: x * ad.tanh(w * b),),
        "y = cross_entropy((x, w, b), 0),": (lambda x, w, b: nn.cross_entropy([x, w, b], 0),),
    },
    praise="Right: a backward pass, whose steps are groups.",
    otherwise="Take one group on paper: what does its closure need, and whose is each row that it returns?",
    slips={
        "One number served four samples, so {part} is one number, not four. What becomes of the four?": (
            backward_with(fit=lambda row, value: row)
        ),
        "All messages count, so they add up; the mean makes {part} four times too small.": backward_with(
            fit=lambda row, value: row.mean(keepdims=True) if len(value) == 1 else row
        ),
        "Each sample has an x of its own: only what is one number is added up over the samples.": (
            backward_with(fit=lambda row, value: row.sum(keepdims=True))
        ),
        "x gets a message from each of its uses. Yours keeps only the last.": backward_with(
            add=lambda old, row: row
        ),
        "Some messages are None: the choice of the largest logit sends nothing back. Skip them.": (
            backward_with(nothing=None)
        ),
    },
)  # fmt: skip


def batched(answer, at):
    sizes = []
    for n in (6, 12):
        coefficients, x = Vector([(-1.0) ** k / (k + 1) for k in range(n)]), Value(at)
        y = answer(coefficients, x)
        if not isinstance(y, Value):
            raise Hint(f"Expected a Value, found {kind_of(y)}. Add everything up to one number.")
        yield f"the value for {n} coefficients", y.data
        y.backward()
        yield f"the derivatives by x and {n} coefficients", [x.grad, *coefficients.grad]
        sizes.append(len(groups(y)))
    yield "more groups with 12 coefficients than with 6", sizes[1] - sizes[0]


def solution_2(coefficients, x):
    return ad.dot(coefficients, [x**k for k in range(len(coefficients))])


check_2 = Exercise(
    solution_2,
    ask=batched,
    at={"x = 0.7": (0.7,), "x = -0.7": (-0.7,)},
    praise="Right: no step waits for another, so the groups are the same for 6 coefficients as for 12.",
    otherwise="Draw the graph for three coefficients: which node waits for which?",
    slips={
        "Each step waits for the one before. What can be done side by side?": (
            lambda coefficients, x: reduce(lambda y, c: y * x + c, reversed(coefficients), 0.0)
        ),
        "The sum waits no more, but each power still waits for the one before.": (
            lambda coefficients, x: ad.sum(
                map(mul, coefficients, accumulate([1.0] + [x] * (len(coefficients) - 1), mul))
            )
        ),
        "The number is right, but {part} are not: `.data` takes a number out of the graph.": (
            lambda coefficients, x: solution_2(coefficients, x.data) + 0 * x
        ),
    },
)


def gradients_of(answer, *given):
    losses, gradients = answer(*given)
    yield from zip(["losses", "c_bar", "v_bar", "b_bar", "W_bar"], [losses, *gradients])


SHAPES = [(3, 30), (30,), (8, 3), (8,), (8,), ()]  # of x, t, W, b, v, c


def solution_3(x, t, W, b, v, c):
    h = W @ x + b[:, None]
    r = np.maximum(h, 0)
    error = v @ r + c - t
    # and back
    error_bar = 2 * error
    c_bar = error_bar.sum()
    v_bar = r @ error_bar
    r_bar = v[:, None] * error_bar
    h_bar = np.where(h > 0, r_bar, 0.0)
    b_bar, W_bar = h_bar.sum(axis=1), h_bar @ x.T
    return error * error, (c_bar, v_bar, b_bar, W_bar)


def with_lines(v_bar=None, h_bar=None, b_bar=None):
    """Our answer with other lines, each a function of the arrays that it needs."""

    def wrong(x, t, W, b, v, c):
        h = W @ x + b[:, None]
        r, error = np.maximum(h, 0), v @ np.maximum(h, 0) + c - t
        error_bar, r_bar = 2 * error, v[:, None] * 2 * error
        to_v = v_bar(h, r, error) if v_bar else r @ error_bar
        to_h = h_bar(h, r_bar, error_bar) if h_bar else (h > 0) * r_bar
        to_b = b_bar(to_h) if b_bar else to_h.sum(axis=1)
        return error * error, (error_bar.sum(), to_v, to_b, to_h @ x.T)

    return wrong


check_3 = Exercise(
    solution_3,
    ask=gradients_of,
    at={"30 samples,": tuple(map(np.random.default_rng(0).standard_normal, SHAPES))},
    praise="Right, entry by entry: what you wrote is what the compiler writes.",
    otherwise="Follow the messages: x is (3, n), error (n,), v (8,), h and r are (8, n).",
    slips={
        "v was multiplied by r, so v_bar is made of error_bar and r.": [
            with_lines(v_bar=lambda h, r, error: h @ (2 * error)),
            with_lines(v_bar=lambda h, r, error: r @ error),
        ],
        "A sum over the samples, not the mean: {part} is 30 times too small.": [
            with_lines(v_bar=lambda h, r, error: r @ (2 * error) / 30),
            with_lines(b_bar=lambda h_bar: h_bar.mean(axis=1)),
        ],
        "On the way to r_bar there is the factor v, a number for each of the eight neurons.": (
            with_lines(h_bar=lambda h, r_bar, error_bar: (h > 0) * error_bar)
        ),
        "relu has the slope 1 or 0: the sign of h decides, h itself is no factor.": [
            with_lines(h_bar=lambda h, r_bar, _: h * r_bar),
            with_lines(h_bar=lambda h, r_bar, _: np.maximum(h, 0) * r_bar),
        ],
        "{part}: relu stops what is negative: where h <= 0, h_bar is 0.": with_lines(
            h_bar=lambda h, r_bar, _: r_bar
        ),
        "b_bar has to be summed over the samples, axis 1.": [
            with_lines(b_bar=lambda h_bar: h_bar), with_lines(b_bar=lambda h_bar: h_bar.sum(axis=0))
        ],
    },
)  # fmt: skip


solution = solutions(globals())
