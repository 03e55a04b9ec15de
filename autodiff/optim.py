"""Optimisers: how gradients move parameters. Names, defaults and rules are PyTorch's.

In the formulas p is a parameter, g its gradient, and η the learning rate `lr`. With `weight_decay`
λ, g is the gradient plus λ p.
"""

from collections.abc import Iterable
from dataclasses import InitVar, dataclass, fields
from typing import Any, ClassVar

from .errors import counted, message, typed
from .functions import as_float, as_row, sqrt
from .value import Value

__all__ = ["SGD", "Adagrad", "Adam", "Optimizer", "RMSprop"]


class Optimizer:
    """What all optimisers have in common: parameters, `step()` and `zero_grad()`.

    `params` are leaf Values, such as `model.parameters()`. Those with `requires_grad` False stay
    as they are. TypeError for other parameters, ValueError for none and for a negative setting.
    To write an optimiser of your own, make a dataclass that defines `change`; `memory` names the
    numbers to remember of each parameter, which are 0 before the first step.

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

    memory: ClassVar[tuple[str, ...]] = ()
    lr: float
    weight_decay: float

    def __post_init__(self, params: Any) -> None:
        where = type(self).__name__
        leaves = "leaf Values: model.parameters()"
        row = as_row(params, f"{where}, params", leaves)
        for p in row:
            if not isinstance(p, Value) or p.parents:
                raise TypeError(message(f"{where}, params", typed(p), leaves))
        if not row:
            raise ValueError(message(where, "no parameters", "at least one"))
        self.params = tuple(dict.fromkeys(row))  # each once
        for name, setting in self.settings().items():
            setattr(self, name, _checked(setting, f"{where}, {name}"))
        self.steps = 0
        self.state = [dict.fromkeys(self.memory, 0.0) for _ in self.params]

    def __repr__(self) -> str:
        parameters = counted(len(self.params), "parameter")
        options = [f"{name}={setting!r}" for name, setting in self.settings().items()]
        return f"{type(self).__name__}({', '.join([parameters, *options])})"

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
        >>> (p * p).backward()
        >>> SGD([p], lr=0.1).step()
        >>> p.data
        0.8
        """
        self.steps += 1
        for p, state in zip(self.params, self.state, strict=True):
            if p.requires_grad:  # the gradient is a Value after backward(create_graph=True)
                grad = p.grad
                grad = grad.data if isinstance(grad, Value) else grad
                p.data = self.moved(p.data, grad, state)

    def moved(self, data: Any, grad: Any, state: dict[str, Any]) -> Any:
        """A parameter after a step: a number, or all parameters at once as an array."""
        if self.weight_decay:
            grad = grad + self.weight_decay * data
        return data - self.change(grad, state)

    def change(self, grad: Any, state: dict[str, Any]) -> Any:
        """The amount to subtract from a parameter: a number, or all amounts as an array."""
        raise NotImplementedError(f"{type(self).__name__} has to define change(grad, state)")

    def settings(self) -> dict[str, Any]:
        """lr, weight_decay and all other settings, by name.

        >>> SGD([Value(1.0)], lr=0.1).settings()
        {'lr': 0.1, 'momentum': 0.0, 'weight_decay': 0.0}
        """
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def state_dict(self) -> dict[str, Any]:
        """All that the next step depends on but the parameters, ready for JSON: to go on later.

        >>> SGD([Value(1.0)], lr=0.1).state_dict()["state"]
        [{'velocity': 0.0}]
        """
        return {"steps": self.steps, "settings": self.settings(), "state": [*map(dict, self.state)]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a `state_dict`.

        An error if it belongs to another kind of optimiser or to other parameters, or has an
        invalid setting; then nothing is changed.

        >>> descent = SGD([Value(1.0)], lr=0.1)
        >>> descent.load_state_dict(SGD([Value(1.0)], lr=0.5).state_dict())
        >>> descent.lr
        0.5
        """
        kind: Any = type(self)
        loaded = kind(self.params, **state["settings"])
        loaded.steps, loaded.state = state["steps"], [*map(dict, state["state"])]
        if [*map(set, loaded.state)] != [*map(set, self.state)]:
            expected = f"that of {kind.__name__} for {counted(len(self.params), 'parameter')}"
            raise ValueError(message("load_state_dict", "another state", expected))
        vars(self).update(vars(loaded))


def _checked(setting: Any, where: str) -> Any:
    """A setting in floats: a float32 of NumPy would round all that is computed with it."""
    if isinstance(setting, (tuple, list)) and len(setting) == 2:  # betas; JSON makes a list of it
        return tuple([_checked(x, where) for x in setting])
    if not (number := as_float(setting, where)) >= 0:  # or it is nan
        raise ValueError(message(where, f"{number}", "a number >= 0"))
    return number


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

    memory = ("velocity",)
    params: InitVar[Iterable[Value]]
    lr: float
    momentum: float = 0.0
    weight_decay: float = 0.0

    def change(self, grad: Any, state: dict[str, Any]) -> Any:
        """lr times the velocity."""
        if self.momentum:
            grad = state["velocity"] = self.momentum * state["velocity"] + grad
        return self.lr * grad


@dataclass(eq=False, repr=False)
class Adagrad(Optimizer):
    r"""Steps that shrink as the squares of the gradients add up (Duchi et al. 2011).

    $$s = s + g^2, \quad p = p - \eta g / (\sqrt{s} + \epsilon)$$

    params, lr, weight_decay: as for every `Optimizer`, with its TypeError and ValueError.
    eps: ε, keeps the first steps finite.

    >>> p = Value(1.0)
    >>> (p * p).backward()
    >>> Adagrad([p], lr=0.5).step()
    >>> round(p.data, 6)
    0.5
    """

    memory = ("sum",)
    params: InitVar[Iterable[Value]]
    lr: float = 0.01
    weight_decay: float = 0.0
    eps: float = 1e-10

    def change(self, grad: Any, state: dict[str, Any]) -> Any:
        """The gradient over the root of the sum of its squares, times lr."""
        state["sum"] = state["sum"] + grad * grad
        return self.lr * grad / (sqrt(state["sum"]) + self.eps)


@dataclass(eq=False, repr=False)
class RMSprop(Optimizer):
    r"""Gradients over the root of the running mean of their squares (Tieleman and Hinton 2012).

    $$s = \alpha s + (1 - \alpha) g^2, \quad b = \mu b + g / (\sqrt{s} + \epsilon), \quad
    p = p - \eta b$$

    params, lr, weight_decay: as for every `Optimizer`, with its TypeError and ValueError.
    alpha: α, how much of the mean each step keeps. eps: ε, keeps the first steps finite.
    momentum: μ, the share of the last step that goes into the next.

    >>> p = Value(1.0)
    >>> (p * p).backward()
    >>> RMSprop([p], lr=0.1).step()
    >>> round(p.data, 6)  # the first mean square is (1 - alpha) g², so a step of 10 lr
    0.0
    """

    memory = ("square", "velocity")
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


@dataclass(eq=False, repr=False)
class Adam(Optimizer):
    r"""Running means of the gradient and its square, unbiased (Kingma and Ba, arXiv:1412.6980).

    $$m = \beta_1 m + (1 - \beta_1) g, \quad s = \beta_2 s + (1 - \beta_2) g^2, \quad
    p = p - \eta \hat m / (\sqrt{\hat s} + \epsilon)$$

    The hats: in step t the means are divided by $1 - \beta^t$, because they start at 0.

    params, lr, weight_decay: as for every `Optimizer`, with its TypeError and ValueError.
    betas: β₁ and β₂, how much of each mean a step keeps. eps: ε, keeps the first steps finite.

    >>> p = Value(1.0)
    >>> (p * p).backward()
    >>> Adam([p], lr=0.1).step()
    >>> round(p.data, 6)
    0.9
    """

    memory = ("mean", "square")
    params: InitVar[Iterable[Value]]
    lr: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0

    def change(self, grad: Any, state: dict[str, Any]) -> Any:
        """The mean over the root of the mean square, both corrected for their start at 0."""
        first, second = self.betas
        state["mean"] = first * state["mean"] + (1 - first) * grad
        state["square"] = second * state["square"] + (1 - second) * grad * grad
        root = sqrt(state["square"]) / sqrt(1 - second**self.steps) + self.eps
        return self.lr / (1 - first**self.steps) * state["mean"] / root
