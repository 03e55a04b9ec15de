"""Writes the site: `python .github/pages.py pages`, with the extra `docs`.

The front is the page where one types a formula, which needs no Python. The notebooks are shown as
they are committed, with their outputs (nbconvert), the guides and the changelog are Markdown, and
the reference is made from the docstrings (pdoc). Formulas become MathML (latex2mathml), so that no
page asks another host for anything. Where the site and the repository are, pyproject.toml says, or
another that is named after the folder. If `pages/lite` is there (see lite.py), each notebook has a
button that opens it in the browser. Sphinx with MyST-NB, tried, takes 268 lines less, but the site
is 17 MB for 5, and its search knows no sections; lunr.js stems better, and is 30 kB of script.
"""

import inspect
import json
import re
import shutil
import sys
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import jinja2
import latex2mathml.converter
import nbformat
from address import Address
from bs4 import BeautifulSoup, NavigableString, Tag
from mistune import HTMLRenderer
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

import autodiff
from autodiff import nn, optim
from autodiff.pages.page import LISTENER

HERE = Path(__file__).parent
ROOT = HERE.parent
LINKS, PLACES = re.compile(r'href="#([^"]+)"'), re.compile(r'\sid="([^"]+)"')
FRONT = "Type a formula, drag its numbers, and watch the derivatives run back through it."
LIVE = {  # the pages that need no Python, in notebooks/
    "network": ("Who pulls this weight?", "Build a network, and see which points move it."),
    "graph": ("The live graph", FRONT),
    "reads": (
        "Draw a digit",
        "It reads your hand, and says why: an engine of 155 lines learnt it.",
    ),
}
SOURCES = HERE / "site"  # the templates and the styles
NOTEBOOKS = ROOT / "notebooks"
GUIDES = NOTEBOOKS / "guides"
DISPLAYED = re.compile(r"\$\$(.+?)\$\$", re.S)  # a formula of its own line
FORMULA = re.compile(r"\$([^$\n]+)\$")
TITLE = re.compile(r"^# (.*)$", re.M)
HEADINGS = ["h1", "h2", "h3"]
RAISED = ["msup", "msub", "msubsup", "mfrac", "mtable", "mover", "munder", "munderover"]
UNREAD = ["pre", "script", "style", "svg", "label"]  # which the search leaves out


class Renderer(IPythonRenderer):
    """Markdown as the site shows it: formulas as MathML, and links to pages in place of files."""

    def __init__(self, path: Path, address: Address) -> None:
        super().__init__(escape=False)
        self.path, self.address = path, address

    def inline_math(self, body: str) -> str:
        return latex2mathml.converter.convert(body.strip("$"))

    def block_math(self, body: str) -> str:
        return latex2mathml.converter.convert(body.strip("$\n "), display="block")

    multiline_math = block_math

    def heading(self, text: str, level: int, **attrs: Any) -> str:
        """With a place as Jupyter names it, or GitHub in a page of Markdown."""
        name = re.sub('<.*?>|"|&quot;', "", text).replace(" ", "-")
        github = self.path.suffix == ".md"
        name = re.sub(r"[^\w-]", "", name.lower()) if github else name
        return HTMLRenderer.heading(self, text, level, id=name)

    def block_code(self, code: str, info: str | None = None) -> str:
        if re.match(r"\w+Error: ", code):
            return f'<div class="highlight error"><pre>{self.escape_html(code)}</pre></div>\n'
        return super().block_code(code, info)

    def link(self, text: str, url: str, title: str | None = None) -> str:
        place = self.place(url)
        return super().link(text, place, title) if place else text

    def image(self, text: str, url: str, title: str | None = None) -> str:
        return super().image(text, self.place(url), title)

    def place(self, url: str) -> str:
        """Where a link leads on the site; of the code what the repository shows, "" if unknown."""
        if re.match(r"\w+:|#", url):
            return url
        name, sign, part = url.partition("#")
        file = (self.path.parent / name).resolve()
        if file.parent == GUIDES or file.name == "CHANGELOG.md":
            place = f"{file.stem.lower()}.html"
        elif file.parent == NOTEBOOKS:
            page = file.with_suffix(".html") if file.suffix == ".ipynb" else file
            place = f"notebooks/{page.name}"
        else:
            return self.address.place(file.relative_to(ROOT).as_posix())
        return "../" * (self.path.parent == NOTEBOOKS) + place + sign + part


def html(markdown: str, path: Path, address: Address) -> str:
    """The Markdown of a file as HTML."""
    return MarkdownWithMath(renderer=Renderer(path, address)).render(markdown)


def parts(page: str, tags: list[str]) -> list[tuple[str, str, str]]:
    """What one finds on a page: place, heading and words of each element with a place."""
    content = BeautifulSoup(page, "html.parser")
    for element in content([*UNREAD, "button"]) + content(class_="prompt"):
        element.decompose()
    for formula in content("math"):  # what is more than a row cannot be said in a line
        formula.replace_with("…" if formula(RAISED) else formula.get_text())
    found: list[tuple[str, str, list[str]]] = []
    for node in content.descendants:
        if isinstance(node, Tag) and node.name in tags and node.get("id"):
            found.append((str(node["id"]), " ".join(node.get_text().split()), []))
        elif isinstance(node, NavigableString) and found and not node.find_parent(HEADINGS):
            found[-1][2].append(node)
    return [(place, title, " ".join(" ".join(words).split())) for place, title, words in found]


class Page:
    """A page of the site: its place, its title, what it shows, and its part of the menu."""

    def __init__(self, place: str, markdown: str, body: str, part: str = "") -> None:
        self.place, self.body, self.part = place, body, part
        self.title = TITLE.search(markdown)[1]  # type: ignore[index]
        said = re.findall(r"^(\*\*[^*]+\*\*|\w.*(?:\n\w.*)*)", TITLE.sub("", markdown), re.M)
        plain = [" ".join(re.sub(r"[*`]|\[|\]\(.*?\)", "", text).split()) for text in said]
        self.description = next(text for text in plain if len(text) > 20)
        self.up = "../" * place.count("/")
        self.parts = [(name, title) for name, title, _ in parts(body, ["h2"])]


def notebook(path: Path, address: Address) -> Page:
    """A notebook."""
    cells = nbformat.read(path, as_version=4).cells
    filters = {"markdown2html": partial(html, path=path, address=address)}
    exporter = HTMLExporter(template_name="basic", filters=filters)
    body, _ = exporter.from_filename(str(path))
    text = "\n\n".join(c.source for c in cells if c.cell_type == "markdown")
    return Page(f"notebooks/{path.stem}.html", text, body, "Course")


def plot() -> str:
    """What the program of the front page plots: x·sin(x), and its slope."""

    def curve(kind: str, f: Callable[[float], Any]) -> str:
        points = [(100 + 15 * x, 65 - 9 * float(f(x))) for x in (i / 10 for i in range(-60, 61))]
        return f'<path class="{kind}" d="M{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'

    def f(x: Any) -> Any:
        return x * autodiff.sin(x)

    return (
        '<figure><svg class="plot" viewBox="0 0 200 130" aria-hidden="true">'
        f'<path d="M10 65H190M100 5V125"/>{curve("f", f)}{curve("slope", autodiff.grad(f))}</svg>'
        '<figcaption><b class="value">x·sin x</b>, and <b class="gradient">its slope</b>'
        "</figcaption></figure>"
    )


def front(address: Address, **facts: Any) -> Page:
    """The page where one types a formula, and where to go from there."""
    path = ROOT / "README.md"
    program = re.search("(?s)```python.*?```", path.read_text(encoding="utf-8"))[0]  # type: ignore[index]
    facts |= {"program": html(program, path, address), "plot": plot()}
    facts |= {"listener": LISTENER, "address": address}
    return Page("index.html", "# autodiff\n\n" + FRONT, template("front.html").render(facts))


def guide(path: Path, address: Address, part: str = "Guides") -> Page:
    """A page of Markdown."""
    text = path.read_text(encoding="utf-8")
    return Page(f"{path.stem.lower()}.html", text, html(text, path, address), part)


def template(name: str) -> jinja2.Template:
    loader = jinja2.FileSystemLoader(SOURCES)
    return jinja2.Environment(loader=loader, autoescape=False).get_template(name)


def write(folder: Path, pages: list[Page], **facts: Any) -> None:
    """The pages, each with the menu of all."""
    for page in pages:
        if page.part == "Reference":  # pdoc writes it
            continue
        place = folder / page.place
        place.parent.mkdir(parents=True, exist_ok=True)
        text = template("page.html").render(page=page, pages=pages, **facts)
        place.write_text(text, encoding="utf-8")
    for name in ("site.css", "card.png"):
        shutil.copy(SOURCES / name, folder)
    for path in NOTEBOOKS.iterdir():
        if path.suffix in (".svg", ".png", ".webp", ".gif"):
            shutil.copy(path, folder / "notebooks")
    for name, (title, about) in LIVE.items():
        live = Page(f"notebooks/{name}.html", f"# {title}\n\n{about}", "")
        card = template("card.html").render(page=live, **facts)
        text = (ROOT / live.place).read_text(encoding="utf-8")
        text = text.replace("</title>", f"</title>\n{card}", 1)
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


def manual(module: ModuleType) -> Page:
    """The page of a module, of which pdoc writes the body."""
    name = module.__name__
    place = f"reference/{name.replace('.', '/')}.html"
    return Page(place, f"# {name}\n\n{module.__doc__}", "", "Reference")


def documented(said: str, taken: Collection[str], address: Address) -> str:
    """A docstring as HTML, with formulas as MathML and parameters as a list.

    A paragraph that begins with names of parameters and a colon is one: "f: a function; x: where".
    """
    from pdoc.render_helpers import to_html

    names = "|".join(taken) or "(?!)"
    item = re.compile(rf"(?:^|(?<=[.;]) )((?:(?:{names}), )*(?:{names})): ", re.M)

    def converted(text: str) -> str:
        maths = Renderer(ROOT, address)
        text = DISPLAYED.sub(lambda formula: maths.block_math(formula[0]), text)
        return to_html(FORMULA.sub(lambda formula: maths.inline_math(formula[0]), text))

    def shown(paragraph: str) -> str:
        if not item.match(paragraph):
            return paragraph
        _, *parts = item.split(paragraph)
        listed = zip(parts[::2], parts[1::2])
        items = [
            f"<dt>{', '.join(f'<code>{x}</code>' for x in name.split(', '))}</dt>"
            f"<dd>{converted(inspect.cleandoc(text.rstrip(';')))}</dd>"
            for name, text in listed
        ]
        return f"<dl>{''.join(items)}</dl>"

    return converted("\n\n".join(map(shown, said.split("\n\n"))))


def taken(documented: Any) -> list[str]:
    """The names of the parameters of a function or a class."""
    try:
        return [*inspect.signature(documented).parameters]
    except (TypeError, ValueError):  # neither, or a builtin
        return []


def reference(folder: Path, pages: list[Page], **facts: Any) -> None:
    """A page for each of autodiff, autodiff.nn and autodiff.optim."""
    import pdoc

    autodiff.__all__ += ["abs", "nn", "optim", "sum"]  # public, though not for import *
    for name in autodiff.__all__:  # some are imported on first use, which pdoc would miss
        getattr(autodiff, name)
    for operation in autodiff.engine.ops.LISTED:  # of which pdoc reads the rule
        operation.__wrapped__.__doc__ = f"{inspect.getdoc(operation)}\n\n{example(operation)}"
    pdoc.render.configure(docformat="markdown", search=False, template_directory=SOURCES)
    pdoc.render.env.filters["documented"] = lambda doc: documented(
        doc.docstring, taken(doc.obj), facts["address"]
    )
    pdoc.render.env.globals.update(facts, pages=pages)
    pdoc.pdoc("autodiff", output_directory=folder / "reference")
    for path in (folder / "reference").rglob("*.html"):  # pdoc links members that it leaves out
        page = path.read_text(encoding="utf-8")
        for missing in {*LINKS.findall(page)} - {*PLACES.findall(page)}:
            page = page.replace(f' href="#{missing}"', "")
        path.write_text(page, encoding="utf-8")


def index(folder: Path, pages: list[Page]) -> None:
    """search.js: of each part of each page the place, the title and the words."""
    titles = {page.place: page.title for page in pages}
    entries = []
    for path in sorted({*folder.rglob("*.html")} - {*folder.glob("lite/**/*.html")}):
        place = path.relative_to(folder).as_posix()
        main = path.read_text(encoding="utf-8").partition("<main")[2].partition("</main>")[0]
        if place in titles and not place.startswith("reference/"):
            whole = f" · {titles[place]}"
            found = parts(main, HEADINGS)
            found = [
                (name, title + whole * (whole[3:] != title), text) for name, title, text in found
            ]
        else:
            whole = place[len("reference/") : -len(".html")].replace("/", ".")
            members = parts(main, ["section", "div"])
            found = [(name, f"{whole}.{name}", text) for name, _, text in members]
        entries += [[f"{place}#{name}", title, text] for name, title, text in found]
    text = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    (folder / "search.js").write_text(f"window.INDEX = [\n{text}\n];\n", encoding="utf-8")


def site(folder: Path, pyproject: Path = ROOT / "pyproject.toml") -> list[Any]:
    """The whole site."""
    address = Address.of(pyproject)
    facts = {"address": address, "lite": (folder / "lite").exists()}
    teachers = [GUIDES / "teachers.md", *sorted(GUIDES.glob("teach-*.md"))]
    pages = [
        front(**facts),
        *[notebook(path, address) for path in sorted(NOTEBOOKS.glob("*.ipynb"))],
        *[guide(path, address) for path in sorted(GUIDES.glob("[!t]*.md"))],
        *map(manual, (autodiff, nn, optim)),
        *[guide(path, address, "For teachers") for path in teachers],
        guide(HERE / "CHANGELOG.md", address),
    ]
    write(folder, pages, **facts)
    reference(folder, pages, **facts)
    index(folder, pages)
    return pages


if __name__ == "__main__":
    site(*map(Path, sys.argv[1:] or ["pages"]))
