"""Numbers and labels as pictures show them."""

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TypeVar

from ..engine.linalg import Matrix, Vector
from ..engine.value import Value

T = TypeVar("T")

LONGEST_LABEL = 40  # characters
SIGNS = {"*": "×", "/": "÷", "-": "−"}  # as in the live graph
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def float_in(x: object) -> float | None:
    """x as a float, or the float in a Value (a gradient made with create_graph); else None."""
    x = x._number() if isinstance(x, Value) else x
    return x if isinstance(x, float) else None


def number(x: object, digits: int = 4) -> str:
    """x to some digits, and 0 for -0; the repr of x if it is not a float.

    >>> number(-0.1234567), number(1e-9), number(-0.0)
    ('−0.1235', '1e−9', '0')
    """
    if (found := float_in(x)) is None:
        return printable(repr(x))
    mantissa, e, exponent = f"{found + 0.0:.{digits}g}".partition("e")
    return f"{mantissa}{e}{int(exponent) if e else ''}".replace("-", "−")


def raised(formula: str) -> str:
    """A formula with small digits for exponents that are whole numbers.

    >>> raised("x**12 + x**2.5")
    'x¹² + x**2.5'
    """
    return re.sub(r"\*\*(\d+)(?![\w.])", lambda found: found[1].translate(SUPERSCRIPTS), formula)


def sign(operation: str) -> str:
    """The sign of an operation, in its box."""
    return printable(SIGNS.get(operation, operation))


def printable(text: str) -> str:
    """A text without control characters, cut off where it is too long for a box."""
    text = clean(text.replace("\r\n", "\n").replace("\t", " " * 4)).strip("\n")
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"


def clean(text: str) -> str:
    """A text with a sign in place of each control character, and of each half of one.

    Characters that join letters or emoji, or set the direction of writing, are kept.
    """

    def kept(c: str) -> bool:
        return c.isprintable() or c == "\n" or unicodedata.category(c) in ("Cf", "Zs", "Co")

    return "".join(c if kept(c) else "\ufffd" for c in text)


def plain(text: str) -> str:
    """A text on one line, for attributes of DOT, which have no way to write a backslash."""
    return clean(text).replace("\n", " ").replace("\\", "∖")


def few(items: Sequence[T], most: int) -> list[T | None]:
    """The items to show; None stands for those left out.

    >>> few(range(9), 4)
    [0, 1, None, 8]
    """
    return [*items] if len(items) <= most else [*items[: most - 2], None, items[-1]]


def markup(text: str) -> str:
    """A text in Graphviz's HTML, with special characters escaped and all spaces kept."""
    lines = html.escape(text).replace("\\", "\\\\").split("\n")
    kept = [re.sub("^ +| {2,}| +$", lambda s: "\N{NO-BREAK SPACE}" * len(s[0]), x) for x in lines]
    return "<br/>".join(kept)


def entry_names(name: str, x: object) -> Iterator[tuple[Value, str]]:
    """Each Value in a variable x, and its name: w, w[0] in a Vector, w[0,1] in a Matrix."""
    if isinstance(x, Value):
        yield x, name
    elif isinstance(x, Matrix):
        for i, row in enumerate(x):
            yield from ((entry, f"{name}[{i},{j}]") for j, entry in enumerate(row))
    elif isinstance(x, (Vector, list, tuple)):
        for i, entry in enumerate(x):
            yield from entry_names(f"{name}[{i}]", entry)
