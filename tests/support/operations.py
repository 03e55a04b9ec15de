"""The table of operations that all tests read: a row for each rule of `ops.py`.

`reference` is the operation in mpmath. `domain` draws each input from numbers of all sizes at which
it is smooth; `ends` are points where a formula may break. `formulas` combine it with all others in
random graphs: functions of a library m and of one to three numbers of any size and
sign.
"""

import math
from types import SimpleNamespace
from typing import NamedTuple

import mpmath

from autodiff import ops


def uniform(low, high):
    return lambda rng: rng.uniform(low, high)


def magnitudes(low, high, signs=(-1, 1)):
    """Numbers of all sizes between 10**low and 10**high."""
    return lambda rng: rng.choice(signs) * 10 ** rng.uniform(low, high)


def either(*draws):
    """A number drawn in one of several ways."""
    return lambda rng: rng.choice(draws)(rng)


def beside(x):
    """Numbers right beside x, closer and closer."""
    return lambda rng: x * (1 - 10 ** rng.uniform(-15, -1))


def whole(rng):
    return float(rng.randint(-4, 4))


anything = magnitudes(-300, 300)
wide = magnitudes(-140, 140)  # so that a product and its second derivative do not overflow
unit = either(magnitudes(-300, 0), uniform(-1, 1), beside(1.0), beside(-1.0))
base = either(magnitudes(-150, 150, [1]), magnitudes(-1, 1, [1]))
exponents = either(uniform(-4, 4), magnitudes(-300, 0), whole)
exponential = either(magnitudes(-300, 2.8), uniform(-600, 600))
angles = either(magnitudes(-300, 15), uniform(-20, 20), beside(math.pi), beside(math.pi / 2))


class Operation(NamedTuple):
    domain: list
    formulas: list
    ends: tuple = ()
    reference: object = None  # or mpmath's function of the same name
    constants: tuple = ()  # inputs without a derivative
    loses: tuple = ()  # orders of derivatives that lose digits close to their zeros


def unary(domain, formula, *ends, **others):
    return Operation([domain], [formula], [(x,) for x in ends], **others)


# fmt: off
OPERATIONS = {
    "add": Operation([anything] * 2, [lambda m, a, b: a + b], (), lambda x, y: x + y),
    "sub": Operation(
        [anything] * 2, [lambda m, a, b: a - b, lambda m, a: 1.0 - a], (), lambda x, y: x - y),
    "mul": Operation([wide] * 2, [lambda m, a, b: a * b], (), lambda x, y: x * y),
    "div": Operation(
        [wide, magnitudes(-90, 90)],
        [lambda m, a, b: a / (b * b + 0.5), lambda m, a: 2.0 / (a * a + 0.5)],
        [(0.0, 1.0), (1e-100, 1e-100), (1e200, 1e200)], lambda x, y: x / y),
    "power": Operation(
        [magnitudes(-150, 150), whole],
        [lambda m, a: a**2, lambda m, a: a**3, lambda m, a: (a * a + 0.5) ** -1.5,
         lambda m, a: a**0],
        [(0.0, 0.0), (0.0, 1.0), (0.0, 2.0), (0.0, 3.0), (-2.0, 3.0), (-3.0, -2.0), (-1.5, 0.0),
         (1e-100, 3.0), (1e-290, 1.0), (-1e-150, 2.0), (2.0, -2.5), (5.0, 0.3)],
        lambda x, y: x**y, constants=(1,)),
    "pow": Operation(
        [base, exponents], [lambda m, a, b: (a * a + 0.5) ** m.sin(b)],
        [(1.0, 0.0), (1e-100, 0.01), (1e-5, 3.0), (2.0, 0.0), (1e-5, 0.0), (1e100, 0.0)],
        lambda x, y: x**y),
    "exponential": Operation(
        [base, exponents], [lambda m, a: 2.0 ** m.sin(a)],
        [(0.0, 2.0), (0.0, 0.5), (1.0, 0.0), (1e-100, 0.01)], lambda x, y: x**y, constants=(0,)),
    "less": Operation(
        [anything] * 2, [lambda m, a, b, c: m.where(m.less(a, b), c, a)], (),
        lambda x, y: mpmath.mpf(x < y)),
    "less_equal": Operation(
        [anything] * 2, [lambda m, a, b, c: m.where(m.less_equal(a, 0.5), b, a * c)], (),
        lambda x, y: mpmath.mpf(x <= y)),
    "neg": unary(anything, lambda m, a: -a, reference=lambda x: -x),
    "pos": unary(anything, lambda m, a: +a, reference=lambda x: +x),
    "abs": unary(anything, lambda m, a: abs(a), reference=mpmath.fabs),
    "exp": unary(exponential, lambda m, a: m.exp(m.sin(a)), 709.0, -745.0, 0.0),
    "expm1": unary(exponential, lambda m, a: m.expm1(m.sin(a)), 709.0, -745.0, 0.0, 1e-20),
    "log": unary(
        either(magnitudes(-140, 140, [1]), beside(1.0)), lambda m, a: m.log(a * a + 0.5),
        1e-150, 1e300, 1.0),
    "log1p": unary(
        magnitudes(-300, 140, [1]), lambda m, a: m.log1p(a * a), 1e-150, 1e300, 0.0, -0.75),
    "sqrt": unary(magnitudes(-180, 180, [1]), lambda m, a: m.sqrt(a * a + 0.5), 1e-200, 1e300),
    "sin": unary(angles, lambda m, a: m.sin(a), 0.0),
    "cos": unary(angles, lambda m, a: m.cos(a), 0.0),
    "tan": unary(angles, lambda m, a: m.tan(m.sin(a)), 0.0, 1.57),
    "asin": unary(unit, lambda m, a: m.asin(0.9 * m.sin(a)), 0.0, 1e-17, 1 - 1e-6, -1 + 1e-6),
    "acos": unary(unit, lambda m, a: m.acos(0.9 * m.sin(a)), 0.0, 1e-17, 1 - 1e-6, -1 + 1e-6),
    "atan": unary(magnitudes(-300, 70), lambda m, a: m.atan(a), 0.0, 1e150, -1e150),
    "atan2": Operation(
        [magnitudes(-70, 70)] * 2, [lambda m, a, b: m.atan2(a, b * b + 0.5)],
        [(0.0, 1.0), (1.0, 0.0), (3e100, 4e100), (-2.0, 3.0)]),
    "sinh": unary(exponential, lambda m, a: m.sinh(m.sin(a)), 0.0, 700.0),
    "cosh": unary(exponential, lambda m, a: m.cosh(m.sin(a)), 0.0, 700.0),
    "tanh": unary(
        either(magnitudes(-300, 2), uniform(-30, 30)), lambda m, a: m.tanh(a),
        0.0, 1000.0, -1000.0, 18.0, -18.0, loses=(1, 2)),
    "erf": unary(
        either(magnitudes(-300, 1.4), uniform(-10, 10)), lambda m, a: m.erf(a), 0.0, 30.0, -30.0),
    "sigmoid": unary(
        exponential, lambda m, a: m.sigmoid(a), 0.0, 1000.0, -1000.0,
        reference=lambda x: 1 / (1 + mpmath.exp(-x)), loses=(2,)),
    "relu": unary(anything, lambda m, a: m.relu(a), reference=lambda x: max(x, mpmath.mpf(0))),
    "softplus": unary(
        exponential, lambda m, a: m.softplus(a), 0.0, 1000.0, -1000.0,
        reference=lambda x: mpmath.log1p(mpmath.exp(x))),
    "maximum": Operation(
        [anything] * 2, [lambda m, a, b: m.maximum(a, b), lambda m, a: m.maximum(a, 0.25)], (), max),
    "minimum": Operation([anything] * 2, [lambda m, a, b: m.minimum(a, b)], (), min),
    "where": Operation(
        [uniform(1, 2), anything, anything], [lambda m, a, b, c: m.where(a, b, c)],
        [(0.0, 2.0, 3.0)], lambda c, x, y: x if c else y, constants=(0,)),
    "sum": Operation(
        [anything] * 3, [lambda m, a, b, c: m.sum([a, b, c, a])], (), lambda *xs: mpmath.fsum(xs)),
    "prod": Operation(
        [magnitudes(-90, 90)] * 3, [lambda m, a, b, c: m.prod([a, b, c])],
        [(0.0, 2.0, 3.0), (0.0, 0.0, 3.0), (0.0, 2.0, 3.0, 4.0), (0.0, 0.0, 3.0, 4.0)],
        lambda *xs: mpmath.fprod(xs)),
    "dot": Operation(
        [wide] * 4, [lambda m, a, b, c: m.dot([a, b, c], [c, 2.0, a])], (),
        lambda *v: mpmath.fdot(v[: len(v) // 2], v[len(v) // 2 :])),
    "logsumexp": Operation(
        [exponential] * 3, [lambda m, a, b, c: m.logsumexp([a, b, c])],
        [(1000.0, 1000.0, 999.0), (-1000.0, -1000.0, -2000.0), (1000.0, 0.0, -1000.0)],
        lambda *xs: mpmath.log(mpmath.fsum(map(mpmath.exp, xs))), loses=(2,)),
    "hypot": Operation(
        [either(magnitudes(-280, 140), magnitudes(-3, 3))] * 3,
        [lambda m, a, b: m.hypot(a, b, 1.0)],
        [(3e-100, 4e-100, 0.0), (3e150, 4e150, 0.0), (1e-150, 1e-160, 0.0),
         (3e-170, 4e-170, 0.0), (1e-150, 1.0, 1.0), (1e9, 1.0), (1.0, -1e9)],
        lambda *xs: mpmath.sqrt(mpmath.fsum(x * x for x in xs))),
}
# fmt: on
UNARY = [
    name for name, row in OPERATIONS.items() if len(row.domain) == 1 and name not in ("neg", "pos")
]
REFERENCES = {name: row.reference or getattr(mpmath, name) for name, row in OPERATIONS.items()}

FORMULAS = [formula for row in OPERATIONS.values() for formula in row.formulas]
FORMULAS.append(lambda m, a: m.cube(a))


def as_called(name, function):
    """A function of numbers, called as the operation's function is: with lists, or with numbers."""
    rows = getattr(ops, name).rows
    return [function, lambda xs: function(*xs), lambda xs, ys: function(*xs, *ys)][rows]


by_mpmath = SimpleNamespace(
    **{name: as_called(name, function) for name, function in REFERENCES.items()},
    cube=lambda x: x**3,
)
