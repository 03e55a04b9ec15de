"""What a model may not do: draw random numbers, or change what it holds. Either is put back."""

import copy
import random
from contextlib import suppress

import numpy as np
import pytest
from tables import function
from trainings import NUMBERS, Layer, fitted, network, walked

GENERATOR = np.random.default_rng()  # as at the top of a notebook


DRAWS = {  # a random number, in a call of a module m that holds...
    "GENERATOR.random()": None,
    "random.random()": None,
    "np.random.normal()": None,
    "m.held.random()": lambda: random.Random(0),
    "m.held.normal()": lambda: np.random.default_rng(0),
    "m.held.randn()": lambda: np.random.RandomState(0),
    "m.held['rng'].random()": lambda: {"rng": random.Random(0)},
    "m.held()": lambda: random.Random(0).random,
    "m.held(0.0)": lambda: closed(random.Random(0)),
}


def closed(rng):
    return lambda x: x + rng.random()


def seeded():
    random.seed(0)
    np.random.seed(0)
    GENERATOR.bit_generator.state = np.random.default_rng(0).bit_generator.state
    return network()


@pytest.mark.parametrize("text", DRAWS)
def test_a_model_that_draws_random_numbers_is_walked(text):
    """Depth that is dropped so rarely that verification alone would not see it."""

    def make():
        seeded()
        change = function("m, y", f"y * float({text} > 0.001)", globals())
        return Layer(change, held=DRAWS[text] and DRAWS[text]())

    walked(make, "a call draws random numbers: a model and a loss are pure functions")


@pytest.mark.parametrize("generator", [random, np.random])
def test_global_generators_are_put_back(generator):
    own = random.Random(0)
    generator.seed(0)
    first = generator.random()
    generator.seed(0)
    with pytest.raises(ValueError, match="a call draws random numbers"):
        fitted(Layer(lambda m, y: y * generator.random() * own.random()))
    assert generator.random() == first
    assert own.random() == random.Random(0).random()


STATES = {  # what a call makes of the attribute of a module, and what it was
    "0.9 * m.held + 0.1 * y[0].data": 0.0,
    "y.data": None,
    "m.held.append(1) or m.held": [],
    "m.held[0]['a'].append(1) or m.held": [{"a": []}],
    "m.held.update({len(m.held): 1}) or m.held": {},
}


@pytest.mark.parametrize("text", STATES)
def test_a_model_whose_state_a_call_changes_is_walked(text):
    def change(m, y):
        m.held = value(m, y)
        return y * (1.0 if len(repr(m.held)) < 60 else 2.0)

    value = function("m, y", text, globals())
    words = "a call changes ('held'|0); return what is to be looked at later"
    walked(lambda: Layer(change, held=copy.deepcopy(STATES[text])), words)


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
