"""What is refused: one table of what is written, the error, and the words that must occur in it.

Each row is code, run with the names of `names()`. Its error's message begins with the words; "..."
stands for any others. Below, every public function is given what it cannot take, argument by
argument: a documented error, in words, and nothing half changed.
"""

import math
import re
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas
import pytest

import autodiff as ad
from autodiff import Dual, Matrix, Value, Vector, nn, optim

ERRORS = (TypeError, ValueError, ZeroDivisionError, OverflowError)


def own(rule):
    """An operation of one's own, called cube."""
    rule.__name__ = "cube"
    return ad.operation(rule)


def length(x, y):
    norm = Vector([x, y]).norm()
    return norm, lambda grad: (grad * x / norm, grad * y / norm)


def times(w):
    """An operation that multiplies by a number that it holds."""
    return own(lambda x: (w * x, lambda grad: (w * grad,)))


def names():
    """The names that the rows use, made anew for each."""
    constant = Value(3.0, label="c")
    constant.requires_grad = False
    return vars(ad) | {
        "math": math, "np": np, "pandas": pandas, "Decimal": Decimal, "Fraction": Fraction,
        "nn": nn, "optim": optim, "own": own, "length": length, "times": times,
        "x": Value(2.0), "k": constant, "v": Vector([1, 2, 3]), "A": Matrix([[1, 2], [3, 4]]),
        "forward": lambda f: lambda x: ad.jvp(f, (x,), (1.0,))[1],
        **{name: getattr(ad, name) for name in [*ad.__all__, "sum", "abs"]},
    }  # fmt: skip


# fmt: off
NUMBER = "expected one real number (int, float, Fraction or a numpy scalar)"
ROWS = "; make one Value of each number: Vector(data), or [Value(v) for v in data]"
NO_NUMBER = [
    ("'3'", f"'3' of type str, {NUMBER}; convert it first: float(text)"),
    ("b'3'", f"b'3' of type bytes, {NUMBER}; convert it first: float(text)"),
    ("None", f"None of type NoneType, {NUMBER}; is a `return` missing in the function that"),
    ("1j", f"1j of type complex, {NUMBER}; take its .real, its .imag or abs() of it"),
    ("[1, 2]", f"[1, 2] of type list, {NUMBER}{ROWS}"),
    ("(1, 2)", f"(1, 2) of type tuple, {NUMBER}{ROWS}"),
    ("Decimal(1)", f"Decimal('1') of type Decimal, {NUMBER}"),
    ("object", f"<class 'object'> of type type, {NUMBER}"),
    ("np.timedelta64(2, 'D')", f"np.timedelta64(2,'D') of type timedelta64, {NUMBER}"),
]
TAKES_NUMBERS = [
    "Value({})", "x.data = {}", "x * {}", "{} - x", "x ** {}", "{} ** x", "sum([x, {}])",
    "maximum(x, {})", "hypot(3, {})", "Dual({})", "Dual(1.0, {})",
]
INFINITE = "it is infinite or undefined there"
INSIDE = "a number inside a function that is being differentiated, expected a Value of your own"
# What a rule of one's own may not return, in whatever mode it is used.
OF_ANOTHER_KIND = {"'a'": "str", "1j * x": "complex", "np.array([x])": "ndarray", "Vector([x])": "Vector"}
RULES = [
    ("lambda x: x**3", "cube: found a rule that returns ... expected (result, backward)"),
    ("lambda x: None", "cube: found a rule that returns a NoneType"),
    ("lambda x: (x,)", "cube: found"), ("lambda x: (x, 2.0)", "cube: found"),
    ("lambda x: (None, lambda grad: (grad,))", "...its result: found None of type NoneType"),
    *[(f"lambda x: ({text}, lambda grad: (grad,))", f"...its result: found ... of type {kind}")
      for text, kind in OF_ANOTHER_KIND.items() if kind != "Vector"],
    *[(f"lambda x: (x, lambda x: ({text},))", f"...a gradient: found ... of type {kind}")
      for text, kind in OF_ANOTHER_KIND.items()],
    *[(f"lambda x: (x, lambda grad: {text})", "cube: found a backward that returns ... a tuple of 1")
      for text in ("grad", "(grad, grad)", "[grad]", "None")],
]
DIFFERENTIATED = ["own({})(x).backward()", "grad(own({}))(2.0)", "jvp(own({}), (2.0,), (1.0,))"]

REFUSALS = {
    "numbers": [
        (place.format(text), TypeError, f"...found {words}")
        for text, words in NO_NUMBER for place in TAKES_NUMBERS
        if not ("Decimal" in text and place == "{} - x") and "timedelta64" not in text + place[:2]
    ] + [
        ("x * np.complex128(1)", TypeError, "Value mul: found np.complex128(1+0j) of type complex128"),
        ("Value(np.timedelta64(2, 'ns'))", TypeError, "Value: found ... expected one real number"),
        ("grad(lambda x: x)(np.array(2, 'm8[ns]'))", TypeError, "grad: found ... expected one real number"),
        ("Value(x)", TypeError, "Value: found Value(data=2.0, grad=0.0) of type Value, expected one real number; it is a number of another kind already; use it as it is"),
        ("Value(v)", TypeError, "Value: found Vector... of type Vector, expected one real number"),
        ("x * Dual(2)", TypeError, "mul: found a Value and a Dual, expected numbers of one kind; for forward over reverse wrap each Dual in a Value: Value(dual)"),
        ("Dual(2) * x", TypeError, "mul: found a Dual and a Value, expected numbers of one kind; for"),
        ("Dual(1.0, None)", TypeError, "Dual, tangent: found None"),
        ("Dual(1.0).tangent = None", TypeError, "Dual, tangent: found None"),
        ("Value(10**400)", OverflowError, "...too large"),
        ("x * Fraction(10**400)", OverflowError, "...too large"),
        ("grad(lambda x: x)(10**400)", OverflowError, "...too large"),
        ("x & (x > 1)", TypeError, "...found a Value, expected whole numbers or bools; ...x * y for and"),
        ("x ^ 2", TypeError, "...found a Value, expected whole numbers or bools; ...x**2"),
        *[(f"{use}({number})", TypeError, "this number is being differentiated, and a float has no derivative; take the function from autodiff, not from math (autodiff.sin for math.sin), or for the plain number write x.data")
          for number in ("x", "Dual(1.0, 1.0)") for use in ("float", "int", "math.sin")],
        ("np.array([x], dtype=float)", TypeError, "this number is being differentiated"),
        ("np.floor(x)", TypeError, "this number is being differentiated"),
    ],
    "domains": [
        ("Value(-1.0, label='rate').log()", ValueError, "log: x = -1.0 ('rate') is outside the domain x > 0"),
        ("Dual(-1.0, 1.0).log()", ValueError, "log: x = -1.0 is outside the domain x > 0"),
        ("log(-1.0)", ValueError, "log: x = -1.0 is outside the domain x > 0"),
        ("Value(0.0).log()", ValueError, "log: x = 0.0 is outside the domain x > 0"),
        ("log1p(-1.0)", ValueError, "log1p: x = -1.0 is outside the domain x > -1"),
        ("Value(-4).sqrt()", ValueError, "sqrt: x = -4.0 is outside the domain x >= 0"),
        ("Value(2).asin()", ValueError, "asin: x = 2.0 is outside the domain -1 <= x <= 1"),
        ("Value(2).acos()", ValueError, "acos: x = 2.0 is outside the domain -1 <= x <= 1"),
        *[(f"Value(math.inf).{name}()", ValueError, f"{name}: x = inf is outside the domain -inf < x < inf")
          for name in ("sin", "cos", "tan")],
        ("Value(1, label='a') / Value(0, label='b')", ZeroDivisionError, "x / y: x = 1.0 ('a'), y = 0.0 ('b') is outside the domain y != 0"),
        ("1 / Value(0)", ZeroDivisionError, "x / y: x = 1.0, y = 0.0 is outside the domain y != 0"),
        ("Value(0.0) ** -1", ZeroDivisionError, "x ** n: x = 0.0, n = -1.0 is outside the domain x > 0, or x = 0 and n >= 0, or x < 0 and n an integer"),
        ("Value(-8.0) ** (1 / 3)", ValueError, "x ** n: x = -8.0, n = 0.3333333333333333 is outside the domain x > 0, or"),
        ("(-8) ** Value(0.5)", ValueError, "a ** x: a = -8.0, x = 0.5 is outside the domain a > 0, or a = 0 and x >= 0, or a < 0 and x an integer"),
        ("Value(-8.0) ** Value(0.5)", ValueError, "x ** y: x = -8.0, y = 0.5 is outside the domain x > 0, or x = 0 and y >= 0, or x < 0 and y an integer"),
        ("functions.power(0.0, -1.0)", ZeroDivisionError, "x ** n: x = 0.0, n = -1.0 is outside"),
        ("functions.power(-8.0, 0.5)", ValueError, "x ** n: x = -8.0, n = 0.5 is outside"),
        ("Value(1000, label='z').exp()", OverflowError, "exp: x = 1000.0 ('z') gives a result too large for a float"),
        ("exp(1000.0)", OverflowError, "exp: x = 1000.0 gives a result too large for a float"),
        ("x ** 4000", OverflowError, "x ** n: x = 2.0, n = 4000.0 gives a result too large for a float"),
        ("Value(0.0, label='w').sqrt().backward()", ZeroDivisionError, f"the derivative of sqrt at x = 0.0 ('w'): {INFINITE}"),
        ("Value(0.0).sqrt().backward(create_graph=True)", ZeroDivisionError, "the derivative of sqrt at x = 0.0"),
        ("Dual(0.0, 1.0).sqrt()", ZeroDivisionError, f"the derivative of sqrt at x = 0.0: {INFINITE}"),
        ("hessian(sqrt)(0.0)", ZeroDivisionError, "the derivative of sqrt at x = ...0.0"),
        ("jvp(sqrt, (0.0,), (1.0,))", ZeroDivisionError, "the derivative of sqrt at x = 0.0"),
        ("trace(sqrt, 0.0)", ZeroDivisionError, f"the derivative of sqrt at x = 0.0: {INFINITE}"),
        ("own(lambda x: (math.sqrt(x), lambda grad: (grad / (2 * math.sqrt(x)),)))(Value(-1.0, label='v'))", ValueError, "cube: x = -1.0 ('v'): "),
        ("own(lambda x: (math.sqrt(x), lambda grad: (grad / (2 * math.sqrt(x)),)))(Value(0.0)).backward()", ZeroDivisionError, "the derivative of cube at x = 0.0"),
        ("own(lambda name, error: (name / error, None))(Value(1.0), 0.0)", ZeroDivisionError, "cube: name = 1.0, error = 0.0"),
    ],
    "functions": [
        ("logsumexp([])", ValueError, "logsumexp: found no numbers, expected at least one"),
        ("sum(3)", TypeError, "sum: found 3 of type int, expected a sequence of numbers: sum([x, y])"),
        ("sum(1, 2)", TypeError, "sum"),
        ("dot([x], [1, 2])", ValueError, "dot: found 1 and 2 numbers, expected equally many on both sides"),
        ("dot([1.0], [])", ValueError, "dot: found 1 and 0 numbers,"),
        ("dot([], [1.0])", ValueError, "dot: found 0 and 1 number,"),
        *[(f"{name}({data})", TypeError, f"{name}: found ... expected a sequence of numbers")
          for name in ("sum", "prod", "logsumexp") for data in ("{1.0: x}", "b'ab'", "'ab'", "{3.0, 1.0}")],
        *[(f"{call.format(table)}", TypeError, "...of shape (2, 2), expected numbers in a row")
          for call in ("sum({})", "prod({})", "logsumexp({})", "dot({}, [1.0, 10.0])") for table in ("A", "np.eye(2)")],
        *[(f"{name}(np.array(5.0))", TypeError, f"{name}: found array(5.) of type ndarray, expected a")
          for name in ("Vector", "Matrix", "sum", "Expression")],
        *[(f"where({condition}, 1.0, x)", TypeError, "where, the condition: found ... expected one real number")
          for condition in ("[True, False]", "'no'", "None", "[]")],
        ("operation(3)", TypeError, "operation: found 3 of type int, expected a function"),
        ("operation(__import__('functools').partial(sin))", TypeError, "operation: found ... a function with a name"),
    ],
    "rules": [
        (use.format(rule), TypeError, words) for rule, words in RULES for use in DIFFERENTIATED
    ] + [
        (text, TypeError, "cube: found a result that is ... expected operations on its inputs alone; pass all")
        for text in (
            "times(Value(2.0))(x)", "times(Value(2.0))(v)", "times(Value(2.0))(Dual(3.0, 1.0))",
            "grad(lambda w: times(w)(x))(2.0)",
            "grad(lambda x: grad(lambda w: times(w)(x))(2.0) * x)(3.0)",  # 6, and it was 0
            "jvp(lambda x: forward(lambda w: times(w)(x))(2.0) * x, (3.0,), (1.0,))",
        )
    ] + [
        ("own(length)(x, Value(4.0))", TypeError, "cube: found a result that is a Value, with inputs"),
        ("own(lambda x: (x, None))('a')", TypeError, "cube: found 'a' of type str"),
    ],
    "value": [
        *[(text, TypeError, "label: found ... expected a str")
          for text in ("x.label = 3", "x.label = None", "Value(2.0, label=b'x')", "x.label = ['x']")],
        ("x.grad = None", TypeError, "grad: found None, expected a number; to clear it, assign 0.0"),
        *[(f"x.grad = {wrong}", TypeError, "grad: found ... expected one real number")
          for wrong in ("'4'", "[4.0]", "np.ones(2)", "1j")],
        ("(x * x).backward(create_graph=True); x.data -= 0.1 * x.grad", TypeError, "...or p.grad.data"),
        ("(x * x).requires_grad = False", ValueError, "requires_grad: found the result of an operation, expected a leaf; whether a result requires a gradient follows from its inputs"),
        ("(k * k).backward()", ValueError, "backward: found an output computed from constants alone, expected one that depends on a Value with requires_grad = True"),
        ("(x * k).backward(inputs=[k])", ValueError, "inputs: found a constant, 3.0 ('c'), expected nodes that require a gradient; set"),
        ("(x * x).backward(inputs=x)", TypeError, "inputs: found ... expected a sequence of Values: [x, y]"),
        ("(x * x).backward(inputs=[x, 2.0])", TypeError, "inputs: found 2.0 of type float in the sequence, expected Values only"),
        ("y = x.exp(); x.data = 3.0; y.backward(create_graph=True)", RuntimeError, "create_graph: found exp of numbers that were changed after the graph was recorded, expected those"),
        ("y = 0.0 * x * x; x.data = 5.0; y.backward(create_graph=True)", RuntimeError, "...numbers that were changed after the graph was recorded"),
        *[(f"y = x.log(); x.data = {number}; y.backward(create_graph=True)", RuntimeError, "create_graph: found log of numbers that were changed")
          for number in (-1.0, 0.0, 5.0)],
        *[(f"__import__('{module}').{copy}(x * x)", TypeError, "a Value that was computed (*) cannot be copied or pickled")
          for module, copy in (("pickle", "dumps"), ("copy", "copy"), ("copy", "deepcopy"))],
        ("adjoints(2.0)", TypeError, "adjoints: found 2.0 of type float, expected a Value"),
        ("topological_order(2.0)", TypeError, "topological_order: found 2.0 of type float, expected a Value"),
    ],
    "linalg": [
        ("v + Vector([1, 2])", ValueError, "add: found shapes (3,) and (2,)"),
        ("A + v", ValueError, "add: found shapes (2, 2) and (3,), expected equal"),
        ("v + [1, 2, 3]", TypeError, "add: found a Vector and a list, ...Vector(data)"),
        ("A @ v", ValueError, "@: found shapes (2, 2) and (3,), expected 2 as the"),
        ("v @ A", ValueError, "@: found shapes (3,) and (2, 2), expected 3 as the"),
        ("v.dot([1, 2, 3])", TypeError, "...found a Vector and a list, expected a Vector"),
        ("v @ 3", TypeError, "@: found a Vector and an int, expected a Vector or a Matrix on both"),
        ("A @ [1, 2]", TypeError, "@: found a Matrix and a list, ...Vector([1, 2])"),
        ("Vector([])", ValueError, "Vector: found no numbers"),
        ("v[3:]", ValueError, "Vector: found no numbers"),
        ("Vector('12')", TypeError, "Vector: found '12' of type str, expected a sequence of numbers"),
        ("Vector(3)", TypeError, "Vector: found 3 of type int, expected a sequence"),
        ("Vector([[1]])", TypeError, "...found [1] of type list, expected one real number"),
        ("Vector([v])", TypeError, "...found Vector... of type Vector, expected one real"),
        ("Vector({0: 1, 1: 2})", TypeError, "Vector: found {0: 1, 1: 2} of type dict, expected a seq"),
        ("Vector({3, 1})", TypeError, "Vector: found {1, 3} of type set, expected a sequence"),
        ("Vector(pandas.DataFrame([[5.0]]))", TypeError, "...found array"),
        ("Matrix({(1, 2): 3})", TypeError, "Matrix: found {... of type dict, expected a sequence of"),
        ("Matrix([{3, 1}])", TypeError, "Matrix, a row: found {1, 3} of type set, expected a seq"),
        ("Matrix([1, 2])", TypeError, "Matrix, a row: found 1 of type int, expected a sequence"),
        ("Matrix(3)", TypeError, "Matrix: found 3 of type int, expected a sequence of rows"),
        ("Matrix([[1], [1, 2]])", ValueError, "...rows of lengths [1, 2], expected"),
        ("Matrix([])", ValueError, "...rows of lengths [], expected at least one row"),
        ("v * pandas.Series([1, 2, 3])", TypeError, "unsupported operand"),
        ("pandas.Series([1, 2, 3]) * v", TypeError, "...found a Vector and a Series"),
        ("pandas.DataFrame([[1, 2]]) - A", TypeError, "...found a Matrix and a DataFrame"),
        *[(text, TypeError, "...found a ..., expected one number; take its entries, or .data")
          for text in ("v == Vector([1.0, 2.0])", "v != v", "v == [1.0, 2.0]", "v < 2", "A == A")],
        ("v.map(lambda x: 'a')", TypeError, "...found 'a' of type str"),
        ("v.map(lambda x: v)", TypeError, "...found Vector... of type Vector, expected one real number"),
        ("draw(v)", TypeError, "draw: found a Vector, expected a Value"),
        ("v[5]", IndexError, "...out of range"),
        ("v[[0, 1]]", TypeError, "...indices must be integers or slices, not list"),
        ("A[0, 7]", IndexError, "...out of range"),
        ("v[0] = 3", TypeError, "...item assignment"),
        ("v.backward()", TypeError, "...found a Vector of shape (3,), expected one"),
        ("(A @ A).backward()", TypeError, "...found a Matrix of shape (2, 2), ....sum(), .mean()"),
    ],
    "transforms": [
        ("grad(lambda x: [x])(1.0)", TypeError, "grad: found a list of 1 number,"),
        ("grad(lambda x: [x, x])(1.0)", TypeError, "grad: found a list of 2 numbers, expected one number as the result of f; ...use jacrev"),
        ("hessian(lambda x: [x, x])(1.0)", TypeError, "hessian: found a list of 2 numbers, expected one number as the result of f"),
        ("grad(lambda x: None)(1.0)", TypeError, "grad: the result of f: found None ...`return`"),
        ("grad(lambda x: 'a')(1.0)", TypeError, "grad: the result of f: found 'a' of type str"),
        ("grad(3)", TypeError, "grad: found 3 of type int, expected a function"),
        ("jacfwd(3)", TypeError, "jacfwd: found 3 of type int, expected a function"),
        ("grad(sin)('a')", TypeError, "grad: found 'a' of type str, expected one real"),
        ("grad(sum)({3.0, 1.0})", TypeError, "grad: found ... of type set, expected one real number"),
        ("jacrev(lambda x: {x, 2 * x})(1.0)", TypeError, "jacrev: the result of f: found ... of type set, expected one real number"),
        ("grad(sin, argnums=2)(1.0)", ValueError, "grad: found argnums 2 and 1 positional argument, expected the index of one of them, or several different ones"),
        ("grad(sin, (0, 0))(1.0)", ValueError, "grad: found argnums (0, 0) and 1 ...several different ones"),
        ("grad(lambda x, y: x, (0, -2))(1.0, 2.0)", ValueError, "...several different ones"),
        *[(f"grad(sin, {wrong})(1.0)", TypeError, f"grad: found argnums {wrong} and 1 positional argument, expected the index of one")
          for wrong in ("'x'", "None", "0.0")],
        ("jvp(sin, 1.0, 1.0)", TypeError, "jvp: found ... of type float, expected ...(1.0,)"),
        ("jvp(sin, (1.0,), (1.0, 2.0))", ValueError, "jvp: the tangents: found [1.0, 2.0], expected the shape of"),
        ("jvp(sum, ([1.0, 2.0],), ([1.0],))", ValueError, "jvp: the tangents: found [[1.0]], expected the shape of"),
        ("vjp(lambda x: [x, x], 1.0)[1](1.0)", ValueError, "vjp: the cotangent: found 1.0, expected the shape of"),
        ("vjp(sin, 1.0)[1]([1.0])", ValueError, "vjp: the cotangent: found [1.0], expected the shape of"),
        ("vjp(sin, 1.0)[1]('a')", TypeError, "vjp: the cotangent: found 'a' of type str"),
        *[(f"{d}(lambda x: x + math.sin(x))(1.0)", TypeError, "this number is being differentiated")
          for d in ("grad", "jacrev", "jacfwd", "forward", "hessian")],
        *[(f"{d}(lambda x: Value(x) ** 2)(2.0)", TypeError, "...a number of another kind already; use it as it is")
          for d in ("grad", "forward")],
        *[(f"{d}(lambda x: (Dual(x, 1.0) ** 2).tangent)(2.0)", TypeError, "...a number of another kind already; use it as it is")
          for d in ("grad", "forward")],
        *[(f"{d}(lambda x, s: x[0] * sum(s))([1.0, 2.0], {again})", TypeError, f"{d}: found ... which the first of several calls of f would use up, expected what can be read again; pass list(...)")
          for d in ("jacfwd", "hessian") for again in ("iter([3.0])", "s=map(float, [3])")],
        *[(f"{d}({f})(0.0)", ZeroDivisionError, "the derivative of ... infinite or undefined")
          for d in ("grad", "jacrev", "jacfwd", "forward")
          for f in ("lambda x: (x**3) ** (1 / 3)", "lambda x: sqrt(x * x)", "lambda x: sqrt(0.0 * x)", "lambda x: 1 + sum([x**2, x**2]) ** 0.5")],
        # A derivative would be lost on the way through a plain number.
        *[(f"{d}(lambda x: {use})(2.0)", RuntimeError, f"...found {INSIDE}; use it only in operations; for a derivative nest grad")
          for d in ("grad", "hessian")
          for use in ("__import__('copy').copy(x) ** 2", "sum(__import__('copy').deepcopy([x, x]))",
                      "__import__('pickle').dumps(x)", "adjoints(x**3)[x]", "[*steps(x**3)][-1].adjoint",
                      "Expression(x**3).propagate()", "Expression(x**3).backpropagate([x])[x]",
                      "Expression([x**3]).compile([x], wrt=[])(2.0)[0]", "(x**3).backward()",
                      "setattr(x, 'requires_grad', True)", "setattr(x, 'data', 5.0)")],
        ("grad(lambda x: finite_difference(lambda y: x * y, 2.0, method='complex'))(1.0)", RuntimeError, f"...found {INSIDE}"),
    ],
    "numeric": [
        ("finite_difference(sin, 1.0, method='centre')", ValueError, "finite_difference: found method 'centre', expected one of"),
        *[(f"{function}(sin, 1.0, h={h})", ValueError, f"{function}: found step h = ..., expected h > 0")
          for function in ("finite_difference", "check_gradients") for h in ("0.0", "-1.0", "math.inf", "math.nan")],
        ("check_gradients(sin, 1.0, h='a')", TypeError, "check_gradients, h: found 'a' of type str"),
        ("finite_difference(sin, 'a')", TypeError, "finite_difference: found 'a' of type str"),
        ("finite_difference(lambda x: None, 1.0)", TypeError, "finite_difference: the result of f: found None of type NoneType"),
        *[(f"finite_difference(sin, 1.0, h=1e-30, method='{method}')", ValueError, "finite_difference: found step h = 1e-30 at x = 1.0, expected a larger")
          for method in ("forward", "backward", "central")],
        *[(f"finite_difference(lambda x: {f}, {at}, method='complex')", kind, words) for f, at, kind, words in [
            ("sqrt(x)", -2.0, ValueError, "sqrt: x = -2.0 is outside the domain"),
            ("log(x)", -2.0, ValueError, "log: x = -2.0 is outside the domain"),
            ("x ** (1 / 3)", -8.0, ValueError, "..."), ("x ** -0.5", 0.0, ZeroDivisionError, "..."),
            ("1 / x", 0.0, ZeroDivisionError, "..."),
            ("math.sin(x)", 1.0, TypeError, "this number is being differentiated"),
            ("x + 1j", 2.0, TypeError, "...found 1j of type complex, expected one real number"),
            ("Value(x) * 2", 2.0, TypeError, "...it is a number of another kind already")]],
    ],
    "tracing": [
        ("trace(sin, 1.0, mode='backward')", ValueError, "trace: found mode 'backward', expected 'forward' or 'reverse'"),
        *[(f"trace(lambda x1, x2: x1, 3, -4, wrt={wrt})", ValueError, "trace: found wrt = ..., expected one of ['x1', 'x2']")
          for wrt in ("'x3'", "2", "-3")],
        *[(f"trace(lambda x: {y}, 1.0)", TypeError, f"trace: found {words}") for y, words in [
            ("[x, x]", "[Value... one number that depends on x; trace several one by"),
            ("1.0", "1.0"), ("None if x > 0 else x", "None"), ("x.data", "1.0"),
            ("Value(2.0)", "... expected one number that depends on x")]],
        *[(text, TypeError, "trace: found no numbers") for text in ("trace(lambda a: a)", "trace(lambda x: x, [])")],
        ("trace(sin)", TypeError, "trace: found no numbers, ...compute f at: trace(f, 2.0)"),
        ("trace(lambda a, b: a, 'a', 1.0)", TypeError, "trace: found 'a' of type str"),
        ("list(steps(3.0))", TypeError, "steps: found a float, expected a Value"),
    ],
    "optim": [
        *[(f"optim.SGD({params}, lr=0.1)", TypeError, f"SGD, params: found {words}") for params, words in [
            ("[1.0]", "1.0 of type float, expected leaf Values: model.parameters()"),
            ("[x * 2]", "Value(data=4.0, grad=0.0) of type Value, expected leaf"),
            ("nn.Linear(1, 1)", "...expected leaf Values: model.param"),
            ("[nn.Linear(1, 1).weight]", "... of type Matrix, expected leaf Values")]],
        ("optim.SGD([], lr=0.1)", ValueError, "SGD: found no parameters"),
        ("optim.SGD([x], lr='0.1')", TypeError, "SGD, lr: found '0.1' of type str"),
        *[(f"optim.{call}", ValueError, f"{words}, expected a number >= 0") for call, words in [
            ("SGD([x], lr=-0.1)", "SGD, lr: found -0.1"), ("SGD([x], lr=math.nan)", "SGD, lr: found nan"),
            ("SGD([x], lr=1, weight_decay=-1)", "SGD, weight_decay: found -1.0"),
            ("SGD([x], lr=0.1, momentum=-0.5)", "SGD, momentum: found -0.5"),
            ("Adam([x], betas=(-0.1, 0.9))", "Adam, betas: found -0.1"),
            ("Adam([x], eps=-1.0)", "Adam, eps: found -1.0"),
            ("RMSprop([x], alpha=-0.5)", "RMSprop, alpha: found -0.5"),
            ("Adagrad([x], eps=math.nan)", "Adagrad, eps: found nan")]],
        *[(f"optim.Adam([x], betas={betas})", TypeError, "Adam, betas: found ... of type tuple")
          for betas in ("()", "(0.9, 0.9, 0.9)")],
    ],
    "scopes": [("scope(3)", TypeError, "scope: found 3 of type int, expected a str")],
}
# fmt: on


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [pytest.param(*row, id=f"{part}: {row[0]}") for part, rows in REFUSALS.items() for row in rows],
)
def test_what_is_refused(text, kind, words):
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


# Not a number or an array of numbers; not a number; not a flat sequence; ...
NEITHER = [None, "2", b"2", {}, Thing(), math.sin, [], [1.0, 2.0]]
NO_NUMBER = [*NEITHER, 1j, np.array([1.0, 2.0])]
NO_INPUT = [*NEITHER[:6], 1j]
NO_SEQUENCE = [None, Thing(), math.sin, ["2"], [None], "ab", {"x": 1.0}]
NO_FUNCTION = [None, 2.0, "f", [], Thing()]
NO_VALUES = [2.0, "ab", [2.0], ["x"], [None], Thing()]
NO_VALUE = [None, [], {}, math.sin, np.array(1.0), *NO_VALUES]
NO_INDEX = [None, 1.5, "x", 7, -7, Thing(), [None], ["0"], [7], [0, 0]]
NO_ROWS = [None, 2.0, "ab", Thing(), [1.0, 2.0], [["1"]], [[1.0], [1.0, 2.0]], [[None]]]


def square(x):
    return x * x


def total(v):
    return ad.dot(v, v)


X, Y = Value(2.0, label="x"), Value(3.0, label="y")
Z, ROW = X * Y, Vector([1.0, 2.0])
NO_ROW = [None, "ab", Vector([1.0]), 2.0, Matrix([[1.0]])]
ONE = sorted(ad.functions.UNARY)
CASES = {  # for each argument one that works, and what must be refused
    **dict.fromkeys(ONE, ((0.5, NEITHER),)),
    **dict.fromkeys(["maximum", "minimum", "hypot", "atan2", "less"], ((2.0, NEITHER), (3.0, NEITHER))),
    **dict.fromkeys(["sum", "prod", "Vector"], (([2.0], NO_SEQUENCE),)),
    "logsumexp": [([2.0], [*NO_SEQUENCE, []])],
    "dot": [([2.0], [*NO_SEQUENCE, [], [1.0, 2.0]]), ([2.0], NO_SEQUENCE)],
    "Value": [(2.0, NO_NUMBER), ("x", [None, 2.0, [], Thing()])],
    "Dual": [(2.0, NO_NUMBER), (1.0, NO_NUMBER)],
    "Matrix": [([[2.0]], NO_ROWS)],
    "v + w": [(ROW, [None, "ab", Vector([1.0]), Thing()])],
    "v @ w": [(ROW, NO_ROW)],
    "A @ v": [(ROW, NO_ROW)],
    **dict.fromkeys(["grad", "value_and_grad", "jacrev", "jacfwd"],
                    ((square, [*NO_FUNCTION, lambda x: "y"]), (2.0, NO_INPUT), (0, NO_INDEX))),
    "hessian": [(total, [*NO_FUNCTION, lambda x: [x[0]]]), ([2.0], NO_SEQUENCE[:-1])],
    "hvp": [(total, NO_FUNCTION), ([2.0], NO_SEQUENCE), ([1.0], [*NO_SEQUENCE, 1.0, [], [1.0, 2.0]])],
    "jvp": [(square, NO_FUNCTION), ((2.0,), [None, 2.0, (None,), (2.0, 3.0), ("2",)]),
            ((1.0,), [None, 1.0, (None,), (1.0, 2.0), ("1",), ([1.0],)])],
    "vjp": [(square, NO_FUNCTION), (2.0, NO_INPUT)],
    "pullback": [(1.0, NO_NUMBER)],
    "finite_difference": [(square, NO_FUNCTION), (2.0, NO_INPUT),
        (1e-5, ["1", 0.0, -1.0, math.nan, math.inf, Thing()]), ("central", [None, "other", 2.0, []])],
    "check_gradients": [(square, NO_FUNCTION), (2.0, NO_INPUT)],
    "operation": [(lambda x: (x, lambda grad: (grad,)), [None, 2.0, "f"])],
    "adjoints": [(Z, NO_VALUE), ([X], NO_VALUES)],
    **dict.fromkeys(["topological_order", "steps", "Expression"], ((Z, NO_VALUE),)),
    "backward": [([X], NO_VALUES)],
    "trace": [(square, NO_FUNCTION), (2.0, NO_INPUT), ("reverse", [None, "other", 2.0])],
    "draw": [(Z, NO_VALUE), ("message", ["other", 2.0]), ("grad", ["other", 2.0])],
    "scope": [("a", [None, 2.0, [], Thing()])],
}  # fmt: skip
CALLS = {  # those that are not the function of that name
    "v + w": lambda w: ROW + w,
    "v @ w": lambda w: ROW @ w,
    "A @ v": lambda v: Matrix([[1.0, 2.0]]) @ v,
    **{d.__name__: lambda f, x, argnums, d=d: d(f, argnums)(x)
       for d in (ad.grad, ad.value_and_grad, ad.jacrev, ad.jacfwd)},
    "hessian": lambda f, x: ad.hessian(f)(x),
    "pullback": lambda v: ad.vjp(square, 2.0)[1](v),
    "steps": lambda root: list(ad.steps(root)),
    "backward": lambda inputs: (X * Y).backward(inputs=inputs),
    "trace": lambda f, x, mode: ad.trace(f, x, mode=mode),
    "draw": lambda root, edges, color: ad.draw(root, edges=edges, color=color),
}  # fmt: skip

# Messages begin with the name of the function, or, for these, of the one that it is built on.
SPEAKING = {*ad.__all__, "abs", "sum"} - {"Value", "Vector", "Matrix", "adjoints", "steps"}


def state():
    """Everything about the nodes of the cases that a call could leave half changed."""
    return [(x.data, x.grad, x.label, x.parents, x.requires_grad) for x in (X, Y, Z)]


@pytest.mark.parametrize("name", CASES)
def test_wrong_input_is_refused_in_words_and_changes_nothing(name):
    call, good = CALLS.get(name) or getattr(ad, name), [right for right, _ in CASES[name]]
    call(*good)
    faults, before = [], state()
    for i, (_, refused) in enumerate(CASES[name]):
        for wrong in refused:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    fault = f"no error, but {call(*good[:i], wrong, *good[i + 1 :])!r}"
            except Exception as error:
                words = re.search(
                    "found|missing|outside the domain|unsupported operand", str(error)
                )
                explained = words and (name not in SPEAKING or name in str(error))
                readable = explained and " at 0x" not in str(error)
                known = isinstance(error, ERRORS) and readable and state() == before
                fault = "" if known else f"{type(error).__name__}: {error}"
            if fault:
                faults.append(f"argument {i} = {wrong!r}: {fault}")
    assert not faults, "\n".join(faults)


def test_every_public_function_has_a_case():
    elsewhere = {"show_descent", "show_steps", "show_training", "where"}
    assert {*ad.__all__, "abs", "sum"} - {*CASES} == elsewhere


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_a_function_of_infinity_or_nan_is_a_number_or_an_error_in_words(name, number):
    for x in (number, Value(number), Dual(number, 1.0)):
        try:
            result = getattr(ad, name)(x)
        except (ValueError, OverflowError) as error:
            result = error
        explained = re.search("outside the domain|too large|undefined", str(result))
        assert type(result) is type(x) or (explained and not math.isnan(number))


@pytest.mark.parametrize(
    "label",
    ["\nimport os", '"', "]]>", "\\n", "\x00", "\u2028", "💥", "x" * 500, "%s", "{}"],
    ids=ascii,
)
def test_an_error_quotes_a_label_on_one_line(label):
    with pytest.raises(ValueError, match="outside the domain x > 0") as refused:
        ad.log(Value(-1.0, label=label))
    assert len(str(refused.value).splitlines()) == 1
