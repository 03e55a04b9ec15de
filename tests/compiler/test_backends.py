"""The same source in NumPy, JAX and PyTorch: the same numbers, of the type of the arrays."""

import importlib
import os

import numpy as np
import pytest
from catalogue import MAKE
from tables import cases
from test_batch import batched, drawn, everything, leaves

import autodiff as ad
from autodiff import Expression, Value, Vector, nn
from autodiff.compiler.backends import erf, scatter_add

os.environ["JAX_PLATFORMS"] = "cpu"  # read when JAX is imported, or first computes
OTHERS = [
    pytest.param("jax.numpy", marks=pytest.mark.jax),
    pytest.param("torch", marks=pytest.mark.torch),
]


def library(name):
    if name == "jax.numpy":
        importlib.import_module("jax").config.update("jax_enable_x64", True)
    return importlib.import_module(name)


LOSSES = [  # also where a gradient is a number alone, such as n, the number of samples
    lambda x, w: x[0] + w.sum() + ad.sin(w[2]),
    lambda x, w: ad.where(w[0], 0.1, 0.2) + x[0] * 0.0,  # w[1] has gradient 0
    lambda x, w: abs(x[0]) + ad.maximum(x[1], w[0]) + ad.maximum(w[1], 0.25) + ad.relu(w[2]) ** 1.5,
    lambda x, w: ad.hypot(*x, *w) + ad.logsumexp([*w]) + ad.prod([*w]) + ad.less(w[0], w[1]) * w[0],
    lambda x, w: nn.cross_entropy(nn.Linear(2, 3, activation=ad.tanh, seed=0)(x), 1) * w[0],
    lambda x, w: ad.hypot(x[0], 1.0) + ad.erf(x[1]) + ad.minimum(x[0], 2.0) + ad.less(x[0], x[1]),
]


@pytest.mark.parametrize("xp", ["numpy", *OTHERS])
@pytest.mark.parametrize("precision", ["float32", "float64"])
@cases("f", LOSSES)
def test_the_type_of_numbers_is_that_of_the_arrays(f, precision, xp):
    xp, x, w = library(xp), Vector([0.5, -0.25]), Vector([1.0, 2.0, -1.0])
    y = f(x, w)
    of_inputs = not {*w} & {*Expression(y).sources}
    wrt, dtype = x if of_inputs else w, getattr(xp, precision)
    program = batched(y, x, wrt, xp=xp)
    rows = xp.asarray([[0.5, -0.25], [1.0, 2.0], [-1.0, 0.0]], dtype=dtype)
    given = [rows] if of_inputs else [rows, xp.asarray(w.data, dtype=dtype)]
    values, gradients = program(*given)
    assert values.dtype == gradients.dtype == dtype, program.source
    expected = batched(y, x, wrt)(*[np.asarray(x, float) for x in given])
    for found, right in zip((values, gradients), expected):
        np.testing.assert_allclose(found, right, rtol=1e-6 if precision == "float32" else 1e-13)
    if of_inputs:
        alone = Expression(y).compile([x], wrt=[x], xp=xp)(*rows.T)
        assert {each.dtype for each in (alone[0], *alone[1])} == {rows.dtype}
        np.testing.assert_allclose(alone[0], expected[0], rtol=1e-6)


@pytest.mark.parametrize("xp", OTHERS)
@pytest.mark.parametrize("name", [*MAKE, "everything"])
def test_the_numbers_are_those_of_numpy(name, xp):
    xp = library(xp)
    if name == "everything":
        inputs, parameters = drawn(3), drawn(3, 3)
        loss = everything(inputs, parameters)
    else:
        loss, inputs, parameters = (model := MAKE[name]()).loss, model.x, model.parameters
    rows = np.random.default_rng(1).normal(size=(6, len(inputs)))
    p = np.array([x.data for x in leaves(parameters)])
    expected = batched(loss, inputs, parameters)(rows, p)
    program = batched(loss, inputs, parameters, xp=xp)
    runs = [program, library("jax").jit(program)] if xp.__name__ == "jax.numpy" else [program]
    for run in runs:
        for found, wanted in zip(run(xp.asarray(rows.copy()), xp.asarray(p)), expected):
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("xp", ["numpy", *OTHERS])
def test_integers_become_floats(xp):
    xp, x, w = library(xp), Vector([1.0, 2.0]), Vector([0.5, 0.25])
    program = batched((x * w).sum() * 0.5, x, w, xp=xp)
    values, gradients = program(xp.asarray([[2, 4], [6, 8]]), xp.asarray(w.data))
    assert (values.tolist(), gradients.tolist()) == ([1.0, 2.5], [4.0, 6.0])


def test_functions_that_libraries_lack():
    x = np.array([0.5, -1.0], np.float32)
    assert erf(x).dtype == np.float32
    np.testing.assert_allclose(erf(x), [ad.erf(0.5), ad.erf(-1.0)], rtol=1e-7)
    sums = scatter_add(np.ones((2, 2, 3)), np.array([[0, 1], [1, 3]]), 4)
    assert sums.tolist() == [[1.0] * 3, [2.0] * 3, [0.0] * 3, [1.0] * 3]


@pytest.mark.torch
def test_torch_differentiates_a_program_too():
    xp, x, w = library("torch"), Value(1.0), Value(2.0)
    program = Expression(ad.sin(x * w)).compile([x], wrt=[w], xp=xp, batch=True)
    inputs = xp.tensor([[1.0], [2.0]], dtype=xp.float64)
    parameters = xp.tensor([0.5], dtype=xp.float64, requires_grad=True)
    values, gradients = program(inputs, parameters)
    values.sum().backward()
    assert parameters.grad.tolist() == pytest.approx(gradients.tolist(), rel=1e-15)
