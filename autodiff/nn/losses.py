"""Losses: one number that says how far a prediction is from its target.

Those from logits do not overflow, however large the logits are.
"""

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

from .. import functions
from ..errors import shortened
from ..number import Number


def mse_loss(prediction: Any, target: Any) -> Any:
    """The mean of the squares of prediction - target: one Value.

    Both are one number, or sequences of the same length (n,); a Vector of one entry is one
    number. ValueError for different lengths.

    >>> from autodiff import Vector
    >>> mse_loss(Vector([1.0, 4.0]), [1.0, 2.0]).data
    2.0
    """
    predicted, wanted = _row(prediction), _row(target)
    if len(predicted) != len(wanted):
        raise ValueError(
            f"mse_loss: found {len(predicted)} predictions and {len(wanted)} targets, expected "
            "equally many"
        )
    return functions.sum([(p - t) ** 2 for p, t in zip(predicted, wanted)]) / len(predicted)


def hinge_loss(score: Any, label: Any) -> Any:
    """max(0, 1 - label * score) for a label 1 or -1: one Value.

    The score is one number, or a Vector of one entry. ValueError for another label.

    >>> from autodiff import Value
    >>> hinge_loss(Value(0.25), 1).data, hinge_loss(Value(0.25), -1).data
    (0.75, 1.25)
    """
    label = _one(label, "hinge_loss, label")
    if not isinstance(label, Number) and label not in (-1, 1):
        raise ValueError(f"hinge_loss: found label {label!r}, expected 1 or -1")
    return functions.relu(1.0 - label * _one(score, "hinge_loss, score"))


def cross_entropy(logits: Any, target: Any) -> Any:
    """-log softmax(logits)[target]: one Value, stable for logits of any size.

    `logits` has shape (n,). The target is the index of a class, 0 to n - 1, or a probability for
    each class, shape (n,), such as a one-hot row. ValueError for another index, length or sum.

    >>> from autodiff import Vector
    >>> round(cross_entropy(Vector([0.0, 0.0]), 1).data, 6)
    0.693147
    >>> cross_entropy(Vector([1000.0, 0.0]), [1.0, 0.0]).data
    0.0
    """
    logits = _row(logits)
    if isinstance(target, Integral):
        index = int(target)
        if not 0 <= index < len(logits):
            raise ValueError(
                f"cross_entropy: found class {index}, expected 0 to {len(logits) - 1}: there are "
                f"{len(logits)} logits"
            )
        return functions.logsumexp(logits) - logits[index]
    weights = _row(target)
    if len(weights) != len(logits):
        raise ValueError(
            f"cross_entropy: found a target of {len(weights)} for {len(logits)} logits, expected "
            "a class index, or a probability for each"
        )
    total = sum(map(float, weights)) if not any(isinstance(w, Number) for w in weights) else 1.0
    if abs(total - 1.0) > 1e-6:
        raise ValueError(f"cross_entropy: found target {shortened(target)}, expected a sum of 1")
    return functions.logsumexp(logits) - functions.dot(weights, logits)


def binary_cross_entropy_with_logits(logit: Any, target: Any) -> Any:
    """-t log σ(logit) - (1 - t) log(1 - σ(logit)) for a target t from 0 to 1: one Value.

    Computed as softplus(logit) - t * logit, which does not overflow. The logit is one number, or
    a Vector of one entry. ValueError for a target outside.

    >>> from autodiff import Value
    >>> binary_cross_entropy_with_logits(Value(-1000.0), 1).data
    1000.0
    """
    target = _one(target, "binary_cross_entropy_with_logits, target")
    if not isinstance(target, Number) and not 0 <= target <= 1:
        raise ValueError(
            f"binary_cross_entropy_with_logits: found target {target!r}, expected 0 to 1"
        )
    logit = _one(logit, "binary_cross_entropy_with_logits, logit")
    return functions.softplus(logit) - target * logit


def _row(x: Any) -> Sequence[Any]:
    return tuple(x) if isinstance(x, Iterable) else (x,)


def _one(x: Any, name: str) -> Any:
    row = _row(x)
    if len(row) != 1:
        raise ValueError(f"{name}: found {len(row)} numbers, expected one, or a Vector of one")
    return float(row[0]) if isinstance(row[0], Real) else row[0]
