"""What Ctrl-C leaves, whichever line it comes at: what is written is whole, all else as it was.

A tracer raises it at random lines of this package, of the libraries it calls and of the model.
"""

import gc
import math
import random
import sys
from contextlib import suppress
from contextvars import ContextVar

import numpy as np
import pytest
from trainings import INPUTS, NUMBERS, numbers

import autodiff as ad
from autodiff import Expression, Value, nn, optim
from autodiff.engine import levels, scopes, value
from autodiff.engine.interrupts import restoring
from autodiff.nn import modules
from autodiff.nn.state import TrainingState


def process():
    """What every part of the process shares."""
    node = Value(1.0) * 2.0
    return {
        "errstate": np.geterr(),
        "watch": value.watch.get(),
        "mode": modules._training.get(),
        "comparisons": levels.records_comparisons.get(),
        "levels": {*levels._open},
        "scope": (scopes.innermost(), getattr(node, "_scope", None)),
        "collector": gc.isenabled(),
    }


# Each returns a deed, a function that reads what it changes, and a list: of what is read on the way
# between two whole steps.


def network():
    return nn.Sequential(
        nn.Linear(2, 2, activation=ad.tanh, seed=0),
        nn.Dropout(0.3, seed=1),
        nn.Linear(2, 1, seed=1),
    )


def training(model=network, **chosen):
    model, steps = model(), []

    class Noting(optim.Adam):
        def moved(self, data, grad, state):
            moved = super().moved(data, grad, state)
            steps.append((moved.tolist(), [len(steps) + 1.0] * len(moved)))
            return moved

    optimizer = Noting(model.parameters(), lr=0.1)

    def fit():
        given = {"batch_size": 3, "seed": 0, "progress": False} | chosen
        nn.fit(model, INPUTS[:6], NUMBERS[:6], nn.mse_loss, optimizer, 2, **given)

    def read():
        assert all(p.grad == 0.0 for p in model.parameters())
        return numbers(model), optimizer.state["steps"].tolist()

    return fit, read, steps


class Looking(nn.Linear):
    """Looks at a number, and so is walked."""

    def forward(self, x):
        with ad.scope("chosen"):
            return super().forward(x) * (1.0 if x[0].data > 0 else 2.0)


def looking():
    return Looking(2, 1, seed=0)


def predicting(model):
    return lambda: nn.predict(model, INPUTS), list, []


def graph():
    x, y = Value(2.0), Value(3.0)
    x.grad = y.grad = 1.0
    root = ad.sum([x * y, ad.tanh(x) * y, x**3])
    nodes = ad.topological_order(root)
    return root, lambda: [float(getattr(node.grad, "data", node.grad)) for node in nodes]


def backward(**chosen):
    root, read = graph()
    return lambda: root.backward(**chosen), read, []


def clearing():
    root, read = graph()
    return root.zero_grad, read, []


def propagating():
    x, y = Value(2.0), Value(3.0)
    expression = Expression(x * y + x)
    read = lambda: (x.data, y.data, expression.sink.data, [z.data for z in expression.sink.parents])  # noqa: E731
    return lambda: expression.propagate({x: 5.0, y: 7.0}), read, []


def stepping():
    model = network()
    optimizer = optim.Adam(model.parameters(), lr=0.1)
    model([1.0, 2.0])[0].backward()
    return optimizer.step, lambda: (numbers(model), optimizer.state_dict()), []


def stepping_in_fit():
    layer = nn.Linear(2, 1, seed=0)
    optimizer, between = optim.Adam(layer.parameters(), lr=0.1), []
    state = TrainingState(optimizer)

    def read():
        assert all(p.grad == 0.0 for p in layer.parameters())
        return numbers(layer), optimizer.state_dict()

    def steps():
        with restoring(state.finish):
            state.step(np.array([1.0, 2.0, 3.0]))
            state.write()
            between.append(read())
            state.step(np.array([3.0, -1.0, 2.0]))

    return steps, read, between


def loading():
    model, given = network(), network()
    for p in given.parameters():
        p.data += 1.0
    state = given.state_dict()
    return lambda: model.load_state_dict(state), lambda: numbers(model), []


def loading_an_optimizer():
    model = network()
    ours, other = [optim.Adam(model.parameters(), lr=lr) for lr in (0.1, 0.2)]
    model([1.0, 2.0])[0].backward()
    other.step()
    state = other.state_dict()
    return lambda: ours.load_state_dict(state), ours.state_dict, []


def changing_mode():
    model = network()
    return model.eval, lambda: [part.training for part in [model, *model.layers]], []


def differentiating(transform, *at):
    def f(x):
        with ad.scope("cubes"):
            return network().eval()([x[0] ** 3, ad.grad(lambda y: x[1] * y * y)(2.0)])[0]

    return lambda: transform(f)(*at), list, []


DEEDS = {
    "fit": training,
    "fit, a program": lambda: training(engine="compiled", batch_size=None, callback=lambda h: None),
    "fit, walked": lambda: training(engine="eager", validation=(INPUTS[:2], NUMBERS[:2])),
    "fit, validation": lambda: training(validation=(INPUTS[:2], NUMBERS[:2])),
    "fit, a model that looks": lambda: training(looking),
    "predict": lambda: predicting(network()),
    "predict, a model that looks": lambda: predicting(looking()),
    "backward": backward,
    "backward, a graph": lambda: backward(create_graph=True),
    "zero_grad": clearing,
    "propagate": propagating,
    "step": stepping,
    "steps of fit": stepping_in_fit,
    "load_state_dict": loading,
    "load_state_dict, an optimizer": loading_an_optimizer,
    "eval": changing_mode,
    "Dropout": lambda: (nn.Dropout, list, []),
    "grad": lambda: differentiating(ad.grad, [1.0, 2.0]),
    "hessian": lambda: differentiating(ad.hessian, [1.0, 2.0]),
    "show_descent": lambda: (lambda: ad.show_descent(lambda x: x * x, 1.0), list, []),
}


def interrupted(deed, at):
    """Do it, with Ctrl-C at a line; return how many lines came."""
    count = 0

    def line(frame, event, arg):
        nonlocal count
        count += event == "line"
        if count == at and event == "line":
            raise KeyboardInterrupt
        return line

    before = sys.gettrace()
    with suppress(KeyboardInterrupt):
        sys.settrace(line)
        try:
            deed()
        finally:
            sys.settrace(before)
    return count


@pytest.mark.filterwarnings("ignore::autodiff.nn.WalkingWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # a file of ours that it keeps from closing
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # in a finalizer
@pytest.mark.parametrize("times", [5, pytest.param(400, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("name", DEEDS)
def test_ctrl_c_at_a_random_line_leaves_nothing_half_done(name, times, seed):
    """Of a deed of less than 400 lines at each of them."""
    deed, read, steps = DEEDS[name]()
    whole, before = [read()], process()
    lines = interrupted(deed, math.inf)
    whole += [*steps, read()]
    assert process() == before
    chance = random.Random(seed)
    for at in chance.sample(range(1, lines + 1), lines if lines < 400 else times):
        deed, read, _ = DEEDS[name]()
        interrupted(deed, at)
        assert process() == before, f"line {at} of {lines}"
        assert read() in whole, f"line {at} of {lines}"


@pytest.mark.parametrize("engine", ["compiled", "eager"])
def test_what_a_callback_sets_in_its_context_stays(engine):
    mine = ContextVar("mine")

    def callback(history):
        mine.set(len(history.losses))
        np.seterr(divide="ignore")

    with np.errstate(divide="warn"):
        deed, *_ = training(engine=engine, callback=callback)
        deed()
        assert (mine.get(), np.geterr()["divide"]) == (2, "ignore")
