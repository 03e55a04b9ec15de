"""Where which kind of fact is stated, and what every test shares.

A fact stands once. A new one belongs

    the value, domain and derivative of an operation    support/operations.py, engine/test_ops.py
    what every mode gives alike                         engine/test_modes.py, support/modes.py
    the derivative by every argument there is           engine/test_every_argument.py
    an error, its words and its remedy                  engine/test_errors.py: places and wrong values
    what `fit` computes: the loop written out           nn/test_fitting.py, support/trainings.py
    what Ctrl-C leaves                                  nn/test_interrupts.py
    which models compile, are walked, are refused       nn/test_purity.py
    a derivative inside a model or a loss               nn/test_derivatives.py
    a program and its text                              compiler/test_program.py, test_batch.py
    what a picture says                                 pictures/test_sheet.py; DOT in test_dot.py
    what a page says and does                           pages/test_live.py and its siblings
    an answer to an exercise, and what it hears         course/answers, a file for each notebook
    an engine as readers write it                       course/engines
    what a notebook prints                              the notebook itself, which is run
    a command, a link, an address                       project

Hypothesis tries the same examples in each run, and random ones on demand. A test that needs what no
extra installs is marked by its name: `@pytest.mark.jax`. Where that is not installed the test is
skipped, and the report says so; `.ci/run` installs it and runs these tests.
"""

import importlib.util
import os
import random

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # before NumPy is loaded

import browser as browsers
import hypothesis
import pytest

hypothesis.settings.register_profile("the same", derandomize=True, database=None, deadline=None)
hypothesis.settings.load_profile("the same")

collect_ignore = ["conftest.py", "course/answers", "course/engines"]  # hold no doctests

SEED = int(os.environ.get("TEST_SEED") or random.SystemRandom().randrange(2**32))


MISSING = {name for name in ("jax", "numba", "torch") if not importlib.util.find_spec(name)}
MISSING |= set() if browsers.installed() else {"browser"}


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path.stem != "test_notebooks")  # what takes longest begins
    for item in items:
        if "browser" in item.fixturenames:
            item.add_marker("browser")


@pytest.hookimpl(tryfirst=True)  # before fixtures are made
def pytest_runtest_setup(item):
    for mark in item.iter_markers():
        if mark.name in MISSING:
            pytest.skip(f"not installed: {mark.name}")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A browser; each test opens a page of its own."""
    browser = browsers.Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def node():
    """Node.js."""
    node = browsers.Node()
    yield node
    node.close()


@pytest.fixture
def seed():
    """The seed of this run's random examples: new in each run, unless TEST_SEED is set."""
    return SEED
