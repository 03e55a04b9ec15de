"""The operator graph: propagate, backpropagate to a subset, compile."""

import copy
import gc
import itertools
import linecache
import math
import pickle
import sys
import traceback
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st
from random_graphs import for_all, graphs, numbers
from rounding import EPSILON, allowed

import autodiff as ad
from autodiff import Expression, Matrix, Value, Vector, nn, operation
from autodiff.compiler.printer import wrapped
from autodiff.graph import topological_order


def example():
    """y = ln x1 + x1 x2 - sin x2 at (2, 5), with dy/dx1 = 1/x1 + x2 and dy/dx2 = x1 - cos x2."""
    x1, x2 = Value(2.0, label="x1"), Value(5.0, label="x2")
    return x1, x2, ad.log(x1) + x1 * x2 - ad.sin(x2)


def derivatives(x1, x2):
    return 1 / x1 + x2, x1 - math.cos(x2)


def values(leaves):
    return [x.data for x in leaves]


# -- Sources and sink -----------------------------------------------------------------------------


def test_sources_are_the_leaves_in_topological_order():
    x1, x2, y = example()
    expression = Expression(2.0 * y)
    assert expression.sink.op == "*"
    assert values(expression.sources) == [2.0, 2.0, 5.0]
    assert expression.sources[1:] == [x1, x2]
    assert Expression(x1).sources == [x1]
    assert repr(Expression(y)) == "Expression(2 sources, 7 nodes)"


@pytest.mark.parametrize("wrong", [3.0, None, [1.0], "y"])
def test_an_output_that_is_not_a_value(wrong):
    with pytest.raises(TypeError, match=r"Expression: found .*, expected a Value, such as a loss"):
        Expression(wrong)


@pytest.mark.parametrize("many", [Vector, tuple, list, lambda ys: [Vector(ys[:2]), ys[2]]])
def test_several_outputs_at_once(many):
    x, w = Vector([2.0, 3.0]), Value(5.0)
    expression = Expression(many([x[0] * w, x[1] * x[1], w]))
    assert set(expression.sources) == {*x, w}
    assert expression.propagate({w: 7.0}) == [14.0, 9.0, 7.0]
    assert expression.compile([x], wrt=[w])(1.0, 2.0, 3.0) == (3.0, 4.0, 3.0)
    program = expression.compile([x], wrt=[w], xp=np, batch=True)
    assert program(np.array([[1.0, 2.0], [4.0, 5.0]]), np.array([3.0])).tolist() == [
        [3.0, 4.0, 3.0],
        [12.0, 25.0, 3.0],
    ]
    assert program(np.zeros((0, 2)), np.array([3.0])).shape == (0, 3)
    with pytest.raises(ValueError, match="found an expression of 3 outputs, expected one; take"):
        expression.backpropagate()


def test_a_vector_of_one_output_is_not_a_number():
    x = Vector([2.0])
    program = Expression(x * 2.0).compile([x], wrt=[], xp=np, batch=True)
    assert program(np.array([[1.0], [2.0]]), np.zeros(0)).tolist() == [[2.0], [4.0]]
    assert Expression(x * 2.0).compile([x], wrt=[])(3.0) == (6.0,)


def test_no_outputs():
    with pytest.raises(ValueError, match="Expression: found no outputs, expected at least one"):
        Expression([])


# -- propagate ------------------------------------------------------------------------------------


def test_propagate_computes_every_node_anew():
    x1, x2, y = example()
    expression = Expression(y)
    assert expression.sink is y
    found = expression.propagate({x1: 3, x2: 1.0})
    again = expression.sink
    assert found == math.log(3.0) + 3.0 - math.sin(1.0) == again.data
    assert [node.op for node in topological_order(again)] == [
        node.op for node in topological_order(y)
    ]
    assert expression.sources == [x1, x2]
    assert (x1.data, x2.data) == (3.0, 1.0)
    again.backward()
    assert (x1.grad, x2.grad) == pytest.approx(derivatives(3.0, 1.0), rel=1e-15)


def test_propagate_leaves_other_graphs_over_the_same_nodes_as_they_are():
    x = Value(2.0)
    y = x * x
    z, w = 3 * y, y * y
    expression = Expression(z)
    assert expression.propagate({x: 5.0}) == 75.0
    w.backward()
    assert (x.grad, y.data, z.data, w.data) == (32.0, 4.0, 12.0, 16.0)  # 4x³ at 2
    x.zero_grad()
    z.backward()
    assert x.grad == 12.0  # 6x at 2
    assert expression.backpropagate([x])[x] == 30.0  # at 5


def test_two_expressions_over_the_same_nodes():
    x = Value(2.0)
    y = x * x
    one, other = Expression(3 * y), Expression(y * y)
    assert one.propagate({x: 5.0}) == 75.0
    assert other.backpropagate([x])[x] == 32.0  # where it was recorded
    assert other.propagate() == 625.0
    assert (one.backpropagate([x])[x], other.backpropagate([x])[x]) == (30.0, 500.0)
    node = one.sink
    assert one.propagate({x: 1.0}) == 3.0
    assert node.data == 75.0


def test_propagate_keeps_constants_and_what_the_graph_knows():
    with ad.scope("part"):
        x, c = Value(2.0), Value(3.0)
        c.requires_grad = False
        y = c * c * x
    expression = Expression([y, c * c, x])
    assert expression.propagate({x: 5.0}) == [45.0, 9.0, 5.0]
    again, constant, leaf = expression.sink
    assert leaf is x
    assert (again.requires_grad, constant.requires_grad) == (True, False)
    assert "part" in ad.draw(again).source


def test_propagate_without_values_takes_what_the_leaves_hold():
    x1, _, y = example()
    x1.data = 4.0
    assert Expression(y).propagate() == math.log(4.0) + 20.0 - math.sin(5.0)


def test_propagate_keeps_gradients_and_labels():
    x1, x2, y = example()
    y.label = "y"
    y.backward()
    before = x1.grad, x2.grad, y.grad, y.label
    expression = Expression(y)
    expression.propagate({x1: 1.0})
    again = expression.sink
    assert (x1.grad, x2.grad, again.grad, again.label) == before


@for_all(graphs(), st.lists(numbers, min_size=3, max_size=3), examples=100)
def test_propagating_there_and_back_changes_nothing(graph, others):
    leaves, y = graph
    before = values(topological_order(y))
    start = values(leaves)
    expression = Expression([y, *leaves])
    expression.propagate(dict(zip(leaves, others)))
    assert values(leaves) == others
    expression.propagate(dict(zip(leaves, start)))
    assert values(topological_order(expression.sink[0])) == before == values(topological_order(y))


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({"x2": "5"}, TypeError, r"propagate: found '5' of type str, expected one real number"),
        ({"x1": None}, TypeError, "propagate: found None"),
        ({"x2": 1.0, "x1": -1.0}, ValueError, r"log: x = -1.0 \('x1'\) is outside the domain"),
        ({"x1": 1.0, "x2": math.inf}, ValueError, r"sin: x = inf \('x2'\) is outside"),
        (
            {"x1": 3.0, "other": 1.0},
            ValueError,
            r"propagate: found 7.0 \('other'\), a leaf, expected a source of",
        ),
        (
            {"y": 1.0},
            ValueError,
            r"found .*, the result of an operation \(-\), expected a source of this",
        ),
    ],
)
def test_propagate_changes_nothing_on_bad_values(given, kind, message):
    x1, x2, y = example()
    named = {"x1": x1, "x2": x2, "y": y, "other": Value(7.0, label="other")}
    expression = Expression(y)
    before = [(n.data, n._backward) for n in topological_order(y)]
    with pytest.raises(kind, match=message):
        expression.propagate({named[name]: number for name, number in given.items()})
    assert [(n.data, n._backward) for n in topological_order(y)] == before
    assert expression.sink is y


def test_propagate_takes_a_dict():
    _, _, y = example()
    with pytest.raises(TypeError, match=r"found a list, expected a dict from sources to numbers"):
        Expression(y).propagate([1.0, 2.0])
    with pytest.raises(TypeError, match=r"propagate: found 'x1' of type str, expected a source"):
        Expression(y).propagate({"x1": 1.0})


# -- backpropagate --------------------------------------------------------------------------------


def test_backpropagate_returns_adjoints_and_leaves_grad_alone():
    x1, x2, y = example()
    x1.grad = 7.0
    found = Expression(y).backpropagate()
    assert found == pytest.approx(dict(zip((x1, x2), derivatives(2.0, 5.0))), rel=1e-15)
    assert Expression(y).backpropagate([x2]) == {x2: found[x2]}
    assert (x1.grad, x2.grad, y.grad) == (7.0, 0.0, 0.0)


def test_backpropagate_to_the_output_itself():
    x = Value(3.0)
    assert Expression(x).backpropagate([x]) == {x: 1.0}


def test_constants_are_not_asked_for():
    x = Value(3.0)
    assert Expression(2.0 * x).backpropagate() == {x: 2.0}


def test_only_what_leads_to_the_chosen_leaves_is_walked():
    first, last = nn.Linear(3, 4, activation=ad.tanh, seed=0), nn.Linear(4, 2, seed=1)
    loss = nn.cross_entropy(last(first(Vector([1.0, 2.0, 3.0]))), 0)
    everything = Expression(loss).backpropagate()
    walked = []
    for node in topological_order(loss):
        closure = node._backward
        node._backward = lambda g, node=node, closure=closure: walked.append(node) or closure(g)
    found = Expression(loss).backpropagate([last.weight, last.bias])
    assert found == {p: everything[p] for p in last.parameters()}
    # the loss: largest, sum, log, - and +, and a - and an exp for each logit
    # the last layer: a dot and a + for each of two neurons
    assert sorted(node.op for node in walked) == [
        "+", "+", "+", "-", "-", "-", "dot", "dot", "exp", "exp", "largest", "log", "sum",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("wrt", "kind", "message"),
    [
        (lambda x, y: [Value(7.0)], ValueError, "found 7.0, a leaf, expected a source of this"),
        (lambda x, y: [y], ValueError, r"found 6.0, the result of an operation \(\*\), expected"),
        (lambda x, y: [3.0], TypeError, r", wrt: found 3.0 of type float, expected"),
        (lambda x, y: x, TypeError, r"found Value\(.*, expected a sequence of leaves: \[x, y\]"),
        (lambda x, y: y.parents[:1], ValueError, "found a constant, 2.0, expected nodes that"),
        (lambda x, y: ["x"], TypeError, "found 'x' of type str, expected a sequence of leaves"),
    ],
)
def test_what_backpropagate_refuses(wrt, kind, message):
    x = Value(3.0)
    y = 2.0 * x
    with pytest.raises(kind, match=f"^(backpropagate|inputs).*{message}"):
        Expression(y).backpropagate(wrt(x, y))
    assert (x.grad, y.grad) == (0.0, 0.0)


# -- compile --------------------------------------------------------------------------------------

SOURCE = """\
import math


def program(x1, x2):
    # x1 = rate
    v1 = math.log(x1)
    v2 = x1 * x2
    v3 = math.sin(x2)
    v4 = v1 + v2
    v5 = v4 - v3
    # from the output back to the inputs
    x2_bar = x1 - math.cos(x2)
    x1_bar = x2 + 1.0 / x1
    return v5, (x1_bar, x2_bar)
"""


def compiled(y, inputs, wrt=None, **arguments):
    return Expression(y).compile(inputs, wrt=inputs if wrt is None else wrt, **arguments)


def test_the_source_is_what_a_person_would_write():
    x1, x2, y = example()
    x1.label = "rate"
    x2.label = "not an identifier"
    assert compiled(y, [x1, x2]).source == SOURCE


@for_all(graphs(), examples=300)
def test_compiled_is_eager(graph):
    leaves, y = graph
    adjoints = ad.adjoints(y)
    value, gradients = compiled(y, leaves)(*values(leaves))
    of_value, of_gradients = allowed(y, leaves)
    assert value == pytest.approx(y.data, rel=0, abs=of_value)
    for x, gradient, bound in zip(leaves, gradients, of_gradients):
        assert gradient == pytest.approx(adjoints.get(x, 0.0), rel=0, abs=bound)


@for_all(
    graphs(),
    st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=2, max_size=4),
    examples=200,
)
def test_compiled_on_arrays_is_eager_point_by_point(graph, points):
    leaves, y = graph
    expression = Expression([y, *leaves])
    program = compiled(y, leaves, xp=np)
    value, gradients = program(*np.array(points).T)
    for i, point in enumerate(points):
        expression.propagate(dict(zip(leaves, point)))
        walked = expression.sink[0]
        adjoints = ad.adjoints(walked)
        of_value, of_gradients = allowed(walked, leaves)
        found = np.broadcast_to(value, len(points))[i]
        assert found == pytest.approx(walked.data, rel=0, abs=of_value)
        for x, gradient, bound in zip(leaves, gradients, of_gradients):
            found = np.broadcast_to(gradient, len(points))[i]
            assert found == pytest.approx(adjoints.get(x, 0.0), rel=0, abs=bound)


def test_a_diamond():
    x = Value(3.0)
    a, b = x * 2.0, x * x
    assert compiled(a * b, [x])(3.0) == (54.0, (54.0,))  # 2 x³ and 6 x²


def test_repeated_parents():
    x = Value(3.0)
    assert compiled(x * x, [x])(5.0) == (25.0, (10.0,))
    assert compiled(ad.dot([x, x], [x, x]), [x])(5.0) == (50.0, (20.0,))


def test_an_input_that_does_not_matter_has_gradient_zero():
    x, z = Value(3.0), Value(4.0)
    assert compiled(x * 2.0, [x, z])(5.0, 1.0) == (10.0, (2.0, 0.0))


def test_an_output_that_is_a_leaf():
    x, z = Value(3.0), Value(4.0)
    assert compiled(x, [x, z])(5.0, 6.0) == (5.0, (1.0, 0.0))
    assert compiled(x, [z])(6.0) == (3.0, (0.0,))


def test_an_output_of_constants_alone():
    x, c = Value(3.0), Value(2.0)
    c.requires_grad = False
    assert compiled(c * 2.0, [x])(1.0) == (4.0, (0.0,))


def test_arguments_are_the_inputs_and_then_what_else_is_wrt():
    x, w, b = Value(2.0), Value(3.0), Value(1.0)
    program = compiled(w * x + b, [x], wrt=[b, w])
    assert program(5.0, 10.0, 7.0) == (45.0, (1.0, 5.0))  # x = 5, b = 10, w = 7
    program = compiled(w * x + b, [x], wrt=[w, x])  # b is a constant, 1
    assert program(5.0, 7.0) == (36.0, (5.0, 7.0))


def test_data_changed_later_does_not_change_a_program():
    x, w = Value(2.0), Value(3.0)
    program = compiled(w * x, [x])
    w.data = 100.0
    assert program(2.0) == (6.0, (3.0,))


def test_an_input_that_needs_no_gradient():
    x, n = Value(-2.0), Value(3.0)
    n.requires_grad = False
    program = compiled(x**n, [x, n], wrt=[x])
    assert program(-2.0, 3.0) == (-8.0, (12.0,))
    assert program(2.0, 0.0) == (1.0, (0.0,))


def test_vectors_and_matrices_stand_for_their_numbers():
    a, v = Matrix([[1.0, 2.0], [3.0, 4.0]]), Vector([5.0, 6.0])
    program = compiled((a @ v).sum(), [v], wrt=[a])
    value, gradients = program(5.0, 6.0, 1.0, 2.0, 3.0, 4.0)
    assert (value, gradients) == (56.0, (5.0, 6.0, 5.0, 6.0))


def test_ones_and_zeros_and_what_nobody_asked_for_are_gone():
    x, w = Value(2.0), Value(3.0)
    y = 1.0 * (w * x) / 1.0 + 0.0 - 0.0 - (-w) * 1.0
    body = compiled(y, [x], wrt=[w]).source.partition("\n    ")[2].splitlines()
    assert body == [
        "v1 = x2 * x1",
        "    v8 = v1 + x2",
        "    # from the output back to the inputs",
        "    x2_bar = 1.0 + x1",
        "    return v8, (x2_bar,)",
    ]


def test_common_subexpressions_are_computed_once():
    x = Value(0.3)
    source = compiled(ad.exp(ad.sin(x)) * ad.exp(ad.sin(x)) + ad.sin(x), [x]).source
    assert (source.count("math.sin"), source.count("math.exp")) == (1, 1)
    y = Value(0.7)
    assert "v3 = v1 + v1" in compiled(x * y + y * x, [x, y], wrt=[]).source  # v2 is v1


def test_control_flow_is_fixed_when_the_graph_is_recorded():
    x = Value(3.0)
    y = x if x > 0 else -x
    assert compiled(y * 1.0, [x])(-5.0) == (-5.0, (1.0,))  # not |x|
    assert compiled(abs(x), [x])(-5.0) == (5.0, (-1.0,))


def test_errors_are_those_of_python_and_show_the_line():
    x = Value(3.0)
    program = compiled(ad.log(x) * 2.0, [x])
    with pytest.raises(ValueError, match=r"math domain error|expected a positive") as caught:
        program(-1.0)
    assert traceback.extract_tb(caught.tb)[-1].line == "v1 = math.log(x1)"
    with pytest.raises(ZeroDivisionError):
        compiled(1.0 / x, [x])(0.0)
    with pytest.raises(ValueError, match="math domain error"):
        compiled(x**0.5, [x])(-1.0)  # never a complex number
    with pytest.raises(OverflowError):
        compiled(ad.exp(x), [x])(1000.0)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x1'"):
        program()


@pytest.mark.parametrize("xp", [math, np], ids=["math", "numpy"])
def test_nothing_overflows_that_does_not_overflow_eagerly(xp):
    x, y = Value(1.0), Value(2.0)
    both = [np.float64(1000.0), np.float64(-1000.0)] if xp is np else [1000.0, -1000.0]
    with np.errstate(over="raise", invalid="raise"):
        assert compiled(ad.sigmoid(x) + ad.softplus(y), [x, y], xp=xp)(*both)[0] == 1.0
        assert compiled(ad.logsumexp([x, y]), [x, y], xp=xp)(*both) == (1000.0, (1.0, 0.0))
        assert compiled(ad.hypot(x, y), [x, y], xp=xp)(3e200, 4e200)[0] == pytest.approx(5e200)


@pytest.mark.parametrize("xp", [math, np], ids=["math", "numpy"])
@pytest.mark.parametrize("choose", [ad.maximum, ad.minimum])
def test_nan_stays_nan(choose, xp):
    x, y = Value(1.0), Value(2.0)
    program = compiled(choose(x, y), [x, y], xp=xp)
    constant = compiled(choose(x, 0.5), [x], xp=xp)
    nan = np.float64(math.nan) if xp is np else math.nan
    assert math.isnan(program(nan, 1.0)[0])
    assert math.isnan(program(1.0, nan)[0])
    assert math.isnan(constant(nan)[0])


def test_infinite_and_nan_constants():
    x = Value(1.0)
    assert compiled(ad.minimum(x, math.inf) + ad.maximum(x, -math.inf), [x])(2.0)[0] == 4.0
    assert math.isnan(compiled(x * math.nan, [x], xp=np)(2.0)[0])


def test_an_operation_that_asks_for_values_cannot_be_compiled():
    @operation
    def step(x):
        return (1.0 if x > 0 else 0.0), lambda grad: (0.0,)

    x = Value(2.0)
    with pytest.raises(
        TypeError, match=r"found a comparison.*write autodiff.maximum, relu or where"
    ):
        compiled(step(x) * x, [x])


@pytest.mark.parametrize(
    "slope",
    [
        lambda x: ad.grad(lambda t: t * t * x)(1.0),
        lambda x: ad.grad(lambda t: x * t * t)(1.0),
        lambda x: ad.jvp(lambda t: x * t * t, (1.0,), (1.0,))[1],
        lambda x: ad.hessian(lambda t: t * t * x)(1.0),
        lambda x: ad.jacrev(lambda t: ad.dot([t, x], [x, t]))(x),
        lambda x: ad.grad(lambda t: 2.0 * t * ad.maximum(x, t))(x - 1.0),
        lambda x: ad.grad(lambda t: x**t)(1.0) * 2.0 / ad.log(x),
    ],
)
def test_a_derivative_in_a_rule_is_compiled(slope):
    @operation
    def square(x):
        return x * slope(x) / 2.0, lambda grad: (grad * slope(x),)

    x = Value(2.0)
    nine_and_six = pytest.approx((9.0, 6.0), rel=4 * EPSILON)
    for xp in (math, np):
        value, gradients = compiled(square(x), [x], xp=xp)(3.0)
        assert (value, *gradients) == nine_and_six
    program = compiled(square(x), [x], xp=np, batch=True)
    assert tuple([found.item() for found in program(np.array([[3.0]]))]) == nine_and_six
    assert ad.trace(square, 3.0).rows[-1].value == pytest.approx(9.0, rel=4 * EPSILON)
    assert Expression(square(x)).javascript([x], wrt=[x])


# -- Kinks, ties, signed zeros, infinities, nan -----------------------------------------------------

EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, math.inf, -math.inf, math.nan]
AT_EDGES = {
    **{
        name: getattr(ad, name)
        for name in [
            "abs",
            "exp",
            "log",
            "sqrt",
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "sinh",
        ]
    },
    **{
        name: getattr(ad, name)
        for name in ["cosh", "tanh", "erf", "sigmoid", "relu", "softplus", "hypot"]
    },
    "negative": lambda x: -x,
    "square": lambda x: x**2,
    "x to the 0": lambda x: x**0,
    "1 / x": lambda x: x**-1,
    "2 to the x": lambda x: 2.0**x,
    "0 to the x": lambda x: 0.0**x,
    "at least 0": lambda x: ad.maximum(x, 0.0),
    "at most -0": lambda x: ad.minimum(x, -0.0),
    "hypot with 1": lambda x: ad.hypot(x, 1.0),
    "where x": lambda x: ad.where(x, x * 2, x * 3),
    "less": lambda x: ad.less(x, 0.0) * x,
    "cube": lambda x: ad.prod([x, x, x]),
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "power": lambda x, y: x**y,
    "hypot of two": lambda x, y: ad.hypot(x, y),
    "maximum": lambda x, y: ad.maximum(x, y),
    "minimum": lambda x, y: ad.minimum(x, y),
    "less_equal": lambda x, y: ad.functions.less_equal(x, y) * y,
    "logsumexp": lambda x, y: ad.logsumexp([x, y]),
    "dot": lambda x, y: ad.dot([x, y], [y, x]),
    "sum": lambda x, y: ad.sum([x, y]),
    "smaller": lambda x, y: ad.where(ad.less(x, y), x, y) * y,
}
BINARY = list(AT_EDGES)[list(AT_EDGES).index("add") :]


ERRORS = (ValueError, ZeroDivisionError, OverflowError)


def walked(f, point):
    """The value and the derivatives; None outside the domain."""
    xs = [Value(x) for x in point]
    try:
        y = f(*xs)
        adjoints = ad.adjoints(y) if y.requires_grad else {}
    except ERRORS:
        return None
    return [y.data, *[adjoints.get(x, 0.0) for x in xs]]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, on the way to nan
@pytest.mark.parametrize("name", AT_EDGES)
def test_compiled_batched_and_propagated_are_walked_at_edges(name):
    f, n = AT_EDGES[name], 2 if name in BINARY else 1
    xs = [Value(0.5), Value(0.7)][:n]
    y = f(*xs)
    expression = Expression(y)
    in_math, in_numpy = compiled(y, xs), compiled(y, xs, xp=np)
    batch = compiled(y, xs, xp=np, batch=True)
    for point in itertools.product(EDGES, repeat=n):
        expected = walked(f, point)
        if name in ("logsumexp", "0 to the x") and not all(map(math.isfinite, point)):
            continue  # a program says nan, as the docstring of compile says
        if expected is None:
            with pytest.raises(ERRORS):
                in_math(*point)
            continue
        again = expression.propagate(dict(zip(xs, point)))
        adjoints = expression.backpropagate(xs)
        values, gradients = batch(np.array([point, point]))
        found = {
            "propagated": [again, *[adjoints[x] for x in xs]],
            "batched": [values[0], *gradients[0]],
            "in numpy": [
                in_numpy(*map(np.float64, point))[0],
                *in_numpy(*map(np.float64, point))[1],
            ],
        }
        found["compiled"] = [in_math(*point)[0], *in_math(*point)[1]]
        for mode, results in found.items():
            assert results == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True), (
                mode,
                point,
            )


# -- Gradients that are graphs -----------------------------------------------------------------------

BENT = {
    "relu": (lambda x: ad.relu(x) * x, {3.0: 6.0, -3.0: 0.0, 0.0: 0.0}, {3.0: 2.0, -3.0: 0.0}),
    "abs": (lambda x: abs(x) * x, {3.0: 6.0, -3.0: 6.0, 0.0: 0.0}, {3.0: 2.0, -3.0: -2.0}),
    "maximum": (
        lambda x: ad.maximum(x, 1.0) * x,
        {3.0: 6.0, -3.0: 1.0, 1.0: 1.5},
        {3.0: 2.0, -3.0: 0.0},
    ),
    "minimum": (
        lambda x: ad.minimum(x, 1.0) * x,
        {3.0: 1.0, -3.0: -6.0, 1.0: 1.5},
        {3.0: 0.0, -3.0: 2.0},
    ),
    "where": (
        lambda x: ad.where(ad.relu(x), x**2, -x),
        {3.0: 6.0, -3.0: -1.0},
        {3.0: 2.0, -3.0: 0.0},
    ),
    "power": (
        lambda x: x**3 * abs(x),
        {3.0: 108.0, -3.0: 108.0, 0.0: 0.0},
        {3.0: 108.0, -3.0: -108.0},
    ),
    "pow": (lambda x: (x * x + 1) ** x, {0.0: 0.0}, {0.0: 0.0}),
    "hypot": (
        lambda x: ad.hypot(x, 0.0) * x,
        {3.0: 6.0, -3.0: 6.0, 0.0: 0.0},
        {3.0: 2.0, -3.0: -2.0},
    ),
}


@pytest.mark.parametrize("name", BENT)
def test_a_gradient_that_is_a_graph_chooses_anew(name):
    """Recorded at 2, run elsewhere: the derivative of relu is the step function, not a 1."""
    f, firsts, seconds = BENT[name]
    x = Value(2.0)
    f(x).backward(create_graph=True)
    gradient = x.grad
    in_math, in_numpy = compiled(gradient, [x]), compiled(gradient, [x], xp=np)
    batch = compiled(gradient, [x], xp=np, batch=True)
    expression = Expression(gradient)
    for point, first in firsts.items():
        second = seconds.get(point)
        values, gradients = batch(np.array([[point], [2.0]]))
        assert values[0] == in_math(point)[0] == expression.propagate({x: point}) == first
        assert in_numpy(np.float64(point))[0] == first
        if second is not None:
            assert (
                gradients[0, 0]
                == in_math(point)[1][0]
                == expression.backpropagate([x])[x]
                == second
            )


# -- Symbols -----------------------------------------------------------------------------------------

ASKED = {
    "<": lambda x: bool(x < 1.0), "<=": lambda x: not x <= 1.0, ">": lambda x: 1 if x > 1.0 else 2,
    "==": lambda x: bool(x == 1.0), "!=": lambda x: bool(x != 1.0), "in": lambda x: x in [1.0, 2.0],
    "bool": bool, "float": float, "int": int, "round": lambda x: f"{x:.2f}", "str": str, "f-string": lambda x: f"{x}",
    "math": math.sqrt, "if": lambda x: 1.0 if x else 0.0, "max": lambda x: max(x, 1.0), "index": lambda x: [1, 2][x],
}  # fmt: skip


@pytest.mark.parametrize("question", ASKED)
def test_a_number_that_is_not_known_answers_no_question(question):
    asked = []

    @operation
    def nosy(x):
        if type(x) is not float:
            asked.append(ASKED[question](x))
        return x * x, lambda grad: (2 * grad * x,)

    x = Value(2.0)
    with pytest.raises(
        TypeError, match=r"a number that is not known yet.*; write autodiff\.maximum"
    ):
        compiled(nosy(x), [x])
    assert asked == []


def test_a_rule_may_look_into_a_set_of_its_own():
    kinds, kind = {"square", "cube"}, "square"

    @operation
    def power(x):
        if kind in kinds:
            return x * x, lambda grad: (2 * grad * x,)
        return x, lambda grad: (grad,)

    x = Value(2.0)
    assert compiled(power(x), [x])(3.0) == (9.0, (6.0,))


def test_a_number_that_is_not_known_can_be_the_key_of_a_dict():
    @operation
    def keeping(x):
        return {x: x * x}[x], lambda grad: (2 * grad * x,)

    x = Value(2.0)
    assert compiled(keeping(x), [x])(3.0) == (9.0, (6.0,))


def test_a_program_that_is_gone_leaves_no_source_behind():
    x = Value(2.0)
    program, one = compiled(x * x, [x]), _new_source()
    assert linecache.getline(one, 4) == "def program(x1):\n"
    del program
    gc.collect()
    assert one in linecache.cache  # where linecache may be walking over it just then
    program, other = compiled(x * x, [x]), _new_source()
    assert one not in linecache.cache
    assert linecache.getline(other, 4) == "def program(x1):\n"
    assert program(3.0) == (9.0, (6.0,))


def _new_source():
    """The name of the program that was compiled last."""
    names = [name for name in linecache.cache if name.startswith("<program ")]
    return max(names, key=lambda name: int(name[9:-1]))


def test_a_long_line_that_begins_with_a_call_is_bracketed():
    x, long = Value(1.5), [Value(0.1 * i) for i in range(40)]
    y = (x * x + 1) ** 3 * (x * x + 1) ** 2 + ad.exp(ad.sin(ad.sum(long))) * ad.sum(long)
    for xp in (math, np):
        value, _ = compiled(y, [x, *long], xp=xp)(1.5, *[np.float64(0.1 * i) for i in range(40)])
        assert value == pytest.approx(y.data, rel=1e-13)


def test_integers_are_refused_by_programs_on_arrays():
    x = Value(2.0)
    program = compiled(ad.maximum(x, 0.25), [x], xp=np)
    with pytest.raises(
        ValueError, match=r"found an array of int64, expected arrays of floats; conv"
    ):
        program(np.array([1, 2]))


@pytest.mark.numba
def test_a_program_of_plain_python_runs_under_numba_unchanged():
    import numba

    x1, x2, y = example()
    y = y + ad.relu(x1 - x2) * ad.maximum(x1, 0.5) + ad.logsumexp([x1, x2]) + ad.erf(x1) + x2**1.5
    program = compiled(y, [x1, x2])
    names = {}
    exec(program.source, names)
    jitted = numba.njit(names["program"])
    for point in ((2.0, 5.0), (5.0, 2.0), (0.25, 0.5)):
        value, gradients = program(*point)
        found = jitted(*point)
        assert found[0] == pytest.approx(value, rel=1e-14)
        assert found[1] == pytest.approx(gradients, rel=1e-14)


# -- The text that is executed --------------------------------------------------------------------

LABELS = ["x\nimport os", '"""', "'" * 3, "x; import os", "#", "x)\n    raise SystemExit\n", "\\", "\r", "{x}"]  # fmt: skip


@pytest.mark.parametrize("label", LABELS)
def test_a_label_changes_nothing_in_what_is_executed(label):
    x1, x2, y = example()
    clean = compiled(y, [x1, x2]).source
    for node in topological_order(y):
        node.label = label
    program = compiled(y, [x1, x2])
    assert program.source == clean
    assert program(2.0, 5.0)[0] == y.data


def test_the_name_of_an_operation_changes_nothing_either():
    def rule(x):
        return x * x, lambda grad: (2 * grad * x,)

    rule.__name__ = "x\nimport os"
    x = Value(3.0)
    assert "import os" not in compiled(operation(rule)(x), [x]).source


@for_all(graphs(), examples=50)
def test_a_program_is_pickled_through_its_source(graph):
    leaves, y = graph
    program = compiled(y, leaves, xp=np)
    for other in (pickle.loads(pickle.dumps(program)), copy.deepcopy(program)):
        assert other.source == program.source
        assert other(*values(leaves)) == program(*values(leaves))


def test_a_program_for_numpy_takes_floats_too():
    x = Value(0.5)
    value, (gradient,) = compiled(ad.erf(x), [x], xp=np)(0.25)
    assert (value, gradient) == (math.erf(0.25), pytest.approx(ad.grad(ad.erf)(0.25), rel=1e-15))


def test_a_repr_is_short():
    x1, x2, y = example()
    assert repr(compiled(y, [x1, x2])) == "<Program of 13 lines: print its .source>"


# -- Size -----------------------------------------------------------------------------------------


def test_a_hundred_thousand_nodes_in_a_row():
    x, b = Value(1.0001), Value(0.0001)
    y = x
    for _ in range(50_000):
        y = y * x
        y = y + b
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        program = compiled(y, [x, b])
    finally:
        sys.setrecursionlimit(limit)
    y.backward()
    assert program(x.data, b.data) == (y.data, (x.grad, b.grad))


def test_a_gradient_of_logsumexp_is_right_far_from_where_it_was_recorded():
    x, y = Value(0.5), Value(0.5)
    slope = ad.adjoints(ad.logsumexp([x, x, y]), create_graph=True)[x]
    expected = ad.grad(lambda x: ad.logsumexp([x, x, -3.0]))(-2.0)
    program = Expression(slope).compile([x, y], wrt=[x, y])
    value, curvatures = program(-2.0, -3.0)
    assert value == pytest.approx(expected, rel=1e-15)
    curved = ad.grad(ad.grad(lambda x: ad.logsumexp([x, x, -3.0])))(-2.0)
    assert curvatures == pytest.approx((curved, -curved), rel=1e-14)
    assert Expression(slope).propagate({x: -2.0, y: -3.0}) == value


@pytest.mark.parametrize("total", [ad.sum, ad.prod, ad.logsumexp, lambda xs: ad.dot(xs, xs)])
def test_an_operation_of_thousands(total):
    xs = [Value(1.0 + i / 1e8) for i in range(5000)]
    y = total(xs)
    program = compiled(y, xs)
    y.backward()
    value, gradients = program(*values(xs))
    # Python's own sum of floats rounds once since 3.12, a program's + each time: 5000 roundings
    assert value == pytest.approx(y.data, rel=5000 * sys.float_info.epsilon)
    assert gradients == pytest.approx([x.grad for x in xs], rel=5000 * sys.float_info.epsilon)
    assert max(map(len, program.source.splitlines())) <= 100


@pytest.mark.parametrize("xp", [math, np], ids=["math", "numpy"])
def test_ones_and_signs_are_left_out_of_a_program_but_not_of_its_result(xp):
    x = Value(2.0)
    for f, exact in [
        (lambda x: x * -1.0, (-2.0, -1.0)),
        (lambda x: x / -1.0, (-2.0, -1.0)),
        (lambda x: -1.0 * x, (-2.0, -1.0)),
        (lambda x: (-x) * -1.0, (2.0, 1.0)),
        (lambda x: (-x) / -1.0, (2.0, 1.0)),
        (lambda x: 1.0 * x / 1.0, (2.0, 1.0)),
        (lambda x: 0.0 - x + 0.0, (-2.0, -1.0)),
    ]:
        value, (slope,) = compiled(f(x), [x], xp=xp)(2.0 if xp is math else np.array(2.0))
        assert (value, slope) == exact


def test_what_stands_in_two_places_is_computed_once():
    x, y, z = Value(2.0), Value(3.0), Value(4.0)
    assert compiled(x**y, [x, y]).source.count("x2 - 1.0") == 1
    for of_many in (ad.logsumexp, ad.maximum):
        total = of_many([x, y, z]) if of_many is ad.logsumexp else of_many(of_many(x, y), z)
        assert compiled(total, [x, y, z], wrt=[]).source.count("x1 >= x2") == 1


def test_the_local_derivatives_in_javascript():
    x, y = Value(2.0), Value(3.0)
    product, choice = x * y, ad.where(x, x, y)
    source = Expression(product).javascript([x, y], [x], nodes=[product])
    assert "return [v1, [x2], [v1], [1.0], [[x2, 0.0]]];" in source  # y leads to nothing wanted
    source = Expression(choice).javascript([x, y], [x, y], nodes=[choice])
    assert "[[0.0, x1_bar, x2_bar]]];" in source  # by the condition there is none


TERMS = " + ".join(f"term{i}" for i in range(20))  # longer than a line


@pytest.mark.parametrize(
    ("line", "joined"),
    [
        (f"    x = {TERMS}", f"    x = ({TERMS})"),
        (f"    return {TERMS}", f"    return ({TERMS})"),
        (f"    x = f({TERMS})", f"    x = f({TERMS})"),
        (f"    x = f([{TERMS}], (y, z))", f"    x = f([{TERMS}], (y, z))"),
        (f"    x = ({TERMS}) * f(y)", f"    x = (({TERMS}) * f(y))"),
        (f"    x = f(y) * ({TERMS})", f"    x = (f(y) * ({TERMS}))"),
        (f"    x = [{TERMS}]", f"    x = [{TERMS}]"),
        (f"def program({TERMS}):", f"def program({TERMS}):"),
        (f"    # {TERMS}", f"    # {TERMS}"),
        (f"    x = {TERMS}  # (n,)", f"    x = ({TERMS})"),
    ],
)
def test_a_long_line_is_broken_where_python_may_break_it(line, joined):
    lines = wrapped(line)
    more = "    # " if "#" in joined else " " * (len(line) - len(line.lstrip()) + 4)
    assert len(lines) == 2
    assert max(map(len, lines)) <= 100
    assert lines[1].startswith(more)
    assert f"{lines[0]} {lines[1].removeprefix(more)}" == joined


def test_a_line_that_fits_is_left_alone():
    assert wrapped("x" * 100) == ["x" * 100]
    assert wrapped(f"{'x' * 95}  # (n,)") == ["x" * 95]  # the remark is left out
    assert len(wrapped(f"    x = {'y + ' * 22}yyyyy")) == 2  # 101


@pytest.mark.parametrize(
    ("inputs", "wrt", "xp", "kind", "message"),
    [
        ("x x", "x", math, ValueError, r"found 3.0 \('x'\) twice in inputs, expected once"),
        ("x", "x x", math, ValueError, r"found 3.0 \('x'\) twice in wrt, expected once"),
        (
            "y",
            "x",
            math,
            ValueError,
            r"compile, inputs: found 6.0, the result of an operation \(\*",
        ),
        ("x", "y", math, ValueError, r"compile, wrt: found 6.0, the result of an operation \(\*\)"),
        (
            "x",
            "c",
            math,
            ValueError,
            r"found a constant, 2.0, in wrt, expected leaves that require",
        ),
        ("number", "x", math, TypeError, "compile, inputs: found 1.0 of type float, expected"),
        ("x", "x", "numpy", TypeError, "found xp = 'numpy', expected the module math, or that of"),
        ("x", "x", None, TypeError, "found xp = None, expected the module math"),
        ("x", "x", sys, TypeError, "found xp = <module 'sys'.*expected the module math"),
    ],
)
def test_what_compile_refuses(inputs, wrt, xp, kind, message):
    x = Value(3.0, label="x")
    y = 2.0 * x
    named = {"x": x, "y": y, "c": y.parents[0], "number": 1.0}
    with pytest.raises(kind, match=message):
        Expression(y).compile(
            [named[n] for n in inputs.split()], [named[n] for n in wrt.split()], xp=xp
        )


def test_a_power_without_a_division_by_zero_is_one_call():
    x = Value(2.0)
    assert "    v1 = math.pow(x1, 0.5)\n" in compiled(x**0.5, [x]).source


def test_a_constant_over_a_dual_is_not_compiled():
    x, d = Value(3.0), Value(ad.Dual(2.0, 1.0))
    for xp, batch in ((math, False), (np, False), (np, True)):
        with pytest.raises(TypeError, match="compile: found a constant, Dual.*, expected a float"):
            Expression(x * d).compile([x], wrt=[x], xp=xp, batch=batch)
    with pytest.raises(TypeError, match="compile: found a constant, Dual.*, expected a float"):
        Expression(x * d).javascript([x], wrt=[x])
    assert Expression(x * d).compile([x, d], wrt=[d])(3.0, 2.0) == (6.0, (3.0,))


def test_a_domain_error_shortens_a_long_number():
    with pytest.raises(OverflowError) as caught:
        ad.exp(10**400)
    assert len(str(caught.value)) < 100


def test_outputs_and_inputs_have_an_order():
    x, y = Value(2.0, label="x"), Value(3.0, label="y")
    z = x - y
    for unordered in ({x, y}, {x: 1.0, y: 2.0}, frozenset([x])):
        for use in (
            Expression,
            lambda found: Expression(z).compile(found, wrt=[x]),
            lambda found: Expression(z).compile([x, y], wrt=found),
            lambda found: Expression(z).javascript(found, wrt=[]),
        ):
            with pytest.raises(TypeError, match="expected a (sequence of leaves|Value)"):
                use(unordered)


def test_several_outputs_in_any_form_are_shown_as_formulas():
    x, y = Value(2.0, label="x"), Value(3.0, label="y")
    for outputs in ([x * y, x], Matrix([[x * y, x]]), (v for v in (x * y, x)), [[x * y], [x]]):
        assert Expression(outputs)._repr_html_().count("<code>") == 2


# -- What a program takes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "number",
    [20, np.int8(20), np.uint8(20), np.float32(20), np.float64(20), Fraction(20), np.array(20)],
    ids=lambda x: type(x).__name__,
)
def test_a_program_of_floats_computes_with_floats(number):
    x, y = Value(1.0), Value(1.0)
    program = Expression(x**3 * y + 400 * y).compile([x, y], wrt=[x, y])
    for other in (0.5, np.int8(120)):  # the sum of small integers overflows too
        found, gradient = program(number, other)
        assert (found, gradient) == (8400.0 * other, (1200.0 * other, 8400.0))
        assert {type(v) for v in (found, *gradient)} == {float}


@pytest.mark.parametrize("xp", [math, np], ids=lambda xp: xp.__name__)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("2", r"found '2' of type str, .*; convert it first: float\(text\)"),
        (None, "found None of type NoneType"),
        ([1.0, 2.0], r"found \[1.0, 2.0\] of type list, expected a plain number; .*numpy"),
        (Vector([1.0]), "of type Vector, expected a plain number; .*numpy"),
        (Value(2.0), "of type Value, expected a plain number; differentiate what it was compiled"),
        (ad.Dual(2.0, 1.0), "of type Dual, expected a plain number"),
        (1j, "found 1j of type complex, expected one real number"),
        (Decimal(2), "of type Decimal, expected one real number"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_a_program_refuses_what_is_no_number(xp, given, message):
    x, y = Value(1.0), Value(1.0)
    program = Expression(x + y).compile([x, y], wrt=[x, y], xp=xp)
    for arguments in ((given, given), (given, 1.0), (1.0, given)):
        with pytest.raises(TypeError, match=f"program: .*{message}"):
            program(*arguments)


def test_arrays_are_for_programs_of_a_library_of_arrays():
    x = Value(1.0)
    for array in (np.array([1.0, 2.0]), np.array([20], dtype=np.int8)):
        with pytest.raises(TypeError, match="of type ndarray, .*; for arrays compile with xp=nu"):
            Expression(x * x).compile([x], wrt=[x])(array)


def test_the_gradient_of_a_softmax_shifts_by_the_largest_number_of_now():
    x, y = Value(0.0), Value(0.0)
    ad.logsumexp([x, y]).backward(create_graph=True)
    gradient = Expression(x.grad)
    plain, batch = compiled(x.grad, [x, y]), compiled(x.grad, [x, y], xp=np, batch=True)
    for shift in (-2000.0, -740.0, 1000.0):  # e^-740 has two digits left, e^1000 is too large
        at = shift, shift - 1
        found = plain(*at)[0], batch(np.array([at]))[0][0], gradient.propagate({x: at[0], y: at[1]})
        assert found == (pytest.approx(1 / (1 + math.exp(-1)), rel=1e-15),) * 3
