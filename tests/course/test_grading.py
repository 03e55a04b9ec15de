"""`python -m autodiff.course grade`: the verdicts on a notebook, or on all of a folder."""

import csv
import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

from autodiff.course.__main__ import main
from notebooks import CONTENTS

needs_jupyter = pytest.mark.skipif(not find_spec("nbclient"), reason="needs Jupyter")

CELLS = [
    "from autodiff.course.reverse_mode import check_1, check_2, check_3, check_4, check_5",
    "check_1((7, 2))",
    "check_2(undefined)",
    "def send(node):\n    while True:\n        node.grad += 0\n\ncheck_3(send)",
    "def order(root):\n    return [root]\n\ncheck_4(order)",
]
ODD_CELLS = [
    "from autodiff.course.reverse_mode import *",
    "check_1((7, 2)); print('✗ no')",
    "check_1((0, 0))",
    "for answer in [solution_2]:\n    answer; check_2(answer)",
    "check_3 = print\ncheck_3('✓ Right')",
    "check_4(lambda node: None)\nprint('✓ Right')",
    "print('✓ Right')  # check_5(",
    "check_5(",
    "from autodiff.course.training import check_1 as other, solution_1 as right\nother(right)",
    "import os\nos._exit(1)",
    "check_6(solution_6)",
]


def grade(folder, notebooks, place, *options):
    """What grading prints, in a folder with notebooks of these cells."""
    import nbformat

    for name, cells in notebooks.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        made = nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_code_cell, cells)])
        nbformat.write(made, folder / name)
    command = [sys.executable, "-m", "autodiff.course", "grade", place, "--seconds", "4", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert (done.returncode, done.stderr) == (1, "")
    return done.stdout.splitlines()


@needs_jupyter
def test_a_notebook_in_an_empty_folder_is_graded(tmp_path):
    said = grade(tmp_path, {"mine.ipynb": CELLS}, "mine.ipynb")
    assert said[0].startswith("1 ✓ Right: u gets 5 + 5 - 3 = 7")
    assert "2 ✗ The cell raises NameError: name 'undefined' is not defined" in said
    assert "3 ✗ The cell takes more than 4 s" in said
    assert any(line.startswith("4 ✗ At p = a + a, the parents are missing") for line in said)
    assert "5 ✗ Never checked." in said
    assert said[-1] == "1 of 7 are right"


@needs_jupyter
def test_a_class_is_a_table_and_a_mark_is_what_a_check_of_the_lesson_says(tmp_path):
    (tmp_path / "broken.ipynb").write_text("no notebook", encoding="utf-8")
    checkpoint = "b/.ipynb_checkpoints/mine-checkpoint.ipynb"
    notebooks = {"a/04_reverse_mode.ipynb": ODD_CELLS, checkpoint: CELLS, "other.ipynb": []}
    said = grade(tmp_path, notebooks, ".", "--csv", "marks.csv", "--json", "marks.json")
    assert [line for line in said if line.endswith(".ipynb")] == [
        "a/04_reverse_mode.ipynb", "broken.ipynb", "other.ipynb",
    ]  # fmt: skip
    with (tmp_path / "marks.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [" ".join([row["notebook"], row["exercise"], row["right"]]) for row in rows] == [
        *[f"a/04_reverse_mode.ipynb {k} {int(k in '12')}" for k in "1234567"],
        "broken.ipynb - 0", "other.ipynb - 0",
    ]  # fmt: skip
    assert rows[-2]["said"].startswith("Cannot be read: ")
    assert rows[-1]["said"] == "Cannot be read: this is no notebook of the course"
    marks = json.loads((tmp_path / "marks.json").read_text(encoding="utf-8"))
    assert [{key: str(x) for key, x in row.items()} for row in marks] == rows


@pytest.mark.parametrize(
    ("place", "said"),
    [("nowhere.ipynb", "there is no notebook nowhere.ipynb"),
     (str(CONTENTS), "nbformat is missing; install it: pip install jupyter")],
    ids=["no notebook", "no Jupyter"],
)  # fmt: skip
def test_what_grading_needs(place, said, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "nbformat", None)
    with pytest.raises(SystemExit):
        main(["grade", place])
    assert said in capsys.readouterr().err
