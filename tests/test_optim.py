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


@pytest.mark.parametrize("kind", ["SGD", "Adagrad", "RMSprop", "Adam"])
def test_an_optimiser_is_told_by_its_identity_and_says_its_settings(kind):
    p = Value(1.0)
    one, other = (getattr(optim, kind)([p], lr=0.1) for _ in range(2))
    assert len({one, other}) == 2
    assert repr(one).startswith(f"{kind}(1 parameter, lr=0.1, ")
    assert "weight_decay=0.0" in repr(one)


def test_frozen_parameters_stay():
    p, q = Value(1.0), Value(1.0)
    q.requires_grad = False
    optimizer = optim.SGD([p, q], lr=0.1, weight_decay=0.5)
    (p * q).backward()
    optimizer.step()
    assert (p.data, q.data) == (pytest.approx(0.85), 1.0)
    optimizer.zero_grad()
    assert p.grad == 0.0


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


@pytest.mark.parametrize("betas", [(0.9, 1.0), (1.0, 0.9), (0.9, 1.5), 0.9])
def test_betas_that_have_no_step_fail_in_the_first(betas):
    p = Value(1.0)
    p.grad = 2.0
    optimizer = optim.Adam([p], betas=betas)
    with pytest.raises((TypeError, ArithmeticError)):
        optimizer.step()
    assert p.data == 1.0


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adam])
@pytest.mark.parametrize("grad", [math.inf, math.nan])
def test_a_step_to_where_nothing_is_finite_changes_nothing(kind, grad):
    p = Value(1.0)
    optimizer = kind([p], lr=0.1)
    p.grad = 2.0
    optimizer.step()
    before = p.data, optimizer.state_dict()
    p.grad = grad
    with pytest.raises(FloatingPointError):
        optimizer.step()
    assert (p.data, optimizer.state_dict()) == before


def test_a_parameter_that_is_given_twice_counts_once_and_a_later_one_not_at_all():
    p, q = Value(1.0), Value(2.0)
    optimizer = optim.SGD([p, q, p], lr=0.1)
    assert [*map(id, optimizer.params)] == [id(p), id(q)]
    optimizer.lr /= 2
    (p * p).backward()
    optimizer.step()
    assert (p.data, optimizer.settings()["lr"]) == (0.9, 0.05)
    optimizer.params = (p, q, Value(2.0))  # it has no state, and would never be trained
    with pytest.raises(IndexError, match="boolean index did not match"):
        optimizer.step()
    with pytest.raises(AttributeError):
        optimizer.params.append(Value(2.0))
