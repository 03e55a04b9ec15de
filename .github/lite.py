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

ROOT = Path(__file__).parent.parent
KERNEL = ["micropip", "packaging", "ipython", "jedi"]  # what the kernel asks Pyodide for
OTHERS = ["comm", "graphviz"]  # what it and this package ask a package index for
FAR = "https://cdn.jsdelivr.net/pyodide"  # what is compiled for Pyodide
VIZ = "@viz-js/viz@3"
LIBRARIES = {
    "numpy": "numpy",
    "matplotlib": "matplotlib",
    "sympy": "sympy",
    "sklearn": "scikit-learn",
}
IMPORT = re.compile(r"^\s*(?:import|from) ([\w.]+)", re.M)
FIRST = """# This page runs Python in your browser; the first start takes up to half a minute.
import piplite

await piplite.install(["scalar-autodiff", "graphviz", "autodiff-browser"], deps=False)
await piplite.install({libraries})

import autodiff_browser

await autodiff_browser.start()"""


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


def viz(work: Path, output: Path) -> None:
    """Graphviz as a script: an ES module in one file."""
    (work / "viz").mkdir()
    archive = run("npm", "pack", "--silent", "--pack-destination", work / "viz", VIZ).split()[-1]
    with tarfile.open(work / "viz" / archive) as packed:
        packed.extractall(work / "viz", filter="data")
    shutil.copy(work / "viz" / "package" / "dist" / "viz.js", output)


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


def libraries(source: str) -> list[str]:
    """What a notebook needs of Pyodide's distribution: itself, or by the module of its lessons."""
    names = {"numpy"}
    for name in IMPORT.findall(source):
        path = ROOT / f"{name.replace('.', '/')}.py"
        if name.startswith("autodiff.course.") and path.exists():
            names.update(libraries(path.read_text(encoding="utf-8")))
        names.update(
            {LIBRARIES[name.partition(".")[0]]} if name.partition(".")[0] in LIBRARIES else ()
        )
    if ".figures import" in source:
        names.add("matplotlib")
    return sorted(names)


def notebooks(folder: Path) -> Path:
    """The notebooks without outputs, each with a first cell that installs the package."""
    folder.mkdir()
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        source = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
        first = FIRST.format(libraries=libraries(source))
        notebook.cells.insert(1, nbformat.v4.new_code_cell(first, id="install"))
        notebook.metadata.kernelspec = {"name": "python", "display_name": "Python (Pyodide)"}
        nbformat.write(notebook, folder / path.name)
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
        viz(work, pages / "lite" / "viz.mjs")


if __name__ == "__main__":
    pages = Path(next((x for x in sys.argv[1:] if x != "--run"), "pages")).resolve()
    lite(pages)
    if "--run" in sys.argv:
        script = ROOT / ".github" / "lite.mjs"
        numbers = [f"{i:02}" for i in range(11)]
        subprocess.run(["node", script, pages / "lite", *numbers], check=True)
