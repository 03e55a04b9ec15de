"""What `tests/affected.py` says that a change can reach."""

from pathlib import PurePosixPath

import affected
import pytest

pytestmark = pytest.mark.skipif(not affected.git("ls-files"), reason="an archive has no history")

REACHED = {  # what has changed, and by name: what it must reach, and what it must not
    "ops.py": (["test_ops", "test_reference", "test_readme", "test_live", "05"], []),
    "groups.py": (["test_batch", "test_grids", "test_purity", "10"], ["test_linalg", "02"]),
    "optim.py": (["optim", "test_optim", "test_reference", "08"], ["test_value", "03"]),
    "dot.py": (["test_dot", "test_main", "drawing", "04"], ["test_value", "test_losses", "02"]),
    "tracing.py": (["test_tracing", "test_live", "04"], ["test_value"]),
    "course/training.py": (["test_exercises", "test_notebooks", "08"], ["test_fitting", "07"]),
    "core.js": (["test_live", "test_trainer", "test_readme", "04"], ["test_value", "test_fit"]),
    "dial.js": (["test_course", "test_notebooks", "00"], ["test_value"]),
    "graph.html": (["test_readme"], ["test_ops"]),
    "optimizers_by_pytorch.json": (["test_optim"], ["test_fitting", "08"]),
    "command-line.md": (["test_readme", "test_archive"], ["test_main", "02"]),
    "README.md": (["test_readme", "test_archive", "test_notebooks"], ["test_ops", "01"]),
    "05_one_page_of_derivatives.ipynb": (["05", "test_notebooks", "test_readme"], ["04"]),
    "answers/training.py": (["test_exercises"], ["test_course", "08"]),
    "support/trainings.py": (["test_fitting", "test_optim"], ["test_value", "08"]),
    "tests/conftest.py": (["test_value", "test_readme"], ["value"]),
    "pyproject.toml": (["test_value", "value", "test_notebooks"], []),
}


def file(name):
    (found,) = [x for x in affected.FILES if f"/{x}".endswith(f"/{name}")]
    return found


def names(found):
    """Tests and modules by their names, notebooks by their numbers."""
    return {PurePosixPath(x).stem[: 2 if x.endswith(".ipynb") else None] for x in found}


@pytest.mark.parametrize(("name", "some", "others"), [(x, *y) for x, y in REACHED.items()])
def test_a_change_reaches_what_uses_it_and_not_everything(name, some, others):
    found = names(affected.reached({file(name)}))
    assert {*some} <= found
    assert not {*others} & found


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("optim.py", {"optim", "test_optim"}),
        ("groups.py", {"test_stages"}),
        ("README.md", {"test_readme"}),
        ("08_training.ipynb", {"08"}),
        ("test_dot.py", {"test_dot"}),
    ],
)
def test_what_stands_next_to_a_change_comes_first(name, first):
    changed = file(name)
    assert names(affected.next_to(changed, affected.reached({changed}))) == first


def test_a_notebook_is_run_alone():
    found = affected.reached({file("08_training.ipynb")})
    *_, last = affected.commands(found)
    assert last == f"{affected.PYTEST} {affected.NOTEBOOKS} -k 'not graded or 08'"
    assert all((affected.ROOT / each).exists() for each in (affected.NOTEBOOKS, affected.PAGES))
