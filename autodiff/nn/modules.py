"""Layers: `Module`, which knows its parameters, `Linear` and `Sequential`."""

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

from ..errors import shortened
from ..functions import as_float
from ..linalg import Matrix, Vector
from ..scopes import Scope
from ..value import Value
from .initialisers import Rows, he_normal

Parameter = Value | Vector | Matrix


class Module:
    """A function with parameters: whatever Values, Vectors, Matrices and Modules it holds.

    A layer of your own derives from it, assigns its parameters as attributes, and defines
    `forward(x)`.

    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.factor = Value(2.0)
    ...     def forward(self, x):
    ...         return self.factor * x
    >>> Scale()(Vector([1.0, 2.0]))
    Vector(shape=(2,), [2, 4])
    >>> Scale().state_dict()
    {'factor': 2.0}
    """

    def __call__(self, x: Any) -> Any:
        with Scope(type(self).__name__, self):  # a box in drawings
            return self.forward(x)

    def forward(self, x: Any) -> Any:
        """The result for one sample x."""
        raise NotImplementedError(f"{type(self).__name__} has to define forward(self, x)")

    def _children(self) -> Iterable[tuple[str, Any]]:
        """The attributes, and the entries of those that are lists or tuples, by name."""
        for name, held in vars(self).items():
            if isinstance(held, (list, tuple)):
                yield from ((f"{name}.{i}", each) for i, each in enumerate(held))
            else:
                yield name, held

    def named_parameters(self) -> list[tuple[str, Parameter]]:
        """(dotted name, Value, Vector or Matrix) for each parameter, in order of assignment."""
        named: list[tuple[str, Parameter]] = []
        for name, held in self._children():
            if isinstance(held, Module):
                named += [(f"{name}.{inner}", p) for inner, p in held.named_parameters()]
            elif isinstance(held, (Value, Vector, Matrix)):
                named.append((name, held))
        return named

    def parameters(self) -> list[Value]:
        """All parameters as one flat list of Values, each once: what an optimiser takes."""
        found: dict[Value, None] = {}
        for _, parameter in self.named_parameters():
            found |= dict.fromkeys(_entries(parameter))
        return list(found)

    def zero_grad(self) -> None:
        """Set `grad` of every parameter to 0.0."""
        for parameter in self.parameters():
            parameter.grad = 0.0

    def state_dict(self) -> dict[str, Any]:
        """The numbers of all parameters by dotted name, as floats and lists: ready for JSON."""
        return {name: parameter.data for name, parameter in self.named_parameters()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Set all parameters to the numbers of a `state_dict`.

        ValueError, with a list of what is missing, unexpected, or of another shape, if it is not
        that of a model like this one; TypeError for what is no number. Then nothing is changed.
        """
        parameters = dict(self.named_parameters())
        faults = [f"missing: {name}" for name in parameters if name not in state]
        faults += [f"unexpected: {name}" for name in state if name not in parameters]
        for name in parameters:
            expected = _shape(parameters[name].data)
            if name in state and _shape(state[name]) != expected:
                faults.append(f"{name}: found shape {_shape(state[name])}, expected {expected}")
        if faults:
            raise ValueError("load_state_dict: " + "; ".join(faults))
        loaded = [
            (entry, as_float(number, f"load_state_dict, {name}"))
            for name, parameter in parameters.items()
            for entry, number in zip(_entries(parameter), _flat(state[name]))
        ]
        for entry, number in loaded:
            entry.data = number

    def __repr__(self) -> str:
        count = len(self.parameters())
        return f"{type(self).__name__}({self._described()}): {count} parameters"

    def _described(self) -> str:
        lines = [f"  {name}: {_name(held)}" for name, held in self._children() if callable(held)]
        return (
            "\n" + "\n".join(line.replace("\n", "\n  ") for line in lines) + "\n" if lines else ""
        )


class Linear(Module):
    """x -> activation(weight @ x + bias), entry by entry: a layer of out_features neurons.

    `weight` is a Matrix of shape (out_features, in_features), made by `init` (see
    `initialisers.py`) with a random generator of its own: seeded by `seed`, or differently each
    time. `bias` is a Vector of zeros, shape (out_features,), or None. `activation` is a function
    of one number, or None. x has shape (in_features,), and the result, always a Vector,
    (out_features,).

    ValueError for an x of another length, or sizes below 1.

    >>> layer = Linear(2, 3, seed=1)
    >>> layer(Vector([1.0, -1.0])).shape, len(layer.parameters())
    ((3,), 9)
    >>> layer
    Linear(in_features=2, out_features=3): 9 parameters
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        activation: Callable[[Any], Any] | None = None,
        init: Callable[[int, int, Random], Rows] = he_normal,
        seed: int | None = None,
    ) -> None:
        for name, size in (("in_features", in_features), ("out_features", out_features)):
            if not isinstance(size, int) or size < 1:
                raise ValueError(f"Linear: found {name} = {size!r}, expected a whole number >= 1")
        if activation is not None and not callable(activation):
            raise TypeError(
                f"Linear: found activation {activation!r}, expected a function, such as "
                "autodiff.relu, or None"
            )
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Matrix(init(in_features, out_features, Random(seed)))
        self.bias = Vector([0.0] * out_features) if bias else None
        self.activation = activation
        if self.weight.shape != (out_features, in_features):
            raise ValueError(
                f"Linear: found weights of shape {self.weight.shape} from init, expected "
                f"{(out_features, in_features)}"
            )

    def forward(self, x: Any) -> Vector:
        """activation(weight @ x + bias), for a Vector or a sequence of numbers x."""
        x = x if isinstance(x, Vector) else _input(x)
        if len(x) != self.in_features:
            raise ValueError(
                f"Linear: found an input of shape {x.shape}, expected ({self.in_features},)"
            )
        z = self.weight @ x
        if self.bias is not None:
            z = z + self.bias
        return z.map(self.activation) if self.activation else z  # type: ignore[no-any-return]

    def _described(self) -> str:
        text = f"in_features={self.in_features}, out_features={self.out_features}"
        text += "" if self.bias is not None else ", bias=False"
        return text + (f", activation={_name(self.activation)}" if self.activation else "")


class Sequential(Module):
    """Layers one after the other; each a Module, or a function of a Vector.

    >>> from autodiff import relu
    >>> Sequential(Linear(2, 4, activation=relu, seed=0), Linear(4, 1, seed=1))
    Sequential(
      0: Linear(in_features=2, out_features=4, activation=relu): 12 parameters
      1: Linear(in_features=4, out_features=1): 5 parameters
    ): 17 parameters
    """

    def __init__(self, *layers: Callable[[Any], Any]) -> None:
        for layer in layers:
            if not callable(layer):
                raise TypeError(
                    f"Sequential: found {shortened(layer)} of type {type(layer).__name__}, "
                    "expected layers, one after the other: Sequential(first, second)"
                )
        self.layers = layers

    def _children(self) -> Iterable[tuple[str, Any]]:
        return ((str(i), layer) for i, layer in enumerate(self.layers))

    def forward(self, x: Any) -> Any:
        """The result of the last layer for the input x of the first."""
        for layer in self.layers:
            x = layer(x)
        return x


def _name(function: Any) -> str:
    return repr(function) if isinstance(function, Module) else getattr(function, "__name__", "")


def _input(x: Any) -> Vector:
    """A Vector of a row: plain numbers in it are data, which needs no gradient."""
    row = Vector(x)
    for given, entry in zip(x, row):
        if given is not entry:
            entry.requires_grad = False
    return row


def _entries(parameter: Parameter) -> tuple[Value, ...]:
    return (parameter,) if isinstance(parameter, Value) else parameter._entries


def _flat(data: Any) -> list[Any]:
    return [x for part in data for x in _flat(part)] if _is_row(data) else [data]


def _shape(data: Any) -> tuple[Any, ...]:
    """The shape of nested lists; of ragged ones the shapes of the parts."""
    if not _is_row(data):
        return ()
    shapes = [_shape(part) for part in data]
    return (len(shapes), *shapes[0]) if len(set(shapes)) == 1 else (len(shapes), *shapes)


def _is_row(data: Any) -> bool:
    return isinstance(data, Iterable) and not isinstance(data, (str, bytes))
