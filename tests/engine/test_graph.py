"""Reading a graph: its nodes in order, and their adjoints."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import autodiff as ad
from autodiff import Value, adjoints, topological_order
from autodiff.graph import depths


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


def test_a_condition_is_sent_nothing_beside_what_others_send():
    x, y = Value(2.0), Value(3.0)
    s = x * y
    for chosen, expected in (
        (ad.where(s, x, y), [1.0, 0.0, 0.0]),
        (ad.less(s, x) + ad.where(s, x, y) + s, [4.0, 2.0, 1.0]),
    ):
        assert [adjoints(chosen)[n] for n in (x, y, s)] == expected
