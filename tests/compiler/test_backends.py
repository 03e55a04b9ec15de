"""In NumPy, JAX, PyTorch and by the array API standard: the same numbers, of the arrays' type."""

import array
import importlib
import os
from datetime import date
from decimal import Decimal

import numpy as np
import pytest
from catalogue import MAKE
from tables import cases, check_raises
from test_batch import batched, drawn, everything, leaves

import autodiff as ad
from autodiff import Expression, Value, Vector, nn

os.environ["JAX_PLATFORMS"] = "cpu"  # read when JAX is imported, or first computes
OTHERS = [
    "array_api_strict",  # has what is in the standard, and nothing else
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
    lambda x, w: ad.hypot(1.0, 2.0, x[0], w[0]) + w[1] * x[1],
    lambda x, w: ad.hypot(x[0], 1.0) + ad.erf(x[1]) + ad.minimum(x[0], 2.0) + ad.less(x[0], x[1]),
]


PRECISIONS = "bfloat16", "float16", "float32", "float64"


def numbers(arrays):
    """The numbers of arrays, as NumPy's."""
    return [np.array(x.tolist() if hasattr(x, "tolist") else x, float) for x in arrays]


def flat(results):
    value, gradients = results
    return [value, *gradients] if isinstance(gradients, tuple) else [value, gradients]


def away(program, *given):
    """The results for such arrays, but without numbers: on the device meta, or as JAX traces it."""
    if hasattr(given[0], "is_meta"):
        found = program(*[x.to("meta") for x in given])
        assert all(x.is_meta for x in flat(found)), program.source
        return found
    return library("jax").eval_shape(program, *given)


@pytest.mark.parametrize("xp", ["numpy", *OTHERS])
@cases("f", LOSSES)
def test_the_type_of_numbers_is_that_of_the_arrays(f, xp):
    xp, x, w = library(xp), Vector([0.5, -0.25]), Vector([1.0, 2.0, -1.0])
    y = f(x, w)
    wrt = w if {*w} & {*Expression(y).sources} else x
    program, by_numpy = batched(y, x, wrt, xp=xp), batched(y, x, wrt)
    alone = Expression(y).compile([*x, *w], wrt=[*x, *w], xp=xp)
    for dtype in [getattr(xp, name) for name in PRECISIONS if hasattr(xp, name)]:
        rows = xp.asarray([[0.5, -0.25], [1.0, 2.0], [-1.0, 0.0]], dtype=dtype)
        p = xp.asarray(w.data, dtype=dtype)
        given = [rows, p] if wrt is w else [rows]
        columns = [rows[:, i] for i in range(2)] + [p[i] + rows[:, 0] * 0 for i in range(3)]
        within = {"rtol": 8 * float(xp.finfo(dtype).eps)}
        found, expected = program(*given), by_numpy(*numbers(given))
        for some, right in zip(numbers(found), expected):
            np.testing.assert_allclose(some, right, **within)
        one_by_one = alone(*columns)
        np.testing.assert_allclose(*numbers([one_by_one[0], found[0]]), **within)
        results = [*found, *flat(one_by_one)]
        if xp.__name__ in ("jax.numpy", "torch"):
            results += [*away(program, *given), *flat(away(alone, *columns))]
        assert {x.dtype for x in results} == {rows.dtype}, program.source


def model(name):
    """The loss of a model, its inputs and its parameters; and the numbers of two batches."""
    if name == "everything":
        inputs, parameters = drawn(3), drawn(3, 3)
        loss = everything(inputs, parameters)
    else:
        loss, inputs, parameters = (made := MAKE[name]()).loss, made.x, made.parameters
    p = np.array([x.data for x in leaves(parameters)])
    rows = np.random.default_rng(1).normal(size=(2, 6, len(inputs)))
    return (loss, inputs, parameters), (rows, np.stack([p, 1.1 * p]))


@pytest.mark.parametrize("xp", OTHERS)
@pytest.mark.parametrize("name", [*MAKE, "everything"])
def test_the_numbers_are_those_of_numpy(name, xp):
    """Also where the library compiles the program, and where it maps it over several batches."""
    xp, (made, batches) = library(xp), model(name)
    expected = [batched(*made)(*batch) for batch in zip(*batches)]
    program, given = batched(*made, xp=xp), [xp.asarray(x) for x in batches]
    if xp.__name__ == "torch":
        xp.compiler.reset()
        compiled = xp.compile(program, backend="aot_eager", fullgraph=True)
        single, mapped = [program, compiled], [xp.func.vmap(program)]
    elif xp.__name__ == "array_api_strict":
        single, mapped = [program], []
    else:
        jax = library("jax")
        single, mapped = [jax.jit(program)], [jax.jit(jax.vmap(program))]
    first = [x[0, ...] for x in given]
    results = [(run(*first), expected[0]) for run in single]
    results += [(run(*given), [*zip(*expected)]) for run in mapped]
    for found, wanted in results:
        for some, right in zip(numbers(found), wanted):
            np.testing.assert_allclose(some, right, rtol=1e-11, atol=1e-12)
    for precision in PRECISIONS if mapped else ():
        found = away(program, *[xp.asarray(x, dtype=getattr(xp, precision)) for x in first])
        shapes = [(getattr(xp, precision), x.shape) for x in expected[0]]
        assert [(x.dtype, tuple(x.shape)) for x in found] == shapes


@pytest.mark.parametrize("xp", ["numpy", *OTHERS])
def test_integers_become_floats(xp):
    xp, x, w = library(xp), Vector([1.0, 2.0]), Vector([0.5, 0.25])
    program = batched((x * w).sum() * 0.5, x, w, xp=xp)
    values, gradients = program(xp.asarray([[2, 4], [6, 8]]), xp.asarray(w.data))
    assert [x.tolist() for x in numbers([values, gradients])] == [[1.0, 2.5], [4.0, 6.0]]


ONE_AND_TWO = [  # in other containers than the library's own
    array.array("d", [1.0, 2.0]), memoryview(np.array([1.0, 2.0])), np.array([1, 2], np.uint8),
    [Decimal(1), 2.0], np.array([1, 2.0], object), range(1, 3), (True, 2),
]  # fmt: skip
NO_NUMBERS = [
    3 + 4j, [1.0, 4j], np.array([3 + 4j]), "3", ["3"], b"3", None, [None], date(2020, 1, 1),
    np.datetime64(3, "D"), np.array([3], "M8[ns]"), np.timedelta64(3, "s"), {}, {1.0}, object(),
]  # fmt: skip


@pytest.mark.parametrize("name", ["numpy", *OTHERS])
def test_arrays_of_others_are_read_by_their_numbers_or_refused(name):
    xp, x = library(name), Value(1.0)
    program = Expression(x * 3.0).compile([x], [x], xp=xp)
    given = [*ONE_AND_TWO, xp.asarray([1.0, 2.0])]
    given += [library("jax.numpy").asarray([1.0, 2.0])] if name == "jax.numpy" else []
    for each in given:
        assert numbers(program(each)[:1])[0].tolist() == [3.0, 6.0], each
    for each in [*NO_NUMBERS, xp.asarray([3 + 4j])]:
        check_raises(
            lambda each=each: program(each), TypeError, "program: found ..., expected ...real"
        )


@pytest.mark.jax
@pytest.mark.torch
def test_a_program_for_torch_reads_an_array_of_jax():
    x, given = Value(1.0), library("jax.numpy").asarray([1.0, 2.0])
    program = Expression(x * 3.0).compile([x], [x], xp=library("torch"))
    assert program(given)[0].tolist() == [3.0, 6.0]


@pytest.mark.torch
def test_torch_differentiates_a_program_too():
    xp, x, w = library("torch"), Value(1.0), Value(2.0)
    program = Expression(ad.sin(x * w)).compile([x], wrt=[w], xp=xp, batch=True)
    inputs = xp.tensor([[1.0], [2.0]], dtype=xp.float64)
    parameters = xp.tensor([0.5], dtype=xp.float64, requires_grad=True)
    values, gradients = program(inputs, parameters)
    values.sum().backward()
    assert parameters.grad.tolist() == pytest.approx(gradients.tolist(), rel=1e-15)
