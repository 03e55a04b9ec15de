"""What a trial of a model and a loss leaves behind: nothing, and whether they are pure is seen.

A model and a loss are pure functions of their input and parameters. What is most often forgotten
shows at once: they draw random numbers, or set attributes of modules. `fit` finds the rest by
walking a few samples.
"""

import gc
import inspect
import pickle
import random
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from types import BuiltinMethodType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from ..linalg import Matrix, Vector
from ..number import Number
from ..value import Value

CONTRACT = (
    "a model and a loss are pure functions of their input and parameters; parameters are leaves; "
    "randomness comes from Dropout or is passed in"
)
HOLDERS = (list, tuple, partial, CellType, MethodType, BuiltinMethodType)
DATA = (int, float, str, bytes, Value, Vector, Matrix)  # these hold neither modules nor generators


class NotRecordable(BaseException):
    """Says why the graph of a loss cannot be recorded, and each sample has to be walked.

    Not an Exception, so that a model that catches those does not catch it.
    """


def reached(*roots: Any) -> Iterator[Any]:
    """All that models and losses hold, each once: in attributes, lists, dicts, tuples, closures.

    Of global variables the random generators that a function uses; not what is in classes, or in
    objects that cannot be called.

    >>> [x for x in reached([1, (2, {"a": len})]) if callable(x)]
    [<built-in function len>]
    """
    seen: dict[int, Any] = {}
    stack = [*roots]
    while stack:
        x = stack.pop()
        if id(x) not in seen and not isinstance(x, DATA):
            seen[id(x)] = x
            yield x
            stack += _parts(x)


def _parts(x: Any) -> Iterable[Any]:
    if isinstance(x, dict):  # since 3.13 the collector may not see what an object's dict holds
        return [*dict.keys(x), *dict.values(x)]
    if isinstance(x, HOLDERS):
        return gc.get_referents(x)
    if isinstance(x, FunctionType):
        ours = str(x.__module__).startswith("autodiff.")  # these use none
        used = [] if ours else [x.__globals__.get(name) for name in _names(x.__code__)]
        generators = [each for each in used if _state(each)]
        return [x.__closure__, x.__defaults__, x.__kwdefaults__, *generators]
    if callable(x) and not isinstance(x, type):  # a module
        held = [each for kind in inspect.getmro(type(x)) for each in vars(kind).values()]
        return [getattr(x, "__dict__", None), *[f for f in held if isinstance(f, FunctionType)]]
    return ()


def _names(code: CodeType) -> Iterator[str]:
    """The names of attributes and globals in the code of a function, and of functions in it."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


@contextmanager
def unchanged(*roots: Any) -> Iterator[None]:
    """Put back what models and losses draw and set in the block; NotRecordable if they do.

    That is the states of random generators, attributes, lists and dicts. The generators of
    `random` and `numpy.random` are put back only while no other thread runs, which may use them.
    """
    own = [*reached(*roots)]
    shared = [random, *([sys.modules["numpy"].random] if "numpy" in sys.modules else [])]
    states = [(x, *state, pickle.dumps(state[0]())) for x in own + shared if (state := _state(x))]
    boxes: Any = [(x, x.copy()) for x in own if isinstance(x, (list, dict))]
    changes: list[str] = []
    try:
        yield
    except NotRecordable as error:
        changes.append(str(error))
    finally:
        for x, read, write, before in states:
            if pickle.dumps(read()) != before:
                changes.insert(0, f"a call draws random numbers: {CONTRACT}")
                if not isinstance(x, ModuleType) or threading.active_count() == 1:
                    write(pickle.loads(before))
        for box, before in boxes:
            if change := _change(box, before):
                remedy = "return what is to be looked at later"
                changes.insert(0, f"a call changes {change}; {remedy}: {CONTRACT}")
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


def _change(box: Any, before: Any) -> str:
    """The attribute, key or index that has changed in a dict or a list; "" if none has."""
    now, then = [dict(enumerate(x)) if isinstance(x, list) else x for x in (box, before)]
    for key in {**now, **then}:
        if exact_key(now.get(key, now)) != exact_key(then.get(key, then)):
            return repr(key)
    return ""


def exact_key(x: Any) -> Any:
    """A key that is equal only for exactly equal values: 0.0 and -0.0 differ, as do 1 and 1.0.

    >>> exact_key((0.5, 0)) == exact_key((0.5, 0.0))
    False
    """
    kind = type(x)
    if kind in (tuple, list):
        return kind, *map(exact_key, x)
    if kind in (int, float, str, bytes):
        return kind, repr(x)
    if not isinstance(x, Number) and hasattr(x, "tobytes") and hasattr(x, "dtype"):
        return kind, x.dtype, x.shape, x.tobytes()
    return kind, id(x)
