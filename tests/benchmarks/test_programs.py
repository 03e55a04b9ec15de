"""Compiled graphs beside programs that a person writes in NumPy."""

import inspect

import numpy as np
import pytest
from by_hand import PROGRAMS, by_hand
from catalogue import MAKE

from autodiff import Expression, topological_order

LARGE = [("RNN", (50, 8, 32)), ("attention", (16, 8)), ("convolution", (28, 8))]


@pytest.mark.parametrize(("name", "sizes"), [*[(name, ()) for name in PROGRAMS], *LARGE])
def test_models_beside_the_programs_by_hand(side_by_side, name, sizes):
    """Value and gradients of 150 samples."""
    model = MAKE[name](*sizes)
    program = Expression(model.loss).compile([model.x], model.parameters, xp=np, batch=True)
    rows = np.asfortranarray(model.rows(150))
    peers = {
        "hand-written NumPy": lambda: by_hand(name, model, rows, model.p),
        "autodiff, compiled": lambda: program(rows, model.p),
    }
    (losses, gradient), (values, gradients) = [peer() for peer in peers.values()]
    assert np.sum(values) == pytest.approx(np.sum(losses), rel=1e-9)
    np.testing.assert_allclose(gradients, gradient, rtol=1e-6, atol=1e-8)
    lines = program.source.count("\n")
    written = inspect.getsource(PROGRAMS[name]).count("\n")
    side_by_side(f"{name} {sizes or ''}: {written} lines by hand, {lines} compiled", peers, 20)


@pytest.mark.parametrize("sizes", [(4, 10, 3), (64, 32, 10), (256, 64, 10), (784, 128, 10)])
def test_growth_with_the_width(side_by_side, sizes):
    """Recording and compiling, which come before the first epoch."""
    model = MAKE["network"](*sizes)
    expression = Expression(model.loss)
    peers = {
        "recording": lambda: MAKE["network"](*sizes),
        "compiling": lambda: expression.compile([model.x], model.parameters, xp=np, batch=True),
    }
    side_by_side(f"{sizes}: {len(topological_order(model.loss))} nodes", peers, 5)
