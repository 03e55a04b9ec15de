"""What is refused: one table of what is written, the error, and the words that must occur in it.

Each row is code, run with the names of `names()`; its error, unless that is a TypeError; and the
words with which its message begins, where "..." stands for any others. Below, every public function is given what it cannot take, argument by
argument: a documented error, in words, and nothing half changed.
"""

import math
import re

import pytest
from operations import UNARY

import autodiff as ad
from autodiff import Matrix, Value, Vector

ERRORS = (TypeError, ValueError, ZeroDivisionError, OverflowError)


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


IMPORTS = """
import copy, functools, math, pickle
from decimal import Decimal
from fractions import Fraction
import numpy as np, pandas
from autodiff import *
from autodiff import abs, nn, ops, optim, sum
"""


def names():
    """The names that the rows use, made anew for each."""
    constant = Value(3.0, label="c")
    constant.requires_grad = False
    found = {"x": Value(2.0), "k": constant, "v": Vector([1, 2, 3]), "A": Matrix([[1, 2], [3, 4]])}
    exec(IMPORTS, found)
    return found | {
        "own": own, "length": length, "root": root, "times": times, "inf": math.inf,
        "forward": lambda f: lambda x: ad.jvp(f, (x,), (1.0,))[1],
    }  # fmt: skip


def each(texts, *rest):
    """A row for each of these texts."""
    return [(text, *rest) for text in texts]


# fmt: off
NUMBER = "expected one real number"
ROWS = "; make one Value of each number: Vector(data), or [Value(v) for v in data]"
NO_NUMBER = [
    ("'3'", f"'3' of type str, {NUMBER}...; convert it first: float(text)"),
    ("b'3'", "b'3' of type bytes, ...; convert it first: float(text)"),
    ("None", "None of type NoneType, ...; is a `return` missing in the function that"),
    ("1j", "1j of type complex, ...; take its .real, its .imag or abs() of it"),
    ("[1, 2]", f"[1, 2] of type list, ...{ROWS}"),
    ("(1, 2)", f"(1, 2) of type tuple, ...{ROWS}"),
    ("Decimal(1)", "Decimal('1') of type Decimal, "),
    ("object", "<class 'object'> of type type, "),
]
TAKES_NUMBERS = ["Value({})", "x.data = {}", "x * {}", "{} - x", "x ** {}", "{} ** x", "sum([x, {}])",
                 "maximum(x, {})", "hypot(3, {})", "Dual({})", "Dual(1.0, {})", "Dual(1.0).tangent = {}"]
OTHER = "...a number of another kind already; use it as it is"
KINDS = ["{}", "Value({}, label='rate')", "Dual({}, 1.0)"]
OUTSIDE = [
    ("log", "-1.0", "x > 0"), ("log", "0.0", "x > 0"), ("log1p", "-1.0", "x > -1"),
    ("sqrt", "-4.0", "x >= 0"), ("asin", "2.0", "-1 <= x <= 1"), ("acos", "2.0", "-1 <= x <= 1"),
    *[(name, "inf", "-inf < x < inf") for name in ("sin", "cos", "tan")],
]
INFINITE = "the derivative of sqrt at x = ...0.0...: it is infinite or undefined there"
INSIDE = "...a number inside a function that is being differentiated, expected a Value of your own"
PLAIN = "this number is being differentiated, ... (autodiff.sin for math.sin), ... or for the plain number write x.data"
# What a rule of one's own may not return, in whatever mode it is used.
OF_ANOTHER_KIND = {"'a'": "str", "1j * x": "complex", "np.array([x])": "ndarray"}
RULES = [
    ("lambda x: x**3", "cube: found a rule that returns ... expected (result, backward)"),
    *[(f"lambda x: {text}", "cube: found") for text in ("None", "(x,)", "(x, 2.0)")],
    ("lambda x: (None, lambda grad: (grad,))", "...its result: found None of type NoneType"),
    ("lambda x: (x, lambda x: (Vector([x]),))", "...a gradient: found ... of type Vector"),
    *[row for text, kind in OF_ANOTHER_KIND.items() for row in [
        (f"lambda x: ({text}, lambda grad: (grad,))", f"...its result: found ... of type {kind}"),
        (f"lambda x: (x, lambda x: ({text},))", f"...a gradient: found ... of type {kind}")]],
    *[(f"lambda x: (x, lambda grad: {text})", "cube: found a backward that returns ... a tuple of 1")
      for text in ("grad", "(grad, grad)", "[grad]", "None")],
]
DIFFERENTIATED = ["own({})(x).backward()", "grad(own({}))(2.0)", "jvp(own({}), (2.0,), (1.0,))"]
CHANGED = "...numbers that were changed after the graph was recorded"

REFUSALS = {
    "numbers": [
        (place.format(text), f"...found {words}")
        for text, words in NO_NUMBER for place in TAKES_NUMBERS
        if not ("Decimal" in text and place == "{} - x")
    ] + [
        ("x * np.complex128(1)", "Value mul: found np.complex128(1+0j) of type complex128"),
        *each(["Value(np.timedelta64(2, 'ns'))", "grad(lambda x: x)(np.array(2, 'm8[ns]'))"], f"...{NUMBER}"),
        ("Value(x)", f"Value: found Value(data=2.0, grad=0.0) of type Value, {NUMBER}; it is {OTHER[3:]}"),
        ("Value(v)", f"Value: found Vector... of type Vector, {NUMBER}"),
        *each(["x * Dual(2)", "Dual(2) * x"], "mul: found a ... and a ..., expected numbers of one kind; for forward over reverse wrap"),
        *each(["Value(10**400)", "x * Fraction(10**400)", "grad(sin)(10**400)"], OverflowError, "...too large"),
        *each([f"{use}({number})" for number in ("x", "Dual(1.0, 1.0)") for use in ("float", "int", "math.sin")], PLAIN),
        *each(["np.array([x], dtype=float)", "np.floor(x)"], PLAIN),
    ],
    "domains": [
        (f"{name}({kind.format(at)})", ValueError, f"{name}: x = {at}{' (' if 'label' in kind else ''}...is outside the domain {domain}")
        for name, at, domain in OUTSIDE for kind in KINDS
    ] + [
        ("Value(1, label='a') / Value(0, label='b')", ZeroDivisionError, "x / y: x = 1.0 ('a'), y = 0.0 ('b') is outside the domain y != 0"),
        *[(f"{power}({x}, -1.0)", ZeroDivisionError, "x ** n: x = 0.0, n = -1.0 is outside the domain x > 0, or x = 0 and n >= 0, or x < 0 and n an integer")
          for power, x in (("pow", "Value(0)"), ("ops.raised", "0.0"))],
        *each(["Value(-8.0) ** (1 / 3)", "ops.raised(-8.0, 1 / 3)"], ValueError, "x ** n: x = -8.0, n = 0.3333333333333333 is outside"),
        ("(-8) ** Value(0.5)", ValueError, "a ** x: a = -8.0, x = 0.5 is outside the domain a > 0, or a = 0 and x >= 0, or a < 0 and x an integer"),
        ("Value(-8.0) ** Value(0.5)", ValueError, "x ** y: x = -8.0, y = 0.5 is outside the domain x > 0, or x = 0 and y >= 0, or x < 0 and y an integer"),
        *[(f"exp({kind.format(1000.0)})", OverflowError, "exp: x = 1000.0...gives a result too large for a float") for kind in KINDS],
        ("Value(0.0, label='w').sqrt().backward()", ZeroDivisionError, INFINITE.replace("0.0...", "0.0 ('w')")),
        *each(["Value(0.0).sqrt().backward(create_graph=True)", "Dual(0.0, 1.0).sqrt()", "hessian(sqrt)(0.0)", "trace(sqrt, 0.0)"], ZeroDivisionError, INFINITE),
        ("own(root)(Value(-1.0, label='v'))", ValueError, "cube: x = -1.0 ('v'): "),
        ("own(root)(Value(0.0)).backward()", ZeroDivisionError, "the derivative of cube at x = 0.0"),
    ],
    "functions": [
        ("logsumexp([])", ValueError, "logsumexp: found no numbers, expected at least one"),
        ("sum(3)", "sum: found 3 of type int, expected a sequence of numbers: sum([x, y])"),
        ("dot([x], [1, 2])", ValueError, "dot: found 1 and 2 numbers, expected equally many on both sides"),
        ("dot([], [1.0])", ValueError, "dot: found 0 and 1 number,"),
        *each([f"{name}(np.array(5.0))" for name in ("Vector", "Matrix", "sum", "Expression")], "...found array(5.) of type ndarray, expected a"),
        *each([f"{call}({table}{rest})" for call, rest in (("sum", ""), ("prod", ""), ("logsumexp", ""), ("dot", ", [1.0, 10.0]")) for table in ("A", "np.eye(2)")],
              "...of shape (2, 2), expected numbers in a row"),
        *each([f"where({condition}, 1.0, x)" for condition in ("[True, False]", "'no'", "None", "[]")], f"...where: found ... {NUMBER}"),
        ("operation(functools.partial(sin))", "operation: found ... expected a function with a name"),
    ],
    "rules": [
        (use.format(rule), words) for rule, words in RULES for use in DIFFERENTIATED
    ] + each(
        ["times(Value(2.0))(x)", "times(Value(2.0))(v)", "times(Value(2.0))(Dual(3.0, 1.0))", "grad(lambda w: times(w)(x))(2.0)",
         "grad(lambda x: grad(lambda w: times(w)(x))(2.0) * x)(3.0)",  # 6, and it was 0
         "jvp(lambda x: forward(lambda w: times(w)(x))(2.0) * x, (3.0,), (1.0,))"],
        "cube: found a result that is ... expected operations on its inputs alone; pass all",
    ) + [
        ("own(length)(x, Value(4.0))", "cube: found a result that is a Value, with inputs"),
        ("own(lambda x: (x, None))('a')", "cube: found 'a' of type str"),
    ],
    "value": [
        *each(["x.label = 3", "x.label = None", "Value(2.0, label=b'x')"], "label: found ... expected a str"),
        ("x.grad = None", "grad: found None, expected a number; to clear it, assign 0.0"),
        *each([f"x.grad = {wrong}" for wrong in ("'4'", "np.ones(2)")], f"grad: found ... {NUMBER}"),
        ("(x * x).backward(create_graph=True); x.data -= 0.1 * x.grad", "...or p.grad.data"),
        ("(x * x).requires_grad = False", ValueError, "requires_grad: found the result of an operation, expected a leaf; whether"),
        ("(k * k).backward()", ValueError, "backward: found an output computed from constants alone, expected one that depends on a Value"),
        ("(x * k).backward(inputs=[k])", ValueError, "inputs: found a constant, 3.0 ('c'), expected nodes that require a gradient"),
        ("(x * x).backward(inputs=x)", "inputs: found ... expected a sequence of Values: [x, y]"),
        ("(x * x).backward(inputs=[x, 2.0])", "inputs: found 2.0 of type float in the sequence"),
        ("y = 0.0 * x * x; x.data = 5.0; y.backward(create_graph=True)", RuntimeError, CHANGED),
        *[(f"y = x.{f}(); x.data = {number}; y.backward(create_graph=True)", RuntimeError, f"create_graph: found {f} of {CHANGED[3:]}")
          for f, number in (("exp", 3.0), ("log", -1.0), ("log", 5.0))],
        *each([f"{call}(x * x)" for call in ("pickle.dumps", "copy.copy", "copy.deepcopy")],
              "a Value that was computed (*) cannot be copied or pickled"),
        ("adjoints(2.0)", "adjoints: found 2.0 of type float, expected a Value, such as a loss"),
    ],
    "linalg": [
        ("A + v", ValueError, "add: found shapes (2, 2) and (3,), expected equal shapes"),
        ("v + [1, 2, 3]", "add: found a Vector and a list, ...Vector(data)"),
        ("A @ v", ValueError, "@: found shapes (2, 2) and (3,), expected 2 as the"),
        ("v @ A", ValueError, "@: found shapes (3,) and (2, 2), expected 3 as the"),
        ("v.dot([1, 2, 3])", "...found a Vector and a list, expected a Vector"),
        ("A @ [1, 2]", "@: found a Matrix and a list, ...Vector([1, 2])"),
        *each(["Vector([])", "v[3:]"], ValueError, "Vector: found no numbers"),
        ("Vector(pandas.DataFrame([[5.0]]))", "...found array"),
        ("Matrix({(1, 2): 3})", "Matrix: found {... of type dict, expected a sequence of rows"),
        *each(["Matrix([{3, 1}])", "Matrix([1, 2])"], "Matrix, a row: found ... expected a sequence"),
        ("Matrix([[1], [1, 2]])", ValueError, "...rows of lengths [1, 2], expected at least one row"),
        ("v * pandas.Series([1, 2, 3])", "unsupported operand"),
        ("pandas.Series([1, 2, 3]) * v", "...found a Vector and a Series"),
        *each(["v != v", "v == [1.0, 2.0]", "v < 2", "A == A"], "...found a ..., expected one number; take its entries, or .data"),
        ("v.map(lambda x: 'a')", "...found 'a' of type str"),
        ("draw(v)", "draw: found a Vector, expected a Value"),
        *each(["v[5]", "A[0, 7]"], IndexError, "...out of range"),
        ("v[0] = 3", "...item assignment"),
        *[(f"({y}).backward()", f"...found a {kind}, expected one number; ....sum(), .mean()")
          for y, kind in (("v", "Vector of shape (3,)"), ("A @ A", "Matrix of shape (2, 2)"))],
    ],
    "transforms": [
        *each([f"{d}(lambda x: [x, x])(1.0)" for d in ("grad", "hessian")], "grad: found a list of 2 numbers...use jacrev"),
        ("grad(lambda x: None)(1.0)", "grad: the result of f: found None ...`return`"),
        ("grad(sum)({3.0, 1.0})", f"grad: found ... of type set, {NUMBER}"),
        ("jacrev(lambda x: {x, 2 * x})(1.0)", f"jacrev: the result of f: found ... of type set, {NUMBER}"),
        ("grad(sin, argnums=2)(1.0)", ValueError, "grad: found argnums 2 and 1 positional argument, expected the index of one of them"),
        ("grad(lambda x, y: x, (0, -2))(1.0, 2.0)", ValueError, "...several different ones"),
        *[(f"grad(sin, {wrong})(1.0)", f"grad: found argnums {wrong} and 1") for wrong in ("'x'", "None", "0.0")],
        ("jvp(sin, 1.0, 1.0)", "jvp: found ... of type float, expected ...(1.0,)"),
        *[(f"grad(lambda x: x[0])({tree})", f"grad: found {words}, {NUMBER}") for tree, words in [
            ("[2.0, None]", "None of type NoneType"), ("{0: 2.0, 1: {'a': 'b'}}", "'b' of type str"),
            ("(2.0, {3.0})", "{3.0} of type set"), ("np.array([1.0, 'a'], dtype=object)", "'a' of type str")]],
        *[(f"{call}", ValueError, f"{words}, expected the shape of ...; give one number for each of its numbers") for call, words in [
            ("jvp(sum, ([1.0, 2.0],), ([1.0],))", "jvp: the tangents: found ([1.0],)"),
            ("jvp(lambda p: p['a'], ({'a': 1.0},), ({'b': 1.0},))", "jvp: the tangents: found ({'b': 1.0},)"),
            ("hvp(lambda x: x.sum(), np.ones(2), np.ones((2, 1)))", "jvp: the tangents: found (array([[1.], [1.]]),)"),
            ("vjp(lambda x: {'a': x}, 1.0)[1](1.0)", "vjp: the cotangent: found 1.0")]],
        ("grad(lambda x: {'a': x})(1.0)", "grad: found a dict of 1 number, expected one number as the result of f"),
        *[(f"vjp({f}, 1.0)[1]({v})", ValueError, f"vjp: the cotangent: found {v}, expected the shape of")
          for f, v in (("sin", [1.0]), ("lambda x: [x, x]", 1.0))],
        *each([f"{d}(lambda x: x + math.sin(x))(1.0)" for d in ("grad", "jacrev", "jacfwd", "forward", "hessian")], PLAIN),
        *each([f"{d}(lambda x: {f})(2.0)" for d in ("grad", "forward") for f in ("Value(x) ** 2", "(Dual(x, 1.0) ** 2).tangent")], OTHER),
        *[(f"{d}(lambda x, s: x[0] * sum(s))([1.0, 2.0], {again})", "jacfwd: found ... which the first of several calls of f would use up")
          for d in ("jacfwd", "hessian") for again in ("iter([3.0])", "s=map(float, [3])")],
        *each([f"{d}({f})(0.0)" for d in ("grad", "jacrev", "jacfwd", "forward")
               for f in ("lambda x: (x**3) ** (1 / 3)", "lambda x: sqrt(0.0 * x)", "lambda x: 1 + sum([x**2, x**2]) ** 0.5")],
              ZeroDivisionError, "the derivative of ... infinite or undefined"),
        # A derivative would be lost on the way through a plain number.
        *each([f"{d}(lambda x: {use})(2.0)" for d in ("grad", "hessian")
               for use in ("copy.copy(x) ** 2", "sum(copy.deepcopy([x, x]))", "pickle.dumps(x)", "adjoints(x**3)[x]", "[*steps(x**3)][-1].adjoint",
                           "Expression(x**3).propagate()", "Expression(x**3).backpropagate([x])[x]",
                           "Expression([x**3]).compile([x], wrt=[])(2.0)[0]", "(x**3).backward()",
                           "setattr(x, 'requires_grad', True)", "setattr(x, 'data', 5.0)")],
              RuntimeError, f"{INSIDE}; use it only in operations"),
        ("grad(lambda x: finite_difference(lambda y: x * y, 2.0, method='complex'))(1.0)", RuntimeError, INSIDE),
        *each([f"grad(lambda x: {use} or x)(1.0)" for use in ("check_gradients(sin, x)", "trace(sin, x)")], RuntimeError, INSIDE),
    ],
    "numeric": [
        ("finite_difference(sin, 1.0, method='centre')", ValueError, "finite_difference: found method 'centre', expected one of"),
        *[(f"{function}(sin, 1.0, h={h})", ValueError, f"{function}: found step h = ..., expected h > 0")
          for function in ("finite_difference", "check_gradients") for h in ("0.0", "math.nan")],
        ("finite_difference(lambda x: None, 1.0)", "finite_difference: the result of f: found None of type NoneType"),
        *[(f"finite_difference(sin, 1.0, h=1e-30, method='{method}')", ValueError, "finite_difference: found step h = 1e-30 at x = 1.0, expected a larger")
          for method in ("forward", "backward", "central")],
        *[(f"finite_difference(lambda x: {f}, {at}, method='complex')", kind, words) for f, at, kind, words in [
            ("log(x)", -2.0, ValueError, "log: x = -2.0 is outside the domain"),
            ("x ** (1 / 3)", -8.0, ValueError, "..."), ("x ** -0.5", 0.0, ZeroDivisionError, "..."),
            ("1 / x", 0.0, ZeroDivisionError, "..."), ("math.sin(x)", 1.0, TypeError, PLAIN),
            ("x + 1j", 2.0, TypeError, f"...found 1j of type complex, {NUMBER}"), ("Value(x) * 2", 2.0, TypeError, OTHER)]],
    ],
    "tracing": [
        ("trace(sin, 1.0, mode='backward')", ValueError, "trace: found mode 'backward', expected 'forward' or 'reverse'"),
        *[(f"trace(lambda x1, x2: x1, 3, -4, wrt={wrt})", ValueError, "trace: found wrt = ..., expected one of ['x1', 'x2']")
          for wrt in ("'x3'", "2", "-3")],
        *[(f"trace(lambda x1, x2: x1, 3, -4, wrt={wrt})", ValueError, f"trace: found wrt = {wrt}, expected one of ['x1', 'x2'] or an index of it")
          for wrt in ("None", "1.0", "True", "[0]")],
        *[(f"trace(lambda x: {y}, 1.0)", f"trace: found {words}...expected one number that depends on x; trace several one by")
          for y, words in [("[x, x]", "[Value"), ("1.0", "1.0"), ("x.data", "1.0"), ("Value(2.0)", "")]],
        *each(["trace(lambda a: a)", "trace(lambda x: x, [])"], "trace: found no numbers, ...compute f at: trace(f, 2.0)"),
        ("list(steps(3.0))", "steps: found a float, expected a Value, such as a loss"),
    ],
    "optim": [
        *[(f"optim.SGD([{params}], lr=0.1)", f"SGD, params: found {words}, expected leaf Values: model.parameters()")
          for params, words in [("1.0", "1.0 of type float"), ("x * 2", "... of type Value"), ("nn.Linear(1, 1).weight", "... of type Matrix")]],
        ("optim.SGD(nn.Linear(1, 1), lr=0.1)", "SGD, params: found ...expected leaf Values: model.param"),
        ("optim.SGD([], lr=0.1)", ValueError, "SGD: found no parameters"),
        ("optim.SGD([x], lr='0.1')", "SGD, lr: found '0.1' of type str"),
        *[(f"optim.{call}", ValueError, f"{words}, expected a number >= 0") for call, words in [
            ("SGD([x], lr=-0.1)", "SGD, lr: found -0.1"), ("SGD([x], lr=math.nan)", "SGD, lr: found nan"),
            ("Adam([x], betas=(-0.1, 0.9))", "Adam, betas: found -0.1"),
            ("RMSprop([x], alpha=-0.5)", "RMSprop, alpha: found -0.5"),
            ("Adagrad([x], eps=math.nan)", "Adagrad, eps: found nan")]],
        *each(["optim.Adam([x], betas=())", "optim.Adam([x], betas=(0.9, 0.9, 0.9))"], "Adam, betas: found ... of type tuple"),
    ],
    "scopes": [("scope(3)", "scope: found 3 of type int, expected a str")],
}
# fmt: on


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, id=f"{part}: {row[0]}") for part, rows in REFUSALS.items() for row in rows],
)
def test_what_is_refused(row):
    text, kind, words = row if len(row) == 3 else (row[0], TypeError, row[1])
    with pytest.raises(kind) as error:
        exec(text, names())
    pattern = ".*".join(map(re.escape, words.split("...")))
    assert re.match(pattern, str(error.value), re.DOTALL), str(error.value)


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


DERIVATIVES = ["grad", "value_and_grad", "jacrev", "jacfwd"]
NO_LEAF = ["None", "'2'", "b'2'", "{2.0}", "thing", "math.sin"]
NO_NUMBER_AT_ALL = [*NO_LEAF, "{}"]
NEITHER = [*NO_NUMBER_AT_ALL, "[]", "[1.0, 2.0]"]  # a number nor an array of numbers
NO_FUNCTION = ["None", "2.0", "'f'", "[]", "thing"]
NO_ROW = ["None", "thing", "math.sin", "['2']", "[None]", "'ab'"]
NO_VALUES = ["2.0", "'ab'", "[2.0]", "['x']", "[None]", "thing"]
PLACES = [  # what may stand there, what must be refused, and the places
    ("0.5", NEITHER, [f"{name}({{}})" for name in UNARY]),
    ("0.5", NEITHER, [f"{name}({inputs})" for name in ("maximum", "minimum", "hypot", "atan2", "less")
                      for inputs in ("{}, 3.0", "2.0, {}")]),
    ("0.5", [*NEITHER, "1j", "np.ones(2)"], ["Value({})", "Dual({})", "Dual(1.0, {})", "vjp(square, 2.0)[1]({})"]),
    ("0.5", [*NO_LEAF, "1j"], [f"{d}(square)({{}})" for d in DERIVATIVES]),
    ("0.5", [*NO_LEAF, "1j"], [f"{name}(square, {{}})" for name in ("vjp", "finite_difference", "check_gradients", "trace")]),
    ("[2.0]", [*NO_ROW, "{1.0: x}", "{3.0, 1.0}", "b'ab'"], ["sum({})", "prod({})", "Vector({})", "logsumexp({})", "dot([2.0], {})",
                                        "dot({}, [2.0])", "hvp(total, {}, [1.0])", "hvp(total, [2.0], {})"]),
    ("[2.0]", NO_ROW, ["hessian(total)({})"]),
    ("[[2.0]]", ["None", "2.0", "'ab'", "thing", "[1.0, 2.0]", "[['1']]", "[[1.0], [1.0, 2.0]]", "[[None]]"], ["Matrix({})"]),
    ("v", ["None", "'ab'", "Vector([1.0])", "thing"], ["v + {}", "v @ {}", "Matrix([[1, 2, 3]]) @ {}"]),
    ("square", [*NO_FUNCTION, "lambda x: 'y'"], [f"{d}({{}})(2.0)" for d in [*DERIVATIVES, "hessian"]]),
    ("square", NO_FUNCTION, ["jvp({}, (2.0,), (1.0,))", "hvp({}, 2.0, 1.0)",
                             *[f"{name}({{}}, 2.0)" for name in ("vjp", "finite_difference", "check_gradients", "trace")]]),
    ("square", NO_FUNCTION[:3], ["operation({})"]),
    ("(2.0,)", ["None", "2.0", "(None,)", "(2.0, 3.0)", "('2',)", "([2.0],)"], ["jvp(square, (1.0,), {})"]),
    ("(2.0,)", ["None", "2.0", "(None,)", "(2.0, 3.0)", "('2',)"], ["jvp(square, {}, (1.0,))"]),
    ("0", ["None", "1.5", "'x'", "7", "-7", "thing", "[None]", "['0']", "[7]", "[0, 0]"], [f"{d}(square, {{}})(2.0)" for d in DERIVATIVES]),
    ("1e-5", ["'1'", "0.0", "-1.0", "math.nan", "inf", "thing"], ["finite_difference(square, 2.0, {})", "check_gradients(square, 2.0, h={})"]),
    ("z", ["None", "[]", "{}", "math.sin", "np.array(1.0)", *NO_VALUES],
     ["adjoints({})", "topological_order({})", "Expression({})", "draw({})", "list(steps({}))"]),
    ("[x]", NO_VALUES, ["adjoints(z, {})", "z.backward(inputs={})"]),
    ("'x'", ["None", "2.0", "[]", "thing"], ["Value(2.0, {})", "scope({})", "trace(square, 2.0, wrt={})"]),
    *[(right, ["None", "'other'", "2.0"], [place]) for right, place in [
        ("'central'", "finite_difference(square, 2.0, method={})"), ("'reverse'", "trace(square, 2.0, mode={})")]],
    *[(right, ["'other'", "2.0"], [f"draw(z, {option}={{}})"]) for right, option in [("'message'", "edges"), ("'grad'", "color")]],
]  # fmt: skip
# A message names the function, or, of these, the one that it is built on.
SILENT = {"Value", "Vector", "Matrix", "adjoints", "hessian", "hvp", "list", "v", "z"}


def state(x, y, z):
    """All that a call could leave half changed."""
    return [
        (node.data, node.grad, node.label, node.parents, node.requires_grad) for node in (x, y, z)
    ]


@pytest.mark.parametrize(
    ("right", "refused", "place"),
    [
        pytest.param(right, refused, place, id=place)
        for right, refused, places in PLACES
        for place in places
    ],
)
@pytest.mark.filterwarnings("error")
def test_wrong_input_is_refused_in_words_and_changes_nothing(right, refused, place):
    x, y = Value(2.0, label="x"), Value(3.0, label="y")
    nodes = x, y, x * y
    known = names() | dict(zip("xyz", nodes)) | {"thing": Thing(), "square": square, "total": total}
    before, function = state(*nodes), re.search(r"\w+", place)[0]
    for wrong in refused:
        with pytest.raises(
            ERRORS, match="found|missing|outside the domain|unsupported operand"
        ) as error:
            exec(place.format(wrong), known)
        assert function in SILENT or function in str(error.value), str(error.value)
        assert " at 0x" not in str(error.value)
        assert state(*nodes) == before
    exec(place.format(right), known)


def test_every_public_function_is_given_what_it_cannot_take():
    places = " ".join(place for _, _, places in PLACES for place in places)
    absent = {name for name in [*ad.__all__, "abs", "sum"] if f"{name}(" not in places}
    assert absent == {"show_descent", "show_steps", "show_training", "where"}


@pytest.mark.parametrize("label", ["\nimport os", '"', "\u2028", "{}"], ids=ascii)
def test_an_error_quotes_a_label_on_one_line(label):
    with pytest.raises(ValueError, match="outside the domain x > 0") as refused:
        ad.log(Value(-1.0, label=label))
    assert len(str(refused.value).splitlines()) == 1
