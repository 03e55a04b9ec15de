"""Exercises of notebook 1: right answers are praised, each common wrong one gets its hint."""

import math

import numpy as np
import pytest
from exercises.figures_numeric_derivatives import SecantPage
from exercises.numeric_derivatives import (
    check_1,
    check_2,
    check_3,
    solution_1,
    solution_2,
    solution_3,
)

from autodiff import Dual, Value, adjoints, finite_difference, grad, jvp


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_1, solution_1),
        (check_1, lambda f, x, h: (f(x - h) - f(x)) / -h),
        (check_2, solution_2()),
        (check_2, 4e-10),
        (check_3, solution_3),
        (check_3, lambda g, x: g(complex(x, 1e-30)).imag * 1e30),
    ],
)
def test_right_answers_are_praised(check, answer):
    right, said = check.verdict(answer)
    assert right, said
    assert said.startswith("Right")


WRONG = [
    (check_1, ..., "Nothing here yet"),
    (check_1, lambda f, x, h: ..., "Nothing here yet"),
    (check_1, lambda f, x, h: None, "returns nothing"),
    (check_1, 0.5, "Expected a function"),
    (check_1, lambda f: f, "Your code raises TypeError"),
    (check_1, lambda f, x, h: "12", "found a str"),
    (check_1, lambda f, x, h: [1.0], "Expected a number, found a list"),
    (check_1, lambda f, x, h: f, "Call it"),
    (check_1, lambda f, x, h: 12.0, "Not yet"),
    (check_1, lambda f, x, h: 3 * x**2, "Not yet"),
    (check_1, lambda f, x, h: (f(x + h) - f(x)) / h, "forward difference"),
    (check_1, lambda f, x, h: (f(x + h) - f(x - h)) / (2 * h), "central difference"),
    (check_1, lambda f, x, h: (f(x - h) - f(x)) / h, "sign"),
    (check_1, lambda f, x, h: f(x) - f(x - h), "Divide it by the run"),
    (check_1, lambda f, x, h: (f(x) - f(x - h)) / (2 * h), "not 2h"),
    (check_1, lambda f, x, h: f(x) - f(x - h) / h, "brackets"),
    (check_1, lambda f, x, h: finite_difference(f, x, h, "backward"), "write it yourself"),
    (check_1, lambda f, x, h: grad(f)(x), "write it yourself"),
    (check_2, ..., "Nothing here yet"),
    (check_2, "small", "Expected a number"),
    (check_2, True, "positive number"),
    (check_2, -1e-10, "positive number"),
    (check_2, math.nan, "positive number"),
    (check_2, 2.2e-16 ** (1 / 3), "plain cube root"),
    (check_2, 0.06, "wrong way"),
    (check_2, 1e-8, "Too large"),
    (check_2, 1e-12, "Too small"),
    (check_2, 1e-20, "Far too small"),
    (check_3, ..., "Nothing here yet"),
    (check_3, 4.053427893898621, "Expected a function"),
    (check_3, lambda g, x: ..., "Nothing here yet"),
    (check_3, lambda g, x: 4.053427893898621, "never calls g"),
    (check_3, lambda g, x: g(x + 1e-20j) / 1e-20, "complex number"),
    (check_3, lambda g, x: (g(x + 1e-20) - g(x)) / 1e-20, "lost in x"),
    (check_3, lambda g, x: (g(x + 1e-6) - g(x - 1e-6)) / 2e-6, "loses digits"),
    (check_3, lambda g, x: g(x), "real numbers"),
    (check_3, lambda g, x: g(x + 1e-20j).real, "g itself"),
    (check_3, lambda g, x: g(x + 1e-20j).imag, "Divide by h"),
    (check_3, lambda g, x: -g(x + 1e-20j).imag / 1e-20, "sign"),
    (check_3, lambda g, x: g(x + 1e-3j).imag / 1e-3, "too large"),
    (check_3, lambda g, x: abs(g(x + 1e-20j)) / 1e-20, "Not yet"),
    (check_3, lambda g, x: finite_difference(g, x, method="complex"), "write it yourself"),
    (check_3, lambda g, x: grad(g)(x), "write it yourself"),
    (check_3, lambda g, x: jvp(g, (x,), (1.0,))[1], "write it yourself"),
    (check_3, lambda g, x: g("x"), "Your code raises"),
]


@pytest.mark.parametrize(("check", "answer", "hint"), WRONG)
def test_each_wrong_answer_has_its_hint(check, answer, hint):
    right, said = check.verdict(answer)
    assert not right
    assert hint in said


def test_the_secant_becomes_the_tangent_as_h_is_dragged(browser, tmp_path):
    (tmp_path / "page.html").write_text(SecantPage()._repr_html_(), encoding="utf-8")
    drag = """
        const h = document.getElementById("h"), said = document.getElementById("slopes");
        const before = said.textContent;
        h.value = -4; h.dispatchEvent(new Event("input")); [before, said.textContent]"""
    browser.open((tmp_path / "page.html").as_uri())
    ((before, after),) = browser.in_frames(drag)
    # (cos(2 + h) - cos 2) / h, with h = 10**0.3 and 0.0001
    assert before == "slope of the secant -0.12082, of the tangent -0.90930"
    assert after == "slope of the secant -0.90928, of the tangent -0.90930"


def test_a_number_in_quotes_is_no_number():
    for check, answer in (
        (check_1, lambda f, x, h: str(solution_1(f, x, h))),
        (check_2, "4e-10"),
        (check_3, lambda g, x: f"{solution_3(g, x)}"),
    ):
        assert check.verdict(answer) == (False, "Expected a number, found a str.")


def test_printing_is_not_returning():
    right, said = check_1.verdict(lambda f, x, h: print(solution_1(f, x, h)))
    assert not right
    assert "returns nothing" in said


def test_a_step_to_the_side_may_be_an_array_of_no_dimension():
    assert check_3.verdict(lambda g, x: g(np.array(x + 1e-20j)).imag / 1e-20)[0]


@pytest.mark.parametrize(
    "borrowed", [lambda g, x: adjoints(g(v := Value(x)))[v], lambda g, x: g(Dual(x, 1.0)).tangent]
)
def test_numbers_of_the_package_are_not_a_difference(borrowed):
    right, said = check_3.verdict(borrowed)
    assert not right
    assert "package" in said
