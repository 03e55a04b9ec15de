"""What type checkers say about a user's script, from outside the checkout."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Each line is checked; where a comment names a type, that is what the checkers must find.
SCRIPT = """\
import autodiff
from autodiff import Dual, Matrix, Value, Vector, draw, exp, grad, hypot, maximum, sin
from autodiff import hessian, jacfwd, jacrev, value_and_grad

autodiff.__version__  # str
x = Value(2.0, label="x")
x  # Value
x.label  # str
x.requires_grad  # bool
draw(x)  # Drawing
x * x  # Value
1 + x  # Value
2**x  # Value
-x  # Value
x.exp()  # Value
exp(x)  # Value
exp(1.0)  # float
exp(1)  # float
maximum(x, 0.0)  # Value
maximum(0, x)  # Value
hypot(x, 1)  # Value
autodiff.sum([x, x])  # Value
autodiff.sum([1.0, 2.0])  # float
x < 1  # bool
v = Vector([1.0, 2.0, 3.0])
A = Matrix([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
v * 2  # Vector
v + [1.0, 2.0, 3.0]  # Vector
v @ [1.0, 2.0, 3.0]  # Value
A @ [1.0, 2.0, 3.0]  # Vector
v in [v]  # bool
2 * v  # Vector
x * v  # Vector
v * x  # Vector
exp(v)  # Vector
v[0]  # Value
v.dot(v)  # Value
v.sum()  # Value
v.norm()  # Value
A @ v  # Vector
A @ A.T  # Matrix
A[0]  # Vector
A[0, 1]  # Value
Dual(1.0, 1.0) * 2  # Dual
w = x * x
w.backwards()  # error


def f(x: Value) -> Value:
    return sin(x) * x


f(x).backward()
x.data + x.grad  # float
grad(f)(x)  # Any
grad(grad(f))(x)  # Any
grad(grad(f))("x")  # error
grad(grad(sin))(2.0)  # Any
hessian(jacfwd(jacrev(exp)))(2.0)  # Any
value_and_grad(grad(maximum, 1))(2.0, 3.0)  # tuple[Any, Any]
grad(grad(lambda x: x**3))(2.0)  # Any
grad(grad(lambda x, y: x * y), 1)(2.0, 3.0)  # Any
"""


def revealed(line):
    """The line, with its expression's type revealed if a comment says what it is."""
    expression, comment, kind = line.partition("  # ")
    checked = comment and kind != "error" and "=" not in expression
    return f"reveal_type({expression})" if checked else line


def checked(checker, folder, *options):
    """What a type checker says of the scripts in a folder."""
    environment = dict(os.environ)
    installed = any(importlib.metadata.distributions(name="scalar-autodiff"))
    if not installed or "PYTHONPATH" in environment:  # else the checkers find it by themselves
        environment["MYPYPATH"] = str(ROOT)
        paths = json.dumps({"extraPaths": [str(ROOT)]})
        (folder / "pyrightconfig.json").write_text(paths, encoding="utf-8")
    usual = {"mypy": ["--strict"], "pyright": ["--pythonpath", sys.executable]}[checker]
    command = [sys.executable, "-m", checker, *usual, *options, "."]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    ).stdout


# A program has no annotations of its own to be strict about; scipy has no types.
UNTYPED = ["--allow-untyped-defs", "--allow-untyped-calls", "--disable-error-code=import-untyped"]


@pytest.mark.thorough
@pytest.mark.parametrize(("checker", "options"), [("mypy", UNTYPED), ("pyright", [])])
def test_a_script_of_a_user_and_the_programs_of_the_guide(checker, options, tmp_path):
    guide = ROOT / "notebooks" / "guides" / "programs.md"
    programs = re.findall(r'```python\n(""".*?)```', guide.read_text(encoding="utf-8"), re.S)
    assert len(programs) == 5
    for i, program in enumerate(programs):
        (tmp_path / f"program{i}.py").write_text(program, encoding="utf-8")
    path = tmp_path / "script.py"
    path.write_text("\n".join(map(revealed, SCRIPT.splitlines())), encoding="utf-8")
    output = checked(checker, tmp_path, *options)
    errors = [line for line in output.splitlines() if ".py:" in line and "error" in line]
    wrong = [i for i, line in enumerate(SCRIPT.splitlines(), 1) if line.endswith("# error")]
    assert [int(re.findall(r"script\.py:(\d+)", line)[0]) for line in errors] == wrong, output
    found = re.findall(r'(?:Revealed type is|Type of ".*" is) "(.*)"', output)
    expected = re.findall(r"  # (\w+|tuple.*)$", SCRIPT.replace("  # error", ""), re.M)
    assert [name.rpartition(".")[2] for name in found] == expected, output
