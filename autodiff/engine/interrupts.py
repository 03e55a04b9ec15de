"""What Ctrl-C cannot leave half done, wherever it comes.

Python looks for Ctrl-C between any two steps of a program, inside `__enter__` and `__exit__` too.
So a context variable is set in a copy of the context, which is dropped; what is written to several
places is written again if Ctrl-C came meanwhile; and what else is changed for a time is put back
twice. Not provided for: a second Ctrl-C before the first has left the function that was called; one
that comes in a function that Python calls to free an object, which Python prints and forgets; and
what is put back only when a traceback is freed, as long as somebody keeps that.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

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
