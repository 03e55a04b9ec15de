# pyright: analyzeUnannotatedFunctions=false
"""Notebook 8: small images, and a valley; its guesses and its exercises."""

from collections.abc import Iterable
from dataclasses import InitVar, dataclass
from functools import cache
from inspect import unwrap
from random import Random
from types import SimpleNamespace

import numpy as np

from autodiff import Value, Vector, grad, nn, optim

from .verdicts import Exercise, Hint, after_your_guess, empty, guesses, known, solutions

predict = guesses(
    {
        100: "Right: every one, though there is nothing to understand.",
        (5, 20): "So many would be right by chance. Open the box.",
        ...: "Open the box.",
    },
    {
        (-1.53, -1.5): "Right: to the other side, half as far again. It will never settle.",
        (1.5, 1.53): "Right: half as far again. (And on the other side: the factor has a minus.)",
        ...: "From a distance of 1, how far does a step move, and where does it land?",
    },
    {
        (0.2375, 0.2385): "Right: 2 / λ. A little more, and it flies off.",
        (0.118, 0.12): "With 1 / λ the factor 1 - lr λ is 0. It may go down to -1.",
        (3.3, 3.4): "That is the limit of the flat direction. The steep one breaks first.",
        (0, 0.2375): "That does not diverge yet. For which lr is 1 - lr λ = -1?",
        ...: "That diverges, and smaller rates do so too. For which lr is 1 - lr λ = -1?",
    },
    {
        (78, 88): "Right, or nearly. Open the box.",
        (94, 100): "As on the 60 that it knows by heart? Open the box.",
        (0, 1): "In percent, please: 50 for one half.",
        ...: "Open the box.",
    },
)


@dataclass(eq=False, repr=False)
class Rule(optim.Optimizer):
    """An optimiser that counts steps, and lacks change(grad, state): what to subtract."""

    params: InitVar[Iterable[Value]]
    lr: float
    weight_decay = 0.0

    def moved(self, data, grad, state):
        if "steps" in state:
            state["steps"] = state["steps"] + 1
        if empty(amounts := self.change(grad, state)):
            raise Hint("change() returns nothing: a `return` is missing.")
        return data - amounts


def path_of(kind, lr, start):
    """Where an optimiser goes in the valley x²/20 + y², in 12 steps."""
    if not issubclass(kind, Rule):
        raise Hint("Keep the first line: a Rule brings step() and zero_grad().")
    x, y = params = [Value(each) for each in start]
    optimizer, points = kind(params, lr), []
    for _ in range(12):
        optimizer.zero_grad()
        (x**2 / 20 + y**2).backward()
        optimizer.step()
        points.append([p.data for p in params])
    yield "x and y, by step", points


class Adaptive(Rule):
    memory = "m", "s", "steps"

    def change(self, grad, state):
        state["m"] = 0.9 * state["m"] + 0.1 * grad
        state["s"] = 0.999 * state["s"] + 0.001 * grad**2
        m = state["m"] / (1 - 0.9 ** state["steps"])
        s = state["s"] / (1 - 0.999 ** state["steps"])
        return self.lr * m / (s**0.5 + 1e-8)


solution_1 = Adaptive


def adam(move, b=0.9, c=0.999, new=(0.1, 0.001), hats=(1, 1), late=0, stored=False):
    """Our Adam with another move, other numbers, and hats that are off (0) or stay in state."""

    def change(self, g, state):
        m, s = b * state["m"] + new[0] * g, c * state["s"] + new[1] * g**2
        t = state["steps"] + late
        hatted = m / (1 - b**t) ** hats[0], s / (1 - c**t) ** hats[1]
        state["m"], state["s"] = hatted if stored else (m, s)
        return self.lr * move(g, *hatted)

    return type("Adaptive", (Rule,), {"memory": ("m", "s", "steps"), "change": change})


def usual(g, m, s):
    return m / (s**0.5 + 1e-8)


check_1 = Exercise(
    solution_1,
    ask=path_of,
    at={"lr = 0.1": (0.1, (8.0, 2.0)), "a gradient of 0": (0.5, (8.0, 0.0))},
    close=1e-6,  # ε may be added inside or outside the root
    praise="Right: step for step where the package's Adam goes.",
    otherwise="Compare it with the last row of the table, factor by factor.",
    slips={
        "That is SGD: it remembers nothing. Keep m and s in state.": adam(lambda g, m, s: g),
        "That is momentum: Adam divides, too.": adam(lambda g, m, s: m, new=(1, 0), hats=(0, 0)),
        "That is RMSprop: Adam moves by m, not by g.": [
            adam(lambda g, m, s: usual(g, g, s), hats=hats) for hats in ((0, 0), (1, 1))
        ],
        "Uphill: what you return is subtracted already.": adam(lambda *gms: -usual(*gms)),
        "A hat is missing: both means start at 0 and are too small at first.": [
            adam(usual, hats=hats) for hats in ((0, 0), (1, 0), (0, 1))
        ],
        "state keeps the means without their hats.": adam(usual, stored=True),
        'state["steps"] is 1 in the first step already.': [adam(usual, late=n) for n in (1, -1)],
        "The two β have changed places.": adam(usual, 0.999, 0.9, (0.001, 0.1)),
        "The old mean counts β, the new gradient 1 - β.": [
            adam(usual, new=(1, 1)),
            adam(usual, 0.1, 0.001, (0.9, 0.999)),
        ],
        "Divide by the root of s, not by s.": adam(lambda g, m, s: m / (s + 1e-8)),
        "A gradient of 0 divides by 0: add ε to the root.": adam(lambda g, m, s: m / s**0.5),
    },
)


def told(stop_early, validation):
    """After which epoch it stops, with a patience of 3, and whose parameters it keeps."""
    model, best, history = nn.Module(), {}, nn.History()
    callback, stops = stop_early(model, best, 3), "none"
    if empty(callback):
        yield "the function that it returns", ...
        return
    for epoch, loss in enumerate(validation, start=1):
        model.state_dict = lambda epoch=epoch: {"epoch": epoch}
        history.losses.append(1 / epoch)
        history.validation.append(loss)
        if callback(history):
            stops = str(epoch)
            break
    yield "the epoch whose parameters are in best", str(best.get("epoch", "none"))
    yield "the epoch after which it stops", stops


def solution_2(model, best, patience=5):
    def callback(history):
        losses = history.validation
        lowest = losses.index(min(losses))
        waited = len(losses) - 1 - lowest
        if waited == 0:
            best.update(model.state_dict())
        return waited >= patience

    return callback


def over_seeds(stop_early):
    """The praise of a right stop_early: the range of what the notebook's own trial finds."""
    trial = known(stop_early).get("trial", lambda *_: (0, 0.0))
    epochs, shares = zip(*[trial(seed, stop_early) for seed in range(4)])
    stops = f"With four seeds it stops after {min(epochs)} to {max(epochs)} epochs"
    return f"Right. {stops}, and reads {min(shares):.0%} to {max(shares):.0%} of the test images."


check_2 = Exercise(
    solution_2,
    ask=told,
    at=[
        ([5, 4, 3, 4, 4.2, 4.1, 4.3, 4.4],),
        ([5, 3, 4, 2, 1, 1.3, 1.2, 1.4, 1.5],),
        ([3, 2, 3, 4, 5, 6],),
    ],
    praise=over_seeds,
    otherwise="In which epoch was the loss lowest so far, and how long ago was that?",
    slips={
        "It stops an epoch too late.": lambda m, b, p: solution_2(m, b, p + 1),
        "It stops too soon: wait for as many epochs as patience says.": [
            lambda m, b, p: solution_2(m, b, p - 1),
            lambda m, b, p: solution_2(m, b, 1),
        ],
        "It never stops: say True in the end.": lambda m, b, p: solution_2(m, b, 99),
        "best stays empty: fill it at each lowest loss.": lambda m, b, p: solution_2(m, {}, p),
        "best holds the newest parameters: update it at a new lowest loss only.": (
            lambda m, b, p: (
                lambda history: b.update(m.state_dict()) or solution_2(m, {}, p)(history)
            )
        ),
        "That is the training loss, which goes on falling. Look at the other.": (
            lambda m, b, p: (
                lambda history: solution_2(m, b, p)(SimpleNamespace(validation=history.losses))
            )
        ),
    },
)


def forgiving(loss, wrong, *places):
    loss(Vector([3.0]), 2.0)  # is there anything yet?
    slope, start = line_found(unwrap(loss), wrong, places)
    if abs(slope - 2) <= 0.3 and abs(start - 1) <= 0.3:
        return "y = 2 x + 1, to 0.3"
    raise Hint(f"It finds y = {slope:.1f} x {'+-'[start < 0]} {abs(start):.1f}. {cause(loss)}")


def cause(loss):
    """Why a loss does not find the line, by its slopes at errors of 1, of 3, and of 12."""
    pull = grad(lambda error, target: loss(Vector([target + error]), target))
    if abs(pull(3.0, -10.0) - pull(3.0, 2.0)) > 1e-9:
        return "A loss does not know which points are wrong: yours goes by the target."
    near, middle, far = (abs(pull(error, 0.0)) for error in (1.0, 3.0, 12.0))
    if middle < near / 3:
        return "At w = b = 0, where it starts, good points too are far off, and there it is flat."
    return f"It pulls {far / near:.3g} times as hard at an error of 12 as at 1. How hard may it?"


@cache
def line_found(loss, wrong, places):
    """Slope and start of the line that a loss finds through 17 good points and 3 bad ones."""
    rng = Random(4)
    inputs = [i / 10 for i in range(20)]
    targets = [2 * x + 1 + rng.gauss(0, 0.05) for x in inputs]
    for i in places:
        targets[i] = wrong
    line = nn.Linear(1, 1, init=lambda inputs, outputs, rng: [[0.0]])
    settings = {"progress": False, "seed": 0, "engine": "eager"}
    for lr in (0.05, 0.005):
        descent = optim.SGD(line.parameters(), lr)
        nn.fit(line, inputs, targets, loss, descent, 200, 5, **settings)
    return [p.data for p in line.parameters()]


def solution_3(prediction, target):
    return abs(prediction[0] - target)


check_3 = Exercise(
    solution_3,
    ask=forgiving,
    at={"points mistyped as -10": (-10.0, 4, 10, 15), "points mistyped as 1": (1.0, 9, 13, 17)},
    praise="Right: within 0.3 of y = 2 x + 1. A bad point pulls, but no harder the worse it is.",
    slips={
        "The training diverges: a far point pulls much too hard.": lambda p, target: (
            (p[0] - target) ** 4
        )
    },
)


solution = solutions(globals())
