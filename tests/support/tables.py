"""Tables of cases: a row holds a program, a lambda, whose text is the name of its case."""

import linecache
import re

import numpy as np
import pytest

import autodiff as ad


def text_of(case):
    """The text of a lambda's body, and its defaults; None for anything else.

    >>> text_of(lambda x, n=2: x**n)
    'x**n [n=2]'
    """
    if getattr(case, "__name__", "") != "<lambda>":
        return None
    code, given = case.__code__, case.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(given) : code.co_argcount]
    texts = [text_of(x) or getattr(x, "__name__", repr(x)) for x in given]
    more = ", ".join(map("{}={}".format, names, texts))
    spans = [x for x in code.co_positions() if None not in x and x[::2] < x[1::2]]
    if not spans:  # of a constant, in Python 3.12
        return None
    first, start = min((line, column) for line, _, column, _ in spans)
    last, end = max((line, column) for _, line, _, column in spans)
    file = code.co_filename
    lines = [linecache.getline(file, i).encode() for i in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    text = " ".join(b" ".join(lines).decode().split())
    return f"{text} [{more}]" if more else text


def cases(names, rows):
    """Parametrize a test by rows, or one name by values; the texts of its lambdas name a row."""
    columns = [rows] if isinstance(names, str) else zip(*rows)
    texts = zip(*[map(text_of, column) for column in columns])
    ids = [", ".join(filter(None, row)) or None for row in texts]
    return pytest.mark.parametrize(names, rows, ids=ids)


def raising(*rows):
    """A test of what is refused: a program, its error, and the words that its message begins with.

    "..." stands for any other words.
    """

    @cases(("program", "kind", "words"), rows)
    def test(program, kind, words):
        check_raises(program, kind, words)

    return test


def check_raises(program, kind, words):
    """The text of the error, which begins with these words."""
    with pytest.raises(kind) as error:
        program()
    pattern = ".*".join(map(re.escape, words.split("...")))
    text = str(error.value)
    assert re.match(pattern, text, re.DOTALL), text
    assert " at 0x" not in text, text
    return text


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
