"""Notebook 9, expressions: right answers, and wrong ones with what they are told."""

import numpy as np

from autodiff import abs, minimum
from autodiff.course.expressions import Symbol
from autodiff.course.verdicts import Edit


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


class ByIndex(Symbol):
    def write(self, text):
        for one in ("1.0 * ", " * 1.0"):
            if text.startswith(one) or text.endswith(one):
                return type(self)(text.replace(one, ""), self.lines)
        texts = [line.split(" = ")[1] for line in self.lines]
        if text in texts:
            return type(self)(f"v{texts.index(text) + 1}", self.lines)
        return super().write(text)


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
    2: [by_none],
    3: [ByIndex],
    4: [lambda x: minimum(abs(x), 1) * abs(x) - minimum(abs(x), 1) ** 2 / 2],
}

SUM = "bar[parent] + message if parent in bar else message"

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, Symbol("x", []), "Expected the class itself, found a Symbol."),
    (1, Edit("type(self)(name, self.lines)", "name"), "found a str"),
    (1, Edit("type(self)", "Symbol"), "found a Symbol"),
    (1, Edit(" + 1", ""), "should be v1 = x + x2, not v0 = x + x2."),
    (1, Edit('"math.sin({self})")', '"math.sin({self})") and None'), "Nothing here yet: the name"),
    (2, Edit("message is not None", "message"), "whether a message `is None`"),
    (2, Edit("is not None", "!= None"), "whether a message `is None`"),
    (2, Edit("message is not None", "True", SUM, "bar.get(parent, 0) + message"), "Some messages are None"),
    (2, Edit(SUM, "bar[parent] + message"), "A node is not in `bar` before its first message"),
    (2, lambda output, closures: [1.0], "Expected the adjoints of the nodes, a dict, found a list."),
    (2, Edit(SUM, "bar.get(parent, 0.0) - message"), "who reads the node"),
    (3, Edit("for line in", 'text = text.replace("1.0 * ", "").replace(" * 1.0", "")\n        for line in', '"1.0" in (left, right)', "False"), "At 1.0 * x2 what is written should be nothing, not v1 = x2."),
    (3, Edit("super().write(text)", "self"), "should be v1 = math.sin(x); v2 = x + x2, not nothing"),
    (3, Edit("super().write(text)", "1.0"), "found a float"),
    (4, lambda x: x.data, "Expected a Value, found a float"),
    (4, lambda x: np.where(abs(x).data > 1, 1.0, 2.0), "`where` of autodiff"),
]  # fmt: skip
