"""Numbers and labels as pictures show them."""

import pytest

from autodiff import Matrix, Value, Vector
from autodiff.pictures.texts import entry_names, few, markup, number, plain, printable, raised, sign


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


def test_entries_are_named_by_their_places():
    x, v, m = Value(1.0), Vector([1, 2]), Matrix([[1, 2], [3, 4]])
    held = {"x": x, "v": v, "text": "ab", "m": m, "w": [x, v]}
    found = [pair for name, each in held.items() for pair in entry_names(name, each)]
    names = "x v[0] v[1] m[0,0] m[0,1] m[1,0] m[1,1] w[0] w[1][0] w[1][1]"
    assert [name for _, name in found] == names.split()
    nodes = [x, *v, *m[0], *m[1], x, *v]
    assert [*map(id, nodes)] == [id(node) for node, _ in found]
