"""Where the project lives, as `[project.urls]` of pyproject.toml says; and what follows from it.

An archive is published with a README whose links are absolute, and without those that would lead
nowhere: hatch-fancy-pypi-readme can make them absolute, but not leave them out.
"""

import re
import tomllib
from pathlib import Path
from posixpath import normpath
from typing import Any

try:
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ModuleNotFoundError:  # only what builds an archive has it
    MetadataHookInterface = object

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"(!?)\[((?:!\[[^]]*\]\([^)]*\)|[^][])*)\]\(([^)]*)\)")  # a picture may be inside


class Address:
    """The address of the site, with a slash at its end, and of the repository; "" if unknown."""

    def __init__(self, urls: dict[str, str]) -> None:
        self.site = urls.get("Homepage", "").rstrip("/") + "/" * ("Homepage" in urls)
        self.repository = urls.get("Repository", "").rstrip("/")

    @classmethod
    def of(cls, pyproject: Path = ROOT / "pyproject.toml") -> "Address":
        """The one that a pyproject.toml says."""
        project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
        return cls(project.get("urls", {}))

    def place(self, path: str, shown: bool = False) -> str:
        """Where a file of the repository is to be read, or `shown`, as a picture; "" if unknown."""
        if path.endswith(".html"):
            return self.site and self.site + path
        kind = "raw" if shown else "blob"
        return self.repository and f"{self.repository}/{kind}/HEAD/{normpath(path)}"

    def notebook(self, path: str) -> list[tuple[str, str]]:
        """Who runs a notebook of a repository on GitHub, and where."""
        if not self.repository.startswith("https://github.com/"):
            return []
        name = self.repository.removeprefix("https://github.com/")
        return [
            ("Colab", f"https://colab.research.google.com/github/{name}/blob/HEAD/{path}"),
            ("Binder", f"https://mybinder.org/v2/gh/{name}/HEAD?labpath={path}"),
        ]

    def published(self, readme: str) -> str:
        """The README whose links lead somewhere from anywhere; those that cannot are plain text."""

        def absolute(link: re.Match[str]) -> str:
            picture, text, target = link.groups()
            text = LINK.sub(absolute, text)
            if not re.match(r"\w+:", target):
                path, anchor, name = target.partition("#")
                target = self.place(path or "README.md", bool(picture))
                target += (anchor + name) * bool(target)
            if not target:
                return "" if picture else text
            return f"{picture}[{text}]({target})"

        return LINK.sub(absolute, readme)


class Readme(MetadataHookInterface):  # type: ignore[misc]
    """The README of an archive: hatchling asks for it."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = Address(metadata.get("urls", {})).published(text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
