"""Training samples: the inputs as one array, and each sample as a model takes it."""

from collections.abc import Iterable
from itertools import chain
from math import isfinite
from typing import Any

from ..errors import counted, message
from ..functions import as_row, is_array
from ..linalg import Vector
from ..number import check_outside
from ..value import leaf


class Samples:
    """n inputs and n targets; `inputs[i]` is a row of floats.

    `even` tells whether all rows have the same length, so that `inputs` is an array, shape
    (n, features). Both are copies, so the originals may change later. ValueError if there are no
    samples, or not as many targets as inputs.
    """

    def __init__(self, inputs: Any, targets: Iterable[Any], where: str = "fit") -> None:
        import numpy

        self.inputs = as_rows(inputs, f"{where}, inputs")
        self.targets = list(map(_copied, as_list(targets, f"{where}, targets")))
        self.even = not isinstance(self.inputs, list)
        if not len(self) or len(self) != len(self.targets):
            found = f"{counted(len(self), 'input')} and {counted(len(self.targets), 'target')}"
            raise ValueError(message(where, found, "as many targets as inputs, and at least one"))
        for i, row in enumerate(self.inputs):
            if not numpy.isfinite(row).all():
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


def _copied(target: Any) -> Any:
    """A target with copies of its lists and arrays; Values and other objects stay the same."""
    if type(target) in (list, tuple):
        return type(target)(map(_copied, target))
    if type(target) is dict:
        return {key: _copied(part) for key, part in target.items()}
    return target.copy() if is_array(target) else target


SEQUENCE = "a sequence, with an entry for each sample"


def as_list(targets: Any, where: str) -> list[Any]:
    """The targets in a list: rows of an array or a DataFrame, entries of a sequence."""
    found = list(as_row(targets, where, SEQUENCE))
    for row in [row for row in found if hasattr(row, "compressed")]:
        as_row(row, where, SEQUENCE)  # raises a TypeError
    return found


def as_rows(inputs: Any, where: str) -> Any:
    """Inputs as an array of floats, shape (n, features); a list of rows if their lengths differ.

    Takes arrays, DataFrames and sequences of rows or numbers. TypeError if an entry is not a
    number, or if inputs are a dict or a set. RuntimeError if an entry is a number of a function
    that is being differentiated.

    >>> as_rows([1, 2], "fit").tolist(), as_rows([[True, False]], "fit").tolist()
    ([[1.0], [2.0]], [[1.0, 0.0]])
    """
    import numpy

    inputs = as_row(inputs, where, SEQUENCE)
    given = inputs if hasattr(inputs, "__array__") else as_list(inputs, where)
    try:
        array = numpy.asarray(given)
    except ValueError:  # rows of different lengths
        array = numpy.empty(0, object)
    if array.ndim > 2:
        found, expected = f"an array of shape {array.shape}", "a row for each sample"
        remedy = "write inputs.reshape(len(inputs), -1)"
        raise ValueError(message(where, found, expected, remedy))
    if array.dtype.kind in "biuf" and array.ndim in (1, 2) and array.size:
        return numpy.array(array.reshape(len(array), -1), dtype=float)
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
