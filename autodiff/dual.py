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

    TypeError if the primal or the tangent is not one real number (or a Value).

    >>> x = Dual(3.0, 1.0)
    >>> x * x + 1
    Dual(primal=10.0, tangent=6.0)
    """

    __slots__ = ("_level", "primal", "tangent")

    primal: Any
    tangent: Any
    _level: int  # depth in nested derivatives, see `number.new_level`

    def __init__(self, primal: Any, tangent: Any = 0.0) -> None:
        self.primal = _real(primal, "Dual, primal")
        self.tangent = _real(tangent, "Dual, tangent")
        self._level = 1

    def _apply(self, rule: Rule, *inputs: Any) -> Any:
        """The result of an operation: its value, and its tangent from the backward closure."""
        top = top_level(inputs)
        if not isinstance(top, Dual):
            return top._apply(rule, *inputs)
        level = top._level
        numbers = [admit(x, level, rule, Dual) for x in inputs]
        tangents = [x.tangent if _moves(x, level) else 0.0 for x in numbers]
        numbers = [x.primal if _moves(x, level) else x for x in numbers]
        try:
            primal, backward = rule(*numbers)
        except (ValueError, ZeroDivisionError, OverflowError) as error:
            raise explain_operation(error, rule, inputs) from None
        primal = nested_result(primal, numbers, level, rule)
        moving = [i for i, t in enumerate(tangents) if type(t) is not float or t != 0.0]
        if not moving:  # the derivative is not needed, and may not exist
            return dual(primal, 0.0, level)
        try:
            jacobian = backward(1.0)
        except (ValueError, ZeroDivisionError, OverflowError) as error:
            raise explain_derivative(error, rule, inputs) from None
        terms = [jacobian[i] * tangents[i] for i in moving if jacobian[i] is not None]
        return dual(primal, functools.reduce(operator.add, terms) if terms else 0.0, level)

    def _number(self) -> Any:
        return self.primal

    def __format__(self, spec: str) -> str:
        return format(self.primal, spec) if spec else repr(self)

    def __repr__(self) -> str:
        return f"Dual(primal={self.primal!r}, tangent={self.tangent!r})"


def dual(primal: Any, tangent: Any, level: int) -> Dual:
    """A dual number of the given level."""
    x = object.__new__(Dual)
    x.primal, x.tangent, x._level = primal, tangent, level
    return x


def _real(x: Any, where: str) -> Any:
    nested = isinstance(x, Number) and not isinstance(x, Iterable)
    nested = nested and getattr(x, "_level", 1) <= 1  # not from inside a transform
    return x if nested else as_float(x, where)


def _moves(x: Any, level: int) -> bool:
    """Whether x is a dual number of this level; one of an outer derivative is a constant."""
    return isinstance(x, Dual) and x._level == level
