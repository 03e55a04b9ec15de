"""What code for micrograd asks for in vain, and what to write instead."""

from typing import NoReturn

from .errors import message

NODE = message(
    "Value",
    "what a node of micrograd holds",
    "a number and a label",
    "write an operation of your own with @autodiff.operation, call y.backward(), and keep state in "
    "a dict, {p: 0.0 for p in parameters}, or in autodiff.optim",
)
_INSTEAD = {
    "Layer": "nn.Linear(2, 16, activation=relu)",
    "MLP": "nn.Sequential(nn.Linear(2, 16, activation=relu), nn.Linear(16, 1))",
    "Neuron": "nn.Linear(2, 1, activation=relu)",
    "draw_dot": "draw(y)",
}


def _refuse(*_: object) -> NoReturn:
    raise AttributeError(NODE)


refused = property(_refuse, _refuse)  # can be neither read nor assigned


def missing(module: str, name: str) -> NoReturn:
    """Raise the error for a name that a module does not have.

    An ImportError for a name of micrograd: Python drops the text of an AttributeError in `from
    autodiff import draw_dot`.
    """
    if name in _INSTEAD:
        raise ImportError(message(name, "a name of micrograd", _INSTEAD[name]))
    raise AttributeError(f"module {module!r} has no attribute {name!r}")
