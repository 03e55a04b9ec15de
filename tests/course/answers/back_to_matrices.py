"""Notebook 10, back to matrices: right answers, and wrong ones with what they are told."""

import numpy as np
import sympy

RIGHT = {  # two spellings of each exercise beside our own
    1: [np.array(15)[()], sympy.sympify(15)],
    2: [
        "h_bar @ x.T → np.einsum('in,jn->ij', h_bar, x)\nnp.where(h > 0, r_bar, 0.0) → r_bar * (h > 0)\nerror_bar.sum() → 2 * error.sum()",
        "return error * error, (W_bar, b_bar, v_bar, c_bar) → W *= 2; x *= 2; return error * error, [W_bar, b_bar, v_bar, c_bar]",
    ],
    3: [
        "ad.sum([a * x**k for k, a in enumerate(coefficients)])",
        "coefficients @ Vector([x**k for k in range(len(coefficients))])",
        "sum(a * x**k for k, a in enumerate(coefficients))",  # in normal form a dot
    ],
}  # fmt: skip

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (2, "W @ (... * x)", "still computes with the dots"),
    (3, "ad.sum([a * ad.exp(k * ad.log(x)) for k, a in enumerate(coefficients)])", "log: x = -0.7"),
    (3, "ad.dot(coefficients, [x.data**k for k in range(len(coefficients))]) + 0 * x", "takes a number out of the graph"),
    (3, "Vector([a * x**k for k, a in enumerate(coefficients)])", "Expected a Value, found a Vector"),
]  # fmt: skip
