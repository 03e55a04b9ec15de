"""How long pictures take: layouts that once froze, networks as grids, a drag in a live page."""

import random
import statistics

import pytest
from pictures import network, woven

import autodiff as ad
from autodiff import Value, Vector, draw, show_steps, sin, topological_order
from autodiff.nn import cross_entropy


def tangle(count):
    rng, leaf = random.Random(0), Value(0.9)
    nodes = [leaf]
    for _ in range(count):
        one, other = rng.choice(nodes[-40:]), rng.choice(nodes[-40:])
        nodes.append(rng.choice([one + other, one * other, sin(one) * leaf]))
    return ad.sum(nodes[-30:])


def drawn(root, **options):
    return lambda: draw(root, **options).pipe()


@pytest.mark.parametrize("edges", [None, "message"])
def test_layout(edges, side_by_side):
    graphs = {"150 random nodes": tangle(100), "woven": woven()}
    pictures = {name: drawn(root, edges=edges) for name, root in graphs.items()}
    side_by_side(f"Layout, edges={edges!r}", pictures, rounds=5)


def test_grids(side_by_side):
    pictures = {}
    for sizes in ((64, 32, 10), (784, 128, 10)):
        loss = cross_entropy(network(*sizes)(Vector([0.01] * sizes[0])), 3)
        pictures["-".join(map(str, sizes))] = drawn(loss, arrays=True)
    side_by_side("Classifiers as grids", pictures, rounds=3)


# Each drag ends with a layout, so that all that is left to the browser is to paint.
DRAGS = """(() => {
  const times = [], leaf = state.graph.sliders[0];
  go(99);
  for (let i = 0; i < 150; i++) {
    const start = performance.now();
    move(leaf, -1 + 0.01 * i, {});
    document.body.getBoundingClientRect();
    times.push(performance.now() - start);
  }
  return times;
})()"""


def test_drag(browser):
    page = show_steps(root := woven())
    browser.show(page)
    times = browser.evaluate(DRAGS)
    size = len(page._page.encode())
    print(
        f"\n{len(topological_order(root))} nodes, {size / 1000:.0f} kB; a drag "
        f"takes {statistics.median(times):.1f} ms (lowest {min(times):.1f}, highest {max(times):.1f})"
    )
