"""Initial weights: their variance, and their seeds."""

import math
import random
import statistics

import pytest

from autodiff import nn
from autodiff.nn import Linear


@pytest.mark.parametrize(
    ("name", "variance"), [("he", 2 / 300), ("xavier", 2 / (300 + 100)), ("lecun", 1 / 300)]
)
@pytest.mark.parametrize("form", ["normal", "uniform"])
def test_the_variance_of_initialisers(name, form, variance):
    rows = getattr(nn, f"{name}_{form}")(300, 100, random.Random(0))
    assert (len(rows), len(rows[0])) == (100, 300)
    weights = [w for row in rows for w in row]
    # of 30,000 draws; the sample variance is within 5 of its own standard deviations
    assert statistics.pvariance(weights) == pytest.approx(variance, rel=5 * math.sqrt(2 / 30_000))
    assert statistics.fmean(weights) == pytest.approx(0, abs=5 * math.sqrt(variance / 30_000))
    if form == "uniform":
        assert max(map(abs, weights)) <= math.sqrt(3 * variance)


def test_a_layer_of_a_seed_has_the_same_weights_again():
    before = random.getstate()
    one, again, other, *unseeded = (Linear(3, 3, seed=s).weight.data for s in (1, 1, 2, None, None))
    assert one == again != other
    assert unseeded[0] != unseeded[1]
    assert random.getstate() == before
