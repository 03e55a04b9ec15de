"""Programs: the derivative as straight-line Python, number by number."""

import linecache
import math
import weakref
from collections.abc import Iterable
from itertools import count
from typing import Any

from .. import functions, graph
from ..errors import a, message
from ..value import Value, leaf
from . import backends
from .printer import ArrayPython, Printer, Python, assembled
from .symbolic import Writer


class Program:
    """A compiled expression: a function, `(*numbers) -> (value, gradients)`, and its `source`.

    Made by `Expression.compile`. It can be pickled: it is made again of its source.

    >>> from autodiff import Expression, Value
    >>> x, y = Value(3.0), Value(4.0)
    >>> program = Expression(x * y + x).compile([x, y], wrt=[x, y])
    >>> program(3.0, 4.0)
    (15.0, (5.0, 3.0))
    """

    def __init__(self, source: str, sizes: tuple[int, ...] | None = None) -> None:
        self.source = source
        self._sizes = sizes  # of the arguments of a batch; empty for arrays of any shape
        filename = f"<program {next(_numbers)}>"  # of the lines that a traceback shows
        namespace: dict[str, Any] = {}
        exec(compile(source, filename, "exec"), namespace)  # text of this module's own making
        self._function = namespace["program"]
        linecache.cache[filename] = len(source), None, source.splitlines(True), filename
        weakref.finalize(self._function, linecache.cache.pop, filename, None)

    def __call__(self, *numbers: Any) -> Any:
        if self._sizes is not None:
            _check_arrays(numbers, self._sizes)
        return self._function(*numbers)

    def __repr__(self) -> str:
        return f"<Program of {self.source.count(chr(10))} lines: print its .source>"

    def _repr_html_(self) -> str:
        from ..pictures.displays import program

        return program(self.source)

    def __reduce__(self) -> Any:
        return Program, (self.source, self._sizes)


def _check_arrays(arrays: tuple[Any, ...], sizes: tuple[int, ...]) -> None:
    """The arguments of a batched program have their shapes, and all arrays hold floats."""
    for name, array, size in zip(("inputs", "parameters"), arrays, sizes):
        shape = getattr(array, "shape", None)
        if shape is None or len(shape) != 1 + (name == "inputs") or shape[-1] != size:
            found = a(array) if shape is None else f"shape {tuple(shape)}"
            expected = f"(n, {size})" if name == "inputs" else f"({size},)"
            raise ValueError(message(name, found, f"an array of shape {expected}"))
    types = {array.dtype for array in arrays if hasattr(array, "dtype")}
    for dtype in types:
        if not backends.is_floating(dtype):
            remedy = "convert it: array.astype(float)"
            raise ValueError(message("program", f"an array of {dtype}", "arrays of floats", remedy))
    if sizes and len(types) > 1:
        found = f"inputs of {arrays[0].dtype} and parameters of {arrays[1].dtype}"
        raise ValueError(message("program", found, "the same type of numbers"))


_numbers = count(1)


def scalar_program(
    output: Value | list[Value], inputs: list[Value], wrt: list[Value], xp: Any
) -> str:
    """The value of output and its derivatives wrt leaves, number by number.

    Its arguments are the inputs, then those of wrt that are not among them. All other leaves are
    constants. Of several outputs it returns the values alone.
    """
    writer = Writer()
    arguments = list(dict.fromkeys([*inputs, *wrt]))
    copies: dict[Value, Value] = {}  # of nodes: the same graph over symbols
    names: dict[Value, str] = {}  # of nodes
    wanted = set(wrt)
    for i, x in enumerate(arguments, start=1):
        names[x] = f"x{i}"
        copies[x] = leaf(writer.argument(names[x]), int(x in wanted))
    root = functions.sum(output) if isinstance(output, list) else output
    results = count(1)
    for node in graph.depths(root):
        if node is root and isinstance(output, list):
            break  # it comes last
        if node.parents:
            names[node] = f"v{next(results)}"
            parents = [copies[parent] for parent in node.parents]
            copies[node] = parents[0]._apply(node._rule, *parents)
        elif node not in copies:
            copies[node] = leaf(node.data, 0)
    forward = len(writer.symbols)
    adjoints: dict[Value, Any] = {}
    if isinstance(output, list):
        outputs = [writer.as_number(copies[y].data) for y in output]
    else:
        adjoints = graph.adjoints(copies[root], [copies[x] for x in wrt])
        outputs = [writer.as_number(copies[root].data), *[adjoints[copies[x]] for x in wrt]]

    named: dict[Any, str] = {}  # symbols, each by the first name that fits
    for node, called in names.items():
        named.setdefault(copies[node].data, called)
    for node, called in names.items():
        named.setdefault(adjoints.get(copies[node]), f"{called}_bar")
    text: Printer = Python(outputs, named) if xp is math else ArrayPython(xp, outputs, named)
    # Whatever else a label may hold is kept out of the program.
    labels = [
        f"{names[x]} = {x.label}" for x in names if x.label.isidentifier() and x.label != names[x]
    ]
    body = [
        *([f"# {', '.join(labels)}"] if labels else []),
        *text.body(list(writer.symbols.values()), forward),
    ]
    found = list(map(text.of, outputs))
    several = isinstance(output, list)
    body.append(f"return {_tuple(found) if several else f'{found[0]}, {_tuple(found[1:])}'}")
    return assembled(xp, text, [names[x] for x in arguments], body)


def _tuple(texts: Iterable[str]) -> str:
    listed = list(texts)
    return f"({', '.join(listed)}{',' if len(listed) == 1 else ''})"
