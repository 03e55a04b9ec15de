"""What a trained model predicts, and how often it is right."""

from collections.abc import Callable, Iterable
from typing import Any

from ..compiler.expression import Expression
from ..errors import counted, message, shortened
from ..functions import as_float, as_row
from ..linalg import Vector
from ..value import Value, leaf
from .modules import mode
from .purity import NotRecordable, unchanged
from .recording import unknown_input
from .samples import SEQUENCE, as_rows, constants, flat

DIFFERENT = message("predict", "results of different shapes", "one shape")
FEW = 10  # rows; with fewer, predict walks instead of compiling


def predict(model: Callable[[Any], Any], inputs: Any) -> Any:
    """What a model predicts for each input, in evaluation mode: an array, shape (n, outputs).

    A model that returns one Value gives an array of shape (n,). TypeError if an input or a
    prediction holds anything but numbers, ValueError if predictions differ in shape.

    >>> from autodiff import nn
    >>> predict(nn.Linear(2, 3, seed=0), [[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 3)
    """
    import numpy

    rows = as_rows(inputs, "predict, inputs")
    with mode(model, training=False):
        found = None if len(rows) < FEW or isinstance(rows, list) else _compiled(model, rows)
        if found is None:
            found = [_walked(model, row) for row in rows]
    if len({row.shape for row in found}) > 1:
        raise ValueError(DIFFERENT)
    return numpy.asarray(found)


def _outputs(model: Callable[[Any], Any], x: Vector) -> tuple[tuple[Any, ...], list[Value]]:
    """What a model returns: its shape, and Values; a plain number becomes a constant."""
    where = "predict, what the model returns"
    shape, numbers = flat(model(x), where)
    if any(isinstance(length, tuple) for length in shape):
        raise ValueError(DIFFERENT)
    return shape, [y if isinstance(y, Value) else leaf(as_float(y, where), 0) for y in numbers]


def _walked(model: Callable[[Any], Any], row: Any) -> Any:
    """The prediction for one row, as an array."""
    import numpy

    shape, outputs = _outputs(model, constants(row))
    return numpy.array([y.data for y in outputs]).reshape(shape)


def _compiled(model: Callable[[Any], Any], rows: Any) -> Any:
    """The predictions of a compiled program; None if it cannot be, or walking disagrees."""
    import numpy

    try:
        with unchanged(model):
            shape, outputs = _outputs(model, x := unknown_input(rows.shape[1]))
    except (NotRecordable, Exception):  # walking raises it again
        return None
    expression = Expression(outputs)
    parameters = [p for p in expression.sources if p.requires_grad]
    program = expression.compile(x, parameters, xp=numpy, batch=True)
    try:
        with numpy.errstate(all="raise", under="ignore"):
            found = program(rows, numpy.array([p.data for p in parameters]))
    except FloatingPointError:
        return None
    found = found.reshape(len(rows), *shape)
    few = [0, len(rows) // 2, -1]
    walked = [_walked(model, rows[i]) for i in few]
    return found if numpy.allclose(found[few], walked, rtol=1e-8, atol=1e-12) else None


def accuracy(predictions: Any, targets: Iterable[Any]) -> float:
    """The fraction of samples whose class is predicted correctly, from 0.0 to 1.0.

    predictions: a score for each class, such as logits, shape (n, classes): the largest counts;
        or one score for each sample, shape (n, 1) or (n,): its sign counts (that of p - 0.5 for
        a probability p)
    targets: the index of the class, or a one-hot row; for single scores 1 and 0, or 1 and -1

    ValueError unless there are as many predictions as targets, at least one, no score is nan, and
    each target is a class that has a score.

    >>> accuracy([[2.0, 1.0], [0.0, 3.0]], [0, 0])
    0.5
    >>> accuracy([0.5, -2.0, 1.0], [1, -1, -1])
    0.6666666666666666
    """
    import numpy

    scores = as_rows(predictions, "accuracy, predictions")
    wanted = numpy.asarray(as_row(targets, "accuracy, targets", SEQUENCE))
    if len(scores) != len(wanted) or not len(scores):
        found = f"{counted(len(scores), 'prediction')} and {counted(len(wanted), 'target')}"
        raise ValueError(message("accuracy", found, "as many of each, and at least one"))
    if isinstance(scores, list) or numpy.isnan(scores).any():
        found = "rows of different lengths" if isinstance(scores, list) else "a score that is nan"
        raise ValueError(message("accuracy", found, "a number for each class"))
    classes, known = scores.argmax(axis=1), [*range(scores.shape[1])]
    if len(known) == 1:  # one score for each sample
        classes, known = scores.ravel() > 0, [-1, 0, 1]
    elif wanted.shape == scores.shape and (wanted == wanted).all():
        wanted = wanted.argmax(axis=1)
    if wanted.size > len(scores) or not numpy.isin(wanted, known).all():
        found = f"targets {shortened(wanted.tolist())} for scores of shape {scores.shape}"
        raise ValueError(message("accuracy", found, f"classes from {known[0]} to {known[-1]}"))
    wanted = wanted.ravel() > 0 if known[0] else wanted.ravel()
    return float(numpy.mean(classes == wanted))
