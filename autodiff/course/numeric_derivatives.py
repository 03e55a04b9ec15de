# pyright: analyzeUnannotatedFunctions=false
"""Notebook 1: difference quotients; its guesses and exercises."""

import math

import numpy as np

from .verdicts import Exercise, Hint, after_your_guess, guesses, number, same, solutions

predict = guesses("""
    1. 2 to 4: Right: three, or nearly. Now see where the others went.
       else: You will see: drag h to 10⁻¹², and count.
    2. 4 to 4.2: Right: 0.7183 / 0.1752. Now see why.
       2 to 2.2: So many times that of the backward one. And that of the forward one?
       else: Its slope is the mean of the other two. Divide the forward error by that one's.
    3. 4: Right: the error is about h²/6 · f''', and half of h has a quarter of the square.
       0.25: Right: a quarter is left, so it is four times smaller.
       else: Its error is about h²/6 · f'''. What becomes of h² when h is halved?
    4. 5: Right: where h⁴ is like ε/h, h times h⁴ is like ε.
       0.2: Right: where h⁴ is like ε/h, h times h⁴ is like ε.
       3: That is the central difference: its error is like h². Yours is like h⁴.
       else: At the bottom h⁴ is about ε/h. Multiply both by h.
    5. 0: Right: what abs returns has no imaginary part.
       else: The modulus of -2 + ih is a real number. What is its imaginary part?
    6. 101: Right: one call for f(x), and one for each of the hundred nudges.
       100: Nearly: they share one more call, f(x) itself.
       else: Which points does it need? x itself, and x with one number nudged.
""")


def central(f, x, h):
    return (f(x + h) - f(x - h)) / (2 * h)


def forward(f, x, h):
    return (f(x + h) - f(x)) / h


def solution_1(f, x, h):
    return (4 * central(f, x, h / 2) - central(f, x, h)) / 3


def mixed(half, whole, rule=central):
    """So many times the difference with step h/2, and so many times the one with step h."""
    return lambda f, x, h: half * rule(f, x, h / 2) + whole * rule(f, x, h)


check_1 = Exercise(
    solution_1,
    at={"exp at 0 with h = 1": (math.exp, 0, 1), "t⁵ at 2 with h = ½": (lambda t: t**5, 2, 0.5)},
    praise="Right: the two terms in h² cancel, and f' is left.",
    otherwise=lambda _, found: (
        "That is from a step of your own. Take h and h/2, large as they are."
        if same(found, 1, 1e-6)  # the slope itself
        else "How many times does c h²/4 go into c h²? That says how to weigh the two."
    ),
    slips={
        "Both errors have the same sign: a mean keeps it.": [mixed(0.5, 0.5), mixed(0.8, 0.2)],
        "That cancels an error like h. Here half the step has a quarter of it.": mixed(2, -1),
        "h² has cancelled. But how many times f' is left?": [mixed(4, -1), mixed(1, -1 / 4)],
        "Which one has the smaller error? It counts more.": [mixed(-1 / 3, 4 / 3), mixed(-1, 4)],
        "The sign: so many times f' is left, but below 0.": [mixed(-4 / 3, 1 / 3), mixed(-2, 1)],
        "Now f' has cancelled, and the error is left.": [mixed(1, -1), mixed(4 / 3, -4 / 3)],
        "That is only one of the two differences. Combine both.": [mixed(1, 0), mixed(0, 1)],
        "The points x ± h/2 are only h apart: divide by h.": mixed(2 / 3, -1 / 3),
        "Use central, not forward.": [mixed(4 / 3, -1 / 3, forward), mixed(2, -1, forward)],
        "That works, from steps h and 2h. Take h/2 and h.": lambda f, x, h: solution_1(f, x, 2 * h),
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
    return (math.ulp(1.0) * 1 / 1e12) ** (1 / 3)


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


def from_one_value(answer, f, x):
    asked = []
    found = answer(lambda x: asked.append(x) or f(x), x, 1e-20)
    if len(asked) > 1:
        raise Hint(f"That takes {len(asked)} values of f, and one of them is enough.")
    if not isinstance(found, complex) and 0 < abs(found) < 1e-9:
        raise Hint("That is h times the derivative: divide by h.")
    if found == 0:
        raise Hint("Zero: so small a step is lost in x. Step to the side.")
    return found


def solution_3(f, x, h=1e-20):
    return f(complex(x, h)).imag / h


def g(x):
    return np.exp(x) / np.sqrt(np.sin(x) ** 3 + np.cos(x) ** 3)


check_3 = Exercise(
    solution_3,
    ask=from_one_value,
    at={"g at 1.5": (g, 1.5), "x³ - 10 at 2": (lambda x: x**3 - 10, 2.0)},
    close=1e-13,
    praise="Right, to 13 digits or more.",
    otherwise="A difference of floats loses digits. In the formula, where is f' alone?",
    slips={
        "The absolute value mixes the two parts. Take one.": lambda f, x, h: abs(f(x + h * 1j)) / h,
        "That is f itself, the real part: take the other one.": [
            lambda f, x, h: f(x + h * 1j).real,
            lambda f, x, h: f(x + h * 1j).real / h,
        ],
        "A step of 1j is a step of length 1. Take a tiny one.": lambda f, x, h: f(x + 1j).imag,
    },
)

solution = solutions(globals())
