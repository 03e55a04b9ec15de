"""Training runs and graphs as notebooks show them."""

import math
import re

import pytest

from autodiff import Value
from autodiff.nn.training import History
from autodiff.pictures import displays

HISTORIES = [  # a straight line on a logarithmic scale, if that can be
    ([4.0, 2.0, 1.0], "0.0,2.0 120.0,40.0 240.0,78.0"),
    ([4.0, 2.0, 0.0], "0.0,2.0 120.0,40.0 240.0,78.0"),
    ([4.0, 1.0], "0.0,2.0 240.0,78.0"),
    ([math.nan, 1.0], None),
    ([1.0], None),
]


@pytest.mark.parametrize(("losses", "points"), HISTORIES)
def test_a_history_has_a_curve(losses, points):
    page = History(losses)._repr_html_()
    assert re.findall('points="(.*?)"', page) == ([points] if points else [])
    assert page.count('aria-label="the loss of each epoch"') == bool(points)


def test_a_curve_has_at_most_one_point_a_pixel():
    (many,) = re.findall('points="(.*?)"', History([1.0] * 1000)._repr_html_())
    assert (many.count(","), many[:8], many[-10:]) == (250, "0.0,78.0", "239.3,78.0")


def test_a_graph_is_its_formula():
    x, y = Value(3.0, label="x"), Value(4.0, label="<y>")
    assert displays.formula([x * y + x**2]) == "<code>x·&lt;y&gt; + x² = 21</code>"
    assert displays.formula([x * 2, x * 3]).count("<br>") == 1
