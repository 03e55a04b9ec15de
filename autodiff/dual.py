"""`Dual`: a number and its tangent, which every operation carries forward."""

from collections.abc import Iterable
from typing import Any

from .errors import LOST, explain_derivative, explain_operation
from .functions import as_float
from .number import Number, Rule, leader


class Dual(Number):
    """primal + tangent * ε, where ε² = 0: forward mode.

    If a number moves by its tangent, what is computed from it moves by the tangent of the
    result. So with tangent 1 in one input and 0 in all others, the tangent of a result is its
    derivative with respect to that input.

    The closure of an operation, fed 1, is the 1 x n Jacobian of that operation; times the
    tangents of the inputs it is the tangent of the result. So no derivative is stated here.

    Duals that you make yourself are all of one level; for a derivative inside a derivative use
    `jvp` and its like, which keep the levels apart.

    TypeError if the primal or the tangent is not one real number (or a Value).

    >>> x = Dual(3.0, 1.0)
    >>> x * x + 1
    Dual(primal=10.0, tangent=6.0)
    """

    __slots__ = ("_level", "primal", "tangent")

    primal: Any
    tangent: Any
    _level: int  # depth in nested derivatives, see `number.leader`

    def __init__(self, primal: Any, tangent: Any = 0.0) -> None:
        self.primal = _real(primal, "Dual, primal")
        self.tangent = _real(tangent, "Dual, tangent")
        self._level = 1

    def _apply(self, rule: Rule, *inputs: Any) -> Any:
        """The dual number that an operation makes of its inputs."""
        lead = leader(inputs)
        if not isinstance(lead, Dual):
            return lead._apply(rule, *inputs)
        level = lead._level
        primals = [_primal(x, level, rule) for x in inputs]
        try:
            primal, backward = rule(*primals)
        except (ValueError, ZeroDivisionError, OverflowError) as error:
            raise explain_operation(error, rule, inputs) from None
        try:
            jacobian = backward(1.0)
        except (ValueError, ZeroDivisionError, OverflowError) as error:
            raise explain_derivative(error, rule, inputs) from None
        tangents = [
            partial * x.tangent
            for partial, x in zip(jacobian, inputs)
            if isinstance(x, Dual) and x._level == level
        ]
        return dual(primal, sum(tangents[1:], tangents[0]), level)

    def _number(self) -> Any:
        return self.primal

    def __float__(self) -> float:
        raise TypeError(LOST)

    def __repr__(self) -> str:
        return f"Dual(primal={self.primal!r}, tangent={self.tangent!r})"


def dual(primal: Any, tangent: Any, level: int) -> Dual:
    """A dual number of a certain level of nested derivatives."""
    x = object.__new__(Dual)
    x.primal, x.tangent, x._level = primal, tangent, level
    return x


def _real(x: Any, where: str) -> Any:
    nested = isinstance(x, Number) and not isinstance(x, Iterable)
    return x if nested else as_float(x, where)


def _primal(x: Any, level: int, rule: Rule) -> Any:
    """What the operation computes with: the primal, or the whole of what is a constant here."""
    if not isinstance(x, Number):
        return as_float(x, f"Dual {rule.__name__}")
    if isinstance(x, Dual) and x._level == level:
        return x.primal
    if x._level < level and level > 1:  # made by an outer derivative: to this one, a number
        return x
    raise TypeError(
        f"{rule.__name__}: found a Dual and a {type(x).__name__}, expected numbers of one kind; "
        f"for forward over reverse wrap each Dual in a Value: Value(dual)"
    )
