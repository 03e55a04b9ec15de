"""Notebook 2, symbolic derivatives: right answers, and wrong ones with what they are told."""

import numpy as np
import sympy

from autodiff.course.symbolic_derivatives import Node, derivative, node, with_rule


def by_ifs(e):
    if not e.args:
        return node(int(e.op == "x"))
    a, b = e.args[0], e.args[-1]
    if e.op == "+":
        return by_ifs(b) + by_ifs(a)
    if e.op == "*":
        return Node("+", [b * by_ifs(a), by_ifs(b) * a])
    outer = {"exp": node("exp", a), "sin": node("cos", a), "cos": -1 * node("sin", a)}[e.op]
    return by_ifs(a) * outer


def with_minus(e):
    """The cosine by a minus, and a sum by two."""
    if e.op == "cos":
        return Node("-", [node("sin", e.args[0]) * with_minus(e.args[0])])
    if e.op == "+":
        return node("-", with_minus(e.args[0]), -1 * with_minus(e.args[1]))
    return derivative(e)


def unfinished(e):
    if e.op == "+":
        return ...
    return derivative(e)


RIGHT = {  # two spellings of each exercise beside our own
    1: [by_ifs, with_minus],
    2: [
        lambda a, b: 1 / b * (derivative(a) - a / b * derivative(b)),
        lambda a, b: Node("-", [derivative(a) / b, a * derivative(b) / (b * b)]),
    ],
    3: [np.array(39)[()], sympy.sympify(39)],
    4: ["d, B", ["b", "d"], "b and d"],
}

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, lambda e: 1.0, "Return a formula, made by node: found a float."),
    (1, unfinished, "Nothing here yet: d/dx (x + 3)"),
    (1, with_rule("sin", lambda e, a: node("cosine", a) * derivative(a)), "no operation 'cosine'"),
    (1, with_rule("exp", lambda e, a: node("exp", derivative(a))), "At x = 0.5, d/dx exp(x) should be 1.64872"),
    (2, lambda a, b: 0.26, "Return a formula, made by node: found a float."),
    (2, lambda a, b: (derivative(a) * b - a * derivative(b)) / (a * a), "If y = a/b, then a = y b"),
    (3, 44, "if you square once more"),
    (4, "none", "letters out of a, b, c and d"),
]  # fmt: skip
