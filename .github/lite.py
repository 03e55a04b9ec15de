"""Writes the course in the browser: `python .github/lite.py pages`, before pages.py.

Needs Python 3.12, the extra `lite` and npm. JupyterLite and Pyodide are copied into `pages/lite`,
with the wheels that its kernel needs, this package, and Graphviz as a script (viz.js), so that the
kernel starts without another host. NumPy, Matplotlib and their like are compiled for Pyodide: the
first cell of a notebook loads those that it needs from Pyodide's own distribution, by the network.

`python .github/lite.py pages --run` then runs every cell of the notebooks in Pyodide under Node.js,
without a network: whatever needs no such library has to work there.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from zipfile import ZipFile

import nbformat
from nbconvert.preprocessors import ClearOutputPreprocessor

ROOT = Path(__file__).parent.parent
KERNEL = ["micropip", "packaging", "ipython", "jedi"]  # what the kernel asks Pyodide for
OTHERS = ["comm", "graphviz"]  # what it and this package ask a package index for
FAR = "https://cdn.jsdelivr.net/pyodide"  # what is compiled for Pyodide
LIBRARIES = {"matplotlib": "matplotlib", "sympy": "sympy", "sklearn": "scikit-learn"}
IMPORT = re.compile(r"^\s*(?:import|from) ([\w.]+)", re.M)
FIRST = """# This page runs Python in your browser; the first start takes up to half a minute.
import piplite

await piplite.install(["scalar-autodiff", "graphviz", "autodiff-browser"], deps=False)
import autodiff_browser

await autodiff_browser.start({libraries})  # libraries that come over the network"""


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


def from_npm(package: str, folder: Path) -> Path:
    """A package of npm, unpacked."""
    with tempfile.TemporaryDirectory() as work:
        run("npm", "pack", "--silent", package, cwd=Path(work))
        with tarfile.open(*Path(work).glob("*.tgz")) as packed:
            packed.extractall(work, filter="data")
        return Path(shutil.copytree(Path(work, "package"), folder))


def pyodide(work: Path) -> Path:
    """Pyodide as npm has it, with the kernel's wheels beside it: an archive for JupyterLite."""
    folder = from_npm("pyodide@314", work / "pyodide")
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


def own_wheel(folder: Path) -> None:
    """browser.py as a wheel."""
    name = "autodiff_browser-0"
    facts = "Metadata-Version: 2.1\nName: autodiff-browser\nVersion: 0\n"
    kind = "Wheel-Version: 1.0\nGenerator: lite\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = {"METADATA": facts, "WHEEL": kind, "RECORD": ""}
    with ZipFile(folder / f"{name}-py3-none-any.whl", "w") as wheel:
        wheel.write(ROOT / ".github" / "browser.py", "autodiff_browser.py")
        for file, text in files.items():
            wheel.writestr(f"{name}.dist-info/{file}", text)


def imported(source: str) -> set[str]:
    """What a notebook imports: itself, or by the module of its lessons."""
    names = set(IMPORT.findall(source))
    for name in [name for name in names if name.startswith("autodiff.course.")]:
        names |= imported((ROOT / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8"))
    return names


def libraries(source: str) -> list[str]:
    """What a notebook needs of Pyodide's distribution."""
    names = {name.partition(".")[0] for name in imported(source)}
    return ["numpy", *(library for name, library in LIBRARIES.items() if name in names)]


def notebooks(folder: Path) -> Path:
    """The course without outputs, each notebook with a first cell that installs the package."""
    shutil.copytree(ROOT / "notebooks", folder)
    for path in folder.glob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        ClearOutputPreprocessor().preprocess(notebook, {})
        source = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
        first = FIRST.format(libraries=libraries(source))
        notebook.cells.insert(1, nbformat.v4.new_code_cell(first, id="install"))
        notebook.metadata.kernelspec = {"name": "python", "display_name": "Python (Pyodide)"}
        nbformat.write(notebook, path)
    return folder


def lite(pages: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", work / "own", ROOT)
        download(work / "own", *OTHERS)
        own_wheel(work / "own")
        options = {"contents": notebooks(work / "contents"), "pyodide": pyodide(work)}
        options |= {"output-dir": pages.resolve() / "lite", "lite-dir": work / "contents"}
        wheels = [f"--piplite-wheels={path}" for path in (work / "own").glob("*.whl")]
        flags = [f"--{name}={value}" for name, value in options.items()]
        # it keeps notes of what is done in its folder, and a later build would leave that out
        run(Path(sys.executable).with_name("jupyter"), "lite", "build", *flags, *wheels, cwd=work)
        script = from_npm("@viz-js/viz@3", work / "viz") / "dist" / "viz.js"  # an ES module
        shutil.copy(script, pages / "lite" / "viz.mjs")


if __name__ == "__main__":
    pages = Path(next((x for x in sys.argv[1:] if x != "--run"), "pages")).resolve()
    lite(pages)
    if "--run" in sys.argv:
        script = ROOT / ".github" / "lite.mjs"
        subprocess.run(["node", script, pages / "lite"], check=True)
