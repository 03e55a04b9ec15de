"""Training runs as notebooks show them, a small curve, and graphs as formulas."""

import html
import math
from collections.abc import Sequence

from ..graph import topological_order
from ..value import Value
from .description import description
from .look import VALUE_LINE

CURVE = 240, 80  # pixels


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
