"""Notebook 9: each right answer is praised, each wrong one gets its own hint, cheats get nowhere."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from exercises import expressions

import autodiff as ad
from autodiff import Expression, Value, grad, less, maximum, minimum, operation, where


def graph_of_f(f, at):
    x = Value(at)
    return Expression(f(x)).compile([x], wrt=[x])


# -- 1. A function that survives ------------------------------------------------------------------


@operation
def asking(x):
    inside = abs(x) <= 1
    slope = x if inside else 1.0
    return (x * x / 2 if inside else abs(x) - 0.5), lambda grad: (grad * slope,)


@operation
def steep(x):
    return where(less(1, abs(x)), abs(x) - 0.5, x * x / 2), lambda grad: (grad * 2 * x,)


def clipped(x):
    m = minimum(abs(x), 1)
    return m * abs(x) - m * m / 2


def masked(x):
    return less(1, abs(x)) * (abs(x) - 0.5) + (1 - less(1, abs(x))) * x * x / 2


@pytest.mark.parametrize("answer", [expressions.solution_1, clipped, masked])
def test_a_function_that_chooses_by_nodes_survives(answer):
    right, text = expressions.check_1.verdict(answer)
    assert right, text


HUBER = {
    "the one to repair": (expressions.huber, "bool or a node"),
    "a bool for where": (lambda x: where(abs(x) > 1, abs(x) - 0.5, x * x / 2), "bool or a node"),
    "Python's and": (
        lambda x: where(less(-1, x) and less(x, 1), x * x / 2, abs(x) - 0.5),
        "bool or a node",
    ),
    "swapped": (lambda x: where(less(1, abs(x)), x * x / 2, abs(x) - 0.5), "the two swapped"),
    "maximum": (lambda x: maximum(x * x / 2, abs(x) - 0.5), "never below"),
    "minimum": (lambda x: minimum(x * x / 2, abs(x) - 0.5), "never below"),
    "another function": (lambda x: x + 100, "Before any compiling"),
    "an if in an operation": (asking, "cannot answer an `if`"),
    "a wrong derivative": (steep, "the slope at"),
    "a function of math": (lambda x: Value(math.fabs(x)), "functions of `math`"),
    "numpy's where": (
        lambda x: np.where(abs(x) > 1, abs(x) - 0.5, x * x / 2),
        "`where` of autodiff",
    ),
    "a float": (lambda x: expressions.huber(x.data), "Expected a Value, found a float"),
    "its number alone": (lambda x: Value(expressions.huber(x.data)), "not in its graph"),
    "looked up": (lambda x: Value(expressions.huber(x.data)) + 0 * x, "the slope at"),
    "nothing": (lambda x: None, "returns nothing"),
    "no function": (0.5, "Expected a function"),
    "a missing argument": (lambda x: where(less(1, abs(x))), "Your code raises TypeError"),
}


@pytest.mark.parametrize("name", HUBER)
def test_a_function_that_does_not_survive_gets_its_hint(name):
    answer, hint = HUBER[name]
    right, text = expressions.check_1.verdict(answer)
    assert not right
    assert hint in text


# -- 2. Predict a walk ----------------------------------------------------------------------------


def test_the_walk_is_predicted():
    assert expressions.solution_2() == 16
    right, text = expressions.check_2.verdict(expressions.solution_2())
    assert right, text
    run, _ = expressions.closures_run(*small_and_w())
    loss = ["+", "log", "sum", "exp", "-", "exp", "-", "-", "largest"]
    assert [x.op for x in run] == [*loss, "+", "dot", "+", "dot", "tanh", "+", "dot"]


def small_and_w():
    loss, first, _ = expressions.small_network()
    return loss, [first.weight[0, 0]]


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (19, "Those are all"),
        (18, "other hidden neuron"),
        (17, "other hidden neuron"),
        (15, "nine operations"),
        (14, "feeds both outputs"),
        (12, "feeds both outputs"),
        (13, "lies deeper"),
        (3, "begins at the loss"),
        (1, "begins at the loss"),
        (40, "Follow the arrows"),
        (-9, "Follow the arrows"),
        (True, "Expected an integer"),
        (16.0, "Expected an integer"),
        ("16", "Expected an integer"),
    ],
)
def test_another_number_of_closures_gets_its_hint(answer, hint):
    right, text = expressions.check_2.verdict(answer)
    assert not right
    assert hint in text


# -- 3. One derivative further --------------------------------------------------------------------


def test_the_program_of_the_slope_is_praised():
    for answer in (expressions.solution_3, slope_by_grad):
        right, text = expressions.check_3.verdict(answer)
        assert right, text
        assert "0.693147, and ln 2 is 0.693147" in text


def slope_by_grad(f, at):
    x = Value(at)
    return Expression(grad(f)(x)).compile([x], wrt=[x])


def a_number(f, at):
    x = Value(at)
    f(x).backward()
    return Expression(x.grad).compile([x], wrt=[x])


def without_wrt(f, at):
    x = Value(at)
    f(x).backward(create_graph=True)
    return Expression(x.grad).compile([x], wrt=[])


def without_inputs(f, at):
    x = Value(at)
    f(x).backward(create_graph=True)
    return Expression(x.grad).compile([], wrt=[])


def one_too_far(f, at):
    x = Value(at)
    return Expression(grad(grad(f))(x)).compile([x], wrt=[x])


def hard_coded(f, at):
    return expressions.solution_3(lambda x: x**4, at)


SLOPES = {
    "the one to repair": (graph_of_f, "you compiled the graph of f"),
    "a plain backward": (a_number, "How does it leave a graph?"),
    "without wrt": (without_wrt, "found 0: wrt=[x]"),
    "without inputs": (without_inputs, "take one number"),
    "one derivative too many": (one_too_far, "One derivative less"),
    "of another function": (hard_coded, "The value at 1.25 is"),
    "no program": (
        lambda f, at: lambda x: (grad(f)(x), (grad(grad(f))(x),)),
        "Expected a Program, what `compile` returns, found a function",
    ),
    "an object that looks like one": (
        lambda f, at: SimpleNamespace(source=""),
        "Expected a Program",
    ),
    "nothing": (lambda f, at: None, "returns nothing"),
    "no function": (3, "Expected a function"),
    "raising": (lambda f, at: f("x"), "Your code raises"),
}


@pytest.mark.parametrize("name", SLOPES)
def test_another_program_gets_its_hint(name):
    answer, hint = SLOPES[name]
    right, text = expressions.check_3.verdict(answer)
    assert not right, text
    assert hint in text


# -- What the notebook says -----------------------------------------------------------------------


@pytest.mark.parametrize("depth", [2, 4, 8, 16])
def test_the_last_layer_costs_the_same_however_deep_the_network_is(depth):
    widths = [4, *[10] * (depth - 1)]
    shapes = zip(widths, widths[1:])
    inner = [ad.nn.Linear(*shape, activation=ad.tanh, seed=0) for shape in shapes]
    top = ad.nn.Linear(10, 3, seed=depth)
    x = ad.Vector([0.1, 0.2, 0.3, 0.4]).requires_grad_(False)
    loss = ad.nn.cross_entropy(ad.nn.Sequential(*inner, top)(x), 0)
    run, gradients = expressions.closures_run(loss, top.parameters())
    _, everything = expressions.closures_run(loss)
    # dot, +, - and exp for each output; largest, sum, log, - and +
    assert len(run) == 3 * 4 + 5
    assert gradients == {p: everything[p] for p in top.parameters()}


def late(x):
    return where(less(abs(x), 2), x * x / 2, abs(x) - 0.5)


def early(x):
    return where(less(abs(x), 0.7), x * x / 2, abs(x) - 0.5)


@pytest.mark.parametrize("answer", [late, early])
def test_the_branches_meet_at_1(answer):
    right, text = expressions.check_1.verdict(answer)
    assert not right
    assert "expected" in text


def test_an_integer_of_numpy_is_an_integer():
    assert expressions.check_2.verdict(np.int64(16))[0]


def accumulated(f, at):
    x = Value(at)
    f(x).backward(create_graph=True)
    f(x).backward(create_graph=True)
    return Expression(x.grad).compile([x], wrt=[x])


def batched(f, at):
    x = Value(at)
    return Expression(grad(f)(x)).compile([x], wrt=[x], xp=np, batch=True)


@pytest.mark.parametrize(
    ("answer", "said"), [(accumulated, "The value at"), (batched, "should take one number")]
)
def test_a_program_of_something_else_is_told_so(answer, said):
    right, text = expressions.check_3.verdict(answer)
    assert not right
    assert said in text
