"""Neural networks on scalars.

    modules.py         Module, Linear, Sequential
    initialisers.py    the weights that a layer starts with
    losses.py          how far a prediction is from its target
    training.py        fit: the training loop, and its History
    recording.py       the loss of a batch as a compiled program

A Module holds Values. Called with a sample, it makes a graph; a loss is the root of that graph.
`fit` records the graph of one sample, has it compiled and runs the program on whole batches.
"""

from .initialisers import (
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
    xavier_normal,
    xavier_uniform,
)
from .losses import binary_cross_entropy_with_logits, cross_entropy, hinge_loss, mse_loss
from .modules import Linear, Module, Sequential
from .training import History, fit

__all__ = [
    "History",
    "Linear",
    "Module",
    "Sequential",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "fit",
    "he_normal",
    "he_uniform",
    "hinge_loss",
    "lecun_normal",
    "lecun_uniform",
    "mse_loss",
    "xavier_normal",
    "xavier_uniform",
]
