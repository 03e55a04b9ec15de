# pyright: analyzeUnannotatedFunctions=false
"""Notebook 1: a secant to drag, the valleys of the error; and its exercises."""

import base64
import html
import math
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import numpy as np

from . import figures
from .figures import BLUE, GREEN, GREY, ORANGE
from .figures import graph_of as graph_of
from .verdicts import Exercise, Hint, number, solutions

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
        "The run is h, not x.": "(f(x) - f(x - h)) / x",
        "Python divides first: put brackets around the difference.": [
            "f(x) - f(x - h) / h",
            "f(x) / h - f(x - h)",
        ],
        "The slope is the rise divided by the run.": "(f(x) - f(x - h)) * h",
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
        "That is the plain cube root of ε, which suits a third derivative of about 1. Here it is "
        "about 10¹², so truncation dominates.": 6e-6,
        "Scaled the wrong way: a fast function needs a small step.": 0.06,
        "Too large: truncation dominates, and a smaller step does better.": [1e-8, 1e-4, 2.0],
        "Far too small: think of the left-hand end of the valley.": 1e-20,
        "Too small: round-off dominates, and a larger step does better.": 1e-12,
    },
)

# -- 3. Thirteen digits ---------------------------------------------------------------------------


def wild(x):
    """The example of Martins, Sturdza and Alonso (2003)."""
    return np.exp(x) / np.sqrt(np.sin(x) ** 3 + np.cos(x) ** 3)


def digits(answer, g, x, expected):
    """What an answer asks g about, and how its result is related to the derivative."""
    asked = []

    def noting(at):
        asked.append(at)
        return g(at)

    found = answer(noting, x)
    points = "x + ih" if any(map(np.iscomplexobj, asked)) else "reals"
    if np.iscomplexobj(found) or not isinstance(found, (float, int, np.ndarray)) or not asked:
        yield "the result", found if asked else "a number from nowhere"
    known = {expected: "13 digits", g(x): "g", -expected: "the sign", 0.0: "0"}
    near = (name for y, name in known.items() if math.isclose(found, y, rel_tol=1e-13))
    few = math.isclose(found, expected, rel_tol=1e-2)
    kind = next(near, "few digits" if few else "tiny" if abs(found) < abs(expected) / 1e3 else "")
    yield "the result", expected if kind == "13 digits" else f"{kind or found} from {points}"


def solution_3(g, x):
    h = 1e-20
    return g(x + h * 1j).imag / h


check_3 = Exercise(
    solution_3,
    ask=digits,
    at={
        "the g of the exercise": (wild, 1.5, 4.053427893898621),
        "x³ at 2": (lambda x: x**3, 2.0, 12.0),
        "x sin x at 0.5": (lambda x: x * np.sin(x), 0.5, 0.9182168195493894),
    },
    praise="Right, to 13 digits or more: nothing subtracted, nothing lost.",
    otherwise=(
        "Not yet. Where does a real step go wrong, and which section of this page takes another?"
    ),
    slips={
        "Your answer never calls g. Which point does a nudge ask it about?": "4.0",
        "Zero: a real step that small is lost in x. In which direction is it not?": (
            "(g(x + 1e-20) - g(x)) / 1e-20"
        ),
        "Close, but every difference loses digits, whatever its step. Which method on this page "
        "subtracts nothing?": "(g(x + 1e-6) - g(x - 1e-6)) / 2e-6",
        "That is g itself. Where does its derivative show?": "g(x)",
        "That is g itself, the real part. Take the other one.": "g(x + 1e-20j).real",
        "The sign is wrong.": "-g(x + 1e-20j).imag / 1e-20",
        "Close, but the step is too large. Nothing cancels here, so it may be tiny.": (
            "g(x + 1e-3j).imag / 1e-3"
        ),
        "Nearly: that looks like h times the derivative. Divide by h.": "g(x + 1e-20j).imag",
        "A step of 1j is a step of length 1. Take a tiny one.": "g(x + 1j).imag",
    },
)

# -- The figures ----------------------------------------------------------------------------------

COLOURS = {"forward": ORANGE, "backward": BLUE, "central": GREEN, "complex": GREEN}


def look() -> None:
    """Set what all figures have in common."""
    figures.look(**{"font.size": 12, "axes.titlesize": 13})


def panels(columns: int = 1, width: float = 9.0, height: float = 4.8) -> Any:
    import matplotlib.pyplot as plt

    return plt.subplots(1, columns, figsize=(width, height), layout="constrained")


class SecantPage:
    """A page with cos, its tangent at x and a secant through x + h, and sliders for x and h."""

    def __repr__(self) -> str:
        return "<a secant to drag: open this notebook in Jupyter>"

    def _repr_html_(self) -> str:
        folder = resources.files("autodiff.course")
        page = folder.joinpath("secant.html").read_text("utf-8")
        still = base64.b64encode(folder.joinpath("secant.png").read_bytes()).decode()
        style = "width: 100%; max-width: 760px; height: 440px; border: 0; background: white"
        # Inside the frame is a still picture, for notebooks that are not trusted.
        return (
            '<iframe title="A secant that becomes a tangent" sandbox="allow-scripts" '
            f'style="{style}" srcdoc="{html.escape(page)}"><img alt="cos, its tangent at 2 and three '
            f'secants" src="data:image/png;base64,{still}"></iframe>'
        )


def plot_secants(x: float, h: float, slopes: Mapping[str, float]) -> None:
    """cos with its tangent at x; and both minus the tangent, with a secant for each slope."""
    t = np.linspace(x - 1.6 * h, x + 1.6 * h, 200)
    tangent = np.cos(x) - np.sin(x) * (t - x)
    points = np.array([x - h, x, x + h])
    over_tangent = np.cos(points) - np.cos(x) + np.sin(x) * (points - x)
    figure, (left, right) = panels(2, 9.5, 4.4)
    left.plot(t, np.cos(t), color=GREY, lw=5, label="cos x")
    left.plot(t, tangent, "k--", lw=1.5, label="tangent at 2")
    left.plot(points, np.cos(points), "ko", ms=8, zorder=3)
    left.set(xlabel="x", title="cos and its tangent")
    left.legend()
    right.plot(t, np.cos(t) - tangent, color=GREY, lw=5, label="cos x − tangent")
    right.axhline(0, color="k", ls="--", lw=1.5)
    errors = {name: slope + np.sin(x) for name, slope in slopes.items()}
    for name, error in errors.items():
        end = 2 if name == "central" else 1  # a point on the secant
        line = over_tangent[end] + error * (t - points[end])
        right.plot(t, line, color=COLOURS[name], lw=2, label=f"{name}, error {error:+.3f}")
    right.plot(points, over_tangent, "ko", ms=8, zorder=3)
    right.set(xlabel="x", title="The same, less the tangent, with the secants")
    right.set_ylim(-0.12, 0.24)
    right.legend(loc="upper center", fontsize=11)
    off = ", ".join(f"{name} {error:+.3f}" for name, error in errors.items())
    figures.show(
        figure,
        f"cos and its tangent at {x:g}, and beside it secants with a step of {h:g}. Errors of "
        f"their slopes: {off}.",
    )


def plot_valley(steps: Any, one_point: Sequence[Any], many_points: Sequence[Any]) -> None:
    """Errors of forward and central differences against the step, with the slopes expected."""
    figure, ax = panels(height=5.4)
    for name, one, many in zip(("forward", "central"), one_point, many_points):
        colour = COLOURS[name] if name == "forward" else BLUE
        ax.loglog(steps, one, ".", color=colour, ms=4, alpha=0.5, label=f"{name}, x = 1.3")
        ax.loglog(steps, many, color=colour, lw=2, label=f"{name}, median over [1, 2]")
    ax.loglog([2e-7, 2e-4], [1, 1e-3], "k--", lw=1)
    ax.loglog([2e-3, 0.2], [3e-3, 0.3], "k--", lw=1)
    ax.loglog([2e-2, 0.9], [1.2e-5, 0.9**2 * 0.03], "k--", lw=1)
    for text, place in (("1/h", (8e-6, 4e-2)), ("h", (1.1e-2, 4e-2)), ("h²", (0.2, 4e-4))):
        ax.text(*place, text)
    ax.set(xlabel="step h", ylabel="relative error", title="Errors of p′ in float32")
    ax.set_ylim(1e-6, 10)
    ax.legend(fontsize=10, loc="lower left")
    best = [f"{min(many):.0e} at h = {steps[np.argmin(many)]:.0e}" for many in many_points]
    figures.show(
        figure,
        "Errors in float32 against the step, on logarithmic axes: two valleys. To the left both "
        "rise like 1/h; to the right the forward difference rises like h, the central one like "
        f"h². The lowest median errors: forward {best[0]}, central {best[1]}.",
    )


def plot_errors(steps: Any, errors: Mapping[str, Any]) -> None:
    """Errors of several methods against the step."""
    figure, ax = panels()
    looks = {"forward": (ORANGE, "-"), "central": (BLUE, "-"), "complex": (GREEN, "--")}
    for name, error in errors.items():
        colour, dashes = looks[name]
        ax.loglog(steps, error, dashes, color=colour, lw=2, label=name)
    ax.set(xlabel="step h", ylabel="relative error", title="Errors of p′ in float64")
    ax.set_ylim(1e-17, 10)
    ax.legend(loc="center left")
    best = ", ".join(f"{name} {min(error):.0e}" for name, error in errors.items())
    figures.show(
        figure,
        "Errors in float64 against the step. Forward and central differences have a valley, the "
        f"complex step falls and stays down, however small the step. Lowest: {best}.",
    )


solution = solutions(globals())
