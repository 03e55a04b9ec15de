# pyright: analyzeUnannotatedFunctions=false
"""Notebook 4's gallery: all programs of up to three lines, which an engine has to get right."""

import operator
import sys
from contextlib import contextmanager
from functools import cache
from itertools import combinations_with_replacement, product

from autodiff import grad
from autodiff.tiny import Value

from .verdicts import Hint

INPUTS, LINES = "abcd", "pqrs"
NAMES = INPUTS + LINES
DATA = (3.0, -5.0, 7.0, -11.0)  # of both signs: sums are not in the order of their numbers
SIGNS = {"+": operator.add, "*": operator.mul}


def programs(lines):
    """All programs of that many lines with + and * on four inputs, none with an unused line."""
    operands = range(len(INPUTS), len(INPUTS) + lines)
    pairs = [combinations_with_replacement(range(before), 2) for before in operands]
    for program in product(*[list(product(SIGNS, choices)) for choices in pairs]):
        used = {i for _, pair in program for i in pair}
        if used.issuperset(operands[:-1]):  # the last line is the output
            yield program


GRAPHS = [program for lines in (1, 2, 3) for program in programs(lines)]


def listing(program):
    """A program as text: p = a + a; q = a + p."""
    lines = [f"{NAMES[i]} {sign} {NAMES[j]}" for sign, (i, j) in program]
    return "; ".join(f"{name} = {line}" for name, line in zip(LINES, lines))


FAR = ("+", (0, 0)), ("+", (1, 4)), ("*", (1, 5)), ("+", (4, 6))  # p is near to s, and q uses it
MILLION = tuple(("+", (i and i + 3,) * 2) for i in range(20))  # paths, in 20 doublings
GALLERY = {f"{listing(program)},": (program,) for program in GRAPHS}
GALLERY |= {f"{listing(FAR)},": (FAR,), "20 doublings,": (MILLION,)}


def run(program, inputs):
    """The nodes of a program: four inputs, then its lines. The last one is the output."""
    nodes = [*inputs]
    for sign, (i, j) in program:
        nodes.append(SIGNS[sign](nodes[i], nodes[j]))
    return nodes


@cache
def gradients(program):
    """The derivatives of a program with respect to its inputs, by the package."""
    return grad(lambda inputs: run(program, inputs)[-1])(DATA)


def fault(engine, program, calls=1, number=Value):
    """The first input whose grad an engine gets wrong, and what belongs there; else no text."""
    nodes = run(program, map(number, DATA))
    for _ in range(calls):
        engine(nodes[-1])
    for name, x, right in zip(INPUTS, nodes, gradients(program)):
        if x.grad != calls * right:
            return f"{listing(program)}: {name}.grad is {x.grad}, not {calls * right}"
    return ""


def examine(engine, calls=1):
    """Print how many graphs an engine gets right, and the smallest that it gets wrong."""
    faults = [text for text in (fault(engine, program, calls) for program in GRAPHS) if text]
    print(f"right on {len(GRAPHS) - len(faults):,} graphs of {len(GRAPHS):,}")
    if faults:
        print("smallest counterexample:", faults[0])


PATH_BY_PATH = (
    "It has no end, or goes path by path:\na graph of 20 doublings has 2²⁰ of them. "
    "Take each node once."
)


@contextmanager
def patience(calls=20_000):
    """Stops what makes too many calls: a walk path by path, or one without an end."""
    made, before = 0, sys.getprofile()

    def count(*_):
        nonlocal made
        made += 1
        if made > calls:
            sys.setprofile(before)
            raise Hint(PATH_BY_PATH)

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)
