"""The random graphs that other tests draw."""

from random_graphs import OPERATIONS, cube

from autodiff import Value, ops
from autodiff.graph import topological_order


def test_the_table_of_random_graphs_has_every_operation():
    used = set()
    for apply in OPERATIONS:
        node = apply(Value(0.5), Value(0.7), Value(0.9))
        used |= {n._operation for n in topological_order(node) if n.parents}
    assert {*ops.PAGE} - used == {ops.largest}  # which only a gradient holds
    assert used - {*ops.PAGE} == {cube}
