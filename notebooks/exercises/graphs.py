"""Pictures of a computation for the first notebooks, which do not know about Values yet."""

from collections.abc import Callable
from typing import Any

from autodiff import Value, draw


def graph_of(f: Callable[..., Any], edges: str | None = None, **inputs: float) -> Any:
    """A drawing of the computation of f at these inputs.

    With edges="local" each arrow shows the derivative of one operation with respect to one of its
    arguments.
    """
    leaves = {name: Value(x, label=name) for name, x in inputs.items()}
    result = f(**leaves)
    result.label = result.label or "y"
    return draw(result, edges=edges)
