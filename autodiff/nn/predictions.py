"""What a trained model predicts, and how often it is right."""

from collections.abc import Iterable
from functools import partial
from random import Random
from typing import Any

from ..compiler.expression import Expression
from ..compiler.symbolic import NotRecordable
from ..engine.admission import Floats, Shape, as_float, shape_and_numbers
from ..engine.errors import counted, refusal, shortened
from ..engine.linalg import Vector
from ..engine.transforms import check_function
from ..engine.value import Value, leaf
from .engines import WrongProgram, failure
from .modules import in_mode
from .recording import check_same, take
from .samples import Model, as_rows, constants
from .verification import FAILS, FEW, ROUNDING, distance, warn

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
    check_function(model, "predict, model", "a Module or a function")
    return in_mode(False, _predicted, model, as_rows(inputs, "predict, inputs"))


def _predicted(model: Model, rows: Floats) -> Floats:
    import numpy

    if len(rows) > FEW:
        try:
            return _compiled(model, rows)
        except (NotRecordable, WrongProgram) as error:
            warn(f"predict walks the graph of every sample, which is slow: {error}")
    walked = [_walked(model, row) for row in rows]
    if len({row.shape for row in walked}) > 1:
        raise ValueError(refusal("predict", "results of different shapes", "one shape"))
    return numpy.array(walked)


def _outputs(model: Model, x: Vector) -> tuple[list[Value], Shape]:
    """What a model returns: Values, and its shape; a plain number becomes a constant."""
    shape, numbers = shape_and_numbers(model(x), WHERE)
    if any(isinstance(length, tuple) for length in shape) or not numbers:
        found, expected = f"numbers of shape {shape}", "numbers, in rows of one length"
        raise ValueError(refusal(WHERE, found, expected))
    return [y if isinstance(y, Value) else leaf(as_float(y, WHERE), 0) for y in numbers], shape


def _walked(model: Model, row: Floats) -> Floats:
    """The prediction for one row, as an array."""
    import numpy

    outputs, shape = _outputs(model, constants(row.tolist()))
    return numpy.array([y.data for y in outputs]).reshape(shape)


def _compiled(model: Model, rows: Floats) -> Floats:
    """The predictions of a program; NotRecordable if there is none that agrees with walking."""
    import numpy

    first, last = (take(partial(_outputs, model), row) for row in rows[[0, -1]])
    check_same(first, last)
    expression = Expression(first.roots)
    inputs = set(first.x)  # which a model may let require a gradient
    parameters = [p for p in expression.sources if p.requires_grad and p not in inputs]
    program = expression.compile(first.x, parameters, xp=numpy, batch=True)
    try:
        with numpy.errstate(all="raise", under="ignore"):
            found: Floats = program(rows, numpy.array([p.data for p in parameters]))
    except FloatingPointError:
        raise NotRecordable(FAILS) from None
    except Exception as error:
        raise failure(program, error) from error
    found = found.reshape(len(rows), *first.result)
    for i in Random(0).sample(range(len(rows)), FEW):
        walked = _walked(model, rows[i])
        if far := distance(found[i], walked, walked):
            check_same(first, take(partial(_outputs, model), rows[i]))
            raise NotRecordable(f"the program is off by {far:.3g} for sample {i}; {ROUNDING}")
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
    wanted = as_rows(targets, "accuracy, targets")
    (n, size), (count, columns) = scores.shape, wanted.shape
    if columns == size > 1:
        wanted = wanted.argmax(axis=1)[:, None]
    known = range(size) if size > 1 else range(-1, 2)
    classes = numpy.isin(wanted, known).all() and not numpy.isnan(scores).any()
    if not 0 < n == count or columns not in (1, size) or not classes:
        found = f"{counted(n, 'prediction')} and {counted(count, 'target')}"
        expected = f"as many of each: numbers, and classes from {known[0]} to {known[-1]}"
        raise ValueError(refusal("accuracy", f"{found}, {shortened(wanted.tolist())}", expected))
    one = size == 1
    right = (scores > 0) == (wanted > 0) if one else scores.argmax(axis=1) == wanted[:, 0]
    return float(numpy.mean(right))
