"""A computation in words: its formula and derivatives, or what it consists of if it is large."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..compiler.printer import Notation
from ..errors import counted
from ..graph import is_current
from ..tracing import Formula, name_of_result, over_formulas, whole
from ..value import Value
from .scene import Leaves
from .texts import number, printable, raised

LONGEST_FORMULA = 120  # characters; a longer one gives way to a summary


def description(
    nodes: Sequence[Value], labels: Mapping[Value, str], gradients: Mapping[Value, Any], digits: int
) -> str:
    """What a graph computes: "c = a·b + b³ = 0; ∂c/∂a = 2, ∂c/∂b = 8"; a summary if it is large.

    nodes: those of the graph in topological order.
    """
    root = nodes[-1]
    names = {x: printable(labels.get(x, "")).replace("\n", " ").strip(" ") for x in nodes}
    formula = _formula(nodes, names) if len(nodes) <= 30 else ""
    result = number(root.data, digits)
    if not root.parents or 0 < len(formula) <= LONGEST_FORMULA:
        value = " = ".join(filter(None, [names[root], formula, result]))
        output = names[root] or name_of_result(names.values())
        slopes = [
            f"∂{output}/∂{names[x]} = {number(gradients[x], digits)}"
            for x in nodes
            if not x.parents and names[x] and x in gradients and x is not root
        ]
        return "; ".join([value, ", ".join(slopes)]) if slopes else value
    leaves = Leaves(list(nodes))
    roles = [leaves.role(x) for x in nodes if not x.parents]
    counts = [(role, roles.count(role)) for role in ("input", "parameter", "constant")]
    parts = ", ".join(counted(count, role) for role, count in counts if count)
    operations = counted(sum(bool(x.parents) for x in nodes), "operation")
    result = f"{names[root]} = {result}" if names[root] else f"the output is {result}"
    return f"{operations} on {parts}; {result}"


def _formula(nodes: Sequence[Value], names: Mapping[Value, str]) -> str:
    """The output as a formula of the inputs; "" for a leaf, and if numbers have changed."""
    notation = Notation()
    formulas: dict[Value, Any] = {}
    for node in nodes:
        if node.parents:
            if not is_current(node):
                return ""
            inputs = [formulas[parent] for parent in node.parents]
            notation.chosen = False
            formulas[node] = over_formulas(node, inputs, notation)[0]
            if notation.chosen:  # the formula of its lines holds only at these numbers
                formulas[node] = whole(node, inputs, notation)
        elif names[node]:
            formulas[node] = Formula(notation, names[node], (), node.data)
        else:
            formulas[node] = node.data
    formula = formulas[nodes[-1]]
    if not nodes[-1].parents or not isinstance(formula, Formula):
        return ""
    return raised(notation.of(formula).replace(" - ", " − "))
