"""How wide a picture will be, and the direction and digits with which it fits on a page."""

from collections import Counter
from dataclasses import replace

from ..value import Value
from .arrangement import Box
from .edges import edges_into
from .markup import lines
from .styles import Facts

WIDTH = 660  # points; 880 pixels
TEXTS = ((6, 10.5), (4, 10.5), (4, 9), (3, 9))  # digits, and the size of the font in points


def fitted(facts: Facts, rankdir: str | None) -> Facts:
    """The facts with the direction, if none is given, and the most digits that fit."""
    ways = [rankdir] if rankdir else ["LR", "TB"]
    choices = [
        replace(facts, rankdir=way, digits=digits, size=size)
        for way in ways
        for digits, size in TEXTS
    ]
    fitting = (each for each in choices if estimated_width(each) <= WIDTH)
    return next(fitting, None) or min(choices, key=estimated_width)


def estimated_width(facts: Facts) -> float:
    """About how wide a picture will be, in points: ranks side by side, or the widest one."""
    widths: dict[int, list[float]] = {}
    ranks = _ranks(facts)
    attached = {e[0] for group in facts.attached.values() for e in group}
    for entries in facts.leaves:
        if entries[0] not in attached:
            widths.setdefault(ranks[entries[0]], []).append(_width_of(entries, facts))
    for box, rank in ranks.items():
        if isinstance(box, Value) and not box.parents:
            continue
        held = [_width_of(entries, facts) for entries in facts.attached.get(box, [])]
        named = _named_result(box, facts)
        beside = max if facts.sideways else sum
        own = [2 * facts.size if named else _width(box, facts), *held]
        widths.setdefault(rank - named, []).append(beside(own))
        if named:
            widths.setdefault(rank, []).append(_width(box, facts))
        says = [0.54 * 9 * len(edge.says) for edge in edges_into(box, facts).values() if edge.says]
        if says:
            widths.setdefault(rank - 1 - named, []).extend(says)
    gap = 72 * ranksep(facts) if facts.sideways else 9.0
    frames = 12 * len([scope for scope in facts.plan.frames if scope])
    if facts.sideways:
        return sum(max(each) + gap for each in widths.values()) + frames
    return max(sum(each) + gap * len(each) for each in widths.values()) + frames


def ranksep(facts: Facts) -> float:
    """The distance between ranks, in inches: more if many edges end in one rank."""
    edges = Counter[int]()
    ranks = _ranks(facts)
    for box in facts.plan.boxes:
        edges[ranks[box]] += len(edges_into(box, facts))
    least = 0.12 if facts.live else 0.18  # the texts on live edges have ranks of their own
    return least + 0.012 * min(max(edges.values()), 25)


def _width(box: Box, facts: Facts) -> float:
    return 0.54 * facts.size * max(len(line) for line in lines(box, facts)) + 8


def _width_of(entries: list[Value], facts: Facts) -> float:
    if len(entries) == 1:
        return _width(entries[0], facts)
    columns = 1 + any(leaf in facts.gradients for leaf in entries)
    if not facts.down(entries):
        columns = 1 + len(entries)
    return columns * (0.54 * facts.size * (facts.digits + 2) + 6) + 6


def _named_result(box: Box, facts: Facts) -> bool:
    return isinstance(box, Value) and bool(box.parents) and bool(facts.label(box))


def _ranks(facts: Facts) -> dict[Box, int]:
    """About where Graphviz will put each box: after its arguments, a leaf just before its use."""
    position = {node: i for i, node in enumerate(facts.plan.nodes)}
    order = sorted(
        facts.plan.boxes, key=lambda box: max(position[node] for node in facts.plan.boxes[box])
    )
    ranks: dict[Box, int] = {}
    first_use: dict[Box, int] = {}
    for box in order:
        found = edges_into(box, facts).values()
        step = 1 + any(edge.says for edge in found) + _named_result(box, facts)
        ranks[box] = max((ranks.get(edge.origin, 0) + step for edge in found), default=0)
        for edge in found:
            use = ranks[box] - step
            first_use[edge.origin] = min(use, first_use.get(edge.origin, use))
    leaves = {
        box: first_use.get(box, 0) for box in ranks if isinstance(box, Value) and not box.parents
    }
    return ranks | leaves


def crossed_ranks(facts: Facts) -> int:
    """About how many ranks the edges cross in all: the time that a layout takes grows with it."""
    ranks = _ranks(facts)
    return sum(
        abs(ranks[box] - ranks.get(edge.origin, 0))
        for box in facts.plan.boxes
        for edge in edges_into(box, facts).values()
    )


def effort(facts: Facts) -> dict[str, str]:
    """Graphviz's settings for a layout in less than two seconds, found by measuring.

    The best layout takes a fraction of a second up to 1,000 crossed ranks, minutes at 10,000; with
    straight edges and fewer attempts, hardly any graph takes more than a second.
    """
    crossed = crossed_ranks(facts)
    if crossed <= 1_000:
        return {}
    rounds = "0.1" if crossed <= 10_000 else "0.02"
    return {"splines": "line", "nslimit": rounds, "nslimit1": rounds, "mclimit": rounds}
