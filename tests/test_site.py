"""The site: what `.github/pages.py` writes."""

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / ".github" / "pages.py"
missing = pytest.mark.skipif(not SCRIPT.exists(), reason="an archive has no site")
pytestmark = [missing, pytest.mark.thorough]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The text of every page, by its place."""
    pytest.importorskip("pdoc")
    folder = tmp_path_factory.mktemp("pages")
    command = [sys.executable, "-W", "error::UserWarning", SCRIPT, folder]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8", errors="replace")
        for path in folder.rglob("*")
        if path.is_file()
    }


def anchors(page):
    return {unquote(each) for each in re.findall(r'\sid="([^"]+)"', page)}


def without_code(page):
    """Links, not what looks like one in a program or in a frame's own document."""
    page = re.sub(r'srcdoc="[^"]*"', "", page)
    return re.sub(r"(?s)<(pre|script|style)\b.*?</\1>", "", page)


def test_every_link_inside_leads_somewhere(pages):
    for place, page in pages.items():
        for link in re.findall(r'(?:href|src)="([^"]+)"', without_code(page)):
            if not place.endswith(".html") or re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            parts = (
                (place.rpartition("/")[0].split("/") if "/" in place else []) if path else [place]
            )
            for step in filter(None, unquote(path).split("/")):
                parts = parts[:-1] if step == ".." else [*parts, step] if step != "." else parts
            target = "/".join(parts)
            assert target in pages, (place, link)
            assert not anchor or unquote(anchor) in anchors(pages[target]), (place, link)


def test_no_page_asks_another_host_for_anything(pages):
    for place, page in pages.items():
        asked = re.findall(r'<(?!a\b)\w+[^>]*\s(?:src|href)="(https?:[^"]+)"', without_code(page))
        imported = re.findall(r"@import|url\(['\"]?http|import\(['\"]http", page)
        assert (asked, imported) == ([], []), place


def test_every_page_has_the_menu_a_title_and_a_card(pages):
    written = [
        each for each in pages if each.endswith(".html") and not each.startswith("reference")
    ]
    written = [each for each in written if "og:image" in pages[each]]
    assert len(written) >= 16
    for place in written:
        page = pages[place]
        assert "<title>" in page
        assert 'aria-label="the site"' in page, place
        assert len(re.search(r'name="description" content="([^"]+)"', page)[1]) > 20, place


def test_formulas_need_no_script(pages):
    page = pages["notebooks/04_reverse_mode.html"]
    assert "<math" in page
    assert "MathJax" not in page
    assert "<math" in pages["reference/autodiff/optim.html"]


def test_the_reference_is_found_by_a_search_and_leads_to_the_course(pages):
    page = pages["reference/autodiff.html"]
    assert 'type="search"' in page
    assert "notebooks/04_reverse_mode.html" in page
