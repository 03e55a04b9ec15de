# pyright: analyzeUnannotatedFunctions=false
"""Notebook 6: a product whose rows light up; its guesses and exercises."""

from typing import Any

import numpy as np

from .verdicts import Exercise, Hint, after_your_guess, guesses, outside, solutions


def formula(answer, *given):
    """What an answer of NumPy's returns."""
    engine = [getattr(x, "__module__", None) or getattr(x, "__name__", "") for x in outside(answer)]
    if any(name.startswith("autodiff.") or name == "autodiff" for name in engine):
        raise Hint("That is the engine's answer. Write yours: a formula of a, x and b, in NumPy.")
    return answer(*given)


def random_at(*shapes):
    """Numbers for A, x and b of several shapes."""
    rng = np.random.default_rng(1)
    return {
        f"A of shape {(m, n)}": (rng.normal(size=(m, n)), rng.normal(size=n), rng.normal(size=m))
        for m, n in shapes
    }


def both(answer, a, b):
    found = answer(a, b)
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise Hint("Return two arrays: the gradient for A, and that for B.")
    for name, part in zip("AB", found):
        yield f"the gradient for {name}", part


def solution_1(a, b):
    return b.T, a.T  # G is the identity matrix


check_1 = Exercise(
    solution_1,
    ask=both,
    at={name: (a, np.cos(a.T)) for name, (a, _, _) in random_at((3, 3), (2, 4), (4, 1)).items()},
    praise="Right: G is the identity, so G Bᵀ = Bᵀ and Aᵀ G = Aᵀ.",
    otherwise="What is G, entry by entry, for a trace?",
    slips={
        "{part}: transpose it.": ["(b, a.T)", "(b.T, a)"],
        "{part}: G is not all ones, as for a sum.": [
            "(np.ones((len(a), len(a))) @ b.T, a.T)",
            "(b.T, a.T @ np.ones((len(a), len(a))))",
        ],
        "{part}: that is the one for the other factor.": ["(a.T, b.T)", "(b.T, b.T)"],
        "{part}: that looks like G itself. Go on: G Bᵀ for A, Aᵀ G for B.": [
            "(np.eye(*a.shape), np.eye(*b.shape))",
            "(np.eye(len(a)), np.eye(len(a)))",
        ],
    },
)


def solution_2(a, x, b):
    r = a @ x - b
    return np.outer(r / np.linalg.norm(r), x)


check_2 = Exercise(
    solution_2,
    ask=formula,
    at=random_at((3, 3), (2, 3), (4, 2)),
    praise="Right: G = r / |r| goes to A x, and A gets G xᵀ. It is the box, with B = x.",
    otherwise="The norm sends G = r / |r| to r = A x - b. Then G Bᵀ, with x for B.",
    slips={
        "That is for half the norm squared. What is it to be divided by?": "/ np.linalg.norm(r) →",
        "That is for the norm squared. How does the root change it?": "/ np.linalg.norm(r) → * 2",
        "Transposed: entry i, k is r_i x_k / |r|.": "r / np.linalg.norm(r), x → x, r / np.linalg.norm(r)",
    },
)


def solution_3(a, x, b):
    return 2 * a.T @ (a @ x - b)


check_3 = Exercise(
    solution_3,
    ask=formula,
    at=random_at((3, 3), (5, 2), (2, 4)),
    praise="Right: a few hundred steps against it lead to the line of least squares that NumPy finds.",
    otherwise="G = 2 r goes to A x, with r = A x - b. And to x: Aᵀ G.",
    slips={
        "Half of it: the square brings a factor 2.": "2 * →",
        "The sign is wrong: r is A x - b.": "2 * → -2 *",
        "That is for the norm itself, without the square.": "2 * → 1 / np.linalg.norm(a @ x - b) *",
        "That is 2 r, which goes to A x. One step further: Aᵀ G.": "a.T @ →",
        "That is for A: G xᵀ. The gradient for x is asked for.": "2 * np.outer(a @ x - b, x)",
    },
)

predict = guesses(
    {
        4: "Right: a row of C. How fast each moves, the next picture tells.",
        8: "That is all of C. But row 0 of C never meets row 1 of A.",
        1: "The nudged entry meets a whole row of B, and each meeting is in another entry of C.",
        ...: "Through which entries of C does row 1 of A run?",
    },
    {
        2: "Right: one from each dot, that is, for each row of M.",
        4: "That is both entries of x together.",
        ...: "Which rows of M multiply it?",
    },
    {
        8192: "Right: twice the size, eight times the edges.",
        4096: "That would be the number of products. Each has two factors.",
        ...: "n² dots, each with a row of n and a column of n.",
    },
)


def corner(a: Any, b: Any, gradient: Any = None, guess: bool = False) -> Any:
    """A on the left, B above, C = A B at the corner: point at an entry, and see which of C move.

    gradient: of C, to stand in its place and add up to that of the entry. guess: whether nothing
    lights up before an entry is pointed at.
    """
    from autodiff.pictures.pages import lesson

    data = {"title": "What a nudge moves", "A": a.data, "B": b.data, "G": gradient, "guess": guess}
    above = [[""] * len(a.data[0]) + row for row in b.data]
    rows = above + [left + right for left, right in zip(a.data, gradient or (a @ b).data)]
    said = "".join(f"<tr><td>{'<td>'.join(map(str, row))}</tr>" for row in rows)
    return lesson("corner", data, still=f"<table>{said}</table>")


solution = solutions(globals())
