"""The groups of nodes that become arrays, and what each of them reads."""

import pytest
from test_batch import batched, drawn

import autodiff as ad
from autodiff import Matrix, Vector
from autodiff.compiler.batch import Batch
from autodiff.compiler.groups import Groups


def test_every_stage_is_printed():
    x, w, b = Vector([1.0, 2.0]), Matrix([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]), Vector([0.0] * 3)
    y = (w @ x + b).map(ad.tanh).sum()
    parameters = [*w._entries, *b]
    groups = Groups(y, [*x], parameters)
    assert repr(groups).splitlines() == [
        "inputs (2,)",
        "parameters (9,)",
        "dot1 (3,) = dot(parameters[0:6], inputs)",
        "add1 (3,) = add(dot1, parameters[6:9])",
        "tanh1 (3,) = tanh(add1)",
        "sum1 (1,) = sum(tanh1)",
    ]
    lines = repr(Batch(groups, y, parameters)).splitlines()
    assert "tanh1 (3, n) = tanh(add1)" in lines
    assert "p1_bar (3, 2) = product(add1_bar, inputs.T, b)" in lines


def test_what_a_group_reads_is_named():
    x, w = Vector([1.0, 2.0, 3.0]), Vector([4.0, 5.0])
    y = ad.sum([ad.sin(x[0] * 2.0), ad.sin(x[2] * w[1]), *[ad.cos(a * b) for a, b in zip(x, w)]])
    assert repr(Groups(y, [*x], [*w])).splitlines()[2:] == [
        "mul1 (1,) = mul(inputs[0:1], 2)",
        "mul2 (3,) = mul(inputs, parameters)",
        "sin1 (1,) = sin(mul1)",
        "sin2 (1,) = sin(mul2[2:3])",
        "cos1 (2,) = cos(mul2[0:2])",
        "sum1 (1,) = sum(sin1 and sin2 and cos1)",
    ]


@pytest.mark.parametrize("turned", [False, True])
def test_dots_of_two_layers_over_two_inputs_are_two_products(turned):
    """Two towers: each matrix times its own vector, at one depth."""
    a, b, x, z = drawn(4, 3), drawn(3, 3), drawn(3), drawn(3)
    pairs = [*[(row, x) for row in a], *[(row, z) for row in b]]
    y = ad.sum([ad.sin(ad.dot(v, u) if turned else ad.dot(u, v)) for u, v in pairs])
    source = batched(y, [*x, *z], [*a._entries, *b._entries]).source
    assert source.count(" @ ") == 4


def test_a_row_is_no_grid_if_one_of_its_arguments_is_scattered():
    x, w = Vector([1.0] * 6), Vector([1.0] * 7)
    pairs = zip((0, 3, 1, 5, 0, 2), (0, 1, 2, 4, 5, 6))
    y = ad.sum([ad.sin(x[i] * w[j]) for i, j in pairs])
    assert "mul1 (6,) = mul(" in repr(Groups(y, [*x], [*w]))
