"""`Dual`: a number and its tangent, which every operation carries forward."""

import operator
from functools import reduce
from typing import Any

from .errors import explain, named
from .number import Number, Rule, check_result, constant_for, outer


class Dual(Number):
    """primal + tangent * ε, where ε² = 0: forward mode.

    When the inputs move by their tangents, a result moves by its own. So with tangent 1 in one
    input and 0 in all others, the tangent of a result is its derivative with respect to that
    input.

    The backward closure of an operation, called with 1, returns the operation's 1 x n Jacobian;
    times the tangents of the inputs, that is the tangent of the result. So no derivative is
    stated here.

    A Dual made with tangent 0.0 stands still, and so does what is computed from such alone: its
    derivatives are not asked for, and may be infinite. Duals that you make yourself all have the
    same level. For a derivative inside a derivative use `jvp` or another transform: they keep the
    levels apart.

    TypeError if the primal or the tangent is not one real number (or a Value).

    >>> x = Dual(3.0, 1.0)
    >>> x * x + 1
    Dual(primal=10.0, tangent=6.0)
    """

    __slots__ = ("_level", "_moves", "primal", "tangent")

    primal: Any
    tangent: Any
    _level: int  # depth in nested derivatives, see `number.new_level`
    _moves: bool  # whether an input with a tangent leads to it

    def __init__(self, primal: Any, tangent: Any = 0.0) -> None:
        self.primal = outer(primal, "Dual, primal")
        self.tangent = outer(tangent, "Dual, tangent")
        self._level = 1
        self._moves = moves(self.tangent)

    def _lift(self, x: Any, name: str) -> Any:
        own = isinstance(x, Dual) and x._level == self._level
        return x if own else dual(constant_for(self, x, name), 0.0, self._level, False)

    def _record(self, rule: Rule, numbers: Any) -> "Dual":
        """The result of an operation: its value, and its tangent from the backward closure."""
        primals = [x.primal for x in numbers]
        moving = [i for i, x in enumerate(numbers) if x._moves]
        derivative = False
        try:
            primal, backward = rule(*primals)
            derivative = True
            jacobian = backward(1.0) if moving else ()
        except (ValueError, ZeroDivisionError, OverflowError) as error:
            raise explain(error, rule.__name__, named(rule, (*primals,)), derivative) from None
        check_result(rule, primal, primals, self._level)
        terms = [jacobian[i] * numbers[i].tangent for i in moving if jacobian[i] is not None]
        tangent = reduce(operator.add, terms) if terms else 0.0
        return dual(primal, tangent, self._level, bool(moving))

    def _number(self) -> Any:
        return self.primal

    def __repr__(self) -> str:
        return f"Dual(primal={self.primal!r}, tangent={self.tangent!r})"


def dual(primal: Any, tangent: Any, level: int, moving: bool) -> Dual:
    """A dual number of the given level."""
    x = object.__new__(Dual)
    x.primal, x.tangent, x._level, x._moves = primal, tangent, level, moving
    return x


def moves(tangent: Any) -> bool:
    """Whether a tangent that was given is not 0."""
    return type(tangent) is not float or tangent != 0.0
