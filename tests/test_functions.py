"""Functions of any kind of number, on plain numbers and arrays."""

import math

import numpy as np
import pytest

import autodiff as ad
from autodiff import Value, functions
from autodiff.errors import DOMAINS
from autodiff.functions import as_float

ARRAYS = {
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
    "tanh": np.tanh, "abs": np.abs, "erf": np.vectorize(math.erf), "expm1": np.expm1,
    "log1p": np.log1p, "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softplus": lambda x: np.log1p(np.exp(x)), "relu": lambda x: np.maximum(x, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
def test_functions_of_an_array_are_elementwise(name):
    x, function = np.array([0.25, 0.5, 0.75]), getattr(ad, name)
    assert np.allclose(function(x), ARRAYS[name](x), rtol=1e-14)
    assert [*function(x)] == pytest.approx([*map(function, x.tolist())], rel=1e-15)
    if name not in ("log", "sqrt", "asin", "acos", "log1p"):
        assert np.allclose(function(-x), ARRAYS[name](-x), rtol=1e-14)


def test_functions_of_several_arrays():
    x, y = np.array([1.0, 5.0]), np.array([3.0, 4.0])
    for found, expected in [
        (ad.maximum(x, y), [3, 5]), (ad.minimum(x, 4), [1, 4]), (ad.sum([x, y]), [4, 9]),
        (ad.prod([x, y]), [3, 20]), (ad.dot([x, y], [x, 2]), [7, 33]), (ad.less(x, y), [1, 0]),
        (ad.hypot(x, y), np.hypot(x, y)), (ad.logsumexp([x, y]), np.logaddexp(x, y)),
        (ad.where(x > y, x, y), [3, 5]), (functions.power(x, 2), [1, 25]),
        (ad.atan2(x, y), np.arctan2(x, y)), (functions.less_equal(x, 5), [1, 1]),
    ]:  # fmt: skip
        assert found.tolist() == pytest.approx(expected, rel=1e-15)


def test_nothing_overflows_that_need_not():
    assert (ad.sigmoid(-1000), ad.sigmoid(1000), ad.tanh(1e4), ad.softplus(1000)) == (0, 1, 1, 1000)
    for x in (-1000.0, 1000.0):
        assert ad.logsumexp([x, x]) == pytest.approx(x + math.log(2), rel=1e-15)
    x = np.array([-1000.0, 1000.0])
    assert ad.sigmoid(x).tolist() == [0.0, 1.0]
    assert ad.softplus(x).tolist() == [0.0, 1000.0]
    assert ad.logsumexp([x, x]).tolist() == pytest.approx([-999.306853, 1000.693147])


def test_functions_of_nothing_of_iterators_and_of_infinities():
    assert (ad.sum([]), ad.prod([]), ad.dot([], []), ad.hypot()) == (0, 1, 0, 0)
    assert ad.sum(x for x in (1, 2, 3)) == 6.0
    assert ad.dot(map(float, "12"), iter([3, 4])) == 11.0
    assert ad.logsumexp([-math.inf, -math.inf]) == -math.inf
    assert ad.logsumexp([math.inf, 0]) == math.inf
    assert ad.logsumexp([-math.inf, 2.0]) == 2.0
    assert all(math.isnan(f(math.nan)) for f in (ad.relu, ad.sigmoid, ad.softplus))
    for f in (ad.maximum, ad.minimum):
        assert math.isnan(f(math.nan, 1.0))
        assert math.isnan(f(1.0, math.nan))


@pytest.mark.parametrize("x", [4, np.float64(4), np.float32(4), np.int32(4)])
def test_numbers_of_any_kind_give_floats(x):
    for found in (ad.sqrt(x), ad.maximum(x, 2) / 2, ad.sum([x]) / 2, as_float(x, "here") / 2):
        assert (type(found), found) == (float, 2.0)


def test_infinities_of_other_kinds_are_infinite():
    assert as_float(np.longdouble("inf"), "") == as_float(np.float32("inf"), "") == math.inf


def test_a_condition_is_true_unless_it_is_0():
    x = Value(3.0)
    for true in (True, np.True_, np.array(1.0), 2, math.nan):
        assert ad.where(true, 1.0, x) == 1.0
    assert ad.where(0, 1.0, x) is x


@pytest.mark.parametrize("kind", [np.uint8, np.int8, bool, np.int64])
def test_arrays_of_integers_are_arrays_of_floats(kind):
    """-x of a uint8 is 256 - x, -abs(x) of an int8 can be positive, and products wrap around."""
    x = np.array([0, 100, 127], dtype=kind)
    floats = x.astype(float)
    for name in ("sigmoid", "softplus", "relu", "abs", "sin", "tanh", "erf"):
        assert getattr(ad, name)(x).tolist() == getattr(ad, name)(floats).tolist(), name
    for function in (ad.sum, ad.prod, ad.logsumexp):
        assert function([x, x, x]).tolist() == function([floats] * 3).tolist()
    assert ad.dot([x, x], [x, x]).tolist() == (2 * floats * floats).tolist()
    assert ad.hypot(x, x).tolist() == ad.hypot(floats, floats).tolist()
    assert ad.hypot(3, 4, x * 0).tolist() == [5.0] * 3
    assert ad.sqrt(np.array(4, kind)) == ad.hypot(np.array(1, kind), 0) * ad.sqrt(kind(4))
    assert functions.power(x, 3).tolist() == (floats**3).tolist()
    assert ad.abs(np.array([-128], np.int8)).tolist() == [128.0]
    cube = ad.operation(lambda x: (x * x * x, lambda grad: (3 * x * x * grad,)))
    assert cube(x).tolist() == (floats**3).tolist()


def test_a_row_makes_a_function_a_method_and_a_name_to_import():
    """All that an operation needs besides its rule: CONTRIBUTING, "Add an operation"."""
    listed = {*functions.__all__, "abs", "sum"}
    assert set(functions.UNARY) == {*functions.Methods.__annotations__, "abs"}
    for name in listed:
        assert hasattr(ad.ops, name), f"{name} has no rule in ops.py"
        assert getattr(ad, name) is getattr(functions, name)
    for name, function in functions.UNARY.items():
        assert getattr(Value, name if name != "abs" else "__abs__") is function
        assert function.__name__ == name
        assert f"ValueError unless {DOMAINS[name]}." in function.__doc__ or not DOMAINS[name]
