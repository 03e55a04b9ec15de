"""NumPy in, NumPy through: programs as a NumPy user writes them, with our derivatives, under SciPy."""

import itertools
import re

import numpy as np
import pandas
import pytest
from modes import in_every_derivative, plain, pullback
from scipy import optimize
from tables import cases, same

import autodiff as ad
from autodiff import Value, grad, hessian, jacfwd, jacrev, jvp, value_and_grad
from autodiff.engine.ufuncs import array_of


def filled_in_place(p):
    p, objects = p.copy(), np.zeros(4, dtype=object)
    objects[1:] = p[1:]
    p += 1.0
    p[0] = 0.5
    np.multiply(p, 2.0, out=p)
    return np.sin(p).sum() + (objects + 1).prod()


OF_A_ROW = [
    np.max, np.linalg.norm, np.std, filled_in_place,
    lambda p: (p.reshape(2, 2) @ p.reshape(2, 2)).sum(),
    lambda p: np.einsum("i,ij,j->", p, np.arange(16.0).reshape(4, 4), p),
    lambda p: (np.sort(p) * [1, 2, 3, 4]).sum(), lambda p: (np.cumsum(p) ** 2).sum(),
    lambda p: (np.concatenate([[0.0], p, [1.0]]) ** 2).sum(),
    lambda p: ad.sum(ad.sigmoid(p)), lambda p: ad.logsumexp(list(p)),
    # floats among the numbers
    lambda p: np.sinc(p).sum(),
    lambda p: np.arcsin(np.tril(np.outer(p, p) / 20)).sum(),
    lambda p: np.sqrt(np.pad(p, 1, constant_values=4.0)).sum(),
    lambda p: np.sum(p, where=p > 1.0) * np.prod(p, where=[True, False, True, False]),
    lambda p: np.mean(p, where=p > 2.0) + np.max(p, where=p < 3.0, initial=0.5) + np.std(p, where=p > 1),
    lambda p: np.median(p) * np.any(p), lambda p: np.var(p[0] * p) * np.all(p),
]  # fmt: skip
OF_A_NUMBER = [
    lambda x: np.where(x > 0, x, -x), lambda x: np.stack([x, 2 * x]).prod(),
    lambda x: np.polyval([1.0, 2.0, 3.0], x), lambda x: x * np.array(x) + np.array(x) / x,
    lambda x: np.average(x) + np.linspace(0.0, x, 3).sum(),
    lambda x: np.array(ad.maximum(x * x, np.where(x > 0, x, -x))),
]  # fmt: skip
OF_BOTH = [  # and summed
    np.sin, np.log1p, np.expm1, lambda x: np.log(1 + np.exp(-x)), lambda x: np.abs(x - 2.5),
    lambda x: np.tanh(np.append(x, 1.0)),
    lambda x: np.arctan2(x, np.float64(2)) + np.arctan2(1.0, x),
    lambda x: np.hypot(3.0, x) * np.float64(2) + np.hypot(x, 2.0),
    lambda x: np.where(x > 1.5, x**2, 3 * x), lambda x: np.maximum(2.0, x) - np.minimum(x, 0.0),
]  # fmt: skip
ROW = np.array([0.7, 1.9, 2.2, 3.1])


@cases(("f", "x"), [
    *[(f, ROW) for f in OF_A_ROW], *[(f, x) for f in OF_A_NUMBER for x in (-0.7, 0.7)],
    *[(lambda x, f=f: np.sum(f(x)), x) for f in OF_BOTH for x in (ROW, -0.7, 0.7)],
])  # fmt: skip
def test_every_mode_agrees_with_differences_of_the_same_kind(f, x):
    for d in (grad, jacfwd, jacrev, pullback):
        same(d(f)(x), ad.finite_difference(f, x), 1e-8)
        same(d(f)(x), grad(f)(x), 1e-12)
    curvatures = hessian(f)(x)
    same(jacrev(grad(f))(x), curvatures, 1e-9)
    assert jvp(grad(f), (x,), (x,))[1] == pytest.approx(np.dot(curvatures, x), rel=1e-9, abs=1e-9)
    ad.check_gradients(f, x)


OF_BOOLS = "logical_and", "logical_or", "logical_xor"


def what_to_write(name):
    """The words about a function that NumPy has for floats or bools alone."""
    remedy = r"floats; .*dtype=object"
    if name in OF_BOOLS:
        remedy = rf"bools; .*np\.{name}\(x != 0, y != 0\)"
    return rf"^{name}: found numbers that are being differentiated, expected {remedy}"


@cases(("f", "name"), [
    (lambda p: np.exp2(p).sum(), "exp2"),
    (lambda p: np.percentile(p, 50), "percentile"),
    (lambda p: np.sinc(p[0]), "sinc"),
    (lambda p: np.cov(p), "cov"),
    (lambda p: np.interp(p, [0.0, 1.0], [2.0, 4.0]), "interp"),
    (lambda p: np.linalg.det(p.reshape(2, 2)), "det"),
    (lambda p: np.zeros(4).__iadd__(p[0]).sum(), "add"),
    (lambda p: np.logical_or.reduce(p), "logical_or"),
])  # fmt: skip
@in_every_derivative
def test_what_numpy_has_for_floats_or_bools_alone_says_what_to_write(d, f, name):
    with pytest.raises(TypeError, match=what_to_write(name)):
        d(lambda x: f(x * np.ones(4)))(2.0)


# -- Values in arrays, and arrays beside Values ------------------------------------------------------

OURS = {
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "add", "subtract",
    "multiply", "divide", "power", "negative", "positive", "absolute", "arcsin",
    "arccos", "arctan", "exp", "expm1", "log1p", "log", "sqrt", "sin", "cos", "tan", "sinh",
    "cosh", "tanh", "maximum", "minimum",
}  # fmt: skip


ENTRYWISE = {
    x.__name__: x for x in vars(np).values() if isinstance(x, np.ufunc) and not x.signature
}


@pytest.mark.parametrize("name", ENTRYWISE)
@pytest.mark.filterwarnings("ignore")  # such as that of arccosh(0.5)
def test_every_function_of_numpy_is_right_or_a_type_error_of_ours(name):
    ufunc, row = ENTRYWISE[name], np.array([0.25, 0.5])
    objects = np.vectorize(Value, otypes=[object])(row)
    kinds = [(Value(0.5), 0.5), (array_of(objects), row), (ad.Vector(row), row)]
    if name in OURS:
        kinds.append((objects, row))
    inputs = [[kind] for kind in kinds]
    if ufunc.nin == 2:
        beside = [*kinds, (2.0, 2.0), (row, row)]
        inputs = [*itertools.product(kinds, beside), *itertools.product(beside, kinds)]
    for given in inputs:
        ours, numbers = zip(*given)
        try:
            found = ufunc(*ours)
        except TypeError as error:
            found = error
        if isinstance(found, TypeError):
            assert name not in OURS
            assert type(found) is TypeError  # NumPy has some of its own
            assert re.search(rf"{what_to_write(name)}|\^: found a V|or x\.data for", str(found))
            continue
        assert name not in OF_BOOLS
        expected = ufunc(*numbers)
        assert name not in OURS or expected.dtype != bool or np.asarray(found).dtype == bool
        found = np.vectorize(plain, otypes=[expected.dtype])(found)
        assert np.allclose(found, expected, rtol=1e-15, atol=0)


@pytest.mark.parametrize("kind", [np.array, pandas.Series])
def test_an_array_or_series_times_a_value(kind):
    x = Value(2.0)
    for product in (kind([1.0, 2.0]) * x, x * kind([1.0, 2.0])):
        assert isinstance(product, type(kind([])))
        assert [v.data for v in product] == [2.0, 4.0]
        product.sum().backward()
    assert x.grad == 6.0


@pytest.mark.parametrize(("method", "more"), [
    ("BFGS", {}),
    ("trust-exact", {"hess": hessian(optimize.rosen)}),
    ("trust-krylov", {"hessp": lambda x, v: ad.hvp(optimize.rosen, x, v)}),
])  # fmt: skip
def test_scipy_minimises_its_own_function_with_our_derivatives(method, more):
    f, start = value_and_grad(optimize.rosen), np.array([-1.0, 1.5])
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
