"""What stands where scripts are off: an image, because an untrusted notebook shows no SVG."""

import base64

from ..engine.admission import Floats


def fit(xs: Floats, ys: Floats, curve: Floats, sticks: bool) -> str:
    """The points, and the values of a curve at every x; sticks join both."""
    import numpy as np

    def scaled(x: Floats, shown: Floats, low: float, high: float) -> Floats:
        start, end = (f(shown[np.isfinite(shown)]) for f in (np.min, np.max))
        return np.round(low + (high - low) * (x - start) / (end - start or 1.0), 1)

    heights = np.append(ys, curve)
    across, points = scaled(xs, xs, 10, 290), scaled(ys, heights, 190, 10)
    ends = np.broadcast_to(scaled(curve, heights, 190, 10), xs.shape)
    line = " ".join(f"{x},{y}" for x, y in zip(across, ends))
    errors = [f"M{x},{y}V{end}" for x, y, end in zip(across, points, ends) if sticks]
    body = "".join(f'<circle r="4" cx="{x}" cy="{y}"/>' for x, y in zip(across, points))
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 200" fill="#7a828c">'
        f'<path d="{"".join(errors)}" stroke="#c2305f" stroke-width="3"/>{body}'
        f'<polyline points="{line}" fill="none" stroke="#3f7fbd" stroke-width="3"/></svg>'
    )
    data = base64.b64encode(svg.encode()).decode()
    words = "the data, and the curve at the start"
    return f'<img alt="{words}" width="300" src="data:image/svg+xml;base64,{data}">'
