"""Evaluation trace tables."""

import math

import numpy as np
import pytest
from random_graphs import cube
from tables import cases

import autodiff as ad
from autodiff import log, tanh, trace


@pytest.mark.parametrize(("mode", "kind", "derivatives", "formulas"), [
    ("forward", "tangent", [0, 1, 3, 0, 4, 4, 4],
     "ẋ₁ | ẋ₂ | v̇₋₁·v₀ + v̇₀·v₋₁ | v̇₋₁·(1 / v₋₁) | v̇₁ + v̇₀ | v̇₃ - v̇₂ | v̇₄"),
    ("reverse", "adjoint", [-4.33, 4, 1, -1, 1, 1, 1],
     "v̄₂·(1 / v₋₁) + v̄₁·v₀ | v̄₃·1 + v̄₁·v₋₁ | v̄₃·1 | v̄₄·(-1) | v̄₄·1 | ȳ | 1"),
])  # fmt: skip
def test_the_table_of_article_001(mode, kind, derivatives, formulas):
    table = trace(lambda x1, x2: x1 * x2 + x2 - log(x1), 3, -4, mode=mode, wrt=1)
    rows = table.rows
    assert [row.variable for row in rows] == ["v₋₁", "v₀", "v₁", "v₂", "v₃", "v₄", "y"]
    values = [3, -4, -12, 1.10, -16, -17.10, -17.10]
    assert [row.value for row in rows] == pytest.approx(values, abs=5e-3)
    assert [row.derivative_value for row in rows] == pytest.approx(derivatives, abs=5e-3)
    assert " | ".join(row.derivative_formula for row in rows) == formulas
    lines, html = str(table).splitlines(), table._repr_html_()
    assert lines[0].split() == ["primal", "value", kind, "value"]
    assert len(lines) - 1 == html.count("<tr>") == 1 + len(rows)
    assert "v₁ + v₀" in html


# -- How steps are written ------------------------------------------------------------------------


@ad.operation
def own(x):  # takes only floats, so it is written by its name
    return math.sin(x), lambda grad: (grad * math.cos(x),)


half = ad.operation(lambda x: (x * x, lambda grad: (grad * 2 * math.fabs(x),)))


@ad.operation
def ninth(x):  # one of one's own in another: its lines stand in the derivative
    y = cube(x)
    return cube(y), lambda grad: (grad * cube(y) * 9 / x,)


@cases(("f", "formulas"), [  # a function of a and b, and the formulas of its steps at (3, 2)
    (lambda a, b: (a - (b + a)) * (a / b) ** 2 / -b, "v₀ + v₋₁ | v₋₁ / v₀ | -v₀ | v₋₁ - v₁ | v₂**2 | v₄·v₅ | v₆ / v₃ | v₇"),
    (lambda a, b: a / (a * b) * (a / b) - a / -b, "v₋₁·v₀ | v₋₁ / v₀ | -v₀ | v₋₁ / v₁ | v₋₁ / v₃ | v₄·v₂ | v₆ - v₅ | v₇"),
    (lambda a, b: 2 - a, "2 - v₋₁ | v₁"),
    (lambda a, b: a - -2.0, "v₋₁ - (-2) | v₁"),
    (lambda a, b: a * math.nan, "v₋₁·nan | v₁"),
    (lambda a, b: a + (-0.0), "v₋₁ + (-0) | v₁"),
    (lambda a, b: a**b + 2**a + a**3 / 1, "v₋₁**v₀ | 2**v₋₁ | v₋₁**3 | v₁ + v₂ | v₃ / 1 | v₄ + v₅ | v₆"),
    (lambda a, b: cube(a), "cube(v₋₁) | v₁"),
])  # fmt: skip
def test_formulas_have_brackets_where_they_are_needed_and_only_there(f, formulas):
    rows = trace(f, 3.0, 2.0).rows
    assert " | ".join(row.formula for row in rows[2:]) == formulas


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("f", [ad.logsumexp, ad.prod])
def test_a_table_is_as_long_as_its_computation(f, mode):
    """Of long formulas both ends are shown: others contain them, and lines are equally long."""
    few, many = (trace(f, [1.0] * n, mode=mode) for n in (50, 200))
    for text in (repr, lambda table: table._repr_html_()):
        assert len(text(many)) < 5 * len(text(few))
    assert " … " in repr(many)


@cases(("f", "point", "mode", "formulas"), [  # a function, its arguments, how derivatives are written
    (lambda x: tanh(x), [0.5], "forward", "ẋ | v̇₀·(1 - v₁·v₁) | v̇₁"),  # the closure holds the result
    # read aloud, 1 / 2·v₁ is v₁ / 2; the derivative of the square root is 1 / (2·v₁)
    (lambda x: ad.sqrt(x), [4.0], "forward", "ẋ | v̇₀·(1 / (2·v₁)) | v̇₁"),
    (lambda a, b: a / (a * b), [3.0, 2.0], "forward",
     "ȧ | ḃ | v̇₋₁·v₀ + v̇₀·v₋₁ | v̇₋₁·(1 / v₁) + v̇₁·(-v₂ / v₁) | v̇₂"),
    (lambda x, y: x**y, [2.0, 3.0], "forward", "ẋ | ẏ | v̇₋₁·v₀·v₋₁**(v₀ - 1) + v̇₀·v₁·log(v₋₁) | v̇₁"),
    (lambda x, y: x**y, [-2.0, 3.0], "forward", "ẋ | ẏ | v̇₋₁·v₀·v₋₁**(v₀ - 1) | v̇₁"),  # y has no slope
    (lambda x, y: x, [3.0, 2.0], "forward", "ẋ | ẏ | v̇₋₁"),
    (lambda x, y: x, [3.0, 2.0], "reverse", "z̄ | 0 | 1"),
    # shifted by the largest, a number
    (lambda x: ad.logsumexp([x, 3.0]), [2.0], "forward", "ẋ | v̇₀·(exp(v₀ - 3) / sum(exp(v₀ - 3), 1)) | v̇₁"),
    # of a choice, what the numbers choose; a comparison has slope zero
    (lambda x: ad.maximum(abs(x), x * 1), [-3.0], "reverse", "v̄₂·1 + v̄₁·(-1) | v̄₃·1 | v̄₃·0 | ȳ | 1"),
    (lambda x, y: ad.where(ad.less(x, y), x * y, y), [2.0, 3.0], "reverse",
     "v̄₂·v₀ + v̄₁·0 | v̄₃·where(v₁, 0, 1) + v̄₂·v₋₁ + v̄₁·0 | v̄₃·0 | v̄₃·where(v₁, 1, 0) | z̄ | 1"),
    (lambda x: own(x) + half(x), [0.5], "reverse", "v̄₂·1 + v̄₁·0.877583 | v̄₃·1 | v̄₃·1 | ȳ | 1"),
    (lambda x: ninth(x), [2.0], "forward", "ẋ | v̇₀·(v₁·9 / v₀) | v̇₁"),
    (lambda v1, x1: v1 * x1, [2.0, 3.0], "forward", "v̇1 | ẋ₁ | v̇₋₁·v₀ + v̇₀·v₋₁ | v̇₁"),
    # no mark stands on a word
    (lambda rate, w: w[0] * rate, [2.0, [3.0]], "forward", "1 | ẇ[0] | v̇₀·v₋₁ + v̇₋₁·v₀ | v̇₁"),
    (lambda rate, w: w[0] * rate, [2.0, [3.0]], "reverse", "v̄₁·v₀ | v̄₁·v₋₁ | ȳ | 1"),
])  # fmt: skip
def test_derivatives_are_written_with_the_variables_of_the_table(f, point, mode, formulas):
    rows = trace(f, *point, mode=mode).rows
    assert " | ".join(row.derivative_formula for row in rows) == formulas


def test_both_modes_have_the_derivatives_of_the_engine():
    def f(x, y):
        z = ad.where(ad.less(x, y), x * y, y) + own(x) - half(y)
        return log(x) * y + tanh(x * y) / (1 + ad.exp(-y)) + ad.maximum(x, y) * 0.5 + z

    gradient = ad.grad(f, (0, 1))(0.7, -1.3)
    reverse = [row.derivative_value for row in trace(f, 0.7, -1.3, mode="reverse").rows[:2]]
    forward = [trace(f, 0.7, -1.3, wrt=wrt).rows[-1].derivative_value for wrt in (0, "y")]
    assert reverse == pytest.approx(gradient, rel=1e-14)  # a message is rounded once more
    assert forward == pytest.approx(gradient, rel=1e-14)
    rows = trace(lambda x, y: x * y + x, 0.0, math.inf, wrt="y").rows
    assert rows[-1].derivative_value == 0.0  # as jvp finds: x does not move


def test_a_function_of_an_array_may_have_steps_of_a_thousand_inputs():
    rows = trace(lambda x: ad.prod(x), np.ones(1100)).rows
    assert (rows[7].formula, rows[1100].formula[:6]) == ("x[7]", "prod(v")


def test_trees_and_their_names():
    def f(p, rest):
        return np.array((p["W"] @ p["x"])[1] * rest[0].sum() * rest[1])

    p, rest = {"W": np.array([[1.0, 2.0], [3.0, 4.0]]), "x": [5.0, 6.0]}, (ad.Vector([7.0]), 8.0)
    names = [f"p['W'][{i}][{j}]" for i in (0, 1) for j in (0, 1)]
    names += ["p['x'][0]", "p['x'][1]", "rest[0][0]", "rest[1]"]
    rows = trace(f, p, rest, mode="reverse").rows
    assert [row.formula for row in rows[:8]] == names
    exact = [0, 0, 5 * 56, 6 * 56, 3 * 56, 4 * 56, 39 * 8, 39 * 7]  # of (3 · 5 + 4 · 6) · 7 · 8
    assert [row.derivative_value for row in rows[:8]] == exact
    for i, name in enumerate(names):
        for wrt in (name, i, np.int64(i - 8)):
            assert trace(f, p, rest, wrt=wrt).rows[-1].derivative_value == exact[i]


@cases(("f", "args", "name", "adjoint"), [
    (lambda x: x * 2, [1.0], "y", "ȳ"),
    (lambda y: y * 2, [1.0], "z", "z̄"),
    (lambda y: y[0] * 2, [[1.0]], "z", "z̄"),
    (lambda y, z, f=1: y * z * f, [1.0] * 3, "g", "ḡ"),
    (lambda y, z, f, g, y1: y * 2, [1.0] * 5, "y₂", "ȳ₂"),
])  # fmt: skip
def test_the_output_has_a_letter_that_no_input_has(f, args, name, adjoint):
    row = trace(f, *args, mode="reverse").rows[-1]
    assert (row.variable, row.derivative) == (name, adjoint)
