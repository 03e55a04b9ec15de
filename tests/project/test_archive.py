"""The archive that is published: its README leads somewhere, from wherever it is read."""

import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest
from addresses import REPOSITORY, SITE, leads_somewhere, settings

import autodiff

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
pytest.importorskip("hatchling")
in_repository = pytest.mark.skipif(
    not (ROOT / ".github" / "CITATION.cff").exists(), reason="an archive has no .github to look in"
)


@pytest.fixture(scope="module", params=[False, True], ids=["no address", "an address"])
def readmes(request, tmp_path_factory):
    """Whether the project has an address, and the README in the metadata of both its archives."""
    folder = tmp_path_factory.mktemp("project")
    (folder / ".github").mkdir()
    shutil.copytree(ROOT / "autodiff", folder / "autodiff")
    for place in ("LICENSE", "README.md", ".github/address.py"):
        shutil.copy(ROOT / place, folder / place)
    (folder / "pyproject.toml").write_text(settings()[request.param], encoding="utf-8")
    build = [sys.executable, "-m", "hatchling", "build", "-d", "dist"]
    subprocess.run(build, check=True, cwd=folder, capture_output=True)
    (wheel,), (source,) = (folder.glob(f"dist/*.{kind}") for kind in ("whl", "tar.gz"))
    with ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        texts = [archive.read(name)]
    with tarfile.open(source) as archive:
        texts += [archive.extractfile(f"{source.name[:-7]}/PKG-INFO").read()]
    return request.param, [text.decode("utf-8").partition("\n\n")[2] for text in texts]


PUBLISHED = [f"{SITE}notebooks/{name}.html" for name in ("network", "graph")]


@in_repository
def test_every_link_of_the_published_readme_leads_somewhere(readmes):
    has_address, texts = readmes
    for text in texts:
        without_code = re.sub(r"(?s)```.*?```|`[^`\n]*`", "", text)
        links = re.findall(r"\]\(([^)]*)\)", without_code)
        assert [link for link in links if not re.match("https?:", link)] == []
        ours = [link for link in links if link.startswith((SITE, REPOSITORY))]
        assert bool(ours) == has_address
        for link in ours:
            assert link in PUBLISHED or leads_somewhere(link, {})
        assert all(page in text for page in PUBLISHED) == has_address


def test_the_code_and_the_headings_of_the_readme_are_those_of_the_repository(readmes):
    for text in readmes[1]:
        for part in ("(?s)```.*?```", "(?m)^#+ .*"):
            assert re.findall(part, text) == re.findall(part, README)


@in_repository
def test_a_version_is_cited_and_its_changes_are_listed():
    citation = (ROOT / ".github" / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {autodiff.__version__}\n" in citation
    changes = (ROOT / ".github" / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"(?m)^## (\d+\..*)$", changes)[1] == autodiff.__version__


def test_the_first_door_of_the_readme_leads_to_the_site_where_there_is_one(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / ".github")
    from address import Address

    first = re.search(r"\]\(([^)]*)\)\n\n- ", README)[1]
    assert first == f"{Address.of().site}notebooks/network.html"
