"""Programs in arrays that are kept: whose arrays are whose.

That they find what the readable program finds, all tests of programs check: see conftest.py.
"""

import threading
import tracemalloc

import numpy as np
import pytest
from catalogue import MAKE
from tables import cases
from test_batch import batched, drawn, everything

import autodiff as ad
from autodiff import Value

NETWORK = MAKE["network"](4, 10, 3)


def network():
    return batched(NETWORK.loss, NETWORK.x, NETWORK.parameters)


def results(program, rows, p=NETWORK.p):
    return [x.tolist() for x in program(rows, p)]


def test_an_operation_has_a_line_and_gradients_are_computed_in_place():
    program = network()
    written, returned = program.running.split("# from the output back")
    assert "dot1 = xp_matmul(p1, inputs.T, a1)" in written
    assert "add1 = xp_add(dot1, p2[:, None], a1)" in written  # over what it reads
    assert "gradients = xp.concatenate" in program.source
    assert "    gradients = a7  # (83,)" in returned
    assert program.running.count("xp.empty((10, n), dtype)") == 2  # tanh1, and what is sent to it


def test_weights_and_biases_side_by_side_are_columns_of_one_array():
    model = MAKE["lecture"](4, 16, 16, 1)
    running = batched(model.loss, model.x, model.parameters).running
    assert "concatenate" not in running
    assert running.count("[:, 0:16]\n") == 1  # where the gradients of weights are computed
    relu = batched(ad.relu(model.x[0] * model.parameters[0]), model.x, model.parameters).running
    assert "xp.empty((n,), bool)" in relu


def test_batches_of_any_size_and_type_one_after_the_other():
    """More than are kept; what is returned stays, and what is given as well: see conftest.py."""
    program, found, expected = network(), [], []
    for n in (5, 3, 0, 1, 5, 7, 9, 3, 3):
        for types in (("f8", "f8"), ("f4", "f4"), ("f4", "f8"), ("f2", "f2"), ("g", "g")):
            rows, p = NETWORK.rows(n).astype(types[0]), NETWORK.p.astype(types[1])
            found += program(rows, p)
            expected += program._function(np.asfortranarray(rows), p)
    for x, y in zip(found, expected):
        assert x.dtype == y.dtype
        assert x.flags.writeable
        np.testing.assert_allclose(
            x, y, rtol=100 * np.finfo(x.dtype).eps, atol=1e-2 * (x.dtype == "f2")
        )


OUTPUTS = [
    lambda x, w: x[0], lambda x, w: w[0], lambda x, w: Value(3.0), lambda x, w: w[0] + w[1],
    lambda x, w: x.sum() * w.sum(),
]  # fmt: skip


@cases("f", OUTPUTS)
def test_what_is_returned_is_the_callers(f):
    """Also where it is an argument, or the same for all samples."""
    x, w = drawn(2), drawn(2)
    program, rows, p = batched(f(x, w), x, w), np.ones((3, 2)), np.ones(2)
    first, second = program(rows, p), program(rows, p)
    for each, other in zip(first, second):
        each[:] = -1.0
        assert not any(np.shares_memory(each, y) for y in (other, rows, p))
    for each, other in zip(second, program(rows, p)):
        np.testing.assert_array_equal(each, other)


def test_threads_that_share_a_program_share_no_arrays():
    program, wrong = network(), []
    batches = [NETWORK.rows(50 + i % 2) * (1 + i) for i in range(4)]
    expected = [results(program, rows) for rows in batches]
    start = threading.Barrier(len(batches))

    def run(rows, right):
        start.wait()
        wrong.extend(i for i in range(200) if results(program, rows) != right)

    threads = [threading.Thread(target=run, args=each) for each in zip(batches, expected)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_an_error_is_that_of_the_readable_program_and_leaves_nothing_behind():
    x, w = drawn(2), drawn(2)
    program = batched(ad.log(x[0]) * w[0] + ad.exp(x[1] * w[1]), x, w)
    good, p = np.ones((2, 2)), np.ones(2)
    expected = results(program, good, p)
    for bad in ([[-1.0, 1.0]] * 2, [[1.0, 1e4]] * 2, [[0.0, 0.0]] * 2):
        words = set()
        for run in (program._function, program.runner(), program):
            with np.errstate(all="raise"), pytest.raises(FloatingPointError) as caught:
                run(np.array(bad), p)
            words.add(str(caught.value))
        assert len(words) == 1
        assert results(program, good, p) == expected


def test_operations_of_ones_own_give_float64_and_make_new_arrays():
    x, w = drawn(3), drawn(3, 3)
    program = batched(everything(x, w), x, w)
    assert (program.running == program.source) == ("vectorize" in program.source)


@pytest.mark.parametrize("name", ["network", "RNN", "LSTM", "attention", "lecture"])
def test_a_program_takes_no_more_memory_than_the_readable_one(name):
    model, peaks = MAKE[name](), []
    program = batched(model.loss, model.x, model.parameters)
    rows = np.asfortranarray(model.rows(400))
    for make in (lambda: program._function, program.runner):
        tracemalloc.start()
        run = make()
        for _ in range(3):
            run(rows, model.p)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] <= peaks[0]
