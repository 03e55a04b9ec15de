"""Random graphs over all operations, for hypothesis."""

from hypothesis import strategies as st

import autodiff as ad
from autodiff import Value, operation


@operation
def cube(x):
    return x * x * x, lambda grad: (grad * 3 * x * x,)


# Of three numbers of any size and sign; inside of its domain each operation of ops.py, by itself.
OPERATIONS = [
    lambda a, b, c: a + b,
    lambda a, b, c: a - b,
    lambda a, b, c: a * b,
    lambda a, b, c: a / (b * b + 0.5),
    lambda a, b, c: a**2,
    lambda a, b, c: a**3,
    lambda a, b, c: (a * a + 0.5) ** -1.5,
    lambda a, b, c: a**0,
    lambda a, b, c: (a * a + 0.5) ** ad.sin(b),
    lambda a, b, c: 2.0 ** ad.sin(a),
    lambda a, b, c: -a,
    lambda a, b, c: +a,
    lambda a, b, c: abs(a),
    lambda a, b, c: ad.exp(ad.sin(a)),
    lambda a, b, c: ad.log(a * a + 0.5),
    lambda a, b, c: ad.sqrt(a * a + 0.5),
    lambda a, b, c: ad.sin(a),
    lambda a, b, c: ad.cos(a),
    lambda a, b, c: ad.tan(ad.sin(a)),
    lambda a, b, c: ad.asin(0.9 * ad.sin(a)),
    lambda a, b, c: ad.acos(0.9 * ad.sin(a)),
    lambda a, b, c: ad.atan(a),
    lambda a, b, c: ad.sinh(ad.sin(a)),
    lambda a, b, c: ad.cosh(ad.sin(a)),
    lambda a, b, c: ad.tanh(a),
    lambda a, b, c: ad.erf(a),
    lambda a, b, c: ad.sigmoid(a),
    lambda a, b, c: ad.relu(a),
    lambda a, b, c: ad.softplus(a),
    lambda a, b, c: ad.maximum(a, b),
    lambda a, b, c: ad.minimum(a, b),
    lambda a, b, c: ad.maximum(a, 0.25),
    lambda a, b, c: ad.where(a, b, c),
    lambda a, b, c: ad.sum([a, b, c, a]),
    lambda a, b, c: ad.prod([a, b, c]),
    lambda a, b, c: ad.dot([a, b, c], [c, 2.0, a]),
    lambda a, b, c: ad.logsumexp([a, b, c]),
    lambda a, b, c: ad.hypot(a, b, 1.0),
    lambda a, b, c: cube(a),
    lambda a, b, c: 1.0 - a,
    lambda a, b, c: 2.0 / (a * a + 0.5),
]
numbers = st.floats(-2, 2).filter(lambda x: abs(x) > 1e-3)


@st.composite
def graphs(draw):
    """Three leaves, and an output computed from them in up to a dozen random operations."""
    leaves = [Value(draw(numbers)) for _ in range(3)]
    nodes = list(leaves)
    pick = st.integers(0, 99)
    for apply in draw(st.lists(st.sampled_from(OPERATIONS), min_size=1, max_size=12)):
        node = apply(*[nodes[draw(pick) % len(nodes)] for _ in range(3)])
        node = node if isinstance(node, Value) else Value(node)
        nodes.append(node if abs(node.data) < 3 else ad.sin(node))
    return leaves, ad.sum(nodes[-3:])
