"""Mathematical functions of any kind of number.

`exp(2.0)` is a float, `exp(Value(2.0))` a node of a graph, `exp(Dual(2.0, 1.0))` a dual number,
`exp(array)` an array. A function here computes with plain numbers and arrays; any other kind of
number applies the operation of the same name from `ops.py`, where all derivatives are.
"""

import builtins
import functools
import math
import operator
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Protocol, SupportsFloat, TypeVar, cast, overload

from .errors import DOMAINS, FINITE, counted, explain, message, typed

if TYPE_CHECKING:
    from .number import Number

__all__ = [
    "acos", "asin", "atan", "atan2", "cos", "cosh", "dot", "erf", "exp", "expm1", "hypot", "less",
    "log", "log1p", "logsumexp", "maximum", "minimum", "prod", "relu", "sigmoid", "sin", "sinh",
    "softplus", "sqrt", "tan", "tanh", "where",
]  # fmt: skip

N = TypeVar("N", bound="Number")


class Function(Protocol):
    """The type of a function of one or more numbers: the result is of the same kind."""

    @overload
    def __call__(self, x: N, /, *more: N | SupportsFloat) -> N: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, x: SupportsFloat, y: N, /) -> N: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, *xs: SupportsFloat) -> float: ...


class OfMany(Protocol):
    """The type of a function of a sequence of numbers."""

    @overload
    def __call__(self, xs: Iterable[N], /) -> N: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, xs: Iterable[SupportsFloat], /) -> float: ...


# -- Admission: what is a number, and what is a row of them --------------------------------------


def as_float(x: Any, where: str) -> float:
    """x as a float; a TypeError that says what to write instead if x is not one real number.

    >>> from fractions import Fraction
    >>> as_float(Fraction(1, 2), "Value")
    0.5
    """
    if type(x) is float:  # by far the most frequent
        return x
    kind = getattr(getattr(x, "dtype", None), "kind", "f")  # c is complex, m and M are times
    if kind in "fiub" and (isinstance(x, Real) or getattr(x, "ndim", None) == 0):
        return float(x)
    remedy = next((text for kind, text in REMEDIES.items() if isinstance(x, kind)), "")
    if hasattr(x, "_level"):
        remedy = "it is a number of another kind already; use it as it is"
    expected = "one real number (int, float, Fraction or a numpy scalar)"
    raise TypeError(message(where, typed(x), expected, remedy))


REMEDIES: dict[Any, str] = {
    str | bytes: "convert it first: float(text)",
    type(None): "is a `return` missing in the function that made it?",
    complex: "take its .real, its .imag or abs() of it",
    Iterable: "make one Value of each number: Vector(data), or [Value(v) for v in data]",
}


def as_number(x: Any, where: str) -> Any:
    """x itself if it is a single number of any kind, else x as a float.

    >>> as_number(3, "Value")
    3.0
    """
    single = hasattr(x, "_call") and not isinstance(x, Iterable)  # a Number
    return x if single else as_float(x, where)


def as_row(data: Any, where: str, expected: str = "a sequence of numbers") -> Sequence[Any]:
    """The entries of a sequence of any type, in order; TypeError for anything else.

    >>> as_row(range(3), "sum")
    [0, 1, 2]
    """
    if isinstance(data, (list, tuple)):
        return data
    if not is_sequence(data):
        raise TypeError(message(where, typed(data), expected))
    return list(data.to_numpy() if hasattr(data, "to_numpy") else data)  # pandas


def is_sequence(x: Any) -> bool:
    """True if x holds numbers in an order: not for text, sets and dicts, nor for an array of one.

    >>> is_sequence([1.0]), is_sequence("1.0")
    (True, False)
    """
    several = isinstance(x, Iterable) and getattr(x, "ndim", None) != 0
    return several and not isinstance(x, (str, bytes, Mapping, set, frozenset))


def is_array(x: Any) -> bool:
    """True for arrays of numbers (numpy, JAX), by the array API standard; not for numpy scalars."""
    return hasattr(x, "__array_namespace__") and not (
        isinstance(x, Real) or type(x).__name__ == "bool"  # numpy's bool is not Real
    )


def as_floats(x: Any) -> Any:
    """An array of integers or bools as floats: numpy's small integers overflow without an error."""
    kind = getattr(getattr(x, "dtype", None), "kind", None)
    return x.astype(float) if kind in ("i", "u", "b") else x


_ONLY_FLOATS = {float}


def _admit_all(name: str, inputs: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
    """The first input that is neither a plain number nor an array, or None, and all inputs.

    If there is none, the inputs are floats and arrays of floats.
    """
    if _ONLY_FLOATS.issuperset(map(type, inputs)):  # the usual case, without a loop in Python
        return None, inputs
    for x in inputs:
        if hasattr(x, "_level"):
            return x, inputs
    return None, [as_floats(x) if is_array(x) else as_float(x, name) for x in inputs]


def _over_arrays(function: Any, of_array: Callable[..., Any] | None, *inputs: Any) -> Any:
    """The function of arrays: that of their library, or entry by entry if it has none.

    An array of objects holds numbers of other kinds; NumPy has no erf.
    """
    library = next(x.__array_namespace__() for x in inputs if is_array(x))  # numpy, jax.numpy
    of_array = of_array or getattr(library, function.__name__, None)
    objects = any(getattr(getattr(x, "dtype", None), "kind", "") == "O" for x in inputs)
    if of_array and not objects:
        return of_array(*inputs)
    entries = sys.modules["numpy"].frompyfunc(function, len(inputs), 1)(*inputs)
    return entries if objects else sys.modules["numpy"].asarray(entries, float)


# -- Functions of one number --------------------------------------------------------------------

UNARY: dict[str, Any] = {}  # the functions of one number, which are methods of numbers too


def _unary(
    of_float: Callable[[float], float],
    example: tuple[float, float],
    text: str,
    domain: str = "",
    of_array: Callable[[Any], Any] | None = None,
) -> Function:
    """A function of any kind of number, with the name of `of_float`, and a docstring.

    Over arrays it is their library's function of that name, or `of_array`.
    """
    name = of_float.__name__.strip("_")

    def function(x: Any, /) -> Any:
        if type(x) is not float:
            if hasattr(x, "_level"):
                return x._call(name, x)
            if is_array(x):
                return _over_arrays(function, of_array, as_floats(x))
            x = as_float(x, name)
        try:
            return of_float(x)
        except (ValueError, OverflowError) as error:
            raise explain(error, name, {"x": x}) from None

    function.__name__ = function.__qualname__ = name
    text += f" ValueError unless {domain}." if domain else ""
    function.__doc__ = f"{text}\n\n>>> round({name}({example[0]}), 6)\n{example[1]}\n"
    UNARY[name], DOMAINS[name] = function, domain
    return cast(Function, function)


class Method(Protocol):
    """The type of a method that takes nothing else."""

    def __get__(self, x: N, kind: Any) -> Callable[[], N]: ...


class Methods:
    """The functions of one number as methods, x.exp(): `number.py` makes them of these rows."""

    __slots__ = ()

    exp: Method
    expm1: Method
    log: Method
    log1p: Method
    sqrt: Method
    sin: Method
    cos: Method
    tan: Method
    asin: Method
    acos: Method
    atan: Method
    sinh: Method
    cosh: Method
    tanh: Method
    erf: Method
    sigmoid: Method
    relu: Method
    softplus: Method


def _sigmoid(x: Any) -> Any:
    e = exp(-abs(x))  # never overflows; 1 / (1 + exp(-x)) does at x = -1000
    return where(less(x, 0.0), e, 1.0) / (1.0 + e)


def _relu(x: Any) -> Any:
    return maximum(0.0, x)  # nan stays nan


def _softplus(x: Any) -> Any:
    return maximum(0.0, x) + log1p(exp(-abs(x)))  # log(1 + exp(1000)) overflows


# fmt: off
exp = _unary(
    math.exp, (1.0, 2.718282), "e to the power x. OverflowError above x = 709.78.")
expm1 = _unary(
    math.expm1, (1e-6, 1e-06),
    "e to the power x, minus 1, exact for tiny x. OverflowError above x = 709.78.")
log = _unary(math.log, (10.0, 2.302585), "The natural logarithm of x.", "x > 0")
log1p = _unary(
    math.log1p, (1e-6, 1e-06),
    "The natural logarithm of 1 + x, exact for tiny x.", "x > -1")
sqrt = _unary(
    math.sqrt, (9.0, 3.0),
    "The square root of x. Its derivative at 0 is infinite: a ZeroDivisionError.", "x >= 0")
sin = _unary(math.sin, (0.5, 0.479426), "The sine of x radians.", FINITE)
cos = _unary(math.cos, (0.5, 0.877583), "The cosine of x radians.", FINITE)
tan = _unary(math.tan, (0.5, 0.546302), "The tangent of x radians.", FINITE)
asin = _unary(
    math.asin, (1.0, 1.570796),
    "The angle in [-π/2, π/2] whose sine is x, in radians.", "-1 <= x <= 1")
acos = _unary(
    math.acos, (0.0, 1.570796),
    "The angle in [0, π] whose cosine is x, in radians.", "-1 <= x <= 1")
atan = _unary(
    math.atan, (1.0, 0.785398),
    "The angle in (-π/2, π/2) whose tangent is x, in radians.")
sinh = _unary(
    math.sinh, (1.0, 1.175201),
    "The hyperbolic sine of x. OverflowError above |x| = 710.47.")
cosh = _unary(
    math.cosh, (1.0, 1.543081),
    "The hyperbolic cosine of x. OverflowError above |x| = 710.47.")
tanh = _unary(math.tanh, (0.5, 0.462117), "The hyperbolic tangent of x.")
abs = _unary(
    builtins.abs, (-3.0, 3.0),
    "The absolute value of x. Its derivative at 0 is 0.")
erf = _unary(
    math.erf, (0.5, 0.5205),
    r"The error function, $\frac{2}{\sqrt{\pi}} \int_0^x e^{-t^2} dt$.")
sigmoid = _unary(
    _sigmoid, (-1000.0, 0.0),
    "The logistic function $1 / (1 + e^{-x})$, without overflow for any x.",
    of_array=_sigmoid)
relu = _unary(
    _relu, (-3.0, 0.0),
    "The rectified linear unit: x where x > 0, else 0. Its derivative at 0 is 0.",
    of_array=_relu)
softplus = _unary(
    _softplus, (1000.0, 1000.0),
    r"$\log(1 + e^x)$, the smooth relu, without overflow for any x.",
    of_array=_softplus)
# fmt: on


# -- Functions of two and three numbers ---------------------------------------------------------


def _binary(of_plain: Callable[[Any, Any], Any]) -> Function:
    """A function of two numbers of any kind, from one of floats."""
    name = of_plain.__name__

    @functools.wraps(of_plain)
    def function(x: Any, y: Any, /) -> Any:
        if type(x) is float is type(y):
            return of_plain(x, y)
        lead, (x, y) = _admit_all(name, (x, y))
        if lead is not None:
            return lead._call(name, x, y)
        if is_array(x) or is_array(y):
            return _over_arrays(function, None, x, y)
        return of_plain(x, y)

    return cast(Function, function)


def _typed(function: Any) -> Function:
    return cast(Function, function)


def power(x: Any, n: Any) -> Any:
    """x to the power n. ValueError if that is not real, as for (-8) ** (1/3).

    ZeroDivisionError for 0 to a negative power, OverflowError for results above 1.8e308.

    >>> power(2, 10), power(0.0, 0.0)
    (1024.0, 1.0)
    """
    lead, (x, n) = _admit_all("power", (x, n))
    if lead is not None or not type(x) is float is type(n):
        return x**n
    try:
        result = x**n
    except (ZeroDivisionError, OverflowError) as error:
        raise explain(error, "power", {"x": x, "n": n}) from None
    if type(result) is complex:
        raise explain(ValueError(), "power", {"x": x, "n": n})
    return result


@_binary
def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y), in radians, in [-π, π].

    Its derivatives at the origin are undefined: a ZeroDivisionError.

    >>> round(atan2(1.0, -1.0), 6)
    2.356194
    """
    return math.atan2(y, x)


@_binary
def maximum(x: Any, y: Any) -> Any:
    """The larger of x and y, nan if one is nan. If they are equal, each gets half the derivative.

    >>> maximum(2, 3)
    3.0
    """
    return x if x >= y or x != x else y  # x != x: nan stays nan


@_binary
def minimum(x: Any, y: Any) -> Any:
    """The smaller of x and y, nan if one is nan. If they are equal, each gets half the derivative.

    >>> minimum(2, 3)
    2.0
    """
    return x if x <= y or x != x else y


@_binary
def less(x: Any, y: Any) -> Any:
    """1.0 where x < y, else 0.0: a comparison as an operation, and so a node of a graph.

    >>> less(2, 3), less(3, 3)
    (1.0, 0.0)
    """
    return 1.0 if x < y else 0.0


@_binary
def less_equal(x: Any, y: Any) -> Any:
    """1.0 where x <= y, else 0.0.

    >>> less_equal(3, 3), less_equal(4, 3)
    (1.0, 0.0)
    """
    return 1.0 if x <= y else 0.0


def where(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds (is not 0), else y. The condition has no derivative.

    If the condition is a bool or a plain number, x or y itself is returned; if it is an array
    or a number such as a Value, the choice is an operation.

    >>> where(2 > 1, 10.0, 20.0)
    10.0
    """
    if type(condition) is float:
        return x if condition else y
    if hasattr(condition, "_level"):
        return condition._call("where", condition, x, y)
    if is_array(condition):
        return _over_arrays(where, None, condition, x, y)
    return x if as_float(condition, "where, the condition") else y


# -- Functions of any number of numbers ---------------------------------------------------------


def _of_many(of_plain: Callable[[Any], Any]) -> OfMany:
    """A function of a sequence of any kind of number, from one of plain numbers and arrays."""
    name = of_plain.__name__

    @functools.wraps(of_plain)
    def function(xs: Any, /) -> Any:
        lead, xs = _admit_all(name, _flat(name, xs))
        return of_plain(xs) if lead is None else lead._call(name, *xs)

    return cast(OfMany, function)


# Since Python 3.12 the builtin sum compensates for rounding if it starts from a float. Its result
# would then differ in the last digits from an ordinary sum, such as that of a compiled program.
_ZERO = 0.0 if sys.version_info < (3, 12) else False


def _flat(name: str, xs: Any) -> Sequence[Any]:
    """The numbers of a flat sequence, to count and to go through twice."""
    if isinstance(xs, (list, tuple)):
        return xs
    if len(getattr(xs, "shape", ())) > 1:
        remedy = "to add all its numbers write A.sum(), for a product A @ x"
        found = f"{type(xs).__name__} of shape {tuple(xs.shape)}"
        raise TypeError(message(name, found, "numbers in a row", remedy))
    return as_row(xs, name, f"a sequence of numbers: {name}([x, y])")


@_of_many
def sum(xs: Any) -> Any:
    """The sum of the numbers in xs: one operation, however many there are.

    TypeError if xs is not a sequence of numbers.

    >>> sum([1, 2, 3])
    6.0
    """
    return builtins.sum(xs, _ZERO) + 0.0


@_of_many
def prod(xs: Any) -> Any:
    """The product of the numbers in xs: one operation, however many there are.

    TypeError if xs is not a sequence of numbers.

    >>> prod([1, 2, 3, 4])
    24.0
    """
    return math.prod(xs, start=1.0)


@_of_many
def logsumexp(xs: Any) -> Any:
    r"""$\log(e^{x_1} + \dots + e^{x_n})$ without overflow: one operation, however many there are.

    ValueError if xs is empty, TypeError if it is not a sequence of numbers.

    >>> round(logsumexp([1000, 1000]), 6)
    1000.693147
    """
    if not xs:
        raise ValueError(message("logsumexp", "no numbers", "at least one"))
    top = largest(xs)
    if type(top) is float and not math.isfinite(top):
        return top  # the powers would be nan
    return top + log(sum([exp(x - top) for x in xs]))


@_of_many
def largest(xs: Any) -> Any:
    """The largest of xs, without a derivative: for a shift that cancels out of the result.

    >>> largest([1.0, 3.0, 2.0])
    3.0
    """
    return functools.reduce(maximum, xs)


@overload
def dot(xs: Iterable[N], ys: Iterable[N | SupportsFloat], /) -> N: ...  # type: ignore[overload-overlap]
@overload
def dot(xs: Iterable[SupportsFloat], ys: Iterable[SupportsFloat], /) -> float: ...
def dot(xs: Any, ys: Any, /) -> Any:
    r"""$x_1 y_1 + \dots + x_n y_n$: one operation, however many there are.

    ValueError unless xs and ys are equally long.

    >>> dot([1, 2, 3], [4, 5, 6])
    32.0
    """
    xs, ys = _flat("dot", xs), _flat("dot", ys)
    if len(xs) != len(ys):
        lengths = f"{len(xs)} and {counted(len(ys), 'number')}"
        raise ValueError(message("dot", lengths, "equally many on both sides"))
    lead, inputs = _admit_all("dot", (*xs, *ys))
    if lead is not None:
        return lead._call("dot", *inputs)
    return builtins.sum(map(operator.mul, inputs, inputs[len(xs) :]), _ZERO) + 0.0


@_typed
def hypot(*xs: Any) -> Any:
    r"""The Euclidean norm $\sqrt{x_1^2 + \dots + x_n^2}$, without overflow: one operation.

    Its derivatives at the origin, where it has a kink, are 0. TypeError if an x is not a number.

    >>> hypot(3, 4)
    5.0
    """
    lead, numbers = _admit_all("hypot", xs)
    if lead is not None:
        return lead._call("hypot", *xs)
    if any(map(is_array, numbers)):
        if len(numbers) == 2:
            return _over_arrays(hypot, None, *numbers)
        return functools.reduce(hypot, numbers) if numbers[1:] else abs(numbers[0])
    return math.hypot(*numbers)
