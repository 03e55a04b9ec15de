"""The committed notebooks, read as JSON: nbformat takes seconds to import."""

import json
from pathlib import Path

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
CONTENTS, *LESSONS = PATHS


class Node(dict):
    """A dict whose entries are attributes; texts that a file cuts into lines are whole."""

    def __getattr__(self, name):
        return self[name]


def node(entries):
    texts = {key for key in entries if key in ("source", "text") or "/" in key}
    joined = {key: "".join(entries[key]) for key in texts if isinstance(entries[key], list)}
    return Node(entries | joined)


def read(path):
    return json.loads(path.read_text(encoding="utf-8"), object_hook=node)


def code_cells(path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def prose(path):
    cells = read(path).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
