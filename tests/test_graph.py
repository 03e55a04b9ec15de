"""Reading a graph."""

from hypothesis import given
from hypothesis import strategies as st

from autodiff import Value, dot
from autodiff.graph import adjoints, topological_order


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=40))
def test_every_node_comes_once_and_after_its_parents(pairs):
    nodes = [Value(1.0), Value(2.0)]
    for i, j in pairs:
        nodes.append(nodes[i % len(nodes)] + nodes[j % len(nodes)])
    order = topological_order(nodes[-1])
    position = {node: i for i, node in enumerate(order)}
    assert len(position) == len(order)
    assert order[-1] is nodes[-1]
    assert all(position[p] < position[n] for n in order for p in n.parents)


def test_parents_come_from_left_to_right():
    a, b, c = (Value(1.0, label=name) for name in "abc")
    root = (c + a) * (b + a)
    assert [n.label or n.op for n in topological_order(root)] == ["c", "a", "+", "b", "+", "*"]


@given(st.integers(1, 30))
def test_the_adjoint_is_the_sum_over_all_paths(n):
    x = y = Value(1.0)
    for _ in range(n):
        y = y + y
    assert adjoints(y)[x] == 2.0**n


def test_each_closure_runs_once():
    x = y = Value(1.0)
    runs = []
    for _ in range(20):
        y = y + y
        closure = y._backward
        y._backward = lambda g, closure=closure: runs.append(g) or closure(g)
    adjoints(y)
    assert len(runs) == 20
    assert adjoints(y)[x] == 2.0**20


def test_adjoints_of_inputs_that_do_not_matter_are_zero():
    x, y = Value(1.0), Value(2.0)
    assert adjoints(x * 2, inputs=[y, x])[y] == 0.0


def test_many_parents_are_walked_once():
    xs = [Value(float(i)) for i in range(200)]
    y = dot(xs, xs)
    assert len(topological_order(y)) == 201
    assert [adjoints(y)[x] for x in xs] == [2.0 * i for i in range(200)]
