"""Exercises of notebook 8, training."""

import math
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np

from autodiff import Value, Vector, adjoints, errors, hessian, nn, optim

from . import Check, Hint, solutions
from .probes import real

XS, YS = [0.0, 1.0, 2.0, 3.0], [1.2, 2.8, 5.1, 6.9]  # the four points of the first line


def _curvatures() -> Any:
    """The curvatures of the loss of the line through the four points, smallest first."""
    curved = hessian(lambda p: nn.mse_loss([p[0] * x + p[1] for x in XS], YS))
    return np.linalg.eigvalsh(curved([0.0, 0.0]))


@Check
def check_1(answer: Any) -> str:
    if isinstance(answer, (list, tuple, np.ndarray)):
        raise Hint("One number, please: the smaller of the two limits is what counts.")
    try:
        lr = real(answer)
    except (TypeError, ValueError):
        raise Hint(f"Expected one number, found {answer!r}.") from None
    if not math.isfinite(lr):
        raise Hint(f"There is a finite limit, and {lr} is no number to train with.")
    small, large = _curvatures()
    known = {
        1 / large: "With 1 / λ the factor 1 - lr λ is 0. It may go down to -1.",
        2 / small: "That is the limit of the flat direction. The steep one breaks first.",
        1 / small: "The smaller curvature is the patient one. Look at the other.",
        large: "That is the curvature λ itself. For which lr is |1 - lr λ| = 1?",
        small: "That is a curvature. For which lr is |1 - lr λ| = 1?",
        0.3: "0.3 diverged in the last section, but a smaller one does, too.",
        0.1: "0.1 learnt well in the first section. How far up can you go?",
    }
    for wrong, text in known.items():
        if math.isclose(lr, wrong, rel_tol=0.01):
            raise Hint(text)
    limit = 2 / large
    if not math.isclose(lr, limit, rel_tol=0.01):
        behaves = "does not diverge yet" if lr < limit else "diverges, and so do smaller ones"
        behaves = behaves if lr > 0 else "is no step downhill"
        raise Hint(f"lr = {lr:.4g} {behaves}. For which lr is |1 - lr λ| = 1?")
    below, above = (_loss_after_200(factor * limit) for factor in (0.98, 1.02))
    return (
        f"Right: 2 / λ = {limit:.4f}. After 200 epochs with 2 % less the loss is {below:.3f}, "
        f"with 2 % more {above:,.0f}."
    )


def _loss_after_200(lr: float) -> float:
    line = nn.Linear(1, 1, seed=0)
    descent = optim.SGD(line.parameters(), lr)
    return nn.fit(line, XS, YS, nn.mse_loss, descent, 200, progress=False).losses[-1]


def solution_1(bowl):
    curvatures = np.linalg.eigvalsh(bowl)
    return 2 / max(curvatures)  # there 1 - lr λ is -1 for the larger λ


@Check
def check_2(step: Any) -> str:
    if not callable(step):
        raise Hint("answer_2 should be the function, without calling it.")
    for lr, pairs in ((0.01, list(zip(XS, YS))), (0.02, [(1.0, 0.5), (-2.0, 3.0), (0.3, 0.7)])):
        _two_steps(step, lr, pairs)
    return "Right, twice in a row: the mean, downhill, from a clean gradient."


def _two_steps(step: Any, lr: float, pairs: list[tuple[float, float]]) -> None:
    model = nn.Linear(1, 1, init=lambda inputs, outputs, rng: [[0.5]])
    found = [np.array([0.5, 0.0])]
    for _ in range(2):
        with patch.object(nn, "fit", _no_fit):
            step(model, [[x] for x, _ in pairs], [y for _, y in pairs], lr)
        found.append(np.array([p.data for p in model.parameters()], dtype=float))
    moved, then = (found[0] - found[1]) / lr, (found[1] - found[2]) / lr
    n, total, last = len(pairs), _gradient(pairs, *found[0]), _gradient(pairs[-1:], *found[0])
    if not moved.any():
        raise Hint("Nothing moved. Is p.data assigned, and p.grad not cleared too early?")
    if np.allclose(moved, -total) or np.allclose(moved, -total / n):
        raise Hint("It climbs: the loss goes up. Look at a sign.")
    if np.allclose(moved, total):
        raise Hint(
            f"Downhill, but {n} times too far: this is the gradient of the sum of the losses, "
            "and you want that of their mean."
        )
    if np.allclose(moved, last) or np.allclose(moved, last / n):
        raise Hint("Only the last sample counted: clear before the loop, not in it.")
    if not np.allclose(moved, total / n):
        raise Hint("The first step is not lr times the gradient of the mean loss.")
    again = _gradient(pairs, *found[1]) / n
    if np.allclose(then, again + moved):
        raise Hint("The first step is right. The second still contains the gradient of the first.")
    if not np.allclose(then, again):
        raise Hint("The first step is right, the second is not. What is left over from the first?")


def _gradient(pairs: list[tuple[float, float]], w: float, b: float) -> Any:
    """The derivatives of the sum of the squared errors with respect to w and b."""
    errors = [(w * x + b - y, x) for x, y in pairs]
    return np.array([sum(2 * e * x for e, x in errors), sum(2 * e for e, x in errors)])


def _no_fit(*args: Any, **keywords: Any) -> None:
    raise Hint("`fit` would do it, but the exercise is what `fit` does inside.")


def solution_2(model, inputs, targets, lr):
    model.zero_grad()  # 1: forget the last step
    for x, y in zip(inputs, targets):
        (nn.mse_loss(model(x), y) / len(inputs)).backward()  # 2: the mean, not the sum
    for p in model.parameters():
        p.data -= lr * p.grad  # 3: downhill


@Check
def check_3(loss: Any) -> str:
    if not callable(loss):
        raise Hint("answer_3 should be the function, without calling it.")
    below, exact, above, far = (_value(loss, guess, 2.0).data for guess in (0.0, 2.0, 3.0, 50.0))
    if min(below, above) < exact:
        raise Hint("An error on one side is rewarded. The minimum belongs at 0.")
    for guess in (0.0, 3.0):
        if not _slope(loss, guess, 2.0):
            raise Hint(f"At an error of {guess - 2:g} the loss has no slope to go down.")
    for shift in (-12.0, -6.0, 40.0):
        if not math.isclose(_value(loss, 3.0 + shift, 2.0 + shift).data, above, rel_tol=1e-6):
            raise Hint(
                f"An error of 1 costs {above:.3g} at the target 2, and something else at "
                f"{2 + shift:g}. The loss must not know which targets are the bad ones: "
                "judge the error alone."
            )
    slope, start = _line_found(loss)
    if abs(slope - 2) > 0.3 or abs(start - 1) > 0.3:
        line = f"It found y = {slope:.1f} x {'+-'[start < 0]} {abs(start):.1f}."
        if far / above > 1000:
            raise Hint(f"{line} An error 48 times as large costs far more than 48 times as much.")
        raise Hint(f"{line} How strongly may a far point pull?")
    return (
        "Right: within 0.3 of y = 2 x + 1. A bad point may pull, but it pulls no harder "
        "the worse it is."
    )


def _slope(loss: Any, guess: float, target: float) -> float:
    """The derivative of the loss with respect to the guess."""
    x = Value(guess)
    return adjoints(_value(loss, x, target), inputs=[x])[x]


def _value(loss: Any, guess: Any, target: float) -> Value:
    """The loss of a guess."""
    found = loss(Vector([guess]), target)
    if found is ... or found is None:
        raise Hint("Nothing here yet: return a Value in place of the dots.")
    if isinstance(found, Vector):
        raise Hint("That is a Vector of one entry. Take the Value in it, [0].")
    if not isinstance(found, Value):
        raise Hint(f"Expected a Value, found {errors.a(found)}. Leave out .data.")
    if not found.parents:
        raise Hint("This Value does not depend on the prediction, so no gradient reaches it.")
    return found


def _line_found(loss: Any) -> list[float]:
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


solution = solutions(globals())
