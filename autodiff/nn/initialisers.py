"""Initial weights: random, with a variance that keeps signals the same size from layer to layer.

Each function takes the sizes of a layer and a random generator, and returns rows of numbers of
shape (out_features, in_features). You can write one of your own.
"""

import math
from collections.abc import Callable
from functools import partial
from random import Random

Rows = list[list[float]]
Initialiser = Callable[[int, int, Random], Rows]


def _rows(in_features: int, out_features: int, draw: Callable[[], float]) -> Rows:
    return [[draw() for _ in range(in_features)] for _ in range(out_features)]


def _pair(
    name: str, variance: Callable[[int, int], float], described: str
) -> tuple[Initialiser, Initialiser]:
    """A normal and a uniform initialiser whose variance depends on the sizes of the layer."""

    def normal(in_features: int, out_features: int, rng: Random) -> Rows:
        deviation = math.sqrt(variance(in_features, out_features))
        return _rows(in_features, out_features, partial(rng.gauss, 0, deviation))

    def uniform(in_features: int, out_features: int, rng: Random) -> Rows:
        bound = math.sqrt(3 * variance(in_features, out_features))  # [-b, b] has variance b²/3
        return _rows(in_features, out_features, partial(rng.uniform, -bound, bound))

    for function in (normal, uniform):
        kind = function.__name__
        function.__name__ = function.__qualname__ = f"{name}_{kind}"
        function.__doc__ = f"""Rows of {kind}ly distributed numbers of variance {described}.

        n is in_features, m is out_features; the shape is (m, n). ZeroDivisionError if n is 0.

        >>> rows = {name}_{kind}(3, 2, Random(0))
        >>> len(rows), len(rows[0])
        (2, 3)
        """
    return normal, uniform


he_normal, he_uniform = _pair(
    "he",
    lambda n, m: 2 / n,
    "$2 / n$, for relu (He et al. 2015, arXiv:1502.01852)",
)
xavier_normal, xavier_uniform = _pair(
    "xavier",
    lambda n, m: 2 / (n + m),
    "$2 / (n + m)$, for tanh (Glorot and Bengio 2010)",
)
lecun_normal, lecun_uniform = _pair(
    "lecun", lambda n, m: 1 / n, "$1 / n$, for no activation (LeCun et al. 1998)"
)
