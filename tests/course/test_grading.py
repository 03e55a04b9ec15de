"""`python -m autodiff.course grade`: the verdicts on a notebook, or on all of a folder."""

import csv
import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

from autodiff.course.__main__ import main
from notebooks import CONTENTS

pytestmark = pytest.mark.skipif(not find_spec("nbclient"), reason="needs Jupyter")

IMPORT = "from autodiff.course.reverse_mode import check_1, check_2, check_3, check_4, check_5"
CELLS = [
    IMPORT,
    "check_1((7, 2))",
    "check_2(undefined)",
    "def send(node):\n    while True:\n        node.grad += 0\n\ncheck_3(send)",
    "def order(root):\n    return [root]\n\ncheck_4(order)",
]


def grade(folder, cells, *options, place="mine.ipynb", name="mine.ipynb", **metadata):
    import nbformat

    made = list(map(nbformat.v4.new_code_cell, cells))
    (folder / name).parent.mkdir(exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=made, metadata=metadata), folder / name)
    return subprocess.run(
        [sys.executable, "-m", "autodiff.course", "grade", place, "--seconds", "4", *options],
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip


def test_a_notebook_in_an_empty_folder_is_graded(tmp_path):
    done = grade(tmp_path, CELLS)
    assert (done.returncode, done.stderr) == (1, "")
    said = done.stdout.splitlines()
    assert said[0].startswith("1 ✓ Right: u gets 5 + 5 - 3 = 7")
    assert "2 ✗ The cell raises NameError: name 'undefined' is not defined" in said
    assert "3 ✗ The cell takes more than 4 s" in said
    assert any(line.startswith("4 ✗ At p = a + a, the parents are missing") for line in said)
    assert "5 ✗ Never checked." in said
    assert said[-1] == "1 of 6 are right"


TALK = [
    "print('✓ Right: u gets 5 + 5 - 3 = 7')  # check_1(",
    "check_2 = print\ncheck_2('✓ Right')",
    "check_3(lambda node: None)\nprint('✓ Right')",
]


@pytest.mark.parametrize(
    ("cells", "right"),
    [
        ([IMPORT, *TALK], []),
        ([IMPORT, "check_1((7, 2)); print('✗ no')", "check_1((0, 0))"], ["1"]),
        ([IMPORT, "for answer in [(7, 2)]:\n    answer; check_1(answer)"], ["1"]),
        ([IMPORT, "check_2(", "check_1((7, 2))"], ["1"]),
        ([IMPORT, "check_1((7, 2))", "import os\nos._exit(1)", "check_1((0, 0))"], ["1"]),
        (["from autodiff.course.training import check_1 as other", "other(0.2379)"], []),
    ],
    ids=["talk", "said", "inside a line", "bracket", "dead", "another lesson"],
)
def test_a_mark_is_what_a_check_of_the_lesson_says(cells, right, tmp_path):
    done = grade(tmp_path, cells, "--json", "marks.json", autodiff="reverse_mode")
    rows = json.loads((tmp_path / "marks.json").read_text(encoding="utf-8"))
    assert [row["exercise"] for row in rows] == [*"123456"], done.stderr
    assert [row["exercise"] for row in rows if row["right"]] == right


def test_a_class_as_a_table(tmp_path):
    (tmp_path / "broken.ipynb").write_text("no notebook", encoding="utf-8")
    (tmp_path / "b").mkdir()
    for place in ("a/04_reverse_mode", "b/.ipynb_checkpoints/mine-checkpoint", "other"):
        grade(tmp_path, [], name=f"{place}.ipynb")
    done = grade(tmp_path, CELLS[:2], "--csv", "marks.csv", "--json", "m.json", place=".")
    assert done.returncode == 1
    with (tmp_path / "marks.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["notebook"], row["exercise"]) for row in rows] == [
        *[("a/04_reverse_mode.ipynb", number) for number in "123456"],
        ("broken.ipynb", "-"),
        *[("mine.ipynb", number) for number in "123456"],
        ("other.ipynb", "-"),
    ]
    assert rows[6]["said"].startswith("Cannot be read: ")
    assert rows[-1]["said"] == "Cannot be read: this is no notebook of the course"
    assert [row["right"] for row in rows] == [*"00000001000000"]
    marks = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert [{key: str(x) for key, x in row.items()} for row in marks] == rows


def test_grading_without_jupyter():
    code = "import sys; sys.modules['nbformat'] = None\n"
    code += "from autodiff.course.__main__ import main; main(['grade', sys.argv[1]])"
    command = [sys.executable, "-c", code, CONTENTS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "nbformat is missing; install it: pip install jupyter" in done.stderr


def test_a_notebook_that_is_not_there(capsys):
    with pytest.raises(SystemExit):
        main(["grade", "nowhere.ipynb"])
    assert "there is no notebook nowhere.ipynb" in capsys.readouterr().err
