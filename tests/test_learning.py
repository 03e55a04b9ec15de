"""The pages of training and descent: the same numbers as `fit`, and what they refuse."""

import base64
import json
import math
import random
import re
import subprocess

import numpy as np
import pytest
from test_javascript import NODE

import autodiff as ad
from autodiff import Value, Vector, nn, optim, show_descent, show_training


def run(script, *pages):
    """For each page, the value of a script in Node that knows its data, programs and trainer."""
    texts = [page._page for page in pages]
    programs = [text[text.index("const data =") : text.index("const main =")] for text in texts]
    values = ",".join(f"(() => {{ {each}\n{script} }})()" for each in programs)
    source = f"console.log(JSON.stringify([{values}]))"
    found = subprocess.run([NODE, "-"], input=source, capture_output=True, text=True, check=True)
    return json.loads(found.stdout)


STEPS = """
const t = trainer(programs, data);
for (let i = 0; i < 100; i++) t.step(data.rate);
return [t.losses.slice(0, -1), t.p];
"""


def moons(n):
    rng = np.random.default_rng(0)
    t, second = rng.uniform(0, np.pi, n), np.arange(n) % 2
    x = np.where(second, 1 - np.cos(t), np.cos(t)) + rng.normal(0, 0.1, n)
    y = np.where(second, 0.5 - np.sin(t), np.sin(t)) + rng.normal(0, 0.1, n)
    return np.column_stack([x, y]), second.tolist()


def network(*sizes, activation=ad.tanh, seed=0):
    layers = [
        nn.Linear(n, m, activation=activation, seed=seed + i)
        for i, (n, m) in enumerate(zip(sizes[:-2], sizes[1:-1]))
    ]
    return nn.Sequential(*layers, nn.Linear(*sizes[-2:], seed=seed + 99))


def of_moons(*sizes, n=100, rate=0.05, activation=ad.relu, loss=nn.mse_loss, **more):
    model = network(*sizes, activation=activation)
    descent = optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    return show_training(model, *moons(n), loss, descent, **more)


OPTIMIZERS = {
    "SGD": lambda p: optim.SGD(p, lr=0.05),
    "momentum": lambda p: optim.SGD(p, lr=0.02, momentum=0.9, weight_decay=0.01),
    "Adam": lambda p: optim.Adam(p, lr=0.02),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.01, momentum=0.5),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.1),
}


def random_training(seed, optimizer):
    """A model, data and a loss, drawn at random: of one to four inputs."""
    draw = random.Random(seed)
    features, n = draw.choice([1, 1, 2, 2, 4]), draw.randint(3, 12)
    kind = draw.choice(["regression", "classes", "logits"])
    hidden = [draw.randint(1, 5) for _ in range(draw.randint(0, 2))]
    activation = draw.choice([ad.tanh, ad.relu, ad.sigmoid, ad.softplus])
    outputs = 3 if kind == "classes" else 1
    model = network(features, *hidden, outputs, activation=activation, seed=seed)
    inputs = [[draw.gauss(0, 1) for _ in range(features)] for _ in range(n)]
    loss, targets = {
        "regression": (nn.mse_loss, [draw.gauss(0, 1) for _ in range(n)]),
        "classes": (nn.cross_entropy, [draw.randrange(3) for _ in range(n)]),
        "logits": (nn.binary_cross_entropy_with_logits, [draw.randint(0, 1) for _ in range(n)]),
    }[kind]
    return model, inputs, targets, loss, OPTIMIZERS[optimizer](model.parameters())


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_hundred_steps_are_those_of_fit_and_of_walking(name):
    engines = ["compiled", "eager", "compiled"]
    pages = [show_training(*random_training(seed, name)) for seed, _ in enumerate(engines)]
    apart = 1e-8 if name == "RMSprop" else 1e-9  # its steps do not shrink, and roundings grow
    for seed, (losses, parameters) in enumerate(run(STEPS, *pages)):
        given = random_training(seed, name)
        history = nn.fit(*given, epochs=100, progress=False, engine=engines[seed])
        assert losses == pytest.approx(history.losses, rel=apart)
        trained = [p.data for p in given[0].parameters()]
        assert parameters == pytest.approx(trained, rel=apart, abs=apart)


def test_it_goes_on_where_the_optimiser_stands():
    model = network(2, 4, 1)
    inputs, targets = moons(20)
    targets = [2 * t - 1 for t in targets]
    given = model, inputs, targets, nn.hinge_loss, optim.Adam(model.parameters(), lr=0.05)
    nn.fit(*given, epochs=10, progress=False)
    [[losses, _]] = run(STEPS, show_training(*given))
    assert losses == pytest.approx(nn.fit(*given, epochs=100, progress=False).losses, rel=1e-9)


def sunflower(**more):
    a, b, c, d = (Value(x, label=name) for name, x in zip("abcd", (1.0, 1.0, 0.0, 1.0)))
    heights = [17.93, 36.36, 67.76, 98.1, 131.0, 169.5, 205.5, 228.3, 247.1, 250.5, 253.8, 254.5]

    def model(x):
        return a * ad.tanh(b * ((x[0] - 6) / 3) + c) + d

    def loss(p, t):  # fit takes the mean, and this is a sum
        return 12 * (p - t) ** 2

    descent = optim.SGD([a, b, c, d], lr=0.02)
    return show_training(model, range(1, 13), [h / 100 for h in heights], loss, descent, **more)


def test_the_sunflower_of_1919():
    script = """
    const t = trainer(programs, data), kept = [t.g];
    for (let i = 1; i <= 300; i++) if (t.step(0.02), i === 1 || i === 300) kept.push(t.loss);
    for (t.start(); !t.diverged;) t.step(0.1);
    return [...kept, t.steps];
    """
    [[start, step, end, diverged]] = run(script, sunflower())
    assert start == pytest.approx([-3.38, -1.05, -7.17, -13.28], abs=5e-3)
    assert (round(step, 3), round(end, 4), diverged) == (0.724, 0.0122, 7)


def test_batches_cover_every_sample_once_an_epoch():
    script = """
    const seen = [], sample = (x) => (seen.push(x[0]), programs.sample(x));
    const t = trainer({ sample, move: programs.move }, data), before = seen.length;
    for (let i = 0; i < 3; i++) t.step(0.1);
    return seen.slice(before);
    """
    [found] = run(script, of_moons(2, 3, 1, n=10, batch_size=4))
    of_batches = found[0:4] + found[14:18] + found[28:30]  # after each, the loss of all ten
    assert sorted(of_batches) == pytest.approx(sorted(moons(10)[0][:, 0]))


def test_neurons_and_their_slopes():
    page = of_moons(2, 3, 2, 1, activation=ad.tanh)
    script = """
    const v = programs.neurons([0.3, -0.7, ...data.parameters]);
    return [v, v.slice(-5).map((z) => programs.slopes[0]([z])[1][0])];
    """
    [[values, slopes]] = run(script, page)
    model = network(2, 3, 2, 1)
    first = model.layers[0](Vector([0.3, -0.7]))
    second = model.layers[1](first)
    hidden = [*first.data, *second.data]
    assert values[:6] == pytest.approx([*hidden, *model.layers[2](second).data], rel=1e-12)
    assert slopes == pytest.approx([1 - y * y for y in hidden], rel=1e-12)


LINE = nn.Linear(1, 1)
WIDE = nn.Linear(1, 600)
XS, YS, DESCENT = [[0.0], [1.0]], [0.0, 1.0], optim.SGD(LINE.parameters(), lr=0.1)


def looks(x):
    return LINE(x)[0] if x[0] > 0 else -LINE(x)[0]


@pytest.mark.parametrize(
    ("show", "given", "words"),
    [
        (show_training, (looks, XS, YS, nn.mse_loss, DESCENT), "cannot be compiled: .*where"),
        (show_training, (LINE, [[1.0], [1.0, 2.0]], YS, nn.mse_loss, DESCENT), "different lengths"),
        (show_training, (LINE, range(501), range(501), nn.mse_loss, DESCENT), "found 501 samples"),
        (show_training, (WIDE, XS, YS, nn.mse_loss, optim.SGD(WIDE.parameters(), lr=0.1)), "1200"),
        (show_training, (lambda x: 1.0, XS, YS, nn.mse_loss, DESCENT), "number|Value"),
        (show_descent, (lambda x: x[0], [1.0, 2.0, 3.0]), "one or two"),
        (show_descent, (lambda x: x if x > 0 else -x, 1.0), "f cannot be compiled"),
        (show_descent, (lambda x: 1.0, 1.0), "a number that depends on x"),
    ],
)
def test_what_it_refuses(show, given, words):
    with pytest.raises((TypeError, ValueError), match=words):
        show(*given)


def test_a_thousand_parameters_and_five_hundred_samples_are_less_than_200_kb():
    page = of_moons(2, 29, 29, 1, n=500, loss=nn.binary_cross_entropy_with_logits)
    assert len(page._page.encode()) <= 200_000


# -- In a browser -----------------------------------------------------------------------------------


@pytest.fixture
def opened(browser, tmp_path):
    """Show a page to a reader who wants no motion; what evaluates a program in it."""

    def show(page, scripts=True, width=1200, **screen):
        page.save(tmp_path / "page.html")
        browser.open((tmp_path / "page.html").as_uri(), scripts=scripts)
        browser.emulate(width=width, **screen)
        if scripts:
            browser.evaluate("paint()")
        return lambda expression: json.loads(
            browser.evaluate(f"JSON.stringify({expression} ?? null)")
        )

    return show


def words(browser):
    return browser.evaluate("paint(), document.body.innerText")


def click(browser, words):
    buttons = "[...document.querySelectorAll('button')]"
    browser.evaluate(f"{buttons}.find((x) => x.innerText.includes('{words}')).click(); paint()")


def slide(browser, kind, value):
    slider = f"document.querySelector('{kind} input')"
    browser.evaluate(f"{slider}.value = {value}; {slider}.dispatchEvent(new Event('input'))")


def test_step_run_and_start_again(browser, opened):
    see = opened(of_moons(2, 8, 8, 1), motion="no-preference")
    before = see("t.loss")
    click(browser, "Step")
    assert "step 1" in words(browser)
    click(browser, "Run")
    while see("t.steps") < 10:
        pass
    click(browser, "Pause")
    assert see("t.loss") < before
    click(browser, "Start again")
    assert see("[t.steps, t.loss, s.ghosts.length]") == [0, before, 1]
    others = [url for url in browser.requests if not url.startswith(("data:", "file:"))]
    assert not others


@pytest.mark.parametrize("width", [1200, 833, 390, 324])
def test_controls_stay_where_they_are_while_it_runs(browser, opened, width):
    see = opened(of_moons(2, 8, 8, 1), width=width)
    controls = "[...document.querySelectorAll('.controls > *')]"
    places = f"{controls}.map((x) => [x.offsetLeft, x.offsetTop])"
    before = see(places)
    assert len({y for _, y in before[:3]}) == 1  # the buttons stand in a row
    browser.evaluate("t.loss = 0.000634, t.steps = 12345, s.running = true, paint()")
    assert see(places) == before


def test_the_rate_is_dragged_until_it_diverges(browser, opened):
    see = opened(sunflower(), width=833)
    click(browser, "Which way")
    slide(browser, ".rate", math.log(0.4))
    for _ in range(20):
        click(browser, "Step")
    assert "Diverged at step" in words(browser)
    browser.evaluate("t.loss = 213000, paint()")
    assert see("document.documentElement.scrollWidth") <= 833
    assert see("[amount(412.3, 2), amount(99.4, 2), amount(99.6, 2)]") == ["410", "99", "100"]
    assert "Too large a step" in words(browser)
    assert see("document.querySelectorAll('.slider.off').length") > 0
    click(browser, "Start again")
    assert "Diverged" not in words(browser)


def test_a_slider_of_a_parameter_and_its_derivative(browser, opened):
    see = opened(sunflower(names=["week", "height (m)"]), width=390)
    assert "4.10" in words(browser)
    assert "height = a tanh(b ((week − 6) / 3) + c) + d" in words(browser).replace("\n", "")
    slide(browser, ".row:last-of-type", 1.5)
    click(browser, "Which way")
    a, b, c, d = (Value(x) for x in (1.0, 1.0, 0.0, 1.5))
    rows = see("data.rows")
    loss = ad.sum([(a * ad.tanh(b * ((x - 6) / 3) + c) + d - y) ** 2 for x, y in rows])
    loss.backward()
    found = see("[t.loss, ...t.g]")
    assert found == pytest.approx([loss.data, a.grad, b.grad, c.grad, d.grad], rel=1e-12)
    assert f"{d.grad:.3g}".replace("-", "−") in words(browser)
    arrows = see("[...document.querySelectorAll('.arrow')].map((x) => x.offsetWidth)")
    longest = max(map(abs, found[1:]))
    assert [w / max(arrows) for w in arrows] == pytest.approx(
        [abs(g) / longest for g in found[1:]], abs=0.03
    )


def test_points_are_dragged_by_mouse_and_keys(browser, opened):
    see = opened(sunflower())
    box = see("document.querySelectorAll('.point')[4].getBoundingClientRect()")
    x = box["x"] + box["width"] / 2
    browser.drag(x, box["y"] + box["height"] / 2, x + 40)
    moved, loss = see("[t.rows[4][0], t.loss]")
    left, right = see("ranges[0]")
    assert moved == pytest.approx(
        5 + 40 / see("s.box.right - s.box.left") * (right - left), abs=0.1
    )
    assert loss != pytest.approx(4.0999, abs=1e-3)
    browser.evaluate("document.querySelector('.point').focus()")
    browser.press("ArrowRight")
    assert see("t.rows[0][0]") > 1
    browser.evaluate(
        "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'n', bubbles: true}))"
    )
    assert see("document.activeElement.dataset.i") == "1"


def test_neurons_are_enlarged_and_dead_ones_counted(browser, opened):
    model = network(2, 4, 4, 1, activation=ad.relu)
    for i in (0, 2):
        model.layers[0].bias[i].data = -100.0
    descent = optim.SGD(model.parameters(), lr=0.1)
    see = opened(show_training(model, *moons(20), nn.mse_loss, descent))
    assert "2 dead" in words(browser)
    assert see("document.querySelectorAll('.neuron.dead').length") == 2
    see("document.querySelectorAll('button.neuron')[6].click()")
    assert "what neuron 3 of layer 2 makes of the plane" in words(browser)


HOSTILE = "</script><img src=x onerror='window.hacked=1'>${hacked=1}"


def test_hostile_labels_inject_nothing(browser, opened):
    w = Value(1.0, label=HOSTILE)
    page = show_training(
        lambda x: w * x[0], [1.0, 2.0], [1.0, 3.0], nn.mse_loss, optim.SGD([w], lr=0.1),
        title=HOSTILE, about=HOSTILE, names=[HOSTILE, HOSTILE],
    )  # fmt: skip
    for each in (page, show_descent(ad.cos, 2.0, title=HOSTILE, names=[HOSTILE])):
        see = opened(each)
        assert HOSTILE in words(browser)
        assert see("document.querySelectorAll('img').length + (window.hacked ?? 0)") == 0
    assert "<img src=x" not in page._repr_html_()


@pytest.mark.parametrize(
    "page", [lambda: of_moons(2, 8, 8, 1), sunflower, lambda: show_descent(ad.cos, 2.0)]
)
def test_nothing_is_wider_than_the_screen_or_too_small_for_a_finger(browser, opened, page):
    see = opened(page())
    for width in (360, 390, 700, 770, 900, 1200, 1600):
        browser.emulate(width=width, height=900)
        browser.evaluate("paint()")
        assert see("document.documentElement.scrollWidth") <= width
        small = "[...document.querySelectorAll('button:not(.neuron), input, summary')]"
        assert see(f"Math.min(...{small}.map((x) => x.getBoundingClientRect().height))") >= 44


def test_secant_and_path(browser, opened):
    see = opened(show_descent(ad.cos, 2.0, lr=0.3))
    x = 2.0
    for _ in range(40):
        x += 0.3 * np.sin(x)
    assert see("pathAt(0.3).at(-1)[0]") == pytest.approx(x, rel=1e-12)
    assert see("secantAt(0.5)") == pytest.approx((np.cos(2.5) - np.cos(2)) / 0.5, rel=1e-12)
    assert "no right digits" in words(browser)
    see("s.h = 1e-6")
    assert "six right digits" in words(browser)


def test_without_scripts_three_pictures_stand_there(browser, opened):
    page = sunflower()
    opened(page, scripts=False)
    assert "needs scripts" in browser.evaluate("document.body.innerText")
    images = re.findall(r'src="data:image/svg\+xml;base64,(.*?)"', page._picture())
    start, slopes, end = [base64.b64decode(image).decode() for image in images]
    sticks = [re.findall(r"([\d.]+)V([\d.]+)", picture) for picture in (start, end)]
    off = [sum(abs(float(y) - float(said)) for y, said in each) for each in sticks]
    assert [*map(len, sticks)] == [12, 12]
    assert off[1] < 0.1 * off[0]
    shown = re.findall(r'"end">([-.\d]+)<', slopes)
    assert shown == ["-3.38", "-1.05", "-7.17", "-13.3"]
