"""Losses: one number that says how far a prediction is from its target.

The losses of logits do not overflow, however large the logits are.
"""

from math import isclose
from typing import Any

from ..engine import ops
from ..engine.admission import AnyNumber, Shape, as_floats, as_number, is_array, shape_and_numbers
from ..engine.errors import counted, refusal, shortened
from ..engine.linalg import Vector
from ..engine.number import Number
from ..engine.value import watch


def mse_loss(prediction: Any, target: Any) -> AnyNumber:
    r"""The mean squared error of a prediction p with target t: one Value.

    $$\frac{1}{n} \sum_i (p_i - t_i)^2$$ over all n entries.

    Both are one number, or have the same shape, (n,) or (m, n); a Vector of one entry counts as
    one number. ValueError if the shapes differ.

    >>> from autodiff import Vector
    >>> mse_loss(Vector([1.0, 4.0]), [1.0, 2.0]).data
    2.0
    """
    shape, predicted = _numbers(prediction, "mse_loss")
    expected, wanted = _numbers(target, "mse_loss, target")
    if (shape or (1,)) != (expected or (1,)):
        found = f"a prediction of shape {shape} and a target of shape {expected}"
        raise ValueError(refusal("mse_loss", found, "the same shape"))
    if not predicted:
        raise ValueError(refusal("mse_loss", "no numbers", "at least one"))
    return ops.sum([(p - t) ** 2 for p, t in zip(predicted, wanted)]) / len(predicted)


def hinge_loss(score: Any, label: Any) -> AnyNumber:
    r"""How far a score is on the wrong side of the margin: one Value.

    $$\max(0, 1 - t s)$$ for the score s and the label t, which is 1 or -1.

    The score is one number, or a Vector of one entry. ValueError for any other label.

    >>> from autodiff import Value
    >>> hinge_loss(Value(0.25), 1).data, hinge_loss(Value(0.25), -1).data
    (0.75, 1.25)
    """
    label = _one(label, "hinge_loss, label")
    if not isinstance(label, Number) and label not in (-1, 1):
        raise ValueError(refusal("hinge_loss", f"label {label!r}", "1 or -1"))
    return ops.relu(1.0 - label * _one(score, "hinge_loss, score"))


def cross_entropy(logits: Any, target: Any) -> AnyNumber:
    r"""Minus the log-probability of the target, by the softmax of the logits z: one Value.

    $$-\log \frac{e^{z_k}}{\sum_i e^{z_i}}$$ for a target of class k, and $-\sum_k t_k \log p_k$ for
    probabilities t, with p the softmax. The largest logit is subtracted from all, so that it
    neither overflows nor loses digits however large they are: logsumexp(z) - z[k] is 0.0 for
    logits of 1e16, where floats have no place left for log 2.

    `logits` has shape (n,). The target is a class, the index 0 to n - 1 as a number of any type, or
    a probability for each class, shape (n,), such as a one-hot row. ValueError if the index is out
    of range, or if there are not n probabilities, or if they are numbers, not Values, and do not
    add up to 1.

    >>> from autodiff import Vector
    >>> round(cross_entropy(Vector([0.0, 0.0]), 1).data, 6)
    0.693147
    >>> cross_entropy(Vector([1000.0, 0.0]), [1.0, 0.0]).data
    0.0
    """
    logits = _row(logits, "cross_entropy")
    n = len(logits)
    expected = f"a class from 0 to {n - 1}"
    if isinstance(target, str):
        remedy = "number the classes: names.index(label)"
        raise TypeError(refusal("cross_entropy", f"the label {target!r}", expected, remedy))
    shape, weights = _numbers(target, "cross_entropy, target")
    chosen = shape == () or shape == (1,) != (n,)  # 2.0, tensor(2) and array([2]) are classes
    known = not any(isinstance(weight, Number) for weight in weights)
    if chosen:
        right = known and weights[0] in range(n)
    else:
        right = shape == (n,) and (not known or isclose(sum(weights), 1.0, abs_tol=1e-6))
    if not right:
        expected += f", or {n} probabilities that add up to 1"
        raise ValueError(refusal("cross_entropy", f"target {shortened(target)}", expected))
    watching = watch.get()
    top, z, log_of_sum = watching.once(_centred, *logits) if watching else _centred(*logits)
    if chosen:  # among the logits themselves, where fit sees it
        return (top - logits[int(weights[0])]) + log_of_sum
    return ops.dot([log_of_sum - x for x in z], weights)  # in each of which `top` cancels


def _centred(*logits: AnyNumber) -> tuple[AnyNumber, list[AnyNumber], AnyNumber]:
    """The largest logit, what each has more than that, and the log of the sum of their powers."""
    top = ops.largest(logits)
    z = [logit - top for logit in logits]
    return top, z, ops.log(ops.sum([ops.exp(x) for x in z]))


def binary_cross_entropy_with_logits(logit: Any, target: Any) -> AnyNumber:
    r"""Minus the log-probability of a target t: 1 for yes, 0 for no, or between. One Value.

    $$-t \log \sigma(z) - (1 - t) \log(1 - \sigma(z))$$ for the logit z, with the sigmoid σ.
    Computed as softplus(z) - t z, which does not overflow. The logit is one number, or a Vector
    of one entry. ValueError unless 0 <= t <= 1.

    >>> from autodiff import Value
    >>> binary_cross_entropy_with_logits(Value(-1000.0), 1).data
    1000.0
    """
    subject = "binary_cross_entropy_with_logits"
    target = _one(target, f"{subject}, target")
    if not isinstance(target, Number) and not 0 <= target <= 1:
        raise ValueError(refusal(subject, f"target {target!r}", "0 to 1"))
    logit = _one(logit, f"{subject}, logit")
    return ops.softplus(logit) - target * logit


def softmax(logits: Any) -> Any:
    r"""The probabilities of the classes, for logits of any size.

    $$e^{z_i} / \sum_j e^{z_j}$$

    A Vector or a sequence, shape (n,), gives a Vector; an array gives an array, along its last
    axis. TypeError if a logit is not a number, ValueError if there are none.

    >>> softmax([0.0, 0.0]).data
    [0.5, 0.5]
    """
    if is_array(logits):
        xp, logits = logits.__array_namespace__(), as_floats(logits, "softmax")
        if not logits.size:
            raise ValueError(refusal("softmax", "no numbers", "at least one"))
        e = xp.exp(logits - xp.max(logits, axis=-1, keepdims=True))
        return e / xp.sum(e, axis=-1, keepdims=True)
    z = Vector(_row(logits, "softmax"))
    e = ops.exp(z - ops.largest(z))
    return e / e.sum()


def _numbers(x: Any, subject: str) -> tuple[Shape, list[AnyNumber]]:
    """The shape of x, and its numbers: a number of a derivative as it is, others as floats."""
    shape, numbers = shape_and_numbers(x, subject)
    return shape, numbers if isinstance(x, Vector) else [as_number(v, subject) for v in numbers]


def _row(x: Any, subject: str) -> list[AnyNumber]:
    shape, numbers = _numbers(x, subject)
    if len(shape) > 1:
        found, expected = f"numbers of shape {shape}", "numbers in a row, shape (n,)"
        raise ValueError(refusal(subject, found, expected, "call it for each row"))
    return numbers


def _one(x: Any, subject: str) -> AnyNumber:
    row = _row(x, subject)
    if len(row) != 1:
        raise ValueError(refusal(subject, counted(len(row), "number"), "one, or a Vector of one"))
    return row[0]
