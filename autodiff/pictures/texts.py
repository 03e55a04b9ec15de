"""Numbers and labels as pictures show them, and as Graphviz wants them written."""

import math
from typing import Any

from ..value import Value

LONGEST_LABEL = 40  # characters


def as_float(x: Any) -> float | None:
    """x as a float, where it is one; a gradient made with create_graph is a Value."""
    x = x.data if isinstance(x, Value) else x
    return x if isinstance(x, float) else None


def finite(x: Any) -> bool:
    """False for nan and inf."""
    x = as_float(x)
    return x is None or math.isfinite(x)


def number(x: Any, digits: int = 6) -> str:
    """x to some digits, and 0 for -0; the repr of x if it is not a float."""
    x = x.data if isinstance(x, Value) else x
    return f"{x + 0.0:.{digits}g}" if isinstance(x, float) else in_record(repr(x))


def short(x: Any) -> str:
    """x with four digits, for edges and sums."""
    return number(x, digits=4)


def in_record(text: str) -> str:
    """Text that Graphviz shows as it is, in a record: no character of it is notation."""
    return "".join(_NOTATION.get(c, c) for c in printable(text))


def escaped(text: str) -> str:
    """The same outside of records, where |, braces and <> are no notation."""
    return "".join(_ENTITIES.get(c, c) for c in printable(text))


def printable(text: str) -> str:
    """A text without control characters, cut off where it is too long for a box."""
    if len(text) > LONGEST_LABEL:
        text = text[: LONGEST_LABEL - 1] + "…"
    text = text.replace("\r\n", "\n").replace("\t", " " * 4)
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\\": "\\\\", "\n": "\\n"}
_ENTITIES |= {" ": "\N{NO-BREAK SPACE}"}
_NOTATION = _ENTITIES | {c: "\\" + c for c in "{}|<>"}
