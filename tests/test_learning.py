"""The pages of training and descent: the same numbers as `fit`, and what they refuse."""

import base64
import json
import random
import re
import subprocess
import time

import numpy as np
import pytest
from test_javascript import NODE

import autodiff as ad
from autodiff import Value, Vector, nn, optim, show_descent, show_training

LOOP = """
const say = (x) => console.log(JSON.stringify(x));
"""


def run(page, script):
    """What a script says in Node that runs a page's data, programs and trainer."""
    text = page._page
    start, end = text.index("const data ="), text.index("const main =")
    source = f"{text[start:end]}\n{LOOP}\n{script}"
    found = subprocess.run([NODE, "-"], input=source, capture_output=True, text=True, check=True)
    return json.loads(found.stdout)


STEPS = """
const t = trainer(programs, data);
for (let i = 0; i < %d; i++) t.step(data.rate);
say([t.losses, t.p]);
"""


def moons(n, seed=0):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, np.pi, n)
    second = np.arange(n) % 2
    x = np.where(second, 1 - np.cos(t), np.cos(t)) + rng.normal(0, 0.1, n)
    y = np.where(second, 0.5 - np.sin(t), np.sin(t)) + rng.normal(0, 0.1, n)
    return np.column_stack([x, y]), second.tolist()


def network(*sizes, activation=ad.tanh, seed=0):
    layers = [
        nn.Linear(n, m, activation=activation, seed=seed + i)
        for i, (n, m) in enumerate(zip(sizes[:-2], sizes[1:-1]))
    ]
    return nn.Sequential(*layers, nn.Linear(*sizes[-2:], seed=seed + 99))


OPTIMIZERS = {
    "SGD": lambda p: optim.SGD(p, lr=0.05),
    "momentum": lambda p: optim.SGD(p, lr=0.02, momentum=0.9, weight_decay=0.01),
    "Adam": lambda p: optim.Adam(p, lr=0.02),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.01, momentum=0.5),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.1),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_hundred_steps_are_those_of_fit(name):
    inputs, targets = moons(30)
    model = network(2, 8, 8, 1, activation=ad.tanh)
    optimizer = OPTIMIZERS[name](model.parameters())
    loss = nn.binary_cross_entropy_with_logits
    page = show_training(model, inputs, targets, loss, optimizer)
    losses, parameters = run(page, STEPS % 100)
    history = nn.fit(model, inputs, targets, loss, optimizer, epochs=100, progress=False)
    assert losses[:-1] == pytest.approx(history.losses, rel=1e-9)
    assert parameters == pytest.approx([p.data for p in model.parameters()], rel=1e-9, abs=1e-9)


def test_it_goes_on_where_the_optimiser_stands():
    model = network(2, 4, 1)
    inputs, targets = moons(20)
    targets = [2 * t - 1 for t in targets]
    given = model, inputs, targets, nn.hinge_loss, optim.Adam(model.parameters(), lr=0.05)
    nn.fit(*given, epochs=10, progress=False)
    losses, _ = run(show_training(*given), STEPS % 20)
    assert losses[:-1] == pytest.approx(nn.fit(*given, epochs=20, progress=False).losses, rel=1e-9)


def random_training(seed):
    """A model, data, a loss and an optimiser, drawn at random: of one to four inputs."""
    draw = random.Random(seed)
    features, n = draw.choice([1, 1, 2, 2, 4]), draw.randint(3, 12)
    kind = draw.choice(["regression", "classes", "logits"])
    outputs = 3 if kind == "classes" else 1
    hidden = [draw.randint(1, 5) for _ in range(draw.randint(0, 2))]
    activation = draw.choice([ad.tanh, ad.relu, ad.sigmoid, ad.softplus])
    model = network(features, *hidden, outputs, activation=activation, seed=seed)
    inputs = [[draw.gauss(0, 1) for _ in range(features)] for _ in range(n)]
    loss, targets = {
        "regression": (nn.mse_loss, [draw.gauss(0, 1) for _ in range(n)]),
        "classes": (nn.cross_entropy, [draw.randrange(3) for _ in range(n)]),
        "logits": (nn.binary_cross_entropy_with_logits, [draw.randint(0, 1) for _ in range(n)]),
    }[kind]
    optimizer = OPTIMIZERS[draw.choice(list(OPTIMIZERS))](model.parameters())
    return model, inputs, targets, loss, optimizer


@pytest.mark.parametrize("seed", range(12))
def test_random_models_learn_as_fit_does(seed):
    given = random_training(seed)
    losses, parameters = run(show_training(*given), STEPS % 20)
    history = nn.fit(*given, epochs=20, progress=False, engine="eager")
    assert losses[:-1] == pytest.approx(history.losses, rel=1e-9)
    trained = [p.data for p in given[0].parameters()]
    # Adaptive optimisers divide by the gradient's size: what cancels in it is left of one rounding.
    assert parameters == pytest.approx(trained, rel=1e-6, abs=1e-7)


def sunflower(lr=0.02):
    a, b, c, d = (Value(x, label=name) for name, x in zip("abcd", (1.0, 1.0, 0.0, 1.0)))
    heights = [17.93, 36.36, 67.76, 98.1, 131.0, 169.5, 205.5, 228.3, 247.1, 250.5, 253.8, 254.5]

    def model(x):
        return a * ad.tanh(b * ((x[0] - 6) / 3) + c) + d

    def loss(p, t):  # fit takes the mean, and this is a sum
        return 12 * (p - t) ** 2

    descent = optim.SGD([a, b, c, d], lr=lr)
    return show_training(model, range(1, 13), [h / 100 for h in heights], loss, descent)


def test_the_sunflower_of_1919():
    start, step, end = run(
        sunflower(),
        "const t = trainer(programs, data), g = t.g; t.step(0.02); const one = t.loss;"
        "for (let i = 1; i < 300; i++) t.step(0.02); say([g, one, t.loss]);",
    )
    assert start == pytest.approx([-3.38, -1.05, -7.17, -13.28], abs=5e-3)
    assert (round(step, 3), round(end, 4)) == (0.724, 0.0122)


def test_it_diverges_at_step_7():
    script = "const t = trainer(programs, data); while (!t.diverged) t.step(0.1); say(t.steps);"
    assert run(sunflower(), script) == 7


def test_batches_cover_every_sample_once_an_epoch():
    inputs, targets = moons(10)
    model = network(2, 3, 1)
    page = show_training(
        model, inputs, targets, nn.mse_loss, optim.SGD(model.parameters(), lr=0.1), batch_size=4
    )
    script = """
    const seen = [], sample = (x) => (seen.push(x[0]), programs.sample(x));
    const t = trainer({ sample, move: programs.move }, data), before = seen.length;
    for (let i = 0; i < 3; i++) t.step(0.1);
    say(seen.slice(before));
    """
    found = run(page, script)
    of_batches = found[0:4] + found[14:18] + found[28:30]  # after each, the loss of all ten
    assert sorted(of_batches) == pytest.approx(sorted(inputs[:, 0]))


def test_neurons_and_their_slopes():
    model = network(2, 3, 2, 1)
    page = show_training(model, *moons(5), nn.mse_loss, optim.SGD(model.parameters(), lr=0.1))
    values, slopes = run(
        page,
        "const v = programs.neurons([0.3, -0.7, ...data.parameters]);"
        "say([v, v.slice(-5).map((z) => programs.slopes[0]([z])[1][0])]);",
    )
    x = Vector([0.3, -0.7])
    first = model.layers[0](x)
    second = model.layers[1](first)
    expected = [*first.data, *second.data, *model(x).data]
    assert values[:6] == pytest.approx(expected, rel=1e-12)
    assert slopes == pytest.approx([1 - y * y for y in [*first.data, *second.data]], rel=1e-12)


def test_what_it_refuses():
    x, y = [[0.0], [1.0]], [0.0, 1.0]
    model = nn.Linear(1, 1)
    descent = optim.SGD(model.parameters(), lr=0.1)

    def looks(x):
        return model(x)[0] if x[0] > 0 else -model(x)[0]

    with pytest.raises(ValueError, match="show_training: the training cannot be compiled: .*where"):
        show_training(looks, x, y, nn.mse_loss, descent)
    with pytest.raises(ValueError, match="rows of different lengths"):
        show_training(model, [[1.0], [1.0, 2.0]], y, nn.mse_loss, descent)
    with pytest.raises(ValueError, match="found 501 samples, expected 1 to 500"):
        show_training(model, range(501), range(501), nn.mse_loss, descent)
    wide = nn.Linear(1, 600)
    with pytest.raises(ValueError, match="found 1200 parameters, expected 1 to 1000"):
        show_training(wide, x, y, nn.mse_loss, optim.SGD(wide.parameters(), lr=0.1))
    with pytest.raises(TypeError, match="show_training, optimizer: found"):
        show_training(model, x, y, nn.mse_loss, None)
    with pytest.raises(ValueError, match="one or two"):
        show_descent(lambda x: x[0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="f cannot be compiled"):
        show_descent(lambda x: x if x > 0 else -x, 1.0)
    with pytest.raises(ValueError, match="expected one that ends in .html"):
        show_descent(ad.cos, 1.0).save("page.pdf")


# -- In a browser -----------------------------------------------------------------------------------


def two_moons(rate=0.05):
    model = network(2, 8, 8, 1, activation=ad.relu)
    descent = optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    loss = nn.binary_cross_entropy_with_logits
    return show_training(model, *moons(100), loss, descent, title="Two moons")


def opened(browser, tmp_path, page, scripts=True, **screen):
    path = tmp_path / "page.html"
    page.save(path)
    browser.open(path.as_uri(), scripts=scripts)
    browser.emulate(**screen)
    time.sleep(0.2)  # it is painted anew for this screen
    return browser.evaluate


def click(see, words):
    """Click the button with these words, and do not wait for the next frame."""
    buttons = "[...document.querySelectorAll('button')]"
    see(f"{buttons}.find((x) => x.innerText.includes('{words}')).click(); paint()")


@pytest.fixture
def words(browser):
    return lambda: browser.evaluate("document.body.innerText")


def test_step_run_and_start_again(browser, tmp_path, words):
    see = opened(browser, tmp_path, two_moons(), width=1200, motion="no-preference")
    before = see("s.trainer.loss")
    click(see, "Step")
    assert "step 1" in words()
    click(see, "Run")
    while see("s.trainer.steps") < 60:
        pass
    click(see, "Pause")
    assert see("s.trainer.loss") < before
    click(see, "Start again")
    assert see("[s.trainer.steps, s.trainer.loss].join()") == f"0,{before!r}"
    assert [url[:5] for url in browser.requests if url[:5] != "data:"] == [
        "file:"
    ]  # the page alone


def test_the_rate_is_dragged_until_it_diverges(browser, tmp_path, words):
    see = opened(browser, tmp_path, sunflower(), width=1200)
    click(see, "Which way")
    see("const r = document.querySelector('.rate input'); r.value = 0.66;"
        "r.dispatchEvent(new Event('input', {bubbles: true}))")  # fmt: skip
    for _ in range(20):
        click(see, "Step")
    assert "Diverged at step" in words()
    assert "Too large a step" in words()
    assert see("document.querySelectorAll('.slider.off').length") > 0


def test_a_slider_of_a_parameter_and_its_derivative(browser, tmp_path, words):
    see = opened(browser, tmp_path, sunflower(), width=390, height=800)
    assert "4.10" in words()
    see("const i = document.querySelectorAll('.row input')[3]; i.value = 1.3;"
        "i.dispatchEvent(new Event('input', {bubbles: true}))")  # fmt: skip
    click(see, "Which way")
    a, b, c, d = (Value(x) for x in (1.0, 1.0, 0.0, 1.3))
    rows = json.loads(see("JSON.stringify(data.rows)"))
    loss = ad.sum([(a * ad.tanh(b * ((x - 6) / 3) + c) + d - y) ** 2 for x, y in rows])
    loss.backward()
    found = json.loads(see("JSON.stringify([s.trainer.loss, ...s.trainer.g])"))
    assert found == pytest.approx([loss.data, a.grad, b.grad, c.grad, d.grad], rel=1e-12)
    assert f"{d.grad:.3g}".replace("-", "−") in words()


def test_points_are_dragged_by_mouse_and_keys(browser, tmp_path):
    see = opened(browser, tmp_path, sunflower(), width=1200)
    box = json.loads(
        see("JSON.stringify(document.querySelector('.picture').getBoundingClientRect())")
    )
    x, y = json.loads(see("JSON.stringify(placeOf(4))"))
    browser.drag(box["x"] + x, box["y"] + y, box["x"] + x + 40)
    moved, loss = json.loads(see("JSON.stringify([s.trainer.rows[4][0], s.trainer.loss])"))
    assert moved == pytest.approx(
        5 + 40 / see("(s.box.right - s.box.left)") * (12.825 - 0.175), abs=0.1
    )
    assert loss != pytest.approx(4.0999, abs=1e-3)
    see("document.querySelector('.plot').focus()")
    see(
        "document.querySelector('.plot').dispatchEvent(new KeyboardEvent('keydown', {key: 'n', bubbles: true}))"
    )
    browser.press("ArrowRight")
    assert see("s.trainer.rows[0][0]") > 1


def test_a_neuron_is_enlarged(browser, tmp_path, words):
    see = opened(browser, tmp_path, two_moons(), width=1200)
    see("document.querySelectorAll('button.neuron')[10].click()")
    see("paint()")
    assert "what neuron 3 of layer 2 makes of the plane" in words()


def test_dead_neurons_are_counted(browser, tmp_path, words):
    model = network(2, 4, 1, activation=ad.relu)
    for i in (0, 2):
        model.layers[0].bias[i].data = -100.0
    descent = optim.SGD(model.parameters(), lr=0.1)
    see = opened(
        browser, tmp_path, show_training(model, *moons(20), nn.mse_loss, descent), width=1200
    )
    assert "2 dead" in words()
    assert see("document.querySelectorAll('.neuron.dead').length") == 2


HOSTILE = "</script><img src=x onerror='window.hacked=1'>${hacked=1}"


def test_hostile_labels_inject_nothing(browser, tmp_path, words):
    w = Value(1.0, label=HOSTILE)
    page = show_training(
        lambda x: w * x[0], [1.0, 2.0], [1.0, 3.0], nn.mse_loss, optim.SGD([w], lr=0.1),
        title=HOSTILE, about=HOSTILE, names=[HOSTILE, HOSTILE],
    )  # fmt: skip
    see = opened(browser, tmp_path, page, width=1200)
    assert HOSTILE in words()
    assert see("document.querySelectorAll('img').length + (window.hacked ?? 0)") == 0
    see = opened(browser, tmp_path, show_descent(ad.cos, 2.0, title=HOSTILE, names=[HOSTILE]))
    assert see("document.querySelectorAll('img').length + (window.hacked ?? 0)") == 0
    assert "<img src=x" not in page._repr_html_()


@pytest.mark.parametrize("width", [360, 390, 700, 900, 1200, 1600])
@pytest.mark.parametrize("page", [two_moons, sunflower, lambda: show_descent(ad.cos, 2.0)])
def test_nothing_is_wider_than_the_screen(browser, tmp_path, page, width):
    see = opened(browser, tmp_path, page(), width=width, height=900)
    assert see("document.documentElement.scrollWidth") <= width
    small = "[...document.querySelectorAll('button:not(.neuron), input, summary')]"
    assert see(f"Math.min(...{small}.map((x) => x.getBoundingClientRect().height))") >= 44


def test_secant_and_path(browser, tmp_path, words):
    see = opened(browser, tmp_path, show_descent(ad.cos, 2.0, lr=0.3), width=1200)
    x = 2.0
    for _ in range(40):
        x += 0.3 * np.sin(x)
    assert see("pathAt(0.3).at(-1)[0]") == pytest.approx(x, rel=1e-12)
    assert see("secantAt(0.5)") == pytest.approx((np.cos(2.5) - np.cos(2)) / 0.5, rel=1e-12)
    assert "0 right digits" in words()
    see("s.h = 1e-6; paint()")
    assert "6 right digits" in words()


def test_without_scripts_a_picture_stands_there(browser, tmp_path, words):
    opened(browser, tmp_path, sunflower(), scripts=False)
    assert "needs scripts" in words()
    (source,) = re.findall(r'src="data:image/svg\+xml;base64,(.*?)"', sunflower()._picture())
    assert base64.b64decode(source).count(b"<circle") == 12
    assert browser.evaluate("document.querySelector('img').naturalWidth") > 0


def test_pages_stay_small():
    assert len(two_moons()._page.encode()) <= 100_000
    model = network(2, 22, 22, 1)  # 595 parameters
    page = show_training(
        model, *moons(300), nn.binary_cross_entropy_with_logits, optim.Adam(model.parameters())
    )
    assert len(page._page.encode()) <= 200_000
