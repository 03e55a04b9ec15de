"""Training by the compiled program: the same numbers, errors and behaviour as walking the graphs."""

import dataclasses
import math
import os
import random
import re
import warnings
from contextlib import nullcontext
from fractions import Fraction

import numpy as np
import pandas
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nn.WalkingWarning)
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
    "its data being equal": lambda y, x, w: y if x[0].data == INPUTS[3][0] else y * 0.1,
    "its data being unequal": lambda y, x, w: y if x[0].data != INPUTS[3][0] else y * 0.1,
    "its data among others": lambda y, x, w: y if x[0].data in [a for a, _ in INPUTS[:5]] else -y,
    "its data as a key": lambda y, x, w: y * {INPUTS[3][0]: 0.1}.get(x[0].data, 1.0),
    "its text": lambda y, x, w: y if str(x[0].data).startswith("-") else y * 0.1,
    "its representation": lambda y, x, w: y if repr(x[0]).startswith("Value(data=-") else y * 0.1,
    "its format": lambda y, x, w: y if f"{x[0]:.1f}".startswith("-") else y * 0.1,
    "round": lambda y, x, w: y * round(x[0].data),
    "its remainder": lambda y, x, w: y * (x[0].data % 0.5),
    "a method of its data": lambda y, x, w: y if x[0].data.hex().startswith("-") else y * 0.1,
    "a lookup": lambda y, x, w: y * np.array([0.1, 1.0])[int(x[0].data > 0)],
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
            self.last = y.data if self.calls % 2 else 0.0  # so the next result depends on this one
            return y

    history, model = trained(engine, nn.Sequential(Remembering()), epochs=2)
    assert history.engine == "eager"
    assert model.layers[0].calls == 40  # those of 20 samples in two epochs
    expected, _ = trained("eager", nn.Sequential(Remembering()), epochs=2)
    assert history.losses == expected.losses


def walked(make, reason, **arguments):
    """The model is walked, as with engine="eager", for this reason; "compiled" refuses it."""
    found = []
    for engine in ("auto", "eager"):
        random.seed(0)
        np.random.seed(0)
        OLD.seed(0)
        GENERATOR.bit_generator.state = np.random.default_rng(0).bit_generator.state
        history, model = trained(engine, make(), **arguments)
        found.append((history.losses, [p.data for p in model.parameters()]))
    assert found[0] == found[1]
    assert history.engine == "eager"
    with pytest.warns(nn.WalkingWarning, match=reason) as warned:
        nn.fit(
            model := make(), INPUTS, NUMBERS, arguments.get("loss", nn.mse_loss),
            optim.SGD(model.parameters(), lr=0.1), 3, progress=False,
        )  # fmt: skip
    assert len(warned) == 1
    assert warned[0].filename == __file__
    with pytest.raises(ValueError, match=f"the loss cannot be compiled: .*{reason}"):
        trained("compiled", make(), **arguments)


class Layer(nn.Module):
    """A layer, and something done to its output: by a function of the module and the output."""

    def __init__(self, change, **held):
        self.inner, self.change = nn.Linear(2, 1, seed=0), change
        for name, thing in held.items():
            setattr(self, name, thing)

    def forward(self, x):
        return self.change(self, self.inner(x))


class Plain:
    def __init__(self):
        self.count = 0


def drawn(draw):
    return lambda m, y: y * (1.0 + 0.1 * draw(m))


def rng_of_a_closure():
    rng = random.Random(0)
    return lambda m: rng.random()


GENERATOR, OLD = np.random.default_rng(0), random.Random(0)  # as at the top of a notebook


class Stochastic(nn.Module):
    """Depth that is rarely dropped, by a generator in a global variable."""

    def __init__(self):
        self.inner = nn.Linear(2, 1, seed=0)

    def forward(self, x):
        return self.inner(x) * float(GENERATOR.random() > 0.001)


RANDOM = {
    "a global generator in forward": Stochastic,
    "a global generator in a lambda": lambda: Layer(lambda m, y: y * float(OLD.random() > 0.001)),
    "a global generator in a comprehension": lambda: Layer(
        lambda m, y: Vector([v * float(GENERATOR.random() > 0.001) for v in y])
    ),
    "random": lambda: Layer(drawn(lambda m: random.random())),
    "random, rarely in use": lambda: Layer(lambda m, y: y * float(random.random() > 0.001)),
    "numpy.random": lambda: Layer(drawn(lambda m: np.random.normal())),
    "a held generator": lambda: Layer(drawn(lambda m: m.rng.random()), rng=random.Random(0)),
    "a held generator of numpy": lambda: Layer(
        drawn(lambda m: m.rng.normal()), rng=np.random.default_rng(0)
    ),
    "an old one of numpy": lambda: Layer(
        drawn(lambda m: m.rng.normal()), rng=np.random.RandomState(0)
    ),
    "a generator in a dict": lambda: Layer(
        drawn(lambda m: m.held["rng"].random()), held={"rng": random.Random(0)}
    ),
    "a method of a generator": lambda: Layer(
        lambda m, y: y * float(m.draw() > 0.001), draw=random.Random(0).random
    ),
    "a method of a generator of numpy": lambda: Layer(
        lambda m, y: y * float(m.draw() > 0.001), draw=np.random.default_rng(0).random
    ),
    "a closure": lambda: Layer(drawn(rng_of_a_closure())),
    "Dropout": lambda: nn.Sequential(
        nn.Linear(2, 8, seed=0), nn.Dropout(0.1, seed=0), nn.Linear(8, 1, seed=1)
    ),
}


@pytest.mark.parametrize("name", RANDOM)
def test_a_model_that_draws_random_numbers_is_walked(name):
    walked(RANDOM[name], "a call draws random numbers: a model and a loss are pure functions")


@pytest.mark.parametrize("threads", [1, 2])
def test_global_generators_are_put_back_while_no_other_thread_may_use_them(threads, monkeypatch):
    monkeypatch.setattr("threading.active_count", lambda: threads)
    for generator in (random, np.random):
        own = random.Random(0)
        generator.seed(0)
        first = generator.random()
        generator.seed(0)
        with pytest.raises(ValueError, match="a call draws random numbers"):
            trained(
                "compiled",
                Layer(drawn(lambda m, a=generator, b=own: a.random() + b.random())),
            )
        assert (generator.random() == first) == (threads == 1)
        assert own.random() == random.Random(0).random()


def test_dropout_is_never_compiled_by_chance():
    for seed in range(50):
        model = nn.Sequential(nn.Linear(2, 8, seed=0), nn.Dropout(0.1, seed=seed))
        history, _ = trained("auto", model, loss=lambda p, t: p.sum() ** 2, epochs=1)
        assert history.engine == "eager"


def test_noise_on_labels_is_never_compiled_by_chance():
    def loss(p, t):
        return nn.mse_loss(p, t + random.choice([0.0, 0.0, 0.0, 1.0]))

    random.seed(0)
    for _ in range(50):
        assert trained("auto", loss=loss, epochs=1)[0].engine == "eager"


def count_up(m, y):
    m.count += 1
    return y * (1.0 if m.count < 30 else 2.0)


def count_in(container, add, size=len):
    def change(m, y):
        add(container(m))
        return y * (1.0 if size(container(m)) < 30 else 2.0)

    return change


def running_mean(m, y):
    m.mean = 0.9 * m.mean + 0.1 * y[0].data
    return y - m.mean


STATES = {
    "a counter": lambda: Layer(count_up, count=0),
    "a running mean": lambda: Layer(running_mean, mean=0.0),
    "a list": lambda: Layer(count_in(lambda m: m.held, lambda x: x.append(1)), held=[]),
    "a nested list": lambda: Layer(
        count_in(lambda m: m.held[0]["a"], lambda x: x.append(1)), held=[{"a": []}]
    ),
    "a dict": lambda: Layer(count_in(lambda m: m.held, lambda x: x.update({len(x): 1})), held={}),
}


@pytest.mark.parametrize("name", STATES)
def test_a_model_whose_state_a_call_changes_is_walked(name):
    walked(STATES[name], "a call changes '|a call changes 0")


def test_what_a_callback_changes_unseen_is_noticed_at_once():
    """A global variable, say, in an epoch that is not a power of two."""

    def run(engine):
        model, held = network(3), memoryview(bytearray([1]))

        def change(history):
            if len(history.losses) == 5:
                held[0] = 2

        return nn.fit(
            lambda x: model(x) * held[0], INPUTS, CLASSES, nn.cross_entropy,
            optim.SGD(model.parameters(), lr=0.1), 7, progress=False, engine=engine,
            callback=change,
        ).losses  # fmt: skip

    assert run("compiled") == pytest.approx(run("eager"), rel=1e-11)


def test_a_model_that_sets_its_parameters_is_walked():
    def add(m, y):
        m.scale.data += 0.01
        return y * m.scale

    walked(lambda: Layer(add, scale=Value(1.0)), "found a comparison, a bool, a float")


def test_recording_leaves_nothing_behind():
    """What it changes meanwhile is put back: the same objects with the same contents."""

    class Keeping(nn.Module):
        def __init__(self):
            self.inner, self.seen, self.last = nn.Linear(2, 1, seed=0), [], {}

        def forward(self, x):
            y = self.inner(x)
            self.seen.append(y)
            self.last["y"] = y
            self.new = 1.0
            return y

    model = Keeping()
    held = dict(vars(model))
    with pytest.raises(ValueError, match="a call changes"):
        trained("compiled", model)
    assert vars(model).keys() == held.keys()
    assert all(vars(model)[name] is held[name] for name in held)
    assert (model.seen, model.last) == ([], {})


# -- Targets --------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Weighted:
    y: float
    weight: float = dataclasses.field(compare=False)


TARGETS = {
    "signs of zero": ([0.0, -0.0] * 10, lambda p, t: (p[0] - math.copysign(1.0, t)) ** 2),
    "types": ([(0.5, 0), (0.5, 0.0)] * 10, lambda p, t: (p[0] - float(isinstance(t[1], int))) ** 2),
    "types of numbers": ([1, 1.0] * 10, lambda p, t: (p[0] - float(isinstance(t, int))) ** 2),
    "truth and one": ([True, 1] * 10, lambda p, t: (p[0] - float(isinstance(t, bool))) ** 2),
    "arrays of two types": (
        [np.array([1.0]), np.array([1])] * 10, lambda p, t: (p[0] - t.dtype.itemsize * (t.dtype.kind == "f")) ** 2,
    ),
    "dataclasses": (
        [Weighted(1.0, 0.5), Weighted(1.0, 2.0)] * 10,
        lambda p, t: t.weight * (p[0] - t.y) ** 2,
    ),
    "nested lists": ([[1.0, [0.0]], [1.0, [-0.0]]] * 10, lambda p, t: (p[0] - math.copysign(1.0, t[1][0])) ** 2),
}  # fmt: skip


@pytest.mark.parametrize("name", TARGETS)
def test_targets_are_told_apart_exactly(name):
    targets, loss = TARGETS[name]
    same(targets=targets, loss=loss)


# -- Trust, but verify ----------------------------------------------------------------------------


class Hidden(nn.Module):
    """A model that the environment changes, where nobody looks."""

    def __init__(self, calls):
        self.inner, self.calls = nn.Linear(2, 1, seed=0), calls

    def forward(self, x):
        os.environ["CALLS"] = str(int(os.environ["CALLS"]) + 1)
        return self.inner(x) * (1.0 if int(os.environ["CALLS"]) <= self.calls else 1.001)


def test_a_program_that_is_wrong_is_an_error_that_names_epoch_and_sample(monkeypatch):
    """Recording takes one call, and the first check three."""
    for calls, epoch in ((1, 1), (3, 1), (4, 2), (5, 4), (6, 8)):
        monkeypatch.setenv("CALLS", "0")
        message = f"in epoch {epoch} the program is wrong for sample .*: the program has the loss"
        with pytest.raises(RuntimeError, match=message) as caught:
            trained("compiled", Hidden(calls), epochs=20)
        assert "are pure functions of their input and parameters" in str(caught.value)
        since = f"; results since epoch {epoch // 2}, when it was last right, may be wrong"
        assert (since in str(caught.value)) == (epoch > 1)


def test_a_program_that_is_wrong_is_walked_with_a_warning(monkeypatch):
    monkeypatch.setenv("CALLS", "0")
    model = Hidden(4)
    descent = optim.SGD(model.parameters(), lr=0.1)
    with pytest.warns(nn.WalkingWarning, match="in epoch 2 the program is wrong for sample"):
        history = nn.fit(model, INPUTS, NUMBERS, nn.mse_loss, descent, 5, progress=False)
    assert history.engine == "eager"
    assert "results since epoch 1" in history.reason
    assert int(os.environ["CALLS"]) == 5 + 4 * 20
    assert len(history.losses) == 5


def test_the_samples_that_are_walked_are_the_same_with_the_same_seed(monkeypatch):
    """And drawing them leaves the global generators alone."""
    walked, difference = [], nn.engines.Losses.difference
    monkeypatch.setattr(
        nn.engines.Losses, "difference", lambda self, i: walked.append(i) or difference(self, i)
    )
    random.seed(0)
    found = []
    for seed in (0, 0, 1):
        trained("compiled", epochs=8, seed=seed)
        found.append([walked.pop(0) for _ in range(len(walked))])
    assert found[0] == found[1] != found[2]
    assert len(found[0]) == 3 + 1 + 1 + 3  # before epochs 1, 2, 4 and 8
    assert random.random() == random.Random(0).random()


def test_the_program_for_validation_is_verified(monkeypatch):
    """A model that is pure in training mode alone."""

    class Drifting(nn.Module):
        def __init__(self):
            self.inner = nn.Linear(2, 1, seed=0)

        def forward(self, x):
            if not self.training:
                os.environ["CALLS"] = str(int(os.environ["CALLS"]) + 1)
            return self.inner(x) * (1.0 if int(os.environ["CALLS"]) <= 5 else 1.001)

    for engine in ("compiled", "auto"):
        monkeypatch.setenv("CALLS", "0")
        model = Drifting()
        given = model, INPUTS, NUMBERS, nn.mse_loss, optim.SGD(model.parameters(), lr=0.1), 2
        chosen = {"progress": False, "engine": engine, "validation": (INPUTS[:9], NUMBERS[:9])}
        if engine == "compiled":
            with pytest.raises(RuntimeError, match="in epoch 2 the program is wrong"):
                nn.fit(*given, **chosen)
        else:
            with pytest.warns(nn.WalkingWarning, match="walks the graphs of the validation sam"):
                assert nn.fit(*given, **chosen).engine == "compiled"


def test_a_wrong_derivative_is_found(monkeypatch):
    correct = ad.Expression.compile

    def wrong(self, *arguments, **more):
        program = correct(self, *arguments, **more)

        def run(inputs, parameters):
            values, gradients = program(inputs, parameters)
            gradients[3] *= 1.0001
            return values, gradients

        return run

    monkeypatch.setattr(ad.Expression, "compile", wrong)
    with pytest.raises(RuntimeError, match="derivative .* for parameter 3, its graph"):
        trained("compiled")


def test_a_wrong_loss_is_found(monkeypatch):
    correct = ad.Expression.compile

    def wrong(self, *arguments, **more):
        program = correct(self, *arguments, **more)

        def run(inputs, parameters):
            values, gradients = program(inputs, parameters)
            return values + 1e-6, gradients

        return run

    monkeypatch.setattr(ad.Expression, "compile", wrong)
    with pytest.raises(RuntimeError, match="epoch 1 .* the program has the loss .*, its graph"):
        trained("compiled")


def test_a_fault_of_the_compiler_surfaces(monkeypatch):
    def broken(*arguments, **more):
        raise KeyError("a fault")

    monkeypatch.setattr(ad.Expression, "compile", broken)
    for engine in ("auto", "compiled"):
        with pytest.raises(KeyError, match="a fault"):
            trained(engine)


def test_an_exception_that_a_model_catches_is_no_way_out():
    def choose(y, x, w):
        try:
            return y if y[0] > 0 else y * 0.1
        except Exception:
            return y

    with pytest.raises(
        ValueError, match="the loss cannot be compiled: compile: found a comparison"
    ):
        trained("compiled", Choosing(choose))


# -- What is neither refused nor walked without need ----------------------------------------------

OUTPUTS = {
    "a tuple": (lambda y: (y[0], y[1]), lambda p, t: (p[0] - p[1] - t) ** 2),
    "a list with a number": (lambda y: [y[0], 0.5], lambda p, t: (p[0] - p[1] * t) ** 2),
    "a dict": (lambda y: {"a": y[0], "b": [y[1]]}, lambda p, t: (p["a"] - p["b"][0] - t) ** 2),
    "a Matrix": (
        lambda y: ad.Matrix([[y[0], y[1]], [y[1], y[0]]]), lambda p, t: ((p - t) * (p - t)).sum()
    ),
    "one Value": (lambda y: y[0], nn.mse_loss),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTPUTS)
def test_models_may_return_what_they_like(name):
    shape, loss = OUTPUTS[name]
    same(lambda k: nn.Sequential(nn.Linear(2, 2, seed=0), shape), loss=loss)


INPUT_KINDS = {
    "arrays of bools": np.array(INPUTS) > 0,
    "arrays of whole numbers": (10 * np.array(INPUTS)).astype(int),
    "float32": np.array(INPUTS, dtype=np.float32),
    "a DataFrame": pandas.DataFrame(INPUTS, columns=["a", "b"]),
    "a DataFrame of two types": pandas.DataFrame({"a": [1, 2] * 10, "b": [0.5] * 20}),
    "tuples": [tuple(row) for row in INPUTS],
    "Vectors": [Vector(row) for row in INPUTS],
    "Fractions": [[Fraction(1, 3), i] for i in range(20)],
}


@pytest.mark.parametrize("name", INPUT_KINDS)
def test_inputs_of_many_kinds(name):
    history = same(inputs=INPUT_KINDS[name])
    assert all(map(math.isfinite, history.losses))


def test_targets_may_be_a_series():
    same(targets=pandas.Series(NUMBERS))


def test_whole_numbers_of_numpy_are_whole_numbers():
    model = nn.Linear(np.int64(2), np.int32(1), seed=0)
    history, _ = trained("compiled", model, epochs=np.int64(3), batch_size=np.int16(4))
    assert len(history.losses) == 3


def test_a_loss_may_be_a_vector_of_one():
    same(loss=lambda p, t: (p - t) * (p - t))


def test_a_loss_that_is_not_a_number_says_so():
    for engine in ("auto", "eager"):
        with pytest.raises(
            TypeError, match=r"found a Vector of shape \(3,\) returned, expected one"
        ):
            trained(engine, network(3), loss=lambda p, t: p)


def test_parameters_in_nested_lists_and_dicts_are_trained():
    class Nested(nn.Module):
        def __init__(self):
            self.layers = [
                [nn.Linear(2, 2, seed=0)],
                {"b": (Vector([1.0, 2.0]), {"c": Value(0.5)})},
            ]

        def forward(self, x):
            scale, more = self.layers[1]["b"]
            return (self.layers[0][0](x) * scale).sum() + more["c"]

    names = [name for name, _ in Nested().named_parameters()]
    assert names == ["layers.0.0.weight", "layers.0.0.bias", "layers.1.b.0", "layers.1.b.1.c"]
    same(lambda k: Nested())
    _, model = trained("compiled", Nested())
    assert all(
        a != b
        for a, b in zip(
            [p.data for p in model.parameters()], [p.data for p in Nested().parameters()]
        )
    )


def test_a_module_may_hold_itself():
    class Selfish(nn.Module):
        def __init__(self):
            self.me, self.inner = self, nn.Linear(2, 1, seed=0)
            self.all = [self, [self.inner]]

        def forward(self, x):
            return self.me.inner(x)

    assert len(Selfish().parameters()) == 3
    assert "me: ..." in repr(Selfish())
    assert Selfish().eval().inner.training is False
    same(lambda k: Selfish())


def test_layers_beside_those_of_a_sequential_are_trained():
    class Residual(nn.Sequential):
        def __init__(self):
            super().__init__(nn.Linear(2, 2, seed=0))
            self.scale = Value(0.5)

        def forward(self, x):
            return (super().forward(x) * self.scale).sum()

    assert [name for name, _ in Residual().named_parameters()] == ["0.weight", "0.bias", "scale"]
    same(lambda k: Residual())


@pytest.mark.parametrize("engine", ["auto", "compiled", "eager"])
def test_a_model_that_is_frozen_cannot_be_trained(engine):
    model = network(1)
    for p in model.parameters():
        p.requires_grad = False
    with pytest.raises(ValueError, match="depends on none of .*, with requires_grad = True"):
        trained(engine, model)


@pytest.mark.parametrize("engine", ["auto", "compiled", "eager"])
def test_the_optimizer_of_another_model_trains_nothing(engine):
    other = network(1)
    with pytest.raises(ValueError, match="found a loss that depends on none of the optimizer's"):
        trained(engine, optimizer=lambda p: optim.SGD(other.parameters(), lr=0.1))


def test_weights_may_be_computed_in_forward():
    class Scaled(nn.Module):
        def __init__(self):
            self.scale, self.bias = Value(0.1), Value(0.5)

        def forward(self, x):
            return (self.scale * ad.Matrix([[1.0, 2.0]]).requires_grad_(False)) @ x + self.bias

    same(lambda k: Scaled())
    assert trained("compiled", Scaled())[1].scale.data != 0.1


@pytest.mark.parametrize("engine", ["auto", "compiled", "eager"])
def test_a_model_that_keeps_its_result_is_refused(engine):
    class Keeping(nn.Module):
        def __init__(self):
            self.inner = nn.Linear(2, 1, seed=0)

        def forward(self, x):
            self.last = self.inner(x)
            return self.last

    with pytest.raises(ValueError, match="Keeping.last: found a Vector that was computed"):
        trained(engine, Keeping())


def test_numbers_computed_from_parameters_before_the_call_are_not_compiled():
    class Stale(nn.Module):
        def __init__(self):
            self.inner = nn.Linear(2, 1, seed=0)
            self.held = Plain()
            self.held.doubled = self.inner.weight * 2.0

        def forward(self, x):
            return self.held.doubled @ x + self.inner.bias

    walked(Stale, "holds numbers computed from its parameters")


@pytest.mark.parametrize("engine", ["compiled", "eager"])
def test_divergence_in_the_very_last_step_is_an_error(engine):
    model = nn.Linear(1, 1, bias=False, seed=0)
    before = model.weight.data
    with pytest.raises(FloatingPointError, match="diverged in epoch 1 .*: overflow"):
        nn.fit(
            model, [[1.0]], [1e150], nn.mse_loss, optim.SGD(model.parameters(), lr=1e300), 1,
            progress=False, engine=engine,
        )  # fmt: skip
    assert model.weight.data == before


@pytest.mark.parametrize("engine", ["compiled", "eager"])
@pytest.mark.parametrize("optimizer", [optim.SGD, optim.Adam])
def test_divergence_leaves_the_last_good_parameters(engine, optimizer):
    model = nn.Linear(1, 1, bias=False, seed=0)
    model.weight[0, 0].data = 2.0
    seen = []
    descent = optimizer(model.parameters(), lr=1.0)

    def explode(history):
        seen.append((model.weight.data, descent.state_dict()))
        descent.lr = 1e200 if len(seen) == 3 else 1.0

    with pytest.raises(FloatingPointError, match="diverged in epoch 5"):
        nn.fit(
            model, [[1.0], [2.0]], [1.0, 1.0], nn.mse_loss, descent, 9,
            progress=False, engine=engine, callback=explode,
        )  # fmt: skip
    assert len(seen) == 4
    assert model.weight.data == seen[2][0]  # with which the loss was finite
    assert descent.state_dict()["state"] == seen[2][1]["state"]
    assert descent.steps == 3


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


def test_an_interrupt_while_the_parameters_become_unknown():
    class Interrupted(list):
        passes = 0

        def __iter__(self):
            self.passes += 1
            yield self[0]
            if self.passes == 2:  # the first reads the numbers, the last puts them back
                raise KeyboardInterrupt
            yield self[1]

    parameters = Interrupted([Value(1.0), Value(2.0)])
    with pytest.raises(KeyboardInterrupt), nn.recording.unknown(parameters):
        pass
    assert [p.data for p in parameters] == [1.0, 2.0]


def test_an_interrupt_while_recording():
    def loss(p, t):
        raise KeyboardInterrupt

    model = network(1)
    history, _ = trained("auto", model, loss=loss)
    assert history.losses == []
    assert [p.data for p in model.parameters()] == [p.data for p in network(1).parameters()]


def test_numpy_in_a_loss_that_is_walked_keeps_its_settings():
    """fit makes errors of its own overflows, not of the user's."""

    def loss(p, t):
        return nn.mse_loss(p, t) * float(np.divide(1.0, np.zeros(1))[0] > 0.0)

    with np.errstate(divide="ignore"):
        history, _ = trained("eager", loss=loss)
    assert history.losses == trained("eager")[0].losses


def test_an_engine_that_is_none():
    with pytest.raises(ValueError, match="found engine = 'fast', expected one of auto, compiled"):
        trained("fast")


@ad.operation
def leaky(x):
    slope = ad.where(x > 0, 1.0, 0.1)
    return x * slope, lambda grad: (grad * slope,)


@ad.operation
def sloped(x):
    return ad.grad(lambda t: x * t * t)(0.25), lambda adjoint: (adjoint / 2,)  # x / 2


@ad.operation
def chooser(x):
    return (x if x > 0 else 0.1 * x), lambda grad: (grad if x > 0 else 0.1 * grad,)


@pytest.mark.parametrize("f", [leaky, sloped, chooser])
def test_an_operation_with_a_choice_is_compiled_and_one_with_an_if_is_walked(f):
    def trained(engine):
        model = nn.Sequential(nn.Linear(1, 4, activation=f, seed=0), nn.Linear(4, 1, seed=1))
        descent = optim.SGD(model.parameters(), lr=0.05)
        data = [[0.5], [-1.0], [2.0]], [1.0, 2.0, 3.0]
        return nn.fit(model, *data, nn.mse_loss, descent, epochs=5, progress=False, engine=engine)

    with pytest.warns(nn.WalkingWarning, match="not known") if f is chooser else nullcontext():
        found = trained("auto")
    assert (found.engine == "compiled") == (f is not chooser)
    assert found.losses == pytest.approx(trained("eager").losses, rel=1e-12)
