"""Notebook 10, back to matrices: right answers, and wrong ones with what they are told."""

import numpy as np

import autodiff as ad
from autodiff import Vector
from autodiff.course.back_to_matrices import backward_with, stacked


def by_get(values, done):
    """A plain dict, numbers without an axis for parameters, messages one column at a time."""
    adjoint = {done[-1][0][0]: np.ones_like(values[done[-1][0][0]])}
    for members, columns, closure in done[::-1]:
        messages = closure(stacked([adjoint.get(node, 0.0) for node in members]))
        for k, column in enumerate(columns):
            if messages[k] is not None:
                for i, parent in enumerate(column):
                    alone = np.size(values[parent]) == 1
                    row = np.sum(messages[k][i]) if alone else messages[k][i]
                    adjoint[parent] = adjoint.get(parent, 0.0) + row
    return adjoint


def into_the_members(values, done):
    (output,) = done[-1][0]
    adjoint = {output: np.ones_like(values[output])}
    for members, _, closure in reversed(done):
        for message in closure(stacked([adjoint.get(node, 0.0) for node in members])):
            adjoint |= zip(members, message)
    return adjoint


def with_einsum_in_place(x, t, w, b, v, c):
    h = np.einsum("ij,jn->in", w, x) + b.reshape(-1, 1)
    error = v @ (h * (h > 0)) + c - t
    h_bar = (h > 0) * np.outer(v, 2 * error)
    to_w = np.einsum("in,jn->ij", h_bar, x)
    w *= 2
    x *= 2
    return error**2, [2 * error.sum(), (h * (h > 0)) @ (2 * error), h_bar.sum(1), to_w]


RIGHT = {  # spellings of each exercise beside our own
    1: [by_get],
    2: [
        lambda coefficients, x: coefficients @ Vector([x**k for k in range(len(coefficients))]),
        lambda coefficients, x: sum(a * x**k for k, a in enumerate(coefficients)),  # tidied, a dot
    ],
    3: [with_einsum_in_place],
}

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, into_the_members, "whose is each row that it returns?"),
    (1, lambda values, done: [*values.values()], "Return the adjoints of the nodes, a dict: found a list."),
    (1, backward_with(add=lambda old, row: old - row), "the adjoint of b[0] should be 4, not -4. Take one group on paper"),
    (2, lambda coefficients, x: ad.sum([a * ad.exp(k * ad.log(x)) for k, a in enumerate(coefficients)]), "log: x = -0.7"),
    (2, lambda coefficients, x: Vector([a * x**k for k, a in enumerate(coefficients)]), "Expected a Value, found a Vector"),
    (3, lambda x, t, w, b, v, c: w @ (... * x), "still computes with the dots"),
]  # fmt: skip
