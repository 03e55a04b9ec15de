"""Figures of notebook 1: secants, the valleys of the error, and a secant to drag."""

import base64
import html
import io
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

GREY, ORANGE, BLUE, GREEN = "0.65", "#D55E00", "#0072B2", "#009E73"
COLOURS = {"forward": ORANGE, "backward": BLUE, "central": GREEN, "complex": GREEN}


def look() -> None:
    """Set what all figures have in common."""
    plt.rcParams.update({"font.size": 12, "figure.facecolor": "white", "axes.titlesize": 13})


class SecantPage:
    """A page with cos, its tangent at x and a secant through x + h, and sliders for x and h."""

    def __repr__(self) -> str:
        return "<a secant to drag: open this notebook in Jupyter>"

    def _repr_html_(self) -> str:
        page = resources.files("exercises").joinpath("secant.html").read_text("utf-8")
        style = "width: 100%; max-width: 760px; height: 440px; border: 0; background: white"
        # Inside the frame is a still picture, for notebooks that are not trusted.
        return (
            '<iframe title="A secant that becomes a tangent" sandbox="allow-scripts" '
            f'style="{style}" srcdoc="{html.escape(page)}">{still_secants()}</iframe>'
        )


def still_secants() -> str:
    """cos with its tangent at 2 and three secants, as an image of a page."""
    figure, ax = plt.subplots(figsize=(7.2, 3.6), dpi=100, layout="constrained")
    t = np.linspace(-1, 6, 300)
    ax.plot(t, np.cos(t), color=GREY, lw=5, label="cos x")
    for h, colour in ((2.0, BLUE), (1.0, GREEN), (0.3, ORANGE)):
        slope = (np.cos(2 + h) - np.cos(2)) / h
        ax.plot(t, np.cos(2) + slope * (t - 2), color=colour, lw=2, label=f"secant, h = {h}")
        ax.plot(2 + h, np.cos(2 + h), "o", color=colour)
    ax.plot(t, np.cos(2) - np.sin(2) * (t - 2), "k--", lw=1.5, label="tangent")
    ax.plot(2, np.cos(2), "ko", ms=8)
    ax.set(xlabel="x", ylim=(-1.7, 1.7))
    ax.legend(fontsize=10, loc="lower left")
    file = io.BytesIO()
    figure.savefig(file, format="png")
    plt.close(figure)
    data = base64.b64encode(file.getvalue()).decode()
    return f'<img alt="cos, its tangent at 2 and three secants" src="data:image/png;base64,{data}">'


def plot_secants(x: float, h: float, slopes: Mapping[str, float]) -> None:
    """cos with its tangent at x; and both minus the tangent, with a secant for each slope."""
    t = np.linspace(x - 1.6 * h, x + 1.6 * h, 200)
    tangent = np.cos(x) - np.sin(x) * (t - x)
    points = np.array([x - h, x, x + h])
    over_tangent = np.cos(points) - np.cos(x) + np.sin(x) * (points - x)
    _, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.4), layout="constrained")
    left.plot(t, np.cos(t), color=GREY, lw=5, label="cos x")
    left.plot(t, tangent, "k--", lw=1.5, label="tangent at 2")
    left.plot(points, np.cos(points), "ko", ms=8, zorder=3)
    left.set(xlabel="x", title="cos and its tangent")
    left.legend()
    right.plot(t, np.cos(t) - tangent, color=GREY, lw=5, label="cos x − tangent")
    right.axhline(0, color="k", ls="--", lw=1.5)
    for name, slope in slopes.items():
        end = 2 if name == "central" else 1  # a point on the secant
        line = over_tangent[end] + (slope + np.sin(x)) * (t - points[end])
        right.plot(
            t, line, color=COLOURS[name], lw=2, label=f"{name}, error {slope + np.sin(x):+.3f}"
        )
    right.plot(points, over_tangent, "ko", ms=8, zorder=3)
    right.set(xlabel="x", title="The same, less the tangent, with the secants")
    right.set_ylim(-0.12, 0.24)
    right.legend(loc="upper center", fontsize=11)
    plt.show()


def plot_valley(steps: Any, one_point: Sequence[Any], many_points: Sequence[Any]) -> None:
    """Errors of forward and central differences against the step, with the slopes expected."""
    _, ax = plt.subplots(figsize=(9, 5.4), layout="constrained")
    for name, one, many in zip(("forward", "central"), one_point, many_points):
        colour = COLOURS[name] if name == "forward" else BLUE
        ax.loglog(steps, one, ".", color=colour, ms=4, alpha=0.5, label=f"{name}, x = 1.3")
        ax.loglog(steps, many, color=colour, lw=2, label=f"{name}, median over [1, 2]")
    ax.loglog([2e-7, 2e-4], [1, 1e-3], "k--", lw=1)
    ax.loglog([2e-3, 0.2], [3e-3, 0.3], "k--", lw=1)
    ax.loglog([2e-2, 0.9], [1.2e-5, 0.9**2 * 0.03], "k--", lw=1)
    for text, place in (("1/h", (8e-6, 4e-2)), ("h", (1.1e-2, 4e-2)), ("h²", (0.2, 4e-4))):
        ax.text(*place, text)
    ax.set(xlabel="step h", ylabel="relative error", title="Errors of p′ in float32")
    ax.set_ylim(1e-6, 10)
    ax.legend(fontsize=10, loc="lower left")
    plt.show()


def plot_errors(steps: Any, errors: Mapping[str, Any]) -> None:
    """Errors of several methods against the step."""
    _, ax = plt.subplots(figsize=(9, 4.8), layout="constrained")
    looks = {"forward": (ORANGE, "-"), "central": (BLUE, "-"), "complex": (GREEN, "--")}
    for name, error in errors.items():
        colour, dashes = looks[name]
        ax.loglog(steps, error, dashes, color=colour, lw=2, label=name)
    ax.set(xlabel="step h", ylabel="relative error", title="Errors of p′ in float64")
    ax.set_ylim(1e-17, 10)
    ax.legend(loc="center left")
    plt.show()
