"""Figures and counts of notebook 6."""

from collections.abc import Callable, Mapping
from typing import Any
from unittest.mock import patch

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap

from autodiff import graph


def lit_matrices(a: Any, b: Any, slopes: Mapping[str, Any]) -> None:
    """For each nudged entry: a and b, with the entries that occur in the slopes shaded, and the slopes."""
    entries = {f"A[{i}, {k}]": number for (i, k), number in np.ndenumerate(np.array(a.data))}
    entries |= {f"B[{k}, {j}]": number for (k, j), number in np.ndenumerate(np.array(b.data))}
    size = (8.3, 2.7 * len(slopes))
    figure, grid = plt.subplots(len(slopes), 3, figsize=size, layout="constrained")
    for panels, (name, moved) in zip(grid, slopes.items(), strict=True):
        shaded = [entries[name], *moved[moved != 0]]
        for axes, matrix, title in zip(panels, (a, b), "AB", strict=False):
            numbers = np.array(matrix.data)
            _table(axes, numbers, np.isin(numbers, shaded), title)
        _table(panels[2], moved, moved != 0, f"dC / d{name}")
    plt.show()


def _table(axes: Any, numbers: Any, shaded: Any, title: str) -> None:
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
