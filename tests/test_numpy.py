"""NumPy in, NumPy through: programs as a NumPy user writes them, with our derivatives, under SciPy.

Each is minimised or solved by SciPy, and its gradient compared with one that is derived by hand.
"""

import numpy as np
import pandas
import pytest
from scipy import optimize

import autodiff as ad
from autodiff import Value, grad, hessian, jacfwd, jacrev, jvp, value_and_grad, vjp

rng = np.random.default_rng(0)
A, TRUE = rng.normal(size=(20, 3)), np.array([1.0, -2.0, 0.5])
Y = A @ TRUE
T = np.linspace(0.0, 4.0, 30)
LABELS = (A @ TRUE > 0).astype(float)


TABLE = np.array([[1.0, 2.0], [3.0, 4.0]])


@ad.operation
def forgetful(x):
    return x * x, lambda grad: (grad * x,)


def least_squares(p):
    return ((A @ p - Y) ** 2).sum()


def ridge(p):
    return np.mean((A @ p - Y) ** 2) + 0.1 * np.dot(p, p)


def logistic(p):
    z = A @ p
    return np.sum(np.log(1 + np.exp(-z)) + (1 - LABELS) * z) + 0.01 * (p**2).sum()


def decay(p):  # a measured curve: 3 e^(-1.5 t) + 0.5
    return np.mean((p[0] * np.exp(-p[1] * T) + p[2] - (3 * np.exp(-1.5 * T) + 0.5)) ** 2)


def springs(q):  # masses on a line, the ends fixed
    ends = np.concatenate([[0.0], q, [1.0]])
    return 0.5 * (np.diff(ends) ** 2).sum() - 0.1 * q.sum()


def charges(q):  # three equal charges on a circle repel one another
    x, y = np.cos(q), np.sin(q)
    return sum(
        1 / np.sqrt((x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2) for i in range(3) for j in range(i)
    )


def polynomial(p):
    return np.sum((np.polyval(p, T) - (2 * T**2 - T + 3)) ** 2)


def factors(p):  # a table as a product of a column and a row
    u, v = p[:3], p[3:]
    return ((np.outer(u, v) - np.outer([1.0, 2.0, 3.0], [1.0, 0.5])) ** 2).sum()


PROGRAMS = {
    least_squares: ([0.0, 0.0, 0.0], TRUE),
    ridge: ([0.0, 0.0, 0.0], np.linalg.solve(A.T @ A / 20 + 0.1 * np.eye(3), A.T @ Y / 20)),
    logistic: ([0.0, 0.0, 0.0], None),
    decay: ([1.0, 1.0, 1.0], [3.0, 1.5, 0.5]),
    springs: ([0.2, 0.5, 0.9], [0.4, 0.7, 0.9]),  # -q₋ + 2q - q₊ = 0.1, from 0 to 1
    charges: ([0.0, 1.0, 3.0], None),
    polynomial: ([0.0, 0.0, 0.0], [2.0, -1.0, 3.0]),
    factors: ([1.0, 1.0, 1.0, 1.0, 1.0], None),
}


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_scipy_minimises_a_program_with_our_gradient(f):
    start, expected = PROGRAMS[f]
    answer = optimize.minimize(value_and_grad(f), np.array(start), jac=True, tol=1e-12)
    assert np.abs(grad(f)(answer.x)).max() < 1e-5
    if expected is not None:
        assert answer.x == pytest.approx(expected, abs=1e-4)
    if f is charges:  # 120 degrees apart
        assert np.cos(np.diff(answer.x)) == pytest.approx([-0.5, -0.5], abs=1e-4)
    if f is factors:
        assert answer.fun == pytest.approx(0.0, abs=1e-10)


IDIOMS = {
    "mean": np.mean, "max": np.max, "norm": np.linalg.norm, "std": np.std, "var": np.var,
    "sum of sines": lambda p: np.sum(np.sin(p)), "dot": lambda p: np.dot(p, p),
    "reshape": lambda p: (p.reshape(2, 2) @ p.reshape(2, 2)).sum(),
    "where": lambda p: np.where(p > 1.5, p**2, 3 * p).sum(),
    "cumsum": lambda p: (np.cumsum(p) ** 2).sum(), "prod": np.prod,
    "einsum": lambda p: np.einsum("i,ij,j->", p, np.arange(16.0).reshape(4, 4), p),
    "hypot": lambda p: np.hypot(p, 2.0).sum(), "arctan2": lambda p: np.arctan2(p, 2.0).sum(),
    "log1p": lambda p: np.log1p(p).sum(), "expm1": lambda p: np.expm1(p).sum(),
    "clip": lambda p: np.clip(p, 0.0, 2.5).sum(), "abs": lambda p: np.abs(p - 2.5).sum(),
    "maximum": lambda p: np.maximum(p, 2.0).sum(), "diff": lambda p: (np.diff(p) ** 3).sum(),
    "trapezoid": lambda p: np.trapezoid(p**2), "sort": lambda p: (np.sort(p) * [1, 2, 3, 4]).sum(),
    "stack": lambda p: np.stack([p, p**2]).sum(), "ours": lambda p: ad.sum(ad.sigmoid(p)),
    "ours in a list": lambda p: ad.logsumexp(list(p)), "roll": lambda p: (p * np.roll(p, 1)).sum(),
}  # fmt: skip


@pytest.mark.parametrize(
    "f", [*PROGRAMS, *IDIOMS.values()], ids=[*[f.__name__ for f in PROGRAMS], *IDIOMS]
)
def test_every_mode_agrees_with_scipys_differences(f):
    x = np.array(PROGRAMS[f][0]) + 0.3 if f in PROGRAMS else np.array([0.7, 1.9, 2.2, 3.1])
    slopes = optimize.approx_fprime(x, lambda p: float(f(p)), 1e-7)
    for derivative in (grad(f)(x), jacfwd(f)(x), jacrev(f)(x), vjp(f, x)[1](1.0)[0]):
        assert isinstance(derivative, np.ndarray)
        assert derivative == pytest.approx(slopes, rel=1e-4, abs=1e-4)  # the step is 1e-7
        assert derivative == pytest.approx(grad(f)(x), rel=1e-11, abs=1e-11)
    h = hessian(f)(x)
    assert h == pytest.approx(jacrev(grad(f))(x), rel=1e-9, abs=1e-9)
    assert jvp(grad(f), (x,), (x,))[1] == pytest.approx(h @ x, rel=1e-9, abs=1e-9)


def test_a_table_is_an_argument_too():
    weights = rng.normal(size=(2, 3))
    loss = lambda w: (np.tanh(w @ TRUE) ** 2).sum()  # noqa: E731
    z = np.tanh(weights @ TRUE)
    assert grad(loss)(weights) == pytest.approx(np.outer(2 * z * (1 - z**2), TRUE), rel=1e-13)
    assert jacrev(lambda w: w @ TRUE)(weights).shape == (2, 2, 3)


@pytest.mark.parametrize(
    ("function", "slope"), [(ad.sigmoid, 0.25), (ad.softplus, 0.5), (ad.relu, 0.0)]
)
def test_a_function_of_an_array_of_values_has_its_own_derivative_at_0(function, slope):
    x = np.array([Value(0.0), Value(1.0)])
    function(x)[0].backward()  # as a formula of |x|, its derivative would come out as 0
    assert x[0].grad == slope


def test_the_checkers_take_tables_too():
    f = lambda w: (w @ w).sum()  # noqa: E731
    ad.check_gradients(f, TABLE)
    for method in ("central", "complex", "forward"):
        slopes = np.array(ad.finite_difference(f, TABLE, method=method))
        assert slopes == pytest.approx(grad(f)(TABLE), rel=1e-6)  # of forward differences
    assert ad.trace(f, TABLE, wrt="w[0][1]").rows[-1].derivative_value == grad(f)(TABLE)[0, 1]
    with pytest.raises(AssertionError, match=r"\nw\[1\]\[0\] .*<- wrong"):
        ad.check_gradients(lambda w: forgetful(w[1, 0]) + w[0, 0], TABLE)


# -- Values in arrays, and arrays beside Values ------------------------------------------------------

NUMPYS = [
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "add", "subtract",
    "multiply", "divide", "true_divide", "power", "negative", "positive", "absolute", "arcsin",
    "arccos", "arctan", "exp", "expm1", "log1p", "log", "sqrt", "sin", "cos", "tan", "sinh",
    "cosh", "tanh", "maximum", "minimum",
]  # fmt: skip


def plain(x):
    return x.data if isinstance(x, Value) else x


@pytest.mark.parametrize("name", NUMPYS)
def test_numpys_function_of_values_is_that_of_their_numbers(name):
    function, x = getattr(np, name), Value(0.5)
    numbers = np.array([0.25, 0.5, 1.0])
    values = np.array([Value(x) for x in numbers], dtype=object)
    for given in (
        [(x,), (values,)] if function.nin == 1 else [(x, numbers), (numbers, x), (x, values)]
    ):
        found = function(*given)
        expected = function(*[np.vectorize(plain, otypes=[float])(each) for each in given])
        assert np.vectorize(plain)(found) == pytest.approx(expected, rel=1e-15)
        if name in NUMPYS[:6]:
            assert np.asarray(found).dtype == bool


def test_derivatives_through_arrays_of_values():
    x = Value(0.5)
    for product in (np.array([1.0, 2.0]) * x, x * np.array([1.0, 2.0])):
        assert product.dtype == object
        product.sum().backward()
    assert x.grad == 6.0
    assert isinstance(np.float64(2) * x, Value)
    v = np.array([Value(0.5), Value(0.25)])
    np.exp(np.sin(v) * v + 1).sum().backward()
    for x in v:
        assert x.grad == pytest.approx(grad(lambda t: ad.exp(ad.sin(t) * t + 1))(x.data), rel=1e-14)
    e = np.array([Value(1.0), Value(3.0)])
    found = [[x.data for x in each] for each in (e / e.sum(), e - e.mean())]
    assert found == [[0.25, 0.75], [-1, 1]]


def test_a_series_times_a_value():
    x = Value(2.0)
    for product in (pandas.Series([1.0, 2.0]) * x, x * pandas.Series([1.0, 2.0])):
        assert isinstance(product, pandas.Series)
        assert [v.data for v in product] == [2.0, 4.0]


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


@pytest.mark.parametrize(("method", "more"), [
    ("trust-exact", {"hess": hessian(rosenbrock)}),
    ("trust-krylov", {"hessp": lambda x, v: ad.hvp(rosenbrock, x, v)}),
])  # fmt: skip
def test_scipy_takes_our_second_derivatives(method, more):
    found = optimize.minimize(rosenbrock, [-1.0, 1.5], jac=grad(rosenbrock), method=method, **more)
    assert found.x == pytest.approx([1.0, 1.0], abs=1e-2)
