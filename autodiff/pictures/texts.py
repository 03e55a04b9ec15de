"""Numbers and labels as pictures show them."""

import html
import math
import re
import unicodedata
from typing import Any

from ..value import Value

LONGEST_LABEL = 40  # characters
SIGNS = {"*": "·", "-": "−"}
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def as_float(x: Any) -> float | None:
    """x as a float, or the float in a Value (a gradient made with create_graph); else None."""
    x = x.data if isinstance(x, Value) else x
    return x if isinstance(x, float) else None


def finite(x: Any) -> bool:
    """False for nan and inf."""
    x = as_float(x)
    return x is None or math.isfinite(x)


def number(x: Any, digits: int = 6) -> str:
    """x to some digits, and 0 for -0; the repr of x if it is not a float.

    >>> number(-0.1234567), number(1e-9), number(-0.0)
    ('−0.123457', '1e−9', '0')
    """
    x = x.data if isinstance(x, Value) else x
    if not isinstance(x, float):
        return printable(repr(x))
    mantissa, e, exponent = f"{x + 0.0:.{digits}g}".partition("e")
    return f"{mantissa}{e}{int(exponent) if e else ''}".replace("-", "−")


def raised(formula: str) -> str:
    """A formula with small digits for exponents that are whole numbers.

    >>> raised("x**12 + x**2.5")
    'x¹² + x**2.5'
    """
    return re.sub(r"\*\*(\d+)(?![\w.])", lambda found: found[1].translate(SUPERSCRIPTS), formula)


def sign(operation: str) -> str:
    """The sign of an operation as it is written in formulas."""
    return printable(SIGNS.get(operation, operation))


def printable(text: str) -> str:
    """A text without control characters, cut off where it is too long for a box.

    Characters that join letters or emoji, or set the direction of writing, are kept.
    """
    text = text.replace("\r\n", "\n").replace("\t", " " * 4)
    text = text.strip("\n")  # Graphviz crashes on a record whose field begins with an empty line
    text = clean(text)
    if len(text) > LONGEST_LABEL:
        end = LONGEST_LABEL - 1
        while end and (_joins(text[end]) or text[end - 1] == "\N{ZERO WIDTH JOINER}"):
            end -= 1
        text = text[:end] + "…"
    return text


def clean(text: str) -> str:
    """A text with a sign in place of each control character."""
    return "".join(c if _harmless(c) else "\ufffd" for c in text)


def plain(text: str) -> str:
    """A text on one line, for attributes of DOT, which have no way to write a backslash."""
    return clean(text).replace("\n", " ").replace("\\", "∖")


def _harmless(c: str) -> bool:
    """Whether a character is neither a control character nor half of one (a surrogate)."""
    return c.isprintable() or c == "\n" or unicodedata.category(c) in ("Cf", "Zs", "Co")


def _joins(c: str) -> bool:
    """Whether a character is shown together with the one before it."""
    return unicodedata.category(c) in ("Mn", "Me", "Mc", "Cf", "Sk")


def markup(text: str) -> str:
    """A text in Graphviz's HTML, with special characters escaped and all spaces kept."""
    lines = html.escape(text).replace("\\", "\\\\").split("\n")
    kept = [re.sub("^ +| {2,}| +$", lambda s: "\N{NO-BREAK SPACE}" * len(s[0]), x) for x in lines]
    return "<br/>".join(kept)
