"""The exercises: answers (of each notebook in the folder `answers`), slips with hints, and dots."""

import importlib
import inspect
import re
import subprocess
import sys
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from mutants import mutants

import notebooks
from autodiff.course import numeric_derivatives
from autodiff.course.verdicts import ERROR, HINT, Edit, same

NAMES = [path.stem[3:] for path in notebooks.LESSONS]
LESSONS = [importlib.import_module(f"autodiff.course.{name}") for name in NAMES]
ANSWERS = [importlib.import_module(f"answers.{name}") for name in NAMES]
CHECKS = {
    f"{number:02}.{name[6:]}": check
    for number, lesson in enumerate(LESSONS, start=1)
    for name, check in sorted(vars(lesson).items())
    if re.fullmatch(r"check_\d", name)
}

RIGHT = {f"{n:02}.{k}": right for n, x in enumerate(ANSWERS, 1) for k, right in x.RIGHT.items()}
ATTEMPTS = [(f"{n:02}.{k}", *more) for n, x in enumerate(ANSWERS, 1) for k, *more in x.ATTEMPTS]


class Half(NamedTuple):
    slip: object
    part: str


def slips_of(check):
    return [(slip, hint) for hint, slips in check.slips.items() for slip in slips]


def program(answer, check):
    """An answer; an Edit of ours is made one."""
    return answer.program(check.solution) if isinstance(answer, Edit) else answer


@pytest.mark.parametrize("name", CHECKS)
def test_a_right_answer_is_praised_however_it_is_written(name):
    check = CHECKS[name]
    for answer in [check.solution, *RIGHT[name]]:
        answer = program(answer, check)
        right, text, _ = check.verdict(answer)
        assert right, (answer, text)
    parts = [part for point in check.at.values() for part in check._expected(point)]
    assert not [text for name, text in parts if name in (HINT, ERROR)], "our own answer fails"


@pytest.mark.parametrize("name", CHECKS)
def test_every_slip_gets_its_own_hint_and_at_each_point_at_which_it_is_wrong(name):
    check = CHECKS[name]
    for slip, hint in slips_of(check):
        _, text, said = check.verdict(slip)
        assert said == hint, text
        assert "{" not in text
        for label, point in list(check.at.items())[:30]:  # of thousands
            ends = dict(check._parts(slip, point))
            assert not str(ends.get(ERROR)).startswith(("NameError", "AttributeError: module"))
            verdict = check._wrong(slip, label, point)
            assert verdict is None or verdict.hint in (hint, ends.get(HINT)), label


@pytest.mark.parametrize("name", CHECKS)
def test_an_answer_half_filled_in_hears_which_half(name, monkeypatch):
    check = CHECKS[name]
    point = next(iter(check.at.values()))
    parts = check._expected(point)
    for blank in {name for name, _ in parts} if len(parts) > 1 else []:
        half = [(name, ... if name == blank else x) for name, x in parts]
        monkeypatch.setattr(check, "_parts", lambda *_, half=half: half)
        text = check._wrong(check.solution, "", point).text
        assert text.startswith("Right so far: ")
        assert f"Nothing here yet: {blank}" in text
        monkeypatch.undo()


@pytest.mark.parametrize("name", CHECKS)
def test_a_wrong_part_beside_dots_hears_the_hint_of_a_slip_that_does_the_same_there(
    name, monkeypatch
):
    check = CHECKS[name]
    asked, memory = check._parts, {}

    def whole(slip, point):
        if (place := (id(slip), id(point))) not in memory:
            memory[place] = asked(slip, point)
        return memory[place]

    def half(answer, point):  # an answer (slip, part) is that part of the slip, beside dots
        if not isinstance(answer, Half):
            return whole(answer, point)
        return [(name, x if name == answer.part else ...) for name, x in whole(answer.slip, point)]

    monkeypatch.setattr(check, "_parts", half)
    slips = slips_of(check)
    for (slip, hint), (label, point) in product(slips, list(check.at.items())[:20]):
        parts = whole(slip, point)
        for (part, found), (_, right) in zip(parts, check._expected(point)):
            if part in ("", HINT, ERROR) or found is ... or same(found, right, check.close):
                continue
            said = check._wrong(Half(slip, part), label, point).hint
            alike = [
                by for other, by in slips if same(dict(whole(other, point)).get(part), found, 1e-9)
            ]
            assert said == hint or said in alike, (label, part, found)


SAME = {  # changes of our answer that leave it right, or that no input shows
    "02.1": ["['1', a, b]", "'/', a, b]:\n            pass", "n_2(b, a)", "return a\n"],  # in 2.2
    "03.1": ["__repr__(self):\n        pass", "}1", ":1}", "}+{"],  # what is printed
    "03.3": ["max(getattr", "(other, tag), split(self", "'tag', 1", "'tag', -1"],  # from 1 on
    "04.4": ["return found"],  # a dict in that order
    "06.5": ["add_bias(b, p)", "add_bias(d, r)"],  # given on the page, and of the same messages
    "07.1": ["zip(xs, ws)"],
    "07.2": ["dot(xs, row)"],
    "07.4": ["xs[-1]"],  # there is only one
    "07.6": ["(mean - z) ** 2"],
    "08.1": ["- 1e-08", "2e-08"],  # the check takes any small ε
    "08.2": ["'s', 'm'", "2e-08"],
    "08.3": ["'s', 'm'", "- 1e-08", "2e-08"],
    "09.3": ["(right, left)"],
}


@pytest.mark.parametrize("name", CHECKS | SAME)
def test_no_small_change_of_our_answer_is_praised(name):
    solution = CHECKS[name].solution
    if not callable(solution):
        return  # numbers, letters: each other one is wrong
    praised = []
    for text in mutants(inspect.getsource(solution)):
        names, made = dict(vars(sys.modules[solution.__module__])), {}
        exec(text, names, made)
        changed = made[solution.__name__]
        for other, known in names.items():  # what calls itself calls the changed one
            if callable(known) and inspect.unwrap(known) is solution and other != solution.__name__:
                names[other] = changed
        if CHECKS[name].verdict(changed).right:
            praised.append(text)
            assert any(words in text for words in SAME.get(name, [])), text
    for words in SAME.get(name, []):
        assert any(words in text for text in praised), f"{words}: no longer needed"


@pytest.mark.parametrize("name", CHECKS)
def test_nothing_yet(name):
    check = CHECKS[name]
    blank = [..., None]
    if inspect.isfunction(check.solution):
        blank += [lambda *_: None, *([lambda *_: ...] if check.returns else [])]
    for answer in blank:
        right, text, _ = check.verdict(answer)
        assert not right
        assert "othing here yet" in text


@pytest.mark.parametrize(("name", "answer", "said"), ATTEMPTS)
def test_a_real_attempt_is_answered_as_such(name, answer, said):
    check = CHECKS[name]
    right, text, _ = check.verdict(program(answer, check))
    assert not right
    assert said in text
    assert "othing here yet: put" not in text


def test_the_best_steps_are_where_the_check_says():
    """Their error is at most five times the least."""
    x = np.linspace(0.5e-4, 1.5e-4, 101)

    def error(h):
        rise = np.sin(1e4 * (x + h)) - np.sin(1e4 * (x - h))
        return np.median(abs(rise / (2 * h) - 1e4 * np.cos(1e4 * x)))

    least = min(map(error, np.logspace(-11, -8, 61)))
    inside = np.geomspace(numeric_derivatives.LOW, numeric_derivatives.HIGH, 9)
    assert all(error(h) <= 5 * least for h in inside)
    assert all(error(h) > 5 * least for h in (inside[0] / 4, inside[-1] * 4))


def test_the_package_imports_no_course_and_figures_what_they_draw_with_when_they_draw():
    names = ", ".join(lesson.__name__ for lesson in LESSONS)
    code = f"""import sys, autodiff.nn
assert 'autodiff.course' not in sys.modules
import {names}
assert not {{'matplotlib', 'sklearn', 'IPython', 'PIL'}} & {{*sys.modules}}"""
    subprocess.run([sys.executable, "-c", code], check=True)
