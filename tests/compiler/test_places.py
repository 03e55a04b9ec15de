"""Where arguments lie in arrays: runs, views, grids, and lists where nothing is regular."""

import numpy as np
import pytest
from tables import cases, text_of

from autodiff.compiler.places import Grid, grids, index_text, nested_runs, place_of


@pytest.mark.parametrize(
    ("line", "runs"),
    [
        ([3, 4, 5], [(3, 1)]),
        ([0, 5, 10], [(3, 5)]),
        ([2, 3, 7, 8], [(2, 5), (2, 1)]),
        ([0, 1, 4, 5, 20, 21, 24, 25], [(2, 20), (2, 4), (2, 1)]),
        ([1, 1, 2, 2], [(2, 1), (2, 0)]),
        ([0, 1, 0, 1], [(2, 0), (2, 1)]),
        ([5, 3], [(2, -2)]),
        ([0, 1, 3], []),
        ([0, 1, 4, 6], []),
        ([7], []),
    ],
)
def test_runs_in_runs(line, runs):
    assert nested_runs(np.array(line)) == runs


def rows(count, width, *columns):
    """What columns of a grid that starts at 10 are as positions."""
    grid = np.arange(10, 10 + count * width).reshape(count, width)
    return [grid[:, part] for part in columns]


@pytest.mark.parametrize(
    ("reads", "found"),
    [
        (rows(4, 3, slice(0, 2), 2), [Grid(10, 4, 3)]),  # weights and a bias for each neuron
        (rows(4, 3, 2), [Grid(12, 4, 3)]),  # the bias alone
        (rows(6, 3, 2), [Grid(12, 6, 3)]),  # it would end after the last
        (rows(4, 2, 0, 1), [Grid(10, 4, 2)]),
        (rows(4, 3, slice(0, 3)), [Grid(10, 4, 3)]),  # a matrix
        ([x.T for x in rows(4, 3, slice(0, 3))], [Grid(10, 4, 3)]),
        ([np.arange(10, 14)], []),  # a row
        ([np.array([3])], []),
        ([np.arange(24).reshape(2, 3, 4)], []),  # in a row, and so a part of it
        ([np.arange(24).reshape(2, 3, 4)[:, :2]], [Grid(0, 2, 12)]),  # gates
        ([np.arange(6)[:, None] + np.arange(3)], []),  # overlapping windows
        ([np.array([0, 1, 3])], []),
        ([np.arange(0, 4, 2), np.arange(5, 9, 2)], [Grid(0, 2, 2), Grid(5, 2, 2)]),
    ],
)
def test_grids(reads, found):
    found = [Grid(min(x.start, 30 - x.rows * x.width), *x[1:]) for x in found]
    assert grids(reads, 30) == found


def test_a_grid_that_does_not_fit_is_none():
    assert grids([np.arange(0, 9, 4)], 9) == []
    assert grids([np.arange(3, 9, 3)], 6 + 3) == [Grid(3, 2, 3)]


@pytest.mark.parametrize(
    ("positions", "box", "laid"),
    [
        (np.arange(6), ((0, 2), (0, 3)), {"g": 6}),
        (np.arange(3, 6), ((1, 2), (0, 3)), {"g": 3}),
        (np.array([1, 4, 7]), ((0, 3), (1, 2)), {"g": 3}),
        (np.array([0, 1, 3, 4]), ((0, 2), (0, 2)), {"c": 2, "d": 2}),
        (np.arange(12).reshape(4, 3).T, ((0, 4), (0, 3)), {"h": 4, "g": 3}),
        (np.array([4, 4, 5, 5]), ((1, 2), (1, 3)), {"c": 2}),
        (np.array(5), ((1, 2), (2, 3)), {}),
    ],
)
def test_parts_of_a_grid(positions, box, laid):
    """Of four rows of three."""
    place = place_of(positions, "gh"[: positions.ndim], (4, 3))
    assert (place.box, place.laid, place.index_source) == (box, laid, "")


@pytest.mark.parametrize("positions", [[2, 0], [0, 2, 3], [0, 1, 2, 3], [[0, 1], [1, 2]]])
def test_what_is_no_part_is_listed(positions):
    place = place_of(np.array(positions), "gh", (4, 3))
    listed = eval(place.index_source, {"xp": np})
    np.testing.assert_array_equal(listed, positions)
    assert place.box == ()


def test_runs_in_too_many_runs_are_listed():
    deep = np.zeros(1, int)
    for k in range(11):
        deep = np.add.outer(deep, [0, 3**k]).ravel()
    assert len(nested_runs(np.sort(deep))) == 11
    assert place_of(np.sort(deep), "g", (3**11,)).index_source


RANGES = [
    lambda xp: xp.arange(3),
    lambda xp: xp.arange(0, 28, 7),
    lambda xp: xp.arange(3, 5),
    lambda xp: xp.asarray([2, 0]),
    lambda xp: xp.arange(0, 21, 7)[:, None] + xp.arange(2),
    lambda xp: (xp.arange(0, 20, 10)[:, None] + xp.arange(3)).reshape(-1),
    lambda xp: xp.asarray([0, 1, 2, 10, 11, 13]),
    lambda xp: xp.asarray([[0, 1], [7, 9]]),
]


@cases("positions", RANGES)
def test_regular_positions_are_written_as_ranges(positions):
    assert index_text(positions(np)) == text_of(positions)
