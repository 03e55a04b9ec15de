"""Random graphs over all operations, for hypothesis."""

import hypothesis
import pytest
from hypothesis import strategies as st

import autodiff as ad
from autodiff import Value, operation
from autodiff.graph import topological_order


def for_all(*strategies, examples):
    """Test a property with as many examples, the same in each run; ten times as many if thorough.

    The thorough ones are random, and follow from TEST_SEED (see conftest.py).
    """

    def decorate(check):
        quick = hypothesis.settings(max_examples=examples)
        thorough = hypothesis.settings(max_examples=10 * examples, derandomize=False)

        @pytest.mark.parametrize(
            "settings",
            [
                pytest.param(quick, id="quick"),
                pytest.param(thorough, id="thorough", marks=pytest.mark.thorough),
            ],
        )
        def test(settings, seed):
            hypothesis.seed(seed)(settings(hypothesis.given(*strategies)(check)))()

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return decorate


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
    lambda a, b, c: ad.where(ad.functions.less(a, b), c, a),
    lambda a, b, c: ad.where(ad.functions.less_equal(a, 0.5), b, a * c),
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
    return noted(leaves, ad.sum(nodes[-3:]))


@st.composite
def layered(draw):
    """Leaves, and an output of layers of equal nodes: regular, as networks are, or not quite.

    Each layer applies one operation in several lanes, to nodes that it finds at regular or random
    places of the layers before, or takes dots, sums or logsumexps of whole layers.
    """
    rows = [[Value(draw(numbers)) for _ in range(draw(st.integers(1, 5)))] for _ in range(3)]
    leaves = [x for row in rows for x in row]
    constants = [0.5, 0.5, -1.5, 2.0]
    lanes, pick = st.integers(1, 6), st.integers(0, 99)
    for _ in range(draw(st.integers(1, 5))):
        k, kind = draw(lanes), draw(st.sampled_from(["each", "each", "dot", "reduce", "mixed"]))
        if kind == "each":
            apply = draw(st.sampled_from(OPERATIONS))
            sources = [draw(st.sampled_from([*rows, constants])) for _ in range(3)]
            starts, steps = [[draw(st.integers(0, 2)) for _ in range(3)] for _ in range(2)]
            if draw(st.booleans()):
                places = [[s + i * t for i in range(k)] for s, t in zip(starts, steps)]
            else:
                places = [[draw(pick) for _ in range(k)] for _ in range(3)]
            found = [
                apply(*[source[p[i] % len(source)] for source, p in zip(sources, places)])
                for i in range(k)
            ]
        elif kind == "dot":
            x = draw(st.sampled_from([*rows, rows[0] + rows[1]]))
            pool = draw(st.sampled_from([*rows, rows[0] + constants]))
            start = draw(st.integers(0, 3))
            order = draw(st.sampled_from([(len(x), 1), (1, k)]))
            found = [
                ad.dot(
                    [
                        pool[(start + i * order[0] + j * order[1]) % len(pool)]
                        for j in range(len(x))
                    ],
                    x,
                )
                for i in range(k)
            ]
        elif kind == "reduce":
            total = draw(st.sampled_from([ad.sum, ad.logsumexp, ad.prod, lambda xs: ad.hypot(*xs)]))
            x = draw(st.sampled_from([*rows, rows[-1] + rows[0], [*rows[-1], 0.5]]))
            found = [total(x[i:] + x[:i]) for i in range(k)]
        else:
            pool = [x for row in rows for x in row]
            applied = [draw(st.sampled_from(OPERATIONS)) for _ in range(k)]
            found = [apply(*[pool[draw(pick) % len(pool)] for _ in range(3)]) for apply in applied]
        found = [x if isinstance(x, Value) else Value(x) for x in found]
        big = any(abs(x.data) > 3 for x in found)
        rows.append([ad.sin(x) for x in found] if big else found)
    return noted(leaves, ad.sum([*rows[-1], *rows[-2]]))


def noted(leaves, y):
    """Leaves and output; a test that fails with them prints the code that builds them."""
    hypothesis.note(code(leaves, y))
    return leaves, y


SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
SIGNS |= dict.fromkeys(["power", "exponential", "pow"], "**")


def code(leaves, y):
    """The graph of y as Python code that builds it again, as `leaves` and `y`."""
    names = {x: f"x{i}" for i, x in enumerate(leaves, 1)}
    lines = ["import autodiff as ad", "from autodiff import Value", ""]
    if any(node.op == "cube" for node in topological_order(y)):
        lines.insert(2, "from random_graphs import cube")
    lines += [f"{name} = Value({x.data!r})" for x, name in names.items()]
    for i, node in enumerate(topological_order(y)):
        if node not in names and not node.parents and not node.requires_grad:
            names[node] = f"({node.data!r})"
        elif node not in names:
            inputs = [names[x] for x in node.parents]
            names[node] = f"v{i}"
            lines.append(f"v{i} = {call(node, inputs) if inputs else f'Value({node.data!r})'}")
    lines.append(f"leaves, y = [{', '.join(names[x] for x in leaves)}], {names[y]}")
    return "\n".join(lines)


def call(node, inputs):
    """The expression that makes a node of its inputs."""
    rule, half = node._rule.__name__, len(inputs) // 2
    if rule in SIGNS:
        return f" {SIGNS[rule]} ".join(inputs)
    if rule in ("neg", "pos"):
        return f"{'-' if rule == 'neg' else '+'}{inputs[0]}"
    if rule in ("sum", "prod", "logsumexp"):
        return f"ad.{rule}([{', '.join(inputs)}])"
    if rule == "dot":
        return f"ad.dot([{', '.join(inputs[:half])}], [{', '.join(inputs[half:])}])"
    if rule in ("less", "less_equal"):
        return f"ad.functions.{rule}({', '.join(inputs)})"
    return f"{'cube' if rule == 'cube' else 'ad.' + rule}({', '.join(inputs)})"
