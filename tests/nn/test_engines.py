"""Programs are verified by walking a few samples; what is said where they are wrong, or diverge."""

import random
import re
import traceback

import numpy as np
import pytest
from tables import cases
from trainings import ENGINES, INPUTS, NUMBERS, fitted, left, network

import autodiff as ad
from autodiff import Value, nn, optim
from autodiff.compiler.program import Program
from autodiff.nn import fitting
from autodiff.nn.recording import Recording
from autodiff.nn.samples import Samples
from autodiff.nn.verification import Evaluator

# -- Verification ---------------------------------------------------------------------------------


class Changing(nn.Module):
    """A model that changes after some calls."""

    def __init__(self, calls, training=True):
        self.inner, self.calls, self.counts = nn.Linear(2, 1, seed=0), calls, training
        self.called = 0

    def forward(self, x):
        self.called += self.training == self.counts
        return self.inner(x) * (1.0 if self.called <= self.calls else 1.001)


WRONG = [(2, True, 1, 5), (4, True, 1, 5), (5, True, 2, 5), (6, True, 4, 20), (7, True, 8, 20), (5, False, 2, 2)]  # fmt: skip


@pytest.mark.parametrize(("calls", "training", "epoch", "epochs"), WRONG)
def test_a_program_that_is_wrong_is_walked_from_its_epoch_on(
    calls, training, epoch, epochs, monkeypatch
):
    """Recording takes two calls, and the first check three; a model may be pure in training alone.

    Where the check fails, one more sees that the graph has changed.
    """
    monkeypatch.setattr(fitting, "SHARE", 0)  # there is always time to verify
    chosen = {"epochs": epochs, "validation": None if training else (INPUTS[:9], NUMBERS[:9])}
    since = f"; results since epoch {epoch // 2}, when it was last right, may be wrong"
    words = f"in epoch {epoch} the program is wrong for sample .*: its loss is off by .*; a model and a loss are pure functions.* is passed in{since * (epoch > 1)}"
    with pytest.raises(RuntimeError, match=f"{words}; to walk it"):
        fitted(Changing(calls, training), **chosen)
    samples = 20 if training else 9
    what = "graph of every sample" if training else "graphs of the validation samples"
    walks = f"walks the {what}, which is slow: {words}$"
    history, model, _ = fitted(Changing(calls, training), engine="auto", walks=walks, **chosen)
    assert history.engine == ("eager" if training else "compiled")
    assert len(history.losses) == epochs
    assert model.called == calls + 2 + (epochs - epoch + 1) * samples


WALKED = [(id, 1e9, 3 + 9 + 1), (None, 0.0, 3 + 1 + 1 + 1 + 1), (None, 1e9, 3 + 1)]


@pytest.mark.parametrize(("callback", "share", "n"), WALKED)
def test_samples_that_are_walked(callback, share, n, monkeypatch):
    """Three in the first epoch, one in the last and after a callback, in 2, 4, 8, ... if quick."""
    monkeypatch.setattr(fitting, "SHARE", share)
    walks, compared = [], Evaluator.disagreement_at
    spy = lambda *given: walks.append(given[1]) or compared(*given)  # noqa: E731
    monkeypatch.setattr(Evaluator, "disagreement_at", spy)
    random.seed(0)
    for seed in (0, 0, 1):
        fitted(epochs=11, seed=seed, callback=callback)
    assert len(walks) == 3 * n
    assert walks[:n] == walks[n : 2 * n] != walks[2 * n :]
    assert random.random() == random.Random(0).random()


ROUNDING = r"; its graph is still as it was recorded, so this may be rounding \(a float32 .* or a fault of autodiff; to walk it"
OFF = [(0, 1e-4, f"epoch 1 .* sample .*: its derivative is off by .{{6,9}}{ROUNDING}"), (1e-6, 0, f"its loss is off by 1e-06{ROUNDING}")]  # fmt: skip


@pytest.mark.parametrize(("shift", "stretch", "words"), OFF)
def test_a_wrong_program_is_found(shift, stretch, words, monkeypatch):
    correct = ad.Expression.compile

    def wrong(self, *given, **more):
        def nudged(inputs, parameters):
            loss, gradients = run(inputs, parameters)
            gradients[3] *= 1 + stretch
            return loss + shift, gradients

        program = correct(self, *given, **more)
        run, program.runner = program.runner(), lambda: nudged
        return program

    monkeypatch.setattr(ad.Expression, "compile", wrong)
    with pytest.raises(RuntimeError, match=words):
        fitted()


def test_a_recording_is_current_for_as_many_parameters():
    """Also where the loss is a parameter, and the graph has no operation to tell."""
    p, q = Value(1.0), Value(5.0)
    made = Recording(lambda x: p, lambda y, t: y, Samples([[0.0]] * 2, [0.0] * 2), [p, q])
    assert [made.is_current(given) for given in ([p, q], [p], [q, p])] == [True, False, False]


@pytest.mark.parametrize("line", ["inputs.reshape(7, 11)", "assert len(inputs) in (1, 20)"])
def test_a_program_that_fails_is_a_fault_of_the_compiler(line, monkeypatch):
    """With any batch, or with those of the steps alone."""
    correct = ad.Expression.compile

    def broken(self, *given, **more):
        program = correct(self, *given, **more)
        lines = program.source.splitlines(True)
        after = next(i for i, text in enumerate(lines) if text.startswith("def program(")) + 1
        return Program("".join([*lines[:after], f"    {line}\n", *lines[after:]]), program._sizes)

    expected = left(*fitted(engine="eager"))
    predicted = [network()(x).data for x in INPUTS]
    monkeypatch.setattr(ad.Expression, "compile", broken)
    words = rf"the program fails in its line \d+, {re.escape(line)}, by (Value|Assertion)Error: .*; walking does not, so the fault is autodiff's, not the model's"
    with pytest.raises(RuntimeError, match=f"{words}; to walk it: engine='eager'$") as caught:
        fitted()
    assert f"\n    {line}\n" in "".join(traceback.format_exception(caught.value))
    assert left(*fitted(engine="auto", walks=f"fit walks .* slow: {words}$")) == expected
    if "reshape" in line:
        with pytest.warns(nn.WalkingWarning, match=f"predict walks .* slow: {words}$"):
            assert nn.predict(network(), INPUTS).tolist() == predicted


def tabulated(x):
    if x == INPUTS[7][0]:
        raise LookupError("not in the table")
    return 2.0 * x


def test_what_an_operation_raises_is_not_the_fault_of_the_program_that_calls_it():
    table = ad.operation(tabulated, domain="")(lambda x: (table(x), lambda grad: (2.0 * grad,)))
    with pytest.raises(LookupError, match="not in the table"):
        fitted(lambda x: table(x[0]) * w, parameters=[w := Value(1.0)], engine="auto")


COMPILING = [lambda: fitted(engine="auto"), lambda: fitted(engine="compiled"), lambda: nn.predict(network(), INPUTS)]  # fmt: skip


@cases("program", COMPILING)
def test_a_fault_of_the_compiler_surfaces(program, monkeypatch):
    monkeypatch.setattr(ad.Expression, "compile", lambda *given, **more: {}["a fault"])
    with pytest.raises(KeyError, match="a fault"):
        program()


@pytest.mark.parametrize("classes", [50, 200])
def test_a_recording_grows_with_the_classes_not_with_their_square(classes):
    """What the losses of all targets have in common is recorded once, and merged once."""
    model = nn.Linear(2, classes, seed=0)
    samples = Samples(np.ones((classes, 2)), range(classes))
    made = Recording(model, nn.cross_entropy, samples, model.parameters())
    traced = made._take(0, made.examples).roots
    assert len(ad.topological_order(ad.sum(traced))) < 12 * classes
    assert len(ad.topological_order(made.root)) < 12 * classes
    assert made.table().shape == (classes, 2 + classes)


# -- Overflow -------------------------------------------------------------------------------------


@ENGINES
@pytest.mark.parametrize(("lr", "epoch"), [(1e200, 2), (1e308, 1)])
def test_a_step_that_overflows_is_not_made(engine, lr, epoch):
    """Of (w - 1)² and (2 w - 1)², from w = 2; also in the very last step."""
    model = nn.Linear(1, 1, bias=False, init=lambda n, m, rng: [[2.0]])
    chosen = {"inputs": [[1.0], [2.0]], "targets": [1.0, 1.0], "epochs": 9 if epoch > 1 else 1}
    words = f"diverged in epoch {epoch} .*(overflow|too large)"
    with pytest.raises(FloatingPointError, match=words):
        fitted(model, optimizer=lambda p: optim.SGD(p, lr=lr), engine=engine, **chosen)
    slope = (2 * 1.0 + 2 * 3.0 * 2.0) / 2
    assert model.weight.data[0] == [pytest.approx(2.0 - lr * slope if epoch > 1 else 2.0)]


def test_numpy_in_a_loss_that_is_walked_keeps_its_settings():
    """fit makes errors of its own overflows, not of the user's."""

    def loss(p, t):
        return nn.mse_loss(p, t) * float(np.divide(1.0, np.zeros(1))[0] > 0.0)

    with np.errstate(divide="ignore"):
        history, *_ = fitted(loss=loss, engine="eager")
    assert history.losses == fitted(engine="eager")[0].losses
