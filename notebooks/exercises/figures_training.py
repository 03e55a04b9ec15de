"""Figures of notebook 8: where a model decides, what it has learnt so far, small images in rows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from autodiff import nn

BLUE, ORANGE = "#0072B2", "#D55E00"


def boundary(axes: Any, model: Any, points: Any, labels: Sequence[int]) -> None:
    """Where the output of a model with two inputs is above and below 0, and the labelled points.

    The solid line is at 0, the dotted ones at 1 and -1.
    """
    across, up = np.linspace(-1.6, 2.6, 85), np.linspace(-1.1, 1.6, 55)
    grid = np.stack(np.meshgrid(across, up), axis=-1)
    score = nn.predict(model, grid.reshape(-1, 2)).reshape(grid.shape[:2])
    axes.contourf(across, up, score, [-99, 0, 99], colors=["#CFE4F2", "#FBE0CC"])
    lines = {"colors": "black", "linestyles": ["dotted", "solid", "dotted"]}
    axes.contour(across, up, score, [-1, 0, 1], **lines)
    for label, marker, color in [(-1, "o", BLUE), (1, "^", ORANGE)]:
        members = points[np.array(labels) == label]
        axes.plot(*members.T, marker, color=color, markersize=5, label=f"label {label}")
    axes.set(xlabel="first feature", ylabel="second feature")


def plot_snapshots(
    points: Sequence[float],
    heights: Sequence[float],
    grid: Any,
    truth: Any,
    snapshots: Mapping[int, Any],
) -> None:
    """Four panels, each with the data, the true function and the network's answers on the grid.

    Args:
        points, heights: the samples.
        grid, truth: where the curves are drawn, and the true function there.
        snapshots: the network's answers on the grid, by the number of epochs.
    """
    shared: dict[str, Any] = {"sharex": True, "sharey": True, "layout": "constrained"}
    figure, panels = plt.subplots(2, 2, figsize=(9, 4.5), **shared)
    for axes, (epochs, drawn) in zip(panels.flat, snapshots.items(), strict=True):
        axes.plot(points[::3], heights[::3], ".", color="#BBBBBB", markersize=3, label="data")
        axes.plot(grid, truth, "--", color=ORANGE, label="true function")
        axes.plot(grid, drawn, color=BLUE, label="network")
        axes.set_title(f"after {epochs} epoch{'s' if epochs > 1 else ''}", fontsize=12)
        axes.set(xlabel="x", ylabel="y")
        axes.label_outer()
    panels[0, 0].legend(fontsize=10, loc="upper left", markerscale=4)
    plt.show()


def show_images(images: Any, titles: Iterable[str], across: int = 10) -> None:
    """Images of 8 times 8 pixels in rows, dark ink on white, each with a title."""
    down = -(-len(images) // across)
    size = (9, down * (9 / across + 0.5))
    figure, panels = plt.subplots(down, across, figsize=size, layout="constrained")
    for axes in panels.flat:
        axes.set_axis_off()
    for axes, image, title in zip(panels.flat, images, titles, strict=False):
        axes.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        axes.set_title(title, fontsize=10)
    plt.show()
