"""Value: a node, backward(), and gradients of gradients."""

import copy
import gc
import math
import pickle
import sys
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

import autodiff as ad
from autodiff import Dual, Value, adjoints, nn
from autodiff.engine.scopes import Scope

# -- The node -----------------------------------------------------------------------------------


KINDS = [np.float64, np.float32, np.int64, np.longdouble, np.array]


@pytest.mark.parametrize("x", [2, Fraction(4, 2), *[kind(2) for kind in KINDS]])
def test_data_is_a_float_whatever_number_came_in(x):
    v = Value(3)
    v.data -= x
    assert [(type(y.data), y.data) for y in (v, Value(x))] == [(float, 1.0), (float, 2.0)]
    assert [y.data for y in (v * (v > 0), v * np.bool_(True), Value(True))] == [1.0, 1.0, 1.0]


def test_attributes_of_a_node():
    x, y = Value(2.0, label="x"), Value(3.0)
    z = x * y
    assert (z.data, z.grad, z.label) == (6.0, 0.0, "")
    assert (x.parents, x.op, x.requires_grad) == ((), "", True)
    assert [n.op for n in (x + y, x - y, x / y, x**2, x**y, 2**x, -x, +x, x.exp(), 2 / x)] == [
        "+", "-", "/", "**", "**", "**", "-", "pos", "exp", "/",
    ]  # fmt: skip
    assert [n.op for n in (ad.less(x, y), ad.ops.less_equal(x, y))] == ["<", "<="]
    assert [p.data for p in (5 - x).parents] == [5.0, 2.0]


def test_texts_and_conversions():
    x = Value(2.5, label="x")
    assert repr(x) == f"{x}" == "Value(data=2.5, grad=0.0, label='x')"
    assert repr(Value(1)) == "Value(data=1.0, grad=0.0)"
    x.requires_grad = False
    assert (float(x), int(x), math.sin(x)) == (2.5, 2, math.sin(2.5))


def test_leaves_pickle_and_copy():
    x, k = Value(2.0, label="x"), Value(2.0)
    x.grad, k.requires_grad = 3.0, False
    by_protocol = [lambda x, p=p: pickle.loads(pickle.dumps(x, p)) for p in range(6)]
    for duplicate in (*by_protocol, copy.deepcopy, copy.copy):
        assert str(duplicate(Dual(2.0, 3.0))) == "Dual(primal=2.0, tangent=3.0)"
        y = duplicate(x)
        assert (y.data, y.grad, y.label, y.requires_grad) == (2.0, 3.0, "x", True)
        assert y is not x
        assert not duplicate(k).requires_grad


def test_a_gradient_is_cleared_by_a_zero_and_takes_numbers():
    x = Value(2.0)
    for number in (1, np.float32(1), True, np.array(1.0)):  # as after clipping
        x.grad = number
        (x * x).backward()
        assert (x.grad, type(x.grad)) == (5.0, float)


# -- backward() ---------------------------------------------------------------------------------


def test_backward_accumulates_in_leaves_and_replaces_in_between():
    a = Value(3.0)
    b = a + a
    c = b + b
    c.backward()
    assert (a.grad, b.grad, c.grad) == (4.0, 2.0, 1.0)
    c.backward()  # micrograd and others: 12
    assert (a.grad, b.grad, c.grad) == (8.0, 2.0, 1.0)
    c.zero_grad()
    assert (a.grad, b.grad, c.grad) == (0.0, 0.0, 0.0)
    a.backward()
    assert a.grad == 1.0


def test_backward_to_some_inputs_writes_nothing_else():
    x, y, stranger = Value(2.0), Value(3.0), Value(1.0)
    u, v = x * x, y.exp()
    z, closure = u * v, v._closure
    v._closure = None  # it is not walked
    z.backward(inputs=[x])
    v._closure = closure
    assert (x.grad, y.grad, v.grad) == (pytest.approx(4 * math.exp(3)), 0.0, 0.0)
    z.backward(inputs=[v, stranger])
    assert (v.grad, y.grad, stranger.grad) == (4.0, 0.0, 0.0)


def test_constants_get_no_gradient_and_are_not_walked():
    x, c = Value(2.0), Value(3.0)
    c.requires_grad = False
    k = c * c
    k._closure = None
    y = k * x + c
    y.backward()
    assert (x.grad, c.grad, k.grad) == (9.0, 0.0, 0.0)
    assert (k.requires_grad, y.requires_grad) == (False, True)


def test_a_flag_holds_for_what_is_computed_after_it():
    x, n = Value(2.0), Value(3.0)
    n.requires_grad = False
    y = x**n + n
    n.requires_grad = True
    y.backward()
    assert (x.grad, n.grad) == (12.0, 1.0)
    x.grad = n.grad = 0.0
    (x * n + ad.maximum(x, n)).backward()  # it is a leaf like any other again
    assert (x.grad, n.grad) == (3.0, 3.0)
    assert x._level == n._level  # so that no derivative takes one for a constant of the other


def test_closures_hold_the_numbers_of_their_time():
    x, y = Value(2.0), Value(5.0)
    z = x * y
    x.data = 100.0
    z.backward()
    assert (x.grad, y.grad) == (5.0, 2.0)


def test_backward_changes_nothing_if_a_derivative_fails():
    x, y = Value(0.0, label="v"), Value(3.0)
    z = x.sqrt() + y * y
    with pytest.raises(ZeroDivisionError, match="derivative of sqrt"):
        z.backward()
    assert (x.grad, y.grad, z.grad) == (0.0, 0.0, 0.0)


# -- Gradients of gradients ---------------------------------------------------------------------


def test_a_gradient_that_is_a_graph():
    x = Value(3.0)
    (x + x).backward(create_graph=True)
    assert (type(x.grad), x.grad.data, x.grad.requires_grad) == (Value, 2.0, False)
    assert repr(x) == "Value(data=3.0, grad=2.0)"
    x = Value(math.nan)
    (x * x).backward(create_graph=True)
    assert math.isnan(x.grad.data)
    assert ad.grad(lambda x: adjoints(x**3, create_graph=True)[x])(2.0) == 12.0


# -- Size and speed of growth ---------------------------------------------------------------------


def chain(n):
    x, y = Value(1.0), Value(0.5)
    for _ in range(n // 2):
        x = x * y
        x = x + y
    return x


MODEL = nn.Linear(2, 1, activation=ad.tanh)


def scoped():
    with ad.scope("all"):
        return MODEL([1.0, 2.0])[0] ** 2


@pytest.mark.parametrize("make", [lambda: chain(2000), scoped])
def test_a_graph_is_freed_without_the_collector(make):
    counted = lambda: sum(type(o) in (Value, Scope) for o in gc.get_objects())  # noqa: E731
    gc.collect()
    gc.disable()
    try:
        before = counted()
        y = make()
        y.backward()
        assert counted() > before
        del y
        assert counted() == before
    finally:
        gc.enable()


def test_memory_of_a_node_stays_below_450_bytes():
    tracemalloc.start()
    try:
        y = chain(4_000)
        y.backward()
        assert tracemalloc.get_traced_memory()[0] / 4_000 < 450
    finally:
        tracemalloc.stop()


def test_thousands_of_inputs_are_one_node():
    leaves = [Value(i) for i in range(5000)]
    for total in (ad.sum(leaves), sum(leaves)):  # Python's own is a chain
        total.backward()
    assert {x.grad for x in leaves} == {2.0}
    assert len(ad.sum(leaves).parents) == 5000 > sys.getrecursionlimit()
