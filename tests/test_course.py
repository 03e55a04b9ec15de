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
    Expression,
    Value,
    Vector,
    check_gradients,
    exp,
    grad,
    hessian,
    less,
    maximum,
    minimum,
    nn,
    operation,
    relu,
    softplus,
    sqrt,
    sum,
    tanh,
)
from autodiff.course import numeric_derivatives, reverse_mode, symbolic_derivatives, training
from autodiff.course.verdicts import ERROR, HINT, NO_RETURN, Exercise, empty, solutions, wrapped

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
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


def by_stack(root):
    found, stack = {}, [root]
    while stack:
        node = stack.pop()
        if node is None:
            found[stack.pop()] = None
        elif node not in found:
            stack += [node, None, *node.parents]
    return found  # the keys of a dict are a list, nearly


def in_a_list(root, found=None):
    found = [] if found is None else found
    if root not in found:
        for parent in root.parents:
            in_a_list(parent, found)
        found.append(root)
    return found


def send_by_index(node):
    messages = node.closure(node.grad)
    for i in range(len(node.parents)):
        node.parents[i].grad = node.parents[i].grad + messages[i]


def send_with_iter(node):
    messages = iter(node.closure(node.grad))
    for parent in node.parents:
        parent.grad += next(messages)


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
        send_by_index(node)
        for parent in node.parents:
            awaited[parent] -= 1
            if awaited[parent] == 0:
                ready.append(parent)


def backward_by_stack(root):
    nodes = list(by_stack(root))
    for node in nodes:
        node.grad = node.grad if not node.parents else 0.0
    nodes[-1].grad = 1.0
    for node in nodes[::-1]:
        send_with_iter(node)


def clears_first(points, steps=300, rate=0.02):
    source = inspect.getsource(reverse_mode.solution_6).replace(
        "            parameter.grad = 0.0\n", ""
    )
    source = source.replace(
        "        backward", "        for x in parameters: x.grad = 0.0\n        backward"
    )
    exec(source, vars(reverse_mode), made := {})
    return made["solution_6"](points, steps, rate)


def with_tuples(points, steps=300, rate=0.02):
    parameters, losses = reverse_mode.solution_6(points, steps, rate)
    return list(parameters), tuple(losses)


def by_all_four_operators(a, b):
    """From ((a + b)² - ab - ab) / z, with the number z as a constant."""
    pair = type(a)
    z = pair(math.hypot(a.primal, b.primal), 0.0)
    return pair(z.primal, (((a + b) * (a + b) - a * b - a * b) / z).tangent / 2)


def by_the_square(a, b):
    z = math.hypot(a.primal, b.primal)
    return type(a)(z, (a * a + b * b).tangent / (2 * z))


def of_abs(x):
    return abs(x) + softplus(-2 * abs(x)) - math.log(2.0), lambda grad: (tanh(x) * grad,)


def of_a_quotient(x, y):
    p = x * y / (x + y)
    return p, lambda grad: (grad * y * y / (x + y) ** 2, grad * x * x / (x + y) ** 2)


def of_p_alone(x, y):
    p = x / (x + y) * y
    return p, lambda grad: (grad * p * p / (x * x), grad * p / y * p / y)


class RowByRow(nn.Module):
    def __init__(self, n_in, n_out, activation=None, seed=None):
        import random

        import autodiff

        generator = random.Random(seed)
        self.weight = autodiff.Matrix(nn.he_normal(n_in, n_out, generator))
        self.bias = autodiff.Vector(np.zeros(n_out))
        self.bend = activation or (lambda z: z)

    def forward(self, x):
        return Vector([self.bend(row @ x + b) for row, b in zip(self.weight, self.bias)])


class Positional(nn.Module):
    def __init__(self, n_in, n_out, activation=None, seed=None):
        made = nn.Linear(n_in, n_out, activation=activation, seed=seed)
        self.weight, self.bias, self.activation = made.weight, made.bias, activation

    def forward(self, x):
        z = self.bias + self.weight @ x
        return z if self.activation is None else self.activation(z)


def closed_to_all(weight, bias, inputs):
    layer = nn.Linear(1, len(weight), activation=relu)
    layer.load_state_dict({"weight": [[w] for w in weight], "bias": bias})
    return {i for i in range(len(bias)) if not any(layer([x]).data[i] for x in inputs)}


def closed_by_arrays(weight, bias, inputs):
    sums = np.outer(inputs, weight) + bias
    return np.flatnonzero(sums.max(axis=0) <= 0)


class RateInVelocity:
    def __init__(self, params, lr, momentum=0.0):
        self.velocities = dict.fromkeys(params, 0.0)
        self.lr, self.momentum = lr, momentum

    def zero_grad(self):
        for p in self.velocities:
            p.grad = 0.0

    def step(self):
        for p, v in self.velocities.items():
            self.velocities[p] = self.momentum * v + self.lr * p.grad
            p.data -= self.velocities[p]


class InsideTheRoot(RateInVelocity):
    def __init__(self, params, lr):
        super().__init__(params, lr)
        self.means, self.t = dict.fromkeys(params, (0.0, 0.0)), 0

    def step(self):
        self.t += 1
        for p, (m, s) in self.means.items():
            self.means[p] = m, s = 0.9 * m + 0.1 * p.grad, 0.999 * s + 0.001 * p.grad**2
            root = math.sqrt(s / (1 - 0.999**self.t) + 1e-16)
            p.data -= self.lr / root * m / (1 - 0.9**self.t)


class OneRate(InsideTheRoot):
    def step(self):
        self.t += 1
        rate = self.lr * math.sqrt(1 - 0.999**self.t) / (1 - 0.9**self.t)
        for p, (m, s) in self.means.items():
            self.means[p] = m, s = m + 0.1 * (p.grad - m), s + 0.001 * (p.grad**2 - s)
            p.data = p.data - rate * m / (math.sqrt(s) + 1e-10)


def total(model, inputs, targets, lr):
    model.zero_grad()
    nn.mse_loss([model(x)[0] for x in inputs], targets).backward()
    for p in model.parameters():
        p.data = p.data - lr * p.grad


def cleared_after(model, inputs, targets, lr):
    for x, y in zip(inputs, targets):
        nn.mse_loss(model(x), y).backward()
    for p in model.parameters():
        p.data -= lr / len(inputs) * p.grad
    model.zero_grad()


def clipped(x):
    m = minimum(abs(x), 1)
    return m * abs(x) - m * m / 2


def masked(x):
    return less(1, abs(x)) * (abs(x) - 0.5) + (1 - less(1, abs(x))) * x * x / 2


def by_grad(f, at):
    x = Value(at)
    return Expression(grad(f)(x)).compile([x], wrt=[x])


def by_jvp(function):
    from autodiff import jvp

    return lambda x: jvp(function, (x,), (1.0,))[1]


def by_einsum(x, t, W, b, v, c):  # noqa: N803
    h = W @ x + b[:, None]
    error = v @ np.maximum(h, 0) + c - t
    h_bar = np.outer(v, 2 * error) * (h > 0)
    gradients = np.einsum("in,jn->ij", h_bar, x), h_bar.sum(1), 2 * np.maximum(h, 0) @ error
    return error**2, (*gradients, 2 * error.sum())


def in_place(*given):
    losses, gradients = by_einsum(*given)
    for array in given[:5]:
        array *= 2
    return losses, list(gradients)


derivative = symbolic_derivatives.derivative
RIGHT = {  # two spellings beside our own
    "01.1": [lambda f, x, h: (f(x - h) - f(x)) / -h, lambda f, x, h: f(x) / h - f(x - h) / h],
    "01.2": [4e-10, np.float64(1e-9)],
    "01.3": [
        lambda g, x: g(complex(x, 1e-30)).imag * 1e30,
        lambda g, x: g(np.array(x + 1e-20j)).imag / 1e-20,
    ],
    "02.1": [
        lambda a, b: (derivative(a) - a / b * derivative(b)) / b,
        lambda a, b: derivative(a) / b - a * derivative(b) / (b * b),
    ],
    "02.2": [np.int64(39), sympy.Integer(39)],
    "02.3": ["d, B", ["b", "d"]],
    "03.1": [by_the_square, by_all_four_operators],
    "03.2": [lambda f, x: by_jvp(by_jvp(f))(x), lambda f, x: by_jvp(lambda t: 2 * by_jvp(f)(t))(x) / 2],
    "03.3": [{key: list(task) for key, task in LESSONS[2].solution_3().items()}, {**LESSONS[2].solution_3(), "e": 1}],
    "04.1": [[7, 2], (np.float64(7), 2.0)],
    "04.2": [
        lambda x: (math.tanh(x), lambda grad: (grad / math.cosh(x) ** 2,)),
        lambda x: (math.tanh(x), lambda grad: (grad - grad * math.tanh(x) ** 2,)),
    ],
    "04.3": [send_by_index, send_with_iter],
    "04.4": [by_stack, in_a_list],
    "04.5": [counting, backward_by_stack],
    "04.6": [clears_first, with_tuples],
    "05.1": [of_abs, lambda x: (softplus(-2 * x) + x - math.log(2), lambda g: (g * (1 - 2 / (1 + exp(2 * x)) if x < 300 else g),))],
    "05.2": [of_a_quotient, of_p_alone],
    "05.3": [[3, 1], (np.float64(3.0), 1)],
    "06.1": [
        lambda a, x, b: [[r * each / np.linalg.norm(a @ x - b) for each in x] for r in a @ x - b],
        lambda a, x, b: (a @ x - b)[:, None] * x / np.sqrt(((a @ x - b) ** 2).sum()),
    ],
    "06.2": [lambda a, b: [np.eye(len(a)) @ b.T, a.T @ np.eye(len(a))], lambda a, b: (np.transpose(b), np.transpose(a))],
    "06.3": [lambda a, x, b: list(2 * (a.T @ a @ x - a.T @ b)), lambda a, x, b: tuple(2 * (a @ x - b) @ a)],
    "07.1": [RowByRow, Positional],
    "07.2": [2 / 25, np.float64(0.08)],
    "07.3": [closed_to_all, closed_by_arrays],
    "08.1": [0.238, np.float64(2 / 8.405)],
    "08.2": [total, cleared_after],
    "08.3": [
        lambda p, t: sqrt((p[0] - t) ** 2 + 0.01),
        lambda p, t: minimum(abs(p - t).sum(), 8),
    ],
    "08.4": [InsideTheRoot, OneRate],
    "09.1": [clipped, masked],
    "09.2": [np.int64(16), sympy.Integer(16)],
    "09.3": [by_grad, lambda f, at: by_grad(lambda x: f(x) + 1.0, at)],
    "10.1": [np.int64(15), sympy.Integer(15)],
    "10.2": [by_einsum, in_place],
    "10.3": [
        lambda c, x: sum([a * x**k for k, a in enumerate(c)]),
        lambda c, x: c @ Vector([x**k for k in range(len(c))]),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", CHECKS)
def test_right_answers_in_three_spellings_are_praised(name):
    check = CHECKS[name]
    for answer in [check.solution, *RIGHT[name]]:
        right, text, _ = check.verdict(answer)
        assert right, text
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


def forgets_return(root):
    [*reverse_mode.order(root)]


def rebinds(node):
    for parent, message in zip(node.parents, node.closure(node.grad)):
        grad = parent.grad
        grad += message


def nudged(a, b, h=1e-6):
    z = math.hypot(a.primal, b.primal)
    moved = math.hypot(a.primal + h * a.tangent, b.primal + h * b.tangent)
    return type(a)(z, (moved - z) / h)


ATTEMPTS = [  # an answer, and what the verdict says
    ("01.1", 0.5, "Expected a function, `def answer(f, x, h):`, found a float"),
    ("01.1", lambda f, x, h: print(f(x)), NO_RETURN),
    ("01.1", lambda f, x, h: str(f(x)), "Expected a number, found a str"),
    ("01.1", lambda f, x, h: f, "That is a function. Call it"),
    ("01.1", lambda f, x, h: f(x - h), "At t³ at 2 with h = 0.25 the result should be 10.5625, not 5.35938"),
    ("01.2", math.nan, "A step is a positive number"),
    ("01.3", lambda g, x: (g(x + 1e-5) - g(x - 1e-5)) / 2e-5, "a difference loses digits"),
    ("01.3", lambda g, x: g(x + 1e-20j) / 1e-20, "You need only one of its two parts"),
    ("02.1", lambda a, b: 0.26, "every part is a Node, and here is 0.26"),
    ("02.2", 39.0, "Expected an integer, found a float"),
    ("02.3", "none", "letters out of a, b, c and d"),
    ("03.1", nudged, "loses digits"),
    ("03.1", lambda a, b: math.hypot(a.primal, b.primal), "Expected a Pair, found a float"),
    ("03.3", {"a": ("forward", 1), "b": (..., ...), "c": ..., "d": (..., ...)}, "Right so far: a. Nothing here yet: b, c, d."),
    ("03.3", {"a": (..., ...), "b": ("forward", 10_000), "c": ..., "d": ...}, "b: that works, but"),
    ("03.3", {"a": 1, "b": 1, "c": 1, "d": 1}, "a: expected a pair"),
    ("04.1", (7.0, ...), "Right so far: u. Nothing here yet: b."),
    ("04.1", (..., 7.0), "w = u * b uses b as well"),
    ("04.1", "72", "Expected two numbers"),
    ("04.2", math.tanh, "Return a pair: the result, and the closure."),
    ("04.2", lambda x: (math.tanh(x), lambda grad: grad * 0.5), "Mind the comma"),
    ("04.3", rebinds, "No grad has changed"),
    ("04.4", forgets_return, NO_RETURN),
    ("04.4", lambda root: {*reverse_mode.order(root)}, "Expected a list of the nodes, found a set"),
    ("04.4", lambda root: [x.data for x in reverse_mode.order(root)], "the nodes themselves"),
    ("04.5", lambda root: root.backward(), "Your code raises AttributeError"),
    ("04.6", lambda points, steps, rate: [1.0] * steps, "Return the parameters (four nodes)"),
    ("05.2", lambda x, y: (x * y / (x + y), lambda grad: (grad,)), "a tuple of two messages"),
    ("06.1", lambda a, x, b: np.outer(x, a @ x - b)[:1], "The shape should be (3, 3), not (1, 3)."),
    ("06.2", lambda a, b: b.T, "Return two arrays"),
    ("07.2", "0.08", "Expected one number, found a str"),
    ("07.2", 0.5, "by 6.25, not by 1"),
    ("07.3", lambda w, b, x: 2, "Return the numbers of the dead neurons"),
    ("07.3", lambda w, b, x: [w], "Expected a list of numbers of neurons"),
    ("08.1", 0.26, "diverges, and so do smaller ones"),
    ("08.3", lambda p, t: Value(1.0), "depends on none of the optimizer's parameters"),
    ("09.1", lambda x: x.data, "Expected a Value, found a float"),
    ("09.3", lambda f, at: lambda x: f(x), "Expected a Program"),
    ("10.2", lambda x, t, w, b, v, c: w @ (... * x), "still computes with the dots"),
    ("10.3", lambda c, x: Vector([a * x**k for k, a in enumerate(c)]), "Expected a Value, found a Vector"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "answer", "said"), ATTEMPTS)
def test_a_real_attempt_is_answered_as_such(name, answer, said):
    right, text, _ = CHECKS[name].verdict(answer)
    assert not right
    assert said in text
    assert "othing here yet: put" not in text


def test_only_the_dots_are_nothing():
    assert empty(lambda node: None)
    assert empty(type("Class", (), {"__init__": rebinds, "step": lambda self: None}))
    assert not empty(rebinds)
    assert not empty(lambda: 5)
    assert not empty(type("Class", (), {"zero_grad": lambda self: None, "step": rebinds}))
    assert empty([(..., None), {"a": ...}])
    assert not empty([])
    assert not empty((..., 7.0))


def test_a_close_number_is_told_with_digits_enough():
    check = Exercise(lambda x: x / 3, at=[(1.0,)], slips={}, praise="Right.")
    assert "should be 0.333333333, not 0.333333334" in check.verdict(lambda x: x / 3 + 1e-9).text


def test_an_array_is_told_where_it_differs():
    check = Exercise(lambda n: np.eye(n), at=[(2,)], slips={}, praise="Right.")
    said = check.verdict(lambda n: np.array([[1.0, 0.0], [5.0, 1.0]])).text
    assert said == "At n = 2 the result[1, 0] should be 0, not 5."


def test_a_hint_fits_the_page_and_keeps_its_line_breaks():
    said = wrapped(
        "A short line.\n\n    kept(as_it, stands)\n" + "and on, " * 20 + "x" * 100
    ).split("\n")
    assert said[:3] == ["A short line.", "", "    kept(as_it, stands)"]
    assert [len(line) <= 90 for line in said] == [True] * (len(said) - 1) + [False]


def test_a_solution_is_its_code(capsys):
    show = solutions({"solution_1": forgets_return})
    show(1)
    assert "reverse_mode.order(root)" in capsys.readouterr().out
    show(4)
    assert "only [1]" in capsys.readouterr().out


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
    check = CHECKS["05.2"]
    stub = check.program(next(iter(check.slips.values()))[0])
    check_gradients(operation(stub), 3.0, 3.0)
    with pytest.raises(AssertionError):
        check_gradients(operation(stub), 3.0, 6.0)


def test_the_prediction_is_what_the_package_says():
    f = lambda x, y: maximum(x, y) * x + 3 * relu(x - y)  # noqa: E731
    assert grad(f, argnums=(0, 1))(2.0, 2.0) == CHECKS["05.3"].solution


# -- What is imported when ---------------------------------------------------------------------------


def test_the_package_imports_no_course_and_figures_what_they_draw_with_when_they_draw():
    names = ", ".join(lesson.__name__ for lesson in LESSONS)
    code = f"""import sys, autodiff.nn
assert 'autodiff.course' not in sys.modules
import {names}
assert not {{'matplotlib', 'sklearn', 'IPython', 'PIL'}} & {{*sys.modules}}"""
    subprocess.run([sys.executable, "-c", code], check=True)
