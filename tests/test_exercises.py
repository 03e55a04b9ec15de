"""What all exercises have in common: a verdict in a line, and solutions on request."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from exercises import Check, Hint, solutions

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"


@Check
def check(answer):
    if answer() == 1:
        raise Hint("One too few.")
    return "Right: two."


def test_praise_hint_and_error_are_a_line_each(capsys):
    check(lambda: 2)
    check(lambda: 1)
    check(lambda: [][0])
    check(...)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "✓ Right: two."
    assert said[1] == "✗ One too few."
    assert said[2] == "✗ Your code raises IndexError: list index out of range"
    assert said[3].startswith("✗ Nothing here yet")


@Check
def talkative(answer):
    raise Hint("A short line.\n\n    kept(as_it, stands)\n" + "and on, " * 20 + "x" * 100)


def test_a_hint_fits_the_page_and_keeps_its_line_breaks(capsys):
    talkative(1)
    said = capsys.readouterr().out.splitlines()
    assert said[:3] == ["✗ A short line.", "", "    kept(as_it, stands)"]
    assert said[3].startswith("and on, and on,")
    assert [len(line) <= 90 for line in said] == [True] * (len(said) - 1) + [False]
    assert said[-1] == "x" * 100, "a word is not cut in two"


@pytest.mark.parametrize("answer", [..., None, (1, ...), [...], {"a": ...}, {"a": (1, ...)}])
def test_dots_that_are_still_there_are_seen(answer):
    assert check.verdict(answer)[0] is False


def solution_1():
    return 2


def test_a_solution_is_its_code(capsys):
    show = solutions(globals())
    show(1)
    assert "return 2" in capsys.readouterr().out
    show(4)
    assert "only [1]" in capsys.readouterr().out


@pytest.mark.parametrize("number", range(1, 11))
def test_a_notebook_shows_the_code_of_each_of_its_solutions(number, capsys):
    notebook = next(NOTEBOOKS.glob(f"{number:02}_*.ipynb"))
    module = import_module(f"exercises.{notebook.stem[3:]}")
    known = sorted(name for name in vars(module) if re.fullmatch(r"solution_\d", name))
    assert known[:3] == ["solution_1", "solution_2", "solution_3"]
    for name in known:
        module.solution(int(name[-1]))
        assert "def " in capsys.readouterr().out, name
