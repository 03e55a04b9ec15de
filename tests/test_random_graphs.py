"""Tests of the random graphs that other tests draw, and of the rounding errors that they allow."""

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import allowed
from random_graphs import OPERATIONS, code, for_all, graphs, layered

import autodiff as ad
from autodiff import Value, ops
from autodiff.graph import topological_order


def signature(y):
    """Everything that two equal graphs have in common."""
    order = topological_order(y)
    position = {node: i for i, node in enumerate(order)}
    return [(node.op, node.data, [position[x] for x in node.parents]) for node in order]


@for_all(st.one_of(graphs(), layered()), examples=30)
def test_the_code_of_a_graph_builds_it_again(graph):
    leaves, y = graph
    names = {}
    exec(code(leaves, y), names)
    assert [x.data for x in names["leaves"]] == [x.data for x in leaves]
    assert signature(names["y"]) == signature(y)


def test_a_failure_prints_the_code_of_the_graph():
    @settings(max_examples=100)
    @given(graphs())
    def no_graph_has_a_sine(graph):
        assert all(node.op != "sin" for node in topological_order(graph[1]))

    with pytest.raises(AssertionError) as failure:
        no_graph_has_a_sine()
    assert any(note.startswith("import") and "ad.sin(" in note for note in failure.value.__notes__)


def test_the_table_of_random_graphs_has_every_operation():
    used = set()
    for apply in OPERATIONS:
        node = apply(Value(0.5), Value(0.7), Value(0.9))
        used |= {n._rule for n in topological_order(node) if n._rule}
    rules = {
        rule
        for name, rule in vars(ops).items()
        if getattr(rule, "__module__", "") == "autodiff.ops" and not name.startswith("_")
    }
    assert rules - used == {ops.largest}  # which only a gradient holds
    assert len(used - rules) == 1  # cube, one of the user's own


def test_what_cancels_may_be_off_by_the_size_of_what_cancelled():
    x, y = Value(1e8 + 1), Value(1e8)
    of_value, _ = allowed(x * x - y * y, [x, y])
    assert 1e16 * 2.3e-16 < of_value < 1e16 * 1e-14
    of_value, _ = allowed(x - x, [x])
    assert of_value == 0.0
    _, (of_gradient,) = allowed(ad.sum([x * 1e-3, -x, x]), [x])  # 1e-3, or (1e-3 - 1) + 1
    assert 2.3e-16 < of_gradient < 1e-14


def test_the_error_allowed_is_that_of_50_digits():
    x = Value(2.5)
    y = ad.exp(ad.sin(x) * 10.0) - ad.tanh(x) ** 3
    of_value, (of_gradient,) = allowed(y, [x])
    with mpmath.workdps(50):
        f = lambda x: mpmath.exp(mpmath.sin(x) * 10) - mpmath.tanh(x) ** 3  # noqa: E731
        value, slope = f(mpmath.mpf(2.5)), mpmath.diff(f, mpmath.mpf(2.5))
    assert abs(y.data - value) <= of_value < 1e-13 * abs(value)
    assert abs(ad.adjoints(y)[x] - slope) <= of_gradient < 1e-12 * abs(slope)
