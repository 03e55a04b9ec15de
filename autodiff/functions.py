"""Mathematical functions of any kind of number.

`exp(2.0)` is a float, `exp(Value(2.0))` a node of a graph, `exp(Dual(2.0, 1.0))` a dual number,
`exp(array)` an array. A function here computes with plain numbers and arrays; any other kind of
number applies the operation of the same name from `ops.py`, where all derivatives are.
"""

import builtins
import cmath
import functools
import math
import operator
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Protocol, SupportsFloat, TypeVar, cast, overload

from .errors import a, counted, explain, message, typed

if TYPE_CHECKING:
    from .number import Number

N = TypeVar("N", bound="Number")


class Unary(Protocol):
    """The type of a function of one number: the result is of the same kind."""

    @overload
    def __call__(self, x: N, /) -> N: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, x: SupportsFloat, /) -> float: ...
    @overload
    def __call__(self, x: Any, /) -> Any: ...


class Binary(Protocol):
    """The type of a function of two numbers."""

    @overload
    def __call__(self, x: N, y: N | SupportsFloat, /) -> N: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, x: SupportsFloat, y: N, /) -> N: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, x: SupportsFloat, y: SupportsFloat, /) -> float: ...
    @overload
    def __call__(self, x: Any, y: Any, /) -> Any: ...


class OfMany(Protocol):
    """The type of a function of a sequence of numbers."""

    @overload
    def __call__(self, xs: Iterable[N], /) -> N: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, xs: Iterable[SupportsFloat], /) -> float: ...
    @overload
    def __call__(self, xs: Iterable[Any], /) -> Any: ...


# -- Plain numbers and arrays -------------------------------------------------------------------

_ONLY_FLOATS = {float}


def as_float(x: Any, where: str) -> float:
    """x as a float; a TypeError that says what to write instead if x is not a real number.

    >>> from fractions import Fraction
    >>> as_float(Fraction(1, 2), "Value")
    0.5
    """
    if type(x) is float:  # by far the most frequent
        return x
    number: Any = x
    kind = getattr(getattr(x, "dtype", None), "kind", "f")  # f, i, u, b; c is complex, m a time
    single = isinstance(x, Real) or (getattr(x, "ndim", None) == 0 and not is_masked(x))
    if single and kind in "fiub":
        try:
            found = float(number)
            if number != found and math.isinf(found):  # numpy's longdouble does not raise
                raise OverflowError
            return found
        except OverflowError:
            raise OverflowError(f"{where}: found a number too large for a float") from None
    remedies: dict[type, str] = {
        str: "convert it first: float(text)",
        bytes: "convert it first: float(text)",
        type(None): "is a `return` missing in the function that made it?",
        complex: "take its .real, its .imag or abs() of it",
        set: UNORDERED,
        frozenset: UNORDERED,
    }
    remedy = next((text for kind, text in remedies.items() if isinstance(x, kind)), "")
    remedy = MASKED if is_masked(x) else remedy
    if not remedy and hasattr(x, "_level"):
        remedy = "it is a number of another kind already; use it as it is"
    elif not remedy and isinstance(x, Iterable):
        remedy = "make one Value of each number: Vector(data), or [Value(v) for v in data]"
    expected = "one real number (int, float, Fraction or a numpy scalar)"
    raise TypeError(message(where, typed(x), expected, remedy))


NOT_SEQUENCES = (str, bytes, Mapping, set, frozenset)  # iterables without numbers in an order
UNORDERED = "put its numbers in an order: sorted(data)"
MASKED = "numbers behind a mask are unknown: take data.compressed(), or data.filled(0.0)"


def sequence(data: Any, where: str, expected: str) -> Any:
    """The data, or its array if it is from pandas.

    TypeError unless it has an order and all its numbers are known.
    """
    if not is_sequence(data):
        remedy = UNORDERED if isinstance(data, (set, frozenset)) else ""
        remedy = MASKED if is_masked(data) else remedy
        raise TypeError(message(where, typed(data), expected, remedy))
    to_numpy = getattr(data, "to_numpy", None)  # a DataFrame iterates over its columns' names
    return to_numpy() if to_numpy else data


def is_sequence(x: Any) -> bool:
    """True if x holds numbers in an order, all of them known: not for an array of one number."""
    several = isinstance(x, Iterable) and getattr(x, "ndim", None) != 0
    return several and not isinstance(x, NOT_SEQUENCES) and not is_masked(x)


def is_masked(x: Any) -> bool:
    """True for numpy's masked arrays: an iteration over one ignores its mask."""
    return hasattr(x, "compressed")


def is_array(x: Any) -> bool:
    """True for arrays of numbers (numpy, JAX), by the array API standard; not for numpy scalars."""
    return hasattr(x, "__array_namespace__") and not (
        isinstance(x, Real) or type(x).__name__ == "bool"
    )


def as_floats(x: Any) -> Any:
    """An array of integers or bools as floats: numpy's small integers overflow without an error."""
    kind = getattr(getattr(x, "dtype", None), "kind", None)
    return x * 1.0 if kind in ("i", "u", "b") else x


def _kind(inputs: Iterable[Any]) -> Any:
    """The first input that is neither a plain number nor an array; None if there is none."""
    if _ONLY_FLOATS.issuperset(map(type, inputs)):  # the usual case, without a loop in Python
        return None
    for x in inputs:
        if hasattr(x, "_level"):
            return x
    return None


def _plain(name: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """The inputs, plain numbers as floats; arrays and complex numbers stay as they are."""
    if _ONLY_FLOATS.issuperset(map(type, inputs)):
        return inputs
    arrays = [is_array(x) or type(x) is complex for x in inputs]
    return [as_floats(x) if a else as_float(x, name) for x, a in zip(inputs, arrays)]


def _xp(*inputs: Any) -> Any:
    """The library (numpy, jax.numpy) of the first array among the inputs."""
    return next(x.__array_namespace__() for x in inputs if is_array(x))


# -- Functions of one number --------------------------------------------------------------------


def _unary(
    of_float: Callable[[float], float],
    of_complex: Callable[[complex], complex] | None,
    of_array: Callable[[Any], Any] | None = None,
) -> Callable[[Callable[[Any], Any]], Unary]:
    """A function of any kind of number, declared by its name and docstring alone.

    Complex numbers come from the complex step (`numeric.py`). Their imaginary part is tiny, so
    the domain is that of the real part. For arrays the library's function of the same name is
    called, unless `of_array` is given.
    """

    def decorate(declared: Callable[[Any], Any]) -> Unary:
        name = declared.__name__

        @functools.wraps(declared)
        def function(x: Any, /) -> Any:
            try:
                if type(x) is float:
                    return of_float(x)
                if hasattr(x, "_level"):
                    return x._call(name, x)
                if is_array(x):
                    x = as_floats(x)
                    return of_array(x) if of_array else getattr(_xp(x), name)(x)
                if type(x) is complex and of_complex:
                    of_float(x.real)  # raises outside the domain
                    return of_complex(x)
                return of_float(as_float(x, name))
            except (ValueError, OverflowError) as error:
                if hasattr(x, "_level"):  # explained already
                    raise
                raise explain(error, name, {"x": x}) from None

        return cast(Unary, function)

    return decorate


@_unary(math.exp, cmath.exp)
def exp(x: Any) -> Any:
    """e to the power x. OverflowError above x = 709.78.

    >>> round(exp(1.0), 6)
    2.718282
    """


@_unary(math.log, cmath.log)
def log(x: Any) -> Any:
    """The natural logarithm of x. ValueError unless x > 0.

    >>> round(log(10.0), 6)
    2.302585
    """


@_unary(math.sqrt, cmath.sqrt)
def sqrt(x: Any) -> Any:
    """The square root of x. ValueError unless x >= 0.

    Its derivative at 0 is infinite: a ZeroDivisionError.

    >>> sqrt(9)
    3.0
    """


@_unary(math.sin, cmath.sin)
def sin(x: Any) -> Any:
    """The sine of x radians. ValueError if x is infinite.

    >>> round(sin(0.5), 6)
    0.479426
    """


@_unary(math.cos, cmath.cos)
def cos(x: Any) -> Any:
    """The cosine of x radians. ValueError if x is infinite.

    >>> cos(0.0)
    1.0
    """


@_unary(math.tan, cmath.tan)
def tan(x: Any) -> Any:
    """The tangent of x radians. ValueError if x is infinite.

    >>> tan(0.0)
    0.0
    """


@_unary(math.asin, cmath.asin)
def asin(x: Any) -> Any:
    """The angle in [-π/2, π/2], in radians, whose sine is x.

    ValueError unless -1 <= x <= 1.

    >>> asin(0.0)
    0.0
    """


@_unary(math.acos, cmath.acos)
def acos(x: Any) -> Any:
    """The angle in [0, π], in radians, whose cosine is x.

    ValueError unless -1 <= x <= 1.

    >>> acos(1.0)
    0.0
    """


@_unary(math.atan, cmath.atan)
def atan(x: Any) -> Any:
    """The angle in (-π/2, π/2), in radians, whose tangent is x.

    >>> round(atan(1.0), 6)
    0.785398
    """


@_unary(math.sinh, cmath.sinh)
def sinh(x: Any) -> Any:
    """The hyperbolic sine of x.

    OverflowError above |x| = 710.47.

    >>> sinh(0.0)
    0.0
    """


@_unary(math.cosh, cmath.cosh)
def cosh(x: Any) -> Any:
    """The hyperbolic cosine of x.

    OverflowError above |x| = 710.47.

    >>> cosh(0.0)
    1.0
    """


@_unary(math.tanh, cmath.tanh)
def tanh(x: Any) -> Any:
    """The hyperbolic tangent of x.

    >>> round(tanh(0.5), 6)
    0.462117
    """


@_unary(builtins.abs, lambda z: -z if z.real < 0 else z)
def abs(x: Any) -> Any:
    """The absolute value of x.

    Its derivative at 0 is 0.

    >>> abs(-3)
    3.0
    """


def _erf_of_array(x: Any) -> Any:
    xp = _xp(x)
    if hasattr(xp, "erf"):
        return xp.erf(x)
    from .compiler import backends

    return backends.erf(x)


@_unary(math.erf, None, _erf_of_array)
def erf(x: Any) -> Any:
    r"""The error function, $\frac{2}{\sqrt{\pi}} \int_0^x e^{-t^2} dt$.

    >>> erf(0.0)
    0.0
    """


def _sigmoid_of_float(x: float) -> float:
    e = math.exp(-builtins.abs(x))  # never overflows; 1 / (1 + exp(-x)) does at x = -1000
    return (1.0 if x >= 0 else e) / (1.0 + e)


def _sigmoid_of_array(x: Any) -> Any:
    xp = _xp(x)
    e = xp.exp(-xp.abs(x))
    return xp.where(xp.less(x, 0.0), e, 1.0) / (1.0 + e)


def _sigmoid_of_complex(z: complex) -> complex:
    return 1 - _sigmoid_of_complex(-z) if z.real < 0 else 1 / (1 + cmath.exp(-z))


@_unary(_sigmoid_of_float, _sigmoid_of_complex, _sigmoid_of_array)
def sigmoid(x: Any) -> Any:
    """The logistic function $1 / (1 + e^{-x})$, without overflow for any x.

    >>> sigmoid(0.0), sigmoid(-1000.0)
    (0.5, 0.0)
    """


def _relu_of_array(x: Any) -> Any:
    xp = _xp(x)
    return xp.where(xp.less_equal(x, 0.0), 0.0, x)


@_unary(lambda x: 0.0 if x <= 0 else x, lambda z: z if z.real > 0 else 0 * z, _relu_of_array)
def relu(x: Any) -> Any:
    """The rectified linear unit: x where x > 0, else 0. Its derivative at 0 is 0.

    >>> relu(3.0), relu(-3.0)
    (3.0, 0.0)
    """


def _softplus_of_float(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-builtins.abs(x)))  # log(1 + exp(1000)) overflows


def _softplus_of_array(x: Any) -> Any:
    xp = _xp(x)
    return xp.where(xp.less(x, 0.0), 0.0, x) + xp.log1p(xp.exp(-xp.abs(x)))


def _softplus_of_complex(z: complex) -> complex:
    return z + _softplus_of_complex(-z) if z.real > 0 else cmath.log(1 + cmath.exp(z))


@_unary(_softplus_of_float, _softplus_of_complex, _softplus_of_array)
def softplus(x: Any) -> Any:
    r"""$\log(1 + e^x)$, the smooth relu, without overflow for any x.

    >>> round(softplus(0.0), 6), softplus(1000.0)
    (0.693147, 1000.0)
    """


# -- Functions of two numbers -------------------------------------------------------------------


def _binary(of_plain: Callable[[Any, Any], Any]) -> Binary:
    """A function of two numbers of any kind, from one of floats and complex numbers."""
    name = of_plain.__name__

    @functools.wraps(of_plain)
    def function(x: Any, y: Any, /) -> Any:
        if type(x) is float is type(y):
            return of_plain(x, y)
        if (kind := _kind((x, y))) is not None:
            return kind._call(name, x, y)
        x, y = _plain(name, (x, y))
        if is_array(x) or is_array(y):
            return getattr(_xp(x, y), name)(x, y)
        return of_plain(x, y)

    return cast(Binary, function)


def power(x: Any, n: Any) -> Any:
    """x to the power n. ValueError if that is not real, as for (-8) ** (1/3).

    ZeroDivisionError for 0 to a negative power, OverflowError for results above 1.8e308.

    >>> power(2, 10), power(0.0, 0.0)
    (1024.0, 1.0)
    """
    if _kind((x, n)) is not None:
        return x**n
    x, n = _plain("power", (x, n))
    if complex in (type(x), type(n)) and x.real < 0:  # ** takes a logarithm, which loses the step
        return (-1.0) ** n.real * (-x) ** n * (math.nan if n.imag else 1.0)
    if not type(x) is float is type(n):
        return x**n
    try:
        result = x**n
    except (ZeroDivisionError, OverflowError) as error:
        raise explain(error, "power", {"x": x, "n": n}) from None
    if type(result) is complex:
        raise explain(ValueError(), "power", {"x": x, "n": n})
    return result


@_binary
def maximum(x: Any, y: Any) -> Any:
    """The larger of x and y, nan if one is nan. If they are equal, each gets half the derivative.

    >>> maximum(2, 3)
    3.0
    """
    return x if x.real >= y.real or x != x else y  # x != x: nan stays nan


@_binary
def minimum(x: Any, y: Any) -> Any:
    """The smaller of x and y, nan if one is nan. If they are equal, each gets half the derivative.

    >>> minimum(2, 3)
    2.0
    """
    return x if x.real <= y.real or x != x else y


@_binary
def less(x: Any, y: Any) -> Any:
    """1.0 where x < y, else 0.0: a comparison as an operation, and so a node of a graph.

    >>> less(2, 3), less(3, 3)
    (1.0, 0.0)
    """
    return 1.0 if x.real < y.real else 0.0


@_binary
def less_equal(x: Any, y: Any) -> Any:
    """1.0 where x <= y, else 0.0.

    >>> less_equal(3, 3), less_equal(4, 3)
    (1.0, 0.0)
    """
    return 1.0 if x.real <= y.real else 0.0


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
        return _xp(condition).where(condition, x, y)
    return x if _plain("where, the condition", [condition])[0] else y


# -- Functions of any number of numbers ---------------------------------------------------------


class _Start(float):
    """A 0.0 from which the builtin sum adds plainly, from left to right.

    Since Python 3.12 sum compensates for rounding if it starts from a float. Its result would then
    differ in the last digits from an ordinary sum, such as that of a compiled program.
    """


_ZERO = 0.0 if sys.version_info < (3, 12) else _Start()


def _of_many(of_plain: Callable[[Sequence[Any]], Any]) -> OfMany:
    """A function of a sequence of any kind of number, from one of plain numbers and arrays."""
    name = of_plain.__name__

    @functools.wraps(of_plain)
    def function(xs: Any, /) -> Any:
        xs = _row(name, xs)
        if (kind := _kind(xs)) is not None:
            return kind._call(name, *xs)
        return of_plain(_plain(name, xs))

    return cast(OfMany, function)


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
    top = functools.reduce(maximum, xs)
    return top + log(sum_of_powers([exp(x - top) for x in xs]))


def sum_of_powers(powers: Sequence[Any]) -> Any:
    """The sum of e^(xᵢ - m), where m is the largest x; 1 if it is nan, because m is infinite."""
    total = sum(powers)
    return where(less_equal(0.0, total), total, 1.0)


@overload
def dot(xs: Iterable[float], ys: Iterable[float]) -> float: ...
@overload
def dot(xs: Iterable[N], ys: Iterable[N | SupportsFloat]) -> N: ...
@overload
def dot(xs: Iterable[Any], ys: Iterable[Any]) -> Any: ...
def dot(xs: Iterable[Any], ys: Iterable[Any]) -> Any:
    r"""$x_1 y_1 + \dots + x_n y_n$: one operation, however many there are.

    ValueError unless xs and ys are equally long.

    >>> dot([1, 2, 3], [4, 5, 6])
    32.0
    """
    xs, ys = _row("dot", xs), _row("dot", ys)
    if len(xs) != len(ys):
        found = f"{len(xs)} and {counted(len(ys), 'number')}"
        raise ValueError(message("dot", found, "equally many on both sides"))
    inputs = [*xs, *ys]
    if _ONLY_FLOATS.issuperset(map(type, inputs)):
        return builtins.sum(map(operator.mul, xs, ys), _ZERO) + 0.0
    if (kind := _kind(inputs)) is not None:
        return kind._call("dot", *inputs)
    return builtins.sum(map(operator.mul, _plain("dot", xs), _plain("dot", ys)), _ZERO) + 0.0


@overload
def hypot(*xs: float) -> float: ...
@overload
def hypot(x: N, /, *xs: N | float) -> N: ...
@overload
def hypot(*xs: Any) -> Any: ...
def hypot(*xs: Any) -> Any:
    r"""The Euclidean norm $\sqrt{x_1^2 + \dots + x_n^2}$, without overflow: one operation.

    Its derivatives at the origin, where it has a kink, are 0. TypeError if an x is not a number.

    >>> hypot(3, 4)
    5.0
    """
    if (kind := _kind(xs)) is not None:
        return kind._call("hypot", *xs)
    numbers = _plain("hypot", xs)
    if any(map(is_array, numbers)):
        return functools.reduce(_xp(*numbers).hypot, numbers[1:], abs(numbers[0]))
    if not _ONLY_FLOATS.issuperset(map(type, numbers)):  # complex numbers
        scale = math.hypot(*[x.real for x in numbers]) or 1.0
        return scale * cmath.sqrt(builtins.sum((x / scale) ** 2 for x in numbers))
    return math.hypot(*numbers)


@_of_many
def largest(xs: Any) -> Any:
    """The largest of xs, without a derivative: for a shift that cancels out of the result.

    >>> largest([1.0, 3.0, 2.0])
    3.0
    """
    return functools.reduce(maximum, xs)


def _row(name: str, xs: Any) -> Sequence[Any]:
    """The numbers of a list or another flat sequence, to count and to go through twice."""
    if isinstance(xs, (list, tuple)):
        return xs
    shape = getattr(xs, "shape", ())
    if len(shape) > 1:
        found = f"{a(xs)} of shape {tuple(shape)}"
        remedy = "to add all its numbers write A.sum(), for a product A @ x"
        raise TypeError(message(name, found, "numbers in a row", remedy))
    return list(sequence(xs, name, f"a sequence of numbers: {name}([x, y])"))
