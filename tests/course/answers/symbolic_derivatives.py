"""Notebook 2, symbolic derivatives: right answers, and wrong ones with what they are told."""

import numpy as np

from autodiff.course.symbolic_derivatives import Node, derivative, node, with_rule


def by_ifs(e):
    """The cosine by a minus, and a sum by two."""
    if not e.args:
        return node(int(e.op == "x"))
    a, b = e.args[0], e.args[-1]
    if e.op == "+":
        return node("-", by_ifs(b), -1 * by_ifs(a))
    if e.op == "*":
        return Node("+", [b * by_ifs(a), by_ifs(b) * a])
    outer = {"exp": node("exp", a), "sin": node("cos", a), "cos": Node("-", [node("sin", a)])}[e.op]
    return by_ifs(a) * outer


RIGHT = {  # spellings of each exercise beside our own
    1: [by_ifs],
    2: [lambda a, b: Node("-", [derivative(a) / b, 1 / (b * b) * (a * derivative(b))])],
    3: [np.array(39)[()]],
    4: ["d, B", ["b", "d"], "b and d"],
}

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, lambda e: 1.0, "Return a formula, made by node: found a float."),
    (1, lambda e: ... if e.op == "+" else derivative(e), "Nothing here yet: d/dx (x + 3)"),
    (1, with_rule("sin", lambda e, a: node("cosine", a) * derivative(a)), "no operation 'cosine'"),
    (1, with_rule("exp", lambda e, a: node("exp", derivative(a))), "At x = 0.5, d/dx exp(x) should be 1.64872"),
    (2, lambda a, b: (derivative(a) * b - a * derivative(b)) / (a * a), "If y = a/b, then a = y b"),
    (3, 44, "if you square once more"),
    (4, "none", "letters out of a, b, c and d"),
]  # fmt: skip
