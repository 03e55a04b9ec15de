"""How the weights of a layer start: random, with a spread that keeps signals of one size.

Each function takes the sizes of a layer and a random generator, and returns rows of numbers of
shape (out_features, in_features). A function of your own does the same.
"""

import math
from random import Random

Rows = list[list[float]]


def _normal(variance: float, in_features: int, out_features: int, rng: Random) -> Rows:
    deviation = math.sqrt(variance)
    return [[rng.gauss(0.0, deviation) for _ in range(in_features)] for _ in range(out_features)]


def _uniform(variance: float, in_features: int, out_features: int, rng: Random) -> Rows:
    bound = math.sqrt(3 * variance)  # a uniform distribution on [-b, b] has variance b²/3
    return [[rng.uniform(-bound, bound) for _ in range(in_features)] for _ in range(out_features)]


def he_normal(in_features: int, out_features: int, rng: Random) -> Rows:
    """Normal, variance 2 / in_features: for relu (He et al. 2015, arXiv:1502.01852).

    >>> rows = he_normal(3, 2, Random(0))
    >>> len(rows), len(rows[0])
    (2, 3)
    """
    return _normal(2 / in_features, in_features, out_features, rng)


def he_uniform(in_features: int, out_features: int, rng: Random) -> Rows:
    """Uniform, variance 2 / in_features: for relu (He et al. 2015, arXiv:1502.01852).

    >>> all(abs(w) <= math.sqrt(6 / 3) for row in he_uniform(3, 2, Random(0)) for w in row)
    True
    """
    return _uniform(2 / in_features, in_features, out_features, rng)


def xavier_normal(in_features: int, out_features: int, rng: Random) -> Rows:
    """Normal, variance 2 / (in_features + out_features): for tanh (Glorot and Bengio 2010).

    >>> rows = xavier_normal(3, 2, Random(0))
    >>> len(rows), len(rows[0])
    (2, 3)
    """
    return _normal(2 / (in_features + out_features), in_features, out_features, rng)


def xavier_uniform(in_features: int, out_features: int, rng: Random) -> Rows:
    """Uniform, variance 2 / (in_features + out_features): for tanh (Glorot and Bengio 2010).

    >>> all(abs(w) <= math.sqrt(6 / 5) for row in xavier_uniform(3, 2, Random(0)) for w in row)
    True
    """
    return _uniform(2 / (in_features + out_features), in_features, out_features, rng)


def lecun_normal(in_features: int, out_features: int, rng: Random) -> Rows:
    """Normal, variance 1 / in_features: for no activation, or one like x at 0 (LeCun 1998).

    >>> rows = lecun_normal(3, 2, Random(0))
    >>> len(rows), len(rows[0])
    (2, 3)
    """
    return _normal(1 / in_features, in_features, out_features, rng)


def lecun_uniform(in_features: int, out_features: int, rng: Random) -> Rows:
    """Uniform, variance 1 / in_features: for no activation, or one like x at 0 (LeCun 1998).

    >>> all(abs(w) <= math.sqrt(3 / 3) for row in lecun_uniform(3, 2, Random(0)) for w in row)
    True
    """
    return _uniform(1 / in_features, in_features, out_features, rng)
