"""Optimisers, against numbers that PyTorch computed."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tables import refusals
from trainings import ENGINES, OPTIMIZERS, fitted, network, same

import autodiff as ad
from autodiff import Value, nn, optim

# Made once by PyTorch in float64, with the network, data and arguments below; see "made by".
REFERENCE = json.loads(Path(__file__).with_name("optimizers_by_pytorch.json").read_text())
SIZES = [2, 4, 3, 1]
INPUTS = [[math.sin(3 * i), math.cos(5 * i)] for i in range(8)]
TARGETS = [math.sin(i) for i in range(8)]


def of_pytorch():
    """The network with the weights from which PyTorch started."""
    sizes, k, layers = list(zip(SIZES, SIZES[1:])), 0, []
    for n, m in sizes:
        layers.append(nn.Linear(n, m, activation=ad.tanh if m > 1 else None))
        for j, p in enumerate(layers[-1].parameters()):
            p.data = math.sin(1 + k + j) if j < n * m else 0.1 * math.cos(k + j)
        k += n * m + m
    return nn.Sequential(*layers)


@pytest.mark.parametrize("name", REFERENCE["cases"])
def test_fifty_steps_are_those_of_pytorch(name):
    case = REFERENCE["cases"][name]
    model = of_pytorch()
    optimizer = getattr(optim, case["optimizer"])(model.parameters(), **case["arguments"])
    for _ in range(REFERENCE["steps"]):
        optimizer.zero_grad()
        loss = sum(nn.mse_loss(model(x), t) for x, t in zip(INPUTS, TARGETS)) / len(INPUTS)
        loss.backward()
        optimizer.step()
    assert loss.data == pytest.approx(case["loss"], rel=1e-12)
    found = [p.data for p in model.parameters()]
    assert found == pytest.approx(case["parameters"], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adagrad, optim.RMSprop, optim.Adam])
def test_a_repr_says_the_settings(kind):
    optimizer = kind([Value(1.0)], lr=0.1)
    assert repr(optimizer).startswith(f"{kind.__name__}(1 parameter, lr=0.1, ")
    assert "weight_decay=0.0" in repr(optimizer)


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


# -- One of one's own -----------------------------------------------------------------------------


class Clipped(optim.SGD):
    def change(self, grad, state):
        return super().change(np.clip(grad, -0.01, 0.01), state)


class Signs(optim.SGD):
    memory = ("velocity", "count")

    def change(self, grad, state):
        state["count"] = state["count"] + 1
        return ad.where(ad.less(0.0, grad), self.lr, -self.lr) / state["count"]


@pytest.mark.parametrize(("kind", "moved"), [(Clipped, 2 * 0.005), (Signs, 0.5 + 0.25)])
def test_an_optimizer_of_ones_own(kind, moved):
    same(optimizer=lambda p: kind(p, lr=0.05))
    p = Value(3.0)
    descent = kind([p], lr=0.5)
    for _ in range(2):
        p.grad = 4.0
        descent.step()
    assert p.data == 3.0 - moved


# -- State ----------------------------------------------------------------------------------------


@ENGINES
@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_training_resumes_to_the_same_numbers(make, engine):
    chosen = {"engine": engine, "batch_size": None}
    whole, straight, final = fitted(epochs=5, optimizer=make, **chosen)
    first, model, optimizer = fitted(epochs=2, optimizer=make, **chosen)
    saved = json.loads(json.dumps([model.state_dict(), optimizer.state_dict()]))
    again = network()
    resumed = make(again.parameters(), lr=0.3)
    again.load_state_dict(saved[0])
    resumed.load_state_dict(saved[1])
    rest, *_ = fitted(again, epochs=3, optimizer=lambda p: resumed, **chosen)
    assert first.losses + rest.losses == whole.losses
    assert again.state_dict() == straight.state_dict()
    assert resumed.state_dict() == final.state_dict()


ADAM = optim.Adam([Value(1.0), Value(2.0)], lr=0.1)


def load(**changed):
    """Adam's own state with changes: an error, and nothing has changed."""
    before = ADAM.state_dict()
    try:
        ADAM.load_state_dict(before | {"steps": 7} | changed)
    finally:
        assert ADAM.state_dict() == before


test_a_state_of_another_optimizer_changes_nothing = refusals(
    globals(),
    ("ADAM.load_state_dict(3)", TypeError, "..."),
    ("ADAM.load_state_dict({'0.weight': [[1.0]]})", KeyError, "..."),  # of the model
    ("load(state=None)", AttributeError, "..."),
    ("load(settings=ADAM.settings() | {'lr': -1.0})", ValueError, "..."),
    ("load(state={'mean': [0.0], 'square': [0.0]})", ValueError, "...another state, expected that of Adam for 2 param"),
    ("load(**optim.Adagrad([Value(1.0)]).state_dict())", ValueError, "...another state"),
    ("load(**optim.SGD([Value(1.0)], lr=1.0).state_dict())", TypeError, "...unexpected keyword argument"),
)  # fmt: skip
