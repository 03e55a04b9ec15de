"""Notebook 7, neural networks: right answers, and wrong ones with what they are told."""

from random import Random

import numpy as np

from autodiff import Matrix, exp, maximum
from autodiff.course.neural_networks import gauss_with, solution_1, solution_2
from autodiff.nn import cross_entropy, xavier_normal


def probe_by_others(net, x):
    """Activations as they are, gradients in arrays; from the sum."""
    outs = []
    for layer in net.layers:
        x = layer(x)
        outs += [x]
    x.sum().backward()
    return [tuple(outs), [np.array([entry.grad for entry in out]) for out in outs]]


def by_maximum(logits, target):
    top = logits[0]
    for z in logits:
        top = maximum(top, z)
    z = logits - top
    return -(z[target] - exp(z).sum().log())


RIGHT = {  # others than our own
    1: [probe_by_others],
    2: [
        xavier_normal,
        lambda n, m, rng: np.random.default_rng(rng.getrandbits(32)).normal(0, n**-0.5, (m, n)),
        lambda n, m, rng: Matrix(solution_2(n, m, rng)),
    ],
    3: [by_maximum],
}

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, lambda net, x: net(x), "Return two lists"),
    (1, lambda net, x: solution_1(net, x)[::-1], "the activations of layer 1[0] should be"),
    (2, lambda n, m, rng: [[Random().gauss(0, 1) for _ in range(n)] for _ in range(m)], "Draw each weight from rng"),
    (2, lambda n, m, rng: solution_2(n, m, Random(0)), "Draw each weight from rng"),
    (2, lambda n, m, rng: [[n**-0.5] * n] * m, "Draw each weight from rng"),
    (2, lambda n, m, rng: rng.gauss(0, 1), "the shape of the weights should be (30, 300), not ()"),
    (2, gauss_with(lambda n, m: 2 / n**0.5), "n · Var(w) should be 1"),
    (2, gauss_with(lambda n, m: n**-0.5, mean=-1.0), "the mean should be 0, not -"),
    (3, lambda logits, target: cross_entropy(logits, target), "That is the work of the package"),
    (3, lambda logits, target: 2.4, "A float cannot go backward"),
    (3, lambda logits, target: logits[target] * 0 + 2.40760596444438, "the gradient[0] should be"),
    (3, lambda logits, target: (logits[target] - 1) ** 2, "It is minus the logarithm of the probability of the target"),
]  # fmt: skip
