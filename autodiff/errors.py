"""Error messages: what was found, what was expected, and what to do about it."""

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
    """repr(x), cut off after 40 characters, for error messages."""
    text = " ".join(repr(x).split())
    return text if len(text) <= 40 else text[:37] + "..."


def explain(error: Exception, name: str, inputs: dict[str, Any]) -> Exception:
    """The same type of error, naming the operation, its inputs and its domain.

    >>> explain(ValueError("math domain error"), "log", {"x": -1.0})
    ValueError('log: x = -1.0 is outside the domain x > 0')
    """
    name = OPERATORS.get(name, name)
    found = ", ".join(f"{key} = {described(x)}" for key, x in inputs.items())
    if isinstance(error, OverflowError):
        return OverflowError(f"{name}: {found} gives a result too large for a float")
    if name not in DOMAINS:
        return type(error)(f"{name}: {found}: {error}")
    return type(error)(f"{name}: {found} is outside the domain {DOMAINS[name]}")


def described(x: Any) -> str:
    """The number in x and its label, for error messages."""
    label, number = getattr(x, "label", ""), shortened(_number(x))
    return f"{number} ({label!r})" if label else number


def _number(x: Any) -> Any:
    return getattr(x, "data", getattr(x, "primal", x)) if hasattr(x, "_level") else x


LOST = (
    "this number is being differentiated, and a float has no derivative; for the plain number "
    "write x.data (x.primal of a Dual), for a function of it write autodiff.sqrt(x), not "
    "math.sqrt(x)"
)

LEAKED = (
    "found a number of a derivative that has been computed already, expected one of a derivative "
    "in progress; a function must return what depends on its inputs, not store it elsewhere"
)

OPERATORS = {"div": "x / y", "power": "x ** n", "exponential": "a ** x", "pow": "x ** y"}
DOMAINS = {
    "x / y": "y != 0",
    "x ** n": "x > 0, or x = 0 and n >= 0, or x < 0 and n an integer",
    "a ** x": "a > 0, or a = 0 and x >= 0, or a < 0 and x an integer",
    "x ** y": "x > 0, or x = 0 and y >= 0, or x < 0 and y an integer",
    "log": "x > 0",
    "sqrt": "x >= 0",
    "sin": "of finite x",
    "cos": "of finite x",
    "tan": "of finite x",
    "asin": "-1 <= x <= 1",
    "acos": "-1 <= x <= 1",
}


def domain(name: str) -> str:
    """The domain of an operation; "" if it is defined everywhere.

    >>> domain("log"), domain("exp")
    ('x > 0', '')
    """
    return DOMAINS.get(OPERATORS.get(name, name), "")


def named(rule: Any, inputs: tuple[Any, ...]) -> dict[str, Any]:
    """The inputs of an operation by the names that its rule gives them, for error messages."""
    while hasattr(rule, "__wrapped__"):
        rule = rule.__wrapped__
    code = getattr(rule, "__code__", None)
    names = code.co_varnames[: code.co_argcount] if code else ()
    if len(names) != len(inputs):
        names = tuple(f"x{i}" for i in range(1, len(inputs) + 1))
    return dict(zip(names, inputs, strict=True))


def explain_operation(error: Exception, rule: Any, inputs: tuple[Any, ...]) -> Exception:
    """The error of an operation, naming the operation and its inputs."""
    if any(hasattr(_number(x), "_level") for x in inputs):
        return error  # already explained, by the operation on numbers of an outer derivative
    if type(error).__module__ != "builtins":
        return error  # raised by a user's operation, in its own words
    return explain(error, rule.__name__, named(rule, inputs))


def explain_derivative(error: Exception, rule: Any, inputs: tuple[Any, ...]) -> Exception:
    """The error of a backward closure, naming the operation and its inputs."""
    if any(hasattr(_number(x), "_level") for x in inputs) or type(error).__module__ != "builtins":
        return error
    at = ", ".join(f"{name} = {described(x)}" for name, x in named(rule, inputs).items())
    division = isinstance(error, ZeroDivisionError)
    reason = "it is infinite or undefined there" if division else str(error)
    return type(error)(f"the derivative of {rule.__name__} at {at}: {reason}")
