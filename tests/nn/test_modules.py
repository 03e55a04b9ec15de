"""Layers and their initial weights, what they hold, and their state."""

import copy
import functools
import json
import math
import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
from tables import cases, check_raises, raising

import autodiff as ad
from autodiff import Matrix, Value, Vector, nn, relu, tanh
from autodiff.nn import Linear, Module, Sequential
from autodiff.nn.modules import Parameter, _parts, in_mode


def network():
    return Sequential(Linear(2, 3, activation=tanh, seed=0), relu, Linear(3, 1, bias=False, seed=1))


# -- Layers ---------------------------------------------------------------------------------------


def test_a_layer_is_a_matrix_product_and_more():
    layer = Linear(2, 3, activation=tanh, seed=0)
    weight, x = np.array(layer.weight.data), np.array([0.5, -1.0])
    layer.load_state_dict({"weight": weight.tolist(), "bias": [1.0, 2.0, 3.0]})
    expected = np.tanh(weight @ x + [1, 2, 3])
    for given in (Vector(x), [0.5, -1.0], (0.5, -1.0), x):
        found = layer(given)
        assert type(found) is Vector
        assert found.data == pytest.approx(expected.tolist(), rel=1e-14)


@pytest.mark.parametrize("form", ["normal", "uniform"])
@pytest.mark.parametrize(("name", "variance"), [("he", 2 / 300), ("xavier", 2 / 400), ("lecun", 1 / 300)])  # fmt: skip
def test_the_variance_of_initial_weights(name, form, variance):
    """Of 30,000 draws: their variance and mean are within 5 of their own standard deviations."""
    weights = np.array(getattr(nn, f"{name}_{form}")(300, 100, random.Random(0)))
    assert weights.shape == (100, 300)
    assert np.var(weights) == pytest.approx(variance, rel=5 * math.sqrt(2 / 30_000))
    assert np.mean(weights) == pytest.approx(0, abs=5 * math.sqrt(variance / 30_000))
    assert form == "normal" or np.max(abs(weights)) <= math.sqrt(3 * variance)


def test_a_layer_of_a_seed_has_the_same_weights_again():
    before = random.getstate()
    one, again, other, *unseeded = (Linear(3, 3, seed=s).weight.data for s in (1, 1, 2, None, None))
    assert one == again != other
    assert one == Linear(3, 3, seed=np.int64(1)).weight.data
    assert unseeded[0] != unseeded[1]
    assert random.getstate() == before


def test_inputs_that_are_plain_numbers_get_no_gradient_and_values_keep_theirs():
    x = Value(2.0)
    (entry,) = Linear(2, 1, seed=0)([x, 1.0])
    leaves = [node for node in ad.topological_order(entry) if not node.parents]
    assert [leaf.data for leaf in leaves if not leaf.requires_grad] == [1.0]
    entry.backward()
    assert x.grad != 0.0


def test_modes_of_modules_and_of_a_block():
    net = Sequential(Sequential(nn.Dropout(0.5)), Linear(2, 1))
    parts = [net, *net.layers, net.layers[0].layers[0]]
    assert all(part.training for part in parts)
    for before in (True, False):
        assert net.train(before) is net
        for training in (True, False):
            with ThreadPoolExecutor() as pool:
                seen = in_mode(training, lambda: [part.training for part in parts])
                assert {*seen} == {training}
                elsewhere = in_mode(training, pool.map, lambda part: part.training, parts)
                assert {*elsewhere} == {before}
            assert {part.training for part in parts} == {before}


def test_a_frozen_dataclass_is_a_model():
    @dataclass(frozen=True, repr=False)
    class Frozen(Module):
        layer: Linear
        drop: nn.Dropout

        def forward(self, x):
            return self.drop(self.layer(x))

    model = Frozen(Linear(2, 1, seed=0), nn.Dropout(0.5))
    for training in (False, True):
        assert model.train(training).training == model.drop.training == training
    nn.fit(model, [[1.0, 2.0]], [3.0], nn.mse_loss, ad.optim.SGD(model.parameters(), lr=0.1), 1)


def test_a_module_may_hold_what_holds_it():
    model = Sequential(first := Linear(2, 1, seed=0), Linear(1, 1, seed=1))
    first.owner, model.parts = model, [model]
    assert len(model.parameters()) == 3 + 2
    assert [name for name, _ in first.named_parameters()][:2] == ["weight", "bias"]
    assert not model.eval().layers[0].training
    assert "1: Linear(in_features=1" in repr(model)


def test_a_repr_says_layers_and_parameters():
    last = "2: Linear(in_features=3, out_features=1, bias=False): 3 parameters"
    assert repr(network()).endswith(f"9 parameters\n  1: relu\n  {last}\n): 12 parameters")
    assert repr(nn.Dropout(0.25)) == "Dropout(p=0.25): 0 parameters"
    assert "\n  inner.1: Linear(" in repr(Holding(inner=[relu, LAYER]))


test_what_layers_refuse = raising(
    (lambda: Linear(0, 1), ValueError, "Linear: found in_features = 0, expected an integer >= 1"),
    (lambda: Linear(1, 2.0), ValueError, "Linear: found out_features = 2.0"),
    (lambda: Linear(1, 1, ad.tanh), TypeError, "Linear, bias: found ...tanh..., expected a bool; write activation=tanh"),
    (lambda: Linear(1, 1, init='he'), TypeError, "Linear, init: found 'he' of type str, expected a function, such as nn.he_normal"),
    (lambda: Linear(1, 1, seed=-1), ValueError, "Linear: found seed = -1, expected an integer >= 0"),
    (lambda: nn.Dropout(seed=0.5), ValueError, "Dropout: found seed = 0.5, expected an integer >= 0"),
    (lambda: Linear(1, 1, activation='relu'), TypeError, "Linear, activation: found 'relu' of type str, expected None or a function, such as autodiff.tanh"),
    (lambda: Linear(2, 1)([1.0]), ValueError, "Linear: found an input of shape (1,), expected (2,)"),
    (lambda: Linear(1, 1)(2.0), TypeError, "a layer: found 2.0 of type float, ... numbers: model([2.0])"),
    (lambda: Linear(2, 1)([[1.0, 2.0]] * 3), TypeError, "a layer: found 3 rows, ... nn.predict(model, xs)"),
    (lambda: Sequential([Linear(1, 1)]), TypeError, "Sequential: found ... of type list, expected a Module or a function; of a list write Sequential(*layers)"),
    (lambda: Sequential("relu"), TypeError, "Sequential: found 'relu' of type str, expected a Module or a function"),
    (lambda: Module()([1.0]), NotImplementedError, "Module has to define forward"),
    *[(lambda p=p: nn.Dropout(p), ValueError, f"Dropout: found p = {p}, expected 0 <= p < 1")
      for p in (-0.1, 1.0)],
)  # fmt: skip


# -- What a module holds --------------------------------------------------------------------------


class Holding(Module):
    def __init__(self, **held):
        vars(self).update(held)

    def forward(self, x):
        return x


A, B, LAYER = Value(1.0), Value(2.0), Linear(1, 1, bias=False, seed=0)
W = Linear(2, 3, seed=0).weight


HOLDING = [
    (network, "0.weight 0.bias 2.weight", 12),
    (lambda: Holding(grid=np.array([[A, B]]), layers=np.array([LAYER, None])), "grid.0.0 grid.0.1 layers.0.weight", 3),
    (lambda: Holding(layers=[[LAYER], {'b': (Vector([1.0]), {'c': B})}]), "layers.0.0.weight layers.1.b.0 layers.1.b.1.c", 3),
    (lambda: Holding(one=LAYER, two=LAYER), "one.weight two.weight", 1),
    (lambda: Holding(held={1.0, 'a'}), "", 0),
    # shared, transposed, frozen
    (lambda: Holding(w=W, t=W.T, part=Vector([W[0, 0], B]), frozen=Vector([A]).requires_grad_(False)), "w t part frozen", 6 + 1 + 1),
]  # fmt: skip


@cases(("make", "names", "count"), HOLDING)
def test_parameters_by_name_and_flat(make, names, count):
    model = make()
    assert " ".join([name for name, _ in model.named_parameters()]) == names
    assert [type(p) for p in model.parameters()] == [Value] * count


ONE_NAME = [
    (lambda: Holding(**{"a.b": A, "a": {"b": B}}), "a.b"),
    (lambda: Holding(held={1: A, "1": B}), "held.1"),
]


@cases(("make", "name"), ONE_NAME)
def test_two_parameters_of_one_name_are_refused(make, name):
    words = f"...: found two parameters called {name!r}, expected a name for each; rename one"
    for use in (Module.parameters, Module.state_dict, lambda model: model.load_state_dict({})):
        check_raises(lambda use=use: use(make()), ValueError, words)


def test_a_computed_weight_is_refused_by_the_optimiser():
    model = Module()
    for held in (2.0 * A, Vector([1.0, 2.0]).requires_grad_(False).mean()):
        for given in (held, [held], {"a": [1.0, (held,)]}):
            model.held = given
            with pytest.raises(TypeError, match="leaf Values: .* is computed belongs into forward"):
                ad.optim.SGD(model.parameters(), lr=0.1)


# -- State ----------------------------------------------------------------------------------------


KEYS = ["a", "b", "a.b", "0", 0, ""]


def tree(rng, depth=3):
    """A random tree of new parameters, and of what is none."""
    if not depth or rng.random() < 0.2:
        leaves = Value, lambda x: Vector([x, -x]), lambda x: Matrix([[x, 2 * x]]), float, str
        return rng.choice(leaves)(rng.gauss())
    branches = [tree(rng, depth - 1) for _ in range(rng.randrange(5))]
    named = dict(zip(rng.sample(KEYS, len(branches)), branches))
    return rng.choice(
        [branches, tuple(branches), named, Holding(**{f"{k}": named[k] for k in named})]
    )


def entries(tree):
    """The entries of a tree's parameters, read without their names."""
    if isinstance(tree, (Value, float, str)):
        return [tree] if isinstance(tree, Value) else []
    parts = vars(tree).values() if isinstance(tree, Module) else tree
    parts = tree.values() if isinstance(tree, dict) else parts
    return [x for part in parts for x in entries(part)]


def test_a_state_holds_every_parameter_of_every_tree_or_is_refused(seed):
    """Saved as JSON, or in arrays, and loaded, each number is again where it was."""
    rng, outcomes = random.Random(seed), {True: 0, False: 0}
    for _ in range(300):
        model = Holding(tree=tree(rng))
        names = [name for name, part in _parts(model, deep=True) if isinstance(part, Parameter)]
        legal = len({*names}) == len(names)
        outcomes[legal] += 1
        if not legal:
            check_raises(model.state_dict, ValueError, "Holding: found two parameters called")
            continue
        saved, parameters = json.dumps(model.state_dict()), entries(model)
        before = [p.data for p in parameters]
        for p in parameters:
            p.data = 0.0
        state = json.loads(saved)
        if rng.random() < 0.5:  # as np.load gives it
            state = {name: np.array(x) for name, x in state.items()}
        model.load_state_dict(state)
        assert [p.data for p in parameters] == before
    assert min(outcomes.values()) > 0


def nested(depth):
    """Lists in lists."""
    return functools.reduce(lambda inner, _: [inner], range(depth), 1.0)


def load(**changed):
    """A state with changes, by name with _ for a dot: an error, and nothing has changed."""
    model = network()
    before = model.state_dict()
    changed = {name.replace("_", ".").lstrip("."): x for name, x in changed.items()}
    try:
        model.load_state_dict({k: x for k, x in (before | changed).items() if x is not None})
    finally:
        assert model.state_dict() == before


test_loading_is_strict = raising(
    (lambda: load(_0_bias=None, extra=["ab"], _0_weight=[[1.0, 2.0]]), ValueError,
     "load_state_dict: 0.weight: found shape (1, 2), expected (3, 2); 0.bias: found shape None, expected (3,); extra: found shape (1,), expected None"),
    (lambda: load(_2_weight=[[1.0, 2.0, 'a']]), TypeError, "load_state_dict, 2.weight: found 'a' of type str"),
    (lambda: load(_0_bias=[[1.0], [2.0, 3.0], 4.0]), ValueError, "...0.bias: found shape (3, (1,), (2,), ()), expected"),
    (lambda: load(_0_bias=[1.0, 2.0, 10**400]), OverflowError, "load_state_dict, 0.bias: found an int too large for a float"),
    (lambda: load(_0_bias=nested(5000)), ValueError, "load_state_dict, 0.bias: found lists in lists without an end, expected numbers in lists"),
    (lambda: load(_0_bias=np.ma.array([1.0, 2.0, 3.0], mask=[0, 0, 1])), TypeError, "load_state_dict, 0.bias: found an array with masked"),
    (lambda: network().load_state_dict([1.0]), TypeError, "load_state_dict: found [1.0] of type list, expected a dict from names to numbers"),
    (lambda: load(_0_bias={7.0: 1.0}), TypeError, "load_state_dict, 0.bias: found {..., expected numbers"),
)  # fmt: skip


def test_models_copy_and_pickle():
    model = network()
    assert copy.copy(model).parameters() == model.parameters()
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other.state_dict() == model.state_dict()
        assert not set(other.parameters()) & set(model.parameters())
        assert other([1.0, 2.0]).data == model([1.0, 2.0]).data
