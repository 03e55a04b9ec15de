"""Notebook 9, expressions: right answers, and wrong ones with what they are told."""

import numpy as np
import sympy

RIGHT = {  # two spellings of each exercise beside our own
    1: [np.array(16)[()], sympy.sympify(16)],
    2: [
        "minimum(abs(x), 1) * abs(x) - minimum(abs(x), 1) ** 2 / 2",
        "less(1, abs(x)) * (abs(x) - 0.5) + (1 - less(1, abs(x))) * x * x / 2",
    ],
    3: ["f(x).backward(create_graph=True) → slope = grad(f)(x)\nx.grad → slope", "f(x). → (f(x) + 1.0)."],
}  # fmt: skip

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (2, "x.data", "Expected a Value, found a float"),
    (3, "lambda x: f(x)", "Expected a Program"),
]  # fmt: skip
