"""Tables of code: a row holds the text of a program, which is also the name of its case."""

import re

import pytest


def function(arguments, text, names):
    """The function of these arguments that a text is."""
    return eval(f"lambda {arguments}: {text}", names)


def refusals(names, *rows):
    """A test of what is refused: a program, its error, and the words that its message begins with.

    "..." stands for any other words.
    """

    @pytest.mark.parametrize(("text", "kind", "words"), rows)
    def test(text, kind, words):
        with pytest.raises(kind) as error:
            exec(text, dict(names))
        pattern = ".*".join(map(re.escape, words.split("...")))
        assert re.match(pattern, str(error.value), re.DOTALL), str(error.value)

    return test
