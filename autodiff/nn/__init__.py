"""Neural networks on scalars: layers, losses, initialisers and a training loop."""

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
