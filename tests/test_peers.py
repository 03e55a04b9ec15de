"""Faults of neighbouring packages, none of which this one may have."""

import os
import subprocess
import sys

import numpy as np
import pytest

import autodiff
from autodiff import Value, draw, grad, nn, operation, optim, relu, sigmoid
from autodiff.graph import topological_order


def test_diamonds_need_a_topological_order():
    # recursive and breadth-first walks get 2 or 3 here
    a = Value(1.0)
    b = a + a
    c = b + b
    c.backward()
    assert a.grad == 4.0


def test_a_diamond_whose_branches_differ_in_length():
    x = Value(2.0)
    y = x * x
    z = y * x + y.exp() * x
    z.backward()
    assert x.grad == pytest.approx(grad(lambda x: x**3 + autodiff.exp(x * x) * x)(2.0), rel=1e-15)


def test_sum_of_a_thousand_losses_does_not_recurse():
    x = Value(1.0)
    sum([x * i for i in range(5000)]).backward()
    assert x.grad == 4999 * 5000 / 2


def test_backward_twice_doubles():
    a = Value(2.0)
    b = a * a
    c = b * 3
    c.backward()
    assert a.grad == 12.0
    c.backward()
    assert a.grad == 24.0  # micrograd and others: 36


def test_a_square_has_two_parents_and_two_edges():
    x = Value(3.0)
    y = x * x
    assert len(y.parents) == 2
    assert draw(y).source.count("n0:e -> n1:") == 2


def test_the_order_is_the_same_in_every_run():
    code = (
        "from autodiff import Value, topological_order\n"
        "x, y = Value(2.0), Value(3.0)\n"
        "z = (x * y + x) * (y - x) / (x * x + y * y)\n"
        "print([(n.op, n.data) for n in topological_order(z)])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1


def test_late_changes_of_a_leaf_do_not_change_its_graph():
    x, w = Value(2.0), Value(3.0)
    y = x * w
    w.data = -100.0
    y.backward()
    assert x.grad == 3.0


def test_sigmoid_of_large_numbers_does_not_overflow():
    assert sigmoid(-1000) == 0.0
    assert (Value(-1000.0).sigmoid().data, Value(1000.0).sigmoid().data) == (0.0, 1.0)


def test_tanh_of_large_numbers_does_not_overflow():
    assert Value(1e4).tanh().data == 1.0


@pytest.mark.parametrize("x", [0, 2.0, -1.5])
def test_a_power_of_zero_is_one_everywhere(x):
    v = Value(x)
    y = v**0
    y.backward()
    assert (y.data, v.grad) == (1.0, 0.0)


def test_variable_exponents():
    x, y = Value(3.0), Value(2.0)
    (x**y).backward()
    assert (x.grad, y.grad) == (6.0, pytest.approx(9 * np.log(3), rel=1e-15))
    z = Value(3.0)
    (2**z).backward()
    assert z.grad == pytest.approx(8 * np.log(2), rel=1e-15)


def test_reflected_operators_and_builtin_sum():
    v = Value(4.0)
    assert [(2 * v).data, (1 - v).data, (2 / v).data, (2**v).data, (1 + v).data] == [
        8,
        -3,
        0.5,
        16,
        5,
    ]
    assert sum([v, v]).data == 8.0


def test_an_array_never_hides_in_a_value():
    x = np.array([1.0, 2.0])
    for product in (Value(2) * x, x * Value(2)):
        assert [type(entry) for entry in product] == [Value, Value]
        assert [entry.data for entry in product] == [2.0, 4.0]
    for attempt in (lambda: Value(x), lambda: autodiff.sum([Value(1), x])):
        with pytest.raises(TypeError, match="type ndarray, expected one real number"):
            attempt()


def test_numpy_integers_are_exponents():
    assert (Value(3.0) ** np.int64(2)).data == 9.0


def test_relu_at_zero_has_derivative_zero():
    x = Value(0.0)
    x.relu().backward()
    assert x.grad == 0.0


def test_a_wrong_rule_is_caught():
    @operation
    def log_without_derivative(x):
        return autodiff.log(x), lambda grad: (0.0,)

    with pytest.raises(AssertionError, match="disagree"):
        autodiff.check_gradients(log_without_derivative, 2.0)


def test_drawing_before_backward_shows_no_misleading_zeros():
    y = Value(2.0) * 3
    assert "grad" not in draw(y).source
    y.backward()
    assert "grad" in draw(y).source


def test_thousands_of_nodes_are_not_drawn():
    y = Value(1.0)
    for _ in range(1000):
        y = y + 1
    with pytest.raises(ValueError, match=r"found 2001 nodes, expected at most 300.* draw\(node\)"):
        draw(y)


def test_an_inner_derivative_leaves_nothing_on_an_outer_variable():
    x = Value(3.0)
    grad(lambda y: y * x)(2.0)
    assert x.grad == 0.0
    assert len(topological_order(x)) == 1


# A network as it is written in lectures on micrograd: by hand, of single numbers.
LECTURE = """
import random
from autodiff import Value


class Neuron:
    def __init__(self, nin):
        self.w = [Value(random.uniform(-1, 1)) for _ in range(nin)]
        self.b = Value(random.uniform(-1, 1))

    def __call__(self, x):
        act = sum((wi * xi for wi, xi in zip(self.w, x)), self.b)
        return act.relu() + 0.1 * act

    def parameters(self):
        return self.w + [self.b]


class Layer:
    def __init__(self, nin, nout):
        self.neurons = [Neuron(nin) for _ in range(nout)]

    def __call__(self, x):
        outs = [n(x) for n in self.neurons]
        return outs[0] if len(outs) == 1 else outs

    def parameters(self):
        return [p for neuron in self.neurons for p in neuron.parameters()]


class MLP:
    def __init__(self, nin, nouts):
        sizes = [nin] + nouts
        self.layers = [Layer(sizes[i], sizes[i + 1]) for i in range(len(nouts))]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def parameters(self):
        return [p for layer in self.layers for p in layer.parameters()]


random.seed(1)
n = MLP(3, [4, 4, 1])
xs = [[2.0, 3.0, -1.0], [3.0, -1.0, 0.5], [0.5, 1.0, 1.0], [1.0, 1.0, -1.0]]
ys = [1.0, -1.0, -1.0, 1.0]
losses = []
for k in range(20):
    ypred = [n(x) for x in xs]
    loss = sum((yout - ygt) ** 2 for ygt, yout in zip(ys, ypred))
    for p in n.parameters():
        p.grad = 0.0
    loss.backward()
    for p in n.parameters():
        p.data += -0.02 * p.grad
    losses.append(loss.data)
"""


def test_a_network_of_the_lectures_trains_with_one_import_changed():
    here, there = {}, {}
    exec(LECTURE, here)
    assert here["losses"][-1] < 0.7 * here["losses"][0]
    assert len(here["n"].parameters()) == 41
    exec(LECTURE.replace("from autodiff import", "from micrograd.engine import"), there)
    assert here["losses"] == pytest.approx(there["losses"], rel=1e-12)  # rounding of 20 steps


def test_what_the_readme_says_to_users_of_micrograd():
    x, y = Value(3.0, label="x"), Value(4.0)
    z = x * y
    assert (z.parents, z.op, (x * x).parents) == ((x, y), "*", (x, x))
    assert z._backward(10.0) == (40.0, 30.0)
    assert (x.grad, y.grad) == (0.0, 0.0)  # it has changed nothing
    assert topological_order(z) == [x, y, z]
    model = nn.Sequential(nn.Linear(2, 16, activation=relu, seed=0), nn.Linear(16, 1, seed=1))
    assert len(model.parameters()) == 16 * 3 + 17
    before = [p.data for p in model.parameters()]
    model([1.0, 2.0])[0].backward()
    by_hand = [p.data - 0.1 * p.grad for p in model.parameters()]
    optim.SGD(model.parameters(), lr=0.1).step()
    assert [p.data for p in model.parameters()] == by_hand != before
    model.zero_grad()
    assert not any(p.grad for p in model.parameters())


def test_the_drawing_of_the_lectures_is_draw():
    a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    L = (a * b).tanh()  # noqa: N806
    L.label = "L"
    L.backward()
    draw_dot = draw
    assert all(f"{label}" in draw_dot(L).source for label in "abL")
