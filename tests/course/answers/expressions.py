"""Notebook 9, expressions: right answers, and wrong ones with what they are told."""

import random

import numpy as np

import autodiff as ad
from autodiff import abs, less, minimum, where
from autodiff.course.expressions import Symbol, Thrifty, back_with, symbol_with


class Apart:
    """A symbol that writes in one place, from the fields of a tuple."""

    def __init__(self, *fields):
        self.name, self.lines = fields

    def __repr__(self):
        return str(self.name)

    def __add__(self, other, sign="+"):
        return self.write(f"{self} {sign} {other}")

    def __mul__(self, other):
        return self.__add__(other, "*")

    def sin(self):
        return self.write("math.sin(" + self.name + ")")

    def write(self, text):
        self.lines.append(f"v{len(self.lines) + 1} = {text}")
        return self.__class__(self.lines[-1].partition(" = ")[0], self.lines)


def by_index(self, text):
    for one in ("1.0 * ", " * 1.0"):
        if text.startswith(one) or text.endswith(one):
            return type(self)(text.replace(one, ""), self.lines)
    texts = [line.split(" = ")[1] for line in self.lines]
    if text in texts:
        return type(self)(f"v{texts.index(text) + 1}", self.lines)
    return Symbol.write(self, text)


def numbered_from_0(self, text):
    self.lines.append(f"v{len(self.lines)} = {text}")
    return type(self)(f"v{len(self.lines) - 1}", self.lines)


def by_none(output, closures):
    """With a slot for every node, as `adjoints` has it."""
    bar = dict.fromkeys(closures) | {output: 1.0}
    for node in list(closures)[::-1]:
        if bar[node] is None:
            continue
        for k, message in enumerate(closures[node](bar[node])):
            parent = node.parents[k]
            if message is not None:
                bar[parent] = message if bar.get(parent) is None else message + bar[parent]
    return bar


RIGHT = {  # spellings of each exercise beside our own
    1: [Apart],
    2: [by_none, back_with()],
    3: [symbol_with(write=by_index)],
    4: [lambda x: minimum(abs(x), 1) * abs(x) - minimum(abs(x), 1) ** 2 / 2],
}

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, Symbol("x", []), "Expected the class itself, found a Symbol."),
    (1, symbol_with(write=lambda self, text: f"v{len(self.lines)}"), "found a str"),
    (1, symbol_with(write=lambda self, text: Symbol(self.name, self.lines)), "found a Symbol"),
    (1, symbol_with(write=numbered_from_0), "should be v1 = x + x2, not v0 = x + x2."),
    (1, symbol_with(sin=lambda self: self.write(f"math.sin({self})") and None), "Nothing here yet: the name"),
    (2, back_with(lambda bar, x, message: message and bar.update({x: bar.get(x, 0.0) + message})), "whether a message `is None`"),
    (2, back_with(lambda bar, x, message: message != None and bar.update({x: bar.get(x, 0.0) + message})), "whether a message `is None`"),  # noqa: E711
    (2, back_with(lambda bar, x, message: bar.update({x: bar.get(x, 0) + message})), "Some messages are None"),
    (2, back_with(grad=lambda bar, node: bar[node]), "A node is not in `bar` before its first message"),
    (2, back_with(lambda bar, x, message: message is not None and bar.update({x: bar[x] + message})), "A node is not in `bar` before its first message"),
    (2, lambda output, closures: [1.0], "Return the adjoints of the nodes, a dict: found a list."),
    (2, back_with(lambda bar, x, message: message is not None and bar.update({x: bar.get(x, 0.0) - message})), "who reads the node"),
    (3, type("Short", (Thrifty,), {"write": lambda self, text: Thrifty.write(self, text.replace("1.0 * ", "").replace(" * 1.0", ""))}), "At 1.0 * x2 what is written should be nothing, not v1 = x2."),
    (3, symbol_with(write=lambda self, text: self), "should be v1 = math.sin(x); v2 = x + x2, not nothing"),
    (3, symbol_with(write=lambda self, text: 1.0), "found a float"),
    (4, lambda x: x.data, "Expected a Value, found a float"),
    (4, lambda x: np.where(abs(x).data > 1, 1.0, 2.0), "`where` of autodiff"),
    (4, lambda x: where(less(1, abs(x)), abs(x), x * x / 2), "A half is missing"),
]  # fmt: skip

RNG = random.Random(0)
TEXTS = ["x + x", "x + x2", "x * x2", "1.0 * x", "x * 1.0", "1.0 * x2", "11.0 * x", "1.0 * 1.0"]
TEXTS += [
    "x + 1.0",
    "x2 * 1.01",
    "math.sin(x)",
    "math.sin(x2)",
    "2 * x + 1.0",
    "x",
    "x2",
    "v1 + v2",
]

WIDER = {  # more inputs than a check asks about, in the same form
    1: [
        (lambda x, y: x + y * x + y,), (lambda x, y: y.sin() * y.sin(),), (lambda x, y: y + y,),
        (lambda x, y: (x.write("1.0"), x.write("y"), y.write("z"))[0],), (lambda x, y: x.sin().sin(),),
    ],
    2: [
        (lambda x, w: x * x * x + w,), (lambda x, w: -x - w,), (lambda x, w: ad.dot([x, w, x], [w, w, 2.0]),),
        (lambda x, w: ad.where(ad.less(ad.exp(x * w), w), x * w, x) * ad.maximum(x, w),),
        (lambda x, w: ad.logsumexp([x, w, x * w]),), (lambda x, w: (x + w) / (x - w) ** 2,),
        (lambda x, w: ad.tanh(w) + 0 * x,), (lambda x, w: ad.where(ad.less(w, x), x, 1.0) * w,),
    ],
    3: [(RNG.choices(TEXTS, k=k),) for k in range(1, 7) for _ in range(60)],
    4: [(x,) for x in (-100.0, -1.5, -1.001, -0.999, -1e-9, 1e-9, 0.5, 0.999, 1.001, 2.0, 1e6)],
}  # fmt: skip
