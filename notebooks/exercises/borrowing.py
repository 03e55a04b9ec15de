"""Where an exercise is to write something, the package must not write it."""

import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import autodiff

from . import Hint

PACKAGE = Path(autodiff.__file__).parent


def refusing(answer: Callable[..., Any], remedy: str, file: str = "") -> Callable[..., Any]:
    """The answer, which raises the remedy as a hint if it calls this file of the package.

    Without a file the whole package is refused.
    """
    forbidden = str(PACKAGE / file) if file else str(PACKAGE) + os.sep

    def watch(frame: Any, event: str, argument: Any) -> None:
        code = frame.f_code
        called = event == "call" and not code.co_flags & inspect.CO_GENERATOR
        # A generator may just be ending here, because the garbage collector has found it.
        if called and code.co_filename.startswith(forbidden):
            raise Hint(remedy)

    def call(*args: Any) -> Any:
        before = sys.getprofile()
        sys.setprofile(watch)
        try:
            return answer(*args)
        finally:
            sys.setprofile(before)

    return call
