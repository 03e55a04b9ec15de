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

PREAMBLE = """\
import autodiff
from autodiff import Dual, Matrix, Value, Vector, draw, exp, grad, hypot, maximum, sin
from autodiff import hessian, jacfwd, jacrev, value_and_grad

x = Value(2.0, label="x")
v = Vector([1.0, 2.0, 3.0])
A = Matrix([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def f(x: Value) -> Value:
    return sin(x) * x


f(x).backward()
"""
REVEALED = {
    "str": ["autodiff.__version__", "x.label"],
    "bool": ["x.requires_grad", "x < 1", "v in [v]"],
    "float": ["exp(1.0)", "exp(1)", "autodiff.sum([1.0, 2.0])", "x.data + x.grad"],
    "Value": ["x", "x * x", "1 + x", "2**x", "-x", "x.exp()", "exp(x)", "maximum(x, 0.0)",
              "maximum(0, x)", "hypot(x, 1)", "autodiff.sum([x, x])", "v @ [1.0, 2.0, 3.0]", "v[0]",
              "v.dot(v)", "v.sum()", "v.norm()", "A[0, 1]"],
    "Vector": ["v * 2", "2 * v", "x * v", "v * x", "v + [1.0, 2.0, 3.0]", "exp(v)", "A @ v",
               "A @ [1.0, 2.0, 3.0]", "A[0]"],
    "Matrix": ["A @ A.T"],
    "Dual": ["Dual(1.0, 1.0) * 2"],
    "Drawing": ["draw(x)"],
    "Any": ["grad(f)(x)", "grad(grad(f))(x)", "grad(grad(sin))(2.0)", "hessian(jacfwd(jacrev(exp)))(2.0)",
            "grad(grad(lambda x: x**3))(2.0)", "grad(grad(lambda x, y: x * y), 1)(2.0, 3.0)"],
    "tuple[Any, Any]": ["value_and_grad(grad(maximum, 1))(2.0, 3.0)"],
}  # fmt: skip
WRONG = ["x.backwards()", 'grad(grad(f))("x")']


def checked(checker, folder, *options):
    """What a type checker says of the scripts in a folder."""
    environment = dict(os.environ)
    installed = any(importlib.metadata.distributions(name="scalar-autodiff"))
    if not installed or "PYTHONPATH" in environment:  # else the checkers find it by themselves
        environment["MYPYPATH"] = str(ROOT)
        paths = json.dumps({"extraPaths": [str(ROOT)]})
        (folder / "pyrightconfig.json").write_text(paths, encoding="utf-8")
    command = [sys.executable, "-m", checker, *options, "."]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    ).stdout


# A program has no annotations of its own to be strict about; scipy has no types.
UNTYPED = ["--allow-untyped-defs", "--allow-untyped-calls", "--disable-error-code=import-untyped"]
OPTIONS = {"mypy": ["--strict", *UNTYPED], "pyright": ["--pythonpath", sys.executable]}


@pytest.mark.thorough
@pytest.mark.parametrize(("checker", "options"), OPTIONS.items(), ids=OPTIONS)
def test_a_script_of_a_user_and_the_programs_of_the_guide(checker, options, tmp_path):
    guide = ROOT / "notebooks" / "guides" / "programs.md"
    programs = re.findall(r'```python\n(""".*?)```', guide.read_text(encoding="utf-8"), re.S)
    assert len(programs) == 5
    for i, program in enumerate(programs):
        (tmp_path / f"program{i}.py").write_text(program, encoding="utf-8")
    pairs = [(kind, expression) for kind, found in REVEALED.items() for expression in found]
    asked = [f"reveal_type({expression})" for _, expression in pairs]
    script = [*PREAMBLE.splitlines(), *WRONG, *asked]
    (tmp_path / "script.py").write_text("\n".join(script), encoding="utf-8")
    output = checked(checker, tmp_path, *options)
    errors = re.findall(r"(\w+)\.py:(\d+).*\berror\b", output)
    wrong = [(file, script[int(i) - 1]) for file, i in errors]
    assert wrong == [("script", line) for line in WRONG], output
    found = re.findall(r'(?:Revealed type is|Type of ".*" is) "(.*)"', output)
    assert [(x.rpartition(".")[2], y) for x, (_, y) in zip(found, pairs)] == pairs, output
