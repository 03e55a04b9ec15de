"""Optimisers, against numbers that PyTorch computed."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from autodiff import Value, optim, tanh
from autodiff.nn import Linear, Sequential, mse_loss

# Made once by PyTorch in float64, with the network, data and arguments below; see "made by".
REFERENCE = json.loads(Path(__file__).with_name("optimizers_by_pytorch.json").read_text())
SIZES = [2, 4, 3, 1]
INPUTS = [[math.sin(3 * i), math.cos(5 * i)] for i in range(8)]
TARGETS = [math.sin(i) for i in range(8)]


def network():
    """The network with the weights from which PyTorch started."""
    model = Sequential(
        *[Linear(a, b, activation=tanh if b > 1 else None) for a, b in zip(SIZES, SIZES[1:])]
    )
    state, k = {}, 0
    for n, (a, b) in enumerate(zip(SIZES, SIZES[1:])):
        state[f"{n}.weight"] = [[math.sin(1 + k + i * a + j) for j in range(a)] for i in range(b)]
        k += a * b
        state[f"{n}.bias"] = [0.1 * math.cos(k + i) for i in range(b)]
        k += b
    model.load_state_dict(state)
    return model


@pytest.mark.parametrize("name", REFERENCE["cases"])
def test_fifty_steps_are_those_of_pytorch(name):
    case = REFERENCE["cases"][name]
    model = network()
    optimizer = getattr(optim, case["optimizer"])(model.parameters(), **case["arguments"])
    for _ in range(REFERENCE["steps"]):
        optimizer.zero_grad()
        loss = sum(mse_loss(model(x), t) for x, t in zip(INPUTS, TARGETS)) / len(INPUTS)
        loss.backward()
        optimizer.step()
    assert loss.data == pytest.approx(case["loss"], rel=1e-12)
    found = [p.data for p in model.parameters()]
    assert found == pytest.approx(case["parameters"], rel=1e-12, abs=1e-12)


def test_the_table_has_every_optimiser_with_and_without_its_arguments():
    used = [case["optimizer"] for case in REFERENCE["cases"].values()]
    assert sorted(used) == sorted(2 * ["SGD", "Adagrad", "RMSprop", "Adam"])


def test_frozen_parameters_stay():
    p, q = Value(1.0), Value(1.0)
    q.requires_grad = False
    optimizer = optim.SGD([p, q], lr=0.1, weight_decay=0.5)
    (p * q).backward()
    optimizer.step()
    assert (p.data, q.data) == (pytest.approx(0.85), 1.0)
    optimizer.zero_grad()
    assert p.grad == 0.0


@pytest.mark.parametrize(
    ("params", "arguments", "kind", "message"),
    [
        (
            [1.0],
            {"lr": 0.1},
            TypeError,
            "SGD, params: found 1.0 of type float, expected Values; pass model.parameters()",
        ),
        ([], {"lr": 0.1}, ValueError, "SGD: found no parameters"),
        ([Value(1.0) * 2], {"lr": 0.1}, ValueError, r"a Value that was computed \(\*\)"),
        ([Value(1.0)], {"lr": -0.1}, ValueError, "SGD: found lr = -0.1, expected >= 0"),
        ([Value(1.0)], {"lr": math.nan}, ValueError, "SGD: found lr = nan"),
        ([Value(1.0)], {"lr": (0.1,)}, TypeError, r"SGD, lr: found \(0.1,\) of type tuple"),
        ([Value(1.0)], {"lr": 1, "weight_decay": -1}, ValueError, "found weight_decay = -1"),
    ],
)
def test_what_is_refused(params, arguments, kind, message):
    with pytest.raises(kind, match=message):
        optim.SGD(params, **arguments)


def test_a_gradient_that_is_a_graph_leaves_numbers_in_parameters():
    p = Value(3.0)
    optimizer = optim.SGD([p], lr=0.1)
    (p * p * p).backward(create_graph=True)
    optimizer.step()
    assert type(p.data) is float
    assert p.data == pytest.approx(3.0 - 0.1 * 27.0)


def test_settings_are_numbers_of_python():
    """A float32 would round the parameters, and a Fraction make an array of objects."""
    steps = []
    for number in (np.float32, Fraction, np.array):
        p = Value(1.0)
        optimizer = optim.Adam([p], lr=number(0.125), betas=[number(0.5), number(0.75)])
        assert list(map(type, optimizer.settings().values())) == [float, tuple, float, float]
        (p * p / 3).backward()
        optimizer.step()
        steps.append(p.data)
    assert len(set(steps)) == 1


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (
            lambda p: optim.Adam(p, betas=(0.9, 1.0)),
            r"betas = \(0.9, 1.0\), expected two numbers below 1",
        ),
        (lambda p: optim.Adam(p, betas=0.9), "betas = 0.9, expected two numbers below 1"),
        (lambda p: optim.Adam(p, betas=()), r"betas = \(\), expected two numbers below 1"),
        (lambda p: optim.Adam(p, betas=(0.9, 0.9, 0.9)), "expected two numbers below 1"),
        (lambda p: optim.Adam(p, betas=(-0.1, 0.9)), r"betas = \(-0.1, 0.9\), expected >= 0"),
        (lambda p: optim.Adam(p, eps=-1.0), "eps = -1.0, expected >= 0"),
        (lambda p: optim.SGD(p, lr=0.1, momentum=-0.5), "momentum = -0.5, expected >= 0"),
        (lambda p: optim.RMSprop(p, alpha=-0.5), "alpha = -0.5, expected >= 0"),
        (lambda p: optim.Adagrad(p, lr_decay=-0.5), "lr_decay = -0.5, expected >= 0"),
        (lambda p: optim.SGD([*p, *p], lr=0.1), "found a parameter twice, expected each once"),
    ],
)
def test_settings_that_are_refused(attempt, message):
    with pytest.raises(ValueError, match=message):
        attempt([Value(1.0)])


def test_settings_that_are_set_later_are_checked_and_plain_too():
    """A schedule with a float32 would round the parameters, compiled or walked."""
    optimizer = optim.Adam([Value(1.0)])
    optimizer.lr, optimizer.betas = np.float32(0.125), [np.float64(0.5), 0]
    assert repr([optimizer.lr, optimizer.betas]) == "[0.125, (0.5, 0)]"
    before = optimizer.state_dict()
    for name, given in {"lr": -0.1, "eps": math.nan, "betas": (0.9, 1.5)}.items():
        with pytest.raises(ValueError, match=f"Adam: found {name} = "):
            setattr(optimizer, name, given)
    for name, given in {"lr": "0.1", "weight_decay": np.ones(2), "eps": None}.items():
        with pytest.raises(TypeError, match=f"Adam, {name}: found "):
            setattr(optimizer, name, given)
    assert optimizer.state_dict() == before


def test_parameters_cannot_be_added_later_without_a_state():
    """They would never be trained."""
    p = Value(1.0)
    optimizer = optim.SGD([p], lr=0.1)
    with pytest.raises(AttributeError, match="other params, expected the same; make a new optim"):
        optimizer.params = [p, Value(2.0)]
    with pytest.raises(AttributeError):
        optimizer.params.append(Value(2.0))
    assert optimizer.params == (p,)
