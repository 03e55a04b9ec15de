"""`fit`: the training loop, and the history that it returns."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from numbers import Integral
from random import Random
from time import monotonic
from typing import Any

from ..errors import counted, message, shortened, typed
from ..optim import Optimizer
from .devices import OnDevices
from .engines import Batch, Compiled, Steps, Walking, warn
from .modules import mode, positive
from .purity import CONTRACT, NotRecordable
from .recording import check_dependence
from .samples import Samples

ENGINES = ("auto", "compiled", "eager")
FEW = 3  # samples that are walked in the first and the last epoch to verify a program
OFTEN = 4  # programs, of which a warning tells


class History:
    """What a training run leaves behind: `losses`, the mean loss of each epoch.

    `validation` is the mean loss on the validation samples after each epoch, if there are any.
    `engine` is "compiled" or "eager", whichever ran last; `reason` says why it was not compiled.

    >>> History([3.0, 1.5])
    History(2 epochs, loss 3 -> 1.5, eager)
    """

    def __init__(self, losses: Sequence[float] = ()) -> None:
        self.losses = list(losses)
        self.validation: list[float] = []
        self.engine = "eager"
        self.reason = ""

    def plot(self) -> Any:
        """The learning curve, loss against epoch on a logarithmic scale: matplotlib Axes."""
        import matplotlib.pyplot as plt

        _, axes = plt.subplots()
        axes.plot(range(1, len(self.losses) + 1), self.losses, label="training")
        axes.set(xlabel="epoch", ylabel="loss")
        if self.validation:
            axes.plot(range(1, len(self.validation) + 1), self.validation, label="validation")
            axes.legend()
        if all(loss > 0 for loss in self.losses):
            axes.set_yscale("log")
        return axes

    def _repr_html_(self) -> str:
        from ..pictures.displays import history

        return history(self.losses, repr(self))

    def __repr__(self) -> str:
        ends = f", loss {self.losses[0]:.6g} -> {self.losses[-1]:.6g}" if self.losses else ""
        return f"History({counted(len(self.losses), 'epoch')}{ends}, {self.engine})"


def fit(
    model: Callable[[Any], Any],
    inputs: Any,
    targets: Iterable[Any],
    loss: Callable[[Any, Any], Any],
    optimizer: Optimizer,
    epochs: int,
    batch_size: int | None = None,
    progress: bool = True,
    seed: int | None = None,
    engine: str = "auto",
    validation: tuple[Any, Iterable[Any]] | None = None,
    callback: Callable[[History], Any] | None = None,
    xp: Any = None,
) -> History:
    """Train a model: in each epoch every sample is used once, and each batch is one step.

    The contract: a model and a loss are pure functions of their input and parameters; parameters
    are leaves; randomness comes from `Dropout` or is passed in.

    model: a Module, or a function of a sample; optimizer: of its parameters; epochs: how many
    inputs: a row for each sample, shape (n, in_features), or a number for each
    targets: one for each sample: anything that `loss(model(x), target)` takes. Lists and arrays
        of both are copied at the start
    loss: a function of a prediction and a target; the loss of a batch is the mean over its samples
    batch_size: samples in a batch, in a new random order in each epoch; the last batch may be
        smaller; None: all n in one batch
    progress: whether to show a progress bar, if tqdm is installed
    seed: fixes the order of the samples
    engine: "compiled" records the loss of one sample, compiles it, and runs it on whole batches
        in NumPy; ValueError if the graph differs from sample to sample, because it depends on
        numbers or chance. "eager" walks the graph of every sample. "auto" compiles if possible;
        if not, it walks, with a WalkingWarning that says why
    validation: inputs and targets whose mean loss is recorded after each epoch
    callback: called after each epoch with the history so far; training stops if it returns True.
        What it changes in the model, the loss or the optimizer takes effect in the next epoch
    xp: the library that runs the program: None is numpy; jax.numpy trains on all of
        `jax.devices()`, each with its share of every batch

    Returns the History. Ctrl-C ends the training early, after a whole step. The contract is
    verified: random samples are walked and compared with the program, three in the first and the
    last epoch, one in epochs 2, 4, 8, ... and after a callback. If they differ by more than
    rounding, engine="compiled" is a RuntimeError that names epoch and sample; "auto" goes on
    walking, with a warning that says since when results may be wrong.

    ValueError if there are no samples, more or fewer targets than inputs, or no parameters that
    require a gradient, or if epochs or batch_size is not a positive integer. FloatingPointError,
    which names the epoch, if a loss becomes nan, infinite or too large for a float; the
    parameters are then the last ones with which it was finite.

    >>> from autodiff import nn, optim
    >>> model = nn.Linear(1, 1, seed=0)
    >>> xs, ys = [[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]
    >>> descent = optim.SGD(model.parameters(), lr=0.2)
    >>> history = fit(model, xs, ys, nn.mse_loss, descent, epochs=200, progress=False)
    >>> [round(p.data, 3) for p in model.parameters()]  # y = 2x + 1
    [2.0, 1.0]
    """
    _check(model, loss, engine, optimizer, callback, xp, seed)
    samples, held_out = Samples(inputs, targets), _held_out(validation)
    n, epochs = len(samples), positive(epochs, "fit", "epochs")
    size = n if batch_size is None else positive(batch_size, "fit", "batch_size")
    history, batches, bar = History(), _batches(n, size, seed), _Bar(epochs, progress)
    steps = Steps(optimizer)
    verified = [_Verified((model, loss, samples, steps), engine, seed, xp)]
    verified += [_Verified((model, loss, each, steps), engine, seed) for each in held_out]
    train = verified[0]
    with suppress(KeyboardInterrupt), steps.whole(), mode(model, True), closing(bar):
        for epoch in range(1, epochs + 1):
            for each in verified:
                each.verify(epoch, epoch == epochs, called=callback is not None)
            history.engine, history.reason = train.run.name, train.reason
            history.losses.append(_epoch(train.run, epoch, next(batches), epoch == epochs))
            bar.update(epoch, history.losses[-1])
            history.validation += [each.mean() for each in verified[1:]]
            if callback is not None:
                steps.store()
                if callback(history) is True or epoch == epochs:
                    break
                steps.load()
    return history


class _Verified:
    """The losses of samples: by a program, as long as walking a few of them gives the same."""

    def __init__(self, given: tuple[Any, ...], engine: str, seed: int | None, *xp: Any) -> None:
        self.model, self.loss, self.samples, self.steps = self.given = given
        self.engine, self.xp = engine, xp  # without xp: for validation
        self.random = Random(seed)
        self.run = Walking(*given)
        self.reason = ""  # why it walks
        self.programs = 0  # made so far
        self.parameters: Any = None  # of the program
        self.right = 0  # the epoch before which the program was last seen to be right

    def mean(self) -> float:
        """The mean loss in evaluation mode."""
        with mode(self.model, training=False):
            return self.run.mean()

    def verify(self, epoch: int, last: bool, called: bool) -> None:
        """Compare the program with walking, in epochs 1, 2, 4, 8, ..., the last, after a callback.

        If it is wrong after a callback, another is made. If that is wrong, engine="compiled" is a
        RuntimeError, and "auto" walks from here.
        """
        count = FEW if last or epoch == 1 else int(called or epoch & (epoch - 1) == 0)
        if self.engine == "eager" or not count:
            return
        with mode(self.model, training=bool(self.xp)):
            if self.parameters is not self.steps.parameters:
                self.make()
            wrong = self.difference(count)
            if wrong and called and epoch > 1:
                self.make()
                wrong = self.difference(FEW)
        if not wrong:
            self.right = epoch
            return
        reason = f"in epoch {epoch} the program is wrong for {wrong}; {CONTRACT}"
        if self.right:
            reason += f"; results since epoch {self.right}, when it was last right, may be wrong"
        if self.engine == "compiled":
            raise RuntimeError(f"fit: {reason}; walk it: engine='eager'")
        self.walk(reason)

    def difference(self, count: int) -> str:
        """How the program differs from walking a few samples; "" if it does not."""
        n, end = len(self.samples), monotonic() + 1.0
        for i in self.random.sample(range(n), min(count, n)):
            difference = self.run.difference(i)
            if difference:
                return f"sample {i}: {difference}"
            if monotonic() > end:  # a graph of a million nodes: one sample is enough to wait for
                break
        return ""

    def make(self) -> None:
        """Compile a program, or walk if there cannot be one; ValueError if it may not walk."""
        self.parameters = self.steps.parameters
        try:
            if self.xp and _name(self.xp[0]) == "jax.numpy":
                self.run = OnDevices(self.model, self.loss, self.samples, self.steps, *self.xp)
            else:
                self.run = Compiled(self.model, self.loss, self.samples, self.steps, not self.xp)
        except NotRecordable as error:
            if self.engine == "compiled":
                raise ValueError(f"fit: the loss cannot be compiled: {error}") from error
            self.walk(str(error))
        self.programs += 1
        if self.programs == OFTEN:
            warn(
                "fit makes a new program in every epoch, which is slow: the callback changes what "
                "the model or the loss computes; change it every few epochs"
            )

    def walk(self, reason: str) -> None:
        """Walk from here on, with a warning."""
        what = "the graph of every sample" if self.xp else "the graphs of the validation samples"
        warn(f"fit walks {what}, which is slow: {reason}")
        self.run, self.reason, self.engine = Walking(*self.given), reason, "eager"


def _held_out(validation: Any) -> list[Samples]:
    """The samples for validation, if there are any."""
    if validation is None:
        return []
    try:
        inputs, targets = validation
    except (TypeError, ValueError):
        where, expected = "fit, validation", "a pair: inputs, targets"
        raise TypeError(message(where, typed(validation), expected)) from None
    return [Samples(inputs, targets, where="fit, validation")]


def _epoch(run: Walking, epoch: int, batches: Iterable[Batch], last: bool) -> float:
    """Train for one epoch; return the mean loss. If a step diverges, it is undone."""
    total = 0.0
    try:
        for batch in batches:
            part, gradients = run.gradients(batch)
            run.steps.move(gradients)
            total += part
        if last and not run.steps.numpy.isfinite(run.steps.p).all():
            raise FloatingPointError("the last step made a parameter infinite or nan")
    except FloatingPointError as error:
        run.steps.back()
        where = f"fit: the training diverged in epoch {epoch}"
        raise FloatingPointError(f"{where} (a smaller learning rate may help): {error}") from error
    check_dependence(run.trains and bool(run.steps.parameters))
    return total / len(run.samples)


def _check(
    model: Any, loss: Any, engine: str, optimizer: Any, callback: Any, xp: Any, seed: Any
) -> None:
    for name, given in (("model", model), ("loss", loss), ("callback", callback)):
        if not callable(given) and not (name == "callback" and given is None):
            raise TypeError(message("fit", f"{name} {shortened(given)}", "a function"))
    if not isinstance(optimizer, Optimizer):
        expected = "one of autodiff.optim, such as optim.SGD(model.parameters(), lr=0.1)"
        raise TypeError(message("fit, optimizer", typed(optimizer), expected))
    if seed is not None and not (isinstance(seed, Integral) and int(seed) >= 0):
        raise TypeError(message("fit, seed", typed(seed), "a whole number >= 0, or None"))
    if engine not in ENGINES:
        expected = f"one of {', '.join(ENGINES)}"
        raise ValueError(message("fit", f"engine = {engine!r}", expected))
    if xp is not None and (_name(xp) not in ("numpy", "jax.numpy") or engine == "eager"):
        found = f"xp = {shortened(xp)} and engine = {engine!r}"
        raise ValueError(message("fit", found, "numpy or jax.numpy, to run what is compiled"))
    if not any(p.requires_grad for p in optimizer.params):
        remedy = "set requires_grad = True on those to train"
        found = "an optimizer whose parameters are all frozen"
        raise ValueError(message("fit", found, "one that requires a gradient", remedy))


def _batches(n: int, size: int, seed: int | None) -> Iterator[Iterable[Batch]]:
    """The batches of each epoch."""
    import numpy

    rng = numpy.random.default_rng(seed)
    while True:
        if size >= n:
            yield [None]
        else:
            order = rng.permutation(n)
            yield [order[start : start + size] for start in range(0, n, size)]


def _name(xp: Any) -> str:
    return getattr(xp, "__name__", "")


class _Bar:
    """A progress bar for terminals and Jupyter, if it is wanted and tqdm is installed."""

    def __init__(self, epochs: int, wanted: bool) -> None:
        self.bar: Any = None
        self.epochs, self.shown = epochs, 0.0
        if wanted:
            with suppress(ImportError):
                from tqdm.auto import tqdm

                quiet = type("Bar", (tqdm,), {"monitor_interval": 0})  # no thread of its own
                self.bar = quiet(total=epochs, desc="epochs")

    def update(self, epoch: int, loss: float) -> None:
        """Show the epoch and its loss, a few times a second."""
        if self.bar is not None and (monotonic() > self.shown + 0.2 or epoch == self.epochs):
            self.shown = monotonic()
            self.bar.set_postfix(loss=f"{loss:.4g}", refresh=False)
            self.bar.update(epoch - self.bar.n)

    def close(self) -> None:
        """Stop the bar where it is."""
        if self.bar is not None:
            self.bar.close()
