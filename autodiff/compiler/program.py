"""Programs: the derivative as straight-line Python, number by number."""

import linecache
import math
from collections.abc import Iterable
from itertools import count
from typing import Any

from .. import graph
from ..value import Value, leaf
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

    def __init__(self, source: str, sizes: tuple[int, ...] = ()) -> None:
        self.source = source
        self._sizes = sizes  # of the last axis of each argument of a batched program
        filename = f"<program {next(_numbers)}>"
        namespace: dict[str, Any] = {}
        exec(compile(source, filename, "exec"), namespace)  # text of this module's own making
        linecache.cache[filename] = len(source), None, source.splitlines(True), filename
        self._function = namespace["program"]

    def __call__(self, *numbers: Any) -> Any:
        for name, array, size in zip(("inputs", "parameters"), numbers, self._sizes):
            shape = getattr(array, "shape", None)
            if shape is None or len(shape) != 1 + (name == "inputs") or shape[-1] != size:
                found = f"a {type(array).__name__}" if shape is None else f"shape {tuple(shape)}"
                expected = f"(n, {size})" if name == "inputs" else f"({size},)"
                raise ValueError(f"{name}: found {found}, expected an array of shape {expected}")
        return self._function(*numbers)

    def __repr__(self) -> str:
        return f"<Program of {self.source.count(chr(10))} lines: print its .source>"

    def __reduce__(self) -> Any:
        return Program, (self.source, self._sizes)


_numbers = count(1)


def scalar_program(output: Value, inputs: list[Value], wrt: list[Value], xp: Any) -> str:
    """The value of output and its derivatives wrt leaves, number by number.

    Its arguments are the inputs, then those of wrt that are not among them. All other leaves are
    constants.
    """
    writer = Writer()
    arguments = list(dict.fromkeys([*inputs, *wrt]))
    copies: dict[Value, Value] = {}  # of nodes: the same graph over symbols
    names: dict[Value, str] = {}  # of nodes
    wanted = set(wrt)
    for i, x in enumerate(arguments, start=1):
        names[x] = f"x{i}"
        copies[x] = leaf(writer.argument(names[x]), int(x in wanted))
    results = count(1)
    for node in graph.depths(output):
        if node.parents:
            names[node] = f"v{next(results)}"
            parents = [copies[parent] for parent in node.parents]
            copies[node] = parents[0]._apply(node._rule, *parents)
        elif node not in copies:
            copies[node] = leaf(node.data, 0)
    forward = len(writer.symbols)
    adjoints = graph.adjoints(copies[output], [copies[x] for x in wrt])

    named: dict[Any, str] = {}  # symbols, each by the first name that fits
    for node, called in names.items():
        named.setdefault(copies[node].data, called)
    for node, called in names.items():
        named.setdefault(adjoints.get(copies[node]), f"{called}_bar")
    value, gradients = copies[output].data, [adjoints[copies[x]] for x in wrt]
    outputs = [value, *gradients]
    text: Printer = Python(outputs, named) if xp is math else ArrayPython(xp, outputs, named)
    # Whatever else a label may hold is kept out of the program.
    labels = [
        f"{names[x]} = {x.label}" for x in names if x.label.isidentifier() and x.label != names[x]
    ]
    body = [
        *([f"# {', '.join(labels)}"] if labels else []),
        *text.body(list(writer.symbols.values()), forward),
        f"return {text.of(value)}, {_tuple(map(text.of, gradients))}",
    ]
    return assembled(xp, text, [names[x] for x in arguments], body)


def _tuple(texts: Iterable[str]) -> str:
    listed = list(texts)
    return f"({', '.join(listed)}{',' if len(listed) == 1 else ''})"
