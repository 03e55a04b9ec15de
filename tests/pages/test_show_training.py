"""The page of training: what people do in it, what it says, what it refuses."""

import base64
import math
import re
from collections import Counter
from functools import partial

import pytest
from browser import eventually
from pictures import network, of_classes, sunflower

import autodiff as ad
from autodiff import nn, optim, show_training

LINE, PAIR, WIDE = nn.Linear(1, 1), nn.Linear(1, 2), nn.Linear(1, 600)


def of_numbers(model, inputs=(0.0, 1.0), validation=None, target=0.0):
    descent = optim.SGD((model if model in (WIDE, PAIR) else LINE).parameters(), lr=0.1)
    given = model, inputs, [target] * len(inputs), nn.mse_loss, descent
    return show_training(*given, validation=validation)


def of_flowers(outputs, targets, names=(), loss=None, **more):
    """Four inputs: classes by 3 or 1 outputs, or a number."""
    rows = [[math.sin(i * (k + 1)) for k in range(4)] for i in range(30)]
    model = network(4, 3, outputs)
    loss = loss or (nn.cross_entropy if outputs > 1 else nn.mse_loss)
    descent = optim.Adam(model.parameters(), lr=0.05)
    given = model, rows, [targets(i) for i in range(30)], loss, descent
    return show_training(*given, names=names, **more)


THIRDS, HALVES = (lambda i: i % 3), (lambda i: i % 2)
SPECIES = ["setosa", "versicolor", "virginica"]
NAMES = "show_training, names: .*"


class Norms(optim.SGD):
    def change(self, grad, state):
        return self.lr * sum(p.data for p in self.params) * grad


class Stepping(optim.SGD):
    def step(self):
        super().step()


def by(kind):
    """A page for an optimiser of one's own."""
    return show_training(LINE, [0.0, 1.0], [1.0, 3.0], nn.mse_loss, kind(LINE.parameters(), lr=0.1))


REFUSED = [
    (by, (Norms,), "cannot be compiled: .*p.data for p in self.params.* looks at a number"),
    (by, (Stepping,), r"optimizer: found Stepping.* your own defines change\(\), not step\(\)"),
    (of_numbers, (LINE, [LINE.bias[0]]), "show_training: found an input or a target that depends on a parameter"),
    (of_numbers, (lambda x: LINE(x)[0] if x[0] > 0 else -LINE(x)[0],), "cannot be compiled: .*where"),
    (of_numbers, (lambda x: 1.0,), "number|Value"),
    (of_numbers, (nn.Sequential(nn.Dropout(0.5), LINE),), "draws no masks for Dropout"),
    (of_numbers, (LINE, [[1.0], [1.0, 2.0]]), "different lengths"),
    (of_numbers, (LINE, range(501)), "found 501 samples"),
    (of_numbers, (LINE, range(300), (range(201), range(201))), "found 501 samples"),
    (of_numbers, (LINE, [0.0], [0.0, 1.0, 2.0]), r"validation: found .* of type list, expected \(inputs"),
    (of_numbers, (LINE, [0.0], ([0.0], [])), "validation: found 1 input and 0 targets"),
    (of_numbers, (LINE, [0.0], ([[0.0, 1.0]], [0.0])), "validation: found samples of 2 inputs, expected 1 input"),
    (of_numbers, (nn.Linear(1, 1),), "optimizer: found parameters that the loss does not depend on"),
    (of_numbers, (WIDE,), "1200"),
    (of_flowers, (3, THIRDS, [*"abcd"]), NAMES + "found 4 names, expected 5: 4 inputs and the target"),
    (of_flowers, (3, THIRDS, [*"abcd", *SPECIES]), NAMES + "one list"),
    (of_flowers, (3, THIRDS, [*"abcd", SPECIES[:2]]), NAMES + "found 2 class names, expected 3"),
    (of_flowers, (1, HALVES, [*"abcd", ["no"]]), NAMES + "found 1 class name, expected 2"),
    (of_flowers, (1, math.cos, [*"abcd", ["low", "high"]]), NAMES + "expected the name of the target"),
    (of_flowers, (1, math.cos, ["a", ["b"], *"cde"]), NAMES + r"found \['b'\] of type list, expected a text"),
    (of_flowers, (1, HALVES, [*"abcd", [0, 1]]), NAMES + "found 0 of type int, expected a text"),
    (of_flowers, (1, math.cos, "abcde"), NAMES + "abcde.*expected a list of names"),
]  # fmt: skip


@pytest.mark.parametrize(("page", "given", "words"), REFUSED)
def test_what_it_refuses(page, given, words):
    with pytest.raises((TypeError, ValueError), match=words):
        page(*given)


def test_without_scripts_a_picture_of_the_data_and_the_curve_stands_there():
    [image] = re.findall(r'src="data:image/svg\+xml;base64,(.*?)"', sunflower()._picture())
    picture = base64.b64decode(image).decode()
    assert len(re.findall(r"([\d.]+)V([\d.]+)", picture)) == picture.count("<circle") == 12


def test_buttons_enlarge_a_neuron_take_a_step_run_and_start_again(browser):
    browser.show(of_classes(2, 8, 8, 1), motion="no-preference")
    browser.evaluate("document.querySelectorAll('button.neuron')[10].click()")
    assert "what neuron 3 of layer 2 makes of the plane" in browser.words()
    assert browser.texts(".hits")[0].isdigit()
    before = browser.evaluate("t.loss")
    browser.push("Step")
    assert "step 1" in browser.words()
    browser.push("Run")
    eventually(lambda: browser.evaluate("t.steps") >= 10)
    browser.push("Pause")
    assert browser.evaluate("t.loss") < before
    browser.push("Start again")
    assert browser.evaluate("[t.steps, t.loss]") == [0, before]


@pytest.mark.parametrize("width", [1200, 948, 833, 760, 390, 360, 324])
def test_no_number_moves_anything_and_the_rate_has_room_for_a_hand(browser, width):
    browser.show(of_classes(2, 8, 8, 1), width=width)
    controls = "[...document.querySelectorAll('.controls > *')]"
    where = f"{controls}.map((e) => [e.offsetLeft, e.offsetTop])"
    places = f"[{where}, main.offsetHeight, document.documentElement.scrollWidth]"
    before = browser.evaluate(places)
    assert len({y for _, y in before[0][:3]}) == 1  # the buttons stand in a row
    assert browser.each(".rate input", "e.clientWidth")[0] >= 120
    for state in ("loss: 0.000634, steps: 12345", "loss: 1.2e-5, steps: 1234"):
        browser.evaluate(f"Object.assign(t, {{ {state} }}), s.running = !s.running, paint()")
        assert browser.evaluate(places) == before, state


def test_names_of_any_length_have_room(browser):
    browser.show(sunflower(names=["w" * 500, f"{'h' * 500} (cubic meters)"]), width=390)
    assert min(browser.each("svg text", "e.getBoundingClientRect().x")) > -1


def test_a_parameter_is_dragged_beside_its_slope_and_the_rate_until_it_diverges(browser):
    browser.show(sunflower(names=["week", "height (m)"]), width=390)
    assert "4.10" in browser.words()
    assert "height = a tanh(b ((week − 6) / 3) + c) + d" in browser.words().replace("\n", "")
    browser.enter(".row:last-of-type input", 1.5)
    browser.push("Which way")
    words, p, slopes = browser.words(), *browser.evaluate("[t.p, t.g]")
    assert p == [1.0, 1.0, 0.0, 1.5]
    assert f"{slopes[3]:.3g}".replace("-", "−") in words
    arrows = browser.each(".arrow", "e.offsetWidth")
    far = [abs(slope) / max(map(abs, slopes)) for slope in slopes]
    assert [wide / max(arrows) for wide in arrows] == pytest.approx(far, abs=0.03)
    browser.push("Start again")
    browser.enter(".rate input", math.log(0.097))  # meets 0.1
    for _ in range(20):
        browser.push("Step")
    assert "Too large a step\n\nDiverged at step 7." in browser.words()
    assert browser.texts(".slider.off")
    browser.emulate(width=833)
    browser.evaluate("t.loss = 213000, paint()")
    assert browser.evaluate("document.documentElement.scrollWidth") <= 833
    assert browser.evaluate("[412.3, 99.4, 99.6].map((x) => amount(x, 2))") == ["412", "99", "100"]
    browser.push("Start again")
    assert "Diverged" not in browser.words()


def test_points_are_dragged_by_mouse_and_keys(browser):
    browser.show(sunflower(), width=1200)
    x, y = browser.place(".point[data-i='4']")
    browser.drag(x, y, x + 40)
    unit = "(ranges[0][1] - ranges[0][0]) / (s.box.right - s.box.left)"
    moved, loss, unit = browser.evaluate(f"[t.rows[4][0], t.loss, {unit}]")
    assert moved == pytest.approx(5 + 40 * unit, abs=0.1)
    assert loss != pytest.approx(4.0999, abs=1e-3)
    browser.evaluate("document.querySelector('.point').focus()")
    browser.press("ArrowRight")
    assert browser.evaluate("t.rows[0][0]") > 1
    browser.press("n")
    assert browser.evaluate("document.activeElement.dataset.i") == "1"


def places(browser):
    """Where the samples stand in the plot."""
    return browser.each(".plot g", "(({ e, f }) => [e, f])(e.transform.baseVal[0].matrix)")


def test_a_sample_stands_between_the_classes_as_the_model_holds_it(browser):
    browser.show(of_flowers(3, THIRDS, [*"abcd", SPECIES]), width=1200)
    assert [text[2:] for text in browser.texts(".corner")] == SPECIES
    asides = []  # how far aside each stands, because many coincide: the same whatever is said
    for _ in range(2):
        says = browser.evaluate("s.predictions")
        start = "(({ x, y }) => [x, y])(e.getPointAtLength(0))"
        corners = browser.each(".plot .axis:not(.dashed)", start)[:3]
        found, right = places(browser), 0
        assert len({(round(x), round(y)) for x, y in found}) == 30  # none hides another
        asides.append([])
        for i, (logits, place) in enumerate(zip(says, found, strict=True)):
            p = [math.exp(z) / sum(map(math.exp, logits)) for z in logits]
            expected = [sum(x * c[axis] for x, c in zip(p, corners)) for axis in (0, 1)]
            asides[-1] += [a - b for a, b in zip(place, expected)]
            right += max(range(3), key=logits.__getitem__) == i % 3
        assert browser.texts(".hits") == [str(right)]
        assert len(browser.texts(".ring")) == 30 - right
        table = [int(text) for text in browser.texts("td:not(:first-child)")]
        assert (sum(table), sum(table[::4])) == (30, right)
        browser.evaluate("for (let i = 0; i < 60; i++) t.step(s.rate); paint()")
    assert asides[1] == pytest.approx(asides[0], abs=0.2)
    assert max(map(abs, asides[0])) < 12.2


def test_two_classes_are_a_line_and_a_number_stands_against_what_is_true(browser):
    browser.show(of_flowers(1, HALVES, loss=nn.binary_cross_entropy_with_logits))
    (says,), (across, _) = zip(*browser.evaluate("s.predictions")), zip(*places(browser))
    assert sorted(range(30), key=says.__getitem__) == sorted(range(30), key=across.__getitem__)
    browser.show(of_flowers(1, math.cos))
    assert browser.texts(".hits") == []
    assert len(browser.texts(".plot circle.value")) == 30


HELD_BACK = [  # a page, what is held back from it, and where that stands
    (partial(of_numbers, PAIR, target=[0.0, 1.0]), ([3.0], [[1.0, 2.0]]), [(3.0, 1.0), (3.0, 2.0)]),
    (partial(of_classes, 2, 4, 1), ([[2.0, 0.5], [0.0, -3.0]], [0, 1]), [(2.0, 0.5), (0.0, -3.0)]),
    (partial(of_flowers, 3, THIRDS), ([[0.1, 0.2, 0.3, 0.4]], [2]), []),
]  # fmt: skip


@pytest.mark.parametrize(("page", "validation", "places"), HELD_BACK)
def test_what_is_held_back_has_rings_and_a_line_beside_the_loss(browser, page, validation, places):
    browser.show(page(validation=validation), width=390)
    browser.evaluate("s.asked = true, t.step(0.1), paint()")
    at = browser.each(".held", "s.box.back(e.cx.baseVal.value, e.cy.baseVal.value)")
    assert at == [pytest.approx(place, abs=0.01) for place in places]
    (text,) = [text for text in browser.texts(".plot text") if "validation loss" in text]
    assert text == browser.evaluate("`━━ validation loss ${amount(t.validation)}`")
    (line,) = browser.each(".plot:has(.ink.middle) path.ink", "e.getAttribute('d')")
    assert line.count("L") == 1
    browser.evaluate(
        "t.step(0.1), t.losses.forEach((both, k) => both[1] = 3 + (k - 1) ** 2), paint()"
    )
    assert "lowest 3.00 at step 1" in browser.texts(".plot text")
    browser.show(page())
    browser.evaluate("s.asked = true, t.step(0.1), paint()")
    assert not browser.texts(".held")
    assert "validation loss" not in str(browser.texts(".plot text"))


HEALTH = {  # by weight and bias
    ad.tanh: {
        (0.0, 100.0): "stuck at 1",
        (0.0, -100.0): "stuck at −1",
        (1000.0, 100.0): "stuck",
        (100.0, 0.5): "saturated",  # but at x = 0 it is steep
        (0.5, 0.0): "",
    },
    ad.relu: {(1.0, -100.0): "dead", (0.5, 0.0): "", (-1.0, -100.0): "dead"},
}


@pytest.mark.parametrize("activation", HEALTH)
def test_neurons_that_learn_nothing_say_so_and_are_counted(browser, activation):
    health = HEALTH[activation]
    n, xs = len(health), [*range(-10, 11)]
    model = nn.Sequential(nn.Linear(1, n, activation=activation), nn.Linear(n, 1))
    for row, bias, numbers in zip(model.layers[0].weight, model.layers[0].bias, health):
        row[0].data, bias.data = numbers
    browser.show(show_training(model, xs, xs, nn.mse_loss, optim.SGD(model.parameters(), lr=0.1)))
    assert browser.texts(".neuron .health") == [*health.values()]
    assert browser.each("button.neuron", "e.className.slice(6).trim()") == [*health.values()]
    counted = re.findall(r"(\d+) (dead|stuck|saturated):", browser.words())
    kinds = [x.split()[0] for x in health.values() if x]
    assert {kind: int(count) for count, kind in counted} == Counter(kinds)


def test_four_classes_have_four_colours_and_lines_between_them(browser):
    corners = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]
    layer = nn.Linear(2, 4, seed=0)  # the score of a class: how far towards its corner
    for row, corner in zip(layer.weight, corners):
        row[0].data, row[1].data = (4 * x for x in corner)
    model = nn.Sequential(layer)
    descent = optim.SGD(model.parameters(), lr=0.1)
    browser.show(show_training(model, corners, [0, 1, 2, 3], nn.cross_entropy, descent))
    at = "(x, y) => [...e.getContext('2d').getImageData(x, y, 1, 1).data].slice(0, 3)"
    places = "[[44, 3], [3, 3], [3, 44], [44, 44]]"
    (found,) = browser.each(".view canvas", f"{places}.map(([x, y]) => ({at})(x, y))")
    assert [colour.index(max(colour)) for colour in found] == [0, 2, 1, 2]  # the strongest light
    assert len({tuple(colour) for colour in found}) == 4
    lines = browser.each(".view .plot path.ink:not(.thin)", "e.getAttribute('d').length > 100")
    assert lines == [True, True]  # between the pairs, and inside of them


def test_a_neuron_that_is_dead_says_so_where_there_is_room(browser):
    for n, said in ((8, 8), (20, 0)):
        model = network(2, n, 1, activation=ad.relu)
        for bias in model.layers[0].bias:
            bias.data = -100.0
        descent = optim.SGD(model.parameters(), lr=0.1)
        browser.show(show_training(model, [[0.0, 1.0], [1.0, 0.0]], [0, 1], nn.mse_loss, descent))
        assert len(browser.texts(".neuron .health")) == said
        assert len(browser.texts("button.dead")) == n


def test_the_key_names_every_class(browser):
    points = [[math.cos(i), math.sin(i)] for i in range(8)]
    for size, targets, loss, found in (
        (4, [i % 4 for i in range(8)], nn.cross_entropy, ["◆ class 0", "2 class 2", "3 class 3"]),
        (1, [(-1) ** i for i in range(8)], nn.mse_loss, ["◆ class −1", "● class 1"]),
    ):
        model = network(2, 3, size)
        descent = optim.SGD(model.parameters(), lr=0.1)
        browser.show(show_training(model, points, targets, loss, descent))
        assert {*found} <= {*browser.texts(".key span")}


# -- Who pulls this weight? -----------------------------------------------------------------------


def pulled(inputs, **more):
    """A page, its model and its samples: of a wire of the first layer."""
    model = network(inputs, 3, 2, 1)
    xs = [[math.sin(3 * i), math.cos(i)][:inputs] for i in range(12)]
    ys = [i % 2 for i in range(12)]
    descent = optim.Adam(model.parameters(), lr=0.05)
    return show_training(model, xs, ys, nn.mse_loss, descent, **more), model, xs, ys, descent


@pytest.mark.parametrize("inputs", [1, 2])
def test_every_sample_pulls_a_weight_or_a_bias_and_the_step_is_of_the_optimiser(browser, inputs):
    page, model, xs, ys, descent = pulled(inputs)
    browser.show(page)
    for k, p in enumerate(model.parameters()):
        wire = f"document.querySelector('[data-wire=\"{k}\"]')"
        browser.evaluate(f"{wire}.dispatchEvent(new Event('pointerover', {{ bubbles: true }}))")
        found = browser.evaluate("paint(), s.pulls")
        for pull, x, y in zip(found, xs, ys, strict=True):
            model.zero_grad()
            nn.mse_loss(model(x), y).backward()
            assert pull == pytest.approx(-p.grad, rel=1e-12, abs=1e-15)
        lengths = [sum(x > 0 for x in found), sum(x < 0 for x in found)]
        said = browser.texts(".pulls span")[0]
        assert said == f"{lengths[0]} larger, {lengths[1]} smaller"
        if k == 4:
            before, mean, step = p.data, sum(found) / 12, browser.texts(".pulls span .value")[0]
            assert browser.texts(".pulls p .gradient")[0].split()[1] == browser.evaluate(
                f"signed({mean})"
            )
    nn.fit(model, xs, ys, nn.mse_loss, descent, epochs=1, progress=False)
    assert step == browser.evaluate(f"signed({model.parameters()[4].data - before})")


@pytest.mark.parametrize("width", [390, 1000])
def test_the_output_stands_right_of_the_last_layer(browser, width):
    browser.show(pulled(2)[0], width=width)
    places = browser.each(".neuron, .net .output", "e.getBoundingClientRect().left")
    assert max(places) == places[-1]


def test_the_names_of_wires_are_those_of_the_live_graph(browser):
    page, *_ = pulled(2)
    browser.show(page)
    names = browser.evaluate("[...called.values()]")
    assert names[:5] == ["w₁₁", "w₁₂", "b₁", "w₂₁", "w₂₂"]
    assert names[-1] == "b′′₁"


def test_a_wire_is_held_by_keys_and_by_touch_while_points_move_and_the_network_learns(browser):
    browser.show(pulled(2)[0], width=390)
    browser.evaluate("document.querySelector('.net svg').focus()")
    browser.press("ArrowRight")
    browser.press("ArrowRight")
    assert "Who pulls w₁₂" in browser.words()
    assert browser.each(".pulled .plot", "getComputedStyle(e).zIndex") == ["1"]  # above the points
    assert browser.each(".net svg[role=slider]", "e.ariaValueText") == ["w₁₂"]
    before = browser.evaluate("s.pulls")
    browser.push("Step")
    browser.evaluate("movePoint(3, 100, 100), paint()")
    after = browser.evaluate("[s.pulls, s.wire, s.held]")
    assert after[0] != before
    assert after[1:] == [1, True]
    browser.evaluate("document.querySelector('.net svg').focus()")
    browser.press("Escape")
    assert "Touch a wire: who pulls it?" in browser.words()
    browser.touch(*browser.on_line("[data-wire='0']", 1 / 3))
    assert browser.evaluate("paint(), [s.wire, s.held]") == [0, True]


@pytest.mark.parametrize(("motion", "flying"), [("reduce", 0), ("no-preference", 12)])
def test_arrows_fly_unless_motion_is_unwanted(browser, motion, flying):
    browser.show(pulled(2)[0], motion=motion)
    browser.evaluate("pullOf(0, true), paint()")
    assert len(browser.each(".slide", "1")) == flying
    assert browser.each(".pulls", "getComputedStyle(e).position") == ["relative"]  # over the points
    browser.evaluate("s.lands = 0, paint()")
    assert browser.each(".slide", "1") == []


def test_no_arrow_passes_two_fifths_of_the_picture(browser):
    browser.show(pulled(2)[0])
    browser.evaluate("pullOf(0, true), paint()")
    browser.evaluate("t.rows.forEach((row) => { row[2] *= 1000; }), paint()")
    longest = browser.evaluate("Math.max(...s.pulls.map(Math.abs)) * s.perPull")
    assert 0.099 < longest < 0.401


def test_of_batches_it_says_whose_arrows_these_are(browser):
    browser.show(pulled(2, batch_size=5)[0])
    browser.evaluate("pullOf(0, true)")
    assert "All 12 pull here; a step sees 5 of them." in browser.words()


@pytest.mark.parametrize("width", [480, 600, 700, 759])
def test_the_plane_is_a_square_under_its_points(browser, width):
    browser.show(of_classes(2, 3, 1), width=width)
    high, wide = browser.each(".plane > canvas", "[e.clientHeight, e.clientWidth]")[0]
    assert high == wide == browser.evaluate("s.plotWidth")
