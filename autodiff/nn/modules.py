"""Layers: `Module`, which knows its parameters, `Linear`, `Sequential` and `Dropout`."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextvars import ContextVar, copy_context
from itertools import chain
from random import Random
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Self, TypeVar

from ..engine.admission import (
    Floats,
    as_float,
    as_integer,
    as_row,
    as_seed,
    is_array,
    is_sequence,
    numbers_like,
)
from ..engine.errors import counted, refusal, typed
from ..engine.interrupts import whole, with_variable
from ..engine.levels import check_outside
from ..engine.linalg import Matrix, Vector
from ..engine.operation import Compute
from ..engine.scopes import Scope
from ..engine.transforms import check_function
from ..engine.value import Value, clear_grads, watch
from .initialisers import Rows, he_normal
from .samples import Model

if TYPE_CHECKING:
    from numpy.random import Generator

ACTIVATIONS = "None or a function, such as autodiff.tanh"  # that a layer takes
Parameter = Value | Vector | Matrix
T = TypeVar("T")
StateDict = dict[str, Any]  # numbers and lists of them, by dotted name


class Module:
    """A function with parameters: the Values, Vectors, Matrices and Modules that it holds.

    For a layer of your own, derive from it, assign the parameters as attributes and define
    `forward(x)`; without that, a call is a NotImplementedError. Parameters are leaves: a weight
    that is computed from them is computed in `forward`, and the optimiser refuses one that is held.

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

    _training = True

    @property
    def training(self) -> bool:
        """Whether the module is in training mode; in evaluation mode Dropout does nothing."""
        now = _training.get()
        return self._training if now is None else now

    @training.setter
    def training(self, training: bool) -> None:
        self._training = training

    def __call__(self, x: Any) -> Any:
        return Scope(type(self).__name__, self).run(self.forward, x)  # a box in drawings

    def forward(self, x: Any) -> Any:
        """The result for one sample x."""
        raise NotImplementedError(f"{type(self).__name__} has to define forward(self, x)")

    def _children(self) -> Iterator[tuple[str, object]]:
        """The parts of the module by dotted name, without those of the modules in it."""
        return _parts(self)

    def named_parameters(self) -> list[tuple[str, Parameter]]:
        """(dotted name, Value, Vector or Matrix) for each parameter, in order of assignment.

        ValueError if two have the same name, as in `{1: p, "1": q}`.

        >>> [(name, held.shape) for name, held in Linear(3, 2).named_parameters()]
        [('weight', (2, 3)), ('bias', (2,))]
        """
        named: dict[str, Parameter] = {}
        for name, x in _parts(self, deep=True):
            if isinstance(x, Parameter):
                if name in named:
                    found, subject = f"two parameters called {name!r}", type(self).__name__
                    remedy = "rename one: keys become text, and dots join names"
                    raise ValueError(refusal(subject, found, "a name for each", remedy))
                named[name] = x
        return [*named.items()]

    def parameters(self) -> list[Value]:
        """All parameters as one flat list of Values, each once: what an optimiser takes.

        >>> len(Linear(3, 2).parameters())
        8
        """
        entries = [_entries(parameter) for _, parameter in self.named_parameters()]
        return list(dict.fromkeys(chain.from_iterable(entries)))

    def train(self, training: bool = True) -> Self:
        """Set this module and those in it to training mode, or to evaluation mode; return it.

        >>> model = Sequential(Dropout(0.5))
        >>> model.train(False).layers[0].training
        False
        """
        parts = [vars(part) for _, part in _parts(self, deep=True) if isinstance(part, Module)]

        def write() -> None:
            for attributes in [vars(self), *parts]:
                attributes["_training"] = training  # of a frozen dataclass, too

        whole(write)
        return self

    def eval(self) -> Self:
        """Set this module and those in it to evaluation mode; return it.

        >>> Dropout(0.5).eval()(Vector([1.0, 2.0])).data
        [1.0, 2.0]
        """
        return self.train(False)

    def zero_grad(self) -> None:
        """Set `grad` of every parameter to 0.0.

        >>> layer = Linear(2, 1)
        >>> layer([1.0, 2.0]).sum().backward()
        >>> layer.zero_grad()
        >>> layer.weight.grad
        [[0.0, 0.0]]
        """
        whole(clear_grads, self.parameters())

    def state_dict(self) -> StateDict:
        """The numbers of all parameters by dotted name, as floats and lists: ready for JSON.

        >>> Sequential(Linear(2, 1, init=lambda n, m, rng: [[3.0] * n] * m)).state_dict()
        {'0.weight': [[3.0, 3.0]], '0.bias': [0.0]}
        """
        return {name: parameter.data for name, parameter in self.named_parameters()}

    def load_state_dict(self, state: Any) -> None:
        """Set all parameters to the numbers of a `state_dict`.

        ValueError, with all that is missing, unexpected or of another shape, if the state does not
        fit this model; TypeError if an entry is not a number, OverflowError if it is too large.
        Nothing is changed then. After Ctrl-C all parameters are set, or none.

        >>> layer = Linear(2, 1, bias=False)
        >>> layer.load_state_dict({"weight": [[5.0, 6.0]]})
        >>> layer([1.0, 1.0]).data
        [11.0]
        """
        numbers = numbers_like(self.state_dict(), state, "load_state_dict")
        parameters = dict(self.named_parameters())
        for entry in self.parameters():
            check_outside(entry, "load_state_dict")

        def write() -> None:
            for name, parameter in parameters.items():
                for entry, number in zip(_entries(parameter), numbers[name]):
                    entry.data = number

        whole(write)

    @recursive_repr()
    def __repr__(self) -> str:
        count = len(self.parameters())
        return f"{type(self).__name__}({self._described()}): {counted(count, 'parameter')}"

    def _described(self) -> str:
        lines = [f"\n{name}: {_name(part)}" for name, part in self._children() if callable(part)]
        return "".join(lines).replace("\n", "\n  ") + ("\n" if lines else "")


class Linear(Module):
    """x -> activation(weight @ x + bias), entry by entry: a layer of out_features neurons.

    in_features, out_features: the lengths of x and of the result, which is always a Vector
    bias: whether there is a `bias`, a Vector that starts at zero, shape (out_features,)
    activation: a function of one number, or None
    init: makes the rows of `weight`, shape (out_features, in_features): see `initialisers.py`
    seed: for the layer's own random generator, which `init` draws from; None: a random one

    ValueError if x has another length, a size is not a positive integer, or the seed a negative
    one; TypeError if activation or init is no function, or bias is one.

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
        activation: Compute | None = None,
        init: Callable[[int, int, Random], Rows] = he_normal,
        seed: int | None = None,
    ) -> None:
        self.in_features = as_integer(in_features, "Linear", "in_features")
        self.out_features = as_integer(out_features, "Linear", "out_features")
        if activation is not None:
            check_function(activation, "Linear, activation", ACTIVATIONS)
        check_function(init, "Linear, init", "a function, such as nn.he_normal")
        if callable(bias):
            raise TypeError(refusal("Linear, bias", typed(bias), "a bool", "write activation=tanh"))
        rng = Random(as_seed(seed, "Linear"))
        self.weight = Matrix(init(self.in_features, self.out_features, rng))
        self.bias = Vector([0.0] * self.out_features) if bias else None
        self.activation = activation

    def forward(self, x: Any) -> Vector:
        """activation(weight @ x + bias) for x, a Vector or a sequence of numbers."""
        x = _input(x)
        if len(x) != self.in_features:
            found = f"an input of shape {x.shape}"
            raise ValueError(refusal("Linear", found, f"({self.in_features},)"))
        z: Vector = self.weight @ x if self.bias is None else self.weight @ x + self.bias
        return z.map(self.activation) if self.activation else z

    def _described(self) -> str:
        text = f"in_features={self.in_features}, out_features={self.out_features}"
        text += "" if self.bias is not None else ", bias=False"
        return text + (f", activation={_name(self.activation)}" if self.activation else "")


class Sequential(Module):
    """Layers one after the other, each a Module or a function of a Vector.

    The result is that of the last layer. TypeError if a layer is not a function.

    >>> from autodiff import relu
    >>> Sequential(Linear(2, 4, activation=relu, seed=0), Linear(4, 1, seed=1))
    Sequential(
      0: Linear(in_features=2, out_features=4, activation=relu): 12 parameters
      1: Linear(in_features=4, out_features=1): 5 parameters
    ): 17 parameters
    """

    def __init__(self, *layers: Model) -> None:
        for i, layer in enumerate(layers):
            remedy = "of a list write Sequential(*layers)" if is_sequence(layer) else ""
            check_function(layer, "Sequential", "a Module or a function", remedy)
            setattr(self, str(i), layer)

    @property
    def layers(self) -> tuple[Any, ...]:
        """The layers, in order."""
        return tuple([layer for name, layer in vars(self).items() if name.isdigit()])

    def forward(self, x: Any) -> Any:
        """The result of the last layer, given x to the first."""
        for layer in self.layers:
            x = layer(x)
        return x


class Dropout(Module):
    """While training, sets each entry to 0 with probability p and divides the others by 1 - p.

    In evaluation mode, which `eval()` sets and `predict` uses, a Vector passes unchanged
    (Srivastava et al. 2014). The layer draws from `rng = numpy.random.default_rng(seed)`, one
    `rng.random()` for each entry of each sample in turn, also in `fit`, whichever engine runs; an
    entry is dropped if it is below p. ValueError unless 0 <= p < 1 and the seed is an integer >= 0.

    >>> layer = Dropout(0.5, seed=0)
    >>> layer(Vector([1.0, 2.0, 3.0, 4.0])).data  # half of them, on average
    [2.0, 0.0, 0.0, 0.0]
    >>> layer.eval()(Vector([1.0, 2.0])).data
    [1.0, 2.0]
    """

    def __init__(self, p: float = 0.5, seed: int | None = None) -> None:
        if not 0 <= as_float(p, "Dropout, p") < 1:
            raise ValueError(refusal("Dropout", f"p = {p!r}", "0 <= p < 1"))
        seed = as_seed(seed, "Dropout")
        import numpy

        self.p = p
        self.rng = copy_context().run(numpy.random.default_rng, seed)  # it sets errstate meanwhile

    def forward(self, x: Any) -> Vector:
        """x, a Vector or a sequence of numbers, with entries dropped."""
        row, watching = _input(x), watch.get()
        if not self.training or self.p == 0:
            return row
        n = len(row)
        factors = watching.mask(self, n) if watching else mask(self.rng.random(n), self.p).tolist()
        return Vector([entry * factor for entry, factor in zip(row, factors)])

    def _described(self) -> str:
        return f"p={self.p}"


def mask(drawn: Floats, p: Any) -> Floats:
    """Factors for entries: 0 where the number that was drawn is below p, else 1 / (1 - p)."""
    return (drawn >= p) / (1 - p)  # type: ignore[no-any-return]


# Of each generator the layers that draw from it, in order, with a leaf for each factor.
Masks = dict["Generator", list[tuple[Dropout, list[Value]]]]


def factors_in(masks: Masks) -> list[Value]:
    """The leaves of all factors."""
    return [x for calls in masks.values() for _, leaves in calls for x in leaves]


def draws(masks: Masks) -> list[Hashable]:
    """Which layer draws how many numbers from which generator."""
    return [(rng, id(layer), len(x)) for rng, calls in masks.items() for layer, x in calls]


def drawn(masks: Masks, n: int) -> Iterator[Floats]:
    """Factors for n samples, which each generator draws one sample after the other."""
    for rng, calls in masks.items():
        end, numbers = 0, rng.random((n, sum(len(leaves) for _, leaves in calls))).T
        for layer, leaves in calls:
            start, end = end, end + len(leaves)
            yield mask(numbers[start:end], layer.p)


_training: ContextVar[bool | None] = ContextVar("training", default=None)  # in this thread


def in_mode(training: bool, function: Callable[..., T], *args: Any) -> T:
    """function(*args) with every module in this mode, in this thread.

    NumPy's `errstate`, and who watches, are as before afterwards, too, whatever has happened.
    """
    return with_variable(_training, training, function, *args)


def _name(function: object) -> str:
    return repr(function) if isinstance(function, Module) else getattr(function, "__name__", "")


def _input(x: Any) -> Vector:
    """x as a Vector; plain numbers in it are data, which requires no gradient."""
    if isinstance(x, Vector):
        return x
    numbers = as_row(x, "a layer", "a sequence of numbers: model([2.0])")
    if any(map(is_sequence, numbers[:1])):
        found, remedy = counted(len(numbers), "row"), "nn.predict(model, xs) takes many"
        raise TypeError(refusal("a layer", found, "the numbers of one sample", remedy))
    row = Vector(numbers)
    for given, entry in zip(numbers, row):
        if given is not entry:
            entry.requires_grad = False
    return row


def _entries(parameter: Parameter) -> tuple[Value, ...]:
    return (parameter,) if isinstance(parameter, Value) else parameter._entries


def _parts(
    whole: Any, deep: bool = False, name: str = "", above: frozenset[int] = frozenset()
) -> Iterator[tuple[str, object]]:
    """(dotted name, part) for each part of a module, in lists, tuples and dicts too.

    deep: also the parts of its modules. above: the ids of what the whole is a part of.
    """
    parts: Iterable[tuple[object, object]] = ()
    if isinstance(whole, (Module, dict)):
        parts = (whole if isinstance(whole, dict) else vars(whole)).items()
    elif isinstance(whole, (list, tuple)) or (is_array(whole) and whole.dtype == object):
        parts = enumerate(whole)
    for key, part in parts if id(whole) not in above else ():
        inner = f"{name}.{key}" if name else str(key)
        yield inner, part
        if deep or not isinstance(part, Module):
            yield from _parts(part, deep, inner, above | {id(whole)})
