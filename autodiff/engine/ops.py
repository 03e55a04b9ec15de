"""Every operation, once, with all that is true of it: its value, its derivative, its domain.

An operation returns (result, backward). `backward` takes the gradient of the result and returns
the gradient for each input, in order; None for one that is a constant. The numbers may be floats,
arrays, dual numbers, nodes of a graph or symbols of a program: the arithmetic is the same, and so
everything else in this package reads derivatives off this file.

`@primitive(math.exp)` gives the value on floats: inside the rule, exp(x) is the same operation of
the numbers that x holds, in the end math.exp of a float. A `@composite` is made of others.

A condition is written `less(x, y)`, not x < y: over nodes it is a node, so that a derivative
which is a graph chooses again when its numbers change.

With `tiny.py`, `Value(-1.0) ** 0.5` is a complex number.
"""

import builtins
import functools
import math
import operator
import sys
from itertools import accumulate

from .decorators import composite, primitive
from .errors import refusal
from .levels import CONSTANT, PLAIN

# What `from autodiff import *` gives: without abs and sum, so that it hides no builtin.
__all__ = [
    "acos", "asin", "atan", "atan2", "cos", "cosh", "dot", "erf", "exp", "expm1", "hypot", "less",
    "log", "log1p", "logsumexp", "maximum", "minimum", "prod", "relu", "sigmoid", "sin", "sinh",
    "softplus", "sqrt", "tan", "tanh", "where",
]  # fmt: skip

FINITE = "-inf < x < inf"


# -- Arithmetic ---------------------------------------------------------------------------------


@primitive(operator.add, sign="+")
def add(x, y):
    """d(x + y) = dx + dy"""
    return x + y, _to_both


def _to_both(grad):
    return grad, grad  # needs neither x nor y, so one function serves all additions


@primitive(operator.sub, sign="-")
def sub(x, y):
    """d(x - y) = dx - dy"""
    return x - y, lambda grad: (grad, -grad)


@primitive(operator.mul, sign="*")
def mul(x, y):
    """d(xy) = y dx + x dy"""
    # Defaults hold x and y without closure cells. For operations as frequent as this one and the
    # next, that leaves the garbage collector half as many objects to look through.
    return x * y, lambda grad, x=x, y=y: (grad * y, grad * x)


@primitive(operator.truediv, "y != 0", sign="/")
def div(x, y):
    """d(x/y) = dx/y - (x/y) dy/y"""
    z = x / y
    return z, lambda grad, y=y, z=z: (grad / y, -(grad * z / y))


@primitive(operator.neg, sign="-")
def neg(x):
    """d(-x) = -dx"""
    return -x, lambda grad: (-grad,)


@primitive(operator.pos)
def pos(x):
    """d(+x) = dx"""
    return +x, lambda grad: (grad,)


@primitive(lambda x: x if x > 0.0 else 0.0 - x)  # -0.0 becomes 0.0
def abs(x):
    """The absolute value of x.  d|x| = sign(x) dx, with sign(0) = 0"""
    return abs(x), lambda grad: (grad * _sign(x),)


def _sign(x):
    return where(less(0.0, x), 1.0, where(less(x, 0.0), -1.0, 0.0))


# -- Powers: x ** y is the first, the second or the third, by which of x and y is a constant ------


def _real_power(x, n):
    if type(z := x**n) is complex:
        raise ValueError
    return z


@primitive(_real_power, "x > 0, or x = 0 and n >= 0, or x < 0 and n an integer", sign="**")
def power(x, n):
    """d xⁿ = n xⁿ⁻¹ dx for a constant n; x⁰ is 1 everywhere, its derivative 0"""
    if _moves(n):  # and n xⁿ⁻¹ is differentiated by it
        return _raised(x, n), lambda grad: (pow.rule(x, n)[1](grad)[0], None)
    plain = type(n) is float and n != 0.0  # the most frequent, and quicker
    # At n = 0, x**(n - 1) would divide by x = 0.
    m = n - 1 if plain else where(less_equal(abs(n), 0.0), 0.0, n - 1)
    return _raised(x, n), lambda grad: (grad * n * x**m, None)


@primitive(_real_power, "a > 0, or a = 0 and x >= 0, or a < 0 and x an integer", sign="**")
def exponential(a, x):
    """d aˣ = aˣ ln a dx for a constant a; 0 at a = 0, infinite at a = x = 0, nan for a < 0"""
    y = _raised(a, x)
    return y, lambda grad: (None, grad * y * log(_base(a, x, y)))


@primitive(_real_power, "x > 0, or x = 0 and y >= 0, or x < 0 and y an integer", sign="**")
def pow(x, y):
    """d xʸ = y xʸ⁻¹ dx + xʸ ln x dy; the second term is 0 at x = 0, infinite at x = y = 0

    For x < 0, xʸ has no derivative in y: that one is nan, the other as for a constant y.
    """
    z = _raised(x, y)
    zero = less_equal(abs(y), 0.0)
    # xᵐ / w is xʸ⁻¹, but at y = 0 it is xʸ / x, because x⁻¹ overflows for tiny x, and 1 at x = 0.
    m = where(zero, y, y - 1)
    w = where(zero, where(less_equal(abs(x), 0.0), 1.0, x), 1.0)
    return z, lambda grad: (grad * y * x**m / w, grad * z * log(_base(x, y, z)))


def _raised(x, n):
    """x ** n; of floats, where that is real."""
    return _real_power(x, n) if type(x) is float is type(n) else x**n


def _base(x, y, z):
    """x, for z ln x with z = xʸ; nan below 0. At 0 it is 1 - z: z ln 1 is 0, and ln 0 undefined.

    Where x moves in a derivative further out, that is 1 - x to a power a hair less than y: it has
    the derivatives of xʸ ln x at 0, which are 0 up to order y, and infinite from order y on.
    """
    if type(x) is float and x > 0.0:
        return x  # as below, and quicker
    if _moves(x):
        z = where(less_equal(abs(x), 0.0), x, 1.0) ** (y * (1 - sys.float_info.epsilon))
    return where(less_equal(x, 0.0), where(less(x, 0.0), math.nan, 1 - z), x)


def _moves(x):
    """Whether x is a variable of another derivative, which is taken of this one."""
    return type(x) is not float and getattr(x, "_level", PLAIN) > CONSTANT


# -- Choices ------------------------------------------------------------------------------------


@primitive(lambda x, y: x if x >= y or x != x else y)  # x != x: x is nan
def maximum(x, y):
    """The larger of x and y.  d max(x, y) = dx or dy, half of each where x = y; nan stays nan"""
    w = where(less(y, x), 1.0, where(less(x, y), 0.0, 0.5))
    return maximum(x, y), lambda grad: (grad * w, grad * (1 - w))


@primitive(lambda x, y: x if x <= y or x != x else y)
def minimum(x, y):
    """The smaller of x and y.  d min(x, y) = dx or dy, half of each where x = y; nan stays nan"""
    w = where(less(x, y), 1.0, where(less(y, x), 0.0, 0.5))
    return minimum(x, y), lambda grad: (grad * w, grad * (1 - w))


@primitive(lambda condition, x, y: x if condition else y)
def where(condition, x, y):
    """x where the condition holds (is not 0), else y.  d where(c, x, y) = dx where c, else dy"""
    z = where(condition, x, y)
    return z, lambda grad: (None, where(condition, grad, 0.0), where(condition, 0.0, grad))


@primitive(lambda x, y: 1.0 if x < y else 0.0, sign="<")
def less(x, y):
    """1.0 where x < y, else 0.0: an operation, so a node.  d (x < y) = 0: a step has no slope"""
    return less(x, y), lambda grad: (None, None)


@primitive(lambda x, y: 1.0 if x <= y else 0.0, sign="<=")
def less_equal(x, y):
    """1.0 where x <= y, else 0.0.  d (x <= y) = 0"""
    return less_equal(x, y), lambda grad: (None, None)


# -- Exponential, trigonometric and related functions -------------------------------------------


@primitive(math.exp)
def exp(x):
    """e to the power x.  d eˣ = eˣ dx.  OverflowError above x = 709.78"""
    y = exp(x)
    return y, lambda grad: (grad * y,)


@primitive(math.expm1)
def expm1(x):
    """eˣ - 1, exact for tiny x.  d (eˣ - 1) = eˣ dx.  OverflowError above x = 709.78"""
    return expm1(x), lambda grad: (grad * exp(x),)


@primitive(math.log, "x > 0")
def log(x):
    """The natural logarithm of x.  d ln x = dx / x"""
    return log(x), lambda grad: (grad / x,)


@primitive(math.log1p, "x > -1")
def log1p(x):
    """The natural logarithm of 1 + x, exact for tiny x.  d ln(1 + x) = dx / (1 + x)"""
    return log1p(x), lambda grad: (grad / (1 + x),)


@primitive(math.sqrt, "x >= 0")
def sqrt(x):
    """The square root of x.  d √x = dx / (2 √x), infinite at 0: a ZeroDivisionError"""
    y = sqrt(x)
    return y, lambda grad: (grad / (2 * y),)


@primitive(math.sin, FINITE)
def sin(x):
    """The sine of x radians.  d sin x = cos x dx"""
    return sin(x), lambda grad: (grad * cos(x),)


@primitive(math.cos, FINITE)
def cos(x):
    """The cosine of x radians.  d cos x = -sin x dx"""
    return cos(x), lambda grad: (-(grad * sin(x)),)


@primitive(math.tan, FINITE)
def tan(x):
    """The tangent of x radians.  d tan x = (1 + tan² x) dx"""
    y = tan(x)
    return y, lambda grad: (grad * (1 + y * y),)


@primitive(math.asin, "-1 <= x <= 1")
def asin(x):
    """The angle in [-π/2, π/2] whose sine is x.  d asin x = dx / √(1 - x²)"""
    return asin(x), lambda grad: (grad / sqrt(_one_minus_square(x)),)


@primitive(math.acos, "-1 <= x <= 1")
def acos(x):
    """The angle in [0, π] whose cosine is x.  d acos x = -dx / √(1 - x²)"""
    return acos(x), lambda grad: (-(grad / sqrt(_one_minus_square(x))),)


def _one_minus_square(x):
    """1 - x². The product is exact near ±1, but its derivative (1 - x) - (1 + x) loses x near 0."""
    return where(less(abs(x), 0.5), 1 - x * x, (1 - x) * (1 + x))


@primitive(math.atan)
def atan(x):
    """The angle in (-π/2, π/2) whose tangent is x.  d atan x = dx / (1 + x²)"""
    return atan(x), lambda grad: (grad / (1 + x * x),)


@primitive(math.atan2)
def atan2(y, x):
    """The angle of the point (x, y), in [-π, π].  d atan2(y, x) = (x dy - y dx) / (x² + y²)

    Its derivatives at the origin are undefined: a ZeroDivisionError.
    """
    r = hypot(x, y)
    return atan2(y, x), lambda grad: (grad * (x / r) / r, -(grad * (y / r) / r))


@primitive(math.sinh)
def sinh(x):
    """The hyperbolic sine of x.  d sinh x = cosh x dx.  OverflowError above |x| = 710.47."""
    return sinh(x), lambda grad: (grad * cosh(x),)


@primitive(math.cosh)
def cosh(x):
    """The hyperbolic cosine of x.  d cosh x = sinh x dx.  OverflowError above |x| = 710.47."""
    return cosh(x), lambda grad: (grad * sinh(x),)


@primitive(math.tanh)
def tanh(x):
    """The hyperbolic tangent of x.  d tanh x = (1 - tanh² x) dx"""
    y = tanh(x)
    return y, lambda grad: (grad * (1 - y * y),)


@primitive(math.erf)
def erf(x):
    """The error function, the integral of 2/√π e^(-t²) from 0 to x.  d erf x = 2/√π e^(-x²) dx"""
    slope = 2 / math.sqrt(math.pi)
    return erf(x), lambda grad: (grad * slope * exp(-(x * x)),)


def _logistic(x):
    e = exp(-abs(x))  # never overflows; 1 / (1 + exp(-x)) does at x = -1000
    return where(less(x, 0.0), e, 1.0) / (1.0 + e)


@composite(_logistic)
def sigmoid(x):
    """The logistic function $1 / (1 + e^{-x})$, for any x.  d σ(x) = σ(x) σ(-x) dx"""
    y = sigmoid(x)
    return y, lambda grad: (grad * y * sigmoid(-x),)


@composite(lambda x: maximum(0.0, x))  # nan stays nan
def relu(x):
    """The rectified linear unit.  d relu(x) = dx where x > 0, else 0"""
    return relu(x), lambda grad: (where(less_equal(x, 0.0), 0.0, grad),)


@composite(lambda x: maximum(0.0, x) + log1p(exp(-abs(x))))  # log(1 + exp(1000)) overflows
def softplus(x):
    r"""$\log(1 + e^x)$, the smooth relu, for any x.  d ln(1 + eˣ) = σ(x) dx"""
    return softplus(x), lambda grad: (grad * sigmoid(x),)


# -- Any number of inputs: one operation each, and so one node ----------------------------------

# Since Python 3.12 the builtin sum compensates for rounding if it starts from a float. Its result
# would then differ in the last digits from an ordinary sum, such as that of a compiled program.
_ZERO = 0.0 if sys.version_info < (3, 12) else False


@composite(lambda xs: builtins.sum(xs, _ZERO) + 0.0, rows=1)
def sum(xs):
    """The sum of the numbers in xs.  d(x₁ + ... + xₙ) = dx₁ + ... + dxₙ

    TypeError if xs is not a sequence of numbers.
    """
    return sum(xs), lambda grad: (grad,) * len(xs)


@composite(lambda xs: math.prod(xs, start=1.0), rows=1)
def prod(xs):
    """The product of the numbers in xs.  d(x₁ ... xₙ) = Σᵢ (the product of all others) dxᵢ

    TypeError if xs is not a sequence of numbers.
    """
    others = _of_others(operator.mul, xs, 1.0)  # dividing by xᵢ would fail at xᵢ = 0
    return prod(xs), lambda grad: tuple([grad * other for other in others])


def _of_others(operation, xs, start):
    """For each of xs the operation of all others: of those left of it and those right of it."""
    left = accumulate(xs[:-1], operation, initial=start)
    right = accumulate(xs[:0:-1], operation, initial=start)
    return [operation(a, b) for a, b in zip(left, reversed([*right]))]


@composite(lambda xs, ys: builtins.sum(map(operator.mul, xs, ys), _ZERO) + 0.0, rows=2)
def dot(xs, ys):
    """x₁y₁ + ... + xₙyₙ.  d(x₁y₁ + ... + xₙyₙ) = Σᵢ (yᵢ dxᵢ + xᵢ dyᵢ)

    ValueError unless xs and ys are equally long.
    """
    return dot(xs, ys), lambda grad, others=ys + xs: tuple([grad * other for other in others])


def _logsumexp(xs):
    if not xs:
        raise ValueError(refusal("logsumexp", "no numbers", "at least one"))
    shift = largest(xs)
    if type(shift) is float and not math.isfinite(shift):
        return shift  # the powers would be nan
    return shift + log(sum([exp(x - shift) for x in xs]))


@composite(_logsumexp, rows=1)
def logsumexp(xs):
    """ln(e^x₁ + ... + e^xₙ) without overflow.  Its derivative is the softmax: Σᵢ e^(xᵢ - y) dxᵢ

    ValueError if xs is empty, TypeError if it is not a sequence of numbers.
    """

    def backward(grad):
        shift = largest(xs)
        weights = [exp(x - shift) for x in xs]
        total = sum(weights)
        return tuple([grad * (weight / total) for weight in weights])

    return logsumexp(xs), backward


@composite(lambda xs: functools.reduce(maximum, xs), rows=1)
def largest(xs):
    """The largest of xs, for a shift that cancels out of the result, so without a derivative

    It has to cancel whatever the other inputs are, such as the weights in a cross-entropy.
    """
    return largest(xs), lambda grad: (None,) * len(xs)


@primitive(math.hypot)
def hypot(*xs):
    """√(x₁² + ... + xₙ²) without overflow.  d √(x₁² + ... + xₙ²) = Σᵢ xᵢ/y dxᵢ; at the origin 0

    TypeError if an x is not a number.
    """
    y = hypot(*xs)
    origin = less_equal(y, 0.0)
    z = where(origin, 1.0, y)

    def backward(grad):
        if {*map(type, xs)} == {float} or not any(map(_moves, xs)):  # the first is quicker
            return tuple([grad * where(origin, 0.0, x / z) for x in xs])
        shares = [_share(x, rest, z) for x, rest in zip(xs, _of_others(hypot, xs, 0.0))]
        return tuple([grad * where(origin, 0.0, share) for share in shares])

    return y, backward


def _share(x, rest, z):
    """x / z, where z = hypot(x, rest).

    Its derivative is rest² / z³. Where x is the larger, that would be the small difference of 1 / z
    and x² / z³, so there it goes by rest / x.
    """
    larger = less(rest, abs(x))
    ratio = rest / where(larger, x, 1.0)
    return where(larger, _sign(x) / hypot(1.0, ratio), x / z)


LISTED = [x for x in [*globals().values()] if hasattr(x, "rule")]  # every operation, in order
