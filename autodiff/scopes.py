"""Scopes: names for the parts of a computation, such as the layers of a network.

A node made inside a scope records it, and `draw` frames the nodes of a scope. `value.py` makes its
nodes with `object.__new__`, which a scope replaces while it is open, so scopes cost nothing where
none is used. (Once two threads have used scopes it stays replaced, as each may have one open.)
"""

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from threading import get_ident
from typing import Any

from . import value
from .errors import message, typed
from .linalg import Matrix, Vector
from .value import Value

_innermost: ContextVar["Scope | None"] = ContextVar("innermost", default=None)  # of this thread
_new = object.__new__
_threads: set[int] = set()  # those that have used scopes
_open: set["Scope"] = set()  # all open scopes, including those of other asyncio tasks


class Scope:
    """A part of a computation: its name, the module that does it, and the scope around it.

    It holds no node, and so keeps none alive.
    """

    __slots__ = ("module", "name", "outer")

    def __init__(self, name: str, module: Any = None) -> None:
        self.name = name
        self.module = module
        self.outer: Scope | None = self  # until it is entered

    def __enter__(self) -> None:
        if self.outer is not self:
            found = f"{self.name!r} entered twice"
            expected = "a scope for each part of a computation"
            remedy = f"write `with scope({self.name!r}):` again"
            raise RuntimeError(message("scope", found, expected, remedy))
        self.outer = _innermost.get()
        try:
            _threads.add(get_ident())
            _open.add(self)
            value._new = _noting
            _innermost.set(self)  # last, so that after an interrupt it is not entered
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *exception: object) -> None:
        _innermost.set(self.outer)
        _open.discard(self)
        if not _open and len(_threads) == 1:  # no other thread has a scope open
            value._new = _new


def _noting(kind: type[Value], scope: Callable[[], Any] = _innermost.get) -> Value:
    """A new node that records the scope it is made in."""
    node = _new(kind)
    node._scope = scope()
    return node


def scope(name: str) -> Scope:
    """A context manager: the nodes made inside it belong together, under this name.

    `draw` puts a frame around them, or with collapse=True shows one box in their place. Scopes
    nest, and calling a `Module` opens one. Leaves made with `Value(...)` do not belong to a
    scope; plain numbers in the computation do. TypeError if name is not a str.

    >>> from autodiff import Value, draw
    >>> x = Value(3.0, label="x")
    >>> with scope("square"):
    ...     y = x * x
    >>> 'label=<square>' in draw(y + 1).source
    True
    """
    if not isinstance(name, str):
        raise TypeError(message("scope", typed(name), "a str"))
    return Scope(name)


def entry_names(name: str, held: Any) -> Iterator[tuple[Value, str]]:
    """Each Value that a variable holds, and its name: w, w[0] in a Vector, w[0,1] in a Matrix."""
    if isinstance(held, Value):
        yield held, name
    elif isinstance(held, Matrix):
        for i, row in enumerate(held):
            yield from ((entry, f"{name}[{i},{j}]") for j, entry in enumerate(row))
    elif isinstance(held, (Vector, list, tuple)):
        for i, entry in enumerate(held):
            yield from entry_names(f"{name}[{i}]", entry)
