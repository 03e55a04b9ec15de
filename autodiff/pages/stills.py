"""What stands where scripts are off: images, because an untrusted notebook shows no SVG."""

import base64
import html
import math
from collections.abc import Iterable, Mapping

from ..engine.admission import Floats


def fits(xs: Floats, ys: Floats, curves: Mapping[str, Floats], sticks: bool) -> list[str]:
    """The points with each curve, on the scale of the first; sticks join both.

    curves: their values at every x, each by a description.
    """
    import numpy as np

    def scaled(x: Floats, shown: Floats, low: float, high: float) -> Floats:
        start, end = (f(shown[np.isfinite(shown)]) for f in (np.min, np.max))
        return np.round(low + (high - low) * (x - start) / (end - start or 1.0), 1)

    first = np.append(ys, next(iter(curves.values())))
    across, points = scaled(xs, xs, 10, 290), scaled(ys, first, 190, 10)
    body = "".join(f'<circle r="4" cx="{x}" cy="{y}"/>' for x, y in zip(across, points))
    images = []
    for words, curve in curves.items():
        ends = np.broadcast_to(scaled(curve, first, 190, 10), xs.shape)
        line = " ".join(f"{x},{y}" for x, y in zip(across, ends))
        errors = [f"M{x},{y}V{end}" for x, y, end in zip(across, points, ends) if sticks]
        images.append(_image(words, (
            f'<path d="{"".join(errors)}" stroke="#c2305f" stroke-width="3"/>{body}'
            f'<polyline points="{line}" fill="none" stroke="#3f7fbd" stroke-width="3"/>'
        )))  # fmt: skip
    return images


def sliders(slopes: Iterable[tuple[str, float]]) -> str:
    """A slider for each parameter, with an arrow downhill as long as its derivative."""
    named = list(slopes)
    unit = 85 / max(1e-12, *(abs(slope) for _, slope in named))
    body = ""
    for row, (name, slope) in enumerate(named):
        y, tip, back = 35 + 45 * row, 150 - unit * slope, math.copysign(10, slope)
        body += (
            f'<text x="10" y="{y + 5}">{html.escape(name.partition(" ")[0][:5])}</text>'
            f'<text x="295" y="{y + 5}" text-anchor="end">{slope:.3g}</text>'
            f'<path d="M50,{y}H235" stroke="#aaa" stroke-width="3"/>'
            f'<path d="M150,{y}H{tip:.1f}" stroke="#dd7429" stroke-width="5"/>'
            f'<circle r="9" cx="150" cy="{y}"/>'
            f'<path d="M{tip:.1f},{y}l{back},-8v16z" fill="#dd7429"/>'
        )
    return _image("each parameter, with an arrow as long as its derivative", body)


def _image(words: str, body: str) -> str:
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 200" fill="#7a828c" '
        f'font-family="sans-serif" font-size="15">{body}</svg>'
    )
    data = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{words}" width="300" src="data:image/svg+xml;base64,{data}">'
