"""Vectors and Matrices as notebooks show them."""

import re

from autodiff import Matrix, Vector


def shown(x):
    return [text for text in re.split("<[^>]*>", x._repr_html_()) if text]


def test_vectors_and_matrices_are_tables():
    assert shown(Vector([1, -2.5, 1e-9])) == ["3", "1", "−2.5", "1e−9"]
    matrix = Matrix([[1, 2], [3, 4]])
    assert shown(matrix) == ["2 × 2", "1", "2", "3", "4"]
    matrix.sum().backward()
    assert matrix._repr_html_().count('title="grad 1"') == 4


def test_of_a_large_one_the_first_entries_and_the_last_are_shown():
    large = shown(Matrix([[float(i + j) for j in range(30)] for i in range(30)]))
    assert len(large) == 1 + 20 * 12
    assert large[-1] == "58"
