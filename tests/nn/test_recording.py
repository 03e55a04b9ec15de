"""While a loss is recorded, what depends on a leaf may not be looked at."""

import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest
from trainings import fitted, network, numbers

import autodiff as ad
from autodiff import Value
from autodiff.compiler.symbolic import NotRecordable
from autodiff.nn.recording import Recording, Watch
from autodiff.nn.samples import Samples

LOOKS = [
    lambda y: y.data,
    lambda y: y > 0.1,
    lambda y: y == 0.0,
    lambda y: max(y, 0.1),
    lambda y: f"{y:.1f}",
    bool, repr,
    lambda y: ad.Vector([0.0, y]).data,
    lambda y: np.sort(np.array([y, 2.0 * y])),
]  # fmt: skip


@pytest.mark.parametrize("look", LOOKS)
def test_looking_is_refused_at_what_depends_on_a_leaf(look):
    x, constant = Value(2.0), Value(3.0)
    look(x)
    for seen in (x, ad.sin(constant * x)):
        words = "^line [0-9]+ of test_recording.py, .* looks at a number, which differs"
        with pytest.raises(NotRecordable, match=words), Watch([Value(2.0), x]), suppress(Exception):
            look(seen)  # and no way out
    with Watch([x]):
        look(constant)
        with ThreadPoolExecutor() as pool:
            pool.submit(look, x).result()  # another thread computes with it, too


def test_no_number_is_missed_while_recording():
    """What depends on no leaf fails as ever; what does has no number that counts."""
    x = Value(-1.0)
    with Watch([x]):
        with pytest.raises(ValueError, match="x = -1.0 is outside the domain x > 0"):
            ad.log(Value(-1.0))
        assert math.isnan(ad.log(x)._data)


def test_an_interrupt_while_recording():
    def loss(p, t):
        raise KeyboardInterrupt

    history, model, _ = fitted(loss=loss, engine="auto")
    assert history.losses == []
    assert numbers(model) == numbers(network())


def test_a_recording_is_current_for_as_many_parameters():
    """Also where the loss is a parameter, and the graph has no operation to tell."""
    p, q = Value(1.0), Value(5.0)
    made = Recording(lambda x: p, lambda y, t: y, Samples([[0.0]] * 2, [0.0] * 2), [p, q])
    assert made.is_current([p, q])
    assert not made.is_current([p])
    assert not made.is_current([q, p])
