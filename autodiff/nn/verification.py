"""Which engine runs: the program, as long as it agrees with walking a few samples."""

import gc
import math
import warnings
from dataclasses import dataclass
from random import Random
from time import monotonic
from typing import Any

from ..compiler.symbolic import NotRecordable
from ..engine.admission import AnyNumber, Floats
from ..engine.graph import adjoints
from ..engine.interrupts import restoring
from ..engine.value import Value
from .engines import Batch, Compiled, Walk, WrongProgram
from .modules import Masks, draws, factors_in
from .recording import CONTRACT, Recording
from .state import TrainingState
from .watching import Watch, user_frame

FAILS = (
    "the program fails where walking does not, in a branch that is not taken or an error that is "
    "caught; write log(maximum(x, 1e-9)) for a log(x) that may fail"
)
ROUNDING = (
    "its graph is still as it was recorded, so this may be rounding (a float32 has 7 digits), or a "
    "fault of autodiff"
)
FEW = 3  # samples that are walked in the first epoch to verify a program
SHARE = 20  # a further walk takes at most a twentieth of the time since the one before


def walks_before(epoch: int, last: bool, called: bool, rested: bool) -> int:
    """How many samples are walked before an epoch; rested: if one has time in 2, 4, 8, ..."""
    doubled = epoch & (epoch - 1) == 0
    return FEW if epoch == 1 else int(last or called or (rested and doubled))


class WalkingWarning(UserWarning):
    """Issued by `fit` and `predict` where they walk the graph of every sample: it says why.

    To silence that of `fit`, ask for walking: engine="eager".

    >>> issubclass(WalkingWarning, UserWarning)
    True
    """


def warn(text: str) -> None:
    """Issue a WalkingWarning at the user's line."""
    frame = user_frame()
    seen = frame.f_globals.setdefault("__warningregistry__", {})
    subject = frame.f_code.co_filename, frame.f_lineno
    warnings.warn_explicit(text, WalkingWarning, *subject, registry=seen)


@dataclass(eq=False)
class Evaluator:
    """Evaluates losses and their gradients: by a program, as long as it agrees with walking.

    `program` is None if the graph of every sample is walked; `reason` says why.
    """

    walk: Walk
    state: TrainingState
    engine: str
    seed: int | None
    xp: Any
    training: bool = True
    program: Compiled | None = None
    reason: str = ""
    verified: int = 0  # the last epoch before which the program agreed with walking
    cost: float = 0.0  # seconds that a walk to verify it took

    def __post_init__(self) -> None:
        import numpy

        self.random, self.xp = Random(self.seed), self.xp or numpy

    def __call__(self, batch: Batch) -> tuple[AnyNumber, Floats]:
        """The loss of a batch and its gradients, as sums: by the program, or by walking.

        FloatingPointError if a loss becomes nan, infinite or too large for a float.
        """
        wrong = None
        if self.program:
            try:
                loss, gradients = self.program(batch, self.state.now)
                if math.isfinite(loss):
                    return loss, gradients
            except FloatingPointError:
                pass
            except WrongProgram as error:
                wrong = error
        self.state.write()  # graphs are made of what the Values hold
        walked, gradients = self.walk(batch, self.state.now)
        if self.program:
            if not math.isfinite(self.xp.asarray(walked)):
                raise FloatingPointError(f"the loss became {walked}, too large for a float32")
            self.fall_back(wrong or NotRecordable(FAILS))
        return walked, gradients

    def choose(self, epoch: int, count: int, called: bool) -> None:
        """Make a program if there is none, and compare it with walking so many samples.

        called: whether a callback may have changed the model or the loss. If the program is wrong
        then, another is made. If that is wrong, engine="compiled" is a RuntimeError, and "auto"
        walks from here.
        """
        if self.engine == "eager":
            return
        self.state.write()
        again, program = called and epoch > 1, self.program
        try:
            if not program or (again and not program.recording.is_current(self.state.now.trained)):
                program = self.compile()
            wrong = self.disagreement(program, count)
            if wrong and again:
                wrong = self.disagreement(self.compile(), FEW)
            if wrong:
                since = f"; results since epoch {self.verified}, when it was last right, "
                since = f"{since}may be wrong" if self.verified else ""
                raise WrongProgram(f"in epoch {epoch} the program is wrong for {wrong}{since}")
        except (NotRecordable, WrongProgram) as why:
            self.fall_back(why)
        self.verified = epoch

    def compile(self) -> Compiled:
        """Record the loss and compile it; NotRecordable if it cannot be."""
        walk, parameters = self.walk, self.state.now.trained
        with restoring(gc.enable if gc.isenabled() else gc.disable):
            gc.disable()  # it would scan all parameters again and again
            recording = Recording(walk.model, walk.loss, walk.samples, parameters)
            self.program = Compiled(recording, parameters, self.xp)
        return self.program

    def fall_back(self, why: NotRecordable | WrongProgram) -> None:
        """Walk from here on, with a warning; engine="compiled" is an error."""
        if self.engine == "compiled":
            kind = ValueError if isinstance(why, NotRecordable) else RuntimeError
            text = f"fit: the loss cannot be compiled: {why}; to walk it: engine='eager'"
            raise kind(text) from why.__cause__
        what = "graph of every sample" if self.training else "graphs of the validation samples"
        warn(f"fit walks the {what}, which is slow: {why}")
        self.program, self.reason, self.engine = None, str(why), "eager"

    def disagreement(self, program: Compiled, count: int) -> str:
        """How the program disagrees with walking a few samples; "" if by no more than rounding."""
        from numpy import errstate
        from numpy.random import default_rng

        n = len(self.walk.samples)
        for i in self.random.sample(range(n), min(count, n)):
            start = monotonic()
            watching = Watch([], default_rng(self.random.getrandbits(32)))
            try:
                by = adjoints(root := watching.run(self.walk.graph, i))
            except (ArithmeticError, ValueError):
                continue  # the step of its batch reports it
            with errstate(all="ignore"):
                found = self.disagreement_at(i, program, watching.masks, root, by)
            if found and math.isfinite(root.data):
                pure = program.recording.is_current(self.state.now.trained, i)
                return f"sample {i}: {found}; {ROUNDING if pure else CONTRACT}"
            self.cost = monotonic() - start
            if self.cost > 1.0:  # a graph of a million nodes: one sample is enough to wait for
                break
        return ""

    def disagreement_at(
        self, i: int, program: Compiled, masks: Masks, root: Value, by: dict[Value, float]
    ) -> str:
        """How the program disagrees with the graph of sample i, its draws and its adjoints."""
        import numpy

        if draws(masks) != draws(program.recording.masks):
            return "Dropout was given other numbers"
        factors = [numpy.array([[x.data] for x in factors_in(masks)])] if masks else []
        loss, gradients = program([i], self.state.now, factors)
        walked = [by.get(p, 0.0) for p in self.state.now.trained]
        for name, ours, theirs, numbers in (
            ("loss", loss, root.data, [x.data for x in [root, *by]]),
            ("derivative", gradients, walked, [x or 0.0 for x in by.values()]),
        ):
            if far := distance(ours, theirs, numbers):
                return f"its {name} is off by {far:.3g}"
        return ""


def distance(ours: Floats, theirs: Any, numbers: Any) -> float:
    """How far results are apart; 0.0 if half of the digits of the largest of the numbers agree."""
    import numpy

    far = numpy.max(abs(numpy.subtract(ours, theirs)))
    half = math.sqrt(numpy.finfo(ours.dtype).eps) * numpy.max(numpy.abs(numbers), initial=0.0)
    return float(far) if far > half else 0.0  # not nan, which a step reports
