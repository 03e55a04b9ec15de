"""Tables of code: a row holds the text of a program, which is also the name of its case."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest

import autodiff as ad
from autodiff import Dual, Expression, Matrix, Value, Vector, nn, optim

EVERYWHERE = {"math": math, "np": np, "ad": ad, "nn": nn, "optim": optim} | {
    kind.__name__: kind for kind in (Dual, Expression, Fraction, Matrix, Value, Vector)
}


def function(arguments, text, names):
    """The function of these arguments that a text is, with these names."""
    return eval(f"lambda {arguments}: {text}", EVERYWHERE | names)


def refusals(names, *rows):
    """A test of what is refused: a program, its error, and the words that its message begins with.

    "..." stands for any other words.
    """

    @pytest.mark.parametrize(("text", "kind", "words"), rows)
    def test(text, kind, words):
        with pytest.raises(kind) as error:
            exec(text, EVERYWHERE | names)
        pattern = ".*".join(map(re.escape, words.split("...")))
        assert re.match(pattern, str(error.value), re.DOTALL), str(error.value)

    return test


def same(found, expected, rel=1e-14):
    """Two trees have the same kinds and keys, and nearly the same numbers."""
    assert type(found) is type(expected)
    if isinstance(expected, ad.Value):
        found, expected = found.data, expected.data
    if isinstance(expected, (float, np.ndarray)):
        assert np.asarray(found).dtype == np.asarray(expected).dtype == float
        assert np.shape(found) == np.shape(expected)
        assert found == pytest.approx(expected, rel=rel, abs=rel)
        return
    if isinstance(expected, dict):
        assert [*found] == [*expected]
        found, expected = found.values(), expected.values()
    for pair in zip(found, expected, strict=True):
        same(*pair, rel)
