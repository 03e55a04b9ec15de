"""The live graph of sixty nodes in a browser: how large its page is, how long an update takes."""

import json
import statistics

import pytest

import autodiff
from autodiff import Value, show_steps, sin, tanh, topological_order
from autodiff.nn import Linear, Sequential


def woven():
    """Sums, products and sines of six inputs, each used over and over."""
    row = [Value(0.3 * i - 1.0, label=f"x{i}") for i in range(6)]
    while len(topological_order(autodiff.sum(row))) < 50:
        row = [sin(u * v) for u, v in zip(row, row[1:] + row[:1])]
    return autodiff.sum(row)


def layers():
    """A network of two inputs and three layers, up to 60 nodes with its parameters."""
    x = [Value(0.5, label="x₁"), Value(-0.25, label="x₂")]
    model = Sequential(
        Linear(2, 3, activation=tanh, seed=0),
        Linear(3, 3, activation=tanh, seed=1),
        Linear(3, 1, activation=tanh, seed=2),
    )
    return model(x)[0]


# Each update ends with a layout, so that all that is left to the browser is to paint.
UPDATES = """(() => {
  const slider = document.querySelector("#inputs input"), times = [];
  for (let i = 0; i < 100; i++) {
    slider.value = -1 + 0.02 * i;
    const start = performance.now();
    slider.dispatchEvent(new Event("input"));
    document.body.getBoundingClientRect();
    times.push(performance.now() - start);
  }
  return JSON.stringify(times);
})()"""


@pytest.mark.parametrize("graph", [woven, layers])
def test_update(browser, graph, tmp_path):
    root = graph()
    show_steps(root).save(tmp_path / "live.html")
    browser.open((tmp_path / "live.html").as_uri())
    times = json.loads(browser.evaluate(UPDATES))
    size = (tmp_path / "live.html").stat().st_size
    print(
        f"\n{graph.__name__}: {len(topological_order(root))} nodes, {size / 1000:.0f} kB; an update "
        f"takes {statistics.median(times):.1f} ms (lowest {min(times):.1f}, highest {max(times):.1f})"
    )
