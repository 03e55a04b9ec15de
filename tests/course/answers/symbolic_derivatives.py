"""Notebook 2, symbolic derivatives: right answers, and wrong ones with what they are told."""

import numpy as np
import sympy

RIGHT = {  # two spellings of each exercise beside our own
    1: ["(derivative(a) - a / b * derivative(b)) / b", "derivative(a) / b - a * derivative(b) / (b * b)"],
    2: [np.array(39)[()], sympy.sympify(39)],
    3: ["d, B", ["b", "d"], "b and d"],
}  # fmt: skip

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, "0.26", "Return a formula, a Node: found a float."),
    (3, "none", "letters out of a, b, c and d"),
]  # fmt: skip
