"""The notebooks of a fresh clone, opened in JupyterLab: untrusted, and nothing has been run."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname, urlopen

import pytest
from browser import eventually

from notebooks import NOTEBOOKS, PATHS, code_cells, read

pytestmark = pytest.mark.skipif(not find_spec("jupyterlab"), reason="needs JupyterLab")
NUDGES = NOTEBOOKS / "01_numeric_derivatives.ipynb"
README = NOTEBOOKS.with_name("README.md")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a JupyterLab that has never seen these notebooks."""
    import nbformat
    from nbformat import sign

    folder = tmp_path_factory.mktemp("jupyter")
    shutil.copytree(NOTEBOOKS, folder / "notebooks")
    trusted = nbformat.read(NUDGES, as_version=4)
    trusted.metadata.title = "one that is trusted, by what is in it"
    nbformat.write(trusted, folder / "notebooks/trusted.ipynb")
    (folder / "data").mkdir()  # records which notebooks are trusted
    notary = sign.NotebookNotary(data_dir=str(folder / "data"))
    notary.sign(trusted)
    notary.store.close()  # a database, which it leaves open
    settings = folder / "settings/@jupyterlab/notebook-extension/tracker.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"windowingMode": "none"}')  # all cells at once, not those in sight
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = "_DATA", "_CONFIG", "_RUNTIME", "LAB_SETTINGS", "LAB_WORKSPACES"
    folders = {f"JUPYTER{x}_DIR": str(folder / x.split("_")[1].lower()) for x in own}
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}",
        "--IdentityProvider.token=", f"--ServerApp.root_dir={folder / 'notebooks'}",
    ]  # fmt: skip
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, env=os.environ | folders, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"

    def answers():
        assert process.poll() is None, (folder / "log").read_text()
        with contextlib.suppress(OSError):
            urlopen(f"{address}/api").close()
            return True
        return False

    try:
        eventually(answers, seconds=120)
        yield address
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(30)
        process.kill()  # if it still asks its kernels to end
        process.wait()


def test_the_command_of_the_readme_opens_the_first_notebook(tmp_path):
    """With a browser that only says what it was told to open."""
    (command,) = re.findall(r"^\.venv/bin/python (-m jupyter .*)", README.read_text("utf-8"), re.M)
    arguments = [sys.executable, *command.split(), "--allow-root"]
    env = os.environ | {"BROWSER": "echo opened %s", "JUPYTER_RUNTIME_DIR": str(tmp_path)}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(arguments, cwd=README.parent, env=env, **streams) as process:
        try:
            address = next(line for line in process.stdout if line.startswith("opened"))
            page = Path(url2pathname(urlsplit(address.split()[1]).path)).read_text("utf-8")
        finally:
            process.kill()
    assert "/lab/tree/00_start_here.ipynb?token=" in page


SEEN = """(() => {
  const all = (what) => [...document.querySelectorAll(`.jp-Notebook ${what}`)];
  const outputs = (what) => all(`.jp-OutputArea-output ${what}`), boxes = outputs("details");
  const large = (i) => i.complete && i.naturalWidth > 20 && i.clientWidth > 20;
  return {
    cells: all(".jp-Cell").length, images: outputs("img").filter(large).length,
    drawings: all(".jp-OutputArea-output").some((o) => o.textContent.includes("<Drawing:")),
    boxes: boxes.length, open: boxes.some((box) => box.open), frames: all("iframe").length,
    told: document.querySelector(".jp-Notebook")?.innerText.includes("error -0.3679"),
  };
})()"""


def pictures(path):
    """How many outputs of a notebook are pictures, or frames with one inside."""
    data = [o.data for c in code_cells(path) for o in c.outputs if "data" in o]
    return sum(any(k.startswith("image/") or "<img" in v for k, v in d.items()) for d in data)


@pytest.mark.parametrize("name", [*(PATHS[i].name for i in (1, 4, 5, 7)), "trusted.ipynb"])
def test_before_anything_is_run_pictures_are_seen_and_answers_wait_in_boxes(browser, server, name):
    path = NUDGES if name == "trusted.ipynb" else NOTEBOOKS / name
    boxes = sum(cell.source.count("with after_your_guess(") for cell in code_cells(path))
    browser.open(f"{server}/lab/tree/{name}?reset", settle=False)

    def complete():
        found = browser.evaluate(SEEN)
        whole = found["cells"] == len(read(path).cells) and found["boxes"] == boxes
        return whole and found["images"] + found["frames"] >= pictures(path)

    eventually(complete, seconds=90)
    found = browser.evaluate(SEEN)
    assert found["drawings"] is found["open"] is found["told"] is False
    assert (found["frames"] > 0) == (name == "trusted.ipynb")
    if path == NUDGES:
        browser.evaluate("document.querySelector('.jp-OutputArea-output details').open = true")
        assert browser.evaluate(SEEN)["told"]
