# pyright: analyzeUnannotatedFunctions=false
"""Notebook 8: small images; its guesses and its exercises."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any

import numpy as np

from autodiff import Value, Vector, nn, optim, relu

from .figures import BLUE, GREY, ORANGE, show
from .verdicts import Exercise, after_your_guess, guesses, number, solutions

XS, YS = [0.0, 1.0, 2.0, 3.0], [1.2, 2.8, 5.1, 6.9]  # the four points of the first line


def two_steps(step, lr, pairs):
    model = nn.Linear(1, 1, init=lambda inputs, outputs, rng: [[0.5]])
    for name in ("the first step", "the second step"):
        before = np.array([p.data for p in model.parameters()])
        step(model, [[x] for x, _ in pairs], [y for _, y in pairs], lr)
        yield name, np.array([p.data for p in model.parameters()]) - before


def solution_1(model, inputs, targets, lr):
    model.zero_grad()  # 1: forget the last step
    for x, y in zip(inputs, targets):
        (nn.mse_loss(model(x), y) / len(inputs)).backward()  # 2: the mean, not the sum
    for p in model.parameters():
        p.data -= lr * p.grad  # 3: downhill


check_1 = Exercise(
    solution_1,
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
            "-= → +=",
        ],
        "Downhill, but too far: that is the gradient of the sum of the losses, not of their mean.": [
            "/ len(inputs) →",
            "model.zero_grad() → pass\n/ len(inputs) →",
        ],
        "Only the last sample counted: clear before the loop, not in it.": (
            "(nn.mse_loss → model.zero_grad(); (nn.mse_loss"
        ),
        "The second step still has the first gradient: clear it.": "model.zero_grad() → pass",
    },
)

bowl = [[7.0, 3.0], [3.0, 2.0]]  # twice the means of x², x and 1
SMALL, LARGE = (float(curvature) for curvature in np.linalg.eigvalsh(bowl))


def behaviour(_, lr):
    lr = number(lr)
    behaves = "does not diverge yet" if lr < 2 / LARGE else "diverges, and so do smaller ones"
    return f"lr = {lr:.4g} {behaves}. For which lr is |1 - lr λ| = 1?"


def solution_2():
    curvatures = np.linalg.eigvalsh(bowl)
    return 2 / max(curvatures)  # there 1 - lr λ is -1 for the larger λ


check_2 = Exercise(
    float(solution_2()),
    ask=number,
    close=0.002,
    praise="Right: 2 / λ. A little less, and the line is found; a little more, and it flies off.",
    otherwise=behaviour,
    slips={
        "With 1 / λ the factor 1 - lr λ is 0. It may go down to -1.": 1 / LARGE,
        "That is the limit of the flat direction. The steep one breaks first.": 2 / SMALL,
        "That is the curvature λ itself. For which lr is |1 - lr λ| = 1?": LARGE,
    },
)


def path_of(kind, lr, start):
    """Where an optimiser goes in the valley x²/20 + y², in 12 steps."""
    x, y = params = [Value(each) for each in start]
    optimizer, points = kind(params, lr), []
    for p in params:
        p.grad = 7.0
    optimizer.zero_grad()
    yield "each grad after zero_grad()", [p.grad for p in params]
    for _ in range(12):
        optimizer.zero_grad()
        (x**2 / 20 + y**2).backward()
        optimizer.step()
        points.append([p.data for p in params])
    yield "p.data, by step and parameter,", points


class Adaptive:
    def __init__(self, params, lr):
        self.params, self.lr, self.t = params, lr, 0
        self.m, self.s = [0.0] * len(params), [0.0] * len(params)

    def zero_grad(self):
        for p in self.params:
            p.grad = 0.0

    def step(self):
        self.t += 1
        for i, p in enumerate(self.params):
            self.m[i] = 0.9 * self.m[i] + 0.1 * p.grad
            self.s[i] = 0.999 * self.s[i] + 0.001 * p.grad**2
            m = self.m[i] / (1 - 0.9**self.t)
            s = self.s[i] / (1 - 0.999**self.t)
            p.data = p.data - self.lr * m / (s**0.5 + 1e-8)


solution_3 = Adaptive

check_3 = Exercise(
    solution_3,
    ask=path_of,
    at={
        "lr = 0.1": (0.1, (8.0, 2.0)),
        "lr = 0.5": (0.5, (8.0, 2.0)),
        "a gradient of 0": (0.1, (8.0, 0.0)),
    },
    close=1e-6,  # ε may be added inside or outside the root
    praise="Right: step for step where the package's Adam goes.",
    otherwise="Is every β where it belongs?",
    slips={
        "After zero_grad() every grad should be 0.0.": "p.grad = 0.0 → pass",
        "No parameter moves yet: step() assigns to p.data.": "p.data = p.data - → p.data -",
        "A step without memory is SGD's: each parameter needs its m and s.": "m / (s**0.5 + 1e-8) → p.grad",
        "Count the steps from 1: self.t += 1 comes first.": "self.t += 1 → self.t += self.m != [0.0] * len(self.params)",
        "Uphill: subtract from p.data.": "p.data - self.lr → p.data + self.lr",
        "The hats are missing: both means start at 0 and are too small at first.": (
            "/ (1 - 0.9**self.t) →\n/ (1 - 0.999**self.t) →"
        ),
        "Divide by the root of s, not by s.": "**0.5 →",
        "s is the mean of the squares of the gradients.": "p.grad**2 → p.grad",
        "A gradient of 0 divides by 0: add ε to the root.": "+ 1e-8 →",
    },
)


def forgiving(loss, wrong, *places):
    loss(Vector([3.0]), 2.0)  # is there anything yet?
    slope, start = line_found(inspect.unwrap(loss), wrong, places)
    near = abs(slope - 2) <= 0.3 and abs(start - 1) <= 0.3
    line = f"y = {slope:.1f} x {'+-'[start < 0]} {abs(start):.1f}"
    yield "the line", "y = 2 x + 1, to 0.3" if near else line


@cache
def line_found(loss, wrong, places):
    """Slope and start of the line that a loss finds through 17 good points and 3 bad ones."""
    rng = Random(4)
    inputs = [i / 10 for i in range(20)]
    targets = [2 * x + 1 + rng.gauss(0, 0.05) for x in inputs]
    for i in places:
        targets[i] = wrong
    line = nn.Linear(1, 1, init=lambda inputs, outputs, rng: [[0.0]])
    for lr in (0.05, 0.005):
        descent = optim.SGD(line.parameters(), lr)
        settings = {"progress": False, "seed": 0, "engine": "eager"}
        nn.fit(line, inputs, targets, loss, descent, 200, 5, **settings)
    return [p.data for p in line.parameters()]


def solution_4(prediction, target):
    return abs(prediction[0] - target)


check_4 = Exercise(
    solution_4,
    ask=forgiving,
    at={"points mistyped as -10": (-10.0, 4, 10, 15), "points mistyped as 1": (1.0, 9, 13, 17)},
    praise="Right: within 0.3 of y = 2 x + 1. A bad point pulls, but no harder the worse it is.",
    otherwise="How strongly may a far point pull?",
    slips={
        "The square finds {found}: an error 48 times as large costs 2,304 times as much.": (
            "nn.mse_loss(prediction, target)"
        ),
        "{at} it finds {found}: a loss does not know which points are wrong.": [
            "0 * prediction[0] if target == -10 else nn.mse_loss(prediction, target)",
            "0 * prediction[0] if target < 0 else nn.mse_loss(prediction, target)",
        ],
        "The training diverges: a far point pulls much too hard.": "(prediction[0] - target) ** 4",
    },
)

predict = guesses(
    {
        (78, 88): "Right, or nearly: you will see.",
        (94, 100): "As on the 60 that it knows by heart? You will see.",
        (0, 1): "In percent, please: 50 for one half.",
        ...: "You will see.",
    },
    {
        (-1.53, -1.51): "Right: to the other side, half as far again. It will never settle.",
        ...: "From a distance of 1, how far does a step move, and where does it land?",
    },
)


def show_images(images: Any, titles: Iterable[str], across: int = 10) -> None:
    """Images of 8 times 8 pixels in rows, dark ink on white, each with a title."""
    import matplotlib.pyplot as plt

    down, titles = -(-len(images) // across), list(titles)
    size = (6.4, down * (6.4 / across + 0.5))
    figure, panels = plt.subplots(down, across, figsize=size, layout="constrained")
    for axes in panels.flat:
        axes.set_axis_off()
    for axes, image, title in zip(panels.flat, images, titles):
        axes.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        axes.set_title(title, fontsize=10)
    said = "; ".join(title.replace("\n", ", ") for title in titles)
    show(figure, f"{len(images)} handwritten digits: {said}.")


solution = solutions(globals())
