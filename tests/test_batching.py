"""From scalars back to matrices: batched programs."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from random_graphs import graphs, layered, numbers

import autodiff as ad
from autodiff import Expression


def batched(y, inputs, wrt, xp=np):
    return Expression(y).compile(inputs, wrt=wrt, xp=xp, batch=True)


def eagerly(y, inputs, wrt, rows, parameters):
    """Values, gradients summed over the samples, and what rounding is measured by."""
    expression = Expression(ad.sum([y, *inputs, *wrt]))
    values, total, scale = [], np.zeros(len(wrt)), 1.0
    for row in rows:
        expression.propagate(dict(zip([*inputs, *wrt], [*row, *parameters])))
        adjoints = ad.adjoints(y)
        values.append(y.data)
        total += [adjoints.get(x, 0.0) for x in wrt]
        scale = max(scale, *[abs(x.data) for x in adjoints], *map(abs, adjoints.values()))
    return np.array(values), total, scale


def check(y, inputs, wrt, rows, parameters, rel=1e-13):
    program = batched(y, inputs, wrt)
    rows, parameters = np.array(rows).reshape(len(rows), len(inputs)), np.array(parameters)
    found, gradients = program(rows, parameters)
    values, total, scale = eagerly(y, inputs, wrt, rows, parameters)
    assert found.shape == (len(rows),)
    assert gradients.shape == (len(wrt),)
    np.testing.assert_allclose(found, values, rtol=rel, atol=rel * scale, err_msg=program.source)
    np.testing.assert_allclose(gradients, total, rtol=rel, atol=rel * scale * max(1, len(rows)))
    return program


@given(st.one_of(graphs(), layered()), st.data())
@settings(max_examples=500, deadline=None)
def test_batched_is_eager(graph, data):
    leaves, y = graph
    cut = data.draw(st.integers(0, len(leaves)))
    n = data.draw(st.integers(0, 3))
    rows = [[data.draw(numbers) for _ in range(cut)] for _ in range(n)]
    parameters = [data.draw(numbers) for _ in leaves[cut:]]
    check(y, leaves[:cut], leaves[cut:], rows, parameters)
