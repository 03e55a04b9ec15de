"""What stands where scripts are off: images, because an untrusted notebook shows no SVG."""

import base64
import html
import math
from collections.abc import Iterable, Mapping, Sequence


def fits(
    points: Sequence[tuple[float, float]], curves: Mapping[str, Sequence[float]], sticks: bool
) -> list[str]:
    """The points with each curve, on the scale of the first; sticks join what they say and are.

    curves: by what each is, what it says at every point.
    """
    xs, ys = zip(*points)
    heights = [y for y in (*ys, *next(iter(curves.values()), ())) if math.isfinite(y)]

    def place(x: float, y: float) -> tuple[float, float]:
        (left, right), (low, high) = ((min(v), max(v)) for v in (xs, heights))
        across, up = (x - left) / (right - left or 1.0), (y - low) / (high - low or 1.0)
        return round(10 + 280 * across, 1), round(190 - 180 * up, 1)

    body = "".join('<circle r="4" cx="{}" cy="{}"/>'.format(*place(*each)) for each in points)
    images = []
    for words, said in (curves or {"the data": ys}).items():
        ends = [place(*each) for each in zip(xs, said)] if curves else []
        line = " ".join(f"{x},{y}" for x, y in ends)
        errors = [f"M{x},{place(x, y)[1]}V{end}" for y, (x, end) in zip(ys, ends) if sticks]
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
