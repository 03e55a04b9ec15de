"""The page of training: what people do in it, what it says, what it refuses.

Its steps are in test_trainer.py, what all pages have in common in test_pages.py.
"""

import base64
import math
import re

import pytest
from browser import eventually
from pictures import classes, network, of_classes, sunflower

import autodiff as ad
from autodiff import nn, optim, show_training

LINE, WIDE = nn.Linear(1, 1), nn.Linear(1, 600)


def looks(x):
    return LINE(x)[0] if x[0] > 0 else -LINE(x)[0]


@pytest.mark.parametrize(
    ("model", "inputs", "words"),
    [
        (looks, [0.0, 1.0], "cannot be compiled: .*where"),
        (lambda x: 1.0, [0.0, 1.0], "number|Value"),
        (nn.Sequential(nn.Dropout(0.5), LINE), [0.0, 1.0], "draws no masks for Dropout"),
        (LINE, [[1.0], [1.0, 2.0]], "different lengths"),
        (LINE, range(501), "found 501 samples"),
        (WIDE, [0.0, 1.0], "1200"),
    ],
)
def test_what_it_refuses(model, inputs, words):
    descent = optim.SGD((WIDE if model is WIDE else LINE).parameters(), lr=0.1)
    with pytest.raises((TypeError, ValueError), match=words):
        show_training(model, inputs, [0.0] * len(inputs), nn.mse_loss, descent)


def test_without_scripts_three_pictures_stand_there():
    images = re.findall(r'src="data:image/svg\+xml;base64,(.*?)"', sunflower()._picture())
    start, slopes, end = [base64.b64decode(image).decode() for image in images]
    sticks = [re.findall(r"([\d.]+)V([\d.]+)", picture) for picture in (start, end)]
    off = [sum(abs(float(y) - float(said)) for y, said in each) for each in sticks]
    assert [*map(len, sticks)] == [12, 12]
    assert off[1] < 0.1 * off[0]
    assert re.findall(r'"end">([-.\d]+)<', slopes) == ["-3.38", "-1.05", "-7.17", "-13.3"]


# -- In a browser -----------------------------------------------------------------------------------


def test_step_run_and_start_again(browser):
    browser.show(of_classes(2, 8, 8, 1), motion="no-preference")
    before = browser.evaluate("t.loss")
    browser.push("Step")
    assert "step 1" in browser.words()
    browser.push("Run")
    eventually(lambda: browser.evaluate("t.steps") >= 10)
    browser.push("Pause")
    assert browser.evaluate("t.loss") < before
    browser.push("Start again")
    assert browser.evaluate("[t.steps, t.loss, s.ghosts.length]") == [0, before, 1]


@pytest.mark.parametrize("width", [1200, 833, 390, 324])
def test_controls_stay_where_they_are_while_it_runs(browser, width):
    browser.show(of_classes(2, 8, 8, 1), width=width)
    controls = "[...document.querySelectorAll('.controls > *')]"
    places = f"{controls}.map((x) => [x.offsetLeft, x.offsetTop])"
    before = browser.evaluate(places)
    assert len({y for _, y in before[:3]}) == 1  # the buttons stand in a row
    browser.evaluate("t.loss = 0.000634, t.steps = 12345, s.running = true, paint()")
    assert browser.evaluate(places) == before


def test_the_rate_is_dragged_until_it_diverges(browser):
    browser.show(sunflower(), width=833)
    browser.push("Which way")
    browser.words()
    browser.enter(".rate input", math.log(0.1))
    for _ in range(20):
        browser.push("Step")
    assert "Too large a step\n\nDiverged at step 7." in browser.words()
    assert browser.texts(".slider.off")
    browser.evaluate("t.loss = 213000, paint()")
    assert browser.evaluate("document.documentElement.scrollWidth") <= 833
    assert browser.evaluate("[412.3, 99.4, 99.6].map((x) => amount(x, 2))") == ["412", "99", "100"]
    browser.push("Start again")
    assert "Diverged" not in browser.words()


def test_a_slider_of_a_parameter_and_its_derivative(browser):
    browser.show(sunflower(names=["week", "height (m)"]), width=390)
    assert "4.10" in browser.words()
    assert "height = a tanh(b ((week − 6) / 3) + c) + d" in browser.words().replace("\n", "")
    browser.enter(".row:last-of-type input", 1.5)
    browser.push("Which way")
    words, p, slopes = browser.words(), *browser.evaluate("[t.p, t.g]")
    assert p == [1.0, 1.0, 0.0, 1.5]
    assert f"{slopes[3]:.3g}".replace("-", "−") in words
    arrows = browser.evaluate("[...document.querySelectorAll('.arrow')].map((x) => x.offsetWidth)")
    far = [abs(slope) / max(map(abs, slopes)) for slope in slopes]
    assert [wide / max(arrows) for wide in arrows] == pytest.approx(far, abs=0.03)


def test_points_are_dragged_by_mouse_and_keys(browser):
    browser.show(sunflower(), width=1200)
    x, y = browser.place(".point[data-i='4']")
    browser.drag(x, y, x + 40)
    moved, loss, unit = browser.evaluate(
        "[t.rows[4][0], t.loss, (ranges[0][1] - ranges[0][0]) / (s.box.right - s.box.left)]"
    )
    assert moved == pytest.approx(5 + 40 * unit, abs=0.1)
    assert loss != pytest.approx(4.0999, abs=1e-3)
    browser.evaluate("document.querySelector('.point').focus()")
    browser.press("ArrowRight")
    assert browser.evaluate("t.rows[0][0]") > 1
    browser.press("n")
    assert browser.evaluate("document.activeElement.dataset.i") == "1"


def test_neurons_are_enlarged_and_dead_ones_counted(browser):
    model = network(2, 4, 4, 1, activation=ad.relu)
    for i in (0, 2):
        model.layers[0].bias[i].data = -100.0
    descent = optim.SGD(model.parameters(), lr=0.1)
    browser.show(show_training(model, *classes(20), nn.mse_loss, descent))
    assert "2 dead" in browser.words()
    assert len(browser.texts(".neuron.dead")) == 2
    browser.evaluate("document.querySelectorAll('button.neuron')[6].click()")
    assert "what neuron 3 of layer 2 makes of the plane" in browser.words()
