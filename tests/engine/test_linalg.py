"""Vector and Matrix."""

import itertools
import operator

import numpy as np
import pandas
import pytest
from tables import cases

import autodiff as ad
from autodiff import Dual, Matrix, Value, Vector, adjoints
from autodiff.engine.ufuncs import array_of


def object_array(numbers):  # as a transform makes it
    return array_of(np.vectorize(Value, otypes=[object])(numbers))


@pytest.mark.parametrize(("m", "n", "k"), [(2, 3, 4), (4, 1, 2), (1, 1, 1)])
def test_products_are_those_of_numpy_and_one_dot_an_entry(m, n, k):
    rng = np.random.default_rng(0)
    a, b, v, w = (rng.normal(size=size) for size in [(m, n), (n, k), n, m])
    A, B, V, W = Matrix(a), Matrix(b), Vector(v), Vector(w)  # noqa: N806
    beside = [A, a, a.tolist(), object_array(a)]  # what counts as a matrix beside a Vector
    pairs = [pair for kind in beside for pair in ((kind @ V, a @ v), (W @ kind, w @ a))]
    for found, expected in [(A @ B, a @ b), (V @ V, v @ v), *pairs]:
        assert np.allclose(found.data, expected, rtol=1e-13, atol=1e-13)
        assert getattr(found, "shape", ()) == expected.shape
    assert A.T.data == a.T.tolist()
    assert {entry.op for row in A @ B for entry in row} == {"dot"}
    assert len(adjoints((A @ B).sum())) == 1 + m * k + m * n + n * k


BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]
NUMBERS = [2, Value(2.0), np.float64(2), np.array(2.0)]


@pytest.mark.parametrize("kind", [Vector, Matrix])
def test_operators_work_entry_by_entry(kind):
    x = np.array([[1.0, 2.0], [4.0, 8.0]]) if kind is Matrix else np.array([1.0, 2.0])
    a = kind(x)
    unary = [operator.neg, operator.pos, ad.exp, ad.log, lambda a: abs(-a)]
    pairs = [(a.log(), np.log(x)), *((f(a), f(x)) for f in unary)]
    for f, number in itertools.product(BINARY, NUMBERS):
        pairs += [(f(a, number), f(x, 2)), (f(number, a), f(2, x))]
    for found, expected in pairs:
        assert type(found) is kind
        assert np.allclose(found.data, expected, rtol=1e-14)
    ((-a) ** 2).sum().backward()  # the logarithm of a negative entry is not asked for
    assert np.allclose(a.grad, 2 * x, rtol=1e-15)


def entries(array):
    """The Values that it holds."""
    return {x for x in np.ravel(np.array(array, object)) if isinstance(x, Value)}


OF_NUMPY = [np.subtract, np.power, np.hypot, np.matmul]
KINDS = [
    *[(Vector, kind) for kind in (list, tuple, np.array, object_array, pandas.Series, Vector)],
    *[(Matrix, kind) for kind in (list, np.array, object_array, pandas.DataFrame, Matrix)],
]
BESIDE = [
    (f, own, kind)
    for f in [*BINARY, operator.matmul, ad.maximum, *OF_NUMPY]
    for own, kind in KINDS
    if f in BINARY or not hasattr(kind, "to_numpy")  # frame @ A and NumPy's are up to pandas
]


@pytest.mark.parametrize(("f", "own", "kind"), BESIDE)
def test_what_stands_beside_a_vector_or_matrix_counts_as_one(f, own, kind):
    x, y = [[3.0, 4.0], [5.0, 6.0]], [[1.0, 2.0], [0.5, 0.25]]
    x, y = (x, y) if own is Matrix else (x[0], y[0])
    expected = (np.maximum if f is ad.maximum else f)(np.array(x), np.array(y))
    for left, right in [(own(x), kind(y)), (kind(x), own(y))]:
        found = f(left, right)
        assert type(found) is (own if expected.ndim else Value)
        assert np.allclose(found.data, expected, rtol=1e-15)
        leaves = {x for x in adjoints(ad.sum(np.ravel([found]))) if not x.parents}
        assert leaves == entries(left) | entries(right)  # numbers beside an array are constants


@cases(("f", "expected"), [
    (lambda v: np.hypot(Value(0.0), v), Vector([0.0, 1.0])),
    (lambda v: np.sum(v), 1.0), (lambda v: np.mean(v), 0.5), (lambda v: np.add.reduce(v), 1.0),
    (lambda v: np.linalg.norm(v), 1.0), (lambda v: np.dot([[0.0, 2.0]], v)[0], 2.0),
    (lambda v: np.sort(-v)[0], -1.0), (lambda v: np.concatenate([v, v]).sum(), 2.0),
    (lambda v: np.array([0.0, 2.0]) == v, np.array([True, False])),
    (lambda v: v == np.array([0.0, 2.0]), np.array([True, False])),
    (lambda v: v != pandas.Series([0.0, 2.0]), np.array([False, True])),
])  # fmt: skip
def test_numpys_functions_of_a_vector(f, expected):
    equal = np.array_equal if isinstance(expected, np.ndarray) else operator.eq
    assert equal(f(Vector([0.0, 1.0])), expected) is True


def test_vectors_are_equal_if_all_their_numbers_are():
    v, A = Vector([1.0, 2.0]), Matrix([[1.0, 2.0], [3.0, 4.0]])  # noqa: N806
    for equal in (v == Vector([1.0, 2.0]), v == [1.0, 2.0], v == (1.0, 2.0), A == A + 0):
        assert equal is True
    assert A == [v, [3.0, 4.0]]  # noqa: SIM300
    for other in (v + 1, Vector([1.0]), Matrix([[1.0, 2.0]]), [1.0], [[1.0]], None, "v"):
        assert (v == other, v != other) == (False, True)
    assert v in [None, A, v + 0]
    assert v in A
    assert v + 1 not in A
    assert len({v, v + 0}) == 2  # a hash is an identity, as of a Value


def test_reductions_are_one_node():
    v = Vector([3.0, 4.0])
    assert v.sum().parents == v.norm().parents == tuple(v)
    assert [f.data for f in (ad.sum(v), ad.dot(v, v))] == [7.0, 25.0]


def test_indexing_and_slicing():
    x = np.arange(12.0).reshape(3, 4)
    v, a = Vector(x[0]), Matrix(x)
    assert v[1] is [*v][1]
    assert a[1, 2] is a[1][2]
    for key in (1, -1, np.s_[:, 2], np.s_[1:3, 0:2], np.s_[0:2], np.s_[2, 1:]):
        assert a[key].data == x[key].tolist()
    assert [v[key].data for key in (-1, np.s_[1:3])] == [3.0, [1.0, 2.0]]
    assert [row.data for row in a] == x.tolist()
    assert (len(v), v.shape, len(a), a.shape) == (4, (4,), 3, (3, 4))


def test_sources():
    x = Value(2.0)
    assert Vector(iter([x, 3]))[0] is x
    frame = pandas.DataFrame([[5.0, 6.0], [7.0, 8.0]], index=[3, 4])  # its columns are called 0, 1
    assert (Matrix(frame).data, Vector(frame[1]).data) == ([[5.0, 6.0], [7.0, 8.0]], [6.0, 8.0])
    assert (Vector([Dual(1.0, 1.0)]) @ Vector([Dual(3.0)])).tangent == 3.0


def test_reprs_are_short():
    assert repr(Vector(range(100))) == "Vector(shape=(100,), [0, 1, 2, 3, 4, ..., 99])"
    assert repr(Matrix([[1, 2], [3, 4]])) == "Matrix(shape=(2, 2), [[1, 2],\n        [3, 4]])"
    assert [len(repr(Matrix(np.ones((n, n)))).splitlines()) for n in (6, 7, 9)] == [6, 7, 7]
