"""Notebook 3, forward mode: right answers, and wrong ones with what they are told."""

import math

from autodiff.course.forward_mode import Pair, Tagged, solution_4
from autodiff.course.verdicts import Edit


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


def power_of_pairs(a, b):
    slope = b.primal * a.primal ** (b.primal - 1)
    z = a.primal**b.primal
    return ByFormula(z, slope * a.tangent + math.log(a.primal) * z * b.tangent)


RIGHT = {  # spellings of each exercise beside our own
    1: [ByFormula],
    2: [power_of_pairs],
    3: [ByCases],
    4: [{key: [mode.title(), n] for key, (mode, n) in solution_4().items()}],
}

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, type("Plain", (Pair,), {"__add__": lambda a, b: a.primal}), "Expected a Pair from a + b, found an int."),
    (1, Edit("Pair(self.primal * other.primal", "Pair(self.primal + other.primal"), "the primal of a * b should be 12, not 7"),
    (1, Edit("tangent = self", "tangent = self.tangent = self"), "a * b has changed a or b"),
    (1, Edit("return Pair(self.primal + other.primal, self.tangent + other.tangent)", "..."), "Right so far: the primal of a * b, the tangent of a * b, the primal of a / b, the tangent of a / b. Nothing here yet: the primal of a + b"),
    (2, lambda a, b: a.primal**b.primal, "Expected a Pair, found an int."),
    (3, type("Half", (Tagged,), {"__add__": lambda x, y: ..., "__mul__": Tagged.__mul__}), "the primal of x * y. Nothing here yet: the tag of x + y"),
    (3, type("Other", (Tagged,), {"__mul__": lambda x, y: x if x.tag > y.tag else y}), "y may be a plain number"),
    (3, type("Number", (Tagged,), {"__add__": lambda x, y: x.primal}), "Expected a Tagged from x + y"),
    (3, Edit("a + b, a_dot + b_dot, tag", "a + b, a_dot + b_dot, tag + 1"), "the tag of x + y should be 1, not 2"),
    (3, Edit("split(self, tag), split(other, tag)", "[(getattr(x, 'primal', x), split(x, tag)[1]) for x in (self, other)]"), "a number with another tag is a constant"),
    (4, {"a": ("forward", 1), "b": (..., ...), "c": ..., "d": (..., ...)}, "Right so far: a. Nothing here yet: b, c, d."),
    (4, solution_4() | {"c": ("reverse", 40)}, "c: forward mode pays for inputs"),
    (4, solution_4() | {"a": ("onward", 1)}, "a: expected a pair"),
    (4, dict.fromkeys("abcd", 1), "a: expected a pair"),
]  # fmt: skip
