"""What a picture shows: boxes, the frames around them, and the edges between them."""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import takewhile
from typing import Any, NamedTuple

from ..engine import ops
from ..engine.graph import topological_order
from ..engine.scopes import Scope
from ..engine.value import Value
from .texts import entry_names, few, printable

Path = tuple[Scope, ...]  # from the outermost scope to the innermost

SLOTS = 8  # an operation with more arguments has one place for all edges
NAMES = 3  # of an array that are written out
SHARED = 20  # boxes that use a leaf; if more do, it is drawn at each of them
NUMBERS = 30  # edges with a number; with more, none has one


@dataclass(eq=False)
class Box:
    """A node, the entries of a vector, or an array."""

    nodes: list[Value]
    role: str  # "input", "parameter", "constant", "operation" or "output"
    path: Path = ()  # the scopes whose frames are around it
    name: str = ""
    op: str = ""  # the operation that it shows; "" for a leaf, and for several operations
    shape: tuple[int, ...] = ()  # of an array
    takes: Sequence[tuple[int, ...]] = ()  # the shapes of its arguments
    attached: list["Box"] = field(default_factory=list)  # parameters that are drawn at it

    def arguments(self) -> Iterable[tuple[Value, int, Value]]:
        """Its operations, and each argument of theirs that is not written into the box."""
        for node in self.nodes:
            power = None if self.shape else exponent(node)
            for i, parent in enumerate(node.parents):
                if parent is not power:
                    yield node, i, parent


Use = tuple[Box, str, Hashable]  # of a leaf: by a box, for an operation, as an argument of it


class Edge(NamedTuple):
    """From a box to one that uses it."""

    tail: Box
    head: Box
    uses: list[tuple[Value, int]]  # the operations in head, and which arguments of theirs

    @property
    def slot(self) -> int | None:
        """The argument of the operation, if their order matters."""
        return self.uses[0][1] if slots(self.head) > 1 else None

    @property
    def tracked(self) -> bool:
        """Whether there is a derivative to show on it."""
        return any(x.requires_grad for x in self.tail.nodes)


class Scene(NamedTuple):
    """What a picture shows."""

    nodes: list[Value]  # in topological order
    boxes: list[Box]  # leaves before what is computed from them
    edges: list[Edge]
    leaves: "Leaves"
    same: Mapping[Value, Value]  # the node in these boxes that stands for a node, if not itself
    numbered: bool  # whether numbers stand on the edges


def slots(box: Box) -> int:
    """How many places for edges a box has: one for each argument if their order matters."""
    node = box.nodes[-1]
    count = len(node.parents)
    if not box.op or box.shape or count > SLOTS or (box.attached and box.op in ("+", "*")):
        return 1
    alike = _takes_a_row(node) and len(set(node.parents)) == count
    return 1 if alike or exponent(node) is not None else count


def _takes_a_row(node: Value) -> bool:
    """Whether the order of its arguments is that of one row, or does not matter."""
    operation = node._operation
    return bool(operation and (operation.rows or operation is ops.hypot))


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

    def __init__(self, nodes: list[Value], names: Mapping[Value, str]) -> None:
        self.names = names  # of Values without a label
        self.paths: dict[Value, Path] = {}  # the scopes that all uses have in common
        self.parameters: dict[Value, str] = {}  # with their names in the module that holds them
        self.inputs: set[Value] = set()  # made outside the scope that uses them
        names_in = cache(_names_in)
        for node in nodes:
            path = path_of(node)
            for leaf in node.parents:
                if leaf.parents:
                    continue
                if not (home := path_of(leaf)):
                    inner = next((x for x in reversed(path) if leaf in names_in(x.module)), None)
                    if inner:
                        home = path[: path.index(inner) + 1]
                        self.parameters.setdefault(leaf, names_in(inner.module)[leaf])
                    elif path:
                        self.inputs.add(leaf)
                if (known := self.paths.setdefault(leaf, home)) != home:
                    alike = takewhile(lambda both: both[0] is both[1], zip(known, home))
                    self.paths[leaf] = tuple(scope for scope, _ in alike)

    def role(self, leaf: Value) -> str:
        if leaf in self.parameters:
            return "parameter"
        return "input" if leaf.requires_grad or leaf in self.inputs else "constant"

    def label(self, node: Value) -> str:
        """The label of a node, or the name that it has elsewhere."""
        return node.label or self.parameters.get(node) or self.names.get(node, "")


def path_of(node: Value) -> Path:
    """The scopes that a node was made in."""
    path: Path = ()
    scope: Scope | None = getattr(node, "_scope", None)
    while scope is not None:
        path, scope = (scope, *path), scope.outer
    return path


def _names_in(module: Any) -> dict[Value, str]:
    """The names of the parameters that a module holds: the first, if one has two."""
    named = () if module is None else reversed(module.named_parameters())
    return {x: name for pair in named for x, name in entry_names(*pair)}


def title(scope: Scope) -> str:
    """The name of a scope, with the attribute that holds its module: hidden: Linear."""
    outer: Any = scope.outer and scope.outer.module
    parts = () if outer is None else outer._children()
    names = [name for name, module in parts if module is scope.module]
    return printable(": ".join([*names[:1], scope.name]))


# -- Boxes and edges ----------------------------------------------------------------------------


def scene(
    root: Value,
    names: Mapping[Value, str],
    numbers: bool = False,
    arrays: Sequence[Box] = (),
    same: Mapping[Value, Value] | None = None,
) -> Scene:
    """The boxes and edges for the graph of root.

    numbers: whether they are to stand on the edges.
    arrays: boxes for several operations each.
    same: the node in these boxes that stands for a node, if not itself.
    """
    nodes, same = topological_order(root), same or {}
    leaves = Leaves(nodes, names)
    box_of: dict[Value, Box] = {}
    for box in _with_loss(arrays, same, leaves):
        box_of |= dict.fromkeys(box.nodes, box)
        if len(box.nodes) == 1:
            box.name = leaves.label(box.nodes[0])
    box_of |= {node: box_of[other] for node, other in same.items()}
    for node in nodes:
        if node not in box_of and (node.parents or node is root):
            role = "operation" if node.parents else leaves.role(node)
            box_of[node] = Box([node], role, path_of(node), leaves.label(node), node.op)
    boxes = list(dict.fromkeys(box_of.values()))
    for box in _leaf_boxes(leaves, boxes, box_of):
        box_of |= dict.fromkeys(box.nodes, box)
        boxes.append(box)
    place = {node: i for i, node in enumerate(nodes)}
    boxes.sort(key=lambda box: place[box.nodes[-1]])
    edges = _edges(boxes, box_of)
    if root.parents:
        box_of[root].role = "output"
    numbers = numbers and sum(edge.tracked for edge in edges) <= NUMBERS
    return Scene(nodes, boxes, edges if numbers else _attach(edges), leaves, same, numbers)


def _leaf_boxes(leaves: Leaves, boxes: list[Box], box_of: Mapping[Value, Box]) -> Iterable[Box]:
    """Boxes of leaves: those that are the same argument of the same boxes share one.

    In a vector they have the same name before the brackets.
    """
    arrays = any(box.shape for box in boxes)
    uses: dict[Value, tuple[Use, ...]] = {}  # of each leaf
    for box in boxes:
        for node, i, leaf in box.arguments():
            if not leaf.parents and leaf not in box_of:
                use, found = (box, node.op, _argument(box, node, i)), uses.get(leaf, ())
                uses[leaf] = found if arrays and use in found else (*found, use)
    alike: dict[tuple[tuple[Use, ...], str, Path, Hashable], list[Value]] = defaultdict(list)
    for leaf, found in uses.items():
        role, path, label = leaves.role(leaf), leaves.paths[leaf], leaves.label(leaf)
        name = "" if arrays else label.rpartition("[")[0] or (label and id(leaf))
        alike[found, role, path, name].append(leaf)
    for (found, role, path, _), nodes in alike.items():
        box = Box(nodes, role, path, _joint_name([*map(leaves.label, nodes)], arrays))
        if arrays:
            takes = [shape for user, *_ in found for shape in user.takes]
            box.shape = next((x for x in takes if math.prod(x) == len(nodes)), (len(nodes),))
        yield box


def _argument(box: Box, node: Value, i: int) -> Hashable:
    """The argument of a box to which the i-th parent of a node belongs; a row is one."""
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
    return ", ".join(x or "…" for x in few(bases, NAMES))


def _edges(boxes: list[Box], box_of: Mapping[Value, Box]) -> list[Edge]:
    """An edge for each argument; one for all that several nodes are used for, or use."""
    edges: dict[tuple[Box, Box, int | None], Edge] = {}
    for head in boxes:
        for node, i, parent in head.arguments():
            if (tail := box_of[parent]) is not head:
                key = tail, head, i if len(tail.nodes) == 1 and not head.shape else None
                if key not in edges:
                    edges[key] = Edge(tail, head, [(node, i)])
                elif not head.shape:  # of an array one is enough, and there may be 100,000
                    edges[key].uses.append((node, i))
    return list(edges.values())


def _attach(edges: list[Edge]) -> list[Edge]:
    """Attach each parameter that is used once to its box; the edges that are left.

    So too a leaf that very many boxes use, to all of them.
    """
    count = Counter(edge.tail for edge in edges if not edge.tail.op)
    attached = {x for x, n in count.items() if n > SHARED or (x.role == "parameter" and n == 1)}
    for edge in edges:
        if edge.tail in attached:
            edge.head.attached.append(edge.tail)
    return [edge for edge in edges if edge.tail not in attached]


def _with_loss(arrays: Sequence[Box], same: Mapping[Value, Value], leaves: Leaves) -> Sequence[Box]:
    """One box for what is computed from a network's output: the loss.

    Constants without a name that only it uses are in it.
    """
    before: set[Value] = set()  # what networks are computed from
    later: list[Box] = []
    for box in reversed(arrays):
        if any(scope.module for scope in box.path) or not before.isdisjoint(box.nodes):
            before.update(same.get(x, x) for node in box.nodes for x in node.parents)
        else:
            later.insert(0, box)
    if not before or len(later) < 2:
        return arrays
    nodes, last = [node for box in later for node in box.nodes], later[-1]
    bare = [
        x
        for node in nodes
        for x in node.parents
        if leaves.role(x) == "constant" and not (x.parents or x in before or leaves.label(x))
    ]
    last.nodes, last.takes = bare + nodes, [shape for box in later for shape in box.takes]
    last.name, last.op = leaves.label(nodes[-1]) or "loss", ""
    return [box for box in arrays if box is last or box not in later]
