"""What is recorded once and compiled for all samples, and what is walked: the contract of a model."""

import dataclasses
import math
import os
import random
from contextlib import nullcontext
from fractions import Fraction

import numpy as np
import pandas
import pytest
from trainings import CLASSES, INPUTS, NUMBERS, Layer, fitted, network, numbers, same

import autodiff as ad
from autodiff import Value, Vector, nn

# -- What is compiled -----------------------------------------------------------------------------

LOSSES = {
    "mse of numbers": (1, nn.mse_loss, NUMBERS),
    "mse of rows": (2, nn.mse_loss, [[y, -y] for y in NUMBERS]),
    "mse of arrays": (2, nn.mse_loss, np.array([[y, -y] for y in NUMBERS])),
    "mse of Vectors": (2, nn.mse_loss, [Vector([y, 2.0]) for y in NUMBERS]),
    "mse of a Series": (1, nn.mse_loss, pandas.Series(NUMBERS)),
    "hinge": (1, nn.hinge_loss, [1 if y > 0 else -1 for y in NUMBERS]),
    "classes": (3, nn.cross_entropy, CLASSES),
    "classes of numpy": (3, nn.cross_entropy, np.array(CLASSES)),
    "one-hot rows": (3, nn.cross_entropy, np.eye(3)[CLASSES]),
    "one class": (3, nn.cross_entropy, [1] * 20),
    "binary": (1, nn.binary_cross_entropy_with_logits, [float(y > 0) for y in NUMBERS]),
    "a Vector of one": (1, lambda p, t: (p - t) * (p - t), NUMBERS),
    "a choice by target": (
        1,
        lambda p, t: (p[0] - t) ** 2 if t > 0 else 2.0 * abs(p[0] - math.exp(t)) + ad.exp(p[0]),
        NUMBERS,
    ),
    "lengths by target": (1, lambda p, t: sum([p[0]] * (1 + int(9 * abs(t)))) ** 2 * t, NUMBERS),
    "operations by target": (2, lambda p, t: [p[0] * t, p[1] - t, abs(p[0]), Value(t)][int(9 * abs(t)) % 4], NUMBERS),
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_losses_and_targets_that_are_compiled(name):
    outputs, loss, targets = LOSSES[name]
    same(lambda: network(outputs), loss=loss, targets=targets)


@dataclasses.dataclass(frozen=True)
class Weighted:
    y: float
    weight: float = dataclasses.field(compare=False)


TARGETS = {
    "signs of zero": ([0.0, -0.0] * 10, lambda p, t: (p[0] - math.copysign(1.0, t)) ** 2),
    "types": ([(0.5, 0), (0.5, 0.0)] * 10, lambda p, t: (p[0] - float(isinstance(t[1], int))) ** 2),
    "types of numbers": ([1, 1.0] * 10, lambda p, t: (p[0] - float(isinstance(t, int))) ** 2),
    "truth and one": ([True, 1] * 10, lambda p, t: (p[0] - float(isinstance(t, bool))) ** 2),
    "arrays of two types": ([np.array([1.0]), np.array([1])] * 10, lambda p, t: (p[0] - float(t.dtype.kind == "f")) ** 2),
    "dataclasses": ([Weighted(1.0, 0.5), Weighted(1.0, 2.0)] * 10, lambda p, t: t.weight * (p[0] - t.y) ** 2),
    "nested lists": ([[1.0, [0.0]], [1.0, [-0.0]]] * 10, lambda p, t: (p[0] - math.copysign(1.0, t[1][0])) ** 2),
}  # fmt: skip


@pytest.mark.parametrize("name", TARGETS)
def test_targets_are_told_apart_exactly(name):
    targets, loss = TARGETS[name]
    same(targets=targets, loss=loss)


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
    same(lambda: nn.Sequential(nn.Linear(2, 2, seed=0), shape), loss=loss)


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
    inputs = INPUT_KINDS[name]
    rows = [
        [x.data if isinstance(x, Value) else float(x) for x in row]
        for row in np.array(inputs, object)
    ]
    expected = fitted(inputs=rows, epochs=2)[0].losses
    assert fitted(inputs=inputs, epochs=2)[0].losses == expected


def test_inputs_that_are_numbers_and_counts_of_numpy():
    same(lambda: nn.Linear(np.int64(1), np.int32(1), seed=0), inputs=[a for a, _ in INPUTS],
         epochs=np.int64(3), batch_size=np.int16(4))  # fmt: skip


class Polynomial(nn.Module):
    def __init__(self):
        self.weights = Vector([0.1, -0.2, 0.3])

    def forward(self, x):
        return ad.dot(self.weights, [x[0] ** i for i in range(3)]) * x[1]


class Scaled(nn.Module):
    """A weight that is computed in forward, and one that is not trained."""

    def __init__(self):
        self.scale, self.bias = Value(0.1), Value(0.5)

    def forward(self, x):
        return (self.scale * ad.Matrix([[1.0, 2.0]]).requires_grad_(False)) @ x + self.bias


class Residual(nn.Sequential):
    """A parameter beside the layers."""

    def __init__(self):
        super().__init__(nn.Linear(2, 2, seed=0))
        self.scale = Value(0.5)

    def forward(self, x):
        return (super().forward(x) * self.scale).sum()


def frozen():
    model = network()
    model.layers[0].weight.requires_grad_(False)
    return model


@pytest.mark.parametrize("make", [Polynomial, Scaled, Residual, frozen])
def test_models_of_ones_own(make):
    (_, model, _) = same(make)
    moved = [a != b.data for a, b in zip(numbers(make()), model.parameters())]
    assert moved == [p.requires_grad for p in model.parameters()]


def test_a_penalty_in_the_loss():
    models = []

    def make():
        models.append(Polynomial())
        return models[-1]

    same(make, loss=lambda p, t: nn.mse_loss(p, t) + 0.1 * models[-1].weights.norm())


@pytest.mark.parametrize("constant", [lambda: Value(0.0), lambda: Value(0.0) * 1.0])
def test_a_loss_may_be_constant_for_some_samples(constant):
    """Those without a label, for example."""

    def loss(p, t):
        return constant() if t is None else nn.mse_loss(p, t)

    history, *_ = same(targets=[None, *NUMBERS[1:]], loss=loss, batch_size=1)
    assert history.losses[0] > 0.0
    once, *_ = fitted(targets=[None, *NUMBERS[1:]], loss=loss, batch_size=None)
    model = network()
    losses = [nn.mse_loss(model(x), t).data for x, t in zip(INPUTS[1:], NUMBERS[1:])]
    assert once.losses[0] == pytest.approx(sum(losses) / 20, rel=1e-12)


# -- What depends on numbers ----------------------------------------------------------------------


class Choosing(nn.Module):
    """A relu by hand: what it computes depends on the numbers in it."""

    def __init__(self, choose):
        self.inner, self.choose = network(), choose

    def forward(self, x):
        return self.choose(self.inner(x), x, self.inner.layers[0].weight)


def catching(y, x, w):
    try:
        return y if y[0] > 0 else y * 0.1
    except Exception:  # no way out
        return y


LOOKS = "not known"
CHOICES = {
    "a comparison": (lambda y, x, w: y if y[0] > 0 else y * 0.1, "found a comparison"),
    "a comparison of parameters": (lambda y, x, w: y if w[0, 0] > 0.1 else y * 0.1, LOOKS),
    "a comparison that catches": (catching, "found a comparison"),
    "a float": (lambda y, x, w: y * math.tanh(float(x[0])), LOOKS),
    "the truth of a number": (lambda y, x, w: y if y[0] else y * 0.1, LOOKS),
    "its data": (lambda y, x, w: y * Value(y[0].data), LOOKS),
    "arithmetic of its data": (lambda y, x, w: y * (2.0 * y[0].data + 1.0), "reads .data"),
    "max": (lambda y, x, w: y * max(x[0], x[1]), "write autodiff.maximum"),
    "its data being equal": (lambda y, x, w: y if x[0].data == INPUTS[3][0] else y * 0.1, LOOKS),
    "its data among others": (lambda y, x, w: y if x[0].data in [a for a, _ in INPUTS[:5]] else -y, LOOKS),
    "its data as a key": (lambda y, x, w: y * {INPUTS[3][0]: 0.1}.get(x[0].data, 1.0), LOOKS),
    "its text": (lambda y, x, w: y if str(x[0].data).startswith("-") else y * 0.1, LOOKS),
    "its format": (lambda y, x, w: y if f"{x[0]:.1f}".startswith("-") else y * 0.1, LOOKS),
    "round": (lambda y, x, w: y * round(x[0].data), "a whole number"),
    "its remainder": (lambda y, x, w: y * (x[0].data % 0.5), LOOKS),
    "a method of its data": (lambda y, x, w: y if x[0].data.hex().startswith("-") else -y, LOOKS),
    "an embedding": (
        lambda y, x, w: y * w[abs(int(x[0].data))][0],
        r"make the input a one-hot row and write row @ weight for weight\[int",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHOICES)
def test_a_graph_that_depends_on_numbers_is_walked(name):
    choose, words = CHOICES[name]
    auto, one, _ = fitted(Choosing(choose), engine="auto", walks=words, epochs=2)
    eager, other, _ = fitted(Choosing(choose), engine="eager", epochs=2)
    assert (auto.losses, numbers(one)) == (eager.losses, numbers(other))
    assert auto.engine == "eager"
    assert auto.reason
    with pytest.raises(ValueError, match=f"fit: the loss cannot be compiled: .*{words}"):
        fitted(model := Choosing(choose))
    assert numbers(model) == numbers(Choosing(choose))


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
    def model():
        return nn.Sequential(nn.Linear(2, 4, activation=f, seed=0), nn.Linear(4, 1, seed=1))

    found, *_ = fitted(model(), engine="auto", walks=LOOKS if f is chooser else "")
    assert (found.engine == "compiled") == (f is not chooser)
    assert found.losses == pytest.approx(fitted(model(), engine="eager")[0].losses, rel=1e-12)


def test_numbers_computed_from_parameters_before_the_call_are_not_compiled():
    class Stale(nn.Module):
        def __init__(self):
            inner = self.inner = nn.Linear(2, 1, seed=0)
            doubled = inner.weight * 2.0
            self.result = lambda x: doubled @ x + inner.bias

        def forward(self, x):
            return self.result(x)

    walked(Stale, "holds numbers computed from its parameters")


def test_targets_that_cannot_be_told_apart_are_walked():
    loss = {"loss": lambda p, t: (p[0] - t(1.0)) ** 2, "targets": [lambda y: y] * 20}
    expected = fitted(engine="eager", **loss)[0].losses
    assert fitted(engine="auto", walks="local object", **loss)[0].losses == expected


# -- What is not pure -----------------------------------------------------------------------------

GENERATOR, OLD = np.random.default_rng(0), random.Random(0)  # as at the top of a notebook


def walked(make, reason, loss=nn.mse_loss):
    """The model is walked, as with engine="eager", for this reason; "compiled" refuses it."""
    found = []
    for engine in ("auto", "eager"):
        random.seed(0)
        np.random.seed(0)
        OLD.seed(0)
        GENERATOR.bit_generator.state = np.random.default_rng(0).bit_generator.state
        walks = reason if engine == "auto" else ""
        history, model, _ = fitted(make(), loss=loss, engine=engine, epochs=2, walks=walks)
        found.append((history.losses, numbers(model), history.engine))
    assert found[0] == found[1]
    with pytest.raises(ValueError, match=f"the loss cannot be compiled: .*{reason}"):
        fitted(make(), loss=loss)


def drawn(draw):
    return lambda m, y: y * (1.0 + 0.1 * draw(m))


def rarely(draw):
    """Depth that is dropped so rarely that verification alone would not see it."""
    return lambda m, y: y * float(draw(m) > 0.001)


def rng_of_a_closure():
    rng = random.Random(0)
    return lambda m: rng.random()


RANDOM = {
    "a global generator of numpy": lambda: Layer(rarely(lambda m: GENERATOR.random())),
    "a global generator": lambda: Layer(rarely(lambda m: OLD.random())),
    "a global generator in a comprehension": lambda: Layer(
        lambda m, y: Vector([v * float(GENERATOR.random() > 0.001) for v in y])
    ),
    "random": lambda: Layer(rarely(lambda m: random.random())),
    "numpy.random": lambda: Layer(drawn(lambda m: np.random.normal())),
    "a held generator": lambda: Layer(drawn(lambda m: m.rng.random()), rng=random.Random(0)),
    "one of numpy": lambda: Layer(drawn(lambda m: m.rng.normal()), rng=np.random.default_rng(0)),
    "an old one": lambda: Layer(drawn(lambda m: m.rng.normal()), rng=np.random.RandomState(0)),
    "a generator in a dict": lambda: Layer(
        drawn(lambda m: m.held["rng"].random()), held={"rng": random.Random(0)}
    ),
    "its method": lambda: Layer(rarely(lambda m: m.draw()), draw=random.Random(0).random),
    "that of numpy": lambda: Layer(
        rarely(lambda m: m.draw()), draw=np.random.default_rng(0).random
    ),
    "a closure": lambda: Layer(drawn(rng_of_a_closure())),
    "Dropout": lambda: nn.Sequential(
        nn.Linear(2, 8, seed=0), nn.Dropout(0.1, seed=0), nn.Linear(8, 1, seed=1)
    ),
}


@pytest.mark.parametrize("name", RANDOM)
def test_a_model_that_draws_random_numbers_is_walked(name):
    walked(RANDOM[name], "a call draws random numbers: a model and a loss are pure functions")


def test_noise_on_labels_is_walked():
    reason = "a call draws random numbers"
    walked(network, reason, lambda p, t: nn.mse_loss(p, t + (random.random() < 0.001)))


def test_global_generators_are_put_back():
    for generator in (random, np.random):
        own = random.Random(0)
        generator.seed(0)
        first = generator.random()
        generator.seed(0)
        with pytest.raises(ValueError, match="a call draws random numbers"):
            fitted(Layer(drawn(lambda m, a=generator, b=own: a.random() + b.random())))
        assert generator.random() == first
        assert own.random() == random.Random(0).random()


def count_up(m, y):
    m.count += 1
    return y * (1.0 if m.count < 30 else 2.0)


def count_in(held, add):
    def change(m, y):
        add(held(m))
        return y * (1.0 if len(held(m)) < 30 else 2.0)

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
    "an activation": lambda: Layer(lambda m, y: setattr(m, "held", y.data) or y, held=None),
}


@pytest.mark.parametrize("name", STATES)
def test_a_model_whose_state_a_call_changes_is_walked(name):
    words = "return what is to be looked at later"
    walked(STATES[name], f"a call changes ('(count|mean|held)'|0); {words}")


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
            self.training = True

        def forward(self, x):
            y = self.inner(x)
            self.seen.append(y)
            self.last["y"] = y
            self.new = 1.0
            return y

    model = Keeping()
    held = dict(vars(model))
    with pytest.raises(ValueError, match="a call changes"):
        fitted(model)
    assert vars(model).keys() == held.keys()
    assert all(vars(model)[name] is held[name] for name in held)
    assert (model.seen, model.last) == ([], {})


def test_an_interrupt_while_recording():
    def loss(p, t):
        raise KeyboardInterrupt

    history, model, _ = fitted(loss=loss, engine="auto")
    assert history.losses == []
    assert numbers(model) == numbers(network())


# -- Verification ---------------------------------------------------------------------------------


class Hidden(nn.Module):
    """A model that the environment changes, where nobody looks."""

    def __init__(self, calls, training=True):
        self.inner, self.calls, self.counts = nn.Linear(2, 1, seed=0), calls, training

    def forward(self, x):
        if self.training == self.counts:
            os.environ["CALLS"] = str(int(os.environ["CALLS"]) + 1)
        return self.inner(x) * (1.0 if int(os.environ["CALLS"]) <= self.calls else 1.001)


@pytest.fixture
def uncalled(monkeypatch):
    monkeypatch.setenv("CALLS", "0")


@pytest.mark.parametrize(("calls", "epoch"), [(1, 1), (3, 1), (4, 2), (5, 4), (6, 8)])
def test_a_program_that_is_wrong_is_an_error_that_names_epoch_and_sample(calls, epoch, uncalled):
    """Recording takes one call, and the first check three."""
    message = f"in epoch {epoch} the program is wrong for sample .*: its loss is off by"
    with pytest.raises(RuntimeError, match=message) as caught:
        fitted(Hidden(calls), epochs=20)
    assert "are pure functions of their input and parameters" in str(caught.value)
    since = f"; results since epoch {epoch // 2}, when it was last right, may be wrong"
    assert (since in str(caught.value)) == (epoch > 1)


def test_a_program_that_is_wrong_is_walked_with_a_warning(uncalled):
    words = "in epoch 2 the program is wrong for sample"
    history, *_ = fitted(Hidden(4), engine="auto", epochs=5, walks=words)
    assert history.engine == "eager"
    assert "results since epoch 1" in history.reason
    assert int(os.environ["CALLS"]) == 5 + 4 * 20
    assert len(history.losses) == 5


def test_the_program_for_validation_is_verified(monkeypatch):
    """A model that is pure in training mode alone."""
    for engine in ("compiled", "auto"):
        monkeypatch.setenv("CALLS", "0")
        chosen = {"epochs": 2, "engine": engine, "validation": (INPUTS[:9], NUMBERS[:9])}
        if engine == "compiled":
            with pytest.raises(RuntimeError, match="in epoch 2 the program is wrong"):
                fitted(Hidden(5, training=False), **chosen)
        else:
            chosen["walks"] = "walks the graphs of the validation samples"
            assert fitted(Hidden(5, training=False), **chosen)[0].engine == "compiled"


@pytest.mark.parametrize("last", [False, True])
def test_samples_that_are_walked(last, monkeypatch):
    """Three in the first and the last epoch, one in 2, 4, 8, ... and after a callback."""
    walks, compared = [], nn.engines.Losses.compared
    monkeypatch.setattr(
        nn.engines.Losses, "compared", lambda *given: walks.append(given[1]) or compared(*given)
    )
    epochs = []
    random.seed(0)
    for seed in (0, 0, 1):
        fitted(epochs=11, seed=seed, callback=epochs.append if last else None)
        epochs.append(walks[:])
        walks.clear()
    runs = [each for each in epochs if isinstance(each, list)]
    assert runs[0] == runs[1] != runs[2]
    assert len(runs[0]) == (3 + 9 + 3 if last else 3 + 1 + 1 + 1 + 3)
    assert random.random() == random.Random(0).random()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda loss, by: (loss, by * [1, 1, 1, 1.0001, *[1] * (len(by) - 4)]), "epoch 1 .* sample .*: its derivative is off by"),
        (lambda loss, by: (loss + 1e-6, by), "epoch 1 .* its loss is off by 1e-06"),
    ],
)  # fmt: skip
def test_a_wrong_program_is_found(change, words, monkeypatch):
    correct = ad.Expression.compile

    def wrong(self, *given, **more):
        program = correct(self, *given, **more)
        run = program._function
        program._function = lambda inputs, parameters: change(*run(inputs, parameters))
        return program

    monkeypatch.setattr(ad.Expression, "compile", wrong)
    with pytest.raises(RuntimeError, match=words):
        fitted()


def test_a_fault_of_the_compiler_surfaces(monkeypatch):
    def broken(*given, **more):
        raise KeyError("a fault")

    monkeypatch.setattr(ad.Expression, "compile", broken)
    for engine in ("auto", "compiled"):
        with pytest.raises(KeyError, match="a fault"):
            fitted(engine=engine)


def guarded(p, t):
    """The logarithm of some samples fails, and the loss catches that."""
    if t > 0:
        return nn.mse_loss(p, t)
    try:
        return ad.log(p.sum() - 5.0) * 1e-9 + nn.mse_loss(p, t)
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
