"""Figures of notebook 8: where a model decides, and small images in rows."""

from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from autodiff import nn

BLUE, ORANGE = "#0072B2", "#D55E00"


def boundary(axes: Any, model: Any, points: Any, labels: Sequence[int]) -> None:
    """Where the output of a model with two inputs is above 0 and below, and the labelled points.

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
