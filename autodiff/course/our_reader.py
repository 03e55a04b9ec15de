# pyright: analyzeUnannotatedFunctions=false
"""Our answer to notebook 11: on the engine of notebook 4, what learns digits and becomes a page."""

import math
import random

from .our_engine import Value


def node(number, parents, slopes):
    return Value(number, parents, lambda grad: [grad * slope for slope in slopes])


def dot(ws, xs):
    w, x = [each.data for each in ws], [each.data for each in xs]
    return node(sum(p * q for p, q in zip(w, x)), [*ws, *xs], x + w)


def tanh(z):
    y = z.data.tanh() if hasattr(z.data, "tanh") else math.tanh(z.data)
    return node(y, [z], [1 - y * y])


class Linear:
    def __init__(self, weight, bias, activation):
        self.weight, self.bias, self.activation = weight, bias, activation

    def __call__(self, xs):
        return [self.activation(dot(row, xs) + b) for row, b in zip(self.weight, self.bias)]

    def parameters(self):
        return [w for row in self.weight for w in row] + self.bias


class Sequential:
    def __init__(self, *layers):
        self.layers = layers

    def __call__(self, xs):
        for layer in self.layers:
            xs = layer(xs)
        return xs

    def parameters(self):
        return [p for layer in self.layers for p in layer.parameters()]


def network(sizes, seed=0):
    rng, layers = random.Random(seed), []
    for n, m in zip(sizes, sizes[1:]):
        weight = [[Value(rng.gauss(0, n**-0.5)) for _ in range(n)] for _ in range(m)]
        layers.append(Linear(weight, [Value(0.0) for _ in range(m)], tanh))
    layers[-1].activation = lambda z: z
    return Sequential(*layers)


def cross_entropy(logits, target):
    powers = [math.exp(z - max(logits)) for z in logits]
    shares = [p / sum(powers) for p in powers]
    loss = math.log(sum(powers)) + max(logits) - logits[target]
    return loss, [share - (k == target) for k, share in enumerate(shares)]


class Adam:
    def __init__(self, parameters, lr):
        self.parameters, self.lr, self.steps = parameters, lr, 0
        self.m, self.s = [0.0 for _ in parameters], [0.0 for _ in parameters]

    def step(self):
        self.steps += 1
        for k, p in enumerate(self.parameters):
            self.m[k] = 0.9 * self.m[k] + 0.1 * p.grad
            self.s[k] = 0.999 * self.s[k] + 0.001 * p.grad**2
            m, s = self.m[k] / (1 - 0.9**self.steps), self.s[k] / (1 - 0.999**self.steps)
            p.data -= self.lr * m / (s**0.5 + 1e-8)
            p.grad = 0.0


def train(net, samples, epochs, lr=0.01, batch=16, seed=0, change=lambda pixels, rng: pixels):
    rng, adam, samples = random.Random(seed), Adam(net.parameters(), lr), [*samples]
    for _ in range(epochs):
        rng.shuffle(samples)
        losses = []
        for k in range(0, len(samples), batch):
            for pixels, digit in samples[k : k + batch]:
                logits = net([Value(pixel) for pixel in change(pixels, rng)])
                number, slopes = cross_entropy([z.data for z in logits], digit)
                node(number, logits, [slope / batch for slope in slopes]).backward()
                losses.append(number)
            adam.step()
        yield sum(losses) / len(losses)


def read(net, pixels):
    scores = [z.data for z in net([Value(pixel) for pixel in pixels])]
    return scores.index(max(scores))


def share(net, samples):
    return sum(read(net, pixels) == digit for pixels, digit in samples) / len(samples)


def slanted(pixels, slant):
    image = []
    for y in range(8):
        row = [0.0, 0.0, *pixels[8 * y : 8 * y + 8], 0.0, 0.0]
        begin = 2 + slant * (y - 3.5)
        left, part = int(begin), begin % 1
        image += [(1 - part) * row[x] + part * row[x + 1] for x in range(left, left + 8)]
    return image


class Text:
    lines = []

    def __init__(self, text):
        self.text = text

    def name(self):
        if set("+-*(") & set(self.text):
            self.lines.append(f"v{len(self.lines)}={self.text}")
            self.text = f"v{len(self.lines) - 1}"
        return self.text

    def __add__(self, other):
        return self if other == 0 else Text(f"{self.text}+{other.text}")

    def __mul__(self, other):
        return self if other == 1 else Text(f"{self.name()}*{other.name()}")

    def __rsub__(self, other):
        return Text(f"{other}-{self.name()}")

    def tanh(self):
        return Text(f"Math.tanh({self.text})")

    __radd__, __rmul__ = __add__, __mul__


def javascript(net, inputs):
    parameters, Text.lines = net.parameters(), []
    numbers = [p.data for p in parameters]
    for k, p in enumerate(parameters):
        p.data, p.grad = Text(f"w[{k}]"), 0.0
    xs = [Value(Text(f"x{k}")) for k in range(inputs)]
    scores = net(xs)
    gs = [Value(Text(f"g{k}")) for k in range(len(scores))]
    dot(gs, scores).backward()
    found = [z.data for z in scores], [x.grad for x in xs], [p.grad for p in parameters]
    for p, number in zip(parameters, numbers):
        p.data, p.grad = number, 0.0
    lists = [x.data for x in xs], [g.data for g in gs], *found
    x, g, *found = ["[" + ",".join(each.text for each in row) + "]" for row in lists]
    body = f"let {','.join(Text.lines)}\nreturn [{','.join(found)}]"
    return f"function program({x},w,{g}){{{body}}}"
