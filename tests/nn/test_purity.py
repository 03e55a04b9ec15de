"""What `fit` makes of models and losses as people write them: compiled, walked, or an error.

A row is a function of a model and its input, of a model, its prediction and a target, or of nothing:
then it returns what `fit` takes. Rows of PURE are pure functions of input and parameters, or pure
from callback to callback: both engines have to be the loop by hand. Rows of IMPURE look at numbers,
or depend on something else: the graph of every sample is walked, for the reason beside them.
"""

import contextlib
import copy
import functools
import inspect
import math
import operator
import random
import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tables import text_of
from trainings import CLASSES, INPUTS, NUMBERS, chooser, fitted, left, network, same

import autodiff as ad
from autodiff import Matrix, Value, Vector, adjoints, nn

LINES = Path(__file__).read_text().splitlines()


class Net(nn.Module):
    """A model that does what a row says, with layers and notes of its own."""

    encoding = last = None

    def __init__(self, row=None, outputs=1):
        self.row = row or Net.plain
        self.hidden = nn.Linear(2, 3, activation=ad.tanh, seed=0)
        self.block = nn.Linear(3, 3, activation=ad.relu, seed=1)
        self.out = nn.Linear(3, outputs, seed=2)
        self.square = nn.Linear(2, 2, seed=3)
        self.w, self.b, self.fixed = Vector([0.1, -0.2]), Value(0.5), Value(2.0)
        self.fixed.requires_grad = False
        self.calls, self.notes = 0, []
        self.rng = random.Random(0)
        halved, other = self.hidden.weight / 2.0, nn.Linear(2, 1, seed=4)
        self.project = lambda x: halved @ x
        row, bias = ad.tanh(other.weight[0]), other.bias[0] * 2.0  # of what is not trained
        self.pretrained = lambda x: ad.dot(row, x) + bias

    @functools.cached_property
    def columns(self):
        return self.hidden.weight.T  # the same Values

    def plain(self, x):
        return self.out(self.hidden(x))

    def forward(self, x):
        return self.row(self, x)


def training(row):
    """What a row gives to fit, made anew."""
    random.seed(0)
    np.random.seed(0)
    arguments = len(inspect.signature(row).parameters)
    if arguments == 2:
        return {"model": Net(row)}
    if arguments == 3:
        model = Net(outputs=3)
        return {"model": model, "loss": partial(row, model), "targets": CLASSES}
    return row()


def rows(table):
    return {name: row for name, row in vars(table).items() if not name.startswith("_")}


# -- Pure -----------------------------------------------------------------------------------------


def fresh(x):
    """An operation made anew in each call, which closes over a number."""
    factor = 0.5

    @ad.operation
    def scaled(x):
        return x * factor, lambda grad: (grad * factor,)

    return scaled(x)


def far(p, t):
    return (p[0] - t) ** 2


def losing(loss, targets=NUMBERS, outputs=1, result=lambda y, x: y, **more):
    model = lambda m, x: result(m.plain(x), x)  # noqa: E731
    return lambda: {"model": Net(model, outputs), "loss": loss, "targets": targets, **more}


def one_against_all(p, t):
    """What one would not write for a sum: the list is changed."""
    p[t] -= 1.0
    return sum(y * y for y in p)


def extending(p, t):
    p["all"] += [p["two"][1].pop() * t]
    p["two"][1].append(p["all"][-1] + p["two"][0][0])
    p["three"] = p["two"][1]
    return (p["all"][0] + p["all"][1] + p["three"][0] - t) ** 2


PAIRS = np.array([[y, -y] for y in NUMBERS])
SMOOTH = np.array([[0.5, 0.5], [0.0, 1.0]])
UNLABELLED = [None, *NUMBERS[1:]]

PURE = {
    # models
    "cached_property": lambda m, x: m.out((x @ m.columns + m.hidden.bias).map(ad.tanh)),
    "fresh_generator": lambda m, x: m.plain(x + np.random.default_rng(5).choice([-1, 1], 2)),
    "partial_function": lambda: {"model": partial(operator.matmul, w := Vector([0.1, 0.2])), "parameters": w},
    "operation_made_anew": lambda m, x: m.plain(x).map(fresh),
    "computed_in_forward": lambda m, x: (m.b * Matrix([[1.0, 2.0]]).requires_grad_(False)) @ x * m.fixed,
    "computed_of_what_is_not_trained": lambda m, x: m.w * m.pretrained(x) @ x,
    "numpy_constants": lambda m, x: m.plain(SMOOTH @ ((np.array(x, object) - 0.1) / 0.5)),
    "choices": lambda m, x: m.out(m.hidden(x).map(lambda v: ad.where(ad.less(0.0, v), v, 0.1 * v))),
    "branch_on_a_constant": lambda m, x: m.plain(x) if m.fixed > 0 else x,
    "derivative_at_a_number": lambda m, x: m.plain(x) * ad.grad(lambda t: ad.sin(t * x[0]))(0.5),
    # what they return
    "a_list_of_which_losses_pop": losing(lambda p, t: p.pop(t) ** 2 + nn.mse_loss(p, [0.5, 1.0]), CLASSES, 3, lambda y, x: [*y]),
    "a_list_that_losses_write": losing(one_against_all, [0] * 19 + [1], 3, lambda y, x: [*y]),
    "lists_that_losses_extend": losing(extending, NUMBERS, 2, lambda y, x: {"all": [y[0]], "two": (y, [y[1]])}),
    "an_array_that_losses_write": losing(one_against_all, CLASSES, 3, lambda y, x: np.array(y, object)),
    "a_list_with_a_float": losing(lambda p, t: far(p, p[1] * t), outputs=2, result=lambda y, x: [y[0], 0.5]),
    "a_dict": losing(lambda p, t: (p["a"] - p["b"][0] - t) ** 2, outputs=2, result=lambda y, x: {"a": y[0], "b": [y[1]]}),
    "a_matrix": losing(lambda p, t: ((p - t) * (p - t)).sum(), outputs=2, result=lambda y, x: Matrix([[y[0], y[1]], [y[1], y[0]]])),
    "a_generator": losing(lambda p, t: sum((y - t) ** 2 for y in p), outputs=2, result=lambda y, x: (each * 2.0 for each in y)),
    # losses and targets
    "vectors": losing(nn.mse_loss, [Vector(row) for row in PAIRS], 2),
    "computed": losing(nn.mse_loss, np.array(INPUTS) @ Vector([1.0, 2.0])),
    "computed_lists": losing(lambda p, t: far(p, t["a"][0] * t["b"]), [{"a": [ad.sin(y)], "b": Value(y)} for y in NUMBERS]),
    "of_a_network_that_is_not_trained": losing(nn.mse_loss, [network()(x) for x in INPUTS]),
    "a_loss_that_is_a_vector_of_one": losing(lambda p, t: (p - t) * (p - t)),
    "one_class": losing(lambda p, t: nn.cross_entropy(p, 1), CLASSES, 3),
    "class_weights": lambda m, p, t: nn.cross_entropy(p, t) * [1.0, 2.0, 5.0][t],
    "centers_of_classes": lambda m, p, t: ((p - m.block.weight[t]) * (p - m.block.weight[t])).sum(),
    "label_smoothing": lambda m, p, t: nn.cross_entropy(p, [0.9 * (i == t) + 0.1 / 3 for i in range(3)]),
    "regularisation": lambda m, p, t: nn.cross_entropy(p, t) + 1e-2 * sum(w * w for w in m.parameters()) + m.out.weight.norm(),
    "branches_on_the_target": losing(lambda p, t: far(p, t) if t > 0 else 2.0 * abs(p[0] - math.exp(t)) + ad.exp(p[0])),
    "as_long_as_the_target_says": losing(lambda p, t: ad.tanh(sum([p[0]] * (1 + int(9 * abs(t))))) ** 2 * t),
    "a_kind_for_each_target": losing(lambda p, t: [p[0] * t, p[1] - t, abs(p[0]), Value(t)][int(9 * abs(t)) % 4], outputs=2),
    "told_apart_by_a_sign": losing(lambda p, t: far(p, math.copysign(1.0, t)), [0.0, -0.0] * 10),
    "several_outputs": losing(lambda p, t: nn.cross_entropy(p[0], t[0]) + nn.mse_loss(p[1], t[1]), [*zip(CLASSES, NUMBERS)], 3, lambda y, x: (y, y[0])),
    "outside_its_domain_for_targets_of_others": losing(lambda p, t: far([p[0]], 0.1 * ad.log(p[1] * t[0])), INPUTS, result=lambda y, x: (y[0], x[0])),
    "a_computed_constant": losing(lambda p, t: Value(0.0) * 1.0 if t is None else nn.mse_loss(p, t), UNLABELLED, batch_size=1),
}  # fmt: skip


class Pure:
    # what is kept, but depends on no number, or is not read while it trains

    def positions_computed_once(self, x):
        if self.encoding is None:
            self.encoding = ad.sin(Vector(range(len(x))).requires_grad_(False) / 10.0)
        return self.plain(x + self.encoding)

    def notes_of_activations(self, x):
        self.calls += 1
        for layer in (self.hidden, self.block, self.out):
            x = layer(x)
            self.notes.append(x)
        self.last = x
        return x

    # errors, scopes and threads

    def context_managers(self, x):
        with ad.scope("out"), contextlib.suppress(ValueError):
            return ad.log(-self.fixed)  # which depends on no leaf, and fails as ever
        return self.plain(x)

    def thread_pool(self, x):
        with ThreadPoolExecutor(2) as pool:
            one, two = pool.map(lambda layer: layer(x), [self.hidden, self.square])
        return self.out(one) * two[0]

    # losses

    def derivative_in_the_loss():
        model = nn.Sequential(nn.Linear(1, 3, activation=ad.tanh, seed=0), nn.Linear(3, 1, seed=1))

        def residual(x):  # of u' = -u
            return ad.grad(lambda t: model([t])[0])(x[0]) + model(x)[0]

        starts, loss = [[x] for x, _ in INPUTS], lambda p, t: p * p
        return {"model": residual, "loss": loss, "inputs": starts, "parameters": model.parameters()}


# -- Pure from callback to callback ---------------------------------------------------------------


def after(change, epoch=2):
    """What gives a model to fit, and a callback that changes it, its optimiser or a note later."""

    def given():
        note = {"weight": 1.0, "slope": 0.1}
        model, made = Net(lambda m, x: noted(m, x, note)), []

        def optimizer(p):
            made.append(ad.optim.SGD(p, lr=0.1, momentum=0.5, weight_decay=0.01))
            return made[0]

        def callback(history):
            if len(history.losses) in (epoch, 5):
                change(model, made[0], note, len(history.losses))

        loss = lambda p, t: note["weight"] * nn.mse_loss(p, t)  # noqa: E731
        chosen = {"optimizer": optimizer, "callback": callback, "epochs": 6}
        return chosen | {"model": model, "loss": loss, "validation": (INPUTS[:5], NUMBERS[:5])}

    return given


def noted(m, x, note):
    """A model of which everything may change."""

    @ad.operation
    def leaky(x):
        factor = ad.where(ad.less(0.0, x), 1.0, note["slope"])
        return x * factor, lambda grad: (grad * factor,)

    return (m.plain(x) + m.fixed).map(leaky)


def freezing(m, descent, note, epoch):
    m.hidden.weight.requires_grad_(epoch == 5)
    if epoch == 5:
        descent.state["velocity"][:] = 0.0


CHANGES = {
    "a rate": lambda m, descent, note, epoch: setattr(descent, "lr", descent.lr / 2),
    "a dict": lambda m, descent, note, epoch: note.update(weight=5.0),
    "a setting of an operation": lambda m, descent, note, epoch: note.update(slope=0.5),
    "an activation": lambda m, descent, note, epoch: setattr(m.hidden, "activation", ad.sin),
    "a constant": lambda m, descent, note, epoch: setattr(m.fixed, "data", 0.3),
    "a bias": lambda m, descent, note, epoch: setattr(m.out, "bias", Vector([1.0])),
    "the number of a bias": lambda m, descent, note, epoch: setattr(m.out.bias[0], "data", 1.0),
    "what is trained": freezing,
}
SPARSE = [[x, float(i == 12)] for i, (x, _) in enumerate(INPUTS)]


def defined(number):
    """As a cell of a notebook that is run with another number: `scaled` is new."""
    global scaled

    def scaled(x):
        return x * number

    scaled.__qualname__ = "scaled"


SETTINGS = {  # how a rule may come to a number that a callback changes
    "an attribute": lambda held: lambda x: (x * held.number, lambda grad: (grad * held.number,)),
    "the gradient's alone": lambda held: lambda x: (x * 0.5, lambda grad: (grad * held.number,)),
    "a function": lambda held: lambda x: (scaled(x), lambda grad: (scaled(grad),)),
    "another rule": lambda held: lambda x: (ad.operation(SETTINGS["an attribute"](held))(x), lambda grad: (grad,)),
}  # fmt: skip


def set_later(stated):
    """A setting that counts for one sample, and that a callback changes."""

    def given():
        defined(0.1)
        held = SimpleNamespace(number=0.1)

        def callback(history):
            held.number = 0.1 if len(history.losses) < 2 else 0.9
            defined(held.number)

        model = Net(lambda m, x: m.plain(x) + x[1] * stated(held)(m.b))
        return {"model": model, "inputs": SPARSE, "callback": callback, "epochs": 6}

    return given


def of_floats(held):
    """Its result is that of a function of floats, of which there is another later."""
    return ad.operation(scaled, domain="")(lambda x: (scaled(x), lambda grad: (grad * 0.5,)))


PURE |= rows(Pure) | {name: after(change) for name, change in CHANGES.items()}
PURE |= {
    f"{name} of a rule": set_later(lambda held, rule=rule: ad.operation(rule(held)))
    for name, rule in SETTINGS.items()
}
PURE["a function of floats of an operation"] = set_later(of_floats)


@pytest.mark.parametrize("name", PURE)
def test_what_is_pure_is_compiled_and_is_the_loop_by_hand(name):
    same(lambda: training(PURE[name]))


@pytest.mark.parametrize("engine", ["compiled", "eager"])
def test_a_target_that_a_loss_changes_is_whole_the_next_time(engine):
    """By hand the second epoch would find an empty list."""

    def popping(p, t):
        t["of"].sort()
        return nn.mse_loss(p, [t["of"].pop()])

    targets = [{"of": [y, -2.0]} for y in NUMBERS]
    changed = fitted(targets=targets, loss=popping, engine=engine)
    assert left(*changed) == left(*fitted(targets=NUMBERS, engine=engine))
    assert targets[3] == {"of": [NUMBERS[3], -2.0]}


# -- Impure, or looking ---------------------------------------------------------------------------

WRITES = "line [0-9]+ of test_purity.py, (.*), writes a number that a graph was made of; make"
LOOKS = "line [0-9]+ of test_purity.py, (.*), looks at a number, which varies; write where"
DIFFERS = "two samples gave different graphs or numbers: a model and a loss are pure"
KEPT = "what was computed in one call is used in the next: a model and a loss are pure"
WRONG = "in epoch [12] the program is wrong for sample .*; a model and a loss are pure"
FAILS = r"the program fails where walking does not, .* write log\(maximum"
UNKNOWN = ".* a number that is not known yet, .* write autodiff.maximum"


def guarded(p, t):
    """The logarithm of some samples fails, and the loss catches that."""
    try:
        return ad.log((p.sum() - 5.0) if t < 0 else 1.0) * 1e-9 + nn.mse_loss(p, t)
    except ValueError:
        return nn.mse_loss(p, t)


def looking(look):
    def model(m, x):
        look((y := m.plain(x))[0])  # looks
        return y

    return model


WAYS_TO_LOOK = [
    lambda y: y.data, bool, lambda y: y > 0.1,  # looks
    print, lambda y: f"{y:.1f}", lambda y: Vector([0.0, y]).data, lambda y: np.sort(np.array([y, 2.0 * y])),  # looks
]  # fmt: skip


IMPURE = {
    "branch_on_both": (lambda m, p, t: far(p, t) if t and p[t] < 1 else p[0] ** 2, LOOKS),  # looks
    "embedding": (lambda m, x: m.plain(m.square.weight[int(abs(x[1].data))] * x), LOOKS),  # looks
    "norm_by_numpy": (lambda m, x: m.plain(x) / np.linalg.norm(m.hidden.weight.data, 2), LOOKS),  # looks
    "copied_input": (lambda m, x: m.plain([copy.copy(v) for v in x]), LOOKS),  # looks
    "rule_that_branches": (lambda m, x: m.plain(x).map(chooser), UNKNOWN),
    "noise": (lambda m, x: m.plain([v + random.gauss(0, 0.1) for v in x]), DIFFERS),
    "stochastic_depth": (lambda m, x: m.plain(x) if m.rng.random() < 0.5 else m.w @ x, f"{DIFFERS}|{WRONG}"),
    "label_noise": (lambda m, p, t: nn.cross_entropy(p, t if m.rng.random() < 0.6 else 0), DIFFERS),
    "an_object_that_losses_write": (losing(lambda p, t: one_against_all(p.all, t), CLASSES, 3, lambda y, x: SimpleNamespace(all=[*y])), DIFFERS),
    "computed_weights": (lambda m, x: m.out(m.project(x)), KEPT),
    "logarithm_of_some_samples": (lambda: {"loss": guarded}, FAILS),
    "targets_that_cannot_be_told_apart": (lambda: {"loss": lambda p, t: far(p, t(1.0)), "targets": [lambda y: y] * 20}, "a target cannot be told from others: .* local object"),
}  # fmt: skip


class Impure:
    def swallowed(self, x):
        try:
            return self.plain(x) if self.b > 0 else self.w @ x  # looks
        except:  # noqa: E722
            return self.plain(x)

    def carried_state(self, x):
        self.last = self.square([x[0], (self.last or [0.0])[0]])
        return self.plain(self.last)

    def pinned_weight(self, x):
        self.b.data = 0.5  # writes
        return self.plain(x) * self.b

    def written_input(self, x):
        x[1].data = 0.0  # writes
        return self.plain(x)

    def written_result(self, x):
        y = self.plain(x)[0] + 0.0
        y.data = 2.0  # writes
        return y * y

    def looks_in_a_thread(self, x):
        y = self.plain(x)
        with ThreadPoolExecutor(1) as pool:
            high = pool.submit(lambda: y[0].data > 0).result()
        return y if high else 0.1 * y

    def penalty_of_a_gradient(self, x):
        y = self.plain(x)[0]
        y.backward()  # looks
        return y + 0.1 * self.out.weight[0, 0].grad ** 2

    def frozen_for_a_while(self, x):
        self.b.requires_grad = False
        constant = ad.sin(self.b)
        self.b.requires_grad = True
        return self.plain(x) * constant * self.b

    def number_of_an_adjoint(self, x):
        y, b = ad.relu(self.plain(x))[0], self.out.bias[0]
        return y + 5.0 * (1.0 - adjoints(y, [b])[b])  # looks

    def adjoint_of_an_expression(self, x):
        y, b = self.plain(x)[0], self.out.bias[0]
        return y + 0.1 * ad.Expression(y * y).backpropagate([b])[b]  # looks

    def loss_that_takes_one_target(self, p, t):
        if p is self.last:
            raise RuntimeError("one prediction, two targets")
        self.last = p
        return nn.cross_entropy(p, t)


WHY = {
    **dict.fromkeys(("swallowed", "penalty_of_a_gradient", "number_of_an_adjoint", "adjoint_of_an_expression"), LOOKS),
    **dict.fromkeys(("pinned_weight", "written_input", "written_result"), WRITES),
    "frozen_for_a_while": "compile: found sin of a leaf that required no gradient then",
    "loss_that_takes_one_target": "RuntimeError: one prediction, two targets",
}  # fmt: skip
IMPURE |= {text_of(look) or look.__name__: (looking(look), LOOKS) for look in WAYS_TO_LOOK}
IMPURE |= {name: (row, WHY.get(name, DIFFERS)) for name, row in rows(Impure).items()}


@pytest.mark.parametrize("name", IMPURE)
def test_what_is_impure_is_walked_and_says_why(name):
    row, why = IMPURE[name]
    history, *others = fitted(**training(row), engine="auto", walks=f"fit walks .* slow: {why}")
    assert history.engine == "eager"
    assert re.match(why, history.reason)
    walked = left(history, *others)
    if why in (LOOKS, WRITES, KEPT, UNKNOWN, FAILS):  # and what was tried before has left nothing
        assert walked == left(*fitted(**training(row), engine="eager"))
    refused = {"model": network()} | training(row)
    before = {p: p.data for p in refused["model"].parameters()}
    words = f"^fit: the loss cannot be compiled: ({why})"
    with pytest.raises((ValueError, RuntimeError), match=words) as caught:
        fitted(**refused)
    if why != WRONG:
        assert before == {p: p.data for p in before}
    if why in (LOOKS, WRITES):
        line, text = re.search(
            r"line (\d+) of .*?, (.*), (?:looks at|writes) a", str(caught.value)
        ).groups()
        assert text.endswith(("# looks", "# writes"))
        assert LINES[int(line) - 1].strip() == text
