"""Notebook 7, neural networks: right answers, and wrong ones with what they are told."""

import math
from random import Random

import numpy as np

import autodiff
from autodiff import Matrix, exp, log, maximum
from autodiff.course import neural_networks as lesson
from autodiff.course.neural_networks import solution_4, solution_5
from autodiff.course.our_engine import Value
from autodiff.course.verdicts import Edit
from autodiff.nn import cross_entropy, xavier_normal


def local_derivatives(ws, xs):
    """Another spelling on our engine: the slopes are known before the message comes."""
    slopes = [x.data for x in xs] + [w.data for w in ws]
    number = math.fsum(w.data * x.data for w, x in zip(ws, xs))
    return Value(number, (*ws, *xs), lambda grad: tuple(grad * slope for slope in slopes))


class Loops(lesson.Linear):
    """A layer by loops, without dot."""

    def __call__(self, xs):
        outs = []
        for row, b in zip(self.weight, self.bias):
            z = b
            for w, x in zip(row, xs):
                z = z + w * x
            outs.append(self.activation(z))
        return outs

    def parameters(self):
        found = list(self.bias)
        for row in self.weight:
            found.extend(row)
        return found


class Recursive(lesson.Sequential):
    def __call__(self, xs):
        first, *others = self.layers
        return Recursive(*others)(first(xs)) if others else first(xs)

    def parameters(self):
        return tuple(p for layer in self.layers[::-1] for p in layer.parameters())


def probe_by_others(net, xs):
    """Activations in tuples, gradients in arrays; from a multiple of 1."""
    outs = []
    for layer in net.layers:
        xs = layer(xs)
        outs += [xs]
    (1 * xs[0]).backward()
    return [tuple(y.data for y in out) for out in outs], [
        np.array([y.grad for y in out]) for out in outs
    ]


def with_epsilon(sums):
    """Loops, a root, and ε."""
    mean = sum(sums) * (1 / len(sums))
    left = [z - mean for z in sums]
    spread = (sum([z * z for z in left]) / len(sums) + 1e-5) ** 0.5
    return tuple(z / spread for z in left)


def by_maximum(logits, target):
    top = logits[0]
    for z in logits:
        top = maximum(top, z)
    z = logits - top
    return -(z[target] - exp(z).sum().log())


def softmax(logits):
    powers = [exp(z - max(logits)) for z in logits]
    return [power / sum(powers) for power in powers]


def with_a_little(logits, target):
    return -log(softmax(logits)[target] + 1e-12)


def of_the_package(logits, target):
    return cross_entropy(logits, target)


def imported_inside(logits, target):
    from autodiff import logsumexp as summed

    return summed(logits) - logits[target]


def probe_too_early(net, xs):
    """The gradients are read before the walk back."""
    outs = []
    for layer in net.layers:
        outs.append(xs := layer(xs))
    gradients = [[y.grad for y in out] for out in outs]
    xs[0].backward()
    return [[y.data for y in out] for out in outs], gradients


class OneLayer(lesson.Linear):
    def __call__(self, xs):
        return [float(y.data) for y in lesson.Linear.__call__(self, xs)]


class HalfLayer(lesson.Linear):
    __call__ = lesson.Linear.__call__

    def parameters(self): ...


class HalfNetwork(lesson.Sequential):
    parameters = lesson.Sequential.parameters

    def __call__(self, xs): ...


RIGHT = {  # others than our own
    1: [local_derivatives],
    2: [Loops],
    3: [Recursive],
    4: [probe_by_others],
    5: [
        xavier_normal,
        Edit("n_in**-0.5", "5 / 3 * n_in**-0.5"),
        Edit("n_in**-0.5", "5 / 3 * (2 / (n_in + n_out)) ** 0.5"),
        lambda n, m, rng: np.random.default_rng(rng.getrandbits(32)).normal(0, n**-0.5, (m, n)),
        lambda n, m, rng: Matrix(solution_5(n, m, rng)),
    ],
    6: [with_epsilon],
    7: [by_maximum],
}

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, lambda ws, xs: sum(w * x for w, x in zip(ws, xs)), "The numbers are right. Now make one node"),
    (1, lambda ws, xs: sum(w.data * x.data for w, x in zip(ws, xs)), "found a float"),
    (1, lambda ws, xs: Value(sum(w.data * x.data for w, x in zip(ws, xs))), "The weights get nothing"),
    (1, lambda ws, xs: Value(sum(w.data * x.data for w, x in zip(ws, xs)), [*ws, *xs], lambda grad: [2 * grad] * 2 * len(ws)), "the gradients of the weights[1] should be"),
    (2, OneLayer, "nothing but Values, one for each neuron, found a float"),
    (2, HalfLayer, "Right so far: what the layer returns. Nothing here yet: the parameters"),
    (3, Edit("[p for layer in self.layers for p in layer.parameters()]", "[x.parameters() for x in self.layers]"), "nothing but Values, all parameters in one row, found a list"),
    (3, HalfNetwork, "Nothing here yet: the output."),
    (4, lambda net, xs: net(xs), "Return two lists"),
    (4, lambda net, xs: solution_4(net, xs)[::-1], "First the activations"),
    (4, probe_too_early, "and read the grads afterwards"),
    (4, lambda net, xs: ([layer.bias for layer in net.layers],) * 2, "These are Values"),
    (5, lambda n, m, rng: [[Random().gauss(0, 1) for _ in range(n)] for _ in range(m)], "Draw each weight from rng"),
    (5, lambda n, m, rng: [[n**-0.5] * n] * m, "Draw each weight from rng"),
    (5, lambda n, m, rng: rng.gauss(0, 1), "the shape of the weights should be (15, 300), not ()"),
    (5, Edit("0, n_in**-0.5", "n_in**-0.5, 0"), "gauss, the mean first, gives"),
    (5, Edit("rng.gauss(0, n_in**-0.5)", "Value(rng.gauss(0, 6**-0.5))"), "`network` makes the Values"),
    (5, Edit("n_in**-0.5", "1 / 6**0.5"), "n is n_in"),
    (5, Edit("n_in**-0.5", "2 / n_in**0.5"), "n · Var(w) should be 1"),
    (5, Edit("n_in**-0.5", "(2 / n_in) ** 0.5"), "is for relu"),
    (5, Edit("gauss(0,", "gauss(-1.0,"), "the mean should be 0, not -"),
    (6, lambda sums: [z.data for z in lesson.solution_6(sums)], "nothing but Values, one for each sum, found a float"),
    (6, lambda sums: lesson.solution_6(sums)[0], "one for each sum, found a Value"),
    (6, lambda sums: lesson.solution_6(sums)[1:], "The shape should be (3,), not (2,)"),
    (6, Edit("[(z - mean) *", "[z *"), "From each sum its mean has to go"),
    (6, Edit("(z - mean) ** 2", "(z - mean) ** 4"), "the mean of the squares of what is left"),
    (7, lambda logits, target: cross_entropy(logits, target), "That is the work of the package"),
    (7, lambda logits, target: autodiff.nn.cross_entropy(logits, target), "That is the work of the package"),
    (7, lambda logits, target: of_the_package(logits, target), "That is the work of the package"),
    (7, imported_inside, "That is the work of the package"),
    (7, with_a_little, "cut off or with a small number added"),
    (7, lambda logits, target: -log(maximum(softmax(logits)[target], 1e-9)), "cut off or with a small number added"),
    (7, lambda logits, target: 2.4, "A float cannot go backward"),
    (7, lambda logits, target: logits[target] * 0 + 2.40760596444438, "the gradient[0] should be"),
    (7, lambda logits, target: (logits[target] - 1) ** 2, "It is minus the logarithm of the probability of the target"),
]  # fmt: skip
