"""Symbols of arrays as text: products of matrices, choices, axes; nothing that a user wrote."""

import re

import numpy as np
import pytest
from tables import cases
from test_batch import batched, check, drawn

import autodiff as ad
from autodiff import Value
from autodiff.compiler.array_text import MATRICES


@pytest.mark.parametrize("axes", MATRICES)
def test_a_product_of_matrices_is_the_sum_of_products_over_its_axes(axes):
    sizes, rng = dict(zip("ijkl", (2, 3, 4, 5))), np.random.default_rng(0)
    x, y = [
        rng.normal(size=[sizes[i] for i in part]) for part in axes[: axes.index("-")].split(",")
    ]
    found = eval(MATRICES[axes].format(x="x", y="y"), {"x": x, "y": y})
    np.testing.assert_allclose(found, np.einsum(axes, x, y), rtol=1e-12)


CHOICES = [
    (lambda x, w: ad.relu(x * w), "values = xp.maximum("),
    (lambda x, w: ad.maximum(x * w, 0.5), "maximum(mul1, 0.5)"),
    (lambda x, w: ad.where(ad.less(x * w, 0.5), x, w), "values = xp.where(t1, x1, p1)"),
    (lambda x, w: (ad.cos(x) + 2) ** -1.5, "values = (xp.cos(x1) + 2.0) ** (-1.5)"),
]


@cases(("f", "written"), CHOICES)
def test_a_choice_and_a_power(f, written):
    x, w = Value(1.0), Value(2.0)
    assert written in batched(f(x, w), [x], [w]).source


def test_what_does_not_depend_on_the_inputs_has_no_batch_axis():
    x, w = drawn(2), drawn(2)
    source = check(ad.dot(w.map(ad.exp), x) + w.norm(), x, w).source
    assert "(2,)" in re.search(r"exp1 = xp.exp\(parameters\).*", source).group()
    assert re.search(r"hypot1 = .*\)$", source, re.M)  # one number, without a shape


def test_names_and_labels_inject_nothing():
    def rule(x):
        return x * x, lambda grad: (2 * grad * x,)

    rule.__name__ = "x\nimport os"
    x, w = Value(3.0, label='"""\nimport os'), Value(2.0, label="import")
    program = batched(ad.operation(rule)(x * w) + ad.operation(rule)(w), [x], [w])
    assert "os" not in program.source.replace("dtype=inputs.dtype", "")
    assert program(np.array([[3.0]]), np.array([2.0]))[1].tolist() == [40.0]
