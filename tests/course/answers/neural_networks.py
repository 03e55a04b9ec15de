"""Notebook 7, neural networks: right answers, and wrong ones with what they are told."""

from random import Random

import numpy as np

from autodiff import Matrix, exp, log, maximum, softplus
from autodiff.course.neural_networks import gauss_with, solution_1, solution_2
from autodiff.nn import cross_entropy, xavier_normal


def probe_by_tuples(net, x):
    outs = [net.layers[0](x)]
    for layer in net.layers[1:]:
        outs.append(layer(outs[-1]))
    outs[-1].sum().backward()
    return tuple(outs), tuple(out.grad for out in outs)


def probe_by_arrays(net, x):
    activations, outs = [], []
    for layer in net.layers:
        x = layer(x)
        outs += [x]
        activations.append(np.array(x.data))
    x.sum().backward()
    return [activations, [np.array([entry.grad for entry in out]) for out in outs]]


def uniform(n_in, n_out, rng):
    return [[rng.uniform(-1, 1) * (3 / n_in) ** 0.5 for _ in range(n_in)] for _ in range(n_out)]


def from_numpy(n_in, n_out, rng):
    return np.random.default_rng(rng.getrandbits(32)).normal(0, n_in**-0.5, (n_out, n_in))


def by_floats(logits, target):
    top = max(logits.data)
    powers = [exp(z - top) for z in logits]
    return top - logits[target] + log(sum(powers))


def by_differences(logits, target):
    """Every logit less that of the right class, by a log of 1 + e^d that is safe."""
    total = logits[0] - logits[target]
    for z in list(logits)[1:]:
        total = total + softplus(z - logits[target] - total)
    return total


def by_maximum(logits, target):
    top = logits[0]
    for z in logits:
        top = maximum(top, z)
    z = logits - top
    return -(z[target] - exp(z).sum().log())


RIGHT = {  # others than our own
    1: [probe_by_tuples, probe_by_arrays],
    2: [xavier_normal, uniform, from_numpy, lambda n, m, rng: Matrix(solution_2(n, m, rng))],
    3: [by_floats, by_differences, by_maximum],
}

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, lambda net, x: net(x), "Return two lists"),
    (1, lambda net, x: (solution_1(net, x)[0], ...), "Nothing here yet: the gradients."),
    (1, lambda net, x: solution_1(net, x)[::-1], "the activations of layer 1[0] should be"),
    (1, lambda net, x: (solution_1(net, x)[0], [1.0, 1.0, 1.0]), "the gradients of layer 1: The shape should be (3,), not ()"),
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
