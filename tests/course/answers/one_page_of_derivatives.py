"""Notebook 5, one page of derivatives: right answers, and wrong ones with what they are told."""

import math

from autodiff import exp, grad, logsumexp, operation, sigmoid, softplus, tanh
from autodiff.course.one_page_of_derivatives import solution_1
from autodiff.course.verdicts import Edit


def by_exp(x, exp=exp):
    e = exp(-x)
    return x / (1 + e), lambda g: (g * (1 + e + x * e) / (1 + e) ** 2,)


def by_function(op, slope=7):
    rule = op.rule

    def forged(*inputs):
        result, closure = rule(*inputs)
        return result, lambda grad: [slope * grad for _ in closure(grad)]

    op.rule = forged


RIGHT = {  # spellings of each exercise beside our own
    1: [lambda rule, xs, ts: [*solution_1(rule, xs, ts)]],
    2: [by_function],
    3: [lambda rule, x: grad(grad(operation(rule)))(x)],
    4: [by_exp],
    5: [
        lambda x: (logsumexp([x, -x]) - math.log(2), lambda g: (g * tanh(x),)),
        lambda x: (softplus(-2 * x) + x - math.log(2), lambda g: ((2 * sigmoid(2 * x) - 1) * g,)),
    ],
}  # fmt: skip

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, lambda rule, xs, ts: solution_1(rule, xs, ts)[1], "Expected two things"),
    (1, lambda rule, xs, ts: (rule(*xs)[0], rule(*xs)[1](1.0)), "the tangent: The shape should be ()"),
    (1, lambda rule, xs, ts: (rule(*xs)[0], sum(rule(*xs)[1](*ts))), "the tangent should be 23, not 27"),
    (1, Edit("if m is not None", "if m"), "Only None is left out, not 0."),
    (2, lambda op: setattr(op, "rule", lambda x: (op.rule(x)[0], lambda grad: (7 * grad,))), "it calls itself"),
    (2, lambda op: op.rule(0.5), "op.rule is as before"),
    (3, lambda rule, x: rule(x), "found"),
    (4, lambda x: by_exp(x, math.exp), "Right for floats."),
    (4, lambda x: (x * sigmoid(x), lambda g: list(by_exp(x)[1](g))), "return a tuple"),
    (5, Edit("softplus(2 * x) - x - math.log(2.0)", "abs(x) - math.log(2.0)"), "the result should be 0.120115"),
    (5, Edit("* tanh(x)", "/ tanh(x)"), "not 2.16395"),
]  # fmt: skip
