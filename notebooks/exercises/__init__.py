"""Checks, hints and solutions of the exercises: one module for each notebook.

A notebook imports its own, `from exercises.reverse_mode import check_1, solution`. The learner writes
`answer_1`; `check_1(answer_1)` responds with praise or a hint; `solution(1)` shows our code.
"""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from textwrap import fill
from typing import Any

from IPython.display import Code, display

NOTHING = "Nothing here yet: put your answer where the dots are."


class Hint(Exception):
    """What to say about an answer that is not right yet."""


class Check:
    """A check of an answer: calling it prints the verdict.

    The function that it wraps returns the praise for a right answer and raises `Hint` for any
    other. An exception in the learner's own code becomes a hint too, never a traceback.
    """

    def __init__(self, function: Callable[[Any], str]) -> None:
        self.function = function
        wraps(function)(self)

    def verdict(self, answer: Any) -> tuple[bool, str]:
        """Whether the answer is right, and what to say about it."""
        if unfilled(answer):
            return False, NOTHING
        try:
            return True, self.function(answer)
        except Hint as hint:
            return False, str(hint)
        except Exception as error:
            return False, f"Your code raises {type(error).__name__}: {error}"

    def __call__(self, answer: Any) -> None:
        right, text = self.verdict(answer)
        print(wrapped(f"{'✓' if right else '✗'} {text}"))


def wrapped(text: str) -> str:
    """The text in lines that fit a notebook's page; its own line breaks stay."""
    whole_words = {"break_long_words": False, "break_on_hyphens": False}
    return "\n".join(fill(line, 90, **whole_words) for line in text.split("\n"))


def unfilled(answer: Any) -> bool:
    """Whether the dots of an answer are still there."""
    if isinstance(answer, (tuple, list)):
        return any(map(unfilled, answer))
    if isinstance(answer, Mapping):
        return any(map(unfilled, answer.values()))
    return answer is None or answer is ...


def solutions(module: Mapping[str, Any]) -> Callable[[int], None]:
    """The function `solution(number)` of a module: it displays the code of `solution_<number>`."""

    def solution(number: int) -> None:
        """Display our solution."""
        if f"solution_{number}" not in module:
            known = sorted(int(name[9:]) for name in module if name.startswith("solution_"))
            print(f"There is no exercise {number} here, only {known}.")
            return
        display(Code(inspect.getsource(module[f"solution_{number}"]), language="python"))

    return solution
