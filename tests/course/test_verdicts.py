"""What an exercise says: nothing yet, what differs and where, in lines that fit the page."""

from typing import NamedTuple

import numpy as np
import pytest

from autodiff.course.verdicts import Exercise, empty, guesses, solutions, wrapped


def test_only_the_dots_are_nothing():
    assert empty(type("Class", (), {"__init__": lambda self: 5, "step": lambda self: None}))
    assert not empty(lambda: 5)
    assert not empty(type("Class", (), {"zero_grad": lambda self: None, "step": lambda self: 5}))
    assert empty([(..., None), {"a": ...}])
    assert not empty([])
    assert not empty((..., 7.0))


class Pair(NamedTuple):
    primal: float
    tangent: float


@pytest.mark.parametrize(
    ("right", "found", "said"),
    [(1 / 3, 1 / 3 + 1e-9, "The result should be 0.333333333, not 0.333333334. Close, but not exact."),
     (np.eye(2), np.array([[1.0, 0.0], [5.0, 1.0]]), "The result[1, 0] should be 0, not 5."),
     (Pair(1.0, 2.0), Pair(1.0, 2.0 + 1e-12), "Right."),
     (Pair(1.0, 2.0), Pair(1.0, 3.0), "The result.tangent should be 2, not 3."),
     ([Pair(1.0, 2.0)], [Pair(1.0, 3.0)], "The result[0].tangent should be 2, not 3."),
     (Pair(1.0, 2.0), 1.0, "Expected a Pair, found a float."),
     (Pair(1.0, 2.0), (1.0, 2.0), "Expected a Pair, found a tuple."),
     (1.0, Pair(1.0, 2.0), "Expected a number, found a Pair."),
     ([1.0, 2.0], Pair(1.0, 2.0), "Expected an array, found a Pair."),
     (True, 1.0, "Expected a bool, found a float.")],
)  # fmt: skip
def test_a_difference_is_told_by_place_and_digits_and_a_named_tuple_is_no_array(right, found, said):
    check = Exercise(lambda: right, slips={}, praise="Right.")
    assert " ".join(check.verdict(lambda: found).text.split()) == said


def third(x):
    return x / 3


def test_a_hint_fits_the_page_and_keeps_its_line_breaks():
    short, long = ["A short line.", "", "    kept(as_it, stands)"], "and on, " * 20 + "x" * 100
    said = wrapped("\n".join([*short, long])).split("\n")
    assert said[:3] == short
    assert [len(line) <= 90 for line in said] == [True] * (len(said) - 1) + [False]


def test_the_next_cells_run_with_our_answer_until_the_readers_is_right(capsys):
    check = Exercise(third, at=[(1.0,)], slips={}, praise="Right.")
    check.place = "lesson", "4"
    mine = lambda x: x / 3  # noqa: E731
    assert check.yours_or_ours(mine) is mine
    assert check.yours_or_ours(lambda x: ...) is third
    assert check.yours_or_ours(third) is third  # the cell, run once more
    ours = "Exercise 4: until yours is right, we go on with ours.\n"
    assert capsys.readouterr().out == f"Exercise 4: we go on with yours.\n{ours}{ours}"


def test_a_solution_is_its_code(capsys):
    show = solutions({"solution_1": third})
    show(1)
    assert "return x / 3" in capsys.readouterr().out
    show(4)
    assert "only [1]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("guess", "said"),
    [("3", "✗ Expected one number, found a str"), (np.float64(3), "✓ Right: three"),
     (8, "✗ Too many"), (9.5, "✗ Too many"), (9.6, "✗ Count them"),
     (0.1 * 3 * 10, "✓ Right: three"), (0.3 / 0.1, "✓ Right: three"), (2.9999, "✗ Count them")],
)  # fmt: skip
def test_a_guess_is_told_what_stands_by_its_number(guess, said, capsys):
    text = """
    1. 5: Right: five.
    2. 3: Right: three.
       8 to 9.5: Too many.
       else: Count them.
    """
    guesses(text)(2, guess)
    assert capsys.readouterr().out.startswith(said)
