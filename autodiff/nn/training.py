"""`fit`: the training loop, and the history that it returns."""

import math
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any

from ..errors import message
from ..linalg import Vector
from ..optim import Optimizer
from .recording import Recording

ENGINES = ("auto", "compiled", "eager")


class History:
    """What a training run leaves behind: `losses`, the mean loss of each epoch.

    `engine` is "compiled" or "eager", whichever ran, and `reason` says why it was not compiled.

    >>> History([3.0, 1.5])
    History(2 epochs, loss 3 -> 1.5)
    """

    def __init__(self, losses: Sequence[float] = ()) -> None:
        self.losses = list(losses)
        self.engine = "eager"
        self.reason = ""

    def plot(self) -> Any:
        """The learning curve, loss against epoch on a logarithmic scale: matplotlib Axes."""
        import matplotlib.pyplot as plt

        _, axes = plt.subplots()
        axes.plot(range(1, len(self.losses) + 1), self.losses)
        axes.set(xlabel="epoch", ylabel="loss")
        if all(loss > 0 for loss in self.losses):
            axes.set_yscale("log")
        return axes

    def __repr__(self) -> str:
        ends = f", loss {self.losses[0]:.6g} -> {self.losses[-1]:.6g}" if self.losses else ""
        return f"History({len(self.losses)} epochs{ends})"


def fit(
    model: Callable[[Any], Any],
    inputs: Iterable[Any],
    targets: Iterable[Any],
    loss: Callable[[Any, Any], Any],
    optimizer: Optimizer,
    epochs: int,
    batch_size: int | None = None,
    progress: bool = True,
    seed: int | None = None,
    engine: str = "auto",
) -> History:
    """Train a model: each epoch takes every sample once, in a new order, a step for each batch.

    inputs: a row for each sample, shape (n, in_features), or a number for each
    targets: one for each sample, of whatever kind `loss(model(x), target)` takes
    loss: a function of a prediction and a target; that of a batch is the mean over its samples
    batch_size: samples in a batch, all n if None; the last batch of an epoch may be smaller
    progress: whether to show a progress bar, if tqdm is installed
    seed: fixes the order of the samples
    engine: "eager" walks the graph of every sample; "compiled" records the loss of one sample,
        compiles it, and runs it on whole batches in NumPy (see `recording.py`); it is a
        ValueError, which says why, if the graph depends on the numbers in it; "auto" walks then

    Returns the History; Ctrl-C ends the training early. Nothing in a model may change from call
    to call except its parameters: what is compiled is the model as it is at the start.

    ValueError for no samples, more or fewer targets than inputs, or an epochs or batch_size that
    is not a positive integer. FloatingPointError if a loss becomes nan, infinite or too large for
    a float, which names the epoch; the parameters are then as before that batch.

    >>> from autodiff import nn, optim
    >>> model = nn.Linear(1, 1, seed=0)
    >>> xs, ys = [[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]
    >>> descent = optim.SGD(model.parameters(), lr=0.2)
    >>> history = fit(model, xs, ys, nn.mse_loss, descent, epochs=200, progress=False)
    >>> [round(p.data, 3) for p in model.parameters()]  # y = 2x + 1
    [2.0, 1.0]
    """
    rows = [Vector(Vector(_row(x)).data).requires_grad_(False) for x in inputs]
    wanted = list(targets)
    n = len(rows)
    size = n if batch_size is None else batch_size
    _check(n, len(wanted), epochs, size, engine)
    order, rng, history = list(range(n)), Random(seed), History()
    bar = _progress_bar(epochs) if progress else None
    try:
        recording = None
        if engine != "eager":
            recording = _recorded(model, rows, wanted, loss, optimizer, engine, history)
        for epoch in range(1, epochs + 1):
            rng.shuffle(order)
            total = 0.0
            for start in range(0, n, size):
                batch = order[start : start + size]
                optimizer.zero_grad()
                found = recording.step(batch) if recording else None
                if found is None:  # an error that walking finds says where it is
                    found = _walk(model, [(rows[i], wanted[i]) for i in batch], loss, epoch)
                total += found
                optimizer.step()
            history.losses.append(total / n)
            if bar is not None:
                bar.set_postfix(loss=f"{total / n:.4g}", refresh=False)
                bar.update()
    except KeyboardInterrupt:
        pass
    finally:
        optimizer.zero_grad()
        if bar is not None:
            bar.close()
    return history


def _check(inputs: int, targets: int, epochs: int, batch_size: int, engine: str) -> None:
    if inputs == 0 or inputs != targets:
        found = f"{inputs} inputs and {targets} targets"
        raise ValueError(message("fit", found, "as many targets as inputs, and at least one"))
    for name, number in (("epochs", epochs), ("batch_size", batch_size)):
        if not isinstance(number, int) or number < 1:
            raise ValueError(message("fit", f"{name} = {number!r}", "a positive integer"))
    if engine not in ENGINES:
        expected = f"one of {', '.join(ENGINES)}"
        raise ValueError(message("fit", f"engine = {engine!r}", expected))


def _recorded(
    model: Any,
    rows: Any,
    wanted: Any,
    loss: Any,
    optimizer: Optimizer,
    engine: str,
    history: History,
) -> Recording | None:
    """The compiled loss; None if it cannot be compiled, and need not be."""
    try:
        recording = Recording(model, rows, wanted, loss, optimizer.params)
    except ValueError as error:
        history.reason = str(error)
        if engine == "compiled":
            raise ValueError(f"fit: the loss cannot be compiled: {error}") from error
        return None
    history.engine = "compiled"
    return recording


def _walk(model: Any, samples: list[Any], loss: Any, epoch: int) -> float:
    """Set the gradients of a batch, sample by sample; returns the sum of its losses.

    Each sample has a graph of its own, freed before the next: gradients add up in the leaves.
    """
    total = 0.0
    where = f"fit: the training diverged in epoch {epoch} (a smaller learning rate may help)"
    for x, target in samples:
        try:
            found = loss(model(x), target)
            total += found.data
            (found / len(samples)).backward()
        except OverflowError as error:
            raise FloatingPointError(f"{where}: {error}") from error
        if not math.isfinite(found.data):
            raise FloatingPointError(f"{where}: the loss became {found.data}")
    return total


def _row(x: Any) -> Any:
    return x if isinstance(x, Iterable) else [x]


def _progress_bar(epochs: int) -> Any:
    """A tqdm bar, right in a terminal and in Jupyter; None if tqdm is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=epochs, desc="epochs")
