"""What NumPy, JAX and PyTorch do differently."""

import importlib
import math
from typing import Any


def ours(xp: Any) -> set[str]:
    """The functions of this module that a program for a library needs."""
    return {"scatter_add"} if hasattr(xp, "erf") else {"scatter_add", "erf"}


def takes_numbers(xp: Any, name: str) -> bool:
    """Whether a function takes a plain number beside an array: some of PyTorch's do not."""
    return xp.__name__ != "torch" or name not in ("maximum", "minimum", "hypot")


def erf(x: Any) -> Any:
    """The error function of an array."""
    if type(x).__module__ == "numpy":  # it has none
        xp = importlib.import_module("numpy")
        return xp.vectorize(math.erf, otypes=[xp.result_type(x, xp.float32)])(x)
    from jax.scipy.special import erf

    return erf(x)


def scatter_add(values: Any, index: Any, size: int) -> Any:
    """Arrays of zeros with the values added at an index each: (..., k) and (k,) give (..., size).

    >>> import numpy
    >>> scatter_add(numpy.array([[1.0, 2.0, 4.0]]), numpy.array([0, 2, 0]), 4)
    array([[5., 0., 2., 0.]])
    """
    xp = importlib.import_module(type(values).__module__.partition(".")[0])
    shape = (*values.shape[:-1], size)
    if xp.__name__ == "torch":
        return xp.zeros(shape, dtype=values.dtype).index_add(-1, index, values)
    if xp.__name__ == "numpy":
        sums = xp.zeros(shape, values.dtype)
        xp.add.at(sums, (..., index), values)
        return sums
    zeros = values.__array_namespace__().zeros(shape, values.dtype)
    return zeros.at[..., index].add(values)  # JAX
