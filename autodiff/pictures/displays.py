"""Programs and training runs as notebooks show them: colours, a small curve, a formula."""

import html
import keyword
import math
import re
from collections.abc import Sequence

from ..graph import topological_order
from ..value import Value
from .description import description
from .look import GRADIENT_LINE, VALUE_LINE

CURVE = 240, 80  # pixels
SYNTAX = {"comment": "#6e7781", "keyword": "#8250df", "number": "#0a6e3d"}
TOKEN = re.compile(
    rf"(?P<comment>#.*)|\b(?P<keyword>{'|'.join(keyword.kwlist)})\b"
    r"|\b(?P<number>\d[\w.]*(?:(?<=e)[+-]\d+)?)"
)


def program(source: str) -> str:
    """A program with its syntax in colours and a border that tells forward from backward."""
    lines, side = [], "transparent"
    for line in source.splitlines():
        if line.lstrip().startswith("# from the output back"):
            side = GRADIENT_LINE
        elif line.startswith("    ") and side == "transparent":
            side = VALUE_LINE
        style = f"border-left: 4px solid {side}; padding-left: 6px; white-space: pre"
        words = TOKEN.sub(_coloured, html.escape(line, quote=False))
        lines.append(f'<div style="{style}">{words or "&#160;"}</div>')
    key = (
        f'<div style="font-size: smaller"><span style="color: {VALUE_LINE}">▌</span>forward '
        f'<span style="color: {GRADIENT_LINE}">▌</span>backward</div>'
    )
    return f'<div style="font-family: monospace; overflow-x: auto">{"".join(lines)}</div>{key}'


def _coloured(token: re.Match[str]) -> str:
    return f'<span style="color: {SYNTAX[str(token.lastgroup)]}">{token[0]}</span>'


def history(losses: Sequence[float], text: str) -> str:
    """A training run: what `text` says of it, and the losses as a small curve."""
    said = f"<code>{html.escape(text)}</code>"
    if len(losses) < 2 or not all(map(math.isfinite, losses)):
        return said
    width, height = CURVE
    heights = list(map(math.log, losses)) if min(losses) > 0 else losses
    low, span = min(heights), max(heights) - min(heights) or 1.0
    step = max(1, len(losses) // width)
    points = " ".join(
        f"{width * i / (len(losses) - 1):.1f},{(height - 4) * (1 - (y - low) / span) + 2:.1f}"
        for i, y in list(enumerate(heights))[::step]
    )
    return (
        f'{said}<br><svg role="img" aria-label="the loss of each epoch" width="{width}" '
        f'height="{height}"><polyline points="{points}" fill="none" stroke="{VALUE_LINE}"/></svg>'
    )


def formula(roots: Sequence[Value]) -> str:
    """The outputs as formulas of their inputs, if short enough to read."""
    return "<br>".join(map(_formula, roots))


def _formula(root: Value) -> str:
    nodes = topological_order(root)
    if len(nodes) > 300:
        return f"<code>an output of {len(nodes)} nodes</code>"
    labels = {node: node.label for node in nodes}
    return f"<code>{html.escape(description(nodes, labels, {}, digits=6))}</code>"
