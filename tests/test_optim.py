"""Optimisers, against numbers that PyTorch computed."""

import json
import math
from fractions import Fraction
from functools import partial
from itertools import chain

import numpy as np
import pytest
from optimizers_by_pytorch import CASES, INPUTS, PLACE, SIZES, TARGETS, first_numbers
from tables import check_raises, raising
from trainings import ENGINES, OPTIMIZERS, by_hand, fitted, network, numbers, same

import autodiff as ad
from autodiff import Value, nn, optim
from autodiff.engine.errors import typed

REFERENCE = json.loads(PLACE.read_text(encoding="utf-8"))
RUNS = {
    "by hand": by_hand,
    **{name: partial(fitted, engine=name) for name in ("compiled", "eager")},
}


def of_pytorch():
    """The network with the weights from which PyTorch started."""
    sizes = zip(SIZES, SIZES[1:])
    layers = [nn.Linear(n, m, activation=ad.tanh if m > 1 else None) for n, m in sizes]
    model = nn.Sequential(*layers)
    for p, number in zip(model.parameters(), chain(*first_numbers()), strict=True):
        p.data = number
    return model


def test_each_optimiser_is_tested_and_pytorch_was_asked_for_all_cases():
    ours = {*optim.__all__} - {"Optimizer"}
    assert {name for name, *_ in CASES.values()} == ours
    assert {make.func.__name__ for make in OPTIMIZERS.values()} == ours
    asked = {name: (x["optimizer"], x["arguments"]) for name, x in REFERENCE["cases"].items()}
    assert asked == {name: case[:2] for name, case in CASES.items()}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("name", REFERENCE["cases"])
def test_fifty_steps_are_those_of_pytorch(name, run):
    """Also where a callback of fit freezes and thaws a layer."""
    case = REFERENCE["cases"][name]
    model = of_pytorch()
    optimizer = getattr(optim, case["optimizer"])(model.parameters(), **case["arguments"])
    start, end = case.get("frozen", (0, 0))

    def freeze(history):
        for p in model.layers[0].parameters():
            p.requires_grad = not start <= len(history.losses) < end

    freeze(nn.History())
    history, *_ = run(
        model=model, targets=TARGETS, optimizer=lambda p: optimizer, inputs=INPUTS,
        epochs=REFERENCE["steps"], batch_size=None, callback=freeze,
    )  # fmt: skip
    assert history.losses[-1] == pytest.approx(case["loss"], rel=1e-12)
    assert numbers(model) == pytest.approx(case["parameters"], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("number", [np.float32, Fraction, np.array])
def test_settings_are_numbers_of_python(number):
    """A float32 would round the parameters, and a Fraction make an array of objects."""
    optimizer = optim.Adam([Value(1.0)], lr=number(0.125), betas=[number(0.5), number(0.75)])
    settings = "lr=0.125, betas=(0.5, 0.75), eps=1e-08, weight_decay=0.0"
    assert repr(optimizer) == f"Adam(1 parameter, {settings})"


def test_a_parameter_that_is_given_twice_counts_once():
    p, q = Value(1.0), Value(2.0)
    optimizer = optim.SGD([p, q, p], lr=0.1)
    assert optimizer.params == (p, q)  # a tuple: none is added or taken one by one
    optimizer.lr /= 2
    (p * p).backward()
    optimizer.step()
    assert (p.data, optimizer.settings()["lr"]) == (0.9, 0.05)


# -- One of one's own -----------------------------------------------------------------------------


class Rule(optim.SGD):
    memory = ("last",)

    def change(self, grad, state):
        return self.rule(grad, state)


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


def signs(grad, state):
    state["last"] = state["last"] + 1
    return ad.where(ad.less(0.0, grad), 0.5, -0.5) / state["last"]


def two_weights():
    return nn.Linear(2, 1, bias=False, seed=0)


def walk(optimizer, params, *grads):
    """A step along each of these gradients."""
    for row in grads:
        for p, grad in zip(params, row):
            p.grad = grad
        optimizer.step()


STEPS = {  # a rule, and where the parameters 1 and 1 are after two steps
    "in place": (in_place, [0.0, 1.5]),
    "signs": (signs, [0.25, 1.75]),
    "clipped": (lambda grad, state: np.clip(grad, -0.5, 0.5), [0.0, 2.0]),
    "one for all": (lambda grad, state: 0.5, [0.0, 0.0]),
    "a list": (lambda grad, state: [1, 2], [-1.0, -3.0]),
    "float32": (lambda grad, state: grad.astype(np.float32), [-7.0, 5.0]),
}


@pytest.mark.parametrize(("rule", "moved"), STEPS.values(), ids=STEPS)
def test_amounts_are_one_for_each_parameter_or_one_for_all(rule, moved):
    """Numbers of any kind, of gradients that may be graphs; they leave floats in the parameters."""
    params = [Value(1.0), Value(1.0)]
    walk(ruled(rule)(params), params, [4.0, -2.0], [Value(4.0), Value(-2.0)])
    assert [p.data for p in params] == pytest.approx(moved)
    assert {type(p.data) for p in params} == {float}
    same(two_weights, optimizer=ruled(rule))


class OfGradients(optim.SGD):
    def change(self, grad, state):
        return self.lr * np.array([p.grad for p in self.params])


class OfState(optim.SGD):
    """It counts its steps twice: in an attribute, and in its state."""

    memory = ("seen",)
    count = 0

    def change(self, grad, state):
        state["seen"] = self.state["seen"] + 1
        self.count += 1
        return self.lr * grad / (self.state["seen"] + self.count)


class Clipping(optim.SGD):
    """Gradients that are clipped, and a rate that falls."""

    def step(self):
        clipped(self)
        self.lr *= 0.9


def clipping(params):
    """Clipping by another function in the place of `step`."""
    optimizer = optim.SGD(params, lr=0.1)
    optimizer.step = lambda: clipped(optimizer)
    return optimizer


def clipped(optimizer):
    for p in optimizer.params:
        p.grad = max(-0.1, min(p.grad, 0.1))
    optim.SGD.step(optimizer)


def by_signs(params):
    optimizer = optim.SGD(params, lr=0.1)
    optimizer.change = lambda grad, state: 0.01 * np.sign([p.data for p in optimizer.params])
    return optimizer


OWN = [partial(kind, lr=0.1) for kind in (OfGradients, OfState, Clipping)]


@pytest.mark.parametrize("make", [*OWN, clipping, by_signs])
def test_an_optimizer_of_ones_own_reads_what_it_would_by_hand(make):
    """Data, gradients and state are those of now in fit, too."""
    same(network, optimizer=make)


def with_others(params):
    """A descent that is given other parameters than it was made of, equal to them."""
    optimizer = optim.SGD(params, lr=0.1)
    saved = optimizer.state_dict()
    optimizer.params = tuple([Value(p.data) for p in params])
    optimizer.load_state_dict(saved)
    return optimizer


def set_last(x):
    """A rule that remembers something of the gradient."""
    return lambda grad, state: state.update(last=x(grad)) or grad


def undeclared(grad, state):
    state["mine"] = 0.9 * state["mine"] + grad
    return state["mine"]


def counts(grad, state):
    """A rule that works in place, and fails in its third step."""
    state["last"] += 1
    return grad if state["last"][0] < 3 else grad * math.inf


WRONG = {
    "column": (lambda grad, state: np.linalg.solve(np.diag(grad), grad[:, None]), "shape (2, 2), expected floats of shape (2,)"),
    "Values": (lambda grad, state: np.array([Value(g) for g in grad]), "found array([Value(data="),
    "undeclared": (undeclared, "found ['p', 'last', 'mine'], expected ['p', 'last']; change() returns such amounts, memory names what is in state"),
    "forgotten": (lambda grad, state: state.pop("last"), "found ['p'], expected ['p', 'last']"),
    "a scalar state": (set_last(max), "last: found np.float64(...) of type float64, shape (), expected floats of shape (2,)"),
    "truths": (set_last(lambda grad: grad > 0), "of type ndarray, shape (2,), expected floats"),
}  # fmt: skip
REFUSED = {  # also by fit, before anything has moved
    **{name: (ruled(rule), f"Rule...{words}") for name, (rule, words) in WRONG.items()},
    "others": (with_others, "SGD, params: found others, ... make a new optimizer"),
}
FAILING = {  # an optimiser, the gradients of its steps, of which the last fails, and the error
    **{name: (make, [4.0], ValueError, words) for name, (make, words) in REFUSED.items()},
    **{f"{kind.__name__} {grad}": (lambda p, kind=kind: kind(p, lr=0.1), [2.0, grad], FloatingPointError, "...")
       for kind in (optim.SGD, optim.Adam) for grad in (math.inf, math.nan)},
    **{f"{number!r}": (ruled(lambda grad, state, number=number: number), [2.0], TypeError, "...") for number in (None, "a")},
    "in place": (ruled(counts), [0.25, 0.25, 0.25], FloatingPointError, "..."),
}  # fmt: skip


@pytest.mark.parametrize(("make", "grads", "kind", "words"), FAILING.values(), ids=FAILING)
def test_a_step_that_fails_changes_nothing(make, grads, kind, words):
    params = [Value(1.0), Value(1.0)]
    optimizer = make(params)
    *good, bad = [[grad, grad / 2] for grad in grads]
    walk(optimizer, params, *good)
    before = [p.data for p in params], optimizer.state_dict()
    check_raises(lambda: walk(optimizer, params, bad), kind, words)
    assert ([p.data for p in params], optimizer.state_dict()) == before


@pytest.mark.parametrize(("make", "words"), REFUSED.values(), ids=REFUSED)
def test_fit_refuses_what_a_step_refuses(make, words):
    model = two_weights()
    check_raises(lambda: fitted(model, optimizer=make), ValueError, words)
    assert numbers(model) == numbers(two_weights())


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


def load(state):
    """A state that Adam refuses: an error, and nothing has changed."""
    before = ADAM.state_dict()
    try:
        ADAM.load_state_dict(state)
    finally:
        assert ADAM.state_dict() == before


def changed(part, **changes):
    """Adam's own state, with changes in one of its parts."""
    saved = ADAM.state_dict()
    return saved | {part: saved[part] | changes}


NAMES = "load_state_dict of Adam: "


test_a_state_of_another_optimizer_changes_nothing = raising(
    *[(lambda state=state: load(state), ValueError, f"{NAMES}found {typed(state)}, expected a dict of ['settings', 'state']; save it by state_dict() of Adam")
      for state in (3, {"settings": {}})],
    *[(lambda part=part, x=x: load(ADAM.state_dict() | {part: x}), TypeError, f"{NAMES}found {typed(x)}, expected a dict from names to numbers")
      for part in ("settings", "state") for x in (None, [1.0])],
    (lambda: load(ADAM.state_dict() | {"state": {}}), ValueError, f"{NAMES}steps: found shape None, expected (2,); mean: ...; square: found"),
    (lambda: load(ADAM.state_dict() | {"state": optim.Adam([Value(1.0)]).state_dict()["state"]}), ValueError, f"{NAMES}steps: found shape (1,), expected (2,); mean:"),
    (lambda: load(optim.SGD([Value(1.0)], lr=1.0).state_dict()), ValueError, f"{NAMES}betas: found shape None, expected (2,); eps: ...; momentum: found shape (), expected None"),
    (lambda: load(changed("settings", betas=[1.0, 0.5])), ValueError, "Adam, betas: found 1.0, expected a number >= 0, below 1"),
    (lambda: load(changed("settings", lr=[0.1, 0.5])), ValueError, f"{NAMES}lr: found shape (2,), expected ()"),
    (lambda: load(changed("settings", lr=None)), TypeError, "load_state_dict of Adam, lr: found None of type NoneType, expected one real number"),
    (lambda: load(changed("state", mean=[1.0, "1"])), TypeError, "load_state_dict of Adam, mean: found '1' of type str, expected one real number"),
    *[(lambda x=x: load(changed("state", mean=[x, 1.0])), ValueError, "load_state_dict of Adam, mean: found ..., expected finite numbers") for x in (math.nan, math.inf)],
    *[(lambda x=x: load(changed("state", steps=[x, 1.0])), ValueError, "load_state_dict of Adam, steps: found ..., expected ... whole ones of steps") for x in (0.5, -1)],
)  # fmt: skip
