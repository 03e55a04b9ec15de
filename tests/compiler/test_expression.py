"""The operator graph: sources and sink, propagate, backpropagate to a subset, what compile takes."""

import math

import numpy as np
import pytest
from tables import cases, check_raises, raising

import autodiff as ad
from autodiff import Expression, Matrix, Value, Vector, nn
from autodiff.engine.graph import topological_order


def example():
    x1, x2 = Value(2.0, label="x1"), Value(5.0, label="x2")
    return x1, x2, ad.log(x1) + x1 * x2 - ad.sin(x2)


def test_sources_are_the_leaves_in_topological_order():
    x1, x2, y = example()
    expression = Expression(2.0 * y)
    assert expression.sink.op == "*"
    two, *others = expression.sources
    assert (two.data, others) == (2.0, [x1, x2])
    assert Expression(x1).sources == [x1]
    assert repr(Expression(y)) == "Expression(2 sources, 7 nodes)"


@pytest.mark.parametrize("many", [Vector, tuple, list, lambda ys: [Vector(ys[:2]), ys[2]]])
def test_several_outputs_at_once(many):
    x, w = Vector([2.0, 3.0]), Value(5.0)
    part = x[0] * w  # on the way to another
    expression = Expression(many([part, part + x[1] * x[1], w]))
    assert set(expression.sources) == {*x, w}
    assert expression.propagate({w: 7.0}) == [14.0, 23.0, 7.0]
    assert expression.compile([x], wrt=[w])(1.0, 2.0, 3.0) == (3.0, 7.0, 3.0)
    program = expression.compile([x], wrt=[w], xp=np, batch=True)
    found = program(np.array([[1.0, 2.0], [4.0, 5.0]]), np.array([3.0]))
    assert found.tolist() == [[3.0, 7.0, 3.0], [12.0, 37.0, 3.0]]
    assert program(np.zeros((0, 2)), np.array([3.0])).shape == (0, 3)


def test_a_vector_of_one_output_is_not_a_number():
    x, rows = Vector([2.0]), [[1.0], [2.0]]
    expression = Expression(x * 2.0)
    assert expression.compile([x], wrt=[])(3.0) == (6.0,)
    program = expression.compile([x], wrt=[], xp=np, batch=True)
    assert program(rows).tolist() == program(rows, np.zeros(0)).tolist() == [[2.0], [4.0]]
    values, gradients = Expression(x[0] * 2.0).compile([x], [], xp=np, batch=True)(rows)
    assert (values.tolist(), gradients.shape) == ([2.0, 4.0], (0,))


# -- propagate ------------------------------------------------------------------------------------


def test_other_graphs_over_the_same_nodes_stay_as_they_are():
    x = Value(2.0)
    y = x * x
    z, w = 3 * y, y * y
    expression, other = Expression(z), Expression(w)
    assert expression.propagate({x: 5.0}) == 75.0
    node = expression.sink
    w.backward()
    assert (x.grad, y.data, z.data, w.data) == (32.0, 4.0, 12.0, 16.0)  # 4x³ at 2
    assert other.backpropagate([x])[x] == 32.0  # where it was recorded
    x.zero_grad()
    z.backward()
    assert x.grad == 12.0  # 6x at 2
    assert other.propagate() == 625.0
    assert (expression.backpropagate([x])[x], other.backpropagate([x])[x]) == (30.0, 500.0)
    assert expression.propagate({x: 1.0}) == 3.0
    assert node.data == 75.0


def test_propagate_makes_the_same_graph_anew():
    with ad.scope("part"):
        x, c = Value(2.0), Value(3.0)
        c.requires_grad = False
        y = c * c * x
    y.label = "y"
    y.backward()
    before = x.grad, y.grad, "y"
    expression = Expression([y, c * c, x])
    assert expression.propagate({x: 5}) == [45.0, 9.0, 5.0]
    again, constant, leaf = expression.sink
    assert (leaf, expression.sources) == (x, [c, x])
    operations = [[node.op for node in topological_order(root)] for root in (y, again)]
    assert operations[0] == operations[1]
    assert (again.requires_grad, constant.requires_grad) == (True, False)
    assert (x.grad, again.grad, again.label) == before
    assert "part" in ad.draw(again).source


# -- backpropagate --------------------------------------------------------------------------------


def test_backpropagate_returns_adjoints_and_leaves_grad_alone():
    x1, x2, y = example()
    x1.grad = 7.0
    slopes = {x1: 1 / 2.0 + 5.0, x2: 2.0 - math.cos(5.0)}
    assert Expression(y).backpropagate() == pytest.approx(slopes, rel=1e-15)
    assert (x1.grad, x2.grad, y.grad) == (7.0, 0.0, 0.0)
    assert Expression(x1).backpropagate([x1]) == {x1: 1.0}
    assert Expression(2.0 * x1).backpropagate() == {x1: 2.0}  # without the constant


def test_only_what_leads_to_the_chosen_leaves_is_walked():
    first, last = nn.Linear(3, 4, activation=ad.tanh, seed=0), nn.Linear(4, 2, seed=1)
    loss = nn.cross_entropy(last(first(Vector([1.0, 2.0, 3.0]))), 0)
    everything = Expression(loss).backpropagate()
    walked = []
    for node in topological_order(loss):
        closure = node._closure
        node._closure = lambda g, node=node, closure=closure: walked.append(node) or closure(g)
    found = Expression(loss).backpropagate([last.weight, last.bias])
    assert found == {p: everything[p] for p in last.parameters()}
    # the loss: largest, sum, log, - and +, and a - and an exp for each logit
    # the last layer: a dot and a + for each of two neurons
    expected = "+ + + - - - dot dot exp exp largest log sum"
    assert " ".join(sorted(node.op for node in walked)) == expected


def test_what_was_computed_while_a_leaf_was_frozen_stays_a_constant():
    p, x = Value(2.0), Value(3.0)
    p.requires_grad = False
    constant = ad.sin(p)
    p.requires_grad = True
    y = constant * p * x
    expression, expected = Expression(y), pytest.approx(3.0 * math.sin(2.0), rel=1e-15)
    assert ad.adjoints(y)[p] == expected
    assert expression.backpropagate([p])[p] == expected
    expression.propagate({x: 3.0})
    assert expression.backpropagate([p])[p] == expected
    words = "compile: found sin of a leaf that required no gradient then"
    check_raises(lambda: expression.compile([x], [p]), TypeError, words)
    check_raises(lambda: expression.compile([x], [p], xp=np, batch=True), TypeError, words)
    assert expression.compile([p], [x])(2.0, 3.0)[1] == (pytest.approx(2.0 * math.sin(2.0)),)


X, D = Value(3.0, label="x"), Value(ad.Dual(2.0, 1.0))
Y = 2.0 * X


def test_vectors_matrices_and_duals_as_arguments():
    a, v = Matrix([[1.0, 2.0], [3.0, 4.0]]), Vector([5.0, 6.0])
    program = Expression((a @ v).sum()).compile([v], wrt=[a])
    assert program(5.0, 6.0, 1.0, 2.0, 3.0, 4.0) == (56.0, (5.0, 6.0, 5.0, 6.0))
    assert Expression(X * D).compile([X, D], wrt=[D])(3.0, 2.0) == (6.0, (3.0,))


# -- What it refuses ------------------------------------------------------------------------------

X1, X2, OUTPUT = example()
TWO = Y.parents[0]  # a constant


USES = [
    (lambda y: y.propagate([1.0]), TypeError, "...found a list, expected a dict from"),
    (lambda y: y.propagate({"x1": 1.0}), TypeError, "...found 'x1' of type str, expected a"),
    (lambda y: y.propagate({X2: "5"}), TypeError, "propagate: found '5' of type str, expected one real number"),
    (lambda y: y.propagate({X2: 1.0, X1: -1.0}), ValueError, "log: x = -1.0 ('x1') is outside the domain"),
    (lambda y: y.propagate({X1: 1.0, X2: math.inf}), ValueError, "sin: x = inf ('x2') is outside"),
    (lambda y: y.propagate({X1: 3.0, X: 1.0}), ValueError, "...3.0 ('x'), a leaf, expected a source of"),
    (lambda y: y.propagate({OUTPUT: 1.0}), ValueError, "...the result of an operation (-), expected leaves"),
    (lambda y: y.backpropagate([X]), ValueError, "...3.0 ('x'), a leaf, expected a so"),
    (lambda y: y.backpropagate([OUTPUT]), ValueError, "...the result of an operation"),
    (lambda y: y.backpropagate(X1), TypeError, "...expected a sequence of leaves: [x, y"),
]  # fmt: skip


@cases(("use", "kind", "words"), USES)
def test_what_is_refused_leaves_all_nodes_and_the_sink_as_they_were(use, kind, words):
    expression = Expression(OUTPUT)
    nodes = [*topological_order(OUTPUT), *topological_order(Y)]
    before = [(node.data, node.grad, node._closure) for node in nodes]
    check_raises(lambda: use(expression), kind, words)
    assert [(node.data, node.grad, node._closure) for node in nodes] == before
    assert expression.sink is OUTPUT


test_what_is_refused = raising(
    (lambda: Expression([Y, Y]).backpropagate(), ValueError, "...found an expression of 2 outputs"),
    (lambda: Expression(Y).backpropagate([TWO]), ValueError, "...found a constant, 2.0, exp"),
    *[(lambda given=given: Expression(Y).compile(*given), ValueError, f"compile: found a leaf twice in {name}, expected each once")
      for name, given in (("inputs", ([X, X], [X])), ("wrt", ([X], [X, X])))],
    *[(lambda given=given: Expression(Y).compile(*given), ValueError, f"compile, {name}: found 6.0, the result of an operation (*)")
      for name, given in (("inputs", ([Y], [X])), ("wrt", ([X], [Y])))],
    (lambda: Expression(Y).compile([X], [TWO]), ValueError, "...found a constant, 2.0, in wrt, expected leaves that re"),
    (lambda: Expression(Y).compile([1.0], [X]), TypeError, "compile, inputs: found 1.0 of type float, expected"),
    (lambda: Expression(Y).compile({X}, [X]), TypeError, "...expected a sequence of leaves"),
    (lambda: Expression(Y).compile([X], [X], xp="numpy"), TypeError, "...found xp = 'numpy', expected the module math, or for"),
    (lambda: Expression(Y).compile([X], [X], batch=True), TypeError, "...found xp = ...math..., expected numpy, jax.numpy or torc"),
    (lambda: Expression(Y).compile([X], [X, X1], xp=np, batch=True), ValueError, "...inputs and parameters in wrt, expe"),
    *[(lambda f=f: f(Expression(X * D), [X], [X]), TypeError, "compile, a constant: found ... of type Dual")
      for f in (Expression.compile, Expression.javascript)],
)  # fmt: skip
