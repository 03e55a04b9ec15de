# pyright: analyzeUnannotatedFunctions=false
"""Notebook 7: its guesses and exercises: a probe, first weights, a loss."""

from random import Random

import numpy as np

from autodiff import Matrix, Vector, exp, log, logsumexp, show_training, tanh
from autodiff.nn import Linear, Sequential, cross_entropy, mse_loss
from autodiff.optim import SGD

from .figures import lines, show
from .reverse_mode import SUNFLOWER
from .verdicts import Exercise, Hint, after_your_guess, empty, guesses, outside, plain, solutions

xs, ys = map(list, zip(*SUNFLOWER))


def ten_layers():
    """The network of the riddle, which the notebook makes once more."""
    few = gauss_with(lambda n, m: 0.1)
    hidden = [Linear(6 if i else 1, 6, activation=tanh, init=few, seed=i) for i in range(9)]
    return Sequential(*hidden, Linear(6, 1, init=few, seed=9))


def watch(net, lr):
    """The page on which a network learns the sunflower."""
    names = ["t", "height (m)"]
    return show_training(net, xs, ys, mse_loss, SGD(net.parameters(), lr=lr), names=names)


def solution_1(net, x):
    outs = []
    for layer in net.layers:
        x = layer(x)
        outs.append(x)
    x[0].backward()
    return [out.data for out in outs], [out.grad for out in outs]


def probed(probe, seed, x):
    sizes = (1, 3), (3, 2), (2, 1)
    net = Sequential(*[Linear(*size, activation=tanh, seed=seed + size[0]) for size in sizes])
    found = probe(net, Vector([x]))
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise Hint("Return two lists: the activations and the gradients, an entry for each layer.")
    for name, rows in zip(("activations", "gradients"), found):
        if empty(rows):
            yield f"the {name}", ...
            continue
        yield f"the number of layers in the {name}", float(len(rows))
        for k, row in enumerate(rows, start=1):
            yield f"the {name} of layer {k}", row.data if isinstance(row, Vector) else row


def probe_with(gradients, first=1, last=None, backward=True):
    """A probe with other gradients, or that keeps other layers: the input is number 0."""

    def probe(net, x):
        outs = [x]
        for layer in net.layers:
            outs.append(layer(outs[-1]))
        if backward:
            outs[-1][0].backward()
        kept = outs[first:last]
        return [out.data for out in kept], gradients(net, kept)

    return probe


def grads(net, outs):
    return [out.grad for out in outs]


check_1 = Exercise(
    solution_1,
    ask=probed,
    at={"3, 2 and 1 neurons:": (0, 0.5), "other weights:": (5, -1.0)},
    praise="Right: what each layer says, and how much the output cares.",
    otherwise="Keep the result of each layer. After backward it has data and grad.",
    slips={
        "The input is no layer: leave it out.": probe_with(grads, first=0),
        "The last layer counts, too.": probe_with(grads, last=-1),
        "All gradients are 0. Go backward from the result of the last layer that you have kept: "
        "net(x) would make another graph.": probe_with(grads, backward=False),
        "These are the activations once more. Each has a grad.": probe_with(
            lambda net, outs: [out.data for out in outs]
        ),
        "These are the gradients of parameters. We want those of what the layers say.": [
            probe_with(lambda net, outs: [layer.weight.grad for layer in net.layers]),
            probe_with(lambda net, outs: [layer.bias.grad for layer in net.layers]),
        ],
    },
)


def solution_2(n_in, n_out, rng):
    """n_in · Var(w) = 1."""
    return [[rng.gauss(0, n_in**-0.5) for _ in range(n_in)] for _ in range(n_out)]


def drawn(init, n_in, n_out):
    made = [init(n_in, n_out, Random(seed)) for seed in (0, 0, 1)]
    rows, again, other = [plain(x.data if isinstance(x, Matrix) else x) for x in made]
    yield "the shape of the weights", str(np.shape(rows))
    if rows != again or rows == other or np.ptp(rows, axis=0).max() == 0:
        raise Hint("Draw each weight from rng: rng.gauss(mean, spread) gives another every time.")
    variance = np.var(rows)
    yield "the mean", 0.0 if np.mean(rows) ** 2 < variance / 100 else np.mean(rows)
    gain = n_in * variance
    rights = 1, 2 * n_in / (n_in + n_out)  # or the compromise of Glorot and Bengio
    yield "n · Var(w)", 1.0 if any(abs(gain / right - 1) < 0.1 for right in rights) else gain


def gauss_with(spread, mean=0.0):
    """First weights with a spread that depends on the sizes of the layer."""

    def init(n, m, rng):
        return [[rng.gauss(mean, spread(n, m)) for _ in range(n)] for _ in range(m)]

    return init


check_2 = Exercise(
    solution_2,
    ask=drawn,
    at={"300 inputs, 30 neurons:": (300, 30), "30 inputs, 300 neurons:": (30, 300)},
    praise="Right: n · Var(w) = 1, and a signal keeps its size.",
    otherwise="A layer multiplies the mean square by n · Var(w).",
    slips={
        "gauss takes the spread: the root of the variance.": gauss_with(lambda n, m: 1 / n),
        "A neuron sums as many terms as it has inputs: n is n_in.": gauss_with(
            lambda n, m: m**-0.5
        ),
        "That is the old spread again.": gauss_with(lambda n, m: 0.1),
        "A row for each neuron: n_out rows of n_in numbers.": lambda n, m, rng: solution_2(
            m, n, rng
        ),
        "The mean should be 0: about as many weights below as above.": [
            lambda n, m, rng: [[rng.random() for _ in range(n)] for _ in range(m)],
            gauss_with(lambda n, m: n**-0.5, mean=0.5),
        ],
    },
)


def solution_3(logits, target):
    z = logits - max(logits)
    return log(sum(exp(z_k) for z_k in z)) - z[target]


def survived(loss, numbers, target):
    if any(x in (cross_entropy, logsumexp) for x in outside(loss)):
        raise Hint("That is the work of the package. Write your own, with exp and log.")
    logits = Vector(numbers)
    found = loss(logits, target)
    if isinstance(found, float):
        raise Hint("A float cannot go backward: compute with the logits, not with their data.")
    yield "the loss", found.data
    found.backward()
    yield "the gradient", logits.grad


def shifted(loss):
    """A loss of the powers, once the largest logit is subtracted."""
    return lambda logits, k: loss([exp(z - max(logits)) for z in logits], logits, k)


check_3 = Exercise(
    solution_3,
    ask=survived,
    at={
        "logits 1, 2, 3, target 0:": ([1.0, 2.0, 3.0], 0),
        "logits 1000, 0, target 0:": ([1000.0, 0.0], 0),
        "logits 1000, 0, target 1:": ([1000.0, 0.0], 1),
        "logits -1000, -1001, target 1:": ([-1000.0, -1001.0], 1),
    },
    praise="Right: the loss and its gradient, from -1000 to 1000.",
    otherwise="It is minus the logarithm of the probability of the target.",
    slips={
        "exp(1000) is too large for a float. What may be subtracted from all logits?": [
            lambda logits, k: log(sum(exp(z) for z in logits)) - logits[k],
            lambda logits, k: -log(exp(logits[k]) / sum(exp(z) for z in logits)),
        ],
        "A power may become 0, which has no logarithm. What is the log of a quotient? Of a power?": [
            shifted(lambda powers, logits, k: -log(powers[k] / sum(powers))),
            shifted(lambda powers, logits, k: log(sum(powers)) - log(powers[k])),
        ],
        "The largest is subtracted in the sum, but not from the logit of the target.": shifted(
            lambda powers, logits, k: log(sum(powers)) - logits[k]
        ),
        "The sign: a loss falls as the probability rises.": shifted(
            lambda powers, logits, k: logits[k] - max(logits) - log(sum(powers))
        ),
    },
)

predict = guesses(
    {
        (4.27, 4.29): "Right: the slope, times its input.",
        ...: "The sum grows by x2 = 5 times a nudge of w2. And what does tanh do to that?",
    },
    {1: "Right: at 0 the first relu gives 1, and the others 0.", ...: "Put in z = 0."},
    {
        (1e-8, 1e-5): "Right, or nearly: hardly anything is left.",
        ...: "Open the box.",
    },
    {
        0.06: "Right: 6 · 0.01.",
        0.6: "0.1 is the spread. The variance is its square.",
        ...: "Six independent terms: their variances add up.",
    },
    {
        (0, 0.01): "Right: that step makes all the difference.",
        ...: "Between 0.2 and 0.25 something happens: see.",
    },
    {0: "Right, and few people guess it.", ...: "Run it, and count."},
    {
        (0.7, 0.78): "Right: the flat line.",
        ...: "Open the box. Do you know that loss?",
    },
    {
        (-0.67, -0.66): "Right: it has 1/3, and lacks 2/3.",
        (0.66, 0.67): "The size is right. If that logit grows, does the loss grow?",
        ...: "Write your loss first, and ask it.",
    },
    {
        (2.3, 2.31): "Right: the logarithm of 10.",
        ...: "Each digit gets the probability 1/10. What is minus the logarithm of that?",
    },
)

solution = solutions(globals())
