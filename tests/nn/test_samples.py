"""Training samples: inputs of many kinds as one array, copied; what is refused."""

import math
from fractions import Fraction

import numpy as np
import pandas
from tables import cases, raising

import autodiff as ad
from autodiff import Vector
from autodiff.nn.samples import Samples, shape_and_numbers

ROWS = [[0.25, 1.0], [2.0, -0.5], [3.0, 4.0]]


INPUTS = [
    (lambda: np.array(ROWS), ROWS),
    (lambda: np.array(ROWS, dtype=np.float32), ROWS),
    (lambda: pandas.DataFrame(ROWS, columns=["a", "b"]), ROWS),
    (lambda: [tuple(row) for row in ROWS], ROWS),
    (lambda: [Vector(row) for row in ROWS], ROWS),
    (lambda: [[*map(Fraction, row)] for row in ROWS], ROWS),
    (lambda: np.array(ROWS) > 0, [[1.0, 1.0], [1.0, 0.0], [1.0, 1.0]]),
    (lambda: pandas.DataFrame({"a": [1, 2], "b": [0.5, 0.5]}), [[1.0, 0.5], [2.0, 0.5]]),
    (lambda: [1, 2], [[1.0], [2.0]]),
]


@cases(("inputs", "rows"), INPUTS)
def test_inputs_of_many_kinds(inputs, rows):
    samples = Samples(inputs(), rows)
    assert samples.inputs.dtype == float
    assert samples.inputs.tolist() == rows
    assert samples.input(0).data == rows[0]
    assert not any(x.requires_grad for x in samples.input(0))


def test_a_frame_of_targets_is_its_rows_not_the_names_of_its_columns():
    frame = pandas.DataFrame(ROWS, index=[5, 3, 4])
    assert [list(target) for target in Samples(ROWS, frame).targets] == ROWS


def test_both_are_copied():
    """So that a callback may change its own."""
    inputs, targets = np.array(ROWS), [{"y": np.ones(2)}, {"y": [1.0]}, 0]
    samples = Samples(inputs, targets)
    inputs *= 2.0
    targets[0]["y"] *= 2.0
    targets[1]["y"].append(9.0)
    assert samples.inputs.tolist() == ROWS
    assert samples.targets[0]["y"].tolist() == samples.targets[1]["y"] * 2 == [1.0, 1.0]


def test_ragged_numbers_have_the_shapes_of_their_parts():
    assert shape_and_numbers([[1.0], [2.0, 3.0], 4.0], "") == (
        (3, (1,), (2,), ()),
        [1.0, 2.0, 3.0, 4.0],
    )
    assert shape_and_numbers(np.array(5.0), "") == ((), [5.0])
    assert shape_and_numbers(["ab"], "") == ((1,), ["ab"])


test_what_is_refused = raising(
    (lambda: Samples([1.0], [1.0, 2.0]), ValueError, "fit: found 1 input and 2 targets, expected as many"),
    (lambda: Samples([], []), ValueError, "fit: found 0 inputs and 0 targets"),
    (lambda: Samples(np.ones((2, 8, 8)), [1, 2]), ValueError, "...flatten or ...: inputs.reshape(len(inputs), -1)"),
    (lambda: Samples([[1.0], [1.0, 2.0]], [1, 2]), ValueError, "fit, inputs: found rows of different lengths"),
    *[(lambda x=x: Samples([[1.0], [x]], [1, 2]), ValueError, f"fit, inputs: found {x} in row 1, expected finite") for x in (math.nan, math.inf)],
    *[(lambda x=x: Samples(x, [1.0]), TypeError, "fit, inputs: found ..., expected a sequence") for x in ({0: 1.0}, 1.0)],
    *[(lambda x=x: Samples([1.0], x), TypeError, "fit, targets: found ..., expected a sequence") for x in ({0: 1.0}, 1.0)],
    *[(lambda d=d: d(lambda x: Samples([[1.0, x]], [1.0]))(2.0), RuntimeError, "fit, inputs: found a number inside a function")
      for d in (ad.grad, ad.jacfwd)],
)  # fmt: skip
