"""Programs: the derivative as straight-line Python, number by number."""

import linecache
import math
import weakref
from collections.abc import Iterable
from itertools import count
from typing import Any

from .. import functions, graph
from ..errors import a, message, typed
from ..number import Number
from ..value import Value, leaf
from . import backends
from .printer import ArrayPython, JavaScript, Printer, Python, assembled
from .symbolic import Writer


class Program:
    """A compiled expression: a function, `(*numbers) -> (value, gradients)`, and its `source`.

    Made by `Expression.compile`. It can be pickled, as its source.

    >>> from autodiff import Expression, Value
    >>> x, y = Value(3.0), Value(4.0)
    >>> program = Expression(x * y + x).compile([x, y], wrt=[x, y])
    >>> program(3.0, 4.0)
    (15.0, (5.0, 3.0))
    """

    def __init__(self, source: str, sizes: tuple[int, ...] | None = None) -> None:
        self.source = source
        self._sizes = sizes  # of the arguments of a batch; empty for arrays of any shape
        self._known: Any = None  # the kinds of the arrays last checked
        filename = f"<program {next(_numbers)}>"  # for tracebacks
        namespace: dict[str, Any] = {}
        exec(compile(source, filename, "exec"), namespace)  # written by this package
        self._function = namespace["program"]
        _keep_lines(filename, source, self._function)

    def __call__(self, *numbers: Any) -> Any:
        if self._sizes is None:
            try:
                plain = type(sum(numbers, 0.0)) is float  # quicker than the type of each
            except TypeError:
                plain = False
            if not plain:
                return self._function(*map(_as_float, numbers))
        else:
            # The type comes first: to numpy, the dtype None of a DataFrame equals float64.
            kinds = [
                (type(x), getattr(x, "shape", None), getattr(x, "dtype", None)) for x in numbers
            ]
            if kinds != self._known:
                _check_arrays(numbers, self._sizes)
                self._known = kinds
        return self._function(*numbers)

    def __repr__(self) -> str:
        return f"<Program of {self.source.count(chr(10))} lines: print its .source>"

    def _repr_html_(self) -> str:
        from ..pictures.displays import program

        return program(self.source)

    def __reduce__(self) -> Any:
        return Program, (self.source, self._sizes)


def _as_float(x: Any, for_many: str = "for arrays compile with xp=numpy") -> float:
    """An argument of a program of floats; numpy's small integers would overflow in it."""
    if isinstance(x, float):  # also numpy's float64
        return float(x)
    remedy = "differentiate what it was compiled from, or take x.data"
    remedy = remedy if isinstance(x, Number) else ""
    remedy = for_many if functions.is_sequence(x) else remedy
    if remedy:
        raise TypeError(message("program", typed(x), "a plain number", remedy))
    return functions.as_float(x, "program")


def _check_arrays(arrays: tuple[Any, ...], sizes: tuple[int, ...]) -> None:
    """Raise an error unless arguments have the right shapes, and arrays hold known floats."""
    for name, array, size in zip(("inputs", "parameters"), arrays, sizes):
        shape = getattr(array, "shape", None) if hasattr(array, "dtype") else None
        if shape is None or len(shape) != 1 + (name == "inputs") or shape[-1] != size:
            found = a(array) if shape is None else f"shape {tuple(shape)}"
            expected = f"(n, {size})" if name == "inputs" else f"({size},)"
            raise ValueError(message(name, found, f"an array of shape {expected}"))
    for array in arrays:
        if not hasattr(array, "dtype"):
            _as_float(array, "make it an array: numpy.array(x, float)")
        if hasattr(array, "compressed"):
            expected = "an array whose numbers are all known"
            raise TypeError(message("program", a(array), expected, "take data.filled(0.0)"))
        if hasattr(array, "getA1"):  # its * is a product of matrices
            raise TypeError(message("program", a(array), "an array", "take numpy.asarray(data)"))
    types = {array.dtype for array in arrays if hasattr(array, "dtype")}
    for dtype in types:
        if not backends.is_floating(dtype):
            remedy = "convert it: array.astype(float)"
            raise ValueError(message("program", f"an array of {dtype}", "arrays of floats", remedy))
    if sizes and len(types) > 1:
        found = f"inputs of {arrays[0].dtype} and parameters of {arrays[1].dtype}"
        raise ValueError(message("program", found, "the same type of numbers"))


_numbers = count(1)
_functions: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()


def _keep_lines(filename: str, source: str, function: Any) -> None:
    """Let tracebacks show the lines of this program, and forget programs that are gone.

    Not when they go, because linecache might be going through its files at that time.
    """
    for name in [name for name in list(linecache.cache) if name.startswith("<program ")]:
        if name not in _functions:
            linecache.cache.pop(name, None)
    _functions[filename] = function
    linecache.cache[filename] = len(source), None, source.splitlines(True), filename


class Scalars:
    """A graph and its backward pass, run over symbols, number by number."""

    def __init__(self, output: Value | list[Value], inputs: list[Value], wrt: list[Value]) -> None:
        self.writer = Writer()
        self.copies: dict[Value, Value] = {}  # of nodes: the same graph over symbols
        self.names: dict[Value, str] = {}  # of nodes
        wanted = set(wrt)
        for i, x in enumerate(dict.fromkeys([*inputs, *wrt]), start=1):
            self.names[x] = f"x{i}"
            self.copies[x] = leaf(self.writer.argument(self.names[x]), int(x in wanted))
        self.arguments = list(self.names.values())
        several = isinstance(output, list)
        root = functions.sum(output) if isinstance(output, list) else output
        results = count(1)
        for node in graph.depths(root):
            if node is root and several:
                break  # their sum, which comes last
            if node.parents:
                self.names[node] = f"v{next(results)}"
                parents = [self.copies[parent] for parent in node.parents]
                self.copies[node] = parents[0]._apply(node._rule, *parents)
            elif node not in self.copies:
                self.copies[node] = leaf(node.data, 0)
        self.forward = len(self.writer.symbols)
        self.adjoints: dict[Value, Any] = {}  # of the copies
        if not several:
            self.adjoints = graph.adjoints(self.copies[root], [self.copies[x] for x in wrt])

    def value(self, node: Value) -> Any:
        """The value of a node, a symbol or a number."""
        return self.writer.as_number(self.copies[node].data)

    def adjoint(self, node: Value) -> Any:
        """The derivative of the output by a node; 0.0 if no leaf of wrt leads to it."""
        return self.adjoints.get(self.copies[node], 0.0)

    def locals(self, node: Value) -> list[Any]:
        """The derivatives of a node by its parents; 0.0 if no leaf of wrt leads to the parent."""
        found = self.copies[node]._backward(1.0)
        return [
            0.0 if local is None or parent not in self.adjoints else self.writer.as_number(local)
            for parent, local in zip(self.copies[node].parents, found)
        ]

    def named(self) -> dict[Any, str]:
        """The name of each symbol: that of the first node, or adjoint, that it stands for."""
        found: dict[Any, str] = {}
        for node, name in self.names.items():
            found.setdefault(self.copies[node].data, name)
        for node, name in self.names.items():
            found.setdefault(self.adjoints.get(self.copies[node]), f"{name}_bar")
        return found

    def body(self, printer: Printer) -> list[str]:
        """The lines of the program."""
        return printer.body(list(self.writer.symbols.values()), self.forward)


def scalar_program(
    output: Value | list[Value], inputs: list[Value], wrt: list[Value], xp: Any
) -> str:
    """The source of a program for the value of output and its derivatives, number by number.

    Its arguments are the inputs, then those of wrt that are not among them; all other leaves are
    constants. xp is its library. For several outputs it returns the values alone.
    """
    scalars = Scalars(output, inputs, wrt)
    if isinstance(output, list):
        outputs = [scalars.value(y) for y in output]
    else:
        outputs = [scalars.value(output), *map(scalars.adjoint, wrt)]
    named = scalars.named()
    text: Printer = Python(outputs, named) if xp is math else ArrayPython(xp, outputs, named)
    # A label that is not an identifier stays out of the program.
    labels = [
        f"{name} = {x.label}"
        for x, name in scalars.names.items()
        if x.label.isidentifier() and x.label != name
    ]
    body = [*([f"# {', '.join(labels)}"] if labels else []), *scalars.body(text)]
    found = list(map(text.of, outputs))
    several = isinstance(output, list)
    body.append(f"return {_tuple(found) if several else f'{found[0]}, {_tuple(found[1:])}'}")
    return assembled(xp, scalars.arguments, body)


def javascript(
    output: Value | list[Value],
    inputs: list[Value],
    wrt: list[Value],
    nodes: list[Value] | None = None,
) -> str:
    """The same program for output as the text of a JavaScript function of [*inputs, *wrt].

    It returns [value, gradients], or for several outputs their values; if nodes are given also
    their values, their adjoints and, in a list for each, their derivatives by their parents.
    Outside a domain numbers are NaN or Infinity.
    """
    scalars = Scalars(output, inputs, wrt)
    shown = nodes or []
    several = isinstance(output, list)
    values = list(map(scalars.value, output if isinstance(output, list) else [output]))
    lists = [] if several else [[scalars.adjoint(x) for x in wrt]]
    if shown:
        lists += [list(map(scalars.value, shown)), list(map(scalars.adjoint, shown))]
    locals_ = [scalars.locals(node) for node in shown]
    used = [*values, *[x for each in lists + locals_ for x in each]]
    printer = JavaScript(used, scalars.named())
    lines = [f"const {_array(scalars.arguments)} = inputs;", *scalars.body(printer)]
    returned = [*map(printer.of, values), *[_array(map(printer.of, each)) for each in lists]]
    if shown:
        returned.append(_array([_array(map(printer.of, each)) for each in locals_]))
    lines = [*printer.helpers(), *lines, f"return {_array(returned)};"]
    return "\n".join(["(inputs) => {", *[f"  {line}" for line in lines], "}"])


def _array(texts: Iterable[str]) -> str:
    return f"[{', '.join(texts)}]"


def _tuple(texts: Iterable[str]) -> str:
    listed = list(texts)
    return f"({', '.join(listed)}{',' if len(listed) == 1 else ''})"
