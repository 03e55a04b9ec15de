"""Chains of additions and products as sums and dots: what is joined, what stays, and the numbers."""

import sys

import numpy as np
import pytest
from catalogue import MAKE
from tables import cases
from test_batch import batched, check, drawn

import autodiff as ad
from autodiff import Expression, Value, nn, ops
from autodiff.compiler.groups import groups
from autodiff.compiler.normal import NormalForm


def neuron(w, x, b):
    return sum((wi * xi for wi, xi in zip(w, x)), b)


def by_subtraction(w, x):
    return w[3] - w[0] * x[0] - w[1] * x[1] - w[2] * x[2]


def in_rows(w, x):
    """A sum of sums, as over a kernel's rows and columns."""
    return sum(sum(w[2 * i + j] * x[i + j] for j in range(2)) for i in range(2))


def used_twice(w, x):
    part = w[0] * x[0] + w[1] * x[1]
    return ad.tanh(part + w[2] * x[2]) + part


def at_other_depths(w, x):
    h = [x[0], ad.tanh(x[1]), ad.tanh(ad.tanh(x[2]))]
    return sum(a * b for a, b in zip(w, h))


JOINS = [  # a function of parameters and inputs, four of each, and what is joined in it
    (lambda w, x: w[0] * x[0] + w[1] * x[1], ""),
    (lambda w, x: x[0] - x[1] + x[2], ""),
    (lambda w, x: x[0] + w[0] + x[1] + w[1], ""),
    (lambda w, x: x[0] + x[1] + w[0] + x[2], "1 x sum of 3"),
    (lambda w, x: neuron(w[:3], x[:3], w[3]), "1 x dot of 3"),
    (lambda w, x: neuron(w, x, 0), "1 x dot of 4"),
    (lambda w, x: ad.sum([a * b for a, b in zip(w, x)]) - x[0], "1 x dot of 4"),
    (lambda w, x: ad.tanh(w[0] * x[0] + w[1] * x[1]) + w[2] * x[0] + w[3] * x[1], "2 x dot of 2"),
    (lambda w, x: ad.tanh(w[0] * x[0] + w[1] * x[1]) + w[2] * x[0] + w[3] * x[2], ""),
    (by_subtraction, "1 x dot of 3"),
    (lambda w, x: -(-w[0] - w[1] - (w[2] + w[3])), "1 x sum of 4"),
    (lambda w, x: w[0] * x[0] - w[1] * x[1] + w[2] * x[2], ""),
    (lambda w, x: sum(a * b * c * 2.0 for a, b, c in zip(w, x, x[::-1])), "1 x dot of 4"),
    (lambda w, x: sum(a * a for a in [*w, *x]), "2 x dot of 4"),
    (lambda w, x: sum(map(ad.tanh, x)) + w[0], "1 x sum of 4"),
    (lambda w, x: sum(map(ad.tanh, x)) + neuron(w, x, 0), "1 x sum of 4\n1 x dot of 4"),
    (in_rows, "1 x dot of 4"),
    (used_twice, ""),
    (at_other_depths, ""),
]


@cases(("f", "joins"), JOINS)
def test_what_is_joined(f, joins):
    w, x = drawn(4), drawn(4).map(ad.sin)
    x = [Value(each.data) for each in x]
    y = f(list(w), x)
    form = NormalForm([y], x, w)
    assert repr(form) == joins
    if not joins:
        assert form[y] is y
    check(y, x, w)


def test_factors_that_do_not_vary_stand_on_the_left():
    w, x, scale = drawn(3), drawn(3), drawn(3)
    y = sum(xi * (wi * (xi * c)) for wi, xi, c in zip(w, x, scale))
    dot = NormalForm([y], x, [*w, *scale])[y]
    assert dot._operation is ops.dot
    assert [p.parents for p in dot.parents] == [*zip(w, scale), *zip(x, x)]


def test_what_varies_stands_on_the_right_and_what_is_joined_first():
    w, x = drawn(4), drawn(4)
    y = w[3] + sum(h * wi for h, wi in zip(map(ad.tanh, x[:3]), w))
    total = NormalForm([y], x, w)[y]
    dot, bias = total.parents
    assert (total._operation, dot._operation, bias) == (ops.add, ops.dot, w[3])
    assert list(dot.parents[:3]) == list(w[:3])


def test_the_first_dot_varies_and_is_shallow_and_single_terms_follow():
    """So what all steps of a recurrence share is added first; h is 0 in the first of them."""
    w, x, zeros = drawn(6), drawn(3), [Value(0.0) for _ in range(3)]
    deep, fixed, first = [ad.dot(w[:3], h) for h in (x.map(ad.tanh), zeros, x)]
    y = deep + fixed - w[4] + w[5] + first
    order, total = [], NormalForm([y], x, w)[y]
    while total._operation is not ops.dot:
        total, last = total.parents
        order.append(last)
    assert [total, *order[::-1]] == [first, w[5], deep, fixed, w[4]]


def test_arrays_are_named_after_the_parameters_of_a_module_of_neurons():
    class Layer(nn.Module):
        def __init__(self):
            self.weight = drawn(3, 4)

        def forward(self, x):
            return [ad.tanh(neuron(row, x, 0)) for row in self.weight]

    model, x = Layer(), drawn(4)
    y = ad.sum(model(x))
    assert "    weight = parameters.reshape(3, 4)" in check(y, x, model.parameters()).source


def test_an_output_on_the_way_stays():
    w, x = drawn(4), drawn(4)
    part = neuron(w[:3], x[:3], 0)
    form = NormalForm([part, part + w[3] * x[3]], x, w)
    assert repr(form) == "1 x dot of 3"
    program = Expression([part, part + w[3] * x[3]]).compile(x, [*w], xp=np, batch=True)
    expected = np.cumsum(np.multiply(w.data, x.data))[2:]
    np.testing.assert_allclose(program([x.data], w.data), [expected], rtol=1e-15)


def test_programs_of_floats_and_pictures_stay_as_written():
    w, x = drawn(4), drawn(4)
    y = neuron(w, x, w[0])
    assert [group.operation for group in groups(y)] == [ops.mul] + [ops.add] * 4
    source = Expression(y).compile(x, wrt=w).source
    assert source.count(" * ") == 4


# -- Numbers --------------------------------------------------------------------------------------


def test_the_last_digits_are_bounded():
    """Terms of all sizes that almost cancel, in any order: an error of eps for each addition."""
    rng = np.random.default_rng(0)
    terms = rng.normal(size=200) * 10.0 ** rng.integers(-8, 8, size=200)
    x = [Value(t) for t in terms]
    y = sum(t if i % 3 else -t for i, t in enumerate(x))
    (value,), _ = batched(y, x, [])([terms], [])
    exact = sum(map(int, [t * 2.0**80 for t in np.where(np.arange(200) % 3, terms, -terms)]))
    bound = 200 * sys.float_info.epsilon * abs(terms).sum()
    assert abs(value - exact / 2**80) < bound


def test_near_the_largest_float():
    """Three terms stay in order; of more, those with a minus come last, and overflow is possible."""
    x = [Value(1.0) for _ in range(6)]
    large = [1e308, -1e308, 1e308] * 2
    with np.errstate(over="ignore", invalid="ignore"):
        assert batched(x[0] + x[1] + x[2] * 1.0, x[:3], [])([large[:3]], [])[0] == 1e308
        y = x[0] - x[1] + x[2] - x[3] + x[4] - x[5]
        assert not np.isfinite(batched(y, x, [])([[1e308] * 6], [])[0])


def test_a_chain_of_any_length_needs_no_recursion():
    x, w = Value(0.5), Value(2.0)
    y, factor = w, w
    for _ in range(3_000):
        y = y + x * w
        factor = factor * x
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        form = NormalForm([y + factor], [x], [w])
    finally:
        sys.setrecursionlimit(limit)
    assert repr(form) == "1 x dot of 3000"


@pytest.mark.parametrize("sizes", [(4, 16, 16, 1), (3, 5, 4, 1)])
def test_a_network_of_neurons_is_one_of_matrices_in_any_order_of_its_parameters(sizes):
    model = MAKE["shuffled"](*sizes)
    source = check(model.loss, model.x, model.parameters).source
    assert "scatter_add" not in source
    assert source.count("asarray([") == 1  # the permutation
