# pyright: analyzeUnannotatedFunctions=false
"""Notebook 1: secants, and errors against the step; its guesses and exercises."""

import math

import numpy as np

from .verdicts import Exercise, Hint, after_your_guess, guesses, number, solutions

predict = guesses(
    {
        (2, 4): "Right: three, and nearly a fourth. Now see where the others went.",
        12: "So the pattern promises. Now drag h to 10⁻¹², and count.",
        ...: "You will see: drag h to 10⁻¹², and count.",
    },
    {
        12: "Right: small nudges do not get in one another's way, so their effects add.",
        9: "There are two paths through the sum, since it uses a twice.",
        ...: "Each path brings its own share to y: 3, 3 and 6.",
    },
    {
        4: "Right: the error is about h²/6 · f''', and half of h has a quarter of the square.",
        2: "That is the forward difference, whose error is like h. Here it is like h².",
        ...: "Its error is about h²/6 · f'''. What becomes of h²?",
    },
    {
        101: "Right: one call for f(x), and one for each of the hundred nudges.",
        100: "Nearly: they share one more call, f(x) itself.",
        ...: "Which points does it need? x itself, and x with one number nudged.",
    },
)


def solution_1(f, x, h):
    return (f(x) - f(x - h)) / h


check_1 = Exercise(
    solution_1,
    at={"t³ at 2 with h = 0.25": (lambda t: t**3, 2.0, 0.25), "exp at 1": (math.exp, 1.0, 0.125)},
    praise="Right: what f gains from x - h to x, over the step between them.",
    otherwise="Take f at x and at x - h, nothing else, and divide by the step.",
    slips={
        "That is the forward difference: it looks to the right of x.": "(f(x + h) - f(x)) / h",
        "That is the central difference: it looks both ways.": "(f(x + h) - f(x - h)) / (2 * h)",
        "The sign is wrong: subtract the left value from the right one.": "(f(x - h) - f(x)) / h",
        "Python divides first: put brackets around the difference.": "f(x) - f(x - h) / h",
    },
)

LOW, HIGH = 1.9e-10, 1.4e-9  # between them the error is at most five times the least


def kind_of_step(answer):
    h = number(answer)
    if not 0 < h < math.inf:
        raise Hint("A step is a positive number.")
    bounds = {LOW: "small", HIGH: "good", 3e-6: "large", 1.2e-5: "the default", math.inf: "large"}
    return next(kind for bound, kind in bounds.items() if h < bound)


def solution_2():
    # |f| is about 1 and |f'''| about 10,000³ = 10¹², so the rule says ∛(ε |f| / |f'''|)
    return float((np.finfo(float).eps * 1 / 1e12) ** (1 / 3))


check_2 = Exercise(
    solution_2(),
    ask=kind_of_step,
    praise="Right: a function that changes faster wants a smaller step.",
    slips={
        "That is the cube root of ε, for a third derivative of about 1. Here it is 10¹².": 6e-6,
        "Too large: truncation dominates, and a smaller step does better.": 1e-8,
        "Too small: round-off dominates, and a larger step does better.": 1e-12,
    },
)


def g(x):
    return np.exp(x) / np.sqrt(np.sin(x) ** 3 + np.cos(x) ** 3)


def sideways(answer, g, x):
    found = answer(g, x)
    if not isinstance(found, complex) and 0 < abs(found) < 1e-9:
        raise Hint("That is h times the derivative: divide by h.")
    if found == 0:
        raise Hint("Zero: so small a step is lost in x. Step to the side.")
    return found


def solution_3(g, x):
    h = 1e-20
    return g(x + h * 1j).imag / h


check_3 = Exercise(
    solution_3,
    ask=sideways,
    at={
        "the g of the exercise": (g, 1.5),
        "x³ at 2": (lambda x: x**3, 2.0),
        "x sin x at 0.5": (lambda x: x * np.sin(x), 0.5),
    },
    close=1e-13,
    praise="Right, to 13 digits or more: nothing subtracted, nothing lost.",
    otherwise="Subtract nothing: a difference loses digits. Take a tiny step to the side, from x.",
    slips={
        "The absolute value mixes the two parts of the number. Take one.": "abs(g(x + 1e-20j)) / 1e-20",
        "That is g itself, the real part. Take the other one.": "g(x + 1e-20j).real",
        "A step of 1j is a step of length 1. Take a tiny one.": "g(x + 1j).imag",
    },
)

solution = solutions(globals())
