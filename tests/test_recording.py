"""Training by the compiled program: the same numbers, errors and habits as walking the graphs."""

import math
import random
import re

import numpy as np
import pytest

import autodiff as ad
from autodiff import Value, Vector, nn, optim


def network(outputs=3, hidden=5):
    return nn.Sequential(
        nn.Linear(2, hidden, activation=ad.tanh, seed=0),
        nn.Linear(hidden, hidden, activation=ad.relu, seed=1),
        nn.Linear(hidden, outputs, seed=2),
    )


rng = random.Random(0)
INPUTS = [[rng.uniform(-1, 1), rng.uniform(-1, 1)] for _ in range(20)]
CLASSES = [int(a > b) + int(a > 0.3) for a, b in INPUTS]
NUMBERS = [a * b for a, b in INPUTS]


def trained(engine, model=None, inputs=INPUTS, targets=NUMBERS, loss=nn.mse_loss, **arguments):
    model = model or network(1)
    make = arguments.pop("optimizer", lambda p: optim.SGD(p, lr=0.1, momentum=0.5))
    chosen = {"epochs": 4, "batch_size": 6, "seed": 0, "progress": False} | arguments
    history = nn.fit(
        model, inputs, targets, loss, make(model.parameters()), engine=engine, **chosen
    )
    return history, model


def same(make=network, outputs=1, **arguments):
    """Both engines give the same losses and weights, to 1e-10; returns the compiled history."""
    eager, walked = trained("eager", make(outputs), **arguments)
    compiled, ran = trained("compiled", make(outputs), **arguments)
    assert compiled.losses == pytest.approx(eager.losses, rel=1e-10)
    weights = [[p.data for p in model.parameters()] for model in (ran, walked)]
    assert weights[0] == pytest.approx(weights[1], rel=1e-10, abs=1e-12)
    assert (eager.engine, compiled.engine) == ("eager", "compiled")
    return compiled


LOSSES = {
    "mse of numbers": (1, nn.mse_loss, NUMBERS),
    "mse of rows": (2, nn.mse_loss, [[y, -y] for y in NUMBERS]),
    "mse of arrays": (2, nn.mse_loss, np.array([[y, -y] for y in NUMBERS])),
    "mse of Vectors": (2, nn.mse_loss, [Vector([y, 2.0]) for y in NUMBERS]),
    "hinge": (1, nn.hinge_loss, [1 if y > 0 else -1 for y in NUMBERS]),
    "classes": (3, nn.cross_entropy, CLASSES),
    "classes of numpy": (3, nn.cross_entropy, np.array(CLASSES)),
    "one-hot rows": (3, nn.cross_entropy, np.eye(3)[CLASSES]),
    "one class": (3, nn.cross_entropy, [1] * 20),
    "binary": (1, nn.binary_cross_entropy_with_logits, [float(y > 0) for y in NUMBERS]),
    "a choice by target": (
        1,
        lambda p, t: (p[0] - t) ** 2 if t > 0 else 2.0 * abs(p[0] - math.exp(t)) + ad.exp(p[0]),
        NUMBERS,
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_compiled_training_is_eager_training(name):
    outputs, loss, targets = LOSSES[name]
    same(outputs=outputs, loss=loss, targets=targets)


@pytest.mark.parametrize(
    "make",
    [
        lambda p: optim.SGD(p, lr=0.1, weight_decay=0.1),
        lambda p: optim.Adagrad(p, lr=0.1),
        lambda p: optim.RMSprop(p, lr=0.01),
        lambda p: optim.Adam(p, lr=0.01),
        lambda p: optim.SGD(p[:15], lr=0.1),  # the first layer alone
    ],
)
@pytest.mark.parametrize("batch_size", [None, 1, 7])
def test_with_every_optimiser_and_batch_size(make, batch_size):
    same(optimizer=make, batch_size=batch_size)


def test_parameters_that_require_no_gradient_stay():
    def make(outputs):
        model = network(outputs)
        model.layers[0].weight.requires_grad_(False)
        return model

    _, model = trained("compiled", make(1))
    assert model.layers[0].weight.data == network(1).layers[0].weight.data
    same(make)


def test_inputs_that_are_numbers():
    same(lambda k: nn.Linear(1, 1, seed=0), inputs=[a for a, _ in INPUTS])


def test_a_model_of_ones_own_and_a_penalty_in_the_loss():
    class Polynomial(nn.Module):
        def __init__(self):
            self.weights = Vector([0.1, -0.2, 0.3])

        def forward(self, x):
            return ad.dot(self.weights, [x[0] ** i for i in range(3)]) * x[1]

    models = []

    def make(outputs):
        models.append(Polynomial())
        return models[-1]

    def loss(p, t):
        return nn.mse_loss(p, t) + 0.1 * models[-1].weights.norm()

    same(make, loss=loss)


# -- What depends on numbers ----------------------------------------------------------------------


class Choosing(nn.Module):
    """A relu by hand: what it computes depends on the numbers in it."""

    def __init__(self, choose):
        self.inner, self.choose = network(1), choose

    def forward(self, x):
        return self.choose(self.inner(x), x, self.inner.layers[0].weight)


CHOICES = {
    "a comparison": lambda y, x, w: y if y[0] > 0 else y * 0.1,
    "a comparison of inputs": lambda y, x, w: y if x[0] < x[1] else y * 0.1,
    "a comparison of parameters": lambda y, x, w: y if w[0, 0] > 0.1 else y * 0.1,
    "a float": lambda y, x, w: y * math.tanh(float(x[0])),
    "the truth of a number": lambda y, x, w: y if y[0] else y * 0.1,
    "its data": lambda y, x, w: y * Value(y[0].data),
    "arithmetic of its data": lambda y, x, w: y * (2.0 * y[0].data + 1.0),
    "max": lambda y, x, w: y * max(x[0], x[1]),
}


@pytest.mark.parametrize("name", CHOICES)
def test_a_graph_that_depends_on_numbers_is_walked(name):
    auto, one = trained("auto", Choosing(CHOICES[name]))
    eager, other = trained("eager", Choosing(CHOICES[name]))
    assert auto.losses == eager.losses
    assert [p.data for p in one.parameters()] == [p.data for p in other.parameters()]
    assert auto.engine == "eager"
    assert auto.reason
    model = Choosing(CHOICES[name])
    before = [p.data for p in model.parameters()]
    with pytest.raises(ValueError, match="fit: the loss cannot be compiled: "):
        trained("compiled", model)
    assert [p.data for p in model.parameters()] == before


def test_a_model_with_random_numbers_is_walked():
    noise = random.Random(0)
    model = Choosing(lambda y, x, w: y * noise.gauss(1.0, 0.1))
    history, _ = trained("auto", model)
    assert history.engine == "eager"
    assert history.reason.endswith("the model builds a different graph on each call")


def test_too_many_graphs_are_walked(monkeypatch):
    def loss(p, t):
        return sum([p[0]] * (1 + int(10 * abs(t)))) ** 2

    monkeypatch.setattr("autodiff.nn.recording.MANY", 3)
    history, _ = trained("auto", loss=loss)
    assert history.reason.endswith("more than 3 targets give graphs of different shapes")
    monkeypatch.setattr("autodiff.nn.recording.MANY", 30)
    assert trained("auto", loss=loss)[0].engine == "compiled"


def test_rows_of_different_lengths_are_walked():
    class Sum(nn.Module):
        def __init__(self):
            self.weight = Value(0.1)

        def forward(self, x):
            return x.sum() * self.weight

    rows = [a[: i % 2 + 1] for i, a in enumerate(INPUTS)]
    history, _ = trained("auto", Sum(), inputs=rows)
    assert history.reason.endswith("the inputs are rows of different lengths")


@pytest.mark.parametrize("engine", ["auto", "eager"])
def test_recording_leaves_no_trace_in_the_model(engine):
    class Remembering(nn.Module):
        def __init__(self):
            self.inner, self.last, self.calls = nn.Linear(2, 1, seed=0), 0.0, 0

        def forward(self, x):
            self.calls += 1
            y = self.inner(x)[0] + 0.1 * self.last
            self.last = y if self.calls % 2 else 0.0  # so the next result depends on this one
            return y

    history, model = trained(engine, nn.Sequential(Remembering()), epochs=2)
    assert history.engine == "eager"
    assert model.layers[0].calls == 40  # those of 20 samples in two epochs
    expected, _ = trained("eager", nn.Sequential(Remembering()), epochs=2)
    assert history.losses == expected.losses


def test_what_changes_from_call_to_call_is_compiled_as_it_is_at_the_start():
    """As the docstring of fit says: a model has to stay the same, but for its parameters."""

    class Warming(nn.Module):
        def __init__(self):
            self.inner, self.calls = nn.Linear(2, 1, seed=0), 0

        def forward(self, x):
            self.calls += 1
            return self.inner(x) * (1.0 if self.calls < 50 else 2.0)

    compiled, _ = trained("compiled", Warming())
    eager, _ = trained("eager", Warming())
    assert compiled.losses[:2] == pytest.approx(eager.losses[:2])
    assert compiled.losses[-1] != pytest.approx(eager.losses[-1])


# -- Errors and interrupts ------------------------------------------------------------------------


def failure(engine, **arguments):
    model = arguments.pop("make", lambda: network(1))()
    with pytest.raises(Exception, match=".") as caught:
        trained(engine, model, **arguments)
    text = re.sub(r"(\d\.\d{9})\d*", r"\1", str(caught.value))  # the last digits may differ
    return type(caught.value), text, [p.data for p in model.parameters()]


FAILURES = {
    "divergence": {"optimizer": lambda p: optim.SGD(p, lr=1e6), "epochs": 50},
    "a logarithm": {"loss": lambda p, t: ad.log(p[0] - 1e3)},
    "a division": {"loss": lambda p, t: 1.0 / (p[0] - p[0])},
    "nan": {"targets": [math.nan] * 20},
    "an infinite target": {"targets": [math.inf] * 20},
    "a class that is none": {"loss": nn.cross_entropy, "targets": [7] * 20},
    "a label that is none": {"loss": nn.hinge_loss, "targets": [0.5] * 20},
    "another length": {"targets": [[1.0, 2.0]] * 20},
    "no number": {"targets": ["one"] * 20},
    "another input": {"inputs": [[1.0, 2.0, 3.0]] * 20},
    "a loss that is no Value": {"loss": lambda p, t: None},
}


@pytest.mark.parametrize("name", FAILURES)
def test_errors_are_those_of_walking(name):
    kind, text, weights = failure("auto", **FAILURES[name])
    expected = failure("eager", **FAILURES[name])
    assert (kind, text) == expected[:2]
    assert weights == pytest.approx(expected[2], rel=1e-9)


def test_an_interrupt_keeps_the_model_and_the_history():
    class Interrupted(optim.SGD):
        def step(self):
            super().step()
            if self.steps == 10:
                raise KeyboardInterrupt

    history, model = trained("compiled", optimizer=lambda p: Interrupted(p, lr=0.1), epochs=50)
    assert len(history.losses) == 2  # of four batches each
    assert all(math.isfinite(p.data) and p.grad == 0.0 for p in model.parameters())


def test_an_interrupt_while_recording():
    def loss(p, t):
        raise KeyboardInterrupt

    model = network(1)
    history, _ = trained("auto", model, loss=loss)
    assert history.losses == []
    assert [p.data for p in model.parameters()] == [p.data for p in network(1).parameters()]


def test_an_engine_that_is_none():
    with pytest.raises(ValueError, match="found engine = 'fast', expected one of auto, compiled"):
        trained("fast")
