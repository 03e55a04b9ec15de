"""Notebook 8, training: right answers, and wrong ones with what they are told."""

import numpy as np

from autodiff.course.training import Adaptive, Rule, solution_4, solution_5


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


class Sign(Rule):
    def change(self, grad, state):
        return self.lr * np.sign(grad)


class Root(Rule):
    memory = ("s", "m")

    def change(self, grad, state):
        for name, beta, new in (("m", 0.9, grad), ("s", 0.999, grad * grad)):
            state[name] += (1 - beta) * (new - state[name])
        return self.lr * state["m"] / np.sqrt(state["s"] + 1e-16)


def by_loops(score, rates, seeds):
    best, highest, ranges = None, -1.0, {}
    for lr in rates:
        row = np.array([score(lr, seed) for seed in seeds])
        ranges[lr] = [row.min(), row.max()]
        if row.mean() > highest:
            best, highest = lr, row.mean()
    return best, ranges


def without_nonlocal(model, best, patience=5):
    lowest, waited = 9.0, 0

    def callback(history):
        waited += history.validation[-1] >= lowest  # noqa: F823
        return waited >= patience

    return callback


def inside(model, best, patience=5):
    def callback(history):
        best["state"] = model.state_dict()
        return solution_5(model, {}, patience)(history)

    return callback


RIGHT = {  # spellings of each exercise beside our own
    1: [Sign],
    2: [Root],
    3: [InPlace],
    4: [by_loops],
    5: [with_counter],
}


ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (3, type("ByHand", (), {"step": lambda self: 1.0}), "Keep the first line"),
    (3, type("Dots", (Rule,), {"memory": "ms", "change": lambda self, grad, state: state.update(m=...)}), "a `return` is missing"),
    (3, Squareless, "Exercise 2, with each mean"),
    (1, type("Half", (Rule,), {"change": lambda self, grad, state: 0.5 * self.lr * np.sign(grad)}), "divided by its own size"),
    (4, lambda score, rates, seeds: max(rates), "two things, the best rate"),
    (4, lambda score, rates, seeds: (max(rates), [score(lr, 0) for lr in rates]), "a dict with an entry for each rate"),
    (4, lambda score, rates, seeds: (rates[-1], solution_4(score, rates, seeds)[1]), "then compare the means"),
    (4, lambda score, rates, seeds: (rates[0], [score(seed, lr) for lr in rates for seed in seeds]), "The rate comes first"),
    (5, without_nonlocal, "begin with `nonlocal`"),
    (5, inside, "best.update(...)"),
    (5, lambda *_: lambda history: False, "state_dict() is never called"),
    (5, lambda *given: lambda h: solution_5(*given)(h) and h.validation[-1] > h.validation[-2], "how long ago was that?"),
]  # fmt: skip
