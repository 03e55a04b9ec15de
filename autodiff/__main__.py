"""The command line: the value, the gradient and the trace of an expression.

    python -m autodiff "x*y + sin(x)" x=2 y=3

See `--help`. The expression is parsed by `parsing.py`, never executed as Python.
"""

import argparse
import io
import os
import sys
from collections.abc import Iterator, Sequence
from keyword import iskeyword
from pathlib import Path
from textwrap import fill
from typing import Any
from unicodedata import normalize

from .compiler.expression import Expression
from .errors import message, shortened
from .numeric import check_gradients
from .parsing import FUNCTIONS, DomainError, ExpressionError, parse
from .tracing import trace
from .transforms import grad, jvp
from .value import Value

LISTED = "\n".join(
    fill(f"  {takes:28}{names}", 80, subsequent_indent=" " * 30)
    for takes, names in FUNCTIONS.items()
)

ABOUT = """\
Differentiate an expression: its value, its gradient, and the table of every step.

  autodiff "x*y + sin(x)" x=2 y=3
"""

DETAILS = f"""\
An expression has numbers, names, + - * / ** and brackets, pi and e, and the functions

{LISTED}

Put it in quotes: * and brackets mean something to a shell. The number of a variable may itself be
an expression, such as x=pi/4.

examples:
  autodiff "exp(-x**2 / 2) / sqrt(2*pi)" x=0.5 --mode forward
  autodiff "a*b + b**3" a=-4 b=2 --draw graph.svg --steps backward.html
  autodiff "log(x) + x*y" x=2 y=5 --language javascript

exit status:
  0  all went well
  1  no result or derivative at these numbers, a check that fails, a file that cannot be written
  2  the command or the expression cannot be read
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default sys.argv, and return the exit status.

    >>> main(["x*y", "x=2", "y=3"])
    value   6.0
    ∂/∂x    3.0
    ∂/∂y    2.0
    <BLANKLINE>
    primal          value   adjoint         value
    ---------------------------------------------
    v₋₁ = x         2       v̄₋₁ = v̄₁·v₀     3
    v₀ = y          3       v̄₀ = v̄₁·v₋₁     2
    v₁ = v₋₁·v₀     6       v̄₁ = z̄          1
    z = v₁          6       z̄ = 1           1
    0
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # for terminals without ∂
    options = _options(sys.argv[1:] if argv is None else argv)
    try:
        for lines in _answers(options, _numbers(options.numbers)):
            print(lines)
        print(end="", flush=True)  # errors now, rather than when Python ends
    except ExpressionError as error:
        return _failed(error, 1 if isinstance(error, DomainError) else 2)
    except OSError as error:
        if error.filename is None:  # let Python write nothing more when it ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader has read enough, such as head
            return 1
        return _failed(f"cannot write {error.filename or 'the output'}: {error.strerror}", 1)
    except (ValueError, ArithmeticError, AssertionError, RuntimeError) as error:
        return _failed(error, 1)
    return 0


def _failed(reason: Any, status: int) -> int:
    print(f"autodiff: {reason}", file=sys.stderr)
    return status


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "autodiff", description=ABOUT, epilog=DETAILS, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("expression", type=_text, help="such as 'x*y + sin(x)'")
    add(
        "numbers", type=_text, nargs="*", metavar="name=number",
        help="the number of each variable: x=2",
    )  # fmt: skip
    add(
        "--mode", choices=("reverse", "forward"), default="reverse",
        help="how the gradient is computed; forward mode has a table for each variable",
    )  # fmt: skip
    for option, saved in (
        ("--draw", "the graph: .svg, .png, .pdf ..., .gv for DOT"),
        ("--steps", "the live graph, to step through and to change: .html"),
    ):
        add(option, type=_text, metavar="FILE", help=f"save {saved}")
    add("--source", action="store_true", help="print the derivative as a program instead")
    add(
        "--language", choices=("python", "javascript"),
        help="the language of the program; python by default",
    )  # fmt: skip
    add("--check", action="store_true", help="compare both modes with finite differences")
    # A leading dash is a minus sign, not an option: after a space argparse leaves it alone.
    negative = [f" {x}" if x[:1] == "-" and x[:2] != "--" and x != "-h" else x for x in argv]
    return parser.parse_intermixed_args(negative)


def _text(argument: str) -> str:
    """An argument without the space that `_options` put before a dash."""
    return argument[1:] if argument.startswith(" -") else argument


def _numbers(assignments: Sequence[str]) -> dict[str, float]:
    """The numbers of the variables, by name."""
    numbers: dict[str, float] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        name = normalize("NFKC", name.strip())  # as Python reads names
        if not (equals and name.isidentifier()) or iskeyword(name):
            reason = f"{shortened(assignment)} is not a name and its number, such as x=2"
            raise ExpressionError(reason, assignment, 0, len(name) or 1)
        if name in numbers:
            raise ExpressionError(f"{name} is given twice", assignment, 0, len(name))
        numbers[name] = parse(text, [])()
    return numbers


def _answers(options: argparse.Namespace, numbers: dict[str, float]) -> Iterator[str]:
    """The parts of the output; the files that were asked for are written on the way."""
    f = parse(options.expression, list(numbers))
    variables = [Value(number, label=name) for name, number in numbers.items()]
    root = f(*variables)
    if not isinstance(root, Value):
        expected = "one with variables, such as x*y"
        raise ValueError(message("expression", f"the constant {root}", expected))
    if options.language == "javascript":
        yield Expression(root).javascript(variables, wrt=variables)
    elif options.source or options.language:
        yield Expression(root).compile(variables, wrt=variables).source.rstrip()
    else:
        yield from _tables(f, numbers, options.mode)
    if options.check:
        check_gradients(f, *numbers.values())
        yield "\nforward mode, reverse mode and central differences agree"
    if options.draw is not None:
        yield _drawn(root, options.draw)
    if options.steps is not None:
        from .pictures.viewer import show_steps

        yield f"wrote {show_steps(root).save(options.steps)}"


def _tables(f: Any, numbers: dict[str, float], mode: str) -> Iterator[str]:
    """The value and the gradient, then the trace."""
    names, at = list(numbers), tuple(numbers.values())
    if mode == "reverse":
        gradient = grad(f, range(len(at)))(*at)
        tables = [f"\n{trace(f, *at, mode=mode)}"]
    else:
        seeds = [tuple(float(i == j) for i in range(len(at))) for j in range(len(at))]
        gradient = [jvp(f, at, seed)[1] for seed in seeds]
        tables = [f"\nalong {name}:\n{trace(f, *at, mode=mode, wrt=name)}" for name in names]
    rows = {"value": f(*at)} | {f"∂/∂{name}": slope for name, slope in zip(names, gradient)}
    width = max(map(len, rows)) + 3
    yield from (f"{name:{width}}{number}" for name, number in rows.items())
    yield from tables


def _drawn(root: Value, filename: str) -> str:
    from .pictures.drawing import draw

    if not Path(filename).suffix:
        expected = "one with an ending, such as graph.svg"
        raise ValueError(message("--draw", f"the file name {filename!r}", expected))
    root.backward()
    return f"wrote {draw(root).save(filename)}"


if __name__ == "__main__":
    sys.exit(main())
