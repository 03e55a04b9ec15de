"""Notebook 1, numeric derivatives: right answers, and wrong ones with what they are told."""

import math

import numpy as np
import sympy

from autodiff.course.numeric_derivatives import central, mixed
from autodiff.course.verdicts import NO_RETURN

RIGHT = {  # spellings of each exercise beside our own
    1: [lambda f, x, h: (8 * (f(x + h / 2) - f(x - h / 2)) - (f(x + h) - f(x - h))) / (6 * h)],
    2: [sympy.sympify(4e-10)],
    3: [
        lambda f, x, h: np.imag(f(np.array(x + 1e-30j))) * 1e30,
        lambda f, x, h: (f(x + 1j * h) / (1j * h)).real,
    ],
}

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, 0.5, "Expected a function, `def answer(f, x, h):`, found a float"),
    (1, lambda f, x, h: print(f(x)), NO_RETURN),
    (1, lambda f, x, h: f, "That is a function. Call it"),
    (1, lambda f, x, h: central(f, x, 1e-5), "a step of your own"),
    (1, mixed(4, 1), "How many times does c h²/4"),
    (2, math.nan, "A step is a positive number"),
    (3, lambda f, x, h: central(f, x, 1e-5), "That takes 2 values of f"),
    (3, lambda f, x, h: f(x + 2j * h).imag / h, "loses digits"),
    (3, lambda f, x, h: f(x + h * 1j).imag, "divide by h"),
    (3, lambda f, x, h: f(x + h) * 0, "so small a step is lost in x"),
    (3, lambda f, x, h: f(x + h * 1j) / h, "You need only one of its two parts"),
]
