"""Python's operators and methods, for every kind of number at once.

A kind of number derives from `Number` and says one thing: how to apply an operation to itself.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from . import ops
from .functions import as_float, is_array

Rule = Callable[..., ops.Result]


class Number:
    """A number that applies operations in its own way: a node, a dual number, a symbol.

    A kind defines `_apply(rule, *inputs)`, which returns the result of an operation of `ops.py`;
    `_number()`, the plain number that it stands for in a comparison; and `_level`: how deep in
    nested derivatives the number was made. Of the numbers in an operation the deepest one's
    `_apply` is called (see `leader`).
    """

    __slots__ = ()
    __array_ufunc__ = None  # so that numpy.float64(2) * x asks x, and an array is refused here

    _level: int

    def _apply(self, rule: Rule, *inputs: Any) -> Any:
        raise NotImplementedError

    def _number(self) -> Any:
        raise NotImplementedError

    def _call(self, name: str, *inputs: Any) -> Any:
        """Apply the operation that is called `name` in ops.py."""
        return self._apply(getattr(ops, name), *inputs)

    def __add__(self, other: Any) -> Any:
        return self._apply(ops.add, self, other)

    def __radd__(self, other: Any) -> Any:  # other + self
        return self._apply(ops.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return self._apply(ops.sub, self, other)

    def __rsub__(self, other: Any) -> Any:  # other - self
        return self._apply(ops.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return self._apply(ops.mul, self, other)

    def __rmul__(self, other: Any) -> Any:  # other * self
        return self._apply(ops.mul, other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._apply(ops.div, self, other)

    def __rtruediv__(self, other: Any) -> Any:  # other / self
        return self._apply(ops.div, other, self)

    def __pow__(self, other: Any) -> Any:
        # With a constant exponent x may be negative: there is no ln x in that derivative.
        constant = getattr(other, "_level", 0) < self._level or getattr(other, "_level", 0) == 0
        return self._apply(ops.power if constant else ops.pow, self, other)

    def __rpow__(self, other: Any) -> Any:  # other ** self
        return self._apply(ops.pow, other, self)

    def __neg__(self) -> Any:
        return self._apply(ops.neg, self)

    def __pos__(self) -> Any:
        return self._apply(ops.pos, self)

    def __abs__(self) -> Any:
        return self._apply(ops.abs, self)

    # Order is that of the numbers; == is identity, so that a node can be the key of a dict.

    def __lt__(self, other: Any) -> bool:
        return bool(self._number() < _plain(other))

    def __le__(self, other: Any) -> bool:
        return bool(self._number() <= _plain(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self._number() > _plain(other))

    def __ge__(self, other: Any) -> bool:
        return bool(self._number() >= _plain(other))

    def __bool__(self) -> bool:
        return bool(self._number())

    # Methods, so that x.exp() works, and numpy.exp on an array of objects.

    def exp(self) -> Any:
        """e to the power of this number."""
        return self._apply(ops.exp, self)

    def log(self) -> Any:
        """The natural logarithm."""
        return self._apply(ops.log, self)

    def sqrt(self) -> Any:
        """The square root."""
        return self._apply(ops.sqrt, self)

    def sin(self) -> Any:
        """The sine, in radians."""
        return self._apply(ops.sin, self)

    def cos(self) -> Any:
        """The cosine, in radians."""
        return self._apply(ops.cos, self)

    def tan(self) -> Any:
        """The tangent, in radians."""
        return self._apply(ops.tan, self)

    def asin(self) -> Any:
        """The inverse sine, in radians."""
        return self._apply(ops.asin, self)

    def acos(self) -> Any:
        """The inverse cosine, in radians."""
        return self._apply(ops.acos, self)

    def atan(self) -> Any:
        """The inverse tangent, in radians."""
        return self._apply(ops.atan, self)

    def sinh(self) -> Any:
        """The hyperbolic sine."""
        return self._apply(ops.sinh, self)

    def cosh(self) -> Any:
        """The hyperbolic cosine."""
        return self._apply(ops.cosh, self)

    def tanh(self) -> Any:
        """The hyperbolic tangent."""
        return self._apply(ops.tanh, self)

    def erf(self) -> Any:
        """The error function."""
        return self._apply(ops.erf, self)

    def sigmoid(self) -> Any:
        """The logistic function."""
        return self._apply(ops.sigmoid, self)

    def relu(self) -> Any:
        """The rectified linear unit."""
        return self._apply(ops.relu, self)

    def softplus(self) -> Any:
        """log(1 + exp(x))."""
        return self._apply(ops.softplus, self)

    arcsin, arccos, arctan = asin, acos, atan  # numpy's names


def _plain(x: Any) -> Any:
    return x._number() if isinstance(x, Number) else x


def leader(inputs: Sequence[Any]) -> Any:
    """The input that takes charge of an operation: the one of the deepest derivative.

    Value, Dual and their like carry a `_level`, which grows with every derivative that is nested
    in another. The deepest one treats all others as plain numbers, so that in
    d/dx[x * d/dy(x + y)] the inner derivative sees x as a constant. None if there is no such
    input: all are floats or arrays.
    """
    lead, deepest = None, -1
    for x in inputs:
        level = getattr(x, "_level", -1)
        if level > deepest:
            lead, deepest = x, level
    return lead


def operation(rule: Rule) -> Callable[..., Any]:
    """A function of any kind of number, from an operation of your own.

    The rule takes numbers and returns (result, backward), as those in `ops.py` do: two lines.
    Written with operators and this package's functions, it works in every mode at once, for
    derivatives of any order.

    >>> @operation
    ... def cube(x):
    ...     return x * x * x, lambda grad: (grad * 3 * x * x,)
    >>> cube(2.0)
    8.0
    >>> from autodiff import Value
    >>> x = Value(2.0)
    >>> cube(x).backward()
    >>> x.grad
    12.0
    """
    if not callable(rule):
        raise TypeError(f"operation: found {type(rule).__name__}, expected a function")
    name = rule.__name__

    @wraps(rule)
    def checked(*numbers: Any) -> ops.Result:
        found = rule(*numbers)
        if not (isinstance(found, tuple) and len(found) == 2 and callable(found[1])):
            raise TypeError(
                f"{name}: found a rule that returns {type(found).__name__}, expected "
                "(result, backward), where backward(grad) returns a tuple of gradients"
            )
        result, backward = found

        def checked_backward(grad: Any) -> tuple[Any, ...]:
            grads = backward(grad)
            if not isinstance(grads, tuple) or len(grads) != len(numbers):
                raise TypeError(
                    f"{name}: found a backward that returns {grads!r}, expected a tuple of "
                    f"{len(numbers)}, a gradient for each input"
                )
            return grads

        return result, checked_backward

    @wraps(rule)
    def function(*inputs: Any) -> Any:
        lead = leader(inputs)
        if lead is not None:
            return lead._apply(checked, *inputs)
        return checked(*[x if is_array(x) else as_float(x, name) for x in inputs])[0]

    return function
