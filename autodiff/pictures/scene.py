"""What a picture shows: boxes, the frames around them, and the edges between them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, NamedTuple

from .. import ops
from ..graph import topological_order
from ..scopes import Scope, entry_names
from ..value import Value
from .texts import printable

Path = tuple[Scope, ...]  # from the outermost scope to the innermost

SLOTS = 8  # an operation with more arguments has one place for all edges
NAMES = 3  # of an array that are written out


@dataclass(eq=False)
class Box:
    """A node, the entries of a vector, a scope that is drawn as one box, or an array."""

    nodes: list[Value]
    role: str  # "input", "parameter", "constant", "operation", "output" or "collapsed scope"
    path: Path = ()  # the scopes whose frames are around it
    name: str = ""
    op: str = ""  # the operation that it shows; "" for a leaf, and for several operations
    scope: Scope | None = None  # which it stands for
    shape: tuple[int, ...] = ()  # of an array
    held: list["Box"] = field(default_factory=list)  # parameters that are drawn at it

    def arguments(self) -> Iterable[tuple[Value, int, Value]]:
        """Its operations, and each argument of theirs that is not written into the box."""
        for node in self.nodes:
            for i, parent in enumerate(node.parents):
                if self.shape or self.scope or parent is not exponent(node):
                    yield node, i, parent


class Edge(NamedTuple):
    """From a box to one that uses it."""

    tail: Box
    head: Box
    uses: list[tuple[Value, int]]  # the operations in head, and which arguments of theirs

    @property
    def slot(self) -> int | None:
        """The argument of the operation, if their order matters."""
        node, i = self.uses[0]
        return i if self.head.op and not self.head.shape and slots(node) > 1 else None


class Scene(NamedTuple):
    """What a picture shows."""

    nodes: list[Value]  # in topological order
    boxes: list[Box]  # leaves before what is computed from them
    edges: list[Edge]
    leaves: "Leaves"
    names: Mapping[Value, str]  # of Values without a label

    def label(self, node: Value) -> str:
        """The label of a node, or the name that it has elsewhere."""
        return node.label or self.leaves.parameters.get(node) or self.names.get(node, "")

    @property
    def drawn(self) -> list[Box]:
        """The boxes that stand alone: without parameters that are drawn at others."""
        held = {box for each in self.boxes for box in each.held}
        return [box for box in self.boxes if box not in held]


def slots(node: Value) -> int:
    """How many places for edges an operation has: one for each argument if their order matters."""
    count = len(node.parents)
    alike = _takes_a_row(node) and len(set(node.parents)) == count
    return 1 if alike or count > SLOTS or exponent(node) is not None else count


def _takes_a_row(node: Value) -> bool:
    """Whether the order of its arguments is that of one row, or does not matter."""
    return bool(node._operation.rows) or node._operation is ops.hypot


def exponent(node: Value) -> Value | None:
    """The exponent of a power if it is a plain number, which is written into the box: b³."""
    if node.op == "**" and len(node.parents) == 2:
        power = node.parents[1]
        if not (power.parents or power.label or power.requires_grad):
            return power
    return None


# -- Where leaves belong ------------------------------------------------------------------------


class Leaves:
    """Where the leaves of a graph are used, and what they are there."""

    def __init__(self, nodes: list[Value]) -> None:
        self.places: dict[Value, list[Path]] = {}  # the scopes around each use
        self.parameters: dict[Value, str] = {}  # with their names in the module that holds them
        self.inputs: set[Value] = set()  # made outside the scope that uses them
        names: dict[int, dict[Value, str]] = {}  # of the parameters in each module, by its id
        for node in nodes:
            path = path_of(node)
            for leaf in node.parents:
                if leaf.parents:
                    continue
                held = path_of(leaf)
                if not held and (held := _holding(leaf, path, names)):
                    self.parameters.setdefault(leaf, names[id(held[-1].module)][leaf])
                elif path and not held:
                    self.inputs.add(leaf)
                self.places.setdefault(leaf, []).append(held)

    def role(self, leaf: Value) -> str:
        if leaf in self.parameters:
            return "parameter"
        return "input" if leaf.requires_grad or leaf in self.inputs else "constant"

    def path(self, leaf: Value) -> Path:
        """The scopes that all uses of a leaf have in common."""
        alike = takewhile(lambda scopes: len({*scopes}) == 1, zip(*self.places.get(leaf, [()])))
        return tuple(scopes[0] for scopes in alike)


def path_of(node: Value) -> Path:
    """The scopes that a node was made in."""
    path: Path = ()
    scope: Scope | None = getattr(node, "_scope", None)
    while scope is not None:
        path, scope = (scope, *path), scope.outer
    return path


def _holding(leaf: Value, path: Path, names: dict[int, dict[Value, str]]) -> Path:
    """The path up to the innermost scope whose module holds the leaf; () if none does."""
    for length in range(len(path), 0, -1):
        module = path[length - 1].module
        if module is not None and id(module) not in names:
            named = reversed(module.named_parameters())  # the first of two names counts
            names[id(module)] = {x: name for pair in named for x, name in entry_names(*pair)}
        if module is not None and leaf in names[id(module)]:
            return path[:length]
    return ()


def title(scope: Scope) -> str:
    """The name of a scope, with the attribute that holds its module: hidden: Linear."""
    if scope.module is not None and scope.outer is not None and scope.outer.module is not None:
        for attribute, held in scope.outer.module._children():
            if held is scope.module:
                return printable(f"{attribute}: {scope.name}")
    return printable(scope.name)


# -- Boxes and edges ----------------------------------------------------------------------------


def scene(
    root: Value,
    names: Mapping[Value, str],
    collapse: bool = False,
    arrays: Iterable[Box] = (),
    same: Mapping[Value, Value] | None = None,
) -> Scene:
    """The boxes and edges for the graph of root.

    collapse: each innermost scope is one box.
    arrays: boxes for several operations each.
    same: the node in these boxes that stands for a node, if not itself.
    """
    nodes = topological_order(root)
    made = Scene(nodes, [], [], Leaves(nodes), names)
    box_of: dict[Value, Box] = {}
    for box in _collapsed(made) if collapse else arrays:
        box_of |= dict.fromkeys(box.nodes, box)
        if len(box.nodes) == 1:
            box.name = box.name or made.label(box.nodes[0])
    box_of |= {node: box_of[other] for node, other in (same or {}).items()}
    for node in nodes:
        if node not in box_of and (node.parents or node is root):
            role = "operation" if node.parents else made.leaves.role(node)
            box_of[node] = Box([node], role, path_of(node), made.label(node), node.op)
    boxes = list(dict.fromkeys(box_of.values()))
    for box in _leaf_boxes(made, boxes, box_of):
        box_of |= dict.fromkeys(box.nodes, box)
        boxes.append(box)
    place = {node: i for i, node in enumerate(nodes)}
    made.boxes.extend(sorted(boxes, key=lambda box: place[box.nodes[-1]]))
    made.edges.extend(_edges(made.boxes, box_of))
    if root.parents and not (last := box_of[root]).scope:
        last.role = "output"
    if collapse or arrays:
        _join_loss(made)
    return made


def _collapsed(made: Scene) -> list[Box]:
    """A box for each innermost scope: its operations, and the leaves that it alone uses."""
    outer = {scope for node in made.nodes for scope in path_of(node)[:-1]}
    boxes: dict[Scope, Box] = {}
    for node in made.nodes:
        paths = [path_of(node)] if node.parents else made.leaves.places.get(node, [()])
        if all(path and path[-1] not in outer for path in paths):
            for *around, scope in dict.fromkeys(paths):  # a layer's weights are in all its calls
                new = Box([], "collapsed scope", tuple(around), scope=scope)
                boxes.setdefault(scope, new).nodes.append(node)
    for scope, box in boxes.items():
        box.name = title(scope)
    return list(boxes.values())


def _leaf_boxes(made: Scene, boxes: list[Box], box_of: Mapping[Value, Box]) -> list[Box]:
    """Boxes of leaves: those that are the same argument of the same boxes share one.

    In a vector they have the same name before the brackets.
    """
    arrays = any(box.shape for box in boxes)
    uses: dict[Value, list[Any]] = {}
    for box in boxes:
        for node, i, leaf in box.arguments():
            if not leaf.parents and leaf not in box_of:
                use = box, _argument(box, node, i)
                if use not in uses.setdefault(leaf, []) or not (box.scope or box.shape):
                    uses[leaf].append(use)
    alike: dict[Any, Box] = {}
    for leaf, used in uses.items():
        role, path, label = made.leaves.role(leaf), made.leaves.path(leaf), made.label(leaf)
        name = "" if arrays else label.rpartition("[")[0] or (label and id(leaf))
        alike.setdefault((tuple(used), role, path, name), Box([], role, path)).nodes.append(leaf)
    for box in alike.values():
        box.name = _joint_name([made.label(x) for x in box.nodes], arrays)
        box.shape = (len(box.nodes),) if arrays else ()
    return list(alike.values())


def _argument(box: Box, node: Value, i: int) -> Any:
    """Which argument of a box the i-th one of its node belongs to, together with others."""
    if box.scope:
        return 0
    if node._operation is ops.dot:  # takes two vectors
        return 2 * i // len(node.parents)
    if _takes_a_row(node):
        return 0
    return i if box.shape else node.parents[i]


def _joint_name(labels: list[str], array: bool) -> str:
    """One name for several numbers: w[0…3] in a table of them, w or "w, b" for an array."""
    first, last = labels[0], labels[-1]
    if len(labels) == 1 or (not array and not first):
        return first
    if not array:
        return f"{first.removesuffix(']')}…{last.rpartition('[')[2].rpartition(',')[2]}"
    bases = list(dict.fromkeys(x.rpartition("[")[0] or x for x in labels if x))
    return ", ".join(bases[:NAMES]) + ", …" * (len(bases) > NAMES)


def _edges(boxes: list[Box], box_of: Mapping[Value, Box]) -> list[Edge]:
    """An edge for each argument; one for all that several nodes are used for, or use."""
    edges: dict[Any, Edge] = {}
    for head in boxes:
        for node, i, parent in head.arguments():
            tail = box_of[parent]
            if tail is head or (tail.scope and not parent.parents):
                continue  # a leaf that is inside other boxes too
            single = len(tail.nodes) == 1 and not (head.scope or head.shape)
            key = tail, head, i if single else None
            edges.setdefault(key, Edge(tail, head, [])).uses.append((node, i))
    return list(edges.values())


def hold(made: Scene) -> None:
    """Draw a parameter that one box alone uses, once, at that box, without an edge."""
    count = Counter(edge.tail for edge in made.edges)
    for edge in made.edges:
        if edge.tail.role == "parameter" and count[edge.tail] == 1 and not edge.head.scope:
            edge.head.held.append(edge.tail)
    made.edges[:] = [edge for edge in made.edges if edge.tail not in edge.head.held]


def _join_loss(made: Scene) -> None:
    """Make one box of what is computed from a network's output: the loss.

    Constants without a name that only it uses are in it.
    """
    heads: dict[Box, set[Box]] = defaultdict(set)
    for edge in made.edges:
        heads[edge.tail].add(edge.head)
    later: set[Box] = set()  # from which no box of a network is reached
    for box in reversed(made.boxes):
        computed = box.op or (box.role == "constant" and not box.name)
        if computed and not _networks(box) and heads[box] <= later:
            later.add(box)
    if not any(map(_networks, made.boxes)) or sum(bool(box.op) for box in later) < 2:
        return
    last = made.boxes[-1]
    last.name, last.op = last.name or "loss", ""
    made.boxes[:] = [box for box in made.boxes if box is last or box not in later]
    rest = [edge for edge in made.edges if edge.head not in later]
    into: dict[Box, Edge] = {}
    for edge in made.edges:
        if edge.head in later and edge.tail not in later:
            into.setdefault(edge.tail, Edge(edge.tail, last, [])).uses.extend(edge.uses)
    made.edges[:] = [*rest, *into.values()]


def _networks(box: Box) -> bool:
    """Whether a box is computed inside the call of a Module."""
    scopes = [*box.path, *([box.scope] if box.scope else [])]
    return bool(box.op or box.scope) and any(scope.module for scope in scopes)
