"""What code for micrograd, and for other libraries, asks for in vain, and what to write instead.

With `tiny.py`, `Value(6.0, (x,), "+").backward()` is a TypeError that explains nothing.
"""

from typing import NoReturn

from .errors import message

_INSTEAD = {
    "Layer": "nn.Linear(2, 16, activation=relu)",
    "MLP": "nn.Sequential(nn.Linear(2, 16, activation=relu), nn.Linear(16, 1))",
    "Neuron": "nn.Linear(2, 1, activation=relu)",
    "_backward": "y.backward(), which walks all nodes, or for an operation of your own "
    "@autodiff.operation",
    "draw_dot": "draw(y)",
    "jacobian": "jacrev, or jacfwd if f has more results than inputs",
    "m": "a dict, {p: 0.0 for p in parameters}, or an optimiser of autodiff.optim",
}
_INSTEAD["v"] = _INSTEAD["m"]

PARENTS = message(
    "Value",
    "parents and an operation, as in micrograd",
    "a number and a label",
    "operators and functions record the rest; write an operation of your own with "
    "@autodiff.operation",
)


def _instead(name: str) -> str:
    return message(name, "a name of another library", _INSTEAD[name])


def refused(name: str) -> property:
    """An attribute of micrograd's Value, which can be neither read nor assigned here."""

    def refuse(*_: object) -> NoReturn:
        raise AttributeError(_instead(name))

    return property(refuse, refuse)


def missing(module: str, name: str) -> NoReturn:
    """Raise the error for a name that a module does not have.

    An ImportError for a name that another library has: Python drops the text of an AttributeError
    in `from autodiff import draw_dot`.
    """
    if name in _INSTEAD:
        raise ImportError(_instead(name))
    raise AttributeError(f"module {module!r} has no attribute {name!r}")
