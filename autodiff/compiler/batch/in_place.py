"""The program as NumPy runs it: each operation has a line, and writes into an array that is kept.

New arrays cost a small program a tenth of its time. So an array serves again as soon as nobody
reads what it holds, and parts of a whole, as of the gradients, are computed in their places.
"""

import re
from collections import defaultdict
from collections.abc import Iterable

import numpy

from ..printer import ATOM
from ..symbolic import CONDITIONS, Operand, Symbol
from .arrays import axes_of, sizes, without
from .text import ArrayText

NAMES = {"sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative"}  # NumPy's
REDUCTIONS = {"total": "xp.add.reduce", "amax": "xp.maximum.reduce"}
BY_NAME = "xp.einsum(", "xp.maximum(", "xp.minimum(", "("  # others take `out` by place: quicker
CALL = re.compile(r"\bxp\.(\w+)")
VIEWS = "as", "part", "reshape", "transposed", "repeat"  # of another array


def is_elementwise(x: Symbol) -> bool:
    """Whether it is a function of NumPy's, entry by entry; x ** 2.0 is quicker with its sign."""
    function = getattr(numpy, str(NAMES.get(x.op, x.op)), None)
    return isinstance(function, numpy.ufunc) and function.nin == len(x.args) and x.op != "pow"


def is_written(x: Symbol) -> bool:
    """Whether an operation can write into an array that is there."""
    return bool(x.axes) and (x.op in (*REDUCTIONS, "product") or is_elementwise(x))


class InPlace(ArrayText):
    """Symbols of arrays as source that writes into arrays, which the lines `made` make."""

    def __init__(self, symbols: Iterable[Symbol], results: list[Symbol]) -> None:
        super().__init__(numpy, "inputs", results)
        self.needed = [x for x in symbols if x in self.uses]
        self.made: dict[str, str] = {}  # names of arrays, and how each is made
        self.constants: dict[float, str] = {}  # in arrays, which NumPy takes quicker than floats
        self.arrays: dict[Symbol, str] = {}  # that operations write into
        self.places: dict[Symbol, tuple[Symbol, str]] = {}  # of a part: in which whole, and where
        self.copied: dict[Symbol, list[tuple[str, Operand]]] = {}  # the other parts of a whole
        for x in reversed(self.needed):  # the outermost first
            if x.op == "join":
                self._find_places(x)
        self._choose_arrays(results)

    def _find_places(self, whole: Symbol) -> None:
        """Find places in a whole for its parts, if they are results that can be written there."""
        letter, *parts = whole.args
        start, copied = 0, list[tuple[str, Operand]]()
        before = ":, " * [*whole.axes].index(letter)
        for x, size in zip(parts[::2], parts[1::2]):
            part, end = x, start + size
            while isinstance(part, Symbol) and part.op in ("as", "reshape"):
                part = part.args[0]
            axes = without(whole.axes, letter) | ({letter: size} if size > 1 else {})
            written = axes and axes_of(x) == axes and (part.op == "join" or is_written(part))
            reshaped = bool(written and sizes(part.axes) != sizes(x.axes))
            if not written or part in self.places or (reshaped and self._has_gaps(whole, before)):
                copied.append((f"[{before}{start}:{end}]", x))
            else:
                index = f"[{before}{start}:{end}]" if size > 1 else f"[{before}{start}]"
                self.places[part] = whole, index + f".reshape{sizes(part.axes)}" * reshaped
            start = end
        if whole in self.places or len(copied) < len(parts) // 2:
            self.copied[whole] = copied

    def _has_gaps(self, whole: Symbol, before: str) -> bool:
        """Whether others lie between the numbers of a part: then reshaping it would copy them."""
        while whole in self.places and not before:
            whole, place = self.places[whole]
            before = ":" * place.startswith("[:")
        return bool(before)

    def _owner(self, x: Symbol) -> Symbol:
        """The array that x is part of or looks at."""
        while x in self.places or (x.op in VIEWS and isinstance(x.args[0], Symbol)):
            x = self.places[x][0] if x in self.places else x.args[0]
        return x

    def _choose_arrays(self, results: list[Symbol]) -> None:
        """Choose an array for each operation: one of its kind that nobody reads any more.

        An operation entry by entry may write over what it reads.
        """
        last = {self._owner(x): len(self.needed) for x in results}  # when each is read last
        for now, x in reversed([*enumerate(self.needed)]):
            for arg in x.args:
                if isinstance(arg, Symbol):
                    last.setdefault(self._owner(arg), now)
        free, ends = defaultdict[str, list[str]](list), defaultdict[int, list[str]](list)

        def release(now: int) -> None:
            for name in ends.pop(now, ()):
                free[self.made[name]].append(name)

        for now, x in enumerate(self.needed):
            own = self._owner(x)
            if is_elementwise(x):
                release(now)  # so it may write over what it reads
            if is_written(x) or x in self.copied:
                if own not in self.arrays:
                    kind = "bool" if own.op in CONDITIONS else "dtype"
                    text = f"xp.empty({sizes(own.axes)}, {kind})"
                    self.arrays[own] = free[text].pop() if free[text] else self._new(text)
                    ends[last[own]].append(self.arrays[own])
                self._array(x)
            release(now)

    def _new(self, text: str) -> str:
        self.made[name := f"a{len(self.made) + 1}"] = text
        return name

    def _array(self, x: Symbol) -> str:
        """The name of the array that an operation writes into."""
        if x not in self.arrays:
            whole, place = self.places[x]
            self.arrays[x] = self._new(self._array(whole) + place)
        return self.arrays[x]

    # -- Text --

    def lines(self, symbols: Iterable[Symbol]) -> list[str]:
        lines = []
        for x in symbols:
            self.target = x.axes
            lines += [
                f"{self.arrays[x]}{at} = {self.of(part)}" for at, part in self.copied.get(x, ())
            ]
            self.target = None
            lines += super().lines([x])
        return lines

    def has_line(self, symbol: Symbol, text: str) -> bool:
        return symbol.op not in VIEWS or super().has_line(symbol, text)

    def expression(self, symbol: Symbol) -> tuple[str, int]:
        array, op = self.arrays.get(symbol), symbol.op
        if array is None or op == "join":
            return (array, ATOM) if array else super().expression(symbol)
        if op in REDUCTIONS:
            x, letter = symbol.args
            text = f"{REDUCTIONS[op]}({self.of(x)}, {[*x.axes].index(letter)}, None)"
        elif op == "product":
            text, _ = super().expression(symbol)
            if not text.startswith(BY_NAME):
                text = f"xp.matmul({text.replace(' @ ', ', ')})"
        else:
            self.target = symbol.axes
            text = f"xp.{NAMES.get(op, op)}({', '.join(map(self.array, symbol.args))})"
            self.target = None
        return f"{text[:-1]}, {'out=' * text.startswith(BY_NAME)}{array})", ATOM

    def array(self, x: Operand) -> str:
        if isinstance(x, Symbol):
            return self.of(x)
        if x not in self.constants:
            self.constants[x] = self._new(f"xp.array({super().of(x)}, dtype)")
        return self.constants[x]

    def source(self, body: list[str], arguments: Iterable[str], before: list[str]) -> str:
        """The source of a program with this body, and of what makes the arrays that it is given.

        What it calls has names of its own, because looking into a module takes longer.
        """
        called = dict.fromkeys(CALL.findall("\n".join(body)))
        head = [*before, *[f"xp_{name} = xp.{name}" for name in called], "", ""]
        head += ["def arrays(n, dtype):", *[f"    {x} = {text}" for x, text in self.made.items()]]
        head.append(f"    return [{', '.join(self.made)}]")
        body = [CALL.sub(r"xp_\1", line) for line in body]
        return super().source(body, [*self.made, *arguments], head)
