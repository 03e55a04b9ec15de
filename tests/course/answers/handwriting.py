"""Notebook 11, handwriting: right answers, and wrong ones with what they are told."""

import math
from types import FunctionType

from engines import closures, derivatives

from autodiff.course.handwriting import cross_entropy, slanted, solution_1
from autodiff.course.our_engine import Value
from autodiff.course.our_reader import Text
from autodiff.course.verdicts import Edit


def by_closures(number, parents, slopes):
    out = closures.Value(number, tuple(parents))

    def _backward():
        for parent, slope in zip(parents, slopes):
            parent.grad += slope * out.grad

    out._backward = _backward
    return out


def by_edges(number, parents, slopes):
    return derivatives.Value(number, [*zip(parents, slopes)])


def beside(engine, function):
    """A function in a notebook that runs on this engine."""
    return FunctionType(function.__code__, {**function.__globals__, "engine": engine})


def by_loops(logits, target):
    most = max(logits)
    total = sum(math.exp(z - most) for z in logits)
    slopes = [math.exp(z - most) / total for z in logits]
    slopes[target] -= 1
    return math.log(total) - (logits[target] - most), tuple(slopes)


class Written(Text):
    """In other words, with spaces."""

    def __add__(self, other):
        if isinstance(other, Text):
            return type(self)(self.text + " + " + other.text)
        return self

    def __mul__(self, other):
        return self if other == 1.0 else type(self)(" * ".join(x.name() for x in (self, other)))

    def __rsub__(self, one):
        return type(self)(f"1 - {self.name()}")

    def tanh(self):
        return type(self)("Math.tanh(" + self.text + ")")

    __radd__ = __add__
    __rmul__ = __mul__


named = Edit("Math.tanh({self.text})", "Math.tanh({self.name()})")
turned = Edit("{self.text}+{other.text}", "{other.text}+{self.text}", "{self.name()}*{other.name()}", "{other.name()}*{self.name()}")  # fmt: skip


def by_position(pixels, slant):
    def ink(x, y):
        return pixels[8 * y + x] if 0 <= x < 8 else 0

    image = []
    for y in range(8):
        whole = math.floor(slant * (y - 3.5))
        part = slant * (y - 3.5) - whole
        image += [(1 - part) * ink(x + whole, y) + part * ink(x + whole + 1, y) for x in range(8)]
    return image


def by_a_sum(xs, scores, right, rival):
    ahead = scores[right] + scores[rival] * -1
    ahead.backward()
    return tuple(x.grad for x in xs)


def of_sums(number, parents, slopes):
    """Right slopes by many nodes."""
    out = Value(number)
    for parent, slope in zip(parents, slopes):
        out = out + (parent - parent.data) * slope
    return out


RIGHT = {  # spellings of each exercise beside our own
    1: [beside(closures, by_closures)],
    2: [by_loops],
    3: [Written, named, turned],
    4: [by_position],
    5: [by_a_sum],
}

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, lambda number, parents, slopes: number, "Expected one Value of the engine, found a float."),
    (1, of_sums, "The numbers are right. Now make one node of it"),
    (1, lambda n, p, s: Value(n, p, lambda grad: [grad + x for x in s]), "the parent's slope times its own grad"),
    (1, lambda n, p, s: Value(0.0, p, lambda grad: [grad * x for x in s]), "slope times its own grad"),
    (1, beside(closures, solution_1), "Expected one Value of the engine"),  # ours, on another engine
    (1, beside(derivatives, by_edges), "A float(…), here or in your `Value`"),
    (2, lambda logits, k: cross_entropy(logits, k)[0], "Expected two things, the loss and the list of slopes, found a"),
    (2, lambda logits, k: (cross_entropy(logits, k)[0], ...), "Right so far: the loss. Nothing here yet: the slopes."),
    (2, lambda logits, k: (math.log(sum(map(math.exp, logits))) - logits[k], [0.0 for _ in logits]), "the slopes[0] should be"),
    (2, lambda logits, k: cross_entropy(logits, 0), "At logits 0, 0, target 1: the slopes[0] should be"),
    (3, Edit('Text(f"Math.tanh({self.text})")', 'f"Math.tanh({self.text})"'), "Expected a Text from each operator, found a str."),
    (3, Edit("{self.name()}*{other.name()}", "({self.text})*({other.text})"), "should be x0*w[1], not (x0)*(w[1])"),
    (4, lambda pixels, slant: slanted(pixels, slant)[:8], "The shape should be (64,), not (8,)."),
    (5, lambda xs, scores, right, rival: (scores[right] - scores[rival]).backward(), "a `return` is missing"),
    (5, lambda xs, scores, right, rival: xs, "Those are the Values."),
]  # fmt: skip
