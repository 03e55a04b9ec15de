"""Places where two features meet: each test is a fault that once was silent, and its siblings."""

import asyncio
import copy
import functools
import importlib
import inspect
import itertools
import math
import pickle
import re
import signal
import sys
import threading
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import autodiff as ad
from autodiff import (
    Dual,
    Expression,
    Matrix,
    Value,
    Vector,
    adjoints,
    finite_difference,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    nn,
    operation,
    optim,
    relu,
    scope,
    sin,
    sqrt,
    topological_order,
    vjp,
    where,
)

nan, inf = math.nan, math.inf


def forward(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


DERIVATIVES = {"grad": grad, "jvp": forward, "jacrev": jacrev, "jacfwd": jacfwd}
each = pytest.mark.parametrize("d", DERIVATIVES.values(), ids=DERIVATIVES)


# -- A pullback inside another derivative --------------------------------------------------------


@each
def test_a_pullback_is_differentiated_by_its_cotangent(d):
    _, pullback = vjp(lambda y: y**3, 2.0)  # z -> 12 z
    assert d(lambda z: pullback(z)[0] * z)(3.0) == 72.0


def test_a_pullback_inside_a_hessian_and_a_hessian_vector_product():
    _, pullback = vjp(lambda y: y**3, 2.0)
    cubic = lambda z: pullback(z)[0] * z * z  # 12 z³  # noqa: E731
    assert hessian(cubic)(3.0) == 216.0
    assert hvp(cubic, 3.0, 2.0) == 432.0


@each
def test_the_pullback_of_a_pullback_is_the_pushforward(d):
    f = lambda x: [x[0] * x[1], sin(x[0])]  # noqa: E731
    x, v = [2.0, 3.0], [0.5, -1.0]
    _, pullback = vjp(f, x)
    _, again = vjp(lambda u: pullback(u)[0], [0.0, 0.0])
    assert again(v)[0] == pytest.approx(jvp(f, (x,), (v,))[1], rel=1e-15)
    # and of that one a derivative, by the tangent
    assert d(lambda t: again([t, t])[0][0])(1.0) == pytest.approx(5.0)


def test_a_result_that_is_returned_twice_gets_both_cotangents():
    _, pullback = vjp(lambda x: (lambda y: [y, y])(x * x), 3.0)
    assert pullback([1.0, 10.0]) == (66.0,)


# -- A number that leaks out of its derivative ---------------------------------------------------


@each
def test_a_number_of_a_finished_derivative_is_an_error(d):
    leaked = []
    d(lambda x: leaked.append(x * x) or x)(3.0)
    for use in (
        lambda: grad(lambda z: z * leaked[0])(2.0),
        lambda: grad(lambda z: leaked[0])(2.0),
        lambda: jvp(lambda z: leaked[0] + z, (2.0,), (1.0,)),
        lambda: sin(leaked[0]) + Value(1.0),
        lambda: vjp(lambda z: [z, leaked[0]], 1.0),
    ):
        with pytest.raises(RuntimeError, match="a derivative that has been computed already"):
            use()


def test_backward_inside_a_transform_is_refused():
    def f(x):
        y = x * x
        y.backward()
        return x.grad

    with pytest.raises(RuntimeError, match="inside a function that is being differentiated"):
        grad(f)(3.0)


def test_a_number_of_a_transform_makes_no_value():
    for d in (grad, forward):
        with pytest.raises(TypeError, match="a number of another kind already; use it as it is"):
            d(lambda x: Value(x) ** 2)(2.0)
        with pytest.raises(TypeError, match="a number of another kind already; use it as it is"):
            d(lambda x: (Dual(x, 1.0) ** 2).tangent)(2.0)


def test_threads_do_not_confuse_their_levels():
    found = []

    def work():
        for _ in range(200):
            found.append(grad(lambda x: x * grad(lambda y: x + y)(1.0))(1.0))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1.0] * 800


# -- Graphs of gradients choose anew -------------------------------------------------------------

CHOICES = {
    "relu": (lambda x: relu(x) * x, lambda x: 2 * x if x > 0 else 0.0),
    "abs": (lambda x: abs(x) * x, lambda x: 2 * abs(x)),
    "maximum": (lambda x: ad.maximum(x, 1.0) * x, lambda x: 2 * x if x > 1 else 1.0),
    "minimum": (lambda x: ad.minimum(x, 1.0) * x, lambda x: 2 * x if x < 1 else 1.0),
    "where": (lambda x: ad.where(relu(x), x**3, x), lambda x: 3 * x * x if x > 0 else 1.0),
    "power": (lambda x: x**0 + x**2, lambda x: 2 * x),
    "hypot": (lambda x: ad.hypot(x) * x, lambda x: 2 * abs(x)),
}  # fmt: skip


@pytest.mark.parametrize(("f", "slope"), CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize("to", [-3.0, 0.5, 4.0])
def test_a_gradient_that_is_a_graph_chooses_anew(f, slope, to):
    x = Value(2.0)
    f(x).backward(create_graph=True)
    expression = Expression(x.grad)
    value, (curvature,) = expression.compile([x], wrt=[x])(to)
    assert value == pytest.approx(slope(to), abs=1e-15)
    assert curvature == pytest.approx(grad(slope)(to), abs=1e-15)
    batched = expression.compile([x], wrt=[x], xp=np, batch=True)
    values, slopes = batched(np.array([[to], [2.0]]))
    assert values == pytest.approx([slope(to), slope(2.0)], abs=1e-15)
    assert slopes[:, 0] == pytest.approx([grad(slope)(to), grad(slope)(2.0)], abs=1e-15)
    assert expression.propagate({x: to}) == pytest.approx(slope(to), abs=1e-15)


def test_the_graph_of_the_issue():
    x = Value(2.0)
    (relu(x) * x).backward(create_graph=True)
    assert Expression(x.grad).compile([x], wrt=[x])(-3.0) == (0.0, (0.0,))


# -- Powers --------------------------------------------------------------------------------------


def test_powers_of_zero_by_a_variable():
    p = Value(0.5)
    (0.0**p).backward()
    assert p.grad == 0.0
    assert [d(lambda p: 0.0**p)(0.5) for d in DERIVATIVES.values()] == [0.0] * 4


def test_a_power_of_a_negative_base():
    x, y = Value(-2.0), Value(3.0)
    (x**y).backward()
    assert x.grad == 12.0
    assert math.isnan(y.grad)
    assert jvp(lambda x, y: x**y, (-2.0, 3.0), (1.0, 0.0)) == (-8.0, 12.0)
    assert math.isnan(jvp(lambda x, y: x**y, (-2.0, 3.0), (0.0, 1.0))[1])
    assert math.isnan(grad(lambda y: (-2.0) ** y)(3.0))


def test_the_mixed_second_derivative_of_a_power_at_exponent_0():
    for found in (hessian(lambda v: v[0] ** v[1]), jacrev(grad(lambda v: v[0] ** v[1]))):
        assert found([2.0, 0.0]) == [[0.0, 0.5], [0.5, pytest.approx(math.log(2) ** 2)]]


def test_a_tangent_of_0_asks_for_no_derivative():
    assert jvp(sqrt, (0.0,), (0.0,)) == (0.0, 0.0)
    assert jvp(lambda x: x**2, (inf,), (0.0,)) == (inf, 0.0)
    assert jvp(lambda x, p: x**p, (0.0, 0.5), (0.0, 1.0)) == (0.0, 0.0)
    with pytest.raises(ZeroDivisionError, match="the derivative of sqrt at x = 0.0"):
        jvp(sqrt, (0.0,), (1.0,))


def test_a_power_of_0_is_1_everywhere():
    for x in (0.0, inf, -inf, nan):
        assert grad(lambda x: x**0)(x) == 0.0
        assert forward(lambda x: x**0)(x) == 0.0
        assert hessian(lambda x: x**0)(x) == 0.0


# -- All or nothing ------------------------------------------------------------------------------


def test_create_graph_over_dual_numbers():
    x = Value(Dual(2.0, 1.0))
    (x**3).backward(create_graph=True)
    assert (x.grad.data.primal, x.grad.data.tangent) == (12.0, 12.0)


def test_create_graph_sees_a_change_that_leaves_the_result_alike():
    x = Value(2.0)
    y = 0.0 * x * x
    x.data = 5.0
    with pytest.raises(
        RuntimeError, match="numbers that were changed after the graph was recorded"
    ):
        y.backward(create_graph=True)


@pytest.mark.parametrize("number", [-1.0, 0.0, 5.0])
def test_create_graph_sees_a_change_out_of_the_domain(number):
    x = Value(2.0)
    y = x.log()
    x.data = number
    with pytest.raises(RuntimeError, match="log of numbers that were changed after the graph"):
        y.backward(create_graph=True)


def test_create_graph_where_the_slope_is_infinite_then_as_now():
    with pytest.raises(ZeroDivisionError, match="the derivative of sqrt at x = 0.0"):
        Value(0.0).sqrt().backward(create_graph=True)


def test_create_graph_passes_nan():
    x = Value(nan)
    (x * x).backward(create_graph=True)
    assert math.isnan(x.grad.data)


def test_a_node_that_matters_only_to_conditions_has_gradient_0():
    x, y = Value(2.0), Value(3.0)
    s = x * y
    ad.where(s, x, y).backward()
    assert (x.grad, y.grad, s.grad) == (1.0, 0.0, 0.0)
    ad.where(ad.functions.less(x * 2, y), x, y).backward()
    assert (x.grad, y.grad) == (1.0, 1.0)


class Interrupts:
    """Ctrl-C after so many seconds, if it comes while `work` runs."""

    def __init__(self):
        self.armed = False
        signal.signal(signal.SIGALRM, self._arrive)

    def _arrive(self, *_):
        if self.armed:
            raise KeyboardInterrupt

    def during(self, work, seconds):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            self.armed = True
            work()
            self.armed = False
        except KeyboardInterrupt:
            return True
        finally:
            self.armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
        return False


posix = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no timer signals")


# -- Scopes --------------------------------------------------------------------------------------


def test_scopes_in_two_threads_lose_no_node():
    lost = []

    def work(name):
        for _ in range(300):
            with scope(name):
                node = Value(1.0) * 2.0
                if getattr(node, "_scope", None) is None or node._scope.name != name:
                    lost.append(name)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not lost
    assert ad.value._new is object.__new__
    assert getattr(Value(1.0) * 2.0, "_scope", None) is None


def test_scopes_in_tasks_lose_no_node():
    found = []

    async def work(name, pauses):
        with scope(name):
            for _ in range(pauses):
                await asyncio.sleep(0)
            node = Value(1.0) * 2.0
            found.append((name, getattr(node, "_scope", None) and node._scope.name))

    async def both():
        await asyncio.gather(work("short", 1), work("long", 5))

    asyncio.run(both())
    assert found == [("short", "short"), ("long", "long")]
    assert getattr(Value(1.0) * 2.0, "_scope", None) is None


# -- Kinds of numbers ----------------------------------------------------------------------------


def test_the_norm_at_the_origin_and_of_nan():
    assert hessian(lambda v: ad.hypot(*v))([0.0, 0.0]) == [[0.0, 0.0], [0.0, 0.0]]
    assert all(map(math.isnan, grad(lambda v: ad.hypot(*v))([nan, 1.0])))


def test_the_complex_step_knows_abs_and_domains():
    assert finite_difference(abs, -2.0, method="complex") == -1.0
    assert finite_difference(ad.abs, -2.0, method="complex") == -1.0
    assert finite_difference(lambda x: abs(x) * x, -2.0, method="complex") == 4.0
    assert finite_difference(lambda x: x if x > 0 else -x, -2.0, method="complex") == -1.0
    for f in (sqrt, ad.log):
        with pytest.raises(ValueError, match="outside the domain"):
            finite_difference(f, -2.0, method="complex")
    with pytest.raises(TypeError, match="a float has no derivative"):
        finite_difference(lambda x: math.sin(x), 1.0, method="complex")


def test_bools_are_numbers():
    x = Value(3.0)
    assert (x * (x > 0)).data == 3.0
    assert (x * np.bool_(True)).data == 3.0
    assert Value(True).data == 1.0
    assert sin(np.bool_(True)) == sin(True) == math.sin(1.0)
    chosen = ad.where(np.bool_(True), x, 2.0)
    assert chosen is x


def test_arrays_without_axes_are_numbers():
    assert Value(np.array(2.0)).data == 2.0
    assert (Value(2.0) * np.array(3.0)).data == 6.0
    assert grad(lambda x: x * x)(np.array(3.0)) == 6.0


def test_data_is_always_a_float():
    v = Value(1.0)
    v.data -= np.float64(1)
    assert type(v.data) is float
    with pytest.raises(ZeroDivisionError):
        1 / v
    for wrong in ("1", None, [1.0], Value(1.0), 1j):
        with pytest.raises(TypeError, match="Value: found"):
            v.data = wrong
    assert v.data == 0.0


def test_operations_may_name_their_inputs_as_they_like():
    @operation
    def quotient(name, error):
        return name / error, lambda grad: (grad / error, -grad * name / error**2)

    with pytest.raises(ZeroDivisionError, match=r"quotient: name = 1.0, error = 0.0"):
        quotient(Value(1.0), 0.0)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda x: ("a", lambda grad: (grad,)), "its result: found 'a' of type str"),
        (lambda x: (None, lambda grad: (grad,)), "its result: found None of type NoneType"),
        (lambda x: (x, lambda grad: ("a",)), "a gradient: found 'a' of type str"),
        (lambda x: (x, lambda grad: grad), "expected a tuple of 1"),
        (lambda x: x, "expected .result, backward."),
    ],
)
def test_what_a_rule_may_not_return(rule, message):
    function = operation(rule)
    for use in (lambda: grad(function)(2.0), lambda: function(Value(2.0)).backward()):
        with pytest.raises(TypeError, match=message):
            use()
    with pytest.raises(TypeError, match=message):
        jvp(function, (2.0,), (1.0,))


def test_a_rule_may_say_that_an_input_has_no_derivative():
    @operation
    def first(x, y):
        return x + 0 * y, lambda grad: (grad, None)

    assert grad(first, (0, 1))(2.0, 3.0) == (1.0, 0.0)
    assert jvp(first, (2.0, 3.0), (1.0, 1.0)) == (2.0, 1.0)


# -- The neighbours' conventions ------------------------------------------------------------------


@each
def test_comparisons_compare_the_numbers(d):
    assert d(lambda x: 5 * x if x == 2.0 else x)(2.0) == 5.0
    assert d(lambda x: sin(x) / x if x != 0 else 1.0)(0.0) == 0.0
    assert d(lambda x: x if x == x else 0.0)(2.0) == 1.0


def test_nodes_are_found_by_identity():
    a, b = Value(2.0), Value(2.0)
    assert len({a, b}) == 2
    (2 * a + 3 * b).backward()
    assert (a.grad, b.grad) == (2.0, 3.0)
    assert (a * b).parents[1] is b


def test_vectors_are_not_compared():
    v = Vector([1.0, 2.0])
    for compare in (
        lambda: v == Vector([1.0, 2.0]),
        lambda: v != v,
        lambda: v == [1.0, 2.0],
        lambda: v < 2,
        lambda: Matrix([[1.0]]) == Matrix([[1.0]]),
    ):
        with pytest.raises(
            TypeError, match="found a .*, expected one number; take its entries, or .data"
        ):
            compare()


def test_keywords_reach_the_function():
    def f(x, scale=1.0):
        return scale * x**3

    assert grad(f)(2.0, scale=2.0) == 24.0
    assert ad.value_and_grad(f)(2.0, scale=2.0) == (16.0, 24.0)
    assert jacfwd(f)(2.0, scale=2.0) == jacrev(f)(2.0, scale=2.0) == 24.0
    assert hessian(f)(2.0, scale=2.0) == 24.0
    assert hvp(f, 2.0, 1.0, scale=2.0) == 24.0
    assert jvp(f, (2.0,), (1.0,), scale=2.0) == (16.0, 24.0)
    assert vjp(f, 2.0, scale=2.0)[1](1.0) == (24.0,)


@each
def test_arrays_come_back_as_arrays(d):
    x = np.array([1.0, 2.0])

    def f(x):
        assert isinstance(x, (np.ndarray, Vector))
        return (x * x).sum()

    if d is forward:
        value, slope = jvp(f, (x,), (np.array([1.0, 0.0]),))
        assert (value, slope) == (5.0, 2.0)
    else:
        found = d(f)(x)
        assert isinstance(found, np.ndarray)
        assert found.tolist() == [2.0, 4.0]
        assert type(d(lambda x: f(Vector(x)))([1.0, 2.0])) is list


def test_jacobians_and_hessians_of_arrays():
    x = np.array([1.0, 2.0, 3.0])
    cubes = lambda v: [t**3 for t in v]  # noqa: E731
    for jacobian in (jacfwd, jacrev):
        assert jacobian(cubes)(x).tolist() == np.diag(3 * x * x).tolist()
    assert hessian(lambda v: ad.sum(cubes(v)))(x).tolist() == np.diag(6 * x).tolist()
    assert hvp(lambda v: ad.sum(cubes(v)), x, x).tolist() == (6 * x * x).tolist()
    table = np.arange(4.0).reshape(2, 2)
    assert grad(lambda v: (v @ v).sum())(table).tolist() == [
        [3, 7],
        [5, 9],
    ]  # A's row sums[j] + column sums[i]
    assert jacrev(lambda v: v.T)(table).shape == jacfwd(lambda v: v.T)(table).shape == (2, 2, 2, 2)


@pytest.mark.parametrize(
    "method",
    ["CG", "BFGS", "Newton-CG", "L-BFGS-B", "TNC", "SLSQP", "dogleg", "trust-ncg", "trust-exact",
     "trust-krylov", "trust-constr", "Nelder-Mead"],
)  # fmt: skip
def test_every_method_of_scipy_takes_our_derivatives(method):
    from scipy import optimize

    def rosenbrock(x):
        return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2

    options = {} if method == "Nelder-Mead" else {"jac": grad(rosenbrock)}
    if method in ("dogleg", "trust-exact", "trust-constr", "Newton-CG"):
        options["hess"] = hessian(rosenbrock)
    if method in ("trust-ncg", "trust-krylov"):
        options["hessp"] = lambda x, v: hvp(rosenbrock, x, v)
    start = np.array([-1.0, 1.5]) if method != "dogleg" else np.array([0.9, 0.8])
    fun = lambda x: rosenbrock(x)  # noqa: E731
    found = optimize.minimize(fun, start, method=method, **options)
    assert found.x == pytest.approx([1.0, 1.0], abs=1e-2)


def test_numpy_works_entry_by_entry():
    x = Value(0.5)
    assert isinstance(np.sin(x), Value)
    assert np.sin(x).data == math.sin(0.5)
    assert isinstance(np.float64(2) * x, Value)
    e = np.array([Value(1.0), Value(3.0)])
    assert [v.data for v in e / e.sum()] == [0.25, 0.75]
    assert [v.data for v in e - e.mean()] == [-1.0, 1.0]
    assert [v.data for v in e * x] == [v.data for v in x * e] == [0.5, 1.5]
    for product in (np.array([1.0, 2.0]) * x, x * np.array([1.0, 2.0])):
        assert product.dtype == object
        assert [v.data for v in product] == [0.5, 1.0]
    assert (np.array([0.0, 1.0]) < x).tolist() == [True, False]
    assert np.maximum(np.array([0.0, 1.0]), x)[0].data == 0.5
    (np.array([1.0, 2.0]) * x).sum().backward()
    assert x.grad == 3.0
    with pytest.raises(TypeError, match="a float has no derivative"):
        np.floor(x)


def test_a_series_times_a_value():
    import pandas

    x = Value(2.0)
    for product in (pandas.Series([1.0, 2.0]) * x, x * pandas.Series([1.0, 2.0])):
        assert isinstance(product, pandas.Series)
        assert [v.data for v in product] == [2.0, 4.0]


def test_a_derivative_says_what_it_is():
    def volume(radius, height=1.0):
        return radius**2 * height

    assert grad(volume).__name__ == "grad(volume)"
    assert "grad(volume)" in grad(volume).__doc__
    assert list(inspect.signature(grad(volume)).parameters) == ["radius", "height"]
    assert hessian(volume).__name__ == "hessian(volume)"


@pytest.mark.parametrize(
    ("attempt", "kind", "message"),
    [
        (lambda: grad(sin, (0, 0))(1.0), ValueError, r"argnums \(0, 0\) and 1 .*several different ones"),
        (lambda: grad(lambda x, y: x, (0, -2))(1.0, 2.0), ValueError, "several different ones"),
        (lambda: grad(sin, "x")(1.0), TypeError, "argnums .x. and .* the index of one"),
        (lambda: grad(sin, None)(1.0), TypeError, "argnums None and .* the index of one"),
        (lambda: grad(sin, 0.0)(1.0), TypeError, "argnums 0.0 and .* the index of one"),
        (lambda: adjoints(2.0), TypeError, "adjoints: found 2.0 of type float, expected a Value"),
        (lambda: topological_order(2.0), TypeError, "found 2.0 of type float, expected a Value"),
        (lambda: vjp(sin, 1.0)[1]("a"), TypeError, "vjp: the cotangent: found 'a' of type str"),
        (lambda: operation(functools.partial(sin)), TypeError, "a function with a name"),
    ],
)  # fmt: skip
def test_messages_that_were_false_or_raw(attempt, kind, message):
    with pytest.raises(kind, match=message):
        attempt()


def test_the_gradient_of_nothing():
    assert grad(ad.sum)([]) == []
    assert jacfwd(ad.sum)([]) == jacrev(ad.sum)([]) == []
    assert hessian(ad.sum)([]) == []


def test_the_second_derivative_of_a_root_at_0():
    with pytest.raises(ZeroDivisionError, match="the derivative of sqrt at x = .*0.0"):
        hessian(sqrt)(0.0)


def test_all_mixtures_nest():
    f = lambda x: x**4  # noqa: E731
    for a, b, c in itertools.product(DERIVATIVES.values(), repeat=3):
        assert a(b(c(f)))(2.0) == 48.0


# -- Choices in an operation of one's own ------------------------------------------------------------


@operation
def leaky(x):
    slope = where(x > 0, 1.0, 0.1)
    return x * slope, lambda grad: (grad * slope,)


@operation
def late(x):  # asks in its closure, and with every comparison
    return x * x, lambda grad: (
        grad * where(x != 0, 2.0 * x, 0.0) * where(x >= 0, 1.0, 3.0) * where(x == 2, 5.0, 1.0),
    )


@operation
def chooser(x):
    return (x if x > 0 else 0.1 * x), lambda grad: (grad if x > 0 else 0.1 * grad,)


def slope_of_late(x):
    return 2 * x * (1 if x >= 0 else 3) * (5 if x == 2 else 1)


POINTS = [-3.0, -0.0, 0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("f", "slope"), [(leaky, lambda x: 1.0 if x > 0 else 0.1), (late, slope_of_late)]
)
def test_a_comparison_in_a_rule_chooses_anew_in_programs(f, slope):
    x = Value(1.0)
    plain = Expression(f(x)).compile([x], wrt=[x])
    batch = Expression(f(x)).compile([x], wrt=[x], xp=np, batch=True)
    _, many = batch(np.array(POINTS)[:, None])
    for at, gradient in zip(POINTS, many[:, 0]):
        right = slope(at)
        assert plain(at)[1] == (right,)
        assert gradient == right == grad(f)(at) == jvp(f, (at,), (1.0,))[1]


def test_an_if_in_a_rule_is_refused_in_a_program():
    x = Value(2.0)
    y = chooser(x)
    with pytest.raises(TypeError, match="not known"):
        Expression(y).compile([x], wrt=[x])
    y.backward()
    assert x.grad == 1.0
    assert grad(grad(lambda x: chooser(x) * x))(-2.0) == pytest.approx(0.2, rel=1e-15)
    assert jvp(chooser, (-2.0,), (1.0,))[1] == 0.1
    assert hessian(lambda v: chooser(v[0]) * v[1])([2.0, 3.0]) == [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize("f", [leaky, late, chooser])
def test_a_comparison_in_a_rule_goes_by_the_real_part_of_a_complex_step(f):
    for at in (-3.0, 1.0, 2.0):
        found = finite_difference(lambda x: f(x) + 0.0 * x, at, method="complex")
        right = 2 * at if f is late else grad(f)(at)
        assert found == pytest.approx(right, rel=1e-15)  # h and back: two roundings


@operation
def sloped(x):
    return grad(lambda t: x * t * t)(0.25), lambda adjoint: (adjoint / 2,)  # x / 2


@pytest.mark.parametrize(
    ("f", "engine"), [(leaky, "compiled"), (sloped, "compiled"), (chooser, "walked")]
)
def test_fit_compiles_an_operation_with_a_choice_or_walks_it(f, engine):
    def trained(engine):
        first = nn.Linear(1, 4, seed=0)
        last = nn.Linear(4, 1, seed=1)

        class Model(nn.Module):
            def __init__(self):
                self.first, self.last = first, last

            def forward(self, x):
                return self.last(first(x).map(f))

        model = Model()
        descent = optim.SGD(model.parameters(), lr=0.05)
        data = [[0.5], [-1.0], [2.0]], [1.0, 2.0, 3.0]
        return nn.fit(model, *data, nn.mse_loss, descent, epochs=5, progress=False, engine=engine)

    eager = trained("eager")
    if engine == "compiled":
        found = trained("auto")
    else:
        with pytest.warns(nn.WalkingWarning, match="not known"):
            found = trained("auto")
    assert (found.engine == "compiled") == (engine == "compiled")
    assert found.losses == pytest.approx(eager.losses, rel=1e-12)


def times(w):
    """An operation that multiplies by a number that it holds."""

    @operation
    def scaled(x):
        return w * x, lambda grad: (w * grad,)

    return scaled


@pytest.mark.parametrize(
    "use",
    [
        lambda: times(Value(2.0))(Value(3.0)),
        lambda: grad(lambda w: times(w)(Value(3.0)))(2.0),
        lambda: grad(lambda x: grad(lambda w: times(w)(x))(2.0) * x)(3.0),  # 6, and it was 0
        lambda: jvp(lambda x: forward(lambda w: times(w)(x))(2.0) * x, (3.0,), (1.0,)),
        lambda: times(Value(2.0))(Vector([1.0, 3.0])),
        lambda: times(Value(2.0))(Dual(3.0, 1.0)),
    ],
)
def test_a_derivative_by_a_number_that_a_rule_holds_is_not_lost(use):
    with pytest.raises(TypeError, match="scaled: .*expected operations on its inputs alone; pass"):
        use()


def test_a_rule_may_hold_a_number_of_an_outer_derivative():
    inner = lambda w: grad(lambda x: times(w)(x) * x)(3.0)  # 6 w  # noqa: E731
    assert [d(inner)(2.0) for d in DERIVATIVES.values()] == [6.0] * 4
    assert grad(times(Value(2.0)))(3.0).data == 2.0  # as grad(lambda x: w * x)


def test_a_rule_that_makes_a_vector_of_its_inputs_is_refused():
    @operation
    def length(x, y):
        norm = Vector([x, y]).norm()
        return norm, lambda grad: (grad * x / norm, grad * y / norm)

    with pytest.raises(TypeError, match="length: found a result that is a Value, with inputs"):
        length(Value(3.0), Value(4.0))


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda: grad(lambda x: [x])(1.0), "a list of 1 number,"),
        (lambda: grad(lambda x: [x, x])(1.0), "a list of 2 numbers,"),
        (lambda: grad(lambda x: x, argnums=1)(1.0), "1 positional argument,"),
        (lambda: ad.dot([1.0], []), "1 and 0 numbers,"),
        (lambda: ad.dot([], [1.0]), "0 and 1 number,"),
        (lambda: Expression([Value(1.0)]).backpropagate(), "an expression of 1 output,"),
        (lambda: Expression([Value(1.0)]).javascript([], []), "an expression of 1 output,"),
        (lambda: ad.nn.accuracy([[1.0, 2.0]], [1, 0]), "1 prediction and 2 targets,"),
        (lambda: ad.nn.cross_entropy([Value(1.0)], [1.0, 0.0]), "a target of 2 for 1 logit,"),
    ],
)
def test_one_thing_is_not_called_several(attempt, words):
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        attempt()


def test_a_representation_counts_in_words():
    x = Value(1.0)
    assert repr(Expression(x)) == "Expression(1 source, 1 node)"
    assert repr(Expression(x * x + Value(2.0))) == "Expression(2 sources, 4 nodes)"
    assert repr(ad.nn.Linear(1, 1, bias=False)).endswith(": 1 parameter")
    assert repr(ad.optim.SGD([x], lr=0.1)).startswith("SGD(1 parameter, ")


def test_comparisons_of_equality_in_a_rule_are_numbers():
    @operation
    def square(x):
        return x * x, lambda grad: (grad * ((x != 0) * x + (x == 3) * x),)

    for number in (3.0, 0.0):
        x = Value(number)
        square(x).backward(create_graph=True)
        assert x.grad.data == 2 * number


def test_errors_say_what_was_called():
    with pytest.raises(
        TypeError,
        match="^hessian: found a list of 2 numbers, expected one number as the result of f",
    ):
        hessian(lambda x: [x, x])(1.0)
    with pytest.raises(ValueError, match=r"^vjp: the cotangent: found \[1.0\], expected the shape"):
        vjp(sin, 1.0)[1]([1.0])
    with pytest.raises(ZeroDivisionError, match=r"^x \*\* n: x = 0.0, n = -1.0 is outside"):
        ad.functions.power(0.0, -1.0)
    with pytest.raises(ValueError, match=r"^x \*\* n: x = -8.0, n = 0.5 is outside"):
        ad.functions.power(-8.0, 0.5)


def test_the_gradient_of_a_softmax_shifts_by_the_largest_number_of_now():
    x, y = Value(0.0), Value(0.0)
    ad.logsumexp([x, y]).backward(create_graph=True)
    gradient = Expression(x.grad)
    plain = gradient.compile([x, y], wrt=[])
    batch = gradient.compile([x, y], wrt=[x, y], xp=np, batch=True)
    for shift in (-2000.0, -740.0, 0.0, 1000.0):  # e^-740 has two digits left, e^1000 is too large
        at = shift, shift - 1
        right = 1 / (1 + math.exp(-1))
        found = [
            plain(*at)[0],
            batch(np.array([at]))[0][0],
            gradient.propagate({x: at[0], y: at[1]}),
        ]
        assert found == [pytest.approx(right, rel=1e-15)] * 3


# -- A function that does more than compute --------------------------------------------------------


def largest_first(v):
    v.sort()
    return 10 * v.pop() + v[0]


def test_a_function_may_change_its_list():
    x = [3.0, 1.0]
    for d in (grad, jacrev, jacfwd, lambda f: lambda x: vjp(f, x)[1](1.0)[0]):
        assert d(largest_first)(x) == [10.0, 1.0]
    assert ad.value_and_grad(largest_first)(x) == (31.0, [10.0, 1.0])
    square = lambda v: largest_first(v) ** 2  # noqa: E731
    assert hessian(square)(x) == [[200.0, 20.0], [20.0, 2.0]]
    assert hvp(square, x, [1.0, 0.0]) == [200.0, 20.0]
    for method in ("forward", "backward", "central", "complex"):
        found = finite_difference(largest_first, x, method=method)
        assert found == pytest.approx([10.0, 1.0], rel=1e-7)  # √ε, the error of one-sided ones
    ad.check_gradients(largest_first, x)
    ad.check_gradients(lambda a, v: a * largest_first(v), 2.0, x)
    assert x == [3.0, 1.0]


@pytest.mark.parametrize(
    "use",
    [
        lambda x: copy.copy(x) ** 2,
        lambda x: ad.sum(copy.deepcopy([x, x])),
        lambda x: pickle.loads(pickle.dumps(x)),
        lambda x: adjoints(x**3)[x],
        lambda x: [step.adjoint for step in ad.steps(x**3)][-1],
        lambda x: Expression(x**3).propagate(),
        lambda x: Expression(x**3).backpropagate([x])[x],
        lambda x: Expression([x**3]).compile([x], wrt=[])(2.0)[0],
        lambda x: setattr(x, "requires_grad", True) or x**3,
        lambda x: setattr(x, "data", 5.0) or x**3,
    ],
)
def test_no_derivative_is_lost_on_the_way_through_a_plain_number(use):
    for d in (grad, jacrev, hessian, lambda f: lambda x: vjp(f, x)[1](1.0)):
        with pytest.raises(RuntimeError, match="inside a function that is being differentiated"):
            d(use)(2.0)


def test_adjoints_that_are_a_graph_are_differentiated():
    assert grad(lambda x: adjoints(x**3, create_graph=True)[x])(2.0) == 12.0


def test_a_set_has_no_first_number():
    for attempt in (lambda: grad(ad.sum)({3.0, 1.0}), lambda: jacrev(lambda x: {x, 2 * x})(1.0)):
        with pytest.raises(TypeError, match="of type set, expected one real number"):
            attempt()


@pytest.mark.parametrize(
    "kind", [np.float64, np.float16, np.longdouble, np.int8, np.uint64, np.bool_, Fraction, Decimal]
)
def test_every_kind_of_number_is_compared_on_both_sides(kind):
    for one in (kind(1), np.array(kind(1)) if hasattr(kind, "dtype") else kind(1)):
        for x in (Value(1.0), Dual(1.0, 1.0)):
            assert [x == one, one == x, x != one, one != x] == [True, True, False, False]
            assert [x < one, one < x, x <= one, one <= x] == [False, False, True, True]
            assert all(type(compared) is bool for compared in (x == kind(1), x < kind(1)))
        if kind is not Decimal:  # it has arithmetic of its own
            assert (one * Value(3.0)).data == (Value(3.0) * one).data == 3.0
            assert (Vector([3.0]) * one).data == [3.0]
    with pytest.raises(TypeError, match="expected one real number"):
        Value(1.0) * np.complex128(1)


@pytest.mark.parametrize(
    ("module", "number"),
    [
        pytest.param("torch", "tensor", marks=pytest.mark.torch),
        pytest.param("jax.numpy", "float32", marks=pytest.mark.jax),
    ],
)
def test_numbers_of_other_libraries_are_compared(module, number):
    one = getattr(importlib.import_module(module), number)(1.0)
    for x in (Value(1.0), Dual(1.0, 1.0)):
        assert [x == one, one == x, x != one, one != x] == [True, True, False, False]
        assert [x < one, one < x, x <= one, one <= x] == [False, False, True, True]


def test_a_matrix_is_not_a_row_of_numbers():
    table = [[1.0, 2.0], [3.0, 4.0]]
    for matrix in (Matrix(table), np.array(table)):
        for f in (ad.sum, ad.prod, ad.logsumexp, lambda m: ad.dot(m, [1.0, 10.0])):
            with pytest.raises(TypeError, match=r"of shape \(2, 2\), expected numbers in a row"):
                f(matrix)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: x**101, -1.0),
        (lambda x: x**x, 2.0),
        (lambda x: ad.hypot(x, 1e200), 1e200),
        (lambda x: ad.logsumexp([x, 999.0]), 1000.0),
        (ad.softplus, 1000.0),
        (ad.softplus, -40.0),
        (ad.softplus, -20.0),
        (ad.sigmoid, -30.0),
        (ad.sigmoid, -1000.0),
        (lambda x: (-2.0) ** x, 3.0),
        (lambda x: x**x, -2.0),
    ],
)
def test_the_complex_step_of_powers_and_of_the_huge(f, x):
    found = finite_difference(f, x, method="complex")
    assert found == pytest.approx(grad(f)(x), rel=1e-14, nan_ok=True)  # a few roundings


def test_the_complex_step_outside_a_domain():
    for f, x in ((lambda x: x ** (1 / 3), -8.0), (lambda x: x**-0.5, 0.0), (lambda x: 1 / x, 0.0)):
        with pytest.raises((ValueError, ZeroDivisionError)):
            finite_difference(f, x, method="complex")


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda x: (x**0.5, lambda grad: (grad,)), "its result: found .* of type complex"),
        (lambda x: (np.array([x]), lambda grad: (grad,)), "its result: found .* of type ndarray"),
        (lambda x: (x, lambda grad: (1j * grad,)), "a gradient: found .* of type complex"),
        (lambda x: (x, lambda grad: (np.array([grad]),)), "a gradient: found .* of type ndarray"),
        (lambda x: (x, lambda grad: (Vector([grad]),)), "a gradient: found .* of type Vector"),
    ],
)
def test_a_rule_makes_real_numbers_of_real_numbers(rule, message):
    function = operation(rule)
    for use in (lambda: grad(function)(-2.0), lambda: jvp(function, (-2.0,), (1.0,))):
        with pytest.raises(TypeError, match=message):
            use()


def test_an_error_of_ones_own_is_not_reworded():
    class OutsideError(ValueError):
        def __init__(self, where, what):
            super().__init__(f"{where}: {what}")

    @operation
    def picky(x):
        def backward(grad):
            raise OutsideError("gradient", x)

        if x < 0:
            raise OutsideError("input", x)
        return x, backward

    with pytest.raises(OutsideError, match="input: -1.0"):
        picky(Value(-1.0))
    for attempt in (picky(Value(1.0)).backward, lambda: jvp(picky, (1.0,), (1.0,))):
        with pytest.raises(OutsideError, match="gradient: 1.0"):
            attempt()


@operation
def held_still(x):
    """The identity, with derivative 0."""
    return 1.0 * x, lambda grad: (None,)


@operation
def rounded(x):
    """1 or 0, with the derivative of the identity: a straight-through estimator."""
    return where(x > 0, 1.0, 0.0), lambda grad: (grad,)


@pytest.mark.parametrize(
    ("f", "derivatives"),
    [
        (lambda x: held_still(x) * x, [2.0, 0.0, 0.0]),
        (lambda x: held_still(x * x) * x * x, [16.0, 8.0, 0.0]),
        (lambda x: rounded(x) ** 2 * x, [5.0, 8.0, 6.0]),
    ],
)
def test_a_derivative_that_a_rule_states_holds_in_derivatives_of_any_order(f, derivatives):
    first, second, third = derivatives
    for a, b in itertools.product(DERIVATIVES.values(), repeat=2):
        assert a(f)(2.0) == first
        assert a(b(f))(2.0) == second
        assert a(b(grad(f)))(2.0) == third
    assert hessian(lambda v: f(v[0]))([2.0]) == [[second]]
    assert hvp(f, 2.0, 1.0) == second
    x = Value(2.0)
    f(x).backward(create_graph=True)
    assert adjoints(x.grad).get(x, 0.0) == second
    assert Expression(x.grad).compile([x], wrt=[x])(2.0) == (first, (second,))
    x = Value(Dual(2.0, 1.0))
    assert ad.adjoints(f(x))[x].tangent == second


def test_a_trace_knows_what_jvp_and_grad_know():
    slope = ad.trace(lambda x, y: x * y + x, 0.0, inf, wrt="y").rows[-1].derivative_value
    assert slope == jvp(lambda x, y: x * y + x, (0.0, inf), (0.0, 1.0))[1] == 0.0
    with pytest.raises(ZeroDivisionError, match="^the derivative of sqrt at x = 0.0"):
        ad.trace(sqrt, 0.0)
    w = Value(2.0)
    with pytest.raises(TypeError, match="expected one number that depends on x"):
        ad.trace(lambda x: w, 2.0)


def test_a_number_is_formatted_in_every_mode():
    written = []
    f = lambda x: written.append(f"{x:.2f}") or x**3  # noqa: E731
    for d in DERIVATIVES.values():
        d(f)(2.0)
    hessian(f)(2.0)
    assert written == ["2.00"] * 5


MASKED = np.ma.array([1.0, 2.0], mask=[False, True])
X = Vector([1.0, 2.0])


def test_a_span_of_time_is_not_a_number():
    """NumPy's is an integer to Python, and float() gives its count of some units."""
    for span in (np.timedelta64(2, "ns"), np.timedelta64(2, "D"), np.array(2, "m8[ns]")):
        for use in (Value, grad(lambda x: x), lambda t: Value(2.0) * t):
            with pytest.raises(
                TypeError, match="found .*, expected one real number|cannot use oper"
            ):
                use(span)


def test_a_number_too_large_for_a_float_is_never_infinity():
    for x in (10**400, Fraction(10**400)):
        for use in (Value, grad(lambda x: x), lambda x: Value(2.0) * x):
            with pytest.raises(OverflowError, match="too large"):
                use(x)
    assert Value(np.longdouble("inf")).data == Value(np.float32("inf")).data == inf


def test_keys_and_bytes_are_not_numbers():
    for data in ({1.0: X[0]}, b"ab", "ab"):
        for use in (ad.sum, ad.prod, ad.logsumexp):
            with pytest.raises(TypeError, match="found .*, expected a sequence of numbers"):
                use(data)


def test_an_array_of_one_number_is_not_a_sequence():
    for use in (Vector, Matrix, ad.sum, Expression):
        with pytest.raises(TypeError, match="found array.5.. of type ndarray, expected a"):
            use(np.array(5.0))


def test_where_takes_one_condition():
    """A list would be true unless it is empty."""
    for condition in ([True, False], "no", None, []):
        with pytest.raises(TypeError, match="where, the condition: found .*, expected one real"):
            ad.where(condition, 1.0, X[0])
    for true in (True, np.True_, np.array(1.0), 2, math.nan, Fraction(1, 2)):
        assert ad.where(true, 1.0, X[0]) == 1.0


def test_map_gives_numbers():
    with pytest.raises(TypeError, match="found Vector.* of type Vector, expected one real number"):
        X.map(lambda x: X)


def test_a_sequence_that_can_be_read_once_is_read_once():
    f = lambda x: x[0] ** 2 * x[1]  # noqa: E731
    assert hvp(f, iter([3.0, 5.0]), iter([1.0, 0.0])) == hvp(f, [3.0, 5.0], [1.0, 0.0])
    assert hvp(f, np.array([3.0, 5.0]), iter([1.0, 0.0])).tolist() == [10.0, 6.0]
