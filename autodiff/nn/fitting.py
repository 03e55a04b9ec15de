"""`fit`: the training loop, and the history that it returns."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from contextvars import copy_context
from time import monotonic
from typing import Any

from ..engine.admission import as_integer, as_seed
from ..engine.errors import counted, refusal, typed
from ..engine.interrupts import restoring
from ..engine.transforms import check_function
from ..optim import Optimizer
from .engines import Batch, Walk
from .modules import in_mode
from .samples import Loss, Model
from .state import TrainingState
from .verification import SHARE, Evaluator, walks_before
from .watching import only_data

ENGINES = "auto", "compiled", "eager"


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

        _, axes = plt.subplots(layout="constrained")
        axes.set(xlabel="epoch", ylabel="loss")
        for name, means in ("training", self.losses), ("validation", self.validation):
            if means:
                axes.plot(range(1, len(means) + 1), means, label=name)
        if self.validation:
            axes.legend()
        if all(loss > 0 for loss in self.losses):
            axes.set_yscale("log")
        return axes

    def __repr__(self) -> str:
        ends = f", loss {self.losses[0]:.6g} -> {self.losses[-1]:.6g}" if self.losses else ""
        return f"History({counted(len(self.losses), 'epoch')}{ends}, {self.engine})"


def fit(
    model: Model,
    inputs: Any,
    targets: Iterable[Any],
    loss: Loss,
    optimizer: Optimizer,
    epochs: int,
    batch_size: int | None = None,
    progress: bool = True,
    seed: int | None = None,
    engine: str = "auto",
    validation: tuple[Any, Iterable[Any]] | None = None,
    callback: Callable[[History], object] | None = None,
    xp: Any = None,
) -> History:
    """Train a model: in each epoch every sample is used once, and each batch is one step.

    The contract: a model and a loss are pure functions of their input and parameters; parameters
    are leaves; randomness comes from `Dropout` or is passed in. Between callbacks nothing else that
    they read may change, and neither writes `data`. A loss may change the lists, dicts and arrays
    that it is given: they are its own. The optimizer steps as by hand, whatever its `change` or
    `step` reads, but freezes no parameter.

    model: a Module, or a function of a sample; optimizer: of its parameters; epochs: how many
    inputs: a row for each sample, shape (n, in_features), or a number for each
    targets: one for each sample: anything that `loss(model(x), target)` takes. Inputs and targets
        are copied at the start, Values as numbers: ValueError if one depends on a parameter
    loss: a function of a prediction and a target; the loss of a batch is the mean over its samples
    batch_size: samples in a batch, in a new random order in each epoch; the last batch may be
        smaller; None: all n in one batch
    progress: whether to show a progress bar, if tqdm is installed
    seed: fixes the order of the samples
    engine: "compiled" records the loss of one sample, compiles it, and runs it on whole batches
        in NumPy; ValueError, with the line, if the model or the loss looks at a number that depends
        on the sample, or if the first and the last sample give different graphs. "eager" walks the
        graph of every sample. "auto" compiles if possible; if not, it walks, with a WalkingWarning
        that says why
    validation: a pair, inputs and targets, whose mean loss is recorded after each epoch
    callback: called after each epoch with the history so far; training stops if it returns True.
        What it changes in the model, the loss or the optimizer takes effect in the next epoch
    xp: the library that runs the program: None is numpy; jax.numpy trains on all of
        `jax.devices()`, each with its share of every batch

    Returns the History. Ctrl-C ends the training early, after a whole step; Dropout may have drawn
    for the next. Before the first epoch and at the very end it is raised. The contract is
    verified: random samples are walked and compared with the program, three in the first epoch,
    one in the last and after a callback, and one in epochs 2, 4, 8, ... if a twentieth of the time
    since the last such walk is enough for it. If they differ by more than
    rounding, or the program fails, engine="compiled" is a RuntimeError that says where, and the
    likely cause; "auto" goes on walking, with a warning that says since when results may be wrong.
    After a callback the first sample is recorded again, with the first 32 different targets.

    What that cannot find: what changes for a few samples or in a few calls, such as in call 60, or
    by one random draw in a thousand; a change by a callback that concerns other targets than the
    first 32, and not the sample that is walked; numbers that another thread looks at; what depends
    on addresses in memory, such as a cache by `id(x)`. The results are then wrong without a word.

    ValueError if there are no samples, more or fewer targets than inputs, or no parameters that
    require a gradient, or if epochs or batch_size is not a positive integer, or the seed a negative
    one; TypeError if model, loss or callback is no function. FloatingPointError,
    which names the epoch, if a loss or a step becomes nan, infinite or too large for a float; the
    parameters are then those before that step.

    >>> from autodiff import nn, optim
    >>> model = nn.Linear(1, 1, seed=0)
    >>> xs, ys = [[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]
    >>> descent = optim.SGD(model.parameters(), lr=0.2)
    >>> history = fit(model, xs, ys, nn.mse_loss, descent, epochs=200, progress=False)
    >>> [round(p.data, 3) for p in model.parameters()]  # y = 2x + 1
    [2.0, 1.0]
    """
    import numpy

    check_function(model, "fit, model", "a Module or a function")
    check_function(loss, "fit, loss", "a function, such as nn.mse_loss")
    if callback is not None:
        check_function(callback, "fit, callback", "None or a function of a History")
    seed = as_seed(seed, "fit")
    state = TrainingState(optimizer)
    if engine not in ENGINES:
        raise ValueError(refusal("fit, engine", repr(engine), f"one of {', '.join(ENGINES)}"))
    if xp is not None and getattr(xp, "__name__", "") not in ("numpy", "jax.numpy"):
        remedy = "import jax.numpy as jnp, and pass xp=jnp"
        raise ValueError(refusal("fit, xp", typed(xp), "the module numpy or jax.numpy", remedy))
    samples, *held_out = only_data(inputs, targets, validation, state.now.trained, "fit")
    size = as_integer(len(samples) if batch_size is None else batch_size, "fit", "batch_size")
    epochs = as_integer(epochs, "fit", "epochs")
    history = History()
    train, *others = [
        Evaluator(Walk(model, loss, each), state, engine, seed, xp, training=each is samples)
        for each in (samples, *held_out)
    ]
    batches, shown = _batches(len(samples), size, seed), _shown(epochs, progress, history)
    with suppress(KeyboardInterrupt), restoring(state.finish), closing(shown):
        due = 0.0  # when a walk is a twentieth of the time since the one before
        for epoch in shown:
            last, called = epoch == epochs, callback is not None
            count = walks_before(epoch, last, called, monotonic() >= due)
            for each in (train, *others) if count else ():
                in_mode(each.training, each.choose, epoch, count, called)
            if count:
                due = monotonic() + SHARE * sum(each.cost for each in (train, *others))
            for each, means in zip((train, *others), (history.losses, history.validation)):
                those = next(batches) if each.training else [range(len(each.walk.samples))]
                means.append(in_mode(each.training, _mean_loss, each, epoch, those))
            history.engine, history.reason = "compiled" if train.program else "eager", train.reason
            if callback is not None:
                state.write()
                stop = callback(history)
                if isinstance(stop, (bool, numpy.bool_)) and stop:
                    break
                if not last:
                    state.read()
    return history


def _mean_loss(evaluate: Evaluator, epoch: int, batches: Iterable[Batch]) -> float:
    """The mean loss of an epoch; each batch is a step, in training.

    FloatingPointError if it diverges, ValueError if no step can move the parameters.
    """
    import numpy

    total, state, samples = 0.0, evaluate.state, evaluate.walk.samples
    how: Any = "raise" if evaluate.xp is numpy else "ignore"  # raised inside JAX, it ends Python
    try:
        with numpy.errstate(all=how, under="ignore"):
            for batch in batches:
                loss, gradients = evaluate(batch)
                if evaluate.training:
                    state.step(gradients, len(batch))
                total += float(loss)
    except FloatingPointError as error:
        subject = f"fit: the training diverged in epoch {epoch}"
        raise FloatingPointError(
            f"{subject} (a smaller learning rate may help): {error}"
        ) from error
    if evaluate.training and not numpy.count_nonzero(gradients):
        in_mode(False, evaluate.walk.check_trains, state.now.trained)
    return total / len(samples)


def _batches(n: int, size: int, seed: int | None) -> Iterator[Iterable[Batch]]:
    """The batches of each epoch."""
    import numpy

    rng = copy_context().run(numpy.random.default_rng, seed)  # it sets errstate meanwhile
    while True:
        order = rng.permutation(n) if size < n else range(n)
        yield [order[i : i + size] for i in range(0, n, size)]


def _shown(epochs: int, wanted: bool, history: History) -> Generator[int, None, None]:
    """The numbers of the epochs; with a progress bar, if it is wanted and tqdm is installed."""
    numbers: Any = range(1, epochs + 1)
    with suppress(ImportError):
        if wanted:
            from tqdm.auto import tqdm

            numbers = tqdm(numbers, desc="epochs")
    for epoch in numbers:
        yield epoch
        if not isinstance(numbers, range):
            numbers.set_postfix(loss=f"{history.losses[-1]:.4g}", refresh=False)
