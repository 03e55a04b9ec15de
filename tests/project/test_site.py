"""The site: what `.github/pages.py` writes."""

import json
import os
import re
import subprocess
import sys
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from posixpath import join, normpath
from threading import Thread
from urllib.parse import unquote

import pytest
from addresses import HOST, REPOSITORY, SITE, leads_somewhere, settings
from browser import eventually

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".github" / "pages.py"
missing = pytest.mark.skipif(not SCRIPT.exists(), reason="an archive has no site")
pytestmark = [missing, pytest.mark.thorough]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Two sites: of a project that has no address, and of one that has."""
    pytest.importorskip("pdoc")
    folders, processes = [], []
    for text in settings():
        folders.append(folder := tmp_path_factory.mktemp("pages"))
        lite = folder / "lite" / "notebooks" / "index.html"
        lite.parent.mkdir(parents=True)  # as if lite.py had run
        lite.touch()
        pyproject = tmp_path_factory.mktemp("project") / "pyproject.toml"
        pyproject.write_text(text, encoding="utf-8")
        command = [sys.executable, "-W", "error::UserWarning", SCRIPT, folder, pyproject]
        processes.append(subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT)}))
    assert [process.wait() for process in processes] == [0, 0]
    return folders


@pytest.fixture(scope="module")
def sites(folders):
    """The text of every page of both, by its place."""
    files = [[path for path in folder.rglob("*") if path.is_file()] for folder in folders]
    return [
        {x.relative_to(folder).as_posix(): x.read_text("utf-8", "replace") for x in paths}
        for folder, paths in zip(folders, files)
    ]


@pytest.fixture(scope="module")
def pages(sites):
    return sites[0]


LIVE = [f"notebooks/{name}.html" for name in ("network", "graph", "reads")]


def anchors(page):
    return {unquote(unescape(each)) for each in re.findall(r'\sid="([^"]+)"', page)}


def without_code(page):
    """Links, not what looks like one in a program or in a frame's own document."""
    page = re.sub(r'srcdoc="[^"]*"', "", page)
    return re.sub(r"(?s)<(pre|script|style)\b.*?</\1>", "", page)


def test_every_link_inside_leads_somewhere(sites):
    for pages, (place, page) in [(site, each) for site in sites for each in site.items()]:
        for link in re.findall(r'(?:href|src)="([^"]+)"', without_code(page)):
            if not place.endswith(".html") or re.match(r"[a-z]+:", link):
                assert not link.startswith("file:")
                continue
            path, _, anchor = link.partition("#")
            path = path.partition("?")[0]  # of what to open
            there = normpath(join(place, "..", unquote(path))) if path else place
            assert there in pages, (place, link)
            assert not anchor or unquote(anchor) in anchors(pages[there]), (place, link)


def test_no_page_asks_another_host_or_links_what_has_no_address_or_paints_before_its_scheme(pages):
    framed = [page for page in pages.values() if 'class="scheme"' in page]
    assert len(framed) > 30
    heads = [page.partition("<header>")[2].partition("<details>")[0] for page in framed]
    plain = {re.sub(r' aria-current="true"|\s|="[./]*', "", head) for head in heads}
    assert len(plain) == 1, plain  # of the reference too
    for place, page in pages.items():
        if 'class="scheme"' in page:
            assert page.index("localStorage") < page.index("<body>"), place
        asked = re.findall(r'<(?!a\b)\w+[^>]*\s(?:src|href)="(https?:[^"]+)"', without_code(page))
        imported = re.findall(r"@import|url\(['\"]?http|import\(['\"]http", page)
        assert (asked, imported) == ([], []), place
        for claim in ("og:image", "og:url", "canonical", "scalar-autodiff</code>.", HOST):
            assert claim not in page or place == "search.js", (place, claim)


def test_a_site_with_an_address_links_the_project_and_has_titles_cards_and_menus(sites):
    links, cards = set(), 0
    for place, page in sites[1].items():
        for link in re.findall(rf'(?:href|content)="(https://{HOST}[^"]*)"', page):
            links.add(link)
            assert leads_somewhere(link, sites[1]), (place, link)
        if place.endswith(".html") and "<main" in page and place != "reference/index.html":
            assert f'rel="canonical" href="{SITE}{place}"' in page
        if "og:title" in page:
            cards += 1
            assert "<title>" in page
            assert f'og:image" content="{SITE}card.png"' in page
            assert 'aria-label="the site"' in page or place in LIVE, place
            assert len(re.search(r'name="description" content="([^"]+)"', page)[1]) > 20, place
    assert {
        f"{SITE}card.png",
        REPOSITORY,
        f"{REPOSITORY}/blob/HEAD/autodiff/engine/ops.py",
    } <= links
    assert cards >= 16


REVERSE = "notebooks/04_reverse_mode"
SHOWN = [
    (REVERSE, "html", 'href="../lite/notebooks/index.html?path=04_reverse_mode.ipynb"'),
    ("index", "html", 'href="lite/notebooks/index.html?path=00_start_here.ipynb"'),
    (REVERSE, "html", "<math"),
    ("reference/autodiff/optim", "html", "<math"),
    ("reference/autodiff", "html", f"{REVERSE}.html"),
    ("reference/autodiff", 'section id="log"', "d ln x = dx / x ValueError unless x > 0. "
                                               ">>> log(0.5), grad(log)(0.5) (-0.6931471805599453, 2.0)"),
    ("matrices", 'p class="next"', '<a href="install.html">← Install</a><a href="micrograd.html">'),
    ("engine", 'details class="parts"', 'href="#one-idea"'),
    ("reference/autodiff", 'details class="parts"', 'href="#show_descent"'),
    ("reference/autodiff", 'section id="show_descent"', "</code></dt><dd><p>the learning rate, above"),
    ("reference/autodiff", 'section id="vjp"', "<msup><mi>v</mi><mi>T</mi></msup>"),
    ("reference/autodiff/nn", 'section id="fit"', "<dt><code>epochs</code></dt><dd><p>how many</p>"),
    ("index", "main", 'class="slope"'),
]  # fmt: skip


@pytest.mark.parametrize(("place", "part", "text"), SHOWN)
def test_what_stands_on_a_page_and_needs_no_script(pages, place, part, text):
    page = pages[f"{place}.html"]
    inside = re.search(rf"(?s)<{part}.*?</{part.split()[0]}>", page)[0]
    words = " ".join(unescape(re.sub("<[^>]+>", "", inside)).split())
    assert text in inside or words.endswith(text)
    assert "MathJax" not in page
    assert "decorator-primitive" not in page


def test_a_notebook_on_github_opens_elsewhere_too(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / ".github")
    from address import Address

    here = "NAME/autodiff"
    assert Address({"Repository": f"https://github.com/{here}"}).notebook("notebooks/a.ipynb") == [
        ("Colab", f"https://colab.research.google.com/github/{here}/blob/HEAD/notebooks/a.ipynb"),
        ("Binder", f"https://mybinder.org/v2/gh/{here}/HEAD?labpath=notebooks/a.ipynb"),
    ]
    assert Address({"Repository": REPOSITORY}).notebook("notebooks/a.ipynb") == []
    assert Address({}).notebook("notebooks/a.ipynb") == []


def test_what_the_search_knows(pages):
    script = pages["search.js"].removeprefix("window.INDEX = ").rstrip().removesuffix(";")
    places, texts = {}, {}
    for link, title, text in json.loads(script):
        place, _, anchor = link.partition("#")
        assert unquote(anchor) in anchors(pages[place]), link
        places[title], texts[title] = place, text
    assert places["Exercise 3: send · 4. Reverse mode"] == "notebooks/04_reverse_mode.html"
    assert places["One idea · Read the engine"] == "engine.html"
    assert places["autodiff.nn.Linear"] == "reference/autodiff/nn.html"
    assert places["Install"] == "install.html"
    assert "pip install scalar-autodiff" in texts["The package alone · Install"]
    for word in ("micrograd", "SciPy", "teachers", "mistakes", "Speed"):  # guides, by their names
        assert any(word in title and " · " not in title for title in places), word


@pytest.mark.parametrize("place", ["index", "notebooks/04_reverse_mode", "reference/autodiff/nn"])
def test_a_search_leads_to_the_course_and_to_the_reference(place, folders, browser):
    browser.open((folders[0] / f"{place}.html").as_uri())
    browser.emulate(390, 800)
    browser.evaluate("document.querySelector('search input').focus(), 1")
    waiting = "new Promise(done => document.head.lastChild.addEventListener('load', done))"
    browser.call("Runtime.evaluate", expression=f"window.INDEX || {waiting}", awaitPromise=True)
    for words, found in [("gallery broken", "notebooks/04_reverse_mode.html#A-gallery-of-broken-engines"),
                         ("check_gradients", "reference/autodiff.html#check_gradients"),
                         ("adding messages", "notebooks/04_reverse_mode.html#Why-messages-add"),  # by its stem
                         ("tangent", "notebooks/03_forward_mode.html#Numbers-that-bring-their-tangent-along"),
                         ("<b>nonsense", None)]:  # fmt: skip
        browser.call("Input.insertText", text=words)
        link = browser.evaluate("document.querySelector('search li a')?.href")
        assert link == (found and f"{folders[0].as_uri()}/{found}")
        (place,) = browser.each(
            "search ul", "[e.offsetHeight > 0, e.getBoundingClientRect().x >= 0]"
        )
        assert place == [True, True]
        browser.evaluate("document.querySelector('search input').value = '', 1")
    assert browser.evaluate("document.querySelector('search ul').textContent") == "Nothing found."


@pytest.fixture
def address(folders):
    """Where a server of this machine shows the site."""
    handler = partial(SimpleHTTPRequestHandler, directory=folders[0])
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_frame_is_as_high_as_it_needs_and_as_dark_as_its_page_and_those_after(address, browser):
    ground = "getComputedStyle(document.body).backgroundColor"
    framed = ground.replace("document", "document.querySelector('iframe').contentDocument")
    press = "document.querySelector('.scheme').click()"
    light, dark = "rgb(255, 255, 255)", "rgb(22, 24, 28)"
    browser.open(f"{address}/index.html")
    browser.emulate(width=390)
    high = "document.querySelector('iframe').clientHeight"
    inside = "document.querySelector('iframe').contentDocument.body.offsetHeight"
    eventually(lambda: 0 <= browser.evaluate(f"{high} - {inside}") < 9)
    assert [browser.evaluate(ground), browser.evaluate(framed)] == [light, light]
    browser.evaluate(press)
    eventually(lambda: [browser.evaluate(ground), browser.evaluate(framed)] == [dark, dark])
    browser.open(f"{address}/notebooks/04_reverse_mode.html")
    assert browser.evaluate(ground) == dark
    eventually(lambda: browser.in_frames(ground) == [dark])
    browser.evaluate(press)
    eventually(lambda: browser.in_frames(ground) == [light])
    browser.evaluate(press)
    browser.open(f"{address}/reference/autodiff/nn.html")
    assert browser.evaluate(ground) == dark
    browser.evaluate(press)  # as the system is: it is followed again
    assert browser.evaluate(ground) == light
    browser.emulate(scheme="dark")
    assert browser.evaluate(ground) == dark


def test_the_graph_of_the_front_plays_when_it_is_seen_unless_a_reader_wants_none(address, browser):
    graph = "document.querySelector('.graph')"
    seen = f"new Promise(done => new IntersectionObserver(([e]) => e.isIntersecting && setTimeout(done, 1000)).observe({graph}))"
    for motion, plays in [("reduce", False), ("no-preference", True)]:
        browser.open("about:blank", settle=False)
        browser.emulate(1200, 800, motion=motion)
        browser.call("Page.navigate", url=f"{address}/index.html")
        eventually(lambda: browser.evaluate("document.readyState") == "complete")
        for moved in (False, plays):
            assert browser.evaluate(f"{graph}.contentWindow.eval('state.step > 2')") == moved
            browser.evaluate(f"{graph}.scrollIntoView({{ block: 'center' }})")
            browser.call("Runtime.evaluate", expression=seen, awaitPromise=True)
