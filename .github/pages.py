"""Writes the site: `python .github/pages.py pages`.

Needs the extra `docs`. The front is the page where one types a formula, which needs no Python. The
notebooks are shown as they are committed, with their outputs (nbconvert), the guides and the
changelog are Markdown, and the reference is made from the docstrings (pdoc). Formulas become MathML
(latex2mathml), so that no page asks another host for anything. Where the site and the repository
are, pyproject.toml says, or another that is named after the folder. If `pages/lite` is there (see
lite.py), each notebook has a button that opens it in the browser.
"""

import inspect
import json
import re
import shutil
import sys
from html import unescape
from pathlib import Path
from typing import Any

import jinja2
import latex2mathml.converter
import nbformat
from address import Address
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

import autodiff
from autodiff.pictures.pages import LISTENER

HERE = Path(__file__).parent
ROOT = HERE.parent
LINKS, PLACES = re.compile(r'href="#([^"]+)"'), re.compile(r'\sid="([^"]+)"')
FRONT = "Type a formula, drag its numbers, and watch the derivatives run back through it."
SOURCES = HERE / "site"  # the templates and the styles
GUIDES = ROOT / "notebooks" / "guides"
DISPLAYED = re.compile(r"\$\$(.+?)\$\$", re.S)  # a formula of its own line
TITLE = re.compile(r"^# (.*)$", re.M)
PART = re.compile(r'(?s)<(h[1-3])[^>]* id="([^"]+)"[^>]*>(.*?)</\1>(.*?)(?=<h[1-3][^>]* id=|\Z)')
MEMBER = re.compile(r'(?s)<(?:section|div) id="([^"]+)"[^>]*>(.*?)(?=<(?:section|div) id=|\Z)')


class Renderer(IPythonRenderer):
    """Markdown with formulas as MathML."""

    def inline_math(self, body: str) -> str:
        return latex2mathml.converter.convert(body.strip("$"))

    def block_math(self, body: str) -> str:
        return latex2mathml.converter.convert(body.strip("$\n "), display="block")

    multiline_math = block_math


def displayed(formula: re.Match[str]) -> str:
    return latex2mathml.converter.convert(formula[1], display="block")


def html(markdown: str) -> str:
    text = MarkdownWithMath(renderer=Renderer(escape=False)).render(markdown)
    return re.sub(r'<a class="anchor-link".*?</a>', "", text)  # the mark behind a heading


class Page:
    """A page of the site: its place, its title, what it shows, and its part of the menu."""

    def __init__(self, place: str, markdown: str, body: str, part: str = "") -> None:
        self.place, self.body, self.part = place, body, part
        self.title = TITLE.search(markdown)[1]  # type: ignore[index]
        said = re.findall(r"^(\*\*[^*]+\*\*|\w.*(?:\n\w.*)*)", TITLE.sub("", markdown), re.M)
        plain = [" ".join(re.sub(r"[*`]|\[|\]\(.*?\)", "", text).split()) for text in said]
        self.description = next(text for text in plain if len(text) > 20)
        self.up = "../" * place.count("/")


def notebook(path: Path) -> Page:
    """A notebook, with links to pages in place of files."""
    cells = nbformat.read(path, as_version=4).cells
    exporter = HTMLExporter(template_name="basic", filters={"markdown2html": html})
    body, _ = exporter.from_filename(str(path))
    body = re.sub(r'(href="[\w/.]+)\.ipynb(["#])', r"\1.html\2", body)
    body = re.sub(r'href="guides/([\w-]+)\.md(["#])', r'href="../\1.html\2', body)
    text = "\n\n".join(c.source for c in cells if c.cell_type == "markdown")
    return Page(f"notebooks/{path.stem}.html", text, body, "Course")


def front(**facts: Any) -> Page:
    """The page where one types a formula, and where to go from there."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    program = re.search("(?s)```python.*?```", readme)[0]  # type: ignore[index]
    text = template("front.html").render(listener=LISTENER, program=html(program), **facts)
    return Page("index.html", "# autodiff\n\n" + FRONT, text)


def guide(path: Path, address: Address, part: str = "Guides") -> Page:
    """A page of Markdown; of the code it links what the repository shows."""

    def code(link: re.Match[str]) -> str:
        place = address.place(relative(path.parent / link[1]))
        return f'<a href="{place}">{link[2]}</a>' if place else link[2]

    text = path.read_text(encoding="utf-8")
    body = re.sub(r'id="(.*?)"', lambda found: found[0].lower().replace(",", ""), html(text))
    body = re.sub(r'(href|src)="../(?=[\w-]+\.(?:html|ipynb|svg))', r'\1="notebooks/', body)
    body = re.sub(r'href="([\w/-]+)\.(?:md|ipynb)(["#])', r'href="\1.html\2', body)
    body = re.sub(r'<a href="(../[\w./]+\.(?:py|md))">(.*?)</a>', code, body)
    body = re.sub(r'"highlight"(><pre><span></span>\w+Error: )', r'"highlight error"\1', body)
    return Page(f"{path.stem.lower()}.html", text, body, part)


def relative(path: Path) -> str:
    """The path of a file in the repository."""
    return path.resolve().relative_to(ROOT).as_posix()


def template(name: str) -> jinja2.Template:
    loader = jinja2.FileSystemLoader(SOURCES)
    return jinja2.Environment(loader=loader, autoescape=False).get_template(name)


def write(folder: Path, pages: list[Page], **facts: Any) -> None:
    """The pages, each with the menu of all."""
    for page in pages:
        place = folder / page.place
        place.parent.mkdir(parents=True, exist_ok=True)
        text = template("page.html").render(page=page, pages=pages, **facts)
        place.write_text(text, encoding="utf-8")
    for name in ("syntax-highlighting.css", "site.css", "card.png"):
        shutil.copy(SOURCES / name, folder)
    for path in (ROOT / "notebooks").iterdir():
        if path.suffix in (".svg", ".png", ".webp", ".gif"):
            shutil.copy(path, folder / "notebooks")
    live = Page("notebooks/graph.html", "# The live graph\n\n" + FRONT, "")
    card = template("card.html").render(page=live, **facts)
    text = (
        (ROOT / live.place).read_text(encoding="utf-8").replace("</title>", f"</title>\n{card}", 1)
    )
    (folder / live.place).write_text(text, encoding="utf-8")


def example(operation: Any) -> str:
    """A call of an operation, with its derivative if it has one input, and what they give now."""
    taken = inspect.getfullargspec(operation.rule)
    count = 2 if taken.varargs else len(taken.args)
    numbers = [0.5] if count == 1 else [1.0, 2.0, 3.0][:count]
    inputs = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]][: operation.rows] or numbers
    name, result = operation.__name__, operation(*inputs)
    call = f"{name}({', '.join(map(repr, inputs))})"
    if inputs != [0.5]:
        return f">>> {call}\n{result}"
    return f">>> {call}, grad({name})(0.5)\n{result, autodiff.grad(operation)(0.5)}"


def reference(folder: Path, pages: list[Page], **facts: Any) -> None:
    """A page for each of autodiff, autodiff.nn and autodiff.optim, with the search and the menu."""
    import pdoc

    autodiff.__all__ += ["abs", "nn", "optim", "sum"]  # public, though not for import *
    for name in autodiff.__all__:  # some are imported on first use, which pdoc would miss
        getattr(autodiff, name)
    for operation in autodiff.ops.PAGE:  # of which pdoc reads the rule
        operation.__wrapped__.__doc__ = f"{inspect.getdoc(operation)}\n\n{example(operation)}"
    pdoc.render.configure(docformat="markdown", search=False, template_directory=SOURCES)
    to_html = pdoc.render.env.filters["to_html"]
    pdoc.render.env.filters["to_html"] = lambda text: to_html(DISPLAYED.sub(displayed, text))
    pdoc.render.env.globals.update(facts, pages=pages)
    pdoc.pdoc("autodiff", output_directory=folder / "reference")
    for path in (folder / "reference").rglob("*.html"):  # pdoc links members that it leaves out
        page = path.read_text(encoding="utf-8")
        for missing in {*LINKS.findall(page)} - {*PLACES.findall(page)}:
            page = page.replace(f' href="#{missing}"', "")
        path.write_text(page, encoding="utf-8")


def words(page: str) -> str:
    """What is to be read on a page, without code and formulas."""
    page = re.sub(r"(?s)<(pre|script|style|svg|math|label)\b.*?</\1>", " ", page)
    page = re.sub(r'<div class="prompt.*?</div>', "", page)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def index(folder: Path, pages: list[Page]) -> None:
    """search.js: of each part of each page the place, the title and the words."""
    titles = {page.place: page.title for page in pages}
    entries = []
    for path in sorted({*folder.rglob("*.html")} - {*folder.glob("lite/**/*.html")}):
        place = path.relative_to(folder).as_posix()
        main = path.read_text(encoding="utf-8").partition("<main")[2].partition("</main>")[0]
        if place in titles:
            parts = [(name, words(title), text) for _, name, title, text in PART.findall(main)]
            whole = f" · {titles[place]}"
            parts = [
                (name, title + whole * (whole[3:] != title), text) for name, title, text in parts
            ]
        else:
            whole = place[len("reference/") : -len(".html")].replace("/", ".")
            parts = [(name, f"{whole}.{name}", text) for name, text in MEMBER.findall(main)]
        entries += [[f"{place}#{name}", title, words(text)] for name, title, text in parts]
    text = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    (folder / "search.js").write_text(f"window.INDEX = [\n{text}\n];\n", encoding="utf-8")


def site(folder: Path, pyproject: Path = ROOT / "pyproject.toml") -> list[Any]:
    """The whole site."""
    address = Address.of(pyproject)
    facts = {"address": address, "lite": (folder / "lite").exists()}
    teachers = [GUIDES / "teachers.md", *sorted(GUIDES.glob("teach-*.md"))]
    pages = [
        front(**facts),
        *map(notebook, sorted((ROOT / "notebooks").glob("*.ipynb"))),
        *[guide(path, address) for path in sorted(GUIDES.glob("[!t]*.md"))],
        *[guide(path, address, "For teachers") for path in teachers],
        guide(HERE / "CHANGELOG.md", address),
    ]
    write(folder, pages, **facts)
    reference(folder, pages, **facts)
    index(folder, pages)
    return pages


if __name__ == "__main__":
    site(*map(Path, sys.argv[1:] or ["pages"]))
