"""Notebook 5, one page of derivatives: right answers, and wrong ones with what they are told."""

import math

from autodiff import exp, grad, logsumexp, operation, sigmoid, softplus, tanh
from autodiff.course.one_page_of_derivatives import ln_cosh, reading, solution_1


def by_exp(x, exp=exp):
    e = exp(-x)
    return x / (1 + e), lambda g: (g * (1 + e + x * e) / (1 + e) ** 2,)


RIGHT = {  # spellings of each exercise beside our own
    1: [lambda rule, xs, ts: [*solution_1(rule, xs, ts)]],
    2: [lambda rule, x: grad(grad(operation(rule)))(x)],
    3: [by_exp],
    4: [
        ln_cosh(lambda x: logsumexp([x, -x]) - math.log(2)),
        ln_cosh(
            lambda x: softplus(-2 * x) + x - math.log(2), lambda g, x: (2 * sigmoid(2 * x) - 1) * g
        ),
    ],
}  # fmt: skip

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, lambda rule, xs, ts: solution_1(rule, xs, ts)[1], "Return two things"),
    (1, reading(lambda closure, ts: closure(1.0)), "the tangent: The shape should be ()"),
    (1, reading(lambda closure, ts: sum(closure(*ts))), "the tangent should be 23, not 27"),
    (1, reading(lambda closure, ts: sum(m * t for m, t in zip(closure(1.0), ts) if m)), "Only None is left out, not 0."),
    (2, lambda rule, x: rule(x), "found"),
    (3, lambda x: by_exp(x, math.exp), "Right for floats."),
    (3, lambda x: (x * sigmoid(x), lambda g: list(by_exp(x)[1](g))), "return a tuple"),
    (3, lambda x: (x * sigmoid(x), lambda g: g), "Mind the comma"),
    (3, lambda x: x * sigmoid(x), "Return a pair"),
    (4, ln_cosh(lambda x: abs(x) - math.log(2)), "the result should be 0.120115"),
    (4, ln_cosh(lambda x: softplus(2 * x) - x - math.log(2), lambda g, x: g * math.tanh(x)), "Right for floats."),
    (4, ln_cosh(lambda x: softplus(2 * x) - x - math.log(2), lambda g, x: g / tanh(x)), "not 2.16395"),
]  # fmt: skip
