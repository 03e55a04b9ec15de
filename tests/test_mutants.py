"""The script that changes the engine, on a small file; and the list of survivors."""

import gc
from pathlib import Path

import pytest

pytest.importorskip("resource", reason="Windows has no fork")
import mutants

SOURCE = '''
def step(x: float = 1.0, up: bool = True):
    """A docstring, which is no code: 1 + 1."""
    if x < 0 and up:
        raise ValueError(message("step", "x < 0", "x >= 0"))
    return -x + 2
'''

CHANGES = {
    ("1.0", "2.0"), ("True", "False"), ("x < 0 and up", "(not (x < 0 and up))"), ("and", "or"),
    ("<", "<="), ("0", "1"), ('raise ValueError(message("step", "x < 0", "x >= 0"))', "pass"),
    ("return -x + 2", "return None"), ("+", "-"), ("-", " "), ("2", "3"),
}  # fmt: skip


def test_the_changes_of_a_function(tmp_path):
    path = tmp_path / "step.py"
    path.write_text(SOURCE)
    found = mutants.changes(path)
    assert {(SOURCE[x.start : x.end], x.text) for x in found} == CHANGES
    for change in mutants.changes(path):
        compile(change.of(SOURCE), "step.py", "exec")
        assert mutants.is_a_change(change)


def test_existing_functions_get_their_new_code(tmp_path):
    path = tmp_path / "made.py"
    source = "def make(n):\n    return lambda x: x + n\n\n\nsame = lambda x: 2 * 1\n"
    names = {}
    exec(compile(source, str(path), "exec"), names)
    add = names["make"](3)
    gc.collect()
    pairs = mutants.code_pairs(path, source, source.replace("+", "-"))
    differ = [old.co_qualname for old, new in pairs if mutants.own(old) != mutants.own(new)]
    assert differ == ["make.<locals>.<lambda>"]
    mutants.replaced(pairs)
    assert add(1) == -2  # made before the change
    assert names["make"](3)(1) == -2


def test_each_survivor_is_a_change_of_its_file_and_has_a_reason():
    listed = mutants.reasons()
    assert all(listed.values())
    for path in {path for path, _ in listed}:
        file = Path(mutants.ROOT, *path.split("/"))
        source = file.read_text(encoding="utf-8")
        changes = {change.described(source) for change in mutants.changes(file)}
        assert {change for other, change in listed if other == path} <= changes
