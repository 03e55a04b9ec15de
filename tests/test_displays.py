"""Vectors and programs as notebooks show them."""

import html.parser

import pytest

from autodiff import Expression, Matrix, Value, Vector, optim, sin


class Text(html.parser.HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_data(self, data):
        self.found.append(data)


def shown(x):
    return Text(x._repr_html_()).found


def test_vectors_and_matrices_are_tables():
    assert shown(Vector([1, -2.5, 1e-9])) == ["3", "1", "−2.5", "1e−9"]
    matrix = Matrix([[1, 2], [3, 4]])
    assert shown(matrix) == ["2 × 2", "1", "2", "3", "4"]
    matrix.sum().backward()
    assert matrix._repr_html_().count('title="grad 1"') == 4
    large = shown(Matrix([[float(i + j) for j in range(30)] for i in range(30)]))
    assert len(large) == 1 + 20 * 12
    assert large[-1] == "58"


def test_a_program_is_shown_with_the_colours_of_its_language():
    x, y = Value(3.0), Value(4.0)
    program = Expression(sin(x) * y).compile([x, y], wrt=[x, y])
    assert program._repr_markdown_() == f"```python\n{program.source}```"


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adagrad, optim.RMSprop, optim.Adam])
def test_optimisers_say_their_options(kind):
    text = repr(kind([Value(1.0)], lr=0.1))
    assert text.startswith(f"{kind.__name__}(1 parameter, lr=0.1")
    assert "0x" not in text
