"""A computation in words: its formula and derivatives, or what it consists of if it is large."""

from collections.abc import Mapping, Sequence

from ..compiler.symbolic import Symbol, op_of
from ..compiler.tracing import Formulas, name_of_result
from ..engine.admission import AnyNumber
from ..engine.errors import counted
from ..engine.graph import is_current
from ..engine.value import Value
from .scene import Scene
from .texts import number, printable, raised

LONGEST_FORMULA, MOST_NODES = 120, 30  # characters and nodes; with more, there is a summary


def description(scene: Scene, gradients: Mapping[Value, AnyNumber]) -> str:
    """What a graph computes: "c = a·b + b³ = 0; ∂c/∂a = 2, ∂c/∂b = 8"; a summary if it is large."""
    nodes, root = scene.nodes, scene.nodes[-1]
    names = {x: printable(scene.leaves.label(x)).replace("\n", " ").strip(" ") for x in nodes}
    text, result = formula_of(nodes, names), number(root._number())
    if not root.parents or 0 < len(text) <= LONGEST_FORMULA:
        value = " = ".join(filter(None, [names[root], text, result]))
        output = names[root] or name_of_result(names.values())
        slopes = [
            f"∂{output}/∂{names[x]} = {number(gradients[x])}"
            for x in nodes
            if not x.parents and names[x] and x in gradients and x is not root
        ]
        return "; ".join([value, ", ".join(slopes)]) if slopes else value
    roles = [scene.leaves.role(x) for x in nodes if not x.parents]
    parts = ", ".join(
        counted(roles.count(kind), kind)
        for kind in ("input", "parameter", "constant")
        if kind in roles
    )
    operations = counted(len(nodes) - len(roles), "operation")
    result = f"{names[root]} = {result}" if names[root] else f"the output is {result}"
    return f"{operations} on {parts}; {result}"


def formula_of(nodes: Sequence[Value], names: Mapping[Value, str]) -> str:
    """The last node as a formula of the leaves; "" for a leaf, if it is long, and if numbers have
    changed.
    """
    if not nodes[-1].parents or len(nodes) > MOST_NODES:
        return ""
    writer = Formulas()
    formulas: dict[Value, Symbol | float] = {}
    for node in nodes:
        if node._operation:
            if not is_current(node):
                return ""
            inputs = [formulas[parent] for parent in node.parents]
            formulas[node] = writer.made(op_of(node._operation), tuple(inputs), node._number())
        else:
            value = node._number()
            formulas[node] = writer.made(names[node], (), value) if names[node] else value
    return raised(writer.notation.of(formulas[nodes[-1]]).replace(" - ", " − "))
