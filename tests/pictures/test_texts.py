"""Numbers and labels as pictures show them."""

import pytest

from autodiff.pictures.texts import few, markup, number, plain, printable, raised, sign


@pytest.mark.parametrize(
    ("f", "given", "expected"),
    [(number, [1e300], "1e300"), (number, ["a\tb"], "'a\\tb'"), (raised, ["z**2x"], "z**2x"),
     (sign, ["-"], "−"), (printable, ["a\tb\r\nc\n"], "a    b\nc"), (printable, ["x" * 40], "x" * 40),
     (printable, ["x" * 41], "x" * 39 + "…"), (printable, ["half \ud83d\x1b"], "half \ufffd\ufffd"),
     (printable, ["👩\u200d🔬\N{NO-BREAK SPACE}\ue000"], "👩\u200d🔬\N{NO-BREAK SPACE}\ue000"),
     (plain, ["a\nb\\N"], "a b∖N"), (markup, ["a b"], "a b"),
     (markup, [" <a>  b\\\nc "], "\xa0&lt;a&gt;\xa0\xa0b\\\\<br/>c\xa0"),
     (few, ["abcde", 5], [*"abcde"])],
)  # fmt: skip
def test_texts(f, given, expected):
    assert f(*given) == expected
