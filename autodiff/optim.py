"""Optimisers: how gradients move parameters. Names, defaults and rules are PyTorch's."""

from collections.abc import Iterable
from dataclasses import InitVar, dataclass
from typing import Any

from .errors import message, typed
from .functions import sqrt
from .value import Value


class Optimizer:
    """What all optimisers have in common: parameters, `step()` and `zero_grad()`.

    `params` are leaf Values, such as `model.parameters()`. Those with `requires_grad` False stay
    as they are. TypeError or ValueError for other parameters, for none, and for a negative lr or
    weight_decay. An optimiser of your own is a dataclass too, and defines `change`.
    """

    lr: float
    weight_decay: float

    def __post_init__(self, params: Iterable[Value]) -> None:
        self.params = list(params)
        where = type(self).__name__
        for p in self.params:
            if not isinstance(p, Value):
                raise TypeError(
                    message(f"{where}, params", typed(p), "Values", "pass model.parameters()")
                )
            if p.parents:
                found = f"a Value that was computed ({p.op})"
                raise ValueError(message(f"{where}, params", found, "leaves"))
        if not self.params:
            raise ValueError(message(where, "no parameters", "at least one"))
        for name, number in (("lr", self.lr), ("weight_decay", self.weight_decay)):
            if not number >= 0:
                raise ValueError(message(where, f"{name} = {number!r}", ">= 0"))
        self.steps = 0
        self.state: list[dict[str, Any]] = [{} for _ in self.params]

    def zero_grad(self) -> None:
        """Set `grad` of every parameter to 0.0."""
        for p in self.params:
            p.grad = 0.0

    def step(self) -> None:
        """Move every parameter once, by its `grad`."""
        self.steps += 1
        for p, state in zip(self.params, self.state):
            if p.requires_grad:
                p.data -= self.change(p.grad + self.weight_decay * p.data, state)

    def change(self, grad: Any, state: dict[str, Any]) -> Any:
        """The amount to subtract from a parameter; `state` is what is remembered of it."""
        raise NotImplementedError(f"{type(self).__name__} has to define change(grad, state)")


@dataclass(eq=False, repr=False)
class SGD(Optimizer):
    """Gradient descent with momentum: b = momentum b + g, p = p - lr b.

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
        state["velocity"] = self.momentum * state.get("velocity", 0.0) + grad
        return self.lr * state["velocity"]


@dataclass(eq=False, repr=False)
class Adagrad(Optimizer):
    """Steps that shrink with the sum of squares so far (Duchi et al. 2011): p - lr g / √Σg².

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
        state["sum"] = state.get("sum", self.initial_accumulator_value) + grad * grad
        return lr * grad / (sqrt(state["sum"]) + self.eps)


@dataclass(eq=False, repr=False)
class RMSprop(Optimizer):
    """Steps over a running root mean square (Tieleman and Hinton 2012): p - lr g / √mean g².

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
        square = self.alpha * state.get("square", 0.0) + (1 - self.alpha) * grad * grad
        velocity = self.momentum * state.get("velocity", 0.0) + grad / (sqrt(square) + self.eps)
        state |= {"square": square, "velocity": velocity}
        return self.lr * velocity


@dataclass(eq=False, repr=False)
class Adam(Optimizer):
    """Running means of the gradient and its square, unbiased (Kingma and Ba, arXiv:1412.6980).

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

    def change(self, grad: Any, state: dict[str, Any]) -> Any:
        """The mean over the root of the mean square, both corrected for their start at 0."""
        first, second = self.betas
        mean = first * state.get("mean", 0.0) + (1 - first) * grad
        square = second * state.get("square", 0.0) + (1 - second) * grad * grad
        state |= {"mean": mean, "square": square}
        root = sqrt(square) / sqrt(1 - second**self.steps) + self.eps
        return self.lr / (1 - first**self.steps) * mean / root
