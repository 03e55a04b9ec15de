# pyright: analyzeUnannotatedFunctions=false
"""Notebook 8: where a model decides, what it has learnt so far, small images; and its exercises."""

import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any

import numpy as np

from autodiff import Value, Vector, adjoints, exp, nn, optim, relu

from . import figures
from .figures import BLUE, ORANGE
from .verdicts import Exercise, Hint, a, number, solutions

XS, YS = [0.0, 1.0, 2.0, 3.0], [1.2, 2.8, 5.1, 6.9]  # the four points of the first line

# -- 1. The largest learning rate -----------------------------------------------------------------

bowl = [[7.0, 3.0], [3.0, 2.0]]  # twice the means of x², x and 1
SMALL, LARGE = (float(curvature) for curvature in np.linalg.eigvalsh(bowl))


def one_rate(answer):
    if np.ndim(answer):
        raise Hint("One number, please: the smaller of the two limits is what counts.")
    lr = number(answer)
    if not math.isfinite(lr):
        raise Hint(f"There is a finite limit, and {lr} is no number to train with.")
    return lr


def behaviour(lr):
    behaves = "does not diverge yet" if lr < 2 / LARGE else "diverges, and so do smaller ones"
    behaves = behaves if lr > 0 else "is no step downhill"
    return f"lr = {lr:.4g} {behaves}. For which lr is |1 - lr λ| = 1?"


def loss_after_200(lr):
    line = nn.Linear(1, 1, seed=0)
    descent = optim.SGD(line.parameters(), lr)
    return nn.fit(line, XS, YS, nn.mse_loss, descent, 200, progress=False).losses[-1]


def praise_1(lr):
    below, above = (loss_after_200(factor * 2 / LARGE) for factor in (0.98, 1.02))
    return (
        f"Right: 2 / λ = {2 / LARGE:.4f}. After 200 epochs with 2 % less the loss is {below:.3f}, "
        f"with 2 % more {above:,.0f}."
    )


def solution_1():
    curvatures = np.linalg.eigvalsh(bowl)
    return 2 / max(curvatures)  # there 1 - lr λ is -1 for the larger λ


check_1 = Exercise(
    float(solution_1()),
    ask=one_rate,
    close=0.002,
    praise=praise_1,
    otherwise=behaviour,
    slips={
        "With 1 / λ the factor 1 - lr λ is 0. It may go down to -1.": 1 / LARGE,
        "That is the limit of the flat direction. The steep one breaks first.": 2 / SMALL,
        "The smaller curvature is the patient one. Look at the other.": 1 / SMALL,
        "That is the curvature λ itself. For which lr is |1 - lr λ| = 1?": [LARGE, SMALL],
        "Half of λ: it is 2 / λ that makes |1 - lr λ| = 1.": LARGE / 2,
        "0.3 diverged in the last section, but a smaller one does, too.": 0.3,
        "0.1 learnt well in the first section. How far up can you go?": 0.1,
    },
)

# -- 2. Repair a step -----------------------------------------------------------------------------


def two_steps(step, lr, pairs):
    model = nn.Linear(1, 1, init=lambda inputs, outputs, rng: [[0.5]])
    for name in ("the first step", "the second step"):
        before = np.array([p.data for p in model.parameters()])
        step(model, [[x] for x, _ in pairs], [y for _, y in pairs], lr)
        yield name, np.array([p.data for p in model.parameters()]) - before


def solution_2(model, inputs, targets, lr):
    model.zero_grad()  # 1: forget the last step
    for x, y in zip(inputs, targets):
        (nn.mse_loss(model(x), y) / len(inputs)).backward()  # 2: the mean, not the sum
    for p in model.parameters():
        p.data -= lr * p.grad  # 3: downhill


check_2 = Exercise(
    solution_2,
    ask=two_steps,
    at={
        "the four points": (0.01, list(zip(XS, YS))),
        "three others": (0.02, [(1.0, 0.5), (-2.0, 3.0), (0.3, 0.7)]),
    },
    praise="Right, twice in a row: the mean, downhill, from a clean gradient.",
    otherwise="A step is -lr times the gradient of the mean loss.",
    slips={
        "It climbs: the loss goes up. Look at a sign.": [
            "model.zero_grad() → pass\n/ len(inputs) →\n-= → +=",
            "/ len(inputs) →\n-= → +=",
            "-= → +=",
        ],
        "Downhill, but too far, as many times as there are samples: this is the gradient of the sum "
        "of the losses, and you want that of their mean.": [
            "/ len(inputs) →",
            "model.zero_grad() → pass\n/ len(inputs) →",
        ],
        "Only the last sample counted: clear before the loop, not in it.": [
            "(nn.mse_loss → model.zero_grad(); (nn.mse_loss",
            "/ len(inputs) →\n(nn.mse_loss → model.zero_grad(); (nn.mse_loss",
        ],
        "Nothing moved. Is p.data assigned, and p.grad not cleared too early?": [
            "-= → -",
            "p.data -= → p.grad = 0.0; p.data -=",
        ],
        "The first step is right. The second still contains the gradient of the first.": (
            "model.zero_grad() → pass"
        ),
        "lr is missing: a step is lr times the gradient.": "lr * →",
        "lr is in it twice.": "lr * → lr * lr *",
        "Divided by the number of samples twice.": "lr * → lr / len(inputs) *",
    },
)

# -- 3. A loss that forgives ----------------------------------------------------------------------


def forgiving(loss):
    below, exact, above = (value_of(loss, guess, 2.0).data for guess in (0.0, 2.0, 3.0))
    yield "an error", "costs" if min(below, above) >= exact else "pays on one side"
    flat = [guess - 2 for guess in (0.0, 3.0) if not slope_of(loss, guess, 2.0)]
    yield "the slope at an error", f"gone at {flat[0]:g}" if flat else "there"
    costs = {value_of(loss, 3.0 + t, 2.0 + t).data for t in (-12.0, -6.0, 40.0)}
    alike = all(math.isclose(cost, above, rel_tol=1e-6) for cost in costs)
    yield "an error of 1", "the same everywhere" if alike else "something else at some targets"
    if flat or not alike or min(below, above) < exact:
        return
    slope, start = line_found(inspect.unwrap(loss))
    near = abs(slope - 2) <= 0.3 and abs(start - 1) <= 0.3
    line = f"y = {slope:.1f} x {'+-'[start < 0]} {abs(start):.1f}"
    yield "the line", "y = 2 x + 1, to 0.3" if near else line


def slope_of(loss, guess, target):
    """The derivative of the loss with respect to the guess."""
    x = Value(guess)
    return adjoints(value_of(loss, x, target), inputs=[x])[x]


def value_of(loss, guess, target):
    found = loss(Vector([guess]), target)
    if isinstance(found, Vector):
        raise Hint("That is a Vector of one entry. Take the Value in it, [0].")
    if not isinstance(found, Value):
        raise Hint(f"Expected a Value, found {a(found)}. Leave out .data.")
    if not found.parents:
        raise Hint("This Value does not depend on the prediction, so no gradient reaches it.")
    return found


@cache
def line_found(loss):
    """Slope and start of the line that a loss finds through 17 good points and 3 bad ones."""
    rng = Random(4)
    inputs = [i / 10 for i in range(20)]
    targets = [2 * x + 1 + rng.gauss(0, 0.05) for x in inputs]
    for i in (4, 10, 15):
        targets[i] = -10.0
    line = nn.Linear(1, 1, init=lambda inputs, outputs, rng: [[0.0]])
    for lr in (0.05, 0.005):
        descent = optim.SGD(line.parameters(), lr)
        settings = {"progress": False, "seed": 0, "engine": "eager"}
        try:
            nn.fit(line, inputs, targets, loss, descent, 200, 5, **settings)
        except (FloatingPointError, OverflowError):
            raise Hint("The training diverges: a far point pulls much too hard.") from None
    return [p.data for p in line.parameters()]


def solution_3(prediction, target):
    return abs(prediction[0] - target)


check_3 = Exercise(
    solution_3,
    ask=forgiving,
    at={"a check of it": ()},
    nothing="Nothing here yet: return a Value in place of the dots.",
    praise=(
        "Right: within 0.3 of y = 2 x + 1. A bad point may pull, but it pulls no harder "
        "the worse it is."
    ),
    otherwise="How strongly may a far point pull?",
    slips={
        "An error on one side is rewarded. The minimum belongs at 0.": [
            "abs →",
            "abs → -abs",
            "(prediction[0] - target) ** 3",
        ],
        "At an error of -2 the loss has no slope to go down.": ["abs → 0 *", "abs → relu"],
        "An error of 1 costs something else at another target. The loss must not know which targets "
        "are the bad ones: judge the error alone.": [
            "abs(prediction[0] - target) if target > -5 else 0 * prediction[0]",
            "abs(prediction[0] - target) / abs(target)",
        ],
        "The square finds {found}: an error 48 times as large costs 2,304 times as much.": [
            "nn.mse_loss(prediction, target)",
            "(prediction[0] - target) ** 2 / 2",
        ],
        "The training diverges: a far point pulls much too hard.": [
            "(prediction[0] - target) ** 4",
            "exp(abs(prediction[0] - target))",
        ],
    },
)

# -- The figures ----------------------------------------------------------------------------------


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
    import matplotlib.pyplot as plt

    shared: dict[str, Any] = {"sharex": True, "sharey": True, "layout": "constrained"}
    figure, panels = plt.subplots(2, 2, figsize=(9, 4.5), **shared)
    for axes, (epochs, drawn) in zip(panels.flat, snapshots.items()):
        axes.plot(points[::3], heights[::3], ".", color="#BBBBBB", markersize=3, label="data")
        axes.plot(grid, truth, "--", color=ORANGE, label="true function")
        axes.plot(grid, drawn, color=BLUE, label="network")
        axes.set_title(f"after {epochs} epoch{'s' if epochs > 1 else ''}", fontsize=12)
        axes.set(xlabel="x", ylabel="y")
        axes.label_outer()
    panels[0, 0].legend(fontsize=10, loc="upper left", markerscale=4)
    off = ", ".join(f"after {n}: {np.mean(abs(y - truth)):.2f}" for n, y in snapshots.items())
    figures.show(
        figure, f"The network's curve nears the true function. Mean distance {off} epochs."
    )


def show_images(images: Any, titles: Iterable[str], across: int = 10) -> None:
    """Images of 8 times 8 pixels in rows, dark ink on white, each with a title."""
    import matplotlib.pyplot as plt

    down, titles = -(-len(images) // across), list(titles)
    size = (9, down * (9 / across + 0.5))
    figure, panels = plt.subplots(down, across, figsize=size, layout="constrained")
    for axes in panels.flat:
        axes.set_axis_off()
    for axes, image, title in zip(panels.flat, images, titles):
        axes.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        axes.set_title(title, fontsize=10)
    said = "; ".join(title.replace("\n", ", ") for title in titles)
    figures.show(figure, f"{len(images)} handwritten digits: {said}.")


solution = solutions(globals())
