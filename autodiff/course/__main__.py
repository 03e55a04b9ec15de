"""Runs a notebook, or all of a folder, each in a kernel of its own; prints the verdicts.

    python -m autodiff.course grade notebook.ipynb [--seconds 600]
    python -m autodiff.course grade folder --csv marks.csv --json marks.json

The exit status is 0 if all answers are right, 1 if not. Needs nbclient, which comes with Jupyter.
nbgrader would want a folder and a database of its own, and marks in the notebooks.
"""

import argparse
import csv
import json
import os
import re
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from tempfile import TemporaryDirectory
from typing import Any

from .verdicts import VERDICTS

COLUMNS = "notebook", "exercise", "right", "said"
OURS = {"__main__", "figures", "gallery", "our_engine", "verdicts", "your_engine"}
LESSONS = sorted({x.name for x in iter_modules([str(Path(__file__).parent)])} - OURS)
Noted = list[tuple[str, str, bool, str]]  # lesson, exercise, whether it is right, what is said


def executed(notebook: Any, folder: Path, seconds: int) -> Noted:
    """What the checks of a notebook note in a file while it runs; a cell has so many seconds."""
    from nbclient import NotebookClient
    from nbclient.exceptions import DeadKernelError

    where = {"metadata": {"path": str(folder)}}
    client = NotebookClient(
        notebook, timeout=seconds, interrupt_on_timeout=True, allow_errors=True, resources=where,
        extra_arguments=["--log-level=ERROR"],  # its warnings would stand between the verdicts
    )  # fmt: skip
    with TemporaryDirectory() as place:
        file = Path(place) / "verdicts"
        file.touch()
        with suppress(DeadKernelError):
            client.execute(env=os.environ | {VERDICTS: str(file)})
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def lesson_of(notebook: Any, name: str) -> str:
    """The lesson whose exercises a notebook has: it says so, or its name does, or what it imports."""
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    imports = re.findall(r"autodiff\.course\.(\w+ import .*\bcheck_)", "\n".join(code))
    for said in (notebook.metadata.get("autodiff", ""), name, " ".join(imports)):
        for lesson in LESSONS:
            if lesson in said:
                return lesson
    raise ValueError("this is no notebook of the course")


def verdicts(notebook: Any, lesson: str, noted: Noted, seconds: int) -> dict[str, tuple[bool, str]]:
    """What was said to each exercise of a lesson; once right, it stays right."""
    module = vars(import_module(f"autodiff.course.{lesson}"))
    found = {name[6:]: (False, "Never checked.") for name in sorted(module) if name[:6] == "check_"}
    for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
        for error in (o for o in cell.outputs if o.output_type == "error"):
            why = f"raises {error.ename}: {error.evalue}"
            if error.ename == "KeyboardInterrupt":
                why = f"takes more than {seconds} s"
            numbers = {*re.findall(r"\bcheck_(\d+)\(", cell.source)} & {*found}
            found |= dict.fromkeys(numbers, (False, f"The cell {why}"))
    for by, number, right, said in noted:
        if by == lesson and (right or not found[number][0]):
            found[number] = right, said
    return found


def graded(path: Path, seconds: int) -> dict[str, tuple[bool, str]]:
    """The verdicts on the notebook of a file; one that cannot be read has a single verdict."""
    import nbformat

    try:
        notebook = nbformat.read(path, as_version=4)
        lesson = lesson_of(notebook, path.name)
    except (OSError, ValueError) as error:  # of the file, or of what is in it
        return {"-": (False, f"Cannot be read: {error}")}
    return verdicts(notebook, lesson, executed(notebook, path.parent, seconds), seconds)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m autodiff.course", description=__doc__)
    parser.add_argument("command", choices=["grade"])
    parser.add_argument("place", type=Path, help="a notebook, or a folder, with those in it")
    parser.add_argument("--csv", type=Path, help="a file for a spreadsheet")
    parser.add_argument("--json", type=Path, help="a file for a program")
    parser.add_argument("--seconds", type=int, default=600, help="for each cell, default: 600")
    given = parser.parse_args(arguments)
    folder, paths = given.place.parent, [given.place]
    if given.place.is_dir():
        folder, paths = given.place, sorted(given.place.rglob("[!.]*.ipynb"))
        paths = [path for path in paths if ".ipynb_checkpoints" not in path.parts]
    if not (paths and all(path.is_file() for path in paths)):
        parser.error(f"there is no notebook {given.place}")
    rows = []
    for path in paths:
        try:
            found = graded(path, given.seconds)
        except ModuleNotFoundError as error:
            parser.error(f"{error.name} is missing; install it: pip install jupyter")
        name = path.relative_to(folder).as_posix()
        rows += [(name, number, int(right), said) for number, (right, said) in found.items()]
        if len(paths) > 1:
            print(name)
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
