"""The live graph of sixty nodes in a browser: how large its page is, how long a drag takes."""

import statistics

import pytest
from pictures import output, woven

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
  return times;
})()"""


@pytest.mark.parametrize("graph", [woven, lambda: output(2, 3, 1)])
def test_drag(browser, graph):
    page = show_steps(root := graph())
    browser.show(page)
    times = browser.evaluate(DRAGS)
    size = len(page._page.encode())
    print(
        f"\n{len(topological_order(root))} nodes, {size / 1000:.0f} kB; a drag "
        f"takes {statistics.median(times):.1f} ms (lowest {min(times):.1f}, highest {max(times):.1f})"
    )
