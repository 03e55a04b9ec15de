"""fit is the loop that one would write; what callbacks restore, what it refuses, Ctrl-C."""

import math
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest
from tables import cases, check_raises, raising
from trainings import CLASSES, ENGINES, INPUTS, NUMBERS, OPTIMIZERS, fitted, network, numbers, same

import autodiff as ad
from autodiff import Matrix, Value, nn, optim
from autodiff.nn.state import TrainingState

# -- The loop -------------------------------------------------------------------------------------


def stacked(*layers):
    """A network, with layers between its two."""
    return nn.Sequential(
        nn.Linear(2, 4, activation=ad.tanh, seed=0), *layers, nn.Linear(4, 1, seed=1)
    )


def beside(layer):
    return lambda x: x + layer(x)


def drawing_as(other, p):
    """A layer of Dropout that draws from the generator of another, in turn with it."""
    drop = nn.Dropout(p)
    drop.rng = other.rng
    return drop


HELD_OUT = (INPUTS[::3], NUMBERS[1::3])
NETWORKS = [  # with Dropout
    lambda: nn.Sequential(nn.Dropout(0.2, seed=1), stacked()),
    lambda: stacked(nn.Dropout(0.3, seed=1), nn.Sequential(nn.Dropout(0.5, seed=2))),
    lambda: stacked(beside(nn.Dropout(0.3, seed=1))),  # that nobody sees
    lambda: nn.Sequential(drop := nn.Dropout(0.5, seed=1), stacked(drop)),
    lambda: nn.Sequential(drop := nn.Dropout(0.2, seed=1), stacked(drawing_as(drop, 0.5), drop)),
]


def dropping(*ps):
    """A callback sets how much is dropped in the next epoch."""
    model = stacked(drop := nn.Dropout(ps[0], seed=1))
    return {"model": model, "callback": lambda h: setattr(drop, "p", (ps * 2)[len(h.losses)])}


def slowing():
    """A callback halves the learning rate of the next epoch."""
    optimizer = OPTIMIZERS["Adam"]((model := network()).parameters())
    callback = lambda h: setattr(optimizer, "lr", optimizer.lr / 2)  # noqa: E731
    return {"model": model, "optimizer": lambda p: optimizer, "callback": callback}


def in_its_modes():
    """Training mode is that of fit: a layer's own is no matter, and stays as it was."""
    model = stacked(drop := nn.Dropout(0.5, seed=0))
    drop.eval()

    def callback(history):
        assert [layer.training for layer in model.layers] == [True, False, True]
        assert len(history.validation) == len(history.losses)
        drop.train(len(history.losses) == 1).eval()

    return {"model": model, "callback": callback, "validation": HELD_OUT}


def freeze(model):
    for p in model.parameters():
        p.requires_grad = False
    return model


def freezing(model, epochs=4):
    return {"model": model, "callback": lambda history: freeze(model) and None, "epochs": epochs}


def stopping(answer):
    return lambda: {"callback": lambda history: answer(len(history.losses) == 2), "epochs": 3}


def constant_in(evaluation):
    """A network that is constant where it is validated."""
    net = network()
    return lambda x: Value(0.5) if net.training is evaluation else net(x), net.parameters()


def perceptron():
    """It separates its samples already: the loss looks at its prediction, and is a constant."""
    layer = nn.Linear(2, 1, init=lambda n, m, rng: [[1.0, 0.0]])
    targets = [1.0 if x > 0 else -1.0 for x, _ in INPUTS]
    loss = lambda p, t: -t * p[0] if t * p[0] <= 0 else Value(0.0)  # noqa: E731
    return {"model": layer, "targets": targets, "loss": loss, "optimizer": OPTIMIZERS["SGD"]}


TRAININGS = [  # what is given to fit
    *[lambda n=n, seed=seed: {"batch_size": n, "seed": seed} for n in (None, 1, 7, 19, 20, 21) for seed in (0, 1)],
    lambda: {"validation": HELD_OUT},
    lambda: dict(zip(("model", "parameters"), constant_in(False))) | {"validation": HELD_OUT},
    lambda: {"xp": np},
    *[stopping(answer) for answer in (bool, np.bool_, int)],
    *[lambda make=make, n=n: {"model": make(), "batch_size": n, "validation": HELD_OUT} for make in NETWORKS for n in (None, 6, 20)],
    *[lambda ps=ps: dropping(*ps) for ps in ((0.5, 0.2, 0.8), (0.5, 0.0, 0.5), (0.0, 0.0, 0.5))],
    slowing,
    in_its_modes,
    lambda: freezing(network(), epochs=1),  # after the last epoch
]  # fmt: skip


@cases("given", TRAININGS)
def test_fit_is_the_loop_that_one_would_write(given):
    same(given)


def test_a_perceptron_that_separates_already_stays():
    """Its loss depends on no parameter, and its prediction does."""
    history, model, _ = fitted(**perceptron(), engine="auto", walks="looks at a number")
    assert history.losses == [0.0] * 4
    assert numbers(model) == [1.0, 0.0, 0.0]


def test_dropout_is_what_its_seed_draws():
    """One number for each entry of each sample in turn; by hand in NumPy, w x against t."""
    rng, x, w, losses = np.random.default_rng(7), np.array(INPUTS), np.array([0.5, -0.3]), []
    for _ in range(4):
        seen = x * (rng.random(x.shape) >= 0.25) / 0.75
        error = seen @ w - NUMBERS
        losses.append(np.mean(error**2))
        w = w - 0.1 * 2 * error @ seen / len(x)
    layer = nn.Linear(2, 1, bias=False, init=lambda n, m, rng: [[0.5, -0.3]])
    model = nn.Sequential(nn.Dropout(0.25, seed=7), layer)
    history, *_ = fitted(model, optimizer=lambda p: optim.SGD(p, lr=0.1), batch_size=None)
    assert history.losses == pytest.approx(losses, rel=1e-12)
    assert numbers(model) == pytest.approx(w, rel=1e-12)


def test_a_progress_bar_counts_epochs(capsys):
    fitted(progress=True)
    assert "4/4" in (shown := capsys.readouterr().err)
    assert "loss=" in shown
    fitted(progress=False)
    assert capsys.readouterr().err == ""


def test_the_history_plots():
    import matplotlib as mpl

    mpl.use("agg")
    history = nn.History([3.0, 1.5])
    assert len(history.plot().lines) == 1
    history.validation = [4.0, 2.5]
    axes = history.plot()
    curves = [(line.get_label(), line.get_ydata().tolist()) for line in axes.lines]
    assert curves == [("training", history.losses), ("validation", history.validation)]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_yscale()) == ("epoch", "loss", "log")
    assert axes.get_legend()


def test_a_seed_is_an_integer_of_any_type():
    expected, *_ = fitted(model=network(), batch_size=3, seed=1)
    for seed in (np.int64(1), np.uint8(1), True):
        history, *_ = fitted(model=network(), batch_size=3, seed=seed)
        assert history.losses == expected.losses


def fit_of(model, **given):
    return lambda: nn.fit(
        model, INPUTS, NUMBERS, **{"loss": nn.mse_loss, "optimizer": None, "epochs": 1} | given
    )


test_what_is_refused_before_anything_is_computed = raising(
    (fit_of(3), TypeError, "fit, model: found 3 of type int, expected a Module or a function"),
    (fit_of(abs, optimizer=optim.SGD([ad.Value(1.0)], lr=0.1), callback=3), TypeError,
     "fit, callback: found 3 of type int, expected None or a function of a History"),
    (lambda: nn.predict("net", INPUTS), TypeError, "predict, model: found 'net' of type str, expected a Module or a function"),
)  # fmt: skip


# -- Callbacks ------------------------------------------------------------------------------------


@ENGINES
@pytest.mark.parametrize("how", ["goes on", "stops", KeyError, KeyboardInterrupt])
def test_what_a_callback_restores_stays(engine, how):
    """Early stopping puts the best weights back, and ends the training."""
    model = network()
    optimizer = OPTIMIZERS["Adam"](model.parameters())
    best = []

    def restore(history):
        best.append((model.state_dict(), optimizer.state_dict()))
        if len(best) == 3:
            for p in model.parameters():
                p.grad = math.inf
            with suppress(FloatingPointError):  # and a step that fails leaves nothing
                optimizer.step()
            model.load_state_dict(best[0][0])
            optimizer.load_state_dict(best[0][1])
            if not isinstance(how, str):
                raise how
        return how == "stops" and len(best) == 3

    with suppress(KeyError):
        fitted(model, optimizer=lambda p: optimizer, epochs=3, callback=restore, engine=engine)
    assert (model.state_dict(), optimizer.state_dict()) == best[0]
    assert all(p.grad == 0.0 for p in model.parameters())


def test_other_threads_use_a_model_while_it_is_trained():
    """As many as they like, also its Dropout, and nothing of a training is left in it."""
    model = stacked(nn.Dropout(0.5, seed=1))
    descent, faults, done = OPTIMIZERS["SGD"](model.parameters()), [], threading.Event()

    def use():
        while not done.is_set():
            try:
                y = model(INPUTS[0])
                nn.mse_loss(y, 1.0).backward()
                assert type(y.data[0]) is float
            except BaseException as fault:
                faults.append(fault)

    with ThreadPoolExecutor() as pool:
        used = pool.submit(use)
        for _ in range(10):
            history = nn.fit(model, INPUTS, NUMBERS, nn.mse_loss, descent, 5, 6, progress=False)
            assert history.engine == "compiled", history.reason
        done.set()
        used.result()
    assert not faults


# -- What is refused ------------------------------------------------------------------------------


class Freezing(optim.SGD):
    def step(self):
        super().step()
        self.params[0].requires_grad = False


def of_parameters(give):
    """What is given to fit of a network and centers of classes, all of which are trained."""

    def given():
        model, centers = network(2), Matrix([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        parameters = [*model.parameters(), *centers[0], *centers[1], *centers[2]]
        return {"model": model, "parameters": parameters} | give(model, centers)

    return given


def swapping(model):
    """A callback puts new layers into a model, and the optimizer keeps those of before."""

    def swap(history):
        for i, layer in enumerate(network().layers):
            setattr(model, str(i), layer)

    return {"model": model, "callback": swap}


def own_error(p, t):
    if t > 0.3:
        raise ValueError("no such target")
    return nn.mse_loss(p, t)


def negative_rate():
    """A callback sets a setting of the optimiser, which is refused there."""
    made = []
    return {
        "optimizer": lambda p: made.append(optim.Adam(p)) or made[0],
        "callback": lambda history: setattr(made[0], "lr", -1),
    }


DATA = "...found an input or a target that depends on a parameter that is trained, expected numbers, which stay as they are; choose it in the model or the loss, as centers[target]"
NO_PARAMETERS = "found no parameters that require a gradient, expected some"
REFUSED = [  # what is given to fit, the error, and its words
    (lambda: {"optimizer": lambda p: None}, TypeError, "fit, optimizer: found None ..., expected one such as optim.SGD"),
    (lambda: {"optimizer": lambda p: Freezing(p, lr=0.1)}, ValueError, "fit, Freezing: found a step that freezes or thaws parameters, expected the same parameters; do that in a callback"),
    *[(lambda seed=seed: {"seed": seed}, ValueError, f"fit: found seed = {seed!r}, expected an integer >= 0") for seed in ("a", -1, 0.5)],
    (lambda: {"loss": "mse"}, TypeError, "fit, loss: found 'mse' of type str, expected a function, such as nn.mse_loss"),
    (lambda: {"epochs": 0}, ValueError, "fit: found epochs = 0, expected an integer >= 1"),
    (lambda: {"batch_size": 2.5}, ValueError, "fit: found batch_size = 2.5"),
    (lambda: {"xp": "jax.numpy"}, ValueError, "fit, xp: found 'jax.numpy' of type str, expected the module numpy or jax.numpy; import jax.numpy as jnp, and pass xp=jnp"),
    (lambda: {"inputs": [1.0]}, ValueError, "fit: found 1 input and 20 targets, expected as many"),
    (lambda: {"validation": (INPUTS, [1])}, ValueError, "fit, validation: found 20 inputs and 1 target,"),
    (lambda: {"targets": ["cat", "dog"] * 10, "loss": nn.cross_entropy}, TypeError, "...found the label 'cat', ... number the class"),
    (lambda: {"loss": lambda p, t: p, "model": network(3)}, TypeError, "...found a Vector of shape (3,) returned, expected one"),
    (lambda: {"loss": own_error, "batch_size": None}, ValueError, "no such target"),
    (lambda: {"loss": lambda p, t: ad.log(p[0] - 1e3)}, ValueError, "log: x = -... is outside the domain x > 0"),
    (lambda: {"inputs": [[1.0, 2.0, 3.0]] * 20}, ValueError, "Linear: found an input of shape (3,), expected (2,)"),
    (lambda: {"targets": [math.nan] * 20}, FloatingPointError, "fit: the training diverged in epoch 1 (a smaller learning rate may help): the loss became nan"),
    (lambda: {"optimizer": lambda p: optim.SGD(network().parameters(), lr=0.1)}, ValueError, "...depends on none of ..., with requires_grad = True"),
    (lambda: swapping(network()), ValueError, "...depends on none of ..., with requires_grad = True"),
    (of_parameters(lambda m, c: {"targets": [{"at": (k, c[k])} for k in CLASSES]}), ValueError, DATA),
    (of_parameters(lambda m, c: {"targets": [SimpleNamespace(center=c[k]) for k in CLASSES]}), ValueError, DATA),
    (of_parameters(lambda m, c: {"targets": [2.0 * c[k] for k in CLASSES]}), ValueError, DATA),
    (of_parameters(lambda m, c: {"inputs": [c[k] for k in CLASSES]}), ValueError, DATA),
    (of_parameters(lambda m, c: {"inputs": np.array([ad.sin(c[k]) for k in CLASSES], object)}), ValueError, DATA),
    (of_parameters(lambda m, c: {"validation": (INPUTS[:3], [m(x) for x in INPUTS[:3]])}), ValueError, DATA),
    (lambda: {"model": freeze(network())}, ValueError, f"fit: {NO_PARAMETERS}"),
    (lambda: freezing(network()), ValueError, f"fit: {NO_PARAMETERS}"),
    (negative_rate, ValueError, "Adam, lr: found -1.0, expected a number >= 0"),
    (lambda: {"engine": "fast"}, ValueError, "...found 'fast', expected one of auto, compiled"),
]  # fmt: skip


def failure(chosen, engine, kind, words):
    """The text of the error, but for last digits, and the numbers that it leaves."""
    given = {"model": network(), "engine": engine} | chosen()
    text = check_raises(lambda: fitted(**given), kind, words)
    return re.sub(r"(\d\.\d{9})\d*", r"\1", text), numbers(given["model"])


@pytest.mark.parametrize("engine", ["auto", "compiled"])
@cases(("chosen", "kind", "words"), REFUSED)
def test_an_error_and_what_it_leaves_are_those_of_walking(chosen, kind, words, engine):
    text, weights = failure(chosen, engine, kind, words)
    expected, of_walking = failure(chosen, "eager", kind, words)
    assert text == expected
    assert weights == pytest.approx(of_walking, rel=1e-9)
    assert all(map(math.isfinite, weights))


# -- Ctrl-C ---------------------------------------------------------------------------------------


class Interrupted(optim.SGD):
    memory = "velocity", "steps"

    def change(self, grad, state):
        steps = state["steps"] = state["steps"] + 1
        if steps == 10:
            raise KeyboardInterrupt
        return super().change(grad, state)


def interrupting(p, t):
    raise KeyboardInterrupt


INTERRUPTS = [  # what is given to fit, and the epochs that were finished, of four steps each
    (lambda: {"optimizer": lambda p: Interrupted(p, lr=0.1)}, 2),
    (lambda: {"loss": interrupting}, 0),  # while it is recorded, too
]


@ENGINES
@cases(("chosen", "epochs"), INTERRUPTS)
def test_an_interrupt_keeps_the_model_and_the_history(chosen, epochs, engine):
    history, model, _ = fitted(**chosen(), epochs=50, engine=engine)
    assert len(history.losses) == epochs
    assert all(math.isfinite(p.data) and p.grad == 0.0 for p in model.parameters())
    assert (numbers(model) != numbers(network())) == (epochs > 0)


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_a_step_of_fit_is_that_of_the_rule_and_leaves_the_snapshot_before_it(make):
    """Digit for digit, for gradients that are summed over 7 samples."""
    state = TrainingState(make(nn.Linear(2, 1, seed=0).parameters()))
    texts = lambda at: repr((at.p.tolist(), {k: np.array(x).tolist() for k, x in at.state.items()}))  # noqa: E731
    for total in np.random.default_rng(0).normal(size=(20, 3)):
        before = state.now
        texts_before, expected = texts(before), texts(state.optimizer.update(before, total / 7))
        state.step(total, 7)
        assert [texts(before), texts(state.now)] == [texts_before, expected]
