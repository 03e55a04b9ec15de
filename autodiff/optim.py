"""Optimisers: how gradients move parameters. Names, defaults and rules are PyTorch's."""

import math
from collections.abc import Iterable

from .errors import shortened
from .value import Value


class Optimizer:
    """What all optimisers have in common: parameters, `step()` and `zero_grad()`.

    `params` are leaf Values, such as `model.parameters()`. Those with `requires_grad` False stay
    as they are. TypeError or ValueError for others, for none, and for a negative lr or
    weight_decay.
    """

    def __init__(self, params: Iterable[Value], lr: float, weight_decay: float) -> None:
        self.params = list(params)
        for p in self.params:
            if not isinstance(p, Value):
                raise TypeError(
                    f"{type(self).__name__}: found {shortened(p)} of type {type(p).__name__} among "
                    "the parameters, expected Values; pass model.parameters()"
                )
            if p.parents:
                raise ValueError(
                    f"{type(self).__name__}: found a Value that was computed ({p.op}) among the "
                    "parameters, expected leaves"
                )
        if not self.params:
            raise ValueError(f"{type(self).__name__}: found no parameters, expected at least one")
        for name, number in (("lr", lr), ("weight_decay", weight_decay)):
            if not number >= 0:
                raise ValueError(f"{type(self).__name__}: found {name} = {number!r}, expected >= 0")
        self.lr = lr
        self.weight_decay = weight_decay
        self.steps = 0
        self.state: list[dict[str, float]] = [{} for _ in self.params]

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

    def change(self, grad: float, state: dict[str, float]) -> float:
        """What to take off a parameter with this gradient; `state` is what it remembers."""
        raise NotImplementedError(f"{type(self).__name__} has to define change(grad, state)")


class SGD(Optimizer):
    """Gradient descent, with momentum: b = momentum b + g, p = p - lr b.

    >>> p = Value(1.0)
    >>> optimizer = SGD([p], lr=0.1)
    >>> (p * p).backward()
    >>> optimizer.step()
    >>> p.data
    0.8
    """

    def __init__(
        self, params: Iterable[Value], lr: float, momentum: float = 0.0, weight_decay: float = 0.0
    ) -> None:
        super().__init__(params, lr, weight_decay)
        self.momentum = momentum

    def change(self, grad: float, state: dict[str, float]) -> float:
        """lr times the velocity."""
        state["velocity"] = self.momentum * state.get("velocity", 0.0) + grad
        return self.lr * state["velocity"]


class Adagrad(Optimizer):
    """Steps that shrink with the sum of squares so far (Duchi et al. 2011): p - lr g / √Σg².

    >>> p = Value(1.0)
    >>> optimizer = Adagrad([p], lr=0.5)
    >>> (p * p).backward()
    >>> optimizer.step()
    >>> round(p.data, 6)
    0.5
    """

    def __init__(
        self,
        params: Iterable[Value],
        lr: float = 0.01,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
    ) -> None:
        super().__init__(params, lr, weight_decay)
        self.lr_decay, self.eps = lr_decay, eps
        self.initial_accumulator_value = initial_accumulator_value

    def change(self, grad: float, state: dict[str, float]) -> float:
        """The gradient over the root of the sum of its squares, times the decayed lr."""
        lr = self.lr / (1 + (self.steps - 1) * self.lr_decay)
        state["sum"] = state.get("sum", self.initial_accumulator_value) + grad * grad
        return lr * grad / (math.sqrt(state["sum"]) + self.eps)


class RMSprop(Optimizer):
    """Steps over a running root mean square (Tieleman and Hinton 2012): p - lr g / √mean g².

    >>> p = Value(1.0)
    >>> optimizer = RMSprop([p], lr=0.1)
    >>> (p * p).backward()
    >>> optimizer.step()
    >>> round(p.data, 6)  # the first mean square is (1 - alpha) g², so a step of 10 lr
    0.0
    """

    def __init__(
        self,
        params: Iterable[Value],
        lr: float = 0.01,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
    ) -> None:
        super().__init__(params, lr, weight_decay)
        self.alpha, self.eps, self.momentum = alpha, eps, momentum

    def change(self, grad: float, state: dict[str, float]) -> float:
        """The gradient over its running root mean square, with momentum, times lr."""
        square = self.alpha * state.get("square", 0.0) + (1 - self.alpha) * grad * grad
        step = grad / (math.sqrt(square) + self.eps)
        velocity = self.momentum * state.get("velocity", 0.0) + step
        state |= {"square": square, "velocity": velocity}
        return self.lr * velocity


class Adam(Optimizer):
    """Running means of the gradient and its square, unbiased (Kingma and Ba, arXiv:1412.6980).

    >>> p = Value(1.0)
    >>> optimizer = Adam([p], lr=0.1)
    >>> (p * p).backward()
    >>> optimizer.step()
    >>> round(p.data, 6)
    0.9
    """

    def __init__(
        self,
        params: Iterable[Value],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, lr, weight_decay)
        self.betas, self.eps = betas, eps

    def change(self, grad: float, state: dict[str, float]) -> float:
        """The mean over the root of the mean square, both corrected for their start at 0."""
        first, second = self.betas
        mean = first * state.get("mean", 0.0) + (1 - first) * grad
        square = second * state.get("square", 0.0) + (1 - second) * grad * grad
        state |= {"mean": mean, "square": square}
        root = math.sqrt(square) / math.sqrt(1 - second**self.steps) + self.eps
        return self.lr / (1 - first**self.steps) * mean / root
