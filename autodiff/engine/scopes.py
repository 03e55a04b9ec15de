"""Scopes: names for the parts of a computation, such as the layers of a network.

A node made inside a scope records it, and `draw` frames the nodes of a scope. Until a program makes
its first scope, nodes do not ask for one, and so pay nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from .errors import refusal, typed
from .interrupts import restoring, with_variable

T = TypeVar("T")

used = False  # whether this program has made a scope
# The innermost scope of this thread or task.
_innermost: ContextVar["Scope | None"] = ContextVar("innermost", default=None)
innermost = _innermost.get


class Scope:
    """A part of a computation: its name, the module that does it, and the scope it was made in.

    It holds no node, and so keeps none alive. It is entered once.
    """

    __slots__ = ("ended", "module", "name", "outer")

    def __init__(self, name: str, module: object = None) -> None:
        global used
        used = True
        self.name, self.module, self.outer, self.ended = name, module, innermost(), False

    def run(self, function: Callable[..., T], *args: Any) -> T:
        """function(*args) inside this scope."""
        return with_variable(_innermost, self, function, *args)

    def end(self) -> None:
        """End the scope, maybe in another context than it began in, or after others in it."""
        self.ended = True
        scope = innermost()
        while scope and scope.ended:
            scope = scope.outer
        _innermost.set(scope)


def scope(name: str) -> AbstractContextManager[None]:
    """A context manager, for one `with`: the nodes made in it belong together, under this name.

    `draw` puts a frame around them. Scopes nest, and calling a `Module` opens one. Leaves made
    with `Value(...)` do not belong to a scope; plain numbers in the computation do. A generator
    that yields inside a scope leaves it open meanwhile, also for its caller's nodes: Python has no
    context for each generator. So compute first, and yield outside. TypeError if name is not a str.

    >>> from autodiff import Value, draw
    >>> x = Value(3.0, label="x")
    >>> with scope("square"):
    ...     y = x * x
    >>> 'label=<square>' in draw(y + 1).source
    True
    """
    if not isinstance(name, str):
        raise TypeError(refusal("scope", typed(name), "a str"))
    return _within(name)


@contextmanager
def _within(name: str) -> Iterator[None]:
    scope = Scope(name)
    with restoring(scope.end):
        _innermost.set(scope)
        yield
