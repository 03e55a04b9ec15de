"""Vectors, programs, formulas and training runs as notebooks show them."""

import html.parser
import math
import re

import pytest

from autodiff import Expression, Matrix, Value, Vector, optim, sin
from autodiff.nn.training import History
from autodiff.pictures import displays


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


def test_a_graph_is_its_formula():
    x, y = Value(3.0, label="x"), Value(4.0, label="<y>")
    assert Text(displays.formula([x * y + x**2])).found == ["x·<y> + x² = 21"]
    assert displays.formula([x * 2, x * 3]).count("<br>") == 1


def test_a_history_has_a_curve():
    page = History([4.0, 2.0, 1.0])._repr_html_()  # a straight line on a logarithmic scale
    assert 'points="0.0,2.0 120.0,40.0 240.0,78.0"' in page
    assert 'aria-label="the loss of each epoch"' in page
    assert 'points="0.0,2.0 120.0,40.0 240.0,78.0"' in History([4.0, 2.0, 0.0])._repr_html_()  # 0
    assert 'points="0.0,2.0 240.0,78.0"' in History([4.0, 1.0])._repr_html_()
    assert "<svg" not in History([math.nan, 1.0])._repr_html_()
    assert "<svg" not in History([1.0])._repr_html_()
    many = re.search('points="(.*?)"', History([1.0] * 1000)._repr_html_())[1].split()
    assert (len(many), many[0], many[-1]) == (250, "0.0,78.0", "239.3,78.0")  # at most one a pixel


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adagrad, optim.RMSprop, optim.Adam])
def test_optimisers_say_their_options(kind):
    text = repr(kind([Value(1.0)], lr=0.1))
    assert text.startswith(f"{kind.__name__}(1 parameter, lr=0.1")
    assert "0x" not in text
