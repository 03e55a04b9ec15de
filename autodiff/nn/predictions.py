"""What a trained model predicts, and how often it is right."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from .. import functions
from ..compiler.expression import Expression
from ..errors import counted, message, shortened
from ..functions import as_float
from ..graph import topological_order
from ..value import Value
from .modules import mode
from .purity import NotRecordable
from .recording import record_outputs
from .samples import as_list, as_rows, constants, flat

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
        if len(rows) >= FEW and not isinstance(rows, list):
            with suppress(NotRecordable, FloatingPointError):
                return _compiled(model, rows)
        found = [_walked(model, row) for row in rows]
    if len({row.shape for row in found}) > 1:
        raise ValueError(DIFFERENT)
    return numpy.array(found)


def _walked(model: Callable[[Any], Any], row: Any) -> Any:
    """The prediction for one row, as an array."""
    import numpy

    where = "predict, what the model returns"
    shape, numbers = flat(model(constants(row)), where)
    plain = [as_float(y.data if isinstance(y, Value) else y, where) for y in numbers]
    if any(isinstance(length, tuple) for length in shape):
        raise ValueError(DIFFERENT)
    return numpy.array(plain).reshape(shape)


def _compiled(model: Callable[[Any], Any], rows: Any) -> Any:
    """The predictions of a compiled program; NotRecordable if walking three rows disagrees."""
    import numpy

    x, outputs = record_outputs(model, rows.shape[1])
    walked = {i: _walked(model, rows[i]) for i in (0, len(rows) // 2, -1)}
    leaves = [x for x in topological_order(functions.sum(outputs)) if not x.parents]
    parameters = [p for p in leaves if p.requires_grad]
    program = Expression(outputs).compile(x, parameters, xp=numpy, batch=True)
    with numpy.errstate(all="raise", under="ignore"):
        found = program(rows, numpy.array([p.data for p in parameters]))
    found = found.reshape(len(rows), *walked[0].shape)
    for i, row in walked.items():
        if not numpy.allclose(found[i], row, rtol=1e-8, atol=1e-12):
            raise NotRecordable("walking gives another prediction")
    return found


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
    wanted = numpy.asarray(as_list(targets, "accuracy, targets"))
    n = len(scores)
    if n != len(wanted) or not n:
        found = f"{counted(n, 'prediction')} and {counted(len(wanted), 'target')}"
        raise ValueError(message("accuracy", found, "as many of each, and at least one"))
    if isinstance(scores, list) or numpy.isnan(scores).any():
        found = "rows of different lengths" if isinstance(scores, list) else "a score that is nan"
        raise ValueError(message("accuracy", found, "a number for each class"))
    single = scores.shape[1] == 1  # a score for each sample
    known = (-1, 0, 1) if single else range(scores.shape[1])
    if wanted.shape == scores.shape and not single and (wanted == wanted).all():
        wanted = wanted.argmax(axis=1)
    if wanted.size > n or not numpy.isin(wanted, known).all():
        found = f"targets {shortened(wanted.tolist())} for scores of shape {scores.shape}"
        rows = f"classes from 0 to {known[-1]}, or one-hot rows"
        expected = "classes -1, 0 or 1" if single else rows
        raise ValueError(message("accuracy", found, expected))
    if single:
        return float(numpy.mean((scores.ravel() > 0) == (wanted.ravel() > 0)))
    return float(numpy.mean(scores.argmax(axis=1) == wanted.ravel()))
