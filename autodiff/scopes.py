"""Scopes: names for the parts of a computation, such as the layers of a network.

A node made inside a scope records it, and `draw` frames the nodes of a scope. `value.py` makes its
nodes with `object.__new__`, which is replaced while any thread has a scope open, so that scopes
cost nothing where none is used.
"""

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from threading import RLock

from . import value
from .errors import message, typed
from .linalg import Matrix, Vector
from .value import Value

Stack = tuple["Scope | None", "Stack | None"]
# Of this thread or task: the innermost scope, and the same of the scopes around it.
_entered: ContextVar[Stack] = ContextVar("entered", default=(None, None))
_open = 0  # how many scopes are open, in all threads
_counting = RLock()  # the garbage collector, too, may end a scope


class Scope:
    """A part of a computation: its name, the module that does it, and the scope it was made in.

    It holds no node, and so keeps none alive.
    """

    __slots__ = ("module", "name", "outer")

    def __init__(self, name: str, module: object = None) -> None:
        self.name, self.module, self.outer = name, module, _entered.get()[0]

    def __enter__(self) -> None:
        _entered.set((self, _entered.get()))
        _count(1)

    def __exit__(self, *exception: object) -> None:
        around = _entered.get()[1]
        if around:  # it is None if a generator ends in another thread than it began in
            _entered.set(around)
        _count(-1)


def _count(change: int) -> None:
    global _open
    with _counting:
        _open += change
        value._new = _new_in_scope if _open else object.__new__


def _new_in_scope(kind: type[Value], entered: Callable[[], Stack] = _entered.get) -> Value:
    """A new node, which records the innermost scope of this thread, if there is one."""
    node = object.__new__(kind)
    if scope := entered()[0]:
        node._scope = scope
    return node


def scope(name: str) -> Scope:
    """A context manager: the nodes made inside it belong together, under this name.

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
        raise TypeError(message("scope", typed(name), "a str"))
    return Scope(name)


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
