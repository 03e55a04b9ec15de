"""What a picture shows, and where: boxes for nodes, frames for scopes."""

from collections.abc import Callable
from itertools import takewhile
from typing import Any, NamedTuple

from ..scopes import Scope, entry_names
from ..value import Value

Path = tuple[Scope, ...]  # from the outermost scope to the innermost
Box = Value | Scope  # a node, or a scope that is drawn as one box


class Arrangement(NamedTuple):
    """What a picture shows, and where."""

    nodes: list[Value]  # in topological order
    boxes: dict[Box, list[Value]]  # each with the nodes in it
    frames: dict[Scope | None, dict[Box, None]]  # the boxes in each frame; None: outside all frames
    box_of: dict[Value, Box]  # of each node, except parameters inside a collapsed scope
    parameters: dict[Value, str]  # with the name that each has in the module that holds it
    inputs: set[Value]  # the other leaves that were made outside the scope they are used in


def arrange(nodes: list[Value], collapse: bool | int) -> Arrangement:
    """The boxes and frames for the nodes of a graph, given in topological order.

    With collapse=True each innermost scope is one box; with a number, each scope at that depth.
    A parameter goes into the innermost scope that contains all its uses and whose module holds it.
    """
    paths = {node: path_of(node) for node in nodes}
    collapsed = _collapsed(set(paths.values()), collapse)
    names: dict[int, dict[Value, str]] = {}  # of the parameters in each module, by its id
    uses: dict[Value, list[Path]] = {}  # where leaves from outside all scopes are used
    found = Arrangement(nodes, {}, {None: {}}, {}, {}, set())
    for node in nodes:
        for leaf in node.parents:
            if not leaf.parents and not paths[leaf]:
                path = holding(leaf, paths[node], names)
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


def path_of(node: Value) -> Path:
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


def holding(leaf: Value, path: Path, names: dict[int, dict[Value, str]]) -> Path:
    """The path up to the innermost scope whose module holds the leaf; () if none does."""
    for length in range(len(path), 0, -1):
        module = path[length - 1].module
        if module is not None and id(module) not in names:
            named = reversed(module.named_parameters())  # the first of two names counts
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


TAKING_VECTORS = ("dot", "sum", "prod", "logsumexp", "hypot")


def uses_of(plan: Arrangement) -> dict[Value, list[Value]]:
    """The operations that use each leaf that has a box."""
    root = plan.nodes[-1]
    uses: dict[Value, list[Value]] = {} if root.parents else {root: []}
    for node in plan.nodes:
        for parent in node.parents:
            if not parent.parents and plan.box_of.get(parent) is parent:
                uses.setdefault(parent, []).append(node)
    return uses


def vectors(
    plan: Arrangement, uses: dict[Value, list[Value]], label: Callable[[Value], str]
) -> list[list[Value]]:
    """The leaves to draw as one vector: arguments of the same operations, side by side.

    Labelled leaves need the same name before the brackets.
    """
    place = {box: scope for scope, inside in plan.frames.items() for box in inside}

    def kind(leaf: Value) -> Any:
        role = leaf in plan.parameters, leaf.requires_grad or leaf in plan.inputs, place[leaf]
        name, bracket, _ = label(leaf).rpartition("[")
        # by identity: == compares the numbers in two Values
        used = tuple(map(id, uses[leaf]))
        return used, role, name if bracket else label(leaf) and str(id(leaf))

    found: list[list[Value]] = []
    done: set[Value] = set()
    for node in plan.nodes:
        run: list[Value] = []
        for parent in dict.fromkeys(node.parents) if node.op in TAKING_VECTORS else ():
            if run and (parent not in uses or kind(parent) != kind(run[-1])):
                run = []
            if parent in uses and parent not in done:
                if not run:
                    found.append(run)
                run.append(parent)
                done.add(parent)
    return [run for run in found if len(run) > 1]
