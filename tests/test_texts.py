"""Numbers and labels as pictures show them."""

import math

import pytest

from autodiff import Value
from autodiff.pictures.texts import few, markup, number, plain, printable, raised, sign


@pytest.mark.parametrize(
    ("f", "given", "expected"),
    [(number, [1 / 3], "0.333333"), (number, [1 / 3, 2], "0.33"), (number, [-0.0], "0"),
     (number, [-1e-9], "−1e−9"), (number, [1e300], "1e300"), (number, [math.nan], "nan"),
     (number, [3], "3"), (number, [Value(0.5)], "0.5"), (number, ["a\tb"], "'a\\tb'"),
     (raised, ["x**12 + y**2.5 - z**2x"], "x¹² + y**2.5 - z**2x"),
     (sign, ["*"], "·"), (sign, ["-"], "−"), (sign, ["tanh"], "tanh"),
     (printable, ["a\tb\r\nc\n"], "a    b\nc"), (printable, ["x" * 40], "x" * 40),
     (printable, ["x" * 41], "x" * 39 + "…"), (printable, ["half \ud83d\x1b"], "half \ufffd\ufffd"),
     (printable, ["👩\u200d🔬\N{NO-BREAK SPACE}\ue000"], "👩\u200d🔬\N{NO-BREAK SPACE}\ue000"),
     (plain, ["a\nb\\N"], "a b∖N"), (markup, ["a b"], "a b"),
     (markup, [" <a>  b\\\nc "], "\xa0&lt;a&gt;\xa0\xa0b\\\\<br/>c\xa0"),
     (few, ["abcde", 5], [*"abcde"]), (few, ["abcdef", 5], ["a", "b", "c", None, "f"])],
)  # fmt: skip
def test_texts(f, given, expected):
    assert f(*given) == expected
