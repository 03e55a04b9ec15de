"""Programs number by number: their numbers, their source, what they take."""

import copy
import math
import operator
import pickle
import sys
import traceback
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st
from modes import in_every_derivative
from oracles import EPSILON, allowed
from random_graphs import for_all, graphs, layered, numbers
from tables import cases

import autodiff as ad
from autodiff import Expression, Value, operation, ops
from autodiff.engine.graph import topological_order
from autodiff.engine.operation import unwrapped


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


def agree(y, inputs, wrt, rows, p, order=None, xp=np):
    """All programs of y compute what walking does; the one for a batch by the parameters wrt.

    order: the places, among inputs and wrt, of what the others differentiate by. xp: the library of
    those for a batch.
    """
    leaves, n, cut = [*inputs, *wrt], len(rows), len(inputs)
    points = np.hstack([rows, np.broadcast_to(p, (n, len(wrt)))])
    values, gradients, of_values, of_gradients = walked(y, leaves, points)
    program = compiled(y, inputs, wrt, xp=xp, batch=True)
    found, sums = map(np.asarray, program(rows, p))
    assert (found.shape, sums.shape) == ((n,), (len(wrt),))
    close(found, values, of_values)
    bounds = of_gradients + n * EPSILON * abs(gradients)  # adding up rounds too
    close(sums, gradients[:, cut:].sum(axis=0), bounds[:, cut:].sum(axis=0))

    order = [*range(len(leaves))] if order is None else order
    chosen = [leaves[i] for i in order]
    found, each = map(np.asarray, compiled(y, leaves, chosen, xp=xp, batch=True)(points))
    close(found, values, of_values)
    close(each, gradients[:, order], of_gradients[:, order])
    if n:
        found, each = compiled(y, leaves, chosen)(*points[0])
        close(found, values[0], of_values[0])
        close(np.array(each), gradients[0, order], of_gradients[0, order])
        found, each = compiled(y, leaves, chosen, xp=np)(*points.T)
        close(np.broadcast_to(found, n), values, of_values)
        for i, gradient in zip(order, each):
            close(np.broadcast_to(gradient, n), gradients[:, i], of_gradients[:, i])
    return program


@for_all(st.one_of(graphs(), layered()), st.data(), examples=100)
def test_programs_compute_what_walking_computes(graph, data):
    """Number by number, entry by entry, and for a batch, by parameters and by inputs."""
    leaves, y = graph
    n, cut = data.draw(st.integers(0, 3)), data.draw(st.integers(0, len(leaves)))
    order = data.draw(st.permutations(range(len(leaves))))[: data.draw(st.integers(1, 9))]
    shared = [data.draw(numbers) for _ in leaves[cut:]]
    rows = np.array([[data.draw(numbers) for _ in range(cut)] for _ in range(n)]).reshape(n, cut)
    agree(y, leaves[:cut], leaves[cut:], rows, np.array(shared), order)


def test_the_gradient_of_a_softmax_shifts_by_the_largest_number_of_now():
    x, y = Value(0.0), Value(0.0)
    share = ad.adjoints(ad.logsumexp([x, y]), create_graph=True)[x]
    plain, batch = compiled(share, [x, y]), compiled(share, [x, y], xp=np, batch=True)
    for shift in (-2000.0, -740.0, 1000.0):  # e^-740 has two digits left, e^1000 is too large
        at = shift, shift - 1
        found = plain(*at)[0], batch([at])[0][0], Expression(share).propagate(dict(zip((x, y), at)))
        assert found == (pytest.approx(1 / (1 + math.exp(-1)), rel=1e-15),) * 3
    curved = ad.grad(ad.grad(lambda x: ad.logsumexp([x, -3.0])))(-2.0)
    assert plain(-2.0, -3.0)[1] == pytest.approx((curved, -curved), rel=1e-14)


@pytest.mark.parametrize("each", ops.LISTED, ids=operator.attrgetter("__name__"))
def test_every_operation_of_any_length_in_every_language(each, node):
    """Python, NumPy and JavaScript take the source, and its numbers are those of walking."""
    rows, arity = ROWS.get(each, 0), unwrapped(each.rule).__code__.co_argcount
    scripts, walks = [], []
    for n in [rows * length for length in (*range(1, 61), 400)] if rows else [arity]:
        point = [0.5 + i / 2000 for i in range(n)]
        leaves = [Value(x) for x in point]
        y = leaves[0]._apply(each, *leaves)
        expression, adjoints = Expression(y), ad.adjoints(y)
        # Python's own sum of floats rounds once since 3.12, a program's + each time
        walks.append(
            pytest.approx([y.data, *[adjoints.get(x, 0.0) for x in leaves]], rel=n * EPSILON)
        )
        for xp in (math, np):
            program = expression.compile(leaves, wrt=leaves, xp=xp)
            value, gradients = program(*point)
            assert [value, *gradients] == walks[-1]
            assert max(map(len, program.source.splitlines())) <= 100
        scripts.append(f"({expression.javascript(leaves, wrt=leaves)})({point})")
    found = node(f"[{', '.join(scripts)}]")
    assert [[value, *gradients] for value, gradients in found] == walks


ROWS = {ops.sum: 1, ops.prod: 1, ops.dot: 2, ops.logsumexp: 1, ops.largest: 1, ops.hypot: 1}


CHAINS = [lambda y, x, b: y * x + b, lambda y, x, b: y + x * b, lambda y, x, b: y * x]


@cases("step", CHAINS)
def test_a_long_chain_needs_no_recursion(step):
    x, b, limit = Value(1.0001), Value(0.0001), sys.getrecursionlimit()
    y = x * b
    for _ in range(500):
        y = step(y, x, b)
    sys.setrecursionlimit(300)
    try:
        program, batch = compiled(y, [x, b]), compiled(y, [x], [b], xp=np, batch=True)
    finally:
        sys.setrecursionlimit(limit)
    y.backward()
    assert program(x.data, b.data) == (y.data, (x.grad, b.grad))
    assert batch([[x.data]], [b.data]) == pytest.approx((y.data, b.grad), rel=1e-12)


# -- The source -----------------------------------------------------------------------------------


def test_a_program_names_its_inputs_and_is_shown_as_python():
    """All lines of one stand in the docstring of compile."""
    x1, x2 = Value(2.0, label="rate"), Value(5.0, label="not an identifier")
    program = compiled(x1 * x2, [x1, x2])
    assert "\ndef program(x1, x2):\n    # x1 = rate\n    v1 = x1 * x2\n" in program.source
    assert program._repr_markdown_() == f"```python\n{program.source}```"
    assert repr(program) == "<Program of 7 lines: print its .source>"


LABELS = ["x\nimport os", '"""', "'" * 3, "x; import os", "#", "x)\n    raise SystemExit\n", "\\", "\r", "{x}"]  # fmt: skip


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize(
    "how", [{}, {"xp": np}, {"xp": np, "batch": True}], ids=["floats", "arrays", "batch"]
)
def test_no_label_and_no_name_of_an_operation_reaches_the_text(label, how):
    def rule(x):
        return x * x, lambda grad: (2 * grad * x,)

    x, w = Value(3.0), Value(2.0)
    clean = compiled(operation(rule)(x * w) * operation(rule)(w), [x], [w], **how).source
    rule.__name__ = label
    y = operation(rule)(x * w) * operation(rule)(w)
    for node in topological_order(y):
        node.label = label
    assert compiled(y, [x], [w], **how).source == clean


@pytest.mark.parametrize(
    ("f", "words", "line"),
    [
        (ad.log, "domain error|a positive", "v1 = math.log(x1)"),
        (ad.sqrt, "domain error|a nonnegative", "v1 = math.sqrt(x1)"),  # another program, another file
        (lambda x: x**0.5, r"x \*\* n: x = -1.0, n = 0.5 is outside", None),  # never a complex number
    ],
)  # fmt: skip
def test_errors_are_those_of_python_and_show_the_line(f, words, line):
    x = Value(3.0)
    program = compiled(f(x), [x])
    with pytest.raises(ValueError, match=words) as caught:
        program(-1.0)
    assert line in (None, traceback.extract_tb(caught.tb)[-1].line)


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


NO_NUMBERS = [None, Value(2.0), 1j]


@pytest.mark.parametrize("given", NO_NUMBERS, ids=lambda x: type(x).__name__)
def test_a_program_of_floats_refuses_what_is_no_number(given):
    x = Value(3.0)
    program = compiled(x * 1.0, [x])
    with pytest.raises(TypeError, match="^program: found .*, expected "):
        program(given)


@pytest.mark.parametrize("xp", [math, np])
@in_every_derivative
def test_a_program_inside_a_derivative_says_what_to_call(d, xp):
    x = Value(2.0)
    program = Expression(x * x).compile([x], wrt=[x], xp=xp)
    words = (
        "^program: found numbers that are being differentiated, expected floats; call the function "
        "that it was compiled from, .* gradients that the program returns, .* x.data$"
    )
    for given in (x, np.array([x])) if xp is np else (x,):
        with pytest.raises(TypeError, match=words):
            program(given)
    with pytest.raises(TypeError, match=words):
        d(lambda x: program(x)[0])(2.0)
    with pytest.raises(TypeError, match="NoneType"):
        program(None)


def halved(x):
    return x / 2.0


def test_a_program_keeps_the_function_of_an_operation_that_is_defined_anew(monkeypatch):
    """As where a cell of a notebook is run again: value and derivative stay those of one function."""

    def rule(x):
        return half(x), lambda grad: (grad * 0.5,)

    x, half = Value(3.0), operation(halved, domain="")(rule)
    y = half(x) * x
    programs = [compiled(y, [x]), compiled(y, [x], xp=np), compiled(y, [], [x], xp=np, batch=True)]
    found = [p(4.0) for p in programs[:2]], programs[2]([[]], [4.0])
    monkeypatch.setattr(sys.modules[__name__], "halved", lambda x: x * 100.0)
    assert found == ([p(4.0) for p in programs[:2]], programs[2]([[]], [4.0]))
    assert found[0] == [(8.0, (4.0,))] * 2
    for function in (half, operation(np.frompyfunc(math.lgamma, 1, 1), domain="")(rule)):
        with pytest.raises(TypeError, match="expected one that a program can import; define it"):
            compiled(function(x), [x])


def test_a_program_is_its_source():
    """So it is pickled and copied, and data that changes later does not change it."""
    x, w = Value(0.5), Value(3.0)
    for how, given in (({}, 0.25), ({"xp": np}, 0.25), ({"xp": np, "batch": True}, [[0.25]])):
        program = compiled(ad.erf(x) * w, [x], **how)
        found = program(given)
        w.data += 1.0
        for other in (program, pickle.loads(pickle.dumps(program)), copy.deepcopy(program)):
            assert (other.source, other.running) == (program.source, program.running)
            assert other(given) == found


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
        (value, slopes), (found, by_numba) = program(*point), jitted(*point)
        assert [found, *by_numba] == pytest.approx([value, *slopes], rel=1e-14)


def test_a_constant_derivative_of_arrays_is_an_array():
    x, b = Value(2.0), Value(1.0)
    value, (slope,) = compiled(x * x + b, [x], [b], xp=np)(np.array([1.0, 2.0, 3.0]), 1.0)
    assert (value.tolist(), slope.tolist()) == ([2.0, 5.0, 10.0], [1.0, 1.0, 1.0])
    several = compiled([x * x, Value(4.0)], [x], [], xp=np)(np.ones(2))
    assert [y.tolist() for y in several] == [[1.0, 1.0], [4.0, 4.0]]
