"""Snapshots of what functions and models hold, to notice and undo what a call changes."""

import operator
import pickle
import random
import sys
from array import array
from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

from .linalg import Matrix, Vector
from .number import Number
from .value import Value

# Objects of these libraries are assumed not to change.
LIBRARIES = {"autodiff", "jax", "jaxlib", "matplotlib", "numpy", "pandas", "scipy", "sklearn"}
FIELDS = ("_data", "_grad", "_label", "_level")  # of a Value
HOLDERS = (SimpleNamespace, UserDict, UserList, ChainMap)  # of the standard library
Access = tuple[Callable[[], Any], Callable[[Any], Any]]  # read what something holds; put it back


class Snapshot:
    """Everything that can change in models and functions, as it is now.

    That is the attributes of objects and their classes, lists, dicts, sets, arrays, Values,
    random generators, and the variables that functions use, also those of the user's own modules,
    except the Values in `apart`.

    >>> counts = {"calls": 0}
    >>> before = Snapshot({"the loss": [counts]})
    >>> counts["calls"] += 1
    >>> before.changes()
    ['the loss[0].calls']
    >>> before.restore()
    >>> counts
    {'calls': 0}
    """

    def __init__(self, roots: dict[str, Any], apart: Iterable[Value] = ()) -> None:
        self.held: list[tuple[str, Access, Any]] = []
        self.iterators: list[str] = []  # whether these have changed cannot be seen
        for name, x in reached(roots, apart):
            if isinstance(x, Iterator):
                self.iterators.append(name)
            access = _access(x)
            if access is not None:
                self.held.append((name, access, access[0]()))

    def changes(self) -> list[str]:
        """The names of what has changed since."""
        return [
            name + _where(now, before)
            for name, (read, _), before in self.held
            if not same(now := read(), before)
        ]

    def restore(self) -> None:
        """Put everything back."""
        for _, (read, write), before in self.held:
            if not same(read(), before):
                write(before)


def reached(roots: dict[str, Any], apart: Iterable[Value] = ()) -> Iterator[tuple[str, Any]]:
    """All that functions and models hold, each object once, with its name; without `apart`.

    >>> [name for name, _ in reached({"a": [1.0, {"b": 2.0}]})]
    ['a', 'a[1]', 'a[1].b', 'a[0]']
    """
    seen: dict[int, Any] = {id(x): x for x in apart}
    stack: list[tuple[str, Any]] = [*roots.items()]
    while stack:
        name, x = stack.pop()
        numbers = isinstance(x, (Vector, Matrix))
        if id(x) in seen or (numbers and all(id(entry) in seen for entry in x._entries)):
            continue
        seen[id(x)] = x
        yield name, x
        access = None if numbers or isinstance(x, Value) or hasattr(x, "tobytes") else _access(x)
        holds = access[0]() if access else x
        if access and isinstance(holds, dict):
            join = ": " if isinstance(x, FunctionType) else "."
            stack += [(f"{name}{join}{key}", part) for key, part in holds.items()]
        elif isinstance(holds, (list, tuple)):
            stack += [(f"{name}[{i}]", part) for i, part in enumerate(holds)]
        if access and _own(type(x)):
            stack.append((type(x).__name__, type(x)))


def generators() -> dict[str, Any]:
    """The global random generators by name, as roots of a Snapshot."""
    numpy = sys.modules.get("numpy")
    return {"random": random} | ({"numpy.random": numpy.random.mtrand._rand} if numpy else {})


def exact_key(x: Any) -> Any:
    """A key that is equal only for exactly equal values: 0.0 and -0.0 differ, as do 1 and 1.0.

    >>> exact_key((0.5, 0)) == exact_key((0.5, 0.0))
    False
    """
    kind = type(x)
    if kind in (tuple, list):
        return kind, *map(exact_key, x)
    if kind in (int, bool, str, float, bytes, complex):
        return kind, repr(x)
    if isinstance(x, Number):
        return kind, id(x)
    if hasattr(x, "tobytes") and hasattr(x, "dtype"):
        return kind, x.dtype, x.shape, x.tobytes()
    return kind, id(x)


def _where(now: Any, before: Any) -> str:
    """The attribute or key that has changed, as a suffix of a name."""
    if isinstance(before, dict):
        changed = [key for key in {**before, **now} if not same(now.get(key), before.get(key))]
        return f".{str(changed[0]).lstrip('_')}" if changed else ""
    return ""


def same(now: Any, before: Any) -> bool:
    """Whether two dicts, lists or other objects hold exactly the same.

    >>> same([1.0, "a"], [1.0, "a"]), same([0.0], [-0.0])
    (True, False)
    """
    if isinstance(before, dict):
        if list(map(exact_key, now)) != list(map(exact_key, before)):
            return False
        now, before = list(now.values()), list(before.values())
    if isinstance(before, list):
        if len(now) != len(before):
            return False
        if all(map(operator.is_, now, before)):
            return True
        return all(a is b or same(a, b) for a, b in zip(now, before))
    return bool(exact_key(now) == exact_key(before))


def _own(kind: Any) -> bool:
    """Whether a class, a function or a module is the user's own."""
    name = kind.__name__ if isinstance(kind, ModuleType) else getattr(kind, "__module__", None)
    root = str(name or "builtins").partition(".")[0]
    if isinstance(kind, ModuleType) and "site-packages" in str(getattr(kind, "__file__", "")):
        return False  # an installed library, which is large
    return root not in LIBRARIES and root not in sys.stdlib_module_names


def _access(x: Any) -> Access | None:
    """How to read what x holds, and how to put it back; None if it holds nothing that changes."""
    if isinstance(x, (Value, Vector, Matrix)):
        entries = (x,) if isinstance(x, Value) else x._entries
        return lambda: {f: [getattr(e, f) for e in entries] for f in FIELDS}, _setter(entries)
    if isinstance(x, (list, deque, bytearray)):
        return lambda: list(x), lambda before: (x.clear(), x.extend(before))
    if isinstance(x, array):
        return lambda: list(x), lambda before: x.__setitem__(slice(None), array(x.typecode, before))
    if isinstance(x, (dict, set)):
        kind: Any = dict if isinstance(x, dict) else set
        return lambda: kind(x), lambda before: (x.clear(), x.update(before))
    if isinstance(x, random.SystemRandom):
        return None  # it has no state
    if x is random or isinstance(x, random.Random):
        return lambda: pickle.dumps(x.getstate()), lambda s: x.setstate(pickle.loads(s))
    if str(type(x).__module__).startswith("numpy.random"):
        bits = getattr(x, "bit_generator", x)  # of a Generator; a RandomState is its own
        bits = getattr(bits, "_bit_generator", bits)
        return lambda: pickle.dumps(bits.state), lambda s: setattr(bits, "state", pickle.loads(s))
    if hasattr(x, "dtype") and hasattr(x, "tobytes") and hasattr(x, "__setitem__"):
        return x.copy, lambda before: x.__setitem__(..., before)
    if isinstance(x, FunctionType):
        return _variables(x) if _own(x) else None
    if isinstance(x, (staticmethod, classmethod)) or hasattr(x, "__self__"):  # rng.random too
        return lambda: {y: getattr(x, y, None) for y in ("__func__", "__self__")}, _nothing
    if isinstance(x, partial):
        return lambda: [x.func, *x.args, *x.keywords.values()], _nothing
    if isinstance(x, type):
        return _class(x) if _own(x) else None
    if hasattr(x, "named_parameters") or isinstance(x, HOLDERS) or _own(type(x)):
        return _attributes(x)
    return None


def _nothing(before: Any) -> None:
    pass


def _setter(entries: Any) -> Callable[[Any], None]:
    def write(before: Any) -> None:
        for field, numbers in before.items():
            for entry, number in zip(entries, numbers):
                setattr(entry, field, number)

    return write


def _attributes(x: Any) -> Access:
    """The attributes of an object, including those in slots."""
    slots = [y for kind in type(x).__mro__ for y in _names(vars(kind).get("__slots__", ()))]

    def read() -> dict[str, Any]:
        return {y: getattr(x, y) for y in slots if hasattr(x, y)} | getattr(x, "__dict__", {})

    def write(before: dict[str, Any]) -> None:
        for name in read().keys() - before.keys():
            object.__delattr__(x, name)
        for name, part in before.items():
            object.__setattr__(x, name, part)

    return read, write


def _names(slots: Any) -> list[str]:
    listed = [slots] if isinstance(slots, str) else list(slots)
    return [name for name in listed if not name.startswith("__")]


def _class(kind: type) -> Access:
    """The attributes of a class, including its methods."""

    def read() -> dict[str, Any]:
        return {key: x for key, x in vars(kind).items() if not key.startswith("__")}

    def write(before: dict[str, Any]) -> None:
        for key in read().keys() - before.keys():
            delattr(kind, key)
        for key, x in before.items():
            setattr(kind, key, x)

    return read, write


def _variables(function: FunctionType) -> Access:
    """The variables that a function uses from outside, its attributes and its defaults."""
    names, codes = set(), [function.__code__]
    while codes:
        code = codes.pop()
        names |= set(code.co_names)
        codes += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    world = function.__globals__

    def read() -> dict[str, Any]:
        found = {name: world[name] for name in sorted(names & world.keys())}
        found |= {name: cell.cell_contents for name, cell in cells.items()}
        for name, x in [*found.items()]:
            if isinstance(x, ModuleType) and _own(x):
                found |= {f"{name}.{y}": vars(x)[y] for y in sorted(names & vars(x).keys())}
        found |= {f"attribute {name}": x for name, x in vars(function).items()}
        defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        return found | {f"default {i}": x for i, x in enumerate(defaults)}

    def write(before: dict[str, Any]) -> None:
        world.update({name: before[name] for name in names & before.keys()})
        for key in [key for key in before if "." in key and not key.startswith("attribute ")]:
            name, _, y = key.partition(".")
            setattr(before[name], y, before[key])
        own = [key for key in before if key.startswith("attribute ")]
        vars(function).clear()
        vars(function).update({key.removeprefix("attribute "): before[key] for key in own})
        for name, cell in cells.items():
            cell.cell_contents = before[name]

    return read, write
