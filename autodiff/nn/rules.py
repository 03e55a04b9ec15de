"""The rule of an optimiser as a program that works in place: what NumPy does quickest.

The rule is a formula. It is run once over symbols, and each operation on arrays becomes a line
that writes its result into an array that is there already:

    velocity = 0.9 * velocity + grad    new_velocity = multiply(c1, velocity, new_velocity)
                                        new_velocity = add(new_velocity, grad, new_velocity)
"""

from collections.abc import Iterable
from typing import Any

from ..compiler.printer import ATOM, ArrayPython, assembled
from ..compiler.program import Program
from ..compiler.symbolic import Operand, Symbol, Writer
from ..engine.admission import Floats
from ..optim import Optimizer, Snapshot

NUMPY = {"mul": "multiply", "div": "divide", "sub": "subtract", "pow": "power"}


class Rule:
    """What `optimizer.update` gives, by a `program` for snapshots of this form.

    The results of a step are in one of two sets of arrays: never in those of the snapshot that it
    starts from, which is thus whole as long as it is `now`.
    """

    def __init__(self, optimizer: Optimizer, now: Snapshot) -> None:
        import numpy

        writer = Writer()
        p, total, n, *known = map(writer.argument, ("p", "total", "n", *now.state))
        state: Any = dict(zip(now.state, known))
        after: dict[str, Any] = {"p": optimizer.moved(p, total / n, state), **state}
        arrays = [p, total, *[x for x in known if hasattr(now.state[x.op], "shape")]]
        results, kept = _place(_computed([*writer.symbols.values()], arrays), after)
        printer = RuleText(numpy, "", after.values())
        body = printer.lines(writer.symbols.values())
        states = [f'"{name}": {printer.of(x)}' for name, x in state.items()]
        body.append(f"return {printer.of(after['p'])}, {{{', '.join(states)}}}")
        arguments = ["p", "total", "n", *now.state, *results, *kept]
        self.program = Program(assembled(numpy, arguments, body, {}, printer.head()))
        self.run = self.program._function
        self.kept = [numpy.empty_like(now.p) for _ in kept]
        self.results = [[numpy.empty_like(now.p) for _ in results] for _ in range(2)]
        self.zeros, self.optimizer, self.of_numpy = 0.0 * now.p, optimizer, numpy.ndarray

    def __call__(self, now: Snapshot, total: Floats, n: int) -> Snapshot:
        """What a step leads to along gradients that are summed over n samples."""
        if type(total) is not self.of_numpy:  # of JAX: everything stays on its devices
            return self.optimizer.update(now, total / n)
        free = self.results[now.p is self.results[0][0]]
        p, state = self.run(now.p, total, n, *now.state.values(), *free, *self.kept)
        if p.dot(self.zeros) != 0.0:  # it is nan
            raise FloatingPointError("a step made a parameter infinite or nan")
        return Snapshot(p, state, now.trained, now.places)


class RuleText(ArrayPython):
    """Python over arrays that are there: a result is written into the one whose name it has."""

    def __init__(self, xp: Any, like: str, outputs: Iterable[Operand]) -> None:
        super().__init__(xp, like, outputs)
        self.functions: dict[str, None] = {}
        self.constants: dict[float, str] = {}  # in arrays, which NumPy takes quicker than floats

    def expression(self, symbol: Symbol) -> tuple[str, int]:
        if not symbol.name:  # a number
            return super().expression(symbol)
        function = str(NUMPY.get(symbol.op, symbol.op))
        self.functions[function] = None
        texts = [*map(self.operand, symbol.args), symbol.name]
        return f"{function}({', '.join(texts)})", ATOM

    def operand(self, x: Operand) -> str:
        """The text of an operand of a function of arrays."""
        if isinstance(x, Symbol):
            return self.of(x)
        return self.constants.setdefault(x, f"c{len(self.constants) + 1}")

    def head(self) -> list[str]:
        """The lines before the program."""
        arrays = [f"{name} = xp.array({x})" for x, name in self.constants.items()]
        return [f"from numpy import {', '.join(self.functions)}", *arrays]


def _computed(symbols: list[Symbol], arrays: list[Symbol]) -> list[Symbol]:
    """The symbols that stand for arrays and are computed: each has a line of its own."""
    found = {x.number for x in arrays}
    for symbol in symbols:
        if not found.isdisjoint([x.number for x in _parts(symbol)]):
            found.add(symbol.number)
            symbol.own_line = True
    return [x for x in symbols if x.own_line]


def _place(computed: list[Symbol], after: dict[str, Symbol]) -> tuple[list[str], list[str]]:
    """Name the array that each is written into; the names of the results, and of other arrays."""
    last = {x.number: symbol.number for symbol in computed for x in _parts(symbol)}
    for name, x in after.items():
        x.name = f"new_{name}" if x.own_line else ""
    results = [x.name for x in after.values() if x.name]
    for symbol in reversed(computed):  # one of its parts may be where it will be
        ends = [x for x in _parts(symbol) if last[x.number] == symbol.number]
        unnamed = [x for x in ends if x.own_line and not x.name]
        if symbol.name and unnamed:
            unnamed[0].name = symbol.name
    kept: dict[str, int] = {}  # of each other array: the number of the symbol that reads it last
    for symbol in computed:
        if not symbol.name:
            free = [name for name, end in kept.items() if end <= symbol.number]
            name = [*free, f"kept{len(kept) + 1}"][0]
            symbol.name, kept[name] = name, last[symbol.number]
    return results, [*kept]


def _parts(symbol: Symbol) -> list[Symbol]:
    return [x for x in symbol.args if isinstance(x, Symbol)]
