"""Evaluation traces and the backward pass in steps."""

import math

import numpy as np
import pytest

import autodiff as ad
from autodiff import Value, dot, log, steps, tanh, trace


def article(x1, x2):
    return x1 * x2 + x2 - log(x1)


def test_the_forward_table_of_article_001():
    rows = trace(article, 3, -4, mode="forward", wrt=1).rows
    assert [row.variable for row in rows] == ["v₋₁", "v₀", "v₁", "v₂", "v₃", "v₄", "y"]
    assert [row.value for row in rows] == pytest.approx(
        [3, -4, -12, 1.10, -16, -17.10, -17.10], abs=5e-3
    )
    assert [row.derivative_value for row in rows] == [0, 1, 3, 0, 4, 4, 4]
    assert [row.formula for row in rows] == [
        "x₁", "x₂", "v₋₁·v₀", "log(v₋₁)", "v₁ + v₀", "v₃ - v₂", "v₄",
    ]  # fmt: skip
    assert [row.derivative_formula for row in rows] == [
        "ẋ₁", "ẋ₂", "v̇₋₁·v₀ + v̇₀·v₋₁", "v̇₋₁·(1 / v₋₁)", "v̇₁ + v̇₀", "v̇₃ - v̇₂", "v̇₄",
    ]  # fmt: skip


def test_the_reverse_table_of_article_001():
    rows = trace(article, 3, -4, mode="reverse").rows
    found = [row.derivative_value for row in rows]
    assert found == pytest.approx([-4.33, 4, 1, -1, 1, 1, 1], abs=5e-3)
    assert [row.derivative_formula for row in rows] == [
        "v̄₂·(1 / v₋₁) + v̄₁·v₀", "v̄₃·1 + v̄₁·v₋₁", "v̄₃·1", "v̄₄·(-1)", "v̄₄·1", "ȳ", "1",
    ]  # fmt: skip


def test_a_formula_says_the_variable_where_the_closure_holds_the_result():
    rows = trace(lambda x: tanh(x), 0.5).rows
    assert rows[1].derivative_formula == "v̇₀·(1 - v₁·v₁)"


def test_brackets_where_they_are_needed_and_only_there():
    rows = trace(lambda a, b: (a - (b + a)) * (a / b) ** 2 / -b, 3.0, 2.0).rows
    formulas = [r.formula for r in rows]
    assert formulas[2:] == [
        "v₀ + v₋₁", "v₋₁ / v₀", "-v₀", "v₋₁ - v₁", "v₂**2", "v₄·v₅", "v₆ / v₃", "v₇",
    ]  # fmt: skip
    for f, formula in [
        (lambda a: 2 - a, "2 - v₀"), (lambda a: a - -2.0, "v₀ - (-2)"),
        (lambda a: a * math.nan, "v₀·nan"), (lambda a: a + (-0.0), "v₀ + (-0)"),
    ]:  # fmt: skip
        assert trace(f, 1.0).rows[1].formula == formula


def test_sequences_constants_and_repeated_inputs():
    rows = trace(lambda x, w: dot(x, w) + x[0] * x[0] + 7, [1.0, 2.0], [3.0, 4.0], wrt="x[0]").rows
    assert [r.formula for r in rows[:4]] == ["x[0]", "x[1]", "w[0]", "w[1]"]
    assert rows[-1].value == 11 + 1 + 7
    assert rows[-1].derivative_value == 3 + 2
    assert "v₂ = v₋₃·v₋₃" in str(
        trace(lambda x, w: dot(x, w) + x[0] * x[0], [1.0, 2.0], [3.0, 4.0])
    )


def test_the_output_is_called_y_unless_an_input_is():
    assert trace(lambda x: x * 2, 1.0).rows[-1].variable == "y"
    assert trace(lambda x, y: x * y, 1.0, 2.0).rows[-1].variable == "z"
    assert trace(lambda y, z, f: y * z * f, 1.0, 2.0, 3.0).rows[-1].variable == "result"


def test_the_result_may_be_an_input_and_a_slope_infinity_times_0():
    rows = trace(lambda x, y: x, 3.0, 2.0, wrt="x").rows
    assert [row.derivative_value for row in rows] == [1.0, 0.0, 1.0]
    assert (rows[2].formula, rows[2].derivative_formula) == ("v₋₁", "v̇₋₁")
    rows = trace(lambda x, y: x, 3.0, 2.0, mode="reverse").rows
    assert [row.derivative_formula for row in rows] == ["z̄", "0", "1"]
    slope = trace(lambda x, y: x * y + x, 0.0, math.inf, wrt="y").rows[-1].derivative_value
    assert slope == 0.0  # as jvp finds: x does not move


def test_both_modes_have_the_derivatives_of_the_engine():
    def f(x, y):
        return log(x) * y + tanh(x * y) / (1 + ad.exp(-y)) + ad.maximum(x, y) * 0.5

    gradient = ad.grad(f, (0, 1))(0.7, -1.3)
    reverse = [row.derivative_value for row in trace(f, 0.7, -1.3, mode="reverse").rows[:2]]
    forward = [trace(f, 0.7, -1.3, wrt=wrt).rows[-1].derivative_value for wrt in (0, "y")]
    assert reverse == pytest.approx(gradient, rel=1e-14)  # a message is rounded once more
    assert forward == pytest.approx(gradient, rel=1e-14)


def test_text_is_aligned_and_html_is_escaped():
    table = trace(article, 3, -4, mode="reverse")
    lines = str(table).splitlines()
    assert len(lines) == 2 + len(table.rows)
    assert lines[0].split() == ["primal", "value", "adjoint", "value"]
    html = table._repr_html_()
    assert html.count("<tr>") == 1 + len(table.rows)
    assert "v₁ + v₀" in html


def test_steps_are_the_backward_pass_and_change_nothing():
    a, b = Value(2.0, label="a"), Value(5.0, label="b")
    u = a * b
    y = u + a
    found = list(steps(y))
    assert [step.node for step in found] == [y, u, b, a]
    assert [step.adjoint for step in found] == [1.0, 1.0, 2.0, 6.0]
    assert [(m.parent, m.local, m.message) for m in found[1].messages] == [
        (a, 5.0, 5.0),
        (b, 2.0, 2.0),
    ]
    assert [m.message for step in found for m in step.messages if m.parent is a] == [1.0, 5.0]
    assert (a.grad, b.grad, u.grad, y.grad) == (0.0, 0.0, 0.0, 0.0)


def test_steps_send_upstream_times_local():
    x = Value(0.5)
    for step in steps((x * 3).exp() * x):
        for m in step.messages:
            if m.local is not None:
                assert m.message == pytest.approx(step.adjoint * m.local, rel=1e-15)


def test_powers_and_products_below_a_line():
    """Read aloud, 1 / 2·v₁ is v₁ / 2; the derivative of the square root is 1 / (2·v₁)."""
    rows = trace(lambda x: x**0.5 + ad.sqrt(x), 4.0).rows
    assert rows[2].derivative_formula == "v̇₀·(1 / (2·v₂))"
    rows = trace(lambda a, b: a / (a * b) * (a / b) - a / -b, 3.0, 2.0).rows
    formulas = [row.formula for row in rows[2:]]
    assert " ".join(formulas) == "v₋₁·v₀ v₋₁ / v₀ -v₀ v₋₁ / v₁ v₋₁ / v₃ v₄·v₂ v₆ - v₅ v₇"
    assert rows[5].derivative_formula == "v̇₋₁·(1 / v₁) + v̇₁·(-v₄ / v₁)"
    rows = trace(lambda x, y: x**y + 2**x + x**3 / 1, 2.0, 3.0).rows
    assert [row.formula for row in rows[2:5]] == ["v₋₁**v₀", "2**v₋₁", "v₋₁**3"]
    assert rows[2].derivative_formula == "v̇₋₁·v₀·v₋₁**(v₀ - 1) + v̇₀·v₁·log(v₋₁)"


def test_a_choice_is_the_one_that_the_numbers_make():
    rows = trace(lambda x: ad.maximum(abs(x), x * 1), -3.0, mode="reverse").rows
    assert [row.formula for row in rows] == ["x", "abs(v₀)", "v₀·1", "maximum(v₁, v₂)", "v₃"]
    assert rows[0].derivative_formula == "v̄₂·1 + v̄₁·(-1)"


def test_a_comparison_has_slope_zero():
    f = lambda x, y: ad.where(ad.less(x, y), x * y, y)  # noqa: E731
    rows = trace(f, 2.0, 3.0, mode="reverse").rows
    assert [row.derivative_value for row in rows[:4]] == [3.0, 2.0, 0.0, 1.0]
    assert rows[0].derivative_formula == "v̄₂·v₀ + v̄₁·0"
    assert [row.derivative_value for row in trace(f, 2.0, 3.0).rows[:4]] == [1.0, 0.0, 0.0, 3.0]
    x, y = Value(2.0), Value(3.0)
    sent = [[(m.local, m.message) for m in step.messages] for step in steps(f(x, y))]
    assert [(0.0, 0.0), (1.0, 1.0), (0.0, 0.0)] in sent


def test_a_formula_of_a_thousand_arguments():
    row = trace(lambda x: ad.prod(x), [1.0] * 1100).rows[1100]
    assert row.formula.startswith("prod(v")


def test_steps_go_on_with_the_numbers_that_they_began_with():
    x = Value(3.0)
    y = x * x * x
    walk = steps(y)
    next(walk)
    ad.Expression(y).propagate({x: 5.0})
    assert [[m.message for m in step.messages] for step in walk] == [[9.0, 9.0], []]


def test_an_operation_of_ones_own_is_written_by_its_lines_or_by_its_name_if_it_takes_only_floats():
    cube = ad.operation(lambda x: (x * x * x, lambda grad: (grad * 3 * x * x,)))
    assert trace(cube, 2.0).rows[1].formula == "v₀·v₀·v₀"

    @ad.operation
    def own(x):
        return math.sin(x), lambda grad: (grad * math.cos(x),)

    half = ad.operation(lambda x: (x * x, lambda grad: (grad * 2 * math.fabs(x),)))
    for mode in ("forward", "reverse"):
        rows = trace(lambda x: own(x) + half(x), 0.5, mode=mode).rows
        assert [row.formula for row in rows] == ["x", "own(v₀)", "v₀·v₀", "v₁ + v₂", "v₃"]
        slope = math.cos(0.5) + 1.0
        assert rows[0 if mode == "reverse" else -1].derivative_value == pytest.approx(slope)
    assert rows[0].derivative_formula == "v̄₂·1 + v̄₁·0.877583"


def test_arrays_are_traced_as_vectors_and_tables():
    rows = trace(lambda v: ad.prod(v + v), np.array([1.0, 3.0]), mode="reverse").rows
    assert [row.formula for row in rows[:2]] == ["v[0]", "v[1]"]
    assert [row.derivative_value for row in rows[:2]] == [12.0, 4.0]


def test_an_input_called_v1_is_not_the_first_result():
    rows = trace(lambda v1, x1: v1 * x1, 2.0, 3.0).rows
    assert [row.formula for row in rows] == ["v1", "x₁", "v₋₁·v₀", "v₁"]
    assert rows[0].derivative_formula == "v̇1"


def test_a_condition_receives_nothing_though_what_depends_on_it_has_no_derivative():
    # ∂(a**n)/∂n is nan at a < 0, but n = (x < y) sends nothing: ∂f/∂x = 1 and ∂f/∂y = 0
    def f(x, y):
        return x ** ad.less(x, y)

    assert ad.grad(f, argnums=(0, 1))(-3.0, 2.0) == (1.0, 0.0)
    rows = trace(f, -3, 2, mode="reverse").rows
    assert [row.derivative_value for row in rows[:2]] == [1.0, 0.0]
    assert math.isnan(rows[2].derivative_value)


def test_a_closure_that_the_engine_does_not_run_sends_nothing():
    # p = x**y is used by a comparison alone, so it is sent nothing; ∂p/∂y is nan
    x, y = Value(-1.0, label="x"), Value(1.0, label="y")
    p = x**y
    root = ad.where(ad.less(p, 2.0), 3 * x, y)
    adjoint = ad.adjoints(root)
    assert (adjoint[x], adjoint[y], adjoint[p]) == (3.0, 0.0, 0.0)
    for step in steps(root):
        if step.node is p:
            assert [m.message for m in step.messages] == [0.0, 0.0]
