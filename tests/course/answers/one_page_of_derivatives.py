"""Notebook 5, one page of derivatives: right answers, and wrong ones with what they are told."""

import math

from autodiff import Value, exp, grad, log1p, logsumexp, operation, sigmoid, softplus, tanh
from autodiff.course.one_page_of_derivatives import ln_cosh, reading, solution_1


def by_loop(rule, primals, tangents):
    y, closure = rule(*primals)
    total = 0.0
    for message, tangent in zip(closure(1.0), tangents):
        if message is None:
            continue
        total += tangent * message
    return [y, total]


def by_index(rule, primals, tangents):
    y, closure = rule(*primals)
    messages = closure(1)
    moving = [i for i in range(len(primals)) if messages[i] is not None]
    return y, sum([messages[i] * tangents[i] for i in moving])


def over_nodes(rule, x):
    x = Value(x)
    _, slope = solution_1(rule, [x], [1.0])
    slope.backward()
    return x.grad


def from_the_wrong_end(rule, x):
    x = Value(x)
    y, _ = solution_1(rule, [x], [1.0])
    y.backward()
    return x.grad


def by_difference(rule, x, h=1e-5):
    slopes = [solution_1(rule, [x + step], [1.0])[1] for step in (h, -h)]
    return (slopes[0] - slopes[1]) / (2 * h)


def expanded(x):
    s = sigmoid(x)
    return x * s, lambda g: (g * (s + x * s * (1 - s)),)


def by_exp(x):
    e = exp(-x)
    return x / (1 + e), lambda g: (g * (1 + e + x * e) / (1 + e) ** 2,)


def by_math(x):
    e = math.exp(-x)
    return x / (1 + e), lambda g: (g * (1 + e + x * e) / (1 + e) ** 2,)


RIGHT = {  # spellings of each exercise beside our own
    1: [by_loop, by_index],
    2: [over_nodes, lambda rule, x: grad(grad(operation(rule)))(x)],
    3: [expanded, by_exp],
    4: [
        ln_cosh(lambda x: abs(x) + log1p(exp(-2 * abs(x))) - math.log(2)),
        ln_cosh(lambda x: logsumexp([x, -x]) - math.log(2)),
        ln_cosh(
            lambda x: softplus(-2 * x) + x - math.log(2), lambda g, x: (2 * sigmoid(2 * x) - 1) * g
        ),
    ],
}

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, lambda rule, xs, ts: rule(*xs), "the tangent: That is a function"),
    (1, lambda rule, xs, ts: solution_1(rule, xs, ts)[1], "Return two things"),
    (1, reading(lambda closure, ts: closure(1.0)), "the tangent: The shape should be ()"),
    (1, reading(lambda closure, ts: sum(closure(*ts))), "the tangent should be 23, not 27"),
    (1, reading(lambda closure, ts: sum(m * t for m, t in zip(closure(1.0), ts) if m)), "Only None is left out, not 0."),
    (1, reading(lambda closure, ts: sum((m or 0) * t for m, t in zip(closure(1.0), ts))), "Only None is left out, not 0."),
    (2, from_the_wrong_end, "That is the slope."),
    (2, by_difference, "Close, but not exact."),
    (2, lambda rule, x: rule(x), "found"),
    (3, by_math, "Right for floats."),
    (3, lambda x: (x * sigmoid(x), lambda g: [g * expanded(x)[1](1.0)[0]]), "return a tuple"),
    (3, lambda x: (x * sigmoid(x), lambda g: g), "Mind the comma"),
    (3, lambda x: x * sigmoid(x), "Return a pair"),
    (4, ln_cosh(lambda x: abs(x) - math.log(2)), "the result should be 0.120115"),
    (4, ln_cosh(lambda x: x + log1p(exp(-2 * x)) - math.log(2)), "That holds at one end."),
    (4, ln_cosh(softplus, lambda g, x: g * x), "should be 0.120115"),
    (4, ln_cosh(lambda x: softplus(2 * x) - x - math.log(2), lambda g, x: g * math.tanh(x)), "Right for floats."),
    (4, ln_cosh(lambda x: softplus(2 * x) - x - math.log(2), lambda g, x: g / tanh(x)), "not 2.16395"),
]  # fmt: skip
