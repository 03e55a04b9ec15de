"""Notebook 9, expressions: right answers, and wrong ones with what they are told."""

import numpy as np

from autodiff import abs, less, minimum, where
from autodiff.course.expressions import Symbol, Thrifty, symbol_with


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


RIGHT = {  # spellings of each exercise beside our own
    1: [Apart],
    2: [symbol_with(write=by_index)],
    3: [lambda x: minimum(abs(x), 1) * abs(x) - minimum(abs(x), 1) ** 2 / 2],
}

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, Symbol("x", []), "Expected the class itself, found a Symbol."),
    (1, symbol_with(write=lambda self, text: f"v{len(self.lines)}"), "found a str"),
    (1, symbol_with(write=lambda self, text: Symbol(self.name, self.lines)), "found a Symbol"),
    (1, symbol_with(write=numbered_from_0), "should be v1 = x + x2, not v0 = x + x2."),
    (1, symbol_with(sin=lambda self: self.write(f"math.sin({self})") and None), "Nothing here yet: the name"),
    (2, type("Short", (Thrifty,), {"write": lambda self, text: Thrifty.write(self, text.replace("1.0 * ", "").replace(" * 1.0", ""))}), "whole side of the `*`"),
    (2, symbol_with(write=lambda self, text: self), "should be v1 = math.sin(x); v2 = x + x2, not nothing"),
    (2, symbol_with(write=lambda self, text: 1.0), "found a float"),
    (3, lambda x: x.data, "Expected a Value, found a float"),
    (3, lambda x: np.where(abs(x).data > 1, 1.0, 2.0), "`where` of autodiff"),
    (3, lambda x: where(less(1, abs(x)), abs(x), x * x / 2), "What is chosen by a node"),
]  # fmt: skip
