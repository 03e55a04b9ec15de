"""Error messages: what was found, what was expected, what to do; and what Ctrl-C leaves.

With `tiny.py`, `math.sqrt(x)` is a TypeError that does not say what to write instead.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar


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


# -- Ctrl-C -------------------------------------------------------------------------------------

# Python looks for Ctrl-C between any two steps of a program, inside `__enter__` and `__exit__` too.
# So a context variable is set in a copy of the context, which is dropped; what is written to
# several places is written again if Ctrl-C came meanwhile; and what else is changed for a time is
# put back twice. Not provided for: a second Ctrl-C before the first has left the function that was
# called; one that comes in a function that Python calls to free an object, which Python prints and
# forgets; and what is put back only when a traceback is freed, as long as somebody keeps that.

T = TypeVar("T")
V = TypeVar("V")


def with_variable(variable: ContextVar[V], value: V, function: Callable[..., T], *args: Any) -> T:
    """function(*args), while a context variable has this value.

    What else the function sets in its context is dropped with it.
    """
    context = copy_context()
    context.run(variable.set, value)
    return context.run(function, *args)


def whole(write: Callable[..., object], *args: Any) -> None:
    """write(*args), all of it or nothing: it raises no error, and may be called twice."""
    try:
        write(*args)
    except BaseException:
        write(*args)
        raise


@contextmanager
def restoring(undo: Callable[..., object], *args: Any) -> Iterator[None]:
    """A block that changes something, and undo(*args) after it, which may be called twice.

    A Ctrl-C that keeps the block's end from being noticed ends this generator, which undoes too.
    """
    try:
        try:
            yield
        finally:
            undo(*args)
    finally:
        undo(*args)
