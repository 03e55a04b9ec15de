"""Programs in JavaScript, run by Node.js beside Python."""

import json
import math

import pytest
from hypothesis import given, settings
from modes import GRADIENTS, recorded
from operations import FORMULAS
from random_graphs import programs
from tables import cases, text_of
from test_modes import BARE, UNBOUNDED, agree, largest, of_a_list, outcome, special

import autodiff as ad
from autodiff import Expression, Value, Vector


@pytest.fixture
def run(node):
    """The value and the gradients of an output at points, by its program."""

    def run(y, leaves, points):
        source = Expression(y).javascript(leaves, wrt=leaves)
        return [[y, *slopes] for y, slopes in node(f"{json.dumps(points)}.map({source})")]

    return run


@cases("formula", [*FORMULAS, *BARE])
def test_every_formula_at_special_points(run, formula):
    f, ordinary = of_a_list(formula)
    y, leaves = recorded(f, ordinary)
    points = [*special(len(leaves))]
    for point, found in zip(points, run(y, leaves, points), strict=True):
        if text_of(formula).startswith(UNBOUNDED) and not all(map(math.isfinite, point)):
            continue  # a program says nan
        expected = outcome(GRADIENTS["backward"](f, ordinary), point)
        assert agree(found, expected, arrays=True), (point, found, expected)


def test_erf(run):
    x, points = Value(0.5), [0.0, -0.0, 1e-300, 1e-8, 0.1, 0.5, -1.0, 2.9, 3.1, 5.9, 6.1, -30.0]
    for at, [value, _] in zip(points, run(ad.erf(x), [x], [[at] for at in points]), strict=True):
        assert value == pytest.approx(math.erf(at), rel=1e-14, abs=0)
        assert math.copysign(1, value) == math.copysign(1, at)


def test_random_programs(run):
    @settings(max_examples=60)
    @given(programs(inputs=3))
    def check(program):
        f, xs = program
        [found] = run(*recorded(f, xs), [xs])
        expected = outcome(GRADIENTS["backward"](f, xs), xs)
        assert agree(found, expected, arrays=True, size=largest(f, xs))

    check()


def test_inputs_and_outputs_of_several_numbers(node):
    v, w = Vector([2.0, 4.0]), Value(5.0)
    source = Expression([(v * w).sum(), v[0], w + 1]).javascript([v], wrt=[w])
    assert node(f"({source})([3.0, 4.0, 10.0])") == [70.0, 3.0, 11.0]
