"""What a model may not do: draw random numbers, or change what it holds. Either is put back."""

import random
from contextlib import suppress

import numpy as np
import pytest
from trainings import NUMBERS, Layer, fitted, network, walked

from autodiff import nn

GENERATOR = np.random.default_rng()  # as at the top of a notebook


def rarely(draw):
    """Depth that is dropped so rarely that verification alone would not see it."""
    return lambda m, y: y * float(draw(m) > 0.001)


def rng_of_a_closure():
    rng = random.Random(0)
    return lambda m: rng.random()


def dropping():
    return nn.Sequential(nn.Linear(2, 8, seed=0), nn.Dropout(0.1, seed=0), nn.Linear(8, 1, seed=1))


RANDOM = {
    "a global generator": lambda: Layer(rarely(lambda m: GENERATOR.random())),
    "random": lambda: Layer(rarely(lambda m: random.random())),
    "numpy.random": lambda: Layer(rarely(lambda m: np.random.normal())),
    "a held generator": lambda: Layer(rarely(lambda m: m.rng.random()), rng=random.Random(0)),
    "one of numpy": lambda: Layer(rarely(lambda m: m.rng.normal()), rng=np.random.default_rng(0)),
    "an old one": lambda: Layer(rarely(lambda m: m.rng.normal()), rng=np.random.RandomState(0)),
    "one in a dict": lambda: Layer(
        rarely(lambda m: m.held["rng"].random()), held={"rng": random.Random(0)}
    ),
    "its method": lambda: Layer(rarely(lambda m: m.draw()), draw=random.Random(0).random),
    "a closure": lambda: Layer(rarely(rng_of_a_closure())),
    "Dropout": dropping,
}


@pytest.mark.parametrize("name", RANDOM)
def test_a_model_that_draws_random_numbers_is_walked(name):
    def make():
        random.seed(0)
        np.random.seed(0)
        GENERATOR.bit_generator.state = np.random.default_rng(0).bit_generator.state
        return RANDOM[name]()

    walked(make, "a call draws random numbers: a model and a loss are pure functions")


def test_noise_on_labels_is_walked():
    def make():
        random.seed(0)
        return network()

    noisy = lambda p, t: nn.mse_loss(p, t + (random.random() < 0.001))  # noqa: E731
    walked(make, "a call draws random numbers", loss=noisy)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("generator", [random, np.random])
def test_global_generators_are_put_back_while_no_other_thread_may_use_them(
    threads, generator, monkeypatch
):
    monkeypatch.setattr("threading.active_count", lambda: threads)
    own = random.Random(0)
    generator.seed(0)
    first = generator.random()
    generator.seed(0)
    with pytest.raises(ValueError, match="a call draws random numbers"):
        fitted(Layer(rarely(lambda m: generator.random() + own.random())))
    assert (generator.random() == first) == (threads == 1)
    assert own.random() == random.Random(0).random()


def counting(held, add):
    def change(m, y):
        add(held(m))
        return y * (1.0 if len(held(m)) < 30 else 2.0)

    return change


def running_mean(m, y):
    m.mean = 0.9 * m.mean + 0.1 * y[0].data
    return y - m.mean


STATES = {
    "a running mean": lambda: Layer(running_mean, mean=0.0),
    "a list": lambda: Layer(counting(lambda m: m.held, lambda x: x.append(1)), held=[]),
    "a nested list": lambda: Layer(
        counting(lambda m: m.held[0]["a"], lambda x: x.append(1)), held=[{"a": []}]
    ),
    "a dict": lambda: Layer(counting(lambda m: m.held, lambda x: x.update({len(x): 1})), held={}),
    "an activation": lambda: Layer(lambda m, y: setattr(m, "held", y.data) or y, held=None),
}


@pytest.mark.parametrize("name", STATES)
def test_a_model_whose_state_a_call_changes_is_walked(name):
    walked(STATES[name], "a call changes ('(mean|held)'|0); return what is to be looked at later")


@pytest.mark.parametrize("targets", [NUMBERS, [lambda y: y] * 20])
def test_a_trial_leaves_nothing_behind(targets):
    """What it changes meanwhile is put back: the same objects with the same contents."""

    def keep(m, y):
        m.seen.append(y)
        m.last["y"] = m.new = y.data
        return y

    model = Layer(keep, seen=[], last={}, training=True)
    before = dict(vars(model))
    with suppress(ValueError):
        fitted(model, targets)
    assert vars(model) == before
    assert all(vars(model)[name] is held for name, held in before.items())
    assert (model.seen, model.last) == ([], {})
