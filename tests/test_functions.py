"""Functions of any kind of number, on plain numbers and arrays."""

import math

import numpy as np
import pytest

import autodiff as ad
from autodiff import Value, functions
from autodiff.errors import DOMAINS
from autodiff.functions import as_float


def test_functions_of_nothing_of_iterators_and_of_infinities():
    assert (ad.sum([]), ad.prod([]), ad.dot([], []), ad.hypot()) == (0, 1, 0, 0)
    assert ad.sum(x for x in (1, 2, 3)) == 6.0
    assert ad.dot(map(float, "12"), iter([3, 4])) == 11.0
    assert ad.logsumexp([-math.inf, -math.inf]) == -math.inf
    assert ad.logsumexp([math.inf, 0]) == math.inf
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


OF_INTEGERS = [
    *[f"{name}(x)" for name in ("sigmoid", "softplus", "relu", "abs", "sin", "tanh", "erf", "cube")],
    *[f"{name}([x, x, x])" for name in ("sum", "prod", "logsumexp")], "dot([x, x], [x, x])", "hypot(x, x)",
    "hypot(3, 4, x * 0)", "sqrt(np.array(x[1]))", "functions.power(x, 3)",
]  # fmt: skip


@pytest.mark.parametrize("kind", [np.uint8, np.int8, bool, np.int64])
def test_arrays_of_integers_are_arrays_of_floats(kind):
    """-x of a uint8 is 256 - x, -abs(x) of an int8 can be positive, and products wrap around."""
    cube = ad.operation(lambda x: (x * x * x, lambda grad: (3 * x * x * grad,)))
    x = np.array([0, 100, 127], dtype=kind)
    for text in OF_INTEGERS:
        found, expected = (
            eval(text, vars(ad) | {"cube": cube, "np": np, "x": x}) for x in (x, x.astype(float))
        )
        assert found.tolist() == expected.tolist(), text
    assert ad.abs(np.array([-128], np.int8)).tolist() == [128.0]


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
