"""What a trial of a model and a loss leaves behind: nothing, and whether they are pure is seen.

A model and a loss are pure functions of their input and parameters. What is most often forgotten
shows at once: they draw random numbers, or set attributes of modules. `fit` finds the rest by
walking a few samples.
"""

import gc
import pickle
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from types import BuiltinMethodType, CellType, FunctionType, MethodType
from typing import Any

from ..linalg import Matrix, Vector
from ..value import Value

CONTRACT = (
    "a model and a loss are pure functions of their input and parameters; parameters are leaves; "
    "randomness comes from Dropout or is passed in"
)
HOLDERS = (tuple, partial, CellType, MethodType, BuiltinMethodType)
PLAIN = (int, float, str, bytes)  # compared by value; what else a call sets, by identity


class NotRecordable(BaseException):
    """Says why the graph of a loss cannot be recorded, and each sample has to be walked.

    Not an Exception, so that a model that catches those does not catch it.
    """


def reached(*roots: Any) -> list[Any]:
    """All that models and losses hold, each once: in attributes, lists, dicts, tuples, closures.

    Not what is in global variables, or in objects that cannot be called.

    >>> [x for x in reached([1, (2, {"a": len})]) if callable(x)]
    [<built-in function len>]
    """
    seen: dict[int, Any] = {}
    stack = [*roots]
    while stack:
        x = stack.pop()
        if id(x) not in seen and not isinstance(x, (*PLAIN, Value, Vector, Matrix)):
            seen[id(x)] = x
            stack += _parts(x)
    return [*seen.values()]


def _parts(x: Any) -> Iterable[Any]:
    if isinstance(x, list):
        return x
    if isinstance(x, dict):
        return x.values()
    if isinstance(x, HOLDERS):
        return gc.get_referents(x)
    if isinstance(x, FunctionType):
        return x.__closure__, x.__defaults__, x.__kwdefaults__
    if callable(x) and not isinstance(x, type):  # a module
        kind: type = type(x)
        held = [f for base in kind.__mro__ for f in vars(base).values()]
        return [getattr(x, "__dict__", None), *[f for f in held if isinstance(f, FunctionType)]]
    return ()


@contextmanager
def unchanged(*roots: Any) -> Iterator[None]:
    """Put back what models and losses draw and set in the block; NotRecordable if they do.

    That is attributes, lists and dicts, and the states of random generators, held or in global
    variables beside the functions, and those of `random` and `numpy.random`.
    """
    import numpy

    held = reached(*roots)
    spaces = {id(f.__globals__): f.__globals__ for f in held if isinstance(f, FunctionType)}
    around = [x for space in spaces.values() for x in space.values()]
    holders = random, numpy.random, *held, *around
    drawn = {id(x): state for x in holders if (state := _state(x))}
    states = [(*state, pickle.dumps(state[0]())) for state in drawn.values()]
    boxes: Any = [(x, x.copy()) for x in held if isinstance(x, (list, dict))]
    changes: list[str] = []
    try:
        yield
    except NotRecordable as error:
        changes.append(str(error))
    finally:
        for read, write, before in states:
            if pickle.dumps(read()) != before:
                changes.insert(0, f"a call draws random numbers: {CONTRACT}")
                write(pickle.loads(before))
        for box, before in boxes:
            now, then = _entries(box), _entries(before)
            for name in [key for key in {**now, **then} if now.get(key) != then.get(key)][:1]:
                remedy = "return what is to be looked at later"
                changes.insert(0, f"a call changes {name!r}; {remedy}: {CONTRACT}")
                box.clear()
                (box.extend if isinstance(box, list) else box.update)(before)
    if changes:
        raise NotRecordable(changes[0])


def _state(x: Any) -> tuple[Callable[[], Any], Callable[[Any], Any]] | None:
    """How to read the state of a random generator, and how to put it back."""
    if isinstance(x, (type, random.SystemRandom)):
        return None  # these have no state
    for read, write in (("getstate", "setstate"), ("get_state", "set_state")):
        if hasattr(x, read) and hasattr(x, write):
            return getattr(x, read), getattr(x, write)
    bits = getattr(x, "bit_generator", None)  # of numpy's Generator
    return bits and (partial(getattr, bits, "state"), partial(setattr, bits, "state"))


def _entries(box: Any) -> dict[Any, Any]:
    """What a dict or a list holds by key or index: the text of plain data, or an identity."""
    items = enumerate(box) if isinstance(box, list) else box.items()
    return {key: repr(x) if isinstance(x, PLAIN) else id(x) for key, x in items}
