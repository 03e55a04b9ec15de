"""`Dual`: a number and its tangent, which every operation carries forward.

With `tiny.py`, `(Dual(3.0, 1.0) ** 2).tangent` is out of reach.
"""

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

from .admission import AnyNumber
from .levels import OWN, as_own_number, check_outside, check_result, constant_for
from .number import Number
from .operation import UNDEFINED, Operation, explain
from .ufuncs import Entry


class Dual(Entry, Number):
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

    __slots__ = ("_level", "_primal", "_tangent")

    _primal: AnyNumber
    _tangent: AnyNumber  # None for a number that stands still

    def __init__(self, primal: AnyNumber, tangent: AnyNumber = 0.0) -> None:
        self._primal = as_own_number(primal, "Dual, primal")
        self._tangent = as_tangent(as_own_number(tangent, "Dual, tangent"))
        self._level = OWN

    @property
    def primal(self) -> AnyNumber:
        """The number itself. It cannot be assigned, nor can the tangent: make another Dual.

        RuntimeError for both inside a function that is being differentiated, as for `Value.data`.
        """
        check_outside(self, "primal")
        return self._primal

    @property
    def tangent(self) -> AnyNumber:
        """The derivative along the direction in which the inputs move."""
        check_outside(self, "tangent")
        return 0.0 if self._tangent is None else self._tangent

    def _lift(self, x: AnyNumber, name: str) -> "Dual":
        own = isinstance(x, Dual) and x._level == self._level
        return x if own else dual(constant_for(self, x, name), None, self._level)

    def _record(self, operation: Operation, numbers: Sequence["Dual"]) -> "Dual":
        """The result of an operation: its value, and its tangent from the backward closure."""
        primals = [x._primal for x in numbers]
        moving = [i for i, x in enumerate(numbers) if x._tangent is not None]
        derivative = False
        try:
            primal, backward = operation.rule(*primals)
            derivative = True
            jacobian = backward(1.0) if moving else ()
        except UNDEFINED as error:
            raise explain(error, operation, primals, derivative) from None
        check_result(operation, primal, primals, self._level)
        terms = [jacobian[i] * numbers[i]._tangent for i in moving if jacobian[i] is not None]
        return dual(primal, reduce(operator.add, terms) if terms else None, self._level)

    def _number(self) -> AnyNumber:
        return self._primal

    def __repr__(self) -> str:
        tangent = 0.0 if self._tangent is None else self._tangent
        return f"Dual(primal={self._primal!r}, tangent={tangent!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return dual, (self._primal, self._tangent, self._level)


def dual(primal: AnyNumber, tangent: AnyNumber, level: float) -> Dual:
    """A dual number of the given level; its tangent is None if it stands still."""
    x = object.__new__(Dual)
    x._primal, x._tangent, x._level = primal, tangent, level
    return x


def as_tangent(tangent: AnyNumber) -> AnyNumber:
    """The tangent of an input; None for 0.0, in whose direction nothing moves."""
    return None if type(tangent) is float and tangent == 0.0 else tangent
