"""What every test shares: hypothesis tries the same examples in each run, and random ones on demand."""

import os
import random

import hypothesis
import pytest

hypothesis.settings.register_profile("the same", derandomize=True, database=None, deadline=None)
hypothesis.settings.load_profile("the same")

collect_ignore = ["conftest.py"]  # holds no doctests

SEED = int(os.environ.get("TEST_SEED") or random.SystemRandom().randrange(2**32))


@pytest.fixture
def seed():
    """The seed of this run's random examples: new in each run, unless TEST_SEED is set."""
    return SEED
