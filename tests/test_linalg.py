"""Vector and Matrix."""

import copy
import pickle

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autodiff
from autodiff import Dual, Matrix, Value, Vector, adjoints, draw, grad, hessian, jacrev, relu

# -- Article 000 --------------------------------------------------------------------------------


@pytest.fixture
def pair():
    return Matrix([[1, 2], [3, 4]]), Matrix([[5, 6], [7, 8]])


def test_article_000_sum(pair):
    a, b = pair
    ((a - b) @ (a + b)).sum().backward()
    assert a.grad == [[6, 14], [6, 14]]
    assert b.grad == [[-22, -30], [-22, -30]]


def test_article_000_mean(pair):
    a, b = pair
    mean = ((a - b) @ (a + b)).mean()
    mean.backward()
    assert mean.data == -72
    assert a.grad == [[1.5, 3.5], [1.5, 3.5]]


def test_article_000_norm(pair):
    a, b = pair
    norm = relu((a + b) + (a - b) * 2.2).norm()
    norm.backward()
    assert norm.data == pytest.approx(3.4176, abs=5e-5)
    assert np.allclose(a.grad, [[0, 0], [1.12359, 2.99625]], atol=5e-6)
    assert np.allclose(b.grad, [[0, 0], [-0.421348, -1.12359]], atol=5e-6)


def test_article_000_requires_grad(pair):
    a, b = pair
    a.requires_grad_(False)
    total = ((a * a) @ b).sum()
    walked = adjoints(total)
    total.backward()
    assert a.grad == [[0, 0], [0, 0]]
    assert b.grad == [[10, 10], [20, 20]]
    assert not any(node.op == "*" for node in walked)  # a * a is not walked


def test_article_000_backward_of_a_matrix(pair):
    a, b = pair
    with pytest.raises(
        TypeError, match=r"found a Matrix of shape \(2, 2\), .*\.sum\(\), \.mean\(\)"
    ):
        (a @ b).backward()


# -- Products -----------------------------------------------------------------------------------

sizes = st.integers(1, 5)


@settings(max_examples=40, deadline=None)
@given(sizes, sizes, sizes, st.integers(0, 2**32 - 1))
def test_gradients_of_a_product_are_products(m, n, k, seed):
    rng = np.random.default_rng(seed)
    a, b, weights = rng.normal(size=(m, n)), rng.normal(size=(n, k)), rng.normal(size=(m, k))
    left, right = Matrix(a), Matrix(b)
    product = left @ right
    assert np.allclose(product.data, a @ b, rtol=1e-13, atol=1e-13)
    (product * Matrix(weights)).sum().backward()
    assert np.allclose(left.grad, weights @ b.T, rtol=1e-13, atol=1e-13)
    assert np.allclose(right.grad, a.T @ weights, rtol=1e-13, atol=1e-13)


@settings(max_examples=20, deadline=None)
@given(sizes, sizes, st.integers(0, 2**32 - 1))
def test_products_with_vectors(m, n, seed):
    rng = np.random.default_rng(seed)
    a, v, w = rng.normal(size=(m, n)), rng.normal(size=n), rng.normal(size=m)
    assert np.allclose((Matrix(a) @ Vector(v)).data, a @ v)
    assert np.allclose((Vector(w) @ Matrix(a)).data, w @ a)
    assert (Vector(v) @ Vector(v)).data == pytest.approx(v @ v)
    assert (Matrix(a) @ Vector(v)).shape == (m,)
    assert Matrix(a).T.data == a.T.tolist()


def test_a_product_is_one_dot_an_entry():
    product = Matrix([[1, 2], [3, 4]]) @ Matrix([[5, 6], [7, 8]])
    assert {entry.op for row in product for entry in row} == {"dot"}
    assert len(adjoints(product.sum())) == 1 + 4 + 8


# -- Entry by entry -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Vector, Matrix])
def test_operators_work_entry_by_entry(kind):
    x, y = np.array([[1.0, 2.0], [4.0, 8.0]]), np.array([[3.0, 0.5], [2.0, 1.0]])
    if kind is Vector:
        x, y = x[0], y[0]
    a, b = kind(x), kind(y)
    for found, expected in [
        (a + b, x + y), (a - b, x - y), (a * b, x * y), (a / b, x / y), (a**b, x**y),
        (2 + a, 2 + x), (2 - a, 2 - x), (2 * a, 2 * x), (2 / a, 2 / x), (2**a, 2**x),
        (a + 2, x + 2), (a - 2, x - 2), (a * 2, x * 2), (a / 2, x / 2), (a**2, x**2),
        (-a, -x), (+a, x), (abs(-a), x), (autodiff.exp(a), np.exp(x)), (a.log(), np.log(x)),
        (Value(3) * a, 3 * x), (a - Value(3), x - 3), (autodiff.maximum(a, b), np.maximum(x, y)),
        (np.float64(2) * a, 2 * x), (a.map(lambda v: v * v), x * x), (autodiff.minimum(2, a), np.minimum(2, x)),
    ]:  # fmt: skip
        assert type(found) is kind
        assert np.allclose(found.data, expected, rtol=1e-14)


def test_arrays_beside_vectors_follow_numpys_own_rules():
    v, x = Vector([1.0, 2.0]), np.array([3.0, 4.0])
    for found, expected in [
        (x * v, [3, 8]), (v * x, [3, 8]), (x - v, [2, 2]), (v + x, [4, 6]),
        (np.eye(2) @ v, [1, 2]), (v @ np.eye(2), [1, 2]), (np.sin(v), np.sin([1, 2])),
    ]:  # fmt: skip
        assert isinstance(found, np.ndarray)
        assert [y.data for y in found] == pytest.approx(expected)
    (x @ v).backward()
    assert v.grad == [3.0, 4.0]


def test_a_negative_entry_under_a_constant_exponent():
    v = Vector([-2.0, 3.0])
    (v**2).sum().backward()
    assert v.grad == [-4.0, 6.0]


def test_reductions_are_one_node():
    v = Vector([3.0, 4.0])
    assert (v.sum().data, v.mean().data, v.norm().data) == (7.0, 3.5, 5.0)
    assert v.sum().parents == v.norm().parents == tuple(v)
    assert autodiff.sum(v).data == 7.0
    assert autodiff.logsumexp(v).data == pytest.approx(np.logaddexp(3, 4))
    assert autodiff.dot(v, v).data == 25.0


# -- A sequence ---------------------------------------------------------------------------------


def test_indexing_and_slicing():
    v = Vector([1, 2, 3, 4])
    assert v[1] is list(v)[1]
    assert (v[1:3].data, v[-1].data, len(v), v.shape) == ([2, 3], 4, 4, (4,))
    a = Matrix(np.arange(12).reshape(3, 4))
    x = np.arange(12.0).reshape(3, 4)
    assert a[1, 2] is a[1][2]
    for key in [
        1,
        -1,
        (slice(None), 2),
        (slice(1, 3), slice(0, 2)),
        slice(0, 2),
        (2, slice(1, None)),
    ]:
        assert a[key].data == x[key].tolist()
    assert [row.data for row in a] == x.tolist()
    assert (len(a), a.shape) == (3, (3, 4))


def test_they_do_not_change():
    v = Vector([1, 2])
    with pytest.raises(TypeError, match="item assignment"):
        v[0] = 3


def test_sources():
    x = Value(2.0)
    for v in (Vector([x, 3]), Vector((x, 3)), Vector(iter([x, 3]))):
        assert v[0] is x
        assert v.data == [2.0, 3.0]
    assert Vector(np.array([1.5, 2.5])).data == [1.5, 2.5]
    assert np.array(Matrix(np.eye(2)).data).tolist() == [[1, 0], [0, 1]]


def test_frames_and_series_are_their_numbers_not_their_names():
    frame = pandas.DataFrame([[5.0, 6.0], [7.0, 8.0]], index=[3, 4])  # its columns are called 0, 1
    assert Matrix(frame).data == [[5.0, 6.0], [7.0, 8.0]]
    assert Vector(frame[1]).data == [6.0, 8.0]
    with pytest.raises(TypeError, match="found array"):
        Vector(frame)


def test_zero_grad_and_copies():
    a = Matrix([[1.0, 2.0]])
    a.sum().backward()
    again = pickle.loads(pickle.dumps(a))
    assert (again.data, again.grad) == (a.data, [[1.0, 1.0]])
    assert copy.deepcopy(a)[0, 0] is not a[0, 0]
    a.zero_grad()
    assert a.grad == [[0.0, 0.0]]


def test_reprs_are_short():
    assert repr(Vector([1, 2.5])) == "Vector(shape=(2,), [1, 2.5])"
    assert repr(Vector(range(100))) == "Vector(shape=(100,), [0, 1, 2, 3, 4, ..., 99])"
    assert repr(Matrix([[1, 2], [3, 4]])) == "Matrix(shape=(2, 2), [[1, 2],\n        [3, 4]])"
    assert len(repr(Matrix(np.ones((100, 100)))).splitlines()) == 7


def test_transforms_take_and_return_them():
    assert grad(lambda x: Vector(x).norm())([3.0, 4.0]) == [0.6, 0.8]
    assert jacrev(lambda x: Vector(x) * Vector(x))([1.0, 2.0]) == [[2, 0], [0, 4]]
    assert hessian(lambda x: Vector(x) @ Vector(x))([1.0, 2.0]) == [[2, 0], [0, 2]]
    a = Matrix([[1, 2], [3, 4]])
    jacobian = jacrev(lambda x: a @ Vector(x))([1.0, 1.0])  # of Values: it depends on those in a
    assert [[entry.data for entry in row] for row in jacobian] == a.data
    assert (Vector([Dual(1.0, 1.0)]) @ Vector([Dual(3.0)])).tangent == 3.0


# -- What is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attempt", "kind", "message"),
    [
        (lambda v, a: v + Vector([1, 2]), ValueError, r"add: found shapes \(3,\) and \(2,\)"),
        (lambda v, a: a + v, ValueError, r"add: found shapes \(2, 2\) and \(3,\), expected equal"),
        (lambda v, a: v + [1, 2, 3], TypeError, r"found a Vector and a list, .*Vector\(data\)"),
        (lambda v, a: a @ v, ValueError, r"@: found shapes \(2, 2\) and \(3,\), expected 2 as the"),
        (lambda v, a: v @ a, ValueError, r"@: found shapes \(3,\) and \(2, 2\), expected 3 as the"),
        (lambda v, a: v.dot([1, 2, 3]), TypeError, "found a Vector and a list, expected a Vector"),
        (lambda v, a: v @ 3, TypeError, "found a Vector and an int, expected a Vector or a Matrix on both"),
        (lambda v, a: Vector([]), ValueError, "Vector: found no numbers"),
        (lambda v, a: v[3:], ValueError, "Vector: found no numbers"),
        (lambda v, a: Vector("12"), TypeError, "Vector: found '12' of type str, expected a sequence of numbers"),
        (lambda v, a: Vector(3), TypeError, "Vector: found 3 of type int, expected a sequence"),
        (lambda v, a: Vector([[1]]), TypeError, r"found \[1\] of type list, expected one real number"),
        (lambda v, a: Vector([v]), TypeError, "found Vector.* of type Vector, expected one real"),
        (lambda v, a: Vector({0: 1, 1: 2}), TypeError, "Vector: found {0: 1, 1: 2} of type dict, expected a seq"),
        (lambda v, a: Vector({3, 1}), TypeError, "Vector: found {1, 3} of type set, expected a sequence"),
        (lambda v, a: Matrix({(1, 2): 3}), TypeError, "Matrix: found {.*} of type dict, expected a sequence of"),
        (lambda v, a: Matrix([{3, 1}]), TypeError, "Matrix, a row: found {1, 3} of type set, expected a seq"),
        (lambda v, a: v * pandas.Series([1, 2, 3]), TypeError, "unsupported operand"),
        (lambda v, a: pandas.Series([1, 2, 3]) * v, TypeError, "found a Vector and a Series"),
        (lambda v, a: a * pandas.DataFrame([[1, 2]]), TypeError, "unsupported operand"),
        (lambda v, a: pandas.DataFrame([[1, 2]]) - a, TypeError, "found a Matrix and a DataFrame"),
        (lambda v, a: pandas.DataFrame([[1, 2, 3]]) / v, TypeError, "a Vector and a DataFrame"),
        (lambda v, a: Matrix([1, 2]), TypeError, "Matrix, a row: found 1 of type int, expected a sequence"),
        (lambda v, a: Matrix(3), TypeError, "Matrix: found 3 of type int, expected a sequence of rows"),
        (lambda v, a: Matrix([[1], [1, 2]]), ValueError, r"rows of lengths \[1, 2\], expected"),
        (lambda v, a: Matrix([]), ValueError, r"rows of lengths \[\], expected at least one row"),
        (lambda v, a: v < v, TypeError, "compare or format: found a Vector, expected one"),
        (lambda v, a: v.map(lambda x: "a"), TypeError, "found 'a' of type str"),
        (lambda v, a: Value(v), TypeError, "found Vector.* of type Vector, expected one real"),
        (lambda v, a: draw(v), TypeError, "draw: found a Vector, expected a Value"),
        (lambda v, a: a @ [1, 2], TypeError, r"@: found a Matrix and a list, .*Vector\(\[1, 2\]\)"),
        (lambda v, a: v[5], IndexError, r"Vector\[...\]: found 5, expected an index from 0 to 2, or a slice"),
        (lambda v, a: v[[0, 1]], TypeError, r"Vector\[...\]: found \[0, 1\], expected an index from"),
        (lambda v, a: a[0, 7], IndexError, r"Vector\[...\]: found 7, expected an index from 0 to 1"),
        (lambda v, a: v.backward(), TypeError, r"found a Vector of shape \(3,\), expected one"),
    ],
)  # fmt: skip
def test_what_is_refused(attempt, kind, message):
    with pytest.raises(kind, match=message):
        attempt(Vector([1, 2, 3]), Matrix([[1, 2], [3, 4]]))
