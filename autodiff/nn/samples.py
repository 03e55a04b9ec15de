"""Training samples: the inputs as one array, and each sample as a model takes it."""

from collections.abc import Callable, Iterable
from copy import deepcopy
from numbers import Real
from typing import Any

from ..engine.admission import Floats, as_row, check_mask
from ..engine.checks import plain_number
from ..engine.errors import counted, refusal
from ..engine.linalg import Matrix, Vector
from ..engine.value import Value, leaf

Model = Callable[[Any], Any]  # from a sample to a prediction; often a Module
Loss = Callable[[Any, Any], Any]  # of a prediction and a target: one Value

SEQUENCE = "a sequence, with an entry for each sample"


class Samples:
    """n inputs and n targets: `inputs` is an array, shape (n, features).

    Both are copies, so the originals may change later, and Values in them are constants. ValueError
    if there are no samples, not as many targets as inputs, or a number that is not finite.
    """

    def __init__(self, inputs: Any, targets: Iterable[Any], subject: str = "fit") -> None:
        from numpy import argwhere, isfinite

        self.inputs = as_rows(inputs, f"{subject}, inputs")
        row = as_row(targets, f"{subject}, targets", SEQUENCE)
        as_constants = {id(y): leaf(y.data, 0) for t in row for y in values_in(t)}
        self.targets = deepcopy(row, as_constants)
        if not 0 < len(self) == len(self.targets):
            found = f"{counted(len(self), 'input')} and {counted(len(self.targets), 'target')}"
            raise ValueError(refusal(subject, found, "as many targets as inputs, and at least one"))
        for i, j in argwhere(~isfinite(self.inputs)):
            found, remedy = f"{self.inputs[i, j]} in row {i}", "leave the row out, or fill it in"
            raise ValueError(refusal(f"{subject}, inputs", found, "finite numbers", remedy))

    def __len__(self) -> int:
        return len(self.inputs)

    def input(self, i: int) -> Vector:
        """The input of sample i as a Vector of constants."""
        return constants(self.inputs[i].tolist())

    def target(self, i: int) -> Any:
        """The target of sample i: a copy, which a loss may change."""
        target = self.targets[i]
        return target if isinstance(target, Real) else deepcopy(target)


def constants(numbers: list[float]) -> Vector:
    """A row of numbers as a Vector that requires no gradient."""
    return Vector._of([leaf(number, 0) for number in numbers], (len(numbers),))


def values_in(data: Any) -> list[Value]:
    """The Values in a Value, Vector or Matrix, or in these in lists, tuples and dicts."""
    if isinstance(data, Value):
        return [data]
    parts = data.values() if isinstance(data, dict) else data
    several = isinstance(data, (Vector, Matrix, list, tuple, dict))
    return [x for part in parts for x in values_in(part)] if several else []


def as_rows(inputs: Any, subject: str) -> Floats:
    """Inputs as an array of floats, shape (n, features).

    Takes arrays, DataFrames and sequences of rows or numbers. TypeError if an entry is not a
    number, ValueError if rows differ in length. RuntimeError if an entry is a number of a function
    that is being differentiated.

    >>> as_rows([1, 2], "fit").tolist(), as_rows([[True, False]], "fit").tolist()
    ([[1.0], [2.0]], [[1.0, 0.0]])
    """
    import numpy

    rows = as_row(inputs, subject, SEQUENCE)
    for row in rows:
        if isinstance(row, numpy.ma.MaskedArray):
            check_mask(row, subject)  # numpy.array drops it
    try:
        array = numpy.array(rows)
        found = f"an array of shape {array.shape}"
    except ValueError:
        array, found = numpy.empty((0, 0, 0)), "rows of different lengths"
    if array.ndim > 2:
        remedy = "flatten or pad each sample: inputs.reshape(len(inputs), -1)"
        raise ValueError(refusal(subject, found, "rows of one length, shape (n, features)", remedy))
    array = array[:, None] if array.ndim == 1 else array
    if array.dtype.kind not in "biuf":
        times = array.dtype.kind in "mM"  # which tolist() makes integers
        numbers = array.flat if times else array.ravel().tolist()
        array = numpy.array([plain_number(x, subject) for x in numbers]).reshape(array.shape)
    return array.astype(float, copy=False)
