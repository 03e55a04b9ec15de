"""What `fit` makes of the models and losses of purity_models.py.

That a row belongs to its table is decided without `fit`: where a model and a loss are pure, programs
of the first sample give the loss and the derivatives of every sample, now and later.
"""

import re
import warnings
from pathlib import Path

import purity_models
import pytest
from purity_models import IMPURE, PURE, training

import autodiff as ad
from autodiff import nn, optim
from autodiff.nn.samples import constants

LINES = Path(purity_models.__file__).read_text().splitlines()
ROWS = [(contract, name) for contract, table in IMPURE.items() for name in table]
of_pure = pytest.mark.parametrize("name", PURE)


def parameters(made):
    return list(made.parameters or made.model.parameters())


def loss_of(made, x, target):
    found = made.loss(made.model(x), target)
    return found if isinstance(found, ad.Value) else found[0]


def serves_all(row, rounds):
    """Whether programs of the first input give the loss and derivatives of every sample."""
    made, history = training(row), nn.History()
    trained, samples = parameters(made), [*zip(made.inputs, made.targets)]
    programs = []
    for _, target in samples:
        root = loss_of(made, x := constants(made.inputs[0]), target)
        programs.append(ad.Expression(root).compile(x, trained))
    for _ in range(rounds):
        for p in trained:
            p.data += 0.01
        history.losses.append(1.0)
        if made.callback:
            made.callback(history)
        before = [p.data for p in trained]
        for program, (numbers, target) in zip(programs, samples):
            adjoint = ad.adjoints(root := loss_of(made, constants(numbers), target))
            value, gradients = program(*numbers, *before)
            if [root.data, *[adjoint.get(p, 0.0) for p in trained]] != close([value, *gradients]):
                return False
        if before != [p.data for p in trained]:
            return False
    return True


def close(numbers):
    return pytest.approx(numbers, rel=1e-9, abs=1e-12)


def fitted(row, engine="auto"):
    """What becomes of a training, "compiled", "walked" or "refused", why, and its numbers."""
    made = training(row)
    descent = optim.SGD(trained := parameters(made), lr=0.05, momentum=0.5)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            history = nn.fit(
                made.model, made.inputs, made.targets, made.loss, descent, epochs=4,
                progress=False, seed=0, engine=engine, callback=made.callback,
            )  # fmt: skip
            after = loss_of(made, constants(made.inputs[0]), made.targets[0])
            assert {float} == {*map(type, [after.data, *[p.data for p in trained]])}
        except BaseException as error:
            return "refused", f"{type(error).__name__}: {error}", []
    how = "walked" if warned or history.engine == "eager" else "compiled"
    why = "; ".join(str(each.message) for each in warned)
    return how, why, [*history.losses, *[p.data for p in trained]]


def by_hand(row):
    """The same numbers, by the loop that one would write."""
    made, losses = training(row), []
    descent = optim.SGD(trained := parameters(made), lr=0.05, momentum=0.5)
    for _ in range(4):
        descent.zero_grad()
        all_losses = [loss_of(made, constants(x), t) for x, t in zip(made.inputs, made.targets)]
        mean = ad.sum(all_losses) / len(all_losses)
        mean.backward()
        descent.step()
        losses.append(mean.data)
    return [*losses, *[p.data for p in trained]]


# -- The tables are right -------------------------------------------------------------------------


@of_pure
def test_what_is_called_pure_is_pure(name):
    assert serves_all(PURE[name], rounds=2)


@pytest.mark.parametrize(("contract", "name"), [row for row in ROWS if row[0] != "looks"])
def test_what_is_called_impure_is_not_pure(contract, name):
    assert not serves_all(IMPURE[contract][name], rounds=200)


# -- What fit does --------------------------------------------------------------------------------


@of_pure
def test_a_pure_model_is_compiled_and_is_the_loop_by_hand(name):
    expected = close(by_hand(PURE[name]))
    walked, compiled = (fitted(PURE[name], engine) for engine in ("eager", "auto"))
    assert (walked[0], walked[2]) == ("walked", expected), walked[1]
    assert (compiled[0], compiled[2]) == ("compiled", expected), compiled[1]


@pytest.mark.parametrize(("contract", "name"), ROWS)
def test_an_impure_model_keeps_its_contract(contract, name):
    how, why, numbers = fitted(row := IMPURE[contract][name])
    kept = how == "walked"
    if contract == "callback":
        kept = (how, numbers) == ("compiled", close(fitted(row, "eager")[2]))
    if contract == "named":
        kept = how != "refused"
    assert kept, f"{how}: {why}"
    if contract in ("looks", "found"):
        refused, words, _ = fitted(row, "compiled")
        assert refused == "refused"
        assert re.match("(ValueError|RuntimeError): fit: the loss cannot be compiled", words), words
    if contract == "looks":
        number, text = re.search(
            r"line (\d+) of purity_models.py, (.*), looks at a number", words
        ).groups()
        assert LINES[int(number) - 1].endswith("# looks")
        assert text in LINES[int(number) - 1]
