"""The page of gradient descent. What all pages have in common is in test_pages.py."""

import math

import pytest

import autodiff as ad
from autodiff import show_descent


@pytest.mark.parametrize(
    ("f", "x0", "words"),
    [
        (lambda x: x[0], [1.0, 2.0, 3.0], "one or two"),
        (lambda x: x if x > 0 else -x, 1.0, "f cannot be compiled"),
        (lambda x: 1.0, 1.0, "a number that depends on x"),
    ],
)
def test_what_it_refuses(f, x0, words):
    with pytest.raises((TypeError, ValueError), match=words):
        show_descent(f, x0)


def test_secant_and_path(browser):
    browser.show(show_descent(ad.cos, 2.0, lr=0.3))
    x = 2.0
    for _ in range(40):
        x += 0.3 * math.sin(x)
    assert browser.evaluate("pathAt(0.3).at(-1)[0]") == pytest.approx(x, rel=1e-12)
    secant = (math.cos(2.5) - math.cos(2)) / 0.5
    assert browser.evaluate("secantAt(0.5)") == pytest.approx(secant, rel=1e-12)
    assert "no right digits" in browser.words()
    browser.evaluate("s.h = 1e-6")
    assert "six right digits" in browser.words()


def test_the_valley_is_drawn_as_far_as_it_has_been_dragged(browser):
    browser.show(show_descent(ad.cos, 2.0, steps=0))
    assert "of gradient descent" not in browser.words()
    for h, bends, lost in (
        (0.5, False, False),
        (1e-8, True, False),
        (1e-15, True, True),
        (0.1, True, True),
    ):
        browser.evaluate(f"s.h = {h}")
        words = browser.words()
        assert ("the curve bends" in words, "digits are lost" in words) == (bends, lost)
