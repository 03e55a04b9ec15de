"""Error messages: what was found, what was expected, and what to do about it."""

import re
from typing import Any


def message(where: str, found: str, expected: str, remedy: str = "") -> str:
    """The text of an error: the function or argument, what was found, what was expected, a remedy.

    >>> message("draw", a(3), "a Value", "make one: Value(3)")
    'draw: found an int, expected a Value; make one: Value(3)'
    """
    return f"{where}: found {found}, expected {expected}{'; ' + remedy if remedy else ''}"


def a(x: Any) -> str:
    """The type of x with its article.

    >>> a(3), a("text")
    ('an int', 'a str')
    """
    name = type(x).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def typed(x: Any) -> str:
    """x and its type.

    >>> typed("text")
    "'text' of type str"
    """
    return f"{shortened(x)} of type {type(x).__name__}"


def counted(n: int, noun: str) -> str:
    """n and the noun, in the plural if needed.

    >>> counted(1, "number"), counted(2, "number")
    ('1 number', '2 numbers')
    """
    return f"{n} {noun}{'' if n == 1 else 's'}"


def shortened(x: Any) -> str:
    """repr(x), for error messages: without its address in memory, cut off after 40 characters."""
    text = " ".join(re.sub(" at 0x[0-9a-fA-F]+", "", repr(x)).split())
    return text if len(text) <= 40 else text[:37] + "..."


LOST = (
    "this number is being differentiated, and a float has no derivative; take the function from "
    "autodiff, not from math (autodiff.sin for math.sin), or for the plain number write x.data "
    "(x.primal of a Dual)"
)
LEAKED = (
    "found a number of a derivative that has been computed already, expected one of a derivative "
    "in progress; a function must return what depends on its inputs, not store it elsewhere"
)

# -- Where floats meet the domain of an operation ------------------------------------------------

SIGNS = {"div": "x / y", "power": "x ** n", "exponential": "a ** x", "pow": "x ** y"}
FINITE = "-inf < x < inf"
DOMAINS = {  # the functions of one number add theirs, in functions.py
    "div": "y != 0",
    "power": "x > 0, or x = 0 and n >= 0, or x < 0 and n an integer",
    "exponential": "a > 0, or a = 0 and x >= 0, or a < 0 and x an integer",
    "pow": "x > 0, or x = 0 and y >= 0, or x < 0 and y an integer",
}


def explain(
    error: Exception, name: str, inputs: dict[str, Any], derivative: bool = False
) -> Exception:
    """The same type of error, naming the operation, its inputs and its domain.

    The error itself if it has been explained, by the operation on numbers of an outer derivative,
    or if a user's operation raised one of its own types. `derivative`: whether the backward
    closure raised it.

    >>> explain(ValueError("math domain error"), "div", {"x": 1.0, "y": 0.0})
    ValueError('x / y: x = 1.0, y = 0.0 is outside the domain y != 0')
    """
    if any(hasattr(_number(x), "_level") for x in inputs.values()):
        return error
    if type(error).__module__ != "builtins":
        return error
    at = ", ".join(f"{key} = {described(x)}" for key, x in inputs.items())
    if derivative:
        division = isinstance(error, ZeroDivisionError)
        reason = "it is infinite or undefined there" if division else str(error)
        return type(error)(f"the derivative of {name} at {at}: {reason}")
    sign, domain = SIGNS.get(name, name), DOMAINS.get(name)
    if isinstance(error, OverflowError):
        return OverflowError(f"{sign}: {at} gives a result too large for a float")
    return type(error)(
        f"{sign}: {at}" + (f" is outside the domain {domain}" if domain else f": {error}")
    )


def described(x: Any) -> str:
    """The number in x and its label, for error messages."""
    label, number = getattr(x, "label", ""), shortened(_number(x))
    return f"{number} ({label!r})" if label else number


def _number(x: Any) -> Any:
    return getattr(x, "data", getattr(x, "primal", x)) if hasattr(x, "_level") else x


def named(rule: Any, inputs: tuple[Any, ...]) -> dict[str, Any]:
    """The inputs of an operation by the names that its rule gives them, for error messages."""
    code = getattr(rule, "__wrapped__", rule).__code__
    names = code.co_varnames[: code.co_argcount]
    if len(names) != len(inputs):
        names = [f"x{i}" for i in range(1, len(inputs) + 1)]
    return dict(zip(names, inputs))
