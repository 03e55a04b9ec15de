"""The rule of an optimiser as a program that works in place: what NumPy does quickest.

The rule is a formula. It is run once over symbols of arrays, and printed as the compiler prints a
program for a batch:

    velocity = 0.9 * velocity + grad    t1 = xp_multiply(a3, velocity, a1)
                                        t2 = xp_add(t1, grad, a1)
"""

from typing import Any

from ..compiler.program import Program
from ..compiler.symbolic import ROWS
from ..engine.admission import Floats
from ..optim import Optimizer, Snapshot


class Rule:
    """What `optimizer.update` gives, by a `program` for snapshots of this form.

    The results of a step are in one of two sets of arrays: never in those of the snapshot that it
    starts from, which is thus whole as long as it is `now`.
    """

    def __init__(self, optimizer: Optimizer, now: Snapshot) -> None:
        import numpy

        from ..compiler.batch.arrays import ArrayWriter
        from ..compiler.batch.in_place import InPlace

        writer, axes = ArrayWriter(), {ROWS: len(now.p)}
        given: dict[str, Any] = {"p": now.p, "total": now.p, "count": 1.0} | now.state
        p, total, count, *known = [
            writer.array(name, (), axes if numpy.shape(x) else {}) for name, x in given.items()
        ]
        state: Any = dict(zip(now.state, known))
        moved: Any = optimizer.moved(p, total / count, state)
        text = InPlace(writer.symbols.values(), [moved, *state.values()])
        body = text.lines(text.needed)
        states = [f'"{name}": {text.of(x)}' for name, x in state.items()]
        body.append(f"return {text.of(moved)}, {{{', '.join(states)}}}")
        source = text.source(body, given, [])
        self.program = Program(source, running=source)
        self.run, arrays = map(self.program._kept.get, ("program", "arrays"))
        results, made = {text.arrays.get(x) for x in (moved, *state.values())}, [*text.made]
        first = arrays(len(now.p), float)
        others = [numpy.empty_like(x) if name in results else x for name, x in zip(made, first)]
        self.arrays, self.place = (first, others), made.index(text.arrays[moved])
        self.zeros, self.optimizer, self.of_numpy = 0.0 * now.p, optimizer, numpy.ndarray

    def __call__(self, now: Snapshot, total: Floats, n: int) -> Snapshot:
        """What a step leads to along gradients that are summed over n samples."""
        if type(total) is not self.of_numpy:  # of JAX: everything stays on its devices
            return self.optimizer.update(now, total / n)
        free = self.arrays[now.p is self.arrays[0][self.place]]
        p, state = self.run(*free, now.p, total, n, *now.state.values())
        if p.dot(self.zeros) != 0.0:  # it is nan
            raise FloatingPointError("a step made a parameter infinite or nan")
        return Snapshot(p, state, now.trained, now.places)
