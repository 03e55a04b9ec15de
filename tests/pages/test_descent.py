"""The page of gradient descent."""

import math
import re
import xml.etree.ElementTree as ElementTree

import pytest
from browser import eventually

import autodiff as ad
from autodiff import optim, show_descent


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


# -- Two variables --------------------------------------------------------------------------------


def rosenbrock(p):
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


def himmelblau(p):
    return (p[0] ** 2 + p[1] - 11) ** 2 + (p[0] + p[1] ** 2 - 7) ** 2


HIMMELBLAU = [(-3.779310, -3.283186), (-2.805118, 3.131313), (3.0, 2.0), (3.584428, -1.848127)]


@pytest.mark.parametrize(
    ("f", "x0", "minima"),
    [(rosenbrock, [-1.2, 1.0], [(1, 1)]), (himmelblau, [-0.5, -1.0], HIMMELBLAU),
     (bowl, [-4.5, 1.5], [(0, 0)]), (lambda p: 1e-9 * rosenbrock(p), [-1.2, 1.0], [(1, 1)]),
     (lambda p: p[0] * p[1] + p[0], [1.0, 0.5], []), (lambda p: p[0] + p[1], [1.0, 0.5], [])],
)  # fmt: skip
def test_minima_are_found_and_named_and_a_saddle_is_none(browser, f, x0, minima):
    browser.show(show_descent(f, x0, lr=0.001))
    found = sorted(browser.evaluate("minima"))
    assert found == [pytest.approx(x, abs=1e-6) for x in minima]  # as many digits as are written
    assert len([x for x in browser.texts(".view .ink") if "minimum" in x]) == len(minima)
    assert {"x", "y"} <= {*browser.texts(".view .name")}
    assert len(browser.texts(".view .level")) >= bool(minima)


def test_what_is_finite_is_said_and_what_is_0_but_for_rounding_is_0(browser):
    browser.show(show_descent(bowl, [-4.5, 1.5]))
    browser.evaluate("s.rate = 0.398")
    words, x = browser.words(), [-4.5, 1.5]
    for _ in range(40):
        x = [x[0] - 0.398 * x[0], x[1] - 0.398 * 16 * x[1]]
    assert browser.evaluate("s.path.result") == pytest.approx(bowl(x), rel=1e-9)
    assert "infinity" not in words
    assert "diverges →" in words  # the label, and the sentence
    assert "Diverges: " in words
    browser.show(show_descent(himmelblau, [-0.5, -1.0], lr=0.01))
    assert 0 < browser.evaluate("s.path.result") < 1e-25
    assert browser.texts(".told b.error") == ["0"]
    browser.show(show_descent(lambda x: x**3 - 2 * x - 5, 2.0))  # lowest near: -6.09
    assert -7 < browser.evaluate("floor") < -6


def test_the_path_is_seen_clipped_and_its_cross_stands_where_it_leaves(browser):
    browser.show(show_descent(bowl, [-4.5, 1.5]), width=1200)
    browser.evaluate("s.rate = 0.2; paint()")  # y grows by 1 - 16 · 0.2 = -2.2
    places = "[e.cx.baseVal.value, e.cy.baseVal.value]"
    dots = browser.each(".path circle", places)
    assert all(math.dist(*pair) >= 8 for pair in zip(dots, dots[1:]))
    box = browser.evaluate(
        "(({ left, right, top, bottom }) => [left, right, top, bottom])(Object.values(grounds).at(-1))"
    )
    at = [
        float(v)
        for v in re.findall(r"[\d.]+", browser.each("g.error", "e.getAttribute('transform')")[0])
    ]
    assert (
        min(abs(at[0] - box[0]), abs(at[0] - box[1]), abs(at[1] - box[2]), abs(at[1] - box[3]))
        < 1e-6
    )
    assert "off the picture at step" in browser.words()


def test_the_start_is_dragged_and_moved_by_keys(browser):
    browser.show(show_descent(himmelblau, [-0.5, -1.0], lr=0.01), width=1200)
    ground, before = (
        browser.each(".view .axis", "e.getAttribute('d')"),
        browser.evaluate("results.length && results[0][1]"),
    )
    x, y = browser.place(".handle .hit")
    browser.drag(x, y, x + 100)
    start = browser.evaluate("s.x0")
    assert start[0] > 0
    assert browser.each(".view .axis", "e.getAttribute('d')") == ground  # the map stays
    assert browser.evaluate("results[0][1]") != before
    for _ in range(40):
        start = [v - 0.01 * g for v, g in zip(start, ad.grad(himmelblau)(start))]
    assert browser.evaluate("s.path.points.at(-1)") == pytest.approx(start, rel=1e-9)
    assert browser.evaluate("s.balls.length") == 0  # a drag drops none
    browser.evaluate("document.querySelector('.handle').focus()")
    before = browser.evaluate("s.x0")
    browser.press("ArrowUp")
    after = browser.evaluate("s.x0")
    assert (after[0] == pytest.approx(before[0]), after[1] > before[1]) == (True, True)


def test_balls_roll_by_sgd_momentum_and_adam_as_in_python(browser):
    browser.show(show_descent(himmelblau, [-0.5, -1.0], lr=0.01), width=1200)
    x, y = browser.place(".view", 0.7)
    browser.click(x, y)
    balls = browser.each(
        ".ball", "(({ x, y, width }) => [x + width / 2, y + width / 2])(e.getBoundingClientRect())"
    )
    trail = browser.evaluate("Object.values(grounds).at(-1).at(s.balls[0].at)")
    left, top = browser.each(".view", "[e.getBoundingClientRect().x, e.getBoundingClientRect().y]")[
        0
    ]
    assert (len(balls), trail) == (3, pytest.approx([x - left, y - top], abs=1))
    browser.evaluate("document.querySelector('.handle').focus()")
    browser.press("Enter")  # a ball at the start
    browser.push("Drop a ball")
    assert [len(x) for x in browser.evaluate("s.balls.map(({ trails }) => trails)")] == [3, 3, 3]
    at, trails = browser.evaluate("[s.balls[0].at, s.balls[0].trails.map((x) => x.at(-1))]")
    slope = math.hypot(*ad.grad(himmelblau)(at))
    kinds = [(optim.SGD, {"lr": 0.01}), (optim.SGD, {"lr": 0.01, "momentum": 0.9}),
             (optim.Adam, {"lr": 0.01 * slope / math.sqrt(2), "eps": 1e-12})]  # fmt: skip
    for (kind, options), end in zip(kinds, trails):
        xs = [ad.Value(v) for v in at]
        optimizer = kind(xs, **options)
        for _ in range(40):
            optimizer.zero_grad()
            himmelblau(xs).backward()
            optimizer.step()
        assert [x.data for x in xs] == pytest.approx(end, rel=1e-6)
    assert len(browser.texts(".ball")) == 9
    browser.push("Clear")
    assert browser.texts(".ball") == []


def test_basins_have_the_colour_of_the_minimum_that_is_reached_or_none(browser):
    browser.show(show_descent(himmelblau, [-0.5, -1.0], lr=0.01), width=1200)
    eventually(lambda: browser.evaluate("job?.took > 0"))
    pixel = """([x, y]) => { const { ends: [[x0, x1], [y0, y1]] } = Object.values(grounds).at(-1),
      c = document.querySelector(".basins"), [i, j] = [(x - x0) / (x1 - x0) * c.width,
        (y1 - y) / (y1 - y0) * c.height].map(Math.floor);
      return [...c.getContext("2d").getImageData(i, j, 1, 1).data].join(); }"""
    colours = browser.evaluate(f"minima.map({pixel})")
    assert len({*colours}) == 4
    for x in ([-0.5, -1.0], [2.0, 3.0], [-2.0, 2.0], [2.5, -2.5]):
        end = browser.evaluate(f"trailOf('SGD', {x}, 0.01).at(-1)")
        nearest = min(range(4), key=lambda k: math.dist(end, browser.evaluate("minima")[k]))
        assert browser.evaluate(f"({pixel})({x})") == colours[nearest]
    browser.evaluate("s.rate = 0.001; paint()")
    eventually(lambda: browser.evaluate("job?.took > 0"))
    assert browser.evaluate(f"({pixel})([-0.5, -1])") == "0,0,0,0"  # 40 short steps arrive nowhere
    browser.push("Basins")
    assert browser.texts(".basins") == []
    browser.show(show_descent(rosenbrock, [-1.2, 1.0], lr=0.001))
    assert "Basins" not in browser.words()  # of one minimum


def test_its_picture_needs_no_style_sheet(browser):
    browser.show(show_descent(himmelblau, [-0.5, -1.0], lr=0.01), width=1200)
    browser.evaluate("drop([1, 1])")
    picture = ElementTree.fromstring(browser.evaluate("mapAsText()"))
    assert not [x for x in picture.iter() if {"class", "style"} & set(x.attrib)]
    assert len([x for x in picture.iter() if x.tag.endswith("image")]) == 2  # shades, and basins
    size = "pixels(mapAsText()).then((x) => createImageBitmap(x)).then((x) => { wide = x.width })"
    browser.evaluate(f"wide = 0; {size}; 0")
    eventually(lambda: browser.evaluate("wide"))
    assert browser.evaluate("wide") == 2 * browser.evaluate(
        "document.querySelector('.view svg').clientWidth"
    )


@pytest.mark.parametrize(
    ("f", "x0", "rate"),
    [(lambda x: x**4 / 4 - x**2 - x / 3, 2.2, 0.1), (quartic, 0.4, 0.05), (himmelblau, [0.5, -1.0], 0.01)],
)  # fmt: skip
@pytest.mark.parametrize("width", [390, 1200])
def test_rounding_draws_no_spikes_and_no_line_goes_through_a_word(browser, f, x0, rate, width):
    browser.show(show_descent(f, x0, lr=rate), width=width)
    drawn = (
        "e.getAttribute('d').match(/[\\d.-]+[ ,][\\d.-]+/g).map((p) => p.split(/[ ,]/).map(Number))"
    )
    points = max(browser.each("svg.plot svg path.error", drawn), key=len)
    assert max(y for _, y in points) < 144  # the axis of the rates
    box = "(({ x, y, width, height }) => [x, y, x + width, y + height])(e.getBBox())"
    for arrow, (left, top, right, bottom) in browser.each("text.error", f"[e.textContent, {box}]"):
        through = [p for p in points if left < p[0] < right and top < p[1] < bottom]
        assert "→" not in arrow or through == []
