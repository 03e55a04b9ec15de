"""`Dual`: a number and its tangent, which every operation carries forward."""

import functools
import operator
from collections.abc import Iterable
from typing import Any

from .errors import explain_derivative, explain_operation
from .functions import as_float
from .number import Number, Rule, admit, nested_result, top_level


class Dual(Number):
    """primal + tangent * ε, where ε² = 0: forward mode.

    When the inputs move by their tangents, a result moves by its own. So with tangent 1 in one
    input and 0 in all others, the tangent of a result is its derivative with respect to that
    input.

    The backward closure of an operation, called with 1, returns the operation's 1 x n Jacobian;
    times the tangents of the inputs, that is the tangent of the result. So no derivative is
    stated here.

    Duals that you make yourself all have the same level. For a derivative inside a derivative
    use `jvp` or another transform: they keep the levels apart.

    An input with tangent 0.0 does not move: it is a constant, even where an operation has no
    derivative by it. A result of inputs that move is none, even if its tangent became 0.0.

    TypeError if the primal or the tangent is not one real number (or a Value).

    >>> x = Dual(3.0, 1.0)
    >>> x * x + 1
    Dual(primal=10.0, tangent=6.0)
    """

    __slots__ = ("_level", "_tangent", "primal")

    primal: Any
    _tangent: Any  # None for a number that does not move
    _level: int  # depth in nested derivatives, see `number.new_level`

    def __init__(self, primal: Any, tangent: Any = 0.0) -> None:
        self.primal = _real(primal, "Dual, primal")
        self.tangent = _real(tangent, "Dual, tangent")
        self._level = 1

    @property
    def tangent(self) -> Any:
        """The derivative along the direction in which the inputs move."""
        return 0.0 if self._tangent is None else self._tangent

    @tangent.setter
    def tangent(self, tangent: Any) -> None:
        self._tangent = as_tangent(_real(tangent, "Dual, tangent"))

    def _apply(self, rule: Rule, *inputs: Any) -> Any:
        """The result of an operation: its value, and its tangent from the backward closure."""
        top = top_level(inputs)
        if not isinstance(top, Dual):
            return top._apply(rule, *inputs)
        level = top._level
        numbers = [admit(x, level, rule, Dual) for x in inputs]
        tangents = [x._tangent if _of_level(x, level) else None for x in numbers]
        numbers = [x.primal if _of_level(x, level) else x for x in numbers]
        try:
            primal, backward = rule(*numbers)
        except (ValueError, ZeroDivisionError, OverflowError) as error:
            raise explain_operation(error, rule, inputs) from None
        primal = nested_result(primal, numbers, level, rule)
        moving = [i for i, t in enumerate(tangents) if t is not None]
        if not moving:  # the derivative is not needed, and may not exist
            return dual(primal, None, level)
        try:
            jacobian = backward(1.0)
        except (ValueError, ZeroDivisionError, OverflowError) as error:
            raise explain_derivative(error, rule, inputs) from None
        terms = [jacobian[i] * tangents[i] for i in moving if jacobian[i] is not None]
        return dual(primal, functools.reduce(operator.add, terms) if terms else None, level)

    def _number(self) -> Any:
        return self.primal

    def __format__(self, spec: str) -> str:
        return format(self.primal, spec) if spec else repr(self)

    def __repr__(self) -> str:
        return f"Dual(primal={self.primal!r}, tangent={self.tangent!r})"


def dual(primal: Any, tangent: Any, level: int) -> Dual:
    """A dual number of the given level; its tangent is None if it does not move."""
    x = object.__new__(Dual)
    x.primal, x._tangent, x._level = primal, tangent, level
    return x


def as_tangent(tangent: Any) -> Any:
    """The tangent of an input; None for 0.0, in whose direction nothing moves."""
    return None if type(tangent) is float and tangent == 0.0 else tangent


def _real(x: Any, where: str) -> Any:
    nested = isinstance(x, Number) and not isinstance(x, Iterable)
    nested = nested and getattr(x, "_level", 1) <= 1  # not from inside a transform
    return x if nested else as_float(x, where)


def _of_level(x: Any, level: int) -> bool:
    """Whether x is a dual number of this level; one of an outer derivative is a constant."""
    return isinstance(x, Dual) and x._level == level
