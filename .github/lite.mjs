// Runs the notebooks of the course in the browser in Pyodide under Node.js: node lite.mjs pages/lite.
// A cell fails if it raises what it should not; what needs a library from the network is counted.
import fs from "node:fs";
import { pathToFileURL } from "node:url";

const lite = process.argv[2];
const { loadPyodide } = await import(pathToFileURL(`${lite}/static/pyodide/pyodide.mjs`));
const viz = await (await import(pathToFileURL(`${lite}/viz.mjs`))).instance();

const SETUP = `
import sys
sys.path.insert(0, "/site")
import autodiff_browser
from IPython.core.interactiveshell import InteractiveShell
autodiff_browser.spare_the_stack()
autodiff_browser.draw_by(viz)
shell = InteractiveShell.instance()
missing = pictures = 0

def publish(data, metadata=None, **kwargs):
    global pictures
    pictures += "image/svg+xml" in data

shell.display_pub.publish = publish
shell.displayhook.write_format_data = publish

def run(source, raises):
    """The error of a cell that should not have one, in a line."""
    global missing
    found = shell.run_cell(source)
    error = found.error_before_exec or found.error_in_exec
    # Where a library is missing, names are, too, and dots stay dots.
    if isinstance(error, ModuleNotFoundError) or (missing and isinstance(error, (NameError, TypeError, AttributeError))):
        missing += 1
    elif error is not None and not raises:
        return f"{type(error).__name__}: {error}"
`;

let failed = 0;
for (const name of fs.readdirSync(`${lite}/files`).filter((each) => each.endsWith(".ipynb"))) {
  const { cells } = JSON.parse(fs.readFileSync(`${lite}/files/${name}`));
  const py = await loadPyodide({ indexURL: `${lite}/static/pyodide/`, stdout: () => {}, stderr: () => {} });
  await py.loadPackage("ipython", { messageCallback: () => {} });
  for (const wheel of fs.readdirSync(`${lite}/pypi`).filter((each) => each.endsWith(".whl"))) {
    py.unpackArchive(new Uint8Array(fs.readFileSync(`${lite}/pypi/${wheel}`)), "wheel", { extractDir: "/site" });
  }
  py.globals.set("viz", viz);
  py.runPython(SETUP);
  const run = py.globals.get("run");
  run("from autodiff import Value, draw\ndraw(Value(2.0) * 3)", false);
  if (py.globals.get("pictures") !== 1) {
    console.log("draw gives no picture in SVG");
    failed += 1;
  }
  const code = cells.filter((cell) => cell.cell_type === "code" && cell.id !== "install");
  code.forEach((cell, i) => {
    const error = run([cell.source].flat().join(""), (cell.metadata.tags ?? []).includes("raises-exception"));
    if (error) console.log(`${name}, cell ${i}: ${error}`);
    failed += Boolean(error);
  });
  console.log(`${name}: ${code.length} cells, ${py.globals.get("missing")} need the network, ${py.globals.get("pictures")} pictures in SVG`);
}
process.exit(failed ? 1 : 0);
