"""Vectors and Matrices as a notebook shows them."""

import html
from collections.abc import Sequence

from ..value import Value
from .texts import as_float, few, number

ROWS, COLUMNS = 20, 12  # of a table; with more, the first ones and the last


def table(rows: Sequence[Sequence[Value]], shape: tuple[int, ...]) -> str:
    """Values as an HTML table, aligned, with the gradient of each as a tooltip."""
    columns = few(range(max(map(len, rows), default=0)), COLUMNS)
    lines = []
    for row in few(rows, ROWS):
        cells = [_entry(None if row is None or j is None else row[j]) for j in columns]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    caption = " × ".join(map(str, shape))
    return f"<table><caption>{caption}</caption><tbody>{''.join(lines)}</tbody></table>"


def _entry(x: Value | None) -> str:
    if x is None:
        return '<td style="text-align: center">…</td>'
    grad = as_float(x.grad)
    title = f' title="grad {number(grad)}"' if grad else ""
    return f'<td style="text-align: right"{title}>{html.escape(number(x.data))}</td>'
