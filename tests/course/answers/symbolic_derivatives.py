"""Notebook 2, symbolic derivatives: right answers, and wrong ones with what they are told."""

import numpy as np

from autodiff.course.symbolic_derivatives import Node, derivative
from autodiff.course.verdicts import Edit


def endless(a, b):
    """What `derivative(a / b)` does in the notebook, where its rule is this answer."""
    return endless(a, b)


RIGHT = {  # spellings of each exercise beside our own
    1: [
        Edit("derivative(a) + derivative(b)", 'node("-", derivative(b), -derivative(a))'),
        Edit(
            "derivative(a) * b + a * derivative(b)",
            'Node("+", [b * derivative(a), derivative(b) * a])',
        ),
    ],
    2: [
        lambda a, b: derivative(a) / b + -a * derivative(b) / (b * b),
        lambda a, b: Node("-", [derivative(a) / b, 1 / (b * b) * (a * derivative(b))]),
    ],
    3: [np.array(39)[()]],
    4: ["d, B", ["b", "d"], "b and d"],
}

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, lambda e: 1.0, "Expected a formula, made by node, found a float."),
    (1, lambda e: ... if e.op == "+" else derivative(e), "Nothing here yet: d/dx (x + 3)"),
    (1, Edit('node("cos", a) *', 'node("cosine", a) *'), "no operation 'cosine'"),
    (1, Edit("e * derivative(a)", 'node("exp", derivative(a))'), "At x = 0.75, d/dx exp(x) should be 2.117"),
    (2, lambda a, b: (derivative(a) * b - a * derivative(b)) / (a * a), "If y = a/b, then a = y b"),
    (2, endless, "the very rule that is missing"),
    (3, 44, "if you square once more"),
    (4, "none", "letters out of a, b, c and d"),
]  # fmt: skip
