"""Neural networks on scalars.

A Module holds Values. Called with a sample, it makes a graph; a loss is the root of that graph.

- `Module`: the base class for models of your own; `Linear`, `Sequential`, `Dropout`: layers.
- `mse_loss`, `hinge_loss`: losses.
- `cross_entropy`, `binary_cross_entropy_with_logits`: losses that take logits and do not overflow.
- `fit`: trains a model and returns a `History`; `WalkingWarning`: says why training is slow.
- `predict`, `softmax`, `accuracy`: predictions, probabilities, and how often a model is right.
- `he_normal`, `he_uniform`, `xavier_normal`, `xavier_uniform`, `lecun_normal`, `lecun_uniform`:
  initial weights.

The way of the data through `fit`:

    inputs, targets                     lists, arrays, frames
      │ samples.py                      copied once: rows of floats, targets as they are
      ▼
    one sample ──► recording.py         model and loss make a graph, which must serve all samples
      │              │ compiler/        ... becomes a program: arrays in, losses and gradients out
      ▼              ▼
    engines.py: Walk or Compiled        the losses and the gradients of a batch, by either
      │ verification.py                 which of them runs: a program is compared with walks
      │ gradients
      ▼
    state.py, optim.py                  a step ──► parameters
      │
      ▼
    fitting.py                          the next batch; the next epoch: History, callbacks

    modules.py         Module, Linear, Sequential, Dropout
    initialisers.py    initial weights
    losses.py          how far a prediction is from its target
    fitting.py         fit: the training loop, and its History
    predictions.py     predict and accuracy
    samples.py         inputs and targets as arrays
    watching.py        who looks at a number while a graph is recorded is refused
    recording.py       the graph that the losses of all samples share
    merging.py         made of the losses of one sample with all targets
    engines.py         losses and gradients of a batch: by a walk through graphs, or by a program
    devices.py         what runs a program: NumPy, or JAX on all devices
    verification.py    which engine runs; what a program says that is wrong
    state.py           where a training is: whole steps
    rules.py           the rule of an optimiser as a program that works in place
"""

from .fitting import History, fit
from .initialisers import (
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
    xavier_normal,
    xavier_uniform,
)
from .losses import binary_cross_entropy_with_logits, cross_entropy, hinge_loss, mse_loss, softmax
from .modules import Dropout, Linear, Module, Sequential
from .predictions import accuracy, predict
from .verification import WalkingWarning

__all__ = [
    "Dropout", "History", "Linear", "Module", "Sequential", "WalkingWarning", "accuracy",
    "binary_cross_entropy_with_logits", "cross_entropy", "fit", "he_normal", "he_uniform",
    "hinge_loss", "lecun_normal", "lecun_uniform", "mse_loss", "predict", "softmax",
    "xavier_normal", "xavier_uniform",
]  # fmt: skip
