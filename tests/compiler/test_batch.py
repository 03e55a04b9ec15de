"""From scalars back to matrices: the shapes, the lines and the numbers of programs for a batch."""

import math
import pickle
from functools import cache

import numpy as np
import pandas
import pytest
from catalogue import MAKE
from oracles import EPSILON
from random_graphs import OPERATIONS
from tables import cases, raising
from test_program import close, walked

import autodiff as ad
from autodiff import Expression, Matrix, Value, Vector, nn


def leaves(given):
    return [*getattr(given, "_entries", given)]


def batched(y, inputs, wrt, xp=np):
    return Expression(y).compile(leaves(inputs), wrt=leaves(wrt), xp=xp, batch=True)


def check(y, inputs, wrt):
    """The program of y, which computes what walking computes."""
    inputs, wrt = leaves(inputs), leaves(wrt)
    rows, p = np.random.default_rng(1).normal(size=(3, len(inputs))), [x.data for x in wrt]
    program = batched(y, inputs, wrt)
    found, gradients = program(rows, p)
    values, each, of_values, of_each = walked(y, [*inputs, *wrt], [[*row, *p] for row in rows])
    each, of_each = each[:, len(inputs) :], of_each[:, len(inputs) :]
    close(found, values, of_values)
    close(gradients, each.sum(axis=0), (of_each + len(rows) * EPSILON * abs(each)).sum(axis=0))
    return program


def drawn(*shape):
    """A Vector or a Matrix of random numbers."""
    numbers = np.random.default_rng(sum(shape)).normal(size=shape)
    return Matrix(numbers) if len(shape) == 2 else Vector(numbers)


# -- The lines of programs ------------------------------------------------------------------------


MODELS = [  # a model, its sizes, and the lines that its program had when it was read
    ("lecture", (4, 16, 16, 1), 25),
    ("lecture", (2, 2, 1), 25),
    ("lecture", (1, 5, 1), 25),
    ("demo", (2, 16, 16, 1), 28),
    ("demo", (2, 2, 1), 28),
    ("demo", (1, 5, 1), 28),
    ("linear", (5,), 15),
    ("softmax", (4, 3), 19),
    ("network", (4, 10, 3), 25),
    ("network", (7, 5, 2), 25),
    ("residual", (4,), 27),
    ("tied", (6, 3), 13),
    ("logistic", (5,), 15),
    ("RNN", (3, 2, 4), 26),
    ("RNN", (6, 2, 4), 34),
    ("LSTM", (2, 3, 4), 42),
    ("attention", (4, 3), 26),
    ("attention", (5, 3), 26),
    ("conv1d", (9, 3), 21),
    ("convolution", (6, 3), 24),
    ("convolution", (7, 2), 24),
    ("loops", (6, 3), 19),
]


@pytest.mark.parametrize(("name", "sizes", "lines"), MODELS)
def test_programs_do_not_grow(name, sizes, lines):
    """With the sizes of a model, or with changes to the compiler; nothing is gathered in them."""
    model = MAKE[name](*sizes)
    source = check(model.loss, model.x, model.parameters).source
    assert source.count("\n") <= lines
    for slow in ("where(0.0 <=", "scatter_add", "asarray(["):
        assert slow not in source


def test_a_network_is_the_matrix_program_that_one_would_write():
    model = MAKE["network"](4, 10, 3)
    program = batched(model.loss, model.x, model.parameters)
    assert program.source.count(" @ ") == 5  # two forward, three back: none for the inputs
    assert program.source.count(".reshape(") == 4  # two matrices, there and back
    assert "asarray" not in program.source  # no gather
    check(model.loss, model.x, model.parameters[50:])  # the first layer is constant
    given = model.rows(6), model.p
    for found, expected in zip(pickle.loads(pickle.dumps(program))(*given), program(*given)):
        np.testing.assert_array_equal(found, expected)


def test_arrays_are_named_after_the_parameters_of_the_model():
    class Two(nn.Module):
        def __init__(self):
            self.hidden = nn.Linear(2, 3, activation=ad.tanh, seed=0)
            self.lambda_ = Value(2.0)
            self.t1, self.p2, self.tanh1 = (Vector([0.1 * i, 0.5]) for i in range(3))  # ours
            self.len = Vector([0.3, 0.4])
            self.sigmoid = Value(0.5)

        def forward(self, x):
            y = self.hidden(x).sum() * self.lambda_
            y = y + (self.len * self.len).sum() + (self.p2 * self.tanh1.map(ad.tanh)).sum()
            return y + ad.logsumexp([*self.t1]) * ad.sigmoid(self.sigmoid * x[0])

    model, x = Two(), Vector([1.0, 2.0])
    source = check(model(x), x, model.parameters()).source
    for name in ("hidden_weight", "hidden_bias", "lambda_"):
        assert f"    {name} = parameters[" in source


# -- Shapes ---------------------------------------------------------------------------------------


def a_layer_twice(x, w):
    """Its matrix and its bias as one row, too, in the penalty."""
    weight, bias = Matrix([[*w[i : i + 3]] for i in (0, 3, 6)]), w[9:]
    for _ in range(2):
        x = (weight @ x + bias).map(ad.tanh)
    return x.sum() + 0.5 * ad.sum([p * p for p in w])


def product_by_product(x, w):
    """A layer written out with * and +: all pairs are found, and sums column by column."""
    hidden = [ad.tanh(sum(wi * xi for wi, xi in zip(row, x))) for row in w]
    return sum(a * b for a in hidden for b in hidden)


def constants(x, w):
    y = ad.sum([ad.sin(a * c) * b for a, b, c in zip(x, w, [0.1, 0.2, 0.2])])
    y = y + ad.dot(w, [0.5, -1.5, 2.0]) + ad.sum([a * c for a, c in zip(x, [2.0, 3.0, 4.0])])
    signs = zip(x, (0.0, -0.0))  # 1 / 0.0 is not 1 / -0.0
    return y + ad.sum([ad.maximum(a * w[0], c) * ad.hypot(a, c) for a, c in signs])


def overlapping_parts(x, w):
    grid = [[a * b for b in x] for a in w]
    parts = (
        (ad.tanh, grid), (ad.sin, [row[:2] for row in grid]), (ad.exp, [row[1:4] for row in grid]),
        (ad.cos, grid[1:3]), (ad.atan, [row[1:4] for row in grid[1:3]]),
    )  # fmt: skip
    return ad.sum([ad.sum([f(each) for row in part for each in row]) for f, part in parts])


def scattered_along_a_row(x, w):
    sines = w.map(ad.sin)
    y = ad.sum([ad.tanh(each) * x[0] for each in sines])
    return y + ad.sum([sines[i] * x[1] for i in (2, 0, 3, 3)])


def everything(x, w):
    """Every operation, over a few inputs and parameters."""
    hidden = (w @ x).map(ad.tanh)
    parts = [apply(*hidden) for apply in OPERATIONS]
    parts += [ad.where(x[0], 0.1, 0.2) * hidden[0], ad.where(x[0], hidden[0], hidden[1])]
    return ad.sum([ad.sin(p) for p in [*parts, sum(a * b for a in hidden for b in x)]])


SHAPES = [  # a loss of x and w, their shapes, and a text of its program
    (lambda x, w: (w @ x).map(ad.tanh).sum() + ad.sum([p * p for row in w for p in row]), (3,), (3, 3), ""),
    (a_layer_twice, (3,), (12,), ""),
    (product_by_product, (2,), (3, 2), "broadcast_to(tanh1"),
    (lambda x, w: ad.sum([x[i] * w[j] for i, j in zip((0, 2, 1, 2, 2, 0), (1, 1, 0, 0, 1, 0))]), (3,), (2,), "scatter_add"),
    (constants, (3,), (3,), "asarray"),
    (overlapping_parts, (5,), (4,), "concatenate"),
    (scattered_along_a_row, (2,), (4,), "scatter_add"),
    (everything, (3,), (3, 3), "asarray"),
    (lambda x, w: math.prod([w[0]] * 100, start=x[0]), (1,), (1,), ""),
    (lambda x, w: (x @ w).map(ad.sin).sum(), (2,), (2, 3), "p1.T @ inputs.T"),
    (lambda x, w: ad.sum((x @ w).map(ad.sin)._entries), (4, 3), (3, 5), "p1.T @ x1"),
    (lambda x, w: ad.sum((w @ x).map(ad.sin)._entries), (3, 5), (4, 3), "p1 @ t1"),
    (lambda x, w: ad.sum((x @ w @ w.T)._entries), (4, 3), (3, 5), ""),
]  # fmt: skip


@cases(("f", "of_x", "of_w", "written"), SHAPES)
def test_shapes(f, of_x, of_w, written):
    x, w = drawn(*of_x), drawn(*of_w)
    source = check(f(x, w), x, w).source
    assert written in source, source
    if written not in ("scatter_add", "asarray"):
        assert "xp.asarray([" not in source  # nothing is gathered


# -- Numbers --------------------------------------------------------------------------------------


def test_nothing_overflows_that_does_not_overflow_eagerly():
    x, w = Vector([1000.0, -1000.0, 999.0]), Vector([1e200, 1e200, 0.0])
    y = ad.logsumexp([*x]) + ad.logsumexp([a * 1.0 for a in x]) * 0.0 + w.norm() * 1e-200
    with np.errstate(over="raise", invalid="raise"):
        values, gradients = batched(y, x, w)(np.array([x.data]), np.array(w.data))
    y.backward()
    assert values[0] == pytest.approx(y.data, rel=1e-15)
    assert gradients == pytest.approx(np.array(w.grad), rel=1e-15)


def test_the_norm_of_tiny_numbers_beside_zeros():
    x = Vector([1.0] * 4)
    rows = np.array([[3e-200, 4e-200, 0.0, 0.0], [0.0] * 4, [6.0, 8.0, 0.0, 0.0]])
    values, _ = batched(ad.hypot(*x), x, [])(rows, np.zeros(0))
    np.testing.assert_allclose(values, [5e-200, 0.0, 10.0], rtol=1e-15)


LEAVES = [
    (lambda x, w: x, [5.0, 6.0], 0.0),
    (lambda x, w: w, [7.0, 7.0], 2.0),
    (lambda x, w: Value(3.0), [3.0, 3.0], 0.0),
]


@cases(("f", "values", "gradient"), LEAVES)
def test_an_output_that_is_a_leaf_or_a_constant(f, values, gradient):
    x, w = Value(1.0), Value(2.0)
    y = f(x, w)
    found = batched(y, [x], [w])([[5.0], [6.0]], [7.0])
    assert (found[0].tolist(), found[1].tolist()) == (values, [gradient])
    _, by_x = batched(y, [x], [x])([[5.0], [6.0]])
    assert by_x.tolist() == [[float(y is x)]] * 2


def test_constants_that_are_nan_or_infinite():
    x, w = Value(1.0), Value(2.0)
    y = ad.maximum(w * x, -math.inf) + ad.sum([x * c for c in (1.0, math.nan)])
    values, gradients = batched(y, [x], [w])(np.array([[3.0]]), np.array([2.0]))
    assert math.isnan(values[0])
    assert gradients.tolist() == [3.0]


# -- What it takes --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [list, pandas.DataFrame, lambda x: x.view(np.matrix), lambda x: x.astype(np.int8)]
)
def test_anything_that_is_an_array_is_taken_as_one(kind):
    x, w = Vector([2.0, 3.0]), Vector([0.5, -0.25])
    program = batched(x[0] * x[1] + w.sum() * x[0], x, w)
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    values, gradients = program(kind(rows), w.data)
    assert (values.tolist(), gradients.tolist()) == ([2.25, 12.75, 31.25], [9.0, 9.0])


@cache
def network():
    """A model and its program, made when a test first asks for them."""
    model = MAKE["network"](4, 10, 3)
    return model, batched(model.loss, model.x, model.parameters)


def run(change):
    """Runs the network's program with changed rows and parameters."""
    model, program = network()
    program(*change(model.rows(6), model.p))


test_what_a_program_refuses = raising(
    (lambda: run(lambda rows, p: (rows[:, :3], p)), ValueError, "inputs: found shape (6, 3), expected an array"),
    (lambda: run(lambda rows, p: (rows[0], p)), ValueError, "inputs: found shape (4,), expected ... (n, 4)"),
    (lambda: run(lambda rows, p: (rows, p[:80])), ValueError, "parameters: found shape (80,), ... (83,)"),
    (lambda: run(lambda rows, p: (np.ma.array(rows, mask=rows > 0), p)), TypeError, "...found unknown numbers"),
    (lambda: run(lambda rows, p: (rows, Vector(p))), TypeError, "program: found numbers that are being diff"),
)  # fmt: skip
