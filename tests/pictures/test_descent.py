"""The page of gradient descent."""

import math
import re

import pytest

import autodiff as ad
from autodiff import show_descent


def quartic(x):
    return x**4 - 3 * x**2 + x


def bowl(p):
    return (p[0] ** 2 + 16 * p[1] ** 2) / 2


@pytest.mark.parametrize(
    ("f", "given", "words"),
    [(lambda x: x[0], {"x0": [1.0, 2.0, 3.0]}, "one or two"),
     (lambda x: x if x > 0 else -x, {"x0": 1.0}, "f cannot be compiled"),
     (lambda x: 1.0, {"x0": 1.0}, "a number that depends on x"),
     (ad.log, {"x0": -1.0}, "x0: found f = nan"), (ad.sin, {"x0": "1"}, "x0: .*expected a number, or two"),
     (ad.sin, {"x0": 1.0, "lr": 0}, "found lr = 0.0"), (ad.sin, {"x0": 1.0, "steps": 2.5}, "found steps = 2.5"),
     (lambda x, y: x * y, {"x0": 1.0, "lr": 2.0},
      r"of \(x, y\), .*write lambda p: f\(p\[0\], p\[1\]\), and x0=\[1\.0, 2\.0\]"),
     (ad.sin, {"x0": 1.0, "names": ["x", "y"]}, "names: found 2 names, expected 1"),
     (sum, {"x0": [1.0, 2.0], "names": ["x"]}, "names: found 1 name, expected 2"),
     (sum, {"x0": [1.0, 2.0], "names": "xy"}, "'xy' of type str, expected a list of names")],
)  # fmt: skip
def test_what_it_refuses(f, given, words):
    with pytest.raises((TypeError, ValueError), match=words):
        show_descent(f, **given)


@pytest.mark.parametrize(
    "f", [lambda x: x**2 - x, lambda x: ad.sin(x - 1), ad.log, lambda x: (x - 1) ** 2]
)
def test_where_the_function_is_zero_there_is_a_plot_too(browser, f):
    browser.show(show_descent(f, 1.0))
    curves = browser.each(".below path", "e.getAttribute('d')")
    assert max(map(len, curves)) > 500
    assert "NaN" not in "".join(curves)
    assert len(browser.texts(".below .end")) > 2
    assert browser.evaluate("pathAt(1).points.every((x) => !Number.isNaN(value(x)))")
    assert browser.texts("h1")[0] == "40 steps downhill"


def test_a_step_out_of_the_domain_is_told(browser):
    browser.show(show_descent(ad.log, 1.0))  # 1/x grows until a step passes 0
    for rate, told in ((0.01, False), (0.1, True)):
        browser.evaluate(f"s.rate = {rate}")
        words = browser.words()
        assert ("where f has no value" in words) == told
        assert not {"Diverges", "infinity"} & set(words.replace(":", "").split())
    assert "no value →" in words


def test_secant_and_path(browser):
    browser.show(show_descent(ad.cos, 2.0, lr=0.3))
    x = 2.0
    for _ in range(40):
        x += 0.3 * math.sin(x)
    assert browser.evaluate("pathAt(0.3).points.at(-1)[0]") == pytest.approx(x, rel=1e-12)
    secant = (math.cos(2.5) - math.cos(2)) / 0.5
    assert browser.evaluate("secantAt(0.5)") == pytest.approx(secant, rel=1e-12)
    assert "no right digits" in browser.words()
    browser.evaluate("s.h = 1e-6")
    assert "six right digits" in browser.words()


def test_the_valley_is_drawn_as_far_as_it_has_been_dragged(browser):
    browser.show(show_descent(ad.cos, 2.0, steps=0))
    assert "of gradient descent" not in browser.words()
    for h, bends, lost in (0.5, 0, 0), (1e-8, 1, 0), (1e-15, 1, 1), (0.1, 1, 1):
        browser.evaluate(f"s.h = {h}")
        words = browser.words()
        assert ("the curve bends" in words, "digits are lost" in words) == (bends, lost), h


STEADY = "the slope times the rate"


@pytest.mark.parametrize(
    ("f", "x0", "rate", "said"),
    [(lambda x: x**2, 3.0, 0.4, STEADY), (lambda x: x**2, 3.0, 0.6, "on the other side, lower"),
     (lambda x: x**2, 3.0, 1.0, "come no lower"), (lambda x: x**2, 3.0, 1.01, "ends higher than it starts"),
     (lambda x: x**2, 3.0, 2.0, "Diverges: the steps lead up"),
     (lambda x: -(x**2), 3.0, 0.5, "Runs away: the steps lead down"),
     (quartic, 1.9, 0.05, STEADY),  # but for the first
     (quartic, 1.9, 0.1, "overshoots|the rate|overshoot the floor"),
     (bowl, [-4.5, 1.5], 0.1, "In y the last .* in x"), (bowl, [0.0, 1.5], 0.1, STEADY),
     (bowl, [-4.5, 1.5], 0.04, STEADY)],
)  # fmt: skip
def test_it_judges_the_last_steps(browser, f, x0, rate, said):
    browser.show(show_descent(f, x0, lr=rate))
    assert re.search(said, browser.texts(".tell")[0])


def test_the_path_and_its_nearest_minimum_fill_the_picture(browser):
    browser.show(show_descent(quartic, 1.9, lr=0.05))
    low, high = browser.evaluate("ends()")
    assert -0.5 < low < 1.0 < 1.9 < high < 2.5  # its minimum is at 1.13, the lowest at -1.3
    browser.show(show_descent(lambda x: x**2, 3.0, lr=1.05))  # which runs away: not to its end
    assert all(3 < end < 5 for end in browser.evaluate("ends().map(Math.abs)"))
