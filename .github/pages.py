"""Writes the reference and the notebooks as web pages: `python .github/pages.py pages`.

Needs the extra `docs`. The reference is made by pdoc from the docstrings, the notebooks as they are
committed, with their outputs, by nbconvert.
"""

import re
import shutil
import sys
from pathlib import Path

import autodiff

ROOT = Path(__file__).parent.parent
NOTEBOOKS = "\n\n[The notebooks](notebooks/00_start_here.html) explain all this, step by step.\n"


def reference(folder: Path) -> None:
    """A page for each of autodiff, autodiff.nn and autodiff.optim."""
    import pdoc

    autodiff.__all__ += ["abs", "nn", "optim", "sum"]  # public, though not for import *
    for name in autodiff.__all__:  # some are imported on first use, which pdoc would miss
        getattr(autodiff, name)
    autodiff.__doc__ = f"{autodiff.__doc__}{NOTEBOOKS}"
    pdoc.render.configure(math=True, docformat="markdown")
    pdoc.pdoc("autodiff", output_directory=folder)


def notebooks(folder: Path) -> None:
    """The notebooks, with links from one to the other."""
    from nbconvert import HTMLExporter

    folder.mkdir(parents=True, exist_ok=True)
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        page, _ = HTMLExporter().from_filename(str(notebook))
        page = re.sub(r'(href="[\w/.]+)\.ipynb(["#])', r"\1.html\2", page)
        (folder / f"{notebook.stem}.html").write_text(page, encoding="utf-8")
    for ending in ("html", "svg", "png"):
        for other in (ROOT / "notebooks").glob(f"*.{ending}"):
            shutil.copy(other, folder)


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pages")
    reference(folder)
    notebooks(folder / "notebooks")
