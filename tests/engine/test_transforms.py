"""Functions to their derivatives."""

import inspect
import math
from typing import Any, NamedTuple

import numpy as np
import pandas
import pytest
from modes import forward, in_every_derivative, pullback
from tables import same

import autodiff as ad
from autodiff import Matrix, Value, Vector, grad, hessian, hvp, jacfwd, jacrev, jvp, vjp

# -- Arguments ----------------------------------------------------------------------------------


def test_keywords_reach_the_function():
    def f(x, scale=1.0):
        return scale * x**3

    for d in (grad, jacfwd, jacrev, hessian):
        assert d(f)(2, scale=2.0) == 24.0
    assert ad.value_and_grad(f)(2, scale=2.0) == jvp(f, (2,), (1.0,), scale=2.0) == (16.0, 24.0)
    assert hvp(f, 2.0, 1.0, scale=2.0) == 24.0
    assert vjp(f, 2.0, scale=2.0)[1](1.0) == (24.0,)

    def product(x, /, **weights):
        return x * x * math.prod(weights.values())

    weights = dict.fromkeys(("f", "x", "v", "primals", "tangents", "argnums", "mode"), 2.0)
    assert hvp(product, 3.0, 1.0, **weights) == hessian(product)(3.0, **weights) == 2 * 2.0**7
    assert jvp(product, (3.0,), (1.0,), **weights)[1] == 6 * 2.0**7
    assert vjp(product, 3.0, **weights)[1](1.0) == (6 * 2.0**7,)


@pytest.mark.parametrize("transform", [grad, ad.value_and_grad, jacrev, jacfwd, hessian])
def test_a_derivative_says_what_it_is(transform):
    def volume(radius, height=1.0):
        return radius**2 * height

    found = transform(volume)
    assert found.__name__ == found.__qualname__ == f"{transform.__name__}(volume)"
    assert found.__doc__ == f"{found.__name__}, a function of the same arguments as volume."
    assert list(inspect.signature(found).parameters) == ["radius", "height"]


@pytest.mark.parametrize("argnums", [0, 1, -1, (0, 1, 2), (2, 0), (1,), (-1, 1)])
def test_derivatives_by_argnums_are_those_by_all_numbers_in_one_list(argnums):
    """Block [i][j] of the Hessian holds the derivatives by x_i and x_j, as in JAX."""

    def f(x, y, z):
        return x[0] ** 2 * y[1] * z + x[1] * y[0] * y[2] ** 2 - z**3 * x[0] * x[1]

    def of_list(v):
        return f(v[:2], v[2:5], v[5])

    def chosen(part):
        return tuple(map(part, argnums)) if isinstance(argnums, tuple) else part(argnums)

    def plain(block):
        return block if block.ndim else float(block)

    args = np.array([2.0, 3.0]), np.array([5.0, 7.0, 11.0]), 13.0
    places = np.s_[:2], np.s_[2:5], 5
    numbers = [*args[0], *args[1], args[2]]
    slopes, curvatures = np.array(grad(of_list)(numbers)), np.array(hessian(of_list)(numbers))
    for d in (grad, jacrev, jacfwd):
        same(d(f, argnums)(*args), chosen(lambda i: plain(slopes[places[i]])))
    same(vjp(f, *args)[1](1.0), grad(f, (0, 1, 2))(*args))
    blocks = chosen(lambda i: chosen(lambda j: plain(curvatures[places[i]][..., places[j]])))
    same(hessian(f, argnums)(*args), blocks)


@pytest.mark.parametrize("kind", [iter, np.array, range])
@pytest.mark.parametrize("transform", [grad, ad.value_and_grad, jacrev, jacfwd, hessian])
def test_argnums_of_any_kind_are_read_once(transform, kind):
    def f(x, y):
        return x * y * y

    several = transform(f, range(2) if kind is range else kind([0, 1]))
    assert several(2.0, 3.0) == several(2.0, 3.0) == transform(f, (0, 1))(2.0, 3.0)
    assert transform(f, np.int64(1))(2.0, 3.0) == transform(f, 1)(2.0, 3.0)


# -- Nesting ------------------------------------------------------------------------------------


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
    same(ad.value_and_grad(lambda x: k)(1.0), (3.0, 0.0))
    assert jvp(lambda x: k * x * k, (2.0,), (1.0,)) == (18.0, 9.0)
    assert jacfwd(lambda v: [ad.dot([k, k], v), v[0] * k])([1.0, 2.0]) == [[3.0, 3.0], [3.0, 0.0]]


def test_adjoints_that_are_a_graph_depend_on_numbers_outside():
    def adjoint(y, x):
        return ad.adjoints(y, [x], create_graph=True)[x]

    # the adjoint is x: by y it does not move, by x it does
    assert grad(lambda x: grad(lambda y: adjoint(x * y, y) * x * y)(1.0))(3.0) == 6.0
    assert grad(lambda x: grad(lambda y: adjoint(x * y * y, y))(1.0))(3.0) == 2.0
    assert hessian(lambda x: grad(lambda y: adjoint(x * y * y * 2.0, y) * x)(1.0))(3.0) == 8.0


@in_every_derivative
def test_the_pullback_of_a_pullback_is_the_pushforward(d):
    f = lambda x: [x[0] * x[1], ad.sin(x[0])]  # noqa: E731
    x, v = [2.0, 3.0], [0.5, -1.0]
    _, back = vjp(f, x)
    _, again = vjp(lambda u: back(u)[0], [0.0, 0.0])
    assert again(v)[0] == pytest.approx(jvp(f, (x,), (v,))[1], rel=1e-15)
    assert d(lambda t: again([t, t])[0][0])(1.0) == pytest.approx(5.0)  # by the tangent


def test_the_pullback_of_a_result_that_is_returned_twice():
    _, back = vjp(lambda x: (lambda y: [y, y])(x * x), 3.0)
    assert back([1.0, 10.0]) == (66.0,)


@pytest.mark.parametrize("n", [1, 3, 20])
def test_the_number_of_calls_and_of_backward_passes(n, monkeypatch):
    passes, calls = [], []
    original = ad.engine.graph.backpropagated
    monkeypatch.setattr(
        ad.engine.graph, "backpropagated", lambda *a: passes.append(1) or original(*a)
    )

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


@in_every_derivative
def test_looking_at_a_number_takes_no_derivative(d, capsys):
    def f(x):
        print(x, repr(x), str([x]), f"{x:.3f} {x}", Vector([x, x * x]))
        if isinstance(x, Value):
            ad.draw(x * x)
        larger = max(sorted([x, 3.0 * x]))
        return larger * x if x > 1 and x != 5.0 and x else 0.0

    assert d(f)(2.0) == 12.0
    assert "2.000" in capsys.readouterr().out


def test_a_sequence_that_can_be_read_once_is_read_once():
    def f(x, scales=(1.0,)):
        return x[0] ** 2 * x[1] * ad.sum(scales)

    assert hvp(f, iter([3.0, 5.0]), iter([1.0, 0.0])) == [10.0, 6.0]
    assert jacrev(f)([3.0, 5.0], iter([2.0])) == [60.0, 18.0]  # one call


# -- Trees --------------------------------------------------------------------------------------


class Layer(NamedTuple):
    weights: Any
    bias: Any


def largest_first(v):
    v.sort()
    return 10 * v.pop() + v[0]


A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
M, OF_VALUES = Matrix(A).requires_grad_(False), Matrix(A[:, :2])
TREES = {  # a function, an argument, the derivative
    "a number, as a float": (lambda x: x * x, 3, 6.0),
    "a constant": (lambda x: 3.0, 1.0, 0.0),
    "constant slopes": (lambda x: grad(lambda y: 2 * y)(x) + forward(lambda y: 2 * y)(x), 1.0, 0.0),
    "a list that f changes": (largest_first, [3.0, 1.0], [10.0, 1.0]),
    "an empty list": (ad.sum, [], []),
    "a range, as a list": (lambda x: x[0] * x[1], range(2, 4), [3.0, 2.0]),
    "a named tuple": (
        lambda p: p.weights @ p.weights * p.bias,
        Layer(np.array([1.0, 2.0]), 3), Layer(np.array([6.0, 12.0]), 5.0)),
    "a table": (  # its row sums[j] + column sums[i]
        lambda v: (v @ v).sum(), np.arange(4.0).reshape(2, 2), np.array([[3.0, 7.0], [5.0, 9.0]])),
    "three axes": (
        lambda x: x[0, 1, 2] ** 2 + x.sum(),
        np.full((1, 2, 3), 5), np.array([[[1.0, 1.0, 1.0], [1.0, 1.0, 11.0]]])),
    "a frame and a series, as arrays": (
        lambda p: (p[0] ** 2).sum() + p[1] @ p[1],
        [pandas.DataFrame({"a": [1.0, 3.0], "b": [2, 4]}), pandas.Series([1, 2])],
        [np.array([[2.0, 4.0], [6.0, 8.0]]), np.array([2.0, 4.0])]),
    "no axis, as a number": (lambda x: x * x, np.array(3), 6.0),
    "no numbers": (lambda p: p[0].sum() + p[1], (np.ones((0, 3)), 2), (np.ones((0, 3)), 1.0)),
    "no rows": (lambda p: p["x"][:, :0], {"x": np.ones((2, 3))}, {"x": np.ones((2, 0, 2, 3))}),
    "no rows beside others": (
        lambda x: {"a": x[:0], "b": [x[0], np.ones((0, 2))]}, np.ones(3),
        {"a": np.ones((0, 3)), "b": [np.array([1.0, 0.0, 0.0]), np.ones((0, 2, 3))]}),
    "no rows by no numbers": (lambda x: x.T, np.ones((0, 2)), np.ones((2, 0, 0, 2))),
    "no rows by a tuple": (
        lambda p: p[0][:0], (np.ones(3), 2.0), (np.ones((0, 3)), np.ones(0))),
    "a Vector and a Matrix": (  # the gradients of vᵀMv are vvᵀ and (M + Mᵀ)v
        lambda p: p["v"] @ p["M"] @ p["v"],
        {"M": Matrix([[1, 2], [3, 4]]), "v": Vector([1, 2]).requires_grad_(False)},
        {"M": Matrix([[1, 2], [2, 4]]), "v": Vector([12, 21])}),
    "depth": (
        lambda p: p["layers"][1].weights[0] ** 3 * p["rest"][0],
        {"layers": [Layer([1], ()), Layer((2, 1), {})], "rest": [5], "none": []},
        {"layers": [Layer([0.0], ()), Layer((60.0, 0.0), {})], "rest": [8.0], "none": []}),
    "list by empty list": (lambda x: [1.0, {"a": 2.0}], [], [[], {"a": []}]),
    "list by array": (lambda x: [*(A @ x)], np.ones(3), [*A]),
    "array by list": (lambda x: A @ x, [1.0] * 3, [*A.T]),
    "table by named tuple": (
        lambda p: A @ p.weights + p.bias, Layer(np.ones((3, 2)), (1.0,)),
        Layer(np.einsum("ik,jl->ijkl", A, np.eye(2)), (np.ones((2, 2)),))),
    "dict by dict": (
        lambda p: {"y": A @ p["x"], "z": (p["c"] ** 2,)}, {"x": np.ones(3), "c": 2.0},
        {"y": {"x": A, "c": np.zeros(2)}, "z": ({"x": np.zeros(3), "c": 4.0},)}),
    "named tuple by number": (lambda t: Layer(t * t, [3 * t]), 2.0, Layer(4.0, [3.0])),
    "tuple by number": (lambda t: (t, t * t, 1.0), 3, (1.0, 6.0, 0.0)),
    "number without an axis": (lambda t: np.array(t * t), 3.0, 6.0),
    "Vector by Vector": (lambda v: M @ v, Vector(np.ones(3)).requires_grad_(False), M),
    "Vector by list": (
        lambda x: sum(column * t for column, t in zip(M.T, x, strict=True)), [1.0] * 3, A.tolist()),
    "Vector of Values by list": (
        lambda x: OF_VALUES @ Vector(x), [1.0] * 2, [[Value(1.0), Value(2.0)], [Value(4.0), Value(5.0)]]),
    "Vector by dict": (lambda p: M.T[0] * p["t"], {"t": 2.0}, [{"t": 1.0}, {"t": 4.0}]),
    "Matrix by number": (lambda t: t * M, 2.0, M),
}  # fmt: skip


def kinds(tree):
    """A tree of its kinds, with float for each number, and for each array and Vector its kind."""
    if isinstance(tree, (list, tuple)):
        return type(tree), [*map(kinds, tree)]
    if isinstance(tree, dict):
        return {key: kinds(x) for key, x in tree.items()}
    if isinstance(tree, np.ndarray):
        return np.ndarray
    return type(tree) if hasattr(tree, "shape") else float


@pytest.mark.parametrize("name", TREES)
def test_a_derivative_is_the_tree_of_the_result_of_trees_of_the_argument(name):
    """As in JAX, an array is a leaf: it stays whole, and the tree of the argument is around it."""
    f, given, derivative = TREES[name]
    found = []

    def noted(x, *_):
        found.append(kinds(x))
        return f(x)

    value, back = vjp(noted, given)
    derivatives = [jacrev, jacfwd]
    if isinstance(value, (float, Value)):
        derivatives += [grad, pullback]
        same(grad(noted, (0, 1))(given, 2.0), (derivative, 0.0))
    for d in derivatives:
        same(d(noted)(given), derivative)
    for method in ad.engine.checks.METHODS:
        same(ad.finite_difference(noted, given, method=method), derivative, 1e-6)
    ad.check_gradients(noted, given)
    same(jvp(noted, (given,), (given,))[0], value)
    assert all(tree == kinds(back(value)[0]) for tree in found)  # f is given what comes out


def test_a_gradient_by_a_constant_vector_is_constant():
    slopes = grad(lambda v: 3 * v[0] + v[1] ** 2)(Vector([1.0, 2.0]).requires_grad_(False))
    assert [*map(float, slopes)] == [3.0, 4.0]


def test_the_numbers_of_a_direction_may_stand_in_another_order():
    def f(p):
        return Vector(p["w"]) @ p["w"] * p["b"]

    p, v = {"w": np.array([1.0, 2.0]), "b": 3.0}, {"b": 0.5, "w": (1, -1)}
    same(hvp(f, p, v), {"w": np.array([7.0, -4.0]), "b": -2.0})  # 2bv + 2wc and 2wv for (v, c)
    assert jvp(f, (p,), (v,)) == (15.0, -3.5)
    same(vjp(grad(f), p)[1](v)[0], hvp(f, p, v))  # the Hessian is symmetric
