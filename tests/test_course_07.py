"""What notebook 7 says about networks and optimisers, beyond what it prints."""

import math

import numpy as np
import pytest

from autodiff import Value, Vector, dot, finite_difference, relu, tanh
from autodiff.nn import Linear, Sequential, he_normal
from autodiff.optim import SGD, Adagrad, Adam, RMSprop


def test_weights_twice_as_large_double_each_layer_exactly():
    def signals(factor):
        init = lambda n, m, rng: [[factor * w for w in row] for row in he_normal(n, m, rng)]  # noqa: E731
        outs = [Vector([1.0, -2.0, 0.5])]
        for seed in range(10):
            outs.append(Linear(3, 3, activation=relu, init=init, seed=seed)(outs[-1]))
        dot([1.0, 2.0, 3.0], outs[-1]).backward()
        return [out.data for out in outs], [out.grad for out in outs]

    there, back = map(np.array, signals(1.0))
    there_twice, back_twice = map(np.array, signals(2.0))
    passed = np.arange(11)[:, None]
    assert np.array_equal(there_twice, there * 2.0**passed)
    assert np.array_equal(back_twice, back * 2.0 ** (10 - passed))
    assert there[-1].any()


def test_a_layer_used_twice_is_one_parameter_with_the_sum_of_both_gradients():
    shared = Linear(1, 1, bias=False)
    shared.load_state_dict({"weight": [[0.8]]})
    twice = Sequential(shared, tanh, shared)
    twice([1.0])[0].backward()
    assert len(twice.parameters()) == 1
    by_nudge = finite_difference(lambda w: w * math.tanh(w), 0.8)
    assert shared.weight.grad[0][0] == pytest.approx(by_nudge, rel=1e-8)  # of central differences


def test_a_way_around_tiny_layers_keeps_the_gradient():
    tiny = lambda n, m, rng: [[0.001 * w for w in row] for row in he_normal(n, m, rng)]  # noqa: E731
    layers = [Linear(5, 5, activation=tanh, init=tiny, seed=seed) for seed in range(20)]
    x = Vector([1.0, -2.0, 0.5, 0.3, 0.1])
    out = x
    for layer in layers:
        out = out + layer(out)
    out.sum().backward()
    assert np.allclose(x.grad, 1.0, atol=0.1)  # 20 layers add 0.001 each, more or less


def path(make, factor=1.0, steps=60):
    """x²/20 + y², times a factor, from (-8, 2)."""
    x, y = Value(-8.0), Value(2.0)
    optimizer, points = make([x, y]), [(-8.0, 2.0)]
    for _ in range(steps):
        optimizer.zero_grad()
        (factor * (x**2 / 20 + y**2)).backward()
        optimizer.step()
        points.append((x.data, y.data))
    return np.array(points)


@pytest.mark.parametrize(
    ("make", "first"),
    [
        (lambda p: Adagrad(p, lr=1.5), 1.5),
        (lambda p: RMSprop(p, lr=0.15), 1.5),
        (lambda p: Adam(p, lr=0.5), 0.5),
    ],
)
def test_adaptive_optimisers_see_no_scale(make, first):
    points = path(make)
    assert np.allclose(abs(points[1] - points[0]), first)
    assert np.allclose(path(make, 1000.0), points, atol=1e-4)  # all but ε, which is not scaled


def test_sgd_shrinks_each_coordinate_by_its_curvature():
    steps = np.arange(61)
    x, y = path(lambda p: SGD(p, lr=0.9)).T
    assert np.allclose(x, -8 * (1 - 0.9 * 0.1) ** steps)
    assert np.allclose(y, 2 * (1 - 0.9 * 2.0) ** steps)


def test_momentum_with_the_best_settings_takes_a_third_of_the_steps():
    low, high = math.sqrt(0.1), math.sqrt(2.0)
    momentum = ((high - low) / (high + low)) ** 2

    def arrival(make):
        return int(np.flatnonzero(np.hypot(*path(make, steps=200).T) >= 0.01)[-1]) + 1

    plain = arrival(lambda p: SGD(p, lr=2 / (0.1 + 2.0)))
    heavy = arrival(lambda p: SGD(p, lr=4 / (low + high) ** 2, momentum=momentum))
    assert 3 * heavy < plain
