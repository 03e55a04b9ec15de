"""Programs and training runs as notebooks show them: colours, a small curve, a formula."""

import base64
import html
import keyword
import math
import re
from collections.abc import Sequence
from typing import Any

from ..graph import topological_order
from ..value import Value
from .arrangement import arrange
from .description import description
from .styles import Facts

CURVE = 240, 80  # pixels
FORWARD, BACKWARD = "#1d6fb8", "#b5541c"
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
            side = BACKWARD
        elif line.startswith("    ") and side == "transparent":
            side = FORWARD
        style = f"border-left: 4px solid {side}; padding-left: 6px; white-space: pre"
        words = TOKEN.sub(_coloured, html.escape(line, quote=False))
        lines.append(f'<div style="{style}">{words or "&#160;"}</div>')
    key = (
        f'<div style="font-size: smaller"><span style="color: {FORWARD}">▌</span>forward '
        f'<span style="color: {BACKWARD}">▌</span>backward</div>'
    )
    return f'<div style="font-family: monospace; overflow-x: auto">{"".join(lines)}</div>{key}'


def _coloured(token: re.Match[str]) -> str:
    return f'<span style="color: {SYNTAX[str(token.lastgroup)]}">{token[0]}</span>'


def history(losses: Sequence[float], text: str) -> str:
    """A training run: what `text` says of it, and the losses as a small curve."""
    if len(losses) < 2 or not all(map(math.isfinite, losses)):
        return f"<code>{html.escape(text)}</code>"
    from .grids import png

    picture = base64.b64encode(png(_curve(losses), 1)).decode()
    return (
        f'<code>{html.escape(text)}</code><br><img alt="the loss of each epoch" '
        f'src="data:image/png;base64,{picture}">'
    )


def _curve(losses: Sequence[float]) -> Any:
    """The losses as pixels, on a logarithmic scale if they are positive."""
    import numpy as np

    width, height = CURVE
    y = np.array(losses, float)
    y = np.log(y) if (y > 0).all() else y
    y = np.interp(np.linspace(0, len(y) - 1, width), np.arange(len(y)), y)
    y = (height - 5) * (1 - (y - y.min()) / (np.ptp(y) or 1.0)) + 2
    pixels = np.full((height, width, 3), 255)
    for x in range(width):
        low, high = sorted((y[x], y[max(x - 1, 0)]))
        pixels[int(low) : int(high) + 2, x] = (29, 111, 184)
    return pixels.astype(np.uint8)


def formula(roots: Sequence[Value]) -> str:
    """The outputs as formulas of their inputs, if short enough to read."""
    return "<br>".join(map(_formula, roots))


def _formula(root: Value) -> str:
    nodes = topological_order(root)
    if len(nodes) > 300:
        return f"<code>an output of {len(nodes)} nodes</code>"
    said = description(Facts(root, arrange(nodes, False), {}, {}, {}, None, None, "light"))
    return f"<code>{html.escape(said)}</code>"
