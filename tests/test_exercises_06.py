"""The exercises of notebook 6: right answers, wrong ones, and what is said to each."""

import numpy as np
import pytest
from exercises.vectors_and_matrices import (
    check_1,
    check_2,
    check_3,
    solution_1,
    solution_2,
    solution_3,
)

from autodiff import Matrix, Vector, grad


def right(check, answer):
    good, text = check.verdict(answer)
    assert good, text
    assert text.startswith("Right")


def hint(check, answer):
    good, text = check.verdict(answer)
    assert not good, text
    return text


def misfit(a, x, b):
    r = a @ x - b
    return r, np.linalg.norm(r)


def by_loops(a, x, b):
    r, size = misfit(a, x, b)
    return [[r[i] * x[k] / size for k in range(len(x))] for i in range(len(b))]


def by_the_engine(a, x, b):
    matrix = Matrix(a)
    (matrix @ Vector(x) - Vector(b)).norm().backward()
    return matrix.grad


def by_nudging(a, x, b, h=1e-6):
    found = np.zeros_like(a)
    for i, k in np.ndindex(a.shape):
        moved = a.copy()
        moved[i, k] += h
        found[i, k] = (misfit(moved, x, b)[1] - misfit(a, x, b)[1]) / h
    return found


@pytest.mark.parametrize("answer", [solution_1, by_loops])
def test_the_gradient_of_a_misfit(answer):
    right(check_1, answer)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (..., "Nothing here yet"),
        (None, "Nothing here yet"),
        (lambda a, x, b: ..., "nothing here yet"),
        (lambda a, x, b: None, "nothing here yet"),
        (np.eye(2), "Expected a function"),
        (lambda a, x: a, "Your code raises TypeError"),
        (lambda a, x, b: a @ b, "Your code raises ValueError"),
        (lambda a, x, b: "r xᵀ / |r|", "expected an array, found a str"),
        (lambda a, x, b: 1.0, "has shape ()"),
        (lambda a, x, b: x, "has the shape of what it belongs to"),
        (lambda a, x, b: np.outer(x, a @ x - b), "the transpose of what fits"),
        (lambda a, x, b: np.zeros(a.shape), "The norm sends G = r / |r|"),
        (lambda a, x, b: np.outer(a @ x - b, x), "half the norm squared"),
        (lambda a, x, b: 2 * np.outer(a @ x - b, x), "the norm squared"),
        (lambda a, x, b: 2 * solution_1(a, x, b), "Twice too much"),
        (lambda a, x, b: -solution_1(a, x, b), "The sign"),
        (lambda a, x, b: np.outer(a @ x - b, x) / misfit(a, x, b)[1] ** 2, "Divided twice"),
        (lambda a, x, b: solution_1(a, x, 0 * b), "Where is b?"),
        (lambda a, x, b: solution_1(a, x, b) / x, "Where is x?"),
        (by_nudging, "is it a finite difference?"),
        (by_the_engine, "leaves the work to the package"),
    ],
)
def test_another_gradient_of_the_misfit_gets_its_hint(answer, said):
    assert said in hint(check_1, answer)


def test_a_square_matrix_shows_a_transpose_that_the_shape_does_not():
    def transposed(a, x, b):
        found = solution_1(a, x, b)
        return found.T if a.shape[0] == a.shape[1] else found

    assert "Transposed: entry i, k" in hint(check_1, transposed)


def test_the_trace():
    right(check_2, solution_2)
    right(check_2, lambda a, b: [np.eye(len(a)) @ b.T, a.T @ np.eye(len(a))])


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (..., "Nothing here yet"),
        (lambda a, b: (..., ...), "Nothing here yet"),
        (lambda a, b: None, "Nothing here yet"),
        ((1, 2), "Expected a function"),
        (lambda a, b: b.T, "Return two arrays"),
        (lambda a, b: (b.T, a.T, a), "Return two arrays"),
        (lambda a, b: (b, a), "The gradient for A has shape"),
        (lambda a, b: (b.T, a), "The gradient for B has shape"),
        (lambda a, b: (a, b), "For A: what is G"),
        (lambda a, b: (np.ones((len(a), len(a))) @ b.T, a.T), "For A: G is not all ones"),
        (lambda a, b: (b.T, a.T @ np.ones((len(a), len(a)))), "For B: G is not all ones"),
        (lambda a, b: (np.eye(*a.shape), a.T), "looks like G itself"),
        (lambda a, b: (2 * b.T, a.T), "For A: what is G"),
        (lambda a, b: (b.T, -a.T), "For B: what is G"),
        (lambda a, b: ("b.T", "a.T"), "expected an array, found a str"),
        (lambda a, b: (Matrix(b).T.data, a.T), "leaves the work to the package"),
        (lambda a, b: a @ a, "Your code raises ValueError"),
    ],
)
def test_another_gradient_of_the_trace_gets_its_hint(answer, said):
    assert said in hint(check_2, answer)


@pytest.mark.parametrize("swapped", [0, 1])
def test_square_factors_show_what_the_shape_does_not(swapped):
    def confused(a, b):
        found = [b.T, a.T]
        if a.shape == b.shape:
            found[swapped] = found[swapped].T
        return found

    def other(a, b):
        return (a.T, b.T) if a.shape == b.shape else (b.T, a.T)

    assert f"For {'AB'[swapped]}: transpose it" in hint(check_2, confused)
    assert "the one for the other factor" in hint(check_2, other)


def right_at_first(a, x, b):
    """Right for what the check compares, and wrong in the steps downhill."""
    found = solution_3(a, x, b)
    return found if len(b) != 5 or not np.array_equal(a[:, 0], np.ones(5)) else found + 1


@pytest.mark.parametrize(
    "answer",
    [
        solution_3,
        lambda a, x, b: 2 * (a.T @ a @ x - a.T @ b),
        lambda a, x, b: 2 * misfit(a, x, b)[0] @ a,
    ],
)
def test_a_line_through_five_points(answer):
    right(check_3, answer)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda a, x, b: ..., "nothing here yet"),
        (lambda a, x, b: a.T @ (a @ x - b), "Half of it"),
        (lambda a, x, b: -solution_3(a, x, b), "points downhill"),
        (lambda a, x, b: solution_3(a, x, b) / misfit(a, x, b)[1] / 2, "the norm itself"),
        (lambda a, x, b: solution_3(a, x, b) / len(b), "the mean of the squares"),
        (lambda a, x, b: solution_3(a, x, 0 * b), "Where is b?"),
        (lambda a, x, b: a.T @ a @ x, "Where is b? And the square"),
        (lambda a, x, b: 2 * np.outer(a @ x - b, x), "has the shape of what it belongs to"),
        (lambda a, x, b: np.zeros(len(x)), "G = 2 r goes to A x"),
        (lambda a, x, b: np.linalg.lstsq(a, b, rcond=None)[0], "G = 2 r goes to A x"),
        (lambda a, x, b: 2 * a @ (a @ x - b), "Your code raises ValueError"),
        (
            lambda a, x, b: grad(lambda x: (Vector(a[0]) @ x) ** 2)(x),
            "leaves the work to the package",
        ),
        (right_at_first, "the steps end at"),
    ],
)
def test_another_gradient_of_least_squares_gets_its_hint(answer, said):
    assert said in hint(check_3, answer)


@pytest.mark.parametrize("kind", [list, tuple])
def test_the_gradient_of_least_squares_may_be_a_sequence(kind):
    right(check_3, lambda a, x, b: kind(solution_3(a, x, b)))


def test_the_package_is_refused_in_favour_of_numpy():
    said = hint(check_1, by_the_engine)
    assert "NumPy" in said
    assert "math" not in said
