"""NumPy's functions of our numbers: NumPy asks a number, or an array that a transform made.

Left alone, it calls a method of each entry, x.exp(), which the floats beside our numbers lack.

With `tiny.py`, `np.maximum(x, 5.0)` is a TypeError.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from .admission import AnyNumber
from .errors import refusal
from .number import Number

if TYPE_CHECKING:
    import numpy as np


class Entries:
    """A number, a Vector or an array of numbers: NumPy's functions take it."""

    __slots__ = ()

    def __array_function__(
        self, function: Any, types: object, inputs: Sequence[Any], options: dict[str, Any]
    ) -> AnyNumber:
        options = {name: to_array(x) for name, x in options.items()}
        return _called(function.__name__, function.__wrapped__, map(to_array, inputs), options)


class Entry(Entries):
    """A number or an array of numbers: NumPy's operators go through it entry by entry, too."""

    __slots__ = ()

    def __array_ufunc__(
        self, ufunc: "np.ufunc", method: str, *inputs: AnyNumber, **options: Any
    ) -> AnyNumber:
        numpy, _, entrywise = _numpy()
        name, typed = ufunc.__name__, options.get("dtype")  # bool for any() and all()
        if name in LOGICAL and not typed:  # of objects NumPy returns one of the two
            remedy = f"compare first: np.{name}(x != 0, y != 0)"
            raise TypeError(refusal(name, "numbers that are being differentiated", "bools", remedy))
        own = None if typed else getattr(Number, name, None)
        call = getattr(entrywise(own, ufunc.nin, 1) if own else ufunc, method)

        def plain(x: AnyNumber) -> AnyNumber:
            if getattr(x, "dtype", None) == numpy.longdouble:  # which as an object asks again
                return x.astype(float)
            return numpy.array(x, object, copy=None) if isinstance(x, Entry) else x

        if method == "reduce" and options.get("where", True) is not True:
            options.setdefault("initial", ufunc.identity)  # which NumPy knows of floats alone
        if "out" in options:
            options["out"] = tuple(map(plain, options["out"]))
        return _called(name, call, map(plain, inputs), options)


def _called(
    name: str, call: Callable[..., AnyNumber], inputs: Iterable[Any], options: dict[str, Any]
) -> AnyNumber:
    try:
        return array_of(call(*inputs, **options))
    except (AttributeError, TypeError) as error:
        if not _of_numpy(error):
            raise
        found = "numbers that are being differentiated"
        raise TypeError(refusal(name, found, "floats", REMEDY)) from error


def _of_numpy(error: Exception) -> bool:
    """Whether NumPy raised it, and not a function that NumPy called, ours or the user's."""
    trace: Any = error.__traceback__  # from `_called` on
    compiled = not trace.tb_next
    while trace.tb_next:
        trace = trace.tb_next
    return compiled or trace.tb_frame.f_globals["__name__"].startswith("numpy.")


LOGICAL = "logical_and", "logical_or", "logical_xor"
REMEDY = (
    "use operators, @ and functions of autodiff, such as log(x) / math.log(2) for log2, and "
    "dtype=object for an array to fill"
)


def array_of(x: AnyNumber) -> AnyNumber:
    """An array of numbers as one that NumPy hands its functions to, or as its only number."""
    numpy, kind, _ = _numpy()
    if type(x) is not numpy.ndarray or x.dtype.kind != "O":
        return x
    return x.view(kind) if x.ndim else x[()]


def to_array(x: AnyNumber) -> AnyNumber:
    """A number, a Vector or a Matrix as an array that NumPy hands its functions to."""
    numpy, kind, _ = _numpy()
    own = isinstance(x, Entries) and not isinstance(x, numpy.ndarray)
    return numpy.array(x, object).view(kind) if own else x


@cache
def _numpy() -> Any:
    """NumPy, the kind of array that transforms make, and how a function goes through arrays."""
    import numpy

    return numpy, type("Array", (Entry, numpy.ndarray), {}), cache(numpy.frompyfunc)
