"""Runs a notebook in a kernel of its own and prints the verdict on each exercise.

    python -m autodiff.course grade notebook.ipynb [--json] [--seconds 600]

The exit status is 0 if all answers are right, 1 if not. Needs nbclient, which comes with Jupyter.
"""

import argparse
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

VERDICT = re.compile(r"^([✓✗]) (.*?)\s*(?=^[✓✗] |\Z)", re.MULTILINE | re.DOTALL)


def executed(notebook: Any, folder: Path, seconds: int) -> Any:
    """Run the cells of a notebook in that folder; a cell is stopped after so many seconds."""
    from nbclient import NotebookClient
    from nbclient.exceptions import DeadKernelError

    where = {"metadata": {"path": str(folder)}}
    client = NotebookClient(
        notebook, timeout=seconds, interrupt_on_timeout=True, allow_errors=True, resources=where
    )
    with suppress(DeadKernelError):  # a cell has ended the kernel; the cells before it count
        client.execute()
    return notebook


def verdicts(notebook: Any, seconds: int) -> dict[str, tuple[bool, str]]:
    """What was said to each exercise of an executed notebook, by its number."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    numbers = {n for cell in cells for n in re.findall(r"\bcheck_(\d+)", cell.source)}
    found: dict[str, tuple[bool, str]] = dict.fromkeys(sorted(numbers), (False, "Never checked."))
    for cell in cells:
        errors = [o for o in cell.outputs if o.output_type == "error"]
        printed = "".join(o.text for o in cell.outputs if o.get("name") == "stdout")
        said = [(mark == "✓", text) for mark, text in VERDICT.findall(printed)]
        for error in errors:
            late = error.ename == "KeyboardInterrupt"
            why = (
                f"takes more than {seconds} s" if late else f"raises {error.ename}: {error.evalue}"
            )
            said.append((False, f"The cell {why}"))
        found |= zip(re.findall(r"^check_(\d+)\(", cell.source, re.MULTILINE), said)
    return found


def main(arguments: list[str] | None = None) -> int:
    import nbformat

    parser = argparse.ArgumentParser("python -m autodiff.course", description=__doc__)
    parser.add_argument("command", choices=["grade"])
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    parser.add_argument("--seconds", type=int, default=600, help="for each cell, default: 600")
    given = parser.parse_args(arguments)
    if not given.notebook.is_file():
        parser.error(f"there is no file {given.notebook}")
    notebook = nbformat.read(given.notebook, as_version=4)
    found = verdicts(executed(notebook, given.notebook.parent, given.seconds), given.seconds)
    if given.json:
        rows = [{"exercise": int(n), "right": r, "text": text} for n, (r, text) in found.items()]
        print(json.dumps(rows, ensure_ascii=False, indent=1))
    else:
        for number, (right, text) in found.items():
            print(f"{number} {'✓' if right else '✗'} {text}")
        print(f"{sum(right for right, _ in found.values())} of {len(found)} are right")
    return 0 if all(right for right, _ in found.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
