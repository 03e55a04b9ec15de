"""What all pages have in common: files, frames in notebooks, screens, and texts that stay texts."""

import html
import json
from email.message import Message
from pathlib import Path

import pytest
from browser import eventually
from pictures import fork, of_classes, output, running, sunflower, woven

import autodiff as ad
from autodiff import Value, nn, operation, optim, scope, show_descent, show_steps, show_training
from autodiff.pages import live, network
from autodiff.pages import page as pages
from autodiff.pictures import layout

PAGES = {
    "fork": lambda: show_steps(fork()),
    "running": lambda: show_steps(running()),
    "network": lambda: show_steps(output(2, 3, 1)),
    "woven": lambda: show_steps(woven()),
    "formula": live.page,
    "network.html": network.page,
    "classes": lambda: of_classes(2, 8, 8, 1),
    "sunflower": sunflower,
    "descent": lambda: show_descent(ad.cos, 2.0),
    "map": lambda: show_descent(lambda p: ad.sin(p[0]) * ad.cos(p[1]), [0.5, 0.2]),
}


def test_pages_are_small():
    large = of_classes(2, 29, 29, 1, n=500, loss=nn.binary_cross_entropy_with_logits)
    for page, most in ((live.page(), 162), (show_steps(woven())._page, 140), (large._page, 250)):
        assert len(page.encode()) <= 1000 * most


def test_the_published_page_is_at_the_address_of_the_project(monkeypatch):
    told = Message()
    monkeypatch.setattr(pages, "metadata", lambda name: told)
    assert pages.home() is None
    told.add_header("Project-URL", "Repository, https://example.org/a")
    assert pages.home() is None
    told.add_header("Project-URL", "Homepage, https://example.org/b/")
    assert pages.home() == "https://example.org/b/notebooks/graph.html"


WAY_BACK = "<footer>Made with <a{}>autodiff</a></footer>"


@pytest.mark.parametrize("page", PAGES)
def test_every_page_names_the_project_and_links_to_it_where_it_has_an_address(page, monkeypatch):
    for address, link in ((None, ""), ('https://a.org/"', ' href="https://a.org/&quot;"')):
        monkeypatch.setattr(pages, "project", lambda address=address: address)
        made = PAGES[page]()
        assert WAY_BACK.format(link) in getattr(made, "_page", made)


# -- Frames in notebooks --------------------------------------------------------------------------


def in_a_notebook(browser, page, head=""):
    browser.show(f"<!DOCTYPE html><meta charset=utf-8>{head}{page._repr_html_()}")
    eventually(lambda: browser.in_frames("document.readyState") == ["complete"])


def test_a_frame_takes_the_height_and_the_ground_of_its_page_and_answers(browser):
    height = "document.querySelector('iframe').clientHeight"
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = "<style>body { color: #eee }</style>"
    in_a_notebook(browser, show_descent(ad.cos, 2.0), dark)
    eventually(lambda: browser.evaluate(height) != 760)
    (own,) = browser.in_frames("document.documentElement.scrollHeight")
    assert abs(browser.evaluate(height) - own) <= 9
    assert browser.in_frames("document.documentElement.scrollHeight > innerHeight") == [False]
    in_a_notebook(browser, show_steps(fork(), ask=True), dark)
    eventually(lambda: browser.in_frames(ground) == ["rgb(22, 24, 28)"])
    assert browser.evaluate(height) == 760  # it fills its frame
    assert browser.in_frames("document.documentElement.scrollHeight") == [760]
    answer = "(f => { f.value = -5; f.form.requestSubmit() })(document.getElementById('answer'))"
    browser.in_frames(f"go(state.graph.half + 2); {answer}")
    (told,) = browser.in_frames("document.getElementById('told').textContent")
    assert told.startswith("Not yet")
    for scheme, colour in (("dark", "rgb(22, 24, 28)"), ("light", "rgb(255, 255, 255)")):
        browser.show(show_steps(fork()), scheme=scheme)
        assert browser.evaluate(ground) == colour


def test_without_scripts_a_picture_stands_there(browser, tmp_path, monkeypatch):
    policy = "<meta http-equiv=Content-Security-Policy content=\"script-src 'none'; frame-src *\">"
    in_a_notebook(browser, show_steps(fork()), policy)
    assert browser.in_frames("document.querySelector('img').clientWidth > 100") == [True]
    frame = show_steps(fork())._repr_html_()
    assert 'sandbox="allow-scripts allow-forms allow-downloads"' in frame
    assert html.unescape(frame).count("run its cell.</p><img") == 2  # without frames too
    for page in (show_steps(fork()), sunflower()):
        saved = Path(page.save(tmp_path / "new" / "page.html"))
        browser.show(saved.read_text("utf-8"), scripts=False)
        assert "needs scripts" in browser.evaluate("document.body.innerText")
        assert browser.each("img", "e.clientWidth > 100") == [True]
    monkeypatch.setattr(layout, "pygraphviz_folder", str)
    monkeypatch.setenv("PATH", "")  # without Graphviz, nothing is missed but the picture
    assert show_steps(fork())._repr_html_().count("run its cell.</p></iframe>") == 1


# -- Screens --------------------------------------------------------------------------------------

FAULTS = """(() => {
  const all = [...document.querySelectorAll("body *")], box = (e) => e.getBoundingClientRect();
  const words = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  const read = (e) => e.getClientRects().length && words(e) && !e.matches("script, sub, .small");
  const scale = (e) => e.ownerSVGElement?.getScreenCTM().a ?? 1;
  const small = (e) => read(e) && parseFloat(getComputedStyle(e).fontSize) * scale(e) < 11;
  const touched = (e) => e.matches("button:not(.neuron), input, summary, label.bar");
  const low = (e) => touched(e) && box(e).height && box(e).height < 43.5;
  const named = (e) => e.ariaLabel || e.textContent || e.labels?.length;
  const nameless = (e) => e.matches("input, button, [role=slider]") && !named(e);
  return Object.entries({ small, low, nameless }).flatMap(([fault, found]) =>
    all.filter(found).map((e) => `${fault}: ${e.outerHTML.slice(0, 80)}`));
})()"""


@pytest.mark.parametrize("page", PAGES)
def test_every_screen_has_room_for_it_and_fingers_too(browser, page):
    browser.show(PAGES[page]())
    for width in (320, 360, 400, 640, 700, 765, 830, 900, 1200, 1600):
        browser.emulate(width=width)
        for step in (0, 3, 99):
            browser.evaluate(f"(globalThis.go ?? paint)({step})")
            assert browser.evaluate(FAULTS) == [], width
            assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert {url[:5] for url in browser.requests} <= {"data:", "file:"}


# -- Texts that are code --------------------------------------------------------------------------

HOSTILE = [
    '"><script>window.hacked = 1</script>', "</script><script>hacked = 1</script>",
    "<!--<script>hacked = 1", "<img src=x onerror='hacked = 1'>", "]]><script>hacked=1</script>",
    "first\n<script>hacked=1</script>", "' onclick='hacked=1", "${last} $title $$",
    "`${hacked = 1}`", '\\"; hacked = 1; //', "\u2028hacked = 1", "constructor", "__proto__",
]  # fmt: skip
INJECTED = """[typeof hacked, document.querySelectorAll("img, [onclick], [onerror]").length,
  document.querySelectorAll("script").length].join()"""


def test_labels_inject_nothing(browser):
    y = w = Value(0.5)
    for label in HOSTILE:
        rule = lambda x: (x + 1, lambda grad: (grad,))  # noqa: E731
        rule.__name__ = label
        with scope(label):
            y = operation(rule)(y * Value(0.5, label=label))
        y.label = label
    browser.show(show_steps(y))
    browser.evaluate("go(99); set({ fold: true })")
    assert browser.evaluate(INJECTED) == "undefined,0,1"
    for text in HOSTILE[:3]:
        w.label = text
        given = lambda x: w * x[0], [1.0, 2.0], [1.0, 3.0], nn.mse_loss, optim.SGD([w], lr=0.1)
        page = show_training(*given, title=text, about=text, names=[text, text])
        assert text not in page._repr_html_()
        for each in (page, show_descent(ad.cos, 2.0, title=text, names=[text])):
            browser.show(each)
            assert text in browser.words()
            assert browser.evaluate(INJECTED) == "undefined,0,1"


def test_formulas_and_addresses_inject_nothing(browser):
    browser.show(live.page())
    for text in HOSTILE:
        address = json.dumps(f"#{text}&step=1&{text}".replace("\n", " "))
        for action in (
            f"retype({json.dumps(text)}); go(99)",
            f"location.hash = {address}; start()",
        ):
            browser.evaluate(f"{action}; set({{ fold: true }})")
            assert browser.evaluate(INJECTED) == "undefined,0,1"
