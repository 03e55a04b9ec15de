"""Scopes: names for the parts of a computation, such as the layers of a network.

Inside a scope, each new node of a graph notes it, and `draw` frames the nodes of a scope. Outside
there is nothing to note: `value.py` makes its nodes with `object.__new__`, which an open scope
replaces and then puts back. So a scope costs nothing where none is used.
"""

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from itertools import takewhile
from typing import Any, NamedTuple

from . import value
from .linalg import Matrix, Vector
from .value import Value

_innermost: ContextVar["Scope | None"] = ContextVar("innermost", default=None)  # of this thread
_new = object.__new__


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
            raise RuntimeError(
                f"scope: found {self.name!r} entered for a second time, expected a scope for each "
                f"part of a computation; write `with scope({self.name!r}):` anew"
            )
        self.outer = _innermost.get()
        _innermost.set(self)
        value._new = _noting

    def __exit__(self, *exception: object) -> None:
        _innermost.set(self.outer)
        if self.outer is None:  # while another thread has one open, some of its nodes note nothing
            value._new = _new


def _noting(kind: type[Value], scope: Callable[[], Any] = _innermost.get) -> Value:
    """A new node that notes the scope it is made in."""
    node = _new(kind)
    node._scope = scope()
    return node


def scope(name: str) -> Scope:
    """A context: the nodes that are made inside belong together, under a name.

    `draw` puts a frame around them, or with collapse=True shows one box in their place. Scopes
    nest, and a call of a `Module` opens one by itself. A leaf made with `Value(...)` stays
    outside; a number in the computation is inside. TypeError if name is no str.

    >>> from autodiff import Value, draw
    >>> x = Value(3.0, label="x")
    >>> with scope("square"):
    ...     y = x * x
    >>> 'label=square' in draw(y + 1).source
    True
    """
    if not isinstance(name, str):
        raise TypeError(f"scope: found {name!r} of type {type(name).__name__}, expected a str")
    return Scope(name)


# -- The boxes and frames of a picture ----------------------------------------------------------

Path = tuple[Scope, ...]  # from the outermost scope to the innermost
Box = Value | Scope  # a node, or a scope that is drawn as one box


class Arrangement(NamedTuple):
    """What a picture shows, and where."""

    boxes: dict[Box, list[Value]]  # each with the nodes in it
    frames: dict[Scope | None, dict[Box, None]]  # what stands in each frame; None: outside of all
    box_of: dict[Value, Box]  # of each node, except parameters inside a collapsed scope
    parameters: dict[Value, str]  # with the name that each has in the module that holds it
    inputs: set[Value]  # the other leaves that were made outside the scope they are used in


def arrange(nodes: list[Value], collapse: bool | int) -> Arrangement:
    """The boxes and frames for the nodes of a graph, given in topological order.

    With collapse=True the innermost scopes are one box each, with a number those at that depth.
    A parameter stands in the innermost scope whose module holds it and that has all its uses.
    """
    paths = {node: _path(node) for node in nodes}
    collapsed = _collapsed(set(paths.values()), collapse)
    names: dict[int, dict[Value, str]] = {}  # of the parameters in each module, by its id
    uses: dict[Value, list[Path]] = {}  # of a leaf made outside all scopes, where it is used in one
    found = Arrangement({}, {None: {}}, {}, {}, set())
    for node in nodes:
        for leaf in node.parents:
            if not leaf.parents and not paths[leaf]:
                path = _holding(leaf, paths[node], names)
                uses.setdefault(leaf, []).append(path)
                if path:
                    found.parameters.setdefault(leaf, names[id(path[-1].module)][leaf])
                elif paths[node]:
                    found.inputs.add(leaf)
    for node in nodes:
        places = uses.get(node, [paths[node]])
        boxes = {path: next((s for s in path if s in collapsed), None) for path in places}
        if node in uses and all(boxes.values()):
            for path, box in boxes.items():
                _put(node, box, path, found)
        else:
            path = _common(places)
            found.box_of[node] = boxes.get(path) or node
            _put(node, found.box_of[node], path, found)
    return found


def _path(node: Value) -> Path:
    """The scopes that a node was made in."""
    path: Path = ()
    scope: Scope | None = getattr(node, "_scope", None)
    while scope is not None:
        path, scope = (scope, *path), scope.outer
    return path


def _collapsed(paths: set[Path], collapse: bool | int) -> set[Scope]:
    if collapse is True:
        return {path[-1] for path in paths if path} - {s for path in paths for s in path[:-1]}
    return {path[collapse - 1] for path in paths if 0 < collapse <= len(path)}


def _holding(leaf: Value, path: Path, names: dict[int, dict[Value, str]]) -> Path:
    """The path up to the innermost scope whose module holds the leaf; () if none does."""
    for length in range(len(path), 0, -1):
        module = path[length - 1].module
        if module is not None and id(module) not in names:
            named = reversed(module.named_parameters())  # of two names the first one counts
            names[id(module)] = {x: name for pair in named for x, name in entry_names(*pair)}
        if module is not None and leaf in names[id(module)]:
            return path[:length]
    return ()


def _common(paths: list[Path]) -> Path:
    """The scopes that all paths begin with."""
    alike = takewhile(lambda scopes: len(set(scopes)) == 1, zip(*paths))
    return tuple(scopes[0] for scopes in alike)


def _put(node: Value, box: Any, path: Path, found: Arrangement) -> None:
    """Put a node into its box, and the box into the frames on the path to it."""
    if box not in found.boxes:
        outer = None
        for scope in takewhile(lambda scope: scope is not box, path):
            found.frames.setdefault(outer, {})[scope] = None
            outer = scope
        found.frames.setdefault(outer, {})[box] = None
    found.boxes.setdefault(box, []).append(node)


def entry_names(name: str, held: Any) -> Iterator[tuple[Value, str]]:
    """Each Value in what a variable holds, by name: w, w[0] of a Vector, w[0,1] of a Matrix."""
    if isinstance(held, Value):
        yield held, name
    elif isinstance(held, Matrix):
        for i, row in enumerate(held):
            yield from ((entry, f"{name}[{i},{j}]") for j, entry in enumerate(row))
    elif isinstance(held, (Vector, list, tuple)):
        for i, entry in enumerate(held):
            yield from entry_names(f"{name}[{i}]", entry)
