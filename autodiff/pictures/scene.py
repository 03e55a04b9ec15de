"""What a picture shows: boxes, the frames around them, and the edges between them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, NamedTuple

from ..graph import topological_order
from ..scopes import Scope, entry_names
from ..value import Value
from .texts import printable

Path = tuple[Scope, ...]  # from the outermost scope to the innermost

TAKING_VECTORS = ("dot", "sum", "prod", "logsumexp", "hypot")
SLOTS = 8  # an operation with more arguments has one place for all edges


@dataclass(eq=False)
class Box:
    """A node, the entries of a vector, a scope that is drawn as one box, or an array."""

    nodes: list[Value]
    role: str  # "input", "parameter", "constant", "operation", "output" or "collapsed scope"
    path: Path = ()  # the scopes whose frames are around it
    name: str = ""
    shape: tuple[int, ...] = ()
    scope: Scope | None = None  # which it stands for
    op: str = ""  # the operation that it shows; "" for a leaf, and for several operations
    held: list["Edge"] = field(default_factory=list)  # from parameters that are drawn at it


class Edge(NamedTuple):
    """From a box to one that uses it."""

    tail: Box
    head: Box
    uses: list[tuple[Value, int]]  # the operations in head, and which arguments of theirs
    says: str = ""

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
        held = {edge.tail for box in self.boxes for edge in box.held}
        return [box for box in self.boxes if box not in held]


def ranks_crossed(scene: Scene) -> int:
    """About how many ranks the edges cross in all: the time that a layout takes grows with it."""
    rank: dict[Box, int] = {}
    into: dict[Box, list[Box]] = {}
    for edge in scene.edges:
        into.setdefault(edge.head, []).append(edge.tail)
    for box in scene.boxes:
        rank[box] = max((rank.get(tail, 0) + 1 for tail in into.get(box, [])), default=0)
    first: dict[Box, int] = {}  # the rank of a leaf: just before its first use
    for edge in scene.edges:
        first[edge.tail] = min(rank[edge.head] - 1, first.get(edge.tail, rank[edge.head]))
    rank |= {box: first[box] for box in first if box not in into}
    return sum(rank[edge.head] - rank[edge.tail] for edge in scene.edges)


def slots(node: Value) -> int:
    """How many places for edges an operation has: one for each argument if their order matters."""
    count = len(node.parents)
    alike = node.op in TAKING_VECTORS and len(set(node.parents)) == count
    return 1 if alike or count > SLOTS else count


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
                if own := path_of(leaf):
                    self.places[leaf] = [own]
                    continue
                held = _holding(leaf, path, names)
                self.places.setdefault(leaf, []).append(held)
                if held:
                    self.parameters.setdefault(leaf, names[id(held[-1].module)][leaf])
                elif path:
                    self.inputs.add(leaf)

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
    root: Value, names: Mapping[Value, str], collapse: bool = False, all_edges: bool = False
) -> Scene:
    """The boxes and edges for the graph of root; with collapse, each innermost scope is one box.

    A parameter goes into the innermost scope that contains all its uses and whose module holds it;
    unless there are `all_edges`, one that a single box uses is drawn at that box.
    """
    nodes = topological_order(root)
    leaves = Leaves(nodes)
    made = Scene(nodes, [], [], leaves, names)
    box_of = _boxes(made, _innermost(nodes) if collapse else set())
    _join_vectors(made, nodes, box_of)
    made.edges.extend(_edges(made.boxes, box_of))
    if collapse:
        join_loss(made)
    if not all_edges:
        hold(made)
    return made


def _boxes(made: Scene, collapsed: set[Scope]) -> dict[Value, Box]:
    """Make a box for each node and each collapsed scope; the box of each node."""
    inside: dict[Scope, Box] = {}
    box_of: dict[Value, Box] = {}
    written = _exponents(made.nodes)
    for node in made.nodes:
        places = [path_of(node)] if node.parents else made.leaves.places.get(node, [()])
        around = [path for path in places if path and path[-1] in collapsed]
        if len(around) == len(places):  # so it is in each of these boxes
            for scope, path in {path[-1]: path for path in around}.items():
                if scope not in inside:
                    name = title(scope)
                    inside[scope] = Box([], "collapsed scope", path[:-1], name, scope=scope)
                    made.boxes.append(inside[scope])
                inside[scope].nodes.append(node)
                box_of[node] = inside[scope]
        elif node not in written:
            path, role = places[0], "operation"
            if not node.parents:
                path, role = made.leaves.path(node), made.leaves.role(node)
            box_of[node] = Box([node], role, path, made.label(node), op=node.op)
            made.boxes.append(box_of[node])
    place = {node: i for i, node in enumerate(made.nodes)}
    made.boxes.sort(key=lambda box: place[box.nodes[-1]])
    if made.nodes[-1].parents and not (last := box_of[made.nodes[-1]]).scope:
        last.role = "output"
    return box_of


def _exponents(nodes: list[Value]) -> set[Value]:
    """The leaves that are only exponents, which are written into the boxes of their powers."""
    powers = {x for node in nodes if (x := exponent(node)) is not None}
    others = {p for node in nodes for p in node.parents if p is not exponent(node)}
    return powers - others


def _innermost(nodes: list[Value]) -> set[Scope]:
    paths = {path_of(node) for node in nodes}
    return {path[-1] for path in paths if path} - {s for path in paths for s in path[:-1]}


def _join_vectors(made: Scene, nodes: list[Value], box_of: dict[Value, Box]) -> None:
    """Make one box of leaves that are arguments of the same operations, side by side.

    Labelled leaves need the same name before the brackets.
    """
    uses: dict[Value, list[Value]] = {}
    for node in nodes:
        for parent in node.parents:
            uses.setdefault(parent, []).append(node)

    def kind(leaf: Value) -> Any:
        box = box_of[leaf]
        name, bracket, _ = box.name.rpartition("[")
        used = tuple(map(id, uses[leaf]))  # by identity: == compares the numbers in two Values
        return used, box.role, box.path, name if bracket else box.name and id(leaf)

    def joins(leaf: Value) -> bool:
        box = box_of.get(leaf)
        alone = box is not None and box.nodes == [leaf] and not leaf.parents
        return alone and all(x.op in TAKING_VECTORS or box_of[x].scope for x in uses[leaf])

    absorbed: set[Box] = set()
    for node in nodes:
        run: list[Value] = []
        for leaf in dict.fromkeys(node.parents) if node.op in TAKING_VECTORS else ():
            if not joins(leaf):
                run = []
            elif run and kind(leaf) == kind(run[-1]):
                absorbed.add(box_of[leaf])
                box_of[leaf] = box_of[run[0]]
                run.append(leaf)
            else:
                run = [leaf]
                box_of[leaf].nodes = run
    made.boxes[:] = [box for box in made.boxes if box not in absorbed]
    for box in made.boxes:
        if len(box.nodes) > 1 and not box.scope:
            box.name = _span(box.name, made.label(box.nodes[-1]))


def _span(first: str, last: str) -> str:
    """One name for all entries of a vector: w[0…3] for w[0] to w[3]."""
    if not first:
        return ""
    return f"{first.removesuffix(']')}…{last.rpartition('[')[2].rpartition(',')[2]}"


def _edges(boxes: list[Box], box_of: dict[Value, Box]) -> list[Edge]:
    """An edge for each argument; one for all that a vector or a collapsed scope is used for."""
    edges: dict[Any, Edge] = {}
    for head in boxes:
        for node in head.nodes:
            for i, parent in enumerate(node.parents):
                tail = box_of.get(parent)
                if tail is None or tail is head or (tail.scope and not parent.parents):
                    continue  # an exponent, or a leaf that is inside other boxes too
                single = len(tail.nodes) == 1 and not head.scope
                key = tail, head, (node, i) if single else node if not head.scope else None
                edges.setdefault(key, Edge(tail, head, [])).uses.append((node, i))
    return list(edges.values())


def hold(made: Scene) -> None:
    """Draw a parameter that one box alone uses, once, at that box, without an edge."""
    count: dict[Box, int] = {}
    for edge in made.edges:
        count[edge.tail] = count.get(edge.tail, 0) + 1
    for edge in made.edges:
        if edge.tail.role == "parameter" and count[edge.tail] == 1 and not edge.head.scope:
            edge.head.held.append(edge)
    held = {edge.tail for box in made.boxes for edge in box.held}
    made.edges[:] = [edge for edge in made.edges if edge.tail not in held]


def join_loss(made: Scene) -> None:
    """Make one box of what is computed from a network's output: the loss.

    Constants without a name that only it uses are in it.
    """
    heads: dict[Box, list[Box]] = {}
    for edge in made.edges:
        heads.setdefault(edge.tail, []).append(edge.head)
    later: set[Box] = set()  # from which no box of a network is reached
    for box in reversed(made.boxes):
        computed = box.op or (box.role == "constant" and not box.name)
        if computed and not _networks(box) and later.issuperset(heads.get(box, [])):
            later.add(box)
    if not any(map(_networks, made.boxes)) or sum(bool(box.op) for box in later) < 2:
        return
    last = made.boxes[-1]
    last.name, last.nodes, last.op = last.name or "loss", last.nodes[-1:], ""
    made.boxes[:] = [box for box in made.boxes if box is last or box not in later]
    edges: dict[Box, Edge] = {}
    for edge in made.edges:
        if edge.head in later and edge.tail not in later:
            known = edges.setdefault(edge.tail, Edge(edge.tail, last, []))
            known.uses.extend(edge.uses)
    rest = [edge for edge in made.edges if edge.head not in later]
    made.edges[:] = [*rest, *edges.values()]


def _networks(box: Box) -> bool:
    """Whether a box is computed inside the call of a Module."""
    scopes = [*box.path, *([box.scope] if box.scope else [])]
    return bool(box.op or box.scope) and any(scope.module for scope in scopes)
