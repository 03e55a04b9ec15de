"""Training samples: the inputs as one array, and each sample as a model takes it."""

from collections.abc import Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

from ..errors import counted, message
from ..functions import as_row
from ..linalg import Vector
from ..number import check_outside
from ..value import leaf

SEQUENCE = "a sequence, with an entry for each sample"


class Samples:
    """n inputs and n targets; `inputs[i]` is a row of floats.

    `inputs` is an array, shape (n, features), or a list if the rows differ in length. Both are
    copies, so the originals may change later. ValueError if there are no samples, not as many
    targets as inputs, or a number that is not finite.
    """

    def __init__(self, inputs: Any, targets: Any, where: str = "fit") -> None:
        from numpy import isfinite

        self.inputs = as_rows(inputs, f"{where}, inputs")
        self.targets = deepcopy(as_row(targets, f"{where}, targets", SEQUENCE))
        if not len(self) or len(self) != len(self.targets):
            found = f"{counted(len(self), 'input')} and {counted(len(self.targets), 'target')}"
            raise ValueError(message(where, found, "as many targets as inputs, and at least one"))
        for i, row in enumerate(self.inputs):
            if not isfinite(row).all():
                found = f"{next(float(x) for x in row if not isfinite(x))} in row {i}"
                remedy = "leave the row out, or fill in a number"
                raise ValueError(message(f"{where}, inputs", found, "finite numbers", remedy))

    def __len__(self) -> int:
        return len(self.inputs)

    def input(self, i: int) -> Vector:
        """The input of sample i as a Vector of constants."""
        return constants(self.inputs[i])


def constants(row: Any) -> Vector:
    """A row of floats as a Vector that requires no gradient."""
    numbers = row if isinstance(row, list) else row.tolist()
    return Vector._of([leaf(number, 0) for number in numbers], (len(numbers),))


def as_rows(inputs: Any, where: str) -> Any:
    """Inputs as an array of floats, shape (n, features); a list of rows if their lengths differ.

    Takes arrays, DataFrames and sequences of rows or numbers. TypeError if an entry is not a
    number, or if inputs are a dict or a set. RuntimeError if an entry is a number of a function
    that is being differentiated.

    >>> as_rows([1, 2], "fit").tolist(), as_rows([[True, False]], "fit").tolist()
    ([[1.0], [2.0]], [[1.0, 0.0]])
    """
    import numpy

    given = as_row(inputs, where, SEQUENCE)
    try:
        array = numpy.array(given)
    except ValueError:  # rows of different lengths
        array = numpy.empty(0, object)
    if array.ndim > 2:
        found, expected = f"an array of shape {array.shape}", "a row for each sample"
        remedy = "write inputs.reshape(len(inputs), -1)"
        raise ValueError(message(where, found, expected, remedy))
    if array.dtype.kind in "biuf" and array.size:
        return array.reshape(len(array), -1).astype(float, copy=False)
    vectors = [Vector(x if isinstance(x, Iterable) else [x]) for x in given]
    for x in chain.from_iterable(vectors):
        check_outside(x, where)  # its derivative would be lost
    rows = [vector.data for vector in vectors]
    return numpy.array(rows) if len({len(row) for row in rows}) == 1 else rows


def flat(data: Any, where: str) -> tuple[tuple[Any, ...], list[Any]]:
    """The shape of nested sequences, and their numbers; for ragged ones, the shapes of the parts.

    >>> flat([[1.0, 2.0]], "fit")
    ((1, 2), [1.0, 2.0])
    """
    single = isinstance(data, (str, bytes)) or getattr(data, "ndim", None) == 0
    if single or not isinstance(data, Iterable):
        return (), [data]
    rows: Any = as_row(data, where, "numbers in lists")
    parts = [flat(part, where) for part in (rows.tolist() if hasattr(rows, "tolist") else rows)]
    shapes = [shape for shape, _ in parts]
    shape = (len(parts), *(shapes[0] if len(set(shapes)) == 1 else shapes))
    return shape, [number for _, numbers in parts for number in numbers]
