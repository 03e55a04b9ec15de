# pyright: analyzeUnannotatedFunctions=false
"""Notebook 7: its guesses and exercises: one node, layers, a probe, first weights, a loss."""

from contextlib import contextmanager
from random import Random

import numpy as np

import autodiff as ad
from autodiff import Matrix, Vector, exp, log, logsumexp, nn, show_training
from autodiff.optim import SGD

from . import our_engine
from .figures import lines, show
from .our_engine import Value
from .reverse_mode import SUNFLOWER
from .verdicts import (
    Exercise,
    Hint,
    after_your_guess,
    edits,
    empty,
    expect,
    guesses,
    known,
    outside,
    plain,
    solutions,
)

xs, ys = map(list, zip(*SUNFLOWER))


def ten_layers(init, seed=0):
    """The network of the riddle, of the package's layers: their page draws each neuron."""
    more = {"activation": ad.tanh, "init": init}
    hidden = [nn.Linear(6 if i else 1, 6, **more, seed=seed + i) for i in range(9)]
    return nn.Sequential(*hidden, nn.Linear(6, 1, init=init, seed=seed + 9))


def watch(init, lr):
    """The page on which ten layers learn the sunflower, from these first weights."""
    net, names = ten_layers(init), ["t", "height (m)"]
    return show_training(net, xs, ys, nn.mse_loss, SGD(net.parameters(), lr=lr), names=names)


def histograms(found):
    """Activations and gradients by layer: a histogram for each, on a logarithmic axis."""
    import matplotlib.pyplot as plt

    bins = np.logspace(-8, 2, 51)
    figure, panels = plt.subplots(1, 2, figsize=(6.4, 3.2), sharey=True, layout="constrained")
    kinds = zip(panels, ("C0", "C1"), ("activations", "gradients"), found)
    for axes, color, kind, layers in kinds:
        for k, numbers in enumerate(layers, start=1):
            heights = np.histogram(np.abs(numbers), bins)[0]
            bars = k - 0.9 * heights / max(*heights, 1)
            axes.stairs(bars, bins, baseline=k, fill=True, color=color)
        axes.set(xscale="log", title=f"size of the {kind}", yticks=range(1, 10), ylim=(9.2, 0))
    panels[0].set(ylabel="layer")
    medians = [[f"{np.median(np.abs(x)):.0e}" for x in layers] for layers in found]
    show(figure, "Median sizes by layer: activations {}, gradients {}".format(*medians))


def engine_of(answer):
    """The Value of the notebook in which an answer stands: the reader's or ours."""
    return getattr(known(answer).get("engine"), "Value", our_engine.Value)


@contextmanager
def noted(kind):
    """The nodes of an engine that are made meanwhile."""
    begin, nodes = kind.__init__, []

    def begin_and_note(self, *given, **named):
        nodes.append(self)
        begin(self, *given, **named)

    kind.__init__ = begin_and_note
    try:
        yield nodes
    finally:
        kind.__init__ = begin


def solution_1(ws, xs):
    number = sum(w.data * x.data for w, x in zip(ws, xs))

    def closure(grad):
        return [grad * x.data for x in xs] + [grad * w.data for w in ws]

    return Value(number, [*ws, *xs], closure)


def dot(ws, xs):
    """One node on each engine; on the reader's, until he has one, what its + and * make of it."""
    if isinstance(ws[0], ad.Value):
        return ad.dot(ws, xs)
    return (solution_1 if isinstance(ws[0], Value) else check_1.theirs or products)(ws, xs)


def products(ws, xs):
    return sum(w * x for w, x in zip(ws, xs))


def dotted(dot, ws, xs):
    kind = engine_of(dot)
    ws, xs = [[kind(each) for each in row] for row in (ws, xs)]
    with noted(kind) as nodes:
        result = dot(ws, xs)
    expect(isinstance(result, kind), "one Value of the engine", result)
    if isinstance(result.data, kind):
        raise Hint("The number in your node is a Value again: compute it from the data of each.")
    yield "the number", result.data
    (result * 3).backward()
    yield "the gradients of the weights", [w.grad for w in ws]
    yield "the gradients of the inputs", [x.grad for x in xs]
    x, y = kind(2.0), kind(-3.0)
    dot([x, y], [x, x]).backward()
    yield "of dot([x, y], [x, x]), the gradients of x and y,", [x.grad, y.grad]
    yield "the number of new nodes", len(nodes)


check_1 = Exercise(
    solution_1,
    ours=dot,
    ask=dotted,
    at={"two inputs:": ([0.5, -0.3], [2.0, 5.0]), "three:": ([1.5, -2.0, 0.25], [-1.0, 3.0, 4.0])},
    praise="Right: one node. For 100 inputs, products and sums make 200.",
    otherwise=lambda part, found: (
        "The numbers are right. Now make one node of it, which has all weights and inputs as parents."
        if part == "the number of new nodes"
        else "What does + send to each of its parents, and what does *?"
    ),
    slips=edits("""
        Each weight gets grad times *its input*, and each input grad times *its weight*.
            for x in xs] + → for x in ws] +; for w in ws] → for w in xs]
            [*ws, *xs] → [*xs, *ws]
        A message is a local derivative times grad: yours lacks the grad.
            grad * →
        The inputs get nothing: they are parents too, for the layer before needs a gradient.
            + [grad * w.data for w in ws] →
        The weights get nothing, and they are what learns.
            [grad * x.data for x in xs] + →; [*ws, *xs] → xs
    """)
    | {
        "All products, not only the first.": lambda ws, xs: ws[0] * xs[0],
        "A dot product multiplies pair by pair, then adds.": lambda ws, xs: sum(ws) * sum(xs),
    },
)


class Linear:
    def __init__(self, weight, bias, activation):
        self.weight, self.bias, self.activation = weight, bias, activation

    def __call__(self, xs):
        pairs = zip(self.weight, self.bias)
        return [self.activation(dot(row, xs) + b) for row, b in pairs]

    def parameters(self):
        return [w for row in self.weight for w in row] + self.bias


solution_2 = Linear


def entries(results, kind, what):
    """The numbers of a list of Values; a Hint if it is anything else."""
    expect(isinstance(results, (list, tuple)), f"a list of Values, {what}", results)
    for each in results:
        expect(isinstance(each, kind), f"a list of nothing but Values, {what}", each)
    return [each.data for each in results]


def learners(found, expected, kind, names):
    """Which of the parameters are given, each by its name, and how many in all."""
    if empty(found):
        yield "the parameters", ...
        return
    entries(found, kind, "all parameters in one row")
    given = {id(p) for p in found}
    for name, group in zip(names, expected):
        yield f"{name} among the parameters", float(sum(id(p) in given for p in group))
    yield "the number of parameters", float(len(found))


def layered(Linear, weight, bias, xs):
    kind = engine_of(Linear)
    rows, starts = [[kind(w) for w in row] for row in weight], [kind(b) for b in bias]
    layer = Linear(rows, starts, kind.tanh)
    results = layer([kind(x) for x in xs])
    name = "what the layer returns"
    yield name, ... if empty(results) else entries(results, kind, "one for each neuron")
    names = "weights", "biases"
    yield from learners(layer.parameters(), [[w for row in rows for w in row], starts], kind, names)


check_2 = Exercise(
    Linear,
    ask=layered,
    at={
        "2 inputs and 3 neurons:": (
            [[0.5, -1], [2.0, 0.3], [-0.7, 1]],
            [0.1, -0.2, 0.4],
            [1.5, -0.5],
        ),
        "3 inputs and 1 neuron:": ([[0.2, -0.4, 1.0]], [0.3], [1.0, 2.0, -1.0]),
        "2 inputs and 2 neurons:": ([[0.5, -1.0], [2.0, 0.3]], [0.1, -0.2], [1.5, -0.5]),
    },
    praise="Right: a row of neurons, and all that they learn.",
    otherwise="Each neuron: the dot product of its row of weights and the inputs, plus its bias; then the "
    "activation.",
    slips="""
        The biases are missing: add each to the sum of its neuron.
            xs) + b → xs)
        The activation is missing.
            self.activation(dot(row, xs) + b) → dot(row, xs) + b
        The bias belongs inside: the activation bends the whole sum.
            xs) + b) → xs)) + b
        That is the first neuron alone.
            in pairs] → in pairs][:1]
        weight has a row for each neuron, and a row has a weight for each input.
            zip(self.weight → zip(zip(*self.weight)
        The biases learn too: they belong to the parameters.
            + self.bias →
        The weights belong to the parameters too.
            [w for row in self.weight for w in row] + →
    """,
)


class Sequential:
    def __init__(self, *layers):
        self.layers = layers

    def __call__(self, xs):
        for layer in self.layers:
            xs = layer(xs)
        return xs

    def parameters(self):
        return [p for layer in self.layers for p in layer.parameters()]


solution_3 = Sequential


def stacked(Sequential, sizes):
    layers = layers_of(sizes, Random(0))
    net = Sequential(*layers)
    results = net([Value(0.5 + i) for i in range(sizes[0])])
    yield "the output", ... if empty(results) else entries(results, Value, "the last layer's")
    names = [f"those of layer {k}" for k in range(1, len(sizes))]
    groups = [layer.parameters() for layer in layers]
    yield from learners(net.parameters(), groups, Value, names)


def layers_of(sizes, rng):
    """Layers of tanhs on our engine."""
    return [
        Linear(
            [[Value(rng.gauss(0, n**-0.5)) for _ in range(n)] for _ in range(m)],
            [Value(rng.gauss(0, 0.1)) for _ in range(m)],
            Value.tanh,
        )
        for n, m in zip(sizes, sizes[1:])
    ]


check_3 = Exercise(
    Sequential,
    ask=stacked,
    at={"three layers:": ([2, 3, 3, 2],), "square layers:": ([2, 2, 2, 2],)},
    praise="Right: what one layer says is what the next one reads.",
    otherwise="Each layer gets what the one before it has returned.",
    slips="""
        That is the first layer alone: the return belongs behind the loop.
            xs = layer(xs) → return layer(xs)
        Every layer reads the inputs: it should read what the one before it said.
            xs = layer → said = layer; return xs → return said
        The layers run from the last to the first.
            in self.layers: → in self.layers[::-1]:
        Those are the parameters of one layer: all layers learn.
            in self.layers for → in self.layers[:1] for
                               → in self.layers[-1:] for
    """,
)


def solution_4(net, xs):
    outs = []
    for layer in net.layers:
        xs = layer(xs)
        outs.append(xs)
    xs[0].backward()
    return [[y.data for y in out] for out in outs], [[y.grad for y in out] for out in outs]


def probed(probe, seed, x):
    net = Sequential(*layers_of((1, 3, 2, 1), Random(seed)))
    found = probe(net, [Value(x)])
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise Hint("Return two lists: the activations and the gradients, an entry for each layer.")
    for name, rows in zip(("activations", "gradients"), found):
        if empty(rows):
            yield f"the {name}", ...
            continue
        yield f"the number of layers in the {name}", float(len(rows))
        for k, row in enumerate(rows, start=1):
            if isinstance(row, (list, tuple)) and any(isinstance(y, Value) for y in row):
                raise Hint("These are Values: of each, take the data, or the grad.")
            yield f"the {name} of layer {k}", row


check_4 = Exercise(
    solution_4,
    ask=probed,
    at={"3, 2 and 1 neurons:": (0, 0.5), "other weights:": (5, -1.0)},
    praise="Right: what each layer says, and how much the output cares.",
    otherwise="Keep the result of each layer. After backward its Values have data and grad.",
    slips="""
        The input is no layer: leave it out.
            outs = [] → outs = [xs]
        The last layer counts, too.
            in outs] → in outs[:-1]]
        All gradients are 0. Go backward from the result of the last layer that you have kept,
        for net(xs) would make another graph, and read the grads afterwards.
            xs[0].backward() → pass
        First the activations, then the gradients.
            [[y.data for y in out] for out in outs], → [[y.grad for y in out] for out in outs],; [[y.grad for y in out] for out in outs] → [[y.data for y in out] for out in outs]
        These are the activations once more. Each has a grad.
            y.grad → y.data
        These are the gradients of parameters. We want those of what the layers say.
            [y.grad for y in out] for out in outs → [p.grad for p in layer.weight[0]] for layer in net.layers
                                                  → [p.grad for p in layer.bias] for layer in net.layers
                                                  → [p.grad for p in layer.parameters()] for layer in net.layers
    """,
)


def solution_5(n_in, n_out, rng):
    """n_in · Var(w) = 1."""
    return [[rng.gauss(0, n_in**-0.5) for _ in range(n_in)] for _ in range(n_out)]


def drawn(init, n_in, n_out):
    made = [init(n_in, n_out, Random(seed)) for seed in (0, 0, 1)]
    rows, again, other = [plain(x.data if isinstance(x, Matrix) else x) for x in made]
    if np.asarray(rows).dtype == object and np.ndim(rows) == 2:
        raise Hint("Return rows of numbers: `network` makes the Values.")
    yield "the shape of the weights", str(np.shape(rows))
    if rows != again or rows == other or np.ptp(rows, axis=0).max() == 0:
        raise Hint("Draw each weight from rng: gauss, the mean first, gives another every time.")
    variance = np.var(rows)
    yield "the mean", 0.0 if np.mean(rows) ** 2 < variance / 100 else np.mean(rows)
    mean = (n_in + n_out) / 2  # by which Glorot and Bengio divide
    gain = n_in * variance
    if any(abs(gain / (tanh * n / mean) - 1) < 0.1 for tanh in (1, 25 / 9) for n in (n_in, mean)):
        gain = 1.0
    elif abs(gain / 2 - 1) < 0.1:
        raise Hint("n · Var(w) = 2 is for relu, which loses half. tanh loses less: 1, or (5/3)².")
    yield "n · Var(w)", gain


check_5 = Exercise(
    solution_5,
    ask=drawn,
    at={"300 inputs, 15 neurons:": (300, 15), "15 inputs, 300 neurons:": (15, 300)},
    praise="Right: a signal keeps about its size from layer to layer.",
    otherwise="A layer multiplies the mean square by n · Var(w).",
    slips="""
        gauss takes the spread: the root of the variance.
            n_in**-0.5 → 1 / n_in
        A neuron sums as many terms as it has inputs: n is n_in.
            n_in** → n_out**
                   → 6**
        That is the old spread again.
            n_in**-0.5 → 0.1
        A row for each neuron: n_out rows of n_in numbers.
            range(n_in) → range(n_out); range(n_out) → range(n_in)
        The mean should be 0: about as many weights below as above.
            rng.gauss(0, n_in**-0.5) → rng.random()
            gauss(0, → gauss(0.5,
    """,
)


def solution_6(sums):
    mean = sum(sums) / len(sums)
    variance = sum((z - mean) ** 2 for z in sums) / len(sums)
    return [(z - mean) * variance**-0.5 for z in sums]


def standardised(standard, numbers):
    kind = engine_of(standard)
    sums = [kind(x) for x in numbers]
    results = standard(sums)
    yield "what it returns", entries(results, kind, "one for each sum")
    sum(k * z for k, z in enumerate(results)).backward()
    yield "the gradients of the sums", [z.grad for z in sums]


check_6 = Exercise(
    solution_6,
    ask=standardised,
    at={"three sums:": ([3.0, -1.0, 7.0],), "four sums:": ([0.5, 2.0, -0.25, 4.0],)},
    close=1e-4,  # others add a small ε to the variance
    praise="Right: mean 0, spread 1. (Others add a small ε to the variance, lest it be 0.)",
    otherwise="The variance is the mean of the squares of what is left without the mean.",
    slips="""
        Divide by the root of the variance: that is a mean of squares.
            **-0.5 → **-1
                   → **0.5
        The mean is 0 now. And the spread? Divide by it.
            * variance**-0.5 →
        From each sum its mean has to go before it is divided.
            (z - mean) * variance → z * variance
        The variance is the mean of the squares of what is left without the mean.
            (z - mean) ** 2 → z**2
        Each mean divides by the number of its terms: len(sums), which is twelve in our network alone.
            for z in sums) / len(sums) → for z in sums)
            / len(sums) → / 12
        Divide by their number, not by one less: the spread is to be 1.
            for z in sums) / len(sums) → for z in sums) / (len(sums) - 1)
        The numbers are right, but no gradient goes through mean and variance: compute them with the
        Values, not with their data.
            sum(sums) → sum(z.data for z in sums); (z - mean) ** 2 → (z.data - mean) ** 2
            sum(sums) → sum(z.data for z in sums)
            (z - mean) ** 2 → (z.data - mean.data) ** 2
    """,
)


def solution_7(logits, target):
    z = logits - max(logits)
    return log(sum(exp(z_k) for z_k in z)) - z[target]


def survived(loss, numbers, target):
    if any(x is y for x in outside(loss) for y in (nn.cross_entropy, logsumexp)):
        raise Hint("That is the work of the package. Write your own, with exp and log.")
    logits = Vector(numbers)
    found = loss(logits, target)
    if isinstance(found, float):
        raise Hint("A float cannot go backward: compute with the logits, not with their data.")
    if max(numbers) - numbers[target] > 100 > found.data > 10:
        raise Hint(
            "A probability of 0, cut off or with a small number added, has a logarithm, but not the right "
            "one, and no gradient. What is the log of a quotient? Of a power?"
        )
    yield "the loss", found.data
    found.backward()
    yield "the gradient", logits.grad


check_7 = Exercise(
    solution_7,
    ask=survived,
    at={
        "logits 1, 2, 3, target 0:": ([1.0, 2.0, 3.0], 0),
        "logits 1000, 0, target 0:": ([1000.0, 0.0], 0),
        "logits 1000, 0, target 1:": ([1000.0, 0.0], 1),
        "logits 0, 1000, target 0:": ([0.0, 1000.0], 0),
        "logits -1000, -1001, target 1:": ([-1000.0, -1001.0], 1),
        "logits 1000, -1000, target 1:": ([1000.0, -1000.0], 1),
        "logits 0, -1000, 1000, target 0:": ([0.0, -1000.0, 1000.0], 0),
    },
    praise="Right: the loss and its gradient, wherever between -1000 and 1000 the logits are.",
    otherwise="It is minus the logarithm of the probability of the target.",
    slips="""
        Subtract the *largest* logit: then no power is above 1, whichever logits come.
            max(logits) → logits[0]
                        → logits[target]
                        → sum(logits) / len(logits)
                        → min(logits)
        A power may become 0, which has no logarithm. What is the log of a quotient? Of a power?
            log(sum(exp(z_k) for z_k in z)) - z[target] → -log(exp(z[target]) / sum(map(exp, z)))
            z[target] → log(exp(z[target]))
        The largest is subtracted in the sum, but not from the logit of the target.
                      → logits[target]
        exp(1000) is too large for a float. What may be subtracted from all logits?
            logits - max(logits) → logits
            log(sum(exp(z_k) for z_k in z)) - z[target] → -log(exp(logits[target]) / sum(map(exp, logits)))
        The sign: a loss falls as the probability rises.
                                                        → z[target] - log(sum(exp(z_k) for z_k in z))
    """,
)

predict = guesses("""
    1. 4.2 to 4.35: Right: the slope, times its input.
       1.7 to 1.72: That is the gradient of w1: the slope times x1 = 2.
       5: That is its input. And what does tanh do to a nudge?
       0.85 to 0.86: That is the slope of tanh. By how much does the sum grow with w2?
       else: The sum grows by x2 = 5 times a nudge of w2. And what does tanh do to that?
    2. 1: Right: at 0 the first relu gives 1, and the others 0.
       else: Put in z = 0.
    3. 1e-8 to 1e-5: Right, or nearly: hardly anything is left.
       0 to 1e-8: Not quite so small: each of the eight layers adds up six terms.
       1e-5 to 0.1: Far less: each of the eight layers between shrinks it.
       else: It shrinks from layer to layer, and there are eight.
    4. 0.06: Right: 6 · 0.01.
       0.6: 0.1 is the spread. The variance is its square.
       0.01: That is what one term has. There are six.
       0.24 to 0.25: That is the factor of the spread. And of its square?
       else: Six independent terms: their variances add up.
    5. 4: Right: same layers, same bend, same steps. Only the first weights are new.
       1: Those ten layers have just learnt. What is new about them?
       2: The same tanh has just learnt. What is new about these layers?
       3: The same steps have just learnt, at the same rate. What is new?
       else: Put the number of what you suspected in the cell where it is asked: 1, 2, 3 or 4.
    6. 0.5: Right: half of the sums are cut off, and the others keep their squares.
       1: That is the sum's. relu makes 0 of each that is negative.
       else: How many of the sums are negative? And the squares of the others?
    7. 0.2 to 0.3: Right, or nearly: tanh takes a little each time.
       0 to 0.2: Not quite so small: the smaller a signal is, the less of it tanh takes.
       1: The *sums* keep their size. But tanh makes everything a little smaller.
       else: The sums keep their size, and tanh makes them a little smaller, nine times.
    8. 0 to 0.01: Right: that step makes all the difference.
       0.3 to 0.8: As at 0.2? Something happens between 0.2 and 0.25: drag, and see.
       else: Something happens between 0.2 and 0.25: drag, and see.
    9. 0 to 0.001: Right: nothing. One step, and every week is told the same.
       0.7 to 1: One step takes 0.03 times the gradient. How large are those of the first layer?
       else: How large are the gradients of the first layer? And 0.03 of that, in a tanh?
    10. 0.7 to 0.78: Right: the flat line.
       else: At 84, what is the slope of tanh? And what did a network do that got no gradient?
    11. 0.6 to 0.8: Right, or nearly: the sums have size 1, and tanh takes some of it.
       1: So large are the sums. And what does tanh do to them?
       else: Each layer brings its sums to the size 1, however small they come. And then tanh?
    12. -0.7 to -0.66: Right: it has 1/3, and lacks 2/3.
       0.66 to 0.7: The size is right. If that logit grows, does the loss grow?
       0.33 to 0.34: That is its probability. The loss is -z + log of the sum of the powers.
       else: Write your loss first, and ask it.
    13. 2.3 to 2.31: Right: the logarithm of 10.
       0.1: That is the probability. What is minus its logarithm?
       -2.31 to -2.3: Minus the logarithm of 1/10: is that negative?
       else: Each digit gets the probability 1/10. What is minus the logarithm of that?
    14. 0.79 to 0.8: Right: the best that it can say is 1 for the right digit and -1 for the others.
       0: For a loss of 0 the logits have to differ by far. By how much can these?
       else: A tanh is between -1 and 1. What are the best ten logits, and what is their loss?
""")

solution = solutions(globals())
