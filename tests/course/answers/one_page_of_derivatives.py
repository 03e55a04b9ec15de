"""Notebook 5, one page of derivatives: right answers, and wrong ones with what they are told."""

import numpy as np

RIGHT = {  # two spellings of each exercise beside our own
    1: [
        "(grad * (p / x) ** 2, grad * (p / y) ** 2) → (grad * y * y / (x + y) ** 2, grad * x * x / (x + y) ** 2)",
        "x * y / (x + y) → x / (x + y) * y\n(p / x) ** 2 → p * p / (x * x)\n(p / y) ** 2 → p / y * p / y",
    ],
    2: [[3, 1], (np.float64(3.0), 1)],
    3: [
        "(abs(x) + softplus(-2 * abs(x)) - math.log(2.0), lambda grad: (tanh(x) * grad,))",
        "(softplus(-2 * x) + x - math.log(2), lambda g: (g * (1 - 2 / (1 + exp(2 * x)) if x < 300 else g),))",
    ],
}  # fmt: skip

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, "(x * y / (x + y), lambda grad: (grad,))", "a tuple of two messages"),
    (3, "(log(cosh(x)), lambda grad: (grad * x,))", "should be 0.462117, not 0.5"),
    (3, "(math.log(math.cosh(x)), lambda grad: (grad * tanh(x),))", "the result overflows"),
]  # fmt: skip
