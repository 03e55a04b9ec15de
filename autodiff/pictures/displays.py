"""Numbers, programs and training runs as notebooks show them: tables, colours, a small curve."""

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
from .texts import as_float, number

ROWS, COLUMNS = 20, 12  # of a table; with more, the first ones and the last
CURVE = 240, 80  # pixels
FORWARD, BACKWARD = "#1d6fb8", "#b5541c"
SYNTAX = {"comment": "#6e7781", "keyword": "#8250df", "number": "#0a6e3d"}
TOKEN = re.compile(
    rf"(?P<comment>#.*)|\b(?P<keyword>{'|'.join(keyword.kwlist)})\b"
    r"|\b(?P<number>\d[\w.]*(?:(?<=e)[+-]\d+)?)"
)


def table(rows: Sequence[Sequence[Value]], shape: tuple[int, ...]) -> str:
    """Values as an HTML table, aligned, with the gradient of each as a tooltip."""
    width = max(map(len, rows), default=0)
    lines = [
        "<tr>" + "".join(_entry(row, j) for j in _few(width, COLUMNS)) + "</tr>"
        for row in [rows[i] if i is not None else None for i in _few(len(rows), ROWS)]
    ]
    caption = " × ".join(map(str, shape))
    return f"<table><caption>{caption}</caption><tbody>{''.join(lines)}</tbody></table>"


def _entry(row: Sequence[Value] | None, j: int | None) -> str:
    if row is None or j is None:
        return '<td style="text-align: center">…</td>'
    grad = as_float(row[j].grad)
    title = f' title="grad {number(grad)}"' if grad else ""
    return f'<td style="text-align: right"{title}>{html.escape(number(row[j].data))}</td>'


def _few(count: int, most: int) -> list[int | None]:
    """The indices to show; None stands for those left out."""
    if count <= most:
        return list(range(count))
    return [*range(most - 2), None, count - 1]


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
