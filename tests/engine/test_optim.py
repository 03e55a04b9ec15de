"""Optimisers, against numbers that PyTorch computed."""

import json
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tables import raising
from trainings import ENGINES, OPTIMIZERS, fitted, network, numbers, same

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


@pytest.mark.parametrize("how", ["by hand", "compiled", "eager"])
@pytest.mark.parametrize("name", REFERENCE["cases"])
def test_fifty_steps_are_those_of_pytorch(name, how):
    """Also where a callback of fit freezes and thaws a layer."""
    case = REFERENCE["cases"][name]
    model = of_pytorch()
    optimizer = getattr(optim, case["optimizer"])(model.parameters(), **case["arguments"])
    start, end = case.get("frozen", (0, 0))

    def freeze(history):
        for p in model.layers[0].parameters():
            p.requires_grad = not start <= len(history.losses) < end

    history = nn.History()
    freeze(history)
    if how == "by hand":
        for _ in range(REFERENCE["steps"]):
            optimizer.zero_grad()
            loss = sum(nn.mse_loss(model(x), t) for x, t in zip(INPUTS, TARGETS)) / len(INPUTS)
            loss.backward()
            optimizer.step()
            history.losses.append(loss.data)
            freeze(history)
    else:
        given = model, INPUTS, TARGETS, nn.mse_loss, optimizer, REFERENCE["steps"]
        history = nn.fit(*given, engine=how, progress=False, callback=freeze)
    assert history.losses[-1] == pytest.approx(case["loss"], rel=1e-12)
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


def test_the_first_step_of_a_thawed_parameter_is_as_long_as_any_first_step():
    p, q = Value(1.0), Value(1.0)
    optimizer = optim.Adam([p, q], lr=0.01)
    for q.requires_grad in (False, False, False, True):
        p.grad = q.grad = 0.5
        before = q.data
        optimizer.step()
    assert before - q.data == pytest.approx(0.01)
    assert optimizer.state_dict()["state"]["steps"] == [4.0, 1.0]


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


def test_a_parameter_that_is_given_twice_counts_once():
    p, q = Value(1.0), Value(2.0)
    optimizer = optim.SGD([p, q, p], lr=0.1)
    assert [*map(id, optimizer.params)] == [id(p), id(q)]
    optimizer.lr /= 2
    (p * p).backward()
    optimizer.step()
    assert (p.data, optimizer.settings()["lr"]) == (0.9, 0.05)


def equal(params):
    return tuple([Value(p.data) for p in params])


@pytest.mark.parametrize(
    "others",
    [equal, lambda params: [*params, Value(7.0)], lambda params: params[:-1]],
)
def test_other_parameters_need_another_optimizer(others):
    """Also those that hold the same numbers."""
    model = network()
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    saved, before = optimizer.state_dict(), numbers(model)
    optimizer.params = others(optimizer.params)
    optimizer.load_state_dict(saved)
    with pytest.raises(ValueError, match="SGD, params: found others, .* make a new optimizer"):
        optimizer.step()
    with pytest.raises(ValueError, match="make a new optimizer"):
        fitted(model, optimizer=lambda p: optimizer)
    assert numbers(model) == before


def test_parameters_are_not_added_or_taken_one_by_one():
    optimizer = optim.SGD([Value(1.0)], lr=0.1)
    with pytest.raises(AttributeError):
        optimizer.params.append(Value(2.0))
    with pytest.raises(TypeError):
        optimizer.params += [Value(2.0)]


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


class Rule(optim.SGD):
    """A rule that a test writes."""

    memory = ("last",)

    def change(self, grad, state):
        return self.rule(grad, state)


def two_weights():
    return nn.Linear(2, 1, bias=False, seed=0)


def ruled(rule):
    def make(params):
        optimizer = Rule(params, lr=0.1)
        optimizer.rule = rule
        return optimizer

    return make


def in_place(grad, state):
    state["last"] *= 0.5
    state["last"] += grad
    return 0.1 * state["last"]


@pytest.mark.parametrize(("rule", "moved"), [
    (in_place, [0.6, 0.8]), (lambda grad, state: 0.5, [0.5, 0.5]), (lambda grad, state: [1, 2], [0, -1]),
    (lambda grad, state: grad.astype(np.float32), [-3, -1]), (lambda grad, state: grad > 3, [0, 1]),
])  # fmt: skip
def test_amounts_are_one_for_each_parameter_or_one_for_all(rule, moved):
    p = [Value(1.0), Value(1.0)]
    p[0].grad, p[1].grad = 4.0, 2.0
    ruled(rule)(p).step()
    assert [x.data for x in p] == pytest.approx(moved)
    assert {type(x.data) for x in p} == {float}
    same(two_weights, optimizer=ruled(rule))


def set_last(x):
    """A rule that remembers something of the gradient."""

    def rule(grad, state):
        state["last"] = x(grad)
        return grad

    return rule


def undeclared(grad, state):
    state["mine"] = 0.9 * state["mine"] + grad
    return state["mine"]


def forgets(grad, state):
    del state["last"]
    return grad


WRONG = {
    "column": (lambda grad, state: np.linalg.solve(np.diag(grad), grad[:, None]), "shape (2, 2), expected floats of shape (2,)"),
    "too many": (lambda grad, state: np.ones((3, 2)), "shape (3, 2)"),
    "Values": (lambda grad, state: np.array([Value(g) for g in grad]), "found array([Value(data="),
    "complex": (lambda grad, state: grad * 1j, "of type ndarray"),
    "undeclared": (undeclared, "found ['p', 'last', 'mine'], expected ['p', 'last']; change() returns such amounts, memory names what is in state"),
    "forgotten": (forgets, "found ['p'], expected ['p', 'last']"),
    "a scalar state": (set_last(max), "last: found np.float64(4.0) of type float64, shape (), expected floats of shape (2,)"),
    "a longer state": (set_last(lambda grad: np.ones(3)), "shape (3,), expected floats of shape (2,)"),
    "a list": (set_last(list), "of type list, shape (), expected"),
    "truths": (set_last(lambda grad: grad > 0), "of type ndarray, shape (2,), expected floats"),
}  # fmt: skip


@pytest.mark.parametrize(("rule", "words"), WRONG.values(), ids=WRONG)
def test_a_wrong_rule_is_refused_before_anything_has_moved(rule, words):
    p = [Value(1.0), Value(1.0)]
    optimizer = ruled(rule)(p)
    p[0].grad, p[1].grad = 4.0, 2.0
    before = optimizer.state_dict()
    with pytest.raises(ValueError, match="Rule.*" + re.escape(words)):
        optimizer.step()
    assert ([x.data for x in p], optimizer.state_dict()) == ([1.0, 1.0], before)
    model = two_weights()
    with pytest.raises(ValueError, match="Rule.*memory names what is in state"):
        fitted(model, optimizer=ruled(rule))
    assert numbers(model) == numbers(two_weights())


@pytest.mark.parametrize("number", [None, "a"])
def test_a_rule_that_gives_no_number_moves_nothing(number):
    p = Value(1.0)
    with pytest.raises(TypeError):
        ruled(lambda grad, state: number)([p]).step()
    assert p.data == 1.0


def test_a_step_that_fails_leaves_the_memory_of_a_rule_that_works_in_place():
    def rule(grad, state):
        state["last"] += 1
        return grad if state["last"][0] < 3 else grad * math.inf

    optimizer = ruled(rule)([p := Value(1.0)])
    p.grad = 0.25
    for _ in range(2):
        optimizer.step()
    with pytest.raises(FloatingPointError):
        optimizer.step()
    assert (p.data, optimizer.state["last"]) == (0.5, [2.0])


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
        ADAM.load_state_dict(before | changed)
    finally:
        assert ADAM.state_dict() == before


test_a_state_of_another_optimizer_changes_nothing = raising(
    *[(lambda state=state: ADAM.load_state_dict(state), ValueError,
       f"load_state_dict: found {found}, expected a dict of ['settings', 'state']; save it by state_dict() of Adam")
      for state, found in [(3, "3 of type int"), ({}, "{} of type dict"), (None, "None of type NoneType"), ([1], "[1] of type list"),
                           ({"0.weight": [[1.0]]}, "{'0.weight': ... of type dict")]],
    (lambda: load(state=None), AttributeError, "..."),
    (lambda: load(state={}), ValueError, "load_state_dict: found ['lr', 'betas', 'eps', 'weight_decay'], expected ['lr', ..., 'steps', 'mean', 'square']"),
    (lambda: load(settings=ADAM.settings() | {'lr': -1.0}), ValueError, "..."),
    (lambda: load(state=optim.Adam([Value(1.0)]).state_dict()['state']), ValueError,
     "load_state_dict, steps: found array([0.]) of type ndarray, shape (1,), expected floats of shape (2,); save it by state_dict() of Adam for the same"),
    (lambda: load(**optim.Adagrad([Value(1.0)]).state_dict()), ValueError, "...found ['lr', 'weight_decay', 'eps', 'sum'], expected ['lr', 'betas', "),
    (lambda: load(**optim.SGD([Value(1.0)], lr=1.0).state_dict()), ValueError, "load_state_dict: found ['lr', 'momentum', 'weight_decay', 'velocity'], expected"),
)  # fmt: skip
