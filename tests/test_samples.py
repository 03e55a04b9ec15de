"""Training samples: inputs of many kinds as one array, copied; what is refused."""

import math

import numpy as np
import pandas
import pytest
from tables import function, refusals

import autodiff as ad
from autodiff.nn.samples import Samples, shape_and_numbers

ROWS = [[0.25, 1.0], [2.0, -0.5], [3.0, 4.0]]


SAME = [
    "np.array(ROWS)", "np.array(ROWS, dtype=np.float32)", "pandas.DataFrame(ROWS, columns=['a', 'b'])",
    "[tuple(row) for row in ROWS]", "[Vector(row) for row in ROWS]", "[[*map(Fraction, row)] for row in ROWS]",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        *[(text, ROWS) for text in SAME],
        ("np.array(ROWS) > 0", [[1.0, 1.0], [1.0, 0.0], [1.0, 1.0]]),
        ("pandas.DataFrame({'a': [1, 2], 'b': [0.5, 0.5]})", [[1.0, 0.5], [2.0, 0.5]]),
        ("[1, 2]", [[1.0], [2.0]]),
    ],
)
def test_inputs_of_many_kinds(text, rows):
    inputs = function("", text, globals())()
    samples = Samples(inputs, rows)
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


test_what_is_refused = refusals(
    globals() | vars(math) | vars(ad),
    ("Samples([1.0], [1.0, 2.0])", ValueError, "fit: found 1 input and 2 targets, expected as many"),
    ("Samples([], [])", ValueError, "fit: found 0 inputs and 0 targets"),
    ("Samples(np.ones((2, 8, 8)), [1, 2])", ValueError, "...flatten or ...: inputs.reshape(len(inputs), -1)"),
    ("Samples([[1.0], [1.0, 2.0]], [1, 2])", ValueError, "fit, inputs: found rows of different lengths"),
    *[(f"Samples([[1.0], [{x}]], [1, 2])", ValueError, f"fit, inputs: found {x} in row 1, expected finite") for x in ("nan", "inf")],
    *[(f"Samples({given})", TypeError, f"fit, {where}: found ..., expected a sequence")
      for data in ("{0: 1.0}", "1.0")
      for where, given in (("inputs", f"{data}, [1.0]"), ("targets", f"[1.0], {data}"))],
    *[(f"{derivative}(lambda x: Samples([[1.0, x]], [1.0]))(2.0)", RuntimeError, "fit, inputs: found a number inside a function")
      for derivative in ("grad", "jacfwd")],
)  # fmt: skip
