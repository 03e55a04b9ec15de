"""Training samples: inputs of many kinds as one array, copied; what is refused."""

import math
from fractions import Fraction

import numpy as np
import pandas
from tables import cases, raising

import autodiff as ad
from autodiff import Vector
from autodiff.nn import mse_loss
from autodiff.nn.samples import Samples

ROWS = [[0.25, 1.0], [2.0, -0.5], [3.0, 4.0]]


GIVEN = [
    (lambda: np.array(ROWS), ROWS),
    (lambda: np.array(ROWS, dtype=np.float32), ROWS),
    (lambda: pandas.DataFrame(ROWS, columns=["a", "b"], index=[5, 3, 4]), ROWS),  # its rows, not the names of its columns
    (lambda: [tuple(row) for row in ROWS], ROWS),
    (lambda: [Vector(row) for row in ROWS], ROWS),
    (lambda: [[*map(Fraction, row)] for row in ROWS], ROWS),
    (lambda: np.array(ROWS) > 0, [[1.0, 1.0], [1.0, 0.0], [1.0, 1.0]]),
    (lambda: pandas.DataFrame({"a": [1, 2], "b": [0.5, 0.5]}), [[1.0, 0.5], [2.0, 0.5]]),
    (lambda: [1, 2], [[1.0], [2.0]]),
]  # fmt: skip


@cases(("given", "rows"), GIVEN)
def test_inputs_and_targets_of_many_kinds(given, rows):
    samples = Samples(given(), given())
    assert samples.inputs.dtype == float
    assert samples.inputs.tolist() == rows
    for i, row in enumerate(rows):
        assert samples.input(i).data == row
        assert not any(x.requires_grad for x in samples.input(i))
        assert mse_loss(samples.input(i), samples.targets[i]).data == 0.0


def test_both_are_copied():
    """So that a callback may change its own."""
    inputs, targets = np.array(ROWS), [{"y": np.ones(2)}, {"y": [1.0]}, 0]
    samples = Samples(inputs, targets)
    inputs *= 2.0
    targets[0]["y"] *= 2.0
    targets[1]["y"].append(9.0)
    assert samples.inputs.tolist() == ROWS
    assert samples.targets[0]["y"].tolist() == samples.targets[1]["y"] * 2 == [1.0, 1.0]


test_what_is_refused = raising(
    (lambda: Samples([], []), ValueError, "fit: found 0 inputs and 0 targets"),
    (lambda: Samples(np.ones((2, 8, 8)), [1, 2]), ValueError, "...flatten or ...: inputs.reshape(len(inputs), -1)"),
    (lambda: Samples([[1.0], [1.0, 2.0]], [1, 2]), ValueError, "fit, inputs: found rows of different lengths"),
    *[(lambda x=x: Samples([[1.0], [x]], [1, 2]), ValueError, f"fit, inputs: found {x} in row 1, expected finite") for x in (math.nan, math.inf)],
    *[(lambda x=x: Samples(x, [1.0]), TypeError, "fit, inputs: found ..., expected a sequence") for x in ({0: 1.0}, 1.0)],
    *[(lambda x=x: Samples([1.0], x), TypeError, "fit, targets: found ..., expected a sequence") for x in ({0: 1.0}, 1.0)],
    *[(lambda d=d: d(lambda x: Samples([[1.0, x]], [1.0]))(2.0), RuntimeError, "fit, inputs: found a number inside a function")
      for d in (ad.grad, ad.jacfwd)],
)  # fmt: skip
