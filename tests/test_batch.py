"""From scalars back to matrices: batched programs, their source and their numbers."""

import math
import pickle
import re

import numpy as np
import pandas
import pytest
from oracles import EPSILON
from random_graphs import OPERATIONS
from test_program import close, walked

import autodiff as ad
from autodiff import Expression, Matrix, Value, Vector, nn, operation


def batched(y, inputs, wrt, xp=np):
    return Expression(y).compile(inputs, wrt=wrt, xp=xp, batch=True)


def check(y, inputs, wrt, rows=None):
    """The program of y, which computes what walking computes."""
    inputs, wrt = [*getattr(inputs, "_entries", inputs)], [*getattr(wrt, "_entries", wrt)]
    rows = np.random.default_rng(1).normal(size=(3, len(inputs))) if rows is None else rows
    p = np.array([x.data for x in wrt])
    program = batched(y, inputs, wrt)
    found, gradients = program(np.array(rows), p)
    values, each, of_values, of_each = walked(y, [*inputs, *wrt], [[*row, *p] for row in rows])
    each, of_each = each[:, len(inputs) :], of_each[:, len(inputs) :]
    close(found, values, of_values)
    close(gradients, each.sum(axis=0), (of_each + len(rows) * EPSILON * abs(each)).sum(axis=0))
    return program


def drawn(*shape):
    """A Vector or a Matrix of random numbers."""
    numbers = np.random.default_rng(sum(shape)).normal(size=shape)
    return Matrix(numbers) if len(shape) == 2 else Vector(numbers)


# -- A network ------------------------------------------------------------------------------------


def classifier(n=4, hidden=10, k=3):
    model = nn.Sequential(
        nn.Linear(n, hidden, activation=ad.tanh, seed=0), nn.Linear(hidden, k, seed=1)
    )
    x, target = Vector([0.1] * n), Vector([1.0] + [0.0] * (k - 1))
    return [*x, *target], nn.cross_entropy(model(x), target), model.parameters()


def by_hand(inputs, parameters, n=4, hidden=10, k=3):
    x, t = inputs[:, :n], inputs[:, n:]
    w1, b1, w2, b2 = np.split(parameters, np.cumsum([hidden * n, hidden, k * hidden]))
    w1, w2 = w1.reshape(hidden, n), w2.reshape(k, hidden)
    a = np.tanh(x @ w1.T + b1)
    z = a @ w2.T + b2
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    dz = p - t
    da = (dz @ w2) * (1 - a**2)
    gradients = [da.T @ x, da.sum(axis=0), dz.T @ a, dz.sum(axis=0)]
    return -np.log((p * t).sum(axis=1)), np.concatenate([g.ravel() for g in gradients])


def samples(n=6, features=4, k=3):
    rng = np.random.default_rng(0)
    return np.hstack([rng.normal(size=(n, features)), np.eye(k)[rng.integers(k, size=n)]])


def agree(found, expected, frozen=0):
    values, gradients = expected
    np.testing.assert_allclose(found[0], values, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found[1], gradients[frozen:], rtol=1e-10, atol=1e-12)


def test_a_network_is_the_matrix_program_that_one_would_write():
    inputs, loss, parameters = classifier()
    program = batched(loss, inputs, parameters)
    assert len(program.source.partition("):\n")[2].splitlines()) <= 22
    assert program.source.count(" @ ") == 5  # two forward, three back: none for the inputs
    assert program.source.count(".reshape(") == 4  # two matrices, there and back
    assert "asarray" not in program.source  # no gather
    numbers = np.array([p.data for p in parameters])
    for n in (0, 1, 6):
        agree(program(samples()[:n], numbers), by_hand(samples()[:n], numbers))
    agree(pickle.loads(pickle.dumps(program))(samples(), numbers), by_hand(samples(), numbers))
    frozen = batched(loss, inputs, parameters[50:])  # the first layer is constant
    agree(frozen(samples(), numbers[50:]), by_hand(samples(), numbers), 50)


def test_the_source_does_not_grow_with_the_network():
    sources = []
    for sizes in ((4, 10, 3), (64, 32, 10)):
        inputs, loss, parameters = classifier(*sizes)
        program = batched(loss, inputs, parameters)
        rows, numbers = samples(5, *sizes[::2]), np.array([p.data for p in parameters])
        agree(program(rows, numbers), by_hand(rows, numbers, *sizes))
        sources.append(program.source.splitlines())
    assert len(sources[0]) == len(sources[1])


def test_arrays_are_named_after_the_parameters_of_the_model():
    class Two(nn.Module):
        def __init__(self):
            self.hidden = nn.Linear(2, 3, activation=ad.tanh, seed=0)
            self.lambda_ = Value(2.0)
            self.t1, self.p2, self.tanh1 = (Vector([0.1 * i, 0.5]) for i in range(3))  # ours
            self.len = Vector([0.3, 0.4])

        def forward(self, x):
            y = self.hidden(x).sum() * self.lambda_
            y = y + (self.len * self.len).sum() + (self.p2 * self.tanh1.map(ad.tanh)).sum()
            return y + ad.logsumexp([*self.t1])

    model, x = Two(), Vector([1.0, 2.0])
    source = check(model(x), x, model.parameters()).source
    for name in ("hidden_weight", "hidden_bias", "lambda_"):
        assert f"    {name} = parameters[" in source


# -- Shapes ---------------------------------------------------------------------------------------


def a_layer_twice():
    layer, x = nn.Linear(3, 3, activation=ad.tanh, seed=0), drawn(3)
    parameters = layer.parameters()
    return layer(layer(x)).sum() + 0.5 * ad.sum([p * p for p in parameters]), x, parameters


def a_matrix_as_a_row_too():
    layer, x = nn.Linear(3, 3, bias=False, activation=ad.tanh, seed=0), drawn(3)
    return layer(x).sum() + 0.5 * ad.sum([p * p for p in layer.parameters()]), x, layer.parameters()


def product_by_product():
    """A layer written out with * and +: all pairs are found, and sums column by column."""
    w, x = drawn(3, 2), drawn(2)
    hidden = [ad.tanh(sum(wi * xi for wi, xi in zip(row, x))) for row in w]
    return sum(a * b for a in hidden for b in hidden), x, w


def from_here_and_there():
    x, w = drawn(3), drawn(2)
    pairs = ((0, 1), (2, 1), (1, 0), (2, 0), (2, 1), (0, 0))
    return ad.sum([x[i] * w[j] for i, j in pairs]), x, w


def a_tower():
    x, w = Value(0.3), Value(0.7)
    return ad.exp(ad.sin(x * w)) / (ad.cosh(w) + ad.sqrt(x * x + 1.0)) - ad.atan(x**3), [x], [w]


def constants():
    x, w = drawn(3), drawn(3)
    y = ad.sum([ad.sin(a * c) * b for a, b, c in zip(x, w, [0.1, 0.2, 0.2])])
    y = y + ad.dot(w, [0.5, -1.5, 2.0]) + ad.sum([a * c for a, c in zip(x, [2.0, 3.0, 4.0])])
    signs = zip(x, (0.0, -0.0))  # 1 / 0.0 is not 1 / -0.0
    return y + ad.sum([ad.maximum(a * w[0], c) * ad.hypot(a, c) for a, c in signs]), x, w


def overlapping_parts():
    v, x = drawn(4), drawn(5)
    grid = [[a * b for b in x] for a in v]
    y = ad.sum([ad.tanh(each) for row in grid for each in row])
    y = y + ad.sum([ad.sin(each) for row in grid for each in row[:2]])
    y = y + ad.sum([ad.exp(each) for row in grid for each in row[1:4]])
    y = y + ad.sum([ad.cos(each) for row in grid[1:3] for each in row])
    return y + ad.sum([ad.atan(each) for row in grid[1:3] for each in row[1:4]]), x, v


def scattered_along_a_row():
    x, w = drawn(2), drawn(4)
    sines = [ad.sin(each) for each in w]
    y = ad.sum([ad.tanh(each) * x[0] for each in sines])
    return y + ad.sum([sines[i] * x[1] for i in (2, 0, 3, 3)]), x, w


def everything():
    """A loss that uses every operation, over a few inputs and parameters."""
    x, w = Vector([0.3, 0.6, 0.9]), Matrix([[0.1, 0.4, -0.2], [0.5, -0.3, 0.7], [0.2, 0.8, 0.6]])
    hidden = (w @ x).map(ad.tanh)
    parts = [apply(*hidden) for apply in OPERATIONS]
    parts += [
        ad.where(x[0], 0.1, 0.2) * hidden[0],
        ad.where(x[0], hidden[0], hidden[1]),
        sum(a * b for a in hidden for b in x),
    ]
    return ad.sum([ad.sin(p) for p in parts]), x, w._entries


def a_long_product():
    x, w = Value(0.5), Value(1.0001)
    return math.prod([w] * 400, start=x), [x], [w]


def dots(turned):
    a, v = drawn(2, 3), drawn(2 if turned else 3)
    return ((v @ a) if turned else (a @ v)).map(ad.sin).sum(), v, a


def product(left):
    a, b = drawn(4, 3), drawn(3, 5)
    return ad.sum((a @ b).map(ad.sin)._entries), *((a, b) if left else (b, a))


def products():
    a, b = drawn(4, 3), drawn(3, 5)
    return ad.sum((a @ b @ b.T)._entries), a, b


@pytest.mark.parametrize(
    ("make", "texts"),
    [
        (a_layer_twice, []),
        (a_matrix_as_a_row_too, []),
        (product_by_product, ["tanh1[:, None] * tanh1  # (3, 3, n)"]),
        (from_here_and_there, ["scatter_add"]),
        (a_tower, []),
        (constants, []),
        (overlapping_parts, ["concatenate"]),
        (scattered_along_a_row, ["scatter_add"]),
        (everything, []),
        (a_long_product, []),
        (lambda: dots(False), ["p1 @ inputs.T"]),
        (lambda: dots(True), ["p1 @ inputs.T"]),
        (lambda: product(True), ["p1 @ x1"]),
        (lambda: product(False), ["p1 @ x1"]),
        (products, []),
    ],
)
def test_shapes(make, texts):
    source = check(*make()).source
    assert all(text in source for text in texts), source
    if "scatter_add" not in texts and make is not everything:
        assert "xp.asarray([" not in source or make is constants  # nothing is gathered


def test_what_does_not_depend_on_the_inputs_has_no_batch_axis():
    x, w = drawn(2), drawn(2)
    source = check(ad.dot(w.map(ad.exp), x) + w.norm(), x, w).source
    assert "(2,)" in re.search(r"exp1 = xp.exp\(parameters\).*", source).group()
    assert re.search(r"hypot1 = .*\)$", source, re.M)  # one number, without a shape


def test_texts():
    x, w = Value(1.0), Value(2.0)
    for y, text in (
        (ad.relu(x * w), "values = xp.maximum("),
        (ad.maximum(x * w, 0.5), "maximum(mul1, 0.5)"),
        ((ad.cos(x) + 2) ** -1.5, "values = (xp.cos(x1) + 2.0) ** (-1.5)"),
    ):
        assert text in batched(y, [x], [w]).source


def recurrence(steps):
    u, w, b, x, h = drawn(4, 2), drawn(4, 4), drawn(4), drawn(steps, 2), Vector([0.0] * 4)
    for t in range(steps):
        h = (w @ h + u @ x[t] + b).map(ad.tanh)
    return h.sum(), x, [*u._entries, *w._entries, *b]


def attention(positions):
    weights, x = [drawn(3, 2) for _ in range(3)], drawn(positions, 3)
    queries, keys, values = [x @ w for w in weights]
    shares = []
    for row in queries @ keys.T * 0.7:
        total = ad.logsumexp([*row])
        shares.append([ad.exp(score - total) for score in row])
    y = (Matrix(shares) @ values).map(ad.tanh).sum()
    return y, x, [p for w in weights for p in w._entries]


@pytest.mark.parametrize(
    ("make", "sizes", "lines"), [(recurrence, (3, 5), 7), (attention, (4, 5), 0)]
)
def test_how_lines_grow_with_the_steps(make, sizes, lines):
    few, many = [check(*make(size)).source.count("\n") for size in sizes]
    assert many - few <= lines
    assert few < 45


@pytest.mark.parametrize("channels", [1, 3])
def test_a_convolution_is_a_matrix_product(channels):
    image, kernels, biases = drawn(6, 7), [drawn(9) for _ in range(channels)], drawn(channels)
    rows, outputs = [list(row) for row in image], []
    for kernel, bias in zip(kernels, biases):
        for i in range(4):
            for j in range(5):
                patch = [rows[i + u][j + v] for u in range(3) for v in range(3)]
                outputs.append(ad.relu(ad.dot(kernel, patch) + bias))
    parameters = [p for kernel in kernels for p in kernel] + [*biases]
    source = check(ad.sum([y * y for y in outputs]), image, parameters).source
    assert source.count("\n") < 40
    assert "xp.arange(0, 28, 7)[:, None] + xp.arange(5)" in source


# -- Numbers --------------------------------------------------------------------------------------


def test_nothing_overflows_that_does_not_overflow_eagerly():
    x, w = Vector([1000.0, -1000.0, 999.0]), Vector([1e200, 1e200, 0.0])
    y = ad.logsumexp([*x]) + ad.logsumexp([a * 1.0 for a in x]) * 0.0 + w.norm() * 1e-200
    with np.errstate(over="raise", invalid="raise"):
        values, gradients = batched(y, [x], [w])(np.array([x.data]), np.array(w.data))
    y.backward()
    assert values[0] == pytest.approx(y.data, rel=1e-15)
    assert gradients == pytest.approx(np.array(w.grad), rel=1e-15)


def test_the_norm_of_tiny_numbers_beside_zeros():
    x, w = Vector([1.0] * 4), Value(1.0)
    rows = np.array([[3e-200, 4e-200, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [6.0, 8.0, 0.0, 0.0]])
    values, _ = batched(ad.hypot(*x) * w, [*x], [w])(rows, np.array([1.0]))
    np.testing.assert_allclose(values, [5e-200, 0.0, 10.0], rtol=1e-15)


def test_an_output_that_is_a_leaf_or_a_constant():
    x, w, c = Value(1.0), Value(2.0), Value(3.0)
    rows = np.array([[5.0], [6.0]])
    for y, values, gradient in ((x, [5.0, 6.0], 0.0), (w, [7.0, 7.0], 2.0), (c, [3.0, 3.0], 0.0)):
        found = batched(y, [x], [w])(rows, np.array([7.0]))
        assert (found[0].tolist(), found[1].tolist()) == (values, [gradient])
    values, gradients = batched(x, [x], [x])(rows)
    assert (values.tolist(), gradients.tolist()) == ([5.0, 6.0], [[1.0], [1.0]])


def test_constants_that_are_nan_or_infinite():
    x, w = Value(1.0), Value(2.0)
    y = ad.maximum(w * x, -math.inf) + ad.sum([x * c for c in (1.0, math.nan)])
    values, gradients = batched(y, [x], [w])(np.array([[3.0]]), np.array([2.0]))
    assert math.isnan(values[0])
    assert gradients.tolist() == [3.0]


def test_names_and_labels_inject_nothing():
    def rule(x):
        return x * x, lambda grad: (2 * grad * x,)

    rule.__name__ = "x\nimport os"
    x, w = Value(3.0, label='"""\nimport os'), Value(2.0, label="import")
    program = batched(operation(rule)(x * w) + operation(rule)(w), [x], [w])
    assert "os" not in program.source.replace("dtype=inputs.dtype", "")
    assert program(np.array([[3.0]]), np.array([2.0]))[1].tolist() == [40.0]


# -- What it takes --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [list, pandas.DataFrame, lambda x: x.view(np.matrix), lambda x: x.astype(np.int8)]
)
def test_anything_that_is_an_array_is_taken_as_one(kind):
    x, y, w = Value(2.0), Value(3.0), Vector([0.5, -0.25])
    program = batched(x * y + w.sum() * x, [x, y], w)
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    values, gradients = program(kind(rows), w.data)
    assert (values.tolist(), gradients.tolist()) == ([2.25, 12.75, 31.25], [9.0, 9.0])


def test_what_a_program_refuses():
    inputs, loss, parameters = classifier()
    program, numbers = batched(loss, inputs, parameters), np.zeros(83)
    for rows, p, kind, message in (
        (samples()[:, :5], numbers, ValueError, r"inputs: found shape \(6, 5\), expected an array"),
        (samples()[0], numbers, ValueError, r"inputs: found shape \(7,\), expected .* \(n, 7\)"),
        (samples(), numbers[:80], ValueError, r"parameters: found shape \(80,\), .* \(83,\)"),
        (np.ma.array(samples(), mask=samples() > 1), numbers, TypeError, "found unknown numbers"),
        (samples(), Vector(numbers), TypeError, "has no derivative"),
    ):
        with pytest.raises(kind, match=message):
            program(rows, p)
