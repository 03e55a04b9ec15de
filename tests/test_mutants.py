"""The script that changes the engine, on a small file; and the list of survivors."""

import ast
import gc

import pytest

pytest.importorskip("resource", reason="Windows has no fork")
import mutants

SOURCE = '''
def step(x: float = 1.0, up: bool = True):
    """A docstring, which is no code: 1 + 1."""
    if x < 0 and up:
        raise ValueError(message("step", "x < 0", "x >= 0"))
    return -x + 2

def make(n):
    return lambda x: x + n
'''

CHANGES = {
    ("1.0", "2.0"), ("True", "False"), ("x < 0 and up", "x < 0 or up"), ("x < 0", "x <= 0"), ("0", "1"),
    ("if x < 0 and up:", "if not (x < 0 and up):"), ("raise ValueError", "pass"), ("return -x + 2", "return"),
    ("-x + 2", "-x - 2"), ("-x", "x"), ("2", "3"), ("return lambda x: x + n", "return"), ("x + n", "x - n"),
}  # fmt: skip


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "step.py"
    path.write_text(SOURCE)
    return path


def test_the_changes_of_a_function(path):
    found = list(mutants.changes(path))
    lines = [
        [ast.unparse(part).split("\n")[0].split("(message")[0] for part in (x.old, x.new)]
        for x in found
    ]
    assert sorted(map(tuple, lines)) == sorted(CHANGES)
    assert all(change.changes_code() for change in found)
    trees = found[0].tree, ast.parse(SOURCE)  # each was undone, and all are where they were
    assert len({ast.dump(tree, include_attributes=True) for tree in trees}) == 1


def test_existing_functions_get_their_new_code(path):
    (change,) = (x for x in mutants.changes(path) if ast.unparse(x.new) == "x - n")
    names = {}
    exec(compile(SOURCE, str(path), "exec"), names)
    add = names["make"](3)
    gc.collect()
    both = list(mutants.pairs(*change.codes()))
    differ = [old.co_qualname for old, new in both if mutants.own(old) != mutants.own(new)]
    assert differ == ["make.<locals>.<lambda>"]
    mutants.replace(both)
    assert add(1) == names["make"](3)(1) == -2  # made before the change, and after


def test_each_survivor_is_a_change_of_its_file_and_has_a_reason():
    listed = mutants.reasons()
    assert all(listed.values())
    for path in {path for path, _ in listed}:
        found = {change.described() for change in mutants.changes(mutants.ROOT / path)}
        assert {change for other, change in listed if other == path} <= found
