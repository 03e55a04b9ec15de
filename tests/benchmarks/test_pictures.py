"""How long pictures take: layouts that once froze, networks as grids, a drag in a live page."""

import random

import pytest
from browser import eventually
from pictures import network, woven

import autodiff as ad
from autodiff import Value, Vector, draw, show_descent, show_steps, sin, topological_order
from autodiff.nn import cross_entropy


def tangle(count):
    rng, leaf = random.Random(0), Value(0.9)
    nodes = [leaf]
    for _ in range(count):
        one, other = rng.choice(nodes[-40:]), rng.choice(nodes[-40:])
        nodes.append(rng.choice([one + other, one * other, sin(one) * leaf]))
    return ad.sum(nodes[-30:])


def himmelblau(p):
    return (p[0] ** 2 + p[1] - 11) ** 2 + (p[0] + p[1] ** 2 - 7) ** 2


# a tangle is wider than a page, and draw warns of it
pytestmark = pytest.mark.filterwarnings("ignore:draw. found a picture of:UserWarning")


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


# A move of a slider for each picture that the screen shows.
DRAG = """new Promise((done) => {
  const leaf = state.graph.sliders[0];
  let i = 0;
  const next = () => {
    move(leaf, -1 + 0.01 * i);
    if (++i < 120) requestAnimationFrame(next);
    else done();
  };
  go(99);
  requestAnimationFrame(next);
})"""


def processor_time(browser, deed):
    """Milliseconds of the processor that a deed takes: in all, and of that in scripts."""
    names = "TaskDuration", "ScriptDuration"

    def found():
        metrics = browser.call("Performance.getMetrics")["metrics"]
        return [x["value"] for name in names for x in metrics if x["name"] == name]

    before = found()
    browser.call("Runtime.evaluate", expression=deed, awaitPromise=True)
    return [1000 * (end - start) for start, end in zip(before, found())]


def test_drag(browser):
    browser.show(page := show_steps(root := woven()), width=1200, height=850)
    browser.call("Performance.enable", timeDomain="threadTicks")
    times = [processor_time(browser, DRAG) for _ in range(5)]
    whole, script = (min(each) / 120 for each in zip(*times))
    size = len(page._page.encode())
    print(
        f"\n{len(topological_order(root))} nodes, {size / 1000:.0f} kB; a frame of a drag takes "
        f"{whole:.1f} ms of the processor, {script:.1f} of them in scripts"
    )


def test_basins(browser):
    browser.show(show_descent(himmelblau, [-0.5, -1.0], lr=0.01), width=1200, height=900)
    eventually(lambda: browser.evaluate("job?.took > 0"))
    took, longest = browser.evaluate("[job.took, job.longest]")
    print(f"\nbasins of 200 x 91 starts, 40 steps: {took:.0f} ms, longest slice {longest:.1f} ms")
