"""`fit`: the training loop, and the history that it returns."""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from time import monotonic
from typing import Any

from .. import functions
from ..compiler.expression import Expression
from ..errors import counted, message, shortened, typed
from ..functions import as_float, is_array
from ..graph import topological_order
from ..linalg import Matrix, Vector
from ..optim import Optimizer
from ..value import Value
from .devices import OnDevices
from .engines import Batch, Compiled, Walking
from .modules import mode, positive
from .recording import NotRecordable, record_outputs
from .samples import Samples, as_list, as_rows, constants

ENGINES = ("auto", "compiled", "eager")
FEW = 10  # rows; with fewer, predict walks instead of compiling


class WalkingWarning(UserWarning):
    """Issued once by `fit` with engine="auto" when it has to walk the graph of every sample.

    To silence it, ask for walking: engine="eager".

    >>> issubclass(WalkingWarning, UserWarning)
    True
    """


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
        numbers, chance or earlier calls. "eager" walks the graph of every sample. "auto" compiles
        if possible; if not, it walks, with a WalkingWarning that says why
    validation: inputs and targets whose mean loss is recorded after each epoch
    callback: called after each epoch with the history so far; training stops if it returns True.
        What it changes in the model, the loss or the optimizer takes effect in the next epoch
    xp: the library that runs the program: None is numpy; jax.numpy trains on all of
        `jax.devices()`, each with its share of every batch

    Returns the History. Ctrl-C ends the training early. In epochs 1, 2, 4, 8, ... and the last,
    one sample is walked and compared with the program: if they differ by more than rounding,
    engine="compiled" is a RuntimeError that names epoch and sample; "auto" goes on walking, with
    a warning.

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
    _check(model, loss, engine, optimizer, callback, xp)
    samples, held_out = Samples(inputs, targets), _held_out(validation)
    n, epochs = len(samples), positive(epochs, "fit", "epochs")
    size = n if batch_size is None else positive(batch_size, "fit", "batch_size")
    history, batches, bar = History(), _batches(n, size, seed), _Bar(epochs, progress)
    run = Walking(model, loss, samples, optimizer)
    try:
        with suppress(KeyboardInterrupt), mode(model, training=True), closing(bar):
            run = _engine(run, engine, xp, history)
            for epoch in range(1, epochs + 1):
                run = _verified(run, epoch, engine, history, last=epoch == epochs)
                history.losses.append(_epoch(run, epoch, next(batches), last=epoch == epochs))
                bar.update(epoch, history.losses[-1])
                if held_out:
                    history.validation.append(_validated(run, held_out))
                if callback is not None:
                    run.store()
                    if callback(history) is True or epoch == epochs:
                        break
                    run = run.load() or _engine(run, engine, xp, history)
    finally:
        run.store()
        optimizer.zero_grad()
    return history


def _held_out(validation: Any) -> Samples | None:
    """The samples for validation, if there are any."""
    if validation is None:
        return None
    try:
        inputs, targets = validation
    except (TypeError, ValueError):
        where, expected = "fit, validation", "a pair: inputs, targets"
        raise TypeError(message(where, typed(validation), expected)) from None
    return Samples(inputs, targets, where="fit, validation")


def _epoch(run: Walking, epoch: int, batches: Iterable[Batch], last: bool) -> float:
    """Train for one epoch; return the mean loss. If a step diverges, it is undone."""
    try:
        total = run.epoch(batches)
        if last and not run.good():
            raise FloatingPointError("the last step made a parameter infinite or nan")
    except FloatingPointError as error:
        run.back()
        where = f"fit: the training diverged in epoch {epoch}"
        raise FloatingPointError(f"{where} (a smaller learning rate may help): {error}") from error
    return total / len(run.samples)


def _validated(run: Walking, held_out: Samples) -> float:
    """The mean loss on samples that are not trained on, in evaluation mode."""
    run.store()
    with mode(run.model, training=False):
        return run.mean_loss(held_out)


def _engine(run: Walking, engine: str, xp: Any, history: History) -> Walking:
    """The engine to train with; if it cannot compile, one that walks, or an error."""
    given = run.model, run.loss, run.samples, run.optimizer
    run = Walking(*given)
    if engine != "eager":
        try:
            run = OnDevices(*given, xp) if _name(xp) == "jax.numpy" else Compiled(*given)
        except NotRecordable as error:
            if engine == "compiled":
                raise ValueError(f"fit: the loss cannot be compiled: {error}") from error
            _warn(str(error), history)
    history.engine = run.name
    return run


def _verified(run: Walking, epoch: int, engine: str, history: History, last: bool) -> Walking:
    """The engine, if its program agrees with walking a sample; else one that walks, or an error.

    It is checked in its epochs 1, 2, 4, 8, ..., counted anew if a callback caused a new engine,
    and in the last.
    """
    run.epochs += 1
    if run.epochs & (run.epochs - 1) and not last:
        return run
    i = (epoch - 1) % len(run.samples)
    difference = run.difference(i)
    if not difference:
        return run
    reason = f"in epoch {epoch} the program is wrong for sample {i}: {difference}"
    if engine == "compiled":
        remedy = "what the model computes changes from call to call; walk it: engine='eager'"
        raise RuntimeError(f"fit: {reason}; {remedy}")
    _warn(reason, history)
    return _engine(run, "eager", None, history)


def _warn(reason: str, history: History) -> None:
    history.reason = reason
    text = f"fit walks the graph of every sample, which is slow: {reason}"
    here = 1
    while sys._getframe(here).f_globals.get("__name__", "").startswith("autodiff."):
        here += 1
    warnings.warn(text, WalkingWarning, stacklevel=here + 1)


def _check(
    model: Any, loss: Any, engine: str, optimizer: Optimizer, callback: Any, xp: Any
) -> None:
    for name, given in (("model", model), ("loss", loss), ("callback", callback)):
        if not callable(given) and not (name == "callback" and given is None):
            raise TypeError(message("fit", f"{name} {shortened(given)}", "a function"))
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

                self.bar = tqdm(total=epochs, desc="epochs")

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


def predict(model: Callable[[Any], Any], inputs: Any) -> Any:
    """What a model predicts for each input, in evaluation mode: an array, shape (n, outputs).

    A model that returns one Value gives an array of shape (n,). TypeError if an input or a
    prediction holds anything but numbers, ValueError if predictions differ in shape.

    >>> from autodiff import nn
    >>> predict(nn.Linear(2, 3, seed=0), [[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 3)
    """
    import numpy

    rows = as_rows(inputs, "predict, inputs")
    with mode(model, training=False):
        found = _batched(model, rows)
        if found is None:
            found = [_numbers(model(constants(row))) for row in rows]
    try:
        return numpy.array(found)
    except ValueError:
        raise ValueError(message("predict", "results of different shapes", "one shape")) from None


def _batched(model: Callable[[Any], Any], rows: Any) -> Any:
    """The predictions of a compiled program; None if there is none, or walking disagrees."""
    import numpy

    if len(rows) < FEW or isinstance(rows, list):
        return None
    try:
        x, outputs, shape = record_outputs(model, rows.shape[1])
        leaves = [x for x in topological_order(functions.sum(outputs)) if not x.parents]
        parameters = [p for p in leaves if p.requires_grad]
        program = Expression(outputs).compile(x, parameters, xp=numpy, batch=True)
        with numpy.errstate(all="raise", under="ignore"):
            found = program(rows, numpy.array([p.data for p in parameters]))
    except (NotRecordable, FloatingPointError):
        return None
    found = found.reshape(len(rows), *shape)
    walked = numpy.array(_numbers(model(constants(rows[0]))))
    return found if numpy.allclose(found[0], walked, rtol=1e-8, atol=1e-12) else None


def accuracy(predictions: Any, targets: Iterable[Any]) -> float:
    """The fraction of samples whose class is predicted correctly, from 0.0 to 1.0.

    predictions: a score for each class, such as logits, shape (n, classes): the largest counts;
        or one score for each sample, shape (n, 1) or (n,): its sign counts (that of p - 0.5 for
        a probability p)
    targets: the index of the class, or a one-hot row; for single scores 1 and 0, or 1 and -1

    ValueError unless there are as many predictions as targets, at least one, no score is nan, and
    each target is a class that has a score.

    >>> accuracy([[2.0, 1.0], [0.0, 3.0]], [0, 0])
    0.5
    >>> accuracy([0.5, -2.0, 1.0], [1, -1, -1])
    0.6666666666666666
    """
    import numpy

    scores = as_rows(predictions, "accuracy, predictions")
    wanted = numpy.asarray(as_list(targets, "accuracy, targets"))
    n = len(scores)
    if n != len(wanted) or not n:
        found = f"{counted(n, 'prediction')} and {counted(len(wanted), 'target')}"
        raise ValueError(message("accuracy", found, "as many of each, and at least one"))
    if isinstance(scores, list) or numpy.isnan(scores).any():
        found = "rows of different lengths" if isinstance(scores, list) else "a score that is nan"
        raise ValueError(message("accuracy", found, "a number for each class"))
    single = scores.shape[1] == 1  # a score for each sample
    known = (-1, 0, 1) if single else range(scores.shape[1])
    if wanted.shape == scores.shape and not single and (wanted == wanted).all():
        wanted = wanted.argmax(axis=1)
    if wanted.size > n or not numpy.isin(wanted, known).all():
        found = f"targets {shortened(wanted.tolist())} for scores of shape {scores.shape}"
        rows = f"classes from 0 to {known[-1]}, or one-hot rows"
        expected = "classes -1, 0 or 1" if single else rows
        raise ValueError(message("accuracy", found, expected))
    if single:
        return float(numpy.mean((scores.ravel() > 0) == (wanted.ravel() > 0)))
    return float(numpy.mean(scores.argmax(axis=1) == wanted.ravel()))


def _numbers(prediction: Any) -> Any:
    if isinstance(prediction, (Value, Vector, Matrix)):
        return prediction.data
    if isinstance(prediction, (list, tuple)) or is_array(prediction):
        return [_numbers(x) for x in prediction]
    return as_float(prediction, "predict, what the model returns")
