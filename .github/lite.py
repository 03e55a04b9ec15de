"""Adds the course in the browser to the site: `python .github/lite.py pages`, after pages.py.

Needs Python 3.12, the extra `lite` and npm. JupyterLite and Pyodide are copied into `pages/lite`,
with the wheels that its kernel needs and this package, so that the kernel starts without
another host. NumPy, matplotlib and their like are compiled for Pyodide: a cell that imports
one of them loads it from Pyodide's own distribution, over the network.

Run so far, offline in Chromium: every cell of notebooks 0 to 4. The kernel is ready after half a
minute, and whatever needs none of those libraries gives what is committed: all of notebook 3, and
notebook 4 but for pictures, which need Graphviz (text stands in their place), and for the two cells
with long chains, which end Pyodide. Never run: notebooks 5 to 10, and any cell with a library from
the network. No workflow publishes it.
"""

import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import nbformat

ROOT = Path(__file__).parent.parent
KERNEL = ["micropip", "packaging", "ipython", "jedi"]  # what the kernel asks Pyodide for
OTHERS = ["comm", "graphviz"]  # what it and this package ask a package index for
FAR = "https://cdn.jsdelivr.net/pyodide"  # what is compiled for Pyodide
FIRST = """# This page runs Python in your browser; the first start takes up to half a minute.
import piplite

await piplite.install("scalar-autodiff", deps=False)
await piplite.install("graphviz", deps=False)
try:
    import numpy  # named here, so that the kernel loads it: the package uses it too
except ModuleNotFoundError:
    print("NumPy could not be loaded: cells that need it will fail.")"""


def run(*command: object, cwd: Path | None = None) -> str:
    arguments = [*map(str, command)]
    return subprocess.run(arguments, check=True, capture_output=True, text=True, cwd=cwd).stdout


def download(folder: Path, *wheels: str) -> None:
    """Wheels of pure Python; Pyodide's Python is newer than the one that runs this."""
    options = ["--no-deps", "--ignore-requires-python", "--only-binary=:all:", "--dest", folder]
    run(sys.executable, "-m", "pip", "download", *options, *wheels)


def closure(names: list[str], packages: dict) -> set[str]:
    """The packages and all that they depend on."""
    found: set[str] = set()
    while names:
        name = names.pop()
        if name not in found:
            found.add(name)
            names += [each.replace("_", "-") for each in packages[name]["depends"]]
    return found


def pyodide(work: Path) -> Path:
    """Pyodide as npm has it, with the kernel's wheels beside it: an archive for JupyterLite."""
    archive = run("npm", "pack", "--silent", "--pack-destination", work, "pyodide@314").split()[-1]
    with tarfile.open(work / archive) as packed:
        packed.extractall(work, filter="data")
    folder = (work / "package").rename(work / "pyodide")
    version = json.loads((folder / "package.json").read_text(encoding="utf-8"))["version"]
    lock = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))
    packages = lock["packages"]
    near = closure(list(KERNEL), packages)
    download(folder, *(f"{name}=={packages[name]['version']}" for name in near))
    wheels = {
        path.name.partition("-")[0].lower().replace("_", "-"): path for path in folder.glob("*.whl")
    }
    for name, package in packages.items():
        if name in near:  # pure Python: the package index has it
            package["file_name"] = wheels[name].name
            package["sha256"] = hashlib.sha256(wheels[name].read_bytes()).hexdigest()
        else:
            package["file_name"] = f"{FAR}/v{version}/full/{package['file_name']}"
    (folder / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    with tarfile.open(work / "pyodide.tar.bz2", "w:bz2", compresslevel=1) as packed:
        packed.add(folder, "pyodide")
    return work / "pyodide.tar.bz2"


def notebooks(folder: Path) -> Path:
    """The notebooks without outputs, each with a first cell that installs the package."""
    folder.mkdir()
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        notebook.cells.insert(1, nbformat.v4.new_code_cell(FIRST, id="install"))
        notebook.metadata.kernelspec = {"name": "python", "display_name": "Python (Pyodide)"}
        nbformat.write(notebook, folder / path.name)
    return folder


def lite(pages: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", work / "own", ROOT)
        download(work / "own", *OTHERS)
        options = {"contents": notebooks(work / "contents"), "pyodide": pyodide(work)}
        options |= {"output-dir": pages.resolve() / "lite", "lite-dir": work / "contents"}
        wheels = [f"--piplite-wheels={path}" for path in (work / "own").glob("*.whl")]
        flags = [f"--{name}={value}" for name, value in options.items()]
        # it keeps notes of what is done in its folder, and a later build would leave that out
        run(Path(sys.executable).with_name("jupyter"), "lite", "build", *flags, *wheels, cwd=work)


if __name__ == "__main__":
    lite(Path(sys.argv[1] if len(sys.argv) > 1 else "pages"))
