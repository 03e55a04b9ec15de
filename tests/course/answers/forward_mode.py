"""Notebook 3, forward mode: right answers, and wrong ones with what they are told."""

from autodiff.course import forward_mode

RIGHT = {  # two spellings of each exercise beside our own
    1: [
        "(a.primal * a.tangent + b.primal * b.tangent) / z → (a * a + b * b).tangent / (2 * z)",
        "(a.primal * a.tangent + b.primal * b.tangent) / z → (((a + b) * (a + b) - a * b - a * b) / Pair(z, 0.0)).tangent / 2",
    ],
    2: [
        "(x[0], x[1]) if isinstance(x, tuple) and x[2] == tag else (x, 0)",
        "(x.primal, x.tangent) if getattr(x, 'tag', None) == tag else (x, 0.0)",
    ],
    3: [{key: list(task) for key, task in forward_mode.solution_3().items()}, {key: (mode.title(), n) for key, (mode, n) in forward_mode.solution_3().items()}],
}  # fmt: skip

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, "(a.primal * a.tangent + b.primal * b.tangent) / z → "
             "(math.hypot(a.primal + 1e-6 * a.tangent, b.primal + 1e-6 * b.tangent) - z) / 1e-6", "Close, but not exact"),
    (1, "math.hypot(a.primal, b.primal)", "Expected a Pair, found a float"),
    (3, {"a": ("forward", 1), "b": (..., ...), "c": ..., "d": (..., ...)}, "Right so far: a. Nothing here yet: b, c, d."),
    (3, {"a": (..., ...), "b": ("forward", 10_000), "c": ..., "d": ...}, "b: that works, but"),
    (3, forward_mode.solution_3() | {"c": ("reverse", 40)}, "c: forward mode pays for inputs"),
    (3, forward_mode.solution_3() | {"a": ("onward", 1)}, "a: expected a pair"),
    (3, dict.fromkeys("abcd", 1), "a: expected a pair"),
]  # fmt: skip
