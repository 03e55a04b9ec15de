"""NumPy in, NumPy through: programs as a NumPy user writes them, with our derivatives, under SciPy."""

import re

import numpy as np
import pandas
import pytest
from modes import in_every_derivative
from scipy import optimize

import autodiff as ad
from autodiff import Value, grad, hessian, jacfwd, jacrev, jvp, value_and_grad, vjp
from autodiff.ufuncs import array_of

TABLE = np.array([[1.0, 2.0], [3.0, 4.0]])


@ad.operation
def forgetful(x):
    return x * x, lambda grad: (grad * x,)


def charges(q):  # equal charges on a circle repel one another
    x, y = np.cos(q), np.sin(q)
    return sum(
        1 / np.sqrt((x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2) for i in range(4) for j in range(i)
    )


def filled_in_place(p):
    p = p.copy()
    p += 1.0
    p[0] = 0.5
    np.multiply(p, 2.0, out=p)
    return np.sin(p).sum()


IDIOMS = [
    np.max, np.linalg.norm, np.std, charges, filled_in_place, lambda p: np.sum(np.sin(p)),
    lambda p: np.dot(p, p), lambda p: (p.reshape(2, 2) @ p.reshape(2, 2)).sum(),
    lambda p: np.where(p > 1.5, p**2, 3 * p).sum(), lambda p: np.clip(p, 0.0, 2.5).sum(),
    lambda p: np.einsum("i,ij,j->", p, np.arange(16.0).reshape(4, 4), p),
    lambda p: np.hypot(p, 2.0).sum() + np.hypot(3.0, p).sum(), lambda p: np.log1p(p).sum(),
    lambda p: np.arctan2(p, 2.0).sum() + np.arctan2(1.0, p).sum(), lambda p: np.expm1(p).sum(),
    lambda p: np.log(1 + np.exp(-p)).sum(), lambda p: np.abs(p - 2.5).sum(),
    lambda p: (np.sort(p) * [1, 2, 3, 4]).sum(), lambda p: (np.cumsum(p) ** 2).sum(),
    lambda p: (np.concatenate([[0.0], p, [1.0]]) ** 2).sum(),
    lambda p: ad.sum(ad.sigmoid(p)), lambda p: ad.logsumexp(list(p)),
    # floats among the numbers
    lambda p: np.exp(np.where(p > 2.0, p, 0.0)).sum(), lambda p: np.tanh(np.append(p, 1.0)).sum(),
    lambda p: np.maximum(2.0, p).sum(), lambda p: np.squeeze(np.polyval(p, p[:1])),
    lambda p: np.arcsin(np.tril(np.outer(p, p) / 20)).sum(),
    lambda p: np.sqrt(np.pad(p, 1, constant_values=4.0)).sum(), lambda p: np.sinc(p).sum(),
    lambda p: np.median(p) * np.any(p), lambda p: np.var(p[0] * p) * np.all(p),
]  # fmt: skip


@pytest.mark.parametrize("f", IDIOMS)
def test_every_mode_agrees_with_scipys_differences(f):
    x = np.array([0.7, 1.9, 2.2, 3.1])
    slopes = optimize.approx_fprime(x, lambda p: float(f(p)), 1e-7)
    for derivative in (grad(f)(x), jacfwd(f)(x), jacrev(f)(x), vjp(f, x)[1](1.0)[0]):
        assert type(derivative) is np.ndarray
        assert derivative == pytest.approx(slopes, rel=1e-4, abs=1e-4)  # the step is 1e-7
        assert derivative == pytest.approx(grad(f)(x), rel=1e-11, abs=1e-11)
    h = hessian(f)(x)
    assert h == pytest.approx(jacrev(grad(f))(x), rel=1e-9, abs=1e-9)
    assert jvp(grad(f), (x,), (x,))[1] == pytest.approx(h @ x, rel=1e-9, abs=1e-9)
    ad.check_gradients(f, x)


@pytest.mark.parametrize("f", [
    lambda x: np.exp(np.where(x > 0, x, 0.0)),
    lambda x: np.where(x > 0, x, -x),
    lambda x: np.tanh(np.append(x, 1.0)).sum(),
    lambda x: np.stack([x, 2 * x]).prod(),
    lambda x: np.arctan2(1.0, x) + np.arctan2(x, np.float64(2)),
    lambda x: np.hypot(3.0, x) * np.float64(2),
    lambda x: np.maximum(0.0, x) - np.minimum(x, 2.0),
    lambda x: np.polyval([1.0, 2.0, 3.0], x),
    lambda x: x * np.array(x) + np.array(x) / x,
    lambda x: np.average(x) + np.linspace(0.0, x, 3).sum(),
    lambda x: np.array(ad.maximum(x * x, np.where(x > 0, x, -x))),
])  # fmt: skip
@in_every_derivative
def test_a_single_number_goes_through_numpy_too(d, f):
    for x in (-0.7, 0.7):
        slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        found = d(f)(x)
        assert type(found) is float
        assert found == pytest.approx(slope, rel=1e-8, abs=1e-8)
        ad.check_gradients(f, x)
        assert d(grad(f))(x) == pytest.approx(hessian(f)(x), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("f", "name"), [
    (lambda p: np.exp2(p).sum(), "exp2"),
    (lambda p: np.cbrt(p[0]), "cbrt"),
    (lambda p: np.rint(np.append(1.0, p)).sum(), "rint"),
    (lambda p: np.logaddexp(0.0, p).sum(), "logaddexp"),
    (lambda p: np.isnan(p[0]) + p[0], "isnan"),
    (lambda p: np.percentile(p, 50), "percentile"),
    (lambda p: np.sinc(p[0]), "sinc"),
    (lambda p: np.cov(p), "cov"),
    (lambda p: np.corrcoef(p, p), "cov"),
    (lambda p: np.interp(p, [0.0, 1.0], [2.0, 4.0]), "interp"),
    (lambda p: np.trunc(p), "trunc"),
    (lambda p: np.fmod(p[0], 2.0), "fmod"),
    (lambda p: np.log2(ad.Vector(p)), "log2"),
    (lambda p: np.linalg.det(p.reshape(2, 2)), "det"),
    (lambda p: np.linalg.solve(p.reshape(2, 2), [1.0, 2.0])[0], "solve"),
    (lambda p: np.add(np.zeros(4), p, out=np.zeros(4)).sum(), "add"),
    (lambda p: np.zeros(4).__iadd__(p[0]).sum(), "add"),
])  # fmt: skip
@in_every_derivative
def test_what_numpy_has_for_floats_alone_says_what_to_write(d, f, name):
    words = rf"^{name}: found numbers that are being differentiated, .*dtype=object"
    with pytest.raises(TypeError, match=words):
        d(lambda x: f(x * np.ones(4)))(2.0)


@pytest.mark.parametrize(("f", "name"), [
    (lambda p: np.logical_and(p, p > 1), "logical_and"),
    (lambda p: np.logical_or(1.0, p[0]), "logical_or"),
    (lambda p: np.logical_or.reduce(p), "logical_or"),
    (lambda p: np.logical_xor(p, p), "logical_xor"),
    (lambda p: np.logical_and(ad.Vector(p), 1.0), "logical_and"),
])  # fmt: skip
@in_every_derivative
def test_numbers_are_no_bools(d, f, name):
    words = rf"^{name}: found numbers .*, expected bools; .*np\.{name}\(x != 0, y != 0\)"
    with pytest.raises(TypeError, match=words):
        d(lambda x: f(x * np.ones(4)))(2.0)


@pytest.mark.parametrize("f", [
    lambda p: np.apply_along_axis(lambda row: row.nothing, 0, p),
    lambda p: np.piecewise(p, [p > 1], [lambda x: x.nothing]),
])  # fmt: skip
def test_the_errors_of_a_users_function_are_left_alone(f):
    with pytest.raises(AttributeError, match="nothing"):
        grad(f)(np.array([1.0, 2.0]))


def fill(x):
    np.zeros(3)[0] = x


@pytest.mark.parametrize("use", [fill, np.floor, np.ceil, lambda x: "%.2f" % x])  # noqa: UP031
def test_a_float_of_a_number_says_what_to_write(use):
    with pytest.raises(TypeError, match=r"or x\.data for the plain number"):
        grad(use)(2.0)
    z = np.zeros(3, dtype=object)
    z[0] = x = Value(2.0)
    assert ((z + 1)[0] * 3.0).data == 9.0
    assert f"{x:.2f}" == "2.00"


@pytest.mark.parametrize(
    ("activation", "slope"), [(ad.sigmoid, 0.25), (ad.softplus, 0.5), (ad.relu, 0.0)]
)
def test_a_function_of_an_array_of_values_has_its_own_derivative_at_0(activation, slope):
    x = np.array([Value(0.0), Value(1.0)])
    activation(x)[0].backward()  # as a formula of |x|, its derivative would come out as 0
    assert x[0].grad == slope


def test_the_checkers_take_tables_too():
    f = lambda w: (w @ w).sum()  # noqa: E731
    ad.check_gradients(f, TABLE)
    assert jacrev(lambda w: w @ [1.0, 2.0, 3.0])(np.ones((2, 3))).shape == (2, 2, 3)
    for method in ("central", "forward"):
        slopes = np.array(ad.finite_difference(f, TABLE, method=method))
        assert slopes == pytest.approx(grad(f)(TABLE), rel=1e-6)  # of forward differences
    assert ad.trace(f, TABLE, wrt="w[0][1]").rows[-1].derivative_value == grad(f)(TABLE)[0, 1]
    with pytest.raises(AssertionError, match=r"\nw\[1\]\[0\] .*<- wrong"):
        ad.check_gradients(lambda w: forgetful(w[1, 0]) + w[0, 0], TABLE)


# -- Values in arrays, and arrays beside Values ------------------------------------------------------

NUMPYS = [
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "add", "subtract",
    "multiply", "divide", "power", "negative", "positive", "absolute", "arcsin",
    "arccos", "arctan", "exp", "expm1", "log1p", "log", "sqrt", "sin", "cos", "tan", "sinh",
    "cosh", "tanh", "maximum", "minimum",
]  # fmt: skip


def plain(x):
    return x.data if isinstance(x, Value) else x


@pytest.mark.parametrize("name", NUMPYS)
def test_numpys_function_of_values_is_that_of_their_numbers(name):
    ufunc, x = getattr(np, name), Value(0.5)
    numbers = np.array([0.25, 0.5, 1.0])
    values = np.array([Value(x) for x in numbers], dtype=object)
    for given in [(x,), (values,)] if ufunc.nin == 1 else [(x, numbers), (numbers, x), (x, values)]:
        found = ufunc(*given)
        expected = ufunc(*[np.vectorize(plain, otypes=[float])(each) for each in given])
        assert np.vectorize(plain)(found) == pytest.approx(expected, rel=1e-15)
        if name in NUMPYS[:6]:
            assert np.asarray(found).dtype == bool


def result_or_error(f, *inputs):
    try:
        return f(*inputs)
    except TypeError as error:
        return error


ENTRYWISE = {
    x.__name__: x for x in vars(np).values() if isinstance(x, np.ufunc) and not x.signature
}


@pytest.mark.parametrize("name", ENTRYWISE)
@pytest.mark.filterwarnings("ignore")  # such as that of arccosh(0.5)
def test_every_function_of_numpy_is_right_or_a_type_error_of_ours(name):
    ufunc, row = ENTRYWISE[name], np.array([0.25, 0.5])
    array = array_of(np.vectorize(Value, otypes=[object])(row))
    for own, number in [(Value(0.5), 0.5), (array, row), (ad.Vector(row), row)]:
        inputs = [((own,), (number,))]
        if ufunc.nin == 2:
            inputs = [((own, 2.0), (number, 2.0)), ((2.0, own), (2.0, number))]
        for ours, numbers in inputs:
            found = result_or_error(ufunc, *ours)
            if isinstance(found, TypeError):
                assert type(found) is TypeError  # NumPy has some of its own
                assert re.search(r": found .*, expected|or x\.data for", str(found))
            else:
                expected = ufunc(*numbers)
                found = np.vectorize(plain, otypes=[expected.dtype])(found)
                assert np.allclose(found, expected, rtol=1e-15, atol=0)


def test_derivatives_through_arrays_of_values():
    x = Value(0.5)
    for product in (np.array([1.0, 2.0]) * x, x * np.array([1.0, 2.0])):
        assert product.dtype == object
        product.sum().backward()
    assert x.grad == 6.0
    assert isinstance(np.float64(2) * x, Value)
    e = np.array([Value(1.0), Value(3.0)])
    assert [x.data for x in e / e.sum()] == [0.25, 0.75]


def test_a_series_times_a_value():
    x = Value(2.0)
    for product in (pandas.Series([1.0, 2.0]) * x, x * pandas.Series([1.0, 2.0])):
        assert isinstance(product, pandas.Series)
        assert [v.data for v in product] == [2.0, 4.0]


def test_pandas_reach_a_function_as_arrays():
    frame = pandas.DataFrame({"a": [1.0, 3.0], "b": [2, 4]})
    for given in (frame, frame["b"]):
        found = grad(lambda p: (p["data"] ** 2).sum())({"data": given})["data"]
        assert isinstance(found, np.ndarray)
        assert np.array_equal(found, 2 * given.to_numpy())


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


@pytest.mark.parametrize(("method", "more"), [
    ("BFGS", {}),
    ("trust-exact", {"hess": hessian(rosenbrock)}),
    ("trust-krylov", {"hessp": lambda x, v: ad.hvp(rosenbrock, x, v)}),
])  # fmt: skip
def test_scipy_minimises_with_our_derivatives(method, more):
    f, start = value_and_grad(rosenbrock), np.array([-1.0, 1.5])
    found = optimize.minimize(f, start, jac=True, method=method, tol=1e-9, **more)
    assert found.x == pytest.approx([1.0, 1.0], abs=1e-6)


@pytest.mark.parametrize("method", ["L-BFGS-B", "SLSQP", "Nelder-Mead"])
def test_scipy_is_told_of_values_that_are_data(method):
    target = ad.Vector([1.0, 2.0])

    def f(x):
        return (x[0] - target[0]) ** 2 + (x[1] - target[1]) ** 2

    derivative = {} if method == "Nelder-Mead" else {"jac": grad(f)}
    with pytest.raises((TypeError, ValueError)) as caught:
        optimize.minimize(f, np.zeros(2), method=method, **derivative)
    error = caught.value.__cause__ or caught.value  # SciPy 1.18 puts an error of its own before it
    assert "this number is being differentiated" in str(error)
    target.requires_grad_(False)
    found = optimize.minimize(f, np.zeros(2), method=method, **derivative)
    assert found.x == pytest.approx([1.0, 2.0], abs=1e-4)
