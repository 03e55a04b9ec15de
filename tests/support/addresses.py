"""The project with an address, which it may not have yet, and without."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOST = "example.org"
SITE, REPOSITORY = f"https://{HOST}/site/", f"https://{HOST}/code/autodiff"
URLS = f'[project.urls]\nHomepage = "{SITE}"\nRepository = "{REPOSITORY}"\n\n'


def settings():
    """pyproject.toml without an address, and with one."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    without, found = re.subn(r"(?m)^\[project\.urls\][^[]*", "", text)
    assert found == 1
    return [without, without.replace("[project.scripts]", URLS + "[project.scripts]")]


def leads_somewhere(link, pages):
    """Whether a link to the project leads to one of these pages, or to a file of the repository."""
    place = link.partition("#")[0]
    if place.startswith(SITE):
        return place.removeprefix(SITE) in pages
    path = re.fullmatch(rf"{REPOSITORY}(?:/(?:blob|raw)/HEAD/(.*))?", place)
    return bool(path) and (ROOT / (path[1] or "")).exists()
