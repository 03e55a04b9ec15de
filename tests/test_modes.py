"""Random programs of all operations, in every mode and mixture of modes, against two oracles."""

import hypothesis
import mpmath
import numpy as np
from autograd import grad as gradient_by_autograd
from autograd.numpy.numpy_boxes import ArrayBox
from hypothesis import strategies as st
from operations import by_autograd, by_mpmath
from random_graphs import for_all, numbers, ours, programs
from rounding import errors, undecided

import autodiff as ad
from autodiff import Dual, Expression, Value
from autodiff.graph import topological_order

# -- The oracles ----------------------------------------------------------------------------------

DIGITS, STEP = 150, mpmath.mpf(10) ** -40  # second differences are then right to 1e-60

ArrayBox.__pos__ = lambda x: x  # which autograd lacks


def exact(f, xs):
    """The value, gradient and Hessian of a program, by differences in arithmetic of 150 digits."""
    n, h = len(xs), STEP
    with mpmath.workdps(DIGITS):
        point = [mpmath.mpf(x) for x in xs]

        def at(*moves):
            moved = list(point)
            for i, step in moves:
                moved[i] += step
            return f(moved, by_mpmath)

        def second(i, j):
            corners = at((i, h), (j, h)) - at((i, h), (j, -h)) - at((i, -h), (j, h))
            return (corners + at((i, -h), (j, -h))) / (4 * h * h)

        gradient = [(at((i, h)) - at((i, -h))) / (2 * h) for i in range(n)]
        return at(), gradient, [[second(i, j) for j in range(n)] for i in range(n)]


# -- Every mode, and mixtures of them -------------------------------------------------------------


def accumulated(y, leaves, **how):
    """What backward() adds to `grad` of the leaves."""
    for x in leaves:
        x.grad = 0.0
    y.backward(**how)
    return [x.grad for x in leaves]


def recorded(f, xs):
    leaves = [Value(x) for x in xs]
    return f(leaves), leaves


def walked(f, xs):
    return accumulated(*recorded(f, xs))


def walked_with_a_graph(f, xs):
    gradients = accumulated(*recorded(f, xs), create_graph=True)
    return [g.data if isinstance(g, Value) else g for g in gradients]


def by_duals(f, xs):
    rows = [[1.0 if i == j else 0.0 for j in range(len(xs))] for i in range(len(xs))]
    results = [f([Dual(x, t) for x, t in zip(xs, row)]) for row in rows]
    return [y.tangent if isinstance(y, Dual) else 0.0 for y in results]


def propagated(f, xs):
    y, leaves = recorded(f, [0.5 for _ in xs])
    expression = Expression([y, *leaves])
    expression.propagate(dict(zip(leaves, xs)))
    adjoints = ad.adjoints(expression.sink[0])
    return [adjoints.get(x, 0.0) for x in leaves]


def compiled(f, xs):
    y, leaves = recorded(f, [0.5 for _ in xs])
    return Expression(y).compile(leaves, wrt=leaves)(*xs)[1]


def compiled_to_numpy(f, xs):
    y, leaves = recorded(f, [0.5 for _ in xs])
    gradients = Expression(y).compile(leaves, wrt=leaves, xp=np)(*map(np.array, xs))[1]
    return [float(g) for g in gradients]


def batched_over_inputs(f, xs):
    y, leaves = recorded(f, [0.5 for _ in xs])
    program = Expression(y).compile(leaves, wrt=leaves, xp=np, batch=True)
    return program(np.array([xs, xs[::-1]]))[1][0].tolist()


def batched_over_parameters(f, xs):
    y, leaves = recorded(f, [0.5 for _ in xs])
    unused = Value(0.0)
    program = Expression(y).compile([unused], wrt=leaves, xp=np, batch=True)
    return program(np.zeros((1, 1)), np.array(xs))[1].tolist()


GRADIENTS = {
    "grad": lambda f, xs: ad.grad(f)(xs),
    "value_and_grad": lambda f, xs: ad.value_and_grad(f)(xs)[1],
    "jacfwd": lambda f, xs: ad.jacfwd(f)(xs),
    "jacrev": lambda f, xs: ad.jacrev(f)(xs),
    "vjp": lambda f, xs: ad.vjp(f, xs)[1](1.0)[0],
    "backward": walked,
    "create_graph": walked_with_a_graph,
    "Dual": by_duals,
    "propagate": propagated,
    "compile": compiled,
    "numpy": compiled_to_numpy,
    "inputs of a batch": batched_over_inputs,
    "parameters of a batch": batched_over_parameters,
}


def along(f, xs, rows):
    """The Hessian row by row, from a product with each unit vector."""
    return [rows(f, xs, [1.0 if i == j else 0.0 for j in range(len(xs))]) for i in range(len(xs))]


def over_duals(f, xs, v):
    """Values that hold dual numbers."""
    leaves = [Value(Dual(x, t)) for x, t in zip(xs, v)]
    gradients = accumulated(f(leaves), leaves)
    return [g.tangent if isinstance(g, Dual) else 0.0 for g in gradients]


def backward_twice(f, xs):
    y, leaves = recorded(f, xs)
    gradients = accumulated(y, leaves, create_graph=True)
    return [
        accumulated(g, leaves) if getattr(g, "requires_grad", False) else [0.0 for _ in leaves]
        for g in gradients
    ]


def gradients_compiled(compile):
    """The Hessian by a gradient that is recorded at another point, and then compiled."""

    def rows(f, xs):
        y, leaves = recorded(f, [0.5 for _ in xs])
        gradients = accumulated(y, leaves, create_graph=True)
        return [
            compile(g, leaves, xs) if isinstance(g, Value) else [0.0 for _ in leaves]
            for g in gradients
        ]

    return rows


def by_program(g, leaves, xs):
    return Expression(g).compile(leaves, wrt=leaves)(*xs)[1]


def by_batch(g, leaves, xs):
    program = Expression(g).compile(leaves, wrt=leaves, xp=np, batch=True)
    return program(np.array([xs]))[1][0].tolist()


HESSIANS = {
    "hessian": lambda f, xs: ad.hessian(f)(xs),
    "forward over forward": lambda f, xs: ad.jacfwd(ad.jacfwd(f))(xs),
    "reverse over reverse": lambda f, xs: ad.jacrev(ad.grad(f))(xs),
    "reverse over forward": lambda f, xs: ad.jacrev(ad.jacfwd(f))(xs),
    "hvp": lambda f, xs: along(f, xs, ad.hvp),
    "Value over Dual": lambda f, xs: along(f, xs, over_duals),
    "grad of jvp": lambda f, xs: along(
        f, xs, lambda f, xs, v: ad.grad(lambda x: ad.jvp(f, (x,), (v,))[1])(xs)
    ),
    "jvp of vjp": lambda f, xs: along(
        f, xs, lambda f, xs, v: ad.jvp(lambda x: ad.vjp(f, x)[1](1.0)[0], (xs,), (v,))[1]
    ),
    "create_graph": backward_twice,
    "compile": gradients_compiled(by_program),
    "batch": gradients_compiled(by_batch),
}


# -- The tests ------------------------------------------------------------------------------------


def bound(node):
    """The rounding error allowed in the number of a node, or in a number that is no node."""
    return errors(node)[node] if isinstance(node, Value) else 0.0


def smooth(y):
    """Whether no node chooses at a tie, or where rounding may decide."""
    found = errors(y)
    return not any(undecided(node, found) or tied(node) for node in topological_order(y))


def tied(node):
    if node.op in ("maximum", "minimum", "<", "<="):
        x, y = node.parents
        return x is not y and x.data == y.data
    x, *_ = node.parents or (node,)
    return node.op in ("abs", "relu", "where") and x.data == 0 and x.op not in ("<", "<=")


def derivatives(f, xs):
    """The gradient and the Hessian as graphs, by which the allowed errors are known."""
    y, leaves = recorded(f, xs)
    adjoints = ad.adjoints(y, create_graph=True)
    gradient = [adjoints.get(x, 0.0) for x in leaves]
    hessian = []
    for g in gradient:
        again = ad.adjoints(g, create_graph=True) if isinstance(g, Value) else {}
        hessian.append([again.get(x, 0.0) for x in leaves])
    return y, gradient, hessian


@for_all(programs(), examples=100)
def test_every_mode_agrees_with_mpmath(program):
    f, xs = program
    y, gradient, hessian = derivatives(f, xs)
    hypothesis.assume(smooth(y))
    value, slopes, curvatures = exact(f, xs)
    assert abs(y.data - value) <= bound(y)
    bounds = [bound(g) for g in gradient]
    for name, mode in GRADIENTS.items():
        close(name, mode(f, xs), slopes, bounds)
    bounds = [[bound(h) for h in row] for row in hessian]
    for name, mode in HESSIANS.items():
        for found, row, of_row in zip(mode(f, xs), curvatures, bounds, strict=True):
            close(name, found, row, of_row)


def close(name, found, expected, bounds):
    for a, b, bound in zip(found, expected, bounds, strict=True):
        assert abs(a - b) <= bound + 1e-60, (name, float(a - b), bound)


@for_all(programs(), examples=100)
def test_gradients_agree_with_autograd(program):
    f, xs = program
    y, leaves = recorded(f, xs)
    hypothesis.assume(smooth(y))
    _, gradient, _ = derivatives(f, xs)
    expected = gradient_by_autograd(lambda v: f(list(v), by_autograd))(np.array(xs))
    # autograd's rules are others, such as 1 / cosh² for 1 - tanh²: more roundings, the same condition
    bounds = [10 * bound(g) for g in gradient]
    close("backward", accumulated(y, leaves), expected, bounds)


@for_all(programs(), st.lists(numbers, min_size=2, max_size=2), examples=30)
def test_third_derivatives_along_a_line_agree_with_mpmath(program, direction):
    f, xs = program

    def phi(t, m=ours):
        return f([x + t * v for x, v in zip(xs, direction)], m)

    def nodes(y):
        return ad.adjoints(y, create_graph=True).get(t, 0.0) if isinstance(y, Value) else y * 0.0

    def forward(g):
        return lambda t: ad.jvp(g, (t,), (1.0,))[1]

    t = Value(0.0)
    y = phi(t)
    hypothesis.assume(smooth(y))
    slope = nodes(nodes(nodes(y)))
    h = STEP
    with mpmath.workdps(DIGITS + 50):
        ends = phi(2 * h, by_mpmath) - phi(-2 * h, by_mpmath)
        expected = (ends - 2 * (phi(h, by_mpmath) - phi(-h, by_mpmath))) / (2 * h**3)
    found = {
        "reverse": ad.grad(ad.grad(ad.grad(phi)))(0.0),
        "forward": forward(forward(forward(phi)))(0.0),
        "forward inside": ad.grad(ad.grad(forward(phi)))(0.0),
        "forward outside": forward(ad.grad(ad.grad(phi)))(0.0),
        "forward between": ad.grad(forward(ad.grad(phi)))(0.0),
        "create_graph": slope.data if isinstance(slope, Value) else slope,
    }
    for name, number in found.items():
        close(name, [number], [expected], [bound(slope)])
