"""The page of operations, each against arithmetic of 50 digits and in every mode."""

import inspect
import itertools
import random

import mpmath
import numpy as np
import pytest
from operations import OPERATIONS

import autodiff
from autodiff import Dual, Expression, Value, grad, jacfwd, jacrev, jvp, ops
from autodiff.graph import topological_order
from autodiff.number import Number, apply

TOLERANCE = 1e-13  # a few hundred units in the last place: second derivatives take ~10 roundings

RULES = {
    name: rule
    for name, rule in inspect.getmembers(ops, inspect.isfunction)
    if rule.__module__ == ops.__name__
    and not name.startswith("_")
    and rule is not ops.largest  # a shift: its derivative is left out, because it cancels
}


def points(name):
    rng, row = random.Random(name), OPERATIONS[name]
    return [tuple(draw(rng) for draw in row.region) for _ in range(30)] + [*row.ends]


def public(name):
    """The function of a flat list of numbers that applies an operation."""
    rule = RULES[name]

    def function(inputs):
        numbers = any(isinstance(x, Number) for x in inputs)
        return apply(rule, *inputs) if numbers else rule(*inputs)[0]

    return function


def partial(reference, point, *indices):
    """A partial derivative of the reference, by central differences with a step of 1e-230."""
    if not indices:
        return reference(*point)
    *others, i = indices
    h = mpmath.mpf(10) ** -230 * min((abs(x) for x in point if x), default=1)
    high, low = ((*point[:i], point[i] + step, *point[i + 1 :]) for step in (h, -h))
    return (partial(reference, high, *others) - partial(reference, low, *others)) / (2 * h)


def differentiated(name):
    """The function of the inputs that have a derivative, for a point."""

    def of(point):
        free = [i for i in range(len(point)) if i not in OPERATIONS[name].constants]

        def f(xs):
            inputs = list(point)
            for i, x in zip(free, xs, strict=True):
                inputs[i] = x
            return public(name)(inputs)

        return f, [point[i] for i in free], free

    return of


# -- The tests ----------------------------------------------------------------------------------


def test_every_operation_on_the_page_is_in_the_table():
    assert set(RULES) == set(OPERATIONS)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_states_its_derivative_in_its_docstring(name):
    assert RULES[name].__doc__.startswith("d")


@pytest.mark.parametrize("name", RULES)
def test_first_and_second_derivatives_agree_with_50_digits(name):
    reference = OPERATIONS[name].reference
    with mpmath.workdps(800):
        for point in points(name):
            f, xs, free = differentiated(name)(point)
            exact = tuple(mpmath.mpf(x) for x in point)
            found = grad(f)(xs)
            hessian = jacrev(grad(f))(xs)
            for a, i in enumerate(free):
                close(name, point, found[a], partial(reference, exact, i))
                for b, j in enumerate(free):
                    close(name, point, hessian[a][b], partial(reference, exact, i, j), second=True)


def close(name, point, found, expected, second=False):
    scale = abs(expected)
    if second or not OPERATIONS[name].relative or scale < 1e-280:
        scale = max(1, scale)
    assert abs(found - expected) <= TOLERANCE * scale, (name, point, found, expected)


@pytest.mark.parametrize("name", RULES)
def test_reverse_forward_and_second_order_agree(name):
    for point in points(name):
        f, xs, _ = differentiated(name)(point)
        reverse = jacrev(f)(xs)
        assert jacfwd(f)(xs) == pytest.approx(reverse, rel=1e-14, abs=0)
        over = jvp(grad(f), (xs,), (reverse,))[1]
        again = [
            sum(h * v for h, v in zip(row, reverse, strict=True)) for row in jacrev(grad(f))(xs)
        ]
        # Sums of products of second derivatives, so relative to the largest of their terms.
        largest = max(abs(h * v) for row in jacrev(grad(f))(xs) for h, v in zip(row, reverse))
        assert over == pytest.approx(again, rel=1e-12, abs=1e-13 * max(1, largest))


@pytest.mark.parametrize("name", RULES)
def test_compiled_and_batched_agree_with_reverse(name):
    for point in points(name):
        f, xs, _ = differentiated(name)(point)
        leaves = [Value(x) for x in xs]
        y = f(leaves)
        y.backward()
        expected = y.data, *[x.grad for x in leaves]
        value, gradients = Expression(y).compile(leaves, wrt=leaves)(*xs)
        # Since 3.12 Python rounds a sum once, a program at each +: the largest number counts.
        scale = 1e-15 * max(map(abs, [*point, *expected])) if name in ("sum", "dot") else 0.0
        assert (value, *gradients) == pytest.approx(expected, rel=1e-14, abs=scale)
        batched = Expression(y).compile(leaves, wrt=leaves, xp=np, batch=True)
        with np.errstate(all="ignore"):
            values, gradients = batched(np.array([xs]))
        found = [values[0], *gradients[0]]
        last = 1e-15 if name == "tanh" else 1e-300  # 1 - tanh² near 0, from numpy's own tanh
        assert found == pytest.approx(expected, rel=1e-13, abs=max(scale, last))


@pytest.mark.parametrize("name", RULES)
def test_gradient_graphs_agree_with_nested_gradients(name):
    for point in points(name)[:8]:
        f, xs, _ = differentiated(name)(point)
        leaves = [Value(x) for x in xs]
        f(leaves).backward(create_graph=True)
        gradients = [x.grad for x in leaves]
        expected = jacrev(grad(f))(xs)
        for gradient, row in zip(gradients, expected, strict=True):
            for x in leaves:
                x.grad = 0.0
            if gradient.requires_grad:
                gradient.backward()
            found = [x.grad for x in leaves]
            assert found == pytest.approx(row, rel=1e-12, abs=1e-12 * max(map(abs, row)))


@pytest.mark.parametrize("name", RULES)
def test_a_batch_of_arrays_is_the_same_as_one_by_one(name):
    chosen = points(name)[:30]
    columns = [np.array(column) for column in zip(*chosen, strict=True)]
    if name == "power":
        chosen = [(x, 3.0) for x, _ in chosen]
        columns[1] = 3.0
    result, backward = RULES[name](*columns)
    gradients = backward(np.ones(30))
    for k, point in enumerate(chosen):
        value, one = RULES[name](*point)
        assert np.broadcast_to(result, 30)[k] == pytest.approx(value, rel=1e-14, abs=1e-300)
        for array, number in zip(gradients, one(1.0), strict=True):
            if number is not None:
                element = np.broadcast_to(array, 30)[k]
                assert element == pytest.approx(number, rel=1e-13, abs=1e-15)  # 1 - tanh² near 0


@pytest.mark.parametrize("name", RULES)
def test_an_operation_is_one_node_with_its_inputs_as_parents_in_order(name):
    point = points(name)[0]
    inputs = [Value(x) for x in point]
    node = inputs[0]._apply(RULES[name], *inputs)
    assert node.parents == tuple(inputs)
    assert topological_order(node) == [*inputs, node]


# See test_value.py for these.
OPERATORS = {"add", "sub", "mul", "div", "neg", "pos", "power", "exponential", "pow"}


@pytest.mark.parametrize("name", sorted(set(RULES) - OPERATORS))
def test_the_function_of_the_same_name_takes_every_kind_of_number(name):
    function = getattr(autodiff.functions, name)
    point = points(name)[0]
    half = len(point) // 2
    call = {
        "sum": lambda *xs: function(xs),
        "prod": lambda *xs: function(xs),
        "logsumexp": lambda *xs: function(xs),
        "dot": lambda *xs: function(xs[:half], xs[half:]),
    }.get(name, function)
    value = call(*point)
    assert type(value) is float
    assert call(*map(Value, point)).data == value
    assert call(*map(Dual, point)).primal == value
    if len(point) == 1:
        assert getattr(Value(*point), name if name != "abs" else "__abs__")().data == value


# -- Conventions at kinks, each said in the docstring of the operation -----------------------------


def test_relu_has_derivative_0_at_0():
    assert grad(autodiff.relu)(0.0) == 0.0
    assert grad(autodiff.relu)(1e-300) == 1.0


def test_abs_has_derivative_0_at_0():
    assert grad(abs)(0.0) == 0.0
    assert [grad(abs)(-2.0), grad(abs)(2.0)] == [-1.0, 1.0]


@pytest.mark.parametrize("function", [autodiff.maximum, autodiff.minimum])
def test_a_tie_is_split_evenly(function):
    assert grad(function, (0, 1))(2.0, 2.0) == (0.5, 0.5)


def test_the_norm_has_derivative_0_at_the_origin():
    assert grad(lambda v: autodiff.hypot(*v))([0.0, 0.0]) == [0.0, 0.0]


def test_zero_to_a_variable_power_has_no_slope_in_the_exponent():
    assert grad(lambda x, y: x**y, (0, 1))(0.0, 2.0) == (0.0, 0.0)


def test_nan_goes_through_to_the_gradient_or_the_result():
    nan = float("nan")
    for function in (autodiff.relu, autodiff.sigmoid, autodiff.softplus):
        assert np.isnan(function(nan))
    for function, pair in itertools.product(
        (autodiff.maximum, autodiff.minimum), ((nan, 1.0), (1.0, nan))
    ):
        assert np.isnan(function(*pair))


@pytest.mark.parametrize("x", [-1000.0, 1000.0])
def test_stable_where_the_textbook_formula_overflows(x):
    assert grad(autodiff.sigmoid)(x) == 0.0
    assert grad(autodiff.softplus)(x) == (1.0 if x > 0 else 0.0)
    assert autodiff.logsumexp([x, x]) == pytest.approx(x + np.log(2), rel=1e-15)
    assert grad(autodiff.logsumexp)([x, x]) == [0.5, 0.5]
    assert grad(autodiff.logsumexp)([1e12 * x, 1e12 * x]) == [0.5, 0.5]
