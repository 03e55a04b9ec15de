"""Programs number by number: their source, their numbers, what they take."""

import copy
import itertools
import math
import pickle
import sys
import traceback
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st
from oracles import EPSILON, allowed
from random_graphs import for_all, graphs, layered, numbers

import autodiff as ad
from autodiff import Expression, Value, operation
from autodiff.compiler.printer import wrapped
from autodiff.graph import topological_order


def compiled(y, inputs, wrt=None, **arguments):
    return Expression(y).compile(inputs, wrt=inputs if wrt is None else wrt, **arguments)


def close(found, expected, bound):
    """Whether all numbers differ by no more than their bounds."""
    np.testing.assert_array_less(abs(found - expected), np.nextafter(bound, np.inf))


def walked(y, leaves, points):
    """The values and gradients at points, by walking, and the rounding errors allowed in both."""
    expression, rows = Expression([y, *leaves]), []
    for point in points:
        expression.propagate(dict(zip(leaves, point)))
        again = expression.sink[0]
        adjoints, (of_value, of_gradients) = ad.adjoints(again), allowed(again, leaves)
        gradients = [adjoints.get(x, 0.0) for x in leaves]
        rows.append([again.data, *gradients, of_value, *of_gradients])
    k = len(leaves) + 1
    found = np.array(rows).reshape(len(points), 2 * k)
    return found[:, 0], found[:, 1:k], found[:, k], found[:, k + 1 :]


@for_all(st.one_of(graphs(), layered()), st.data(), examples=200)
def test_programs_compute_what_walking_computes(graph, data):
    """Number by number, entry by entry, and for a batch, by parameters and by inputs."""
    leaves, y = graph
    n, cut = data.draw(st.integers(0, 3)), data.draw(st.integers(0, len(leaves)))
    order = data.draw(st.permutations(range(len(leaves))))[: data.draw(st.integers(1, 9))]
    shared = [data.draw(numbers) for _ in leaves[cut:]]
    points = np.array([[data.draw(numbers) for _ in range(cut)] + shared for _ in range(n)])
    points = points.reshape(n, len(leaves))
    values, gradients, of_values, of_gradients = walked(y, leaves, points)
    wrt = [leaves[i] for i in order]

    found, sums = compiled(y, leaves[:cut], leaves[cut:], xp=np, batch=True)(
        points[:, :cut], np.array(shared)
    )
    assert (found.shape, sums.shape) == ((n,), (len(shared),))
    close(found, values, of_values)
    bounds = of_gradients + n * EPSILON * abs(gradients)  # adding up rounds too
    close(sums, gradients[:, cut:].sum(axis=0), bounds[:, cut:].sum(axis=0))

    found, each = compiled(y, leaves, wrt, xp=np, batch=True)(points)
    close(found, values, of_values)
    close(each, gradients[:, order], of_gradients[:, order])

    if n:
        found, each = compiled(y, leaves, wrt)(*points[0])
        close(found, values[0], of_values[0])
        close(np.array(each), gradients[0, order], of_gradients[0, order])
        found, each = compiled(y, leaves, wrt, xp=np)(*points.T)
        close(np.broadcast_to(found, n), values, of_values)
        for i, gradient in zip(order, each):
            close(np.broadcast_to(gradient, n), gradients[:, i], of_gradients[:, i])


X, Z, W, C = Value(3.0), Value(4.0), Value(5.0), Value(2.0)
C.requires_grad = False
CASES = [
    ((X * 2.0) * (X * X), [X], [X], (3.0,), (54.0, (54.0,))),  # a diamond: 2 x³ and 6 x²
    (X * X, [X], [X], (5.0,), (25.0, (10.0,))),
    (ad.dot([X, X], [X, X]), [X], [X], (5.0,), (50.0, (20.0,))),
    (X * 2.0, [X, Z], [X, Z], (5.0, 1.0), (10.0, (2.0, 0.0))),  # Z does not matter
    (X, [X, Z], [X, Z], (5.0, 6.0), (5.0, (1.0, 0.0))),
    (X, [Z], [Z], (6.0,), (3.0, (0.0,))),
    (C * 2.0, [X], [X], (1.0,), (4.0, (0.0,))),
    (W * X + Z, [X], [Z, W], (5.0, 10.0, 7.0), (45.0, (1.0, 5.0))),  # X, then Z and W
    (W * X + Z, [X], [W, X], (5.0, 7.0), (39.0, (5.0, 7.0))),  # Z is 4
    (X**C, [X, C], [X], (-2.0, 3.0), (-8.0, (12.0,))),
    (X**C, [X, C], [X], (2.0, 0.0), (1.0, (0.0,))),
    (X * -1.0, [X], [X], (2.0,), (-2.0, (-1.0,))),  # ones and signs are not in its text
    (X / -1.0, [X], [X], (2.0,), (-2.0, (-1.0,))),
    (-1.0 * X, [X], [X], (2.0,), (-2.0, (-1.0,))),
    ((-X) * -1.0, [X], [X], (2.0,), (2.0, (1.0,))),
    ((-X) / -1.0, [X], [X], (2.0,), (2.0, (1.0,))),
    (-1.0 / X, [X], [X], (2.0,), (-0.5, (0.25,))),
    (1.0 * X / 1.0, [X], [X], (2.0,), (2.0, (1.0,))),
    (0.0 - X + 0.0, [X], [X], (2.0,), (-2.0, (-1.0,))),
    (-X - (-Z), [X, Z], [X, Z], (2.0, 3.0), (1.0, (-1.0, 1.0))),
    (ad.minimum(X, math.inf) + ad.maximum(X, -math.inf), [X], [X], (2.0,), (4.0, (2.0,))),
]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_values_and_gradients(case):
    y, inputs, wrt, point, expected = case
    for xp in (math, np):
        assert compiled(y, inputs, wrt, xp=xp)(*point) == expected


def test_data_changed_later_does_not_change_a_program():
    x, w = Value(2.0), Value(3.0)
    program = compiled(w * x, [x])
    w.data = 100.0
    assert program(2.0) == (6.0, (3.0,))


def test_control_flow_is_fixed_when_the_graph_is_recorded():
    x = Value(3.0)
    y = x if x > 0 else -x
    assert compiled(y * 1.0, [x])(-5.0) == (-5.0, (1.0,))  # not |x|
    assert compiled(abs(x), [x])(-5.0) == (5.0, (-1.0,))


# -- The source -----------------------------------------------------------------------------------

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


def test_the_source_is_what_a_person_would_write():
    x1, x2 = Value(2.0, label="rate"), Value(5.0, label="not an identifier")
    program = compiled(ad.log(x1) + x1 * x2 - ad.sin(x2), [x1, x2])
    assert program.source == SOURCE
    assert program._repr_markdown_() == f"```python\n{SOURCE}```"
    assert repr(program) == "<Program of 14 lines: print its .source>"


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


def test_what_stands_in_two_places_is_computed_once():
    x, y, z = Value(0.3), Value(0.7), Value(4.0)
    source = compiled(ad.exp(ad.sin(x)) * ad.exp(ad.sin(x)) + ad.sin(x), [x]).source
    assert (source.count("math.sin"), source.count("math.exp")) == (1, 1)
    assert "v3 = v1 + v1" in compiled(x * y + y * x, [x, y], wrt=[]).source  # v2 is v1
    assert compiled(x**y, [x, y]).source.count("x2 - 1.0") == 1
    for total in (ad.logsumexp([x, y, z]), ad.maximum(ad.maximum(x, y), z)):
        assert compiled(total, [x, y, z], wrt=[]).source.count("(x1, x2)") == 1


def test_a_power_is_a_sign_where_it_is_real_and_else_a_call():
    x = Value(2.0)
    for y, text in ((x**3, "x1 ** 3.0"), (2.0**x, "2.0 ** x1"), (x**0.5, "power(x1, 0.5)")):
        assert f"    v1 = {text}\n" in compiled(y, [x], wrt=[]).source


TERMS = " + ".join(f"term{i}" for i in range(20))  # longer than a line


@pytest.mark.parametrize(
    ("line", "joined"),
    [
        (f"    x = {TERMS}", f"    x = ({TERMS})"),
        (f"    return {TERMS}", f"    return ({TERMS})"),
        (f"    x = f({TERMS})", f"    x = f({TERMS})"),
        (f"    x = ({TERMS}) * f(y)", f"    x = (({TERMS}) * f(y))"),
        (f"    x = f(y) * ({TERMS})", f"    x = (f(y) * ({TERMS}))"),
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


@pytest.mark.parametrize("total", [ad.sum, ad.prod, ad.logsumexp, lambda xs: ad.dot(xs, xs)])
def test_an_operation_of_hundreds(total):
    xs = [Value(1.0 + i / 1e8) for i in range(400)]
    y = total(xs)
    program = compiled(y, xs)
    y.backward()
    value, gradients = program(*[x.data for x in xs])
    # Python's own sum of floats rounds once since 3.12, a program's + each time: 400 roundings
    assert value == pytest.approx(y.data, rel=400 * sys.float_info.epsilon)
    assert gradients == pytest.approx([x.grad for x in xs], rel=400 * sys.float_info.epsilon)
    assert max(map(len, program.source.splitlines())) <= 100


def test_a_long_chain_needs_no_recursion():
    x, b = Value(1.0001), Value(0.0001)
    y = x
    for _ in range(2_000):
        y = y * x + b
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        program = compiled(y, [x, b])
    finally:
        sys.setrecursionlimit(limit)
    y.backward()
    assert program(x.data, b.data) == (y.data, (x.grad, b.grad))


LABELS = ["x\nimport os", '"""', "'" * 3, "x; import os", "#", "x)\n    raise SystemExit\n", "\\", "\r", "{x}"]  # fmt: skip


@pytest.mark.parametrize("label", LABELS)
def test_no_label_and_no_name_of_an_operation_reaches_the_text(label):
    def rule(x):
        return x * x, lambda grad: (2 * grad * x,)

    x = Value(3.0)
    clean = compiled(operation(rule)(x) * x, [x]).source
    rule.__name__ = label
    y = operation(rule)(x) * x
    for node in topological_order(y):
        node.label = label
    assert compiled(y, [x]).source == clean


# -- Numbers --------------------------------------------------------------------------------------


def test_errors_are_those_of_python_and_show_the_line():
    x = Value(3.0)
    program = compiled(ad.log(x) * 2.0, [x])
    with pytest.raises(ValueError, match=r"math domain error|expected a positive") as caught:
        program(-1.0)
    assert traceback.extract_tb(caught.tb)[-1].line == "v1 = math.log(x1)"
    other = compiled(ad.sqrt(x), [x])  # another program, another file
    with pytest.raises(ValueError, match=r"math domain error|expected a nonnegative") as caught:
        other(-1.0)
    assert traceback.extract_tb(caught.tb)[-1].line == "v1 = math.sqrt(x1)"
    with pytest.raises(ZeroDivisionError):
        compiled(1.0 / x, [x])(0.0)
    with pytest.raises(ValueError, match=r"x \*\* n: x = -1.0, n = 0.5 is outside"):
        compiled(x**0.5, [x])(-1.0)  # never a complex number
    with pytest.raises(ZeroDivisionError):
        compiled(x ** (x - 1.0), [x])(0.0)
    with pytest.raises(OverflowError):
        compiled(ad.exp(x), [x])(1000.0)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x1'"):
        program()


@pytest.mark.parametrize("xp", [math, np], ids=["math", "numpy"])
def test_nothing_overflows_that_does_not_overflow_eagerly(xp):
    x, y = Value(1.0), Value(2.0)
    both = 1000.0, -1000.0
    with np.errstate(over="raise", invalid="raise"):
        assert compiled(ad.sigmoid(x) + ad.softplus(y), [x, y], xp=xp)(*both)[0] == 1.0
        assert compiled(ad.logsumexp([x, y]), [x, y], xp=xp)(*both) == (1000.0, (1.0, 0.0))
        assert compiled(ad.hypot(x, y), [x, y], xp=xp)(3e200, 4e200)[0] == pytest.approx(5e200)


EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, math.inf, -math.inf, math.nan]
UNARY = "abs exp log sqrt sin cos tan asin acos atan sinh cosh tanh erf sigmoid relu softplus hypot"
AT_EDGES = {name: getattr(ad, name) for name in UNARY.split()} | {
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


def at_edge(f, point):
    """The value and the derivatives, by walking; None outside the domain."""
    xs = [Value(x) for x in point]
    try:
        y = f(*xs)
        adjoints = ad.adjoints(y) if y.requires_grad else {}
    except ERRORS:
        return None
    return [y.data, *[adjoints.get(x, 0.0) for x in xs]]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, on the way to nan
@pytest.mark.parametrize("name", AT_EDGES)
def test_programs_and_propagate_at_edges(name):
    f, n = AT_EDGES[name], 2 if name in BINARY else 1
    xs = [Value(0.5), Value(0.7)][:n]
    y = f(*xs)
    expression = Expression(y)
    in_math, in_numpy = compiled(y, xs), compiled(y, xs, xp=np)
    batch = compiled(y, xs, xp=np, batch=True)
    for point in itertools.product(EDGES, repeat=n):
        expected = at_edge(f, point)
        if name in ("logsumexp", "0 to the x", "power") and not all(map(math.isfinite, point)):
            continue  # a program may say nan, as the docstring of compile says
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
        }
        for mode, program in (("compiled", in_math), ("in numpy", in_numpy)):
            value, slopes = program(*point)
            found[mode] = [value, *slopes]
        for mode, results in found.items():
            right = pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)
            assert results == right, (mode, point)


# A gradient that is a graph, recorded at 2 and run elsewhere: f, f' and f''.
BENT = {
    "relu": (lambda x: ad.relu(x) * x, {3.0: 6.0, -3.0: 0.0, 0.0: 0.0}, {3.0: 2.0, -3.0: 0.0}),
    "abs": (lambda x: abs(x) * x, {3.0: 6.0, -3.0: 6.0, 0.0: 0.0}, {3.0: 2.0, -3.0: -2.0}),
    "maximum": (lambda x: ad.maximum(x, 1.0) * x, {3.0: 6.0, -3.0: 1.0, 1.0: 1.5},
                {3.0: 2.0, -3.0: 0.0}),
    "minimum": (lambda x: ad.minimum(x, 1.0) * x, {3.0: 1.0, -3.0: -6.0, 1.0: 1.5},
                {3.0: 0.0, -3.0: 2.0}),
    "where": (lambda x: ad.where(ad.relu(x), x**2, -x), {3.0: 6.0, -3.0: -1.0},
              {3.0: 2.0, -3.0: 0.0}),
    "power": (lambda x: x**3 * abs(x), {3.0: 108.0, -3.0: 108.0, 0.0: 0.0},
              {3.0: 108.0, -3.0: -108.0}),
    "pow": (lambda x: (x * x + 1) ** x, {0.0: 0.0}, {0.0: 0.0}),
    "hypot": (lambda x: ad.hypot(x, 0.0) * x, {3.0: 6.0, -3.0: 6.0, 0.0: 0.0},
              {3.0: 2.0, -3.0: -2.0}),
}  # fmt: skip


@pytest.mark.parametrize("name", BENT)
def test_a_gradient_that_is_a_graph_chooses_anew(name):
    """The derivative of relu is the step function, not the 1 that it was when recorded."""
    f, firsts, seconds = BENT[name]
    x = Value(2.0)
    f(x).backward(create_graph=True)
    gradient = x.grad
    in_math, in_numpy = compiled(gradient, [x]), compiled(gradient, [x], xp=np)
    batch = compiled(gradient, [x], xp=np, batch=True)
    expression = Expression(gradient)
    for point, first in firsts.items():
        values, gradients = batch(np.array([[point], [2.0]]))
        assert values[0] == in_math(point)[0] == expression.propagate({x: point}) == first
        assert in_numpy(point)[0] == first
        if point in seconds:
            slopes = [gradients[0, 0], in_math(point)[1][0], expression.backpropagate([x])[x]]
            assert slopes == [seconds[point]] * 3


def test_the_gradient_of_a_softmax_shifts_by_the_largest_number_of_now():
    x, y = Value(0.0), Value(0.0)
    ad.logsumexp([x, y]).backward(create_graph=True)
    gradient = Expression(x.grad)
    plain, batch = compiled(x.grad, [x, y]), compiled(x.grad, [x, y], xp=np, batch=True)
    for shift in (-2000.0, -740.0, 1000.0):  # e^-740 has two digits left, e^1000 is too large
        at = shift, shift - 1
        found = plain(*at)[0], batch(np.array([at]))[0][0], gradient.propagate({x: at[0], y: at[1]})
        assert found == (pytest.approx(1 / (1 + math.exp(-1)), rel=1e-15),) * 3
    curved = ad.grad(ad.grad(lambda x: ad.logsumexp([x, -3.0])))(-2.0)
    assert plain(-2.0, -3.0)[1] == pytest.approx((curved, -curved), rel=1e-14)


# -- Operations of one's own ----------------------------------------------------------------------

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
    wanted = r"a number that is not known yet.*; write autodiff\.maximum, relu or where"
    with pytest.raises(TypeError, match=wanted):
        compiled(nosy(x), [x])
    assert asked == []


def test_a_rule_may_look_into_a_set_of_its_own_and_a_dict_of_its_numbers():
    kinds, kind = {"square", "cube"}, "square"

    @operation
    def power(x):
        if kind in kinds:
            return {x: x * x}[+x], lambda grad: (2 * grad * x,)
        return x, lambda grad: (grad,)

    x = Value(2.0)
    assert compiled(power(x), [x])(3.0) == (9.0, (6.0,))


@pytest.mark.parametrize(
    ("chosen", "at_two"),
    [(lambda x: x > 2.0, 0.0), (lambda x: x >= 2.0, 1.0), (lambda x: x < 2.0, 0.0),
     (lambda x: x <= 2.0, 1.0)],
)  # fmt: skip
def test_a_comparison_in_a_rule_is_made_again_by_the_program(chosen, at_two):
    @operation
    def bent(x):
        return ad.where(chosen(x), x * x, -x), lambda grad: (grad,)

    x = Value(5.0)
    program = compiled(bent(x), [x], xp=np)
    for point in (1.0, 3.0):
        assert program(point)[0] == (point**2 if chosen(point) else -point)
    assert program(2.0)[0] == (4.0 if at_two else -2.0)


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


# -- What a program takes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "number",
    [20, np.int8(20), np.uint8(20), np.float32(20), Fraction(20), Decimal(20), np.array(20)],
    ids=lambda x: type(x).__name__,
)
def test_a_program_computes_with_floats(number):
    x, y = Value(1.0), Value(1.0)
    for xp in (math, np):
        program = compiled(x**3 * y + 400 * y, [x, y], xp=xp)
        for other in (0.5, np.int8(120)):  # the sum of small integers overflows too
            found, gradient = program(number, other)
            assert (found, gradient) == (8400.0 * other, (1200.0 * other, 8400.0))


def test_arrays_of_integers_are_arrays_of_floats():
    x = Value(2.0)
    value, (slope,) = compiled(ad.maximum(x * x, 0.25), [x], xp=np)(np.array([0, 100], np.int8))
    assert (value.tolist(), slope.tolist()) == ([0.25, 10_000.0], [0.0, 200.0])


@pytest.mark.parametrize("given", [None, [1.0, 2.0], Value(2.0), ad.Dual(2.0, 1.0), 1j, {}, "two"])
def test_a_program_of_floats_refuses_what_is_no_number(given):
    program = compiled(Value(1.0) * X, [X])
    with pytest.raises((TypeError, ValueError)):
        program(given)


def test_a_program_is_pickled_through_its_source():
    x = Value(0.5)
    for xp in (math, np):
        program = compiled(ad.erf(x) * x, [x], xp=xp)
        for other in (pickle.loads(pickle.dumps(program)), copy.deepcopy(program)):
            assert other.source == program.source
            assert other(0.25) == program(0.25)


@pytest.mark.numba
def test_a_program_of_plain_python_runs_under_numba_unchanged():
    import numba

    x1, x2 = Value(2.0), Value(5.0)
    y = ad.log(x1) + x1 * x2 - ad.sin(x2) + ad.sigmoid(x1 - x2) * abs(x1) + ad.erf(x1) + x2**3
    program = compiled(y, [x1, x2])
    names = {}
    exec(program.source, names)
    jitted = numba.njit(names["program"])
    for point in ((2.0, 5.0), (5.0, 2.0), (0.25, 0.5)):
        value, gradients = program(*point)
        found = jitted(*point)
        assert found[0] == pytest.approx(value, rel=1e-14)
        assert found[1] == pytest.approx(gradients, rel=1e-14)
