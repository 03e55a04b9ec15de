"""From scalars back to matrices: the shapes, the lines and the numbers of programs for a batch."""

import importlib
import math

import numpy as np
import pandas
import pytest
from catalogue import MAKE
from hypothesis import strategies as st
from oracles import bound
from random_graphs import OPERATIONS, for_all, numbers, rows
from stages import MODELS, SHOWN, first_difference, stages_of
from tables import cases, raising
from test_program import agree, close

import autodiff as ad
from autodiff import Expression, Matrix, Value, Vector, nn


def leaves(given):
    return [*getattr(given, "_entries", given)]


def batched(y, inputs, wrt, xp=np):
    return Expression(y).compile(leaves(inputs), wrt=leaves(wrt), xp=xp, batch=True)


def check(y, inputs, wrt):
    """The program of y, which computes what walking computes."""
    inputs, wrt = leaves(inputs), leaves(wrt)
    rows = np.random.default_rng(1).normal(size=(3, len(inputs)))
    return agree(y, inputs, wrt, rows, np.array([x.data for x in wrt]))


def drawn(*shape):
    """A Vector or a Matrix of random numbers."""
    numbers = np.random.default_rng(sum(shape)).normal(size=shape)
    return Matrix(numbers) if len(shape) == 2 else Vector(numbers)


# -- The lines of programs ------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "sizes", "lines"), MODELS)
def test_programs_do_not_grow(name, sizes, lines):
    """With the sizes of a model, or with changes to the compiler; nothing is gathered in them."""
    model = MAKE[name](*sizes)
    if sizes == SHOWN[name]:  # first, because it says in which stage a fault is
        assert not (difference := first_difference(name, stages_of(model))), difference
    source = check(model.loss, model.x, model.parameters).source
    assert source.count("\n") <= lines
    assert source.count("asarray([") == (name == "shuffled")  # the permutation of its parameters
    for slow in ("where(0.0 <=", "scatter_add"):
        assert slow not in source


def test_a_network_is_the_matrix_program_that_one_would_write():
    model = MAKE["network"](4, 10, 3)
    source = batched(model.loss, model.x, model.parameters).source
    assert source.count(" @ ") == 5  # two forward, three back: none for the inputs
    assert source.count(".reshape(") == 4  # two matrices, there and back
    check(model.loss, model.x, model.parameters[50:])  # the first layer is constant


@pytest.mark.parametrize("gathered", [False, True])
def test_large_products_of_each_sample_have_the_samples_first(gathered):
    """Unless something is gathered from numbers that vary."""
    x, w = drawn(96), drawn(12)
    order = np.random.default_rng(0).permutation(96) if gathered else np.arange(96)
    rows = Matrix([[x[i] for i in line] for line in order.reshape(12, 8).tolist()])
    source = check(ad.dot(w, (rows @ rows.T @ w).map(ad.tanh)), x, w).source
    assert ("(n, 12, 12)" in source) != gathered


def math_of_ours(x):
    """A function that a program imports, from a module that is called as a parameter is."""
    return 0.5 * x * x


@ad.operation(math_of_ours, domain="")
def half_square(x):
    return half_square(x), lambda grad: (grad * x,)


def test_arrays_are_named_after_the_parameters_of_the_model():
    class Two(nn.Module):
        def __init__(self):
            self.hidden = nn.Linear(2, 3, activation=ad.tanh, seed=0)
            self.lambda_ = Value(2.0)
            self.t1, self.p2, self.tanh1 = (Vector([0.1 * i, 0.5]) for i in range(3))  # ours
            self.len = Vector([0.3, 0.4])
            self.sigmoid = Value(0.5)
            self.xp_tanh, self.w_xp = Vector([0.1, 0.2]), Matrix([[0.3, 0.4], [0.5, 0.6]])

        def forward(self, x):
            y = self.hidden(x).sum() * self.lambda_
            y = y + (self.w_xp @ (self.xp_tanh * x).map(ad.tanh)).map(ad.exp).sum()
            y = y + (self.len * self.len).sum() + (self.p2 * self.tanh1.map(ad.tanh)).sum()
            return y + ad.logsumexp([*self.t1]) * ad.sigmoid(self.sigmoid * x[0])

    model, x = Two(), Vector([1.0, 2.0])
    source = check(model(x), x, model.parameters()).source
    for name in ("hidden_weight", "hidden_bias", "lambda_"):
        assert f"    {name} = parameters[" in source
    assert "w_xp.T" in source  # which is no function of xp


def test_no_name_of_the_model_means_anything_else_in_a_program():
    """What it imports or calls, and names that Python takes for one."""
    names = "functools", "float", __name__, "l", "ℓ", "µ", "μ", "ｉｆ"
    functions = ad.sin, ad.cos, ad.atan, ad.exp, ad.erf, ad.softplus, ad.tanh, ad.sinh

    class Named(nn.Module):
        def __init__(self):
            self.parts = {name: Vector([0.1 * i, 0.2]) for i, name in enumerate(names)}

        def forward(self, x):
            y = half_square(ad.hypot(1.0, 2.0, *x))
            return sum((v.map(f).sum() * y for f, v in zip(functions, self.parts.values())), y)

    model, x = Named(), Vector([1.0, 2.0])
    check(model(x), x, model.parameters())


# -- What is written ------------------------------------------------------------------------------


def layer(x, weight, bias=None):
    """Written out with * and +, as sums that start from a bias, or from Python's 0."""
    return [
        sum((a * b for a, b in zip(row, x)), c) for row, c in zip(weight, bias or [0] * len(weight))
    ]


def a_layer_twice(x, w):
    """Its matrix and its bias as one row, too, in the penalty."""
    weight, bias = Matrix([[*w[i : i + 3]] for i in (0, 3, 6)]), w[9:]
    for _ in range(2):
        x = (weight @ x + bias).map(ad.tanh)
    return x.sum() + 0.5 * ad.sum([p * p for p in w])


def all_pairs(x, w):
    hidden = [ad.tanh(y) for y in layer(x, w)]
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


def negated(w, *times):
    """The first numbers of w, negated, each so many times."""
    return [-a for a, k in zip(w, times) for _ in range(k)]


def pairs(x, w, places):
    """Products of these inputs with these parameters."""
    return ad.sum([ad.sin(x[i] * w[j]) for i, j in zip(*places)])


def towers(x, w, turned=False):
    """Two matrices, each times its own vector, at one depth."""
    both = [*[(row, x[:3]) for row in w[:4]], *[(row, x[3:]) for row in w[4:]]]
    return ad.sum([ad.sin(ad.dot(v, u) if turned else ad.dot(u, v)) for u, v in both])


def everything(x, w):
    """Every operation, over a few inputs and parameters."""
    hidden = (w @ x).map(ad.tanh)
    parts = [apply(*hidden) for apply in OPERATIONS]
    parts += [ad.where(x[0], 0.1, 0.2) * hidden[0], ad.where(x[0], hidden[0], hidden[1])]
    return ad.sum([ad.sin(p) for p in [*parts, sum(a * b for a in hidden for b in x)]])


GATHERS_NOTHING = {"asarray([": 0, "scatter_add(": 0}
NO_DOT = {" @ ": 0, "einsum": 0}
WRITTEN = [  # a loss of x and w, their shapes, and how often texts stand in its program
    # arrays
    (lambda x, w: ((w @ x).map(ad.tanh)).sum() + ad.sum([p * p for row in w for p in row]), (3,), (3, 3), {" @ ": 2}),
    (a_layer_twice, (3,), (12,), {" @ ": 5}),
    (all_pairs, (2,), (3, 2), {"broadcast_to(tanh1": 2, " @ ": 2}),
    (lambda x, w: pairs(x, w, ((0, 2, 1, 2, 2, 0), (1, 1, 0, 0, 1, 0))), (3,), (2,), {"asarray([": 3, "scatter_add(": 2}),
    (lambda x, w: pairs(x, w, ((0, 3, 1, 5, 0, 2), (0, 1, 2, 4, 5, 6))), (6,), (7,), {"mul1 = x1 * p1[:, None]  # (6, n)": 1, "asarray([": 3, "scatter_add(": 2}),
    (constants, (3,), (3,), {"asarray([": 4}),
    (overlapping_parts, (5,), (4,), {"concatenate": 4}),
    (scattered_along_a_row, (2,), (4,), {"asarray([": 1, "scatter_add(": 1}),
    (everything, (3,), (3, 3), {"asarray([": 6, "scatter_add(": 7}),
    (lambda x, w: (x @ w).map(ad.sin).sum(), (2,), (2, 3), {"p1.T @ inputs.T": 1}),
    (lambda x, w: ad.sum((x @ w).map(ad.sin)._entries), (4, 3), (3, 5), {"p1.T @ x1": 1}),
    (lambda x, w: ad.sum((w @ x).map(ad.sin)._entries), (3, 5), (4, 3), {"p1 @ t1": 1}),
    (lambda x, w: ad.sum((x @ w @ w.T)._entries), (4, 3), (3, 5), {}),
    # negated, and read with repetition
    (lambda x, w: ad.dot(negated(w, 2, 2), negated(w, 2, 2)), (1,), (2,), {}),
    (lambda x, w: ad.logsumexp(negated(w, 3, 3)) * x[0], (1,), (2,), {}),
    (lambda x, w: sum(-p * ad.log(q * q) for p in x for q in w), (2,), (3,), {}),
    (lambda x, w: (-x * x[0] * Vector(negated(w, 3))).sum(), (3,), (1,), {}),
    (towers, (6,), (7, 3), {" @ ": 4}),
    (lambda x, w: towers(x, w, turned=True), (6,), (7, 3), {" @ ": 4}),
    (lambda x, w: ad.dot(w.map(ad.exp), x) + w.norm(), (2,), (2,), {"exp1 = xp.exp(parameters)  # (2,)": 1, "exp1[:, None]": 0}),
    # outputs that are leaves or constants
    *[(f, (1,), (1,), {}) for f in (lambda x, w: x[0], lambda x, w: w[0], lambda x, w: Value(3.0))],
    # choices and powers
    (lambda x, w: ad.relu(x[0] * w[0]), (1,), (1,), {"values = xp.maximum(": 1}),
    (lambda x, w: ad.maximum(x[0] * w[0], 0.5), (1,), (1,), {"maximum(mul1, 0.5)": 1}),
    (lambda x, w: ad.where(ad.less(x[0] * w[0], 0.5), x[0], w[0]), (1,), (1,), {"values = xp.where(t1, x1, p1)": 1}),
    (lambda x, w: (ad.cos(x[0]) + 2) ** -1.5, (1,), (1,), {"values = (xp.cos(x1) + 2.0) ** (-1.5)": 1}),
]  # fmt: skip
CHAINS = [  # of additions and products of four each: what is joined to sums and dots, what stays
    (lambda x, w: x[0] - x[1] + x[2], {".sum(": 0}),
    (lambda x, w: x[0] + x[1] + w[0] + x[2], {".sum(": 1}),
    (lambda x, w: layer(x[:3], [w[:3]], [w[3]])[0], {" @ ": 1}),
    (lambda x, w: layer(x, [w])[0], {"values = parameters @ inputs.T": 1}),
    (lambda x, w: ad.tanh(w[0] * x[0] + w[1] * x[1]) + w[2] * x[0] + w[3] * x[1], {" @ ": 2}),
    (lambda x, w: ad.tanh(w[0] * x[0] + w[1] * x[1]) + w[2] * x[0] + w[3] * x[2], NO_DOT | {"asarray([": 1}),
    (lambda x, w: w[3] - w[0] * x[0] - w[1] * x[1] - w[2] * x[2], {" @ ": 1}),
    (lambda x, w: -(-w[0] - w[1] - (w[2] + w[3])), {".sum(": 1}),
    (lambda x, w: w[0] * x[0] - w[1] * x[1] + w[2] * x[2], NO_DOT),
    (lambda x, w: sum(a * b * c * 2.0 for a, b, c in zip(w, x, x[::-1])), {" @ ": 1, "asarray([": 1}),
    (lambda x, w: sum(a * a for a in [*w, *x]), {".sum(": 2}),
    (lambda x, w: sum(map(ad.tanh, x)) + layer(x, [w])[0], {".sum(": 2, " @ ": 1}),
    (lambda x, w: sum(sum(w[2 * i + j] * x[i + j] for j in range(2)) for i in range(2)), {" @ ": 1}),
    (lambda x, w: w[3] + sum(h * wi for h, wi in zip(map(ad.tanh, x[:3]), w)), {" @ ": 1}),
    (lambda x, w: ad.tanh((part := w[0] * x[0] + w[1] * x[1]) + w[2] * x[2]) + part, NO_DOT),  # used twice
    (lambda x, w: w[0] * x[0] + w[1] * ad.tanh(x[1]) + w[2] * ad.tanh(ad.tanh(x[2])), NO_DOT),  # at other depths
]  # fmt: skip


@cases(
    ("f", "of_x", "of_w", "written"), [*WRITTEN, *[(f, (4,), (4,), texts) for f, texts in CHAINS]]
)
def test_what_is_written(f, of_x, of_w, written):
    x, w = drawn(*of_x), drawn(*of_w)
    source = check(f(x, w), x, w).source
    written = GATHERS_NOTHING | written
    assert {text: source.count(text) for text in written} == written, source
    assert max(map(len, source.splitlines())) <= 100


# -- How arrays are read --------------------------------------------------------------------------


def any_rows(library):
    """Rows that are parts of others, repeated, negated, and so on, compute what walking does."""

    def check(drawn, data):
        (x, w), made = drawn
        n, last = data.draw(st.integers(0, 3)), made[-1]
        inputs = np.array([data.draw(numbers) for _ in range(n * len(x))]).reshape(n, len(x))
        p, xp = np.array([data.draw(numbers) for _ in w]), importlib.import_module(library)
        y = ad.dot(last, last) + ad.sum([a * b for row in made for a, b in zip(row, last)])
        agree(y, x, w, inputs, p, xp=xp)
        found, walk = np.asarray(batched(last, x, w, xp)(inputs, p)), Expression([*last, *x, *w])
        for values, row in zip(found, inputs):
            expected = walk.propagate(dict(zip([*x, *w], [*row, *p])))
            close(values, expected[: len(last)], [bound(y) for y in walk.sink[: len(last)]])

    return for_all(rows(), st.data(), examples=100)(check)


test_any_rows = any_rows("numpy")
test_any_rows_in_torch = pytest.mark.torch(any_rows("torch"))


# -- Numbers of extreme size ----------------------------------------------------------------------


STEP = math.ulp(1.7e9)
SHARE = 1 / (1 + math.exp(-1.0))
EXTREMES = [  # an output, inputs and parameters, and the values and gradients that come out
    (lambda x, w: ad.hypot(*x), [[3e-200, 4e-200, 0.0, 0.0], [0.0] * 4, [6.0, 8.0, 0.0, 0.0]], [], [5e-200, 0.0, 10.0], []),
    (lambda x, w: ad.logsumexp([*x]) * w[0], [[1000.0, -1000.0, 999.0]], [1.0], [1000.0 - math.log(SHARE)], [1000.0 - math.log(SHARE)]),
    (lambda x, w: ad.logsumexp([a * 1.0 for a in x]) + w.norm() * 1e-200, [[1000.0, -1000.0]], [3e200, 4e200, 0.0], [1005.0], [6e-201, 8e-201, 0.0]),
    (lambda x, w: ad.maximum(w[0] * x[0], -math.inf) + ad.sum([x[0] * c for c in (1.0, math.nan)]), [[3.0]], [2.0], [math.nan], [3.0]),
    # 0 x is nan where x is, and its slope is where that of x is infinite
    (lambda x, w: x[0] * 0.0 + w[0] * 0.7, [[math.nan]], [1.0], [math.nan], [0.7]),
    (lambda x, w: ad.sqrt(w[0] * w[0]) * 0.0 + x[0], [[math.nan]], [0.0], [math.nan], [math.nan]),
    (lambda x, w: ad.sqrt(w[0] * 0.0) + x[0], [[math.nan]], [2.0], [math.nan], [math.nan]),
    # differences in brackets are exact, as when walking
    *[(f, [[1.7e9 + STEP, 1.7e9, 1.7e9 + STEP, 1.7e9 + STEP]], [1.7e9] * 4, [3 * STEP], [-1.0] * 4)
      for f in (
          lambda x, w: ad.sum([a - b for a, b in zip(x, w)]),
          lambda x, w: (x[0] - w[0]) + (x[1] - w[1]) + (x[2] - w[2]) + (x[3] - w[3]),
          lambda x, w: 0.0 - sum(-a + b for a, b in zip(x, w)),
      )],
    (lambda x, w: sum(a * a - b * b for a, b in zip(x, w)), [[1e12, 2.0**40, 3.0]], [1e12, 2.0**40, 1.0], [8.0], [-2e12, -(2.0**41), -2.0]),
    # three terms stay in order; of more, those with a minus come last, and overflow is possible
    (lambda x, w: x[0] + x[1] + x[2] * 1.0, [[1e308, -1e308, 1e308]], [], [1e308], []),
    (lambda x, w: x[0] - x[1] + x[2] - x[3] + x[4] - x[5], [[1e308] * 6], [], [math.nan], []),
]  # fmt: skip


@cases(("f", "rows", "p", "values", "gradients"), EXTREMES)
def test_numbers_near_the_ends_of_the_range(f, rows, p, values, gradients):
    x, w = drawn(len(rows[0])), drawn(len(p)) if p else []
    how = "ignore" if math.isnan(values[0]) else "raise"
    with np.errstate(divide=how, over=how, invalid=how):
        found, sums = batched(f(x, w), x, w)(rows, p)
    np.testing.assert_allclose(found, values, rtol=1e-15)
    np.testing.assert_allclose(sums, gradients, rtol=1e-15)


# -- What it takes --------------------------------------------------------------------------------


X, W = Vector([2.0, 3.0]), Vector([0.5, -0.25])
PROGRAM = batched(X[0] * X[1] + W.sum() * X[0], X, W)
ROWS, P = np.array([[1.0, 2.0], [3.0, 4.0], [50.0, 60.0]]), np.array(W.data)


@cases("kind", [list, pandas.DataFrame, lambda x: x.view(np.matrix), lambda x: x.astype(np.int8)])
def test_anything_that_is_an_array_is_taken_as_one_of_floats(kind):
    values, gradients = PROGRAM(kind(ROWS), W.data)
    assert (values.tolist(), gradients.tolist()) == ([2.25, 12.75, 3012.5], [54.0, 54.0])


test_what_a_program_refuses = raising(
    (lambda: PROGRAM(ROWS[:, :1], P), ValueError, "inputs: found shape (3, 1), expected an array"),
    (lambda: PROGRAM(ROWS[0], P), ValueError, "inputs: found shape (2,), expected ... (n, 2)"),
    (lambda: PROGRAM(ROWS, P[:1]), ValueError, "parameters: found shape (1,), ... (2,)"),
    (lambda: PROGRAM(np.ma.array(ROWS, mask=ROWS > 0), P), TypeError, "program: found an array with masked entries, expected numbers; leave masked entries out"),
)  # fmt: skip
