"""Notebook 3, forward mode: right answers, and wrong ones with what they are told."""

import math

from autodiff.course.forward_mode import (
    Pair,
    Tagged,
    confused,
    pair_with,
    solution_4,
    split,
    tagged_with,
)


class ByFormula:
    """A pair written in one go, with the quotient as calculus has it."""

    def __init__(self, primal, tangent=0.0):
        self.primal, self.tangent = primal, tangent

    def __add__(self, other):
        return ByFormula(self.primal + other.primal, other.tangent + self.tangent)

    def __mul__(self, other):
        a, b = self, other
        return ByFormula(b.primal * a.primal, a.primal * b.tangent + b.primal * a.tangent)

    def __truediv__(self, other):
        a, b = self, other
        top = a.tangent * b.primal - a.primal * b.tangent
        return ByFormula(a.primal / b.primal, top / b.primal**2)


class ByCases(Tagged):
    """Without split: the cases of the tags written out."""

    def __mul__(self, other):
        tag = getattr(other, "tag", 0)
        if tag < self.tag:
            return ByCases(self.primal * other, self.tangent * other, self.tag)
        if tag > self.tag:
            return ByCases(self * other.primal, self * other.tangent, tag)
        tangent = self.primal * other.tangent + self.tangent * other.primal
        return ByCases(self.primal * other.primal, tangent, tag)

    __rmul__ = __mul__


class OwnTag(Tagged):
    def __add__(self, other):
        found = Tagged.__add__(self, other)
        return Tagged(found.primal, found.tangent, found.tag + 1)


RIGHT = {  # spellings of each exercise beside our own
    1: [ByFormula],
    2: [lambda a: ByFormula(math.sin(a.primal), math.cos(a.primal) * a.tangent)],
    3: [ByCases],
    4: [{key: [mode.title(), n] for key, (mode, n) in solution_4().items()}],
}

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, type("Sum", (Pair,), {"__add__": Pair.__add__, "__mul__": lambda a, b: ..., "__truediv__": lambda a, b: ...}), "Right so far: the primal of a + b, the tangent of a + b. Nothing here yet: a * b, a / b."),
    (1, type("Plain", (Pair,), {"__add__": lambda a, b: a.primal}), "a + b: return a Pair. Yours returns an int."),
    (1, pair_with(mul=lambda a, da, b, db: (a + b, da * b + a * db)), "the primal of a * b should be 12, not 7"),
    (2, lambda a: math.sin(a.primal), "Return a Pair. Yours returns a float."),
    (3, type("Number", (Tagged,), {"__add__": lambda x, y: x.primal}), "x + y: return a Tagged"),
    (3, OwnTag, "the tag of x + y should be 1, not 2"),
    (3, tagged_with(split=lambda x, tag: (confused(x, tag)[0], split(x, tag)[1])), "a number with another tag is a constant"),
    (4, {"a": ("forward", 1), "b": (..., ...), "c": ..., "d": (..., ...)}, "Right so far: a. Nothing here yet: b, c, d."),
    (4, solution_4() | {"c": ("reverse", 40)}, "c: forward mode pays for inputs"),
    (4, solution_4() | {"a": ("onward", 1)}, "a: expected a pair"),
    (4, dict.fromkeys("abcd", 1), "a: expected a pair"),
]  # fmt: skip
