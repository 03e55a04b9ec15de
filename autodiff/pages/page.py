"""Pages of their own, which need no Python and no network: in a notebook, a file, a browser."""

import base64
import html
import json
import os
import re
import tempfile
import webbrowser
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib import resources
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from string import Template
from typing import Any

from ..engine.errors import refusal
from ..engine.graph import topological_order
from ..engine.value import Value
from ..pictures.description import formula_of

UNPACK = """<script>
const bytes = Uint8Array.from(atob("PAGE"), (c) => c.charCodeAt(0));
const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
new Response(stream).text().then((page) => {
  document.open();
  document.write(page);
  document.close();
});
</script>"""
# Beside a frame: its height follows its page, and its page the theme of the notebook.
LISTENER = """<script>(() => {
const frame = document.currentScript.previousElementSibling;
addEventListener("message", ({ data, source }) => {
  if (source !== frame.contentWindow || data?.autodiff !== "height") return;
  if (data.height) frame.style.height = `${Math.min(Number(data.height) || 0, 4000)}px`;
  const [r, g, b] = getComputedStyle(frame.parentElement).color.match(/\\d+/g).map(Number);
  source.postMessage({ dark: r + g + b > 382 }, "*");
});
})()</script>"""
STILL = "<p>This page needs scripts. In a notebook, run its cell.</p>"
PARTS = {
    "training": ("numbers", "dom", "charts", "plots", "trainer", "frame", "scenes", "samples",
                 "pulls", "hand", "training", "begin"),
    "descent": ("numbers", "dom", "charts", "plots", "frame", "descent"),
    "map": ("numbers", "dom", "charts", "plots", "frame", "image", "map", "balls", "descent"),
}  # fmt: skip
LESSON = "numbers", "dom", "frame"
COURSE = "autodiff.course"


class Page:
    """A page: Jupyter shows it, `save` and `open` do so elsewhere.

    `still` is what is left of it in a notebook without scripts or frames.
    """

    _waiting = STILL  # said above what is left

    def __init__(self, text: str, title: str, still: str = "") -> None:
        self._page, self._title, self._still = text, title, still

    def _picture(self) -> str:
        return self._still

    def __repr__(self) -> str:
        return f"<Page: {self._title}>"

    def _repr_html_(self) -> str:
        # A frame keeps styles, scripts and keys apart from the notebook's. Packed, because a
        # notebook has several.
        packed = base64.b64encode(zlib.compress(self._page.encode(), 9)).decode()
        still = self._waiting + self._picture()
        page = f"<!DOCTYPE html>{still}{UNPACK.replace('PAGE', packed)}"
        return (
            f'<div><iframe title="{html.escape(self._title)}" '
            'sandbox="allow-scripts allow-forms allow-downloads" allow="clipboard-write" '
            'style="width: 100%; height: 760px; border: 0" '
            f'srcdoc="{html.escape(page)}">{still}</iframe>{LISTENER}</div>'
        )

    def _file(self) -> str:
        """The page as a file: where scripts are off, its picture stands there."""
        return self._page.replace("</noscript>", f"{self._picture()}</noscript>", 1)

    def save(self, filename: str | os.PathLike[str]) -> str:
        """Write the page (.html), which needs no network. ValueError for another ending."""
        path = Path(filename)
        if path.suffix.lower() not in (".html", ".htm"):
            found = f"the file name {str(filename)!r}"
            raise ValueError(refusal("save", found, "one that ends in .html"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._file(), encoding="utf-8")
        return str(filename)

    def open(self) -> None:
        """Show the page in a browser."""
        webbrowser.open(Path(self.save(f"{tempfile.mkdtemp()}/page.html")).as_uri())


def assembled(title: str, script: str, *styles: str) -> str:
    """The text of a page; styles: texts of style sheets."""
    link = f' href="{html.escape(address)}"' if (address := project()) else ""
    held = {"title": html.escape(title), "style": "\n</style>\n<style>\n".join(styles)}
    return Template(read("page.html")).substitute(held, script=script, link=link)


def read(name: str, package: str = "autodiff.pages") -> str:
    """A file of web/, without what speaks to its readers alone."""
    text = resources.files(package).joinpath(f"web/{name}").read_text("utf-8")
    if not name.endswith((".js", ".css")):
        return text
    bare = re.sub(r"^ *//.*\n| // .*|^ +| */\*[^*]*\*/\n?", "", text, flags=re.MULTILINE)
    return bare if name.endswith(".js") else re.sub(r"\s*([{};,])\s*|(?<=:) +", r"\1", bare)


def tightened(script: str) -> str:
    """A script a hundredth shorter: without spaces around operators that no text in it has."""
    return re.sub(r" (=>|&&|[!=]==|\?\??|:|\|\|) |(?<=\)) (?={)", r"\1", script)


def project() -> str | None:
    """The address of the project, if it has one."""
    with suppress(PackageNotFoundError):  # run from a folder
        urls = metadata("scalar-autodiff").get_all("Project-URL", [])
        return dict(url.split(", ", 1) for url in urls).get("Homepage")
    return None


def home() -> str | None:
    """The published page on which a formula is typed, if the project has an address."""
    return f"{address.rstrip('/')}/notebooks/graph.html" if (address := project()) else None


def as_json(data: Any) -> str:
    """Data as JavaScript; no text in it can end the script."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def learning(kind: str, data: dict[str, Any], programs: str, still: str = "") -> Page:
    """A page of PARTS: its data, and the programs that the compiler printed."""
    script = [f"const programs = {{\n{programs}\n}};", *(read(f"{x}.js") for x in PARTS[kind])]
    styles = ["hand.css", "learning.css"] if kind == "training" else ["descent.css", "learning.css"]
    return _of_data(data, script, "\n".join(map(read, styles)), still)


def lesson(
    kind: str, data: dict[str, Any], still: str = "", rules: Mapping[str, str] | None = None
) -> Page:
    """A page of the course, whose script stands in its own folder; rules: by their names."""
    held = ", ".join(f"{name}: {rule}" for name, rule in (rules or {}).items())
    files = [*(read(f"{x}.js") for x in LESSON), read(f"{kind}.js", COURSE)]
    script = [f"const rules = {{ {held} }};", *files]
    return _of_data(data, script, read("lessons.css", COURSE), still)


def _of_data(data: dict[str, Any], script: list[str], style: str, still: str) -> Page:
    title, script = data["title"], [f"const data = {as_json(data)};", *script]
    return Page(assembled(title, "\n".join(script), read("base.css"), style), title, still)


def formula(root: Value, names: Iterable[tuple[Value, str]]) -> str:
    """The formula of a node in these names; "" if it would be hard to read."""
    first = {leaf: (name.split() or [""])[0] for leaf, name in names}
    nodes = topological_order(root)
    text = formula_of(nodes, {x: first.get(x, x.label or "") for x in nodes})
    return text if len(text) < 60 and "[" not in text else ""
