"""The random graphs that other tests draw."""

from random_graphs import OPERATIONS

from autodiff import Value, ops
from autodiff.graph import topological_order


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
