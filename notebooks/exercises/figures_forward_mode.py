"""The figure of notebook 3, passes against inputs and results, and the counter behind it."""

from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt

from autodiff import jacfwd, jacrev, operation

STYLES = {jacfwd: ("#0072b2", "o-", "forward mode"), jacrev: ("#d55e00", "s--", "reverse mode")}


def look() -> None:
    """Set what all figures have in common."""
    plt.rcParams.update({"svg.hashsalt": "autodiff", "figure.facecolor": "white"})


def passes(jacobian: Callable[..., Any], function: Callable[[Any], Any], x: Any) -> int:
    """How many passes jacobian(function)(x) takes, if x or the result is one number.

    The one number goes through an operation that counts how often its derivative is used: forward
    mode does so once in each call of the function, reverse mode once in each walk back.
    """
    count = 0

    @operation
    def gate(x: Any) -> Any:
        def backward(grad: Any) -> tuple[Any]:
            nonlocal count
            count += 1
            return (grad,)

        return x, backward

    def gated(x: Any) -> Any:
        return gate(function(x)) if isinstance(x, list) else function(gate(x))

    jacobian(gated)(x)
    return count


def plot_passes() -> None:
    """Passes of both modes for n inputs and one result, and for one input and n results."""
    _, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
    sizes = range(1, 11)
    for jacobian, (colour, style, mode) in STYLES.items():
        by_inputs = [passes(jacobian, lambda x: sum(v * v for v in x), [1.0] * n) for n in sizes]
        by_results = [passes(jacobian, lambda x: [k * x for k in range(n)], 1.0) for n in sizes]
        left.plot(sizes, by_inputs, style, color=colour, label=mode)
        right.plot(sizes, by_results, style, color=colour, label=mode)
    left.set(title="n inputs, one result", xlabel="n", ylabel="passes")
    right.set(title="one input, n results", xlabel="n")
    left.legend()
    right.legend()
    plt.show()
