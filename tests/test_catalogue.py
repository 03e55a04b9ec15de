"""Compiled programs beside those that a person writes, for twelve models."""

import catalogue
import numpy as np
import pytest

from autodiff import Expression

# Ceilings, so that programs do not grow: the lines that they had when they were last read. (By hand
# they take fewer: catalogue.py has them. A recurrence is written out, where a hand writes a loop.)
LINES = {
    "linear": 9, "softmax": 15, "binary": 12, "64-32-10": 21, "ten layers": 65, "residual": 15,
    "gated": 19, "weight tying": 15, "RNN": 31, "LSTM": 94, "attention": 23, "convolution": 16,
}  # fmt: skip


@pytest.mark.parametrize("name", catalogue.MAKE)
def test_a_program_has_the_numbers_of_the_one_by_hand(name):
    model = catalogue.MAKE[name]()
    program = Expression(model.loss).compile([model.x], model.parameters, xp=np, batch=True)
    rows = np.random.default_rng(1).normal(size=(20, len(model.x)))
    for found, expected in zip(program(rows, model.p), model.hand(rows, model.p)):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    body = program.source.partition("):\n")[2].strip().splitlines()
    assert len(body) <= LINES[name]
    assert "where(0.0 <=" not in program.source
