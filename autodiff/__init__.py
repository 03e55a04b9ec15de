"""Automatic differentiation on scalars: an engine to read in an afternoon, accurate enough to use.

The engine, in the order in which to read it:

    ops.py           every operation once: its result and its backward closure
    value.py         Value: a node of the graph, and backward()
    graph.py         the nodes in order, and their adjoints
    number.py        operators and methods of every kind of number
    functions.py     the mathematical functions, values only
    errors.py        the words of error messages
    dual.py          Dual: forward mode
    transforms.py    grad, jvp, vjp, jacfwd, jacrev, hessian, hvp
    linalg.py        Vector and Matrix

What is built on it:

    numeric.py       finite differences, and a checker of gradients
    tracing.py       evaluation trace tables, and the backward pass in steps
    optim.py         SGD, Adagrad, RMSprop, Adam
    scopes.py        names for the parts of a computation
    parsing.py       expressions that are text, read without running them
    __main__.py      the command line: python -m autodiff "x*y + sin(x)" x=2 y=3
    nn/              layers, losses and training
    compiler/        graphs as programs, number by number or with arrays
    pictures/        graphs as drawings, and the backward pass to step through
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .dual import Dual
from .functions import abs as abs
from .functions import acos, asin, atan, cos, cosh, dot, erf, exp, hypot, less, less_equal, log
from .functions import logsumexp, maximum, minimum, power, prod, relu, sigmoid, sin, sinh
from .functions import softplus, sqrt
from .functions import sum as sum
from .functions import tan, tanh, where
from .graph import adjoints, sources, topological_order
from .linalg import Matrix, Vector
from .numeric import check_gradients, finite_difference
from .number import operation
from .scopes import scope
from .transforms import grad, hessian, hvp, jacfwd, jacrev, jvp, value_and_grad, vjp
from .value import Value

if TYPE_CHECKING:
    from . import nn as nn
    from . import optim as optim
    from .compiler.expression import Expression
    from .pictures.drawing import draw
    from .pictures.viewer import animate, show_steps
    from .tracing import steps, trace

__version__ = "0.1.0"

# Without abs and sum, so that `from autodiff import *` hides no builtin.
__all__ = [
    "Dual", "Expression", "Matrix", "Value", "Vector", "acos", "adjoints", "animate", "asin",
    "atan", "check_gradients", "cos", "cosh", "dot", "draw", "erf", "exp", "finite_difference",
    "grad", "hessian", "hvp", "hypot", "jacfwd", "jacrev", "jvp", "less", "less_equal", "log",
    "logsumexp", "maximum", "minimum", "operation", "power", "prod", "relu", "scope",
    "show_steps", "sigmoid", "sin", "sinh", "softplus", "sources", "sqrt", "steps", "tan",
    "tanh", "topological_order", "trace", "value_and_grad", "vjp", "where",
]  # fmt: skip

# What is built on the engine is imported when it is first used: the name, and where it is.
_LATER = {
    "Expression": "compiler.expression", "animate": "pictures.viewer", "draw": "pictures.drawing",
    "nn": "nn", "optim": "optim", "show_steps": "pictures.viewer", "steps": "tracing",
    "trace": "tracing", "tracing": "tracing",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'autodiff' has no attribute {name!r}")
    module = import_module(f".{_LATER[name]}", __name__)
    return module if _LATER[name] == name else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_LATER})
