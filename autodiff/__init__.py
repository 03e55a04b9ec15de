"""Automatic differentiation on scalars: an engine to read in an afternoon, accurate enough to use.

    >>> from autodiff import Value
    >>> a, b = Value(-4.0, label="a"), Value(2.0, label="b")
    >>> c = a * b + b**3
    >>> c.backward()
    >>> c.data, a.grad, b.grad
    (0.0, 2.0, 8.0)

Numbers to compute with:

- `Value`: a node of a graph; `backward()` finds the derivative with respect to each node.
- `Vector`, `Matrix`: rows of Values; products with `@`, everything else entry by entry.
- `Dual`: a number and its tangent, for forward mode.

Derivatives of a function, with JAX's names; they nest:

- `grad`, `value_and_grad`: the gradient by reverse mode; the value and the gradient.
- `jvp`, `vjp`: the Jacobian times a direction, and a direction times the Jacobian.
- `jacfwd`, `jacrev`: the whole Jacobian, column by column or row by row.
- `hessian`, `hvp`: second derivatives; the Hessian times a direction.

Operations on any kind of number, listed in `engine/ops.py`:

- `exp`, `expm1`, `log`, `log1p`, `sqrt`, `abs`, `hypot`: powers, logarithms, sizes.
- `sin`, `cos`, `tan`, `asin`, `acos`, `atan`, `atan2`, `sinh`, `cosh`: of angles, hyperbolic.
- `tanh`, `sigmoid`, `relu`, `softplus`, `erf`: activations.
- `sum`, `prod`, `dot`, `logsumexp`: many numbers in one operation.
- `maximum`, `minimum`, `where`, `less`: choices and comparisons.
- `operation`: adds an operation of your own, given its result and its derivative.

Checks, graphs and pictures:

- `check_gradients`, `finite_difference`: derivatives checked, and approximated, by differences.
- `trace`: a computation as a table, with derivatives; `steps`: the backward pass, node by node.
- `draw`: the graph as a picture; `show_steps`: the graph live.
- `show_training`: your model learns in a page; `show_descent`: a function, and the way down.
- `scope`: names a part of a computation, which `draw` frames.
- `topological_order`, `adjoints`: a graph's nodes, all its derivatives.
- `Expression`: a graph to run again with other numbers, or compiled to a program.

Networks:

- `autodiff.nn`: layers, losses, `fit`.
- `autodiff.optim`: SGD, Adagrad, RMSprop, Adam.

On the command line, `python -m autodiff "x*y + sin(x)" x=2 y=3` prints a value, its gradient and
the trace; `--help` says more.

Anything but a number raises a TypeError; a number outside the domain of an operation raises a
ValueError or a ZeroDivisionError that names the operation and the number.

The parts, each above those that it stands on:

    tiny.py          the whole idea on one screen
    engine/          Value, Dual, Vector, grad: the numbers and their derivatives, in reading order
    optim.py         SGD, Adagrad, RMSprop, Adam
    compiler/        graphs as programs, number by number or with arrays; trace tables
    nn/              layers, losses and training
    pictures/        draw: graphs drawn
    pages/           show_steps, show_training, show_descent: live, in a browser
    course/          the exercises and figures of the notebooks
    __main__.py      the command line, and its expressions
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from .engine import ops as ops
from .engine.decorators import operation
from .engine.dual import Dual
from .engine.graph import adjoints, topological_order
from .engine.linalg import Matrix, Vector
from .engine.checks import check_gradients, finite_difference
from .engine.ops import *  # noqa: F403
from .engine.ops import abs as abs
from .engine.ops import sum as sum
from .engine.scopes import scope
from .engine.transforms import grad, hessian, hvp, jacfwd, jacrev, jvp, value_and_grad, vjp
from .engine.value import Value

if TYPE_CHECKING:
    from . import nn as nn
    from . import optim as optim
    from .compiler.expression import Expression
    from .pages.descent import show_descent
    from .pictures.drawing import draw
    from .pages.live import show_steps
    from .pages.training import show_training
    from .engine.stepwise import steps
    from .compiler.tracing import trace

__version__ = "0.1.0"

# Without abs and sum, so that `from autodiff import *` hides no builtin.
__all__ = [
    "Dual", "Expression", "Matrix", "Value", "Vector", "adjoints", "check_gradients", "draw",
    "finite_difference", "grad", "hessian", "hvp", "jacfwd", "jacrev", "jvp", "operation", "scope",
    "show_descent", "show_steps", "show_training", "steps", "topological_order", "trace",
    "value_and_grad", "vjp",
]  # fmt: skip
__all__ += ops.__all__

# What is built on the engine is imported on first use: the names, and where they are.
_LATER = {
    "Expression": "compiler.expression", "draw": "pictures.drawing", "nn": "nn", "optim": "optim",
    "show_descent": "pages.descent", "show_steps": "pages.live", "show_training": "pages.training",
    "steps": "engine.stepwise", "trace": "compiler.tracing", "tracing": "compiler.tracing",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _import_module(f".{_LATER[name]}", __name__)
    found = globals()[name] = getattr(module, name, module)
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *_LATER, "abs", "sum"})
