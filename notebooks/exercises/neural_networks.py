"""The exercises of notebook 7: a layer, two optimisers, and the weights for another activation."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from numbers import Real
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
from autodiff import Matrix, Value, Vector, tanh
from autodiff.nn import Linear, Module, he_normal
from autodiff.optim import SGD, Adagrad, Adam, Optimizer, RMSprop

from . import NOTHING, Check, Hint, solutions


@contextmanager
def forbidden(*kinds: type) -> Iterator[None]:
    """Making an instance of one of these classes in the block raises a hint."""

    def refuse(self: Any, *args: Any, **named: Any) -> None:
        raise Hint(f"That is the package's {type(self).__name__}. Write your own without it.")

    patches = [patch.object(kind, "__init__", refuse) for kind in kinds]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()


def own_class(answer: Any, base: type) -> None:
    """A hint unless the answer is a class, and neither the package's nor derived from it."""
    if not isinstance(answer, type):
        raise Hint(f"Expected the class itself, found {answer!r}.")
    if issubclass(answer, base):
        raise Hint(f"That is the package's, or derived from its {base.__name__}. Write your own.")


# -- 1. Linear -----------------------------------------------------------------------------------


@Check
def check_1(answer: Any) -> str:
    """A layer like `Linear`: the same parameters, results and gradients."""
    own_class(answer, Linear)
    if not issubclass(answer, Module):
        raise Hint("Derive the class from Module, which finds its parameters.")
    with forbidden(Linear):
        for seed in (7, 8):
            layer = answer(3, 2, activation=tanh, seed=seed)
            compare_parameters(layer, he_normal(3, 2, Random(seed)))
        plain = answer(1, 4, seed=2)
    bent, unbent = Linear(3, 2, activation=tanh), Linear(1, 4)
    for ours, theirs, numbers in ((bent, layer, [1.0, -2.0, 0.5]), (unbent, plain, [3.0])):
        biases = [0.3, -0.2, 0.1, 0.7][: ours.out_features]
        ours.load_state_dict({"weight": theirs.weight.data, "bias": biases})
        theirs.load_state_dict(ours.state_dict())
        with forbidden(Linear):
            compare_results(theirs, ours, numbers)
    return "Right: the parameters, the result and every gradient are those of Linear."


def compare_parameters(layer: Any, weights: list[list[float]]) -> None:
    """A hint unless the layer starts with these weights and with biases of 0."""
    weight, bias = getattr(layer, "weight", None), getattr(layer, "bias", None)
    if weight is ... and bias is ...:
        raise Hint(NOTHING)
    if not isinstance(weight, Matrix):
        raise Hint("self.weight should be a Matrix: Matrix(rows) makes Values of the numbers.")
    if weight.shape == (3, 2):
        raise Hint("The weights have shape (n_in, n_out). One row for each neuron: (n_out, n_in).")
    if weight.shape != (2, 3):
        raise Hint(f"For n_in = 3, n_out = 2 the weights should have shape (2, 3): {weight.shape}")
    if not isinstance(bias, Vector):
        raise Hint("self.bias should be a Vector: Vector([0.0, ...]), one 0 for each neuron.")
    if len(bias) != 2:
        raise Hint(f"For n_out = 2 there should be 2 biases, one for each neuron, not {len(bias)}.")
    if any(bias.data):
        raise Hint("The biases should start at 0.")
    if weight.data != weights:
        raise Hint("The weights should be those of he_normal(n_in, n_out, Random(seed)).")
    if len(layer.parameters()) != 8:
        raise Hint(
            f"parameters() should find 6 weights and 2 biases, not {len(layer.parameters())}"
        )


def compare_results(layer: Any, ours: Linear, numbers: list[float]) -> None:
    """A hint unless both layers, which have the same parameters, give equal results and gradients."""
    try:
        out = layer(Vector(numbers))
    except TypeError as error:
        if "NoneType" in str(error) and ours.activation is None:
            raise Hint("With activation=None the sum should be returned as it is.") from error
        raise
    if out is ... or out is None:
        raise Hint(NOTHING if out is ... else "forward returns nothing: a return is missing.")
    if not isinstance(out, Vector) or len(out) != ours.out_features:
        raise Hint(f"forward should return a Vector of {ours.out_features}: found {out!r}")
    bend, b = ours.activation or (lambda z: z), np.array(ours.bias.data if ours.bias else 0.0)
    z = np.array(ours.weight.data) @ numbers
    known = {
        "The activation is missing.": z + b,
        "The bias is missing.": np.array([bend(each) for each in z]),
        "The bias belongs inside the activation.": np.array([bend(each) for each in z]) + b,
    }
    right = np.array([bend(each) for each in z + b])
    if not np.allclose(out.data, right):
        for text, wrong in known.items():
            if np.allclose(out.data, wrong):
                raise Hint(text)
        raise Hint(f"For x = {numbers} expected {right.round(4)}, found {np.round(out.data, 4)}.")
    found, expected = (gradients(each, numbers) for each in (layer, ours))
    for name in expected:
        if not np.allclose(found[name], expected[name]):
            raise Hint(
                f"The result is right, but the gradient of {name} is not: .data or float() "
                "on the way cuts it off."
            )


def gradients(layer: Any, numbers: list[float]) -> dict[str, Any]:
    """The gradients of the sum of squares of a result."""
    x = Vector(numbers)
    layer.zero_grad()
    out = layer(x)
    (out * out).sum().backward()
    return {"weight": layer.weight.grad, "bias": layer.bias.grad, "x": x.grad}


class Layer(Module):
    """Our answer: activation(weight @ x + bias)."""

    def __init__(
        self,
        n_in: int,
        n_out: int,
        activation: Callable[[Any], Any] | None = None,
        seed: int | None = None,
    ) -> None:
        self.weight = Matrix(he_normal(n_in, n_out, Random(seed)))
        self.bias = Vector([0.0] * n_out)
        self.activation = activation

    def forward(self, x: Any) -> Any:
        z = self.weight @ x + self.bias
        return z.map(self.activation) if self.activation else z


solution_1 = Layer


# -- 2 and 3. Optimisers ---------------------------------------------------------------------------

Path = list[list[float]]
START, CURVATURES, STEPS = [-8.0, 2.0], [0.1, 2.0], 12


def walked(make: Callable[[list[Value]], Any]) -> Path:
    """Where an optimiser goes in the valley x²/20 + y²; a hint if p.data is not a number."""
    params = [Value(number) for number in START]
    optimizer, points = make(params), []
    for _ in range(STEPS):
        optimizer.zero_grad()
        x, y = params
        (x**2 / 20 + y**2).backward()
        optimizer.step()
        for p in params:
            if not isinstance(p.data, Real):
                raise Hint(f"p.data should be a number: after a step it is {p.data!r}.")
        points.append([float(p.data) for p in params])
    return points


def try_out(make: Callable[[list[Value]], Any]) -> None:
    """A hint unless `zero_grad` clears, and `step` moves."""
    params = [Value(number) for number in START]
    optimizer = make(params)
    for p in params:
        p.grad = 7.0
    optimizer.step()
    moved = [p.data for p in params] != START
    optimizer.zero_grad()
    cleared = [p.grad for p in params] == [0.0, 0.0]
    if not moved and not cleared:
        raise Hint(NOTHING)
    if not moved:
        raise Hint("step() leaves the parameters where they are: assign to p.data.")
    if not cleared:
        raise Hint(f"After zero_grad() every grad should be 0.0: {[p.grad for p in params]}")


def compare_paths(found: Path, right: Path, known: dict[str, Path], settings: str) -> None:
    """A hint unless the path is right, to 1e-6: ε may be added inside or outside a root."""
    if np.allclose(found, right, rtol=1e-6, atol=1e-6):
        return
    for text, wrong in known.items():
        if np.allclose(found, wrong, rtol=1e-6, atol=1e-6):
            raise Hint(text)
    off = next(k for k in range(STEPS) if not np.allclose(found[k], right[k], 1e-6, 1e-6))
    raise Hint(
        f"With {settings}, from {START} and in step {off + 1} p should become "
        f"{np.round(right[off], 4)}, but becomes {np.round(found[off], 4)}."
    )


def followed(rule: Callable[..., float], shared: bool = False, **settings: float) -> Path:
    """The path of a rule(g, memory, **settings), which returns what to subtract from p."""
    memories: list[dict[str, float]] = [{}, {}]
    if shared:
        memories[1] = memories[0]
    p, points = list(START), []
    for _ in range(STEPS):
        slopes = [c * each for c, each in zip(CURVATURES, p)]
        p = [each - rule(g, m, **settings) for each, g, m in zip(p, slopes, memories)]
        points.append(p)
    return points


def momentum_rule(
    g: float, memory: dict[str, float], lr: float, momentum: float, kind: str = ""
) -> float:
    """SGD, or one of the ways to get it wrong."""
    before = 0.0 if kind == "forgets" else memory.get("v", 0.0)
    v = memory["v"] = momentum * before + (1 - momentum if kind == "dampened" else 1.0) * g
    if kind == "nesterov":
        v = g + momentum * v
    factors = {"uphill": -lr, "no lr": 1.0, "lr twice": lr * lr}
    return factors.get(kind, lr) * v


@Check
def check_2(answer: Any) -> str:
    """SGD with momentum."""
    own_class(answer, Optimizer)
    hints = {
        "uphill": "Uphill: subtract from p.data.",
        "no lr": "The learning rate has no effect.",
        "lr twice": "The learning rate is in it twice.",
        "forgets": "Momentum has no effect: keep each velocity from step to step.",
        "dampened": "That is a mean, μv + (1 - μ)g, as in Adam. SGD has v = μv + g.",
        "nesterov": "That is Nesterov's momentum. Here p moves by lr times v alone.",
    }
    compare_with(
        SGD, answer, momentum_rule, hints, {"lr": 0.1, "momentum": 0.0},
        {"lr": 0.2, "momentum": 0.9}, {"lr": 0.3, "momentum": 0.5},
    )  # fmt: skip
    return "Right: step for step where the package's SGD goes, with momentum and without."


def compare_with(
    kind: Any,
    answer: Any,
    rule: Callable[..., float],
    hints: dict[str, str],
    *several: dict[str, float],
) -> None:
    """A hint unless the answer goes where the package's optimiser goes, with several settings."""
    with forbidden(SGD, Adagrad, RMSprop, Adam):
        try_out(lambda params: answer(params, lr=0.1))
    for settings in several:
        known = {
            text: followed(partial(rule, kind=wrong), **settings) for wrong, text in hints.items()
        }
        shared = "All parameters share one memory: each needs its own."
        known[shared] = followed(rule, shared=True, **settings)
        if kind is Adam:
            text = "t is counted up for each parameter: once in a step is enough."
            known[text] = counted_for_each_parameter(**settings)
        right = walked(lambda params, s=settings: kind(params, **s))
        with forbidden(SGD, Adagrad, RMSprop, Adam):
            found = walked(lambda params, s=settings: answer(params, **s))
        described = " and ".join(f"{name} = {number}" for name, number in settings.items())
        compare_paths(found, right, known, described)


class Descent:
    """Our answer: a velocity for each parameter."""

    def __init__(self, params: list[Value], lr: float, momentum: float = 0.0) -> None:
        self.params, self.lr, self.momentum = params, lr, momentum
        self.velocities = [0.0] * len(params)

    def zero_grad(self) -> None:
        for p in self.params:
            p.grad = 0.0

    def step(self) -> None:
        for i, p in enumerate(self.params):
            self.velocities[i] = self.momentum * self.velocities[i] + p.grad
            p.data = p.data - self.lr * self.velocities[i]


solution_2 = Descent


def adam_rule(g: float, memory: dict[str, float], lr: float, kind: str = "") -> float:
    """Adam, or one of the ways to get it wrong."""
    first, second = (0.999, 0.9) if kind == "swapped" else (0.9, 0.999)
    t = memory["t"] = memory.get("t", 0) + 1
    m = memory["m"] = first * memory.get("m", 0.0) + (1 - first) * g
    s = memory["s"] = second * memory.get("s", 0.0) + (1 - second) * g * g
    if kind == "t stays":
        t = 1
    if kind not in ("no hats", "no hat on m"):
        m = m / (1 - first**t)
    if kind not in ("no hats", "no hat on s"):
        s = s / (1 - second**t)
    if kind == "no lr":
        return m / math.sqrt(s)
    root = s if kind == "no root" else math.sqrt(s)
    return (-lr if kind == "uphill" else lr) * m / (root + 1e-8)


def counted_for_each_parameter(lr: float) -> Path:
    """Adam with a t that is counted up inside the loop over the parameters."""
    p, m, s, t, points = list(START), [0.0, 0.0], [0.0, 0.0], 0, []
    for _ in range(STEPS):
        for i, c in enumerate(CURVATURES):
            g, t = c * p[i], t + 1
            m[i], s[i] = 0.9 * m[i] + 0.1 * g, 0.999 * s[i] + 0.001 * g * g
            root = math.sqrt(s[i] / (1 - 0.999**t)) + 1e-8
            p[i] = p[i] - lr * m[i] / (1 - 0.9**t) / root
        points.append(list(p))
    return points


@Check
def check_3(answer: Any) -> str:
    """Adam."""
    own_class(answer, Optimizer)
    hints = {
        "uphill": "Uphill: subtract from p.data.",
        "no lr": "The learning rate has no effect.",
        "no hats": "The hats are missing: both means start at 0 and are too small at first.",
        "no hat on m": "The hat on m is missing: m / (1 - 0.9**t).",
        "no hat on s": "The hat on s is missing: s / (1 - 0.999**t).",
        "no root": "Divide by the root of s, not by s.",
        "swapped": "The two β are swapped: 0.9 is for m, 0.999 for s.",
        "t stays": "t should count the steps: 1, 2, 3 ...",
    }
    try:
        compare_with(Adam, answer, adam_rule, hints, {"lr": 0.1}, {"lr": 0.5})
    except ZeroDivisionError as error:
        raise Hint("A division by 0: is t 1 in the first step, and not 0?") from error
    with forbidden(SGD, Adagrad, RMSprop, Adam):
        still = Value(1.0)
        optimizer = answer([still], lr=0.1)
        optimizer.zero_grad()
        try:
            optimizer.step()
        except ZeroDivisionError as error:
            raise Hint("A gradient of 0 divides by 0: add ε to the root.") from error
    return "Right: step for step where the package's Adam goes."


class Adaptive:
    """Our answer: two running means for each parameter, and the number of the step."""

    def __init__(self, params: list[Value], lr: float) -> None:
        self.params, self.lr, self.t = params, lr, 0
        self.m, self.s = [0.0] * len(params), [0.0] * len(params)

    def zero_grad(self) -> None:
        for p in self.params:
            p.grad = 0.0

    def step(self) -> None:
        self.t += 1
        for i, p in enumerate(self.params):
            self.m[i] = 0.9 * self.m[i] + 0.1 * p.grad
            self.s[i] = 0.999 * self.s[i] + 0.001 * p.grad**2
            m = self.m[i] / (1 - 0.9**self.t)
            s = self.s[i] / (1 - 0.999**self.t)
            p.data = p.data - self.lr * m / (math.sqrt(s) + 1e-8)


solution_3 = Adaptive


# -- 4. The weights for a leaky relu ----------------------------------------------------------------


@Check
def check_4(answer: Any) -> str:
    """The variance that keeps the mean square, with 20 inputs."""
    if isinstance(answer, bool) or not isinstance(answer, Real):
        raise Hint(f"Expected a number, found {answer!r}.")
    known = {
        0.1: "That is 2/n, for relu. Here the negative half is not lost, but halved.",
        0.05: "That is 1/n, as if nothing were lost.",
        1.6: "Right for a single input. Divide by the number of inputs.",
        0.625: "That is the share that survives. The variance has to make up for it.",
        0.03125: "You multiplied by the share 0.625. Divide by it.",
        1 / 15: "Halved numbers have a quarter of the mean square, not a half.",
        math.sqrt(0.08): "That is the standard deviation. The variance is its square.",
        0.04: "The share is the mean of 1 and 1/4, not their sum.",
    }
    for wrong, text in known.items():
        if math.isclose(answer, wrong, rel_tol=1e-3):
            raise Hint(text)
    if not math.isclose(answer, 0.08, rel_tol=1e-3):
        gain = 20 * float(answer) * 0.625
        raise Hint(f"A layer would multiply the mean square by {gain:.4g}, not by 1.")
    return "Right: the bend keeps (1 + 1/4)/2 = 0.625, and 20 · 0.08 · 0.625 = 1."


def solution_4() -> float:
    """Half of the sums keep their square, the other half a quarter of it."""
    kept = (1 + 0.5**2) / 2
    return 1 / (20 * kept)


solution = solutions(globals())
