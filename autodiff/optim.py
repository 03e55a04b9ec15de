"""Optimisers: how gradients move parameters. Names, defaults and rules are PyTorch's.

In the formulas p is a parameter, g its gradient, and η the learning rate `lr`. With `weight_decay`
λ, g is the gradient plus λ p.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from contextvars import copy_context
from dataclasses import InitVar, dataclass, fields
from itertools import compress
from typing import Any, ClassVar, NamedTuple

from .engine.admission import AnyNumber, Floats, as_float, as_row, is_sequence, numbers_like
from .engine.errors import counted, refusal, typed
from .engine.interrupts import whole
from .engine.ops import sqrt
from .engine.value import Value, clear_grads

__all__ = ["SGD", "Adagrad", "Adam", "Optimizer", "RMSprop"]

Setting = float | tuple[float, ...]
OptimizerState = dict[str, AnyNumber]  # arrays, shape (n,), or one number for all parameters


class Snapshot(NamedTuple):
    """What a step changes: the numbers of the parameters that are trained, and the state."""

    p: Floats
    state: OptimizerState
    trained: tuple[Value, ...]
    places: Any  # of the trained among all parameters: an index


class Optimizer:
    """What all optimisers have in common: parameters, `step()` and `zero_grad()`.

    `params` are leaf Values, such as `model.parameters()`. Those with `requires_grad` False stay
    as they are. TypeError for other parameters, ValueError for none and for a negative setting.
    To write an optimiser of your own, make a dataclass that defines `change`, for the gradients of
    all parameters at once, an array; `memory` names what to remember of them, in arrays of `state`
    that are 0 before the first step. To count steps, remember "steps", and add 1 in each; that is
    one number as long as it is the same for all parameters.

    >>> from autodiff import less, where
    >>> @dataclass(eq=False, repr=False)
    ... class SignDescent(Optimizer):
    ...     params: InitVar[Iterable[Value]]
    ...     lr: float
    ...     weight_decay: float = 0.0
    ...     def change(self, grad, state):
    ...         return where(less(0.0, grad), self.lr, -self.lr)
    >>> p = Value(3.0)
    >>> (p * p).backward()
    >>> SignDescent([p], lr=0.5).step()
    >>> p.data
    2.5
    """

    memory: ClassVar[tuple[str, ...]] = ()
    shares: ClassVar[tuple[str, ...]] = ()  # settings that are below 1
    lr: float
    weight_decay: float

    def __post_init__(self, params: Iterable[Value]) -> None:
        import numpy

        subject = type(self).__name__
        leaves = "leaf Values: model.parameters()"
        row = as_row(params, f"{subject}, params", leaves)
        for p in row:
            if not isinstance(p, Value) or p.parents:
                remedy = "a weight that is computed belongs into forward"
                raise TypeError(refusal(f"{subject}, params", typed(p), leaves, remedy))
        if not row:
            raise ValueError(refusal(subject, "no parameters", "at least one"))
        self.params = self._made = tuple(dict.fromkeys(row))  # each once
        self.state = {name: numpy.zeros(len(self.params)) for name in self.memory}

    def __setattr__(self, name: str, x: Any) -> None:
        """Set an attribute. A setting is checked, whenever it is set, and made of floats."""
        for field in fields(self):  # type: ignore[arg-type]
            if field.name == name:
                limit = 1.0 if name in self.shares else math.inf
                x = _checked(x, field.default, limit, f"{type(self).__name__}, {name}")
        super().__setattr__(name, x)

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
        whole(clear_grads, self.params)

    def step(self) -> None:
        """Move every parameter once, by its `grad`.

        FloatingPointError if a parameter would become infinite or nan. ValueError if `change` gives
        anything but floats, one for each parameter or one for all, or uses a state that `memory`
        does not name, or if `params` is not as it was. Nothing has changed then. After Ctrl-C the
        step was made, or nothing has changed.

        >>> p = Value(1.0)
        >>> (p * p).backward()
        >>> SGD([p], lr=0.1).step()
        >>> p.data
        0.8
        """
        import numpy

        before = self.snapshot()
        # a gradient is a Value after backward(create_graph=True)
        grad = [g if type(g := p._grad) is float else g.data for p in before.trained]

        def after() -> Snapshot:
            with numpy.errstate(all="raise", under="ignore"):
                return self.update(before, numpy.array(grad))

        self.write(copy_context().run(after))

    def snapshot(self) -> Snapshot:
        """What the next step starts from: copies, because a rule may work in place."""
        import numpy

        if self.params is not self._made:
            remedy = "make a new optimizer of all"
            subject = f"{type(self).__name__}, params"
            raise ValueError(refusal(subject, "others", "those that it was made of", remedy))
        places: Any = ...
        trained, levels = self.params, [p._level for p in self.params]
        if not all(levels):
            trained, places = tuple(compress(trained, levels)), numpy.array(levels, bool)
        state: OptimizerState = {k: numpy.array(x)[places] for k, x in self.state.items()}
        steps = state.get("steps", ())
        if len(steps) and steps.tobytes() == steps[:1].tobytes() * len(steps):
            state["steps"] = steps.item(0)  # for all: β**t of each would take as long as the rest
        return Snapshot(numpy.array([p._data for p in trained]), state, trained, places)

    def update(self, before: Snapshot, grad: Floats) -> Snapshot:
        """What a step along these gradients leads to; nothing is written."""
        import numpy

        p, remembered, trained, places = before
        state: OptimizerState = defaultdict(float, remembered)  # 0 if not declared: then refused
        moved = self.moved(p, grad, state)
        remedy = "change() returns such amounts, memory names what is in state"
        _check({"p": moved, **state}, {"p": p, **remembered}, type(self).__name__, remedy)
        if numpy.count_nonzero(numpy.isfinite(moved)) < len(moved):
            raise FloatingPointError("a step made a parameter infinite or nan")
        return Snapshot(moved, state, trained, places)

    def is_own(self) -> bool:
        """Whether it is one of the user's own, which may read more than it is given."""
        attributes = {"params", "_made", "state", *self.settings()}
        return type(self).__module__ != __name__ or not vars(self).keys() <= attributes

    def as_by_hand(self, before: Snapshot, total: Floats, n: int) -> Snapshot:
        """What a step leads to, of an optimiser of the user's own; gradients are summed over n.

        Its `change` may read data, grad and state; or it has its own `step()`.
        """
        self.write(before)
        grad = total / n
        for p, number in zip(before.trained, grad.tolist()):
            p._grad = number
        if getattr(self.step, "__func__", None) is Optimizer.step:
            return self.update(before, grad)
        self.step()
        after = self.snapshot()
        if after.trained != before.trained:
            found, remedy = "a step that freezes or thaws parameters", "do that in a callback"
            subject = f"fit, {type(self).__name__}"
            raise ValueError(refusal(subject, found, "the same parameters", remedy))
        return after

    def write(self, now: Snapshot) -> None:
        """Write a snapshot to the Values and to `state`."""
        numbers = now.p.tolist()

        def write() -> None:
            for each, number in zip(now.trained, numbers):
                each._data = number
            for name, column in now.state.items():
                self.state[name][now.places] = column

        whole(write)

    def moved(self, data: AnyNumber, grad: AnyNumber, state: OptimizerState) -> AnyNumber:
        """The parameters after a step."""
        if self.weight_decay:
            grad = grad + self.weight_decay * data
        return data - self.change(grad, state)

    def change(self, grad: AnyNumber, state: OptimizerState) -> AnyNumber:
        """The amounts to subtract from the parameters, shape (n,), or one number for all."""
        raise NotImplementedError(f"{type(self).__name__} has to define change(grad, state)")

    def settings(self) -> dict[str, Setting]:
        """lr, weight_decay and all other settings, by name.

        >>> SGD([Value(1.0)], lr=0.1).settings()
        {'lr': 0.1, 'momentum': 0.0, 'weight_decay': 0.0}
        """
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def state_dict(self) -> dict[str, Any]:
        """All that the next step depends on but the parameters, ready for JSON: to go on later.

        >>> SGD([Value(1.0)], lr=0.1).state_dict()["state"]
        {'velocity': [0.0]}
        """
        state = {name: column.tolist() for name, column in self.state.items()}
        return {"settings": self.settings(), "state": state}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a `state_dict`.

        ValueError if it belongs to another kind of optimiser or to another number of parameters, or
        has an invalid setting, or numbers that no training leaves; TypeError if an entry is not a
        number. Nothing is changed then.

        >>> descent = SGD([Value(1.0)], lr=0.1)
        >>> descent.load_state_dict(SGD([Value(1.0)], lr=0.5).state_dict())
        >>> descent.lr
        0.5
        """
        import numpy

        kind: Any = type(self)
        ours, subject = self.state_dict(), f"load_state_dict of {kind.__name__}"
        if not isinstance(state, dict) or state.keys() != ours.keys():
            remedy = f"save it by state_dict() of {kind.__name__} for the same parameters"
            raise ValueError(refusal(subject, typed(state), f"a dict of {[*ours]}", remedy))
        numbers_like(ours["settings"], state["settings"], subject)
        columns = numbers_like(ours["state"], state["state"], subject)
        arrays = {name: numpy.array(column) for name, column in columns.items()}
        for name, x in arrays.items():
            if not numpy.isfinite(x).all() or (name == "steps" and (abs(x) // 1 != x).any()):
                expected = "finite numbers, and whole ones of steps"
                raise ValueError(refusal(f"{subject}, {name}", typed(x), expected))
        loaded = kind(self._made, **state["settings"])
        loaded.params, loaded._made, loaded.state = self.params, self._made, arrays
        vars(self).update(vars(loaded))


def _check(found: OptimizerState, expected: OptimizerState, subject: str, remedy: str) -> None:
    """A ValueError unless both hold the same names, and floats of the same shapes."""
    if found.keys() != expected.keys():
        raise ValueError(refusal(subject, f"{[*found]}", f"{[*expected]}", remedy))
    for name, like in expected.items():
        x = found[name]
        shape, known = getattr(x, "shape", ()), getattr(like, "shape", ())
        if shape != known or (shape and x.dtype.kind != "f"):
            words = f"{typed(x)}, shape {shape}", f"floats of shape {known}"
            raise ValueError(refusal(f"{subject}, {name}", *words, remedy))


def _checked(setting: Any, default: Any, limit: float, subject: str) -> Any:
    """A setting in floats: a float32 of NumPy would round all that is computed with it.

    It is one number, or as many as the default; ValueError unless 0 <= number < limit.
    """
    if isinstance(default, tuple):
        if not is_sequence(setting) or len(setting) != len(default):
            raise TypeError(refusal(subject, typed(setting), counted(len(default), "number")))
        return tuple([_checked(x, 0.0, limit, subject) for x in setting])  # JSON makes a list of it
    number = as_float(setting, subject)
    if not 0 <= number < limit:  # or it is nan
        raise ValueError(refusal(subject, f"{number}", f"a number >= 0, below {limit:g}"))
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

    def change(self, grad: AnyNumber, state: OptimizerState) -> AnyNumber:
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

    def change(self, grad: AnyNumber, state: OptimizerState) -> AnyNumber:
        """The gradient over the root of the sum of its squares, times lr."""
        state["sum"] = state["sum"] + grad * grad
        return self.lr * grad / (sqrt(state["sum"]) + self.eps)


@dataclass(eq=False, repr=False)
class RMSprop(Optimizer):
    r"""Gradients over the root of the running mean of their squares (Tieleman and Hinton 2012).

    $$s = \alpha s + (1 - \alpha) g^2, \quad b = \mu b + g / (\sqrt{s} + \epsilon), \quad
    p = p - \eta b$$

    params, lr, weight_decay: as for every `Optimizer`, with its TypeError and ValueError.
    alpha: α, below 1, how much of the mean each step keeps. eps: ε, keeps the first steps finite.
    momentum: μ, the share of the last step that goes into the next.

    >>> p = Value(1.0)
    >>> (p * p).backward()
    >>> RMSprop([p], lr=0.1).step()
    >>> round(p.data, 6)  # the first mean square is (1 - alpha) g², so a step of 10 lr
    0.0
    """

    memory, shares = ("square", "velocity"), ("alpha",)
    params: InitVar[Iterable[Value]]
    lr: float = 0.01
    alpha: float = 0.99
    eps: float = 1e-8
    weight_decay: float = 0.0
    momentum: float = 0.0

    def change(self, grad: AnyNumber, state: OptimizerState) -> AnyNumber:
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
    betas: β₁ and β₂, below 1, how much of each mean a step keeps. eps: ε, keeps the first steps
        finite.

    >>> p = Value(1.0)
    >>> (p * p).backward()
    >>> Adam([p], lr=0.1).step()
    >>> round(p.data, 6)
    0.9
    """

    shares = ("betas",)
    memory = ("steps", "mean", "square")  # of each parameter: it may have been frozen
    params: InitVar[Iterable[Value]]
    lr: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0

    def change(self, grad: AnyNumber, state: OptimizerState) -> AnyNumber:
        """The mean over the root of the mean square, both corrected for their start at 0."""
        first, second = self.betas
        steps = state["steps"] = state["steps"] + 1
        state["mean"] = first * state["mean"] + (1 - first) * grad
        state["square"] = second * state["square"] + (1 - second) * grad * grad
        root = sqrt(state["square"]) / sqrt(1 - second**steps) + self.eps
        return self.lr / (1 - first**steps) * state["mean"] / root
