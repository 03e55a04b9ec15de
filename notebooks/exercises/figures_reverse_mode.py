"""The picture of notebook 4: a small graph, and the paths through it one by one."""

import math

import matplotlib.pyplot as plt

PLACES = {"x": (0.0, 0.0), "u": (1.0, 1.0), "v": (2.0, 0.0), "y": (3.0, 1.0)}
BLUE, GREY, INK = "#0072b2", "#bbbbbb", "#000000"


def draw_paths(rates, paths):
    """A panel with the local derivatives on the edges, and one for each path, highlighted.

    rates: the local derivative of each edge, {"xu": 6.0, ...}; paths: such as "xuvy".
    """
    plt.rcParams.update({"svg.hashsalt": "autodiff", "figure.facecolor": "white"})
    _, panels = plt.subplots(1, 1 + len(paths), figsize=(9.6, 1.9))
    _draw_graph(panels[0], rates, set(rates), INK)
    panels[0].set_title("local derivatives", fontsize=10)
    for panel, path in zip(panels[1:], paths, strict=True):
        edges = [a + b for a, b in zip(path, path[1:])]
        _draw_graph(panel, rates, set(edges), BLUE)
        factors = [rates[edge] for edge in edges]
        product = " · ".join(f"{rate:g}" for rate in factors)
        panel.set_title(f"{product} = {math.prod(factors):g}", fontsize=10, color=BLUE)
    plt.tight_layout()
    plt.show()


def _draw_graph(panel, rates, lit, colour):
    for edge, rate in rates.items():
        tail, head = PLACES[edge[0]], PLACES[edge[1]]
        shade = colour if edge in lit else GREY
        arrow = {"arrowstyle": "-|>", "color": shade, "lw": 2 if edge in lit else 1}
        panel.annotate("", head, tail, arrowprops=arrow | {"shrinkA": 9, "shrinkB": 9})
        middle = (tail[0] + head[0]) / 2, (tail[1] + head[1]) / 2
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        panel.text(
            *middle, f"{rate:g}", ha="center", va="center", color=shade, fontsize=10, bbox=box
        )
    for name, place in PLACES.items():
        panel.text(*place, name, ha="center", va="center", fontsize=11)
    panel.set(xlim=(-0.3, 3.3), ylim=(-0.35, 1.35))
    panel.axis("off")
