"""What derivatives are, in arithmetic of many digits, and how far rounding may take others from it."""

import collections
import functools
import sys

import hypothesis
import mpmath

import autodiff as ad
from autodiff.engine.graph import topological_order

# -- Differences in arithmetic of many digits ------------------------------------------------------


def exact(f, point, *indices):
    """A derivative of f(*point), by the inputs with these indices, in mpmath's current precision.

    By central differences, whose step is 1e-45 of the input, or 1e-230 at 0: give the derivative
    of order n as many digits n times, and those that numbers of different sizes need besides.
    """
    if not indices:
        return f(*point)
    *others, i = indices
    h = abs(point[i]) * mpmath.mpf(10) ** -45 or mpmath.mpf(10) ** -230
    high, low = ((*point[:i], point[i] + step, *point[i + 1 :]) for step in (h, -h))
    found = (exact(f, high, *others) - exact(f, low, *others)) / (2 * h)
    return found if abs(found) > mpmath.mpf(10) ** -400 else mpmath.mpf(0)  # 0 up to rounding


def derivatives(f, xs, digits, order=2):
    """The value, the gradient and, of order 2, the Hessian of a function of a list of numbers."""
    with mpmath.workdps(digits):
        point, places = tuple(map(mpmath.mpf, xs)), range(len(xs))
        once = functools.cache(lambda *v: f(v))  # neighbouring differences share their points

        def of(*indices):
            return exact(once, point, *sorted(indices))

        rows = places if order == 2 else ()
        return of(), [of(i) for i in places], [[of(i, j) for j in places] for i in rows]


# -- Rounding errors ------------------------------------------------------------------------------

EPSILON = sys.float_info.epsilon
# Units in the last place by which a mathematical function of NumPy or of the C library may be off.
ULPS = 2


def errors(root):
    """For each node the error that rounding may have left in it: Wilkinson's running error analysis.

    An operation passes the errors of its inputs on, each times its partial derivative, and adds its
    own: a few units in the last place of its result and of the terms that it may have added up, for
    each input. A leaf has none. So the bound is large just where the graph is ill-conditioned.
    What cancelled on the way still counts in full (`size` is the number before it did), because
    another mode may add the same terms in another order.
    """
    found, size = {}, {}
    for node in topological_order(root):
        partials = {}
        for x, partial in zip(node.parents, node._closure(1.0)):
            partials[x] = partials.get(x, 0.0) + (partial or 0.0)
        terms = {x: abs(partial) for x, partial in partials.items() if partial}
        size[node] = abs(node.data) + sum(d * (size[x] - abs(x.data)) for x, d in terms.items())
        own = size[node] + sum(d * size[x] for x, d in terms.items())
        passed_on = sum(d * found[x] for x, d in terms.items())
        found[node] = passed_on + ULPS * EPSILON * len(node.parents) * own
    return found


def bound(node):
    """The rounding error allowed in the number of a node, or in a number that is no node."""
    return errors(node)[node] if isinstance(node, ad.Value) else 0.0


def slopes_of(y, leaves):
    """The derivatives of y as graphs, by which the allowed errors are known."""
    found = ad.adjoints(y, create_graph=True) if isinstance(y, ad.Value) else {}
    return [found.get(x, 0.0) for x in leaves]


def allowed(y, leaves):
    """The rounding errors allowed in y and in its derivatives with respect to the leaves.

    A gradient is a graph like any other once it has been recorded with create_graph, so the same
    analysis holds for it. A graph with a choice that rounding may decide is passed over: right
    beside a kink, two computations may well be on different sides of it.
    """
    slopes, added = slopes_of(y, leaves), additions(y)
    of_nodes = errors(ad.sum([y, *slopes]))  # of all graphs at once
    if hypothesis.currently_in_test_context():
        hypothesis.assume(not any(undecided(node, of_nodes) for node in topological_order(y)))
    of_slopes = [of_nodes.get(slope, 0.0) for slope in slopes]
    return of_nodes[y], [added[x] + error for x, error in zip(leaves, of_slopes)]


def additions(root):
    """For each node the error that adding up its messages may leave in its adjoint, in any order.

    The graph of a gradient does not tell all of it: where messages are plain numbers, 1 and -1
    have become 0 before a node is there, and another mode may add something small to the 1 first.
    """
    size, found = collections.defaultdict(float, {root: 1.0}), collections.defaultdict(float)
    for node in reversed(topological_order(root)):
        for x, partial in zip(node.parents, node._closure(1.0)):
            if partial and size[node]:
                size[x] += abs(partial) * size[node]
                found[x] += abs(partial) * found[node] + ULPS * EPSILON * size[x]
    return found


def undecided(node, of_nodes, ties=False):
    """Whether rounding may decide what a node chooses; with ties, exact ones count, too."""
    x, *others = node.parents or (node,)
    if node.op in ("abs", "relu", "where") and x.op not in ("<", "<="):
        gap, error = abs(x.data), of_nodes[x]
    elif node.op in ("maximum", "minimum", "<", "<=") and x is not others[0]:
        gap, error = abs(x.data - others[0].data), of_nodes[x] + of_nodes[others[0]]
    else:
        return False
    return gap <= error and (ties or error > 0)
