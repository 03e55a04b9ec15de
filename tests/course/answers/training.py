"""Notebook 8, training: right answers, and wrong ones with what they are told."""

import numpy as np

from autodiff import Value, nn, relu, tanh, where
from autodiff.course.training import Adaptive, Rule, solution_2


class InPlace(Rule):
    """The means in place, steps of its own, NumPy's root, ε inside it."""

    memory = "m", "s", "t"

    def change(self, grad, state):
        state["t"] += 1
        state["m"] *= 0.9
        state["m"] += 0.1 * grad
        state["s"] += 0.001 * (grad * grad - state["s"])
        hat = state["s"] / (1 - 0.999 ** state["t"])
        return self.lr / (1 - 0.9 ** state["t"]) * state["m"] / np.sqrt(hat + 1e-16)


class Squareless(Adaptive):
    def change(self, grad, state):
        state["s"] = 0.999 * state["s"] + 0.001 * grad
        return self.lr * grad / (abs(state["s"]) + 1e-8)


def with_counter(model, best, patience=5):
    lowest, waited = float("inf"), 0

    def callback(history):
        nonlocal lowest, waited
        waited += 1
        if history.validation[-1] < lowest:
            lowest, waited = history.validation[-1], 0
            best.update(model.state_dict())
        return waited == patience

    return callback


RIGHT = {  # spellings of each exercise beside our own
    1: [InPlace],
    2: [with_counter],
    3: [
        lambda prediction, target: 8 - relu(8 - abs(prediction - target).sum()),
        lambda p, t: where(abs(p[0] - t) < 0.1, 5 * (p[0] - t) ** 2, abs(p[0] - t) - 0.05),
    ],
}


ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, type("ByHand", (), {"step": lambda self: 1.0}), "Keep the first line"),
    (1, type("Dots", (Rule,), {"memory": "ms", "change": lambda self, grad, state: state.update(m=...)}), "a `return` is missing"),
    (1, Squareless, "Compare it with the last row"),
    (2, lambda *given: lambda h: solution_2(*given)(h) and h.validation[-1] > h.validation[-2], "how long ago was that?"),
    (3, nn.mse_loss, "pulls 12 times as hard"),
    (3, lambda p, t: 0 * p[0] if t == -10 else nn.mse_loss(p, t), "A loss does not know which points are wrong"),
    (3, lambda p, t: tanh((p[0] - t) ** 2), "where it starts, good points too are far off"),
    (3, lambda p, t: Value(1.0), "depends on none of the optimizer's parameters"),
]  # fmt: skip
