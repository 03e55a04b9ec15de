"""Initial weights: random, with a variance that keeps signals the same size from layer to layer.

Each function takes the sizes of a layer, n and m, at least 1, and a random generator, and returns m
rows of n numbers. You can write one of your own.
"""

import math
from random import Random

Rows = list[list[float]]


def he_normal(n: int, m: int, rng: Random) -> Rows:
    """Normally distributed, of variance $2 / n$, for relu (He et al. 2015, arXiv:1502.01852).

    >>> rows = he_normal(3, 2, Random(0))
    >>> len(rows), len(rows[0])
    (2, 3)
    """
    return _normal(2 / n, n, m, rng)


def he_uniform(n: int, m: int, rng: Random) -> Rows:
    """Uniformly distributed, of variance $2 / n$, for relu (He et al. 2015, arXiv:1502.01852).

    >>> -1 < he_uniform(6, 1, Random(0))[0][0] < 1
    True
    """
    return _uniform(2 / n, n, m, rng)


def xavier_normal(n: int, m: int, rng: Random) -> Rows:
    """Normally distributed, of variance $2 / (n + m)$, for tanh (Glorot and Bengio 2010).

    >>> len(xavier_normal(3, 2, Random(0)))
    2
    """
    return _normal(2 / (n + m), n, m, rng)


def xavier_uniform(n: int, m: int, rng: Random) -> Rows:
    """Uniformly distributed, of variance $2 / (n + m)$, for tanh (Glorot and Bengio 2010).

    >>> -1 < xavier_uniform(5, 1, Random(0))[0][0] < 1
    True
    """
    return _uniform(2 / (n + m), n, m, rng)


def lecun_normal(n: int, m: int, rng: Random) -> Rows:
    """Normally distributed, of variance $1 / n$, for no activation (LeCun et al. 1998).

    >>> len(lecun_normal(3, 2, Random(0)))
    2
    """
    return _normal(1 / n, n, m, rng)


def lecun_uniform(n: int, m: int, rng: Random) -> Rows:
    """Uniformly distributed, of variance $1 / n$, for no activation (LeCun et al. 1998).

    >>> -1 < lecun_uniform(3, 1, Random(0))[0][0] < 1
    True
    """
    return _uniform(1 / n, n, m, rng)


def _normal(variance: float, n: int, m: int, rng: Random) -> Rows:
    deviation = math.sqrt(variance)
    return [[rng.gauss(0, deviation) for _ in range(n)] for _ in range(m)]


def _uniform(variance: float, n: int, m: int, rng: Random) -> Rows:
    bound = math.sqrt(3 * variance)  # [-b, b] has variance b²/3
    return [[rng.uniform(-bound, bound) for _ in range(n)] for _ in range(m)]
