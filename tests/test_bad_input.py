"""Every public function, given what it cannot take: a documented error, and nothing half changed."""

import ast
import html
import math
import random
import re
import warnings
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import autodiff as ad
from autodiff import Dual, Expression, Matrix, Value, Vector, nn, optim

ERRORS = (TypeError, ValueError, ZeroDivisionError, OverflowError)


class Thing:
    """No number, no sequence, no function."""

    def __repr__(self):
        return "<thing>"


# Not a number or an array of numbers; not a number with a derivative; not a flat sequence; ...
NEITHER = [None, "2", b"2", {}, Thing(), math.sin, [], [1.0, 2.0]]
NO_NUMBER = [*NEITHER, 1j, np.array([1.0, 2.0])]
NO_SEQUENCE = [None, Thing(), math.sin, ["2"], [None], "ab", {"x": 1.0}]
NO_FUNCTION = [None, 2.0, "f", [], Thing()]
NO_VALUE = [None, 2.0, "x", [], {}, Thing(), math.sin, np.array(1.0)]
NO_VALUES = [None, 2.0, "ab", [2.0], ["x"], [None], Thing()]
NO_WHOLE = [None, 1.5, "1", 0, -1, [], Thing(), math.nan]
NO_INDEX = [None, 1.5, "x", 7, -7, Thing(), [None], ["0"], [7], [0, 0]]
NO_TEXT = [None, 2.0, [], Thing()]
NO_SIZE = [None, "1", -1.0, math.nan, [], Thing()]
NO_ROWS = [None, 2.0, "ab", Thing(), [1.0, 2.0], [["1"]], [[1.0], [1.0, 2.0]], [[None]]]
NO_MODULE = [None, 2.0, "numpy", Thing(), random, {}]


def square(x):
    return x * x


def total(v):
    return ad.dot(v, v)


class Case:
    """A call that works, and for each argument what it must refuse."""

    def __init__(self, name, function, *arguments, **keywords):
        self.name, self.function = name, function
        self.arguments, self.keywords = arguments, keywords

    def __repr__(self):
        return self.name

    def call(self, i=None, wrong=None):
        """Call the function, with one of its arguments replaced."""
        places = [*range(len(self.arguments)), *self.keywords]
        values = [good for good, _ in [*self.arguments, *self.keywords.values()]]
        if i is not None:
            values[i] = wrong
        n = len(self.arguments)
        return self.function(*values[:n], **dict(zip(places[n:], values[n:], strict=True)))

    def wrong(self):
        """Each argument's place and each of its wrong values."""
        for i, (_, refused) in enumerate([*self.arguments, *self.keywords.values()]):
            for wrong in refused:
                yield i, wrong


def layer(**changes):
    return lambda *sizes, **others: nn.Linear(*sizes, **(changes | others))


def trained(inputs, targets, loss, epochs, batch_size):
    model = nn.Linear(1, 1, seed=0)
    descent = optim.SGD(model.parameters(), lr=0.1)
    before = model.state_dict()
    try:
        nn.fit(model, inputs, targets, loss, descent, epochs, batch_size, progress=False)
    except ERRORS:
        assert model.state_dict() == before
        raise


def in_a_scope(name):
    with ad.scope(name):
        return X * Y


X, Y = Value(2.0, label="x"), Value(3.0, label="y")
Z = X * Y
ONE = [
    "exp",
    "log",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "erf",
    "sigmoid",
    "relu",
    "softplus",
    "abs",
]
CASES = [
    *[Case(name, getattr(ad, name), (2.0, NEITHER)) for name in ONE],
    *[Case(name, getattr(ad, name), (0.5, NEITHER)) for name in ("asin", "acos")],
    *[
        Case(name, getattr(ad, name), (2.0, NEITHER), (3.0, NEITHER))
        for name in ("maximum", "minimum", "hypot")
    ],
    *[Case(f"{name} of a Value", getattr(ad, name), (X, []), (3.0, NEITHER)) for name in
      ("maximum", "minimum", "hypot")],
    *[Case(name, getattr(ad, name), ([2.0], NO_SEQUENCE)) for name in ("sum", "prod")],
    Case("logsumexp", ad.logsumexp, ([2.0], [*NO_SEQUENCE, []])),
    Case("dot", ad.dot, ([2.0], [*NO_SEQUENCE, [], [1.0, 2.0]]), ([2.0], NO_SEQUENCE)),
    Case("x + y", lambda y: X + y, (2.0, NEITHER)),
    Case("x * y", lambda y: X * y, (2.0, NEITHER)),
    Case("y - x", lambda y: y - X, (2.0, NEITHER)),
    Case("x / y", lambda y: X / y, (2.0, [*NEITHER, 0.0])),
    Case("x ** y", lambda y: X**y, (2.0, NEITHER)),
    Case("Value", Value, (2.0, NO_NUMBER), ("x", NO_TEXT)),
    Case("Dual", Dual, (2.0, NO_NUMBER), (1.0, NO_NUMBER)),
    Case("Vector", Vector, ([2.0], NO_SEQUENCE)),
    Case("Matrix", Matrix, ([[2.0]], NO_ROWS)),
    Case("v + w", lambda w: Vector([1.0, 2.0]) + w,
         (Vector([1.0, 2.0]), [None, "ab", Vector([1.0]), Thing()])),
    Case("v @ w", lambda w: Vector([1.0, 2.0]) @ w,
         (Vector([1.0, 2.0]), [None, "ab", Vector([1.0]), 2.0, Matrix([[1.0]])])),
    Case("A @ v", lambda v: Matrix([[1.0, 2.0]]) @ v,
         (Vector([1.0, 2.0]), [None, "ab", Vector([1.0]), 2.0, Matrix([[1.0]])])),
    Case("grad", lambda f, x, argnums: ad.grad(f, argnums)(x),
         (square, [*NO_FUNCTION, lambda x: "y", lambda x: None, lambda x: [x, x]]),
         (2.0, [*[*NEITHER[:6], 1j], ["2"], "ab"]), (0, NO_INDEX)),
    Case("value_and_grad", lambda f, x, argnums: ad.value_and_grad(f, argnums)(x),
         (square, NO_FUNCTION), (2.0, [*NEITHER[:6], 1j]), (0, NO_INDEX)),
    Case("jacrev", lambda f, x, argnums: ad.jacrev(f, argnums)(x),
         (square, [*NO_FUNCTION, lambda x: "y"]), (2.0, [*NEITHER[:6], 1j]), (0, NO_INDEX)),
    Case("jacfwd", lambda f, x, argnums: ad.jacfwd(f, argnums)(x),
         (square, [*NO_FUNCTION, lambda x: "y"]), (2.0, [*NEITHER[:6], 1j]), (0, NO_INDEX)),
    Case("hessian", lambda f, x: ad.hessian(f)(x),
         (total, [*NO_FUNCTION, lambda x: [x[0]]]), ([2.0], NO_SEQUENCE[:-1])),
    Case("hvp", ad.hvp, (total, NO_FUNCTION), ([2.0], NO_SEQUENCE),
         ([1.0], [*NO_SEQUENCE, 1.0, [], [1.0, 2.0]])),
    Case("jvp", ad.jvp, (square, NO_FUNCTION), ((2.0,), [None, 2.0, (None,), (2.0, 3.0), ("2",)]),
         ((1.0,), [None, 1.0, (None,), (1.0, 2.0), ("1",), ([1.0],)])),
    Case("vjp", ad.vjp, (square, NO_FUNCTION), (2.0, [*NEITHER[:6], 1j])),
    Case("pullback", lambda v: ad.vjp(square, 2.0)[1](v), (1.0, NO_NUMBER)),
    Case("finite_difference", ad.finite_difference, (square, NO_FUNCTION), (2.0, [*NEITHER[:6], 1j]),
         h=(1e-5, ["1", 0.0, -1.0, math.nan, math.inf, Thing()]),
         method=("central", [None, "other", 2.0, []])),
    Case("check_gradients", ad.check_gradients, (square, NO_FUNCTION), (2.0, [*NEITHER[:6], 1j])),
    Case("operation", ad.operation, (lambda x: (x, lambda grad: (grad,)), [None, 2.0, "f"])),
    Case("the rule of an operation", lambda rule: ad.operation(rule)(X),
         (lambda x: (x, lambda grad: (grad,)),
          [lambda x: x, lambda x: (x,), lambda x: ("2", lambda grad: (grad,)), lambda x: None,
           lambda x: (None, lambda grad: (grad,)), lambda x: (x, 2.0)])),
    Case("the backward of an operation",
         lambda back: ad.operation(lambda x: (x * 1.0, back))(Value(2.0)).backward(),
         (lambda grad: (grad,), [lambda g: g, lambda g: (), lambda g: (g, g), lambda g: "2",
                                 lambda g: ("2",), lambda g: [g], lambda g: None])),
    Case("adjoints", ad.adjoints, (Z, NO_VALUE), ([X], NO_VALUES[1:])),
    Case("topological_order", ad.topological_order, (Z, NO_VALUE)),
    Case("steps", lambda root: list(ad.steps(root)), (Z, NO_VALUE)),
    Case("backward", lambda inputs: (X * Y).backward(inputs=inputs), ([X], NO_VALUES[1:])),
    Case("trace", lambda f, x, mode: ad.trace(f, x, mode=mode), (square, NO_FUNCTION),
         (2.0, [*NEITHER[:6], 1j]), ("reverse", [None, "other", 2.0])),
    Case("draw", ad.draw, (Z, NO_VALUE),
         edges=("message", ["other", 2.0]), color=("grad", ["other", 2.0])),
    Case("Expression", Expression, (Z, NO_VALUE)),
    Case("propagate", lambda values: Expression(X * Y).propagate(values),
         ({X: 2.0}, [2.0, "x", [X], {X: None}, {X: "2"}, {2.0: 1.0}, {"x": 1.0}, {Value(1.0): 2.0},
                     {X: [1.0]}])),
    Case("backpropagate", lambda wrt: Expression(X * Y).backpropagate(wrt),
         ([X], [*NO_VALUES[1:], [Z], [Value(1.0)]])),
    Case("compile", lambda inputs, wrt, xp: Expression(Z).compile(inputs, wrt, xp=xp),
         ([X], [*NO_VALUES, [Z], [X, X]]), ([Y], [*NO_VALUES, [Z], [Y, Y]]), (math, NO_MODULE)),
    Case("compile for a batch",
         lambda inputs, xp: Expression(Z).compile(inputs, [Y], xp=xp, batch=True),
         ([X], [*NO_VALUES, [Z], [X, X]]), (np, [*NO_MODULE, math])),
    Case("a batched program", Expression(Z).compile([X], [Y], xp=np, batch=True),
         (np.ones((2, 1)), [None, 2.0, "2", [], np.ones(2), np.ones((2, 2)), [[1.0]]]),
         (np.ones(1), [None, 2.0, "2", [], np.ones(2), np.ones((1, 1)), [1.0]])),
    Case("scope", in_a_scope, ("a", [None, 2.0, [], Thing()])),
    Case("Linear", layer(), (2, NO_WHOLE), (1, NO_WHOLE), activation=(None, [2.0, "relu", Thing()])),
    Case("Linear of x", nn.Linear(2, 1, seed=0), (Vector([1.0, 2.0]),
         [None, 2.0, "ab", [1.0], [1.0, "2"], Vector([1.0]), Matrix([[1.0, 2.0]])])),
    Case("Sequential", nn.Sequential, (nn.Linear(1, 1, seed=0), [None, 2.0, "f", Thing()])),
    Case("load_state_dict", lambda state: nn.Linear(1, 1, seed=0).load_state_dict(state),
         (nn.Linear(1, 1, seed=1).state_dict(),
          [None, 2.0, "x", [], {}, {"weight": [[1.0]]}, {"weight": [[1.0]], "bias": ["2"]},
           {"weight": [[1.0, 2.0]], "bias": [1.0]}, {"weight": None, "bias": [1.0]}])),
    Case("mse_loss", nn.mse_loss, (Vector([1.0]), [None, "a", Thing()]),
         ([1.0], [None, "a", [1.0, 2.0], ["a"], Thing()])),
    Case("cross_entropy", nn.cross_entropy, (Vector([1.0, 2.0]), [None, "a", [], Thing()]),
         (0, [None, "a", 2, -1, 0.5, [1.0], ["a", "b"], Thing()])),
    Case("hinge_loss", nn.hinge_loss, (Vector([1.0]), [None, "a", Thing(), Vector([1.0, 2.0])]),
         (1, [None, "a", 0, 2, Thing()])),
    Case("binary_cross_entropy_with_logits", nn.binary_cross_entropy_with_logits,
         (Vector([1.0]), [None, "a", Thing(), Vector([1.0, 2.0])]),
         (1, [None, "a", 2, -1, math.nan, Thing()])),
    *[Case(name, getattr(optim, name), ([Value(1.0)], [*NO_VALUES, [], [X * 1.0]]),
           lr=(0.1, NO_SIZE)) for name in ("SGD", "Adagrad", "RMSprop", "Adam")],
    Case("fit", trained, ([[1.0], [2.0]], [None, 2.0, [], [[1.0]], [["a"], ["b"]]]),
         ([1.0, 2.0], [None, 2.0, [], [1.0], ["a", "b"]]), (nn.mse_loss, NO_FUNCTION),
         (1, NO_WHOLE), (1, NO_WHOLE[1:])),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_what_a_case_replaces_works_to_begin_with(case):
    case.call()


def state():
    """Everything about the nodes of the cases that a call could leave half changed."""
    return [(x.data, x.grad, x.label, x.parents, x.requires_grad) for x in (X, Y, Z)]


# Messages begin with the name of the function, or, for these, of the one that it is built on.
BORROWED = {"Value", "Vector", "Matrix", "adjoints", "steps"}
SPEAKING = {*ad.__all__, "abs", "sum"} - BORROWED


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_wrong_input_is_refused_in_words_and_changes_nothing(case):
    faults = []
    for i, wrong in case.wrong():
        before = state()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                result = case.call(i, wrong)
        except ERRORS as error:
            said = str(error)
            words = ["found", "missing", "outside the domain"]
            words += ["unsupported operand"] if "@" in case.name else []
            explained = any(word in said for word in words)
            explained = explained and (case.name not in SPEAKING or case.name in said)
            if not explained:
                faults.append(f"argument {i} = {wrong!r}: {type(error).__name__}: {said}")
        except Exception as error:
            faults.append(f"argument {i} = {wrong!r}: {type(error).__name__}: {error}")
        else:
            faults.append(f"argument {i} = {wrong!r}: no error, but {result!r}")
        if state() != before:
            faults.append(f"argument {i} = {wrong!r} left something changed")
    assert not faults, "\n".join(faults)


# -- Hostile labels -------------------------------------------------------------------------------

LABELS = [
    "\nimport os", '"', "'''", '"""', "{x|y}", "<b>", "&amp;", "</script><script>alert(1)</script>",
    "]]>", "-->", "\\", "\\n", "\\G", "${1}", "`", "\x00", "\u2028", "💥", "x" * 500, " ", "%s", "{}",
    "def", "__import__('os')",
]  # fmt: skip


def labelled(label):
    x, y = Value(2.0, label=label), Value(3.0, label=label)
    z = ad.log(x) * y
    z.label = label
    z.backward()
    return x, y, z


@pytest.mark.parametrize("label", LABELS, ids=ascii)
def test_a_label_is_text_and_nothing_else(label):
    x, y, z = labelled(label)
    ElementTree.fromstring(ad.draw(z, edges="message").pipe("svg", encoding="utf-8"))
    for options in ({}, {"xp": np}, {"xp": np, "batch": True}):
        program = Expression(z).compile([x], [y], **options)
        names = {node.id for node in ast.walk(ast.parse(program.source)) if hasattr(node, "id")}
        assert "os" not in names
        assert "__import__" not in names
        assert "alert" not in names
    frame = ad.show_steps(z)._repr_html_()
    page = html.unescape(re.search("srcdoc='([^']*)'", frame).group(1))
    assert "<script>alert" not in frame
    assert "<script>alert" not in page
    assert [step.node for step in ad.steps(z)]


@pytest.mark.parametrize("label", LABELS, ids=ascii)
def test_an_error_quotes_a_label_on_one_line(label):
    with pytest.raises(ValueError, match="outside the domain x > 0") as refused:
        ad.log(Value(-1.0, label=label))
    assert len(str(refused.value).splitlines()) == 1


# -- Infinities and nan ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*ONE, "asin", "acos"])
@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_a_function_of_infinity_or_nan_is_a_number_or_an_error_in_words(name, number):
    function = getattr(ad, name)
    for x in (number, Value(number), Dual(number, 1.0)):
        try:
            found = function(x)
        except (ValueError, OverflowError) as error:
            found = str(error)
        if isinstance(found, str):
            assert not math.isnan(number)
            assert re.search("outside the domain|too large|undefined", found)
        else:
            assert type(found) is type(x)
