"""How symbols are written: lines, signs, brackets."""

import pytest

from autodiff import Expression, Value
from autodiff.compiler.printer import wrapped


def test_a_power_is_a_sign_where_it_is_real_and_else_a_call():
    x = Value(2.0)
    for y, text in ((x**3, "x1 ** 3.0"), (2.0**x, "2.0 ** x1"), (x**0.5, "power(x1, 0.5)")):
        assert f"    v1 = {text}\n" in Expression(y).compile([x], wrt=[]).source


TERMS = " + ".join(f"term{i}" for i in range(20))  # longer than a line


@pytest.mark.parametrize(
    ("line", "joined"),
    [
        (f"    x = {TERMS}", f"    x = ({TERMS})"),
        (f"    return {TERMS}", f"    return ({TERMS})"),
        (f"    x = f({TERMS})", f"    x = f({TERMS})"),
        (f"    x = ({TERMS}) * f(y)", f"    x = (({TERMS}) * f(y))"),
        (f"    x = f(y) * ({TERMS})", f"    x = (f(y) * ({TERMS}))"),
        (f"def program({TERMS}):", f"def program({TERMS}):"),
        (f"    # {TERMS}", f"    # {TERMS}"),
        (f"    x = {TERMS}  # (n,)", f"    x = ({TERMS})"),
    ],
)
def test_a_long_line_is_broken_where_python_may_break_it(line, joined):
    lines = wrapped(line)
    more = "    # " if "#" in joined else " " * (len(line) - len(line.lstrip()) + 4)
    assert len(lines) == 2
    assert max(map(len, lines)) <= 100
    assert lines[1].startswith(more)
    assert f"{lines[0]} {lines[1].removeprefix(more)}" == joined


def test_a_line_that_fits_is_left_alone():
    assert wrapped("x" * 100) == ["x" * 100]
    assert wrapped(f"{'x' * 95}  # (n,)") == ["x" * 95]  # the remark is left out
    assert len(wrapped(f"    x = {'y + ' * 22}yyyyy")) == 2  # 101
