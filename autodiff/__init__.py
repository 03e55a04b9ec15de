"""Automatic differentiation on scalars, small enough to read and right enough to use."""

from typing import TYPE_CHECKING, Any

from . import nn as nn
from . import optim as optim
from .dual import Dual
from .expression import Expression
from .functions import abs as abs
from .functions import acos, asin, atan, cos, cosh, dot, erf, exp, hypot, log, logsumexp
from .functions import maximum, minimum, power, prod, relu, sigmoid, sin, sinh, softplus, sqrt
from .functions import sum as sum
from .functions import tan, tanh, where
from .graph import adjoints, sources, topological_order
from .linalg import Matrix, Vector
from .numeric import check_gradients, finite_difference
from .operators import operation
from .scopes import scope
from .tracing import steps, trace
from .transforms import grad, hessian, hvp, jacfwd, jacrev, jvp, value_and_grad, vjp
from .value import Value

if TYPE_CHECKING:
    from .drawing import draw
    from .viewer import animate, show_steps

# Without abs and sum, so that `from autodiff import *` hides no builtin.
__all__ = [
    "Dual", "Expression", "Matrix", "Value", "Vector", "acos", "adjoints", "animate", "asin",
    "atan", "check_gradients", "cos", "cosh", "dot", "draw", "erf", "exp", "finite_difference",
    "grad", "hessian", "hvp", "hypot", "jacfwd", "jacrev", "jvp", "log", "logsumexp", "maximum",
    "minimum", "operation", "power", "prod", "relu", "scope", "show_steps", "sigmoid", "sin",
    "sinh", "softplus", "sources", "sqrt", "steps", "tan", "tanh", "topological_order", "trace",
    "value_and_grad", "vjp", "where",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import what needs other libraries only when it is used."""
    if name == "draw":
        from .drawing import draw

        return draw
    if name in ("animate", "show_steps"):
        from . import viewer

        return getattr(viewer, name)
    raise AttributeError(f"module 'autodiff' has no attribute {name!r}")
