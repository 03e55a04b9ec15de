"""From scalars back to matrices: batched programs."""

import importlib
import math
import os
import pickle
import re

import numpy as np
import pandas
import pytest
from hypothesis import strategies as st
from random_graphs import OPERATIONS, for_all, graphs, layered, numbers
from rounding import EPSILON, allowed

import autodiff as ad
from autodiff import Expression, Matrix, Value, Vector, nn, operation
from autodiff.compiler.batch import Batch, index_text
from autodiff.compiler.groups import Groups

os.environ["JAX_PLATFORMS"] = "cpu"  # read when JAX is imported, or first computes
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"


def batched(y, inputs, wrt, xp=np):
    return Expression(y).compile(inputs, wrt=wrt, xp=xp, batch=True)


def eagerly(y, inputs, wrt, rows, parameters):
    """Values, gradients summed over the samples, and the rounding errors allowed in both."""
    expression = Expression([y, *inputs, *wrt])
    values, of_values = [], []
    total, of_total = np.zeros(len(wrt)), np.zeros(len(wrt))
    for row in rows:
        expression.propagate(dict(zip([*inputs, *wrt], [*row, *parameters])))
        again = expression.sink[0]
        adjoints = ad.adjoints(again)
        gradients = np.array([adjoints.get(x, 0.0) for x in wrt])
        of_value, of_gradients = allowed(again, wrt)
        values.append(again.data)
        of_values.append(of_value)
        total += gradients
        of_total += of_gradients + len(rows) * EPSILON * abs(gradients)
    return np.array(values), total, np.array(of_values), of_total


def close(found, expected, bound):
    """Whether all numbers differ by no more than their bounds."""
    np.testing.assert_array_less(abs(found - expected), np.nextafter(bound, np.inf))


def check(y, inputs, wrt, rows, parameters):
    program = batched(y, inputs, wrt)
    rows, parameters = np.array(rows).reshape(len(rows), len(inputs)), np.array(parameters)
    found, gradients = program(rows, parameters)
    values, total, of_values, of_total = eagerly(y, inputs, wrt, rows, parameters)
    assert found.shape == (len(rows),)
    assert gradients.shape == (len(wrt),)
    close(found, values, of_values)
    close(gradients, total, of_total)
    return program


@for_all(st.one_of(graphs(), layered()), st.data(), examples=500)
def test_batched_is_eager(graph, data):
    leaves, y = graph
    cut = data.draw(st.integers(0, len(leaves)))
    n = data.draw(st.integers(0, 3))
    rows = [[data.draw(numbers) for _ in range(cut)] for _ in range(n)]
    parameters = [data.draw(numbers) for _ in leaves[cut:]]
    check(y, leaves[:cut], leaves[cut:], rows, parameters)


@for_all(st.one_of(graphs(), layered()), st.data(), examples=150)
def test_gradients_of_inputs_are_those_of_each_sample(graph, data):
    leaves, y = graph
    n = data.draw(st.integers(0, 3))
    rows = np.array([[data.draw(numbers) for _ in leaves] for _ in range(n)]).reshape(
        n, len(leaves)
    )
    wrt = data.draw(st.permutations(leaves))[: data.draw(st.integers(1, len(leaves)))]
    others = [x for x in leaves if x not in set(wrt)]
    found, gradients = batched(y, leaves, wrt)(rows)
    assert gradients.shape == (n, len(wrt))
    for row, value, gradient in zip(rows, found, gradients):
        point = dict(zip(leaves, row))
        values, total, of_values, of_total = eagerly(
            y, others, wrt, [[point[x] for x in others]], [point[x] for x in wrt]
        )
        close(np.array([value]), values, of_values)
        close(gradient, total, of_total)


@for_all(st.one_of(graphs(), layered()), st.data(), examples=100)
def test_batched_is_compiled_number_by_number(graph, data):
    leaves, y = graph
    row, parameters = leaves[:1], leaves[1:]
    numbers_of = [x.data for x in leaves]
    value, gradients = Expression(y).compile(row, wrt=parameters)(*numbers_of)
    values, total = batched(y, row, parameters)(
        np.array([numbers_of[:1]]), np.array(numbers_of[1:])
    )
    _, _, of_values, of_total = eagerly(y, row, parameters, [numbers_of[:1]], numbers_of[1:])
    close(values, np.array([value]), of_values)
    close(total, np.array(gradients), of_total)


# -- The source -----------------------------------------------------------------------------------


def classifier(n=4, hidden=10, k=3):
    model = nn.Sequential(
        nn.Linear(n, hidden, activation=ad.tanh, seed=0), nn.Linear(hidden, k, seed=1)
    )
    x, target = Vector([0.1] * n), Vector([1.0] + [0.0] * (k - 1))
    return x, target, nn.cross_entropy(model(x), target), model.parameters()


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


def test_a_network_is_the_matrix_program_that_one_would_write():
    x, target, loss, parameters = classifier()
    program = batched(loss, [x, target], parameters)
    body = program.source.partition("):\n")[2].splitlines()
    assert len(body) <= 22
    assert program.source.count(" @ ") == 5  # two forward, three back: none for the inputs
    assert program.source.count(".reshape(") == 4  # two matrices, there and back
    assert "asarray" not in program.source  # no gather
    numbers = np.array([p.data for p in parameters])
    for found, expected in zip(program(samples(), numbers), by_hand(samples(), numbers)):
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


def test_the_source_does_not_grow_with_the_network():
    def lines(*sizes):
        x, target, loss, parameters = classifier(*sizes)
        return batched(loss, [x, target], parameters).source.splitlines()

    assert len(lines(64, 32, 10)) == len(lines(4, 10, 3))


def test_what_does_not_depend_on_the_inputs_has_no_batch_axis():
    x, w = Vector([1.0, 2.0]), Vector([3.0, 4.0])
    y = ad.dot(w.map(ad.exp), x) + w.norm()
    program = check(y, [*x], [*w], [[1.0, 2.0], [0.5, -1.0]], [0.1, 0.2])
    assert "(2,)" in re.search(r"exp1 = xp.exp\(parameters\).*", program.source).group()
    assert re.search(r"hypot1 = .*\)$", program.source, re.M)  # one number, without a shape


@pytest.mark.parametrize("swap", [False, True])
def test_a_matrix_may_lie_either_way(swap):
    a, v = (
        Matrix([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        Vector([0.5, -0.5, 2.0] if not swap else [1.0, 2.0]),
    )
    y = ((v @ a) if swap else (a @ v)).map(ad.sin).sum()
    rows = [[0.1, 0.2, 0.3][: len(v)], [1.0, -1.0, 0.5][: len(v)]]
    program = check(y, [*v], a._entries, rows, [p / 10 for p in range(6)])
    assert program.source.count(" @ ") == 2
    assert "asarray" not in program.source


@pytest.mark.parametrize("wrt", ["left", "right"])
def test_a_product_of_matrices(wrt):
    a, b = Matrix([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), Matrix([[0.5, -1.0], [2.0, 0.3], [1.0, 1.0]])
    y = (a @ b).map(ad.tanh).norm()
    inputs, parameters = (b, a) if wrt == "left" else (a, b)
    rows = np.random.default_rng(1).normal(size=(3, 6))
    check(y, inputs._entries, parameters._entries, rows, [x.data for x in parameters._entries])


def test_shared_weights_and_a_penalty():
    layer = nn.Linear(3, 3, activation=ad.tanh, seed=0)
    x = Vector([0.1, 0.2, 0.3])
    parameters = layer.parameters()
    y = layer(layer(x)).sum() + 0.5 * ad.sum([p * p for p in parameters])
    rows = np.random.default_rng(1).normal(size=(4, 3))
    check(y, [*x], parameters, rows, [p.data for p in parameters])


def test_a_matrix_that_is_read_as_a_row_of_numbers_too():
    layer = nn.Linear(3, 3, bias=False, activation=ad.tanh, seed=0)
    x = Vector([0.1, 0.2, 0.3])
    parameters = layer.parameters()
    y = layer(x).sum() + 0.5 * ad.sum([p * p for p in parameters])
    rows = np.random.default_rng(1).normal(size=(4, 3))
    check(y, [*x], parameters, rows, [p.data for p in parameters])


def test_nothing_overflows_that_does_not_overflow_eagerly():
    x, w = Vector([1000.0, -1000.0, 999.0]), Vector([1e200, 1e200, 0.0])
    y = ad.logsumexp([*x]) + ad.logsumexp([a * 1.0 for a in x]) * 0.0 + w.norm() * 1e-200
    with np.errstate(over="raise", invalid="raise"):
        values, gradients = batched(y, [x], [w])(np.array([x.data]), np.array(w.data))
    y.backward()
    assert values[0] == pytest.approx(y.data, rel=1e-15)
    assert gradients == pytest.approx(np.array(w.grad), rel=1e-15)


def test_product_by_product():
    """A layer written out with * and +: products of all pairs are found, and sums column by column."""
    w, x = Matrix([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]), Vector([1.0, 2.0])
    hidden = [ad.tanh(sum(wi * xi for wi, xi in zip(row, x))) for row in w]
    y = sum(a * b for a in hidden for b in hidden)
    program = check(y, [*x], w._entries, [[1.0, 2.0], [0.5, -0.5]], [0.1, -0.2, 0.3, 0.4, 0.5, 0.6])
    assert "tanh1[:, None] * tanh1  # (3, 3, n)" in program.source
    assert "xp.asarray" not in program.source  # no gather


def test_numbers_from_here_and_there_are_gathered_and_their_messages_added():
    x, w = Vector([1.0, 2.0, 3.0]), Vector([4.0, 5.0])
    y = ad.sum([x[i] * w[j] for i, j in ((0, 1), (2, 1), (1, 0), (2, 0), (2, 1), (0, 0))])
    program = check(y, [*x], [*w], [[1.0, 2.0, 3.0], [0.5, -0.5, 0.1]], [0.1, -0.2])
    assert "scatter_add" in program.source


def test_a_graph_that_does_not_batch():
    x, w = Value(0.3), Value(0.7)
    y = ad.exp(ad.sin(x * w)) / (ad.cosh(w) + ad.sqrt(x * x + 1.0)) - ad.atan(x**3)
    check(y, [x], [w], [[0.3], [-1.0]], [0.7])


def test_a_product_of_thousands_of_factors_in_a_row():
    x, w = Value(0.5), Value(1.0001)
    y = x
    for _ in range(3000):
        y = y * w
    values, gradients = batched(y, [x], [w])(np.array([[0.5], [0.7]]), np.array([1.0001]))
    assert values[0] == y.data
    assert gradients[0] == pytest.approx(1.2 * 3000 * 1.0001**2999, rel=1e-11)  # 3000 roundings


def test_frozen_weights_are_constants():
    x, target, loss, parameters = classifier()
    program = batched(loss, [x, target], parameters[50:])
    numbers = np.array([p.data for p in parameters])
    values, gradients = program(samples(), numbers[50:])
    expected = by_hand(samples(), numbers)
    np.testing.assert_allclose(values, expected[0], rtol=1e-13)
    np.testing.assert_allclose(gradients, expected[1][50:], rtol=1e-13, atol=1e-14)


def test_an_output_that_is_a_leaf_or_a_constant():
    x, w, c = Value(1.0), Value(2.0), Value(3.0)
    rows = np.array([[5.0], [6.0]])
    values, gradients = batched(x, [x], [w])(rows, np.array([7.0]))
    assert (values.tolist(), gradients.tolist()) == ([5.0, 6.0], [0.0])
    values, gradients = batched(w, [x], [w])(rows, np.array([7.0]))
    assert (values.tolist(), gradients.tolist()) == ([7.0, 7.0], [2.0])
    values, gradients = batched(c, [x], [w])(rows, np.array([7.0]))
    assert (values.tolist(), gradients.tolist()) == ([3.0, 3.0], [0.0])
    values, gradients = batched(x, [x], [x])(rows)
    assert (values.tolist(), gradients.tolist()) == ([5.0, 6.0], [[1.0], [1.0]])


def test_no_samples_and_one():
    x, target, loss, parameters = classifier()
    program = batched(loss, [x, target], parameters)
    numbers = np.array([p.data for p in parameters])
    values, gradients = program(samples()[:0], numbers)
    assert values.shape == (0,)
    assert gradients.tolist() == [0.0] * 83
    values, gradients = program(samples()[:1], numbers)
    np.testing.assert_allclose(
        gradients, by_hand(samples()[:1], numbers)[1], rtol=1e-13, atol=1e-14
    )


def test_float32_stays_float32():
    x, target, loss, parameters = classifier()
    bends = abs(x[0]) + ad.maximum(x[1], parameters[0]) + ad.where(x[0], 0.1, 0.2) * x[0]
    y = loss + 0.1 * ad.hypot(*parameters) + ad.erf(x[0]) + bends
    program = batched(y, [x, target], parameters)
    numbers = np.array([p.data for p in parameters])
    values, gradients = program(samples().astype(np.float32), numbers.astype(np.float32))
    assert (values.dtype, gradients.dtype) == (np.float32, np.float32)
    precise = program(samples(), numbers)
    np.testing.assert_allclose(values, precise[0], rtol=1e-5)
    np.testing.assert_allclose(gradients, precise[1], rtol=1e-4, atol=1e-5)


def test_constants_that_differ_from_node_to_node():
    x, w = Vector([0.1, 0.2, 0.3]), Vector([1.0, 2.0, 3.0])
    y = ad.sum([ad.sin(a * c) * b for a, b, c in zip(x, w, [0.1, 0.2, 0.2])])
    y = y + ad.dot(w, [0.5, -1.5, 2.0]) + ad.sum([a * c for a, c in zip(x, [2.0, 3.0, 4.0])])
    check(y, [*x], [*w], [[1.0, 2.0, 3.0]], [4.0, 5.0, 6.0])


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


def test_a_batched_program_is_pickled():
    x, target, loss, parameters = classifier()
    program = batched(loss, [x, target], parameters)
    other = pickle.loads(pickle.dumps(program))
    numbers = np.array([p.data for p in parameters])
    assert other(samples(), numbers)[0].tolist() == program(samples(), numbers)[0].tolist()
    with pytest.raises(ValueError, match="inputs: found shape"):
        other(samples()[0], numbers)


def test_a_large_network_compiles():
    x, target, loss, parameters = classifier(196, 64, 10)
    program = batched(loss, [x, target], parameters)
    numbers = np.array([p.data for p in parameters])
    found = program(samples(5, 196, 10), numbers)
    for one, expected in zip(found, by_hand(samples(5, 196, 10), numbers, 196, 64, 10)):
        np.testing.assert_allclose(one, expected, rtol=1e-10, atol=1e-12)


def test_constants_that_differ_in_their_sign_alone():
    """1 / 0.0 is not 1 / -0.0, and two constants that are equal as numbers are two."""
    x, w = Vector([1.0, 2.0]), Value(3.0)
    y = ad.sum([ad.maximum(a * w, c) * ad.hypot(a, c) for a, c in zip(x, (0.0, -0.0))])
    check(y, [*x], [w], [[1.0, 2.0], [-1.0, 0.5], [0.0, 0.0]], [3.0])
    program = batched(ad.sum([c * a for a, c in zip(x, (0.0, -0.0))]) + w * 0.0, [*x], [w])
    values, _ = program(np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]]), np.array([0.0]))
    assert values.shape == (3,)


@pytest.mark.parametrize(
    "library",
    [
        "numpy",
        pytest.param("jax.numpy", marks=pytest.mark.jax),
        pytest.param("torch", marks=pytest.mark.torch),
    ],
)
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize(
    "name", ["parameters", "constants", "bends", "inputs", "wide", "network", "gap"]
)
def test_the_type_of_numbers_is_that_of_the_arrays(name, precision, library):
    """Also where a gradient is a number alone, such as n, the number of samples."""
    xp = importlib.import_module(library)
    if library == "jax.numpy":
        importlib.import_module("jax").config.update("jax_enable_x64", True)
    x, w = Vector([0.5, -0.25]), Vector([1.0, 2.0, -1.0])
    y = {
        "parameters": x[0] + w.sum(),
        "constants": ad.where(w[0], 0.1, 0.2) + x[0] * 0.0,
        "bends": abs(x[0]) + ad.maximum(x[1], w[0]) + ad.maximum(w[1], 0.25) + ad.relu(w[2]) ** 1.5,
        "inputs": ad.hypot(x[0], 1.0) + ad.erf(x[1]) + ad.minimum(x[0], 2.0) + ad.less(x[0], x[1]),
        "wide": ad.hypot(*x, *w) + ad.logsumexp([*w]) + ad.prod([*w]) + ad.less(w[0], w[1]) * w[0],
        "gap": x[0] * w[0] + ad.sin(w[2]),  # w[1] has gradient 0
        "network": nn.cross_entropy(nn.Linear(2, 3, activation=ad.tanh, seed=0)(x), 1) * w[0],
    }[name]
    leaves, wrt = ([*x], [*w]) if name != "inputs" else ([*x], [*x])
    dtype = getattr(xp, precision)
    program = batched(y, leaves, wrt, xp=xp)
    rows = xp.asarray([[0.5, -0.25], [1.0, 2.0], [-1.0, 0.0]], dtype=dtype)
    given = [rows] if name == "inputs" else [rows, xp.asarray(w.data, dtype=dtype)]
    values, gradients = program(*given)
    assert values.dtype == gradients.dtype == dtype, program.source
    expected = batched(y, leaves, wrt)(*[np.asarray(x, float) for x in given])
    for found, right in zip((values, gradients), expected):
        np.testing.assert_allclose(found, right, rtol=1e-6 if precision == "float32" else 1e-13)
    if name == "inputs":
        alone = Expression(y).compile(leaves, wrt=wrt, xp=xp)(*rows.T)
        assert {each.dtype for each in (alone[0], *alone[1])} == {rows.dtype}
        np.testing.assert_allclose(alone[0], expected[0], rtol=1e-6)


def test_several_kinds_of_matrix_products_are_one_product_each():
    rng = np.random.default_rng(0)
    a, b = Matrix(rng.normal(size=(4, 3))), Matrix(rng.normal(size=(3, 5)))
    for y, inputs, wrt, products in (
        ((a @ b).map(ad.sin), a, b, 2),
        ((a @ b).map(ad.sin), b, a, 2),
        (a @ b @ b.T, a, b, 5),
    ):
        rows = rng.normal(size=(3, len(inputs._entries)))
        numbers = [p.data for p in wrt._entries]
        program = check(ad.sum(y._entries), inputs._entries, wrt._entries, rows, numbers)
        assert program.source.count(" @ ") + program.source.count("einsum") <= products
        assert "asarray" not in program.source


def test_a_recurrence_takes_a_line_or_two_for_each_step():
    def program(steps):
        rng = np.random.default_rng(0)
        u, w, b = (
            Matrix(rng.normal(size=(4, 2))),
            Matrix(rng.normal(size=(4, 4))),
            Vector([0.1] * 4),
        )
        x, h = Matrix(rng.normal(size=(steps, 2))), Vector([0.0] * 4)
        for t in range(steps):
            h = (w @ h + u @ x[t] + b).map(ad.tanh)
        parameters = [*u._entries, *w._entries, *b]
        rows = rng.normal(size=(2, 2 * steps))
        return check(h.sum(), x._entries, parameters, rows, [p.data for p in parameters])

    lines = [program(steps).source.count("\n") for steps in (4, 8, 12)]
    assert lines[2] - lines[1] <= 4 * 4
    assert lines[1] - lines[0] <= 4 * 4


def test_attention_does_not_grow_with_its_positions():
    def program(positions):
        rng = np.random.default_rng(0)
        weights = [Matrix(rng.normal(size=(3, 2))) for _ in range(3)]
        x = Matrix(rng.normal(size=(positions, 3)))
        queries, keys, values = [x @ w for w in weights]
        scores = queries @ keys.T * 0.7
        shares = []
        for row in scores:
            total = ad.logsumexp([*row])
            shares.append([ad.exp(score - total) for score in row])
        y = (Matrix(shares) @ values).map(ad.tanh).sum()
        parameters = [p for w in weights for p in w._entries]
        rows = rng.normal(size=(2, 3 * positions))
        return check(y, x._entries, parameters, rows, [p.data for p in parameters])

    sources = [program(positions).source for positions in (4, 6)]
    assert sources[0].count("\n") == sources[1].count("\n") < 45


@pytest.mark.parametrize("channels", [1, 3])
def test_a_convolution_is_a_matrix_product(channels):
    rng = np.random.default_rng(0)
    image = Matrix(rng.normal(size=(6, 7)))
    kernels, biases = (
        [Vector(rng.normal(size=9)) for _ in range(channels)],
        Vector([0.1] * channels),
    )
    rows = [list(row) for row in image]
    outputs = []
    for kernel, bias in zip(kernels, biases):
        for i in range(4):
            for j in range(5):
                patch = [rows[i + u][j + v] for u in range(3) for v in range(3)]
                outputs.append(ad.relu(ad.dot(kernel, patch) + bias))
    parameters = [p for kernel in kernels for p in kernel] + [*biases]
    program = check(
        ad.sum([y * y for y in outputs]),
        image._entries,
        parameters,
        rng.normal(size=(2, 42)),
        [p.data for p in parameters],
    )
    assert program.source.count("\n") < 40
    assert "xp.arange(0, 28, 7)[:, None] + xp.arange(5)" in program.source


# -- What it refuses ------------------------------------------------------------------------------


def test_arrays_of_another_shape():
    x, target, loss, parameters = classifier()
    program = batched(loss, [x, target], parameters)
    numbers = np.zeros(83)
    for inputs, parameters, message in (
        (
            samples()[:, :5],
            numbers,
            r"inputs: found shape \(6, 5\), expected an array of shape \(n, 7",
        ),
        (samples()[0], numbers, r"inputs: found shape \(7,\), expected an array of shape \(n, 7\)"),
        (samples(), numbers[:80], r"parameters: found shape \(80,\), expected .* \(83,\)"),
        (samples(), numbers.tolist(), "parameters: found a list, expected an array"),
    ):
        with pytest.raises(ValueError, match=message):
            program(inputs, parameters)


def test_arrays_of_integers_or_of_two_types():
    x, target, loss, parameters = classifier()
    program = batched(loss, [x, target], parameters)
    numbers = np.zeros(83)
    with pytest.raises(ValueError, match=r"an array of int64, expected arrays of floats; convert"):
        program(np.zeros((6, 7), int), numbers)
    with pytest.raises(
        ValueError, match=r"inputs of float64 and parameters of float32, expected the"
    ):
        program(samples(), numbers.astype(np.float32))


def test_what_compile_refuses_for_a_batch():
    x, w = Value(1.0), Value(2.0)
    with pytest.raises(ValueError, match="found 1 input and 1 parameter in wrt, expected one or"):
        batched(x * w, [x], [x, w])
    with pytest.raises(ValueError, match="found xp = math, expected a library of arrays"):
        batched(x * w, [x], [w], xp=math)


# -- The same source in other libraries -----------------------------------------------------------


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
    return x, w, ad.sum([ad.sin(p) for p in parts])


@pytest.fixture(scope="module")
def jax():
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax


@pytest.mark.jax
def test_jax_gives_the_same_numbers(jax):
    for x, w, loss in (everything(), (Vector([*classifier()[0], *classifier()[1]]), None, None)):
        if w is None:
            a, b, loss, parameters = classifier()
            leaves, rows = [*a, *b], samples()
        else:
            leaves, parameters, rows = [*x], w._entries, samples(6, 3, 3)[:, :3]
        numbers = np.array([p.data for p in parameters])
        expected = batched(loss, leaves, parameters)(rows, numbers)
        program = batched(loss, leaves, parameters, xp=jax.numpy)
        for run in (program, jax.jit(program)):
            for found, wanted in zip(
                run(jax.numpy.asarray(rows), jax.numpy.asarray(numbers)), expected
            ):
                np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.jax
def test_jax_with_the_batch_over_four_devices(jax):
    if len(jax.devices()) < 4:
        pytest.fail("JAX was imported before its fixture asked for four devices")
    x, target, loss, parameters = classifier()
    program = batched(loss, [x, target], parameters, xp=jax.numpy)
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("batch",))
    over_devices = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("batch"))
    rows, numbers = samples(8), np.array([p.data for p in parameters])
    sharded = jax.device_put(rows, over_devices)
    assert len(sharded.addressable_shards) == 4
    values, gradients = jax.jit(program)(sharded, jax.numpy.asarray(numbers))
    assert len({shard.device for shard in values.addressable_shards}) == 4
    expected = by_hand(rows, numbers)
    np.testing.assert_allclose(values, expected[0], rtol=1e-12)
    np.testing.assert_allclose(gradients, expected[1], rtol=1e-11, atol=1e-13)


@pytest.mark.torch
@pytest.mark.parametrize("make", ["everything", "classifier"])
def test_torch_gives_the_same_numbers(make):
    import torch

    if make == "everything":
        x, w, loss = everything()
        leaves, parameters, rows = [*x], w._entries, samples(6, 3, 3)[:, :3]
    else:
        x, target, loss, parameters = classifier()
        leaves, rows = [*x, *target], samples()
    numbers = np.array([p.data for p in parameters])
    expected = batched(loss, leaves, parameters)(rows, numbers)
    program = batched(loss, leaves, parameters, xp=torch)
    found = program(torch.asarray(rows.copy()), torch.asarray(numbers))
    for one, wanted in zip(found, expected):
        np.testing.assert_allclose(one.numpy(), wanted, rtol=1e-11, atol=1e-12)


def test_every_stage_is_printed():
    x, w, b = Vector([1.0, 2.0]), Matrix([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]), Vector([0.0] * 3)
    y = (w @ x + b).map(ad.tanh).sum()
    parameters = [*w._entries, *b]
    groups = Groups(y, [*x], parameters)
    assert repr(groups).splitlines() == [
        "inputs (2,)",
        "parameters (9,)",
        "dot1 (3,) = dot(parameters[0:6], inputs)",
        "add1 (3,) = add(dot1, parameters[6:9])",
        "tanh1 (3,) = tanh(add1)",
        "sum1 (1,) = sum(tanh1)",
    ]
    lines = repr(Batch(groups, y, parameters)).splitlines()
    assert "tanh1 (3, n) = tanh(add1)" in lines
    assert "p1_bar (3, 2) = product(add1_bar, inputs.T, b)" in lines


@pytest.mark.parametrize(
    ("positions", "text"),
    [
        ([0, 1, 2], "xp.arange(3)"),
        ([0, 7, 14, 21], "xp.arange(0, 28, 7)"),
        ([3, 4], "xp.arange(3, 5)"),
        ([2, 0], "xp.asarray([2, 0])"),
        ([[0, 1], [7, 8], [14, 15]], "xp.arange(0, 21, 7)[:, None] + xp.arange(2)"),
        ([0, 1, 2, 10, 11, 12], "(xp.arange(0, 20, 10)[:, None] + xp.arange(3)).reshape(-1)"),
        ([[0, 1], [7, 9]], "xp.asarray([[0, 1], [7, 9]])"),
    ],
)
def test_regular_positions_are_written_as_ranges(positions, text):
    assert index_text(np.array(positions)) == text
    assert eval(text, {"xp": np}).tolist() == positions


def test_arrays_are_named_after_the_parameters_of_the_model():
    class Two(nn.Module):
        def __init__(self):
            self.hidden = nn.Linear(2, 3, activation=ad.tanh, seed=0)
            self.lambda_ = Value(2.0)

        def forward(self, x):
            return self.hidden(x).sum() * self.lambda_

    model, x = Two(), Vector([1.0, 2.0])
    source = batched(model(x), [x], model.parameters()).source
    for name in ("hidden_weight", "hidden_bias", "lambda_"):
        assert f"    {name} = parameters[" in source


def a_vector(rng, size):
    return Vector(rng.normal(size=size))


def test_relu_is_one_maximum():
    x, w = Value(1.0), Value(2.0)
    assert "values = xp.maximum(" in batched(ad.relu(x * w), [x], [w]).source


def test_dots_are_grouped_by_the_side_with_fewer_kinds_of_partners():
    """a1·b1, a2·b2, a3·b1, a3·b2: two products if taken by the bs, three by the as."""
    rng = np.random.default_rng(0)
    a, b = [a_vector(rng, 3) for _ in range(3)], [a_vector(rng, 3) for _ in range(2)]
    pairs = [(0, 0), (1, 1), (2, 0), (2, 1)]
    for turned in (False, True):
        dots = [ad.dot(b[j], a[i]) if turned else ad.dot(a[i], b[j]) for i, j in pairs]
        y = ad.sum([ad.sin(each) for each in dots])
        inputs, wrt = ([x for v in side for x in v] for side in (a, b))
        program = check(y, inputs, wrt, rng.normal(size=(2, 9)), rng.normal(size=6))
        assert re.findall(r"dot\d = ", program.source) == ["dot1 = ", "dot2 = "]


def test_a_row_is_no_grid_if_one_of_its_arguments_is_scattered():
    rng = np.random.default_rng(0)
    x, w = a_vector(rng, 6), a_vector(rng, 7)
    pairs = zip((0, 3, 1, 5, 0, 2), (0, 1, 2, 4, 5, 6))
    y = ad.sum([ad.sin(x[i] * w[j]) for i, j in pairs])
    program = check(y, [*x], [*w], rng.normal(size=(2, 6)), rng.normal(size=7))
    assert "(2, 3" not in program.source


def test_pieces_of_a_grid_overlap_in_the_same_rows():
    rng = np.random.default_rng(0)
    v, x = a_vector(rng, 4), a_vector(rng, 5)
    grid = [[a * b for b in x] for a in v]
    y = ad.sum([ad.tanh(each) for row in grid for each in row])
    y = y + ad.sum([ad.sin(each) for row in grid for each in row[:2]])
    y = y + ad.sum([ad.exp(each) for row in grid for each in row[1:4]])
    check(y, [*x], [*v], rng.normal(size=(3, 5)), rng.normal(size=4))


def test_what_is_scattered_along_a_row_is_not_reshaped():
    rng = np.random.default_rng(0)
    x, w = a_vector(rng, 2), a_vector(rng, 4)
    sines = [ad.sin(each) for each in w]
    y = ad.sum([ad.tanh(each) * x[0] for each in sines])
    y = y + ad.sum([sines[i] * x[1] for i in (2, 0, 3, 3)])
    program = check(y, [*x], [*w], rng.normal(size=(3, 2)), rng.normal(size=4))
    assert "scatter_add" in program.source
    assert "reshape" not in program.source


def test_the_norm_of_tiny_numbers_beside_zeros():
    x, w = Vector([1.0] * 4), Value(1.0)
    rows = np.array([[3e-200, 4e-200, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [6.0, 8.0, 0.0, 0.0]])
    values, _ = batched(ad.hypot(*x) * w, [*x], [w])(rows, np.array([1.0]))
    np.testing.assert_allclose(values, [5e-200, 0.0, 10.0], rtol=1e-15)


def test_a_stack_of_matrices_times_a_matrix_is_a_product_with_a_sign():
    rng = np.random.default_rng(0)
    a, b = Matrix(rng.normal(size=(4, 3))), Matrix(rng.normal(size=(3, 5)))
    y = ad.sum((a @ b).map(ad.sin)._entries)
    for inputs, wrt in ((a, b), (b, a)):
        assert "p1 @ x1" in batched(y, inputs._entries, wrt._entries).source


def test_a_negative_power_of_an_array_has_no_choice_in_its_text():
    x = Value(1.0)
    assert (
        "values = (xp.cos(x1) + 2.0) ** (-1.5)" in batched((ad.cos(x) + 2) ** -1.5, [x], []).source
    )


def test_the_larger_of_an_array_and_a_number():
    x, w = Value(1.0), Value(2.0)
    assert "maximum(mul1, 0.5)" in batched(ad.maximum(x * w, 0.5), [x], [w]).source


def test_a_program_takes_arrays_only():
    """A DataFrame has a shape, but its length, its T and its rows are of another kind."""
    x, y = Value(2.0), Value(3.0)
    w = Vector([0.5, -0.25])
    rows, weights = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([0.5, -0.25])
    program = batched(x * y + w.sum() * x, [x, y], w)
    for inputs in (pandas.DataFrame(rows), Matrix(rows)):
        for _ in range(2):
            with pytest.raises(ValueError, match="found a .*, expected an array of shape .n, 2."):
                program(inputs, weights)
            program(rows, weights)  # which has the same shape
    with pytest.raises(TypeError, match="found a MaskedArray, expected an array whose numbers"):
        program(np.ma.array(rows, mask=rows > 5.0), weights)
    program(rows, weights)
    with pytest.raises(ValueError, match="an array of int64, expected arrays of floats"):
        program(rows.astype(np.int64), weights)  # of the shape and type that was checked last
    matrix = np.array(rows).view(np.matrix)
    with pytest.raises(TypeError, match=r"found a matrix, expected an array.*numpy.asarray"):
        program(matrix, weights)
    with pytest.raises(ValueError, match="found a Vector, expected an array of shape .2,."):
        program(rows, Vector(weights))
