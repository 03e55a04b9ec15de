"""What is refused.

A row of the first table is a program; its error, unless that is a TypeError; and the words with
which its message begins, where "..." stands for any others. In the second, every public function
is given what it cannot take, argument by argument: an error in words, and nothing half changed.
"""

import copy
import functools
import math
import operator
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas
import pytest
from modes import DERIVATIVES, forward
from operations import UNARY
from tables import check_raises, raising, text_of

import autodiff as ad
from autodiff import Dual, Matrix, Value, Vector, grad, hessian, jacfwd, jacrev, jvp, nn, ops, optim
from autodiff.engine.errors import typed

x, v, A = Value(2.0), Vector([1, 2, 3]), Matrix([[1, 2], [3, 4]])  # a refusal changes nothing
k = Value(3.0, label="c")
k.requires_grad = False


def own(rule):
    """An operation of one's own, called cube."""
    rule.__name__ = "cube"
    return ad.operation(rule)


def times(w):
    """An operation that multiplies by a number that it holds."""
    return own(lambda x: (w * x, lambda grad: (w * grad,)))


def each(programs, *rest):
    """A row for each of these programs."""
    return [(program, *rest) for program in programs]


# fmt: off
NUMBER = "one real number (int, float, Fraction or a numpy scalar)"
OTHER = "...a number of another kind already; use it as it is"
ROOT = own(lambda x: (math.sqrt(x), lambda grad: (grad / (2 * math.sqrt(x)),)))
KINDS = [lambda n: n, lambda n: Value(n, label="rate"), lambda n: Dual(n, 1.0)]
LABELS = ["", " (", ""]
OUTSIDE = [
    (ad.log, -1.0, "x > 0"), (ad.log, 0.0, "x > 0"), (ad.log1p, -1.0, "x > -1"),
    (ad.sqrt, -4.0, "x >= 0"), (ad.asin, 2.0, "-1 <= x <= 1"), (ad.acos, 2.0, "-1 <= x <= 1"),
    *[(f, math.inf, "-inf < x < inf") for f in (ad.sin, ad.cos, ad.tan)],
]
INFINITE = "the derivative of sqrt at x = ...0.0...: it is infinite or undefined there"
PAIRS = [(n, pair) for n in (x, Dual(5.5, 1.0), v) for pair in ((n, 2.0), (2.0, n))]
INSIDE = "...a number inside a function that is being differentiated, expected a Value of your own"
PLAIN = "this number is being differentiated, ...; write autodiff.sin for math.sin, or x.data for the plain number of a Value of your own"
# What a rule of one's own may not return, in whatever mode it is used.
OF_ANOTHER_KIND = [(lambda x: "a", "str"), (lambda x: 1j * x, "complex")]
RULES = [
    (lambda x: x**3, "cube: found a rule that returns ... expected (result, backward)"),
    *each([lambda x: (x,), lambda x: (x, 2.0)], "cube: found"),
    (lambda x: (None, lambda grad: (grad,)), "...its result: found None of type NoneType"),
    (lambda x: (x, lambda x: (Vector([x]),)), "...a gradient: found ... of type Vector"),
    *[(lambda x, wrong=wrong: (wrong(x), lambda grad: (grad,)), f"...its result: found ... of type {kind}")
      for wrong, kind in OF_ANOTHER_KIND],
    *[(lambda x, wrong=wrong: (x, lambda grad: (wrong(grad),)), f"...a gradient: found ... of type {kind}")
      for wrong, kind in OF_ANOTHER_KIND],
    *each([lambda x: (x, lambda grad: (grad, grad)),
           lambda x: (x, lambda grad: [grad])],
          "cube: found a backward that returns ... a tuple of 1"),
]
DIFFERENTIATED = [lambda f: f(x).backward(), lambda f: grad(f)(2.0), lambda f: jvp(f, (2.0,), (1.0,))]
CHANGED = "...numbers that were changed after the graph was recorded"


def changed(f, number):
    """Second derivatives by a graph whose input is not as it was."""
    x = Value(2.0)
    y = f(x)
    x.data = number
    y.backward(create_graph=True)


def leaked(d):
    """A number of a derivative that is finished."""
    numbers = []
    d(lambda x: numbers.append(x * x) or x)(3.0)
    return numbers[0]


def within_itself():
    tree = []
    tree.append(tree)
    return tree


class OutsideError(ValueError):
    def __init__(self, where, what):
        super().__init__(f"{where}: {what}")


@ad.operation
def picky(x):
    """One that raises errors of its own, which are not reworded."""

    def backward(grad):
        raise OutsideError("gradient", x)

    if x < 0:
        raise OutsideError("input", x)
    return x, backward


REFUSALS = {
    "numbers": [
        *each([lambda: Value(x), lambda: setattr(x, "data", Value(2.0))],
              f"Value: found Value(data=2.0, grad=0.0) of type Value, expected one real number; it is {OTHER[3:]}, or p.grad.data"),
        (lambda: grad(lambda x: x)(np.array(2, "m8[ns]")), f"...expected {NUMBER}"),
        *each([lambda: x * Dual(2), lambda: Dual(2) * x], "mul: found a ... and a ..., expected numbers of one kind; for forward over reverse wrap"),
        *each([lambda: Value(10**400), lambda: x * Fraction(10**400), lambda: grad(ad.sin)(10**400), lambda: Vector([10**5000])], OverflowError,
              "...: found a... too large for a float, expected a number below 1.8e308"),
        *each([lambda n=n, use=use: use(n) for n in (x, Dual(1.0, 1.0)) for use in (float, int, math.sin)], PLAIN),
        (lambda: np.array([x], dtype=float), PLAIN),
        *each([lambda f=f, pair=pair: f(*pair) for f in (operator.mod, operator.floordiv, divmod, operator.and_, operator.or_) for _, pair in PAIRS],
              "unsupported operand type"),
        *[(lambda pair=pair: operator.xor(*pair), f"^: found a {type(n).__name__}, expected a plain number; write x**2 for a power") for n, pair in PAIRS],
    ],
    "domains": [
        *[(lambda f=f, kind=kind, at=at: f(kind(at)), ValueError, f"{f.__name__}: x = {at}{label}...is outside the domain {domain}")
          for f, at, domain in OUTSIDE for kind, label in zip(KINDS, LABELS)],
        *[(lambda label=label: ad.log(Value(-1.0, label=label)), ValueError, f"log: x = -1.0 ({quoted}) is outside the domain x > 0")
          for label, quoted in [("\nimport os", r"'\nimport os'"), ('"', "'\"'"), ("\u2028", r"'\u2028'"), ("{}", "'{}'")]],
        (lambda: Value(1, label="a") / Value(0, label="b"), ZeroDivisionError, "x / y: x = 1.0 ('a'), y = 0.0 ('b') is outside the domain y != 0"),
        *each([lambda: pow(Value(0), -1.0), lambda: ops.power(0.0, -1.0)], ZeroDivisionError,
              "x ** n: x = 0.0, n = -1.0 is outside the domain x > 0, or x = 0 and n >= 0, or x < 0 and n an integer"),
        *each([lambda: Value(-8.0) ** (1 / 3), lambda: ops.power(-8.0, 1 / 3)], ValueError, "x ** n: x = -8.0, n = 0.3333333333333333 is outside"),
        (lambda: (-8) ** Value(0.5), ValueError, "a ** x: a = -8.0, x = 0.5 is outside the domain a > 0, or a = 0 and x >= 0, or a < 0 and x an integer"),
        (lambda: Value(-8.0) ** Value(0.5), ValueError, "x ** y: x = -8.0, y = 0.5 is outside the domain x > 0, or x = 0 and y >= 0, or x < 0 and y an integer"),
        *each([lambda kind=kind: ad.exp(kind(1000.0)) for kind in KINDS], OverflowError, "exp: x = 1000.0...gives a result too large for a float"),
        (lambda: Value(0.0, label="w").sqrt().backward(), ZeroDivisionError, INFINITE.replace("0.0...", "0.0 ('w')")),
        *each([lambda: Value(0.0).sqrt().backward(create_graph=True), lambda: Dual(0.0, 1.0).sqrt(), lambda: hessian(ad.sqrt)(0.0), lambda: ad.trace(ad.sqrt, 0.0)],
              ZeroDivisionError, INFINITE),
        (lambda: ROOT(Value(-1.0, label="v")), ValueError, "cube: x = -1.0 ('v'): "),
        (lambda: ROOT(Value(0.0)).backward(), ZeroDivisionError, INFINITE.replace("sqrt", "cube")),
    ],
    "trees": [
        *each([lambda d=d: d(len)(within_itself()) for d in (grad, jacfwd, hessian)], RecursionError,
              "...: found a list nested too deeply, or in itself, expected a tree of numbers"),
    ],
    "functions": [
        (lambda: ad.logsumexp([]), ValueError, "logsumexp: found no numbers, expected at least one"),
        (lambda: ad.sum(3), "sum: found 3 of type int, expected a sequence of numbers: sum([x, y])"),
        (lambda: ad.dot([x], [1, 2]), ValueError, "dot: found 1 and 2 numbers, expected equally many on both sides"),
    ],
    "rules": [
        *[(lambda rule=rule, use=use: use(own(rule)), words) for rule, words in RULES for use in DIFFERENTIATED],
        *each([lambda: own(lambda x: (Vector([x]).norm(), abs))(x), lambda: times(Value(2.0))(x), lambda: times(Value(2.0))(v), lambda: times(Value(2.0))(Dual(3.0, 1.0)),
               lambda: grad(lambda x: grad(lambda w: times(w)(x))(2.0) * x)(3.0),  # 6, and it was 0
               lambda: jvp(lambda x: forward(lambda w: times(w)(x))(2.0) * x, (3.0,), (1.0,))],
              "cube: found a result that is ... expected operations on its inputs alone; pass all"),
        *each([lambda n=n: own(lambda x: "\ud800".encode())(n) for n in (2.0, x, Dual(2.0, 1.0))], UnicodeEncodeError, "'utf-8' codec"),
        (lambda: picky(Value(-1.0)), OutsideError, "input: -1.0"),
        *each([lambda: picky(Value(1.0)).backward(), lambda: jvp(picky, (1.0,), (1.0,))], OutsideError, "gradient: 1.0"),
    ],
    "value": [
        (lambda: setattr(x * x, "requires_grad", False), ValueError, "requires_grad: found the result of an operation, expected a leaf; whether"),
        (lambda: (k * k).backward(), ValueError, "backward: found an output computed from constants alone, expected one that depends on a Value"),
        (lambda: (x * k).backward(inputs=[k]), ValueError, "inputs: found a constant, 3.0 ('c'), expected nodes that require a gradient"),
        (lambda: changed(lambda x: 0.0 * x * x, 5.0), RuntimeError, CHANGED),
        *[(lambda f=f, n=n: changed(f, n), RuntimeError, f"create_graph: found {f.__name__} of {CHANGED[3:]}")
          for f, n in ((ad.exp, 3.0), (ad.log, -1.0), (ad.log, 5.0))],
        *each([lambda f=f: f(x * x) for f in (pickle.dumps, copy.copy)],
              "a Value that was computed (*) cannot be copied or pickled"),
    ],
    "what is not there": [
        (lambda: Value(1.0, (Value(2.0),), "relu"), "Value: found parents and an operation, as in micrograd, expected a number and a label; "
         "operators record the rest; an operation of your own needs @autodiff.operation"),
        *each([lambda name=name: jvp(lambda x: setattr(x, name, 10.0) or x, (2.0,), (1.0,)) for name in ("primal", "tangent")],
              AttributeError, "property '...' of 'Dual' object has no setter"),
        (lambda: setattr(x, "gard", 0), AttributeError, "...gard"),  # no room for anything else
    ],
    "linalg": [
        (lambda: v + [1, 2], ValueError, "add: found shapes (3,) and (2,), expected equal shapes, or a number"),
        (lambda: np.ones((2, 3)) * v, ValueError, "multiply: found shapes (3,) and (2, 3), expected equal"),
        (lambda: np.ones((1, 2, 2)) @ A, "@: found array("),
        (lambda: [1, 2, 3] @ A, ValueError, "@: found shapes (3,) and (2, 2), expected 3 as the"),
        (lambda: Vector(1.0, 2.0), "Vector: found 2 arguments, expected one sequence; write Vector([x, y])"),
        (lambda: Matrix([1.0], [2.0], [3.0]), "Matrix: found 3 arguments, expected one sequence; write Matrix([[a, b], [c, d]])"),
        *[(lambda key=key, array=array: array[key], kind, f"{type(array).__name__}: found index {key}, expected ints or slices for its shape {array.shape}")
          for array, keys in ((v, (3,)), (A, ((2, 0), (0, 2), (slice(None), 2)))) for kind, keys in ((IndexError, keys), (TypeError, (1.5, (0, 1, 0)))) for key in keys],
        *each([lambda: Vector([]), lambda: v[3:]], ValueError, "Vector: found no numbers"),
        (lambda: Vector(pandas.DataFrame([[5.0]])), "...found array"),
        *each([lambda: v != 2.0, lambda: v < 2, lambda: A <= A], "...found a ..., expected one number; take its entries, or .data"),
        (lambda: operator.setitem(v, 0, 3), "...item assignment"),
        (lambda: v.backward(), "...found a Vector of shape (3,), expected one number; ....sum(), .mean()"),
        (lambda: (A @ A).backward(), "...found a Matrix of shape (2, 2), expected one number; ....sum(), .mean()"),
    ],
    "transforms": [
        *each([lambda d=d: d(lambda x: [x, x])(1.0) for d in (grad, hessian)], "grad: found a list of 2 numbers...jacrev(f) for several results"),
        (lambda: grad(lambda x, y: x, (0, -2))(1.0, 2.0), ValueError, "...several different ones"),
        (lambda: grad(ad.sin, x), "grad: found argnums Value(data=2.0, grad=0.0), expected the index of an argument; did you mean grad(f)(Value(data=2.0, grad=0.0))?"),
        *[(program, ValueError, f"{words}, expected the shape of ...; give one number for each of its numbers") for program, words in [
            (lambda: jvp(lambda p: p["a"], ({"a": 1.0},), ({"b": 1.0},)), "jvp: the tangents: found ({'b': 1.0},)"),
            (lambda: ad.hvp(lambda x: x.sum(), np.ones(2), np.ones((2, 1))), "jvp: the tangents: found (array([[1.], [1.]]),)"),
            *[(lambda f=f, n=n: ad.vjp(f, 1.0)[1](n), f"vjp: the cotangent: found {n}") for f, n in ((ad.sin, [1.0]), (lambda x: [x, x], 1.0), (lambda x: {"a": x}, 1.0))]]],
        (lambda: grad(lambda x: {"a": x})(1.0), "grad: found a dict of 1 number, expected one number as the result of f"),
        *each([lambda d=d: d(lambda x: x + math.sin(x))(1.0) for d in (grad, jacrev, jacfwd, forward, hessian)], PLAIN),
        *each([lambda d=d, f=f: d(f)(2.0) for d in (grad, forward) for f in (lambda x: Value(x) ** 2, lambda x: (Dual(x, 1.0) ** 2).tangent)], OTHER),
        *each([lambda d=d, use=use: use(leaked(d)) for d in DERIVATIVES.values() for use in (
                   lambda n: grad(lambda z: z * n)(2.0), lambda n: grad(lambda z: n)(2.0), lambda n: ad.vjp(lambda z: [z, n], 1.0))],
              RuntimeError, "...a derivative that has been computed already"),
        *each([use for d in (jacfwd, hessian) for use in (
            lambda d=d: d(lambda x, s: x[0] * ad.sum(s))([1.0, 2.0], iter([3.0])),
            lambda d=d: d(lambda x, s: x[0] * ad.sum(s))([1.0, 2.0], s=map(float, [3])))],
              "jacfwd: found ... which the first of several calls of f would use up"),
        *each([lambda d=d, f=f: d(f)(0.0) for d in (grad, jacrev, jacfwd, forward)
               for f in (lambda x: (x**3) ** (1 / 3), lambda x: ad.sqrt(0.0 * x), lambda x: 1 + ad.sum([x**2, x**2]) ** 0.5)],
              ZeroDivisionError, "the derivative of ... infinite or undefined"),
        # A derivative would be lost on the way through a plain number.
        *each([lambda d=d, f=f: d(f)(2.0) for d in (grad, hessian)
               for f in (lambda x: copy.copy(x) ** 2,
                         lambda x: ad.adjoints(x**3)[x], lambda x: [*ad.steps(x**3)][-1].adjoint,
                         lambda x: ad.Expression(x**3).propagate(),
                         lambda x: ad.Expression([x**3]).compile([x], wrt=[])(2.0)[0], lambda x: (x**3).backward(),
                         lambda x: setattr(x, "requires_grad", True), lambda x: setattr(x, "data", 5.0),
                         lambda x: x.data * 2, lambda x: Vector([x]).data[0])],
              RuntimeError, f"{INSIDE}; use it only in operations"),
        *each([lambda d=d, f=f: d(f)(2.0) for d in (jacfwd, forward) for f in (lambda x: x.primal * 2, lambda x: x.tangent + x)],
              RuntimeError, f"{INSIDE}; use it only in operations"),
        # An error of the user's function is left alone.
        (lambda: grad(lambda p: np.piecewise(p, [p > 0], [lambda x: x.nothing]))(np.ones(2)), AttributeError, "...nothing"),
        (lambda: ad.check_gradients(lambda x: x * x if x <= 2.0 else len(2), 2.0), "object of type 'int' has no len()"),
        *each([lambda f=f: grad(lambda x: f(ad.sin, x) or x)(1.0) for f in (ad.check_gradients, ad.trace)], RuntimeError, INSIDE),
        *each([lambda m=m: ad.finite_difference(ad.sin, 1.0, h=1e-30, method=m) for m in ("forward", "backward", "central")], ValueError,
              "finite_difference: found step h = 1e-30 at x = 1.0, expected a larger"),
        *[(lambda f=f: ad.trace(f, 1.0), f"trace: found {words}...expected one number that depends on x; trace several one by")
          for f, words in [(lambda x: [x, x], "[Value"), (lambda x: 1.0, "1.0"), (lambda x: x.data, "1.0"), (lambda x: Value(2.0), "")]],
        *each([lambda: ad.trace(lambda a: a), lambda: ad.trace(lambda x: x, [])], "trace: found no numbers, ...compute f at: trace(f, 2.0)"),
    ],
}
# fmt: on


test_what_is_refused = raising(
    *[
        row if len(row) == 3 else (row[0], TypeError, row[1])
        for rows in REFUSALS.values()
        for row in rows
    ]
)


# -- Every public function, given what it cannot take ----------------------------------------------

# A message names the function, or, of these, the one that it is built on.
SILENT = {"Value", "Vector", "Matrix", "adjoints", "hessian", "hvp"}


class Thing:
    """No number, no sequence, no function; its repr has an address in memory."""


def square(x):
    return x * x


def total(v):
    return ad.dot(v, v)


def calls(call, *functions, place=""):
    """The same call of several functions; the message names the function, and this place."""
    text, names = text_of(call), ["" if f.__name__ in SILENT else f.__name__ for f in functions]
    return [
        (f, functools.partial(call, f), text, name + place) for f, name in zip(functions, names)
    ]


X, Y = Value(2.0, label="x"), Value(3.0, label="y")
Z = X * Y
THING = Thing()
TWO = [ad.maximum, ad.minimum, ad.hypot, ad.atan2, ad.less]
OF_ARGNUMS = [grad, ad.value_and_grad, jacrev, jacfwd]
OF_F = [ad.vjp, ad.finite_difference, ad.check_gradients, ad.trace]
OPTIMIZERS = [getattr(optim, name) for name in optim.__all__ if name != "Optimizer"]
NUMBERS_IN = [ad.sum, ad.prod, ad.logsumexp, Vector]

# fmt: off
# What is wrong stands under what is expected, or under all that the message says: "found ...".
NONE = f"{NUMBER}; is a `return` missing in the function that made it?"
ROW = f"{NUMBER}; make one Value of each number: Vector(data), or [Value(v) for v in data]"
COMPLEX = f"{NUMBER}; take its .real, its .imag or abs() of it"
NO_NUMBER = {
    NONE: [None], ROW: [{2.0}], COMPLEX: [1j], f"{NUMBER}; convert it first: float(text)": ["2", b"2"],
    NUMBER: [Decimal(1), object, THING, math.sin],
}
NOT_ONE = NO_NUMBER | {ROW: [{2.0}, {}, [], [1.0, 2.0], (1, 2)]}
NOT_PLAIN = NOT_ONE | {
    ROW: [*NOT_ONE[ROW], np.ones(2)], COMPLEX: [1j, np.complex128(1)], NUMBER: [*NOT_ONE[NUMBER], np.timedelta64(2, "ns"), v],
}
# Arrays, of which most functions of NumPy's would ignore the mask, or the unit
MASKS = "found an array with masked entries, expected numbers; leave masked entries out, or fill them in"
MASKED = [np.ma.masked, np.ma.array(2.0, mask=True)]
NO_ARRAY = {
    MASKS: [np.ma.array([1.0, 2.0], mask=[False, True])],
    "found ...time": [np.array([1, 2], unit) for unit in ("M8[ns]", "m8[ns]", "M8[D]", "m8[s]")],
    "found ...complex...expected": [np.array([1j, 2.0])],
}
# What may stand there, what is of a wrong type, what is a wrong value; and the places.
PLACES = [
    (np.array([0.25, 0.5]), NO_ARRAY, {}, [
        *calls(lambda f, w: f(w), *[getattr(ad, name) for name in UNARY], *NUMBERS_IN),
        *calls(lambda f, w: f(w, 3.0), *TWO), *calls(lambda f, w: f(2.0, w), *TWO), *calls(lambda f, w: f([w]), Matrix),
        *calls(lambda f, w: f([2.0, 3.0], w), ad.dot), *calls(lambda f, w: f([1.0, 2.0]) + w, Vector),
        *calls(lambda d, w: d(total)(w), *OF_ARGNUMS, hessian), *calls(lambda f, w: f(total, w), *OF_F[:3]),
        *calls(lambda f, w: f(total, (w,), ([1.0, 1.0],)), jvp), *calls(lambda f, w: f(total, [1.0, 1.0], w), ad.hvp)]),
    (0.5, NOT_ONE | {MASKS: MASKED}, {}, [
        *calls(lambda f, w: f(w), *[getattr(ad, name) for name in UNARY], own(lambda x: (x, lambda grad: (grad,)))),
        *calls(lambda f, w: f(w, 3.0), *TWO), *calls(lambda f, w: f(2.0, w), *TWO)]),
    (2.0, NOT_ONE, {}, [
        *calls(lambda f, w: X * w, Value), *calls(lambda f, w: w - X, Value), *calls(lambda f, w: X**w, Value),
        *calls(lambda f, w: w**X, Value), *calls(lambda f, w: f(X, w), *TWO), *calls(lambda f, w: f(w, 1.0, X), ad.where),
        *calls(lambda f, w: f([X, w]), *NUMBERS_IN), *calls(lambda f, w: f([[X, w]]), Matrix),
        *calls(lambda f, w: f([X], [w]), ad.dot), *calls(lambda f, w: f([w], [X]), ad.dot),
        *calls(lambda f, w: v.map(lambda x: w), Vector), *calls(lambda f, w: [1, w, 3] * v, Vector)]),
    (2.0, NOT_PLAIN | {MASKS: MASKED}, {}, [
        *calls(lambda f, w: f(w), Value, Dual), *calls(lambda f, w: f(1.0, w), Dual), *calls(lambda f, w: setattr(X, "data", w), Value)]),
    (0.0, NOT_PLAIN | {NONE: [], "found None, expected a number; to clear it, assign 0.0": [None]}, {},
     calls(lambda f, w: setattr(X, "grad", w), Value)),
    (0.5, NO_NUMBER, {}, [
        *calls(lambda d, w: d(square)(w), *OF_ARGNUMS), *calls(lambda f, w: f(square, w), *OF_F),
        *calls(lambda f, w: f(square, w, 1.0), ad.hvp), *calls(lambda f, w: f(square, 1.0, w), ad.hvp),
        *calls(lambda f, w: f(square, (w,), (1.0,)), jvp), *calls(lambda f, w: f(square, (1.0,), (w,)), jvp, place=": the tangents"),
        *calls(lambda f, w: f(square, 2.0)[1](w), ad.vjp, place=": the cotangent"), *calls(lambda d, w: d(total)([w]), hessian),
        *calls(lambda d, w: d(lambda x: x[0])([2.0, w]), grad), *calls(lambda d, w: d(lambda x: x[0])((2.0, [w])), grad),
        *calls(lambda d, w: d(lambda x: x[0])({0: 2.0, 1: {"a": w}}), grad),
        *calls(lambda d, w: d(lambda x: x[0])(np.array([1.0, w], dtype=object)), grad),
        *calls(lambda d, w: d(lambda x: w)(2.0), *OF_ARGNUMS, hessian, place=": the result of f"),
        *calls(lambda f, w: f(lambda x: w, 2.0), *OF_F[:3], place="...: the result of f"),
        *calls(lambda f, w: v + w, Vector)]),
    (0.5, NOT_ONE | {MASKS: MASKED}, {"found -0.1, expected a number >= 0": [-0.1], "found ..., expected": [math.nan, math.inf]}, [
        *calls(lambda f, w: f([X], lr=w), *OPTIMIZERS, place=", lr"), *calls(lambda f, w: setattr(f([X], lr=1.0), "lr", w), *OPTIMIZERS, place=", lr"), *calls(lambda f, w: f([X], lr=0.1, weight_decay=w), *OPTIMIZERS, place=", weight_decay"),
        *calls(lambda f, w: f([X], lr=0.1, momentum=w), optim.SGD, optim.RMSprop, place=", momentum"), *calls(lambda f, w: f([X], eps=w), *OPTIMIZERS[1:], place=", eps"),
        *calls(lambda f, w: f([X], alpha=w), optim.RMSprop, place=", alpha"), *calls(lambda f, w: f([X], betas=(w, 0.9)), optim.Adam, place=", betas"),
        *calls(lambda f, w: f([X], betas=(0.9, w)), optim.Adam, place=", betas")]),
    ((0.9, 0.99), {"2 numbers": [(), (0.9, 0.9, 0.9), 0.9, None, "ab"]}, {"found 1.0, expected a number >= 0, below 1": [(0.9, 1.0), (1.0, 0.9)]}, [
        *calls(lambda f, w: f([X], betas=w), optim.Adam, place=", betas"),
        *calls(lambda f, w: setattr(f([X]), "betas", w), optim.Adam, place=", betas")]),
    ([X], {"found ..., expected leaf Values: model.parameters()": [[1.0], [Z], [A], nn.Linear(1, 1), None, 2.0, THING]},
     {"found no parameters": [[]]}, calls(lambda f, w: f(w, lr=0.1), *OPTIMIZERS)),
    ([2.0], {"a sequence of numbers": [None, 3, THING, math.sin, "ab", b"ab", {1.0: X}, {3.0, 1.0}, np.array(5.0)]}, {}, [
        *calls(lambda f, w: f(w), *NUMBERS_IN), *calls(lambda f, w: f([2.0], w), ad.dot), *calls(lambda f, w: f(w, [2.0]), ad.dot)]),
    ([2.0], {"found ...of shape (2, 2), expected numbers in a row": [A, np.eye(2)]}, {}, [
        *calls(lambda f, w: f(w), *NUMBERS_IN[:3]), *calls(lambda f, w: f(w, [2.0]), ad.dot)]),
    ([[2.0]], {"a sequence of rows": [None, 2.0, "ab", THING, {(1, 2): 3}, np.array(5.0)],
               "found ..., expected a sequence of numbers": [[1.0, 2.0], [{3, 1}]]},
     {"found rows of lengths [1, 2], expected at least one row": [[[1.0], [1.0, 2.0]]]}, calls(lambda f, w: f(w), Matrix)),
    (v, {"a Vector or Matrix, or its numbers in": [None, 2.0, "ab", THING]}, {"found shapes ... and (1,), expected 3 as the": [Vector([1.0])]}, [
        *calls(lambda f, w: v @ w, Vector), *calls(lambda f, w: f([[1, 2, 3]]) @ w, Matrix)]),
    (square, {"a function": [None, 2.0, "f", [], THING]}, {}, [
        *calls(lambda d, w: d(w)(2.0), *OF_ARGNUMS, hessian), *calls(lambda f, w: f(w, (2.0,), (1.0,)), jvp),
        *calls(lambda f, w: f(w, 2.0, 1.0), ad.hvp), *calls(lambda f, w: f(w, 2.0), *OF_F)]),
    (square, {"found ..., expected a function with a name": [None, 2.0, "f", functools.partial(ad.sin)]}, {}, calls(lambda f, w: f(w), ad.operation)),
    ((2.0,), {}, {"found ..., expected the shape of (1.0,); give one": [2.0, (2.0, 3.0), ([2.0],)]}, calls(lambda f, w: f(square, (1.0,), w), jvp, place=": the tangents")),
    ((2.0,), {"a tuple with an entry for each argument: jvp(f, (2.0,), (1.0,))": [None, 2.0]},
     {"found (1.0,), expected the shape of (2.0, 3.0); give one": [(2.0, 3.0)]}, calls(lambda f, w: f(square, w, (1.0,)), jvp)),
    (0, {"found argnums ..., expected the index of an argument; did you mean": [None, 1.5, "x", THING, [None], ["0"], [1.0, 2.0], X]},
     {"found argnums ... and 1 positional argument, expected the index of one of them, or several different ones": [7, -7, [7], [0, 0]]},
     calls(lambda d, w: d(square, w)(2.0), *OF_ARGNUMS, hessian)),
    (1e-5, NO_NUMBER | {NONE: []}, {"found step h = ..., expected h > 0": [0.0, -1.0, math.nan, math.inf]}, [
        *calls(lambda f, w: f(square, 2.0, w), ad.finite_difference), *calls(lambda f, w: f(square, 2.0, h=w), ad.check_gradients)]),
    (Z, {"a Value, such as a loss": [None, [], {}, math.sin, np.array(1.0), 2.0, "ab", [2.0], ["x"], THING, v]}, {}, [
        *calls(lambda f, w: f(w), ad.adjoints, ad.topological_order), *calls(lambda f, w: [*f(w)], ad.steps)]),
    (Z, {"found a..., expected a Value, such as a loss": [None, [], {}, math.sin, 2.0, "ab", [2.0], THING, v]}, {}, calls(lambda f, w: f(w), ad.draw)),
    (Z, {"found ..., expected a Value, such as a loss, or several": [None, {}, math.sin, np.array(1.0), 2.0, "ab", [2.0], ["x"], THING]},
     {"found no outputs": [[]]}, calls(lambda f, w: f(w), ad.Expression)),
    ([X], {"a sequence of Values: [x, y]": [2.0, "ab", THING, X], "found ... in the sequence, expected Values only": [[2.0], ["x"], [X, None]]}, {}, [
        *calls(lambda f, w: f(Z, w), ad.adjoints), *calls(lambda f, w: Z.backward(inputs=w), Value)]),
    ("x", {"a str": [None, 2.0, [], THING, b"x"]}, {}, [
        *calls(lambda f, w: f(2.0, w), Value), *calls(lambda f, w: f(w), ad.scope), *calls(lambda f, w: setattr(X, "label", w), Value)]),
    ("x", {}, {"found wrt = ..., expected one of ['x', 'y'] or an index of it": [None, 2.0, True, [], [0], THING, "z", 2, -3]},
     calls(lambda f, w: f(lambda x, y: x, 2.0, 3.0, wrt=w), ad.trace)),
    ("central", {}, {"found method ..., expected one of ['forward', 'backward', 'central']": [None, "centre", 2.0]},
     calls(lambda f, w: f(square, 2.0, method=w), ad.finite_difference)),
    ("reverse", {}, {"found mode ..., expected 'forward' or 'reverse'": [None, "backward", 2.0]}, calls(lambda f, w: f(square, 2.0, mode=w), ad.trace)),
    ("message", {}, {"found edges ..., expected None, 'local' or 'message'": ["other", 2.0]}, calls(lambda f, w: f(Z, edges=w), ad.draw)),
    ("grad", {}, {"found color ..., expected None or 'grad'": ["other", 2.0]}, calls(lambda f, w: f(Z, color=w), ad.draw)),
]
# fmt: on


def state(*nodes):
    """All that a call could leave half changed."""
    return [(x.data, x.grad, x.label, x.parents, x.requires_grad) for x in nodes]


@pytest.mark.parametrize(
    ("right", "types", "values", "where", "call"),
    [
        pytest.param(right, types, values, where, call, id=f"{f.__name__}: {text}")
        for right, types, values, places in PLACES
        for f, call, text, where in places
    ],
)
@pytest.mark.filterwarnings("error")
def test_wrong_input_is_refused_in_words_and_changes_nothing(right, types, values, where, call):
    before = state(X, Y, Z)
    for kind, refused in ((TypeError, types), (ValueError, values)):
        for words, wrongs in refused.items():
            for wrong in wrongs:
                found = words if "found" in words else f"found {typed(wrong)}, expected {words}"
                check_raises(functools.partial(call, wrong), kind, f"...{where}...: {found}")
                assert state(X, Y, Z) == before
    call(right)


def test_every_public_function_is_given_what_it_cannot_take():
    named = {f.__name__ for *_, places in PLACES for f, *_ in places}
    absent = {*ad.__all__, "abs", "sum"} - named
    assert absent == {"show_descent", "show_steps", "show_training"}
