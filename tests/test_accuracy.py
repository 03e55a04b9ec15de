"""What the README claims about accuracy, from a smaller table than `python tests/accuracy.py`."""

import random

import accuracy
import mpmath
import pytest
from accuracy import FIRST, MEASURED, SECOND, measured

# (1 - tanh²) of large numbers, and second derivatives close to one of their zeros, lose digits
# relative to the derivative itself.
LOSES = {1: {"tanh"}, 2: {"tanh", "asin", "acos", "atan", "sigmoid", "logsumexp", "hypot"}}
# 1/y - x²/y³ where x is nearly y: both terms are large and cancel.
CANCELS = {(2, "hypot")}


@pytest.mark.parametrize("name", MEASURED)
@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_are_accurate_over_all_sizes_of_numbers(name, order, monkeypatch):
    monkeypatch.setattr(accuracy, "POINTS", 8)
    modes = {1: FIRST, 2: SECOND}[order]
    with mpmath.workdps(1500):
        errors = measured(name, modes, order, random.Random(name), torch=False)
    for mode, found in errors.items():
        if (order, name) not in CANCELS:
            assert found.absolute <= 1e-13, (mode, found.worst)
        if name not in LOSES[order]:
            assert found.relative <= 1e-13, (mode, found.at)
