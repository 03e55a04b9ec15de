"""What the checks share: reading what an answer returned, and finding out who calls a function."""

import inspect
import math
import operator
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import autodiff
from autodiff import errors
from exercises import NOTHING, Hint, unfilled


def number(found: Any) -> float:
    """What an answer returned, as a float; a hint if it is not a number."""
    if found is None:
        raise Hint("Your function returns nothing: a `return` is missing.")
    if unfilled(found):
        raise Hint(NOTHING)
    if isinstance(found, complex):  # numpy's complex numbers too
        raise Hint("That is a complex number. You need only one of its two parts: which?")
    if callable(found):
        raise Hint("That is a function. Call it, and return the number.")
    try:
        return real(found)
    except (TypeError, ValueError):
        raise Hint(f"Expected a number, found {errors.a(found)}.") from None


def real(found: Any) -> float:
    """The number as a float; a TypeError for text, which `float` would read."""
    if isinstance(found, str):
        raise TypeError
    return float(found)


def integer(answer: Any) -> int:
    """The answer, if it is an integer, NumPy's and SymPy's included; else a hint."""
    try:
        if not isinstance(answer, bool):
            return operator.index(answer)
    except TypeError:
        pass
    raise Hint(f"Expected an integer, found {errors.a(answer)}.")


def close(found: float, expected: float, tolerance: float = 1e-9) -> bool:
    """Whether two numbers are equal up to rounding."""
    return math.isclose(found, expected, rel_tol=tolerance, abs_tol=tolerance)


def needs_function(answer: Any, example: str) -> None:
    """A hint if the answer is not a function."""
    if not callable(answer):
        raise Hint(f"Expected a function, `def {example}:`, found {errors.a(answer)}.")


def called_by(*names: str) -> bool:
    """Whether a function of autodiff, with one of these names if any, is among the callers."""
    frame = sys._getframe(1)
    while frame is not None:
        ours = str(frame.f_globals.get("__name__")).startswith("autodiff.")
        if ours and (not names or frame.f_code.co_name in names):
            return True
        frame = frame.f_back
    return False


def by_hand(function: Callable[[Any], Any], remedy: str) -> Callable[[Any], Any]:
    """The function, made to raise the remedy as a hint if the package calls it."""

    def probe(x: Any) -> Any:
        if called_by():
            raise Hint(remedy)
        return function(x)

    return probe


PACKAGE = Path(autodiff.__file__).parent


def refusing(answer: Callable[..., Any], remedy: str, file: str = "") -> Callable[..., Any]:
    """The answer, made to raise the remedy as a hint if it calls this file of the package.

    Without a file, it may not call the package at all. The hint comes at the end, whatever the
    answer returned, raised or caught.
    """
    forbidden = str(PACKAGE / file) if file else str(PACKAGE) + os.sep

    def call(*args: Any) -> Any:
        called = False

        def watch(frame: Any, event: str, _: Any) -> None:
            nonlocal called
            code = frame.f_code
            # A generator may just be ending here, because the garbage collector has found it.
            if event == "call" and not code.co_flags & inspect.CO_GENERATOR:
                called |= code.co_filename.startswith(forbidden)

        before = sys.getprofile()
        sys.setprofile(watch)
        try:
            return answer(*args)
        finally:
            sys.setprofile(before)
            if called:
                raise Hint(remedy)

    return call


def without_the_package(answer: Callable[..., Any], *args: Any, tools: str = "`math`") -> Any:
    """What the answer returns; a hint if it calls a function of autodiff to find it."""
    remedy = f"That leaves the work to the package. Write it with {tools} and + - * / alone."
    return refusing(answer, remedy)(*args)
