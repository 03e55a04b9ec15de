"""The live graph of sixty nodes in a browser: how large its page is, how long a drag takes."""

import json
import statistics

import pytest
from test_live import network, woven

from autodiff import show_steps, topological_order

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
  return JSON.stringify(times);
})()"""


@pytest.mark.parametrize("graph", [woven, network])
def test_drag(browser, graph, tmp_path):
    root = graph()
    show_steps(root).save(tmp_path / "live.html")
    browser.open((tmp_path / "live.html").as_uri())
    times = json.loads(browser.evaluate(DRAGS))
    size = (tmp_path / "live.html").stat().st_size
    print(
        f"\n{graph.__name__}: {len(topological_order(root))} nodes, {size / 1000:.0f} kB; a drag "
        f"takes {statistics.median(times):.1f} ms (lowest {min(times):.1f}, highest {max(times):.1f})"
    )
