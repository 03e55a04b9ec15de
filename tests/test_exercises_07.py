"""The exercises of notebook 7: every answer gets its own verdict."""

import math
from random import Random

import pytest
from exercises import neural_networks as exercises

from autodiff import Matrix, Value, Vector, tanh
from autodiff.nn import Linear, Module, Sequential, he_normal
from autodiff.optim import SGD, Adam


def test_our_solutions_are_right():
    for check, answer in (
        (exercises.check_1, exercises.solution_1),
        (exercises.check_2, exercises.solution_2),
        (exercises.check_3, exercises.solution_3),
        (exercises.check_4, exercises.solution_4()),
    ):
        right, text = check.verdict(answer)
        assert right, text


def hint(check, answer):
    right, text = check.verdict(answer)
    assert not right
    assert "raises" not in text, text
    return text


@pytest.mark.parametrize("check", [exercises.check_1, exercises.check_2, exercises.check_3])
def test_dots_and_other_kinds(check):
    assert hint(check, ...).startswith("Nothing here yet")
    assert hint(check, None).startswith("Nothing here yet")
    assert "Expected the class itself, found 2.0" in hint(check, 2.0)


# -- 1. Linear -----------------------------------------------------------------------------------


def layer(weight=None, bias=None, forward=None, base=Module):
    """A class like the solution, except for one thing."""

    class Layer(base):
        def __init__(self, n_in, n_out, activation=None, seed=None):
            rows = he_normal(n_in, n_out, Random(seed))
            self.weight = weight(n_in, n_out, seed) if weight else Matrix(rows)
            self.bias = bias(n_out) if bias else Vector([0.0] * n_out)
            self.activation = activation

        def forward(self, x):
            if forward:
                return forward(self, x)
            z = self.weight @ x + self.bias
            return z.map(self.activation) if self.activation else z

    return Layer


def bend(self, z):
    return z.map(self.activation) if self.activation else z


def fixed(n_in, n_out, seed):
    return Matrix(he_normal(n_in, n_out, Random(7)))


LAYERS = {
    "Nothing here yet": layer(lambda *a: ..., lambda n: ..., lambda self, x: ...),
    "Nothing here yet: put": layer(forward=lambda self, x: ...),
    "the package's": Linear,
    "or derived from its Linear": type("Mine", (Linear,), {}),
    "Derive the class from Module": layer(base=object),
    "should be a Matrix": layer(weight=lambda n, m, seed: he_normal(n, m, Random(seed))),
    "One row for each neuron": layer(weight=lambda n, m, seed: Matrix(he_normal(m, n, Random(seed)))),
    "should have shape (2, 3): (1, 3)": layer(weight=lambda n, m, seed: Matrix([[0.0] * n])),
    "those of he_normal": layer(weight=lambda n, m, seed: Matrix([[0.1] * n] * m)),
    "of he_normal(n_in, n_out, Random(seed))": layer(weight=fixed),
    "n_out, Random(seed))": layer(weight=lambda n, m, seed: Matrix(he_normal(n, m, Random()))),
    "should be a Vector": layer(bias=lambda n: [0.0] * n),
    "2 biases, one for each neuron, not 3": layer(bias=lambda n: Vector([0.0] * 3)),
    "should start at 0": layer(bias=lambda n: Vector([1.0] * n)),
    "a return is missing": layer(forward=lambda self, x: None),
    "return a Vector of 2": layer(forward=lambda self, x: self.weight[0] @ x),
    "The activation is missing": layer(forward=lambda self, x: self.weight @ x + self.bias),
    "The bias is missing": layer(forward=lambda self, x: bend(self, self.weight @ x)),
    "belongs inside the activation": layer(
        forward=lambda self, x: bend(self, self.weight @ x) + self.bias
    ),
    "With activation=None the sum": layer(
        forward=lambda self, x: (self.weight @ x + self.bias).map(self.activation)
    ),
    "expected [0.9944 0.0999], found": layer(forward=lambda self, x: Vector([0.0, 0.0])),
    "the gradient of x is not": layer(
        forward=lambda self, x: bend(self, self.weight @ Vector(x.data) + self.bias)
    ),
    "the gradient of weight is not": layer(
        forward=lambda self, x: bend(self, Matrix(self.weight.data) @ x + self.bias)
    ),
    "Write your own without it": layer(
        forward=lambda self, x: Linear(3, 2, activation=tanh)(x)
    ),
}  # fmt: skip


@pytest.mark.parametrize("expected", LAYERS)
def test_a_wrong_layer(expected):
    found = hint(exercises.check_1, LAYERS[expected])
    if not expected.startswith("expected ["):
        assert expected in found
    else:
        assert "expected [" in found


def test_a_layer_around_linear_is_refused():
    class Wrapped(Module):
        def __init__(self, n_in, n_out, activation=None, seed=None):
            self.inner = Sequential(Linear(n_in, n_out, activation=activation, seed=seed))
            self.weight, self.bias = self.inner.layers[0].weight, self.inner.layers[0].bias

        def forward(self, x):
            return self.inner(x)

    assert "the package's Linear" in hint(exercises.check_1, Wrapped)
    Linear(3, 2)  # outside the check it works as before


# -- 2 and 3. Optimisers ---------------------------------------------------------------------------


def optimiser(rule, zero=True, **start):
    """A class whose step subtracts rule(self, p, memory) from each parameter."""

    class Mine:
        def __init__(self, params, lr, momentum=0.0):
            self.params, self.lr, self.momentum, self.t = params, lr, momentum, 0
            self.memory = {p: {"v": 0.0, "m": 0.0, "s": 0.0} for p in params}

        def zero_grad(self):
            for p in self.params if zero else ():
                p.grad = 0.0

        def step(self):
            self.t += 1
            for p in self.params:
                rule(self, p, self.memory[p])

    return Mine


def sgd(self, p, memory, decay=1.0):
    memory["v"] = self.momentum * memory["v"] + decay * p.grad
    return memory["v"]


def uphill(self, p, memory):
    p.data += self.lr * sgd(self, p, memory)


def no_rate(self, p, memory):
    p.data -= sgd(self, p, memory)


def rate_twice(self, p, memory):
    p.data -= self.lr * self.lr * sgd(self, p, memory)


def forgets(self, p, memory):
    p.data -= self.lr * p.grad


def dampened(self, p, memory):
    p.data -= self.lr * sgd(self, p, memory, 1 - self.momentum)


def nesterov(self, p, memory):
    p.data -= self.lr * (p.grad + self.momentum * sgd(self, p, memory))


def shared(self, p, memory):
    p.data -= self.lr * sgd(self, p, self.memory[self.params[0]])


def good(self, p, memory):
    p.data -= self.lr * sgd(self, p, memory)


def rate_in_velocity(self, p, memory):
    memory["v"] = self.momentum * memory["v"] + self.lr * p.grad
    p.data -= memory["v"]


def only_the_name(self, p, memory):
    p = p - self.lr * p.grad


def a_value(self, p, memory):
    p.data = p - self.lr * p.grad


def by_the_package(self, p, memory):
    SGD([p], lr=self.lr).step()


SGDS = {
    "Nothing here yet": optimiser(lambda *a: None, zero=False),
    "step() leaves the parameters": optimiser(only_the_name),
    "After zero_grad() every grad should be 0.0: [7.0, 7.0]": optimiser(good, zero=False),
    "subtract from p.data": optimiser(uphill),
    "learning rate has no effect": optimiser(no_rate),
    "learning rate is in it twice": optimiser(rate_twice),
    "Momentum has no effect": optimiser(forgets),
    "That is a mean": optimiser(dampened),
    "Nesterov": optimiser(nesterov),
    "share one memory": optimiser(shared),
    "in step 1 p should become": optimiser(lambda self, p, memory: setattr(p, "data", 3.0)),
    "the package's, or derived from its Optimizer": SGD,
    "derived from its Optimizer": type("Mine", (SGD,), {}),
    "the package's SGD": optimiser(by_the_package),
}


@pytest.mark.parametrize("expected", SGDS)
def test_a_wrong_sgd(expected):
    assert expected in hint(exercises.check_2, SGDS[expected])


def test_data_that_is_not_a_number():
    assert not exercises.check_2.verdict(optimiser(a_value))[0]


def test_the_learning_rate_may_be_in_the_velocity():
    assert exercises.check_2.verdict(optimiser(rate_in_velocity))[0]


def adam(
    b1=0.9, b2=0.999, m_hat=True, s_hat=True, root=math.sqrt, eps=1e-8, sign=1, time=None, lr=None
):  # fmt: skip
    """Adam, except for one thing."""

    def rule(self, p, memory):
        t = time(self) if time else self.t
        memory["m"] = b1 * memory["m"] + (1 - b1) * p.grad
        memory["s"] = b2 * memory["s"] + (1 - b2) * p.grad**2
        m = memory["m"] / (1 - b1**t) if m_hat else memory["m"]
        s = memory["s"] / (1 - b2**t) if s_hat else memory["s"]
        p.data -= sign * (lr or self.lr) * m / (root(s) + eps)

    return optimiser(rule)


def counted_for_each(self):
    self.counted = getattr(self, "counted", 0) + 1
    return self.counted


def share_one(self, p, memory):
    memory = self.memory[self.params[0]]
    memory["m"] = 0.9 * memory["m"] + 0.1 * p.grad
    memory["s"] = 0.999 * memory["s"] + 0.001 * p.grad**2
    memory["t"] = memory.get("t", 0) + 1
    m, s = memory["m"] / (1 - 0.9 ** memory["t"]), memory["s"] / (1 - 0.999 ** memory["t"])
    p.data -= self.lr * m / (math.sqrt(s) + 1e-8)


ADAMS = {
    "Nothing here yet": optimiser(lambda *a: None, zero=False),
    "step() leaves the parameters": optimiser(only_the_name),
    "subtract from p.data": adam(sign=-1),
    "learning rate has no effect": adam(lr=1.0),
    "The hats are missing": adam(m_hat=False, s_hat=False),
    "The hat on m is missing": adam(m_hat=False),
    "The hat on s is missing": adam(s_hat=False),
    "Divide by the root": adam(root=float),
    "are swapped": adam(b1=0.999, b2=0.9),
    "t should count the steps": adam(time=lambda self: 1),
    "once in a step is enough": adam(time=counted_for_each),
    "is t 1 in the first step": adam(time=lambda self: self.t - 1),
    "add ε to the root": adam(eps=0.0),
    "share one memory": optimiser(share_one),
    "With lr = 0.1, from [-8.0, 2.0] and in step 2 p should become": adam(b1=0.8),
    "the package's, or derived from its Optimizer": Adam,
    "the package's Adam": optimiser(lambda self, p, memory: Adam([p], lr=self.lr).step()),
}  # fmt: skip


@pytest.mark.parametrize("expected", ADAMS)
def test_a_wrong_adam(expected):
    assert expected in hint(exercises.check_3, ADAMS[expected])


def test_epsilon_may_be_inside_the_root():
    assert exercises.check_3.verdict(adam(root=lambda s: math.sqrt(s + 1e-16), eps=0.0))[0]


# -- 4. The weights for a leaky relu ----------------------------------------------------------------

VARIANCES = {
    "Nothing here yet": ...,
    "Expected a number, found '0.08'": "0.08",
    "Expected a number, found [0.08]": [0.08],
    "Expected a number, found True": True,
    "That is 2/n": 0.1,
    "as if nothing were lost": 1 / 20,
    "Divide by the number of inputs": 1.6,
    "the share that survives": 0.625,
    "You multiplied by the share": 0.625 / 20,
    "a quarter of the mean square": 1 / 15,
    "the standard deviation": math.sqrt(0.08),
    "not their sum": 0.04,
    "by 6.25, not by 1": 0.5,
    "by nan, not by 1": math.nan,
}


@pytest.mark.parametrize("expected", VARIANCES)
def test_a_wrong_variance(expected):
    assert expected in hint(exercises.check_4, VARIANCES[expected])


@pytest.mark.parametrize("answer", [0.08, 2 / 25, Value(0.08).data])
def test_a_right_variance(answer):
    assert exercises.check_4.verdict(answer)[0]
