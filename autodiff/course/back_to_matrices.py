# pyright: analyzeUnannotatedFunctions=false
"""Notebook 10: graphs in groups; guesses and exercises."""

import math
from collections import defaultdict

import numpy as np

import autodiff as ad
from autodiff import Value, nn, topological_order
from autodiff.compiler.batch.normal import NormalForm
from autodiff.engine.graph import depths
from autodiff.engine.number import Number

from .reverse_mode import result_and_messages
from .vectors_and_matrices import drawn
from .verdicts import Exercise, Hint, after_your_guess, expect, guesses, solutions


def tidied(output):
    """The graph in normal form: what is added or multiplied one by one has become a sum or a dot."""
    leaves = [node for node in topological_order(output) if not node.parents]
    return NormalForm([output], [], leaves)[output]


def groups(output):
    """The operations of a graph by depth, kind and number of parents; as on the page."""
    found = defaultdict(list)
    for node, depth in depths(tidied(output)).items():
        if node.parents:
            found[depth, node._operation, len(node.parents)].append(node)
    return found


def stacked(rows):
    """The rows as one array; a lone number is repeated if others are longer. Symbols write it."""
    for row in rows:
        if isinstance(row, Number):
            return row.stacked(rows)
    return np.stack(np.broadcast_arrays(*map(np.atleast_1d, map(np.asarray, rows))))


def once(members, values):
    """The columns of the parents of a group, and the result and closure of its rule; as on the page."""
    columns = list(zip(*[node.parents for node in members], strict=True))
    arrays = [stacked([values[p] for p in column]) for column in columns]
    return columns, *members[0]._operation.rule(*arrays)


def run_forward(output, samples, once=once):
    """The array of each node, and of each group its members, parents and closure; as on the page."""
    leaves = [node for node in depths(tidied(output)) if not node.parents]
    values, done = {leaf: np.array([leaf.data]) for leaf in leaves} | samples, []
    for members in groups(output).values():
        columns, results, closure = once(members, values)
        values |= zip(members, results)
        done.append((members, columns, closure))
    return values, done


class ArrayRecorder(Number):
    """Applies operations by writing them for NumPy."""

    _yields, __array_ufunc__ = False, None  # so that NumPy's arrays leave arithmetic to it
    size = property(lambda self: math.prod(self.shape))

    def __array__(self, *_, **__):
        raise TypeError("a symbol knows arithmetic, len, its rows, and row.sum(keepdims=True)")

    def texts(self, inputs):
        return [f"np.array({x.tolist()})" if hasattr(x, "tolist") else str(x) for x in inputs]

    def _apply(self, operation, *inputs):
        if operation.composite:
            return operation.value(*inputs)
        terms = [x for x in inputs if np.shape(x) or x]
        if operation is ad.ops.add and len(terms) == 1:  # to 0.0
            return terms[0]
        names = self.texts(inputs)
        text = f"np.{operation.__name__}({', '.join(names)})"
        if sign := operation.sign:
            text = f" {sign} ".join(names) if len(names) == 2 else sign + names[0]
        return self.written(text, *np.broadcast_shapes(*map(np.shape, inputs)))


class Bare(np.ndarray):
    """An array that knows what a symbol knows, without the functions of NumPy."""

    def __array_function__(self, function, *_):
        known = "arithmetic, `@`, `.T`, `len` and `row.sum(keepdims=True)`"
        raise Hint(f"Symbols will come here, and know only {known}: no `np.{function.__name__}`.")


def adjoints_of(answer, graph):
    """The adjoints of x and z, which have a number for each of four samples, and of w and b, with one."""
    x, z, w, b = leaves = [Value(number) for number in (0.5, 1.5, -0.7, 1.2)]
    samples = {x: np.array([0.5, 1.0, -1.5, 2.0]), z: np.array([1.0, -0.5, 0.3, 0.9])}
    values, done = run_forward(graph(x, z, w, b), samples)
    found = answer({node: array.view(Bare) for node, array in values.items()}, done)
    expect(isinstance(found, dict), "the adjoints of the nodes, a dict", found)
    if {*leaves}.isdisjoint(found):
        raise Hint("Nothing here yet: no message has reached a parent. Each gets a row.")
    for name, leaf in zip("xzwb", leaves):
        yield f"the adjoint of {name}", np.asarray(found.get(leaf, 0 * values.get(leaf, 1))).ravel()


def solution_1(values, done):
    (output,) = done[-1][0]
    adjoint = defaultdict(float, {output: values[output] ** 0})
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


check_1 = Exercise(
    solution_1,
    ask=adjoints_of,
    at={
        "y = x * w + b,": (lambda x, z, w, b: x * w + b,),
        "y = x * tanh(x * w),": (lambda x, z, w, b: x * ad.tanh(x * w),),
        "y = tanh(x * w) - tanh(x * b),": (lambda x, z, w, b: ad.tanh(x * w) - ad.tanh(x * b),),
        "y = x * tanh(w * b),": (lambda x, z, w, b: x * ad.tanh(w * b),),
        "y = cross_entropy((x, w, b), 0),": (lambda x, z, w, b: nn.cross_entropy([x, w, b], 0),),
        "y = where(less(0, x), x * w, z * b),": (lambda x, z, w, b: ad.where(ad.less(0, x), x * w, z * b),),
        "y = exp(x + w) * (x + z) + b * z,": (lambda x, z, w, b: ad.exp(x + w) * (x + z) + b * z,),
    },
    praise="Right: a backward pass, whose steps are groups.",
    otherwise="Take one group on paper: what does its closure need, and whose is each row that it returns?",
    slips="""
        One number served four samples, so {part} is one number, not four. What becomes of the four?
            len(values[parent]) == 1 → False
        All messages count, so they add up; the mean makes {part} four times too small.
            row.sum( → row.mean(
        Each sample has an x of its own: only what is one number is added up over the samples.
            len(values[parent]) == 1 → True
        A node gets a message from each of its uses. Yours keeps only the last.
            += row → = row
        Some messages are None: the choice of the largest logit sends nothing back. Skip them.
            message is None → False
        None for one parent says nothing about the others: go on with the next column.
            continue → break
        Two parents were sent the same array, and `+=` changed both: add into a new one.
            += row → = adjoint[parent].__iadd__(row) if parent in adjoint else row
        The closure takes one array: stack the adjoints of the members.
            stacked( → list(
        The closure takes the adjoints of the members, not their values.
            adjoint[node] → values[node]
    """,
)  # fmt: skip


def solution_2(rows):
    (name, first), count = rows[0], len(rows)
    if rows == [(name, first + k) for k in range(count)]:
        return f"{name}[{first}:{first + count}]"
    if rows == [(name, first)] * count:
        return f"repeated({name}[{first}], {count})"
    return "stacked"


check_2 = Exercise(
    solution_2,
    at={
        text: ([(row[0], int(row[1])) for row in text.split()],)
        for text in (
            *("u0 u1 u2", "u1 u2 u3", "u4 u5", "u2", "u3 u3 u3", "u0 u0", "u0 u2 u1 u3", "u2 u1 u0"),
            *("u0 u2 u4", "u0 u0 u1", "u0 u1 u1", "u0 u1 u0", "v0 u1", "u0 v1 u2", "u0 v0", "u1 v1 u1"),
        )
    },
    praise="Right: what lies side by side is not copied, and what is the same is there once.",
    otherwise="Look at the names and the numbers of all rows, in their order.",
    slips="""
        Right for rows that follow each other. And the same row, again and again?
            rows == [(name, first)] * count → False
        Right for the same row, again and again. And rows that follow each other?
            [(name, first + k) for k in range(count)] → 0
            → 0; == [(name, first)] → == (count > 1) * [(name, first)]
        A part ends *before* its second number: write {expected}.
            first + count → first + count - 1
    """,
)  # fmt: skip


def messages_of(answer, W, X, G):
    try:
        yield from result_and_messages(answer, (W.view(Bare), X.view(Bare)), G.view(Bare), "WX")
    except ValueError:
        raise Hint("The shapes do not fit. Which factor has to be transposed?") from None


def solution_3(W, X):
    return W @ X, lambda G: (G @ X.T, W.T @ G)


check_3 = Exercise(
    solution_3,
    ask=messages_of,
    at=drawn(((3, 2), (2, 5), (3, 5)), ((2, 4), (4, 1), (2, 1))),
    praise="Right: two products of matrices, and nobody wrote a sum.",
    otherwise="W[i, j] met X[j, s] on the way to result[i, s], for each sample s.",
    slips="""
        The first message is for W, and is made of X; the second for X, of W.
            G @ X.T, W.T @ G → W.T @ G, G @ X.T
            → X, W
            → X.T, W.T
        The closure forgets G, the gradient of the result.
            G @ → G**0 @; @ G → @ G**0
        The messages add up over the samples; their mean is too small.
            G @ X.T → G @ X.T / X.shape[1]
    """,
)


predict = guesses("""
    1. 12: Right: five in the layers, seven in the loss.
       else: Count the boxes of the layers, then unfold the loss: it has more than one step.
    2. 10: Right: then a bias for each neuron passes for one for each flower. Only the numbers are wrong.
       1: No error then, but (10, 1) plus (10,) has the shape (10, 10), which comes to light soon.
       else: The last axes are compared first: the flowers, and the biases.
    3. 2: Right: nine dots of four are one product, and the dot of three is another.
       1: They have the same depth. But does a dot of three fit into a matrix with four columns?
       10: That would be a line for each neuron. Nine of them are alike.
       else: Which of the ten dots have the same number of parents?
    4. 1: Right: arrays get longer, the program does not.
       else: Which line would have to be written twice?
""")

solution = solutions(globals())
