# pyright: analyzeUnannotatedFunctions=false
"""Notebook 7: what it measures; its guesses and exercises: a layer, other weights, the dead."""

from random import Random
from typing import Any

import numpy as np

from autodiff import Matrix, Vector, relu, tanh
from autodiff.nn import Linear, Module, Sequential, fit, he_normal, mse_loss, xavier_normal
from autodiff.optim import SGD

from .reverse_mode import SUNFLOWER
from .verdicts import Exercise, Hint, a, after_your_guess, guesses, number, outside, solutions

xs, ys = map(list, zip(*SUNFLOWER))


def described(x):
    shape = f" of shape {np.shape(x.data)}" if isinstance(x, (Matrix, Vector)) else ""
    return a(x) + shape


def layer_of(kind, n_in, n_out, activation, seed):
    if not issubclass(kind, Module):
        raise Hint("Derive the class from Module, which finds its parameters.")
    if Linear in [kind, *outside(kind)]:
        raise Hint("That is the package's Linear. Write your own, without it.")
    layer = kind(n_in, n_out, activation=activation, seed=seed)
    for name in ("weight", "bias"):
        found = getattr(layer, name, None)
        yield f"self.{name}", found if found is ... else described(found)
    if layer.weight is ... or layer.bias is ...:
        return
    yield "the biases", layer.bias.data
    yield "the weights", layer.weight.data
    yield "the number of parameters()", float(len(layer.parameters()))
    for entry, shift in zip(layer.bias, (0.3, -0.2, 0.1, 0.7)):
        entry.data = shift
    x = Vector([1.0, -2.0, 0.5][:n_in])
    out = layer(x)
    yield "forward", out if out is None or out is ... else described(out)
    if out is ...:
        return
    yield "the result", out.data
    (out * out).sum().backward()
    for name, part in {"weight": layer.weight, "bias": layer.bias, "x": x}.items():
        yield f"the gradient of {name}", part.grad


class Layer(Module):
    def __init__(self, n_in, n_out, activation=None, seed=None):
        self.weight = Matrix(he_normal(n_in, n_out, Random(seed)))
        self.bias = Vector([0.0] * n_out)
        self.activation = activation

    def forward(self, x):
        z = self.weight @ x + self.bias
        return z.map(self.activation) if self.activation else z


solution_1 = Layer

check_1 = Exercise(
    solution_1,
    ask=layer_of,
    at={
        "n_in = 3, n_out = 2, seed = 7": (3, 2, tanh, 7),
        "n_in = 3, n_out = 2, seed = 8": (3, 2, tanh, 8),
        "n_in = 1, n_out = 4, activation = None": (1, 4, None, 2),
    },
    praise="Right: the parameters, the result and every gradient are those of Linear.",
    slips={
        "Derive the class from Module, which finds its parameters.": "(Module) →",
        "self.weight should be a Matrix: Matrix(rows) makes Values of the numbers.": "Matrix →",
        "A row for each neuron: (n_out, n_in).": "he_normal(n_in, n_out → he_normal(n_out, n_in",
        "The weights are not those of he_normal with Random(seed).": [
            "Random(seed) → Random(1)",
            "he_normal → xavier_normal",
        ],
        "he_normal wants a generator: Random(seed).": "Random(seed) → seed",
        "self.bias should be a Vector: Vector([0.0, ...]).": "Vector([0.0] → ([0.0]",
        "One bias for each neuron, n_out of them.": "* n_out → * n_in",
        "The activation is missing.": "z.map(self.activation) → z",
        "The bias is missing.": "+ self.bias →",
        "The bias belongs inside the activation.": "@ x + self.bias → @ x\n"
        "z.map(self.activation) if self.activation else z → "
        "(z.map(self.activation) if self.activation else z) + self.bias",
        "With activation=None the sum should be returned as it is.": "if self.activation else z →",
        "`*` multiplies entry by entry. A layer is self.weight @ x.": "@ x → * x",
        "The result is right, but {at} the gradient of the weights is not: .data or float() on the "
        "way cuts it off.": "self.weight @ → Matrix(self.weight.data) @",
    },
)


def solution_2(weight, bias, inputs):
    """A relu neuron of the first layer is dead if its sum is above 0 for no input."""
    dead = []
    for i, (w, b) in enumerate(zip(weight, bias)):
        if all(w * x + b <= 0 for x in inputs):
            dead.append(i)
    return dead


def numbers_of(find, *layer):
    found = find(*layer)
    if isinstance(found, (int, np.integer)):
        raise Hint("Which ones? Return the numbers of the dead neurons, counted from 0.")
    try:
        yield "the result", str(sorted(int(i) for i in found))
    except TypeError:
        raise Hint(f"Expected a list of numbers of neurons, found {a(found)}.") from None


check_2 = Exercise(
    solution_2,
    ask=numbers_of,
    at={
        "weights 1, 1, -1, 0, 2, -0.5 and biases 0.5, -3, -1, 0, -3, 1": (
            [1.0, 1.0, -1.0, 0.0, 2.0, -0.5], [0.5, -3.0, -1.0, 0.0, -3.0, 1.0], [0.0, 1.0, 2.0],
        ),
        "weights -1, 1 and biases -3, 1, with inputs -2, -1": ([-1.0, 1.0], [-3.0, 1.0], [-2.0, -1.0]),
        "no bias": ([1.0, -1.0], [0.0, 0.0], [0.5, 1.5]),
    },
    praise="Right: no sample opens them, and in the first layer nothing else can.",
    slips={
        "A neuron that one sample opens is alive: it must be closed to all of them.": "all( → any(",
        "The bias is missing: a neuron sees w x + b.": "w * x + b → w * x",
        "A sum of exactly 0 is closed too: relu has no slope there in this package.": "<= 0 → < 0",
    },
)  # fmt: skip


def solution_3():
    """Half of the sums keep their square, the other half a quarter of it."""
    kept = (1 + 0.5**2) / 2
    return 1 / (20 * kept)


check_3 = Exercise(
    solution_3(),
    ask=number,
    close=1e-4,
    praise="Right: the bend keeps (1 + 1/4)/2 = 0.625, and 20 · 0.08 · 0.625 = 1.",
    otherwise=lambda _, x: f"A layer would multiply the mean square by {12.5 * x:.4g}, not by 1.",
    slips={
        "That is 2/n, for relu. Here the negative half is not lost, but halved.": 0.1,
        "That is 1/n, as if nothing were lost.": 0.05,
        "Halved numbers have a quarter of the mean square, not a half.": 1 / 15,
    },
)

predict = guesses(
    {
        3: "Right: the slope of tanh at 0 is 1, times the input 3.",
        1: "That is the slope of tanh alone. It is multiplied by the input.",
        ...: "The slope of tanh at 0 is 1. What does w multiply?",
    },
    {
        8: "Right: a derivative for each of the 4 · 2 entries.",
        4: "That is one for each row. Every entry of W has its derivative.",
        ...: "A gradient has the shape of what it belongs to.",
    },
    {
        1: "Right: the variances of independent numbers add up.",
        0.01: "That is the variance of their mean.",
        ...: "The variances of independent numbers add up.",
    },
    {
        0: "Right, and few people guess it.",
        ...: "Run it, and count.",
    },
    {
        (0, 0.01): "Right: that step of the spread makes all the difference.",
        ...: "Between 0.2 and 0.25 something happens: see.",
    },
)


def spreads(net):
    """Roots of the mean squares of the activations of each layer, and of the output's gradients."""
    there = back = 0.0
    for x in xs:
        outs = [Vector([x])]
        for layer in net.layers:
            outs.append(layer(outs[-1]))
        outs[-1][0].backward()
        there = there + np.mean(np.square([out.data for out in outs[1:-1]]), axis=1)
        back = back + np.mean(np.square([out.grad for out in outs[1:-1]]), axis=1)
    return np.sqrt(there / len(xs)), np.sqrt(back / len(xs))


solution = solutions(globals())
