"""The rounding errors that other tests allow."""

import mpmath
from oracles import allowed

import autodiff as ad
from autodiff import Value


def test_what_cancels_may_be_off_by_the_size_of_what_cancelled():
    x, y = Value(1e8 + 1), Value(1e8)
    of_value, _ = allowed(x * x - y * y, [x, y])
    assert 1e16 * 2.3e-16 < of_value < 1e16 * 1e-14
    of_value, _ = allowed(x - x, [x])
    assert of_value == 0.0
    _, (of_gradient,) = allowed(ad.sum([x * 1e-3, -x, x]), [x])  # 1e-3, or (1e-3 - 1) + 1
    assert 2.3e-16 < of_gradient < 1e-14


def test_the_error_allowed_is_that_of_50_digits():
    x = Value(2.5)
    y = ad.exp(ad.sin(x) * 10.0) - ad.tanh(x) ** 3
    of_value, (of_gradient,) = allowed(y, [x])
    with mpmath.workdps(50):
        f = lambda x: mpmath.exp(mpmath.sin(x) * 10) - mpmath.tanh(x) ** 3  # noqa: E731
        value, slope = f(mpmath.mpf(2.5)), mpmath.diff(f, mpmath.mpf(2.5))
    assert abs(y.data - value) <= of_value < 1e-13 * abs(value)
    assert abs(ad.adjoints(y)[x] - slope) <= of_gradient < 1e-12 * abs(slope)
