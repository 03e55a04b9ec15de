"""What fit offers besides the loop: callbacks, validation, modes, predictions, resuming, devices."""

import functools
import itertools
import json
import math
import os
import signal
import subprocess
import sys
import textwrap
from contextlib import suppress

import numpy as np
import pandas
import pytest

import autodiff as ad
from autodiff import Value, Vector, nn, optim

RNG = np.random.default_rng(0)
INPUTS = RNG.uniform(-1, 1, size=(30, 2))
CLASSES = (INPUTS[:, 0] > INPUTS[:, 1]).astype(int)


def network(seed=0):
    return nn.Sequential(nn.Linear(2, 4, activation=ad.tanh, seed=seed), nn.Linear(4, 2, seed=1))


def trained(model=None, make=optim.Adam, epochs=4, **arguments):
    model = model or network()
    optimizer = make(model.parameters(), lr=0.05)
    chosen = {"progress": False, "seed": 0, "engine": "compiled"} | arguments
    history = nn.fit(model, INPUTS, CLASSES, nn.cross_entropy, optimizer, epochs, **chosen)
    return history, model, optimizer


ENGINES = pytest.mark.parametrize("engine", ["compiled", "eager"])


# -- Callbacks and validation ---------------------------------------------------------------------


@ENGINES
def test_a_callback_sees_the_history_and_stops_the_training(engine):
    seen = []
    model = network()

    def callback(history):
        loss = np.mean([nn.cross_entropy(model(x), c).data for x, c in zip(INPUTS, CLASSES)])
        seen.append((list(history.losses), loss, [p.grad for p in model.parameters()]))
        return len(seen) == 3

    history, *_ = trained(model, callback=callback, engine=engine)
    assert [len(losses) for losses, _, _ in seen] == [1, 2, 3]
    assert len(history.losses) == 3
    for (_, loss, _), after in zip(seen, history.losses[1:]):  # full batches: the next loss
        assert loss == pytest.approx(after, rel=1e-12)


def test_only_true_stops():
    assert len(trained(callback=lambda history: 1)[0].losses) == 4
    assert len(trained(callback=lambda history: None)[0].losses) == 4


@ENGINES
def test_a_callback_may_schedule_the_learning_rate(engine):
    model = network()
    descent = optim.SGD(model.parameters(), lr=0.1)

    def halve(history):
        descent.lr /= 2

    nn.fit(
        model, INPUTS, CLASSES, nn.cross_entropy, descent, 3, progress=False, callback=halve,
        engine=engine,
    )  # fmt: skip
    other = network()
    for lr in (0.1, 0.05, 0.025):
        trained(other, lambda p, lr, now=lr: optim.SGD(p, lr=now), epochs=1)
    assert descent.lr == 0.1 / 8
    found, expected = ([p.data for p in m.parameters()] for m in (model, other))
    assert found == pytest.approx(expected, rel=1e-12)


@ENGINES
def test_what_a_callback_changes_counts(engine):
    """Parameters that it sets, freezes and thaws, and the memory of the optimiser."""

    def run(engine):
        model = network()
        descent = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

        def change(history):
            epoch = len(history.losses)
            if epoch == 1:
                model.layers[0].bias[0].data = 1.0
            if epoch == 2:
                model.layers[0].weight.requires_grad_(False)
            if epoch == 3:
                model.layers[0].weight.requires_grad_(True)
                for state in descent.state:
                    state["velocity"] = 0.0

        history = nn.fit(
            model, INPUTS, CLASSES, nn.cross_entropy, descent, 5, progress=False, callback=change,
            engine=engine,
        )  # fmt: skip
        return history.losses, [p.data for p in model.parameters()]

    for found, expected in zip(run(engine), run("eager")):
        assert found == pytest.approx(expected, rel=1e-11)


SCALE = 1.0  # of a loss


class Weighted(nn.Module):
    """A layer between numbers that are not trained, each of which a callback may change."""

    def __init__(self):
        self.inner, self.factor = nn.Linear(2, 1, seed=0), 0.5
        self.shift = Vector([0.1, 0.2]).requires_grad_(False)
        self.weights = {"output": 1.0}
        self.activation = ad.tanh

    def forward(self, x):
        y = self.inner(x + self.shift) * self.factor * self.weights["output"]
        return y.map(self.activation)


def rescale(model, epoch):
    global SCALE
    SCALE = 0.5**epoch


SCHEDULES = {
    "an attribute": lambda model, epoch: setattr(model, "factor", 0.1 * epoch),
    "a frozen Value": lambda model, epoch: setattr(model.shift[0], "data", 0.1 * epoch),
    "a number in a dict": lambda model, epoch: model.weights.update(output=0.1 * epoch),
    "a function": lambda model, epoch: setattr(model, "activation", ad.sin),
    "a layer": lambda model, epoch: epoch == 5 and setattr(model.inner, "bias", Vector([1.0])),
    "a variable of the loss": rescale,
    "late": lambda model, epoch: epoch == 5 and setattr(model, "factor", 1.0),
}


@pytest.mark.filterwarnings("ignore:fit makes a new program")
@pytest.mark.parametrize("name", SCHEDULES)
def test_what_a_callback_changes_in_the_model_or_the_loss_counts_from_the_next_epoch(name):
    def run(engine):
        global SCALE
        SCALE = 1.0
        model = Weighted()
        descent = optim.SGD(model.inner.parameters(), lr=0.1)
        history = nn.fit(
            model, INPUTS, CLASSES, lambda p, t: SCALE * nn.mse_loss(p, t), descent, 7,
            progress=False, validation=(INPUTS[:5], CLASSES[:5]), engine=engine,
            callback=lambda history: SCHEDULES[name](model, len(history.losses)),
        )  # fmt: skip
        assert history.engine == engine
        return history.losses, history.validation, [p.data for p in model.parameters()]

    for found, expected in zip(run("compiled"), run("eager")):
        assert found == pytest.approx(expected, rel=1e-11)


def test_an_error_or_an_interrupt_in_a_callback_leaves_the_numbers_of_that_epoch():
    for kind in (KeyError, KeyboardInterrupt):
        model = network()

        def fail(history, kind=kind):
            if len(history.losses) == 2:
                raise kind

        try:
            trained(model, callback=fail)
        except KeyError:
            assert kind is KeyError
        expected = trained(epochs=2)[1]
        assert [p.data for p in model.parameters()] == [p.data for p in expected.parameters()]
        assert all(p.grad == 0.0 for p in model.parameters())


@ENGINES
@pytest.mark.parametrize("how", ["goes on", "stops", "raises KeyError", "raises Ctrl-C"])
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
            if how.startswith("raises"):
                raise KeyError if how.endswith("KeyError") else KeyboardInterrupt
            return how == "stops"
        return None

    with suppress(KeyError):
        nn.fit(
            model, INPUTS, CLASSES, nn.cross_entropy, optimizer, 3, progress=False,
            callback=restore, engine=engine,
        )  # fmt: skip
    assert model.state_dict() == best["model"]
    assert optimizer.state_dict() == best["optimizer"]


OWN = {  # of the caller, and what a callback does to them
    "an array": (lambda: np.ones((30, 2)), lambda data: data.__imul__(0.5)),
    "an array of numbers": (lambda: np.ones(30), lambda data: data.__imul__(0.5)),
    "rows": (lambda: [[1.0, 2.0] for _ in INPUTS], lambda data: data[0].__setitem__(0, 9.0)),
    "rows in rows": (lambda: [([1.0], [2.0])] * 30, lambda data: data[0][0].__setitem__(0, 9.0)),
    "dicts": (lambda: [{"y": [1.0, 2.0]} for _ in INPUTS], lambda data: data[0]["y"].append(9.0)),
    "arrays": (lambda: [np.ones(2) for _ in INPUTS], lambda data: data[0].__imul__(0.5)),
}


def total(target):
    """The sum of all numbers in a target."""
    parts = list(target.values()) if isinstance(target, dict) else target
    return sum(map(total, parts)) if hasattr(parts, "__len__") else float(parts)


@ENGINES
@pytest.mark.parametrize("name", OWN)
def test_targets_are_copied(engine, name):
    """So that a callback that changes them does not: for both engines."""

    def run(change):
        targets, model = OWN[name][0](), network()
        descent = optim.SGD(model.parameters(), lr=0.1)
        return nn.fit(
            model, INPUTS, targets, lambda p, t: (p.sum() - total(t)) ** 2, descent, 4,
            progress=False, engine=engine, callback=lambda history: (change(targets), None)[1],
        ).losses  # fmt: skip

    assert run(OWN[name][1]) == run(lambda targets: None)


@ENGINES
def test_a_loss_may_be_constant_for_some_samples(engine):
    """Those without a label, for example."""
    for constant in (Value(0.0), Value(0.0) * 1.0, 0.0 * Vector([1.0]).requires_grad_(False)):
        targets = [None, *CLASSES[1:]]

        def loss(p, t, constant=constant):
            return constant if t is None else nn.cross_entropy(p, t)

        found = []
        for size in (None, 1):
            model = network()
            descent = optim.SGD(model.parameters(), lr=0.1)
            history = nn.fit(
                model, INPUTS, targets, loss, descent, 2, size, progress=False, engine=engine,
                seed=1,
            )  # fmt: skip
            found.append(history.losses[0])
        model = network()
        expected = sum(
            [nn.cross_entropy(model(x), c).data for x, c in zip(INPUTS[1:], CLASSES[1:])]
        )
        assert found[0] == pytest.approx(expected / 30, rel=1e-12)


def test_a_program_is_checked_in_epochs_1_2_4_8_the_last_and_after_callbacks(monkeypatch):
    calls, difference = [], nn.engines.Losses.difference
    monkeypatch.setattr(
        nn.engines.Losses, "difference", lambda self, i: calls.append(i) or difference(self, i)
    )

    def found(epochs, callback):
        walked = []  # how many samples, before each epoch

        def count(self, *rest, **more):
            calls.clear()
            verify(self, *rest, **more)
            walked.append(len(calls))

        with monkeypatch.context() as patch:
            verify = nn.engines.Losses.verify
            patch.setattr(nn.engines.Losses, "verify", count)
            trained(epochs=epochs, callback=callback)
        return walked

    assert found(11, None) == [3, 1, 0, 1, 0, 0, 0, 1, 0, 0, 3]
    assert found(6, lambda history: None) == [3, 1, 1, 1, 1, 3]


@pytest.mark.parametrize("data", [{0: 1.0, 1: 2.0}, {1.0, 2.0}, "12", b"12", 1.0, None])
def test_data_that_is_no_sequence(data):
    """A dict would be its keys, and a set in any order."""
    model = nn.Linear(1, 1, seed=0)
    descent = optim.SGD(model.parameters(), lr=0.1)
    for where, xs, ys in (("inputs", data, [1.0, 2.0]), ("targets", [1.0, 2.0], data)):
        with pytest.raises(TypeError, match=f"fit, {where}: found .*, expected a sequence"):
            nn.fit(model, xs, ys, nn.mse_loss, descent, 1, progress=False)
    with pytest.raises(TypeError, match=r"predict, inputs: found .*, expected a sequence"):
        nn.predict(model, data)
    if isinstance(data, dict):
        model = nn.Linear(1, 1, seed=0)
        descent = optim.SGD(model.parameters(), lr=0.1)
        given = model, data.keys(), data.values(), nn.mse_loss, descent, 1
        assert nn.fit(*given, progress=False).losses


@ENGINES
@pytest.mark.parametrize(
    ("wrong", "kind", "text"),
    [
        ({"optimizer": None}, TypeError, "fit, optimizer: found None .*, expected one of autod"),
        ({"seed": "a"}, TypeError, "fit, seed: found 'a' of type str, expected a whole number"),
        ({"inputs": np.ones((30, 8, 8))}, ValueError, r"write inputs.reshape\(len\(inputs\), -1\)"),
        (
            {"inputs": [*INPUTS[:29], [math.nan, 1.0]]},
            ValueError,
            "found nan in row 29, expected f",
        ),
        ({"targets": ["cat", "dog"] * 15}, TypeError, "found the label 'cat', .* number the class"),
    ],
)
def test_what_is_wrong_is_said_in_words(engine, wrong, kind, text):
    model = network()
    given = {
        "model": model, "inputs": INPUTS, "targets": CLASSES, "loss": nn.cross_entropy,
        "optimizer": optim.SGD(model.parameters(), lr=0.1), "epochs": 1,
    }  # fmt: skip
    with pytest.raises(kind, match=text):
        nn.fit(**given | wrong, progress=False, engine=engine)


class Embedding(nn.Module):
    """A row of a matrix for each token, as a dictionary would look it up."""

    def __init__(self):
        self.weight = ad.Matrix([[0.1, 0.2], [0.3, 0.4]])

    def forward(self, x):
        return self.weight[abs(int(x[0].data))]


class Remembering(nn.Module):
    """A network that keeps an activation to look at."""

    def __init__(self):
        self.inner, self.hidden = network(), None

    def forward(self, x):
        y = self.inner(x)
        self.hidden = y.data
        return y


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (Embedding, r"make the input a one-hot row and write row @ weight for weight\[int"),
        (lambda: nn.Sequential(network(), lambda y: y * max(y[0], 1.0)), "write autodiff.maximum"),
        (Remembering, "a call changes 'hidden'; return what is to be looked at later"),
    ],
)
def test_the_warning_that_a_model_is_walked_says_what_to_write(make, text):
    with pytest.warns(nn.WalkingWarning, match=text) as warned:
        trained(make(), engine="auto", epochs=2)
    assert len(warned) == 1


def test_a_batch_that_is_walked_by_a_program_is_said_once():
    """The logarithm of some samples fails, which the model catches: 13 times slower."""

    def loss(p, t):
        if t == 1:
            return nn.mse_loss(p, [0.0, 0.0])
        try:
            return ad.log(p.sum() - 5.0) * 1e-9 + nn.mse_loss(p, [1.0, 1.0])
        except ValueError:
            return nn.mse_loss(p, [1.0, 1.0])

    model = network()
    descent = optim.SGD(model.parameters(), lr=0.1)
    with pytest.warns(nn.WalkingWarning, match=r"fit walks batches, .* write log\(maximum"):
        nn.fit(model, INPUTS, CLASSES, loss, descent, 3, progress=False, seed=0)


def test_a_program_that_is_made_anew_in_every_epoch_is_said_once():
    model = Weighted()
    descent = optim.SGD(model.inner.parameters(), lr=0.1)
    with pytest.warns(nn.WalkingWarning, match="fit makes a new program in every epoch") as warned:
        nn.fit(
            model, INPUTS, CLASSES, nn.mse_loss, descent, 8, progress=False,
            callback=lambda history: setattr(model, "factor", 0.1 * len(history.losses)),
        )  # fmt: skip
    assert len(warned) == 1


def test_predictions_in_lists_are_compiled():
    calls = itertools.count()  # a list would be noticed

    def model(x):
        next(calls)
        return [x[0] * 2.0, 0.5]

    assert nn.predict(model, np.ones((200, 2))).tolist() == [[2.0, 0.5]] * 200
    assert next(calls) < 10


@pytest.mark.parametrize("name", ["epochs", "batch_size"])
def test_a_bool_is_no_count(name):
    with pytest.raises(ValueError, match=f"fit: found {name} = True, expected a positive integer"):
        trained(**{name: True})


STEPPING = {"_epoch", "change", "gradients", "move", "moved", "step", "store"}


def interrupted(fit, at):
    """Whether Ctrl-C comes: at that line, of those that a step runs."""
    count = 0

    def trace(frame, event, arg):
        nonlocal count
        count += event == "line"
        if event == "line" and count == at:
            signal.raise_signal(signal.SIGINT)
        return trace

    def calls(frame, event, arg):
        ours = frame.f_globals.get("__name__", "").startswith("autodiff.")
        return trace if ours and frame.f_code.co_name in STEPPING else None

    before = sys.gettrace()
    sys.settrace(calls)
    try:
        fit()
    finally:
        sys.settrace(before)
    return count >= at


@pytest.mark.parametrize("own", [False, True])
@ENGINES
def test_an_interrupt_leaves_a_whole_number_of_steps(engine, own):
    """At each line: parameters, gradients and the state of the optimiser belong together."""

    class Own(optim.Adam):
        def change(self, grad, state):
            return super().change(grad, state)

    def run(at, epochs=2):
        layer = nn.Linear(2, 1, seed=0)
        optimizer = (Own if own else optim.Adam)(layer.parameters(), lr=0.1)

        def fit():
            nn.fit(
                layer, INPUTS[:2], [1.0, 2.0], nn.mse_loss, optimizer, epochs, progress=False,
                engine=engine,
            )  # fmt: skip

        came = interrupted(fit, at) if at else fit()
        assert [p.grad for p in layer.parameters()] == [0.0] * 3
        return came, (layer.state_dict(), optimizer.state_dict())

    def nothing():
        layer = nn.Linear(2, 1, seed=0)
        return layer.state_dict(), optim.Adam(layer.parameters(), lr=0.1).state_dict()

    whole = [nothing(), run(0, epochs=1)[1], run(0)[1]]
    at, came = 1, True
    while came:
        came, found = run(at)
        assert found in whole, at
        at += 1
    assert at > 20


@ENGINES
def test_what_an_optimizer_loads_in_a_callback_is_what_divergence_returns_to(engine):
    model = nn.Linear(1, 1, seed=0)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def callback(history):
        optimizer.load_state_dict(optimizer.state_dict())
        if len(history.losses) == 3:
            kept.update(optimizer.state_dict())
            optimizer.lr = 1e300

    kept = {}
    with pytest.raises(FloatingPointError, match="diverged in epoch 5"):
        nn.fit(
            model, [1.0, 2.0], [1.0, 2.0], nn.mse_loss, optimizer, 9, progress=False,
            engine=engine, callback=callback,
        )  # fmt: skip
    assert optimizer.state_dict()["state"] == kept["state"]
    assert optimizer.steps == kept["steps"]


@ENGINES
def test_a_callback_that_freezes_everything_ends_a_training_that_goes_on(engine):
    model = network()

    def freeze(history):
        for layer in model.layers:
            layer.weight.requires_grad_(False)
            layer.bias.requires_grad_(False)

    with pytest.raises(ValueError, match="depends on none of the optimizer's parameters"):
        trained(model, epochs=2, callback=freeze, engine=engine)
    model = network()
    assert len(trained(model, epochs=1, callback=freeze, engine=engine)[0].losses) == 1


@ENGINES
def test_validation_is_recorded_beside_the_losses(engine):
    others = RNG.uniform(-1, 1, size=(7, 2)), [0, 1, 0, 1, 0, 1, 1]
    losses = []
    model = network()

    def callback(history):
        losses.append(np.mean([nn.cross_entropy(model(x), c).data for x, c in zip(*others)]))
        assert len(history.validation) == len(history.losses)

    history, *_ = trained(model, validation=others, callback=callback, engine=engine)
    assert history.validation == pytest.approx(losses, rel=1e-12)
    without, *_ = trained(engine=engine)
    assert without.losses == history.losses
    with pytest.raises(ValueError, match="fit, validation: found 7 inputs and 1 target,"):
        trained(validation=(others[0], [1]))


def test_both_curves_are_plotted():
    import matplotlib as mpl

    mpl.use("agg")
    history, *_ = trained(validation=(INPUTS[:5], CLASSES[:5]))
    axes = history.plot()
    assert [line.get_ydata().tolist() for line in axes.lines] == [
        history.losses,
        history.validation,
    ]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["training", "validation"]


def test_the_history_shows_the_engine():
    assert repr(trained()[0]).endswith(", compiled)")
    assert repr(trained(engine="eager")[0]).endswith(", eager)")


# -- Dropout, and the modes -----------------------------------------------------------------------


def test_dropout_drops_and_scales():
    layer = nn.Dropout(0.25, seed=1)
    ones = Vector([1.0] * 10_000)
    found = layer(ones).data
    assert set(found) == {0.0, 1.0 / 0.75}
    assert np.mean(found) == pytest.approx(1.0, abs=5 * math.sqrt(1 / 3 / 10_000))
    assert layer(ones).data != found
    assert layer.eval()(ones).data == [1.0] * 10_000
    assert nn.Dropout(0.0)(ones).data == [1.0] * 10_000
    assert repr(layer) == "Dropout(p=0.25): 0 parameters"
    assert nn.Dropout(0.5, seed=3)(ones).data == nn.Dropout(0.5, seed=3)(ones).data
    for p in (-0.1, 1.0, math.nan):
        with pytest.raises(ValueError, match="Dropout: found p = .*, expected 0 <= p < 1"):
            nn.Dropout(p)


def test_modes_reach_all_modules():
    model = nn.Sequential(nn.Dropout(0.5, seed=0), nn.Sequential(nn.Dropout(0.5, seed=1)))
    inner = model.layers[1].layers[0]
    assert inner.training
    assert model.eval() is model
    assert not model.training
    assert not inner.training
    assert model.train() is model
    assert model.training
    assert inner.training


def test_fit_trains_in_training_mode_and_leaves_the_modes_as_they_were():
    model = nn.Sequential(nn.Linear(2, 8, seed=0), nn.Dropout(0.5, seed=0), nn.Linear(8, 2, seed=1))
    model.layers[1].eval()
    modes = []

    def callback(history):
        modes.append(model.layers[1].training)

    held_out = INPUTS[:5], CLASSES[:5]
    with pytest.warns(nn.WalkingWarning, match="a call draws random numbers"):
        history, *_ = trained(
            model, callback=callback, validation=held_out, engine="auto", epochs=1
        )
    assert modes == [True]
    assert not model.layers[1].training
    assert model.layers[0].training
    losses = [nn.cross_entropy(model.eval()(x), c).data for x, c in zip(*held_out)]
    assert history.validation[0] == pytest.approx(np.mean(losses))  # without dropout


# -- Predictions ----------------------------------------------------------------------------------


def test_predict_is_the_model_on_every_row():
    model = network()
    found = nn.predict(model, INPUTS)
    assert found.shape == (30, 2)
    np.testing.assert_allclose(found, [model(x).data for x in INPUTS], rtol=1e-13)
    frame = pandas.DataFrame(INPUTS, columns=["a", "b"])
    np.testing.assert_array_equal(nn.predict(model, frame), found)
    one = nn.predict(lambda x: x[0] * 2.0, INPUTS)
    np.testing.assert_array_equal(one, 2 * INPUTS[:, 0])
    np.testing.assert_allclose(nn.predict(nn.Linear(1, 1, seed=0), [1, 2]).shape, (2, 1))


@pytest.mark.parametrize("derivative", [ad.grad, ad.jacfwd, ad.jacrev])
def test_inputs_that_would_lose_their_derivative_are_refused(derivative):
    layer = nn.Linear(1, 1, seed=0)
    descent = optim.SGD(layer.parameters(), lr=0.1)

    def predicted(x):
        return x * nn.predict(layer, [[x]])[0, 0]

    def trained_on(x):
        return nn.fit(layer, [x], [1.0], nn.mse_loss, descent, 1, progress=False).losses[0] * x

    before = layer.state_dict()
    for f in (predicted, trained_on):
        with pytest.raises(RuntimeError, match="inputs: found a number inside a function"):
            derivative(f)(2.0)
    assert layer.state_dict() == before


@pytest.mark.parametrize("callback", [3, "stop"])
def test_a_callback_that_cannot_be_called_is_refused_before_training(callback):
    model = network()
    before = model.state_dict()
    with pytest.raises(TypeError, match="fit: found callback .*, expected a function"):
        trained(model, callback=callback)
    assert model.state_dict() == before


def test_predict_takes_a_model_that_chooses_or_drops():
    def model(x):
        return x[0] if x[0] > 0 else 0.1 * x[1]

    np.testing.assert_allclose(nn.predict(model, INPUTS), [model(x) for x in INPUTS])
    dropping = nn.Sequential(network(), nn.Dropout(0.5, seed=0))
    np.testing.assert_allclose(nn.predict(dropping, INPUTS), nn.predict(network(), INPUTS))
    assert dropping.training


class Holder:
    def __init__(self, held):
        self.held = held

    def __call__(self, x):
        return self.held(x)


class Wrapped(nn.Module):
    def __init__(self, held):
        self.function = lambda x: held(x)

    def forward(self, x):
        return self.function(x)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda net: lambda x: net(x),
        lambda net: net.forward,
        lambda net: functools.partial(net),
        Holder,
        Wrapped,
    ],
)
def test_modes_reach_the_modules_that_functions_and_objects_use(wrap):
    net = nn.Sequential(nn.Dropout(0.5, seed=0), nn.Linear(2, 1, seed=0))
    right = nn.predict(net, INPUTS)
    assert nn.predict(wrap(net), INPUTS).tolist() == right.tolist()
    modes = []
    descent = optim.SGD(net.parameters(), lr=0.0)
    nn.fit(
        wrap(net.eval()), INPUTS, CLASSES, lambda p, t: modes.append(net.training) or p.sum(),
        descent, 1, progress=False, engine="eager",
    )  # fmt: skip
    assert set(modes) == {True}
    assert not net.training
    assert not net.layers[0].training


def test_predict_takes_numbers_beside_values():
    layer = nn.Linear(2, 1, seed=0)
    for rows in (INPUTS[:2], INPUTS):
        found = nn.predict(lambda x: [layer(x)[0], 0.5], rows)
        assert found[:, 0] == pytest.approx(nn.predict(layer, rows)[:, 0], rel=1e-15)
        assert set(found[:, 1]) == {0.5}
        assert nn.predict(lambda x: 2, rows).tolist() == [2.0] * len(rows)


@pytest.mark.parametrize(
    ("model", "kind", "message"),
    [
        (lambda x: {"a": x[0]}, TypeError, "predict, what the model returns: found {'a'"),
        (lambda x: None, TypeError, "predict, what the model returns: found None"),
        (lambda x: [x, x[0]], ValueError, "predict: found results of different shapes"),
    ],
)
def test_what_a_model_may_not_return_to_predict(model, kind, message):
    for rows in (INPUTS[:2], INPUTS):
        with pytest.raises(kind, match=message):
            nn.predict(model, rows)


@pytest.mark.parametrize(
    ("predictions", "targets", "share"),
    [
        ([[2.0, 1.0], [0.0, 3.0], [1.0, 2.0]], [0, 1, 0], 2 / 3),
        ([[2.0, 1.0], [0.0, 3.0]], [[1, 0], [0, 1]], 1.0),
        ([[0.5], [-2.0]], [1, -1], 1.0),
        ([0.5, -2.0], [0, 0], 0.5),
        ([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0]], [[1], [0]], 0.0),  # a column of classes
        ([[2.0, 1.0], [0.0, 3.0]], [False, True], 1.0),
    ],
)
def test_accuracy(predictions, targets, share):
    assert nn.accuracy(predictions, targets) == share
    assert nn.accuracy(np.array(predictions), np.array(targets)) == share


def test_accuracy_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="accuracy: found 1 prediction and 2 targets"):
        nn.accuracy([[1.0, 2.0]], [0, 1])


@pytest.mark.parametrize(
    ("predictions", "targets"),
    [
        ([[2.0, 1.0], [0.0, 3.0]], [1, -1]),
        ([[2.0, 1.0], [0.0, 3.0]], [1, 2]),
        ([[2.0, 1.0], [0.0, 3.0]], ["a", "b"]),
        ([[2.0, 1.0], [0.0, 3.0]], [[1, 0, 0], [0, 1, 0]]),
        ([0.5, -2.0], [1, 2]),
        ([[0.5], [-2.0]], [[1, 0], [0, 1]]),
    ],
)
def test_accuracy_refuses_targets_that_there_are_no_scores_for(predictions, targets):
    with pytest.raises(ValueError, match="accuracy: found targets .*, expected classes"):
        nn.accuracy(predictions, targets)


def test_a_frame_of_targets_is_its_rows_not_the_names_of_its_columns():
    rows = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    frame = pandas.DataFrame(rows, index=[5, 3, 4])  # its columns are called 0, 1, 2
    scores = [[0.0, 0.5, 1.0], [1.0, 0.5, 0.0], [0.0, 1.0, 0.5]]
    assert nn.accuracy(scores, frame) == 1.0
    found = []
    for targets in (frame, rows):
        model = nn.Linear(2, 3, seed=0)
        descent = optim.SGD(model.parameters(), lr=0.1)
        history = nn.fit(
            model, INPUTS[:3], targets, nn.cross_entropy, descent, 2, progress=False,
            validation=(INPUTS[:3], targets),
        )  # fmt: skip
        found.append((history.losses, history.validation))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("predictions", "targets"),
    [
        ([[math.nan, 1.0], [0.0, 1.0]], [0, 1]),  # argmax gives the place of the nan
        ([math.nan, 1.0], [0, 1]),
        (np.array([[0.0, 1.0], [0.0, math.nan]], object), [1, 1]),
    ],
)
def test_a_score_that_is_nan_is_not_counted(predictions, targets):
    with pytest.raises(ValueError, match="accuracy: found a score that is nan, expected a number"):
        nn.accuracy(predictions, targets)


@pytest.mark.parametrize(
    ("predictions", "kind"),
    [
        ([["1", "2"], ["2", "1"]], TypeError),
        ([[1j, 2.0], [2.0, 1.0]], TypeError),
        (np.zeros((2, 2, 2)), ValueError),
        ({0: [1.0, 2.0], 1: [2.0, 1.0]}, TypeError),
        ([[1.0], [1.0, 2.0]], ValueError),
    ],
)
def test_predictions_that_are_no_scores(predictions, kind):
    with pytest.raises(kind, match=r"found .*, expected "):
        nn.accuracy(predictions, [0, 1])


def test_one_hot_rows_with_nan_are_no_classes():
    with pytest.raises(ValueError, match="accuracy: found targets"):
        nn.accuracy([[1.0, 2.0], [2.0, 1.0]], [[math.nan, 1.0], [1.0, 0.0]])


def test_accuracy_after_training():
    _, model, _ = trained(epochs=200)
    assert nn.accuracy(nn.predict(model, INPUTS), CLASSES) == 1.0


def test_softmax():
    logits = [1.0, -2.0, 0.5]
    expected = np.exp(logits) / np.exp(logits).sum()
    assert nn.softmax(logits).data == pytest.approx(expected.tolist(), rel=1e-14)
    assert nn.softmax(Vector([1000.0, -1000.0])).data == [1.0, 0.0]
    rows = np.array([logits, [5.0, 5.0, 5.0]])
    np.testing.assert_allclose(nn.softmax(rows), [expected, [1 / 3] * 3], rtol=1e-14)
    jacobian = ad.jacrev(nn.softmax)(logits)
    np.testing.assert_allclose(
        jacobian, np.diag(expected) - np.outer(expected, expected), atol=1e-15
    )


# -- The state of optimisers ----------------------------------------------------------------------

OPTIMIZERS = {
    "SGD": lambda p, lr: optim.SGD(p, lr=lr),
    "momentum": lambda p, lr: optim.SGD(p, lr=lr, momentum=0.9, weight_decay=0.01),
    "Adagrad": lambda p, lr: optim.Adagrad(p, lr=lr, weight_decay=0.1),
    "RMSprop": lambda p, lr: optim.RMSprop(p, lr=lr, momentum=0.5),
    "Adam": lambda p, lr: optim.Adam(p, lr=lr, betas=(0.8, 0.99)),
}


@ENGINES
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_resumes_to_the_same_numbers(name, engine):
    make = OPTIMIZERS[name]
    whole, straight, final = trained(make=make, epochs=6, engine=engine)
    first, model, optimizer = trained(make=make, epochs=2, engine=engine)
    saved = json.loads(json.dumps([model.state_dict(), optimizer.state_dict()]))
    again = network(seed=5)
    resumed = make(again.parameters(), lr=0.3)
    again.load_state_dict(saved[0])
    resumed.load_state_dict(saved[1])
    rest = nn.fit(
        again, INPUTS, CLASSES, nn.cross_entropy, resumed, 4, progress=False, engine=engine
    )
    assert first.losses + rest.losses == whole.losses
    assert again.state_dict() == straight.state_dict()
    assert resumed.state_dict() == final.state_dict()


def test_the_state_of_another_optimizer_is_refused():
    p = [Value(1.0), Value(2.0)]
    state = optim.Adam(p).state_dict()
    for other in (state | {"state": [{}]}, state | {"state": state["state"][:1]}):
        with pytest.raises(ValueError, match=r"another state, expected that of Adam for 2 param"):
            optim.Adam(p).load_state_dict(other)
    with pytest.raises(TypeError, match="unexpected keyword argument 'betas'"):
        optim.SGD(p, lr=1.0).load_state_dict(state)
    with pytest.raises(ValueError, match="another state, expected that of Adam"):
        optim.Adam(p).load_state_dict(optim.Adagrad(p).state_dict())


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        (lambda state: 3, TypeError),
        (lambda state: {"0.weight": [[1.0]]}, KeyError),  # of the model
        (lambda state: state | {"settings": None}, TypeError),
        (lambda state: state | {"state": None}, TypeError),
        (lambda state: state | {"settings": state["settings"] | {"lr": "a"}}, TypeError),
        (lambda state: state | {"settings": state["settings"] | {"lr": -1.0}}, ValueError),
    ],
)
def test_a_state_that_is_none_changes_nothing(spoil, kind):
    descent = optim.Adam([Value(1.0), Value(2.0)], lr=0.1)
    before = descent.state_dict()
    with pytest.raises(kind):
        descent.load_state_dict(spoil(descent.state_dict() | {"steps": 7}))
    assert descent.state_dict() == before


def test_an_optimizer_of_ones_own_steps_parameter_by_parameter():
    class Clipped(optim.SGD):
        def step(self):
            for p in self.params:
                p.grad = max(-0.01, min(0.01, p.grad))
            super().step()

    class Signs(optim.SGD):
        def change(self, grad, state):
            return self.lr if grad > 0 else -self.lr

    for kind in (Clipped, Signs):
        found = [
            trained(make=kind, engine=engine)[1].state_dict() for engine in ("compiled", "eager")
        ]
        assert found[0] == found[1]


@pytest.mark.parametrize("name", ["step", "moved", "change"])
@pytest.mark.parametrize("late", [False, True])
def test_a_rule_of_ones_own_on_one_optimizer_counts(name, late):
    def run(engine):
        model = network()
        descent = optim.SGD(model.parameters(), lr=0.1)
        step, moved = descent.step, descent.moved

        def clipped_step():
            for p in descent.params:
                p.grad = max(-0.01, min(0.01, p.grad))
            step()

        rules = {
            "step": clipped_step,
            "moved": lambda data, grad, state: moved(data, max(-0.01, min(0.01, grad)), state),
            "change": lambda grad, state: 0.01 if grad > 0 else -0.01,
        }

        def change(history=()):
            setattr(descent, name, rules[name])

        if not late:
            change()
        nn.fit(
            model, INPUTS, CLASSES, nn.cross_entropy, descent, 4, progress=False, engine=engine,
            callback=change if late else None,
        )  # fmt: skip
        return [p.data for p in model.parameters()]

    assert run("compiled") == pytest.approx(run("eager"), rel=1e-11)


# -- JAX ------------------------------------------------------------------------------------------

ON_DEVICES = """
    import jax, sys
    import jax.numpy as jnp
    import numpy as np

    jax.config.update("jax_enable_x64", True)
    from autodiff import nn, optim, tanh
    from autodiff.nn.devices import OnDevices
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
        memory = [list(state.values()) for state in optimizer.state]
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
    engine = OnDevices(model, nn.cross_entropy, Samples(xs, ys), steps, True, jnp)
    for batch in (None, np.arange(8)):
        rows, rest = engine.rows(batch)
        assert {shard.data.shape[0] for shard in rows.addressable_shards} == {len(rows) // len(devices)}
        assert {shard.device for shard in rows.addressable_shards} == set(devices)
        assert len(rest) == 0
        steps.move(engine.sums(batch, steps.now[0])[1])
        assert len(steps.now[0].addressable_shards) == len(devices)
        assert {shard.data.shape for shard in steps.now[0].addressable_shards} == {(16,)}

    model = nn.Linear(3, 1, seed=0)
    descent = optim.SGD(model.parameters(), lr=1e100)
    try:
        nn.fit(model, xs, ys, nn.mse_loss, descent, 9, progress=False, xp=jnp)
    except FloatingPointError as error:
        assert "diverged in epoch" in str(error), error
        assert all(np.isfinite(p.data) for p in model.parameters())
    else:
        raise AssertionError("it should have diverged")

    class Signs(optim.SGD):
        def change(self, grad, state):
            return self.lr if grad > 0 else -self.lr

    signs = []
    for xp in (None, jnp):  # its rule is for numbers, not for arrays
        model = nn.Linear(3, 1, seed=0)
        descent = Signs(model.parameters(), lr=0.1)
        nn.fit(model, xs, ys, nn.mse_loss, descent, 9, progress=False, xp=xp)
        signs.append([p.data for p in model.parameters()])
    assert signs[0] == signs[1]

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


def test_an_xp_that_cannot_train():
    for xp, engine in ((math, "auto"), ("jax", "auto"), (np, "eager")):
        with pytest.raises(ValueError, match="found xp = .* expected numpy or jax.numpy"):
            trained(xp=xp, engine=engine)
    assert trained(xp=np)[0].losses == trained()[0].losses
