"""The exercises: right answers in three spellings, every slip for its own hint, and nothing yet."""

import importlib
import inspect
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy

from autodiff import (
    Matrix,
    Value,
    Vector,
    check_gradients,
    grad,
    hessian,
    maximum,
    nn,
    operation,
    relu,
)
from autodiff.course import forward_mode, numeric_derivatives, reverse_mode, training
from autodiff.course.verdicts import ERROR, HINT, NO_RETURN
from autodiff.nn import Linear

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
LESSONS = [
    importlib.import_module(f"autodiff.course.{path.stem[3:]}")
    for path in sorted(NOTEBOOKS.glob("*.ipynb"))[1:]
]
CHECKS = {
    f"{number:02}.{name[6:]}": check
    for number, lesson in enumerate(LESSONS, start=1)
    for name, check in sorted(vars(lesson).items())
    if re.fullmatch(r"check_\d", name)
}

# -- Right answers --------------------------------------------------------------------------------


def counting(root):
    """The engine that waits until a node has all its messages, without recursion."""
    awaited, nodes = {root: 0}, [root]
    for node in nodes:
        for parent in node.parents:
            if parent not in awaited:
                awaited[parent] = 0
                nodes.append(parent)
            awaited[parent] += 1
        if node.parents:
            node.grad = 0.0
    root.grad, ready = 1.0, [root]
    for node in ready:
        reverse_mode.solution_3(node)
        for parent in node.parents:
            awaited[parent] -= 1
            if awaited[parent] == 0:
                ready.append(parent)


NUMBERS = {"01.2": 4e-10, "02.2": 39, "07.3": 2 / 25, "09.1": 16, "10.1": 15}
RIGHT = {  # two spellings beside our own; texts are programs, as those of slips are
    **{name: [np.array(x)[()], sympy.sympify(x)] for name, x in NUMBERS.items()},
    "01.1": ["(f(x - h) - f(x)) / -h", "f(x) / h - f(x - h) / h"],
    "01.3": ["g(complex(x, 1e-30)).imag * 1e30", "g(np.array(x + 1e-20j)).imag / 1e-20"],
    "02.1": ["(derivative(a) - a / b * derivative(b)) / b", "derivative(a) / b - a * derivative(b) / (b * b)"],
    "02.3": ["d, B", ["b", "d"], "b and d"],
    "03.1": [
        "(a.primal * a.tangent + b.primal * b.tangent) / z → (a * a + b * b).tangent / (2 * z)",
        "(a.primal * a.tangent + b.primal * b.tangent) / z → (((a + b) * (a + b) - a * b - a * b) / Pair(z, 0.0)).tangent / 2",
    ],
    "03.2": [
        "(x[0], x[1]) if isinstance(x, tuple) and x[2] == tag else (x, 0)",
        "(x.primal, x.tangent) if getattr(x, 'tag', None) == tag else (x, 0.0)",
    ],
    "03.3": [{key: list(task) for key, task in forward_mode.solution_3().items()}, {key: (mode.title(), n) for key, (mode, n) in forward_mode.solution_3().items()}],
    "04.1": [[7, 2], np.array([7, 2])],
    "04.2": ["(math.tanh(x), lambda grad: (grad / math.cosh(x) ** 2,))", "(math.tanh(x), lambda grad: (grad - grad * math.tanh(x) ** 2,))"],
    "04.3": [
        "parent.grad += message → parent.grad = parent.grad + message",
        "parent, message in zip(node.parents, node.closure(node.grad)) → i, message in enumerate(node.closure(node.grad))\n"
        "parent.grad → node.parents[i].grad",
    ],
    "04.4": ["list(found) → found", "found = {} → found = []\nfound[node] = None → found.append(node)\nnode.parents → node.parents[::-1]"],
    "04.5": [counting, "node.grad = 0.0 → node.grad -= node.grad\nroot.grad = 1.0 → nodes[-1].grad = 1.0\nreversed(nodes) → nodes[::-1]"],
    "04.6": [
        "parameter.grad = 0.0 → pass\nbackward(loss) → [setattr(p, 'grad', 0.0) for p in parameters]; backward(loss)",
        "return parameters, losses → return list(parameters), tuple(losses)",
    ],
    "05.3": [
        "(abs(x) + softplus(-2 * abs(x)) - math.log(2.0), lambda grad: (tanh(x) * grad,))",
        "(softplus(-2 * x) + x - math.log(2), lambda g: (g * (1 - 2 / (1 + exp(2 * x)) if x < 300 else g),))",
    ],
    "05.1": [
        "(grad * (p / x) ** 2, grad * (p / y) ** 2) → (grad * y * y / (x + y) ** 2, grad * x * x / (x + y) ** 2)",
        "x * y / (x + y) → x / (x + y) * y\n(p / x) ** 2 → p * p / (x * x)\n(p / y) ** 2 → p / y * p / y",
    ],
    "05.2": [[3, 1], (np.float64(3.0), 1)],
    "06.2": [
        "[[r * each / np.linalg.norm(a @ x - b) for each in x] for r in a @ x - b]",
        "(a @ x - b)[:, None] * x / np.sqrt(((a @ x - b) ** 2).sum())",
    ],
    "06.1": ["[np.eye(len(a)) @ b.T, a.T @ np.eye(len(a))]", "(np.transpose(b), np.transpose(a))"],
    "06.3": ["list(2 * (a.T @ a @ x - a.T @ b))", "tuple(2 * (a @ x - b) @ a)"],
    "07.1": [
        "self.weight @ x + self.bias → Vector([row @ x + b for row, b in zip(self.weight, self.bias)])\n"
        "z.map(self.activation) → Vector([self.activation(sum) for sum in z])",
        "Vector([0.0] * n_out) → Vector(np.zeros(n_out))\n"
        "self.weight @ x + self.bias → self.bias + self.weight @ x\nz.map(self.activation) → self.activation(z)",
    ],
    "07.2": [
        "{i for i, (w, b) in enumerate(zip(weight, bias)) if max(w * x + b for x in inputs) <= 0}",
        "np.flatnonzero((np.outer(inputs, weight) + bias).max(axis=0) <= 0)",
    ],
    "08.2": [0.238, np.float64(2 / 8.405)],
    "08.1": [
        "for x, y in zip(inputs, targets): → if True:\n"
        "(nn.mse_loss(model(x), y) / len(inputs)) → nn.mse_loss([model(x)[0] for x in inputs], targets)",
        "model.zero_grad() →\n/ len(inputs) →\np.data -= lr * p.grad → p.data -= lr / len(inputs) * p.grad; p.grad = 0.0",
    ],
    "08.4": ["((prediction[0] - target) ** 2 + 0.01) ** 0.5", "8 - relu(8 - abs(prediction - target).sum())"],
    "08.3": [
        "(s**0.5 + 1e-8) → (s + 1e-16) ** 0.5",
        "self.m[i] / → (1 - 0.999**self.t) ** 0.5 * self.m[i] /\ns = self.s[i] / (1 - 0.999**self.t) → s = self.s[i]\n1e-8 → 1e-10",
    ],
    "09.2": [
        "minimum(abs(x), 1) * abs(x) - minimum(abs(x), 1) ** 2 / 2",
        "less(1, abs(x)) * (abs(x) - 0.5) + (1 - less(1, abs(x))) * x * x / 2",
    ],
    "09.3": ["f(x).backward(create_graph=True) → slope = grad(f)(x)\nx.grad → slope", "f(x). → (f(x) + 1.0)."],
    "10.2": [
        "h_bar @ x.T → np.einsum('in,jn->ij', h_bar, x)\nnp.where(h > 0, r_bar, 0.0) → r_bar * (h > 0)\nerror_bar.sum() → 2 * error.sum()",
        "return error * error, (W_bar, b_bar, v_bar, c_bar) → W *= 2; x *= 2; return error * error, [W_bar, b_bar, v_bar, c_bar]",
    ],
    "10.3": [
        "ad.sum([a * x**k for k, a in enumerate(coefficients)])",
        "coefficients @ Vector([x**k for k in range(len(coefficients))])",
        "sum(a * x**k for k, a in enumerate(coefficients))",  # in normal form a dot
    ],
}  # fmt: skip


def spelled(check, answer):
    """The program of a text, which changes something in our answer, or any other answer as it is."""
    if isinstance(answer, str) and "→" in answer:
        source = inspect.getsource(check.solution)
        assert all(change.split("→")[0].strip() in source for change in answer.split("\n")), answer
    return check.program(answer)


@pytest.mark.parametrize("name", CHECKS)
def test_right_answers_in_three_spellings_are_praised(name):
    check = CHECKS[name]
    for answer in [check.solution, *RIGHT[name]]:
        right, text, _ = check.verdict(spelled(check, answer))
        assert right, (answer, text)
    parts = [part for point in check.at.values() for part in check._expected(point)]
    assert not [text for name, text in parts if name in (HINT, ERROR)], "our own answer fails"


@pytest.mark.parametrize("name", CHECKS)
def test_every_slip_gets_its_own_hint(name):
    check = CHECKS[name]
    for hint, slips in check.slips.items():
        for slip in slips:
            program = check.program(slip)
            points = list(check.at.values())[:20]  # of thousands
            parts = [part for point in points for part in check._parts(program, point)]
            errors = [text for name, text in parts if name == ERROR]
            assert not any(x.startswith(("NameError", "AttributeError: module")) for x in errors)
            right, text, said = check.verdict(program)
            assert not right
            assert said == hint, text
            assert "{" not in text


@pytest.mark.parametrize("name", CHECKS)
def test_nothing_yet(name):
    check = CHECKS[name]
    blank = [..., None]
    if inspect.isfunction(check.solution):
        *names, _ = [*inspect.signature(check.solution).parameters, ""]
        dots = ("...", "None") if check.returns else ("None",)
        blank += [eval(f"lambda {', '.join(names)}: {each}") for each in dots]
    for answer in blank:
        right, text, _ = check.verdict(answer)
        assert not right
        assert "othing here yet" in text


# -- What real people write ------------------------------------------------------------------------


def engine(a, x, b):
    weights = Matrix(a)
    (weights @ Vector(x) - Vector(b)).norm().backward()
    return weights.grad


class Wrapped(nn.Module):
    def __init__(self, *sizes, **settings):
        self.inner = Linear(*sizes, **settings)
        self.weight, self.bias = self.inner.weight, self.inner.bias

    def forward(self, x):
        return self.inner(x)


ATTEMPTS = [  # an answer, and what the verdict says
    ("01.1", 0.5, "Expected a function, `def answer(f, x, h):`, found a float"),
    ("01.1", "print(f(x))", NO_RETURN),
    ("01.1", "f", "That is a function. Call it"),
    ("01.1", "f(x - h)", "At t³ at 2 with h = 0.25 the result should be 10.5625, not 5.35938"),
    ("01.2", math.nan, "A step is a positive number"),
    ("01.3", "(g(x + 1e-5) - g(x - 1e-5)) / 2e-5", "a difference loses digits"),
    ("01.3", "g(x + 1e-20j).imag", "divide by h"),
    ("01.3", "(g(x + 1e-20) - g(x)) / 1e-20", "so small a step is lost in x"),
    ("01.3", "g(x + 1e-20j) / 1e-20", "You need only one of its two parts"),
    ("02.1", "0.26", "Return a formula, a Node: found a float."),
    ("02.3", "none", "letters out of a, b, c and d"),
    ("03.1", "(a.primal * a.tangent + b.primal * b.tangent) / z → "
             "(math.hypot(a.primal + 1e-6 * a.tangent, b.primal + 1e-6 * b.tangent) - z) / 1e-6", "Close, but not exact"),
    ("03.1", "math.hypot(a.primal, b.primal)", "Expected a Pair, found a float"),
    ("03.3", {"a": ("forward", 1), "b": (..., ...), "c": ..., "d": (..., ...)}, "Right so far: a. Nothing here yet: b, c, d."),
    ("03.3", {"a": (..., ...), "b": ("forward", 10_000), "c": ..., "d": ...}, "b: that works, but"),
    ("03.3", forward_mode.solution_3() | {"c": ("reverse", 40)}, "c: forward mode pays for inputs"),
    ("03.3", forward_mode.solution_3() | {"a": ("onward", 1)}, "a: expected a pair"),
    ("03.3", dict.fromkeys("abcd", 1), "a: expected a pair"),
    ("04.1", (..., 7.0), "w = u * b uses b as well"),
    ("04.1", "72", "Expected two numbers"),
    ("04.2", "math.tanh(x)", "Return a pair: the result, and the closure."),
    ("04.2", "(math.tanh(x), lambda grad: grad * 0.5)", "Mind the comma"),
    ("04.3", "parent.grad += message → grad = parent.grad; grad += message", "No grad has changed"),
    ("04.4", "{*order(root)}", "Expected a list of the nodes, found a set"),
    ("04.4", "[x.data for x in order(root)]", "the nodes themselves"),
    ("04.5", "root.backwards()", "Your code raises AttributeError"),
    ("04.6", lambda *_: Value(1.0).bakward(), "Your code raises AttributeError"),
    ("04.6", "[1.0] * steps", "Return the parameters (four nodes)"),
    ("05.1", "(x * y / (x + y), lambda grad: (grad,))", "a tuple of two messages"),
    ("05.3", "(log(cosh(x)), lambda grad: (grad * x,))", "should be 0.462117, not 0.5"),
    ("05.3", "(math.log(math.cosh(x)), lambda grad: (grad * tanh(x),))", "the result overflows"),
    ("06.2", engine, "That is the engine's answer"),
    ("06.2", "np.outer(x, a @ x - b)[:1]", "The shape should be (3, 3), not (1, 3)."),
    ("06.1", "b.T", "Return two arrays"),
    ("07.1", nn.Linear, "Write your own"),
    ("07.1", Wrapped, "Write your own"),
    ("07.3", "0.08", "Expected one number, found a str"),
    ("07.3", 0.5, "by 6.25, not by 1"),
    ("07.2", "2", "Return the numbers of the dead neurons"),
    ("07.2", "[weight]", "Expected a list of numbers of neurons"),
    ("08.2", 0.26, "diverges, and so do smaller ones"),
    ("08.4", "0 * prediction[0] if abs(target) > 5 else nn.mse_loss(prediction, target)", "a loss does not know which points are wrong"),
    ("08.4", "Value(1.0)", "depends on none of the optimizer's parameters"),
    ("09.2", "x.data", "Expected a Value, found a float"),
    ("09.3", "lambda x: f(x)", "Expected a Program"),
    ("10.2", "W @ (... * x)", "still computes with the dots"),
    ("10.3", "ad.sum([a * ad.exp(k * ad.log(x)) for k, a in enumerate(coefficients)])", "log: x = -0.7"),
    ("10.3", "ad.dot(coefficients, [x.data**k for k in range(len(coefficients))]) + 0 * x", "takes a number out of the graph"),
    ("10.3", "Vector([a * x**k for k, a in enumerate(coefficients)])", "Expected a Value, found a Vector"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "answer", "said"), ATTEMPTS)
def test_a_real_attempt_is_answered_as_such(name, answer, said):
    check = CHECKS[name]
    right, text, _ = check.verdict(spelled(check, answer))
    assert not right
    assert said in text
    assert "othing here yet: put" not in text


# -- What the checks take for granted ----------------------------------------------------------------


def test_the_best_steps_are_where_the_check_says():
    """Their error is at most five times the least."""
    x = np.linspace(0.5e-4, 1.5e-4, 101)

    def error(h):
        rise = np.sin(1e4 * (x + h)) - np.sin(1e4 * (x - h))
        return np.median(abs(rise / (2 * h) - 1e4 * np.cos(1e4 * x)))

    least = min(map(error, np.logspace(-11, -8, 61)))
    inside = np.geomspace(numeric_derivatives.LOW, numeric_derivatives.HIGH, 9)
    assert all(error(h) <= 5 * least for h in inside)
    assert all(error(h) > 5 * least for h in (inside[0] / 4, inside[-1] * 4))


def test_the_curvatures_are_those_of_the_loss():
    curved = hessian(lambda p: nn.mse_loss([p[0] * x + p[1] for x in training.XS], training.YS))
    assert np.allclose(curved([0.0, 0.0]), training.bowl)


def test_the_rule_to_mend_passes_where_everything_is_symmetric():
    check = CHECKS["05.1"]
    stub = check.program(next(iter(check.slips.values()))[0])
    check_gradients(operation(stub), 3.0, 3.0)
    with pytest.raises(AssertionError):
        check_gradients(operation(stub), 3.0, 6.0)


def test_the_prediction_is_what_the_package_says():
    f = lambda x, y: maximum(x, y) * x + 3 * relu(x - y)  # noqa: E731
    assert grad(f, argnums=(0, 1))(2.0, 2.0) == CHECKS["05.2"].solution


# -- What is imported when ---------------------------------------------------------------------------


def test_the_package_imports_no_course_and_figures_what_they_draw_with_when_they_draw():
    names = ", ".join(lesson.__name__ for lesson in LESSONS)
    code = f"""import sys, autodiff.nn
assert 'autodiff.course' not in sys.modules
import {names}
assert not {{'matplotlib', 'sklearn', 'IPython', 'PIL'}} & {{*sys.modules}}"""
    subprocess.run([sys.executable, "-c", code], check=True)
