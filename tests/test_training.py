"""fit: the loop, what callbacks may do, validation, errors, Ctrl-C, optimisers, devices."""

import copy
import json
import math
import os
import re
import signal
import subprocess
import sys
import textwrap
from contextlib import suppress

import numpy as np
import pytest
from trainings import ENGINES, INPUTS, NUMBERS, fitted, network, numbers, same

import autodiff as ad
from autodiff import Vector, nn, optim
from autodiff.nn.steps import Steps

# -- The loop -------------------------------------------------------------------------------------


@ENGINES
def test_fit_is_the_loop_that_one_would_write(engine):
    history, model, _ = fitted(batch_size=None, engine=engine)
    other, losses = network(), []
    descent = optim.SGD(other.parameters(), lr=0.1, momentum=0.5)
    for _ in range(4):
        descent.zero_grad()
        loss = sum(nn.mse_loss(other(x), y) for x, y in zip(INPUTS, NUMBERS)) / len(INPUTS)
        loss.backward()
        descent.step()
        losses.append(loss.data)
    assert history.losses == pytest.approx(losses, rel=1e-12)
    assert numbers(model) == pytest.approx(numbers(other), rel=1e-12)
    assert all(p.grad == 0.0 for p in model.parameters())


def test_every_sample_is_seen_once_an_epoch_in_batches():
    seen, steps = [], []

    class Counting(optim.SGD):
        def change(self, grad, state):
            steps.append(len(seen))
            return super().change(grad, state)

    def loss(prediction, target):
        seen.append(target)
        return nn.mse_loss(prediction, target)

    chosen = {"optimizer": lambda p: Counting(p, lr=0.01), "epochs": 2, "batch_size": 8}
    fitted(loss=loss, engine="eager", **chosen)
    assert steps == [8, 16, 20, 28, 36, 40]
    assert sorted(seen[:20]) == sorted(seen[20:]) == sorted(NUMBERS)
    assert seen[:20] != seen[20:]
    one, again, other = (fitted(batch_size=2, seed=s)[0].losses for s in (1, 1, 2))
    assert one == again != other


@pytest.mark.parametrize(
    "make",
    [
        lambda p: optim.SGD(p, lr=0.1, weight_decay=0.1),
        lambda p: optim.Adagrad(p, lr=0.1),
        lambda p: optim.RMSprop(p, lr=0.01),
        lambda p: optim.Adam(p, lr=0.01),
        lambda p: optim.SGD(p[:12], lr=0.1),  # the first layer alone
    ],
)
@pytest.mark.parametrize("batch_size", [None, 1, 7])
def test_with_every_optimiser_and_batch_size(make, batch_size):
    same(optimizer=make, batch_size=batch_size)


def test_two_moons_are_told_apart():
    from sklearn.datasets import make_moons

    xs, classes = make_moons(60, noise=0.1, random_state=1)
    model = nn.Sequential(
        nn.Linear(2, 12, activation=ad.relu, seed=1),
        nn.Linear(12, 12, activation=ad.relu, seed=2),
        nn.Linear(12, 1, seed=3),
    )
    descent = optim.Adam(model.parameters(), lr=0.02)
    nn.fit(model, xs, 2 * classes - 1, nn.hinge_loss, descent, 80, 25, seed=0, progress=False)
    assert nn.accuracy(nn.predict(model, xs), 2 * classes - 1) == 1.0


def test_the_weights_of_a_linear_process_are_recovered():
    rng = np.random.default_rng(0)
    xs, weights = rng.uniform(-1, 1, size=(1_000, 5)), rng.normal(-1, 1, size=5)
    ys = xs @ weights + rng.normal(0, 0.1, size=1_000)
    model = nn.Linear(5, 1, bias=False, seed=0)
    descent = optim.SGD(model.parameters(), lr=0.05)
    nn.fit(model, xs, ys, nn.mse_loss, descent, epochs=20, batch_size=50, seed=0, progress=False)
    best, *_ = np.linalg.lstsq(xs, ys, rcond=None)
    # five times the noise over the root of a thousand samples of variance 1/3
    assert model.weight.data[0] == pytest.approx(list(best), abs=5 * 0.1 / math.sqrt(1_000 / 3))


def test_a_progress_bar_counts_epochs(capsys):
    fitted(progress=True)
    assert "4/4" in (shown := capsys.readouterr().err)
    assert "loss=" in shown
    fitted(progress=False)
    assert capsys.readouterr().err == ""


def test_the_history_plots_and_shows_the_engine():
    import matplotlib as mpl

    mpl.use("agg")
    for validation in (None, (INPUTS[:5], NUMBERS[:5])):
        history, *_ = fitted(validation=validation)
        axes = history.plot()
        curves = [history.losses, history.validation][: 1 + bool(validation)]
        assert [line.get_ydata().tolist() for line in axes.lines] == curves
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("epoch", "loss")
        labels = [text.get_text() for text in axes.get_legend().get_texts()] if validation else []
        assert labels == ["training", "validation"][: 2 * bool(validation)]
    assert repr(history).startswith("History(4 epochs, loss ")
    assert repr(history).endswith(", compiled)")
    assert repr(fitted(engine="eager")[0]).endswith(", eager)")


# -- Callbacks ------------------------------------------------------------------------------------


@ENGINES
def test_a_callback_sees_the_history_and_stops_the_training(engine):
    seen, model = [], network()

    def callback(history):
        loss = np.mean([nn.mse_loss(model(x), y).data for x, y in zip(INPUTS, NUMBERS)])
        seen.append((len(history.losses), loss))
        return len(seen) == 3 or 1  # True stops, 1 does not

    history, *_ = fitted(model, callback=callback, batch_size=None, engine=engine, epochs=9)
    assert [epoch for epoch, _ in seen] == [1, 2, 3]
    losses = [loss for _, loss in seen]  # full batches: the next loss
    assert losses[:2] == pytest.approx(history.losses[1:], rel=1e-12)


class Weights(nn.Module):
    """A layer between numbers that are not trained, each of which a callback may change."""

    def __init__(self):
        self.inner, self.factor = nn.Linear(2, 1, seed=0), 0.5
        self.shift = Vector([0.1, 0.2]).requires_grad_(False)
        self.weights = {"output": memoryview(bytearray([1]))}  # nothing looks into it
        self.activation = ad.tanh

    def forward(self, x):
        y = self.inner(x + self.shift) * self.factor * self.weights["output"][0]
        return y.map(self.activation)


def at_once(change):
    return lambda model, descent, epoch: change(model, descent) if epoch == 2 else None


def freezing(model, descent, epoch):
    model.inner.weight.requires_grad_(epoch != 2)
    if epoch == 3:
        descent.state["velocity"][:] = 0.0


CHANGES = {
    "a learning rate": lambda model, descent, epoch: setattr(descent, "lr", descent.lr / 2),
    "an attribute": lambda model, descent, epoch: setattr(model, "factor", 0.1 * epoch),
    "a frozen Value": at_once(lambda model, descent: setattr(model.shift[0], "data", 0.3)),
    "what nobody sees": lambda model, descent, epoch: epoch == 5 and model.weights["output"].__setitem__(0, 2),
    "a function": at_once(lambda model, descent: setattr(model, "activation", ad.sin)),
    "a layer": at_once(lambda model, descent: setattr(model.inner, "bias", Vector([1.0]))),
    "a parameter": at_once(lambda model, descent: setattr(model.inner.bias[0], "data", 1.0)),
    "what is trained": freezing,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:fit makes a new program")
@pytest.mark.parametrize("name", CHANGES)
def test_what_a_callback_changes_counts_from_the_next_epoch(name):
    def run(engine):
        model = Weights()
        descent = optim.SGD(model.inner.parameters(), lr=0.1, momentum=0.9)
        history = nn.fit(
            model, INPUTS, NUMBERS, nn.mse_loss, descent, 6, progress=False, engine=engine,
            validation=(INPUTS[:5], NUMBERS[:5]),
            callback=lambda history: CHANGES[name](model, descent, len(history.losses)) and None,
        )  # fmt: skip
        assert history.engine == engine
        return history.losses, history.validation, numbers(model), [descent.lr]

    for found, expected in zip(run("compiled"), run("eager")):
        assert found == pytest.approx(expected, rel=1e-11)


@ENGINES
@pytest.mark.parametrize("how", ["goes on", "stops", KeyError, KeyboardInterrupt])
def test_what_a_callback_restores_stays(engine, how):
    """Early stopping puts the best weights back, and ends the training."""
    model = network()
    optimizer = optim.Adam(model.parameters(), lr=0.1)
    best = {}

    def restore(history):
        if len(history.losses) == 1:
            best.update(model=model.state_dict(), optimizer=optimizer.state_dict())
        if len(history.losses) == 3:
            model.load_state_dict(best["model"])
            optimizer.load_state_dict(best["optimizer"])
            if not isinstance(how, str):
                raise how
            return how == "stops"
        return None

    with suppress(KeyError):
        fitted(model, optimizer=lambda p: optimizer, epochs=3, callback=restore, engine=engine)
    assert model.state_dict() == best["model"]
    assert optimizer.state_dict() == best["optimizer"]
    assert all(p.grad == 0.0 for p in model.parameters())


OWN = {  # of the caller, and what a callback does to them
    "dicts": ([{"y": [1.0, 2.0]} for _ in INPUTS], lambda data: data[0]["y"].append(9.0)),
    "arrays": ([{"y": np.ones(2)} for _ in INPUTS], lambda data: data[0]["y"].__imul__(0.5)),
}


@ENGINES
@pytest.mark.parametrize("name", OWN)
def test_targets_are_copied(engine, name):
    """So that a callback that changes them does not: for both engines."""

    def run(change):
        targets = copy.deepcopy(OWN[name][0])
        return fitted(
            targets=targets, loss=lambda p, t: (p[0] - float(sum(t["y"]))) ** 2, engine=engine,
            callback=lambda history: change(targets) and None, epochs=2,
        )[0].losses  # fmt: skip

    assert run(lambda data: OWN[name][1](data) is data) == run(lambda targets: None)


# -- Modes and validation -------------------------------------------------------------------------


def test_fit_trains_in_training_mode_and_leaves_the_modes_as_they_were():
    model = nn.Sequential(nn.Linear(2, 8, seed=0), nn.Dropout(0.5, seed=0), nn.Linear(8, 1, seed=1))
    model.layers[1].eval()
    modes, held_out = [], (INPUTS[:5], NUMBERS[:5])
    history, *_ = fitted(
        model, callback=lambda history: modes.append(model.layers[1].training), epochs=1,
        validation=held_out, engine="auto", walks="a call draws random numbers",
    )  # fmt: skip
    assert modes == [True]
    assert [layer.training for layer in model.layers] == [True, False, True]
    losses = [nn.mse_loss(model.eval()(x), y).data for x, y in zip(*held_out)]
    assert history.validation[0] == pytest.approx(np.mean(losses))  # without dropout


@ENGINES
def test_validation_is_recorded_beside_the_losses(engine):
    others, losses, model = (INPUTS[::3], NUMBERS[1::3]), [], network()

    def callback(history):
        losses.append(np.mean([nn.mse_loss(model(x), y).data for x, y in zip(*others)]))
        assert len(history.validation) == len(history.losses)

    history, *_ = fitted(model, validation=others, callback=callback, engine=engine)
    assert history.validation == pytest.approx(losses, rel=1e-12)
    assert fitted(engine=engine)[0].losses == history.losses


# -- Errors ---------------------------------------------------------------------------------------


class Stepping(optim.SGD):
    def step(self):
        super().step()


def with_step(optimizer):
    """As clipping is done by hand."""
    optimizer.step = lambda: None
    return optimizer


@ENGINES
@pytest.mark.parametrize(
    ("wrong", "kind", "words"),
    [
        ({"optimizer": lambda p: None}, TypeError, r"fit, optimizer: found None .*, expected one such as optim.SGD\(model"),
        ({"optimizer": lambda p: Stepping(p, lr=0.1)}, TypeError, r"expected one such as .*; your own defines change\(\), not"),
        ({"optimizer": lambda p: with_step(optim.SGD(p, lr=0.1))}, TypeError, r"defines change\(\), not step"),
        ({"seed": "a"}, TypeError, "expects int"),
        ({"callback": 3}, TypeError, "not callable"),
        ({"epochs": 0}, ValueError, "fit: found epochs = 0, expected a positive integer"),
        ({"batch_size": 2.5}, ValueError, "found batch_size = 2.5"),
        ({"inputs": [1.0]}, ValueError, "found 1 input and 20 targets"),
        ({"inputs": [], "targets": []}, ValueError, "found 0 inputs and 0 targets"),
        ({"validation": (INPUTS, [1])}, ValueError, "fit, validation: found 20 inputs and 1 target,"),
        ({"inputs": np.ones((20, 8, 8))}, ValueError, r"flatten or .*: inputs.reshape\(len\(inputs\), -1\)"),
        ({"inputs": [[1.0], [1.0, 2.0]] * 10}, ValueError, "found rows of different lengths"),
        ({"inputs": [*INPUTS[:19], [math.nan, 1.0]]}, ValueError, "found nan in row 19, expected f"),
        ({"inputs": [*INPUTS[:19], [1.0, math.inf]]}, ValueError, "found inf in row 19, expected f"),
        ({"targets": ["cat", "dog"] * 10, "loss": nn.cross_entropy}, TypeError, "found the label 'cat', .* number the class"),
        ({"loss": lambda p, t: p, "model": network(3)}, TypeError, r"found a Vector of shape \(3,\) returned, expected one"),
        ({"optimizer": lambda p: optim.SGD(network().parameters(), lr=0.1)}, ValueError, "depends on none of .*, with requires_grad = True"),
        *[({where: data}, TypeError, f"fit, {where}: found .*, expected a sequence")
          for where in ("inputs", "targets") for data in ({0: 1.0}, {1.0, 2.0}, "12", 1.0, None)],
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_words(engine, wrong, kind, words):
    with pytest.raises(kind, match=words):
        fitted(**{"engine": engine} | wrong)


def test_an_engine_or_a_library_that_cannot_train():
    with pytest.raises(ValueError, match="found 'fast', expected one of auto, compiled"):
        fitted(engine="fast")
    for xp, engine in ((math, "auto"), ("jax", "auto")):
        with pytest.raises(ValueError, match="fit, xp: found .* expected one of numpy, jax"):
            fitted(xp=xp, engine=engine)
    assert fitted(xp=np)[0].losses == fitted()[0].losses


@pytest.mark.parametrize("engine", ["auto", "compiled", "eager"])
def test_a_model_that_is_frozen_cannot_be_trained(engine):
    def freeze(history=None):
        for p in model.parameters():
            p.requires_grad = False

    words = "found no parameters that require a gradient, expected some"
    model = network()
    assert len(fitted(model, epochs=1, callback=freeze, engine=engine)[0].losses) == 1
    for late in (False, True):
        model = network()
        if not late:
            freeze()
        with pytest.raises(ValueError, match=words):
            fitted(model, epochs=2, callback=freeze if late else None, engine=engine)


FAILURES = {
    "divergence": {"optimizer": lambda p: optim.SGD(p, lr=1e6), "epochs": 50},
    "a logarithm": {"loss": lambda p, t: ad.log(p[0] - 1e3)},
    "a division": {"loss": lambda p, t: 1.0 / (p[0] - p[0])},
    "nan": {"targets": [math.nan] * 20},
    "an infinite target": {"targets": [math.inf] * 20},
    "a class that is none": {"loss": nn.cross_entropy, "targets": [7] * 20},
    "another length": {"targets": [[1.0, 2.0]] * 20},
    "no number": {"targets": ["one"] * 20},
    "another input": {"inputs": [[1.0, 2.0, 3.0]] * 20},
    "a loss that is no Value": {"loss": lambda p, t: None},
}


@pytest.mark.parametrize("name", FAILURES)
def test_errors_are_those_of_walking(name):
    def failure(engine):
        model = network()
        with pytest.raises(Exception, match=".") as caught:
            fitted(model, engine=engine, **FAILURES[name])
        text = re.sub(r"(\d\.\d{9})\d*", r"\1", str(caught.value))  # the last digits may differ
        return caught.type, text, numbers(model)

    kind, text, weights = failure("auto")
    expected = failure("eager")
    assert (kind, text) == expected[:2]
    assert weights == pytest.approx(expected[2], rel=1e-9)
    assert all(map(math.isfinite, weights))
    if name == "divergence":
        assert re.search("diverged in epoch .* smaller learning rate.*too large|inf", text)
        assert text.count("learning rate") == 1


@ENGINES
def test_divergence_in_the_very_last_step_is_an_error(engine):
    model = nn.Linear(1, 1, bias=False, seed=0)
    before = model.weight.data
    with pytest.raises(FloatingPointError, match="diverged in epoch 1 .*: overflow"):
        fitted(
            model, [1e150], inputs=[[1.0]], optimizer=lambda p: optim.SGD(p, lr=1e300), epochs=1,
            engine=engine,
        )  # fmt: skip
    assert model.weight.data == before


@ENGINES
def test_divergence_leaves_finite_parameters(engine):
    """The step that overflows is not made."""
    model = nn.Linear(1, 1, bias=False, init=lambda n, m, rng: [[2.0]])
    data = {"inputs": [[1.0], [2.0]], "targets": [1.0, 1.0]}
    with pytest.raises(FloatingPointError, match="diverged in epoch 2"):
        fitted(model, **data, optimizer=lambda p: optim.SGD(p, lr=1e200), epochs=9, engine=engine)
    assert model.weight.data[0] == [pytest.approx(-1e200 * (1.0 * 2.0 + 3.0 * 4.0) / 2 + 2.0)]


def test_numpy_in_a_loss_that_is_walked_keeps_its_settings():
    """fit makes errors of its own overflows, not of the user's."""

    def loss(p, t):
        return nn.mse_loss(p, t) * float(np.divide(1.0, np.zeros(1))[0] > 0.0)

    with np.errstate(divide="ignore"):
        history, *_ = fitted(loss=loss, engine="eager")
    assert history.losses == fitted(engine="eager")[0].losses


@pytest.mark.parametrize("derivative", [ad.grad, ad.jacfwd, ad.jacrev])
def test_inputs_that_would_lose_their_derivative_are_refused(derivative):
    layer = nn.Linear(1, 1, seed=0)
    before = layer.state_dict()
    for f in (
        lambda x: x * nn.predict(layer, [[x]])[0, 0],
        lambda x: x * fitted(layer, [1.0], inputs=[x])[0].losses[0],
    ):
        with pytest.raises(RuntimeError, match="inputs: found a number inside a function"):
            derivative(f)(2.0)
    assert layer.state_dict() == before


# -- Ctrl-C ---------------------------------------------------------------------------------------


class Interrupted(optim.SGD):
    def change(self, grad, state):
        if self.steps == 10:
            raise KeyboardInterrupt
        return super().change(grad, state)


@ENGINES
def test_an_interrupt_keeps_the_model_and_the_history(engine):
    history, model, _ = fitted(optimizer=lambda p: Interrupted(p, lr=0.1), epochs=50, engine=engine)
    assert len(history.losses) == 2  # of four batches each
    assert all(math.isfinite(p.data) and p.grad == 0.0 for p in model.parameters())
    assert numbers(model) != numbers(network())


def test_an_interrupt_leaves_a_whole_number_of_steps():
    """At each line: parameters, gradients and the state of the optimiser belong together."""

    def run(at):
        """Two steps, with Ctrl-C at that line; whether it came, and what is left."""
        layer, count = nn.Linear(2, 1, seed=0), 0
        optimizer = optim.Adam(layer.parameters(), lr=0.1)
        steps = Steps(optimizer)

        def line(frame, event, arg):
            nonlocal count
            count += event == "line"
            if event == "line" and count == at:
                signal.raise_signal(signal.SIGINT)
            return line

        def call(frame, event, arg):
            stepping = frame.f_code.co_name in (
                "change",
                "move",
                "moved",
                "store",
                "_stepped",
                "_write",
            )
            return line if stepping and "autodiff" in frame.f_globals["__name__"] else None

        before = sys.gettrace()
        usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a background
        try:
            with suppress(KeyboardInterrupt), steps.written_back():
                sys.settrace(call)
                for gradient in ([1.0, 2.0, 3.0], [3.0, -1.0, 2.0]):
                    steps.move(np.array(gradient))
                    steps.store()
        finally:
            sys.settrace(before)
            signal.signal(signal.SIGINT, usual)
        assert [p.grad for p in layer.parameters()] == [0.0] * 3
        return count >= at, (layer.state_dict(), optimizer.state_dict())

    whole = [run(1)[1], None, run(10**9)[1]]
    lines = 1
    while (found := run(lines))[0]:
        whole[1] = whole[1] or (found[1] if found[1] not in whole else None)
        assert found[1] in whole, lines
        lines += 1
    assert [each[1]["steps"] for each in whole] == [0, 1, 2]
    assert lines > 40


# -- Optimisers -----------------------------------------------------------------------------------

OPTIMIZERS = {
    "SGD": lambda p, lr=0.05: optim.SGD(p, lr=lr),
    "momentum": lambda p, lr=0.05: optim.SGD(p, lr=lr, momentum=0.9, weight_decay=0.01),
    "Adagrad": lambda p, lr=0.05: optim.Adagrad(p, lr=lr, weight_decay=0.1),
    "RMSprop": lambda p, lr=0.05: optim.RMSprop(p, lr=lr, momentum=0.5),
    "Adam": lambda p, lr=0.05: optim.Adam(p, lr=lr, betas=(0.8, 0.99)),
}


@ENGINES
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_resumes_to_the_same_numbers(name, engine):
    chosen = {"optimizer": OPTIMIZERS[name], "engine": engine, "batch_size": None}
    whole, straight, final = fitted(epochs=5, **chosen)
    first, model, optimizer = fitted(epochs=2, **chosen)
    saved = json.loads(json.dumps([model.state_dict(), optimizer.state_dict()]))
    again = network()
    resumed = OPTIMIZERS[name](again.parameters(), lr=0.3)
    again.load_state_dict(saved[0])
    resumed.load_state_dict(saved[1])
    rest, *_ = fitted(again, epochs=3, **chosen | {"optimizer": lambda p: resumed})
    assert first.losses + rest.losses == whole.losses
    assert again.state_dict() == straight.state_dict()
    assert resumed.state_dict() == final.state_dict()


class Clipped(optim.SGD):
    def change(self, grad, state):
        return super().change(np.clip(grad, -0.01, 0.01), state)


class Signs(optim.SGD):
    memory = ("velocity", "count")

    def change(self, grad, state):
        state["count"] = state["count"] + 1
        return ad.where(ad.less(0.0, grad), self.lr, -self.lr) / state["count"]


@pytest.mark.parametrize("kind", [Clipped, Signs])
def test_an_optimizer_of_ones_own(kind):
    same(optimizer=lambda p: kind(p, lr=0.05))
    p = ad.Value(3.0)
    descent = kind([p], lr=0.5)
    for _ in range(2):
        p.grad = 4.0
        descent.step()
    assert p.data == (3.0 - 2 * 0.005 if kind is Clipped else 3.0 - 0.5 - 0.25)


@pytest.mark.parametrize(
    ("spoil", "kind", "words"),
    [
        (lambda state: 3, TypeError, None),
        (lambda state: {"0.weight": [[1.0]]}, KeyError, None),  # of the model
        (lambda state: state | {"settings": None}, TypeError, None),
        (lambda state: state | {"state": None}, AttributeError, None),
        (lambda state: state | {"settings": state["settings"] | {"lr": "a"}}, TypeError, None),
        (lambda state: state | {"settings": state["settings"] | {"lr": -1.0}}, ValueError, None),
        (lambda state: state | {"state": {}}, ValueError, "another state, expected that of Adam for 2 param"),
        (lambda state: state | {"state": {"mean": [0.0], "square": [0.0]}}, ValueError, "another state"),
        (lambda state: optim.Adagrad([ad.Value(1.0)]).state_dict(), ValueError, "another state"),
        (lambda state: optim.SGD([ad.Value(1.0)], lr=1.0).state_dict(), TypeError, "unexpected keyword argument"),
    ],
)  # fmt: skip
def test_a_state_of_another_optimizer_changes_nothing(spoil, kind, words):
    descent = optim.Adam([ad.Value(1.0), ad.Value(2.0)], lr=0.1)
    before = descent.state_dict()
    with pytest.raises(kind, match=words):
        descent.load_state_dict(spoil(descent.state_dict() | {"steps": 7}))
    assert descent.state_dict() == before


# -- JAX ------------------------------------------------------------------------------------------

ON_DEVICES = """
    import jax, sys
    import jax.numpy as jnp
    import numpy as np

    jax.config.update("jax_enable_x64", True)
    from autodiff import nn, optim, tanh
    from autodiff.nn.devices import split
    from autodiff.nn.engines import Losses
    from autodiff.nn.samples import Samples
    from autodiff.nn.steps import Steps

    devices = jax.devices()
    assert len(devices) == int(sys.argv[1])
    rng = np.random.default_rng(0)
    xs, ys = rng.normal(size=(40, 3)), rng.integers(4, size=40)

    def run(make, xp, size, callback):
        model = nn.Sequential(nn.Linear(3, 5, activation=tanh, seed=0), nn.Linear(5, 4, seed=1))
        optimizer = make(model.parameters())
        history = nn.fit(
            model, xs, ys, nn.cross_entropy, optimizer, 5, size, progress=False, seed=0,
            engine="compiled", xp=xp, callback=lambda history: callback(optimizer, history),
        )
        memory = [*optimizer.state.values()]
        return history.losses, [p.data for p in model.parameters()], memory, optimizer.steps

    def halve(optimizer, history):
        optimizer.lr /= 2

    for make in (
        lambda p: optim.SGD(p, lr=0.1),
        lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
        lambda p: optim.Adagrad(p, lr=0.1),
        lambda p: optim.RMSprop(p, lr=0.01, momentum=0.5),
        lambda p: optim.Adam(p, lr=0.01),
    ):
        for size in (None, 8, 7, 3):
            for found, expected in zip(run(make, jnp, size, halve), run(make, None, size, halve)):
                np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)

    model = nn.Linear(3, 4, seed=0)
    descent = optim.SGD(model.parameters(), lr=0.1)
    steps = Steps(descent)
    losses = Losses(model, nn.cross_entropy, Samples(xs, ys), steps, "compiled", 0, jnp)
    losses.make()
    for batch in (None, np.arange(8)):
        rows, rest = split(xs if batch is None else xs[batch])
        assert {shard.data.shape[0] for shard in rows.addressable_shards} == {len(rows) // len(devices)}
        assert {shard.device for shard in rows.addressable_shards} == set(devices)
        assert len(rest) == 0
        steps.move(losses.program(batch, steps.now[0])[1])
        assert len(steps.now[0].addressable_shards) == len(devices)
        assert {shard.data.shape for shard in steps.now[0].addressable_shards} == {(16,)}

    for lr, epochs in ((1e100, 9), (1e308, 1)):  # the second in its very last step
        model = nn.Linear(3, 1, seed=0)
        descent = optim.SGD(model.parameters(), lr=lr)
        try:
            nn.fit(model, xs, [100.0] * len(xs), nn.mse_loss, descent, epochs, progress=False, xp=jnp)
        except FloatingPointError as error:
            assert "diverged in epoch" in str(error), error
            assert all(np.isfinite(p.data) for p in model.parameters())
        else:
            raise AssertionError("it should have diverged")

    jax.config.update("jax_enable_x64", False)  # the default: parameters are float32
    validated = []
    for xp in (None, jnp):
        model = nn.Linear(3, 4, seed=0)
        descent = optim.SGD(model.parameters(), lr=0.1)
        given = model, xs, ys, nn.cross_entropy, descent, 3
        validated.append(nn.fit(*given, progress=False, xp=xp, validation=(xs, ys)).validation)
    np.testing.assert_allclose(validated[1], validated[0], rtol=1e-5)
    print("done")
"""


@pytest.mark.jax
@pytest.mark.parametrize("devices", [1, 4])
def test_training_in_jax_is_training_in_numpy(devices):
    flags = f"--xla_force_host_platform_device_count={devices}"
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(ON_DEVICES), str(devices)],
        env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout.endswith("done\n"), found.stderr
