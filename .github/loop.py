"""Makes the README's moving picture from the live graph: `python .github/loop.py`.

Needs Chromium and the extra `docs`. Each frame is the page at one moment of one step: its
animations are stopped there, so the same frames come out every time.
"""

import base64
import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

from autodiff import Value, show_steps

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
from browser import Browser  # noqa: E402

SIZE = (900, 450)  # the heading, the sentence and the graph
REST, MOVE = 500, 60  # milliseconds between steps, and for each frame of a step
MOMENTS = range(0, 1500, 100)  # of a step, in milliseconds
TO = """(() => {{  // whether anything moves after that moment
  const animations = document.getAnimations();
  animations.forEach((x) => {{ x.pause(); x.currentTime = {0}; }});
  return animations.some((x) => x.effect.getComputedTiming().endTime > {0});
}})()"""


def graph() -> Value:
    """The graph of the README."""
    a, b = Value(-4.0, label="a"), Value(2.0, label="b")
    c = a * b + b**3
    c.label = "c"
    return c


def picture(browser: Browser) -> Image.Image:
    png = base64.b64decode(browser.call("Page.captureScreenshot")["data"])
    page = Image.open(io.BytesIO(png)).convert("RGB")
    return page.crop((0, 0, *SIZE))


def frames(browser: Browser) -> list[tuple[Image.Image, int]]:
    """Pictures and how long each stands; the first is the end of the forward pass."""
    last = browser.evaluate("state.graph.last")
    first = browser.evaluate("state.graph.half")
    shown = [(picture(browser), 2 * REST)]
    for step in range(first + 1, last + 1):
        browser.evaluate(f"set({{step: {step}, moving: true}}), 1")
        for moment in MOMENTS:
            if not browser.evaluate(TO.format(moment)):
                break
            shown.append((picture(browser), MOVE))
        browser.evaluate("set({moving: false}), 1")
        shown.append((picture(browser), REST if step < last else 3 * REST))
    return shown


def main() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page = Path(show_steps(graph()).save(Path(folder, "graph.html")))
        browser = Browser(folder)
        try:
            browser.open(page.as_uri())
            browser.emulate(SIZE[0], 750, motion="no-preference")
            browser.evaluate("document.documentElement.style.scrollbarWidth = 'none', 1")
            shown = frames(browser)
        finally:
            browser.close()
    images, times = zip(*shown, strict=True)
    card = Image.new("RGB", (1200, 630), "white")  # what a link to the site shows
    card.paste(images[-1].resize((1160, 580)), (20, 25))
    card.save(ROOT / ".github" / "site" / "card.png", optimize=True)
    options = {"save_all": True, "append_images": images[1:], "duration": times, "loop": 0}
    images[0].save(ROOT / "notebooks" / "backward.webp", quality=80, method=6, **options)
    print(len(images), "frames,", sum(times) / 1000, "seconds")


if __name__ == "__main__":
    main()
