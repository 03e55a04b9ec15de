"""Optimisers: how gradients move parameters. Names, defaults and rules are PyTorch's.

In the formulas p is a parameter, g its gradient, and η the learning rate `lr`. With `weight_decay`
λ, g is the gradient plus λ p.
"""

from collections.abc import Iterable
from dataclasses import InitVar, dataclass, fields
from typing import Any

from .errors import counted, message, typed
from .functions import as_float, sqrt
from .value import Value

__all__ = ["SGD", "Adagrad", "Adam", "Optimizer", "RMSprop"]


class Optimizer:
    """What all optimisers have in common: parameters, `step()` and `zero_grad()`.

    `params` are leaf Values, such as `model.parameters()`. Those with `requires_grad` False stay
    as they are. TypeError or ValueError for other parameters, for none, and for a negative lr or
    weight_decay. To write an optimiser of your own, make a dataclass that defines `change`:

    >>> @dataclass(eq=False, repr=False)
    ... class SignDescent(Optimizer):
    ...     params: InitVar[Iterable[Value]]
    ...     lr: float
    ...     weight_decay: float = 0.0
    ...     def change(self, grad, state):
    ...         return self.lr if grad > 0 else -self.lr
    >>> p = Value(3.0)
    >>> (p * p).backward()
    >>> SignDescent([p], lr=0.5).step()
    >>> p.data
    2.5
    """

    lr: float
    weight_decay: float

    def __post_init__(self, params: Any) -> None:
        where = type(self).__name__
        if not isinstance(params, Iterable):
            expected = "a sequence of Values: model.parameters()"
            raise TypeError(message(f"{where}, params", typed(params), expected))
        self.params = tuple(params)
        for p in self.params:
            if not isinstance(p, Value):
                remedy = "pass model.parameters()"
                raise TypeError(message(f"{where}, params", typed(p), "Values", remedy))
            if p.parents:
                found = f"a Value that was computed ({p.op})"
                raise ValueError(message(f"{where}, params", found, "leaves"))
        if not self.params:
            raise ValueError(message(where, "no parameters", "at least one"))
        if len(set(self.params)) < len(self.params):
            raise ValueError(message(where, "a parameter twice", "each once"))
        self.steps = 0
        self.state: list[dict[str, Any]] = [self.start() for _ in self.params]

    def __setattr__(self, name: str, given: Any) -> None:
        field = getattr(type(self), "__dataclass_fields__", {}).get(name)
        if name == "params" and "params" in vars(self):
            remedy = "make a new optimizer, whose state fits"
            raise AttributeError(message(type(self).__name__, "other params", "the same", remedy))
        if name != "params" and field is not None and field.init:
            given = self.checked(name, given)
        super().__setattr__(name, given)

    def checked(self, name: str, given: Any) -> Any:
        """A setting in numbers of Python; TypeError or ValueError unless they are >= 0."""
        where = type(self).__name__
        several = isinstance(given, (tuple, list)) and isinstance(
            getattr(type(self), name, 0), tuple
        )
        numbers = [_plain(x, f"{where}, {name}") for x in (given if several else [given])]
        if not all(number >= 0 for number in numbers):
            raise ValueError(message(where, f"{name} = {given!r}", ">= 0"))
        return tuple(numbers) if several else numbers[0]

    def __repr__(self) -> str:
        options = [f"{x.name}={getattr(self, x.name)!r}" for x in fields(self) if x.init]  # type: ignore[arg-type]
        parameters = counted(len(self.params), "parameter")
        return f"{type(self).__name__}({parameters}, {', '.join(options)})"

    def zero_grad(self) -> None:
        """Set `grad` of every parameter to 0.0.

        >>> p = Value(1.0)
        >>> (p * p).backward()
        >>> SGD([p], lr=0.1).zero_grad()
        >>> p.grad
        0.0
        """
        for p in self.params:
            p.grad = 0.0

    def step(self) -> None:
        """Move every parameter once, by its `grad`.

        >>> p = Value(1.0)
        >>> descent = SGD([p], lr=0.1)
        >>> for _ in range(50):
        ...     descent.zero_grad()
        ...     (p * p).backward()
        ...     descent.step()
        >>> p.data < 1e-4
        True
        """
        self.steps += 1
        for p, state in zip(self.params, self.state):
            if p.requires_grad:  # the gradient is a Value after backward(create_graph=True)
                grad = p.grad
                grad = grad.data if isinstance(grad, Value) else grad
                p.data = self.moved(p.data, grad, state)

    def moved(self, data: Any, grad: Any, state: dict[str, Any]) -> Any:
        """A parameter after a step: a number, or all parameters at once as an array."""
        if self.weight_decay:
            grad = grad + self.weight_decay * data
        return data - self.change(grad, state)

    def start(self) -> dict[str, Any]:
        """The state of a parameter before the first step."""
        return {}

    def change(self, grad: Any, state: dict[str, Any]) -> Any:
        """The amount to subtract from a parameter, given its gradient and its state.

        All are numbers, or arrays with an entry for each parameter.
        """
        raise NotImplementedError(f"{type(self).__name__} has to define change(grad, state)")

    def settings(self) -> dict[str, Any]:
        """lr, weight_decay and all other settings, by name.

        >>> SGD([Value(1.0)], lr=0.1).settings()
        {'lr': 0.1, 'momentum': 0.0, 'weight_decay': 0.0}
        """
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def state_dict(self) -> dict[str, Any]:
        """All that the next step depends on, besides the parameters, ready for JSON.

        Training that is resumed with it and the `state_dict` of the model gives the same numbers
        as training that was never interrupted.

        >>> SGD([Value(1.0)], lr=0.1).state_dict()["state"]
        [{'velocity': 0.0}]
        """
        state = [dict(each) for each in self.state]
        return {"steps": self.steps, "settings": self.settings(), "state": state}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a `state_dict`.

        ValueError or TypeError if it belongs to another kind of optimiser, or holds invalid
        settings or anything but numbers; then nothing is changed.

        >>> descent = SGD([Value(1.0)], lr=0.1)
        >>> descent.load_state_dict(SGD([Value(1.0)], lr=0.5).state_dict())
        >>> descent.lr
        0.5
        """
        expected = self.state_dict()
        try:
            fitting = state.keys() == expected.keys()
            fitting = fitting and state["settings"].keys() == expected["settings"].keys()
            fitting = fitting and [*map(set, state["state"])] == [*map(set, expected["state"])]
            fitting = fitting and type(state["steps"]) is int and state["steps"] >= 0
        except (AttributeError, TypeError):  # not made of dicts
            fitting = False
        if not fitting:
            parameters = counted(len(self.params), "parameter")
            what = f"the state of {type(self).__name__} for {parameters}"
            raise ValueError(message("load_state_dict", "another state", what))
        kind: Any = type(self)
        settings = kind(self.params, **state["settings"]).settings()  # raises if one is invalid
        memory = [dict(each) for each in state["state"]]
        for each, known in zip(memory, expected["state"]):
            for name in [name for name, number in known.items() if type(number) is float]:
                each[name] = as_float(each[name], f"load_state_dict, {name}")
        self.steps, self.state = state["steps"], memory
        vars(self).update(settings)


def _plain(number: Any, where: str) -> Any:
    """A number of Python's: a float32 of NumPy would round all that is computed with it."""
    return number if type(number) in (int, float, bool) else as_float(number, where)


@dataclass(eq=False, repr=False)
class SGD(Optimizer):
    r"""Gradient descent, with momentum b.

    $$b = \mu b + g, \quad p = p - \eta b$$

    params, lr, weight_decay: as for every `Optimizer`, with its TypeError and ValueError.
    momentum: μ, the share of the last step that goes into the next.

    >>> p = Value(1.0)
    >>> (p * p).backward()
    >>> SGD([p], lr=0.1).step()
    >>> p.data
    0.8
    """

    params: InitVar[Iterable[Value]]
    lr: float
    momentum: float = 0.0
    weight_decay: float = 0.0

    def change(self, grad: Any, state: dict[str, Any]) -> Any:
        """lr times the velocity."""
        if self.momentum:
            grad = state["velocity"] = self.momentum * state["velocity"] + grad
        return self.lr * grad

    def start(self) -> dict[str, Any]:
        """A velocity of 0."""
        return {"velocity": 0.0}


@dataclass(eq=False, repr=False)
class Adagrad(Optimizer):
    r"""Steps that shrink as the squares of the gradients add up (Duchi et al. 2011).

    $$s = s + g^2, \quad p = p - \eta g / (\sqrt{s} + \epsilon)$$

    params, lr, weight_decay: as for every `Optimizer`, with its TypeError and ValueError.
    lr_decay: in step t the rate is lr / (1 + (t - 1) lr_decay).
    initial_accumulator_value: s before the first step.
    eps: ε, which keeps the first steps finite.

    >>> p = Value(1.0)
    >>> (p * p).backward()
    >>> Adagrad([p], lr=0.5).step()
    >>> round(p.data, 6)
    0.5
    """

    params: InitVar[Iterable[Value]]
    lr: float = 0.01
    lr_decay: float = 0.0
    weight_decay: float = 0.0
    initial_accumulator_value: float = 0.0
    eps: float = 1e-10

    def change(self, grad: Any, state: dict[str, Any]) -> Any:
        """The gradient over the root of the sum of its squares, times the decayed lr."""
        lr = self.lr / (1 + (self.steps - 1) * self.lr_decay)
        state["sum"] = state["sum"] + grad * grad
        return lr * grad / (sqrt(state["sum"]) + self.eps)

    def start(self) -> dict[str, Any]:
        """The initial sum of squares."""
        return {"sum": self.initial_accumulator_value}


@dataclass(eq=False, repr=False)
class RMSprop(Optimizer):
    r"""Gradients over the root of the running mean of their squares (Tieleman and Hinton 2012).

    $$s = \alpha s + (1 - \alpha) g^2, \quad b = \mu b + g / (\sqrt{s} + \epsilon), \quad
    p = p - \eta b$$

    params, lr, weight_decay: as for every `Optimizer`, with its TypeError and ValueError.
    alpha: α, how much of the mean each step keeps.
    eps: ε, which keeps the first steps finite.
    momentum: μ, the share of the last step that goes into the next.

    >>> p = Value(1.0)
    >>> (p * p).backward()
    >>> RMSprop([p], lr=0.1).step()
    >>> round(p.data, 6)  # the first mean square is (1 - alpha) g², so a step of 10 lr
    0.0
    """

    params: InitVar[Iterable[Value]]
    lr: float = 0.01
    alpha: float = 0.99
    eps: float = 1e-8
    weight_decay: float = 0.0
    momentum: float = 0.0

    def change(self, grad: Any, state: dict[str, Any]) -> Any:
        """The gradient over its running root mean square, with momentum, times lr."""
        state["square"] = self.alpha * state["square"] + (1 - self.alpha) * grad * grad
        grad = grad / (sqrt(state["square"]) + self.eps)
        if self.momentum:
            grad = state["velocity"] = self.momentum * state["velocity"] + grad
        return self.lr * grad

    def start(self) -> dict[str, Any]:
        """A mean square and a velocity of 0."""
        return {"square": 0.0, "velocity": 0.0}


@dataclass(eq=False, repr=False)
class Adam(Optimizer):
    r"""Running means of the gradient and its square, unbiased (Kingma and Ba, arXiv:1412.6980).

    $$m = \beta_1 m + (1 - \beta_1) g, \quad s = \beta_2 s + (1 - \beta_2) g^2, \quad
    p = p - \eta \hat m / (\sqrt{\hat s} + \epsilon)$$

    The hats: in step t the means are divided by $1 - \beta^t$, because they start at 0.

    params, lr, weight_decay: as for every `Optimizer`, with its TypeError and ValueError.
    betas: β₁ and β₂, how much of each mean a step keeps.
    eps: ε, which keeps the first steps finite.

    >>> p = Value(1.0)
    >>> (p * p).backward()
    >>> Adam([p], lr=0.1).step()
    >>> round(p.data, 6)
    0.9
    """

    params: InitVar[Iterable[Value]]
    lr: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0

    def checked(self, name: str, given: Any) -> Any:
        """A setting; ValueError also if betas are not two numbers below 1."""
        found = super().checked(name, given)
        pair = isinstance(found, tuple) and len(found) == 2 and max(found) < 1
        if name == "betas" and not pair:
            raise ValueError(message("Adam", f"betas = {found!r}", "two numbers below 1"))
        return found

    def change(self, grad: Any, state: dict[str, Any]) -> Any:
        """The mean over the root of the mean square, both corrected for their start at 0."""
        first, second = self.betas
        state["mean"] = first * state["mean"] + (1 - first) * grad
        state["square"] = second * state["square"] + (1 - second) * grad * grad
        root = sqrt(state["square"]) / sqrt(1 - second**self.steps) + self.eps
        return self.lr / (1 - first**self.steps) * state["mean"] / root

    def start(self) -> dict[str, Any]:
        """Means of 0."""
        return {"mean": 0.0, "square": 0.0}
