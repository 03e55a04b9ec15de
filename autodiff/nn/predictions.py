"""What a trained model predicts, and how often it is right."""

from collections.abc import Iterable
from functools import partial
from random import Random
from typing import Any

from ..admission import Floats, as_float, as_row
from ..compiler.expression import Expression
from ..compiler.symbolic import NotRecordable
from ..errors import counted, message, shortened
from ..linalg import Vector
from ..value import Value, leaf
from .engines import FAILS, FEW, distance, warn
from .modules import in_mode
from .recording import CONTRACT, check_same, trace
from .samples import SEQUENCE, Model, Shape, as_rows, constants, shape_and_numbers

WHERE = "predict, what the model returns"


def predict(model: Model, inputs: Any) -> Floats:
    """What a model predicts for each input, in evaluation mode: an array, shape (n, outputs).

    A model that returns one Value gives an array of shape (n,). For more than three inputs the
    model is compiled and verified as by `fit`: where it looks at numbers, or three inputs that are
    walked give something else, all are walked, with a WalkingWarning. TypeError if an input or a
    prediction holds anything but numbers, ValueError if predictions differ in shape.

    >>> from autodiff import nn
    >>> predict(nn.Linear(2, 3, seed=0), [[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 3)
    """
    return in_mode(False, _predicted, model, as_rows(inputs, "predict, inputs"))


def _predicted(model: Model, rows: Floats) -> Floats:
    import numpy

    if len(rows) > FEW:
        try:
            return _compiled(model, rows)
        except NotRecordable as error:
            warn(f"predict walks the graph of every sample, which is slow: {error}")
    walked = [_walked(model, row) for row in rows]
    if len({row.shape for row in walked}) > 1:
        raise ValueError(message("predict", "results of different shapes", "one shape"))
    return numpy.array(walked)


def _outputs(model: Model, x: Vector) -> tuple[list[Value], Shape]:
    """What a model returns: Values, and its shape; a plain number becomes a constant."""
    shape, numbers = shape_and_numbers(model(x), WHERE)
    if any(isinstance(length, tuple) for length in shape):
        raise ValueError(message(WHERE, f"numbers of shape {shape}", "rows of one length"))
    return [y if isinstance(y, Value) else leaf(as_float(y, WHERE), 0) for y in numbers], shape


def _walked(model: Model, row: Floats) -> Floats:
    """The prediction for one row, as an array."""
    import numpy

    outputs, shape = _outputs(model, constants(row.tolist()))
    return numpy.array([y.data for y in outputs]).reshape(shape)


def _compiled(model: Model, rows: Floats) -> Floats:
    """The predictions of a program; NotRecordable if there is none that agrees with walking."""
    import numpy

    first, last = (trace(partial(_outputs, model), row) for row in rows[[0, -1]])
    check_same(first, last)
    expression = Expression(first.roots)
    parameters = [p for p in expression.sources if p.requires_grad]
    program = expression.compile(first.x, parameters, xp=numpy, batch=True)
    try:
        with numpy.errstate(all="raise", under="ignore"):
            found: Floats = program(rows, numpy.array([p.data for p in parameters]))
    except FloatingPointError:
        raise NotRecordable(FAILS) from None
    found = found.reshape(len(rows), *first.result)
    for i in Random(0).sample(range(len(rows)), FEW):
        walked = _walked(model, rows[i])
        if far := distance(found[i], walked, walked):
            raise NotRecordable(f"the program is off by {far:.3g} for sample {i}; {CONTRACT}")
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
    wanted = numpy.array(as_row(targets, "accuracy, targets", SEQUENCE))
    n, size = scores.shape
    if wanted.shape == scores.shape and size > 1:
        wanted = wanted.argmax(axis=1)
    known = range(size) if size > 1 else range(-1, 2)
    classes = numpy.isin(wanted, known).all() and not numpy.isnan(scores).any()
    if not 0 < n == wanted.size or not classes:
        found = f"{counted(n, 'prediction')} and {counted(wanted.size, 'target')}"
        expected = f"as many of each: numbers, and classes from {known[0]} to {known[-1]}"
        raise ValueError(message("accuracy", f"{found}, {shortened(wanted.tolist())}", expected))
    if size > 1:
        return float(numpy.mean(scores.argmax(axis=1) == wanted.ravel()))
    return float(numpy.mean((scores > 0) == (wanted.reshape(n, 1) > 0)))
