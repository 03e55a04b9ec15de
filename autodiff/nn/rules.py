"""The rule of an optimiser as a program in place: what NumPy does quickest.

The rule is a formula. It is run once over symbols, and each operation becomes a line that writes
its result into an array that is kept:

    velocity = 0.9 * velocity + grad    kept1 = xp.multiply(velocity, 0.9, kept1)
                                        new_velocity = xp.add(kept1, grad, new_velocity)
"""

from collections.abc import Iterable
from typing import Any

from ..compiler.printer import ATOM, ArrayPython, assembled
from ..compiler.program import Program
from ..compiler.symbolic import Symbol, Writer
from ..engine.admission import AnyNumber, Floats
from ..optim import Optimizer, Snapshot

NUMPY = {"neg": "negative", "sub": "subtract", "mul": "multiply", "div": "divide", "pow": "power"}


class InPlace(ArrayPython):
    """Python over arrays that are kept: a result is written into the one whose name it has."""

    def __init__(self, xp: Any, outputs: Iterable[Symbol]) -> None:
        super().__init__(xp, "", outputs)
        self.functions: dict[str, None] = {}

    def expression(self, symbol: Symbol) -> tuple[str, int]:
        if not symbol.name:  # a number
            return super().expression(symbol)
        texts = [*map(self.of, symbol.args), symbol.name]
        function = NUMPY.get(symbol.op, symbol.op)
        self.functions[function] = None
        return f"{function}({', '.join(texts)})", ATOM


def _parts(symbol: Symbol) -> list[Symbol]:
    return [x for x in symbol.args if isinstance(x, Symbol)]


class Rule:
    """What `optimizer.update` gives, in arrays of its own; its `program` is made for a snapshot.

    It does not write to a snapshot that it is given, but to the one before, which was its own.
    """

    def __init__(self, optimizer: Optimizer, now: Snapshot) -> None:
        import numpy

        writer = Writer()
        p, total, n, *known = map(writer.argument, ("p", "total", "n", *now.state))
        state: Any = dict(zip(now.state, known))
        moved: Any = optimizer.moved(p, total / n, state)
        after = {"p": moved, **state}
        given: dict[str, AnyNumber] = {"p": now.p, "total": now.p, **now.state}
        arrays = {x.number for x in (p, total, *known) if hasattr(given[x.op], "shape")}
        symbols, made = [*writer.symbols.values()], list[Symbol]()
        for symbol in symbols:
            if not arrays.isdisjoint([x.number for x in _parts(symbol)]):
                arrays.add(symbol.number)
                made.append(symbol)
                symbol.own_line = True
        for name, x in after.items():
            x.name = f"new_{name}" if x.own_line else ""
        results = [x.name for x in after.values() if x.name]
        last = {x.number: by for by in made for x in _parts(by)}  # which reads it last
        for symbol in reversed(made):  # what it is made of is written where it will be
            for x in _parts(symbol) if symbol.name else ():
                if x.own_line and not x.name and last[x.number] is symbol:
                    x.name = symbol.name
                    break
        kept: dict[str, int] = {}  # of each array that is kept: the number that reads it last
        for symbol in made:
            if not symbol.name:
                free = [name for name, end in kept.items() if end <= symbol.number]
                symbol.name = [*free, f"kept{len(kept) + 1}"][0]
                kept[symbol.name] = last[symbol.number].number
        printer = InPlace(numpy, after.values())
        body = printer.lines(symbols)
        states = ", ".join([f'"{name}": {printer.of(x)}' for name, x in state.items()])
        body.append(f"return {printer.of(moved)}, {{{states}}}")
        used = [f"from numpy import {', '.join(printer.functions)}"]
        arguments = ["p", "total", "n", *now.state, *results, *kept]
        self.program = Program(assembled(numpy, arguments, body, {}, used))
        self.run = self.program._function
        self.kept = [numpy.empty_like(now.p) for _ in kept]
        self.places = [[numpy.empty_like(now.p) for _ in results] for _ in range(2)]
        self.zeros = numpy.zeros_like(now.p)
        self.optimizer, self.kind, self.dot = optimizer, numpy.ndarray, numpy.dot

    def __call__(self, now: Snapshot, total: Floats, n: int) -> Snapshot:
        """What a step leads to along gradients that are summed over n samples."""
        if type(total) is not self.kind:  # of JAX: all stays on its devices
            return self.optimizer.update(now, total / n)
        free = self.places[now.p is self.places[0][0]]
        p, state = self.run(now.p, total, n, *now.state.values(), *free, *self.kept)
        if self.dot(p, self.zeros) != 0.0:  # it is nan
            raise FloatingPointError("a step made a parameter infinite or nan")
        return Snapshot(p, state, now.trained, now.places)
