"""Runs a notebook, or all of a folder, each in a kernel of its own; prints the verdicts.

    python -m autodiff.course grade notebook.ipynb [--seconds 600]
    python -m autodiff.course grade folder --csv marks.csv --json marks.json

The exit status is 0 if all answers are right, 1 if not. Needs nbclient, which comes with Jupyter.
"""

import argparse
import csv
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

COLUMNS = "notebook", "exercise", "right", "said"
VERDICT = re.compile(r"^([✓✗]) (.*?)\s*(?=^[✓✗] |\Z)", re.MULTILINE | re.DOTALL)


def executed(notebook: Any, folder: Path, seconds: int) -> Any:
    """Run the cells of a notebook in that folder; a cell is stopped after so many seconds."""
    from nbclient import NotebookClient
    from nbclient.exceptions import DeadKernelError

    where = {"metadata": {"path": str(folder)}}
    client = NotebookClient(
        notebook, timeout=seconds, interrupt_on_timeout=True, allow_errors=True, resources=where,
        extra_arguments=["--log-level=ERROR"],  # its warnings would stand between the verdicts
    )  # fmt: skip
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
            why = f"raises {error.ename}: {error.evalue}"
            if error.ename == "KeyboardInterrupt":
                why = f"takes more than {seconds} s"
            said.append((False, f"The cell {why}"))
        found |= zip(re.findall(r"^check_(\d+)\(", cell.source, re.MULTILINE), said)
    return found


def graded(path: Path, seconds: int) -> dict[str, tuple[bool, str]]:
    """The verdicts on the notebook of a file; one that cannot be read has a single verdict."""
    import nbformat

    try:
        notebook = nbformat.read(path, as_version=4)
    except (OSError, ValueError) as error:  # of the file, or of what is in it
        return {"-": (False, f"Cannot be read: {error}")}
    return verdicts(executed(notebook, path.parent, seconds), seconds)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m autodiff.course", description=__doc__)
    parser.add_argument("command", choices=["grade"])
    parser.add_argument("place", type=Path, help="a notebook, or a folder of them")
    parser.add_argument("--csv", type=Path, help="a file for a spreadsheet")
    parser.add_argument("--json", type=Path, help="a file for a program")
    parser.add_argument("--seconds", type=int, default=600, help="for each cell, default: 600")
    given = parser.parse_args(arguments)
    paths = sorted(given.place.glob("*.ipynb")) if given.place.is_dir() else [given.place]
    if not (paths and all(path.is_file() for path in paths)):
        parser.error(f"there is no notebook {given.place}")
    rows = []
    for path in paths:
        try:
            found = graded(path, given.seconds)
        except ModuleNotFoundError as error:
            parser.error(f"{error.name} is missing; install it: pip install jupyter")
        rows += [(path.name, number, int(right), said) for number, (right, said) in found.items()]
        if len(paths) > 1:
            print(path.name)
        for number, (right, said) in found.items():
            print(f"{number} {'✓' if right else '✗'} {said}")
        print(f"{sum(right for right, _ in found.values())} of {len(found)} are right", flush=True)
    if given.csv:
        with given.csv.open("w", encoding="utf-8-sig", newline="") as file:  # as Excel reads it
            csv.writer(file).writerows([COLUMNS, *rows])
    if given.json:
        marks = [dict(zip(COLUMNS, row)) for row in rows]
        given.json.write_text(json.dumps(marks, ensure_ascii=False, indent=1), encoding="utf-8")
    return 0 if all(right for _, _, right, _ in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
