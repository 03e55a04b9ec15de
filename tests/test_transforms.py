"""Functions to their derivatives."""

import math
import random

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import autodiff
from autodiff import (
    Dual,
    Value,
    cos,
    dot,
    exp,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    log,
    sin,
    tanh,
    value_and_grad,
    vjp,
)
from autodiff.nn import Linear


def running_example(x1, x2):
    return log(x1) + x1 * x2 - sin(x2)


def rosenbrock(x):
    return sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(x, x[1:]))


POINT = [0.2, -0.3, 0.5, 1.1, -0.7, 0.4]


def by_sympy(n=6):
    """Gradient and Hessian of Rosenbrock's function at POINT, by sympy."""
    xs = sympy.symbols(f"x:{n}")
    at = dict(zip(xs, map(sympy.Rational, map(str, POINT))))
    y = sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(xs, xs[1:]))
    gradient = [float(sympy.diff(y, x).subs(at)) for x in xs]
    return gradient, [[float(sympy.diff(y, a, b).subs(at)) for b in xs] for a in xs]


def counted(f):
    def g(*args):
        g.calls += 1
        return f(*args)

    g.calls = 0
    return g


# -- Values -------------------------------------------------------------------------------------


def test_the_running_example_in_every_method():
    expected = (5.5, 2 - math.cos(5))
    assert running_example(2, 5) == pytest.approx(11.6521, abs=5e-5)
    assert expected[1] == pytest.approx(1.7163, abs=5e-5)
    assert grad(running_example, (0, 1))(2, 5) == pytest.approx(expected, rel=1e-15)
    assert jacfwd(running_example, (0, 1))(2, 5) == pytest.approx(expected, rel=1e-15)
    assert jacrev(running_example, (0, 1))(2, 5) == pytest.approx(expected, rel=1e-15)
    assert vjp(running_example, 2, 5)[1](1.0) == pytest.approx(expected, rel=1e-15)
    for i, direction in enumerate([(1, 0), (0, 1)]):
        assert jvp(running_example, (2, 5), direction)[1] == pytest.approx(expected[i], rel=1e-15)
        for method, tolerance in (("forward", 1e-6), ("backward", 1e-6), ("central", 1e-9)):
            along = [lambda x: running_example(x, 5), lambda x: running_example(2, x)][i]
            found = autodiff.finite_difference(along, (2, 5)[i], method=method)
            assert found == pytest.approx(expected[i], rel=tolerance)
        assert autodiff.finite_difference(along, (2, 5)[i], method="complex") == pytest.approx(
            expected[i], rel=1e-14
        )


def test_a_number_gives_a_float_and_a_sequence_a_list():
    assert type(grad(lambda x: x * x)(3)) is float
    assert grad(lambda x: x[0] * x[1])((2, 3)) == [3.0, 2.0]
    assert value_and_grad(lambda x: x * x)(3) == (9.0, 6.0)
    assert type(jvp(lambda x: x * x, (3,), (1,))[0]) is float
    assert jacrev(lambda x: [x, x * x, 1.0])(3) == [1.0, 6.0, 0.0]
    assert jacfwd(lambda x: (x, x * x, 1.0))(3) == [1.0, 6.0, 0.0]
    assert hessian(lambda x: x**3)(2) == 12.0


def test_a_sequence_reaches_the_function_as_a_list():
    seen = []
    grad(lambda x: seen.append(type(x)) or x[0])((1.0, 2.0))
    assert seen == [list]


def test_argnums_choose_the_arguments():
    def f(x, w, scale):
        return scale * (x * w[0] + w[1])

    assert grad(f)(2.0, [3.0, 4.0], 10) == 30.0
    assert grad(f, 1)(2.0, [3.0, 4.0], 10) == [20.0, 10.0]
    assert grad(f, argnums=(1, 0))(2.0, [3.0, 4.0], 10) == ([20.0, 10.0], 30.0)
    assert grad(f, -1)(2.0, [3.0, 4.0], 10) == 10.0
    assert jacfwd(f, (1, 2))(2.0, [3.0, 4.0], 10) == jacrev(f, (1, 2))(2.0, [3.0, 4.0], 10)
    assert hessian(lambda a, x: a * x[0] ** 2 * x[1], argnums=1)(1.0, [1.0, 2.0]) == [
        [4, 2],
        [2, 0],
    ]


def test_the_jacfwd_example_of_article_001():
    f = lambda a, b, c: [x * y + c for x, y in zip(a, b)]  # noqa: E731
    args = [1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], 1.0
    assert f(*args) == [6.0, 13.0, 22.0, 33.0]
    assert jacfwd(f, argnums=1)(*args) == [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 2.0, 0.0, 0.0],
        [0.0, 0.0, 3.0, 0.0],
        [0.0, 0.0, 0.0, 4.0],
    ]


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda a, b, c: a * b + c * a, (-1, 25, 25)),
        (lambda a, b, c: a / b - c, (0.25, -1.5625, -1)),
    ],
)
def test_the_functions_of_article_001(f, expected):
    assert grad(f, (0, 1, 2))(25, 4, -5) == jacfwd(f, (0, 1, 2))(25, 4, -5) == expected


# -- Nesting ------------------------------------------------------------------------------------


def forward(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


@pytest.mark.parametrize("outer", [grad, forward], ids=["reverse", "forward"])
@pytest.mark.parametrize("inner", [grad, forward], ids=["reverse", "forward"])
def test_no_confusion_of_perturbations(outer, inner):
    # without levels of nesting this is 2
    assert outer(lambda x: x * inner(lambda y: x + y)(1.0))(1.0) == 1.0
    assert outer(lambda x: x * inner(lambda y: x + y)(x))(1.0) == 1.0
    # d/dx[x d/dy(x y)] = d/dx[x²]
    assert outer(lambda x: x * inner(lambda y: x * y)(2.0))(3.0) == 6.0


@pytest.mark.parametrize("modes", [(grad, forward), (forward, grad), (grad,), (forward,)])
@pytest.mark.parametrize("name", ["sin", "exp(sin(x)) * x"])
def test_five_derivatives_agree_with_sympy(modes, name):
    x = sympy.Symbol("x")
    f, formula = {
        "sin": (sin, sympy.sin(x)),
        "exp(sin(x)) * x": (lambda x: exp(sin(x)) * x, sympy.exp(sympy.sin(x)) * x),
    }[name]
    for order in range(1, 6):
        f = modes[order % len(modes)](f)
        exact = float(sympy.diff(formula, x, order).subs(x, sympy.Rational(7, 10)).evalf(30))
        assert f(0.7) == pytest.approx(exact, rel=1e-12, abs=1e-12)


def test_derivatives_of_polynomials_end_at_zero():
    f = lambda x: 2 * x  # noqa: E731
    assert [grad(f)(3.0), grad(grad(f))(3.0), forward(grad(f))(3.0)] == [2.0, 0.0, 0.0]
    assert [grad(forward(f))(3.0), forward(forward(f))(3.0), grad(grad(grad(f)))(3.0)] == [0, 0, 0]


def test_the_variables_of_an_outer_derivative_inside_an_inner_one():
    def f(a):
        return grad(lambda x: a**2 * x**3)(2.0)  # 3a² 2²

    assert grad(f)(5.0) == 120.0
    assert forward(f)(5.0) == 120.0
    assert hessian(lambda a: f(a[0]) * a[1])([5.0, 7.0]) == [[24 * 7, 120], [120, 0]]


def test_values_of_the_user_are_constants_to_a_transform():
    a = Value(3.0)
    slope = grad(lambda x: a * x * x)(2.0)
    slope.backward()
    assert (slope.data, a.grad) == (12.0, 4.0)


def test_rosenbrock_in_six_dimensions():
    gradient, matrix = by_sympy()
    assert grad(rosenbrock)(POINT) == pytest.approx(gradient, rel=1e-13)
    found = hessian(rosenbrock)(POINT)
    for row, exact in zip(found, matrix, strict=True):
        assert row == pytest.approx(exact, rel=1e-13, abs=1e-12)
    for other in (jacrev(grad(rosenbrock)), jacfwd(jacfwd(rosenbrock)), jacrev(jacfwd(rosenbrock))):
        for row, exact in zip(other(POINT), found, strict=True):
            assert row == pytest.approx(exact, rel=1e-13, abs=1e-12)
    v = [1.0, -2.0, 0.5, 0.0, 3.0, 1.0]
    product = [sum(a * b for a, b in zip(row, v)) for row in matrix]
    assert hvp(rosenbrock, POINT, v) == pytest.approx(product, rel=1e-13)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-2, 2), min_size=1, max_size=5), st.integers(1, 4), st.integers())
def test_forward_and_reverse_jacobians_are_equal(x, outputs, seed):
    def program(inputs):
        rng = random.Random(seed)
        values = list(inputs)
        for _ in range(12):
            a, b = rng.choice(values), rng.choice(values)
            values.append(rng.choice([a + b, a * tanh(b), a - cos(b), sin(a), a / (2 + b * b)]))
        return values[-outputs:]

    one, other = jacfwd(program)(x), jacrev(program)(x)
    for row, same in zip(one, other, strict=True):
        assert row == pytest.approx(same, rel=1e-12, abs=1e-12)


def cubic_form(x, y, z):
    return x[0] ** 2 * y[1] * z + x[1] * y[0] * y[2] ** 2 - z**3 * x[0] * x[1]


@pytest.mark.parametrize("argnums", [(0, 1, 2), (2, 0), (1,), (-1, 1)])
def test_blocks_of_the_hessian_are_those_of_sympy(argnums):
    """Block [i][j] holds the derivatives by x_i and x_j, as in JAX."""
    args = [2.0, 3.0], [5.0, 7.0, 11.0], 13.0
    x, y, z = sympy.symbols("x:2"), sympy.symbols("y:3"), sympy.Symbol("z")
    at = dict(zip((*x, *y, z), map(sympy.Integer, (2, 3, 5, 7, 11, 13))))
    symbols = [x, y, z]

    def block(a, b):
        if isinstance(a, tuple):
            return [block(v, b) for v in a]
        if isinstance(b, tuple):
            return [block(a, v) for v in b]
        return float(sympy.diff(cubic_form(x, y, z), a, b).subs(at))

    exact = tuple(tuple(block(symbols[i], symbols[j]) for j in argnums) for i in argnums)
    assert hessian(cubic_form, argnums)(*args) == exact
    arrays = np.array(args[0]), np.array(args[1]), args[2]
    for row, of_lists in zip(hessian(cubic_form, argnums)(*arrays), exact, strict=True):
        for found, expected in zip(row, of_lists, strict=True):
            assert isinstance(found, np.ndarray if isinstance(expected, list) else float)
            assert np.array_equal(found, expected)


def test_a_jacobian_by_an_empty_list_has_a_row_for_each_result():
    for jacobian in (jacfwd, jacrev):
        assert jacobian(lambda x, y: [y, y * y], (0, 1))([], 3.0) == ([[], []], [1.0, 6.0])
        assert jacobian(lambda x: [1.0, 2.0])([]) == [[], []]
    assert hessian(lambda x, y: y**3, (0, 1))([], 3.0) == (([], []), ([], 18.0))


# -- Cost, counted ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 3, 20])
def test_the_number_of_passes(n):
    def many_to_one(x):
        return sum(v * v for v in x)

    x = [1.0] * n
    for transform, calls in ((jacfwd, n), (jacrev, 1), (grad, 1), (hessian, n)):
        f = counted(many_to_one)
        transform(f)(x)
        assert f.calls == calls
    f = counted(many_to_one)
    hvp(f, x, x)
    assert f.calls == 1
    f = counted(many_to_one)
    _, pullback = vjp(f, x)
    pullback(1.0)
    pullback(2.0)
    assert f.calls == 1


def test_jacrev_makes_one_backward_pass_for_each_result(monkeypatch):
    runs = []
    original = autodiff.graph.backpropagated
    monkeypatch.setattr(autodiff.graph, "backpropagated", lambda *a: runs.append(1) or original(*a))
    found = jacrev(lambda x, w: [x * w[0], x + w[1], w[0] * w[1]], argnums=(0, 1))(2.0, [3.0, 4.0])
    assert found == ([3.0, 1.0, 0.0], [[2.0, 0.0], [0.0, 1.0], [4.0, 3.0]])
    assert len(runs) == 3


def test_the_cost_of_a_hessian_vector_product_does_not_grow_with_the_inputs(monkeypatch):
    runs = []
    original = autodiff.graph.backpropagated
    monkeypatch.setattr(autodiff.graph, "backpropagated", lambda *a: runs.append(1) or original(*a))
    for n in (2, 50):
        runs.clear()
        hvp(rosenbrock, [0.1] * n, [1.0] * n)
        assert len(runs) == 1


# -- Products with the Jacobian --------------------------------------------------------------------


def test_jvp_and_vjp_are_products_with_the_jacobian():
    f = lambda x: [x[0] * x[1], sin(x[0]), x[1] ** 3]  # noqa: E731
    x, v, w = [0.7, 2.0], [1.5, -1.0], [1.0, 10.0, 100.0]
    jacobian = jacrev(f)(x)
    value, tangent = jvp(f, (x,), (v,))
    assert value == f(x)
    assert tangent == pytest.approx([sum(a * b for a, b in zip(row, v)) for row in jacobian])
    value, pullback = vjp(f, x)
    assert value == f(x)
    (found,) = pullback(w)
    assert found == pytest.approx([sum(a * b for a, b in zip(c, w)) for c in zip(*jacobian)])


def test_vjp_of_several_primals():
    value, pullback = vjp(lambda x, y: x * y[0] + y[1], 2.0, [3.0, 4.0])
    assert (value, pullback(10.0)) == (10.0, (30.0, [20.0, 10.0]))


# -- Control flow -------------------------------------------------------------------------------


def test_branches_and_loops():
    def root(a):
        x = a
        while abs(x * x - a) > 1e-12:
            x = (x + a / x) / 2
        return x

    assert grad(root)(2.0) == pytest.approx(1 / (2 * math.sqrt(2)), rel=1e-10)
    assert forward(root)(2.0) == pytest.approx(1 / (2 * math.sqrt(2)), rel=1e-10)
    f = lambda x: x * 2 + 5 if x > 2 else x / 2 + 5  # noqa: E731
    assert [grad(f)(3.0), grad(f)(1.0)] == [2.0, 0.5]


# -- What moves, and what does not -----------------------------------------------------------------


@pytest.mark.parametrize("transform", [grad, jacrev, jacfwd, forward], ids=lambda t: t.__name__)
@pytest.mark.parametrize(
    "f",
    [
        lambda x: (x**3) ** (1 / 3),
        lambda x: autodiff.sqrt(x * x),
        lambda x: autodiff.sqrt(0.0 * x),
        lambda x: 1 + autodiff.sum([x**2, x**2]) ** 0.5,
    ],
    ids=["a cube root", "a square root", "of nothing", "of a sum"],
)
def test_a_slope_that_became_0_meets_an_infinite_one_in_every_mode(transform, f):
    with pytest.raises(ZeroDivisionError, match="infinite or undefined"):
        transform(f)(0.0)


@pytest.mark.parametrize("transform", [grad, jacfwd, forward], ids=lambda t: t.__name__)
def test_an_exponent_whose_slope_became_0_is_no_constant(transform):
    """The derivative by an exponent of -2 has a logarithm in it, which is not real."""
    assert math.isnan(transform(lambda y: (-2.0) ** (y**3))(0.0))


@pytest.mark.parametrize("still", [0, 0.0, -0.0, np.float32(0), False])
def test_an_input_with_tangent_0_does_not_move(still):
    def f(x, y):
        return autodiff.sqrt(x) + y * y

    assert jvp(f, (0.0, 3.0), (still, 1.0)) == (9.0, 6.0) == (9.0, grad(f, 1)(0.0, 3.0))
    assert jvp(lambda v: f(*v), ([0.0, 3.0],), ([still, 1.0],)) == (9.0, 6.0)
    for both in (grad(f, (0, 1)), jacfwd(f, (0, 1)), lambda x, y: jvp(f, (x, y), (1.0, 1.0))):
        with pytest.raises(ZeroDivisionError, match="derivative of sqrt at x = 0.0: it is infin"):
            both(0.0, 3.0)


def test_a_step_stops_all_motion():
    assert forward(lambda x: autodiff.sqrt(autodiff.less(x, 0.0)))(1.0) == 0.0


# -- What is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize("transform", [grad, jacrev, jacfwd, forward], ids=lambda t: t.__name__)
def test_a_function_of_math_is_named_as_the_cause(transform):
    with pytest.raises(
        TypeError, match="a float has no derivative; take the function from autodiff, not from math"
    ):
        transform(lambda x: x + math.sin(x))(1.0)


@pytest.mark.parametrize("transform", [grad, jacrev, jacfwd, forward], ids=lambda t: t.__name__)
def test_a_result_that_does_not_depend_on_the_inputs_has_derivative_0(transform):
    assert transform(lambda x: 3.0)(1.0) == 0.0
    assert transform(lambda x: x**2 if x > 0 else 0.0)(-1.0) == 0.0
    assert transform(transform(lambda x: 2 * x))(1.0) == 0.0


@pytest.mark.parametrize(
    ("attempt", "kind", "message"),
    [
        (lambda: grad(lambda x: [x, x])(1.0), TypeError, "a list of 2 numbers, expected one number as the result of f; .* use jacrev"),
        (lambda: grad(lambda x: None)(1.0), TypeError, "the result of f: found None .* `return`"),
        (lambda: grad(lambda x: "a")(1.0), TypeError, "the result of f: found 'a' of type str"),
        (lambda: grad(3), TypeError, "grad: found 3 of type int, expected a function"),
        (lambda: jacfwd(3), TypeError, "jacfwd: found 3 of type int, expected a function"),
        (lambda: grad(sin)("a"), TypeError, "grad: found 'a' of type str, expected one real"),
        (lambda: grad(sin, argnums=2)(1.0), ValueError, "found argnums 2 and 1 positional argument,"),
        (lambda: jvp(sin, 1.0, 1.0), TypeError, r"jvp: found 1.0 of type float, expected tuples .*\(1.0,\)\)"),
        (lambda: jvp(sin, (1.0,), (1.0, 2.0)), ValueError, "jvp: the tangents: found .*, expected the shape of"),
        (lambda: jvp(sum, ([1.0, 2.0],), ([1.0],)), ValueError, "jvp: the tangents: found .*, expected the shape of"),
        (lambda: vjp(lambda x: [x, x], 1.0)[1](1.0), ValueError, "vjp: the cotangent: found .*, expected the shape of"),
    ],
)  # fmt: skip
def test_what_is_refused(attempt, kind, message):
    with pytest.raises(kind, match=message):
        attempt()


def test_a_value_of_ones_own_as_the_result():
    constant, variable = Value(3.0), Value(2.0)
    constant.requires_grad = False
    value, slope = value_and_grad(lambda x: constant)(1.0)
    assert (type(value), value, slope) == (float, 3.0, 0.0)
    assert vjp(lambda x: variable, 1.0)[0] is variable  # which has derivatives elsewhere


@pytest.mark.parametrize("transform", [grad, value_and_grad, jacrev, jacfwd, hessian])
def test_a_derivative_says_what_it_is(transform):
    name = f"{transform.__name__}(sin)"
    derivative = transform(sin)
    assert derivative.__name__ == derivative.__qualname__ == name
    assert derivative.__doc__ == f"{name}, a function of the same arguments as sin."


def test_constant_values_are_constants_in_forward_mode_too():
    k = Value(3.0)
    k.requires_grad = False
    assert jvp(lambda x: k * x * k, (2.0,), (1.0,)) == (18.0, 9.0)
    assert jacfwd(lambda v: [dot([k, k], v), v[0] * k])([1.0, 2.0]) == [[3.0, 3.0], [3.0, 0.0]]
    assert (Dual(2.0, 1.0) * k).tangent == 3.0
    frozen = Linear(2, 1, seed=0, init=lambda n, m, rng: [[1.0, 2.0]], activation=lambda x: x * x)
    for p in frozen.parameters():
        p.requires_grad = False
    assert jacfwd(lambda v: frozen(v)[0])([1.0, 1.0]) == [6.0, 12.0]


@pytest.mark.parametrize("d", [jacfwd, hessian])
def test_an_iterator_is_not_used_up_by_the_first_of_several_calls(d):
    def f(x, scales):
        return (x[0] ** 2 + x[1] ** 2) * autodiff.sum(scales)

    expected = d(f)([1.0, 2.0], [3.0])
    for others, named in (((iter([3.0]),), {}), ((), {"scales": map(float, [3])})):
        with pytest.raises(TypeError, match="f would use up, expected what can be read again"):
            d(f)([1.0, 2.0], *others, **named)
    assert d(f)([1.0, 2.0], scales=(3.0,)) == d(f)(iter([1.0, 2.0]), [3.0]) == expected
    assert jacrev(f)([1.0, 2.0], iter([3.0])) == [6.0, 12.0]  # one call
