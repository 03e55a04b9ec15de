"""Mathematical functions of any kind of number.

`exp(2.0)` is a float, `exp(Value(2.0))` a node of a graph, `exp(Dual(2.0, 1.0))` a dual number,
`exp(array)` an array. A function here knows how to treat plain numbers and arrays; any other
kind of number is asked to apply the operation of the same name (see `ops.py`) to itself.

What is written in this file has values only. The derivatives are all in `ops.py`.
"""

import builtins
import cmath
import functools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from typing import Any

from .errors import explain, shortened

_ONLY_FLOATS = {float}


def _kind(inputs: Sequence[Any]) -> Any:
    """The first input that is neither a plain number nor an array; it will find the leader."""
    if _ONLY_FLOATS.issuperset(map(type, inputs)):  # the usual case, at the speed of C
        return None
    for x in inputs:
        if hasattr(x, "_level"):
            return x
    return None


def as_float(x: Any, where: str) -> float:
    """x as a float; a TypeError that says what to write instead if x is not a real number.

    >>> from fractions import Fraction
    >>> as_float(Fraction(1, 2), "Value")
    0.5
    """
    if type(x) is not bool and isinstance(x, Real):
        try:
            return float(x)
        except OverflowError:
            raise OverflowError(f"{where}: found a number too large for a float") from None
    remedies = {
        bool: f"write {float(x is True)} if a number is meant",
        str: "convert it first: float(text)",
        bytes: "convert it first: float(text)",
        type(None): "is a `return` missing in the function that made it?",
        complex: "take its .real, its .imag or abs() of it",
    }
    remedy = remedies.get(type(x))
    if remedy is None and (isinstance(x, Iterable) or hasattr(x, "__array__")):
        remedy = "make one Value of each number: Vector(data), or [Value(v) for v in data]"
    elif remedy is None and hasattr(x, "_level"):
        remedy = "it is a number of another kind already; use it as it is"
    raise TypeError(
        f"{where}: found {shortened(x)} of type {type(x).__name__}, expected one real number "
        f"(int, float, Fraction or a numpy scalar){'; ' + remedy if remedy else ''}"
    )


def is_array(x: Any) -> bool:
    """True for arrays of numbers (numpy, JAX), by the array API standard."""
    return hasattr(x, "__array_namespace__") and not isinstance(x, Real)  # no numpy scalar


# -- Functions of one number --------------------------------------------------------------------


def _unary(
    of_float: Callable[[float], float], of_complex: Callable[[complex], complex] | None = None
) -> Callable[[Callable[[Any], Any]], Any]:
    """Make a function of any kind of number out of one of floats.

    The decorated function's own body is what happens to arrays. Complex numbers come from
    complex-step differences (`numeric.py`).
    """

    def decorate(of_array: Callable[[Any], Any]) -> Callable[[Any], Any]:
        name = of_array.__name__

        def function(x: Any) -> Any:
            try:
                if type(x) is float:
                    return of_float(x)
                if hasattr(x, "_level"):
                    return x._call(name, x)
                if is_array(x):
                    return of_array(x)
                if type(x) is complex and of_complex:
                    return of_complex(x)
                return of_float(as_float(x, name))
            except (ValueError, OverflowError) as error:
                if hasattr(x, "_level"):  # it has explained the error already
                    raise
                raise explain(error, name, x=x) from None

        function.__name__ = function.__qualname__ = name
        function.__doc__ = of_array.__doc__
        function.__module__ = __name__
        return function

    return decorate


def _xp(*inputs: Any) -> Any:
    """The library (numpy, jax.numpy) of the first array among the inputs."""
    return next(x.__array_namespace__() for x in inputs if is_array(x))


def _sigmoid_of_float(x: float) -> float:
    e = math.exp(-builtins.abs(x))  # never overflows; 1 / (1 + exp(-x)) does at x = -1000
    return (1.0 if x >= 0 else e) / (1.0 + e)


def _softplus_of_float(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-builtins.abs(x)))  # log(1 + exp(1000)) overflows


@_unary(math.exp, cmath.exp)
def exp(x: Any) -> Any:
    """e to the power x. OverflowError above x = 709.78.

    >>> round(exp(1.0), 6)
    2.718282
    """
    return _xp(x).exp(x)


@_unary(math.log, cmath.log)
def log(x: Any) -> Any:
    """The natural logarithm of x, for x > 0; else a ValueError.

    >>> round(log(10.0), 6)
    2.302585
    """
    return _xp(x).log(x)


@_unary(math.sqrt, cmath.sqrt)
def sqrt(x: Any) -> Any:
    """The square root of x, for x >= 0; else a ValueError. Its derivative at 0 is infinite.

    >>> sqrt(9)
    3.0
    """
    return _xp(x).sqrt(x)


@_unary(math.sin, cmath.sin)
def sin(x: Any) -> Any:
    """The sine of x radians.

    >>> round(sin(0.5), 6)
    0.479426
    """
    return _xp(x).sin(x)


@_unary(math.cos, cmath.cos)
def cos(x: Any) -> Any:
    """The cosine of x radians.

    >>> cos(0.0)
    1.0
    """
    return _xp(x).cos(x)


@_unary(math.tan, cmath.tan)
def tan(x: Any) -> Any:
    """The tangent of x radians.

    >>> tan(0.0)
    0.0
    """
    return _xp(x).tan(x)


@_unary(math.asin, cmath.asin)
def asin(x: Any) -> Any:
    """The angle in [-π/2, π/2], in radians, whose sine is x, for -1 <= x <= 1; else a ValueError.

    >>> asin(0.0)
    0.0
    """
    return _xp(x).asin(x)


@_unary(math.acos, cmath.acos)
def acos(x: Any) -> Any:
    """The angle in [0, π], in radians, whose cosine is x, for -1 <= x <= 1; else a ValueError.

    >>> acos(1.0)
    0.0
    """
    return _xp(x).acos(x)


@_unary(math.atan, cmath.atan)
def atan(x: Any) -> Any:
    """The angle in (-π/2, π/2), in radians, whose tangent is x.

    >>> round(atan(1.0), 6)
    0.785398
    """
    return _xp(x).atan(x)


@_unary(math.sinh, cmath.sinh)
def sinh(x: Any) -> Any:
    """The hyperbolic sine of x. OverflowError above |x| = 710.47.

    >>> sinh(0.0)
    0.0
    """
    return _xp(x).sinh(x)


@_unary(math.cosh, cmath.cosh)
def cosh(x: Any) -> Any:
    """The hyperbolic cosine of x. OverflowError above |x| = 710.47.

    >>> cosh(0.0)
    1.0
    """
    return _xp(x).cosh(x)


@_unary(math.tanh, cmath.tanh)
def tanh(x: Any) -> Any:
    """The hyperbolic tangent of x.

    >>> round(tanh(0.5), 6)
    0.462117
    """
    return _xp(x).tanh(x)


@_unary(math.erf)
def erf(x: Any) -> Any:
    """The error function, 2/√π · the integral of exp(-t²) from 0 to x.

    >>> erf(0.0)
    0.0
    """
    xp = _xp(x)
    if hasattr(xp, "erf"):
        return xp.erf(x)
    from .compiler.backends import erf

    return erf(x)


@_unary(_sigmoid_of_float, lambda x: 1 / (1 + cmath.exp(-x)))
def sigmoid(x: Any) -> Any:
    """The logistic function 1 / (1 + exp(-x)), without overflow for any x.

    >>> sigmoid(0.0), sigmoid(-1000.0)
    (0.5, 0.0)
    """
    xp = _xp(x)
    e = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, 1.0, e) / (1.0 + e)


@_unary(lambda x: 0.0 if x <= 0 else x, lambda x: x if x.real > 0 else 0 * x)
def relu(x: Any) -> Any:
    """The rectified linear unit: x where x > 0, else 0. Its derivative at 0 is 0.

    >>> relu(3.0), relu(-3.0)
    (3.0, 0.0)
    """
    return _xp(x).where(x <= 0, 0.0, x)


@_unary(_softplus_of_float, lambda x: cmath.log(1 + cmath.exp(x)))
def softplus(x: Any) -> Any:
    """log(1 + exp(x)), the smooth relu, without overflow for any x.

    >>> round(softplus(0.0), 6), softplus(1000.0)
    (0.693147, 1000.0)
    """
    xp = _xp(x)
    return xp.where(x < 0, 0.0, x) + xp.log1p(xp.exp(-xp.abs(x)))


@_unary(builtins.abs, lambda x: -x if x.real < 0 else x)
def abs(x: Any) -> Any:
    """The absolute value of x. Its derivative at 0 is 0.

    >>> abs(-3)
    3.0
    """
    return _xp(x).abs(x)


# -- Functions of several numbers ---------------------------------------------------------------


def _plain(name: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """The inputs with every plain number as a float; arrays and complex are left as they are."""
    if _ONLY_FLOATS.issuperset(map(type, inputs)):
        return inputs
    return [x if is_array(x) or type(x) is complex else as_float(x, name) for x in inputs]


def power(x: Any, n: Any) -> Any:
    """x to the power n. What is no real number is an error: 0 ** -1, (-8) ** (1/3).

    >>> power(2, 10), power(0.0, 0.0)
    (1024.0, 1.0)
    """
    if type(x) is float is type(n):
        try:
            result = x**n
        except (ZeroDivisionError, OverflowError) as error:
            raise explain(error, "power", x=x, n=n) from None
        if type(result) is complex:
            raise explain(ValueError(), "power", x=x, n=n)
        return result
    if _kind((x, n)) is not None:
        return x**n
    x, n = _plain("power", (x, n))
    return power(x, n) if type(x) is float is type(n) else x**n


def maximum(x: Any, y: Any) -> Any:
    """The larger of x and y. Where they are equal, each gets half of the derivative.

    >>> maximum(2, 3)
    3.0
    """
    if (kind := _kind((x, y))) is not None:
        return kind._call("maximum", x, y)
    x, y = _plain("maximum", (x, y))
    if is_array(x) or is_array(y):
        return _xp(x, y).maximum(x, y)
    return x if x.real >= y.real or x != x else y  # x != x: nan stays nan


def minimum(x: Any, y: Any) -> Any:
    """The smaller of x and y. Where they are equal, each gets half of the derivative.

    >>> minimum(2, 3)
    2.0
    """
    if (kind := _kind((x, y))) is not None:
        return kind._call("minimum", x, y)
    x, y = _plain("minimum", (x, y))
    if is_array(x) or is_array(y):
        return _xp(x, y).minimum(x, y)
    return x if x.real <= y.real or x != x else y


def where(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds (is not 0), else y. The condition has no derivative.

    A condition that is a bool or a plain number chooses at once, and the choice is what
    comes back; one that is an array, or a number with a derivative, makes an operation.

    >>> where(2 > 1, 10.0, 20.0)
    10.0
    """
    if hasattr(condition, "_level"):
        return condition._call("where", condition, x, y)
    if is_array(condition):
        return _xp(condition).where(condition, x, y)
    return x if condition else y


def sum(xs: Iterable[Any]) -> Any:
    """The sum of the numbers in xs: one operation, however many there are.

    >>> sum([1, 2, 3])
    6.0
    """
    xs = _sequence("sum", xs)
    if (kind := _kind(xs)) is not None:
        return kind._call("sum", *xs)
    return builtins.sum(_plain("sum", xs), 0.0)


def prod(xs: Iterable[Any]) -> Any:
    """The product of the numbers in xs: one operation, however many there are.

    >>> prod([1, 2, 3, 4])
    24.0
    """
    xs = _sequence("prod", xs)
    if (kind := _kind(xs)) is not None:
        return kind._call("prod", *xs)
    return math.prod(_plain("prod", xs), start=1.0)


def dot(xs: Iterable[Any], ys: Iterable[Any]) -> Any:
    """x₁y₁ + ... + xₙyₙ: one operation, however many there are. ValueError unless equally long.

    >>> dot([1, 2, 3], [4, 5, 6])
    32.0
    """
    xs, ys = _sequence("dot", xs), _sequence("dot", ys)
    if len(xs) != len(ys):
        raise ValueError(
            f"dot: found {len(xs)} and {len(ys)} numbers, expected equally many on both sides"
        )
    inputs: Sequence[Any] = (*xs, *ys)
    if not _ONLY_FLOATS.issuperset(map(type, inputs)):
        if (kind := _kind(inputs)) is not None:
            return kind._call("dot", *inputs)
        xs, ys = _plain("dot", xs), _plain("dot", ys)
    return builtins.sum(map(operator.mul, xs, ys), 0.0)


def logsumexp(xs: Iterable[Any]) -> Any:
    """log(exp(x₁) + ... + exp(xₙ)) without overflow: one operation. ValueError if xs is empty.

    >>> round(logsumexp([1000, 1000]), 6)
    1000.693147
    """
    xs = _sequence("logsumexp", xs)
    if not xs:
        raise ValueError("logsumexp: found no numbers, expected at least one")
    if (kind := _kind(xs)) is not None:
        return kind._call("logsumexp", *xs)
    xs = _plain("logsumexp", xs)
    shift = largest(xs)
    if type(shift) is float and math.isinf(shift):
        return shift
    return shift + log(sum([exp(x - shift) for x in xs]))


def largest(xs: Sequence[Any]) -> Any:
    """The largest of xs as a plain number, for a shift on which no result depends.

    So of numbers with a derivative just the numbers are looked at.

    >>> largest([1.0, 3.0, 2.0])
    3.0
    """
    kind = _kind(xs)
    if kind is None:
        return functools.reduce(maximum, xs)
    if hasattr(kind, "_largest"):
        return kind._largest()
    return largest([x._number() if hasattr(x, "_number") else x for x in xs])


def hypot(*xs: Any) -> Any:
    """The Euclidean norm √(x₁² + ... + xₙ²), without overflow: one operation.

    Its derivative at the origin is 0, the least of its subgradients.

    >>> hypot(3, 4)
    5.0
    """
    if (kind := _kind(xs)) is not None:
        return kind._call("hypot", *xs)
    numbers = _plain("hypot", xs)
    if any(map(is_array, numbers)):
        return functools.reduce(_xp(*numbers).hypot, numbers[1:], abs(numbers[0]))
    if not _ONLY_FLOATS.issuperset(map(type, numbers)):  # complex ones
        return cmath.sqrt(builtins.sum(x * x for x in numbers))
    return math.hypot(*numbers)


def _sequence(name: str, xs: Iterable[Any]) -> Sequence[Any]:
    if isinstance(xs, (list, tuple)):
        return xs
    if isinstance(xs, Iterable):
        return list(xs)
    raise TypeError(
        f"{name}: found {shortened(xs)} of type {type(xs).__name__}, "
        f"expected a sequence of numbers: {name}([x, y])"
    )
