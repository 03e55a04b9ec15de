"""Every operation, once: this page is the only place where a derivative is written.

An operation is a function from numbers to (result, backward). `backward` takes the gradient of
the result and returns the gradient for each input, in order; None for one that is a constant.
The numbers may be floats, arrays, dual numbers, nodes of a graph or symbols of a program: the
arithmetic is the same, and so everything else in this package reads derivatives off this page.
For the same reason a condition is written `f.less(x, y)`, not x < y: over nodes it is a node, so
that a derivative which is a graph chooses again when its numbers change.
"""

import math
import operator
from collections.abc import Callable
from itertools import accumulate
from typing import Any

from . import functions as f

Backward = Callable[[Any], tuple[Any, ...]]
Result = tuple[Any, Backward]


# -- Arithmetic ---------------------------------------------------------------------------------


def add(x, y):
    """d(x + y) = dx + dy"""
    return x + y, _to_both


def _to_both(grad):
    return grad, grad  # needs neither x nor y, so one function serves all additions


def sub(x, y):
    """d(x - y) = dx - dy"""
    return x - y, lambda grad: (grad, -grad)


def mul(x, y):
    """d(xy) = y dx + x dy"""
    # Defaults hold x and y without closure cells. For operations as frequent as this one and the
    # next, that leaves the garbage collector half as many objects to look through.
    return x * y, lambda grad, x=x, y=y: (grad * y, grad * x)


def div(x, y):
    """d(x/y) = dx/y - (x/y) dy/y"""
    z = x / y
    return z, lambda grad, y=y, z=z: (grad / y, -(grad * z / y))


def power(x, n):
    """d xⁿ = n xⁿ⁻¹ dx for a constant n; x⁰ is 1 everywhere, its derivative 0"""
    zero = f.less_equal(f.abs(n), 0.0)
    m = f.where(zero, 0.0, n - 1)  # at n = 0, x**(n - 1) would divide by x = 0
    return f.power(x, n), lambda grad: (grad * n * x**m, None)


def exponential(a, x):
    """d aˣ = aˣ ln a dx for a constant a; 0 at a = 0, undefined for a < 0"""
    y = f.power(a, x)
    return y, lambda grad: (None, grad * y * f.log(_base(a)))


def pow(x, y):
    """d xʸ = y xʸ⁻¹ dx + xʸ ln x dy; the second term is 0 at x = 0, undefined for x < 0"""
    z = f.power(x, y)
    zero = f.less_equal(f.abs(y), 0.0)
    # xᵐ / w is xʸ⁻¹, but at y = 0 it is xʸ / x, because x⁻¹ overflows for tiny x, and 1 at x = 0.
    m = f.where(zero, y, y - 1)
    w = f.where(zero, f.where(f.less_equal(f.abs(x), 0.0), 1.0, x), 1.0)
    return z, lambda grad: (grad * y * x**m / w, grad * z * f.log(_base(x)))


def _base(x):
    """x if x > 0, else 1 at 0 and nan below, so that the logarithm there is 0 or nan."""
    return f.where(f.less_equal(x, 0.0), f.where(f.less(x, 0.0), math.nan, 1.0), x)


def neg(x):
    """d(-x) = -dx"""
    return -x, lambda grad: (-grad,)


def pos(x):
    """d(+x) = dx"""
    return +x, lambda grad: (grad,)


def abs(x):
    """d|x| = sign(x) dx, with sign(0) = 0"""
    return f.abs(x), lambda grad: (grad * _sign(x),)


def _sign(x):
    return f.where(f.less(0.0, x), 1.0, f.where(f.less(x, 0.0), -1.0, 0.0))


# -- Exponential, trigonometric and related functions -------------------------------------------


def exp(x):
    """d eˣ = eˣ dx"""
    y = f.exp(x)
    return y, lambda grad: (grad * y,)


def expm1(x):
    """d (eˣ - 1) = eˣ dx"""
    return f.expm1(x), lambda grad: (grad * f.exp(x),)


def log(x):
    """d ln x = dx / x"""
    return f.log(x), lambda grad: (grad / x,)


def log1p(x):
    """d ln(1 + x) = dx / (1 + x)"""
    return f.log1p(x), lambda grad: (grad / (1 + x),)


def sqrt(x):
    """d √x = dx / (2 √x)"""
    y = f.sqrt(x)
    return y, lambda grad: (grad / (2 * y),)


def sin(x):
    """d sin x = cos x dx"""
    return f.sin(x), lambda grad: (grad * f.cos(x),)


def cos(x):
    """d cos x = -sin x dx"""
    return f.cos(x), lambda grad: (-(grad * f.sin(x)),)


def tan(x):
    """d tan x = (1 + tan² x) dx"""
    y = f.tan(x)
    return y, lambda grad: (grad * (1 + y * y),)


def asin(x):
    """d asin x = dx / √(1 - x²)"""
    return f.asin(x), lambda grad: (grad / f.sqrt((1 - x) * (1 + x)),)


def acos(x):
    """d acos x = -dx / √(1 - x²)"""
    return f.acos(x), lambda grad: (-(grad / f.sqrt((1 - x) * (1 + x))),)


def atan(x):
    """d atan x = dx / (1 + x²)"""
    return f.atan(x), lambda grad: (grad / (1 + x * x),)


def atan2(y, x):
    """d atan2(y, x) = (x dy - y dx) / (x² + y²); undefined at the origin"""
    r = f.hypot(x, y)
    return f.atan2(y, x), lambda grad: (grad * (x / r) / r, -(grad * (y / r) / r))


def sinh(x):
    """d sinh x = cosh x dx"""
    return f.sinh(x), lambda grad: (grad * f.cosh(x),)


def cosh(x):
    """d cosh x = sinh x dx"""
    return f.cosh(x), lambda grad: (grad * f.sinh(x),)


def tanh(x):
    """d tanh x = (1 - tanh² x) dx"""
    y = f.tanh(x)
    return y, lambda grad: (grad * (1 - y * y),)


def erf(x):
    """d erf x = 2/√π e^(-x²) dx"""
    slope = 2 / math.sqrt(math.pi)
    return f.erf(x), lambda grad: (grad * slope * f.exp(-(x * x)),)


def sigmoid(x):
    """d σ(x) = σ(x) σ(-x) dx"""
    y = f.sigmoid(x)
    return y, lambda grad: (grad * y * f.sigmoid(-x),)


def relu(x):
    """d relu(x) = dx where x > 0, else 0"""
    return f.relu(x), lambda grad: (f.where(f.less_equal(x, 0.0), 0.0, grad),)


def softplus(x):
    """d ln(1 + eˣ) = σ(x) dx"""
    return f.softplus(x), lambda grad: (grad * f.sigmoid(x),)


# -- Choices ------------------------------------------------------------------------------------


def maximum(x, y):
    """d max(x, y) = dx where x > y, dy where y > x, and half of each where they are equal"""
    w = f.where(f.less(y, x), 1.0, f.where(f.less(x, y), 0.0, 0.5))
    return f.maximum(x, y), lambda grad: (grad * w, grad * (1 - w))


def minimum(x, y):
    """d min(x, y) = dx where x < y, dy where y < x, and half of each where they are equal"""
    w = f.where(f.less(x, y), 1.0, f.where(f.less(y, x), 0.0, 0.5))
    return f.minimum(x, y), lambda grad: (grad * w, grad * (1 - w))


def where(condition, x, y):
    """d where(c, x, y) = dx where c holds, else dy"""
    z = f.where(condition, x, y)
    return z, lambda grad: (None, f.where(condition, grad, 0.0), f.where(condition, 0.0, grad))


def less(x, y):
    """d (x < y) = 0: a step has no slope"""
    return f.less(x, y), lambda grad: (None, None)


def less_equal(x, y):
    """d (x <= y) = 0"""
    return f.less_equal(x, y), lambda grad: (None, None)


# -- Any number of inputs: one operation each, and so one node ----------------------------------


def sum(*xs):
    """d(x₁ + ... + xₙ) = dx₁ + ... + dxₙ"""
    return f.sum(xs), lambda grad: (grad,) * len(xs)


def prod(*xs):
    """d(x₁ ... xₙ) = Σᵢ (the product of all others) dxᵢ"""
    # The products of all inputs left and right of each: dividing by xᵢ would fail at xᵢ = 0.
    left = accumulate(xs[:-1], operator.mul, initial=1.0)
    right = accumulate(xs[:0:-1], operator.mul, initial=1.0)
    others = [a * b for a, b in zip(left, reversed([*right]))]
    return f.prod(xs), lambda grad: tuple([grad * other for other in others])


def dot(*inputs):
    """d(x₁y₁ + ... + xₙyₙ) = Σᵢ (yᵢ dxᵢ + xᵢ dyᵢ)"""
    n = len(inputs) // 2
    xs, ys = inputs[:n], inputs[n:]
    return f.dot(xs, ys), lambda grad, others=ys + xs: tuple([grad * other for other in others])


def logsumexp(*xs):
    """d ln(e^x₁ + ... + e^xₙ) = Σᵢ e^xᵢ / (e^x₁ + ... + e^xₙ) dxᵢ: the softmax"""

    def backward(grad):
        shift = f.largest(xs)
        weights = [f.exp(x - shift) for x in xs]
        total = f.sum(weights)
        return tuple([grad * (weight / total) for weight in weights])

    return f.logsumexp(xs), backward


def largest(*xs):
    """The largest of xs, for a shift that cancels out of the result, so without a derivative"""
    return f.largest(xs), lambda grad: (None,) * len(xs)


def hypot(*xs):
    """d √(x₁² + ... + xₙ²) = Σᵢ xᵢ/y dxᵢ; at the origin 0"""
    y = f.hypot(*xs)
    origin = f.less_equal(y, 0.0)
    z = f.where(origin, 1.0, y)
    return y, lambda grad: tuple([grad * f.where(origin, 0.0, x / z) for x in xs])
