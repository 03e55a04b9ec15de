"""Vectors and Matrices as a notebook shows them."""

import html
from collections.abc import Sequence

from ..value import Value
from .texts import as_float, number

ROWS, COLUMNS = 20, 12  # of a table; with more, the first ones and the last


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
