"""Error messages: what was found, what was expected, what to do.

With `tiny.py`, `math.sqrt(x)` is a TypeError that does not say what to write instead.
"""

import re


def refusal(subject: str, found: str, expected: str, remedy: str = "") -> str:
    """The text of an error: the function or argument, what was found, what was expected, a remedy.

    >>> refusal("draw", kind_of(3), "a Value", "make one: Value(3)")
    'draw: found an int, expected a Value; make one: Value(3)'
    """
    return f"{subject}: found {found}, expected {expected}{'; ' + remedy if remedy else ''}"


def kind_of(x: object) -> str:
    """The type of x with its article.

    >>> kind_of(3), kind_of("text")
    ('an int', 'a str')
    """
    name = type(x).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def typed(x: object) -> str:
    """x and its type.

    >>> typed("text")
    "'text' of type str"
    """
    return f"{shortened(x)} of type {type(x).__name__}"


def counted(n: int, noun: str) -> str:
    """n and the noun, in the plural if needed.

    >>> counted(1, "number"), counted(2, "number")
    ('1 number', '2 numbers')
    """
    return f"{n} {noun}{'' if n == 1 else 's'}"


def shortened(x: object) -> str:
    """repr(x), for error messages: without its address in memory, cut off after 40 characters."""
    text = " ".join(re.sub(" at 0x[0-9a-fA-F]+", "", repr(x)).split())
    return text if len(text) <= 40 else text[:37] + "..."


def described(x: object) -> str:
    """The number in x and its label, for error messages."""
    label, number = getattr(x, "label", ""), shortened(number_in(x))
    return f"{number} ({label!r})" if label else number


def number_in(x: object) -> object:
    """The number that a Value or a Dual holds; anything else itself."""
    return getattr(x, "_data", getattr(x, "_primal", x)) if hasattr(x, "_record") else x


LOST = (
    "this number is being differentiated, and a float has no derivative; write autodiff.sin for "
    "math.sin, or x.data for the plain number of a Value of your own"
)
LEAKED = (
    "found a number of a derivative that has been computed already, expected one of a derivative "
    "in progress; a function must return what depends on its inputs, not store it elsewhere"
)
