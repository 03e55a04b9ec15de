"""Programs: the derivative as straight-line Python, number by number."""

import linecache
import math
import weakref
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, TypeAlias

from ..engine import graph, ops
from ..engine.admission import as_float
from ..engine.errors import LOST, refusal
from ..engine.value import Value, leaf
from . import backends
from .printer import ArrayPython, JavaScript, Python, assembled
from .symbolic import Symbol, Writer

Runner: TypeAlias = Callable[..., Any]


class Program:
    """A compiled expression: a function, `(*numbers) -> (value, gradients)`, and its `source`.

    Made by `Expression.compile`. It can be pickled, as its source. For a batch in NumPy `running`
    is the same program, to the last digit, with its operations in arrays that are kept.

    >>> from autodiff import Expression, Value
    >>> x, y = Value(3.0), Value(4.0)
    >>> program = Expression(x * y + x).compile([x, y], wrt=[x, y])
    >>> program(3.0, 4.0)
    (15.0, (5.0, 3.0))
    """

    def __init__(self, source: str, sizes: tuple[int, ...] = (), running: str = "") -> None:
        self.source = source
        self.running = running or source
        self._sizes = sizes  # of the arguments of a batch
        self.files: list[str] = []  # the names of its texts in tracebacks
        namespace = self._executed(source)
        self._function = namespace["program"]
        xp = namespace.get("xp")  # None for a program of floats
        self._library = xp and backends.library(xp)
        self._kept = self._executed(running) if running else {}
        self._runners: list[Runner] = []  # that no thread uses now

    def _executed(self, source: str) -> Any:
        """The names that a source defines."""
        self.files.append(file := f"program {next(_numbers)}")
        weakref.finalize(self, linecache.cache.pop, file, None)
        linecache.cache[file] = 0, None, source.splitlines(True), file  # for tracebacks
        namespace: Any = {}  # torch.compile would import it by a __name__
        exec(compile(source, file, "exec"), namespace)  # ours
        return namespace

    def runner(self) -> Runner:
        """What runs this program without checks, for one thread.

        In NumPy a batch is computed in arrays that the runner keeps: its next call writes over what
        it has returned. What the program itself returns is the caller's: copies.
        """
        return in_kept_arrays(self._function, **self._kept) if self._kept else self._function

    def __call__(self, *numbers: Any) -> Any:
        try:
            if self._library is None:
                floats = [x if type(x) is float else backends.real(x) for x in numbers]
                return self._function(*floats)
            arrays = [*map(self._library.floats, numbers)]
        except TypeError as error:
            if str(error) != LOST:
                raise
            found = "numbers that are being differentiated"
            remedy = (
                "call the function that it was compiled from, which can be differentiated, use the "
                "gradients that the program returns, or for the plain number write x.data"
            )
            raise TypeError(refusal("program", found, "floats", remedy)) from None
        for i, (x, size) in enumerate(zip(arrays, self._sizes)):
            if len(x.shape) != 2 - i or x.shape[-1] != size:
                name, shape = (("inputs", f"(n, {size})"), ("parameters", f"({size},)"))[i]
                found = f"shape {tuple(x.shape)}"
                raise ValueError(refusal(name, found, f"an array of shape {shape}"))
        if not self._kept:
            return self._function(*arrays)
        try:
            run = self._runners.pop()  # in one step, so no other thread has it
        except IndexError:
            run = self.runner()
        found = run(*arrays)
        several = type(found) is tuple
        copies = [x.copy("K") for x in (found if several else (found,))]
        self._runners.append(run)
        return tuple(copies) if several else copies[0]

    def __repr__(self) -> str:
        return f"<Program of {self.source.count(chr(10))} lines: print its .source>"

    def _repr_markdown_(self) -> str:
        return f"```python\n{self.source}```"

    def __reduce__(self) -> Any:
        return Program, (self.source, self._sizes, self.running * bool(self._kept))


def in_kept_arrays(plain: Runner, arrays: Any, program: Runner, **_: Any) -> Runner:
    """What runs a program in arrays that are kept: for the last three numbers of samples.

    plain: the program with new arrays, if those given are of several types. arrays: makes these.
    """
    kept: dict[Any, Any] = {}

    def run(*given: Any) -> Any:
        key = len(given[0]), *[x.dtype for x in given]
        own = kept.get(key)
        if own is None:
            if len({*key[1:]}) > 1:
                return plain(*given)
            if len(kept) == 3:  # a batch, a shorter one, and one sample that is verified
                del kept[next(iter(kept))]
            own = kept[key] = arrays(*key[:2])
        return program(*own, *given)

    return run


_numbers = count(1)


class Scalars:
    """Graphs and the backward pass of a single one, run over symbols, number by number."""

    def __init__(
        self, outputs: list[Value], inputs: list[Value], wrt: list[Value], single: bool
    ) -> None:
        writer = Writer()
        copies: dict[Value, Value] = {}  # of nodes: the same graph over symbols
        self.names: dict[Value, str] = {}  # of nodes
        wanted = set(wrt)
        for i, x in enumerate(dict.fromkeys([*inputs, *wrt]), start=1):
            self.names[x] = f"x{i}"
            copies[x] = leaf(writer.argument(self.names[x]), int(x in wanted))
        self.arguments = list(self.names.values())
        results = count(1)
        for node in list(graph.depths(ops.sum(outputs)))[:-1]:  # without their sum
            if node._operation:
                self.names[node] = f"v{next(results)}"
                parents = [copies[parent] for parent in node.parents]
                copies[node] = parents[0]._apply(node._operation, *parents)
            elif node not in copies:
                copies[node] = leaf(as_float(node.data, "compile, a constant"), 0)
        self.forward = len(writer.symbols)
        adjoints: dict[Value, Any] = {}
        if single:
            adjoints = graph.adjoints(copies[outputs[0]], [copies[x] for x in wrt])
        self.values = [writer.as_number(copies[y].data) for y in outputs]
        self.gradients = [adjoints.get(copies[x], 0.0) for x in wrt] if single else []
        for node, name in self.names.items():
            _assign(copies[node].data, name)
        for node, name in self.names.items():
            _assign(adjoints.get(copies[node]), f"{name}_bar")
        self.symbols = list(writer.symbols.values())


def _assign(symbol: Any, name: str) -> None:
    """Give a symbol a line with this name, unless it has one."""
    if isinstance(symbol, Symbol) and not symbol.own_line:
        symbol.name, symbol.own_line = name, True


def scalar_program(
    outputs: list[Value], inputs: list[Value], wrt: list[Value], single: bool, xp: Any
) -> str:
    """The source of a program for the value of a single output and its derivatives, or for values.

    Its arguments are the inputs, then those of wrt that are not among them; all other leaves are
    constants. xp is its library.
    """
    scalars = Scalars(outputs, inputs, wrt, single)
    used = [*scalars.values, *scalars.gradients]
    like = "".join(scalars.arguments[:1])
    text: Python = Python(used) if xp is math else ArrayPython(xp, like, used)
    # A label that is not an identifier stays out of the program.
    labels = [
        f"{name} = {x.label}"
        for x, name in scalars.names.items()
        if x.label.isidentifier() and x.label != name
    ]
    body = [f"# {', '.join(labels)}"] if labels else []
    body += text.body(scalars.symbols, scalars.forward)
    values = list(map(text.result, scalars.values))
    result = _tuple(values)
    if single:
        text.like = values[0]
        result = f"{values[0]}, {_tuple(map(text.result, scalars.gradients))}"
    body.append(f"return {result}")
    return assembled(xp, scalars.arguments, body, text.imports)


def javascript(outputs: list[Value], inputs: list[Value], wrt: list[Value], single: bool) -> str:
    """The same program as the text of a JavaScript function of [*inputs, *wrt].

    Outside a domain numbers are NaN or Infinity.
    """
    scalars = Scalars(outputs, inputs, wrt, single)
    printer = JavaScript([*scalars.values, *scalars.gradients])
    body = printer.body(scalars.symbols, scalars.forward)
    returned = list(map(printer.of, scalars.values))
    if single:
        returned.append(_array(map(printer.of, scalars.gradients)))
    given = ", ".join(f"{i}: {name}" for i, name in enumerate(scalars.arguments))
    given = f"const {{ {given} }} = inputs;"  # by index: ten times quicker than in turn
    lines = [*printer.helpers(), given, *body, f"return {_array(returned)};"]
    return "\n".join(["(inputs) => {", *[f"  {line}" for line in lines], "}"])


def _array(texts: Iterable[str]) -> str:
    return f"[{', '.join(texts)}]"


def _tuple(texts: Iterable[str]) -> str:
    listed = list(texts)
    return f"({', '.join(listed)}{',' if len(listed) == 1 else ''})"
