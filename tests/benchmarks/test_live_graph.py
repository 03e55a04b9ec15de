"""The live graph of sixty nodes in a browser: how large its page is, how long a drag takes."""

import statistics

from pictures import woven

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


def test_drag(browser):
    page = show_steps(root := woven())
    browser.show(page)
    times = browser.evaluate(DRAGS)
    size = len(page._page.encode())
    print(
        f"\n{len(topological_order(root))} nodes, {size / 1000:.0f} kB; a drag "
        f"takes {statistics.median(times):.1f} ms (lowest {min(times):.1f}, highest {max(times):.1f})"
    )
