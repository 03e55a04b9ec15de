# pyright: analyzeUnannotatedFunctions=false
"""Notebook 5: its guesses and exercises."""

import math

from autodiff import cosh, exp, grad, log, operation, sinh, softplus, tanh

from .reverse_mode import result_and_messages
from .verdicts import Exercise, after_your_guess, guesses, pair, solutions

predict = guesses(
    {
        8: "Right: both read the same wrong line.",
        12: "That is the true slope. But reverse mode reads the same page.",
        ...: "Where does reverse mode get its derivative from?",
    },
    {
        50: "Right: ten times the local derivative 5, the other factor.",
        5: "That is the local derivative. The closure was given 10.",
        20: "That is the message to y. x gets the other factor.",
        ...: "The closure returns grad times the local derivative.",
    },
    {
        0.5: "Right: the mean of the slopes on either side, as if nothing were the matter.",
        0: "That is what the page says. A difference does not read the page.",
        ...: "It takes a step to either side: (relu(h) - relu(-h)) / 2h.",
    },
)


def once_and_twice(rule, inputs, grad_of_result):
    yield from result_and_messages(rule, inputs, grad_of_result)
    if grad_of_result == 2.0:  # right once: and its derivative?
        yield "the second derivative", grad(grad(operation(rule)))(*inputs)


def solution_1(x, y):
    p = x * y / (x + y)
    return p, lambda grad: (grad * (p / x) ** 2, grad * (p / y) ** 2)


check_1 = Exercise(
    solution_1,
    ask=lambda rule, x, y, grad: once_and_twice(rule, (x, y), grad),
    at=[(3.0, 6.0, 1.0), (3.0, 6.0, 10.0), (2.0, 0.5, 1.0), (3.0, 6.0, 2.0)],
    praise="Right. Check where nothing is symmetric, and inside a larger function.",
    otherwise="p is 2 at (3, 6): what are p/x and p/y?",
    slips={
        "Two faults. check_gradients(operation(answer_1), 3.0, 6.0) shows one: x and y differ\n"
        "there. The other shows inside a larger function, 10 * p, where grad is not 1.": (
            "grad * (p / x) ** 2, grad * (p / y) → (p / y) ** 2, (p / x)"
        ),
        "One fault mended: grad is used. The other shows where x and y differ: a large\n"
        "resistance beside a small one hardly matters. Which one is p / x?": (
            "(p / x) ** 2, grad * (p / y) → (p / y) ** 2, grad * (p / x)"
        ),
        "A square is missing.": "** 2 →",
        "The partial derivatives are right, but grad is not a factor, once, of each message:\n"
        "inside 10 * p the closure is given 10, and has to pass it on.": [
            "grad * →",
            "grad * (p / x) → (p / x)",
            "grad * (p / y) → (p / y)",
            "grad * → grad**2 *",
        ],
        "Right once, not twice: use operators on x, y and p.": "(p / x) → (float(p) / float(x))",
    },
)

TERMS = {"∂f/∂x": "the maximum itself, then its own", "∂f/∂y": "its"}


def solution_2():
    tie = 0.5 * 2.0  # half of the maximum's slope, times its factor x
    return tie + 2.0, tie  # x also multiplies the maximum, 2; relu gives 0


check_2 = Exercise(
    solution_2(),
    ask=pair(**{part: part for part in TERMS}),
    praise="Right: half the tie times x for each, the maximum itself for x, and nothing from relu.",
    otherwise=lambda part, _: (
        f"{part}: add {TERMS[part]} half of the tie times x, and what relu gives."
    ),
    slips={
        "{part}: you gave it the whole tie. It is half each.": (4.0, 0.0),
        "You took 1 for the derivative of relu at 0; the page says 0.": (6.0, -2.0),
        "You took 1/2 for relu at 0, as a central difference does; the page says 0.": (4.5, -0.5),
        "A product has two terms: x also multiplies the maximum itself.": (1.0, 1.0),
    },
)

STABLE = "softplus(2 * x) - x - math.log(2.0)"


def solution_3(x):
    return softplus(2 * x) - x - math.log(2.0), lambda grad: (grad * tanh(x),)


check_3 = Exercise(
    solution_3,
    ask=lambda rule, x, grad: once_and_twice(rule, (x,), grad),
    at=[(0.5, 1.0), (1000.0, 1.0), (-1000.0, 1.0)]
    + [(x, 1.0) for x in (-5.0, -0.5, 2.5, 5.0)]
    + [(0.5, 2.0)],
    praise="Right: stable at both ends, and the second derivative comes with it.",
    otherwise="The result is ln cosh x, and its derivative is sinh x / cosh x.",
    slips={
        "Off by ln 2: cosh is HALF of exp(x) + exp(-x).": "- math.log(2.0) →",
        "Right if grad is 1, but grad is not used.": "grad * →",
        "That is the derivative of cosh; the logarithm adds a factor 1 / cosh.": "tanh → sinh",
        "{at} the result overflows. Use softplus and exp(x) + exp(-x) = exp(-x) * (1 + exp(2x)).": [
            f"{STABLE} → log(cosh(x))",
            "(math.log(math.cosh(x)), lambda grad: (grad * math.tanh(x),))",
            "softplus(2 * x) → log(1 + exp(2 * x))",
        ],
        "{at} the derivative overflows. What is sinh x / cosh x?": "tanh(x) → sinh(x) / cosh(x)",
        "Right for floats only: use functions of autodiff, not of math.": "tanh → math.tanh",
    },
)

solution = solutions(globals())
