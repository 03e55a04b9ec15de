"""Exercises of notebook 6, vectors and matrices."""

from typing import Any

import numpy as np

from autodiff import errors

from . import Check, Hint, solutions, unfilled
from .probes import needs_function, without_the_package

Wrong = list[tuple[Any, str]]


def _array(found: Any, shape: tuple[int, ...], name: str) -> Any:
    """What was returned, as an array of this shape; a hint if it is not one."""
    if unfilled(found):
        raise Hint(f"{name}: nothing here yet. Put a formula where the dots are.")
    try:
        found = np.array(found, dtype=float)
    except (TypeError, ValueError):
        raise Hint(f"{name}: expected an array, found {errors.a(found)}.") from None
    if found.shape != shape:
        swapped = found.ndim == 2 and found.shape == shape[::-1]
        tip = " Yours is the transpose of what fits." if swapped else ""
        raise Hint(
            f"{name} has shape {found.shape}, but a gradient has the shape of what it belongs "
            f"to, here {shape}.{tip}"
        )
    return found


def _compare(found: Any, right: Any, wrongs: Wrong, otherwise: str) -> None:
    """A hint if it is not the right array: the one for a known mistake, or `otherwise`."""
    if np.allclose(found, right, rtol=1e-10, atol=1e-12):
        return
    for wrong, text in wrongs:
        if np.shape(wrong) == found.shape and np.allclose(found, wrong):
            raise Hint(text)
    if np.allclose(found, right, rtol=1e-3, atol=1e-3):
        raise Hint("Close, but not exact: is it a finite difference? Write the formula.")
    raise Hint(otherwise)


@Check
def check_1(answer: Any) -> str:
    needs_function(answer, "answer_1(a, x, b)")
    rng = np.random.default_rng(1)
    for m, n in [(2, 3), (3, 3), (4, 2)]:
        a, x, b = rng.normal(size=(m, n)), rng.normal(size=n), rng.normal(size=m)
        found = without_the_package(answer, a.copy(), x.copy(), b.copy(), tools="NumPy")
        found, r = _array(found, a.shape, "The gradient for A"), a @ x - b
        size, right = np.linalg.norm(r), np.outer(r, x) / np.linalg.norm(r)
        wrongs = [
            (np.outer(r, x), "That is for half the norm squared. What is it to be divided by?"),
            (2 * np.outer(r, x), "That is for the norm squared. How does the root change it?"),
            (2 * right, "Twice too much: the root halves what the square doubles."),
            (-right, "The sign: which way does r = A x - b go when an entry of A grows?"),
            (np.outer(x, r) / size, "Transposed: entry i, k is r_i x_k / |r|."),
            (np.outer(r, x) / size**2, "Divided twice: the norm sends r / |r|."),
            (np.outer(a @ x, x) / np.linalg.norm(a @ x), "Where is b?"),
            (np.outer(r / size, np.ones(n)), "Where is x? An entry of A is multiplied by one."),
        ]
        otherwise = "The norm sends G = r / |r| to r = A x - b. Then G Bᵀ, with x for B."
        _compare(found, right, wrongs, otherwise)
    return "Right: G = r / |r| goes to A x, and A gets G xᵀ. It is the box, with B = x."


def solution_1(a, x, b):
    r = a @ x - b
    return np.outer(r / np.linalg.norm(r), x)


@Check
def check_2(answer: Any) -> str:
    needs_function(answer, "answer_2(a, b)")
    rng = np.random.default_rng(2)
    for m, n in [(2, 4), (3, 3), (4, 1)]:
        a, b = rng.normal(size=(m, n)), rng.normal(size=(n, m))
        found = without_the_package(answer, a.copy(), b.copy(), tools="NumPy")
        if unfilled(found):
            raise Hint("Nothing here yet: put a formula where the dots are, for A and for B.")
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            raise Hint("Return two arrays: the gradient for A, and that for B.")
        ones = np.ones((m, m))
        for name, part, right, wrongs in [
            ("A", found[0], b.T, [(b, "transpose it"), (ones @ b.T, _EVERYWHERE)]),
            ("B", found[1], a.T, [(a, "transpose it"), (a.T @ ones, _EVERYWHERE)]),
        ]:
            part = _array(part, right.shape, f"The gradient for {name}")
            wrongs = [
                *wrongs,
                (a.T if name == "A" else b.T, "that is the one for the other factor"),
                (np.eye(*right.shape), "that looks like G itself; go on: G Bᵀ, Aᵀ G"),
            ]
            wrongs = [(wrong, f"For {name}: {text}.") for wrong, text in wrongs]
            _compare(part, right, wrongs, f"For {name}: what is G, entry by entry, for a trace?")
    return "Right: G is the identity, so G Bᵀ = Bᵀ and Aᵀ G = Aᵀ."


_EVERYWHERE = "G is not all ones, because the trace sees the diagonal only"


def solution_2(a, b):
    return b.T, a.T  # G is the identity matrix


@Check
def check_3(answer: Any) -> str:
    needs_function(answer, "answer_3(a, x, b)")
    rng = np.random.default_rng(3)
    for m, n in [(5, 2), (3, 3), (2, 4)]:
        a, x, b = rng.normal(size=(m, n)), rng.normal(size=n), rng.normal(size=m)
        found = without_the_package(answer, a.copy(), x.copy(), b.copy(), tools="NumPy")
        found = _array(found, x.shape, "The gradient for x")
        r, right = a @ x - b, 2 * a.T @ (a @ x - b)
        wrongs = [
            (right / 2, "Half of it: the square brings a factor 2."),
            (-right, "That points downhill; a gradient points uphill."),
            (right / np.linalg.norm(r) / 2, "That is for the norm itself, without the square."),
            (right / m, "That is for the mean of the squares; here it is the sum."),
            (2 * a.T @ (a @ x), "Where is b?"),
            (a.T @ (a @ x), "Where is b? And the square brings a factor 2."),
        ]
        _compare(found, right, wrongs, "G = 2 r goes to A x, with r = A x - b. And to x: Aᵀ G.")
    start, slope = _line(answer)
    return (
        f"Right: 300 steps downhill lead to {start:.4f} + {slope:.4f} t, the line of least "
        "squares that NumPy finds, too."
    )


def _line(gradient: Any) -> Any:
    """Where 300 steps against the gradient lead, for the line through five points."""
    times, b = np.linspace(0, 1, 5), np.array([1.1, 1.4, 2.1, 2.4, 3.1])
    a, x = np.column_stack([np.ones(5), times]), np.array([0.3, -0.2])
    for _ in range(300):
        x = x - 0.1 * np.asarray(gradient(a.copy(), x.copy(), b.copy()))
    if not np.allclose(x, np.linalg.lstsq(a, b, rcond=None)[0], atol=1e-6):
        raise Hint(f"Right at first, but the steps end at {x}, which is not the best line.")
    return x


def solution_3(a, x, b):
    return 2 * a.T @ (a @ x - b)


solution = solutions(globals())
