# pyright: analyzeUnannotatedFunctions=false
"""Notebook 6: matrices with their slopes, walks counted; and its exercises."""

from collections.abc import Callable, Mapping
from typing import Any
from unittest.mock import patch

import numpy as np

from autodiff import graph

from . import figures
from .verdicts import Exercise, Hint, solutions

FORMULA = "nothing here yet. Put a formula where the dots are."


def random_at(*shapes):
    """Numbers for A, x and b of several shapes."""
    rng = np.random.default_rng(1)
    return {
        f"A of shape {(m, n)}": (rng.normal(size=(m, n)), rng.normal(size=n), rng.normal(size=m))
        for m, n in shapes
    }


# -- 1. The gradient of a misfit ------------------------------------------------------------------


def solution_1(a, x, b):
    r = a @ x - b
    return np.outer(r / np.linalg.norm(r), x)


check_1 = Exercise(
    solution_1,
    at=random_at((3, 3), (2, 3), (4, 2)),
    nothing=f"The gradient for A: {FORMULA}",
    praise="Right: G = r / |r| goes to A x, and A gets G xᵀ. It is the box, with B = x.",
    otherwise="The norm sends G = r / |r| to r = A x - b. Then G Bᵀ, with x for B.",
    slips={
        "That is for half the norm squared. What is it to be divided by?": "/ np.linalg.norm(r) →",
        "That is for the norm squared. How does the root change it?": "/ np.linalg.norm(r) → * 2",
        "Twice too much: the root halves what the square doubles.": "(r / → (2 * r /",
        "The sign: which way does r = A x - b go when an entry of A grows?": "(r / → (-r /",
        "Transposed: entry i, k is r_i x_k / |r|.": "r / np.linalg.norm(r), x → x, r / np.linalg.norm(r)",
        "Divided twice: the norm sends r / |r|.": "norm(r) → norm(r) ** 2",
        "Where is b?": "a @ x - b → a @ x",
        "Where is x? An entry of A is multiplied by one.": ", x) → , np.ones_like(x))",
        "That is the norm itself, a number. Its gradient has an entry for each of A.": (
            "np.linalg.norm(a @ x - b)"
        ),
        "That is for x: Aᵀ G. The matrix A is asked for.": (
            "a.T @ (a @ x - b) / np.linalg.norm(a @ x - b)"
        ),
    },
)

# -- 2. The trace ---------------------------------------------------------------------------------


def both(answer, a, b):
    found = answer(a, b)
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise Hint("Return two arrays: the gradient for A, and that for B.")
    for name, part in zip("AB", found):
        yield f"the gradient for {name}", part


def solution_2(a, b):
    return b.T, a.T  # G is the identity matrix


check_2 = Exercise(
    solution_2,
    ask=both,
    at={
        f"A of shape {(m, n)}": (
            np.arange(1.0, m * n + 1).reshape(m, n),
            np.cos(np.arange(n * m).reshape(n, m)),
        )
        for m, n in [(3, 3), (2, 4), (4, 1)]
    },
    nothing="Nothing here yet: put a formula where the dots are, for A and for B.",
    praise="Right: G is the identity, so G Bᵀ = Bᵀ and Aᵀ G = Aᵀ.",
    otherwise="What is G, entry by entry, for a trace?",
    slips={
        "For A: transpose it.": "(b, a.T)",
        "For B: transpose it.": "(b.T, a)",
        "For A: G is not all ones, because the trace sees the diagonal only.": (
            "(np.ones((len(a), len(a))) @ b.T, a.T)"
        ),
        "For B: G is not all ones, because the trace sees the diagonal only.": (
            "(b.T, a.T @ np.ones((len(a), len(a))))"
        ),
        "For A: that is the one for the other factor.": ["(a.T, b.T)", "(a, b)"],
        "That looks like G itself. Go on: G Bᵀ for A, Aᵀ G for B.": "(np.eye(*a.shape), np.eye(*b.shape))",
        "For A: the trace counts each entry of the diagonal once.": "(2 * b.T, 2 * a.T)",
        "For A: G is the identity, not A B.": "(a @ b @ b.T, a.T @ a @ b)",
    },
)

# -- 3. A line through five points ----------------------------------------------------------------


def praise_3(gradient):
    """Where 300 steps against the gradient lead, for the line through five points."""
    times, b = np.linspace(0, 1, 5), np.array([1.1, 1.4, 2.1, 2.4, 3.1])
    a, x = np.column_stack([np.ones(5), times]), np.array([0.3, -0.2])
    for _ in range(300):
        x = x - 0.1 * np.asarray(gradient(a.copy(), x.copy(), b.copy()))
    return (
        f"Right: 300 steps downhill lead to {x[0]:.4f} + {x[1]:.4f} t, the line of least "
        "squares that NumPy finds, too."
    )


def solution_3(a, x, b):
    return 2 * a.T @ (a @ x - b)


check_3 = Exercise(
    solution_3,
    at=random_at((3, 3), (5, 2), (2, 4)),
    nothing=f"The gradient for x: {FORMULA}",
    praise=praise_3,
    otherwise="G = 2 r goes to A x, with r = A x - b. And to x: Aᵀ G.",
    slips={
        "Half of it: the square brings a factor 2.": "2 * →",
        "That points downhill; a gradient points uphill.": "2 * → -2 *",
        "That is for the norm itself, without the square.": (
            "a.T @ (a @ x - b) / np.linalg.norm(a @ x - b)"
        ),
        "That is for the mean of the squares; here it is the sum.": "2 * → 2 / len(b) *",
        "Where is b?": "- b →",
        "Where is b? And the square brings a factor 2.": "a.T @ a @ x",
        "That is the loss. Its gradient has an entry for each of x.": "sum((a @ x - b) ** 2)",
        "That is 2 r, which goes to A x. One step further: Aᵀ G.": "a.T @ →",
        "That is for A: G xᵀ. The gradient for x is asked for.": "2 * np.outer(a @ x - b, x)",
        "Aᵀ, not A: the gradient gathers the columns.": "a.T → a",
        "That is the best x itself. Its gradient at any x is asked for.": "np.linalg.lstsq(a, b)[0]",
    },
)

# -- Figures and counts ---------------------------------------------------------------------------


def lit_matrices(a: Any, b: Any, slopes: Mapping[str, Any]) -> None:
    """For each nudged entry: a and b, with the entries that occur in the slopes shaded, and the slopes."""
    import matplotlib.pyplot as plt

    entries = {f"A[{i}, {k}]": number for (i, k), number in np.ndenumerate(np.array(a.data))}
    entries |= {f"B[{k}, {j}]": number for (k, j), number in np.ndenumerate(np.array(b.data))}
    size = (8.3, 2.7 * len(slopes))
    figure, grid = plt.subplots(len(slopes), 3, figsize=size, layout="constrained")
    said = []
    for panels, (name, moved) in zip(grid, slopes.items()):
        shaded = [entries[name], *moved[moved != 0]]
        for axes, matrix, title in zip(panels, (a, b), "AB"):
            numbers = np.array(matrix.data)
            table(axes, numbers, np.isin(numbers, shaded), title)
        table(panels[2], moved, moved != 0, f"dC / d{name}")
        said.append(f"{name} moves only entries {np.argwhere(moved).tolist()} of C = A B")
    figures.show(figure, "Matrices, with the entries that matter shaded: " + "; ".join(said) + ".")


def table(axes: Any, numbers: Any, shaded: Any, title: str) -> None:
    from matplotlib.colors import ListedColormap

    axes.imshow(shaded, cmap=ListedColormap(["white", "#9fd0f0"]), vmin=0, vmax=1)
    for (i, j), number in np.ndenumerate(numbers):
        axes.text(j, i, f"{number:g}", ha="center", va="center")
    height, width = numbers.shape
    axes.set(title=title, xticks=range(width), yticks=range(height), xlabel="column", ylabel="row")


def walks_back(job: Callable[[], Any]) -> int:
    """How many times a graph is walked back while a function without arguments runs."""
    with patch.object(graph, "backpropagated", wraps=graph.backpropagated) as walk:
        job()
    return walk.call_count


solution = solutions(globals())
