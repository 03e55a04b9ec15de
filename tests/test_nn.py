"""Layers, losses, initialisers and the training loop."""

import copy
import json
import math
import pickle
import random
import statistics
from collections import deque

import mpmath
import numpy as np
import pandas as pd
import pytest
from rounding import EPSILON
from sklearn.datasets import make_moons

import autodiff
from autodiff import (
    Expression,
    Matrix,
    Value,
    Vector,
    check_gradients,
    grad,
    nn,
    optim,
    relu,
    sigmoid,
    tanh,
)
from autodiff.nn import Linear, Module, Sequential

# -- Modules ------------------------------------------------------------------------------------


def network():
    return Sequential(Linear(2, 3, activation=tanh, seed=0), relu, Linear(3, 1, bias=False, seed=1))


def test_a_layer_is_a_matrix_product_and_more():
    layer = Linear(2, 3, activation=tanh, seed=0)
    weight, x = np.array(layer.weight.data), np.array([0.5, -1.0])
    layer.load_state_dict({"weight": weight.tolist(), "bias": [1.0, 2.0, 3.0]})
    expected = np.tanh(weight @ x + [1, 2, 3])
    for given in (Vector(x), [0.5, -1.0], (0.5, -1.0), x):
        found = layer(given)
        assert type(found) is Vector
        assert found.data == pytest.approx(expected.tolist(), rel=1e-14)


def test_a_layer_with_one_output_gives_a_vector():
    assert Linear(2, 1, seed=0)([1.0, 2.0]).shape == (1,)
    assert Sequential(Linear(2, 1, seed=0), Linear(1, 1, seed=1))([1.0, 2.0]).shape == (1,)


def test_inputs_that_are_plain_numbers_get_no_gradient_and_values_keep_theirs():
    x = Value(2.0)
    Linear(2, 1, seed=0)([x, 1.0])[0].backward()
    assert x.requires_grad
    assert x.grad != 0.0
    (entry,) = Linear(1, 1, seed=0)([1.0])
    leaves = [node for node in autodiff.topological_order(entry) if not node.parents]
    assert sum(not leaf.requires_grad for leaf in leaves) == 1


@pytest.mark.parametrize("activation", [relu, tanh, sigmoid, autodiff.softplus, lambda v: v * v])
def test_any_function_of_one_number_is_an_activation(activation):
    layer = Linear(2, 2, activation=activation, seed=3)
    plain = Linear(2, 2, seed=3)
    assert layer([1.0, 2.0]).data == [activation(z).data for z in plain([1.0, 2.0])]


def test_parameters_by_name_and_flat():
    model = network()
    assert [name for name, _ in model.named_parameters()] == ["0.weight", "0.bias", "2.weight"]
    assert len(model.parameters()) == 6 + 3 + 3
    assert all(type(p) is Value for p in model.parameters())
    shared = Linear(1, 1, seed=0)
    assert len(Sequential(shared, shared).parameters()) == 2


def test_modules_of_ones_own():
    class Residual(Module):
        def __init__(self, n):
            self.scale = Value(0.5)
            self.inner = [Linear(n, n, seed=i) for i in range(2)]

        def forward(self, x):
            y = x
            for layer in self.inner:
                y = layer(y)
            return x + self.scale * y

    model = Sequential(Residual(2))
    names = [name for name, _ in model.named_parameters()]
    assert names == [
        "0.scale",
        "0.inner.0.weight",
        "0.inner.0.bias",
        "0.inner.1.weight",
        "0.inner.1.bias",
    ]
    model(Vector([1.0, 2.0])).sum().backward()
    assert all(p.grad != 0.0 for p in model.parameters())
    model.zero_grad()
    assert all(p.grad == 0.0 for p in model.parameters())
    assert model.state_dict()["0.scale"] == 0.5
    with pytest.raises(NotImplementedError, match="Module has to define forward"):
        Module()([1.0])


class Holding(Module):
    def __init__(self, **held):
        vars(self).update(held)

    def forward(self, x):
        return x


def test_parameters_in_arrays_of_objects_and_deques():
    a, b, c = Value(1.0), Value(2.0), Linear(1, 1, bias=False, seed=0)
    model = Holding(grid=np.array([[a, b]]), layers=np.array([c, None]), row=deque([b]))
    names = ["grid.0", "grid.1", "layers.0.weight", "row.0"]
    assert [name for name, _ in model.named_parameters()] == names
    assert model.parameters() == [a, b, *c.parameters()]


def test_parameters_without_a_lasting_name_are_refused():
    for part in (Value(1.0), Linear(1, 1)):
        with pytest.raises(TypeError, match="held: found a set, expected a list or a dict"):
            Holding(held={part}).parameters()
    assert Holding(held={1.0, "a"}).parameters() == []


SCALE, DATA = Value(0.5), Vector([1.0, 2.0]).requires_grad_(False)
COMPUTED = {
    "a Value": 2.0 * SCALE,
    "a Vector": SCALE * Vector([1.0, 2.0]),
    "a Matrix": 0.1 * Matrix([[1.0, 2.0]]),
    "a Vector in part": Vector([SCALE, 2.0 * SCALE]),
    "of constants": DATA.mean(),
    "a gradient": autodiff.adjoints(SCALE**3, create_graph=True)[SCALE],
}


@pytest.mark.parametrize("name", COMPUTED)
def test_a_computed_weight_is_refused_where_it_is_assigned(name):
    held = COMPUTED[name]
    kind = type(held).__name__
    refused = rf"held.*: found a {kind} that was computed, expected a leaf.*write {kind}\(w.data\)"
    model = Module()
    for given in (held, [held], {"a": [1.0, (held,)]}, deque([held])):
        with pytest.raises(ValueError, match=f"Module.{refused}"):
            model.held = given
        assert not hasattr(model, "held")
    model.held = [kind]
    model.held.append({"late": held})
    for look in (Module.named_parameters, Module.parameters, Module.zero_grad, Module.state_dict):
        with pytest.raises(ValueError, match=f"Module.held.1.late{refused[4:]}"):
            look(model)
    with pytest.raises(ValueError, match=f"Sequential.0.held.1.late{refused[4:]}"):
        Sequential(model).parameters()
    model.held = type(held)(held.data)  # as the message says
    assert model.state_dict() == {"held": held.data}


def test_looking_at_parameters_changes_no_graph():
    scale, model = Value(1.0), Module()
    model.held = []
    model.held.append(scale * Vector([1.0, 2.0, 3.0]))
    y = model.held[0] @ Vector([4.0, 2.0, 1.0])
    with pytest.raises(ValueError, match=r"Module.held.0: found a Vector that was computed"):
        model.parameters()
    y.backward()
    assert scale.grad == 11.0


def test_weights_may_be_shared_transposed_and_frozen():
    first, last = Linear(2, 3, seed=0), Linear(3, 2, seed=1)
    last.weight = first.weight.T
    last.bias = Vector([first.weight[0, 0], Value(1.0)])
    first.bias = first.bias[:3].requires_grad_(False)
    assert len(Sequential(first, last).parameters()) == 6 + 3 + 1

    def squared(w):
        last.held = w
        return last.held**2

    assert [d(squared)(3.0) for d in (grad, autodiff.jacfwd)] == [6.0, 6.0]


def test_what_init_computes_is_refused_too():
    with pytest.raises(ValueError, match="Linear.weight: found a Matrix that was computed"):
        Linear(2, 1, init=lambda n, m, rng: 0.1 * Matrix([[1.0] * n] * m))


def test_a_result_that_a_layer_keeps_is_refused():
    """An activation for a plot: its numbers are enough. Kept, it would be trained as a weight."""

    class Keeping(Module):
        def __init__(self, number):
            self.inner, self.number = Linear(2, 1, seed=0), number

        def forward(self, x):
            y = self.inner(x)
            self.last = self.number(y)
            return y

    with pytest.raises(ValueError, match=r"Keeping.last: found a Vector .*, or keep its .data"):
        Keeping(lambda y: y)([1.0, 2.0])
    model = Keeping(lambda y: y.data)
    assert model([1.0, 2.0]).data == model.last
    assert len(model.parameters()) == 3


def test_state_goes_through_json():
    model, other = network(), network()
    for p in other.parameters():
        p.data += 1.0
    model.load_state_dict(json.loads(json.dumps(other.state_dict())))
    assert model.state_dict() == other.state_dict()
    assert model([1.0, 2.0]).data == other([1.0, 2.0]).data


def test_loading_is_strict_and_changes_nothing_on_error():
    model = network()
    before = model.state_dict()
    state = dict(before)
    del state["0.bias"]
    state["extra"] = [1.0]
    state["0.weight"] = [[1.0, 2.0]]
    with pytest.raises(
        ValueError,
        match=r"missing: 0.bias; unexpected: extra; 0.weight: found shape \(1, 2\), expected \(3, 2\)",
    ):
        model.load_state_dict(state)
    with pytest.raises(TypeError, match="load_state_dict, 2.weight: found 'a' of type str"):
        model.load_state_dict(before | {"2.weight": [[1.0, 2.0, "a"]]})
    with pytest.raises(ValueError, match="0.bias: found shape"):
        model.load_state_dict(before | {"0.bias": [[1.0], [2.0, 3.0], 4.0]})
    assert model.state_dict() == before


def test_states_hold_arrays_and_tables_but_no_dicts_and_sets():
    class Scale(Module):
        def __init__(self):
            self.factor, self.shift = Value(2.0), Vector([1.0])

    model = Scale()
    model.load_state_dict({"factor": np.array(5.0), "shift": np.array([6.0])})  # as np.load has it
    assert model.state_dict() == {"factor": 5.0, "shift": [6.0]}
    for shift in ({7.0: 1.0}, {7.0}):
        with pytest.raises(TypeError, match="load_state_dict, shift: found {.*, expected numbers"):
            model.load_state_dict({"factor": 1.0, "shift": shift})
    with pytest.raises(ValueError, match=r"shift: found shape \(1, 1\), expected \(1,\)"):
        model.load_state_dict({"factor": 1.0, "shift": pd.DataFrame([[4.0]])})
    assert model.state_dict() == {"factor": 5.0, "shift": [6.0]}


def test_models_copy_and_pickle():
    model = network()
    assert copy.copy(model).parameters() == model.parameters()
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other.state_dict() == model.state_dict()
        assert not set(other.parameters()) & set(model.parameters())
        assert other([1.0, 2.0]).data == model([1.0, 2.0]).data


def test_a_repr_says_layers_and_parameters():
    assert repr(network()) == (
        "Sequential(\n"
        "  0: Linear(in_features=2, out_features=3, activation=tanh): 9 parameters\n"
        "  1: relu\n"
        "  2: Linear(in_features=3, out_features=1, bias=False): 3 parameters\n"
        "): 12 parameters"
    )


def test_seeds():
    global_state = random.getstate()
    one, same, other = (Linear(3, 3, seed=s).weight.data for s in (1, 1, 2))
    assert one == same != other
    assert Linear(3, 3).weight.data != Linear(3, 3).weight.data
    model = Linear(1, 1, seed=0)
    nn.fit(
        model, [1, 2], [1, 2], nn.mse_loss, optim.SGD(model.parameters(), lr=0.1), 1, progress=False
    )
    assert random.getstate() == global_state


@pytest.mark.parametrize(
    ("attempt", "kind", "message"),
    [
        (lambda: Linear(0, 1), ValueError, "found in_features = 0, expected a positive integer"),
        (lambda: Linear(1, 2.0), ValueError, "found out_features = 2.0"),
        (
            lambda: Linear(1, 1, activation="relu"),
            TypeError,
            "activation: found 'relu' of type str, expected a",
        ),
        (
            lambda: Linear(1, 1, init=lambda i, o, r: [[1, 2]]),
            ValueError,
            r"shape \(1, 2\) from init",
        ),
        (
            lambda: Linear(2, 1)([1.0]),
            ValueError,
            r"found an input of shape \(1,\), expected \(2,\)",
        ),
        (
            lambda: Sequential([Linear(1, 1)]),
            TypeError,
            "Sequential: found .* of type list, expected",
        ),
    ],
)
def test_what_layers_refuse(attempt, kind, message):
    with pytest.raises(kind, match=message):
        attempt()


# -- Initialisers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "variance"),
    [("he", 2 / 300), ("xavier", 2 / (300 + 100)), ("lecun", 1 / 300)],
)
@pytest.mark.parametrize("form", ["normal", "uniform"])
def test_the_variance_of_initialisers(name, form, variance):
    rows = getattr(nn, f"{name}_{form}")(300, 100, random.Random(0))
    assert (len(rows), len(rows[0])) == (100, 300)
    weights = [w for row in rows for w in row]
    # of 30,000 draws; the sample variance is within 5 of its own standard deviations
    assert statistics.pvariance(weights) == pytest.approx(variance, rel=5 * math.sqrt(2 / 30_000))
    assert statistics.fmean(weights) == pytest.approx(0, abs=5 * math.sqrt(variance / 30_000))
    if form == "uniform":
        assert max(map(abs, weights)) <= math.sqrt(3 * variance)


# -- Losses -------------------------------------------------------------------------------------


def test_mse_loss():
    assert nn.mse_loss(Vector([1.0, 2.0]), [3.0, 5.0]).data == 6.5
    assert nn.mse_loss(Value(1.0), 3).data == nn.mse_loss(Vector([1.0]), 3).data == 4.0
    assert nn.mse_loss(Vector([1.0]), np.array([3.0])).data == 4.0
    for target in ({0: 1.0, 1: 2.0}, {1.0, 2.0}):
        with pytest.raises(TypeError, match=r"mse_loss, target: found {.*, expected numbers in"):
            nn.mse_loss(Vector([1.0, 2.0]), target)  # not its keys


def test_the_mse_loss_of_matrices_is_the_mean_over_all_entries():
    prediction, rows = (
        Matrix([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        [[1.0, 0.0, 3.0], [4.0, 5.0, 2.0]],
    )
    for target in (Matrix(rows), rows, np.array(rows), pd.DataFrame(rows), [*Matrix(rows)]):
        for given in (prediction, [*prediction]):
            loss = nn.mse_loss(given, target)
            assert loss.data == 20 / 6
            loss.backward()
            assert prediction.grad == [[0.0, 4 / 6, 0.0], [0.0, 0.0, 8 / 6]]
            prediction.zero_grad()


@pytest.mark.parametrize(
    ("prediction", "target", "shapes"),
    [
        (Vector([1.0, 2.0]), 1.0, r"\(2,\) and a target of shape \(\)"),
        (Vector([1.0, 2.0]), pd.DataFrame([[5.0, 6.0]]), r"\(2,\) and a target of shape \(1, 2\)"),
        (Matrix([[1.0], [2.0]]), [1.0, 2.0], r"\(2, 1\) and a target of shape \(2,\)"),
        (Matrix([[1.0, 2.0]]), [[1.0], [2.0]], r"\(1, 2\) and a target of shape \(2, 1\)"),
        (Matrix([[1.0]]), 1.0, r"\(1, 1\) and a target of shape \(\)"),
    ],
)
def test_the_mse_loss_of_different_shapes_is_refused(prediction, target, shapes):
    with pytest.raises(ValueError, match=f"mse_loss: found a prediction of shape {shapes}, expect"):
        nn.mse_loss(prediction, target)


@pytest.mark.parametrize(
    "loss",
    [
        nn.hinge_loss,
        nn.cross_entropy,
        nn.binary_cross_entropy_with_logits,
        lambda logits, target: nn.softmax(logits),
    ],
)
@pytest.mark.parametrize("rows", [[[1.0]], [[1.0, 2.0], [3.0, 4.0]]])
def test_losses_of_one_sample_refuse_a_matrix(loss, rows):
    for given in (Matrix(rows), [*Matrix(rows)], rows):
        with pytest.raises(
            ValueError, match=r"found numbers of shape \(., .\), .*; call it for each"
        ):
            loss(given, 1)
    if loss is not nn.cross_entropy:
        return
    with pytest.raises(ValueError, match=r"cross_entropy, target: found numbers of shape \(., .\)"):
        loss(Vector([1.0, 2.0]), Matrix(rows))


def test_hinge_loss():
    for score in (Value(0.25), Vector([0.25])):
        assert nn.hinge_loss(score, 1).data == 0.75
        assert nn.hinge_loss(score, -1).data == 1.25
    assert nn.hinge_loss(Value(3.0), 1).data == 0.0
    with pytest.raises(ValueError, match="found label 0.0, expected 1 or -1"):
        nn.hinge_loss(Value(1.0), 0)
    with pytest.raises(ValueError, match="hinge_loss, score: found 2 numbers, expected one"):
        nn.hinge_loss(Vector([1.0, 2.0]), 1)


def test_cross_entropy_with_an_index_a_row_or_a_vector():
    logits = [1.0, -2.0, 0.5]
    expected = -math.log(math.exp(-2) / sum(map(math.exp, logits)))
    for target in (1, np.int64(1), [0, 1, 0], np.array([0.0, 1.0, 0.0]), Vector([0, 1, 0])):
        assert nn.cross_entropy(Vector(logits), target).data == pytest.approx(expected, rel=1e-14)
    soft = nn.cross_entropy(Vector(logits), [0.5, 0.25, 0.25]).data
    by_class = [nn.cross_entropy(Vector(logits), i).data for i in range(3)]
    assert soft == pytest.approx(0.5 * by_class[0] + 0.25 * by_class[1] + 0.25 * by_class[2])


def test_the_gradient_of_cross_entropy_is_softmax_minus_target():
    logits = np.array([1.0, -2.0, 0.5])
    softmax = np.exp(logits) / np.exp(logits).sum()
    found = grad(lambda z: nn.cross_entropy(z, 2))(logits)
    assert found == pytest.approx(list(softmax - [0, 0, 1]), rel=1e-13)


@pytest.mark.parametrize("size", [1e3, 1e8])
def test_losses_from_logits_are_stable(size):
    assert nn.cross_entropy(Vector([size, -size]), 0).data == 0.0
    assert nn.cross_entropy(Vector([size, -size]), 1).data == 2 * size
    assert grad(lambda z: nn.cross_entropy(z, 1))([size, -size]) == [1.0, -1.0]
    for logit, target, value in ((size, 1, 0), (size, 0, size), (-size, 1, size), (-size, 0, 0)):
        assert nn.binary_cross_entropy_with_logits(Value(logit), target).data == value


def test_softmax_shares_among_large_logits():
    for size in (0.0, 1e3, 1e16, -1e16, 1e300):
        z = [size, size, size - 1e4 - abs(size)]
        for given in (z, Vector(z)):
            assert nn.softmax(given).data == [0.5, 0.5, 0.0]
        assert nn.softmax(np.array(z)).tolist() == [0.5, 0.5, 0.0]


@pytest.mark.parametrize("size", [0.0, 1e3, 1e16, -1e16, 1e300])
def test_large_logits_that_are_equal_share_the_probability(size):
    """logsumexp(z) - z[k] is 0.0 at 1e16, where floats are 2 apart."""
    z = [size, size, size - 1e4 - abs(size)]
    targets = [0, 1, [1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [1 / 3, 2 / 3, 0.0]]
    for target in targets:
        assert nn.cross_entropy(Vector(z), target).data == pytest.approx(math.log(2), rel=1e-15)
        program = Expression(nn.cross_entropy(x := Vector([0.1, 0.2, 0.3]), target)).compile(
            [x], wrt=[x], xp=np, batch=True
        )
        values, gradients = program(np.array([z]))
        assert values == pytest.approx(math.log(2), rel=1e-15)
        row = np.eye(3)[target] if isinstance(target, int) else target
        assert gradients[0] == pytest.approx([0.5, 0.5, 0.0] - np.array(row), abs=1e-15)


@pytest.mark.parametrize("logit", [1e16, -1e16, 700.0, -40.0, 30.0])
@pytest.mark.parametrize("target", [0.0, 0.25, 0.5, 1.0])
def test_the_binary_loss_of_large_logits(logit, target):
    found = nn.binary_cross_entropy_with_logits(Value(logit), target).data
    with mpmath.workdps(50):
        z = mpmath.mpf(logit)
        exact = mpmath.log1p(mpmath.exp(-abs(z))) + max(z, 0) - target * z
    assert found == pytest.approx(float(exact), rel=1e-15, abs=EPSILON * min(abs(logit), 700.0))


def test_binary_cross_entropy_with_logits():
    for z, t in ((0.3, 1), (0.3, 0), (-1.2, 0.25)):
        p = 1 / (1 + math.exp(-z))
        expected = -t * math.log(p) - (1 - t) * math.log(1 - p)
        assert nn.binary_cross_entropy_with_logits(Value(z), t).data == pytest.approx(expected)
        check_gradients(lambda z, t=t: nn.binary_cross_entropy_with_logits(z, t), z)
    with pytest.raises(ValueError, match="found target 2.0, expected 0 to 1"):
        nn.binary_cross_entropy_with_logits(Value(0.0), 2)


def test_targets_of_cross_entropy_that_do_not_fit():
    logits = Vector([1.0, 2.0])
    for target, message in [
        (2, "found class 2, expected 0 to 1: there are 2 logits"),
        (-1, "found class -1"),
        ([1, 0, 0], "found a target of 3 for 2 logits"),
        ([1, 1], r"found target \[1, 1\], expected probabilities that add up to 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            nn.cross_entropy(logits, target)


# -- fit ----------------------------------------------------------------------------------------


def line(n=12):
    xs = [i / n for i in range(n)]
    return xs, [2 * x + 1 for x in xs]


def trained(**arguments):
    model = Linear(1, 1, seed=0)
    xs, ys = line()
    chosen = {"epochs": 3, "progress": False, "seed": 0} | arguments
    history = nn.fit(model, xs, ys, nn.mse_loss, optim.SGD(model.parameters(), lr=0.1), **chosen)
    return model, history


def test_fit_is_the_loop_that_one_would_write():
    model, history = trained(epochs=5)
    xs, ys = line()
    other = Linear(1, 1, seed=0)
    losses = []
    optimizer = optim.SGD(other.parameters(), lr=0.1)
    for _ in range(5):
        optimizer.zero_grad()
        loss = sum(nn.mse_loss(other([x]), y) for x, y in zip(xs, ys)) / len(xs)
        loss.backward()
        optimizer.step()
        losses.append(loss.data)
    assert history.losses == pytest.approx(losses, rel=1e-13)
    assert [p.data for p in model.parameters()] == pytest.approx(
        [p.data for p in other.parameters()]
    )


def test_every_sample_is_seen_once_an_epoch_in_batches():
    seen, steps = [], []

    class Counting(optim.SGD):
        def step(self):
            steps.append(len(seen))
            super().step()

    def loss(prediction, target):
        seen.append(target)
        return nn.mse_loss(prediction, target)

    model = Linear(1, 1, seed=0)
    xs, ys = line(10)
    nn.fit(
        model,
        xs,
        ys,
        loss,
        Counting(model.parameters(), lr=0.01),
        2,
        batch_size=4,
        seed=1,
        progress=False,
        engine="eager",
    )
    assert steps == [4, 8, 10, 14, 18, 20]
    assert sorted(seen[:10]) == sorted(seen[10:]) == ys
    assert seen[:10] != seen[10:]


def test_the_seed_fixes_the_order():
    one, same, other = (trained(batch_size=2, seed=s)[1].losses for s in (1, 1, 2))
    assert one == same != other


def test_arrays_and_rows_are_inputs_alike():
    xs, ys = line()
    found = []
    for inputs in (xs, [[x] for x in xs], np.array(xs)[:, None], [Vector([x]) for x in xs]):
        model = Linear(1, 1, seed=0)
        history = nn.fit(
            model,
            inputs,
            np.array(ys),
            nn.mse_loss,
            optim.SGD(model.parameters(), lr=0.1),
            2,
            progress=False,
        )
        found.append(history.losses)
    assert found == [pytest.approx(found[0], rel=1e-14)] * 4


def test_an_interrupt_keeps_the_model_and_the_history():
    calls = []

    def loss(prediction, target):
        calls.append(1)
        if len(calls) == 30:
            raise KeyboardInterrupt
        return nn.mse_loss(prediction, target)

    model = Linear(1, 1, seed=0)
    xs, ys = line()
    descent = optim.SGD(model.parameters(), lr=0.1)
    history = nn.fit(model, xs, ys, loss, descent, 100, progress=False, engine="eager")
    assert len(history.losses) == 2
    assert all(math.isfinite(p.data) and p.grad == 0.0 for p in model.parameters())


def test_a_loss_that_is_nan_stops_and_names_the_epoch():
    model = Linear(1, 1, seed=0)
    xs, ys = line()
    before = []

    def loss(prediction, target):
        if len(before) == 24:  # the first of the third epoch
            return prediction[0] * math.nan
        before.append([p.data for p in model.parameters()])
        return nn.mse_loss(prediction, target)

    with pytest.raises(FloatingPointError, match="diverged in epoch 3 .*: the loss became nan"):
        nn.fit(
            model,
            xs,
            ys,
            loss,
            optim.SGD(model.parameters(), lr=0.1),
            10,
            progress=False,
            engine="eager",
        )
    assert all(math.isfinite(p.data) for p in model.parameters())


def test_a_training_that_diverges_names_the_epoch():
    model = Linear(1, 1, seed=0)
    xs, ys = line()
    optimizer = optim.SGD(model.parameters(), lr=1e6)
    with pytest.raises(
        FloatingPointError, match="diverged in epoch .* smaller learning rate.*too large"
    ):
        nn.fit(model, xs, ys, nn.mse_loss, optimizer, 100, progress=False)
    assert all(math.isfinite(p.data) and p.grad == 0.0 for p in model.parameters())


def test_a_progress_bar_counts_epochs(capsys):
    trained(epochs=4, progress=True)
    assert "4/4" in capsys.readouterr().err
    trained(epochs=4, progress=False)
    assert capsys.readouterr().err == ""


def test_the_history_plots():
    import matplotlib as mpl

    mpl.use("agg")
    _, history = trained()
    axes = history.plot()
    assert axes.lines[0].get_ydata().tolist() == history.losses
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("epoch", "loss")
    assert repr(history).startswith("History(3 epochs, loss ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"inputs": [1.0]}, "found 1 input and 12 targets"),
        ({"inputs": [], "targets": []}, "found 0 inputs and 0 targets"),
        ({"epochs": 0}, "found epochs = 0, expected a positive integer"),
        ({"batch_size": 0}, "found batch_size = 0"),
        ({"batch_size": 2.5}, "found batch_size = 2.5"),
    ],
)
def test_what_fit_refuses(arguments, message):
    xs, ys = line()
    model = Linear(1, 1, seed=0)
    given = {"inputs": xs, "targets": ys, "epochs": 1} | arguments
    with pytest.raises(ValueError, match=message):
        nn.fit(
            model,
            loss=nn.mse_loss,
            optimizer=optim.SGD(model.parameters(), lr=1),
            progress=False,
            **given,
        )


# -- Experiments --------------------------------------------------------------------------------


def test_two_moons_are_told_apart():
    xs, classes = make_moons(100, noise=0.1, random_state=1)
    labels = [1 if c else -1 for c in classes]
    model = Sequential(
        Linear(2, 16, activation=relu, seed=1),
        Linear(16, 16, activation=relu, seed=2),
        Linear(16, 1, seed=3),
    )
    optimizer = optim.Adam(model.parameters(), lr=0.02)
    nn.fit(
        model,
        xs,
        labels,
        nn.hinge_loss,
        optimizer,
        epochs=60,
        batch_size=25,
        seed=0,
        progress=False,
    )
    assert all((model(x)[0] > 0) == (label > 0) for x, label in zip(xs, labels))


def test_the_weights_of_a_linear_process_are_recovered():
    rng = np.random.default_rng(0)
    xs = rng.uniform(-1, 1, size=(10_000, 5))
    weights = rng.normal(-1, 1, size=5)
    ys = xs @ weights + rng.normal(0, 0.1, size=10_000)
    model = Linear(5, 1, bias=False, seed=0)
    optimizer = optim.SGD(model.parameters(), lr=0.05)
    nn.fit(model, xs, ys, nn.mse_loss, optimizer, epochs=3, batch_size=50, seed=0, progress=False)
    assert model.weight.data[0] == pytest.approx(list(weights), abs=0.01)


def test_a_mean_of_no_squares_is_refused():
    with pytest.raises(ValueError, match="mse_loss: found no numbers, expected at least one"):
        autodiff.nn.mse_loss([], [])


def test_an_input_is_not_made_a_parameter():
    class Keeping(Module):
        def forward(self, x):
            self.x = x
            return x * 2.0

    model = Keeping()
    with pytest.raises(ValueError, match="Keeping.x: found a Vector set in forward, .* keep its"):
        model(Vector([1.0]))
    assert model.parameters() == []
    model.x = Vector([1.0])  # outside
    assert len(model.parameters()) == 1
