"""Functions of any kind of number, on plain numbers and arrays."""

import math

import numpy as np
import pytest

import autodiff
from autodiff import Dual, functions
from autodiff.errors import typed
from autodiff.functions import as_float

ARRAYS = {
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
    "tanh": np.tanh, "abs": np.abs, "erf": np.vectorize(math.erf),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "softplus": lambda x: np.log1p(np.exp(x)),
    "relu": lambda x: np.maximum(x, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
def test_functions_of_an_array_are_elementwise(name):
    x = np.array([0.25, 0.5, 0.75])
    function = getattr(autodiff, name)
    assert np.allclose(function(x), ARRAYS[name](x), rtol=1e-14)
    assert function(x)[1] == pytest.approx(function(0.5), rel=1e-15)


def test_functions_of_several_arrays():
    x, y = np.array([1.0, 5.0]), np.array([3.0, 4.0])
    assert autodiff.maximum(x, y).tolist() == [3.0, 5.0]
    assert autodiff.minimum(x, 4).tolist() == [1.0, 4.0]
    assert autodiff.sum([x, y]).tolist() == [4.0, 9.0]
    assert autodiff.prod([x, y]).tolist() == [3.0, 20.0]
    assert autodiff.dot([x, y], [x, 2]).tolist() == [7.0, 33.0]
    assert autodiff.hypot(x, y).tolist() == pytest.approx([math.sqrt(10), math.sqrt(41)])
    assert autodiff.logsumexp([x, y]) == pytest.approx(np.logaddexp(x, y))
    assert autodiff.where(x > y, x, y).tolist() == [3.0, 5.0]
    assert autodiff.functions.power(x, 2).tolist() == [1.0, 25.0]


def test_arrays_do_not_overflow_either():
    x = np.array([-1000.0, 1000.0])
    assert autodiff.sigmoid(x).tolist() == [0.0, 1.0]
    assert autodiff.softplus(x).tolist() == [0.0, 1000.0]
    assert autodiff.logsumexp([x, x]).tolist() == pytest.approx([-999.306853, 1000.693147])


def test_sums_of_nothing():
    assert (autodiff.sum([]), autodiff.prod([]), autodiff.dot([], []), autodiff.hypot()) == (
        0,
        1,
        0,
        0,
    )


def test_iterators_are_sequences_too():
    assert autodiff.sum(x for x in (1, 2, 3)) == 6.0
    assert autodiff.dot(map(float, "12"), iter([3, 4])) == 11.0


def test_logsumexp_of_infinities():
    assert autodiff.logsumexp([-math.inf, -math.inf]) == -math.inf
    assert autodiff.logsumexp([math.inf, 0]) == math.inf
    assert autodiff.logsumexp([-math.inf, 2.0]) == 2.0


def test_integers_and_numpy_scalars_give_floats():
    for x in (4, np.float64(4), np.float32(4), np.int32(4)):
        assert type(autodiff.sqrt(x)) is float
        assert autodiff.sqrt(x) == 2.0


@pytest.mark.parametrize(
    ("x", "remedy"),
    [
        ("1", "convert it first: float(text)"),
        (b"1", "convert it first: float(text)"),
        (None, "is a `return` missing in the function that made it?"),
        (1j, "take its .real, its .imag or abs() of it"),
        ([1.0], "make one Value of each number: Vector(data), or [Value(v) for v in data]"),
        (np.ones(2), "make one Value of each number: Vector(data), or [Value(v) for v in data]"),
        (Dual(1.0), "it is a number of another kind already; use it as it is"),
        (sum, ""),
    ],
)
def test_other_things_are_refused_by_name(x, remedy):
    with pytest.raises(TypeError) as error:
        as_float(x, "exp")
    expected = "expected one real number (int, float, Fraction or a numpy scalar)"
    expected += f"; {remedy}" if remedy else ""
    assert str(error.value) == f"exp: found {typed(x)}, {expected}"


@pytest.mark.parametrize("kind", [np.uint8, np.int8, bool, np.int64])
def test_arrays_of_integers_are_arrays_of_floats(kind):
    """-x of a uint8 is 256 - x, -abs(x) of an int8 can be positive, and products wrap around."""
    x = np.array([0, 100, 127], dtype=kind)
    floats = x.astype(float)
    for name in ("sigmoid", "softplus", "relu", "abs", "sin", "tanh", "erf"):
        function = getattr(autodiff, name)
        assert function(x).tolist() == function(floats).tolist(), name
    for function in (autodiff.sum, autodiff.prod, autodiff.logsumexp):
        assert function([x, x, x]).tolist() == function([floats] * 3).tolist()
    assert autodiff.dot([x, x], [x, x]).tolist() == (2 * floats * floats).tolist()
    assert autodiff.hypot(x, x).tolist() == autodiff.hypot(floats, floats).tolist()
    assert autodiff.functions.power(x, 3).tolist() == (floats**3).tolist()
    assert autodiff.abs(np.array([-128], np.int8)).tolist() == [128.0]

    @autodiff.operation
    def cube(x):
        return x * x * x, lambda grad: (grad * 3 * x * x,)

    assert cube(x).tolist() == (floats**3).tolist()


def test_a_row_makes_a_function_a_method_and_a_name_to_import():
    """All that an operation needs besides its rule: CONTRIBUTING, "Add an operation"."""
    listed = {*functions.__all__, "abs", "sum"}
    assert set(functions.UNARY) == {*functions.Methods.__annotations__, "abs"}
    for name in listed:
        assert hasattr(autodiff.ops, name), f"{name} has no rule in ops.py"
        assert getattr(autodiff, name) is getattr(functions, name)
