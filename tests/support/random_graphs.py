"""Random graphs over all operations, for hypothesis."""

import itertools
from functools import cache
from types import SimpleNamespace

import hypothesis
import pytest
from hypothesis import strategies as st
from modes import recorded
from operations import FORMULAS

import autodiff as ad
from autodiff import Expression, Value, operation, ops


def for_all(*strategies, examples):
    """Test a property with that many examples, the same in each run; ten times as many if thorough.

    The thorough ones are random, and determined by TEST_SEED (see conftest.py).
    """

    def decorate(check):
        thorough = pytest.param(10, marks=pytest.mark.thorough)

        @pytest.mark.parametrize("times", [1, thorough], ids=["quick", "thorough"])
        def test(times, seed):
            settings = hypothesis.settings(max_examples=times * examples, derandomize=times == 1)
            property_of_all = settings(hypothesis.given(*strategies)(check))
            if times > 1:
                property_of_all = hypothesis.seed(seed)(property_of_all)
            property_of_all()

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return decorate


@operation
def cube(x):
    return x * x * x, lambda grad: (grad * 3 * x * x,)


def arity(formula):
    """How many numbers a formula takes beside the library."""
    return formula.__code__.co_argcount - 1


ours = SimpleNamespace(**{name: getattr(ad, name) for name in dir(ad)}, cube=cube)
ours.less_equal = ad.ops.less_equal
# The formulas as functions of three numbers, of which they take the first.
OPERATIONS = [lambda *xs, f=f: f(ours, *xs[: arity(f)]) for f in FORMULAS]
numbers = st.floats(-2, 2).filter(lambda x: abs(x) > 1e-3)


@st.composite
def layered(draw):
    """Leaves, and an output of layers of equal nodes: regular, as networks are, or not quite.

    Each layer applies one operation in several lanes, to nodes that it finds at regular or random
    places of the layers before, or takes dots, sums or logsumexps of whole layers.
    """
    rows = [[Value(draw(numbers)) for _ in range(draw(st.integers(1, 5)))] for _ in range(3)]
    leaves = [x for row in rows for x in row]
    constants = [0.5, 0.5, -1.5, 2.0]
    lanes, pick, apply = st.integers(1, 6), st.integers(0, 99), st.sampled_from(OPERATIONS)
    total = st.sampled_from([ad.sum, ad.logsumexp, ad.prod, lambda xs: ad.hypot(*xs)])

    def source(*others):
        return draw(st.sampled_from([*rows, *others]))

    for _ in range(draw(st.integers(1, 5))):
        k, kind = draw(lanes), draw(st.sampled_from(["each", "each", "dot", "reduce", "mixed"]))
        if kind == "reduce":
            f, x = draw(total), source(rows[-1] + rows[0], [*rows[-1], 0.5])
            found = [f(x[i:] + x[:i]) for i in range(k)]
        elif kind == "dot":
            x, pool, start = source(rows[0] + rows[1]), source(rows[0] + constants), draw(pick)
            down, across = draw(st.sampled_from([(len(x), 1), (1, k)]))
            places = [[start + i * down + j * across for j in range(len(x))] for i in range(k)]
            found = [ad.dot([pool[p % len(pool)] for p in row], x) for row in places]
        else:
            regular, everything = draw(st.booleans()), [x for row in rows for x in row]
            operations = [draw(apply)] * k if kind == "each" else [draw(apply) for _ in range(k)]
            inputs = []
            for _ in range(3):
                pool, start, step = source(constants, everything), draw(lanes), draw(lanes) % 3
                places = [start + i * step if regular else draw(pick) for i in range(k)]
                inputs.append([pool[p % len(pool)] for p in places])
            found = [f(*of_lane) for f, *of_lane in zip(operations, *inputs)]
        found = [x if isinstance(x, Value) else Value(x) for x in found]
        big = any(abs(x.data) > 3 for x in found)
        rows.append([ad.sin(x) for x in found] if big else found)
    return noted(leaves, ad.sum([*rows[-1], *rows[-2]]))


@st.composite
def rows(draw):
    """Two rows of leaves, and rows computed from these: how programs for a batch read arrays.

    A row is a part of another, or one that is repeated, gathered, negated, scaled; two are combined
    in pairs, all with all, or in dots of parts with parts.
    """
    small, entry = st.integers(1, 4), st.sampled_from
    leaves = [[Value(draw(numbers)) for _ in range(draw(small))] for _ in range(2)]
    found = [*leaves]
    views = [
        lambda x: x[draw(small) - 1 :] or x,
        lambda x: x[:: draw(small)],
        lambda x: x[::-1],
        lambda x: x * draw(small),
        lambda x: [a for a in x for _ in range(times)],
        lambda x: [
            x[i % len(x)] for i in draw(st.lists(st.integers(0, 9), min_size=1, max_size=6))
        ],
        lambda x: [-a for a in x],
        lambda x: [a * 0.5 for a in x],
        lambda x: [ad.sin(a) for a in x],
    ]
    both = [ops.add, ops.sub, ops.mul, lambda a, b: a / (b * b + 1.0), lambda a, b: -a * ad.cos(b)]
    totals = [ad.sum, ad.logsumexp, lambda x: ad.dot(x, x), lambda x: ad.dot(x, other[: len(x)])]
    for _ in range(draw(st.integers(2, 8))):
        x, other, times = draw(entry(found)), draw(entry(found)), draw(small)
        kind = draw(entry(["view", "view", "view", "pairs", "grid", "parts"]))
        if kind == "view":
            row = draw(entry(views))(x)
        elif kind == "parts":
            total = draw(entry(totals))
            other, x = other[:3], (x * 3)[:12]
            row = [total(x[i : i + len(other)]) for i in range(len(x) - len(other) + 1)]
        else:
            f, row = draw(entry(both)), list(zip(x, other * len(x)))
            row = [f(*pair) for pair in (row if kind == "pairs" else itertools.product(x, other))]
        row = row[:24]
        found.append([ad.sin(a) for a in row] if any(abs(a.data) > 3 for a in row) else row)
    noted([*leaves[0], *leaves[1]], ad.sum(found[-1]))
    return leaves, found[2:]


class Program:
    """A function of a sequence of numbers: formulas of earlier results, with the functions of m.

    `steps` has for each formula the places of its numbers, and whether its sine is taken.
    """

    def __init__(self, steps):
        self.steps = steps

    def __call__(self, xs, m=ours):
        @cache
        def result(i):  # what nothing asks for is not computed
            if i < len(xs):
                return xs[i]
            formula, places, bounded = self.steps[i - len(xs)]
            found = formula(m, *map(result, places))
            return m.sin(found) if bounded else found

        return m.sum([*map(result, range(len(xs) + len(self.steps))[-3:])])


@st.composite
def programs(draw, numbers=numbers, inputs=2, formulas=FORMULAS):
    """A program of up to a dozen formulas, and a point; its results stay below 3."""
    xs = [draw(numbers) for _ in range(inputs)]
    results, steps = list(xs), []
    for formula in draw(st.lists(st.sampled_from(formulas), min_size=1, max_size=12)):
        place = st.integers(0, len(results) - 1)
        places = [draw(place) for _ in range(arity(formula))]
        result = formula(ours, *[results[i] for i in places])
        bounded = not abs(result) < 3
        steps.append((formula, places, bounded))
        results.append(ad.sin(result) if bounded else result)
    y, leaves = recorded(Program(steps), xs)
    noted(leaves, y)
    return Program(steps), xs


def graphs():
    """Three leaves, and an output computed from them in up to a dozen random operations."""
    return programs(inputs=3).map(lambda drawn: recorded(*drawn)[::-1])


def noted(leaves, y):
    """Leaves and output; a test that fails with them prints the program that computes them."""
    hypothesis.note(Listing(leaves, y))
    return leaves, y


class Listing:
    """The program of a graph, written when it is printed."""

    def __init__(self, leaves, y):
        self.leaves, self.y = leaves, y

    def __repr__(self):
        program = Expression(self.y).compile(self.leaves, wrt=[])
        return f"inputs = {[x.data for x in self.leaves]}\n{program.source}"
