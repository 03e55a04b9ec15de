"""The table of operations that all tests read: a row for each rule of `ops.py`.

`reference` is the operation in mpmath. `region` draws each input, away from kinks; `full` draws
numbers of all sizes, for `accuracy.py`. `formulas` combine it with all others in random graphs:
functions of three numbers of any size and sign, written with the functions of a library m.
`ends` are points where a formula may break. `autograd` is the function in HIPS autograd, unless
its NumPy has one of the same name.
"""

import math
from types import SimpleNamespace
from typing import NamedTuple

import autograd.numpy as anp
import mpmath
from autograd.scipy.special import erf as erf_of_autograd


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


positive = magnitudes(-6, 6, signs=[1])
anything = magnitudes(-6, 6)
any_size = magnitudes(-300, 300)
wide = magnitudes(-140, 140)  # so that a product and its second derivative do not overflow
unit = either(magnitudes(-300, 0), beside(1.0), beside(-1.0))
exponents = either(uniform(-4, 4), magnitudes(-300, 0), whole)
exponential = either(magnitudes(-300, 2.8), uniform(-600, 600))
angles = either(magnitudes(-300, 15), beside(math.pi), beside(math.pi / 2))
apart = [uniform(1, 2), uniform(2.01, 3)]


class Operation(NamedTuple):
    reference: object
    region: list
    formulas: tuple = ()
    full: tuple = ()
    ends: tuple = ()
    autograd: object = None
    relative: bool = True  # accurate to the last places of the derivative itself, however small
    constants: tuple = ()  # inputs without a derivative
    edges: tuple = ()  # like ends, for accuracy.py


def power(formulas, full, ends, constants=(), edges=()):
    region = [magnitudes(-1, 1, [1]), uniform(-4, 4)]
    return Operation(
        lambda x, y: x**y, region, formulas, full, ends, constants=constants, edges=[*edges]
    )


def arc(name, region, formula, full, ends, relative=True):
    same = getattr(anp, f"arc{name[1:]}")
    return Operation(getattr(mpmath, name), region, [formula], full, ends, same, relative)


# fmt: off
OPERATIONS = {
    "add": Operation(lambda x, y: x + y, [anything] * 2, ["a + b"], [any_size] * 2),
    "sub": Operation(lambda x, y: x - y, [anything] * 2, ["a - b", "1.0 - a"], [any_size] * 2),
    "mul": Operation(lambda x, y: x * y, [anything] * 2, ["a * b"], [wide] * 2),
    "div": Operation(
        lambda x, y: x / y, [anything, magnitudes(-2, 6)],
        ["a / (b * b + 0.5)", "2.0 / (a * a + 0.5)"], [wide, magnitudes(-90, 90)],
        [(0.0, 1.0), (1e-100, 1e-100), (1e200, 1e200)]),
    "power": power(
        ["a**2", "a**3", "(a * a + 0.5) ** -1.5", "a**0"], [magnitudes(-150, 150), whole],
        [(0.0, 0.0), (0.0, 1.0), (0.0, 2.0), (0.0, 3.0), (-2.0, 3.0), (-3.0, -2.0), (-1.5, 0.0)],
        (1,), [(1e-100, 3.0), (1e-290, 1.0), (-1e-150, 2.0)]),
    "pow": power(
        ["(a * a + 0.5) ** m.sin(b)"], [magnitudes(-150, 150, [1]), exponents],
        [(1.0, 0.0), (1e-100, 0.01), (1e-5, 3.0)],
        edges=[(2.0, 0.0), (1e-5, 0.0), (1e100, 0.0), (1.0, 0.0)]),
    "exponential": power(
        ["2.0 ** m.sin(a)"], [magnitudes(-150, 150, [1]), exponents],
        [(0.0, 2.0), (0.0, 0.5), (1.0, 0.0), (1e-100, 0.01)], (0,)),
    "less": Operation(
        lambda x, y: mpmath.mpf(x < y), apart, ["m.where(m.less(a, b), c, a)"], [any_size] * 2),
    "less_equal": Operation(
        lambda x, y: mpmath.mpf(x <= y), apart[::-1], ["m.where(m.less_equal(a, 0.5), b, a * c)"],
        [any_size] * 2),
    "neg": Operation(lambda x: -x, [anything], ["-a"], [any_size]),
    "pos": Operation(lambda x: +x, [anything], ["+a"], [any_size]),
    "abs": Operation(mpmath.fabs, [magnitudes(-3, 6)], ["abs(a)"], [any_size]),
    "exp": Operation(
        mpmath.exp, [uniform(-700, 20)], ["m.exp(m.sin(a))"], [exponential],
        [(709.0,), (-745.0,), (0.0,)]),
    "expm1": Operation(
        mpmath.expm1, [uniform(-700, 20)], ["m.expm1(m.sin(a))"], [exponential],
        [(709.0,), (-745.0,), (0.0,), (1e-20,)]),
    "log": Operation(
        mpmath.log, [positive], ["m.log(a * a + 0.5)"],
        [either(magnitudes(-140, 140, [1]), beside(1.0))], [(1e-150,), (1e300,), (1.0,)]),
    "log1p": Operation(
        mpmath.log1p, [positive], ["m.log1p(a * a)"], [magnitudes(-300, 140, [1])],
        [(1e-150,), (1e300,), (0.0,), (-0.75,)]),
    "sqrt": Operation(
        mpmath.sqrt, [positive], ["m.sqrt(a * a + 0.5)"], [magnitudes(-180, 180, [1])],
        [(1e-200,), (1e300,)]),
    "sin": Operation(mpmath.sin, [uniform(-20, 20)], ["m.sin(a)"], [angles], [(0.0,)], None, False),
    "cos": Operation(mpmath.cos, [uniform(-20, 20)], ["m.cos(a)"], [angles], [(0.0,)], None, False),
    "tan": Operation(
        mpmath.tan, [uniform(-1.5, 1.5)], ["m.tan(m.sin(a))"], [angles], [(0.0,), (1.57,)],
        None, False),
    "asin": arc(
        "asin", [uniform(-0.999, 0.999)], "m.asin(0.9 * m.sin(a))", [unit],
        [(0.0,), (1 - 1e-6,), (-1 + 1e-6,)]),
    "acos": arc(
        "acos", [uniform(-0.999, 0.999)], "m.acos(0.9 * m.sin(a))", [unit],
        [(0.0,), (1 - 1e-6,), (-1 + 1e-6,)]),
    "atan": arc(
        "atan", [anything], "m.atan(a)", [magnitudes(-300, 90)], [(0.0,), (1e150,), (-1e150,)]),
    "atan2": arc(
        "atan2", [magnitudes(-2, 2)] * 2, "m.atan2(a, b * b + 0.5)", [magnitudes(-70, 70)] * 2,
        [(0.0, 1.0), (1.0, 0.0), (3e100, 4e100)]),
    "sinh": Operation(
        mpmath.sinh, [uniform(-20, 20)], ["m.sinh(m.sin(a))"], [exponential], [(0.0,), (700.0,)]),
    "cosh": Operation(
        mpmath.cosh, [uniform(-20, 20)], ["m.cosh(m.sin(a))"], [exponential], [(0.0,), (700.0,)]),
    "tanh": Operation(
        mpmath.tanh, [uniform(-30, 30)], ["m.tanh(a)"],
        [either(magnitudes(-300, 2), uniform(-30, 30))],
        [(0.0,), (1000.0,), (-1000.0,)], None, False, edges=[(18.0,), (-18.0,)]),
    "erf": Operation(
        mpmath.erf, [uniform(-10, 10)], ["m.erf(a)"],
        [either(magnitudes(-300, 1.4), uniform(-10, 10))], [(0.0,), (30.0,), (-30.0,)],
        erf_of_autograd),
    "sigmoid": Operation(
        lambda x: 1 / (1 + mpmath.exp(-x)), [uniform(-700, 700)], ["m.sigmoid(a)"], [exponential],
        [(0.0,), (1000.0,), (-1000.0,)], lambda x: 0.5 + 0.5 * anp.tanh(x / 2)),
    "relu": Operation(
        lambda x: max(x, mpmath.mpf(0)), [magnitudes(-3, 6)], ["m.relu(a)"], [any_size],
        autograd=lambda x: anp.maximum(x, 0.0)),
    "softplus": Operation(
        lambda x: mpmath.log1p(mpmath.exp(x)), [uniform(-700, 100)], ["m.softplus(a)"],
        [exponential], [(0.0,), (1000.0,), (-1000.0,)], lambda x: anp.logaddexp(x, 0.0)),
    "maximum": Operation(
        max, apart, ["m.maximum(a, b)", "m.maximum(a, 0.25)"], [any_size] * 2),
    "minimum": Operation(min, apart, ["m.minimum(a, b)"], [any_size] * 2),
    "where": Operation(
        lambda c, x, y: x if c else y, [uniform(1, 2), anything, anything], ["m.where(a, b, c)"],
        [uniform(1, 2), any_size, any_size], constants=(0,)),
    "sum": Operation(
        lambda *xs: mpmath.fsum(xs), [anything] * 4, ["m.sum([a, b, c, a])"], [any_size] * 3,
        autograd=sum),
    "prod": Operation(
        lambda *xs: mpmath.fprod(xs), [magnitudes(-2, 2)] * 4, ["m.prod([a, b, c])"],
        [magnitudes(-90, 90)] * 3, [(0.0, 2.0, 3.0, 4.0), (0.0, 0.0, 3.0, 4.0)],
        lambda xs: xs[0] * xs[1] * xs[2], edges=[(0.0, 2.0, 3.0), (0.0, 0.0, 3.0)]),
    "dot": Operation(
        lambda *v: mpmath.fdot(v[: len(v) // 2], v[len(v) // 2 :]), [magnitudes(-3, 3)] * 4,
        ["m.dot([a, b, c], [c, 2.0, a])"], [wide] * 4,
        autograd=lambda xs, ys: sum(x * y for x, y in zip(xs, ys))),
    "logsumexp": Operation(
        lambda *xs: mpmath.log(mpmath.fsum(map(mpmath.exp, xs))), [uniform(-30, 30)] * 3,
        ["m.logsumexp([a, b, c])"], [exponential] * 3,
        [(1000.0, 1000.0, 999.0), (-1000.0, -1000.0, -2000.0), (1000.0, 0.0, -1000.0)],
        lambda xs: anp.logaddexp(anp.logaddexp(xs[0], xs[1]), xs[2])),
    "hypot": Operation(
        lambda *xs: mpmath.sqrt(mpmath.fsum(x * x for x in xs)), [magnitudes(-1, 6)] * 3,
        ["m.hypot(a, b, 1.0)"], [either(magnitudes(-280, 140), magnitudes(-3, 3))] * 3,
        [(3e-100, 4e-100, 0.0), (3e150, 4e150, 0.0)],
        lambda *xs: anp.sqrt(sum(x * x for x in xs)),
        edges=[(1e-150, 1e-160, 0.0), (3e-170, 4e-170, 0.0), (1e-150, 1.0, 1.0)]),
}
# fmt: on

FORMULAS = [formula for row in OPERATIONS.values() for formula in row.formulas] + ["m.cube(a)"]
TAKES_A_LIST = {"sum", "prod", "logsumexp"}


def of_lists(name, reference):
    """The reference of an operation, called as its function is."""
    if name in TAKES_A_LIST:
        return lambda xs: reference(*xs)
    return (lambda xs, ys: reference(*xs, *ys)) if name == "dot" else reference


by_mpmath = SimpleNamespace(
    **{name: of_lists(name, row.reference) for name, row in OPERATIONS.items()},
    cube=lambda x: x**3,
)
by_autograd = SimpleNamespace(
    **{name: row.autograd or getattr(anp, name, None) for name, row in OPERATIONS.items()},
    cube=lambda x: x * x * x,
)
