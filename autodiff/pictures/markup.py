"""Each box of a picture as a table, in Graphviz's HTML."""

from collections.abc import Sequence
from typing import Any

from ..errors import counted
from ..scopes import Scope
from ..value import Value
from .arrangement import Box
from .styles import BORDERS, DARKEST, SCALE, Facts, Look, largest_gradient, meaning
from .texts import ROOM, markup, number, printable, short, sign

BARE = 'border="0" cellborder="0" cellspacing="0" cellpadding="0"'
LONGEST_SUM = 4  # terms
LONGEST_LIVE_SUM = 3  # where each term needs room for other numbers


def card(box: Box, facts: Facts) -> str:
    """A leaf, a named result or a collapsed scope, line by line."""
    look = Look(box, facts, facts.plan.boxes[box])
    said = lines(box, facts)
    # Graphviz underestimates how long a long line is; in a live picture there is room already
    room = 2 if facts.live else 3 + max(map(len, said)) // 6
    text = _text("<br/>".join(map(markup, said)), look)
    style = f' style="{look.style}"' if look.spacing and look.style else ""
    return _table([f'<tr><td cellpadding="{room}"{style}>{text}</td></tr>'], look)


def leaves(entries: Sequence[Value], facts: Facts) -> str:
    """A leaf, or the entries of a vector."""
    return vector(entries, facts) if len(entries) > 1 else card(entries[0], facts)


def operation(node: Value, facts: Facts, slots: int) -> str:
    """An operation, with its result if that has no name, and the parameters that it alone uses.

    Edges enter at the slots, in order, or all at one place.
    """
    named = bool(facts.label(node))
    look = Look(node, facts, facts.plan.boxes[node])
    if named:
        look.fill, look.border = facts.colours["operation"], 1
        look.text = look.line = facts.colours["text"]
    look.style, look.spacing = "rounded", 0
    text = f'<b><font point-size="{facts.size + 3:g}">{markup(sign(node.op))}</font></b>'
    text = _text("<br/>".join([text] if named else [text, *map(markup, lines(node, facts))]), look)
    body = _table(_entered(text, slots, facts), look, 'port="op"')
    if node not in facts.attached:
        return f"<{body}>"
    held = [leaves(entries, facts) for entries in facts.attached[node]]
    return joined([*held, body], facts.sideways)


def joined(boxes: Sequence[str], sideways: bool) -> str:
    """Boxes as one, next to each other in the direction in which no edge enters or leaves."""
    cells = [f"<td>{box}</td>" for box in boxes]
    rows = cells if sideways else ["".join(cells)]
    return f"<<table {BARE}>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>>"


def _entered(text: str, slots: int, facts: Facts) -> list[str]:
    """The rows of an operation, with a narrow cell for each slot on the side that edges enter."""
    if not slots:
        return [f'<tr><td cellpadding="3">{text}</td></tr>']
    size = max(24 / slots, 6)
    if facts.sideways:
        cells = [f'<td port="a{i}" width="2" height="{size:.0f}"></td>' for i in range(slots)]
        body = f'<td rowspan="{slots}" cellpadding="3">{text}</td>'
        empty = f'<td rowspan="{slots}" width="2"></td>'  # keeps the text in the middle
        ends = (cells[0], empty) if facts.rankdir == "LR" else (empty, cells[0])
        first = ends[0] + body + ends[1]
        return [f"<tr>{row}</tr>" for row in [first, *cells[1:]]]
    cells = [f'<td port="a{i}" height="2" width="{size:.0f}"></td>' for i in range(slots)]
    rows = ["".join(cells), f'<td colspan="{slots}" cellpadding="3">{text}</td>']
    return [f"<tr>{row}</tr>" for row in (rows if facts.rankdir == "TB" else rows[::-1])]


def vector(leaves: Sequence[Value], facts: Facts) -> str:
    """The entries of a vector: a row with a port for each, or a column if edges run down."""
    looks = [Look(leaf, facts, [leaf]) for leaf in leaves]
    entries = [[number(leaf.data, facts.digits)] for leaf in leaves]
    titles = ["data"]
    if any(leaf in facts.gradients for leaf in leaves):
        titles.append("grad")
        for leaf, entry in zip(leaves, entries):
            entry.append(number(facts.gradients.get(leaf, 0.0), facts.digits))
    last = len(titles) - 1 if facts.rankdir in ("LR", "TB") else 0  # the cell that edges leave
    columns = [[_cell(f"<i>{title}</i>", looks[0]) for title in titles]]
    for i, (entry, look) in enumerate(zip(entries, looks)):
        ports = {last: f' port="r{i}"'}
        columns.append([_cell(markup(x), look, ports.get(j, "")) for j, x in enumerate(entry)])
    rows = columns if facts.down(leaves) else list(zip(*columns))
    name = printable(_span(facts.label(leaves[0]), facts.label(leaves[-1])))
    body = [f"<tr>{''.join(row)}</tr>" for row in rows]
    if name:
        span = f' colspan="{len(rows[0])}"'
        body.insert(0, f"<tr>{_cell(markup(name), looks[0], span)}</tr>")
    looks[0].border = int(looks[0].spacing > 0)
    looks[0].spacing = min(looks[0].spacing, 1)
    return _table(body, looks[0], 'cellpadding="1"', cells=1)


def _cell(text: str, look: Look, more: str = "") -> str:
    return f'<td bgcolor="{look.fill}"{more}>{_text(text, look)}</td>'


def legend(facts: Facts, columns: int) -> str:
    """What the colours in the picture mean, side by side."""
    found = {meaning(box, facts) for box in facts.plan.boxes}
    if facts.color is None and any(node.parents for node in facts.plan.nodes):
        found.add("operation")
    text = facts.colours["text"]
    entries = []
    for sense, colour in (SCALE if facts.color else facts.colours).items():
        if sense in found:
            look = Look(facts.root, facts, [])
            border = (1, "", 0) if facts.color else BORDERS.get(sense, (1, "", 0))
            look.border, look.style, look.spacing = border
            look.fill, look.line, look.text = colour, text, "#000000" if facts.color else text
            if sense in DARKEST:
                look.text = "#ffffff"
            inner = f' style="{look.style}"' if look.spacing and look.style else ""
            cell = f'<tr><td cellpadding="2"{inner}>{_text(sense, look)}</td></tr>'
            entries.append(f"<td>{_table([cell], look)}</td>")
    if facts.color:
        entries.insert(0, f'<td cellpadding="3"><font color="{text}">|grad|</font></td>')
    rows = [entries[i : i + columns] for i in range(0, len(entries), columns)]
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f'<<table border="0" cellspacing="4" cellpadding="0">{body}</table>>'


def lines(box: Box, facts: Facts) -> list[str]:
    """The lines of a box: label, data and grad; name, shape and count of a collapsed scope."""
    if isinstance(box, Scope):
        return _summary(box, facts)
    label = facts.label(box)
    found = [printable(label)] if label else []
    if facts.live and box.requires_grad:
        terms = facts.terms.get(box, [])
        return [*found, f"data {ROOM}", f"grad {ROOM}", *([_room(len(terms))] if terms[1:] else [])]
    found.append(f"data {number(box.data, facts.digits)}")
    if box in facts.gradients:
        grad = number(facts.gradients[box], facts.digits)
        found.append(f"grad {grad}{_spelled(facts.terms.get(box, []))}")
    return found


def _room(terms: int) -> str:
    """A text as long as a sum of that many terms."""
    return "= " + " + ".join([ROOM] * min(terms, LONGEST_LIVE_SUM))


def _spelled(terms: list[Any]) -> str:
    """A gradient as the sum of what was sent to a node: " = 2 + 4"; nothing for one term."""
    if len(terms) < 2:
        return ""
    shown = " + ".join(map(short, terms[:LONGEST_SUM])).replace("+ −", "− ")
    more = len(terms) - LONGEST_SUM
    return f" = {shown}" + (f" + … ({more} more)" if more > 0 else "")


def _summary(scope: Scope, facts: Facts) -> list[str]:
    """The lines of a collapsed scope: its name and shape, its parameters, its gradients."""
    plan, members = facts.plan, set(facts.plan.boxes[scope])
    entering = {p for node in members for p in node.parents if p not in members}
    leaving = members & {facts.root}
    for node, box in plan.box_of.items():
        if box is not scope:
            leaving |= members.intersection(node.parents)
    found = [title(scope), f"{len(entering)} → {len(leaving)}"]
    count = len(scope.module.parameters()) if scope.module else len(members & {*plan.parameters})
    if count:
        found.append(counted(count, "parameter"))
    size = largest_gradient(scope, facts)
    if size is not None:
        found.append(f"|grad| ≤ {number(size, facts.digits)}")
    return found


def title(scope: Scope) -> str:
    """The name of a scope, with the attribute that holds its module: hidden: Linear."""
    if scope.module is not None and scope.outer is not None and scope.outer.module is not None:
        for attribute, held in scope.outer.module._children():
            if held is scope.module:
                return printable(f"{attribute}: {scope.name}")
    return printable(scope.name)


def _span(first: str, last: str) -> str:
    """One name for all entries of a vector: w[0…3] for w[0] to w[3]."""
    if not first:
        return ""
    return f"{first.removesuffix(']')}…{last.rpartition('[')[2].rpartition(',')[2]}"


def _text(text: str, look: Look) -> str:
    return f'<font color="{look.text}">{text}</font>'


def _table(rows: list[str], look: Look, more: str = "", cells: int = 0) -> str:
    style = f' style="{look.style}"' if look.style else ""
    cells = max(cells, int(look.spacing > 0))
    return (
        f'<table border="{look.border}" cellborder="{cells}" cellspacing="{look.spacing}" '
        f'{more} color="{look.line}" bgcolor="{look.fill}"{style}>{"".join(rows)}</table>'
    )
