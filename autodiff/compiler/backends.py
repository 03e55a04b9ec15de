"""Array libraries: a class for each says what it does differently.

It reads arrays for its programs, writes what the printer cannot write alike for all, and computes
what the library lacks.
"""

import math
import sys
from collections.abc import Sequence
from contextvars import copy_context
from numbers import Complex, Number
from typing import Any

from ..engine.admission import as_float, check_mask
from ..engine.errors import refusal
from ..engine.operation import Operation


class Library:
    """An array library, `xp`, whose arrays have the methods of NumPy's.

    Methods without a docstring return the text of what they are called.
    """

    real: Any = float  # the type of what comes as integers
    has_devices = False  # whether a program says where a new array belongs
    array_alone: Sequence[str] = ()  # functions that take no plain number beside an array
    concatenate, largest = "concatenate", "max"

    def __init__(self, xp: Any) -> None:
        self.xp = xp

    def floats(self, x: Any) -> Any:
        """Numbers as an array of this library: integers as floats, and float32 as it is."""
        check_mask(x, "program")  # asarray would take what lies under it
        array = x if self.owns(x) else self.read(x)
        if self.holds(array, "complex floating"):
            raise TypeError(refusal("program", "complex numbers", "real ones", "take their .real"))
        floating = self.holds(array, "real floating")
        return array if floating else self.xp.asarray(array, dtype=self.real)

    def owns(self, x: Any) -> bool:
        """Whether x is an array of this library."""
        return hasattr(x, "__array_namespace__") and x.__array_namespace__() is self.xp

    def read(self, x: Any) -> Any:
        """An array of this library from lists, numbers, and arrays of others.

        NumPy reads them: PyTorch would take the bytes of an array.array.
        """
        import numpy as np

        array = np.asarray(x)
        if array.dtype.kind not in "fiubV":  # JAX's bfloat16 is a "V"
            array = np.array([real(each) for each in array.flat], float).reshape(array.shape)
        elif isinstance(x, (list, tuple, int, float)):
            return self.xp.asarray(x)  # the library knows which precision
        return self.xp.asarray(np.require(array, requirements="W"))

    def holds(self, x: Any, kind: str) -> bool:
        """Whether an array holds numbers of this kind, in the words of the standard."""
        return bool(self.xp.isdtype(x.dtype, kind))

    # What differs in the text of a program.

    def along(self, name: str, x: str, axis: int) -> str:
        """The text of a sum or a maximum along an axis."""
        return f"{x}.{name}(axis={axis})"

    def reshaped(self, x: str, *lengths: int) -> str:
        return f"{x}.reshape({', '.join(map(str, lengths))})"

    def transposed(self, x: str, *order: int) -> str:
        moved = [i for i, axis in enumerate(order) if i != axis]
        if len(moved) == 2:
            return f"{x}.swapaxes({moved[0]}, {moved[1]})"
        letters = ["ijkl"[axis] for axis in order]
        return f'xp.einsum("{"".join(sorted(letters))}->{"".join(letters)}", {x})'

    def part(self, x: str, index: str) -> str:
        return f"{x}[{index}]"

    def gathered(self, x: str, positions: str, *lengths: int) -> str:
        return f"{x}[{positions}]"

    def einsum(self, formula: str, x: str, y: str) -> str:
        return f'xp.einsum("{formula}", {x}, {y})'

    def vectorized(self, function: str, operation: Operation) -> str:
        found = f"{operation.__name__}, computed by a function of floats"
        expected = "operations of this package, or made of them"
        raise TypeError(refusal(f"compile, {self.xp.__name__}", found, expected))

    # What libraries lack, computed.

    def sigmoid(self, x: Any) -> Any:
        """1 / (1 + e⁻ˣ), by the power that cannot overflow."""
        power = self.xp.exp(-abs(x))
        return self.xp.where(x < 0, power, 1.0) / (1.0 + power)

    def erf(self, x: Any) -> Any:
        """The error function."""
        import numpy as np

        numbers = np.asarray(x)
        return self.xp.asarray(np.vectorize(math.erf, otypes=[numbers.dtype])(numbers))


class Standard(Library):
    """A library that keeps to the array API standard, of 2024 or later."""

    has_devices = True
    concatenate = "concat"

    def __init__(self, xp: Any) -> None:
        super().__init__(xp)
        self.real = xp.float64

    def along(self, name: str, x: str, axis: int) -> str:
        return f"xp.{name}({x}, axis={axis})"

    def reshaped(self, x: str, *lengths: int) -> str:
        return f"xp.reshape({x}, {lengths})"

    def transposed(self, x: str, *order: int) -> str:
        return f"xp.permute_dims({x}, {order})"

    def part(self, x: str, index: str) -> str:
        return f"{x}[{index}, ...]"  # it has to speak of all axes

    def gathered(self, x: str, positions: str, *lengths: int) -> str:
        row = f"xp.take({x}, {self.reshaped(positions, -1)}, axis=0)"  # positions of one axis
        return self.reshaped(row, *lengths)

    def einsum(self, formula: str, x: str, y: str) -> str:
        return f'einsum("{formula}", {x}, {y})'

    def scatter_add(self, values: Any, index: Any, shape: tuple[int, ...]) -> Any:
        """A product with ones, where a value belongs to a place, and zeros."""
        xp, flat = self.xp, self.xp.reshape(index, (-1,))
        ones = xp.astype(flat == xp.arange(shape[0])[:, None], values.dtype)
        return xp.reshape(ones @ xp.reshape(values, (flat.shape[0], -1)), shape)


class NumPy(Library):
    """NumPy."""

    def owns(self, x: Any) -> bool:
        return False  # a matrix, say, multiplies in its own way

    def vectorized(self, function: str, operation: Operation) -> str:
        return f"xp.vectorize({function}, [xp.float64])"

    def sigmoid(self, x: Any) -> Any:
        """1 / (1 + e⁻ˣ): where e⁻ˣ overflows, it is 0."""
        return copy_context().run(self._sigmoid, x)  # whatever happens, errstate is as before

    def _sigmoid(self, x: Any) -> Any:
        with self.xp.errstate(over="ignore"):
            return 1.0 / (1.0 + self.xp.exp(-x))

    def scatter_add(self, values: Any, index: Any, shape: tuple[int, ...]) -> Any:
        """Zeros, to which values are added."""
        sums = self.xp.zeros(shape, values.dtype)
        self.xp.add.at(sums, index, values)
        return sums


class JAX(Library):
    """JAX. Its traces lack a device; it moves arrays itself."""

    def erf(self, x: Any) -> Any:
        from jax.scipy.special import erf  # pyright: ignore[reportMissingImports]

        return erf(x)

    def scatter_add(self, values: Any, index: Any, shape: tuple[int, ...]) -> Any:
        """Zeros, to which values are added."""
        return self.xp.zeros(shape, values.dtype).at[index].add(values)


class PyTorch(Library):
    """PyTorch, whose max returns the indices as well."""

    has_devices = True
    array_alone = "maximum", "minimum", "hypot", "atan2"
    largest = "amax"

    def owns(self, x: Any) -> bool:
        return isinstance(x, self.xp.Tensor)

    def holds(self, x: Any, kind: str) -> bool:
        return bool(x.is_complex() if kind == "complex floating" else x.is_floating_point())

    def scatter_add(self, values: Any, index: Any, shape: tuple[int, ...]) -> Any:
        """Zeros, to which values are added."""
        return values.new_zeros(shape).index_put((index,), values, accumulate=True)


LIBRARIES = {"numpy": NumPy, "jax.numpy": JAX, "torch": PyTorch}


def library(xp: Any) -> Library:
    """What is to be known of an array library, given its module."""
    return LIBRARIES.get(xp.__name__, Standard)(xp)


def library_of(x: Any) -> Any:
    """The library of an array; those of PyTorch do not say it."""
    own = getattr(x, "__array_namespace__", None)
    return library(own() if own else sys.modules["torch"])


def keep_memory() -> None:
    """Make NumPy's large arrays reuse the memory of those before them.

    On Linux malloc returns a large block to the system as soon as it is freed. Getting it back,
    page by page, takes longer than computing with it: 2.6 times for a network of 64-32-10. It
    keeps blocks smaller than the largest that has been freed (mallopt(3)), so free one of 32 MB.
    """
    import numpy as np

    np.empty(2**25 - 2**16, np.uint8)


def real(x: Any) -> float:
    """A number as a float. One that is being differentiated refuses by itself."""
    number: Any = x
    of_decimals = isinstance(x, Number) and not isinstance(x, Complex)
    return float(number) if of_decimals or hasattr(x, "_record") else as_float(x, "program")


# -- Functions that programs import ---------------------------------------------------------------


def erf(x: Any) -> Any:
    """The error function of an array, or of a float in a program for arrays."""
    return math.erf(x) if type(x) in (float, int) else library_of(x).erf(x)


def sigmoid(x: Any) -> Any:
    """1 / (1 + e⁻ˣ) of an array, for any x."""
    return library_of(x).sigmoid(x)


def scatter_add(values: Any, index: Any, size: int) -> Any:
    """Zeros, with each of the values added at its index: (k, n) and (k,) give (size, n).

    >>> import numpy
    >>> scatter_add(numpy.array([1.0, 2.0, 4.0]), numpy.array([0, 2, 0]), 4)
    array([5., 0., 2., 0.])
    """
    return library_of(values).scatter_add(values, index, (size, *values.shape[index.ndim :]))


def einsum(formula: str, x: Any, y: Any) -> Any:
    """A sum of products by the letters of their axes, as "ij,jk->ik"."""
    of, result = formula.split("->")
    summed = sorted(set(of) - {",", *result})
    letters = [*result, *summed]
    xp, product = x.__array_namespace__(), 1.0
    for array, own in zip((x, y), of.split(",")):
        array = xp.permute_dims(array, [own.index(i) for i in letters if i in own])
        product = product * array[tuple([slice(None) if i in own else None for i in letters])]
    return xp.sum(product, axis=tuple(range(len(result), len(letters))))
