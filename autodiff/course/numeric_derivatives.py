# pyright: analyzeUnannotatedFunctions=false
"""Notebook 1: secants, and errors against the step; its guesses and exercises."""

import math

import numpy as np

from . import figures
from .figures import graph_of as graph_of
from .verdicts import Exercise, Hint, guess, guesses, number, solutions

# -- The guesses ----------------------------------------------------------------------------------

guess_1 = guess(
    3.0,
    "Right: three, and nearly a fourth. Now see where the others went.",
    "You will see: drag h to 10⁻¹², and count.",
    {"So the pattern promises. Now drag h to 10⁻¹², and count.": 12.0},
    close=0.3,
)
guess_2 = guess(
    12.0,
    "Right: small nudges do not get in one another's way, so their effects add.",
    "Each path brings its own share to y: 3, 3 and 6.",
    {
        "There are two paths through the sum, since it uses a twice.": 9.0,
        "That is the value of y, not how fast it moves.": 18.0,
    },
)
guess_3 = guess(
    4.0,
    "Right: the error is about h²/6 · f''', and half of h has a quarter of the square.",
    "Its error is about h²/6 · f'''. What becomes of h²?",
    {
        "That is the forward difference, whose error is like h. Here it is like h².": 2.0,
        "It becomes a quarter, so the factor is 4.": 0.25,
    },
)
guess_4 = guess(
    101.0,
    "Right: one call for f(x), and one for each of the hundred nudges.",
    "Which points does it need? x itself, and x with one number nudged.",
    {
        "Nearly: they share one more call, f(x) itself.": 100.0,
        "f(x) need be computed only once.": 200.0,
    },
)
predict = guesses(globals())

# -- 1. Look back ---------------------------------------------------------------------------------


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
        "That is the rise of f. Divide it by the run.": "f(x) - f(x - h)",
        "From x - h to x the run is h, not 2h.": "(f(x) - f(x - h)) / (2 * h)",
        "Python divides first: put brackets around the difference.": "f(x) - f(x - h) / h",
    },
)

# -- 2. A fast wave -------------------------------------------------------------------------------

LOW, HIGH = 1.9e-10, 1.4e-9  # between them the error is at most five times the least


def kind_of_step(answer):
    h = number(answer)
    if not 0 < h < math.inf:
        raise Hint("A step is a positive number.")
    bounds = {1e-16: "lost in x", LOW: "small", HIGH: "good", 3e-6: "large", 1.2e-5: "the default"}
    bounds |= {0.01: "large", 1.0: "the wrong way", math.inf: "large"}
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
        "Scaled the wrong way: a fast function needs a small step.": 0.06,
        "Too large: truncation dominates, and a smaller step does better.": [1e-8, 1e-4, 2.0],
        "Far too small: think of the left-hand end of the valley.": 1e-20,
        "Too small: round-off dominates, and a larger step does better.": 1e-12,
    },
)

# -- 3. Thirteen digits ---------------------------------------------------------------------------


def g(x):
    return np.exp(x) / np.sqrt(np.sin(x) ** 3 + np.cos(x) ** 3)


def digits(answer, g, x, expected):
    """What an answer asks g about, and how its result is related to the derivative."""
    asked = []
    found = answer(lambda at: asked.append(at) or g(at), x)
    points = "x + ih" if any(map(np.iscomplexobj, asked)) else "reals"
    if np.iscomplexobj(found) or not isinstance(found, (float, int, np.ndarray)) or not asked:
        return found if asked else "a number from nowhere"
    known = {expected: "13 digits", g(x): "g", -expected: "the sign", 0.0: "0"}
    near = (name for y, name in known.items() if math.isclose(found, y, rel_tol=1e-13))
    few = math.isclose(found, expected, rel_tol=1e-2)
    kind = next(near, "few digits" if few else "tiny" if abs(found) < abs(expected) / 1e3 else "")
    return expected if kind == "13 digits" else f"{kind or found} from {points}"


def solution_3(g, x):
    h = 1e-20
    return g(x + h * 1j).imag / h


check_3 = Exercise(
    solution_3,
    ask=digits,
    at={
        "the g of the exercise": (g, 1.5, 4.053427893898621),
        "x³ at 2": (lambda x: x**3, 2.0, 12.0),
        "x sin x at 0.5": (lambda x: x * np.sin(x), 0.5, 0.9182168195493894),
    },
    praise="Right, to 13 digits or more: nothing subtracted, nothing lost.",
    otherwise="Not yet. Where does a real step go wrong, and which section takes another?",
    slips={
        "Your answer never calls g. Which point does a nudge ask it about?": "4.0",
        "Zero: so small a real step is lost in x. Which is not?": "(g(x + 1e-20) - g(x)) / 1e-20",
        "Close, but every difference loses digits. Which method on this page subtracts nothing?": [
            "(g(x + 1e-6) - g(x - 1e-6)) / 2e-6"
        ],
        "That is g itself. Where does its derivative show?": "g(x)",
        "That is g itself, the real part. Take the other one.": "g(x + 1e-20j).real",
        "The sign is wrong.": "-g(x + 1e-20j).imag / 1e-20",
        "Close, but the step is too large. It may be tiny.": "g(x + 1e-3j).imag / 1e-3",
        "Nearly: that looks like h times the derivative. Divide by h.": "g(x + 1e-20j).imag",
        "A step of 1j is a step of length 1. Take a tiny one.": "g(x + 1j).imag",
    },
)

# -- The figures ----------------------------------------------------------------------------------


def plot_secants(slopes):
    """exp, its tangent at 0, and the secants through two of the points at -1, 0 and 1."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    t = np.linspace(-1.3, 1.3, 100)
    ax.plot(t, np.exp(t), color=figures.GREY, lw=5, label="exp")
    ax.plot(t, 1 + t, "k--", label="tangent, slope 1")
    for name, slope in slopes.items():
        x = 1.0 if name == "central" else 0.0  # a point on the secant
        ax.plot(t, math.exp(x) + slope * (t - x), label=f"{name}, slope {slope:.3f}")
    ax.plot([-1, 0, 1], np.exp([-1, 0, 1]), "ko", ms=8, zorder=3)
    ax.set(xlabel="x", ylim=(-0.5, 3.6))
    ax.legend()
    said = ", ".join(f"{name} {slope:.3f}" for name, slope in slopes.items())
    figures.show(figure, f"exp, its tangent at 0 with slope 1, and three secants: {said}.")


def plot_errors(steps, errors):
    """Errors of several methods against the step, on logarithmic axes."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    for name, error in errors.items():
        ax.loglog(steps, np.maximum(error, 1e-17), "--" if name == "sideways" else "-", label=name)
    ax.set(xlabel="step h", ylabel="relative error", ylim=(3e-18, 10))
    ax.legend(loc="center left")
    said = ", ".join(f"{name} {min(error):.0e}" for name, error in errors.items())
    alt = f"Errors against the step: two valleys, and a line that falls and stays low. Best: {said}"
    figures.show(figure, alt)


solution = solutions(globals())
