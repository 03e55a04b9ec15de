"""Notebook 1, numeric derivatives: right answers, and wrong ones with what they are told."""

import math

import numpy as np
import sympy

from autodiff.course.verdicts import NO_RETURN

RIGHT = {  # two spellings of each exercise beside our own
    1: ["(f(x - h) - f(x)) / -h", "f(x) / h - f(x - h) / h"],
    2: [np.array(4e-10)[()], sympy.sympify(4e-10)],
    3: ["g(complex(x, 1e-30)).imag * 1e30", "g(np.array(x + 1e-20j)).imag / 1e-20"],
}  # fmt: skip

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, 0.5, "Expected a function, `def answer(f, x, h):`, found a float"),
    (1, "print(f(x))", NO_RETURN),
    (1, "f", "That is a function. Call it"),
    (1, "f(x - h)", "At t³ at 2 with h = 0.25 the result should be 10.5625, not 5.35938"),
    (2, math.nan, "A step is a positive number"),
    (3, "(g(x + 1e-5) - g(x - 1e-5)) / 2e-5", "a difference loses digits"),
    (3, "g(x + 1e-20j).imag", "divide by h"),
    (3, "(g(x + 1e-20) - g(x)) / 1e-20", "so small a step is lost in x"),
    (3, "g(x + 1e-20j) / 1e-20", "You need only one of its two parts"),
]  # fmt: skip
