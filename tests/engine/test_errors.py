"""What is refused: one table of what is written, the error, and the words that must occur in it.

A row is a program; its error, unless that is a TypeError; and the words with which its message
begins, where "..." stands for any others. Below, every public function is given what it cannot
take, argument by argument: a documented error, in words, and nothing half changed.
"""

import copy
import functools
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas
import pytest
from operations import UNARY
from tables import check_raises, text_of

import autodiff as ad
from autodiff import (
    Dual,
    Expression,
    Matrix,
    Value,
    Vector,
    check_gradients,
    finite_difference,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    nn,
    ops,
    optim,
    sin,
    sqrt,
    trace,
    vjp,
)

ERRORS = (TypeError, ValueError, ZeroDivisionError, OverflowError)

x, v, A = Value(2.0), Vector([1, 2, 3]), Matrix([[1, 2], [3, 4]])  # a refusal changes nothing
k = Value(3.0, label="c")
k.requires_grad = False


def own(rule):
    """An operation of one's own, called cube."""
    rule.__name__ = "cube"
    return ad.operation(rule)


def length(x, y):
    norm = Vector([x, y]).norm()
    return norm, lambda grad: (grad * x / norm, grad * y / norm)


def root(x):
    return math.sqrt(x), lambda grad: (grad / (2 * math.sqrt(x)),)


def times(w):
    """An operation that multiplies by a number that it holds."""
    return own(lambda x: (w * x, lambda grad: (w * grad,)))


def forward(f):
    """The derivative of f in forward mode."""
    return lambda x: jvp(f, (x,), (1.0,))[1]


def each(programs, *rest):
    """A row for each of these programs."""
    return [(program, *rest) for program in programs]


# fmt: off
NUMBER = "expected one real number"
ROWS = "; make one Value of each number: Vector(data), or [Value(v) for v in data]"
NO_NUMBER = [
    ("3", f"'3' of type str, {NUMBER}...; convert it first: float(text)"),
    (b"3", "b'3' of type bytes, ...; convert it first: float(text)"),
    (None, "None of type NoneType, ...; is a `return` missing in the function that"),
    (1j, "1j of type complex, ...; take its .real, its .imag or abs() of it"),
    ([1, 2], f"[1, 2] of type list, ...{ROWS}"),
    ((1, 2), f"(1, 2) of type tuple, ...{ROWS}"),
    (Decimal(1), "Decimal('1') of type Decimal, "),
    (object, "<class 'object'> of type type, "),
]
TAKES_NUMBERS = [
    lambda n: Value(n), lambda n: setattr(x, "data", n), lambda n: x * n, lambda n: x**n, lambda n: n**x,
    lambda n: ad.sum([x, n]), lambda n: ad.maximum(x, n), lambda n: ad.hypot(3, n),
    lambda n: Dual(n), lambda n: Dual(1.0, n),
]
OTHER = "...a number of another kind already; use it as it is"
KINDS = [lambda n: n, lambda n: Value(n, label="rate"), lambda n: Dual(n, 1.0)]
LABELS = ["", " (", ""]
OUTSIDE = [
    (ad.log, -1.0, "x > 0"), (ad.log, 0.0, "x > 0"), (ad.log1p, -1.0, "x > -1"),
    (sqrt, -4.0, "x >= 0"), (ad.asin, 2.0, "-1 <= x <= 1"), (ad.acos, 2.0, "-1 <= x <= 1"),
    *[(f, math.inf, "-inf < x < inf") for f in (ad.sin, ad.cos, ad.tan)],
]
INFINITE = "the derivative of sqrt at x = ...0.0...: it is infinite or undefined there"
INSIDE = "...a number inside a function that is being differentiated, expected a Value of your own"
PLAIN = "this number is being differentiated, ...; write autodiff.sin for math.sin, or x.data for the plain number (x.primal of a Dual)"
# What a rule of one's own may not return, in whatever mode it is used.
OF_ANOTHER_KIND = [(lambda x: "a", "str"), (lambda x: 1j * x, "complex"), (lambda x: np.array([x]), "ndarray")]
RULES = [
    (lambda x: x**3, "cube: found a rule that returns ... expected (result, backward)"),
    *each([lambda x: None, lambda x: (x,), lambda x: (x, 2.0)], "cube: found"),
    (lambda x: (None, lambda grad: (grad,)), "...its result: found None of type NoneType"),
    (lambda x: (x, lambda x: (Vector([x]),)), "...a gradient: found ... of type Vector"),
    *[(lambda x, wrong=wrong: (wrong(x), lambda grad: (grad,)), f"...its result: found ... of type {kind}")
      for wrong, kind in OF_ANOTHER_KIND],
    *[(lambda x, wrong=wrong: (x, lambda grad: (wrong(grad),)), f"...a gradient: found ... of type {kind}")
      for wrong, kind in OF_ANOTHER_KIND],
    *each([lambda x: (x, lambda grad: grad), lambda x: (x, lambda grad: (grad, grad)),
           lambda x: (x, lambda grad: [grad]), lambda x: (x, lambda grad: None)],
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


def descent_by_values():
    x = Value(2.0)
    (x * x).backward(create_graph=True)
    x.data -= 0.1 * x.grad


def assign(row):
    row[0] = 3


REFUSALS = {
    "numbers": [
        *[(lambda n=n, use=use: use(n), f"...found {words}") for n, words in NO_NUMBER for use in TAKES_NUMBERS],
        *[(lambda n=n: n - x, f"...found {words}") for n, words in NO_NUMBER if not isinstance(n, Decimal)],
        (lambda: x * np.complex128(1), "Value mul: found np.complex128(1+0j) of type complex128"),
        *each([lambda: Value(np.timedelta64(2, "ns")), lambda: grad(lambda x: x)(np.array(2, "m8[ns]"))], f"...{NUMBER}"),
        (lambda: Value(x), f"Value: found Value(data=2.0, grad=0.0) of type Value, {NUMBER}; it is {OTHER[3:]}"),
        (lambda: Value(v), f"Value: found Vector... of type Vector, {NUMBER}"),
        *each([lambda: x * Dual(2), lambda: Dual(2) * x], "mul: found a ... and a ..., expected numbers of one kind; for forward over reverse wrap"),
        *each([lambda: Value(10**400), lambda: x * Fraction(10**400), lambda: grad(sin)(10**400)], OverflowError, "...too large"),
        *each([lambda n=n, use=use: use(n) for n in (x, Dual(1.0, 1.0)) for use in (float, int, math.sin)], PLAIN),
        *each([lambda: np.array([x], dtype=float), lambda: np.floor(x)], PLAIN),
    ],
    "domains": [
        *[(lambda f=f, kind=kind, at=at: f(kind(at)), ValueError, f"{f.__name__}: x = {at}{label}...is outside the domain {domain}")
          for f, at, domain in OUTSIDE for kind, label in zip(KINDS, LABELS)],
        (lambda: Value(1, label="a") / Value(0, label="b"), ZeroDivisionError, "x / y: x = 1.0 ('a'), y = 0.0 ('b') is outside the domain y != 0"),
        *each([lambda: pow(Value(0), -1.0), lambda: ops.power(0.0, -1.0)], ZeroDivisionError,
              "x ** n: x = 0.0, n = -1.0 is outside the domain x > 0, or x = 0 and n >= 0, or x < 0 and n an integer"),
        *each([lambda: Value(-8.0) ** (1 / 3), lambda: ops.power(-8.0, 1 / 3)], ValueError, "x ** n: x = -8.0, n = 0.3333333333333333 is outside"),
        (lambda: (-8) ** Value(0.5), ValueError, "a ** x: a = -8.0, x = 0.5 is outside the domain a > 0, or a = 0 and x >= 0, or a < 0 and x an integer"),
        (lambda: Value(-8.0) ** Value(0.5), ValueError, "x ** y: x = -8.0, y = 0.5 is outside the domain x > 0, or x = 0 and y >= 0, or x < 0 and y an integer"),
        *each([lambda kind=kind: ad.exp(kind(1000.0)) for kind in KINDS], OverflowError, "exp: x = 1000.0...gives a result too large for a float"),
        (lambda: Value(0.0, label="w").sqrt().backward(), ZeroDivisionError, INFINITE.replace("0.0...", "0.0 ('w')")),
        *each([lambda: Value(0.0).sqrt().backward(create_graph=True), lambda: Dual(0.0, 1.0).sqrt(), lambda: hessian(sqrt)(0.0), lambda: trace(sqrt, 0.0)],
              ZeroDivisionError, INFINITE),
        (lambda: own(root)(Value(-1.0, label="v")), ValueError, "cube: x = -1.0 ('v'): "),
        (lambda: own(root)(Value(0.0)).backward(), ZeroDivisionError, "the derivative of cube at x = 0.0"),
    ],
    "functions": [
        (lambda: ad.logsumexp([]), ValueError, "logsumexp: found no numbers, expected at least one"),
        (lambda: ad.sum(3), "sum: found 3 of type int, expected a sequence of numbers: sum([x, y])"),
        (lambda: ad.dot([x], [1, 2]), ValueError, "dot: found 1 and 2 numbers, expected equally many on both sides"),
        (lambda: ad.dot([], [1.0]), ValueError, "dot: found 0 and 1 number,"),
        *each([lambda f=f: f(np.array(5.0)) for f in (Vector, Matrix, ad.sum, Expression)], "...found array(5.) of type ndarray, expected a"),
        *each([lambda f=f, table=table: f(table) for f in (ad.sum, ad.prod, ad.logsumexp, lambda t: ad.dot(t, [1.0, 10.0])) for table in (A, np.eye(2))],
              "...of shape (2, 2), expected numbers in a row"),
        *each([lambda c=c: ad.where(c, 1.0, x) for c in ([True, False], "no", None, [])], f"...where: found ... {NUMBER}"),
        (lambda: ad.operation(functools.partial(sin)), "operation: found ... expected a function with a name"),
    ],
    "rules": [
        *[(lambda rule=rule, use=use: use(own(rule)), words) for rule, words in RULES for use in DIFFERENTIATED],
        *each([lambda: times(Value(2.0))(x), lambda: times(Value(2.0))(v), lambda: times(Value(2.0))(Dual(3.0, 1.0)), lambda: grad(lambda w: times(w)(x))(2.0),
               lambda: grad(lambda x: grad(lambda w: times(w)(x))(2.0) * x)(3.0),  # 6, and it was 0
               lambda: jvp(lambda x: forward(lambda w: times(w)(x))(2.0) * x, (3.0,), (1.0,))],
              "cube: found a result that is ... expected operations on its inputs alone; pass all"),
        (lambda: own(length)(x, Value(4.0)), "cube: found a result that is a Value, with inputs"),
        (lambda: own(lambda x: (x, None))("a"), "cube: found 'a' of type str"),
    ],
    "value": [
        *each([lambda: setattr(x, "label", 3), lambda: setattr(x, "label", None), lambda: Value(2.0, label=b"x")], "label: found ... expected a str"),
        (lambda: setattr(x, "grad", None), "grad: found None, expected a number; to clear it, assign 0.0"),
        *each([lambda n=n: setattr(x, "grad", n) for n in ("4", np.ones(2))], f"grad: found ... {NUMBER}"),
        (descent_by_values, "...or p.grad.data"),
        (lambda: setattr(x * x, "requires_grad", False), ValueError, "requires_grad: found the result of an operation, expected a leaf; whether"),
        (lambda: (k * k).backward(), ValueError, "backward: found an output computed from constants alone, expected one that depends on a Value"),
        (lambda: (x * k).backward(inputs=[k]), ValueError, "inputs: found a constant, 3.0 ('c'), expected nodes that require a gradient"),
        (lambda: (x * x).backward(inputs=x), "inputs: found ... expected a sequence of Values: [x, y]"),
        (lambda: (x * x).backward(inputs=[x, 2.0]), "inputs: found 2.0 of type float in the sequence"),
        (lambda: changed(lambda x: 0.0 * x * x, 5.0), RuntimeError, CHANGED),
        *[(lambda f=f, n=n: changed(f, n), RuntimeError, f"create_graph: found {f.__name__} of {CHANGED[3:]}")
          for f, n in ((ad.exp, 3.0), (ad.log, -1.0), (ad.log, 5.0))],
        *each([lambda f=f: f(x * x) for f in (pickle.dumps, copy.copy, copy.deepcopy)],
              "a Value that was computed (*) cannot be copied or pickled"),
        (lambda: ad.adjoints(2.0), "adjoints: found 2.0 of type float, expected a Value, such as a loss"),
    ],
    "linalg": [
        (lambda: A + v, ValueError, "add: found shapes (2, 2) and (3,), expected equal shapes"),
        (lambda: v + [1, 2], ValueError, "add: found shapes (3,) and (2,), expected equal shapes, or a number"),
        (lambda: np.ones((2, 3)) * v, ValueError, "multiply: found shapes (3,) and (2, 3), expected equal"),
        (lambda: np.ones((1, 2, 2)) @ A, "@: found array("),
        (lambda: [1, "a", 3] * v, "mul: found 'a' of type str, expected one real number"),
        (lambda: A @ v, ValueError, "@: found shapes (2, 2) and (3,), expected 2 as the"),
        (lambda: v @ A, ValueError, "@: found shapes (3,) and (2, 2), expected 3 as the"),
        (lambda: v @ 2.0, "@: found 2.0 of type float, expected a Vector or Matrix, or its numbers in"),
        (lambda: [1, 2, 3] @ A, ValueError, "@: found shapes (3,) and (2, 2), expected 3 as the"),
        *each([lambda: Vector([]), lambda: v[3:]], ValueError, "Vector: found no numbers"),
        (lambda: Vector(pandas.DataFrame([[5.0]])), "...found array"),
        (lambda: Matrix({(1, 2): 3}), "Matrix: found {... of type dict, expected a sequence of rows"),
        *each([lambda: Matrix([{3, 1}]), lambda: Matrix([1, 2])], "Matrix, a row: found ... expected a sequence"),
        (lambda: Matrix([[1], [1, 2]]), ValueError, "...rows of lengths [1, 2], expected at least one row"),
        *each([lambda: v != 2.0, lambda: v == x, lambda: v < 2, lambda: A <= A], "...found a ..., expected one number; take its entries, or .data"),
        (lambda: v.map(lambda x: "a"), "...found 'a' of type str"),
        (lambda: ad.draw(v), "draw: found a Vector, expected a Value"),
        *each([lambda: v[5], lambda: A[0, 7]], IndexError, "...out of range"),
        (lambda: assign(v), "...item assignment"),
        (lambda: v.backward(), "...found a Vector of shape (3,), expected one number; ....sum(), .mean()"),
        (lambda: (A @ A).backward(), "...found a Matrix of shape (2, 2), expected one number; ....sum(), .mean()"),
    ],
    "transforms": [
        *each([lambda d=d: d(lambda x: [x, x])(1.0) for d in (grad, hessian)], "grad: found a list of 2 numbers...jacrev(f) for several results"),
        (lambda: grad(lambda x: None)(1.0), "grad: the result of f: found None ...`return`"),
        (lambda: grad(ad.sum)({3.0, 1.0}), f"grad: found ... of type set, {NUMBER}"),
        (lambda: jacrev(lambda x: {x, 2 * x})(1.0), f"jacrev: the result of f: found ... of type set, {NUMBER}"),
        (lambda: grad(sin, argnums=2)(1.0), ValueError, "grad: found argnums 2 and 1 positional argument, expected the index of one of them"),
        (lambda: grad(lambda x, y: x, (0, -2))(1.0, 2.0), ValueError, "...several different ones"),
        *[(lambda d=d, n=n: d(sin, n), f"{d.__name__}: found argnums {n!r}, ...; did you mean {d.__name__}(f)({n!r})?")
          for d in (grad, hessian) for n in ("x", None, 2.0, [1.0, 2.0], x)],
        (lambda: jvp(sin, 1.0, 1.0), "jvp: found ... of type float, expected ...(1.0,)"),
        *[(lambda tree=tree: grad(lambda x: x[0])(tree), f"grad: found {words}, {NUMBER}") for tree, words in [
            ([2.0, None], "None of type NoneType"), ({0: 2.0, 1: {"a": "b"}}, "'b' of type str"),
            ((2.0, {3.0}), "{3.0} of type set"), (np.array([1.0, "a"], dtype=object), "'a' of type str")]],
        *[(program, ValueError, f"{words}, expected the shape of ...; give one number for each of its numbers") for program, words in [
            (lambda: jvp(ad.sum, ([1.0, 2.0],), ([1.0],)), "jvp: the tangents: found ([1.0],)"),
            (lambda: jvp(lambda p: p["a"], ({"a": 1.0},), ({"b": 1.0},)), "jvp: the tangents: found ({'b': 1.0},)"),
            (lambda: hvp(lambda x: x.sum(), np.ones(2), np.ones((2, 1))), "jvp: the tangents: found (array([[1.], [1.]]),)"),
            (lambda: vjp(lambda x: {"a": x}, 1.0)[1](1.0), "vjp: the cotangent: found 1.0")]],
        (lambda: grad(lambda x: {"a": x})(1.0), "grad: found a dict of 1 number, expected one number as the result of f"),
        *[(lambda f=f, n=n: vjp(f, 1.0)[1](n), ValueError, f"vjp: the cotangent: found {n}, expected the shape of")
          for f, n in ((sin, [1.0]), (lambda x: [x, x], 1.0))],
        *each([lambda d=d: d(lambda x: x + math.sin(x))(1.0) for d in (grad, jacrev, jacfwd, forward, hessian)], PLAIN),
        *each([lambda d=d, f=f: d(f)(2.0) for d in (grad, forward) for f in (lambda x: Value(x) ** 2, lambda x: (Dual(x, 1.0) ** 2).tangent)], OTHER),
        *each([use for d in (jacfwd, hessian) for use in (
            lambda d=d: d(lambda x, s: x[0] * ad.sum(s))([1.0, 2.0], iter([3.0])),
            lambda d=d: d(lambda x, s: x[0] * ad.sum(s))([1.0, 2.0], s=map(float, [3])))],
              "jacfwd: found ... which the first of several calls of f would use up"),
        *each([lambda d=d, f=f: d(f)(0.0) for d in (grad, jacrev, jacfwd, forward)
               for f in (lambda x: (x**3) ** (1 / 3), lambda x: sqrt(0.0 * x), lambda x: 1 + ad.sum([x**2, x**2]) ** 0.5)],
              ZeroDivisionError, "the derivative of ... infinite or undefined"),
        # A derivative would be lost on the way through a plain number.
        *each([lambda d=d, f=f: d(f)(2.0) for d in (grad, hessian)
               for f in (lambda x: copy.copy(x) ** 2, lambda x: ad.sum(copy.deepcopy([x, x])), lambda x: pickle.dumps(x),
                         lambda x: ad.adjoints(x**3)[x], lambda x: [*ad.steps(x**3)][-1].adjoint,
                         lambda x: Expression(x**3).propagate(), lambda x: Expression(x**3).backpropagate([x])[x],
                         lambda x: Expression([x**3]).compile([x], wrt=[])(2.0)[0], lambda x: (x**3).backward(),
                         lambda x: setattr(x, "requires_grad", True), lambda x: setattr(x, "data", 5.0))],
              RuntimeError, f"{INSIDE}; use it only in operations"),
        *each([lambda f=f: grad(lambda x: f(sin, x) or x)(1.0) for f in (check_gradients, trace)], RuntimeError, INSIDE),
    ],
    "numeric": [
        (lambda: finite_difference(sin, 1.0, method="centre"), ValueError, "finite_difference: found method 'centre', expected one of"),
        *[(lambda f=f, h=h: f(sin, 1.0, h=h), ValueError, f"{f.__name__}: found step h = ..., expected h > 0")
          for f in (finite_difference, check_gradients) for h in (0.0, math.nan)],
        (lambda: finite_difference(lambda x: None, 1.0), "finite_difference: the result of f: found None of type NoneType"),
        *each([lambda m=m: finite_difference(sin, 1.0, h=1e-30, method=m) for m in ("forward", "backward", "central")], ValueError,
              "finite_difference: found step h = 1e-30 at x = 1.0, expected a larger"),
    ],
    "tracing": [
        (lambda: trace(sin, 1.0, mode="backward"), ValueError, "trace: found mode 'backward', expected 'forward' or 'reverse'"),
        *each([lambda wrt=wrt: trace(lambda x1, x2: x1, 3, -4, wrt=wrt) for wrt in ("x3", 2, -3)], ValueError,
              "trace: found wrt = ..., expected one of ['x1', 'x2']"),
        *[(lambda wrt=wrt: trace(lambda x1, x2: x1, 3, -4, wrt=wrt), ValueError, f"trace: found wrt = {wrt}, expected one of ['x1', 'x2'] or an index of it")
          for wrt in (None, 1.0, True, [0])],
        *[(lambda f=f: trace(f, 1.0), f"trace: found {words}...expected one number that depends on x; trace several one by")
          for f, words in [(lambda x: [x, x], "[Value"), (lambda x: 1.0, "1.0"), (lambda x: x.data, "1.0"), (lambda x: Value(2.0), "")]],
        *each([lambda: trace(lambda a: a), lambda: trace(lambda x: x, [])], "trace: found no numbers, ...compute f at: trace(f, 2.0)"),
        (lambda: [*ad.steps(3.0)], "steps: found a float, expected a Value, such as a loss"),
    ],
    "optim": [
        *[(lambda p=p: optim.SGD([p], lr=0.1), f"SGD, params: found {words}, expected leaf Values: model.parameters()")
          for p, words in [(1.0, "1.0 of type float"), (x * 2, "... of type Value"), (A, "... of type Matrix")]],
        (lambda: optim.SGD(nn.Linear(1, 1), lr=0.1), "SGD, params: found ...expected leaf Values: model.param"),
        (lambda: optim.SGD([], lr=0.1), ValueError, "SGD: found no parameters"),
        (lambda: optim.SGD([x], lr="0.1"), "SGD, lr: found '0.1' of type str"),
        *[(program, ValueError, f"{words}, expected a number >= 0") for program, words in [
            (lambda: optim.SGD([x], lr=-0.1), "SGD, lr: found -0.1"), (lambda: optim.SGD([x], lr=math.nan), "SGD, lr: found nan"),
            (lambda: optim.Adam([x], betas=(-0.1, 0.9)), "Adam, betas: found -0.1"),
            (lambda: optim.RMSprop([x], alpha=-0.5), "RMSprop, alpha: found -0.5"),
            (lambda: optim.Adagrad([x], eps=math.nan), "Adagrad, eps: found nan")]],
        *each([lambda: optim.Adam([x], betas=()), lambda: optim.Adam([x], betas=(0.9, 0.9, 0.9))], "Adam, betas: found ... of type tuple"),
    ],
    "scopes": [(lambda: ad.scope(3), "scope: found 3 of type int, expected a str")],
}
# fmt: on


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=f"{part}: {text_of(row[0]) or row[0].__name__}")
        for part, rows in REFUSALS.items()
        for row in rows
    ],
)
def test_what_is_refused(row):
    program, kind, words = row if len(row) == 3 else (row[0], TypeError, row[1])
    check_raises(program, kind, words)


def test_an_error_of_ones_own_is_not_reworded():
    class OutsideError(ValueError):
        def __init__(self, where, what):
            super().__init__(f"{where}: {what}")

    @ad.operation
    def picky(x):
        def backward(grad):
            raise OutsideError("gradient", x)

        if x < 0:
            raise OutsideError("input", x)
        return x, backward

    with pytest.raises(OutsideError, match="input: -1.0"):
        picky(Value(-1.0))
    for attempt in (picky(Value(1.0)).backward, lambda: ad.jvp(picky, (1.0,), (1.0,))):
        with pytest.raises(OutsideError, match="gradient: 1.0"):
            attempt()


# -- Every public function, given what it cannot take ----------------------------------------------


class Thing:
    """No number, no sequence, no function; its repr has an address in memory."""


def square(x):
    return x * x


def total(v):
    return ad.dot(v, v)


X, Y = Value(2.0, label="x"), Value(3.0, label="y")
Z = X * Y
THING = Thing()
DERIVATIVES = [grad, ad.value_and_grad, jacrev, jacfwd]
TWO = [ad.maximum, ad.minimum, ad.hypot, ad.atan2, ad.less]
OF_F = [vjp, finite_difference, check_gradients, trace]
NO_LEAF = [None, "2", b"2", {2.0}, THING, math.sin]
NO_NUMBER_AT_ALL = [*NO_LEAF, {}]
NEITHER = [*NO_NUMBER_AT_ALL, [], [1.0, 2.0]]  # a number nor an array of numbers
NO_FUNCTION = [None, 2.0, "f", [], THING]
NO_ROW = [None, THING, math.sin, ["2"], [None], "ab"]
NO_VALUES = [2.0, "ab", [2.0], ["x"], [None], THING]


def calls(call, *functions):
    """The same call of several functions."""
    return [(f, functools.partial(call, f), text_of(call)) for f in functions]


def is_called(f, given):
    return f(given)


PLACES = [  # what may stand there, what must be refused, and the places, each with its function
    (0.5, NEITHER, calls(is_called, *[getattr(ad, name) for name in UNARY])),
    (0.5, NEITHER, calls(lambda f, w: f(w, 3.0), *TWO)),
    (0.5, NEITHER, calls(lambda f, w: f(2.0, w), *TWO)),
    (0.5, [*NEITHER, 1j, np.ones(2)], [
        *calls(is_called, Value, Dual), *calls(lambda f, w: f(1.0, w), Dual), *calls(lambda f, w: f(square, 2.0)[1](w), vjp)]),
    (0.5, [*NO_LEAF, 1j], calls(lambda d, w: d(square)(w), *DERIVATIVES)),
    (0.5, [*NO_LEAF, 1j], calls(lambda f, w: f(square, w), *OF_F)),
    ([2.0], [*NO_ROW, {1.0: X}, {3.0, 1.0}, b"ab"], [
        *calls(is_called, ad.sum, ad.prod, Vector, ad.logsumexp),
        *calls(lambda f, w: f([2.0], w), ad.dot), *calls(lambda f, w: f(w, [2.0]), ad.dot),
        *calls(lambda f, w: f(total, w, [1.0]), hvp), *calls(lambda f, w: f(total, [2.0], w), hvp)]),
    ([2.0], NO_ROW, calls(lambda d, w: d(total)(w), hessian)),
    ([[2.0]], [None, 2.0, "ab", THING, [1.0, 2.0], [["1"]], [[1.0], [1.0, 2.0]], [[None]]], calls(is_called, Matrix)),
    (v, [None, "ab", Vector([1.0]), THING], [
        *calls(lambda f, w: v + w, Vector), *calls(lambda f, w: v @ w, Vector), *calls(lambda f, w: f([[1, 2, 3]]) @ w, Matrix)]),
    (square, [*NO_FUNCTION, lambda x: "y"], calls(lambda d, w: d(w)(2.0), *DERIVATIVES, hessian)),
    (square, NO_FUNCTION, [
        *calls(lambda f, w: f(w, (2.0,), (1.0,)), jvp), *calls(lambda f, w: f(w, 2.0, 1.0), hvp), *calls(lambda f, w: f(w, 2.0), *OF_F)]),
    (square, NO_FUNCTION[:3], calls(is_called, ad.operation)),
    ((2.0,), [None, 2.0, (None,), (2.0, 3.0), ("2",), ([2.0],)], calls(lambda f, w: f(square, (1.0,), w), jvp)),
    ((2.0,), [None, 2.0, (None,), (2.0, 3.0), ("2",)], calls(lambda f, w: f(square, w, (1.0,)), jvp)),
    (0, [None, 1.5, "x", 7, -7, THING, [None], ["0"], [7], [0, 0]], calls(lambda d, w: d(square, w)(2.0), *DERIVATIVES)),
    (1e-5, ["1", 0.0, -1.0, math.nan, math.inf, THING], [
        *calls(lambda f, w: f(square, 2.0, w), finite_difference), *calls(lambda f, w: f(square, 2.0, h=w), check_gradients)]),
    (Z, [None, [], {}, math.sin, np.array(1.0), *NO_VALUES], [
        *calls(is_called, ad.adjoints, ad.topological_order, Expression, ad.draw), *calls(lambda f, w: [*f(w)], ad.steps)]),
    ([X], NO_VALUES, [*calls(lambda f, w: f(Z, w), ad.adjoints), *calls(lambda f, w: Z.backward(inputs=w), Value)]),
    ("x", [None, 2.0, [], THING], [
        *calls(lambda f, w: f(2.0, w), Value), *calls(is_called, ad.scope), *calls(lambda f, w: f(square, 2.0, wrt=w), trace)]),
    ("central", [None, "other", 2.0], calls(lambda f, w: f(square, 2.0, method=w), finite_difference)),
    ("reverse", [None, "other", 2.0], calls(lambda f, w: f(square, 2.0, mode=w), trace)),
    ("message", ["other", 2.0], calls(lambda f, w: f(Z, edges=w), ad.draw)),
    ("grad", ["other", 2.0], calls(lambda f, w: f(Z, color=w), ad.draw)),
]  # fmt: skip
# A message names the function, or, of these, the one that it is built on.
SILENT = {"Value", "Vector", "Matrix", "adjoints", "hessian", "hvp"}


def state(*nodes):
    """All that a call could leave half changed."""
    return [(x.data, x.grad, x.label, x.parents, x.requires_grad) for x in nodes]


@pytest.mark.parametrize(
    ("right", "refused", "name", "call"),
    [
        pytest.param(right, refused, f.__name__, call, id=f"{f.__name__}: {text or 'f(w)'}")
        for right, refused, places in PLACES
        for f, call, text in places
    ],
)
@pytest.mark.filterwarnings("error")
def test_wrong_input_is_refused_in_words_and_changes_nothing(right, refused, name, call):
    before = state(X, Y, Z)
    for wrong in refused:
        with pytest.raises(
            ERRORS, match="found|missing|outside the domain|unsupported operand"
        ) as error:
            call(wrong)
        assert name in SILENT or name in str(error.value), str(error.value)
        assert " at 0x" not in str(error.value)
        assert state(X, Y, Z) == before
    call(right)


def test_every_public_function_is_given_what_it_cannot_take():
    named = {f.__name__ for _, _, places in PLACES for f, *_ in places}
    absent = {*ad.__all__, "abs", "sum"} - named
    assert absent == {"show_descent", "show_steps", "show_training", "where"}


@pytest.mark.parametrize("label", ["\nimport os", '"', "\u2028", "{}"], ids=ascii)
def test_an_error_quotes_a_label_on_one_line(label):
    with pytest.raises(ValueError, match="outside the domain x > 0") as refused:
        ad.log(Value(-1.0, label=label))
    assert len(str(refused.value).splitlines()) == 1
