"""Scopes: names for the parts of a computation, such as the layers of a network.

A node made inside a scope records it, and `draw` frames the nodes of a scope. `value.py` makes its
nodes with `object.__new__`, which is replaced while any thread has a scope open, so that scopes
cost nothing where none is used.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import Context, ContextVar, copy_context
from typing import Any, TypeVar
from weakref import ref

from . import value
from .errors import refusal, typed
from .linalg import Matrix, Vector
from .value import Value

T = TypeVar("T")


class Entry:
    """That a scope was entered, for as long as a context keeps it."""

    __slots__ = ("__weakref__", "ended")

    def __init__(self) -> None:
        self.ended = False


Stack = tuple["Scope | None", "Stack | None", Entry]
# Of this thread or task: the innermost scope, and the same of the scopes around it.
_entered: ContextVar[Stack] = ContextVar("entered", default=(None, None, Entry()))
_open: set[ref[Entry]] = set()  # of all threads: an entry that nothing keeps any more leaves it


class Scope:
    """A part of a computation: its name, the module that does it, and the scope it was made in.

    It holds no node, and so keeps none alive.
    """

    __slots__ = ("module", "name", "outer")

    def __init__(self, name: str, module: object = None) -> None:
        self.name, self.module, self.outer = name, module, _entered.get()[0]

    def run(self, function: Callable[..., T], *args: Any) -> T:
        """function(*args) inside this scope: in a copy of the context, which is then dropped."""
        return self._context().run(function, *args)

    def _context(self) -> Context:
        context = copy_context()
        context.run(_enter, self, Entry())
        return context


def _enter(scope: Scope, entry: Entry) -> None:
    _open.add(ref(entry, _open.discard))
    value.nodes_made_by(_new_in_scope)
    _entered.set((scope, _entered.get(), entry))


def _end(entry: Entry) -> None:
    """End a scope, maybe in another context than it began in, or after others that are open."""
    entry.ended = True
    _open.discard(ref(entry))
    stack: Any = _entered.get()
    while stack[2].ended:
        stack = stack[1]
    _entered.set(stack)


def _new_in_scope(kind: type[Value], entered: Callable[[], Stack] = _entered.get) -> Value:
    """A new node, which records the innermost scope of this thread, if there is one."""
    node = object.__new__(kind)
    if scope := entered()[0]:
        node._scope = scope
    elif not _open:  # what nodes_made_by does, but without a call, in which a thread may enter one
        value._new = object.__new__
    return node


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
    entry = Entry()
    try:
        try:
            _enter(Scope(name), entry)
            yield
        finally:
            _end(entry)
    finally:  # again, if Ctrl-C came meanwhile
        _end(entry)


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
