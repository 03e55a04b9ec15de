"""Programs are verified by walking a few samples; what is said where they are wrong, or diverge."""

import math
import os
import random
import re
from contextlib import nullcontext

import numpy as np
import pytest
from tables import cases
from trainings import ENGINES, INPUTS, NUMBERS, fitted, network, numbers

import autodiff as ad
from autodiff import nn, optim

# -- Verification ---------------------------------------------------------------------------------


class Hidden(nn.Module):
    """A model that the environment changes after some calls, where nobody looks."""

    def __init__(self, calls, training=True):
        self.inner, self.calls, self.counts = nn.Linear(2, 1, seed=0), calls, training
        os.environ["CALLS"] = "0"

    def forward(self, x):
        if self.training == self.counts:
            os.environ["CALLS"] = str(int(os.environ["CALLS"]) + 1)
        return self.inner(x) * (1.0 if int(os.environ["CALLS"]) <= self.calls else 1.001)


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    monkeypatch.setenv("CALLS", "0")


@pytest.mark.parametrize(
    ("calls", "training", "epoch", "epochs"),
    [(2, True, 1, 5), (4, True, 1, 5), (5, True, 2, 5), (6, True, 4, 20), (7, True, 8, 20), (6, False, 2, 2)],
)  # fmt: skip
def test_a_program_that_is_wrong_is_found_in_an_epoch_and_walked_from_there(
    calls, training, epoch, epochs
):
    """Recording takes two calls, and the first check three; a model may be pure in training alone."""
    chosen = {"epochs": epochs, "validation": None if training else (INPUTS[:9], NUMBERS[:9])}
    since = f"; results since epoch {epoch // 2}, when it was last right, may be wrong"
    words = f"in epoch {epoch} the program is wrong for sample .*: its loss is off by .*; a model and a loss are pure functions.* is passed in{since * (epoch > 1)}"
    with pytest.raises(RuntimeError, match=f"{words}; to walk it"):
        fitted(Hidden(calls, training), **chosen)
    what, samples = (
        ("graph of every sample", 20) if training else ("graphs of the validation samples", 9)
    )
    walks = f"walks the {what}, which is slow: {words}$"
    history, *_ = fitted(Hidden(calls, training), engine="auto", walks=walks, **chosen)
    assert history.engine == ("eager" if training else "compiled")
    assert len(history.losses) == epochs
    assert int(os.environ["CALLS"]) == calls + 1 + (epochs - epoch + 1) * samples


@pytest.mark.parametrize("called", [False, True])
def test_samples_that_are_walked(called, monkeypatch):
    """Three in the first and the last epoch, one in 2, 4, 8, ... and after a callback."""
    walks, compared = [], nn.engines.Evaluator.disagreement_at
    monkeypatch.setattr(
        nn.engines.Evaluator,
        "disagreement_at",
        lambda *given: walks.append(given[1]) or compared(*given),
    )
    random.seed(0)
    for seed in (0, 0, 1):
        fitted(epochs=11, seed=seed, callback=id if called else None)
    n = 3 + 9 + 3 if called else 3 + 1 + 1 + 1 + 3
    assert len(walks) == 3 * n
    assert walks[:n] == walks[n : 2 * n] != walks[2 * n :]
    assert random.random() == random.Random(0).random()


@pytest.mark.parametrize(
    ("nudge", "words"),
    [((0, 1e-4), "epoch 1 .* sample .*: its derivative is off by"), ((1e-6, 0), "its loss is off by 1e-06")],
)  # fmt: skip
def test_a_wrong_program_is_found(nudge, words, monkeypatch):
    correct = ad.Expression.compile

    def wrong(self, *given, **more):
        def nudged(inputs, parameters):
            loss, gradients = run(inputs, parameters)
            return loss + nudge[0], gradients * [
                1 + nudge[1] * (i == 3) for i in range(len(gradients))
            ]

        program = correct(self, *given, **more)
        run, program._function = program._function, nudged
        return program

    monkeypatch.setattr(ad.Expression, "compile", wrong)
    with pytest.raises(RuntimeError, match=words):
        fitted()


COMPILING = [
    lambda: fitted(engine="auto"),
    lambda: fitted(engine="compiled"),
    lambda: nn.predict(network(), INPUTS),
]


@cases("program", COMPILING)
def test_a_fault_of_the_compiler_surfaces(program, monkeypatch):
    def broken(*given, **more):
        raise KeyError("a fault")

    monkeypatch.setattr(ad.Expression, "compile", broken)
    with pytest.raises(KeyError, match="a fault"):
        program()


def guarded(p, t):
    """The logarithm of some samples fails, and the loss catches that."""
    try:
        return ad.log((p.sum() - 5.0) if t < 0 else 1.0) * 1e-9 + nn.mse_loss(p, t)
    except ValueError:
        return nn.mse_loss(p, t)


@pytest.mark.parametrize("engine", ["auto", "compiled"])
def test_a_program_that_fails_where_walking_does_not(engine):
    words = r"the program fails where walking does not, .* write log\(maximum"
    compiled = engine == "compiled"
    with pytest.raises(ValueError, match=words) if compiled else nullcontext():
        found, *_ = fitted(loss=guarded, engine=engine, walks="" if compiled else words)
        assert found.engine == "eager"
        assert found.losses == pytest.approx(fitted(loss=guarded, engine="eager")[0].losses)


# -- Errors are those of walking ------------------------------------------------------------------


def descent(lr):
    return lambda p: optim.SGD(p, lr=lr)


FAILURES = [
    lambda: {"optimizer": descent(1e6), "epochs": 50},
    lambda: {"loss": lambda p, t: ad.log(p[0] - 1e3)},
    lambda: {"loss": lambda p, t: 1.0 / (p[0] - p[0])},
    lambda: {"loss": lambda p, t: None},
    lambda: {"targets": [math.nan] * 20},
    lambda: {"inputs": [[1.0, 2.0, 3.0]] * 20},
]


@cases("chosen", FAILURES)
def test_errors_are_those_of_walking(chosen):
    def failure(engine):
        model = network()
        with pytest.raises(Exception, match=".") as caught:
            fitted(model, engine=engine, **chosen())
        text = re.sub(r"(\d\.\d{9})\d*", r"\1", str(caught.value))  # the last digits may differ
        return caught.type, text, numbers(model)

    (*error, weights), (*expected, of_walking) = failure("auto"), failure("eager")
    assert error == expected
    assert weights == pytest.approx(of_walking, rel=1e-9)
    assert all(map(math.isfinite, weights))
    if "epochs" in chosen():
        assert re.search("diverged in epoch .* smaller learning rate.*too large|inf", error[1])


@ENGINES
@pytest.mark.parametrize(("lr", "epoch"), [(1e200, 2), (1e308, 1)])
def test_a_step_that_overflows_is_not_made(engine, lr, epoch):
    """Of (w - 1)² and (2 w - 1)², from w = 2; also in the very last step."""
    model = nn.Linear(1, 1, bias=False, init=lambda n, m, rng: [[2.0]])
    data = {"inputs": [[1.0], [2.0]], "targets": [1.0, 1.0]}
    with pytest.raises(
        FloatingPointError, match=f"diverged in epoch {epoch} .*(overflow|too large)"
    ):
        fitted(model, **data, optimizer=descent(lr), epochs=9 if epoch > 1 else 1, engine=engine)
    slope = (2 * 1.0 + 2 * 3.0 * 2.0) / 2
    assert model.weight.data[0] == [pytest.approx(2.0 - lr * slope if epoch > 1 else 2.0)]


def test_numpy_in_a_loss_that_is_walked_keeps_its_settings():
    """fit makes errors of its own overflows, not of the user's."""

    def loss(p, t):
        return nn.mse_loss(p, t) * float(np.divide(1.0, np.zeros(1))[0] > 0.0)

    with np.errstate(divide="ignore"):
        history, *_ = fitted(loss=loss, engine="eager")
    assert history.losses == fitted(engine="eager")[0].losses
