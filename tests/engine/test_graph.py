"""Reading a graph: its order, its adjoints, the backward pass in steps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import cases

import autodiff as ad
from autodiff import Value, adjoints, steps, topological_order, trace
from autodiff.engine.graph import depths


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
