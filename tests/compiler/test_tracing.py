"""Evaluation traces, and reading a graph: its order, its adjoints, the backward pass in steps."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import cube
from tables import cases

import autodiff as ad
from autodiff import Value, adjoints, log, steps, tanh, topological_order, trace
from autodiff.engine.graph import depths


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
    (lambda a, b: a, "v₋₁"),
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


# -- The order of a graph, its adjoints, the backward pass in steps ---------------------------------


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=40))
def test_every_node_comes_once_and_after_its_parents(pairs):
    nodes = [Value(1.0), Value(2.0)]
    for i, j in pairs:
        nodes.append(nodes[i % len(nodes)] + nodes[j % len(nodes)])
    order, depth = topological_order(nodes[-1]), depths(nodes[-1])
    assert order[-1] is nodes[-1]
    assert len(order) == len(depth)
    assert set(order) == set(depth)
    assert list(depth.values()) == sorted(depth.values())
    for i, node in enumerate(order):
        assert {*node.parents} <= {*order[:i]}
        assert depth[node] == max([1 + depth[p] for p in node.parents], default=0)


@pytest.mark.parametrize("n", [1, 2, 20, 100])
def test_the_adjoint_is_the_sum_over_all_paths_and_each_closure_runs_once(n):
    x = y = Value(1.0)
    for _ in range(n):
        y = y + y
    seen = []
    for node in topological_order(y)[1:]:
        node._closure = lambda g, closure=node._closure: seen.append(closure) or closure(g)
    assert adjoints(y)[x] == y.data == 2.0**n
    assert len(seen) == n


def test_adjoints_are_pure():
    x, y, stranger = Value(2.0), Value(5.0), Value(1.0)
    z = x * y + x
    assert adjoints(z) == {x: 6.0, y: 2.0, z.parents[0]: 1.0, z: 1.0}
    assert (x.grad, y.grad, z.grad) == (0.0, 0.0, 0.0)
    assert adjoints(z, inputs=[y]) == {y: 2.0, z.parents[0]: 1.0, z: 1.0}
    assert adjoints(x, inputs=[y]) == {y: 0.0}
    assert adjoints(z, inputs=[stranger, x])[stranger] == 0.0


def test_steps_are_the_backward_pass_and_change_nothing():
    a, b = Value(2.0, label="a"), Value(5.0, label="b")
    u = a * b
    y = u * a
    assert [
        (step.node, step.adjoint, [(m.parent, m.local, m.message) for m in step.messages])
        for step in steps(y)
    ] == [
        (y, 1.0, [(u, 2.0, 2.0), (a, 10.0, 10.0)]),
        (u, 2.0, [(a, 5.0, 10.0), (b, 2.0, 4.0)]),
        (b, 4.0, []),
        (a, 20.0, []),
    ]
    assert (a.grad, b.grad, u.grad, y.grad) == (0.0, 0.0, 0.0, 0.0)


def test_steps_go_on_with_the_numbers_that_they_began_with():
    x = Value(3.0)
    y = x * x * x
    walk = steps(y)
    next(walk)
    ad.Expression(y).propagate({x: 5.0})
    assert [[m.message for m in step.messages] for step in walk] == [[9.0, 9.0], []]


@cases(("f", "at", "slopes"), [
    # ∂(a**n)/∂n is nan at a < 0, but n = (x < y) passes nothing on
    (lambda x, y: x ** ad.less(x, y), (-3.0, 2.0), (1.0, 0.0)),
    # ∂(x**y)/∂y is nan at x < 0, but x**y is used by a comparison alone, so it is sent nothing
    (lambda x, y: ad.where(ad.less(x**y, 2.0), 3 * x, y), (-1.0, 1.0), (3.0, 0.0)),
    # x * y is a condition alone, or is sent something by others too, before and after
    (lambda x, y: ad.where(x * y, x, y), (2.0, 3.0), (1.0, 0.0)),
    (lambda x, y: (lambda s: ad.less(s, x) + ad.where(s, x, y) + s)(x * y), (2.0, 3.0), (4.0, 2.0)),
])  # fmt: skip
def test_what_conditions_use_is_sent_nothing_though_there_is_no_derivative(f, at, slopes):
    assert ad.grad(f, (0, 1))(*at) == slopes
    rows = trace(f, *at, mode="reverse").rows
    assert tuple(row.derivative_value for row in rows[:2]) == slopes
    leaves = tuple(map(Value, at))
    assert {*map(type, adjoints(f(*leaves)).values())} == {float}
    sent = [message for step in steps(f(*leaves)) for message in step.messages]
    assert tuple(sum(m.message for m in sent if m.parent is x) for x in leaves) == slopes
