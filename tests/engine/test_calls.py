"""Operations on plain numbers and on arrays."""

import math

import numpy as np
import pytest

import autodiff as ad
from autodiff import Value
from autodiff.engine.admission import as_float


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
    assert as_float(np.longdouble("inf"), "") == as_float(np.float32("inf"), "") == math.inf


def test_a_condition_is_true_unless_it_is_0():
    x = Value(3.0)
    for true in (True, np.True_, np.array(1.0), 2, math.nan, Value(-1.0)):
        assert ad.where(true, 1.0, x) == 1.0
    assert ad.where(0, 1.0, x) == x


OF_INTEGERS = {
    **{f.__name__: f for f in (ad.sigmoid, ad.softplus, ad.relu, ad.abs, ad.sin, ad.tanh, ad.erf)},
    "an operation of one's own": ad.operation(lambda x: (x * x * x, lambda grad: (grad,))),
    "truths of one's own": lambda x: -ad.operation(lambda x: (x > 1, lambda grad: (grad,)))(x),
    **{f.__name__: lambda x, f=f: f([x, x, x]) for f in (ad.sum, ad.prod, ad.logsumexp)},
    "dot": lambda x: ad.dot([x, x], [x, x]),
    "hypot of two": lambda x: ad.hypot(x, x),
    "hypot of three": lambda x: ad.hypot(3, 4, x * 0),
    "of a 0-d array": lambda x: ad.sqrt(np.array(x[1])),
    "a power": lambda x: ad.ops.power(x, 3),
}


@pytest.mark.parametrize("kind", [np.uint8, np.int8, bool, np.int64])
@pytest.mark.parametrize("f", OF_INTEGERS.values(), ids=OF_INTEGERS)
def test_arrays_of_integers_are_arrays_of_floats(f, kind):
    """-x of a uint8 is 256 - x, -abs(x) of an int8 can be positive, and products wrap around."""
    x = np.array([0, 100, 127], dtype=kind)
    assert f(x).tolist() == f(x.astype(float)).tolist()
    assert ad.abs(np.array([-128], np.int8)).tolist() == [128.0]
