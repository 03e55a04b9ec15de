"""Functions to their derivatives."""

import inspect
import math

import numpy as np
import pytest
from modes import forward, in_every_derivative, pullback

import autodiff as ad
from autodiff import Value, Vector, grad, hessian, hvp, jacfwd, jacrev, jvp, value_and_grad, vjp

# -- Values -------------------------------------------------------------------------------------


def test_a_number_gives_a_float_and_a_sequence_a_list():
    assert type(grad(lambda x: x * x)(3)) is float
    assert grad(lambda x: x[0] * x[1])((2, 3)) == [3.0, 2.0]
    assert value_and_grad(lambda x: x * x)(3) == (9.0, 6.0)
    assert type(jvp(lambda x: x * x, (3,), (1,))[0]) is float
    for d in (jacrev, jacfwd):
        assert d(lambda x: (x, x * x, 1.0))(3) == [1.0, 6.0, 0.0]
    assert hessian(lambda x: x**3)(2) == 12.0


def test_argnums_choose_the_arguments():
    def f(x, w, scale):
        return scale * (x * w[0] + w[1])

    args = 2.0, [3.0, 4.0], 10
    assert grad(f)(*args) == 30.0
    assert grad(f, 1)(*args) == [20.0, 10.0]
    assert grad(f, argnums=(1, 0))(*args) == ([20.0, 10.0], 30.0)
    assert grad(f, -1)(*args) == 10.0
    assert jacfwd(f, (1, 2))(*args) == jacrev(f, (1, 2))(*args) == ([20.0, 10.0], 10.0)
    assert hessian(lambda a, x: a * x[0] ** 2 * x[1], 1)(1.0, [1.0, 2.0]) == [[4, 2], [2, 0]]


def test_the_gradient_of_nothing():
    assert grad(ad.sum)([]) == []
    for jacobian in (jacfwd, jacrev):
        assert jacobian(lambda x, y: [y, y * y], (0, 1))([], 3.0) == ([[], []], [1.0, 6.0])
        assert jacobian(lambda x: [1.0, 2.0])([]) == [[], []]
    assert hessian(lambda x, y: y**3, (0, 1))([], 3.0) == (([], []), ([], 18.0))


def test_keywords_reach_the_function():
    def f(x, scale=1.0):
        return scale * x**3

    for d in (grad, jacfwd, jacrev, hessian):
        assert d(f)(2.0, scale=2.0) == 24.0
    assert value_and_grad(f)(2.0, scale=2.0) == jvp(f, (2.0,), (1.0,), scale=2.0) == (16.0, 24.0)
    assert hvp(f, 2.0, 1.0, scale=2.0) == 24.0
    assert vjp(f, 2.0, scale=2.0)[1](1.0) == (24.0,)


@pytest.mark.parametrize("transform", [grad, value_and_grad, jacrev, jacfwd, hessian])
def test_a_derivative_says_what_it_is(transform):
    def volume(radius, height=1.0):
        return radius**2 * height

    found = transform(volume)
    assert found.__name__ == found.__qualname__ == f"{transform.__name__}(volume)"
    assert "a function of the same arguments" in found.__doc__
    assert "volume" in found.__doc__
    assert list(inspect.signature(found).parameters) == ["radius", "height"]


# -- Blocks, rows and products --------------------------------------------------------------------


@pytest.mark.parametrize("argnums", [(0, 1, 2), (2, 0), (1,), (-1, 1)])
def test_blocks_of_the_hessian_are_those_of_all_inputs_in_one_list(argnums):
    """Block [i][j] holds the derivatives by x_i and x_j, as in JAX."""

    def f(x, y, z):
        return x[0] ** 2 * y[1] * z + x[1] * y[0] * y[2] ** 2 - z**3 * x[0] * x[1]

    args, places = ([2.0, 3.0], [5.0, 7.0, 11.0], 13.0), (np.s_[:2], np.s_[2:5], 5)
    whole = np.array(hessian(lambda v: f(v[:2], v[2:5], v[5]))([2.0, 3.0, 5.0, 7.0, 11.0, 13.0]))
    arrays = [np.array(x) if isinstance(x, list) else x for x in args]
    for given, kind in ((args, list), (arrays, np.ndarray)):
        for i, row in zip(argnums, hessian(f, argnums)(*given), strict=True):
            for j, block in zip(argnums, row, strict=True):
                expected = whole[places[i]][..., places[j]]
                assert isinstance(block, kind if expected.ndim else float)
                assert np.array_equal(block, expected)


def test_jvp_and_vjp_are_products_with_the_jacobian():
    f = lambda x: [x[0] * x[1], ad.exp(x[0]), x[1] / x[2]]  # noqa: E731
    x, v, u = [2.0, 3.0, 5.0], [1.0, -0.5, 2.0], [0.5, 2.0, -1.0]
    exact = np.array([[3.0, 2.0, 0.0], [math.exp(2.0), 0.0, 0.0], [0.0, 1 / 5, -3 / 25]])
    for jacobian in (jacfwd(f)(x), jacrev(f)(x)):
        assert np.allclose(jacobian, exact, rtol=1e-15, atol=0)
    assert jvp(f, (x,), (v,)) == (f(x), pytest.approx(exact @ v, rel=1e-15))
    value, back = vjp(f, x)
    assert (value, back(u)) == (f(x), (pytest.approx(u @ exact, rel=1e-15),))


# -- Nesting ------------------------------------------------------------------------------------


@in_every_derivative
def test_derivatives_of_constants_and_polynomials_end_at_zero(d):
    assert d(lambda x: 3.0)(1.0) == 0.0
    for other in (grad, forward, jacfwd):
        assert d(other(lambda x: 2 * x))(1.0) == 0.0
        assert other(d(other(lambda x: 2 * x)))(1.0) == 0.0


def test_an_inner_derivative_leaves_nothing_on_the_users_values():
    a = Value(3.0)
    slope = grad(lambda x: a * x * x)(2.0)
    assert a.grad == 0.0
    slope.backward()
    assert (slope.data, a.grad) == (12.0, 4.0)
    variable = Value(2.0)
    assert vjp(lambda x: variable, 1.0)[0] is variable  # which has derivatives elsewhere


def test_constant_values_are_constants():
    k = Value(3.0)
    k.requires_grad = False
    assert value_and_grad(lambda x: k)(1.0) == (3.0, 0.0)
    assert type(value_and_grad(lambda x: k)(1.0)[0]) is float
    assert jvp(lambda x: k * x * k, (2.0,), (1.0,)) == (18.0, 9.0)
    assert jacfwd(lambda v: [ad.dot([k, k], v), v[0] * k])([1.0, 2.0]) == [[3.0, 3.0], [3.0, 0.0]]


@in_every_derivative
def test_the_pullback_of_a_pullback_is_the_pushforward(d):
    f = lambda x: [x[0] * x[1], ad.sin(x[0])]  # noqa: E731
    x, v = [2.0, 3.0], [0.5, -1.0]
    _, back = vjp(f, x)
    _, again = vjp(lambda u: back(u)[0], [0.0, 0.0])
    assert again(v)[0] == pytest.approx(jvp(f, (x,), (v,))[1], rel=1e-15)
    assert d(lambda t: again([t, t])[0][0])(1.0) == pytest.approx(5.0)  # by the tangent


def test_pullbacks_of_several_primals_and_of_a_result_that_is_returned_twice():
    value, back = vjp(lambda x, y: x * y[0] + y[1], 2.0, [3.0, 4.0])
    assert (value, back(10.0)) == (10.0, (30.0, [20.0, 10.0]))
    _, back = vjp(lambda x: (lambda y: [y, y])(x * x), 3.0)
    assert back([1.0, 10.0]) == (66.0,)


# -- Cost, counted ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 3, 20])
def test_the_number_of_calls_and_of_backward_passes(n, monkeypatch):
    passes, calls = [], []
    original = ad.graph.backpropagated
    monkeypatch.setattr(ad.graph, "backpropagated", lambda *a: passes.append(1) or original(*a))

    def f(x):
        calls.append(1)
        return sum(v * v for v in x)

    def both(x):
        return [f(x), x[0]]

    x = [1.0] * n
    for derive, expected in [
        (lambda: grad(f)(x), (1, 1)), (lambda: hessian(f)(x), (n, n)), (lambda: hvp(f, x, x), (1, 1)),
        (lambda: jacfwd(both)(x), (n, 0)), (lambda: jacrev(both)(x), (1, 2)),
        (lambda: [*map(vjp(f, x)[1], (1.0, 2.0, 3.0))], (1, 3)),
    ]:  # fmt: skip
        passes.clear(), calls.clear()
        derive()
        assert (len(calls), len(passes)) == expected


# -- What a function may do ---------------------------------------------------------------------


@in_every_derivative
def test_loops_comparisons_and_exponents_that_do_not_move(d):
    def root(a):
        x = a
        while abs(x * x - a) > 1e-12:
            x = (x + a / x) / 2
        return x

    assert d(root)(2.0) == pytest.approx(1 / (2 * math.sqrt(2)), rel=1e-10)
    assert d(lambda x: x ** ad.less(x, 2.0))(-3.0) == 1.0  # the exponent has no slope at all
    assert math.isnan(d(lambda y: (-2.0) ** (y**3))(0.0))  # a slope that became 0 is no constant


def test_a_function_may_change_its_list():
    def largest_first(v):
        v.sort()
        return 10 * v.pop() + v[0]

    x = [3.0, 1.0]
    for d in (grad, jacrev, jacfwd, pullback):
        assert d(largest_first)(x) == [10.0, 1.0]
    for method in ("central", "complex"):
        found = ad.finite_difference(largest_first, x, method=method)
        assert found == pytest.approx([10.0, 1.0], rel=1e-9)
    ad.check_gradients(lambda a, v: a * largest_first(v), 2.0, x)
    assert x == [3.0, 1.0]


def test_a_sequence_that_can_be_read_once_is_read_once():
    def f(x, scales=(1.0,)):
        return x[0] ** 2 * x[1] * ad.sum(scales)

    assert hvp(f, iter([3.0, 5.0]), iter([1.0, 0.0])) == [10.0, 6.0]
    assert jacrev(f)([3.0, 5.0], iter([2.0])) == [60.0, 18.0]  # one call


# -- Lists, Vectors and arrays --------------------------------------------------------------------


def test_lists_stay_lists_vectors_vectors_and_arrays_arrays():
    kinds = []
    for given in ([1.0, 2.0], (1.0, 2.0), np.array([1.0, 2.0]), Vector([1.0, 2.0])):
        slope = grad(lambda x: kinds.append(type(x)) or x[0] * x[1])(given)
        assert list(slope) == [2.0, 1.0]
        assert type(slope) is (list if isinstance(given, tuple) else type(given))
    assert kinds == [list, list, np.ndarray, Vector]
    assert grad(lambda x: x * x)(np.array(3.0)) == 6.0


def test_derivatives_of_tables():
    table = np.arange(4.0).reshape(2, 2)
    # A's row sums[j] + column sums[i]
    assert grad(lambda v: (v @ v).sum())(table).tolist() == [[3, 7], [5, 9]]
    assert jacrev(lambda v: v.T)(table).shape == jacfwd(lambda v: v.T)(table).shape == (2, 2, 2, 2)
    assert jvp(lambda v: (v * v).sum(), (table,), (np.eye(2),)) == (14.0, 6.0)
    assert hvp(lambda v: (v**3).sum(), table, table).tolist() == (6 * table**2).tolist()


def test_vectors_inside_a_function():
    assert hessian(lambda x: Vector(x) @ Vector(x))([1.0, 2.0]) == [[2, 0], [0, 2]]
    a = ad.Matrix([[1, 2], [3, 4]])
    jacobian = jacrev(lambda x: a @ Vector(x))([1.0, 1.0])  # of Values: it depends on those in a
    assert [[entry.data for entry in row] for row in jacobian] == a.data
