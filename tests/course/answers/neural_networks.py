"""Notebook 7, neural networks: right answers, and wrong ones with what they are told."""

import numpy as np
import sympy

from autodiff import nn
from autodiff.nn import Linear


class Wrapped(nn.Module):
    def __init__(self, *sizes, **settings):
        self.inner = Linear(*sizes, **settings)
        self.weight, self.bias = self.inner.weight, self.inner.bias

    def forward(self, x):
        return self.inner(x)


RIGHT = {  # two spellings of each exercise beside our own
    1: [
        "self.weight @ x + self.bias → Vector([row @ x + b for row, b in zip(self.weight, self.bias)])\n"
        "z.map(self.activation) → Vector([self.activation(sum) for sum in z])",
        "Vector([0.0] * n_out) → Vector(np.zeros(n_out))\n"
        "self.weight @ x + self.bias → self.bias + self.weight @ x\nz.map(self.activation) → self.activation(z)",
    ],
    2: [
        "{i for i, (w, b) in enumerate(zip(weight, bias)) if max(w * x + b for x in inputs) <= 0}",
        "np.flatnonzero((np.outer(inputs, weight) + bias).max(axis=0) <= 0)",
    ],
    3: [np.array(2 / 25)[()], sympy.sympify(2 / 25)],
}  # fmt: skip

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, nn.Linear, "Write your own"),
    (1, Wrapped, "Write your own"),
    (2, "2", "Return the numbers of the dead neurons"),
    (2, "[weight]", "Expected a list of numbers of neurons"),
    (3, "0.08", "Expected one number, found a str"),
    (3, 0.5, "by 6.25, not by 1"),
]  # fmt: skip
