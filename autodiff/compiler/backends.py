"""What NumPy, JAX and PyTorch do differently."""

import importlib
import math
import sys
from contextvars import copy_context
from numbers import Complex, Number
from typing import Any

from ..engine.admission import as_float
from ..engine.errors import refusal
from ..engine.operation import Operation


def floats(xp: Any, x: Any) -> Any:
    """Numbers as an array of this library: integers as floats, and float32 as it is.

    NumPy reads what is not the library's own: PyTorch would take the bytes of an array.array.
    """
    if hasattr(x, "filled"):  # a masked array: asarray would take what lies under its mask
        remedy = "fill them: data.filled(0.0)"
        raise TypeError(refusal("program", "unknown numbers", "an array of known ones", remedy))
    of_torch = xp.__name__ == "torch"
    if xp.__name__ == "numpy" or not isinstance(x, xp.Tensor if of_torch else xp.ndarray):
        x = _read(xp, x)
    if of_torch:
        is_complex, floating = x.is_complex(), x.is_floating_point()
    else:
        is_complex, floating = x.dtype.kind == "c", x.dtype.kind in "fV"  # JAX's bfloat16 is a "V"
    if is_complex:
        raise TypeError(refusal("program", "complex numbers", "real ones", "take their .real"))
    return x if floating else xp.asarray(x, dtype=float)


def _read(xp: Any, x: Any) -> Any:
    """An array of this library from lists, numbers, and arrays of others."""
    np = importlib.import_module("numpy")
    array = np.asarray(x)
    if array.dtype.kind not in "fiubV":
        array = np.array([real(each) for each in array.flat], float).reshape(array.shape)
    elif xp is not np and isinstance(x, (list, tuple, int, float)):
        return xp.asarray(x)  # the library knows which precision
    return array if xp is np else xp.asarray(np.require(array, requirements="W"))


def real(x: Any) -> float:
    """A number as a float. One that is being differentiated refuses by itself."""
    of_decimals = isinstance(x, Number) and not isinstance(x, Complex)
    return float(x) if of_decimals or hasattr(x, "_record") else as_float(x, "program")


def importable(operation: Operation) -> tuple[str, str]:
    """The module and the name of the function that computes an operation of a user's.

    TypeError if a program cannot import it.
    """
    value: Any = operation.value
    module, name = getattr(value, "__module__", None) or "", getattr(value, "__qualname__", "")
    words = [*module.split("."), name]
    if getattr(sys.modules.get(module), name, None) is value and all(map(str.isidentifier, words)):
        return module, name
    found = f"{operation.__name__}, computed by a function without a name in a module"
    remedy = "define it with def at the top of a module"
    raise TypeError(refusal("compile", found, "one that a program can import", remedy))


def takes_numbers(xp: Any, name: str) -> bool:
    """Whether a function takes a plain number beside an array: some of PyTorch's do not."""
    return xp.__name__ != "torch" or name not in ("maximum", "minimum", "hypot", "atan2")


def largest(xp: Any) -> str:
    """The method for the maximum along an axis: PyTorch's max returns the indices as well."""
    return "amax" if xp.__name__ == "torch" else "max"


def keep_memory(xp: Any) -> None:
    """Make NumPy's large arrays reuse the memory of those before them.

    On Linux malloc returns a large block to the system as soon as it is freed. Getting it back,
    page by page, takes longer than computing with it: 2.6 times for a network of 64-32-10. It
    keeps blocks smaller than the largest that has been freed (mallopt(3)), so free one of 32 MB.
    """
    if xp.__name__ == "numpy":
        xp.empty(2**25 - 2**16, xp.uint8)


def erf(x: Any) -> Any:
    """The error function of an array, or of a float in a program for arrays."""
    if type(x) in (float, int):
        return math.erf(x)
    if type(x).__module__ == "numpy":  # it has no erf
        xp = importlib.import_module("numpy")
        return xp.vectorize(math.erf, otypes=[x.dtype])(x)
    from jax.scipy.special import erf  # pyright: ignore[reportMissingImports]

    return erf(x)


def sigmoid(x: Any) -> Any:
    """1 / (1 + e⁻ˣ) of an array, for any x: where e⁻ˣ overflows, it is 0."""
    if type(x).__module__ == "numpy":
        return copy_context().run(_sigmoid, x)  # whatever happens, errstate is as before
    from jax.nn import sigmoid  # pyright: ignore[reportMissingImports]

    return sigmoid(x)


def _sigmoid(x: Any) -> Any:
    xp = importlib.import_module("numpy")
    with xp.errstate(over="ignore"):
        return 1.0 / (1.0 + xp.exp(-x))


def scatter_add(values: Any, index: Any, size: int) -> Any:
    """Zeros, with each of the values added at its index: (k, n) and (k,) give (size, n).

    >>> import numpy
    >>> scatter_add(numpy.array([1.0, 2.0, 4.0]), numpy.array([0, 2, 0]), 4)
    array([5., 0., 2., 0.])
    """
    shape = (size, *values.shape[index.ndim :])
    if hasattr(values, "index_put"):  # PyTorch
        return values.new_zeros(shape).index_put((index,), values, accumulate=True)
    xp = values.__array_namespace__()
    sums = xp.zeros(shape, values.dtype)
    if hasattr(sums, "at"):  # JAX
        return sums.at[index].add(values)
    xp.add.at(sums, index, values)
    return sums
