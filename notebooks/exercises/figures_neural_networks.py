"""The figures of notebook 7."""

from io import BytesIO

import matplotlib.pyplot as plt
import numpy as np
import PIL.Image
from IPython.display import Image, display
from matplotlib.colors import LogNorm
from matplotlib.patches import Ellipse

BLUE, ORANGE, GREEN, PINK, BLACK = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000"


def look():
    """Set what all figures have in common."""
    plt.rcParams.update({"font.size": 11, "figure.facecolor": "white"})
    plt.rcParams.update({"figure.constrained_layout.use": True})


def show(figure, alt):
    """Display a figure as a PNG of 128 colours: a fifth of the size, and as sharp."""
    drawn, small = BytesIO(), BytesIO()
    figure.savefig(drawn, dpi=120)
    plt.close(figure)
    PIL.Image.open(drawn).convert("RGB").quantize(128).save(small, "png", optimize=True)
    width = round(100 * figure.get_figwidth())
    display(Image(small.getvalue(), width=width, alt=alt))


def learned(xs, ys, runs):
    """Loss by step, and the answers at the end, for {name: (losses, answers)}."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
    right.plot(xs, ys, "o", color="#999999", label="targets")
    styles = [(ORANGE, "-"), (BLUE, "-"), (PINK, "--"), (GREEN, "--")]
    for (name, (losses, answers)), (colour, dashes) in zip(runs.items(), styles):
        left.semilogy(range(1, len(losses) + 1), losses, dashes, color=colour, linewidth=1)
        right.plot(xs, answers, dashes, color=colour, label=name, linewidth=2)
    left.set(xlabel="step", ylabel="loss", ylim=(1e-6, 2))
    right.set(xlabel="x", ylabel="answer")
    right.legend(fontsize=9)
    show(figure, f"Loss by step, and answers against x: {', '.join(runs)}")


def bends(activations, bump):
    """Each activation with its slope, {name: (values, slopes)}, and a sum of three relus."""
    z = np.linspace(-3, 3, len(bump))
    figure, axes = plt.subplots(1, 3, figsize=(9, 3))
    for panel, (name, (values, slopes)) in zip(axes, activations.items()):
        panel.plot(z, values, color=BLUE, linewidth=2, label=name)
        panel.plot(z, slopes, "--", color=ORANGE, linewidth=2, label="its slope")
        panel.legend(fontsize=10)
    axes[2].plot(z, bump, color=GREEN, linewidth=2)
    axes[2].set_title("relu(z + 1) − 2 relu(z) + relu(z − 1)", fontsize=10)
    for panel in axes:
        panel.set_xlabel("z")
        panel.grid(color="#dddddd")
    show(figure, "relu, tanh and their slopes; three relus that make a bump")


def heat_maps(found, limit=1e6):
    """The size of every activation and gradient, {name: (activations, gradients)}."""
    figure, axes = plt.subplots(2, len(found), figsize=(9, 5.2), layout="compressed")
    colours = plt.get_cmap("viridis").copy()
    colours.set_bad("#bbbbbb")  # the logarithm of 0
    for column, (name, pair) in zip(axes.T, found.items()):
        for panel, sizes in zip(column, pair):
            layers, neurons = sizes.shape
            box = (0.5, layers + 0.5, neurons + 0.5, 0.5)
            shades = np.ma.masked_equal(sizes.T, 0.0)
            norm = LogNorm(1 / limit, limit)
            image = panel.imshow(shades, norm=norm, cmap=colours, extent=box, aspect="auto")
            panel.set(xticks=[1, 3, 5, 7, 9], yticks=[])
        column[0].set_title(name, fontsize=11)
        column[1].set_xlabel("layer")
    axes[0, 0].set_ylabel("activation of each neuron")
    axes[1, 0].set_ylabel("gradient of each neuron")
    figure.colorbar(image, ax=axes, extend="both", label="size (grey: exactly 0)")
    show(figure, f"Sizes of activations and gradients, layer by layer: {', '.join(found)}")


def valley_paths(paths, valley):
    """30 steps of each optimiser over the contours of the valley, and its height by step."""
    figure, axes = plt.subplots(2, 3, figsize=(9.6, 5.4))
    marks = zip(paths.items(), [BLUE, ORANGE, GREEN, PINK, BLACK], "os^Dv")
    for i, ((name, points), colour, mark) in enumerate(marks):
        panel = axes.flat[i]
        for level in (0.3, 1.5, 4):  # the ellipse on which x²/20 + y² is the level
            size = 2 * np.sqrt(20 * level), 2 * np.sqrt(level)
            panel.add_patch(Ellipse((0, 0), *size, fill=False, color="#bbbbbb"))
        panel.plot(*points[:31].T, color=colour, marker=mark, markersize=3.5, linewidth=1)
        panel.plot(0.0, 0.0, "*", color="#E69F00", markersize=13, markeredgecolor="black")
        panel.set(xlim=(-9, 5), xticks=[-8, -4, 0, 4], xlabel="x" if i > 2 else "")
        panel.set(ylim=(-2.6, 2.6), yticks=[-2, 0, 2], ylabel="" if i % 3 else "y")
        panel.set_title(name, fontsize=11)
        heights = valley(*points[::2].T)
        style = {"color": colour, "marker": mark, "markersize": 4, "markevery": (i, 5)}
        axes[1, 2].semilogy(range(0, 2 * len(heights), 2), heights, **style)
    axes[1, 2].set(xlabel="step", ylim=(1e-9, 30))
    axes[1, 2].set_title("f by step", fontsize=11)
    show(figure, f"Paths into a valley: {', '.join(paths)}")
